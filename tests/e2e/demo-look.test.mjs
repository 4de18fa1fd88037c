/** The demo for everybody: on a narrow screen, with the keys alone, with a name for everything that can be used. */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { answer, BOTH, decide, openDemo } from "./demo.mjs";
import { cardOf, launch, say, toolMessagesOf } from "./harness.mjs";

let browser;
before(async () => {
  browser = await launch();
});
after(() => browser.close());

describe("a screen of 320 pixels", () => {
  const widthOf = (page) =>
    page.evaluate(() => {
      const open = document.querySelector("dialog[open]") ?? document.documentElement;
      return { scrollable: open.scrollWidth, there: open.clientWidth };
    });
  const checkWidth = async (page, when) => {
    const { scrollable, there } = await widthOf(page);
    assert.ok(scrollable <= there && there <= 320, `${when}: ${scrollable} of ${there}`);
  };

  for (const colorScheme of ["light", "dark"]) {
    it(`needs no sideways scrolling, ${colorScheme}`, async (t) => {
      const { page } = await openDemo(browser, t, { viewport: { width: 320, height: 640 }, colorScheme });
      await checkWidth(page, "at the start");
      await say(page, BOTH);
      await cardOf(page, "Draft a mail").waitFor();
      await checkWidth(page, "with two cards");
      await decide(cardOf(page, "Update the page"), "Deny");
      await decide(cardOf(page, "Draft a mail"), "Approve");
      await answer(page, "is kept");
      await page.locator("#results summary").first().click();
      await checkWidth(page, "with receipts, a draft and results");
      await page.getByRole("button", { name: "Settings" }).click();
      for (const kind of ["rehearsal", "ollama", "lm-studio", "hosted"]) {
        await page.getByRole("combobox", { name: "Where the model is" }).selectOption(kind);
        await checkWidth(page, `settings, ${kind}`);
      }
    });
  }

  it("shows the beginning of the first card when cards come, not the end of the last", async (t) => {
    const { page } = await openDemo(browser, t, { viewport: { width: 320, height: 640 } });
    await say(page, BOTH);
    await page.waitForFunction(() => {
      const { top } = document.querySelector("#deciding").getBoundingClientRect();
      const { scrollHeight } = document.documentElement;
      return top >= 0 && top < 40 && scrollHeight > 1200;
    });
  });
});

describe("the keys alone", () => {
  /** What has the focus, in shadow roots too, and whether one can see it. */
  const focused = (page) =>
    page.evaluate(() => {
      let element = document.activeElement;
      while (element.shadowRoot?.activeElement) element = element.shadowRoot.activeElement;
      // The radio buttons lie invisibly on their labels, which show the focus for them.
      const shows = element.type === "radio" ? element.closest("label") : element;
      const { outlineStyle, outlineWidth } = getComputedStyle(shows);
      return {
        tag: element.localName,
        text: (element.value || element.textContent).trim(),
        ring: outlineStyle !== "none" && Number.parseFloat(outlineWidth) >= 2,
      };
    });

  /** Presses Tab until that which has this text has the focus; every stop on the way shows that it has it. */
  async function tabTo(page, text, key = "Tab") {
    for (let stops = 0; stops < 40; stops += 1) {
      await page.keyboard.press(key);
      const at = await focused(page);
      if (at.tag === "body" || at.tag === "html") continue;
      assert.ok(at.ring, `the focus shows on ${at.tag} ${at.text.slice(0, 40)}`);
      if (at.text === text) return;
    }
    assert.fail(`"${text}" is not reached by ${key}`);
  }

  it("choose who decides, ask, deny, and read what the model was told", async (t) => {
    const { page, site } = await openDemo(browser, t);
    await tabTo(page, "self");
    await page.keyboard.press("ArrowRight");
    assert.equal((await focused(page)).text, "other");
    await tabTo(page, "Rewrite the page's title");
    await page.keyboard.press("Enter");
    await cardOf(page, "Update the page").waitFor();
    assert.equal((await focused(page)).text, "Rewrite the page's title", "a card takes no focus");

    await tabTo(page, "Deny", "Shift+Tab");
    await cardOf(page, "Update the page").getByRole("button", { name: "Deny", exact: true, disabled: false }).waitFor();
    await page.keyboard.press("Enter");
    assert.ok((await answer(page, "declined")).startsWith("Another user declined that, not you."));
    assert.match((await focused(page)).text, /declined/, "the focus is on the receipt");

    const { content } = toolMessagesOf(site.requests.at(-1)).at(-1);
    await tabTo(page, content);
    await tabTo(page, site.requests.at(-1).body);
  });

  it("approve a long text after reading it", async (t) => {
    const { page } = await openDemo(browser, t);
    await tabTo(page, "Draft a mail to the team about the outage");
    await page.keyboard.press("Space");
    await cardOf(page, "Draft a mail").waitFor();
    await tabTo(page, "Approve", "Shift+Tab");
    await cardOf(page, "Draft a mail").getByRole("button", { name: "Approve", exact: true, disabled: false }).waitFor();
    await page.keyboard.press("Space");
    await answer(page, "is kept");
  });

  it("open and leave the settings, and the focus goes back", async (t) => {
    const { page } = await openDemo(browser, t);
    await tabTo(page, "Settings");
    await page.keyboard.press("Enter");
    assert.equal((await focused(page)).tag, "select");
    await page.keyboard.press("ArrowDown");
    await tabTo(page, "http://localhost:11434/v1");
    await page.keyboard.press("Escape");
    assert.equal((await focused(page)).text, "Settings");
  });
});

it("everything that can be used has a name", async (t) => {
  const { page } = await openDemo(browser, t);
  await say(page, BOTH);
  await cardOf(page, "Draft a mail").waitFor();
  await page.getByRole("button", { name: "Settings" }).click();
  await page.getByRole("combobox", { name: "Where the model is" }).selectOption("hosted");
  const inDialog = await focusable(page);
  await page.keyboard.press("Escape");
  const all = [...inDialog, ...(await focusable(page))];
  assert.ok(all.length > 20, `${all.length} found`);
  assert.deepEqual(
    all.filter(({ name }) => !name),
    [],
  );
});

/** The roles and names of what takes the focus, as assistive technology gets them. */
async function focusable(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  const found = [];
  for (const { ignored, properties = [], role, name, backendDOMNodeId } of nodes) {
    if (ignored || !properties.some(({ name, value }) => name === "focusable" && value.value)) continue;
    // Places that a script gives the focus to, such as what was unfolded, are reached by no key.
    const { node } = await session.send("DOM.describeNode", { backendNodeId: backendDOMNodeId });
    const place = node.attributes?.indexOf("tabindex") ?? -1;
    if (place < 0 || node.attributes[place + 1] !== "-1") found.push({ role: role.value, name: name?.value });
  }
  return found;
}
