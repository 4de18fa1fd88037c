// The acceptance list of the card and the boundary: its rows, and what tests/safety/rows.json says of each, namely what is
// promised and which tests prove it where.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "./layout.mjs";

/** The card's rows, then those of the boundary. */
export const ROWS = [
  ...Array.from({ length: 18 }, (_, place) => `A${place + 1}`),
  ...[
    ...["imitation", "xss", "shown-is-run", "accident", "replay", "denied-ran", "twice", "rug-pull", "grant", "key"],
    ...["huge", "storage", "trap", "clickjacking", "csp", "log", "clock"],
  ].map((key) => `boundary/${key}`),
];

/** The two browsers, and the machine itself for what needs none. */
export const PLACES = ["chromium", "firefox", "native"];

export const MAP = join(top, "tests", "safety", "rows.json");

/**
 * What the map says, one entry for each row and each place that has tests or an exception. A row names its tests by file:
 * under `browsers` those that prove it in both, under a place those that prove it there; `except` gives the reason why a
 * browser has none.
 *
 * @typedef {{ row: string, place: string, tests: { file: string, name: string }[], exception?: string }} Entry
 * @returns {Entry[]}
 */
export function entriesOf(map) {
  return Object.entries(map).flatMap(([row, given]) =>
    PLACES.flatMap((place) => {
      const shared = place === "native" ? {} : given.browsers;
      const tests = [shared, given[place]].flatMap((files = {}) =>
        Object.entries(files).flatMap(([file, names]) => names.map((name) => ({ file, name }))),
      );
      const exception = given.except?.[place];
      return tests.length === 0 && exception === undefined ? [] : [{ row, place, tests, exception }];
    }),
  );
}

export const readMap = () => JSON.parse(readFileSync(MAP, "utf8"));

/** Whether a Rust test file runs in a browser. */
export function isWasm(file) {
  return file.endsWith(".rs") && readFileSync(join(top, file), "utf8").includes('#![cfg(target_arch = "wasm32")]');
}

/**
 * Where a test runs, by its file and the names above it. Tests in Firefox say so in a name; in the browser tests of Rust,
 * and where no browser is named, it is Chromium.
 *
 * @param {string[]} path the names of the suites it stands in, and its own
 */
export function placeOf(file, path) {
  if (file.startsWith("tests/tools/")) return "native";
  if (file.endsWith(".rs")) return isWasm(file) ? "chromium" : "native";
  return path.some((name) => /\bfirefox\b/i.test(name)) ? "firefox" : "chromium";
}

/** The rows that a test says it proves: `A5: …`, `A16, A17: …`, `boundary/xss: …`, `xss: …`; in Rust `a5_…`, `xss_…`. */
export function rowsOf(file, path) {
  const keys = path.flatMap((name) =>
    file.endsWith(".rs")
      ? [/^([a-z]+\d*)_/.exec(name)?.[1]]
      : (/^([\w/-]+(?:, [\w/-]+)*): /.exec(name)?.[1] ?? "").split(", "),
  );
  const known = (key) => ROWS.find((row) => [row, row.toLowerCase(), row.replace("boundary/", "")].includes(key));
  return [...new Set(keys.map(known).filter(Boolean))];
}

/**
 * What is wrong with the map, a sentence each.
 *
 * @param {Record<string, string[][]>} names every test there is, by file, see `namesOf`
 */
export function faultsOf(map, names) {
  const faults = [];
  for (const row of ROWS) if (!(row in map)) faults.push(`${row} is missing.`);
  for (const row of Object.keys(map)) if (!ROWS.includes(row)) faults.push(`${row} is no row.`);
  const entries = entriesOf(map);
  for (const [row, { promise }] of Object.entries(map)) {
    if (!promise) faults.push(`${row} does not say what it promises.`);
    for (const place of ["chromium", "firefox"]) {
      const { tests = [], exception } = entries.find((entry) => entry.row === row && entry.place === place) ?? {};
      if (tests.length === 0 && !exception) faults.push(`${row} has neither a test nor an exception in ${place}.`);
      if (tests.length > 0 && exception) faults.push(`${row} has tests in ${place}, and an exception too.`);
    }
  }
  for (const { row, place, tests } of entries) {
    for (const { file, name } of tests) {
      const found = names[file]?.some((path) => path.at(-1) === name && placeOf(file, path) === place);
      if (!found) faults.push(`${row} names a test that is not in ${place}: ${file}, "${name}".`);
    }
  }
  for (const { row, place, file, name } of markedIn(names)) {
    const entry = entries.find((entry) => entry.row === row && entry.place === place);
    const isNamed = entry?.tests.some((test) => test.file === file && test.name === name);
    if (!isNamed) faults.push(`${row} does not name a test that says it proves it in ${place}: ${file}, "${name}".`);
  }
  return faults;
}

/** The tests that say which row they prove. */
function markedIn(names) {
  return Object.entries(names).flatMap(([file, paths]) =>
    paths.flatMap((path) =>
      rowsOf(file, path).map((row) => ({ row, place: placeOf(file, path), file, name: path.at(-1) })),
    ),
  );
}

/** The map with all tests that say which row they prove, and without those that are no more. */
export function updated(map, names) {
  const wanted = [
    ...entriesOf(map).flatMap(({ row, place, tests }) => tests.map((test) => ({ row, place, ...test }))),
    ...markedIn(names),
  ];
  const exists = ({ file, name, place }) =>
    names[file]?.some((path) => path.at(-1) === name && placeOf(file, path) === place);
  return Object.fromEntries(
    ROWS.filter((row) => row in map).map((row) => {
      const { promise, except } = map[row];
      const kept = wanted.filter((test) => test.row === row && exists(test));
      const inPlace = (place, { file, name }) =>
        kept.some((test) => test.place === place && test.file === file && test.name === name);
      const placed = { browsers: {}, chromium: {}, firefox: {}, native: {} };
      for (const test of kept) {
        const isShared = test.place !== "native" && inPlace("chromium", test) && inPlace("firefox", test);
        const files = placed[isShared ? "browsers" : test.place];
        files[test.file] ??= [];
        if (!files[test.file].includes(test.name)) files[test.file].push(test.name);
      }
      const used = Object.entries(placed).filter(([, files]) => Object.keys(files).length > 0);
      return [row, { promise, ...Object.fromEntries(used), ...(except && { except }) }];
    }),
  );
}

/**
 * Why a row does not hold in a place, a line for each test; none if it does. A test that was skipped proves nothing, nor
 * does one that did not run.
 *
 * @param {Entry} entry
 * @param {Record<string, import("./results.mjs").Result[]>} results by file
 */
export function problemsOf({ place, tests }, results) {
  return tests.flatMap(({ file, name }) => {
    const own = (results[file] ?? []).filter(({ path }) => path.at(-1) === name && placeOf(file, path) === place);
    const bad = own.find(({ state }) => state !== "passed");
    if (own.length > 0 && bad === undefined) return [];
    return [`  ${file}, "${name}": ${bad?.state ?? "did not run"}`];
  });
}
