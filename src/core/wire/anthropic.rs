//! Anthropic Messages.
//!
//! Roles alternate: a user's message and the results in front of it are one message, which stays open until a turn of
//! the model, or the end of the body, closes it. Its last block stays open too, so that [`tail`](Anthropic::tail) can put
//! the cache marker on it: the marker moves with every request, and no item is encoded twice.

mod blocks;
mod reducer;
mod user;

pub use super::{Delta, Opening};
pub use reducer::Reducer;

use super::super::json::{Json, Writer, parse_lenient};
use super::super::message::{CallId, HistoryItem, Turn};
use super::names::{wire_arguments, wire_id, wire_name};

/// Fields of the request that are this program's own.
const OWN_FIELDS: [&str; 5] = ["messages", "model", "stream", "system", "tools"];
/// The most tokens of an answer where the host names no limit; this API has no default.
const MAX_TOKENS: u64 = 4096;

/// Where servers of this format differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Mark what may be cached: the instructions with the tools, and the end of the history. A server that does not know
    /// the markers may refuse them. On by default.
    pub prompt_caching: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { prompt_caching: true }
    }
}

/// One endpoint and model.
#[derive(Clone, Debug)]
pub struct Anthropic {
    model: String,
    binding: String,
    params: Vec<(String, Json)>,
    dialect: Dialect,
}

impl Anthropic {
    /// A model, what its turns are bound to (see [`TurnExtra`](super::super::message::TurnExtra)), and request fields that
    /// are merged into every request as they are. The error names a field that cannot be given this way, and what to do
    /// instead.
    pub fn new(model: &str, binding: &str, params: Vec<(String, Json)>, dialect: Dialect) -> Result<Self, String> {
        if let Some((name, _)) = params.iter().find(|(name, _)| OWN_FIELDS.contains(&name.as_str())) {
            let why = match name.as_str() {
                "messages" => "the chat sends its own messages; use instructions, or the history of agent.open",
                "model" => "name the model in anthropic({ model })",
                "system" => "use instructions",
                "tools" => "offer tools in createAgent({ tools }), they cannot be approved otherwise",
                _ => "every answer is streamed",
            };
            return Err(["params must not set \"", name, "\": ", why].concat());
        }
        Ok(Self { model: model.to_owned(), binding: binding.to_owned(), params, dialect })
    }

    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.open('{');
        out.text("model", &self.model);
        out.flag("stream", true);
        if self.param("max_tokens").is_none() {
            out.number("max_tokens", self.default_cap());
        }
        for (name, value) in &self.params {
            if name != "tool_choice" || opening.allow_tools && !opening.tools.is_empty() {
                out.value(name, value);
            }
        }
        let instructions = opening.instructions.filter(|text| !is_blank(text));
        if !opening.tools.is_empty() {
            out.key("tools");
            out.open('[');
            for (place, tool) in opening.tools.iter().enumerate() {
                out.item();
                out.open('{');
                out.text("name", &wire_name(&tool.name));
                out.present("description", Some(tool.description.as_str()).filter(|text| !text.is_empty()));
                push_schema(&tool.input_schema, &mut out);
                // The prefix begins with the tools: a marker on the instructions covers them too.
                if instructions.is_none() && place + 1 == opening.tools.len() {
                    self.push_marker(&mut out);
                }
                out.close('}');
            }
            out.close(']');
            if !opening.allow_tools {
                out.key("tool_choice");
                out.open('{');
                out.text("type", "none");
                out.close('}');
            }
        }
        if let Some(instructions) = instructions {
            out.key("system");
            out.open('[');
            begin_text(instructions, &mut out);
            self.push_marker(&mut out);
            out.close('}');
            out.close(']');
        }
        out.key("messages");
        out.open('[');
        out.finish().into_bytes()
    }

    /// One history item, to stand behind [`head`](Self::head) or behind the `previous` item. The bytes depend on nothing
    /// that comes later.
    pub fn item(&self, item: &HistoryItem, previous: Option<&HistoryItem>) -> Vec<u8> {
        let mut out = Writer::default();
        let is_open = is_user(previous);
        if is_open {
            out.close('}');
        }
        let joins = is_open && is_user(Some(item));
        if is_open && !joins {
            out.close(']');
            out.close('}');
        }
        if previous.is_some() && !joins {
            out.item();
        }
        if !joins {
            out.open('{');
            out.text("role", if is_user(Some(item)) { "user" } else { "assistant" });
            out.key("content");
            out.open('[');
        }
        match item {
            HistoryItem::User(parts) => user::push_parts(parts, &mut out),
            HistoryItem::Result(result) => user::push_result(result, &mut out),
            HistoryItem::Assistant { turn, call_ids } => {
                self.push_content(turn, call_ids, &mut out);
                out.close(']');
                out.close('}');
            }
        }
        out.finish().into_bytes()
    }

    /// What closes the body, with a note of the host behind the history, if there is one. The note is no part of the
    /// history: no later request has it.
    pub fn tail(&self, last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        let mut out = Writer::default();
        let is_open = is_user(last);
        if is_open {
            self.push_marker(&mut out);
            out.close('}');
        } else if note.is_some() {
            if last.is_some() {
                out.item();
            }
            out.open('{');
            out.text("role", "user");
            out.key("content");
            out.open('[');
        }
        if let Some(note) = note {
            begin_text(note, &mut out);
            out.close('}');
        }
        if is_open || note.is_some() {
            out.close(']');
            out.close('}');
        }
        out.close(']');
        out.close('}');
        out.finish().into_bytes()
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        let cap = self.param("max_tokens").map_or(Some(self.default_cap()), Json::as_u64);
        Reducer::new(cap, &self.binding)
    }

    fn param(&self, name: &str) -> Option<&Json> {
        self.params.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// The most tokens where the host names no limit. What a model may think with has to be less.
    fn default_cap(&self) -> u64 {
        let budget = self.param("thinking").and_then(|thinking| thinking.get("budget_tokens")).and_then(Json::as_u64);
        MAX_TOKENS.saturating_add(budget.unwrap_or(0))
    }

    /// A cache marker, as the last member of a block.
    fn push_marker(&self, out: &mut Writer) {
        if self.dialect.prompt_caching {
            out.key("cache_control");
            out.open('{');
            out.text("type", "ephemeral");
            out.close('}');
        }
    }

    /// The blocks of a turn: as they came, where they came from here, else from what is known of them everywhere.
    fn push_content(&self, turn: &Turn, call_ids: &[CallId], out: &mut Writer) {
        let items = turn.extra.items.as_slice();
        let is_call = |item: &&Json| blocks::kind(item) == "tool_use";
        let is_own = turn.extra.binding == self.binding && items.iter().filter(is_call).count() == call_ids.len();
        let mut needs_text = true;
        if is_own && !items.is_empty() {
            let mut ids = call_ids.iter();
            for (place, item) in items.iter().enumerate() {
                let thinks = |place: Option<usize>| place.and_then(|place| items.get(place)).is_some_and(is_thinking);
                // The API refuses blank text. But between two thoughts it keeps apart what the signatures cover.
                if is_blank_text(item) && !(thinks(place.checked_sub(1)) && thinks(place.checked_add(1))) {
                    continue;
                }
                out.item();
                push_block(item, &mut ids, out);
                // Thoughts must be followed by something.
                needs_text = is_thinking(item);
            }
        } else {
            if !is_blank(&turn.text) {
                begin_text(&turn.text, out);
                out.close('}');
                needs_text = false;
            }
            for (call, id) in turn.calls.iter().zip(call_ids) {
                out.item();
                out.open('{');
                out.text("type", "tool_use");
                out.text("id", &wire_id(id));
                out.text("name", &wire_name(&call.name));
                out.value("input", &input(&call.arguments));
                out.close('}');
                needs_text = false;
            }
        }
        if needs_text {
            begin_text(filler(turn), out);
            out.close('}');
        }
    }
}

