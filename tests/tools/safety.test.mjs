// The map from the acceptance list of the card and the boundary to the tests that prove it, and how `npm run safety`
// reads what became of them. After new tests that say which row they prove: UPDATE_EXPECT=1 node --test tests/tools/safety.test.mjs
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { test } from "node:test";
import { top, www } from "../../www/scripts/layout.mjs";
import { namesOf } from "../../www/scripts/names.mjs";
import { readCargo, readReport } from "../../www/scripts/results.mjs";
import {
  entriesOf,
  faultsOf,
  MAP,
  placeOf,
  problemsOf,
  ROWS,
  readMap,
  rowsOf,
  updated,
} from "../../www/scripts/rows.mjs";

const isTest = (file) => /\.test\.mjs$|\.rs$/.test(file);
const FILES = ["tests", "tests/e2e", "tests/tools"].flatMap((folder) =>
  readdirSync(join(top, folder))
    .filter(isTest)
    .map((file) => `${folder}/${file}`),
);

test("every row of the list has its tests in both browsers, or a reason why not", async () => {
  const names = await namesOf(FILES);
  if (process.env.UPDATE_EXPECT) writeFileSync(MAP, `${JSON.stringify(updated(readMap(), names), null, 2)}\n`);
  assert.deepEqual(faultsOf(readMap(), names), []);
});

const FILE = "tests/e2e/made-up.test.mjs";
const NAMES = {
  [FILE]: [
    ["in chromium", "A1: shown"],
    ["in firefox", "A1: shown"],
    ["in chromium", "other"],
  ],
};
const WHOLE = Object.fromEntries(
  ROWS.map((row) => [row, { promise: "It holds.", browsers: { [FILE]: ["A1: shown"] } }]),
);

test("a map with a fault is found out", () => {
  assert.deepEqual(faultsOf(WHOLE, NAMES), []);
  const { A2, ...without } = WHOLE;
  const faulty = {
    "A2 is missing.": without,
    "A19 is no row.": { ...WHOLE, A19: A2 },
    "A2 does not say what it promises.": { ...WHOLE, A2: { ...A2, promise: "" } },
    "A2 has neither a test nor an exception in firefox.": {
      ...WHOLE,
      A2: { promise: "It holds.", chromium: { [FILE]: ["other"] } },
    },
    "A2 has tests in firefox, and an exception too.": { ...WHOLE, A2: { ...A2, except: { firefox: "Why not." } } },
    [`A2 names a test that is not in firefox: ${FILE}, "other".`]: {
      ...WHOLE,
      A2: { ...A2, firefox: { [FILE]: ["other"] } },
    },
    'A2 names a test that is not in native: tests/gone.rs, "gone".': {
      ...WHOLE,
      A2: { ...A2, native: { "tests/gone.rs": ["gone"] } },
    },
    [`A1 does not name a test that says it proves it in firefox: ${FILE}, "A1: shown".`]: {
      ...WHOLE,
      A1: { promise: "It holds.", chromium: { [FILE]: ["A1: shown"] }, except: { firefox: "Why not." } },
    },
  };
  for (const [fault, map] of Object.entries(faulty)) assert.deepEqual(faultsOf(map, NAMES), [fault]);
});

test("an update names what says so, and forgets what is gone", () => {
  const old = {
    ...WHOLE,
    A1: { promise: "It holds.", chromium: { [FILE]: ["other", "gone"] }, except: { native: "x" } },
  };
  const { A1 } = updated(old, NAMES);
  assert.deepEqual(A1, {
    promise: "It holds.",
    browsers: { [FILE]: ["A1: shown"] },
    chromium: { [FILE]: ["other"] },
    except: { native: "x" },
  });
});

test("a test says which rows it proves, and where it runs", () => {
  assert.deepEqual(rowsOf(FILE, ["in firefox", "A16, A17: in Arabic", "it reads"]), ["A16", "A17"]);
  assert.deepEqual(rowsOf(FILE, ["boundary/shown-is-run: x", "xss: y", "A99: z", "note: n"]), [
    "boundary/shown-is-run",
    "boundary/xss",
  ]);
  assert.deepEqual(rowsOf("tests/guard.rs", ["a5_a_click_decides"]), ["A5"]);
  assert.deepEqual(rowsOf("tests/guard.rs", ["clickjacking_a_button"]), ["boundary/clickjacking"]);
  assert.deepEqual(rowsOf("tests/guard.rs", ["a_click_decides"]), []);
  assert.equal(placeOf("tests/guard.rs", ["a"]), "native");
  assert.equal(placeOf("tests/card.rs", ["a"]), "chromium");
  assert.equal(placeOf("tests/tools/api.test.mjs", ["in firefox"]), "native");
});

test("a test that failed, was skipped or did not run proves nothing", () => {
  const [entry] = entriesOf({ A1: { promise: "It holds.", chromium: { [FILE]: ["one", "two"] } } });
  const result = (state, ...path) => ({ path, state });
  const one = result("passed", "in chromium", "one");
  assert.deepEqual(problemsOf(entry, { [FILE]: [one, result("passed", "two")] }), []);
  for (const state of ["failed", "skipped"]) {
    assert.deepEqual(problemsOf(entry, { [FILE]: [one, result(state, "two")] }), [`  ${FILE}, "two": ${state}`]);
  }
  const elsewhere = [one, result("passed", "in firefox", "two")];
  assert.deepEqual(problemsOf(entry, { [FILE]: elsewhere }), [`  ${FILE}, "two": did not run`]);
  assert.equal(problemsOf(entry, {}).length, 2);
});

test("the runners' own words are read", (t) => {
  const folder = mkdtempSync(join(tmpdir(), "countersign-"));
  t.after(() => rmSync(folder, { recursive: true }));
  const file = join(folder, "a.test.mjs");
  const source = `import { describe, it } from "node:test";
    describe("a", () => {
      it("b", () => {});
      describe("c", () => it("d", () => { throw new Error("no"); }));
      it("e", { skip: true }, () => {});
      it("f", (t) => t.todo());
    });
    it("g (h)", () => {});`;
  writeFileSync(file, source);
  const { NODE_TEST_CONTEXT: _, ...env } = process.env;
  const reporter = join(www, "scripts", "results.mjs");
  const { stdout } = spawnSync(process.execPath, ["--test", `--test-reporter=${reporter}`, file], { env });
  assert.deepEqual(readReport(String(stdout)), [
    { path: ["a", "b"], state: "passed" },
    { path: ["a", "c", "d"], state: "failed" },
    { path: ["a", "e"], state: "skipped" },
    { path: ["a", "f"], state: "skipped" },
    { path: ["g (h)"], state: "passed" },
  ]);
  const cargo =
    "\nrunning 4 tests\ntest a_b ... ok\ntest inner::c ... FAILED\ntest d ... ignored, later\ntest e ... \u001b[32mok\u001b[0m\n" +
    "test f ... FAIL\n\ntest result: ok. 2 passed; 1 failed; 1 ignored;\n";
  const ends = { a_b: "passed", c: "failed", d: "skipped", e: "passed", f: "failed" };
  assert.deepEqual(
    readCargo(cargo),
    Object.entries(ends).map(([name, state]) => ({ path: [name], state })),
  );
});
