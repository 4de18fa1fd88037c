/**
 * What a tool asks for, as a person sees and answers it: forms, an authorization, kinds that no card knows; its time; and
 * requests that outlive their page. Clicks and keys are real input.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { launch, openPage, serveSite, toolMessagesOf } from "./harness.mjs";
import { checkHistories, lastResults, obedient, play as playIn } from "./scripted.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

/** A page whose one tool asks for `spec`, its card drawn; `window.chat` is the chat. */
async function ask(t, spec, more = {}) {
  const { page, requests } = await playIn(
    browser,
    t,
    obedient,
    async ({ agentOf, make, order, pendingRequest, given }) => {
      window.seen = [];
      const run = (_, { answer }) => {
        window.seen.push(answer ?? null);
        return answer ? { got: answer.data ?? null } : pendingRequest(given.spec);
      };
      const tool = make("ask", { effect: "read", title: "Asking tool", run });
      window.chat = await agentOf({ tools: [tool], ...given.more }).open("c");
      document.querySelector("countersign-approvals").chat = window.chat;
      await window.chat.send(order(["ask", "{}"]));
    },
    { given: { spec, more } },
  );
  return { page, requests, card: page.getByRole("group", { name: "Asking tool" }) };
}

/** Presses a button once the card takes a click on it. */
async function press(within, name) {
  const armed = within.getByRole("button", { name, exact: true, disabled: false });
  await armed.waitFor();
  await armed.click();
}

const done = (page) => page.waitForFunction(() => window.chat.snapshot().status === "done");
const call = (page) => page.evaluate(() => window.chat.snapshot().messages[1].calls[0]);
const seen = (page) => page.evaluate(() => window.seen);

const form = (properties, required = []) => ({
  kind: "input",
  prompt: "Who is coming?",
  data: { schema: { type: "object", properties, required } },
});

