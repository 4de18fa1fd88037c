//! The projection: what a chat is, as it follows from its events, and the check that its history is sendable.
//!
//! State changes only here, by [`Chat::apply`]. A live chat and a chat replayed from its log are the same by
//! construction.

mod call;
mod cleared;
mod kept;
pub mod text;

pub use call::{Answered, CallState, RequestEnd, Settled, Stage};
pub use kept::{Drawn, Kept};

use std::collections::VecDeque;
use std::rc::Rc;

use super::approval::{Request, RequestKind};
use super::event::{Body, EndStatus, Event};
use super::message::{CallId, CallKind, ChatId, HistoryItem, MessageId, Part, RequestId, RunId, Turn};
use super::outcome::{PersonId, Token};

/// A chat as its log tells it.
#[derive(Clone, Debug, PartialEq)]
pub struct Chat {
    id: ChatId,
    next_seq: u64,
    /// What came before everything that is here, not read yet.
    folded: kept::Folded,
    /// The latest time of any event.
    last_at: u64,
    entries: Vec<Entry>,
    history: Vec<HistoryItem>,
    /// Where in the history requests begin.
    start: usize,
    run: Option<RunState>,
    /// How each run before the latest came to its end.
    ended: Vec<RunState>,
    settled_requests: Vec<(RequestId, RequestEnd)>,
    /// The places of the entries whose content is gone, in order.
    cleared: Vec<usize>,
}

/// What a person sees of a chat, in order.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// A person's message.
    User {
        /// Its id.
        message: MessageId,
        /// Its author.
        author: Option<PersonId>,
        /// Its content.
        parts: Vec<Part>,
    },
    /// A model's turn.
    Turn(TurnState),
    /// A model request that gave none.
    Failure {
        /// The error's stable code.
        code: String,
        /// One sentence about it.
        message: String,
        /// Text that had arrived.
        text: String,
    },
}

impl Entry {
    const fn is_user(&self) -> bool {
        matches!(self, Self::User { .. })
    }
}

/// A turn and what became of its calls.
#[derive(Clone, Debug, PartialEq)]
pub struct TurnState {
    /// The turn's id: the run's and its number, such as `r1t2`.
    pub id: String,
    /// The turn as it came.
    pub turn: Rc<Turn>,
    /// Its calls, in call order.
    pub calls: Vec<CallState>,
}

/// The chat's latest run.
#[derive(Clone, Debug, PartialEq)]
pub struct RunState {
    /// Its id: `r1`, `r2`, … within the chat.
    pub id: RunId,
    /// The author of the message that started it.
    pub owner: Option<PersonId>,
    /// Model turns so far.
    pub rounds: u32,
    /// Calls a person declined in this run.
    pub declined: Vec<CallId>,
    /// How many calls repeated one of those.
    pub repeats: u32,
    /// How it ended; `None` while it goes on.
    pub end: Option<(EndStatus, Option<String>)>,
    /// The position of its latest event.
    pub last_seq: u64,
    /// Whether its content is gone, at least in part.
    pub cleared: bool,
}

/// A log that cannot be what this program wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Corrupt {
    /// The event at fault.
    pub seq: u64,
    /// What is wrong with it, as one sentence.
    pub problem: String,
}

impl Chat {
    /// A chat without any event.
    pub const fn new(id: ChatId) -> Self {
        Self {
            id,
            next_seq: 0,
            folded: kept::Folded::NONE,
            last_at: 0,
            entries: Vec::new(),
            history: Vec::new(),
            start: 0,
            run: None,
            ended: Vec::new(),
            settled_requests: Vec::new(),
            cleared: Vec::new(),
        }
    }

