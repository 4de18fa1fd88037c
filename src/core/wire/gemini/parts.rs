//! The parts of a turn, collected as they come.

use super::super::super::json::{JoinedText, Json};
use super::super::super::message::{CallKind, TurnCall};
use super::pieces::Pieces;

/// Parts unmerged, for a signature holds for the part it came in; what they say is collected beside them.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Parts {
    items: Vec<Json>,
    pub(super) text: JoinedText,
    pub(super) reasoning: JoinedText,
    calls: Vec<Call>,
    calling: Calling,
}

/// A call as far as it has arrived.
#[derive(Clone, Debug, PartialEq)]
struct Call {
    id: String,
    name: String,
    arguments: Pieces,
}

/// Tells the beginnings of calls from their later pieces.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calling {
    /// The last call said that it goes on.
    pub(super) is_open: bool,
}

impl Calling {
    /// Whether a `functionCall` is another one than the last. A piece of the last has no name.
    pub(super) fn begins(&mut self, call: &Json) -> bool {
        let is_named = call.get("name").and_then(Json::as_str).is_some_and(|name| !name.is_empty());
        let has_arguments = call.get("args").or(call.get("partialArgs")).is_some();
        let begins = is_named || !self.is_open && has_arguments;
        self.is_open = (begins || self.is_open) && call.get("willContinue").and_then(Json::as_bool) == Some(true);
        begins
    }
}

impl Parts {
    pub(super) fn has_calls(&self) -> bool {
        !self.calls.is_empty()
    }

    /// The next part.
    pub(super) fn add(&mut self, part: &Json) {
        if part.as_object().is_none_or(<[_]>::is_empty) {
            return;
        }
        if let Some(call) = part.get("functionCall") {
            let goes_on = self.calling.is_open;
            let begins = self.calling.begins(call);
            if !begins && !goes_on {
                // It ends a call that has ended.
                return;
            }
            self.add_call(call, begins);
        } else if let Some(text) = part.get("text") {
            let is_thought = part.get("thought").and_then(Json::as_bool) == Some(true);
            if is_thought { &mut self.reasoning } else { &mut self.text }.push(text);
        }
        self.items.push(part.clone());
    }

    fn add_call(&mut self, value: &Json, begins: bool) {
        let text = |key: &str| value.get(key).and_then(Json::as_str).unwrap_or("");
        if begins {
            let name = text("name").to_owned();
            self.calls.push(Call { id: String::new(), name, arguments: Pieces::default() });
        }
        let Some(call) = self.calls.last_mut() else { return };
        if call.id.is_empty() {
            call.id.push_str(text("id"));
        }
        if let Some(whole) = value.get("args").filter(|args| !args.is_null()) {
            call.arguments.set(whole);
        }
        for piece in value.get("partialArgs").and_then(Json::as_array).unwrap_or(&[]) {
            call.arguments.add(piece);
        }
    }

    /// The parts as they go back.
    pub(super) fn take_items(&mut self) -> Vec<Json> {
        let mut items = std::mem::take(&mut self.items);
        items.iter_mut().for_each(Json::make_well_formed);
        items
    }

    /// The calls, in order.
    pub(super) fn calls(&self) -> Vec<TurnCall> {
        let calls = self.calls.iter().map(|call| TurnCall {
            kind: CallKind::Function,
            provider_id: Some(call.id.clone()).filter(|id| !id.is_empty()),
            name: call.name.clone(),
            arguments: call.arguments.text(),
        });
        calls.collect()
    }
}
