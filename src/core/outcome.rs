//! How a tool call can end: the closed set of outcomes, and who decided.
//!
//! A person appears in an outcome only where a person acted. The types hold that: an expiry, a policy, an abort
//! or a new message has no field that could name a decider.

use super::message::CallId;

/// Declares an enum whose every variant has one exact, stable token, with both directions of the mapping.
macro_rules! tokens {
    ($(#[$doc:meta])* $name:ident { $($(#[$vdoc:meta])* $variant:ident = $token:literal,)+ }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum $name { $($(#[$vdoc])* $variant,)+ }

        impl $name {
            /// Every value, in the order of the contract.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The exact token, stable for ever.
            pub const fn token(self) -> &'static str {
                match self { $(Self::$variant => $token,)+ }
            }

            /// Reads a token back; `None` for anything else.
            pub fn from_token(token: &str) -> Option<Self> {
                match token { $($token => Some(Self::$variant),)+ _ => None }
            }
        }
    };
}
pub(crate) use tokens;

/// An opaque, non-empty id of a person, compared byte for byte. It never reaches the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PersonId(String);

impl PersonId {
    /// `None` for an empty id: an empty id names nobody.
    pub fn new(id: &str) -> Option<Self> {
        (!id.is_empty()).then(|| Self(id.to_owned()))
    }

    /// The id as the host gave it.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

tokens! {
    /// Who decided, as far as the model may know. Exists only where a person decided.
    Decider {
        /// The author of the message that started the run.
        RunOwner = "run_owner",
        /// A person with another id.
        OtherUser = "other_user",
        /// A person whose id is not known, or of a run without an owner.
        Unknown = "unknown",
    }
}

impl Decider {
    /// Relates the person who decided to the run's owner. `Unknown` is tested first, so that an absent owner and
    /// an absent decider never compare equal into `RunOwner`.
    pub fn of(decider: Option<&PersonId>, owner: Option<&PersonId>) -> Self {
        match (decider, owner) {
            (None, _) | (_, None) => Self::Unknown,
            (Some(decider), Some(owner)) if decider == owner => Self::RunOwner,
            (Some(_), Some(_)) => Self::OtherUser,
        }
    }
}

tokens! {
    /// A closed reason that may come with a denial.
    DenyReason {
        /// Propose a different version.
        Variant = "variant",
        /// Do not propose this again.
        Skip = "skip",
    }
}

tokens! {
    /// By which path a decision came in.
    Via {
        /// A click on the approval card.
        Card = "card",
        /// A call of `chat.decide` or `chat.answer` by the host.
        Api = "api",
        /// The host's `waitFor`.
        WaitFor = "waitFor",
    }
}

tokens! {
    /// What a call that gave no plain result came to. The token is the `reason_code` of events and of the `json`
    /// renderer.
    Token {
        /// It ran and threw, returned an error or timed out.
        ToolFailed = "tool_failed",
        /// A person pressed Deny on a call that waited in front of its tool.
        ApprovalDenied = "approval_denied",
        /// Nobody decided in the time the host allowed.
        ApprovalExpired = "approval_expired",
        /// The user sent a new message instead of deciding.
        ApprovalSuperseded = "approval_superseded",
        /// The run was stopped, or the host tore the request down.
        ApprovalCancelled = "approval_cancelled",
        /// The same call was declined earlier in this run; nobody was asked again.
        AlreadyDeclined = "already_declined",
        /// A person refused something the tool itself asked for while it ran.
        RequestDeclined = "request_declined",
        /// What the tool asked for expired, was superseded or cancelled.
        RequestLapsed = "request_lapsed",
        /// A rule of the host refused; nobody was asked.
        BlockedByPolicy = "blocked_by_policy",
        /// No such tool, or not any more.
        ToolUnavailable = "tool_unavailable",
        /// The arguments do not parse, break the schema, or hold what no card can show faithfully.
        ArgumentsInvalid = "arguments_invalid",
        /// The model's turn was cut off; none of its calls run.
        TurnTruncated = "turn_truncated",
        /// Execution started and its result was lost.
        OutcomeUnknown = "outcome_unknown",
    }
}

impl Token {
    /// Whether the tool ran: `None` where that is not known.
    pub const fn executed(self) -> Option<bool> {
        match self {
            Self::ToolFailed | Self::RequestDeclined | Self::RequestLapsed => Some(true),
            Self::OutcomeUnknown => None,
            Self::ApprovalDenied
            | Self::ApprovalExpired
            | Self::ApprovalSuperseded
            | Self::ApprovalCancelled
            | Self::AlreadyDeclined
            | Self::BlockedByPolicy
            | Self::ToolUnavailable
            | Self::ArgumentsInvalid
            | Self::TurnTruncated => Some(false),
        }
    }

    /// The `status` of the `json` renderer: `denied | not_run | failed | unknown`. `denied` only where a person did.
    pub const fn status(self) -> &'static str {
        match self {
            Self::ApprovalDenied | Self::RequestDeclined => "denied",
            Self::ToolFailed | Self::RequestLapsed => "failed",
            Self::OutcomeUnknown => "unknown",
            Self::ApprovalExpired
            | Self::ApprovalSuperseded
            | Self::ApprovalCancelled
            | Self::AlreadyDeclined
            | Self::BlockedByPolicy
            | Self::ToolUnavailable
            | Self::ArgumentsInvalid
            | Self::TurnTruncated => "not_run",
        }
    }

