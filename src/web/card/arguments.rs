//! The arguments on a card: rows, lists, tables and differences, and what is folded of them.
//!
//! Anything long is folded behind a button that says how much there is, and is made only when that is pressed, a page at a
//! time: a megabyte of arguments costs a card no more than a few of them. While anything is folded the call cannot be
//! approved. Printing shows everything and opens nothing.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;

use super::entry::say;
use super::words::Words;
use crate::core::card::{Change, Row};
use crate::web::element::Element;

/// The most characters and lines of a text that is shown whole, and how much of another one is.
const LONGEST_TEXT: (usize, usize) = (1_000, 20);
const HEAD_OF_TEXT: (usize, usize) = (300, 5);
/// The most rows shown of one list or table, and in all.
const MOST_IN_LIST: usize = 20;
const MOST_ROWS: usize = 40;
/// How much is added when a fold is opened: elements, and bytes of one text.
const PAGE: usize = 2_000;
const PAGE_OF_TEXT: usize = 100_000;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = addEventListener)]
    fn listen(kind: &str, hear: &JsValue);
    #[wasm_bindgen(js_name = removeEventListener)]
    fn unlisten(kind: &str, hear: &JsValue);

    type Heard;
    #[wasm_bindgen(method, getter = type)]
    fn kind(this: &Heard) -> String;
    #[wasm_bindgen(method, getter)]
    fn target(this: &Heard) -> Element;
    #[wasm_bindgen(method, getter = isTrusted)]
    fn is_trusted(this: &Heard) -> bool;
}

/// The arguments of one card, in the page.
pub struct Arguments(Rc<Drawing>);

struct Drawing {
    screen: Element,
    rows: Vec<Row>,
    words: Words,
    folds: RefCell<Vec<Fold>>,
    /// Everything at once, while the page is printed.
    paper: RefCell<Option<Element>>,
    /// How much has been drawn in one go.
    cost: Cell<usize>,
    hear: Closure<dyn Fn(Heard)>,
    /// Told whether anything is still folded.
    folded: Box<dyn Fn(bool)>,
}

/// What is not there yet, and the button that brings it.
struct Fold {
    button: Element,
    /// What it goes into: the block of a text, the body of a list, or the place of whole lists.
    into: Element,
    rest: Rest,
}

#[derive(Clone, Copy)]
enum Rest {
    /// Of the text of a row, from this byte on.
    Text(usize, usize),
    /// Of a list, the rows from the first to before the last.
    List(usize, usize),
    /// Of all rows, those from here on.
    Rows(usize),
}

/// How rows stand together.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Shape {
    Fields,
    List,
    Table,
}

/// How much is drawn before something is folded.
#[derive(Clone, Copy)]
struct Limits {
    rows: usize,
    in_list: usize,
    cost: usize,
    folds_texts: bool,
}

const AT_FIRST: Limits = Limits { rows: MOST_ROWS, in_list: MOST_IN_LIST, cost: usize::MAX, folds_texts: true };
const WHEN_OPENED: Limits = Limits { rows: usize::MAX, in_list: usize::MAX, cost: PAGE, folds_texts: true };
const ON_PAPER: Limits = Limits { rows: usize::MAX, in_list: usize::MAX, cost: usize::MAX, folds_texts: false };

impl Arguments {
    /// Draws the rows into `area`. `folded` is told now, and whenever it may have changed, whether anything is folded.
    pub fn new(area: &Element, rows: &[Row], words: &Words, folded: Box<dyn Fn(bool)>) -> Self {
        let drawing = Rc::new_cyclic(|drawing: &Weak<Drawing>| {
            let drawing = drawing.clone();
            let hear = Closure::<dyn Fn(Heard)>::new(move |heard: Heard| {
                if let Some(drawing) = drawing.upgrade() {
                    drawing.hear(&heard);
                }
            });
            Drawing {
                screen: area.add("div class=screen", ""),
                rows: rows.to_vec(),
                words: words.clone(),
                folds: RefCell::default(),
                paper: RefCell::default(),
                cost: Cell::new(0),
                hear,
                folded,
            }
        });
        drawing.draw(&drawing.screen, 0, AT_FIRST);
        for kind in ["beforeprint", "afterprint"] {
            listen(kind, drawing.hear.as_ref());
        }
        (drawing.folded)(drawing.is_folded());
        Self(drawing)
    }
}

