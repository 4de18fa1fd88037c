/**
 * The strict half of the rehearsal server, which is a rule-based stand-in and no language model: what
 * it refuses, in the words that OpenAI's server uses where it has words for it.
 *
 * Some servers are laxer and some are stricter on a point. This one takes the strictest rule each time, so
 * that a history that passes here passes anywhere: one result for every call, right behind the turn
 * that made the calls, in call order; echoed arguments that parse; no empty arrays.
 */

/** The only model name that the server knows. */
export const MODEL = "countersign-rehearsal";

/** What a server refuses, with the HTTP status and the OpenAI-shaped body it answers with. */
export class Refusal extends Error {
  /**
   * @param {string} message the rule that the request broke
   * @param {{ status?: number, code?: string | null, param?: string | null }} [details]
   */
  constructor(message, { status = 400, code = null, param = null } = {}) {
    super(message);
    this.name = "Refusal";
    this.status = status;
    this.body = { error: { message, type: "invalid_request_error", param, code } };
  }
}

const KNOWN_FIELDS = new Set(
  (
    "model messages stream stream_options tools tool_choice parallel_tool_calls max_tokens max_completion_tokens " +
    "temperature top_p n stop seed presence_penalty frequency_penalty logit_bias logprobs top_logprobs " +
    "response_format reasoning_effort verbosity service_tier store metadata user safety_identifier prompt_cache_key"
  ).split(" "),
);
const NAME = /^[a-zA-Z0-9_-]{1,64}$/u;

function refuse(message, param, code = null) {
  throw new Refusal(message, { param, code });
}

/**
 * Refuses what a strict server refuses.
 *
 * @param {any} request the parsed body of a Chat Completions request
 * @throws {Refusal}
 */
export function check(request) {
  if (!isObject(request)) refuse("The body must be a JSON object.");
  const unknown = Object.keys(request).find((field) => !KNOWN_FIELDS.has(field));
  if (unknown !== undefined) refuse(`Unrecognized request argument supplied: ${unknown}`, unknown);
  if (typeof request.model !== "string" || request.model === "") refuse("You must provide a model parameter.", "model");
  if (request.model !== MODEL) {
    throw new Refusal(
      `The model ${JSON.stringify(request.model)} does not exist here. This server has one: "${MODEL}", a rule-based stand-in, no language model.`,
      { status: 404, code: "model_not_found", param: "model" },
    );
  }
  if (request.stream !== undefined && typeof request.stream !== "boolean")
    refuse("'stream' must be a boolean.", "stream");
  if (request.stream_options !== undefined && request.stream !== true) {
    refuse("The 'stream_options' parameter is only allowed when 'stream' is enabled.", "stream_options");
  }
  checkTools(request);
  checkMessages(request.messages);
}

function checkTools({ tools, tool_choice: choice, parallel_tool_calls: parallel }) {
  if (tools === undefined) {
    if (choice !== undefined) refuse("'tool_choice' is only allowed when 'tools' are specified.", "tool_choice");
    if (parallel !== undefined)
      refuse("'parallel_tool_calls' is only allowed when 'tools' are specified.", "parallel_tool_calls");
    return;
  }
  if (!Array.isArray(tools) || tools.length === 0) {
    refuse(
      "Invalid 'tools': empty array. Expected an array with minimum length 1; leave the key out instead.",
      "tools",
    );
  }
  const names = new Set();
  tools.forEach((tool, at) => {
    const param = `tools[${at}]`;
    if (tool?.type !== "function" || !isObject(tool.function))
      refuse(`Invalid '${param}': expected a tool of type 'function'.`, param);
    const { name, parameters } = tool.function;
    if (typeof name !== "string" || !NAME.test(name)) {
      refuse(
        `Invalid '${param}.function.name': expected a string that matches '^[a-zA-Z0-9_-]+$', at most 64 characters.`,
        param,
      );
    }
    if (names.has(name))
      refuse(`Invalid '${param}.function.name': tool names must be unique, ${JSON.stringify(name)} is not.`, param);
    if (parameters !== undefined && !(isObject(parameters) && parameters.type === "object")) {
      refuse(`Invalid schema for function '${name}': schema must be a JSON Schema of 'type: "object"'.`, param);
    }
    names.add(name);
  });
  const named = choice?.function?.name;
  if (named !== undefined && !names.has(named))
    refuse(`Tool choice '${named}' not found in 'tools' parameter.`, "tool_choice");
}

