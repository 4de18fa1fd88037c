//! The state machine: a chat, one run at a time. Inputs in, effects out.
//!
//! Drive it like this: call [`Run::handle`] with what happened, then drain [`Run::poll`] and carry out each
//! effect in order. A [`Effect::Persist`] stands before the effect it records; wait until it is stored, then go on:
//! *journal, then act*. If a write fails, drop this value and replay the log. Subscribers are told after a
//! `Persist`: nothing is shown that is not stored.
//!
//! Everything here follows from the chat's events, except what is under way in this process (`Activity`): after a
//! replay nothing is, and an unfinished run stands `interrupted` until [`Input::Resume`].

mod advance;
mod answer;
mod ask;
mod edit;
mod error;
mod grants;
mod input;
mod judge;
mod settle;

pub use error::RunError;
pub use input::{Answerer, Edited, Input};

use std::collections::VecDeque;

use super::approval::{Digest, Place, Request, Scope, Tool, call_digest};
use super::event::{Body, Decision, EndStatus, Event};
use super::grant::{self, Grant};
use super::log::{Answered, Chat, Entry, RunState};
use super::message::{CallId, CallKind, MessageId, Part, RunId, TurnCall};
use super::outcome::PersonId;
use super::wording::Renderer;
use settle::Early;

/// How a host set up the loop. Not part of the log: a reload may bring other settings.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The tools the model is offered.
    pub tools: Vec<Tool>,
    /// How outcomes are worded.
    pub renderer: Renderer,
    /// Model turns per run before the closing request.
    pub max_rounds: u32,
    /// How long a request waits, in milliseconds; `None` for ever.
    pub expire_after: Option<u64>,
    /// Whether the model also reads notes of deciders other than the run's owner.
    pub all_notes: bool,
    /// Whether an approval needs a decider who is known and is not the run's owner. Denying is open to all.
    pub second_approver: bool,
    /// Which standing permissions there are: others are neither given nor do they count.
    pub scopes: Vec<Scope>,
}

/// What the driver is to do, in this order.
#[derive(Debug, PartialEq)]
pub enum Effect {
    /// Store these events, as one write, before anything that follows.
    Persist(Vec<Event>),
    /// Send the history to the model.
    CallModel {
        /// Comes back with the turn, so that a late answer to an aborted request is told apart.
        ticket: u64,
        /// The closing request of a run at its limit: no tool may be called.
        closing: bool,
    },
    /// Evaluate the host's rules for these calls; answer with [`Input::Judged`].
    Judge(Vec<Candidate>),
    /// A request began to wait for a person.
    Ask(Request),
    /// Keep a standing permission, which came with the decision stored just before.
    KeepGrant(Grant),
    /// See whether this call's standing permission still stands; answer with [`Input::GrantChecked`].
    CheckGrant(CallId),
    /// Run a tool. The one path to execution.
    RunTool(Permit),
    /// The run came to rest.
    Done(Status),
}

/// A call that passed every check of form and waits for the host's rules.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Candidate {
    /// The call.
    pub call: CallId,
    /// The tool's name.
    pub tool: String,
    /// The exact text of its arguments.
    pub arguments: String,
}

/// Leave to run one call once. Made only where a verdict or a decision allows it, never copied.
#[derive(Debug, PartialEq)]
#[must_use = "a permit that is dropped leaves its call started and without a result"]
pub struct Permit {
    call: CallId,
    run: RunId,
    tool: String,
    arguments: String,
    digest: Digest,
    attempt: u32,
    note: Option<String>,
    answers: Vec<Answered>,
}

impl Permit {
    /// The call.
    pub const fn call(&self) -> &CallId {
        &self.call
    }

    /// The tool to run.
    pub fn tool(&self) -> &str {
        &self.tool
    }

    /// The exact text of the arguments.
    pub fn arguments(&self) -> &str {
        &self.arguments
    }

    /// Which attempt this is, from 1.
    pub const fn attempt(&self) -> u32 {
        self.attempt
    }

