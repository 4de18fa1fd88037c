/**
 * A tasting that takes a person's word at every step: its tool asks while it runs, so that the demo shows a request of each
 * kind. Nobody is invited, and no calendar is written.
 */

import { pendingRequest } from "./dist/index.js";

/** How planning is offered to the model. */
export const TASTING_TOOL = {
  name: "tasting__plan",
  title: "Plan a tasting",
  description: "Plans a cookie tasting with the user, who is asked for the details while it runs.",
  effect: "write",
  inputSchema: {
    type: "object",
    properties: { occasion: { type: "string", minLength: 1, maxLength: 100, description: "what it is for" } },
    required: ["occasion"],
    additionalProperties: false,
  },
};

/** What the tool asks, one after the other. The address is one that is kept for examples: nothing is signed in to there. */
const STEPS = [
  {
    kind: "question",
    prompt: "Which cookies are to be tasted?",
    data: {
      schema: {
        type: "object",
        required: ["kinds", "guests"],
        properties: {
          kinds: {
            type: "array",
            title: "Cookies",
            minItems: 1,
            items: { type: "string", enum: ["oat", "ginger", "chocolate"] },
          },
          guests: { type: "integer", title: "Guests", minimum: 1, maximum: 12, default: 4 },
          outside: { type: "boolean", title: "Outside, if it is dry" },
        },
      },
    },
  },
  {
    kind: "input",
    prompt: "Where does the invitation go, and for which day?",
    data: {
      schema: {
        type: "object",
        required: ["mail", "day"],
        properties: {
          mail: { type: "string", title: "Address", format: "email", default: "team@example.org" },
          day: { type: "string", title: "Day", format: "date" },
        },
      },
    },
  },
  {
    kind: "authorization",
    prompt:
      "The calendar wants your consent. In this demo the page behind it has nothing to sign in to: look, and come back.",
    url: "https://example.org/calendar?consent=tasting",
  },
];

/**
 * One attempt of the tool.
 *
 * @param {{ occasion: string }} args
 * @param {readonly { data?: any }[]} answers what was answered so far
 * @returns {any} the next request or, where nothing is left to ask, what the model is told
 */
export function planTasting({ occasion }, answers = []) {
  const step = STEPS[answers.length];
  if (step) return pendingRequest(step);
  const [{ data: tasting }, { data: invitation }] = answers;
  return { planned: true, occasion, ...tasting, ...invitation, invited: false };
}
