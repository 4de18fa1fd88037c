import { CountersignError } from "./error.js";
import { isObject } from "./reader.js";
import load, { installErrors } from "./wasm/countersign.js";

/** Where the wasm may come from. */
export type InitInput = URL | string | Request | Response | BufferSource | WebAssembly.Module;

/** The package's own module for every wire format: a third larger than the default one, which speaks Chat Completions. */
export interface AllWires {
  wires: "all";
}

let loading: Promise<void> | undefined;
let loaded = false;
let trap: Error | undefined;

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
  // Bundlers look for a URL in exactly this form.
  const path = isAllWires(input) ? new URL("countersign_all_bg.wasm", import.meta.url) : input;
  await load(path === undefined ? undefined : { module_or_path: path });
  installErrors((code: string, message: string, cause: unknown) => new CountersignError(code, message, cause));
  loaded = true;
}

function isAllWires(input: unknown): input is AllWires {
  return isObject(input) && "wires" in input;
}

/** @internal Calls into the module, if it is loaded and sound: a trap leaves its memory in no state to go on with. */
export function enter<T>(call: () => T): T {
  if (!loaded) {
    throw new CountersignError("not_initialised", "The wasm module is not loaded yet: await init() first.");
  }
  if (trap) {
    throw new CountersignError("aborted", "The wasm module stopped after an internal error; reload the page.", trap);
  }
  try {
    return call();
  } catch (thrown) {
    if (!(thrown instanceof WebAssembly.RuntimeError)) throw thrown;
    trap = thrown;
    throw new CountersignError("aborted", "The wasm module stopped after an internal error; reload the page.", thrown);
  }
}
