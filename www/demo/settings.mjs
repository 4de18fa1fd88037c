/**
 * The settings dialog: where model requests go. A key is taken out of its field as soon as the settings are used; from
 * then on it is in a closure of endpoint.mjs and nowhere else.
 */

import { PRESETS, rehearsal, server } from "./endpoint.mjs";

export class Settings {
  #places;
  #use;
  /** What is in use: the fields as they were, and the key with the origin it was meant for, since it goes to no other. */
  #now = { kind: "rehearsal", baseUrl: "", model: "", key: "", origin: "" };

  /**
   * @param {Record<string, HTMLElement>} places elements by id
   * @param {(endpoint: import("./endpoint.mjs").Endpoint) => Promise<void>} use takes an endpoint into use, or throws
   */
  constructor(places, use) {
    this.#places = places;
    this.#use = use;
    places["open-settings"].addEventListener("click", () => this.#open());
    places["settings-kind"].addEventListener("change", () => this.#choose());
    places["settings-form"].addEventListener("submit", (event) => {
      event.preventDefault();
      this.#apply();
    });
    places["settings-cancel"].addEventListener("click", () => places.settings.close());
    places.settings.addEventListener("close", () => {
      places["settings-key"].value = "";
    });
    this.#choose();
  }

  #open() {
    const { kind, baseUrl, model } = this.#now;
    this.#places["settings-kind"].value = kind;
    this.#choose();
    if (kind !== "rehearsal") {
      this.#places["settings-url"].value = baseUrl;
      this.#places["settings-model"].value = model;
    }
    this.#places.settings.showModal();
  }

  /** Fills in what a preset knows. */
  #choose() {
    const preset = PRESETS[this.#places["settings-kind"].value];
    this.#places["settings-server"].hidden = !preset;
    // A field that is not shown must not hold the form up.
    this.#places["settings-server"].disabled = !preset;
    this.#say("");
    if (!preset) return;
    this.#places["settings-url"].value = preset.baseUrl;
    this.#places["settings-model"].value = preset.model;
    this.#places["settings-hint"].textContent = preset.hint(location.origin);
    this.#noteKey();
  }

  #noteKey() {
    const { key, origin } = this.#now;
    const { needsKey } = PRESETS[this.#places["settings-kind"].value];
    this.#places["settings-key"].placeholder = needsKey || key !== "" ? "" : "none needed";
    this.#places["settings-key-note"].textContent =
      key === "" ? "" : `A key for ${origin} is in memory. Leave the field empty to go on with it there.`;
  }

  async #apply() {
    const { settings, "settings-use": button } = this.#places;
    this.#say("");
    button.disabled = true;
    try {
      const next = this.#read();
      await this.#use(next.kind === "rehearsal" ? await rehearsal() : server(next));
      this.#now = next;
      settings.close();
    } catch (error) {
      this.#say(error.message);
    } finally {
      button.disabled = false;
    }
  }

  /** What the fields say, with the key in use where it belongs to the same origin. */
  #read() {
    const kind = this.#places["settings-kind"].value;
    if (kind === "rehearsal") return { kind, baseUrl: "", model: "", key: "", origin: "" };
    const [baseUrl, model, typed] = ["url", "model", "key"].map((name) =>
      this.#places[`settings-${name}`].value.trim(),
    );
    // What is no URL gets no key; the package then says what is wrong with it.
    const origin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : "";
    const key = typed === "" && origin === this.#now.origin ? this.#now.key : typed;
    return { kind, baseUrl, model, key, origin };
  }

  #say(trouble) {
    this.#places["settings-trouble"].textContent = trouble;
  }
}
