/** A model whose answers a test writes down, and what a test reads from the requests it got. */
import assert from "node:assert/strict";
import { checkMessages } from "../../www/demo/strictness.mjs";
import { messagesOf, openTestPage, rawResultsOf, serveSite, toolMessagesOf } from "./harness.mjs";

export const event = (delta, finish = null) =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;
export const stream = (...chunks) => ({ status: 200, contentType: "text/event-stream", chunks });
export const text = (content) => stream(event({ content }), event({}, "stop"), "data: [DONE]\n\n");
/** A turn with calls. Like some providers, this one gives every call the same id. */
export const calls = (...made) => {
  const tool_calls = made.map(([name, args], index) => ({ index, id: "call_0", function: { name, arguments: args } }));
  return stream(event({ tool_calls }), event({}, "tool_calls"), "data: [DONE]\n\n");
};
export const failure = (status, body, contentType = "application/json") => ({ status, contentType, chunks: [body] });

/**
 * A model that does what it is told: to a message that is JSON, `[["tool", "arguments"], …]`, it answers with these
 * calls, to anything else with "The end." Chats that are told different things may share it.
 */
export function obedient(body) {
  const { role, content } = JSON.parse(body).messages.at(-1);
  const order = role === "user" ? readOrder(content) : undefined;
  return order ? calls(...order) : text("The end.");
}

function readOrder(content) {
  try {
    return JSON.parse(content);
  } catch {
    return undefined;
  }
}

/**
 * A page with a model server of its own.
 *
 * @param {any[] | ((body: string) => any)} model its answers in turn, then "The end."; or who answers
 * @param {(kit: any) => any} script runs in the page, see page/kit.mjs
 * @param {object} [options]
 * @param {RegExp} [options.expected] console errors that belong to the test
 * @param {any} [options.given] data that the script finds in its kit
 */
export async function play(browser, t, model, script, { expected, given } = {}) {
  const left = Array.isArray(model) ? [...model] : [];
  const site = await serveSite(t, {
    model: Array.isArray(model) ? () => left.shift() ?? text("The end.") : model,
  });
  const page = await openTestPage(browser, t, site, {}, expected);
  const kit = await page.evaluateHandle(async (data) => (await import("/test/kit.mjs")).kit(data), given);
  return { told: await page.evaluate(script, kit), requests: site.requests, page };
}

/** Every request that carried results was a valid history. */
export function checkHistories(requests) {
  for (const request of requests) checkMessages(messagesOf(request));
}

export const lastResults = (requests) => toolMessagesOf(requests.at(-1)).map(({ content }) => content);

/**
 * What one chat's requests say of results is only ever added to: the bytes of each request's results are the first bytes
 * of the next one's.
 */
export function checkLastingBytes(requests) {
  const all = requests.map(rawResultsOf);
  all.slice(1).forEach((later, place) => {
    assert.deepEqual(
      later.slice(0, all[place].length),
      all[place],
      `request ${place + 1} repeats what request ${place} said`,
    );
  });
}

/** Words that would lay an end on a person; a text about an end that nobody decided has none of them. */
export const BLAME =
  /decided_by|(?<!Nobody )declined (by|it|the|them)|themselves|human reviewer|another user|\bdenied\b|rejected|refused by|user (declined|refused|rejected|denied|cancelled)/i;
