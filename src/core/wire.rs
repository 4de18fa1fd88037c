//! Wire formats: a history item → request bytes; stream bytes → a [`Turn`](super::message::Turn).
//!
//! **Architecture invariant.** A wire knows messages and JSON, never the run: the shell's driver joins the two.

pub mod openai_chat;
