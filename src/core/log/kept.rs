//! The projection as text, kept beside the log, so that a long chat opens without its events being read again.
//!
//! A check over all that follows; an object with what there is to know of the chat as a whole; the messages that a page draws
//! of what is folded; then one object a line: the latest run and its entries, and behind them what is *folded*: all entries,
//! runs and settled requests of before. Those are read once something new is to happen, since a page that is only opened needs
//! no more of them than their drawn messages. The history is not in it, as it follows from the entries.
//!
//! What is kept may be lost at any time and is only ever worth what the log says: a text of another version, or one that
//! cannot be read, counts as none.

use std::cell::Cell;
use std::rc::Rc;

use super::{Answered, CallState, Chat, Corrupt, Entry, RequestEnd, RunState, Settled, TurnState};
use crate::core::approval::{Digest, RequestKind};
use crate::core::event::{
    EndStatus, Reader, read_decision, read_facts, read_item, read_parts_of, read_request, read_turn, write_decision,
    write_facts, write_item, write_parts, write_request, write_turn,
};
use crate::core::json::{Json, Writer, parse_lenient};
use crate::core::message::{CallId, ChatId, GrantId, HistoryItem, MessageId, RequestId, RunId};
use crate::core::outcome::{PersonId, Token};

/// To be raised with every change of what this file writes, of how messages are drawn, and of what the events of a log come
/// to.
const VERSION: u64 = 4;

/// A projection that was kept, and where in its log it stands.
#[derive(Debug, PartialEq)]
pub struct Kept {
    /// The chat as it was, all but the latest run folded.
    pub chat: Chat,
    /// The hash of the last event it covers, empty if that has none.
    pub last_hash: String,
    /// The messages of what is folded.
    pub drawn: Drawn,
}

/// Messages as a page draws them. They follow from a chat and from how its host names tools.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Drawn {
    /// The messages as a JSON array, on one line.
    pub messages: String,
    /// What tools were called in them.
    pub titles: String,
}

/// What of a chat is not read yet.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Folded {
    entries: usize,
    lines: String,
}

impl Folded {
    pub(super) const NONE: Self = Self { entries: 0, lines: String::new() };
}

impl Chat {
    /// How many of the oldest entries are, or would be, folded: all but those of the latest run, and of the one before it
    /// if that waited when the latest began, for what waited is still shown.
    pub fn foldable(&self) -> usize {
        let message = |entries: &[Entry]| entries.iter().rposition(Entry::is_user).unwrap_or_default();
        let latest = if self.run.is_some() { message(&self.entries) } else { 0 };
        let shown = self.entries.get(..latest).filter(|_| self.superseded()).map_or(latest, message);
        self.folded.entries + shown
    }

    /// How many of the oldest entries are folded.
    pub const fn folded(&self) -> usize {
        self.folded.entries
    }

    /// The projection of an unfolded chat as text. `last_hash` is the hash of its last event, empty if that has none; `drawn`
    /// are the messages of the [foldable](Self::foldable) entries.
    pub fn keep(&self, last_hash: &str, drawn: &Drawn) -> String {
        let (before, latest) = self.entries.split_at_checked(self.foldable()).unwrap_or((&[], &self.entries));
        let (old_runs, last_run) = self.ended.split_at(self.ended.len().saturating_sub(1));
        let mut out = Writer::default();
        out.open('{');
        out.number("kept", VERSION);
        out.text("chat", self.id.as_str());
        out.number("seq", self.next_seq);
        out.text("last_hash", last_hash);
        out.number("last_at", self.last_at);
        out.number("start", self.start as u64);
        out.number("folded", before.len() as u64);
        out.number("lines", (latest.len() + last_run.len() + usize::from(self.run.is_some())) as u64);
        out.text("titles", &drawn.titles);
        out.close('}');
        let mut text = out.finish();
        text.push('\n');
        text.push_str(&drawn.messages);
        text.push('\n');
        let mut out = Writer::default();
        self.write_entries(before.len(), latest, &mut out);
        last_run.iter().chain(&self.run).for_each(|run| write_run(run, &mut out));
        self.write_entries(0, before, &mut out);
        old_runs.iter().for_each(|run| write_run(run, &mut out));
        for (request, end) in &self.settled_requests {
            write_settled(request, end, &mut out);
        }
        text.push_str(&out.finish());
        [&check(&text), "\n", &text].concat()
    }

    fn write_entries(&self, place: usize, entries: &[Entry], out: &mut Writer) {
        for (place, entry) in (place..).zip(entries) {
            out.open('{');
            write_entry(entry, out);
            if self.is_cleared(place) {
                out.flag("cleared", true);
            }
            out.end_line();
        }
    }

    /// Reads what [`keep`](Self::keep) wrote of this chat; `None` if this build cannot.
    pub fn from_kept(id: &ChatId, text: &str) -> Option<Kept> {
        let (stored, text) = text.split_once('\n')?;
        if stored != check(text) {
            return None;
        }
        let (first, text) = text.split_once('\n')?;
        let (messages, mut text) = text.split_once('\n')?;
        let first = parse_lenient(first.as_bytes()).ok()?;
        let wrong = Cell::new(None);
        let read = Reader { object: &first, wrong: &wrong, cleared: false };
        if read.number("kept") != VERSION || read.text("chat") != id.as_str() {
            return None;
        }
        let mut chat = Self::new(id.clone());
        chat.next_seq = read.number("seq");
        chat.last_at = read.number("last_at");
        chat.start = usize::try_from(read.number("start")).ok()?;
        chat.folded.entries = usize::try_from(read.number("folded")).ok()?;
        for _ in 0..read.number("lines") {
            let (line, rest) = text.split_once('\n')?;
            chat.take_kept(line)?;
            text = rest;
        }
        chat.folded.lines = text.to_owned();
        chat.run = chat.ended.pop();
        let last_hash = read.text("last_hash").to_owned();
        let drawn = Drawn { messages: messages.to_owned(), titles: read.text("titles").to_owned() };
        wrong.get().is_none().then_some(Kept { chat, last_hash, drawn })
    }

