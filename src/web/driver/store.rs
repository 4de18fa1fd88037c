//! What is stored: writing it, and taking in what another page wrote.
//!
//! Several pages may have one chat open. The store's compare-and-set alone keeps its history one: a write that was not
//! the first at its place changes nothing, and its page goes on from what the other wrote. The lease decides which page
//! does the work, so that two do not do it at once; it guards nothing.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::{Driver, Trouble};
use crate::core::approval::Request;
use crate::core::chain;
use crate::core::event::Event;
use crate::core::log::Chat;
use crate::core::message::ChatId;
use crate::core::run::{Run, RunError, Status};
use crate::core::snapshot;
use crate::web::error::{code_of, error, from_run, text_of};
use crate::web::fetch::settled;
use crate::web::host::Host;
use crate::web::platform;
use crate::web::setup::Setup;
use crate::web::value::{from_strings, to_strings};

/// How often a page tries to become the one that does the work, and how long it waits in between, in milliseconds.
const LEASE_TRIES: u32 = 40;
const LEASE_WAIT: f64 = 50.0;
/// How often a page looks whether the one at work is still there, in milliseconds.
const LEASE_LOOK: f64 = 1_000.0;

impl Driver {
    /// Stores events, then tells. If a write fails nothing of it happened: the chat is as the store has it.
    pub(super) async fn persist(self: &Rc<Self>, events: &[Event]) {
        let Some(first) = events.first() else { return };
        let mut last_hash = self.last_hash.borrow().clone();
        let lines = events.iter().map(|event| seal(event, &mut last_hash)).collect::<Result<Vec<String>, _>>();
        let head = self.look(snapshot::head);
        let chat = first.chat.as_str();
        let written = lines.and_then(|lines| from_strings(&lines));
        let written = written.and_then(|lines| self.setup.host.append(chat, first.seq as f64, &lines, &head));
        match settled(written).await {
            Ok(_) => {
                self.stored.set(first.seq + events.len() as u64);
                self.last_hash.replace(last_hash);
                self.changed();
                self.wake();
            }
            Err(thrown) => {
                let was_first = code_of(&thrown).as_deref() == Some("conflict");
                let trouble = (!was_first).then(|| Trouble { code: "storage", why: text_of(&thrown) });
                self.start_over(trouble).await;
            }
        }
    }

    /// Gives up what is under way and takes the chat as the store has it. Who waits is told the trouble, if there is any.
    pub(super) async fn start_over(self: &Rc<Self>, trouble: Option<Trouble>) {
        self.abort();
        self.run.borrow_mut().forget_activity();
        self.give_up_lease();
        self.rewritten.set(false);
        let id = self.look(|run| run.chat().id().clone());
        match load(&self.setup, id.as_str()).await {
            Ok((chat, last_hash)) => self.take_over(chat, last_hash),
            Err(thrown) => {
                let trouble = Trouble { code: "storage", why: text_of(&thrown) };
                self.close(trouble.code, trouble.why);
            }
        }
        self.trouble.replace(trouble);
        self.epoch.set(self.epoch.get() + 1);
        self.wake();
        self.watch_elsewhere().await;
        self.changed();
        self.wake();
    }

    /// Notes that content was cleared from elsewhere: it is taken in at the next look while no run is at work here.
    pub fn note_rewritten(&self) {
        self.rewritten.set(true);
    }

    /// Looks into the store for what another page wrote, and takes it in. What is under way here is void then: another
    /// page has gone on without it.
    pub async fn refresh(self: &Rc<Self>) {
        // One look at a time; whoever asks meanwhile gets a look after it.
        self.looks.set(self.looks.get() + 1);
        if self.looks.get() > 1 {
            return;
        }
        while self.looks.get() > 0 {
            self.looks.set(1);
            self.look_into_store().await;
            self.looks.set(self.looks.get() - 1);
        }
    }

    async fn look_into_store(self: &Rc<Self>) {
        let stored = self.stored.get();
        // A write under way finds out by itself.
        if !self.is_stored() || self.closed.borrow().is_some() {
            return;
        }
        let id = self.look(|run| run.chat().id().clone());
        let Ok(lines) = lines(&self.setup.host, id.as_str(), stored).await else { return };
        if self.stored.get() != stored || !self.is_stored() {
            return;
        }
        if !lines.is_empty() || (self.rewritten.get() && self.rests()) {
            self.start_over(None).await;
            return;
        }
        self.watch_elsewhere().await;
        self.changed();
        self.wake();
    }

