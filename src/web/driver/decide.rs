//! The one path of decisions, from the card and from the page's own code.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::Driver;
use crate::core::message::RequestId;
use crate::core::outcome::{DenyReason, PersonId, Via};
use crate::core::run::{Handled, Input, RunError};
use crate::core::snapshot;
use crate::web::error::{error, from_run};
use crate::web::fetch::settled;
use crate::web::platform;
use crate::web::value::to_strings;

/// How often a decision is made again after another page wrote first.
const TRIES: u32 = 5;

/// A decision as it came in.
#[derive(Clone)]
pub struct Said {
    /// The request it is about.
    pub request: RequestId,
    /// Yes or no.
    pub approve: bool,
    /// Who decides.
    pub by: Option<PersonId>,
    /// By which path.
    pub via: Via,
    /// A closed reason.
    pub reason: Option<DenyReason>,
    /// A note.
    pub note: Option<String>,
}

impl Driver {
    /// Decides about a request. The work that is returned resolves once that is stored, with `applied` or `already`. Where
    /// nothing has to be asked of the page first, the run has the decision when this returns.
    pub fn decide(
        self: &Rc<Self>,
        said: Said,
    ) -> Result<impl Future<Output = Result<&'static str, JsValue>> + use<>, JsValue> {
        let epoch = self.epoch.get();
        let asks = self.setup.asks_who_may || said.approve && self.previews(&said.request).is_some();
        let put = if asks { None } else { Some(self.put(&said, None)?) };
        let this = Rc::clone(self);
        Ok(async move { this.see_through(said, put, epoch).await })
    }

    async fn see_through(
        self: &Rc<Self>,
        said: Said,
        mut put: Option<Handled>,
        mut epoch: u32,
    ) -> Result<&'static str, JsValue> {
        if let Some(allowed) = self.ask_whether_may(&said)
            && !settled(allowed).await?.is_truthy()
        {
            return Err(from_run(&RunError::NotAllowed));
        }
        for _ in 0..TRIES {
            let handled = match put.take() {
                Some(handled) => handled,
                None => {
                    let preview = self.preview_again(&said).await?;
                    epoch = self.epoch.get();
                    self.put(&said, preview)?
                }
            };
            self.stored().await?;
            if self.epoch.get() == epoch {
                return match handled {
                    Handled::Applied => Ok("applied"),
                    Handled::Already => Ok("already"),
                    Handled::AskedAgain => Err(error(
                        "changed",
                        "What would run is no longer what was asked about. Nothing was run or decided; another request \
                         asks about it as it is now.",
                    )),
                };
            }
        }
        Err(error("conflict", "Other pages kept writing to this chat; nothing was decided. Decide again."))
    }

    /// Hands a decision to the run.
    fn put(self: &Rc<Self>, said: &Said, preview: Option<Vec<String>>) -> Result<Handled, JsValue> {
        self.check()?;
        let at = platform::now();
        let fresh = RequestId::new(platform::random_id()?);
        let Said { request, approve, by, via, reason, note } = said.clone();
        let decide = Input::Decide { at, request, approve, by, via, reason, note, preview, fresh };
        let handled = self.handle(Input::Tick { at }).and_then(|_| self.handle(decide));
        handled.map_err(|wrong| from_run(&wrong))
    }

    /// Asks the host whether this decider may decide, if it wants to be asked.
    fn ask_whether_may(&self, said: &Said) -> Option<Result<js_sys::Promise, JsValue>> {
        if !self.setup.asks_who_may {
            return None;
        }
        let requests = self.look(snapshot::requests);
        let by = said.by.as_ref().map(PersonId::as_str);
        Some(self.setup.host.may_decide(&requests, said.request.as_str(), by))
    }

    /// What the tool's preview says now, where it has one and an approval depends on it.
    async fn preview_again(&self, said: &Said) -> Result<Option<Vec<String>>, JsValue> {
        match self.previews(&said.request) {
            Some((tool, arguments)) if said.approve => self.preview(&tool, &arguments).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Tool and arguments of the call behind a pending request, if the tool has a preview.
    fn previews(&self, request: &RequestId) -> Option<(String, String)> {
        self.look(|run| {
            let (pending, _) = run.chat().pending().find(|(pending, _)| pending.id == *request)?;
            let (call, _) = run.chat().call(&pending.call)?;
            let shown = self.setup.previewed.contains(&call.name);
            shown.then(|| (call.name.clone(), call.arguments.clone()))
        })
    }

    /// The lines of a tool's preview.
    pub(super) async fn preview(&self, tool: &str, arguments: &str) -> Result<Vec<String>, JsValue> {
        to_strings(settled(self.setup.host.preview(tool, arguments)).await?, "preview")
    }
}
