/**
 * Kinds of faults that approval loops had in public, one test a kind: here those with decisions. Each test holds the kind
 * over several forms of it, not the one instance that was reported.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf, toolMessagesOf } from "./harness.mjs";
import {
  BLAME,
  calls,
  checkHistories,
  checkLastingBytes,
  failure,
  lastResults,
  obedient,
  play as playIn,
  text,
} from "./scripted.mjs";

const FAILED_REQUEST = /Failed to load resource/;
const DENIED = /^Error: approval_denied \(decided_by: run_owner\)\. .*declined by the user who started this run/;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (...given) => playIn(browser, ...given);

/** The results in a recorded request, as text. */
const resultsOf = (request) => toolMessagesOf(request).map(({ content }) => content);

describe("it never happens, with decisions, that", () => {
  it("a denied call executes", async (t) => {
    const answers = [calls(["eat", "{}"], ["drink", "{}"]), failure(400, "{}"), text("Fine.")];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf, make, memoryStore, rejection, runs }) => {
        const store = memoryStore();
        const open = () => agentOf({ store, tools: [make("eat"), make("drink")] }).open("c");
        let chat = await open();
        await chat.send("Both.");
        const [eat, drink] = chat.snapshot().requests;
        await chat.decide(eat.id, { approve: false, by: "ada" });
        const codes = [];
        const approve = async () => {
          codes.push((await rejection(() => chat.decide(eat.id, { approve: true, by: "ada" })))?.code);
        };
        await approve();
        chat = await open();
        await approve();
        await (await chat.decide(drink.id, { approve: true, by: "ada" })).continuation;
        await approve();
        await chat.retry();
        await approve();
        await chat.send("Eat, approved.");
        await approve();
        const call = chat.snapshot().messages[1].calls[0];
        return { codes, runs, outcome: call.outcome, executed: call.executed };
      },
      { expected: FAILED_REQUEST },
    );
    assert.deepEqual(told, {
      codes: Array(5).fill("conflict"),
      runs: ["drink"],
      outcome: "approval_denied",
      executed: false,
    });
    checkHistories(requests);
  });

  it("of two approvals one is answered, and its call runs", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs, until }) => {
      const chat = await agentOf({
        tools: [make("look", { effect: "read" }), make("eat"), make("drink")],
      }).open("c");
      await chat.send(order(["look", "{}"], ["eat", "{}"], ["drink", "{}"]));
      const [eat, drink] = chat.snapshot().requests;
      const { continuation } = await chat.decide(eat.id, { approve: true, by: "ada" });
      const half = {
        status: (await continuation).status,
        runs: [...runs],
        waiting: chat.snapshot().requests.length,
      };
      await chat.decide(drink.id, { approve: true, by: "ada" });
      await until(chat, ({ status }) => status === "done");
      return { half, runs };
    });
    assert.deepEqual(told.half, { status: "pending", runs: [], waiting: 1 });
    assert.deepEqual(told.runs, ["look", "eat", "drink"]);
    assert.equal(requests.length, 2);
    checkHistories(requests);
  });

  it("rejecting one erases approved or allowed siblings", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs }) => {
      const tools = [make("look", { effect: "read" }), make("eat"), make("drink")];
      const agent = agentOf({ tools });
      for (const denied of [0, 1, 2]) {
        // Each place in the turn is the denied one's once, and each decision the last one's once.
        const made = [
          ["eat", '{"n":1}'],
          ["drink", '{"n":2}'],
        ];
        made.splice(denied, 0, ["eat", '{"n":3}']);
        const chat = await agent.open(`c${denied}`);
        await chat.send(order(["look", "{}"], ...made));
        const waiting = chat.snapshot().requests;
        for (const place of [denied, ...[0, 1, 2].filter((other) => other !== denied)]) {
          await chat.decide(waiting[place].id, { approve: place !== denied, by: "ada" });
        }
        await chat.send("And now?");
      }
      return runs;
    });
    assert.deepEqual(told, Array(3).fill(["look", "eat", "drink"]).flat());
    for (const denied of [0, 1, 2]) {
      const [look, ...results] = resultsOf(requests[denied * 3 + 1]);
      assert.match(results.splice(denied, 1)[0], DENIED);
      assert.deepEqual([look, ...results], ["{}", '{"n":1}', '{"n":2}']);
    }
    checkHistories(requests);
  });

  it("an approval that is posted twice runs twice, or an approval beats an earlier denial", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs, rejection, until }) => {
      const agent = agentOf({ tools: [make("eat")] });
      const said = [];
      const pairs = [
        [true, true],
        [true, false],
        [false, true],
        [false, false],
      ];
      for (const [place, decisions] of pairs.entries()) {
        const chat = await agent.open(`c${place}`);
        await chat.send(order(["eat", "{}"]));
        const [{ id }] = chat.snapshot().requests;
        const decide = (approve) => async () => (await chat.decide(id, { approve, by: "ada" })).result;
        const post = async (approve) => (await rejection(decide(approve)))?.code;
        // In one tick, and again when all is over.
        const answers = await Promise.all(decisions.map(post));
        await until(chat, ({ status }) => status === "done");
        answers.push(await post(decisions[0]), await post(!decisions[0]));
        said.push([answers, runs.splice(0), chat.snapshot().messages[1].calls[0].outcome]);
      }
      return said;
    });
    assert.deepEqual(told, [
      [[undefined, undefined, undefined, "conflict"], ["eat"], undefined],
      [[undefined, "conflict", undefined, "conflict"], ["eat"], undefined],
      [[undefined, "conflict", undefined, "conflict"], [], "approval_denied"],
      [[undefined, undefined, undefined, "conflict"], [], "approval_denied"],
    ]);
    assert.equal(requests.length, 8);
    checkHistories(requests);
  });

  it("a new message overwrites a result or a denial that stands", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, lastCalls }) => {
      const chat = await agentOf({
        tools: [make("look", { effect: "read" }), make("eat")],
      }).open("c");
      await chat.send(order(["look", "{}"], ["gone", "{}"], ["eat", '{"n":1}'], ["eat", '{"n":2}']));
      const [first] = chat.snapshot().requests;
      await chat.decide(first.id, {
        approve: false,
        by: "ada",
        note: "Mine.",
      });
      const half = lastCalls(chat).map(({ result }) => result ?? null);
      await chat.send("Something else.");
      const settled = lastCalls(chat);
      await chat.send("And now?");
      await chat.stop();
      return { half, settled, later: lastCalls(chat) };
    });
    assert.deepEqual(
      told.settled.map(({ outcome, decidedBy }) => [outcome, decidedBy]),
      [
        ["approval_superseded", undefined],
        ["tool_unavailable", undefined],
        ["approval_denied", "run_owner"],
        ["approval_superseded", undefined],
      ],
    );
    told.half.forEach((result, place) => {
      if (result) assert.deepEqual(told.settled[place].result, result);
    });
    assert.deepEqual(told.later, told.settled);
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("a stale answer settles a newer call of the same tool", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs, rejection }) => {
      const agent = agentOf({ tools: [make("eat")] });
      const chat = await agent.open("c");
      const other = await agent.open("other");
      const stale = [];
      const codes = [];
      const leave = [
        () => chat.stop(),
        () => chat.send("Something else."),
        async () => (await chat.decide(chat.snapshot().requests[0].id, { approve: false, by: "ada" })).continuation,
      ];
      for (const end of [...leave, () => {}]) {
        await chat.send(order(["eat", "{}"]));
        const [{ id, view }] = chat.snapshot().requests;
        for (const { id: old } of stale) {
          codes.push((await rejection(() => chat.decide(old, { approve: true, by: "ada" })))?.code);
        }
        codes.push((await rejection(() => other.decide(id, { approve: true, by: "ada" })))?.code);
        stale.push({ id, digest: view.digest });
        await end();
      }
      const { status, requests } = chat.snapshot();
      return { codes, status, waiting: requests.length, runs, stale };
    });
    const codes = [[], ["conflict"], ["conflict", "conflict"], ["conflict", "conflict", "conflict"]];
    assert.deepEqual(
      told.codes,
      codes.flatMap((before) => [...before, "unknown_request"]),
    );
    assert.deepEqual([told.status, told.waiting, told.runs], ["pending", 1, []]);
    for (const key of ["id", "digest"]) assert.equal(new Set(told.stale.map((one) => one[key])).size, 4, key);
    checkHistories(requests);
  });

  it("a provider that reuses call ids hides a request or swaps results", async (t) => {
    // The scripted model gives every call the id "call_0"; here the same calls come turn by turn as well.
    const made = [1, 2, 3].map((n) => ["eat", `{"n":${n}}`]);
    const answers = [calls(...made), calls(["eat", '{"n":1}']), calls(...made), text("Done.")];
    const { told, requests } = await play(t, answers, async ({ agentOf, make, runs }) => {
      const chat = await agentOf({
        tools: [make("eat", { run: ({ n }) => `${runs.push(n)}: ate ${n}` })],
      }).open("c");
      await chat.send("Eat.");
      const seen = [];
      while (chat.snapshot().status === "pending") {
        const { requests } = chat.snapshot();
        seen.push(requests.length);
        for (const { id } of requests.toReversed()) {
          await (await chat.decide(id, { approve: true, by: "ada" })).continuation;
        }
      }
      const calls = chat.snapshot().messages.flatMap(({ calls = [] }) => calls);
      return {
        seen,
        runs,
        ids: calls.map(({ id }) => id),
        requestIds: calls.map(({ requestId }) => requestId),
      };
    });
    assert.deepEqual(told.seen, [3, 1, 3]);
    assert.deepEqual(told.runs, [1, 2, 3, 1, 1, 2, 3]);
    for (const ids of [told.ids, told.requestIds]) assert.equal(new Set(ids).size, 7);
    assert.deepEqual(
      lastResults(requests),
      told.runs.map((n, place) => `${place + 1}: ate ${n}`),
    );
    const sent = messagesOf(requests.at(-1)).flatMap(({ tool_calls: made = [] }) => made.map(({ id }) => id));
    assert.equal(new Set(sent).size, 7, "the server too gets ids of their own");
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("a tool that is removed or changed while its call waits runs, or cannot be denied", async (t) => {
    const { told, requests } = await play(t, obedient, async (kit) => {
      const { agentOf, make, memoryStore, order, runs, lastCalls } = kit;
      const schema = { type: "object", properties: { n: { type: "number" } } };
      const changes = {
        same: [make("eat")],
        removed: [make("other")],
        schema: [make("eat", { inputSchema: schema })],
        renamed: [make("eat2")],
        effect: [make("eat", { effect: "read" })],
        none: [],
      };
      const found = {};
      for (const [change, tools] of Object.entries(changes)) {
        for (const approve of [true, false]) {
          const store = memoryStore();
          await (await agentOf({ store, tools: [make("eat")] }).open("c")).send(order(["eat", "{}"]));
          const chat = await agentOf({ store, tools }).open("c");
          const [{ id, view }] = chat.snapshot().requests;
          const decided = await chat.decide(id, { approve, by: "ada" }).catch(({ code }) => ({ code }));
          if (decided.code) {
            const [again] = chat.snapshot().requests;
            found[`${change} again`] = {
              code: decided.code,
              isNew: again.id !== id,
              prompt: again.prompt,
              runs: [...runs],
            };
            continue;
          }
          const { status } = await decided.continuation;
          const [{ outcome, executed, decidedBy = null, result }] = lastCalls(chat);
          const told = {
            tool: view.tool,
            status,
            outcome,
            executed,
            decidedBy,
            runs: runs.splice(0),
            text: result.text,
          };
          found[`${change} ${approve ? "approved" : "denied"}`] = told;
        }
      }
      return found;
    });
    for (const change of ["schema", "effect"]) {
      const { prompt, ...facts } = told[`${change} again`];
      assert.deepEqual(facts, { code: "changed", isNew: true, runs: [] }, "it is asked about again");
      assert.match(prompt, change === "schema" ? /changed while it waited: input schema\.$/ : /: effect\.$/);
      delete told[`${change} again`];
    }
    for (const [name, { text: said, ...facts }] of Object.entries(told)) {
      const rest = { tool: "eat", status: "done", executed: false, runs: [] };
      if (name.endsWith("denied")) {
        assert.deepEqual(facts, { ...rest, outcome: "approval_denied", decidedBy: "run_owner" }, name);
        assert.match(said, DENIED);
      } else if (name === "same approved") {
        assert.deepEqual(facts, {
          ...rest,
          outcome: undefined,
          executed: true,
          decidedBy: null,
          runs: ["eat"],
        });
      } else {
        assert.deepEqual(facts, { ...rest, outcome: "tool_unavailable", decidedBy: null }, name);
        assert.match(said, /was withdrawn or changed before it could start\. Nothing was executed\./);
        assert.doesNotMatch(said, BLAME);
      }
    }
    checkHistories(requests);
  });

  it("a rule that matches nothing is silent, or one for a tool reaches others", async (t) => {
    const { told } = await play(
      t,
      obedient,
      async ({ agentOf, make, order, allow, refuse, ask, rejection, runs, lastCalls }) => {
        const tools = ["send", "send_all", "resend", "Send"].map((name) => make(name));
        const dead = [];
        for (const rule of [
          allow("sen"),
          refuse("send_", "x"),
          ask("SEND", "x"),
          refuse("*.send", "Off."),
          allow("end"),
        ]) {
          dead.push((await rejection(() => agentOf({ tools, rules: [rule] })))?.message);
        }
        const chat = await agentOf({ tools, rules: [allow("send")] }).open("c");
        await chat.send(order(...tools.map(({ name }) => [name, "{}"])));
        return {
          dead,
          runs,
          states: lastCalls(chat).map(({ state }) => state),
        };
      },
    );
    for (const message of told.dead) assert.match(message, /matches no tool, so the rule would do nothing/);
    assert.deepEqual([told.runs, told.states], [[], ["ready", "waiting", "waiting", "waiting"]]);
  });
});
