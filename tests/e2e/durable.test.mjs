/** A chat outlasts its page: left and met again at every state a person may find it in, in each browser. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, openContext, press, waitFor } from "./browsers.mjs";
import {
  callsIn,
  checkEnd,
  decide,
  door,
  half,
  openChat,
  ready,
  send,
  snapshotOf,
  start,
  status,
  waitForWork,
  workshop,
} from "./durable.mjs";
import { calls, failure, text } from "./scripted.mjs";

const CACHE = "a visit elsewhere and the back/forward cache";

/** Each gives the page to go on with, and whether what was under way is lost. */
const WAYS = {
  "a reload": async ({ page }) => {
    await page.reload();
    await ready(page);
    return { page, lost: true };
  },
  "a visit elsewhere and a fresh load": async ({ page, site }) => {
    await page.goto(`${site.url}/blank`);
    await page.goBack();
    await ready(page);
    assert.equal(await page.evaluate(() => window.restored), false);
    return { page, lost: true };
  },
  [CACHE]: async ({ page, site, name, cached }) => {
    await page.goto(`${site.url}/blank`);
    // Firefox tells of no load when a page comes out of its cache, and Puppeteer would wait for one.
    if (cached && name === "firefox") await page.evaluate(() => history.back());
    else await page.goBack();
    await ready(page);
    assert.equal(await page.evaluate(() => window.restored), cached);
    return { page, lost: true };
  },
  "a second tab": async ({ context, t, site }) => {
    const page = await openChat(context, t, site);
    await page.bringToFront();
    return { page, lost: false };
  },
};

/**
 * `stands` is the status that is met: as it was, or after what was under way is lost. `goOn` brings the run to its
 * end; then so many requests were made and these tools had run.
 */
const STATES = {
  "a card that waits": {
    turns: () => [() => calls(["eat", "{}"])],
    reach: "pending",
    goOn: ({ page }) => press(page, "approve"),
    ends: () => ({ requests: 2, counts: { eat: 1 }, outcomes: [undefined] }),
  },
  "a half-decided batch": {
    turns: () => [() => calls(["eat", "{}"], ["brew", "{}"])],
    reach: "pending",
    more: async ({ page }) => assert.equal(await decide(page, false), "applied"),
    goOn: async ({ page }) => assert.equal(await decide(page, true), "applied"),
    ends: () => ({ requests: 2, counts: { brew: 1 }, outcomes: ["approval_denied", undefined] }),
  },
  "an answer that arrives": {
    turns: ({ gate }) => [() => half(gate)],
    underWay: true,
    reach: "running",
    more: ({ page }) => waitFor(page, () => window.rig.chat.snapshot().streaming),
    goOn: async ({ page, gate, lost }) => {
      gate.open();
      if (lost) await start(page, "resume");
    },
    ends: (lost) => ({ requests: lost ? 2 : 1, counts: {}, outcomes: [], text: "Half of it." }),
  },
  "a tool that runs": {
    turns: () => [() => calls(["eat", "{}"])],
    underWay: true,
    reach: "pending",
    more: async ({ page, site }) => {
      site.hold("eat");
      await decide(page, true);
      await waitForWork(site, 1);
    },
    goOn: async ({ page, site, lost }) => {
      site.release("eat");
      if (!lost) return;
      await start(page, "resume");
      await status(page, "pending");
      const [{ kind }] = (await snapshotOf(page)).requests;
      assert.equal(kind, "recovery");
      await decide(page, false);
    },
    ends: (lost) => ({ requests: 2, counts: { eat: 1 }, outcomes: [lost ? "outcome_unknown" : undefined] }),
  },
  "a failed request": {
    turns: ({ once }) => [() => (once() ? failure(400, '{"error":{"message":"Not today."}}') : text("The end."))],
    reach: "error",
    goOn: ({ page }) => start(page, "retry"),
    ends: () => ({ requests: 2, counts: {}, outcomes: [] }),
  },
  "an end": {
    turns: ({ once }) => [() => text(once() ? "Well." : "The end.")],
    reach: "done",
    goOn: ({ page }) => page.evaluate(() => window.rig.chat.send("Again.")),
    ends: () => ({ requests: 2, counts: {}, outcomes: [] }),
  },
};

