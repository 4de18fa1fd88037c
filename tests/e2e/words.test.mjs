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
  await page.setViewportSize({ width: 700, height: 3000 });
  await page.evaluate(
    async ({ strings, old }) => {
      const { kit } = await import("/test/kit.mjs");
      const { scenes } = await import("/test/scenes.mjs");
      const element = document.querySelector("countersign-approvals");
      window.said = new Map();
      const note = (text, where) => text.trim() === "" || window.said.has(text) || window.said.set(text, where);
      const look = () => {
        for (const node of element.shadowRoot.querySelectorAll("*")) {
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
      new MutationObserver(look).observe(element.shadowRoot, options);
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

/** Everything that was said, with where. */
async function playAll(t, strings) {
  const { page, names } = await stage(t, strings);
  for (const name of names) await play(page, name);
  return { page, said: await page.evaluate(() => [...window.said]) };
}

/** A text without the scenes' data, and without marks of direction. */
function withoutData(text) {
  return text.replaceAll(/(?:https:\/\/)?zq[\w.@/?=:-]*/gi, "").replaceAll(/[\u2066-\u2069]/g, "");
}

/** Values that are no words, and digests. */
const isLiteral = (text) => /^(?:true|null|-5|\[\]|\{\}|\[""\]|[0-9a-f]{12}|[0-9a-f]{64})$/.test(text);

/** What a message of the list looks like, whatever its values are. */
function pattern(phrase) {
  const forms = typeof phrase === "string" ? [phrase] : Object.values(phrase);
  const literal = (text) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, "\\$&");
  return new RegExp(
    `^(?:${forms
      .map((form) =>
        form
          .split(/\{\w+\}/)
          .map(literal)
          .join(".*?"),
      )
      .join("|")})$`,
    "su",
  );
}

/** Keys that no scene of this page can bring about, with the reason. */
const UNREACHED = {
  "why.undecided": "every call gets a verdict",
  "lapsed.unanswered": "only a host's own answer, which is a decision",
};

describe("A17: in a language that nobody speaks", () => {
  it("every text of every card is looked up or given, and nothing is hard-coded", async (t) => {
    const strings = pseudo(english);
    const { said } = await playAll(t, strings);
    assert.ok(said.length > 150, `${said.length} texts were seen`);
    const hardCoded = said.filter(([text]) => {
      const isPseudo = /^\[.*~\]$/su.test(text);
      if (!isPseudo && isLiteral(text)) return false;
      return !(isPseudo || /zq/i.test(text)) || /[a-z]/i.test(withoutData(text));
    });
    assert.deepEqual(hardCoded, []);
    const texts = said.map(([text]) => text);
    const unsaid = Object.keys(english).filter((key) => {
      if (/^(locale$|direction$|aspect|rule|type|form\.problem)/.test(key)) return false;
      return !texts.some((text) => pattern(strings[key]).test(text));
    });
    assert.deepEqual(unsaid.sort(), Object.keys(UNREACHED).sort());
  });
});
