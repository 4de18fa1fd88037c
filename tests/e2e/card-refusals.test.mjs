// Clicks that change nothing say so, and a decision that is being stored shows.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, click, count, find, openCards, rests, text } from "./cards.mjs";

/** A chat whose one mail waits, with everything in the page's hands that can refuse a decision. */
async function waiting({ given, agentOf, make, memoryStore, order, runs }) {
  const rig = { runs, full: false, preview: ["9 cookies"], may: () => true };
  const store = memoryStore();
  const agent = agentOf({
    store: {
      ...Object.fromEntries(["load", "append", "list", "delete"].map((name) => [name, store[name]?.bind(store)])),
      append: async (...all) => {
        if (rig.full) {
          await new Promise((fail) => Object.assign(rig, { fail }));
          throw new Error("the disk is full");
        }
        return store.append(...all);
      },
    },
    tools: [make("eat", given.preview && { preview: () => rig.preview })],
    ...(given.asks && { canDecide: () => rig.may() }),
    ...(given.expires && { approvals: { expireAfterMs: given.expires } }),
  });
  rig.chat = await agent.open("c");
  await rig.chat.send(order(["eat", "{}"]));
  return rig;
}

const SAID = "[part~=card] > [part~=problem]";

/** Waits until no card says so any more. */
const gone = (page) =>
  waitFor(
    page,
    (selector) => !document.querySelector("countersign-approvals").shadowRoot.querySelector(selector),
    SAID,
  );
/** What the one polite region of the page says now. */
const announced = (page) => page.evaluate(() => document.querySelector("[role=status]").textContent);

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, given) => (await openCards(browser, t, waiting, { given })).page;
    const state = (page) =>
      page.evaluate(() => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        const [card] = root.querySelectorAll("[part~=card]");
        const buttons = [...card.querySelectorAll("[part=actions] button")];
        return {
          busy: card.getAttribute("aria-busy"),
          off: buttons.map((button) => button.getAttribute("aria-disabled")),
        };
      });

    it("A8: what changed before the click is asked about anew, and the new card says so", async (t) => {
      const page = await open(t, { preview: true });
      await armedButton(page, "approve");
      await page.evaluate(() => {
        window.rig.preview = ["10 cookies"];
      });
      await click(page, "approve");
      await text(page, SAID, /Nothing was run: what would run has changed/);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      assert.equal(await count(page, "[part~=receipt]"), 0);
      // The next decision takes the message away.
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
      await gone(page);
    });

    it("A8: who may not decide is told, and the card takes the next decision", async (t) => {
      const page = await open(t, { asks: true });
      await page.evaluate(() => {
        window.rig.may = () => false;
      });
      await click(page, "deny");
      assert.equal(await text(page, SAID, /you may not decide this/), await announced(page));
      await page.evaluate(() => {
        window.rig.may = () => true;
      });
      await click(page, "deny");
      await rests(page);
      await text(page, "[part~=receipt] strong", /You declined this/);
      await gone(page);
    });

    it("A8: while a decision is being stored the card is busy and takes no other yes", async (t) => {
      const page = await open(t, { asks: true });
      await page.evaluate(() => {
        window.rig.may = () => new Promise((done) => Object.assign(window.rig, { done }));
      });
      await click(page, "approve");
      await waitFor(page, () => window.rig.done);
      await armedButton(page, "deny");
      assert.deepEqual(await state(page), { busy: "true", off: [null, "true"] });
      await (await find(page, "[part=approve]")).click();
      assert.equal(await count(page, SAID), 0, "it is no refusal: the first click counts");
      // Meanwhile the page's own code decides: it was first.
      await page.evaluate(async () => {
        const { chat } = window.rig;
        window.rig.may = () => true;
        await chat.decide(chat.snapshot().requests[0].id, { approve: false, by: "ada" });
        window.rig.done(true);
      });
      await text(page, SAID, /Your click changed nothing: something else was recorded first/);
      await text(page, "[part~=receipt] strong", /You declined this/);
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      assert.equal((await state(page)).busy, null);
    });

    it("A3: Deny works while an approval is being checked, and is the first to be recorded", async (t) => {
      const page = await open(t, { asks: true });
      await page.evaluate(() => {
        const asked = [];
        window.rig.may = () => new Promise((done) => asked.push(done));
        window.rig.asked = asked;
      });
      await click(page, "approve");
      await waitFor(page, () => window.rig.asked.length === 1);
      await click(page, "deny");
      await waitFor(page, () => window.rig.asked.length === 2);
      await page.evaluate(() => window.rig.asked[1](true));
      await text(page, "[part~=receipt] strong", /You declined this/);
      await page.evaluate(() => window.rig.asked[0](true));
      await text(page, SAID, /Your click changed nothing: something else was recorded first/);
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      assert.equal((await state(page)).busy, null);
    });

    it("A8: a decision that could not be stored is no receipt, and can be made again", async (t) => {
      const page = await open(t, {});
      await armedButton(page, "approve");
      await page.evaluate(() => {
        window.rig.full = true;
        const root = document.querySelector("countersign-approvals").shadowRoot;
        window.rig.receipts = 0;
        new MutationObserver(() => {
          window.rig.receipts += root.querySelectorAll("[part~=receipt]").length;
        }).observe(root, { childList: true, subtree: true });
      });
      await click(page, "approve");
      await waitFor(page, () => window.rig.fail);
      // Whatever has the cards drawn meanwhile: they are as they were.
      await page.evaluate(async () => {
        document.querySelector("countersign-approvals").by = "ada";
        await new Promise((drawn) => requestAnimationFrame(drawn));
        window.rig.fail();
      });
      await text(page, SAID, /Nothing was decided: it could not be stored/);
      assert.equal(await page.evaluate(() => window.rig.receipts), 0, "nothing said that it was approved");
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      await page.evaluate(() => {
        window.rig.full = false;
      });
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
    });

    it("A8: a click after the time is over is told so, and nothing says approved", async (t) => {
      const page = await open(t, { expires: 600_000 });
      await armedButton(page, "approve");
      await page.evaluate(() => {
        const { now } = Date;
        Date.now = () => now() + 700_000;
      });
      await click(page, "approve");
      await text(page, "[part~=receipt] strong", /Nobody decided in time/);
      await text(page, SAID, /it came after the time was over/);
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      const all = await page.evaluate(() => document.querySelector("countersign-approvals").shadowRoot.textContent);
      assert.doesNotMatch(all, /approved/i);
      await text(page, SAID, /it came after the time was over/);
      await click(page, "dismiss");
      await waitFor(
        page,
        () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=card]"),
      );
    });
  });
}
