//! Gemini: `generateContent`, streamed.
//!
//! A content holds the parts of one turn, of one person's message, or of all results of one turn, and never two of these:
//! the API counts the results right behind a turn. It stays open until an item of another kind, or the end of the body,
//! closes it, since what belongs to it arrives as several items.

mod parts;
mod pieces;
mod reducer;

pub use super::{Delta, Opening};
pub use reducer::Reducer;

use super::super::json::{Json, Writer, parse_lenient};
use super::super::message::{CallId, HistoryItem, Part, ResultItem, Turn, TurnCall};
use super::names::{NO_SIGNATURE, wire_arguments, wire_id, wire_name};
use parts::Calling;

/// Fields of the request that are this program's own.
const OWN_FIELDS: [&str; 6] = ["contents", "model", "stream", "systemInstruction", "system_instruction", "tools"];

/// One endpoint and model.
#[derive(Clone, Debug)]
pub struct Gemini {
    binding: String,
    params: Vec<(String, Json)>,
    /// The model checks signatures.
    needs_signatures: bool,
}

impl Gemini {
    /// A model, what its turns are bound to (see [`TurnExtra`](super::super::message::TurnExtra)), and request fields that
    /// are merged into every request as they are. The error names a field that cannot be given this way, and what to do
    /// instead.
    pub fn new(model: &str, binding: &str, params: Vec<(String, Json)>) -> Result<Self, String> {
        if let Some((name, _)) = params.iter().find(|(name, _)| OWN_FIELDS.contains(&name.as_str())) {
            let why = match name.as_str() {
                "contents" => "the chat sends its own messages; use instructions, or the history of agent.open",
                "model" => "name the model in gemini({ model })",
                "tools" => "offer tools in createAgent({ tools }), they cannot be approved otherwise",
                "stream" => "every answer is streamed",
                _ => "use instructions",
            };
            return Err(["params must not set \"", name, "\": ", why].concat());
        }
        // Where a server renames its models the newer rule holds: an older model does not look at signatures.
        let needs_signatures = !model.as_bytes().windows(8).any(|name| matches!(name, b"gemini-1" | b"gemini-2"));
        Ok(Self { binding: binding.to_owned(), params, needs_signatures })
    }

    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.open('{');
        for (name, value) in &self.params {
            let is_choice = matches!(name.as_str(), "toolConfig" | "tool_config");
            if !is_choice || opening.allow_tools && !opening.tools.is_empty() {
                out.value(name, value);
            }
        }
        if let Some(instructions) = opening.instructions.filter(|text| !is_blank(text)) {
            out.key("systemInstruction");
            out.open('{');
            out.key("parts");
            out.open('[');
            push_text(instructions, &mut out);
            out.close(']');
            out.close('}');
        }
        if !opening.tools.is_empty() {
            out.key("tools");
            out.open('[');
            out.open('{');
            out.key("functionDeclarations");
            out.open('[');
            for tool in opening.tools {
                out.item();
                out.open('{');
                out.text("name", &wire_name(&tool.name));
                out.present("description", Some(tool.description.as_str()).filter(|text| !text.is_empty()));
                if !tool.input_schema.is_null() {
                    out.value("parametersJsonSchema", &tool.input_schema);
                }
                out.close('}');
            }
            out.close(']');
            out.close('}');
            out.close(']');
            if !opening.allow_tools {
                out.key("toolConfig");
                out.open('{');
                out.key("functionCallingConfig");
                out.open('{');
                out.text("mode", "NONE");
                out.close('}');
                out.close('}');
            }
        }
        out.key("contents");
        out.open('[');
        out.finish().into_bytes()
    }

    /// One history item, to stand behind [`head`](Self::head) or behind the items `before` it. The bytes depend on nothing
    /// that comes later.
    pub fn item(&self, item: &HistoryItem, before: &[HistoryItem]) -> Vec<u8> {
        let mut out = Writer::default();
        let (kind, previous) = (Kind::of(item), before.last().map(Kind::of));
        if previous != Some(kind) {
            if previous.is_some() {
                out.close(']');
                out.close('}');
                out.item();
            }
            begin_content(kind, &mut out);
        }
        match item {
            HistoryItem::User(parts) => push_user(parts, &mut out),
            HistoryItem::Assistant { turn, call_ids } => self.push_turn(turn, call_ids, &mut out),
            HistoryItem::Result(result) => self.push_result(result, before, &mut out),
        }
        out.finish().into_bytes()
    }

    /// What closes the body, with a note of the host behind the history, if there is one. The note is no part of the
    /// history: no later request has it.
    pub fn tail(&self, last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        let mut out = Writer::default();
        let mut last = last.map(Kind::of);
        if note.is_some() && last != Some(Kind::User) {
            if last.is_some() {
                out.close(']');
                out.close('}');
                out.item();
            }
            begin_content(Kind::User, &mut out);
            last = Some(Kind::User);
        }
        if let Some(note) = note {
            push_text(note, &mut out);
        }
        if last.is_some() {
            out.close(']');
            out.close('}');
        }
        out.close(']');
        out.close('}');
        out.finish().into_bytes()
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        let config =
            self.params.iter().find(|(name, _)| matches!(name.as_str(), "generationConfig" | "generation_config"));
        let cap = config.and_then(|(_, config)| config.get("maxOutputTokens").or(config.get("max_output_tokens")));
        Reducer::new(cap.and_then(Json::as_u64), &self.binding)
    }

    /// The parts of a turn as they came, if they came from here and are fit to go back.
    fn own_parts<'a>(&self, turn: &'a Turn, call_ids: &[CallId]) -> Option<&'a [Json]> {
        let items = turn.extra.items.as_slice();
        let mut calling = Calling::default();
        let calls =
            items.iter().filter_map(|item| item.get("functionCall")).filter(|call| calling.begins(call)).count();
        let says_something = |item: &Json| {
            item.get("text").is_none_or(|text| text.as_str() != Some("")) || item.get("thoughtSignature").is_some()
        };
        let is_own = turn.extra.binding == self.binding
            && calls == call_ids.len()
            && !(calling.is_open && turn.end.is_cut())
            && items.iter().any(says_something);
        is_own.then_some(items)
    }

    fn push_turn(&self, turn: &Turn, call_ids: &[CallId], out: &mut Writer) {
        if let Some(items) = self.own_parts(turn, call_ids) {
            let mut calling = Calling::default();
            let mut calls = turn.calls.iter().zip(call_ids);
            let mut current = None;
            for item in items {
                let begins = item.get("functionCall").is_some_and(|call| calling.begins(call));
                if begins {
                    current = calls.next();
                }
                out.item();
                out.open('{');
                for (key, value) in item.as_object().unwrap_or(&[]) {
                    match (key.as_str(), current) {
                        ("functionCall", Some((call, id))) => push_call(value, begins.then_some(call), id, out),
                        _ => out.value(key, value),
                    }
                }
                out.close('}');
            }
            return;
        }
        let mut is_empty = true;
        if !is_blank(&turn.text) {
            push_text(&turn.text, out);
            is_empty = false;
        }
        for (place, (call, _)) in turn.calls.iter().zip(call_ids).enumerate() {
            out.item();
            out.open('{');
            out.key("functionCall");
            out.open('{');
            out.text("name", &wire_name(&call.name));
            out.value("args", &arguments(&call.arguments));
            out.close('}');
            if place == 0 && self.needs_signatures {
                out.text("thoughtSignature", NO_SIGNATURE);
            }
            out.close('}');
            is_empty = false;
        }
        if is_empty {
            push_text(filler(turn), out);
        }
    }

    /// A result is named as its call, and has an id where its call was sent with one.
    fn push_result(&self, result: &ResultItem, before: &[HistoryItem], out: &mut Writer) {
        let answered = before.iter().rev().find_map(|item| {
            let HistoryItem::Assistant { turn, call_ids } = item else { return None };
            let place = call_ids.iter().position(|id| *id == result.call)?;
            let call = turn.calls.get(place)?;
            Some((call, call.provider_id.is_some() && self.own_parts(turn, call_ids).is_some()))
        });
        out.item();
        out.open('{');
        out.key("functionResponse");
        out.open('{');
        if answered.is_some_and(|(_, has_id)| has_id) {
            out.text("id", &wire_id(&result.call));
        }
        out.text("name", &wire_name(answered.map_or("", |(call, _)| &call.name)));
        out.key("response");
        out.open('{');
        out.text(if result.is_error { "error" } else { "result" }, &result.text);
        out.close('}');
        out.close('}');
        out.close('}');
    }
}