    /// The note that came with the approval, for the tool.
    pub fn note(&self) -> Option<&str> {
        self.note.as_deref()
    }

    /// What the tool asked for and was answered, in order; the last one is new to it.
    pub fn answers(&self) -> &[Answered] {
        &self.answers
    }

    /// The same for every attempt of this call and for no other call.
    pub fn idempotency_key(&self) -> &str {
        self.digest.as_str()
    }

    /// Whether `tool`, as it is now, with these arguments is what the permit was given for.
    pub fn covers(&self, chat: &super::message::ChatId, tool: &Tool) -> bool {
        let place = Place { chat, run: &self.run, call: &self.call };
        tool.name == self.tool && call_digest(place, tool, &self.arguments) == self.digest
    }
}

/// Where a chat stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// No message yet.
    Idle,
    /// The model or a tool is at work.
    Running,
    /// Waits for a person.
    Pending,
    /// A reload or crash left it unfinished.
    Interrupted,
    /// The last model request failed; it can be made again.
    Error,
    /// The run has ended.
    Ended(EndStatus),
}

impl Status {
    /// The token pages see.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Idle => "idle",
            Self::Running => "running",
            Self::Pending => "pending",
            Self::Interrupted => "interrupted",
            Self::Error => "error",
            Self::Ended(end) => end.token(),
        }
    }
}

/// Whether an input changed anything.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Handled {
    /// It did.
    Applied,
    /// The same had been said before: a no-op.
    Already,
    /// What would run is not what was asked about: nothing was decided, and another request asks about it.
    AskedAgain,
}

/// A chat and what is under way in it.
#[derive(Debug)]
pub struct Run {
    chat: Chat,
    settings: Settings,
    activity: Activity,
    effects: VecDeque<Effect>,
    /// What the clock said of the input under way, be it set back.
    clock: u64,
    /// The standing permissions as they were last read, if they were.
    grants: grant::Read,
}

/// What this process is doing; nothing of it is stored.
#[derive(Debug, Default)]
struct Activity {
    next_ticket: u64,
    /// The ticket of the model request under way.
    model: Option<u64>,
    /// The calls of the turn that is being judged, each with what the check of form found.
    judging: Option<Vec<judge::Screened>>,
    /// The call whose standing permission is being looked at.
    checking: Option<CallId>,
    /// Calls handed to their tools.
    tools: Vec<Handed>,
    /// Another page is at work on the run.
    elsewhere: bool,
}

/// A call whose permit was given.
#[derive(Debug)]
struct Handed {
    call: CallId,
    /// Whether its tool was called, as far as this process knows.
    begun: bool,
}

impl Activity {
    const fn is_idle(&self) -> bool {
        self.model.is_none() && self.judging.is_none() && self.checking.is_none() && self.tools.is_empty()
    }
}

impl Run {
    /// Takes a chat as its log left it.
    pub fn new(chat: Chat, settings: Settings) -> Self {
        Self { chat, settings, activity: Activity::default(), effects: VecDeque::new(), clock: 0, grants: None }
    }

    /// The chat.
    pub const fn chat(&self) -> &Chat {
        &self.chat
    }

    /// Reads what of the chat is folded.
    pub fn unfold(&mut self) -> Result<(), RunError> {
        Ok(self.chat.unfold()?)
    }

    /// The settings.
    pub const fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Whether the model request of this ticket is still waited for.
    pub fn awaits_model(&self, ticket: u64) -> bool {
        self.activity.model == Some(ticket)
    }

    /// Notes that a call's tool is being called now. False, and it must not be called, if its result is no longer waited
    /// for.
    pub fn begin_tool(&mut self, call: &CallId) -> bool {
        let handed = self.activity.tools.iter_mut().find(|handed| handed.call == *call);
        handed.is_some_and(|handed| !std::mem::replace(&mut handed.begun, true))
    }

