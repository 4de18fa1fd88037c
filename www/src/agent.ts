import { Chat } from "./chat.js";
import { CountersignError } from "./error.js";
import { type Host, readHost } from "./host.js";
import { readHistory } from "./messages.js";
import type { AgentOptions, HistoryMessage, Model, Tool } from "./types.js";
import { RawAgent, type RawChat, readLog } from "./wasm/countersign.js";
import { enter } from "./wasm.js";

const raws = new WeakMap<Chat, RawChat>();

/** @internal The wasm side of a chat. */
export function rawChat(chat: Chat): RawChat {
  const raw = raws.get(chat);
  if (!raw) throw new CountersignError("invalid_options", "This is no chat of agent.open(id).");
  return raw;
}

/** One set-up of model, tools and rules; its chats share them. */
export class Agent {
  readonly #raw: RawAgent;
  readonly #host: Host;
  readonly #chats = new Map<string, Promise<Chat>>();

  /** @internal Pages use {@link createAgent}. */
  constructor(raw: RawAgent, host: Host) {
    this.#raw = raw;
    this.#host = host;
  }

  /**
   * Opens a chat: new, or as the store left it. Calls no model and no tool. The same id gives the same chat. A chat that
   * has no messages yet starts from `history`; any other keeps its own.
   */
  open(id: string, options: { history?: readonly HistoryMessage[] } = {}): Promise<Chat> {
    return this.#chats.get(id) ?? this.#keep(id, this.#load(id, options.history));
  }

  /**
   * The log of a chat as it is stored, whole, also where the chat cannot be opened: JSON Lines. Empty for a chat that does
   * not exist.
   */
  async exportLog(id: string): Promise<string> {
    const lines = await this.#host.load(id);
    return lines.map((line) => `${line}\n`).join("");
  }

  /**
   * Stores a log that `exportLog` gave and opens its chat, which keeps its id: approvals are bound to that. Rejects, with
   * nothing written, with code `log_corrupt` if the log does not fit, and `conflict` if there is such a chat already.
   */
  async import(text: string): Promise<Chat> {
    if (typeof text !== "string") throw new CountersignError("invalid_options", "import(text) needs a string.");
    const [id = "", ...lines]: string[] = enter(() => readLog(text));
    if (this.#chats.has(id)) throw taken(id);
    return this.#keep(id, this.#store(id, lines));
  }

  /** Aborts what is under way. Nothing pending is decided by it. */
  dispose(): void {
    enter(() => this.#raw.dispose());
  }

  #keep(id: string, chat: Promise<Chat>): Promise<Chat> {
    this.#chats.set(id, chat);
    chat.catch(() => this.#chats.delete(id));
    return chat;
  }

  async #store(id: string, lines: string[]): Promise<Chat> {
    if ((await this.#host.load(id)).length > 0) throw taken(id);
    await this.#host.append(id, 0, lines);
    return this.#load(id);
  }

  async #load(id: string, history?: readonly HistoryMessage[]): Promise<Chat> {
    if (typeof id !== "string" || id === "") {
      throw new CountersignError("invalid_options", "open(id) needs a non-empty string.");
    }
    const raw: RawChat = await enter(() => this.#raw.open(id, history && readHistory(history)));
    const chat = new Chat(id, raw);
    raws.set(chat, raw);
    return chat;
  }
}

/** Creates an agent. Throws a {@link CountersignError} that names the option at fault. */
export function createAgent(options: AgentOptions): Agent {
  return enter(() => {
    const { setup, host } = readHost(options);
    return new Agent(new RawAgent(setup, host), host);
  });
}

/** A server that speaks the OpenAI Chat Completions format. */
export function openaiChat(options: Model): Model {
  return options;
}

/** A tool; gives editors the types, changes nothing. */
export function tool(definition: Tool): Tool {
  return definition;
}

function taken(id: string): CountersignError {
  return new CountersignError("conflict", `There is a chat "${id}" already: delete it first, or use another store.`);
}
