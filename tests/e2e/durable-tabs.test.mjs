/** Several tabs with one chat, and stores that fail, in each browser. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, openContext, WHOLE, waitFor } from "./browsers.mjs";
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
import { calls } from "./scripted.mjs";

const ROUNDS = WHOLE ? 200 : 30;
const eat = () => calls(["eat", "{}"]);

/** Waits until the page's chat rests with so many messages. */
const rest = (page, count) =>
  waitFor(
    page,
    (count) => {
      const { messages, status } = window.rig.chat.snapshot();
      return messages.length === count && ["done", "stopped"].includes(status);
    },
    count,
  );

/** Decides about a request at a moment of the shared clock; resolves with the result, or an error's code. */
const decideAt = (page, id, approve, at) =>
  page.evaluate(
    async (id, approve, at) => {
      // Not a timer: those of a tab that is not in front come late.
      while (Date.now() < at);
      return window.rig.chat.decide(id, { approve, by: "ada" }).then(
        async ({ result, continuation }) => [result, (await continuation).status],
        ({ code }) => [code],
      );
    },
    id,
    approve,
    at,
  );

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    /** Two tabs with one chat. */
    async function two(t, turns, settings, options) {
      const site = await workshop(t, turns);
      const context = await openContext(browser, t);
      const base = options?.plain ? site.plainUrl : site.url;
      const first = await openChat(context, t, site, settings, { base });
      const second = await openChat(context, t, site, settings, { base });
      return { site, context, first, second };
    }

    for (const [what, plain] of [
      ["", false],
      [" on plain http, where no lock is to be had", true],
    ]) {
      it(`boundary/twice: two tabs race for every decision${what}: one of each stands, and one tab goes on`, async (t) => {
        const { site, first, second } = await two(t, [eat], {}, { plain });
        const secure = await first.evaluate(() => [isSecureContext, Boolean(navigator.locks)]);
        assert.deepEqual(secure, [!plain, !plain]);
        let eaten = 0;
        for (let round = 0; round < ROUNDS; round++) {
          await send(round % 2 ? first : second, `Round ${round}.`);
          await Promise.all([status(first, "pending"), status(second, "pending")]);
          const [{ id }] = (await snapshotOf(first)).requests;
          const says = [true, round % 3 === 0];
          if (round % 4 > 1) says.reverse();
          const at = Date.now() + 40;
          const told = await Promise.all([first, second].map((page, index) => decideAt(page, id, says[index], at)));
          const winner = told.findIndex(([result]) => result === "applied");
          const [result, then] = told[1 - winner];
          const alike = says[0] === says[1];
          assert.deepEqual(
            [told[winner], result, then],
            [["applied", "done"], alike ? "already" : "conflict", alike ? "done" : undefined],
            `round ${round}`,
          );
          if (says[winner]) eaten += 1;
          await Promise.all([first, second].map((page) => rest(page, 3 * (round + 1))));
          assert.deepEqual([site.requests.length, site.work.length], [2 * (round + 1), eaten], `round ${round}`);
        }
        const end = await checkEnd(site, [first, second]);
        const approved = callsIn(end).filter(({ decision }) => decision.approve);
        assert.equal(approved.length, eaten);
        assert.ok(callsIn(end).every(({ decision, outcome }) => decision.approve === !outcome));
      });
    }

    it("of two tabs that go on with one run, one does", async (t) => {
      const gate = door();
      t.after(gate.open);
      const { site, first, second } = await two(t, [() => half(gate)]);
      await send(first);
      await waitFor(first, () => window.rig.chat.snapshot().streaming);
      await first.reload();
      await ready(first);
      await Promise.all([status(first, "interrupted"), status(second, "interrupted")]);
      gate.open();
      await Promise.all([start(first, "resume"), start(second, "resume")]);
      await Promise.all([rest(first, 2), rest(second, 2)]);
      await checkEnd(site, [first, second]);
      assert.equal(site.requests.length, 2, "the one that was lost, and the one that was made again");
    });

    it("a message from another tab waits for the run that is at work there, then begins its own", async (t) => {
      const gate = door();
      t.after(gate.open);
      const { site, first, second } = await two(t, [() => calls(["look", "{}"]), () => half(gate)]);
      site.hold("look");
      await send(first, "First.");
      await waitForWork(site, 1);
      await status(second, "running");
      await send(second, "Second.");
      site.release("look");
      await waitFor(first, () => window.rig.chat.snapshot().streaming);
      await waitFor(second, () => window.rig.chat.snapshot().messages[1]?.calls[0].result);
      assert.deepEqual([(await snapshotOf(second)).status, (await snapshotOf(second)).messages.length], ["running", 2]);
      gate.open();
      await Promise.all([rest(first, 6), rest(second, 6)]);
      const end = await checkEnd(site, [first, second]);
      assert.deepEqual(
        end.messages.filter(({ type }) => type === "user").map(({ text }) => text),
        ["First.", "Second."],
      );
      assert.deepEqual(
        callsIn(end).map(({ outcome }) => outcome),
        [undefined, undefined],
      );
    });

    it("a stop in one tab stops the run of the other: its tool is told, its request ended", async (t) => {
      const { site, first, second } = await two(t, [() => calls(["look", "{}"])]);
      site.hold("look");
      await send(first);
      await waitForWork(site, 1);
      await status(second, "running");
      await start(second, "stop");
      await Promise.all([rest(first, 2), rest(second, 2)]);
      await waitForWork(site, 1, ({ gone }) => gone);
      const end = await checkEnd(site, [first, second]);
      assert.deepEqual([callsIn(end)[0].outcome, site.requests.length], ["outcome_unknown", 1]);
    });

    it("a chat that is deleted in one tab ends in the other, with what is under way", async (t) => {
      const { site, first, second } = await two(t, [() => calls(["look", "{}"])]);
      site.hold("look");
      await first.evaluate(() => {
        window.sent = window.rig.chat.send("Look.").catch(({ code }) => code);
      });
      await waitForWork(site, 1);
      await second.evaluate(() => window.rig.agent.delete("c"));
      assert.equal(await first.evaluate(() => window.sent), "deleted");
      await waitForWork(site, 1, ({ gone }) => gone);
      for (const page of [first, second]) {
        const left = await page.evaluate(async () => {
          const { agent, chat } = window.rig;
          const sent = await chat.send("And now?").catch(({ code }) => code);
          return [sent, await agent.chats(), (await agent.open("c")).snapshot().status];
        });
        assert.deepEqual(left, ["deleted", [], "idle"]);
      }
      assert.equal(site.requests.length, 1);
    });

    it("what its preview no longer says is asked about again, four times at most", async (t) => {
      const { site, first, second } = await two(t, [() => calls(["mail", "{}"])]);
      await send(first);
      await status(second, "pending");
      const seen = [];
      for (site.version = 2; ; site.version += 1) {
        await status(second, "pending");
        const [{ id, prompt, view }] = (await snapshotOf(second)).requests;
        seen.push(view.preview.join());
        assert.equal(/Asked again, since this changed while it waited: preview\.$/.test(prompt), seen.length > 1);
        assert.equal(await decide(second, true), "changed");
        await waitFor(second, (id) => window.rig.chat.snapshot().requests[0]?.id !== id, id);
        if ((await snapshotOf(second)).status !== "pending") break;
      }
      assert.deepEqual(seen, ["version 1", "version 2", "version 3", "version 4"]);
      await Promise.all([rest(first, 3), rest(second, 3)]);
      const end = await checkEnd(site, [first, second]);
      assert.deepEqual([callsIn(end)[0].outcome, site.counts()], ["tool_unavailable", {}]);
    });

    it("what its preview still says runs once it is approved", async (t) => {
      const { site, first, second } = await two(t, [() => calls(["mail", "{}"])]);
      await send(first);
      await status(second, "pending");
      assert.equal(await decide(second, true), "applied");
      await Promise.all([rest(first, 3), rest(second, 3)]);
      await checkEnd(site, [first, second]);
      assert.deepEqual(site.counts(), { mail: 1 });
    });

    it("who may not decide changes nothing, for either tab", async (t) => {
      const { site, first, second } = await two(t, [eat], { refused: "mallory" });
      await send(first);
      await status(second, "pending");
      const waits = await snapshotOf(first);
      for (const approve of [true, false]) assert.equal(await decide(second, approve, "mallory"), "not_allowed");
      for (const page of [first, second]) assert.deepEqual(await snapshotOf(page), waits);
      assert.equal(await decide(second, true, "grace"), "applied");
      await Promise.all([rest(first, 3), rest(second, 3)]);
      await checkEnd(site, [first, second]);
      assert.deepEqual(site.counts(), { eat: 1 });
    });

    it("where a second person must approve, neither the first nor nobody known can", async (t) => {
      const { site, first, second } = await two(t, [eat], { agent: { secondApprover: true } });
      await send(first);
      await status(second, "pending");
      for (const by of ["ada", null]) assert.equal(await decide(second, true, by), "not_allowed");
      assert.equal((await snapshotOf(first)).status, "pending");
      assert.equal(await decide(first, true, "grace"), "applied");
      await Promise.all([rest(first, 3), rest(second, 3)]);
      const end = await checkEnd(site, [first, second]);
      assert.deepEqual([callsIn(end)[0].decision.decidedBy, site.counts()], ["other_user", { eat: 1 }]);
      await send(second, "Again.");
      await status(first, "pending");
      assert.equal(await decide(first, false, "ada"), "applied", "denying stays open to all");
    });

    it("a page sees what waits in every chat, whoever opened it", async (t) => {
      const site = await workshop(t, [eat]);
      const context = await openContext(browser, t);
      const pages = [];
      for (const chat of ["a", "b"]) {
        const page = await openChat(context, t, site, { chat });
        await send(page);
        await status(page, "pending");
        pages.push(page);
      }
      const other = await openChat(context, t, site, { chat: "c" });
      const waits = () =>
        other.evaluate(async () => {
          const pending = await window.rig.agent.pending();
          return pending.map(({ chat, request }) => [chat, request.kind, request.view.tool]).sort();
        });
      assert.deepEqual(await waits(), [
        ["a", "approval", "eat"],
        ["b", "approval", "eat"],
      ]);
      const decided = await other.evaluate(async () => {
        const { agent } = window.rig;
        const { chat: id, request } = (await agent.pending()).find(({ chat }) => chat === "b");
        const chat = await agent.open(id);
        const { continuation } = await chat.decide(request.id, { approve: true, by: "grace" });
        return (await continuation).status;
      });
      assert.equal(decided, "done");
      assert.deepEqual(await waits(), [["a", "approval", "eat"]]);
      await rest(pages.at(-1), 3);
      assert.deepEqual(site.counts(), { eat: 1 });
      const chats = await other.evaluate(() => window.rig.agent.chats());
      assert.deepEqual(chats.map(({ id, status }) => [id, status]).sort(), [
        ["a", "pending"],
        ["b", "done"],
      ]);
    });

    for (const [when, failing] of Object.entries({ "a message": 0, "a decision": 1, "a tool's result": 3 })) {
      it(`where ${when} cannot be written it has not happened, and the chat goes on`, async (t) => {
        const site = await workshop(t, [eat]);
        const page = await openChat(await openContext(browser, t), t, site);
        const told = await page.evaluate(async (failing) => {
          const { kit } = await import("/test/kit.mjs");
          const { agentOf, indexedDBStore, make, runs } = kit();
          const kept = indexedDBStore("failing");
          const state = { failAt: -1, writes: 0 };
          const store = {
            ...kept,
            append: async (...given) => {
              if (state.writes++ === state.failAt) throw new Error("the disk is on fire");
              return kept.append(...given);
            },
          };
          const codeOf = (work) =>
            work.then(
              () => null,
              ({ code }) => code,
            );
          const chat = await agentOf({ store, tools: [make("eat")] }).open("c");
          const told = {};
          const fail = (ahead) => {
            state.failAt = state.writes + ahead;
          };
          if (failing === 0) {
            fail(0);
            told.code = await codeOf(chat.send("Eat."));
            told.status = chat.snapshot().status;
          }
          await chat.send("Eat.");
          const by = "ada";
          const decided = () => chat.decide(chat.snapshot().requests[0].id, { approve: true, by });
          if (failing === 1) {
            fail(0);
            told.code = await codeOf(decided());
            told.status = chat.snapshot().status;
          }
          if (failing === 3) {
            // The decision, the start, then the result.
            fail(2);
            const { continuation } = await decided();
            told.code = await codeOf(continuation);
            told.status = chat.snapshot().status;
            await chat.resume();
          }
          told.ran = runs.length;
          const { continuation } = await decided();
          told.end = (await continuation).status;
          return { ...told, runs: runs.length, log: (await kept.load("c")).length };
        }, failing);
        const [status, ran, runs] = [["idle", 0, 1], ["pending", 0, 1], [], ["interrupted", 1, 2]][failing];
        assert.deepEqual(
          { code: told.code, status: told.status, ran: told.ran, end: told.end, runs: told.runs },
          { code: "storage", status, ran, end: "done", runs },
        );
      });
    }

    it("where nothing can be stored the chat says that it does not last, and works", async (t) => {
      const site = await workshop(t, [eat]);
      const before = () => Object.defineProperty(window, "indexedDB", { value: undefined });
      const page = await openChat(await openContext(browser, t), t, site, {}, { before });
      await send(page);
      await status(page, "pending");
      assert.equal((await snapshotOf(page)).durable, false);
      assert.equal(await decide(page, true), "applied");
      await rest(page, 3);
      await checkEnd(site, [page]);
      await page.reload();
      await ready(page);
      assert.equal((await snapshotOf(page)).status, "idle");
    });
  });
}
