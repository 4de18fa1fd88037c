//! The reader: one pass, no recursion deeper than its limit, and a position for whatever it refuses.

use super::number;
use super::text::push_surrogate_bytes;
use super::{Json, write_string};

/// The deepest nesting a strict read takes. Nothing legitimate comes near it.
pub const MAX_DEPTH: usize = 64;
/// The deepest nesting any read takes: it bounds the reader's own stack.
const MAX_LENIENT_DEPTH: usize = 128;
/// The longest text a strict read takes, in bytes. No person reads a card of a megabyte.
pub const MAX_STRICT_BYTES: usize = 1 << 20;
/// The most keys and elements, counted together, that a strict read takes.
pub const MAX_ITEMS: usize = 10_000;

/// Why a text was refused, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct JsonError {
    /// What is wrong.
    pub kind: JsonErrorKind,
    /// Where, in bytes from the start. For [`JsonErrorKind::Trailing`] it is the end of the first value.
    pub at: usize,
    /// The same place counted in characters from 1, for people and models.
    pub character: usize,
}

/// What is wrong with a text that should be JSON.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JsonErrorKind {
    /// The text ends inside a value: typically an answer that was cut off.
    UnexpectedEnd,
    /// Something else than JSON's grammar allows here.
    Unexpected,
    /// More text after the end of the value.
    Trailing,
    /// A control character inside a string, unescaped.
    ControlCharacter,
    /// A backslash sequence JSON does not have.
    Escape,
    /// Nested deeper than [`MAX_DEPTH`], or in a lenient read deeper than 128.
    TooDeep,
    /// Strict only: longer than [`MAX_STRICT_BYTES`].
    TooLong,
    /// Strict only: more than [`MAX_ITEMS`] keys and elements.
    TooManyItems,
    /// Strict only: half a character. It cannot be shown, and servers refuse it.
    LoneSurrogate,
    /// Strict only: a key occurs twice, so that two readers may see two values.
    DuplicateKey(String),
    /// Strict only: a key `__proto__`, which JavaScript code takes for an object's prototype.
    ProtoKey,
    /// Strict only: an integer that JavaScript cannot hold exactly.
    InexactInteger(String),
    /// Strict only: a number beyond the largest JavaScript has.
    Overflow(String),
    /// Strict only: a number so small that JavaScript makes it zero.
    Underflow(String),
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut quoted = String::new();
        let (before, after) = match &self.kind {
            JsonErrorKind::UnexpectedEnd => ("unexpected end of input", ""),
            JsonErrorKind::Unexpected => ("unexpected text", ""),
            JsonErrorKind::Trailing => ("more text after the end of the value", ""),
            JsonErrorKind::ControlCharacter => ("an unescaped control character in a string", ""),
            JsonErrorKind::Escape => ("a backslash sequence that JSON does not have", ""),
            JsonErrorKind::TooDeep => ("nested too deep", ""),
            JsonErrorKind::TooLong => ("longer than 1 MiB", ""),
            JsonErrorKind::TooManyItems => ("more than 10000 keys and elements", ""),
            JsonErrorKind::LoneSurrogate => ("half a character (an unpaired surrogate) in a string", ""),
            JsonErrorKind::ProtoKey => ("the key \"__proto__\" is not allowed", ""),
            JsonErrorKind::DuplicateKey(key) => {
                write_string(&shorten(key), &mut quoted);
                ("the key ", " occurs twice")
            }
            JsonErrorKind::InexactInteger(literal) => {
                quoted = shorten(literal);
                ("the integer ", " cannot be held exactly")
            }
            JsonErrorKind::Overflow(literal) => {
                quoted = shorten(literal);
                ("the number ", " is too large")
            }
            JsonErrorKind::Underflow(literal) => {
                quoted = shorten(literal);
                ("the number ", " is too small and would become zero")
            }
        };
        for part in [before, &quoted, after, " (character ", &self.character.to_string(), ")"] {
            f.write_str(part)?;
        }
        Ok(())
    }
}

impl std::error::Error for JsonError {}

/// At most 60 characters of a key or literal, for an error's sentence.
fn shorten(text: &str) -> String {
    match text.char_indices().nth(60) {
        Some((end, _)) => {
            let mut short = text.get(..end).unwrap_or("").to_owned();
            short.push('…');
            short
        }
        None => text.to_owned(),
    }
}

/// Reads a provider's data. Duplicate keys are kept in order, unpaired surrogates give [`Json::Wtf8`] (in keys
/// U+FFFD), invalid UTF-8 becomes U+FFFD. White space may surround the value, anything else is an error.
pub fn parse_lenient(bytes: &[u8]) -> Result<Json, JsonError> {
    let mut reader = Reader::new(bytes, false);
    let value = reader.document()?;
    reader.end()?;
    Ok(value)
}

