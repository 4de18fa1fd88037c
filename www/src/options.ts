import { CountersignError } from "./error.js";
import { indexedDBStore } from "./indexeddb.js";
import { readModel } from "./models.js";
import { isFlag, isFunction, isName, isObject, isText, Options } from "./reader.js";
import { readRules } from "./rules.js";
import type { Store } from "./store.js";
import { DENY_REASONS, RENDERERS, SCOPES, type Scope } from "./tokens.js";
import { readTools } from "./tools.js";
import type { AgentOptions, Tool } from "./types.js";

/** What an agent was created with, as the wasm side reads it: plain data, by JSON. */
export interface Setup {
  user: string | null;
  wire: Record<string, unknown>;
  instructions: string | null;
  tools: Omit<Tool, "run" | "preview">[];
  previewed: string[];
  asksWhoMay: boolean;
  waitsFor: boolean;
  secondApprover: boolean;
  renderer: string;
  maxRounds: number;
  expireAfterMs: number | null;
  allNotes: boolean;
  scopes: readonly Scope[];
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
  "waitFor",
  "secondApprover",
  "renderer",
  "maxRounds",
  "timeouts",
  "onContextTooLong",
  "store",
];

/** Reads the options of `createAgent`. */
export function readOptions(given: AgentOptions) {
  const options = new Options(given, "options", agentOptions);
  const { wire, ...transport } = readModel(options.raw("model"), options.data("params") ?? {});
  const approvals = new Options(options.raw("approvals") ?? {}, "options.approvals", [
    "expireAfterMs",
    "notes",
    "scopes",
  ]);
  const timeouts = new Options(options.raw("timeouts") ?? {}, "options.timeouts", ["firstByteMs", "idleMs", "toolMs"]);
  const tools = readTools(options);
  const canDecide = options.optional("canDecide", "a function", isFunction) as AgentOptions["canDecide"];
  const waitFor = options.optional("waitFor", "a function", isFunction) as AgentOptions["waitFor"];
  const setup: Setup = {
    user: readUser(options),
    wire,
    instructions: options.optionalText("instructions") ?? null,
    tools: tools.map(({ run: _, preview: __, relay, ...described }) => ({ ...described, relays: relay !== undefined })),
    previewed: tools.filter(({ preview }) => preview).map(({ name }) => name),
    asksWhoMay: canDecide !== undefined,
    waitsFor: waitFor !== undefined,
    secondApprover: options.flag("secondApprover"),
    renderer: options.oneOf("renderer", RENDERERS) ?? "sentence",
    maxRounds: options.count("maxRounds") ?? 20,
    expireAfterMs: approvals.count("expireAfterMs") ?? null,
    allNotes: approvals.oneOf("notes", ["own", "all"]) === "all",
    scopes: readScopes(approvals),
    firstByteMs: timeouts.limit("firstByteMs", 60_000),
    idleMs: timeouts.limit("idleMs", 60_000),
    toolMs: timeouts.limit("toolMs", 0),
  };
  const trim = options.optional("onContextTooLong", "a function", isFunction) as AgentOptions["onContextTooLong"];
  const rules = readRules(options, tools);
  return { setup, tools, rules, trim, canDecide, waitFor, store: readStore(options), ...transport };
}

/** A decider's id, or null where it is not known. Numbers are refused, not coerced. */
export function readDecider(by: unknown): string | null {
  if (by === null || isName(by)) return by;
  throw new CountersignError(
    "invalid_decision",
    "by must be the decider's id, a non-empty string, or null where it is not known.",
  );
}

/** The id of a request, as a caller gives it. Another type would harm the module, whose strings are only ever that. */
export function readRequestId(id: unknown): string {
  if (isText(id)) return id;
  throw new CountersignError(
    "unknown_request",
    "The request's id must be a string, as snapshot().requests has it; nothing was changed.",
  );
}

const DECISION = ["approve", "by", "reason", "note", "scope", "args"];

/** What a decision may say. A name that nobody reads is refused: it stands for something the caller wants, or fears. */
export function readDecision(options: unknown): void {
  const wrong = (what: string) => new CountersignError("invalid_decision", `decide: ${what}.`);
  if (!isObject(options)) throw wrong("needs an object with approve and by");
  const { approve, reason, note } = options;
  const extra = Object.keys(options).find((key) => !DECISION.includes(key));
  if (extra !== undefined) throw wrong(`${extra} is not known; known are: ${DECISION.join(", ")}; nothing was decided`);
  if (!isFlag(approve)) throw wrong("approve must be true or false");
  if (reason !== undefined && !(DENY_REASONS as readonly unknown[]).includes(reason)) {
    throw wrong(`reason must be one of: ${DENY_REASONS.join(", ")}, or left out`);
  }
  if (note !== undefined && !isText(note)) throw wrong("note must be a string, or left out");
}

/** Arguments in place of the model's, as JSON. What JSON would make something else of is refused, not changed. */
export function readArguments(args: unknown): string | undefined {
  const wrong = (what: string) =>
    new CountersignError("invalid_decision", `decide: args ${what}; nothing was changed.`);
  if (args === undefined) return undefined;
  if (!isObject(args)) throw wrong("must be an object of arguments, or left out");
  try {
    return JSON.stringify(args, (key, value: unknown) => {
      const isLost =
        isFunction(value) || typeof value === "symbol" || (typeof value === "number" && !Number.isFinite(value));
      if (isLost) throw `has ${String(value)} in ${JSON.stringify(key)}`;
      return value;
    });
  } catch (thrown) {
    throw wrong(isText(thrown) ? `${thrown}, which JSON does not have` : "cannot be written as JSON");
  }
}

function readScopes(approvals: Options): readonly Scope[] {
  const isScopes = (value: unknown): value is Scope[] =>
    Array.isArray(value) && value.includes("once") && value.every((scope) => SCOPES.includes(scope));
  return approvals.optional("scopes", `an array of ${SCOPES.join(", ")} that has once`, isScopes) ?? SCOPES;
}

function readUser(options: Options): string | null {
  const user = options.raw("user");
  if (user === null) return null;
  if (user === undefined) {
    throw options.wrong("user", 'is required: { id, name? } of who sits here, or null for "I do not know"');
  }
  return new Options(user, "options.user", ["id", "name"]).text("id");
}

function readStore(options: Options): Store {
  const isStore = (value: unknown): value is Store =>
    isObject(value) && isFunction(value.load) && isFunction(value.append);
  return (
    options.optional("store", "an object with load(chat) and append(chat, seq, lines)", isStore) ?? indexedDBStore()
  );
}
