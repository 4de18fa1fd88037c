/** What the card says, in languages: nothing is hard-coded, and it reads from right to left where the language does. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { launch, openTestPage, serveSite } from "./harness.mjs";
import { FIELDS } from "./page/scenes.mjs";
import { pseudo } from "./pseudo.mjs";
import { rounds } from "./rounds.mjs";

const source = (path) => readFileSync(new URL(`../../${path}`, import.meta.url), "utf8");
const locale = (name) => JSON.parse(source(`www/src/locales/${name}.json`));
const english = locale("en");

/** Logs of older versions, their data in the words of the scenes. */
const OLD = ["old-denial-beside-a-pending-request", "old-denial-of-a-declined-call"].map((name) =>
  source(`tests/fixtures/logs/${name}.jsonl`)
    .replaceAll("send_mail", "zq_mail")
    .replaceAll(String.raw`{\"to\":\"grace@example.org\"}`, String.raw`{\"zqto\":\"zq@zq.example\"}`)
    .replaceAll("Mail cannot be unsent.", "Zqreason."),
);

/**
 * Messages of the element of standing permissions, and of cards that take a provider's own tools, a store that breaks at
 * the right moment, a page that goes away, a megabyte, or a day of the year 10000: tests of those have them.
 */
const ELSEWHERE = [
  /^grants\./,
  /^head\.(asker\.provider|calls_itself)$/,
  /^why\.(unread|no_longer)$/,
  /^aspect\.definition$/,
  /^refused\.(values|grant_failed|not_grantable|deleted|other)$/,
  /^form\.problem\.(inexact|json_long|date|date_time)$/,
];

const WIDE = { width: 700, height: 3000 };

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A page with all scenes in it, which notes every text that stands in the shadow root at any time. */
async function stage(t, strings) {
  const site = await serveSite(t, { model: rounds });
  // Errors of rules, previews and tools belong to the scenes.
  const page = await openTestPage(browser, t, site, {}, /zq/);
  await page.setViewportSize(WIDE);
  await page.evaluate(
    async ({ strings, old }) => {
      const { kit } = await import("/test/kit.mjs");
      const { scenes } = await import("/test/scenes.mjs");
      const element = document.querySelector("countersign-approvals");
      window.said = new Map();
      const note = (text, where) =>
        text.trim() === "" || window.said.has(text.trim()) || window.said.set(text.trim(), where);
      const look = () => {
        // What is announced stands in the document.
        const announced = document.querySelectorAll("[data-countersign]");
        for (const node of [...element.shadowRoot.querySelectorAll("*"), ...announced]) {
          for (const { nodeType, data } of node.childNodes)
            if (nodeType === 3) note(data, node.outerHTML.slice(0, 200));
          for (const { name, value } of node.attributes) {
            if (
              /^(title|alt|placeholder|label|aria-(label|description|valuetext|roledescription|placeholder))$/.test(
                name,
              )
            ) {
              note(value, `${name} of ${node.outerHTML.slice(0, 200)}`);
            }
          }
        }
      };
      const options = { subtree: true, childList: true, characterData: true, attributes: true };
      for (const place of [element.shadowRoot, document.body]) new MutationObserver(look).observe(place, options);
      window.scenes = scenes(kit(), element, strings, old);
      window.seen = [];
      window.look = look;
    },
    { strings, old: OLD },
  );
  const names = await page.evaluate(() => Object.keys(window.scenes));
  return { page, names };
}

/** Brings a scene about; a form is filled in as far as that makes problems, and sent. */
async function play(page, name) {
  await page.evaluate(async (name) => {
    window.chat = await window.scenes[name]();
    await new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)));
    window.look();
  }, name);
  for (let folds = 0; (await page.locator("[part=fold]").count()) > 0 && folds < 30; folds += 1) {
    await page.locator("[part=fold]").first().click();
  }
  if (name === "arguments that a person changes") return change(page);
  if (name === "a list that a person changes") return lengthen(page);
  if (name === "a permission to choose") return choose(page);
  if (name === "a note that gets long") return page.locator("[part=note] textarea").fill("zq ".repeat(150));
  if (name.startsWith("a click ")) return refuse(page, name);
  const form = page.locator("[part=form]");
  if ((await form.count()) === 0 || (await page.locator("[part=approve]").count()) === 0) return;
  if (name === "a form") {
    for (const [key, [, text]] of Object.entries(FIELDS)) {
      const field = form.locator("[part=field]").filter({ hasText: key });
      if (text === null) await field.locator("input").first().check();
      else if (text !== "") await field.locator("input").pressSequentially(text);
    }
  }
  if (!name.startsWith("a form")) return;
  const send = page.locator("[part=approve]:not([aria-disabled])");
  await send.waitFor();
  await send.click();
  await page.locator("[part=problem]:not(:empty)").first().waitFor();
  await page.evaluate(() => window.look());
}

