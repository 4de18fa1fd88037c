/**
 * Arguments that a person changes on the card before approving, in each browser, by real input: what is shown is what runs,
 * nothing runs that cannot, and the model is told.
 */
import assert from "node:assert/strict";
import { it } from "node:test";
import { drawn, inEachBrowser } from "./boundary.mjs";
import { waitFor } from "./browsers.mjs";
import { messagesOf, toolMessagesOf } from "./harness.mjs";
import { checkHistories, lastResults, obedient } from "./scripted.mjs";

const JAR = {
  type: "object",
  properties: {
    count: { type: "integer", title: "Cookies", minimum: 0, maximum: 20 },
    kind: { type: "string", title: "Kind", enum: ["oat", "nut"] },
    note: { type: "string", title: "Text" },
    wrap: { type: "boolean", title: "Wrapped" },
  },
  required: ["count"],
};
const WRITTEN = { count: 12, kind: "oat", note: "For Ada." };

const NOTE =
  "Note: the user who started this run, the person you are talking to, changed the arguments of this call before approving it. It ran with: ";

/** The texts of each such part, one after the other. */
const textOf = (page, part) =>
  page.evaluate((part) => {
    const { shadowRoot } = document.querySelector("countersign-approvals");
    return [...shadowRoot.querySelectorAll(`[part~="${part}"]`)].map((element) => {
      const walker = document.createTreeWalker(element, NodeFilter.SHOW_TEXT);
      const texts = [];
      while (walker.nextNode()) texts.push(walker.currentNode.data);
      return texts.join(" ").replaceAll(/\s+/g, " ").trim();
    });
  }, part);
const call = (page) => page.evaluate(() => window.chat.snapshot().messages[1].calls[0]);
const status = (page) => page.evaluate(() => window.chat.snapshot().status);
const ran = (page) => page.evaluate(() => window.ran);

/** A card that asks about one call of the tool `jar`. */
async function ask(open, t, { args = JSON.stringify(WRITTEN), schema = JAR, more = {}, tool = {} } = {}) {
  const stage = await open(t, { model: obedient });
  await stage.page.setViewport({ width: 800, height: 1400 });
  await stage.play(
    async ({ agentOf, make, order, refuse, given }) => {
      window.ran = [];
      window.previewed = [];
      window.world = 0;
      const run = (args) => {
        window.ran.push(args);
        return "fine";
      };
      const preview = (args) => {
        window.previewed.push(args.count);
        return [`Would leave ${20 - args.count + window.world}.`];
      };
      const jar = { inputSchema: given.schema, title: "Cookie jar", run, ...(given.tool.preview && { preview }) };
      const rules = [({ args }) => (args.count === 13 ? refuse("Thirteen is unlucky.") : undefined)];
      window.chat = await agentOf({ tools: [make("jar", jar)], rules, ...given.more }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send(order(["jar", given.args]));
    },
    { args, schema, more, tool },
  );
  return stage;
}

/** Presses a button that decides nothing, or goes to a field, wherever it stands by now. */
async function press(page, part) {
  const find = (part) => {
    const found = document.querySelector("countersign-approvals").shadowRoot.querySelector(`[part~="${part}"]`);
    found?.scrollIntoView({ block: "center" });
    return found;
  };
  await (await waitFor(page, find, part)).click();
}

/** Presses a deciding button once it takes a click, until it has. */
async function decide(page, part) {
  const wanted = await page.evaluate(() => window.chat.snapshot().requests.length - 1);
  while ((await page.evaluate(() => window.chat.snapshot().requests.length)) !== wanted) {
    const find = (part) => {
      const { shadowRoot } = document.querySelector("countersign-approvals");
      return shadowRoot.querySelector(`[part~="${part}"]:not([aria-disabled])`);
    };
    await (await waitFor(page, find, part)).click();
    await drawn(page);
  }
  await waitFor(page, () => window.chat.snapshot().status === "done");
}

const edit = async (page) => {
  await press(page, "more");
  await press(page, "edit-open");
  await waitFor(page, () =>
    document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=edit]:not([hidden])"),
  );
};

/** Empties the field under this label and types into it. */
async function fill(page, label, text) {
  const find = (label) => {
    const { shadowRoot } = document.querySelector("countersign-approvals");
    const labels = [...shadowRoot.querySelectorAll("[part~=edit] label")];
    return labels.find((one) => one.textContent.startsWith(label))?.querySelector("input, textarea, select");
  };
  const field = await waitFor(page, find, label);
  await field.evaluate((field) => field.select());
  await field.focus();
  await page.keyboard.press("Backspace");
  await page.keyboard.type(text);
}

