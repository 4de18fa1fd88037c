import { CountersignError, messageOf } from "./error.js";
import { invalid, isFunction, isObject, isText, Options } from "./reader.js";
import type { Tool } from "./types.js";
import { patternMatches } from "./wasm/countersign.js";

/** A call as a rule sees it. Rules answer at once: a promise counts as a rule that could not be evaluated. */
export interface RuleCall {
  id: string;
  tool: string;
  /** The parsed arguments, made anew for each rule. */
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the shape of the tool's schema, which types cannot know.
  args: any;
  /** Their exact text. */
  argsText: string;
}

/** What a function rule returns; undefined is no opinion. */
export type Verdict =
  | { verdict: "allow" }
  | {
      verdict: "ask";
      reason: string;
      /** Whether the person may agree for later calls too, and such a permission then stands in for the answer. */
      grantable?: boolean;
    }
  | { verdict: "refuse"; reason: string };

/** A verdict about the tools that a pattern names (`*` stands for any run of characters). */
export type PatternRule = Verdict & { pattern: string; when?: Condition };

export type Condition = (args: RuleCall["args"], call: RuleCall) => boolean | undefined;
export type Rule = PatternRule | ((call: RuleCall) => Verdict | undefined);

/** What may follow the reason of {@link ask}. */
export interface AskOptions {
  /**
   * Whether the person may agree for this chat or for always, as where no rule asks. Default false: a rule's ask is asked
   * every time, whatever standing permissions there are.
   */
  grantable?: boolean;
}

/** A person must agree, for this reason. */
export function ask(reason: string, options?: AskOptions): Verdict;
export function ask(pattern: string, reason: string, options?: AskOptions): PatternRule;
export function ask(pattern: string, when: Condition, reason: string, options?: AskOptions): PatternRule;
export function ask(...given: (string | Condition | AskOptions | undefined)[]): Verdict | PatternRule {
  const last = given.at(-1);
  const options = isObject(last) ? last : {};
  const made = rule("ask", given.filter((one) => one !== undefined && !isObject(one)) as Given);
  const grantable = new Options(options, "ask(…, options)", ["grantable"]).flag("grantable");
  return grantable ? { ...made, grantable } : made;
}

/** The call must not run, for this reason; nobody is asked. */
export function refuse(reason: string): Verdict;
export function refuse(pattern: string, reason: string): PatternRule;
export function refuse(pattern: string, when: Condition, reason: string): PatternRule;
export function refuse(...given: Given): Verdict | PatternRule {
  return rule("refuse", given);
}

/** The call may run without asking, unless another rule asks or refuses. */
export function allow(): Verdict;
export function allow(pattern: string, when?: Condition): PatternRule;
export function allow(pattern?: string, when?: Condition): Verdict | PatternRule {
  const verdict = { verdict: "allow" } as const;
  return pattern === undefined ? verdict : { ...verdict, pattern, ...(when && { when }) };
}

type Given = [string] | [string, string] | [string, Condition, string];

function rule<Said extends "ask" | "refuse">(verdict: Said, given: Given) {
  const reason = given.at(-1);
  if (typeof reason !== "string" || reason === "") {
    throw new CountersignError(
      "invalid_options",
      `${verdict}() needs a reason as its last argument, a non-empty string.`,
    );
  }
  if (given.length === 1) return { verdict, reason };
  const [pattern, when] = given;
  return { verdict, reason, pattern, ...(typeof when === "function" && { when }) };
}

/** @internal Reads `options.rules`. A pattern that names no tool is an error: the rule would guard nothing. */
export function readRules(options: Options, tools: readonly Tool[]): Rule[] {
  const rules = options.optional("rules", "an array", Array.isArray) ?? [];
  rules.forEach((rule, place) => {
    if (isFunction(rule)) return;
    const path = `options.rules[${place}]`;
    const read = new Options(rule, path, ["verdict", "reason", "grantable", "pattern", "when"]);
    if (!isVerdict(rule)) throw invalid(path, "must be a function, or come from ask(), refuse() or allow()");
    const pattern = read.text("pattern");
    if (!tools.some((tool) => patternMatches(pattern, tool.name))) {
      throw read.wrong("pattern", `"${pattern}" matches no tool, so the rule would do nothing; correct or remove it`);
    }
    read.optional("when", "a function", isFunction);
  });
  return rules.map((rule) => (isFunction(rule) ? rule : { ...rule }));
}

/**
 * @internal What the rules say of a call, in their order: `[verdict, reason, verdict, reason …]`, with the verdict `broken` for
 * a rule that could not be evaluated, and `ask-for-now` for an ask that standing permissions lift. Which of them counts is decided by the wasm side.
 */
export function judge(
  rules: readonly Rule[],
  matches: (pattern: string) => boolean,
  call: Omit<RuleCall, "args">,
): string[] {
  const said: string[] = [];
  for (const rule of rules) {
    if (!isFunction(rule) && !matches(rule.pattern)) continue;
    const verdict = opinion(rule, { ...call, args: JSON.parse(call.argsText) });
    if (!verdict) continue;
    const isForNow = verdict.verdict === "ask" && verdict.grantable === true;
    said.push(isForNow ? "ask-for-now" : verdict.verdict, "reason" in verdict ? verdict.reason : "");
  }
  return said;
}

function opinion(rule: Rule, call: RuleCall): Verdict | { verdict: "broken"; reason: string } | undefined {
  try {
    if (isFunction(rule)) {
      const verdict: unknown = rule(call as never);
      return verdict === undefined || isVerdict(verdict) ? verdict : broken(verdict);
    }
    const applies: unknown = rule.when ? rule.when(call.args, call) : true;
    if (applies === true) return rule;
    return applies === false || applies === undefined ? undefined : broken(applies);
  } catch (thrown) {
    return { verdict: "broken", reason: `it threw "${messageOf(thrown)}"` };
  }
}

function broken(answer: unknown): { verdict: "broken"; reason: string } {
  const promise = typeof answer === "object" && answer !== null && "then" in answer;
  const reason = promise ? "it returned a promise, and rules must answer at once" : "it returned no verdict";
  return { verdict: "broken", reason };
}

function isVerdict(value: unknown): value is Verdict {
  if (typeof value !== "object" || value === null || !("verdict" in value)) return false;
  if (value.verdict === "allow") return true;
  return (value.verdict === "ask" || value.verdict === "refuse") && "reason" in value && isText(value.reason);
}
