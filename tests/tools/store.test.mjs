// The store's conformance suite: memory passes it, and each kind of broken store fails the case that is there for it.
import assert from "node:assert/strict";
import { join } from "node:path";
import { describe, it } from "node:test";
import { pathToFileURL } from "node:url";

const dist = pathToFileURL(join(import.meta.dirname, "..", "..", "www", "dist/")).href;
const { CountersignError, indexedDBStore, memoryStore } = await import(`${dist}index.js`);
const { storeConformance } = await import(`${dist}store-conformance.js`);

describe("a store in memory", () => {
  const store = memoryStore();
  for (const { name, run } of storeConformance(() => store)) it(name, run);

  it("says that it does not survive a reload, and is left empty by the suite", async () => {
    assert.equal(store.durable, false);
    assert.deepEqual(await store.list(), []);
  });
});

describe("a store in IndexedDB where there is none", () => {
  const store = indexedDBStore();
  for (const { name, run } of storeConformance(() => store)) it(name, run);

  it("says so", () => {
    assert.equal(store.durable, false);
    assert.match(store.trouble, /^This page may not store anything \(there is no IndexedDB\)/);
  });
});

const pause = () => new Promise(setImmediate);
const conflict = () => new CountersignError("conflict", "Open the chat again.");

/** Memory with some methods replaced; `kept` is the store that works. */
function broken(replace) {
  return () => {
    const kept = memoryStore();
    const store = { ...kept, ...replace(kept) };
    return () => store;
  };
}

/** A store on rows of text by key; `key` makes the keys. A chat's rows are those whose key starts with `key(chat, "")`. */
function onRows(key) {
  return () => {
    const rows = {};
    const of = (chat) =>
      Object.keys(rows)
        .filter((row) => row.startsWith(key(chat, "")))
        .sort();
    const load = async (chat, from = 0) =>
      of(chat)
        .map((row) => rows[row][1])
        .slice(from);
    const heads = new Map();
    const store = {
      ...memoryStore(),
      load,
      async append(chat, seq, lines, head) {
        if (of(chat).length !== seq) throw conflict();
        lines.forEach((line, index) => {
          rows[key(chat, seq + index)] = [chat, line];
        });
        heads.set(chat, head);
      },
      list: async () => [...heads].map(([chat, head]) => ({ chat, head, length: of(chat).length })),
      async delete(chat) {
        for (const row of of(chat)) delete rows[row];
        heads.delete(chat);
      },
      async rewrite(chat, lines) {
        if (lines.some(([seq]) => !(key(chat, seq) in rows))) throw conflict();
        for (const [seq, line] of lines) rows[key(chat, seq)] = [chat, line];
      },
    };
    return () => store;
  };
}

