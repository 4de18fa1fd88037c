/** The tables of tokens and parts; a token's field sets it for every card of the page. */
import { element } from "../nodes.mjs";
import { PARTS, TOKENS } from "./tokens.mjs";

export function drawParts({ parts }) {
  parts.tBodies[0].append(...PARTS.map(({ name, about }) => row(element("code", "", name), about)));
}

/** The fields start at what the cards have, so they need a card. */
export function drawTokens({ tokens, reset, rule, states }) {
  const { style: own } = document.documentElement;
  const fields = TOKENS.map(({ name, kind }) => {
    const input = document.createElement("input");
    input.type = kind;
    input.autocomplete = "off";
    input.spellcheck = false;
    input.setAttribute("aria-label", name);
    input.addEventListener("input", () => {
      own.setProperty(name, input.value);
      say();
    });
    return input;
  });
  tokens.tBodies[0].append(...TOKENS.map(({ name, about }, at) => row(element("code", "", name), about, fields[at])));
  reset.addEventListener("click", start);
  start();

  function start() {
    const card = states.querySelector("countersign-approvals, countersign-grants");
    TOKENS.forEach(({ name, kind }, at) => {
      own.removeProperty(name);
      const style = getComputedStyle(card);
      const used = style.getPropertyValue(name.replace("--countersign-", "--_")) || style.font;
      fields[at].value = kind === "color" ? hexOf(used, card) : used.trim();
    });
    say();
  }

  function say() {
    const set = TOKENS.map(({ name }) => [name, own.getPropertyValue(name)]).filter(([, value]) => value !== "");
    const lines = set.map(([name, value]) => `  ${name}: ${value};\n`);
    rule.textContent = lines.length > 0 ? `countersign-approvals {\n${lines.join("")}}` : "/* The defaults. */";
  }
}

function row(first, ...rest) {
  const head = element("th", "", first);
  head.scope = "row";
  return element("tr", "", head, ...rest.map((child) => element("td", "", child)));
}

/** A colour as its field takes it: of light and dark, the one that the card has. */
function hexOf(color, card) {
  const probe = document.createElement("span");
  probe.style.color = color;
  probe.style.colorScheme = getComputedStyle(card).colorScheme;
  document.body.append(probe);
  const [red, green, blue] = getComputedStyle(probe)
    .color.match(/[\d.]+/g)
    .map(Number);
  probe.remove();
  return `#${[red, green, blue].map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;
}
