//! A response, read as it arrives, → one turn.

use super::super::super::json::{JoinedText, Json};
use super::super::super::message::{ModelError, Turn, TurnEnd, TurnExtra};
use super::super::intake::{Collect, Intake, State, unnamed_error};
use super::super::{Delta, fault, leftover};
use super::calls::Calls;
use super::thinking::{Pieces, Ways};

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
    pieces: Pieces,
    text: JoinedText,
    reasoning: JoinedText,
    refusal: JoinedText,
    calls: Calls,
    leftovers: Vec<(String, Json)>,
    usage: Option<Json>,
    finish_reason: Option<String>,
    /// The index of the choice that is read; a request asks for one.
    choice: Option<i64>,
    /// The server said that it stopped at a limit.
    at_limit: bool,
}

impl Reducer {
    /// `cap` is the most tokens the request asked for, if it did.
    pub(super) fn new(cap: Option<u64>, binding: &str, ways: Ways) -> Self {
        let turn = Collected { binding: binding.to_owned(), cap, pieces: Pieces::new(ways), ..Collected::default() };
        Self { intake: Intake::new(), turn }
    }

    /// Takes the next bytes of the body, cut anywhere, and gives what they add for display.
    pub fn feed(&mut self, bytes: &[u8]) -> Delta {
        let turn = &mut self.turn;
        let (text, reasoning) = (turn.text.as_str().len(), turn.reasoning.as_str().len());
        self.intake.feed(bytes, turn);
        let new = |text: &JoinedText, from: usize| text.as_str().get(from..).unwrap_or("").to_owned();
        Delta { text: new(&turn.text, text), reasoning: new(&turn.reasoning, reasoning) }
    }

    /// Whether the rest of the body can only be silence: close it, some servers keep it open.
    pub const fn is_done(&self) -> bool {
        self.intake.is_over()
    }

    /// The answer's text so far, to be shown if the turn fails.
    pub fn text(&self) -> &str {
        self.turn.text.as_str()
    }

    /// The reasoning so far.
    pub fn reasoning(&self) -> &str {
        self.turn.reasoning.as_str()
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(self) -> Result<Turn, ModelError> {
        let mut turn = self.turn;
        let is_done = self.intake.finish("chat completion", &mut turn)?;
        turn.finish(is_done)
    }
}

impl Collect for Collected {
    fn take(&mut self, _name: &str, value: &Json, is_document: bool, state: &mut State) {
        // Looked at first: an error may stand beside choices, or come after a finish reason.
        let choices = value.get("choices").and_then(Json::as_array);
        let describes = is_document && choices.is_none() && (value.get("detail").or(value.get("message"))).is_some();
        if fault::is_error(value) || describes {
            state.error = Some(fault::from_json(value, None));
            return;
        }
        state.has_events = true;
        self.take_usage(value.get("x_groq").and_then(|groq| groq.get("usage")));
        self.take_usage(value.get("usage"));
        for choice in choices.unwrap_or(&[]) {
            let index = choice.get("index").and_then(Json::as_i64);
            if index.is_none() || *self.choice.get_or_insert(index.unwrap_or(0)) == index.unwrap_or(0) {
                state.has_answer |= choice.as_object().is_some();
                self.take_choice(choice);
            }
        }
    }
}

impl Collected {
    fn take_usage(&mut self, usage: Option<&Json>) {
        if let Some(usage @ Json::Object(_)) = usage {
            self.usage = Some(usage.clone());
        }
    }

    fn take_choice(&mut self, choice: &Json) {
        if choice.as_object().is_none() {
            return;
        }
        self.take_usage(choice.get("usage"));
        for key in ["finish_reason", "native_finish_reason"] {
            let Some(reason) = choice.get(key).and_then(Json::as_str).filter(|reason| !reason.is_empty()) else {
                continue;
            };
            // The native reason tells of a limit that the translated one hides.
            self.at_limit |= ["length", "max_tokens", "max_output_tokens", "model_length"]
                .iter()
                .any(|limit| reason.eq_ignore_ascii_case(limit));
            if key == "finish_reason" {
                self.finish_reason = Some(reason.to_owned());
            }
        }
        if let Some(Json::Object(delta)) = choice.get("delta") {
            self.take_message(delta, false);
        } else if let Some(Json::Object(message)) = choice.get("message")
            && self.text.is_empty()
            && self.calls.is_empty()
        {
            self.take_message(message, true);
        }
    }

