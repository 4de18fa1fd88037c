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

/** Each entry of the package: its module, and the declarations it is typed by. */
const entries = [
  ["index.js", "index.d.ts"],
  ["grants-element.js", "grants-element.d.ts"],
  ["store-conformance.js", "conformance.d.ts"],
];

test("names, types and tokens are as pinned", async () => {
  const parts = [];
  const seen = new Map();
  for (const [entry, types] of entries) {
    const module = await import(pathToFileURL(join(dist, entry)));
    const values = Object.entries(module)
      .filter(([, value]) => typeof value !== "function")
      .map(([name, value]) => `${name} = ${JSON.stringify(value)}`);
    const functions = Object.keys(module).filter((name) => typeof module[name] === "function");
    parts.push([`// ${entry}`, ...functions].join("\n"), ...(values.length > 0 ? [values.join("\n")] : []));
    declarations(types, seen);
  }
  const { storeConformance } = await import(pathToFileURL(join(dist, "store-conformance.js")));
  const cases = storeConformance(() => {}).map(({ name }) => name);
  parts.push(["// the cases of storeConformance", ...cases].join("\n"));
  const files = [...seen].map(([file, text]) => `// ${file}\n${text.trim()}\n`);
  const found = `${parts.join("\n\n")}\n\n${files.join("\n")}`;
  if (process.env.UPDATE_EXPECT === "1") writeFileSync(golden, found);
  assert.equal(found, readFileSync(golden, "utf8"));
});

test("the declarations name nothing that is not shipped", () => {
  const seen = new Map();
  for (const [, types] of entries) declarations(types, seen);
  for (const [file, text] of seen) {
    assert.doesNotMatch(text, /\/wasm\/|\bRaw[A-Z]/, `${file} names the raw glue`);
  }
});
