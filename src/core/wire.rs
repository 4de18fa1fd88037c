//! Wire formats: a history item → request bytes; stream bytes → a [`Turn`](super::message::Turn).
//!
//! **Architecture invariant.** A wire knows messages and JSON, never the run: the shell's driver joins the two.

pub mod anthropic;
mod body;
mod fault;
pub mod gemini;
mod intake;
mod leftover;
mod names;
pub mod openai_chat;
pub mod openai_responses;

pub use fault::{RetryHints, http_error, wait_ms};
pub use names::restore_names;

use super::message::{HistoryItem, ModelError, ToolSpec, Turn};
use anthropic::Anthropic;
use gemini::Gemini;
use openai_chat::OpenAiChat;
use openai_responses::OpenAiResponses;

/// One endpoint and model, whatever it speaks. A request body is [`head`](Self::head), each history item by
/// [`item`](Self::item), [`tail`](Self::tail).
#[derive(Clone, Debug)]
pub enum Wire {
    /// OpenAI Chat Completions.
    OpenAiChat(OpenAiChat),
    /// OpenAI Responses.
    OpenAiResponses(OpenAiResponses),
    /// Anthropic Messages.
    Anthropic(Anthropic),
    /// Gemini.
    Gemini(Gemini),
}

impl Wire {
    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        match self {
            Self::OpenAiChat(wire) => wire.head(opening),
            Self::OpenAiResponses(wire) => wire.head(opening),
            Self::Anthropic(wire) => wire.head(opening),
            Self::Gemini(wire) => wire.head(opening),
        }
    }

    /// One history item, to stand behind the head or behind the items `before` it. Its bytes depend on nothing that comes
    /// later: what a provider has cached stays cached.
    pub fn item(&self, item: &HistoryItem, before: &[HistoryItem]) -> Vec<u8> {
        let previous = before.last();
        match self {
            Self::OpenAiChat(wire) => wire.item(item, previous),
            Self::OpenAiResponses(wire) => wire.item(item, before),
            Self::Anthropic(wire) => wire.item(item, previous),
            Self::Gemini(wire) => wire.item(item, before),
        }
    }

    /// What closes the body behind the `last` item, with a note of the host, if there is one.
    pub fn tail(&self, last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        match self {
            Self::OpenAiChat(wire) => wire.tail(last, note),
            Self::OpenAiResponses(wire) => wire.tail(last, note),
            Self::Anthropic(wire) => wire.tail(last, note),
            Self::Gemini(wire) => wire.tail(last, note),
        }
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        match self {
            Self::OpenAiChat(wire) => Reducer::OpenAiChat(wire.reducer()),
            Self::OpenAiResponses(wire) => Reducer::OpenAiResponses(wire.reducer()),
            Self::Anthropic(wire) => Reducer::Anthropic(wire.reducer()),
            Self::Gemini(wire) => Reducer::Gemini(wire.reducer()),
        }
    }
}

/// Reads one response. Nothing of it may be acted on before [`finish`](Self::finish).
#[derive(Clone, Debug, PartialEq)]
pub enum Reducer {
    /// OpenAI Chat Completions.
    OpenAiChat(openai_chat::Reducer),
    /// OpenAI Responses.
    OpenAiResponses(openai_responses::Reducer),
    /// Anthropic Messages.
    Anthropic(anthropic::Reducer),
    /// Gemini.
    Gemini(gemini::Reducer),
}

impl Reducer {
    /// Takes the next bytes of the body, cut anywhere, and gives what they add for display.
    pub fn feed(&mut self, bytes: &[u8]) -> Delta {
        match self {
            Self::OpenAiChat(reducer) => reducer.feed(bytes),
            Self::OpenAiResponses(reducer) => reducer.feed(bytes),
            Self::Anthropic(reducer) => reducer.feed(bytes),
            Self::Gemini(reducer) => reducer.feed(bytes),
        }
    }

    /// Whether the rest of the body can only be silence.
    pub const fn is_done(&self) -> bool {
        match self {
            Self::OpenAiChat(reducer) => reducer.is_done(),
            Self::OpenAiResponses(reducer) => reducer.is_done(),
            Self::Anthropic(reducer) => reducer.is_done(),
            Self::Gemini(reducer) => reducer.is_done(),
        }
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(self) -> Result<Turn, ModelError> {
        match self {
            Self::OpenAiChat(reducer) => reducer.finish(),
            Self::OpenAiResponses(reducer) => reducer.finish(),
            Self::Anthropic(reducer) => reducer.finish(),
            Self::Gemini(reducer) => reducer.finish(),
        }
    }
}

/// What stands at the beginning of a request, before the history.
#[derive(Clone, Copy, Debug)]
pub struct Opening<'a> {
    /// The host's instructions to the model.
    pub instructions: Option<&'a str>,
    /// The tools on offer.
    pub tools: &'a [ToolSpec],
    /// Off for a closing request: the tools stay defined, since the history has calls of them, but none may be called.
    pub allow_tools: bool,
}

/// What a piece of a stream added, for display.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Delta {
    /// New text of the answer.
    pub text: String,
    /// New reasoning.
    pub reasoning: String,
}