describe("the card of a form", () => {
  it("gives the tool typed values, defaults among them", async (t) => {
    const { page, requests, card } = await ask(
      t,
      form(
        {
          name: { type: "string", title: "Full name", description: "As on the ticket." },
          age: { type: "integer", title: "Age" },
          share: { type: "number", title: "Share", default: 0.5 },
          news: { type: "boolean", title: "Send news", default: true },
          quiet: { type: "boolean", title: "Quiet car" },
          mail: { type: "string", title: "Mail", format: "email" },
          day: { type: "string", title: "Day", format: "date", default: "2026-02-01" },
          at: { type: "string", title: "Moment", format: "date-time", default: "2026-02-01T10:00:00.000Z" },
          size: { type: "string", title: "Size", enum: ["s", "m"], enumNames: ["Small", "Medium"], default: "m" },
          seat: {
            type: "string",
            title: "Seat",
            oneOf: [
              { const: "w", title: "Window" },
              { const: "a", title: "Aisle" },
            ],
          },
          days: {
            type: "array",
            title: "Days",
            items: { type: "string", enum: ["mon", "tue", "wed"] },
            default: ["mon"],
          },
        },
        ["name", "age"],
      ),
    );
    await card.getByText("Who is coming?").waitFor();
    await card.getByRole("textbox", { name: /Full name/ }).fill("Grace");
    await card.getByRole("spinbutton", { name: /Age/ }).fill("42");
    await card.getByRole("textbox", { name: /Mail/ }).fill("grace@example.org");
    await card.getByRole("combobox", { name: /Seat/ }).selectOption({ label: "Aisle" });
    await card.getByRole("checkbox", { name: "Quiet car" }).check();
    await card.getByRole("group", { name: /Days/ }).getByRole("checkbox", { name: "wed" }).check();
    await press(card, "Send");
    await done(page);
    const [, answer] = await seen(page);
    assert.deepEqual(answer.data, {
      ...{ name: "Grace", age: 42, share: 0.5, news: true, quiet: true, mail: "grace@example.org", day: "2026-02-01" },
      ...{ at: "2026-02-01T10:00:00.000Z", size: "m", seat: "a", days: ["mon", "wed"] },
    });
    const { decision } = await call(page);
    assert.deepEqual([decision.via, decision.by, decision.settler], ["card", "ada", "person"]);
    checkHistories(requests);
    await card.getByText("You answered this.").waitFor();
  });

  it("refuses a number that would become another one", async (t) => {
    const { page, card } = await ask(t, form({ id: { type: "integer", title: "Id" } }));
    const id = card.getByRole("spinbutton", { name: "Id" });
    await id.fill("-9007199254740993");
    await press(card, "Send");
    await card.getByText("Id cannot be held exactly: it would become -9007199254740992.").waitFor();
    assert.deepEqual(await seen(page), [null]);
    await id.fill("-9007199254740992");
    await press(card, "Send");
    await done(page);
    assert.deepEqual((await seen(page))[1].data, { id: -9007199254740992 });
  });

  it("says what does not fit, beside its field, and settles nothing until it does", async (t) => {
    const { page, card } = await ask(
      t,
      form(
        { name: { type: "string", title: "Name", minLength: 2 }, age: { type: "integer", title: "Age", minimum: 18 } },
        ["name"],
      ),
    );
    const age = card.getByRole("spinbutton", { name: /Age/ });
    await age.fill("17");
    await press(card, "Send");
    await card.getByText("Name is required.").waitFor();
    await card.getByText("Age must be at least 18.").waitFor();
    assert.equal(await card.getByRole("textbox", { name: /Name/ }).evaluate((field) => field.matches(":focus")), true);
    await card.getByRole("textbox", { name: /Name/ }).fill("G");
    await age.fill("18");
    await press(card, "Send");
    await card.getByText("Name must have a length of at least 2.").waitFor();
    assert.equal(await card.getByText("Age must be at least 18.").count(), 0);
    assert.deepEqual(await seen(page), [null]);
    assert.equal(await page.evaluate(() => window.chat.snapshot().status), "pending");
    await card.getByRole("textbox", { name: /Name/ }).fill("Gr");
    await press(card, "Send");
    await done(page);
    assert.deepEqual((await seen(page))[1].data, { name: "Gr", age: 18 });
  });

  it("declines whatever is filled in, by the person who pressed", async (t) => {
    const { page, requests, card } = await ask(t, {
      ...form({ name: { type: "string" } }, ["name"]),
      kind: "question",
    });
    await press(card, "Decline");
    await done(page);
    const { outcome, decidedBy } = await call(page);
    assert.deepEqual([outcome, decidedBy], ["request_declined", "run_owner"]);
    assert.deepEqual(await seen(page), [null]);
    assert.match(lastResults(requests)[0], /^Error: request_declined \(decided_by: run_owner\)\. /);
  });

  it("decides nothing by a script, by Enter in a field, or before a person can have read it", async (t) => {
    const { page, card } = await ask(t, form({ name: { type: "string", title: "Name", default: "\u202Eevil" } }));
    await card.getByRole("textbox", { name: /Name/ }).press("Enter");
    await card.getByRole("button", { name: "Send", exact: true, disabled: false }).waitFor();
    await page.evaluate(() => {
      const root = document.querySelector("countersign-approvals").shadowRoot;
      for (const button of root?.querySelectorAll("button") ?? []) button.click();
    });
    assert.equal(await page.evaluate(() => window.chat.snapshot().status), "pending");
  });

  it("shows hidden characters of a label as tokens", async (t) => {
    const { card } = await ask(t, form({ name: { type: "string", title: "Na\u202Eme" } }));
    await card.getByText("Na⟨U+202E⟩me (optional)").waitFor();
  });
});

