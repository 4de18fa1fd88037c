/**
 * The rehearsal model by itself: it speaks from the results it is sent, and it refuses what a strict server
 * refuses. No browser.
 */
import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { createRehearsalFetch, MODEL, Refusal, rehearsalFetch, respond, serve } from "../../www/demo/rehearsal.mjs";

const TOOLS = [
  {
    type: "function",
    function: {
      name: "cookiejar__cookie_jar",
      parameters: { type: "object", properties: { action: { enum: ["look", "eat"] }, count: { type: "integer" } } },
    },
  },
];

const user = (content) => ({ role: "user", content });
const calls = (...pairs) => ({
  role: "assistant",
  content: null,
  tool_calls: pairs.map(([id, args]) => ({
    id,
    type: "function",
    function: { name: "cookiejar__cookie_jar", arguments: JSON.stringify(args) },
  })),
});
const result = (tool_call_id, content) => ({ role: "tool", tool_call_id, content });
const request = (messages, more = {}) => ({ model: MODEL, stream: true, tools: TOOLS, messages, ...more });

/** Puts the deltas of a stream together again. */
function collect(chunks) {
  assert.equal(chunks.at(-1), "data: [DONE]\n\n");
  const events = chunks.slice(0, -1).map((chunk) => JSON.parse(chunk.slice("data: ".length)));
  const deltas = events.flatMap((event) => event.choices).map((choice) => choice.delta);
  const callDeltas = deltas.flatMap((delta) => delta.tool_calls ?? []);
  return {
    text: deltas.map((delta) => delta.content ?? "").join(""),
    name: callDeltas[0]?.function.name,
    args: callDeltas.length ? JSON.parse(callDeltas.map((call) => call.function.arguments ?? "").join("")) : undefined,
    id: callDeltas[0]?.id,
    finish: events.flatMap((event) => event.choices).at(-1).finish_reason,
    pieces: deltas.filter((delta) => delta.content || delta.tool_calls).length,
    events,
  };
}

const said = (messages, more) => collect(respond(request(messages, more)));
const looked = (wish, text = '{"cookies":12}') => [user(wish), calls(["a", { action: "look" }]), result("a", text)];
const ate = (text, wish = "Empty the jar") => [
  ...looked(wish),
  calls(["b", { action: "eat", count: 12 }]),
  result("b", text),
];

describe("the rehearsal model's calls", () => {
  it("looks before it eats", () => {
    for (const wish of ["Empty the jar.", "eat all cookies", "Please eat everything", "eat 3"]) {
      const { name, args, finish, pieces } = said([user(wish)]);
      assert.deepEqual([name, args, finish], ["cookiejar__cookie_jar", { action: "look" }, "tool_calls"], wish);
      assert.ok(pieces > 2, "the arguments come in several deltas");
    }
  });

  it("eats exactly as many as the result said there are", () => {
    for (const count of [1, 7, 12]) {
      const { args } = said(looked("Empty the jar", JSON.stringify({ cookies: count })));
      assert.deepEqual(args, { action: "eat", count });
    }
  });

  it("eats as many as it was told", () => {
    assert.deepEqual(said(looked("Eat 3.")).args, { action: "eat", count: 3 });
    assert.deepEqual(said(looked("eat three cookies")).args, { action: "eat", count: 3 });
    assert.deepEqual(said(looked("eat a cookie")).args, { action: "eat", count: 1 });
  });

  it("asks for no more than there are", () => {
    const { args, text } = said(looked("eat 13"));
    assert.equal(args, undefined);
    assert.equal(text, "There are only 12 cookies in the jar, so I did not try to eat 13.");
    assert.equal(
      said(looked("empty it", '{"cookies":0}')).text,
      "The jar is already empty, so there was nothing to eat.",
    );
  });

  it("reads a count that a remark follows, and admits to find none", () => {
    assert.deepEqual(said(looked("eat all", '{"cookies":5}\nA remark.')).args, { action: "eat", count: 5 });
    assert.match(said(looked("eat all", "plenty")).text, /find no count of cookies in it: "plenty"/);
  });

  it("tells the count when asked to look", () => {
    assert.deepEqual(said([user("How many are there?")]).args, { action: "look" });
    assert.equal(said(looked("Look into the jar")).text, "There are 12 cookies in the jar.");
  });

  it("gives every call of a chat its own id", () => {
    assert.equal(said([user("look")]).id, "call_rehearsal_1");
    assert.equal(said(looked("Empty the jar")).id, "call_rehearsal_2");
  });

  it("calls only what it is offered, and only when it may", () => {
    assert.match(said([user("Empty the jar")], { tools: undefined }).text, /No cookie jar was offered/);
    assert.match(said([user("Empty the jar")], { tool_choice: "none" }).text, /tells me to call no tool/);
    const renamed = [{ type: "function", function: { ...TOOLS[0].function, name: "jar2" } }];
    assert.equal(said([user("Empty the jar")], { tools: renamed }).name, "jar2");
  });
});

