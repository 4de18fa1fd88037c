/** A model in the page that says what a state's script has: first the calls, then an end. No request leaves the page. */

const END = "That is all.";

/**
 * The endpoint for a state's script.
 *
 * @param {typeof import("../dist/index.js")} library
 * @param {import("./states.mjs").State} state
 */
export function scripted(library, { calls, next, server }) {
  const rounds = next ? [calls, next] : [calls];
  const fetch = async (_, { body }) => {
    const { messages, input } = await new Response(body).json();
    // What it says depends on the history alone, so that it goes on after a reload.
    const calledFor = roundOf(messages ?? input);
    const wanted = rounds[calledFor] ?? [];
    const lines = server ? response(wanted, server) : completion(wanted);
    return new Response(lines, { headers: { "content-type": "text/event-stream" } });
  };
  const endpoint = { baseUrl: new URL("v1", location.href).href, model: "scripted", fetch };
  if (!server) return library.openaiChat(endpoint);
  const serverTools = [{ type: "mcp", server_label: server, server_url: "https://mcp.example/" }];
  return library.openaiResponses({ ...endpoint, serverTools });
}

/** How many rounds of calls there were; after a second message from the person there are none any more. */
function roundOf(history) {
  const messages = history.filter(({ role }) => role === "user").length;
  if (messages > 1) return Number.POSITIVE_INFINITY;
  return history.filter(({ tool_calls, type }) => tool_calls || type === "mcp_approval_response").length;
}

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;

/** An answer in the Chat Completions format. */
function completion(calls) {
  const chunk = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] });
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    function: { name, arguments: JSON.stringify(args) },
  }));
  const ends = calls.length === 0;
  const said = chunk(ends ? { content: END } : { tool_calls });
  return `${said}${chunk({}, ends ? "stop" : "tool_calls")}data: [DONE]\n\n`;
}

/** An answer in the Responses format, whose calls the provider's server runs once they are approved. */
function response(calls, server_label) {
  const output =
    calls.length > 0
      ? calls.map(([name, args], place) => ({
          type: "mcp_approval_request",
          id: `mcpr_${place}`,
          server_label,
          name,
          arguments: JSON.stringify(args),
        }))
      : [{ type: "message", id: "msg_0", role: "assistant", content: [{ type: "output_text", text: END }] }];
  const done = output.map((item, output_index) => event({ type: "response.output_item.done", output_index, item }));
  return `${done.join("")}${event({ type: "response.completed", response: { status: "completed", output } })}`;
}
