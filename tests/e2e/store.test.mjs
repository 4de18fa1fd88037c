// The store in IndexedDB, in real browsers: what it promises, and what it says when the browser does not play along.
import assert from "node:assert/strict";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { storeConformance } from "../../www/dist/store-conformance.js";
import { BROWSERS, launch, openContext, openTab, serve } from "./browsers.mjs";

/** The suite's names; the cases themselves run in the page. */
const PROMISES = storeConformance(() => {}).map(({ name }) => name);

/** Opens a tab with `store` and short ways to use it; `schema` is the version of the database that its page knows. */
async function openStore(context, t, url, { schema = 1, before } = {}) {
  const page = await openTab(context, t, url, before);
  await page.evaluate(async (schema) => {
    const module = schema === 1 ? "/dist/index.js" : `/module/indexeddb.js?schema=${schema}`;
    window.library = await import(module);
    window.store = window.library.indexedDBStore("chats");
    window.state = ({ durable, trouble = null, readOnly } = window.store) => ({ durable, trouble, readOnly });
    /** What the work rejects with, or null. */
    window.caught = (work) =>
      work().then(
        () => null,
        ({ name, code, message }) => ({ name, code, message }),
      );
    window.opened = (request) =>
      new Promise((done, failed) => {
        request.onsuccess = () => done(request.result);
        request.onerror = () => failed(request.error);
      });
  }, schema);
  return page;
}

function assertStorage(thrown, message) {
  assert.deepEqual([thrown?.name, thrown?.code], ["CountersignError", "storage"]);
  assert.match(thrown.message, message);
}

/** Timers of a page that are due a hundred times as soon. */
const hurry = () => {
  const { setTimeout } = window;
  window.setTimeout = (run, wait) => setTimeout(run, wait / 100);
};

