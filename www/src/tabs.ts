/**
 * What the tabs of one site tell each other about a chat. All of it is for liveness: that a change shows at once, that
 * two tabs do not do the same work. Nothing here makes anything safe: a hint may be lost, late or false, and two tabs
 * may hold one lease where a clock jumped or a tab slept. That a chat's log has one history rests on the store's
 * compare-and-set alone.
 */
import { ask, Database } from "./database.js";

/** A hold on one chat. */
export interface Lease {
  /** Gives it up; later calls do nothing. A tab that ends has given it up, or will have when its term is over. */
  release(): void;
}

/** How often a lease is renewed where the browser does not hold it, in milliseconds. */
const RENEWAL = 2000;

/** How long such a lease outlives its last renewal, in milliseconds. */
const TERM = 10_000;

/** The chats of which this page holds the lease. */
const own = new Set<string>();

/** Stands for the number of lines where there are as many as before, and some are not what they were. */
export const REWRITTEN = -1;

/**
 * Tells whoever listens, in this page too, that a chat of the store `name` has `seq` lines now, or was rewritten; all but
 * the one that says it, `from`, where that knows as much.
 */
export function announce(name: string, chat: string, seq: number, from?: string): void {
  const channel = channelOf(name);
  channel?.postMessage([chat, seq, from]);
  channel?.close();
}

/**
 * Hears what is announced, but for what the listener, `own()`, says itself, as hints to look into the store. Returns the
 * function that ends it.
 */
export function listen(name: string, hear: (chat: string, seq: number) => void, own = () => ""): () => void {
  const channel = channelOf(name);
  if (!channel) return () => {};
  channel.onmessage = ({ data }) => {
    // Other versions of the page speak on this channel too.
    const [chat, seq, from] = Array.isArray(data) ? data : [];
    if (from === own()) return;
    if (typeof chat === "string" && typeof seq === "number") hear(chat, seq);
  };
  return () => channel.close();
}

/**
 * Tries to take a chat's exclusive lease, and does not wait: undefined if somebody has it, be it this page. Web Locks
 * hold it where there are any. Elsewhere, such as on a page of plain http, it is a row of a database that is renewed
 * by the clock. Where there is no database either nobody else can see the chat, and the lease is given.
 */
export async function lease(name: string, chat: string, from?: string): Promise<Lease | undefined> {
  const id = idOf(name, chat);
  // Noted before anything is waited for, so that of two calls of this page one loses.
  if (own.has(id)) return undefined;
  own.add(id);
  // A lease that cannot be asked for must not keep a chat from going on.
  const end = await (lockManager() ? lock(id) : take(name, chat)).catch(() => () => {});
  if (!end) {
    own.delete(id);
    return undefined;
  }
  let released = false;
  return {
    release() {
      if (released) return;
      released = true;
      own.delete(id);
      end();
      // Who shows the chat as being worked on is to look again.
      announce(name, chat, 0, from);
    },
  };
}

/** Whether somebody holds the chat's lease, be it this page. */
export async function held(name: string, chat: string): Promise<boolean> {
  const id = idOf(name, chat);
  if (own.has(id)) return true;
  try {
    const locks = lockManager();
    if (locks) {
      const { held = [] } = await locks.query();
      // The list may name one that its page has left; only a lock that is not to be had is held.
      return held.some((lock) => lock.name === id) && !(await isFree(id));
    }
    return isValid(await rowsOf(name).run("readonly", ["leases"], (store) => ask(store("leases").get(chat))));
  } catch {
    return false;
  }
}

function channelOf(name: string): BroadcastChannel | undefined {
  try {
    return new BroadcastChannel(`countersign:${name}`);
  } catch {
    return undefined;
  }
}

function idOf(name: string, chat: string): string {
  return `countersign:${JSON.stringify([name, chat])}`;
}

function lockManager(): LockManager | undefined {
  return globalThis.navigator?.locks;
}

type End = (() => void) | undefined;

function lock(id: string): Promise<End> {
  return new Promise((given, failed) => {
    const hold = (lock: Lock | null) => (lock ? new Promise<void>((end) => given(end)) : given(undefined));
    navigator.locks.request(id, { ifAvailable: true, mode: "exclusive" }, hold).catch(failed);
  });
}

/** Shared, so that pages that look at the same time do not see each other. */
function isFree(id: string): Promise<boolean> {
  return new Promise((given, failed) => {
    navigator.locks.request(id, { ifAvailable: true, mode: "shared" }, (lock) => given(lock !== null)).catch(failed);
  });
}

interface Row {
  owner: string;
  until: number;
}

const databases = new Map<string, Database>();

// A database of its own: the store's may be of a newer version, or be held up by another tab.
function rowsOf(name: string): Database {
  const rows = databases.get(name) ?? new Database(`${name}.leases`, ["leases"]);
  databases.set(name, rows);
  return rows;
}

/** A row that reaches further than a term was written before the clock was set back. */
function isValid(row: Row | undefined): boolean {
  const left = (row?.until ?? 0) - Date.now();
  return left > 0 && left <= TERM;
}

async function take(name: string, chat: string): Promise<End> {
  const rows = rowsOf(name);
  const owner = crypto.getRandomValues(new Uint32Array(4)).join();
  /** Writes the row, in one transaction with a look at what is there, if that is allowed. */
  const write = (may: (row: Row | undefined) => boolean) =>
    rows.run(
      "readwrite",
      ["leases"],
      async (store) => {
        if (!may(await ask(store("leases").get(chat)))) return false;
        store("leases").put({ owner, until: Date.now() + TERM } satisfies Row, chat);
        return true;
      },
      "relaxed",
    );

  if (!(await write((row) => !isValid(row)))) return undefined;
  let isOwn = true;
  const timer = setInterval(async () => {
    // Somebody else took what was not renewed in time; a renewal that failed is tried again.
    isOwn = await write((row) => row?.owner === owner).catch(() => true);
    if (!isOwn) clearInterval(timer);
  }, RENEWAL);
  return () => {
    clearInterval(timer);
    if (!isOwn) return;
    // A page that goes hears no more of its requests: this one is sent off without a look and without waiting.
    const remove = (leases: IDBObjectStore) => {
      leases.delete(chat);
      leases.transaction.commit();
    };
    rows.run("readwrite", ["leases"], (store) => remove(store("leases")), "relaxed").catch(() => {});
  };
}
