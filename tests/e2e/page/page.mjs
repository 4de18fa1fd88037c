/**
 * A page with nothing of its own: three tools that count their runs, one chat, the approvals element and a
 * composer. `?settings=` holds JSON:
 *
 * - `user`: the id of who sits here, or null; "ada" if left out
 * - `by`: who the element says decides, an id or null; left out, the agent's user
 * - `model`: the model's name
 * - `wire`: instead, `{ make, options }`: a constructor's name, and what it is given
 * - `chat`: the chat's id
 * - `wires`: "all" for the module of all wire formats
 * - `agent`: more options of `createAgent`, as they are
 */
import {
  anthropic,
  createAgent,
  defineElements,
  gemini,
  init,
  memoryStore,
  openaiChat,
  openaiResponses,
  tool,
} from "../dist/index.js";

const constructors = { openaiChat, openaiResponses, anthropic, gemini };
const settings = JSON.parse(new URLSearchParams(location.search).get("settings") ?? "{}");
const { user = "ada", model = "test-model", wire, chat: chatId = "chat-1", agent: more = {} } = settings;
const runs = { read_page: 0, update_page_metadata: 0, send_mail: 0 };

function counted(name, effect, properties) {
  return tool({
    name,
    description: `The test page's ${name}.`,
    effect,
    inputSchema: { type: "object", properties, required: Object.keys(properties), additionalProperties: false },
    run: async (args) => {
      runs[name] += 1;
      return { tool: name, args };
    },
  });
}

async function start() {
  await init(settings.wires ? { wires: settings.wires } : undefined);
  defineElements();
  const agent = createAgent({
    user: user === null ? null : { id: user },
    model: wire ? constructors[wire.make](wire.options) : openaiChat({ baseUrl: "/v1", model }),
    instructions: "You look after a page.",
    tools: [
      counted("read_page", "read", {}),
      counted("update_page_metadata", "write", { title: { type: "string" } }),
      counted("send_mail", "write", { to: { type: "string" } }),
    ],
    store: memoryStore(),
    ...more,
  });
  const chat = await agent.open(chatId);
  const approvals = document.querySelector("countersign-approvals");
  approvals.chat = chat;
  if ("by" in settings) approvals.by = settings.by;
  window.rig = { agent, chat, runs };

  chat.subscribe(() => {
    document.querySelector("#answer").textContent = chat.snapshot().text;
  });
  document.querySelector("form").addEventListener("submit", (event) => {
    event.preventDefault();
    const input = document.querySelector("#text");
    chat.send(input.value);
    input.value = "";
  });
}

window.ready = start();
