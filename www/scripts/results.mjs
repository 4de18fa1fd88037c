/**
 * What became of each test of a run: by node's own events (this module is a reporter for `node --test`), or from what cargo
 * prints.
 *
 * @typedef {{ path: string[], state: "passed" | "failed" | "skipped" }} Result
 */
import { stripVTControlCharacters as plain } from "node:util";

/** Writes one {@link Result} a line, as JSON. */
export default async function* report(events) {
  const path = [];
  for await (const { type, data } of events) {
    // These come in the order in which the tests stand in the file.
    if (type === "test:start") path.splice(data.nesting, path.length, data.name);
    if (type !== "test:pass" && type !== "test:fail") continue;
    if (data.details?.type === "suite") continue;
    const isSkipped = (data.skip ?? data.todo ?? false) !== false;
    const state = type === "test:fail" ? "failed" : isSkipped ? "skipped" : "passed";
    yield `${JSON.stringify({ path: [...path.slice(0, data.nesting), data.name], state })}\n`;
  }
}

/** @returns {Result[]} from what {@link report} wrote */
export const readReport = (text) => text.split("\n").filter(Boolean).map(JSON.parse);

/** @returns {Result[]} from the output of cargo test for one file, native or in a browser */
export function readCargo(output) {
  const states = { ok: "passed", FAILED: "failed", FAIL: "failed", ignored: "skipped" };
  const lines = plain(output).matchAll(/^test (?:\w+::)*(\w+) \.\.\. (?:.*\b)?(ok|FAILED|FAIL|ignored)\b/gm);
  return [...lines].map(([, name, state]) => ({ path: [name], state: states[state] }));
}
