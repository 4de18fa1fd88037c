//! OpenAI Chat Completions, and the many servers that speak it.
//!
//! A request body is [`head`](OpenAiChat::head), the encoded items, [`tail`](OpenAiChat::tail). An item is encoded once,
//! when it settles, and its bytes stand for good: what a provider has cached stays cached.

mod calls;
mod reducer;
mod thinking;

pub use super::{Delta, Opening};
pub use reducer::Reducer;
use thinking::Ways;

use super::super::json::{Json, Writer};
use super::super::message::{CallId, HistoryItem, Part, Turn};
use super::names::{NO_SIGNATURE, nine_character_id, wire_arguments, wire_id, wire_name};

/// Fields of the request that are this program's own.
const OWN_FIELDS: [&str; 4] = ["messages", "model", "stream", "tools"];

/// Stands where a server wants an answer and the model gave none.
const NO_ANSWER: &str = "(The user wrote before this was answered.)";

/// Stands where a server wants reasoning and has sent none. Some take an empty text for a missing one.
const NO_REASONING: &str = "(none)";
const REASONING: &str = "reasoning_content";
/// Where Google's server of this format keeps a call's signature.
const SIGNED: &str = "extra_content";

/// Where servers of this format differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Ask for token counts at the end of a stream. Some old servers refuse the field. On by default.
    pub include_usage: bool,
    /// Write `""` instead of `null` as the content beside calls. Old Ollama refuses `null`, others refuse `""`. Off by
    /// default.
    pub empty_content: bool,
    /// Send back the fields of the model's own messages that this build does not interpret: reasoning, signatures. Most
    /// servers that send them want them; Alibaba's does not. On by default.
    pub replay_leftovers: bool,
    /// Give each message of the model a `reasoning_content`, if only a filler. While they think, DeepSeek and Moonshot refuse
    /// a history in which one has none, as after a switch from another provider. Off by default.
    pub fill_reasoning: bool,
    /// Sign the first call of each turn that has no signature with Google's word for it: its newer models refuse a call
    /// without, as after a switch from another provider. Off by default.
    pub fill_signatures: bool,
    /// Name calls by nine letters and digits, the only ids Mistral takes. Off by default.
    pub nine_character_ids: bool,
    /// Put an answer of the model between results and a user's message behind them. Mistral demands one. Off by default.
    pub answer_after_results: bool,
    /// Each piece of an answer's text repeats all before it, as Alibaba's server does by default. Off by default, since a
    /// text may truly begin again.
    pub cumulative: bool,
    /// Read reasoning out of `<think>…</think>` at the beginning of the text. Off by default.
    pub inline_thinking: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self {
            include_usage: true,
            empty_content: false,
            replay_leftovers: true,
            fill_reasoning: false,
            fill_signatures: false,
            nine_character_ids: false,
            answer_after_results: false,
            cumulative: false,
            inline_thinking: false,
        }
    }
}

/// One endpoint and model.
#[derive(Clone, Debug)]
pub struct OpenAiChat {
    model: String,
    binding: String,
    params: Vec<(String, Json)>,
    dialect: Dialect,
}