    /// Reads what is folded. Whatever is to happen to a chat needs all of it.
    pub fn unfold(&mut self) -> Result<(), Corrupt> {
        let Folded { entries, lines } = &self.folded;
        if lines.is_empty() {
            return Ok(());
        }
        let mut past = Self::new(self.id.clone());
        if lines.lines().try_for_each(|line| past.take_kept(line)).is_none() || past.entries.len() != *entries {
            return Err(Corrupt { seq: 0, problem: "what was kept of the chat cannot be read".to_owned() });
        }
        self.folded = Folded::NONE;
        past.entries.append(&mut self.entries);
        past.history.append(&mut self.history);
        past.ended.append(&mut self.ended);
        past.settled_requests.append(&mut self.settled_requests);
        past.cleared.append(&mut self.cleared);
        let Self { entries, history, ended, settled_requests, cleared, .. } = past;
        (self.entries, self.history, self.ended) = (entries, history, ended);
        (self.settled_requests, self.cleared) = (settled_requests, cleared);
        Ok(())
    }

    /// Takes in the line of an entry, a run or a settled request.
    fn take_kept(&mut self, line: &str) -> Option<()> {
        let wrong = Cell::new(None);
        let line = parse_lenient(line.as_bytes()).ok()?;
        self.take_object(Reader { object: &line, wrong: &wrong, cleared: false })?;
        wrong.get().is_none().then_some(())
    }

    fn take_object(&mut self, read: Reader<'_>) -> Option<()> {
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
            "request" => {
                let end = if let Some(decision) = read.inner("decision") {
                    RequestEnd::Decided(read_decision(decision))
                } else if read.has("reason_code") {
                    RequestEnd::Lapsed(read.token("reason_code", Token::from_token, Token::OutcomeUnknown))
                } else if read.has("expired") {
                    RequestEnd::Expired
                } else if read.has("old") {
                    RequestEnd::OldDenial
                } else {
                    RequestEnd::Replaced
                };
                self.settled_requests.push((RequestId::new(read.name("id")), end));
                return Some(());
            }
            _ => return None,
        };
        if cleared {
            self.cleared.push(self.folded.entries + self.entries.len());
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

/// A number that tells whether a text is the one that was written; no proof against somebody who writes another.
fn check(text: &str) -> String {
    let words = text.as_bytes().chunks(8).map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    words.fold(text.len() as u64, mix).to_string()
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
    if let Some(approval) = &call.approval {
        inner("approval", out);
        write_decision(approval, out);
        out.close('}');
    }
    out.key("answers");
    out.open('[');
    for answer in &call.answers {
        out.item();
        out.open('{');
        out.text("request_id", answer.request.as_str());
        out.text("kind", answer.kind.token());
        out.value("data", answer.data.as_ref().unwrap_or(&Json::Null));
        if let Some(reason) = &answer.refused {
            out.optional("refused", reason.as_deref());
        }
        out.close('}');
    }
    out.close(']');
    out.key("earlier");
    out.open('[');
    for request in &call.earlier {
        out.item();
        out.open('{');
        write_request(request, out);
        out.close('}');
    }
    out.close(']');
    if call.is_raised {
        out.flag("is_raised", true);
    }
    out.present("digest", call.digest.as_ref().map(Digest::as_str));
    out.present("grant_id", call.grant.as_ref().map(GrantId::as_str));
    for (key, time) in [("time_given", call.time_given), ("settled_at", call.settled_at)] {
        if let Some(time) = time {
            out.number(key, time);
        }
    }
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
        approval: read.inner("approval").map(read_decision),
        answers: read.array("answers").iter().map(|answer| read_answer(read.object(answer))).collect(),
        earlier: read
            .array("earlier")
            .iter()
            .map(|request| read.object(request))
            .map(|request| read_request(request, digest(request)))
            .collect(),
        is_raised: read.has("is_raised"),
        time_given: read.has("time_given").then(|| read.number("time_given")),
        settled_at: read.has("settled_at").then(|| read.number("settled_at")),
        asks: read.small("asks"),
        digest: read.has("digest").then(|| digest(read)),
        grant: read.grant(),
        attempts: read.small("attempts"),
        restarts: read.has("restarts"),
        result: read.inner("result").map(|result| Settled {
            facts: result.inner("facts").map(read_facts),
            old_code: result.has("old_code").then(|| result.text("old_code").to_owned()),
            item: read_item(result),
        }),
    }
}

fn read_answer(read: Reader<'_>) -> Answered {
    Answered {
        request: RequestId::new(read.name("request_id")),
        kind: RequestKind::of(read.name("kind")),
        data: Some(read.field("data")).filter(|data| !data.is_null()).cloned(),
        refused: read.has("refused").then(|| read.owned("refused")),
    }
}

fn write_settled(request: &RequestId, end: &RequestEnd, out: &mut Writer) {
    out.open('{');
    out.text("type", "request");
    out.text("id", request.as_str());
    match end {
        RequestEnd::Decided(decision) => {
            out.key("decision");
            out.open('{');
            write_decision(decision, out);
            out.close('}');
        }
        RequestEnd::Lapsed(token) => out.text("reason_code", token.token()),
        RequestEnd::Expired => out.flag("expired", true),
        RequestEnd::OldDenial => out.flag("old", true),
        RequestEnd::Replaced => {}
    }
    out.end_line();
}

fn write_run(run: &RunState, out: &mut Writer) {
    out.open('{');
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
    out.end_line();
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
