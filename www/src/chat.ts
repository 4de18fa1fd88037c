import { CountersignError } from "./error.js";
import { eventsOf } from "./events.js";
import { readTerms, type Terms } from "./grants.js";
import { readParts } from "./messages.js";
import { readArguments, readDecider, readDecision, readRequestId } from "./options.js";
import { writeAnswer } from "./requests.js";
import type { DenyReason, Privacy, Scope } from "./tokens.js";
import type { Answer, ChatEvent, Message, Part, Request, RunResult, Snapshot } from "./types.js";
import type { RawChat } from "./wasm/countersign.js";
import { enter, unlessAborted } from "./wasm.js";

export interface SendOptions {
  /** Stops the run when it aborts before `send` resolves; a run that waits for a person is stopped by `chat.stop()`. */
  signal?: AbortSignal;
  /** The message's author, where it is not the agent's user; null for not known. */
  by?: string | null;
}

export interface DecideOptions {
  approve: boolean;
  /** The decider's id; null states that it is not known. */
  by: string | null;
  /** Only with a denial. */
  reason?: DenyReason;
  note?: string;
  /**
   * Only with an approval, of a request that lists it in its `scopes`, by the owner of the run: `chat` and `always` give a
   * standing permission for later calls with exactly these arguments, {@link Terms} one for others. Default `once`.
   */
  scope?: Scope | Terms;
  /**
   * Arguments in place of the model's, an object as `JSON.parse` gives it; only with an approval of a call that waits ahead
   * of its tool. They are checked as the model's are: what breaks the schema rejects with `invalid_decision`, what a rule
   * refuses with `not_allowed`, and nothing is decided. The tool runs with them, the original call stays in the history,
   * and the model is told what was changed. Equal arguments change nothing.
   */
  args?: Record<string, unknown>;
}

export interface ExtendOptions {
  /** When the request lapses from now on, in milliseconds since the epoch; null for never. */
  expiresAt: number | null;
  /** Who gives the time, for the record; null, the default, where that is not known. */
  by?: string | null;
}

/** One chat that is open in this page; made by `agent.open(id)`. */
export class Chat {
  readonly id: string;
  #held: RawChat | undefined;
  readonly #listeners = new Set<() => void>();
  /** Messages that no longer change: all but the last. */
  readonly #settled: Message[] = [];
  #snapshot: Snapshot;
  /** What this page began and may not have stored yet, on top of the snapshot. */
  #begun: Snapshot | undefined;
  #isStale = false;
  #generation = 0;
  readonly #durable: () => boolean;

  /** @internal Pages use `agent.open(id)`. */
  constructor(id: string, raw: RawChat, durable: () => boolean) {
    this.id = id;
    this.#durable = durable;
    this.#snapshot = this.#take(raw);
  }

  /** @internal The module was started anew: `raw` is the chat as the store has it, undefined until it is there. */
  renew(raw: RawChat | undefined): void {
    this.#held = undefined;
    this.#settled.length = 0;
    this.#begun = undefined;
    if (raw) this.#snapshot = this.#take(raw);
    this.#isStale = false;
    this.#tell();
  }

  /** @internal Whether the module has the chat. */
  isHere(): boolean {
    return this.#held !== undefined;
  }

  get #raw(): RawChat {
    if (this.#held) return this.#held;
    throw new CountersignError(
      "aborted",
      "The chat is being taken anew from the store; subscribe() tells when it is there.",
    );
  }

