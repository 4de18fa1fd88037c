//! What waits for a person: the request, and the digest that binds it to one call.

use sha2::{Digest as _, Sha256};

use super::message::{CallId, ChatId, RequestId, RunId};
use super::policy::ToolEffect;

/// SHA-256 in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest(String);

impl Digest {
    /// Hashes the fields, each prefixed by its length in bytes (64 bits, big endian), so that no two lists of
    /// fields give the same input.
    pub fn of(domain: &str, fields: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for field in std::iter::once(&domain).chain(fields) {
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field.as_bytes());
        }
        let mut hex = String::with_capacity(64);
        for byte in hasher.finalize() {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('?'));
            }
        }
        Self(hex)
    }

    /// Takes a digest read from the log.
    pub fn from_stored(hex: &str) -> Self {
        Self(hex.to_owned())
    }

    /// The hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tool as the host registered it: what the model is offered and what a person is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The name the model calls it by: 1 to 64 of `a-z A-Z 0-9 _ -`.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: super::json::Json,
    /// What it declares to do; `None` counts as a write.
    pub effect: Option<ToolEffect>,
}

impl Tool {
    /// Hash of everything a person's consent to this tool rests on.
    pub fn definition_hash(&self) -> Digest {
        Digest::of(
            "countersign/tool/1",
            &[
                &self.name,
                self.title.as_deref().unwrap_or_default(),
                &self.description,
                &self.input_schema.text(),
                self.effect.map_or("", ToolEffect::token),
            ],
        )
    }
}

/// Where a call stands: the chat, the run and our id of it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The chat.
    pub chat: &'a ChatId,
    /// The run.
    pub run: &'a RunId,
    /// The call.
    pub call: &'a CallId,
}

/// The digest of one call: consent to it covers exactly these bytes of arguments, this tool and this place.
pub fn call_digest(place: Place<'_>, tool: &Tool, arguments: &str) -> Digest {
    Digest::of(
        "countersign/call/1",
        &[
            place.chat.as_str(),
            place.run.as_str(),
            place.call.as_str(),
            &tool.name,
            tool.definition_hash().as_str(),
            arguments,
        ],
    )
}

/// A call that waits for a person.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Random, 128 bits.
    pub id: RequestId,
    /// The call it stands in front of.
    pub call: CallId,
    /// Why it stopped: the reason of the rule or of the default.
    pub prompt: String,
    /// What the decision will cover.
    pub digest: Digest,
    /// When it lapses, in milliseconds since the epoch; `None` for never.
    pub expires_at: Option<u64>,
}
