/**
 * The gallery. The address says how it is shown: `?state=name` one state alone, `?scheme=dark` or `light`, `?dir=rtl`,
 * `?locale=ar`. `window.gallery` resolves once every state is reached.
 */
import { defineGrantsElement } from "./dist/grants-element.js";
import * as library from "./dist/index.js";
import { stage } from "./gallery/stage.mjs";
import { STATES } from "./gallery/states.mjs";
import { drawParts, drawTokens } from "./gallery/theme.mjs";
import { element } from "./nodes.mjs";

const CHOICES = {
  scheme: ["", "light", "dark"],
  dir: ["", "ltr", "rtl"],
  locale: ["", "de", "ar"],
  state: ["", ...STATES.map(({ name }) => name)],
};
/** What an absent choice is called. */
const NONE = { scheme: "of the system", dir: "of the language", locale: "en", state: "all" };

/** What the buttons are called that a person must press. */
const PRESSED = { approve: "Approve", deny: "Deny" };

const address = new URL(location.href);
const chosen = (name) => CHOICES[name].find((choice) => choice === address.searchParams.get(name)) ?? "";
const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((found) => [found.id, found]));

for (const select of page.view.querySelectorAll("select")) {
  select.append(...CHOICES[select.name].map((choice) => new Option(choice || NONE[select.name], choice)));
  select.value = chosen(select.name);
  select.addEventListener("change", () => {
    if (select.value) address.searchParams.set(select.name, select.value);
    else address.searchParams.delete(select.name);
    location.assign(address);
  });
}

drawParts(page);
window.gallery = show().catch((error) => {
  page.trouble.textContent = error.message;
  throw error;
});

async function show() {
  if (chosen("scheme")) document.documentElement.dataset.scheme = chosen("scheme");
  const strings = await words();
  document.documentElement.dir = strings.direction ?? "ltr";
  await library.init({ wires: "all" });
  library.defineElements({ strings });
  defineGrantsElement({ strings });
  const shown = STATES.filter(({ name, alone }) => (chosen("state") === "" ? !alone : name === chosen("state")));
  page.theme.hidden = chosen("state") !== "";
  await Promise.all(shown.map((state) => stage(library, state, placeOf(state))));
  drawTokens(page);
}

/** What the cards say. The direction alone is for looking at the layout with texts that one can read. */
async function words() {
  const [locale, direction] = [chosen("locale"), chosen("dir")];
  const strings = locale ? await (await fetch(`dist/locales/${locale}.json`)).json() : {};
  return { ...strings, ...(direction && { direction }) };
}

/** A place for the state's card, under the heading of its group. */
function placeOf({ name, group, title, shows = "approvals", press }) {
  let section = [...page.states.children].find((child) => child.dataset.group === group);
  if (!section) {
    section = element("section", "", element("h2", "", group), element("div", "cards"));
    section.dataset.group = group;
    page.states.append(section);
  }
  const alone = element("a", "", title);
  alone.href = `?${new URLSearchParams({ ...Object.fromEntries(address.searchParams), state: name })}`;
  const how = press ? [element("span", "soft", ` · press ${PRESSED[press]}`)] : [];
  const figure = element("figure", "", element("figcaption", "", alone, ...how));
  figure.dataset.state = name;
  alone.id = `name-${name}`;
  figure.setAttribute("aria-labelledby", `name-${name}`);
  const shown = document.createElement(`countersign-${shows}`);
  figure.append(shown);
  section.lastElementChild.append(figure);
  return shown;
}
