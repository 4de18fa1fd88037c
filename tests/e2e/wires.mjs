/** The four wires in a browser: how a page names each, a server of another origin that records, and scripted answers. */
import http from "node:http";
import { listen, STRICT_POLICY } from "../../www/demo/server.mjs";
import { openTestPage, serveSite } from "./harness.mjs";

/** The strictest policy that lets a page reach a model server of another origin. */
export const POLICY = STRICT_POLICY.replace("connect-src 'self'", "$& http://127.0.0.1:*");

const BEARER = { authorization: "Bearer KEY" };

/**
 * `make` is the constructor's name, `base` what its `baseUrl` is behind the origin, `path` where its requests go, `sent`
 * the headers that are not safe-listed, which the server must allow.
 */
export const WIRES = [
  {
    api: "openai-chat",
    make: "openaiChat",
    base: "/v1",
    model: "gpt-x",
    headers: BEARER,
    path: "/v1/chat/completions",
    sent: "authorization,content-type",
  },
  {
    api: "openai-responses",
    make: "openaiResponses",
    base: "/v1/",
    model: "gpt-x",
    headers: BEARER,
    path: "/v1/responses",
    sent: "authorization,content-type",
  },
  {
    api: "anthropic",
    make: "anthropic",
    base: "/v1",
    model: "claude-x",
    headers: { "x-api-key": "KEY" },
    path: "/v1/messages",
    sent: "anthropic-dangerous-direct-browser-access,anthropic-version,content-type,x-api-key",
  },
  {
    api: "gemini",
    make: "gemini",
    base: "/v1beta/",
    model: "gemini-3-x",
    headers: { "x-goog-api-key": "KEY" },
    path: "/v1beta/models/gemini-3-x:streamGenerateContent?alt=sse",
    sent: "content-type,x-goog-api-key",
  },
];

/** What a constructor is given for a server at `url`. */
export const optionsOf = ({ base, model, headers }, url) => ({ baseUrl: `${url}${base}`, model, headers });

/**
 * A model server of another origin, which lets pages in and shows them every header; until the test is over.
 *
 * @param {import("node:test").TestContext} t
 * @param {(request: { url: string, body: string, place: number }) => any} answer
 */
export async function serveModel(t, answer) {
  const requests = [];
  const preflights = [];
  const server = http.createServer(async (request, response) => {
    response.setHeader("access-control-allow-origin", request.headers.origin ?? "*");
    response.setHeader("access-control-expose-headers", "*");
    if (request.method === "OPTIONS") {
      const asked = request.headers["access-control-request-headers"] ?? "";
      preflights.push(asked);
      response.writeHead(204, { "access-control-allow-headers": asked, "access-control-allow-methods": "POST" });
      return response.end();
    }
    const pieces = [];
    for await (const piece of request) pieces.push(piece);
    const body = Buffer.concat(pieces).toString("utf8");
    const { url, headers } = request;
    const recorded = { url, headers, body, at: performance.now(), status: 0 };
    requests.push(recorded);
    const { status = 200, headers: more = {}, chunks } = await answer({ url, body, place: requests.length - 1 });
    recorded.status = status;
    response.writeHead(status, { "content-type": "text/event-stream", ...more });
    for await (const chunk of chunks) response.write(chunk);
    response.end();
  });
  const url = await listen(server);
  t.after(() => {
    server.close();
    server.closeAllConnections();
  });
  return { url, requests, preflights };
}

/** Answers in turn; the last one again and again. */
export const inTurn =
  (...answers) =>
  ({ place }) =>
    answers[Math.min(place, answers.length - 1)];

/** Hands a request on to another server, with its path and body. */
export const handOn =
  (baseUrl) =>
  async ({ url, body }) => {
    const headers = { "content-type": "application/json" };
    const response = await fetch(`${baseUrl}${url}`, { method: "POST", headers, body });
    return { status: response.status, chunks: response.body };
  };

/** The test page, with a kit of `page/kit.mjs` that has the server's URL in `given.url`, and runs a script in it. */
export async function play(browser, t, model, script, { expected, given = {} } = {}) {
  const site = await serveSite(t, { policy: POLICY });
  const page = await openTestPage(browser, t, site, { wires: "all" }, expected);
  const data = { ...given, url: model.url };
  const kit = await page.evaluateHandle(async (data) => (await import("/test/kit.mjs")).kit(data), data);
  return page.evaluate(script, kit);
}

