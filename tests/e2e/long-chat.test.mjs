/** A long chat opens by the projection kept beside its log, and nobody can tell by anything but the time it takes. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, messagesOf } from "./harness.mjs";
import { longLog } from "./long-log.mjs";
import { checkHistories, obedient, play as playIn } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** How many of 10,000 events are in the projection: whole runs. */
const KEPT = 9_920;

const lines = longLog("long", 10_000);
const play = (t, script, given = { lines, KEPT }) => playIn(browser, t, obedient, script, { given });

describe("a chat of 10,000 events", () => {
  it("opens by what is kept and the events behind that, and goes on as by all its events", async (t) => {
    const { told, requests } = await play(t, async ({ agentOf, indexedDBStore, make, order, given }) => {
      const { lines, KEPT } = given;
      const store = indexedDBStore("long");
      const tools = [make("eat", { title: "Eat" })];
      await store.append("long", 0, lines.slice(0, KEPT), "");
      const first = agentOf({ store, tools });
      await first.open("long");
      let kept;
      while (!kept) kept = await store.loadSnapshot("long");
      first.dispose();
      await store.append("long", KEPT, lines.slice(KEPT), "");

      // A store of two methods has only the log. Both are opened before either goes on.
      const plain = indexedDBStore("plain");
      await plain.append("long", 0, lines, "");
      const seen = { kept: { store, from: [] }, full: { store: plain, from: [] } };
      for (const view of Object.values(seen)) {
        const { store } = view;
        const { append, saveSnapshot, loadSnapshot } = store;
        const load = (chat, from) => view.from.push(from) && store.load(chat, from);
        const more = store === plain ? {} : { saveSnapshot, loadSnapshot };
        view.chat = await agentOf({ store: { load, append, ...more }, tools }).open("long");
        // The last line is read once more, to see whether anybody wrote meanwhile.
        view.opened = view.from.filter((place) => place < lines.length - 1);
        view.before = JSON.stringify(view.chat.snapshot());
      }
      for (const view of Object.values(seen)) {
        await view.chat.send(order(["eat", '{"page":1}']));
        const [request] = view.chat.snapshot().requests;
        view.run = await (await view.chat.decide(request.id, { approve: true, by: "ada" })).continuation;
        view.count = view.chat.snapshot().messages.length;
      }
      const views = Object.entries(seen).map(([what, { chat, store, ...view }]) => [what, view]);
      return { seq: kept.seq, text: kept.text.length, ...Object.fromEntries(views) };
    });
    assert.equal(told.seq, KEPT);
    assert.deepEqual(told.full.opened, [0]);
    assert.deepEqual(told.kept.opened, [KEPT - 1], "of what is kept one line is read, to see that it fits");
    assert.equal(told.kept.before, told.full.before);
    assert.equal(JSON.parse(told.kept.before).messages.length, 3_750);
    assert.match(told.kept.before, /"title":"Eat"/);
    assert.deepEqual([told.kept.run, told.kept.count], [told.full.run, told.full.count]);
    assert.equal(told.kept.run.status, "done");

    const [first, second, ...others] = requests;
    assert.equal(others.length, 2);
    assert.ok(first.body === others[0].body, "the first request, byte for byte");
    assert.ok(second.body === others[1].body, "and the one after the decision");
    assert.equal(messagesOf(first).length, 1_250 * 4 + 1);
    checkHistories(requests);
  });

  it("is drawn anew where tools are called otherwise", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, memoryStore, given }) => {
      const store = memoryStore();
      await store.append("long", 0, given.lines, "");
      const open = (title) => agentOf({ store, tools: [make("eat", { title })] }).open("long");
      const one = (await open("Eat")).snapshot();
      while (!(await store.loadSnapshot("long"))) await new Promise((next) => setTimeout(next));
      const two = (await open("Devour")).snapshot();
      return [JSON.stringify(one).replaceAll("Eat", "Devour") === JSON.stringify(two), two.messages[1].calls[0].title];
    });
    assert.deepEqual(told, [true, "Devour"]);
  });

  it("opens by all its events where what is kept does not fit, and keeps that", async (t) => {
    const { told } = await play(t, async ({ agentOf, given }) => {
      const { lines, KEPT } = given;
      /** A log of these lines, opened where this is kept beside it. */
      const opened = async (log, text) => {
        const [from, saved] = [[], []];
        const store = {
          load: async (_, first = 0) => from.push(first) && log.slice(first),
          append: async () => {},
          saveSnapshot: async (_, seq, text) => saved.push([seq, text]),
          loadSnapshot: async () => {
            if (text instanceof Error) throw text;
            return text && { seq: KEPT, text };
          },
        };
        const chat = await agentOf({ store }).open("long");
        const drawn = JSON.stringify(chat.snapshot());
        while (text === undefined && saved.length === 0) await new Promise((next) => setTimeout(next));
        return { drawn, from: from.filter((place) => place < log.length - 1), text: saved[0]?.[1] };
      };
      const { text } = await opened(lines.slice(0, KEPT));
      const other = (line) => line.replace(/"hash":"../, '"hash":"ff');
      const found = {};
      const cases = {
        fits: [lines, text],
        "no text": [lines, 7],
        "another text": [lines, "{}"],
        "a spoiled text": [lines, text.replace("Give page 70 the", "Give page 71 the")],
        "half a text": [lines, text.slice(0, text.length / 2)],
        "another chat's": [lines, text.replace('"chat":"long"', '"chat":"gone"')],
        "a store that fails": [lines, new Error("no")],
        "a shorter log": [lines.slice(0, KEPT - 400), text],
        "one event less": [lines.slice(0, KEPT - 1), text],
        "another log": [[...lines.slice(0, KEPT - 1), other(lines[KEPT - 1]), ...lines.slice(KEPT)], text],
      };
      for (const [what, [log, text]] of Object.entries(cases)) {
        const { drawn, from } = await opened(log, text);
        const all = await opened(log, null);
        found[what] = { same: drawn === all.drawn, from };
      }
      return found;
    });
    assert.deepEqual(told.fits, { same: true, from: [KEPT - 1] });
    for (const [what, { same, from }] of Object.entries(told)) {
      assert.equal(same, true, what);
      if (what !== "fits") assert.equal(from.includes(0), true, what);
    }
  });
});

