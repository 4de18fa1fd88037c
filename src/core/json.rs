//! JSON values, read with the two degrees of trust this program needs.
//!
//! What a provider streams is read leniently ([`parse_lenient`]): half an emoji or a stray byte must not cost a
//! turn. What a model wrote as a call's arguments is read strictly ([`parse_strict`]): a person approves what a
//! card shows, so everything that two readers could understand differently is refused with its position.
//!
//! Numbers keep their exact source text and objects keep their order, so that a signed or cached value goes back
//! byte for byte.

mod number;
mod read;
mod text;
mod writer;

pub use number::{shown as shown_number, whole as read_whole, write as write_number};
pub use read::{
    JsonError, JsonErrorKind, MAX_DEPTH, MAX_ITEMS, MAX_STRICT_BYTES, parse_lenient, parse_prefix, parse_strict,
};
pub use text::{JoinedText, cut};
pub use writer::Writer;

/// A JSON value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Json {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number as its exact source text. Only [`parse_lenient`], [`parse_strict`] and the `From` conversions make
    /// valid ones; [`Json::write`] writes the text as it is.
    Number(String),
    /// A string.
    String(String),
    /// A string with unpaired surrogates, in WTF-8. Lenient reads alone give it, so that the halves of a character
    /// which a server split over two deltas can be joined again: see [`JoinedText`].
    Wtf8(Vec<u8>),
    /// An array.
    Array(Vec<Json>),
    /// An object: its members in source order. A lenient read keeps duplicate keys; [`Json::get`] gives the last.
    Object(Vec<(String, Json)>),
}

impl Json {
    /// The member of that key, the last one where the key occurs twice, as in JavaScript.
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.as_object()?.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The text of a well-formed string.
    pub fn as_str(&self) -> Option<&str> {
        match self {
            Self::String(text) => Some(text),
            _ => None,
        }
    }

    /// The elements of an array.
    pub fn as_array(&self) -> Option<&[Json]> {
        match self {
            Self::Array(items) => Some(items),
            _ => None,
        }
    }

    /// The members of an object, in source order.
    pub fn as_object(&self) -> Option<&[(String, Json)]> {
        match self {
            Self::Object(members) => Some(members),
            _ => None,
        }
    }

    /// The value of a boolean.
    pub fn as_bool(&self) -> Option<bool> {
        match self {
            Self::Bool(value) => Some(*value),
            _ => None,
        }
    }

    /// The value of a number written as plain digits (`12`, not `1.2e1`) that fits.
    pub fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(text) => number::whole(text),
            _ => None,
        }
    }

    /// The value of a number written as plain digits, with or without a minus sign, that fits.
    pub fn as_i64(&self) -> Option<i64> {
        let Self::Number(text) = self else { return None };
        match text.strip_prefix('-') {
            Some(digits) => 0i64.checked_sub_unsigned(number::whole(digits)?),
            None => i64::try_from(number::whole(text)?).ok(),
        }
    }

    /// The value JavaScript would give a number: the nearest double, an infinity when there is none.
    pub fn as_f64(&self) -> Option<f64> {
        match self {
            Self::Number(text) => Some(number::read(text).value),
            _ => None,
        }
    }

    /// Whether this is `null`.
    pub fn is_null(&self) -> bool {
        matches!(self, Self::Null)
    }

    /// Whether both are the same value: key order does not count, and numbers are equal when JavaScript would see
    /// equal numbers (`1`, `1.0` and `1e0`). An object that repeats a key, which only a lenient read can give, equals
    /// one that repeats it the same way.
    pub fn same_value(&self, other: &Json) -> bool {
        match (self, other) {
            (Self::Number(one), Self::Number(two)) => one == two || number::read(one).value == number::read(two).value,
            (Self::Array(one), Self::Array(two)) => {
                one.len() == two.len() && one.iter().zip(two).all(|(one, two)| one.same_value(two))
            }
            (Self::Object(one), Self::Object(two)) => covers(one, two, other) && covers(two, one, self),
            _ => self == other,
        }
    }

    /// Replaces halves of characters, so that the value is the same once it was stored and read again.
    pub fn make_well_formed(&mut self) {
        match self {
            Self::Wtf8(bytes) => {
                let mut text = JoinedText::new();
                text.push_wtf8(bytes);
                *self = Self::String(text.into_text());
            }
            Self::Array(items) => items.iter_mut().for_each(Self::make_well_formed),
            Self::Object(members) => members.iter_mut().for_each(|(_, value)| value.make_well_formed()),
            _ => {}
        }
    }

    /// The value as [`write`](Self::write) writes it.
    pub fn text(&self) -> String {
        let mut out = String::new();
        self.write(&mut out);
        out
    }

    /// The value as a model wrote it: like [`text`](Self::text), but an unpaired surrogate stays what it is, as an
    /// escape. A strict reader shall still see it, and refuse it.
    pub fn exact_text(&self) -> String {
        let mut out = String::new();
        self.write_as(JoinedText::of_json, &mut out);
        out
    }

    /// Members as the text of an object.
    pub fn object_text(members: &[(String, Json)]) -> String {
        let mut out = String::new();
        write_members(members, JoinedText::new, &mut out);
        out
    }

    /// Writes the value compactly: source order, exact numbers. An unpaired surrogate becomes U+FFFD, because
    /// servers refuse a whole request for one.
    pub fn write(&self, out: &mut String) {
        self.write_as(JoinedText::new, out);
    }

    /// Writes the value, halves of characters as `joined` gives them.
    fn write_as(&self, joined: fn() -> JoinedText, out: &mut String) {
        match self {
            Self::Null => out.push_str("null"),
            Self::Bool(true) => out.push_str("true"),
            Self::Bool(false) => out.push_str("false"),
            Self::Number(text) => out.push_str(text),
            Self::String(text) => write_string(text, out),
            Self::Wtf8(bytes) => {
                // What JSON escapes is ASCII: the halves of characters stay as they are until the last step.
                let mut escaped = Vec::with_capacity(bytes.len());
                for byte in bytes {
                    if is_special(byte) {
                        let mut sequence = String::new();
                        write_escape(char::from(*byte), &mut sequence);
                        escaped.extend_from_slice(sequence.as_bytes());
                    } else {
                        escaped.push(*byte);
                    }
                }
                let mut text = joined();
                text.push_wtf8(&escaped);
                out.push('"');
                out.push_str(&text.into_text());
                out.push('"');
            }
            Self::Array(items) => {
                out.push('[');
                for (index, item) in items.iter().enumerate() {
                    if index > 0 {
                        out.push(',');
                    }
                    item.write_as(joined, out);
                }
                out.push(']');
            }
            Self::Object(members) => write_members(members, joined, out),
        }
    }
}

