// What the card says: every language is complete, and a sentence that is kept in English is found again in the list.
import assert from "node:assert/strict";
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, it } from "node:test";
import { build } from "esbuild";
import { pseudo } from "../e2e/pseudo.mjs";

const top = join(import.meta.dirname, "..", "..");
const folder = join(top, "www", "src", "locales");
const locales = Object.fromEntries(
  readdirSync(folder).map((file) => [file.replace(".json", ""), JSON.parse(readFileSync(join(folder, file), "utf8"))]),
);
const english = locales.en;
const messages = Object.keys(english).filter((key) => key !== "locale" && key !== "direction");

const { Words, violation, formatProblem, messageOf } = await bundle();

/** The sources that know of words, without the module, which the fields of a form need for names alone. */
async function bundle() {
  const module = {
    name: "without the module",
    setup({ onResolve, onLoad }) {
      onResolve({ filter: /wasm\/countersign/ }, ({ path }) => ({ path, namespace: "none" }));
      onLoad({ filter: /.*/, namespace: "none" }, () => ({ contents: "export const visibleLine = String;" }));
    },
  };
  const exports = [
    ["Words", "words"],
    ["violation", "schema"],
    ["formatProblem", "fields"],
    ["messageOf", "error"],
  ];
  const contents = exports.map(([name, file]) => `export { ${name} } from "./${file}.ts";`).join("\n");
  const { outputFiles } = await build({
    stdin: { contents, resolveDir: join(top, "www", "src"), loader: "ts" },
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
    plugins: [module],
  });
  return import(`data:text/javascript,${encodeURIComponent(outputFiles[0].text)}`);
}

const formsOf = (phrase) => (typeof phrase === "string" ? { other: phrase } : phrase);
const placesIn = (text) => [...new Set([...text.matchAll(/\{(\w+)\}/g)].map(([, name]) => name))].sort();
const plain = (text) => text.replaceAll(/[\u2066-\u2069]/g, "");

/** The numbers that a plural form stands for, as far as anybody counts cards. */
function numbersOf(locale, form) {
  const rules = new Intl.PluralRules(locale);
  return Array.from({ length: 1000 }, (_, count) => count).filter((count) => rules.select(count) === form);
}

function sourcesIn(path, ending) {
  return readdirSync(path, { recursive: true, encoding: "utf8" })
    .filter((file) => file.endsWith(ending) && !file.startsWith("wasm"))
    .map((file) => readFileSync(join(path, file), "utf8"))
    .join("\n");
}

