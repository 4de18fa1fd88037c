/**
 * What a page makes of errors, over the wires: which are tried again, when and how often, and that a tool that ran does
 * not run again. The servers are scripted; each says its errors as its provider does.
 */
import assert from "node:assert/strict";
import http from "node:http";
import { after, before, describe, it } from "node:test";
import { listen } from "../../www/demo/server.mjs";
import { launch } from "./harness.mjs";
import { resultsOf } from "./strict.mjs";
import { ANSWERS, broken, failure, inTurn, optionsOf, play, serveModel, WIRES } from "./wires.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A failed request is logged by the browser itself. */
const LOGGED = /Failed to load resource|has been blocked by CORS policy/;
const APIS = WIRES.map(({ api }) => api);
const wireOf = (api) => WIRES.find((wire) => wire.api === api);

/**
 * One chat for each case, `[api, url of its server, retries by a person]`, all in one page and at once: how its run ended
 * each time, what its last message shows, and which tools ran.
 */
function talk(t, cases) {
  const given = cases.map(([api, url, retries = 0]) => {
    const { make, ...wire } = wireOf(api);
    return { make, options: optionsOf(wire, url), retries };
  });
  const script = ({ given, agentOf, make, ...library }) =>
    Promise.all(
      given.cases.map(async ({ make: name, options, retries }) => {
        const runs = [];
        const look = make("look", { effect: "read", run: (args) => runs.push("look") && args });
        const chat = await agentOf({ model: library[name](options), tools: [look] }).open("c");
        const ends = [await chat.send("Hello.")];
        for (let retry = 0; retry < retries; retry += 1) ends.push(await chat.retry());
        return {
          ends: ends.map(({ status, reason, text, error }) => ({ status, reason, text, code: error?.code })),
          message: chat.snapshot().error?.message,
          shown: chat.snapshot().messages.at(-1).text,
          runs,
        };
      }),
    );
  return play(browser, t, {}, script, { expected: LOGGED, given: { cases: given } });
}

/** The same of servers that give the answers of a case, `[api, answers, retries]`, in turn; with their requests. */
async function answered(t, cases) {
  const models = await Promise.all(cases.map(([, answers]) => serveModel(t, inTurn(...answers))));
  const told = await talk(
    t,
    cases.map(([api, , retries], place) => [api, models[place].url, retries]),
  );
  return told.map((one, place) => ({ ...one, api: cases[place][0], requests: models[place].requests }));
}

const GOOGLE = (code, status, message, details = []) => ({ error: { code, status, message, details } });
const retryInfo = (retryDelay) => [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }];
/** More than the wait without any hint, so that the hint is what was waited for. */
const WAIT = 700;

const SLOW = { error: { message: "Slow down." } };
const SLOWER = { type: "error", error: { type: "rate_limit_error", message: "Slow down." } };
const LIMITS = [
  // A header in milliseconds, one in seconds.
  ["openai-chat", failure(429, SLOW, { "retry-after-ms": "700" })],
  ["anthropic", failure(429, SLOWER, { "retry-after-ms": "700" })],
  ["openai-responses", failure(429, SLOW, { "retry-after": "0.7" })],
  ["anthropic", failure(429, SLOWER, { "retry-after": "0.7" })],
  // The text alone: most servers do not let a page read the header.
  ["openai-chat", failure(429, { error: { code: "rate_limit_exceeded", message: "Please try again in 700ms." } })],
  ["openai-responses", failure(429, { error: { code: "rate_limit_exceeded", message: "Try again in 0.7s. See …" } })],
  ["gemini", failure(429, GOOGLE(429, "RESOURCE_EXHAUSTED", "Slow down.", retryInfo("0.7s")))],
  // Google's layer that speaks Chat Completions puts its errors into a list.
  ["openai-chat", failure(429, [GOOGLE(429, "RESOURCE_EXHAUSTED", "Slow down.", retryInfo("0.7s"))])],
];

