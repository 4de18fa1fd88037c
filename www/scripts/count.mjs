// Reads from a test runner's output how many tests passed, failed and were skipped.
import { stripVTControlCharacters as plain } from "node:util";

/** cargo test, native or in a browser: one `test result:` line for each test binary. */
export function cargoTest(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed, skipped] of plain(output).matchAll(
    /^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored;/gm,
  )) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
    counts.skipped += Number(skipped);
  }
  return counts;
}

/** tests/fixtures.rs: one line for each group of model streams, which may stand behind what cargo began to say. */
export function fixtures(output) {
  const counts = { passed: 0, failed: 0, skipped: 0 };
  for (const [, passed, failed] of plain(output).matchAll(/\bfixtures: .*: (\d+) passed, (\d+) failed$/gm)) {
    counts.passed += Number(passed);
    counts.failed += Number(failed);
  }
  return counts;
}

/** node --test with the spec reporter: one line for each count, at the end. */
export function nodeTest(output) {
  const count = (name) => Number(new RegExp(`^ℹ ${name} (\\d+)$`, "m").exec(plain(output))?.[1] ?? 0);
  return {
    passed: count("pass"),
    failed: count("fail") + count("cancelled"),
    skipped: count("skipped") + count("todo"),
  };
}

/** A check that counts nothing is one test. */
export function check() {
  return { passed: 1, failed: 0, skipped: 0 };
}

/** Preparation: not a test, but a failure if it fails. */
export function preparation() {
  return { passed: 0, failed: 0, skipped: 0 };
}

/**
 * The verdict on a finished step. A runner that ends badly without naming a failed test (it did not compile, it died)
 * counts as one failure, and so does a runner that found no test to run.
 */
export function judge(count, code, output) {
  const counts = count(output);
  if (code !== 0) {
    const known = count === check || count === preparation ? 0 : counts.passed;
    return { ...counts, passed: known, failed: Math.max(counts.failed, 1) };
  }
  if (count !== preparation && counts.passed + counts.failed === 0) {
    return { ...counts, failed: 1, remark: "it ran no test" };
  }
  return counts;
}
