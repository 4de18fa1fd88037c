//! The reader: one pass, no recursion deeper than its limit, and a position for whatever it refuses.

use super::number;
use super::text::{cut, push_surrogate_bytes};
use super::{Json, write_string};

/// The deepest nesting a strict read takes. Nothing legitimate comes near it.
pub const MAX_DEPTH: usize = 64;
/// The deepest nesting any read takes: it bounds the reader's own stack.
const MAX_LENIENT_DEPTH: usize = 128;
/// The longest text a strict read takes, in bytes. No person reads a card of a megabyte.
pub const MAX_STRICT_BYTES: usize = 1 << 20;
/// The most characters of a key or literal that an error's sentence quotes.
const MAX_QUOTE: usize = 60;
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

impl JsonError {
    /// What is wrong and where, as part of a sentence.
    pub fn text(&self) -> String {
        // `#` stands for the key or literal.
        let (template, literal) = match &self.kind {
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
            JsonErrorKind::DuplicateKey(key) => ("the key # occurs twice", key.as_str()),
            JsonErrorKind::InexactInteger(literal) => ("the integer # cannot be held exactly", literal.as_str()),
            JsonErrorKind::Overflow(literal) => ("the number # is too large", literal.as_str()),
            JsonErrorKind::Underflow(literal) => ("the number # is too small and would become zero", literal.as_str()),
        };
        let mut quoted = String::from(cut(literal, MAX_QUOTE));
        if quoted.len() < literal.len() {
            quoted.push('…');
        }
        let mut text = String::new();
        for character in template.chars() {
            match (character, &self.kind) {
                ('#', JsonErrorKind::DuplicateKey(_)) => write_string(&quoted, &mut text),
                ('#', _) => text.push_str(&quoted),
                _ => text.push(character),
            }
        }
        text.push_str(" (character ");
        number::write(self.character as u64, &mut text);
        text.push(')');
        text
    }
}

impl std::fmt::Display for JsonError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.text())
    }
}

impl std::error::Error for JsonError {}

/// Reads a provider's data. Duplicate keys are kept in order, unpaired surrogates give [`Json::Wtf8`] (in keys
/// U+FFFD), invalid UTF-8 becomes U+FFFD. White space may surround the value, anything else is an error.
pub fn parse_lenient(bytes: &[u8]) -> Result<Json, JsonError> {
    let mut reader = Reader::new(bytes, false);
    let value = reader.document(true);
    reader.finish(value)
}

/// Reads the first value as [`parse_lenient`] does, and tells how many bytes it took. What follows is not looked at.
pub fn parse_prefix(bytes: &[u8]) -> Result<(Json, usize), JsonError> {
    let mut reader = Reader::new(bytes, false);
    let value = reader.document(false);
    let end = reader.at;
    Ok((reader.finish(value)?, end))
}

/// Reads a call's arguments, and refuses whatever two readers could understand differently or a card could not show
/// faithfully: see the strict [`JsonErrorKind`]s. A fraction with more digits than a double keeps passes.
pub fn parse_strict(text: &str) -> Result<Json, JsonError> {
    let mut reader = Reader::new(text.as_bytes(), true);
    if text.len() > MAX_STRICT_BYTES {
        reader.refuse(JsonErrorKind::TooLong, MAX_STRICT_BYTES);
    }
    let value = reader.document(true);
    reader.finish(value)
}

/// A refusal ends the input, so that everything still being read comes to its end there. Only the first one counts.
struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    strict: bool,
    depth: usize,
    items: usize,
    refused: Option<(JsonErrorKind, usize)>,
}

impl<'a> Reader<'a> {
    fn new(bytes: &'a [u8], strict: bool) -> Self {
        Self { bytes, at: 0, strict, depth: 0, items: 0, refused: None }
    }

    fn refuse(&mut self, kind: JsonErrorKind, at: usize) {
        if self.refused.is_none() {
            self.refused = Some((kind, at));
        }
        self.at = self.bytes.len();
    }

