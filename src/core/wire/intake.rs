//! A response body on its way into a turn: what no format does differently.
//!
//! Bytes become events or a document, both become JSON, and the format takes the values. Errors of the transport, of the
//! framing and of the JSON are told apart here.

use super::super::json::{Json, JsonError, JsonErrorKind, parse_lenient, parse_prefix};
use super::super::message::{ModelError, ModelErrorClass};
use super::super::sse::Event;
use super::body::Body;
use super::fault;

const DONE: &[u8] = b"[DONE]";

/// What a format makes of the values of a body.
pub(super) trait Collect {
    /// Takes one object: an event of the stream, which may have a name, or a document that was sent instead of a stream.
    fn take(&mut self, name: &str, value: &Json, is_document: bool, state: &mut State);
}

/// How far a body has come.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// Something of this format has arrived.
    pub(super) has_events: bool,
    /// What has arrived is an answer, if only the beginning of one.
    pub(super) has_answer: bool,
    /// The server said that the answer is complete.
    pub(super) is_done: bool,
    pub(super) error: Option<ModelError>,
}

/// Reads one body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Intake {
    body: Body,
    state: State,
}

impl Intake {
    pub(super) fn new() -> Self {
        Self { body: Body::new(), state: State::default() }
    }

    /// Whether the rest of the body can only be silence: close it, some servers keep it open.
    pub(super) const fn is_over(&self) -> bool {
        self.state.is_over()
    }

    /// Takes the next bytes, cut anywhere.
    pub(super) fn feed(&mut self, bytes: &[u8], turn: &mut dyn Collect) {
        let state = &mut self.state;
        if state.is_over() {
            return;
        }
        if self.body.feed(bytes, &mut |event| state.take_event(event, turn)).is_err() {
            let message = "The server sent an event of more than 16 MiB, which no model answer is.";
            state.error.get_or_insert(ModelError::new(ModelErrorClass::BadResponse, message));
        }
        if let Body::Json(document) = &self.body
            && document.trim_ascii_end().ends_with(DONE)
            && let Ok((_, end)) = parse_prefix(document)
        {
            // The connection may stay open behind it. Inside a text the marker ends nothing.
            state.is_done = is_marker(document.get(end..).unwrap_or(&[]));
        }
    }

    /// The body has ended. Gives whether the server had said so, or why there is no answer; `answer` is what it should
    /// have been.
    pub(super) fn finish(self, answer: &str, turn: &mut dyn Collect) -> Result<bool, ModelError> {
        let mut state = self.state;
        let mut seen = String::from("The server's answer was empty.");
        match self.body {
            Body::Blank(_) => {}
            Body::Events { mut decoder, excerpt } => {
                decoder.finish(&mut |event| state.take_event(event, turn));
                if !state.has_events {
                    seen = String::from("The server's answer is no model answer. It begins: ");
                    let excerpt = String::from_utf8_lossy(excerpt.get(..400).unwrap_or(&excerpt));
                    seen.push_str(&fault::sentence(&excerpt));
                }
            }
            Body::Html(page) => {
                seen = String::from("The server sent ");
                fault::push_page(&page, &mut seen);
                seen.push_str(" instead of a model's answer. Check the base URL.");
            }
            Body::Json(document) => {
                state.take_document(&document, turn);
                seen = ["The server sent JSON that is no ", answer, "."].concat();
            }
        }
        match state.error {
            Some(error) => Err(error),
            None if !state.has_events || state.is_done && !state.has_answer => {
                Err(ModelError::new(ModelErrorClass::BadResponse, seen))
            }
            None => Ok(state.is_done),
        }
    }
}

/// The error of an answer that ended with one and did not say which.
pub(super) fn unnamed_error() -> ModelError {
    let message = "The provider ended its answer with an error and did not say which.";
    ModelError::new(ModelErrorClass::Provider, message)
}

fn unreadable(what: &str, error: &JsonError) -> ModelError {
    ModelError::new(ModelErrorClass::BadResponse, [what, &error.text(), "."].concat())
}

/// Whether the end marker comes next, as an event or bare.
fn is_marker(rest: &[u8]) -> bool {
    let rest = rest.trim_ascii_start();
    rest.strip_prefix(b"data:").unwrap_or(rest).trim_ascii_start().starts_with(DONE)
}

impl State {
    const fn is_over(&self) -> bool {
        self.is_done || self.error.is_some()
    }

    fn take_event(&mut self, event: Event<'_>, turn: &mut dyn Collect) {
        let data = event.data.trim_ascii();
        if self.is_over() || data.is_empty() {
            return;
        }
        if data == DONE {
            self.is_done = true;
            self.has_events = true;
            return;
        }
        let is_error = event.name == "error";
        match parse_lenient(data) {
            Ok(value) if is_error => self.error = Some(fault::from_json(&value, None)),
            Ok(value) => self.take_value(event.name, &value, false, turn),
            // The connection broke off inside the event.
            Err(_) if !event.is_closed => self.has_events = true,
            Err(_) if is_error => {
                self.error = Some(fault::described(None, "", String::from_utf8_lossy(data).into_owned()));
            }
            Err(error) => {
                // A proxy may have written its error behind an event that was not finished.
                let glued = data.windows(9).rposition(|bytes| bytes == b"{\"error\":").and_then(|at| data.get(at..));
                self.error = Some(match glued.and_then(|glued| parse_lenient(glued).ok()) {
                    Some(value) => fault::from_json(&value, None),
                    None => unreadable("The server sent an event that is not JSON: ", &error),
                });
            }
        }
    }

    /// Hands over an object, or those of a list, up to the first error.
    fn take_value(&mut self, name: &str, value: &Json, is_document: bool, turn: &mut dyn Collect) {
        match value {
            Json::Array(items) => items.iter().for_each(|item| self.take_value(name, item, is_document, turn)),
            Json::Object(_) if self.error.is_none() => turn.take(name, value, is_document, self),
            _ => {}
        }
    }

    /// Takes a body that is JSON instead of a stream, and whatever follows it.
    fn take_document(&mut self, document: &[u8], turn: &mut dyn Collect) {
        let mut rest = document.trim_ascii();
        while matches!(rest.first(), Some(b'{' | b'[')) && !is_marker(rest) {
            match parse_prefix(rest) {
                Ok((value, end)) => {
                    self.take_value("", &value, true, turn);
                    rest = rest.get(end..).unwrap_or(&[]).trim_ascii_start();
                }
                Err(error) => {
                    let mut failure = unreadable("The server's JSON answer cannot be read: ", &error);
                    failure.retryable = error.kind == JsonErrorKind::UnexpectedEnd;
                    self.error.get_or_insert(failure);
                    return;
                }
            }
        }
        self.is_done = true;
    }
}
