//! OpenAI Responses, and the servers that speak it. Stateless: the whole history goes with every request, and nothing of
//! it has to be kept by the server.
//!
//! A turn that came from the same endpoint and model goes back as its own items, in their order, with reasoning that only
//! the server can read. Any other turn is written from what this program knows of it.

mod items;
mod reducer;

pub use super::{Delta, Opening};
pub use reducer::Reducer;

use super::super::json::{Json, Writer};
use super::super::message::{CallId, CallKind, HistoryItem, Part, ResultItem, Turn, TurnCall};
use super::names::{wire_arguments, wire_id, wire_name};
use items::{APPROVAL, is_call, is_for_client, type_of};

/// Fields of the request that are this program's own.
const OWN_FIELDS: [&str; 7] =
    ["conversation", "input", "instructions", "model", "previous_response_id", "stream", "tools"];
/// Types of tools that the sender of the request runs.
const FOR_HERE: [&str; 8] =
    ["", "function", "custom", "local_shell", "shell", "apply_patch", "computer", "computer_use_preview"];
const CALL: &str = "function_call";
const REASONING: &str = "reasoning";
/// What the server is asked to send beside its answer: reasoning that it need not keep to read it again.
const ENCRYPTED_REASONING: &str = "reasoning.encrypted_content";

/// Where servers of this format differ.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Dialect {
    /// Ask for reasoning in encrypted form, so that it can go back to a server that keeps nothing. Some servers refuse
    /// the field. On by default.
    pub include_encrypted_reasoning: bool,
    /// Tools that the provider runs, as its API describes them: `web_search`, `mcp` and the like. What they may do without
    /// a person's word is between the host and the provider; an `mcp` tool asks for approval unless it is told not to,
    /// and such a request is a call of the kind
    /// [`ProviderApproval`](super::super::message::CallKind::ProviderApproval). None by default.
    pub server_tools: Vec<Json>,
    /// Put each result right behind its call. DeepSeek pairs them by position. Off by default.
    pub interleave_results: bool,
}

impl Default for Dialect {
    fn default() -> Self {
        Self { include_encrypted_reasoning: true, server_tools: Vec::new(), interleave_results: false }
    }
}

/// One endpoint and model.
#[derive(Clone, Debug)]
pub struct OpenAiResponses {
    model: String,
    binding: String,
    params: Vec<(String, Json)>,
    dialect: Dialect,
}

/// One item of a turn as it goes back.
struct Sent<'a> {
    kind: &'a str,
    json: String,
}

impl OpenAiResponses {
    /// A model, what its turns are bound to (see [`TurnExtra`](super::super::message::TurnExtra)), and request fields that
    /// are merged into every request as they are. The error names a field that cannot be given this way, and what to do
    /// instead.
    pub fn new(model: &str, binding: &str, params: Vec<(String, Json)>, dialect: Dialect) -> Result<Self, String> {
        if let Some((name, _)) = params.iter().find(|(name, _)| OWN_FIELDS.contains(&name.as_str())) {
            let advice = match name.as_str() {
                "input" => "the chat sends its own messages; use instructions, or the history of agent.open",
                "instructions" => "give them in createAgent({ instructions })",
                "model" => "name the model in openaiResponses({ model })",
                "tools" => "offer tools in createAgent({ tools }), they cannot be approved otherwise",
                "stream" => "every answer is streamed",
                _ => "the whole history is sent every time, a server that adds its own would have it twice",
            };
            return Err(["params must not set \"", name, "\": ", advice].concat());
        }
        if let Some(tool) = dialect.server_tools.iter().find(|tool| FOR_HERE.contains(&type_of(tool))) {
            let kind = type_of(tool);
            return Err(
                ["a tool of type \"", kind, "\" does not run on a server; offer it in createAgent({ tools })"].concat()
            );
        }
        Ok(Self { model: model.to_owned(), binding: binding.to_owned(), params, dialect })
    }

    fn param(&self, key: &str) -> Option<&Json> {
        self.params.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }

    /// The body up to the place of the first history item.
    pub fn head(&self, opening: &Opening<'_>) -> Vec<u8> {
        let mut out = Writer::default();
        out.open('{');
        out.text("model", &self.model);
        // Sent in any case: there are servers that stream when it is absent.
        out.flag("stream", true);
        if self.param("store").is_none() {
            // The server's default is to keep every response for a month.
            out.flag("store", false);
        }
        self.push_include(&mut out);
        let has_tools = !opening.tools.is_empty() || !self.dialect.server_tools.is_empty();
        for (name, value) in &self.params {
            // Servers refuse these where no tool is offered.
            let is_choice = name == "tool_choice";
            let about_tools = is_choice || name == "parallel_tool_calls";
            if name == "include" || about_tools && !has_tools || is_choice && !opening.allow_tools {
                continue;
            }
            out.value(name, value);
        }
        if has_tools {
            out.key("tools");
            out.open('[');
            for tool in opening.tools {
                out.item();
                out.open('{');
                out.text("type", "function");
                out.text("name", &wire_name(&tool.name));
                out.present("description", Some(tool.description.as_str()).filter(|text| !text.is_empty()));
                if tool.input_schema.is_null() {
                    // The field must be there, and null is not known everywhere.
                    let kind = (String::from("type"), Json::from("object"));
                    out.fields("parameters", &[kind, (String::from("properties"), Json::Object(Vec::new()))]);
                } else {
                    out.value("parameters", &tool.input_schema);
                }
                // Left out, OpenAI rewrites the schema for its strict mode if it can.
                out.flag("strict", false);
                out.close('}');
            }
            for tool in &self.dialect.server_tools {
                out.bare(tool);
            }
            out.close(']');
            if !opening.allow_tools {
                out.text("tool_choice", "none");
            }
        }
        out.present("instructions", opening.instructions);
        out.key("input");
        out.open('[');
        out.finish().into_bytes()
    }

