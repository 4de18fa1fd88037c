/**
 * `<countersign-approvals>`: the approval cards of one chat, each with its receipt once it is settled.
 *
 * ```html
 * <countersign-approvals></countersign-approvals>
 * ```
 *
 * Attributes
 * - `composer`: the id of the field where the person writes. Escape in a card moves the focus there, and so does the end of
 *   what had it; without one it goes to the cards themselves.
 * - `shortcuts`: a card that has the focus itself takes Ctrl+Enter or Command+Enter for a click on Approve. Off without it.
 * - `presentation`: `modal` shows what waits in a dialog above the page, with the focus on Deny; Escape closes it and
 *   decides nothing, and a button opens it again. Left out, cards stand in the page and never take the focus.
 * - `hidden` works.
 *
 * Events: none of its own; `chat.subscribe` and `chat.events()` tell what happens, also what is decided elsewhere.
 *
 * Properties
 * - `chat`: the chat whose cards are shown, or null.
 * - `by`: who decides by clicks here: undefined (the default) = the agent's user, a string = this person's id,
 *   null = the page does not know. Setting it to another person draws the cards anew: what is begun on them waits for whoever
 *   began it.
 * - `composer`: the field itself, or its id; the same as the attribute.
 * - `strings`: what the cards say, such as `countersign/locales/de.json`; undefined (the default) = what
 *   `defineElements` was given. Setting it draws the cards anew.
 *
 * What is begun on a card (a note, a reason, changed arguments, fields) goes along when the element is moved, when its cards
 * are drawn anew, and to the next element that is given the chat in this page. It is stored nowhere.
 *
 * Parts
 * - `card`: one card, waiting or settled; its place is kept while it changes.
 * - `asker`: who asks, and whose tool it is.
 * - `title`: what would run, for people.
 * - `tool`: the line with the tool's exact name.
 * - `server`: the name of the server that would run it.
 * - `why`: why it stopped, or what the tool asks.
 * - `arguments`: names and values, or that there are none.
 * - `mixed`: that a word mixes alphabets.
 * - `hosts`: the hosts of URLs that are not what they look like.
 * - `fold`: the button that opens what is folded, with how much that is.
 * - `preview`: what the tool says it would do.
 * - `hints`: what is known of the tool's effects.
 * - `scope`: what an approval covers.
 * - `deadline`: until when it waits, where that ends.
 * - `extend`: the button that gives it as much time again.
 * - `note`: the note's field with its label.
 * - `left`: how many characters a note may still have.
 * - `reason`: the choice of a reason for a denial, with its label.
 * - `form`: the fields of what a tool asks for.
 * - `field`: one field with its label.
 * - `problem`: what does not fit in a field, and why a click changed nothing.
 * - `authorization`: the URL of an authorization, and its link.
 * - `link`: the link that opens it.
 * - `actions`: the row of buttons.
 * - `hold`: why the buttons are off, where that is not for a moment.
 * - `deny`: the button that refuses.
 * - `approve`: the button that lets it run, or sends what is filled in.
 * - `stop`: the button that stops the run, where a result was lost.
 * - `more`: the button that opens what else can be done.
 * - `secondary`: what it opens.
 * - `scopes`: what a person may allow beyond the one call.
 * - `standing`: each button for that.
 * - `terms`: the second step, which names what is allowed.
 * - `back`: the button that leaves it.
 * - `allow`: the button that allows it, and runs the call.
 * - `edit-open`: the button that puts the arguments into fields.
 * - `edit`: these fields, with what differs from what the model wrote.
 * - `json`: the arguments as text, where they do not fit into fields.
 * - `difference`: what differs.
 * - `reset`: the button that takes every change back.
 * - `receipt`: what was decided, and what came of it.
 * - `until`: how long what was allowed stands, where that is more than the one call.
 * - `when`: when it was decided.
 * - `dismiss`: the button that takes a receipt out of sight.
 * - `bulk`: above several cards, the row of buttons for all of them.
 * - `deny-all`: the button that refuses every approval that waits.
 * - `approve-selected`: the button that approves those that are selected.
 * - `select`: in each of several cards, the box that selects it, with its label.
 * - `dialog`: what the cards stand in, where they are presented in a dialog.
 * - `reopen`: the button that opens the dialog again.
 *
 * Custom properties, with the defaults that follow light and dark
 * - `--countersign-surface`: the card's ground.
 * - `--countersign-ink`: text.
 * - `--countersign-muted`: quieter text, and the border of fields.
 * - `--countersign-line`: the card's border.
 * - `--countersign-field`: the ground of arguments, buttons and receipts.
 * - `--countersign-deny`: text and border of the button, the mark of its receipt, and problems.
 * - `--countersign-approve`: text and border of the button, and the mark of its receipt.
 * - `--countersign-focus`: the focus ring.
 * - `--countersign-radius`: of the card, `12px`; fields and buttons stay at 8px or below.
 * - `--countersign-font`: shorthand, `1rem/1.5 system-ui, sans-serif`.
 * - `--countersign-code-font`: family of the tool's name and of arguments.
 * - `--countersign-scroll-margin`: how much room a bar that sticks to an edge of the page, such as the composer, takes from
 *   what the focus moves to, `0px`.
 *
 * The demo's gallery shows every state with all of these, and sets the properties live.
 *
 * One element of role `status` in the document's body says politely what waits in all elements of the page, and what came of
 * it.
 *
 * The cards follow the person's preference for light or dark. On a page that knows one of them only, say so:
 * `countersign-approvals { color-scheme: light }`.
 *
 * A click decides only if a person can have meant it: the button stood fully in view, uncovered and at rest for half a
 * second, in a page with the focus, and was pressed itself. Until then it has `aria-disabled="true"`. `button.click()`
 * and dispatched events never decide; a page decides through `chat.decide`.
 *
 * Covered is a button under anything that takes its clicks, and one that stands in anything with an `opacity` below 1 or
 * a `filter`. Chromium sees more: what lies over it and lets clicks through, be it as thin as grain over the whole page; a
 * rotation, a scale below 1, a blend mode, a `backdrop-filter`; and all of that around a frame, too. Such a button stays
 * off, and its title says so; what only Chromium sees keeps nobody from a no. Keep the cards out of such styles; what has
 * ended, such as a fade, is no matter.
 *
 * No script of a page sees, in Firefox and Safari, what lets clicks through, nor what another site that holds the page in
 * a frame lays over it. So a page with cards should say who may, by the header `Content-Security-Policy: frame-ancestors
 * 'none'`, or with the origins that it trusts. `<meta>` does not do for this header.
 */