impl Drop for Arguments {
    fn drop(&mut self) {
        for kind in ["beforeprint", "afterprint"] {
            unlisten(kind, self.0.hear.as_ref());
        }
        for fold in self.0.folds.borrow().iter() {
            fold.button.set_onclick(&JsValue::NULL);
        }
    }
}

impl Drawing {
    fn is_folded(&self) -> bool {
        !self.folds.borrow().is_empty()
    }

    fn hear(&self, heard: &Heard) {
        match heard.kind().as_str() {
            "beforeprint" if self.is_folded() && self.paper.borrow().is_none() => {
                let paper = Element::new("div class=paper");
                self.screen.after(&paper);
                self.draw(&paper, 0, ON_PAPER);
                self.paper.replace(Some(paper));
            }
            "afterprint" => {
                if let Some(paper) = self.paper.take() {
                    paper.remove();
                }
            }
            // A script has read nothing.
            "click" if heard.is_trusted() => self.open(&heard.target()),
            _ => {}
        }
    }

    /// Draws the next page of what the button stands for.
    fn open(&self, button: &Element) {
        let place = self.folds.borrow().iter().position(|fold| fold.button == *button);
        let Some(fold) = place.map(|place| self.folds.borrow_mut().swap_remove(place)) else { return };
        self.cost.set(0);
        let shown = match fold.rest {
            Rest::Text(row, from) => {
                let end = self.draw_text(&fold.into, row, from, Some(PAGE_OF_TEXT));
                end.map(|end| Rest::Text(row, end))
            }
            Rest::List(from, to) => {
                let next = self.fill(&fold.into, self.shape(from), from, to, WHEN_OPENED);
                (next < to).then_some(Rest::List(next, to))
            }
            Rest::Rows(from) => {
                let page = fold.into.add("div tabindex=-1", "");
                let next = self.draw(&page, from, WHEN_OPENED);
                (next < self.rows.len()).then_some(Rest::Rows(next))
            }
        };
        // What was opened gets the focus that its button would lose.
        match shown {
            Some(rest) => {
                let left = match rest {
                    Rest::Text(row, from) => self.length(row).saturating_sub(self.characters(row, from)),
                    Rest::List(from, to) => self.units(from, to),
                    Rest::Rows(from) => self.units(from, self.rows.len()),
                };
                fold.button.set_text(&self.words.fill("fold.more", |values| values.number("count", left as u64)));
                self.folds.borrow_mut().push(Fold { rest, ..fold });
            }
            None => {
                let target =
                    if let Rest::Rows(_) = fold.rest { fold.into.last_child() } else { Some(fold.into.clone()) };
                if let Some(target) = target {
                    target.focus();
                }
                fold.button.remove();
            }
        }
        (self.folded)(self.is_folded());
    }

    /// Draws rows from one on, until something is over its limit. Gives the row it stopped in front of; at first what is
    /// left gets a button.
    fn draw(&self, into: &Element, from: usize, limits: Limits) -> usize {
        let (mut at, mut left) = (from, limits.rows);
        while at < self.rows.len() {
            if left == 0 || self.cost.get() >= limits.cost {
                break;
            }
            let (shape, end) = (self.shape(at), self.block_end(at));
            let body = self.frame(into, shape, at, end);
            let is_list = shape != Shape::Fields;
            let rows = if is_list { left.min(limits.in_list) } else { left };
            let next = self.fill(&body, shape, at, end, Limits { rows, ..limits });
            let drawn = self.units(at, next);
            left -= drawn.min(left);
            // A list that is cut by its own limit goes on in its own place.
            if next < end && is_list && rows == limits.in_list {
                self.fold(into, &body, Rest::List(next, end), &self.path_of(at), |words| {
                    words.fill("fold.rows", |values| values.number("count", self.units(at, end) as u64))
                });
                at = end;
            } else {
                at = next;
            }
        }
        if at < self.rows.len() && limits.rows < usize::MAX {
            let place = into.add("div", "");
            self.fold(into, &place, Rest::Rows(at), "", |words| {
                let count = self.units(at, self.rows.len());
                words.fill("fold.values", |values| values.number("count", count as u64))
            });
        }
        at
    }

