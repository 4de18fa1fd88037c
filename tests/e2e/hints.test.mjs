/** What an agent makes of hints about a chat: it looks into the store for what others wrote, and not for what it wrote. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch } from "./harness.mjs";
import { obedient, play } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("a hint", () => {
  it("of an agent's own write is no reason to read, another's is", async (t) => {
    const { told } = await play(browser, t, obedient, async (kit) => {
      const inner = { ...kit.memoryStore(), name: "shared" };
      /** The store, and how often the chat was read through it. */
      const counted = () => {
        const reads = [];
        const load = (chat, from) => {
          if (chat === "c") reads.push(from ?? 0);
          return inner.load(chat, from);
        };
        return { reads, store: { ...inner, load } };
      };
      /** Resolves once all that was announced before was heard, and followed. */
      const heard = async () => {
        const [from, to] = [0, 1].map(() => new BroadcastChannel("countersign:shared"));
        const arrived = new Promise((done) => to.addEventListener("message", done));
        from.postMessage(null);
        await arrived;
        for (const channel of [from, to]) channel.close();
        // What a hint leads to goes on in tasks of its own.
        for (let turn = 0; turn < 20; turn++) await new Promise((next) => setTimeout(next));
      };
      const [one, two] = [counted(), counted()];
      const tools = [kit.make("eat")];
      const chat = await kit.agentOf({ store: one.store, tools }).open("c");
      await heard();
      const before = one.reads.length;
      await chat.send("one");
      await heard();
      await chat.send(kit.order(["eat", "{}"]));
      await heard();
      await (await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" })).continuation;
      await heard();
      const own = one.reads.length - before;

      const other = await kit.agentOf({ store: two.store, tools }).open("c");
      await chat.send("two");
      await kit.until(other, ({ messages, status }) => status === "done" && messages.length === 7);
      return { own, others: two.reads.length > 1 };
    });
    // Whoever begins to work looks once whether it was the first.
    assert.deepEqual(told, { own: 3, others: true });
  });
});
