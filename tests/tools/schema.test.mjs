// The check of arguments against a tool's schema, one line a case: schema, value, what the model is told.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { test } from "node:test";
import { transform } from "esbuild";

const source = readFileSync(join(import.meta.dirname, "..", "..", "www", "src", "schema.ts"), "utf8");
const { code } = await transform(source, { loader: "ts" });
const { violation } = await import(`data:text/javascript,${encodeURIComponent(code)}`);

const person = {
  type: "object",
  properties: { name: { type: "string", minLength: 1 }, age: { type: "integer", minimum: 0 } },
  required: ["name"],
  additionalProperties: false,
};
const tree = {
  type: "object",
  properties: { next: { $ref: "#" }, of: { $ref: "#/$defs/a~1b" } },
  $defs: { "a/b": { const: 1 } },
};

const cases = [
  [true, 7, undefined],
  [false, {}, "the arguments must not be there"],
  [person, { name: "Ada", age: 36 }, undefined],
  [person, {}, "name is required"],
  [person, [], "the arguments must be of type object, not array"],
  [person, { name: "" }, "name must have a length of at least 1"],
  [person, { name: "😀" }, undefined],
  [person, { name: "Ada", age: 1.5 }, "age must be of type integer, not number"],
  [person, { name: "Ada", age: -1 }, "age must be at least 0"],
  [person, { name: "Ada", toString: 1 }, "toString is not known; known are: name, age"],
  [
    { properties: { a: { items: { type: ["string", "null"] } } } },
    { a: ["x", null, 3] },
    "a[2] must be of type string or null, not number",
  ],
  [{ enum: ["a", 1, null] }, null, undefined],
  [{ enum: ["a", 1] }, "1", 'the arguments must be one of: "a", 1'],
  [{ const: { a: 1 } }, { a: 1 }, undefined],
  [{ type: "string", maxLength: 1 }, "😀", undefined],
  [{ type: "string", pattern: "^\\d+$" }, "12a", "the arguments must match the pattern ^\\d+$"],
  [{ type: "string", pattern: "(" }, "x", undefined],
  [{ type: "array", minItems: 2 }, [1], "the arguments must have a number of items of at least 2"],
  [{ multipleOf: 0.5 }, 1.25, "the arguments must be a multiple of 0.5"],
  [{ anyOf: [{ type: "string" }, { type: "null" }] }, null, undefined],
  [
    { anyOf: [{ type: "string" }, { type: "null" }] },
    1,
    "the arguments fits none of the allowed forms (the arguments must be of type string, not number)",
  ],
  [{ oneOf: [{ minimum: 1 }, { minimum: 2 }] }, 3, "the arguments must fit exactly one of the allowed forms"],
  [{ allOf: [{ minimum: 1 }, { maximum: 2 }] }, 3, "the arguments must be at most 2"],
  [{ not: { const: 1 } }, 1, "the arguments has a form that is not allowed"],
  [{ additionalProperties: { type: "number" } }, { a: "x" }, "a must be of type number, not string"],
  [tree, { next: { next: { of: 2 } } }, "next.next.of must be one of: 1"],
  [{ format: "email", unknownKeyword: 1 }, "x", undefined],
];

test("arguments fit their schema, or the first misfit is named", () => {
  for (const [schema, value, expected] of cases) {
    assert.equal(violation(schema, value), expected, JSON.stringify([schema, value]));
  }
});
