/** Brings a card into a state: a real agent with a scripted model, and decisions made through the package's own calls. */
import { scripted } from "./model.mjs";
import { TOOLS } from "./tools.mjs";

/** Who sits here. */
export const USER = "ada";

/**
 * @param {typeof import("../dist/index.js")} library
 * @param {import("./states.mjs").State} state
 * @param {HTMLElement & { chat: any }} element
 */
export async function stage(library, state, element) {
  const wrap = state.store ?? ((made) => made);
  let store = wrap(library.memoryStore());
  /** What of the tools is not as it was, by name. */
  let changes = {};
  if (state.log) await store.append(state.name, 0, state.log, "");
  const agent = () => agentOf(library, state, store, changes);
  let chat = await agent().open(state.name);
  for (const [name, value] of Object.entries(state.attributes ?? {})) element.setAttribute(name, value);
  const isOfGrants = state.shows === "grants";
  if (!isOfGrants) element.chat = chat;
  if (!state.log && state.calls.length > 0) await chat.send("Please.");

  const last = () => chat.snapshot().requests.at(-1);
  await state.act?.({
    library,
    element,
    get chat() {
      return chat;
    },
    /** Decides one request after another, as these say. What a decision leads to is waited for where it can end. */
    async decide(...decisions) {
      const requests = chat.snapshot().requests;
      const made = decisions.map((decision, place) => chat.decide(requests[place].id, { by: USER, ...decision }));
      for (const { continuation } of await Promise.all(made)) if (!state.endless) await continuation;
    },
    /** Answers the last request. */
    async answer(answer) {
      const { continuation } = await chat.answer({ id: last().id, ...answer });
      await continuation;
    },
    /** Goes on with what the store has, as a page does that was closed in the middle. */
    async reload() {
      const kept = library.memoryStore();
      await kept.append(state.name, 0, await store.load(state.name), "");
      store = wrap(kept);
      chat = await agent().open(state.name);
      element.chat = chat;
      await chat.resume();
    },
    /** From now on the tools are otherwise. */
    change(how) {
      changes = how;
    },
    /** Asks the same in another chat, with tools that are otherwise. */
    async another(how) {
      changes = how;
      chat = await agent().open(`${state.name}-again`);
      element.chat = chat;
      await chat.send("Please.");
    },
    /** Resolves once the chat's snapshot passes `test`. */
    until(test) {
      return new Promise((done) => {
        const look = () => test(chat.snapshot()) && done(end());
        const end = chat.subscribe(look);
        look();
      });
    },
  });
  if (!isOfGrants) return;
  element.agent = agent();
  // The element asked for the list before this does.
  await element.agent.grants.list().catch(() => {});
}

function agentOf(library, state, store, changes) {
  const used = new Set([...state.calls, ...(state.next ?? [])].map(([name]) => name));
  const tools = Object.entries(TOOLS)
    .filter(([name]) => used.has(name) && !state.server)
    .map(([name, made]) =>
      library.tool({
        ...{ name, run: () => "Done." },
        ...made,
        ...(state.run && { run: state.run(library) }),
        ...(state.preview && { preview: state.preview }),
        ...changes[name],
      }),
    );
  const { rules, ...options } = state.options ?? {};
  return library.createAgent({
    user: { id: USER },
    model: scripted(library, state),
    tools,
    store,
    ...options,
    ...(rules && { rules: rules(library) }),
  });
}
