/** A model whose answers a test writes down, and what a test reads from the requests it got. */
import { checkMessages } from "../../www/demo/strictness.mjs";
import { messagesOf, openTestPage, serveSite, toolMessagesOf } from "./harness.mjs";

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
 * A page whose model gives these answers in turn, then "The end."; `script` runs in the page and gets what page/kit.mjs
 * gives, and `given`, which is plain data.
 */
export async function play(browser, t, answers, script, { expected, given } = {}) {
  const left = [...answers];
  const site = await serveSite(t, { model: () => left.shift() ?? text("The end.") });
  const page = await openTestPage(browser, t, site, {}, expected);
  const kit = await page.evaluateHandle(
    async (given) => ({ ...(await import("/test/kit.mjs")).kit(), given }),
    given ?? null,
  );
  return { told: await page.evaluate(script, kit), requests: site.requests, page };
}

/** Every request that carried results was a valid history. */
export function checkHistories(requests) {
  for (const request of requests) checkMessages(messagesOf(request));
}

export const lastResults = (requests) => toolMessagesOf(requests.at(-1)).map(({ content }) => content);