    /// The host's name for a tool, for people.
    pub fn title(&self, call: &TurnCall) -> Option<&str> {
        if call.kind != CallKind::Function {
            return None;
        }
        self.settings.tools.iter().find(|known| known.name == call.name)?.title.as_deref()
    }

    /// Where the chat stands.
    pub fn status(&self) -> Status {
        let Some(run) = self.chat.run() else { return Status::Idle };
        if let Some((end, _)) = &run.end {
            Status::Ended(*end)
        } else if !self.activity.is_idle() {
            Status::Running
        } else if self.chat.pending().next().is_some() {
            Status::Pending
        } else if self.activity.elsewhere {
            Status::Running
        } else if matches!(self.chat.entries().last(), Some(Entry::Failure { .. })) {
            Status::Error
        } else {
            Status::Interrupted
        }
    }

    /// Where a run stands, the latest or an earlier one; `Idle` if the chat has no such run.
    pub fn status_of(&self, id: &RunId) -> Status {
        match self.chat.run_by_id(id) {
            None => Status::Idle,
            Some(RunState { end: Some((end, _)), .. }) => Status::Ended(*end),
            Some(_) => self.status(),
        }
    }

    /// Notes whether another page is at work on the run.
    pub const fn set_elsewhere(&mut self, elsewhere: bool) {
        self.activity.elsewhere = elsewhere;
    }

    /// Whether another page is noted to be at work on the run.
    pub const fn is_elsewhere(&self) -> bool {
        self.activity.elsewhere
    }

    /// Gives up everything that is under way, as if the page had been loaded anew: the chat stays as its events tell it.
    pub fn forget_activity(&mut self) {
        self.activity = Activity { next_ticket: self.activity.next_ticket, ..Activity::default() };
        self.effects.clear();
    }

    /// The next thing to do, if any.
    pub fn poll(&mut self) -> Option<Effect> {
        self.effects.pop_front()
    }

    /// Takes in what happened. Effects are queued for [`poll`](Self::poll); on an error the state is as it was.
    ///
    /// No time counts as earlier than the latest event's: a clock that is set back gives nobody more time.
    pub fn handle(&mut self, mut input: Input) -> Result<Handled, RunError> {
        let at = input.at();
        self.clock = *at;
        *at = self.chat.last_at().max(*at);
        if !matches!(input, Input::Open { .. }) {
            self.chat.unfold()?;
        }
        match input {
            Input::Seed { at, history } => self.record_in(RunId::new("r0"), at, [Body::ChatSeeded { history }])?,
            Input::Trim { at, omitted } => match self.chat.start_without(omitted) {
                Some(start) => self.record(at, [Body::HistoryTrimmed { start }])?,
                None => return Ok(Handled::Already),
            },
            Input::Send { at, message, author, parts } => self.send(at, message, author, parts)?,
            Input::TurnEnded { at, ticket, turn } => self.turn_ended(at, ticket, turn)?,
            Input::TurnFailed { at, ticket, error, partial } => {
                self.take_ticket(ticket)?;
                let code = error.class.code().to_owned();
                self.record(at, [Body::TurnFailed { code, message: error.message, text: partial }])?;
                self.rest();
            }
            Input::Judged { at, opinions, previews, requests, grants } => {
                self.judged(at, &opinions, previews, requests, &grants)?;
            }
            Input::GrantChecked { at, call, grants, preview, request } => {
                self.grant_checked(at, call, grants, preview, request)?;
            }
            Input::Decide { at, request, approve, by, via, reason, note, edited, terms, preview, fresh } => {
                let note = note.filter(|note| !note.trim().is_empty());
                let standing = terms.as_ref().map(|terms| (terms.scope, terms.id.clone()));
                let said = self.plain_reason(&request, approve);
                let decision = self.decision(request, approve, Answerer::Person(by), via, said);
                let said_more = answer::More { edited, terms };
                return self.decide(at, Decision { reason, note, standing, ..decision }, said_more, preview, fresh);
            }
            Input::Answer { at, request, ok, by, via, reason, data, preview, fresh } => {
                let decision = self.decision(request, ok, by, via, reason);
                return self.decide(at, Decision { data, ..decision }, answer::More::default(), preview, fresh);
            }
            Input::Extend { at, extension } => return self.extend(at, extension),
            Input::ToolEnded { at, call, attempt, result } => self.tool_ended(at, &call, attempt, result)?,
            Input::ToolAsked { at, call, attempt, request, spec } => {
                self.tool_asked(at, &call, attempt, request, spec)?;
            }
            Input::Tick { at } => {
                if self.lapse(at)? {
                    self.advance(at)?;
                }
            }
            Input::Open { at } => {
                if self.lapse(at)? {
                    self.rest();
                }
            }
            Input::Stop { at, partial } => self.stop(at, partial)?,
            Input::Resume { at, requests } => self.resume(at, requests)?,
        }
        Ok(Handled::Applied)
    }