    fn push_include(&self, out: &mut Writer) {
        let asked = self.param("include").and_then(Json::as_array).unwrap_or(&[]);
        let is_asked = asked.iter().any(|field| field.as_str() == Some(ENCRYPTED_REASONING));
        let adds = self.dialect.include_encrypted_reasoning && !is_asked;
        if !adds && asked.is_empty() {
            return;
        }
        out.key("include");
        out.open('[');
        for field in asked {
            out.bare(field);
        }
        if adds {
            out.bare(&Json::from(ENCRYPTED_REASONING));
        }
        out.close(']');
    }

    /// One history item, to stand behind [`head`](Self::head) or behind the items `before` it. The bytes depend on
    /// nothing that comes later.
    pub fn item(&self, item: &HistoryItem, before: &[HistoryItem]) -> Vec<u8> {
        let mut out = String::new();
        let mut is_first = before.is_empty();
        let mut push = |json: &str| {
            if !std::mem::take(&mut is_first) {
                out.push(',');
            }
            out.push_str(json);
        };
        match item {
            HistoryItem::User(parts) => push(&message("user", parts)),
            HistoryItem::Assistant { turn, call_ids } => {
                for sent in self.segment(turn, call_ids, 0) {
                    push(&sent.json);
                }
            }
            HistoryItem::Result(result) => {
                let owner = owner(before, &result.call);
                push(&self.answer(result, owner));
                if let Some((turn, call_ids, place)) = owner.filter(|_| self.dialect.interleave_results) {
                    for sent in self.segment(turn, call_ids, place + 1) {
                        push(&sent.json);
                    }
                }
            }
        }
        out.into_bytes()
    }

    /// What closes the body, with a note of the host behind the history, if there is one. The note is no part of the
    /// history: no later request has it.
    pub fn tail(&self, last: Option<&HistoryItem>, note: Option<&str>) -> Vec<u8> {
        let mut out = String::new();
        if let Some(note) = note {
            out.push_str(if last.is_some() { "," } else { "" });
            out.push_str(&message("system", &[Part::Text(note.to_owned())]));
        }
        out.push_str("]}");
        out.into_bytes()
    }

    /// Reads the response to one request.
    pub fn reducer(&self) -> Reducer {
        Reducer::new(self.param("max_output_tokens").and_then(Json::as_u64), &self.binding)
    }

    /// The items of a turn that stand behind so many of its results. All stand in front of them, but where results are
    /// interleaved only those up to the next call.
    fn segment<'a>(&self, turn: &'a Turn, call_ids: &[CallId], results: usize) -> Vec<Sent<'a>> {
        let mut sent = self.items_of(turn, call_ids);
        let mut calls = 0;
        sent.retain(|sent| {
            let is_here = calls == results || !self.dialect.interleave_results;
            calls += usize::from(sent.kind == CALL);
            is_here
        });
        sent
    }

    /// A turn's items as they go back: never none, so that the comma behind them has something to stand behind.
    fn items_of<'a>(&self, turn: &'a Turn, call_ids: &[CallId]) -> Vec<Sent<'a>> {
        if !self.is_own(turn) {
            return plain(turn, call_ids);
        }
        let mut pairs = turn.calls.iter().zip(call_ids);
        let mut sent = Vec::new();
        for item in &turn.extra.items {
            match type_of(item) {
                _ if is_call(item) => {
                    let pair = pairs.next();
                    sent.extend(pair.map(|(call, id)| Sent { kind: CALL, json: own_call(item, call, id) }));
                }
                _ if is_for_client(item) => {}
                REASONING if self.is_reference(item) => {}
                kind => sent.push(Sent { kind, json: item.text() }),
            }
        }
        // Servers refuse reasoning that led to nothing.
        while sent.last().is_some_and(|sent| sent.kind == REASONING) {
            sent.pop();
        }
        if sent.is_empty() { plain(turn, call_ids) } else { sent }
    }

    /// Whether a turn goes back as its own items.
    fn is_own(&self, turn: &Turn) -> bool {
        let calls = turn.extra.items.iter().filter(|item| is_call(item)).count();
        let can_be_answered = |call: &TurnCall| call.kind == CallKind::Function || call.provider_id.is_some();
        turn.extra.binding == self.binding && calls == turn.calls.len() && turn.calls.iter().all(can_be_answered)
    }

    /// What goes back for a result. This wire has no error flag; a result that is an error says so in its text.
    fn answer(&self, result: &ResultItem, owner: Option<(&Turn, &[CallId], usize)>) -> String {
        let mut out = Writer::default();
        out.open('{');
        let call = owner.filter(|(turn, ..)| self.is_own(turn)).and_then(|(turn, _, place)| turn.calls.get(place));
        match call {
            Some(TurnCall { kind: CallKind::ProviderApproval { .. }, provider_id, .. }) => {
                out.text("type", "mcp_approval_response");
                out.text("approval_request_id", provider_id.as_deref().unwrap_or(""));
                out.flag("approve", !result.is_error);
                out.present("reason", Some(result.text.as_str()).filter(|_| result.is_error));
            }
            _ => {
                out.text("type", "function_call_output");
                out.text("call_id", &wire_id(&result.call));
                out.text("output", &result.text);
            }
        }
        out.close('}');
        out.finish()
    }

    /// Whether a reasoning item only names what the server has kept, and it keeps nothing.
    fn is_reference(&self, item: &Json) -> bool {
        let holds = |key: &str| match item.get(key) {
            Some(Json::String(text)) => !text.is_empty(),
            Some(Json::Array(parts)) => !parts.is_empty(),
            _ => false,
        };
        let is_stored = self.param("store").and_then(Json::as_bool) == Some(true);
        !is_stored && !["encrypted_content", "content", "summary"].into_iter().any(holds)
    }
}

