//! How a call gets its one result.

use super::{Run, RunError};
use crate::core::event::{Body, Decision, EndStatus, Facts};
use crate::core::log::{CallState, Corrupt, Stage};
use crate::core::message::{CallId, ResultItem, Trust, TurnCall};
use crate::core::outcome::{Decider, Denial, Failure, Lapse, Outcome};
use crate::core::wording::{self, Subject, ToldEdit};

/// What ends a run before its answer.
#[derive(Clone, Copy, Debug)]
pub(super) enum Early {
    /// The user sent a new message.
    Superseded,
    /// It was stopped.
    Stopped,
}

impl Run {
    pub(super) fn tool_ended(
        &mut self,
        at: u64,
        id: &CallId,
        attempt: u32,
        result: Result<String, Failure>,
    ) -> Result<(), RunError> {
        let (place, call, state) = self.handed(id, attempt)?;
        let body = match result {
            Ok(text) => {
                let note = state.noted().and_then(|decision| self.shared_note(decision));
                let text = note.map_or(text.clone(), |note| wording::with_approval_note(&text, note));
                let text = match told(state) {
                    Some(edited) => wording::with_edit(&text, edited),
                    None => text,
                };
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

    /// A call that was handed to its tool in this attempt, and its place among those.
    pub(super) fn handed(&self, id: &CallId, attempt: u32) -> Result<(usize, &TurnCall, &CallState), RunError> {
        let place = self.activity.tools.iter().position(|handed| handed.call == *id).ok_or(RunError::Stale)?;
        let known = self.chat.call(id).filter(|(_, state)| state.attempts == attempt);
        known.map(|(call, state)| (place, call, state)).ok_or(RunError::Stale)
    }

    /// The outcome of a person's decision to deny.
    pub(super) fn denial(&self, decided_by: Decider, decision: &Decision) -> Outcome {
        Outcome::ApprovalDenied(Denial {
            decided_by,
            reason: decision.reason,
            note: self.shared_note(decision).map(str::to_owned),
        })
    }

    /// The event that settles a call whose request was refused, where the log ended before it.
    pub(super) fn lost_denial(&self) -> Result<Option<Body>, RunError> {
        let calls = self.chat.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        let declined = calls.iter().find(|call| call.stage() == Stage::Declined);
        declined
            .and_then(|call| Some(self.settlement(&call.id, &self.refused(call, call.decision.as_ref()?))))
            .transpose()
    }

    /// What is true of a call whose tool was being told of a no when its result was lost: it had stopped at that.
    pub(super) fn lost_relay(&self, id: &CallId) -> Option<Outcome> {
        let (_, state) = self.chat.call(id)?;
        let decision = state.decision.as_ref().filter(|decision| decision.relayed)?;
        Some(self.refused(state, decision))
    }

    /// What is true of a call without a result that does not go on.
    fn early_outcome(&self, call: &CallState, early: Early, not_begun: &[CallId]) -> Outcome {
        let is_not_begun = not_begun.contains(&call.id);
        if let Some(decision) = call.decision.as_ref().filter(|decision| !decision.approve) {
            return self.refused(call, decision);
        }
        if call.is_raised && (call.stage() != Stage::Started || is_not_begun) {
            return Outcome::RequestLapsed(match (early, call.is_approved()) {
                (Early::Superseded, false) => Lapse::Superseded,
                (Early::Stopped, false) => Lapse::Cancelled,
                (Early::Superseded, true) => Lapse::AnsweredThenSuperseded,
                (Early::Stopped, true) => Lapse::AnsweredThenStopped,
            });
        }
        // What had been started once before it was to start again may have run then.
        if call.attempts > 1 || call.attempts == 1 && !is_not_begun {
            return Outcome::OutcomeUnknown;
        }
        let approved = call.is_approved();
        match early {
            Early::Superseded => Outcome::ApprovalSuperseded { approved },
            Early::Stopped => Outcome::ApprovalCancelled { approved },
        }
    }

    /// The part of a decision's note that the model may read: the run owner's, and others' where the host opted in,
    /// since a note is a way to write into somebody else's run.
    pub(super) fn shared_note<'a>(&self, decision: &'a Decision) -> Option<&'a str> {
        let may = decision.by.decided_by() == Some(Decider::RunOwner) || self.settings.all_notes;
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
        let subject = Subject { call: id, tool: name, prompt, edited: told(state) };
        let item = wording::result_item(self.settings.renderer, subject, outcome);
        Ok(Body::CallSettled { name: name.to_owned(), facts: Some(Facts::of(outcome)), item })
    }

    /// Ends the open run before its answer: every call without a result gets its true one.
    /// `not_begun` are calls that were to start and whose tools are known not to have been called.
    pub(super) fn end_early(&mut self, at: u64, early: Early, not_begun: &[CallId]) -> Result<(), RunError> {
        let mut bodies = Vec::new();
        let calls = self.chat.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        for call in calls.iter().filter(|call| call.result.is_none()) {
            let outcome = self.early_outcome(call, early, not_begun);
            bodies.push(self.settlement(&call.id, &outcome)?);
        }
        let reason = match early {
            Early::Superseded => "superseded",
            Early::Stopped => "stopped",
        };
        bodies.push(Body::RunEnded { status: EndStatus::Stopped, reason: Some(reason.to_owned()) });
        self.record(at, bodies)
    }
}

/// What the model has to know of arguments that a person changed.
fn told(call: &CallState) -> Option<ToldEdit<'_>> {
    let (decision, edit) = call.edited()?;
    // Only persons change arguments.
    Some(ToldEdit { by: decision.by.decided_by().unwrap_or(Decider::Unknown), arguments: &edit.arguments })
}
