//! What is fuzzed: the decoder of events, and the reducer of each format.

use crate::mutate::Random;
use countersign::core::message::{CallId, HistoryItem, ResultItem, Trust};
use countersign::core::sse::Decoder;
use countersign::core::wire::{Opening, Wire, anthropic, gemini, openai_chat, openai_responses};
use std::path::{Path, PathBuf};

/// Something that takes bytes.
pub struct Target {
    pub name: &'static str,
    /// How the names of its streams begin in the recorded collection.
    prefix: &'static str,
    /// Takes an input whole and cut; the error says what it did wrong.
    pub check: fn(&[u8], &mut Random) -> Result<(), String>,
}

/// All of them. A format has the name of its folder in `tests/fixtures`.
pub const TARGETS: [Target; 5] = [
    Target { name: "sse", prefix: "", check: sse },
    Target { name: "openai_chat", prefix: "chat-", check: |input, random| wire(&chat(), input, random) },
    Target { name: "openai_responses", prefix: "resp-", check: |input, random| wire(&responses(), input, random) },
    Target { name: "anthropic", prefix: "anth-", check: |input, random| wire(&messages(), input, random) },
    Target { name: "gemini", prefix: "gem", check: |input, random| wire(&contents(), input, random) },
];

fn chat() -> Wire {
    let wire = openai_chat::OpenAiChat::new("model", "", Vec::new(), openai_chat::Dialect::default());
    Wire::OpenAiChat(wire.expect("no params"))
}

fn responses() -> Wire {
    let wire = openai_responses::OpenAiResponses::new("model", "", Vec::new(), openai_responses::Dialect::default());
    Wire::OpenAiResponses(wire.expect("no params"))
}

fn messages() -> Wire {
    let wire = anthropic::Anthropic::new("model", "", Vec::new(), anthropic::Dialect::default());
    Wire::Anthropic(wire.expect("no params"))
}

fn contents() -> Wire {
    Wire::Gemini(gemini::Gemini::new("model", "", Vec::new()).expect("no params"))
}

impl Target {
    /// Streams to begin with: those of the format, or of all formats.
    pub fn seeds(&self) -> Vec<Vec<u8>> {
        let top = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        let own = top.join("tests/fixtures");
        let collection = std::env::var_os("COUNTERSIGN_FIXTURES").map_or(top.join("../shared/fixtures"), PathBuf::from);
        let mut seeds = Vec::new();
        for folder in [own.join(self.name), own, collection.join("recorded"), collection.join("synthetic")] {
            for entry in std::fs::read_dir(&folder).into_iter().flatten().flatten() {
                let path = entry.path();
                let name = entry.file_name();
                let fits = folder.ends_with(self.name) || name.to_string_lossy().starts_with(self.prefix);
                let is_stream = path.extension().is_some_and(|ending| ending == "sse" || ending == "txt");
                if fits && is_stream {
                    seeds.extend(std::fs::read(path));
                }
            }
        }
        seeds
    }
}

/// The input in a few pieces.
fn cut<'a>(input: &'a [u8], random: &mut Random) -> Vec<&'a [u8]> {
    let mut pieces = Vec::new();
    let mut rest = input;
    let many = 1 + random.below(20);
    while !rest.is_empty() && pieces.len() < many {
        let (piece, after) = rest.split_at(random.below(rest.len() + 1));
        pieces.push(piece);
        rest = after;
    }
    pieces.push(rest);
    pieces
}

fn sse(input: &[u8], random: &mut Random) -> Result<(), String> {
    let decode = |pieces: &[&[u8]]| {
        let mut decoder = Decoder::new();
        let mut events = Vec::new();
        let mut keep = |event: countersign::core::sse::Event<'_>| {
            events.push((event.name.to_owned(), event.data.to_owned(), event.is_closed));
        };
        let fed = pieces.iter().try_for_each(|piece| decoder.feed(piece, &mut keep));
        decoder.finish(&mut keep);
        (fed, events)
    };
    if decode(&[input]) == decode(&cut(input, random)) {
        return Ok(());
    }
    Err(String::from("other events where the stream was cut"))
}

fn wire(wire: &Wire, input: &[u8], random: &mut Random) -> Result<(), String> {
    let reduce = |pieces: &[&[u8]]| {
        let mut reducer = wire.reducer();
        let mut shown = (String::new(), String::new());
        for piece in pieces {
            let delta = reducer.feed(piece);
            shown.0.push_str(&delta.text);
            shown.1.push_str(&delta.reasoning);
        }
        (reducer.finish(), shown)
    };
    let whole = reduce(&[input]);
    if reduce(&cut(input, random)) != whole {
        return Err(String::from("another turn where the stream was cut"));
    }
    let Ok(turn) = whole.0 else { return Ok(()) };
    let call_ids: Vec<CallId> = (1..=turn.calls.len()).map(|place| CallId::new(format!("c{place}"))).collect();
    let mut history = vec![HistoryItem::Assistant { turn: turn.into(), call_ids: call_ids.clone() }];
    // Each result looks for its turn: a few tell as much as all.
    history.extend(call_ids.into_iter().take(8).map(|call| {
        let text = String::from("ok");
        HistoryItem::Result(ResultItem { call, renderer: None, text, is_error: false, trust: Trust::Tool })
    }));
    let mut body = wire.head(&Opening { instructions: None, tools: &[], allow_tools: true });
    for (place, item) in history.iter().enumerate() {
        body.extend(wire.item(item, &history[..place]));
    }
    body.extend(wire.tail(history.last(), None));
    countersign::core::json::parse_lenient(&body).map_err(|error| format!("the next request is not JSON: {error}"))?;
    std::str::from_utf8(&body).map_err(|error| format!("the next request is not UTF-8: {error}"))?;
    Ok(())
}
