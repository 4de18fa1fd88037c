//! One call of a chat, and the requests about it.

use crate::core::approval::{Digest, Request, RequestKind};
use crate::core::event::{Decision, Edit, Facts, Settler};
use crate::core::json::Json;
use crate::core::message::{CallId, GrantId, RequestId, ResultItem};
use crate::core::outcome::Token;

/// One call.
#[derive(Clone, Debug, PartialEq)]
pub struct CallState {
    /// Our id.
    pub id: CallId,
    /// The request that stands or stood in front of it.
    pub request: Option<Request>,
    /// The decision on that request.
    pub decision: Option<Decision>,
    /// The decision that let it start, where something was asked about it since.
    pub approval: Option<Decision>,
    /// How often somebody was asked about it.
    pub asks: u32,
    /// What its permit covers, once judged.
    pub digest: Option<Digest>,
    /// The standing permission by which it runs, or ran.
    pub grant: Option<GrantId>,
    /// How often it was started.
    pub attempts: u32,
    /// Whether it may be started once more: its last result was lost, or its tool is to have the answer to what it asked.
    pub restarts: bool,
    /// Whether the request is the tool's own, and not one in front of it or about a result that was lost.
    pub is_raised: bool,
    /// What was answered so far and is the tool's to know, in order.
    pub answers: Vec<Answered>,
    /// The requests of the tool that were settled before the latest.
    pub earlier: Vec<Request>,
    /// How long the request may wait from when it was made, in milliseconds; `None` for ever.
    pub time_given: Option<u64>,
    /// When the request was settled, in milliseconds since the epoch.
    pub settled_at: Option<u64>,
    /// Its one result.
    pub result: Option<Settled>,
}

/// The answer to a request, as its tool gets it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answered {
    /// The request.
    pub request: RequestId,
    /// What was asked for.
    pub kind: RequestKind,
    /// What the answer holds.
    pub data: Option<Json>,
    /// For a no: its reason.
    pub refused: Option<Option<String>>,
}

/// The end of a call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settled {
    /// `None` for a plain result and for an old denial.
    pub facts: Option<Facts>,
    /// The code of a denial that was recorded before its facts were: nobody knows who decided, or whether anybody did.
    pub old_code: Option<String>,
    /// What the model reads.
    pub item: ResultItem,
}

/// Where a call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Stage {
    /// Not judged yet.
    Requested,
    /// Waits for a person.
    Asked,
    /// Its request was refused, and its result is not written: the log ended between the two.
    Declined,
    /// May run: allowed by policy, or approved by a person.
    Ready,
    /// Handed to its tool.
    Started,
    /// Has its result.
    Settled,
}

impl CallState {
    pub(super) const fn new(id: CallId) -> Self {
        Self {
            id,
            request: None,
            decision: None,
            approval: None,
            asks: 0,
            digest: None,
            grant: None,
            attempts: 0,
            restarts: false,
            is_raised: false,
            answers: Vec::new(),
            earlier: Vec::new(),
            time_given: None,
            settled_at: None,
            result: None,
        }
    }

    /// Where the call stands.
    pub const fn stage(&self) -> Stage {
        if self.result.is_some() {
            Stage::Settled
        } else if self.request.is_some() && self.decision.is_none() {
            Stage::Asked
        } else if matches!(self.decision, Some(Decision { approve: false, relayed: false, .. })) {
            Stage::Declined
        } else if self.attempts > 0 && !self.restarts {
            Stage::Started
        } else if self.digest.is_none() {
            Stage::Requested
        } else {
            Stage::Ready
        }
    }

