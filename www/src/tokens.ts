/** What a call that gave no plain result came to. */
export const OUTCOMES = [
  "tool_failed",
  "approval_denied",
  "approval_expired",
  "approval_superseded",
  "approval_cancelled",
  "already_declined",
  "request_declined",
  "request_lapsed",
  "blocked_by_policy",
  "tool_unavailable",
  "arguments_invalid",
  "turn_truncated",
  "outcome_unknown",
] as const;
export type Outcome = (typeof OUTCOMES)[number];

/** Who decided, in relation to the run. Stands only where a person decided. */
export const DECIDERS = ["run_owner", "other_user", "unknown"] as const;
export type DecidedBy = (typeof DECIDERS)[number];

/** Closed reasons that may come with a denial. */
export const DENY_REASONS = ["variant", "skip"] as const;
export type DenyReason = (typeof DENY_REASONS)[number];

/** How outcomes are put into the text that the model reads. */
export const RENDERERS = ["sentence", "json", "compact"] as const;
export type Renderer = (typeof RENDERERS)[number];

/** By which path a decision came in. */
export const VIAS = ["card", "api", "waitFor"] as const;
export type Via = (typeof VIAS)[number];

/** How far an approval reaches: this call, calls of this chat, calls of every chat. */
export const SCOPES = ["once", "chat", "always"] as const;
export type Scope = (typeof SCOPES)[number];

/** Kinds of requests that are known; a tool may ask for others, which the host settles. */
export const REQUEST_KINDS = ["approval", "input", "question", "authorization"] as const;
export type RequestKind = (typeof REQUEST_KINDS)[number] | (string & {});

/** How much of a chat an export holds. */
export const PRIVACY_LEVELS = ["metadata", "redacted", "full"] as const;
export type Privacy = (typeof PRIVACY_LEVELS)[number];
