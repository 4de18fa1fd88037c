// The package's face, pinned: names, types and tokens. After a wanted change: UPDATE_EXPECT=1 npm test -- tools
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const dist = join(import.meta.dirname, "..", "..", "www", "dist");
const golden = join(import.meta.dirname, "..", "golden", "api.txt");

/** The declaration files that index.d.ts reaches, in order of first mention. */
function declarations(file, seen = new Map()) {
  if (seen.has(file)) return seen;
  const text = readFileSync(join(dist, file), "utf8");
  seen.set(file, text);
  for (const [, next] of text.matchAll(/from "\.\/([^"]+)\.js"/g)) declarations(`${next}.d.ts`, seen);
  return seen;
}

test("names, types and tokens are as pinned", async () => {
  const index = await import(pathToFileURL(join(dist, "index.js")));
  const values = Object.entries(index)
    .filter(([, value]) => typeof value !== "function")
    .map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
  const functions = Object.keys(index).filter((name) => typeof index[name] === "function");
  const files = [...declarations("index.d.ts")].map(([file, text]) => `// ${file}\n${text.trim()}\n`);
  const found = `${functions.join("\n")}\n\n${values.join("\n")}\n\n${files.join("\n")}`;
  if (process.env.UPDATE_EXPECT === "1") writeFileSync(golden, found);
  assert.equal(found, readFileSync(golden, "utf8"));
});

test("the declarations name nothing that is not shipped", () => {
  for (const [file, text] of declarations("index.d.ts")) {
    assert.doesNotMatch(text, /\/wasm\/|\bRaw[A-Z]/, `${file} names the raw glue`);
  }
});
