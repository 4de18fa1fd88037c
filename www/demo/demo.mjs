/**
 * The demo: a chat with a cookie jar, a page and a mail draft. Its model is the rehearsal model, a rule-based stand-in,
 * no language model, unless a person names a server in the settings; everything between it and the tools is the package.
 */
import { chatOfAddress, nameNewChat } from "./address.mjs";
import { createAssistant } from "./assistant.mjs";
import { switchDecider } from "./decider.mjs";
import { Desk } from "./desk.mjs";
import { defineGrantsElement } from "./dist/grants-element.js";
import { defineElements, init } from "./dist/index.js";
import { rehearsal } from "./endpoint.mjs";
import { follow } from "./follow.mjs";
import { switchLanguage } from "./language.mjs";
import { write } from "./nodes.mjs";
import { Settings } from "./settings.mjs";
import { copyFrom, drawTold, Recorder } from "./told.mjs";
import { drawMessages, viewOf } from "./transcript.mjs";

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
const desk = new Desk(page);
const recorder = new Recorder();
let endpoint;
let agent;
let chat;
let opening;
/** A message is on its way to the chat, whose status does not tell of it at once. */
let isSaying = false;
let stopDrawing = () => {};

recorder.addEventListener("change", () => drawTold(recorder.last, page));
copyFrom(page.told, page.copied);

try {
  await init();
  defineElements();
  defineGrantsElement();
  switchLanguage(page["settings-language"], page.approvals);
  switchDecider(page.decider, page.approvals, page["decider-told"], page["decider-note"]);
  endpoint = await rehearsal();
  await open();
  listen();
  new Settings(page, use);
  for (const button of [page.controls, page.restart, page["open-settings"]]) button.disabled = false;
  follow(page.chat, page.deciding, () => chat.snapshot().requests.length > 0);
} catch (error) {
  showTrouble(error);
}

/** Takes a model into use, in a new chat. What the package refuses about it is thrown before anything is changed. */
async function use(chosen) {
  assistantOf(chosen).dispose();
  endpoint = chosen;
  nameNewChat();
  await open();
}

function assistantOf({ model, fetch }) {
  return createAssistant({ desk, model: { ...model, fetch: recorder.around(fetch) } });
}

/** Opens the chat that the address names. */
function open() {
  opening = layOut();
  return opening;
}

/** The chat shown before is left as it stands: its agent goes, since the tools work on what lies on the desk now. */
async function layOut() {
  stopDrawing();
  agent?.dispose();
  isSaying = false;
  const own = assistantOf(endpoint);
  agent = own;
  page.grants.agent = own;
  page["model-rehearsal"].hidden = endpoint.kind !== "rehearsal";
  page["model-server"].hidden = endpoint.kind === "rehearsal";
  page["model-name"].textContent = endpoint.label;
  const id = chatOfAddress();
  desk.open(id);
  recorder.clear();
  const opened = await own.open(id);
  // The address may name yet another chat by now.
  if (agent !== own) return opening;
  chat = opened;
  page.approvals.chat = chat;
  stopDrawing = chat.subscribe(draw);
  page.log.ariaLive = "off";
  draw();
  page.log.ariaLive = "polite";
}

function listen() {
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
  page.suggestions.addEventListener("click", ({ target, detail }) => {
    // One press is one message: neither the second click of a double one nor a click while the model is at work is meant.
    if (detail > 1 || isSaying || chat.snapshot().status === "running") return;
    if (target instanceof HTMLButtonElement) say(target.textContent.trim());
  });
  page.suggestions.addEventListener("keydown", (event) => {
    // A browser makes a click of each repeat of a held Enter. Tab may be held.
    if (event.repeat && event.key === "Enter") event.preventDefault();
  });
  page.stop.addEventListener("click", () => attempt(() => chat.stop()));
  page.retry.addEventListener("click", () =>
    attempt(() => (chat.snapshot().status === "interrupted" ? chat.resume() : chat.retry())),
  );
  page.restart.addEventListener("click", () =>
    attempt(() => {
      nameNewChat();
      page.text.focus();
      return open();
    }),
  );
  addEventListener("hashchange", () => attempt(open));
}

function say(text) {
  isSaying = true;
  attempt(async () => {
    try {
      await opening;
      await chat.send(text);
    } finally {
      isSaying = false;
    }
  });
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
  page["not-kept"].hidden = view.durable || view.ended !== undefined;
  drawMessages(page.messages, view.messages);
  page.welcome.hidden = view.messages.length > 0;
  // These two are read out whenever they are set.
  write(page.status, view.ended ? "" : (STATUS[view.status] ?? view.status));
  const recoverable = !view.ended && (view.status === "error" || view.status === "interrupted");
  show(page.trouble, recoverable || view.ended !== undefined);
  show(page.retry, recoverable);
  page.retry.textContent = view.status === "interrupted" ? "Go on" : "Try again";
  write(page["trouble-text"], view.ended ?? ((recoverable && troubleOf(view)) || ""));
  show(page.stop, !view.ended && (view.status === "running" || view.status === "pending"));
}

/** What went wrong, unless the last message has said so. */
function troubleOf({ status, messages, error }) {
  if (status === "interrupted") {
    return "The run stopped half way, because the page was closed. Nothing is repeated without you.";
  }
  return messages.at(-1)?.type === "error" ? "The request failed. Tools that ran do not run again." : error;
}

/** Shows a part or not. What is taken away with the focus in it gives it to the composer. */
function show(part, shown) {
  if (!shown && part.contains(document.activeElement)) page.text.focus();
  part.hidden = !shown;
}

function showTrouble(error) {
  show(page.trouble, true);
  show(page.retry, false);
  page["trouble-text"].textContent = error.message;
}
