/**
 * The pause as a public contract, through the whole package: requests of tools, answers of hosts, and what the model reads
 * of them. What needs no browser stands in `tests/requests.rs`, the cards in `requests-cards.test.mjs`, answers of the option
 * `waitFor` in `requests-waitfor.test.mjs`; `requests-contract.test.mjs` has where each sentence of the contract is proved.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { BLAME, checkHistories, lastResults, obedient, play as playIn } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (t, script, given, expected) => playIn(browser, t, obedient, script, { given, expected });

const FORM = { schema: { type: "object", properties: { name: { type: "string" } }, required: ["name"] } };
/** One request of each kind that a tool can ask, with an answer that fits. */
const ASKED = [
  [{ kind: "approval", prompt: "Deploy?" }, undefined],
  [{ kind: "input", prompt: "Whose?", data: FORM }, { name: "Grace" }],
  [{ kind: "question", prompt: "Who?", data: FORM }, { name: "Grace" }],
  [{ kind: "authorization", prompt: "Sign in.", url: "https://auth.example/go?state=1" }, undefined],
  [{ kind: "acme/biometric", prompt: "Look here.", data: { device: 7 } }, ["eye", 2]],
];

describe("an answer to an approval", () => {
  const CASES = [
    [{ ok: false, by: { user: "ada" } }, "approval_denied", "run_owner"],
    [{ ok: false, by: { user: "grace" }, reason: "expired" }, "approval_denied", "other_user"],
    [{ ok: false, by: { user: null } }, "approval_denied", "unknown"],
    [{ ok: false, by: { user: "" } }, "approval_denied", "unknown"],
    [{ ok: false, reason: "declined" }, "approval_denied", "unknown"],
    [{ ok: false, by: "policy" }, "blocked_by_policy"],
    [{ ok: false, by: "policy", reason: "declined" }, "blocked_by_policy"],
    [{ ok: false, reason: "Declined" }, "approval_cancelled"],
    [{ ok: false, reason: "expired" }, "approval_cancelled"],
    [{ ok: false, reason: null }, "approval_cancelled"],
    [{ ok: false, reason: null, by: null, data: null }, "approval_cancelled"],
    [{ ok: false }, "approval_cancelled"],
  ];

  it("is told to the model by who gave it, and its reason is not", async (t) => {
    const { told, requests } = await play(
      t,
      async ({ agentOf, make, order, lastCalls, runs, given }) => {
        const chat = await agentOf({ tools: [make("eat")] }).open("c");
        const calls = [];
        for (const answer of given) {
          await chat.send(order(["eat", "{}"]));
          const [{ id }] = chat.snapshot().requests;
          const { result, continuation } = await chat.answer({ id, ...answer });
          await continuation;
          calls.push({ result, call: lastCalls(chat)[0] });
        }
        return { calls, runs };
      },
      CASES.map(([answer]) => answer),
    );
    assert.deepEqual(told.runs, []);
    checkHistories(requests);
    const texts = lastResults(requests);
    for (const [place, [answer, outcome, decidedBy]] of CASES.entries()) {
      const { result, call } = told.calls[place];
      assert.equal(result, "applied");
      assert.equal(call.outcome, outcome, JSON.stringify(answer));
      assert.equal(call.decidedBy, decidedBy);
      assert.equal(call.executed, false);
      assert.equal(call.decision.answerReason, answer.reason ?? undefined);
      assert.ok(texts[place].startsWith(`Error: ${outcome}`), texts[place]);
      if (!decidedBy) assert.doesNotMatch(texts[place].replace("Nobody declined", ""), BLAME);
    }
  });

  it("by policy runs the tool and names no person", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, order, lastCalls, runs, answerOutput }) => {
      const chat = await agentOf({ tools: [make("eat")] }).open("c");
      await chat.send(order(["eat", "{}"]));
      const [{ id }] = chat.snapshot().requests;
      await (await chat.answer({ ...answerOutput(id), by: "policy" })).continuation;
      return { decision: lastCalls(chat)[0].decision, runs };
    });
    assert.deepEqual(told.runs, ["eat"]);
    assert.deepEqual(told.decision, { approve: true, decidedBy: null, by: null, settler: "policy", via: "api" });
  });
});

