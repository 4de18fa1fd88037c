// The card in each browser: what decides there and what does not.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { armed, BROWSERS, launch, openContext, openTab, press, say, serve, waitFor } from "./browsers.mjs";

const event = (delta, finish = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
const stream = (...chunks) => ({
  status: 200,
  contentType: "text/event-stream",
  chunks: [...chunks, "data: [DONE]\n\n"],
});
const CALL = { index: 0, id: "call_0", function: { name: "send_mail", arguments: '{"to":"grace@example.org"}' } };

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    /** A page whose model asks for one mail and then says that it ends; the card is open. */
    async function open(t) {
      const answers = [stream(event({ tool_calls: [CALL] }), event({}, "tool_calls"))];
      const model = () => answers.shift() ?? stream(event({ content: "The end." }), event({}, "stop"));
      const site = await serve(t, { model });
      const page = await openTab(await openContext(browser, t), t, `${site.url}/test/`);
      await page.evaluate(() => window.ready);
      await say(page, "Mail it.");
      return { page, site };
    }

    const rest = (page) => waitFor(page, () => window.rig.chat.snapshot().status === "done");
    const runs = (page) => page.evaluate(() => window.rig.runs.send_mail);
    const outcome = (page) => page.evaluate(() => window.rig.chat.snapshot().messages[1].calls[0].outcome ?? null);

    for (const key of [undefined, "Enter", " "]) {
      it(`a call is approved ${key ? `by the key "${key}"` : "by a click"}`, async (t) => {
        const { page, site } = await open(t);
        await press(page, "approve", key);
        await rest(page);
        assert.equal(await runs(page), 1);
        assert.equal(site.requests.length, 2);
        assert.equal(await page.$eval("#answer", (answer) => answer.textContent), "The end.");
      });

      it(`a call is denied ${key ? `by the key "${key}"` : "by a click"}`, async (t) => {
        const { page, site } = await open(t);
        await press(page, "deny", key);
        await rest(page);
        assert.deepEqual([await runs(page), await outcome(page)], [0, "approval_denied"]);
        assert.match(site.requests[1].body, /approval_denied \(decided_by: run_owner\)/);
      });
    }

    it("no script decides", async (t) => {
      const { page } = await open(t);
      await (await armed(page, "approve")).evaluate((button) => {
        for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
          button.dispatchEvent(new PointerEvent(type, { bubbles: true, composed: true, isPrimary: true, detail: 1 }));
        }
        for (const type of ["keydown", "keyup"]) {
          button.dispatchEvent(new KeyboardEvent(type, { key: "Enter", bubbles: true, composed: true }));
        }
        button.click();
      });
      // Whatever these did, they would have done before a real decision.
      await press(page, "deny");
      await rest(page);
      assert.deepEqual([await runs(page), await outcome(page)], [0, "approval_denied"]);
    });

    it("a press that began on something else decides nothing", async (t) => {
      const { page } = await open(t);
      const button = await armed(page, "approve");
      const { x, y, width, height } = await button.boundingBox();
      await page.mouse.move(5, 590);
      await page.mouse.down();
      await page.mouse.move(x + width / 2, y + height / 2);
      await page.mouse.up();
      await press(page, "deny");
      await rest(page);
      assert.deepEqual([await runs(page), await outcome(page)], [0, "approval_denied"]);
    });
  });
}
