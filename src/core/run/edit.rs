//! Arguments that a person puts in place of the model's, in the act of approving them.

use std::borrow::Cow;

use super::{Candidate, Edited, Run, RunError};
use crate::core::approval::{Preview, Tool};
use crate::core::arguments::Arguments;
use crate::core::event::{Decision, Edit};
use crate::core::message::{CallId, CallKind, RequestId};
use crate::core::policy::{Opinion, Standing, Verdict, verdict};

impl Run {
    /// The call behind a request with these arguments, for the host's rules to judge; `None` where they give the tool the
    /// same as the model's, so that nothing is changed.
    pub fn edited(&self, request: &RequestId, arguments: &str) -> Result<Option<Candidate>, RunError> {
        let asked = self.chat.request(request).ok_or(RunError::NotEditable)?;
        let (call, state) = self.chat.call(&asked.call).ok_or(RunError::NotEditable)?;
        // One that is settled changes nothing any more, but must be told from one that asks for another thing.
        let is_settled = self.chat.request_end(request).is_some();
        if call.kind != CallKind::Function || !(is_settled || state.takes_edits()) {
            return Err(RunError::NotEditable);
        }
        let edited = Arguments::new(arguments).map_err(RunError::EditInvalid)?;
        if Arguments::new(&call.arguments).is_ok_and(|written| written.value().same_value(edited.value())) {
            return Ok(None);
        }
        // Without what a person put around the values: what is shown of it, hashed and told is one line.
        let arguments = edited.value().text();
        Ok(Some(Candidate { call: asked.call.clone(), tool: call.name.clone(), arguments }))
    }

    /// The tool that may run with arguments of which the host's rules said this. A rule's wish to ask is met by whoever
    /// approves them; a rule's refusal, or a break of the schema, is an error to them.
    pub fn judge_edit(&self, call: &CallId, opinions: &[Opinion]) -> Result<Cow<'_, Tool>, RunError> {
        let tool = self.chat.call(call).and_then(|(call, _)| self.tool(call)).ok_or(RunError::NotEditable)?;
        match verdict(tool.effect, opinions, self.is_tainted(), &Standing::Silent) {
            Verdict::Invalid(problem) => Err(RunError::EditInvalid(problem)),
            Verdict::Refuse(reason) => Err(RunError::EditRefused(reason)),
            Verdict::Allow(_) | Verdict::Ask { .. } => Ok(tool),
        }
    }

    /// What a decision puts in place of the model's arguments. `preview` is what the tool says of them now.
    pub(super) fn edit(
        &self,
        decision: &Decision,
        edited: Edited,
        preview: Option<&Preview>,
    ) -> Result<Option<Box<Edit>>, RunError> {
        if !decision.approve {
            return Err(RunError::EditOfDenial);
        }
        let Some(Candidate { call: id, arguments, .. }) = self.edited(&decision.request, &edited.arguments)? else {
            return Ok(None);
        };
        let tool = self.judge_edit(&id, &edited.opinions)?;
        if edited.shown.is_some() && edited.shown.as_ref() != preview {
            return Err(RunError::EditChanged);
        }
        let digest = self.digest_with(&id, &tool, &arguments).ok_or(RunError::NotEditable)?;
        let preview = preview.cloned().unwrap_or_default();
        Ok(Some(Box::new(Edit { arguments, digest, preview })))
    }
}
