/**
 * How every state of the card looks: on a narrow screen, with large text, from right to left, in light and dark, in forced
 * colours, with less motion, on paper. Pixels are for people to judge, see `npm run gallery:shots`; what can be measured is
 * measured here.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { PARTS, TOKENS } from "../../www/demo/gallery/tokens.mjs";
import { looking, openGallery, STATES, shownOn, TOGETHER } from "./gallery.mjs";
import { layoutFaults, movedBoxes, partBoxes, ringFaults, targetFaults, textFaults } from "./gallery-measure.mjs";
import { launch, serveSite } from "./harness.mjs";

const HEADER = readFileSync(new URL("../../www/src/element.ts", import.meta.url), "utf8");
const CSS = ["tokens", "card", "arguments", "asking"]
  .map((name) => readFileSync(new URL(`../../src/web/card/${name}.css`, import.meta.url), "utf8"))
  .join("");

let browser;
let site;
let page;
let mirrored;
const ends = [];
before(async () => {
  browser = await launch();
  const suite = { after: (end) => ends.unshift(end) };
  site = await serveSite(suite);
  page = await openGallery(browser, suite, site);
  mirrored = await openGallery(browser, suite, site, { query: { dir: "rtl" } });
});
after(async () => {
  for (const end of ends) await end();
  await browser.close();
});

/** What these styles are of every element of each state's card; `find` is a selector within it. */
const stylesOf = (page, find, ...names) =>
  page.evaluate(
    ({ find, names }) =>
      [...document.querySelectorAll("figure")].flatMap((figure) => {
        const root = figure.lastElementChild.shadowRoot;
        return [...root.querySelectorAll(find)].map((element) => {
          const style = getComputedStyle(element);
          const values = Object.fromEntries(names.map((name) => [name, style.getPropertyValue(name)]));
          return { state: figure.dataset.state, ...values };
        });
      }),
    { find, names },
  );

/** What a custom property may change, but of buttons, which also show whether they are armed. */
const looksOf = async (shown) => {
  const names = ["color", "background-color", "border-block-start-color", "border-inline-start-color", "font-family"];
  const more = ["font-style", "border-start-start-radius", "scroll-margin-block-start", "--_focus"];
  return await stylesOf(
    shown,
    "[part~='card'], [part~='receipt'], [part~='problem'], dt, dd > *, code",
    ...names,
    ...more,
  );
};

