/** The host's own answers to requests, by the option `waitFor`: inline, late, wrong, or never. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { obedient, play as playIn } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const play = (t, script, given, expected) => playIn(browser, t, obedient, script, { given, expected });

/** What a host's `waitFor` does. */
const ANSWERS = {
  answers: (request) => ({ id: request.id, ok: true, by: "policy" }),
  "answers later": async (request) => {
    await new Promise((wake) => setTimeout(wake));
    return { id: request.id, ok: false, reason: "declined" };
  },
  "resolves with null": async () => null,
  "resolves with nothing": () => {},
  "never settles": () => new Promise(() => {}),
  rejects: async () => {
    throw new Error("no");
  },
  throws: () => {
    throw new Error("no");
  },
  "answers another id": () => ({ id: "another", ok: true }),
  "answers in a wrong shape": (request) => ({ id: request.id, ok: "yes" }),
  "answers with a reason that is no string": (request) => ({ id: request.id, ok: false, reason: 7 }),
};

describe("waitFor", () => {
  const REPORTED = new Set([
    "rejects",
    "throws",
    "answers another id",
    "answers in a wrong shape",
    "answers with a reason that is no string",
  ]);

  for (const [what, waitFor] of Object.entries(ANSWERS)) {
    it(`${what}: ${what.startsWith("answers later") || what === "answers" ? "that decides" : "that decides nothing"}`, async (t) => {
      const { told } = await play(
        t,
        async ({ agentOf, make, order, runs, lastCalls, until, given }) => {
          const reported = [];
          addEventListener("error", (event) => {
            event.preventDefault();
            reported.push(event.message);
          });
          const asked = [];
          // biome-ignore lint/security/noGlobalEval: the test's own function, as text.
          const waitFor = globalThis.eval(given.source);
          const agent = agentOf({
            tools: [make("eat")],
            waitFor: (request) => {
              asked.push(request);
              return waitFor(request);
            },
          });
          const chat = await agent.open("c");
          const sent = await chat.send(order(["eat", "{}"]));
          if (given.decides) await until(chat, ({ status }) => status === "done");
          await new Promise((wake) => setTimeout(wake, 50));
          const stood = chat.snapshot().status;
          if (!given.decides) {
            const [{ id }] = chat.snapshot().requests;
            await (await chat.decide(id, { approve: true, by: "ada" })).continuation;
          }
          return { asked, reported, sent, stood, call: lastCalls(chat)[0], runs };
        },
        { source: `(${waitFor})`, decides: what === "answers" || what === "answers later" },
      );
      assert.equal(told.asked.length, 1, "asked once");
      assert.equal(told.asked[0].kind, "approval");
      assert.equal(told.reported.length, REPORTED.has(what) ? 1 : 0, told.reported.join());
      if (what === "answers") {
        assert.deepEqual(
          [told.call.decision.via, told.call.decision.settler, told.runs],
          ["waitFor", "policy", ["eat"]],
        );
      } else if (what === "answers later") {
        assert.deepEqual([told.call.decision.via, told.call.outcome, told.runs], ["waitFor", "approval_denied", []]);
      } else {
        assert.deepEqual([told.stood, told.call.decision.via, told.runs], ["pending", "api", ["eat"]]);
      }
    });
  }

  it("that comes after a stop or another answer settles nothing", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, order, runs, lastCalls }) => {
      const reported = [];
      addEventListener("error", (event) => reported.push(event.message));
      const late = [];
      const agent = agentOf({
        tools: [make("eat")],
        waitFor: ({ id }) => new Promise((settle) => late.push(() => settle({ id, ok: true }))),
      });
      const chat = await agent.open("c");
      await chat.send(order(["eat", "{}"]));
      await chat.stop();
      await chat.send(order(["eat", '{"n":2}']));
      const [{ id }] = chat.snapshot().requests;
      await (await chat.decide(id, { approve: false, by: "ada" })).continuation;
      const before = await agent.exportLog("c");
      for (const answer of late) answer();
      await new Promise((wake) => setTimeout(wake, 50));
      return {
        asked: late.length,
        runs,
        reported,
        untouched: before === (await agent.exportLog("c")),
        calls: lastCalls(chat),
      };
    });
    assert.deepEqual([told.asked, told.runs, told.reported, told.untouched], [2, [], [], true]);
    assert.equal(told.calls[0].outcome, "approval_denied");
  });
});
