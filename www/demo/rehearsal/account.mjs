/** What the rehearsal model says of a call without a plain result: a true sentence or two, from the result alone. */

/**
 * How a skill speaks of its calls.
 *
 * @typedef {object} Speech
 * @property {string} unchanged what holds when nothing was executed, such as "no cookie was eaten"
 * @property {string} another what it can propose instead, such as "another number of cookies"
 * @property {string} unknown what a lost result leaves open, such as "whether cookies were eaten"
 */

/** After these the tool may have run: repeating it blindly could do the thing twice. */
export const RAN_OR_UNKNOWN = new Set([
  "tool_failed",
  "outcome_unknown",
  "request_declined",
  "request_lapsed",
  "declined_or_expired",
]);

/**
 * @param {import("./history.mjs").Result} result one with a token
 * @param {Speech} speech
 */
export function accountOf({ token, decidedBy, reason, approved, text }, { unchanged, another, unknown }) {
  switch (token) {
    case "approval_denied":
      return `${whoDeclined(decidedBy)} Nothing was executed, so ${unchanged}. ${afterDenial(reason, another)}`;
    case "approval_expired":
      return "Nobody decided in time, so the call was not executed. Do you still want it?";
    case "approval_superseded":
      return approved
        ? "The call had been approved, but a new message came before it started, so nothing was executed."
        : "The call was not executed, because a new message came instead of a decision.";
    case "approval_cancelled":
      return approved
        ? "The call had been approved, but the run was stopped before it started, so nothing was executed."
        : "The run was stopped before the call started, so nothing was executed.";
    case "already_declined":
      return "The same call was declined earlier in this run, so it was not executed and nobody was asked again.";
    case "request_declined":
      return `${whoDeclined(decidedBy)} The tool had started and stopped when what it asked for was declined.`;
    case "request_lapsed":
      return "The tool had started and asked for something that nobody answered, so it stopped.";
    case "blocked_by_policy":
      return "A rule of this page refused the call. Nobody was asked, and nothing was executed.";
    case "tool_unavailable":
      return "The tool was not available, so nothing was executed.";
    case "arguments_invalid":
      return "My call had arguments that the tool does not take, so nothing was executed.";
    case "turn_truncated":
      return "My turn was cut off, so none of its calls was executed.";
    case "tool_failed":
      return `The tool was started and did not succeed: ${quote(text)}`;
    case "outcome_unknown":
      return `The call was started, but its result was lost: I do not know ${unknown}. I will not repeat it blindly; ask me to look.`;
    case "declined_or_expired":
      return "Something was declined or it expired; the tool's result says no more than that.";
    default:
      return `The call did not give a plain result: ${quote(text)}`;
  }
}

function whoDeclined(decidedBy) {
  if (decidedBy === "run_owner") return "You declined that yourself.";
  if (decidedBy === "other_user") return "Another user declined that, not you.";
  return "That was declined.";
}

function afterDenial(reason, another) {
  if (reason === "variant") return `I can propose ${another}.`;
  if (reason === "skip") return "I will not propose it again.";
  return 'If you want it after all, say "Do it anyway".';
}

/** A plain result that a skill cannot read. */
export function answered({ text }) {
  return `The tool answered: ${quote(text)}`;
}

/** Quoted text is cut, so that a long result does not become a long answer. */
export function quote(text) {
  const characters = Array.from(text);
  return JSON.stringify(characters.length > 200 ? `${characters.slice(0, 200).join("")}…` : text);
}
