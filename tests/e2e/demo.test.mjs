/** The demo page around the jar: the page, the mail draft, several cards, what the model was told, and its looks. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, BOTH, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, rawResultsOf, say, toolMessagesOf } from "./harness.mjs";

const PAGE = "Update the page";
const MAIL = "Draft a mail";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

const argumentsOf = (request, name) =>
  JSON.parse(request.body)
    .messages.flatMap((message) => message.tool_calls ?? [])
    .filter((call) => call.function.name === name)
    .map((call) => JSON.parse(call.function.arguments));

describe("a tasting", () => {
  it("shows a request of each kind, one after the other", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: "Plan a tasting" }).click();
    const card = page.getByRole("group", { name: "Plan a tasting" });
    await decide(card, "Approve");
    await card.getByRole("checkbox", { name: "ginger" }).check();
    await card.getByRole("checkbox", { name: "oat" }).check();
    await decide(card, "Send");
    await card.getByLabel("Day").fill("2026-03-01");
    await decide(card, "Send");
    await card.getByText("https://example.org/calendar?consent=tasting", { exact: true }).waitFor();
    assert.equal(await card.locator("input, textarea").count(), 0, "an authorization has no field");
    await decide(card, "Done");
    const told =
      "The tasting of oat and ginger cookies is planned for 2026-03-01, with 4 guests. Nobody was invited yet.";
    assert.equal(await answer(page, "The tasting of"), told);
    assert.equal(site.requests.length, 2, "the model is asked once for all of it");
  });

  it("that is declined on its way is told as that", async (t) => {
    const { page } = await openDemo(browser, t);
    await page.getByRole("button", { name: "Plan a tasting" }).click();
    const card = page.getByRole("group", { name: "Plan a tasting" });
    await decide(card, "Approve");
    await card.getByText("Which cookies are to be tasted?").waitFor();
    await decide(card, "Decline");
    const told = "You declined that yourself. The tool had started and stopped when what it asked for was declined.";
    assert.equal(await answer(page, "You declined that"), told);
  });
});

describe("the page", () => {
  it("is read without asking, and changes in the preview once the change is approved", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: "Rewrite the page's title" }).click();
    await cardOf(page, PAGE).waitFor();
    assert.equal(site.requests.length, 2, "reading asks nobody");
    assert.match(await cardOf(page, PAGE).textContent(), /Visitors see a change of the page at once\./);
    assert.equal(await page.locator("#page-title").textContent(), "Status update");

    await decide(cardOf(page, PAGE), "Approve");
    const wanted = "Pictures could not be uploaded this morning between 9:10 and 9:45";
    assert.equal(await answer(page, "is called"), `The page is called "${wanted}" now.`);
    assert.equal(await page.locator("#page-title").textContent(), wanted);
    assert.deepEqual(argumentsOf(site.requests.at(-1), "page__update"), [{ title: wanted }]);
  });

  it("shows what the model writes as text, whatever it looks like", async (t) => {
    const { page } = await openDemo(browser, t);
    const title = "<img src=x onerror=alert(1)> & <b>bold</b>";
    await say(page, `Rename the page to "${title}"`);
    await decide(cardOf(page, PAGE), "Approve");
    await answer(page, "is called");
    assert.equal(await page.locator("#page-title").textContent(), title);
    assert.equal(await page.locator("#page-title *, #told img, #messages img").count(), 0);
  });
});

describe("the mail draft", () => {
  it("shows its long text on the card, and beside the chat once it is approved", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Draft a mail to the team about the outage");
    const card = cardOf(page, MAIL);
    await card.waitFor();
    assert.match(await card.textContent(), /The draft carries your name: read it to the end\./);
    assert.ok(await page.locator("#mail-none").isVisible());
    await decide(card, "Approve");
    assert.equal(
      await answer(page, "is kept"),
      'The draft to team@example.org is kept, with the subject "The outage". It was not sent.',
    );
    const [{ to, subject, body }] = argumentsOf(site.requests.at(-1), "mail__draft");
    assert.equal(await page.locator("#mail-to").textContent(), to);
    assert.equal(await page.locator("#mail-subject").textContent(), subject);
    assert.ok(body.split("\n\n").length > 5, "several paragraphs");
    assert.deepEqual(await page.locator("#mail-body p").allTextContents(), body.split("\n\n"));
  });
});

describe("two calls in one turn", () => {
  it("give two cards, wait for both, and go back together", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await page.getByRole("button", { name: BOTH }).click();
    await cardOf(page, MAIL).waitFor();
    await cardOf(page, PAGE).waitFor();
    const before = site.requests.length;
    await decide(cardOf(page, MAIL), "Deny");
    await page.locator("#messages .state", { hasText: "declined by you" }).waitFor();
    assert.ok(await page.locator("#page-body", { hasText: "Everything else worked" }).isVisible());
    assert.equal(site.requests.length, before, "nothing is sent while a card waits");

    await decide(cardOf(page, PAGE), "Approve");
    assert.equal(
      await answer(page, "declined"),
      "The page: Its text is changed and has 3 paragraphs with 46 words.\n\n" +
        "The mail: You declined that yourself. Nothing was executed, so no draft was kept. " +
        'If you want it after all, say "Do it anyway".',
    );
    assert.equal(await page.locator("#page-body p").count(), 3);
    assert.ok(await page.locator("#mail-none").isVisible());
    assert.deepEqual(
      toolMessagesOf(site.requests.at(-1)).map(({ content }) => content.split(/[ {:]/u, 2).join(" ").trim()),
      ['"title"', '"changed"', "Error"],
    );

    await say(page, "Do it anyway");
    await decide(cardOf(page, MAIL), "Approve");
    await answer(page, "is kept");
    assert.equal(await page.locator("#mail-subject").textContent(), "Status update");
  });
});

describe("what the model was told", () => {
  it("is what the server got, byte for byte, after each decision", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, 'Rename the page to "Größe \\ 🎉 „x“ \u2028 </script>"');
    await decide(cardOf(page, PAGE), "Deny");
    await answer(page, "declined");
    await checkTold(page, site);
    await say(page, BOTH);
    await decide(cardOf(page, PAGE), "Approve");
    await decide(cardOf(page, MAIL), "Deny");
    await answer(page, "The mail: You declined");
    await checkTold(page, site);
    await page.getByRole("button", { name: "New chat" }).click();
    await page.locator("#request-none").waitFor();
    assert.equal(await page.locator("#results li").count(), 0);
  });

  it("can be copied, or is selected where copying is not allowed", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await say(page, "Look into the jar");
    await answer(page, "12 cookies");
    await page.context().grantPermissions([]);
    const copy = page.locator("#request-part").getByRole("button", { name: "Copy" });
    await copy.click();
    await page.locator("#copied", { hasText: "Selected" }).waitFor();
    assert.equal(await page.evaluate(() => getSelection().toString()), site.requests.at(-1).body);
    await page.context().grantPermissions(["clipboard-read", "clipboard-write"]);
    await copy.click();
    await page.locator("#copied", { hasText: "Copied." }).waitFor();
    assert.equal(await page.evaluate(() => navigator.clipboard.readText()), site.requests.at(-1).body);
  });
});

/** The panel shows the last recorded request, its results in text, and each result's bytes. */
async function checkTold(page, site) {
  const last = site.requests.at(-1);
  await page.locator("#request-about", { hasText: "answered with 200" }).waitFor();
  assert.equal(await page.locator("#request").textContent(), last.body);
  assert.match(
    await page.locator("#request-about").textContent(),
    new RegExp(
      `^Request ${site.requests.length}: .*, ${Buffer.byteLength(last.body).toLocaleString("en")} bytes, answered with 200\\.$`,
    ),
  );
  const shown = (await page.locator("#results > li > pre").allTextContents()).reverse();
  assert.deepEqual(
    shown,
    toolMessagesOf(last).map(({ content }) => content),
  );
  const raw = (await page.locator("#results details pre").allTextContents()).reverse();
  const literals = rawResultsOf(last);
  raw.forEach((message, at) => {
    assert.ok(last.body.includes(message), message);
    assert.ok(message.includes(literals[at]), message);
    assert.deepEqual(JSON.parse(message), toolMessagesOf(last)[at]);
  });
  assert.equal(raw.length, shown.length);
}

