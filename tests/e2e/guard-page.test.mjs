/**
 * A page that nobody looks at arms nothing: a hidden tab, a window or a frame without the focus, a page that comes out of
 * the back/forward cache. Each test first makes sure that the page is in the state it is about.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { META_POLICY } from "../../www/demo/policy.mjs";
import { BROWSERS, launch, openTab, waitFor } from "./browsers.mjs";
import { armedButton, aWhile, isArmed, left, logOf, openCards, outcomeOf, showCards } from "./guard.mjs";

const PENDING = { waiting: 1, sent: 0 };

const stateOf = (place) =>
  place.evaluate(() => ({ hidden: document.hidden, focused: document.hasFocus(), armed: window.log.at(-1).kind }));

/** What became of arming, for the button that approves. */
const armingsOf = async (place) =>
  (await logOf(place)).filter(({ kind, part }) => part === "approve" && ["armed", "off"].includes(kind));

const now = (place) => place.evaluate(() => performance.now());

/** The page has come back no earlier than at `since`: half a second lies between, but for the rounding of clocks. */
async function checkArmedAnew(place, since) {
  const [off, armed] = (await armingsOf(place)).slice(-2);
  assert.deepEqual([off.kind, armed.kind], ["off", "armed"]);
  assert.ok(armed.time - since >= 498, JSON.stringify({ since, armed }));
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    it("A5: a hidden tab arms nothing, and arms anew when it is visible", async (t) => {
      const { page, site, context } = await openCards(t, browser);
      await armedButton(page);
      const other = await openTab(context, t, `${site.url}/test/`);
      await showCards(other);
      await other.bringToFront();
      await waitFor(page, () => document.hidden);
      await aWhile(other);
      const { hidden, armed } = await stateOf(page);
      assert.deepEqual([hidden, armed], [true, "off"]);
      const since = await now(page);
      await page.bringToFront();
      const button = await armedButton(page);
      assert.equal(await page.evaluate(() => document.hidden), false);
      await checkArmedAnew(page, since);
      await button.click();
      await left(page, 0);
    });

    it("A5: a card that came while the tab was hidden arms once it is visible", async (t) => {
      const { page, site, context } = await openCards(t, browser);
      const other = await openTab(context, t, `${site.url}/test/`);
      await showCards(other);
      await page.bringToFront();
      await waitFor(other, () => document.hidden);
      await aWhile(page);
      assert.equal(await other.evaluate(() => document.hidden), true);
      assert.equal(await isArmed(other), false);
      await other.bringToFront();
      await (await armedButton(other)).click();
      await left(other, 0);
    });

    // Browsers take the focus from a tab that they hide, most of the time: the page's own word has to be enough.
    it("A5: a page that says it is hidden arms nothing, though it has the focus, and looks no more", async (t) => {
      const countsTimers = () => {
        const own = window.setTimeout;
        window.timers = 0;
        window.setTimeout = (...all) => {
          window.timers += 1;
          return own.apply(window, all);
        };
      };
      const { page } = await openCards(t, browser, { before: countsTimers });
      await armedButton(page);
      const says = (hidden) =>
        page.evaluate((hidden) => {
          Object.defineProperty(document, "hidden", { configurable: true, get: () => hidden });
          document.dispatchEvent(new Event("visibilitychange", { bubbles: true }));
        }, hidden);
      await says(true);
      const { hidden, focused, armed } = await stateOf(page);
      assert.deepEqual([hidden, focused, armed], [true, true, "off"]);
      const timers = await page.evaluate(async () => {
        const before = window.timers;
        // Longer than arming takes, and than it waits between two looks.
        const end = performance.now() + 600;
        while (performance.now() < end) await new Promise((drawn) => requestAnimationFrame(drawn));
        return window.timers - before;
      });
      assert.equal(timers, 0);
      // Whatever has it look.
      await page.evaluate(() => dispatchEvent(new Event("blur")));
      assert.equal(await isArmed(page), false);
      await says(false);
      await (await armedButton(page)).click();
      await left(page, 0);
    });

    it("A5: a page that is shown again arms anew, even if nothing else tells of that", async (t) => {
      const { page } = await openCards(t, browser);
      await armedButton(page);
      const { hidden, focused } = await stateOf(page);
      assert.deepEqual([hidden, focused], [false, true]);
      const since = await now(page);
      await page.evaluate(() => {
        window.log.splice(0);
        dispatchEvent(new PageTransitionEvent("pageshow", { persisted: true }));
      });
      await waitFor(page, () => window.log.some(({ kind, part }) => kind === "off" && part === "approve"));
      const button = await armedButton(page);
      await checkArmedAnew(page, since);
      await button.click();
      await left(page, 0);
    });

    // Without a screen each of Chromium's windows has the focus: there the frame below stands for it.
    if (name === "firefox") {
      it("A5: a window without the focus arms nothing, and arms anew when it has it again", async (t) => {
        const { page, site } = await openCards(t, browser);
        await armedButton(page);
        const other = await browser.newPage({ type: "window" });
        t.after(() => other.close());
        await other.goto(`${site.url}/test/`);
        await showCards(other);
        await waitFor(page, () => !document.hasFocus());
        await aWhile(other);
        const { hidden, focused, armed } = await stateOf(page);
        assert.deepEqual([hidden, focused, armed], [false, false, "off"]);
        const since = await now(page);
        await page.bringToFront();
        const button = await armedButton(page);
        await checkArmedAnew(page, since);
        await button.click();
        await left(page, 0);
      });
    }

    it("A5: a frame without the focus arms nothing, and the click that brings it decides nothing", async (t) => {
      const { page, site } = await openCards(t, browser, { policy: `${META_POLICY}; frame-src http:` });
      await page.evaluate((src) => {
        const frame = document.createElement("iframe");
        frame.style.cssText =
          "position: fixed; inset: 700px auto auto 0; inline-size: 600px; block-size: 600px; border: 0";
        frame.src = src;
        document.body.append(frame);
      }, `${site.url}/test/`);
      const frame = await (await page.waitForSelector("iframe")).contentFrame();
      await waitFor(frame, () => window.rig);
      await showCards(frame);
      await page.focus("#text");
      await aWhile(page);
      assert.deepEqual(await frame.evaluate(() => [document.hidden, document.hasFocus()]), [false, false]);
      assert.equal(await isArmed(frame), false);
      const button = await waitFor(frame, () => window.buttons().at(-1));
      await button.click();
      assert.equal(await frame.evaluate(() => document.hasFocus()), true);
      assert.deepEqual(await outcomeOf(frame), PENDING);
      await armedButton(frame);
      await button.click();
      await left(frame, 0);
    });

    it("A5: a page out of the back/forward cache arms anew, and its card works", async (t) => {
      const { page, site } = await openCards(t, browser);
      await page.evaluate(() => {
        addEventListener("pageshow", ({ persisted, timeStamp }) => {
          Object.assign(window, { restored: persisted, restoredAt: timeStamp });
        });
      });
      await armedButton(page);
      await page.goto(`${site.url}/blank`);
      // Firefox tells of no load when a page comes out of its cache, and Puppeteer would wait for one.
      if (name === "firefox") await page.evaluate(() => history.back());
      else await page.goBack();
      await waitFor(page, () => window.restored !== undefined);
      assert.equal(await page.evaluate(() => window.restored), true);
      await waitFor(
        page,
        () => window.log.filter(({ kind, part }) => kind === "armed" && part === "approve").length === 2,
      );
      await checkArmedAnew(page, await page.evaluate(() => window.restoredAt));
      await (await armedButton(page)).click();
      await left(page, 0);
    });
  });
}
