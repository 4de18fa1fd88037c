//! What a page draws: the chat as plain data, in the JSON that the package's TypeScript types describe.
//!
//! A field without a value is left out, unless its absence says something: then it is null.

use super::approval::Tool;
use super::card::{self, ValueChange};
use super::event::{self, Decision};
use super::grant::Book;
use super::json::{Json, Writer, write_number};
use super::log::{CallState, Drawn, Entry, RunState, Stage};
use super::message::{CallKind, GrantId, Part, RunId, TurnCall, server_of};
use super::outcome::{Decider, DenyReason, PersonId, Token};
use super::run::{Run, Settings, Status};

/// The message at a place of the chat: a person's (`user`), a model's turn (`assistant`) or a model request that gave
/// no turn (`error`); `null` where there is none, or it is folded.
pub fn message(run: &Run, place: usize) -> String {
    let mut out = Writer::default();
    out.open('{');
    match place.checked_sub(run.chat().folded()).and_then(|place| run.chat().entries().get(place)) {
        None => return String::from("null"),
        Some(Entry::User { message, author, parts }) => {
            let mut text = String::new();
            for part in parts {
                if let Part::Text(part) = part {
                    text.push_str(if text.is_empty() { "" } else { "\n" });
                    text.push_str(part);
                }
            }
            out.text("type", "user");
            out.text("id", message.as_str());
            out.optional("by", author.as_ref().map(PersonId::as_str));
            out.text("text", &text);
            if parts.iter().any(|part| !matches!(part, Part::Text(_))) {
                out.key("parts");
                event::write_parts(parts, &mut out);
            }
        }
        Some(Entry::Turn(entry)) => {
            out.text("type", "assistant");
            out.text("id", &entry.id);
            out.text("text", &entry.turn.text);
            out.text("reasoning", &entry.turn.reasoning);
            out.text("refusal", &entry.turn.refusal);
            out.key("calls");
            out.open('[');
            for (call, state) in entry.turn.calls.iter().zip(&entry.calls) {
                out.item();
                out.open('{');
                write_call(run, call, state, &mut out);
                out.close('}');
            }
            out.close(']');
            if let Some(usage) = &entry.turn.usage {
                write_usage(usage, &mut out);
            }
        }
        Some(Entry::Failure { code, message, text }) => {
            let mut id = String::from("e");
            write_number(place as u64, &mut id);
            out.text("type", "error");
            out.text("id", &id);
            out.text("code", code);
            out.text("message", message);
            out.text("text", text);
        }
    }
    if run.chat().is_cleared(place) {
        out.flag("cleared", true);
    }
    out.close('}');
    out.finish()
}

/// The projection of an unfolded chat, to be kept: see [`Chat::keep`](super::log::Chat::keep).
pub fn keep(run: &Run, last_hash: &str) -> String {
    let messages: Vec<_> = (0..run.chat().foldable()).map(|place| message(run, place)).collect();
    let drawn = Drawn { messages: ["[", &messages.join(","), "]"].concat(), titles: titles(run.settings()) };
    run.chat().keep(last_hash, &drawn)
}

/// What tools are called in messages.
pub fn titles(settings: &Settings) -> String {
    let mut out = Writer::default();
    out.open('{');
    for tool in &settings.tools {
        out.present(&tool.name, tool.title.as_deref());
    }
    out.close('}');
    out.finish()
}

/// The pending requests, in call order.
pub fn requests(run: &Run) -> String {
    let mut out = Writer::default();
    out.open('[');
    for (request, state) in run.chat().pending() {
        let Some((call, _)) = run.chat().call(&state.id) else { continue };
        let Some(view) = card::view(call, run.tool(call).as_deref(), state) else { continue };
        out.item();
        out.open('{');
        out.text("id", request.id.as_str());
        out.text("kind", request.kind.token());
        out.text("callId", request.call.as_str());
        out.text("prompt", &request.prompt);
        out.present("url", request.url.as_deref());
        if let Some(data) = &request.data {
            out.value("data", data);
        }
        match request.expires_at {
            Some(at) => out.number("expiresAt", at),
            None => out.optional("expiresAt", None),
        }
        out.key("scopes");
        out.open('[');
        out.bare(&"once".into());
        for scope in run.scopes_of(request) {
            out.bare(&scope.token().into());
        }
        out.close(']');
        out.key("view");
        out.open('{');
        view.write(&mut out);
        out.close('}');
        out.close('}');
    }
    out.close(']');
    out.finish()
}

/// The standing permissions that count at that time, in the order in which they were given.
pub fn grants(book: &Book, tools: &[Tool], at: u64) -> String {
    let mut out = Writer::default();
    out.open('[');
    for grant in book.standing().filter(|grant| !grant.is_over(at)) {
        out.item();
        out.open('{');
        grant.write(&mut out);
        let tool = tools.iter().find(|tool| tool.name == grant.tool && tool.server == grant.server);
        let changed = tool.map(|tool| grant.voided_by(tool)).unwrap_or_default();
        if !changed.is_empty() {
            out.strings("changed", &changed.into_iter().map(str::to_owned).collect::<Vec<_>>());
        }
        out.key("view");
        out.open('{');
        out.text("tool", &card::visible_line(&grant.tool));
        out.present("server", grant.server.as_deref().map(card::visible_line).as_deref());
        out.text("chat", &card::visible_line(grant.chat.as_str()));
        card::write_rows(&card::rows(&grant.arguments(), None), &mut out);
        out.close('}');
        out.close('}');
    }
    out.close(']');
    out.finish()
}

