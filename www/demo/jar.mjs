/** The cookie jar: what there is to lose. It lasts as long as its chat does. */

/** How many cookies a fresh batch has. */
export const FULL = 12;

/** How the jar is offered to the model. */
export const JAR_TOOL = {
  name: "cookiejar__cookie_jar",
  title: "Cookie jar",
  description: "Looks into the cookie jar, or eats cookies from it. Cookies that were eaten are gone.",
  effect: "write",
  inputSchema: {
    type: "object",
    properties: {
      action: { type: "string", enum: ["look", "eat"], description: "look tells the count and changes nothing" },
      count: { type: "integer", minimum: 1, description: "how many cookies to eat; only with eat" },
    },
    required: ["action"],
    additionalProperties: false,
  },
};

/** The jar of a chat. */
export class Jar extends EventTarget {
  #keeping;

  /** @param {import("./keeping.mjs").Keeping} keeping */
  constructor(keeping) {
    super();
    this.#keeping = keeping;
  }

  /** How many cookies are in it. */
  get count() {
    return this.#keeping.read("cookies") ?? FULL;
  }

  /**
   * Does what a call of the tool asks. Fires `change` after the count changed.
   *
   * @param {{ action: "look" | "eat", count?: number }} args
   * @returns {{ cookies: number, eaten?: number }} what the model is told
   * @throws {RangeError} where there are fewer cookies than wanted
   */
  apply({ action, count }) {
    const there = this.count;
    if (action === "look") return { cookies: there };
    if (!Number.isSafeInteger(count) || count < 1)
      throw new RangeError("Say how many cookies to eat: count is missing.");
    if (count > there) throw new RangeError(`There are only ${there} cookies in the jar; none was eaten.`);
    const left = there - count;
    this.#keeping.keep("cookies", left);
    this.dispatchEvent(new Event("change"));
    return { eaten: count, cookies: left };
  }
}