describe("what is kept", () => {
  it("goes on the chain of hashes where it stands", async (t) => {
    const { told } = await play(t, async ({ agentOf, make, memoryStore, order, verifyLog }) => {
      const store = memoryStore();
      const tools = [make("eat", { effect: "read" })];
      const agent = agentOf({ store, tools });
      const chat = await agent.open("c");
      for (let run = 0; run < 45; run++) await chat.send(order(["eat", `{"run":${run}}`]));
      let kept;
      while (!kept) {
        await new Promise((next) => setTimeout(next));
        kept = await store.loadSnapshot("c");
      }
      const { length } = await store.load("c");
      const from = [];
      const load = (chat, first) => from.push(first) && store.load(chat, first);
      const again = await agentOf({ store: { ...store, load }, tools }).open("c");
      const same = JSON.stringify(again.snapshot()) === JSON.stringify(chat.snapshot());
      await again.send("And now?");
      return { seq: kept.seq, length, from, same, check: verifyLog(await again.export({ privacy: "full" })) };
    });
    assert.ok(told.seq >= 256 && told.seq <= told.length, `${told.seq} of ${told.length}`);
    assert.equal(told.from[0], told.seq - 1);
    assert.equal(told.same, true);
    assert.equal(told.check.valid, true, told.check.problem);
    assert.ok(told.check.events > told.length);
  });

  it("never holds what was cleared, though a page was not told of the clearing", async (t) => {
    // One run short of what makes a page keep its projection.
    const given = { lines: longLog("c", 248) };
    const script = async ({ agentOf, make, memoryStore, order, given }) => {
      const kept = memoryStore();
      await kept.append("c", 0, given.lines, "");
      const saved = [];
      const saveSnapshot = (chat, seq, text) => saved.push(text) && kept.saveSnapshot(chat, seq, text);
      const tools = [make("eat", { effect: "read" })];
      // Two stores over the same chats: pages that cannot speak to each other.
      const open = () => agentOf({ store: { ...kept, saveSnapshot }, tools }).open("c");
      const [deaf, other] = [await open(), await open()];
      await other.clear();
      const shown = deaf.snapshot().messages[0].text;
      await deaf.send(order(["eat", "{}"], ["eat", "{}"], ["eat", "{}"]));
      while (saved.length === 0) await new Promise((next) => setTimeout(next));
      return { shown, saved, cleared: deaf.snapshot().messages[0].cleared, last: deaf.snapshot().messages.at(-1).text };
    };
    const { told } = await play(t, script, given);
    assert.match(told.shown, /Give page 1/);
    assert.equal(told.cleared, true, "the page that was not told finds out");
    assert.equal(told.saved.length, 1);
    assert.doesNotMatch(told.saved[0], /Give page|new title/);
    assert.equal(told.last, "The end.");
  });

  it("is gone with a clearing, and kept anew without what was cleared", async (t) => {
    const script = async ({ agentOf, memoryStore, given }) => {
      const store = memoryStore();
      await store.append("c", 0, given.lines, "");
      const agent = agentOf({ store });
      const chat = await agent.open("c");
      const kept = async (test) => {
        for (;;) {
          const found = await store.loadSnapshot("c");
          if (found && test(found.text)) return found.text;
          await new Promise((next) => setTimeout(next));
        }
      };
      const before = await kept(() => true);
      await chat.clear();
      await kept((text) => !text.includes("Give page"));
      const again = await agentOf({ store }).open("c");
      await again.send("And now?");
      return { before, messages: again.snapshot().messages };
    };
    const { told, requests } = await play(t, script, { lines: longLog("c", 400) });
    assert.match(told.before, /Give page/);
    assert.equal(told.messages.length, 152);
    assert.ok(told.messages.slice(0, 150).every(({ cleared }) => cleared));
    assert.deepEqual(messagesOf(requests[0]), [{ role: "user", content: "And now?" }]);
  });
});
