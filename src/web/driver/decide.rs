//! The one path of decisions, from the card and from the page's own code.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::{Driver, SaidEdit};
use crate::core::approval::{Preview, Request};
use crate::core::event::Extension;
use crate::core::grant::Terms;
use crate::core::json::{Json, parse_lenient};
use crate::core::message::RequestId;
use crate::core::outcome::{DenyReason, PersonId, Via};
use crate::core::run::{Answerer, Handled, Input, RunError};
use crate::core::snapshot;
use crate::web::error::{code_of, error, from_run, text_of};
use crate::web::fetch::settled;
use crate::web::platform;
use crate::web::value::to_strings;

/// How often a decision is made again after another page wrote first.
const TRIES: u32 = 5;
const OTHERS_WRITE: &str = "Other pages kept writing to this chat; nothing was decided. Decide again.";

/// A decision as it came in.
#[derive(Clone)]
pub struct Said {
    /// The request it is about.
    pub request: RequestId,
    /// Yes or no.
    pub approve: bool,
    /// Who decides.
    pub by: Answerer,
    /// By which path.
    pub via: Via,
    /// A closed reason.
    pub reason: Option<DenyReason>,
    /// A note.
    pub note: Option<String>,
    /// Whether it is an answer, and not a button's plain yes or no.
    pub is_answer: bool,
    /// The reason of an answer.
    pub answer_reason: Option<String>,
    /// What the tool gets, as JSON.
    pub data: Option<String>,
    /// The standing permission that is to come of it.
    pub terms: Option<Terms>,
    /// Arguments in place of the model's.
    pub edit: Option<SaidEdit>,
}

impl Said {
    /// A yes or no by a person, and nothing else.
    pub const fn new(request: RequestId, approve: bool, by: Option<PersonId>, via: Via) -> Self {
        let by = Answerer::Person(by);
        Self {
            request,
            approve,
            by,
            via,
            reason: None,
            note: None,
            is_answer: false,
            answer_reason: None,
            data: None,
            terms: None,
            edit: None,
        }
    }

    /// Reads an answer as `www/src/requests.ts` wrote it; `None` if it did not.
    pub fn read(answer: &str, via: Via) -> Option<Self> {
        let answer = parse_lenient(answer.as_bytes()).ok()?;
        let text = |key: &str| answer.get(key).and_then(Json::as_str);
        let by = match answer.get("by") {
            None => Answerer::Unsaid,
            Some(by) if by.as_str() == Some("policy") => Answerer::Policy,
            Some(by) => Answerer::Person(by.get("user").and_then(Json::as_str).and_then(PersonId::new)),
        };
        let said = Self::new(RequestId::new(text("id")?), answer.get("ok")?.as_bool()?, None, via);
        let (answer_reason, data) = (text("reason").map(str::to_owned), answer.get("data").map(Json::exact_text));
        Some(Self { by, is_answer: true, answer_reason, data, ..said })
    }
}