impl OpenAiChat {
    /// A model, what its turns are bound to (see [`TurnExtra`](super::super::message::TurnExtra)), and request fields that
    /// are merged into every request as they are. The error names a field that cannot be given this way, and what to do
    /// instead.
    pub fn new(model: &str, binding: &str, params: Vec<(String, Json)>, dialect: Dialect) -> Result<Self, String> {
        if let Some((name, _)) = params.iter().find(|(name, _)| OWN_FIELDS.contains(&name.as_str())) {
            let mut error = String::from("params must not set \"");
            error.push_str(name);
            error.push_str(match name.as_str() {
                "messages" => "\": the chat sends its own messages; use instructions, or the history of agent.open",
                "model" => "\": name the model in openaiChat({ model })",
                "tools" => "\": offer tools in createAgent({ tools }), they cannot be approved otherwise",
                _ => "\": every answer is streamed",
            });
            return Err(error);
        }
        Ok(Self { model: model.to_owned(), binding: binding.to_owned(), params, dialect })
    }

    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.open('{');
        out.text("model", &self.model);
        // Sent in any case: there are servers that stream when it is absent.
        out.flag("stream", true);
        if self.dialect.include_usage && !self.params.iter().any(|(name, _)| name == "stream_options") {
            out.key("stream_options");
            out.open('{');
            out.flag("include_usage", true);
            out.close('}');
        }
        for (name, value) in &self.params {
            // Servers refuse these where no tool is offered.
            let is_choice = name == "tool_choice";
            let about_tools = is_choice || name == "parallel_tool_calls";
            if about_tools && opening.tools.is_empty() || is_choice && !opening.allow_tools {
                continue;
            }
            out.value(name, value);
        }
        if !opening.tools.is_empty() {
            out.key("tools");
            out.open('[');
            for tool in opening.tools {
                out.item();
                out.open('{');
                out.text("type", "function");
                out.key("function");
                out.open('{');
                out.text("name", &wire_name(&tool.name));
                out.present("description", Some(tool.description.as_str()).filter(|text| !text.is_empty()));
                if !tool.input_schema.is_null() {
                    out.value("parameters", &tool.input_schema);
                }
                out.close('}');
                out.close('}');
            }
            out.close(']');
            if !opening.allow_tools {
                out.text("tool_choice", "none");
            }
        }
        out.key("messages");
        out.open('[');
        if let Some(instructions) = opening.instructions {
            push_system(instructions, &mut out);
            out.item();
        }
        out.finish().into_bytes()
    }

    /// One history item, to stand behind [`head`](Self::head) or behind the `previous` item. The bytes depend on nothing
    /// that comes later.
    pub fn item(&self, item: &HistoryItem, previous: Option<&HistoryItem>) -> Vec<u8> {
        let mut out = Writer::default();
        if previous.is_some() {
            out.item();
        }
        let follows_results = matches!((previous, item), (Some(HistoryItem::Result(_)), HistoryItem::User(_)));
        if follows_results && self.dialect.answer_after_results {
            out.open('{');
            out.text("role", "assistant");
            out.text("content", NO_ANSWER);
            out.close('}');
            out.item();
        }
        out.open('{');
        match item {
            HistoryItem::User(parts) => push_user(parts, &mut out),
            HistoryItem::Assistant { turn, call_ids } => self.push_assistant(turn, call_ids, &mut out),
            HistoryItem::Result(result) => {
                out.text("role", "tool");
                out.text("tool_call_id", &self.id(&result.call));
                // This wire has no error flag; a result that is an error says so in its text.
                out.text("content", &result.text);
            }
        }
        out.close('}');
        out.finish().into_bytes()
    }

    /// What closes the body, with a note of the host behind the history, if there is one. The note is no part of the
    /// history: no later request has it.
    pub fn tail(&self, _last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        let mut out = Writer::default();
        if let Some(note) = note {
            out.item();
            push_system(note, &mut out);
        }
        out.close(']');
        out.close('}');
        out.finish().into_bytes()
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        let cap = ["max_completion_tokens", "max_tokens"].iter().find_map(|key| {
            let (_, value) = self.params.iter().find(|(name, _)| name == key)?;
            value.as_u64()
        });
        let ways = Ways { cumulative: self.dialect.cumulative, inline_thinking: self.dialect.inline_thinking };
        Reducer::new(cap, &self.binding, ways)
    }

    fn push_assistant(&self, turn: &Turn, call_ids: &[CallId], out: &mut Writer) {
        let has_calls = !turn.calls.is_empty();
        out.text("role", "assistant");
        // A refusal that came apart is what the assistant said; few servers know a field for it.
        let content = if turn.text.is_empty() { &turn.refusal } else { &turn.text };
        let is_null = content.is_empty() && has_calls && !self.dialect.empty_content;
        out.optional("content", if is_null { None } else { Some(content) });
        if has_calls && !call_ids.is_empty() {
            out.key("tool_calls");
            out.open('[');
            for (index, (call, id)) in turn.calls.iter().zip(call_ids).enumerate() {
                out.item();
                out.open('{');
                out.text("id", &self.id(id));
                out.text("type", "function");
                out.key("function");
                out.open('{');
                out.text("name", &wire_name(&call.name));
                out.text("arguments", &wire_arguments(&call.arguments));
                out.close('}');
                let leftovers = turn.extra.calls.get(index).map_or(&[][..], Vec::as_slice);
                self.push_leftovers(turn, leftovers, out);
                let is_signed = self.is_replayed(turn) && leftovers.iter().any(|(name, _)| name == SIGNED);
                if index == 0 && self.dialect.fill_signatures && !is_signed {
                    out.key(SIGNED);
                    out.open('{');
                    out.key("google");
                    out.open('{');
                    out.text("thought_signature", NO_SIGNATURE);
                    out.close('}');
                    out.close('}');
                }
                out.close('}');
            }
            out.close(']');
        }
        self.push_leftovers(turn, &turn.extra.message, out);
        let has_reasoning = self.is_replayed(turn) && turn.extra.message.iter().any(|(name, _)| name == REASONING);
        if self.dialect.fill_reasoning && !has_reasoning {
            out.text(REASONING, NO_REASONING);
        }
    }

    /// Whether the fields of a turn that this build does not interpret go back.
    fn is_replayed(&self, turn: &Turn) -> bool {
        self.dialect.replay_leftovers && turn.extra.binding == self.binding
    }

    fn push_leftovers(&self, turn: &Turn, fields: &[(String, Json)], out: &mut Writer) {
        if self.is_replayed(turn) {
            for (name, value) in fields {
                out.value(name, value);
            }
        }
    }

    /// Our id of a call as this server takes it.
    fn id(&self, id: &CallId) -> String {
        if self.dialect.nine_character_ids { nine_character_id(id) } else { wire_id(id) }
    }
}

fn push_system(text: &str, out: &mut Writer) {
    out.open('{');
    out.text("role", "system");
    out.text("content", text);
    out.close('}');
}

/// A user's message: one text as a string, which every server takes, several as typed parts.
fn push_user(parts: &[Part], out: &mut Writer) {
    out.text("role", "user");
    if let [Part::Text(text)] = parts {
        return out.text("content", text);
    }
    out.key("content");
    out.open('[');
    for part in parts {
        out.item();
        out.open('{');
        match part {
            Part::Text(text) => {
                out.text("type", "text");
                out.text("text", text);
            }
            Part::Image { url } => {
                out.text("type", "image_url");
                out.key("image_url");
                out.open('{');
                out.text("url", url);
                out.close('}');
            }
            Part::File { name, url } => {
                out.text("type", "file");
                out.key("file");
                out.open('{');
                out.text("filename", name);
                out.text("file_data", url);
                out.close('}');
            }
        }
        out.close('}');
    }
    out.close(']');
}
