//! What a run is told.

use std::rc::Rc;

use crate::core::approval::{AskSpec, Preview};
use crate::core::event::Extension;
use crate::core::grant::{self, Terms};
use crate::core::json::Json;
use crate::core::message::{CallId, HistoryItem, MessageId, ModelError, Part, RequestId, Turn};
use crate::core::outcome::{DenyReason, Failure, PersonId, Via};
use crate::core::policy::Opinion;

/// What happened. `at` is the wall clock in milliseconds since the epoch.
#[derive(Debug)]
pub enum Input {
    /// The chat is to start from messages that the host had. Only before anything else.
    Seed {
        /// When.
        at: u64,
        /// The messages, each turn followed by one result for each of its calls.
        history: Vec<HistoryItem>,
    },
    /// The model's context is too long: leave out the oldest entries from now on, this many of the whole chat.
    Trim {
        /// When.
        at: u64,
        /// How many entries, rounded down to the beginning of a run.
        omitted: usize,
    },
    /// A person sent a message. What is pending is settled as superseded.
    Send {
        /// When.
        at: u64,
        /// The message's id.
        message: MessageId,
        /// Its author.
        author: Option<PersonId>,
        /// Its content.
        parts: Vec<Part>,
    },
    /// The model request of this ticket gave a turn.
    TurnEnded {
        /// When.
        at: u64,
        /// From [`Effect::CallModel`](super::Effect::CallModel).
        ticket: u64,
        /// The turn.
        turn: Rc<Turn>,
    },
    /// The model request of this ticket gave none.
    TurnFailed {
        /// When.
        at: u64,
        /// From [`Effect::CallModel`](super::Effect::CallModel).
        ticket: u64,
        /// Why.
        error: ModelError,
        /// Text that had arrived.
        partial: String,
    },
    /// The host's rules were evaluated for the calls of [`Effect::Judge`](super::Effect::Judge).
    Judged {
        /// When.
        at: u64,
        /// For each of those calls, in the same order, what the rules said.
        opinions: Vec<Vec<Opinion>>,
        /// For each of those calls what its tool's preview says; nothing where it has none.
        previews: Vec<Preview>,
        /// For each of those calls a fresh random id, used where the call must ask.
        requests: Vec<RequestId>,
        /// The standing permissions as they are now; none where they could not be read, or
        /// [need not be](super::Run::wants_grants).
        grants: grant::Read,
    },
    /// Whether the standing permission of [`Effect::CheckGrant`](super::Effect::CheckGrant) still stands is known.
    GrantChecked {
        /// When.
        at: u64,
        /// The call.
        call: CallId,
        /// The standing permissions as they are now; none where they could not be read.
        grants: grant::Read,
        /// What its tool's preview says, where the call must ask; nothing where it has none.
        preview: Preview,
        /// A fresh random id, used where the call must ask; without one it does not start.
        request: Option<RequestId>,
    },
    /// Somebody decided about a pending request.
    Decide {
        /// When.
        at: u64,
        /// The request.
        request: RequestId,
        /// Yes or no.
        approve: bool,
        /// Who; `None` when the host does not know.
        by: Option<PersonId>,
        /// By which path.
        via: Via,
        /// A closed reason; only with a denial.
        reason: Option<DenyReason>,
        /// A note.
        note: Option<String>,
        /// The standing permission that is to come of it; only with an approval.
        terms: Option<Terms>,
        /// Other arguments than the model's; only with an approval of a call that waits ahead of its tool.
        edited: Option<Edited>,
        /// What the tool's preview says now; `None` where it was not asked.
        preview: Option<Preview>,
        /// A fresh random id, for the request that asks again if what would run has changed.
        fresh: RequestId,
    },
    /// The host answered a pending request, of whatever kind.
    Answer {
        /// When.
        at: u64,
        /// The request.
        request: RequestId,
        /// Yes or no: the run branches on this alone.
        ok: bool,
        /// Who answers.
        by: Answerer,
        /// By which path.
        via: Via,
        /// Why not, in anybody's words; only with a no.
        reason: Option<String>,
        /// What the tool gets; only with a yes. It has been checked against the request's schema.
        data: Option<Json>,
        /// As in [`Decide`](Self::Decide).
        preview: Option<Preview>,
        /// As in [`Decide`](Self::Decide).
        fresh: RequestId,
    },
    /// A pending request is to wait longer.
    Extend {
        /// When.
        at: u64,
        /// What, by whom, until when.
        extension: Extension,
    },
    /// A tool that [`Effect::RunTool`](super::Effect::RunTool) started came to its end.
    ToolEnded {
        /// When.
        at: u64,
        /// The call.
        call: CallId,
        /// The attempt.
        attempt: u32,
        /// Its result's text, or how it failed.
        result: Result<String, Failure>,
    },
    /// A tool that [`Effect::RunTool`](super::Effect::RunTool) started asks for something instead of giving a result: it has ended, and is called
    /// once more if the answer is yes.
    ToolAsked {
        /// When.
        at: u64,
        /// The call.
        call: CallId,
        /// The attempt.
        attempt: u32,
        /// A fresh random id.
        request: RequestId,
        /// What it asks for.
        spec: AskSpec,
    },
    /// Time passed: requests whose time is over lapse, and the run goes on.
    Tick {
        /// Now.
        at: u64,
    },
    /// The chat was opened: requests whose time is over lapse, and nothing begins.
    Open {
        /// Now.
        at: u64,
    },
    /// The run is to end now.
    Stop {
        /// When.
        at: u64,
        /// Text of the answer that had arrived.
        partial: String,
    },
    /// Go on with a run that was interrupted or whose model request failed.
    Resume {
        /// When.
        at: u64,
        /// Fresh random ids for requests about calls whose result was lost, one for each call of a turn suffices.
        requests: Vec<RequestId>,
    },
}

impl Input {
    /// The time in it.
    pub(super) const fn at(&mut self) -> &mut u64 {
        match self {
            Self::Seed { at, .. }
            | Self::Trim { at, .. }
            | Self::Send { at, .. }
            | Self::TurnEnded { at, .. }
            | Self::TurnFailed { at, .. }
            | Self::Judged { at, .. }
            | Self::GrantChecked { at, .. }
            | Self::Decide { at, .. }
            | Self::Answer { at, .. }
            | Self::Extend { at, .. }
            | Self::ToolEnded { at, .. }
            | Self::ToolAsked { at, .. }
            | Self::Tick { at }
            | Self::Open { at }
            | Self::Stop { at, .. }
            | Self::Resume { at, .. } => at,
        }
    }
}

/// Arguments in place of the model's, and what was made of them before they came here.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edited {
    /// Their text.
    pub arguments: String,
    /// What the host's rules said of the call with them, see [`Run::edited`](super::Run::edited).
    pub opinions: Vec<Opinion>,
    /// What the tool's preview said of them when the person saw it; `None` where nobody was shown one.
    pub shown: Option<Preview>,
}

/// Who answers, as the host states it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Answerer {
    /// A person; `None` where the host does not know which.
    Person(Option<PersonId>),
    /// The host's policy.
    Policy,
    /// The host does not say.
    Unsaid,
}
