/** Which chat the page shows: the one that its address names, else the one shown last, else a new one. */

const LAST = "countersign-demo:last";

/** The id of the chat to show. The address names it from then on, so that a reload and a second tab show the same. */
export function chatOfAddress() {
  const named = new URLSearchParams(location.hash.slice(1)).get("chat");
  const id = named || last() || newId();
  // Not a step of its own for the Back button.
  if (!named) history.replaceState(null, "", hashOf(id));
  note(id);
  return id;
}

/** Has the address name a new chat; the Back button goes back, and fires `hashchange` then. */
export function nameNewChat() {
  history.pushState(null, "", hashOf(newId()));
}

function hashOf(id) {
  return `#${new URLSearchParams({ chat: id })}`;
}

/** 64 random bits. A page of plain http has no `randomUUID`. */
function newId() {
  return [...crypto.getRandomValues(new Uint8Array(8))].map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function last() {
  try {
    return localStorage.getItem(LAST);
  } catch {
    return null;
  }
}

function note(id) {
  try {
    localStorage.setItem(LAST, id);
  } catch {
    // A browser that keeps nothing has the address.
  }
}