    fn send(
        &mut self,
        at: u64,
        message: MessageId,
        author: Option<PersonId>,
        parts: Vec<Part>,
    ) -> Result<(), RunError> {
        if self.status() == Status::Running {
            return Err(RunError::Busy);
        }
        if self.chat.open_run().is_some() {
            // What nobody decided in time was over before the message came.
            self.lapse(at)?;
            self.end_early(at, Early::Superseded, &[])?;
        }
        let number = self.chat.entries().iter().filter(|entry| matches!(entry, Entry::User { .. })).count() + 1;
        let run = RunId::new(["r", &number.to_string()].concat());
        self.record_in(run, at, [Body::RunStarted { message, owner: author, parts }])?;
        self.advance(at)
    }

    fn stop(&mut self, at: u64, partial: String) -> Result<(), RunError> {
        if self.chat.open_run().is_none() {
            return Ok(());
        }
        self.lapse(at)?;
        if self.activity.model.is_some() && !partial.is_empty() {
            let (code, message) = ("aborted".to_owned(), "The run was stopped while the answer arrived.".to_owned());
            self.record(at, [Body::TurnFailed { code, message, text: partial }])?;
        }
        let next_ticket = self.activity.next_ticket;
        let handed = std::mem::take(&mut self.activity.tools);
        let not_begun: Vec<CallId> =
            handed.into_iter().filter(|handed| !handed.begun).map(|handed| handed.call).collect();
        self.activity = Activity { next_ticket, ..Activity::default() };
        // What was to happen and is not begun does not begin: only what is to be stored or told stays queued.
        self.effects.retain(|effect| matches!(effect, Effect::Persist(_) | Effect::KeepGrant(_) | Effect::Done(_)));
        self.end_early(at, Early::Stopped, &not_begun)?;
        self.rest();
        Ok(())
    }

    /// Takes the ticket of the model request under way, or says that the answer is late.
    fn take_ticket(&mut self, ticket: u64) -> Result<(), RunError> {
        match self.activity.model.take_if(|current| *current == ticket) {
            Some(_) => Ok(()),
            None => Err(RunError::Stale),
        }
    }

    /// Writes events of the open run: applied to the chat and queued for the store as one write.
    fn record(&mut self, at: u64, bodies: impl IntoIterator<Item = Body>) -> Result<(), RunError> {
        let Some(run) = self.chat.run().map(|run| run.id.clone()) else { return Ok(()) };
        self.record_in(run, at, bodies)
    }

    fn record_in(&mut self, run: RunId, at: u64, bodies: impl IntoIterator<Item = Body>) -> Result<(), RunError> {
        let mut events = Vec::new();
        for body in bodies {
            let (seq, chat) = (self.chat.next_seq(), self.chat.id().clone());
            let event = Event { seq, chat, run: run.clone(), at, body, cleared: false };
            self.chat.apply(&event)?;
            events.push(event);
        }
        if !events.is_empty() {
            self.effects.push_back(Effect::Persist(events));
        }
        Ok(())
    }

    /// Says that the run rests.
    fn rest(&mut self) {
        let status = self.status();
        self.effects.push_back(Effect::Done(status));
    }
}
