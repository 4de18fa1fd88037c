import { CountersignError } from "./error.js";
import { indexedDBStore } from "./indexeddb.js";
import { isFlag, isFunction, isName, isObject, isText, Options } from "./reader.js";
import { readRules } from "./rules.js";
import type { Store } from "./store.js";
import { DENY_REASONS, RENDERERS } from "./tokens.js";
import { readTools } from "./tools.js";
import type { AgentOptions, Model, Tool } from "./types.js";

/** What an agent was created with, as the wasm side reads it: plain data, by JSON. */
export interface Setup {
  user: string | null;
  url: string;
  credentials: string;
  model: string;
  includeUsage: boolean;
  instructions: string | null;
  params: Record<string, unknown>;
  tools: Omit<Tool, "run" | "preview">[];
  previewed: string[];
  asksWhoMay: boolean;
  secondApprover: boolean;
  renderer: string;
  maxRounds: number;
  expireAfterMs: number | null;
  allNotes: boolean;
  firstByteMs: number;
  idleMs: number;
  toolMs: number;
}

const agentOptions = [
  "user",
  "model",
  "instructions",
  "params",
  "tools",
  "rules",
  "approvals",
  "canDecide",
  "secondApprover",
  "renderer",
  "maxRounds",
  "timeouts",
  "onContextTooLong",
  "store",
];
const modelOptions = ["baseUrl", "model", "headers", "credentials", "fetch", "includeUsage"];

/** Reads the options of `createAgent`. */
export function readOptions(given: AgentOptions) {
  const options = new Options(given, "options", agentOptions);
  const model = new Options(options.raw("model"), "options.model", modelOptions);
  const approvals = new Options(options.raw("approvals") ?? {}, "options.approvals", ["expireAfterMs", "notes"]);
  const timeouts = new Options(options.raw("timeouts") ?? {}, "options.timeouts", ["firstByteMs", "idleMs", "toolMs"]);
  const tools = readTools(options);
  const canDecide = options.optional("canDecide", "a function", isFunction) as AgentOptions["canDecide"];
  const setup: Setup = {
    user: readUser(options),
    url: readUrl(model),
    credentials: model.oneOf("credentials", ["same-origin", "omit", "include"]) ?? "same-origin",
    model: model.text("model"),
    includeUsage: model.optional("includeUsage", "true or false", isFlag) ?? true,
    instructions: options.optionalText("instructions") ?? null,
    params: options.data("params") ?? {},
    tools: tools.map(({ run: _, preview: __, ...described }) => described),
    previewed: tools.filter(({ preview }) => preview).map(({ name }) => name),
    asksWhoMay: canDecide !== undefined,
    secondApprover: options.flag("secondApprover"),
    renderer: options.oneOf("renderer", RENDERERS) ?? "sentence",
    maxRounds: options.count("maxRounds") ?? 20,
    expireAfterMs: approvals.count("expireAfterMs") ?? null,
    allNotes: approvals.oneOf("notes", ["own", "all"]) === "all",
    firstByteMs: timeouts.limit("firstByteMs", 60_000),
    idleMs: timeouts.limit("idleMs", 60_000),
    toolMs: timeouts.limit("toolMs", 0),
  };
  const trim = options.optional("onContextTooLong", "a function", isFunction) as AgentOptions["onContextTooLong"];
  const rules = readRules(options, tools);
  return { setup, tools, rules, trim, canDecide, store: readStore(options), ...readTransport(model) };
}

/** A decider's id, or null where it is not known. Numbers are refused, not coerced. */
export function readDecider(by: unknown): string | null {
  if (by === null || isName(by)) return by;
  throw new CountersignError(
    "invalid_decision",
    "by must be the decider's id, a non-empty string, or null where it is not known.",
  );
}

/** What goes with a decision beside its yes or no. */
export function readDecision(approve: unknown, reason: unknown, note: unknown): void {
  const wrong = (what: string) => new CountersignError("invalid_decision", `decide: ${what}.`);
  if (!isFlag(approve)) throw wrong("approve must be true or false");
  if (reason !== undefined && !(DENY_REASONS as readonly unknown[]).includes(reason)) {
    throw wrong(`reason must be one of: ${DENY_REASONS.join(", ")}, or left out`);
  }
  if (note !== undefined && !isText(note)) throw wrong("note must be a string, or left out");
}

function readUser(options: Options): string | null {
  const user = options.raw("user");
  if (user === null) return null;
  if (user === undefined) {
    throw options.wrong("user", 'is required: { id, name? } of who sits here, or null for "I do not know"');
  }
  return new Options(user, "options.user", ["id", "name"]).text("id");
}

/** A key must not cross the network in the clear: the URL is https, on this machine, or of the page's own origin. */
function readUrl(model: Options): string {
  const base = model.text("baseUrl");
  let url: URL;
  try {
    url = new URL(`${base.replace(/\/+$/, "")}/chat/completions`, document.baseURI);
  } catch {
    throw model.wrong("baseUrl", "must be a URL");
  }
  const near = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) || url.origin === location.origin;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && near)) {
    throw model.wrong("baseUrl", "must be https, on this machine, or of the page's own origin");
  }
  if (url.username || url.password) {
    throw model.wrong("baseUrl", "must not hold a user name or password; pass keys through headers");
  }
  return url.href;
}

function readStore(options: Options): Store {
  const isStore = (value: unknown): value is Store =>
    isObject(value) && isFunction(value.load) && isFunction(value.append);
  return (
    options.optional("store", "an object with load(chat) and append(chat, seq, lines)", isStore) ?? indexedDBStore()
  );
}

function readTransport(model: Options) {
  const isHeaders = (value: unknown): value is Model["headers"] => isFunction(value) || isObject(value);
  return {
    headers: model.optional("headers", "an object, or a function that returns one", isHeaders),
    fetch: model.optional("fetch", "a function", isFunction) as Model["fetch"],
  };
}
