/** What the tools work on, drawn beside the chat: the jar, the page as its visitors see it, and the mail draft. */

import { FULL, Jar } from "./jar.mjs";
import { Keeping } from "./keeping.mjs";
import { Mail } from "./mail.mjs";
import { element } from "./nodes.mjs";
import { Page } from "./page.mjs";

/** How long a change is marked, in milliseconds. */
const MARKED = 2_000;

/** The three things, and their drawing into the elements of these ids. */
export class Desk {
  #keeping = new Keeping();
  jar = new Jar(this.#keeping);
  page = new Page(this.#keeping);
  mail = new Mail(this.#keeping);

  /** @param {Record<string, HTMLElement>} places elements by id */
  constructor(places) {
    const drawings = [
      [this.jar, places["jar-tile"], () => drawJar(this.jar, places)],
      [this.page, places["page-tile"], () => drawPage(this.page, places)],
      [this.mail, places["mail-tile"], () => drawMail(this.mail, places)],
    ];
    for (const [thing, tile, draw] of drawings) {
      this.#keeping.addEventListener("change", draw);
      thing.addEventListener("change", () => {
        draw();
        mark(tile);
      });
    }
  }

  /** Lays out what belongs to a chat, as it was left; for a new one everything is as at the start. */
  open(chat) {
    this.#keeping.open(chat);
  }
}

function drawJar(jar, { cookies, count }) {
  cookies.replaceChildren(...Array.from({ length: FULL }, (_, at) => element("li", at < jar.count ? "there" : "")));
  count.textContent = jar.count === 1 ? "1 cookie" : `${jar.count} cookies`;
}

function drawPage(page, places) {
  const { title, body } = page.read();
  places["page-title"].textContent = title;
  places["page-body"].replaceChildren(...paragraphs(body));
}

function drawMail({ draft }, places) {
  places["mail-none"].hidden = draft !== null;
  places["mail-draft"].hidden = draft === null;
  places["mail-to"].textContent = draft?.to ?? "";
  places["mail-subject"].textContent = draft?.subject ?? "";
  places["mail-body"].replaceChildren(...paragraphs(draft?.body ?? ""));
}

function paragraphs(text) {
  return text.split(/\n{2,}/u).map((paragraph) => element("p", "", paragraph));
}

/** Shows for a moment where a tool changed something. */
function mark(tile) {
  tile.classList.add("changed");
  setTimeout(() => tile.classList.remove("changed"), MARKED);
}
