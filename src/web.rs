//! The browser shell: a thin layer that carries out what the core decides.
//!
//! **Architecture invariant.** No user code is called and nothing is awaited while a `RefCell` is borrowed. The shell
//! uses the core, never the reverse; only the driver knows both the run and a wire.

mod agent;
mod approvals;
pub mod card;
mod driver;
mod element;
mod error;
mod fetch;
pub mod guard;
mod host;
mod platform;
mod setup;
mod value;

pub use agent::{RawAgent, RawChat, install, verify_log};
pub use approvals::RawApprovals;
pub use host::{Host, pattern_matches};
