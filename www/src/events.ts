import type { Chat } from "./chat.js";
import type { Call, ChatEvent, Snapshot } from "./types.js";

/**
 * @internal What changes in a chat from now on, read off its snapshots: a page that asks late gets what it missed, and
 * nothing is told that is not stored, but for the text of an answer that arrives.
 */
export function eventsOf(chat: Chat): AsyncIterableIterator<ChatEvent> {
  const queue: ChatEvent[] = [];
  let seen = chat.stored();
  let wake = () => {};
  let over = false;
  const end = chat.subscribe(() => {
    const next = chat.stored();
    queue.push(...difference(seen, next));
    seen = next;
    wake();
  });
  return {
    [Symbol.asyncIterator]() {
      return this;
    },
    async next() {
      while (queue.length === 0 && !over) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
      const value = queue.shift();
      return value ? { value, done: false } : { value: undefined, done: true };
    },
    async return() {
      end();
      over = true;
      queue.length = 0;
      wake();
      return { value: undefined, done: true };
    },
  };
}

function difference(before: Snapshot, after: Snapshot): ChatEvent[] {
  const events: ChatEvent[] = [];
  const known = new Map<string, Call>();
  for (const message of before.messages.slice(-1)) {
    if (message.type === "assistant") for (const call of message.calls) known.set(call.id, call);
  }
  // All messages but the last are settled.
  after.messages.slice(Math.max(before.messages.length - 1, 0)).forEach((message, place) => {
    const isNew = place > 0 || before.messages.length === 0;
    if (isNew && message.type === "assistant") {
      arrived(events, before.streaming, message);
      if (message.usage) events.push({ type: "usage", messageId: message.id, usage: message.usage });
    } else if (isNew) {
      events.push({ type: "message", message });
    }
    if (message.type !== "assistant") return;
    for (const call of message.calls) {
      const old = known.get(call.id);
      if (!old) events.push({ type: "call", call });
      if (call.decision && !old?.decision) events.push({ type: "decision", call, decision: call.decision });
      if (call.result && !old?.result) events.push({ type: "result", call });
    }
  });
  if (after.streaming) arrived(events, before.streaming, after.streaming);
  for (const request of after.requests) {
    if (!before.requests.some(({ id }) => id === request.id)) events.push({ type: "request", request });
  }
  if (after.status !== before.status) {
    const { status, reason, error } = after;
    events.push({ type: "status", status, ...(reason && { reason }), ...(error && { error }) });
  }
  return events;
}

/** What of an answer is new, where `before` had arrived already. A request that was made again begins anew. */
function arrived(
  events: ChatEvent[],
  before: Snapshot["streaming"],
  { text, reasoning }: { text: string; reasoning: string },
): void {
  const fresh = (now: string, old = "") => (now.startsWith(old) ? now.slice(old.length) : now);
  const thought = fresh(reasoning, before?.reasoning);
  const said = fresh(text, before?.text);
  if (thought) events.push({ type: "reasoning", text: thought });
  if (said) events.push({ type: "text", text: said });
}
