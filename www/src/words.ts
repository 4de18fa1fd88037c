import { CountersignError } from "./error.js";
import english from "./locales/en.json" with { type: "json" };
import { isName, isObject, isText } from "./reader.js";

/** A message; where it counts something, one for each plural form that `Intl.PluralRules` knows of the language. */
export type Phrase = string | { [form in Intl.LDMLPluralRule]?: string };

/**
 * What the elements say: `locale` (a BCP 47 tag), `direction` (`ltr` or `rtl`), and messages by their keys, which
 * `countersign/locales/en.json` lists. `{name}` in a message stands for a value. What is left out is said in English.
 */
export interface Strings {
  [key: string]: Phrase;
}

/**
 * What a message may hold: a number is written as the language writes it, an array as its list, `at` as that time, which is
 * in milliseconds since the epoch.
 */
type Value = string | number | readonly string[] | { at: number };

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
    const isRtl = this.direction === "rtl";
    const said = fill(choose(phrase, given.count, locale), (name) => write(given[name], locale, isRtl));
    // English among a language from right to left: else its full stop would stand before it.
    return isRtl && own === undefined ? `${LEFT_TO_RIGHT}${said}${END}` : said;
  }

  /**
   * The same for a sentence that is kept in English, such as a reason in the log; one of the page's own stays as it is.
   * `field` is what the sentence is about, where that is known: a name may hold words of a message.
   */
  sayAgain(
    kind: "why" | "rule" | "thrown" | "preview" | "aspect" | "form.problem",
    sentence: string,
    field?: string,
    depth = 0,
  ): string {
    const again = depth < DEEPEST && recognise(kind, sentence, field);
    if (!again) return sentence;
    const [key, found] = again;
    const values: Record<string, Value> = { ...found };
    // A part may be such a sentence itself.
    if (found.why) values.why = this.sayAgain("why", found.why, field, depth + 1);
    if (found.problem) values.problem = this.sayAgain(kind === "why" ? "rule" : kind, found.problem, field, depth + 1);
    if (found.error) values.error = this.sayAgain("thrown", found.error);
    if (found.what) values.what = found.what.split(", ").map((aspect) => this.sayAgain("aspect", aspect));
    if (found.field === "the arguments" && field === undefined) values.field = this.say("form.answer");
    for (const number of ["limit", "place"]) {
      const text = found[number];
      if (text && /^-?\d{1,15}(\.\d+)?$/.test(text)) values[number] = Number(text);
    }
    for (const type of ["type", "kind"]) if (found[type]) values[type] = this.#types(found[type]);
    return this.say(key, values);
  }

  /** Types of JSON, as a schema names them. */
  #types(types: string): string {
    const names = types.split(" or ").map((type) => {
      const key = `type.${type}`;
      return Object.hasOwn(ENGLISH, key) ? this.say(key) : type;
    });
    return new Intl.ListFormat(this.locale, { type: "disjunction" }).format(names);
  }
}

/** Refuses what cannot be meant: a key that nothing says, and a message that is none. */
function readStrings(strings: Strings): Strings {
  const wrong = (what: string) => new CountersignError("invalid_options", `strings: ${what}.`);
  if (!isObject(strings)) throw wrong("needs an object of messages by key, such as countersign/locales/de.json");
  for (const [key, phrase] of Object.entries(strings)) {
    if (!Object.hasOwn(ENGLISH, key)) throw wrong(`nothing says ${key}; see countersign/locales/en.json for the keys`);
    const forms: unknown[] = isObject(phrase) ? Object.values(phrase) : [phrase];
    if (!forms.every(isName)) throw wrong(`${key} must be a string, or an object of them by plural form, none empty`);
    if (isObject(phrase) && !isText(phrase.other)) throw wrong(`${key} needs the plural form "other"`);
    const known = placesOf(ENGLISH[key]);
    const odd = placesOf(phrase as Phrase).find((place) => !known.includes(place));
    if (odd) throw wrong(`${key} has no value for {${odd}}; it has values for: ${known.join(", ") || "nothing"}`);
  }
  const { locale = "en", direction = "ltr" } = strings;
  if (!isLanguage(locale)) throw wrong(`locale must be a language tag such as "de", not ${JSON.stringify(locale)}`);
  if (direction !== "ltr" && direction !== "rtl") throw wrong('direction must be "ltr" or "rtl"');
  return { ...strings };
}