/** Presses Approve where that decides nothing. */
async function refuse(page, name) {
  const isReady = !/early|covered/.test(name);
  const approve = page.locator(`[part=approve]${isReady ? ":not([aria-disabled])" : ""}`);
  // Where it is not ready, the click waits for nothing.
  await approve.click({ force: !isReady });
  await page.locator(".said").waitFor();
  await page.evaluate(() => {
    window.look();
    document.querySelector("countersign-approvals").style.opacity = "";
  });
}

/** Opens the second step of each permission. */
async function choose(page) {
  await page.locator("[part=more]").click();
  for (const place of [0, 1]) {
    await page.locator("[part=standing]").nth(place).click();
    await page.locator("[part=terms]").waitFor();
    await page.evaluate(() => window.look());
    await page.locator("[part=back]").click();
  }
}

/** Changes the arguments of two calls, in fields and as JSON, with all that can be wrong with them, and approves the first. */
async function change(page) {
  for (const button of await page.locator("[part=more]").all()) await button.click();
  for (const button of await page.locator("[part=edit-open]").all()) await button.click();
  const json = page.locator("[part=json]");
  const zeros = "0".repeat(400);
  for (const text of [
    "",
    "{",
    "{zq",
    "{} {}",
    '{"zq":"\u0001"}',
    String.raw`{"zq":"\q"}`,
    "[".repeat(100),
    `{"zq":[${"1,".repeat(10_001)}1]}`,
    String.raw`{"zq":"\ud800"}`,
    '{"__proto__":1}',
    `{"zq":1${zeros}.5}`,
    `{"zq":0.${zeros}1}`,
    `{"${"zq".repeat(600)}":1}`,
    '{"zqdeep":1,"zqdeep":2}',
    '{"zqdeep":9007199254740993}',
    "[]",
    '{"zqunknown":"zq"}',
    '{"zqday":"zq"}',
    '{"zqmoment":"zq"}',
    '{"zqchoice":"zq"}',
    '{"zqtext":true}',
    '{"zqnull":true}',
    '{"zqmap":1}',
    '{"zqlist":1}',
    '{"zqflag":1}',
    '{"zqdeep":"zq"}',
  ]) {
    await json.fill(text);
    await page.evaluate(() => window.look());
  }
  const field = page.locator("[part=field] input");
  for (const text of ["", "zq", "zqrefused", "zqchanged"]) {
    await field.fill(text);
    await page.evaluate(() => window.look());
  }
  const approve = page.locator("[part=approve]").first();
  await page.locator("[part=approve]:not([aria-disabled])").first().waitFor();
  await approve.click();
  await page.locator("[part=receipt]").waitFor();
}

/** Changes the arguments of a call in more places than are shown. */
async function lengthen(page) {
  await page.locator("[part=more]").click();
  await page.locator("[part=edit-open]").click();
  const lines = Array.from({ length: 30 }, (_, line) => `zq${line}`);
  await page.locator("[part=field] textarea").fill(lines.join("\n"));
  await page.evaluate(() => window.look());
}

/** What runs out of its place, or out of the page, where that is narrow. */
async function tooWide(page) {
  await page.setViewportSize({ width: 320, height: 3000 });
  const found = await page.evaluate(() => {
    const { shadowRoot } = document.querySelector("countersign-approvals");
    const runsOut = (node) => {
      const { display, overflowX } = getComputedStyle(node);
      return display !== "inline" && overflowX === "visible" && node.scrollWidth > node.clientWidth + 1;
    };
    const nodes = [...shadowRoot.querySelectorAll("[part=card], [part=card] *")].filter(runsOut);
    const { scrollWidth } = document.documentElement;
    return [...nodes.map((node) => node.outerHTML.slice(0, 200)), ...(scrollWidth > 320 ? [`${scrollWidth} px`] : [])];
  });
  await page.setViewportSize(WIDE);
  return found;
}

/** Everything that was said, with where. Nothing of it is cut off on a small screen (A15). */
async function playAll(t, strings) {
  const { page, names } = await stage(t, strings);
  for (const name of names) {
    await play(page, name);
    assert.deepEqual(await tooWide(page), [], `at 320 pixels: ${name}`);
  }
  return { page, said: await page.evaluate(() => [...window.said]) };
}

