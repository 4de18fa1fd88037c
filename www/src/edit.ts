import { type Field, readFields } from "./fields.js";
import { drawFields, make } from "./form.js";
import { isObject, isText } from "./reader.js";
import { visibleLine } from "./wasm/countersign.js";
import type { Words } from "./words.js";

/** Where the arguments are changed, in one of two ways. */
interface Way {
  elements: HTMLElement[];
  /** The arguments as JSON text; empty where a field says what is wrong with it. */
  read(): string;
  focus(): void;
}

/** The most lines that the JSON text is shown in before it scrolls. */
const MOST_LINES = 16;

/**
 * Draws where a person changes the arguments of a call, given as JSON with the schema of its tool: the fields of a flat
 * schema, lists of texts among them, where they hold these arguments without loss, else the JSON text. The element's `value`
 * is what stands there, as JSON text, or empty if a field says what is wrong with it; untouched it is the text that was given.
 * Its `problem` is what is wrong with the whole, said in an element of the id `says`.
 */
export function makeEditor(text: string, schema: string, says: string, words: Words): HTMLElement {
  const editor = make("div", { part: "form" });
  const args: Record<string, unknown> = JSON.parse(text);
  const way = asFields(args, JSON.parse(schema), words) ?? asText(args, says, words);
  const untouched = way.read();
  const whole = make("p", { part: "problem", role: "alert", id: says });
  editor.append(...way.elements, whole);
  Object.defineProperties(editor, {
    value: {
      get() {
        const now = way.read();
        return now === untouched ? text : now;
      },
    },
    problem: {
      set(problem: string) {
        if (whole.textContent !== problem) whole.textContent = problem;
        for (const area of editor.querySelectorAll("[part=json]")) {
          area.setAttribute("aria-invalid", String(problem !== ""));
        }
      },
    },
    focus: { value: way.focus },
  });
  return editor;
}

function asFields(args: Record<string, unknown>, schema: Record<string, unknown>, words: Words): Way | undefined {
  const fields = fieldsOf(args, schema);
  if (fields === undefined) return undefined;
  const drawn = drawFields(fields, words);
  const read = () => {
    const { values, stop } = drawn.read();
    return stop ? "" : JSON.stringify(values);
  };
  const { values } = drawn.read();
  const all = new Set([...Object.keys(args), ...Object.keys(values)]);
  const isWhole = [...all].every((key) => JSON.stringify(args[key]) === JSON.stringify(values[key]));
  return isWhole ? { elements: drawn.elements, read, focus: drawn.focus } : undefined;
}

/** The fields of a flat schema, each with the argument that stands there now. */
function fieldsOf(args: Record<string, unknown>, schema: Record<string, unknown>): Field[] | undefined {
  const required = Array.isArray(schema.required) ? schema.required : [];
  const properties = Object.entries(isObject(schema.properties) ? schema.properties : {}).map(([key, property]) => {
    if (!isObject(property)) return [key, property];
    const { default: _, ...field } = property;
    // A box that is not ticked says false, and this argument may be left out.
    const choices = field.type === "boolean" && !required.includes(key) && { enum: [true, false] };
    return [key, { ...field, ...choices, ...(Object.hasOwn(args, key) && { default: args[key] }) }];
  });
  const fields = readFields({ ...schema, properties: Object.fromEntries(properties) }, true);
  return isText(fields) ? undefined : fields;
}

function asText(args: Record<string, unknown>, says: string, words: Words): Way {
  const text = JSON.stringify(args, null, 2).replaceAll(/[^\n -~]/gu, (character) => shown(character));
  const area = make("textarea", {
    part: "json",
    "aria-describedby": says,
    rows: String(Math.min(text.split("\n").length, MOST_LINES)),
    ...{ autocomplete: "off", autocapitalize: "off", spellcheck: "false", dir: "ltr" },
  }) as HTMLTextAreaElement;
  area.value = text;
  const field = make("label", { part: "field" });
  field.append(make("span", {}, words.say("ask.edit_json")), area);
  // Nothing at all is no JSON, and no problem of a field.
  return { elements: [field], read: () => area.value || " ", focus: () => area.focus() };
}

/** The character, or its escape where one would not see it. */
function shown(character: string): string {
  if (visibleLine(character) === character) return character;
  return [...Array(character.length).keys()]
    .map((place) => `\\u${character.charCodeAt(place).toString(16).padStart(4, "0")}`)
    .join("");
}
