/** The demo's chat outlasts its page, and what lies on the desk with it. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, decide, openDemo, ready } from "./demo.mjs";
import { door, half } from "./durable.mjs";
import { cardOf, launch, messagesOf, openPage, say, serveSite, toolMessagesOf } from "./harness.mjs";
import { checkHistories } from "./scripted.mjs";

const JAR = "Cookie jar";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function reload(page) {
  await page.reload();
  await ready(page);
}

/** Another tab of the same address. */
async function secondTab(page) {
  const second = await page.context().newPage();
  await second.goto(page.url());
  await ready(second);
  return second;
}

const countOf = (page) => page.locator("#count").textContent();
const hasCount = (page, text) => page.locator("#count", { hasText: text }).waitFor();

describe("after a reload", () => {
  it("the card still waits and works, and the desk is as the chat left it", async (t) => {
    const { page, site } = await openDemo(browser, t);
    const address = page.url();
    assert.match(address, /#chat=[0-9a-f]{16}$/);
    await say(page, "Eat 3 cookies");
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "9 are left");
    await say(page, 'Rename the page to "Cookies"');
    await decide(cardOf(page, "Update the page"), "Approve");
    await answer(page, "is called");
    await say(page, "Eat 4 cookies");
    await cardOf(page, JAR).waitFor();
    const before = await page.locator("#messages").textContent();

    await reload(page);
    assert.equal(page.url(), address);
    assert.equal(await page.locator("#messages").textContent(), before);
    assert.deepEqual([await countOf(page), await page.locator("#page-title").textContent()], ["9 cookies", "Cookies"]);
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "5 are left");

    await reload(page);
    assert.equal(await countOf(page), "5 cookies");
    assert.deepEqual(
      toolMessagesOf(site.requests.at(-1)).map(({ content }) => JSON.parse(content).cookies),
      [12, 9, undefined, 9, 5],
    );
    checkHistories(site.requests);
  });

  it("a run that was left half way says so, and goes on when a person wants it", async (t) => {
    const gate = door();
    t.after(gate.open);
    const { page, site } = await openDemo(browser, t, undefined, { model: () => half(gate) });
    await say(page, "Hello");
    await page.locator("#messages > li.assistant", { hasText: "Half of" }).waitFor();
    await reload(page);
    await page.getByText("The run was interrupted.").waitFor();
    assert.equal(site.requests.length, 1, "nothing goes on by itself");
    gate.open();
    await page.getByRole("button", { name: "Go on" }).click();
    assert.equal(await answer(page, "Half of"), "Half of it.");
    assert.ok(await page.locator("#trouble").isHidden());
    assert.deepEqual(messagesOf(site.requests[1]), messagesOf(site.requests[0]));
  });
});

describe("the address", () => {
  it("names another chat after New chat, and Back leads to the first one, as it stands", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "9 are left");
    await say(page, "Empty the jar");
    await cardOf(page, JAR).waitFor();
    const first = page.url();

    await page.getByRole("button", { name: "New chat" }).click();
    await hasCount(page, "12 cookies");
    await page.locator("#messages:empty").waitFor({ state: "attached" });
    assert.notEqual(page.url(), first);
    assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    await say(page, "Eat 1 cookie");
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "11 are left");

    await page.goBack();
    await hasCount(page, "9 cookies");
    assert.equal(page.url(), first);
    await decide(cardOf(page, JAR), "Deny");
    await answer(page, "declined");

    await page.goForward();
    await hasCount(page, "11 cookies");
    // Chromium fetches the icon again after a step in its history: this waits for it.
    await reload(page);
    await hasCount(page, "11 cookies");
  });

  it("without a chat leads to the one shown last", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Look into the jar");
    await answer(page, "12 cookies");
    const last = page.url();
    await page.goto(`${site.url}/`);
    await ready(page);
    assert.equal(page.url(), last);
    await answer(page, "12 cookies");
  });
});

describe("a chat whose store is deleted", () => {
  it("says so on the page, and offers nothing that it cannot do", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    await cardOf(page, JAR).waitFor();
    const second = await page.context().newPage();
    await second.goto(new URL("/gallery.html", page.url()).href);
    await second.evaluate(() => new Promise((done) => (indexedDB.deleteDatabase("countersign").onsuccess = done)));
    await page.bringToFront();
    await decide(cardOf(page, JAR), "Approve");
    await cardOf(page, JAR).getByText("Nothing was decided: this chat was deleted. Open another one.").waitFor();
    await page.locator("#trouble-text", { hasText: "This chat was deleted; open another one." }).waitFor();
    const shown = ["Try again", "Stop"].map((name) => page.getByRole("button", { name, exact: true }).isVisible());
    assert.deepEqual(await Promise.all(shown), [false, false]);
    assert.equal(await countOf(page), "12 cookies");
    await page.getByRole("button", { name: "New chat" }).click();
    await say(page, "Eat 1 cookie");
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "11 are left");
  });
});

describe("a second tab", () => {
  it("shows the same chat and desk, live, and decides as well", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    await cardOf(page, JAR).waitFor();
    const second = await secondTab(page);
    await decide(cardOf(second, JAR), "Approve");
    assert.equal(await answer(page, "9 are left"), await answer(second, "9 are left"));
    await Promise.all([hasCount(page, "9 cookies"), hasCount(second, "9 cookies")]);
    assert.equal(await cardOf(page, JAR).count(), 0);

    await page.bringToFront();
    await say(page, "Eat 2 cookies");
    await cardOf(second, JAR).waitFor();
    await decide(cardOf(page, JAR), "Approve");
    await answer(second, "7 are left");
    await hasCount(second, "7 cookies");
    checkHistories(site.requests);
  });
});

describe("a browser that keeps nothing", () => {
  it("is told of, and the chat works", async (t) => {
    const site = await serveSite(t);
    const page = await openPage(browser, t, "about:blank");
    await page.addInitScript(() => {
      for (const name of ["indexedDB", "localStorage"]) Object.defineProperty(window, name, { value: undefined });
    });
    await page.goto(`${site.url}/`);
    await ready(page);
    await page.getByText("This browser keeps nothing for this page").waitFor();
    await say(page, "Eat 3 cookies");
    await decide(cardOf(page, JAR), "Approve");
    await answer(page, "9 are left");
    await hasCount(page, "9 cookies");
  });
});
