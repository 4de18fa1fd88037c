/** A module that traps: at whatever step, the chat is taken anew from the store and nothing runs twice. */
import assert from "node:assert/strict";
import { it } from "node:test";
import { inEachBrowser } from "./boundary.mjs";
import { openTab, serve, WHOLE, waitFor } from "./browsers.mjs";
import { armedButton, click, count, rests, text } from "./cards.mjs";
import { checkHistories, obedient } from "./scripted.mjs";

/** How many steps are tried, spread over a whole run. Each has a module of its own, and Chromium takes about sixty. */
const SAMPLES = WHOLE ? 40 : 16;

/** Has the module trap in the call that `window.left` counts down to, also once it was started anew. */
function countDown() {
  window.left = Number.POSITIVE_INFINITY;
  const watched = ({ exports }) => {
    const calls = Object.entries(exports).map(([name, value]) => {
      const call = (...values) => {
        window.left -= 1;
        if (window.left === 0) throw new WebAssembly.RuntimeError("unreachable");
        return value(...values);
      };
      return [name, typeof value === "function" ? call : value];
    });
    return { exports: Object.fromEntries(calls) };
  };
  const { instantiateStreaming, Instance } = WebAssembly;
  WebAssembly.instantiateStreaming = async (...args) => {
    const { instance, module } = await instantiateStreaming.call(WebAssembly, ...args);
    return { instance: watched(instance), module };
  };
  WebAssembly.Instance = new Proxy(Instance, { construct: (Own, args) => watched(new Own(...args)) });
}

inEachBrowser(({ open, context }) => {
  it("boundary/trap: a trap as its element is moved leaves one card, which works", async (t) => {
    const site = await serve(t, { model: obedient });
    const expected = /RuntimeError|unreachable|The wasm module stopped/;
    const page = await openTab(await context(t), t, `${site.url}/test/`, countDown, expected);
    await page.setViewport({ width: 800, height: 1400 });
    await page.evaluate(async () => {
      await window.ready;
      const { kit } = await import("/test/kit.mjs");
      const { agentOf, make, order } = kit();
      const chat = await agentOf({ tools: [make("eat")] }).open("c");
      window.rig = { chat };
      document.querySelector("countersign-approvals").chat = chat;
      await chat.send(order(["eat", "{}"]));
    });
    const move = (left) =>
      page.evaluate((left) => {
        window.left = left;
        const element = document.querySelector("countersign-approvals");
        const place = element.parentNode;
        element.remove();
        place.append(element);
        const used = left - window.left;
        window.left = Number.POSITIVE_INFINITY;
        return used;
      }, left);
    await armedButton(page, "deny");
    const used = await move(1e9);
    assert.ok(used > 100, `${used} calls into the module`);
    // A module is started anew five times at most.
    for (const part of [1 / used, 0.25, 0.5, 0.75, 1]) {
      await armedButton(page, "deny");
      await move(Math.ceil(used * part));
      await waitFor(page, () => window.rig.chat.isHere());
      await text(page, "[part=title]", /./);
      assert.deepEqual([await count(page, "[part=card]"), await count(page, ".list")], [1, 1], `at ${part} of ${used}`);
    }
    await click(page, "deny");
    await rests(page);
  });

  it("boundary/trap: a trap at any step of a run loses nothing that was stored, and runs no call twice", async (t) => {
    const expected = /RuntimeError|unreachable|The wasm module stopped/;
    const { site, play } = await open(t, { model: obedient, expected });
    const told = await play(async ({ order, given }) => {
      // Every call into the module counts down; at zero it traps instead.
      let left = Number.POSITIVE_INFINITY;
      const instantiate = WebAssembly.instantiateStreaming;
      WebAssembly.instantiateStreaming = async (...args) => {
        const { instance, module } = await instantiate.call(WebAssembly, ...args);
        const exports = Object.entries(instance.exports).map(([name, value]) => {
          if (typeof value !== "function") return [name, value];
          const call = (...values) => {
            left -= 1;
            if (left === 0) throw new WebAssembly.RuntimeError("unreachable");
            return value(...values);
          };
          return [name, call];
        });
        return { instance: { exports: Object.fromEntries(exports) }, module };
      };
      const turn = () => new Promise((next) => setTimeout(next));

      /** A whole run with a trap after so many calls. Every step is made again until the run has ended. */
      async function run(steps, copy) {
        const library = await import(`/dist/index.js?copy=${copy}`);
        await library.init();
        let [runs, executed] = [0, 0];
        const eat = library.tool({
          name: "eat",
          inputSchema: { type: "object" },
          run: () => {
            runs += 1;
            executed = steps - left;
            return "eaten";
          },
        });
        const store = library.memoryStore();
        const model = library.openaiChat({ baseUrl: "/v1", model: "m" });
        const agent = library.createAgent({ user: { id: "ada" }, model, tools: [eat], store });
        const chat = await agent.open("c");
        const errors = [];
        const attempt = (work) =>
          Promise.resolve()
            .then(work)
            .catch(({ code }) => errors.push(code));
        left = steps;
        for (let round = 0; round < 3000; round += 1) {
          const { status, messages, requests } = chat.snapshot();
          if (status === "idle") await attempt(() => chat.send(order(["eat", "{}"])));
          if (status === "interrupted" || status === "error") await attempt(() => chat.resume());
          for (const { id, kind } of status === "pending" ? requests : []) {
            await attempt(async () => {
              const { continuation } = await chat.decide(id, { approve: kind === "approval", by: "ada" });
              await continuation;
            });
          }
          if (status === "done") {
            const calls = messages.flatMap((message) => message.calls ?? []);
            const used = steps - left;
            left = Number.POSITIVE_INFINITY;
            const outcomes = calls.map(({ outcome = "result" }) => outcome);
            return {
              runs,
              outcomes,
              errors: [...new Set(errors)],
              used,
              executed,
              users: messages.filter(({ type }) => type === "user").length,
            };
          }
          await turn();
        }
        return { stuck: chat.snapshot().status, errors };
      }

      const whole = await run(1e9, "whole");
      const found = [];
      const spread = Array.from({ length: given }, (_, sample) => Math.ceil((whole.used * (sample + 1)) / given));
      // And closely around the tool's own execution, which is over soon.
      const close = Array.from({ length: 8 }, (_, sample) => whole.executed + sample - 2);
      for (const at of new Set([...spread, ...close])) found.push({ at, ...(await run(at, `${at}`)) });
      WebAssembly.instantiateStreaming = instantiate;
      return { whole, found };
    }, SAMPLES);
    const { used, executed: _, ...whole } = told.whole;
    assert.deepEqual(whole, { runs: 1, outcomes: ["result"], errors: [], users: 1 });
    assert.ok(used > 100, `${used} calls into the module`);
    for (const { at, runs, outcomes, errors, stuck, users } of told.found) {
      const step = `at call ${at} of ${used}`;
      assert.equal(stuck, undefined, step);
      assert.equal(users, 1, step);
      assert.ok(runs <= 1, step);
      assert.equal(outcomes.length, 1, step);
      // It ran and its result was stored, or it may have run and the model is told that nobody knows.
      assert.equal(outcomes[0], runs === 1 && outcomes[0] === "result" ? "result" : "outcome_unknown", step);
      assert.ok(
        errors.every((code) => code === "aborted"),
        `${step}: ${errors}`,
      );
    }
    assert.ok(
      told.found.some(({ outcomes }) => outcomes[0] === "outcome_unknown"),
      "some trap fell into the execution",
    );
    checkHistories(site.requests);
  });
});
