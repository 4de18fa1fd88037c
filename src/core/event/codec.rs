//! Events as JSON text, one object a line, and back.

mod cleared;
mod reader;
mod request;

pub use reader::Reader;
pub use request::{read as read_request, read_decision, write as write_request, write_decision};

use std::cell::Cell;
use std::rc::Rc;

use super::{Body, EndStatus, Event, Facts, OldDenial, TYPES};
use crate::core::json::{self, Json, JsonErrorKind, Writer};
use crate::core::message::{
    CallId, CallKind, ChatId, GrantId, HistoryItem, MessageId, Part, ResultItem, RunId, Trust, Turn, TurnCall, TurnEnd,
    TurnExtra,
};
use crate::core::outcome::{Decider, DenyReason, PersonId, Token};
use crate::core::upcast::upcast;

impl Event {
    /// The event as one line of JSON, without a line break.
    pub fn encode(&self) -> String {
        let kind = self.body.kind();
        let mut line = Writer::default();
        line.open('{');
        line.number("seq", self.seq);
        line.text("chat", self.chat.as_str());
        line.text("run", self.run.as_str());
        line.number("at", self.at);
        line.text("type", kind);
        line.number("v", Body::version(kind).unwrap_or_default());
        write_body(&self.body, &mut line);
        line.close('}');
        line.finish()
    }

    /// Reads one line. The error is one sentence that names the field at fault.
    pub fn decode(line: &str) -> Result<Self, String> {
        let stored = json::parse_lenient(line.as_bytes()).map_err(|error| match error.kind {
            JsonErrorKind::UnexpectedEnd => ["the line is cut off: ", &error.text()].concat(),
            _ => error.text(),
        })?;
        let wrong = Cell::new(None);
        let cleared = stored.get("content_hash").or_else(|| stored.get("text_hash")).is_some();
        let read = Reader { object: &stored, wrong: &wrong, cleared };
        let kind = read.text("type");
        let version = read.number("v");
        let Some((kind, known)) = TYPES.into_iter().find(|(known, _)| *known == kind) else {
            return Err(["the event type ", kind, " is not known to this build"].concat());
        };
        if wrong.get().is_none() && !(1..=known).contains(&version) {
            return Err([
                "the event type ",
                kind,
                " is at version ",
                &version.to_string(),
                ", and this build reads up to version ",
                &known.to_string(),
            ]
            .concat());
        }
        let current = upcast(kind, version, known, stored);
        let read = Reader { object: &current, wrong: &wrong, cleared };
        let event = Self {
            seq: read.number("seq"),
            chat: ChatId::new(read.text("chat")),
            run: RunId::new(read.text("run")),
            at: read.number("at"),
            body: read_body(kind, read),
            cleared,
        };
        match wrong.get() {
            None => Ok(event),
            Some(key) => Err(["the field ", key, " is missing or of the wrong kind"].concat()),
        }
    }
}

fn write_body(body: &Body, line: &mut Writer) {
    match body {
        Body::ChatSeeded { history } => {
            line.key("history");
            line.open('[');
            for item in history {
                line.item();
                write_history_item(item, line);
            }
            line.close(']');
        }
        Body::HistoryTrimmed { start } => line.number("start", *start as u64),
        Body::RunStarted { message, owner, parts } => {
            line.text("message_id", message.as_str());
            line.optional("owner", owner.as_ref().map(PersonId::as_str));
            line.key("parts");
            write_parts(parts, line);
        }
        Body::TurnCompleted { turn } => write_turn(turn, line),
        Body::TurnFailed { code, message, text } => {
            line.text("code", code);
            line.text("message", message);
            line.text("text", text);
        }
        Body::CallAllowed { call, digest, grant } => {
            line.text("call_id", call.as_str());
            line.text("digest", digest.as_str());
            line.present("grant_id", grant.as_ref().map(GrantId::as_str));
        }
        Body::CallAsked { request } => write_request(request, line),
        Body::CallExtended { call, extension } => request::write_extension(call, extension, line),
        Body::CallDecided { call, decision } => {
            line.text("call_id", call.as_str());
            write_decision(decision, line);
        }
        Body::CallStarted { call, attempt } => {
            line.text("call_id", call.as_str());
            line.number("attempt", u64::from(*attempt));
        }
        Body::CallSettled { name, facts, item } => {
            line.text("call_id", item.call.as_str());
            line.text("name", name);
            if let Some(facts) = facts {
                write_facts(facts, line);
            }
            write_item(item, line);
        }
        Body::OldDenial(denial) => {
            line.text("call_id", denial.call.as_str());
            line.text("name", &denial.name);
            line.text("reason_code", &denial.reason_code);
            match &denial.item {
                Some(item) => write_item(item, line),
                None => line.optional("result_item", None),
            }
        }
        Body::RunEnded { status, reason } => {
            line.text("status", status.token());
            line.optional("reason", reason.as_deref());
        }
    }
}

