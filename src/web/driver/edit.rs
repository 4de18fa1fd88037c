//! Arguments that somebody is about to approve in place of the model's: what a page shows of them before that.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::Driver;
use crate::core::approval::Preview;
use crate::core::message::RequestId;
use crate::core::run::{Candidate, Edited, RunError};

/// Arguments that are approved in place of the model's.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SaidEdit {
    /// Their text.
    pub arguments: String,
    /// What the tool's preview said of them when they were shown; `None` where it was not.
    pub shown: Option<Preview>,
}

impl Driver {
    /// The arguments and the schema of a call whose request may be approved with others.
    pub fn editable(&self, request: &RequestId) -> Option<(String, String)> {
        self.look(|run| {
            let asked = run.chat().request(request)?;
            let arguments = run.arguments(&asked.call)?.text().to_owned();
            run.edited(request, &arguments).ok()?;
            let tool = run
                .settings()
                .tools
                .iter()
                .find(|tool| run.chat().call(&asked.call).is_some_and(|(call, _)| call.name == tool.name))?;
            Some((arguments, tool.input_schema.text()))
        })
    }

    /// What would run if these arguments were approved; `None` if that is what the model wrote.
    pub fn edited(&self, request: &RequestId, arguments: &str) -> Result<Option<Candidate>, RunError> {
        self.look(|run| run.edited(request, arguments))
    }

    /// What is wrong with that by the schema of its tool and by the host's rules.
    pub fn judge_edit(&self, candidate: &Candidate) -> Result<(), RunError> {
        let opinions = self.setup.host.opinions(candidate);
        self.look(|run| run.judge_edit(&candidate.call, &opinions).map(|_| ()))
    }

    /// What the tool's preview says of a call with these arguments; `None` where it has none.
    pub fn preview_edit(
        self: &Rc<Self>,
        request: &RequestId,
        arguments: String,
    ) -> Option<impl Future<Output = Result<Preview, JsValue>> + use<>> {
        let tool = self.look(|run| {
            let asked = run.chat().request(request)?;
            run.chat().call(&asked.call).map(|(call, _)| call.name.clone())
        })?;
        let this = Rc::clone(self);
        self.setup.previewed.contains(&tool).then_some(async move { this.preview(&tool, &arguments).await })
    }

    /// Arguments as the run takes them: with what the host's rules say of them.
    pub(super) fn judged(&self, request: &RequestId, edit: &SaidEdit) -> Edited {
        // Whatever is wrong with them is told by the run, too.
        let candidate = self.edited(request, &edit.arguments).ok().flatten();
        let opinions = candidate.map(|candidate| self.setup.host.opinions(&candidate)).unwrap_or_default();
        Edited { arguments: edit.arguments.clone(), opinions, shown: edit.shown.clone() }
    }
}
