/**
 * Chromium and Firefox behind one API, for what must hold in both: `for (const name of BROWSERS)`. Puppeteer drives
 * them, Chromium by its own protocol and Firefox by WebDriver BiDi; input is real, as a person's.
 *
 * @typedef {import("puppeteer-core").Browser} Browser
 * @typedef {import("puppeteer-core").Page} Page
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import { setTimeout } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { build } from "esbuild";
import puppeteer from "puppeteer-core";
import { createServer as createDemo, listen, STRICT_POLICY } from "../../www/demo/server.mjs";

/** Whether to try as often, and as large, as the acceptance list wants it, which takes minutes: `npm run safety` does. */
export const WHOLE = process.env.COUNTERSIGN_SAFETY === "whole";

export const BROWSERS = ["chromium", "firefox"];

/** A name of this machine that browsers do not trust, unlike `localhost`: pages of it have no secure context. */
export const PLAIN_HOST = "plain.test";

const FLAGS = [
  "--no-sandbox",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-dev-shm-usage",
  "--disable-gpu",
  "--disable-sync",
  `--host-resolver-rules=MAP ${PLAIN_HOST} 127.0.0.1`,
];

/**
 * Starts a browser that CHROME or FIREFOX names.
 *
 * @param {"chromium" | "firefox"} name
 * @param {{ userDataDir?: string, prefs?: Record<string, unknown> }} [options] `prefs` are for Firefox alone
 * @returns {Promise<Browser>}
 */
export function launch(name, { prefs, ...options } = {}) {
  if (name === "chromium") {
    return puppeteer.launch({ ...options, executablePath: process.env.CHROME ?? "/usr/bin/chromium", args: FLAGS });
  }
  return puppeteer.launch({
    ...options,
    browser: "firefox",
    executablePath: process.env.FIREFOX ?? "/usr/bin/firefox",
    extraPrefsFirefox: {
      "network.dns.localDomains": PLAIN_HOST,
      // Else the page is blamed for the icon that Firefox asks for and its policy forbids.
      "browser.chrome.site_icons": false,
      ...prefs,
    },
  });
}

const TEST_PAGE = fileURLToPath(new URL("page/", import.meta.url));
const SRC = fileURLToPath(new URL("../../www/src/", import.meta.url));

/** Pages with nothing on them, by path, and the headers that make them what they are. */
const BLANK = {
  "/blank": {},
  // Any site's scripts may be loaded by a page without an origin.
  "/no-origin": { "content-security-policy": "sandbox allow-scripts" },
  "/cleared": { "clear-site-data": '"storage"' },
};

/**
 * The demo's server with the test page at `/test/`, and in front of it: blank pages, and modules of the source that the
 * package does not export, at `/module/<name>.js`, with `?schema=2` as a later version with another schema of the
 * database. Until the test is over.
 *
 * @param {import("node:test").TestContext} t
 * @param {object} [options]
 * @param {(body: string) => any} [options.model] who answers instead of the rehearsal model
 * @param {string} [options.policy] the test page's, if it must hold frames or stand in one
 * @param {(request: import("node:http").IncomingMessage, response: import("node:http").ServerResponse) => boolean} [options.route]
 *   sees every request first, and says whether it answers
 */
export async function serve(t, { route, policy = STRICT_POLICY, ...options } = {}) {
  const demo = createDemo({ ...options, mounts: { "/test/": { folder: TEST_PAGE, policy } } });
  const server = createServer(async (request, response) => {
    const { pathname, searchParams } = new URL(request.url, "http://localhost");
    const module = /^\/module\/(\w+)\.js$/.exec(pathname)?.[1];
    response.setHeader("access-control-allow-origin", "*");
    if (route?.(request, response)) return;
    if (module) {
      response.setHeader("content-type", "text/javascript");
      response.end(await bundle(module, searchParams.get("schema") ?? "1"));
    } else if (pathname in BLANK) {
      response.writeHead(200, { "content-type": "text/html", ...BLANK[pathname] });
      response.end("<!doctype html><title>blank</title><link rel=icon href=data:,>");
    } else {
      demo.emit("request", request, response);
    }
  });
  const url = await listen(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url, plainUrl: url.replace("127.0.0.1", PLAIN_HOST), requests: demo.requests };
}

async function bundle(name, schema) {
  const { outputFiles } = await build({
    entryPoints: [`${SRC}${name}.ts`],
    bundle: true,
    write: false,
    format: "esm",
    target: "es2022",
  });
  const old = "VERSION = 1;";
  assert.ok(schema === "1" || outputFiles[0].text.includes(old));
  return outputFiles[0].text.replace(old, `VERSION = ${schema};`);
}

/**
 * A context of its own, which starts without any storage; its pages are tabs that share theirs.
 *
 * @param {Browser} browser
 * @param {import("node:test").TestContext} t
 */
export async function openContext(browser, t) {
  const context = await browser.createBrowserContext();
  t.after(() => context.close());
  return context;
}

/**
 * Opens a tab. When the test is over it must have had no uncaught error.
 *
 * @param {import("puppeteer-core").BrowserContext} context
 * @param {import("node:test").TestContext} t
 * @param {string} url
 * @param {Function | [Function, ...unknown[]]} [before] runs in the page ahead of its scripts, with what follows it
 * @param {RegExp} [expected] errors that belong to the test
 * @returns {Promise<Page>}
 */
export async function openTab(context, t, url, before, expected) {
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => {
    if (!expected?.test(String(error))) errors.push(String(error));
  });
  t.after(() => assert.deepEqual(errors, []));
  if (before) await page.evaluateOnNewDocument(...[before].flat());
  await page.goto(url);
  return page;
}

/**
 * What `look` gives in the page, as a handle, once that is truthy. Puppeteer's own waiting makes functions of text,
 * which a strict page forbids.
 *
 * @param {Page} page
 * @param {Function} look
 */
export async function waitFor(page, look, ...args) {
  const end = performance.now() + 15_000;
  for (;;) {
    const handle = await page.evaluateHandle(look, ...args);
    if (await handle.evaluate((found) => Boolean(found))) return handle;
    await handle.dispose();
    if (performance.now() > end) throw new Error(`nothing after 15 seconds: ${look}`);
    await setTimeout(20);
  }
}

/**
 * A button of the first open card, once the card accepts it.
 *
 * @param {Page} page
 * @param {"approve" | "deny"} part
 */
export function armed(page, part) {
  const find = (selector) => document.querySelector("countersign-approvals").shadowRoot.querySelector(selector);
  return waitFor(page, find, `[part~="${part}"]:not([aria-disabled="true"])`);
}

/**
 * Presses that button by the mouse or a key.
 *
 * @param {Page} page
 * @param {"approve" | "deny"} part
 * @param {"Enter" | " "} [key]
 */
export async function press(page, part, key) {
  const button = await armed(page, part);
  if (!key) return button.click();
  await button.focus();
  await page.keyboard.press(key);
}

/** Types a message into the test page's composer and sends it with Enter. */
export async function say(page, text) {
  await page.type("#text", text);
  await page.keyboard.press("Enter");
}