describe("the card of an authorization", () => {
  const URL = "https://auth.example/go?client=1&state=x%20y#top";

  it("sends a person to an authorization by their own click, and has no field", async (t) => {
    const { page, card } = await ask(t, { kind: "authorization", prompt: "Sign in at the shop.", url: URL });
    const served = page
      .context()
      .route("https://auth.example/**", (route) =>
        route.fulfill({ contentType: "text/html", body: "<title>Sign in</title>" }),
      );
    await served;
    await card.getByText(URL, { exact: true }).waitFor();
    assert.equal(await card.locator("input, textarea, select").count(), 0);
    const link = card.getByRole("link", { name: "Open in a new tab" });
    const attributes = await link.evaluate((a) => ({ href: a.href, target: a.target, rel: a.rel }));
    assert.deepEqual(attributes, { href: URL, target: "_blank", rel: "noopener noreferrer" });
    assert.equal(page.context().pages().length, 1, "nothing opens by itself");
    const [opened] = await Promise.all([page.context().waitForEvent("page"), link.click()]);
    await opened.waitForLoadState();
    assert.equal(opened.url(), URL);
    assert.equal(await opened.evaluate(() => window.opener), null);
    await opened.close();
    await page.bringToFront();
    assert.equal(await page.evaluate(() => window.chat.snapshot().status), "pending", "going there answers nothing");
    await press(card, "Done");
    await done(page);
    const [, answer] = await seen(page);
    assert.deepEqual([answer.kind, "data" in answer], ["authorization", false]);
  });

  it("is declined by its button", async (t) => {
    const { page, card } = await ask(t, { kind: "authorization", prompt: "Sign in.", url: URL });
    await press(card, "Decline");
    await done(page);
    assert.equal((await call(page)).outcome, "request_declined");
  });
});

describe("a kind that no card knows", () => {
  it("can be declined by the person and settled by the host", async (t) => {
    const { page, card } = await ask(t, { kind: "acme/biometric", prompt: "Look here." });
    await card.getByText("Look here.").waitFor();
    assert.deepEqual(await card.getByRole("button").allTextContents(), ["Decline"]);
    await page.evaluate(async () => {
      const [{ id }] = window.chat.snapshot().requests;
      await (await window.chat.answer({ id, ok: true, data: 7, by: "policy" })).continuation;
    });
    assert.equal((await seen(page))[1].data, 7);
    await card.getByText("A policy of this application allowed this.").waitFor();
  });
});

describe("a request's time", () => {
  it("lapses at its time into a receipt that can be dismissed", async (t) => {
    const { page, card } = await ask(t, form({ name: { type: "string" } }), { approvals: { expireAfterMs: 300 } });
    await card.getByText("Nobody answered in time.").waitFor();
    await done(page);
    assert.equal(await card.getByRole("button", { name: "Send" }).count(), 0);
    const late = await page.evaluate(() => {
      const { requestId: id } = window.chat.snapshot().messages[1].calls[0];
      return window.chat.answer({ id, ok: true, data: {} }).catch(({ code }) => code);
    });
    assert.equal(late, "expired");
    await press(card, "Dismiss");
    await card.waitFor({ state: "detached" });
    assert.equal((await call(page)).outcome, "request_lapsed", "what happened stays as it was");
  });

  it("is extended by the host, and a clock set back extends nothing", async (t) => {
    const { page } = await ask(t, form({ name: { type: "string" } }), { approvals: { expireAfterMs: 600_000 } });
    const told = await page.evaluate(async () => {
      const { id, expiresAt } = window.chat.snapshot().requests[0];
      const extended = await window.chat.extend(id, { expiresAt: expiresAt + 600_000, by: "ada" });
      const shorter = await window.chat.extend(id, { expiresAt }).catch(({ code }) => code);
      const wrong = await window.chat.extend(id, { expiresAt: "soon" }).catch(({ code }) => code);
      const stands = window.chat.snapshot().requests[0].expiresAt - expiresAt;
      const now = Date.now;
      // A day ahead, and back again, before anybody answers.
      Date.now = () => now() + 86_400_000;
      const late = await window.chat.answer({ id, ok: true, data: {} }).catch(({ code }) => code);
      Date.now = () => now() - 86_400_000;
      const again = await window.chat.answer({ id, ok: true, data: {} }).catch(({ code }) => code);
      return { extended, shorter, wrong, stands, late, again };
    });
    await done(page);
    assert.deepEqual(told, {
      ...{ extended: { result: "applied" }, shorter: "invalid_expiry", wrong: "invalid_expiry", stands: 600_000 },
      ...{ late: "expired", again: "expired" },
    });
  });
});

