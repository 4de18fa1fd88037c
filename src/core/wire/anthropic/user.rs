//! The blocks of a user's message. The last block of each item stays open, for a cache marker.

use super::super::super::json::Writer;
use super::super::super::message::{Part, ResultItem};
use super::super::names::wire_id;
use super::{begin_text, is_blank};

/// A person's message.
pub(super) fn push_parts(parts: &[Part], out: &mut Writer) {
    let mut is_open = false;
    // The API refuses blank text.
    for part in parts.iter().filter(|part| !matches!(part, Part::Text(text) if is_blank(text))) {
        if is_open {
            out.close('}');
        }
        is_open = true;
        match part {
            Part::Text(text) => begin_text(text, out),
            Part::Image { url } => {
                begin("image", out);
                push_source(url, out);
            }
            Part::File { name, url } => {
                begin("document", out);
                push_source(url, out);
                out.present("title", Some(name.as_str()).filter(|name| !is_blank(name)));
            }
        }
    }
    if !is_open {
        begin_text("(empty message)", out);
    }
}

/// The result of a call.
pub(super) fn push_result(result: &ResultItem, out: &mut Writer) {
    begin("tool_result", out);
    out.text("tool_use_id", &wire_id(&result.call));
    // A result may have no content, but not a blank one; an error must have some.
    if !is_blank(&result.text) {
        out.text("content", &result.text);
    } else if result.is_error {
        out.text("content", "(no text)");
    }
    if result.is_error {
        out.flag("is_error", true);
    }
}

fn begin(kind: &str, out: &mut Writer) {
    out.item();
    out.open('{');
    out.text("type", kind);
}

/// Where a picture or a document is, or what it is.
fn push_source(url: &str, out: &mut Writer) {
    out.key("source");
    out.open('{');
    match Part::data_of(url) {
        None => {
            out.text("type", "url");
            out.text("url", url);
        }
        Some((media_type, data)) => {
            let media_type = media_type.split_once(';').map_or(media_type, |(media_type, _)| media_type);
            let is_text = media_type.starts_with("text/") || media_type == "application/json";
            // A text is no base64 source here: it goes as it reads, whatever its kind.
            let text = if is_text { decode(data).filter(|text| !is_blank(text)) } else { None };
            match text {
                Some(text) => {
                    out.text("type", "text");
                    out.text("media_type", "text/plain");
                    out.text("data", &text);
                }
                None => {
                    out.text("type", "base64");
                    out.text("media_type", media_type);
                    out.text("data", data);
                }
            }
        }
    }
    out.close('}');
}

/// The text that base64 stands for, if it is one.
fn decode(base64: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(base64.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0);
    for byte in base64.trim_end_matches('=').bytes() {
        let six = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ => return None,
        };
        bits = bits << 6 | u32::from(six);
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    String::from_utf8(bytes).ok()
}
