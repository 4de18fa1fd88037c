//! The exported API, raw: the façade in `www/src` gives it types and names.

use std::cell::RefCell;
use std::pin::Pin;
use std::rc::Rc;

use js_sys::{Array, Function, Promise};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use web_sys::AbortSignal;

use super::driver::Driver;
use super::error::{error, from_run, set_factory};
use super::fetch::Endpoint;
use super::platform;
use super::rules::Rule;
use super::store::RawMemoryStore;
use super::tool::HostTool;
use super::value::{Options, Problem, to_js};
use crate::core::message::{MessageId, Part, RequestId, ToolSpec};
use crate::core::outcome::{DenyReason, PersonId, Via};
use crate::core::run::{Handled, Input, RunError, Settings};
use crate::core::snapshot;
use crate::core::wire::openai_chat::{Dialect, OpenAiChat};
use crate::core::wording::Renderer;

/// Everything an agent was created with.
pub struct Setup {
    pub(super) user: Option<PersonId>,
    pub(super) instructions: Option<String>,
    pub(super) settings: Settings,
    pub(super) tools: Vec<HostTool>,
    pub(super) specs: Vec<ToolSpec>,
    pub(super) rules: Vec<Rule>,
    pub(super) wire: OpenAiChat,
    pub(super) endpoint: Endpoint,
    pub(super) store: RawMemoryStore,
}

/// Hands over the constructor of errors: `(code, message, cause) => Error`. Called once, before anything else.
#[wasm_bindgen]
pub fn install(make_error: Function) {
    set_factory(make_error);
}

/// An agent.
#[wasm_bindgen]
pub struct RawAgent {
    setup: Rc<Setup>,
    open: Rc<RefCell<Vec<Rc<Driver>>>>,
}

const AGENT_OPTIONS: [&str; 10] =
    ["user", "model", "instructions", "params", "tools", "rules", "approvals", "renderer", "maxRounds", "store"];
const MODEL_OPTIONS: [&str; 6] = ["baseUrl", "model", "headers", "credentials", "fetch", "includeUsage"];

#[wasm_bindgen]
impl RawAgent {
    /// Reads the options of `createAgent`; `store` is the handle of its memory store.
    #[wasm_bindgen(constructor)]
    pub fn new(options: JsValue, store: &RawMemoryStore) -> Result<Self, JsValue> {
        let problem = Problem::default();
        let setup = Setup::read(options, store, &problem);
        problem.check()?;
        let setup = setup.ok_or_else(|| error("invalid_options", "The options could not be read."))?;
        Ok(Self { setup: Rc::new(setup), open: Rc::default() })
    }

    /// Opens a chat: new, or as the store left it. The façade asks once for each id.
    pub fn open(&self, id: String) -> Promise {
        let (setup, open) = (Rc::clone(&self.setup), Rc::clone(&self.open));
        promise(Box::pin(async move {
            if id.is_empty() {
                return Err(error("invalid_options", "open(id) needs a non-empty id."));
            }
            let driver = Driver::open(setup, &id).await?;
            open.borrow_mut().push(Rc::clone(&driver));
            Ok(RawChat { driver }.into())
        }))
    }