    /// Rebuilds a chat from its stored lines.
    pub fn replay<'a>(id: ChatId, lines: impl IntoIterator<Item = &'a str>) -> Result<Self, Corrupt> {
        let mut chat = Self::new(id);
        chat.extend(lines)?;
        Ok(chat)
    }

    /// Takes in stored lines, up to the first that does not follow.
    pub fn extend<'a>(&mut self, lines: impl IntoIterator<Item = &'a str>) -> Result<(), Corrupt> {
        for line in lines {
            let event = Event::decode(line).map_err(|problem| Corrupt { seq: self.next_seq, problem })?;
            self.apply(&event)?;
        }
        Ok(())
    }

    /// The chat's id.
    pub const fn id(&self) -> &ChatId {
        &self.id
    }

    /// The position the next event takes.
    pub const fn next_seq(&self) -> u64 {
        self.next_seq
    }

    /// The latest time of any event: it cannot be earlier now, whatever a clock says.
    pub const fn last_at(&self) -> u64 {
        self.last_at
    }

    /// What a person sees, in order; of a [folded](Self::folded) chat what is not folded, the latest run whole.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// What a model request of an unfolded chat carries, in order; grows only at its end, except that [`start`](Self::start) moves on.
    pub fn history(&self) -> &[HistoryItem] {
        self.history.get(self.start..).unwrap_or_default()
    }

    /// How many of the oldest history items requests leave out.
    pub const fn start(&self) -> usize {
        self.start
    }

    /// Where requests would begin if the `omitted` oldest entries were left out: at a user's message, so that no turn is
    /// parted from its results. `None` if that leaves out nothing more than now, or the latest message.
    pub fn start_without(&self, omitted: usize) -> Option<usize> {
        let users = self.entries.iter().take(omitted.saturating_add(1)).filter(|entry| entry.is_user()).count();
        let places = self.history.iter().enumerate().filter(|(_, item)| matches!(item, HistoryItem::User(_)));
        let start = places.map(|(place, _)| place).nth(users.checked_sub(1)?)?;
        (start > self.start).then_some(start)
    }

    /// The latest run.
    pub const fn run(&self) -> Option<&RunState> {
        self.run.as_ref()
    }

    /// A run, the latest or an earlier one.
    pub fn run_by_id(&self, id: &RunId) -> Option<&RunState> {
        self.run.iter().chain(self.ended.iter().rev()).find(|run| run.id == *id)
    }

    /// The run that goes on, if one does.
    pub fn open_run(&self) -> Option<&RunState> {
        self.run.as_ref().filter(|run| run.end.is_none())
    }

    /// The latest turn, while a call of it has no result.
    pub fn open_turn(&self) -> Option<&TurnState> {
        match self.entries.last() {
            Some(Entry::Turn(turn)) if turn.calls.iter().any(|call| call.result.is_none()) => Some(turn),
            _ => None,
        }
    }

    /// The pending requests, in call order, each with the call behind it.
    pub fn pending(&self) -> impl Iterator<Item = (&Request, &CallState)> {
        let calls = self.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls.iter().filter(|call| call.stage() == Stage::Asked).filter_map(|call| Some((call.request.as_ref()?, call)))
    }

    /// Whether the latest run began with a message that came while the one before it waited.
    pub fn superseded(&self) -> bool {
        let end = self.ended.last().and_then(|run| run.end.as_ref());
        end.is_some_and(|(_, reason)| reason.as_deref() == Some("superseded"))
    }

    /// How a request ended, if it did.
    pub fn request_end(&self, id: &RequestId) -> Option<&RequestEnd> {
        self.settled_requests.iter().rev().find(|(settled, _)| settled == id).map(|(_, end)| end)
    }

    /// A request, waiting or settled, as it was made last.
    pub fn request(&self, id: &RequestId) -> Option<&Request> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Turn(turn) => {
                let mut requests = turn.calls.iter().flat_map(|call| call.request.iter().chain(&call.earlier));
                requests.find(|request| request.id == *id)
            }
            Entry::User { .. } | Entry::Failure { .. } => None,
        })
    }

    /// A call by its id, with the model's call beside it.
    pub fn call(&self, id: &CallId) -> Option<(&super::message::TurnCall, &CallState)> {
        self.entries.iter().rev().find_map(|entry| match entry {
            Entry::Turn(turn) => turn.turn.calls.iter().zip(&turn.calls).find(|(_, state)| state.id == *id),
            Entry::User { .. } | Entry::Failure { .. } => None,
        })
    }

    /// Takes in one event. An event that does not follow from those before it changes nothing.
    pub fn apply(&mut self, event: &Event) -> Result<(), Corrupt> {
        let corrupt = |problem: &str| Corrupt { seq: event.seq, problem: problem.to_owned() };
        if event.seq != self.next_seq {
            return Err(Corrupt {
                seq: self.next_seq,
                problem: ["event ", &event.seq.to_string(), " stands in its place"].concat(),
            });
        }
        if event.chat != self.id {
            return Err(corrupt("the event belongs to another chat"));
        }
        match (&event.body, self.open_run()) {
            (Body::RunStarted { .. }, None) => {}
            (Body::ChatSeeded { .. }, _) if self.next_seq == 0 => {}
            (Body::ChatSeeded { .. }, _) => return Err(corrupt("the chat had begun before it was given messages")),
            (Body::RunStarted { .. }, Some(_)) => return Err(corrupt("a run starts before the last one ended")),
            (_, Some(run)) if run.id == event.run => {}
            _ => return Err(corrupt("the event belongs to no open run")),
        }
        let counts_on_all = matches!(event.body, Body::HistoryTrimmed { .. }) || event.cleared;
        if counts_on_all || self.run.as_ref().is_some_and(|run| run.cleared) {
            self.unfold()?;
        }
        let entries = self.entries.len();
        self.apply_body(event).map_err(corrupt)?;
        self.leave_out_cleared(event, entries);
        if let Some(run) = &mut self.run {
            run.last_seq = event.seq;
        }
        self.next_seq += 1;
        self.last_at = self.last_at.max(event.at);
        Ok(())
    }

    fn apply_body(&mut self, event: &Event) -> Result<(), &'static str> {
        match &event.body {
            Body::ChatSeeded { history } => self.apply_seed(history)?,
            Body::HistoryTrimmed { start } => {
                if !matches!(self.history.get(*start), Some(HistoryItem::User(_))) {
                    return Err("requests would not begin at a user's message");
                }
                self.start = self.start.max(*start);
            }
            Body::RunStarted { message, owner, parts } => {
                self.ended.extend(self.run.take());
                self.history.push(HistoryItem::User(parts.clone()));
                self.entries.push(Entry::User {
                    message: message.clone(),
                    author: owner.clone(),
                    parts: parts.clone(),
                });
                self.run = Some(RunState {
                    id: event.run.clone(),
                    owner: owner.clone(),
                    rounds: 0,
                    declined: Vec::new(),
                    repeats: 0,
                    end: None,
                    last_seq: event.seq,
                    cleared: false,
                });
            }
            Body::TurnCompleted { turn } => self.apply_turn(turn)?,
            Body::TurnFailed { code, message, text } => {
                self.no_open_turn()?;
                let (code, message, text) = (code.clone(), message.clone(), text.clone());
                self.entries.push(Entry::Failure { code, message, text });
            }
            Body::CallAllowed { call, digest, grant } => {
                let state = self.open_call(call, &[Stage::Requested, Stage::Started])?;
                state.restarts = state.attempts > 0;
                state.grant.clone_from(grant);
                state.digest = Some(digest.clone());
            }
            Body::CallAsked { request } => {
                let stages = [Stage::Requested, Stage::Asked, Stage::Started, Stage::Ready];
                let state = self.open_call(&request.call, &stages)?;
                if state.stage() == Stage::Ready && !state.runs_by_grant() {
                    return Err("a call is asked about that may run");
                }
                if state.attempts == 0 && request.kind != RequestKind::Approval {
                    return Err("a request that does not fit whether its call was started");
                }
                if let Some(replaced) = state.ask(event.at, request) {
                    self.settled_requests.push((replaced, RequestEnd::Replaced));
                }
            }
            Body::CallExtended { call, extension } => {
                let state = self.open_call(call, &[Stage::Asked])?;
                match &mut state.request {
                    Some(request) if request.id == extension.request => request.expires_at = extension.expires_at,
                    _ => return Err("the extension names another request"),
                }
            }
            Body::CallDecided { call, decision } => {
                let state = self.open_call(call, &[Stage::Asked])?;
                if state.request.as_ref().is_none_or(|request| request.id != decision.request) {
                    return Err("the decision names another request");
                }
                if decision.edit.is_some() && !(decision.approve && state.takes_edits()) {
                    return Err("a decision changes arguments that it cannot change");
                }
                state.decide(event.at, decision);
                self.settled_requests.push((decision.request.clone(), RequestEnd::Decided(decision.clone())));
            }
            Body::CallStarted { call, attempt } => {
                let state = self.open_call(call, &[Stage::Ready])?;
                if state.request.is_some() && !state.is_approved() && !state.is_relayed() {
                    return Err("a call starts that was not approved");
                }
                if *attempt != state.attempts + 1 {
                    return Err("the attempt is out of order");
                }
                state.attempts = *attempt;
                state.restarts = false;
            }
            Body::CallSettled { name, facts, item } => {
                self.name_cleared(&item.call, name);
                self.apply_settled(event.at, Settled { facts: facts.clone(), old_code: None, item: item.clone() })?;
            }
            Body::OldDenial(denial) => {
                let old_code = Some(denial.reason_code().to_owned());
                self.apply_settled(event.at, Settled { facts: None, old_code, item: denial.result_item() })?;
            }
            Body::RunEnded { status, reason } => {
                self.no_open_turn()?;
                if let Some(run) = &mut self.run {
                    run.end = Some((*status, reason.clone()));
                }
            }
        }
        Ok(())
    }

    fn apply_turn(&mut self, turn: &Rc<Turn>) -> Result<(), &'static str> {
        self.no_open_turn()?;
        let Some(run) = &mut self.run else { return Err("a turn without a run") };
        run.rounds += 1;
        let id = [run.id.as_str(), "t", &run.rounds.to_string()].concat();
        let call_ids = CallId::of_turn(&id, turn.calls.len());
        let calls = call_ids.iter().cloned().map(CallState::new).collect();
        self.history.push(HistoryItem::Assistant { turn: Rc::clone(turn), call_ids });
        self.entries.push(Entry::Turn(TurnState { id, turn: Rc::clone(turn), calls }));
        Ok(())
    }

    /// Takes in the messages a chat starts from. They are entries and history like any other, but of no run.
    fn apply_seed(&mut self, history: &[HistoryItem]) -> Result<(), &'static str> {
        check_pairing(history).map_err(|_| "the messages given do not hold one result for each call")?;
        let mut turns = 0;
        for item in history {
            match item {
                HistoryItem::User(parts) => {
                    let message = MessageId::new(["h", &self.entries.len().to_string(), "u"].concat());
                    self.entries.push(Entry::User { message, author: None, parts: parts.clone() });
                }
                HistoryItem::Assistant { turn, call_ids } => {
                    turns += 1;
                    let calls = call_ids.iter().cloned().map(CallState::new).collect();
                    let id = CallId::seeded_turn(turns);
                    self.entries.push(Entry::Turn(TurnState { id, turn: Rc::clone(turn), calls }));
                }
                HistoryItem::Result(item) => {
                    let Some(Entry::Turn(turn)) = self.entries.last_mut() else { continue };
                    if let Some(call) = turn.calls.iter_mut().find(|call| call.id == item.call) {
                        call.result = Some(Settled { facts: None, old_code: None, item: item.clone() });
                    }
                }
            }
        }
        self.history = history.to_vec();
        Ok(())
    }

    fn apply_settled(&mut self, at: u64, settled: Settled) -> Result<(), &'static str> {
        let Some(Entry::Turn(turn)) = self.entries.last_mut() else { return Err("a result without a turn") };
        let place = turn.calls.iter().position(|call| call.id == settled.item.call);
        let (Some(made), Some(call)) =
            (place.and_then(|place| turn.turn.calls.get(place)), place.and_then(|place| turn.calls.get_mut(place)))
        else {
            return Err("a result for a call that this turn does not have");
        };
        let is_providers = made.kind != CallKind::Function;
        if call.result.is_some() {
            return Err("a second result for one call");
        }
        let token = settled.facts.as_ref().map(|facts| facts.token);
        let is_old = settled.old_code.is_some();
        let has_run = match token {
            None => !is_providers && !is_old,
            Some(token) => token.executed() != Some(false),
        };
        // A stop may come between the record of a start and the start itself.
        let may_be_started = has_run || token == Some(Token::ApprovalCancelled);
        if has_run && call.attempts == 0 || !may_be_started && call.attempts > 0 {
            return Err("a result that does not fit whether its call was started");
        }
        let refused = call.refusal();
        let fits = match refused {
            // A tool that was told of the no ended its call itself, or that is lost.
            Some(_) if call.is_relayed() && matches!(token, None | Some(Token::ToolFailed)) => true,
            Some(refusal) => token == Some(refusal),
            None => !matches!(token, Some(Token::ApprovalDenied | Token::RequestDeclined)),
        };
        if !is_old && !fits {
            return Err("a refusal without its decision, or a decision to refuse without its outcome");
        }
        if let (Some(request), None) = (&call.request, &call.decision) {
            self.settled_requests.push((request.id.clone(), RequestEnd::of(request, token, at)));
            call.settled_at = Some(at);
        }
        if let Some(run) = &mut self.run {
            if call.attempts == 0 && refused == Some(Token::ApprovalDenied) {
                run.declined.push(call.id.clone());
            } else if token == Some(Token::AlreadyDeclined) {
                run.repeats += 1;
            }
        }
        call.result = Some(settled);
        if turn.calls.iter().all(|call| call.result.is_some()) {
            let results = turn.calls.iter().filter_map(|call| call.result.as_ref());
            self.history.extend(results.map(|settled| HistoryItem::Result(settled.item.clone())));
        }
        Ok(())
    }

    fn no_open_turn(&self) -> Result<(), &'static str> {
        match self.open_turn() {
            Some(_) => Err("a call has no result yet"),
            None => Ok(()),
        }
    }

    fn open_call(&mut self, id: &CallId, stages: &[Stage]) -> Result<&mut CallState, &'static str> {
        let Some(Entry::Turn(turn)) = self.entries.last_mut() else { return Err("a call without a turn") };
        match turn.calls.iter_mut().find(|call| call.id == *id) {
            Some(call) if stages.contains(&call.stage()) => Ok(call),
            Some(_) => Err("a call in another state"),
            None => Err("a call that this turn does not have"),
        }
    }
}

