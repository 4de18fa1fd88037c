/**
 * Which input decides, with real input in each browser: what a person can have meant, and nothing that a script, a held
 * key, a second click or a card that was not yet read would make of it.
 */
import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { BROWSERS, launch, waitFor } from "./browsers.mjs";
import {
  armedButton,
  aWhile,
  button,
  clicksOf,
  isArmed,
  keepMoving,
  left,
  logOf,
  middle,
  openCards,
  outcomeOf,
} from "./guard.mjs";

const PENDING = { waiting: 1, sent: 0 };

/** Taps by a finger, one right after the other, as fast as the browser takes them. */
async function tap(page, { x, y }, times = 1) {
  if (page.browser().process()?.spawnfile.includes("firefox")) {
    const taps = Array.from({ length: times }, () => [
      { type: "pointerDown", button: 0 },
      { type: "pointerUp", button: 0 },
      { type: "pause", duration: 20 },
    ]);
    const actions = [{ type: "pointerMove", x, y }, ...taps.flat()];
    const finger = { type: "pointer", id: "finger", parameters: { pointerType: "touch" }, actions };
    return page.mainFrame().browsingContext.performActions([finger]);
  }
  const session = await page.createCDPSession();
  const sent = Array.from({ length: times }, () => [
    session.send("Input.dispatchTouchEvent", { type: "touchStart", touchPoints: [{ x, y }] }),
    session.send("Input.dispatchTouchEvent", { type: "touchEnd", touchPoints: [] }),
  ]);
  await Promise.all(sent.flat());
}

/** A click by a pen, which only Chromium's own protocol has. */
async function penClick(page, { x, y }) {
  const session = await page.createCDPSession();
  const common = { x, y, pointerType: "pen" };
  await session.send("Input.dispatchMouseEvent", { ...common, type: "mouseMoved" });
  for (const type of ["mousePressed", "mouseReleased"]) {
    await session.send("Input.dispatchMouseEvent", { ...common, type, button: "left", clickCount: 1 });
  }
}

/** Shifts the cards at each click, so that the next one's button comes to stand, and stays, where this one's was. */
function shiftAtClicks(page) {
  return page.evaluate(() => {
    const buttons = window.buttons().filter(({ part }) => part.value === "approve");
    const place = buttons[0].getBoundingClientRect().top;
    let [row, margin, frames] = [0, 0, 0];
    const follow = () => {
      margin += place - buttons[row].getBoundingClientRect().top;
      window.element.style.marginBlockStart = `${margin}px`;
      frames -= 1;
      // What stands above may go once the decision is stored.
      if (frames > 0) requestAnimationFrame(follow);
    };
    addEventListener("click", () => {
      if (row + 1 >= buttons.length) return;
      row += 1;
      const isUnderWay = frames > 0;
      frames = 30;
      if (!isUnderWay) follow();
    });
  });
}

/** Hides from the guard the events that `window.unseen` names: what comes to the window first is the page's. */
function hidesInput() {
  window.unseen = [];
  for (const kind of ["pointerdown", "pointerup", "keydown", "keyup"]) {
    const hide = (event) => window.unseen.includes(kind) && event.stopImmediatePropagation();
    addEventListener(kind, hide, true);
  }
}

