//! What a person has begun on a card: it outlives the card, so that one that is drawn anew, perhaps elsewhere, goes on from
//! there. So do the word that a decision was refused, and that a receipt was taken out of sight. All of it ends with the
//! chat in this page, and is never stored.

use js_sys::Array;

use super::Driver;
use crate::core::message::RequestId;
use crate::core::outcome::PersonId;

/// What was begun on one card.
#[derive(Clone, Debug)]
pub struct Draft {
    /// The request of the card.
    pub request: RequestId,
    /// Who sat there, and alone goes on from it; `None` where the page does not know.
    pub by: Option<PersonId>,
    /// Whether the arguments stand in fields.
    pub is_editing: bool,
    /// What stands in each field of the card, in their order.
    pub fields: Array,
    /// Which of them had the focus; one that is not there where another part of the card had it.
    pub focused: Option<u32>,
}

impl Driver {
    /// Keeps these, and those of other cards that still wait.
    pub fn keep_drafts(&self, fresh: Vec<Draft>) {
        let mut drafts = self.drafts.borrow_mut();
        drafts.retain(|old| {
            let waits = self.look(|run| run.chat().pending().any(|(request, _)| request.id == old.request));
            waits && fresh.iter().all(|draft| draft.request != old.request || draft.by != old.by)
        });
        drafts.extend(fresh);
    }

    /// Notes that a receipt was taken out of sight.
    pub fn dismiss(&self, request: RequestId) {
        self.dismissed.borrow_mut().push(request);
        self.changed();
    }

    /// Whether it was.
    pub fn is_dismissed(&self, request: &RequestId) -> bool {
        self.dismissed.borrow().contains(request)
    }

    /// Keeps the code of why a decision changed nothing, where the card that it was made on is no longer drawn.
    pub fn keep_refusal(&self, request: RequestId, code: String) {
        self.refusals.borrow_mut().push((request, code));
        self.changed();
    }

    /// Hands that over.
    pub fn take_refusal(&self, request: &RequestId) -> Option<String> {
        let mut refusals = self.refusals.borrow_mut();
        let place = refusals.iter().position(|(refused, _)| refused == request)?;
        Some(refusals.swap_remove(place).1)
    }

    /// Hands over what this person had begun on the card of a request.
    pub fn take_draft(&self, request: &RequestId, by: Option<&PersonId>) -> Option<Draft> {
        let mut drafts = self.drafts.borrow_mut();
        let place = drafts.iter().position(|draft| draft.request == *request && draft.by.as_ref() == by)?;
        Some(drafts.swap_remove(place))
    }
}
