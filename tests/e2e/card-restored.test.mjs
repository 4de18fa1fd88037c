// Cards that wait are there again after a reload, and work.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch } from "./browsers.mjs";
import { armedButton, click, count, openCards, rests, text } from "./cards.mjs";

/** Opens the chat that the store has, and makes its cards wait if there are none. */
async function open(kit) {
  const { agentOf, indexedDBStore, make, order, runs } = kit;
  const tools = [make("eat", { title: "Eat" })];
  const agent = agentOf({ store: indexedDBStore(), tools, approvals: { expireAfterMs: 600_000 } });
  const chat = await agent.open("c");
  if (chat.snapshot().status === "idle") await chat.send(order(["eat", '{"n":1}'], ["eat", '{"n":2}']));
  window.rig = { chat, runs };
  document.querySelector("countersign-approvals").chat = chat;
  return chat.snapshot().requests.map(({ id, expiresAt }) => [id, expiresAt]);
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const start = async (page) => {
      await page.evaluate(() => window.ready);
      const kit = await page.evaluateHandle(async () => (await import("/test/kit.mjs")).kit());
      return page.evaluate(open, kit);
    };

    it("A9: a card that waits works after a reload, and a receipt is there again", async (t) => {
      const { page } = await openCards(browser, t);
      const asked = await start(page);
      await armedButton(page, "deny");
      await page.reload();
      assert.deepEqual(await start(page), asked, "the same requests, until the same time");
      await text(page, "[part=deadline] span", /Waits until/);
      assert.equal(await count(page, "[part=bulk]"), 1);
      await click(page, "deny");
      await text(page, "[part~=receipt] strong", /^You declined this\.$/);
      const shown = await text(page, "[part~=receipt] small", /./);
      await page.reload();
      assert.deepEqual(await start(page), asked.slice(1));
      await text(page, "[part~=receipt] strong", /^You declined this\.$/);
      assert.equal(await text(page, "[part~=receipt] small", /./), shown, "with the time at which it was decided");
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
      await page.reload();
      assert.deepEqual(await start(page), []);
      assert.equal(await count(page, "[part~=receipt]"), 2);
      const scopes = await page.evaluate(() => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        return [...shadowRoot.querySelectorAll("[part=scope]")].map((scope) => getComputedStyle(scope).display);
      });
      assert.deepEqual(scopes, ["none", "none"], "what an approval would cover is over");
      assert.equal(await page.evaluate(() => document.querySelector("[role=status]").textContent), "");
    });
  });
}
