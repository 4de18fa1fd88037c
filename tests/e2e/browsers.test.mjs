// A call, from a message to its end, in each browser.
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

    it("A17: a page brings another language and its own words, and what it leaves out is said in English", async (t) => {
      const { page } = await open(t);
      await armed(page, "deny");
      const said = await page.evaluate(async () => {
        const element = document.querySelector("countersign-approvals");
        const arabic = await (await fetch("/dist/locales/ar.json")).json();
        const { "ask.approve": _, ...rest } = arabic;
        element.strings = { ...rest, "ask.deny": "لا" };
        // The cards in the other language go once whatever is under way is done.
        await new Promise((done) => setTimeout(done));
        const text = (part) => element.shadowRoot.querySelector(`[part=${part}]`).textContent;
        const list = element.shadowRoot.querySelector("[lang]");
        const { direction } = getComputedStyle(list);
        return { deny: text("deny"), approve: text("approve"), why: text("why"), lang: list.lang, direction, arabic };
      });
      assert.deepEqual([said.deny, said.lang, said.direction], ["لا", "ar", "rtl"]);
      assert.equal(said.approve.replaceAll(/[\u2066-\u2069]/g, ""), "Approve");
      assert.ok([said.arabic["why.write"], said.arabic["why.undeclared"]].includes(said.why), said.why);
    });
  });
}
