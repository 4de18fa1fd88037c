/** A model in the page that says what a state's script has: first the calls, then an end. No request leaves the page. */

const END = "That is all.";

/**
 * The endpoint for a state's script.
 *
 * @param {typeof import("../dist/index.js")} library
 * @param {import("./states.mjs").State} state
 */
export function scripted(library, { calls, server }) {
  let asked = 0;
  const fetch = async () => {
    asked += 1;
    const lines = server ? response(asked, calls, server) : completion(asked, calls);
    return new Response(lines, { headers: { "content-type": "text/event-stream" } });
  };
  const endpoint = { baseUrl: new URL("v1", location.href).href, model: "scripted", fetch };
  if (!server) return library.openaiChat(endpoint);
  const serverTools = [{ type: "mcp", server_label: server, server_url: "https://mcp.example/" }];
  return library.openaiResponses({ ...endpoint, serverTools });
}

const event = (data) => `data: ${JSON.stringify(data)}\n\n`;

/** An answer in the Chat Completions format. */
function completion(asked, calls) {
  const chunk = (delta, finish_reason = null) => event({ choices: [{ index: 0, delta, finish_reason }] });
  const tool_calls = calls.map(([name, args], index) => ({
    index,
    id: `call_${index}`,
    function: { name, arguments: JSON.stringify(args) },
  }));
  const said = asked === 1 ? chunk({ tool_calls }) : chunk({ content: END });
  return `${said}${chunk({}, asked === 1 ? "tool_calls" : "stop")}data: [DONE]\n\n`;
}

/** An answer in the Responses format, whose calls the provider's server runs once they are approved. */
function response(asked, calls, server_label) {
  const output =
    asked === 1
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
