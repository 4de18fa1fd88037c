/**
 * Checks a store of your own: `import { storeConformance } from "countersign/store-conformance"`.
 *
 * ```js
 * for (const { name, run } of storeConformance(() => myStore("tests"))) test(name, run);
 * ```
 */
import type { Store } from "./store.js";

/** One thing that a store promises. */
export interface Case {
  /** The promise, as a sentence. */
  name: string;
  /** Rejects with an error that says what was found instead. */
  run(): Promise<void>;
}

/** What each case works on. */
interface Place {
  /** Two handles on one place, as two tabs have them; they may be the same object. */
  one: Store;
  two: Store;
  /** An id that no other case uses. */
  chat: string;
}

/**
 * The cases that every store must pass, in any order, one at a time or together. `makeStore` is called once for each
 * handle, and all handles must lie on the same place: as two tabs would open it, or one object where there is nothing
 * but memory. Use a place for tests: the cases write chats and delete them, among them `a` and `__proto__`.
 */
export function storeConformance(makeStore: () => Store | Promise<Store>): Case[] {
  return Object.entries(PROMISES).map(([name, promise], index) => ({
    name,
    async run() {
      const [one, two] = [await makeStore(), await makeStore()];
      const chat = `conformance-${index}-${Math.random().toString(36).slice(2)}`;
      try {
        await promise({ one, two, chat });
      } finally {
        // What was found matters more than that its remains cannot be removed.
        await clear(one, chat).catch(() => {});
      }
    },
  }));
}

async function clear(store: Store, start: string): Promise<void> {
  for (const { chat } of await store.list()) if (chat.startsWith(start)) await store.delete(chat);
}

/** Ids that a careless key, path or object would take for each other or for something of its own. */
const ALIKE = [
  "a",
  "a\u0000",
  "a\u0000b",
  "a,0",
  "a/0",
  "a:1",
  "A",
  "__proto__",
  "constructor",
  "toString",
  "%61",
  "ä",
  "a\u0308",
];

/** Text that a careless encoding would change: of lines, so without line breaks. */
const TEXTS = [
  "",
  " \t ",
  "\ufeffmark",
  "null\u0000inside",
  "\u007f\u0080\u009f",
  "\u2028\u2029",
  '{"quoted":"\\"\\\\\\n\\ud800"}',
  "ä a\u0308 \u212b",
  "👩‍🔬 \u{10ffff}",
  "\uffff\ufffe\ufffd",
  "\u202eright to left",
  "'; drop table events; --",
  "x".repeat(100_000),
];