    /// Aborts what is under way. Nothing pending is decided by it.
    pub fn dispose(&self) {
        let open = self.open.take();
        for driver in open {
            driver.abort();
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
    /// Sends a user's message. Waits for a run that is at work, supersedes one that waits for a person. Resolves when
    /// the run rests.
    pub fn send(&self, text: String, by: JsValue, signal: Option<AbortSignal>) -> Promise {
        let driver = self.driver();
        promise(Box::pin(async move {
            let author = if by.is_undefined() { driver.setup().user.clone() } else { decider(&by)? };
            if text.trim().is_empty() {
                return Err(error("invalid_options", "send(message) needs a text that is not empty."));
            }
            loop {
                driver.check()?;
                if signal.as_ref().is_some_and(AbortSignal::aborted) {
                    return Err(error("aborted", "The message was not sent: its signal was aborted first."));
                }
                let message = MessageId::new(platform::random_id()?);
                let parts = vec![Part::Text(text.clone())];
                let (at, author) = (platform::now(), author.clone());
                match driver.handle(Input::Send { at, message, author, parts }) {
                    Ok(_) => break,
                    Err(RunError::Busy) => driver.rest().await?,
                    Err(wrong) => return Err(from_run(&wrong)),
                }
            }
            let stopper = signal.map(|signal| StopOnAbort::new(&driver, signal)).transpose()?;
            driver.rest().await?;
            drop(stopper);
            to_js(&driver.look(snapshot::run_view))
        }))
    }

    /// Decides about a pending request. Resolves once the decision is stored, with `applied` or `already`.
    pub fn decide(
        &self,
        request: String,
        approve: bool,
        by: JsValue,
        reason: Option<String>,
        note: Option<String>,
    ) -> Result<Promise, JsValue> {
        let driver = self.driver();
        driver.check()?;
        let by = decider(&by)?;
        let closed = reason.as_deref().and_then(DenyReason::from_token);
        if reason.is_some() && closed.is_none() {
            return Err(error("invalid_decision", "decide: reason must be \"variant\" or \"skip\", or left out."));
        }
        let at = platform::now();
        let request = RequestId::new(request);
        let input = Input::Decide { at, request, approve, by, via: Via::Api, reason: closed, note };
        let handled = driver.handle(Input::Tick { at }).and_then(|_| driver.handle(input));
        let said = match handled.map_err(|wrong| from_run(&wrong))? {
            Handled::Applied => "applied",
            Handled::Already => "already",
        };
        Ok(promise(Box::pin(async move {
            driver.stored().await?;
            Ok(said.into())
        })))
    }

    /// Resolves with how the run stands once it rests.
    pub fn settle(&self) -> Promise {
        let driver = self.driver();
        promise(Box::pin(async move {
            driver.rest().await?;
            to_js(&driver.look(snapshot::run_view))
        }))
    }

    /// Goes on with an interrupted run, or makes a failed model request again.
    pub fn resume(&self) -> Result<Promise, JsValue> {
        self.driver.check()?;
        self.driver.handle(Input::Resume { at: platform::now() }).map_err(|wrong| from_run(&wrong))?;
        Ok(self.settle())
    }

    /// Ends the run now: aborts what is under way, lapses what is pending.
    pub fn stop(&self) -> Result<Promise, JsValue> {
        self.driver.check()?;
        stop(&self.driver)?;
        Ok(self.settle())
    }

    /// How many messages the chat has.
    #[wasm_bindgen(js_name = messageCount)]
    pub fn message_count(&self) -> usize {
        self.driver.look(|run| run.chat().entries().len())
    }

    /// The message at a place.
    pub fn message(&self, place: usize) -> Result<JsValue, JsValue> {
        to_js(&self.driver.look(|run| snapshot::message(run, place)))
    }

    /// How the latest run stands.
    #[wasm_bindgen(js_name = runView)]
    pub fn run_view(&self) -> Result<JsValue, JsValue> {
        to_js(&self.driver.look(snapshot::run_view))
    }

    /// The pending requests.
    pub fn requests(&self) -> Result<JsValue, JsValue> {
        to_js(&self.driver.look(snapshot::requests))
    }

    /// `[text, reasoning]` of the answer that arrives.
    pub fn partial(&self) -> Array {
        let partial = self.driver.partial();
        Array::of2(&partial.text.into(), &partial.reasoning.into())
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

/// An id of a person, or null for "not known". Numbers are refused, not coerced.
pub(super) fn decider(value: &JsValue) -> Result<Option<PersonId>, JsValue> {
    let id = value.as_string().as_deref().and_then(PersonId::new);
    if id.is_some() || value.is_null() {
        return Ok(id);
    }
    let message = "by must be the decider's id, a non-empty string, or null where it is not known.";
    Err(error("invalid_decision", message))
}

/// Work whose end a page waits for. One shape for all, so that the machinery behind a promise is there once.
type Work = Pin<Box<dyn Future<Output = Result<JsValue, JsValue>>>>;

fn promise(work: Work) -> Promise {
    future_to_promise(work)
}

impl Setup {
    /// Reads the options of an agent; `None` only where a problem was noted.
    fn read(options: JsValue, store: &RawMemoryStore, problem: &Problem) -> Option<Self> {
        let options = Options::new(options, "options", &AGENT_OPTIONS, problem);
        let model = options.nested("model", &MODEL_OPTIONS);
        let approvals = options.nested("approvals", &["expireAfterMs", "notes"]);
        let include_usage = model.optional_bool("includeUsage").unwrap_or(true);
        let dialect = Dialect { include_usage, ..Dialect::default() };
        let wire = OpenAiChat::new(&model.text("model"), options.fields("params"), dialect);
        let wire = wire.map_err(|wrong| problem.note(&["options.", &wrong])).ok()?;
        let tools = read_tools(&options, problem);
        let tool = |tool: &HostTool| tool.tool.clone();
        let renderers = Renderer::ALL;
        let names: Vec<_> = renderers.iter().map(|renderer| renderer.token()).collect();
        let renderer = options.one_of("renderer", &names).and_then(|place| renderers.get(place));
        Some(Self {
            user: read_user(&options),
            instructions: options.optional_text("instructions"),
            specs: tools.iter().map(spec).collect(),
            settings: Settings {
                tools: tools.iter().map(tool).collect(),
                renderer: renderer.copied().unwrap_or(Renderer::Sentence),
                max_rounds: options.optional_count("maxRounds").unwrap_or(20).try_into().unwrap_or(u32::MAX),
                expire_after: approvals.optional_count("expireAfterMs"),
                all_notes: approvals.one_of("notes", &["own", "all"]) == Some(1),
            },
            tools,
            rules: read_rules(&options, problem),
            wire,
            endpoint: Endpoint::read(&model, "/chat/completions"),
            store: store.share(),
        })
    }
}

fn spec(tool: &HostTool) -> ToolSpec {
    ToolSpec {
        name: tool.tool.name.clone(),
        description: tool.tool.description.clone(),
        input_schema: tool.tool.input_schema.clone(),
    }
}

fn read_user(options: &Options<'_>) -> Option<PersonId> {
    let user = options.raw("user");
    if user.is_null() {
        return None;
    }
    if user.is_undefined() {
        options.wrong("user", "is required: { id, name? } of who sits here, or null for \"I do not know\"");
    }
    PersonId::new(&options.nested("user", &["id", "name"]).text("id"))
}

fn read_tools(options: &Options<'_>, problem: &Problem) -> Vec<HostTool> {
    let mut tools: Vec<HostTool> = Vec::new();
    for (place, value) in options.items("tools").into_iter().enumerate() {
        let path = ["options.tools[", &place.to_string(), "]"].concat();
        let tool = HostTool::read(value, &path, problem);
        if tools.iter().any(|known| known.tool.name == tool.tool.name) {
            problem.note(&[&path, ".name repeats \"", &tool.tool.name, "\"; each tool needs a name of its own"]);
        }
        tools.push(tool);
    }
    tools
}

fn read_rules(options: &Options<'_>, problem: &Problem) -> Vec<Rule> {
    let read = |(place, rule): (usize, JsValue)| {
        Rule::read(rule, &["options.rules[", &place.to_string(), "]"].concat(), problem)
    };
    options.items("rules").into_iter().enumerate().map(read).collect()
}
