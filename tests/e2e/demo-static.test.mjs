/** The demo as `run build:demo` writes it, on a host that knows nothing but files, and under a path of its own. */
import assert from "node:assert/strict";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { extname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { STATES } from "../../www/demo/gallery/states.mjs";
import { listen } from "../../www/demo/server.mjs";
import { writeDemo } from "../../www/scripts/demo.mjs";
import { answer, decide, ready } from "./demo.mjs";
import { IN_TROUBLE } from "./gallery.mjs";
import { cardOf, launch, openPage, say } from "./harness.mjs";

/** What even an old host knows; it has no type for wasm and none for .mjs. */
const TYPES = { ".html": "text/html", ".js": "text/javascript", ".css": "text/css", ".svg": "image/svg+xml" };
const PREFIX = "/some/where/";

let browser;
let folder;
let server;
let url;
let missing;

before(async () => {
  browser = await launch();
  folder = mkdtempSync(join(tmpdir(), "countersign-"));
  await writeDemo(folder);
  server = http.createServer((request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    try {
      const name = pathname.startsWith(PREFIX) ? pathname.slice(PREFIX.length) || "index.html" : "../outside";
      const bytes = readFileSync(join(folder, name));
      response.writeHead(200, { "content-type": TYPES[extname(name)] ?? "application/octet-stream" });
      response.end(bytes);
    } catch {
      missing.push(`${request.method} ${request.url}`);
      response.writeHead(404).end();
    }
  });
  url = await listen(server);
});

after(async () => {
  await browser.close();
  server.close();
  server.closeAllConnections();
  rmSync(folder, { recursive: true });
});

async function open(t, expected) {
  missing = [];
  const page = await openPage(browser, t, `${url}${PREFIX}`, undefined, expected);
  await ready(page);
  return page;
}

describe("the static demo", () => {
  it("works under a path, with the model in the page", async (t) => {
    const page = await open(t);
    await say(page, "Rewrite the page's title");
    await decide(cardOf(page, "Update the page"), "Approve");
    await answer(page, "is called");
    assert.match(await page.locator("#page-title").textContent(), /^Pictures could not be uploaded/);
    assert.deepEqual(missing, [], "nothing is asked for that is not there");

    const { messages } = JSON.parse(await page.locator("#request").textContent());
    assert.equal(await page.locator("#results > li > pre").first().textContent(), messages.at(-1).content);
    assert.match(await page.locator("#request-about").textContent(), /^Request 3: .* answered with 200\.$/);
  });

  it("has the gallery of the card, every state of it", async (t) => {
    missing = [];
    const page = await openPage(browser, t, `${url}${PREFIX}gallery.html`, undefined, IN_TROUBLE);
    await page.evaluate(() => window.gallery);
    assert.equal(await page.locator("figure").count(), STATES.filter(({ alone }) => !alone).length);
    assert.deepEqual(missing, [], "nothing is asked for that is not there");
    await page.getByRole("link", { name: "The demo" }).click();
    await ready(page);
    await page.getByRole("link", { name: "Gallery of the card" }).click();
    await page.waitForURL(`${url}${PREFIX}gallery.html`);
  });

  it("brings the languages of the cards", async (t) => {
    const page = await open(t);
    await page.getByRole("button", { name: "Settings" }).click();
    await page.getByRole("combobox", { name: "Language of the cards" }).selectOption("Deutsch");
    await page.keyboard.press("Escape");
    await say(page, "Rewrite the page's title");
    await page.getByRole("button", { name: "Ablehnen" }).waitFor();
    assert.deepEqual(missing, [], "nothing is asked for that is not there");
  });

  it("brings its policy along, since the host sends none", async (t) => {
    const page = await open(t, /TrustedHTML/);
    const blocked = await page.evaluate(() => {
      try {
        document.querySelector("#page-title").innerHTML = "<b>bold</b>";
        return false;
      } catch (error) {
        return error instanceof TypeError;
      }
    });
    assert.ok(blocked, "text does not become markup");
    const policy = await page.locator("meta[http-equiv='content-security-policy']").getAttribute("content");
    assert.doesNotMatch(policy, /unsafe-inline|'unsafe-eval'|frame-ancestors/);
  });

  it("holds nothing of the server, and no address but relative ones", () => {
    const files = readdirSync(folder, { recursive: true }).filter((name) => extname(name) !== "");
    assert.ok(files.includes("index.html") && files.includes(join("dist", "countersign_bg.wasm")));
    for (const name of files) {
      assert.match(name, /\.(html|css|js|json|svg|wasm)$/);
      const text = readFileSync(join(folder, name), "utf8");
      assert.doesNotMatch(text, /node:(http|fs|path)/, name);
      if (name.endsWith(".html")) assert.doesNotMatch(text, /(src|href)="(\/|https?:)/, name);
    }
  });
});
