/** A chat that ended by itself, since the store no longer has it or cannot be read: what `open(id)` gives after that. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { obedient, play } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** How a page comes to know that the log is gone, when nobody announced it. */
const FINDS = {
  "by sending": ["send", "more"],
  "by deciding": ["decide", '["eat","{}"]'],
  "by stopping": ["stop", '["eat","{}"]'],
};

/** Loses the log of an open chat, has the page find that out, and goes on with what `open(id)` gives. */
async function lose(kit) {
  const [way, message] = kit.given;
  const inner = kit.memoryStore();
  const store = { ...inner };
  const agent = kit.agentOf({ store, tools: [kit.make("eat")] });
  const chat = await agent.open("c");
  await chat.send(message.startsWith("[") ? `[${message}]` : message);
  const [request] = chat.snapshot().requests;
  await inner.delete("c");
  const act = {
    send: () => chat.send("more"),
    decide: () => chat.decide(request.id, { approve: true, by: "ada" }),
    stop: () => chat.stop(),
  };
  const code = (work) => kit.rejection(work).then((rejection) => rejection?.code ?? null);
  const found = await code(act[way]);
  const again = await agent.open("c");
  const before = again.snapshot();
  const both = await Promise.all([agent.open("c"), agent.open("c")]);
  const { status, text } = await again.send("hello");
  return {
    found,
    isAnother: again !== chat,
    isOne: both.every((other) => other === again),
    before: [before.status, before.messages.length, before.requests.length],
    after: [status, text],
    old: await code(() => chat.send("more")),
    runs: kit.runs,
  };
}

describe("a chat that ended by itself", () => {
  for (const [how, given] of Object.entries(FINDS)) {
    it(`boundary/storage: is another, new one to the next open(id) when its end was found ${how}`, async (t) => {
      const { told } = await play(browser, t, obedient, lose, { given });
      assert.deepEqual(told, {
        found: "deleted",
        isAnother: true,
        isOne: true,
        before: ["idle", 0, 0],
        after: ["done", "The end."],
        old: "deleted",
        runs: [],
      });
    });
  }

  it("boundary/storage: shows what was stored last, though nobody had looked", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const store = kit.memoryStore();
      const agent = kit.agentOf({ store, tools: [kit.make("eat")] });
      const chat = await agent.open("c");
      await chat.send(kit.order(["eat", "{}"]));
      await store.delete("c");
      const refused = await kit.rejection(() => chat.stop());
      const { status, requests, durable, ended } = chat.snapshot();
      return [refused.code, status, requests.length, durable, ended.code, kit.runs];
    });
    assert.deepEqual(told, ["deleted", "pending", 1, false, "deleted", []]);
  });

  it("boundary/storage: is opened again once a store that could not be read can be", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const inner = kit.memoryStore();
      let broken = false;
      const fail = async () => {
        throw new kit.CountersignError("storage", "The disk is away.");
      };
      const store = {
        ...inner,
        load: (...given) => (broken ? fail() : inner.load(...given)),
        append: (...given) => (broken ? fail() : inner.append(...given)),
      };
      const agent = kit.agentOf({ store });
      const chat = await agent.open("c");
      await chat.send("one");
      broken = true;
      const code = (work) => kit.rejection(work).then((rejection) => rejection?.code ?? null);
      const codes = [await code(() => chat.send("two")), await code(() => agent.open("c"))];
      broken = false;
      const again = await agent.open("c");
      const { status } = await again.send("three");
      return { codes, status, said: again.snapshot().messages.map(({ type }) => type), isAnother: again !== chat };
    });
    assert.deepEqual(told, {
      codes: ["storage", "storage"],
      status: "done",
      said: ["user", "assistant", "user", "assistant"],
      isAnother: true,
    });
  });

  it("makes room for a log that is imported", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const store = kit.memoryStore();
      const agent = kit.agentOf({ store });
      const chat = await agent.open("c");
      await chat.send("one");
      const log = await agent.exportLog("c");
      await store.delete("c");
      const { code } = await kit.rejection(() => chat.send("two"));
      const again = await agent.import(log);
      return { code, messages: again.snapshot().messages.length, status: (await again.send("three")).status };
    });
    assert.deepEqual(told, { code: "deleted", messages: 2, status: "done" });
  });

  it("stays ended where its agent was disposed, whose open(id) says so", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const agent = kit.agentOf();
      await agent.open("c");
      agent.dispose();
      const code = (work) => kit.rejection(work).then((rejection) => rejection?.code ?? null);
      return [
        await code(() => agent.open("c")),
        await code(() => agent.open("d")),
        await code(() => agent.import("x")),
      ];
    });
    assert.deepEqual(told, ["disposed", "disposed", "disposed"]);
  });
});
