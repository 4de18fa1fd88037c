import { Chat } from "./chat.js";
import { CountersignError } from "./error.js";
import { readHost } from "./host.js";
import { readHistory } from "./messages.js";
import type { AgentOptions, HistoryMessage, Model, Tool } from "./types.js";
import { RawAgent, type RawChat } from "./wasm/countersign.js";
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
  readonly #chats = new Map<string, Promise<Chat>>();

  /** @internal Pages use {@link createAgent}. */
  constructor(raw: RawAgent) {
    this.#raw = raw;
  }

  /**
   * Opens a chat: new, or as the store left it. Calls no model and no tool. The same id gives the same chat. A chat that
   * has no messages yet starts from `history`; any other keeps its own.
   */
  open(id: string, options: { history?: readonly HistoryMessage[] } = {}): Promise<Chat> {
    let chat = this.#chats.get(id);
    if (!chat) {
      chat = this.#load(id, options.history);
      this.#chats.set(id, chat);
      chat.catch(() => this.#chats.delete(id));
    }
    return chat;
  }

  /** Aborts what is under way. Nothing pending is decided by it. */
  dispose(): void {
    enter(() => this.#raw.dispose());
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
    return new Agent(new RawAgent(setup, host));
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