describe("a request that outlives its page", () => {
  const WEEK = 7 * 86_400_000;

  /** Opens a page of the site that has the chat of this store in it, its clock this far ahead. */
  async function open(page, ahead = 0, log = "") {
    await page.evaluate(() => window.ready);
    await page.evaluate(
      async ({ ahead, log }) => {
        const now = Date.now;
        Date.now = () => now() + ahead;
        const { agentOf, make, order, indexedDBStore, pendingRequest } = (await import("/test/kit.mjs")).kit();
        window.seen = [];
        const run = (_, { answer }) => {
          window.seen.push(answer ?? null);
          const schema = {
            type: "object",
            properties: { name: { type: "string", title: "Name" } },
            required: ["name"],
          };
          return answer ? { got: answer.data } : pendingRequest({ kind: "input", prompt: "Whose?", data: { schema } });
        };
        const tools = [make("ask", { effect: "read", title: "Asking tool", run })];
        window.agent = agentOf({ store: indexedDBStore("requests"), tools });
        window.order = order(["ask", "{}"]);
        window.chat = log ? await window.agent.import(log) : await window.agent.open("c");
        document.querySelector("countersign-approvals").chat = window.chat;
      },
      { ahead, log },
    );
  }

  async function checkAnswered(page, site) {
    await done(page);
    const results = site.requests.flatMap(toolMessagesOf).map(({ content }) => content);
    assert.deepEqual(results, ['{"got":{"name":"Grace"}}'], "one true result");
    assert.equal((await seen(page)).length, 1, "called once more, and here");
    checkHistories(site.requests);
  }

  it("is answered in another tab next week, and the model reads one true result", async (t) => {
    const site = await serveSite(t, { model: obedient });
    const first = await openPage(browser, t, `${site.url}/test/`);
    await open(first);
    await first.evaluate(() => window.chat.send(window.order));
    await first.reload();
    await open(first, WEEK - 1_000);
    assert.equal(await first.evaluate(() => window.chat.snapshot().status), "pending");
    assert.deepEqual(await seen(first), [], "opening calls no tool");
    const second = await first.context().newPage();
    await second.goto(`${site.url}/test/`);
    await open(second, WEEK);
    const card = second.getByRole("group", { name: "Asking tool" });
    await card.getByRole("textbox", { name: "Name" }).fill("Grace");
    await press(card, "Send");
    await checkAnswered(second, site);
    await done(first);
    assert.deepEqual(await seen(first), []);
    const { continuation, ...late } = await first.evaluate(() => {
      const { requestId: id } = window.chat.snapshot().messages[1].calls[0];
      return window.chat
        .answer({ id, ok: true, data: { name: "Ada" }, by: { user: "ada" } })
        .catch(({ code }) => ({ code }));
    });
    assert.deepEqual(late, { code: "conflict" });
  });

  it("goes with its log into another browser profile, and is answered there", async (t) => {
    const site = await serveSite(t, { model: obedient });
    const first = await openPage(browser, t, `${site.url}/test/`);
    await open(first);
    await first.evaluate(() => window.chat.send(window.order));
    for (const way of ["exportLog", "export"]) {
      site.requests.length = 0;
      const log = await first.evaluate(
        (way) => (way === "export" ? window.chat.export({ privacy: "full" }) : window.agent.exportLog("c")),
        way,
      );
      const other = await openPage(browser, t, `${site.url}/test/`);
      await open(other, WEEK, log);
      const card = other.getByRole("group", { name: "Asking tool" });
      await card.getByRole("textbox", { name: "Name" }).fill("Grace");
      await press(card, "Send");
      await checkAnswered(other, site);
    }
    assert.equal(
      await first.evaluate(() => window.chat.snapshot().status),
      "pending",
      "the copy is the one that went on",
    );
  });
});
