//! What went wrong, from whatever a server says about it: one class, one sentence, and whether to try again.
//!
//! The shapes are many: an `error` object, an `error` string, a flat object, `detail` as text or list, an array with one
//! of these, a real message wrapped into another one, HTML, nothing. The body is read whatever its label.

use super::super::json::{Json, cut, parse_lenient, parse_prefix, read_whole, write_number};
use super::super::message::{ModelError, ModelErrorClass};

/// Groq's code for a call that its own check refused.
const TOOL_USE_FAILED: &str = "tool_use_failed";
/// The most characters of a server's own words that are kept for a person to read.
const MAX_MESSAGE: usize = 500;

/// What the response headers say about trying again. A page sees these headers only where the server exposes them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RetryHints {
    /// `retry-after-ms`, or `retry-after` in milliseconds: see [`wait_ms`].
    pub retry_after_ms: Option<u64>,
    /// `x-should-retry`.
    pub should_retry: Option<bool>,
}

/// The error of a response whose status is not 2xx.
pub fn http_error(status: u16, body: &[u8], hints: RetryHints) -> ModelError {
    let body = body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body).trim_ascii();
    // Some servers put the error of a streaming request into an event.
    let body = body.strip_prefix(b"data:").unwrap_or(body).trim_ascii();
    let mut error = match (body.first(), parse_prefix(body)) {
        (Some(b'{' | b'['), Ok((value, _))) => from_json(&value, Some(status)),
        (first, _) => {
            let mut message = String::from("The server answered with status ");
            write_number(status.into(), &mut message);
            match first {
                None => message.push_str(" and no explanation."),
                Some(b'<') => {
                    message.push_str(" and ");
                    push_page(body, &mut message);
                    message.push('.');
                }
                Some(_) => {
                    message.push_str(": ");
                    message.push_str(&sentence(&String::from_utf8_lossy(body.get(..4096).unwrap_or(body))));
                }
            }
            described(Some(status), "", message)
        }
    };
    error.retry_after_ms = hints.retry_after_ms.or(error.retry_after_ms);
    error.retryable = match hints.should_retry {
        // Whatever the server thinks of it: the same bytes meet the same rule, and an account does not fill up by asking.
        Some(true) => !matches!(error.class, ModelErrorClass::BadRequest | ModelErrorClass::Quota),
        Some(false) => false,
        None => error.retryable,
    };
    error
}

/// The truthy `error` of a JSON value, as JavaScript would see it.
pub(super) fn error_of(value: &Json) -> Option<&Json> {
    value.get("error").filter(|error| match error {
        Json::Null | Json::Bool(false) => false,
        Json::String(text) => !text.is_empty(),
        Json::Number(text) => text != "0",
        _ => true,
    })
}

/// Whether a JSON value without answer describes an error.
pub(super) fn is_error(value: &Json) -> bool {
    let says = |key: &str| value.get(key).and_then(Json::as_str) == Some("error");
    error_of(value).is_some() || says("object") || says("type")
}

