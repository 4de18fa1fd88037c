/**
 * What a user's text asks for, by a few words. Anything unclear is no wish, and gets the help text: a model of rules
 * had better do nothing than something that was not meant.
 */

/**
 * A part of the text that asks for one thing. Quoted words are taken out of `words`, so that a title that is asked for is not
 * read as a wish.
 *
 * @typedef {{ words: string, text: string, quoted: string[] }} Clause
 */

/** The words that start another wish behind "and", a comma or a full stop. */
const VERBS =
  "please|eat|empty|finish|look|count|peek|check|read|show|rewrite|rename|retitle|change|set|shorten|draft|write|prepare|mail|email|plan";
const BETWEEN = new RegExp(`(?:\\s*(?:[,;.!?]|\\band\\b|\\bthen\\b))+\\s+(?=(?:${VERBS})\\b)`, "iu");
const QUOTED = /"([^"]+)"|“([^”]+)”/gu;

/**
 * Whether the user wants the calls that did not run proposed once more, or what the user wants of which skill: at most
 * one wish for each, a changing one before a looking one.
 *
 * @param {string} text
 * @param {readonly any[]} skills in the order in which they are asked about each part
 * @returns {"again" | { skill: any, wish: any }[]}
 */
export function wishesOf(text, skills) {
  const plain = text.replaceAll("’", "'");
  const said = plain.replace(QUOTED, '""').toLowerCase();
  if (/\b(don't|do not|never|not)\b/u.test(said)) return [];
  if (/\b(go ahead|do it|try again|propose (it|that|them) again)\b/u.test(said)) return "again";

  const wishes = [];
  for (const clause of clausesOf(plain)) {
    for (const skill of skills) {
      const wish = skill.wishOf(clause);
      if (wish === null) continue;
      const known = wishes.find((other) => other.skill === skill);
      if (!known) wishes.push({ skill, wish });
      else if (known.wish.kind === "look") known.wish = wish;
      break;
    }
  }
  return wishes;
}

/** @returns {Clause[]} */
function clausesOf(plain) {
  const all = [];
  // A character that nobody types stands for each quotation while the text is split.
  const bare = plain.replace(QUOTED, (_, straight, curved) => {
    all.push(straight ?? curved);
    return "\0";
  });
  return bare.split(BETWEEN).map((part) => {
    const quoted = [];
    const text = part.replace(/\0/gu, () => {
      quoted.push(all.shift());
      return `"${quoted.at(-1)}"`;
    });
    return { words: part.replaceAll("\0", '""').toLowerCase(), text: text.trim(), quoted };
  });
}
