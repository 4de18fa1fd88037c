//! What is stored: writing it, and taking in what another page wrote.
//!
//! Several pages may have one chat open. The store's compare-and-set alone keeps its history one: a write that was not
//! the first at its place changes nothing, and its page goes on from what the other wrote. The lease decides which page
//! does the work, so that two do not do it at once; it guards nothing.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::load::{Loaded, lines, load};
use super::{Driver, Trouble};
use crate::core::approval::Request;
use crate::core::chain;
use crate::core::event::Event;
use crate::core::log::Chat;
use crate::core::run::{Run, Status};
use crate::core::snapshot;
use crate::web::error::{code_of, error, text_of};
use crate::web::fetch::settled;
use crate::web::platform;
use crate::web::value::from_strings;

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
        if !self.rests() {
            // Whoever reads what is written is to find somebody at the work that follows. If another page was first, this
            // write finds out.
            self.take_lease().await;
        }
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

    /// Takes the chat as the store has it and gives up what is under way. Who waits is told the trouble, if there is any.
    pub(super) async fn start_over(self: &Rc<Self>, trouble: Option<Trouble>) {
        self.reload(trouble, false).await;
    }

    /// The same; `looking` where nothing here depends on it: then it gives way to what this page has begun meanwhile.
    async fn reload(self: &Rc<Self>, trouble: Option<Trouble>, looking: bool) {
        let (stored, id) = (self.stored.get(), self.look(|run| run.chat().id().clone()));
        let held = self.is_held_elsewhere().await;
        // What is kept may hold what was cleared, if it was kept just then.
        match load(&self.setup, id.as_str(), !self.rewritten.get()).await {
            // A log never gets shorter.
            Ok(loaded) if loaded.chat.next_seq() < stored => self.close_deleted(),
            Ok(loaded) => {
                let chat = &loaded.chat;
                // Whoever was at work before the log was read may have come to an end meanwhile, which is still to be
                // read: till then the run does not rest.
                let elsewhere = is_unfinished(chat) && (held || self.is_held_elsewhere().await);
                let begun =
                    self.stored.get() != stored || !self.is_stored() || (chat.next_seq() == stored && !self.rests());
                if looking && begun {
                    return;
                }
                // Nothing is given up before the store was heard: until then nobody takes the run for one that rests.
                self.abort();
                self.give_up_lease();
                self.rewritten.set(false);
                self.take_over(loaded);
                self.note_elsewhere(elsewhere);
            }
            Err(thrown) => {
                let trouble = Trouble { code: "storage", why: text_of(&thrown) };
                self.close(trouble.code, trouble.why);
            }
        }
        self.trouble.replace(trouble);
        self.epoch.set(self.epoch.get() + 1);
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
        // A write under way finds out by itself.
        if !self.is_stored() || !self.goes_on() {
            return;
        }
        let (stored, epoch) = (self.stored.get(), self.epoch.get());
        // Asked first: who is at work now may have written and gone before the store answers.
        let elsewhere = self.look(|run| is_unfinished(run.chat())) && self.is_held_elsewhere().await;
        let Some(is_as_known) = self.is_as_known().await else { return };
        if self.stored.get() != stored || self.epoch.get() != epoch || !self.is_stored() {
            return;
        }
        if !is_as_known || (self.rewritten.get() && self.rests()) {
            self.reload(None, true).await;
            return;
        }
        self.note_elsewhere(elsewhere);
        self.changed();
        self.wake();
    }

    /// Whether the store has the events that this page knows and no more; `None` if it does not say.
    pub(super) async fn is_as_known(&self) -> Option<bool> {
        let (stored, id) = (self.stored.get(), self.look(|run| run.chat().id().clone()));
        // The last one is read too, to see whether the chat is still there.
        let from = stored.saturating_sub(1);
        let found = lines(&self.setup.host, id.as_str(), from).await.ok()?;
        Some(from + found.len() as u64 == stored)
    }

    /// Goes on from what the store has.
    pub(super) fn take_over(self: &Rc<Self>, loaded: Loaded) {
        let Loaded { chat, last_hash, kept, drawn } = loaded;
        let timed = |request: &Request| (request.id.clone(), request.expires_at);
        let known: Vec<_> = self.look(|run| run.chat().pending().map(|(request, _)| timed(request)).collect());
        self.stored.set(chat.next_seq());
        self.last_hash.replace(last_hash);
        self.kept.set(kept);
        self.witness.take();
        self.drawn.replace(drawn);
        self.generation.set(self.generation.get() + 1);
        self.encoded.take();
        let fresh: Vec<_> = chat.pending().map(|(request, _)| request.clone()).collect();
        let mut run = Run::new(chat, self.setup.settings.clone());
        run.note_grants(self.look(|run| run.grants().clone()));
        self.run.replace(run);
        for request in fresh.iter().filter(|request| !known.contains(&timed(request))) {
            self.lapse_in_time(request);
        }
        self.keep();
    }

    /// Notes that another page is at work on the run, or that none is; looks again until none is.
    fn note_elsewhere(self: &Rc<Self>, elsewhere: bool) {
        self.run.borrow_mut().set_elsewhere(elsewhere);
        if !elsewhere || self.watches.replace(true) {
            return;
        }
        let driver = Rc::downgrade(self);
        platform::spawn(Box::pin(async move {
            while let Some(this) = driver.upgrade() {
                let slept = this.setup.host.sleep(LEASE_LOOK);
                drop(this);
                if settled(slept).await.is_err() {
                    break;
                }
                let Some(this) = driver.upgrade() else { break };
                this.refresh().await;
                if !this.look(Run::is_elsewhere) || !this.goes_on() {
                    this.watches.set(false);
                    break;
                }
            }
        }));
    }

    async fn is_held_elsewhere(&self) -> bool {
        if self.lease.borrow().is_some() {
            return false;
        }
        let id = self.look(|run| run.chat().id().clone());
        settled(self.setup.host.held(id.as_str())).await.is_ok_and(|held| held.is_truthy())
    }

    /// Becomes the page that does this chat's work; false if another one stays at it, or has done it meanwhile.
    pub(super) async fn take_lease(self: &Rc<Self>) -> bool {
        if self.lease.borrow().is_some() {
            return true;
        }
        for _ in 0..LEASE_TRIES {
            let taken = self.try_lease().await;
            match self.is_as_known().await {
                Some(true) if taken => return true,
                Some(true) => {}
                _ => return false,
            }
            if settled(self.setup.host.sleep(LEASE_WAIT)).await.is_err() {
                return false;
            }
        }
        false
    }

    async fn try_lease(&self) -> bool {
        if self.lease.borrow().is_none() {
            let id = self.look(|run| run.chat().id().clone());
            let Ok(lease) = settled(self.setup.host.lease(id.as_str())).await else { return false };
            if lease.is_undefined() {
                return false;
            }
            self.lease.replace(Some(lease.into()));
            self.run.borrow_mut().set_elsewhere(false);
        }
        true
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

/// Whether a run waits for work and not for a person.
fn is_unfinished(chat: &Chat) -> bool {
    chat.open_run().is_some() && chat.pending().next().is_none()
}

/// The event's line, sealed to the one before; `last_hash` becomes its hash.
fn seal(event: &Event, last_hash: &mut String) -> Result<String, JsValue> {
    let sealed = chain::seal(&event.encode(), &platform::random_id()?, last_hash);
    let (line, hash) = sealed.map_err(|why| error("storage", &why))?;
    *last_hash = hash;
    Ok(line)
}