/// The error a JSON value describes. Inside a stream there is no status of its own; a numeric code stands for one.
pub(super) fn from_json(value: &Json, status: Option<u16>) -> ModelError {
    let value = match value {
        Json::Array(items) => items.first().unwrap_or(value),
        other => other,
    };
    let error = error_of(value).unwrap_or(value);
    // Where the error is only a string, its code stands beside it.
    let fields = if let Json::Object(_) = error { error } else { value };

    let mut message = message_of(error).unwrap_or_default();
    if let Some(raw) = fields.get("metadata").and_then(|metadata| metadata.get("raw")) {
        let inner = raw.as_str().and_then(|text| parse_lenient(text.as_bytes()).ok());
        let raw = inner.as_ref().unwrap_or(raw);
        if let Some(raw) = message_of(error_of(raw).unwrap_or(raw)) {
            message.push_str(if message.is_empty() { "" } else { ": " });
            message.push_str(&raw);
        }
    }
    if message.is_empty() {
        if let Some(status) = status {
            message.push_str("The server answered with status ");
            write_number(status.into(), &mut message);
            message.push_str(": ");
        }
        message.push_str(&error.text());
    }

    let mut tag = String::new();
    let mut stated = None;
    for key in ["code", "type", "status", "status_code", "raw_status_code"] {
        match fields.get(key) {
            Some(Json::String(text)) => {
                tag.push_str(text);
                tag.push(' ');
            }
            Some(number) => stated = stated.or(number.as_u64()),
            None => {}
        }
    }
    let stated = stated.and_then(|stated| u16::try_from(stated).ok()).filter(|stated| (400..600).contains(stated));
    let mut result = described(status.or(stated), &tag, message);
    result.status = status;
    result.retry_after_ms = retry_delay(fields).or(result.retry_after_ms);
    result.detail = Some(error.clone());
    result
}

/// An error in words only.
pub(super) fn described(status: Option<u16>, tag: &str, message: String) -> ModelError {
    let mut error = ModelError::new(classify(status, tag, &message), sentence(&message));
    // Nothing ran, and the next sample may be well-formed.
    error.retryable |= says(tag, TOOL_USE_FAILED);
    error.status = status;
    error.retry_after_ms = ["try again in ", "retry in ", "retry after "]
        .iter()
        .find_map(|words| wait_ms(message.get(find(&message, words.as_bytes())? + words.len()..)?));
    error
}

/// The class, by the first rule that fits. Codes and types say more than the status, which says more than prose.
fn classify(status: Option<u16>, tag: &str, message: &str) -> ModelErrorClass {
    let context = "context_length|context_window|exceed_context|too_many_prompt_tokens";
    let context_words = "context length|context size|context window|maximum context|prompt too long|prompt is too long|\
                         input is too long|length of all messages|token count exceeds|exceed context limit|\
                         exceeds the maximum number of tokens";
    if says(tag, context) || status != Some(429) && says(message, context_words) {
        ModelErrorClass::ContextTooLong
    } else if status == Some(402)
        || says(tag, "insufficient_quota|insufficient_balance|billing|credit")
        || says(message, "credit balance is too low")
    {
        ModelErrorClass::Quota
    } else if matches!(status, Some(401 | 403))
        || says(tag, "authentication|api_key|permission|unauth")
        // Google answers a wrong key with status 400.
        || says(message, "api key not valid|api key expired")
    {
        ModelErrorClass::Auth
    } else if status == Some(429) || says(tag, "rate_limit|ratelimit|too_many_requests|resource_exhausted") {
        ModelErrorClass::RateLimit
    } else if says(tag, TOOL_USE_FAILED) {
        ModelErrorClass::Provider
    } else if says(message, "requires --jinja") {
        // llama.cpp calls its own missing switch a server error.
        ModelErrorClass::BadRequest
    } else if matches!(status, Some(408 | 409 | 500..))
        || says(tag, "overloaded|unavailable|server_error")
        // What Anthropic calls its own faults, in a stream: there is no status beside it.
        || status.is_none() && says(tag, "api_error|timeout_error")
    {
        ModelErrorClass::Overloaded
    } else if status.is_some() || says(tag, "invalid_request|invalid_argument|bad_request|not_found") {
        ModelErrorClass::BadRequest
    } else if says(message, "overloaded|unavailable") {
        ModelErrorClass::Overloaded
    } else {
        ModelErrorClass::Provider
    }
}

/// Whether a text has one of these words, which stand between bars.
fn says(text: &str, words: &str) -> bool {
    words.as_bytes().split(|byte| *byte == b'|').any(|word| find(text, word).is_some())
}

/// Where a text has these words, whatever their case. The standard library's search is made for long texts, and takes
/// ten times the code.
fn find(text: &str, words: &[u8]) -> Option<usize> {
    text.as_bytes().windows(words.len()).position(|window| window.eq_ignore_ascii_case(words))
}

