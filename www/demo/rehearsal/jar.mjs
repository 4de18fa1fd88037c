/** The rehearsal model's skill with a cookie jar: it looks before it eats, and eats no more than there is. */

import { accountOf, answered, quote } from "./account.mjs";
import { objectIn, toolAmong } from "./history.mjs";

const SPEECH = {
  unchanged: "no cookie was eaten",
  another: "another number of cookies",
  unknown: "whether cookies were eaten",
};

const NUMBER_WORDS = "no one two three four five six seven eight nine ten eleven twelve".split(" ");

export const jar = {
  label: "The jar",

  /** The tool that looks like a cookie jar: by its schema, whatever its name. */
  toolIn(tools) {
    return toolAmong(tools, (_, { action }) => action?.enum?.includes("look") && action.enum.includes("eat"));
  },

  owns: (tool, tools) => tool === jar.toolIn(tools),

  wishOf({ words }) {
    if (/\b(empty|eat|finish)\b/u.test(words)) return amountIn(words);
    return /\b(look|count|how many|peek|check)\b/u.test(words) ? { kind: "look" } : null;
  },

  next(wish, { tools, settled }) {
    const tool = jar.toolIn(tools);
    if (wish.kind === "which") return { text: 'How many? Say for example "Eat 3 cookies" or "Empty the jar".' };
    if (!tool) return { text: "No cookie jar was offered to me in this request, so I can do nothing with it." };
    const last = settled.findLast((call) => call.tool === tool);
    if (!last) return { call: { tool, args: { action: "look" } } };
    if (last.args.action !== "look" || last.result.token || wish.kind !== "eat") return { text: jar.reportOf(last) };
    const there = countIn(last.result);
    if (there === null) return { text: jar.reportOf(last) };
    if (there === 0) return { text: "The jar is already empty, so there was nothing to eat." };
    const wanted = wish.count ?? there;
    if (wanted <= there) return { call: { tool, args: { action: "eat", count: wanted } } };
    const verb = there === 1 ? "is" : "are";
    return { text: `There ${verb} only ${cookies(there)} in the jar, so I did not try to eat ${wanted}.` };
  },

  /** How to find out what a call did whose outcome is open. */
  lookInstead: (tools) => ({ tool: jar.toolIn(tools), args: { action: "look" } }),

  reportOf({ args, result }) {
    if (result.token) return accountOf(result, SPEECH);
    if (args.action !== "look") return eaten(result);
    const count = countIn(result);
    if (count === null) return `The tool answered, but I find no count of cookies in it: ${quote(result.text)}`;
    return `There ${count === 1 ? "is 1 cookie" : `are ${count} cookies`} in the jar.`;
  },
};

/** How much is to be eaten; a number that is no count of cookies is no wish. */
function amountIn(words) {
  const digits = words.match(/(?<![\w.,-])\d{1,15}(?![\w]|[.,]\d)/u);
  if (digits) return Number(digits[0]) > 0 ? { kind: "eat", count: Number(digits[0]) } : null;
  if (/\d/u.test(words)) return null;
  if (/\b(empty|all|every|everything|finish|whole|rest)\b/u.test(words)) return { kind: "eat" };
  const word = NUMBER_WORDS.findIndex((name) => new RegExp(`\\b${name}\\b`, "u").test(words));
  if (word > 0) return { kind: "eat", count: word };
  return /\ba cookie\b/u.test(words) ? { kind: "eat", count: 1 } : { kind: "which" };
}

/** What an eating call did, in the numbers of its result. */
function eaten(result) {
  const gone = numberIn(result, ["eaten", "ate"]);
  const left = countIn(result);
  if (gone === null && left === null) return answered(result);
  const parts = [];
  if (gone !== null) parts.push(`${cookies(gone)} ${gone === 1 ? "was" : "were"} eaten`);
  if (left !== null)
    parts.push(left === 0 ? "the jar is empty now" : `${left} ${left === 1 ? "is" : "are"} left in the jar`);
  const sentence = parts.join("; ");
  return `${sentence[0].toUpperCase()}${sentence.slice(1)}.`;
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

function cookies(count) {
  return count === 1 ? "1 cookie" : `${count} cookies`;
}
