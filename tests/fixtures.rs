//! Recorded and hand-written model streams with their expected verdicts, cut in every way a network can.
//!
//! The project's own cases stand under `tests/fixtures/openai_chat`. A larger collection of recorded streams is read from
//! the folder in `COUNTERSIGN_FIXTURES`, or from `../shared/fixtures`, where it exists.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::json::{Json, parse_lenient, parse_strict};
use countersign::core::message::{CallId, HistoryItem, ModelError, ModelErrorClass, Turn};
use countersign::core::wire::openai_chat::{Dialect, OpenAiChat, Reducer};
use countersign::core::wire::{RetryHints, http_error};
use std::io::Write;
use std::path::{Path, PathBuf};

/// Verdicts of the recorded collection that this project does not share: the file's name, the field, the value here, why.
const DIFFERENT: [(&str, &str, &str, &str); 2] = [
    (
        "chat-finish-tool_calls-without-calls",
        "outcome",
        "stop",
        "a turn without calls is an answer, or the loop never ends",
    ),
    ("chat-lone-surrogate-in-args", "valid", "false", "half a character cannot be shown on a card, so it is refused"),
];

fn collection() -> Option<PathBuf> {
    let beside = Path::new(env!("CARGO_MANIFEST_DIR")).join("../shared/fixtures");
    let folder = std::env::var_os("COUNTERSIGN_FIXTURES").map_or(beside, PathBuf::from);
    folder.join("index.json").exists().then_some(folder)
}

/// Says something that the test harness does not swallow when the test passes.
fn say(line: &str) {
    let line = format!("fixtures: {line}\n");
    std::io::stderr().write_all(line.as_bytes()).unwrap();
}

fn read_json(path: &Path) -> Json {
    let bytes = std::fs::read(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    parse_lenient(&bytes).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

fn model() -> OpenAiChat {
    OpenAiChat::new("model", "", Vec::new(), Dialect::default()).unwrap()
}

/// What the reducer made of a stream: the turn, or the error with the text that had arrived.
#[derive(Clone, Debug, PartialEq)]
struct Outcome {
    result: Result<Turn, ModelError>,
    /// All text and reasoning that was given for display.
    shown: (String, String),
}

fn reduce<'a>(mut reducer: Reducer, pieces: impl IntoIterator<Item = &'a [u8]>) -> Outcome {
    let mut shown = (String::new(), String::new());
    for piece in pieces {
        let delta = reducer.feed(piece);
        shown.0.push_str(&delta.text);
        shown.1.push_str(&delta.reasoning);
    }
    assert_eq!((reducer.text(), reducer.reasoning()), (&*shown.0, &*shown.1));
    Outcome { result: reducer.finish(), shown }
}

/// Reduces a stream whole, byte by byte, and cut at every offset; all give the same. Behind a cut only a little is read
/// before the states are compared: equal states go on alike.
fn reduce_in_every_way(name: &str, stream: &[u8]) -> Outcome {
    let whole = reduce(model().reducer(), [stream]);
    assert_eq!(reduce(model().reducer(), stream.chunks(1)), whole, "{name}, byte by byte");
    let mut before = model().reducer();
    for (place, window) in stream.chunks(256).enumerate() {
        let mut after = before.clone();
        let delta = after.feed(window);
        for cut in 1..window.len() {
            let mut reducer = before.clone();
            let (one, two) = (reducer.feed(&window[..cut]), reducer.feed(&window[cut..]));
            let cut = place * 256 + cut;
            // Of a response that is over, the rest is not read any more, and only the result counts.
            let is_over = reducer.is_done() && after.is_done() && reducer.clone().finish() == after.clone().finish();
            assert!(is_over || reducer == after, "{name}, cut at {cut}");
            assert_eq!(one.text + &two.text, delta.text, "{name}, cut at {cut}");
            assert_eq!(one.reasoning + &two.reasoning, delta.reasoning, "{name}, cut at {cut}");
        }
        before = after;
    }
    assert_eq!(before.finish(), whole.result, "{name}, in windows");
    whole
}

fn text<'a>(value: &'a Json, key: &str) -> &'a str {
    value.get(key).and_then(Json::as_str).unwrap_or("")
}