describe("A17: every language", () => {
  it("is one of those that there have to be", () => {
    assert.deepEqual(Object.keys(locales).sort(), ["ar", "de", "en"]);
  });

  for (const [name, locale] of Object.entries(locales)) {
    it(`${name}: has the keys of English and no others`, () => {
      const missing = Object.keys(english).filter((key) => !(key in locale));
      const unknown = Object.keys(locale).filter((key) => !(key in english));
      assert.deepEqual({ missing, unknown }, { missing: [], unknown: [] });
      assert.deepEqual(Object.keys(locale), Object.keys(english), "in the same order");
      assert.equal(locale.locale, name);
    });

    it(`${name}: has the direction of its script`, () => {
      const rtl = /\p{Script=Arabic}|\p{Script=Hebrew}/u.test(locale["ask.deny"]);
      assert.equal(locale.direction, rtl ? "rtl" : "ltr");
    });

    it(`${name}: has every plural form of its language, where English has several`, () => {
      const { pluralCategories } = new Intl.PluralRules(name).resolvedOptions();
      for (const key of messages.filter((key) => key in locale)) {
        assert.equal(typeof locale[key], typeof english[key], key);
        if (typeof locale[key] === "string") continue;
        assert.deepEqual(Object.keys(locale[key]).sort(), [...pluralCategories].sort(), key);
      }
    });

    it(`${name}: has the values of English in every form, but for a number that the form itself says`, () => {
      for (const key of messages.filter((key) => key in locale)) {
        const expected = placesIn(Object.values(formsOf(english[key])).join());
        for (const [form, text] of Object.entries(formsOf(locale[key]))) {
          const given = placesIn(text);
          if (expected.includes("count") && numbersOf(name, form).length === 1 && !given.includes("count")) {
            given.push("count");
          }
          assert.deepEqual(given.sort(), expected, `${key}, ${form}`);
        }
      }
    });

    it(`${name}: has no message that is empty, and none still in English but what is the same in both`, () => {
      const same = /^(SHA-256|–|\{problem\}\.|\{field\} \(optional\)|\{time\}|\{title\}: \{outcome\})$/u;
      for (const key of messages.filter((key) => key in locale)) {
        for (const [form, text] of Object.entries(formsOf(locale[key]))) {
          assert.ok(text.trim() !== "" && text === text.trim(), `${key}, ${form}`);
          // Words that are the same in German and English.
          const isSame = name === "en" || same.test(text) || key === "aspect.definition";
          if (!isSame) assert.notEqual(text, formsOf(english[key])[form], key);
        }
      }
    });
  }

  it("has no message that nothing says", () => {
    const sources = sourcesIn(join(top, "src"), ".rs") + sourcesIn(join(top, "www", "src"), ".ts");
    // These are found by the English sentences that they stand for.
    const found = /^(why|rule|thrown|preview|fault|aspect|type|form\.problem)\./;
    const unsaid = messages.filter((key) => !found.test(key) && !sources.includes(`"${key}"`));
    assert.deepEqual(unsaid, []);
  });

  it("knows each key that the scripts say", () => {
    const said = [...sourcesIn(join(top, "www", "src"), ".ts").matchAll(/\.say\("([\w.]+)"/g)].map(([, key]) => key);
    assert.ok(said.length > 3, "the scripts say something");
    assert.deepEqual(
      said.filter((key) => !(key in english)),
      [],
    );
  });
});

describe("A17: words", () => {
  it("say a message in the form of its number, with numbers and lists as the language writes them", () => {
    const german = new Words(locales.de);
    const arabic = new Words(locales.ar);
    const titles = ["A", "B", "C"];
    const cases = [
      [new Words(), 1, "1 approval waiting: A, B, C"],
      [new Words(), 2000, "2,000 approvals waiting: A, B, C"],
      [german, 1, "1 Genehmigung steht aus: A, B und C"],
      [german, 2000, "2.000 Genehmigungen stehen aus: A, B und C"],
      [arabic, 0, `لا توجد طلبات موافقة في الانتظار: ${list()}`],
      [arabic, 1, `طلب موافقة واحد في الانتظار: ${list()}`],
      [arabic, 2, `طلبا موافقة في الانتظار: ${list()}`],
      [arabic, 3, `${number(3)} طلبات موافقة في الانتظار: ${list()}`],
      [arabic, 11, `${number(11)} طلب موافقة في الانتظار: ${list()}`],
      [arabic, 100, `${number(100)} طلب موافقة في الانتظار: ${list()}`],
    ];
    for (const [words, count, expected] of cases) {
      assert.equal(plain(words.say("waiting.approvals", { count, titles })), plain(expected));
      assert.equal(plain(words.say("waiting.approvals", JSON.stringify({ count, titles }))), plain(expected));
    }
    function list() {
      return new Intl.ListFormat("ar", { type: "unit" }).format(titles);
    }
    function number(count) {
      return new Intl.NumberFormat("ar").format(count);
    }
  });

  it("fall back to English for a message that is missing, by the plural rules of English", () => {
    const { "waiting.approvals": _, "ask.deny": __, ...rest } = locales.ar;
    const words = new Words(rest);
    // Arabic has a form of its own for two; English has none.
    assert.equal(plain(words.say("waiting.approvals", { count: 2, titles: ["A", "B"] })), "2 approvals waiting: A, B");
    assert.equal(words.say("ask.deny"), "\u2066Deny\u2069", "from left to right, in the midst of the other direction");
    assert.equal(words.say("ask.approve"), locales.ar["ask.approve"]);
    assert.equal(new Words({ locale: "de" }).say("ask.deny"), "Deny");
  });

  it("let a page say one message in its own way", () => {
    const words = new Words({ "ask.deny": "No, thanks" });
    assert.deepEqual([words.say("ask.deny"), words.say("ask.approve")], ["No, thanks", "Approve"]);
    assert.deepEqual([words.locale, words.direction], ["en", "ltr"]);
    const german = new Words({ ...locales.de, "waiting.requests": { other: "{count} offen" } });
    assert.equal(german.say("waiting.requests", { count: 1, titles: ["A"] }), "1 offen");
    assert.equal(german.say("ask.deny"), locales.de["ask.deny"]);
  });

  it("keep what was given, whatever the page does with its object later", () => {
    const given = { "ask.deny": "No" };
    const words = new Words(given);
    given["ask.deny"] = "Yes";
    assert.equal(words.say("ask.deny"), "No");
  });

  const refused = [
    [7, /^strings: needs an object of messages by key/],
    [null, /^strings: needs an object/],
    [["a"], /^strings: needs an object/],
    [{ "ask.denny": "No" }, /^strings: nothing says ask\.denny; see countersign\/locales\/en\.json for the keys\.$/],
    [{ toString: "No" }, /^strings: nothing says toString/],
    [JSON.parse('{"__proto__": "No"}'), /^strings: nothing says __proto__/],
    [{ "ask.deny": 7 }, /^strings: ask\.deny must be a string, or an object of them by plural form, none empty\.$/],
    [{ "ask.deny": "" }, /^strings: ask\.deny must be/],
    [{ "ask.deny": null }, /^strings: ask\.deny must be/],
    [{ "ask.deny": ["No"] }, /^strings: ask\.deny must be/],
    [{ "waiting.requests": { one: 1, other: "n" } }, /^strings: waiting\.requests must be/],
    [{ "waiting.requests": { one: "one" } }, /^strings: waiting\.requests needs the plural form "other"\.$/],
    [{ "waiting.requests": "{cuont}" }, /^strings: waiting\.requests has no value for \{cuont\}; .*: count, titles/],
    [{ "ask.deny": "No {constructor}" }, /^strings: ask\.deny has no value for \{constructor\}; .*: nothing\.$/],
    [{ locale: "not a tag" }, /^strings: locale must be a language tag such as "de", not "not a tag"\.$/],
    [{ locale: "" }, /^strings: locale must/],
    [{ locale: { other: "de" } }, /^strings: locale must/],
    [{ direction: "right" }, /^strings: direction must be "ltr" or "rtl"\.$/],
  ];
  for (const [strings, message] of refused) {
    it(`refuse ${JSON.stringify(strings)}`, () => {
      assert.throws(() => new Words(strings), { name: "CountersignError", code: "invalid_options", message });
    });
  }
});

describe("A17: a sentence that is kept in English", () => {
  const foreign = new Words(pseudo(english));
  const hostile = ["$&", "$1 $`", "{field} {why}", "(a+)+$ [x] \\d ^|", "x\ny", "\u202e", "’“”", "x".repeat(100_000)];

  /** Fills a message of the list with these values. */
  const filled = (template, values) => template.replaceAll(/\{(\w+)\}/g, (_, name) => values[name]);

  it("is found again, with whatever it holds", () => {
    const templates = messages.filter((key) => /^(why|form\.problem)\./.test(key));
    assert.ok(templates.length > 25);
    for (const key of templates) {
      const kind = key.startsWith("why.") ? "why" : "form.problem";
      for (const value of hostile) {
        const values = { why: value, problem: value, field: value, what: "title, preview", type: "integer" };
        Object.assign(values, { kind: "number", limit: "1234.5", choices: '"a", "b"', pattern: value });
        const said = foreign.sayAgain(kind, filled(english[key], values));
        const localised = { ...values, limit: new Intl.NumberFormat("eo").format(1234.5) };
        for (const part of ["type", "kind"]) localised[part] = foreign.say(`type.${values[part]}`);
        localised.what = new Intl.ListFormat("eo", { type: "unit" }).format(
          ["aspect.title", "aspect.preview"].map((aspect) => foreign.say(aspect)),
        );
        assert.equal(said, filled(pseudo(english)[key], localised), `${key} of ${value.slice(0, 20)}`);
      }
    }
  });

  it("stays as it is where it is the page's own", () => {
    for (const sentence of ["", " ", "Cookies cannot be un-eaten.", "Name is required", ...hostile]) {
      assert.equal(foreign.sayAgain("why", sentence), sentence);
    }
  });

  it("is said in English as it is kept", () => {
    const words = new Words();
    const sentence = "Sure? Asked again, since this changed while it waited: title, input schema.";
    assert.equal(words.sayAgain("why", sentence), sentence);
  });

  it("is taken apart at the first place that fits, and only its own part is said again", () => {
    const changed = english["why.changed"];
    const twice = filled(changed, { why: filled(changed, { why: "A", what: "title" }), what: "effect" });
    const said = foreign.sayAgain("why", twice);
    assert.ok(said.includes(foreign.say("why.changed", { why: "A", what: "" }).slice(0, 20)), said);
    for (const key of messages.filter((key) => key.startsWith("why.") && !english[key].includes("{why}"))) {
      const why = filled(english[key], { problem: "it threw" });
      const inner = foreign.sayAgain("why", filled(changed, { why, what: "title" }));
      assert.ok(inner.startsWith(`[${foreign.say(key, { problem: "it threw" })}`), inner);
    }
    for (const key of ["rule.threw", "rule.promise", "rule.nothing"]) {
      const problem = filled(english[key], { error: "Oh." });
      const expected = foreign.say("why.broken", { problem: foreign.say(key, { error: "Oh." }) });
      assert.equal(foreign.sayAgain("why", filled(english["why.broken"], { problem })), expected);
    }
    // What an error says that says nothing is the package's.
    for (const thrown of [{ toString: null }, undefined, 7, Object.assign(new Error(), { name: "" })]) {
      const error = messageOf(thrown);
      const inner = foreign.sayAgain("thrown", error);
      assert.notEqual(inner, error);
      const failed = filled(english["preview.failed"], { error });
      assert.equal(foreign.sayAgain("preview", failed), foreign.say("preview.failed", { error: inner }));
      const why = filled(english["why.broken"], { problem: filled(english["rule.threw"], { error }) });
      assert.equal(
        foreign.sayAgain("why", why),
        foreign.say("why.broken", { problem: foreign.say("rule.threw", { error: inner }) }),
      );
    }
    // The text of an error is the page's own, whatever it says.
    const broken = filled(english["why.broken"], { problem: english["why.write"] });
    assert.ok(foreign.sayAgain("why", broken).includes(english["why.write"]));
  });

  it("is about the field that it is about, whatever that is called and whatever pattern it has", () => {
    const cases = [
      ["Age", "Age must match the pattern x is required", "pattern", { pattern: "x is required" }],
      ["Age must match the pattern x", "Age must match the pattern x is required", "required", {}],
      ["x is required", "x is required must be a number", "number", {}],
      ["{limit}", "{limit} must be at least 3", "at_least", { limit: 3 }],
    ];
    for (const [field, sentence, key, values] of cases) {
      const expected = foreign.say(`form.problem.${key}`, { field, ...values });
      assert.equal(foreign.sayAgain("form.problem", sentence, field), expected);
    }
  });

  it("says every way in which a value breaks its schema", () => {
    const cases = [
      [{ type: "integer" }, 1.5],
      [{ type: ["string", "null"] }, 3],
      [{ enum: ["a", 1] }, "b"],
      [{ const: 1 }, 2],
      ...[{ minimum: 2 }, { maximum: 0 }, { exclusiveMinimum: 1 }, { exclusiveMaximum: 1 }, { multipleOf: 3 }].map(
        (schema) => [schema, 1],
      ),
      ...[{ minLength: 2 }, { maxLength: 0 }, { pattern: "^\\d$" }].map((schema) => [schema, "x"]),
      ...[{ minItems: 2 }, { maxItems: 0 }].map((schema) => [schema, [1]]),
      [{ anyOf: [{ type: "string" }] }, 1],
      [{ oneOf: [{ minimum: 0 }, { minimum: 1 }] }, 1],
      [{ not: { const: 1 } }, 1],
      [false, 1],
      [{ required: ["name"] }, {}],
      [{ properties: { a: true }, additionalProperties: false }, { b: 1 }],
    ];
    for (const [schema, value] of cases) {
      for (const at of ["", "Age"]) {
        const sentence = violation(schema, value, at);
        for (const whole of [sentence, filled(english["form.problem.whole"], { problem: sentence })]) {
          const said = foreign.sayAgain("form.problem", whole);
          assert.match(said, /^\[.*\]$/su, whole);
          // English words of several letters, other than what was given.
          assert.doesNotMatch(said.replaceAll(/\b(Age|name)\b/g, ""), /[a-z]{2}/, whole);
        }
      }
    }
    for (const format of ["email", "uri", "date", "date-time"]) {
      assert.match(foreign.sayAgain("form.problem", formatProblem(format, "x", "Age"), "Age"), /^\[.*\]$/su);
    }
  });

  it("takes no time to speak of, however long it is and whatever it repeats", { timeout: 60_000 }, () => {
    const size = 100_000;
    const literals = messages
      .filter((key) => /^(why|form\.problem)\./.test(key))
      .flatMap((key) => english[key].split(/\{\w+\}/))
      .filter((literal) => literal.length > 1);
    const templates = messages.filter((key) => /^(why|form\.problem)\.(changed|broken|whole|none_of)$/.test(key));
    const texts = [
      ..."x .".split("").map((text) => text.repeat(size)),
      ...literals.map((literal) => literal.repeat(size / literal.length)),
      // A sentence within itself, over and over.
      ...templates.map((key) => {
        let text = "x";
        while (text.length < size) text = filled(english[key], { why: text, problem: text, field: "x", what: "title" });
        return text;
      }),
    ];
    for (const kind of ["why", "form.problem"]) {
      for (const text of texts) {
        const started = process.cpuUsage();
        foreign.sayAgain(kind, text);
        const { user } = process.cpuUsage(started);
        assert.ok(user < 1_000_000, `${user} µs for ${text.slice(0, 40)}`);
      }
    }
  });
});

describe("A16: the card's sheets", () => {
  const folder = join(top, "src", "web", "card");
  const sheets = readdirSync(folder).filter((name) => name.endsWith(".css"));
  const css = sheets.map((name) => readFileSync(join(folder, name), "utf8").replaceAll(/\/\*.*?\*\//gs, "")).join("");
  const declarations = [...css.matchAll(/([\w-]+)\s*:\s*([^;{}]+);/g)].map(([, property, value]) => [property, value]);

  it("names no side of the page but by the direction of the text", () => {
    assert.ok(declarations.length > 150);
    const physical = declarations.filter(
      ([property, value]) =>
        /(^|-)(left|right|top|bottom)(-|$)|^((min|max)-)?(width|height)$/.test(property) ||
        (/^(text-align|float|clear|justify-.*|caption-side)$/.test(property) && /\b(left|right)\b/.test(value)) ||
        // Four values go round the sides of the page, whichever way the text runs.
        (/^(margin|padding|inset|border-(radius|width|style|color)|scroll-(margin|padding))$/.test(property) &&
          value
            .replaceAll(/\([^()]*(\([^()]*\)[^()]*)*\)/g, "")
            .trim()
            .split(/\s+/).length === 4),
    );
    assert.deepEqual(physical, []);
  });

  it("says nothing by itself", () => {
    const said = declarations.filter(([property, value]) => property === "content" && /\p{L}/u.test(value));
    assert.deepEqual(said, []);
  });

  it("is all there is of style, but for lengths along the text", () => {
    const styles = [...sourcesIn(join(top, "src", "web"), ".rs").matchAll(/set_style\(([^;]*);/g)].map(
      ([, text]) => text,
    );
    for (const style of styles) assert.doesNotMatch(style, /left|right|width|height:|top|bottom/);
  });
});
