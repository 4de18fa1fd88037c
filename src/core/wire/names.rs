//! Names as servers take them in a history. What a server refuses once it refuses in every later request, so nothing that
//! a model made up goes back unseen.

use super::super::json::{Json, parse_lenient, parse_strict};
use super::super::message::CallId;
use sha2::{Digest, Sha256};

/// Our id of a call as servers take it: up to 40 letters, digits, `-` and `_`. Any other id is hashed, the same way in the
/// call and in its result.
pub(super) fn wire_id(id: &CallId) -> String {
    let id = id.as_str();
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    if !id.is_empty() && id.len() <= 40 && id.bytes().all(is_plain) {
        return id.to_owned();
    }
    hashed(id, 16, 32)
}

/// Our id of a call as Mistral takes it: nine letters and digits.
pub(super) fn nine_character_id(id: &CallId) -> String {
    hashed(id.as_str(), 36, 9)
}

fn hashed(id: &str, base: u32, length: usize) -> String {
    let hash = Sha256::digest(id.as_bytes());
    hash.iter().take(length).filter_map(|byte| char::from_digit(u32::from(*byte) % base, base)).collect()
}

/// A call's name in a history: up to 64 letters, digits, `-`, `_` and those of `signs`.
pub(super) fn wire_name(name: &str, signs: &str) -> String {
    // Behind `<|` a model's chat template has leaked into the name.
    let end = name.as_bytes().windows(2).position(|bytes| bytes == b"<|");
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    let is_plain = |char: char| char.is_ascii_alphanumeric() || char == '-' || signs.contains(char);
    let name: String = name.chars().take(64).map(|char| if is_plain(char) { char } else { '_' }).collect();
    if name.is_empty() { String::from("unknown") } else { name }
}

/// A call's arguments in a history: a valid object. One that only a strict reader refuses is written anew, without halves
/// of characters; anything else becomes `{}`, its result tells what was wrong with it.
pub(super) fn wire_arguments(text: &str) -> String {
    match parse_strict(text) {
        Ok(Json::Object(_)) => return text.to_owned(),
        Ok(Json::String(inner)) if matches!(parse_strict(&inner), Ok(Json::Object(_))) => return inner,
        _ => {}
    }
    match parse_lenient(text.as_bytes()) {
        Ok(object @ Json::Object(_)) => object.text(),
        _ => String::from("{}"),
    }
}