fn different(name: &str, field: &str) -> Option<&'static str> {
    DIFFERENT.iter().find(|row| (row.0, row.1) == (name, field)).map(|row| row.2)
}

/// Holds an outcome against an `expected` object; returns what differs.
fn differences(name: &str, outcome: &Outcome, expected: &Json) -> Vec<String> {
    let mut found = Vec::new();
    let mut check = |field: &str, ours: &str, expected: &str| {
        if ours != different(name, field).unwrap_or(expected) {
            found.push(format!("{name}: {field} is {ours:?}, expected {expected:?}"));
        }
    };
    let turn = match &outcome.result {
        Err(error) => {
            check("outcome", "error", text(expected, "outcome"));
            let detail = error.detail.clone().unwrap_or(Json::Null);
            let wanted = expected.get("error").unwrap_or(&Json::Null);
            if !detail.same_value(wanted) {
                check("error", &detail.to_string(), &wanted.to_string());
            }
            check("text", &outcome.shown.0, text(expected, "text"));
            check("reasoning", &outcome.shown.1, text(expected, "reasoning"));
            return found;
        }
        Ok(turn) => turn,
    };
    check("outcome", turn.end.token(), text(expected, "outcome"));
    check("finish_reason", turn.finish_reason.as_deref().unwrap_or(""), text(expected, "finish_reason"));
    check("text", &turn.text, text(expected, "text"));
    check("reasoning", &turn.reasoning, text(expected, "reasoning"));
    check("refusal", &turn.refusal, text(expected, "refusal"));
    let usage = turn.usage.clone().unwrap_or(Json::Null);
    let wanted = expected.get("usage").unwrap_or(&Json::Null);
    if !usage.same_value(wanted) {
        check("usage", &usage.to_string(), &wanted.to_string());
    }
    let calls = expected.get("tool_calls").and_then(Json::as_array).unwrap_or(&[]);
    check("calls", &turn.calls.len().to_string(), &calls.len().to_string());
    for (call, wanted) in turn.calls.iter().zip(calls) {
        check("id", call.provider_id.as_deref().unwrap_or(""), text(wanted, "id"));
        check("name", &call.name, text(wanted, "name"));
        let raw = text(wanted, "arguments_raw");
        let is_nothing = !turn.end.is_cut() && matches!(raw, "" | "null");
        check("arguments", &call.arguments, if is_nothing { "{}" } else { raw });
        // In a cut turn validity says nothing: no call of it runs.
        if let (false, Some(valid)) = (turn.end.is_cut(), wanted.get("arguments_valid").and_then(Json::as_bool)) {
            check("valid", &parse_strict(&call.arguments).is_ok().to_string(), &valid.to_string());
        }
    }
    found
}

/// A stream that breaks off anywhere gives no call that the whole stream does not give exactly so.
fn check_prefixes(name: &str, stream: &[u8], whole: &Outcome) {
    let mut reducer = model().reducer();
    for (place, byte) in stream.iter().enumerate() {
        reducer.feed(&[*byte]);
        if let Ok(turn) = reducer.clone().finish()
            && !turn.end.is_cut()
            && !turn.calls.is_empty()
        {
            let calls = whole.result.as_ref().map(|turn| &turn.calls);
            assert_eq!(Ok(&turn.calls), calls, "{name}, broken off behind byte {place}");
        }
    }
}

/// Whatever a turn was, its history item is one that every server takes.
fn check_history_item(name: &str, turn: &Turn) {
    let call_ids: Vec<CallId> = (1..=turn.calls.len()).map(|place| CallId::new(format!("t1c{place}"))).collect();
    let item = HistoryItem::Assistant { turn: turn.clone().into(), call_ids: call_ids.clone() };
    let bytes = model().item(&item, None);
    let item: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    assert_eq!(item["role"], "assistant", "{name}");
    if turn.calls.is_empty() {
        assert!(item["content"].is_string(), "{name}: {item}");
        assert!(item.get("tool_calls").is_none(), "{name}: {item}");
    }
    for (place, id) in call_ids.iter().enumerate() {
        let call = &item["tool_calls"][place];
        assert_eq!((&call["id"], &call["type"]), (&id.as_str().into(), &"function".into()), "{name}");
        let tool = call["function"]["name"].as_str().unwrap();
        assert!(!tool.is_empty() && tool.bytes().all(|byte| byte.is_ascii_graphic()), "{name}: {tool}");
        let arguments = call["function"]["arguments"].as_str().unwrap();
        let object: serde_json::Value = serde_json::from_str(arguments).unwrap();
        assert!(object.is_object(), "{name}: {arguments}");
        if let Ok(Json::Object(_)) = parse_strict(&turn.calls[place].arguments) {
            assert_eq!(arguments, turn.calls[place].arguments, "{name}");
        }
    }
    if !turn.reasoning.is_empty() && !turn.extra.message.is_empty() {
        let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|key| item[*key].as_str());
        assert_eq!(reasoning, Some(&*turn.reasoning), "{name}: reasoning goes back as it came");
    }
}

