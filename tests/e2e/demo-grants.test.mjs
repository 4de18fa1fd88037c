/** Standing permissions in the demo: given on the card of the mail draft, shown beside the chat, and taken back there. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, say } from "./harness.mjs";

const MAIL = "Draft a mail";
const WISH = "Draft a mail to the team about the outage";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("a standing permission", () => {
  it("is given on the card, is listed, lets the same draft run, and is revoked", async (t) => {
    const { page } = await openDemo(browser, t);
    const grants = page.locator("countersign-grants");
    await grants.getByText("No standing permissions.").waitFor();
    await say(page, WISH);
    const card = cardOf(page, MAIL);
    await card.getByRole("button", { name: "More", exact: true }).click();
    await card.getByRole("button", { name: "Allow in this chat…" }).click();
    await decide(card, "Allow in this chat");
    await answer(page, "is kept");
    await grants.getByText("mail__draft", { exact: true }).waitFor();

    const kept = page.locator("#messages > li.assistant > .text", { hasText: "is kept" });
    await say(page, WISH);
    await kept.nth(1).waitFor();
    assert.equal(await cardOf(page, MAIL).count(), 0, "nobody was asked");

    await grants.getByRole("button", { name: "Revoke: mail__draft" }).click();
    await grants.getByText("No standing permissions.").waitFor();
    await say(page, WISH);
    await cardOf(page, MAIL).waitFor();
  });

  it("is not offered for what cannot be taken back", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    const card = cardOf(page, "Cookie jar");
    await card.getByRole("button", { name: "More", exact: true }).click();
    await card.getByRole("button", { name: "Edit arguments" }).waitFor();
    assert.equal(await card.getByRole("button", { name: /^A(llow in|lways)/ }).count(), 0);
  });
});
