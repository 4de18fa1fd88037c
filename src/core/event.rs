//! Stored events: what a chat's log consists of, and how each is written and read.
//!
//! Everything a chat is follows from its events; [`log`](super::log) projects them. Stored payloads are never
//! rewritten; those of old versions are read through [`upcast`](super::upcast). One event is one JSON object:
//! `{"seq","chat","run","at","type","v", …}`, `v` being the payload version of that type.

mod codec;
mod old;

pub(super) use codec::{
    Reader, read_decision, read_facts, read_item, read_parts_of, read_request, read_turn, write_decision, write_facts,
    write_item, write_request, write_turn,
};
pub use codec::{read_history, read_parts, write_parts};
pub use old::OldDenial;

use std::rc::Rc;

use super::approval::{Digest, Preview, Request, Scope};
use super::json::{Json, parse_lenient};
use super::message::{CallId, ChatId, GrantId, HistoryItem, MessageId, Part, RequestId, ResultItem, RunId, Turn};
use super::outcome::{Decider, DenyReason, Outcome, PersonId, Token, Via, tokens};

/// One entry of a chat's log.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Position in the chat's log, from 0, without gaps.
    pub seq: u64,
    /// The chat.
    pub chat: ChatId,
    /// The run it belongs to.
    pub run: RunId,
    /// When, in milliseconds since the epoch, by the clock of the page that wrote it.
    pub at: u64,
    /// What happened.
    pub body: Body,
    /// Whether its content was taken out of the log after its run had ended: what is empty was not so then.
    pub cleared: bool,
}

/// The members of a stored event that are its header: they stay when its content is cleared or left out of an export.
/// Whatever is not listed is content, so that a member added later is not shown by an oversight. The digest of a call is
/// content: it has no salt, and would confirm a guess at the arguments.
const HEADER: [&str; 34] = [
    "seq",
    "chat",
    "run",
    "at",
    "type",
    "v",
    "message_id",
    "owner",
    "call_id",
    "request_id",
    "kind",
    "expires_at",
    "approved",
    "decided_by",
    "decider",
    "settler",
    "via",
    "reason",
    "reason_code",
    "attempt",
    "name",
    "status",
    "code",
    "end",
    "start",
    "call_count",
    "provider_calls",
    "history_shape",
    "content_bytes",
    "grant_id",
    "grantable",
    "scope",
    "edited",
    "relayed",
];

/// Whether a member of a stored event belongs to its header.
pub fn is_header(key: &str) -> bool {
    HEADER.contains(&key)
}

/// Every type of event, with the payload version this build writes. Older ones are read too, newer ones are not.
pub const TYPES: [(&str, u64); 16] = [
    ("chat.seeded", 1),
    ("history.trimmed", 1),
    ("run.started", 1),
    ("turn.completed", 1),
    ("turn.failed", 1),
    ("tool.call.allowed", 1),
    ("tool.call.asked", 2),
    ("tool.call.extended", 1),
    ("tool.call.decided", 4),
    ("tool.call.started", 1),
    ("tool.call.completed", 1),
    ("tool.call.failed", 1),
    ("tool.call.denied", 2),
    ("tool.call.lapsed", 1),
    ("tool.call.unknown", 1),
    ("run.ended", 1),
];

