/**
 * A page whose chat is kept in the browser, as by default. What its tools do, they do at the server, which counts:
 * `look` changes nothing, `eat` and `mail` change something, `mail` says before what it would do, `brew` does no more when it is run twice.
 *
 * `?settings=` holds JSON: `chat`, its id; `agent`, more options of `createAgent`; `refused`, who may not decide.
 */
import { createAgent, defineElements, init, openaiChat, tool } from "/dist/index.js";

const settings = JSON.parse(new URLSearchParams(location.search).get("settings") ?? "{}");
const { chat: id = "c", agent: more = {}, refused } = settings;

const made = (name, options = {}) =>
  tool({
    name,
    effect: "write",
    inputSchema: { type: "object" },
    run: async (args, { callId, idempotencyKey, signal }) => {
      const body = JSON.stringify({ args, callId, idempotencyKey });
      const response = await fetch(`/work/${name}`, { method: "POST", body, signal });
      return response.text();
    },
    ...options,
  });

async function start() {
  await init();
  defineElements();
  const agent = createAgent({
    user: { id: "ada" },
    model: openaiChat({ baseUrl: "/v1", model: "m" }),
    tools: [
      made("look", { effect: "read" }),
      made("eat"),
      made("mail", { preview: async () => [await (await fetch("/preview")).text()] }),
      made("brew", { idempotent: true }),
    ],
    ...(refused && { canDecide: async (_, decider) => decider !== refused }),
    ...more,
  });
  const chat = await agent.open(id);
  document.querySelector("countersign-approvals").chat = chat;
  window.rig = { agent, chat };
}

/** Whether the page came out of the back/forward cache. */
window.restored = false;
addEventListener("pageshow", ({ persisted }) => {
  window.restored = persisted;
});
window.ready = start();
