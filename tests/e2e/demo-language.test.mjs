/** The demo's switch for the language of its cards. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, decide, openDemo, ready } from "./demo.mjs";
import { launch, say } from "./harness.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

async function choose(page, language) {
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("combobox", { name: "Language of the cards" }).selectOption(language);
  await page.keyboard.press("Escape");
}

const card = (page) => page.getByRole("group", { name: "Update the page" });

describe("the language of the cards", () => {
  it("changes at once, in the chat as it stands, and back", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Rewrite the page's title");
    await card(page).getByRole("button", { name: "Deny" }).waitFor();
    const before = [page.url(), site.requests.length];
    for (const [language, name] of [
      ["Deutsch", "Ablehnen"],
      ["العربية", "رفض"],
      ["English", "Deny"],
    ]) {
      await choose(page, language);
      await card(page).getByRole("button", { name, exact: true }).waitFor();
      assert.equal(await card(page).count(), 1);
    }
    assert.deepEqual([page.url(), site.requests.length], before, "no new chat was begun");
  });

  it("is found again after a reload, from right to left, and decides as ever", async (t) => {
    const { page } = await openDemo(browser, t);
    await choose(page, "العربية");
    await page.reload();
    await ready(page);
    await say(page, "Rewrite the page's title");
    assert.equal(await card(page).evaluate((node) => getComputedStyle(node).direction), "rtl");
    await decide(card(page), "موافقة");
    await card(page).getByText("أنت وافقت على هذا.").waitFor();
    await answer(page, "is called");
    assert.equal(await page.evaluate(() => getComputedStyle(document.body).direction), "ltr", "the page stays English");
  });

  it("is the same in every tab", async (t) => {
    const { page, site } = await openDemo(browser, t);
    const other = await page.context().newPage();
    await other.goto(`${site.url}/`);
    await ready(other);
    await choose(page, "Deutsch");
    await other.waitForFunction(() => document.querySelector("#settings-language").value === "de");
  });

  it("is English where something else was kept", async (t) => {
    const { page } = await openDemo(browser, t);
    await page.evaluate(() => localStorage.setItem("countersign-demo:language", "../tlh"));
    await page.reload();
    await ready(page);
    assert.equal(await page.locator("#settings-language").inputValue(), "en");
  });
});
