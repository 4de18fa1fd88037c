// What `npm test` says stands or falls with how it reads the runners' output.
import assert from "node:assert/strict";
import { test } from "node:test";
import { cargoTest, check, fixtures, judge, nodeTest, preparation } from "../../www/scripts/count.mjs";

const cargoOutput = `
test result: ok. 3 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out; finished in 0.00s
test result: \u001b[31mFAILED\u001b[0m. 2 passed; 4 failed; 0 ignored; 0 measured; 0 filtered out; finished in 0.00s
`;

const nodeOutput =
  "ℹ tests 9\nℹ suites 2\nℹ pass 4\nℹ fail 1\nℹ cancelled 2\nℹ skipped 1\nℹ todo 1\nℹ duration_ms 7.5\n";

test("cargo's counts are added up over its test binaries, coloured or not", () => {
  assert.deepEqual(cargoTest(cargoOutput), { passed: 5, failed: 4, skipped: 1 });
});

test("the groups of model streams are added up, and what was not read is no group", () => {
  const output =
    "test a ... fixtures: chat: 3 passed, 1 failed\nfixtures: chat, own: 2 passed, 0 failed\n" +
    "fixtures: other: 20 streams not read\ntest result: ok. 9 passed; 0 failed; 0 ignored;\n";
  assert.deepEqual(fixtures(output), { passed: 5, failed: 1, skipped: 0 });
});

test("a test that node cancelled has failed", () => {
  assert.deepEqual(nodeTest(nodeOutput), { passed: 4, failed: 3, skipped: 2 });
});

test("a test's own output is not taken for the summary", () => {
  assert.deepEqual(nodeTest(`  ℹ pass 100\n${nodeOutput}`), nodeTest(nodeOutput));
  assert.deepEqual(cargoTest(`stdout: test result: ok. 9 passed; 0 failed; 0 ignored;\n${cargoOutput}`).passed, 5);
});

test("a runner that dies without naming a failed test counts as one failure", () => {
  for (const count of [cargoTest, nodeTest, check, preparation]) {
    for (const code of [1, 101, null]) assert.equal(judge(count, code, "").failed, 1);
  }
  const oneBinaryDied = "test result: ok. 3 passed; 0 failed; 0 ignored; 0 measured; 0 filtered out\n";
  assert.deepEqual(judge(cargoTest, 101, oneBinaryDied), { passed: 3, failed: 1, skipped: 0 });
});

test("a check that fails has passed nothing", () => {
  assert.deepEqual(judge(check, 1, ""), { passed: 0, failed: 1, skipped: 0 });
  assert.deepEqual(judge(check, 0, ""), { passed: 1, failed: 0, skipped: 0 });
  assert.deepEqual(judge(preparation, 0, ""), { passed: 0, failed: 0, skipped: 0 });
});

test("a runner that found no test has failed, whatever its exit code says", () => {
  for (const count of [cargoTest, nodeTest]) assert.equal(judge(count, 0, "no tests to run!").failed, 1);
  assert.equal(judge(nodeTest, 0, "ℹ tests 2\nℹ pass 0\nℹ fail 0\nℹ cancelled 0\nℹ skipped 2\nℹ todo 0\n").failed, 1);
});
