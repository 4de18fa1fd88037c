//! Standing permissions in a run: who may give one with an approval, and what they come to when a call is judged and when
//! it starts.

use super::ask::LOST;
use super::{Effect, Run, RunError};
use crate::core::approval::{Preview, Request, RequestKind, Scope};
use crate::core::arguments::Arguments;
use crate::core::event::{Body, Decision, Settler};
use crate::core::grant::{self, Constraint, Grant, MOST_ARGUMENTS, Sought, Terms, look_up};
use crate::core::message::{CallId, CallKind, RequestId};
use crate::core::outcome::Decider;
use crate::core::policy::Standing;

/// Why a call waits that was allowed by a standing permission when it was judged.
const NO_LONGER: &str = "The standing permission for this was revoked, ran out or could not be read before it started.";

impl Run {
    /// With which standing permissions a request may be approved, by the owner of the run. None where the request is not
    /// the default's or of a rule that says so; where the tool is of the provider's, so that nobody would see it change; where
    /// nobody is known who would hold it; and where every approval needs a second person.
    pub fn scopes_of(&self, request: &Request) -> &[Scope] {
        let is_open = request.grantable && request.kind == RequestKind::Approval && !self.settings.second_approver;
        let has_owner = self.chat.run().is_some_and(|run| run.owner.is_some());
        let fits = self.chat.call(&request.call).is_some_and(|(call, state)| {
            call.kind == CallKind::Function && state.attempts == 0 && call.arguments.len() <= MOST_ARGUMENTS
        });
        if is_open && has_owner && fits { &self.settings.scopes } else { &[] }
    }

    /// The standing permissions as they were last read, if they were.
    pub const fn grants(&self) -> &grant::Read {
        &self.grants
    }

    /// Notes the standing permissions, for who looks at what was decided; they decide nothing by it.
    pub fn note_grants(&mut self, grants: grant::Read) {
        self.grants = grants;
    }

    /// The standing permission that an approval gives on these terms.
    pub(super) fn granted(
        &self,
        at: u64,
        request: &Request,
        decision: &Decision,
        terms: Terms,
    ) -> Result<Grant, RunError> {
        let (Settler::Person { decided_by: Decider::RunOwner, id: Some(by) }, true) =
            (&decision.by, self.scopes_of(request).contains(&terms.scope))
        else {
            return Err(RunError::NotGrantable);
        };
        // What a person wrote in place of the model's arguments is for this call.
        if decision.edit.is_some() {
            return Err(RunError::NotGrantable);
        }
        let call = self.chat.call(&request.call).map(|(call, _)| call);
        let arguments = call.and_then(|call| Arguments::new(&call.arguments).ok());
        let (Some(tool), Some(arguments)) = (call.and_then(|call| self.tool(call)), arguments) else {
            return Err(RunError::NotGrantable);
        };
        match Constraint::of(&terms.arguments, arguments.value()) {
            Some(constraint) if terms.until.is_none_or(|until| until > at) => Ok(Grant {
                id: terms.id,
                scope: terms.scope,
                chat: self.chat.id().clone(),
                server: tool.server.clone(),
                tool: tool.name.clone(),
                definition: tool.definition_hash(),
                aspects: tool.aspects(),
                constraint,
                until: terms.until,
                by: by.clone(),
                at,
                request: request.id.clone(),
            }),
            _ => Err(RunError::InvalidTerms),
        }
    }

    /// What standing permissions say of a call.
    pub(super) fn standing(&self, id: &CallId, arguments: &Arguments, grants: &grant::Read) -> Standing {
        let said = self.sought(id, arguments, |call| look_up(grants, call, self.granting()));
        said.unwrap_or(Standing::Silent)
    }

    /// Which of them count.
    fn granting(&self) -> &[Scope] {
        if self.settings.second_approver { &[] } else { &self.settings.scopes }
    }

    /// Sees what comes of a call as standing permissions see it; `None` where none can be about it.
    fn sought<T>(&self, id: &CallId, arguments: &Arguments, see: impl FnOnce(Sought<'_>) -> T) -> Option<T> {
        let (call, _) = self.chat.call(id).filter(|(call, _)| call.kind == CallKind::Function)?;
        let tool = self.tool(call)?;
        Some(see(Sought {
            chat: self.chat.id(),
            owner: self.chat.run()?.owner.as_ref(),
            tool: &tool,
            arguments: arguments.value(),
            at: self.clock,
            known_at: self.chat.last_at(),
        }))
    }

    /// Starts a call whose standing permission still stands; asks about another one.
    pub(super) fn grant_checked(
        &mut self,
        at: u64,
        id: CallId,
        grants: grant::Read,
        preview: Preview,
        fresh: Option<RequestId>,
    ) -> Result<(), RunError> {
        if self.activity.checking.take_if(|checking| *checking == id).is_none() {
            return Err(RunError::Stale);
        }
        let stands = self.still_stands(&id, &grants);
        self.grants = grants;
        if stands {
            self.start(at, &id)?;
        } else if let Some(request) = fresh.and_then(|fresh| self.request_without_grant(at, &id, fresh)) {
            let request = Request { preview, ..request };
            self.record(at, [Body::CallAsked { request: request.clone() }])?;
            self.effects.push_back(Effect::Ask(request));
        } else {
            let gone = self.settlement(&id, &self.without_permit(&id))?;
            self.record(at, [gone])?;
        }
        self.advance(at)
    }

    /// Whether the standing permission by which a call is to start covers it still.
    pub fn still_stands(&self, id: &CallId, grants: &grant::Read) -> bool {
        let Some((call, state)) = self.chat.call(id) else { return false };
        let (Some(grants), Some(grant), Ok(arguments)) = (grants, &state.grant, Arguments::new(&call.arguments)) else {
            return false;
        };
        let counts = grants.given(grant).is_some_and(|given| self.granting().contains(&given.scope));
        counts && self.sought(id, &arguments, |call| grants.allows(grant, call)) == Some(true)
    }

    fn request_without_grant(&self, at: u64, id: &CallId, fresh: RequestId) -> Option<Request> {
        let (call, state) = self.chat.call(id)?;
        let tool = self.tool(call)?;
        if state.attempts > 0 {
            return self.recovery(fresh, id.clone(), LOST.to_owned(), &tool);
        }
        self.request(at, fresh, id.clone(), NO_LONGER.to_owned(), &tool)
    }
}
