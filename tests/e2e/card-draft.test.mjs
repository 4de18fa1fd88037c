// What a person has begun on a card goes along with the request: no note, reason, change or field is lost with its element.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { drawn } from "./boundary.mjs";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import { click, count, find, openCards, rests, text } from "./cards.mjs";

const german = JSON.parse(readFileSync(new URL("../../www/src/locales/de.json", import.meta.url), "utf8"));

/** A chat whose tool waits for an approval, or once it runs for what it asks. */
async function script({ agentOf, make, memoryStore, order, allow, pendingRequest, given }) {
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
  const rig = { ran };
  const kept = memoryStore();
  const store = {
    ...kept,
    // Fails, once it is told to, and not before.
    append: (...line) => Promise.resolve(rig.fail?.promise).then(() => kept.append(...line)),
  };
  const tools = [make("jar", { title: "Jar", inputSchema: schema, run })];
  rig.chat = await agentOf({ tools, rules, store }).open("c");
  await rig.chat.send(order(["jar", '{"count":12,"wrap":true,"to":"Ada"}']));
  return rig;
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

const set = (field, value) => {
  field.value = value;
  field.dispatchEvent(new Event("input", { bubbles: true }));
};
const isOff = async (page, part) =>
  (await find(page, `[part=${part}]`)).evaluate((button) => button.ariaDisabled === "true");

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

    it("A10: what the browser holds back is no empty field afterwards, and half a character stays one", async (t) => {
      for (const [selector, typed, says] of [
        ["[part=form] input[type=number]", name === "firefox" ? "abc" : "1e", /must be a number/],
        ["[part=form] input[type=text]", "\ud800", /cannot run/],
      ]) {
        const { page } = await openCards(browser, t, script, { given: {} });
        await (await find(page, "[part=more]")).click();
        await (await find(page, "[part=edit-open]")).click();
        if (typed.length > 1) await fill(page, selector, typed);
        else await (await find(page, selector)).evaluate(set, typed);
        const problems = () => text(page, "[part=edit]", says);
        await problems();
        await page.evaluate(AWAY["the element is moved"]);
        await drawn(page);
        await problems();
        assert.equal(await isOff(page, "approve"), true);
        await fill(page, selector, "15");
        await click(page, "approve");
        await rests(page);
        const [args] = await ran(page);
        assert.ok(args.count === 15 || args.to === "15", JSON.stringify(args));
      }
    });

    it("A10: what one person began waits for them, and is shown to nobody else", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      const sits = (by) =>
        page.evaluate((by) => {
          document.querySelector("countersign-approvals").by = by ?? undefined;
        }, by);
      const note = () => find(page, "[part=note] textarea").then((note) => note.evaluate(({ value }) => value));
      await sits("grace");
      await text(page, "[part=note] span", /not shown to the assistant/);
      await fill(page, "[part=note] textarea", "between us");
      for (const away of [() => {}, AWAY["another element takes its place"]]) {
        await sits(null);
        await page.evaluate(away);
        assert.equal(await note(), "");
        await sits("grace");
        assert.equal(await note(), "between us");
      }
      await sits(null);
      await click(page, "deny");
      await rests(page);
      const [call] = await page.evaluate(() => window.rig.chat.snapshot().messages[1].calls);
      assert.deepEqual([call.decidedBy, call.decision.note ?? null], ["run_owner", null]);
    });

    it("A10: what one person began stays theirs when another comes while it is drawn", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await fill(page, "[part=note] textarea", "mine");
      await page.evaluate(() => {
        const element = document.querySelector("countersign-approvals");
        const comes = () => {
          element.by = "grace";
        };
        element.addEventListener("focusin", comes, { once: true });
        // The focus comes from outside, else the page does not hear of it.
        document.querySelector("#text").focus();
        element.setAttribute("presentation", "modal");
      });
      await drawn(page);
      const note = () => find(page, "[part=note] textarea").then((note) => note.evaluate(({ value }) => value));
      assert.equal(await page.evaluate(() => document.querySelector("countersign-approvals").by), "grace");
      assert.equal(await note(), "");
      await page.evaluate(() => {
        document.querySelector("countersign-approvals").by = undefined;
      });
      await drawn(page);
      assert.equal(await note(), "mine");
    });

    it("A10: another element of the chat, where nothing was begun, takes nothing away", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await fill(page, "[part=note] textarea", "begun here");
      await page.evaluate(() => {
        const first = document.querySelector("countersign-approvals");
        const second = document.createElement("countersign-approvals");
        document.body.append(second);
        second.chat = window.rig.chat;
        first.remove();
        second.remove();
        document.body.append(first);
      });
      assert.equal(await (await find(page, "[part=note] textarea")).evaluate(({ value }) => value), "begun here");
    });

    it("A8: a receipt that was taken out of sight stays so when the cards are drawn anew", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await click(page, "deny");
      await rests(page);
      await click(page, "dismiss");
      await waitFor(
        page,
        () => !document.querySelector("countersign-approvals").shadowRoot.querySelector("[part=card]"),
      );
      await page.evaluate(AWAY["its language changes"], german);
      await drawn(page);
      assert.equal(await count(page, "[part=card]"), 0);
    });

    it("A6: a card that is drawn anew has the focus where it was, and never the body", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      const focused = () => page.evaluate(() => document.activeElement.shadowRoot?.activeElement.getAttribute("part"));
      await (await find(page, "[part=note] textarea")).focus();
      await page.keyboard.type("so ");
      await page.evaluate(AWAY["its language changes"], german);
      await drawn(page);
      await page.keyboard.type("weiter");
      assert.equal(await (await find(page, "[part=note] textarea")).evaluate(({ value }) => value), "so weiter");
      await (await find(page, "[part=deny]")).focus();
      await page.evaluate(() => {
        document.querySelector("countersign-approvals").strings = undefined;
      });
      await drawn(page);
      assert.equal(await focused(), "card", "no button has it that another was");
    });

    it("A6: drawing a card that was begun elsewhere takes the focus from nothing", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      await fill(page, "[part=note] textarea", "begun");
      await page.evaluate(() => {
        document.querySelector("countersign-approvals").chat = null;
      });
      await page.focus("#text");
      await page.evaluate(() => {
        document.querySelector("countersign-approvals").chat = window.rig.chat;
      });
      await drawn(page);
      assert.equal(await page.evaluate(() => document.activeElement.id), "text");
    });

    it("boundary/accident: an element that is changed while it draws shows what it was changed to, and only that", async (t) => {
      const { page } = await openCards(browser, t, script, { given: {} });
      const drawWith = (change) =>
        page.evaluate(async (change) => {
          const element = document.querySelector("countersign-approvals");
          element.chat = null;
          element.setAttribute("presentation", "modal");
          await new Promise((drawn) => requestAnimationFrame(drawn));
          window.other ??= await window.rig.kit.agentOf().open("other");
          const changes = {
            nothing: () => {
              element.chat = null;
            },
            other: () => {
              element.chat = window.other;
            },
            removed: () => {
              const place = element.parentNode;
              element.remove();
              place.append(element);
            },
          };
          element.addEventListener("focusin", changes[change], { once: true });
          element.chat = window.rig.chat;
          await new Promise((drawn) => requestAnimationFrame(drawn));
        }, change);
      const lists = () => Promise.all([count(page, ".list"), count(page, "[part=card]")]);
      await drawWith("nothing");
      assert.deepEqual(await lists(), [0, 0]);
      await drawWith("other");
      assert.deepEqual(await lists(), [1, 0]);
      await page.evaluate(() => {
        document.querySelector("countersign-approvals").chat = null;
      });
      await drawn(page);
      assert.deepEqual(await lists(), [0, 0]);
      await drawWith("removed");
      assert.deepEqual(await lists(), [1, 1]);
      await click(page, "deny");
      await rests(page);
      assert.deepEqual(await ran(page), []);
    });

    it("A8: a decision that is refused while its card is drawn anew says so on the new one", async (t) => {
      const { page } = await openCards(browser, t, script, { given: { fails: true } });
      await page.evaluate(() => {
        window.rig.fail = Promise.withResolvers();
      });
      await click(page, "approve");
      await page.evaluate(AWAY["the element is moved"]);
      await page.evaluate(() => window.rig.fail.reject(new Error("full")));
      await text(page, "[part=problem].said", /could not be stored/);
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
