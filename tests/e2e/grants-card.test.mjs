// Standing permissions on the card and in their list: given in two steps by a real click, seen, revoked. In each browser.
import assert from "node:assert/strict";
import { it } from "node:test";
import { inEachBrowser } from "./boundary.mjs";
import { waitFor } from "./browsers.mjs";
import { obedient } from "./scripted.mjs";

const MAIL = '{"to":"grace@example.org"}';

/** What is in the element's shadow root, once it is there. */
const part = (page, name, place = 0, tag = "countersign-approvals") =>
  waitFor(
    page,
    (tag, name, place) => document.querySelector(tag)?.shadowRoot.querySelectorAll(`[part~="${name}"]`)[place],
    tag,
    name,
    place,
  );

/** A click by the mouse, once the button is armed. */
async function press(page, name) {
  const button = await part(page, name);
  await button.evaluate((button) => button.scrollIntoView({ block: "center" }));
  await waitFor(page, (button) => button.getAttribute("aria-disabled") !== "true", button);
  await button.click();
}

const ask = (page, made = [["send_mail", MAIL]]) =>
  page.evaluate(async (made) => (await window.rig.chat.send(JSON.stringify(made))).status, made);
const statusIs = (page, wanted) => waitFor(page, (wanted) => window.rig.chat.snapshot().status === wanted, wanted);
const list = (page) => page.evaluate(() => window.rig.agent.grants.list());

