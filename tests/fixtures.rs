//! Recorded and hand-written model streams with their expected verdicts, cut in every way a network can.
//!
//! The project's own cases stand under `tests/fixtures`, a folder for each format. A larger collection of recorded streams
//! is read from the folder in `COUNTERSIGN_FIXTURES`, or from `../shared/fixtures`, where it exists.
//! `npm --prefix www run fixtures` runs this file in release and adds the counts up.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::json::{Json, parse_lenient, parse_strict};
use countersign::core::message::{CallId, CallKind, HistoryItem, ModelError, ModelErrorClass, ResultItem, Trust, Turn};
use countersign::core::wire::{Opening, Reducer, RetryHints, Wire, http_error};
use countersign::core::wire::{anthropic, gemini, openai_chat, openai_responses};
use std::collections::BTreeMap;
use std::io::Write;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};

type Format = (&'static str, fn() -> Wire);

/// What reads each format, by its name in the collection. The own cases of a format stand in the folder of the same name,
/// with `_` for `-`. A format that is not here is counted as not read.
const FORMATS: [Format; 4] = [
    ("openai-chat", || {
        Wire::OpenAiChat(
            openai_chat::OpenAiChat::new("model", "", Vec::new(), openai_chat::Dialect::default()).unwrap(),
        )
    }),
    ("openai-responses", || {
        let dialect = openai_responses::Dialect::default();
        Wire::OpenAiResponses(openai_responses::OpenAiResponses::new("model", "", Vec::new(), dialect).unwrap())
    }),
    ("anthropic", || {
        let dialect = anthropic::Dialect { prompt_caching: false };
        Wire::Anthropic(anthropic::Anthropic::new("model", "", Vec::new(), dialect).unwrap())
    }),
    ("gemini", || Wire::Gemini(gemini::Gemini::new("model", "", Vec::new()).unwrap())),
];

/// Verdicts of the recorded collection that this project does not share: the file's name, the field, the value here, why.
const DIFFERENT: [(&str, &str, &str, &str); 8] = [
    (
        "chat-finish-tool_calls-without-calls",
        "outcome",
        "stop",
        "a turn without calls is an answer, or the loop never ends",
    ),
    ("chat-lone-surrogate-in-args", "valid", "false", "half a character cannot be shown on a card, so it is refused"),
    (
        "resp-openai-custom-tool",
        "valid",
        "false",
        "no tool here takes free text, so such a call is refused like any other",
    ),
    (
        "anth-spliced-message-start",
        "error",
        "null",
        "the error is this program's: no provider sent an object that says so",
    ),
    (
        "anth-refusal",
        "refusal",
        "This request triggered restrictions on violative cyber content and was blocked under Anthropic's Usage Policy.",
        "what the provider says about its refusal is shown",
    ),
    (
        "anth-refusal",
        "replay",
        r#"{"role":"assistant","content":[{"type":"text","text":"This request triggered restrictions on violative cyber content and was blocked under Anthropic's Usage Policy."}]}"#,
        "the API refuses an empty message",
    ),
    ("gem-prompt-blocked", "refusal", "PROHIBITED_CONTENT", "what the provider says about its refusal is shown"),
    (
        "gem-prompt-blocked",
        "replay",
        r#"{"role":"model","parts":[{"text":"PROHIBITED_CONTENT"}]}"#,
        "the API refuses an empty content",
    ),
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
    Outcome { result: reducer.finish(), shown }
}

/// Reduces a stream whole, byte by byte, and cut at every offset, however long it is; all give the same. Behind a cut only a little is read
/// before the states are compared: equal states go on alike.
fn reduce_in_every_way(wire: &Wire, name: &str, stream: &[u8]) -> Outcome {
    let whole = reduce(wire.reducer(), [stream]);
    assert_eq!(reduce(wire.reducer(), stream.chunks(1)), whole, "{name}, byte by byte");
    let mut before = wire.reducer();
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
            // Ours may say more: an event that wraps the error, or its type.
            let has = |(key, value): &(String, Json)| detail.get(key).is_some_and(|ours| ours.same_value(value));
            let is_known = wanted.as_object().is_some_and(|wanted| wanted.iter().all(has));
            if !is_known && !detail.same_value(wanted) {
                check("error", &detail.to_string(), &wanted.to_string());
            }
            check("text", &outcome.shown.0, text(expected, "text"));
            check("reasoning", &outcome.shown.1, text(expected, "reasoning"));
            return found;
        }
        Ok(turn) => turn,
    };
    let outcome = match text(expected, "outcome") {
        // The server asks for a person's word, which here is a call like any other.
        "approval" => "tool_calls",
        outcome => outcome,
    };
    check("outcome", turn.end.token(), outcome);
    check("finish_reason", turn.finish_reason.as_deref().unwrap_or(""), text(expected, "finish_reason"));
    check("text", &turn.text, text(expected, "text"));
    check("reasoning", &turn.reasoning, text(expected, "reasoning"));
    check("refusal", &turn.refusal, text(expected, "refusal"));
    let usage = turn.usage.clone().unwrap_or(Json::Null);
    let wanted = expected.get("usage").unwrap_or(&Json::Null);
    if !usage.same_value(wanted) {
        check("usage", &usage.to_string(), &wanted.to_string());
    }
    let list = |key: &str| expected.get(key).and_then(Json::as_array).unwrap_or(&[]);
    let requests = list("approval_requests");
    let calls: Vec<&Json> = list("tool_calls").iter().chain(requests).collect();
    check("calls", &turn.calls.len().to_string(), &calls.len().to_string());
    for (call, wanted) in turn.calls.iter().zip(calls) {
        let id = if wanted.get("id").is_some() { "id" } else { "approval_request_id" };
        check("id", call.provider_id.as_deref().unwrap_or(""), text(wanted, id));
        let server = match &call.kind {
            CallKind::Function => "",
            CallKind::ProviderApproval { server } => server,
        };
        check("server", server, text(wanted, "server_label"));
        check("name", &call.name, text(wanted, "name"));
        let raw = text(wanted, "arguments_raw");
        let is_nothing = !turn.end.is_cut() && matches!(raw, "" | "null");
        match (wanted.get("arguments_raw"), wanted.get("arguments")) {
            // Where arguments are no text on the wire only their value counts.
            (Some(Json::Null), Some(wanted)) => {
                let is_same = parse_strict(&call.arguments).is_ok_and(|ours| ours.same_value(wanted));
                check("arguments", if is_same { "same" } else { &call.arguments }, "same");
            }
            _ => check("arguments", &call.arguments, if is_nothing { "{}" } else { raw }),
        }
        // In a cut turn validity says nothing: no call of it runs.
        if let (false, Some(valid)) = (turn.end.is_cut(), wanted.get("arguments_valid").and_then(Json::as_bool)) {
            check("valid", &parse_strict(&call.arguments).is_ok().to_string(), &valid.to_string());
        }
    }
    found
}

