import { CountersignError } from "./error.js";

/**
 * Where the logs of chats are kept. A log is lines of JSON, one event each; what they mean is not the store's concern.
 */
export interface Store {
  /** The lines of a chat's log, in order; none for a chat that does not exist. */
  load(chat: string): Promise<string[]>;
  /**
   * Appends lines as one write, all or none, and resolves once they are kept. Rejects, with nothing written, unless
   * the log has exactly `seq` lines: somebody else was first.
   */
  append(chat: string, seq: number, lines: string[]): Promise<void>;
}

/** Keeps chats in memory, to be shared by the agents it is passed to: they do not survive a reload of the page. */
export function memoryStore(): Store {
  const logs = new Map<string, string[]>();
  return {
    load: async (chat) => [...(logs.get(chat) ?? [])],
    async append(chat, seq, lines) {
      const log = logs.get(chat) ?? [];
      if (log.length !== seq) {
        throw new CountersignError("storage", "The chat's log was changed from elsewhere; open the chat again.");
      }
      logs.set(chat, [...log, ...lines]);
    },
  };
}
