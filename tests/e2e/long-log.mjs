/** Logs that are long: many runs alike, each with a call that a person approved. */

/** What one run writes. */
const RUN = [
  (n) => ({ type: "run.started", message_id: `m${n}`, owner: "ada", parts: [{ type: "text", text: question(n) }] }),
  (n) => ({ type: "turn.completed", ...turn("tool_calls", "", [call(n)]) }),
  (n) => ({
    type: "tool.call.asked",
    call_id: `r${n}t1c1`,
    request_id: `request-${n}`,
    kind: "approval",
    digest: hex(n),
    aspects: hex(n),
    prompt: "This tool writes.",
    preview: [],
    expires_at: null,
  }),
  (n) => ({
    type: "tool.call.decided",
    call_id: `r${n}t1c1`,
    request_id: `request-${n}`,
    approved: true,
    decided_by: "run_owner",
    decider: "ada",
    via: "card",
    reason: null,
    note: null,
  }),
  (n) => ({ type: "tool.call.started", call_id: `r${n}t1c1`, attempt: 1 }),
  (n) => ({
    type: "tool.call.completed",
    call_id: `r${n}t1c1`,
    name: "eat",
    result_item: {
      role: "tool",
      call_id: `r${n}t1c1`,
      renderer: null,
      text: `{"title":"Page ${n}","saved":true}`,
      is_error: false,
      trust: "tool",
    },
  }),
  (n) => ({ type: "turn.completed", ...turn("stop", `Page ${n} has its new title — is there “more” to do?`, []) }),
  () => ({ type: "run.ended", status: "done", reason: null }),
];

const question = (n) => `Give page ${n} the title "Page ${n}",\nplease.`;
const hex = (n) => n.toString(16).padStart(64, "0");
const call = (n) => ({
  provider_id: `call_${n}`,
  name: "eat",
  arguments: `{"page":${n},"title":"Page ${n}"}`,
  extra: {},
});
const turn = (end, text, calls) => ({
  end,
  finish_reason: end,
  text,
  reasoning: "",
  refusal: "",
  calls,
  call_count: calls.length,
  usage: { prompt_tokens: 1200, completion_tokens: 40 },
  binding: "",
  items: [],
  extra: {},
});

/**
 * The lines of a chat whose runs have ended, all but the last perhaps. Each has a salt and a hash as stored lines have, of
 * the right length and with no meaning.
 *
 * @param {string} chat its id
 * @param {number} events how many lines
 */
export function longLog(chat, events) {
  return Array.from({ length: events }, (_, seq) => {
    const n = Math.floor(seq / RUN.length) + 1;
    const { type, ...body } = RUN[seq % RUN.length](n);
    const header = { seq, chat, run: `r${n}`, at: 1_700_000_000_000 + seq, type, v: 1 };
    return JSON.stringify({ ...header, ...body, salt: hex(seq).slice(32), hash: hex(seq) });
  });
}
