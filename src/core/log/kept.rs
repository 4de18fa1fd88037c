//! The projection as text, kept beside the log, so that a long chat opens without its events being read again.
//!
//! One JSON object a line: what there is to know of the chat as a whole, then its entries, its runs and its settled requests,
//! each in order. The history is not in it, since it follows from the entries. What is kept may be lost at any time and is
//! only ever worth what the log says: a text of another version, or one that cannot be read, counts as none.

use std::cell::Cell;
use std::rc::Rc;

use super::{CallState, Chat, Entry, RequestEnd, RunState, Settled, TurnState};
use crate::core::approval::Digest;
use crate::core::event::{
    EndStatus, Reader, read_decision, read_facts, read_item, read_parts_of, read_request, read_turn, write_decision,
    write_facts, write_item, write_parts, write_request, write_turn,
};
use crate::core::json::{Writer, parse_lenient};
use crate::core::message::{CallId, ChatId, HistoryItem, MessageId, RequestId, RunId};
use crate::core::outcome::{PersonId, Token};

/// To be raised with every change of what this file writes, and of what the events of a log come to.
const VERSION: u64 = 1;

/// A projection that was kept, and where in its log it stands.
#[derive(Debug, PartialEq)]
pub struct Kept {
    /// The chat as it was.
    pub chat: Chat,
    /// The hash of the last event it covers, empty if that has none.
    pub last_hash: String,
}

impl Chat {
    /// The projection as text. `last_hash` is the hash of its last event, empty if that has none.
    pub fn keep(&self, last_hash: &str) -> String {
        let runs = || self.ended.iter().chain(&self.run);
        let mut out = Writer::default();
        out.open('{');
        out.number("kept", VERSION);
        out.text("chat", self.id.as_str());
        out.number("seq", self.next_seq);
        out.text("last_hash", last_hash);
        out.number("start", self.start as u64);
        out.number("lines", (self.entries.len() + runs().count() + self.settled_requests.len()) as u64);
        for (place, entry) in self.entries.iter().enumerate() {
            out.next_line();
            write_entry(entry, &mut out);
            if self.is_cleared(place) {
                out.flag("cleared", true);
            }
        }
        for run in runs() {
            out.next_line();
            write_run(run, &mut out);
        }
        for (request, end) in &self.settled_requests {
            out.next_line();
            out.text("type", "request");
            out.text("id", request.as_str());
            match end {
                RequestEnd::Decided(decision) => {
                    out.key("decision");
                    out.open('{');
                    write_decision(decision, &mut out);
                    out.close('}');
                }
                RequestEnd::Lapsed(token) => out.text("reason_code", token.token()),
                RequestEnd::OldDenial => out.flag("old", true),
                RequestEnd::Replaced => {}
            }
        }
        out.close('}');
        out.finish()
    }

    /// Reads what [`keep`](Self::keep) wrote of this chat; `None` if this build cannot.
    pub fn from_kept(id: &ChatId, text: &str) -> Option<Kept> {
        let wrong = Cell::new(None);
        let mut lines = text.lines();
        let first = parse_lenient(lines.next()?.as_bytes()).ok()?;
        let read = Reader { object: &first, wrong: &wrong, cleared: false };
        if read.number("kept") != VERSION || read.text("chat") != id.as_str() {
            return None;
        }
        let mut chat = Self::new(id.clone());
        let mut left = read.number("lines");
        for line in lines {
            let line = parse_lenient(line.as_bytes()).ok()?;
            chat.take_kept(read.object(&line))?;
            left = left.checked_sub(1)?;
        }
        chat.next_seq = read.number("seq");
        chat.start = usize::try_from(read.number("start")).ok()?;
        chat.run = chat.ended.pop();
        let last_hash = read.text("last_hash").to_owned();
        (left == 0 && wrong.get().is_none()).then_some(Kept { chat, last_hash })
    }

    /// Takes in a line behind the first one.
    fn take_kept(&mut self, read: Reader<'_>) -> Option<()> {
        let cleared = read.has("cleared");
        let entry = match read.text("type") {
            "user" => {
                let parts = read_parts_of(read);
                self.history.push(HistoryItem::User(parts.clone()));
                Entry::User { message: MessageId::new(read.text("message_id")), author: read.person("author"), parts }
            }
            "turn" => Entry::Turn(self.take_turn(read)?),
            "failure" => Entry::Failure {
                code: read.text("code").to_owned(),
                message: read.text("message").to_owned(),
                text: read.text("text").to_owned(),
            },
            "run" => {
                self.ended.push(read_run(read, cleared));
                return Some(());
            }
            _ => {
                let end = if let Some(decision) = read.inner("decision") {
                    RequestEnd::Decided(read_decision(decision))
                } else if read.has("reason_code") {
                    RequestEnd::Lapsed(read.token("reason_code", Token::from_token, Token::OutcomeUnknown))
                } else if read.has("old") {
                    RequestEnd::OldDenial
                } else {
                    RequestEnd::Replaced
                };
                self.settled_requests.push((RequestId::new(read.name("id")), end));
                return Some(());
            }
        };
        if cleared {
            self.cleared.push(self.entries.len());
        }
        self.entries.push(entry);
        Some(())
    }

