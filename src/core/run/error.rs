//! What a caller can get wrong.

use std::borrow::Cow;

use crate::core::log::Corrupt;

/// What a caller got wrong. The state is as it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RunError {
    /// The model or a tool is at work; wait until the run rests.
    Busy,
    /// No request of this id was ever made in this chat.
    UnknownRequest,
    /// The request was settled before, and differently.
    Conflict,
    /// The request's time is over.
    Expired,
    /// This decider may not approve this.
    NotAllowed,
    /// A closed reason came with an approval.
    ReasonWithApproval,
    /// A standing permission came with a denial.
    ScopeWithDenial,
    /// No standing permission can be given with this request, or by this decider.
    NotGrantable,
    /// A standing permission that would be over already, or name an argument that the call does not have.
    InvalidTerms,
    /// Arguments came with a denial.
    EditOfDenial,
    /// The arguments of this request cannot be changed.
    NotEditable,
    /// The arguments in place of the model's cannot be read, or break the tool's schema.
    EditInvalid(String),
    /// A rule refuses the call with the arguments in place of the model's, for this reason.
    EditRefused(String),
    /// What the tool says of the arguments in place of the model's is no longer what was shown.
    EditChanged,
    /// The time given is no later than the one that stands.
    NoExtension,
    /// There is nothing to go on with.
    NothingToResume,
    /// The answer of a model or tool that the run no longer waits for.
    Stale,
    /// An event would not follow from the log: a bug of this program.
    Corrupt(Corrupt),
}

impl RunError {
    /// The stable code of the error that pages see.
    pub const fn code(&self) -> &'static str {
        match self {
            Self::Busy => "busy",
            Self::UnknownRequest => "unknown_request",
            Self::Conflict => "conflict",
            Self::Expired => "expired",
            Self::NotAllowed => "not_allowed",
            Self::ReasonWithApproval
            | Self::ScopeWithDenial
            | Self::InvalidTerms
            | Self::EditOfDenial
            | Self::NotEditable
            | Self::EditInvalid(_) => "invalid_decision",
            Self::NotGrantable => "not_grantable",
            Self::EditRefused(_) => "not_allowed",
            Self::EditChanged => "changed",
            Self::NoExtension => "invalid_expiry",
            Self::NothingToResume => "nothing_to_resume",
            Self::Stale => "stale",
            Self::Corrupt(_) => "log_corrupt",
        }
    }
}

impl RunError {
    /// One sentence that says what to do.
    pub fn message(&self) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            Self::Busy => "The run is at work; wait until it rests, or stop it first.",
            Self::UnknownRequest => "This chat never made a request of this id; nothing was changed.",
            Self::Conflict => {
                "This request is settled already, by another decision or because its run went on without one; that stands."
            }
            Self::Expired => "The time for this request is over; nothing was changed.",
            Self::NotAllowed => {
                "Nothing was changed: this needs the approval of a known person who did not start the run."
            }
            Self::ReasonWithApproval => "A reason goes with a denial or a no only; leave it out to approve.",
            Self::ScopeWithDenial => "A scope goes with an approval only; leave it out to deny.",
            Self::NotGrantable => {
                "Nothing was decided: only a request that lists the scope in its scopes can be approved with it, and only by \
                 the person who started the run, by their id. Approve once instead."
            }
            Self::InvalidTerms => {
                "Nothing was decided: a standing permission ends at a time to come, and is for arguments that the call has."
            }
            Self::EditOfDenial => "Arguments go with an approval only; leave them out to deny.",
            Self::NotEditable => {
                "Nothing was changed: this request is not about arguments that could be; settle it without them."
            }
            Self::EditInvalid(problem) => {
                let before = "The arguments given cannot run, so nothing was decided. Correct them, or deny the call: ";
                return Cow::Owned([before, problem, "."].concat());
            }
            Self::EditRefused(reason) => {
                let before = "A rule refuses the call with these arguments, so nothing was decided. Change them, or deny \
                              the call. The rule says: ";
                return Cow::Owned([before, reason].concat());
            }
            Self::EditChanged => {
                "What the call would do with these arguments is no longer what was shown. Nothing was decided; look again."
            }
            Self::NoExtension => {
                "Nothing was changed: a request can be extended only, so the new time must be later than the one it has."
            }
            Self::NothingToResume => {
                "There is nothing to go on with: no run was interrupted and no model request failed."
            }
            Self::Stale => "The run no longer waits for this.",
            Self::Corrupt(Corrupt { seq, problem }) => {
                let then = ". Nothing was sent or written; agent.exportLog(id) gives a stored log as it is.";
                return Cow::Owned(["The log does not fit at event ", &seq.to_string(), ": ", problem, then].concat());
            }
        })
    }
}

impl std::fmt::Display for RunError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.message())
    }
}

impl From<Corrupt> for RunError {
    fn from(corrupt: Corrupt) -> Self {
        Self::Corrupt(corrupt)
    }
}