fn write_members(members: &[(String, Json)], joined: fn() -> JoinedText, out: &mut String) {
    out.push('{');
    for (index, (key, value)) in members.iter().enumerate() {
        if index > 0 {
            out.push(',');
        }
        write_string(key, out);
        out.push(':');
        value.write_as(joined, out);
    }
    out.push('}');
}

/// Whether every member of `one` has its equal in `two`, the members of the object `whole`. The same position is
/// tried first: values that repeat usually repeat their order too.
fn covers(one: &[(String, Json)], two: &[(String, Json)], whole: &Json) -> bool {
    one.iter().enumerate().all(|(index, (key, value))| {
        let twin = match two.get(index) {
            Some((name, twin)) if name == key => Some(twin),
            _ => whole.get(key),
        };
        twin.is_some_and(|twin| value.same_value(twin))
    })
}

impl std::fmt::Display for Json {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl From<bool> for Json {
    fn from(value: bool) -> Self {
        Self::Bool(value)
    }
}

impl From<u64> for Json {
    fn from(value: u64) -> Self {
        let mut text = String::new();
        number::write(value, &mut text);
        Self::Number(text)
    }
}

impl From<&str> for Json {
    fn from(text: &str) -> Self {
        Self::String(text.to_owned())
    }
}

impl From<String> for Json {
    fn from(text: String) -> Self {
        Self::String(text)
    }
}

/// Writes a JSON string literal, quotes included.
pub fn write_string(text: &str, out: &mut String) {
    out.push('"');
    let mut rest = text;
    while let Some(at) = rest.as_bytes().iter().position(is_special) {
        let Some((plain, special)) = rest.split_at_checked(at) else { break };
        out.push_str(plain);
        let mut chars = special.chars();
        if let Some(special) = chars.next() {
            write_escape(special, out);
        }
        rest = chars.as_str();
    }
    out.push_str(rest);
    out.push('"');
}

/// Whether a byte of a string has to be escaped.
const fn is_special(byte: &u8) -> bool {
    *byte < b' ' || matches!(*byte, b'"' | b'\\')
}

/// Writes a character that has to be escaped.
fn write_escape(special: char, out: &mut String) {
    match special {
        '\n' => out.push_str("\\n"),
        '\r' => out.push_str("\\r"),
        '\t' => out.push_str("\\t"),
        ..' ' => write_unicode_escape(special as u16, out),
        _ => {
            out.push('\\');
            out.push(special);
        }
    }
}

/// Writes one UTF-16 unit as `\uXXXX`.
pub fn write_unicode_escape(unit: u16, out: &mut String) {
    out.push_str("\\u");
    for shift in [12, 8, 4, 0] {
        out.push(char::from_digit(u32::from(unit >> shift) & 15, 16).unwrap_or('0'));
    }
}
