//! The projection kept beside the log: keeping it anew as the log grows, and reading what of it was left folded.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::Driver;
use super::load::{hash_of, lines};
use crate::core::event::Event;
use crate::core::snapshot;
use crate::web::error::from_run;
use crate::web::fetch::settled;
use crate::web::platform;

/// How many events the log must have behind what is kept of it before that is kept anew.
const KEEP_BEHIND: u64 = 256;

impl Driver {
    /// Keeps the projection once the log has grown long behind what is kept, while nothing is at work and all of it is stored.
    /// Nobody waits for it: it saves time, and no more.
    pub(super) fn keep(self: &Rc<Self>) {
        if self.witness.get().is_none() {
            self.witness.set(self.look(|run| run.chat().clearable()));
        }
        if self.setup.host.keeps() && self.can_keep() && self.stored.get() - self.kept.get() >= KEEP_BEHIND {
            let this = Rc::clone(self);
            platform::spawn(Box::pin(async move {
                this.keep_now().await;
            }));
        }
    }

    fn can_keep(&self) -> bool {
        self.rests() && self.is_stored() && !self.rewritten.get() && self.goes_on()
    }

    async fn keep_now(self: &Rc<Self>) -> Option<()> {
        let host = &self.setup.host;
        // What the page does about the change that led here comes first.
        settled(host.sleep(0.0)).await.ok()?;
        let (id, stored) = (self.look(|run| run.chat().id().clone()), self.stored.get());
        let from = self.witness.get().unwrap_or(stored).min(stored.checked_sub(1)?);
        let lines = lines(host, id.as_str(), from).await.ok()?;
        if !self.can_keep() || self.stored.get() != stored {
            return None;
        }
        // Content that was cleared from elsewhere, and is still in memory here, must not get back into the store.
        if self.witness.get() == Some(from) && Event::decode(lines.first()?).ok()?.cleared {
            self.note_rewritten();
            self.refresh().await;
            return None;
        }
        let last_hash = self.last_hash.borrow().clone();
        if from + lines.len() as u64 != stored || hash_of(lines.last()?) != last_hash {
            return None;
        }
        self.run.borrow_mut().unfold().ok()?;
        let text = self.look(|run| snapshot::keep(run, &last_hash));
        self.kept.set(stored);
        self.witness.set(self.look(|run| run.chat().clearable()));
        settled(host.keep(id.as_str(), stored as f64, &text)).await.ok().map(|_| ())
    }
}

impl Driver {
    /// The messages of what was folded when the chat was taken from the store, as a JSON array; once.
    pub fn drawn(&self) -> Option<String> {
        self.drawn.take()
    }

    /// The message at a place, as JSON.
    pub fn message(&self, place: usize) -> Result<String, JsValue> {
        if place < self.look(|run| run.chat().folded()) {
            self.run.borrow_mut().unfold().map_err(|wrong| from_run(&wrong))?;
        }
        Ok(self.look(|run| snapshot::message(run, place)))
    }
}
