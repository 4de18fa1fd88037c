/** What comes next, from the request alone: a text, or the calls of one turn. */

import { accountOf, answered, RAN_OR_UNKNOWN } from "./account.mjs";
import { settledCalls, textOf } from "./history.mjs";
import { jar } from "./jar.mjs";
import { mail } from "./mail.mjs";
import { page } from "./page.mjs";
import { tasting } from "./tasting.mjs";
import { wishesOf } from "./wish.mjs";

/**
 * A kind of work. `next` answers one wish with `{ call }` or, where nothing is left to call, `{ text }`; `reportOf`
 * says what became of a call; `owns` tells its calls from others'.
 */
const SKILLS = [tasting, mail, page, jar];

const HELP =
  "I am the rehearsal model: a set of fixed rules, no language model. I can look into the cookie jar, " +
  'eat cookies from it ("Eat 3 cookies") and empty it ("Empty the jar"); read the page, give it a title ("Rewrite the ' +
  'page\'s title") and shorten it ("Shorten the page"); plan a tasting ("Plan a tasting"); and draft a mail ("Draft a mail to the team about the outage"). ' +
  'With "and" between two requests I make both calls at once. After a refusal, "Do it anyway" makes me propose the same ' +
  "calls again.";

/**
 * @param {any} request a request that passed the check
 * @returns {{ text: string, calls: { id: string, name: string, arguments: string }[] }} a text, or calls without one
 */
export function plan({ messages, tools = [], tool_choice: choice }) {
  const asked = messages.findLastIndex((message) => message.role === "user");
  const wishes = asked < 0 ? [] : wishesOf(textOf(messages[asked].content), SKILLS);
  const settled = settledCalls(messages.slice(asked + 1));
  const steps =
    wishes === "again"
      ? again(settledCalls(messages.slice(0, asked)), settled, tools)
      : wishes.map(({ skill, wish }) => ({ label: skill.label, ...skill.next(wish, { tools, settled }) }));
  if (steps.length === 0) return { text: HELP, calls: [] };

  const calls = distinct(steps.flatMap(({ call }) => call ?? []));
  if (calls.length === 0) return { text: together(steps), calls };
  if (choice === "none") return { text: "This request tells me to call no tool, so I stop here.", calls: [] };
  const made = messages.reduce((sum, message) => sum + (message.tool_calls?.length ?? 0), 0);
  return {
    text: "",
    calls: calls.map(({ tool, args }, at) => ({
      id: `call_rehearsal_${made + at + 1}`,
      name: tool,
      arguments: JSON.stringify(args),
    })),
  };
}

/** Proposes the calls of the newest turn that did not run once more, or says why there are none. */
function again(before, settled, tools) {
  const skillOf = ({ tool }) => SKILLS.find((skill) => skill.owns(tool, tools));
  if (settled.length > 0) {
    return settled.map((call) => ({ label: skillOf(call)?.label ?? call.tool, text: report(skillOf(call), call) }));
  }
  const last = before.filter(({ turn }) => turn === before.at(-1).turn);
  if (last.length === 0) return [{ text: "There is no earlier call that I could propose again." }];
  const open = last.filter(({ result }) => result.token);
  if (open.length === 0) return [{ text: "The last call ran, so there is nothing to propose again." }];
  return open.map((call) => {
    if (!RAN_OR_UNKNOWN.has(call.result.token)) return { call: { tool: call.tool, args: call.args } };
    const look = skillOf(call)?.lookInstead(tools);
    if (look?.tool) return { call: look };
    return { text: "That call may have run, and I have no tool to look with, so I will not repeat it." };
  });
}

function report(skill, call) {
  if (skill) return skill.reportOf(call);
  const speech = { unchanged: "nothing changed", another: "something else", unknown: "what it did" };
  return call.result.token ? accountOf(call.result, speech) : answered(call.result);
}

/** Two wishes that need the same thing read need it read once. */
function distinct(calls) {
  const known = new Map(calls.map((call) => [JSON.stringify(call), call]));
  return [...known.values()];
}

/** One text says whom it is about only where there are several. */
function together(steps) {
  if (steps.length === 1) return steps[0].text;
  return steps.map(({ label, text }) => (label ? `${label}: ${text}` : text)).join("\n\n");
}
