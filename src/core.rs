//! The decision core: inputs in, effects out.
//!
//! Modules stand in the order of the data's trip: bytes → turn → verdict → card → decision → result →
//! bytes.
//!
//! **Architecture invariant.** Nothing below this module knows a clock, randomness, the DOM, promises or
//! JavaScript values. Time, ids and random bytes are arguments. `tests/tidy.rs` holds the arrows
//! between the modules.
#![forbid(unsafe_code)]

pub mod json;
pub mod message;
pub mod sse;
pub mod wire;

pub mod arguments;
pub mod outcome;
pub mod wording;

pub mod policy;

pub mod approval;
pub mod event;
pub mod grant;

pub mod chain;
pub mod guard;
pub mod log;
pub mod run;
pub mod upcast;

pub mod card;
pub mod snapshot;
