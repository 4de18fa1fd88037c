//! Text whose characters may arrive in halves.
//!
//! JSON writes a character outside the basic plane as two `\u` escapes. Servers that stream by token put them into
//! two different strings; each half alone is no character, and no Rust `String` can hold it.

/// Text put together from pieces; halves of a character that follow each other are joined.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct JoinedText {
    text: String,
    /// A leading surrogate that was last in its piece and waits for its other half.
    half: Option<u16>,
    /// Whether an unpaired surrogate is written as the escape `\uXXXX` rather than as U+FFFD.
    escape: bool,
}

impl JoinedText {
    /// Empty text in which an unpaired surrogate becomes U+FFFD.
    pub fn new() -> Self {
        Self::default()
    }

    /// Empty JSON text in which an unpaired surrogate stays what it is, as an escape: a strict reader shall still see
    /// it, and refuse it.
    pub fn of_json() -> Self {
        Self { escape: true, ..Self::default() }
    }

    /// The text so far. A half that may yet find its other half is not in it.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// Whether nothing arrived yet.
    pub fn is_empty(&self) -> bool {
        self.text.is_empty() && self.half.is_none()
    }

    /// Appends a string's text; anything else adds nothing.
    pub fn push(&mut self, piece: &super::Json) {
        match piece {
            super::Json::String(piece) => self.push_str(piece),
            super::Json::Wtf8(piece) => self.push_wtf8(piece),
            _ => {}
        }
    }

    /// Appends a well-formed piece.
    pub fn push_str(&mut self, piece: &str) {
        if !piece.is_empty() {
            self.settle();
            self.text.push_str(piece);
        }
    }

    /// Appends a piece in WTF-8, as [`Json::Wtf8`](super::Json::Wtf8) holds it. Bytes that are not WTF-8 become
    /// U+FFFD.
    pub fn push_wtf8(&mut self, piece: &[u8]) {
        let mut rest = piece;
        loop {
            let at = rest.windows(3).position(|bytes| split_surrogate(bytes).is_some()).unwrap_or(rest.len());
            let (plain, after) = rest.split_at_checked(at).unwrap_or((rest, &[]));
            self.push_str(&String::from_utf8_lossy(plain));
            let Some((unit, after)) = split_surrogate(after) else { return };
            self.push_surrogate(unit);
            rest = after;
        }
    }

    /// The whole text; a half that never found its other half is settled.
    pub fn into_text(mut self) -> String {
        self.settle();
        self.text
    }

    fn push_surrogate(&mut self, unit: u16) {
        if let (Some(high), 0xDC00..) = (self.half, unit) {
            self.half = None;
            let joined = char::decode_utf16([high, unit]).next().and_then(Result::ok);
            self.text.push(joined.unwrap_or('\u{fffd}'));
            return;
        }
        self.settle();
        self.half = Some(unit);
        if unit >= 0xDC00 {
            self.settle();
        }
    }

    /// Writes a half that can no longer be joined.
    fn settle(&mut self) {
        if let Some(unit) = self.half.take() {
            if self.escape {
                super::write_unicode_escape(unit, &mut self.text);
            } else {
                self.text.push('\u{fffd}');
            }
        }
    }
}

/// The surrogate that the bytes begin with, and the bytes after it.
fn split_surrogate(bytes: &[u8]) -> Option<(u16, &[u8])> {
    match bytes {
        [0xED, second @ 0xA0..=0xBF, third @ 0x80..=0xBF, rest @ ..] => {
            Some((0xD000 | (u16::from(*second) & 0x3F) << 6 | (u16::from(*third) & 0x3F), rest))
        }
        _ => None,
    }
}

/// Appends one surrogate in WTF-8.
pub(super) fn push_surrogate_bytes(unit: u32, out: &mut Vec<u8>) {
    for byte in [0xE0 | unit >> 12, 0x80 | unit >> 6 & 0x3F, 0x80 | unit & 0x3F] {
        out.push(byte as u8);
    }
}

/// The first characters of a text, at most so many.
pub fn cut(text: &str, limit: usize) -> &str {
    match text.char_indices().nth(limit) {
        Some((end, _)) => text.get(..end).unwrap_or_default(),
        None => text,
    }
}
