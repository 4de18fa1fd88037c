//! What becomes of a request: decided, answered, extended, or over.

use super::ask::MOST_ANSWERS;
use super::{Answerer, Edited, Effect, Handled, Run, RunError};
use crate::core::approval::{Preview, Request, RequestKind};
use crate::core::event::{Body, Decision, Extension, Settler};
use crate::core::grant::Terms;
use crate::core::log::CallState;
use crate::core::message::RequestId;
use crate::core::outcome::{Decider, Lapse, Outcome, Via};

/// The one reason of an answer that says by itself that a person declined.
const DECLINED: &str = "declined";

/// What may come with a decision beside its yes or no.
#[derive(Default)]
pub(super) struct More {
    /// Other arguments than the model's.
    pub(super) edited: Option<Edited>,
    /// The standing permission that is to come of it.
    pub(super) terms: Option<Terms>,
}

impl Run {
    /// How an answer counts. A person who is named, or the reason `declined` exactly, is a person's decision; a policy's
    /// never is; any other no is the host taking its request back.
    pub(super) fn decision(
        &self,
        request: RequestId,
        approve: bool,
        by: Answerer,
        via: Via,
        answer_reason: Option<String>,
    ) -> Decision {
        let owner = self.chat.run().and_then(|run| run.owner.as_ref());
        let by = match by {
            Answerer::Policy => Settler::Policy,
            Answerer::Person(id) => Settler::Person { decided_by: Decider::of(id.as_ref(), owner), id },
            Answerer::Unsaid if approve || answer_reason.as_deref() == Some(DECLINED) => {
                Settler::Person { decided_by: Decider::Unknown, id: None }
            }
            Answerer::Unsaid => Settler::Host,
        };
        Decision {
            request,
            approve,
            by,
            via,
            reason: None,
            note: None,
            answer_reason,
            data: None,
            edit: None,
            relayed: false,
            standing: None,
        }
    }

    /// Takes a decision about a pending request. `preview` is what the tool says now, where it was asked again.
    pub(super) fn decide(
        &mut self,
        at: u64,
        mut decision: Decision,
        More { edited, terms }: More,
        preview: Option<Preview>,
        fresh: RequestId,
    ) -> Result<Handled, RunError> {
        if decision.approve && (decision.reason.is_some() || decision.answer_reason.is_some()) {
            return Err(RunError::ReasonWithApproval);
        }
        if !decision.approve && terms.is_some() {
            return Err(RunError::ScopeWithDenial);
        }
        let waiting = self.waiting(at, &decision.request)?;
        decision.edit = edited.map(|edited| self.edit(&decision, edited, preview.as_ref())).transpose()?.flatten();
        let Some((request, state)) = waiting else {
            return match self.chat.request_end(&decision.request) {
                Some(end) if end.says_the_same(&decision) => Ok(Handled::Already),
                _ => Err(RunError::Conflict),
            };
        };
        if decision.approve && request.kind == RequestKind::Approval {
            if self.settings.second_approver && decision.by.decided_by() != Some(Decider::OtherUser) {
                return Err(RunError::NotAllowed);
            }
            // What a tool asks for while it runs is about nothing that could have changed meanwhile.
            if !state.is_raised
                && let Some(changed) = self.changes(&request, preview.filter(|_| decision.edit.is_none()))
            {
                return self.ask_again(at, &state, changed, fresh);
            }
        }
        let grant = terms.map(|terms| self.granted(at, &request, &decision, terms)).transpose()?;
        let decision = Decision { relayed: !decision.approve && self.relays(&state), ..decision };
        let ends = !decision.approve && !decision.relayed;
        let refusal = ends.then(|| self.refused(&state, &decision));
        let refusal = refusal.map(|outcome| self.settlement(&state.id, &outcome)).transpose()?;
        let decided = Body::CallDecided { call: state.id, decision };
        self.record(at, std::iter::once(decided).chain(refusal))?;
        self.effects.extend(grant.map(Effect::KeepGrant));
        self.advance(at)?;
        Ok(Handled::Applied)
    }

    /// The reason of a no that was said by a button: one for the tool, where it is told.
    pub(super) fn plain_reason(&self, request: &RequestId, approve: bool) -> Option<String> {
        let request = self.chat.request(request).filter(|_| !approve)?;
        let (_, state) = self.chat.call(&request.call)?;
        self.relays(state).then(|| DECLINED.to_owned())
    }

    /// Whether a no to what this call's tool asked for goes to the tool.
    fn relays(&self, state: &CallState) -> bool {
        let tool = self.chat.call(&state.id).and_then(|(call, _)| self.tool(call));
        state.is_raised && state.answers.len() < MOST_ANSWERS && tool.is_some_and(|tool| tool.relays)
    }

    /// Gives a pending request more time.
    pub(super) fn extend(&mut self, at: u64, extension: Extension) -> Result<Handled, RunError> {
        let Some((request, state)) = self.waiting(at, &extension.request)? else { return Err(RunError::Conflict) };
        if extension.expires_at == request.expires_at {
            return Ok(Handled::Already);
        }
        let is_later = extension.expires_at.is_none_or(|new| request.expires_at.is_some_and(|old| new > old));
        if !is_later {
            return Err(RunError::NoExtension);
        }
        self.record(at, [Body::CallExtended { call: state.id, extension }])?;
        Ok(Handled::Applied)
    }

    /// A request that waits, with its call; `None` if it was settled, other than by its time, which is an error as are
    /// ids that no request had.
    fn waiting(&self, at: u64, id: &RequestId) -> Result<Option<(Request, CallState)>, RunError> {
        let Some((request, state)) = self.chat.pending().find(|(request, _)| request.id == *id) else {
            return match self.chat.request_end(id) {
                None => Err(RunError::UnknownRequest),
                Some(end) if end.is_expiry() => Err(RunError::Expired),
                Some(_) => Ok(None),
            };
        };
        if request.is_over(at) {
            return Err(RunError::Expired);
        }
        Ok(Some((request.clone(), state.clone())))
    }

    /// Settles requests whose time is over; says whether there were any.
    pub(super) fn lapse(&mut self, at: u64) -> Result<bool, RunError> {
        let over = self.chat.pending().filter(|(request, _)| request.is_over(at));
        let bodies = over.map(|(_, call)| {
            let lapsed = Outcome::RequestLapsed(Lapse::Expired);
            self.settlement(&call.id, if call.is_raised { &lapsed } else { &Outcome::ApprovalExpired })
        });
        let bodies = bodies.collect::<Result<Vec<_>, _>>()?;
        let any = !bodies.is_empty();
        self.record(at, bodies)?;
        Ok(any)
    }

    /// What a refused request makes of its call.
    pub(super) fn refused(&self, call: &CallState, decision: &Decision) -> Outcome {
        match (&decision.by, call.is_raised) {
            (Settler::Person { decided_by, .. }, true) => Outcome::RequestDeclined { decided_by: *decided_by },
            (Settler::Policy, true) => Outcome::RequestLapsed(Lapse::Cancelled),
            (Settler::Host, true) => Outcome::RequestLapsed(match decision.answer_reason.as_deref() {
                Some("expired") => Lapse::Expired,
                Some("superseded") => Lapse::Superseded,
                _ => Lapse::Cancelled,
            }),
            _ if call.attempts > 0 => Outcome::OutcomeUnknown,
            (Settler::Person { decided_by, .. }, false) => self.denial(*decided_by, decision),
            (Settler::Policy, false) => Outcome::PolicyAnswered,
            (Settler::Host, false) => Outcome::ApprovalWithdrawn,
        }
    }
}
