//! Carries out the effects of one chat's run. The only place where the run and a wire meet.

mod decide;
mod draft;
mod edit;
mod grants;
mod kept;
mod load;
mod model;
mod record;
mod store;
mod tools;

pub use decide::Said;
pub use draft::Draft;
pub use edit::SaidEdit;
pub use grants::{load as load_grants, revoke, revoke_in};

use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::rc::Rc;
use std::task::{Poll, Waker};

use js_sys::Function;
use wasm_bindgen::JsValue;
use web_sys::{AbortController, Blob};

use super::error::{error, text_of};
use super::fetch::settled;
use super::host::Lease;
use super::platform;
use super::setup::Setup;
use crate::core::approval::{Preview, Request};
use crate::core::message::{CallId, GrantId, RequestId, RunId};
use crate::core::run::{Candidate, Effect, Handled, Input, Run, RunError, Status};

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
    last_hash: RefCell<String>,
    /// How many events are in the projection that is kept beside the log.
    kept: Cell<u64>,
    /// The position of an event that has its content as far as is known here, and would have lost it by any clearing since.
    witness: Cell<Option<u64>>,
    /// The messages of what was folded when the chat was taken from the store, until somebody takes them.
    drawn: RefCell<Option<String>>,
    /// Whether lines that are stored were changed from elsewhere: their content was cleared.
    rewritten: Cell<bool>,
    /// How often the chat was taken anew from the store, so that messages seen before may have changed.
    generation: Cell<u32>,
    /// Why nothing more is written here, as an error's code and sentence.
    closed: RefCell<Option<(&'static str, String)>>,
    /// Who waits for events to be stored or for the run to rest; all are woken after every change.
    waiters: RefCell<Vec<Waker>>,
    listeners: RefCell<Vec<(u32, Function)>>,
    next_listener: Cell<u32>,
    /// Held while work is under way here.
    lease: RefCell<Option<Lease>>,
    /// How many looks into the store are asked for.
    looks: Cell<u32>,
    /// Whether somebody looks after a page that is at work elsewhere.
    watches: Cell<bool>,
    /// How often this page had to start over from what the store has.
    epoch: Cell<u32>,
    /// The standing permissions that were given here, each with why it was not kept.
    given: RefCell<Vec<(GrantId, Option<String>)>>,
    /// What was begun on cards that are no longer drawn.
    drafts: RefCell<Vec<Draft>>,
    /// The requests whose receipts were taken out of sight.
    dismissed: RefCell<Vec<RequestId>>,
    /// Why decisions made on such cards changed nothing, as an error's code.
    refusals: RefCell<Vec<(RequestId, String)>>,
    /// Why it had to the last time, if it was not that another page wrote first.
    trouble: RefCell<Option<Trouble>>,
}

