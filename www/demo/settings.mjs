/**
 * The settings dialog: where model requests go. A key is taken out of its field as soon as the settings are used; from
 * then on it is in a closure of endpoint.mjs and nowhere else.
 */

import { PRESETS, rehearsal, server } from "./endpoint.mjs";

export class Settings {
  #places;
  #use;
  /** The key that is in use, with the origin it was meant for: it goes to no other. */
  #key = { origin: "", value: "" };

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
    this.#say("");
    this.#noteKey();
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
    const kept = this.#key.value !== "";
    const { needsKey } = PRESETS[this.#places["settings-kind"].value] ?? {};
    this.#places["settings-key"].placeholder = kept ? "unchanged" : needsKey ? "" : "none needed";
    this.#places["settings-key-note"].textContent = kept
      ? `A key for ${this.#key.origin} is in this page's memory. Leave the field empty to keep using it there.`
      : "";
  }

  async #apply() {
    const { settings, "settings-use": button } = this.#places;
    this.#say("");
    button.disabled = true;
    try {
      await this.#use(await this.#endpoint());
      settings.close();
    } catch (error) {
      this.#say(error.message);
    } finally {
      button.disabled = false;
    }
  }

  async #endpoint() {
    const kind = this.#places["settings-kind"].value;
    if (kind === "rehearsal") return rehearsal();
    const [baseUrl, model] = ["url", "model"].map((name) => this.#places[`settings-${name}`].value.trim());
    const typed = this.#places["settings-key"].value.trim();
    // What is no URL gets no key; the package then says what is wrong with it.
    const origin = URL.canParse(baseUrl) ? new URL(baseUrl).origin : "";
    if (typed !== "") this.#key = { origin, value: typed };
    return server({ kind, baseUrl, model, key: origin === this.#key.origin ? this.#key.value : "" });
  }

  #say(trouble) {
    this.#places["settings-trouble"].textContent = trouble;
  }
}
