/**
 * Draws a chat's snapshot: the messages with their calls, and what the model was told. Text nodes only.
 *
 * What is on the page stays on the page: an item is found again by its id and only a text that changed is
 * set, so a selection or a reader's place in the text survives every delta.
 */

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
export function viewOf({ messages, streaming, status, error }) {
  const items = messages.map((message) => ({
    id: message.id,
    type: message.type,
    text:
      message.type === "error" ? `${message.text}\n${message.message}`.trim() : message.text || message.refusal || "",
    calls: (message.calls ?? []).map((call) => ({
      id: call.id,
      head: `${call.title ?? call.tool} ${call.arguments}`,
      state: stateOf(call),
    })),
  }));
  if (streaming) items.push({ id: STREAMING, type: "assistant", text: streaming.text, calls: [] });
  const results = messages
    .flatMap((message) => message.calls ?? [])
    .filter((call) => call.result)
    .map((call) => ({ id: call.id, head: `${call.tool} ${call.arguments}`, text: call.result.text }));
  return { messages: items, results, status, error: error?.message };
}

function stateOf({ state, outcome, decidedBy }) {
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
    const [textBox, callList] = item.children;
    write(textBox, text);
    keep(callList, calls, "li", (row, { head, state }) => {
      if (!row.firstChild) row.append(element("code"), " ", element("span", "state"));
      write(row.children[0], head);
      write(row.children[1], state);
    });
  });
}

/** @param {HTMLElement} list */
export function drawResults(list, results) {
  keep(list, results, "li", (item, { head, text }) => {
    if (!item.firstChild) item.append(element("code"), element("pre"));
    write(item.children[0], head);
    write(item.children[1], text);
  });
}

/** Makes the children of `parent` one for each item, in order, keeping those whose id is known. */
function keep(parent, items, tag, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  items.forEach((item, at) => {
    const child = known.get(item.id) ?? element(tag);
    known.delete(item.id);
    child.dataset.id = item.id;
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
    update(child, item);
  });
  for (const gone of known.values()) gone.remove();
}

/** Sets a text if it changed; a text that only grew is appended to, which leaves a selection alone. */
function write(box, text) {
  const before = box.textContent;
  if (before === text) return;
  if (box.firstChild && text.startsWith(before)) box.firstChild.appendData(text.slice(before.length));
  else box.textContent = text;
}

function element(tag, className = "") {
  const made = document.createElement(tag);
  if (className) made.className = className;
  return made;
}
