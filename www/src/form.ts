import { type Field, formatProblem, readFields } from "./fields.js";
import { isText } from "./reader.js";
import { fill } from "./requests.js";
import { violation } from "./schema.js";
import { visibleLine } from "./wasm/countersign.js";
import type { Words } from "./words.js";

/** A field as it is drawn. */
interface Drawn {
  readonly element: HTMLElement;
  /** What is filled in; undefined where nothing is. Throws a sentence's part where that cannot be read. */
  read(): unknown;
  focus(): void;
}

const TYPES: Record<string, string> = { email: "email", uri: "url", date: "date", "date-time": "datetime-local" };
/** Texts longer than this, in UTF-16 units, or of more than one line get an area to be written in. */
const LONG = 80;
let made = 0;

/**
 * Draws the fields of a form, given as JSON: `{"schema": …}`. The element's `value` is what was filled in, as JSON, or empty
 * if that does not fit, which is then said beside the field. Made of text nodes and attributes alone, so that it works under
 * any policy of the page.
 */
export function makeForm(text: string, words: Words): HTMLElement {
  const form = make("div", { part: "form" });
  const fields = readFields(JSON.parse(text).schema);
  const drawn = drawFields(typeof fields === "string" ? [] : fields, words);
  const whole = make("p", { part: "problem", role: "alert" });
  form.append(...drawn.elements, whole);
  Object.defineProperty(form, "value", {
    get() {
      whole.textContent = "";
      const { values, stop } = drawn.read();
      stop?.focus();
      try {
        return stop ? "" : fill(text, JSON.stringify(values));
      } catch (problem) {
        whole.textContent = words.sayAgain("form.problem", visibleLine(String(problem)));
        return "";
      }
    },
  });
  return form;
}

/** Fields as they are drawn, and what is filled in: `stop` is the first with a problem, which each says itself. */
export function drawFields(fields: readonly Field[], words: Words) {
  const drawn = fields.map((field) => ({ field, ...drawField(field, words) }));
  return {
    elements: drawn.map(({ element }) => element),
    focus: () => drawn[0]?.focus(),
    read(): { values: Record<string, unknown>; stop?: { focus(): void } } {
      const values: [string, unknown][] = [];
      let stop: Drawn | undefined;
      for (const one of drawn) {
        const [value, problem] = check(one.field, one.read, words);
        one.say(problem);
        if (problem !== undefined) stop ??= one;
        else if (value !== undefined) values.push([one.field.key, value]);
      }
      return { values: Object.fromEntries(values), ...(stop && { stop }) };
    },
  };
}

/** What is filled in, or what is wrong with it. */
function check(field: Field, read: () => unknown, words: Words): [value?: unknown, problem?: string] {
  const at = visibleLine(field.label);
  const wrong = (problem: string): [undefined, string] => [
    undefined,
    words.say("form.problem", { problem: words.sayAgain("form.problem", visibleLine(problem), at) }),
  ];
  try {
    const value = read();
    if (value === undefined) return field.isRequired ? wrong(`${at} is required`) : [];
    const problem = violation(field.schema, value, at) ?? formatProblem(field.format, value, at);
    return problem === undefined ? [value] : wrong(problem);
  } catch (problem) {
    return wrong(`${at} ${problem}`);
  }
}

function drawField(field: Field, words: Words): Drawn & { say(problem?: string): void } {
  made += 1;
  const problem = make("span", { part: "problem", role: "alert", id: `problem-${made}` });
  const { element, read, controls } = draw[field.kind](field, words);
  const said = field.hint === undefined ? [] : [visibleLine(field.hint)];
  if (field.kind === "lines") said.push(words.say("form.one_per_line"));
  const hints = said.map((hint, place) => make("small", { dir: "auto", id: `hint-${made}-${place}` }, hint));
  element.append(...hints);
  const described = [...hints, problem].map(({ id }) => id).join(" ");
  for (const control of controls) control.setAttribute("aria-describedby", described);
  element.append(problem);
  return {
    element,
    read,
    focus: () => controls[0]?.focus(),
    say(said) {
      // What is said already is not said again.
      if (problem.textContent !== (said ?? "")) problem.textContent = said ?? "";
      for (const control of controls) control.setAttribute("aria-invalid", String(said !== undefined));
    },
  };
}

type Control = HTMLInputElement | HTMLSelectElement | HTMLTextAreaElement;
type Drawing = { element: HTMLElement; read: () => unknown; controls: Control[] };

