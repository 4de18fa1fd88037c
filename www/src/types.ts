import type { Model } from "./models.js";
import type { Rule } from "./rules.js";
import type { Store } from "./store.js";
import type { DecidedBy, DenyReason, Outcome, Renderer, RequestKind, Scope, Via } from "./tokens.js";

/** Who sits at this page. */
export interface User {
  /** An opaque, non-empty id; it never reaches the model. */
  id: string;
  /** For the page's own use; nothing here reads it. */
  name?: string;
}

/** What a tool learns about its call beside the arguments. */
export interface ToolContext {
  callId: string;
  /** The same for every attempt of this call, and for no other call. */
  idempotencyKey: string;
  /** Aborts when the run is stopped. */
  signal: AbortSignal;
  /** The note that came with the approval. */
  note?: string;
  /** What the tool asked for and was answered, where it is called once more because of that. */
  answer?: Answered;
  /** All answers of this call in order, where the tool asked more than once; the last one is `answer`. */
  answers?: readonly Answered[];
}

/** What a tool gets of an answer. */
export interface Answered {
  /** The request's id. */
  id: string;
  kind: RequestKind;
  /** False only for {@link Tool.relay}. */
  ok: boolean;
  /** Of a no: `"declined"` where a person pressed the button that declines, else as the answer had it. */
  reason?: string | null;
  /** The values of a form, or whatever the answer held. */
  data?: unknown;
}

/** What a tool asks for. */
export interface RequestSpec {
  kind: RequestKind;
  /** What the person reads. */
  prompt: string;
  /** An `https:` URL; needed for an authorization. */
  url?: string;
  /**
   * For `input` and `question` `{ schema }`: a JSON Schema with `type: "object"` whose properties are strings, numbers,
   * integers, booleans, enums or arrays of an enum. Never for secrets: those go through an authorization's `url`.
   */
  data?: unknown;
  /** Milliseconds since the epoch; null for never; left out, the host's `approvals.expireAfterMs` holds. */
  expiresAt?: number | null;
}

declare const brand: unique symbol;
/** What {@link pendingRequest} gives, for a tool to return. */
export interface PendingRequest {
  readonly [brand]: true;
}

/** Who answered: a person, null where it is not known which, or the host's policy. */
export type AnsweredBy = { user: string | null } | "policy";

/**
 * Settles a request. The run branches on `ok` alone: the tool goes on, or its call ends.
 *
 * On an approval, `ok: false` by the policy is `blocked_by_policy`; by a user, or with the reason `"declined"` exactly,
 * `approval_denied`; else `approval_cancelled`. On what a tool asked for, by a user or with that reason it is
 * `request_declined`, else `request_lapsed`.
 */
export interface Answer {
  id: string;
  ok: boolean;
  /** Only with `ok: true`. */
  data?: unknown;
  /** Only with `ok: false`; kept in the log, the model never reads it. */
  reason?: string | null;
  by?: AnsweredBy | null;
}

