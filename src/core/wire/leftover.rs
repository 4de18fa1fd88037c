//! Fields this build does not interpret, put together from their deltas so that they can go back as they came.

use super::super::json::Json;

/// Fields whose text streams in pieces. Any other string is a label or a signature and comes whole.
const PIECEWISE: [&str; 6] = ["reasoning_content", "reasoning", "thinking", "thought", "text", "summary"];

/// Adds what a delta says about a field. Nulls and empty values say nothing.
pub(super) fn add(fields: &mut Vec<(String, Json)>, key: &str, value: &Json) {
    let is_empty = match value {
        Json::Null => true,
        Json::String(text) => text.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::Object(members) => members.is_empty(),
        _ => false,
    };
    if is_empty {
        return;
    }
    match fields.iter_mut().find(|(name, _)| name == key) {
        Some((_, known)) => merge(known, key, value),
        None => fields.push((key.to_owned(), value.clone())),
    }
}

fn merge(known: &mut Json, key: &str, value: &Json) {
    match (known, value) {
        (Json::Array(known), Json::Array(items)) => {
            for item in items {
                match known.last_mut() {
                    Some(Json::Object(last)) if continues(last, item) => {
                        for (key, value) in item.as_object().unwrap_or(&[]) {
                            add(last, key, value);
                        }
                    }
                    _ => known.push(item.clone()),
                }
            }
        }
        (Json::Object(known), Json::Object(members)) => {
            for (key, value) in members {
                add(known, key, value);
            }
        }
        (known @ (Json::String(_) | Json::Wtf8(_)), Json::String(_) | Json::Wtf8(_)) if PIECEWISE.contains(&key) => {
            join(known, value)
        }
        (known, value) => *known = value.clone(),
    }
}

/// Appends to a text; two that are not both texts stay as they are. Halves of characters find each other at the end.
pub(super) fn join(known: &mut Json, piece: &Json) {
    match (&mut *known, piece) {
        (Json::String(known), Json::String(piece)) => known.push_str(piece),
        (Json::String(_) | Json::Wtf8(_), Json::String(_) | Json::Wtf8(_)) => {
            let mut joined = match std::mem::replace(known, Json::Null) {
                Json::String(text) => text.into_bytes(),
                Json::Wtf8(bytes) => bytes,
                _ => Vec::new(),
            };
            joined.extend_from_slice(match piece {
                Json::String(piece) => piece.as_bytes(),
                Json::Wtf8(piece) => piece,
                _ => &[],
            });
            *known = Json::Wtf8(joined);
        }
        _ => {}
    }
}

/// Takes in newer counts: each is a total so far, and the last one holds.
#[cfg(any(feature = "anthropic", feature = "gemini"))]
pub(super) fn keep_last(fields: &mut Vec<(String, Json)>, newer: &Json) {
    for (key, value) in newer.as_object().unwrap_or(&[]).iter().filter(|(_, value)| !value.is_null()) {
        match fields.iter_mut().find(|(name, _)| name == key) {
            Some((_, known)) => *known = value.clone(),
            None => fields.push((key.clone(), value.clone())),
        }
    }
}

/// Whether an element of a list is the next piece of the last one, as `reasoning_details` stream: same index, same type,
/// not another id. An element with encrypted data is whole.
fn continues(last: &[(String, Json)], item: &Json) -> bool {
    let of_last = |key| last.iter().find(|(name, _)| name == key).map(|(_, value)| value);
    item.get("index").is_some_and(|index| !index.is_null() && of_last("index") == Some(index))
        && of_last("type") == item.get("type")
        && of_last("data").or(item.get("data")).is_none()
        && match (of_last("id").and_then(Json::as_str), item.get("id").and_then(Json::as_str)) {
            (Some(last), Some(id)) => last == id,
            _ => true,
        }
}
