/** The rehearsal model's skill with mail: it reads the page, where there is one, and drafts a mail from what it read. */

import { accountOf, answered, quote } from "./account.mjs";
import { objectIn, toolAmong } from "./history.mjs";
import { page, pageIn } from "./page.mjs";

const SPEECH = {
  unchanged: "no draft was kept",
  another: "another wording",
  unknown: "whether the draft was kept",
};

export const mail = {
  label: "The mail",

  /** The tool that drafts a mail: by its schema. */
  toolIn(tools) {
    return toolAmong(tools, (_, { to, subject, body }) => to && subject && body);
  },

  owns: (tool, tools) => tool === mail.toolIn(tools),

  wishOf({ words, text, quoted }) {
    if (!/\b(mail|email|e-mail|draft)\b/u.test(words) || /\b(read|show)\b/u.test(words)) return null;
    const topic = text.match(/\babout (.+?)(?: to (?:the team|\S+@\S+))?[.!?]*$/u)?.[1].replaceAll('"', "");
    return { kind: "draft", ...recipientIn(text), topic: quoted[0] ?? topic };
  },

  next(wish, { tools, settled }) {
    const [tool, reader] = [mail.toolIn(tools), page.readerIn(tools)];
    if (!tool) return { text: "No mail tool was offered to me in this request, so I can draft nothing." };
    const drafted = settled.findLast((call) => call.tool === tool);
    if (drafted) return { text: mail.reportOf(drafted) };
    const read = settled.findLast((call) => call.tool === reader);
    if (reader && !read) return { call: { tool: reader, args: {} } };
    return { call: { tool, args: draft(wish, read && pageIn(read.result)) } };
  },

  /** Nothing here reads drafts. */
  lookInstead: () => null,

  reportOf({ result }) {
    if (result.token) return accountOf(result, SPEECH);
    const data = objectIn(result.text);
    if (data?.saved !== true || typeof data.to !== "string") return answered(result);
    const about = typeof data.subject === "string" ? `, with the subject ${quote(data.subject)}` : "";
    return `The draft to ${data.to} is kept${about}.${data.sent === false ? " It was not sent." : ""}`;
  },
};

/** An address as it was written, or one made of a name; the team if nobody is named. */
function recipientIn(text) {
  const address = text.match(/[\w.+-]+@[\w-]+(?:\.[\w-]+)+/u)?.[0];
  if (address) return { to: address, name: "" };
  const named = text.match(/\b(?:to|mail|email) (?:the |our |my )?(?!to\b|about\b|the\b)(\w+)/iu)?.[1] ?? "team";
  return { to: `${named.toLowerCase()}@example.org`, name: ` ${named}` };
}

/**
 * The arguments of the call. What the page says is taken over where it speaks of the topic; about anything else there
 * is nothing to say, and the draft says so.
 */
function draft({ to, name, topic }, found) {
  const about = topic && !/^(it|this|that|the page)$/iu.test(topic) ? topic : undefined;
  const usable = found && (about === undefined || speaksOf(found, about));
  const title = about ?? found?.title ?? "a note";
  const facts = usable
    ? [
        `Here is what we know about ${about ?? "it"} so far.`,
        found.body.trim(),
        `The page has the same under the title "${found.title}".`,
      ]
    : ["The facts are still missing here: please add what happened, whom it concerns, and what comes next."];
  return {
    to,
    subject: title[0].toUpperCase() + title.slice(1),
    body: [
      `Hello${name},`,
      ...facts,
      "If something in this mail is wrong or missing, please answer it today, so that everybody works from the same facts.",
      "Best wishes",
    ].join("\n\n"),
  };
}

/** Whether one of the topic's longer words stands on the page. */
function speaksOf({ title, body }, topic) {
  const text = `${title}\n${body}`.toLowerCase();
  return (topic.toLowerCase().match(/[\p{L}\d]{4,}/gu) ?? []).some((word) => text.includes(word));
}