/**
 * Refuses a history that breaks a rule. Walks it once; `open` holds the ids that still await their tool
 * message, in call order.
 *
 * @param {any} messages
 * @throws {Refusal}
 */
export function checkMessages(messages) {
  if (!Array.isArray(messages) || messages.length === 0) {
    refuse("Invalid 'messages': expected an array with minimum length 1.", "messages");
  }
  let open = [];
  messages.forEach((message, at) => {
    const param = `messages[${at}]`;
    if (!isObject(message)) refuse(`Invalid '${param}': expected an object.`, param);
    if (message.role === "tool") {
      if (open.length === 0) {
        refuse(
          "Invalid parameter: messages with role 'tool' must be a response to a preceeding message with 'tool_calls', exactly one for each 'tool_call_id'.",
          `${param}.role`,
        );
      }
      if (message.tool_call_id !== open[0]) {
        refuse(
          `Invalid '${param}.tool_call_id': expected ${JSON.stringify(open[0])}, got ${JSON.stringify(message.tool_call_id)}. ` +
            "Tool messages follow an assistant message with 'tool_calls' one for each call, in call order.",
          `${param}.tool_call_id`,
        );
      }
      checkContent(message.content, param);
      open.shift();
      return;
    }
    checkAnswered(open, param);
    switch (message.role) {
      case "system":
      case "developer":
      case "user":
        checkContent(message.content, param);
        return;
      case "assistant":
        open = checkAssistant(message, param);
        return;
      default:
        refuse(
          `Invalid value for '${param}.role': ${JSON.stringify(message.role)}. Supported are 'system', 'developer', 'user', 'assistant' and 'tool'.`,
          param,
        );
    }
  });
  checkAnswered(open, `messages[${messages.length}]`);
}

function checkAnswered(open, param) {
  if (open.length === 0) return;
  refuse(
    "An assistant message with 'tool_calls' must be followed by tool messages responding to each 'tool_call_id'. " +
      `The following tool_call_ids did not have response messages: ${open.join(", ")}`,
    `${param}.role`,
  );
}

function checkContent(content, param) {
  const parts =
    Array.isArray(content) &&
    content.length > 0 &&
    content.every((part) => isObject(part) && typeof part.type === "string");
  if (typeof content !== "string" && !parts) {
    refuse(
      `Invalid value for '${param}.content': expected a string or a non-empty array of typed parts, got ${JSON.stringify(content) ?? "nothing"}.`,
      `${param}.content`,
    );
  }
}

/** @returns {string[]} the ids that the next messages must answer */
function checkAssistant(message, param) {
  const { tool_calls: calls, content } = message;
  if (calls === undefined) {
    checkContent(content, param);
    return [];
  }
  if (content !== null && content !== undefined) checkContent(content, param);
  if (!Array.isArray(calls) || calls.length === 0) {
    refuse(
      `Invalid '${param}.tool_calls': empty array. Expected an array with minimum length 1; leave the key out instead.`,
      `${param}.tool_calls`,
    );
  }
  return calls.map((call, at) => {
    const place = `${param}.tool_calls[${at}]`;
    if (call?.type !== "function" || !isObject(call.function))
      refuse(`Invalid '${place}': expected a call of type 'function'.`, place);
    if (typeof call.id !== "string" || call.id === "")
      refuse(`Invalid '${place}.id': expected a non-empty string.`, `${place}.id`);
    if (call.id.length > 40) {
      refuse(
        `Invalid '${place}.id': string too long. Expected a string with maximum length 40, but got one with length ${call.id.length}.`,
        `${place}.id`,
      );
    }
    if (calls.findIndex((other) => other.id === call.id) !== at)
      refuse(`Invalid '${place}.id': ids must be unique within a message.`, `${place}.id`);
    if (typeof call.function.name !== "string" || !NAME.test(call.function.name)) {
      refuse(
        `Invalid '${place}.function.name': expected a string that matches '^[a-zA-Z0-9_-]+$', at most 64 characters.`,
        place,
      );
    }
    if (typeof call.function.arguments !== "string" || !isJsonObject(call.function.arguments)) {
      refuse(`Invalid '${place}.function.arguments': expected a string that holds a JSON object.`, place);
    }
    return call.id;
  });
}

function isJsonObject(text) {
  try {
    return isObject(JSON.parse(text));
  } catch {
    return false;
  }
}

/** Whether a parsed JSON value is an object. */
export function isObject(value) {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