for (const name of BROWSERS) {
  describe(`the store in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    /** Tabs of one fresh context, of a site of their own. */
    async function open(t, options) {
      const site = await serve(t);
      const context = await openContext(browser, t);
      const url = `${site.url}/blank`;
      return { site, context, url, page: await openStore(context, t, url, options) };
    }

    describe("keeps the promise:", () => {
      let page;
      const ends = [];
      before(async () => {
        const site = await serve({ after: (end) => ends.push(end) });
        page = await openTab(await browser.createBrowserContext(), { after: () => {} }, `${site.url}/blank`);
        await page.evaluate(async () => {
          const { indexedDBStore } = await import("/dist/index.js");
          const { storeConformance } = await import("/dist/store-conformance.js");
          window.cases = storeConformance(() => indexedDBStore("conformance"));
        });
      });
      after(() => {
        for (const end of ends) end();
      });

      for (const [index, promise] of PROMISES.entries()) {
        it(promise, async () => {
          assert.equal(await page.evaluate((index) => window.cases[index].run(), index), undefined);
        });
      }

      it("and the suite leaves nothing behind", async () => {
        const left = await page.evaluate(async () => {
          const { indexedDBStore } = await import("/dist/index.js");
          return indexedDBStore("conformance").list();
        });
        assert.deepEqual(left, []);
      });
    });

    it("is opened by the first call, and not before", async (t) => {
      const { page } = await open(t);
      const told = await page.evaluate(async () => {
        const before = (await indexedDB.databases()).length;
        await window.store.list();
        return { before, after: await indexedDB.databases(), state: window.state() };
      });
      assert.equal(told.before, 0);
      assert.deepEqual(told.after, [{ name: "chats", version: 1 }]);
      assert.deepEqual(told.state, { durable: true, trouble: null, readOnly: false });
    });

    it("survives a reload, and a store of another name knows nothing of it", async (t) => {
      const { page, context, url } = await open(t);
      await page.evaluate(async () => {
        await window.store.append("c", 0, ["a", "b"], "h");
        await window.store.saveSnapshot("c", 2, "s");
      });
      await page.close();
      const later = await openStore(context, t, url);
      const told = await later.evaluate(async () => ({
        lines: await window.store.load("c"),
        snapshot: await window.store.loadSnapshot("c"),
        other: await window.library.indexedDBStore("other").list(),
      }));
      assert.deepEqual(told, { lines: ["a", "b"], snapshot: { seq: 2, text: "s" }, other: [] });
    });

    it("lets one of two tabs win that append at once", async (t) => {
      const { page, context, url } = await open(t);
      const other = await openStore(context, t, url);
      // Each tab appends wherever the log ends until it holds 40 lines; each line tells what its writer thought.
      const race = (me) =>
        (async () => {
          const kept = [];
          for (;;) {
            const seq = (await window.store.load("c")).length;
            if (seq >= 40) return kept;
            const thrown = await window.caught(() => window.store.append("c", seq, [`${me}${seq}`], me));
            if (!thrown) kept.push(`${me}${seq}`);
            else if (thrown.code !== "conflict") throw new Error(thrown.message);
          }
        })();
      const kept = await Promise.all([page.evaluate(race, "a"), other.evaluate(race, "b")]);
      const lines = await page.evaluate(() => window.store.load("c"));
      assert.equal(lines.length, 40);
      assert.deepEqual(
        lines.map((line) => line.slice(1)),
        [...lines.keys()].map(String),
      );
      assert.deepEqual(kept.flat().sort(), [...lines].sort(), "what an append resolved for is in the log, once");
    });

    it("writes nothing of an append that fails in the middle", async (t) => {
      const { page } = await open(t);
      const told = await page.evaluate(async () => {
        await window.store.append("c", 0, ["a"], "h");
        const thrown = await window.caught(() => window.store.append("c", 1, ["b", Symbol("no text")], "x"));
        const lines = await window.store.load("c");
        await window.store.append("c", 1, ["b"], "i");
        return { thrown, lines, list: await window.store.list() };
      });
      assertStorage(told.thrown, /reload the page/);
      assert.deepEqual(told.lines, ["a"]);
      assert.deepEqual(told.list, [{ chat: "c", length: 2, head: "i" }]);
    });

    it("resolves an append when its strict transaction is complete", async (t) => {
      const { page } = await open(t);
      const told = await page.evaluate(async () => {
        const { transaction } = IDBDatabase.prototype;
        const seen = [];
        IDBDatabase.prototype.transaction = function (...given) {
          const begun = transaction.apply(this, given);
          seen.push(begun.durability);
          begun.addEventListener("complete", () => seen.push("complete"));
          return begun;
        };
        await window.store.append("c", 0, ["a"], "h");
        seen.push("resolved");
        return seen;
      });
      assert.deepEqual(told, ["strict", "complete", "resolved"]);
    });

    it("has a line that was appended when the browser was killed", async (t) => {
      const userDataDir = mkdtempSync(join(tmpdir(), "countersign-profile-"));
      t.after(() => rmSync(userDataDir, { recursive: true, force: true, maxRetries: 5 }));
      const site = await serve(t);
      const first = await launch(name, { userDataDir });
      const ended = new Promise((done) => first.process().once("exit", done));
      const page = await openStore(first.defaultBrowserContext(), { after: () => {} }, `${site.url}/blank`);
      await page.evaluate(() => window.store.append("c", 0, ["kept"], "h"));
      first.process().kill("SIGKILL");
      await ended;

      const second = await launch(name, { userDataDir });
      t.after(() => second.close());
      const later = await openStore(second.defaultBrowserContext(), t, `${site.url}/blank`);
      assert.deepEqual(await later.evaluate(() => window.store.load("c")), ["kept"]);
    });

    describe("where the database cannot be opened yet", () => {
      it("says so after a while, and goes on once the other tab is gone", async (t) => {
        const { page, context, url } = await open(t);
        await page.evaluate(async () => {
          await window.store.append("c", 0, ["a"], "h");
          window.holder = await window.opened(indexedDB.open("chats"));
        });
        // A later version of the page has to wait for the holder, which does not close.
        const later = await openStore(context, t, url, { schema: 2, before: hurry });
        const thrown = await later.evaluate(() => window.caught(() => window.store.load("c")));
        assertStorage(thrown, /another tab may be in the way: close or reload the other tabs/);
        await page.evaluate(() => window.holder.close());
        // The opening that was late goes on; its second call may still be early.
        const lines = await later.evaluate(async () => {
          for (;;) {
            const lines = await window.store.load("c").catch(() => null);
            if (lines) return lines;
          }
        });
        assert.deepEqual(lines, ["a"]);
      });

      it("says so too where a deletion waits for another tab", async (t) => {
        const { page, context, url } = await open(t);
        await page.evaluate(async () => {
          window.holder = await window.opened(indexedDB.open("chats", 1));
          indexedDB.deleteDatabase("chats");
        });
        const later = await openStore(context, t, url, { before: hurry });
        const thrown = await later.evaluate(() => window.caught(() => window.store.append("c", 0, ["a"], "h")));
        assertStorage(thrown, /another tab may be in the way/);
        await page.evaluate(() => window.holder.close());
        const told = await later.evaluate(async () => {
          for (;;) if (await window.store.list().catch(() => null)) break;
          await window.store.append("c", 0, ["b"], "h");
          return window.store.load("c");
        });
        assert.deepEqual(told, ["b"], "what an append rejected for is not written later");
      });
    });

    describe("of two versions of the page", () => {
      it("gives way to the newer one, and then says to reload", async (t) => {
        const { page, context, url } = await open(t);
        await page.evaluate(() => window.store.append("c", 0, ["a"], "h"));
        const newer = await openStore(context, t, url, { schema: 2 });
        const told = await newer.evaluate(async () => {
          await window.store.append("c", 1, ["b"], "i");
          return { lines: await window.store.load("c"), state: window.state() };
        });
        assert.deepEqual(told.lines, ["a", "b"]);
        assert.equal(told.state.readOnly, false);
        for (const call of ["load", "append", "list", "delete", "saveSnapshot", "loadSnapshot", "rewrite"]) {
          const thrown = await page.evaluate((call) => window.caught(() => window.store[call]("c", 2, [], "x")), call);
          assertStorage(thrown, /newer version of this page: reload/);
        }
      });

      it("reads what the newer one wrote, and writes nothing", async (t) => {
        const { page: newer, context, url } = await open(t, { schema: 2 });
        await newer.evaluate(async () => {
          await window.store.append("c", 0, ["a"], "h");
          await window.store.saveSnapshot("c", 1, "s");
        });
        const older = await openStore(context, t, url);
        const told = await older.evaluate(async () => {
          const { store, caught, state } = window;
          return {
            lines: await store.load("c"),
            list: await store.list(),
            snapshot: (await store.loadSnapshot("c")) ?? null,
            state: state(),
            thrown: [
              await caught(() => store.append("c", 1, ["b"], "i")),
              await caught(() => store.delete("c")),
              await caught(() => store.saveSnapshot("c", 1, "x")),
              await caught(() => store.rewrite("c", [[0, "x"]])),
            ],
            after: await store.load("c"),
          };
        });
        assert.deepEqual(told.lines, ["a"]);
        assert.deepEqual(told.list, [{ chat: "c", length: 1, head: "h" }]);
        assert.equal(told.snapshot, null);
        assert.deepEqual(told.state, { durable: true, trouble: null, readOnly: true });
        for (const thrown of told.thrown) assertStorage(thrown, /newer version of this page wrote.*reload/);
        assert.deepEqual(told.after, ["a"]);
      });
    });

    describe("whose database goes away in use", () => {
      const AWAY = {
        "deleted by a tab": async ({ other }) => other.evaluate(() => window.opened(indexedDB.deleteDatabase("chats"))),
        "cleared by the browser": async ({ other }) => other.evaluate(async () => (await fetch("/cleared")).text()),
      };
      for (const [what, goAway] of Object.entries(AWAY)) {
        it(`conflicts instead of beginning a log in the middle: ${what}`, async (t) => {
          const { page, context, url } = await open(t);
          await page.evaluate(() => window.store.append("c", 0, ["a", "b"], "h"));
          await goAway({ other: await openStore(context, t, url) });
          const told = await page.evaluate(async () => {
            const thrown = await window.caught(() => window.store.append("c", 2, ["c"], "h"));
            const lines = await window.store.load("c");
            await window.store.append("d", 0, ["new"], "h");
            return { thrown, lines, list: await window.store.list(), state: window.state() };
          });
          assert.equal(told.thrown?.code, "conflict");
          assert.deepEqual(told.lines, []);
          assert.deepEqual(told.list, [{ chat: "d", length: 1, head: "h" }]);
          assert.equal(told.state.durable, true);
        });
      }

      it("opens it again after the browser closed the connection", async (t) => {
        const { page } = await open(t);
        const told = await page.evaluate(async () => {
          const { open } = IDBFactory.prototype;
          const opened = [];
          IDBFactory.prototype.open = function (...given) {
            const request = open.apply(this, given);
            request.addEventListener("success", () => opened.push(request.result));
            return request;
          };
          const { store } = window;
          await store.append("c", 0, ["a"], "h");
          // Closed, with the event still to come …
          opened[0].close();
          await store.append("c", 1, ["b"], "h");
          // … and with the event.
          opened[1].close();
          opened[1].dispatchEvent(new Event("close"));
          const lines = await store.load("c");
          return { lines, opened: opened.length };
        });
        assert.deepEqual(told, { lines: ["a", "b"], opened: 3 });
      });

      it("does not go on in memory if it cannot be opened again", async (t) => {
        const { page } = await open(t);
        const told = await page.evaluate(async () => {
          const { store, caught, state } = window;
          const { open } = IDBFactory.prototype;
          await store.append("c", 0, ["a"], "h");
          IDBFactory.prototype.open = () => {
            throw new DOMException("not any more", "SecurityError");
          };
          // A failed transaction has its connection replaced.
          await caught(() => store.append("c", 1, [Symbol("no text")], "h"));
          const thrown = [await caught(() => store.load("c")), await caught(() => store.append("c", 0, ["x"], "x"))];
          IDBFactory.prototype.open = open;
          return { thrown, lines: await store.load("c"), state: state() };
        });
        for (const thrown of told.thrown) assertStorage(thrown, /not any more.*reload the page/);
        assert.deepEqual(told.lines, ["a"]);
        assert.deepEqual(told.state, { durable: true, trouble: null, readOnly: false });
      });
    });

    describe("on a page that may not store anything", () => {
      const MEMORY = async (page, reason) => {
        const told = await page.evaluate(async () => {
          const { store } = window;
          const before = window.state();
          await store.append("c", 0, ["a"], "h");
          const thrown = await window.caught(() => store.append("c", 0, ["a"], "h"));
          return { before, lines: await store.load("c"), thrown, state: window.state() };
        });
        assert.deepEqual(told.before, { durable: true, trouble: null, readOnly: false });
        assert.deepEqual(told.lines, ["a"]);
        assert.equal(told.thrown.code, "conflict");
        assert.deepEqual([told.state.durable, told.state.readOnly], [false, false]);
        assert.match(told.state.trouble, reason);
      };

      it("keeps chats in memory and says why: the page has no origin", async (t) => {
        const site = await serve(t);
        const page = await openStore(await openContext(browser, t), t, `${site.url}/no-origin`);
        assert.equal(await page.evaluate(() => window.origin), "null");
        await MEMORY(page, /^This page may not store anything \(.+\): its chats end with it\.$/);
      });

      it("keeps chats in memory and says why: there is no IndexedDB", async (t) => {
        const before = () => Object.defineProperty(window, "indexedDB", { value: undefined });
        const { page } = await open(t, { before });
        await MEMORY(page, /\(there is no IndexedDB\)/);
      });

      it("does not take a failure for it", async (t) => {
        const before = () => {
          const { open } = IDBFactory.prototype;
          let failures = 1;
          IDBFactory.prototype.open = function (...given) {
            if (failures-- <= 0) return open.apply(this, given);
            const request = { error: new DOMException("disk on fire", "UnknownError") };
            queueMicrotask(() => request.onerror());
            return request;
          };
        };
        const { page } = await open(t, { before });
        const told = await page.evaluate(async () => {
          const thrown = await window.caught(() => window.store.load("c"));
          await window.store.append("c", 0, ["a"], "h");
          return { thrown, state: window.state() };
        });
        assertStorage(told.thrown, /disk on fire.*reload/);
        assert.deepEqual(told.state, { durable: true, trouble: null, readOnly: false });
      });
    });

    it("that is full writes nothing, says what to do, and works again when there is space", async (t) => {
      // Firefox is told its limit at its start, and Chromium later.
      let full = browser;
      if (name === "firefox") {
        full = await launch(name, { prefs: { "dom.quotaManager.temporaryStorage.fixedLimit": 20 * 1024 } });
        t.after(() => full.close());
      }
      const site = await serve(t);
      const page = await openStore(await openContext(full, t), t, `${site.url}/blank`);
      if (name === "chromium") {
        // Ahead of the first write: how much is left is looked up and then reckoned.
        const session = await page.createCDPSession();
        await session.send("Storage.overrideQuotaForOrigin", { origin: site.url, quotaSize: 3_000_000 });
      }
      await page.evaluate(() => window.store.append("c", 0, ["a"], "h"));
      const told = await page.evaluate(async () => {
        const { store, caught } = window;
        // What does not compress, since browsers do.
        const line = () => {
          const bytes = crypto.getRandomValues(new Uint8Array(65_536));
          return String.fromCharCode(...bytes.map((byte) => 33 + (byte % 94)));
        };
        let thrown = null;
        let written = 0;
        while (!thrown && written < 100) {
          const lines = Array.from({ length: 16 }, line);
          thrown = await caught(() => store.append("big", written * 16, lines, `${written}`));
          if (!thrown) written++;
        }
        const lines = await store.load("big");
        const [entry] = (await store.list()).filter(({ chat }) => chat === "big");
        const kept = await store.load("c");
        await store.delete("big");
        return {
          thrown,
          written,
          lines: lines.length,
          entry,
          kept,
          again: await caught(() => store.append("c", 1, ["b"], "i")),
        };
      });
      assertStorage(told.thrown, /full, so nothing was written: delete chats, or free space/);
      assert.equal(told.lines, told.written * 16);
      if (told.written > 0) {
        assert.deepEqual(told.entry, { chat: "big", length: told.written * 16, head: `${told.written - 1}` });
      }
      assert.deepEqual(told.kept, ["a"]);
      assert.equal(told.again, null);
    });
  });
}

describe("the store in a Firefox whose person blocks site data", () => {
  it("keeps chats in memory and says why", async (t) => {
    const browser = await launch("firefox", { prefs: { "network.cookie.cookieBehavior": 2 } });
    t.after(() => browser.close());
    const site = await serve(t);
    const page = await openStore(browser.defaultBrowserContext(), t, `${site.url}/blank`);
    const told = await page.evaluate(async () => {
      await window.store.append("c", 0, ["a"], "h");
      return { lines: await window.store.load("c"), state: window.state() };
    });
    assert.deepEqual(told.lines, ["a"]);
    assert.deepEqual([told.state.durable, told.state.readOnly], [false, false]);
    assert.match(told.state.trouble, /^This page may not store anything \(.+\)/);
  });
});
