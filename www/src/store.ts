import { CountersignError } from "./error.js";

/**
 * Where chats are kept. A chat's log is lines of JSON, one event each, well-formed Unicode without line breaks; what
 * they mean is not the store's concern, nor what the head and the snapshot hold.
 *
 * Several pages, or agents of one page, may use one store at once: what a call that resolved has written is seen by
 * every call made after that, through whatever handle. A store of your own is checked by `countersign/store-conformance`.
 */
export interface Store {
  /** The lines of a chat's log from position `from` (default 0), in order; none for a chat that does not exist. */
  load(chat: string, from?: number): Promise<string[]>;
  /**
   * Appends lines as one write, all or none, and resolves once they are durable. `head` is a text kept beside the
   * chat, replaced by the same write, also where `lines` is empty. Rejects with a {@link CountersignError} of code
   * `conflict`, with nothing written, unless the log has exactly `seq` lines: somebody else was first.
   */
  append(chat: string, seq: number, lines: string[], head: string): Promise<void>;
  /** Every chat that was appended to, in no promised order: its id, its number of lines, its head. */
  list(): Promise<{ chat: string; length: number; head: string }[]>;
  /**
   * Takes a chat away: log, head and snapshot. An append at `seq` > 0 by somebody who still has it open then
   * conflicts; one at 0 begins a new chat. Does nothing for a chat that does not exist.
   */
  delete(chat: string): Promise<void>;
  /**
   * Keeps a projection of the first `seq` lines, so that a long chat opens fast; one that is kept already is replaced.
   * Not kept if the log has fewer lines. It may be lost at any time.
   */
  saveSnapshot(chat: string, seq: number, text: string): Promise<void>;
  /** The snapshot last saved, if it is still there. */
  loadSnapshot(chat: string): Promise<{ seq: number; text: string } | undefined>;
  /**
   * Replaces given lines, to clear what finished runs held: `[[seq, line], …]` as one write, which also drops the
   * snapshot, since that may hold what is to go. The number of lines stays. Rejects with code `conflict`, with nothing
   * written, if the log does not have one of the lines.
   */
  rewrite(chat: string, lines: [seq: number, line: string][]): Promise<void>;
  /** False if what is kept does not survive a reload. */
  readonly durable: boolean;
  /** Pages whose stores have the same name keep the same chats, and tell each other of changes; without one none do. */
  readonly name?: string;
}

/** @internal The rejection of a write to a log that is not as its writer knew it. */
export function conflict(): CountersignError {
  return new CountersignError("conflict", "The chat's log was changed from elsewhere; open the chat again.");
}

/** @internal Whether a log of this length has all these lines. */
export function hasAll(length: number, lines: [seq: number, line: string][]): boolean {
  return lines.every(([seq]) => Number.isInteger(seq) && seq >= 0 && seq < length);
}

/** Keeps chats in memory, to be shared by the agents it is passed to: they do not survive a reload of the page. */
export function memoryStore(): Store {
  interface Kept {
    readonly lines: string[];
    readonly head: string;
    readonly snapshot?: { readonly seq: number; readonly text: string } | undefined;
  }
  const chats = new Map<string, Kept>();
  const linesOf = (chat: string) => chats.get(chat)?.lines ?? [];
  return {
    durable: false,
    load: async (chat, from = 0) => linesOf(chat).slice(from),
    async append(chat, seq, lines, head) {
      const log = linesOf(chat);
      if (log.length !== seq) throw conflict();
      chats.set(chat, { ...chats.get(chat), lines: [...log, ...lines], head });
    },
    list: async () => [...chats].map(([chat, { lines, head }]) => ({ chat, length: lines.length, head })),
    async delete(chat) {
      chats.delete(chat);
    },
    async saveSnapshot(chat, seq, text) {
      const kept = chats.get(chat);
      if (kept && kept.lines.length >= seq) chats.set(chat, { ...kept, snapshot: { seq, text } });
    },
    async loadSnapshot(chat) {
      const snapshot = chats.get(chat)?.snapshot;
      return snapshot && { ...snapshot };
    },
    async rewrite(chat, lines) {
      const kept = chats.get(chat);
      if (!hasAll(linesOf(chat).length, lines)) throw conflict();
      if (!kept) return;
      const log = [...kept.lines];
      for (const [seq, line] of lines) log[seq] = line;
      chats.set(chat, { lines: log, head: kept.head });
    },
  };
}
