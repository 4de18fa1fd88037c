//! A call's arguments as rows: every key and every value, in the order the model wrote them.

use super::difference::{Change, Piece, difference};
use super::punycode::hosts;
use super::script::is_mixed;
use super::visible::{visible_line, visible_value};
use crate::core::json::{JoinedText, Json, Writer, cut, shown_number, write_number, write_string};

/// Strings longer than this, in characters, or of more than one line get a block of their own.
const LONG: usize = 80;
/// The most columns of a table, and the most characters of a text in one: more cannot be read side by side.
const MOST_COLUMNS: usize = 8;
const LONGEST_CELL: usize = 200;

/// One argument, or one leaf of a nested one.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Row {
    /// Where it stands, such as `recipients[0].address`.
    pub path: String,
    /// What it stands in, such as `recipients[0]`; empty for the arguments themselves.
    pub group: String,
    /// Its own step of the path, such as `address`, or `[0]` for an item of a list.
    pub name: String,
    /// The path of the list, where the row is a cell in a table of flat objects, such as `recipients`.
    pub table: Option<String>,
    /// `string`, `number`, `boolean`, `null`, `object` or `array`, the last two only where they are empty; `nothing` for an
    /// item of a list that the call takes away.
    pub kind: &'static str,
    /// Its value, with visible tokens in place of characters one cannot see.
    pub text: String,
    /// Whether it needs a block of its own.
    pub long: bool,
    /// How many characters and lines the value has.
    pub size: (usize, usize),
    /// Whether a word of it mixes letters of different alphabets.
    pub mixed: bool,
    /// The hosts of its URLs that are not ASCII, in Punycode.
    pub hosts: Vec<String>,
    /// What changes, where the tool said what the value is now and it is another one.
    pub changes: Vec<Piece>,
}

impl Row {
    /// Writes it as an object. What says nothing is left out.
    pub fn write(&self, out: &mut Writer) {
        out.open('{');
        out.text("path", &self.path);
        if !self.group.is_empty() {
            out.text("group", &self.group);
        }
        out.text("name", &self.name);
        out.present("table", self.table.as_deref());
        out.text("kind", self.kind);
        out.text("text", &self.text);
        out.flag("long", self.long);
        if self.mixed {
            out.flag("mixed", true);
        }
        if !self.hosts.is_empty() {
            out.strings("hosts", &self.hosts);
        }
        if !self.changes.is_empty() {
            out.key("changes");
            out.open('[');
            for piece in &self.changes {
                out.item();
                out.open('{');
                out.text("change", piece.change.token());
                out.text("text", &piece.text);
                out.close('}');
            }
            out.close(']');
        }
        out.close('}');
    }
}

/// The rows of arguments; `current` is what the tool said of their values as they are now, in the same shape.
pub fn rows(arguments: &Json, current: Option<&Json>) -> Vec<Row> {
    let mut rows = Vec::new();
    let place = Place { path: "", group: "", name: "", table: None };
    leaves(&place, Some(arguments), current, &mut rows);
    rows
}

/// The rows of a value that stands at this path.
pub(super) fn rows_at(path: &str, value: &Json) -> Vec<Row> {
    let mut rows = Vec::new();
    leaves(&Place { path, group: "", name: "", table: None }, Some(value), None, &mut rows);
    rows
}

/// Where a value stands.
#[derive(Clone, Copy)]
struct Place<'a> {
    path: &'a str,
    group: &'a str,
    name: &'a str,
    table: Option<&'a str>,
}

impl Place<'_> {
    /// Walks into what stands one step further.
    fn step(&self, name: &str, value: Option<&Json>, current: Option<&Json>, rows: &mut Vec<Row>) {
        let path = path_to(self.path, name);
        leaves(&Place { path: &path, group: self.path, name, table: self.table }, value, current, rows);
    }
}

/// The path one step further.
pub(super) fn path_to(path: &str, step: &str) -> String {
    let dot = if path.is_empty() || step.starts_with('[') { "" } else { "." };
    [path, dot, step].concat()
}

/// A key as a step of a path. One that could pass for several steps, or for none, stands in brackets and quotes.
pub(super) fn step_of(key: &str) -> String {
    let name = visible_line(key);
    if !key.is_empty() && !key.bytes().any(|byte| matches!(byte, b'.' | b'[' | b']' | b'"')) {
        return name;
    }
    let mut step = String::from('[');
    write_string(&name, &mut step);
    step.push(']');
    step
}

