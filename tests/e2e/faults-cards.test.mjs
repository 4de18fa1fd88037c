/**
 * Kinds of faults that approval loops had in public, one test a kind: here those that a person sees, on the real card with
 * real clicks. Each test holds the kind over several forms of it, not the one instance that was reported.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  cardOf,
  launch,
  openTestPage,
  press,
  runsOf,
  say,
  serveSite,
  toolMessagesOf,
  waitForStatus,
} from "./harness.mjs";
import { calls, checkHistories, checkLastingBytes, obedient, play } from "./scripted.mjs";

const MAIL = "send_mail";
const mail = (...names) => JSON.stringify(names.map((to) => [MAIL, JSON.stringify({ to })]));

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** The test page, where these mails wait for a person. */
async function openWaiting(t, names, settings = {}) {
  const site = await serveSite(t, { model: obedient });
  const page = await openTestPage(browser, t, site, settings);
  await say(page, mail(...names));
  await cardOf(page, MAIL).first().waitFor();
  return { page, requests: site.requests };
}

/** The middle of a button of the first card, once a click there would decide. */
async function placeOf(page, name) {
  const armed = cardOf(page, MAIL).first().getByRole("button", { name, exact: true, disabled: false });
  await armed.waitFor();
  const { x, y, width, height } = await armed.boundingBox();
  return { button: await armed.elementHandle(), x: x + width / 2, y: y + height / 2 };
}

/** Clicks where a button stood, presses the keys that would press it, and clicks what is left of it. */
async function pressLate(page, { button, x, y }) {
  await page.mouse.click(x, y, { clickCount: 2, delay: 20 });
  await page.keyboard.press("Enter");
  await page.keyboard.press("Space");
  await button.evaluate((gone) => gone.click());
  await page.evaluate(() => new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn))));
}

const buttons = (page) => page.getByRole("button", { name: /^(Approve|Deny)$/ }).count();

