import { CountersignError } from "./error.js";
import { isName, isObject } from "./reader.js";
import { SCOPES, type Scope } from "./tokens.js";
import type { CardView } from "./types.js";

/** @internal The chat id under which a store keeps the standing permissions: no chat may have it. */
export const GRANTS = "countersign:grants";

/**
 * What a standing permission covers, where it is not what its scope alone means: calls of this tool with exactly these
 * arguments, without an end.
 */
export interface Terms {
  scope: Scope;
  /**
   * True, the default: calls whose arguments are equal as parsed, whatever the order of keys. Names of arguments: calls in
   * which these have the same values, whatever the others are. False: calls with any arguments.
   */
  arguments?: boolean | readonly string[];
  /** When it ends, in milliseconds since the epoch; left out, it does not. */
  until?: number;
}

/**
 * A standing permission. It lets a call run that would have to ask by default, or by a rule that says so, in runs that
 * its holder started: no other person's, and none into which a result from outside has come.
 */
export interface Grant {
  id: string;
  scope: "chat" | "always";
  /** The chat in which it was given. */
  chat: string;
  /** The server of the tool; absent for the page's own tools. */
  server?: string;
  tool: string;
  /** The hash of the tool's definition: once that has changed, the permission covers nothing. */
  definition: string;
  /** `exact`: with these arguments; `having`: with these values among the arguments; `any`: with any. */
  constraint: "exact" | "having" | "any";
  arguments: Record<string, unknown>;
  /** Milliseconds since the epoch; null for no end. */
  until: number | null;
  /** Who gave it, and whose runs it covers. */
  by: string;
  /** When it was given, in milliseconds since the epoch. */
  at: number;
  /** The request that was approved with it. */
  requestId: string;
  /** What of the tool has changed since, so that the permission covers nothing; absent where it is as it was. */
  changed?: string[];
  /** The same to be shown, hidden characters replaced by visible tokens. */
  view: Pick<CardView, "tool" | "server" | "arguments"> & { chat: string };
}

/** The standing permissions in an agent's store. Made by `createAgent`. */
export class Grants {
  readonly #list: () => Promise<Grant[]>;
  readonly #revoke: (id: string) => Promise<void>;
  readonly #listeners = new Set<() => void>();

  /** @internal Pages use `agent.grants`. */
  constructor(list: () => Promise<Grant[]>, revoke: (id: string) => Promise<void>) {
    this.#list = list;
    this.#revoke = revoke;
  }

  /** Those that stand now, in the order in which they were given. */
  list(): Promise<Grant[]> {
    return this.#list();
  }

  /**
   * Takes one back, for good; again, nothing happens. Once this resolves no further call starts by it, in this page or
   * another: one that was judged before asks. Rejects with code `unknown_grant` where there was none of this id.
   */
  async revoke(id: string): Promise<void> {
    if (!isName(id)) throw new CountersignError("invalid_options", "grants.revoke(id) needs the id of a permission.");
    return this.#revoke(id);
  }

  /** Calls `listener` whenever one was given or revoked, also in another tab. Returns the function that ends it. */
  subscribe(listener: () => void): () => void {
    const own = () => listener();
    this.#listeners.add(own);
    return () => this.#listeners.delete(own);
  }

  /** @internal */
  tell(): void {
    for (const listener of [...this.#listeners]) {
      try {
        listener();
      } catch (thrown) {
        reportError(thrown);
      }
    }
  }
}

/** @internal Refuses the id under which the store keeps something else. */
export function refuseReserved(id: string): void {
  if (id === GRANTS) {
    throw new CountersignError("invalid_options", `"${id}" is where standing permissions are kept: see agent.grants.`);
  }
}

/** @internal Reads the scope of a decision, for the wasm side; undefined for once. */
export function readTerms(given: unknown, approve: boolean): string | undefined {
  const wrong = (what: string) => new CountersignError("invalid_decision", `decide: ${what}.`);
  if (given === undefined) return undefined;
  const terms = isObject(given) ? given : { scope: given };
  const { scope, arguments: chosen = true, until } = terms;
  if (!(SCOPES as readonly unknown[]).includes(scope)) throw wrong(`scope must be one of: ${SCOPES.join(", ")}`);
  const extra = Object.keys(terms).find((key) => !["scope", "arguments", "until"].includes(key));
  if (extra !== undefined) throw wrong(`scope has no "${extra}"; it may have scope, arguments and until`);
  if (scope === "once") {
    if (Object.keys(terms).length > 1) throw wrong("arguments and until go with the scopes chat and always only");
    return undefined;
  }
  if (!approve) throw wrong("a scope goes with an approval only; leave it out to deny");
  if (typeof chosen !== "boolean" && !(Array.isArray(chosen) && chosen.length > 0 && chosen.every(isName))) {
    throw wrong("scope.arguments must be true, false, or names of the call's arguments");
  }
  if (until !== undefined && !(Number.isSafeInteger(until) && (until as number) > Date.now())) {
    throw wrong("scope.until must be a time to come, in whole milliseconds since the epoch, or be left out");
  }
  return JSON.stringify({ scope, arguments: chosen, until });
}
