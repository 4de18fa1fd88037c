//! Arguments that Vertex streams in pieces, each with the place it belongs to.

use super::super::super::json::{Json, MAX_DEPTH, read_whole};
use super::super::leftover;

/// Arguments as far as they have arrived.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Pieces {
    value: Option<Json>,
    /// Pieces that had no place. With one of them the arguments are not what the model meant.
    stray: String,
}

/// A step on the way to a place.
#[derive(Clone, Debug, PartialEq)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

impl Pieces {
    /// Takes arguments that came whole.
    pub(super) fn set(&mut self, whole: &Json) {
        self.value = Some(whole.clone());
    }

    /// Takes one piece: `jsonPath` and a value. A text goes on where it stopped.
    pub(super) fn add(&mut self, piece: &Json) {
        let value = match piece.get("stringValue").or(piece.get("numberValue")).or(piece.get("boolValue")) {
            Some(value) => value,
            None => &Json::Null,
        };
        let path = piece.get("jsonPath").and_then(Json::as_str).and_then(steps);
        let root = self.value.get_or_insert(Json::Null);
        let is_text = |value: &Json| matches!(value, Json::String(_) | Json::Wtf8(_));
        match path.and_then(|path| path.iter().try_fold(root, follow)) {
            Some(leaf) if is_text(leaf) && is_text(value) => leftover::join(leaf, value),
            Some(leaf) if leaf.is_null() || leaf == value => *leaf = value.clone(),
            _ => self.stray.push_str(&piece.text()),
        }
    }

    /// The arguments' text; nothing is an empty object. Stray pieces follow it, so that it is refused and shows them.
    pub(super) fn text(&self) -> String {
        let value = self.value.as_ref().map_or_else(|| String::from("{}"), Json::exact_text);
        [value, self.stray.clone()].concat()
    }
}

/// A path such as `$.items[0].name` or `$['a.b']`; `None` for any other text, and for one deeper than arguments may be.
fn steps(path: &str) -> Option<Vec<Step<'_>>> {
    let mut rest = path.strip_prefix('$')?;
    let mut found = Vec::new();
    while !rest.is_empty() && found.len() < MAX_DEPTH {
        if let Some(after) = rest.strip_prefix('.') {
            let end = after.find(['.', '[']).unwrap_or(after.len());
            let (name, after) = after.split_at_checked(end)?;
            found.push(Step::Key(name));
            rest = after;
        } else {
            let after = rest.strip_prefix('[')?;
            let quote = after.chars().next().filter(|char| matches!(char, '\'' | '"'));
            if let Some(quote) = quote {
                let (name, after) = after.get(1..)?.split_once(quote)?;
                found.push(Step::Key(name));
                rest = after.strip_prefix(']')?;
                continue;
            }
            let (index, after) = after.split_once(']')?;
            found.push(Step::Index(usize::try_from(read_whole(index)?).ok()?));
            rest = after;
        }
    }
    rest.is_empty().then_some(found)
}

/// One step further, where that is: into a member, or to an element or the one behind the last.
fn follow<'a>(value: &'a mut Json, step: &Step<'_>) -> Option<&'a mut Json> {
    match step {
        Step::Key(key) => {
            if value.is_null() {
                *value = Json::Object(Vec::new());
            }
            let Json::Object(members) = value else { return None };
            let place = members.iter().position(|(name, _)| name == key).unwrap_or_else(|| {
                members.push(((*key).to_owned(), Json::Null));
                members.len() - 1
            });
            members.get_mut(place).map(|(_, value)| value)
        }
        Step::Index(index) => {
            if value.is_null() {
                *value = Json::Array(Vec::new());
            }
            let Json::Array(items) = value else { return None };
            if *index == items.len() {
                items.push(Json::Null);
            }
            items.get_mut(*index)
        }
    }
}