describe("what a tool asks for", () => {
  it("waits with all it said, and on ok the tool is called once more with the answer", async (t) => {
    const { told, requests } = await play(
      t,
      async ({ agentOf, make, order, until, answerOutput, pendingRequest, lastCalls, given }) => {
        const seen = [];
        const told = [];
        for (const [spec, data] of given) {
          const run = (_, { answer, answers, idempotencyKey, callId }) => {
            seen.push({ answer, answers, idempotencyKey, callId });
            return answer ? { got: answer.data ?? null } : pendingRequest(spec);
          };
          const chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open(spec.kind);
          const { status } = await chat.send(order(["ask", "{}"]));
          const [request] = chat.snapshot().requests;
          const waiting = lastCalls(chat)[0];
          const text = JSON.parse(JSON.stringify(answerOutput(request.id, data ?? undefined)));
          const { continuation } = await chat.answer({ ...text, by: { user: "grace" } });
          await continuation;
          await until(chat, ({ status }) => status === "done");
          told.push({ status, request, waiting, call: lastCalls(chat)[0], seen: seen.splice(0) });
        }
        return told;
      },
      ASKED,
    );
    checkHistories(requests);
    for (const [place, [spec, data]] of ASKED.entries()) {
      const { status, request, waiting, call, seen } = told[place];
      assert.equal(status, "pending");
      const { view, callId, expiresAt, id, scopes, ...rest } = request;
      assert.deepEqual(rest, spec, "what the tool said is passed through");
      assert.equal(expiresAt, null);
      assert.deepEqual([waiting.state, waiting.outcome, waiting.result], ["waiting", undefined, undefined]);
      assert.equal(seen.length, 2, "called once, and once more");
      assert.equal(seen[0].answer, undefined);
      const answered = { id, kind: spec.kind, ok: true, ...(data && { data }) };
      assert.deepEqual([seen[1].answer, seen[1].answers], [answered, [answered]]);
      assert.equal(seen[0].idempotencyKey, seen[1].idempotencyKey);
      assert.equal(call.result.text, JSON.stringify({ got: data ?? null }));
      assert.equal(callId, call.id);
    }
  });

  it("never reaches the tool again when it is refused", async (t) => {
    const given = ASKED.flatMap(([spec]) => [
      [spec, { ok: false, by: { user: "ada" } }, "request_declined", "run_owner"],
      [spec, { ok: false, reason: "declined" }, "request_declined", "unknown"],
      [spec, { ok: false, reason: "expired" }, "request_lapsed"],
      [spec, { ok: false, by: "policy", reason: "declined" }, "request_lapsed"],
      [spec, { ok: false, reason: null }, "request_lapsed"],
    ]);
    const { told, requests } = await play(
      t,
      async ({ agentOf, make, order, pendingRequest, lastCalls, given }) => {
        const told = [];
        for (const [place, [spec, answer]] of given.entries()) {
          let calls = 0;
          const run = () => {
            calls += 1;
            return pendingRequest(spec);
          };
          const chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open(`c${place}`);
          await chat.send(order(["ask", "{}"]));
          const [{ id }] = chat.snapshot().requests;
          await (await chat.answer({ id, ...answer })).continuation;
          told.push({ calls, call: lastCalls(chat)[0] });
        }
        return told;
      },
      given,
    );
    checkHistories(requests);
    for (const [place, [spec, answer, outcome, decidedBy]] of given.entries()) {
      const { calls, call } = told[place];
      const why = `${spec.kind} ${JSON.stringify(answer)}`;
      assert.deepEqual([calls, call.outcome, call.decidedBy, call.executed], [1, outcome, decidedBy, true], why);
      assert.match(call.result.text, /had started and asked for something/);
    }
  });

  it("that is refused goes to a tool that relays it, and the call ends as the server then answers", async (t) => {
    const given = [
      [{ ok: true, data: { name: "Grace" } }, "run", { action: "accept", content: { name: "Grace" } }],
      [{ ok: false, reason: "declined", by: { user: "ada" } }, "relay", { action: "decline" }],
      [{ ok: false, reason: "not now", by: { user: "ada" } }, "relay", { action: "cancel" }],
      [{ ok: false, reason: null, by: { user: "ada" } }, "relay", { action: "cancel" }],
      ["decide", "relay", { action: "decline" }],
    ];
    const { told, requests } = await play(
      t,
      async ({ agentOf, make, order, pendingRequest, toMcpElicitation, lastCalls, given }) => {
        const told = [];
        for (const [place, [answer]] of given.entries()) {
          const calls = [];
          const schema = { type: "object", properties: { name: { type: "string" } } };
          const server = (path) => (_, context) => {
            if (!context.answer) return pendingRequest({ kind: "input", prompt: "Your name?", data: { schema } });
            calls.push(path);
            return { server: toMcpElicitation(context.answer) };
          };
          const tool = make("ask", { effect: "read", run: server("run"), relay: server("relay") });
          const chat = await agentOf({ tools: [tool] }).open(`c${place}`);
          await chat.send(order(["ask", "{}"]));
          const [{ id }] = chat.snapshot().requests;
          const settled =
            answer === "decide"
              ? await chat.decide(id, { approve: false, by: "ada" })
              : await chat.answer({ id, ...answer });
          const { status } = await settled.continuation;
          told.push({ calls, status, call: lastCalls(chat)[0] });
        }
        return told;
      },
      given,
    );
    checkHistories(requests);
    for (const [place, [answer, path, server]] of given.entries()) {
      const { calls, status, call } = told[place];
      const why = JSON.stringify(answer);
      assert.deepEqual([calls, status, call.outcome, call.executed], [[path], "done", undefined, true], why);
      assert.deepEqual(JSON.parse(call.result.text), { server }, why);
    }
  });

  it("is settled in call order or in any other, and a tool may ask twice", async (t) => {
    const { told, requests } = await play(
      t,
      async ({ agentOf, make, order, pendingRequest, lastCalls, answerOutput }) => {
        const told = [];
        for (const backwards of [false, true]) {
          const run = (args, { answers = [] }) =>
            answers.length < 2
              ? pendingRequest({ kind: "acme", prompt: `${args.n}.${answers.length}` })
              : answers.map((a) => a.data);
          const chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open(`${backwards}`);
          await chat.send(order(["ask", '{"n":1}'], ["ask", '{"n":2}'], ["ask", '{"n":3}']));
          const surfaced = [];
          for (let round = 0; round < 2; round++) {
            const waiting = [...chat.snapshot().requests];
            surfaced.push(waiting.map(({ prompt }) => prompt));
            for (const { id, prompt } of backwards ? waiting.reverse() : waiting) {
              await (await chat.answer(answerOutput(id, prompt))).continuation;
            }
          }
          told.push({ surfaced, results: lastCalls(chat).map(({ result }) => result.text) });
        }
        return told;
      },
    );
    checkHistories(requests);
    for (const { surfaced, results } of told) {
      assert.deepEqual(surfaced, [
        ["1.0", "2.0", "3.0"],
        ["1.1", "2.1", "3.1"],
      ]);
      assert.deepEqual(results, ['["1.0","1.1"]', '["2.0","2.1"]', '["3.0","3.1"]']);
    }
  });

  it("is no answer to what is typed: a message supersedes it", async (t) => {
    const { told, requests } = await play(t, async ({ agentOf, make, order, pendingRequest, lastCalls, rejection }) => {
      let calls = 0;
      const run = () => {
        calls += 1;
        return pendingRequest({ kind: "acme", prompt: "Yes?" });
      };
      const chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open("c");
      await chat.send(order(["ask", "{}"]));
      const [{ id }] = chat.snapshot().requests;
      const call = () => chat.snapshot().messages[1].calls[0];
      await chat.send("Yes, approved, ok: true.");
      return { call: call(), calls, late: await rejection(() => chat.answer({ id, ok: true })), last: lastCalls(chat) };
    });
    checkHistories(requests);
    assert.deepEqual([told.call.outcome, told.calls, told.late.code], ["request_lapsed", 1, "conflict"]);
  });

  it("must be something that can be asked, or the tool has failed", async (t) => {
    const schema = (properties) => ({ kind: "input", prompt: "?", data: { schema: { type: "object", properties } } });
    const wrong = [
      [null, /needs an object/],
      [{ prompt: "?" }, /kind must be/],
      [{ kind: "recovery", prompt: "?" }, /kind must be a non-empty string other than/],
      [{ kind: "acme", prompt: "" }, /prompt must be/],
      [{ kind: "acme", prompt: "?", expiresAt: "soon" }, /expiresAt must be/],
      [{ kind: "acme", prompt: "?", expires: 1 }, /expires is not known/],
      [{ kind: "authorization", prompt: "?" }, /needs the url/],
      [{ kind: "authorization", prompt: "?", url: "http://auth.example/" }, /https/],
      [{ kind: "authorization", prompt: "?", url: "https://a:b@auth.example/" }, /https/],
      [{ kind: "authorization", prompt: "?", url: "javascript:alert(1)" }, /https/],
      [{ kind: "input", prompt: "?" }, /must be \{ schema \}/],
      [schema({}), /no properties/],
      [schema({ a: { type: "object" } }), /that is no string, number/],
      [schema({ password: { type: "string" } }), /secrets are given elsewhere/],
      [schema({ api_key: { type: "string" } }), /secrets are given elsewhere/],
      [schema({ code: { type: "string", format: "password" } }), /secrets are given elsewhere/],
      [schema({ code: { type: "string", writeOnly: true } }), /secrets are given elsewhere/],
    ];
    const { told } = await play(
      t,
      async ({ agentOf, make, order, pendingRequest, lastCalls, given }) => {
        const told = [];
        for (const [place, spec] of given.entries()) {
          const run = () => pendingRequest(spec);
          const chat = await agentOf({ tools: [make("ask", { effect: "read", run })] }).open(`c${place}`);
          await chat.send(order(["ask", "{}"]));
          told.push(lastCalls(chat)[0]);
        }
        return told;
      },
      wrong.map(([spec]) => spec),
    );
    for (const [place, [spec, why]] of wrong.entries()) {
      assert.equal(told[place].outcome, "tool_failed", JSON.stringify(spec));
      assert.match(told[place].result.text, why);
    }
  });

  it("is refused at registration where it is declared beside an approval", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, rejection }) =>
      rejection(() => agentOf({ tools: [make("eat", { input: { type: "object" } })] })),
    );
    assert.equal(told.code, "invalid_options");
    assert.match(told.message, /options\.tools\[0\]\.input is not possible.*for ever.*pendingRequest/s);
  });
});