/// The sentence in an error: its text, its `message` or `detail`, or those of what it holds.
fn message_of(error: &Json) -> Option<String> {
    match error {
        Json::String(text) => Some(text.clone()),
        Json::Array(items) => message_of(items.first()?),
        Json::Object(_) => ["message", "detail", "msg", "errors", "error"].iter().find_map(|key| {
            let text = message_of(error.get(key)?)?;
            (!text.is_empty()).then_some(text)
        }),
        _ => None,
    }
}

/// Google's `RetryInfo` among the details.
fn retry_delay(error: &Json) -> Option<u64> {
    let details = error.get("details")?.as_array()?;
    wait_ms(details.iter().find_map(|detail| detail.get("retryDelay")?.as_str())?)
}

/// A duration in milliseconds, as headers and messages write it: `20`, `1.2s`, `350ms`, `6m0s`, `20 seconds`. Parts of
/// a millisecond are rounded up. `None` for a text that does not begin with a duration, such as an HTTP date.
pub fn wait_ms(text: &str) -> Option<u64> {
    let mut total = None;
    let (_, mut rest) = leading(text, u8::is_ascii_whitespace);
    loop {
        let (whole, after) = leading(rest, u8::is_ascii_digit);
        let Some(whole) = read_whole(whole) else { return total };
        let mut thousandths = whole.saturating_mul(1000);
        rest = after;
        if let Some(after) = after.strip_prefix('.') {
            let (fraction, after) = leading(after, u8::is_ascii_digit);
            rest = after;
            let mut weight = 100;
            let mut more = 0;
            for digit in fraction.bytes() {
                let digit = u64::from(digit - b'0');
                thousandths = thousandths.saturating_add(digit * weight);
                if weight == 0 {
                    more |= digit;
                }
                weight /= 10;
            }
            thousandths = thousandths.saturating_add(more.min(1));
        }
        let (_, after) = leading(rest, u8::is_ascii_whitespace);
        let (unit, after) = leading(after, u8::is_ascii_alphabetic);
        rest = after;
        let factor = match unit {
            "m" | "min" | "minute" | "minutes" => 60,
            "h" | "hour" | "hours" => 3600,
            "ms" | "millisecond" | "milliseconds" => {
                thousandths = thousandths.div_ceil(1000);
                1
            }
            _ => 1,
        };
        total = Some(thousandths.saturating_mul(factor).saturating_add(total.unwrap_or(0)));
    }
}

/// Splits a text behind the bytes that fit, which must be ASCII.
fn leading(text: &str, fits: fn(&u8) -> bool) -> (&str, &str) {
    let end = text.bytes().take_while(fits).count();
    text.split_at_checked(end).unwrap_or((text, ""))
}

/// A server's words on one line, at most [`MAX_MESSAGE`] characters of them.
pub(super) fn sentence(text: &str) -> String {
    let mut out = String::new();
    for word in text.split_ascii_whitespace() {
        if !out.is_empty() {
            out.push(' ');
        }
        out.push_str(word);
    }
    let kept = cut(&out, MAX_MESSAGE);
    if kept.len() < out.len() {
        out = String::from(kept);
        out.push('…');
    }
    out
}

/// Names an HTML page by its title.
pub(super) fn push_page(page: &[u8], out: &mut String) {
    let page = String::from_utf8_lossy(page.get(..16 << 10).unwrap_or(page));
    let title = find(&page, b"<title").and_then(|at| {
        let tag = page.get(at..)?;
        let title = tag.get(find(tag, b">")? + 1..)?;
        Some(sentence(title.get(..find(title, b"<").unwrap_or(title.len()))?))
    });
    out.push_str("an HTML page");
    if let Some(title) = title.filter(|title| !title.is_empty()) {
        out.push_str(" titled \"");
        out.push_str(&title);
        out.push('"');
    }
}
