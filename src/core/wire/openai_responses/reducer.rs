//! A response, read as it arrives, → one turn.

use super::super::super::json::Json;
use super::super::super::message::{ModelError, ModelErrorClass, Turn, TurnEnd, TurnExtra};
use super::super::intake::{Collect, Intake, State, unnamed_error};
use super::super::{Delta, fault};
use super::items::{Content, Items, MAX_ITEMS};

/// Reads one response. Nothing of it may be acted on before [`finish`](Self::finish): calls are complete only then.
#[derive(Clone, Debug, PartialEq)]
pub struct Reducer {
    intake: Intake,
    turn: Collected,
}

/// What has arrived so far.
#[derive(Clone, Debug, Default, PartialEq)]
struct Collected {
    /// What the turn is bound to.
    binding: String,
    /// The most tokens the request asked for.
    cap: Option<u64>,
    items: Items,
    /// The items of the terminal event. Some servers leave them out.
    output: Vec<Json>,
    /// `status` of the response at its end.
    status: Option<String>,
    incomplete_reason: Option<String>,
    usage: Option<Json>,
    /// What the bytes of one `feed` add.
    fresh: Delta,
}

impl Reducer {
    /// `cap` is the most tokens the request asked for, if it did.
    pub(super) fn new(cap: Option<u64>, binding: &str) -> Self {
        Self { intake: Intake::new(), turn: Collected { binding: binding.to_owned(), cap, ..Collected::default() } }
    }

    /// Takes the next bytes of the body, cut anywhere, and gives what they add for display.
    pub fn feed(&mut self, bytes: &[u8]) -> Delta {
        self.intake.feed(bytes, &mut self.turn);
        std::mem::take(&mut self.turn.fresh)
    }

    /// Whether the rest of the body can only be silence: close it, some servers keep it open.
    pub const fn is_done(&self) -> bool {
        self.intake.is_over()
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(self) -> Result<Turn, ModelError> {
        let mut turn = self.turn;
        self.intake.finish("response", &mut turn)?;
        turn.finish()
    }
}

impl Collect for Collected {
    fn take(&mut self, name: &str, value: &Json, is_document: bool, state: &mut State) {
        let is_response = is_document && value.get("output").is_some();
        let describes = is_document && !is_response && (value.get("detail").or(value.get("message"))).is_some();
        if fault::is_error(value) || describes {
            state.error = Some(fault::from_json(value, None));
            return;
        }
        // Events of other types come and go; what they are about is in the items.
        let kind = value.get("type").and_then(Json::as_str).unwrap_or(name);
        let kind = if is_response { Some("completed") } else { kind.strip_prefix("response.") };
        let Some(kind) = kind else { return };
        let response = if is_response { value } else { value.get("response").unwrap_or(&Json::Null) };
        state.has_events = true;
        state.has_answer = true;
        match kind {
            "completed" | "incomplete" | "failed" | "cancelled" | "done" => {
                self.take_end(response, kind, state);
            }
            _ => self.items.take(kind, value, &mut self.fresh),
        }
        if self.items.is_overfull() || self.output.len() > MAX_ITEMS {
            let message = "The server sent more than 1024 output items, which no model answer has.";
            state.error = Some(ModelError::new(ModelErrorClass::BadResponse, message));
        }
    }
}

impl Collected {
    /// The whole response as it stands at its end; `kind` is the event that says so.
    fn take_end(&mut self, response: &Json, kind: &str, state: &mut State) {
        state.is_done = true;
        let status = response.get("status").and_then(Json::as_str).unwrap_or(kind);
        if kind == "failed" || status == "failed" || fault::is_error(response) {
            let error = fault::error_of(response).map(|_| fault::from_json(response, None));
            state.error = Some(error.unwrap_or_else(unnamed_error));
            return;
        }
        self.status = Some(status.to_owned());
        let reason = response.get("incomplete_details").and_then(|details| details.get("reason"));
        self.incomplete_reason = reason.and_then(Json::as_str).map(str::to_owned);
        if kind == "incomplete" && self.incomplete_reason.is_none() {
            self.incomplete_reason = Some(String::new());
        }
        self.usage = response.get("usage").filter(|usage| usage.as_object().is_some()).cloned();
        let output = response.get("output").and_then(Json::as_array).unwrap_or(&[]);
        self.output = output.iter().filter(|item| item.as_object().is_some()).cloned().collect();
    }

    fn finish(self) -> Result<Turn, ModelError> {
        let mut items = self.items;
        items.complete(&self.output);
        let spent = self.usage.as_ref().and_then(|usage| usage.get("output_tokens")).and_then(Json::as_u64);
        let has_calls = items.has_calls();
        let is_filtered = self.incomplete_reason.as_deref() == Some("content_filter");
        // Decided from the calls and from every sign of a cut: a response counts as completed beside calls that are not.
        let mut end = match self.status.as_deref() {
            None | Some("cancelled" | "queued" | "in_progress") => TurnEnd::Truncated,
            // What the filter took away may belong to a call.
            _ if is_filtered && has_calls => TurnEnd::Truncated,
            _ if is_filtered => TurnEnd::Refusal,
            Some("incomplete") => TurnEnd::Length,
            _ if self.incomplete_reason.is_some() || items.has_incomplete_call() => TurnEnd::Length,
            _ if has_calls && self.cap.is_some() && spent == self.cap => TurnEnd::Length,
            _ if has_calls && !items.has_whole_calls() => TurnEnd::Truncated,
            _ if has_calls => TurnEnd::ToolCalls,
            // An item that this program should have acted on, and cannot.
            _ if items.has_work_for_client() => TurnEnd::Other,
            Some("completed" | "done") => TurnEnd::Stop,
            Some(_) => TurnEnd::Other,
        };
        let Content { words, calls, items } = items.finish(end.is_cut());
        let refusal = words.refusal.into_text();
        if end == TurnEnd::Stop && !refusal.is_empty() {
            end = TurnEnd::Refusal;
        }
        Ok(Turn {
            end,
            finish_reason: self.status,
            text: words.text.into_text(),
            reasoning: words.reasoning.into_text(),
            refusal,
            usage: self.usage,
            extra: TurnExtra {
                binding: self.binding,
                items,
                message: Vec::new(),
                calls: vec![Vec::new(); calls.len()],
            },
            calls,
        })
    }
}
