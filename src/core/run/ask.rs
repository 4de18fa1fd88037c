//! Asking a person: for the first time, anew when what would run has changed, and after a result was lost.

use std::borrow::Cow;

use super::{Effect, Handled, Run, RunError, Status};
use crate::core::approval::{Digest, Place, Request, RequestKind, Tool, call_digest};
use crate::core::arguments::Arguments;
use crate::core::event::{Body, Decision};
use crate::core::log::CallState;
use crate::core::message::{CallId, CallKind, RequestId, TurnCall};
use crate::core::outcome::{Decider, Outcome, Unavailable};

/// How often a call is asked about before a further change settles it.
const MOST_ASKS: u32 = 4;
/// Stands between a request's reason and what changed since.
const CHANGED: &str = " Asked again, since this changed while it waited: ";
/// Why a call whose result was lost waits.
const LOST: &str = "This was started, and its result was lost when the page went away. It may have run.";

impl Run {
    /// A request about a call; `tool` is as it is now.
    pub(super) fn request(&self, at: u64, id: RequestId, call: CallId, prompt: String, tool: &Tool) -> Option<Request> {
        let digest = self.digest_of(&call, tool)?;
        Some(Request {
            id,
            kind: RequestKind::Approval,
            call,
            prompt,
            digest,
            aspects: tool.aspects(),
            preview: Vec::new(),
            expires_at: self.settings.expire_after.map(|wait| at.saturating_add(wait)),
        })
    }

    /// What consent to a call of the open run covers now.
    pub(super) fn digest_of(&self, id: &CallId, tool: &Tool) -> Option<Digest> {
        let run = self.chat.open_run()?;
        let (call, _) = self.chat.call(id)?;
        let arguments = Arguments::new(&call.arguments).ok()?;
        Some(call_digest(Place { chat: self.chat.id(), run: &run.id, call: id }, tool, arguments.text()))
    }

    /// The tool behind a call, as it is now. A tool of the provider's never is one of the page, whatever it is called.
    pub(super) fn tool(&self, call: &TurnCall) -> Option<Cow<'_, Tool>> {
        match &call.kind {
            CallKind::ProviderApproval { server } => Some(Cow::Owned(Tool::of_provider(server, &call.name))),
            CallKind::Function => self.settings.tools.iter().find(|tool| tool.name == call.name).map(Cow::Borrowed),
        }
    }

    /// Takes a decision about a pending request. `preview` is what the tool says now, where it was asked again.
    pub(super) fn decide(
        &mut self,
        at: u64,
        decision: Decision,
        preview: Option<Vec<String>>,
        fresh: RequestId,
    ) -> Result<Handled, RunError> {
        if decision.approve && decision.reason.is_some() {
            return Err(RunError::ReasonWithApproval);
        }
        let Some((request, state)) = self.chat.pending().find(|(request, _)| request.id == decision.request) else {
            return Err(match self.chat.request_end(&decision.request) {
                Some(end) if end.says_the_same(&decision) => return Ok(Handled::Already),
                Some(end) if end.is_expiry() => RunError::Expired,
                Some(_) => RunError::Conflict,
                None => RunError::UnknownRequest,
            });
        };
        if request.expires_at.is_some_and(|end| at >= end) {
            return Err(RunError::Expired);
        }
        let (request, state) = (request.clone(), state.clone());
        if decision.approve && request.kind == RequestKind::Approval {
            if self.settings.second_approver && decision.decided_by != Decider::OtherUser {
                return Err(RunError::NotAllowed);
            }
            if let Some(changed) = self.changes(&request, preview) {
                return self.ask_again(at, &state, changed, fresh);
            }
        }
        let outcome = match (decision.approve, request.kind) {
            (true, _) => None,
            (false, RequestKind::Approval) => Some(self.denial(&decision)),
            (false, RequestKind::Recovery) => Some(Outcome::OutcomeUnknown),
        };
        let mut bodies = Vec::new();
        if let Some(outcome) = outcome {
            bodies.push(self.settlement(&state.id, &outcome)?);
        }
        bodies.insert(0, Body::CallDecided { call: state.id, decision });
        self.record(at, bodies)?;
        self.advance(at)?;
        Ok(Handled::Applied)
    }

    /// The request as it would be made now, if what would run is no longer what was asked about. A tool that is gone is
    /// no change: it does not run, and the model is told.
    fn changes(&self, asked: &Request, preview: Option<Vec<String>>) -> Option<Request> {
        let (call, _) = self.chat.call(&asked.call)?;
        let tool = self.tool(call)?;
        let digest = self.digest_of(&asked.call, &tool)?;
        let aspects = tool.aspects();
        let mut names = asked.aspects.changes(&aspects);
        let preview = preview.unwrap_or_else(|| asked.preview.clone());
        if preview != asked.preview {
            names.push("preview");
        }
        if names.is_empty() && digest == asked.digest {
            return None;
        }
        let what = if names.is_empty() { "definition".to_owned() } else { names.join(", ") };
        let prompt = [without_note(&asked.prompt), CHANGED, &what, "."].concat();
        Some(Request { prompt, digest, aspects, preview, ..asked.clone() })
    }

    fn ask_again(
        &mut self,
        at: u64,
        state: &CallState,
        changed: Request,
        fresh: RequestId,
    ) -> Result<Handled, RunError> {
        if state.asks >= MOST_ASKS {
            let body = self.settlement(&state.id, &Outcome::ToolUnavailable(Unavailable::Withdrawn))?;
            self.record(at, [body])?;
            self.advance(at)?;
            return Ok(Handled::AskedAgain);
        }
        let expires_at = self.settings.expire_after.map(|wait| at.saturating_add(wait));
        let request = Request { id: fresh, expires_at, ..changed };
        self.record(at, [Body::CallAsked { request: request.clone() }])?;
        self.effects.push_back(Effect::Ask(request));
        self.rest();
        Ok(Handled::AskedAgain)
    }

    /// Goes on with a run that stands still. A call that was started and whose result is lost may have run: only what its
    /// host declared idempotent starts again by itself, about anything else a person is asked.
    pub(super) fn resume(&mut self, at: u64, requests: Vec<RequestId>) -> Result<(), RunError> {
        if !matches!(self.status(), Status::Interrupted | Status::Error) {
            return Err(RunError::NothingToResume);
        }
        let mut ids = requests.into_iter();
        let mut bodies = Vec::new();
        let mut asked = Vec::new();
        for id in self.started_calls() {
            let tool = self.chat.call(&id).and_then(|(call, _)| self.tool(call));
            let digest = tool.as_ref().and_then(|tool| self.digest_of(&id, tool));
            bodies.push(match (tool, digest, ids.next()) {
                (Some(tool), Some(digest), _) if tool.idempotent => Body::CallAllowed { call: id, digest },
                (Some(tool), Some(digest), Some(fresh)) => {
                    let request = Request {
                        id: fresh,
                        kind: RequestKind::Recovery,
                        call: id,
                        prompt: LOST.to_owned(),
                        digest,
                        aspects: tool.aspects(),
                        preview: Vec::new(),
                        expires_at: None,
                    };
                    asked.push(request.clone());
                    Body::CallAsked { request }
                }
                _ => self.settlement(&id, &Outcome::OutcomeUnknown)?,
            });
        }
        self.record(at, bodies)?;
        self.effects.extend(asked.into_iter().map(Effect::Ask));
        self.advance(at)
    }
}

fn without_note(prompt: &str) -> &str {
    prompt.split_once(CHANGED).map_or(prompt, |(reason, _)| reason)
}
