/** The record of a chat: exports that can be checked, and content that is gone for good. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf } from "./harness.mjs";
import { calls, event, play as playIn, stream, text } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (...given) => playIn(browser, ...given);

/** Two calls to decide about, then an answer; every text of a person, the model or a tool says SECRET. */
const ANSWERS = () => [
  calls(["eat", '{"what":"SECRET 1"}'], ["eat", '{"what":"SECRET 2"}']),
  stream(event({ content: "SECRET answer" }), event({}, "stop"), "data: [DONE]\n\n"),
];

const linesOf = (log) =>
  log
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line));

describe("an export", () => {
  it("shows at each level what it may, keeps every decision, and is checked alike", async (t) => {
    const { told } = await play(t, ANSWERS(), async ({ agentOf, openaiChat, make, memoryStore, verifyLog }) => {
      const store = memoryStore();
      const model = openaiChat({ baseUrl: "/v1", model: "m", headers: { authorization: "Bearer SESAME" } });
      const chat = await agentOf({ store, model, tools: [make("eat")] }).open("c");
      await chat.send("SECRET question");
      const [one, two] = chat.snapshot().requests;
      await chat.decide(one.id, { approve: true, by: "ada", note: "SECRET yes" });
      await (await chat.decide(two.id, { approve: false, by: "grace", reason: "skip", note: "SECRET no" }))
        .continuation;
      const logs = {};
      for (const privacy of ["metadata", "redacted", "full", "everything", undefined]) {
        logs[privacy] = await chat.export({ privacy });
      }
      logs.bare = await chat.export();
      const checks = Object.fromEntries(Object.entries(logs).map(([level, log]) => [level, verifyLog(log)]));
      return { logs, checks, stored: (await store.load("c")).join("\n") };
    });
    const { logs, checks, stored } = told;
    assert.equal(stored, logs.full.trimEnd());
    assert.doesNotMatch(JSON.stringify(told), /SESAME/, "no key is stored or exported");
    for (const level of ["everything", "undefined", "bare"]) assert.equal(logs[level], logs.metadata, level);
    assert.match(logs.full, /SECRET/);
    const events = linesOf(logs.full);
    const head = events.at(-1).hash;
    for (const [level, check] of Object.entries(checks)) {
      assert.deepEqual(check, { valid: true, events: events.length, head }, level);
    }
    for (const level of ["metadata", "redacted"]) {
      assert.doesNotMatch(logs[level], /SECRET|call_0|"text":"|digest":"/, level);
      assert.doesNotMatch(logs[level], new RegExp(events.map(({ salt }) => salt).join("|")), level);
      const lines = linesOf(logs[level]);
      assert.deepEqual(
        lines.map(({ seq, type, hash }) => [seq, type, hash]),
        events.map(({ seq, type, hash }) => [seq, type, hash]),
      );
      const decisions = lines.filter(({ type }) => type === "tool.call.decided");
      assert.deepEqual(
        decisions.map(({ approved, decided_by, decider, via, reason }) => [approved, decided_by, decider, via, reason]),
        [
          [true, "run_owner", "ada", "api", null],
          [false, "other_user", "grace", "api", "skip"],
        ],
      );
      const ends = lines.filter(({ type }) => /completed|denied/.test(type) && type.startsWith("tool."));
      assert.deepEqual(
        ends.map(({ type, name, reason_code, decided_by }) => [type, name, reason_code, decided_by]),
        [
          ["tool.call.denied", "eat", "approval_denied", "other_user"],
          ["tool.call.completed", "eat", undefined, undefined],
        ],
      );
    }
    const note = linesOf(logs.redacted).find(({ type }) => type === "tool.call.decided").redacted.note;
    assert.equal(note, "SECRET yes".length);
    assert.equal(new Set(events.map(({ salt }) => salt)).size, events.length, "each event has its own salt");
  });

  it("that was changed says where", async (t) => {
    const { told } = await play(t, ANSWERS(), async ({ agentOf, make, verifyLog }) => {
      const chat = await agentOf({ tools: [make("eat")] }).open("c");
      await chat.send("SECRET question");
      await chat.stop();
      const found = {};
      for (const privacy of ["metadata", "redacted", "full"]) {
        const log = await chat.export({ privacy });
        const lines = log.trimEnd().split("\n");
        const changed = {
          "a byte": [log.replace('"call_count":2', '"call_count":3'), 1],
          "an outcome": [log.replace("approval_cancelled", "approval_superseded"), 4],
          "a line less": [lines.filter((_, seq) => seq !== 2).join("\n"), 2],
          "lines swapped": [[...lines.slice(0, 2), lines[3], lines[2], ...lines.slice(4)].join("\n"), 2],
          "no hash": [lines.map((line, seq) => (seq === 3 ? line.replace(/,"hash":"\w+"/, "") : line)).join("\n"), 3],
        };
        for (const [what, [text, seq]] of Object.entries(changed)) {
          found[`${privacy}, ${what}`] = { same: text === log, seq, check: verifyLog(text) };
        }
        found[`${privacy}, end`] = { same: false, seq: null, check: verifyLog(lines.slice(0, -1).join("\n")) };
      }
      return found;
    });
    for (const [what, { same, seq, check }] of Object.entries(told)) {
      assert.equal(same, false, what);
      assert.deepEqual([check.valid, check.seq ?? null], [seq === null, seq], `${what}: ${check.problem}`);
    }
  });

  it("of nothing is a record of nothing, and what is none is said to be none", async (t) => {
    const { told } = await play(t, [], async ({ verifyLog }) => [verifyLog(""), verifyLog("{}"), verifyLog("<html>")]);
    assert.deepEqual(told[0], { valid: true, events: 0, head: "" });
    assert.deepEqual([told[1].valid, told[1].seq, told[2].valid, told[2].seq], [false, 0, false, 0]);
  });
});

describe("clearing", () => {
  it("takes the content of finished runs away for good, and nothing else", async (t) => {
    const answers = [...ANSWERS(), text("Fine."), calls(["eat", '{"what":"open"}'])];
    const { told, requests } = await play(t, answers, async ({ agentOf, make, memoryStore, verifyLog }) => {
      const store = memoryStore();
      const agent = agentOf({ store, tools: [make("eat")] });
      const chat = await agent.open("c");
      await chat.send("SECRET question");
      const [one, two] = chat.snapshot().requests;
      await chat.decide(one.id, { approve: true, by: "ada", note: "SECRET yes" });
      await (await chat.decide(two.id, { approve: false, by: "grace", note: "SECRET no" })).continuation;
      const before = chat.snapshot().messages;
      const head = verifyLog(await chat.export()).head;
      let told = 0;
      const end = chat.subscribe(() => {
        told += 1;
      });
      await chat.clear();
      end();
      const cleared = chat.snapshot().messages;
      const lines = await store.load("c");
      const check = verifyLog(lines.join("\n"));
      const answer = await chat.send("And now?");
      const reopened = (await agentOf({ store }).open("c")).snapshot().messages;
      await chat.send("Open it.");
      await chat.clear();
      const waiting = chat.snapshot();
      await (await chat.decide(waiting.requests[0].id, { approve: true, by: "ada" })).continuation;
      const last = (await store.load("c")).join("\n");
      const full = await chat.export({ privacy: "full" });
      return { before, head, told, cleared, lines, check, answer, reopened, waiting, last, full, end: verifyLog(full) };
    });
    assert.ok(told.told > 0, "listeners are told");
    assert.doesNotMatch(told.lines.join("\n"), /SECRET|"salt"/);
    assert.deepEqual([told.check.valid, told.check.head], [true, told.head]);

    // The messages are there, emptied; the decisions are what they were.
    assert.deepEqual(
      told.cleared.map(({ type, id, cleared }) => [type, id, cleared]),
      told.before.map(({ type, id }) => [type, id, true]),
    );
    assert.deepEqual([told.cleared[0].text, told.cleared[2].text], ["", ""]);
    const facts = ({ tool, outcome, decidedBy, executed, decision: { approve, by, via } }) => [
      tool,
      outcome,
      decidedBy,
      executed,
      approve,
      by,
      via,
    ];
    assert.deepEqual(told.cleared[1].calls.map(facts), told.before[1].calls.map(facts));
    assert.doesNotMatch(JSON.stringify(told.cleared), /SECRET/);
    assert.deepEqual(told.reopened.slice(0, 3), told.cleared, "a page that opens the chat sees the same");

    // The next message works, and its request knows nothing of the cleared run.
    assert.deepEqual([told.answer.status, told.answer.text], ["done", "Fine."]);
    assert.deepEqual(messagesOf(requests[2]), [{ role: "user", content: "And now?" }]);

    // The open run keeps its content through a clearing, and goes on.
    assert.equal(told.waiting.status, "pending");
    assert.deepEqual(
      told.waiting.messages.map(({ cleared }) => cleared ?? false),
      [true, true, true, true, true, false, false],
    );
    assert.match(told.waiting.requests[0].view.arguments[0].text, /open/);
    assert.deepEqual(
      messagesOf(requests.at(-1)).map(({ role }) => role),
      ["user", "assistant", "tool"],
    );
    assert.doesNotMatch(told.last, /Fine|And now/);
    assert.equal(told.end.valid, true);
    assert.equal(told.full.trimEnd(), told.last);
  });

  it("waits for a run at work, and asks a store for what it needs", async (t) => {
    const answers = [text("SECRET"), text("Two.")];
    const { told } = await play(t, answers, async ({ agentOf, memoryStore, rejection }) => {
      const kept = memoryStore();
      const chat = await agentOf({ store: kept }).open("c");
      await chat.send("SECRET");
      const sent = chat.send("Two?");
      const cleared = chat.clear().then(() => chat.snapshot().status);
      const statuses = [(await sent).status, await cleared];
      const left = (await kept.load("c")).join("\n");

      const { load, append } = memoryStore();
      const small = await agentOf({ store: { load, append } }).open("c");
      await small.send("Three?");
      const deaf = memoryStore();
      const other = await agentOf({ store: { ...deaf, rewrite: async () => {} } }).open("c");
      await other.send("Four?");
      return {
        statuses,
        left,
        errors: [await rejection(() => small.clear()), await rejection(() => other.clear())],
        shown: other.snapshot().messages[0].text,
      };
    });
    assert.deepEqual(told.statuses, ["done", "done"]);
    assert.doesNotMatch(told.left, /SECRET|Two/);
    assert.deepEqual(
      told.errors.map(({ code }) => code),
      ["storage", "storage"],
    );
    assert.match(told.errors[0].message, /no rewrite/);
    assert.equal(told.shown, "Four?");
  });

  it("reaches whoever has the chat open elsewhere", async (t) => {
    const answers = [text("SECRET"), text("SECRET")];
    const { told, requests } = await play(t, answers, async ({ agentOf, indexedDBStore, verifyLog }) => {
      const open = () => agentOf({ store: indexedDBStore("shared") }).open("c");
      const first = await open();
      await first.send("SECRET");
      const other = await open();
      await other.send("SECRET too");
      const gone = new Promise((resolve) => {
        other.subscribe(() => other.snapshot().messages.every(({ cleared }) => cleared) && resolve());
      });
      await first.clear();
      await gone;
      await other.send("And now?");
      return verifyLog(await other.export()).valid;
    });
    assert.equal(told, true, "the chain goes on where the other page left it");
    assert.deepEqual(messagesOf(requests.at(-1)), [{ role: "user", content: "And now?" }]);
  });

  it("begins the record anew behind a log of before", async (t) => {
    const { told } = await play(t, ANSWERS(), async ({ agentOf, make, memoryStore, verifyLog }) => {
      const store = memoryStore();
      const old = { seq: 0, chat: "c", run: "r1", at: 1, type: "run.started", v: 1, message_id: "m", owner: null };
      const end = { seq: 1, chat: "c", run: "r1", at: 1, type: "run.ended", v: 1, status: "done", reason: null };
      const lines = [{ ...old, parts: [{ type: "text", text: "SECRET" }] }, end].map((line) => JSON.stringify(line));
      await store.append("c", 0, lines, "");
      const chat = await agentOf({ store, tools: [make("eat")] }).open("c");
      await chat.send("New.");
      await chat.stop();
      const log = await chat.export({ privacy: "full" });
      const metadata = await chat.export();
      await chat.clear();
      return {
        check: verifyLog(log),
        metadata,
        left: (await store.load("c")).join("\n"),
        text: chat.snapshot().messages,
      };
    });
    assert.deepEqual([told.check.valid, told.check.seq], [false, 0]);
    assert.match(told.check.problem, /no hash/);
    assert.doesNotMatch(told.metadata + told.left, /SECRET/);
    assert.ok(told.text.every(({ cleared }) => cleared));
  });
});
