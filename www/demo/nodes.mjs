/**
 * Drawing by text nodes only. What is on the page stays on the page: an item is found again by its id and only a text
 * that changed is set, so a selection or a reader's place in the text survives every change.
 */

/** Makes the children of `parent` one for each item, in order, keeping those whose id is known. */
export function keep(parent, items, tag, update) {
  const known = new Map([...parent.children].map((child) => [child.dataset.id, child]));
  items.forEach((item, at) => {
    const child = known.get(item.id) ?? element(tag);
    known.delete(item.id);
    child.dataset.id = item.id;
    if (parent.children[at] !== child) parent.insertBefore(child, parent.children[at] ?? null);
    update(child, item);
  });
  for (const gone of known.values()) gone.remove();
}

/** Sets a text if it changed; a text that only grew is appended to, which leaves a selection alone. */
export function write(box, text) {
  const before = box.textContent;
  if (before === text) return;
  if (box.firstChild && text.startsWith(before)) box.firstChild.appendData(text.slice(before.length));
  else box.textContent = text;
}

/** An element with this class and these children, strings among them. */
export function element(tag, className = "", ...children) {
  const made = document.createElement(tag);
  if (className) made.className = className;
  made.append(...children);
  return made;
}
