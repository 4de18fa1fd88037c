/** The page that the demo's model looks after: what visitors would read. It lasts as long as its chat. */

/** What a chat begins with. */
export const FIRST = {
  title: "Status update",
  body: [
    "Pictures could not be uploaded this morning between 9:10 and 9:45. Everything else worked.",
    "The outage had one cause: a certificate had expired, and the upload server refused connections until it was " +
      "renewed. Uploads that failed in that time were not stored; please send them once more.",
    "From today on a check warns the people on call two weeks before a certificate expires. The next report follows " +
      "on Friday.",
  ].join("\n\n"),
};

/** How the page is offered to the model. */
export const READ_TOOL = {
  name: "page__read",
  title: "Read the page",
  description: "Tells the title and the text of the status page.",
  effect: "read",
  inputSchema: { type: "object", properties: {}, additionalProperties: false },
};

export const UPDATE_TOOL = {
  name: "page__update",
  title: "Update the page",
  description: "Changes the status page. What is left out stays as it is. Visitors see the change at once.",
  effect: "write",
  inputSchema: {
    type: "object",
    properties: {
      title: { type: "string", minLength: 1, maxLength: 120, description: "the new title, plain text" },
      body: {
        type: "string",
        minLength: 1,
        maxLength: 20_000,
        description: "the whole new text, plain; an empty line between paragraphs",
      },
    },
    additionalProperties: false,
  },
};

/** The page and its text. */
export class Page extends EventTarget {
  #keeping;

  /** @param {import("./keeping.mjs").Keeping} keeping */
  constructor(keeping) {
    super();
    this.#keeping = keeping;
  }

  /** @returns {{ title: string, body: string }} */
  read() {
    return this.#keeping.read("page") ?? FIRST;
  }

  /**
   * Does what a call of the tool asks. Fires `change` if anything is different then.
   *
   * @param {{ title?: string, body?: string }} args
   * @returns {{ changed: string[], title: string, body: string }} what the model is told
   */
  update(args) {
    const now = this.read();
    const next = { title: args.title ?? now.title, body: args.body ?? now.body };
    const changed = Object.keys(next).filter((name) => next[name] !== now[name]);
    if (changed.length > 0) {
      this.#keeping.keep("page", next);
      this.dispatchEvent(new Event("change"));
    }
    return { changed, ...next };
  }
}