const draw: Record<Field["kind"], (field: Field, words: Words) => Drawing> = {
  text(field, words) {
    const start = field.schema.default;
    if (isText(start) && field.format === undefined && (start.length > LONG || start.includes("\n"))) {
      const area = make("textarea", { autocomplete: "off", dir: "auto", rows: "6" }) as HTMLTextAreaElement;
      area.value = start.split("\n").every((line) => plain(line) === line) ? start : "";
      const read = () => (area.value === "" ? undefined : area.value);
      return { element: labelled(field, area, words), read, controls: [area] };
    }
    const input = inputOf(TYPES[field.format ?? ""] ?? "text", field);
    input.value = typeof field.schema.default === "string" ? plain(local(field, field.schema.default)) : "";
    const read = () =>
      unreadable(input) ? refuse("is not complete") : input.value === "" ? undefined : global(field, input.value);
    return { element: labelled(field, input, words), read, controls: [input] };
  },
  lines(field, words) {
    const area = make("textarea", { autocomplete: "off", dir: "auto", rows: "4" }) as HTMLTextAreaElement;
    const start: unknown = field.schema.default;
    area.value =
      Array.isArray(start) && start.every((line) => isText(line) && plain(line) === line) ? start.join("\n") : "";
    const read = () => {
      const lines = area.value.split("\n").filter((line) => line !== "");
      return lines.length === 0 && !field.isRequired ? undefined : lines;
    };
    return { element: labelled(field, area, words), read, controls: [area] };
  },
  number(field, words) {
    const input = inputOf("number", field);
    // Steps are the schema's to judge, and not the browser's.
    input.step = "any";
    input.value = typeof field.schema.default === "number" ? String(field.schema.default) : "";
    const read = () => {
      if (unreadable(input)) return refuse("must be a number");
      if (input.value === "") return undefined;
      const number = Number(input.value);
      const isChanged = /^-?\d+$/.test(input.value) && BigInt(input.value) !== BigInt(number);
      return isChanged ? refuse(`cannot be held exactly: it would become ${BigInt(number)}`) : number;
    };
    return { element: labelled(field, input, words), read, controls: [input] };
  },
  checkbox(field, words) {
    const input = inputOf("checkbox", field);
    input.checked = field.schema.default === true;
    return { element: labelled(field, input, words), read: () => input.checked, controls: [input] };
  },
  choice(field, words) {
    const select = make("select", {}) as HTMLSelectElement;
    const choices = field.options.map(({ label }, place) =>
      make("option", { value: `${place}`, dir: "auto" }, visibleLine(label)),
    );
    select.append(make("option", { value: "" }, words.say("form.nothing_chosen")), ...choices);
    const start = field.options.findIndex(({ value }) => value === field.schema.default);
    select.value = start < 0 ? "" : `${start}`;
    const read = () => (select.value === "" ? undefined : field.options[Number(select.value)]?.value);
    return { element: labelled(field, select, words), read, controls: [select] };
  },
  choices(field, words) {
    const chosen = Array.isArray(field.schema.default) ? field.schema.default : [];
    const boxes = field.options.map(({ value, label }) => {
      const input = make("input", { type: "checkbox" }) as HTMLInputElement;
      input.checked = chosen.includes(value);
      const row = make("label", { class: "check" });
      row.append(input, make("span", { dir: "auto" }, visibleLine(label)));
      return { value, input, row };
    });
    const element = make("fieldset", { part: "field" });
    element.append(named("legend", field, words), ...boxes.map(({ row }) => row));
    const read = () => {
      const values = boxes.filter(({ input }) => input.checked).map(({ value }) => value);
      return values.length === 0 && !field.isRequired ? undefined : values;
    };
    return { element, read, controls: boxes.map(({ input }) => input) };
  },
};

/** Named by its first words alone: a hint in the label is there to describe it. */
function labelled(field: Field, control: Control, words: Words): HTMLElement {
  const element = make("label", { part: "field", ...(field.kind === "checkbox" && { class: "check" }) });
  const name = named("span", field, words);
  name.id = `name-${made}`;
  control.setAttribute("aria-labelledby", name.id);
  element.append(...(field.kind === "checkbox" ? [control, name] : [name, control]));
  if (field.isRequired) control.setAttribute("aria-required", "true");
  return element;
}

/** The field's name, in its own direction where it stands alone. */
function named(tag: string, { label, isRequired, kind }: Field, words: Words): HTMLElement {
  const field = visibleLine(label);
  if (isRequired || kind === "checkbox") return make(tag, { dir: "auto" }, field);
  return make(tag, {}, words.say("form.optional", { field }));
}

function inputOf(type: string, { schema }: Field): HTMLInputElement {
  const input = make("input", { type, autocomplete: "off", dir: "auto" }) as HTMLInputElement;
  if (typeof schema.maxLength === "number" && type === "text") input.maxLength = schema.maxLength;
  input.addEventListener("input", () => input.setCustomValidity(""));
  return input;
}

/** Whether the browser holds back what was typed, since it is not of the field's type; or did, before the card was drawn anew. */
function unreadable(input: HTMLInputElement): boolean {
  return input.validity.badInput || input.validity.customError;
}

/** A text that shows all that is in it. Of another one a person would send what nobody can see, so it is not filled in. */
function plain(text: string): string {
  return visibleLine(text) === text ? text : "";
}

function refuse(problem: string): never {
  throw problem;
}

/** A moment as the browser's field has it, in the person's own time, and back. */
function local({ format }: Field, text: string): string {
  const moment = new Date(text);
  if (format !== "date-time" || Number.isNaN(moment.getTime())) return text;
  return new Date(moment.getTime() - moment.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

function global({ format }: Field, text: string): string {
  return format === "date-time" ? new Date(text).toISOString() : text;
}

/** @internal An element with these attributes. */
export function make(tag: string, attributes: Record<string, string>, text = ""): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.textContent = text;
  return element;
}