fn write_history_item(item: &HistoryItem, line: &mut Writer) {
    line.open('{');
    match item {
        HistoryItem::User(parts) => {
            line.text("role", "user");
            line.key("parts");
            write_parts(parts, line);
        }
        HistoryItem::Assistant { turn, .. } => {
            line.text("role", "assistant");
            write_turn(turn, line);
        }
        HistoryItem::Result(item) => {
            line.text("role", "tool");
            write_item(item, line);
        }
    }
    line.close('}');
}

/// The parts of a message, in the shape that pages give and see too.
pub fn write_parts(parts: &[Part], out: &mut Writer) {
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
                out.text("type", "image");
                out.text("url", url);
            }
            Part::File { name, url } => {
                out.text("type", "file");
                out.text("name", name);
                out.text("url", url);
            }
        }
        out.close('}');
    }
    out.close(']');
}

/// The fields of an outcome's facts.
pub fn write_facts(facts: &Facts, line: &mut Writer) {
    line.text("reason_code", facts.token.token());
    line.optional("decided_by", facts.decided_by.map(Decider::token));
    line.optional("reason", facts.reason.map(DenyReason::token));
    line.flag("approved", facts.approved);
}

/// A result item, as the field `result_item`.
pub fn write_item(item: &ResultItem, line: &mut Writer) {
    line.key("result_item");
    line.open('{');
    line.text("role", "tool");
    line.text("call_id", item.call.as_str());
    line.optional("renderer", item.renderer.as_deref());
    line.text("text", &item.text);
    line.flag("is_error", item.is_error);
    line.text("trust", item.trust.token());
    line.close('}');
}

/// A turn's fields.
pub fn write_turn(turn: &Turn, line: &mut Writer) {
    line.text("end", turn.end.token());
    line.optional("finish_reason", turn.finish_reason.as_deref());
    line.text("text", &turn.text);
    line.text("reasoning", &turn.reasoning);
    line.text("refusal", &turn.refusal);
    line.key("calls");
    line.open('[');
    let mut extras = turn.extra.calls.iter();
    for call in &turn.calls {
        line.item();
        line.open('{');
        line.optional("provider_id", call.provider_id.as_deref());
        line.text("name", &call.name);
        line.text("arguments", &call.arguments);
        if let CallKind::ProviderApproval { server } = &call.kind {
            line.text("server", server);
        }
        line.fields("extra", extras.next().map(Vec::as_slice).unwrap_or_default());
        line.close('}');
    }
    line.close(']');
    line.value("usage", turn.usage.as_ref().unwrap_or(&Json::Null));
    line.text("binding", &turn.extra.binding);
    line.key("items");
    line.open('[');
    for item in &turn.extra.items {
        line.bare(item);
    }
    line.close(']');
    line.fields("extra", &turn.extra.message);
}

fn read_body(kind: &str, read: Reader<'_>) -> Body {
    match kind {
        "chat.seeded" => Body::ChatSeeded { history: read_seed(read) },
        "history.trimmed" => Body::HistoryTrimmed {
            start: usize::try_from(read.number("start")).unwrap_or_else(|_| {
                read.reject("start");
                0
            }),
        },
        "run.started" => Body::RunStarted {
            message: MessageId::new(read.text("message_id")),
            owner: read.person("owner"),
            parts: read_parts_of(read),
        },
        "turn.completed" => Body::TurnCompleted { turn: Rc::new(read_turn(read)) },
        "turn.failed" => Body::TurnFailed {
            code: read.text("code").to_owned(),
            message: read.text("message").to_owned(),
            text: read.text("text").to_owned(),
        },
        "tool.call.allowed" => Body::CallAllowed { call: read.call(), digest: read.digest(), grant: read.grant() },
        "tool.call.asked" => Body::CallAsked { request: read_request(read, read.digest()) },
        "tool.call.extended" => Body::CallExtended { call: read.call(), extension: request::read_extension(read) },
        "tool.call.decided" => Body::CallDecided { call: read.call(), decision: read_decision(read) },
        "tool.call.started" => Body::CallStarted { call: read.call(), attempt: read.small("attempt") },
        "run.ended" => Body::RunEnded {
            status: read.token("status", EndStatus::from_token, EndStatus::Stopped),
            reason: read.owned("reason"),
        },
        _ => read_settled(kind, read),
    }
}

/// The parts of a message, as pages give them; the error names the field at fault.
pub fn read_parts(parts: &Json) -> Result<Vec<Part>, &'static str> {
    let wrong = Cell::new(None);
    let parts = read_parts_of(Reader { object: parts, wrong: &wrong, cleared: false });
    wrong.get().map_or(Ok(parts), Err)
}

/// The messages a chat starts from, as pages give them: `{"history": […]}`; the error names the field at fault.
pub fn read_history(history: &Json) -> Result<Vec<HistoryItem>, &'static str> {
    let wrong = Cell::new(None);
    let items = read_seed(Reader { object: history, wrong: &wrong, cleared: false });
    wrong.get().map_or(Ok(items), Err)
}

