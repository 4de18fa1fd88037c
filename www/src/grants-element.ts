/**
 * `<countersign-grants>`: the standing permissions in an agent's store, each with a button that revokes it. An entry of its
 * own: `import { defineGrantsElement } from "countersign/grants-element"`.
 *
 * ```html
 * <countersign-grants></countersign-grants>
 * ```
 *
 * Attributes: none of its own; `hidden` works.
 *
 * Properties
 * - `agent`: the agent whose permissions are shown, or null.
 *
 * Parts: `title`, `none`, `grant`, `tool`, `arguments`, `terms`, `changed`, `revoke`, `status`.
 *
 * Custom properties: those of `<countersign-approvals>`; see there.
 *
 * A button here takes authority back and gives none, so that any click counts, also one by a script.
 */

import tokens from "../../src/web/card/tokens.css";
import { messageOf } from "./error.js";
import type { Grant, Grants } from "./grants.js";
import css from "./grants-element.css";
import { type Strings, Words } from "./words.js";

/** What the element needs of an agent. */
export interface GrantsAgent {
  readonly grants: Pick<Grants, "list" | "revoke" | "subscribe">;
}

/** The element `<countersign-grants>`. */
export interface CountersignGrants extends HTMLElement {
  agent: GrantsAgent | null;
}

/** Registers `<countersign-grants>`; later calls change nothing. `strings` as in `defineElements`. */
export function defineGrantsElement(options: { strings?: Strings } = {}): void {
  const words = new Words(options.strings);
  if (customElements.get("countersign-grants") === undefined) {
    customElements.define("countersign-grants", grantsElement(words));
  }
}

const WHICH = { any: "grants.any", exact: "grants.exact", having: "grants.having" };

/** The longest wait that a timer can count. */
const LONGEST_TIMER = 2 ** 31 - 1;