    /// What was read, unless something was refused.
    fn finish(self, value: Json) -> Result<Json, JsonError> {
        let Some((kind, at)) = self.refused else { return Ok(value) };
        let before = self.bytes.iter().take(at).filter(|byte| **byte & 0xC0 != 0x80).count();
        Err(JsonError { kind, at, character: before + 1 })
    }

    fn peek(&self) -> Option<u8> {
        self.bytes.get(self.at).copied()
    }

    /// Refuses whatever stands at the current position.
    fn unexpected(&mut self) {
        let at_end = self.at >= self.bytes.len();
        self.refuse(if at_end { JsonErrorKind::UnexpectedEnd } else { JsonErrorKind::Unexpected }, self.at);
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

    fn expect(&mut self, wanted: u8) {
        if !self.eat(wanted) {
            self.unexpected();
        }
    }

    /// One value, and to the end of the text where it shall be the only one.
    fn document(&mut self, is_whole: bool) -> Json {
        self.skip_space();
        let value = self.value();
        if is_whole {
            let end = self.at;
            self.skip_space();
            if self.peek().is_some() {
                self.refuse(JsonErrorKind::Trailing, end);
            }
        }
        value
    }

    /// One value, from its first byte on.
    fn value(&mut self) -> Json {
        match self.peek() {
            Some(b'"') => self.string(),
            Some(open @ (b'{' | b'[')) => self.nested(open == b'{'),
            Some(b'-' | b'0'..=b'9') => self.number(),
            Some(b't') => self.word("true", Json::Bool(true)),
            Some(b'f') => self.word("false", Json::Bool(false)),
            Some(b'n') => self.word("null", Json::Null),
            _ => {
                self.unexpected();
                Json::Null
            }
        }
    }

    fn word(&mut self, word: &str, value: Json) -> Json {
        for byte in word.bytes() {
            self.expect(byte);
        }
        value
    }

    fn nested(&mut self, is_object: bool) -> Json {
        if self.depth == if self.strict { MAX_DEPTH } else { MAX_LENIENT_DEPTH } {
            self.refuse(JsonErrorKind::TooDeep, self.at);
        }
        self.depth += 1;
        self.at += 1;
        self.skip_space();
        let value = if is_object { self.object() } else { self.array() };
        self.depth -= 1;
        value
    }

    /// Counts one key or element.
    fn item(&mut self) {
        self.items += 1;
        if self.strict && self.items > MAX_ITEMS {
            self.refuse(JsonErrorKind::TooManyItems, self.at);
        }
    }

    /// After an element: whether another one follows.
    fn more(&mut self, close: u8) -> bool {
        self.skip_space();
        if self.eat(close) {
            return false;
        }
        self.expect(b',');
        self.skip_space();
        self.refused.is_none()
    }

    fn array(&mut self) -> Json {
        let mut items = Vec::new();
        if !self.eat(b']') {
            loop {
                self.item();
                items.push(self.value());
                if !self.more(b']') {
                    break;
                }
            }
        }
        Json::Array(items)
    }

    fn object(&mut self) -> Json {
        let mut members = Vec::new();
        if !self.eat(b'}') {
            loop {
                self.item();
                let key = self.key(&members);
                self.skip_space();
                self.expect(b':');
                self.skip_space();
                members.push((key, self.value()));
                if !self.more(b'}') {
                    break;
                }
            }
        }
        Json::Object(members)
    }

    /// A key, which in a strict read is a new one. The search is linear: [`MAX_ITEMS`] bounds it.
    fn key(&mut self, members: &[(String, Json)]) -> String {
        let at = self.at;
        if self.peek() != Some(b'"') {
            self.unexpected();
        }
        let mut key = super::JoinedText::new();
        key.push(&self.string());
        let key = key.into_text();
        if self.strict {
            if key == "__proto__" {
                self.refuse(JsonErrorKind::ProtoKey, at);
            } else if members.iter().any(|(name, _)| *name == key) {
                self.refuse(JsonErrorKind::DuplicateKey(key.clone()), at);
            }
        }
        key
    }

    fn number(&mut self) -> Json {
        let start = self.at;
        self.eat(b'-');
        if !self.eat(b'0') {
            self.digits();
        }
        if self.eat(b'.') {
            self.digits();
        }
        if let Some(b'e' | b'E') = self.peek() {
            self.at += 1;
            if let Some(b'+' | b'-') = self.peek() {
                self.at += 1;
            }
            self.digits();
        }
        let literal = String::from_utf8_lossy(self.bytes.get(start..self.at).unwrap_or(b"0")).into_owned();
        if self.strict {
            let number = number::read(&literal);
            if number.value.is_infinite() {
                self.refuse(JsonErrorKind::Overflow(literal.clone()), start);
            } else if number.value == 0.0 && !number.is_zero {
                self.refuse(JsonErrorKind::Underflow(literal.clone()), start);
            } else if number.is_integer && !number.is_exact {
                self.refuse(JsonErrorKind::InexactInteger(literal.clone()), start);
            }
        }
        Json::Number(literal)
    }

    /// One digit or more.
    fn digits(&mut self) {
        if !matches!(self.peek(), Some(b'0'..=b'9')) {
            self.unexpected();
        }
        while let Some(b'0'..=b'9') = self.peek() {
            self.at += 1;
        }
    }

    /// A string in WTF-8: it is UTF-8 unless an unpaired surrogate is in it.
    fn string(&mut self) -> Json {
        self.at += 1;
        let mut out = Vec::new();
        loop {
            let rest = self.bytes.get(self.at..).unwrap_or(&[]);
            let plain = rest.iter().take_while(|byte| **byte >= b' ' && !matches!(byte, b'"' | b'\\')).count();
            out.extend_from_slice(String::from_utf8_lossy(rest.get(..plain).unwrap_or(rest)).as_bytes());
            self.at += plain;
            match self.peek() {
                Some(b'"') => {
                    self.at += 1;
                    break;
                }
                Some(b'\\') => self.escape(&mut out),
                Some(_) => self.refuse(JsonErrorKind::ControlCharacter, self.at),
                None => {
                    self.unexpected();
                    break;
                }
            }
        }
        match String::from_utf8(out) {
            Ok(text) => Json::String(text),
            Err(error) => Json::Wtf8(error.into_bytes()),
        }
    }

    /// A backslash sequence, from its backslash on.
    fn escape(&mut self, out: &mut Vec<u8>) {
        let start = self.at;
        self.at += 1;
        let Some(byte) = self.peek() else { return self.unexpected() };
        self.at += 1;
        out.push(match byte {
            b'"' | b'\\' | b'/' => byte,
            b'b' => 0x08,
            b'f' => 0x0C,
            b'n' => b'\n',
            b'r' => b'\r',
            b't' => b'\t',
            b'u' => return self.unicode_escape(start, out),
            _ => return self.refuse(JsonErrorKind::Escape, start),
        });
    }

    fn unicode_escape(&mut self, start: usize, out: &mut Vec<u8>) {
        let mut code = self.hex();
        if let (0xD800..=0xDBFF, Some([b'\\', b'u', ..])) = (code, self.bytes.get(self.at..)) {
            let after_first = self.at;
            self.at += 2;
            match self.hex() {
                second @ 0xDC00..=0xDFFF => code = 0x1_0000 + ((code & 0x3FF) << 10) + (second & 0x3FF),
                _ => self.at = after_first,
            }
        }
        match char::from_u32(code) {
            Some(decoded) => out.extend_from_slice(decoded.encode_utf8(&mut [0; 4]).as_bytes()),
            None if self.strict => self.refuse(JsonErrorKind::LoneSurrogate, start),
            None => push_surrogate_bytes(code, out),
        }
    }

    fn hex(&mut self) -> u32 {
        let mut code = 0;
        for _ in 0..4 {
            let Some(byte) = self.peek() else {
                self.unexpected();
                break;
            };
            match char::from(byte).to_digit(16) {
                Some(digit) => code = code << 4 | digit,
                None => self.refuse(JsonErrorKind::Escape, self.at),
            }
            self.at += 1;
        }
        code
    }
}
