/**
 * What the browser tests share: a browser, a server that records the model's requests, and the few gestures a
 * person makes. Clicks and keys are real input, since the card trusts nothing else.
 */
import assert from "node:assert/strict";
import { fileURLToPath } from "node:url";
import { chromium } from "playwright-core";
import { createServer, listen, STRICT_POLICY } from "../../www/demo/server.mjs";

const PAGE = fileURLToPath(new URL("page/", import.meta.url));

/** The browser contexts that a test has opened. */
const contexts = new WeakMap();

/** Starts the Chromium that CHROME names. */
export function launch() {
  return chromium.launch({
    executablePath: process.env.CHROME ?? "/usr/bin/chromium",
    args: [
      "--no-sandbox",
      "--disable-background-networking",
      "--disable-component-update",
      "--disable-dev-shm-usage",
      "--disable-gpu",
      "--disable-sync",
    ],
  });
}

/**
 * Serves the demo at `/`, the package at `/dist/` and the test page at `/test/`, and records every model request,
 * until the test is over.
 *
 * @param {import("node:test").TestContext} t
 * @param {{ model?: (body: string) => any, policy?: string }} [options] who answers instead of the rehearsal model, and
 *   the test page's policy if it must reach other origins
 */
export async function serveSite(t, { policy = STRICT_POLICY, ...options } = {}) {
  const server = createServer({ ...options, mounts: { "/test/": { folder: PAGE, policy } } });
  const url = await listen(server);
  t.after(async () => {
    // A page that outlives its server by a moment would complain.
    for (const context of contexts.get(t) ?? []) await context.close();
    server.close();
    server.closeAllConnections();
  });
  return { url, requests: server.requests };
}

/** A model that is another server: the recorded bytes are what that server gets. */
export function forwardTo(baseUrl) {
  return async (body) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${baseUrl}/v1/chat/completions`, { method: "POST", headers, body });
    return { status: response.status, contentType: response.headers.get("content-type"), chunks: response.body };
  };
}

/**
 * Opens a page in a browser context of its own, which starts without any storage. When the test is over, the page
 * must have had no error: neither an exception nor a violation of its security policy.
 *
 * @param {import("playwright-core").Browser} browser
 * @param {import("node:test").TestContext} t
 * @param {string} url
 * @param {import("playwright-core").BrowserContextOptions} [options]
 * @param {RegExp} [expected] errors that belong to the test, such as a response of 500
 */
export async function openPage(browser, t, url, options, expected) {
  const context = await browser.newContext(options);
  contexts.set(t, [...(contexts.get(t) ?? []), context]);
  const page = await context.newPage();
  const errors = [];
  page.on("pageerror", (error) => {
    if (!expected?.test(String(error))) errors.push(String(error));
  });
  page.on("console", (message) => {
    if (message.type() === "error" && !expected?.test(message.text())) errors.push(message.text());
  });
  t.after(async () => {
    await context.close();
    assert.deepEqual(errors, []);
  });
  await page.goto(url);
  return page;
}

/**
 * Opens the test page and waits for its chat.
 *
 * @param {object} settings see page/page.mjs
 */
export async function openTestPage(browser, t, site, settings = {}, expected = undefined) {
  const query = new URLSearchParams({ settings: JSON.stringify(settings) });
  const page = await openPage(browser, t, `${site.url}/test/?${query}`, undefined, expected);
  await page.evaluate(() => window.ready);
  return page;
}

/** Types a message into the page's composer and sends it with Enter. */
export async function say(page, text) {
  await page.getByRole("textbox", { name: "Message" }).fill(text);
  await page.getByRole("textbox", { name: "Message" }).press("Enter");
}

/** The open approval card of a call, found by its tool's name or title. */
export function cardOf(page, tool) {
  return page
    .getByRole("group", { name: tool })
    .filter({ has: page.getByRole("button", { name: "Deny", exact: true }) });
}

/**
 * Presses a card's button with the mouse, once the card accepts it.
 *
 * @param {import("playwright-core").Locator | import("playwright-core").Page} within
 * @param {string} name
 */
export async function press(within, name) {
  // A button that is out of view never arms.
  await within.getByRole("button", { name, exact: true }).scrollIntoViewIfNeeded();
  const armed = within.getByRole("button", { name, exact: true, disabled: false });
  await armed.waitFor();
  await armed.click();
}

/** Waits until the test page's run has this status. */
export async function waitForStatus(page, status) {
  await page.waitForFunction((wanted) => window.rig.chat.snapshot().status === wanted, status);
}

/** How often each tool of the test page ran. */
export function runsOf(page) {
  return page.evaluate(() => window.rig.runs);
}

/** The messages of a recorded request. */
export function messagesOf({ body }) {
  return JSON.parse(body).messages;
}

/** The tool messages of a recorded request, in order. */
export function toolMessagesOf(request) {
  return messagesOf(request).filter(({ role }) => role === "tool");
}

/**
 * The content of each tool message as it stands in the request's bytes, escapes and all.
 *
 * @returns {string[]} JSON string literals
 */
export function rawResultsOf({ body }) {
  const literals = [...body.matchAll(/"content":("(?:[^"\\]|\\.)*")/g)].map(([, literal]) => literal);
  const contents = messagesOf({ body }).map(({ content }) => content);
  const results = new Set(toolMessagesOf({ body }).map(({ content }) => content));
  assert.deepEqual(
    literals.map((literal) => JSON.parse(literal)),
    contents.filter((content) => typeof content === "string"),
    "every content in the bytes is a content of the messages",
  );
  return literals.filter((literal) => results.has(JSON.parse(literal)));
}
