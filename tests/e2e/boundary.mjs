/**
 * What the tests of the boundary share: in each browser a page under the strictest policy, which writes down whatever must
 * not happen on it.
 */
import assert from "node:assert/strict";
import { after, before, describe } from "node:test";
import { BROWSERS, launch, openContext, openTab, serve, waitFor } from "./browsers.mjs";
import { text } from "./scripted.mjs";

/**
 * The same tests in each browser.
 *
 * @param {(own: { name: string, open: (t: import("node:test").TestContext, options?: object) => Promise<Stage> }) => void} tests
 */
export function inEachBrowser(tests) {
  for (const name of BROWSERS) {
    describe(`in ${name}`, () => {
      let browser;
      before(async () => {
        browser = await launch(name);
      });
      after(() => browser?.close());
      tests({
        name,
        open: (t, options) => openStage(browser, t, options),
        context: (t) => openContext(browser, t),
      });
    });
  }
}

/** Runs ahead of the page's scripts. */
function watch() {
  const prototypes = { Object, Array, Function, String, Promise };
  const keys = () =>
    Object.entries(prototypes).flatMap(([name, { prototype }]) =>
      Reflect.ownKeys(prototype).map((key) => `${name}.${String(key)}`),
    );
  const given = keys();
  const strange = [];
  window.strange = () => [
    ...strange,
    ...keys()
      .filter((key) => !given.includes(key))
      .map((key) => `the property ${key}`),
  ];
  addEventListener("securitypolicyviolation", ({ effectiveDirective, blockedURI }) =>
    strange.push(`a violation of ${effectiveDirective} (${blockedURI})`),
  );
  for (const name of ["alert", "confirm", "prompt", "print", "open"]) window[name] = () => strange.push(name);
}

/**
 * @typedef {object} Stage
 * @property {import("puppeteer-core").Page} page
 * @property {{ url: string, requests: { body: string }[] }} site
 * @property {(script: (kit: any) => any, given?: any) => Promise<any>} play runs a script in the page, see page/kit.mjs
 * @property {() => Promise<void>} quiet nothing happened on the page that must not
 */

/**
 * Opens the test page in a context of its own.
 *
 * @param {object} [options]
 * @param {any[] | ((body: string) => any)} [options.model] its answers in turn, then "The end."; or who answers
 * @param {object} [options.settings] see page/page.mjs
 * @param {Function} [options.route] see `serve` in browsers.mjs
 * @param {RegExp} [options.expected] errors that belong to the test
 * @returns {Promise<Stage>}
 */
async function openStage(browser, t, { model = [], settings = {}, route, expected } = {}) {
  const left = Array.isArray(model) ? [...model] : [];
  const site = await serve(t, { model: Array.isArray(model) ? () => left.shift() ?? text("The end.") : model, route });
  const asked = [];
  const page = await openTab(await openContext(browser, t), t, "about:blank", watch, expected);
  page.on("dialog", (dialog) => {
    asked.push(`the dialog "${dialog.message()}"`);
    dialog.dismiss();
  });
  page.on("request", (request) => {
    const { origin, pathname, protocol } = new URL(request.url());
    // Firefox tells of a font of its own, for characters that no other has.
    if (protocol === "data:" && pathname.startsWith("font/")) return;
    if (origin !== site.url || !/^\/(test|dist|v1|favicon\.ico)(\/|$)/.test(pathname)) asked.push(request.url());
  });
  const query = new URLSearchParams({ settings: JSON.stringify(settings) });
  await page.goto(`${site.url}/test/?${query}`);
  await page.evaluate(() => window.ready);
  return {
    page,
    site,
    async play(script, given) {
      const kit = await page.evaluateHandle(async (data) => (await import("/test/kit.mjs")).kit(data), given);
      return page.evaluate(script, kit);
    },
    async quiet() {
      await drawn(page);
      assert.deepEqual([...(await page.evaluate(() => window.strange())), ...asked], []);
    },
  };
}

/** Once the page has drawn twice more. */
export const drawn = (page) =>
  page.evaluate(() => new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done()))));

/**
 * Presses a button of the first card that waits, by the mouse, until that has decided: on a slow machine what is drawn
 * late may move the button again before the click arrives, which then rightly does not count.
 */
export async function pressFirst(page, part) {
  const first = await page.evaluateHandle((part) => {
    const { shadowRoot } = document.querySelector("countersign-approvals");
    const button = shadowRoot.querySelector(`[part~="${part}"]`);
    button.scrollIntoView({ block: "center" });
    return button;
  }, part);
  const isThere = () => first.evaluate((button) => button.isConnected);
  while (await isThere()) {
    await waitFor(page, (button) => !button.isConnected || !button.hasAttribute("aria-disabled"), first);
    if (await isThere()) await first.click();
    const end = performance.now() + 3_000;
    while ((await isThere()) && performance.now() < end);
  }
}

/**
 * All that the cards are made of: the tags, the attributes as `name=value`, the texts, with what fields hold, and the
 * text of each card.
 *
 * @returns {Promise<{ tags: string[], attributes: string[], texts: string[], cards: string[], count: number }>}
 */
export const cardsOf = (page) =>
  page.evaluate(() => {
    const root = document.querySelector("countersign-approvals").shadowRoot;
    const walker = document.createTreeWalker(root);
    const [tags, attributes, texts] = [new Set(), new Set(), []];
    let count = 0;
    while (walker.nextNode()) {
      const node = walker.currentNode;
      count += 1;
      if (node.nodeType === Node.TEXT_NODE) texts.push(node.data);
      if (node.nodeType !== Node.ELEMENT_NODE) continue;
      tags.add(node.localName);
      for (const { name, value } of node.attributes) attributes.add(`${name}=${value}`);
      // A form's own element has a value too, which is what would be sent.
      if (/^(input|textarea|select|option)$/.test(node.localName)) texts.push(node.value);
    }
    const cards = [...root.querySelectorAll("[part~=card]")].map((card) => card.textContent);
    return { tags: [...tags], attributes: [...attributes], texts, cards, count };
  });
