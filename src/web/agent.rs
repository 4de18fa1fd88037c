//! The exported API, raw: the façade in `www/src` gives it types and names.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use super::driver::{Driver, Said, SaidEdit, load_grants, revoke, revoke_in};
use super::error::{error, from_run, set_factory};
use super::host::Host;
use super::platform;
use super::setup::{Setup, person};
use super::value::{from_strings, from_text};
use crate::core::approval::Scope;
use crate::core::chain::{Broken, Privacy, Verified, verify};
use crate::core::event::{self, Extension};
use crate::core::grant::{Chosen, Terms};
use crate::core::json::{self, Json, Writer};
use crate::core::log;
use crate::core::message::{ChatId, GrantId, MessageId, Part, RequestId, RunId};
use crate::core::outcome::{DenyReason, PersonId, Via};
use crate::core::run::{Input, Run, RunError};
use crate::core::snapshot;

/// Hands over the constructor of errors, `(code, message, cause) => Error`. Called once, before anything else.
#[wasm_bindgen]
pub fn install(make_error: Function) {
    set_factory(make_error);
}

/// What is to be said of an export: see `verifyLog` in `www/src/index.ts`.
#[wasm_bindgen(js_name = verifyLog)]
pub fn verify_log(text: &str) -> Result<JsValue, JsValue> {
    let verified = verify(text);
    let mut out = Writer::default();
    out.open('{');
    out.flag("valid", verified.is_ok());
    match verified {
        Ok(Verified { events, head }) => {
            out.number("events", events);
            out.text("head", &head);
        }
        Err(Broken { seq, problem }) => {
            out.number("seq", seq);
            out.text("problem", &problem);
        }
    }
    out.close('}');
    from_text(&out.finish())
}

/// An agent.
#[wasm_bindgen]
pub struct RawAgent {
    setup: Rc<Setup>,
    open: Rc<RefCell<Vec<Rc<Driver>>>>,
}

#[wasm_bindgen]
impl RawAgent {
    /// Takes the options of `createAgent` as `www/src/options.ts` read them: the data as JSON, the functions as `host`.
    #[wasm_bindgen(constructor)]
    pub fn new(setup: &str, host: Host) -> Result<Self, JsValue> {
        let setup = Setup::read(setup, host).map_err(|wrong| error("invalid_options", &wrong))?;
        Ok(Self { setup: Rc::new(setup), open: Rc::default() })
    }

    /// Opens a chat: new, from messages that the host had (as JSON), or as the store left it. The façade asks once for each
    /// id.
    pub fn open(&self, id: String, history: Option<String>) -> Promise {
        let (setup, open) = (Rc::clone(&self.setup), Rc::clone(&self.open));
        promise(Box::pin(async move {
            let driver = Driver::open(setup, &id).await?;
            if let Some(history) = history
                && driver.look(|run| run.chat().next_seq() == 0)
            {
                let history = json::parse_lenient(history.as_bytes()).map_err(|wrong| unreadable(&wrong.text()))?;
                let history = event::read_history(&history).map_err(unreadable)?;
                driver.handle(Input::Seed { at: platform::now(), history }).map_err(|wrong| from_run(&wrong))?;
                driver.stored().await?;
            }
            let mut open = open.borrow_mut();
            open.retain(|other| other.goes_on());
            open.push(Rc::clone(&driver));
            Ok(RawChat { driver }.into())
        }))
    }

    /// Checks an exported log: an array of the chat's id, its head and its lines, as they are to be stored.
    #[wasm_bindgen(js_name = readLog)]
    pub fn read_log(&self, text: &str) -> Result<JsValue, JsValue> {
        let (chat, lines) = log::text::read(text).map_err(|corrupt| from_run(&corrupt.into()))?;
        let id = chat.id().as_str().to_owned();
        let head = snapshot::head(&Run::new(chat, self.setup.settings.clone()));
        let mut all = vec![id, head];
        all.extend(lines.into_iter().map(str::to_owned));
        from_strings(&all)
    }

    /// Resolves with the standing permissions that count now.
    pub fn grants(&self) -> Promise {
        let setup = Rc::clone(&self.setup);
        promise(Box::pin(async move {
            let book = load_grants(&setup.host).await?;
            from_text(&snapshot::grants(&book, &setup.settings.tools, platform::now()))
        }))
    }