fn read_seed(read: Reader<'_>) -> Vec<HistoryItem> {
    if read.cleared {
        return cleared::history(read);
    }
    let mut items = Vec::new();
    let mut turns = 0;
    for item in read.array("history") {
        let item = read.object(item);
        items.push(match item.text("role") {
            "user" => HistoryItem::User(read_parts_of(item)),
            "tool" => HistoryItem::Result(read_item(item)),
            role => {
                if role != "assistant" {
                    item.reject("role");
                }
                turns += 1;
                let turn = read_turn(item);
                let call_ids = CallId::of_turn(&CallId::seeded_turn(turns), turn.calls.len());
                HistoryItem::Assistant { turn: Rc::new(turn), call_ids }
            }
        });
    }
    items
}

/// The field `parts`.
pub fn read_parts_of(read: Reader<'_>) -> Vec<Part> {
    let mut parts = Vec::new();
    for part in read.array("parts") {
        let part = read.object(part);
        let own = |key| part.text(key).to_owned();
        parts.push(match part.text("type") {
            "image" => Part::Image { url: own("url") },
            "file" => Part::File { name: own("name"), url: own("url") },
            kind => {
                if kind != "text" {
                    part.reject("parts");
                }
                Part::Text(own("text"))
            }
        });
    }
    parts
}

/// The events whose type follows from what a call came to.
fn read_settled(kind: &str, read: Reader<'_>) -> Body {
    let is_unrecorded = |key| read.object.get(key).is_none_or(Json::is_null);
    let has_no_item = read.object.get("result_item").is_some_and(Json::is_null);
    if kind == "tool.call.denied" && (has_no_item || (is_unrecorded("decided_by") && is_unrecorded("approved"))) {
        return Body::OldDenial(read_old_denial(read));
    }
    let facts = (kind != "tool.call.completed").then(|| read_facts(read));
    let item = if read.cleared {
        ResultItem { is_error: facts.is_some(), ..cleared::item(read.call()) }
    } else {
        read_item(read)
    };
    if item.call != read.call() {
        read.reject("result_item");
    }
    let body = Body::CallSettled { name: read.name("name").to_owned(), facts, item };
    if body.kind() != kind {
        // A reason code that belongs to another type.
        read.reject("reason_code");
    }
    body
}

/// The fields of an outcome's facts.
pub fn read_facts(read: Reader<'_>) -> Facts {
    Facts {
        token: read.token("reason_code", Token::from_token, Token::OutcomeUnknown),
        decided_by: read.optional_token("decided_by", Decider::from_token),
        reason: read.optional_token("reason", DenyReason::from_token),
        approved: read.flag("approved"),
    }
}

fn read_old_denial(read: Reader<'_>) -> OldDenial {
    let call = read.call();
    let item = (!read.field("result_item").is_null()).then(|| read_item(read));
    if item.as_ref().is_some_and(|item| item.call != call) {
        read.reject("result_item");
    }
    OldDenial { call, name: read.name("name").to_owned(), reason_code: read.name("reason_code").to_owned(), item }
}

/// The field `result_item`.
pub fn read_item(read: Reader<'_>) -> ResultItem {
    let item = read.field("result_item");
    if item.as_object().is_none() {
        read.reject("result_item");
    }
    let item = read.object(item);
    ResultItem {
        call: item.call(),
        renderer: item.owned("renderer"),
        text: item.text("text").to_owned(),
        is_error: item.flag("is_error"),
        trust: item.token("trust", Trust::from_token, Trust::ExternalUntrusted),
    }
}

/// A turn's fields.
pub fn read_turn(read: Reader<'_>) -> Turn {
    let end = read.token("end", TurnEnd::from_token, TurnEnd::Truncated);
    if read.cleared {
        return cleared::turn(end, cleared::calls(read, "call_count", read.field("call_count").as_u64()));
    }
    let mut extra = TurnExtra {
        binding: read.text("binding").to_owned(),
        items: read.array("items").to_vec(),
        message: read.fields("extra"),
        calls: Vec::new(),
    };
    let mut calls = Vec::new();
    for call in read.array("calls") {
        let call = read.object(call);
        extra.calls.push(call.fields("extra"));
        // Most calls have none, and no call had one before the field was there.
        let server = call.object.get("server").and_then(Json::as_str).map(str::to_owned);
        calls.push(TurnCall {
            kind: server.map_or(CallKind::Function, |server| CallKind::ProviderApproval { server }),
            provider_id: call.owned("provider_id"),
            name: call.text("name").to_owned(),
            arguments: call.text("arguments").to_owned(),
        });
    }
    let usage = read.field("usage");
    Turn {
        end,
        finish_reason: read.owned("finish_reason"),
        text: read.text("text").to_owned(),
        reasoning: read.text("reasoning").to_owned(),
        refusal: read.text("refusal").to_owned(),
        calls,
        usage: (!usage.is_null()).then(|| usage.clone()),
        extra,
    }
}
