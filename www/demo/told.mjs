/**
 * What the model was told, as it went out. The recorder stands between the package and the network, so what it shows
 * is what was sent and not what somebody believes was sent. It sees no key: keys travel in headers, and it looks at
 * the body alone.
 */

import { element, keep, write } from "./nodes.mjs";

/**
 * A request as it was sent.
 *
 * @typedef {{ number: number, url: string, body: string, size: number, outcome: string }} Sent
 */

/** Keeps the last model request. Fires `change` when it is sent and when it is answered. */
export class Recorder extends EventTarget {
  /** @type {Sent | null} */
  last = null;
  #count = 0;

  /**
   * A `fetch` that records what it is given before it hands it on.
   *
   * @param {typeof fetch} send
   */
  around(send) {
    return async (url, init) => {
      const bytes = await new Response(init.body).arrayBuffer();
      // Without `ignoreBOM` a decoder swallows three bytes; with `fatal` it admits to bytes that are no text.
      const body = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
      this.#count += 1;
      const sent = { number: this.#count, url: String(url), body, size: bytes.byteLength, outcome: "no answer yet" };
      this.#show(sent);
      try {
        const response = await send(url, init);
        sent.outcome = `answered with ${response.status}`;
        return response;
      } catch (error) {
        sent.outcome = error.name === "AbortError" ? "stopped" : "no answer: the request failed";
        throw error;
      } finally {
        if (this.last === sent) this.#show(sent);
      }
    };
  }

  /** Forgets what was sent; the next request is number 1 again. */
  clear() {
    this.#count = 0;
    this.#show(null);
  }

  #show(sent) {
    this.last = sent;
    this.dispatchEvent(new Event("change"));
  }
}

/**
 * The tool messages of a request body, newest first, each as it stands in the bytes, with what it answers.
 *
 * @param {string} body
 * @returns {{ id: string, call: string, text: string, raw: string }[]}
 */
export function resultsIn(body) {
  const { messages } = JSON.parse(body);
  const raw = rawMessages(body);
  let calls = new Map();
  const results = messages.flatMap((message, at) => {
    if (message.role === "assistant") {
      calls = new Map((message.tool_calls ?? []).map((call) => [call.id, call.function.name]));
    }
    if (message.role !== "tool") return [];
    const text = typeof message.content === "string" ? message.content : JSON.stringify(message.content);
    return [{ id: String(at), call: calls.get(message.tool_call_id) ?? message.tool_call_id, text, raw: raw[at] }];
  });
  return results.reverse();
}

/**
 * Cuts the elements of the top level's `messages` out of a JSON text without writing them anew. The text is known to
 * be valid.
 */
function rawMessages(body) {
  const found = [];
  let depth = 0;
  let key = "";
  let within = false;
  let start = 0;
  for (const { 0: token, index } of body.matchAll(/"(?:[^"\\]|\\.)*"|[[\]{}]/gsu)) {
    if (token[0] === '"') {
      if (depth === 1) key = token;
    } else if (token === "{" || token === "[") {
      depth += 1;
      if (depth === 2) within = key === '"messages"' && token === "[";
      if (depth === 3 && within) start = index;
    } else {
      if (depth === 3 && within) found.push(body.slice(start, index + 1));
      depth -= 1;
    }
  }
  return found;
}

/**
 * Draws the panel.
 *
 * @param {Sent | null} sent
 * @param {Record<string, HTMLElement>} places elements by id
 */
export function drawTold(sent, places) {
  const results = sent ? resultsIn(sent.body) : [];
  places["results-none"].hidden = results.length > 0;
  keep(places.results, results, "li", (item, { call, text, raw }) => {
    if (!item.firstChild) item.append(...resultParts());
    const [head, shown, details] = item.children;
    write(head.firstChild, call);
    write(shown, text);
    shown.ariaLabel = `Result of ${call}, as the model reads it`;
    write(details.querySelector("pre"), raw);
  });
  places["request-none"].hidden = sent !== null;
  places["request-part"].hidden = sent === null;
  const { number, url, size, outcome, body } = sent ?? { body: "" };
  write(
    places["request-about"],
    sent ? `Request ${number}: POST ${url}, ${size.toLocaleString("en")} bytes, ${outcome}.` : "",
  );
  write(places.request, body);
}

function resultParts() {
  const raw = block("The message as it stands in the request");
  const details = element("details", "", element("summary", "", "Its bytes in the request"), raw);
  return [element("p", "told-head", element("code"), copyButton()), block(""), details];
}

/** Scrolls, so a keyboard must get there. */
function block(label) {
  const pre = element("pre");
  pre.tabIndex = 0;
  pre.role = "group";
  pre.ariaLabel = label;
  return pre;
}

function copyButton() {
  const button = element("button", "quiet small", "Copy");
  button.type = "button";
  button.dataset.copy = "";
  return button;
}

/**
 * Makes the panel's copy buttons work: each copies the text of the nearest `pre` behind it.
 *
 * @param {HTMLElement} panel
 * @param {HTMLElement} says where it is told what happened
 */
export function copyFrom(panel, says) {
  panel.addEventListener("click", async ({ target }) => {
    const button = target.closest("[data-copy]");
    if (!button) return;
    const pre = button.parentElement.parentElement.querySelector(":scope > pre");
    says.textContent = "";
    try {
      await navigator.clipboard.writeText(pre.textContent);
      says.textContent = "Copied.";
    } catch {
      // Not allowed, or not there on plain http: the text is selected, so that the usual keys copy it.
      getSelection().selectAllChildren(pre);
      says.textContent = "Selected: copy it with your usual keys.";
    }
  });
}
