import { CountersignError } from "./error.js";
import { GRANTS } from "./grants.js";
import { stays } from "./leaving.js";
import { readOptions } from "./options.js";
import { isFunction } from "./reader.js";
import { fill, writeAnswer } from "./requests.js";
import { judge } from "./rules.js";
import { violation } from "./schema.js";
import type { Store } from "./store.js";
import { announce, held, type Lease, lease, REWRITTEN } from "./tabs.js";
import { previewOf, runTool } from "./tools.js";
import type { AgentOptions, Answered, Request, ToolContext } from "./types.js";
import { patternMatches } from "./wasm/countersign.js";
import { life } from "./wasm.js";

/** Milliseconds; timers with longer waits fire at once. */
const LONGEST_TIMER = 0x7fffffff;

/** The page's own functions, as the wasm side calls them. Nothing here decides: that is done in wasm. */
export interface Host {
  /** What the rules say of a call: `[verdict, reason …]`; `["invalid", problem]` if it breaks the tool's schema. */
  judge(id: string, tool: string, argsText: string): string[];
  /** Runs a tool, see {@link runTool}. Called under a permit only. */
  run(
    tool: string,
    args: string,
    id: string,
    key: string,
    signal: AbortSignal,
    note?: string,
    answers?: string,
  ): Promise<string | [string]>;
  /** See {@link fill}. */
  fill(form: string, values: string): string;
  /** What `waitFor` answers to one of these requests (JSON), as JSON; undefined if it does not, or in no usable way. */
  waitFor(requests: string, request: string): Promise<string | undefined>;
  /** See {@link Store}. */
  load(chat: string, from: number): Promise<string[]>;
  append(chat: string, seq: number, lines: string[], head: string): Promise<void>;
  rewrite(chat: string, lines: [seq: number, line: string][]): Promise<void>;
  /** Whether the store keeps projections: one written for less than its interface need not. */
  readonly keeps: boolean;
  /** Keeps a projection of the first `seq` lines, and gives the text of the last that was kept, if there is one. */
  keep(chat: string, seq: number, text: string): Promise<void>;
  kept(chat: string): Promise<string | undefined>;
  /** See {@link lease}. */
  lease(chat: string): Promise<Lease | undefined>;
  held(chat: string): Promise<boolean>;
  /** See {@link previewOf}. */
  preview(tool: string, args: string): Promise<string[]>;
  /** What `canDecide` says of one of these requests (JSON). */
  mayDecide(requests: string, request: string, by?: string): Promise<boolean>;
  sleep(ms: number): Promise<void>;
  /** See {@link stays}. */
  stays(): Promise<void>;
  within<T>(work: Promise<T>, ms: number): Promise<T>;
  /** What `onContextTooLong` says to these messages (JSON), as digits. */
  trim(messages: string): Promise<string | undefined>;
  headers(): Promise<Record<string, string>>;
  fetch(url: string, init: RequestInit): Promise<Response>;
}

