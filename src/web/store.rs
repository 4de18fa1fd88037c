//! Where logs are kept. The store sees lines of text; what they mean is the core's.

use std::cell::RefCell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

/// Keeps the logs of chats.
pub trait Store {
    /// The lines of a chat's log, in order; none for a chat that does not exist.
    async fn load(&self, chat: &str) -> Result<Vec<String>, StoreError>;

    /// Appends lines as one write, all or none: a compare-and-set that fails when the log does not end at `seq`.
    async fn append(&self, chat: &str, seq: u64, lines: Vec<String>) -> Result<(), StoreError>;
}

/// Why a store did not do what it was asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StoreError {
    /// Somebody else appended first; load again.
    Moved,
}

impl StoreError {
    /// One sentence that says what to do.
    pub const fn message(&self) -> &'static str {
        match self {
            Self::Moved => "The chat's log was changed from elsewhere; open the chat again.",
        }
    }
}

/// A store in memory: chats live as long as it does, and do not survive a reload of the page.
#[wasm_bindgen]
#[derive(Clone, Default)]
pub struct RawMemoryStore {
    logs: Rc<RefCell<Vec<(String, Vec<String>)>>>,
}

#[wasm_bindgen]
impl RawMemoryStore {
    /// An empty store.
    #[wasm_bindgen(constructor)]
    pub fn new() -> Self {
        Self::default()
    }

    /// Another handle on the same store.
    pub fn share(&self) -> Self {
        self.clone()
    }
}

impl Store for RawMemoryStore {
    async fn load(&self, chat: &str) -> Result<Vec<String>, StoreError> {
        let logs = self.logs.borrow();
        Ok(logs.iter().find(|(known, _)| known == chat).map(|(_, log)| log.clone()).unwrap_or_default())
    }

    async fn append(&self, chat: &str, seq: u64, lines: Vec<String>) -> Result<(), StoreError> {
        let mut logs = self.logs.borrow_mut();
        let log = logs.iter_mut().find(|(known, _)| known == chat).map(|(_, log)| log);
        if log.as_ref().map_or(0, |log| log.len()) as u64 != seq {
            return Err(StoreError::Moved);
        }
        match log {
            Some(log) => log.extend(lines),
            None => logs.push((chat.to_owned(), lines)),
        }
        Ok(())
    }
}
