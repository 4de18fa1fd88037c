//! Carries out the effects of one chat's run. The only place where the run and a wire meet.

mod model;
mod record;

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;
use web_sys::{AbortController, Blob};

use super::error::{error, from_run, text_of};
use super::fetch::{settled, within};
use super::platform;
use super::setup::Setup;
use super::value::{from_strings, to_strings};
use crate::core::approval::Request;
use crate::core::chain;
use crate::core::event::Event;
use crate::core::log::Chat;
use crate::core::message::{CallId, ChatId, RequestId, RunId};
use crate::core::outcome::Failure;
use crate::core::run::{Candidate, Effect, Handled, Input, Permit, Run, RunError, Status};

/// A chat that is open in this page.
pub struct Driver {
    setup: Rc<Setup>,
    run: RefCell<Run>,
    /// Text of the answer that arrives.
    partial: RefCell<Partial>,
    /// The history as encoded for the wire so far: from where, how many items, their bytes.
    encoded: RefCell<Option<Encoded>>,
    model_abort: RefCell<Option<AbortController>>,
    tool_aborts: RefCell<Vec<(CallId, AbortController)>>,
    pumping: Cell<bool>,
    /// How many events are stored.
    stored: Cell<u64>,
    /// The hash of the last of them, empty if it has none.
    head: RefCell<String>,
    /// How often the chat was taken anew from the store, so that messages seen before may have changed.
    generation: Cell<u32>,
    /// Why nothing more is written here, as an error's code and sentence.
    closed: RefCell<Option<(&'static str, String)>>,
    /// Who waits for events to be stored or for the run to rest; all are woken after every change.
    waiters: RefCell<Vec<Waker>>,
    listeners: RefCell<Vec<(u32, Function)>>,
    next_listener: Cell<u32>,
}

/// History items as the wire has them, kept outside of the module's memory.
struct Encoded {
    start: usize,
    items: usize,
    bytes: Blob,
}

/// What of an answer has arrived.
#[derive(Clone, Default)]
pub struct Partial {
    /// Its text.
    pub text: String,
    /// Its reasoning.
    pub reasoning: String,
}

impl Driver {
    /// Opens a chat as the store left it. Calls no model and no tool.
    pub async fn open(setup: Rc<Setup>, id: &str) -> Result<Rc<Self>, JsValue> {
        let (chat, head) = replay(id, &load_lines(&setup, id).await?)?;
        let stored = Cell::new(chat.next_seq());
        let run = RefCell::new(Run::new(chat, setup.settings.clone()));
        let opened = Rc::new(Self {
            setup,
            run,
            partial: RefCell::default(),
            encoded: RefCell::default(),
            model_abort: RefCell::default(),
            tool_aborts: RefCell::default(),
            pumping: Cell::new(false),
            stored,
            head: RefCell::new(head),
            generation: Cell::new(0),
            closed: RefCell::default(),
            waiters: RefCell::default(),
            listeners: RefCell::default(),
            next_listener: Cell::new(0),
        });
        let pending = opened.look(|run| run.chat().pending().map(|(request, _)| request.clone()).collect::<Vec<_>>());
        pending.iter().for_each(|request| opened.lapse_in_time(request));
        Ok(opened)
    }

    /// The agent's set-up.
    pub fn setup(&self) -> &Setup {
        &self.setup
    }

    /// Looks at the run; the closure must not call back into this driver.
    pub fn look<T>(&self, see: impl FnOnce(&Run) -> T) -> T {
        see(&self.run.borrow())
    }

    /// What of an answer has arrived.
    pub fn partial(&self) -> Partial {
        self.partial.borrow().clone()
    }

    /// Hands an input to the run and sees to its effects. A closed chat takes nothing in: what could not be stored must
    /// not show.
    pub fn handle(self: &Rc<Self>, input: Input) -> Result<Handled, RunError> {
        if self.closed.borrow().is_some() {
            return Err(RunError::Stale);
        }
        let handled = self.run.borrow_mut().handle(input)?;
        self.pump();
        Ok(handled)
    }

    /// An error if this chat can no longer write.
    pub fn check(&self) -> Result<(), JsValue> {
        match &*self.closed.borrow() {
            Some((code, why)) => Err(error(code, why)),
            None => Ok(()),
        }
    }

    /// Resolves once everything up to now is stored.
    pub async fn stored(&self) -> Result<(), JsValue> {
        let seq = self.look(|run| run.chat().next_seq());
        self.wait(|| self.stored.get() >= seq).await
    }

    /// Whether everything that happened is stored.
    pub fn is_stored(&self) -> bool {
        self.stored.get() >= self.look(|run| run.chat().next_seq())
    }

