//! What a response body turns out to be, whatever its content type says.
//!
//! Servers answer a request for a stream with a whole JSON document, label a stream as bytes, and captive portals answer
//! anything with HTML and status 200. The first byte that is no white space tells.

use super::super::sse::{Decoder, Event, EventTooLong, MAX_EVENT_BYTES};

/// How much of a body that is no answer is kept, to say what it was.
const MAX_EXCERPT_BYTES: usize = 16 << 10;

/// A body, read piece by piece.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Body {
    /// Nothing yet but this many bytes of a byte order mark, and white space.
    Blank(usize),
    /// An event stream, or something else that begins neither like JSON nor like HTML; then the excerpt says what.
    Events { decoder: Decoder, excerpt: Vec<u8> },
    /// A JSON document, with whatever follows it.
    Json(Vec<u8>),
    /// An HTML page, or the beginning of it.
    Html(Vec<u8>),
}

impl Body {
    pub(super) fn new() -> Self {
        Self::Blank(0)
    }

    /// Takes the next bytes; an event stream gives its events.
    pub(super) fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), EventTooLong> {
        let mut bytes = bytes;
        if let Self::Blank(mark) = self {
            while let Some((first, rest)) = bytes.split_first() {
                if b"\xef\xbb\xbf".get(*mark) == Some(first) {
                    *mark += 1;
                } else if !first.is_ascii_whitespace() {
                    break;
                }
                bytes = rest;
            }
            *self = match bytes.first() {
                None => return Ok(()),
                Some(b'{' | b'[') => Self::Json(Vec::new()),
                Some(b'<') => Self::Html(Vec::new()),
                Some(_) => Self::Events { decoder: Decoder::new(), excerpt: Vec::new() },
            };
        }
        match self {
            Self::Blank(_) => Ok(()),
            Self::Events { decoder, excerpt } => {
                keep(excerpt, bytes);
                decoder.feed(bytes, sink)
            }
            Self::Html(page) => {
                keep(page, bytes);
                Ok(())
            }
            Self::Json(document) if document.len() + bytes.len() > MAX_EVENT_BYTES => Err(EventTooLong),
            Self::Json(document) => {
                document.extend_from_slice(bytes);
                Ok(())
            }
        }
    }
}

fn keep(excerpt: &mut Vec<u8>, bytes: &[u8]) {
    let room = MAX_EXCERPT_BYTES.saturating_sub(excerpt.len());
    excerpt.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
}
