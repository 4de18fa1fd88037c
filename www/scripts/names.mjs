// The names of a file's tests, found without running one.
import { readFileSync } from "node:fs";
import { register } from "node:module";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { must } from "./command.mjs";
import { top } from "./layout.mjs";

/**
 * @param {string[]} files from the top of the repository
 * @returns {Promise<Record<string, string[][]>>} for each file, each test's path: the suites it stands in, and its own name
 */
export async function namesOf(files) {
  const scripts = files.filter((file) => !file.endsWith(".rs"));
  const found = JSON.parse(await must(process.execPath, [import.meta.filename, ...scripts]));
  for (const file of files) found[file] ??= rustNames(readFileSync(join(top, file), "utf8"));
  return found;
}

function rustNames(source) {
  const tests = /#\[(?:wasm_bindgen_)?test\]\s*(?:#\[[^\]]*\]\s*)*(?:async )?fn (\w+)\(/g;
  return [...source.matchAll(tests)].map(([, name]) => [name]);
}

/** Stands in for node:test: suites are gone through, tests are written down, and one that is skipped is none. */
function recorder() {
  const path = [];
  const suite = (name, ...given) => {
    path.push(name);
    given.at(-1)();
    path.pop();
  };
  const test = (name) => globalThis.found.push([...path, name]);
  for (const kind of [suite, test]) {
    kind.only = kind;
    kind.skip = kind.todo = () => {};
  }
  return { suite, test };
}

const STAND_IN = `${recorder}
const { suite, test } = recorder();
const nothing = () => {};
export { suite, suite as describe, test, test as it, test as default, nothing as before, nothing as after };
export { nothing as beforeEach, nothing as afterEach };`;

const asUrl = (source) => `data:text/javascript,${encodeURIComponent(source)}`;

async function list(files) {
  const hooks = `export const resolve = (name, context, next) =>
    name === "node:test" ? { url: ${JSON.stringify(asUrl(STAND_IN))}, shortCircuit: true } : next(name, context);`;
  register(asUrl(hooks));
  const all = {};
  for (const file of files) {
    globalThis.found = [];
    await import(pathToFileURL(join(top, file)));
    all[file] = globalThis.found;
  }
  console.log(JSON.stringify(all));
}

// Not awaited here: a test file may import this module, which would wait for itself.
if (process.argv[1] === import.meta.filename) list(process.argv.slice(2));