/// Checks that every call of a history has exactly one result, in call order, right behind its turn. The error is
/// a sentence for the developer: a history that fails here is a bug of this program.
pub fn check_pairing(history: &[HistoryItem]) -> Result<(), String> {
    let mut expected: VecDeque<&CallId> = VecDeque::new();
    for item in history {
        match (item, expected.front()) {
            (HistoryItem::Result(result), Some(call)) if result.call == **call => {
                expected.pop_front();
            }
            (HistoryItem::Result(result), Some(call)) => {
                return Err([
                    "the result of call ",
                    result.call.as_str(),
                    " stands where that of call ",
                    call.as_str(),
                    " belongs",
                ]
                .concat());
            }
            (HistoryItem::Result(result), None) => {
                return Err(["the result of call ", result.call.as_str(), " answers nothing"].concat());
            }
            (_, Some(call)) => return Err(["call ", call.as_str(), " has no result"].concat()),
            (HistoryItem::Assistant { turn, call_ids }, None) => {
                if turn.calls.len() != call_ids.len() {
                    return Err("a turn and the ids of its calls differ in number".to_owned());
                }
                expected.extend(call_ids);
            }
            (HistoryItem::User(_), None) => {}
        }
    }
    expected.front().map_or(Ok(()), |call| Err(["call ", call.as_str(), " has no result"].concat()))
}