    /// Goes on from what the store has.
    pub(super) fn take_over(self: &Rc<Self>, chat: Chat, last_hash: String) {
        let timed = |request: &Request| (request.id.clone(), request.expires_at);
        let known: Vec<_> = self.look(|run| run.chat().pending().map(|(request, _)| timed(request)).collect());
        self.stored.set(chat.next_seq());
        self.last_hash.replace(last_hash);
        self.generation.set(self.generation.get() + 1);
        self.encoded.take();
        let fresh: Vec<_> = chat.pending().map(|(request, _)| request.clone()).collect();
        self.run.replace(Run::new(chat, self.setup.settings.clone()));
        for request in fresh.iter().filter(|request| !known.contains(&timed(request))) {
            self.lapse_in_time(request);
        }
    }

    /// Notes whether another page is at work on an unfinished run, and looks again until it is not.
    pub(super) async fn watch_elsewhere(self: &Rc<Self>) {
        self.run.borrow_mut().set_elsewhere(false);
        if !self.is_held_elsewhere().await {
            return;
        }
        self.run.borrow_mut().set_elsewhere(true);
        if self.watches.replace(true) {
            return;
        }
        let driver = Rc::downgrade(self);
        platform::spawn(Box::pin(async move {
            while let Some(this) = driver.upgrade() {
                if !this.is_held_elsewhere().await {
                    this.watches.set(false);
                    this.run.borrow_mut().set_elsewhere(false);
                    this.refresh().await;
                    break;
                }
                let slept = this.setup.host.sleep(LEASE_LOOK);
                drop(this);
                if settled(slept).await.is_err() {
                    break;
                }
            }
        }));
    }

    async fn is_held_elsewhere(&self) -> bool {
        let unfinished = self.look(|run| run.chat().open_run().is_some() && run.chat().pending().next().is_none());
        if !unfinished || self.lease.borrow().is_some() {
            return false;
        }
        let id = self.look(|run| run.chat().id().clone());
        settled(self.setup.host.held(id.as_str())).await.is_ok_and(|held| held.is_truthy())
    }

    /// Becomes the page that does this chat's work; false if another one stays at it.
    pub(super) async fn take_lease(self: &Rc<Self>) -> bool {
        let id = self.look(|run| run.chat().id().clone());
        for _ in 0..LEASE_TRIES {
            if self.lease.borrow().is_some() {
                return true;
            }
            match settled(self.setup.host.lease(id.as_str())).await {
                Ok(lease) if !lease.is_undefined() => {
                    self.lease.replace(Some(lease.into()));
                    return true;
                }
                Ok(_) => {}
                Err(_) => return false,
            }
            if settled(self.setup.host.sleep(LEASE_WAIT)).await.is_err() {
                return false;
            }
        }
        false
    }

    /// Lets another page do the work.
    pub(super) fn give_up_lease(&self) {
        if let Some(lease) = self.lease.take() {
            lease.release();
        }
    }

    /// The page is left, perhaps to come back: what is under way ends here, and nothing is recorded of it.
    pub fn suspend(&self) {
        self.abort();
        self.run.borrow_mut().forget_activity();
        self.give_up_lease();
        self.wake();
    }

    /// Whether work is under way that needs the lease.
    pub(super) fn rests(&self) -> bool {
        self.look(Run::status) != Status::Running
    }
}

/// The chat as the store has it, and the hash of its last event.
pub(super) async fn load(setup: &Setup, id: &str) -> Result<(Chat, String), JsValue> {
    replay(id, &lines(&setup.host, id, 0).await?)
}

/// The chat that the lines tell, and the hash of the last one.
pub(super) fn replay(id: &str, lines: &[String]) -> Result<(Chat, String), JsValue> {
    let chat = Chat::replay(ChatId::new(id), lines.iter().map(String::as_str));
    let chat = chat.map_err(|corrupt| from_run(&RunError::Corrupt(corrupt)))?;
    Ok((chat, lines.last().and_then(|line| chain::hash_of(line)).unwrap_or_default()))
}

pub(super) async fn lines(host: &Host, id: &str, from: u64) -> Result<Vec<String>, JsValue> {
    to_strings(settled(host.load(id, from as f64)).await?, "store.load")
}

/// The event's line, sealed to the one before; `last_hash` becomes its hash.
fn seal(event: &Event, last_hash: &mut String) -> Result<String, JsValue> {
    let sealed = chain::seal(&event.encode(), &platform::random_id()?, last_hash);
    let (line, hash) = sealed.map_err(|why| error("storage", &why))?;
    *last_hash = hash;
    Ok(line)
}
