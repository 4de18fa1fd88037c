// What a receipt tells of a decision, what is said of it, and how long it stays.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { click, count, find, openCards, rests, text } from "./cards.mjs";

/** A chat where some calls wait; `rig.said` collects what the page's one region says. */
async function waiting({ given, agentOf, make, order, runs }) {
  const agent = agentOf({ tools: [make("eat")] });
  const rig = { agent, runs, order, said: [] };
  rig.chat = await agent.open("c");
  await rig.chat.send(order(...given.numbers.map((n) => ["eat", JSON.stringify({ n })])));
  return rig;
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, ...numbers) => {
      const { page } = await openCards(browser, t, waiting, { given: { numbers } });
      await page.evaluate(() => {
        const [region] = document.querySelectorAll("[role=status]");
        new MutationObserver(() => window.rig.said.push(region.textContent)).observe(region, { childList: true });
      });
      return page;
    };
    const said = (page, sentence) => waitFor(page, (sentence) => window.rig.said.includes(sentence), sentence);
    const press = async (page, part, place = 0) => (await find(page, `[part=${part}]`, place)).click();

    it("A8: a receipt has the note and the reason of a denial", async (t) => {
      const page = await open(t, 1);
      await (await find(page, "[part=note] textarea")).type("Smaller, please.");
      await (await find(page, "[part=reason] select")).select("variant");
      await click(page, "deny");
      await rests(page);
      assert.equal(await text(page, "[part=receipt] q", /./), "Suggest something else");
      assert.equal(await text(page, "[part=receipt] q", /./, 1), "Smaller, please.");
    });

    it("A8: a receipt without a note and a reason says nothing of them", async (t) => {
      const page = await open(t, 1);
      await click(page, "deny");
      await rests(page);
      await text(page, "[part=receipt] strong", /You declined this/);
      assert.equal(await count(page, "[part=receipt] q"), 0);
      assert.equal(await count(page, "[part=receipt] > span"), 1, "what came of it");
    });

    it("A7: that a call was declined is said while others wait", async (t) => {
      const page = await open(t, 1, 2);
      await click(page, "deny");
      await said(page, "eat: You declined this.");
      // The last one takes the focus to its receipt, which says so.
      await page.evaluate(() => window.rig.said.splice(0));
      await click(page, "deny");
      await rests(page);
      await text(page, "[part=receipt] strong", /You declined this/, 1);
      assert.deepEqual(await page.evaluate(() => window.rig.said.filter(Boolean)), []);
    });

    it("A4, A8: the receipt of a standing permission says until when it holds", async (t) => {
      const page = await open(t, 1, 2);
      for (const [place, [answer, says]] of [
        ["One hour", /^Until .*\d/],
        ["Until it is revoked", /^Until it is revoked$/],
      ].entries()) {
        // A settled card has neither.
        await press(page, "more");
        await press(page, "standing");
        const choice = await waitFor(
          page,
          (answer) => {
            const { shadowRoot } = document.querySelector("countersign-approvals");
            const choices = [...shadowRoot.querySelectorAll("[part=terms] label")];
            return choices.find(({ textContent }) => textContent === answer);
          },
          answer,
        );
        await choice.click();
        await click(page, "allow");
        assert.match(await text(page, "[part=receipt] [part=until]", /./, place), says);
      }
      await rests(page);
      // It is the time that is kept.
      const [until, written] = await page.evaluate(async () => {
        const [{ until }] = (await window.rig.agent.grants.list()).filter(({ until }) => until);
        return [until, new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" }).format(until)];
      });
      assert.ok(until > Date.now());
      assert.equal(await text(page, "[part=until]", /./), `Until ${written}`);
    });

    it("A4, A10: nothing beyond this call is offered while its arguments are changed", async (t) => {
      const page = await open(t, 1);
      await press(page, "more");
      const isOffered = () =>
        find(page, "[part=standing]").then((button) => button.evaluate((one) => one.checkVisibility()));
      assert.equal(await isOffered(), true);
      await press(page, "edit-open");
      assert.equal(await isOffered(), true, "nothing is changed yet");
      const json = await find(page, "[part=json]");
      for (const typed of ['{"n":2}', "{"]) {
        await json.evaluate((json) => json.select());
        await json.type(typed);
        assert.equal(await isOffered(), false, typed);
      }
      await press(page, "reset");
      assert.equal(await isOffered(), true);
    });

    it("A8: what a new message ended keeps its card, which says so until it is dismissed", async (t) => {
      const page = await open(t, 1, 2);
      await page.evaluate(() => window.rig.chat.send(window.rig.order(["eat", '{"n":3}'])));
      await text(page, "[part=deny]", /^Deny$/);
      for (const place of [0, 1]) {
        await text(page, "[part=receipt] strong", /^A new message came instead of a decision\.$/, place);
      }
      const cards = await page.evaluate(() =>
        [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=card]")].map((card) => [
          card.querySelector("dd").textContent,
          card.querySelector("[part=deny]") !== null,
        ]),
      );
      assert.deepEqual(
        cards,
        [
          ["1", false],
          ["2", false],
          ["3", true],
        ],
        "in their order, ahead of what is asked now",
      );
      await said(page, "eat: A new message came instead of a decision. eat: A new message came instead of a decision.");
      await click(page, "deny");
      await rests(page);
      assert.equal(await count(page, "[part=receipt]"), 3);
      await click(page, "dismiss");
      await waitFor(
        page,
        () => document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=card]").length === 2,
      );
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
    });
  });
}
