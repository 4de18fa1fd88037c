import { ask, Database } from "./database.js";
import { conflict, hasAll, memoryStore, type Store } from "./store.js";

/** What {@link indexedDBStore} returns. All three properties are known after the first call of a method. */
export interface IndexedDBStore extends Store {
  /** False where the page may not store anything: chats are then kept in memory, and `trouble` says why. */
  readonly durable: boolean;
  /** Why chats are kept in memory only, as a sentence; undefined while they are stored. */
  readonly trouble: string | undefined;
  /**
   * True if a newer version of the page has upgraded the database: chats can be read and listed, while every write
   * rejects with code `storage` until the page is reloaded.
   */
  readonly readOnly: boolean;
}

interface Kept {
  length: number;
  head: string;
}

/**
 * Keeps chats in this browser, in an IndexedDB database of this name; on a device that people share, give each a name
 * of their own. It is opened by the first call.
 *
 * What is written survives a crash of the browser. It does not survive everything: people clear site data, and browsers
 * evict what they were not asked to keep when space is short. A page whose chats must stay calls
 * `navigator.storage.persist()`, which may ask the person; this package never calls it.
 *
 * Calls reject with code `storage` and say what to do where the storage is full, another tab is in the way of
 * opening the database, or another tab runs a newer version of the page.
 */
export function indexedDBStore(name = "countersign"): IndexedDBStore {
  const database = new Database(name, ["events", "chats", "snapshots"]);
  const stored = storeIn(database);
  const memory = memoryStore();
  const place = async () => ((await database.exists()) ? stored : memory);
  return {
    name,
    load: async (chat, from) => (await place()).load(chat, from),
    append: async (chat, seq, lines, head) => (await place()).append(chat, seq, lines, head),
    list: async () => (await place()).list(),
    delete: async (chat) => (await place()).delete(chat),
    saveSnapshot: async (chat, seq, text) => (await place()).saveSnapshot(chat, seq, text),
    loadSnapshot: async (chat) => (await place()).loadSnapshot(chat),
    rewrite: async (chat, lines) => (await place()).rewrite(chat, lines),
    get durable() {
      return database.missing === undefined;
    },
    get trouble() {
      return database.missing;
    },
    get readOnly() {
      return database.readOnly;
    },
  };
}

/** `events` holds lines by `[chat, seq]`, `chats` lengths and heads by chat, `snapshots` positions and texts by chat. */
function storeIn(database: Database): Omit<Store, "durable"> {
  const lengthOf = async (chats: IDBObjectStore, chat: string) =>
    ((await ask(chats.get(chat))) as Kept | undefined)?.length ?? 0;
  return {
    load: (chat, from) =>
      database.run("readonly", ["events"], (store) => ask(store("events").getAll(lines(chat, from)))),
    append: (chat, seq, added, head) =>
      database.run("readwrite", ["events", "chats"], async (store) => {
        const [events, chats] = [store("events"), store("chats")];
        if ((await lengthOf(chats, chat)) !== seq) throw conflict();
        // Not `put`: a line that is there already is never replaced by an append.
        for (const [index, line] of added.entries()) events.add(line, [chat, seq + index]);
        chats.put({ length: seq + added.length, head } satisfies Kept, chat);
      }),
    list: () =>
      database.run("readonly", ["chats"], async (store) => {
        const [keys, kept] = await Promise.all([ask(store("chats").getAllKeys()), ask(store("chats").getAll())]);
        return keys.map((chat, index) => ({ chat: chat as string, ...(kept[index] as Kept) }));
      }),
    delete: (chat) =>
      database.run("readwrite", ["events", "chats", "snapshots"], (store) => {
        store("events").delete(lines(chat));
        store("chats").delete(chat);
        store("snapshots").delete(chat);
      }),
    saveSnapshot: (chat, seq, text) =>
      database.run(
        "readwrite",
        ["chats", "snapshots"],
        async (store) => {
          if ((await lengthOf(store("chats"), chat)) >= seq) store("snapshots").put({ seq, text }, chat);
        },
        // It may be lost, so nobody waits for the disk.
        "relaxed",
      ),
    // What a newer version of the page put there may mean something else.
    loadSnapshot: async (chat) =>
      database.readOnly
        ? undefined
        : database.run("readonly", ["snapshots"], (store) => ask(store("snapshots").get(chat))),
    rewrite: (chat, replaced) =>
      database.run("readwrite", ["events", "chats", "snapshots"], async (store) => {
        if (!hasAll(await lengthOf(store("chats"), chat), replaced)) throw conflict();
        for (const [seq, line] of replaced) store("events").put(line, [chat, seq]);
        store("snapshots").delete(chat);
      }),
  };
}

/** The keys of a chat's lines. */
function lines(chat: string, from = 0): IDBKeyRange {
  return IDBKeyRange.bound([chat, from], [chat, Number.POSITIVE_INFINITY]);
}