/// Reads the first value as [`parse_lenient`] does, and tells how many bytes it took. What follows is not looked at.
pub fn parse_prefix(bytes: &[u8]) -> Result<(Json, usize), JsonError> {
    let mut reader = Reader::new(bytes, false);
    let value = reader.document()?;
    Ok((value, reader.at))
}

/// Reads a call's arguments, and refuses whatever two readers could understand differently or a card could not show
/// faithfully: see the strict [`JsonErrorKind`]s. A fraction with more digits than a double keeps passes.
pub fn parse_strict(text: &str) -> Result<Json, JsonError> {
    let mut reader = Reader::new(text.as_bytes(), true);
    if text.len() > MAX_STRICT_BYTES {
        return Err(reader.error(JsonErrorKind::TooLong, MAX_STRICT_BYTES));
    }
    let value = reader.document()?;
    reader.end()?;
    Ok(value)
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    strict: bool,
    depth: usize,
    items: usize,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], strict: bool) -> Self {
        Self { bytes, at: 0, strict, depth: 0, items: 0 }
    }

    fn error(&self, kind: JsonErrorKind, at: usize) -> JsonError {
        let before = self.bytes.iter().take(at).filter(|byte| **byte & 0xC0 != 0x80).count();
        JsonError { kind, at, character: before + 1 }
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// The error for whatever stands at the current position.
    fn unexpected(&self) -> JsonError {
        let at_end = self.at >= self.bytes.len();
        self.error(if at_end { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::Unexpected }, self.at)
    }

    fn skip_space(&mut self) {
        while let Some(b' ' | b'\n' | b'\r' | b'\t') = self.peek() {
            self.at += 1;
        }
    }

    fn eat(&mut self, wanted: u8) -> bool {
        let found = self.peek() == Some(wanted);
        self.at += usize::from(found);
        found
    }

    fn document(&mut self) -> Result<Json, JsonError> {
        self.skip_space();
        self.value()
    }

    fn end(&mut self) -> Result<(), JsonError> {
        let end = self.at;
        self.skip_space();
        match self.peek() {
            None => Ok(()),
            Some(_) => Err(self.error(JsonErrorKind::Trailing, end)),
        }
    }

    /// One value, from its first byte on.
    fn value(&mut self) -> Result<Json, JsonError> {
        match self.peek() {
            Some(b'"') => Ok(match String::from_utf8(self.string()?) {
                Ok(text) => Json::String(text),
                Err(error) => Json::Wtf8(error.into_bytes()),
            }),
            Some(b'{') => self.nested(Self::object),
            Some(b'[') => self.nested(Self::array),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => Err(self.unexpected()),
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Result<Json, JsonError> {
        for byte in word.bytes() {
            if !self.eat(byte) {
                return Err(self.unexpected());
            }
        }
        Ok(value)
    }

    fn nested(&mut self, read: fn(&mut Self) -> Result<Json, JsonError>) -> Result<Json, JsonError> {
        if self.depth == if self.strict { MAX_DEPTH } else { MAX_LENIENT_DEPTH } {
            return Err(self.error(JsonErrorKind::TooDeep, self.at));
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        let value = read(self)?;
        self.depth -= 1;
        Ok(value)
    }

    /// Counts one key or element.
    fn item(&mut self) -> Result<(), JsonError> {
        self.items += 1;
        if self.strict && self.items > MAX_ITEMS {
            return Err(self.error(JsonErrorKind::TooManyItems, self.at));
        }
        Ok(())
    }

    /// After an element: whether another one follows.
    fn more(&mut self, close: u8) -> Result<bool, JsonError> {
        self.skip_space();
        if self.eat(close) {
            return Ok(false);
        }
        if !self.eat(b',') {
            return Err(self.unexpected());
        }
        self.skip_space();
        Ok(true)
    }

    fn array(&mut self) -> Result<Json, JsonError> {
        let mut items = Vec::new();
        if !self.eat(b']') {
            loop {
                self.item()?;
                items.push(self.value()?);
                if !self.more(b']')? {
                    break;
                }
            }
        }
        Ok(Json::Array(items))
    }

    fn object(&mut self) -> Result<Json, JsonError> {
        let mut members = Vec::new();
        if !self.eat(b'}') {
            loop {
                self.item()?;
                let key = self.key(&members)?;
                self.skip_space();
                if !self.eat(b':') {
                    return Err(self.unexpected());
                }
                self.skip_space();
                members.push((key, self.value()?));
                if !self.more(b'}')? {
                    break;
                }
            }
        }
        Ok(Json::Object(members))
    }

    /// A key, which in a strict read is a new one. The search is linear: [`MAX_ITEMS`] bounds it.
    fn key(&mut self, members: &[(String, Json)]) -> Result<String, JsonError> {
        let at = self.at;
        if self.peek() != Some(b'"') {
            return Err(self.unexpected());
        }
        let key = String::from_utf8(self.string()?).unwrap_or_else(|error| {
            let mut text = super::JoinedText::new();
            text.push_wtf8(error.as_bytes());
            text.into_text()
        });
        if self.strict {
            if key == "__proto__" {
                return Err(self.error(JsonErrorKind::ProtoKey, at));
            }
            if members.iter().any(|(name, _)| *name == key) {
                return Err(self.error(JsonErrorKind::DuplicateKey(key), at));
            }
        }
        Ok(key)
    }

    fn number(&mut self) -> Result<Json, JsonError> {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits()?;
        }
        if self.eat(b'.') {
            self.digits()?;
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits()?;
        }
        let literal = self.bytes.get(start..self.at).and_then(|bytes| std::str::from_utf8(bytes).ok());
        let literal = literal.unwrap_or("0").to_owned();
        if self.strict {
            let number = number::read(&literal);
            let refused: Option<fn(String) -> JsonErrorKind> = if number.value.is_infinite() {
                Some(JsonErrorKind::Overflow)
            } else if number.value == 0.0 && !number.is_zero {
                Some(JsonErrorKind::Underflow)
            } else if number.is_integer && !number.is_exact {
                Some(JsonErrorKind::InexactInteger)
            } else {
                None
            };
            if let Some(kind) = refused {
                return Err(self.error(kind(literal), start));
            }
        }
        Ok(Json::Number(literal))
    }

    /// One digit or more.
    fn digits(&mut self) -> Result<(), JsonError> {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            return Err(self.unexpected());
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
        Ok(())
    }

    /// A string in WTF-8: it is UTF-8 unless an unpaired surrogate is in it.
    fn string(&mut self) -> Result<Vec<u8>, JsonError> {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            let plain = rest.iter().take_while(|byte| **byte >= b' ' && !matches!(byte, b'"' | b'\\')).count();
            for chunk in rest.get(..plain).unwrap_or(&[]).utf8_chunks() {
                out.extend_from_slice(chunk.valid().as_bytes());
                if !chunk.invalid().is_empty() {
                    out.extend_from_slice("\u{fffd}".as_bytes());
                }
            }
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    return Ok(out);
                }
                Some(b'\\') => self.escape(&mut out)?,
                Some(_) => return Err(self.error(JsonErrorKind::ControlCharacter, self.at)),
                None => return Err(self.unexpected()),
            }
        }
    }

    /// A backslash sequence, from its backslash on.
    fn escape(&mut self, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let start = self.at;
        self.at += 1;
        let byte = match self.peek() {
            Some(byte @ (b'"' | b'\\' | b'/')) => byte,
            Some(b'b') => 0x08,
            Some(b'f') => 0x0C,
            Some(b'n') => b'\n',
            Some(b'r') => b'\r',
            Some(b't') => b'\t',
            Some(b'u') => {
                self.at += 1;
                return self.unicode_escape(start, out);
            }
            Some(_) => return Err(self.error(JsonErrorKind::Escape, start)),
            None => return Err(self.unexpected()),
        };
        self.at += 1;
        out.push(byte);
        Ok(())
    }

    fn unicode_escape(&mut self, start: usize, out: &mut Vec<u8>) -> Result<(), JsonError> {
        let unit = self.hex()?;
        let mut units = [unit, 0];
        let mut used = 1;
        if let (0xD800..=0xDBFF, Some([b'\\', b'u', ..])) = (unit, self.bytes.get(self.at..)) {
            let after_first = self.at;
            self.at += 2;
            let second = self.hex()?;
            if let 0xDC00..=0xDFFF = second {
                units = [unit, second];
                used = 2;
            } else {
                self.at = after_first;
            }
        }
        match char::decode_utf16(units.into_iter().take(used)).next() {
            Some(Ok(decoded)) => out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes()),
            _ if self.strict => return Err(self.error(JsonErrorKind::LoneSurrogate, start)),
            _ => push_surrogate_bytes(unit, out),
        }
        Ok(())
    }

    fn hex(&mut self) -> Result<u16, JsonError> {
        let mut unit = 0;
        for _ in 0..4 {
            let digit = self.peek().and_then(|byte| char::from(byte).to_digit(16));
            let Some(digit) = digit else {
                return Err(match self.peek() {
                    Some(_) => self.error(JsonErrorKind::Escape, self.at),
                    None => self.unexpected(),
                });
            };
            unit = unit << 4 | digit as u16;
            self.at += 1;
        }
        Ok(unit)
    }
}
