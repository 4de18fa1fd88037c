import { makeForm } from "./form.js";
import { Words } from "./words.js";

/** @internal The words of cards, which have forms too. */
export class CardWords extends Words {
  /** The fields of a form, given as JSON: see {@link makeForm}. */
  form(text: string): HTMLElement {
    return makeForm(text, this);
  }
}