/** Splits the options of an agent into data and functions. Throws an error that names the option at fault. */
export function readHost(options: AgentOptions): {
  setup: string;
  host: Host;
  store: Store;
  abandon: () => void;
  /** Under which name it says what it wrote, see {@link announce}. */
  self: () => string;
} {
  const {
    setup,
    tools,
    rules,
    trim,
    canDecide,
    waitFor,
    store,
    headers,
    ownHeaders,
    fetch: own,
  } = readOptions(options);
  const name = nameOf(store);
  const id = crypto.getRandomValues(new Uint32Array(4)).join();
  // What an earlier life of the module wrote is news to a later one.
  const self = () => `${id}:${life()}`;
  // All that were given: to release one twice does nothing.
  const leases = new Set<Lease>();
  const abandon = () => {
    for (const given of leases) given.release();
    leases.clear();
  };
  const host: Host = {
    judge(id, name, argsText) {
      const schema = tools.find((tool) => tool.name === name)?.inputSchema ?? true;
      const broken = violation(schema, JSON.parse(argsText));
      if (broken) return ["invalid", broken];
      return judge(rules, (pattern) => patternMatches(pattern, name), { id, tool: name, argsText });
    },
    async run(name, args, callId, idempotencyKey, signal, note, answered) {
      const tool = tools.find((tool) => tool.name === name);
      if (!tool) throw `there is no tool "${name}"`;
      const answers: Answered[] = JSON.parse(answered ?? "[]");
      const answer = answers.at(-1);
      const context: ToolContext = {
        callId,
        idempotencyKey,
        signal,
        ...(note !== undefined && { note }),
        ...(answer !== undefined && { answer, answers }),
      };
      return runTool(tool, args, context);
    },
    async preview(name, args) {
      const tool = tools.find((tool) => tool.name === name);
      return tool ? previewOf(tool, args) : [""];
    },
    async mayDecide(requests, id, by) {
      const request = (JSON.parse(requests) as Request[]).find((request) => request.id === id);
      // What is not pending is the core's to refuse.
      if (!request || !canDecide) return true;
      return (await canDecide(request, by ?? null)) === true;
    },
    fill,
    async waitFor(requests, id) {
      const request = (JSON.parse(requests) as Request[]).find((request) => request.id === id);
      try {
        const answer = request && (await waitFor?.(request));
        if (answer === undefined || answer === null) return undefined;
        const text = writeAnswer(answer);
        if (answer.id === id) return text;
        throw new CountersignError("invalid_answer", `waitFor(request) answered another request than ${id}.`);
      } catch (thrown) {
        // Nobody here waits for it, and the request goes on waiting.
        reportError(thrown);
        return undefined;
      }
    },
    load: async (chat, from) => store.load(chat, from),
    async append(chat, seq, lines, head) {
      const from = self();
      await store.append(chat, seq, lines, head);
      // Every chat of an agent hears of standing permissions in this way, whichever gave them.
      announce(name, chat, seq + lines.length, chat === GRANTS ? undefined : from);
    },
    async lease(chat) {
      const since = life();
      const given = await lease(name, chat, self());
      if (given) leases.add(given);
      // Whoever asked for it is gone.
      if (since !== life()) given?.release();
      return given;
    },
    held: async (chat) => held(name, chat),
    async rewrite(chat, lines) {
      // A store written for less than this interface serves for everything else.
      if (!isFunction(store.rewrite)) {
        throw new CountersignError("storage", "The store has no rewrite(chat, lines), so that nothing can be cleared.");
      }
      await store.rewrite(chat, lines);
      announce(name, chat, REWRITTEN);
    },
    keeps: isFunction(store.saveSnapshot),
    keep: async (chat, seq, text) => store.saveSnapshot(chat, seq, text),
    kept: async (chat) => (await store.loadSnapshot?.(chat))?.text,
    // Longer waits than a timer can count are slept in parts.
    sleep: (ms) => new Promise((wake) => setTimeout(wake, Math.min(ms, LONGEST_TIMER))),
    stays,
    async within(work, ms) {
      // A limit of more than a timer can count, 24 days, is as good as none.
      if (ms === 0 || ms > LONGEST_TIMER) return work;
      let timer: ReturnType<typeof setTimeout> | undefined;
      const late = new Promise<never>((_, reject) => {
        timer = setTimeout(reject, ms);
      });
      return Promise.race([work, late]).finally(() => clearTimeout(timer));
    },
    trim: async (messages) => (await trim?.(JSON.parse(messages)))?.toString(),
    async headers() {
      // Few, since each further one can fail a preflight.
      const all: Record<string, string> = {
        "content-type": "application/json",
        accept: "text/event-stream",
        ...ownHeaders,
      };
      const given = typeof headers === "function" ? await headers() : headers;
      for (const [name, value] of given instanceof Headers ? given : Object.entries(given ?? {})) {
        if (value !== undefined) all[name.toLowerCase()] = value;
      }
      return all;
    },
    fetch: async (url, init) => (own ?? fetch)(url, init),
  };
  return { setup: JSON.stringify(setup), host, store, abandon, self };
}

const names = new WeakMap<Store, string>();

/** The name under which pages speak about a store's chats. One without a name is spoken about in this page alone. */
export function nameOf(store: Store): string {
  const name = store.name ?? names.get(store) ?? crypto.getRandomValues(new Uint32Array(4)).join();
  names.set(store, name);
  return name;
}