    fn fold(&self, beside: &Element, into: &Element, rest: Rest, path: &str, says: impl Fn(&Words) -> String) {
        let says = says(&self.words);
        let button = beside.add("button part=fold type=button", &says);
        if !path.is_empty() {
            button.set("aria-label", &[path, ": ", &says].concat());
        }
        button.set_onclick(self.hear.as_ref());
        self.folds.borrow_mut().push(Fold { button, into: into.clone(), rest });
    }

    fn row(&self, at: usize) -> Option<&Row> {
        self.rows.get(at)
    }

    fn shape(&self, at: usize) -> Shape {
        match self.row(at) {
            Some(row) if row.table.is_some() => Shape::Table,
            Some(row) if !row.group.is_empty() && number_of(&row.name).is_some() => Shape::List,
            _ => Shape::Fields,
        }
    }

    /// Where the rows end that stand together with this one.
    fn block_end(&self, at: usize) -> usize {
        let Some(first) = self.row(at) else { return at };
        let shape = self.shape(at);
        let same = |place: &usize| {
            self.row(*place).is_some_and(|row| {
                self.shape(*place) == shape
                    && if shape == Shape::Table { row.table == first.table } else { row.group == first.group }
            })
        };
        (at..self.rows.len()).find(|place| !same(place)).unwrap_or(self.rows.len())
    }

    /// How many rows a person counts from one to before another: all cells of a table's row are one.
    fn units(&self, from: usize, to: usize) -> usize {
        let rows = self.rows.get(from..to).unwrap_or_default();
        let mut last: Option<&Row> = None;
        rows.iter()
            .filter(|row| {
                let goes_on =
                    last.is_some_and(|last| row.table.is_some() && row.table == last.table && row.group == last.group);
                last = Some(row);
                !goes_on
            })
            .count()
    }

    fn path_of(&self, at: usize) -> String {
        self.row(at).map(|row| row.table.clone().unwrap_or_else(|| row.group.clone())).unwrap_or_default()
    }

    /// The element that rows of a block go into, under the name of what they are in.
    fn frame(&self, into: &Element, shape: Shape, at: usize, end: usize) -> Element {
        let path = self.path_of(at);
        if shape == Shape::Table {
            // It scrolls sideways, and a keyboard must get there.
            let wide = into.add("div class=wide tabindex=0 role=group", "");
            wide.set("aria-label", &path);
            let table = wide.add("table", "");
            table.add("caption dir=auto", &path);
            let head = table.add("thead", "").add("tr", "");
            head.add("td", "");
            for column in self.columns(self.block_start(at), end) {
                head.add("th scope=col dir=auto", column);
            }
            return table.add("tbody tabindex=-1", "");
        }
        if !path.is_empty() {
            into.add("div class=group dir=auto", &path);
        }
        let list = if shape == Shape::List {
            let list = into.add("ol tabindex=-1", "");
            let start = self.row(at).and_then(|row| number_of(&row.name)).unwrap_or("0");
            list.set("start", start);
            list
        } else {
            into.add("dl tabindex=-1", "")
        };
        if !path.is_empty() {
            list.set("aria-label", &path);
        }
        list
    }

    /// The columns of the table that a row is in, whether they are shown already or not.
    fn columns(&self, at: usize, end: usize) -> Vec<&str> {
        let mut columns: Vec<&str> = Vec::new();
        for row in self.rows.get(at..end).unwrap_or_default() {
            if !columns.contains(&row.name.as_str()) {
                columns.push(&row.name);
            }
        }
        columns
    }