describe("the values of a form", () => {
  const SCHEMA = {
    type: "object",
    required: ["name"],
    properties: {
      name: { type: "string", minLength: 2 },
      age: { type: "integer", minimum: 18 },
      share: { type: "number", maximum: 1 },
      mail: { type: "string", format: "email" },
      site: { type: "string", format: "uri" },
      day: { type: "string", format: "date" },
      at: { type: "string", format: "date-time" },
      news: { type: "boolean" },
      size: { type: "string", enum: ["s", "m"] },
      days: { type: "array", items: { type: "string", enum: ["mon", "tue"] }, maxItems: 1 },
    },
  };
  const WRONG = [
    [undefined, /name is required/],
    ["Grace", /must be an object/],
    [["Grace"], /must be an object/],
    [{}, /name is required/],
    [{ name: "G" }, /name must have a length of at least 2/],
    [{ name: 12 }, /name must be of type string/],
    [{ name: "Grace", age: 17 }, /age must be at least 18/],
    [{ name: "Grace", age: 18.5 }, /age must be of type integer/],
    [{ name: "Grace", age: "18" }, /age must be of type integer/],
    [{ name: "Grace", share: 1.5 }, /share must be at most 1/],
    [{ name: "Grace", mail: "grace" }, /mail must be an e-mail address/],
    [{ name: "Grace", site: "example" }, /site must be a URL/],
    [{ name: "Grace", day: "2026-02-30" }, /day must be a date/],
    [{ name: "Grace", at: "2026-02-01" }, /at must be a date and time/],
    [{ name: "Grace", news: "yes" }, /news must be of type boolean/],
    [{ name: "Grace", size: "l" }, /size must be one of/],
    [{ name: "Grace", days: ["wed"] }, /days\[0\] must be one of/],
    [{ name: "Grace", days: ["mon", "tue"] }, /days must have a number of items of at most 1/],
  ];

  it("are validated before they settle, and only declared ones reach the tool", async (t) => {
    const right = {
      ...{ name: "Grace", age: 18, share: 0.5, mail: "g@example.org", site: "https://example.org", day: "2026-02-28" },
      ...{ at: "2026-02-28T10:00:00Z", news: false, size: "s", days: ["mon"] },
    };
    const { told } = await play(
      t,
      async ({ agentOf, make, order, pendingRequest, lastCalls, rejection, answerOutput, given }) => {
        const { schema, wrong, right } = given;
        const run = (_, { answer }) =>
          answer ? answer.data : pendingRequest({ kind: "input", prompt: "?", data: { schema } });
        const agent = agentOf({ tools: [make("ask", { effect: "read", run })] });
        const chat = await agent.open("c");
        await chat.send(order(["ask", "{}"]));
        const [{ id }] = chat.snapshot().requests;
        const before = await agent.exportLog("c");
        const errors = [];
        for (const data of wrong)
          errors.push(await rejection(() => chat.answer({ id, ok: true, ...(data !== null && { data }) })));
        const untouched = before === (await agent.exportLog("c"));
        const more = JSON.parse('{"admin":true,"__proto__":{"x":1}}');
        const answer = answerOutput(id, { ...right, ...more, constructor: 1 });
        const first = await chat.answer(answer);
        await first.continuation;
        const again = await chat.answer(answer);
        return { errors, untouched, result: lastCalls(chat)[0].result.text, again: again.result };
      },
      { schema: SCHEMA, wrong: WRONG.map(([data]) => data ?? null), right },
    );
    for (const [place, [data, why]] of WRONG.entries()) {
      assert.equal(told.errors[place]?.code, "invalid_answer", JSON.stringify(data));
      assert.match(told.errors[place].message, why);
    }
    assert.equal(told.untouched, true);
    assert.deepEqual(JSON.parse(told.result), right);
    assert.equal(told.again, "already");
  });
});