const events = (...values) => ({ chunks: values.map((value) => `data: ${JSON.stringify(value)}\n\n`) });
/** An error in words of a wire's own, inside a stream that began well. */
export const broken = (error, ...before) => ({ chunks: [...before.flatMap(({ chunks }) => chunks), error] });
export const failure = (status, body, headers = {}) => ({
  status,
  headers: { "content-type": "application/json", ...headers },
  chunks: [JSON.stringify(body)],
});

/** Stands in everything that means something to its sender alone. */
export const BOUND = "BOUND";

/** Answers of each wire: `calls(["tool", "arguments"], …)`, `text("…")`, `begun("…")`, the first half of a text. */
export const ANSWERS = {
  "openai-chat": {
    calls: (...made) =>
      chat({ tool_calls: made.map(([name, args], index) => chatCall(index, name, args)) }, "tool_calls"),
    text: (content) => chat({ content }, "stop"),
    refusal: () => chat({ refusal: "I cannot." }, "stop"),
    begun: (content) => events({ choices: [{ index: 0, delta: { content }, finish_reason: null }] }),
  },
  "openai-responses": {
    calls: (...made) =>
      items(
        { type: "reasoning", id: `rs_${BOUND}`, summary: [], encrypted_content: BOUND },
        ...made.map(([name, args]) => ({
          type: "function_call",
          id: `fc_${BOUND}`,
          call_id: "call_0",
          name,
          arguments: args,
          status: "completed",
        })),
      ),
    text: (text) => items(outputText(text)),
    refusal: () =>
      items({ type: "message", id: "msg_1", role: "assistant", content: [{ type: "refusal", refusal: "I cannot." }] }),
    begun: (delta) => events({ type: "response.output_text.delta", output_index: 0, content_index: 0, delta }),
  },
  anthropic: {
    calls: (...made) =>
      blocks(
        "tool_use",
        { type: "thinking", thinking: "Hm.", signature: BOUND },
        ...made.map(([name, args], at) => ({
          type: "tool_use",
          id: `toolu_${BOUND}_${at}`,
          name,
          input: JSON.parse(args),
        })),
      ),
    text: (text) => blocks("end_turn", { type: "text", text }),
    refusal: () => blocks("refusal"),
    begun: (text) =>
      events(MESSAGE_START, { type: "content_block_start", index: 0, content_block: { type: "text", text } }),
  },
  gemini: {
    calls: (...made) =>
      contents(
        "STOP",
        ...made.map(([name, args], at) => ({
          functionCall: { id: `${BOUND}_${at}`, name, args: JSON.parse(args) },
          ...(at === 0 && { thoughtSignature: BOUND }),
        })),
      ),
    text: (text) => contents("STOP", { text }),
    refusal: () => contents("SAFETY"),
    begun: (text) => events({ candidates: [{ content: { role: "model", parts: [{ text }] } }] }),
  },
};

const chatCall = (index, name, args) => ({
  index,
  id: "call_0",
  type: "function",
  function: { name, arguments: args },
  extra_content: { google: { thought_signature: BOUND } },
});

function chat(delta, reason) {
  const answer = events(
    { choices: [{ index: 0, delta: { role: "assistant", ...delta }, finish_reason: null }] },
    { choices: [{ index: 0, delta: {}, finish_reason: reason }] },
  );
  return { chunks: [...answer.chunks, "data: [DONE]\n\n"] };
}

const outputText = (text) => ({
  type: "message",
  id: `msg_${BOUND}`,
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text, annotations: [] }],
});

/** A whole response of the Responses API, of these items. */
export function items(...output) {
  const done = output.map((item, at) => ({ type: "response.output_item.done", output_index: at, item }));
  return events(...done, { type: "response.completed", response: { status: "completed", output } });
}

const MESSAGE_START = { type: "message_start", message: { id: "msg_1", role: "assistant", content: [] } };

function blocks(reason, ...content) {
  const whole = content.flatMap((block, index) => [
    { type: "content_block_start", index, content_block: block },
    { type: "content_block_stop", index },
  ]);
  return events(
    MESSAGE_START,
    ...whole,
    { type: "message_delta", delta: { stop_reason: reason } },
    { type: "message_stop" },
  );
}

const contents = (finishReason, ...parts) =>
  events({ candidates: [{ content: { role: "model", parts }, finishReason }] });
