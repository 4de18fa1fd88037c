/** Cards with their receipts. */
import { GRANTABLE, LONG, lost, never, SHORT } from "./approvals.mjs";
import { ANSWERABLE, SIGN_IN } from "./requests.mjs";

const decided = (name, title, decision, more = {}) => ({
  name,
  title,
  calls: SHORT,
  act: ({ decide }) => decide(decision),
  ...more,
});

/** What a version 0 wrote of a call that was declined: not by whom. */
const OLD = [
  { type: "run.started", message_id: "m1", owner: "ada", parts: [{ type: "text", text: "Please." }] },
  {
    ...{ type: "turn.completed", end: "tool_calls", finish_reason: "tool_calls", text: "", reasoning: "", refusal: "" },
    calls: [{ provider_id: "call_1", name: "send_mail", arguments: '{"to":"grace@example.org"}', extra: {} }],
    ...{ usage: null, binding: "", items: [], extra: {} },
  },
  {
    ...{ type: "tool.call.asked", call_id: "r1t1c1", request_id: "q1", kind: "approval", digest: "d".repeat(64) },
    ...{ aspects: "a".repeat(64), prompt: "Mail cannot be unsent.", preview: [], expires_at: null },
  },
  { type: "tool.call.denied", call_id: "r1t1c1", name: "send_mail", reason_code: "approval.denied" },
];

export const RECEIPTS = [
  decided("approved", "Approved by you, and ran", { approve: true }),
  decided("approved-long", "Approved, a long text", { approve: true }, { calls: LONG }),
  decided("approved-edited", "Approved with other arguments", {
    approve: true,
    args: { title: "Tasting of the ginger cookies", day: "2026-03-01", hour: 16, remind: true },
  }),
  decided("approved-other", "Approved by somebody else", { approve: true, by: "grace" }),
  decided("approved-unknown", "Approved by a person not identified", { approve: true, by: null }),
  decided("allowed-in-chat", "Allowed in this chat", { approve: true, scope: "chat" }, { options: GRANTABLE }),
  decided("allowed-always", "Allowed always", { approve: true, scope: "always" }, { options: GRANTABLE }),
  decided(
    "approved-failed",
    "Approved, and failed",
    { approve: true },
    { run: () => () => Promise.reject(new Error("The calendar is full.")) },
  ),
  decided("running", "Approved, and running", { approve: true }, { run: never, endless: true }),
  decided("denied", "Denied by you, with a note", { approve: false, note: "Not on a Sunday, please." }),
  decided("denied-reason", "Denied by you, with a reason", { approve: false, reason: "variant" }),
  decided("denied-other", "Denied by somebody else", { approve: false, by: "grace" }),
  decided("denied-unknown", "Denied by a person not identified", { approve: false, by: null }),
  {
    name: "refused-by-policy",
    title: "Refused by the page's policy",
    calls: SHORT,
    act: ({ answer }) => answer({ ok: false, by: "policy" }),
  },
  {
    name: "allowed-by-policy",
    title: "Allowed by the page's policy",
    calls: SHORT,
    act: ({ answer }) => answer({ ok: true, by: "policy" }),
  },
  {
    name: "withdrawn",
    title: "Taken back by the page",
    calls: SHORT,
    act: ({ answer }) => answer({ ok: false, reason: "the page moved on" }),
  },
  {
    name: "expired",
    title: "Expired",
    calls: SHORT,
    options: { approvals: { expireAfterMs: 1 } },
    act: ({ until }) => until(({ status }) => status === "done"),
  },
  {
    name: "superseded",
    title: "A new message came first",
    calls: SHORT,
    act: ({ chat }) => chat.send("Never mind."),
  },
  { name: "stopped", title: "Stopped before a decision", calls: SHORT, act: ({ chat }) => chat.stop() },
  {
    name: "outcome-unknown",
    title: "Stopped while it ran",
    calls: SHORT,
    run: never,
    endless: true,
    act: async ({ chat, decide, until }) => {
      await decide({ approve: true });
      await until(({ messages }) => messages.at(-1).calls[0].state === "running");
      await chat.stop();
    },
  },
  {
    name: "marked-done",
    title: "Its result lost, and marked as done",
    calls: SHORT,
    run: never,
    endless: true,
    act: async (kit) => {
      await lost(kit);
      await kit.decide({ approve: false });
    },
  },
  {
    name: "run-again",
    title: "Its result lost, and run again",
    calls: SHORT,
    run: never,
    endless: true,
    act: async (kit) => {
      await lost(kit);
      await kit.decide({ approve: true });
    },
  },
  {
    name: "answered",
    title: "Answered",
    calls: [["party__plan", {}]],
    run: ANSWERABLE,
    act: ({ answer }) => answer({ ok: true, data: { name: "Ada", guests: 4 }, by: { user: "ada" } }),
  },
  {
    name: "declined",
    title: "Declined",
    calls: [["party__plan", {}]],
    run: SIGN_IN,
    act: ({ answer }) => answer({ ok: false, reason: "declined", by: { user: "ada" } }),
  },
  {
    name: "old-record",
    title: "Denied in an older record",
    calls: [],
    log: OLD.map((event, seq) =>
      JSON.stringify({ seq, chat: "old-record", run: "r1", at: 1_700_000_000_000 + seq, v: 1, ...event }),
    ),
  },
];