describe("the rehearsal model's account of a result", () => {
  it("answers from the numbers of the result, not from what it asked for", () => {
    assert.equal(said(ate('{"eaten":12,"cookies":0}')).text, "12 cookies were eaten; the jar is empty now.");
    assert.equal(said(ate('{"eaten":1,"cookies":11}')).text, "1 cookie was eaten; 11 are left in the jar.");
    assert.equal(said(ate("Done.")).text, 'The tool answered: "Done."');
  });

  const HEAD = {
    run_owner: "You declined that yourself. Nothing was executed, so no cookie was eaten.",
    other_user: "Another user declined that, not you. Nothing was executed, so no cookie was eaten.",
    unknown: "That was declined. Nothing was executed, so no cookie was eaten.",
  };
  for (const [decidedBy, head] of Object.entries(HEAD)) {
    it(`says who declined: ${decidedBy}`, () => {
      const sentence = `Error: approval_denied (decided_by: ${decidedBy}). The approval … Nothing was executed. `;
      const json = JSON.stringify({
        status: "denied",
        reason_code: "approval_denied",
        decided_by: decidedBy,
        tool: "t",
        executed: false,
      });
      for (const text of [sentence, json]) {
        const answer = said(ate(text));
        assert.ok(answer.text.startsWith(head), answer.text);
        assert.doesNotMatch(answer.text, /system|operator|error/i);
        assert.equal(answer.finish, "stop");
      }
    });
  }

  it("says that the compact form leaves the cause open", () => {
    assert.match(said(ate("declined/expired: Eat 12 cookies?")).text, /^Something was declined or it expired/);
  });

  it("heeds the reason of a denial", () => {
    const denial = (reason) => `Error: approval_denied (decided_by: run_owner, reason: ${reason}). The approval … `;
    assert.match(said(ate(denial("variant"))).text, /another number/);
    assert.match(said(ate(denial("skip"))).text, /not propose it again/);
  });

  it("names no person where no person decided, and has a sentence for each token", () => {
    const tokens =
      "approval_expired approval_superseded approval_cancelled already_declined request_lapsed blocked_by_policy " +
      "tool_unavailable arguments_invalid turn_truncated tool_failed outcome_unknown";
    const answers = tokens.split(" ").map((token) => said(ate(`Error: ${token}. Something. `)).text);
    for (const answer of answers) assert.doesNotMatch(answer, /you declined|another user/i);
    assert.equal(new Set(answers).size, answers.length);
    assert.match(said(ate("Error: outcome_unknown. Lost. ")).text, /do not know whether cookies were eaten/);
    assert.match(
      said(ate("Error: approval_superseded (approved: true). The … ")).text,
      /^The call had been approved, but/,
    );
  });

  it("proposes the same call again only when the user says so", () => {
    const denied = ate("Error: approval_denied (decided_by: run_owner). The approval … ");
    const history = [...denied, { role: "assistant", content: "You declined." }];
    assert.deepEqual(said([...history, user("Do it anyway")]).args, { action: "eat", count: 12 });
    assert.equal(said([...history, user("Thanks")]).args, undefined);
    assert.equal(said([...history, user("Please do not do it")]).args, undefined);
  });

  it("looks first where the call may have run", () => {
    const history = [...ate("Error: outcome_unknown. Lost. "), { role: "assistant", content: "Lost." }];
    assert.deepEqual(said([...history, user("go ahead")]).args, { action: "look" });
  });

  it("says what it can do, and what it is, when it understands nothing", () => {
    for (const wish of ["Hello", "Do not eat the cookies", "eat 2.5 cookies", "eat 0"]) {
      const answer = said([user(wish)]);
      assert.match(answer.text, /rehearsal model: a set of fixed rules, no language model/, wish);
      assert.equal(answer.args, undefined);
    }
    assert.match(said([user("eat some cookies")]).text, /^How many\?/);
  });
});

describe("the rehearsal model's stream", () => {
  it("has the same bytes for the same request", () => {
    assert.deepEqual(respond(request(looked("Empty the jar"))), respond(request(looked("Empty the jar"))));
  });

  it("sends usage as a last chunk without choices, when asked", () => {
    const { events } = said([user("Hello there")], { stream_options: { include_usage: true } });
    assert.deepEqual(events.at(-1).choices, []);
    assert.equal(events.at(-1).usage.prompt_tokens, 2);
    assert.ok(events.slice(0, -1).every((event) => event.usage === null));
  });

  it("answers in one piece when no stream is asked for", () => {
    const { contentType, chunks } = serve(JSON.stringify(request(looked("Empty the jar"), { stream: false })));
    assert.equal(contentType, "application/json");
    const [choice] = JSON.parse(chunks.join("")).choices;
    assert.equal(choice.message.tool_calls[0].function.arguments, '{"action":"eat","count":12}');
    assert.equal(choice.finish_reason, "tool_calls");
  });
});

