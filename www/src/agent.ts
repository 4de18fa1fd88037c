import { Chat } from "./chat.js";
import { CountersignError } from "./error.js";
import { GRANTS, type Grant, Grants, refuseReserved } from "./grants.js";
import { nameOf, readHost } from "./host.js";
import { noteLeaving } from "./leaving.js";
import { readHistory } from "./messages.js";
import type { Store } from "./store.js";
import { announce, listen, REWRITTEN } from "./tabs.js";
import type { AgentOptions, HistoryMessage, Request, Status, Tool } from "./types.js";
import { RawAgent, type RawChat } from "./wasm/countersign.js";
import { enter, onRestart } from "./wasm.js";

const raws = new WeakMap<Chat, RawChat>();

/** @internal The wasm side of a chat. */
export function rawChat(chat: Chat): RawChat {
  const raw = raws.get(chat);
  if (!raw) throw new CountersignError("invalid_options", "This is no chat of agent.open(id).");
  return raw;
}

/** One set-up of model, tools and rules; its chats share them. */
export class Agent {
  #raw: RawAgent;
  readonly #store: Store;
  readonly #chats = new Map<string, Promise<Chat>>();
  readonly #here = new Set<Chat>();
  readonly #endings: (() => void)[];
  #isDisposed = false;
  /** The standing permissions in the store: what people allowed beyond one call. */
  readonly grants: Grants;

