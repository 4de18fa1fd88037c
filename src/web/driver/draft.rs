//! What a person has begun on a card: it outlives the card, so that one that is drawn anew, perhaps elsewhere, goes on from
//! there. It ends with the chat in this page, and is never stored.

use super::Driver;
use crate::core::message::RequestId;

/// What was begun on one card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Draft {
    /// The request of the card.
    pub request: RequestId,
    /// Whether the arguments stand in fields.
    pub is_editing: bool,
    /// What stands in each field of the card, in their order.
    pub fields: Vec<String>,
}

impl Driver {
    /// Keeps these, and those of other cards that still wait.
    pub fn keep_drafts(&self, fresh: Vec<Draft>) {
        let mut drafts = self.drafts.borrow_mut();
        drafts.retain(|old| {
            let waits = self.look(|run| run.chat().pending().any(|(request, _)| request.id == old.request));
            waits && fresh.iter().all(|draft| draft.request != old.request)
        });
        drafts.extend(fresh);
    }

    /// Hands over what was begun on the card of a request.
    pub fn take_draft(&self, request: &RequestId) -> Option<Draft> {
        let mut drafts = self.drafts.borrow_mut();
        let place = drafts.iter().position(|draft| draft.request == *request)?;
        Some(drafts.swap_remove(place))
    }
}
