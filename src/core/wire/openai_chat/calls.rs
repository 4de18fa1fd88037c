//! The calls of a turn, collected from their pieces.

use super::super::super::json::{JoinedText, Json};
use super::super::super::message::TurnCall;
use super::super::leftover;

/// The calls in order of first appearance: indexes start at one, skip, and run backwards.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Calls(Vec<Slot>);

/// A call as far as it has arrived.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    index: Option<i64>,
    id: String,
    name: String,
    /// Not looked into before the end of the stream: `1`, `12` and `123` are all complete.
    arguments: JoinedText,
    leftovers: Vec<(String, Json)>,
}

/// One entry of a `tool_calls` list: a call or a piece of one.
struct Piece<'a> {
    index: Option<i64>,
    id: &'a str,
    name: &'a str,
    arguments: Option<&'a Json>,
    /// It is not the first of its list.
    is_later: bool,
}

impl Calls {
    /// Takes the `tool_calls` of a delta, or of a whole message, where every entry is a call of its own.
    pub(super) fn add(&mut self, entries: &[Json], is_whole: bool) {
        for (place, entry) in entries.iter().enumerate() {
            let function = |key: &str| entry.get("function").and_then(|function| function.get(key));
            let piece = Piece {
                index: entry.get("index").and_then(Json::as_i64),
                id: entry.get("id").and_then(Json::as_str).unwrap_or(""),
                name: function("name").and_then(Json::as_str).unwrap_or(""),
                arguments: function("arguments").filter(|arguments| !arguments.is_null()),
                is_later: place > 0,
            };
            let place = if is_whole { None } else { self.place(&piece) };
            let place = place.unwrap_or_else(|| {
                self.0.push(Slot {
                    index: piece.index,
                    id: String::new(),
                    name: String::new(),
                    arguments: JoinedText::of_json(),
                    leftovers: Vec::new(),
                });
                self.0.len() - 1
            });
            if let Some(slot) = self.0.get_mut(place) {
                slot.add(&piece, entry);
            }
        }
    }

    /// The call that a piece belongs to, by the first rule that fits; `None` begins a new one.
    ///
    /// 1. With an index: the last call of that index. But another id begins a new call (there are servers that give
    ///    every call index 0), and so does another name once arguments have arrived.
    /// 2. Without: the call of that id.
    /// 3. A new id, a new name, or a name further down in the same list begin a new call.
    /// 4. Anything else continues the last call.
    fn place(&self, piece: &Piece<'_>) -> Option<usize> {
        let last = |fits: &dyn Fn(&Slot) -> bool| self.0.iter().rposition(fits);
        if piece.index.is_some() {
            let same_id = last(&|slot| slot.index == piece.index && !piece.id.is_empty() && slot.id == piece.id);
            return same_id.or_else(|| {
                let place = last(&|slot| slot.index == piece.index)?;
                let slot = self.0.get(place)?;
                let has_other_id = !piece.id.is_empty() && !slot.id.is_empty();
                let is_new = has_other_id || slot.has_other_name(piece) && !slot.arguments.is_empty();
                (!is_new).then_some(place)
            });
        }
        if piece.is_later && !piece.name.is_empty() {
            return None;
        }
        if !piece.id.is_empty() {
            return last(&|slot| slot.id == piece.id);
        }
        let place = self.0.len().checked_sub(1)?;
        let slot = self.0.get(place)?;
        (!slot.has_other_name(piece)).then_some(place)
    }

    /// The calls with their leftovers. In a turn that was not cut, no arguments are an empty object; in a cut one they
    /// are only missing.
    pub(super) fn finish(self, is_cut: bool) -> (Vec<TurnCall>, Vec<Vec<(String, Json)>>) {
        // An entry without a name, an id and arguments is noise of the server.
        let slots = self.0.into_iter().filter(|slot| !slot.is_empty());
        slots
            .map(|slot| {
                let mut arguments = slot.arguments.into_text();
                if !is_cut && matches!(arguments.trim_ascii(), "" | "null") {
                    arguments = String::from("{}");
                }
                let provider_id = Some(slot.id).filter(|id| !id.is_empty());
                (TurnCall { provider_id, name: slot.name, arguments, ..TurnCall::default() }, slot.leftovers)
            })
            .unzip()
    }

    /// Whether there is no call.
    pub(super) fn is_empty(&self) -> bool {
        self.0.iter().all(Slot::is_empty)
    }
}

impl Slot {
    fn is_empty(&self) -> bool {
        self.id.is_empty() && self.name.is_empty() && self.arguments.is_empty()
    }

    fn has_other_name(&self, piece: &Piece<'_>) -> bool {
        !piece.name.is_empty() && !self.name.is_empty() && piece.name != self.name
    }

    fn add(&mut self, piece: &Piece<'_>, entry: &Json) {
        if self.id.is_empty() {
            self.id.push_str(piece.id);
        }
        // Some servers repeat the whole name in every piece, others cut it into pieces.
        if self.name != piece.name {
            self.name.push_str(piece.name);
        }
        match piece.arguments {
            None => {}
            Some(text @ (Json::String(_) | Json::Wtf8(_))) => self.arguments.push(text),
            Some(value) => self.arguments.push_str(&value.text()),
        }
        for (key, value) in entry.as_object().unwrap_or(&[]) {
            if !matches!(key.as_str(), "index" | "id" | "type" | "function") {
                leftover::add(&mut self.leftovers, key, value);
            }
        }
    }
}
