/** A model for runs of several rounds. */
import { calls, text } from "./scripted.mjs";

/**
 * Answers a message that is JSON, `[[["tool", "arguments"], …], …]`, with the calls of one round after another, then, as
 * anything else, with "The end."
 */
export function rounds(body) {
  const { messages } = JSON.parse(body);
  const asked = messages.findLastIndex(({ role }) => role === "user");
  const turns = messages.slice(asked).filter(({ role }) => role === "assistant").length;
  const order = JSON.parse(messages[asked].content)[turns];
  return order ? calls(...order) : text("The end.");
}