function isLanguage(locale: unknown): boolean {
  try {
    return isText(locale) && new Intl.Locale(locale) !== undefined;
  } catch {
    return false;
  }
}

function placesOf(phrase: Phrase | undefined): string[] {
  const forms = isText(phrase) ? [phrase] : Object.values(phrase ?? {});
  return forms.flatMap((form) => [...form.matchAll(PLACE)].map(([, name]) => String(name)));
}

function choose(phrase: Phrase | undefined, count: Value | undefined, locale: string): string {
  if (isText(phrase)) return phrase;
  const form = typeof count === "number" ? new Intl.PluralRules(locale).select(count) : "other";
  return phrase?.[form] ?? phrase?.other ?? "";
}

const isList = (value: object): value is readonly string[] => Array.isArray(value);

function write(value: Value | undefined, locale: string, isRtl: boolean): string {
  // A limit is said as it is, not rounded.
  if (typeof value === "number") return new Intl.NumberFormat(locale, { maximumFractionDigits: 20 }).format(value);
  // A text of the other direction would take what stands beside it along.
  const apart = (text: string) => (isRtl || RIGHT_TO_LEFT.test(text) ? `${ISOLATE}${text}${END}` : text);
  if (isText(value) || value === undefined) return apart(value ?? "");
  if (isList(value)) return new Intl.ListFormat(locale, { type: "unit" }).format(value.map(apart));
  return new Intl.DateTimeFormat(locale, { dateStyle: "medium", timeStyle: "medium" }).format(value.at);
}

/** How many sentences within another are said in the page's language. */
const DEEPEST = 8;

/** Unicode's marks around a text of whichever direction it begins with, or of this one. */
const [ISOLATE, LEFT_TO_RIGHT, END] = ["\u2068", "\u2066", "\u2069"];
const RIGHT_TO_LEFT = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

const PLACE = /\{(\w+)\}/g;

function fill(template: string, value: (name: string) => string): string {
  return template.replaceAll(PLACE, (_, name: string) => value(name));
}

/**
 * Which English message of this kind gives the sentence, and with which values. Where several do, the one with the shortest
 * field: a sentence may stand inside another one.
 */
function recognise(kind: string, sentence: string, field?: string): [string, Record<string, string>] | undefined {
  let best: [string, Record<string, string>] | undefined;
  for (const [key, template] of Object.entries(ENGLISH)) {
    const found = key.startsWith(`${kind}.`) && isText(template) ? unfill(template, sentence, field) : undefined;
    const least = best?.[1].field?.length ?? 0;
    if (found && (best === undefined || (found.field?.length ?? 0) < least)) best = [key, found];
  }
  return best;
}

/**
 * The values with which a message gives this sentence, if it can; `field` is one that is known. Takes the earliest place for
 * every part, as a lazy expression would, in time that grows with the sentence's length alone.
 */
function unfill(template: string, sentence: string, field?: string): Record<string, string> | undefined {
  const [first = "", ...parts] = template.split(PLACE);
  if (!sentence.startsWith(first)) return undefined;
  const found: Record<string, string> = {};
  let rest = sentence.slice(first.length);
  while (parts.length > 0) {
    const [name = "", next = ""] = parts.splice(0, 2);
    let end = rest.indexOf(next, 1);
    if (name === "field" && field !== undefined) end = rest.startsWith(field + next) ? field.length : -1;
    else if (parts.length === 0) end = rest.endsWith(next) ? rest.length - next.length : -1;
    if (end < 1) return undefined;
    found[name] = rest.slice(0, end);
    rest = rest.slice(end + next.length);
  }
  return rest === "" ? found : undefined;
}