/// A stream that breaks off anywhere gives no call that the whole stream does not give exactly so.
fn check_prefixes(wire: &Wire, name: &str, stream: &[u8], whole: &Outcome) {
    let mut reducer = wire.reducer();
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

/// The body of a request whose history is one turn and the results of its calls.
fn request(wire: &Wire, turn: &Turn, call_ids: &[CallId]) -> Vec<u8> {
    let mut history = vec![HistoryItem::Assistant { turn: turn.clone().into(), call_ids: call_ids.to_vec() }];
    history.extend(call_ids.iter().map(|call| {
        HistoryItem::Result(ResultItem {
            call: call.clone(),
            renderer: None,
            text: "done".into(),
            is_error: false,
            trust: Trust::Tool,
        })
    }));
    let mut body = wire.head(&Opening { instructions: None, tools: &[], allow_tools: true });
    for (place, item) in history.iter().enumerate() {
        body.extend(wire.item(item, &history[..place]));
    }
    body.extend(wire.tail(history.last(), None));
    body
}

/// Whatever a turn was, the next request is one that every server takes.
fn check_next_request(wire: &Wire, name: &str, turn: &Turn, replay: Option<&Json>) {
    let call_ids: Vec<CallId> = (1..=turn.calls.len()).map(|place| CallId::new(format!("t1c{place}"))).collect();
    let bytes = request(wire, turn, &call_ids);
    let body: serde_json::Value = serde_json::from_slice(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
    match wire {
        Wire::OpenAiChat(_) => check_messages(name, turn, &call_ids, &body["messages"]),
        Wire::OpenAiResponses(_) => check_input(name, turn, &call_ids, &body["input"], replay),
        Wire::Anthropic(_) => check_blocks(name, turn, &call_ids, &body["messages"], replay),
        Wire::Gemini(_) => check_contents(name, turn, &call_ids, &body["contents"], replay),
    }
}

/// Arguments in a history are an object, as the model wrote it if a strict reader takes it.
fn check_arguments(name: &str, arguments: &str, made: &str) {
    let object: serde_json::Value = serde_json::from_str(arguments).unwrap();
    assert!(object.is_object(), "{name}: {arguments}");
    if let Ok(Json::Object(_)) = parse_strict(made) {
        assert_eq!(arguments, made, "{name}");
    }
}

fn check_messages(name: &str, turn: &Turn, call_ids: &[CallId], messages: &serde_json::Value) {
    let item = &messages[0];
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
        check_arguments(name, call["function"]["arguments"].as_str().unwrap(), &turn.calls[place].arguments);
    }
    if !turn.reasoning.is_empty() && !turn.extra.message.is_empty() {
        let reasoning = ["reasoning_content", "reasoning"].iter().find_map(|key| item[*key].as_str());
        assert_eq!(reasoning, Some(&*turn.reasoning), "{name}: reasoning goes back as it came");
    }
}

/// Every call goes back with our id and is followed by its one result; all else goes back as it came.
fn check_input(name: &str, turn: &Turn, call_ids: &[CallId], input: &serde_json::Value, replay: Option<&Json>) {
    let items = input.as_array().unwrap();
    let of_type = |one: &str, other: &str| {
        items.iter().filter(|item| item["type"] == one || item["type"] == other).collect::<Vec<_>>()
    };
    let calls = of_type("function_call", "mcp_approval_request");
    let answers = of_type("function_call_output", "mcp_approval_response");
    assert_eq!((calls.len(), answers.len()), (call_ids.len(), call_ids.len()), "{name}: {input}");
    for (place, id) in call_ids.iter().enumerate() {
        let (sent, answer, made) = (calls[place], answers[place], &turn.calls[place]);
        if made.kind == CallKind::Function {
            assert_eq!((&sent["call_id"], &answer["call_id"]), (&id.as_str().into(), &id.as_str().into()), "{name}");
            check_arguments(name, sent["arguments"].as_str().unwrap(), &made.arguments);
        } else {
            assert_eq!((&answer["approval_request_id"], &answer["approve"]), (&sent["id"], &true.into()), "{name}");
        }
    }
    let kind = |item: &serde_json::Value| item["type"].as_str().unwrap().to_owned();
    let last = items.iter().rev().map(kind).find(|kind| !kind.ends_with("_output"));
    assert!(last.is_some_and(|kind| kind != "reasoning"), "{name}: reasoning leads to nothing");
    let Some(replay) = replay else { return };
    let kept = Json::Array(turn.extra.items.clone());
    assert!(kept.same_value(replay), "{name}: kept {kept}, expected {replay}");
    let came: serde_json::Value = serde_json::from_str(&replay.to_string()).unwrap();
    for (sent, came) in came.as_array().unwrap().iter().filter_map(|came| {
        Some((items.iter().find(|item| came.get("id").is_some() && item.get("id") == came.get("id"))?, came))
    }) {
        let mut sent = sent.clone();
        for field in ["call_id", "arguments"] {
            if let Some(value) = came.get(field) {
                sent[field] = value.clone();
            }
        }
        assert_eq!(&sent, came, "{name}");
    }
}

/// Every block goes back as it came, but for the ids of calls, which are ours. The results stand in the next message.
fn check_blocks(name: &str, turn: &Turn, ids: &[CallId], messages: &serde_json::Value, replay: Option<&Json>) {
    let ids: Vec<&str> = ids.iter().map(CallId::as_str).collect();
    let of_type = |blocks: &serde_json::Value, kind: &str, id: &str| -> Vec<String> {
        let blocks = blocks.as_array().into_iter().flatten().filter(|block| block["type"] == kind);
        blocks.map(|block| block[id].as_str().unwrap().to_owned()).collect()
    };
    let content = &messages[0]["content"];
    assert_eq!(messages[0]["role"], "assistant", "{name}");
    assert_eq!(of_type(content, "tool_use", "id"), ids, "{name}: {content}");
    assert_eq!(of_type(&messages[1]["content"], "tool_result", "tool_use_id"), ids, "{name}: {messages}");
    let blocks = content.as_array().unwrap();
    let last = blocks.last().unwrap_or_else(|| panic!("{name}: a message must not be empty"));
    assert!(last["type"] != "thinking" && last["type"] != "redacted_thinking", "{name}: {content}");
    for block in blocks.iter().filter(|block| block["type"] == "text") {
        assert!(!block["text"].as_str().unwrap().trim().is_empty(), "{name}: the API refuses blank text");
    }
    for (block, call) in blocks.iter().filter(|block| block["type"] == "tool_use").zip(&turn.calls) {
        check_arguments(name, &block["input"].to_string(), &block["input"].to_string());
        if let Ok(made @ Json::Object(_)) = parse_strict(&call.arguments) {
            let sent = parse_lenient(block["input"].to_string().as_bytes()).unwrap();
            assert!(sent.same_value(&made), "{name}: {sent}");
        }
    }
    let replay = different(name, "replay").map(|text| parse_lenient(text.as_bytes()).unwrap()).or(replay.cloned());
    let Some(replay) = replay else { return };
    let mut came: serde_json::Value = serde_json::from_str(&replay.to_string()).unwrap();
    let calls = came["content"].as_array_mut().unwrap().iter_mut().filter(|block| block["type"] == "tool_use");
    calls.zip(&ids).for_each(|(block, id)| block["id"] = (*id).into());
    let sent = parse_lenient(messages[0].to_string().as_bytes()).unwrap();
    assert!(sent.same_value(&parse_lenient(came.to_string().as_bytes()).unwrap()), "{name}: sent {sent}, not {came}");
}

/// Every part goes back as it came, but for the ids of calls, which are ours where there was one. All results stand in
/// the next content, in the order of their calls.
fn check_contents(name: &str, turn: &Turn, ids: &[CallId], contents: &serde_json::Value, replay: Option<&Json>) {
    let parts = contents[0]["parts"].as_array().unwrap();
    assert_eq!(contents[0]["role"], "model", "{name}");
    assert!(!parts.is_empty(), "{name}: a content must not be empty");
    let made: Vec<&serde_json::Value> =
        parts.iter().map(|part| &part["functionCall"]).filter(|call| call["name"].is_string()).collect();
    let empty = Vec::new();
    let answers = contents[1]["parts"].as_array().unwrap_or(&empty);
    assert_eq!((made.len(), answers.len()), (ids.len(), ids.len()), "{name}: {contents}");
    for (place, id) in ids.iter().enumerate() {
        let (call, answer) = (made[place], &answers[place]["functionResponse"]);
        let has_id = turn.calls[place].provider_id.is_some();
        let id = if has_id { id.as_str().into() } else { serde_json::Value::Null };
        assert_eq!((&call["id"], &answer["id"]), (&id, &id), "{name}");
        assert_eq!(call["name"], answer["name"], "{name}");
        assert!(call.get("args").is_none_or(serde_json::Value::is_object), "{name}: {call}");
        assert!(answer["response"].is_object(), "{name}: {answer}");
    }
    let replay = different(name, "replay").map(|text| parse_lenient(text.as_bytes()).unwrap()).or(replay.cloned());
    let Some(replay) = replay else { return };
    let mut came: serde_json::Value = serde_json::from_str(&replay.to_string()).unwrap();
    let calls = came["parts"].as_array_mut().unwrap().iter_mut();
    let calls = calls.filter_map(|part| part.get_mut("functionCall")).filter(|call| call["name"].is_string());
    for (call, id) in calls.zip(ids) {
        if call["id"].is_string() {
            call["id"] = id.as_str().into();
        }
    }
    let sent = parse_lenient(contents[0].to_string().as_bytes()).unwrap();
    assert!(sent.same_value(&parse_lenient(came.to_string().as_bytes()).unwrap()), "{name}: sent {sent}, not {came}");
}

/// Holds one stream against its verdict; returns what differs.
fn check_stream(wire: &Wire, name: &str, stream: &[u8], expected: &Json, replay: Option<&Json>) -> Vec<String> {
    let checked = catch_unwind(AssertUnwindSafe(|| {
        let outcome = reduce_in_every_way(wire, name, stream);
        check_prefixes(wire, name, stream, &outcome);
        if let Ok(turn) = &outcome.result {
            check_next_request(wire, name, turn, replay);
        }
        differences(name, &outcome, expected)
    }));
    // The panic has printed its message.
    checked.unwrap_or_else(|_| vec![format!("{name}: a check failed, its message stands above")])
}

/// Counts what passed and failed, one line for each group, which `www/fixtures.mjs` adds up.
#[derive(Default)]
struct Tally {
    groups: BTreeMap<String, (usize, usize)>,
    found: Vec<String>,
}

impl Tally {
    fn count(&mut self, group: &str, found: Vec<String>) {
        let (passed, failed) = self.groups.entry(group.to_owned()).or_default();
        *(if found.is_empty() { passed } else { failed }) += 1;
        self.found.extend(found);
    }

    fn end(self) {
        for (group, (passed, failed)) in &self.groups {
            say(&format!("{group}: {passed} passed, {failed} failed"));
        }
        assert!(self.found.is_empty(), "{}", self.found.join("\n"));
        assert!(!self.groups.is_empty(), "nothing was found to check");
    }
}

#[test]
fn recorded_streams_give_their_verdicts() {
    let Some(folder) = collection() else {
        say("The recorded streams are not here (COUNTERSIGN_FIXTURES): skipped. The project's own cases run.");
        return;
    };
    let index = read_json(&folder.join("index.json"));
    let mut tally = Tally::default();
    let mut unread: BTreeMap<&str, usize> = BTreeMap::new();
    for stream in index.get("streams").and_then(Json::as_array).unwrap() {
        let (name, format) = (text(stream, "name"), text(stream, "format"));
        let Some((_, wire)) = FORMATS.iter().find(|row| row.0 == format) else {
            *unread.entry(format).or_default() += 1;
            continue;
        };
        let bytes = std::fs::read(folder.join(text(stream, "file"))).unwrap();
        let replay = stream.get("replay_file").and_then(Json::as_str).map(|file| read_json(&folder.join(file)));
        let found = check_stream(&wire(), name, &bytes, stream.get("expected").unwrap(), replay.as_ref());
        tally.count(format, found);
    }
    for (format, count) in unread {
        say(&format!("{format}: {count} streams not read, this build has no wire of that format"));
    }
    tally.end();
}

#[test]
fn recorded_http_errors_give_their_class() {
    let Some(folder) = collection() else {
        say("The recorded errors are not here (COUNTERSIGN_FIXTURES): skipped.");
        return;
    };
    let index = read_json(&folder.join("index.json"));
    let mut tally = Tally::default();
    for error in index.get("http_errors").and_then(Json::as_array).unwrap() {
        let name = text(error, "name");
        let body = std::fs::read(folder.join(text(error, "file"))).unwrap();
        let checked = catch_unwind(|| check_http_error(name, error, &body));
        tally.count("http errors", checked.err().map(|_| format!("{name}: see above")).into_iter().collect());
    }
    tally.end();
}

fn check_http_error(name: &str, error: &Json, body: &[u8]) {
    let status = error.get("http_status").and_then(Json::as_u64).unwrap() as u16;
    let ours = http_error(status, body, RetryHints::default());
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
}

#[test]
fn own_streams_give_their_verdicts() {
    let mut tally = Tally::default();
    for (format, wire) in FORMATS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures").join(format.replace('-', "_"));
        let mut count = 0;
        for entry in std::fs::read_dir(&folder).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|extension| extension != "sse") {
                continue;
            }
            let name = path.file_stem().unwrap().to_string_lossy().into_owned();
            let stream = std::fs::read(&path).unwrap();
            let expected = read_json(&path.with_extension("json"));
            let found = check_stream(&wire(), &name, &stream, &expected, expected.get("replay"));
            tally.count(&format!("{format}, own"), found);
            count += 1;
        }
        assert!(count > 5, "only {count} streams found in {}", folder.display());
    }
    tally.end();
}
