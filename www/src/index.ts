/** Everything a page imports. Importing has no effect: `init` loads the wasm, `defineElements` registers elements. */
import { rawChat } from "./agent.js";
import { CardWords } from "./card-words.js";
import type { Chat } from "./chat.js";
import { defineElements as define } from "./element.js";
import { RawApprovals, verifyLog as rawVerifyLog } from "./wasm/countersign.js";
import { enter, life, unlessAborted } from "./wasm.js";
import type { Strings } from "./words.js";

export { type Agent, type ChatSummary, createAgent, tool } from "./agent.js";
export type { Chat, DecideOptions, ExtendOptions, SendOptions } from "./chat.js";
export type { CountersignApprovals } from "./element.js";
export { CountersignError } from "./error.js";
export type { Grant, Grants, Terms } from "./grants.js";
export { type IndexedDBStore, indexedDBStore } from "./indexeddb.js";
export type {
  AnthropicOptions,
  GivenHeaders,
  Model,
  ModelOptions,
  OpenAIChatOptions,
  OpenAIResponsesOptions,
} from "./models.js";
export { anthropic, gemini, openaiChat, openaiResponses } from "./models.js";
export {
  answerDeclined,
  answerOutput,
  type McpElicitResult,
  pendingRequest,
  toMcpElicitation,
} from "./requests.js";
export type { AskOptions, Condition, PatternRule, Rule, RuleCall, Verdict } from "./rules.js";
export { allow, ask, refuse } from "./rules.js";
export { memoryStore, type Store } from "./store.js";
export * from "./tokens.js";
export type * from "./types.js";
export { type AllWires, type InitInput, init } from "./wasm.js";
export type { Phrase, Strings } from "./words.js";

/**
 * Registers `<countersign-approvals>`; later calls change nothing. `strings` is what its elements say where they have none
 * of their own. Needs `await init()` before an element is given its chat.
 */
export function defineElements(options: { strings?: Strings } = {}): void {
  const common = new CardWords(options.strings);
  define((root, chat: Chat, shown) => {
    const words = shown.strings === undefined ? common : new CardWords(shown.strings);
    let drawn: RawApprovals | undefined;
    let nodes: readonly Node[] = [];
    let since = life();
    const clear = () => {
      if (since === life()) unlessAborted(() => drawn?.free());
      // The cards of a module that trapped cannot be taken out by it.
      for (const node of nodes) node.parentNode?.removeChild(node);
      drawn = undefined;
    };
    const draw = () => {
      // Those of before may be there for another moment.
      const others = new Set(root.childNodes);
      try {
        drawn = new RawApprovals(root, rawChat(chat), shown.by, words, shown);
      } finally {
        nodes = [...root.childNodes].filter((node) => !others.has(node));
      }
    };
    const update = () => {
      if (!chat.isHere()) return;
      if (since !== life()) clear();
      since = life();
      unlessAborted(() => {
        if (drawn === undefined) draw();
        drawn?.update();
      });
    };
    update();
    return {
      update,
      leave() {
        if (since === life()) unlessAborted(() => drawn?.leave());
      },
      free: clear,
    };
  });
}

/** What {@link verifyLog} found. */
export type LogCheck =
  /** `head` is the hash of the last event. */
  | { valid: true; events: number; head: string }
  /** `seq` is the position of the first event at fault. */
  | { valid: false; seq: number; problem: string };

/**
 * Checks an export of any level: that no event was changed, added, moved, or taken out of the middle. It cannot tell
 * whether the end was dropped, or everything was made anew by somebody who can write the store: keep `head` and `events`
 * elsewhere and compare. Needs `await init()`.
 */
export function verifyLog(text: string): LogCheck {
  return enter(() => rawVerifyLog(String(text)) as LogCheck);
}