/** A text without the scenes' data, without times as English writes them, and without marks of direction. */
function withoutData(text) {
  return text
    .replaceAll(/(?:https:\/\/|xn--)*zq[\w.@/?=:\u00e9\u0400-\u04ff-]*/giu, "")
    .replaceAll(/[A-Z][a-z]{2} \d{1,2}, \d{4}, \d{1,2}:\d\d:\d\d\s[AP]M/g, "")
    .replaceAll(/[\u2066-\u2069]/g, "");
}

/** Values that are no words, and digests. */
const isLiteral = (text) =>
  /^(?:true|null|-?\d+|\[\d+\]|\[\]|\{\}|\[""\]|[0-9a-f]{12}|[0-9a-f]{64}|[^\p{L}\p{N}]+)$/u.test(text);

/** What a message of the list looks like, whatever its values are. */
const pattern = (phrase) => new RegExp(`^(?:${inside(phrase).source})$`, "su");

function inside(phrase) {
  const forms = typeof phrase === "string" ? [phrase] : Object.values(phrase);
  const literal = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  const filled = (form) =>
    form
      .split(/\{\w+\}/)
      .map(literal)
      .join(".*?");
  return new RegExp(forms.map(filled).join("|"), "su");
}

/** The texts that are neither of the list nor given: what is left of them has letters of the Latin script. */
function hardCoded(said, isOfList, allowed = /^$/g) {
  return said.filter(([text]) => {
    if (isLiteral(text)) return false;
    const isKnown = isOfList(text) || /zq/i.test(text);
    return !isKnown || /[a-z]/i.test(withoutData(text).replaceAll(allowed, ""));
  });
}

describe("A17: in a language that nobody speaks", () => {
  it("every text of every card is looked up or given, and nothing is hard-coded", async (t) => {
    const strings = pseudo(english);
    const { said } = await playAll(t, strings);
    assert.deepEqual(
      hardCoded(said, (text) => /^\[.*~\]$/su.test(text)),
      [],
    );
    // Brackets show where a message begins and ends, also inside another one.
    const isSaid = (key) => said.some(([text]) => inside(strings[key]).test(text));
    const unsaid = Object.keys(english).filter((key) => !/^(locale|direction)$/.test(key) && !isSaid(key));
    assert.deepEqual(
      unsaid.filter((key) => !ELSEWHERE.some((keys) => keys.test(key))),
      [],
      "every message is said somewhere",
    );
  });
});

describe("A17: a page's own words", () => {
  it("take the place of one message on the card, at once, and leave the others", async (t) => {
    const { page } = await stage(t);
    await play(page, "a card for somebody else");
    const names = () => page.locator("[part=actions] > button").allTextContents();
    const set = (strings) =>
      page.evaluate((strings) => {
        const element = document.querySelector("countersign-approvals");
        try {
          element.strings = strings ?? undefined;
          return "";
        } catch ({ code, message }) {
          return `${code}: ${message}`;
        }
      }, strings);
    const before = await names();
    assert.deepEqual(before.slice(0, 2), [english["ask.deny"], english["ask.approve"]]);
    assert.equal(await set({ "ask.deny": "Nope" }), "");
    assert.deepEqual(await names(), ["Nope", ...before.slice(1)]);
    assert.match(await set({ "ask.denny": "No" }), /^invalid_options: strings: nothing says ask\.denny/);
    assert.deepEqual(await names(), ["Nope", ...before.slice(1)], "what is refused changes nothing");
    assert.equal(await set(null), "");
    assert.deepEqual(await names(), before);
  });
});

describe("A17: in German", () => {
  it("every text of every card is of the list or given", async (t) => {
    const strings = locale("de");
    const { said } = await playAll(t, strings);
    const patterns = Object.values(strings).map(pattern);
    const isOfList = (text) => patterns.some((one) => one.test(text.replaceAll(/[\u2066-\u2069]/g, "")));
    const others = said.filter(([text]) => !isOfList(text) && !isLiteral(text) && !/^(zq|https:\/\/zq)/i.test(text));
    assert.deepEqual(others, []);
  });
});

