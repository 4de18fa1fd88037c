import { CountersignError } from "./error.js";
import { makeForm } from "./form.js";
import load, { install } from "./wasm/countersign.js";

/** Where the wasm may come from. */
export type InitInput = URL | string | Request | Response | BufferSource | WebAssembly.Module;

let loading: Promise<void> | undefined;
let loaded = false;
let trap: Error | undefined;

/**
 * Loads the wasm module: from beside this package's files, or from a URL, bytes or a compiled module. Memoised;
 * may be called again after a failure.
 */
export function init(input?: InitInput | Promise<InitInput>): Promise<void> {
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

async function start(input?: InitInput | Promise<InitInput>): Promise<void> {
  await load(input === undefined ? undefined : { module_or_path: input });
  install((code: string, message: string, cause: unknown) => new CountersignError(code, message, cause), makeForm);
  loaded = true;
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
