/** Everything a page imports. Importing it has no effect; `init` loads the wasm. */
import load from "./wasm/countersign.js";

/** Where the wasm may come from. */
export type InitInput = URL | string | Request | Response | BufferSource | WebAssembly.Module;

let loading: Promise<void> | undefined;

/**
 * Loads the wasm. Calls after the first share its promise; a failed load may be tried again.
 *
 * Without `input` the wasm is the file that lies beside this package's modules.
 */
export function init(input?: InitInput | Promise<InitInput>): Promise<void> {
  loading ??= load(input === undefined ? undefined : { module_or_path: input }).then(
    () => undefined,
    (error: unknown) => {
      loading = undefined;
      throw error;
    },
  );
  return loading;
}
