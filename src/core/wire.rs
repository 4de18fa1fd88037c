//! Wire formats: a history item → request bytes; stream bytes → a [`Turn`](super::message::Turn).
//!
//! **Architecture invariant.** A wire knows messages and JSON, never the run: the shell's driver joins the two.

mod body;
mod fault;
mod leftover;
pub mod openai_chat;

pub use fault::{RetryHints, http_error, wait_ms};

use super::message::ToolSpec;

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
