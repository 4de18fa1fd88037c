/**
 * A model server that misbehaves: refuses, breaks off, is late, or cannot be reached. It is scripted; what it received is
 * checked in its recorded bytes.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { calls, event, failure, lastResults, play as playIn, stream, text } from "./scripted.mjs";

const FAILED_REQUEST = /Failed to load resource|net::ERR/;

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (...given) => playIn(browser, ...given);

describe("a server that misbehaves", () => {
  const cases = {
    "says 401": [
      [failure(401, '{"error":{"message":"Incorrect API key","code":"invalid_api_key"}}')],
      1,
      "model_auth",
      /Incorrect API key/,
    ],
    "says 400": [[failure(400, '{"error":{"message":"Unknown field"}}')], 1, "model_bad_request", /Unknown field/],
    "says 500 for ever": [Array.from({ length: 9 }, () => failure(500, "{}")), 3, "model_overloaded", /500/],
    "gives a page with 200": [
      [failure(200, "<!doctype html><title>Sign in</title>", "text/html")],
      1,
      "model_bad_response",
      /Sign in/,
    ],
    "gives nothing with 200": [[stream()], 1, "model_bad_response", /./],
    "breaks off in a text": [[stream(event({ content: "Half a" }))], 1, "model_truncated", /broke off/],
  };
  for (const [name, [answers, posts, code, message]] of Object.entries(cases)) {
    it(`${name}: an error with a sentence, bounded posts, and a chat that stays usable`, async (t) => {
      const { told, requests } = await play(
        t,
        answers,
        async ({ agentOf }) => {
          const chat = await agentOf().open("c");
          const first = await chat.send("Hello.");
          const posts = performance.getEntriesByType("resource").length;
          return { first, posts };
        },
        { expected: FAILED_REQUEST },
      );
      assert.equal(told.first.status, "error");
      assert.equal(told.first.error.code, code);
      assert.match(told.first.error.message, message);
      assert.equal(requests.length, posts);
    });
  }

  it("cuts a turn in its call: nothing of it runs, and a second cut ends the run", async (t) => {
    const cut = stream(
      event({ tool_calls: [{ index: 0, id: "a", function: { name: "look", arguments: '{"a":1}' } }] }),
    );
    const { told, requests } = await play(t, [cut, cut], async ({ agentOf, make, runs }) => {
      const chat = await agentOf({ tools: [make("look", { effect: "read" })] }).open("c");
      return { ...(await chat.send("Look.")), runs };
    });
    assert.deepEqual([told.status, told.reason, told.runs], ["stopped", "repeated_cut_turn", []]);
    assert.equal(requests.length, 2);
    assert.match(lastResults(requests)[0], /^Error: turn_truncated\. /);
  });

  it("answers once more after a passing failure, and after a person's retry; no tool runs twice", async (t) => {
    const answers = [calls(["look", "{}"]), failure(503, "{}"), failure(400, "{}"), text("At last.")];
    const { told, requests } = await play(
      t,
      answers,
      async ({ agentOf, make, runs }) => {
        const chat = await agentOf({ tools: [make("look", { effect: "read" })] }).open("c");
        const first = await chat.send("Look.");
        return { first: first.status, end: await chat.retry(), runs };
      },
      { expected: FAILED_REQUEST },
    );
    assert.deepEqual([told.first, told.end.status, told.end.text, told.runs], ["error", "done", "At last.", ["look"]]);
    assert.equal(requests.length, 4);
  });

  it("does not answer in time: the request is given up, and says so", async (t) => {
    const slow = {
      status: 200,
      contentType: "text/event-stream",
      chunks: (async function* () {
        yield event({ content: "Half a" });
        await new Promise((done) => setTimeout(done, 3_000).unref());
      })(),
    };
    const { told } = await play(t, [slow], async ({ agentOf }) => {
      const chat = await agentOf({ timeouts: { idleMs: 80 } }).open("c");
      const first = await chat.send("Hello.");
      return { first, shown: chat.snapshot().messages.at(-1).text };
    });
    assert.deepEqual([told.first.status, told.first.error.code, told.shown], ["error", "model_timeout", "Half a"]);
  });

  it("gets the headers in whatever form they are given, and none that is undefined", async (t) => {
    const { told } = await play(t, [], async ({ agentOf, openaiChat }) => {
      const forms = [
        new Headers({ Authorization: "k" }),
        () => new Headers({ authorization: "k" }),
        { AUTHORIZATION: "k", "x-no": undefined },
      ];
      const seen = [];
      for (const headers of forms) {
        const fetch = async (_, init) => {
          seen.push(init.headers);
          return new Response("data: [DONE]\n\n");
        };
        const model = openaiChat({ baseUrl: "/v1", model: "m", headers, fetch });
        await (await agentOf({ model, timeouts: { firstByteMs: 2 ** 33 } }).open("c")).send("Hello.");
      }
      return seen;
    });
    const all = { "content-type": "application/json", accept: "text/event-stream", authorization: "k" };
    assert.deepEqual(told, [all, all, all]);
  });

  it("cannot be reached, or the headers cannot be made: an error that says what to check", async (t) => {
    const { told } = await play(
      t,
      [],
      async ({ agentOf, openaiChat }) => {
        const model = (more) => openaiChat({ baseUrl: "http://127.0.0.1:9/v1", model: "m", ...more });
        const gone = await (await agentOf({ model: model() }).open("c")).send("Hello.");
        const headers = async () => {
          throw new Error("no token");
        };
        const keyless = await (await agentOf({ model: model({ headers }) }).open("c")).send("Hello.");
        return { gone: gone.error, keyless: keyless.error };
      },
      { expected: /./ },
    );
    assert.equal(told.gone.code, "model_network_or_cors");
    assert.match(told.gone.message, /CORS/);
    assert.deepEqual(told.keyless, {
      code: "model_auth",
      message: "The headers for the model request failed: no token.",
    });
  });
});