const PROMISES: Record<string, (place: Place) => Promise<void>> = {
  async "a chat that does not exist has no lines and no snapshot, and is not listed"({ one, chat }) {
    same(await one.load(chat), [], "load");
    same(await one.load(chat, 3), [], "load from 3");
    same(await one.loadSnapshot(chat), undefined, "loadSnapshot");
    same(await listed(one, chat), undefined, "its entry in list");
    hold(typeof one.durable === "boolean", "durable must be true or false");
  },

  async "lines come back in their order, from any position"({ one, two, chat }) {
    const lines = numbered(0, 25);
    await one.append(chat, 0, lines.slice(0, 1), "h");
    same(await two.load(chat), lines.slice(0, 1), "load of the first line");
    await one.append(chat, 1, lines.slice(1, 12), "h");
    same(await two.load(chat, 1), lines.slice(1, 12), "load from 1");
    await two.append(chat, 12, lines.slice(12), "h");
    for (const store of [one, two]) {
      same(await store.load(chat), lines, "load");
      for (const from of [0, 1, 9, 10, 11, 12, 24, 25, 26]) {
        same(await store.load(chat, from), lines.slice(from), `load from ${from}`);
      }
    }
  },

  async "an append at another position is a conflict and writes nothing"({ one, two, chat }) {
    await conflicts(() => one.append(chat, 1, ["x"], "x"), "at 1 to a chat that does not exist");
    same(await listed(one, chat), undefined, "its entry in list");
    await one.append(chat, 0, ["a", "b"], "h");
    for (const seq of [0, 1, 3, 100]) {
      for (const store of [one, two]) {
        await conflicts(() => store.append(chat, seq, ["x", "y"], "x"), `at ${seq} to a log of 2`);
        await conflicts(() => store.append(chat, seq, [], "x"), `of no line at ${seq} to a log of 2`);
      }
    }
    same(await one.load(chat), ["a", "b"], "load");
    same(await listed(one, chat), { length: 2, head: "h" }, "its entry in list");
  },

  async "of appends made at once at one position exactly one is written"({ one, two, chat }) {
    const kept: string[] = [];
    let head = "";
    for (let round = 0; round < 10; round++) {
      const writers = [one, two, one, two].map((store, index) => ({ store, text: `${round}.${index}` }));
      const ends = await Promise.allSettled(
        writers.map(({ store, text }) => store.append(chat, kept.length, [`${text}a`, `${text}b`], text)),
      );
      const won = writers.filter((_, index) => ends[index]?.status === "fulfilled");
      hold(won.length === 1, `of 4 appends at ${kept.length} made at once, 1 must resolve, but ${won.length} did`);
      for (const end of ends) if (end.status === "rejected") isConflict(end.reason, "an append that came second");
      head = won[0]?.text ?? "";
      kept.push(`${head}a`, `${head}b`);
    }
    for (const store of [one, two]) {
      same(await store.load(chat), kept, "load");
      same(await listed(store, chat), { length: kept.length, head }, "its entry in list");
    }
  },

  async "lines, length and head are written as one"({ one, two, chat }) {
    const batch = 7;
    let writing = true;
    const write = async () => {
      for (let seq = 0; seq < 15 * batch; seq += batch) {
        await one.append(chat, seq, numbered(seq, batch), String(seq + batch));
      }
      writing = false;
    };
    const watch = async () => {
      while (writing) {
        const [before, lines, after] = [await listed(two, chat), await two.load(chat), await listed(two, chat)];
        hold(lines.length % batch === 0, `a reader saw ${lines.length} lines of appends of ${batch}`);
        same(lines, numbered(0, lines.length), "what a reader saw while lines were appended");
        for (const entry of [before, after]) {
          same(entry?.head, entry && String(entry.length), "the head beside this length");
        }
        hold((before?.length ?? 0) <= lines.length, "list told of lines that load did not give");
        hold(lines.length <= (after?.length ?? 0), "load gave lines that list did not tell of");
      }
    };
    await Promise.all([write().finally(() => (writing = false)), watch()]);
  },

  async "the head is the one of the last append, also of one without lines"({ one, two, chat }) {
    await one.append(chat, 0, [], "first");
    same(await listed(two, chat), { length: 0, head: "first" }, "its entry in list");
    await one.append(chat, 0, ["a"], "second");
    await two.append(chat, 1, [], "third\nof two lines");
    same(await one.load(chat), ["a"], "load");
    same(await listed(one, chat), { length: 1, head: "third\nof two lines" }, "its entry in list");
    await one.append(chat, 1, ["b"], "");
    same(await listed(two, chat), { length: 2, head: "" }, "its entry in list");
  },

  async "every chat is listed once, with its length and head"({ one, two, chat }) {
    const ids = numbered(0, 12).map((number) => `${chat} ${number}`);
    for (const [index, id] of ids.entries()) await one.append(id, 0, numbered(0, index), `head ${index}`);
    const found = (await two.list()).filter((entry) => entry.chat.startsWith(chat));
    found.sort((a, b) => a.length - b.length);
    same(
      found.map(({ chat, length, head }) => ({ chat, length, head })),
      ids.map((id, index) => ({ chat: id, length: index, head: `head ${index}` })),
      "list",
    );
  },

  async "a deleted chat is gone, and a late append to it is a conflict"({ one, two, chat }) {
    await one.delete(chat);
    await one.append(chat, 0, numbered(0, 12), "old");
    await one.saveSnapshot(chat, 12, "old");
    await two.delete(chat);
    same(await one.load(chat), [], "load");
    same(await one.loadSnapshot(chat), undefined, "loadSnapshot");
    same(await listed(one, chat), undefined, "its entry in list");
    await conflicts(() => one.append(chat, 12, ["late"], "late"), "to a chat that was deleted");
    await one.saveSnapshot(chat, 12, "late");
    same(await one.loadSnapshot(chat), undefined, "loadSnapshot after a late saveSnapshot");
    await one.append(chat, 0, ["new"], "new");
    same(await two.load(chat), ["new"], "load of a chat begun anew");
    same(await listed(two, chat), { length: 1, head: "new" }, "its entry in list");
    same(await two.loadSnapshot(chat), undefined, "loadSnapshot of a chat begun anew");
  },

  async "ids that look alike are different chats"({ one, two }) {
    for (const id of ALIKE) await one.delete(id);
    for (const id of ALIKE) same(await one.load(id), [], `load of ${JSON.stringify(id)}, not written yet`);
    for (const [index, id] of ALIKE.entries()) {
      await one.append(id, 0, [id, `${index}`], id);
      await one.saveSnapshot(id, 2, id);
    }
    for (const [index, id] of ALIKE.entries()) {
      same(await two.load(id), [id, `${index}`], `load of ${JSON.stringify(id)}`);
      same(await listed(two, id), { length: 2, head: id }, `the entry of ${JSON.stringify(id)} in list`);
      const snapshot = await two.loadSnapshot(id);
      if (snapshot) same(snapshot.text, id, `the snapshot of ${JSON.stringify(id)}`);
    }
    for (const [index, id] of ALIKE.entries()) {
      await one.delete(id);
      const left = ALIKE.slice(index + 1);
      for (const other of left) {
        hold((await two.load(other)).length === 2, `deleting ${JSON.stringify(id)} changed ${JSON.stringify(other)}`);
      }
    }
  },

  async "text comes back as it was"({ one, two, chat }) {
    await one.append(chat, 0, TEXTS, "");
    same(await two.load(chat), TEXTS, "load");
    for (const text of [...TEXTS, "of\r\ntwo lines\n"]) {
      await one.append(chat, TEXTS.length, [], text);
      same(await listed(two, chat), { length: TEXTS.length, head: text }, "its entry in list");
      await one.saveSnapshot(chat, 1, text);
      const snapshot = await two.loadSnapshot(chat);
      if (snapshot) same(snapshot.text, text, "the snapshot");
    }
    const id = `${chat} 👩‍🔬\u0000\u2028"'\\/..`;
    await one.append(id, 0, ["a"], "h");
    same(await listed(two, id), { length: 1, head: "h" }, "the entry of a chat with an odd id");
  },

  async "10,000 lines are kept in order"({ one, two, chat }) {
    const lines = numbered(0, 10_000);
    await one.append(chat, 0, lines.slice(0, 9000), "h");
    await one.append(chat, 9000, lines.slice(9000), "h");
    same(await two.load(chat), lines, "load");
    same(await two.load(chat, 9_998), lines.slice(-2), "load from 9998");
    same(await listed(two, chat), { length: 10_000, head: "h" }, "its entry in list");
    await two.delete(chat);
    same(await one.load(chat), [], "load after delete");
  },

  async "a snapshot is the last one saved, or none"({ one, two, chat }) {
    await one.append(chat, 0, ["a", "b", "c"], "h");
    const check = async (seq: number, text: string) => {
      const found = await two.loadSnapshot(chat);
      if (found) same([found.seq, found.text], [seq, text], "loadSnapshot");
    };
    await one.saveSnapshot(chat, 2, "of two");
    await check(2, "of two");
    await two.saveSnapshot(chat, 3, "of three");
    await check(3, "of three");
    await one.saveSnapshot(chat, 9, "of nine");
    const found = await two.loadSnapshot(chat);
    hold((found?.seq ?? 0) <= 3, "loadSnapshot gave a snapshot of 9 lines for a log of 3");
    await one.append(chat, 3, ["d"], "h");
    same(await two.load(chat), ["a", "b", "c", "d"], "load");
    same(await listed(two, chat), { length: 4, head: "h" }, "its entry in list");
  },

  async "a rewrite replaces lines and drops the snapshot, and nothing else changes"({ one, two, chat }) {
    const lines = numbered(0, 12);
    await one.append(chat, 0, lines, "h");
    await one.saveSnapshot(chat, 12, "holds what is to go");
    await two.rewrite(chat, [
      [10, "ten"],
      [0, ""],
      [2, "two"],
    ]);
    const wanted = lines.map((line, seq) => ({ 0: "", 2: "two", 10: "ten" })[seq] ?? line);
    same(await one.load(chat), wanted, "load");
    same(await listed(one, chat), { length: 12, head: "h" }, "its entry in list");
    same(await one.loadSnapshot(chat), undefined, "loadSnapshot");
    await two.rewrite(chat, []);
    await one.append(chat, 12, ["next"], "h");
    same(await two.load(chat), [...wanted, "next"], "load");
  },

  async "a rewrite of lines that are not there is a conflict and writes nothing"({ one, chat }) {
    await conflicts(() => one.rewrite(chat, [[0, "x"]]), "in a chat that does not exist");
    same(await listed(one, chat), undefined, "its entry in list");
    await one.append(chat, 0, ["a", "b"], "h");
    for (const seq of [-1, 0.5, 2, Number.NaN]) {
      const rewrite = () =>
        one.rewrite(chat, [
          [0, "x"],
          [seq, "x"],
        ]);
      await conflicts(rewrite, `of line ${seq} in a log of 2`);
    }
    same(await one.load(chat), ["a", "b"], "load");
  },

  async "what a store gave or was given is not shared with it"({ one, chat }) {
    const lines = ["a", "b"];
    await one.append(chat, 0, lines, "h");
    lines.push("c");
    (await one.load(chat)).push("d");
    (await one.list()).pop();
    await one.saveSnapshot(chat, 2, "kept");
    const found = await one.loadSnapshot(chat);
    if (found) found.text = "changed";
    same(await one.load(chat), ["a", "b"], "load");
    same(await listed(one, chat), { length: 2, head: "h" }, "its entry in list");
    const again = await one.loadSnapshot(chat);
    if (again) same(again.text, "kept", "the snapshot");
  },
};

