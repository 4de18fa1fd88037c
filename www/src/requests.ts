import { CountersignError } from "./error.js";
import { formatProblem, readFields } from "./fields.js";
import { isName, isObject, isText } from "./reader.js";
import { violation } from "./schema.js";
import type { Answer, Answered, AnsweredBy, PendingRequest, RequestSpec } from "./types.js";

/** What a tool asked for, as JSON, by the token that its `run` returned. */
const pending = new WeakMap<PendingRequest, string>();

/**
 * What a tool's `run` returns instead of a result when it needs a person first: the call waits, also over a reload. On
 * `ok: true` the tool is called once more, with the answer in its context; on `ok: false` never.
 */
export function pendingRequest(spec: RequestSpec): PendingRequest {
  const wrong = (what: string) => new CountersignError("invalid_request", `pendingRequest: ${what}.`);
  if (!isObject(spec)) throw wrong("needs an object: { kind, prompt, url?, data?, expiresAt? }");
  const { kind, prompt, url, data, expiresAt, ...rest } = spec as RequestSpec & Record<string, unknown>;
  for (const key of Object.keys(rest))
    throw wrong(`${key} is not known; known are: kind, prompt, url, data, expiresAt`);
  if (!isName(kind) || kind === "recovery") throw wrong('kind must be a non-empty string other than "recovery"');
  if (!isName(prompt)) throw wrong("prompt must be a non-empty string: it is what the person reads");
  if (expiresAt !== undefined && expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt >= 0)) {
    throw wrong("expiresAt must be whole milliseconds since the epoch, or null for never");
  }
  if (kind === "authorization" && url === undefined) throw wrong("an authorization needs the url where it is given");
  if (kind === "input" || kind === "question") {
    const problem = isObject(data) ? readFields(data.schema) : "must be { schema }";
    if (isText(problem)) throw wrong(`data of kind ${kind} ${problem}`);
  }
  const where = url === undefined ? undefined : readUrl(url);
  if (where === "") throw wrong("url must be an https: URL without a user name or password in it");
  const request = Object.freeze({}) as PendingRequest;
  pending.set(request, writeJson({ kind, prompt, url: where, data: data ?? undefined, expiresAt }, wrong));
  return request;
}

/** @internal What a tool asked for, as JSON, if that is what it returned. */
export function asked(result: unknown): string | undefined {
  return pending.get(result as PendingRequest);
}

/**
 * The answer that refuses a request. Only the reason `"declined"`, exactly, or a named user says that a person declined;
 * any other one says that the request came to nothing.
 */
export function answerDeclined(id: string, reason: string | null = "declined"): Answer {
  return { id, ok: false, reason: readReason(reason) };
}

/** The answer that gives a request what it asks for. */
export function answerOutput(id: string, data?: unknown): Answer {
  return data === undefined ? { id, ok: true } : { id, ok: true, data };
}

/** @internal Checks an answer of a host and writes it as JSON. */
export function writeAnswer(answer: unknown): string {
  const wrong = (what: string) => new CountersignError("invalid_answer", `An answer ${what}; nothing was changed.`);
  if (!isObject(answer)) throw wrong("must be an object: { id, ok, data?, reason?, by? }");
  const { id, ok, data, reason, by, ...rest } = answer;
  for (const key of Object.keys(rest)) throw wrong(`has no ${key}; it has: id, ok, data, reason, by`);
  if (!isName(id)) throw wrong("needs the id of a request, a non-empty string");
  if (typeof ok !== "boolean") throw wrong("needs ok, true or false");
  const why = readReason(reason ?? null) ?? undefined;
  if (ok && why !== undefined) throw wrong("has a reason only where ok is false");
  if (!ok && data !== undefined && data !== null) throw wrong("has data only where ok is true");
  return writeJson({ id, ok, data: data ?? undefined, reason: why, by: readBy(by, wrong) }, wrong);
}

/** @internal The values that a form's schema declares, checked (both as JSON). Throws a sentence about the first problem. */
export function fill(form: string, given: string): string {
  const { schema } = JSON.parse(form);
  const fields = readFields(schema);
  const values: unknown = JSON.parse(given);
  if (isText(fields) || !isObject(values))
    throw "The data of this answer must be an object of values; nothing was changed.";
  const declared = Object.fromEntries(
    Object.entries(values).filter(([key]) => fields.some((field) => field.key === key)),
  );
  let problem = violation(schema, declared);
  for (const { key, format } of fields) problem ??= formatProblem(format, declared[key], key);
  if (problem) throw `The values do not fit: ${problem}. Nothing was changed.`;
  return JSON.stringify(declared);
}

/** An answer to an elicitation of the Model Context Protocol, as its server expects it. */
export type McpElicitResult = { action: "accept"; content?: unknown } | { action: "decline" | "cancel" };

/**
 * What an answer is to an MCP server that elicited it: `ok` accepts; the reason `"declined"`, exactly, declines; every
 * other one, null included, cancels.
 */
export function toMcpElicitation({ id, ok, data, reason }: Answer | Answered): McpElicitResult {
  const answer = { id, ok, data, reason: reason ?? null };
  writeAnswer(answer);
  if (!ok) return { action: reason === "declined" ? "decline" : "cancel" };
  return data === undefined ? { action: "accept" } : { action: "accept", content: data };
}

function readReason(reason: unknown): string | null {
  if (reason === null || isText(reason)) return reason;
  throw new TypeError(`The reason of an answer must be a string or null, not ${kindOf(reason)}; nothing was changed.`);
}

function kindOf(value: unknown): string {
  return typeof value === "object" ? (value?.constructor?.name ?? "an object") : `a ${typeof value}`;
}

function readBy(by: unknown, wrong: (what: string) => CountersignError): AnsweredBy | undefined {
  if (by === undefined || by === null) return undefined;
  if (by === "policy") return by;
  if (isObject(by) && Object.keys(by).join() === "user" && (by.user === null || isText(by.user))) {
    return { user: by.user };
  }
  throw wrong('needs by to be { user: id }, { user: null } where that is not known, "policy", or left out');
}

/** The URL as browsers write it; empty if nobody should be sent there. */
function readUrl(url: unknown): string {
  const parsed = isText(url) && URL.canParse(url) ? new URL(url) : undefined;
  return parsed?.protocol === "https:" && !parsed.username && !parsed.password ? parsed.href : "";
}

function writeJson(value: object, wrong: (what: string) => CountersignError): string {
  try {
    return JSON.stringify(value);
  } catch {
    throw wrong("has data that cannot be written as JSON");
  }
}