/** True the first time. */
function firstTime() {
  let asked = 0;
  return () => asked++ === 0;
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    for (const [state, { turns, underWay, reach, more, goOn, ends }] of Object.entries(STATES)) {
      for (const [way, leave] of Object.entries(WAYS)) {
        const cached = name === "chromium" || !underWay;
        const remark = way === CACHE && !cached ? ", which this browser does not use while a request is under way" : "";
        it(`${state} is there after ${way}${remark}`, async (t) => {
          const gate = door();
          const site = await workshop(t, turns({ gate, once: firstTime() }));
          t.after(gate.open);
          const context = await openContext(browser, t);
          const search = way.includes("fresh") ? "no-store" : "";
          const first = await openChat(context, t, site, {}, { search });
          await send(first);
          await status(first, reach);
          await more?.({ page: first, site });
          const found = await snapshotOf(first);

          const { page, lost } = await leave({ page: first, site, context, t, name, cached });
          await status(page, lost && underWay ? "interrupted" : found.status);
          const met = await snapshotOf(page);
          assert.deepEqual({ ...met, status: found.status }, found, "nothing else has changed");

          await goOn({ page, site, gate, lost });
          await status(page, "done");
          if (!lost)
            await waitFor(
              first,
              (length) =>
                window.rig.chat.snapshot().messages.length === length && window.rig.chat.snapshot().status === "done",
              (await snapshotOf(page)).messages.length,
            );
          const end = await checkEnd(site, lost ? [page] : [page, first]);
          const { requests, counts, outcomes, text = "The end." } = ends(lost);
          assert.deepEqual(
            [site.requests.length, site.counts(), callsIn(end).map(({ outcome }) => outcome), end.text],
            [requests, counts, outcomes, text],
          );
        });
      }
    }

    it("on plain http too a run that was left is interrupted, and goes on", async (t) => {
      const gate = door();
      t.after(gate.open);
      const site = await workshop(t, [() => half(gate)]);
      const page = await openChat(await openContext(browser, t), t, site, {}, { base: site.plainUrl });
      await send(page);
      await waitFor(page, () => window.rig.chat.snapshot().streaming);
      await page.reload();
      await ready(page);
      const begun = performance.now();
      await status(page, "interrupted");
      assert.ok(performance.now() - begun < 8_000, "the lease was given up, and did not just run out after 10 seconds");
      gate.open();
      await start(page, "resume");
      await status(page, "done");
      const end = await checkEnd(site, [page]);
      assert.deepEqual([end.text, site.requests.length], ["Half of it.", 2]);
    });

    /** A call whose result was lost by a reload, and the person who wants to go on. */
    async function lose(t, tool) {
      const site = await workshop(t, [() => calls([tool, "{}"])]);
      const page = await openChat(await openContext(browser, t), t, site);
      site.hold(tool);
      await send(page);
      await status(page, "pending");
      await decide(page, true);
      await waitForWork(site, 1);
      await page.reload();
      await ready(page);
      site.release(tool);
      await status(page, "interrupted");
      await start(page, "resume");
      return { page, site };
    }

    it("a lost result is run for again where a person says so, with the same idempotency key", async (t) => {
      const { page, site } = await lose(t, "eat");
      await status(page, "pending");
      await press(page, "approve");
      await status(page, "done");
      const end = await checkEnd(site, [page], { again: ["eat"] });
      assert.deepEqual(callsIn(end)[0].result, { text: "eat: done", isError: false });
      assert.equal(site.work.length, 2);
      assert.equal(site.work[0].key, site.work[1].key);
      assert.deepEqual([site.work[0].gone, site.requests.length], [true, 2]);
    });

    it("a lost result is marked as done by a click, and the model is told that its outcome is not known", async (t) => {
      const { page, site } = await lose(t, "eat");
      await status(page, "pending");
      await press(page, "deny");
      await status(page, "done");
      const end = await checkEnd(site, [page]);
      assert.equal(callsIn(end)[0].outcome, "outcome_unknown");
      assert.match(callsIn(end)[0].result.text, /^Error: outcome_unknown/);
    });

    it("a lost result is neither when the run is stopped instead", async (t) => {
      const { page, site } = await lose(t, "eat");
      await status(page, "pending");
      await start(page, "stop");
      await status(page, "stopped");
      const end = await checkEnd(site, [page]);
      assert.deepEqual([callsIn(end)[0].outcome, site.requests.length], ["outcome_unknown", 1]);
      await send(page, "And now?");
      await status(page, "pending");
      assert.match(site.requests[1].body, /outcome_unknown/);
    });

    it("a lost result of an idempotent tool is run for again without a card", async (t) => {
      const { page, site } = await lose(t, "brew");
      await status(page, "done");
      await checkEnd(site, [page], { again: ["brew"] });
      assert.equal(site.work.length, 2);
      assert.equal(site.work[0].key, site.work[1].key);
    });
  });
}
