/** What a snapshot shows in the tick in which a page's own code began something: what was begun, and nothing decided. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { failure, obedient, play, text } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("directly after the call that begins it, a snapshot shows", () => {
  it("the message that was sent, and that the run is at work; whoever listens is told", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const chat = await kit.agentOf().open("c");
      await chat.send("one");
      const seen = [];
      chat.subscribe(() => seen.push(chat.snapshot()));
      const before = chat.snapshot();
      const sent = chat.send("two");
      const now = chat.snapshot();
      const isSame = now === chat.snapshot() && seen[0] === now;
      const events = chat.events();
      await sent;
      const said = ({ messages }) => messages.map(({ type, text }) => [type, text]);
      const first = await events.next();
      return {
        before: [before.status, said(before).length],
        now: [now.status, now.text, said(now)],
        isSame,
        isFrozen: Object.isFrozen(now) && Object.isFrozen(now.messages.at(-1)),
        after: [chat.snapshot().status, said(chat.snapshot()).length],
        id: chat.snapshot().messages[2].id === now.messages[2].id,
        event: [first.value.type, first.value.message?.text],
      };
    });
    assert.deepEqual(told, {
      before: ["done", 2],
      now: [
        "running",
        "",
        [
          ["user", "one"],
          ["assistant", "The end."],
          ["user", "two"],
        ],
      ],
      isSame: true,
      isFrozen: true,
      after: ["done", 4],
      id: true,
      event: ["message", "two"],
    });
  });

  it("that nothing waits any longer where a message supersedes it, and no call as settled", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const chat = await kit.agentOf({ tools: [kit.make("eat")] }).open("c");
      await chat.send(kit.order(["eat", "{}"], ["eat", '{"n":2}']));
      const [first] = chat.snapshot().requests;
      const decided = chat.decide(first.id, { approve: false, by: "ada" });
      const asked = chat.snapshot();
      const sent = chat.send("never mind");
      const now = chat.snapshot();
      await Promise.all([decided, sent]);
      const outcomes = ({ messages }) =>
        messages[1].calls.map(({ outcome, decision }) => [outcome, decision?.approved]);
      return {
        asked: [asked.status, asked.requests.length, outcomes(asked)],
        now: [now.status, now.requests.length, outcomes(now), now.messages.at(-1).text],
        after: outcomes(chat.snapshot()),
      };
    });
    const none = [null, null];
    const plain = (rows) => rows.map((row) => row.map((value) => value ?? null));
    assert.deepEqual([told.asked[0], told.asked[1], plain(told.asked[2])], ["pending", 2, [none, none]]);
    assert.deepEqual([told.now[0], told.now[1], plain(told.now[2])], ["running", 0, [none, none]]);
    assert.equal(told.now[3], "never mind");
    assert.deepEqual(
      told.after.map(([outcome]) => outcome),
      ["approval_denied", "approval_superseded"],
    );
  });

  it("a run that goes on as running", async (t) => {
    const model = [failure(400, '{"error":{"message":"No."}}'), text("At last.")];
    const { told } = await play(
      browser,
      t,
      model,
      async (kit) => {
        const chat = await kit.agentOf().open("c");
        await chat.send("one");
        const before = chat.snapshot();
        const again = chat.retry();
        const now = chat.snapshot();
        const { status } = await again;
        return [before.status, before.error.code, now.status, "error" in now, now.messages.length, status];
      },
      { expected: /400/ },
    );
    assert.deepEqual(told, ["error", "model_bad_request", "running", false, 2, "done"]);
  });

  it("nothing of it any more once it could not be stored", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const inner = kit.memoryStore();
      let isFull = false;
      const store = {
        ...inner,
        append: async (...given) => {
          if (isFull) throw new kit.CountersignError("storage", "The disk is full.");
          return inner.append(...given);
        },
      };
      const chat = await kit.agentOf({ store }).open("c");
      await chat.send("one");
      isFull = true;
      const sent = kit.rejection(() => chat.send("two"));
      await null;
      const now = chat.snapshot();
      const { code } = await sent;
      const after = chat.snapshot();
      isFull = false;
      await chat.send("three");
      const said = chat.snapshot().messages.map(({ text }) => text);
      return { now: [now.status, now.messages.length], code, after: [after.status, after.messages.length], said };
    });
    assert.deepEqual(told, {
      now: ["running", 3],
      code: "storage",
      after: ["done", 2],
      said: ["one", "The end.", "three", "The end."],
    });
  });
});
