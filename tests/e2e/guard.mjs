/**
 * What the tests of the input guard share: the test page with cards that wait, a record of what reached their buttons,
 * and a way to let time pass that needs no clock.
 *
 * @typedef {import("puppeteer-core").Page | import("puppeteer-core").Frame} Place
 */
import { readFileSync } from "node:fs";
import { STRICT_POLICY } from "../../www/demo/policy.mjs";
import { openContext, openTab, serve, waitFor } from "./browsers.mjs";
import { obedient } from "./scripted.mjs";

const PAGE = readFileSync(new URL("page/index.html", import.meta.url));

/** The test page at a path of its own, without the `no-store` that keeps pages out of the back/forward cache. */
function keep(request, response) {
  if (request.url !== "/test/kept") return false;
  const headers = { "content-security-policy": STRICT_POLICY, "cache-control": "no-cache" };
  response.writeHead(200, { "content-type": "text/html", ...headers });
  response.end(PAGE);
  return true;
}

/**
 * The test page with so many cards that wait.
 *
 * @param {import("node:test").TestContext} t
 * @param {import("puppeteer-core").Browser} browser
 * @param {{ cards?: number, before?: Function, policy?: string }} [options] `before` runs ahead of the page's scripts
 */
export async function openCards(t, browser, { cards = 1, before, policy } = {}) {
  const site = await serve(t, { model: obedient, policy, route: policy ? undefined : keep });
  const context = await openContext(browser, t);
  const page = await openTab(context, t, `${site.url}/test/${policy ? "" : "kept"}`, before);
  // Only what is in view is armed, so all of the cards are.
  await page.setViewport({ width: 1000, height: Math.max(1_400, cards * 800) });
  await showCards(page, cards);
  return { page, site, context };
}

/**
 * Has the test page ask for so many mails, and records in `window.log` what reaches the buttons of its element: events,
 * each with whether its button was armed, and `armed` and `off` as that changes.
 *
 * @param {Place} place
 */
export async function showCards(place, cards = 1) {
  await place.evaluate(async (cards) => {
    await window.ready;
    const element = document.querySelector("countersign-approvals");
    element.style.cssText = "display: block; inline-size: 480px";
    const buttons = () => [...element.shadowRoot.querySelectorAll("[part=approve], [part=deny]")];
    const log = [];
    const tell = (button, event) => {
      const place = buttons().filter(({ part }) => part.value === button.part.value);
      log.push({ part: button.part.value, card: place.indexOf(button), ...event });
    };
    for (const kind of ["pointerdown", "pointerup", "keydown", "click"]) {
      const hear = (event) => {
        const [button] = event.composedPath();
        if (!buttons().includes(button)) return;
        const { isTrusted: trusted, detail, repeat, pointerType: pointer, timeStamp: time } = event;
        tell(button, { kind, trusted, detail, repeat, pointer, time, armed: !button.ariaDisabled });
      };
      addEventListener(kind, hear, true);
    }
    const orders = Array.from({ length: cards }, (_, n) => ["send_mail", JSON.stringify({ to: `to ${n}` })]);
    await window.rig.chat.send(JSON.stringify(orders));
    const seen = new MutationObserver((changes) => {
      for (const { target } of changes) {
        tell(target, { kind: target.ariaDisabled ? "off" : "armed", time: performance.now() });
      }
    });
    for (const button of buttons()) seen.observe(button, { attributeFilter: ["aria-disabled"] });
    Object.assign(window, { log, element, buttons });
  }, cards);
}

/**
 * A button of the element: the card's place among those that wait, and what it does.
 *
 * @param {Place} place
 * @returns {Promise<import("puppeteer-core").ElementHandle<HTMLButtonElement>>}
 */
export function button(place, part = "approve", card = 0) {
  const find = (part, card) => window.element.shadowRoot.querySelectorAll(`[part=${part}]`)[card];
  return waitFor(place, find, part, card);
}

/** The same, once it is armed. */
export function armedButton(place, part = "approve", card = 0) {
  const find = (part, card) => {
    const button = window.element.shadowRoot.querySelectorAll(`[part=${part}]`)[card];
    return button?.ariaDisabled ? null : button;
  };
  return waitFor(place, find, part, card);
}

export const isArmed = (place, part, card) =>
  button(place, part, card).then((found) => found.evaluate(({ ariaDisabled }) => !ariaDisabled));

/** The middle of a button. */
export async function middle(found) {
  const { x, y, width, height } = await found.boundingBox();
  return { x: Math.round(x + width / 2), y: Math.round(y + height / 2) };
}

/**
 * Lets the time of arming pass twice, and more than a second with it. It is told by cards that are made for this, one
 * after the other: what is not armed by then will not be.
 *
 * @param {Place} place
 */
export async function aWhile(place) {
  for (let round = 0; round < 2; round += 1) {
    const clock = await place.evaluateHandle(() => {
      const clock = document.createElement("countersign-approvals");
      clock.chat = window.rig.chat;
      clock.style.cssText = "position: fixed; inset-block-start: 0; inset-inline-end: 0; inline-size: 360px";
      return document.body.appendChild(clock);
    });
    await waitFor(place, (clock) => !clock.shadowRoot.querySelector("[part=deny]").ariaDisabled, clock);
    await clock.evaluate((clock) => clock.remove());
  }
}

/**
 * Keeps the element moving, slowly, so that nothing in it is armed, until something is pressed in the window.
 *
 * @param {Place} place
 */
export async function keepMoving(place) {
  await place.evaluate(() => {
    let pressed = false;
    const begin = performance.now();
    const stop = () => {
      pressed = true;
    };
    for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, stop, { once: true, capture: true });
    const move = () => {
      if (pressed) return;
      window.stoodSince = performance.now();
      // Two pixels each time that the guard looks, and never back to where it stood.
      window.element.style.translate = `0 ${(window.stoodSince - begin) / 50}px`;
      requestAnimationFrame(move);
    };
    move();
  });
  await waitFor(place, () => window.buttons().every(({ ariaDisabled }) => ariaDisabled));
}

/** What reached the buttons so far. */
export const logOf = (place) => place.evaluate(() => window.log);

/** The clicks among it. */
export const clicksOf = async (place) => (await logOf(place)).filter(({ kind }) => kind === "click");

/** How many requests wait, and how many mails were sent. */
export const outcomeOf = (place) =>
  place.evaluate(() => ({
    waiting: window.rig.chat.snapshot().requests.length,
    sent: window.rig.runs.send_mail,
  }));

/** Waits until so many requests are left. */
export const left = (place, count) =>
  waitFor(place, (count) => window.rig.chat.snapshot().requests.length === count, count);
