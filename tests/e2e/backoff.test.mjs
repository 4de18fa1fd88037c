/** How long a model request that failed waits before it is made again: chance spreads pages that failed together. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { failure, play, text } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const busy = (message) => failure(503, JSON.stringify({ error: { message } }));
const hinted = failure(429, '{"error":{"code":"rate_limit_exceeded","message":"Please try again in 40ms."}}');

/** The model's answers, what chance says, and how long is waited then, in milliseconds. */
const CASES = {
  "half of it, doubled the second time": [[busy("a"), busy("b")], 0.5, [250, 500]],
  "next to nothing": [[busy("a"), busy("b")], 0, [0, 0]],
  "nearly all of it": [[busy("a"), busy("b")], 0.999, [499, 999]],
  "never less than the server asks for": [[hinted, hinted], 0, [40, 40]],
  "a part on top of what the server asks for": [[hinted, hinted], 0.5, [290, 540]],
};

describe("a request that is made again waits", () => {
  for (const [what, [answers, chance, waits]] of Object.entries(CASES)) {
    it(what, async (t) => {
      const { told } = await play(
        browser,
        t,
        [...answers, text("At last.")],
        async (kit) => {
          const { setTimeout } = window;
          const waits = [];
          const chat = await kit.agentOf().open("c");
          Math.random = () => kit.given;
          window.setTimeout = (run, wait = 0) => {
            // Longer ones are the limits of requests, and 100 is how often a card looks whether it can be seen.
            if (wait > 5_000 || wait === 100) return setTimeout(run, wait);
            waits.push(wait);
            return setTimeout(run);
          };
          const { status } = await chat.send("one");
          return { status, waits: waits.slice(0, 2) };
        },
        { given: chance, expected: /503|429/ },
      );
      assert.deepEqual(told, { status: "done", waits });
    });
  }
});