/// What a content holds.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    User,
    Model,
    Results,
}

impl Kind {
    const fn of(item: &HistoryItem) -> Self {
        match item {
            HistoryItem::User(_) => Self::User,
            HistoryItem::Assistant { .. } => Self::Model,
            HistoryItem::Result(_) => Self::Results,
        }
    }
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

/// What stands for a turn that has nothing to say, since a content must not be empty: why, as far as that is known.
fn filler(turn: &Turn) -> &str {
    if !is_blank(&turn.refusal) {
        &turn.refusal
    } else if turn.end.is_cut() {
        "(cut off)"
    } else {
        "(no answer)"
    }
}

fn begin_content(kind: Kind, out: &mut Writer) {
    out.open('{');
    out.text("role", if kind == Kind::Model { "model" } else { "user" });
    out.key("parts");
    out.open('[');
}

fn push_text(text: &str, out: &mut Writer) {
    out.item();
    out.open('{');
    out.text("text", text);
    out.close('}');
}

/// A call that `begins` here, or a later piece of one, as it came. An id becomes ours, since the provider's may repeat one
/// of another turn.
fn push_call(value: &Json, begins: Option<&TurnCall>, id: &CallId, out: &mut Writer) {
    out.key("functionCall");
    out.open('{');
    if let Some(call) = begins {
        out.present("id", call.provider_id.as_ref().map(|_| wire_id(id)).as_deref());
        out.text("name", &wire_name(&call.name));
    }
    for (key, value) in value.as_object().unwrap_or(&[]) {
        match (key.as_str(), value) {
            ("id", _) if begins.is_some() => {}
            ("id", Json::String(text)) if !text.is_empty() => out.text("id", &wire_id(id)),
            ("name", _) => {}
            ("args", Json::Object(_)) => out.value("args", value),
            ("args", _) => out.value("args", &arguments(&value.text())),
            _ => out.value(key, value),
        }
    }
    out.close('}');
}

/// A person's message.
fn push_user(parts: &[Part], out: &mut Writer) {
    let mut is_empty = true;
    // The API refuses empty text.
    for part in parts.iter().filter(|part| !matches!(part, Part::Text(text) if is_blank(text))) {
        is_empty = false;
        match part {
            Part::Text(text) => push_text(text, out),
            Part::Image { url } | Part::File { url, .. } => push_media(url, out),
        }
    }
    if is_empty {
        push_text("(empty message)", out);
    }
}

/// A picture or a document, or where it is.
fn push_media(url: &str, out: &mut Writer) {
    out.item();
    out.open('{');
    match Part::data_of(url) {
        Some((media_type, data)) => {
            out.key("inlineData");
            out.open('{');
            out.text("mimeType", media_type.split_once(';').map_or(media_type, |(media_type, _)| media_type));
            out.text("data", data);
        }
        None => {
            out.key("fileData");
            out.open('{');
            out.present("mimeType", media_type(url));
            out.text("fileUri", url);
        }
    }
    out.close('}');
    out.close('}');
}

/// What the end of a URL says about the media type; Vertex wants to be told.
fn media_type(url: &str) -> Option<&'static str> {
    let path = url.split(['?', '#']).next().unwrap_or(url);
    let (_, ending) = path.rsplit_once('.')?;
    let known = [
        ("png", "image/png"),
        ("jpg", "image/jpeg"),
        ("jpeg", "image/jpeg"),
        ("webp", "image/webp"),
        ("pdf", "application/pdf"),
        ("txt", "text/plain"),
    ];
    known.iter().find(|(name, _)| ending.eq_ignore_ascii_case(name)).map(|(_, media_type)| *media_type)
}

/// A call's arguments as an object.
fn arguments(text: &str) -> Json {
    parse_lenient(wire_arguments(text).as_bytes()).unwrap_or(Json::Object(Vec::new()))
}
