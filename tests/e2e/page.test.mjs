// The built package in a plain page: no bundler, no import map beyond a path.
import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { createServer } from "node:http";
import { extname, join } from "node:path";
import { after, before, test } from "node:test";
import { chromium } from "playwright-core";

const www = join(import.meta.dirname, "..", "..", "www");
const types = { ".html": "text/html", ".js": "text/javascript", ".wasm": "application/wasm" };

let server;
let browser;
let requested = [];

before(async () => {
  server = createServer(async (request, response) => {
    requested.push(request.url);
    if (request.url === "/") {
      response.setHeader("content-type", "text/html");
      response.end("<!doctype html><title>empty</title><link rel=icon href=data:,>");
      return;
    }
    try {
      const body = await readFile(join(www, new URL(request.url, "http://localhost").pathname));
      response.setHeader("content-type", types[extname(request.url)] ?? "application/octet-stream");
      response.end(body);
    } catch {
      response.statusCode = 404;
      response.end();
    }
  });
  await new Promise((done) => server.listen(0, "127.0.0.1", done));
  browser = await chromium.launch({ executablePath: process.env.CHROME, args: ["--no-sandbox", "--disable-gpu"] });
});

after(async () => {
  await browser?.close();
  server.close();
});

async function openPage() {
  const page = await browser.newPage();
  await page.goto(`http://127.0.0.1:${server.address().port}/`);
  requested = [];
  return page;
}

test("importing the package has no effect on the page", async () => {
  const page = await openPage();
  const { before, after, elements } = await page.evaluate(async () => {
    const look = () => ({
      html: document.documentElement.outerHTML,
      globals: Object.getOwnPropertyNames(window).sort(),
    });
    const define = customElements.define;
    const elements = [];
    customElements.define = (name) => elements.push(name);
    const before = look();
    await import("/dist/index.js");
    const after = look();
    customElements.define = define;
    return { before, after, elements };
  });
  assert.deepEqual(after, before);
  assert.deepEqual(elements, [], "no element is registered");
  assert.ok(requested.includes("/dist/index.js"));
  assert.ok(!requested.some((url) => url.endsWith(".wasm")), "the wasm waits for init");
  await page.close();
});

test("init loads the wasm once, and can be tried again after a failure", async () => {
  const page = await openPage();
  const failure = await page.evaluate(async () => {
    const { init } = await import("/dist/index.js");
    return init("/missing.wasm").then(
      () => "loaded",
      () => "failed",
    );
  });
  assert.equal(failure, "failed");
  requested = [];
  await page.evaluate(async () => {
    const { init } = await import("/dist/index.js");
    await Promise.all([init(), init()]);
    await init();
  });
  assert.deepEqual(requested, ["/dist/countersign_bg.wasm"]);
  await page.close();
});
