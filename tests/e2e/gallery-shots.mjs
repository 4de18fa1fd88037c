/**
 * Pictures of every state of the card in every look, for people to judge: `npm --prefix www run gallery:shots`, or with the
 * names of looks behind `--`. They go to a temporary folder, whose name is printed.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { arm, looking, openGallery } from "./gallery.mjs";
import { launch, serveSite } from "./harness.mjs";

const LOOKS = {
  light: { width: 1280, colorScheme: "light" },
  dark: { width: 1280, colorScheme: "dark" },
  narrow: { width: 320 },
  "large-text": { width: 640, text: "200%" },
  rtl: { width: 640, query: { locale: "ar" } },
  "forced-colours": { width: 1280, forcedColors: "active" },
  print: { width: 720, media: "print" },
};

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "countersign-gallery-"));
const ends = [];
const script = { after: (end) => ends.unshift(end) };
const browser = await launch();
try {
  const site = await serveSite(script);
  for (const [name, { query, ...look }] of Object.entries(LOOKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    const page = await openGallery(browser, script, site, { query });
    await looking(page, look, async () => {
      await arm(page);
      for (const figure of await page.locator("figure").all()) {
        const state = await figure.getAttribute("data-state");
        await figure.screenshot({ path: join(folder, `${name}-${state}.png`), animations: "disabled" });
      }
      await page.screenshot({ path: join(folder, `${name}.png`), fullPage: true });
    });
  }
} finally {
  for (const end of ends) await end();
  await browser.close();
}
console.log(folder);
