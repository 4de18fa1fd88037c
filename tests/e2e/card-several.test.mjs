// Several cards at once, of one chat and of two.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, click, count, find, focus, openCards, rests, text } from "./cards.mjs";

/** A chat where several calls wait. With `late` each has begun, and asks when it is told to: `rig.ask(n)`. */
async function waiting({ given, agentOf, make, order, pendingRequest, runs }) {
  const rig = { runs, asks: {} };
  rig.ask = (n) => rig.asks[n](pendingRequest({ kind: "approval", prompt: "One more?" }));
  const eat = make("eat", { run: ({ n }) => runs.push(n) && "Eaten." });
  const late = make("late", {
    effect: "read",
    run: ({ n }, { answers }) =>
      answers?.length > 0 ? "Fine." : new Promise((ask) => Object.assign(rig.asks, { [n]: ask })),
  });
  const agent = agentOf({ tools: [eat, late] });
  rig.chat = await agent.open("c");
  const name = given.late ? "late" : "eat";
  const text = "line\n".repeat(given.lines ?? 1);
  const calls = given.numbers.map((n) => [name, JSON.stringify({ n, text })]);
  const sent = rig.chat.send(order(...calls));
  if (!given.late) await sent;
  return rig;
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, given, viewport) => (await openCards(browser, t, waiting, { given, viewport })).page;
    const runs = (page) => page.evaluate(() => window.rig.runs);
    const decisions = (page) =>
      page.evaluate(() =>
        window.rig.chat
          .snapshot()
          .messages[1].calls.map(({ decision }) =>
            !decision ? null : [decision.approve, decision.via, decision.note ?? null],
          ),
      );
    /** Ticks a card's box with the mouse, once it can be. */
    const tick = async (page, place) => {
      await find(page, `[part~=card]:nth-of-type(${place + 1}) [part=select] input:not([aria-disabled])`);
      await (await find(page, "[part=select] input", place)).click();
    };
    /** Scrolls there, and lets the browser say what is in view. */
    const see = async (page, handle, block = "start") => {
      await handle.evaluate((element, block) => element.scrollIntoView({ block }), block);
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
    };
    const isTicked = (page, place) =>
      find(page, "[part=select] input", place).then((box) => box.evaluate(({ checked }) => checked));

    it("A11: one card alone has no bar and no tick", async (t) => {
      const page = await open(t, { numbers: [1] });
      await armedButton(page, "deny");
      assert.deepEqual([await count(page, "[part=bulk]"), await count(page, "[part=select]")], [0, 0]);
    });

    it("A11: Deny all denies each of them, once, by the card, and moves the focus to a receipt", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3] });
      assert.equal(await text(page, "[part=deny-all]", /./), "Deny all (3)");
      await (await find(page, "textarea", 1)).type("Not this one.");
      await click(page, "deny-all");
      await rests(page);
      assert.deepEqual(await decisions(page), [
        [false, "card", null],
        [false, "card", "Not this one."],
        [false, "card", null],
      ]);
      assert.deepEqual(await runs(page), []);
      const log = await page.evaluate(() => window.rig.chat.export());
      assert.equal(log.split("\n").filter((line) => line.includes('"tool.call.decided"')).length, 3);
      assert.equal(await count(page, "[part=bulk]"), 0);
      assert.equal(await focus(page), "receipt 2");
    });

    it("A11: Approve selected runs those and no others", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3] });
      await text(page, "[part=approve-selected]", /^Approve selected \(0\)$/);
      // Far longer than a button needs to be armed: without a tick it takes no click.
      await armedButton(page, "deny-all");
      await find(page, "[part=approve-selected][aria-disabled=true]");
      await tick(page, 2);
      await tick(page, 0);
      await text(page, "[part=approve-selected]", /^Approve selected \(2\)$/);
      await click(page, "approve-selected");
      await waitFor(page, () => window.rig.chat.snapshot().requests.length === 1);
      assert.deepEqual(await decisions(page), [[true, "card", null], null, [true, "card", null]]);
      await waitFor(
        page,
        () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=bulk]"),
      );
      assert.equal(await focus(page), "card 1", "the one that still waits");
      await click(page, "deny");
      await rests(page);
      assert.deepEqual(await runs(page), [1, 3]);
    });

    it("A11: a card can be selected only once all of it was in view", async (t) => {
      const page = await open(t, { numbers: [1, 2], lines: 18 }, { width: 800, height: 500 });
      await page.evaluate(() => window.scrollTo(0, 0));
      const box = await find(page, "[part=select] input", 1);
      assert.equal(await box.evaluate((box) => box.getAttribute("aria-disabled")), "true");
      await box.click();
      assert.equal(await isTicked(page, 1), false);
      // What scrolls must have been scrolled to its end, too.
      const block = await find(page, "dd > div", 1);
      await see(page, block);
      assert.equal(await box.evaluate((box) => box.getAttribute("aria-disabled")), "true");
      await block.evaluate((block) => block.scrollTo(0, block.scrollHeight));
      await see(page, await find(page, "[part~=card]", 1));
      await see(page, block, "end");
      await see(page, box, "end");
      await tick(page, 1);
      assert.equal(await isTicked(page, 1), true);
    });

    it("A11: a card can be selected only once nothing of it is folded", async (t) => {
      const page = await open(t, { numbers: [1, 2], lines: 2_000 });
      await armedButton(page, "deny-all");
      const box = await find(page, "[part=select] input", 0);
      const isOff = () => box.evaluate((box) => box.getAttribute("aria-disabled") === "true");
      const folds = () =>
        page.evaluate(() => {
          const [card] = document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=card]");
          return card.querySelectorAll("[part=fold]").length;
        });
      assert.ok((await folds()) > 0);
      while ((await folds()) > 0) {
        assert.equal(await isOff(), true);
        await (await find(page, "[part=fold]")).click();
      }
      // It was opened, and its end is not in view yet.
      await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
      assert.equal(await isOff(), true);
      await (await find(page, ".block")).evaluate((block) => block.scrollTo(0, block.scrollHeight));
      await tick(page, 0);
      await text(page, "[part=approve-selected]", /^Approve selected \(1\)$/);
    });

    it("A11: no key selects what was not read, or approves what was not selected", async (t) => {
      const page = await open(t, { numbers: [1, 2], lines: 200 });
      await armedButton(page, "deny-all");
      const presses = async (handle, key) => {
        await handle.focus();
        await page.keyboard.press(key);
      };
      await presses(await find(page, "[part=select] input"), " ");
      assert.equal(await isTicked(page, 0), false);
      await presses(await find(page, "[part=approve-selected]"), "Enter");
      assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 2);
      // Once it was opened and scrolled through, the same keys do.
      const folds = () => find(page, "[part~=card]").then((card) => card.$$eval("[part=fold]", (all) => all.length));
      while ((await folds()) > 0) await presses(await find(page, "[part=fold]"), "Enter");
      await (await find(page, ".block")).evaluate((block) => block.scrollTo(0, block.scrollHeight));
      await find(page, "[part~=card]:nth-of-type(1) [part=select] input:not([aria-disabled])");
      await presses(await find(page, "[part=select] input"), " ");
      assert.equal(await isTicked(page, 0), true);
      await presses(await armedButton(page, "approve-selected"), "Enter");
      await waitFor(page, () => window.rig.chat.snapshot().requests.length === 1);
      await click(page, "deny");
      await rests(page);
      assert.deepEqual(await runs(page), [1]);
    });

    it("A11: what arrives is never among them, and starts the wait anew", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3], late: true });
      await waitFor(page, () => Object.keys(window.rig.asks).length === 3);
      await page.evaluate(() => [1, 3].map(window.rig.ask));
      const deny = await armedButton(page, "deny-all");
      assert.equal(await deny.evaluate((button) => button.textContent), "Deny all (2)");
      const { x, y } = await deny.boundingBox();
      await page.evaluate(() => window.rig.ask(2));
      await waitFor(page, () => window.rig.chat.snapshot().requests.length === 3);
      await page.mouse.click(x + 5, y + 5);
      assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 3);
      await text(page, "[part=deny-all]", /^Deny all \(3\)$/);
      assert.deepEqual(
        await page.evaluate(() =>
          [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("dd:first-of-type")].map(
            ({ textContent }) => textContent,
          ),
        ),
        ["1", "2", "3"],
        "it stands in the order of the calls",
      );
      await click(page, "deny-all");
      await rests(page);
      assert.deepEqual(await decisions(page), Array(3).fill([false, "card", null]));
    });

    it("A11: the order is that of the calls, whatever is decided first", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3] });
      const shown = () =>
        page.evaluate(() =>
          [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=card]")].map(
            (card) => card.querySelector("dd").textContent,
          ),
        );
      assert.deepEqual(await shown(), ["1", "2", "3"]);
      await click(page, "deny", 1);
      await waitFor(page, () => window.rig.chat.snapshot().requests.length === 2);
      assert.deepEqual(await shown(), ["1", "2", "3"]);
      await text(page, "[part=deny-all]", /^Deny all \(2\)$/);
    });

    it("A7: two elements of two chats speak through one region, with ids of their own", async (t) => {
      const page = await open(t, { numbers: [1] });
      await page.evaluate(async () => {
        const [region, ...more] = document.querySelectorAll("[role=status]");
        if (more.length > 0) throw new Error("more than one region");
        window.said = [];
        new MutationObserver(() => window.said.push(region.textContent)).observe(region, { childList: true });
        const { agentOf, make, order } = window.rig.kit;
        const agent = agentOf({ tools: [make("drink", { title: "Drink" })] });
        const other = document.createElement("countersign-approvals");
        document.body.append(other);
        const chat = await agent.open("other");
        other.chat = chat;
        await chat.send(order(["drink", "{}"], ["drink", '{"n":2}']));
        window.other = chat;
      });
      await waitFor(page, () => window.said.includes("3 approvals waiting: eat, Drink, Drink"));
      assert.equal(await page.evaluate(() => document.querySelectorAll("[role=status]").length), 1);
      const ids = await page.evaluate(() =>
        [...document.querySelectorAll("countersign-approvals")].map(({ shadowRoot }) => {
          const ids = [...shadowRoot.querySelectorAll("[id]")].map(({ id }) => id);
          const named = [...shadowRoot.querySelectorAll("[aria-labelledby]")].map((card) => {
            const title = shadowRoot.getElementById(card.getAttribute("aria-labelledby"));
            return card.contains(title) && title.textContent;
          });
          return { unique: new Set(ids).size === ids.length, named };
        }),
      );
      assert.deepEqual(ids, [
        { unique: true, named: ["eat"] },
        { unique: true, named: ["Drink", "Drink"] },
      ]);
      // The bar of one chat is about that chat alone.
      await page.evaluate(() => {
        const [, other] = document.querySelectorAll("countersign-approvals");
        other.shadowRoot.querySelector("[part=deny-all]").scrollIntoView({ block: "center" });
      });
      const bar = await waitFor(page, () =>
        document
          .querySelectorAll("countersign-approvals")[1]
          .shadowRoot.querySelector("[part=deny-all]:not([aria-disabled])"),
      );
      await bar.click();
      await waitFor(page, () => window.other.snapshot().status === "done");
      assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 1);
      // With its last element the region goes.
      await page.evaluate(() => {
        for (const element of document.querySelectorAll("countersign-approvals")) element.remove();
      });
      await waitFor(page, () => document.querySelectorAll("[role=status]").length === 0);
    });
  });
}
