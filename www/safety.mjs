// The acceptance list of the card and the boundary, row by row: runs the tests that tests/safety/rows.json names, and no
// others. Run: npm run safety
// Or some rows: npm run safety -- A5 boundary/xss
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { browser, withDriver } from "./scripts/browser.mjs";
import { Advice, run, script } from "./scripts/command.mjs";
import { top, www } from "./scripts/layout.mjs";
import { packages } from "./scripts/packages.mjs";
import { readCargo, readReport } from "./scripts/results.mjs";
import { entriesOf, isWasm, problemsOf, readMap } from "./scripts/rows.mjs";
import { toolchain, wasmTarget } from "./scripts/toolchain.mjs";

/** What takes too long for every `npm test` is tried here as often, and as large, as the list wants it. */
const WHOLE = { COUNTERSIGN_SAFETY: "whole" };

/** Runs these tests of a file; gives what became of each, and the runner's output. */
async function runTests(file, names, env) {
  if (!file.endsWith(".rs")) return await runNode(file, names, env);
  const target = file.replace(/^tests\/|\.rs$/g, "");
  const test = ["test", "--locked", "--no-fail-fast", "--test", target];
  const { output } = isWasm(file)
    ? // Its runner takes one filter, so the whole file runs.
      await withDriver(env, (env) => run("cargo", [...test, "--target", wasmTarget], { env }))
    : await run("cargo", [...test, "--", "--exact", ...names], { env });
  return { results: readCargo(output), output };
}

async function runNode(file, names, env) {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  try {
    const report = join(folder, "report");
    const reporters = [join(www, "scripts", "results.mjs"), report, "spec", "stdout"].flatMap((value, place) =>
      place % 2 ? ["--test-reporter-destination", value] : ["--test-reporter", value],
    );
    const patterns = names.flatMap((name) => [
      "--test-name-pattern",
      `/^${name.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&")}$/`,
    ]);
    const { output } = await run("node", ["--test", ...reporters, ...patterns, join(top, file)], { env });
    return { results: readReport(readFileSync(report, "utf8")), output };
  } finally {
    rmSync(folder, { recursive: true });
  }
}

await script(async () => {
  const chosen = process.argv.slice(2);
  const all = entriesOf(readMap());
  const unknown = chosen.filter((name) => !all.some(({ row }) => row === name));
  if (unknown.length > 0) throw new Advice(`There is no row "${unknown.join('", "')}" in tests/safety/rows.json.`);
  const rows = all.filter(({ row }) => chosen.length === 0 || chosen.includes(row));

  let env = { ...process.env, CARGO_TERM_COLOR: "never", ...WHOLE };
  env = await browser(await toolchain(env));
  await packages(env);
  const built = await run("node", ["www/build.mjs"], { env });
  if (built.code !== 0) {
    process.stdout.write(built.output);
    throw new Advice("The package cannot be built; the output stands above.");
  }

  const files = {};
  for (const { file, name } of rows.flatMap(({ tests }) => tests)) {
    files[file] ??= new Set();
    files[file].add(name);
  }
  const results = {};
  for (const [file, names] of Object.entries(files)) {
    const ended = await runTests(file, [...names], env);
    results[file] = ended.results;
    const ran = ended.results.filter(({ path }) => names.has(path.at(-1)));
    if (ran.length === 0 || ran.some(({ state }) => state === "failed")) process.stdout.write(ended.output);
  }

  let failed = 0;
  let passed = 0;
  for (const entry of rows) {
    const { row, place, tests, exception } = entry;
    if (tests.length === 0) {
      console.log(`${row} ${place} excepted: ${exception}`);
      continue;
    }
    const found = problemsOf(entry, results);
    if (found.length === 0) passed += 1;
    else failed += 1;
    console.log([`${row} ${place} ${found.length === 0 ? "passed" : "failed"}`, ...found].join("\n"));
  }
  if (failed > 0) process.exitCode = 1;
  console.log(`${passed} passed, ${failed} failed`);
});