impl Driver {
    /// Decides about a request. The work that is returned resolves once that is stored, with `applied` or `already`. Where
    /// nothing has to be asked of the page first, the run has the decision when this returns.
    pub fn decide(
        self: &Rc<Self>,
        said: Said,
    ) -> Result<impl Future<Output = Result<&'static str, JsValue>> + use<>, JsValue> {
        let epoch = self.epoch.get();
        let asks = self.setup.asks_who_may || said.approve && self.previews(&said).is_some();
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
        if let Some(allowed) = self.ask_whether_may(&said.request, &said.by)
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
                if let (Handled::Applied, Some(terms)) = (handled, &said.terms) {
                    self.is_kept(terms, epoch).await?;
                }
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
        Err(error("conflict", OTHERS_WRITE))
    }

    /// Hands a decision to the run.
    fn put(self: &Rc<Self>, said: &Said, preview: Option<Preview>) -> Result<Handled, JsValue> {
        self.check()?;
        let at = platform::now();
        let fresh = RequestId::new(platform::random_id()?);
        let data = self.fill(said)?;
        let edited = said.edit.as_ref().map(|edit| self.judged(&said.request, edit));
        let Said { request, approve, by, via, reason, note, is_answer, answer_reason, terms, .. } = said.clone();
        let decide = match by {
            Answerer::Person(by) if !is_answer && data.is_none() => {
                Input::Decide { at, request, approve, by, via, reason, note, edited, terms, preview, fresh }
            }
            _ if terms.is_some() => return Err(from_run(&RunError::NotGrantable)),
            by => Input::Answer { at, request, ok: approve, by, via, reason: answer_reason, data, preview, fresh },
        };
        let handled = self.handle(Input::Tick { at }).and_then(|_| self.handle(decide));
        handled.map_err(|wrong| from_run(&wrong))
    }

    /// What an answer gives to the tool: of a form, the values that its schema declares, if they fit.
    fn fill(&self, said: &Said) -> Result<Option<Json>, JsValue> {
        let form = self.look(|run| {
            let request =
                run.chat().request(&said.request).filter(|request| said.approve && request.kind.has_form())?;
            request.data.as_ref().map(Json::exact_text)
        });
        let filled = match (form, &said.data) {
            (Some(form), values) => {
                let filled = self.setup.host.fill(&form, values.as_deref().unwrap_or("{}"));
                Some(filled.map_err(|why| error("invalid_answer", &text_of(&why)))?)
            }
            (None, data) => data.clone(),
        };
        Ok(filled.and_then(|data| parse_lenient(data.as_bytes()).ok()))
    }

    /// Gives a request more time. Resolves once that is stored, with `applied` or `already`.
    pub async fn extend(self: Rc<Self>, extension: Extension) -> Result<&'static str, JsValue> {
        let by = Answerer::Person(extension.decider.clone());
        if let Some(allowed) = self.ask_whether_may(&extension.request, &by)
            && !settled(allowed).await?.is_truthy()
        {
            return Err(from_run(&RunError::NotAllowed));
        }
        for _ in 0..TRIES {
            self.check()?;
            let (epoch, at) = (self.epoch.get(), platform::now());
            let extend = Input::Extend { at, extension: extension.clone() };
            let handled = self.handle(Input::Tick { at }).and_then(|_| self.handle(extend));
            let handled = handled.map_err(|wrong| from_run(&wrong))?;
            self.stored().await?;
            if self.epoch.get() == epoch {
                if let Some(request) = self.look(|run| run.chat().request(&extension.request).cloned()) {
                    self.lapse_in_time(&request);
                }
                return Ok(if handled == Handled::Already { "already" } else { "applied" });
            }
        }
        Err(error("conflict", OTHERS_WRITE))
    }

    /// Asks the host for its answer to a request that began to wait here. None, or one that comes too late, decides
    /// nothing.
    pub(super) fn wait_for(self: &Rc<Self>, request: &Request) {
        if !self.setup.waits_for {
            return;
        }
        let requests = self.look(snapshot::requests);
        let answer = self.setup.host.wait_for(&requests, request.id.as_str());
        let driver = Rc::downgrade(self);
        platform::spawn(Box::pin(async move {
            let said = settled(answer).await.ok().and_then(|answer| Said::read(&answer.as_string()?, Via::WaitFor));
            let (Some(this), Some(said)) = (driver.upgrade(), said) else { return };
            let thrown = match this.decide(said) {
                Ok(stored) => stored.await.err(),
                Err(thrown) => Some(thrown),
            };
            // Somebody else was first, or its time was over: that is no fault.
            if let Some(thrown) = thrown
                && !matches!(code_of(&thrown).as_deref(), Some("conflict" | "expired" | "disposed" | "deleted"))
            {
                platform::report(&thrown);
            }
        }));
    }

    /// Asks the host whether this decider may decide, if it wants to be asked.
    fn ask_whether_may(&self, request: &RequestId, by: &Answerer) -> Option<Result<js_sys::Promise, JsValue>> {
        if !self.setup.asks_who_may {
            return None;
        }
        let requests = self.look(snapshot::requests);
        let by = if let Answerer::Person(Some(id)) = by { Some(id.as_str()) } else { None };
        Some(self.setup.host.may_decide(&requests, request.as_str(), by))
    }

    /// What the tool's preview says now, where it has one and an approval depends on it.
    async fn preview_again(&self, said: &Said) -> Result<Option<Preview>, JsValue> {
        match self.previews(said) {
            Some((tool, arguments)) if said.approve => self.preview(&tool, &arguments).await.map(Some),
            _ => Ok(None),
        }
    }

    /// Tool and arguments of the call that a decision about a pending request would let run, if the tool has a preview.
    fn previews(&self, said: &Said) -> Option<(String, String)> {
        self.look(|run| {
            let found = run.chat().pending().find(|(pending, state)| pending.id == said.request && !state.is_raised);
            let (pending, _) = found?;
            let (call, _) = run.chat().call(&pending.call)?;
            let edited = said.edit.as_ref().and_then(|edit| run.edited(&said.request, &edit.arguments).ok().flatten());
            let arguments = match edited {
                Some(edited) => edited.arguments,
                None => run.arguments(&pending.call)?.text().to_owned(),
            };
            self.setup.previewed.contains(&call.name).then(|| (call.name.clone(), arguments))
        })
    }

    /// What a tool's preview says. It comes as the current values as JSON, empty for none, and the lines.
    pub(super) async fn preview(&self, tool: &str, arguments: &str) -> Result<Preview, JsValue> {
        let mut texts = to_strings(settled(self.setup.host.preview(tool, arguments)).await?, "preview")?.into_iter();
        let mut current = texts.next().and_then(|current| parse_lenient(current.as_bytes()).ok());
        if let Some(current) = &mut current {
            current.make_well_formed();
        }
        Ok(Preview { lines: texts.collect(), current })
    }
}