/// The turn of a call whose result comes behind these items, the ids of its calls, and the call's place among them.
fn owner<'a>(before: &'a [HistoryItem], call: &CallId) -> Option<(&'a Turn, &'a [CallId], usize)> {
    before.iter().rev().find_map(|item| match item {
        HistoryItem::Assistant { turn, call_ids } => {
            Some((&**turn, call_ids.as_slice(), call_ids.iter().position(|id| id == call)?))
        }
        HistoryItem::User(_) | HistoryItem::Result(_) => None,
    })
}

/// A turn from elsewhere: what was said, then the calls. It may have said nothing.
fn plain<'a>(turn: &Turn, call_ids: &[CallId]) -> Vec<Sent<'a>> {
    let mut sent = Vec::new();
    // A refusal that came apart is what the assistant said.
    let text = if turn.text.is_empty() { &turn.refusal } else { &turn.text };
    if !text.is_empty() || turn.calls.is_empty() || call_ids.is_empty() {
        sent.push(Sent { kind: "message", json: message("assistant", &[Part::Text(text.clone())]) });
    }
    for (call, id) in turn.calls.iter().zip(call_ids) {
        let mut out = Writer::default();
        out.open('{');
        out.text("type", CALL);
        push_call(call, id, &mut out);
        out.close('}');
        sent.push(Sent { kind: CALL, json: out.finish() });
    }
    sent
}

fn push_call(call: &TurnCall, id: &CallId, out: &mut Writer) {
    out.text("call_id", &wire_id(id));
    out.text("name", &wire_name(&call.name));
    out.text("arguments", &wire_arguments(&call.arguments));
}

/// A call as it came, but for what must agree with its result or be fit to be read again.
fn own_call(item: &Json, call: &TurnCall, id: &CallId) -> String {
    let mut out = Writer::default();
    out.open('{');
    match type_of(item) {
        // Answered by the provider's own id.
        APPROVAL => return item.text(),
        // No tool of this program is one. As a function call it can be answered like any other.
        "custom_tool_call" => {
            out.text("type", CALL);
            let input = Json::Object(vec![(String::from("input"), Json::from(call.arguments.as_str()))]);
            push_call(&TurnCall { arguments: input.text(), ..call.clone() }, id, &mut out);
        }
        _ => {
            for (key, value) in item.as_object().unwrap_or(&[]) {
                if !matches!(key.as_str(), "call_id" | "name" | "arguments") {
                    out.value(key, value);
                }
            }
            push_call(call, id, &mut out);
        }
    }
    out.close('}');
    out.finish()
}

/// A message in the form that every server of this format knows: typed, its content a list.
fn message(role: &str, parts: &[Part]) -> String {
    let mut out = Writer::default();
    out.open('{');
    out.text("type", "message");
    out.text("role", role);
    out.key("content");
    out.open('[');
    for part in parts {
        out.item();
        out.open('{');
        match part {
            Part::Text(text) => {
                out.text("type", if role == "assistant" { "output_text" } else { "input_text" });
                out.text("text", text);
            }
            Part::Image { url } => {
                out.text("type", "input_image");
                out.text("image_url", url);
                // Some servers do not know the default.
                out.text("detail", "auto");
            }
            Part::File { name, url } => {
                out.text("type", "input_file");
                if Part::data_of(url).is_some() {
                    out.text("filename", name);
                    out.text("file_data", url);
                } else {
                    // A file behind a URL has its name there.
                    out.text("file_url", url);
                }
            }
        }
        out.close('}');
    }
    out.close(']');
    out.close('}');
    out.finish()
}
