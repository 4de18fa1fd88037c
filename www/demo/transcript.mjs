/** Draws a chat's snapshot: the messages with their calls. */

import { element, keep, write } from "./nodes.mjs";

/** The id of the message that is still coming in; the package names none so. */
const STREAMING = "streaming";

const DECLINED_BY = {
  run_owner: "declined by you",
  other_user: "declined by another user",
  unknown: "declined",
};

const OUTCOMES = {
  tool_failed: "ran and failed",
  approval_expired: "not run: nobody decided in time",
  approval_superseded: "not run: you wrote a new message instead",
  approval_cancelled: "not run: cancelled",
  already_declined: "not run: the same call was declined before",
  request_declined: "stopped: what it asked for was declined",
  request_lapsed: "stopped: nobody answered what it asked for",
  blocked_by_policy: "not run: a rule refused it",
  tool_unavailable: "not run: no such tool now",
  arguments_invalid: "not run: its arguments are not valid",
  turn_truncated: "not run: the model was cut off",
  outcome_unknown: "started, outcome unknown",
};

/** Said of a call after its state. */
const CHANGED = ", with its arguments changed on the card";

const STATES = {
  requested: "proposed",
  waiting: "waits for a decision",
  ready: "decided, waits for the others",
  running: "running",
};

/**
 * What the page draws of a snapshot. The one place that knows the snapshot's shape.
 *
 * @param {any} snapshot
 */
export function viewOf({ messages, streaming, status, error, durable, ended }) {
  const items = messages.map((message) => ({
    id: message.id,
    type: message.type,
    text:
      message.type === "error" ? `${message.text}\n${message.message}`.trim() : message.text || message.refusal || "",
    calls: (message.calls ?? []).map((call) => ({
      id: call.id,
      title: call.title ?? call.tool,
      // Those that the model wrote are not the ones that it runs with.
      args: call.edited ?? call.arguments,
      state: call.edited === undefined ? stateOf(call, status) : `${stateOf(call, status)}${CHANGED}`,
      mark: markOf(call),
    })),
  }));
  if (streaming) items.push({ id: STREAMING, type: "assistant", text: streaming.text, calls: [] });
  return { messages: items, status, error: error?.message, durable, ended: ended?.message };
}

/** How a call's row is marked: what ran, what did not, what is open. */
function markOf({ state, outcome, executed }) {
  if (state !== "settled") return "open";
  if (!outcome) return "ran";
  return executed === false ? "not-run" : "unclear";
}

function stateOf({ state, outcome, decidedBy }, status) {
  if (state === "running" && status === "interrupted") return "started, result lost";
  if (state !== "settled") return STATES[state] ?? state;
  if (!outcome) return "ran";
  if (outcome === "approval_denied") return `not run: ${DECLINED_BY[decidedBy] ?? "declined"}`;
  return OUTCOMES[outcome] ?? outcome;
}

/** @param {HTMLElement} list */
export function drawMessages(list, messages) {
  keep(list, messages, "li", (item, { id, type, text, calls }) => {
    if (!item.firstChild) item.append(element("div", "text"), element("ul", "calls"));
    item.className = type;
    // Nobody wants a text read to them in pieces; the finished message is an item of its own.
    item.ariaLive = id === STREAMING ? "off" : null;
    item.ariaBusy = id === STREAMING ? "true" : null;
    const [textBox, callList] = item.children;
    write(textBox, text);
    keep(callList, calls, "li", (row, { title, args, state, mark }) => {
      if (!row.firstChild) row.append(...callParts());
      row.className = mark;
      const [summary, code] = row.firstChild.children;
      write(summary.children[0], title);
      write(summary.children[1], state);
      write(code, args);
    });
  });
}

/** The arguments can be long, and the card shows them whole: here they are folded. */
function callParts() {
  const summary = element("summary", "", element("span", "call"), " ", element("span", "state"));
  return [element("details", "", summary, element("code"))];
}