  /** @internal Pages use {@link createAgent}. */
  constructor(make: () => RawAgent, store: Store, abandon: () => void, self: () => string) {
    this.#raw = make();
    this.#store = store;
    this.grants = new Grants(
      () => enter(() => this.#raw.grants()) as Promise<Grant[]>,
      (id) => enter(() => this.#raw.revoke(id)) as Promise<void>,
    );
    const revive = () => {
      // Who held a lease is gone, and so is what chats hold of the module.
      abandon();
      for (const chat of this.#here) chat.renew(undefined);
      this.#raw = make();
      this.#renew();
    };
    // A page that is kept in the back/forward cache must not go on reading an answer, nor keep others from the work.
    const leave = () => enter(() => this.#raw.suspend());
    const come = ({ persisted }: PageTransitionEvent) => persisted && this.#refresh(() => true);
    const hear = (id: string, seq: number) => {
      if (id === GRANTS) return void this.#refreshGrants();
      this.#refresh((open) => open === id, seq === REWRITTEN);
    };
    addEventListener("beforeunload", noteLeaving);
    addEventListener("pagehide", leave);
    addEventListener("pageshow", come);
    this.#endings = [
      onRestart(revive),
      () => removeEventListener("beforeunload", noteLeaving),
      () => removeEventListener("pagehide", leave),
      () => removeEventListener("pageshow", come),
      listen(nameOf(store), hear, self),
    ];
  }

  /**
   * Opens a chat: new, or as the store left it. Calls no model and no tool. The same id gives the same chat. A chat that
   * has no messages yet starts from `history`; any other keeps its own. A chat that ended here, since it was deleted or the
   * store failed, is taken anew from the store. Rejects with code `disposed` once the agent is.
   */
  open(id: string, options: { history?: readonly HistoryMessage[] } = {}): Promise<Chat> {
    const opened = this.#chats.get(id);
    if (opened) return this.#reopen(id, opened, options);
    return this.#keep(id, this.#load(id, options.history));
  }

  /**
   * The log of a chat as it is stored, whole, also where the chat cannot be opened: JSON Lines. Empty for a chat that does
   * not exist.
   */
  async exportLog(id: string): Promise<string> {
    const lines = await this.#store.load(id);
    return lines.map((line) => `${line}\n`).join("");
  }

  /**
   * Stores a log that `exportLog` gave and opens its chat, which keeps its id: approvals are bound to that. Rejects, with
   * nothing written, with code `log_corrupt` if the log does not fit, and `conflict` if there is such a chat already.
   */
  async import(text: string): Promise<Chat> {
    if (typeof text !== "string") throw new CountersignError("invalid_options", "import(text) needs a string.");
    this.#check();
    const [id = "", head = "", ...lines]: string[] = enter(() => this.#raw.readLog(text));
    refuseReserved(id);
    await this.#letGo(id);
    if (this.#chats.has(id)) throw taken(id);
    return this.#keep(id, this.#take(id, head, lines));
  }

  /** The chats of the store, and how each stands for a page that opens it. */
  async chats(): Promise<ChatSummary[]> {
    const listed = (await this.#store.list()).filter(({ chat }) => chat !== GRANTS);
    return listed.map(({ chat, length, head }) => ({ id: chat, events: length, ...readHead(head) }));
  }

  /** Everything in the store that waits for a person. */
  async pending(): Promise<{ chat: string; request: Request }[]> {
    const chats = await this.chats();
    return chats.flatMap(({ id, requests }) => requests.map((request) => ({ chat: id, request })));
  }

  /**
   * Takes a chat out of the store, for good, and back what was permitted in this chat alone. One that is open here ends with
   * error code `deleted`.
   */
  async delete(id: string): Promise<void> {
    refuseReserved(id);
    // First: a new chat of this id must not have it.
    await enter(() => this.#raw.revokeIn(id));
    const open = this.#chats.get(id);
    this.#chats.delete(id);
    const chat = await open?.catch(() => undefined);
    if (chat) enter(() => rawChat(chat).end());
    await this.#store.delete(id);
    announce(nameOf(this.#store), id, 0);
  }

  /** Aborts what is under way. Nothing pending is decided by it. */
  dispose(): void {
    this.#isDisposed = true;
    for (const end of this.#endings) end();
    enter(() => this.#raw.dispose());
  }

  #check(): void {
    if (this.#isDisposed) throw new CountersignError("disposed", "This agent was disposed; create another one.");
  }

  async #reopen(id: string, opened: Promise<Chat>, options: { history?: readonly HistoryMessage[] }): Promise<Chat> {
    const chat = await opened;
    if (!hasEnded(chat)) return chat;
    await this.#letGo(id);
    return this.open(id, options);
  }

  /** Forgets the chat of this id if it has ended: whoever learnt that, or whether anybody did, does not matter. */
  async #letGo(id: string): Promise<void> {
    const opened = this.#chats.get(id);
    const chat = await opened?.catch(() => undefined);
    if (chat && hasEnded(chat) && this.#chats.get(id) === opened) this.#chats.delete(id);
  }

  #keep(id: string, chat: Promise<Chat>): Promise<Chat> {
    this.#chats.set(id, chat);
    chat.catch(() => this.#chats.delete(id));
    return chat;
  }

  async #take(id: string, head: string, lines: string[]): Promise<Chat> {
    if ((await this.#store.load(id)).length > 0) throw taken(id);
    await this.#store.append(id, 0, lines, head);
    announce(nameOf(this.#store), id, lines.length);
    return this.#load(id);
  }

  async #load(id: string, history?: readonly HistoryMessage[]): Promise<Chat> {
    if (typeof id !== "string" || id === "") {
      throw new CountersignError("invalid_options", "open(id) needs a non-empty string.");
    }
    refuseReserved(id);
    this.#check();
    const raw: RawChat = await enter(() => this.#raw.open(id, history && readHistory(history)));
    const chat = new Chat(id, raw, () => this.#store.durable !== false);
    raws.set(chat, raw);
    this.#here.add(chat);
    return chat;
  }

  /** Takes every open chat anew from the store. */
  async #renew(): Promise<void> {
    for (const [id, opening] of this.#chats) {
      const chat = await opening.catch(() => undefined);
      if (!chat) continue;
      try {
        const raw = await enter(() => this.#raw.open(id));
        raws.set(chat, raw);
        chat.renew(raw);
      } catch (thrown) {
        reportError(thrown);
      }
    }
  }

  async #refreshGrants(): Promise<void> {
    // Receipts alone depend on it: whatever is to run looks for itself.
    await enter(() => this.#raw.refreshGrants()).catch(() => {});
    this.grants.tell();
  }

  async #refresh(concerns: (id: string) => boolean, rewritten = false): Promise<void> {
    for (const [id, opening] of this.#chats) {
      const chat = concerns(id) ? await opening.catch(() => undefined) : undefined;
      if (!chat?.isHere()) continue;
      // A module that trapped takes its chats anew anyway.
      await enter(() => rawChat(chat).refresh(rewritten)).catch(() => {});
    }
  }
}

/** What {@link Agent.chats} tells of a chat. */
export interface ChatSummary {
  id: string;
  /** How many events its log has. */
  events: number;
  status: Status;
  /** What waits in it. */
  requests: Request[];
}

function readHead(head: string): Pick<ChatSummary, "status" | "requests"> {
  try {
    return JSON.parse(head);
  } catch {
    // A store of the host that keeps no heads.
    return { status: "interrupted", requests: [] };
  }
}

/** Creates an agent. Throws a {@link CountersignError} that names the option at fault. */
export function createAgent(options: AgentOptions): Agent {
  return enter(() => {
    const { setup, host, store, abandon, self } = readHost(options);
    return new Agent(() => new RawAgent(setup, host), store, abandon, self);
  });
}

/** A tool; gives editors the types, changes nothing. */
export function tool(definition: Tool): Tool {
  return definition;
}

/** Whether nothing more can be done in a chat. One that is being taken anew from the store can go on. */
function hasEnded(chat: Chat): boolean {
  try {
    return chat.isHere() && !enter(() => rawChat(chat).goesOn());
  } catch {
    return false;
  }
}

function taken(id: string): CountersignError {
  return new CountersignError("conflict", `There is a chat "${id}" already: delete it first, or use another store.`);
}
