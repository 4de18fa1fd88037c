import { isFlag, isFunction, isName, isObject, Options } from "./reader.js";

/** Headers of a request; an undefined one is left out. */
export type GivenHeaders = Headers | Record<string, string | undefined>;

/** What every model endpoint takes. */
export interface ModelOptions {
  /** Everything before the format's own path (`/chat/completions`, `/responses`, `/messages`, `/models/…`); https, on this machine, or of the page's own origin. */
  baseUrl: string;
  model: string;
  /** Further headers, such as `authorization`; a function is called for every request. */
  headers?: GivenHeaders | (() => GivenHeaders | Promise<GivenHeaders>);
  /** Merged into each request body as they are, over the agent's `params`. */
  params?: Record<string, unknown>;
  /** The most tokens of an answer, under the name the server knows it by. Default the server's; with `anthropic`, 4096. */
  maxTokens?: number;
  /** Default `same-origin`. */
  credentials?: "omit" | "same-origin" | "include";
  fetch?: (url: string, init: RequestInit) => Promise<Response>;
}

/** Where servers of the Chat Completions format differ. */
export interface OpenAIChatOptions extends ModelOptions {
  /** Sets the options below as this vendor's server takes them. */
  vendor?: keyof typeof CHAT_VENDORS;
  /** Which field `maxTokens` is. Most servers know only `max_tokens`, the default; newer models of OpenAI refuse it. */
  maxTokensName?: "max_tokens" | "max_completion_tokens";
  /** Whether to ask for token counts by `stream_options`; some old servers refuse it. Default true. */
  includeUsage?: boolean;
  /** Writes `""` instead of `null` as the content beside calls, for servers that refuse `null`. Default false. */
  emptyContent?: boolean;
  /** Whether reasoning and signatures of earlier answers go back, as most servers want that send them. Default true. */
  replayReasoning?: boolean;
  /** Gives answers without reasoning a filler, for servers that refuse a history in which one has none. Default false. */
  fillReasoning?: boolean;
  /** Signs calls of other models' answers with Google's word for that; its newer models refuse calls without. Default false. */
  fillSignatures?: boolean;
  /** Names calls by nine letters and digits. Default false. */
  shortIds?: boolean;
  /** Puts an answer of the model between results and a user's message behind them. Default false. */
  answerAfterResults?: boolean;
  /** Each piece of an answer repeats all before it. Default false. */
  cumulative?: boolean;
  /** Reads reasoning out of `<think>` at the beginning of an answer's text. Default false. */
  inlineThinking?: boolean;
}

export interface OpenAIResponsesOptions extends ModelOptions {
  /** Sets the options below as this vendor's server takes them. */
  vendor?: keyof typeof RESPONSES_VENDORS;
  /** Whether to ask for reasoning in encrypted form, so that it can go back. Some servers refuse it. Default true. */
  encryptedReasoning?: boolean;
  /** Puts each result right behind its call, for servers that pair them by position. Default false. */
  interleaveResults?: boolean;
  /** Tools that the provider runs, as its API describes them. One of type `mcp` may ask for approval: then a card asks. */
  serverTools?: Record<string, unknown>[];
}

export interface AnthropicOptions extends ModelOptions {
  /** Whether to mark what may be cached. Default true. */
  promptCaching?: boolean;
}

/** A model endpoint, as the constructors make it. */
export type Model =
  | ({ api: "openai-chat" } & OpenAIChatOptions)
  | ({ api: "openai-responses" } & OpenAIResponsesOptions)
  | ({ api: "anthropic" } & AnthropicOptions)
  | ({ api: "gemini" } & ModelOptions);

/** What is known of vendors' servers of the Chat Completions format. One without entries takes the defaults. */
const CHAT_VENDORS = {
  openai: { maxTokensName: "max_completion_tokens" },
  azure: { maxTokensName: "max_completion_tokens" },
  openrouter: {},
  groq: {},
  deepseek: { fillReasoning: true },
  moonshot: { fillReasoning: true },
  minimax: {},
  zhipu: {},
  xai: {},
  gemini: { fillSignatures: true },
  bedrock: {},
  lmstudio: {},
  vllm: {},
  sglang: {},
  "llama.cpp": {},
  ollama: { emptyContent: true },
  mistral: { shortIds: true, answerAfterResults: true, includeUsage: false },
  dashscope: { replayReasoning: false },
} satisfies Record<string, Partial<OpenAIChatOptions>>;

/** The same of the Responses format. */
const RESPONSES_VENDORS = {
  openai: {},
  azure: {},
  openrouter: {},
  deepseek: { interleaveResults: true },
  xai: {},
  bedrock: {},
  lmstudio: {},
  vllm: {},
  "llama.cpp": {},
  ollama: {},
} satisfies Record<string, Partial<OpenAIResponsesOptions>>;

/** A server that speaks the OpenAI Chat Completions format. */
export function openaiChat(options: OpenAIChatOptions): Model {
  return { ...options, api: "openai-chat" };
}

/** A server that speaks the OpenAI Responses format. Nothing has to be stored there. */
export function openaiResponses(options: OpenAIResponsesOptions): Model {
  return { ...options, api: "openai-responses" };
}

/** The Anthropic Messages API, under `https://api.anthropic.com/v1`; the key belongs into the header `x-api-key`. */
export function anthropic(options: AnthropicOptions): Model {
  return { ...options, api: "anthropic" };
}