import { isText } from "./reader.js";
import { type Strings, Words } from "./words.js";

/** What the element needs of a chat. */
export interface ShownChat {
  /** Calls `listener` after every change; returns what ends that. */
  subscribe(listener: () => void): () => void;
}

/** The cards in one shadow root. */
export interface Attached {
  /** Shows the chat as it is now. */
  update(): void;
  /** Keeps what is begun on the cards for the next that draws the chat. */
  leave(): void;
  /** Takes the cards out. Decides nothing. */
  free(): void;
}

/** What an element says of its cards. */
export interface Shown {
  /** Who decides there: undefined = the agent's user, null = not known. */
  by: string | null | undefined;
  strings: Strings | undefined;
  /** Moves the focus to the page's composer; false where there is none that takes it. */
  leave(): boolean;
  readonly shortcuts: boolean;
  readonly modal: boolean;
}

/** Draws the cards of `chat` into `root`. */
export type Attach<Chat extends ShownChat> = (root: ShadowRoot, chat: Chat, shown: Shown) => Attached;

/** The element `<countersign-approvals>`. */
export interface CountersignApprovals<Chat extends ShownChat = ShownChat> extends HTMLElement {
  chat: Chat | null;
  by: string | null | undefined;
  strings: Strings | undefined;
  composer: HTMLElement | string | null;
}

/** Registers `<countersign-approvals>`; later calls change nothing. */
export function defineElements<Chat extends ShownChat>(attach: Attach<Chat>): void {
  if (customElements.get("countersign-approvals") === undefined) {
    customElements.define("countersign-approvals", approvals(attach));
  }
}

