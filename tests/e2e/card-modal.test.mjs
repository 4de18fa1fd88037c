// Cards that wait in a dialog, where the host wants that.
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { armedButton, click, count, find, focus, openCards, rests, text } from "./cards.mjs";

/** The page's own chat stays; the element presents its cards in a dialog, and its composer is known. */
async function waiting({ given, agentOf, make, order, runs }) {
  const element = document.querySelector("countersign-approvals");
  element.setAttribute("composer", "text");
  if (!given.inline) element.setAttribute("presentation", "modal");
  const rig = { runs };
  rig.ask = (...numbers) => rig.chat.send(order(...numbers.map((n) => ["eat", JSON.stringify({ n })])));
  rig.chat = await agentOf({ tools: [make("eat", { title: "Eat", preview: () => ["9 cookies"] })] }).open("c");
  element.chat = rig.chat;
  if (given.early) await rig.ask(1);
  return rig;
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    const open = async (t, given = {}) => (await openCards(browser, t, waiting, { given })).page;
    const ask = (page, ...numbers) => page.evaluate((numbers) => window.rig.ask(...numbers), numbers);
    const dialog = (page) =>
      page.evaluate(() => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        const dialog = root.querySelector("[part=dialog]");
        return {
          open: dialog.open,
          role: dialog.getAttribute("role"),
          modal: dialog.getAttribute("aria-modal"),
          label: dialog.getAttribute("aria-label"),
          described: (dialog.getAttribute("aria-describedby") ?? "")
            .split(" ")
            .map((id) => root.getElementById(id)?.textContent),
          region:
            document.querySelectorAll("[role=status]").length +
            root.querySelectorAll("[role=status]:not([part])").length,
          regionInside: dialog.querySelector("[role=status]:not([part])") !== null,
        };
      });

    it("A7: inline is the default: a group, no dialog, and no alert around controls", async (t) => {
      const page = await open(t, { inline: true });
      await ask(page, 1);
      const card = await find(page, "[part~=card]");
      assert.equal(await card.evaluate((card) => card.getAttribute("role")), "group");
      assert.equal(await count(page, "dialog, [role=alertdialog], [role=alert], [aria-modal]"), 0);
      const names = await card.evaluate((card) => {
        const root = card.getRootNode();
        const texts = (name) =>
          card
            .getAttribute(name)
            .split(" ")
            .map((id) => root.getElementById(id)?.textContent);
        return [texts("aria-labelledby"), texts("aria-describedby")[0]];
      });
      assert.deepEqual(names, [["Eat"], "This tool changes something, so a person is asked first."]);
    });

    it("A7: a dialog opens when a request arrives, with the focus on Deny, and takes real clicks", async (t) => {
      const page = await open(t);
      assert.equal((await dialog(page)).open, false);
      await page.focus("#text");
      await ask(page, 1);
      await armedButton(page, "deny");
      assert.equal(await focus(page), "deny 0");
      const { described, ...state } = await dialog(page);
      assert.deepEqual(state, {
        open: true,
        role: "alertdialog",
        modal: "true",
        label: "1 approval waiting",
        region: 1,
        regionInside: true,
      });
      assert.deepEqual(described, [
        "Eat",
        "This tool changes something, so a person is asked first.",
        "✎Changes something↻Each run takes effect",
      ]);
      // Nothing behind it takes the focus.
      await page.evaluate(() => document.querySelector("#text").focus());
      assert.equal(await focus(page), "deny 0");
      await page.keyboard.press("Tab");
      assert.equal(await focus(page), "approve 0");
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await page.evaluate(() => window.rig.runs), ["eat"]);
      // It closes when nothing waits; the receipt stands in the page, and has the focus.
      assert.deepEqual((({ open, role, modal }) => [open, role, modal])(await dialog(page)), [false, "none", null]);
      assert.equal(await focus(page), "receipt 0");
      await text(page, "[part~=receipt] > span", /It ran/);
      assert.ok((await (await find(page, "[part~=receipt]")).boundingBox()).height > 0);
      assert.equal((await dialog(page)).regionInside, false);
    });

    it("A13: Escape closes the dialog for the composer and decides nothing; a button opens it again", async (t) => {
      const page = await open(t);
      // Not to what had the focus before, as the browser does.
      await page.focus("form button");
      await ask(page, 1, 2);
      await armedButton(page, "deny");
      await page.keyboard.press("Escape");
      await waitFor(page, () => document.activeElement.id === "text");
      assert.equal((await dialog(page)).open, false);
      assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 2);
      // What waits is out of sight, so that no click can come to it.
      assert.equal(await (await find(page, "[part=approve]")).boundingBox(), null);
      const reopen = await find(page, "[part=reopen]:not([hidden])");
      assert.equal(await reopen.evaluate((button) => button.textContent), "2 approvals waiting");
      await reopen.click();
      await waitFor(
        page,
        () => document.querySelector("countersign-approvals").shadowRoot.querySelector("dialog").open,
      );
      assert.equal(await focus(page), "deny 0");
      await click(page, "deny-all");
      await rests(page);
      assert.equal((await dialog(page)).open, false);
      assert.equal(await count(page, "[part=reopen]:not([hidden])"), 0);
    });

    it("A5: a key that was held in the composer decides nothing in the dialog that opens under it", async (t) => {
      const page = await open(t);
      await page.focus("#text");
      await page.evaluate(() => {
        document
          .querySelector("#text")
          .addEventListener("keydown", ({ key }) => key === "x" && window.rig.ask(1), { once: true });
      });
      await page.keyboard.press("x");
      await page.keyboard.down("Enter");
      await armedButton(page, "deny");
      assert.equal(await focus(page), "deny 0");
      for (let repeats = 0; repeats < 10; repeats += 1) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 1);
    });

    it("A7: a card that is there from the start opens the dialog, and another presentation takes it back", async (t) => {
      const page = await open(t, { early: true });
      await armedButton(page, "deny");
      assert.equal((await dialog(page)).open, true);
      await page.evaluate(() => document.querySelector("countersign-approvals").removeAttribute("presentation"));
      await waitFor(page, () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("dialog"));
      assert.equal(await count(page, "[part=reopen]"), 0);
      await click(page, "deny");
      await rests(page);
    });
  });
}