/**
 * The Gemini API, under `https://generativelanguage.googleapis.com/v1beta`; the key belongs into the header
 * `x-goog-api-key`.
 */
export function gemini(options: ModelOptions): Model {
  return { ...options, api: "gemini" };
}

const common = ["api", "baseUrl", "model", "headers", "params", "maxTokens", "credentials", "fetch"];
const flags = {
  "openai-chat": [
    "includeUsage",
    "emptyContent",
    "replayReasoning",
    "fillReasoning",
    "fillSignatures",
    "shortIds",
    "answerAfterResults",
    "cumulative",
    "inlineThinking",
  ],
  "openai-responses": ["encryptedReasoning", "interleaveResults"],
  anthropic: ["promptCaching"],
  gemini: [],
};
const onByDefault = ["includeUsage", "replayReasoning", "encryptedReasoning", "promptCaching"];
const ownHeaders: Record<string, Record<string, string>> = {
  // The second says that the page knows that whoever uses it can read its key.
  anthropic: { "anthropic-version": "2023-06-01", "anthropic-dangerous-direct-browser-access": "true" },
};

/** @internal Reads `options.model`: what the wasm side is told, and what the page keeps. */
export function readModel(given: unknown, params: Record<string, unknown>) {
  const path = "options.model";
  const api = isObject(given) ? given.api : undefined;
  if (!isApi(api)) {
    throw new Options({}, "options", []).wrong(
      "model",
      "must come from openaiChat(), openaiResponses(), anthropic() or gemini()",
    );
  }
  const more = {
    "openai-chat": ["vendor", "maxTokensName"],
    "openai-responses": ["vendor", "serverTools"],
    anthropic: [],
    gemini: [],
  };
  const model = new Options(given, path, [...common, ...flags[api], ...more[api]]);
  const vendors: Record<string, Partial<OpenAIChatOptions & OpenAIResponsesOptions>> = api === "openai-chat"
    ? CHAT_VENDORS
    : RESPONSES_VENDORS;
  const preset = vendors[model.oneOf("vendor", Object.keys(vendors)) ?? ""] ?? {};
  const switches = flags[api].map((name) => [
    name,
    model.optional(name, "true or false", isFlag) ?? preset[name as keyof typeof preset] ?? onByDefault.includes(name),
  ]);
  const isHeaders = (value: unknown): value is ModelOptions["headers"] => isFunction(value) || isObject(value);
  return {
    wire: {
      api,
      url: readUrl(model, api),
      credentials: model.oneOf("credentials", ["same-origin", "omit", "include"]) ?? "same-origin",
      model: model.text("model"),
      params: capped(api, { ...params, ...model.data("params") }, model, preset.maxTokensName),
      serverTools: model.list("serverTools"),
      ...Object.fromEntries(switches),
    },
    ownHeaders: ownHeaders[api] ?? {},
    headers: model.optional("headers", "an object, or a function that returns one", isHeaders),
    fetch: model.optional("fetch", "a function", isFunction) as ModelOptions["fetch"],
  };
}

/** The fields of each request, with the limit of an answer's tokens among them where one is given. */
function capped(
  api: Model["api"],
  params: Record<string, unknown>,
  model: Options,
  preset: OpenAIChatOptions["maxTokensName"],
): Record<string, unknown> {
  const most = model.count("maxTokens");
  const name = model.oneOf("maxTokensName", ["max_tokens", "max_completion_tokens"]) ?? preset ?? "max_tokens";
  if (most === undefined) return params;
  switch (api) {
    case "openai-chat":
      return { ...params, [name]: most };
    case "openai-responses":
      return { ...params, max_output_tokens: most };
    case "anthropic":
      return { ...params, max_tokens: most };
    case "gemini":
      return { ...params, generationConfig: { ...Object(params.generationConfig), maxOutputTokens: most } };
  }
}

function isApi(value: unknown): value is Model["api"] {
  return isName(value) && value in flags;
}

/** A key must not cross the network in the clear: the URL is https, on this machine, or of the page's own origin. */
function readUrl(model: Options, api: Model["api"]): string {
  let url: URL;
  try {
    url = new URL(model.text("baseUrl"), document.baseURI);
  } catch (cause) {
    if (!(cause instanceof TypeError)) throw cause;
    throw model.wrong("baseUrl", "must be a URL");
  }
  const near = ["localhost", "127.0.0.1", "[::1]"].includes(url.hostname) || url.origin === location.origin;
  if (url.protocol !== "https:" && !(url.protocol === "http:" && near)) {
    throw model.wrong("baseUrl", "must be https, on this machine, or of the page's own origin");
  }
  if (url.username || url.password) {
    throw model.wrong("baseUrl", "must not hold a user name or password; pass keys through headers");
  }
  url.pathname = url.pathname.replace(/\/+$/, "") + pathOf(api, model.text("model"));
  if (api === "gemini") url.searchParams.set("alt", "sse");
  return url.href;
}

function pathOf(api: Model["api"], model: string): string {
  switch (api) {
    case "openai-chat":
      return "/chat/completions";
    case "openai-responses":
      return "/responses";
    case "anthropic":
      return "/messages";
    case "gemini":
      return `/${model.includes("/") ? "" : "models/"}${model.split("/").map(encodeURIComponent).join("/")}:streamGenerateContent`;
  }
}