/** The class is made here and not on import, so that a server without HTMLElement can import this module. */
function approvals<Chat extends ShownChat>(attach: Attach<Chat>): CustomElementConstructor {
  return class extends HTMLElement implements CountersignApprovals<Chat> {
    readonly #root = this.attachShadow({ mode: "open" });
    #chat: Chat | null = null;
    #by: string | null | undefined;
    #strings: Strings | undefined;
    #composer: HTMLElement | undefined;
    #attached: Attached | undefined;
    /** Whether cards are being drawn: the page hears of the focus they take, and of its own rules, meanwhile. */
    #isDrawing = false;
    /** How often cards were taken out, or would have been. */
    #turns = 0;
    #unsubscribe: (() => void) | undefined;

    get chat(): Chat | null {
      return this.#chat;
    }

    set chat(chat: Chat | null | undefined) {
      if (this.#chat === (chat ?? null)) return;
      this.#detach();
      this.#chat = chat ?? null;
      this.#attach();
    }

    get by(): string | null | undefined {
      return this.#by;
    }

    set by(by: string | null | undefined) {
      if (typeof by !== "string" && by !== null && by !== undefined) {
        throw new TypeError("by must be a string (a person's id), null (not known) or undefined (the agent's user).");
      }
      if (this.#by === by) return;
      // What one person began is not another's to send: it waits for them.
      this.#redraw(() => {
        this.#by = by;
      });
    }

    get strings(): Strings | undefined {
      return this.#strings;
    }

    set strings(strings: Strings | undefined) {
      if (strings !== undefined) new Words(strings);
      this.#redraw(() => {
        this.#strings = strings;
      });
    }

    get composer(): HTMLElement | string | null {
      return this.#composer ?? this.getAttribute("composer");
    }

    set composer(composer: HTMLElement | string | null | undefined) {
      if (composer !== null && composer !== undefined && !(composer instanceof HTMLElement) && !isText(composer)) {
        throw new TypeError("composer must be an element, the id of one, or null.");
      }
      this.#composer = composer instanceof HTMLElement ? composer : undefined;
      if (isText(composer)) this.setAttribute("composer", composer);
      else this.removeAttribute("composer");
    }

    static readonly observedAttributes = ["presentation"];

    attributeChangedCallback(): void {
      this.#redraw();
    }

    connectedCallback(): void {
      // Properties that were set before the element was registered hide the setters until they are set again.
      for (const name of ["by", "strings", "composer", "chat"] as const) {
        if (Object.hasOwn(this, name)) {
          const early = this[name];
          Reflect.deleteProperty(this, name);
          Reflect.set(this, name, early);
        }
      }
      this.#attach();
    }

    disconnectedCallback(): void {
      this.#detach();
    }

    /** `moveBefore` keeps the cards, and with them a note that is being typed. */
    connectedMoveCallback(): void {}

    #attach(): void {
      const chat = this.#chat;
      if (chat === null || !this.isConnected || this.#attached !== undefined || this.#isDrawing) return;
      const turn = this.#turns;
      this.#isDrawing = true;
      let attached: Attached;
      try {
        attached = attach(this.#root, chat, this.#shown());
      } finally {
        this.#isDrawing = false;
      }
      if (turn !== this.#turns) {
        // The page has changed the element since: these cards are not what it shows.
        attached.leave();
        queueMicrotask(() => {
          attached.free();
          this.#attach();
        });
        return;
      }
      this.#attached = attached;
      this.#unsubscribe = chat.subscribe(() => attached.update());
      attached.update();
    }

    #shown(): Shown {
      const element = this;
      return {
        by: element.#by,
        strings: element.#strings,
        leave: () => element.#leave(),
        get shortcuts() {
          return element.hasAttribute("shortcuts");
        },
        modal: element.getAttribute("presentation") === "modal",
      };
    }

    #leave(): boolean {
      const { composer } = this;
      const root = this.getRootNode() as Document | ShadowRoot;
      const field = isText(composer) ? (root.getElementById(composer) ?? document.getElementById(composer)) : composer;
      field?.focus();
      return field?.matches(":focus-within") ?? false;
    }

    #redraw(change?: () => void): void {
      const isDrawn = this.#attached !== undefined || this.#isDrawing;
      if (isDrawn) this.#detach();
      change?.();
      if (isDrawn) this.#attach();
    }

    #detach(): void {
      this.#turns += 1;
      this.#unsubscribe?.();
      const attached = this.#attached;
      this.#unsubscribe = undefined;
      this.#attached = undefined;
      attached?.leave();
      // Not at once: a page's focus handler may take the element out while its cards are being drawn.
      if (attached !== undefined) queueMicrotask(() => attached.free());
    }
  };
}
