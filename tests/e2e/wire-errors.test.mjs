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
import { ANSWERS, broken, failure, inTurn, play, serveModel, WIRES } from "./wires.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A failed request is logged by the browser itself. */
const LOGGED = /Failed to load resource|has been blocked by CORS policy/;
const APIS = WIRES.map(({ api }) => api);
const wireOf = (api) => WIRES.find((wire) => wire.api === api);

/** Sends one message, and has the run retried `retries` times by a person. */
async function send(t, api, model, retries = 0) {
  const { make, base, model: name, headers } = wireOf(api);
  const told = await play(
    browser,
    t,
    model,
    async ({ given, agentOf, make, runs, ...library }) => {
      const endpoint = library[given.make]({ ...given.options, baseUrl: `${given.url}${given.base}` });
      const chat = await agentOf({ model: endpoint, tools: [make("look", { effect: "read" })] }).open("c");
      const ends = [await chat.send("Hello.")];
      for (let retry = 0; retry < given.retries; retry += 1) ends.push(await chat.retry());
      const shown = chat.snapshot().messages.at(-1).text;
      return {
        ends: ends.map(({ status, reason, text, error }) => ({ status, reason, text, code: error?.code })),
        shown,
        runs,
      };
    },
    { expected: LOGGED, given: { make, base, options: { model: name, headers }, retries } },
  );
  return { ...told, requests: model.requests };
}

async function answered(t, api, answers, retries) {
  return send(t, api, await serveModel(t, inTurn(...answers)), retries);
}

const GOOGLE = (code, status, message, details = []) => ({ error: { code, status, message, details } });
const retryInfo = (retryDelay) => [{ "@type": "type.googleapis.com/google.rpc.RetryInfo", retryDelay }];
/** More than the wait without any hint, so that the hint is what was waited for. */
const WAIT = 700;

const LIMITS = {
  "a header in milliseconds": [
    ["openai-chat", failure(429, { error: { message: "Slow down." } }, { "retry-after-ms": "700" })],
    [
      "anthropic",
      failure(429, { type: "error", error: { type: "rate_limit_error", message: "x" } }, { "retry-after-ms": "700" }),
    ],
  ],
  "a header in seconds": [
    ["openai-responses", failure(429, { error: { message: "Slow down." } }, { "retry-after": "0.7" })],
    [
      "anthropic",
      failure(429, { type: "error", error: { type: "rate_limit_error", message: "x" } }, { "retry-after": "0.7" }),
    ],
  ],
  "the text": [
    ["openai-chat", failure(429, { error: { code: "rate_limit_exceeded", message: "Please try again in 700ms." } })],
    [
      "openai-responses",
      failure(429, { error: { code: "rate_limit_exceeded", message: "Please try again in 0.7s. See …" } }),
    ],
  ],
  "Google's details": [
    ["gemini", failure(429, GOOGLE(429, "RESOURCE_EXHAUSTED", "Slow down.", retryInfo("0.7s")))],
    // The layer that speaks Chat Completions puts its errors into a list.
    ["openai-chat", failure(429, [GOOGLE(429, "RESOURCE_EXHAUSTED", "Slow down.", retryInfo("0.7s"))])],
  ],
};