/** What is wrong with a store, how to make it, and the start of the name of a case that has to notice. */
const BROKEN = [
  [
    "takes every append, wherever it begins",
    "an append at another position",
    broken((kept) => ({
      append: async (chat, _, lines, head) => kept.append(chat, (await kept.load(chat)).length, lines, head),
    })),
  ],
  [
    "rejects with another code",
    "an append at another position",
    broken((kept) => ({
      append: (...given) =>
        kept.append(...given).catch(() => {
          throw new CountersignError("storage", "It did not work.");
        }),
    })),
  ],
  [
    "looks at the length and writes later",
    "of appends made at once",
    broken((kept) => ({
      async append(chat, seq, lines, head) {
        if ((await kept.load(chat)).length !== seq) throw conflict();
        await pause();
        await kept.append(chat, (await kept.load(chat)).length, lines, head);
      },
    })),
  ],
  [
    "writes line by line",
    "lines, length and head are written as one",
    broken((kept) => ({
      async append(chat, seq, lines, head) {
        await kept.append(chat, seq, lines.slice(0, 1), head);
        await pause();
        await kept.append(chat, seq + 1, lines.slice(1), head);
      },
    })),
  ],
  [
    "writes the head after the lines",
    "lines, length and head are written as one",
    broken((kept) => ({
      async append(chat, seq, lines, head) {
        const old = (await kept.list()).find((entry) => entry.chat === chat)?.head ?? "";
        await kept.append(chat, seq, lines, old);
        await pause();
        await kept.append(chat, seq + lines.length, [], head);
      },
    })),
  ],
  [
    "gives each handle a cache of its own",
    "lines come back in their order",
    () => {
      const kept = memoryStore();
      return () => {
        const seen = new Map();
        const load = async (chat, from = 0) => {
          if (!seen.has(chat)) seen.set(chat, await kept.load(chat));
          return seen.get(chat).slice(from);
        };
        return { ...kept, load };
      };
    },
  ],
  [
    "orders its lines by their keys as text",
    "lines come back in their order",
    onRows((chat, seq) => `${chat}\n${seq}`),
  ],
  ["marks no end of an id in its keys", "ids that look alike", onRows((chat, seq) => `${chat}${`${seq}`.padStart(9)}`)],
  [
    "keeps chats as properties of an object",
    "ids that look alike",
    () => {
      const chats = {};
      const store = {
        ...memoryStore(),
        load: async (chat, from = 0) => (chats[chat]?.lines ?? []).slice(from),
        append: async (chat, seq, lines, head) => {
          const log = chats[chat]?.lines ?? [];
          if (log.length !== seq) throw conflict();
          chats[chat] = { lines: [...log, ...lines], head };
        },
        list: async () =>
          Object.keys(chats).map((chat) => ({ chat, length: chats[chat].lines.length, head: chats[chat].head })),
        delete: async (chat) => {
          delete chats[chat];
        },
      };
      return () => store;
    },
  ],
  [
    "knows a deleted chat's length still",
    "a deleted chat is gone",
    broken((kept) => {
      const gone = new Map();
      return {
        async delete(chat) {
          gone.set(chat, (await kept.load(chat)).length);
          await kept.delete(chat);
        },
        append: (chat, seq, lines, head) => kept.append(chat, seq === gone.get(chat) ? 0 : seq, lines, head),
      };
    }),
  ],
  [
    "forgets the snapshot on deletion",
    "a deleted chat is gone",
    broken(() => {
      const snapshots = new Map();
      return {
        saveSnapshot: async (chat, seq, text) => void snapshots.set(chat, { seq, text }),
        loadSnapshot: async (chat) => snapshots.get(chat),
      };
    }),
  ],
  [
    "keeps the snapshot of what a rewrite cleared",
    "a rewrite replaces lines",
    broken((kept) => ({
      async rewrite(chat, lines) {
        const snapshot = await kept.loadSnapshot(chat);
        await kept.rewrite(chat, lines);
        if (snapshot) await kept.saveSnapshot(chat, snapshot.seq, snapshot.text);
      },
    })),
  ],
  [
    "rewrites what it can before it conflicts",
    "a rewrite of lines that are not there",
    broken((kept) => ({
      async rewrite(chat, lines) {
        for (const line of lines) await kept.rewrite(chat, [line]);
      },
    })),
  ],
  [
    "keeps what UTF-8 makes of text that begins with a mark",
    "text comes back",
    broken((kept) => ({
      load: async (...given) => (await kept.load(...given)).map((line) => line.replace(/^\ufeff/, "")),
    })),
  ],
  [
    "gives no more than 1000 lines",
    "10,000 lines",
    broken((kept) => ({ load: async (...given) => (await kept.load(...given)).slice(0, 1000) })),
  ],
  ["hands out its own array", "what a store gave", sharing],
];

function sharing() {
  const kept = memoryStore();
  const logs = new Map();
  const store = {
    ...kept,
    async append(chat, seq, lines, head) {
      await kept.append(chat, seq, lines, head);
      logs.set(chat, await kept.load(chat));
    },
    load: async (chat, from) => (from ? logs.get(chat)?.slice(from) : logs.get(chat)) ?? [],
  };
  return () => store;
}

describe("a store that", () => {
  for (const [fault, start, make] of BROKEN) {
    it(`${fault} fails "${start} …"`, async () => {
      const cases = storeConformance(make()).filter(({ name }) => name.startsWith(start));
      assert.equal(cases.length, 1);
      // The suite's own finding, and no accident on the way to it.
      await assert.rejects(cases[0].run(), { name: "Error", message: /\bmust\b|\bsaw\b/ });
    });
  }

  it("loses every snapshot passes", async () => {
    const kept = memoryStore();
    for (const { run } of storeConformance(() => ({ ...kept, loadSnapshot: async () => undefined }))) await run();
  });
});
