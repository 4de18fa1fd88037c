/** The demo under a person's hands: keys, presses that were not meant twice, and what is read out. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, messagesOf, say } from "./harness.mjs";

const PAGE = "Update the page";
const SUGGESTION = "Rewrite the page's title";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("Escape", () => {
  it("leads from a card to the composer, and decides nothing", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, SUGGESTION);
    await cardOf(page, PAGE).getByRole("button", { name: "Deny", exact: true }).focus();
    const focused = () => page.evaluate(() => document.activeElement.id);
    assert.equal(await focused(), "approvals");
    const before = site.requests.length;
    await page.keyboard.press("Escape");
    assert.equal(await focused(), "text");
    await cardOf(page, PAGE).waitFor();
    assert.equal(site.requests.length, before);
  });
});

describe("a suggestion", () => {
  const said = async (page, site) => {
    await cardOf(page, PAGE).waitFor();
    assert.equal(await page.locator("#messages > li.user").count(), 1);
    assert.equal(messagesOf(site.requests.at(-1)).filter(({ role }) => role === "user").length, 1);
  };

  it("is sent once by a double click", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: SUGGESTION }).dblclick();
    await said(page, site);
  });

  it("is sent once while Enter is held", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: SUGGESTION }).focus();
    await page.keyboard.down("Enter");
    await cardOf(page, PAGE).waitFor();
    // By now the chat is not running, so that only the key's repeat tells these from a press that is meant.
    for (let repeats = 0; repeats < 5; repeats += 1) await page.keyboard.down("Enter");
    await page.keyboard.up("Enter");
    await said(page, site);
  });

  it("is not sent while the model is at work", async (t) => {
    const { page, site } = await openDemo(browser, t);
    // Presses in one task: the second comes as soon as one can come.
    await page.getByRole("button", { name: SUGGESTION }).evaluate((button) => {
      button.click();
      button.click();
      queueMicrotask(() => button.click());
    });
    await said(page, site);
  });
});

describe("a call whose arguments were changed on its card", () => {
  it("is shown with those that it ran with, and that they were changed", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    const card = cardOf(page, "Cookie jar");
    await card.getByRole("button", { name: "More", exact: true }).click();
    await card.getByRole("button", { name: "Edit arguments" }).click();
    await card.getByLabel("count").fill("2");
    await decide(card, "Approve with changes");
    await page.locator("#count", { hasText: "10 cookies" }).waitFor();
    const calls = page.locator("#messages .calls > li");
    const last = calls.last();
    await last.locator(".state", { hasText: "ran, with its arguments changed on the card" }).waitFor();
    assert.deepEqual(JSON.parse(await last.locator("code").textContent()), { action: "eat", count: 2 });
    assert.equal(await calls.first().locator(".state").textContent(), "ran", "the look before it was not changed");
  });
});

describe("what is read out", () => {
  it("is each status once, and an answer when it is finished", async (t) => {
    const pieces = ["One", " by", " one", " the", " words", " come."];
    const event = (delta, finish) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const model = () => ({
      status: 200,
      contentType: "text/event-stream",
      chunks: [...pieces.map((content) => event({ content })), event({}, "stop"), "data: [DONE]\n\n"],
    });
    const { page } = await openDemo(browser, t, undefined, { model });
    await page.evaluate(() => {
      window.heard = { statuses: [], inPieces: [], whole: [] };
      const list = { childList: true, characterData: true, subtree: true };
      new MutationObserver(() => window.heard.statuses.push(document.querySelector("#status").textContent)).observe(
        document.querySelector("#status"),
        list,
      );
      new MutationObserver(() => {
        for (const item of document.querySelectorAll("#messages > li.assistant")) {
          const { dataset, ariaLive, ariaBusy, textContent } = item;
          if (dataset.id === "streaming") window.heard.inPieces.push([ariaLive, ariaBusy]);
          else window.heard.whole.push([ariaLive, ariaBusy, textContent]);
        }
      }).observe(document.querySelector("#messages"), list);
    });
    await say(page, "Hello");
    await answer(page, pieces.join(""));
    const { statuses, inPieces, whole } = await page.evaluate(() => window.heard);
    assert.deepEqual(statuses, ["The model is at work.", ""]);
    assert.ok(inPieces.length > 0);
    for (const piece of inPieces) assert.deepEqual(piece, ["off", "true"]);
    assert.deepEqual(whole, [[null, null, pieces.join("")]]);
  });
});
