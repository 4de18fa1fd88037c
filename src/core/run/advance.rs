//! What comes next: from where the chat stands to the next effect.

use super::{Activity, Effect, Handed, Permit, Run, RunError, Status};
use crate::core::event::{Body, EndStatus};
use crate::core::log::{Entry, Stage};
use crate::core::message::{CallId, CallKind, ResultItem, Trust, Turn, TurnCall, TurnEnd};
use crate::core::outcome::{Failure, Outcome, Unavailable};
use crate::core::policy::ToolEffect;

/// Repeats of declined calls after which a run ends.
const REPEATS: u32 = 3;

/// What the model is told where a tool that asked for something is no longer there to be called with the answer.
const CHANGED: &str = "what it asked for was answered, but by then it was no longer the tool that had asked; it was not \
                       called again";

impl Run {
    /// Goes on until something is under way, a person is waited for, or the run has ended.
    pub(super) fn advance(&mut self, at: u64) -> Result<(), RunError> {
        let is_asking =
            |activity: &Activity| activity.model.is_some() || activity.judging.is_some() || activity.checking.is_some();
        while !is_asking(&self.activity) && self.chat.open_run().is_some() {
            if let Some(denied) = self.lost_denial()? {
                self.record(at, [denied])?;
                continue;
            }
            let stages = self.open_stages();
            if stages.iter().any(|(_, stage)| *stage == Stage::Requested) {
                return self.begin_judging(at);
            }
            if stages.iter().any(|(_, stage)| *stage == Stage::Asked) {
                break;
            }
            if stages.iter().any(|(_, stage)| *stage == Stage::Ready) {
                if self.start_next(at, &stages)? {
                    continue;
                }
                return Ok(());
            }
            if !self.activity.tools.is_empty() {
                return Ok(());
            }
            if stages.iter().any(|(_, stage)| *stage == Stage::Started) {
                // Lost with an earlier page, while another call waited for what its tool had asked: to be resumed.
                break;
            }
            self.next_round(at)?;
        }
        if self.status() != Status::Running {
            self.rest();
        }
        Ok(())
    }

    /// The calls of the open turn, each with its stage.
    fn open_stages(&self) -> Vec<(CallId, Stage)> {
        let calls = self.chat.open_turn().map(|turn| turn.calls.as_slice()).unwrap_or_default();
        calls.iter().map(|call| (call.id.clone(), call.stage())).collect()
    }

    /// Calls that were started and have no result.
    pub(super) fn started_calls(&self) -> Vec<CallId> {
        self.open_stages().into_iter().filter(|(_, stage)| *stage == Stage::Started).map(|(id, _)| id).collect()
    }

    /// Starts the next call in call order: a write alone, neighbouring reads together. Says whether anything
    /// changed.
    fn start_next(&mut self, at: u64, stages: &[(CallId, Stage)]) -> Result<bool, RunError> {
        let Some(next) = stages.iter().position(|(_, stage)| *stage == Stage::Ready) else { return Ok(false) };
        let Some((id, _)) = stages.get(next) else { return Ok(false) };
        let reads = |id: &CallId| self.effect_of(id) == Some(ToolEffect::Read);
        let together =
            reads(id) && stages.iter().take(next).all(|(earlier, stage)| *stage == Stage::Settled || reads(earlier));
        if !self.activity.tools.is_empty() && !together {
            return Ok(false);
        }
        let id = id.clone();
        if self.chat.call(&id).is_some_and(|(_, state)| state.runs_by_grant()) {
            // It may have been revoked, or have run out, since the call was judged.
            self.activity.checking = Some(id.clone());
            self.effects.push_back(Effect::CheckGrant(id));
            return Ok(false);
        }
        self.start(at, &id)?;
        Ok(true)
    }

    fn effect_of(&self, id: &CallId) -> Option<ToolEffect> {
        let (call, _) = self.chat.call(id)?;
        self.tool(call)?.effect
    }

