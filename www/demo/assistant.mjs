/** The agent of the demo: who sits here, which tools there are, and which calls ask for which reason. */

import { allow, ask, createAgent, openaiChat, tool } from "./dist/index.js";
import { JAR_TOOL } from "./jar.mjs";
import { DRAFT_TOOL } from "./mail.mjs";
import { READ_TOOL, UPDATE_TOOL } from "./page.mjs";
import { planTasting, TASTING_TOOL } from "./tasting.mjs";

/** Who sits at this page. */
export const USER = { id: "ada", name: "Ada" };

const INSTRUCTIONS =
  "You look after a cookie jar, a status page and a mail draft, and plan cookie tastings, with one tool or two for each. Use a tool only if the " +
  "user asks for what it does, and look or read before you change something. Some calls ask a person first. Say what " +
  "happened exactly as the results tell it, in one or two plain sentences.";

/**
 * @param {object} parts
 * @param {import("./desk.mjs").Desk} parts.desk what the tools work on
 * @param {{ baseUrl: string, model: string, headers?: () => Record<string, string>, fetch: typeof fetch }} parts.model
 * @throws {Error} where the package refuses an option; the message says which and why
 */
export function createAssistant({ desk, model }) {
  return createAgent({
    user: USER,
    model: openaiChat(model),
    instructions: INSTRUCTIONS,
    tools: [
      tool({ ...JAR_TOOL, run: (args) => desk.jar.apply(args) }),
      tool({ ...READ_TOOL, run: () => desk.page.read() }),
      tool({ ...UPDATE_TOOL, run: (args) => desk.page.update(args) }),
      tool({ ...DRAFT_TOOL, run: (args) => desk.mail.keep(args) }),
      tool({ ...TASTING_TOOL, run: (args, { answers }) => planTasting(args, answers) }),
    ],
    rules: [
      allow(JAR_TOOL.name, (args) => args.action === "look"),
      ask(JAR_TOOL.name, (args) => args.action === "eat", "Cookies cannot be un-eaten."),
      ask(UPDATE_TOOL.name, "Visitors see a change of the page at once."),
      ask(TASTING_TOOL.name, "Planning takes some answers of yours: approve it only if you have a minute."),
      // A draft can be drafted again, so that a person may allow it for later; what cannot be taken back asks every time.
      ask(DRAFT_TOOL.name, "The draft carries your name: read it to the end.", { grantable: true }),
    ],
  });
}