describe("an answer of the wrong shape", () => {
  it("is the contract's error and changes nothing", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, order, runs, rejection, answerDeclined }) => {
      const agent = agentOf({ tools: [make("eat")] });
      const chat = await agent.open("c");
      await chat.send(order(["eat", "{}"]));
      const [{ id }] = chat.snapshot().requests;
      const before = await agent.exportLog("c");
      const reasons = [{ why: 1 }, 7, new Map([["why", 1]]), true, ["declined"], Symbol("x"), () => {}];
      const types = [];
      for (const reason of reasons) {
        types.push(await rejection(() => answerDeclined(id, reason)));
        types.push(await rejection(() => chat.answer({ id, ok: false, reason })));
      }
      const shapes = [
        undefined,
        null,
        "yes",
        7,
        [],
        new Map([
          ["id", id],
          ["ok", true],
        ]),
        { ok: true },
        { id: "", ok: true },
        { id: 7, ok: true },
        { id },
        { id, ok: "true" },
        { id, ok: 1 },
        { id, ok: true, reason: "because" },
        { id, ok: false, data: {} },
        { id, ok: true, by: "ada" },
        { id, ok: true, by: { user: 7 } },
        { id, ok: true, by: {} },
        { id, ok: true, by: { user: "a", name: "A" } },
        { id, ok: true, resaon: "declined" },
        { id, ok: true, data: { n: 1n } },
        JSON.stringify({ id, ok: true }),
      ];
      const errors = [];
      for (const shape of shapes) errors.push(await rejection(() => chat.answer(shape)));
      const unknown = await rejection(() => chat.answer({ id: "nobody", ok: true }));
      const untouched = before === (await agent.exportLog("c")) && runs.length === 0;
      // JSON of another runtime, with the nulls that such have.
      const foreign = JSON.parse(`{"id":"${id}","ok":true,"data":null,"reason":null,"by":null}`);
      const first = await chat.answer(foreign);
      await first.continuation;
      const same = await chat.answer(foreign);
      const other = await rejection(() => chat.answer(answerDeclined(id)));
      return { types, errors, unknown, untouched, results: [first.result, same.result], other, runs };
    });
    for (const error of told.types) {
      assert.equal(error?.name, "TypeError");
      assert.match(error.message, /must be a string/);
    }
    for (const [place, error] of told.errors.entries()) assert.equal(error?.code, "invalid_answer", `shape ${place}`);
    assert.equal(told.unknown.code, "unknown_request");
    assert.equal(told.untouched, true);
    assert.deepEqual(told.results, ["applied", "already"]);
    assert.equal(told.other.code, "conflict");
    assert.deepEqual(told.runs, ["eat"]);
  });

  it("of the helpers is what the contract says", async (t) => {
    const { told } = await play(t, async ({ answerDeclined, answerOutput }) => [
      answerDeclined("q"),
      answerDeclined("q", "later"),
      answerDeclined("q", null),
      answerOutput("q", { a: 1 }),
      answerOutput("q", null),
      answerOutput("q"),
    ]);
    assert.deepEqual(told, [
      { id: "q", ok: false, reason: "declined" },
      { id: "q", ok: false, reason: "later" },
      { id: "q", ok: false, reason: null },
      { id: "q", ok: true, data: { a: 1 } },
      { id: "q", ok: true, data: null },
      { id: "q", ok: true },
    ]);
  });
});