/// What happened.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// `chat.seeded` (v1): the chat starts from messages that the host had. Only as the first event.
    ChatSeeded {
        /// The messages, each turn followed by one result for each of its calls.
        history: Vec<HistoryItem>,
    },
    /// `history.trimmed` (v1): from here on requests begin at a later user message.
    HistoryTrimmed {
        /// The place of that message in the whole history.
        start: usize,
    },
    /// `run.started` (v1): a person sent a message.
    RunStarted {
        /// The message's id.
        message: MessageId,
        /// Its author, who owns the run; `None` when the host does not know.
        owner: Option<PersonId>,
        /// Its content.
        parts: Vec<Part>,
    },
    /// `turn.completed` (v1): the model answered.
    TurnCompleted {
        /// The response, with what must go back to the same endpoint and model.
        turn: Rc<Turn>,
    },
    /// `turn.failed` (v1): a model request gave no turn.
    TurnFailed {
        /// The error's stable code.
        code: String,
        /// One sentence about it.
        message: String,
        /// Text that had arrived, for display; the model is not shown it.
        text: String,
    },
    /// `tool.call.allowed` (v1): no person needed to be asked; for a call whose result was lost, to start it again.
    CallAllowed {
        /// The call.
        call: CallId,
        /// What the permit will cover.
        digest: Digest,
        /// The standing permission by which it runs, where it would have to wait without.
        grant: Option<GrantId>,
    },
    /// `tool.call.asked` (v2): the call waits for a person.
    ///
    /// Also for a call that waits already, when it is asked about anew, for one that was started and whose result was
    /// lost, and for one whose tool asks for something.
    CallAsked {
        /// The request.
        request: Request,
    },
    /// `tool.call.extended` (v1): a request that waits lapses at another time.
    CallExtended {
        /// The call.
        call: CallId,
        /// What was extended, by whom, until when.
        extension: Extension,
    },
    /// `tool.call.decided` (v4): the request was settled. A refusal is followed by the call's result in the same write.
    CallDecided {
        /// The call.
        call: CallId,
        /// The decision.
        decision: Decision,
    },
    /// `tool.call.started` (v1): written before the tool is called.
    CallStarted {
        /// The call.
        call: CallId,
        /// From 1.
        attempt: u32,
    },
    /// The call has its one result. The type follows from what it came to: `tool.call.completed` (v1),
    /// `tool.call.failed` (v1), `tool.call.denied` (v2), `tool.call.lapsed` (v1), `tool.call.unknown` (v1).
    CallSettled {
        /// The tool's name, as the model wrote it.
        name: String,
        /// `None` for a plain result.
        facts: Option<Facts>,
        /// What the model reads; names the call.
        item: ResultItem,
    },
    /// `tool.call.denied` (v2) without its facts: the call was denied or refused, as an old log tells it.
    OldDenial(OldDenial),
    /// `run.ended` (v1): the run came to its end.
    RunEnded {
        /// How.
        status: EndStatus,
        /// A token that says more, such as `repeated_denied_call`.
        reason: Option<String>,
    },
}

impl Body {
    /// The event's type, as stored.
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::ChatSeeded { .. } => "chat.seeded",
            Self::HistoryTrimmed { .. } => "history.trimmed",
            Self::RunStarted { .. } => "run.started",
            Self::TurnCompleted { .. } => "turn.completed",
            Self::TurnFailed { .. } => "turn.failed",
            Self::CallAllowed { .. } => "tool.call.allowed",
            Self::CallAsked { .. } => "tool.call.asked",
            Self::CallExtended { .. } => "tool.call.extended",
            Self::CallDecided { .. } => "tool.call.decided",
            Self::CallStarted { .. } => "tool.call.started",
            Self::CallSettled { facts, .. } => match facts {
                None => "tool.call.completed",
                Some(facts) => match facts.token {
                    Token::ToolFailed => "tool.call.failed",
                    Token::ApprovalDenied
                    | Token::AlreadyDeclined
                    | Token::RequestDeclined
                    | Token::BlockedByPolicy
                    | Token::ToolUnavailable
                    | Token::ArgumentsInvalid
                    | Token::TurnTruncated => "tool.call.denied",
                    Token::ApprovalExpired
                    | Token::ApprovalSuperseded
                    | Token::ApprovalCancelled
                    | Token::RequestLapsed => "tool.call.lapsed",
                    Token::OutcomeUnknown => "tool.call.unknown",
                },
            },
            Self::OldDenial(_) => "tool.call.denied",
            Self::RunEnded { .. } => "run.ended",
        }
    }

    /// The payload version this build writes for a type; `None` for a type it does not know.
    pub fn version(kind: &str) -> Option<u64> {
        TYPES.iter().find(|(known, _)| *known == kind).map(|(_, version)| *version)
    }
}

/// Who settled a request. Only a person is a decider: what a policy or the host did has no place for one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Settler {
    /// A person.
    Person {
        /// In relation to the run.
        decided_by: Decider,
        /// The id, for the record; the model never reads it.
        id: Option<PersonId>,
    },
    /// The host's policy.
    Policy,
    /// The host took the request back.
    Host,
}

