import { CountersignError } from "./error.js";
import { makeForm } from "./form.js";
import english from "./locales/en.json" with { type: "json" };
import { isObject, isText } from "./reader.js";

/** A message; where it counts something, one for each plural form that `Intl.PluralRules` knows of the language. */
export type Phrase = string | { [form in Intl.LDMLPluralRule]?: string };

/**
 * What the elements say: `locale` (a BCP 47 tag), `direction` (`ltr` or `rtl`), and messages by their keys, which
 * `countersign/locales/en.json` lists. `{name}` in a message stands for a value. What is left out is said in English.
 */
export interface Strings {
  [key: string]: Phrase;
}

/** What a message may hold: a number is written as the language writes it, an array as its list. */
type Value = string | number | readonly string[];

const ENGLISH: Readonly<Strings> = english;

/** @internal The words of one set of elements. */
export class Words {
  readonly locale: string;
  readonly direction: string;
  readonly #strings: Strings;

  /** Throws `invalid_options` where the strings are none. */
  constructor(strings: Strings = {}) {
    this.#strings = readStrings(strings);
    this.locale = String(strings.locale ?? ENGLISH.locale);
    this.direction = strings.direction === "rtl" ? "rtl" : "ltr";
  }

  /** The message of this key, filled with `values`; as text of an object, as the module hands them over, too. */
  say(key: string, values: Record<string, Value> | string = {}): string {
    const given: Record<string, Value> = isText(values) ? JSON.parse(values) : values;
    const own = this.#strings[key];
    const [phrase, locale] = own === undefined ? [ENGLISH[key], "en"] : [own, this.locale];
    return fill(choose(phrase, given.count, locale), (name) => write(given[name], locale));
  }

  /** The same for a sentence that is kept in English, such as a reason in the log; one of the page's own stays as it is. */
  sayAgain(kind: "why" | "aspect" | "form.problem", sentence: string): string {
    for (const [key, template] of Object.entries(ENGLISH)) {
      const found = key.startsWith(`${kind}.`) && isText(template) ? unfill(template, sentence) : undefined;
      if (!found) continue;
      // A part may be such a sentence itself.
      for (const part of ["why", "problem"]) if (found[part]) found[part] = this.sayAgain(kind, found[part]);
      const what = found.what?.split(", ").map((aspect) => this.sayAgain("aspect", aspect));
      return this.say(key, what ? { ...found, what } : found);
    }
    return sentence;
  }

  /** The fields of a form, given as JSON: see {@link makeForm}. */
  form(text: string): HTMLElement {
    return makeForm(text, this);
  }
}

/** Refuses what cannot be meant: a key that nothing says, and a message that is none. */
function readStrings(strings: Strings): Strings {
  const wrong = (what: string) => new CountersignError("invalid_options", `strings: ${what}.`);
  if (!isObject(strings)) throw wrong("needs an object of messages by key, such as countersign/locales/de.json");
  for (const [key, phrase] of Object.entries(strings)) {
    if (!Object.hasOwn(ENGLISH, key)) throw wrong(`nothing says ${key}; see countersign/locales/en.json for the keys`);
    const forms = isObject(phrase) ? Object.values(phrase) : [phrase];
    if (!forms.every(isText)) throw wrong(`${key} must be a string, or an object of them by plural form`);
  }
  if (isText(strings.locale)) {
    try {
      new Intl.Locale(strings.locale);
    } catch {
      throw wrong(`locale must be a language tag such as "de", not ${JSON.stringify(strings.locale)}`);
    }
  }
  return { ...strings };
}

function choose(phrase: Phrase | undefined, count: Value | undefined, locale: string): string {
  if (isText(phrase)) return phrase;
  const form = typeof count === "number" ? new Intl.PluralRules(locale).select(count) : "other";
  return phrase?.[form] ?? phrase?.other ?? "";
}

function write(value: Value | undefined, locale: string): string {
  if (typeof value === "number") return new Intl.NumberFormat(locale).format(value);
  if (isText(value) || value === undefined) return value ?? "";
  return new Intl.ListFormat(locale, { type: "unit" }).format(value);
}

const PLACE = /\{(\w+)\}/g;

function fill(template: string, value: (name: string) => string): string {
  return template.replaceAll(PLACE, (_, name: string) => value(name));
}

/** The values with which a message gives this sentence, if it can. */
function unfill(template: string, sentence: string): Record<string, string> | undefined {
  const parts = template.split(PLACE);
  const literal = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const pattern = parts.map((part, place) => (place % 2 ? `(?<${part}>.+?)` : literal(part))).join("");
  const found = new RegExp(`^${pattern}$`, "su").exec(sentence);
  return found ? { ...found.groups } : undefined;
}
