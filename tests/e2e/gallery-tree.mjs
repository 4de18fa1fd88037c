/** The accessibility tree of each state of the gallery, as text that a person can read and compare. */

/** Roles of the tree that say nothing more than what is in them. */
const SILENT = new Set(["none", "generic", "StaticText", "InlineTextBox", "ListMarker", "LineBreak", "LabelText"]);

/** Controls of the browser's own: what is in them is its concern. */
const NATIVE = new Set(["textbox", "spinbutton", "combobox", "Date", "DateTime", "checkbox", "button", "link"]);

/** How long it took to reach a state does not belong into its text. */
const TIME = /\b12:\d\d:\d\d/g;

/** States worth a word where they are as given here. */
const SAID = {
  focusable: true,
  disabled: true,
  required: true,
  multiline: true,
  invalid: "true",
  checked: "true",
  expanded: undefined,
  live: undefined,
  level: undefined,
};

/**
 * @param {import("playwright-core").Page} page
 * @returns {Promise<Record<string, string[]>>} by state, a line for each node, indented by depth
 */
export async function treesOf(page) {
  const session = await page.context().newCDPSession(page);
  const { nodes } = await session.send("Accessibility.getFullAXTree");
  await session.detach();
  const byId = new Map(nodes.map((node) => [node.nodeId, node]));
  const childrenOf = ({ childIds = [] }) => childIds.map((id) => byId.get(id)).filter(Boolean);
  const trees = {};
  for (const node of nodes.filter(({ role }) => role?.value === "figure")) {
    const title = node.name.value;
    trees[title] = childrenOf(node).flatMap((child) => (child.role?.value === "Figcaption" ? [] : linesOf(child, 0)));
  }
  return trees;

  function linesOf(node, depth) {
    const role = node.role?.value ?? "";
    const isSaid = !node.ignored && !SILENT.has(role);
    const children = NATIVE.has(role) ? [] : childrenOf(node);
    const inner = children.flatMap((child) => linesOf(child, depth + (isSaid ? 1 : 0)));
    if (role === "StaticText" && !node.ignored)
      return [`${"  ".repeat(depth)}${JSON.stringify(node.name.value).replaceAll(TIME, "12:MM:SS")}`];
    return isSaid ? [`${"  ".repeat(depth)}${describe(node, role)}`, ...withoutEcho(inner, node, depth)] : inner;
  }
}

/** Of a node whose one text is its name the text says nothing more. */
function withoutEcho(inner, { name }, depth) {
  return inner.length === 1 && inner[0].slice((depth + 1) * 2) === JSON.stringify(name?.value) ? [] : inner;
}

function describe({ name, description, value, properties = [] }, role) {
  const said = [role];
  if (name?.value) said.push(JSON.stringify(name.value));
  if (description?.value) said.push(`described by ${JSON.stringify(description.value)}`);
  if (value?.value !== undefined && value.value !== "") said.push(`= ${JSON.stringify(value.value)}`);
  for (const { name: property, value: held } of properties) {
    if (!(property in SAID)) continue;
    const isDefault = property === "live" && held.value === "off";
    if (SAID[property] === undefined ? !isDefault : held.value === SAID[property]) {
      said.push(held.value === true || held.value === "true" ? property : `${property} ${held.value}`);
    }
  }
  return said.join(" ");
}
