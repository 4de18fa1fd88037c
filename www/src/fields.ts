import { isName, isObject, isText } from "./reader.js";

/** One value of a form. */
export interface Field {
  key: string;
  label: string;
  hint?: string;
  isRequired: boolean;
  /** `lines` is a list of texts, each on a line of its own. */
  kind: "text" | "lines" | "number" | "checkbox" | "choice" | "choices";
  format?: string;
  /** What there is to choose from. */
  options: { value: unknown; label: string }[];
  schema: Record<string, unknown>;
}

/** Names under which nobody is asked for a value: what is typed here is kept in the log, and a tool gets it. */
const SECRET =
  /^(pass(word|phrase|wd)|pin|cvv|cvc|(api|private|access)[_-]?key|(client|api)[_-]?secret|secret|mnemonic|seed[_-]?phrase)$/i;

/**
 * The fields of a form's schema, which is flat: strings, numbers, integers, booleans, one or several of an enum. A text says
 * what is wrong with the schema. With `lists` there may be lists of texts, too.
 */
export function readFields(schema: unknown, lists = false): Field[] | string {
  if (!isObject(schema) || schema.type !== "object" || !isObject(schema.properties)) {
    return 'needs a schema with type "object" and properties';
  }
  const required = Array.isArray(schema.required) ? schema.required : [];
  const fields: Field[] = [];
  for (const [key, property] of Object.entries(schema.properties)) {
    const field = isObject(property) && readField(key, property, required.includes(key), lists);
    if (!field) return `has a property "${key}" that is no string, number, integer, boolean, enum, or array of an enum`;
    if (isSecret(field)) return `asks for "${key}": secrets are given elsewhere, by kind authorization and its url`;
    fields.push(field);
  }
  return fields.length > 0 ? fields : "has no properties, so that nothing could be answered";
}

function readField(
  key: string,
  schema: Record<string, unknown>,
  isRequired: boolean,
  lists: boolean,
): Field | undefined {
  const several = schema.type === "array";
  const options = readOptions(several ? schema.items : schema);
  const isLines = lists && several && isObject(schema.items) && schema.items.type === "string";
  const kind = options ? (several ? "choices" : "choice") : isLines ? "lines" : KINDS[String(schema.type)];
  if (!kind) return undefined;
  return {
    key,
    label: isName(schema.title) ? schema.title : key,
    ...(isName(schema.description) && { hint: schema.description }),
    isRequired,
    kind,
    ...(isText(schema.format) && { format: schema.format }),
    options: options ?? [],
    schema,
  };
}

const KINDS: Record<string, Field["kind"] | undefined> = {
  string: "text",
  number: "number",
  integer: "number",
  boolean: "checkbox",
};

/** The choices of an enum: `enum`, with `enumNames` for people, or `oneOf`/`anyOf` with a `const` and a `title` each. */
function readOptions(schema: unknown): Field["options"] | undefined {
  if (!isObject(schema)) return undefined;
  const { enum: values, enumNames: names, oneOf, anyOf } = schema;
  if (Array.isArray(values)) {
    return values.map((value, place) => ({ value, label: String((Array.isArray(names) && names[place]) || value) }));
  }
  const titled = [oneOf, anyOf].find(Array.isArray);
  if (!titled?.every((one) => isObject(one) && "const" in one)) return undefined;
  return titled.map((one) => ({ value: one.const, label: String(one.title ?? one.const) }));
}

function isSecret({ key, format, schema }: Field): boolean {
  return SECRET.test(key) || format === "password" || schema.writeOnly === true;
}

const formats: Record<string, [what: string, fits: (text: string) => boolean]> = {
  email: ["an e-mail address", (text) => /^[^\s@]+@[^\s@]+$/.test(text)],
  uri: ["a URL", (text) => URL.canParse(text)],
  date: ["a date such as 2026-01-31", (text) => isDate(text, /^\d{4}-\d\d-\d\d$/)],
  "date-time": [
    "a date and time such as 2026-01-31T12:00:00Z",
    (text) => isDate(text, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)$/i),
  ],
};

/** In which way a text is not of its format, as a sentence's part; formats that are not known say nothing. */
export function formatProblem(format: string | undefined, value: unknown, at: string): string | undefined {
  const known = format !== undefined && Object.hasOwn(formats, format) ? formats[format] : undefined;
  if (!known || !isText(value) || known[1](value)) return undefined;
  return `${at} must be ${known[0]}`;
}

/** Whether it is written so and is a day of the calendar. */
function isDate(text: string, written: RegExp): boolean {
  const day = new Date(`${text.slice(0, 10)}T00:00:00Z`);
  const exists = !Number.isNaN(day.getTime()) && day.toISOString().startsWith(text.slice(0, 10));
  return written.test(text) && exists && !Number.isNaN(Date.parse(text));
}
