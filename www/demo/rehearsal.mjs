/**
 * The rehearsal model: a rule-based stand-in, no language model.
 *
 * It speaks the Chat Completions format well enough to rehearse an approval: it reads the tools it is
 * offered and the results it is sent, and whatever it says about a call comes from that call's tool
 * message in the request, never from a script of what ought to have happened. The same request
 * always gets the same bytes.
 *
 * It is also a strict server. A history that OpenAI would refuse, or that breaks the rule of one
 * result for every call in call order, gets HTTP 400 with the rule in the message; so a page that
 * rehearses with it is checked by it.
 *
 * Nothing of Node in here: the HTTP server and a page without a server run the same module.
 */

import { check, isObject, MODEL, Refusal } from "./strictness.mjs";

export { MODEL, Refusal };

/**
 * Answers one request with the chunks of a stream, each a complete server-sent event.
 *
 * @param {any} request the parsed body of a Chat Completions request
 * @returns {string[]} the last one is `data: [DONE]`
 * @throws {Refusal} where a strict server would answer with an error
 */
export function respond(request) {
  check(request);
  const { text, call } = plan(request);
  const usage = countWords(request, text);
  const wantsUsage = request.stream_options?.include_usage === true;
  const chunk = (choices, counted = null) =>
    `data: ${JSON.stringify({
      ...envelope(request, "chat.completion.chunk"),
      choices,
      ...(wantsUsage ? { usage: counted } : {}),
    })}\n\n`;
  const delta = (piece, finish = null) => chunk([{ index: 0, delta: piece, finish_reason: finish }]);

  const chunks = [delta({ role: "assistant", content: call ? null : "" })];
  for (const piece of text.match(/\S+\s*/gu) ?? []) chunks.push(delta({ content: piece }));
  if (call) {
    const head = { index: 0, id: call.id, type: "function", function: { name: call.name, arguments: "" } };
    chunks.push(delta({ tool_calls: [head] }));
    for (const piece of call.arguments.match(/.{1,6}/gsu) ?? []) {
      chunks.push(delta({ tool_calls: [{ index: 0, function: { arguments: piece } }] }));
    }
  }
  chunks.push(delta({}, call ? "tool_calls" : "stop"));
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

/**
 * Hands chunks on, one after another, with a pause before each. A pause makes streaming visible to a
 * person; tests use none.
 *
 * @param {Iterable<string> | AsyncIterable<string | Uint8Array>} chunks
 * @param {number} delayMs
 * @param {AbortSignal} [signal] ends the iteration early
 */
export async function* pace(chunks, delayMs, signal) {
  for await (const chunk of chunks) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (signal?.aborted) return;
    yield chunk;
  }
}

/**
 * Makes a stand-in for `fetch` that answers `…/chat/completions` inside the page.
 *
 * @param {{ delayMs?: number }} [options] the pause before each chunk
 * @returns {typeof fetch}
 */