describe("it never happens, on the card, that", () => {
  it("a stop leaves a live card, and a late click starts a request", async (t) => {
    for (const name of ["Approve", "Deny"]) {
      const { page, requests } = await openWaiting(t, ["x", "y"]);
      const place = await placeOf(page, name);
      await page.evaluate(() => window.rig.chat.stop());
      assert.equal(await buttons(page), 0);
      await pressLate(page, place);
      await waitForStatus(page, "stopped");
      assert.equal(requests.length, 1);
      assert.equal(await page.getByText("Stopped before a decision.", { exact: true }).count(), 2);
      await say(page, "And now?");
      await waitForStatus(page, "done");
      const results = toolMessagesOf(requests[1]).map(({ content }) => content);
      for (const result of results) assert.match(result, /^Error: approval_cancelled\. /);
      assert.equal((await runsOf(page)).send_mail, 0);
      checkHistories(requests);
    }
  });

  it("a new message erases the call, leaves a live card, and a click bricks the chat", async (t) => {
    const { page, requests } = await openWaiting(t, ["x", "y"]);
    const place = await placeOf(page, "Approve");
    await say(page, "Something else.");
    await waitForStatus(page, "done");
    assert.equal(await buttons(page), 0);
    await pressLate(page, place);
    await say(page, mail("z"));
    await press(cardOf(page, MAIL), "Approve");
    await waitForStatus(page, "done");
    assert.equal((await runsOf(page)).send_mail, 1);
    assert.equal(requests.length, 4);
    const results = toolMessagesOf(requests[3]).map(({ content }) => content);
    assert.match(results[0], /^Error: approval_superseded\. /);
    assert.match(results[1], /^Error: approval_superseded\. /);
    assert.deepEqual(JSON.parse(results[2]), { tool: MAIL, args: { to: "z" } });
    checkHistories(requests);
    checkLastingBytes(requests);
  });

  it("after its time is over the card is dead and the run hangs", async (t) => {
    const { page, requests } = await openWaiting(t, ["x"], { agent: { approvals: { expireAfterMs: 4_000 } } });
    const place = await placeOf(page, "Approve");
    await page.locator("#answer", { hasText: "The end." }).waitFor();
    assert.equal(await buttons(page), 0);
    await page.getByText("Nobody decided in time.", { exact: true }).waitFor();
    await pressLate(page, place);
    assert.equal((await runsOf(page)).send_mail, 0);
    await say(page, "And now?");
    await page.waitForFunction(() => window.rig.chat.snapshot().messages.length === 5);
    await waitForStatus(page, "done");
    assert.equal(requests.length, 3);
    assert.match(toolMessagesOf(requests[1])[0].content, /^Error: approval_expired\. /);
    checkHistories(requests);
  });

  it("of several cards only the first is shown, or one click answers more than its own", async (t) => {
    const { page, requests } = await openWaiting(t, ["a", "b", "c"]);
    const cards = cardOf(page, MAIL);
    assert.equal(await cards.count(), 3);
    const shown = await cards.locator("dl dd").allTextContents();
    assert.deepEqual(shown, ["a", "b", "c"]);
    // A button counts only in full view and at rest, so all of them are. From the last to the first, so that none stands
    // where another was.
    await page.setViewportSize({ width: 1000, height: 2000 });
    for (const [place, name] of [
      [2, "Approve"],
      [1, "Deny"],
      [0, "Approve"],
    ]) {
      assert.deepEqual([requests.length, (await runsOf(page)).send_mail], [1, 0]);
      await press(cards.nth(place), name);
      await page.waitForFunction((left) => window.rig.chat.snapshot().requests.length === left, place);
    }
    await waitForStatus(page, "done");
    assert.equal((await runsOf(page)).send_mail, 2);
    assert.equal(requests.length, 2, "the run goes on once");
    const [a, b, c] = toolMessagesOf(requests[1]).map(({ content }) => content);
    assert.deepEqual([JSON.parse(a).args.to, JSON.parse(c).args.to], ["a", "c"]);
    assert.match(b, /^Error: approval_denied /);
    checkHistories(requests);
  });

  it("two clicks on one card decide twice", async (t) => {
    for (const [name, runs] of [
      ["Approve", 1],
      ["Deny", 0],
    ]) {
      const { page, requests } = await openWaiting(t, ["x"]);
      const place = await placeOf(page, name);
      await page.mouse.click(place.x, place.y, { clickCount: 2 });
      await pressLate(page, place);
      await waitForStatus(page, "done");
      assert.equal((await runsOf(page)).send_mail, runs);
      assert.equal(requests.length, 2);
      checkHistories(requests);
    }
  });

  it("a card appears only after a reload, or asks again after it was answered", async (t) => {
    const { told, requests } = await play(
      browser,
      t,
      [calls(["eat", '{"n":1}'], ["eat", '{"n":2}'])],
      async ({ agentOf, make, memoryStore, runs, until }) => {
        const store = memoryStore();
        const element = document.querySelector("countersign-approvals");
        const looks = [];
        let agent;
        const open = async () => {
          agent?.dispose();
          agent = agentOf({ store, tools: [make("eat")] });
          const chat = await agent.open("c");
          element.chat = chat;
          return chat;
        };
        const look = (chat) => {
          const root = element.shadowRoot;
          const count = (part) => root.querySelectorAll(`[part~=${part}]`).length;
          const ids = chat.snapshot().requests.map(({ id }) => id);
          looks.push({ cards: count("card"), buttons: count("approve"), receipts: count("receipt"), ids });
        };
        let chat = await open();
        await chat.send("Eat.");
        look(chat);
        chat = await open();
        look(chat);
        await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" });
        look(chat);
        chat = await open();
        look(chat);
        await chat.decide(chat.snapshot().requests[0].id, { approve: true, by: "ada" });
        await until(chat, ({ status }) => status === "done");
        chat = await open();
        look(chat);
        return { looks, status: chat.snapshot().status, runs };
      },
    );
    const [first, second] = told.looks[0].ids;
    const both = { cards: 2, buttons: 2, receipts: 0, ids: [first, second] };
    const half = { cards: 2, buttons: 1, receipts: 1, ids: [second] };
    assert.deepEqual(told.looks, [both, both, half, half, { cards: 2, buttons: 0, receipts: 2, ids: [] }]);
    assert.deepEqual([told.status, told.runs], ["done", ["eat", "eat"]]);
    checkHistories(requests);
  });
});
