/** The rehearsal model's skill with a page: it reads the page, and makes a title or a shorter text out of what it read. */

import { accountOf, answered, quote } from "./account.mjs";
import { objectIn, toolAmong } from "./history.mjs";

const SPEECH = {
  unchanged: "the page is as it was",
  another: "another wording",
  unknown: "whether the page was changed",
};

/** Titles that are made here are not longer, in characters. */
const LONGEST_TITLE = 80;

export const page = {
  label: "The page",

  /** The tool that changes a page: by its schema, which has a title and a body and no recipient. */
  toolIn(tools) {
    return toolAmong(tools, (_, { title, body, to }) => title && body && !to);
  },

  /** The tool that reads it: by its name, since it takes nothing. */
  readerIn(tools) {
    return toolAmong(tools, (name) => /page/iu.test(name) && /read|get/iu.test(name));
  },

  owns: (tool, tools) => tool === page.toolIn(tools) || tool === page.readerIn(tools),

  wishOf({ words, text, quoted }) {
    if (/\b(shorten|shorter)\b/u.test(words) && /\b(page|text|body)\b/u.test(words)) return { kind: "shorten" };
    const titled = /\b(rename|retitle)\b/u.test(words) || /\btitle\b/u.test(words);
    if (titled && /\b(rename|retitle|rewrite|change|set|write|improve|new|better)\b/u.test(words)) {
      // Without quotes only a text that starts like a title is one: "to something better" is a wish, not a title.
      return { kind: "title", title: quoted[0] ?? text.match(/\bto (\p{Lu}.*?)[.!?]*$/u)?.[1] };
    }
    if (!/\bpage\b/u.test(words)) return null;
    return /\b(read|show|look|check|what)\b/u.test(words) ? { kind: "look" } : { kind: "which" };
  },

  next(wish, { tools, settled }) {
    const [tool, reader] = [page.toolIn(tools), page.readerIn(tools)];
    if (wish.kind === "which")
      return { text: 'What shall I change? Say "Rewrite the page\'s title" or "Shorten the page".' };
    if (!(wish.kind === "look" ? reader : tool))
      return { text: "No page was offered to me in this request, so I can do nothing with it." };
    const changed = settled.findLast((call) => call.tool === tool);
    if (changed) return { text: page.reportOf(changed) };
    if (wish.title !== undefined) return { call: { tool, args: { title: wish.title } } };
    if (!reader) return { text: "I was offered no tool that reads the page. Tell me the title in quotes." };
    const read = settled.findLast((call) => call.tool === reader);
    if (!read) return { call: { tool: reader, args: {} } };
    const found = pageIn(read.result);
    if (wish.kind === "look" || !found) return { text: page.reportOf(read) };
    return wish.kind === "shorten" ? shorten(tool, found) : retitle(tool, found);
  },

  lookInstead: (tools) => ({ tool: page.readerIn(tools), args: {} }),

  reportOf({ result }) {
    if (result.token) return accountOf(result, SPEECH);
    const data = objectIn(result.text);
    if (Array.isArray(data?.changed)) return changes(data);
    const found = pageIn(result);
    return found ? `The page is called ${quote(found.title)} and has ${paragraphs(found.body)}.` : answered(result);
  },
};

/** The title and the text that a plain result states, or null. */
export function pageIn({ token, text }) {
  const data = token ? null : objectIn(text);
  return typeof data?.title === "string" && typeof data.body === "string" ? data : null;
}

/** The first sentence of the text says what the page is about. */
function retitle(tool, { title, body }) {
  const sentence = firstSentence(body).replace(/[.!?]$/u, "");
  if (sentence === "") return { text: "The page has no text, so I have nothing to make a title of." };
  const wanted =
    sentence.length > LONGEST_TITLE ? `${sentence.slice(0, LONGEST_TITLE).replace(/\s+\S*$/u, "")} …` : sentence;
  if (wanted === title) return { text: "The title already says what the first sentence says, so I propose no change." };
  return { call: { tool, args: { title: wanted } } };
}

function shorten(tool, { body }) {
  const wanted = body
    .split(/\n{2,}/u)
    .map(firstSentence)
    .join("\n\n");
  if (wanted === body) return { text: "Every paragraph is one sentence already, so I propose no change." };
  return { call: { tool, args: { body: wanted } } };
}

function firstSentence(text) {
  return text.trim().match(/^.*?[.!?](?=\s|$)/su)?.[0] ?? text.trim();
}

/** What a change did, in the words of its result. */
function changes({ changed, title, body }) {
  const said = [];
  if (changed.includes("title")) said.push(`The page is called ${quote(title)} now.`);
  if (changed.includes("body")) said.push(`Its text is changed and has ${paragraphs(body)}.`);
  return said.join(" ") || "The tool ran, and the page was the same before.";
}

function paragraphs(body) {
  const count = (pattern) => body.split(pattern).filter(Boolean).length;
  const [many, words] = [count(/\n{2,}/u), count(/\s+/u)];
  return `${many} ${many === 1 ? "paragraph" : "paragraphs"} with ${words} ${words === 1 ? "word" : "words"}`;
}