    /// Reads a turn, and extends the history by it and, once they are all there, by its results.
    fn take_turn(&mut self, read: Reader<'_>) -> Option<TurnState> {
        let (id, turn) = (read.name("id").to_owned(), Rc::new(read_turn(read)));
        let call_ids = CallId::of_turn(&id, turn.calls.len());
        let states = read.array("states");
        if states.len() != call_ids.len() {
            return None;
        }
        let calls: Vec<_> =
            call_ids.iter().zip(states).map(|(id, state)| read_call(id.clone(), read.object(state))).collect();
        self.history.push(HistoryItem::Assistant { turn: Rc::clone(&turn), call_ids });
        let results: Option<Vec<_>> = calls.iter().map(|call| Some(call.result.as_ref()?.item.clone())).collect();
        self.history.extend(results.into_iter().flatten().map(HistoryItem::Result));
        Some(TurnState { id, turn, calls })
    }
}

fn write_entry(entry: &Entry, out: &mut Writer) {
    match entry {
        Entry::User { message, author, parts } => {
            out.text("type", "user");
            out.text("message_id", message.as_str());
            out.optional("author", author.as_ref().map(PersonId::as_str));
            out.key("parts");
            write_parts(parts, out);
        }
        Entry::Turn(entry) => {
            out.text("type", "turn");
            out.text("id", &entry.id);
            write_turn(&entry.turn, out);
            out.key("states");
            out.open('[');
            for call in &entry.calls {
                out.item();
                out.open('{');
                write_call(call, out);
                out.close('}');
            }
            out.close(']');
        }
        Entry::Failure { code, message, text } => {
            out.text("type", "failure");
            out.text("code", code);
            out.text("message", message);
            out.text("text", text);
        }
    }
}

fn write_call(call: &CallState, out: &mut Writer) {
    let inner = |key, out: &mut Writer| {
        out.key(key);
        out.open('{');
    };
    if let Some(request) = &call.request {
        inner("request", out);
        write_request(request, out);
        out.close('}');
    }
    if let Some(decision) = &call.decision {
        inner("decision", out);
        write_decision(decision, out);
        out.close('}');
    }
    out.present("digest", call.digest.as_ref().map(Digest::as_str));
    out.number("asks", u64::from(call.asks));
    out.number("attempts", u64::from(call.attempts));
    if call.restarts {
        out.flag("restarts", true);
    }
    if let Some(settled) = &call.result {
        inner("result", out);
        if let Some(facts) = &settled.facts {
            inner("facts", out);
            write_facts(facts, out);
            out.close('}');
        }
        out.present("old_code", settled.old_code.as_deref());
        write_item(&settled.item, out);
        out.close('}');
    }
}

fn read_call(id: CallId, read: Reader<'_>) -> CallState {
    // Empty where the content is gone.
    let digest = |read: Reader<'_>| Digest::from_stored(read.text("digest"));
    CallState {
        id,
        request: read.inner("request").map(|request| read_request(request, digest(request))),
        decision: read.inner("decision").map(read_decision),
        asks: read.small("asks"),
        digest: read.has("digest").then(|| digest(read)),
        attempts: read.small("attempts"),
        restarts: read.has("restarts"),
        result: read.inner("result").map(|result| Settled {
            facts: result.inner("facts").map(read_facts),
            old_code: result.has("old_code").then(|| result.text("old_code").to_owned()),
            item: read_item(result),
        }),
    }
}

fn write_run(run: &RunState, out: &mut Writer) {
    out.text("type", "run");
    out.text("id", run.id.as_str());
    out.optional("owner", run.owner.as_ref().map(PersonId::as_str));
    out.number("rounds", u64::from(run.rounds));
    out.number("repeats", u64::from(run.repeats));
    out.number("last_seq", run.last_seq);
    out.key("declined");
    out.open('[');
    for call in &run.declined {
        out.bare(&call.as_str().into());
    }
    out.close(']');
    if let Some((status, reason)) = &run.end {
        out.text("status", status.token());
        out.optional("reason", reason.as_deref());
    }
    if run.cleared {
        out.flag("cleared", true);
    }
}

fn read_run(read: Reader<'_>, cleared: bool) -> RunState {
    let status = read.has("status").then(|| read.token("status", EndStatus::from_token, EndStatus::Stopped));
    RunState {
        id: RunId::new(read.text("id")),
        owner: read.person("owner"),
        rounds: read.small("rounds"),
        declined: read.strings("declined").into_iter().map(CallId::new).collect(),
        repeats: read.small("repeats"),
        end: status.map(|status| (status, read.owned("reason"))),
        last_seq: read.number("last_seq"),
        cleared,
    }
}
