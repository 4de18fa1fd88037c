/**
 * The demo: a chat with a cookie jar. Its model is the rehearsal model, a rule-based stand-in, no language
 * model; everything between it and the jar is the package.
 */
import { allow, ask, createAgent, defineElements, init, openaiChat, tool } from "./dist/index.js";
import { FULL, JAR_TOOL, Jar } from "./jar.mjs";
import { drawMessages, drawResults, viewOf } from "./transcript.mjs";

/** What the element's `by` is for each choice; undefined means the agent's own user, null nobody known. */
const DECIDERS = { self: undefined, other: "grace", unidentified: null };

/** What the page says of each status of a run. */
const STATUS = {
  idle: "",
  running: "The model is at work.",
  // The element says by itself what waits.
  pending: "",
  interrupted: "The run was interrupted.",
  done: "",
  stopped: "The run was stopped.",
  limit: "The run reached its limit of rounds.",
  error: "",
};

const page = Object.fromEntries([...document.querySelectorAll("[id]")].map((element) => [element.id, element]));
const jar = new Jar();
let chat;
let opened = 0;
let stopDrawing = () => {};

keepComposerInView();
drawJar();
jar.addEventListener("change", drawJar);

try {
  await init();
  defineElements();
  const agent = createAgent({
    user: { id: "ada", name: "Ada" },
    model: openaiChat({ ...(await modelSettings()), model: "countersign-rehearsal" }),
    instructions: "You look after a cookie jar.",
    tools: [tool({ ...JAR_TOOL, run: async (args) => jar.apply(args) })],
    rules: [
      allow(JAR_TOOL.name, (args) => args.action === "look"),
      ask(JAR_TOOL.name, (args) => args.action === "eat", "Cookies cannot be un-eaten."),
    ],
  });
  await open(agent);
  listen(agent);
  page.controls.disabled = false;
  page.restart.disabled = false;
} catch (error) {
  showTrouble(error);
}

/** @returns {Promise<{ baseUrl: string, fetch?: typeof fetch }>} */
async function modelSettings() {
  const where = document.querySelector("meta[name='demo-model']").content;
  if (where !== "in-page") return { baseUrl: new URL(where, document.baseURI).href };
  const { createRehearsalFetch } = await import("./rehearsal.mjs");
  return { baseUrl: new URL("v1", document.baseURI).href, fetch: createRehearsalFetch({ delayMs: 25 }) };
}

async function open(agent) {
  stopDrawing();
  opened += 1;
  chat = await agent.open(`cookie-jar-${opened}`);
  page.approvals.chat = chat;
  stopDrawing = chat.subscribe(draw);
  page.log.ariaLive = "off";
  draw();
  page.log.ariaLive = "polite";
}

function listen(agent) {
  page.composer.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = page.text.value.trim();
    if (text === "") return;
    page.text.value = "";
    say(text);
  });
  page.text.addEventListener("keydown", (event) => {
    // Enter sends, Shift+Enter breaks the line; Enter that ends an input method's word does neither.
    if (event.key !== "Enter" || event.shiftKey || event.isComposing || event.repeat) return;
    event.preventDefault();
    page.composer.requestSubmit();
  });
  page.suggestion.addEventListener("click", () => say("Empty the jar"));
  page.stop.addEventListener("click", () => attempt(() => chat.stop()));
  page.retry.addEventListener("click", () =>
    attempt(() => (chat.snapshot().status === "interrupted" ? chat.resume() : chat.retry())),
  );
  page.decider.addEventListener("change", decideAs);
  decideAs();
  page.restart.addEventListener("click", () =>
    attempt(async () => {
      await chat.stop();
      jar.refill();
      await open(agent);
    }),
  );
}

function decideAs() {
  page.approvals.by = DECIDERS[page.decider.value];
}

function say(text) {
  attempt(() => chat.send(text));
}

/** Runs what a person asked for; what goes wrong is shown to them and not lost in the console. */
async function attempt(action) {
  try {
    await action();
  } catch (error) {
    showTrouble(error);
  }
}

function draw() {
  const view = viewOf(chat.snapshot());
  drawMessages(page.messages, view.messages);
  drawResults(page.results, view.results);
  page.status.textContent = STATUS[view.status] ?? view.status;
  const recoverable = view.status === "error" || view.status === "interrupted";
  page.trouble.hidden = !recoverable;
  page.retry.hidden = !recoverable;
  page.retry.textContent = view.status === "interrupted" ? "Go on" : "Try again";
  page["trouble-text"].textContent =
    view.error ?? "The run stopped half way, because the page was closed. Nothing is repeated without you.";
  page.stop.hidden = view.status !== "running" && view.status !== "pending";
}

function showTrouble(error) {
  page.trouble.hidden = false;
  page.retry.hidden = true;
  page["trouble-text"].textContent = error.message;
}

function drawJar() {
  page.cookies.replaceChildren(
    ...Array.from({ length: FULL }, (_, at) => {
      const cookie = document.createElement("li");
      cookie.classList.toggle("there", at < jar.count);
      return cookie;
    }),
  );
  page.count.textContent = jar.count === 1 ? "1 cookie" : `${jar.count} cookies`;
}

/** Follows the end of a growing chat, unless the person has scrolled away from it. */
function keepComposerInView() {
  let following = true;
  const update = () => {
    following = page.composer.getBoundingClientRect().bottom <= window.innerHeight + 80;
  };
  window.addEventListener("scroll", update, { passive: true });
  new ResizeObserver(() => following && page.composer.scrollIntoView({ block: "nearest" })).observe(page.chat);
}
