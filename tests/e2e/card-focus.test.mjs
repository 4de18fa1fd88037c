// Where the focus goes, what keys do, and that one finger or a narrow window is enough.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, click, count, find, focus, openCards, rests, text } from "./cards.mjs";

/** A chat where some mails wait; the element knows the composer and takes shortcuts where the test says so. */
async function waiting({ given, agentOf, make, order, runs }) {
  const element = document.querySelector("countersign-approvals");
  for (const [name, value] of Object.entries(given.attributes ?? {})) element.setAttribute(name, value);
  const rig = { runs };
  rig.chat = await agentOf({ tools: [make("eat")] }).open("c");
  const text = given.lines && "line\n".repeat(given.lines);
  await rig.chat.send(order(...(given.numbers ?? [1]).map((n) => ["eat", JSON.stringify({ n, text })])));
  return rig;
}

const COMPOSER = { composer: "text" };

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, given, viewport) => (await openCards(browser, t, waiting, { given, viewport })).page;
    const left = (page) => page.evaluate(() => window.rig.chat.snapshot().requests.length);
    const until = (page, number) =>
      waitFor(page, (number) => window.rig.chat.snapshot().requests.length === number, number);
    const press = async (page, ...keys) => {
      for (const key of keys.slice(0, -1)) await page.keyboard.down(key);
      await page.keyboard.press(keys.at(-1));
      for (const key of keys.slice(0, -1)) await page.keyboard.up(key);
    };
    const hasFocus = (page) => page.evaluate(() => document.hasFocus());

    it("A6: the focus goes from a decided card to the next, then to the receipt, then to the composer", async (t) => {
      const page = await open(t, { numbers: [1, 2], attributes: COMPOSER });
      assert.equal(await hasFocus(page), true);
      await (await armedButton(page, "deny")).focus();
      assert.equal(await focus(page), "deny 0");
      await press(page, "Enter");
      await until(page, 1);
      await waitFor(page, () => document.activeElement.localName === "countersign-approvals");
      assert.equal(await focus(page), "card 1");
      await (await armedButton(page, "deny")).focus();
      await press(page, " ");
      await rests(page);
      assert.equal(await focus(page), "receipt 1");
      // The receipts are taken away one by one: to the other one, then to where the person writes.
      await (await armedButton(page, "dismiss", 1)).focus();
      await press(page, "Enter");
      await waitFor(
        page,
        () =>
          document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part=receipt]").length === 1,
      );
      assert.equal(await focus(page), "receipt 0");
      await (await armedButton(page, "dismiss")).focus();
      await press(page, "Enter");
      await waitFor(
        page,
        () =>
          document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part=receipt]").length === 0,
      );
      assert.equal(await focus(page), "text");
    });

    it("A6: without a composer the focus stays with the cards, never on nothing", async (t) => {
      const page = await open(t, {});
      await click(page, "deny");
      await rests(page);
      await (await armedButton(page, "dismiss")).focus();
      await press(page, "Enter");
      await waitFor(
        page,
        () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=receipt]"),
      );
      assert.equal(await page.evaluate(() => document.activeElement.localName), "countersign-approvals");
    });

    it("A6: a card that comes, changes or goes leaves the focus where the person writes", async (t) => {
      const page = await open(t, { attributes: COMPOSER });
      await page.focus("#text");
      await page.evaluate(() => window.rig.chat.stop());
      await rests(page, "stopped");
      assert.equal(await focus(page), "text");
      await page.evaluate(async () => {
        const { chat, kit } = window.rig;
        await chat.send(kit.order(["eat", "{}"], ["eat", '{"n":2}']));
      });
      await armedButton(page, "deny");
      assert.equal(await focus(page), "text");
    });

    it("A13: Escape leaves a card for the composer from anywhere in it, and decides nothing", async (t) => {
      const page = await open(t, { numbers: [1, 2], attributes: COMPOSER });
      await armedButton(page, "approve", 1);
      for (const [selector, place] of [
        ["[part~=card]", 1],
        ["textarea", 0],
        ["[part=reason] select", 0],
        ["[part=deny]", 0],
        ["[part=approve]", 1],
        ["[part=deny-all]", 0],
        ["[part=select] input", 1],
      ]) {
        await (await find(page, selector, place)).focus();
        assert.notEqual(await focus(page), "text");
        await press(page, "Escape");
        assert.equal(await focus(page), "text", selector);
      }
      // As a property, an element says the same.
      await page.evaluate(() => {
        const element = document.querySelector("countersign-approvals");
        element.composer = document.querySelector("form button");
        element.composer.id = "send";
      });
      await (await find(page, "[part=approve]")).focus();
      await press(page, "Escape");
      assert.equal(await focus(page), "send");
      assert.equal(await left(page), 2);
    });

    it("A13: Tab goes from Deny to Approve", async (t) => {
      const page = await open(t, {});
      await (await armedButton(page, "deny")).focus();
      await press(page, "Tab");
      assert.equal(await focus(page), "approve 0");
    });

    it("A13: no key decides while a card has the focus itself, unless shortcuts are on", async (t) => {
      const page = await open(t, {});
      await armedButton(page, "approve");
      await (await find(page, "[part~=card]")).focus();
      for (const keys of [["Enter"], [" "], ["y"], ["n"], ["a"], ["d"], ["Control", "Enter"], ["Meta", "Enter"]]) {
        await press(page, ...keys);
      }
      assert.deepEqual([await focus(page), await left(page)], ["card 0", 1]);
    });

    for (const modifier of ["Control", "Meta"]) {
      it(`A13: with shortcuts ${modifier}+Enter approves the card that has the focus, and no other`, async (t) => {
        const page = await open(t, { numbers: [1, 2, 3], attributes: { shortcuts: "" } });
        await (await find(page, "[part~=card]", 1)).focus();
        await armedButton(page, "approve", 1);
        await press(page, modifier, "Enter");
        await until(page, 2);
        assert.deepEqual(
          await page.evaluate(() =>
            window.rig.chat.snapshot().messages[1].calls.map(({ decision }) => decision?.approve ?? null),
          ),
          [null, true, null],
        );
        assert.equal(await focus(page), "card 2");
        // Pressed once more at once: nobody can have read the next one.
        await press(page, modifier, "Enter");
        assert.equal(await left(page), 2);
        // On a button or in a field the keys are the page's.
        await (await find(page, "textarea", 1)).focus();
        await press(page, modifier, "Enter");
        assert.equal(await left(page), 2);
      });
    }

    it("A13: with shortcuts nothing is approved that has to be opened or corrected first", async (t) => {
      const page = await open(t, { lines: 200, attributes: { shortcuts: "" } });
      const group = await find(page, "[part~=card]");
      /** Presses the keys on the card when it takes them, which Deny tells. */
      const tries = async () => {
        await group.focus();
        await find(page, "[part=deny][aria-disabled]");
        await armedButton(page, "deny");
        await press(page, "Control", "Enter");
        return left(page);
      };
      assert.equal(await tries(), 1, "folded");
      while ((await count(page, "[part=fold]")) > 0) await (await find(page, "[part=fold]")).click();
      await (await find(page, "[part=more]")).click();
      await (await find(page, "[part=edit-open]")).click();
      const json = await find(page, "[part=json]");
      const written = await json.evaluate((json) => json.value);
      const write = async (text) => {
        await json.evaluate((json) => json.select());
        await json.type(text);
      };
      await write("{");
      assert.equal(await tries(), 1, "what stands there cannot run");
      await (await find(page, "[part=reset]")).click();
      assert.equal(await (await find(page, "[part=json]")).evaluate((json) => json.value), written);
      assert.equal(await count(page, "[part=fold]"), 0, "what was opened stays open while nothing else is shown");
      await group.focus();
      await armedButton(page, "approve");
      await press(page, "Control", "Enter");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
    });

    it("A13: with shortcuts who presses them too early is told so", async (t) => {
      const page = await open(t, { attributes: { shortcuts: "" } });
      await armedButton(page, "approve");
      await (await find(page, "[part~=card]")).focus();
      await press(page, "Control", "Enter");
      await text(page, "[part~=card] > .said", /^Nothing was decided: this button was not ready yet/);
      assert.equal(await left(page), 1);
      await armedButton(page, "approve");
      await press(page, "Control", "Enter");
      await rests(page);
    });

    it("A13: shortcut keys that are held down approve one card at most", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3], attributes: { shortcuts: "" } });
      await (await find(page, "[part~=card]", 0)).focus();
      for (const place of [0, 1, 2]) await armedButton(page, "approve", place);
      await page.keyboard.down("Control");
      // Each further one is a repeat until the key goes up.
      await page.keyboard.down("Enter");
      await until(page, 2);
      // The next card has the focus, and would take the keys if they were pressed now.
      assert.equal(await focus(page), "card 1");
      for (const place of [0, 1]) await armedButton(page, "approve", place);
      for (let repeats = 0; repeats < 10; repeats += 1) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      await page.keyboard.up("Control");
      assert.equal(await left(page), 2);
    });

    it("A15: a decision is made when the button is let go on, and can be taken back until then", async (t) => {
      const page = await open(t, {});
      for (const part of ["approve", "deny"]) {
        const { x, y, width, height } = await (await armedButton(page, part)).boundingBox();
        await page.mouse.move(x + width / 2, y + height / 2);
        await page.mouse.down();
        assert.equal(await left(page), 1);
        await page.mouse.move(1, 1);
        await page.mouse.up();
        assert.equal(await left(page), 1, part);
      }
      const { x, y } = await (await armedButton(page, "deny")).boundingBox();
      await page.mouse.move(x + 9, y + 9);
      await page.mouse.down();
      await page.mouse.up();
      await rests(page);
    });

    for (const [says, viewport] of [
      ["a window 320 pixels wide", { width: 320, height: 1600 }],
      ["a zoom of 400 %", { width: 320, height: 256 }],
    ]) {
      it(`A15: in ${says} everything is there, large enough, and decides`, async (t) => {
        const page = await open(t, { numbers: [1, 2], attributes: COMPOSER }, viewport);
        const found = await page.evaluate(() => {
          const root = document.querySelector("countersign-approvals").shadowRoot;
          const sizes = (selector) =>
            [...root.querySelectorAll(selector)]
              .map((one) => one.getBoundingClientRect())
              .map(({ width, height }) => [width, height])
              .filter(([width]) => width > 0);
          return {
            overflows: document.documentElement.scrollWidth > innerWidth,
            decisions: sizes("[part=deny], [part=approve], [part=deny-all], [part=approve-selected]"),
            others: sizes("button, textarea, select, input"),
          };
        });
        assert.equal(found.overflows, false);
        assert.equal(found.decisions.length, 6);
        for (const [width, height] of found.decisions) assert.ok(width >= 44 && height >= 44, `${width} × ${height}`);
        for (const [width, height] of found.others) assert.ok(width >= 24 && height >= 24, `${width} × ${height}`);
        await (await find(page, "[part=deny]")).evaluate((button) => button.scrollIntoView({ block: "center" }));
        await click(page, "deny");
        await until(page, 1);
      });
    }

    it("A15: a composer that sticks to the edge does not hide what the focus moves to", async (t) => {
      const page = await open(t, { numbers: [1, 2, 3], attributes: COMPOSER }, { width: 700, height: 500 });
      await page.evaluate(() => {
        const [form] = document.forms;
        Object.assign(form.style, { position: "sticky", insetBlockEnd: "0", blockSize: "150px", background: "Canvas" });
        document.querySelector("countersign-approvals").style.setProperty("--countersign-scroll-margin", "150px");
        window.scrollTo(0, 0);
      });
      const hidden = await page.evaluate(() => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        const hidden = [];
        for (const one of root.querySelectorAll("textarea, select, button, input")) {
          one.focus();
          const { top, bottom } = one.getBoundingClientRect();
          if (top < 0 || bottom > document.forms[0].getBoundingClientRect().top + 1) hidden.push(one.outerHTML);
        }
        return hidden;
      });
      assert.deepEqual(hidden, []);
    });

    it("A15: what is settled and what may be set is as large as it must be", async (t) => {
      const page = await open(t, {});
      await click(page, "deny");
      await rests(page);
      const { height, width } = await (await find(page, "[part=dismiss]")).boundingBox();
      assert.ok(height >= 24 && width >= 24);
      assert.equal(await count(page, "[part=deny]"), 0);
      await text(page, "[part~=receipt] strong", /You declined this/);
    });
  });
}
