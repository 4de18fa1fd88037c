/** What a script of the tests needs in the page: the package, and short ways to an agent, a tool and an error. */
import * as library from "../dist/index.js";

const { createAgent, openaiChat, tool } = library;

/** A kit of its own for one script: `given` is the test's data, `runs` collects the names of tools as they run. */
export function kit(given) {
  const runs = [];
  const lastCalls = (chat) => chat.snapshot().messages.findLast(({ calls }) => calls?.length).calls;
  return {
    ...library,
    given,
    runs,
    lastCalls,
    /** The message that has an obedient model make these calls. */
    order: (...made) => JSON.stringify(made),
    /** Resolves once the chat's snapshot passes `test`. */
    until: (chat, test) =>
      new Promise((done) => {
        const look = () => test(chat.snapshot()) && done(end());
        const end = chat.subscribe(look);
        look();
      }),
    /** Sends a message, decides the first request it leads to, and gives that call once the run rests. */
    sendAndDecide: async (chat, message, decision) => {
      await chat.send(message);
      const [request] = chat.snapshot().requests;
      await (await chat.decide(request.id, decision)).continuation;
      return lastCalls(chat).find(({ id }) => id === request.callId);
    },
    agentOf: (options = {}) =>
      createAgent({
        store: library.memoryStore(),
        user: { id: "ada" },
        model: openaiChat({ baseUrl: "/v1", model: "m" }),
        ...options,
      }),
    make: (name, more = {}) =>
      tool({
        name,
        effect: "write",
        inputSchema: { type: "object" },
        run: (args) => runs.push(name) && args,
        ...more,
      }),
    /** What the work throws or rejects with, or null. */
    rejection: (work) =>
      Promise.resolve()
        .then(work)
        .then(() => null)
        .catch((error) => ({
          name: error.name,
          code: error.code,
          message: error.message,
        })),
  };
}
