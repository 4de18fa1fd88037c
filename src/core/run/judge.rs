//! From a turn's calls to verdicts: the check of form first, then the host's rules, then one write for the whole
//! turn. Nothing of a turn runs before all of it is judged.

use std::rc::Rc;

use super::{Candidate, Effect, Run, RunError};
use crate::core::approval::{Digest, Preview, Request};
use crate::core::arguments::Arguments;
use crate::core::event::Body;
use crate::core::grant;
use crate::core::log::{CallState, Entry, Stage, TurnState};
use crate::core::message::{CallId, GrantId, RequestId, Trust, Turn, TurnCall, TurnEnd};
use crate::core::outcome::{Outcome, Unavailable};
use crate::core::policy::{Opinion, Standing, ToolEffect, Verdict, verdict};

/// What the check of form found about one call.
#[derive(Debug)]
pub(super) struct Screened {
    call: CallId,
    form: Result<Form, Outcome>,
}

/// A call that may be judged by rules.
#[derive(Debug)]
struct Form {
    tool: String,
    effect: Option<ToolEffect>,
    digest: Digest,
    arguments: Arguments,
}

impl Run {
    pub(super) fn turn_ended(&mut self, at: u64, ticket: u64, turn: Rc<Turn>) -> Result<(), RunError> {
        self.take_ticket(ticket)?;
        if turn.end == TurnEnd::Truncated && turn.calls.is_empty() {
            let message = "The model's answer broke off before it was complete; retry to ask for it again.".to_owned();
            self.record(
                at,
                [Body::TurnFailed { code: "model_truncated".to_owned(), message, text: turn.text.clone() }],
            )?;
            self.rest();
            return Ok(());
        }
        self.record(at, [Body::TurnCompleted { turn }])?;
        self.advance(at)
    }

    /// Screens the open turn's calls and asks for the rules' opinions about those that passed.
    pub(super) fn begin_judging(&mut self, at: u64) -> Result<(), RunError> {
        let Some(turn) = self.chat.open_turn() else { return Ok(()) };
        let calls = turn.turn.calls.iter().zip(&turn.calls);
        let screened: Vec<Screened> = calls
            .filter(|(_, state)| state.stage() == Stage::Requested)
            .map(|(call, state)| Screened { call: state.id.clone(), form: self.screen(turn, call, state) })
            .collect();
        let candidates: Vec<Candidate> = screened
            .iter()
            .filter_map(|screened| {
                let form = screened.form.as_ref().ok()?;
                let arguments = form.arguments.text().to_owned();
                Some(Candidate { call: screened.call.clone(), tool: form.tool.clone(), arguments })
            })
            .collect();
        self.activity.judging = Some(screened);
        if candidates.is_empty() {
            return self.judged(at, &[], Vec::new(), Vec::new(), &None);
        }
        self.effects.push_back(Effect::Judge(candidates));
        Ok(())
    }

    pub(super) fn judged(
        &mut self,
        at: u64,
        opinions: &[Vec<Opinion>],
        previews: Vec<Preview>,
        ids: Vec<RequestId>,
        grants: &grant::Read,
    ) -> Result<(), RunError> {
        let Some(screened) = self.activity.judging.take() else { return Err(RunError::Stale) };
        let tainted = self.is_tainted();
        let mut inputs =
            opinions.iter().zip(previews.into_iter().chain(std::iter::repeat_with(Preview::default)).zip(ids));
        let mut bodies = Vec::new();
        let mut asked = Vec::new();
        for Screened { call, form } in screened {
            let form = match form {
                Ok(form) => form,
                Err(outcome) => {
                    bodies.push(self.settlement(&call, &outcome)?);
                    continue;
                }
            };
            // Without opinions there is no verdict, and without an id nothing can wait: such a call is refused.
            let Some((opinions, (preview, id))) = inputs.next() else {
                bodies.push(self.settlement(&call, &Outcome::ToolUnavailable(Unavailable::Withdrawn))?);
                continue;
            };
            let standing = self.standing(&call, &form.arguments, grants);
            match verdict(form.effect, opinions, tainted, &standing) {
                Verdict::Allow(grant) => bodies.push(Body::CallAllowed { call, digest: form.digest, grant }),
                Verdict::Invalid(why) => bodies.push(self.settlement(&call, &Outcome::ArgumentsInvalid(why))?),
                Verdict::Refuse(reason) => bodies.push(self.settlement(&call, &Outcome::BlockedByPolicy(reason))?),
                Verdict::Ask { reason, grantable } => {
                    let tool = self.chat.call(&call).and_then(|(call, _)| self.tool(call));
                    let request = tool.and_then(|tool| self.request(at, id, call.clone(), reason, &tool));
                    let Some(request) = request else {
                        bodies.push(self.settlement(&call, &Outcome::ToolUnavailable(Unavailable::Withdrawn))?);
                        continue;
                    };
                    let request = Request { preview, grantable, ..request };
                    asked.push(request.clone());
                    bodies.push(Body::CallAsked { request });
                }
            }
        }
        self.record(at, bodies)?;
        self.effects.extend(asked.into_iter().map(Effect::Ask));
        self.advance(at)
    }

