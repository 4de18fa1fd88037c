/**
 * Pictures of every state of the card in every look, for people to judge: `npm --prefix www run gallery:shots`, or with the
 * names of looks behind `--`. They go to a temporary folder, whose name is printed. A picture holds as many states as can be
 * read in it: of all at once the browser draws only parts.
 */
import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { arm, looking, openGallery, STATES } from "./gallery.mjs";
import { launch, serveSite } from "./harness.mjs";

/** `column` is how wide each state is: what a page of that width leaves it. */
const LOOKS = {
  light: { column: 596, colorScheme: "light" },
  dark: { column: 596, colorScheme: "dark" },
  german: { column: 596, query: { locale: "de" } },
  narrow: { column: 288 },
  "large-text": { column: 608, text: "200%" },
  rtl: { column: 596, query: { locale: "ar" } },
  "narrow-rtl": { column: 288, query: { locale: "ar" } },
  "forced-colours": { column: 596, forcedColors: "active" },
  focus: { column: 596, focus: true },
  print: { column: 596, media: "print" },
};

/** Size of a picture in pixels, and the gap between its columns. */
const [WIDTH, HEIGHT, GAP] = [1280, 1500, 24];

const wanted = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "countersign-gallery-"));
const ends = [];
const script = { after: (end) => ends.unshift(end) };
const browser = await launch();
try {
  const site = await serveSite(script);
  for (const [name, look] of Object.entries(LOOKS)) {
    if (wanted.length > 0 && !wanted.includes(name)) continue;
    await shootTogether(site, name, look);
    for (const { name: state } of STATES.filter(({ alone }) => alone)) await shootAlone(site, name, look, state);
  }
} finally {
  for (const end of ends) await end();
  await browser.close();
}
console.log(folder);

async function shootTogether(site, name, { column, query, focus, ...look }) {
  const page = await openGallery(browser, script, site, { query });
  // Large text can be read in a picture that is made smaller.
  const scale = look.text ? 2 : 1;
  const [width, height] = [WIDTH * scale, HEIGHT * scale];
  await looking(page, { width, ...look }, async () => {
    await inColumns(page, column);
    const heights = await page
      .locator("figure")
      .evaluateAll((figures) => figures.map((figure) => figure.getBoundingClientRect().height));
    const columns = Math.floor((width + GAP) / (column + GAP));
    for (const [place, states] of pictures(heights, columns * height).entries()) {
      await page.locator("figure").evaluateAll((figures, shown) => {
        for (const [at, figure] of figures.entries()) figure.hidden = !shown.includes(at);
      }, states);
      // A picture of the page before would keep its height.
      await page.setViewportSize({ width, height: 200 });
      // On paper there are no buttons.
      if (look.media !== "print") await arm(page, "figure:not([hidden]) ");
      if (focus) await focusAll(page);
      const path = join(folder, `${name}-${String(place + 1).padStart(2, "0")}.png`);
      await page.locator("#states").screenshot({ path, animations: "disabled" });
    }
  });
  await page.close();
}

async function shootAlone(site, name, { query, column, focus, ...look }, state) {
  const page = await openGallery(browser, script, site, { query: { ...query, state } });
  // Its buttons are not armed yet: so it looks as it comes.
  await looking(page, { ...look, width: column + 32 }, () =>
    page.screenshot({ path: join(folder, `${name}-${state}.png`), animations: "disabled" }),
  );
  await page.close();
}

/** Which states go into each picture: so many that its columns, `room` high together, are full. */
function pictures(heights, room) {
  const all = [[]];
  let filled = 0;
  for (const [at, height] of heights.entries()) {
    if (filled > 0 && filled + height > room) {
      all.push([]);
      filled = 0;
    }
    all.at(-1).push(at);
    filled += height + 32;
  }
  return all;
}

/** Has the states stand in columns of this width, whatever their groups are, and nothing beside them. */
function inColumns(page, column) {
  return page.evaluate(
    ([column, gap]) => {
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(`
        header, #theme, #states h2 { display: none !important; }
        body, main { max-inline-size: none !important; padding: 0 !important; margin: 0 !important; }
        #states { display: block; columns: ${column}px; column-gap: ${gap}px; padding: 8px; }
        #states section, .cards { display: contents; }
        figure { inline-size: ${column - 16}px; padding-block: 8px; break-inside: avoid; }
        figure[hidden] { display: none; }`);
      document.adoptedStyleSheets = [sheet];
    },
    [column, GAP],
  );
}

/** Has everything that takes the focus look as if it had it from a key. */
async function focusAll(page) {
  const session = await page.context().newCDPSession(page);
  await session.send("DOM.enable");
  await session.send("CSS.enable");
  const { nodes } = await session.send("DOM.getFlattenedDocument", { depth: -1, pierce: true });
  const takes = new Set(["BUTTON", "A", "INPUT", "SELECT", "TEXTAREA"]);
  for (const { nodeId, nodeName, attributes = [] } of nodes) {
    if (!takes.has(nodeName) && !attributes.includes("tabindex")) continue;
    await session.send("CSS.forcePseudoState", { nodeId, forcedPseudoClasses: ["focus", "focus-visible"] });
  }
}
