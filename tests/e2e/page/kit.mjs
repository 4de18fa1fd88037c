/** What a script of the tests needs in the page: the package, and short ways to an agent, a tool and an error. */
import * as library from "../dist/index.js";

const { createAgent, openaiChat, tool } = library;

/** A kit of its own for one script: `runs` collects the names of tools as they run. */
export function kit() {
  const runs = [];
  return {
    ...library,
    runs,
    agentOf: (options = {}) =>
      createAgent({
        store: library.memoryStore(),
        user: { id: "ada" },
        model: openaiChat({ baseUrl: "/v1", model: "m" }),
        ...options,
      }),
    make: (name, more = {}) =>
      tool({ name, effect: "write", inputSchema: { type: "object" }, run: (args) => runs.push(name) && args, ...more }),
    /** What the work throws or rejects with, or null. */
    rejection: (work) =>
      Promise.resolve()
        .then(work)
        .then(() => null)
        .catch((error) => ({ name: error.name, code: error.code, message: error.message })),
  };
}
