/** axe-core over every state of the card. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { arm, LOCALES, openGallery, runAxe, STATES, TOGETHER } from "./gallery.mjs";
import { launch, serveSite } from "./harness.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("axe", () => {
  for (const locale of LOCALES) {
    it(`A15: finds nothing in any state, light or dark: ${locale}`, async (t) => {
      const page = await openGallery(browser, t, await serveSite(t), {
        query: locale === "en" ? {} : { locale },
        reducedMotion: "reduce",
      });
      await arm(page);
      for (const colorScheme of ["light", "dark"]) {
        await page.emulateMedia({ colorScheme });
        const { violations, unsure, checked } = await runAxe(page);
        // Other pages have one list of permissions.
        const found = violations.filter((one) => !one.startsWith("grants: landmark-unique"));
        assert.deepEqual(found, [], colorScheme);
        // It measures no text before a gradient, which shows where a long text or a wide table goes on, nor in it a number of
        // one digit; none of which a part is scrolled out of sight; and no sign without letters: the words beside it have
        // its colour.
        const hard = /gradient|content is too short|partially obscured|only non-text characters/;
        const open = unsure.filter((one) => !hard.test(one));
        assert.deepEqual(open, [], colorScheme);
        for (const { name } of TOGETHER) assert.ok(checked[name] > 10, `${name}: ${checked[name]} checks`);
      }
    });
  }

  for (const { name } of STATES.filter(({ alone }) => alone)) {
    it(`A15: finds nothing in the state that is shown alone: ${name}`, async (t) => {
      // A colour on its way to another one is none to measure.
      const page = await openGallery(browser, t, await serveSite(t), {
        query: { state: name },
        reducedMotion: "reduce",
      });
      const { violations, checked } = await runAxe(page);
      // HTML gives a dialog no role for while it is none; it takes this one.
      const isClosed = (found) => /aria-allowed-role.*role none.*<dialog/s.test(found);
      assert.deepEqual(
        violations.filter((found) => !isClosed(found)),
        [],
      );
      assert.ok(checked[name] > 10);
    });
  }

  it("A15: would find a colour that cannot be read in each of them", async (t) => {
    const page = await openGallery(browser, t, await serveSite(t));
    await page.evaluate(() => {
      for (const token of ["ink", "muted"])
        document.documentElement.style.setProperty(`--countersign-${token}`, "#ddd");
    });
    const { violations } = await runAxe(page);
    const found = new Set(violations.filter((one) => one.includes("color-contrast")).map((one) => one.split(":")[0]));
    for (const { name } of TOGETHER) assert.ok(found.has(name), name);
  });
});
