import { makeEditor } from "./edit.js";
import { makeForm } from "./form.js";
import { Words } from "./words.js";

/** @internal The words of cards, which have fields too. */
export class CardWords extends Words {
  /** The fields of a form, given as JSON: see {@link makeForm}. */
  form(text: string): HTMLElement {
    return makeForm(text, this);
  }

  /** Where arguments are changed: see {@link makeEditor}. */
  editor(text: string, schema: string, says: string): HTMLElement {
    return makeEditor(text, schema, says, this);
  }
}