inEachBrowser(({ open }) => {
  it("A4: the card gives one in two steps, and names exactly what it is", async (t) => {
    const { page, quiet } = await open(t, { model: obedient });
    await page.setViewport({ width: 800, height: 1200 });
    await ask(page);
    await (await part(page, "more")).click();
    const names = await page.evaluate(() =>
      [...document.querySelector("countersign-approvals").shadowRoot.querySelectorAll("[part=standing]")].map(
        ({ textContent }) => textContent,
      ),
    );
    assert.deepEqual(names, ["Allow in this chat…", "Always allow…"]);
    await (await part(page, "standing")).click();
    const terms = await part(page, "terms");
    assert.ok(
      await terms.evaluate((terms) => terms.getRootNode().activeElement === terms),
      "the focus is at the step, and at none of its buttons",
    );
    const shown = await terms.evaluate((terms) => ({
      text: terms.textContent,
      chosen: [...terms.querySelectorAll("input:checked + span")].map(({ textContent }) => textContent),
    }));
    assert.match(shown.text, /send_mail/);
    assert.match(shown.text, /this page/);
    assert.match(shown.text, /[0-9a-f]{12}/);
    assert.deepEqual(shown.chosen, ["Only exactly these", "One hour"], "of each choice the least is preselected");
    const before = Date.now();
    await press(page, "allow");
    await statusIs(page, "done");
    await waitFor(page, () =>
      document
        .querySelector("countersign-approvals")
        .shadowRoot.textContent.includes("You allowed this for this chat."),
    );
    const [grant] = await list(page);
    assert.deepEqual([grant.scope, grant.constraint, grant.tool], ["chat", "exact", "send_mail"]);
    assert.ok(grant.until >= before + 3_600_000 && grant.until <= Date.now() + 3_600_000);
    assert.ok(shown.text.includes(grant.definition.slice(0, 12)));
    assert.equal(await ask(page), "done", "the next one runs without a card");
    assert.equal(await ask(page, [["send_mail", '{"to":"bob"}']]), "pending", "boundary/grant: and no other");
    assert.equal(await page.evaluate(() => window.rig.runs.send_mail), 2);
    await quiet();
  });

  it("A4: a choice that changes what is given has the button wait anew", async (t) => {
    const { page } = await open(t, { model: obedient });
    await page.setViewport({ width: 800, height: 1200 });
    await ask(page);
    await (await part(page, "more")).click();
    await (await part(page, "standing", 1)).click();
    const allow = await part(page, "allow");
    await waitFor(page, (button) => button.getAttribute("aria-disabled") !== "true", allow);
    for (const [which, answer] of ["Any", "Until it is revoked"].entries()) {
      const changed = await page.evaluate((answer) => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        const label = [...root.querySelectorAll(".choice")].find(({ textContent }) => textContent === answer);
        label.click();
        return root.querySelector("[part=allow]").getAttribute("aria-disabled");
      }, answer);
      assert.equal(changed, "true", `${which}: ${answer}`);
    }
    await press(page, "allow");
    await statusIs(page, "done");
    const [{ scope, constraint, until }] = await list(page);
    assert.deepEqual([scope, constraint, until], ["always", "any", null]);
    await waitFor(page, () =>
      document
        .querySelector("countersign-approvals")
        .shadowRoot.textContent.includes("You allowed this for every chat."),
    );
  });

  it("A5: no script, no early click and no first press gives one", async (t) => {
    const { page } = await open(t, { model: obedient });
    await page.setViewport({ width: 800, height: 1200 });
    await ask(page);
    const allow = await page.evaluateHandle(() => {
      const root = document.querySelector("countersign-approvals").shadowRoot;
      for (const name of ["more", "standing"]) root.querySelector(`[part=${name}]`).click();
      const allow = root.querySelector("[part=allow]");
      allow.click();
      return allow;
    });
    await waitFor(page, (button) => button.getAttribute("aria-disabled") !== "true", allow);
    await allow.evaluate((allow) => {
      allow.click();
      for (const type of ["pointerdown", "pointerup", "click"]) {
        allow.dispatchEvent(
          new PointerEvent(type, {
            bubbles: true,
            composed: true,
            isPrimary: true,
            detail: 1,
          }),
        );
      }
    });
    assert.equal(await page.evaluate(() => window.rig.chat.snapshot().requests.length), 1);
    // Whatever these did, they would have done before a real decision.
    await press(page, "deny");
    await statusIs(page, "done");
    assert.deepEqual(await list(page), []);
    assert.equal(await page.evaluate(() => window.rig.runs.send_mail), 0);
  });

  it("A13: by keyboard: Deny, Approve, More, and back again", async (t) => {
    const { page } = await open(t, { model: obedient });
    await page.setViewport({ width: 800, height: 1200 });
    await ask(page);
    const active = () =>
      page.evaluate(() => {
        const focused = document.querySelector("countersign-approvals").shadowRoot.activeElement;
        return focused?.part.value || focused?.localName;
      });
    await (await part(page, "deny")).focus();
    const order = [await active()];
    for (let step = 0; step < 2; step += 1) {
      await page.keyboard.press("Tab");
      order.push(await active());
    }
    assert.deepEqual(order, ["deny", "approve", "more"]);
    await page.keyboard.press("Enter");
    assert.equal(await (await part(page, "more")).evaluate((more) => more.getAttribute("aria-expanded")), "true");
    await page.keyboard.press("Tab");
    assert.equal(await active(), "edit-open");
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    assert.equal(await active(), "terms");
    await page.keyboard.press("Tab");
    await page.keyboard.press("ArrowDown");
    assert.deepEqual(
      await page.evaluate(() => {
        const root = document.querySelector("countersign-approvals").shadowRoot;
        return [...root.querySelectorAll("input:checked + span")].map(({ textContent }) => textContent);
      }),
      ["Any", "One hour"],
    );
    await page.keyboard.press("Tab");
    await page.keyboard.press("Tab");
    assert.equal(await active(), "back");
    await page.keyboard.press("Enter");
    assert.equal(await active(), "standing", "Back goes to where it came from");
    await page.keyboard.press("Enter");
    for (let step = 0; step < 4; step += 1) await page.keyboard.press("Tab");
    assert.equal(await active(), "allow");
    await waitFor(page, (button) => button.getAttribute("aria-disabled") !== "true", await part(page, "allow"));
    await page.keyboard.press("Enter");
    await statusIs(page, "done");
    const [{ constraint }] = await list(page);
    assert.equal(constraint, "exact", "what was chosen before is chosen no more");
    // The focus is at the receipt.
    assert.equal(await active(), "receipt");
  });

  it("A4: nothing is offered to who is not known, or is not the owner of the run", async (t) => {
    const { page } = await open(t, { model: obedient });
    await ask(page);
    const isOffered = (by) =>
      page.evaluate(async (by) => {
        const element = document.querySelector("countersign-approvals");
        element.by = by;
        await new Promise((drawn) => requestAnimationFrame(drawn));
        element.shadowRoot.querySelector("[part=more]").click();
        return element.shadowRoot.querySelector("[part=scopes] button")?.checkVisibility() ?? false;
      }, by);
    assert.deepEqual(
      [await isOffered("ada"), await isOffered(null), await isOffered("bob"), await isOffered("ada")],
      [true, false, false, true],
    );
  });

  it("A4: the element lists them, says what each is for, and revokes", async (t) => {
    const { page, quiet } = await open(t, { model: obedient });
    await page.evaluate(async () => {
      const { defineGrantsElement } = await import("/dist/grants-element.js");
      defineGrantsElement();
      const element = document.createElement("countersign-grants");
      element.agent = window.rig.agent;
      document.body.append(element);
    });
    const tag = "countersign-grants";
    const text = () =>
      page.evaluate((tag) => document.querySelector(tag).shadowRoot.querySelector("section").textContent, tag);
    const has = (wanted) =>
      waitFor(page, (tag, wanted) => document.querySelector(tag).shadowRoot.textContent.includes(wanted), tag, wanted);
    await has("No standing permissions.");
    for (const to of ["<b>grace</b>\u202e", "bob"]) {
      await ask(page, [["send_mail", JSON.stringify({ to })]]);
      await page.evaluate(async () => {
        const { chat } = window.rig;
        const decision = { approve: true, by: "ada", scope: "chat" };
        await (await chat.decide(chat.snapshot().requests[0].id, decision)).continuation;
      });
    }
    await has("bob");
    const shown = await text();
    for (const wanted of ["send_mail", "<b>grace</b>⟨U+202E⟩", "With exactly these arguments", "Until it is revoked"]) {
      assert.ok(shown.includes(wanted), `${wanted}: ${shown}`);
    }
    assert.match(shown, /In the chat \S*chat-1/);
    const label = await (await part(page, "revoke", 0, tag)).evaluate((button) => button.getAttribute("aria-label"));
    assert.equal(label, "Revoke: send_mail");
    await (await part(page, "revoke", 0, tag)).focus();
    await page.keyboard.press("Enter");
    await has("Revoked: send_mail");
    await waitFor(page, (tag) => document.querySelector(tag).shadowRoot.querySelectorAll("li").length === 1, tag);
    const focus = () => page.evaluate((tag) => document.querySelector(tag).shadowRoot.activeElement?.part.value, tag);
    assert.equal(await focus(), "revoke", "the focus goes to the next one");
    assert.equal(await ask(page, [["send_mail", JSON.stringify({ to: "<b>grace</b>\u202e" })]]), "pending");
    await (await part(page, "revoke", 0, tag)).click();
    await has("No standing permissions.");
    assert.equal(await focus(), "none");
    await quiet();
  });
});
