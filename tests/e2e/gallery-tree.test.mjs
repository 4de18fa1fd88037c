/**
 * What assistive technology gets of every state of the card. The trees are pinned; after a wanted change:
 * UPDATE_EXPECT=1 node --test tests/e2e/gallery-tree.test.mjs
 */
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { arm, openGallery, TOGETHER } from "./gallery.mjs";
import { treesOf } from "./gallery-tree.mjs";
import { launch, openTestPage, serveSite } from "./harness.mjs";
import { obedient } from "./scripted.mjs";

const GOLDEN = new URL("../golden/accessibility.txt", import.meta.url);

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("the accessibility tree", () => {
  it("A7: of every state is as pinned", async (t) => {
    const page = await openGallery(browser, t, await serveSite(t));
    await arm(page);
    const trees = await treesOf(page);
    const found = TOGETHER.map(({ name, title }) => [`# ${name}`, ...(trees[title] ?? ["nothing"])].join("\n"));
    // The gallery's clock goes on while its cards are drawn: seconds are not pinned.
    const text = `${found.join("\n\n")}\n`.replaceAll(/(\d:\d\d):\d\d(\s[AP]M)/g, "$1:00$2");
    if (process.env.UPDATE_EXPECT === "1") writeFileSync(GOLDEN, text);
    assert.equal(text, readFileSync(GOLDEN, "utf8"));
  });

  it("A7: has a group for each card, named by its title and described by why it stopped", async (t) => {
    const page = await openGallery(browser, t, await serveSite(t));
    const cards = await page.evaluate(() =>
      [...document.querySelectorAll("figure:has(countersign-approvals)")].map(
        ({ dataset, lastElementChild: { shadowRoot } }) => ({
          state: dataset.state,
          groups: [...shadowRoot.querySelectorAll("[part~='card']")].map((card) => {
            const [name, why] = ["title", "why"].map((part) => card.querySelector(`[part~='${part}']`));
            const [label, described] = ["aria-labelledby", "aria-describedby"].map((of) =>
              card.getAttribute(of).split(" "),
            );
            return [card.role, label.includes(name.id), described.includes(why.id), card.tabIndex];
          }),
          // Read out at once, over whatever is being read: nothing that a person could press may be in one.
          alarms: [...shadowRoot.querySelectorAll("[role='alert'], [aria-live='assertive']")].filter((alarm) =>
            alarm.querySelector("button, input, select, textarea, a, [tabindex]"),
          ).length,
        }),
      ),
    );
    assert.equal(cards.length, TOGETHER.filter(({ shows }) => shows !== "grants").length);
    for (const { state, groups, alarms } of cards) {
      assert.ok(groups.length > 0, state);
      for (const group of groups) assert.deepEqual(group, ["group", true, true, -1], state);
      assert.equal(alarms, 0, state);
    }
    // In the document, so that it lasts when elements come and go.
    assert.equal(await page.locator("body > [data-countersign='status'][role='status']").count(), 1);
  });
});

/** A chat of the test page that asks about what it is told; `window.said` is what the status has said so far. */
async function listenIn(t) {
  const site = await serveSite(t, { model: obedient });
  const page = await openTestPage(browser, t, site);
  await page.evaluate(async () => {
    const kit = (await import("/test/kit.mjs")).kit();
    const { agentOf, make, memoryStore } = kit;
    const store = memoryStore();
    const tools = [make("eat", { title: "Eat a cookie" }), make("mail", { title: "Send a mail" })];
    window.chat = await agentOf({ tools, store }).open("c");
    window.order = kit.order;
    window.again = () => agentOf({ tools, store }).open("c");
    window.said = [];
    const element = document.querySelector("countersign-approvals");
    element.chat = window.chat;
    const status = document.querySelector("[data-countersign='status']");
    const look = () => window.said.push(status.textContent);
    new MutationObserver(look).observe(status, { characterData: true, childList: true, subtree: true });
  });
  return page;
}

describe("announcements", () => {
  it("A7: say what waits when something is added, and move no focus", async (t) => {
    const page = await listenIn(t);
    await page.getByRole("textbox", { name: "Message" }).focus();
    const told = await page.evaluate(async () => {
      const { chat, order, said } = window;
      await chat.send(order(["eat", "{}"], ["mail", "{}"]));
      const [first, second] = chat.snapshot().requests;
      const focused = document.activeElement.id;
      await chat.decide(first.id, { approve: false, by: "ada" });
      const { continuation } = await chat.decide(second.id, { approve: false, by: "ada" });
      await continuation;
      await chat.send(order(["mail", "{}"]));
      return { said, focused, after: document.activeElement.id };
    });
    assert.deepEqual(
      told.said.filter((text) => text !== ""),
      [
        "2 approvals waiting: Eat a cookie, Send a mail",
        "Eat a cookie: You declined this.",
        "Send a mail: You declined this.",
        "1 approval waiting: Send a mail",
      ],
    );
    assert.deepEqual([told.focused, told.after], ["text", "text"]);
  });

  it("A7: say nothing of what was there before", async (t) => {
    const page = await listenIn(t);
    const said = await page.evaluate(async () => {
      const { chat, order } = window;
      await chat.send(order(["eat", "{}"]));
      const element = document.querySelector("countersign-approvals");
      const opened = await window.again();
      element.chat = opened;
      await new Promise((done) => setTimeout(done));
      const cards = element.shadowRoot.querySelectorAll("[part~='card']").length;
      return { cards, said: window.said.filter((text) => text !== "") };
    });
    assert.deepEqual(said, { cards: 1, said: ["1 approval waiting: Eat a cookie"] }, "once, when it came");
  });
});
