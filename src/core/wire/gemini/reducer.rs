//! A response, read as it arrives, → one turn.

use super::super::super::json::Json;
use super::super::super::message::{ModelError, ModelErrorClass, Turn, TurnEnd, TurnExtra};
use super::super::intake::{Collect, Intake, State};
use super::super::{Delta, fault, leftover};
use super::parts::Parts;

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
    parts: Parts,
    usage: Vec<(String, Json)>,
    /// The last one: text may follow the first.
    finish_reason: Option<String>,
    finish_message: String,
    /// Why the prompt was not given to the model, as the provider says it.
    block: Option<String>,
    /// The index of the candidate that is read; a request asks for one.
    candidate: Option<i64>,
}

impl Reducer {
    /// `cap` is the most tokens the request asked for, if it did.
    pub(super) fn new(cap: Option<u64>, binding: &str) -> Self {
        Self { intake: Intake::new(), turn: Collected { binding: binding.to_owned(), cap, ..Collected::default() } }
    }

    /// Takes the next bytes of the body, cut anywhere, and gives what they add for display.
    pub fn feed(&mut self, bytes: &[u8]) -> Delta {
        let (text, reasoning) = (self.text().len(), self.reasoning().len());
        self.intake.feed(bytes, &mut self.turn);
        Delta {
            text: self.text().get(text..).unwrap_or("").to_owned(),
            reasoning: self.reasoning().get(reasoning..).unwrap_or("").to_owned(),
        }
    }

    /// Whether the rest of the body can only be silence. A finish reason does not say so here, only the end of the body.
    pub const fn is_done(&self) -> bool {
        self.intake.is_over()
    }

    /// The answer's text so far, to be shown if the turn fails.
    pub fn text(&self) -> &str {
        self.turn.parts.text.as_str()
    }

    /// The reasoning so far.
    pub fn reasoning(&self) -> &str {
        self.turn.parts.reasoning.as_str()
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(mut self) -> Result<Turn, ModelError> {
        self.intake.finish("Gemini answer", &mut self.turn)?;
        self.turn.finish()
    }
}

impl Collect for Collected {
    fn take(&mut self, _name: &str, value: &Json, is_document: bool, state: &mut State) {
        // Looked at first: an error may come at any point.
        let candidates = value.get("candidates").and_then(Json::as_array);
        let describes = is_document && candidates.is_none() && (value.get("detail").or(value.get("message"))).is_some();
        if fault::is_error(value) || describes {
            state.error = Some(fault::from_json(value, None));
            return;
        }
        let feedback = value.get("promptFeedback");
        let usage = value.get("usageMetadata");
        if candidates.is_none() && feedback.is_none() && usage.is_none() {
            return;
        }
        state.has_events = true;
        leftover::keep_last(&mut self.usage, usage.unwrap_or(&Json::Null));
        let feedback = |key: &str| feedback.and_then(|feedback| feedback.get(key)).and_then(Json::as_str);
        if let Some(reason) = feedback("blockReasonMessage").or(feedback("blockReason")) {
            state.has_answer = true;
            self.block = Some(reason.to_owned());
        }
        for candidate in candidates.unwrap_or(&[]) {
            let index = candidate.get("index").and_then(Json::as_i64).unwrap_or(0);
            if *self.candidate.get_or_insert(index) == index {
                state.has_answer = true;
                self.take_candidate(candidate);
            }
        }
    }
}

impl Collected {
    fn take_candidate(&mut self, candidate: &Json) {
        let parts = candidate.get("content").and_then(|content| content.get("parts")).and_then(Json::as_array);
        for part in parts.unwrap_or(&[]) {
            self.parts.add(part);
        }
        let text = |key: &str| candidate.get(key).and_then(Json::as_str).filter(|text| !text.is_empty());
        if let Some(reason) = text("finishReason").filter(|reason| *reason != "FINISH_REASON_UNSPECIFIED") {
            self.finish_reason = Some(reason.to_owned());
            self.finish_message = text("finishMessage").unwrap_or("").to_owned();
        }
    }

    fn finish(mut self) -> Result<Turn, ModelError> {
        let has_calls = self.parts.has_calls();
        let count = |key: &str| self.usage.iter().find(|(name, _)| name == key).and_then(|(_, count)| count.as_u64());
        let spent = count("candidatesTokenCount").unwrap_or(0) + count("thoughtsTokenCount").unwrap_or(0);
        let reason = self.finish_reason.as_deref();
        let is_filtered = self.block.is_some()
            || reason.is_some_and(|reason| {
                reason.starts_with("IMAGE_")
                    || ["SAFETY", "RECITATION", "LANGUAGE", "BLOCKLIST", "PROHIBITED_CONTENT", "SPII"].contains(&reason)
            });
        // Decided from the calls and from every sign of a cut: the reason is `STOP` beside calls too.
        let end = match reason {
            Some(
                "MALFORMED_FUNCTION_CALL"
                | "UNEXPECTED_TOOL_CALL"
                | "TOO_MANY_TOOL_CALLS"
                | "MISSING_THOUGHT_SIGNATURE",
            ) => return Err(self.broken_call()),
            Some("MAX_TOKENS") => TurnEnd::Length,
            _ if has_calls && self.cap == Some(spent) => TurnEnd::Length,
            // What the filter took away may belong to a call.
            _ if is_filtered && has_calls => TurnEnd::Truncated,
            _ if is_filtered => TurnEnd::Refusal,
            None => TurnEnd::Truncated,
            _ if has_calls => TurnEnd::ToolCalls,
            Some("STOP") => TurnEnd::Stop,
            Some(_) => TurnEnd::Other,
        };
        let refusal = self.block.unwrap_or(if is_filtered { self.finish_message } else { String::new() });
        let (calls, items) = (self.parts.calls(), self.parts.take_items());
        Ok(Turn {
            end,
            finish_reason: self.finish_reason,
            text: self.parts.text.into_text(),
            reasoning: self.parts.reasoning.into_text(),
            refusal,
            extra: TurnExtra {
                binding: self.binding,
                items,
                message: Vec::new(),
                calls: vec![Vec::new(); calls.len()],
            },
            calls,
            usage: (!self.usage.is_empty()).then_some(Json::Object(self.usage)),
        })
    }

    /// The error of a call that the server itself did not take, whatever else it sent.
    fn broken_call(&self) -> ModelError {
        let reason = self.finish_reason.as_deref().unwrap_or("");
        let mut message = ["The model's answer ended with ", reason].concat();
        if !self.finish_message.is_empty() {
            message.push_str(": ");
            message.push_str(&fault::sentence(&self.finish_message));
        }
        message.push_str(". Nothing was run; retry to ask for it again.");
        let mut error = ModelError::new(ModelErrorClass::Provider, message);
        // Another sample may be well-formed.
        error.retryable = matches!(reason, "MALFORMED_FUNCTION_CALL" | "UNEXPECTED_TOOL_CALL");
        error
    }
}
