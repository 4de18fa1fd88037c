// What tabs tell each other: hints, and who works on a chat. With Web Locks, and on plain http, where there are none.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, openContext, openTab, serve, waitFor } from "./browsers.mjs";

async function openTabs(context, t, url, count = 2) {
  const pages = [];
  for (let index = 0; index < count; index++) {
    const page = await openTab(context, t, url);
    await page.evaluate(async () => {
      window.tabs = await import("/module/tabs.js");
      window.leases = {};
      window.take = async (name, chat, key = chat) => {
        window.leases[key] = await window.tabs.lease(name, chat);
        return window.leases[key] !== undefined;
      };
    });
    pages.push(page);
  }
  return pages;
}

const take = (page, chat, name = "chats") => page.evaluate((name, chat) => window.take(name, chat), name, chat);
const release = (page, chat) => page.evaluate((chat) => window.leases[chat].release(), chat);
const held = (page, chat, name = "chats") => page.evaluate((name, chat) => window.tabs.held(name, chat), name, chat);

/** A release is asked for and not waited for. */
const freed = (page, chat) => waitFor(page, async (chat) => !(await window.tabs.held("chats", chat)), chat);

for (const name of BROWSERS) {
  describe(`tabs in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    it("hear what is announced under their name, until they stop", async (t) => {
      const site = await serve(t);
      const [speaker, hearer] = await openTabs(await openContext(browser, t), t, `${site.url}/blank`);
      for (const page of [speaker, hearer]) {
        await page.evaluate(() => {
          window.heard = [];
          window.end = window.tabs.listen("chats", (...hint) => window.heard.push(hint));
          window.tabs.listen("others", (...hint) => window.heard.push(hint));
        });
      }
      await speaker.evaluate(() => {
        // What is no hint is not heard as one.
        for (const odd of [null, {}, ["c"], [7, 7], ["c", "7"]])
          new BroadcastChannel("countersign:chats").postMessage(odd);
        window.tabs.announce("chats", "c", 3);
        window.tabs.announce("elsewhere", "c", 4);
        window.tabs.announce("others", "d", 5);
      });
      const wanted = [
        ["c", 3],
        ["d", 5],
      ];
      for (const page of [speaker, hearer]) {
        await waitFor(page, () => window.heard.length >= 2);
        assert.deepEqual(await page.evaluate(() => window.heard), wanted);
      }
      await hearer.evaluate(() => window.end());
      await speaker.evaluate(() => {
        window.tabs.announce("chats", "c", 6);
        window.tabs.announce("others", "d", 7);
      });
      await waitFor(hearer, () => window.heard.length >= 3);
      assert.deepEqual(await hearer.evaluate(() => window.heard.slice(2)), [["d", 7]]);
    });

    it("say and hear nothing where there is no channel", async (t) => {
      const site = await serve(t);
      const [page] = await openTabs(await openContext(browser, t), t, `${site.url}/blank`, 1);
      const told = await page.evaluate(() => {
        delete window.BroadcastChannel;
        window.tabs.announce("chats", "c", 1);
        return window.tabs.listen("chats", () => {})();
      });
      assert.equal(told ?? null, null);
    });

    const PLACES = { "with Web Locks": "url", "on plain http": "plainUrl" };
    for (const [what, key] of Object.entries(PLACES)) {
      describe(`share leases ${what}`, () => {
        async function open(t, count) {
          const site = await serve(t);
          const pages = await openTabs(await openContext(browser, t), t, `${site[key]}/blank`, count);
          assert.equal(await pages[0].evaluate(() => "locks" in navigator), key === "url");
          return pages;
        }

        it("one tab has it, until it releases it", async (t) => {
          const [one, two] = await open(t);
          assert.equal(await take(one, "c"), true);
          assert.equal(await take(two, "c"), false);
          assert.deepEqual([await held(one, "c"), await held(two, "c")], [true, true], "be it by the page that asks");
          assert.equal(await one.evaluate(() => window.take("chats", "c", "again")), false, "nor may its own page");
          await release(one, "c");
          await freed(two, "c");
          assert.equal(await take(two, "c"), true);
          assert.deepEqual([await held(one, "c"), await held(two, "c")], [true, true]);
          assert.equal(await take(one, "c"), false);
        });

        it("what was released is released once, and not what its tab took after that", async (t) => {
          const [one, two] = await open(t);
          await take(one, "c");
          await release(one, "c");
          await freed(two, "c");
          const again = () => one.evaluate(() => window.take("chats", "c", "again"));
          assert.equal(await again(), true);
          await release(one, "c");
          assert.deepEqual([await held(one, "c"), await held(two, "c")], [true, true]);
          assert.deepEqual([await take(two, "c"), await again()], [false, false]);
        });

        it("of tabs that ask at once one gets it", async (t) => {
          const pages = await open(t, 3);
          for (const chat of ["c", "d", "e"]) {
            const got = await Promise.all([...pages, ...pages].map((page) => take(page, chat)));
            assert.equal(got.filter(Boolean).length, 1, `${chat}: ${got}`);
          }
        });

        it("chats and names do not mix", async (t) => {
          const [one, two] = await open(t);
          assert.equal(await take(one, "b:c", "a"), true);
          assert.equal(await take(two, "c", "a:b"), true);
          assert.equal(await take(two, "b:c", "a:b"), true);
          assert.equal(await take(two, "b:c", "a"), false);
          assert.equal(await held(two, "__proto__", "a"), false);
        });
      });
    }

    it("free the Web Lock of a tab that is closed", async (t) => {
      const site = await serve(t);
      const [one, two] = await openTabs(await openContext(browser, t), t, `${site.url}/blank`);
      assert.equal(await take(one, "c"), true);
      await one.close();
      await freed(two, "c");
      assert.equal(await take(two, "c"), true);
    });

    describe("hold a lease on plain http by the clock", () => {
      /** Tabs whose clock is the test's, and whose renewals come when the test says so. */
      async function open(t) {
        const site = await serve(t);
        const pages = await openTabs(await openContext(browser, t), t, `${site.plainUrl}/blank`);
        for (const page of pages) {
          await page.evaluate(() => {
            window.clock = 1_000_000;
            window.renewals = new Map();
            window.waits = [];
            Date.now = () => window.clock;
            window.setInterval = (renew, wait) => {
              window.waits.push(wait);
              window.renewals.set(window.waits.length, renew);
              return window.waits.length;
            };
            window.clearInterval = (id) => window.renewals.delete(id);
            window.renew = () => Promise.all([...window.renewals.values()].map((renew) => renew()));
          });
        }
        const at = async (clock) => {
          for (const page of pages) {
            await page.evaluate((clock) => {
              window.clock = clock;
            }, clock);
          }
        };
        return { pages, at };
      }

      it("for ten seconds after it was last renewed", async (t) => {
        const { pages, at } = await open(t);
        const [one, two] = pages;
        assert.equal(await take(one, "c"), true);
        assert.deepEqual(await one.evaluate(() => window.waits), [2000]);
        await at(1_008_000);
        await one.evaluate(() => window.renew());
        await at(1_017_999);
        assert.equal(await take(two, "c"), false);
        await at(1_018_000);
        assert.equal(await held(two, "c"), false);
        assert.equal(await take(two, "c"), true);
      });

      it("and do not take back, renew or release what another tab has taken since", async (t) => {
        const { pages, at } = await open(t);
        const [one, two] = pages;
        assert.equal(await take(one, "c"), true);
        await at(1_010_000);
        assert.equal(await take(two, "c"), true);
        await one.evaluate(() => window.renew());
        assert.equal(await one.evaluate(() => window.renewals.size), 0, "it has stopped to renew");
        await release(one, "c");
        assert.deepEqual([await held(one, "c"), await take(one, "c")], [true, false]);
        await at(1_019_999);
        assert.equal(await held(one, "c"), true);
      });

      it("and none that reaches into a future which the clock was set back from", async (t) => {
        const { pages, at } = await open(t);
        const [one, two] = pages;
        await at(9_000_000);
        assert.equal(await take(one, "c"), true);
        await at(1_000_000);
        assert.equal(await held(two, "c"), false);
        assert.equal(await take(two, "c"), true);
      });

      it("and give it where nothing can be stored", async (t) => {
        const site = await serve(t);
        const [page] = await openTabs(await openContext(browser, t), t, `${site.url}/no-origin`, 1);
        assert.equal(await take(page, "c"), true);
        assert.equal(await page.evaluate(() => window.take("chats", "c", "again")), false);
        assert.equal(await held(page, "d"), false);
      });
    });
  });
}