    /// Whether what standing permissions say would change anything about the calls that are being judged, of which the
    /// rules said this.
    pub fn wants_grants(&self, opinions: &[Vec<Opinion>]) -> bool {
        let judged = self.activity.judging.iter().flatten().filter_map(|screened| screened.form.as_ref().ok());
        let (tainted, covered) = (self.is_tainted(), Standing::Covers(GrantId::new("")));
        judged.zip(opinions).any(|(form, opinions)| {
            let said = |standing| verdict(form.effect, opinions, tainted, standing);
            said(&covered) != said(&Standing::Silent)
        })
    }

    /// The check of form, first match wins: a cut turn, the closing request, an unknown tool, arguments that cannot
    /// be shown or run faithfully, a call that repeats one a person declined.
    fn screen(&self, turn: &TurnState, call: &TurnCall, state: &CallState) -> Result<Form, Outcome> {
        if turn.turn.end.is_cut() {
            return Err(Outcome::TurnTruncated);
        }
        if self.is_closing() {
            return Err(Outcome::ToolUnavailable(Unavailable::NotOffered));
        }
        let Some(tool) = self.tool(call) else {
            return Err(Outcome::ToolUnavailable(Unavailable::Unknown));
        };
        let arguments = Arguments::new(&call.arguments).map_err(Outcome::ArgumentsInvalid)?;
        if let Some(earlier) = self.declined_before(&tool.name, &arguments) {
            return Err(Outcome::AlreadyDeclined { earlier });
        }
        let Some(digest) = self.digest_of(&state.id, &tool) else {
            return Err(Outcome::ToolUnavailable(Unavailable::Withdrawn));
        };
        Ok(Form { tool: tool.name.clone(), effect: tool.effect, digest, arguments })
    }

    /// The call of this run with the same tool and equal arguments that a person declined, if there is one. Equal
    /// means equal parsed values, whatever the order of keys.
    fn declined_before(&self, tool: &str, arguments: &Arguments) -> Option<CallId> {
        let declined = &self.chat.run()?.declined;
        declined
            .iter()
            .find(|id| {
                self.chat.call(id).is_some_and(|(earlier, _)| {
                    earlier.name == tool
                        && Arguments::new(&earlier.arguments)
                            .is_ok_and(|value| value.value().same_value(arguments.value()))
                })
            })
            .cloned()
    }

    /// Whether a result from outside came in during this run.
    pub(super) fn is_tainted(&self) -> bool {
        let turns = self.chat.entries().iter().rev().map_while(|entry| match entry {
            Entry::Turn(turn) => Some(turn.calls.as_slice()),
            Entry::Failure { .. } => Some(&[][..]),
            Entry::User { .. } => None,
        });
        turns
            .flatten()
            .any(|call| call.result.as_ref().is_some_and(|settled| settled.item.trust == Trust::ExternalUntrusted))
    }

    /// Whether the latest turn answered the closing request.
    pub(super) fn is_closing(&self) -> bool {
        self.chat.run().is_some_and(|run| run.rounds > self.settings.max_rounds)
    }

    /// Whether the last two turns of the run were both cut off.
    pub(super) fn is_cut_again(&self) -> bool {
        let turns = self.chat.entries().iter().rev().map_while(|entry| match entry {
            Entry::Turn(turn) => Some(turn.turn.end.is_cut()),
            Entry::User { .. } | Entry::Failure { .. } => None,
        });
        turns.take(2).filter(|cut| *cut).count() == 2
    }
}
