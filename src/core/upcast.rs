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
        ("tool.call.asked", 1) => Some(asked_from_1),
        ("tool.call.decided", 1) => Some(decided_from_1),
        ("tool.call.decided", 2) => Some(decided_from_2),
        ("tool.call.decided", 3) => Some(decided_from_3),
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
    with_nulls(event, 2, &["result_item", "decided_by", "reason", "approved"])
}

/// Version 1 is from before tools could ask for something.
fn asked_from_1(event: Json) -> Json {
    with_nulls(event, 2, &["url", "data"])
}

/// Version 1 is from before anybody but a person settled requests, and from before answers had data.
fn decided_from_1(event: Json) -> Json {
    with_nulls(event, 2, &["settler", "answer_reason", "data"])
}

/// Version 2 is from before a person could change the arguments of what they approved. A build that reads no further
/// would run the model's arguments where others were approved: so it must not read version 3.
fn decided_from_2(event: Json) -> Json {
    with_nulls(event, 3, &["edited", "edit"])
}

/// Version 3 is from before a tool could be told of a no. A build that reads no further would take its call for declined
/// and refuse what the tool then made of it: so it must not read version 4.
fn decided_from_3(event: Json) -> Json {
    with_nulls(event, 4, &["relayed"])
}

/// The event at `version`, with an explicit null in each of these members that it does not have.
fn with_nulls(event: Json, version: u64, keys: &[&str]) -> Json {
    let Json::Object(mut members) = event else { return event };
    for key in keys.iter().copied() {
        if !members.iter().any(|(name, _)| name == key) {
            members.push((key.to_owned(), Json::Null));
        }
    }
    // Readers take the last member of a name.
    match members.iter_mut().rev().find(|(name, _)| name == "v") {
        Some((_, old)) => *old = Json::from(version),
        None => members.push(("v".to_owned(), Json::from(version))),
    }
    Json::Object(members)
}