pub(super) fn index(place: usize) -> String {
    let mut step = String::from('[');
    write_number(place as u64, &mut step);
    step.push(']');
    step
}

/// The leaves of a value; of none where the call takes away what is there now.
fn leaves(place: &Place<'_>, value: Option<&Json>, current: Option<&Json>, rows: &mut Vec<Row>) {
    match value {
        Some(Json::Object(fields)) if !fields.is_empty() => {
            for (key, field) in fields {
                // Not the other way round: what the call leaves out it may leave as it is.
                place.step(&step_of(key), Some(field), current.and_then(|current| current.get(key)), rows);
            }
        }
        Some(Json::Array(items)) if !items.is_empty() => {
            let now = current.and_then(Json::as_array).unwrap_or_default();
            let table = is_table(items).then_some(place.path);
            let place = Place { table, ..*place };
            for (at, item) in items.iter().enumerate() {
                place.step(&index(at), Some(item), now.get(at), rows);
            }
            for (at, item) in now.iter().enumerate().skip(items.len()) {
                Place { table: None, ..place }.step(&index(at), None, Some(item), rows);
            }
        }
        // No arguments at all: a key, even an empty one, has given the path something by now.
        Some(Json::Object(_)) if place.path.is_empty() => {}
        _ => rows.push(leaf(place, value, current)),
    }
}

/// Whether the items are flat objects that can stand under one another.
fn is_table(items: &[Json]) -> bool {
    let mut columns: Vec<&str> = Vec::new();
    let fits = |value: &Json| match value {
        Json::Object(fields) => fields.is_empty(),
        Json::Array(items) => items.is_empty(),
        Json::String(text) => cut(text, LONGEST_CELL).len() == text.len(),
        _ => true,
    };
    for item in items {
        let Some(fields) = item.as_object().filter(|fields| !fields.is_empty()) else { return false };
        for (key, value) in fields {
            if !fits(value) {
                return false;
            }
            if !columns.contains(&key.as_str()) {
                columns.push(key);
            }
        }
        if columns.len() > MOST_COLUMNS {
            return false;
        }
    }
    items.len() > 1
}

fn leaf(place: &Place<'_>, value: Option<&Json>, current: Option<&Json>) -> Row {
    let kind = match value {
        None => "nothing",
        Some(Json::Object(_)) => "object",
        Some(Json::Array(_)) => "array",
        Some(Json::Null) => "null",
        Some(Json::Bool(_)) => "boolean",
        Some(Json::Number(_)) => "number",
        Some(Json::String(_) | Json::Wtf8(_)) => "string",
    };
    let raw = value.map(raw).unwrap_or_default();
    let text = visible_value(&raw);
    let is_same = |current: &&Json| value.is_some_and(|value| value.same_value(current));
    let changes = current.filter(|current| !is_same(current)).map(|current| {
        let before = visible_value(&self::raw(current));
        // Texts are compared in their parts, anything else is replaced whole.
        if kind == "string" && matches!(current, Json::String(_)) {
            return difference(&before, &text);
        }
        let pieces = [(Change::Removed, before), (Change::Added, text.clone())];
        pieces.into_iter().filter(|(_, text)| !text.is_empty()).map(|(change, text)| Piece { change, text }).collect()
    });
    Row {
        path: place.path.to_owned(),
        group: place.group.to_owned(),
        name: place.name.to_owned(),
        table: place.table.map(str::to_owned),
        kind,
        long: text.bytes().any(|byte| byte == b'\n') || cut(&text, LONG).len() < text.len(),
        size: (raw.chars().count(), raw.lines().count().max(1)),
        mixed: is_mixed(&raw) || is_mixed(place.name),
        hosts: hosts(&raw),
        changes: changes.unwrap_or_default(),
        text,
    }
}

/// The text of a string, a number as the tool gets it, anything else as JSON.
fn raw(value: &Json) -> String {
    match value {
        Json::String(_) | Json::Wtf8(_) => {
            let mut text = JoinedText::new();
            text.push(value);
            text.into_text()
        }
        Json::Number(literal) => shown_number(literal),
        _ => value.text(),
    }
}
