//! Until when a request waits, and how much longer it may.

use super::super::approval::Request;
use super::super::log::CallState;

/// The least that an extension gives of a time that a tool set, in milliseconds: it may have set a short one.
const LEAST: u64 = 5 * 60_000;

/// Until when a request waits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Deadline {
    /// When it lapses, in milliseconds since the epoch.
    pub at: u64,
    /// When it would lapse if it was given as much time again.
    pub extended: u64,
}

impl Deadline {
    /// `None` for a request that waits for ever. `time` is what the host gives each request.
    pub fn of(request: &Request, state: &CallState, time: Option<u64>) -> Option<Self> {
        let at = request.expires_at?;
        let given = state.time_given.unwrap_or_default();
        let again = match time {
            Some(time) if time == given || !state.is_raised => time,
            _ => given.max(LEAST),
        };
        Some(Self { at, extended: at.saturating_add(again) })
    }
}