#[test]
fn recorded_streams_give_their_verdicts() {
    let Some(folder) = collection() else {
        say("The recorded streams are not here (COUNTERSIGN_FIXTURES): skipped. The project's own cases run.");
        return;
    };
    let index = read_json(&folder.join("index.json"));
    let streams = index.get("streams").and_then(Json::as_array).unwrap();
    let mut found = Vec::new();
    let mut count = 0;
    for stream in streams.iter().filter(|stream| text(stream, "format") == "openai-chat") {
        let name = text(stream, "name");
        let bytes = std::fs::read(folder.join(text(stream, "file"))).unwrap();
        let outcome = reduce_in_every_way(name, &bytes);
        check_prefixes(name, &bytes, &outcome);
        found.extend(differences(name, &outcome, stream.get("expected").unwrap()));
        if let Ok(turn) = &outcome.result {
            check_history_item(name, turn);
        }
        count += 1;
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(count > 0, "the index has no stream of this format");
    say(&format!("{count} recorded streams checked."));
}

#[test]
fn recorded_http_errors_give_their_class() {
    let Some(folder) = collection() else {
        say("The recorded errors are not here (COUNTERSIGN_FIXTURES): skipped.");
        return;
    };
    let index = read_json(&folder.join("index.json"));
    let mut count = 0;
    for error in index.get("http_errors").and_then(Json::as_array).unwrap() {
        let name = text(error, "name");
        let status = error.get("http_status").and_then(Json::as_u64).unwrap() as u16;
        let body = std::fs::read(folder.join(text(error, "file"))).unwrap();
        let ours = http_error(status, &body, RetryHints::default());
        let expected = error.get("expected").unwrap();
        let class = match text(expected, "error_class") {
            "rate_limit" => ModelErrorClass::RateLimit,
            "invalid_request" | "not_found" => ModelErrorClass::BadRequest,
            "auth" => ModelErrorClass::Auth,
            "context_length" => ModelErrorClass::ContextTooLong,
            other => panic!("{name}: unknown class {other}"),
        };
        assert_eq!((ours.class, ours.status), (class, Some(status)), "{name}: {ours:?}");
        assert_eq!(Some(ours.retryable), expected.get("retryable").and_then(Json::as_bool), "{name}");
        // The words are the provider's, on one line and shortened; OpenRouter's real message comes behind its own.
        let wanted: String = text(expected, "message").split_whitespace().collect::<Vec<_>>().join(" ");
        let shared: String = wanted.chars().take(500).collect();
        assert!(ours.message.starts_with(&shared), "{name}: {}", ours.message);
        count += 1;
    }
    assert!(count > 0);
    say(&format!("{count} recorded errors checked."));
}

#[test]
fn own_streams_give_their_verdicts() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/openai_chat");
    let mut found = Vec::new();
    let mut count = 0;
    for entry in std::fs::read_dir(&folder).unwrap() {
        let path = entry.unwrap().path();
        if path.extension().is_none_or(|extension| extension != "sse") {
            continue;
        }
        let name = path.file_stem().unwrap().to_string_lossy().into_owned();
        let bytes = std::fs::read(&path).unwrap();
        let outcome = reduce_in_every_way(&name, &bytes);
        check_prefixes(&name, &bytes, &outcome);
        found.extend(differences(&name, &outcome, &read_json(&path.with_extension("json"))));
        if let Ok(turn) = &outcome.result {
            check_history_item(&name, turn);
        }
        count += 1;
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
    assert!(count > 12, "only {count} streams found in {}", folder.display());
}
