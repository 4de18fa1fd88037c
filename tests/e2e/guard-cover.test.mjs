/**
 * What covers a button keeps it from being armed, in each browser as far as it can see; what pages do every day does not.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { META_POLICY } from "../../www/demo/policy.mjs";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, aWhile, isArmed, keepMoving, left, middle, openCards, outcomeOf, showCards } from "./guard.mjs";

/** A policy under which the test page may hold frames and stand in one. */
const FRAMED = `${META_POLICY}; frame-src http:`;

/** Lays something over the middle of the button that approves, and gives it for more to be done to it. */
function lay(style, part = "approve") {
  const { left, top, width, height } = window.buttons().at(-1).getBoundingClientRect();
  const over = document.createElement("div");
  over.dataset.over = part;
  over.style.cssText = `position: fixed; left: ${left}px; top: ${top}px; width: ${width}px; height: ${height}px; background: red; ${style}`;
  document.body.append(over);
}

/** Puts the cards into an element with this style, or into its shadow. */
function wrap(style, mode) {
  const outer = document.createElement("div");
  const inner = document.createElement("div");
  inner.style.cssText = style;
  window.element.before(outer);
  outer.append(inner);
  const place = mode ? outer.attachShadow({ mode }).appendChild(inner) : inner;
  place.append(window.element);
}

const setStyle = (style) => {
  window.element.style.cssText += style;
};

/** Each with what it does in the page, and the browsers that see it. */
const COVERS = {
  "an overlay that takes clicks": { cover: [lay, ""] },
  "an overlay that nobody sees and that takes clicks": { cover: [lay, "opacity: 0"] },
  "an overlay over one corner": { cover: [lay, "width: 25%; height: 12px; max-width: 80px"] },
  "an overlay that lets clicks through": { cover: [lay, "pointer-events: none"], in: ["chromium"] },
  "an overlay over one corner that lets clicks through": {
    cover: [lay, "pointer-events: none; width: 12px; height: 12px"],
    in: ["chromium"],
  },
  "no opacity": { cover: [setStyle, "; opacity: 0"] },
  "little opacity": { cover: [setStyle, "; opacity: 0.01"] },
  "a filter that lets nothing through": { cover: [setStyle, "; filter: opacity(0)"] },
  "a filter that swaps colours": { cover: [setStyle, "; filter: invert(1)"] },
  "no visibility": { cover: [setStyle, "; visibility: hidden"] },
  "no pointer events": { cover: [setStyle, "; pointer-events: none"] },
  "a turn by half": { cover: [setStyle, "; rotate: 180deg"], in: ["chromium"] },
  "a blend with what is behind": { cover: [setStyle, "; mix-blend-mode: difference"], in: ["chromium"] },
  "half of it out of the window": {
    cover: [
      () => {
        const { top, height } = window.buttons().at(-1).getBoundingClientRect();
        window.element.style.translate = `0 ${innerHeight - top - height / 2}px`;
      },
    ],
  },
  "half of it scrolled away": {
    cover: [
      () => {
        const { bottom, height } = window.buttons().at(-1).getBoundingClientRect();
        const { top } = window.element.getBoundingClientRect();
        window.element.style.blockSize = `${bottom - height / 2 - top}px`;
        window.element.style.overflow = "hidden";
      },
    ],
  },
};

/** Has the observer say something untrue of each target, and nothing more until it is told to observe that anew. */
function mislead(untrue) {
  const honest = new Map();
  window.IntersectionObserver = class extends IntersectionObserver {
    constructor(hear, options) {
      super((entries) => {
        for (const entry of entries) {
          const { target } = entry;
          if (!honest.has(target)) hear([{ target, isIntersecting: true, intersectionRatio: 1, ...untrue }]);
          else if (honest.get(target)) hear([entry]);
          if (!honest.has(target)) honest.set(target, false);
        }
      }, options);
    }
    unobserve(target) {
      honest.set(target, true);
      super.unobserve(target);
    }
  };
}

