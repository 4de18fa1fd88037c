//! Upcasters: how an event of an old version reads as one of the next.
//!
//! One per type and version, each a pure, total function on the event's JSON. What the old version never recorded becomes
//! an explicit null, never an invented value. Stored lines stay as they are: this happens at every reading.

use super::json::Json;

/// Brings an event one version further.
pub type Upcaster = fn(Json) -> Json;

/// The upcaster of a type from that version to the next.
pub fn upcaster(kind: &str, from: u64) -> Option<Upcaster> {
    match (kind, from) {
        ("tool.call.denied", 1) => Some(denied_from_1),
        _ => None,
    }
}

/// An event of version `from` as one of version `to`, step by step.
pub fn upcast(kind: &str, from: u64, to: u64, event: Json) -> Json {
    (from..to).fold(event, |event, version| match upcaster(kind, version) {
        Some(step) => step(event),
        None => event,
    })
}

/// Version 1 recorded the item that the model read for refusals only, its reason codes are free texts, and it never
/// recorded who decided, for which reason, or whether the call had been approved.
fn denied_from_1(event: Json) -> Json {
    let Json::Object(mut members) = event else { return event };
    for key in ["result_item", "decided_by", "reason", "approved"] {
        if !members.iter().any(|(name, _)| name == key) {
            members.push((key.to_owned(), Json::Null));
        }
    }
    // Readers take the last member of a name.
    match members.iter_mut().rev().find(|(name, _)| name == "v") {
        Some((_, version)) => *version = Json::from(2),
        None => members.push(("v".to_owned(), Json::from(2))),
    }
    Json::Object(members)
}