    /// Takes back the standing permission of this id. Resolves once that is stored.
    pub fn revoke(&self, id: String) -> Promise {
        let setup = Rc::clone(&self.setup);
        promise(Box::pin(async move {
            revoke(&setup.host, &GrantId::new(id), setup.user.as_ref()).await?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Takes back all that hold in this chat alone. Resolves once that is stored.
    #[wasm_bindgen(js_name = revokeIn)]
    pub fn revoke_in(&self, chat: String) -> Promise {
        let setup = Rc::clone(&self.setup);
        promise(Box::pin(async move {
            revoke_in(&setup.host, &ChatId::new(chat), setup.user.as_ref()).await?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Takes in what was given or revoked, so that receipts tell it. What runs does not depend on that.
    #[wasm_bindgen(js_name = refreshGrants)]
    pub fn refresh_grants(&self) -> Promise {
        let (setup, open) = (Rc::clone(&self.setup), Rc::clone(&self.open));
        promise(Box::pin(async move {
            let read = Some(Rc::new(load_grants(&setup.host).await?));
            let open = open.borrow().clone();
            open.iter().for_each(|driver| driver.note_grants(&read));
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// The page is being left: what is under way ends, nothing is recorded of it.
    pub fn suspend(&self) {
        self.open.borrow().iter().for_each(|driver| driver.suspend());
    }

    /// Aborts what is under way. Nothing pending is decided by it.
    pub fn dispose(&self) {
        let open = self.open.take();
        for driver in open {
            driver.close("disposed", "The agent of this chat was disposed; create another one.".to_owned());
            driver.wake();
        }
    }
}

/// A chat that is open in this page.
#[wasm_bindgen]
pub struct RawChat {
    driver: Rc<Driver>,
}

#[wasm_bindgen]
impl RawChat {
    /// Sends a message, its parts as JSON (`{"parts": […]}`), of the agent's user or, where `has_by`, of `by` (`None`: not known). Begins at once, so that a
    /// stop in the same tick finds it; waits for a run that is at work, supersedes one that waits for a person.
    /// Resolves when the run rests.
    pub fn send(
        &self,
        parts: &str,
        has_by: bool,
        by: Option<String>,
        signal: Option<AbortSignal>,
    ) -> Result<Promise, JsValue> {
        let driver = self.driver();
        let author = if has_by { person(by) } else { driver.setup().user.clone() };
        let parts = json::parse_lenient(parts.as_bytes()).map_err(|wrong| unreadable(&wrong.text()))?;
        let parts = event::read_parts(&parts).map_err(unreadable)?;
        let mut epoch = driver.epoch();
        let mut begun = begin(&driver, &parts, author.as_ref(), signal.as_ref())?;
        Ok(promise(Box::pin(async move {
            let run = loop {
                if let Some(run) = begun {
                    driver.stored().await?;
                    // Otherwise another page wrote first, and the message is not in the chat yet.
                    if driver.epoch() == epoch {
                        break run;
                    }
                }
                driver.idle().await?;
                epoch = driver.epoch();
                begun = begin(&driver, &parts, author.as_ref(), signal.as_ref())?;
            };
            let stopper = signal.map(|signal| StopOnAbort::new(&driver, signal)).transpose()?;
            driver.rest(Some(&run)).await?;
            drop(stopper);
            from_text(&driver.look(|state| snapshot::run_view(state, Some(&run))))
        })))
    }

    /// Decides about a pending request, with other arguments than the model's where they are given as JSON, and on terms of a
    /// standing permission where those are. Resolves once the decision is stored, with `applied` or `already`.
    #[allow(clippy::too_many_arguments)]
    pub fn decide(
        &self,
        request: String,
        approve: bool,
        by: Option<String>,
        reason: Option<String>,
        note: Option<String>,
        arguments: Option<String>,
        terms: Option<String>,
    ) -> Result<Promise, JsValue> {
        let driver = self.driver();
        driver.check()?;
        let reason = reason.as_deref().and_then(DenyReason::from_token);
        let said = Said::new(RequestId::new(request), approve, person(by), Via::Api);
        let terms = terms.map(|terms| read_terms(&terms)).transpose()?;
        let edit = arguments.map(|arguments| SaidEdit { arguments, shown: None });
        let stored = driver.decide(Said { reason, note, edit, terms, ..said })?;
        Ok(promise(Box::pin(async move { stored.await.map(Into::into) })))
    }

    /// Settles a request by an answer, as JSON. Resolves like `decide`.
    pub fn answer(&self, answer: &str) -> Result<Promise, JsValue> {
        let driver = self.driver();
        driver.check()?;
        let said = Said::read(answer, Via::Api).ok_or_else(|| unreadable("an answer"))?;
        let stored = driver.decide(said)?;
        Ok(promise(Box::pin(async move { stored.await.map(Into::into) })))
    }

    /// Gives a pending request more time: until then, or for ever. Resolves like `decide`.
    pub fn extend(&self, request: String, expires_at: Option<f64>, by: Option<String>) -> Promise {
        let expires_at = expires_at.map(platform::milliseconds);
        let request = RequestId::new(request);
        let extended = self.driver().extend(Extension { request, expires_at, decider: person(by), via: Via::Api });
        promise(Box::pin(async move { extended.await.map(Into::into) }))
    }

    /// The latest run's id.
    #[wasm_bindgen(js_name = runId)]
    pub fn run_id(&self) -> Option<String> {
        self.driver.run_id().map(|run| run.as_str().to_owned())
    }

    /// Resolves with how that run stands once it rests.
    pub fn settle(&self, run: Option<String>) -> Promise {
        let driver = self.driver();
        let run = run.map(RunId::new);
        promise(Box::pin(async move {
            driver.rest(run.as_ref()).await?;
            from_text(&driver.look(|state| snapshot::run_view(state, run.as_ref())))
        }))
    }

    /// Goes on with an interrupted run, or makes a failed model request again.
    pub fn resume(&self) -> Result<Promise, JsValue> {
        self.driver.check()?;
        let calls = self.driver.look(|run| run.chat().open_turn().map_or(0, |turn| turn.calls.len()));
        let requests = (0..calls).map(|_| platform::random_id().map(RequestId::new)).collect::<Result<_, _>>()?;
        let resume = Input::Resume { at: platform::now(), requests };
        self.driver.handle(resume).map_err(|wrong| from_run(&wrong))?;
        Ok(self.settle(self.run_id()))
    }

    /// Ends the run now: aborts what is under way, lapses what is pending.
    pub fn stop(&self) -> Result<Promise, JsValue> {
        self.driver.check()?;
        let driver = self.driver();
        let mut epoch = driver.epoch();
        stop(&driver)?;
        let run = driver.run_id();
        Ok(promise(Box::pin(async move {
            driver.stored().await?;
            while driver.epoch() != epoch {
                // Another page wrote first: what it wrote is stopped.
                epoch = driver.epoch();
                stop(&driver)?;
                driver.stored().await?;
            }
            driver.rest(run.as_ref()).await?;
            from_text(&driver.look(|state| snapshot::run_view(state, run.as_ref())))
        })))
    }

    /// Whether everything that happened is stored.
    #[wasm_bindgen(js_name = isStored)]
    pub fn is_stored(&self) -> bool {
        self.driver.is_stored()
    }

    /// Ends the chat here, since it is being taken out of the store.
    pub fn end(&self) {
        self.driver.close_deleted();
        self.driver.changed();
        self.driver.wake();
    }

    /// Whether the chat can go on here: it was not deleted, and the store did not fail it.
    #[wasm_bindgen(js_name = goesOn)]
    pub fn goes_on(&self) -> bool {
        self.driver.goes_on()
    }

    /// `[code, message]` of why it cannot; undefined while it can.
    pub fn ended(&self) -> Option<Array> {
        self.driver.end().map(|(code, why)| Array::of2(&code.into(), &why.into()))
    }

    /// Takes in what another page wrote, if there is anything; `rewritten` says that it cleared content. Resolves once it is.
    pub fn refresh(&self, rewritten: bool) -> Promise {
        let driver = self.driver();
        if rewritten {
            driver.note_rewritten();
        }
        promise(Box::pin(async move {
            driver.refresh().await;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// How many messages the chat has.
    #[wasm_bindgen(js_name = messageCount)]
    pub fn message_count(&self) -> usize {
        self.driver.look(|run| run.chat().folded() + run.chat().entries().len())
    }

    /// The message at a place.
    pub fn message(&self, place: usize) -> Result<JsValue, JsValue> {
        from_text(&self.driver.message(place)?)
    }

    /// The first messages all at once, where they need not be drawn; what is given once is not given again.
    pub fn drawn(&self) -> Result<JsValue, JsValue> {
        from_text(&self.driver.drawn().unwrap_or_else(|| "[]".to_owned()))
    }

    /// How the latest run stands.
    #[wasm_bindgen(js_name = runView)]
    pub fn run_view(&self) -> Result<JsValue, JsValue> {
        from_text(&self.driver.look(|run| snapshot::run_view(run, run.chat().run().map(|latest| &latest.id))))
    }

    /// The pending requests.
    pub fn requests(&self) -> Result<JsValue, JsValue> {
        from_text(&self.driver.look(snapshot::requests))
    }

    /// Whether an answer arrives.
    #[wasm_bindgen(js_name = isStreaming)]
    pub fn is_streaming(&self) -> bool {
        self.driver.is_streaming()
    }

    /// `[text, reasoning]` of the answer that arrives.
    pub fn partial(&self) -> Array {
        let partial = self.driver.partial();
        Array::of2(&partial.text.into(), &partial.reasoning.into())
    }

    /// How often messages seen before may have changed.
    pub fn generation(&self) -> u32 {
        self.driver.generation()
    }

    /// Resolves with the chat as JSON Lines, as much of it as that level of privacy shows.
    pub fn export(&self, privacy: &str) -> Promise {
        let (driver, privacy) = (self.driver(), Privacy::of(privacy));
        promise(Box::pin(async move { Ok(driver.export(privacy).await?.into()) }))
    }

    /// Takes the content of finished runs away. Resolves once that is stored.
    pub fn clear(&self) -> Promise {
        let driver = self.driver();
        promise(Box::pin(async move {
            driver.clear().await?;
            Ok(JsValue::UNDEFINED)
        }))
    }

    /// Calls a function after every change; returns what `unsubscribe` takes.
    pub fn subscribe(&self, listener: Function) -> u32 {
        self.driver.subscribe(listener)
    }

    /// Takes a listener away.
    pub fn unsubscribe(&self, key: u32) {
        self.driver.unsubscribe(key);
    }
}

impl RawChat {
    pub(super) fn driver(&self) -> Rc<Driver> {
        Rc::clone(&self.driver)
    }
}

/// The terms of a standing permission as `www/src/grants.ts` wrote them.
fn read_terms(terms: &str) -> Result<Terms, JsValue> {
    let wrong = || unreadable("a scope");
    let terms = json::parse_lenient(terms.as_bytes()).map_err(|_| wrong())?;
    let scope = terms.get("scope").and_then(Json::as_str).and_then(Scope::from_token).ok_or_else(wrong)?;
    let arguments = match terms.get("arguments") {
        Some(Json::Bool(false)) => Chosen::Any,
        Some(Json::Bool(true)) => Chosen::Exactly,
        Some(Json::Array(keys)) => Chosen::Keys(
            keys.iter().map(|key| key.as_str().map(str::to_owned)).collect::<Option<_>>().ok_or_else(wrong)?,
        ),
        _ => return Err(wrong()),
    };
    Ok(Terms {
        id: GrantId::new(platform::random_id()?),
        scope,
        arguments,
        until: terms.get("until").and_then(Json::as_u64),
    })
}

/// What the façade passed is not what it checked.
fn unreadable(what: &str) -> JsValue {
    error("invalid_options", &["The messages given cannot be read: ", what, "."].concat())
}

/// Hands a message to the run and gives the new run's id; `None` while a run is at work.
fn begin(
    driver: &Rc<Driver>,
    parts: &[Part],
    author: Option<&PersonId>,
    signal: Option<&AbortSignal>,
) -> Result<Option<RunId>, JsValue> {
    driver.check()?;
    if signal.is_some_and(AbortSignal::aborted) {
        return Err(error("aborted", "The message was not sent: its signal was aborted first."));
    }
    let message = MessageId::new(platform::random_id()?);
    let parts = parts.to_vec();
    match driver.handle(Input::Send { at: platform::now(), message, author: author.cloned(), parts }) {
        Ok(_) => Ok(driver.run_id()),
        Err(RunError::Busy) => Ok(None),
        Err(wrong) => Err(from_run(&wrong)),
    }
}

fn stop(driver: &Rc<Driver>) -> Result<(), JsValue> {
    let partial = driver.partial().text;
    driver.handle(Input::Stop { at: platform::now(), partial }).map_err(|wrong| from_run(&wrong))?;
    driver.abort();
    Ok(())
}

/// Stops the run when a signal of the page aborts; lets go of the signal when dropped.
#[must_use = "the run is no longer stopped by the signal once this is dropped"]
struct StopOnAbort {
    signal: AbortSignal,
    listener: Closure<dyn Fn()>,
}

impl StopOnAbort {
    fn new(driver: &Rc<Driver>, signal: AbortSignal) -> Result<Self, JsValue> {
        let driver = Rc::clone(driver);
        let listener = Closure::<dyn Fn()>::new(move || {
            let _ = stop(&driver);
        });
        signal.add_event_listener_with_callback("abort", listener.as_ref().unchecked_ref())?;
        Ok(Self { signal, listener })
    }
}

impl Drop for StopOnAbort {
    fn drop(&mut self) {
        let listener = self.listener.as_ref().unchecked_ref();
        // Removing a listener throws on no platform; there is nothing to do if it did.
        let _ = self.signal.remove_event_listener_with_callback("abort", listener);
    }
}

/// Work whose end a page waits for. One shape for all, so that the machinery behind a promise is there once.
type Work = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

fn promise(work: Work) -> Promise {
    future_to_promise(work)
}
