/**
 * What the things on the desk hold, one set for each chat, kept beside the chats so that a reload takes neither without
 * the other. Every tab of the site reads and writes the same, at once. It lasts as long as the page where a browser
 * keeps nothing.
 */

const PREFIX = "countersign-demo:desk:";

/** Fires `change` when another chat's set is laid out, or another tab has changed this one. */
export class Keeping extends EventTarget {
  #key = "";
  /** Where nothing can be kept, by key. */
  #unkept = new Map();

  constructor() {
    super();
    addEventListener("storage", ({ key }) => {
      // Null is everything at once.
      if (key === this.#key || key === null) this.dispatchEvent(new Event("change"));
    });
  }

  /** Lays out the set of a chat. One that has none starts with an empty one. */
  open(chat) {
    this.#key = PREFIX + chat;
    this.dispatchEvent(new Event("change"));
  }

  /** What a thing holds; undefined if nothing was kept of it. */
  read(thing) {
    return this.#all()[thing];
  }

  keep(thing, held) {
    const all = { ...this.#all(), [thing]: held };
    try {
      localStorage.setItem(this.#key, JSON.stringify(all));
    } catch {
      this.#unkept.set(this.#key, all);
    }
  }

  #all() {
    const unkept = this.#unkept.get(this.#key);
    if (unkept) return unkept;
    try {
      return JSON.parse(localStorage.getItem(this.#key)) ?? {};
    } catch {
      return {};
    }
  }
}
