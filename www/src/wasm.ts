import { CountersignError } from "./error.js";
import { isObject } from "./reader.js";
import { onTrap } from "./trap.js";
import load, { __wbg_reset_state, install } from "./wasm/countersign.js";

/** Where the wasm may come from. */
export type InitInput = URL | string | Request | Response | BufferSource | WebAssembly.Module;

/** How often a module that trapped is started anew; one that keeps doing so does it for a reason that stays. */
const MOST_RESTARTS = 5;

/** The package's own module for every wire format: a third larger than the default one, which speaks Chat Completions. */
export interface AllWires {
  wires: "all";
}

let loading: Promise<void> | undefined;
let loaded = false;
/** Why nothing can be called, from a trap until the module has been started anew. */
let dead: CountersignError | undefined;
let restarts = 0;
/** Ends the promises that wait for the module. */
const waiting = new Set<(error: CountersignError) => void>();
const revivals = new Set<() => void>();

/**
 * Loads the wasm module from beside this package's files: for `openaiChat` by default, for every model by
 * `init({ wires: "all" })`. It may also be given as a URL, bytes or a compiled module. The first call counts, but for one
 * that failed.
 */
export function init(input?: InitInput | Promise<InitInput> | AllWires): Promise<void> {
  loading ??= start(input).catch((cause: unknown) => {
    loading = undefined;
    throw new CountersignError(
      "init_failed",
      "The wasm module could not be loaded. Check that countersign_bg.wasm is served beside the package's files, or pass its URL or bytes to init(), and that the page's CSP allows 'wasm-unsafe-eval'.",
      cause,
    );
  });
  return loading;
}

async function start(input?: InitInput | Promise<InitInput> | AllWires): Promise<void> {
  onTrap(die);
  // Bundlers look for a URL in exactly this form.
  const path = isAllWires(input) ? new URL("countersign_all_bg.wasm", import.meta.url) : input;
  await load(path === undefined ? undefined : { module_or_path: path });
  prepare();
  loaded = true;
}

function prepare(): void {
  install((code: string, message: string, cause: unknown) => new CountersignError(code, message, cause));
}

function isAllWires(input: unknown): input is AllWires {
  return isObject(input) && "wires" in input;
}

/**
 * @internal Calls into the module, if it is loaded and sound. A promise it gives rejects when the module traps, since
 * what would settle it is gone.
 */
export function enter<T>(call: () => T): T {
  if (!loaded) {
    throw new CountersignError("not_initialised", "The wasm module is not loaded yet: await init() first.");
  }
  if (dead) throw dead;
  let result: T;
  try {
    result = call();
  } catch (thrown) {
    throw dead ?? thrown;
  }
  return result instanceof Promise ? (whileAlive(result) as T) : result;
}

/** @internal The same; undefined if the module traps: chats will be taken anew from the store, and tell of that. */
export function unlessAborted<T>(call: () => T): T | undefined {
  try {
    return enter(call);
  } catch (thrown) {
    if (!(thrown instanceof CountersignError) || thrown.code !== "aborted") throw thrown;
    return undefined;
  }
}

/** @internal Has `revive` called whenever the module was started anew; returns what ends that. */
export function onRestart(revive: () => void): () => void {
  revivals.add(revive);
  return () => revivals.delete(revive);
}

/** @internal How often the module was started anew: what an earlier one made is void. */
export function life(): number {
  return restarts;
}

function whileAlive<T>(work: Promise<T>): Promise<T> {
  return new Promise((resolve, reject) => {
    waiting.add(reject);
    // What traps while the promise is being made rejects it with the trap itself, or with what came of it.
    const fail = (thrown: unknown) => reject(dead ?? thrown);
    work.then(resolve, fail).finally(() => waiting.delete(reject));
  });
}

function die(trap: WebAssembly.RuntimeError): void {
  if (dead) return;
  const isLast = restarts === MOST_RESTARTS;
  const next = isLast ? "reload the page" : "chats are taken anew from the store, with nothing lost that was stored";
  dead = new CountersignError("aborted", `The wasm module stopped after an internal error; ${next}.`, trap);
  for (const reject of waiting) reject(dead);
  waiting.clear();
  // After whatever is under way in this task: it may still touch what the old module made.
  if (!isLast) setTimeout(restart);
}

function restart(): void {
  __wbg_reset_state();
  prepare();
  restarts += 1;
  dead = undefined;
  for (const revive of revivals) revive();
}
