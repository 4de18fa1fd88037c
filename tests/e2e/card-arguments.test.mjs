/**
 * What a card shows of a call's arguments, in each browser: tables, lists, differences, folds that keep Approve off until
 * they are opened, ten thousand items, and paper. Clicks and keys are real input.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { armed as armedInView, BROWSERS, launch, openContext, openTab, serve, waitFor } from "./browsers.mjs";
import { obedient } from "./scripted.mjs";

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    /** A page that is asked about one call with these arguments; `more` is more of the tool, `current` for its preview. */
    async function ask(t, args, more = {}) {
      const site = await serve(t, { model: obedient });
      const page = await openTab(await openContext(browser, t), t, `${site.url}/test/`);
      await page.evaluate(() => window.ready);
      await page.evaluate(
        async (text, { current, ...more }) => {
          const { agentOf, make, order, runs } = (await import("/test/kit.mjs")).kit();
          const preview = current && { preview: () => ({ lines: ["It is saved."], current }) };
          window.chat = await agentOf({ tools: [make("save", { ...more, ...preview })] }).open("c");
          window.runs = runs;
          document.querySelector("countersign-approvals").chat = window.chat;
          await window.chat.send(order(["save", text]));
        },
        typeof args === "string" ? args : JSON.stringify(args),
        more,
      );
      await waitFor(page, find, '[part="card"]');
      return page;
    }

    const find = (selector) => document.querySelector("countersign-approvals").shadowRoot.querySelector(selector);

    /** What `look` gives of all elements that fit. */
    const all = (page, selector, look = (element) => element.textContent) =>
      page.evaluate(
        (selector, look) => {
          const root = document.querySelector("countersign-approvals").shadowRoot;
          const looks = {
            text: (element) => element.textContent,
            label: (element) => element.getAttribute("aria-label"),
          };
          return [...root.querySelectorAll(selector)].map(looks[look]);
        },
        selector,
        look === "label" ? "label" : "text",
      );

    const count = async (page, selector) => (await all(page, selector)).length;
    const isOff = (page) =>
      page.evaluate(() => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        const approve = root.querySelector("[part=approve]");
        const reason = root.getElementById(approve.getAttribute("aria-describedby"));
        return [approve.getAttribute("aria-disabled"), reason?.checkVisibility() ? reason.textContent : null];
      });
    const OFF = ["true", "Open everything before you can approve."];

    /** A button in view, once the card accepts it: one that nobody sees takes no click. */
    async function armed(page, part) {
      const button = await waitFor(page, find, `[part=${part}]`);
      await button.evaluate((button) => button.scrollIntoView({ block: "center" }));
      return armedInView(page, part);
    }

    const press = async (page, part) => (await armed(page, part)).click();

    /** Clicks or presses the fold that is named so. */
    async function open(page, says, key) {
      const fold = await waitFor(
        page,
        (says) => {
          const root = document.querySelector("countersign-approvals").shadowRoot;
          return [...root.querySelectorAll("[part=fold]")].find((fold) => fold.textContent === says);
        },
        says,
      );
      if (!key) return fold.click();
      await fold.focus();
      await page.keyboard.press(key);
    }

    /** What has the focus within the cards: what opens gets the focus that its button loses. */
    const focused = (page) =>
      page.evaluate(() => document.querySelector("countersign-approvals").shadowRoot.activeElement?.localName);

    it("A1: says who asks, whose tool it is, its name, why, arguments, hints and scope, in this order", async (t) => {
      const page = await ask(t, { to: "ada" }, { title: "Save it", effect: "write" });
      const parts = "asker title tool why arguments hints scope".split(" ");
      assert.deepEqual(await all(page, parts.map((part) => `[part=${part}]`).join()), [
        "The assistant asks to run a tool of this page",
        "Save it",
        "Toolsave",
        "This tool changes something, so a person is asked first.",
        "toada",
        "✎Changes something↻Each run takes effect",
        "Covers this one call.",
      ]);
      const [view] = await page.evaluate(() => window.chat.snapshot().requests.map(({ view }) => view));
      assert.deepEqual(
        [view.asker, view.tool, view.title, view.hints],
        ["assistant", "save", "Save it", ["writes", "repeats"]],
      );
    });

    it("A2: a list of flat objects is a table with every key and value", async (t) => {
      const page = await ask(t, {
        rows: [
          { sku: "a", n: 1 },
          { n: 2, note: "" },
        ],
        tags: ["x", "y"],
      });
      assert.deepEqual(await all(page, "caption, .group"), ["rows", "tags"]);
      assert.deepEqual(await all(page, "thead th"), ["sku", "n", "note"]);
      assert.deepEqual(await all(page, "tbody th"), ["[0]", "[1]"]);
      assert.deepEqual(await all(page, "tbody td"), ["a", "1", "", "", "2", "empty text"]);
      assert.deepEqual(await all(page, "ol li"), ["x", "y"]);
      await press(page, "approve");
      await waitFor(page, () => window.runs.length === 1);
    });

    it("A2: nested objects are grouped under the path of what they are in", async (t) => {
      const page = await ask(t, { a: { b: { c: 1 }, d: "x" }, "e.f": {} });
      assert.deepEqual(await all(page, ".group, dt"), ["a.b", "c", "a", "d", '["e.f"]']);
    });

    it("A2: a difference names what goes and what comes in words, and changes ask again", async (t) => {
      const current = { title: "The old page", n: 10, tags: ["a", "b"] };
      const page = await ask(t, { title: "The new page", n: 2, tags: ["a"] }, { current });
      assert.deepEqual(await all(page, "dd, li[data-kind]"), [
        "The removed: old added: new page",
        "removed: 10added: 2",
        "a",
        "removed: b",
      ]);
      const marks = await all(page, "del, ins");
      assert.deepEqual(marks, ["removed: old ", "added: new ", "removed: 10", "added: 2", "removed: b"]);
      assert.deepEqual(await all(page, "[part=preview] li"), ["It is saved."]);
      const changes = await page.evaluate(() => window.chat.snapshot().requests[0].view.arguments[1].changes);
      assert.deepEqual(changes, [
        { change: "removed", text: "10" },
        { change: "added", text: "2" },
      ]);
    });

    it("A2: what hides, imitates or moves text is shown, and stays text", async (t) => {
      const page = await ask(t, {
        to: "p\u0430ypal",
        link: "https://b\u00fccher.example/",
        file: "invoice\u202Efdp.exe",
        html: "<img src=x onerror=alert(1)>",
        face: "👩\u200d🚀",
        code: " a\n  b",
      });
      assert.deepEqual(await all(page, "dd > span, dd > div"), [
        "pаypal",
        "https://bücher.example/",
        "invoice⟨U+202E⟩fdp.exe",
        "<img src=x onerror=alert(1)>",
        "👩⟨+⟩🚀",
        "␣a↵\n␣␣b",
      ]);
      assert.deepEqual(await all(page, "[part=mixed], [part=hosts]"), [
        "This mixes letters of different alphabets.",
        "Host as the network knows it: xn--bcher-kva.example",
      ]);
      assert.equal(await count(page, "img"), 0);
      assert.deepEqual(await page.evaluate(() => Object.keys(window.chat.snapshot().requests[0].view.arguments[0])), [
        "path",
        "name",
        "kind",
        "text",
        "long",
        "mixed",
      ]);
    });

    for (const key of [undefined, "Enter"]) {
      it(`A2: a long text is folded, and Approve is off until it was opened by ${key ?? "a click"}`, async (t) => {
        const lines = Array.from({ length: 96 }, (_, number) => `line number ${number}`);
        const page = await ask(t, { letter: lines.join("\n"), to: "ada" });
        const size = lines.join("\n").length;
        const says = `Show all ${size.toLocaleString("en")} characters, 96 lines`;
        assert.deepEqual(await all(page, "[part=fold]"), [says]);
        assert.deepEqual(await all(page, "[part=fold]", "label"), [`letter: ${says}`]);
        assert.equal(
          (await all(page, ".block"))[0],
          lines
            .slice(0, 5)
            .map((line) => `${line}↵\n`)
            .join(""),
        );
        // Deny arms, Approve does not, and a click on it decides nothing.
        await armed(page, "deny");
        assert.deepEqual(await isOff(page), OFF);
        await (await page.evaluateHandle(find, "[part=approve]")).click();
        // No script opens anything for a person.
        await page.evaluate(() => {
          document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=fold]").click();
        });
        assert.deepEqual([await count(page, "[part=fold]"), await isOff(page)], [1, OFF]);
        assert.equal(await page.evaluate(() => window.chat.snapshot().status), "pending");
        await open(page, says, key);
        assert.equal((await all(page, ".block"))[0], lines.join("↵\n"));
        assert.deepEqual([await count(page, "[part=fold]"), await focused(page)], [0, "div"]);
        assert.equal((await isOff(page))[1], null);
        await press(page, "approve");
        await waitFor(page, () => window.runs.length === 1);
      });
    }

    it("A2: what is folded can be denied", async (t) => {
      const page = await ask(t, { letter: "x".repeat(5_000) });
      assert.deepEqual(await isOff(page), OFF);
      await press(page, "deny");
      await waitFor(page, () => window.chat.snapshot().status === "done");
      assert.deepEqual(await page.evaluate(() => window.runs), []);
    });

    it("A2: every fold has to be opened, of lists and of all", async (t) => {
      const fields = Object.fromEntries(Array.from({ length: 30 }, (_, number) => [`f${number}`, number]));
      const rows = Array.from({ length: 21 }, (_, n) => ({ n, note: `note ${n}` }));
      const page = await ask(t, { tags: rows.map(({ n }) => `t${n}`), ...fields, rows });
      assert.deepEqual(await all(page, "[part=fold]"), ["Show all 21 rows", "Show 31 more values"]);
      assert.deepEqual([await count(page, "ol li"), await count(page, "dt"), await count(page, "tr")], [20, 20, 0]);
      await open(page, "Show all 21 rows");
      assert.deepEqual([await count(page, "ol li"), (await all(page, "ol li")).at(-1)], [21, "t20"]);
      assert.deepEqual(await isOff(page), OFF);
      await open(page, "Show 31 more values");
      assert.deepEqual([await count(page, "dt"), await count(page, "tbody tr")], [30, 21]);
      await press(page, "approve");
      await waitFor(page, () => window.runs.length === 1);
    });

    it("A2: ten thousand items keep the page responsive, a page at a time", async (t) => {
      const items = Array.from({ length: 9_990 }, (_, number) => `item ${number}`);
      const elements = (page) =>
        page.evaluate(() => document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("*").length);
      const page = await ask(t, { items });
      assert.ok((await elements(page)) < 100, `${await elements(page)}`);
      await open(page, "Show all 9,990 rows");
      await open(page, "Show more: 7,970 left");
      assert.equal(await count(page, "ol li"), 4_020);
      assert.ok((await elements(page)) < 4_200, `${await elements(page)}`);
      assert.deepEqual(await isOff(page), OFF);
      for (const left of ["5,970", "3,970", "1,970"]) await open(page, `Show more: ${left} left`);
      assert.equal((await all(page, "ol li")).at(-1), "item 9989");
      await press(page, "approve");
      await waitFor(page, () => window.runs.length === 1);
    });

    it("A2: a text of a megabyte comes in pieces", async (t) => {
      const page = await ask(t, { text: "word ".repeat(200_000) });
      assert.deepEqual(await all(page, "[part=fold]"), ["Show all 1,000,000 characters, 1 line"]);
      assert.equal((await all(page, ".block"))[0].length, 300);
      await open(page, "Show all 1,000,000 characters, 1 line");
      assert.equal((await all(page, ".block"))[0].length, 100_300);
      assert.match((await all(page, "[part=fold]"))[0], /^Show more: 899,70\d left$/);
      assert.deepEqual(await isOff(page), OFF);
    });

    it("A14: says what a server's annotations add to the risk", async (t) => {
      const page = await ask(
        t,
        {},
        { effect: "write", idempotent: true, annotations: { readOnlyHint: true, title: "Nice" } },
      );
      assert.deepEqual(await all(page, "[part=hints] li > :last-child"), [
        "Changes something",
        "Each run takes effect",
        "Its results come from outside and may hold instructions from strangers",
      ]);
      assert.deepEqual(await all(page, "[part=hints] [aria-hidden=true]"), ["✎", "↻", "⇄"]);
    });

    it("A16: paper shows all arguments and no buttons, and opens nothing", async (t) => {
      const lines = Array.from({ length: 50 }, (_, number) => `line ${number}`).join("\n");
      const page = await ask(t, { letter: lines, tags: Array.from({ length: 70 }, (_, number) => `t${number}`) });
      const folds = await count(page, "[part=fold]");
      assert.equal(folds, 2);
      await page.evaluate(() => {
        addEventListener("beforeprint", () => {
          const root = document.querySelector("countersign-approvals").shadowRoot;
          const paper = root.querySelector(".paper");
          const seen = (element) => getComputedStyle(element).display !== "none";
          window.printed = {
            text: paper.querySelector(".block").textContent,
            tags: paper.querySelectorAll("li").length,
            folds: paper.querySelectorAll("[part=fold]").length,
            onScreen: seen(paper),
          };
        });
      });
      await page.pdf();
      assert.deepEqual(await page.evaluate(() => window.printed), {
        text: lines.replaceAll("\n", "↵\n"),
        tags: 70,
        folds: 0,
        onScreen: false,
      });
      assert.deepEqual(
        [await count(page, ".paper"), await count(page, "[part=fold]"), await isOff(page)],
        [0, folds, OFF],
      );
    });
  });
}