    /// Resolves once no run is at work and all of it is stored.
    pub async fn idle(&self) -> Result<(), JsValue> {
        self.wait(|| self.look(Run::status) != Status::Running && self.is_stored()).await
    }

    /// Resolves once that run rests, whatever came after it, and all of it is stored; without one at once.
    pub async fn rest(&self, id: Option<&RunId>) -> Result<(), JsValue> {
        let rests = |run: &Run| {
            let known = id.and_then(|id| run.chat().run_by_id(id));
            known.is_none_or(|known| run.status_of(&known.id) != Status::Running && self.stored.get() > known.last_seq)
        };
        self.wait(|| self.look(rests)).await
    }

    /// The latest run's id.
    pub fn run_id(&self) -> Option<RunId> {
        self.look(|run| run.chat().run().map(|latest| latest.id.clone()))
    }

    /// Resolves once `done`, or once this chat can no longer write.
    async fn wait(&self, done: impl Fn() -> bool) -> Result<(), JsValue> {
        poll_fn(|context| {
            if done() || self.closed.borrow().is_some() {
                return Poll::Ready(());
            }
            self.waiters.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
        self.check()
    }

    /// Lets those who wait look again.
    pub fn wake(&self) {
        for waiter in self.waiters.take() {
            waiter.wake();
        }
    }

    /// Registers a listener; returns what [`unsubscribe`](Self::unsubscribe) takes.
    pub fn subscribe(&self, listener: Function) -> u32 {
        let key = self.next_listener.get();
        self.next_listener.set(key + 1);
        self.listeners.borrow_mut().push((key, listener));
        key
    }

    /// Takes a listener away.
    pub fn unsubscribe(&self, key: u32) {
        self.listeners.borrow_mut().retain(|(known, _)| *known != key);
    }

    /// Tells every listener that something changed.
    fn changed(&self) {
        let listeners = self.listeners.borrow().clone();
        for (_, listener) in listeners {
            if let Err(thrown) = listener.call0(&JsValue::UNDEFINED) {
                platform::report(&thrown);
            }
        }
    }

    /// Ends this driver: what is under way is aborted, nothing more is written, nothing pending is decided. Who waits is
    /// told by the next [`wake`](Self::wake).
    pub fn close(&self, code: &'static str, why: String) {
        self.closed.replace(Some((code, why)));
        self.abort();
    }

    /// Aborts the model request and the tools under way. An abort carries no reason.
    pub fn abort(&self) {
        if let Some(controller) = self.model_abort.take() {
            controller.abort();
        }
        for (_, controller) in self.tool_aborts.take() {
            controller.abort();
        }
        self.partial.take();
    }

    /// Works through the effects, one pump at a time.
    fn pump(self: &Rc<Self>) {
        if self.pumping.replace(true) {
            return;
        }
        let this = Rc::clone(self);
        platform::spawn(Box::pin(async move {
            loop {
                let effect = this.run.borrow_mut().poll();
                let Some(effect) = effect else { break };
                if this.closed.borrow().is_none() {
                    this.carry_out(effect).await;
                }
            }
            this.pumping.set(false);
        }));
    }

    async fn carry_out(self: &Rc<Self>, effect: Effect) {
        match effect {
            Effect::Persist(events) => self.persist(&events).await,
            Effect::CallModel { ticket, closing } => {
                let this = Rc::clone(self);
                platform::spawn(Box::pin(async move { model::call(&this, ticket, closing).await }));
            }
            Effect::Judge(candidates) => self.judge(&candidates),
            Effect::Ask(request) => {
                self.changed();
                self.lapse_in_time(&request);
            }
            Effect::RunTool(permit) => {
                let this = Rc::clone(self);
                platform::spawn(Box::pin(async move { this.run_tool(permit).await }));
            }
            Effect::Done(_) => {
                self.changed();
                self.wake();
            }
        }
    }

    /// Stores events, then tells. If a write fails nothing runs any more: this chat stops and says so.
    async fn persist(&self, events: &[Event]) {
        let Some(first) = events.first() else { return };
        let mut head = self.head.borrow().clone();
        let lines = events.iter().map(|event| seal(event, &mut head)).collect::<Result<Vec<String>, _>>();
        let lines = lines.and_then(|lines| from_strings(&lines));
        let written = lines.and_then(|lines| self.setup.host.append(first.chat.as_str(), first.seq as f64, &lines));
        let written = settled(written).await;
        match written {
            Ok(_) => {
                self.stored.set(first.seq + events.len() as u64);
                self.head.replace(head);
            }
            Err(thrown) => {
                self.close("storage", text_of(&thrown));
                // What was not stored did not happen: the page sees the chat as the store has it.
                if let Ok(lines) = load_lines(&self.setup, first.chat.as_str()).await
                    && let Ok((chat, head)) = replay(first.chat.as_str(), &lines)
                {
                    self.take_over(chat, head);
                }
            }
        }
        self.changed();
        self.wake();
    }

    /// Replaces the chat by what the store has of it. Not while a run is at work.
    fn take_over(&self, chat: Chat, head: String) {
        self.stored.set(chat.next_seq());
        self.head.replace(head);
        self.generation.set(self.generation.get() + 1);
        self.encoded.take();
        self.run.replace(Run::new(chat, self.setup.settings.clone()));
    }

    /// How often messages seen before may have changed.
    pub fn generation(&self) -> u32 {
        self.generation.get()
    }

    /// Sees to it that a request lapses when its time is over, by the clock and not by the timer.
    fn lapse_in_time(self: &Rc<Self>, request: &Request) {
        let Some(end) = request.expires_at else { return };
        let driver = Rc::downgrade(self);
        platform::spawn(Box::pin(async move {
            while let Some(this) = driver.upgrade() {
                let now = platform::now();
                if now >= end {
                    // Whether it was settled before is the core's to see.
                    let _ = this.handle(Input::Tick { at: now });
                    break;
                }
                let slept = this.setup.host.sleep((end - now) as f64);
                drop(this);
                if settled(slept).await.is_err() {
                    break;
                }
            }
        }));
    }

    fn judge(self: &Rc<Self>, candidates: &[Candidate]) {
        let mut opinions = Vec::new();
        let mut requests = Vec::new();
        for candidate in candidates {
            opinions.push(self.setup.host.opinions(candidate));
            // Without randomness there is no id, and without an id the call is refused by the core.
            if let Ok(id) = platform::random_id() {
                requests.push(RequestId::new(id));
            }
        }
        // A run that was stopped meanwhile no longer waits for this.
        let _ = self.handle(Input::Judged { at: platform::now(), opinions, requests });
    }

    async fn run_tool(self: &Rc<Self>, permit: Permit) {
        // The last check, on the bytes that the tool gets: the digest is computed anew.
        let covered = self.look(|run| {
            let known = run.settings().tools.iter().find(|known| known.name == permit.tool());
            known.is_some_and(|tool| permit.covers(run.chat().id(), tool))
        });
        // A stop came between the permit and here.
        if !self.look(|run| run.awaits_tool(permit.call())) {
            return;
        }
        let result = match AbortController::new() {
            Ok(controller) if covered => self.call_tool(&permit, controller).await,
            _ => Err(Failure::Threw("the tool is no longer what was approved; it was not called".to_owned())),
        };
        self.tool_aborts.borrow_mut().retain(|(call, _)| call != permit.call());
        let (call, attempt) = (permit.call().clone(), permit.attempt());
        // A result that comes after a stop is not waited for: the call has its outcome.
        let _ = self.handle(Input::ToolEnded { at: platform::now(), call, attempt, result });
    }

    async fn call_tool(&self, permit: &Permit, controller: AbortController) -> Result<String, Failure> {
        let signal = controller.signal();
        self.tool_aborts.borrow_mut().push((permit.call().clone(), controller.clone()));
        let host = &self.setup.host;
        let running = host.run(
            permit.tool(),
            permit.arguments(),
            permit.call().as_str(),
            permit.idempotency_key(),
            &signal,
            permit.note(),
        );
        let limit = self.setup.timeouts.tool;
        match within(host, running, limit).await {
            Ok(text) => Ok(text.as_string().unwrap_or_default()),
            Err(thrown) if thrown.is_undefined() => {
                controller.abort();
                Err(Failure::TimedOut(limit))
            }
            Err(thrown) => Err(Failure::Threw(text_of(&thrown))),
        }
    }
}

/// The lines of a chat, as the store has them.
async fn load_lines(setup: &Setup, id: &str) -> Result<Vec<String>, JsValue> {
    to_strings(settled(setup.host.load(id)).await?, "store.load")
}

/// The chat that the lines tell, and the hash of the last one.
fn replay(id: &str, lines: &[String]) -> Result<(Chat, String), JsValue> {
    let chat = Chat::replay(ChatId::new(id), lines.iter().map(String::as_str));
    let chat = chat.map_err(|corrupt| from_run(&RunError::Corrupt(corrupt)))?;
    Ok((chat, lines.last().and_then(|line| chain::hash_of(line)).unwrap_or_default()))
}

/// The event's line, sealed to the one before; `head` becomes its hash.
fn seal(event: &Event, head: &mut String) -> Result<String, JsValue> {
    let (line, hash) =
        chain::seal(&event.encode(), &platform::random_id()?, head).map_err(|why| error("storage", &why))?;
    *head = hash;
    Ok(line)
}
