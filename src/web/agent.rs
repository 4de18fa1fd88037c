//! The exported API, raw: the façade in `www/src` gives it types and names.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::{Array, Function, Object};
use wasm_bindgen::prelude::*;
use web_sys::AbortSignal;

use super::driver::Driver;
use super::error::{error, from_run, set_factory};
use super::fetch::Endpoint;
use super::platform;
use super::rules::Rule;
use super::store::RawMemoryStore;
use super::tool::HostTool;
use super::value::{Options, invalid, to_js};
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
    open: RefCell<Vec<(String, Rc<Driver>)>>,
}

const AGENT_OPTIONS: [&str; 10] =
    ["user", "model", "instructions", "params", "tools", "rules", "approvals", "renderer", "maxRounds", "store"];
const MODEL_OPTIONS: [&str; 6] = ["baseUrl", "model", "headers", "credentials", "fetch", "includeUsage"];

#[wasm_bindgen]
impl RawAgent {
    /// Reads the options of `createAgent`; `store` is the handle of its memory store.
    #[wasm_bindgen(constructor)]
    pub fn new(options: &JsValue, store: &RawMemoryStore) -> Result<Self, JsValue> {
        let options = Options::new(options, "options", &AGENT_OPTIONS)?;
        let user = read_user(&options)?;
        let approvals = match options.raw("approvals") {
            none if none.is_undefined() => Object::new().into(),
            given => given,
        };
        let approvals = Options::new(&approvals, "options.approvals", &["expireAfterMs", "notes"])?;
        let all_notes = |name: &str| match name {
            "own" => Some(false),
            "all" => Some(true),
            _ => None,
        };
        let tools = read_tools(&options)?;
        let rules = options.items("rules")?;
        let rules = rules.iter().enumerate().map(|(place, rule)| Rule::read(rule, &format!("options.rules[{place}]")));
        let model = Options::new(&options.raw("model"), "options.model", &MODEL_OPTIONS)?;
        let include_usage = model.optional_bool("includeUsage")?.unwrap_or(true);
        let wire = OpenAiChat::new(
            &model.text("model")?,
            options.fields("params")?,
            Dialect { include_usage, ..Dialect::default() },
        )
        .map_err(|problem| error("invalid_options", &format!("options.{problem}.")))?;
        let renderer = options.one_of("renderer", Renderer::from_token, "\"sentence\", \"json\" or \"compact\"")?;
        let max_rounds = options.optional_whole("maxRounds", 1)?.unwrap_or(20);
        let settings = Settings {
            tools: tools.iter().map(|tool| tool.tool.clone()).collect(),
            renderer: renderer.unwrap_or(Renderer::Sentence),
            max_rounds: max_rounds.try_into().unwrap_or(u32::MAX),
            expire_after: approvals.optional_whole("expireAfterMs", 1)?,
            all_notes: approvals.one_of("notes", all_notes, "\"own\" or \"all\"")?.unwrap_or(false),
        };
        let specs = settings.tools.iter().map(|tool| ToolSpec {
            name: tool.name.clone(),
            description: tool.description.clone(),
            input_schema: tool.input_schema.clone(),
        });
        let setup = Setup {
            user,
            instructions: options.optional_text("instructions")?,
            specs: specs.collect(),
            settings,
            tools,
            rules: rules.collect::<Result<_, _>>()?,
            wire,
            endpoint: Endpoint::read(&model, "/chat/completions")?,
            store: store.share(),
        };
        Ok(Self { setup: Rc::new(setup), open: RefCell::default() })
    }

    /// Opens a chat: new, or as the store left it. One chat is opened once; asking again gives the same.
    pub async fn open(&self, id: String) -> Result<RawChat, JsValue> {
        if id.is_empty() {
            return Err(invalid("open(id)", "needs a non-empty id"));
        }
        if let Some(driver) = self.opened(&id) {
            return Ok(RawChat { driver });
        }
        let driver = Driver::open(Rc::clone(&self.setup), &id).await?;
        // Somebody may have opened it while this one loaded.
        if let Some(driver) = self.opened(&id) {
            return Ok(RawChat { driver });
        }
        self.open.borrow_mut().push((id, Rc::clone(&driver)));
        Ok(RawChat { driver })
    }

    fn opened(&self, id: &str) -> Option<Rc<Driver>> {
        let open = self.open.borrow();
        open.iter().find(|(known, _)| known == id).map(|(_, driver)| Rc::clone(driver))
    }

