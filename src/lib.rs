//! countersign: human approval in browser chat.
//!
//! A chat page lets a model call tools; some calls must not run until a person agrees. This crate
//! runs that loop inside the page and tells the model the truth about every call that did not run.
//!
//! [`core`] decides and knows no browser: no clock, no randomness, no DOM, no promise, no JavaScript
//! value. It builds and is tested natively. The `web` module, compiled for wasm32 only, is the thin shell
//! around it: fetch, storage, the approval card and the JavaScript exports.
#![cfg_attr(test, allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing))]

pub mod core;
#[cfg(target_arch = "wasm32")]
pub mod web;

#[cfg(all(target_arch = "wasm32", feature = "small-allocator"))]
#[global_allocator]
static ALLOCATOR: rlsf::SmallGlobalTlsf = rlsf::SmallGlobalTlsf::new();
