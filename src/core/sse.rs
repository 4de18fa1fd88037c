//! Server-sent events: bytes, cut anywhere, → events.
//!
//! The grammar is WHATWG's, with what real model servers need beyond it: an event that the end of the stream leaves
//! unclosed is still given (marked as such), and a comment wrapped as data (`data: : keepalive`) is a comment. `id` and
//! `retry` fields have no use here, a model's stream cannot be resumed.
//!
//! Every byte is looked at once, however the stream is cut, and memory is bounded by [`MAX_EVENT_BYTES`].

/// The longest event that is taken, its unfinished line included. A server that sends more would fill the page's memory.
pub const MAX_EVENT_BYTES: usize = 16 << 20;

/// One event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Event<'a> {
    /// The `event` field; empty when there is none or it is not UTF-8.
    pub name: &'a str,
    /// The data lines, joined by newlines. Never empty. Not checked to be UTF-8.
    pub data: &'a [u8],
    /// Whether the blank line that closes an event was seen. At the end of a stream it may be missing; then the data
    /// may be cut.
    pub is_closed: bool,
}

/// An event was longer than [`MAX_EVENT_BYTES`]. The decoder takes nothing after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EventTooLong;

/// Reads a stream piece by piece.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Decoder {
    /// The bytes of a line whose end has not arrived yet.
    line: Vec<u8>,
    name: Vec<u8>,
    data: Vec<u8>,
    /// A data line was seen, though it may have been empty.
    has_data: bool,
    /// The first line is behind us: a byte order mark can only be in front of it.
    has_begun: bool,
    /// The last byte was a carriage return: a newline that comes first belongs to it.
    after_return: bool,
    too_long: bool,
}

impl Decoder {
    /// A decoder at the beginning of a stream.
    pub fn new() -> Self {
        Self::default()
    }

    /// Takes the next bytes and gives the events they close.
    pub fn feed(&mut self, bytes: &[u8], sink: &mut dyn FnMut(Event<'_>)) -> Result<(), EventTooLong> {
        let mut rest = bytes;
        if std::mem::take(&mut self.after_return) {
            match rest {
                [b'\n', after @ ..] => rest = after,
                [] => self.after_return = true,
                _ => {}
            }
        }
        while let Some(end) = rest.iter().position(|byte| matches!(byte, b'\n' | b'\r')) {
            let (line, ending) = rest.split_at_checked(end).unwrap_or((rest, &[]));
            rest = match ending {
                [b'\r', b'\n', after @ ..] => after,
                [b'\r'] => {
                    self.after_return = true;
                    &[]
                }
                [_, after @ ..] => after,
                [] => &[],
            };
            self.check(line.len())?;
            if self.line.is_empty() {
                self.end_line(line, sink);
            } else {
                let mut whole = std::mem::take(&mut self.line);
                whole.extend_from_slice(line);
                self.end_line(&whole, sink);
                // The buffer is kept, so that a stream of small pieces does not allocate one for every line.
                whole.clear();
                self.line = whole;
            }
        }
        self.check(rest.len())?;
        self.line.extend_from_slice(rest);
        Ok(())
    }

    /// The stream has ended: gives the event that was not closed, if it has data.
    pub fn finish(&mut self, sink: &mut dyn FnMut(Event<'_>)) {
        if self.too_long {
            return;
        }
        let line = std::mem::take(&mut self.line);
        if !line.is_empty() {
            self.end_line(&line, sink);
        }
        self.dispatch(false, sink);
    }

    /// Whether so many more bytes still fit into the event.
    fn check(&mut self, more: usize) -> Result<(), EventTooLong> {
        let length = self.line.len() + self.name.len() + self.data.len();
        self.too_long |= length.saturating_add(more) > MAX_EVENT_BYTES;
        if self.too_long {
            // What was buffered cannot become an event any more.
            self.line = Vec::new();
            self.data = Vec::new();
            return Err(EventTooLong);
        }
        Ok(())
    }

    fn end_line(&mut self, line: &[u8], sink: &mut dyn FnMut(Event<'_>)) {
        let mut line = line;
        if !std::mem::replace(&mut self.has_begun, true) {
            line = line.strip_prefix(b"\xef\xbb\xbf").unwrap_or(line);
        }
        if line.is_empty() {
            return self.dispatch(true, sink);
        }
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let (field, value) = line.split_at_checked(colon).unwrap_or((line, &[]));
        let value = value.strip_prefix(b":").unwrap_or(value);
        let value = value.strip_prefix(b" ").unwrap_or(value);
        match field {
            b"data" if self.has_data => {
                self.data.push(b'\n');
                self.data.extend_from_slice(value);
            }
            b"data" if !value.starts_with(b":") => {
                self.has_data = true;
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.name.clear();
                self.name.extend_from_slice(value);
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, is_closed: bool, sink: &mut dyn FnMut(Event<'_>)) {
        if !self.data.is_empty() {
            let name = std::str::from_utf8(&self.name).unwrap_or("");
            sink(Event { name, data: &self.data, is_closed });
        }
        self.has_data = false;
        self.data.clear();
        self.name.clear();
    }
}
