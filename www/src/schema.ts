type Schema = boolean | { [keyword: string]: unknown };

/**
 * The first way in which `value` breaks a JSON Schema, as a sentence for the model; undefined if it fits. Knows the
 * keywords that tool schemas use (see the functions below, `$ref` within the schema included); others are ignored, as
 * the specification asks of a validator for unknown ones.
 */
export function violation(schema: Schema, value: unknown, path = "", root: Schema = schema): string | undefined {
  if (schema === true) return undefined;
  const at = path || "the arguments";
  if (schema === false) return `${at} must not be there`;
  const reference = schema.$ref;
  if (typeof reference === "string") {
    const target = resolve(root, reference);
    if (target !== undefined) return violation(target, value, path, root);
  }
  return (
    typed(schema, value, at) ??
    sized(schema, value, at) ??
    combined(schema, value, path, root) ??
    (Array.isArray(value) ? items(schema, value, path, root) : undefined) ??
    (kindOf(value) === "object" ? properties(schema, value as object, path, root) : undefined)
  );
}

function resolve(root: Schema, reference: string): Schema | undefined {
  if (!reference.startsWith("#")) return undefined;
  let target: unknown = root;
  for (const key of reference.slice(1).split("/").slice(1)) {
    target = (target as Record<string, unknown> | undefined)?.[key.replaceAll("~1", "/").replaceAll("~0", "~")];
  }
  return target as Schema | undefined;
}

function typed(schema: Record<string, unknown>, value: unknown, at: string): string | undefined {
  const kind = kindOf(value);
  const types = schema.type === undefined ? [] : [schema.type].flat();
  const fits = (type: unknown) => type === kind || (type === "integer" && Number.isInteger(value));
  if (types.length > 0 && !types.some(fits)) return `${at} must be of type ${types.join(" or ")}, not ${kind}`;
  const known = Array.isArray(schema.enum) ? schema.enum : "const" in schema ? [schema.const] : undefined;
  if (known && !known.some((one) => same(one, value))) {
    return `${at} must be one of: ${known.map((one) => JSON.stringify(one)).join(", ")}`;
  }
  return undefined;
}

const limits = [
  ["minimum", "number", "at least", (value: number, limit: number) => value >= limit],
  ["maximum", "number", "at most", (value: number, limit: number) => value <= limit],
  ["exclusiveMinimum", "number", "more than", (value: number, limit: number) => value > limit],
  ["exclusiveMaximum", "number", "less than", (value: number, limit: number) => value < limit],
  ["multipleOf", "number", "a multiple of", (value: number, limit: number) => Number.isInteger(value / limit)],
  ["minLength", "string", "a length of at least", (value: number, limit: number) => value >= limit],
  ["maxLength", "string", "a length of at most", (value: number, limit: number) => value <= limit],
  ["minItems", "array", "a number of items of at least", (value: number, limit: number) => value >= limit],
  ["maxItems", "array", "a number of items of at most", (value: number, limit: number) => value <= limit],
] as const;

function sized(schema: Record<string, unknown>, value: unknown, at: string): string | undefined {
  const kind = kindOf(value);
  // A length counts characters, not halves of them.
  const size = kind === "string" ? [...(value as string)].length : kind === "array" ? (value as []).length : value;
  for (const [keyword, of, words, fits] of limits) {
    const limit = schema[keyword];
    if (of === kind && typeof limit === "number" && !fits(size as number, limit)) {
      return `${at} must have ${words} ${limit}`.replace("have", of === "number" ? "be" : "have");
    }
  }
  if (kind !== "string" || typeof schema.pattern !== "string") return undefined;
  const pattern = expression(schema.pattern);
  if (pattern && !pattern.test(value as string)) return `${at} must match the pattern ${schema.pattern}`;
  return undefined;
}

/** A pattern that is no regular expression of JavaScript says nothing. */
function expression(pattern: string): RegExp | undefined {
  try {
    return new RegExp(pattern, "u");
  } catch {
    return undefined;
  }
}

function combined(schema: Record<string, unknown>, value: unknown, path: string, root: Schema): string | undefined {
  const at = path || "the arguments";
  const breaks = (part: unknown) => violation(part as Schema, value, path, root);
  const parts = (keyword: string) => (Array.isArray(schema[keyword]) ? (schema[keyword] as unknown[]) : undefined);
  for (const part of parts("allOf") ?? []) {
    const broken = breaks(part);
    if (broken) return broken;
  }
  const any = parts("anyOf");
  if (any?.every(breaks)) return `${at} fits none of the allowed forms (${breaks(any[0])})`;
  const one = parts("oneOf");
  if (one && one.filter((part) => !breaks(part)).length !== 1) return `${at} must fit exactly one of the allowed forms`;
  if (schema.not !== undefined && !breaks(schema.not)) return `${at} has a form that is not allowed`;
  return undefined;
}

function items(schema: Record<string, unknown>, value: unknown[], path: string, root: Schema): string | undefined {
  if (schema.items === undefined || Array.isArray(schema.items)) return undefined;
  for (const [place, item] of value.entries()) {
    const broken = violation(schema.items as Schema, item, `${path}[${place}]`, root);
    if (broken) return broken;
  }
  return undefined;
}

function properties(schema: Record<string, unknown>, value: object, path: string, root: Schema): string | undefined {
  const within = (key: string) => (path ? `${path}.${key}` : key);
  for (const key of Array.isArray(schema.required) ? schema.required : []) {
    if (!Object.hasOwn(value, key)) return `${within(key)} is required`;
  }
  const known = (schema.properties ?? {}) as Record<string, Schema>;
  for (const [key, field] of Object.entries(value)) {
    const rest =
      schema.patternProperties === undefined ? (schema.additionalProperties as Schema | undefined) : undefined;
    const part = Object.hasOwn(known, key) ? known[key] : rest;
    if (part === false) return `${within(key)} is not known; known are: ${Object.keys(known).join(", ")}`;
    const broken = part === undefined ? undefined : violation(part, field, within(key), root);
    if (broken) return broken;
  }
  return undefined;
}

function kindOf(value: unknown): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function same(one: unknown, other: unknown): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}
