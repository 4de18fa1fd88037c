/**
 * What the strictest server of each wire refuses, and what a request says: its messages, calls and results in order,
 * whatever the wire. The rules are those of the four APIs' own error messages.
 */
import assert from "node:assert/strict";
import { checkMessages } from "../../www/demo/strictness.mjs";

/** A letter first: Google and Moonshot refuse any other name. */
const NAME = /^[A-Za-z][\w-]{0,63}$/;
const ID = /^[\w-]{1,40}$/;

const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);

/** Results answer all that is open, in call order, before anything else is said. */
class Pairing {
  items = [];
  #ids = new Set();
  #open = [];

  say(role, text) {
    this.closed(`what the ${role} says`);
    this.items.push({ role, text });
  }

  call(id, name, args) {
    assert.match(id, ID);
    assert.match(name, NAME);
    assert.ok(!this.#ids.has(id), `the id ${id} is used twice`);
    assert.ok(isObject(args), `the arguments of ${id} are no object`);
    this.#ids.add(id);
    this.#open.push(id);
    this.items.push({ role: "call", id, name, args });
  }

  result(id, text, isError) {
    assert.equal(id, this.#open.shift(), "results stand in call order, each behind its call");
    assert.equal(typeof text, "string");
    this.items.push({ role: "result", id, text, isError });
  }

  get isOpen() {
    return this.#open.length > 0;
  }

  closed(what) {
    assert.deepEqual(this.#open, [], `${what} comes before the results`);
  }

  end() {
    this.closed("the end");
    return this.items;
  }
}

function readChat(request) {
  checkMessages(request.messages);
  const pairing = new Pairing();
  for (const { role, content, tool_calls: calls = [], tool_call_id: id } of request.messages) {
    if (role === "tool") {
      pairing.result(id, content, content.startsWith("Error: "));
      continue;
    }
    if (content) pairing.say(role, content);
    for (const call of calls) pairing.call(call.id, call.function.name, JSON.parse(call.function.arguments));
  }
  for (const tool of request.tools ?? []) assert.match(tool.function.name, NAME);
  return pairing.end();
}

function readResponses(request) {
  assert.equal(request.store, false, "nothing has to be stored");
  assert.ok(Array.isArray(request.input) && request.input.length > 0);
  const pairing = new Pairing();
  const asked = new Set();
  if (request.instructions) pairing.say("system", request.instructions);
  for (const [at, item] of request.input.entries()) {
    switch (item.type) {
      case "function_call":
        pairing.call(item.call_id, item.name, JSON.parse(item.arguments));
        break;
      case "function_call_output":
        pairing.result(item.call_id, item.output, item.output.startsWith("Error: "));
        break;
      case "mcp_approval_request":
        asked.add(item.id);
        break;
      case "mcp_approval_response": {
        const { approval_request_id: id, approve, reason: text } = item;
        assert.ok(asked.delete(id), "an approval answers one request, once");
        assert.equal(typeof approve, "boolean");
        pairing.items.push({ role: "approval", id, approve, text });
        break;
      }
      case "reasoning": {
        // A server that keeps nothing can only read what is in the item.
        const { encrypted_content: encrypted, content, summary } = item;
        assert.ok(encrypted || content?.length || summary?.length, "reasoning is a bare reference");
        assert.match(
          request.input[at + 1]?.type,
          /^(reasoning|message|.*_call|.*_request)$/,
          "reasoning led to nothing",
        );
        break;
      }
      case "message": {
        const [{ text }] = item.content;
        const kind = item.role === "assistant" ? "output_text" : "input_text";
        for (const part of item.content) assert.equal(part.type, kind);
        if (item.role === "user")
          assert.equal(asked.size, 0, "a message comes before the answers to approval requests");
        if (item.role === "user") pairing.say("user", text);
        else pairing.items.push({ role: item.role, text });
        break;
      }
    }
  }
  assert.equal(asked.size, 0, "a request for approval has no answer");
  for (const tool of request.tools ?? []) {
    if (tool.type !== "function") continue;
    assert.match(tool.name, NAME);
    assert.equal(tool.parameters.type, "object");
    assert.equal(typeof tool.strict, "boolean");
  }
  return pairing.end();
}

function readAnthropic(request) {
  assert.ok(Number.isSafeInteger(request.max_tokens) && request.max_tokens > 0);
  const pairing = new Pairing();
  for (const { text } of request.system ?? []) pairing.say("system", text);
  let before;
  for (const { role, content } of request.messages) {
    assert.ok(role === "user" || role === "assistant");
    assert.notEqual(role, before, "roles alternate");
    if (before === undefined) assert.equal(role, "user");
    before = role;
    assert.ok(Array.isArray(content) && content.length > 0);
    const texts = [];
    for (const block of content) {
      switch (block.type) {
        case "text":
          assert.match(block.text, /\S/, "a text is blank");
          texts.push(block.text);
          if (role === "user") pairing.closed("a text");
          pairing.items.push({ role, text: block.text });
          break;
        case "tool_use":
          assert.equal(role, "assistant");
          pairing.call(block.id, block.name, block.input);
          break;
        case "tool_result":
          assert.equal(role, "user");
          assert.equal(texts.length, 0, "results come first");
          pairing.result(block.tool_use_id, block.content, block.is_error === true);
          break;
        case "thinking":
          assert.equal(typeof block.signature, "string");
          break;
      }
    }
    assert.doesNotMatch(content.at(-1).type, /thinking$/, "a message must not end with a thought");
    if (role === "user") pairing.closed("the end of a message");
  }
  for (const tool of request.tools ?? []) {
    assert.match(tool.name, NAME);
    assert.equal(tool.input_schema.type, "object");
  }
  const markers = JSON.stringify(request).match(/"cache_control"/g) ?? [];
  assert.ok(markers.length <= 4, "at most four cache markers");
  return pairing.end();
}

function readGemini(request) {
  for (const own of ["model", "stream"]) assert.ok(!(own in request), `${own} is in the URL`);
  const items = (request.systemInstruction?.parts ?? []).map(({ text }) => ({ role: "system", text }));
  let open = [];
  let before;
  request.contents.forEach(({ role, parts }, at) => {
    assert.ok(role === "user" || role === "model");
    assert.ok(Array.isArray(parts) && parts.length > 0);
    if (role === "model") assert.equal(before, "user", "turns of the model do not stand beside each other");
    before = role;
    const results = parts.filter((part) => part.functionResponse);
    assert.equal(results.length, open.length, `as many results as calls, right behind them (contents[${at}])`);
    assert.ok(results.length === 0 || results.length === parts.length, "results stand alone");
    const calls = [];
    for (const { text, thought, functionCall: call, functionResponse: result } of parts) {
      if (call) {
        assert.match(call.name, NAME);
        assert.ok(isObject(call.args));
        calls.push(call);
        items.push({ role: "call", id: call.id, name: call.name, args: call.args });
      } else if (result) {
        const { id, name } = open.shift();
        assert.deepEqual([result.id, result.name], [id, name], "results stand in call order");
        const [[kind, said], ...more] = Object.entries(result.response);
        assert.deepEqual([["result", "error"].includes(kind), typeof said, more], [true, "string", []]);
        items.push({ role: "result", id, text: said, isError: kind === "error" });
      } else if (text !== undefined && !thought) {
        if (role === "user") assert.match(text, /\S/);
        if (text) items.push({ role: role === "model" ? "assistant" : role, text });
      }
    }
    open = calls;
  });
  assert.deepEqual(open, [], "calls have no results");
  for (const { functionDeclarations } of request.tools ?? []) {
    for (const { name } of functionDeclarations) assert.match(name, NAME);
  }
  return items;
}

const READERS = {
  "openai-chat": readChat,
  "openai-responses": readResponses,
  anthropic: readAnthropic,
  gemini: readGemini,
};

/**
 * Checks a recorded body and gives its items: `{ role: "system" | "user" | "assistant", text }`,
 * `{ role: "call", id, name, args }`, `{ role: "result", id, text, isError }` and
 * `{ role: "approval", id, approve, text }`.
 *
 * @param {string} api
 * @param {string} body
 */
export function read(api, body) {
  const request = JSON.parse(body);
  if (api !== "gemini") assert.equal(request.stream, true);
  return READERS[api](request);
}

export const resultsOf = (api, body) => read(api, body).filter(({ role }) => role === "result");

/** The denials and other refusals of a body as they stand in its bytes: JSON string literals, escapes and all. */
export const literalsOf = (body) => body.match(/"Error: [a-z_]+[. ](?:[^"\\]|\\.)*"/g) ?? [];