export interface Tool {
  /** 1 to 64 of the characters a-z, A-Z, 0-9, _ and -. */
  name: string;
  /** A name for people. */
  title?: string;
  /** What it does, for the model. */
  description?: string;
  /** A JSON Schema with `type: "object"`. */
  inputSchema: { type: "object"; [keyword: string]: unknown };
  /** `read` runs without asking; `write`, or left out, asks. Rules and standing permissions may say otherwise. */
  effect?: "read" | "write";
  /** Whether running it twice does no more than once: then it is run again when its result was lost. Default false. */
  idempotent?: boolean;
  /**
   * Whether its results come from outside and may hold instructions of strangers. After one, a call of the same run that
   * may change something is asked about, whatever a rule allows. Default false.
   */
  untrusted?: boolean;
  /**
   * What a server that the tool came from says of it, as it is: the card shows the risk it tells, and what it leaves out
   * counts as the worse. It lowers nothing that the host declared, and no call runs because of it.
   */
  annotations?: ToolAnnotations;
  /**
   * What a call would do, line by line, for the card, and what it would replace. Run when the call is asked about and again
   * when it is approved: if anything of it has changed, nothing runs and the card asks again.
   */
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the shape of inputSchema, which types cannot know.
  preview?: (args: any) => readonly string[] | Preview | Promise<readonly string[] | Preview>;
  /**
   * A string goes to the model as it is, anything else as JSON. A rejection becomes `tool_failed`. With `pendingRequest(…)`
   * it asks a person first and is called once more with the answer.
   */
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the shape of inputSchema, which types cannot know.
  run: (args: any, context: ToolContext) => unknown;
  /**
   * For a tool that asks in the name of a server which is to hear of a no too, as in an elicitation of the Model Context
   * Protocol (see {@link toMcpElicitation}). Called once instead of `run` when what the tool asked for was answered with
   * `ok: false`, with that answer in its context; what it returns is the call's result. Without it the call ends at once as
   * `request_declined` or `request_lapsed`, as it does in any case when nobody answered in time, or the run ended.
   */
  // biome-ignore lint/suspicious/noExplicitAny: arguments have the shape of inputSchema, which types cannot know.
  relay?: (args: any, context: ToolContext) => unknown;
}

/** The hints of the Model Context Protocol about a tool. Other members are let pass. */
export interface ToolAnnotations {
  readOnlyHint?: boolean;
  destructiveHint?: boolean;
  idempotentHint?: boolean;
  openWorldHint?: boolean;
}

/** What a tool says of a call before it runs. */
export interface Preview {
  /** What the call would do, line by line. */
  lines?: readonly string[];
  /**
   * The values that the arguments replace, as data in the shape of the arguments: the card shows the difference. What is
   * left out is not compared.
   */
  current?: Record<string, unknown>;
}

/** A part of a user's message. */
export type Part =
  | { type: "text"; text: string }
  /** An `https:` URL, or a `data:` URL in base64, as `FileReader.readAsDataURL` gives it. */
  | { type: "image"; url: string }
  | { type: "file"; url: string; name: string };

/** A message that a chat starts from. Every call has its result. */
export type HistoryMessage =
  | { role: "user"; content: string | readonly Part[] }
  | {
      role: "assistant";
      content: string;
      /** `arguments` is their JSON text, `result` what the model read. */
      calls?: readonly { tool: string; arguments: string; result: string; isError?: boolean }[];
    };

export interface AgentOptions {
  /** Author of messages and decider of clicks; null says "I do not know". */
  user: User | null;
  model: Model;
  instructions?: string;
  /** Merged into each request body as they are; a model may have its own. */
  params?: Record<string, unknown>;
  tools?: Tool[];
  rules?: Rule[];
  approvals?: {
    /** Milliseconds until a request lapses; null, the default, for never. */
    expireAfterMs?: number | null;
    /** Whose notes the model reads: the run owner's (`own`, the default) or everybody's (`all`). */
    notes?: "own" | "all";
    /**
     * How far an approval may reach: `["once"]` alone switches standing permissions off, those of earlier too. Default all
     * of `SCOPES`; `once` is always among them.
     */
    scopes?: readonly Scope[];
  };
  /**
   * Whether this decider, an id or null, may decide about this request. A refused one leaves it pending and gets an error
   * of code `not_allowed`.
   */
  canDecide?: (request: Request, decider: string | null) => boolean | Promise<boolean>;
  /**
   * Answers a request from the page's own code. Called once for each request when it begins to wait in the page that does
   * the work, not again after a reload. A promise that rejects, never settles, or resolves with null or an answer to
   * another request decides nothing: the request waits for others. Errors in it go to `reportError`.
   */
  waitFor?: (request: Request) => Answer | null | undefined | Promise<Answer | null | undefined>;
  /** Whether an approval needs a known person who did not start the run. Denying stays open to all. Default false. */
  secondApprover?: boolean;
  renderer?: Renderer;
  /** Model turns per run; default 20. Then one closing request without tools. */
  maxRounds?: number;
  /** In milliseconds; null for none. */
  timeouts?: {
    /** Until the first byte of an answer; default 60 000. */
    firstByteMs?: number | null;
    /** Between two pieces of an answer; default 60 000. */
    idleMs?: number | null;
    /** For a tool; default none. Its signal aborts, and the model is told that it timed out. */
    toolMs?: number | null;
  };
  /**
   * Called when the model's context is too long, with all messages of the chat: how many of the oldest requests are to
   * leave out from now on, rounded down so that whole runs are left out and the latest stays. Then the request is made
   * again, up to three times; without it, or when it leaves out nothing more, the run rests with an error.
   */
  onContextTooLong?: (messages: readonly Message[]) => number | undefined | Promise<number | undefined>;
  /** Where chats are kept; default `indexedDBStore()`. On a device that people share, name one for each of them. */
  store?: Store;
}

