import { CountersignError } from "./error.js";
import { isName, isObject, isText } from "./reader.js";
import type { HistoryMessage, Part } from "./types.js";

/** @internal The parts of a message, as `send` and `history` take them. A string is one text. */
export function readParts(message: string | readonly Part[], where: string): Part[] {
  const wrong = (what: string) => new CountersignError("invalid_options", `${where} ${what}.`);
  if (isText(message)) {
    if (message.trim() === "") throw wrong("needs a string that is not empty");
    return [{ type: "text", text: message }];
  }
  if (!Array.isArray(message) || message.length === 0) throw wrong("needs a string, or parts");
  const parts = message.map((part: unknown, place): Part => {
    const at = `part ${place}`;
    if (!isObject(part)) throw wrong(`${at} must be an object`);
    const { type, text, url, name } = part;
    if (type === "text") {
      if (!isText(text)) throw wrong(`${at}: text must be a string`);
      return { type, text };
    }
    if (type !== "image" && type !== "file") throw wrong(`${at}: type must be "text", "image" or "file"`);
    if (!isText(url) || !/^(https:\/\/.|data:[^,]+;base64,.)/s.test(url)) {
      throw wrong(`${at}: url must be https, or a data: URL in base64 as FileReader.readAsDataURL gives it`);
    }
    if (type === "image") return { type, url };
    if (!isName(name)) throw wrong(`${at}: name must be the file's name`);
    return { type, url, name };
  });
  if (parts.every((part) => part.type === "text" && part.text.trim() === "")) throw wrong("holds nothing but blanks");
  return parts;
}

/** @internal The messages that a chat starts from, as the wasm side reads them: JSON, in the shape of stored events. */
export function readHistory(given: readonly HistoryMessage[]): string {
  const wrong = (place: number, what: string) =>
    new CountersignError("invalid_options", `open: history[${place}] ${what}.`);
  if (!Array.isArray(given)) throw new CountersignError("invalid_options", "open: history must be an array.");
  const history: unknown[] = [];
  let turns = 0;
  given.forEach((message: unknown, place) => {
    if (!isObject(message)) throw wrong(place, "must be an object");
    const { role, content, calls = [] } = message;
    if (role === "user") {
      history.push({ role, parts: readParts(content as string | Part[], `open: history[${place}].content`) });
      return;
    }
    if (role !== "assistant") throw wrong(place, 'needs role "user" or "assistant"; instructions are an option');
    if (!isText(content) || !Array.isArray(calls)) throw wrong(place, "needs content, a string, and calls an array");
    turns += 1;
    const results: unknown[] = [];
    const made = calls.map((call: unknown, index) => {
      if (!isObject(call) || !isName(call.tool) || !isText(call.arguments) || !isText(call.result)) {
        throw wrong(place, `calls[${index}] needs tool, arguments and result, each a string: every call has a result`);
      }
      const result_item = {
        call_id: `h${turns}c${index + 1}`,
        renderer: null,
        text: call.result,
        is_error: call.isError === true,
        trust: "tool",
      };
      results.push({ role: "tool", result_item });
      return { provider_id: null, name: call.tool, arguments: call.arguments, extra: {} };
    });
    const none = { finish_reason: null, reasoning: "", refusal: "", usage: null, binding: "", items: [], extra: {} };
    const end = made.length > 0 ? "tool_calls" : "stop";
    history.push({ role, end, text: content, calls: made, ...none }, ...results);
  });
  return JSON.stringify({ history });
}