    /// The fields of a delta, or of a whole message.
    fn take_message(&mut self, fields: &[(String, Json)], is_whole: bool) {
        let mut has_reasoning = false;
        for (key, value) in fields {
            match (key.as_str(), value) {
                // Labels of a piece, which mean nothing on a message that is sent back.
                ("role" | "index" | "channel" | "content_filter_results" | "function_call", _) => {}
                ("content", value) => self.take_content(value),
                ("refusal", value) => self.refusal.push(value),
                ("tool_calls", Json::Array(entries)) => self.calls.add(entries, is_whole),
                ("tool_calls", _) => {}
                ("reasoning_content" | "reasoning", value @ (Json::String(_) | Json::Wtf8(_))) => {
                    // A server between two versions sends both, with the same text.
                    if !has_reasoning {
                        self.reasoning.push(value);
                    }
                    has_reasoning |= value.as_str() != Some("");
                    leftover::add(&mut self.leftovers, key, value);
                }
                (_, value) => leftover::add(&mut self.leftovers, key, value),
            }
        }
        if has_reasoning {
            return;
        }
        let details = fields.iter().find(|(key, _)| key == "reasoning_details");
        for detail in details.and_then(|(_, details)| details.as_array()).unwrap_or(&[]) {
            for text in ["text", "summary"].iter().filter_map(|key| detail.get(key)) {
                self.reasoning.push(text);
            }
        }
    }

    /// Content is text, or a list of typed parts.
    fn take_content(&mut self, content: &Json) {
        match content {
            Json::String(piece) => self.pieces.push(piece, &mut self.text, &mut self.reasoning),
            content => self.text.push(content),
        }
        for part in content.as_array().unwrap_or(&[]) {
            match part.get("thinking") {
                Some(Json::Array(thoughts)) => {
                    for text in thoughts.iter().filter_map(|thought| thought.get("text")) {
                        self.reasoning.push(text);
                    }
                }
                Some(thought) => self.reasoning.push(thought),
                None => {
                    if let Some(text) = part.get("text") {
                        self.text.push(text);
                    }
                    if let Some(refusal) = part.get("refusal") {
                        self.refusal.push(refusal);
                    }
                }
            }
        }
    }

    fn finish(mut self, is_done: bool) -> Result<Turn, ModelError> {
        self.pieces.finish(&mut self.text, &mut self.reasoning);
        if self.finish_reason.as_deref() == Some("error") {
            return Err(unnamed_error());
        }
        let refusal = self.refusal.into_text();
        let spent = self.usage.as_ref().and_then(|usage| usage.get("completion_tokens")).and_then(Json::as_u64);
        let has_calls = !self.calls.is_empty();
        // Decided from the calls and from every sign of a cut: the reason alone says `stop` beside calls, and
        // `tool_calls` for a turn that ended at its limit or has none.
        let end = match self.finish_reason.as_deref() {
            _ if self.at_limit => TurnEnd::Length,
            _ if has_calls && self.cap.is_some() && spent == self.cap => TurnEnd::Length,
            None if !is_done => TurnEnd::Truncated,
            Some("aborted" | "insufficient_system_resource") => TurnEnd::Truncated,
            // What the filter took away may belong to a call.
            Some("content_filter") if has_calls => TurnEnd::Truncated,
            _ if has_calls => TurnEnd::ToolCalls,
            Some("content_filter") => TurnEnd::Refusal,
            _ if !refusal.is_empty() => TurnEnd::Refusal,
            None | Some("stop" | "tool_calls" | "function_call" | "end_turn") => TurnEnd::Stop,
            Some(_) => TurnEnd::Other,
        };
        let (calls, call_leftovers) = self.calls.finish(end.is_cut());
        Ok(Turn {
            end,
            finish_reason: self.finish_reason,
            text: self.text.into_text(),
            reasoning: self.reasoning.into_text(),
            refusal,
            calls,
            usage: self.usage,
            extra: TurnExtra {
                binding: self.binding,
                items: Vec::new(),
                message: self.leftovers,
                calls: call_leftovers,
            },
        })
    }
}
