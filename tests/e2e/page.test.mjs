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

test("a model of another wire needs the module that has it, and init loads that instead", async () => {
  const page = await openPage();
  // What createAgent says of each constructor's model, after init with these arguments.
  const tried = (...args) =>
    page.evaluate(async (given) => {
      const { anthropic, createAgent, gemini, init, memoryStore, openaiChat, openaiResponses } = await import(
        "/dist/index.js"
      );
      await init(...given);
      const create = (model) => createAgent({ user: null, store: memoryStore(), model }).dispose();
      return [openaiChat, openaiResponses, anthropic, gemini].map((model) => {
        try {
          create(model({ baseUrl: "/v1", model: "m" }));
          return "created";
        } catch ({ name, code, message }) {
          return `${name} ${code}: ${message}`;
        }
      });
    }, args);

  const refused = (api) =>
    `CountersignError invalid_options: options.model: this wasm module does not speak "${api}": await init({ wires: "all" }), before any other init().`;
  assert.deepEqual(await tried(), ["created", ...["openai-responses", "anthropic", "gemini"].map(refused)]);
  await page.reload();
  requested = [];
  assert.deepEqual(await tried({ wires: "all" }), Array(4).fill("created"));
  assert.deepEqual(
    requested.filter((url) => url.endsWith(".wasm")),
    ["/dist/countersign_all_bg.wasm"],
  );
  await page.close();
});

test("a chat runs over each wire of the larger module", async () => {
  const page = await openPage();
  const answers = await page.evaluate(async () => {
    const { anthropic, createAgent, gemini, init, memoryStore, openaiChat, openaiResponses } = await import(
      "/dist/index.js"
    );
    await init({ wires: "all" });
    const event = (data) => `data: ${JSON.stringify(data)}\n\n`;
    const message = { type: "message", role: "assistant", content: [{ type: "output_text", text: "Hello." }] };
    const wires = [
      [openaiChat, { choices: [{ index: 0, delta: { content: "Hello." }, finish_reason: "stop" }] }],
      [openaiResponses, { type: "response.completed", response: { status: "completed", output: [message] } }],
      [
        anthropic,
        { type: "message_start", message: { id: "m" } },
        { type: "content_block_start", index: 0, content_block: { type: "text", text: "Hello." } },
        { type: "content_block_stop", index: 0 },
        { type: "message_delta", delta: { stop_reason: "end_turn" } },
        { type: "message_stop" },
      ],
      [gemini, { candidates: [{ content: { role: "model", parts: [{ text: "Hello." }] }, finishReason: "STOP" }] }],
    ];
    const answers = [];
    for (const [model, ...events] of wires) {
      const body = events.map(event).join("");
      const fetch = async () => new Response(body, { headers: { "content-type": "text/event-stream" } });
      const agent = createAgent({
        user: null,
        store: memoryStore(),
        model: model({ baseUrl: "/v1", model: "m", fetch }),
      });
      const chat = await agent.open("chat");
      const { status, text } = await chat.send("Hi.");
      answers.push(`${status}: ${text}`);
      agent.dispose();
    }
    return answers;
  });
  assert.deepEqual(answers, Array(4).fill("done: Hello."));
  await page.close();
});