/** Whether a button takes a click within the time that arming takes, and more. */
const takesClicks = (page, part) =>
  page.evaluate(async (part) => {
    const button = document.querySelector("countersign-approvals").shadowRoot.querySelector(`[part~="${part}"]`);
    const end = performance.now() + 1500;
    while (performance.now() < end) {
      if (!button.hasAttribute("aria-disabled")) return true;
      await new Promise((done) => requestAnimationFrame(done));
    }
    return false;
  }, part);

inEachBrowser(({ open }) => {
  it("A10: fields typed by the schema; what is shown as changed is what runs, and the model is told", async (t) => {
    const { page, site, quiet } = await ask(open, t);
    await edit(page);
    const fields = await page.evaluate(() =>
      [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=edit] label")].map(
        (label) => {
          const field = label.querySelector("input, select, textarea");
          return [label.querySelector("span").textContent, field.localName, field.type, field.value];
        },
      ),
    );
    assert.deepEqual(fields, [
      ["Cookies", "input", "number", "12"],
      ["Kind (optional)", "select", "select-one", "0"],
      ["Text (optional)", "input", "text", "For Ada."],
      ["Wrapped (optional)", "select", "select-one", ""],
    ]);
    assert.deepEqual(await textOf(page, "difference"), []);
    assert.deepEqual(await textOf(page, "approve"), ["Approve"]);
    await fill(page, "Cookies", "3");
    await fill(page, "Text", "");
    assert.deepEqual(await textOf(page, "difference"), [
      "Changed from what the assistant asked for count before 12 now 3 note before For Ada. removed",
    ]);
    assert.deepEqual(await textOf(page, "approve"), ["Approve with changes"]);
    await decide(page, "approve");
    assert.deepEqual(await ran(page), [{ count: 3, kind: "oat" }]);
    const { arguments: written, edited, changes, decision, result } = await call(page);
    assert.deepEqual(JSON.parse(written), WRITTEN);
    assert.equal(edited, '{"count":3,"kind":"oat"}');
    assert.deepEqual(changes, [
      { path: "count", was: { kind: "number", text: "12" }, now: { kind: "number", text: "3" } },
      { path: "note", was: { kind: "string", text: "For Ada." } },
    ]);
    assert.deepEqual([decision.approve, decision.via, decision.by], [true, "card", "ada"]);
    assert.equal(result.text, `${NOTE}${edited}\n\nfine`);
    // The model reads its own call as it made it, and that.
    const [made] = messagesOf(site.requests.at(-1)).find(({ tool_calls: made }) => made).tool_calls;
    assert.deepEqual(JSON.parse(made.function.arguments), WRITTEN);
    assert.deepEqual(lastResults(site.requests), [result.text]);
    checkHistories(site.requests);
    // The receipt has what ran, and how that differs.
    const [receipt] = await textOf(page, "receipt");
    assert.match(receipt, /^You changed the arguments and approved this\. It ran\./);
    const [card] = await textOf(page, "card");
    assert.match(card, /count 3 kind oat Changed from what the assistant asked for count before 12 now 3/);
    await quiet();
  });

  it("A10: what cannot run turns Approve off, is said beside its field, and A3: Deny works", async (t) => {
    const { page, site, quiet } = await ask(open, t);
    await edit(page);
    assert.equal(await takesClicks(page, "approve"), true);
    for (const [typed, says] of [
      ["", "Cookies is required."],
      ["21", "Cookies must be at most 20."],
      ["1.5", "Cookies must be of type integer, not number."],
      ["13", "A rule refuses the call with these arguments: Thirteen is unlucky."],
    ]) {
      await fill(page, "Cookies", typed);
      assert.ok((await textOf(page, "problem")).includes(says), `${typed}: ${await textOf(page, "problem")}`);
      assert.equal(await takesClicks(page, "approve"), false, typed);
      const why = await page.evaluate(() => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        const button = shadowRoot.querySelector("[part~=approve]");
        return shadowRoot.getElementById(button.getAttribute("aria-describedby")).textContent;
      });
      assert.notEqual(why, "", "Approve says why it is off");
      await page.evaluate(() => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        shadowRoot.querySelector("[part~=approve]").scrollIntoView({ block: "center" });
      });
      await (
        await waitFor(page, () =>
          document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=approve]"),
        )
      ).click();
      assert.equal(await status(page), "pending");
      assert.equal(await takesClicks(page, "deny"), true, "Deny is not off");
    }
    await decide(page, "deny");
    assert.deepEqual(await ran(page), []);
    assert.match(
      toolMessagesOf(site.requests.at(-1))[0].content,
      /^Error: approval_denied \(decided_by: run_owner\)\. /,
    );
    await quiet();
  });

  it("A10: any change arms Approve anew", async (t) => {
    const { page } = await ask(open, t);
    await edit(page);
    assert.equal(await takesClicks(page, "approve"), true);
    await page.evaluate(() => {
      const button = document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=approve]");
      window.off = [];
      document.querySelector("countersign-approvals").shadowRoot.addEventListener("input", () => {
        // The card heard of it on the way.
        queueMicrotask(() => window.off.push(button.hasAttribute("aria-disabled")));
      });
    });
    await fill(page, "Text", "abc");
    const off = await page.evaluate(() => window.off);
    assert.ok(off.length >= 3 && off.every(Boolean), `${off}`);
    assert.equal(await takesClicks(page, "approve"), true);
  });

  it("A10: Reset and Discard put back what the model wrote, and then nothing is edited", async (t) => {
    const { page, site } = await ask(open, t);
    await edit(page);
    await fill(page, "Cookies", "99");
    await press(page, "reset");
    assert.deepEqual(await textOf(page, "difference"), []);
    await fill(page, "Cookies", "4");
    assert.equal((await textOf(page, "difference")).length, 1);
    await press(page, "edit-open");
    assert.deepEqual(await textOf(page, "difference"), []);
    assert.deepEqual(await textOf(page, "approve"), ["Approve"]);
    await decide(page, "approve");
    assert.deepEqual(await ran(page), [WRITTEN]);
    assert.deepEqual(lastResults(site.requests), ["fine"]);
    assert.equal((await call(page)).edited, undefined);
  });

  it("A10: what no fields hold is changed as JSON, read as strictly as what a model writes", async (t) => {
    const args = '{"to":[{"name":"Ada \u202e","n":1.50}],"body":"a\\nb"}';
    const { page, quiet } = await ask(open, t, { args, schema: { type: "object" } });
    await edit(page);
    const read = () =>
      page.evaluate(
        () => document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=json]").value,
      );
    assert.equal(
      await read(),
      '{\n  "to": [\n    {\n      "name": "Ada \\u202e",\n      "n": 1.5\n    }\n  ],\n  "body": "a\\nb"\n}',
      "what cannot be seen stands there as its escape",
    );
    assert.deepEqual(await textOf(page, "difference"), [], "untouched it is what the model wrote");
    for (const [typed, says] of [
      ["{", /^These arguments cannot run: unexpected end of input/],
      ['{"a":1,"a":2}', /the key "a" occurs twice/],
      ['{"__proto__":{}}', /the key "__proto__" is not allowed/],
      ["[1]", /must be one JSON object/],
      ["", /unexpected end of input/],
    ]) {
      await fill(page, "Arguments", typed);
      assert.match((await textOf(page, "problem")).join(), says);
      const marks = await page.evaluate(() => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        const area = shadowRoot.querySelector("[part~=json]");
        return [
          area.getAttribute("aria-invalid"),
          shadowRoot.getElementById(area.getAttribute("aria-describedby")).role,
        ];
      });
      assert.deepEqual(marks, ["true", "alert"]);
      assert.equal(await takesClicks(page, "approve"), false);
    }
    await fill(page, "Arguments", ' {"to": [{"name": "Bob \\u202e"}], "more": true} ');
    const [difference] = await textOf(page, "difference");
    assert.equal(
      difference,
      "Changed from what the assistant asked for to[0].name before Ada ⟨U+202E⟩ now Bob ⟨U+202E⟩ to[0].n before 1.50 " +
        "removed body before a↵ b removed more added now true",
    );
    await decide(page, "approve");
    assert.deepEqual(await ran(page), [{ to: [{ name: "Bob \u202e" }], more: true }]);
    await quiet();
  });

  it("A10: a list of texts has a line for each, and what no lines can hold is changed as JSON", async (t) => {
    const schema = {
      type: "object",
      properties: {
        to: { type: "array", title: "Recipients", description: "Addresses.", items: { type: "string", minLength: 3 } },
      },
      required: ["to"],
    };
    const { page } = await ask(open, t, { args: '{"to":["ada","bob"]}', schema });
    await edit(page);
    const [area, described] = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector("countersign-approvals");
      const area = shadowRoot.querySelector("[part~=edit] textarea");
      const ids = area.getAttribute("aria-describedby").split(" ");
      return [area.value, ids.map((id) => shadowRoot.getElementById(id).textContent)];
    });
    assert.deepEqual([area, described], ["ada\nbob", ["Addresses.", "One per line.", ""]]);
    await fill(page, "Recipients", "ada\nal\n");
    assert.match((await textOf(page, "problem")).join(), /Recipients\[1\] must have a length of at least 3\./);
    await fill(page, "Recipients", Array.from({ length: 25 }, (_, n) => `n${n + 10}`).join("\n"));
    assert.match((await textOf(page, "edit")).join(), /to\[19\] added now n29 and 5 more changes/);
    await fill(page, "Recipients", "eve\nada\n");
    await decide(page, "approve");
    assert.deepEqual(await ran(page), [{ to: ["eve", "ada"] }]);
    schema.properties.to.items.minLength = 0;
    for (const to of [["two\nlines"], [""], ["a \u202e b"]]) {
      const other = await ask(open, t, { args: JSON.stringify({ to }), schema });
      await edit(other.page);
      assert.equal((await textOf(other.page, "json")).length, 1, JSON.stringify(to));
    }
  });

  it("A10: a preview is shown of what would run, and one that changes decides nothing", async (t) => {
    const { page } = await ask(open, t, { tool: { preview: true } });
    await edit(page);
    await fill(page, "Cookies", "3");
    await waitFor(page, () =>
      [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part=preview] li")].some(
        ({ textContent }) => textContent === "Would leave 17.",
      ),
    );
    assert.deepEqual(await textOf(page, "preview"), ["Would leave 17."], "and no other one");
    assert.equal(await takesClicks(page, "approve"), true);
    await page.evaluate(() => {
      window.world = 5;
    });
    await press(page, "approve");
    await waitFor(page, () =>
      document
        .querySelector("countersign-approvals")
        .shadowRoot.querySelector("[part~=card] > [part~=problem]")
        ?.textContent.includes("what would run has changed"),
    );
    assert.deepEqual([await ran(page), await status(page)], [[], "pending"]);
    await waitFor(
      page,
      () =>
        document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=preview]").textContent ===
        "Would leave 22.",
    );
    await decide(page, "approve");
    assert.deepEqual((await ran(page))[0].count, 3);
    const [card] = await textOf(page, "card");
    assert.match(card, /Would leave 22\./);
  });

  it("A10: the card shows what would run as its arguments, and what the model wrote again after that", async (t) => {
    const { page } = await ask(open, t);
    const shown = () => textOf(page, "arguments");
    await edit(page);
    assert.deepEqual(await shown(), ["count 12 kind oat note For Ada."]);
    await fill(page, "Cookies", "3");
    assert.deepEqual(await shown(), ["count 3 kind oat note For Ada."]);
    assert.match((await textOf(page, "difference"))[0], /count before 12 now 3$/);
    // What cannot run is not shown as what would.
    await fill(page, "Cookies", "21");
    assert.deepEqual(await shown(), ["count 12 kind oat note For Ada."]);
    await fill(page, "Cookies", "4");
    assert.deepEqual(await shown(), ["count 4 kind oat note For Ada."]);
    await press(page, "reset");
    assert.deepEqual(await shown(), ["count 12 kind oat note For Ada."]);
    await fill(page, "Text", "");
    assert.deepEqual(await shown(), ["count 12 kind oat"]);
    await press(page, "edit-open");
    assert.deepEqual(await shown(), ["count 12 kind oat note For Ada."]);
    // A denial is about what the model wrote, whatever stood in the fields.
    await press(page, "edit-open");
    await fill(page, "Cookies", "5");
    assert.deepEqual(await shown(), ["count 5 kind oat note For Ada."]);
    await decide(page, "deny");
    assert.deepEqual(await shown(), ["count 12 kind oat note For Ada."]);
  });

  it("A10: a preview that comes after the decision changes nothing on the card", async (t) => {
    const { page } = await ask(open, t);
    await page.evaluate(async () => {
      const { agentOf, make, order } = (await import("/test/kit.mjs")).kit();
      const preview = ({ count }) =>
        count === 12 ? [] : new Promise((done) => Object.assign(window, { late: () => done(["late"]) }));
      const inputSchema = { type: "object", properties: { count: { type: "integer", title: "Cookies" } } };
      window.chat = await agentOf({ tools: [make("jar", { inputSchema, preview })] }).open("late");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send(order(["jar", '{"count":12}']));
    });
    await edit(page);
    await fill(page, "Cookies", "3");
    await waitFor(page, () => window.late);
    await decide(page, "deny");
    await page.evaluate(async () => {
      window.late();
      await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    });
    assert.deepEqual([await textOf(page, "arguments"), await textOf(page, "preview")], [["count 12"], []]);
  });

  it("A10: what changes in a long text is shown word by word, of many lines line by line", async (t) => {
    const words = Array.from({ length: 60 }, (_, n) => `word${n}`);
    const many = Array.from({ length: 40 }, (_, n) => `line ${n}`);
    const [before, lines] = [words.join(" "), many.join("\n")];
    const schema = { type: "object" };
    const { page } = await ask(open, t, { args: JSON.stringify({ text: before, lines }), schema });
    await edit(page);
    const after = words.map((word) => (word === "word30" ? "another" : word)).join(" ");
    await fill(page, "Arguments", JSON.stringify({ text: after, lines: lines.replace("line 20", "line twenty") }));
    const marks = await page.evaluate(() => {
      const { shadowRoot } = document.querySelector("countersign-approvals");
      const own = (mark) => mark.lastChild.textContent.replaceAll("↵", "").trim();
      return [...shadowRoot.querySelectorAll("[part=difference] :is(del, ins)")].map((mark) => [
        mark.localName,
        own(mark),
      ]);
    });
    assert.deepEqual(marks, [
      ["del", "word30"],
      ["ins", "another"],
      ["del", "line 20"],
      ["ins", "line twenty"],
    ]);
    const [shown] = await textOf(page, "difference");
    assert.equal(shown.match(/word29/g).length, 1, "what stays stands there once");
  });

  it("A11: a card whose arguments are changed is selected anew", async (t) => {
    const { page } = await ask(open, t);
    await page.evaluate(async () => {
      const { agentOf, make, order } = (await import("/test/kit.mjs")).kit();
      const properties = { count: { type: "integer", title: "Cookies" } };
      const inputSchema = { type: "object", properties, required: ["count"] };
      const run = (args) => window.ran.push(args) && "fine";
      window.chat = await agentOf({ tools: [make("jar", { inputSchema, run })] }).open("two");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send(order(["jar", '{"count":1}'], ["jar", '{"count":2}']));
    });
    await page.setViewport({ width: 800, height: 2400 });
    const bar = async (says) =>
      waitFor(
        page,
        (says) =>
          document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=approve-selected]")
            ?.textContent === says,
        says,
      );
    const tick = () => press(page, "select");
    const isOpen = () =>
      waitFor(page, () => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        return !shadowRoot.querySelector("[part=select] input").hasAttribute("aria-disabled");
      });
    await isOpen();
    await tick();
    await bar("Approve selected (1)");
    await edit(page);
    await bar("Approve selected (0)");
    await fill(page, "Cookies", "");
    await bar("Approve selected (0)");
    await tick();
    await bar("Approve selected (0)");
    await fill(page, "Cookies", "7");
    await isOpen();
    await tick();
    await bar("Approve selected (1)");
    const find = () =>
      document
        .querySelector("countersign-approvals")
        .shadowRoot.querySelector("[part=approve-selected]:not([aria-disabled])");
    await (await waitFor(page, find)).focus();
    await page.keyboard.press("Enter");
    await waitFor(page, () => window.chat.snapshot().requests.length === 1);
    await decide(page, "deny");
    assert.deepEqual(await ran(page), [{ count: 7 }]);
  });

  it("A10: Tab goes Deny, Approve, More; keys alone change and approve", async (t) => {
    const { page } = await ask(open, t);
    const focused = () =>
      page.evaluate(() => document.querySelector("countersign-approvals").shadowRoot.activeElement?.part.value);
    const find = (part) =>
      document.querySelector("countersign-approvals").shadowRoot.querySelector(`[part~="${part}"]`);
    await (await waitFor(page, find, "deny")).focus();
    assert.equal(await focused(), "deny");
    const seen = [];
    for (let step = 0; step < 2; step += 1) {
      await page.keyboard.press("Tab");
      seen.push(await focused());
    }
    assert.deepEqual(seen, ["approve", "more"]);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    assert.equal(await focused(), "edit-open");
    await page.keyboard.press("Enter");
    // Into the first field.
    assert.equal(
      await page.evaluate(() => document.querySelector("countersign-approvals").shadowRoot.activeElement?.value),
      "12",
    );
    await page.keyboard.press("ArrowUp");
    assert.match((await textOf(page, "difference"))[0], /now 13$/);
    await page.keyboard.press("ArrowUp");
    assert.match((await textOf(page, "difference"))[0], /now 14$/);
    while ((await focused()) !== "approve") await page.keyboard.press("Tab");
    await waitFor(
      page,
      (part) => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        return !shadowRoot.querySelector(`[part~="${part}"]`).hasAttribute("aria-disabled");
      },
      "approve",
    );
    await page.keyboard.press("Enter");
    await waitFor(page, () => window.chat.snapshot().status === "done");
    assert.equal((await ran(page))[0].count, 14);
  });

  it("A10: chat.decide takes arguments, and refuses what a card would", async (t) => {
    const { page, site } = await ask(open, t);
    const told = await page.evaluate(async () => {
      const { chat } = window;
      const [{ id }] = chat.snapshot().requests;
      const by = "bob";
      const wrong = [];
      for (const [approve, args] of [
        [true, { count: 99 }],
        [true, { count: 13 }],
        [true, [1]],
        [true, "{}"],
        [true, { count: Number.NaN }],
        [true, { count: 1n }],
        [true, JSON.parse('{"count":1,"__proto__":{}}')],
        [false, { count: 1 }],
      ]) {
        const error = await chat.decide(id, { approve, by, args }).catch((error) => error);
        wrong.push([error.code, error.message]);
      }
      const status = chat.snapshot().status;
      const first = await chat.decide(id, { approve: true, by, args: { count: 1 } });
      const again = await chat.decide(id, { approve: true, by, args: { count: 1 } });
      const other = await chat.decide(id, { approve: true, by, args: { count: 2 } }).catch((error) => error);
      const plain = await chat.decide(id, { approve: true, by }).catch((error) => error);
      await first.continuation;
      return { wrong, status, results: [first.result, again.result, other.code, plain.code] };
    });
    const codes = told.wrong.map(([code]) => code);
    assert.deepEqual(codes, ["invalid_decision", "not_allowed", ...Array(6).fill("invalid_decision")]);
    assert.match(told.wrong[0][1], /count must be at most 20\.$/);
    assert.match(told.wrong[1][1], /The rule says: Thirteen is unlucky\.$/);
    assert.equal(told.status, "pending");
    assert.deepEqual(told.results, ["applied", "already", "conflict", "conflict"]);
    assert.deepEqual(await ran(page), [{ count: 1 }]);
    const { edited, decision } = await call(page);
    assert.deepEqual([edited, decision.via], ['{"count":1}', "api"]);
    assert.match(lastResults(site.requests)[0], /^Note: another user, not the person you are talking to, changed /);
    const [receipt] = await textOf(page, "receipt");
    assert.match(receipt, /^Another user changed the arguments and approved this\./);
  });

  it("A10: what was changed and approved outlives the page", async (t) => {
    const { page } = await ask(open, t);
    const kept = await page.evaluate(async () => {
      const { createAgent, memoryStore, openaiChat, tool, verifyLog } = await import("/dist/index.js");
      const store = memoryStore();
      const runs = [];
      const agent = () =>
        createAgent({
          store,
          user: { id: "ada" },
          model: openaiChat({ baseUrl: "/v1", model: "m" }),
          tools: [
            tool({
              name: "jar",
              inputSchema: { type: "object" },
              run: (args) => runs.push(args) && new Promise(() => {}),
            }),
          ],
        });
      const first = agent();
      const chat = await first.open("kept");
      await chat.send(JSON.stringify([["jar", '{"count":12}']]));
      await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada", args: { count: 3 } });
      const metadata = await chat.export();
      const full = await chat.export({ privacy: "full" });
      first.dispose();
      const again = await agent().open("kept");
      const [{ edited }] = again.snapshot().messages[1].calls;
      return { edited, runs, metadata, checks: [verifyLog(metadata).valid, verifyLog(full).valid], full };
    });
    assert.deepEqual([kept.edited, kept.runs], ['{"count":3}', [{ count: 3 }]]);
    assert.deepEqual(kept.checks, [true, true]);
    assert.match(kept.metadata, /"type":"tool.call.decided".*"edited":true/);
    assert.doesNotMatch(kept.metadata, /"count/);
    assert.match(kept.full, /"edit":\{"arguments":"\{\\"count\\":3\}"/);
  });
});