impl Settler {
    /// The name in events and snapshots.
    pub const fn token(&self) -> &'static str {
        match self {
            Self::Person { .. } => "person",
            Self::Policy => "policy",
            Self::Host => "host",
        }
    }

    /// The person in relation to the run, if one decided.
    pub const fn decided_by(&self) -> Option<Decider> {
        match self {
            Self::Person { decided_by, .. } => Some(*decided_by),
            Self::Policy | Self::Host => None,
        }
    }

    /// The person's id, where a person decided and is known.
    pub const fn person(&self) -> Option<&PersonId> {
        match self {
            Self::Person { id, .. } => id.as_ref(),
            Self::Policy | Self::Host => None,
        }
    }
}

/// More time for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Extension {
    /// The request.
    pub request: RequestId,
    /// When it lapses now, in milliseconds since the epoch; `None` for never.
    pub expires_at: Option<u64>,
    /// Who gave the time, for the record; `None` where that is not known.
    pub decider: Option<PersonId>,
    /// By which path.
    pub via: Via,
}

/// How a request was settled, as it came in and as it counts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decision {
    /// The request it settles.
    pub request: RequestId,
    /// Yes or no.
    pub approve: bool,
    /// Who settled it.
    pub by: Settler,
    /// By which path it came in.
    pub via: Via,
    /// The closed reason of a denial.
    pub reason: Option<DenyReason>,
    /// The note, whole. Whether the model reads it is the host's note policy.
    pub note: Option<String>,
    /// The reason of an answer, in anybody's words, for the record; the model never reads it.
    pub answer_reason: Option<String>,
    /// What the answer gives to the tool.
    pub data: Option<Json>,
    /// The standing permission that was given with it. Whether it was kept, and stands, is told by its own log.
    pub standing: Option<(Scope, GrantId)>,
    /// The arguments that were approved in place of the model's.
    pub edit: Option<Box<Edit>>,
    /// Whether the tool is told of this no and ends its call itself, as its server then answers.
    pub relayed: bool,
}

/// Arguments that a person approved in place of those the model wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Edit {
    /// Their exact text.
    pub arguments: String,
    /// What the approval covers.
    pub digest: Digest,
    /// What the tool's preview said of them.
    pub preview: Preview,
}

impl Edit {
    /// Whether both give the tool the same, whatever the order of keys.
    fn gives_the_same(&self, other: &Self) -> bool {
        let value = |edit: &Self| parse_lenient(edit.arguments.as_bytes()).ok();
        value(self).zip(value(other)).is_some_and(|(one, other)| one.same_value(&other))
    }
}

impl Decision {
    /// Whether `other` decides the same: a repeated click or a retried request, and not a conflict.
    pub fn says_the_same(&self, other: &Self) -> bool {
        let same_data = match (&self.data, &other.data) {
            (Some(data), Some(other)) => data.same_value(other),
            (data, other) => data == other,
        };
        let same_edit = match (&self.edit, &other.edit) {
            (Some(edit), Some(other)) => edit.gives_the_same(other),
            (edit, other) => edit.is_none() && other.is_none(),
        };
        let scope = |decision: &Self| decision.standing.as_ref().map(|(scope, _)| *scope);
        let said = |decision: &Self| (decision.approve, decision.reason, scope(decision));
        said(self) == said(other)
            && (&self.by, &self.note, &self.answer_reason) == (&other.by, &other.note, &other.answer_reason)
            && same_data
            && same_edit
    }
}

/// The facts of an outcome, as data: nobody has to parse the text the model reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Facts {
    /// What it came to.
    pub token: Token,
    /// Who decided, where a person did.
    pub decided_by: Option<Decider>,
    /// The closed reason of a denial.
    pub reason: Option<DenyReason>,
    /// Whether this call had been approved before the run ended over it.
    pub approved: bool,
}

impl Facts {
    /// The facts of an outcome.
    pub const fn of(outcome: &Outcome) -> Self {
        Self {
            token: outcome.token(),
            decided_by: outcome.decided_by(),
            reason: outcome.reason(),
            approved: outcome.was_approved(),
        }
    }
}

tokens! {
    /// How a run ended.
    EndStatus {
        /// With an answer.
        Done = "done",
        /// By a person's stop, a new message, or the repeat guard.
        Stopped = "stopped",
        /// At the limit of rounds.
        Limit = "limit",
    }
}