describe("an answer for MCP", () => {
  it("accepts, declines on the reason declined alone, and cancels on every other", async (t) => {
    const table = [
      [{ ok: true }, { action: "accept" }],
      [
        { ok: true, data: { name: "Grace" } },
        { action: "accept", content: { name: "Grace" } },
      ],
      [{ ok: false, reason: "declined" }, { action: "decline" }],
      ...["Declined", "declined ", "", "expired", "superseded", "cancelled", "denied", "decline"].map((reason) => [
        { ok: false, reason },
        { action: "cancel" },
      ]),
      [{ ok: false, reason: null }, { action: "cancel" }],
      [{ ok: false }, { action: "cancel" }],
      [{ ok: false, by: { user: "ada" } }, { action: "cancel" }],
      [{ ok: false, by: "policy", reason: "declined" }, { action: "decline" }],
    ];
    const { told } = await play(
      t,
      async ({ toMcpElicitation, rejection, given }) => ({
        made: given.map((answer) => toMcpElicitation({ id: "q", ...answer })),
        wrong: await rejection(() => toMcpElicitation({ id: "q", ok: false, reason: 7 })),
      }),
      table.map(([answer]) => answer),
    );
    assert.deepEqual(
      told.made,
      table.map(([, expected]) => expected),
    );
    assert.match(told.wrong.message, /must be a string/);
  });
});
