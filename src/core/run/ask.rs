//! Asking a person: for the first time, anew when what would run has changed, after a result was lost, and for what a
//! tool asks.

use std::borrow::Cow;

use super::{Effect, Handled, Run, RunError, Status};
use crate::core::approval::{AskSpec, Digest, Place, Preview, Request, RequestKind, Tool, call_digest};
use crate::core::arguments::Arguments;
use crate::core::event::Body;
use crate::core::log::CallState;
use crate::core::message::{CallId, CallKind, RequestId, TurnCall};
use crate::core::outcome::{Failure, Outcome, Unavailable};

/// How often a call is asked about before a further change settles it.
const MOST_ASKS: u32 = 4;
/// How often a tool gets an answer within one call. One that asks for ever would, with answers that come by themselves,
/// never end.
pub(super) const MOST_ANSWERS: usize = 16;
/// What the model is told of a tool that asks once more.
const ASKS_FOR_EVER: &str = "it asked for something more often than it may within one call";
/// Stands between a request's reason and what changed since.
const CHANGED: &str = " Asked again, since this changed while it waited: ";
/// Why a call whose result was lost waits.
pub(super) const LOST: &str = "This was started, and its result was lost when the page went away. It may have run.";

impl Run {
    /// A request about a call; `tool` is as it is now.
    pub(super) fn request(&self, at: u64, id: RequestId, call: CallId, prompt: String, tool: &Tool) -> Option<Request> {
        let digest = self.digest_of(&call, tool)?;
        Some(Request {
            id,
            kind: RequestKind::Approval,
            call,
            prompt,
            url: None,
            data: None,
            digest,
            aspects: tool.aspects(),
            preview: Preview::default(),
            expires_at: self.settings.expire_after.map(|wait| at.saturating_add(wait)),
            grantable: false,
        })
    }

    /// A request about a call that may have run.
    pub(super) fn recovery(&self, id: RequestId, call: CallId, prompt: String, tool: &Tool) -> Option<Request> {
        let request = self.request(0, id, call, prompt, tool)?;
        Some(Request { kind: RequestKind::Recovery, expires_at: None, ..request })
    }

    /// What consent to a call of the open run covers now.
    pub(super) fn digest_of(&self, id: &CallId, tool: &Tool) -> Option<Digest> {
        self.digest_with(id, tool, self.arguments(id)?.text())
    }

    /// What consent to a call of the open run would cover with these arguments.
    pub(super) fn digest_with(&self, id: &CallId, tool: &Tool, arguments: &str) -> Option<Digest> {
        let run = self.chat.open_run()?;
        Some(call_digest(Place { chat: self.chat.id(), run: &run.id, call: id }, tool, arguments))
    }

    /// The arguments that a call runs with: those the model wrote, or those a person approved in their place.
    pub fn arguments(&self, id: &CallId) -> Option<Arguments> {
        let (call, state) = self.chat.call(id)?;
        Arguments::new(state.edited().map_or(&call.arguments, |(_, edit)| &edit.arguments)).ok()
    }

    /// The tool behind a call, as it is now. A tool of the provider's never is one of the page, whatever it is called.
    pub fn tool(&self, call: &TurnCall) -> Option<Cow<'_, Tool>> {
        match &call.kind {
            CallKind::ProviderApproval { server } => Some(Cow::Owned(Tool::of_provider(server, &call.name))),
            CallKind::Function => self.settings.tools.iter().find(|tool| tool.name == call.name).map(Cow::Borrowed),
        }
    }

    /// The request as it would be made now, if what would run is no longer what was asked about. A tool that is gone is
    /// no change: it does not run, and the model is told.
    pub(super) fn changes(&self, asked: &Request, preview: Option<Preview>) -> Option<Request> {
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

    pub(super) fn ask_again(
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

    /// Takes in what a tool asks for. The call waits like one that waits in front of its tool.
    pub(super) fn tool_asked(
        &mut self,
        at: u64,
        id: &CallId,
        attempt: u32,
        request: RequestId,
        spec: AskSpec,
    ) -> Result<(), RunError> {
        let (place, call, state) = self.handed(id, attempt)?;
        let body = match state.digest.clone() {
            Some(digest) if state.answers.len() < MOST_ANSWERS => Body::CallAsked {
                request: Request {
                    id: request,
                    kind: spec.kind,
                    call: id.clone(),
                    prompt: spec.prompt,
                    url: spec.url,
                    data: spec.data,
                    digest,
                    aspects: self.tool(call).map(|tool| tool.aspects()).unwrap_or_default(),
                    preview: Preview::default(),
                    expires_at: spec
                        .expires_at
                        .unwrap_or_else(|| self.settings.expire_after.map(|wait| at.saturating_add(wait))),
                    grantable: false,
                },
            },
            _ => self.settlement(id, &Outcome::ToolFailed(Failure::Threw(ASKS_FOR_EVER.to_owned())))?,
        };
        let asked = if let Body::CallAsked { request } = &body { Some(Effect::Ask(request.clone())) } else { None };
        self.activity.tools.swap_remove(place);
        self.record(at, [body])?;
        self.effects.extend(asked);
        self.advance(at)
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
            if let Some(refused) = self.lost_relay(&id) {
                bodies.push(self.settlement(&id, &refused)?);
                continue;
            }
            let tool = self.chat.call(&id).and_then(|(call, _)| self.tool(call));
            let digest = tool.as_ref().and_then(|tool| self.digest_of(&id, tool));
            bodies.push(match (tool, digest, ids.next()) {
                (Some(tool), Some(digest), _) if tool.idempotent => {
                    let grant = self.chat.call(&id).and_then(|(_, state)| state.grant.clone());
                    Body::CallAllowed { call: id, digest, grant }
                }
                (Some(tool), Some(_), Some(fresh)) => {
                    let Some(request) = self.recovery(fresh, id, LOST.to_owned(), &tool) else { continue };
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