describe("an address that is not there", () => {
  it("is named, with what to check", async (t) => {
    const cases = APIS.map((api) => [api, [failure(404, { error: { message: "No such thing." } })]]);
    for (const { api, message, requests } of await answered(t, cases)) {
      assert.match(
        message,
        /^No such thing\. The request went to http:\S+; check the model's baseUrl, and its name\.$/,
      );
      const [, address] = /went to ([^;]+);/.exec(message);
      assert.equal(new URL(address).pathname, new URL(requests[0].url, address).pathname, api);
    }
  });
});

describe("a rate limit", () => {
  it("is waited for as headers, text or details say", async (t) => {
    const cases = LIMITS.map(([api, limited]) => [api, [limited, ANSWERS[api].text("At last.")]]);
    for (const { api, ends, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].status, ends[0].text], ["done", "At last."], api);
      assert.equal(requests.length, 2, api);
      assert.ok(requests[1].at - requests[0].at >= WAIT, `${api}: ${requests[1].at - requests[0].at} ms`);
      assert.equal(requests[1].body, requests[0].body, api);
    }
  });

  it("that stays is asked about twice more and no more", async (t) => {
    const limited = failure(429, { error: { message: "Slow down." } }, { "retry-after-ms": "10" });
    for (const { api, ends, requests } of await answered(
      t,
      APIS.map((api) => [api, [limited]]),
    )) {
      assert.deepEqual([ends[0].status, ends[0].code, requests.length], ["error", "model_rate_limit", 3], api);
    }
  });

  it("of a minute is left to a person", async (t) => {
    const minute = [
      ["openai-chat", failure(429, { error: { message: "Slow down." } }, { "retry-after": "60" })],
      ["gemini", failure(429, GOOGLE(429, "RESOURCE_EXHAUSTED", "Please retry in 48.9s.", retryInfo("48s")))],
    ];
    const cases = minute.map(([api, limited]) => [api, [limited, ANSWERS[api].text("At last.")], 1]);
    for (const { api, ends, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].code, ends[1].status, ends[1].text], ["model_rate_limit", "done", "At last."], api);
      assert.equal(requests.length, 2, api);
    }
  });
});

