/** Puts what the model says into the Chat Completions format: in pieces, in one piece, or as a refusal. */

import { check, MODEL, Refusal } from "../strictness.mjs";
import { textOf } from "./history.mjs";
import { plan } from "./plan.mjs";

/**
 * Answers one request with the chunks of a stream, each a complete server-sent event.
 *
 * @param {any} request the parsed body of a Chat Completions request
 * @returns {string[]} the last one is `data: [DONE]`
 * @throws {Refusal} where a strict server would answer with an error
 */
export function respond(request) {
  check(request);
  const { text, calls } = plan(request);
  const usage = countWords(request, text);
  const wantsUsage = request.stream_options?.include_usage === true;
  const chunk = (choices, counted = null) =>
    `data: ${JSON.stringify({
      ...envelope(request, "chat.completion.chunk"),
      choices,
      ...(wantsUsage ? { usage: counted } : {}),
    })}\n\n`;
  const delta = (piece, finish = null) => chunk([{ index: 0, delta: piece, finish_reason: finish }]);

  const chunks = [delta({ role: "assistant", content: calls.length > 0 ? null : "" })];
  for (const piece of text.match(/\S+\s*/gu) ?? []) chunks.push(delta({ content: piece }));
  calls.forEach((call, index) => {
    const head = { index, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    chunks.push(delta({ tool_calls: [head] }));
    for (const piece of piecesOf(call.arguments)) {
      chunks.push(delta({ tool_calls: [{ index, function: { arguments: piece } }] }));
    }
  });
  chunks.push(delta({}, calls.length > 0 ? "tool_calls" : "stop"));
  if (wantsUsage) chunks.push(chunk([], usage));
  chunks.push("data: [DONE]\n\n");
  return chunks;
}

/**
 * Answers a request body as the server does: streamed or in one piece, or with an error body.
 *
 * @param {string} bodyText
 * @returns {{ status: number, contentType: string, chunks: string[] }}
 */
export function serve(bodyText) {
  try {
    let request;
    try {
      request = JSON.parse(bodyText);
    } catch (cause) {
      throw new Refusal(`We could not parse the JSON body of your request: ${cause.message}`);
    }
    const chunks = respond(request);
    if (request.stream === true) return { status: 200, contentType: "text/event-stream", chunks };
    return { status: 200, contentType: "application/json", chunks: [JSON.stringify(complete(request))] };
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    return { status: error.status, contentType: "application/json", chunks: [JSON.stringify(error.body)] };
  }
}

/** At most 40 pieces: long arguments shall not take a watching person minutes. */
function piecesOf(text) {
  const size = Math.max(6, Math.ceil(text.length / 40));
  return text.match(new RegExp(`.{1,${size}}`, "gsu")) ?? [];
}

/** The answer in one piece, for a request that does not stream. */
function complete(request) {
  const { text, calls } = plan(request);
  const message = { role: "assistant", content: calls.length > 0 ? null : text };
  if (calls.length > 0) {
    message.tool_calls = calls.map(({ id, ...called }) => ({ id, type: "function", function: called }));
  }
  return {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: calls.length > 0 ? "tool_calls" : "stop" }],
    usage: countWords(request, text),
  };
}

/** No clock and no randomness, so that the same request gets the same bytes. */
function envelope(request, object) {
  return { id: `chatcmpl-rehearsal-${request.messages.length}`, object, created: 0, model: MODEL };
}

/** Words, since there are no tokens here. */
function countWords(request, text) {
  const count = (words) => words.split(/\s+/u).filter(Boolean).length;
  const prompt_tokens = count(request.messages.map((message) => textOf(message.content)).join(" "));
  const completion_tokens = count(text);
  return { prompt_tokens, completion_tokens, total_tokens: prompt_tokens + completion_tokens };
}
