// What a person has begun on a card goes along with the request: no note, reason, change or field is lost with its element.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { drawn } from "./boundary.mjs";
import { BROWSERS, launch } from "./browsers.mjs";
import { click, count, find, openCards, rests, text } from "./cards.mjs";

const german = JSON.parse(readFileSync(new URL("../../www/src/locales/de.json", import.meta.url), "utf8"));

/** A chat whose tool waits for an approval, or once it runs for what it asks. */
async function script({ agentOf, make, order, allow, pendingRequest, given }) {
  const ran = [];
  const schema = {
    type: "object",
    properties: { count: { type: "integer" }, wrap: { type: "boolean" }, to: { type: "string" } },
    required: ["count", "wrap"],
  };
  const jar = (args) => {
    ran.push(args);
    return "fine";
  };
  const form = (_, { answer }) => {
    if (!answer) return pendingRequest({ kind: "input", prompt: "Who?", data: { schema } });
    ran.push(answer.data);
    return "fine";
  };
  const run = given.asks ? form : jar;
  const rules = given.asks ? [() => allow()] : [];
  const agent = agentOf({ tools: [make("jar", { title: "Jar", inputSchema: schema, run })], rules });
  const chat = await agent.open("c");
  await chat.send(order(["jar", '{"count":12,"wrap":true,"to":"Ada"}']));
  return { chat, ran };
}

/** What takes the cards of the element away and draws them again. */
const AWAY = {
  "the element is moved": () => {
    const element = document.querySelector("countersign-approvals");
    const place = document.createElement("section");
    element.before(place);
    place.append(element);
  },
  "its language changes": (german) => {
    document.querySelector("countersign-approvals").strings = german;
  },
  "another chat was shown": async () => {
    const element = document.querySelector("countersign-approvals");
    element.chat = await window.rig.kit.agentOf().open("other");
    await new Promise((drawn) => requestAnimationFrame(drawn));
    element.chat = window.rig.chat;
  },
  "another element takes its place": async () => {
    const old = document.querySelector("countersign-approvals");
    const element = document.createElement("countersign-approvals");
    old.remove();
    await new Promise((drawn) => requestAnimationFrame(drawn));
    document.body.append(element);
    element.chat = window.rig.chat;
  },
  "its presentation changes": () => {
    document.querySelector("countersign-approvals").setAttribute("presentation", "modal");
  },
};

const fields = (page) =>
  page.evaluate(() => {
    const { shadowRoot } = document.querySelector("countersign-approvals");
    const all = shadowRoot.querySelectorAll(
      "[part=form] input, [part=form] select, [part=note] textarea, [part=reason] select",
    );
    return [...all].map((field) => (field.type === "checkbox" ? field.checked : field.value));
  });

const ran = (page) => page.evaluate(() => window.rig.ran);

/** Types into a field, in place of what stands there or behind it. */
async function fill(page, selector, value, behind) {
  const field = await find(page, selector);
  await field.evaluate((field) => {
    field.scrollIntoView({ block: "center" });
    field.focus();
    field.select();
  });
  if (behind) await page.keyboard.press(behind);
  await page.keyboard.type(value);
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    it("A10: changed arguments, the note and the reason are there again however the card is drawn anew, and what is shown runs", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await (await find(page, "[part=more]")).click();
      await (await find(page, "[part=edit-open]")).click();
      await fill(page, "[part=form] input[type=number]", "15");
      await (await find(page, "[part=form] input[type=checkbox]")).click();
      await (await find(page, "[part=note] textarea")).evaluate((note) => {
        note.value = "so ".repeat(150);
      });
      await fill(page, "[part=note] textarea", "be it", "End");
      await (await find(page, "[part=reason] select")).select("skip");
      const begun = await fields(page);
      assert.deepEqual(begun.slice(0, 2), ["15", false]);
      for (const [when, away] of Object.entries(AWAY)) {
        await page.evaluate(away, german);
        await drawn(page);
        assert.deepEqual(await fields(page), begun, when);
        assert.equal(await count(page, "[part~=card]"), 1, when);
        await text(page, "[part=arguments]", /15/);
        await text(page, "[part=left]", /45/);
      }
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await ran(page), [{ count: 15, wrap: false, to: "Ada" }]);
    });

    it("A10: what cannot run is there again with its problem, and Approve is off", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await (await find(page, "[part=more]")).click();
      await (await find(page, "[part=edit-open]")).click();
      await fill(page, "[part=form] input[type=number]", "1.5");
      await page.evaluate(AWAY["the element is moved"]);
      await text(page, "[part=form] [part=problem]", /integer/);
      assert.equal(await (await find(page, "[part=approve]")).evaluate((button) => button.ariaDisabled), "true");
      await click(page, "deny");
      await rests(page);
      assert.deepEqual(await ran(page), []);
    });

    it("A10: what was begun ends with its request", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await fill(page, "[part=note] textarea", "of the first");
      await page.evaluate(async () => {
        const element = document.querySelector("countersign-approvals");
        element.chat = null;
        await window.rig.chat.send(window.rig.kit.order(["jar", '{"count":12,"wrap":true}']));
        element.chat = window.rig.chat;
      });
      assert.equal(await (await find(page, "[part=note] textarea")).evaluate((note) => note.value), "");
    });

    it("the fields of what a tool asks for are there again when its element is moved, and are sent", async (t) => {
      const { page } = await openCards(browser, t, script, { given: { asks: true } });
      await fill(page, "[part=form] input[type=number]", "7");
      await (await find(page, "[part=form] input[type=checkbox]")).click();
      const begun = await fields(page);
      await page.evaluate(AWAY["the element is moved"]);
      await drawn(page);
      assert.deepEqual(await fields(page), begun);
      await click(page, "approve");
      await rests(page);
      assert.deepEqual(await ran(page), [{ count: 7, wrap: true }]);
    });
  });
}
