//! The browser shell.

pub mod card;
pub mod guard;
