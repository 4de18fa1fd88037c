//! The arguments of a tool call: their exact text, and one fallible way to get them.
//!
//! The card shows this text, the digest covers this text, and the tool gets this text through the platform's
//! `JSON.parse`. What JavaScript would read as something else is refused before a card exists.

use super::json::{self, Json};

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
            return Ok(Self { text: inner.clone(), value: object });
        }
        match value {
            Json::Object(_) => Ok(Self { text: text.to_owned(), value }),
            _ => Err("the arguments must be one JSON object".to_owned()),
        }
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
