//! The record of a chat: exported, and cleared of content.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsValue;

use super::Driver;
use super::load::{lines, replay};
use crate::core::chain::{self, Privacy};
use crate::core::run::{Run, Status};
use crate::web::error::error;
use crate::web::fetch::settled;

impl Driver {
    /// The chat as the store has it, up to now, as JSON Lines. Possible for a chat that can no longer write, too.
    pub async fn export(&self, privacy: Privacy) -> Result<String, JsValue> {
        // An error says that no more will be stored: what is stored is what there is.
        let _ = self.stored().await;
        let id = self.look(|run| run.chat().id().clone());
        Ok(chain::export(&lines(&self.setup.host, id.as_str(), 0).await?, privacy))
    }

    /// Takes the content of finished runs out of the store, then out of memory. Waits for a run that is at work.
    pub async fn clear(self: &Rc<Self>) -> Result<(), JsValue> {
        let id = self.look(|run| run.chat().id().clone());
        let mut rewritten = None;
        loop {
            self.idle().await?;
            let lines = lines(&self.setup.host, id.as_str(), 0).await?;
            let loaded = replay(id.as_str(), &lines)?;
            let chat = &loaded.chat;
            let cleared = chain::clear(&lines, chat.open_run().map(|run| run.id.as_str()));
            if cleared.first().is_some_and(|(seq, _)| Some(*seq) <= rewritten) {
                return Err(error("storage", "The store kept what it was to replace: its rewrite does not work."));
            }
            if let Some((last, _)) = cleared.last() {
                let pairs = cleared.iter().map(|(seq, line)| Array::of2(&(*seq as f64).into(), &line.into()));
                settled(self.setup.host.rewrite(id.as_str(), &pairs.collect())).await?;
                rewritten = Some(*last);
                continue;
            }
            // Taken over only as long as nothing else went on meanwhile.
            let fits = |run: &Run| run.status() != Status::Running && run.chat().next_seq() == chat.next_seq();
            if self.look(fits) && self.is_stored() {
                self.take_over(loaded);
                self.changed();
                self.wake();
                return Ok(());
            }
        }
    }
}