export type Status = "idle" | "running" | "pending" | "interrupted" | "error" | "done" | "stopped" | "limit";

/** How a run stands when it rests. */
export interface RunResult {
  status: Status;
  /** More about the end: `repeated_denied_call`, `superseded`, `stopped`, `refusal`, `length`, `empty` … */
  reason?: string;
  /** The failed model request behind status `error`. */
  error?: { code: string; message: string };
  /** The text of the run's last answer. */
  text: string;
}

export interface Decision {
  approve: boolean;
  /** Null where no person decided. */
  decidedBy: DecidedBy | null;
  /** The decider's id; null where it is not known. */
  by: string | null;
  /** A person, the host's policy, or the host taking the request back. */
  settler: "person" | "policy" | "host";
  via: Via;
  reason?: DenyReason;
  note?: string;
  /** There where the approval was to reach further than this call; whether that was kept is told by `agent.grants`. */
  scope?: "chat" | "always";
  /** The reason of an answer, which the model does not read. */
  answerReason?: string;
  /** What the answer gave to the tool. */
  data?: unknown;
}

/** An argument that a person changed, hidden characters replaced by visible tokens. */
export interface ArgumentChange {
  path: string;
  /** What the model wrote; absent where it wrote nothing. */
  was?: { kind: string; text: string };
  /** What stands there now; absent where nothing does. */
  now?: { kind: string; text: string };
}

export interface Call {
  id: string;
  tool: string;
  /** The provider's server that runs it once approved; absent for the page's own tools. */
  server?: string;
  title?: string;
  /** The exact text of the arguments, as the model wrote it. */
  arguments: string;
  /** The exact text of the arguments that a person approved in place of those; it runs with these. */
  edited?: string;
  /** Where the two differ. */
  changes?: ArgumentChange[];
  state: "requested" | "waiting" | "ready" | "running" | "settled";
  /** The id of the standing permission by which it ran without asking. */
  grant?: string;
  requestId?: string;
  decision?: Decision;
  /** Absent for a plain result. A denial of an old log has the code that was recorded, and nobody who decided. */
  outcome?: Outcome | (string & {});
  decidedBy?: DecidedBy;
  /** Whether the tool ran; null where that is not known, absent while the call is open. */
  executed?: boolean | null;
  /** The one result, as the model reads it. */
  result?: { text: string; isError: boolean };
}

export type Message =
  /** `text` joins the text parts; `parts` is there if the message has others. */
  (
    | { type: "user"; id: string; by: string | null; text: string; parts?: Part[] }
    | { type: "assistant"; id: string; text: string; reasoning: string; refusal: string; calls: Call[]; usage?: Usage }
    | { type: "error"; id: string; code: string; message: string; text: string }
  ) & {
    /** There if `chat.clear()` took the content away: texts are empty because of it. */
    cleared?: true;
  };

/** Token counts of one answer. */
export interface Usage {
  inputTokens?: number;
  outputTokens?: number;
  /** As the provider sent them. */
  raw: Record<string, unknown>;
}