describe("every state of the card", () => {
  it("A18: is on the gallery's page, and each can be shown alone", async (t) => {
    const names = TOGETHER.map(({ name }) => name);
    assert.deepEqual(await shownOn(page), names);
    assert.ok(names.length > 30, `${names.length} states`);
    const other = await openGallery(browser, t, site, { query: { state: "rows" } });
    assert.deepEqual(await shownOn(other), ["rows"]);
    await other.getByRole("combobox", { name: "State" }).selectOption("nested");
    await other.waitForURL(/\?state=nested$/);
    await other.evaluate(() => window.gallery);
    assert.deepEqual(await shownOn(other), ["nested"]);
  });

  it("A18: has the parts and custom properties that are documented, and no others", async (t) => {
    const listed = (heading) =>
      HEADER.split(`\n * ${heading}`)[1]
        .split("\n *\n")[0]
        .match(/^ \* - `[\w-]+`/gm)
        .map((line) => line.slice(6, -1));
    const sorted = (names) => [...new Set(names)].sort();
    const partsOf = (shown) =>
      shown.evaluate(() =>
        [...document.querySelectorAll("countersign-approvals")].flatMap(({ shadowRoot }) =>
          [...shadowRoot.querySelectorAll("[part]")].flatMap(({ part }) => [...part]),
        ),
      );
    const drawn = await partsOf(page);
    for (const { name } of STATES.filter(({ alone }) => alone)) {
      drawn.push(...(await partsOf(await openGallery(browser, t, site, { query: { state: name } }))));
    }
    const parts = sorted(listed("Parts"));
    assert.deepEqual(sorted(drawn), parts, "in the states of the gallery");
    assert.deepEqual(sorted(PARTS.map(({ name }) => name)), parts, "on its page");
    const tokens = sorted(listed("Custom properties"));
    assert.deepEqual(sorted(CSS.match(/--countersign-[\w-]+/g)), tokens, "in the style sheet");
    assert.deepEqual(sorted(TOKENS.map(({ name }) => name)), tokens, "on its page");
    const observed = await page.evaluate(() => customElements.get("countersign-approvals").observedAttributes ?? []);
    for (const name of observed) assert.ok(listed("Attributes").includes(name), name);
  });

  it("A18: takes each custom property, at once and everywhere", async (t) => {
    const own = await openGallery(browser, t, site, { colorScheme: "light", reducedMotion: "reduce" });
    const values = { color: "#12ab34", text: "20px" };
    const given = { "--countersign-font": "italic 20px/1.5 serif", "--countersign-code-font": "fantasy" };
    for (const { name, kind } of TOKENS) {
      const field = own.getByLabel(name, { exact: true });
      assert.notEqual(await field.inputValue(), "", `${name} starts at the default`);
      const before = await looksOf(own);
      await field.fill(given[name] ?? values[kind]);
      assert.notDeepEqual(await looksOf(own), before, name);
      await own.getByRole("button", { name: "Back to the defaults" }).click();
      assert.deepEqual(await looksOf(own), before, `${name} is taken back`);
    }
  });

  const LOOKS = {
    "at 320 pixels": { width: 320 },
    "at 320 pixels from right to left": { width: 320, dir: "rtl" },
    "at 1280 pixels": { width: 1280 },
    "at 640 pixels with text of 200 %": { width: 640, text: "200%" },
    "at 320 pixels with text of 200 %": { width: 320, text: "200%" },
    "in forced colours": { width: 640, forcedColors: "active" },
  };
  for (const [name, { dir, ...look }] of Object.entries(LOOKS)) {
    it(`A15: fits, overlaps nothing, and can be pressed ${name}`, () =>
      looking(dir === "rtl" ? mirrored : page, look, async (shown) => {
        const [{ "font-size": size }] = await stylesOf(shown, "[part~='why']", "font-size");
        assert.equal(size, look.text ? "32px" : "16px");
        assert.deepEqual(await layoutFaults(shown), []);
        assert.deepEqual(await targetFaults(shown), []);
        assert.deepEqual(await textFaults(shown), []);
      }));
  }

  it("A15: keeps its words whole in other languages at 320 pixels", async (t) => {
    for (const locale of ["de", "ar"]) {
      const other = await openGallery(browser, t, site, { query: { locale } });
      assert.deepEqual(await looking(other, { width: 320 }, textFaults), [], locale);
    }
  });

  it("A8: has no receipt as high as the fields that it replaces, and on paper none with the room of buttons", async () => {
    const heights = () =>
      page.evaluate(() =>
        [...document.querySelectorAll("countersign-approvals")].flatMap(({ shadowRoot }) =>
          [...shadowRoot.querySelectorAll("[part~='receipt']")].map((receipt) => receipt.offsetHeight),
        ),
      );
    const screen = await heights();
    assert.ok(screen.length > 20 && Math.max(...screen) < 300, `${screen}`);
    const paper = await looking(page, { width: 720, media: "print" }, heights);
    assert.ok(Math.max(...paper) < 150, `${paper}`);
  });

  for (const look of [{ colorScheme: "light" }, { colorScheme: "dark" }, { forcedColors: "active" }]) {
    it(`A15: shows where the focus is: ${Object.entries(look)}`, () =>
      looking(page, look, async () => {
        const { faults, rings } = await ringFaults(page);
        assert.deepEqual(faults, []);
        assert.ok(rings > TOGETHER.length, `${rings} rings`);
      }));
  }

  it("A16: is mirrored from right to left, with arguments isolated", async () => {
    const boxes = await looking(page, { width: 640 }, partBoxes);
    assert.ok(boxes.length > 500);
    assert.equal(await mirrored.evaluate(() => document.documentElement.dir), "rtl");
    const others = await looking(mirrored, { width: 640 }, partBoxes);
    assert.equal(others.length, boxes.length);
    assert.deepEqual(movedBoxes(boxes, others), []);
    const isolated = await stylesOf(mirrored, "dt, dd > *", "unicode-bidi");
    assert.ok(isolated.length > 50);
    assert.deepEqual(
      isolated.filter((style) => !["isolate", "plaintext"].includes(style["unicode-bidi"])),
      [],
    );
  });

  it("A16: is laid out by logical properties alone", () => {
    const physical =
      /(?<![\w-])((margin|padding|border)-(left|right|top|bottom)|left|right|top|bottom|(min-|max-)?(width|height)|float|clear)\s*:|text-align:\s*(left|right)|border-radius:[^;]*\d\s+\d/;
    // Of media and container queries the words are physical.
    const faults = CSS.split("\n").filter((line) => !line.startsWith("@") && physical.test(line));
    assert.deepEqual(faults, []);
  });

  it("A16: follows light and dark, and what the page knows better", async (t) => {
    const surface = async (shown) =>
      (await stylesOf(shown, "[part~='card']", "background-color"))[0]["background-color"];
    const [light, dark] = [
      await looking(page, { colorScheme: "light" }, surface),
      await looking(page, { colorScheme: "dark" }, surface),
    ];
    assert.notEqual(light, dark);
    const query = { state: "short-record", scheme: "dark" };
    const always = await openGallery(browser, t, site, { query, colorScheme: "light" });
    assert.equal(await surface(always), dark);
  });

  it("A16: keeps every border and mark in forced colours, and tells an armed button from others", () =>
    looking(page, { forcedColors: "active" }, async () => {
      assert.ok(await page.evaluate(() => matchMedia("(forced-colors: active)").matches));
      const edged = "[part~='card'], button, textarea, [part~='form'] :is(input, select):not([type='checkbox'])";
      for (const style of await stylesOf(page, edged, "border-block-start-width", "border-block-start-style")) {
        assert.deepEqual(style, {
          state: style.state,
          "border-block-start-width": "1px",
          "border-block-start-style": "solid",
        });
      }
      for (const style of await stylesOf(page, "[part~='receipt']", "border-inline-start-width", "background-color")) {
        assert.equal(style["border-inline-start-width"], "3px");
      }
      // Where a text begins and ends is not said by a tint here.
      for (const style of await stylesOf(page, ".block, dd[data-kind='string'] > span", "outline-style")) {
        assert.equal(style["outline-style"], "solid", style.state);
      }
      const wrong = await stylesOf(page, "[aria-invalid='true']", "outline-style");
      assert.ok(wrong.length > 2);
      for (const style of wrong) assert.equal(style["outline-style"], "solid", style.state);
      assert.doesNotMatch(CSS, /forced-color-adjust/);
      const colors = await page.evaluate(() => {
        const { shadowRoot } = document.querySelector("countersign-approvals");
        const button = shadowRoot.querySelector("[part~='deny']").cloneNode();
        shadowRoot.querySelector("[part~='actions']").append(button);
        button.setAttribute("aria-disabled", "true");
        const unarmed = getComputedStyle(button).color;
        button.removeAttribute("aria-disabled");
        const armed = getComputedStyle(button).color;
        button.remove();
        return { armed, unarmed };
      });
      assert.notEqual(colors.armed, colors.unarmed);
    }));

  it("A16: moves nothing for who wants less motion", async () => {
    const moving = ({ "transition-duration": fades, "animation-name": moves }) => fades !== "0s" || moves !== "none";
    const names = ["transition-duration", "animation-name"];
    const styles = () => stylesOf(page, "*", ...names);
    const still = await looking(page, { reducedMotion: "reduce" }, styles);
    assert.ok(still.length > 1000);
    assert.deepEqual(still.filter(moving), []);
    const free = await looking(page, { reducedMotion: "no-preference" }, styles);
    assert.notDeepEqual(free.filter(moving), [], "and something does else");
  });

  it("A16: is on paper without buttons and fields, every argument in full", () =>
    looking(page, { width: 720, media: "print" }, async () => {
      const faults = await page.evaluate(() =>
        [...document.querySelectorAll("figure")].flatMap(({ dataset, lastElementChild: { chat, shadowRoot } }) => {
          const seen = [...shadowRoot.querySelectorAll("*")].filter(
            (element) => element.checkVisibility() && element.type !== "hidden",
          );
          const pressed = seen.filter((element) => element.matches("button, input, select, textarea"));
          // Text in a line has no height of its own.
          const cut = seen.filter(
            (element) =>
              element.clientHeight > 1 &&
              (element.scrollHeight > element.clientHeight + 1 || element.scrollWidth > element.clientWidth + 1),
          );
          const texts = new Set(seen.map(({ textContent }) => textContent));
          // A card whose arguments a person changes shows those.
          const isEdited = shadowRoot.querySelector("[data-edited]") !== null;
          const requests = isEdited ? [] : (chat?.snapshot().requests ?? []);
          const missing = requests
            .flatMap(({ view }) => view.arguments)
            .filter(({ text, changes }) => text !== "" && !changes && !texts.has(text));
          return [
            ...pressed.map((element) => `${dataset.state}: on paper: ${element.outerHTML.slice(0, 90)}`),
            ...cut.map((element) => `${dataset.state}: not in full: ${element.outerHTML.slice(0, 90)}`),
            ...missing.map(({ path }) => `${dataset.state}: missing: ${path}`),
          ];
        }),
      );
      assert.deepEqual(faults, []);
      assert.deepEqual(await layoutFaults(page), []);
      const heads = await stylesOf(
        page,
        "[part~='title'], [part~='why'], [part~='receipt'], [part~='hints']",
        "display",
      );
      assert.deepEqual(
        heads.filter(({ display }) => display === "none"),
        [],
      );
    }));
});
