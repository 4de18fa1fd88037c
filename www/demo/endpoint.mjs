/** Where model requests go: to the rehearsal model, or to a server that a person named in the settings. */

/** What the settings offer beside the rehearsal model. `model` is an example and may be changed. */
export const PRESETS = {
  ollama: {
    baseUrl: "http://localhost:11434/v1",
    model: "qwen3",
    needsKey: false,
    hint: (origin) =>
      "Pull a model that can call tools. If the browser reports a CORS error, let this page in: start Ollama with the " +
      `environment variable OLLAMA_ORIGINS=${origin}`,
  },
  "lm-studio": {
    baseUrl: "http://localhost:1234/v1",
    model: "qwen/qwen3-8b",
    needsKey: false,
    hint: () => "Load a model that can call tools, start the server in the Developer tab, and turn on CORS there.",
  },
  hosted: {
    baseUrl: "https://api.openai.com/v1",
    model: "gpt-5.1",
    needsKey: true,
    hint: (origin) =>
      "Any server that speaks the OpenAI Chat Completions format with tools and streaming, and that lets pages of " +
      `${origin} in (CORS).`,
  },
};

/**
 * A place for model requests. `label` is for people and holds no key.
 *
 * @typedef {object} Endpoint
 * @property {"rehearsal" | keyof typeof PRESETS} kind
 * @property {string} label
 * @property {{ baseUrl: string, model: string, headers?: () => Record<string, string> }} model
 * @property {typeof fetch} fetch
 */

const overNetwork = (url, init) => fetch(url, init);

/**
 * The rehearsal model: behind the page's own server, or in the page where a static host has none.
 *
 * @returns {Promise<Endpoint>}
 */
export async function rehearsal() {
  const where = document.querySelector("meta[name='demo-model']").content;
  const inPage = where === "in-page";
  const model = { baseUrl: new URL(inPage ? "v1" : where, document.baseURI).href, model: "countersign-rehearsal" };
  const { createRehearsalFetch } = inPage ? await import("./rehearsal.mjs") : {};
  return {
    kind: "rehearsal",
    label: "rehearsal model",
    model,
    fetch: createRehearsalFetch?.({ delayMs: 25 }) ?? overNetwork,
  };
}

/**
 * A server of a person's choice. The key lives in this closure alone.
 *
 * @param {{ kind: keyof typeof PRESETS, baseUrl: string, model: string, key: string }} chosen
 * @returns {Endpoint}
 */
export function server({ kind, baseUrl, model, key }) {
  const headers = key === "" ? undefined : () => ({ authorization: `Bearer ${key}` });
  return {
    kind,
    label: `${model} at ${baseUrl}`,
    model: { baseUrl, model, ...(headers && { headers }) },
    fetch: overNetwork,
  };
}