    /// Puts rows of one block into its body; gives the one it stopped in front of.
    fn fill(&self, body: &Element, shape: Shape, from: usize, to: usize, limits: Limits) -> usize {
        // Also of a page further down, a cell finds its column.
        let columns = if shape == Shape::Table { self.columns(self.block_start(from), to) } else { Vec::new() };
        let (mut at, mut left) = (from, limits.rows);
        while at < to && left > 0 && self.cost.get() < limits.cost {
            let Some(row) = self.row(at) else { break };
            match shape {
                Shape::Table => {
                    let end = (at..to).find(|place| self.row(*place).is_none_or(|cell| cell.group != row.group));
                    let end = end.unwrap_or(to);
                    let line = body.add("tr", "");
                    let table = row.table.as_deref().unwrap_or_default();
                    line.add("th scope=row", row.group.strip_prefix(table).unwrap_or(&row.group));
                    for column in &columns {
                        let cell = line.add("td dir=auto", "");
                        if let Some(place) =
                            (at..end).find(|place| self.row(*place).is_some_and(|cell| cell.name == *column))
                        {
                            self.value(&cell, place, true, limits.folds_texts);
                        }
                    }
                    self.spend(1 + columns.len());
                    at = end;
                }
                Shape::List => {
                    self.value(&body.add("li dir=auto", ""), at, true, limits.folds_texts);
                    self.spend(1);
                    at += 1;
                }
                Shape::Fields => {
                    let name = body.add("dt dir=auto", &row.name);
                    if is_block(row) {
                        name.set("class", "long");
                    }
                    self.value(&body.add("dd", ""), at, false, limits.folds_texts);
                    self.spend(3);
                    at += 1;
                }
            }
            left -= 1;
        }
        at
    }

    fn spend(&self, cost: usize) {
        self.cost.set(self.cost.get() + cost);
    }

    fn block_start(&self, at: usize) -> usize {
        let table = self.row(at).and_then(|row| row.table.as_ref());
        let is_other = |place: &usize| self.row(*place).is_none_or(|row| row.table.as_ref() != table);
        (0..at).rev().find(is_other).map_or(0, |place| place + 1)
    }

    /// Draws a value, and what is to be said of it. A `bare` place holds a plain text itself.
    fn value(&self, place: &Element, at: usize, bare: bool, folds_texts: bool) {
        let Some(row) = self.row(at) else { return };
        place.set("data-kind", row.kind);
        if is_block(row) {
            // It scrolls, and a keyboard must get there.
            let block = place.add("div class=block dir=auto tabindex=0 role=group", "");
            block.set("aria-label", &row.path);
            let (characters, lines) = size(row);
            let is_folded = folds_texts && (characters > LONGEST_TEXT.0 || lines > LONGEST_TEXT.1);
            let limit = is_folded.then(|| head_of(row));
            if let Some(rest) = self.draw_text(&block, at, 0, limit) {
                self.fold(place, &block, Rest::Text(at, rest), &row.path, |words| {
                    let characters = words.fill("fold.characters", |values| values.number("count", characters as u64));
                    let lines = words.fill("fold.lines", |values| values.number("count", lines as u64));
                    words.fill("fold.text", |values| {
                        values.text("characters", &characters);
                        values.text("lines", &lines);
                    })
                });
            }
        } else if bare && row.changes.is_empty() && row.hosts.is_empty() && !row.mixed {
            say(place, &row.text, &self.words.say("head.empty_text"));
        } else if row.text.is_empty() && row.changes.is_empty() {
            say(&place.add("span dir=auto", ""), "", &self.words.say("head.empty_text"));
        } else {
            self.draw_text(&place.add("span dir=auto", ""), at, 0, None);
        }
        if row.mixed {
            place.add("small part=mixed", &self.words.say("head.mixed"));
        }
        if !row.hosts.is_empty() {
            let says = self.words.fill("head.hosts", |values| values.strings("hosts", &row.hosts));
            place.add("small part=hosts dir=auto", &says);
        }
        self.spend(2 * row.changes.len());
    }

