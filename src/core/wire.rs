//! Wire formats: a history item → request bytes; stream bytes → a [`Turn`](super::message::Turn).
//!
//! **Architecture invariant.** A wire knows messages and JSON, never the run: the shell's driver joins the two.

#[cfg(feature = "anthropic")]
pub mod anthropic;
mod body;
mod fault;
#[cfg(feature = "gemini")]
pub mod gemini;
mod intake;
mod leftover;
mod names;
pub mod openai_chat;
#[cfg(feature = "responses")]
pub mod openai_responses;

pub use fault::{RetryHints, http_error, wait_ms};
pub use names::restore_names;

use super::message::{HistoryItem, ModelError, ToolSpec, Turn};

/// Has the same done by whatever variant it is.
macro_rules! each {
    ($of:expr, $it:ident => $done:expr) => {
        match $of {
            Self::OpenAiChat($it) => $done,
            #[cfg(feature = "responses")]
            Self::OpenAiResponses($it) => $done,
            #[cfg(feature = "anthropic")]
            Self::Anthropic($it) => $done,
            #[cfg(feature = "gemini")]
            Self::Gemini($it) => $done,
        }
    };
}

/// One endpoint and model, whatever it speaks. A request body is [`head`](Self::head), each history item by
/// [`item`](Self::item), [`tail`](Self::tail).
#[derive(Clone, Debug)]
pub enum Wire {
    /// OpenAI Chat Completions.
    OpenAiChat(openai_chat::OpenAiChat),
    /// OpenAI Responses.
    #[cfg(feature = "responses")]
    OpenAiResponses(openai_responses::OpenAiResponses),
    /// Anthropic Messages.
    #[cfg(feature = "anthropic")]
    Anthropic(anthropic::Anthropic),
    /// Gemini.
    #[cfg(feature = "gemini")]
    Gemini(gemini::Gemini),
}

impl Wire {
    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        each!(self, wire => wire.head(opening))
    }

    /// One history item, to stand behind the head or behind the items `before` it. Its bytes depend on nothing that comes
    /// later: what a provider has cached stays cached.
    pub fn item(&self, item: &HistoryItem, before: &[HistoryItem]) -> Vec<u8> {
        let previous = before.last();
        match self {
            Self::OpenAiChat(wire) => wire.item(item, previous),
            #[cfg(feature = "responses")]
            Self::OpenAiResponses(wire) => wire.item(item, before),
            #[cfg(feature = "anthropic")]
            Self::Anthropic(wire) => wire.item(item, previous),
            #[cfg(feature = "gemini")]
            Self::Gemini(wire) => wire.item(item, before),
        }
    }

    /// What closes the body behind the `last` item, with a note of the host, if there is one.
    pub fn tail(&self, last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        each!(self, wire => wire.tail(last, note))
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        match self {
            Self::OpenAiChat(wire) => Reducer::OpenAiChat(wire.reducer()),
            #[cfg(feature = "responses")]
            Self::OpenAiResponses(wire) => Reducer::OpenAiResponses(wire.reducer()),
            #[cfg(feature = "anthropic")]
            Self::Anthropic(wire) => Reducer::Anthropic(wire.reducer()),
            #[cfg(feature = "gemini")]
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
    #[cfg(feature = "responses")]
    OpenAiResponses(openai_responses::Reducer),
    /// Anthropic Messages.
    #[cfg(feature = "anthropic")]
    Anthropic(anthropic::Reducer),
    /// Gemini.
    #[cfg(feature = "gemini")]
    Gemini(gemini::Reducer),
}

impl Reducer {
    /// Takes the next bytes of the body, cut anywhere, and gives what they add for display.
    pub fn feed(&mut self, bytes: &[u8]) -> Delta {
        each!(self, reducer => reducer.feed(bytes))
    }

    /// Whether the rest of the body can only be silence.
    pub const fn is_done(&self) -> bool {
        each!(self, reducer => reducer.is_done())
    }

    /// The body has ended: the turn, or why there is none.
    pub fn finish(self) -> Result<Turn, ModelError> {
        each!(self, reducer => reducer.finish())
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