/// How a run stands, the latest or an earlier one: its status, a token that says more about its end, the failed model
/// request behind the status `error`, and the text of its last answer.
pub fn run_view(run: &Run, id: Option<&RunId>) -> String {
    let status = id.map_or(Status::Idle, |id| run.status_of(id));
    let entries = run.chat().entries();
    let mut out = Writer::default();
    out.open('{');
    out.text("status", status.token());
    let end = id.and_then(|id| run.chat().run_by_id(id)?.end.as_ref());
    out.present("reason", end.and_then(|(_, reason)| reason.as_deref()));
    if let (Status::Error, Some(Entry::Failure { code, message, .. })) = (status, entries.last()) {
        out.key("error");
        out.open('{');
        out.text("code", code);
        out.text("message", message);
        out.close('}');
    }
    let turns = id.map(|id| [id.as_str(), "t"].concat());
    let text = turns.and_then(|turns| {
        entries.iter().rev().find_map(|entry| match entry {
            Entry::Turn(turn) if turn.id.starts_with(&turns) => Some(turn.turn.text.as_str()),
            _ => None,
        })
    });
    out.text("text", text.unwrap_or_default());
    out.close('}');
    out.finish()
}

/// Token counts by the names that providers give them, and whole as they came.
fn write_usage(usage: &Json, out: &mut Writer) {
    out.key("usage");
    out.open('{');
    for (name, theirs) in [
        ("inputTokens", ["prompt_tokens", "input_tokens", "promptTokenCount"]),
        ("outputTokens", ["completion_tokens", "output_tokens", "candidatesTokenCount"]),
    ] {
        if let Some(count) = theirs.iter().find_map(|key| usage.get(key)?.as_u64()) {
            out.number(name, count);
        }
    }
    out.value("raw", usage);
    out.close('}');
}

fn write_call(run: &Run, call: &TurnCall, state: &CallState, out: &mut Writer) {
    out.text("id", state.id.as_str());
    out.text("tool", &call.name);
    out.present("server", server_of(call));
    out.present("title", run.title(call));
    out.text("arguments", &call.arguments);
    if let Some((_, edit)) = state.edited() {
        out.text("edited", &edit.arguments);
        ValueChange::write_all(&card::value_changes(&call.arguments, &edit.arguments), out);
    }
    out.text(
        "state",
        match state.stage() {
            Stage::Requested => "requested",
            Stage::Asked => "waiting",
            Stage::Ready => "ready",
            Stage::Started => "running",
            Stage::Declined | Stage::Settled => "settled",
        },
    );
    out.present("grant", state.grant.as_ref().map(GrantId::as_str));
    out.present("requestId", state.request.as_ref().map(|request| request.id.as_str()));
    if let Some(decision) = &state.decision {
        out.key("decision");
        out.open('{');
        write_decision(decision, out);
        out.close('}');
    }
    let Some(settled) = &state.result else {
        if let (Some(token), Some(decision)) = (state.refusal(), &state.decision)
            && !decision.relayed
        {
            let names_decider = matches!(token, Token::ApprovalDenied | Token::RequestDeclined);
            write_outcome(token, decision.by.decided_by().filter(|_| names_decider), out);
        }
        return;
    };
    match (&settled.facts, &settled.old_code) {
        (Some(facts), _) => write_outcome(facts.token, facts.decided_by, out),
        (None, Some(code)) => {
            out.text("outcome", code);
            out.optional("executed", None);
        }
        // Whether a provider ran what was approved is not known here.
        (None, None) if call.kind != CallKind::Function => out.optional("executed", None),
        (None, None) => out.flag("executed", true),
    }
    out.key("result");
    out.open('{');
    out.text("text", &settled.item.text);
    out.flag("isError", settled.item.is_error);
    out.close('}');
}

fn write_outcome(token: Token, decided_by: Option<Decider>, out: &mut Writer) {
    out.text("outcome", token.token());
    out.present("decidedBy", decided_by.map(Decider::token));
    // Null where it is not known whether the tool ran.
    match token.executed() {
        Some(executed) => out.flag("executed", executed),
        None => out.optional("executed", None),
    }
}

fn write_decision(decision: &Decision, out: &mut Writer) {
    out.flag("approve", decision.approve);
    out.optional("decidedBy", decision.by.decided_by().map(Decider::token));
    out.optional("by", decision.by.person().map(PersonId::as_str));
    out.text("settler", decision.by.token());
    out.text("via", decision.via.token());
    out.present("reason", decision.reason.map(DenyReason::token));
    out.present("note", decision.note.as_deref());
    out.present("answerReason", decision.answer_reason.as_deref());
    out.present("scope", decision.standing.as_ref().map(|(scope, _)| scope.token()));
    if let Some(data) = &decision.data {
        out.value("data", data);
    }
}

/// What is kept beside a chat's log, so that what waits in it is known without reading it.
pub fn head(run: &Run) -> String {
    let mut out = Writer::default();
    out.open('{');
    let pending = run.chat().pending().next().is_some();
    let status = match run.chat().run() {
        None => Status::Idle,
        Some(RunState { end: Some((end, _)), .. }) => Status::Ended(*end),
        Some(_) if pending => Status::Pending,
        Some(_) => Status::Interrupted,
    };
    out.text("status", status.token());
    let requests = requests(run);
    let mut text = out.finish();
    text.push_str(",\"requests\":");
    text.push_str(&requests);
    text.push('}');
    text
}
