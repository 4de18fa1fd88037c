// Where things lie in the repository and on this machine.
import { homedir } from "node:os";
import { join, resolve } from "node:path";

export const www = resolve(import.meta.dirname, "..");
export const top = resolve(www, "..");
export const dist = join(www, "dist");

/** wasm-bindgen writes here: src imports it as `./wasm/countersign.js`. */
export const glue = join(www, "src", "wasm");

/** Tools that take minutes to build are kept here, across clones. */
export const cache =
  process.env.COUNTERSIGN_CACHE ?? join(process.env.XDG_CACHE_HOME || join(homedir(), ".cache"), "countersign");
