//! Names as servers take them, in a history and in the tools on offer. What a server refuses once it refuses in every later
//! request, so nothing that a model made up goes back unseen.
//!
//! Both maps are functions of what they are given alone: a call and its result, and a tool and its calls, always agree.

use super::super::json::{Json, parse_lenient, parse_strict};
use super::super::message::{CallId, ToolSpec, Turn};
use sha2::{Digest, Sha256};

/// The most characters of a tool's name.
const NAME_LENGTH: usize = 64;
/// How many of them tell apart the names that no server would take.
const MARK_LENGTH: usize = 8;
/// How many letters and digits Mistral wants in an id.
const SHORT_LENGTH: usize = 9;
/// Fills short ids up. None of ours ends in it.
const FILL: char = 'z';

/// Google's word for a call that another model made. From version 3 on, calls need a signature.
pub(super) const NO_SIGNATURE: &str = "skip_thought_signature_validator";

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

/// Our id of a call as Mistral takes it: nine letters and digits. A shorter one is filled up, which can be read back; a
/// longer one, from the hundredth run on, is hashed.
pub(super) fn nine_character_id(id: &CallId) -> String {
    let id = id.as_str();
    if id.len() > SHORT_LENGTH || id.ends_with(FILL) || !id.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return hashed(id, 36, SHORT_LENGTH);
    }
    let mut filled = id.to_owned();
    while filled.len() < SHORT_LENGTH {
        filled.push(FILL);
    }
    filled
}

fn hashed(id: &str, base: u32, length: usize) -> String {
    let hash = Sha256::digest(id.as_bytes());
    hash.iter().take(length).filter_map(|byte| char::from_digit(u32::from(*byte) % base, base)).collect()
}

/// A tool's name as every server takes it: a letter, then letters, digits, `-` and `_`, 64 in all. Any other is made one
/// and marked by its own hash, so that a name which a model made up neither becomes another's nor that of a tool on offer.
pub(super) fn wire_name(name: &str) -> String {
    // Behind `<|` a model's chat template has leaked into the name.
    let end = name.as_bytes().windows(2).position(|bytes| bytes == b"<|");
    let name = end.and_then(|end| name.get(..end)).unwrap_or(name);
    let is_plain = |char: char| char.is_ascii_alphanumeric() || matches!(char, '-' | '_');
    let begins = name.starts_with(|char: char| char.is_ascii_alphabetic());
    if begins && name.len() <= NAME_LENGTH && name.chars().all(is_plain) {
        return name.to_owned();
    }
    let mut sent = String::from(if begins { "" } else { "tool_" });
    let left = NAME_LENGTH - MARK_LENGTH - 1 - sent.len();
    sent.extend(name.chars().take(left).map(|char| if is_plain(char) { char } else { '_' }));
    sent.push('_');
    sent.push_str(&hashed(name, 36, MARK_LENGTH));
    sent
}

/// Gives the calls of a turn the names of the tools they are for, where [`wire_name`] had to change these.
pub fn restore_names(turn: &mut Turn, tools: &[ToolSpec]) {
    for tool in tools {
        let sent = wire_name(&tool.name);
        if sent != tool.name {
            for call in turn.calls.iter_mut().filter(|call| call.name == sent) {
                call.name.clone_from(&tool.name);
            }
        }
    }
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
