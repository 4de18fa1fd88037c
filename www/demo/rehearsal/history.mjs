/** What the rehearsal model reads of a request's messages: texts, and the calls with their results. */

import { isObject } from "../strictness.mjs";

/**
 * A result item. Without a token it is a plain result.
 *
 * @typedef {{ text: string, token?: string, decidedBy?: string, reason?: string, approved?: boolean }} Result
 */

/**
 * A call that has its result. `turn` counts the turns with calls, so that the calls of one turn have the same.
 *
 * @typedef {{ turn: number, tool: string, args: any, result: Result }} Settled
 */

/** The text of a message, whatever its content is made of. */
export function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

/**
 * The calls of these messages with their results, in order.
 *
 * @returns {Settled[]}
 */
export function settledCalls(messages) {
  const settled = [];
  let calls = new Map();
  let turn = 0;
  for (const message of messages) {
    if (message.role === "assistant" && message.tool_calls) {
      turn += 1;
      calls = new Map(message.tool_calls.map((call) => [call.id, call.function]));
    } else if (message.role === "tool") {
      const { name, arguments: args } = calls.get(message.tool_call_id);
      settled.push({ turn, tool: name, args: JSON.parse(args), result: resultOf(textOf(message.content)) });
    }
  }
  return settled;
}

/**
 * Reads a result item in each of the forms the package renders.
 *
 * @returns {Result}
 */
function resultOf(text) {
  const sentence = text.match(/^Error: ([a-z_]+)(?: \(([^)]*)\))?\. /u);
  if (sentence) {
    const fields = new Map((sentence[2] ?? "").split(/[,;]\s*/u).map((field) => field.split(/:\s*/u, 2)));
    return {
      text,
      token: sentence[1],
      decidedBy: fields.get("decided_by"),
      reason: fields.get("reason"),
      approved: fields.get("approved") === "true",
    };
  }
  if (text.startsWith("declined/expired: ")) return { text, token: "declined_or_expired" };
  const data = objectIn(text);
  if (typeof data?.status === "string" && typeof data.reason_code === "string") {
    // Logs from before the tokens had underscores spell them with a dot.
    return { text, token: data.reason_code.replace(".", "_"), decidedBy: data.decided_by };
  }
  return { text };
}

/** The JSON object a text consists of or starts with, or null; a host's remark may stand in the lines below it. */
export function objectIn(text) {
  for (const candidate of [text, text.split("\n", 1)[0]]) {
    try {
      const value = JSON.parse(candidate);
      if (isObject(value)) return value;
    } catch {
      // Not JSON: the next candidate, or none.
    }
  }
  return null;
}

/** The name of the first offered tool for which `fits(name, properties)` holds, or null. */
export function toolAmong(tools, fits) {
  const found = tools.find(({ function: { name, parameters } }) => fits(name, parameters?.properties ?? {}));
  return found?.function.name ?? null;
}
