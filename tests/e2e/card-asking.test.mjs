// What a person may say with a denial, until when a card waits, and what its receipt tells.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { click, count, find, openCards, rests, text } from "./cards.mjs";

/** A chat whose one mail waits. */
async function waiting({ given, agentOf, make, order, runs }) {
  const rig = { runs };
  const run = () =>
    new Promise((done, failed) => {
      runs.push("eat");
      Object.assign(rig, { done, failed });
    });
  const agent = agentOf({ tools: [make("eat", { title: "Eat", ...(given.slow && { run }) })], ...given.agent });
  rig.chat = await agent.open("c");
  await rig.chat.send(order(["eat", "{}"]));
  return rig;
}

/** What the page said politely, all of it, from now on. */
const listen = (page) =>
  page.evaluate(() => {
    const [region, ...more] = document.querySelectorAll("[role=status]");
    if (more.length > 0) throw new Error("more than one region");
    window.said = [];
    new MutationObserver(() => window.said.push(region.textContent)).observe(region, { childList: true });
  });
const heard = (page, pattern) =>
  waitFor(page, (source) => window.said.some((text) => new RegExp(source).test(text)), pattern.source);
const said = (page) => page.evaluate(() => window.said.filter(Boolean));

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, given = {}) => (await openCards(browser, t, waiting, { given })).page;
    const decision = (page) => page.evaluate(() => window.rig.chat.snapshot().messages[1].calls[0].decision ?? null);

    for (const [reason, label] of [
      ["variant", "Suggest something else"],
      ["skip", "Don't suggest this again"],
      [undefined, "No reason"],
    ]) {
      it(`A3: a denial takes the reason "${label}", and is one action`, async (t) => {
        const page = await open(t);
        const choice = await find(page, "[part=reason] select");
        const options = await choice.evaluate((select) => [...select.options].map((option) => option.text));
        assert.deepEqual(options, ["No reason", "Suggest something else", "Don't suggest this again"]);
        assert.equal(await choice.evaluate((select) => select.selectedOptions[0].text), "No reason");
        if (reason) await choice.select(reason);
        assert.equal(await decision(page), null, "choosing decides nothing");
        await click(page, "deny");
        await rests(page);
        const { approve, via, ...more } = await decision(page);
        assert.deepEqual([approve, via, more.reason], [false, "card", reason]);
      });
    }

    it("A3: a reason that was chosen does not go with an approval", async (t) => {
      const page = await open(t);
      await (await find(page, "[part=reason] select")).select("skip");
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
      assert.equal((await decision(page)).reason, undefined);
    });

    it("A3: a note takes 500 characters, and the last hundred are counted", async (t) => {
      const page = await open(t);
      await listen(page);
      const note = await find(page, "textarea");
      const left = () =>
        page.evaluate(
          () => document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=left]").textContent,
        );
      const fill = (length) =>
        note.evaluate((field, length) => {
          field.value = "n".repeat(length);
        }, length);
      await fill(398);
      await note.type("x");
      assert.equal(await left(), "");
      await note.type("y");
      assert.equal(await left(), "100 characters left");
      await note.type("z");
      assert.equal(await left(), "99 characters left");
      assert.deepEqual(await said(page), ["100 characters left"], "not at every key");
      await fill(498);
      await note.type("abcdef");
      assert.equal(await left(), "0 characters left");
      assert.equal((await said(page)).at(-1), "0 characters left");
      await click(page, "deny");
      await rests(page);
      assert.equal((await decision(page)).note.length, 500);
    });

    it("A12: a card says until when it waits, says so again a minute before, and takes more time", async (t) => {
      const page = await open(t, { agent: { approvals: { expireAfterMs: 600_000 } } });
      const asked = await page.evaluate(() => window.rig.chat.snapshot().requests[0].expiresAt);
      const shown = (at) =>
        page.evaluate(
          (at) => new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" }).format(at),
          at,
        );
      assert.equal(await text(page, "[part=deadline] span", /./), `Waits until ${await shown(asked)}.`);
      const describedBy = await (await find(page, "[part~=card]")).evaluate((card) =>
        card
          .getAttribute("aria-describedby")
          .split(" ")
          .map((id) => card.getRootNode().getElementById(id)?.textContent),
      );
      assert.match(describedBy.at(-1), /Waits until/);
      await click(page, "extend");
      await waitFor(page, (asked) => window.rig.chat.snapshot().requests[0].expiresAt === asked + 600_000, asked);
      assert.equal(await text(page, "[part=deadline] span", /./), `Waits until ${await shown(asked + 600_000)}.`);
      const log = await page.evaluate(() => window.rig.chat.export());
      const extended = log
        .split("\n")
        .filter((line) => line.includes('"tool.call.extended"'))
        .map((line) => JSON.parse(line));
      assert.deepEqual([extended.length, extended[0].via, extended[0].expires_at], [1, "card", asked + 600_000]);
      assert.equal(await count(page, "[part~=deny]"), 1, "nothing was decided");
    });

    it("A12: one minute before the end that is said once, by the clock", async (t) => {
      const { page } = await openCards(browser, t);
      // The page's own clock, so that nobody waits: timers of the future fire when it is set on.
      await page.evaluate(() => {
        const { now } = Date;
        const { setTimeout: later } = window;
        const waiting = [];
        window.clock = 0;
        Date.now = () => now() + window.clock;
        window.setTimeout = (work, wait, ...rest) => {
          if (!(wait > 30_000)) return later(work, wait, ...rest);
          waiting.push([Date.now() + wait, work]);
          return 0;
        };
        window.setOn = (by) => {
          window.clock += by;
          const due = waiting.filter(([at]) => at <= Date.now());
          for (const one of due) waiting.splice(waiting.indexOf(one), 1)[0][1]();
        };
      });
      const kit = await page.evaluateHandle(async () =>
        (await import("/test/kit.mjs")).kit({ agent: { approvals: { expireAfterMs: 600_000 } } }),
      );
      await page.evaluate(async (kit) => {
        const rig = { runs: kit.runs };
        const agent = kit.agentOf({ tools: [kit.make("eat", { title: "Eat" })], ...kit.given.agent });
        rig.chat = await agent.open("c");
        await rig.chat.send(kit.order(["eat", "{}"]));
        window.rig = rig;
        document.querySelector("countersign-approvals").chat = rig.chat;
      }, kit);
      await listen(page);
      await find(page, "[part=deadline]");
      await page.evaluate(() => window.setOn(539_000));
      assert.deepEqual(await said(page), []);
      await page.evaluate(() => window.setOn(2_000));
      assert.deepEqual(await said(page), ["Eat: one minute left to decide."]);
      await page.evaluate(() => window.setOn(20_000));
      assert.equal((await said(page)).length, 1);
      // At the end nobody has decided, and the card says so.
      await page.evaluate(() => window.setOn(60_000));
      await text(page, "[part~=receipt] strong", /Nobody decided in time/);
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), []);
      await heard(page, /^Eat: Nobody decided in time\.$/);
      await click(page, "dismiss");
      await waitFor(
        page,
        () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("[part~=card]"),
      );
    });

    it("A8: a receipt says what was decided, by whom, when, how far and about what, then what came of it", async (t) => {
      const page = await open(t, { slow: true });
      await listen(page);
      const digest = await page.evaluate(() => window.rig.chat.snapshot().requests[0].view.digest);
      const before = Date.now();
      await click(page, "approve");
      await text(page, "[part~=receipt] strong", /^You approved this\.$/);
      await text(page, "[part~=receipt] > span", /^Running…$/);
      const parts = await (await find(page, "[part~=receipt] small")).evaluate((line) =>
        [...line.children].map((part) => part.textContent),
      );
      assert.deepEqual([parts[0], parts[2], parts[3]], ["Once", "SHA-256", digest.slice(0, 12)]);
      const log = (await page.evaluate(() => window.rig.chat.export()))
        .split("\n")
        .filter(Boolean)
        .map((line) => JSON.parse(line));
      const { at } = log.find(({ type }) => type === "tool.call.decided");
      assert.ok(at >= before && at <= Date.now());
      const shown = await page.evaluate(
        (at) => new Intl.DateTimeFormat("en", { dateStyle: "medium", timeStyle: "medium" }).format(at),
        at,
      );
      assert.equal(parts[1], shown);
      assert.deepEqual(await said(page), []);
      await page.evaluate(() => window.rig.done("Eaten."));
      await text(page, "[part~=receipt] > span", /^It ran\.$/);
      await heard(page, /^Eat: It ran\.$/);
      await rests(page);
      assert.deepEqual(await said(page), ["Eat: It ran."]);
      // The element made anew has all of it again, and says nothing.
      await page.evaluate(() => {
        const element = document.querySelector("countersign-approvals");
        element.chat = null;
        element.chat = window.rig.chat;
      });
      await text(page, "[part~=receipt] small", /Once.*SHA-256/s);
      assert.equal((await said(page)).length, 1, "what is there from the start is not news");
    });

    it("A8: a tool that failed is said to have", async (t) => {
      const page = await open(t, { slow: true });
      await listen(page);
      await click(page, "approve");
      await text(page, "[part~=receipt] > span", /^Running…$/);
      await page.evaluate(() => window.rig.failed(new Error("no cookies")));
      await heard(page, /^Eat: It ran and failed\.$/);
    });
  });
}