describe("a rate limit", () => {
  for (const [where, cases] of Object.entries(LIMITS)) {
    for (const [api, limited] of cases) {
      it(`is waited for as ${where} says: ${api}`, async (t) => {
        const { ends, requests } = await answered(t, api, [limited, ANSWERS[api].text("At last.")]);
        assert.deepEqual([ends[0].status, ends[0].text], ["done", "At last."]);
        assert.equal(requests.length, 2);
        assert.ok(requests[1].at - requests[0].at >= WAIT, `${requests[1].at - requests[0].at} ms`);
        assert.equal(requests[1].body, requests[0].body);
      });
    }
  }

  for (const api of APIS) {
    it(`that stays is asked about twice more and no more: ${api}`, async (t) => {
      const limited = failure(429, { error: { message: "Slow down." } }, { "retry-after-ms": "10" });
      const { ends, requests } = await answered(t, api, [limited]);
      assert.deepEqual([ends[0].status, ends[0].code], ["error", "model_rate_limit"]);
      assert.equal(requests.length, 3);
    });
  }

  it("of a minute is left to a person", async (t) => {
    for (const [api, limited] of [
      ["openai-chat", failure(429, { error: { message: "Slow down." } }, { "retry-after": "60" })],
      ["gemini", failure(429, GOOGLE(429, "RESOURCE_EXHAUSTED", "Please retry in 48.9s.", retryInfo("48s")))],
    ]) {
      const { ends, requests } = await answered(t, api, [limited, ANSWERS[api].text("At last.")], 1);
      assert.deepEqual([ends[0].code, ends[1].status, ends[1].text], ["model_rate_limit", "done", "At last."]);
      assert.equal(requests.length, 2);
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
  for (const [api, status, body, code] of [...FINAL, ...REFUSED]) {
    it(`is not asked about again: ${code}, ${api}`, async (t) => {
      const { ends, requests } = await answered(t, api, [failure(status, body), ANSWERS[api].text("No.")]);
      assert.deepEqual([ends[0].status, ends[0].code], ["error", code]);
      assert.equal(requests.length, 1);
    });
  }

  for (const [api, status, body, code] of FINAL) {
    it(`is not asked about again although the server says so: ${code}, ${api}`, async (t) => {
      const hopeful = failure(status, body, { "x-should-retry": "true", "retry-after-ms": "10" });
      const { ends, requests } = await answered(t, api, [hopeful, ANSWERS[api].text("No.")]);
      assert.deepEqual([ends[0].status, ends[0].code], ["error", code]);
      assert.equal(requests.length, 1);
    });
  }
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
  for (const api of APIS) {
    it(`that says so in the stream, before anything else, is asked again: ${api}`, async (t) => {
      const overloaded = broken(OVERLOADED[api], ...(api === "anthropic" ? [{ chunks: START }] : []));
      const { ends, requests } = await answered(t, api, [overloaded, ANSWERS[api].text("At last.")]);
      assert.deepEqual([ends[0].status, ends[0].text], ["done", "At last."]);
      assert.equal(requests.length, 2);
      assert.equal(requests[1].body, requests[0].body);
    });

    it(`that says so after half an answer is left to a person, who sees that half: ${api}`, async (t) => {
      const overloaded = broken(OVERLOADED[api], ANSWERS[api].begun("Half a"));
      const { ends, shown, requests } = await answered(t, api, [overloaded]);
      assert.deepEqual([ends[0].status, ends[0].code, shown], ["error", "model_overloaded", "Half a"]);
      assert.equal(requests.length, 1);
    });

    it(`after a tool ran gets the result again, and nothing runs again: ${api}`, async (t) => {
      const busy = failure(
        api === "anthropic" ? 529 : 503,
        { error: { message: "Overloaded" } },
        { "retry-after-ms": "10" },
      );
      const answers = [ANSWERS[api].calls(["look", '{"at":"it"}']), busy, busy, busy, ANSWERS[api].text("At last.")];
      const { ends, runs, requests } = await answered(t, api, answers, 1);
      assert.deepEqual([ends[0].status, ends[0].code], ["error", "model_overloaded"]);
      assert.deepEqual([ends[1].status, ends[1].text, runs], ["done", "At last.", ["look"]]);
      assert.equal(requests.length, 5, "twice more by itself, then once by a person");
      const [, first, ...again] = requests.map(({ body }) => body);
      for (const body of again) assert.equal(body, first, "the same bytes");
      const [result, ...more] = resultsOf(api, first);
      assert.deepEqual([result.text, result.isError, more], ['{"at":"it"}', false, []]);
    });
  }
});

describe("an answer that refuses", () => {
  for (const api of APIS) {
    it(`is an answer, and the end says what it is: ${api}`, async (t) => {
      const { ends, requests } = await answered(t, api, [ANSWERS[api].refusal()]);
      assert.deepEqual([ends[0].status, ends[0].reason], ["done", "refusal"]);
      assert.equal(requests.length, 1);
    });
  }
});

describe("a server that does not let the page in", () => {
  for (const api of ["openai-chat", "gemini"]) {
    it(`gets no message, and the error names both possible reasons: ${api}`, async (t) => {
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
      const { ends } = await send(t, api, { url });
      assert.deepEqual([ends[0].status, ends[0].code], ["error", "model_network_or_cors"]);
      assert.deepEqual(new Set(asked), new Set(["OPTIONS"]));
      assert.ok(asked.length <= 3, "bounded");
    });
  }
});