function numbered(start: number, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `{"seq":${start + index}}`);
}

/** A chat's entry in the list, without its id. */
async function listed(store: Store, chat: string): Promise<{ length: number; head: string } | undefined> {
  const [entry, ...more] = (await store.list()).filter((entry) => entry.chat === chat);
  hold(more.length === 0, `list named the chat ${JSON.stringify(chat)} ${more.length + 1} times`);
  return entry && { length: entry.length, head: entry.head };
}

async function conflicts(write: () => Promise<void>, what: string): Promise<void> {
  const thrown = await write().then(
    () => undefined,
    (thrown) => thrown ?? new Error("nothing"),
  );
  hold(thrown, `a write ${what} must be a conflict, but it resolved`);
  isConflict(thrown, `a write ${what}`);
}

/** Errors are told by their code: a store of your own imports the class from the main entry. */
function isConflict(thrown: unknown, what: string): void {
  const { name, code } = thrown as { name?: string; code?: string };
  hold(
    name === "CountersignError" && code === "conflict",
    `${what} must reject with a CountersignError of code "conflict", not with ${thrown}`,
  );
}

function same(found: unknown, wanted: unknown, what: string): void {
  const [is, must] = [JSON.stringify(found), JSON.stringify(wanted)];
  hold(is === must, `${what} must give ${shorten(must)}, but gave ${shorten(is)}`);
}

function shorten(text: string | undefined): string {
  return text && text.length > 300 ? `${text.slice(0, 300)}… (${text.length} characters)` : `${text}`;
}

function hold(claim: unknown, sentence: string): asserts claim {
  if (!claim) throw new Error(sentence);
}