  #take(raw: RawChat): Snapshot {
    this.#held = raw;
    return enter(() => {
      raw.subscribe(() => {
        this.#isStale = true;
        // What is stored now is not there to be looked at once a write has failed.
        if (!raw.isStreaming()) this.stored();
        this.#tell();
      });
      return this.#draw();
    });
  }

  #tell(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (thrown) {
        reportError(thrown);
      }
    }
  }

  /**
   * The chat as it stands, frozen; the same reference until something changes. What `send`, `resume` and `retry` begin shows
   * directly after the call; a decision, an answer and a stop show once they are stored.
   */
  snapshot(): Snapshot {
    const stored = this.stored();
    return this.#begun ?? stored;
  }

  /** @internal The chat as the store has it. */
  stored(): Snapshot {
    // While something is being written the last one stands: nothing is shown that is not stored.
    unlessAborted(() => {
      if (!this.#isStale || !this.#held) return;
      if (this.#raw.isStored()) this.#snapshot = this.#draw();
      // What was being written when the chat ended never will be.
      else if (!this.#raw.goesOn()) this.#snapshot = freeze(this.#ended(this.#snapshot));
      else return;
      this.#begun = undefined;
      this.#isStale = false;
    });
    return this.#snapshot;
  }

  /** What changes from now on, as it changes; ends with the loop that reads it. */
  events(): AsyncIterableIterator<ChatEvent> {
    return eventsOf(this);
  }

  /** Calls `listener` after every change, also those made by a click. Returns the function that ends it. */
  subscribe(listener: () => void): () => void {
    // The same function may be given twice.
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /**
   * Sends a user's message. A run that is at work is waited for; one that waits for a person is superseded.
   * Resolves when the run rests.
   */
  async send(message: string | readonly Part[], options: SendOptions = {}): Promise<RunResult> {
    const parts = readParts(message, "send(message)");
    const { signal } = options;
    if (signal !== undefined && !(signal instanceof AbortSignal)) {
      throw new CountersignError("invalid_options", "send: signal must be an AbortSignal, or left out.");
    }
    // Undefined stands for the agent's user, null for "not known".
    const by = options.by === undefined ? undefined : readDecider(options.by);
    return this.#begin(() => this.#raw.send(JSON.stringify({ parts }), by !== undefined, by, signal));
  }

  /**
   * Decides about a pending request, as the page's own code: what the card asks of a person first, to open what is folded,
   * does not apply, and the decision is recorded as made through the API (`via: "api"`). Resolves once the decision is stored; `continuation` resolves when the run
   * rests again. Rejects with code `not_grantable`, with nothing decided, where the scope is not to be had, and with
   * `grant_failed` where the call was approved and the standing permission could not be kept.
   */
  async decide(
    requestId: string,
    options: DecideOptions,
  ): Promise<{ result: "applied" | "already"; continuation: Promise<RunResult> }> {
    const id = readRequestId(requestId);
    readDecision(options);
    const { approve, reason, note, args } = options;
    const by = readDecider(options.by);
    const text = readArguments(args);
    const terms = readTerms(options.scope, approve);
    const run = enter(() => this.#raw.runId());
    return this.#after(run, await enter(() => this.#raw.decide(id, approve, by, reason, note, text, terms)));
  }

  /**
   * Settles a pending request of any kind: with `answerOutput`, `answerDeclined`, or an object like theirs. Resolves as
   * `decide` does. An answer that is wrong in any way rejects and changes nothing.
   */
  async answer(answer: Answer): Promise<{ result: "applied" | "already"; continuation: Promise<RunResult> }> {
    const text = writeAnswer(answer);
    const run = enter(() => this.#raw.runId());
    return this.#after(run, await enter(() => this.#raw.answer(text)));
  }

  /** Gives a pending request more time. Resolves once that is stored. */
  async extend(requestId: string, options: ExtendOptions): Promise<{ result: "applied" | "already" }> {
    const { expiresAt } = options;
    const id = readRequestId(requestId);
    if (expiresAt !== null && !(Number.isSafeInteger(expiresAt) && expiresAt >= 0)) {
      throw new CountersignError(
        "invalid_expiry",
        "extend: expiresAt must be whole milliseconds since the epoch, or null.",
      );
    }
    const by = readDecider(options.by ?? null);
    return { result: await enter(() => this.#raw.extend(id, expiresAt ?? undefined, by)) };
  }

  /** Goes on with a run that was left interrupted. Never called for you. */
  async resume(): Promise<RunResult> {
    return this.#begin(() => this.#raw.resume());
  }

  /** Makes a failed model request again; tools that ran do not run again. */
  async retry(): Promise<RunResult> {
    return this.#begin(() => this.#raw.resume());
  }

  /** Ends the run: aborts what is under way, lapses what is pending. */
  async stop(): Promise<RunResult> {
    return enter(() => this.#raw.stop());
  }

  /**
   * The chat as JSON Lines, one event each, for {@link verifyLog}. Every level has the decision record: ids, outcomes,
   * who decided what and when. `metadata`, the default and what an unknown level means, has no text of a person, a model
   * or a tool; `redacted` has the length of each; `full` has all. The log is what the store has, in every level what
   * `clear` took away is gone.
   */
  async export(options: { privacy?: Privacy } = {}): Promise<string> {
    return enter(() => this.#raw.export(String(options.privacy ?? "metadata")));
  }

  /**
   * Takes the content of finished runs out of the store and out of the chat for good; what was decided stays. Their
   * messages are marked `cleared`, and later requests leave them out. A run that is at work is waited for, and an open
   * one keeps its content. Resolves once it is stored.
   */
  async clear(): Promise<void> {
    return enter(() => this.#raw.clear());
  }

  /** Calls what sets a run to work, and shows that. */
  #begin(call: () => Promise<RunResult>): Promise<RunResult> {
    const before = this.snapshot();
    const settled = enter(call);
    const begun = before.status === "running" ? undefined : unlessAborted(() => this.#drawBegun(before));
    if (begun) {
      this.#begun = begun;
      this.#tell();
    }
    return settled;
  }

  /**
   * What came on top of a snapshot when a run was set to work: the message, if there is one, and that nothing waits. What
   * became of calls that waited shows once it is stored.
   */
  #drawBegun({ reason, error, streaming, ...before }: Snapshot): Snapshot | undefined {
    const view = this.#raw.runView() as RunResult;
    if (view.status !== "running") return undefined;
    const place = before.messages.length;
    const fresh = this.#raw.messageCount() > place ? [this.#raw.message(place) as Message] : [];
    return freeze({ ...before, ...view, messages: [...before.messages, ...fresh], requests: [] });
  }

  #after(run: string | undefined, result: "applied" | "already") {
    const continuation: Promise<RunResult> = enter(() => this.#raw.settle(run));
    // Who does not wait for it is not to be bothered by its failure: the snapshot tells it too.
    continuation.catch(() => {});
    return { result, continuation };
  }

  #draw(): Snapshot {
    const count = this.#raw.messageCount();
    const generation = this.#raw.generation();
    // The chat was taken anew from the store: after a write that failed there may be fewer, after a clearing others.
    if (generation !== this.#generation) this.#settled.length = 0;
    this.#generation = generation;
    if (this.#settled.length === 0) {
      for (const message of this.#raw.drawn() as Message[]) this.#settled.push(freeze(message));
    }
    while (this.#settled.length < count - 1) {
      this.#settled.push(freeze(this.#raw.message(this.#settled.length)) as Message);
    }
    const messages = count > 0 ? [...this.#settled, this.#raw.message(count - 1) as Message] : [];
    const [text, reasoning] = this.#raw.partial() as [string, string];
    const snapshot: Snapshot = {
      id: this.id,
      ...(this.#raw.runView() as RunResult),
      messages,
      requests: this.#raw.requests() as Request[],
      durable: this.#durable(),
      ...((text || reasoning) && { streaming: { text, reasoning } }),
    };
    return freeze(this.#ended(snapshot));
  }

  /** The same, with what tells that nothing more happens here if that is so. */
  #ended(snapshot: Snapshot): Snapshot {
    const [code, message] = (this.#raw.ended() ?? []) as string[];
    if (code === undefined || message === undefined) return snapshot;
    const { streaming: _, status, durable, ...rest } = snapshot;
    return {
      ...rest,
      status: status === "running" ? "interrupted" : status,
      durable: durable && code !== "deleted",
      ended: { code, message },
    };
  }
}

/** Freezes plain data to its leaves; what is frozen already is not visited again. */
function freeze<T>(value: T): T {
  if (typeof value === "object" && value !== null && !Object.isFrozen(value)) {
    Object.freeze(value);
    for (const field of Object.values(value)) freeze(field);
  }
  return value;
}
