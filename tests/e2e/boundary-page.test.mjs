/**
 * The boundary of the page: its key, its policy, its storage, and pages and browsers that end in the middle. In each
 * browser.
 */
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import http from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { it } from "node:test";
import { listen, STRICT_POLICY } from "../../www/demo/server.mjs";
import { inEachBrowser, pressFirst } from "./boundary.mjs";
import { launch, openTab, serve, WHOLE, waitFor } from "./browsers.mjs";
import {
  callsIn,
  checkEnd,
  decide,
  openChat,
  ready,
  send,
  snapshotOf,
  start,
  status,
  waitForWork,
  workshop,
} from "./durable.mjs";
import { calls, text } from "./scripted.mjs";

const KEY = "sk-not-to-be-seen-4b1d";
const REDIRECTS = [301, 302, 303, 307, 308];
const eat = () => calls(["eat", "{}"]);

/** A server of another origin, which lets every page in and keeps what it gets. */
async function otherServer(t) {
  const got = [];
  const server = http.createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", request.headers.origin ?? "*");
    response.setHeader("access-control-allow-credentials", "true");
    response.setHeader("access-control-allow-headers", "authorization, x-api-key, content-type");
    if (request.method === "OPTIONS") return response.end();
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    got.push({ url: request.url, headers: request.headers, body: Buffer.concat(pieces).toString() });
    response.writeHead(200, { "content-type": "text/event-stream" });
    response.end(text("From elsewhere.").chunks.join(""));
  });
  const url = await listen(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url, got };
}

/** All that a page keeps: every database, both storages, the cookies, the caches. */
const everythingKept = async () => {
  const all = [
    JSON.stringify({ ...localStorage }),
    JSON.stringify({ ...sessionStorage }),
    document.cookie,
    location.href,
  ];
  all.push(...(await caches.keys()));
  const settled = (request) =>
    new Promise((done, failed) => {
      request.onsuccess = () => done(request.result);
      request.onerror = () => failed(request.error);
    });
  for (const { name } of await indexedDB.databases()) {
    const database = await settled(indexedDB.open(name));
    for (const store of database.objectStoreNames) {
      const opened = database.transaction(store).objectStore(store);
      all.push(JSON.stringify([await settled(opened.getAllKeys()), await settled(opened.getAll())]));
    }
    database.close();
  }
  return all.join("\n");
};