describe("A16, A17: in Arabic", () => {
  const arabic = locale("ar");

  it("every text of every card is Arabic or given, with numbers as the language writes them", async (t) => {
    const { page, said } = await playAll(t, arabic);
    // Names of standards, and how dates and moments are written in them.
    const allowed = /SHA-256|__proto__|Error|JSON|URL|Promise|\{ lines, current \}|2026-01-31T12:00:00Z/g;
    assert.deepEqual(
      hardCoded(said, (text) => /\p{Script=Arabic}|^–$|^SHA-256$/u.test(text), allowed),
      [],
    );
    const written = (number) => page.evaluate((number) => new Intl.NumberFormat("ar").format(number), number);
    const texts = said.map(([text]) => text.replaceAll(/[\u2066-\u2069]/g, ""));
    for (const expected of [
      arabic["form.problem"]
        .replace("{problem}", arabic["form.problem.at_least"])
        .replace("{limit}", await written(2000)),
      arabic["form.problem"]
        .replace("{problem}", arabic["form.problem.more_than"])
        .replace("{limit}", await written(2.5)),
    ]) {
      const found = texts.filter((text) => pattern(expected).test(text));
      assert.equal(found.length, 1, expected);
    }
    const seven = arabic["waiting.approvals"].few.replace("{count}", await written(7));
    assert.ok(
      texts.some((text) => pattern(seven).test(text)),
      "seven approvals are announced",
    );
    assert.ok(
      texts.some((text) => pattern(arabic["waiting.requests"].one).test(text)),
      "and one request",
    );
  });

  it("the card reads from right to left, and what is given keeps its own direction", async (t) => {
    const { page } = await stage(t, arabic);
    await play(page, "every reason");
    const root = await page.evaluateHandle(() => document.querySelector("countersign-approvals").shadowRoot);
    const places = await root.evaluate((root) => {
      const directions = [...root.children].map(({ lang, dir }) => `${lang} ${dir}`);
      const box = (node) => {
        const { left, right } = node.getBoundingClientRect();
        return { left, right };
      };
      /** The places of a text's characters, from the first on. */
      const letters = (node) => {
        const text = document.createTreeWalker(node, NodeFilter.SHOW_TEXT).nextNode();
        return Array.from({ length: text.length }, (_, place) => {
          const range = document.createRange();
          range.setStart(text, place);
          range.setEnd(text, place + 1);
          return range.getBoundingClientRect().left;
        });
      };
      const card = root.querySelector("[part=card]");
      const values = [...card.querySelectorAll("dd > *, dt, code, bdi")];
      const number = values.find(({ textContent }) => textContent === "-5");
      const title = document.createRange();
      title.selectNodeContents(card.querySelector("[part=title]"));
      return {
        directions,
        apart: values.map((node) => getComputedStyle(node).unicodeBidi),
        number: letters(number),
        tool: letters(card.querySelector("[part=tool] code")),
        title: { ...box(title), ends: box(card.querySelector("[part=title]")).right },
        name: box(card.querySelector("dt")),
        value: box(card.querySelector("dd > *")),
        deny: box(card.querySelector("[part=deny]")),
        approve: box(card.querySelector("[part=approve]")),
      };
    });
    const isRising = (list) => list.length > 1 && list.every((place, at) => at === 0 || place > list[at - 1]);
    assert.deepEqual(new Set(places.directions), new Set(["ar rtl"]));
    assert.ok(places.apart.length > 10);
    for (const kind of places.apart) assert.match(kind, /isolate|plaintext/);
    assert.ok(isRising(places.number), "-5 is read from left to right");
    assert.ok(isRising(places.tool), "and so is the tool's name");
    assert.ok(places.name.left > places.value.right, "an argument's value is at the left of its name");
    assert.ok(places.deny.left > places.approve.right, "the first button is the right one");
    assert.ok(
      Math.abs(places.title.right - places.title.ends) < 2,
      "a title of the other direction stands at the start",
    );
  });

  it("a receipt has its mark at the right and its digest from left to right", async (t) => {
    const { page } = await stage(t, arabic);
    await play(page, "every decision");
    const receipt = page.locator("[part=receipt]").first();
    const found = await receipt.evaluate((node) => {
      const style = getComputedStyle(node);
      const code = node.querySelector("code");
      const digits = [0, 11].map((place) => {
        const range = document.createRange();
        range.setStart(code.firstChild, place);
        range.setEnd(code.firstChild, place + 1);
        return range.getBoundingClientRect().left;
      });
      const left = (part) => node.querySelector(part).getBoundingClientRect().left;
      return {
        mark: [style.borderRightWidth, style.borderLeftWidth],
        corners: [style.borderTopRightRadius, style.borderTopLeftRadius],
        rises: digits[1] > digits[0],
        dismissFirst: left("[part=dismiss]") < left("strong"),
      };
    });
    assert.deepEqual(found, { mark: ["3px", "0px"], corners: ["2px", "8px"], rises: true, dismissFirst: true });
  });
});
