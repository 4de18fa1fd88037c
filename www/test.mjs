// Every check of the project, from a fresh clone. Run: npm test
// Or one step, with what it needs: npm test -- clippy-wasm
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { browser, withDriver } from "./scripts/browser.mjs";
import { Advice, run, script } from "./scripts/command.mjs";
import { cargoTest, check, judge, nodeTest, preparation } from "./scripts/count.mjs";
import { top, www } from "./scripts/layout.mjs";
import { packages } from "./scripts/packages.mjs";
import { toolchain, wasmTarget } from "./scripts/toolchain.mjs";

const wasm = ["--target", wasmTarget];
const strict = ["--", "-D", "warnings"];

// In the order they run. `work` is a command, or a function from the environment so far to `{code, output, env?}`.
const steps = [
  { name: "toolchain", needs: [], count: preparation, work: prepare(toolchain) },
  { name: "packages", needs: [], count: preparation, work: prepare(packages) },
  { name: "browser", needs: [], count: preparation, work: prepare(browser) },
  { name: "rustfmt", needs: ["toolchain"], count: check, work: ["cargo", "fmt", "--check"] },
  {
    name: "clippy-host",
    needs: ["toolchain"],
    count: check,
    work: ["cargo", "clippy", "--locked", "--all-targets", ...strict],
  },
  {
    name: "clippy-wasm",
    needs: ["toolchain"],
    count: check,
    work: ["cargo", "clippy", "--locked", "--lib", "--tests", ...wasm, ...strict],
  },
  {
    name: "test-native",
    needs: ["toolchain"],
    count: cargoTest,
    work: ["cargo", "test", "--locked", "--no-fail-fast"],
  },
  { name: "build", needs: ["toolchain", "packages"], count: check, work: ["node", "www/build.mjs"] },
  { name: "test-wasm", needs: ["toolchain", "browser"], count: cargoTest, work: testWasm },
  { name: "types", needs: ["build"], count: check, work: ["npm", "--prefix", www, "run", "types"] },
  { name: "lint", needs: ["packages"], count: check, work: ["npm", "--prefix", www, "run", "lint"] },
  { name: "size", needs: ["build"], count: check, work: ["node", "www/size.mjs"] },
  { name: "tools", needs: ["build"], count: nodeTest, work: (env) => testFolder("tests/tools", env) },
  // Two files at a time: much of such a test is waiting, for a button to arm or for a browser to start.
  { name: "e2e", needs: ["build", "browser"], count: nodeTest, work: (env) => testFolder("tests/e2e", env, 2) },
];

/** Turns a preparation (env → env) into a step's work. */
function prepare(task) {
  return async (env) => {
    try {
      return { code: 0, output: "", env: (await task(env)) ?? env };
    } catch (error) {
      return { code: 1, output: `${error instanceof Advice ? error.message : error.stack}\n` };
    }
  };
}

function testWasm(env) {
  return withDriver(env, (env) => run("cargo", ["test", "--locked", "--no-fail-fast", "--tests", ...wasm], { env }));
}

// One file at a time: browsers that compete for the processor make each other's tests slow.
async function testFolder(folder, env, atOnce = 1) {
  const files = readdirSync(join(top, folder)).filter((file) => file.endsWith(".test.mjs"));
  // Without file names node would look for tests of its own choice.
  if (files.length === 0) return { code: 1, output: `${folder} holds no *.test.mjs file.\n` };
  const paths = files.map((file) => join(folder, file));
  return await run("node", ["--test", `--test-concurrency=${atOnce}`, "--test-reporter=spec", ...paths], { env });
}

function choose(names) {
  const chosen = new Set();
  const add = (name) => {
    const step = steps.find((candidate) => candidate.name === name);
    if (step === undefined) {
      throw new Advice(`There is no step "${name}"; the steps are ${steps.map((step) => step.name).join(", ")}.`);
    }
    step.needs.forEach(add);
    chosen.add(step);
  };
  (names.length > 0 ? names : steps.map((step) => step.name)).forEach(add);
  return steps.filter((step) => chosen.has(step));
}

await script(async () => {
  const chosen = choose(process.argv.slice(2));
  const total = { passed: 0, failed: 0 };
  const failed = [];
  let env = { ...process.env, CARGO_TERM_COLOR: "never" };

  for (const { name, needs, count, work } of chosen) {
    const start = performance.now();
    const broken = needs.filter((need) => failed.includes(need));
    let output = "";
    let verdict = { passed: 0, failed: 1, skipped: 0, remark: `it needs ${broken.join(" and ")}` };
    if (broken.length === 0) {
      const end = await (Array.isArray(work) ? run(work[0], work.slice(1), { env }) : work(env));
      env = end.env ?? env;
      output = end.output;
      verdict = judge(count, end.code, output);
    }
    total.passed += verdict.passed;
    total.failed += verdict.failed;
    if (verdict.failed > 0) {
      failed.push(name);
      process.stdout.write(output);
    }
    const seconds = ((performance.now() - start) / 1000).toFixed(1);
    console.log(`${name.padEnd(12)} ${describe(verdict)} (${seconds} s)`);
  }

  if (failed.length > 0) {
    console.log(`Failed: ${failed.join(", ")}. Run one alone by: npm --prefix www test -- ${failed[0]}`);
    process.exitCode = 1;
  }
  console.log(`${total.passed} passed, ${total.failed} failed`);
});

function describe({ passed, failed, skipped, remark }) {
  if (passed + failed + skipped === 0) return "ready";
  const counts = [`${passed} passed`, `${failed} failed`, ...(skipped > 0 ? [`${skipped} skipped`] : [])];
  return `${counts.join(", ")}${remark === undefined ? "" : `: ${remark}`}`;
}