    /// Whether its request was approved, or answered with yes.
    pub fn is_approved(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.approve)
    }

    /// Whether it would start by a standing permission, and by nothing else.
    pub fn runs_by_grant(&self) -> bool {
        self.grant.is_some() && self.decision.is_none()
    }

    /// Whether its request was refused and its tool is told.
    pub fn is_relayed(&self) -> bool {
        self.decision.as_ref().is_some_and(|decision| decision.relayed)
    }

    /// The decision whose note belongs to the call's start.
    pub fn noted(&self) -> Option<&Decision> {
        self.decision.iter().chain(&self.approval).find(|decision| decision.note.is_some())
    }

    /// Whether whoever approves its request may change the arguments: only ahead of its tool, and not once that was
    /// started.
    pub fn takes_edits(&self) -> bool {
        self.attempts == 0 && self.request.as_ref().is_some_and(|request| request.kind == RequestKind::Approval)
    }

    /// The decision by which it runs with other arguments than the model's, and those.
    pub fn edited(&self) -> Option<(&Decision, &Edit)> {
        self.decision.iter().chain(&self.approval).find_map(|decision| Some((decision, decision.edit.as_deref()?)))
    }

    /// What a refused request makes of its call. A decline has a person behind it.
    pub fn refusal(&self) -> Option<Token> {
        let decision = self.decision.as_ref().filter(|decision| !decision.approve)?;
        Some(match (&decision.by, self.is_raised) {
            (Settler::Person { .. }, true) => Token::RequestDeclined,
            (Settler::Policy | Settler::Host, true) => Token::RequestLapsed,
            _ if self.attempts > 0 => Token::OutcomeUnknown,
            (Settler::Person { .. }, false) => Token::ApprovalDenied,
            (Settler::Policy, false) => Token::BlockedByPolicy,
            (Settler::Host, false) => Token::ApprovalCancelled,
        })
    }

    /// Takes in a request; gives the one that it stands in for, if that was waiting.
    pub(super) fn ask(&mut self, at: u64, request: &Request) -> Option<RequestId> {
        self.asks += 1;
        // What had not started by a standing permission no longer will.
        if self.attempts == 0 {
            self.grant = None;
        }
        self.time_given = request.expires_at.map(|end| end.saturating_sub(at));
        self.settled_at = None;
        self.digest = Some(request.digest.clone());
        if self.is_raised {
            self.earlier.extend(self.request.clone());
        }
        self.is_raised = self.attempts > 0 && request.kind != RequestKind::Recovery;
        let earlier = self.decision.take();
        let waited = earlier.is_none();
        self.approval = self.approval.take().or(earlier);
        self.request.replace(request.clone()).filter(|_| waited).map(|earlier| earlier.id)
    }

    /// Takes in how the request was settled.
    pub(super) fn decide(&mut self, at: u64, decision: &Decision) {
        self.settled_at = Some(at);
        let is_heard = decision.approve || decision.relayed;
        self.restarts = is_heard && self.attempts > 0;
        if let Some(request) = &self.request
            && is_heard
            && (self.is_raised || decision.data.is_some())
        {
            let (kind, data) = (request.kind.clone(), decision.data.clone());
            let refused = (!decision.approve).then(|| decision.answer_reason.clone());
            self.answers.push(Answered { request: request.id.clone(), kind, data, refused });
        }
        if let Some(edit) = &decision.edit {
            self.digest = Some(edit.digest.clone());
        }
        self.decision = Some(decision.clone());
    }
}

/// How a request came to its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestEnd {
    /// It was decided or answered.
    Decided(Decision),
    /// Its time ran out.
    Expired,
    /// Nobody decided; the token says why.
    Lapsed(Token),
    /// Its call was denied, as an old log tells without saying by whom.
    OldDenial,
    /// What would run changed while it waited, so that another request asks instead.
    Replaced,
}

impl RequestEnd {
    /// How a request ended whose call got this result at that time, while it waited.
    pub(super) fn of(request: &Request, token: Option<Token>, at: u64) -> Self {
        match token {
            None => Self::OldDenial,
            Some(Token::ApprovalExpired) => Self::Expired,
            Some(Token::RequestLapsed) if request.is_over(at) => Self::Expired,
            Some(token) => Self::Lapsed(token),
        }
    }

    /// Whether the request's time ran out.
    pub const fn is_expiry(&self) -> bool {
        matches!(self, Self::Expired)
    }

    /// Whether this decision says what ended the request.
    pub fn says_the_same(&self, decision: &Decision) -> bool {
        matches!(self, Self::Decided(earlier) if earlier.says_the_same(decision))
    }
}
