/** What the tests of the demo page share: opening it, and what a person does there with its cards. */
import { openPage, press, serveSite } from "./harness.mjs";

/** The suggestion that makes two calls in one turn. */
export const BOTH = "Shorten the page and draft a mail to the team about it";

/**
 * A server and a page for one test, so that its recorded requests are its own.
 *
 * @param {object} [options] of the browser context
 * @param {{ model?: (body: string) => any }} [served] who answers instead of the rehearsal model
 * @param {RegExp} [expected] console errors that belong to the test
 */
export async function openDemo(browser, t, options, served, expected) {
  const site = await serveSite(t, served);
  const page = await openPage(browser, t, `${site.url}/`, options, expected);
  await ready(page);
  return { page, site };
}

/** Waits until there is a chat to send to. */
export async function ready(page) {
  await page.locator("#controls:not([disabled])").waitFor();
}

/** Waits for a finished answer that holds this text, and returns the whole of it. */
export async function answer(page, text) {
  const texts = page.locator("#messages > li.assistant:not([data-id='streaming']) > .text");
  const found = texts.filter({ hasText: text }).last();
  await found.waitFor();
  return found.textContent();
}

/** Scrolls a card's buttons into view, as somebody has to who wants to press one, and presses. */
export async function decide(card, name) {
  await card.getByRole("button", { name, exact: true }).scrollIntoViewIfNeeded();
  await press(card, name);
}