/** What pages do to cards, and the guard takes no offence at. */
const DAILY = {
  "a move": "translate: 20px 10px",
  "a layer of its own": "transform: translateZ(0); will-change: transform, opacity",
  "a shadow, round corners, and what sticks out cut off":
    "box-shadow: 0 0 9px red; border-radius: 20px; overflow: hidden",
  "a scrolling box with faded edges":
    "block-size: 900px; overflow: auto; mask-image: linear-gradient(black 95%, transparent)",
  "a container and a stacking context of its own": "container-type: inline-size; isolation: isolate; z-index: 1",
  "another size": "zoom: 1.2",
};

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const titleOf = (page) => page.evaluate(() => window.buttons().at(-1).title);

    it("clickjacking: a button that is covered is not armed", async (t) => {
      const { page } = await openCards(t, browser);
      const before = await page.evaluate(() => window.element.style.cssText);
      for (const [what, { cover, in: seenIn = BROWSERS }] of Object.entries(COVERS)) {
        if (!seenIn.includes(name)) continue;
        await t.test(`clickjacking: ${what}`, async () => {
          const { x, y } = await middle(await armedButton(page));
          await page.evaluate(...cover);
          await aWhile(page);
          assert.equal(await isArmed(page), false);
          await page.mouse.click(x, y);
          assert.deepEqual(await outcomeOf(page), { waiting: 1, sent: 0 });
        });
        // The same card takes a click once nothing covers it.
        await page.evaluate((before) => {
          document.querySelector("[data-over]")?.remove();
          window.element.style.cssText = before;
        }, before);
      }
      await (await armedButton(page)).click();
      await left(page, 0);
    });

    for (const [what, untrue] of Object.entries({
      "out of view": { isIntersecting: false, intersectionRatio: 0 },
      "half in view": { intersectionRatio: 0.5 },
      covered: { isVisible: false },
    })) {
      it(`A5: a browser that forgets to say that a button is no longer ${what} is asked again`, async (t) => {
        const { page } = await openCards(t, browser, { before: [mislead, untrue] });
        await (await armedButton(page)).click();
        await left(page, 0);
      });
    }

    it("clickjacking: a button that is covered says so for as long", async (t) => {
      const { page } = await openCards(t, browser);
      await armedButton(page);
      assert.equal(await titleOf(page), "");
      await page.evaluate(lay, "");
      await waitFor(page, () => window.buttons().at(-1).title);
      assert.match(await titleOf(page), /^Something covers this button/);
      assert.equal(await page.evaluate(() => window.buttons()[0].title), "", "of its own cover only");
      await page.evaluate(() => document.querySelector("[data-over]").remove());
      await armedButton(page);
      assert.equal(await titleOf(page), "");
    });

    it("A3: a layer that lets clicks through keeps nobody from a no", async (t) => {
      const { page } = await openCards(t, browser);
      await page.evaluate(lay, "left: 0; top: 0; width: 100%; height: 100%; background: none; pointer-events: none");
      await aWhile(page);
      assert.equal(await isArmed(page), name === "firefox");
      await (await armedButton(page, "deny")).click();
      await left(page, 0);
    });

    for (const style of [
      "float: left",
      "display: inline-block",
      "display: flex; justify-content: center",
      "display: grid; place-items: center",
      "position: absolute",
      "position: fixed; top: 0; max-width: 300px",
    ]) {
      it(`A15: a card is wide enough to be read in a box that is as wide as its content: ${style}`, async (t) => {
        const { page } = await openCards(t, browser);
        await page.evaluate(() => window.element.style.removeProperty("inline-size"));
        await page.evaluate(wrap, style);
        const { width } = await (await armedButton(page)).boundingBox();
        const card = await page.evaluate(
          () => window.element.shadowRoot.querySelector("[part=card]").getBoundingClientRect().width,
        );
        assert.ok(card >= 300 && width >= 100, `${card}, ${width}`);
        await (await armedButton(page)).click();
        await left(page, 0);
      });
    }

    it("clickjacking: a button that moves is not armed", async (t) => {
      const { page } = await openCards(t, browser);
      await keepMoving(page);
      await aWhile(page);
      assert.equal(await isArmed(page), false);
      await page.mouse.click(5, 1_300);
      await (await armedButton(page)).click();
      await left(page, 0);
    });

    for (const [what, style] of Object.entries(DAILY)) {
      it(`clickjacking: no cover is ${what}`, async (t) => {
        const { page } = await openCards(t, browser);
        await page.evaluate(wrap, style);
        await (await armedButton(page)).click();
        await left(page, 0);
      });
    }

    for (const mode of ["open", "closed"]) {
      it(`clickjacking: in a shadow that is ${mode}, the cards are armed, and covers are seen`, async (t) => {
        const { page } = await openCards(t, browser);
        await page.evaluate(wrap, "", mode);
        await armedButton(page);
        await page.evaluate(lay, "");
        await aWhile(page);
        assert.equal(await isArmed(page), false);
        await page.evaluate(() => document.querySelector("[data-over]").remove());
        await armedButton(page);
        await page.evaluate(() => {
          window.element.parentNode.style.opacity = "0.5";
        });
        await aWhile(page);
        assert.equal(await isArmed(page), false);
        await page.evaluate(() => {
          window.element.parentNode.style.opacity = "";
        });
        await (await armedButton(page)).click();
        await left(page, 0);
      });
    }

    it("clickjacking: a card that fades and slides in is armed once it is there", async (t) => {
      const { page } = await openCards(t, browser);
      await page.evaluate(async () => {
        const steps = [
          { opacity: 0, transform: "translateY(20px) scale(0.9)" },
          { opacity: 1, transform: "none" },
        ];
        await window.element.animate(steps, { duration: 200, fill: "both" }).finished;
      });
      await (await armedButton(page)).click();
      await left(page, 0);
    });

    for (const origin of ["the same origin", "another origin"]) {
      /** A page with cards, and in it a frame with cards. */
      async function openFramed(t) {
        const { page, site } = await openCards(t, browser, { policy: FRAMED });
        const host = origin === "the same origin" ? site.url : site.url.replace("127.0.0.1", "localhost");
        await page.evaluate((src) => {
          window.element.style.inlineSize = "480px";
          const frame = document.createElement("iframe");
          frame.style.cssText =
            "position: fixed; inset: 700px auto auto 0; inline-size: 600px; block-size: 600px; border: 0";
          frame.src = src;
          document.body.append(frame);
        }, `${host}/test/`);
        const element = await page.waitForSelector("iframe");
        const frame = await element.contentFrame();
        await waitFor(frame, () => window.rig);
        await showCards(frame);
        // A person who works in the frame has clicked in it.
        await page.mouse.click(20, 1_280);
        return { page, frame, element };
      }

      it(`clickjacking: a card in a frame of ${origin} is decided by a click there`, async (t) => {
        const { frame } = await openFramed(t);
        await (await armedButton(frame)).click();
        await left(frame, 0);
      });

      if (name === "chromium") {
        for (const [what, style] of [
          ["no opacity", "opacity: 0.001"],
          ["a filter", "filter: blur(9px)"],
        ]) {
          it(`clickjacking: a frame of ${origin} with ${what}`, async (t) => {
            const { page, frame, element } = await openFramed(t);
            await armedButton(frame);
            await element.evaluate((frame, style) => {
              frame.style.cssText += `; ${style}`;
            }, style);
            await aWhile(page);
            assert.equal(await isArmed(frame), false);
          });
        }

        it(`clickjacking: an overlay over a frame of ${origin} that lets clicks through`, async (t) => {
          const { page, frame } = await openFramed(t);
          const { x, y } = await middle(await armedButton(frame));
          await page.evaluate(
            (x, y) => {
              const over = document.createElement("div");
              over.style.cssText = `position: fixed; left: ${x - 5}px; top: ${y - 5}px; width: 10px; height: 10px; background: red; pointer-events: none`;
              document.body.append(over);
            },
            x,
            y,
          );
          await aWhile(page);
          assert.equal(await isArmed(frame), false);
          await page.mouse.click(x, y);
          assert.deepEqual(await outcomeOf(frame), { waiting: 1, sent: 0 });
        });
      }
    }
  });
}