/** What changed in a chat. */
export type ChatEvent =
  /** New text, or new reasoning, of the answer that arrives. */
  | { type: "text" | "reasoning"; text: string }
  /** A user's message, or a model request that failed. */
  | { type: "message"; message: Message }
  | { type: "call"; call: Call }
  | { type: "request"; request: Request }
  | { type: "decision"; call: Call; decision: Decision }
  | { type: "result"; call: Call }
  | { type: "usage"; messageId: string; usage: Usage }
  | { type: "status"; status: Status; reason?: string; error?: { code: string; message: string } };

/** One argument, or one leaf of a nested one. */
export interface ArgumentRow {
  /** Where it stands, such as `recipients[0].address`. */
  path: string;
  /** What it stands in, such as `recipients[0]`; absent for the arguments themselves. */
  group?: string;
  /** Its own step of the path, such as `address`, or `[0]` for an item of a list. */
  name: string;
  /** The path of the list, if the row is a cell in a table: a list of flat objects. */
  table?: string;
  /**
   * `object` and `array` only where they are empty; `nothing` for an item of a list that is there now, by `preview`, and
   * that the call takes away.
   */
  kind: "string" | "number" | "boolean" | "null" | "object" | "array" | "nothing";
  /** The end of a line is marked `↵`; a space at the edge of a line or next to another one is shown as `␣`. */
  text: string;
  /** Whether it needs a block of its own. */
  long: boolean;
  /** There if a word mixes letters of different alphabets. */
  mixed?: true;
  /** The hosts of its URLs that are not ASCII, in Punycode. */
  hosts?: string[];
  /** What changes, where the tool's preview tells another current value: what stays and what comes is `text`. */
  changes?: { change: "same" | "removed" | "added"; text: string }[];
}

/** The approval card as data, hidden characters already replaced by visible tokens such as `⟨U+202E⟩`. */
export interface CardView {
  /** Who asks: the model, a tool that was started, or the page about a call whose result it lost. */
  asker: "assistant" | "tool" | "page";
  tool: string;
  /** The provider's server that would run it; absent for the page's own tools. */
  server?: string;
  title?: string;
  why: string;
  /** Every key and value that it would run with, in the order they were written. */
  arguments: ArgumentRow[];
  /** Where those are not what the model wrote, since a person approved others. */
  changes?: ArgumentChange[];
  /** The lines of the tool's preview. */
  preview: string[];
  /** What is known of the tool's effects, the worse where nothing is. */
  hints: ("reads" | "writes" | "may_write" | "destructive" | "idempotent" | "repeats" | "open_world")[];
  /** What a decision covers: SHA-256, hexadecimal. */
  digest: string;
}

export interface Request {
  id: string;
  /**
   * `approval`: whether a call may run. `recovery`: a call was started and its result was lost; approving runs it again,
   * denying leaves it as done. `input`, `question`, `authorization` and any other: what a tool asks for.
   */
  kind: RequestKind | "recovery";
  callId: string;
  /** Why it stopped, or what the tool asks. */
  prompt: string;
  /** Where the person has to go, for an authorization. */
  url?: string;
  /** What came with it; for `input` and `question` `{ schema }`. */
  data?: unknown;
  /** Milliseconds since the epoch; null for never. */
  expiresAt: number | null;
  /** The scopes with which the run's owner may approve it: `once`, and others where nothing but the default asked. */
  scopes: Scope[];
  view: CardView;
}

/** The chat at one moment. The same reference until something changes. */
export interface Snapshot extends RunResult {
  id: string;
  messages: readonly Message[];
  requests: readonly Request[];
  /** False if the chat does not survive a reload of the page. */
  durable: boolean;
  /** Why nothing more happens in this chat here: it was deleted, or its store failed. Open it again, or another one. */
  ended?: { code: string; message: string };
  /** What of an answer has arrived. */
  streaming?: { text: string; reasoning: string };
}