inEachBrowser(({ name, open, context }) => {
  it("boundary/key: a server that redirects elsewhere gives neither the key nor the message away", async (t) => {
    const other = await otherServer(t);
    const route = (request, response) => {
      const code = Number(/^\/redirect\/(\d+)\//.exec(request.url)?.[1]);
      if (!code) return false;
      response.writeHead(code, { location: `${other.url}/taken/${code}` });
      response.end();
      return true;
    };
    const site = await serve(t, { route });
    // No policy stands in the way here: what holds is the request itself.
    const page = await openTab(await context(t), t, `${site.url}/blank`, undefined, /./);
    const told = await page.evaluate(
      async (KEY, codes) => {
        const library = await import("/dist/index.js");
        await library.init();
        const headers = async () => ({ authorization: `Bearer ${KEY}`, "x-api-key": KEY });
        const attempt = async (code) => {
          const model = library.openaiChat({ baseUrl: `/redirect/${code}`, model: "m", headers });
          const agent = library.createAgent({ user: null, model, tools: [], store: library.memoryStore() });
          return (await (await agent.open("c")).send(`${KEY} in the message`)).status;
        };
        // At once, since each is tried again after a while.
        const ends = await Promise.all(codes.map(attempt));
        // The browser would have followed, and told the other server.
        await fetch("/redirect/307/", { method: "POST", headers: { "x-api-key": KEY }, body: "followed" });
        return ends;
      },
      KEY,
      REDIRECTS,
    );
    assert.deepEqual(
      told,
      REDIRECTS.map(() => "error"),
    );
    assert.deepEqual(
      other.got.map(({ url, headers, body }) => [url, headers["x-api-key"], body]),
      [["/taken/307", KEY, "followed"]],
    );
  });

  it("boundary/key: it is in the request's headers, and in nothing that is kept, said or exported", async (t) => {
    const other = await otherServer(t);
    const answers = [eat(), text("The end.")];
    const site = await serve(t, { model: () => answers.shift() });
    const page = await openTab(await context(t), t, `${site.url}/blank`);
    const said = [];
    page.on("console", (message) => said.push(message.text()));
    const told = await page.evaluate(
      async (KEY, elsewhere) => {
        // biome-ignore lint/suspicious/noDocumentCookie: Firefox has no other way.
        document.cookie = "session=COOKIE";
        const library = await import("/dist/index.js");
        await library.init();
        library.defineElements();
        const element = document.body.appendChild(document.createElement("countersign-approvals"));
        const headers = async () => ({ authorization: `Bearer ${KEY}`, "x-api-key": KEY });
        const eat = library.tool({ name: "eat", inputSchema: { type: "object" }, run: () => "eaten" });
        const agentOf = (baseUrl, more) =>
          library.createAgent({
            user: { id: "ada" },
            model: library.openaiChat({ baseUrl, model: "m", headers, ...more }),
            tools: [eat],
          });
        const agent = agentOf("/v1");
        const chat = await agent.open("c");
        element.chat = chat;
        const seen = [];
        chat.subscribe(() => seen.push(JSON.stringify(chat.snapshot())));
        await chat.send("Eat.");
        const waiting = JSON.stringify(await agent.pending());
        await (await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" })).continuation;
        const exports = [];
        for (const privacy of ["metadata", "redacted", "full"]) exports.push(await chat.export({ privacy }));
        exports.push(await agent.exportLog("c"));
        // A server that is not there, and one of another origin, with and without its cookies.
        const errors = [];
        for (const [url, more] of [
          ["http://127.0.0.1:1/v1", {}],
          [`${elsewhere}/v1`, {}],
          [`${elsewhere}/v1`, { credentials: "include" }],
        ]) {
          const { status, error } = await (await agentOf(url, more).open(url + Object.keys(more))).send("Hello.");
          errors.push([status, JSON.stringify(error ?? null)]);
        }
        const refused = ["http://example.org/v1", "ftp://example.org", "javascript:alert(1)"].map((url) => {
          try {
            agentOf(url);
            return "taken";
          } catch ({ code }) {
            return code;
          }
        });
        return {
          seen,
          waiting,
          exports,
          errors,
          refused,
          drawn: element.shadowRoot.textContent + document.body.innerHTML,
        };
      },
      KEY,
      other.url,
    );
    assert.deepEqual(
      told.errors.map(([status]) => status),
      ["error", "done", "done"],
    );
    assert.deepEqual(told.refused, Array(3).fill("invalid_options"));
    for (const { headers } of [...site.requests, ...other.got]) {
      assert.deepEqual([headers.authorization, headers["x-api-key"]], [`Bearer ${KEY}`, KEY]);
    }
    const cookies = other.got.map(({ headers }) => headers.cookie);
    assert.deepEqual(cookies, [undefined, "session=COOKIE"], "another origin gets cookies only where the host says so");
    const kept = await page.evaluate(everythingKept);
    assert.match(kept, /eaten/, "the chat is in there");
    const places = {
      ...told,
      kept,
      said,
      bodies: [...site.requests, ...other.got].map(({ body, url }) => [body, url]),
    };
    for (const [place, found] of Object.entries(places)) {
      assert.ok(!JSON.stringify(found).includes(KEY), `the key is in ${place}`);
    }
  });

  it("boundary/csp: a whole run under the strictest policy, from a module by its address, breaks none of it", async (t) => {
    const input = {
      type: "object",
      properties: { name: { type: "string" }, size: { enum: ["s", "m"], type: "string" } },
    };
    const model = [calls(["ask", "{}"], ["go", "{}"]), eat(), calls(["eat", '{"n":2}']), text("The end.")];
    // Firefox tells of violations as errors too; those of the end are made on purpose.
    const { page, site, play, quiet } = await open(t, { model, expected: /Content-Security-Policy/ });
    const response = await fetch(`${site.url}/test/`);
    assert.equal(response.headers.get("content-security-policy"), STRICT_POLICY);
    for (const part of [
      "script-src 'self' 'wasm-unsafe-eval'",
      "style-src 'none'",
      "require-trusted-types-for 'script'",
      "trusted-types 'none'",
      "default-src 'none'",
    ]) {
      assert.ok(STRICT_POLICY.split("; ").includes(part), part);
    }
    assert.doesNotMatch(await response.text(), /<style|style=|importmap|<script(?! type="module" src=)/);
    await play(async ({ agentOf, make, pendingRequest, given }) => {
      const asks =
        (spec) =>
        (_, { answer }) =>
          answer ? "answered" : pendingRequest(spec);
      const agent = agentOf({
        tools: [
          make("ask", { effect: "read", run: asks({ kind: "input", prompt: "Who?", data: { schema: given } }) }),
          make("go", {
            effect: "read",
            run: asks({ kind: "authorization", prompt: "Go.", url: "https://example.org/" }),
          }),
          make("eat", { preview: () => ["One cookie."] }),
        ],
      });
      window.chat = await agent.open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      window.sent = window.chat.send("Go.");
    }, input);
    const left = (count) => waitFor(page, (count) => window.chat.snapshot().requests.length === count, count);
    await left(2);
    await pressFirst(page, "approve");
    await pressFirst(page, "approve");
    await waitFor(page, () => window.chat.snapshot().requests[0]?.kind === "approval");
    await pressFirst(page, "approve");
    await waitFor(page, () => window.chat.snapshot().messages.filter(({ calls }) => calls?.length).length === 3);
    await pressFirst(page, "deny");
    await waitFor(page, () => window.chat.snapshot().status === "done");
    await quiet();
    // The policy is in force, and a violation would have been seen.
    const told = await page.evaluate(() => {
      const attempt = (work) => {
        try {
          work();
          return "done";
        } catch ({ name }) {
          return name;
        }
      };
      const style = document.createElement("style");
      style.textContent = "body { display: none }";
      document.head.append(style);
      return [
        attempt(() => {
          document.body.innerHTML = "<b>x</b>";
        }),
        attempt(() => window.trustedTypes.createPolicy("p", {})),
        getComputedStyle(document.body).display,
      ];
    });
    assert.deepEqual(told, ["TypeError", "TypeError", "block"]);
    await waitFor(page, () => window.strange().length >= 3);
  });

  const shows = (text) =>
    [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part~=card] *")].some(
      ({ textContent }) => textContent.includes(text),
    );
  for (const [when, isRunning] of Object.entries({ "while a card waits": false, "while a tool runs": true })) {
    it(`boundary/storage: a database that is deleted ${when} ends the chat, and nothing more runs`, async (t) => {
      const site = await workshop(t, [eat, eat]);
      const tabs = await context(t);
      const page = await openChat(tabs, t, site);
      // As whoever draws a chat does.
      await page.evaluate(() => window.rig.chat.subscribe(() => window.rig.chat.snapshot()));
      site.hold("eat");
      await send(page);
      await status(page, "pending");
      const approve = () =>
        page.evaluate(async () => {
          const { chat } = window.rig;
          const code = ({ code }) => code;
          const decided = await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" }).catch(code);
          window.end = decided.continuation ? decided.continuation.catch(code) : decided;
        });
      if (isRunning) {
        await approve();
        await waitForWork(site, 1);
      }
      const before = [site.requests.length, site.work.length];
      const other = await openTab(tabs, t, `${site.url}/blank`);
      await other.evaluate(
        () =>
          new Promise((done, failed) => {
            const request = indexedDB.deleteDatabase("countersign");
            request.onsuccess = () => done();
            request.onerror = () => failed(request.error);
          }),
      );
      site.release("eat");
      if (!isRunning) await approve();
      const told = await page.evaluate(async () => {
        const { agent, chat } = window.rig;
        const sent = await chat.send("And now?").catch(({ code }) => code);
        return [await window.end, sent, await agent.chats()];
      });
      assert.deepEqual(told, ["deleted", "deleted", []]);
      const { ended, durable, status: stands } = await snapshotOf(page);
      assert.deepEqual([ended.code, durable, stands], ["deleted", false, isRunning ? "interrupted" : "pending"]);
      const says = isRunning
        ? "It was started; its outcome is not known."
        : "Nothing was decided: this chat was deleted.";
      await waitFor(page, shows, says);
      await page.reload();
      await ready(page);
      assert.equal((await snapshotOf(page)).status, "idle", "there is a new chat in its place");
      assert.deepEqual([site.requests.length, site.work.length], before);
    });
  }

  /** Moments of a run at which its browser is killed, and what has reached the server by then. */
  const KILLS = {
    "while its tool runs": { decided: true, work: 1, met: "interrupted" },
    ...(WHOLE && {
      "while a card waits": { work: 0, met: "pending" },
      "while the model answers": { early: true, work: 0, met: "interrupted" },
      "after its result": { decided: true, released: true, work: 1, met: "done" },
    }),
  };
  it("boundary/twice: a browser that is killed in the middle of a run goes on where it was, and runs no call twice", async (t) => {
    for (const [when, { early, decided, released, work, met }] of Object.entries(KILLS)) {
      const userDataDir = mkdtempSync(join(tmpdir(), "countersign-profile-"));
      let answers = 0;
      let isAsked;
      const asked = new Promise((resolve) => {
        isAsked = resolve;
      });
      const answer = () => {
        isAsked();
        return early && answers++ === 0 ? { ...eat(), chunks: endless() } : eat();
      };
      const site = await workshop(t, [answer]);
      const first = await launch(name, { userDataDir });
      t.after(() => first.process().kill("SIGKILL"));
      const ended = new Promise((gone) => first.process().once("exit", gone));
      const left = await openChat(first.defaultBrowserContext(), { after: () => {} }, site);
      if (!released) site.hold("eat");
      await send(left);
      // The status shows before the message is stored; the model is asked after that.
      if (early) await asked;
      else await status(left, "pending");
      if (decided) await decide(left, true);
      await waitForWork(site, work);
      if (released) await status(left, "done");
      first.process().kill("SIGKILL");
      await ended;
      site.release("eat");

      const second = await launch(name, { userDataDir });
      t.after(async () => {
        await second.close();
        rmSync(userDataDir, { recursive: true, force: true, maxRetries: 5 });
      });
      const page = await openChat(second.defaultBrowserContext(), t, site);
      await status(page, met);
      assert.equal(site.work.length, work, `${when}: opening runs nothing`);
      if (met === "interrupted") await start(page, "resume");
      if (met !== "done") {
        await status(page, "pending");
        const [{ kind }] = (await snapshotOf(page)).requests;
        assert.equal(kind, decided ? "recovery" : "approval", when);
        assert.equal(await decide(page, !decided), "applied", when);
        await status(page, "done");
      }
      const end = await checkEnd(site, [page]);
      assert.deepEqual(site.counts(), { eat: 1 }, when);
      assert.equal(callsIn(end)[0].outcome, met === "interrupted" && decided ? "outcome_unknown" : undefined, when);
    }
  });

  if (name === "chromium") {
    it("boundary/twice: a page that crashes while its tool runs goes on in another tab, and runs no call twice", async (t) => {
      const site = await workshop(t, [eat]);
      const tabs = await context(t);
      const page = await openChat(tabs, { after: () => {} }, site);
      site.hold("eat");
      await send(page);
      await status(page, "pending");
      await decide(page, true);
      await waitForWork(site, 1);
      const session = await page.createCDPSession();
      session.send("Page.crash").catch(() => {});
      await waitForWork(site, 1, ({ gone }) => gone);
      site.release("eat");
      const other = await openChat(tabs, t, site);
      await status(other, "interrupted");
      await start(other, "resume");
      await status(other, "pending");
      assert.equal(await decide(other, false), "applied");
      await status(other, "done");
      const end = await checkEnd(site, [other]);
      assert.deepEqual([callsIn(end)[0].outcome, site.counts()], ["outcome_unknown", { eat: 1 }]);
    });
  }
});

/** An answer that begins and does not end. */
async function* endless() {
  yield ": begun\n\n";
  await new Promise(() => {});
}