    /// Whether the model may make such a call again of its own accord (with corrected arguments, where those were at
    /// fault). Everything a person or a rule stopped waits for the user.
    pub const fn retryable(self) -> bool {
        matches!(self, Self::ToolFailed | Self::ArgumentsInvalid | Self::TurnTruncated)
    }
}

/// A person's denial of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Denial {
    /// Who, in relation to the run.
    pub decided_by: Decider,
    /// What the model should do with it.
    pub reason: Option<DenyReason>,
    /// The note the model may read, quoted; already `None` where the host's note policy keeps it in the log only.
    pub note: Option<String>,
}

/// How a tool that ran failed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Failure {
    /// It threw or rejected; the text is the error's message.
    Threw(String),
    /// It returned an error as its result; the text is that result.
    Returned(String),
    /// The host's time limit passed. Milliseconds.
    TimedOut(u64),
}

/// Why something a tool asked for while running came to nothing, without anyone declining it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lapse {
    /// Its time ran out.
    Expired,
    /// The user sent a new message instead.
    Superseded,
    /// The run was stopped or the host tore it down.
    Cancelled,
    /// It was answered, but before the tool could go on the user sent a new message.
    AnsweredThenSuperseded,
    /// It was answered, but before the tool could go on the run was stopped.
    AnsweredThenStopped,
}

/// Why a tool could not be called.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unavailable {
    /// No tool of this name is offered.
    Unknown,
    /// The request offered no tools, and the model called one anyway.
    NotOffered,
    /// The tool was withdrawn, or is no longer the one that was approved.
    Withdrawn,
}

/// Everything but a plain result: the facts from which the model's text is rendered, once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Outcome {
    /// See [`Token::ToolFailed`].
    ToolFailed(Failure),
    /// See [`Token::ApprovalDenied`].
    ApprovalDenied(Denial),
    /// See [`Token::ApprovalExpired`].
    ApprovalExpired,
    /// See [`Token::ApprovalSuperseded`]; `approved` when this very call had been approved and not started.
    ApprovalSuperseded {
        /// Whether it had been approved.
        approved: bool,
    },
    /// See [`Token::ApprovalCancelled`]; `approved` as above.
    ApprovalCancelled {
        /// Whether it had been approved.
        approved: bool,
    },
    /// See [`Token::ApprovalCancelled`]: the host took the request back, and the run went on.
    ApprovalWithdrawn,
    /// See [`Token::AlreadyDeclined`].
    AlreadyDeclined {
        /// The call that was declined.
        earlier: CallId,
    },
    /// See [`Token::RequestDeclined`].
    RequestDeclined {
        /// Who declined what the tool asked for.
        decided_by: Decider,
    },
    /// See [`Token::RequestLapsed`].
    RequestLapsed(Lapse),
    /// See [`Token::BlockedByPolicy`]; the text is the rule's reason.
    BlockedByPolicy(String),
    /// See [`Token::BlockedByPolicy`]: the host's policy answered a request. Its reason stays in the log.
    PolicyAnswered,
    /// See [`Token::ToolUnavailable`].
    ToolUnavailable(Unavailable),
    /// See [`Token::ArgumentsInvalid`]; the text quotes the problem.
    ArgumentsInvalid(String),
    /// See [`Token::TurnTruncated`].
    TurnTruncated,
    /// See [`Token::OutcomeUnknown`].
    OutcomeUnknown,
}

impl Outcome {
    /// The outcome's token.
    pub const fn token(&self) -> Token {
        match self {
            Self::ToolFailed(_) => Token::ToolFailed,
            Self::ApprovalDenied(_) => Token::ApprovalDenied,
            Self::ApprovalExpired => Token::ApprovalExpired,
            Self::ApprovalSuperseded { .. } => Token::ApprovalSuperseded,
            Self::ApprovalCancelled { .. } | Self::ApprovalWithdrawn => Token::ApprovalCancelled,
            Self::AlreadyDeclined { .. } => Token::AlreadyDeclined,
            Self::RequestDeclined { .. } => Token::RequestDeclined,
            Self::RequestLapsed(_) => Token::RequestLapsed,
            Self::BlockedByPolicy(_) | Self::PolicyAnswered => Token::BlockedByPolicy,
            Self::ToolUnavailable(_) => Token::ToolUnavailable,
            Self::ArgumentsInvalid(_) => Token::ArgumentsInvalid,
            Self::TurnTruncated => Token::TurnTruncated,
            Self::OutcomeUnknown => Token::OutcomeUnknown,
        }
    }

    /// The person who decided, in relation to the run; `None` wherever no person did.
    pub const fn decided_by(&self) -> Option<Decider> {
        match self {
            Self::ApprovalDenied(denial) => Some(denial.decided_by),
            Self::RequestDeclined { decided_by } => Some(*decided_by),
            _ => None,
        }
    }

    /// The closed reason of a denial.
    pub const fn reason(&self) -> Option<DenyReason> {
        match self {
            Self::ApprovalDenied(denial) => denial.reason,
            _ => None,
        }
    }

    /// Whether the call had been approved before the run ended over it.
    pub const fn was_approved(&self) -> bool {
        matches!(self, Self::ApprovalSuperseded { approved: true } | Self::ApprovalCancelled { approved: true })
    }
}
