//! The arguments of a tool call: their exact text, and one fallible way to get them.
//!
//! The card shows this text, the digest covers this text, and the tool gets this text through the platform's
//! `JSON.parse`. What JavaScript would read as something else is refused before a card exists.

use super::json::{self, Json};

/// The most bytes of all keys on the way to a value.
const MAX_PATH: usize = 1_000;

/// Arguments that can be shown and run faithfully.
#[derive(Clone, Debug, PartialEq)]
pub struct Arguments {
    text: String,
    value: Json,
}

impl Arguments {
    /// Reads the collected text of a call. The error is one sentence that tells the model what is wrong, with the
    /// position.
    pub fn new(text: &str) -> Result<Self, String> {
        let value = json::parse_strict(text).map_err(|error| error.text())?;
        // Some servers encode the object twice. Only a string that holds a whole object is read again.
        if let Json::String(inner) = &value
            && let Ok(object @ Json::Object(_)) = json::parse_strict(inner)
        {
            return Self::checked(inner, object);
        }
        match value {
            Json::Object(_) => Self::checked(text, value),
            _ => Err("the arguments must be one JSON object".to_owned()),
        }
    }

    /// Where names are longer than anybody reads, every value below them would carry all of them.
    fn checked(text: &str, value: Json) -> Result<Self, String> {
        if longest_path(&value) > MAX_PATH {
            return Err(
                "the keys on the way to a value are longer than 1000 bytes together; use shorter ones".to_owned()
            );
        }
        Ok(Self { text: text.to_owned(), value })
    }

    /// The exact text.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The parsed value; always an object.
    pub const fn value(&self) -> &Json {
        &self.value
    }
}

fn longest_path(value: &Json) -> usize {
    match value {
        Json::Object(fields) => fields.iter().map(|(key, field)| key.len() + longest_path(field)).max().unwrap_or(0),
        Json::Array(items) => items.iter().map(longest_path).max().unwrap_or(0),
        _ => 0,
    }
}