export function createRehearsalFetch({ delayMs = 0 } = {}) {
  return async (input, init = {}) => {
    const request = input instanceof Request ? input : null;
    const signal = init.signal ?? request?.signal;
    const path = String(request?.url ?? input).split(/[?#]/u)[0];
    const method = (init.method ?? request?.method ?? "GET").toUpperCase();
    throwIfAborted(signal);
    if (!path.endsWith("/chat/completions") || method !== "POST") {
      const { status, body } = new Refusal(`Unknown request: ${method} ${path}`, { status: 404 });
      return Response.json(body, { status });
    }
    const bodyText = await (request && init.body === undefined ? request : new Response(init.body)).text();
    throwIfAborted(signal);
    const { status, contentType, chunks } = serve(bodyText);
    return new Response(streamOf(chunks, delayMs, signal), { status, headers: { "content-type": contentType } });
  };
}

/** A stand-in for `fetch` without pauses. */
export const rehearsalFetch = createRehearsalFetch();

function streamOf(chunks, delayMs, signal) {
  const encoder = new TextEncoder();
  const paced = pace(chunks, delayMs, signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await paced.next();
      if (signal?.aborted) controller.error(abortError());
      else if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}

function throwIfAborted(signal) {
  if (signal?.aborted) throw abortError();
}

function abortError() {
  return new DOMException("The request was aborted.", "AbortError");
}

// --- What it says -------------------------------------------------------------------------------

const HELP =
  "I am the rehearsal model: a set of fixed rules, no language model. I can look into the cookie jar, " +
  'eat cookies from it ("Eat 3 cookies") and empty it ("Empty the jar"). After a refusal, ' +
  '"Do it anyway" makes me propose the same call again.';

/**
 * Decides what comes next from the request alone: a text, or one call.
 *
 * @returns {{ text: string, call?: { id: string, name: string, arguments: string } }}
 */
function plan(request) {
  const { messages } = request;
  const asked = messages.findLastIndex((message) => message.role === "user");
  const wish = asked < 0 ? { kind: "none" } : wishOf(textOf(messages[asked].content));
  const settled = settledCalls(messages.slice(asked + 1));
  const jar = jarAmong(request.tools ?? []);
  const propose = (args) => {
    if (!jar) return { text: "No cookie jar was offered to me in this request, so I can do nothing with it." };
    if (request.tool_choice === "none") return { text: "This request tells me to call no tool, so I stop here." };
    return { text: "", call: { id: nextCallId(messages), name: jar, arguments: JSON.stringify(args) } };
  };

  const last = settled.at(-1);
  if (last) return afterResult(last, wish, propose);
  switch (wish.kind) {
    case "look":
    case "eat":
      return propose({ action: "look" });
    case "again":
      return again(messages.slice(0, asked), propose);
    case "which":
      return { text: 'How many? Say for example "Eat 3 cookies" or "Empty the jar".' };
    default:
      return { text: HELP };
  }
}

/** What to do once the newest call of this run has its result. */
function afterResult({ call, result }, wish, propose) {
  if (result.token) return { text: accountOf(result) };
  if (call.args.action !== "look") return { text: reportOf(result) };
  const count = countIn(result);
  if (count === null) return { text: `The tool answered, but I find no count of cookies in it: ${quote(result.text)}` };
  if (wish.kind !== "eat") return { text: `There ${count === 1 ? "is 1 cookie" : `are ${count} cookies`} in the jar.` };
  if (count === 0) return { text: "The jar is already empty, so there was nothing to eat." };
  const wanted = wish.count ?? count;
  if (wanted > count) {
    return {
      text: `There ${count === 1 ? "is" : "are"} only ${cookies(count)} in the jar, so I did not try to eat ${wanted}.`,
    };
  }
  return propose({ action: "eat", count: wanted });
}

/** Proposes the newest call that did not run once more, or says why there is none. */
function again(before, propose) {
  const last = settledCalls(before).at(-1);
  if (!last) return { text: "There is no earlier call that I could propose again." };
  if (!last.result.token) return { text: "The last call ran, so there is nothing to propose again." };
  if (RAN_OR_UNKNOWN.has(last.result.token)) return propose({ action: "look" });
  return propose(last.call.args);
}

/** After these the tool may have run: repeating it blindly could do the thing twice. */
const RAN_OR_UNKNOWN = new Set([
  "tool_failed",
  "outcome_unknown",
  "request_declined",
  "request_lapsed",
  "declined_or_expired",
]);

/** One truthful sentence or two for each token of a call without a plain result. */
function accountOf({ token, decidedBy, reason, approved, text }) {
  switch (token) {
    case "approval_denied":
      return `${whoDeclined(decidedBy)} Nothing was executed, so no cookie was eaten. ${afterDenial(reason)}`;
    case "approval_expired":
      return "Nobody decided in time, so the call was not executed. Do you still want it?";
    case "approval_superseded":
      return approved
        ? "The call had been approved, but a new message came before it started, so nothing was executed."
        : "The call was not executed, because a new message came instead of a decision.";
    case "approval_cancelled":
      return approved
        ? "The call had been approved, but the run was stopped before it started, so nothing was executed."
        : "The run was stopped before the call started, so nothing was executed.";
    case "already_declined":
      return "The same call was declined earlier in this run, so it was not executed and nobody was asked again.";
    case "request_declined":
      return `${whoDeclined(decidedBy)} The tool had started and stopped when what it asked for was declined.`;
    case "request_lapsed":
      return "The tool had started and asked for something that nobody answered, so it stopped.";
    case "blocked_by_policy":
      return "A rule of this page refused the call. Nobody was asked, and nothing was executed.";
    case "tool_unavailable":
      return "The tool was not available, so nothing was executed.";
    case "arguments_invalid":
      return "My call had arguments that the tool does not take, so nothing was executed.";
    case "turn_truncated":
      return "My turn was cut off, so none of its calls was executed.";
    case "tool_failed":
      return `The tool was started and did not succeed: ${quote(text)}`;
    case "outcome_unknown":
      return "The call was started, but its result was lost: I do not know whether cookies were eaten. I will not repeat it blindly; ask me to look.";
    case "declined_or_expired":
      return "Something was declined or it expired; the tool's result says no more than that.";
    default:
      return `The call did not give a plain result: ${quote(text)}`;
  }
}

function whoDeclined(decidedBy) {
  if (decidedBy === "run_owner") return "You declined that yourself.";
  if (decidedBy === "other_user") return "Another user declined that, not you.";
  return "That was declined.";
}

function afterDenial(reason) {
  if (reason === "variant") return "I can propose another number of cookies.";
  if (reason === "skip") return "I will not propose it again.";
  return 'If you want it after all, say "Do it anyway".';
}

/** What an eating call did, in the numbers of its result. */
function reportOf(result) {
  const eaten = numberIn(result, ["eaten", "ate"]);
  const left = countIn(result);
  if (eaten === null && left === null) return `The tool answered: ${quote(result.text)}`;
  const parts = [];
  if (eaten !== null) parts.push(`${cookies(eaten)} ${eaten === 1 ? "was" : "were"} eaten`);
  if (left !== null)
    parts.push(left === 0 ? "the jar is empty now" : `${left} ${left === 1 ? "is" : "are"} left in the jar`);
  const sentence = parts.join("; ");
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
}

function cookies(count) {
  return count === 1 ? "1 cookie" : `${count} cookies`;
}

/** Quoted text is cut, so that a long result does not become a long answer. */
function quote(text) {
  const characters = Array.from(text);
  return JSON.stringify(characters.length > 200 ? `${characters.slice(0, 200).join("")}…` : text);
}

// --- What it reads ------------------------------------------------------------------------------

const NUMBER_WORDS = [
  "no",
  "one",
  "two",
  "three",
  "four",
  "five",
  "six",
  "seven",
  "eight",
  "nine",
  "ten",
  "eleven",
  "twelve",
];

/** What the user's text asks for, by a few words; anything unclear is `none`, and gets the help text. */
function wishOf(text) {
  const said = text.toLowerCase().replaceAll("’", "'");
  if (/\b(don't|do not|never|not)\b/u.test(said)) return { kind: "none" };
  if (/\b(go ahead|do it|try again|propose (it|that) again)\b/u.test(said)) return { kind: "again" };
  if (/\b(empty|eat|finish)\b/u.test(said)) {
    const digits = said.match(/(?<![\w.,-])\d{1,15}(?![\w]|[.,]\d)/u);
    if (digits) return Number(digits[0]) > 0 ? { kind: "eat", count: Number(digits[0]) } : { kind: "none" };
    if (/\d/u.test(said)) return { kind: "none" };
    if (/\b(empty|all|every|everything|finish|whole|rest)\b/u.test(said)) return { kind: "eat" };
    const word = NUMBER_WORDS.findIndex((name) => new RegExp(`\\b${name}\\b`, "u").test(said));
    if (word > 0) return { kind: "eat", count: word };
    return /\ba cookie\b/u.test(said) ? { kind: "eat", count: 1 } : { kind: "which" };
  }
  if (/\b(look|count|how many|peek|check)\b/u.test(said)) return { kind: "look" };
  return { kind: "none" };
}

/** The calls of these messages with their results, in order. */
function settledCalls(messages) {
  const results = [];
  let calls = new Map();
  for (const message of messages) {
    if (message.role === "assistant") {
      calls = new Map(
        (message.tool_calls ?? []).map((call) => [call.id, { args: JSON.parse(call.function.arguments) }]),
      );
    } else if (message.role === "tool") {
      results.push({ call: calls.get(message.tool_call_id), result: resultOf(textOf(message.content)) });
    }
  }
  return results;
}

/**
 * Reads a result item in each of the forms the package renders.
 *
 * @returns {{ text: string, token?: string, decidedBy?: string, reason?: string, approved?: boolean }} without a token it
 *   is a plain result
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

/** The number of cookies in the jar that a plain result states, or null. */
function countIn(result) {
  return numberIn(result, ["cookies", "count", "left", "remaining"]);
}

function numberIn({ text }, names) {
  const data = objectIn(text);
  const found = names.map((name) => data?.[name]).find((value) => Number.isSafeInteger(value) && value >= 0);
  return found ?? null;
}

/** The JSON object a text consists of or starts with; a host's remark may stand in the lines below it. */
function objectIn(text) {
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

/** The name of the offered tool that looks like a cookie jar: by its schema, whatever its name. */
function jarAmong(tools) {
  const jar = tools.find((tool) => {
    const actions = tool.function?.parameters?.properties?.action?.enum;
    return Array.isArray(actions) && actions.includes("look") && actions.includes("eat");
  });
  return jar?.function.name ?? null;
}

function nextCallId(messages) {
  const made = messages.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0);
  return `call_rehearsal_${made + 1}`;
}

function textOf(content) {
  if (typeof content === "string") return content;
  return (content ?? []).map((part) => part.text ?? "").join("");
}

/** The answer in one piece, for a request that does not stream. */
function complete(request) {
  const { text, call } = plan(request);
  const message = { role: "assistant", content: call ? null : text };
  if (call)
    message.tool_calls = [{ id: call.id, type: "function", function: { name: call.name, arguments: call.arguments } }];
  return {
    ...envelope(request, "chat.completion"),
    choices: [{ index: 0, message, finish_reason: call ? "tool_calls" : "stop" }],
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
