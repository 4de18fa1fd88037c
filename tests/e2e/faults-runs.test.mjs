/**
 * Kinds of faults that approval loops had in public, one test a kind: here those of a run that goes on, or should. Each
 * test holds the kind over several forms of it, not the one instance that was reported.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf, toolMessagesOf } from "./harness.mjs";
import {
  calls,
  checkHistories,
  checkLastingBytes,
  event,
  failure,
  lastResults,
  obedient,
  play as playIn,
  stream,
  text,
} from "./scripted.mjs";

const FAILED_REQUEST = /Failed to load resource/;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (...given) => playIn(browser, ...given);

/** The results in a recorded request, as text. */
const resultsOf = (request) => toolMessagesOf(request).map(({ content }) => content);

describe("it never happens, with a run, that", () => {
  it("a denial swallows every later message", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, sendAndDecide }) => {
      const chat = await agentOf({ tools: [make("eat")] }).open("c");
      const statuses = [];
      for (const decision of [{}, { reason: "skip" }, { reason: "variant" }, { note: "No." }]) {
        await sendAndDecide(chat, order(["eat", "{}"]), { approve: false, by: "ada", ...decision });
        for (const message of ["And now?", "no", "deny"]) {
          const { status, text } = await chat.send(message);
          statuses.push(`${status} ${text}`);
        }
      }
      return statuses;
    });
    assert.deepEqual(told, Array(12).fill("done The end."));
    assert.equal(requests.length, 4 * 5);
    for (const [place, request] of requests.entries()) {
      assert.equal(
        messagesOf(request).filter(({ role }) => role === "user").length,
        [1, 1, 2, 3, 4][place % 5] + 4 * Math.floor(place / 5),
      );
    }
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("a server error or a stop after an approval leaves it stuck, or runs the tool again", async (t) => {
    const down = () => failure(400, "{}");
    const answers = [
      ...[calls(["eat", '{"n":1}']), down(), down(), text("At last.")],
      ...[calls(["eat", '{"n":2}']), down(), text("Never mind.")],
      ...[calls(["eat", '{"n":3}']), down(), text("Reopened.")],
    ];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf, make, memoryStore, runs, sendAndDecide, rejection }) => {
        const store = memoryStore();
        const open = () => agentOf({ store, tools: [make("eat", { run: ({ n }) => `${runs.push(n)}` })] }).open("c");
        const yes = { approve: true, by: "ada" };
        const chat = await open();
        const said = [];
        const say = ({ status, text }) => said.push(`${status} ${text}`.trim());
        await sendAndDecide(chat, "Eat.", yes);
        say(chat.snapshot());
        say(await chat.retry());
        say(await chat.retry());
        said.push((await rejection(() => chat.retry())).code);

        await sendAndDecide(chat, "Eat.", yes);
        say(await chat.stop());
        say(await chat.send("Leave it."));

        await sendAndDecide(chat, "Eat.", yes);
        const again = await open();
        say(again.snapshot());
        say(await again.resume());
        return { said, runs };
      },
      { expected: FAILED_REQUEST },
    );
    assert.deepEqual(told.said, [
      ...["error", "error", "done At last.", "nothing_to_resume"],
      ...["stopped", "done Never mind."],
      ...["error", "done Reopened."],
    ]);
    assert.deepEqual(told.runs, [1, 2, 3]);
    assert.deepEqual(lastResults(requests), ["1", "2", "3"]);
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("an empty answer after an approval is asked for without end", async (t) => {
    const empty = {
      nothing: stream(),
      done: stream("data: [DONE]\n\n"),
      stop: stream(event({}, "stop"), "data: [DONE]\n\n"),
      blank: stream(event({ role: "assistant", content: "" }), event({ content: "" }, "stop")),
      "no calls": stream(event({ tool_calls: [] }, "tool_calls"), "data: [DONE]\n\n"),
      comment: stream(": keep-alive\n\n"),
      "empty object": failure(200, "{}"),
    };
    const formOf = (body) => JSON.parse(body).messages.find(({ role }) => role === "user").content;
    const model = (body) =>
      JSON.parse(body).messages.at(-1).role === "user" ? calls(["eat", "{}"]) : empty[formOf(body)];
    const { told, requests } = await play(
      t,
      model,
      async ({ agentOf, make, runs, sendAndDecide, given }) => {
        const ends = given.map(async (form) => {
          const chat = await agentOf({ tools: [make("eat")] }).open("c");
          await sendAndDecide(chat, form, { approve: true, by: "ada" });
          const { status, reason, error } = chat.snapshot();
          return error?.message ? status : `${status} ${reason}`;
        });
        return { ends: await Promise.all(ends), runs };
      },
      { given: Object.keys(empty) },
    );
    Object.keys(empty).forEach((form, place) => {
      assert.match(told.ends[place], /^(error|done empty)$/, form);
      const posts = requests.filter(({ body }) => formOf(body) === form).length;
      assert.ok(posts <= 4, `${form}: ${posts} posts`);
    });
    assert.equal(told.runs.length, told.ends.length);
  });

  it("a decision and a message in one tick make two requests, or one without the decision", async (t) => {
    let open = 0;
    let most = 0;
    const counting = (body) => {
      const answer = obedient(body);
      open += 1;
      most = Math.max(most, open);
      const chunks = (async function* () {
        yield* answer.chunks;
        open -= 1;
      })();
      return { ...answer, chunks };
    };
    const { told, requests } = await play(t, counting, async ({ agentOf, make, order, runs, lastCalls }) => {
      const agent = agentOf({ tools: [make("eat")] });
      const ticks = {
        "approve, send": (chat, yes) => [yes(), chat.send("And now?")],
        "send, approve": (chat, yes) => [chat.send("And now?"), yes()],
        "deny, send": (chat, _, no) => [no(), chat.send("And now?")],
        "approve, send, send": (chat, yes) => [yes(), chat.send("And now?"), chat.send("And then?")],
        "stop, approve": (chat, yes) => [chat.stop(), yes()],
        "deny, stop, send": (chat, _, no) => [no(), chat.stop(), chat.send("And now?")],
      };
      const found = {};
      for (const [name, act] of Object.entries(ticks)) {
        const chat = await agent.open(name);
        await chat.send(order(["eat", JSON.stringify({ name })]));
        const [{ id }] = chat.snapshot().requests;
        const decide = (approve) => () =>
          chat.decide(id, { approve, by: "ada" }).then(
            ({ continuation }) => continuation,
            (error) => error.code,
          );
        await Promise.all(act(chat, decide(true), decide(false)));
        const [{ outcome = "result", decision }] = lastCalls(chat);
        const { status } = chat.snapshot();
        await chat.send("At the end.");
        found[name] = [outcome, decision?.approve ?? null, runs.splice(0).length, status];
      }
      return found;
    });
    assert.deepEqual(told, {
      "approve, send": ["result", true, 1, "done"],
      "send, approve": ["approval_superseded", null, 0, "done"],
      "deny, send": ["approval_denied", false, 0, "done"],
      "approve, send, send": ["result", true, 1, "done"],
      "stop, approve": ["approval_cancelled", null, 0, "stopped"],
      "deny, stop, send": ["approval_denied", false, 0, "done"],
    });
    assert.equal(most, 1, "one request at a time");
    const first = (request) => messagesOf(request)[0].content;
    for (const name of Object.keys(told)) {
      const own = requests.filter((request) => first(request).includes(`\\"${name}\\"`));
      for (const request of own.slice(1)) assert.equal(resultsOf(request).length, 1, `${name}: each tells the end`);
      checkLastingBytes(own);
    }
    checkHistories(requests);
  });

  it("a pause of an earlier turn holds up the next", async (t) => {
    const { told, requests } = await play(
      t,
      obedient,
      async ({ agentOf, make, memoryStore, order, runs, sendAndDecide }) => {
        const store = memoryStore();
        const open = () => agentOf({ store, tools: [make("eat")] }).open("c");
        let chat = await open();
        for (const leave of [() => chat.stop(), () => chat.send("Hm."), async () => (chat = await open())]) {
          await chat.send(order(["eat", "{}"], ["eat", "{}"]));
          await chat.decide(chat.snapshot().requests[1].id, { approve: true, by: "ada" });
          await leave();
        }
        const call = await sendAndDecide(chat, order(["eat", "{}"]), { approve: true, by: "ada" });
        const { status, requests } = (await open()).snapshot();
        return { executed: call.executed, runs, status, waiting: requests.length };
      },
    );
    assert.deepEqual(told, { executed: true, runs: ["eat"], status: "done", waiting: 0 });
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("the run goes on before the slowest sibling has ended", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs, until, lastCalls }) => {
      const release = {};
      const waits = (name) => () => {
        runs.push(`${name} starts`);
        return new Promise((done) => {
          release[name] = () => done(runs.push(`${name} ends`));
        });
      };
      const tools = ["a", "b", "c"].map((name) => make(name, { effect: "read", run: waits(name) }));
      tools.push(make("w", { run: waits("w") }));
      const chat = await agentOf({ tools }).open("c");
      await chat.send(order(["a", "{}"], ["b", "{}"], ["w", "{}"], ["c", "{}"]));
      const { continuation } = await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" });
      for (const name of ["b", "a", "w", "c"]) {
        while (!release[name]) await new Promise((next) => setTimeout(next));
        release[name]();
        const place = ["a", "b", "w", "c"].indexOf(name);
        await until(chat, () => lastCalls(chat)[place].state === "settled");
        runs.push(chat.snapshot().messages.length);
      }
      await continuation;
      return runs;
    });
    const expected = [
      "a starts",
      "b starts",
      "b ends",
      2,
      "a ends",
      2,
      "w starts",
      "w ends",
      2,
      "c starts",
      "c ends",
      2,
    ];
    const numbered = told.filter((entry) => typeof entry === "string");
    assert.deepEqual(
      numbered,
      expected.filter((entry) => typeof entry === "string"),
    );
    assert.deepEqual(told.slice(0, -1), expected.slice(0, -1));
    assert.equal(requests.length, 2);
    assert.equal(toolMessagesOf(requests[1]).length, 4);
    checkHistories(requests);
  });

  it("several approvals at once freeze, or only the first counts", async (t) => {
    const { told, requests } = await play(t, obedient, async ({ agentOf, make, order, runs, until, lastCalls }) => {
      const agent = agentOf({ tools: [make("eat", { run: ({ n }) => `${runs.push(n)} of 8: ${n}` })] });
      const made = Array.from({ length: 8 }, (_, n) => ["eat", JSON.stringify({ n })]);
      const found = [];
      for (const apart of [true, false]) {
        const chat = await agent.open(`${apart}`);
        await chat.send(order(...made));
        const { requests } = chat.snapshot();
        const decide = ({ id }, place) => chat.decide(id, { approve: place % 3 !== 0, by: "ada" });
        const decided = [...requests.entries()].reverse();
        if (apart) for (const [place, request] of decided) await decide(request, place);
        else await Promise.all(decided.map(([place, request]) => decide(request, place)));
        await until(chat, ({ status }) => status === "done");
        found.push([requests.length, runs.splice(0), lastCalls(chat).map(({ outcome = "" }) => outcome)]);
      }
      return found;
    });
    const outcomes = Array.from({ length: 8 }, (_, n) => (n % 3 === 0 ? "approval_denied" : ""));
    assert.deepEqual(told, Array(2).fill([8, [1, 2, 4, 5, 7], outcomes]));
    assert.equal(requests.length, 4, "one request goes on with the run");
    for (const request of [requests[1], requests[3]]) {
      assert.deepEqual(
        resultsOf(request).filter((_, n) => n % 3 !== 0),
        [1, 2, 4, 5, 7].map((n, place) => `${place + 1} of 8: ${n}`),
      );
    }
    checkHistories(requests);
  });

  it("a crash between approval and result poisons the chat, or runs the call twice", async (t) => {
    const { told, requests } = await play(t, obedient, async (kit) => {
      const { agentOf, make, memoryStore, order, runs, lastCalls, until } = kit;
      const tools = [make("eat"), make("drink")];
      const found = {};
      const ends = {
        resume: async (chat) => {
          const { status } = await chat.resume();
          // A call whose result was lost waits for a person, who marks it as done here.
          for (const { id, kind } of status === "pending" ? chat.snapshot().requests : []) {
            if (kind === "recovery") await chat.decide(id, { approve: false, by: "ada" });
          }
        },
        send: (chat) => chat.send("And now?"),
        stop: (chat) => chat.stop(),
      };
      // A page that dies writes no further: this store keeps all up to the first line of a type, and answers no more.
      const dying = (kept, type) => ({
        load: kept.load,
        append: (chat, seq, lines) => {
          const end = lines.findIndex((line) => JSON.parse(line).type === type);
          return end < 0
            ? kept.append(chat, seq, lines)
            : kept.append(chat, seq, lines.slice(0, end)).then(() => new Promise(() => {}));
        },
      });
      for (const [moment, type] of [
        ["before the start", "tool.call.started"],
        ["before the result", "tool.call.completed"],
      ]) {
        for (const [name, end] of Object.entries(ends)) {
          const kept = memoryStore();
          const chat = await agentOf({ tools, store: dying(kept, type) }).open("c");
          await chat.send(order(["eat", "{}"], ["drink", "{}"]));
          const { requests } = chat.snapshot();
          for (const { id } of requests) chat.decide(id, { approve: true, by: "ada" });
          let lines;
          do {
            await new Promise((next) => setTimeout(next));
            lines = await kept.load("c");
          } while (lines.filter((line) => line.includes('"tool.call.decided"')).length < 2);
          if (type === "tool.call.completed") while (!runs.length) await new Promise((next) => setTimeout(next));
          const before = runs.splice(0);

          const again = await agentOf({ tools, store: kept }).open("c");
          const { status, requests: waiting } = again.snapshot();
          await end(again);
          await until(again, ({ status }) => ["done", "stopped"].includes(status));
          const outcomes = lastCalls(again).map(({ outcome = "result", executed }) => `${outcome} ${executed}`);
          const later = (await again.send("Later.")).status;
          const told = { before, status, waiting: waiting.length, outcomes, after: runs.splice(0), later };
          found[`${moment}, ${name}`] = told;
        }
      }
      return found;
    });
    const reopened = { status: "interrupted", waiting: 0, later: "done" };
    const unstarted = { ...reopened, before: [] };
    const started = { ...reopened, before: ["eat"] };
    assert.deepEqual(told, {
      "before the start, resume": { ...unstarted, outcomes: ["result true", "result true"], after: ["eat", "drink"] },
      "before the start, send": { ...unstarted, outcomes: Array(2).fill("approval_superseded false"), after: [] },
      "before the start, stop": { ...unstarted, outcomes: Array(2).fill("approval_cancelled false"), after: [] },
      "before the result, resume": { ...started, outcomes: ["outcome_unknown null", "result true"], after: ["drink"] },
      "before the result, send": {
        ...started,
        outcomes: ["outcome_unknown null", "approval_superseded false"],
        after: [],
      },
      "before the result, stop": {
        ...started,
        outcomes: ["outcome_unknown null", "approval_cancelled false"],
        after: [],
      },
    });
    checkHistories(requests);
  });

  it("a call reaches its tool by a way around the approval", async (t) => {
    const eat = calls(["eat", "{}"]);
    const look = calls(["look", "{}"]);
    const answers = [eat, failure(400, "{}"), eat, look, eat, text("Eaten."), eat, look, eat];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf, make, memoryStore, runs, rejection }) => {
        const options = { store: memoryStore(), tools: [make("eat"), make("look", { effect: "read" })] };
        const history = [
          { role: "user", content: "Eat." },
          { role: "assistant", content: "", calls: [{ tool: "eat", arguments: "{}", result: "eaten, approved" }] },
        ];
        const found = {};
        const look = (way, chat) => {
          found[way] = [chat.snapshot().status, ...runs.splice(0)];
        };
        let chat = await agentOf(options).open("c", { history });
        await chat.send("Eat.");
        look("after a history where it ran", chat);
        await chat.send("Eat.");
        await chat.retry();
        look("after a retry", chat);
        chat = await agentOf(options).open("c");
        await rejection(() => chat.resume());
        look("after opening again", chat);
        await chat.send("Look, then eat.");
        look("after a call that is allowed", chat);
        const [{ id }] = chat.snapshot().requests;
        await (await chat.decide(id, { approve: true, by: "ada" })).continuation;
        look("approved", chat);
        await chat.send("Eat.");
        look("after it was approved once", chat);
        const short = await agentOf({ ...options, maxRounds: 1 }).open("short");
        await short.send("Look, then eat.");
        look("at the limit", short);
        return found;
      },
      { expected: FAILED_REQUEST },
    );
    assert.deepEqual(told, {
      "after a history where it ran": ["pending"],
      "after a retry": ["pending"],
      "after opening again": ["pending"],
      "after a call that is allowed": ["pending", "look"],
      approved: ["done", "eat"],
      "after it was approved once": ["pending"],
      "at the limit": ["limit", "look"],
    });
    checkHistories(requests);
  });
});

// Left out are kinds of faults in what the package does not have: arguments edited by a person, standing permissions
// ("always allow"), one chat in several tabs, and logs that an older version wrote. The store here is in memory, so "after
// a crash" and "opened again" mean another agent over the same store; a reload of the page is for stores that outlive it.