    pub(super) fn start(&mut self, at: u64, id: &CallId) -> Result<(), RunError> {
        let Some(permit) = self.permit(id) else {
            let body = self.settlement(id, &self.without_permit(id))?;
            return self.record(at, [body]);
        };
        if let Some((TurnCall { name, kind: CallKind::ProviderApproval { .. }, .. }, _)) = self.chat.call(id) {
            // Nothing runs here: the provider does, once the next request tells it of the approval.
            let text = "approved".to_owned();
            let item = ResultItem { call: id.clone(), renderer: None, text, is_error: false, trust: Trust::Host };
            return self.record(at, [Body::CallSettled { name: name.clone(), facts: None, item }]);
        }
        self.record(at, [Body::CallStarted { call: id.clone(), attempt: permit.attempt }])?;
        self.activity.tools.push(Handed { call: id.clone(), begun: false });
        self.effects.push_back(Effect::RunTool(permit));
        Ok(())
    }

    /// The permit for a call that may run: only where the tool, as it is now, with these arguments is what was
    /// judged and, if asked, approved.
    fn permit(&self, id: &CallId) -> Option<Permit> {
        let run = self.chat.open_run()?;
        let (call, state) = self.chat.call(id)?;
        if state.stage() != Stage::Ready {
            return None;
        }
        let tool = self.tool(call)?;
        let arguments = self.arguments(id)?;
        let digest = self.digest_with(id, &tool, arguments.text())?;
        (state.digest.as_ref() == Some(&digest)).then(|| Permit {
            call: id.clone(),
            run: run.id.clone(),
            tool: tool.name.clone(),
            arguments: arguments.text().to_owned(),
            digest,
            attempt: state.attempts + 1,
            note: state.noted().and_then(|decision| decision.note.clone()),
            answers: state.answers.clone(),
        })
    }

    /// What is true of a call whose tool is gone or changed before it could start, or start again.
    pub(super) fn without_permit(&self, id: &CallId) -> Outcome {
        match self.chat.call(id) {
            Some((_, state)) if state.is_raised => Outcome::ToolFailed(Failure::Threw(CHANGED.to_owned())),
            Some((_, state)) if state.attempts > 0 => Outcome::OutcomeUnknown,
            _ => Outcome::ToolUnavailable(Unavailable::Withdrawn),
        }
    }

    /// Every call has its result: the run ends, or the model is asked again.
    fn next_round(&mut self, at: u64) -> Result<(), RunError> {
        match self.ending() {
            Some((status, reason)) => self.record(at, [Body::RunEnded { status, reason: reason.map(str::to_owned) }]),
            None => {
                let closing = self.chat.run().is_some_and(|run| run.rounds >= self.settings.max_rounds);
                let ticket = self.activity.next_ticket;
                self.activity.next_ticket += 1;
                self.activity.model = Some(ticket);
                self.effects.push_back(Effect::CallModel { ticket, closing });
                Ok(())
            }
        }
    }

    /// How the run ends now, or `None` if it goes on.
    fn ending(&self) -> Option<(EndStatus, Option<&'static str>)> {
        let Some(Entry::Turn(last)) = self.chat.entries().last() else { return None };
        if self.is_closing() {
            return Some((EndStatus::Limit, None));
        }
        if last.turn.calls.is_empty() {
            return Some((EndStatus::Done, answer_remark(&last.turn)));
        }
        if self.chat.run().is_some_and(|run| run.repeats >= REPEATS) {
            return Some((EndStatus::Stopped, Some("repeated_denied_call")));
        }
        self.is_cut_again().then_some((EndStatus::Stopped, Some("repeated_cut_turn")))
    }
}

/// What is worth knowing about an answer that is not plain text in full.
const fn answer_remark(turn: &Turn) -> Option<&'static str> {
    match turn.end {
        TurnEnd::Refusal => Some("refusal"),
        TurnEnd::Length => Some("length"),
        _ if turn.text.is_empty() && turn.refusal.is_empty() => Some("empty"),
        _ => None,
    }
}
