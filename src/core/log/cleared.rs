//! Runs whose content was taken out of the log: what is left of them is shown, and no request carries it.

use std::rc::Rc;

use super::{Chat, Entry};
use crate::core::event::Event;
use crate::core::message::{CallId, HistoryItem};

impl Chat {
    /// Whether the content of the entry at this place is gone.
    pub fn is_cleared(&self, place: usize) -> bool {
        self.cleared.binary_search(&place).is_ok()
    }

    /// The position of the last event of the latest run that has ended, if it has its content: whatever is cleared later,
    /// that is among it.
    pub fn clearable(&self) -> Option<u64> {
        let run = self.run.iter().chain(self.ended.last()).find(|run| run.end.is_some())?;
        (!run.cleared).then_some(run.last_seq)
    }

    /// Sees to it that requests begin behind a run whose content is gone, at least in part: half of a run would be told
    /// as if it were all. `known` is how many entries there were before this event.
    pub(super) fn leave_out_cleared(&mut self, event: &Event, known: usize) {
        if event.cleared {
            if let Some(run) = &mut self.run {
                run.cleared = true;
            }
            let first = known.min(self.entries.len().saturating_sub(1));
            for place in first..self.entries.len() {
                if !self.is_cleared(place) {
                    self.cleared.push(place);
                }
            }
        }
        if event.cleared || self.run.as_ref().is_some_and(|run| run.cleared) {
            self.start = self.history.len();
        }
    }

    /// Names a call of a cleared turn by its result's event, which keeps the name of the tool.
    pub(super) fn name_cleared(&mut self, id: &CallId, name: &str) {
        if self.run.as_ref().is_none_or(|run| !run.cleared) {
            return;
        }
        let Some(Entry::Turn(entry)) = self.entries.last_mut() else { return };
        let Some(place) = entry.calls.iter().position(|call| call.id == *id) else { return };
        if let Some(call) = Rc::make_mut(&mut entry.turn).calls.get_mut(place) {
            call.name = name.to_owned();
        }
        // The turn is in the history once: it was the last to come, and its results come all at once.
        if let Some(HistoryItem::Assistant { turn, .. }) = self.history.last_mut() {
            *turn = Rc::clone(&entry.turn);
        }
    }
}
