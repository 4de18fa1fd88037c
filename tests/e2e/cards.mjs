/** What the tests of cards share: a page of either browser with a chat of its own in the element, and what is seen of it. */
import { openContext, openTab, serve, waitFor } from "./browsers.mjs";
import { obedient } from "./scripted.mjs";

/** A message that has the obedient model send these mails. */
export const mail = (...names) => JSON.stringify(names.map((to) => ["send_mail", JSON.stringify({ to })]));

/**
 * The test page. `script` gets the kit (see page/kit.mjs) and makes the chat whose cards are shown; what it gives is
 * `window.rig` then, with the kit as `window.rig.kit`.
 *
 * @param {import("puppeteer-core").Browser} browser
 * @param {import("node:test").TestContext} t
 * @param {(kit: any) => any} [script] gives `{ chat, … }`; left out, the chat of the page itself
 * @param {object} [options]
 * @param {any} [options.given] data that the script finds in its kit
 * @param {(body: string) => any} [options.model]
 * @param {{ width: number, height: number }} [options.viewport]
 */
export async function openCards(browser, t, script, { given, model = obedient, viewport } = {}) {
  const site = await serve(t, { model });
  const page = await openTab(await openContext(browser, t), t, `${site.url}/test/`);
  // Room for several cards: a button counts only in full view.
  await page.setViewport(viewport ?? { width: 1000, height: 2400 });
  await page.evaluate(() => window.ready);
  const kit = await page.evaluateHandle(async (data) => (await import("/test/kit.mjs")).kit(data), given);
  if (script) {
    const rig = await page.evaluateHandle(script, kit);
    await page.evaluate(
      (made, kit) => {
        window.rig = Object.assign(made, { kit });
        document.querySelector("countersign-approvals").chat = made.chat;
      },
      rig,
      kit,
    );
  }
  return { page, site };
}

/** A handle of what `selector` finds in the element's cards, once it does; `place` counts from 0. */
export function find(page, selector, place = 0) {
  return waitFor(
    page,
    (selector, place) => {
      const [element] = document.querySelectorAll("countersign-approvals");
      return element.shadowRoot.querySelectorAll(selector)[place];
    },
    selector,
    place,
  );
}

/** How many of these there are in the element's cards. */
export const count = (page, selector) =>
  page.evaluate(
    (selector) => document.querySelector("countersign-approvals").shadowRoot.querySelectorAll(selector).length,
    selector,
  );

/** A button, once a click on it would count. */
export const armedButton = (page, part, place = 0) =>
  waitFor(
    page,
    (part, place) => {
      const [element] = document.querySelectorAll("countersign-approvals");
      const button = element.shadowRoot.querySelectorAll(`[part~="${part}"]`)[place];
      return button && !button.hasAttribute("aria-disabled") && button;
    },
    part,
    place,
  );

/** Clicks a button with the mouse, once that counts. */
export async function click(page, part, place = 0) {
  await (await armedButton(page, part, place)).click();
}

/** Waits until that element's text fits. */
export function text(page, selector, pattern, place = 0) {
  return waitFor(
    page,
    (selector, source, place) => {
      const [element] = document.querySelectorAll("countersign-approvals");
      const found = element.shadowRoot.querySelectorAll(selector)[place];
      return found && new RegExp(source).test(found.textContent) && (found.textContent || "(empty)");
    },
    selector,
    pattern.source,
    place,
  ).then((handle) => handle.jsonValue());
}

/** Waits until the chat has this status. */
export const rests = (page, status = "done") =>
  waitFor(page, (status) => window.rig.chat.snapshot().status === status, status);

/** What has the focus: the part it has in the element's cards, its id elsewhere, and which card it stands in. */
export const focus = (page) =>
  page.evaluate(() => {
    const outer = document.activeElement;
    const inner = outer?.shadowRoot?.activeElement;
    if (!inner) return outer === document.body ? "body" : outer?.id || outer?.localName;
    const cards = [...outer.shadowRoot.querySelectorAll("[part~=card]")];
    const part = inner.getAttribute("part") ?? inner.localName;
    const card = cards.findIndex((card) => card.contains(inner));
    return card < 0 ? part : `${part} ${card}`;
  });