/** The class is made here and not on import, so that a server without HTMLElement can import this module. */
function grantsElement(words: Words): CustomElementConstructor {
  return class extends HTMLElement implements CountersignGrants {
    readonly #list = make("ul", {});
    readonly #none = make("p", { part: "none", tabindex: "-1" });
    readonly #status = make("p", { part: "status", role: "status" });
    readonly #items = new Map<string, { item: HTMLElement; shown: string }>();
    #agent: GrantsAgent | null = null;
    #end: (() => void) | undefined;
    #timer: ReturnType<typeof setTimeout> | undefined;
    /** Counts the looks, so that of two that overlap the later counts. */
    #looks = 0;

    constructor() {
      super();
      const root = this.attachShadow({ mode: "open" });
      const sheet = new CSSStyleSheet();
      sheet.replaceSync(tokens + css);
      root.adoptedStyleSheets = [sheet];
      const box = make("section", { lang: words.locale, dir: words.direction, "aria-labelledby": "title" });
      const title = make("h2", { part: "title", id: "title" }, words.say("grants.title"));
      box.append(title, this.#none, this.#list, this.#status);
      root.append(box);
      this.#none.hidden = true;
    }

    get agent(): GrantsAgent | null {
      return this.#agent;
    }

    set agent(agent: GrantsAgent | null | undefined) {
      if (this.#agent === (agent ?? null)) return;
      this.#detach();
      this.#agent = agent ?? null;
      this.#attach();
    }

    connectedCallback(): void {
      // A property that was set before the element was registered hides the setter until it is set again.
      if (Object.hasOwn(this, "agent")) {
        const early = this.agent;
        Reflect.deleteProperty(this, "agent");
        this.agent = early;
      }
      this.#attach();
    }

    disconnectedCallback(): void {
      this.#detach();
    }

    connectedMoveCallback(): void {}

    #attach(): void {
      const agent = this.#agent;
      if (agent === null || !this.isConnected || this.#end !== undefined) return;
      this.#end = agent.grants.subscribe(() => this.#look());
      this.#look();
    }

    #detach(): void {
      this.#end?.();
      this.#end = undefined;
      clearTimeout(this.#timer);
      this.#looks += 1;
      this.#draw([]);
      this.#none.hidden = true;
    }

    async #look(): Promise<void> {
      const agent = this.#agent;
      this.#looks += 1;
      const look = this.#looks;
      try {
        const grants = (await agent?.grants.list()) ?? [];
        if (look === this.#looks) this.#draw(grants);
      } catch (thrown) {
        if (look !== this.#looks) return;
        this.#draw([]);
        this.#none.textContent = words.say("grants.unread", { problem: messageOf(thrown) });
      }
    }

    /** Shows these, and keeps the elements of those that were there: the focus may be on one. */
    #draw(grants: readonly Grant[]): void {
      const focused = this.shadowRoot?.activeElement;
      const place = [...this.#list.children].findIndex((item) => item.contains(focused ?? null));
      for (const grant of grants) {
        const shown = JSON.stringify(grant);
        const known = this.#items.get(grant.id);
        if (known?.shown === shown) continue;
        const item = this.#item(grant);
        if (known) known.item.replaceWith(item);
        else this.#list.append(item);
        this.#items.set(grant.id, { item, shown });
      }
      for (const [id, { item }] of this.#items) {
        if (grants.some((grant) => grant.id === id)) continue;
        item.remove();
        this.#items.delete(id);
      }
      this.#none.textContent = words.say("grants.none");
      this.#none.hidden = grants.length > 0;
      // Else the focus would be lost to the page.
      if (place >= 0 && !this.#list.contains(focused ?? null)) {
        const next = this.#list.children[Math.min(place, this.#list.children.length - 1)];
        (next?.querySelector("button") ?? this.#none).focus();
      }
      this.#lookInTime(grants);
    }

    /** One whose time is over goes by itself. */
    #lookInTime(grants: readonly Grant[]): void {
      clearTimeout(this.#timer);
      const ends = grants.map(({ until }) => until).filter((until) => until !== null);
      if (ends.length === 0) return;
      const wait = Math.max(Math.min(...ends) - Date.now(), 0);
      this.#timer = setTimeout(() => this.#look(), Math.min(wait, LONGEST_TIMER));
    }

    #item(grant: Grant): HTMLElement {
      const { view, scope, constraint, until, at, changed } = grant;
      const item = make("li", { part: "grant" });
      const tool = make("div", { part: "tool" });
      tool.append(make("code", { dir: "auto" }, view.tool));
      if (view.server !== undefined) {
        tool.append(make("span", {}, words.say("grants.server", { server: view.server })));
      }
      item.append(tool);
      const isBare = constraint === "exact" && view.arguments.length === 0;
      const which = isBare ? "grants.no_arguments" : WHICH[constraint];
      item.append(make("div", {}, words.say(which)));
      if (view.arguments.length > 0) item.append(rows(view.arguments, words.say(which), words));
      const where = scope === "chat" ? words.say("grants.in_chat", { chat: view.chat }) : words.say("grants.always");
      const end = until === null ? words.say("grants.no_end") : words.say("grants.until", { time: time(until) });
      const terms = make("div", { part: "terms" });
      terms.append(
        ...[where, end, words.say("grants.given", { time: time(at) })].map((text) => make("span", {}, text)),
      );
      item.append(terms);
      if (changed) {
        const what = changed.map((aspect) => words.sayAgain("aspect", aspect));
        item.append(make("div", { part: "changed" }, words.say("grants.changed", { what })));
      }
      const name = words.say("grants.revoke_of", { tool: view.tool });
      const revoke = make("button", { part: "revoke", type: "button", "aria-label": name }, words.say("grants.revoke"));
      revoke.onclick = () => this.#revoke(grant);
      item.append(revoke);
      return item;
    }

    async #revoke({ id, view: { tool } }: Grant): Promise<void> {
      try {
        await this.#agent?.grants.revoke(id);
        this.#status.textContent = words.say("grants.revoked", { tool });
        await this.#look();
      } catch (thrown) {
        this.#status.textContent = words.say("grants.not_revoked", { problem: messageOf(thrown) });
      }
    }
  };

  function time(at: number): string {
    return new Intl.DateTimeFormat(words.locale, { dateStyle: "medium", timeStyle: "short" }).format(at);
  }
}

/** Text nodes only, as on the card. Where it scrolls a keyboard must get there. */
function rows(values: Grant["view"]["arguments"], label: string, words: Words): HTMLElement {
  const list = make("dl", { part: "arguments", tabindex: "0", "aria-label": label });
  for (const { path, text } of values) {
    list.append(make("dt", { dir: "auto" }, path));
    // Lines begin where their own direction has them begin.
    const lines = text.includes("\n") ? { class: "lines" } : {};
    list.append(make("dd", { dir: "auto", ...lines }, text || words.say("head.empty_text")));
  }
  return list;
}

function make(tag: string, attributes: Record<string, string>, text?: string): HTMLElement {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  if (text !== undefined) element.textContent = text;
  return element;
}
