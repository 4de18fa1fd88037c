/**
 * What the tests of chats that last share: a model with turns that a test writes down, tools that work and are counted
 * at the server, pages that may come and go, and what must hold however they did.
 */
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { setImmediate } from "node:timers/promises";
import { STRICT_POLICY } from "../../www/demo/server.mjs";
import { openTab, serve, waitFor } from "./browsers.mjs";
import { messagesOf, toolMessagesOf } from "./harness.mjs";
import { checkHistories, event, stream, text } from "./scripted.mjs";

const PAGE = readFileSync(new URL("page/durable.html", import.meta.url));

/** A door: who asks waits until it is opened. */
export function door() {
  let open;
  const opened = new Promise((resolve) => {
    open = resolve;
  });
  return { opened, open };
}

/** An answer that stops half way until the door is opened. */
export const half = ({ opened }) => ({
  ...stream(),
  chunks: (async function* () {
    yield event({ content: "Half of " });
    await opened;
    yield event({ content: "it." });
    yield event({}, "stop");
    yield "data: [DONE]\n\n";
  })(),
});

/**
 * A server whose model gives, after each message of a person, these turns in order and then "The end."; each is a
 * function. It keeps `work`: what tools were asked for, as `{ tool, key, gone }`, where `gone` says that the page did not
 * wait for the end; and lets a test `hold` a tool.
 *
 * @param {import("node:test").TestContext} t
 */
export async function workshop(t, turns) {
  const work = [];
  const held = new Map();
  let previews = 0;
  const route = (request, response) => {
    const { pathname } = new URL(request.url, "http://localhost");
    if (pathname === "/chat") {
      // With `no-store` a page is kept out of the back/forward cache.
      const caching = request.url.includes("no-store") ? "no-store" : "no-cache";
      const headers = { "content-security-policy": STRICT_POLICY, "cache-control": caching };
      response.writeHead(200, { "content-type": "text/html", ...headers });
      response.end(PAGE);
    } else if (pathname === "/preview") {
      response.end(`version ${site.version ?? ++previews}`);
    } else if (pathname.startsWith("/work/")) {
      answer(pathname.slice("/work/".length), request, response);
    } else {
      return false;
    }
    return true;
  };
  async function answer(tool, request, response) {
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const { idempotencyKey: key } = JSON.parse(Buffer.concat(pieces).toString());
    const done = { tool, key, gone: false };
    work.push(done);
    response.on("close", () => {
      done.gone = !response.writableFinished;
    });
    await held.get(tool)?.opened;
    response.end(`${tool}: done`);
  }
  const model = (body) => {
    const messages = messagesOf({ body });
    const since = messages.slice(messages.findLastIndex(({ role }) => role === "user") + 1);
    const turn = turns[since.filter(({ role }) => role === "assistant").length];
    return turn ? turn() : text("The end.");
  };
  const site = Object.assign(await serve(t, { model, route }), {
    work,
    /** What a preview says; counts up if undefined. */
    version: "1",
    /** Has a tool wait until it is released. */
    hold: (tool) => held.set(tool, door()),
    release(tool) {
      held.get(tool)?.open();
      held.delete(tool);
    },
    /** How often each tool ran, by name. */
    counts() {
      const counts = {};
      for (const { tool } of work) counts[tool] = (counts[tool] ?? 0) + 1;
      return counts;
    },
  });
  t.after(() => {
    for (const { open } of held.values()) open();
  });
  return site;
}

/** Waits until so many calls have reached the server and are as wanted. */
export async function waitForWork(site, count, wanted = () => true) {
  const end = performance.now() + 15_000;
  while (site.work.filter(wanted).length < count) {
    if (performance.now() > end) throw new Error(`not ${count} calls after 15 seconds: ${JSON.stringify(site.work)}`);
    await setImmediate();
  }
}

/** Opens the page in a tab of the context, with these settings (see page/durable.mjs), and waits for its chat. */
export async function openChat(context, t, site, settings = {}, { base = site.url, search = "", before } = {}) {
  const query = new URLSearchParams({ settings: JSON.stringify(settings) });
  const page = await openTab(context, t, `${base}/chat?${query}&${search}`, before);
  await ready(page);
  return page;
}

export const ready = async (page) => {
  await waitFor(page, () => window.rig);
};

/** Waits until the chat of the page has this status. */
export const status = (page, wanted) => waitFor(page, (wanted) => window.rig.chat.snapshot().status === wanted, wanted);

/** The page's snapshot, without what of an answer has arrived. */
export const snapshotOf = (page) =>
  page.evaluate(() => {
    const { streaming: _, ...rest } = window.rig.chat.snapshot();
    return rest;
  });

export const send = (page, message = "Do it.") =>
  page.evaluate((message) => void window.rig.chat.send(message), message);

/** Decides about the first pending request by the page's own code; gives `applied`, `already` or an error's code. */
export const decide = (page, approve, by = "ada") =>
  page.evaluate(
    async (approve, by) => {
      const { chat } = window.rig;
      const [{ id }] = chat.snapshot().requests;
      return chat.decide(id, { approve, by }).then(
        ({ result }) => result,
        ({ code }) => code,
      );
    },
    approve,
    by,
  );

/** Starts `chat.resume()`, `stop()`, …; what goes wrong comes out in what the chat then is. */
export const start = (page, method) =>
  page.evaluate((method) => void window.rig.chat[method]().catch(() => {}), method);

export const callsIn = ({ messages }) => messages.flatMap(({ calls = [] }) => calls);

/**
 * What must hold at the end, whatever happened before: each call has one result, the same in every request that
 * carries it; every request was a valid history; all pages show the same; no call ran twice unless `again` says so.
 */
export async function checkEnd(site, pages, { again = [] } = {}) {
  const [first, ...others] = await Promise.all(pages.map(snapshotOf));
  for (const other of others) assert.deepEqual(other, first);
  for (const call of callsIn(first)) assert.equal(call.state, "settled", call.tool);
  checkHistories(site.requests.filter(({ body }) => body.includes('"role":"tool"')));
  const results = callsIn(first).map(({ result }) => result.text);
  for (const request of site.requests) {
    const told = toolMessagesOf(request).map(({ content }) => content);
    assert.deepEqual(told, results.slice(0, told.length));
  }
  const keys = site.work.filter(({ tool }) => !again.includes(tool)).map(({ key }) => key);
  assert.equal(new Set(keys).size, keys.length, "no call ran twice");
  return first;
}