/// Whether an item belongs into a message of the user, which it leaves open.
fn is_user(item: Option<&HistoryItem>) -> bool {
    matches!(item, Some(HistoryItem::User(_) | HistoryItem::Result(_)))
}

fn is_blank(text: &str) -> bool {
    text.trim().is_empty()
}

fn is_thinking(block: &Json) -> bool {
    matches!(blocks::kind(block), "thinking" | "redacted_thinking")
}

fn is_blank_text(block: &Json) -> bool {
    let text = block.get("text").and_then(Json::as_str);
    blocks::kind(block) == "text" && text.is_none_or(is_blank)
}

/// What stands for a turn that has nothing to say, since a message must not be empty: why, as far as that is known.
fn filler(turn: &Turn) -> &str {
    if !is_blank(&turn.refusal) {
        &turn.refusal
    } else if turn.end.is_cut() {
        "(cut off)"
    } else {
        "(no answer)"
    }
}

/// A block as it came. A call gets our id instead of the provider's, which may repeat one of another turn.
fn push_block<'a>(block: &Json, ids: &mut impl Iterator<Item = &'a CallId>, out: &mut Writer) {
    let is_call = blocks::kind(block) == "tool_use";
    out.open('{');
    if is_call {
        out.text("id", &ids.next().map(wire_id).unwrap_or_default());
    }
    for (key, value) in block.as_object().unwrap_or(&[]) {
        match (key.as_str(), value) {
            ("id", _) if is_call => {}
            ("name", Json::String(name)) if is_call => out.text("name", &wire_name(name)),
            _ => out.value(key, value),
        }
    }
    out.close('}');
}

/// Begins a text block; its closing bracket is the caller's.
fn begin_text(text: &str, out: &mut Writer) {
    out.item();
    out.open('{');
    out.text("type", "text");
    out.text("text", text);
}

/// A call's arguments as an object.
fn input(arguments: &str) -> Json {
    parse_lenient(wire_arguments(arguments).as_bytes()).unwrap_or(Json::Object(Vec::new()))
}

/// A tool's schema. The API wants one, and an object on its top level.
fn push_schema(schema: &Json, out: &mut Writer) {
    out.key("input_schema");
    out.open('{');
    if schema.get("type").is_none() {
        out.text("type", "object");
    }
    for (key, value) in schema.as_object().unwrap_or(&[]) {
        out.value(key, value);
    }
    out.close('}');
}