    /// Aborts what is under way. Nothing pending is decided by it.
    pub fn dispose(&self) {
        let open = self.open.take();
        for (_, driver) in open {
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
    pub async fn send(&self, text: String, by: JsValue, signal: Option<AbortSignal>) -> Result<JsValue, JsValue> {
        let author = if by.is_undefined() { self.driver.setup().user.clone() } else { decider(&by)? };
        if text.trim().is_empty() {
            return Err(invalid("send(message)", "needs a text that is not empty"));
        }
        let aborted = || signal.as_ref().is_some_and(AbortSignal::aborted);
        loop {
            self.driver.check()?;
            if aborted() {
                return Err(error("aborted", "The message was not sent: its signal was aborted first."));
            }
            let message = MessageId::new(platform::random_id()?);
            let parts = vec![Part::Text(text.clone())];
            let (at, author) = (platform::now(), author.clone());
            match self.driver.handle(Input::Send { at, message, author, parts }) {
                Ok(_) => break,
                Err(RunError::Busy) => self.driver.rest().await?,
                Err(wrong) => return Err(from_run(&wrong)),
            }
        }
        let stopper = signal.map(|signal| StopOnAbort::new(&self.driver, signal)).transpose()?;
        let rested = self.settle().await;
        drop(stopper);
        rested
    }

    /// Decides about a pending request. Resolves once the decision is stored, with `applied` or `already`.
    #[allow(clippy::too_many_arguments)]
    pub async fn decide(
        &self,
        request: String,
        approve: bool,
        by: JsValue,
        reason: Option<String>,
        note: Option<String>,
    ) -> Result<String, JsValue> {
        self.driver.check()?;
        let by = decider(&by)?;
        let reason = match reason.as_deref() {
            None => None,
            Some(reason) => Some(DenyReason::from_token(reason).ok_or_else(|| {
                error("invalid_decision", "decide: reason must be \"variant\" or \"skip\", or left out.")
            })?),
        };
        let at = platform::now();
        let request = RequestId::new(request);
        self.driver.handle(Input::Tick { at }).map_err(|wrong| from_run(&wrong))?;
        let input = Input::Decide { at, request, approve, by, via: Via::Api, reason, note };
        let handled = self.driver.handle(input).map_err(|wrong| from_run(&wrong))?;
        self.driver.stored().await?;
        Ok(if handled == Handled::Applied { "applied" } else { "already" }.to_owned())
    }

    /// Resolves with how the run stands once it rests.
    pub async fn settle(&self) -> Result<JsValue, JsValue> {
        self.driver.rest().await?;
        to_js(&self.driver.look(snapshot::run_view))
    }

    /// Goes on with an interrupted run, or makes a failed model request again.
    pub async fn resume(&self) -> Result<JsValue, JsValue> {
        self.driver.check()?;
        self.driver.handle(Input::Resume { at: platform::now() }).map_err(|wrong| from_run(&wrong))?;
        self.settle().await
    }

    /// Ends the run now: aborts what is under way, lapses what is pending.
    pub async fn stop(&self) -> Result<JsValue, JsValue> {
        self.driver.check()?;
        stop(&self.driver)?;
        self.settle().await
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
    if value.is_null() {
        return Ok(None);
    }
    let id = value.as_string().as_deref().and_then(PersonId::new);
    id.map(Some)
        .ok_or_else(|| invalid("by", "must be the decider's id, a non-empty string, or null where it is not known"))
}

fn read_user(options: &Options) -> Result<Option<PersonId>, JsValue> {
    let user = options.raw("user");
    if user.is_undefined() {
        return Err(options.wrong("user", "is required: { id, name? } of who sits here, or null for \"I do not know\""));
    }
    if user.is_null() {
        return Ok(None);
    }
    let user = Options::new(&user, "options.user", &["id", "name"])?;
    Ok(PersonId::new(&user.text("id")?))
}

fn read_tools(options: &Options) -> Result<Vec<HostTool>, JsValue> {
    let mut tools: Vec<HostTool> = Vec::new();
    for (place, value) in options.items("tools")?.iter().enumerate() {
        let path = format!("options.tools[{place}]");
        let tool = HostTool::read(value, &path)?;
        if tools.iter().any(|known| known.tool.name == tool.tool.name) {
            let what = format!("repeats the name \"{}\"; each tool needs its own", tool.tool.name);
            return Err(invalid(&format!("{path}.name"), &what));
        }
        tools.push(tool);
    }
    Ok(tools)
}
