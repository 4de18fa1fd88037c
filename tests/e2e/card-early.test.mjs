/**
 * What a person is told whose click decides nothing, since the button was not armed: once for each press, however long a
 * key is held, on the card and by the page's one region.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, button, clicksOf, isArmed, keepMoving, left, middle, openCards, outcomeOf } from "./guard.mjs";

const EARLY = "Nothing was decided: this button was not ready yet. Press it again.";

/** What the cards and the bar above them say of clicks that decided nothing. */
const lines = (page) =>
  page.evaluate(() => [...window.element.shadowRoot.querySelectorAll(".said")].map(({ textContent }) => textContent));

/** Notes what the page's one region says from now on. */
const listen = (page) =>
  page.evaluate(() => {
    const region = document.querySelector("[role=status]");
    window.heard = [];
    new MutationObserver(() => window.heard.push(region.textContent)).observe(region, { childList: true });
  });
const heard = (page) => page.evaluate(() => window.heard.splice(0));

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    it("A5: who presses before a button is armed is told so, and what to do", async (t) => {
      const { page } = await openCards(t, browser);
      await listen(page);
      for (const part of ["approve", "deny"]) {
        for (const key of ["Enter", " ", "mouse"]) {
          await keepMoving(page);
          const pressed = await button(page, part);
          if (key === "mouse") {
            const { x, y } = await middle(pressed);
            await page.mouse.click(x, y);
          } else {
            await pressed.focus();
            await page.keyboard.press(key);
          }
          const { trusted, armed } = (await clicksOf(page)).at(-1);
          assert.deepEqual([trusted, armed], [true, false], `${key} clicked, and too early`);
          assert.deepEqual([await lines(page), await heard(page)], [[EARLY], [EARLY]], `${key} on ${part}`);
        }
      }
      assert.deepEqual(await outcomeOf(page), { waiting: 1, sent: 0 });
      // As it says: the next press decides, and takes that back.
      await (await armedButton(page)).focus();
      await page.keyboard.press("Enter");
      await left(page, 0);
      assert.deepEqual(await lines(page), []);
    });

    it("A5: a key that is held says it once, and goes on deciding nothing", async (t) => {
      const { page } = await openCards(t, browser);
      await listen(page);
      await keepMoving(page);
      await (await button(page)).focus();
      for (let repeats = 0; repeats < 8; repeats += 1) await page.keyboard.down("Enter");
      await armedButton(page);
      for (let repeats = 0; repeats < 8; repeats += 1) await page.keyboard.down("Enter");
      const clicks = await clicksOf(page);
      assert.ok(clicks.some(({ armed }) => armed) && clicks.some(({ armed }) => !armed), "before arming and after");
      assert.deepEqual([await lines(page), await heard(page)], [[EARLY], [EARLY]]);
      await page.keyboard.up("Enter");
      assert.deepEqual(await outcomeOf(page), { waiting: 1, sent: 0 });
    });

    it("A5: a press that began before arming and ended after it is told so, too", async (t) => {
      const { page } = await openCards(t, browser);
      const { x, y } = await middle(await armedButton(page));
      await page.evaluate(() => {
        const again = () => window.element.shadowRoot.querySelector("[part=approve]").ariaDisabled;
        window.dispatchEvent(new Event("focus"));
        if (!again()) throw new Error("it waits anew");
      });
      await page.mouse.move(x, y);
      await page.mouse.down();
      await armedButton(page);
      await page.mouse.up();
      assert.deepEqual(await lines(page), [EARLY]);
      await (await armedButton(page)).click();
      await left(page, 0);
    });

    it("A5: who clicks a covered button is told what is wrong", async (t) => {
      const { page } = await openCards(t, browser);
      const { x, y } = await middle(await armedButton(page));
      await page.evaluate(() => {
        window.element.style.opacity = "0.5";
      });
      await waitFor(page, () => window.buttons().at(-1).title);
      await listen(page);
      await page.mouse.click(x, y);
      const [said] = await lines(page);
      assert.match(said, /^Something covers this button or changes its look/);
      assert.deepEqual(await heard(page), [said]);
    });

    it("A5, A11: the buttons about several cards say it, too", async (t) => {
      const { page } = await openCards(t, browser, { cards: 2 });
      await listen(page);
      await keepMoving(page);
      const all = await waitFor(page, () => window.element.shadowRoot.querySelector("[part=deny-all]"));
      await all.focus();
      await page.keyboard.press("Enter");
      assert.deepEqual([await lines(page), await heard(page)], [[EARLY], [EARLY]]);
      assert.deepEqual(await outcomeOf(page), { waiting: 2, sent: 0 });
      await armedButton(page, "deny-all");
      await page.keyboard.press("Enter");
      await left(page, 0);
      assert.deepEqual(await lines(page), []);
    });

    it("A5: nobody is told that a decision came to nothing which did not", async (t) => {
      const { page } = await openCards(t, browser);
      await listen(page);
      const deny = await armedButton(page, "deny");
      await deny.focus();
      for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      await left(page, 0);
      assert.deepEqual(await lines(page), []);
      assert.ok(!(await heard(page)).includes(EARLY));
      assert.equal(await isArmed(page, "dismiss"), false);
    });
  });
}
