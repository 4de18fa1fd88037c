import { CountersignError } from "./error.js";

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
export type Verdict = { verdict: "allow" } | { verdict: "ask" | "refuse"; reason: string };

/** A verdict about the tools that a pattern names (`*` stands for any run of characters). */
export type PatternRule = Verdict & { pattern: string; when?: Condition };

export type Condition = (args: RuleCall["args"], call: RuleCall) => boolean | undefined;
export type Rule = PatternRule | ((call: RuleCall) => Verdict | undefined);

/** A person must agree, for this reason. */
export function ask(reason: string): Verdict;
export function ask(pattern: string, reason: string): PatternRule;
export function ask(pattern: string, when: Condition, reason: string): PatternRule;
export function ask(...given: Given): Verdict | PatternRule {
  return rule("ask", given);
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

function rule(verdict: "ask" | "refuse", given: Given): Verdict | PatternRule {
  const reason = given.at(-1);
  if (typeof reason !== "string" || reason === "") {
    throw new CountersignError("invalid_options", `${verdict}() needs a reason as its last argument, a non-empty string.`);
  }
  if (given.length === 1) return { verdict, reason };
  const [pattern, when] = given;
  return { verdict, reason, pattern, ...(typeof when === "function" && { when }) };
}
