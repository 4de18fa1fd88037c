/** What the tests of the gallery share: opening it with every card at rest, and running axe in it. */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { STATES } from "../../www/demo/gallery/states.mjs";
import { openPage } from "./harness.mjs";

export { STATES };

/** Those that stand side by side on one page. */
export const TOGETHER = STATES.filter(({ alone }) => !alone);

/** Strings in `countersign/locales`, which the gallery can show the cards in. */
export const LOCALES = ["en", "ar"];

/** What the page reports of states whose store or rule is broken. */
export const IN_TROUBLE = /the disk cannot be read|calendars is not defined/;

/**
 * Opens the gallery and waits until every state is reached. The clock starts at one moment, so that what the cards say of
 * time is the same for ever.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {{ after(work: () => unknown): void }} t
 * @param {{ url: string }} site
 * @param {{ query?: Record<string, string>, width?: number } & import("playwright-core").BrowserContextOptions} [options]
 */
export async function openGallery(browser, t, site, { query = {}, width = 1280, ...options } = {}) {
  const given = { viewport: { width, height: 800 }, timezoneId: "UTC", locale: "en-US", ...options };
  const page = await openPage(browser, t, "about:blank", given, IN_TROUBLE);
  await page.addInitScript(() => {
    const now = Date.now;
    const start = now();
    Date.now = () => Date.UTC(2026, 1, 1, 12) + now() - start;
  });
  await page.goto(`${site.url}/gallery.html?${new URLSearchParams(query)}`);
  await page.evaluate(() => window.gallery);
  await pressAll(page);
  return page;
}

/** Brings those states about that only a person's click leads to. */
async function pressAll(page) {
  const wanted = STATES.filter(({ press }) => press);
  const found = await shownOn(page);
  const pressed = wanted.filter(({ name }) => found.includes(name));
  if (pressed.length === 0) return;
  const before = page.viewportSize();
  await arm(page);
  // From the end, since a card that grows moves those below it, and a button that was moved waits anew.
  for (const { name, press } of pressed.toReversed()) {
    const figure = page.locator(`figure[data-state="${name}"]`);
    await figure.locator(`[part="${press}"]`).click();
    await figure.locator("[part~='card'] > [part~='problem'], [part~='card'][aria-busy]").waitFor();
  }
  // Where the pointer rests a button would look otherwise.
  await page.mouse.move(0, 0);
  await page.setViewportSize(before);
}

/** Makes the window as high as the page, so that every button of a waiting card is armed, and waits for that: all of those
 * that are within `where`. */
export async function arm(page, where = "") {
  const { width } = page.viewportSize();
  const height = await page.evaluate(() => document.documentElement.scrollHeight);
  // Room for what grows when the width of a scroll bar is gone.
  await page.setViewportSize({ width, height: height + 200 });
  await page.waitForFunction((where) => {
    const roots = [...document.querySelectorAll(`${where}:is(countersign-approvals, countersign-grants)`)].map(
      ({ shadowRoot }) => shadowRoot,
    );
    // One that would approve may stay off for a reason that the card tells, and none takes a click while one is being stored.
    const find = "[part~='card']:not([aria-busy]) :is([part~='deny'], [part~='dismiss'])[aria-disabled]";
    const off = roots.flatMap((root) => [...root.querySelectorAll(find)]);
    return roots.length > 0 && off.length === 0;
  }, where);
}

/**
 * The same page as it looks otherwise, while `work` measures it.
 *
 * @param {import("playwright-core").Page} page
 * @param {{ width?: number, text?: string } & Parameters<import("playwright-core").Page["emulateMedia"]>[0]} look `text` is
 *   the size of the page's text
 */
export async function looking(page, { width = 1280, text = "", ...media }, work) {
  const size = (value) => page.evaluate((to) => document.documentElement.style.setProperty("font-size", to), value);
  await page.setViewportSize({ width, height: 800 });
  await page.emulateMedia(media);
  await size(text);
  const print = (when) => page.evaluate((event) => dispatchEvent(new Event(event)), `${when}print`);
  // The media alone is not all that happens when a page is printed.
  if (media.media === "print") await print("before");
  try {
    return await work(page);
  } finally {
    if (media.media === "print") await print("after");
    await size("");
    await page.emulateMedia({ media: null, colorScheme: null, forcedColors: null, reducedMotion: null });
  }
}

/** The names of the states on the page. */
export const shownOn = (page) =>
  page.locator("figure").evaluateAll((figures) => figures.map(({ dataset }) => dataset.state));

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");

/**
 * What axe says of the page: of each state, and of what is around them under the name "page". It comes in over the debugging
 * protocol, so that the page keeps its policy.
 *
 * @param {import("playwright-core").Page} page
 * @returns {Promise<{ violations: string[], unsure: string[], checked: Record<string, number> }>}
 */
export async function runAxe(page) {
  const session = await page.context().newCDPSession(page);
  const { exceptionDetails } = await session.send("Runtime.evaluate", { expression: AXE });
  assert.equal(exceptionDetails, undefined);
  await session.detach();
  return page.evaluate(async () => {
    const { violations, incomplete, passes } = await window.axe.run(document, { elementRef: true });
    const stateOf = (element) => {
      const { host } = element.getRootNode();
      return (host ?? element).closest("figure")?.dataset.state ?? "page";
    };
    const say = (found) =>
      found.flatMap(({ id, nodes }) =>
        nodes.map(
          ({ element, failureSummary }) =>
            `${stateOf(element)}: ${id}: ${failureSummary} ${element.outerHTML.slice(0, 120)}`,
        ),
      );
    const checked = {};
    for (const { nodes } of passes) {
      for (const { element } of nodes) checked[stateOf(element)] = (checked[stateOf(element)] ?? 0) + 1;
    }
    return { violations: say(violations), unsure: say(incomplete), checked };
  });
}