/// Why a write failed, as an error's code and sentence.
struct Trouble {
    code: &'static str,
    why: String,
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
        let load::Loaded { chat, last_hash, kept, drawn } = load::load(&setup, id, true).await?;
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
            last_hash: RefCell::new(last_hash),
            kept: Cell::new(kept),
            witness: Cell::new(None),
            drawn: RefCell::new(drawn),
            rewritten: Cell::new(false),
            generation: Cell::new(0),
            closed: RefCell::default(),
            waiters: RefCell::default(),
            listeners: RefCell::default(),
            next_listener: Cell::new(0),
            lease: RefCell::default(),
            looks: Cell::new(0),
            watches: Cell::new(false),
            epoch: Cell::new(0),
            given: RefCell::default(),
            drafts: RefCell::default(),
            dismissed: RefCell::default(),
            refusals: RefCell::default(),
            trouble: RefCell::default(),
        });
        // Opening begins nothing, but what nobody decided in time is settled.
        let _ = opened.handle(Input::Open { at: platform::now() });
        opened.stored().await?;
        let pending = opened.look(|run| run.chat().pending().map(|(request, _)| request.clone()).collect::<Vec<_>>());
        pending.iter().for_each(|request| opened.lapse_in_time(request));
        opened.keep();
        opened.read_grants_for_receipts().await;
        opened.refresh().await;
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

    /// Whether anything of an answer has arrived that is not a turn yet.
    pub fn is_streaming(&self) -> bool {
        let partial = self.partial.borrow();
        !partial.text.is_empty() || !partial.reasoning.is_empty()
    }

    /// Hands an input to the run and sees to its effects. A closed chat takes nothing in: what could not be stored must
    /// not show.
    pub fn handle(self: &Rc<Self>, input: Input) -> Result<Handled, RunError> {
        if !self.goes_on() {
            return Err(RunError::Stale);
        }
        let handled = self.run.borrow_mut().handle(input)?;
        self.pump();
        Ok(handled)
    }

    /// Whether this chat can write.
    pub fn goes_on(&self) -> bool {
        self.closed.borrow().is_none()
    }

    /// Why this chat cannot write any more, as an error's code and sentence.
    pub fn end(&self) -> Option<(&'static str, String)> {
        self.closed.borrow().clone()
    }

    /// An error if this chat can no longer write.
    pub fn check(&self) -> Result<(), JsValue> {
        match &*self.closed.borrow() {
            Some((code, why)) => Err(error(code, why)),
            None => Ok(()),
        }
    }

    /// Resolves once everything up to now is stored, or another page wrote first.
    pub async fn stored(&self) -> Result<(), JsValue> {
        let (seq, epoch) = (self.look(|run| run.chat().next_seq()), self.epoch.get());
        self.wait(|| self.stored.get() >= seq || self.epoch.get() != epoch).await
    }

    /// How often this page had to start over, since another wrote first or a write failed.
    pub const fn epoch(&self) -> u32 {
        self.epoch.get()
    }

    /// How often messages seen before may have changed.
    pub const fn generation(&self) -> u32 {
        self.generation.get()
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

    /// Resolves once `done`; with an error once a write failed, or this chat can no longer write.
    async fn wait(&self, done: impl Fn() -> bool) -> Result<(), JsValue> {
        let epoch = self.epoch.get();
        let failed = || self.epoch.get() != epoch && self.trouble.borrow().is_some();
        poll_fn(|context| {
            if done() || failed() || !self.goes_on() {
                return Poll::Ready(());
            }
            self.waiters.borrow_mut().push(context.waker().clone());
            Poll::Pending
        })
        .await;
        self.check()?;
        match &*self.trouble.borrow() {
            Some(Trouble { code, why }) if self.epoch.get() != epoch => Err(error(code, why)),
            _ => Ok(()),
        }
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
    pub fn changed(&self) {
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
        self.run.borrow_mut().forget_activity();
        self.give_up_lease();
    }

    /// Ends this driver since its chat is no longer in the store.
    pub fn close_deleted(&self) {
        self.close("deleted", "This chat was deleted; open another one.".to_owned());
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
                if this.goes_on() {
                    this.carry_out(effect).await;
                }
            }
            this.pumping.set(false);
            let closed = !this.goes_on();
            if closed || this.rests() {
                this.give_up_lease();
                this.keep();
            }
            if !closed && !this.is_stored() {
                // The page was left while this was being written: what was to be written after it never will be.
                this.start_over(None).await;
            }
        }));
    }

    async fn carry_out(self: &Rc<Self>, effect: Effect) {
        let is_work =
            matches!(effect, Effect::CallModel { .. } | Effect::Judge(_) | Effect::CheckGrant(_) | Effect::RunTool(_));
        if is_work && !self.take_lease().await {
            // Another page is at this chat's work: the run stands still here.
            self.start_over(None).await;
            return;
        }
        if !self.goes_on() {
            return;
        }
        match effect {
            Effect::Persist(events) => self.persist(&events).await,
            Effect::CallModel { ticket, closing } => {
                let this = Rc::clone(self);
                platform::spawn(Box::pin(async move { model::call(&this, ticket, closing).await }));
            }
            Effect::Judge(candidates) => self.judge(&candidates).await,
            Effect::Ask(request) => {
                self.changed();
                self.lapse_in_time(&request);
                self.wait_for(&request);
            }
            Effect::KeepGrant(grant) => self.keep_grant(grant).await,
            Effect::CheckGrant(call) => self.check_grant(call).await,
            Effect::RunTool(permit) => {
                let this = Rc::clone(self);
                platform::spawn(Box::pin(async move { this.run_tool(permit).await }));
            }
            Effect::Done(_) => {
                self.changed();
                self.wake();
                if self.rewritten.get() {
                    let this = Rc::clone(self);
                    platform::spawn(Box::pin(async move { this.refresh().await }));
                }
            }
        }
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

    async fn judge(self: &Rc<Self>, candidates: &[Candidate]) {
        let mut opinions = Vec::new();
        let mut previews = Vec::new();
        let mut requests = Vec::new();
        for candidate in candidates {
            opinions.push(self.setup.host.opinions(candidate));
            let shown = if self.setup.previewed.contains(&candidate.tool) {
                self.preview(&candidate.tool, &candidate.arguments).await
            } else {
                Ok(Preview::default())
            };
            // A preview that fails says so on the card, and again when the call is approved.
            previews.push(shown.unwrap_or_else(|thrown| Preview { lines: vec![text_of(&thrown)], current: None }));
            // Without randomness there is no id, and without an id the call is refused by the core.
            if let Ok(id) = platform::random_id() {
                requests.push(RequestId::new(id));
            }
        }
        // A run that was stopped meanwhile no longer waits for this.
        let grants = if self.look(|run| run.wants_grants(&opinions)) { self.read_grants().await } else { None };
        let _ = self.handle(Input::Judged { at: platform::now(), opinions, previews, requests, grants });
    }
}
