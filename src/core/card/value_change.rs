//! What a person changed of a call's arguments, value by value.

use super::difference::difference;
use super::row::{Row, index, path_to, rows_at, step_of};
use crate::core::arguments::Arguments;
use crate::core::json::{Json, Writer};

/// A value that differs between the arguments the model wrote and those in their place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ValueChange {
    /// What the model wrote there; `None` where it wrote nothing.
    pub was: Option<Row>,
    /// What stands there now; `None` where nothing does. If it or what the model wrote is long, with what changes from the one
    /// to the other.
    pub now: Option<Row>,
}

impl ValueChange {
    /// Where the value stands, such as `recipients[0].address`.
    pub fn path(&self) -> &str {
        self.now.as_ref().or(self.was.as_ref()).map_or("", |row| &row.path)
    }

    /// Writes these as the member `changes`, unless there are none.
    pub fn write_all(changes: &[Self], out: &mut Writer) {
        if changes.is_empty() {
            return;
        }
        out.key("changes");
        out.open('[');
        for change in changes {
            out.item();
            out.open('{');
            out.text("path", change.path());
            for (key, row) in [("was", &change.was), ("now", &change.now)] {
                if let Some(row) = row {
                    out.key(key);
                    out.open('{');
                    out.text("kind", row.kind);
                    out.text("text", &row.text);
                    out.close('}');
                }
            }
            out.close('}');
        }
        out.close(']');
    }
}

/// The differences, in the order of the arguments that were written and then of those that were added. None where one of
/// the two texts cannot be read: then neither ran.
pub fn value_changes(written: &str, edited: &str) -> Vec<ValueChange> {
    let mut changes = Vec::new();
    if let (Ok(written), Ok(edited)) = (Arguments::new(written), Arguments::new(edited)) {
        compare("", written.value(), edited.value(), &mut changes);
    }
    changes
}

fn compare(path: &str, was: &Json, now: &Json, changes: &mut Vec<ValueChange>) {
    if was.same_value(now) {
        return;
    }
    match (was, now) {
        (Json::Object(before), Json::Object(after)) => {
            for (key, value) in before {
                let inner = path_to(path, &step_of(key));
                match now.get(key) {
                    Some(other) => compare(&inner, value, other, changes),
                    None => whole(&inner, value, gone, changes),
                }
            }
            for (key, value) in after.iter().filter(|(key, _)| was.get(key).is_none()) {
                let inner = path_to(path, &step_of(key));
                whole(&inner, value, new, changes);
            }
        }
        (Json::Array(before), Json::Array(after)) => {
            for place in 0..before.len().max(after.len()) {
                let inner = path_to(path, &index(place));
                match (before.get(place), after.get(place)) {
                    (Some(value), Some(other)) => compare(&inner, value, other, changes),
                    (Some(value), None) => whole(&inner, value, gone, changes),
                    (None, Some(value)) => whole(&inner, value, new, changes),
                    (None, None) => {}
                }
            }
        }
        _ => {
            let (mut before, mut after) = (rows_at(path, was), rows_at(path, now));
            // One value in place of one value; where there are more, they stand in different places.
            if let ([was], [now]) = (before.as_slice(), after.as_mut_slice())
                && was.path == now.path
            {
                if was.kind == "string" && now.kind == "string" && (was.long || now.long) {
                    now.changes = difference(&was.text, &now.text);
                }
                changes.push(ValueChange { was: before.pop(), now: after.pop() });
                return;
            }
            changes.extend(before.into_iter().map(gone));
            changes.extend(after.into_iter().map(new));
        }
    }
}

/// All of a value, as gone or as new.
fn whole(path: &str, value: &Json, change: fn(Row) -> ValueChange, changes: &mut Vec<ValueChange>) {
    changes.extend(rows_at(path, value).into_iter().map(change));
}

const fn gone(row: Row) -> ValueChange {
    ValueChange { was: Some(row), now: None }
}

const fn new(row: Row) -> ValueChange {
    ValueChange { was: None, now: Some(row) }
}