    /// Adds the text of a row, from a byte on, or its difference. Gives where it went beyond `limit` bytes.
    fn draw_text(&self, into: &Element, at: usize, from: usize, limit: Option<usize>) -> Option<usize> {
        let mut skip = from;
        let mut left = limit.unwrap_or(usize::MAX);
        into.unset("data-cut");
        for (change, text) in pieces(self.row(at)?) {
            if skip >= text.len() {
                skip -= text.len();
                continue;
            }
            let rest = text.get(skip..).unwrap_or_default();
            let shown = rest.get(..floor(rest, left)).unwrap_or_default();
            skip = 0;
            draw_piece(into, change, shown, &self.words);
            left -= shown.len();
            if shown.len() < rest.len() {
                into.set("data-cut", "");
                return Some(from + limit.unwrap_or_default() - left);
            }
        }
        None
    }

    /// The characters of a text, shown as they are here.
    fn length(&self, at: usize) -> usize {
        self.row(at).map_or(0, |row| pieces(row).map(|(_, text)| text.chars().count()).sum())
    }

    fn characters(&self, at: usize, bytes: usize) -> usize {
        let mut left = bytes;
        let mut characters = 0;
        for (_, text) in self.row(at).into_iter().flat_map(pieces) {
            let shown = text.get(..text.len().min(left)).unwrap_or_default();
            characters += shown.chars().count();
            left -= shown.len();
        }
        characters
    }
}

/// Adds a piece of a difference, which says to those who see no marks what becomes of it.
pub fn draw_piece(into: &Element, change: Change, text: &str, words: &Words) {
    let (tag, key) = match change {
        Change::Same => {
            into.add("span", text);
            return;
        }
        Change::Removed => ("del", "head.removed"),
        Change::Added => ("ins", "head.added"),
    };
    let mark = into.add(tag, "");
    mark.add("span class=unseen dir=auto", &[&words.say(key), " "].concat());
    mark.add("span", text);
}

/// The number in the name of a list's item.
fn number_of(name: &str) -> Option<&str> {
    let number = name.strip_prefix('[')?.strip_suffix(']')?;
    number.bytes().all(|byte| byte.is_ascii_digit()).then_some(number)
}

/// Its difference, or its text as one that stays.
fn pieces(row: &Row) -> impl Iterator<Item = (Change, &str)> {
    let whole = row.changes.is_empty().then_some((Change::Same, row.text.as_str()));
    whole.into_iter().chain(row.changes.iter().map(|piece| (piece.change, piece.text.as_str())))
}

/// Characters and lines of all that is to be read of a value.
fn size(row: &Row) -> (usize, usize) {
    if row.changes.is_empty() {
        return row.size;
    }
    let sizes = row.changes.iter().map(|piece| (piece.text.chars().count(), piece.text.lines().count()));
    sizes.fold((0, 0), |(characters, lines), size| (characters + size.0, lines + size.1))
}

fn is_block(row: &Row) -> bool {
    row.long || size(row).0 > LONGEST_TEXT.0 || row.changes.iter().any(|piece| piece.text.contains('\n'))
}

/// How many bytes of a text are shown while the rest is folded.
fn head_of(row: &Row) -> usize {
    let (mut bytes, mut characters, mut lines) = (0, 0, 0);
    for character in pieces(row).flat_map(|(_, text)| text.chars()) {
        if characters == HEAD_OF_TEXT.0 || lines == HEAD_OF_TEXT.1 {
            break;
        }
        bytes += character.len_utf8();
        characters += 1;
        lines += usize::from(character == '\n');
    }
    bytes
}

/// The last end of a character at or before this byte.
fn floor(text: &str, at: usize) -> usize {
    (0..=at.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}