for (const name of BROWSERS) {
  describe(`in ${name}`, () => {
    let browser;
    before(async () => {
      browser = await launch(name);
    });
    after(() => browser?.close());

    /** The same place decides for a person who means it. */
    async function decide(page) {
      await (await armedButton(page)).click();
      await left(page, 0);
      await waitFor(page, () => window.rig.runs.send_mail === 1);
    }

    it("A5: a finger decides", async (t) => {
      const { page } = await openCards(t, browser);
      await tap(page, await middle(await armedButton(page)));
      await left(page, 0);
      const [click] = await clicksOf(page);
      assert.deepEqual([click.pointer, click.trusted], ["touch", true]);
    });

    // Firefox takes no pen from WebDriver BiDi.
    if (name === "chromium") {
      it("A5: a pen decides", async (t) => {
        const { page } = await openCards(t, browser);
        await penClick(page, await middle(await armedButton(page)));
        await left(page, 0);
        const [click] = await clicksOf(page);
        assert.deepEqual([click.pointer, click.trusted], ["pen", true]);
      });
    }

    for (const key of ["Enter", " "]) {
      it(`A5: the key "${key}" decides`, async (t) => {
        const { page } = await openCards(t, browser);
        await (await armedButton(page)).focus();
        await page.keyboard.press(key);
        await left(page, 0);
        const { repeat, trusted } = (await logOf(page)).find(({ kind }) => kind === "keydown");
        assert.deepEqual([repeat, trusted], [false, true]);
      });
    }

    it("A5: a button that is not armed says so and stays in the order of Tab", async (t) => {
      const { page } = await openCards(t, browser);
      await keepMoving(page);
      await page.evaluate(() => window.element.shadowRoot.querySelector("select").focus());
      const focused = [];
      // The keys stop the motion; the buttons are looked at in the first moment after.
      for (let step = 0; step < 2; step += 1) {
        await page.keyboard.press("Tab");
        focused.push(await page.evaluate(() => window.element.shadowRoot.activeElement.part.value));
        await keepMoving(page);
        const state = await page.evaluate(() => {
          const { ariaDisabled, disabled, tabIndex } = window.element.shadowRoot.activeElement;
          return { ariaDisabled, disabled, tabIndex };
        });
        assert.deepEqual(state, { ariaDisabled: "true", disabled: false, tabIndex: 0 });
      }
      assert.deepEqual(focused, ["deny", "approve"]);
    });

    it("A5: a click before it is armed decides nothing", async (t) => {
      for (const press of [(page, place) => page.mouse.click(place.x, place.y), (page, place) => tap(page, place)]) {
        const { page } = await openCards(t, browser);
        await keepMoving(page);
        await press(page, await middle(await button(page)));
        await armedButton(page);
        await aWhile(page);
        const [click] = await clicksOf(page);
        assert.deepEqual([click.part, click.trusted, click.armed], ["approve", true, false]);
        assert.deepEqual(await outcomeOf(page), PENDING);
        await decide(page);
      }
    });

    it("A5: early clicks put arming off, but not for ever, and a held Enter decides nothing", async (t) => {
      const { page } = await openCards(t, browser);
      await (await button(page)).focus();
      await keepMoving(page);
      const armedAt = (log) => log.findLast(({ kind, part }) => kind === "armed" && part === "approve");
      await page.evaluate(() => window.log.splice(0));
      // Every repeat clicks. Each comes too early until the longest time is over, and after it belongs to an old press.
      for (let late = 0; late < 5; ) {
        await page.keyboard.down("Enter");
        if (armedAt(await logOf(page))) late += 1;
      }
      const log = await logOf(page);
      const clicks = log.filter(({ kind }) => kind === "click");
      assert.ok(clicks.every(({ trusted, part }) => trusted && part === "approve"));
      assert.ok(log.some(({ kind, repeat }) => kind === "keydown" && repeat));
      assert.ok(clicks.some(({ armed }) => armed));
      const { time } = armedAt(log);
      // One that a busy page hears of only after that was no early one.
      const early = clicks.findLast(({ armed }) => !armed).time;
      const rest = await page.evaluate(() => window.stoodSince);
      // The end of a motion is seen to within a tenth of a second or two, and clocks are rounded.
      assert.ok(time >= Math.min(early + 498, rest + 1_800), JSON.stringify({ time, early, rest }));
      assert.deepEqual(await outcomeOf(page), PENDING);
      await page.keyboard.up("Enter");
      await page.keyboard.press("Enter");
      await left(page, 0);
    });

    it("accident: an Enter in the composer, whose focus moves here while it is held, decides nothing", async (t) => {
      const { page } = await openCards(t, browser);
      await armedButton(page);
      await page.focus("#text");
      await page.evaluate(() => {
        const move = () => window.buttons().at(-1).focus();
        document.querySelector("#text").addEventListener("keydown", move, { once: true });
      });
      for (let repeat = 0; repeat < 4; repeat += 1) await page.keyboard.down("Enter");
      await page.keyboard.up("Enter");
      const clicks = await clicksOf(page);
      assert.ok(clicks.length >= 4, "the first stroke and every repeat click");
      assert.ok(clicks.every(({ trusted, armed, part }) => trusted && armed && part === "approve"));
      assert.deepEqual(await outcomeOf(page), PENDING);
      await decide(page);
    });

    it("A5: a press that began on something else decides nothing", async (t) => {
      const { page } = await openCards(t, browser);
      const approve = await middle(await armedButton(page));
      const deny = await middle(await armedButton(page, "deny"));
      for (const from of [deny, { x: 5, y: 1_300 }]) {
        await page.mouse.move(from.x, from.y);
        await page.mouse.down();
        await page.mouse.move(approve.x, approve.y);
        await page.mouse.up();
      }
      // And one that went elsewhere before it came up.
      await page.mouse.down();
      await page.mouse.move(5, 1_300);
      await page.mouse.up();
      assert.deepEqual(await outcomeOf(page), PENDING);
      await decide(page);
    });

    it("accident: the second click of a double click meets the next card's button and decides nothing", async (t) => {
      const { page } = await openCards(t, browser, { cards: 2 });
      const { x, y } = await middle(await armedButton(page));
      await armedButton(page, "approve", 1);
      await shiftAtClicks(page);
      await page.mouse.click(x, y, { count: 2 });
      await left(page, 1);
      await armedButton(page);
      const clicks = await clicksOf(page);
      assert.deepEqual(
        clicks.map(({ trusted, detail }) => [trusted, detail]),
        [
          [true, 1],
          [true, 2],
        ],
      );
      assert.equal((await outcomeOf(page)).waiting, 1);
    });

    it("A5: a second click decides nothing, even on a button that is armed and was pressed", async (t) => {
      const { page } = await openCards(t, browser, { before: hidesInput });
      const { x, y } = await middle(await armedButton(page));
      // The guard misses the press of the first click only, which so does not decide.
      await page.evaluate(() => {
        window.unseen = ["pointerdown"];
        addEventListener("click", () => window.unseen.splice(0), { once: true });
      });
      await page.mouse.click(x, y, { count: 2 });
      const clicks = await clicksOf(page);
      assert.deepEqual(
        clicks.map(({ armed, detail }) => [armed, detail]),
        [
          [true, 1],
          [true, 2],
        ],
      );
      assert.deepEqual(await outcomeOf(page), PENDING);
      await decide(page);
    });

    it("accident: of a burst of taps, under which the cards shift, one decides", async (t) => {
      const { page } = await openCards(t, browser, { cards: 3 });
      const place = await middle(await armedButton(page));
      await armedButton(page, "approve", 2);
      await shiftAtClicks(page);
      await tap(page, place, 3);
      await left(page, 2);
      await aWhile(page);
      const clicks = await clicksOf(page);
      assert.ok(clicks.length > 1 && clicks.every(({ trusted, part }) => trusted && part === "approve"));
      assert.equal((await outcomeOf(page)).waiting, 2);
    });

    it("A5: other buttons of a mouse decide nothing", async (t) => {
      const { page } = await openCards(t, browser);
      const { x, y } = await middle(await armedButton(page));
      for (const button of ["middle", "right"]) await page.mouse.click(x, y, { button });
      assert.deepEqual(await outcomeOf(page), PENDING);
      await page.keyboard.press("Escape");
      await decide(page);
    });

    it("accident: no script decides", async (t) => {
      const { page } = await openCards(t, browser);
      // In a window that is quiet, where the click of assistive technology would decide.
      await aWhile(page);
      await (await armedButton(page)).evaluate((button) => {
        const init = { bubbles: true, composed: true, cancelable: true };
        for (const type of ["pointerdown", "mousedown", "pointerup", "mouseup", "click"]) {
          button.dispatchEvent(new PointerEvent(type, { ...init, isPrimary: true, detail: 1 }));
        }
        for (const type of ["keydown", "keypress", "keyup"]) {
          for (const key of ["Enter", " "]) button.dispatchEvent(new KeyboardEvent(type, { ...init, key }));
        }
        for (const type of ["submit", "command", "toggle", "close", "change", "input"]) {
          for (const target of [button, window.element]) target.dispatchEvent(new Event(type, init));
        }
        button.focus();
        button.click();
        window.element.click();
      });
      const clicks = await clicksOf(page);
      assert.deepEqual(
        clicks.map(({ trusted, armed }) => [trusted, armed]),
        [
          [false, true],
          [false, true],
        ],
      );
      assert.deepEqual(await outcomeOf(page), PENDING);
      await decide(page);
    });

    it("accident: no trusted event that a script or another element brings about decides", async (t) => {
      const { page } = await openCards(t, browser);
      await armedButton(page);
      const trusted = await page.evaluate(async () => {
        const heard = [];
        const hear = ({ type, isTrusted }) => isTrusted && heard.push(type);
        const form = document.createElement("form");
        const label = document.createElement("label");
        window.element.id = "approvals";
        label.id = "label";
        label.htmlFor = "approvals";
        label.textContent = "A label of the cards";
        form.addEventListener("submit", (event) => {
          hear(event);
          event.preventDefault();
        });
        const [button] = window.buttons().slice(-1);
        const opens = document.createElement("button");
        opens.type = "button";
        opens.setAttribute("command", "--approve");
        opens.setAttribute("commandfor", "approvals");
        window.element.addEventListener("command", hear);
        window.element.before(label);
        // Moving the element ends its cards, so the form goes around what is there already.
        document.body.append(form, opens);
        form.append(Object.assign(document.createElement("input"), { type: "submit" }));
        form.requestSubmit();
        opens.click();
        button.form?.requestSubmit();
        return { heard, form: button.form, labels: button.labels.length };
      });
      assert.ok(trusted.heard.includes("submit") && trusted.heard.includes("command"), JSON.stringify(trusted));
      assert.deepEqual([trusted.form, trusted.labels], [null, 0]);
      await armedButton(page);
      await page.click("#label");
      assert.deepEqual(await clicksOf(page), []);
      assert.equal((await outcomeOf(page)).sent, 0);
    });

    // No protocol makes the click that assistive technology makes: trusted, with no press before it. Here the page keeps
    // the press from the guard, which then sees the same.
    it("A5: a click with no press in a quiet window decides, as one from assistive technology", async (t) => {
      const { page } = await openCards(t, browser, { before: hidesInput });
      const { x, y } = await middle(await armedButton(page));
      await aWhile(page);
      await page.evaluate(() => {
        window.unseen = ["pointerdown", "pointerup"];
      });
      await page.mouse.click(x, y);
      await left(page, 0);
    });

    it("A5: a click with no press decides nothing in a window where something was pressed or released", async (t) => {
      const { page } = await openCards(t, browser, { before: hidesInput });
      const { x, y } = await middle(await armedButton(page));
      await aWhile(page);
      for (const kind of ["pointerdown", "pointerup"]) {
        await page.evaluate((kind) => {
          window.unseen = [kind];
        }, kind);
        if (kind === "pointerup") await page.mouse.move(5, 1_300);
        else await page.mouse.click(x, y);
      }
      const [click] = await clicksOf(page);
      assert.deepEqual([click.trusted, click.armed], [true, true]);
      assert.deepEqual(await outcomeOf(page), PENDING);
      assert.equal(await isArmed(page), true);
    });

    it("A5: a card that is gone is watched no more", async (t) => {
      const watches = () => {
        const { prototype } = IntersectionObserver;
        window.watched = new Set();
        for (const [name, note] of [
          ["observe", "add"],
          ["unobserve", "delete"],
        ]) {
          const own = prototype[name];
          prototype[name] = function (target) {
            if (target.localName === "button") window.watched[note](target);
            return own.call(this, target);
          };
        }
      };
      const { page } = await openCards(t, browser, { before: watches });
      const parts = () => page.evaluate(() => [...window.watched].map(({ part }) => part.value).sort());
      const bar = ["approve-selected", "deny-all"];
      assert.deepEqual(await parts(), ["approve", "approve-selected", "deny", "deny-all"]);
      await (await armedButton(page, "deny")).click();
      await left(page, 0);
      const dismiss = await armedButton(page, "dismiss");
      assert.deepEqual(await parts(), [...bar, "dismiss"]);
      await dismiss.click();
      await waitFor(page, () => !window.element.shadowRoot.querySelector("[part~=card]"));
      assert.deepEqual(await parts(), bar);
    });

    it("A5: a card that asks again in place of another is armed anew", async (t) => {
      const { page } = await openCards(t, browser);
      await page.evaluate(async () => {
        const { agentOf, make, order } = (await import("/test/kit.mjs")).kit();
        window.version = 1;
        const tool = make("send_mail", { preview: async () => [`version ${window.version}`] });
        const chat = await agentOf({ tools: [tool] }).open("again");
        window.element.chat = chat;
        await chat.send(order(["send_mail", "{}"]));
        window.version = 2;
        window.rig = { chat, runs: { send_mail: 0 } };
      });
      const { x, y } = await middle(await armedButton(page));
      const asked = await page.evaluate(() => window.rig.chat.snapshot().requests[0].id);
      await page.mouse.click(x, y, { count: 2 });
      await waitFor(page, (asked) => window.rig.chat.snapshot().requests[0].id !== asked, asked);
      await waitFor(page, () => window.buttons().every(({ ariaDisabled }) => ariaDisabled));
      await armedButton(page);
      assert.equal((await outcomeOf(page)).waiting, 1);
    });
  });
}
