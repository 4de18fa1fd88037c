/** The demo page with the rehearsal model, from the first message to the answer, with a real mouse. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, say, toolMessagesOf } from "./harness.mjs";

const TOOL = "cookiejar__cookie_jar";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const callsOf = (request) => JSON.parse(request.body).messages.flatMap((message) => message.tool_calls ?? []);
const countOf = (page) => page.locator("#count");

describe("emptying the jar", () => {
  it("looks first, asks for exactly that many, and a denial leaves the jar as it was", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: "Empty the jar" }).click();
    await cardOf(page, "Cookie jar").waitFor();

    assert.equal(site.requests.length, 2, "looking asks nobody");
    assert.deepEqual(
      callsOf(site.requests[1]).map((call) => JSON.parse(call.function.arguments)),
      [{ action: "look" }],
    );
    assert.deepEqual(JSON.parse(toolMessagesOf(site.requests[1])[0].content), { cookies: 12 });
    assert.match(await cardOf(page, "Cookie jar").textContent(), /Cookies cannot be un-eaten\./);
    assert.equal(await countOf(page).textContent(), "12 cookies");

    await decide(cardOf(page, "Cookie jar"), "Deny");
    assert.match(
      await answer(page, "declined"),
      /^You declined that yourself\. Nothing was executed, so no cookie was eaten\./,
    );
    assert.equal(await countOf(page).textContent(), "12 cookies");

    const [, eat] = callsOf(site.requests[2]);
    assert.equal(eat.function.name, TOOL);
    assert.deepEqual(JSON.parse(eat.function.arguments), { action: "eat", count: 12 });
    const [, denial] = toolMessagesOf(site.requests[2]);
    assert.ok(
      denial.content.startsWith(
        `Error: approval_denied (decided_by: run_owner). The approval for tool "${TOOL}" was declined by the user who ` +
          "started this run, the person you are talking to. Nothing was executed. ",
      ),
      denial.content,
    );
    assert.ok(
      site.requests.every(({ status }) => status === 200),
      "the strict server refused nothing",
    );
  });

  it("eats them all when it is approved, after a message from the keyboard", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Empty the jar, please");
    await decide(cardOf(page, "Cookie jar"), "Approve");
    assert.equal(await answer(page, "eaten"), "12 cookies were eaten; the jar is empty now.");
    assert.equal(await countOf(page).textContent(), "0 cookies");
    assert.deepEqual(JSON.parse(toolMessagesOf(site.requests.at(-1)).at(-1).content), { eaten: 12, cookies: 0 });
  });

  it("proposes the call again when the user says so, and then it runs", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    await decide(cardOf(page, "Cookie jar"), "Deny");
    await answer(page, "declined");
    await say(page, "Do it anyway");
    await decide(cardOf(page, "Cookie jar"), "Approve");
    assert.equal(await answer(page, "9 are left"), "3 cookies were eaten; 9 are left in the jar.");
    assert.equal(await countOf(page).textContent(), "9 cookies");
  });

  it("starts over with a full jar and nothing pending", async (t) => {
    const { page } = await openDemo(browser, t);
    await say(page, "Eat 3 cookies");
    await decide(cardOf(page, "Cookie jar"), "Approve");
    await answer(page, "9 are left");
    await say(page, "Empty the jar");
    await cardOf(page, "Cookie jar").waitFor();
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator("#count", { hasText: "12 cookies" }).waitFor();
    await page.locator("#messages:empty").waitFor({ state: "attached" });
    assert.equal(await cardOf(page, "Cookie jar").count(), 0);
  });
});

describe("the rehearsal model", () => {
  it("says what the model is, on the page and in its answer", async (t) => {
    const { page } = await openDemo(browser, t);
    await page.getByText("rehearsal model: a fixed set of rules, no language model").waitFor();
    await say(page, "Who are you?");
    assert.match(await answer(page, "I am"), /^I am the rehearsal model: a set of fixed rules, no language model\./);
  });
});
