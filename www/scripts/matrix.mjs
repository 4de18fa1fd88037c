// The build matrix in wasm-pack.toml.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "./layout.mjs";

/** Reads it. The parser is an npm package: call this after `packages`. */
export async function matrix() {
  const { parse } = await import("smol-toml");
  return parse(readFileSync(join(top, "wasm-pack.toml"), "utf8"));
}
