//! The page's own functions: rules, tools, the store, headers, fetch. Nothing there decides; that is done in the core.

use js_sys::{Array, Promise};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::error::text_of;
use super::value::to_strings;
use crate::core::card::visible_line;
use crate::core::policy::{Opinion, matches};
use crate::core::run::Candidate;

#[wasm_bindgen]
extern "C" {
    /// What `www/src/host.ts` makes of an agent's options.
    pub type Host;

    /// A hold on one chat's work.
    pub type Lease;
    #[wasm_bindgen(method)]
    pub fn release(this: &Lease);

    #[wasm_bindgen(method, catch)]
    fn judge(this: &Host, id: &str, tool: &str, arguments: &str) -> Result<JsValue, JsValue>;

    /// Runs a tool; resolves with the text the model reads or, as an array of one JSON text, what the tool asks for; rejects
    /// with a string.
    #[wasm_bindgen(method, catch)]
    pub fn run(
        this: &Host,
        tool: &str,
        arguments: &str,
        call: &str,
        idempotency_key: &str,
        signal: &AbortSignal,
        note: Option<&str>,
        answers: Option<&str>,
    ) -> Result<Promise, JsValue>;

    /// The values of an answer that are a form's (both JSON); throws a sentence where they do not fit its schema.
    #[wasm_bindgen(method, catch)]
    pub fn fill(this: &Host, form: &str, values: &str) -> Result<String, JsValue>;

    /// What the host answers to a request, which is one of `requests` (JSON): JSON, or undefined if it does not.
    #[wasm_bindgen(method, catch, js_name = waitFor)]
    pub fn wait_for(this: &Host, requests: &str, request: &str) -> Result<Promise, JsValue>;

    /// What a tool's preview says of a call, resolved as an array of strings: the current values as JSON, empty where it
    /// has none, and the lines.
    #[wasm_bindgen(method, catch)]
    pub fn preview(this: &Host, tool: &str, arguments: &str) -> Result<Promise, JsValue>;

    /// Whether this decider may decide about a request, which is one of `requests` (JSON).
    #[wasm_bindgen(method, catch, js_name = mayDecide)]
    pub fn may_decide(this: &Host, requests: &str, request: &str, by: Option<&str>) -> Result<Promise, JsValue>;

    /// The lines of a chat's log from a place on, resolved as an array of strings.
    #[wasm_bindgen(method, catch)]
    pub fn load(this: &Host, chat: &str, from: f64) -> Result<Promise, JsValue>;

    /// Appends lines to a log that has `seq` of them; rejects with nothing written, with code `conflict` if it has not.
    #[wasm_bindgen(method, catch)]
    pub fn append(this: &Host, chat: &str, seq: f64, lines: &JsValue, head: &str) -> Result<Promise, JsValue>;

    /// Whether the store keeps projections.
    #[wasm_bindgen(method, getter)]
    pub fn keeps(this: &Host) -> bool;

    /// Keeps a projection of the first `seq` events beside the log.
    #[wasm_bindgen(method, catch)]
    pub fn keep(this: &Host, chat: &str, seq: f64, text: &str) -> Result<Promise, JsValue>;

    /// The text of the projection that is kept, resolved as a string; undefined if there is none.
    #[wasm_bindgen(method, catch)]
    pub fn kept(this: &Host, chat: &str) -> Result<Promise, JsValue>;

    /// The chat's lease, or undefined if somebody has it.
    #[wasm_bindgen(method, catch)]
    pub fn lease(this: &Host, chat: &str) -> Result<Promise, JsValue>;

    /// Whether somebody has the chat's lease, be it this page.
    #[wasm_bindgen(method, catch)]
    pub fn held(this: &Host, chat: &str) -> Result<Promise, JsValue>;

    /// Replaces lines of a log, given as `[seq, line]`, as one write.
    #[wasm_bindgen(method, catch)]
    pub fn rewrite(this: &Host, chat: &str, lines: &Array) -> Result<Promise, JsValue>;

    /// Resolves after that many milliseconds, or later: a page that sleeps does not wake for it.
    #[wasm_bindgen(method, catch)]
    pub fn sleep(this: &Host, ms: f64) -> Result<Promise, JsValue>;

    /// Resolves at once, unless the page may be on its way out: then once it is clear that it stays.
    #[wasm_bindgen(method, catch)]
    pub fn stays(this: &Host) -> Result<Promise, JsValue>;

    /// What the promise settles to; rejects with undefined if that takes longer than `ms` milliseconds (0: no limit).
    #[wasm_bindgen(method, catch)]
    pub fn within(this: &Host, work: &Promise, ms: f64) -> Result<Promise, JsValue>;

    /// How many of the oldest messages (given as JSON) requests are to leave out, resolved as digits; undefined if the
    /// host does not say.
    #[wasm_bindgen(method, catch)]
    pub fn trim(this: &Host, messages: &str) -> Result<Promise, JsValue>;

    /// The request's headers, resolved as a plain object.
    #[wasm_bindgen(method, catch)]
    pub fn headers(this: &Host) -> Result<Promise, JsValue>;

    /// The page's fetch, or the host's own.
    #[wasm_bindgen(method, catch)]
    pub fn fetch(this: &Host, url: &str, init: &JsValue) -> Result<Promise, JsValue>;
}

impl Host {
    /// What the rules say of a call, in their order. An answer that cannot be read counts as a rule that could not be
    /// evaluated.
    pub fn opinions(&self, call: &Candidate) -> Vec<Opinion> {
        let said = self.judge(call.call.as_str(), &call.tool, &call.arguments);
        let mut said = match said.and_then(|said| to_strings(said, "judge")) {
            Ok(said) => said.into_iter(),
            Err(thrown) => return vec![Opinion::Broken(text_of(&thrown))],
        };
        let mut opinions = Vec::new();
        while let Some(verdict) = said.next() {
            let reason = said.next().unwrap_or_default();
            opinions.push(match verdict.as_str() {
                "allow" => Opinion::Allow,
                "ask" => Opinion::Ask { reason, grantable: false },
                "ask-for-now" => Opinion::Ask { reason, grantable: true },
                "refuse" => Opinion::Refuse(reason),
                "invalid" => Opinion::Invalid(reason),
                _ => Opinion::Broken(reason),
            });
        }
        opinions
    }
}

/// A text as one line, hidden characters replaced by visible tokens.
#[wasm_bindgen(js_name = visibleLine)]
pub fn visible_text(text: &str) -> String {
    visible_line(text)
}

/// Whether a tool's name matches a rule's pattern.
#[wasm_bindgen(js_name = patternMatches)]
pub fn pattern_matches(pattern: &str, tool: &str) -> bool {
    matches(pattern, tool)
}