describe("a request that breaks a rule", () => {
  const CASES = [
    [
      "a call without result",
      [user("x"), calls(["a", {}]), user("y")],
      /must be followed by tool messages responding to each 'tool_call_id'.*: a$/,
    ],
    ["a call without result at the end", [user("x"), calls(["a", {}])], /did not have response messages: a$/],
    [
      "one of two results missing",
      [user("x"), calls(["a", {}], ["b", {}]), result("a", "1"), user("y")],
      /messages: b$/,
    ],
    [
      "results out of call order",
      [user("x"), calls(["a", {}], ["b", {}]), result("b", "1"), result("a", "1")],
      /expected "a", got "b"/,
    ],
    [
      "a second result",
      [user("x"), calls(["a", {}]), result("a", "1"), result("a", "1")],
      /role 'tool' must be a response/,
    ],
    ["a result for nothing", [user("x"), result("a", "1")], /role 'tool' must be a response/],
    ["an empty tool_calls", [user("x"), { role: "assistant", content: "y", tool_calls: [] }], /empty array/],
    [
      "a repeated id",
      [user("x"), calls(["a", {}], ["a", {}]), result("a", "1"), result("a", "1")],
      /ids must be unique/,
    ],
    [
      "an id of 41 characters",
      [user("x"), calls(["a".repeat(41), {}]), result("a".repeat(41), "1")],
      /maximum length 40/,
    ],
    ["a null content", [user(null)], /expected a string or a non-empty array/],
    ["an assistant turn with nothing in it", [user("x"), { role: "assistant", content: null }], /expected a string/],
    ["an unknown role", [{ role: "robot", content: "x" }], /'robot'|"robot"/],
    ["no message", [], /minimum length 1/],
  ];
  for (const [name, messages, rule] of CASES) {
    it(`is refused: ${name}`, () => {
      const { status, chunks } = serve(JSON.stringify(request(messages)));
      const { error } = JSON.parse(chunks.join(""));
      assert.equal(status, 400);
      assert.equal(error.type, "invalid_request_error");
      assert.match(error.message, rule);
    });
  }

  it("is refused: echoed arguments that are no JSON object", () => {
    for (const text of ["", "{", "null", "[1]"]) {
      const turn = calls(["a", {}]);
      turn.tool_calls[0].function.arguments = text;
      assert.throws(() => respond(request([user("x"), turn, result("a", "1")])), /holds a JSON object/);
    }
  });

  it("is refused: fields at the top that the format does not have, or not together", () => {
    const refused = (more, rule) => assert.throws(() => respond(request([user("x")], more)), rule);
    refused({ chat_id: 1 }, /Unrecognized request argument supplied: chat_id/);
    refused({ tools: [] }, /leave the key out/);
    refused({ tools: [...TOOLS, ...TOOLS] }, /names must be unique/);
    refused({ tools: undefined, tool_choice: "auto" }, /only allowed when 'tools' are specified/);
    refused({ stream: false, stream_options: { include_usage: true } }, /only allowed when 'stream' is enabled/);
    refused({ stream: "yes" }, /must be a boolean/);
    refused({ tool_choice: { type: "function", function: { name: "other" } } }, /not found in 'tools'/);
  });

  it("has status 404 for a model that is not there", () => {
    const { status, chunks } = serve(JSON.stringify(request([user("x")], { model: "gpt-5.1" })));
    assert.equal(status, 404);
    assert.equal(JSON.parse(chunks.join("")).error.code, "model_not_found");
  });

  it("has status 400 for a body that is no JSON", () => {
    assert.equal(serve("{").status, 400);
    assert.throws(() => respond([]), Refusal);
  });
});

describe("the rehearsal fetch", () => {
  const post = (body) => ({ method: "POST", body });
  const body = JSON.stringify(request([user("Hello")]));

  it("answers like the server, whatever the body is made of", async () => {
    const expected = respond(request([user("Hello")])).join("");
    for (const form of [body, new Blob([body.slice(0, 9), body.slice(9)]), new TextEncoder().encode(body)]) {
      const response = await rehearsalFetch("v1/chat/completions", post(form));
      assert.equal(response.headers.get("content-type"), "text/event-stream");
      assert.equal(await response.text(), expected);
    }
    const response = await rehearsalFetch(new Request("http://localhost/v1/chat/completions", post(body)));
    assert.equal(await response.text(), expected);
  });

  it("answers a refused request and an unknown one with their status", async () => {
    assert.equal((await rehearsalFetch("/v1/chat/completions", post("{}"))).status, 400);
    assert.equal((await rehearsalFetch("/v1/other", post("{}"))).status, 404);
    assert.equal((await rehearsalFetch("/v1/chat/completions")).status, 404);
  });

  it("stops when it is aborted, before and while it streams", async () => {
    const late = new AbortController();
    const response = await createRehearsalFetch({ delayMs: 1 })("/v1/chat/completions", {
      ...post(body),
      signal: late.signal,
    });
    const reader = response.body.getReader();
    await reader.read();
    late.abort();
    await assert.rejects(
      async () => {
        while (!(await reader.read()).done);
      },
      { name: "AbortError" },
    );
    await assert.rejects(rehearsalFetch("/v1/chat/completions", { ...post(body), signal: AbortSignal.abort() }), {
      name: "AbortError",
    });
  });
});