const anthropic = (type, message) => ({ type: "error", error: { type, message } });
/** Errors that no second try mends. A server may think otherwise. */
const FINAL = [
  ["openai-chat", 400, { error: { message: "Bad.", type: "invalid_request_error" } }, "model_bad_request"],
  ["openai-responses", 400, { error: { message: "No tool output found." } }, "model_bad_request"],
  ["anthropic", 400, anthropic("invalid_request_error", "Bad."), "model_bad_request"],
  ["gemini", 400, GOOGLE(400, "INVALID_ARGUMENT", "Bad."), "model_bad_request"],
  ["openai-chat", 429, { error: { message: "No money.", code: "insufficient_quota" } }, "model_quota"],
  ["openai-responses", 429, { error: { message: "No money.", type: "insufficient_quota" } }, "model_quota"],
  ["anthropic", 400, anthropic("invalid_request_error", "Your credit balance is too low."), "model_quota"],
];
const REFUSED = [
  ["openai-chat", 401, { error: { message: "Wrong key.", code: "invalid_api_key" } }, "model_auth"],
  ["gemini", 400, GOOGLE(400, "INVALID_ARGUMENT", "API key not valid."), "model_auth"],
  ["openai-responses", 400, { error: { message: "x", code: "context_length_exceeded" } }, "model_context_too_long"],
  [
    "anthropic",
    400,
    anthropic("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
    "model_context_too_long",
  ],
];

describe("an error that stays", () => {
  const check = (told, codes) => {
    for (const [place, { api, ends, requests }] of told.entries()) {
      assert.deepEqual([ends[0].status, ends[0].code, requests.length], ["error", codes[place], 1], api);
    }
  };

  it("is not asked about again", async (t) => {
    const all = [...FINAL, ...REFUSED];
    const cases = all.map(([api, status, body]) => [api, [failure(status, body), ANSWERS[api].text("No.")]]);
    check(
      await answered(t, cases),
      all.map(([, , , code]) => code),
    );
  });

  it("is not asked about again although the server says so", async (t) => {
    const hints = { "x-should-retry": "true", "retry-after-ms": "10" };
    const cases = FINAL.map(([api, status, body]) => [api, [failure(status, body, hints), ANSWERS[api].text("No.")]]);
    check(
      await answered(t, cases),
      FINAL.map(([, , , code]) => code),
    );
  });
});

const START = ANSWERS.anthropic.begun("").chunks.slice(0, 1);
/** How each provider says inside of a stream that it is overloaded. */
const OVERLOADED = {
  "openai-chat": `data: ${JSON.stringify({ error: { message: "Overloaded", code: 529 } })}\n\n`,
  "openai-responses":
    'event: error\ndata: {"type":"error","error":{"type":"server_error","code":"server_error","message":"Overloaded"}}\n\n' +
    'data: {"type":"response.failed","response":{"status":"failed","error":{"code":"server_error","message":"Overloaded"}}}\n\n',
  anthropic: `event: error\ndata: ${JSON.stringify(anthropic("overloaded_error", "Overloaded"))}\n\n`,
  gemini: `data: ${JSON.stringify(GOOGLE(503, "UNAVAILABLE", "Overloaded"))}\n\n`,
};

describe("an overloaded server", () => {
  it("that says so in the stream, before anything else, is asked again", async (t) => {
    const cases = APIS.map((api) => {
      const before = api === "anthropic" ? [{ chunks: START }] : [];
      return [api, [broken(OVERLOADED[api], ...before), ANSWERS[api].text("At last.")]];
    });
    for (const { api, ends, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].status, ends[0].text, requests.length], ["done", "At last.", 2], api);
      assert.equal(requests[1].body, requests[0].body, api);
    }
  });

  it("that says so after half an answer is left to a person, who sees that half", async (t) => {
    const cases = APIS.map((api) => [api, [broken(OVERLOADED[api], ANSWERS[api].begun("Half a"))]]);
    for (const { api, ends, shown, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].status, ends[0].code, shown], ["error", "model_overloaded", "Half a"], api);
      assert.equal(requests.length, 1, api);
    }
  });

  it("after a tool ran gets the result again, and nothing runs again", async (t) => {
    const cases = APIS.map((api) => {
      const status = api === "anthropic" ? 529 : 503;
      const busy = failure(status, { error: { message: "Overloaded" } }, { "retry-after-ms": "10" });
      const { calls, text } = ANSWERS[api];
      return [api, [calls(["look", '{"at":"it"}']), busy, busy, busy, text("At last.")], 1];
    });
    for (const { api, ends, runs, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].status, ends[0].code], ["error", "model_overloaded"], api);
      assert.deepEqual([ends[1].status, ends[1].text, runs], ["done", "At last.", ["look"]], api);
      assert.equal(requests.length, 5, "twice more by itself, then once by a person");
      const [, first, ...again] = requests.map(({ body }) => body);
      for (const body of again) assert.equal(body, first, "the same bytes");
      const [result, ...more] = resultsOf(api, first);
      assert.deepEqual([result.text, result.isError, more], ['{"at":"it"}', false, []], api);
    }
  });
});

describe("an answer that refuses", () => {
  it("is an answer, and the end says what it is", async (t) => {
    const cases = APIS.map((api) => [api, [ANSWERS[api].refusal()]]);
    for (const { api, ends, requests } of await answered(t, cases)) {
      assert.deepEqual([ends[0].status, ends[0].reason, requests.length], ["done", "refusal", 1], api);
    }
  });
});

describe("a server that does not let the page in", () => {
  it("gets no message, and the error names both possible reasons", async (t) => {
    const asked = [];
    const server = http.createServer((request, response) => {
      asked.push(request.method);
      response.end("{}");
    });
    const url = await listen(server);
    t.after(() => {
      server.close();
      server.closeAllConnections();
    });
    const told = await talk(
      t,
      APIS.map((api) => [api, url]),
    );
    for (const { ends } of told) assert.deepEqual([ends[0].status, ends[0].code], ["error", "model_network_or_cors"]);
    assert.deepEqual(new Set(asked), new Set(["OPTIONS"]));
    assert.ok(asked.length <= 3 * APIS.length, "bounded");
  });
});
