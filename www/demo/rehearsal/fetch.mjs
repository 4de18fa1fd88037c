/** A stand-in for `fetch` that has the rehearsal model answer inside the page, and the pauses that a person sees. */

import { Refusal } from "../strictness.mjs";
import { serve } from "./answer.mjs";

/**
 * Hands chunks on, one after another, with a pause before each. A pause makes streaming visible to a
 * person; tests use none.
 *
 * @param {Iterable<string> | AsyncIterable<string | Uint8Array>} chunks
 * @param {number} delayMs
 * @param {AbortSignal} [signal] ends the iteration early
 */
export async function* pace(chunks, delayMs, signal) {
  for await (const chunk of chunks) {
    if (delayMs > 0) await new Promise((resolve) => setTimeout(resolve, delayMs));
    if (signal?.aborted) return;
    yield chunk;
  }
}

/**
 * Makes a stand-in for `fetch` that answers `…/chat/completions` inside the page.
 *
 * @param {{ delayMs?: number }} [options] the pause before each chunk
 * @returns {typeof fetch}
 */
export function createRehearsalFetch({ delayMs = 0 } = {}) {
  return async (input, init = {}) => {
    const request = input instanceof Request ? input : null;
    const signal = init.signal ?? request?.signal;
    const path = String(request?.url ?? input).split(/[?#]/u)[0];
    const method = (init.method ?? request?.method ?? "GET").toUpperCase();
    throwIfAborted(signal);
    if (!path.endsWith("/chat/completions") || method !== "POST") {
      const { status, body } = new Refusal(`Unknown request: ${method} ${path}`, { status: 404 });
      return Response.json(body, { status });
    }
    const bodyText = await (request && init.body === undefined ? request : new Response(init.body)).text();
    throwIfAborted(signal);
    const { status, contentType, chunks } = serve(bodyText);
    return new Response(streamOf(chunks, delayMs, signal), { status, headers: { "content-type": contentType } });
  };
}

/** A stand-in for `fetch` without pauses. */
export const rehearsalFetch = createRehearsalFetch();

function streamOf(chunks, delayMs, signal) {
  const encoder = new TextEncoder();
  const paced = pace(chunks, delayMs, signal);
  return new ReadableStream({
    async pull(controller) {
      const { done, value } = await paced.next();
      if (signal?.aborted) controller.error(abortError());
      else if (done) controller.close();
      else controller.enqueue(encoder.encode(value));
    },
  });
}

function throwIfAborted(signal) {
  if (signal?.aborted) throw abortError();
}

function abortError() {
  return new DOMException("The request was aborted.", "AbortError");
}
