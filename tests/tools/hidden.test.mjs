/**
 * The table of characters that a card shows as tokens, against the Unicode data of the platform. `UPDATE_EXPECT=1` writes
 * it anew.
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { describe, it } from "node:test";

const TABLE = new URL("../../src/core/card/hidden.bin", import.meta.url);
/** The version of Unicode that the table was made with. */
const VERSION = "17.0";
const END = 0x110000;

/** Every character that cannot be seen, but for the plain space and the line feed. */
const HIDDEN = /[\p{Cc}\p{Cf}\p{Cn}\p{Co}\p{Cs}\p{Zl}\p{Zp}\p{Zs}\p{Default_Ignorable_Code_Point}\u2800]/u;
const isHidden = (code) => code !== 0x20 && code !== 0x0a && HIDDEN.test(String.fromCodePoint(code));

/** Where hidden and other characters take turns, each as the distance from the one before, in LEB128. */
function encode() {
  const bytes = [];
  let last = 0;
  let was = false;
  for (let code = 0; code < END; code++) {
    if (isHidden(code) === was) continue;
    was = !was;
    let distance = code - last;
    last = code;
    for (; distance > 127; distance >>= 7) bytes.push((distance & 127) | 128);
    bytes.push(distance);
  }
  return Uint8Array.from(bytes);
}

function decode(bytes) {
  const edges = [];
  let [at, distance, shift] = [0, 0, 0];
  for (const byte of bytes) {
    distance |= (byte & 127) << shift;
    shift += 7;
    if (byte > 127) continue;
    at += distance;
    edges.push(at);
    [distance, shift] = [0, 0];
  }
  return edges;
}

describe("A2: the table of hidden characters", () => {
  it("is what Unicode says", (t) => {
    if (process.env.UPDATE_EXPECT) writeFileSync(TABLE, encode());
    // What one version leaves unassigned another may assign.
    if (process.versions.unicode !== VERSION) return t.skip(`this Node has Unicode ${process.versions.unicode}`);
    const edges = decode(readFileSync(TABLE));
    const different = [];
    for (let code = 0, passed = 0; code < END; code++) {
      while (edges[passed] <= code) passed++;
      if ((passed % 2 === 1) !== isHidden(code)) different.push(code.toString(16));
    }
    assert.deepEqual(different, []);
  });
});
