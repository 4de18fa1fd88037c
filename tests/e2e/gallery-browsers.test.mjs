/** The gallery in Firefox: what of its look and its semantics can be measured there. In Chromium gallery.test.mjs does it. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, openContext, openTab, serve } from "./browsers.mjs";
import { IN_TROUBLE, TOGETHER } from "./gallery.mjs";
import { layoutFaults, movedBoxes, partBoxes, targetFaults } from "./gallery-measure.mjs";

/** A tab with every state in it. */
async function open(browser, t, query, width = 640) {
  const { url } = await serve(t);
  const address = `${url}/gallery.html?${new URLSearchParams(query)}`;
  const page = await openTab(await openContext(browser, t), t, address, undefined, IN_TROUBLE);
  await page.setViewport({ width, height: 800 });
  await page.evaluate(() => window.gallery);
  return page;
}

/** What these styles are of everything that `find` finds in the cards. */
const stylesOf = (page, find, ...names) =>
  page.evaluate(
    (find, names) =>
      [...document.querySelectorAll("countersign-approvals")].flatMap(({ shadowRoot }) =>
        [...shadowRoot.querySelectorAll(find)].map((element) => {
          const style = getComputedStyle(element);
          return names.map((name) => style.getPropertyValue(name)).join(" ");
        }),
      ),
    find,
    names,
  );

const matches = (page, query) => page.evaluate((asked) => matchMedia(asked).matches, query);

describe("in firefox, dark and with less motion", () => {
  let browser;
  before(async () => {
    browser = await launch("firefox", { prefs: { "ui.systemUsesDarkTheme": 1, "ui.prefersReducedMotion": 1 } });
  });
  after(() => browser?.close());

  it("A15: every state fits into 320 pixels, overlaps nothing, and can be pressed", async (t) => {
    const page = await open(browser, t, {}, 320);
    assert.deepEqual(await layoutFaults(page), []);
    assert.deepEqual(await targetFaults(page), []);
  });

  it("A16: every state is dark, still, and mirrored from right to left", async (t) => {
    const page = await open(browser, t, {});
    assert.ok(await matches(page, "(prefers-color-scheme: dark) and (prefers-reduced-motion: reduce)"));
    const surfaces = new Set(await stylesOf(page, "[part~='card']", "background-color"));
    assert.deepEqual([...surfaces], ["rgb(28, 29, 32)"]);
    const motions = new Set(await stylesOf(page, "*", "transition-duration", "animation-name"));
    assert.deepEqual([...motions], ["0s none"]);
    const mirrored = await open(browser, t, { dir: "rtl" });
    // Where a text changes its direction, Firefox pads each piece of a line.
    assert.deepEqual(movedBoxes(await partBoxes(page), await partBoxes(mirrored), 40), []);
  });

  it("A7: every card is a group, named by its title and described by why it stopped", async (t) => {
    const page = await open(browser, t, {});
    const faults = await page.evaluate(() =>
      [...document.querySelectorAll("figure:has(countersign-approvals)")].flatMap(
        ({ dataset, lastElementChild: { shadowRoot } }) => {
          const cards = [...shadowRoot.querySelectorAll("[part~='card']")];
          const isGroup = (card) => {
            const refers = (to, part) =>
              card
                .getAttribute(to)
                .split(" ")
                .includes(card.querySelector(`[part~='${part}']`).id);
            return card.role === "group" && refers("aria-labelledby", "title") && refers("aria-describedby", "why");
          };
          return cards.length > 0 && cards.every(isGroup) ? [] : [dataset.state];
        },
      ),
    );
    assert.deepEqual(faults, []);
    assert.equal(await page.evaluate(() => document.querySelectorAll("figure").length), TOGETHER.length);
  });

  it("A18: a card of the page's own decides, which the record says came by the API", async (t) => {
    const page = await open(browser, t, { state: "short-record" });
    const told = await page.evaluate(async () => {
      const { chat } = document.querySelector("countersign-approvals");
      const [{ id, view }] = chat.snapshot().requests;
      const { continuation } = await chat.decide(id, { approve: true, by: "grace" });
      await continuation;
      const [{ decision }] = chat.snapshot().messages.find(({ calls }) => calls?.length).calls;
      return { title: view.title, values: view.arguments.map(({ text }) => text), via: decision.via, by: decision.by };
    });
    assert.deepEqual(told, {
      ...{ title: "Add to the calendar", values: ["Tasting", "2026-03-01", "15", "true"] },
      ...{ via: "api", by: "grace" },
    });
  });
});

describe("in firefox, in forced colours", () => {
  let browser;
  before(async () => {
    browser = await launch("firefox", {
      prefs: { "browser.display.document_color_use": 2, "ui.useAccessibilityTheme": 1 },
    });
  });
  after(() => browser?.close());

  it("A16: every border and mark is there in forced colours", async (t) => {
    const page = await open(browser, t, {});
    assert.ok(await matches(page, "(forced-colors: active)"));
    const edges = new Set(await stylesOf(page, "[part~='card'], button, textarea", "border-block-start-style"));
    assert.deepEqual([...edges], ["solid"]);
    const marks = new Set(await stylesOf(page, "[part~='receipt']", "border-inline-start-width"));
    assert.ok(![...marks].includes("0px"));
    const texts = new Set(await stylesOf(page, ".block, dd[data-kind='string'] > span", "outline-style"));
    assert.deepEqual([...texts], ["solid"]);
    assert.deepEqual(await layoutFaults(page), []);
  });
});
