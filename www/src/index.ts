/** Everything a page imports. Importing has no effect: `init` loads the wasm, `defineElements` registers elements. */
import { rawChat } from "./agent.js";
import type { Chat } from "./chat.js";
import { defineElements as define } from "./element.js";
import { RawApprovals } from "./wasm/countersign.js";
import { enter } from "./wasm.js";

export { type Agent, type ChatSummary, createAgent, openaiChat, tool } from "./agent.js";
export type { Chat, DecideOptions, SendOptions } from "./chat.js";
export type { CountersignApprovals } from "./element.js";
export { CountersignError } from "./error.js";
export { type IndexedDBStore, indexedDBStore } from "./indexeddb.js";
export type { Condition, PatternRule, Rule, RuleCall, Verdict } from "./rules.js";
export { allow, ask, refuse } from "./rules.js";
export { memoryStore, type Store } from "./store.js";
export * from "./tokens.js";
export type * from "./types.js";
export { type InitInput, init } from "./wasm.js";

/** Registers `<countersign-approvals>`. Needs `await init()` before an element is given its chat. */
export function defineElements(): void {
  define((root: ShadowRoot, chat: Chat, by: () => string | null | undefined) =>
    enter(() => new RawApprovals(root, rawChat(chat), by)));
}
