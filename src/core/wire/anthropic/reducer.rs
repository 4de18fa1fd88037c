//! A response, read as it arrives, → one turn.

use super::super::super::json::Json;
use super::super::super::message::{ModelError, ModelErrorClass, Turn, TurnEnd, TurnExtra};
use super::super::intake::{Collect, Intake, State};
use super::super::{Delta, fault, leftover};

use super::blocks::{Blocks, Finished, kind};

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
    /// The id of the message that began; some proxies leave it out.
    message: Option<Option<String>>,
    blocks: Blocks,
    usage: Vec<(String, Json)>,
    stop_reason: Option<String>,
    refusal: String,
}

impl Reducer {
    /// `cap` is the most tokens the request asked for.
    pub(super) fn new(cap: Option<u64>, binding: &str) -> Self {
        let turn = Collected { binding: binding.to_owned(), cap, ..Collected::default() };
        Self { intake: Intake::new(), turn }
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

    /// Whether the rest of the body can only be silence: close it, some servers keep it open.
    pub const fn is_done(&self) -> bool {
        self.intake.is_over()
    }

    /// The answer's text so far, to be shown if the turn fails.
    pub fn text(&self) -> &str {
        self.turn.blocks.text.as_str()
    }

    /// The reasoning so far.
    pub fn reasoning(&self) -> &str {
        self.turn.blocks.reasoning.as_str()
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(mut self) -> Result<Turn, ModelError> {
        let is_done = self.intake.finish("Anthropic message", &mut self.turn)?;
        Ok(self.turn.finish(is_done))
    }
}

impl Collect for Collected {
    fn take(&mut self, name: &str, value: &Json, is_document: bool, state: &mut State) {
        // Looked at first: an error may come at any point.
        let content = value.get("content").and_then(Json::as_array);
        let describes = is_document && content.is_none() && (value.get("detail").or(value.get("message"))).is_some();
        if fault::is_error(value) || describes {
            state.error = Some(fault::from_json(value, None));
            return;
        }
        let index = value.get("index").and_then(Json::as_i64);
        let part = |key: &str| value.get(key).unwrap_or(&Json::Null);
        let name = match kind(value) {
            "" => name,
            kind => kind,
        };
        match name {
            "message" | "" if is_document && content.is_some() => {
                for block in content.unwrap_or(&[]) {
                    self.blocks.begin(None, block);
                    self.blocks.close(None);
                }
                self.take_end(value);
                leftover::keep_last(&mut self.usage, part("usage"));
            }
            "message_start" => self.take_start(state, part("message")),
            "content_block_start" => self.blocks.begin(index, part("content_block")),
            "content_block_delta" => self.blocks.add(index, part("delta")),
            "content_block_stop" => self.blocks.close(index),
            "message_delta" => {
                self.take_end(part("delta"));
                leftover::keep_last(&mut self.usage, part("usage"));
            }
            "message_stop" => state.is_done = true,
            "ping" => {}
            // The API says that there will be others.
            _ => return,
        }
        state.has_events = true;
        state.has_answer |= name != "ping";
    }
}

impl Collected {
    fn take_start(&mut self, state: &mut State, message: &Json) {
        let id = message.get("id").and_then(Json::as_str).map(str::to_owned);
        match &self.message {
            // Said twice, which is harmless before anything was said.
            Some(known) if *known == id && self.blocks.is_empty() => {}
            Some(_) => {
                let why = "A second answer begins inside of the server's answer: a proxy has mixed two streams. Retry.";
                let mut error = ModelError::new(ModelErrorClass::BadResponse, why);
                error.retryable = true;
                state.error = Some(error);
            }
            None => {
                self.message = Some(id);
                leftover::keep_last(&mut self.usage, message.get("usage").unwrap_or(&Json::Null));
            }
        }
    }

    fn take_end(&mut self, fields: &Json) {
        if let Some(reason) = fields.get("stop_reason").and_then(Json::as_str).filter(|reason| !reason.is_empty()) {
            self.stop_reason = Some(reason.to_owned());
        }
        let explanation = fields.get("stop_details").and_then(|details| details.get("explanation"));
        if let Some(explanation) = explanation.and_then(Json::as_str) {
            self.refusal = explanation.to_owned();
        }
    }

    fn finish(self, is_done: bool) -> Turn {
        let has_calls = self.blocks.have_calls();
        let usage = (!self.usage.is_empty()).then_some(Json::Object(self.usage));
        let spent = usage.as_ref().and_then(|usage| usage.get("output_tokens")).and_then(Json::as_u64);
        // Decided from the calls and from every sign of a cut: translating servers give reasons of their own.
        let end = match self.stop_reason.as_deref() {
            Some("max_tokens" | "model_context_window_exceeded" | "length") => TurnEnd::Length,
            _ if has_calls && self.cap.is_some() && spent == self.cap => TurnEnd::Length,
            None if !is_done => TurnEnd::Truncated,
            // What the filter took away may belong to a call.
            Some("refusal") if has_calls => TurnEnd::Truncated,
            _ if has_calls => TurnEnd::ToolCalls,
            Some("refusal") => TurnEnd::Refusal,
            None | Some("end_turn" | "stop_sequence" | "tool_use" | "stop") => TurnEnd::Stop,
            Some(_) => TurnEnd::Other,
        };
        let Finished { text, reasoning, items, calls } = self.blocks.finish(end.is_cut());
        Turn {
            end,
            finish_reason: self.stop_reason,
            text,
            reasoning,
            refusal: self.refusal,
            extra: TurnExtra {
                binding: self.binding,
                items,
                message: Vec::new(),
                calls: vec![Vec::new(); calls.len()],
            },
            calls,
            usage,
        }
    }
}
