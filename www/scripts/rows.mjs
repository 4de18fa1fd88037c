// The rows of tests/safety/rows.json: what is promised, and the tests that prove it in each place.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { top } from "./layout.mjs";

/** The two browsers, and the machine itself for what needs none. */
export const PLACES = ["chromium", "firefox", "native"];

/**
 * Reads the map. A row names its tests by file: under `browsers` those that prove it in both, under a place those that
 * prove it there alone; `except` gives the reason why a browser has none.
 *
 * @returns {{ row: string, promise: string, place: string, tests: { file: string, name: string }[], exception?: string }[]}
 *   one entry for each row and each place that has tests or an exception, in the order of the map
 */
export function readRows(text = readFileSync(join(top, "tests", "safety", "rows.json"), "utf8")) {
  return Object.entries(JSON.parse(text)).flatMap(([row, given]) =>
    PLACES.flatMap((place) => {
      const shared = place === "native" ? {} : given.browsers;
      const tests = [shared, given[place]].flatMap((files = {}) =>
        Object.entries(files).flatMap(([file, names]) => names.map((name) => ({ file, name }))),
      );
      const exception = given.except?.[place];
      if (tests.length === 0 && exception === undefined) return [];
      return [{ row, promise: given.promise, place, tests, exception }];
    }),
  );
}

/**
 * Where a test runs, by its file and the names above it. Tests in Firefox say so in a name; in the browser tests of Rust,
 * and where no browser is named, it is Chromium.
 *
 * @param {string[]} path the names of the suites it stands in, and its own
 */
export function placeOf(file, path) {
  if (file.startsWith("tests/tools/")) return "native";
  if (!file.endsWith(".rs")) return path.some((name) => /\bfirefox\b/i.test(name)) ? "firefox" : "chromium";
  return isWasm(file) ? "chromium" : "native";
}

/** Whether a Rust test file runs in a browser. */
export function isWasm(file) {
  return readFileSync(join(top, file), "utf8").includes('#![cfg(target_arch = "wasm32")]');
}
