//! How a call gets its one result.

use super::{Run, RunError};
use crate::core::event::{Body, Decision, EndStatus, Facts};
use crate::core::log::{CallState, Corrupt, Stage};
use crate::core::message::{CallId, ResultItem, Trust};
use crate::core::outcome::{Decider, Denial, Failure, Outcome};
use crate::core::wording::{self, Subject};

impl Run {
    pub(super) fn tool_ended(
        &mut self,
        at: u64,
        id: &CallId,
        attempt: u32,
        result: Result<String, Failure>,
    ) -> Result<(), RunError> {
        let place = self.activity.tools.iter().position(|handed| handed.call == *id).ok_or(RunError::Stale)?;
        let Some((call, state)) = self.chat.call(id).filter(|(_, state)| state.attempts == attempt) else {
            return Err(RunError::Stale);
        };
        let body = match result {
            Ok(text) => {
                let note = state.decision.as_ref().and_then(|decision| self.shared_note(decision));
                let text = note.map_or(text.clone(), |note| wording::with_approval_note(&text, note));
                let outside = self.tool(call).is_some_and(|tool| tool.untrusted);
                let trust = if outside { Trust::ExternalUntrusted } else { Trust::Tool };
                let item = ResultItem { call: id.clone(), renderer: None, text, is_error: false, trust };
                Body::CallSettled { name: call.name.clone(), facts: None, item }
            }
            Err(failure) => self.settlement(id, &Outcome::ToolFailed(failure))?,
        };
        self.activity.tools.swap_remove(place);
        self.record(at, [body])?;
        self.advance(at)
    }

    /// The outcome of a decision to deny.
    pub(super) fn denial(&self, decision: &Decision) -> Outcome {
        Outcome::ApprovalDenied(Denial {
            decided_by: decision.decided_by,
            reason: decision.reason,
            note: self.shared_note(decision).map(str::to_owned),
        })
    }

    /// The event that settles a call which a person declined, where the log ended before it.
    pub(super) fn lost_denial(&self) -> Result<Option<Body>, RunError> {
        let calls = self.chat.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let declined = calls.iter().find(|call| call.stage() == Stage::Declined);
        declined
            .map(|call| self.settlement(&call.id, &self.early_outcome(call, &[], Outcome::OutcomeUnknown)))
            .transpose()
    }

    /// What is true of a call without a result that does not go on; `otherwise` if nobody declined it and it never started.
    fn early_outcome(&self, call: &CallState, not_begun: &[CallId], otherwise: Outcome) -> Outcome {
        // What had been started once before it was to start again may have run then.
        let is_clean = call.attempts == 0 || call.attempts == 1 && not_begun.contains(&call.id);
        match &call.decision {
            _ if !is_clean => Outcome::OutcomeUnknown,
            Some(decision) if !decision.approve => self.denial(decision),
            _ => otherwise,
        }
    }

    /// The part of a decision's note that the model may read: the run owner's, and others' where the host opted in,
    /// since a note is a way to write into somebody else's run.
    pub(super) fn shared_note<'a>(&self, decision: &'a Decision) -> Option<&'a str> {
        let may = decision.decided_by == Decider::RunOwner || self.settings.all_notes;
        decision.note.as_deref().filter(|_| may)
    }

    /// The event that settles a call with anything but a plain result, its text rendered here, once.
    pub(super) fn settlement(&self, id: &CallId, outcome: &Outcome) -> Result<Body, RunError> {
        let Some((call, state)) = self.chat.call(id) else {
            let problem = ["call ", id.as_str(), " is not part of this chat"].concat();
            return Err(RunError::Corrupt(Corrupt { seq: self.chat.next_seq(), problem }));
        };
        let name = if call.name.is_empty() { "(no name)" } else { &call.name };
        let prompt = state.request.as_ref().map_or(name, |request| &request.prompt);
        let item = wording::result_item(self.settings.renderer, Subject { call: id, tool: name, prompt }, outcome);
        Ok(Body::CallSettled { name: name.to_owned(), facts: Some(Facts::of(outcome)), item })
    }

    /// Ends the open run before its answer: every call without a result gets its true one.
    /// `not_begun` are calls that were to start and whose tools are known not to have been called.
    pub(super) fn end_early(
        &mut self,
        at: u64,
        reason: &str,
        not_begun: &[CallId],
        outcome: fn(bool) -> Outcome,
    ) -> Result<(), RunError> {
        let mut bodies = Vec::new();
        let calls = self.chat.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        for call in calls.iter().filter(|call| call.result.is_none()) {
            let outcome = self.early_outcome(call, not_begun, outcome(call.is_approved()));
            bodies.push(self.settlement(&call.id, &outcome)?);
        }
        bodies.push(Body::RunEnded { status: EndStatus::Stopped, reason: Some(reason.to_owned()) });
        self.record(at, bodies)
    }
}
