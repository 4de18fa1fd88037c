/**
 * The rehearsal model: a rule-based stand-in, no language model. This is its door; its rooms stand in `rehearsal/`, in
 * the order of a request's way: `history` reads the messages, `wish` the user's text; `jar`, `page` and `mail` are
 * what it can do, `account` what it says of a call that did not run; `plan` decides, `answer` writes it down, `fetch`
 * delivers it inside a page.
 *
 * It speaks the Chat Completions format well enough to rehearse an approval: it reads the tools it is
 * offered and the results it is sent, and whatever it says about a call comes from that call's tool
 * message in the request, never from a script of what ought to have happened. The same request
 * always gets the same bytes.
 *
 * It is also a strict server. A history that OpenAI would refuse, or that breaks the rule of one
 * result for every call in call order, gets HTTP 400 with the rule in the message; so a page that
 * rehearses with it is checked by it.
 *
 * Nothing of Node in here: the HTTP server and a page without a server run the same module.
 */

export { respond, serve } from "./rehearsal/answer.mjs";
export { createRehearsalFetch, pace, rehearsalFetch } from "./rehearsal/fetch.mjs";
export { MODEL, Refusal } from "./strictness.mjs";