describe("who decides", () => {
  const CHOICES = [
    ["Myself", "run_owner", "You declined that yourself.", "declined by you"],
    ["Another user", "other_user", "Another user declined that, not you.", "declined by another user"],
    ["Unidentified", "unknown", "That was declined.", "declined"],
  ];
  for (const [name, token, head, state] of CHOICES) {
    it(`reaches the model: ${name}`, async (t) => {
      const { page, site } = await openDemo(browser, t);
      await page.getByRole("radio", { name }).check();
      assert.equal(await page.locator("#decider-told").textContent(), `decided_by: ${token}`);
      await say(page, "Rewrite the page's title");
      await decide(cardOf(page, PAGE), "Deny");
      const said = await answer(page, "declined");
      assert.ok(said.startsWith(`${head} Nothing was executed, so the page is as it was.`), said);
      assert.ok(
        toolMessagesOf(site.requests.at(-1))
          .at(-1)
          .content.startsWith(`Error: approval_denied (decided_by: ${token}). `),
      );
      assert.equal(await page.locator("#messages .state").last().textContent(), `not run: ${state}`);
      assert.equal(
        await page.locator("#results > li > pre").first().textContent(),
        toolMessagesOf(site.requests.at(-1)).at(-1).content,
      );
    });
  }
});

describe("an answer", () => {
  it("is shown while it comes in, and can be stopped", async (t) => {
    let goOn;
    const held = new Promise((resolve) => {
      goOn = resolve;
    });
    t.after(() => goOn());
    const event = (content) => `data: ${JSON.stringify({ choices: [{ index: 0, delta: { content } }] })}\n\n`;
    const model = () => ({
      status: 200,
      contentType: "text/event-stream",
      chunks: (async function* () {
        yield event("Half of");
        await held;
      })(),
    });
    const { page } = await openDemo(browser, t, undefined, { model });
    await say(page, "Hello");
    await page.locator("#messages > li.assistant", { hasText: "Half of" }).waitFor();
    await page.getByRole("button", { name: "Stop" }).click();
    await page.locator("#status", { hasText: "The run was stopped." }).waitFor();
    assert.ok(await page.getByRole("button", { name: "Stop" }).isHidden());
    assert.equal(await page.evaluate(() => document.activeElement.id), "text", "the focus is not lost with the button");
  });

  it("that failed can be asked for again", async (t) => {
    let broken = true;
    const event = (delta, finish) =>
      `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
    const model = () =>
      broken
        ? { status: 400, contentType: "application/json", chunks: ['{"error":{"message":"Not today."}}'] }
        : {
            status: 200,
            contentType: "text/event-stream",
            chunks: [event({ content: "Now it works." }, "stop"), "data: [DONE]\n\n"],
          };
    const { page } = await openDemo(browser, t, undefined, { model }, /400/);
    await say(page, "Hello");
    await page.locator("#messages > li.error", { hasText: "Not today." }).waitFor();
    await page.locator("#trouble-text", { hasText: "The request failed." }).waitFor();
    broken = false;
    await page.getByRole("button", { name: "Try again" }).click();
    assert.equal(await answer(page, "Now it works."), "Now it works.");
    assert.ok(await page.locator("#trouble").isHidden());
  });
});
