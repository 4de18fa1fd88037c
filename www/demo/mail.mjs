/** The mail draft beside the chat. Nothing here sends mail. */

/** How drafting is offered to the model. */
export const DRAFT_TOOL = {
  name: "mail__draft",
  title: "Draft a mail",
  description: "Keeps a mail as a draft in the user's name. It is not sent: the user does that, or not.",
  effect: "write",
  inputSchema: {
    type: "object",
    properties: {
      to: { type: "string", minLength: 3, maxLength: 254, description: "one address" },
      subject: { type: "string", minLength: 1, maxLength: 200 },
      body: {
        type: "string",
        minLength: 1,
        maxLength: 20_000,
        description: "plain text; an empty line between paragraphs",
      },
    },
    required: ["to", "subject", "body"],
    additionalProperties: false,
  },
};

/** The one draft; a new one takes its place. */
export class Mail extends EventTarget {
  #keeping;

  /** @param {import("./keeping.mjs").Keeping} keeping */
  constructor(keeping) {
    super();
    this.#keeping = keeping;
  }

  /** @returns {{ to: string, subject: string, body: string } | null} */
  get draft() {
    return this.#keeping.read("draft") ?? null;
  }

  /**
   * Does what a call of the tool asks, and fires `change`.
   *
   * @param {{ to: string, subject: string, body: string }} draft
   * @returns {{ saved: true, to: string, subject: string, characters: number, sent: false }} what the model is told
   */
  keep({ to, subject, body }) {
    this.#keeping.keep("draft", { to, subject, body });
    this.dispatchEvent(new Event("change"));
    return { saved: true, to, subject, characters: Array.from(body).length, sent: false };
  }
}
