//! Deciding about several cards at once: the bar above them, and the ticks on those that were read.
//!
//! "Deny all" is about the cards that stood there when it was armed, and "Approve selected" about those ticked then: whatever
//! comes, goes or changes starts the wait of both anew.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use super::entry::Entry;
use super::progress;
use super::region::Voice;
use super::words::Words;
use crate::web::element::Element;
use crate::web::guard::{Choice, Decided, Watch};

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = IntersectionObserver)]
    type Observer;
    #[wasm_bindgen(constructor, js_class = "IntersectionObserver")]
    fn new(hear: &JsValue) -> Observer;
    #[wasm_bindgen(method)]
    fn observe(this: &Observer, target: &Element);
    #[wasm_bindgen(method)]
    fn unobserve(this: &Observer, target: &Element);
    #[wasm_bindgen(method)]
    fn disconnect(this: &Observer);

    /// A click, or what the observer saw of a target.
    type Heard;
    #[wasm_bindgen(method, getter)]
    fn target(this: &Heard) -> Element;
    #[wasm_bindgen(method, getter = isIntersecting)]
    fn is_intersecting(this: &Heard) -> bool;
    #[wasm_bindgen(method, js_name = preventDefault)]
    fn prevent_default(this: &Heard);

    #[wasm_bindgen(method, getter)]
    fn checked(this: &Element) -> bool;
    #[wasm_bindgen(method, setter = checked)]
    fn uncheck(this: &Element, checked: bool);
}

type Hear = Closure<dyn Fn(JsValue)>;

/// The bar and the ticks of one list.
pub struct Bulk {
    inner: Rc<Inner>,
}

struct Inner {
    this: Weak<Inner>,
    /// What the bar stands in, and ahead of what.
    frame: Element,
    list: Element,
    bar: Element,
    deny: Element,
    approve: Element,
    /// Says why a click changed nothing.
    trouble: Element,
    watch: Rc<Watch>,
    words: Words,
    rows: RefCell<Vec<Rc<Row>>>,
    /// What each of the two buttons is about.
    all: RefCell<Vec<Covered>>,
    selected: RefCell<Vec<Covered>>,
    hear: RefCell<Option<Hear>>,
    observer: RefCell<Option<Observer>>,
}

/// A card in the state in which a button is about it.
#[derive(Clone, PartialEq)]
struct Covered {
    request: String,
    version: u32,
}

/// What a card among several has.
struct Row {
    entry: Rc<Entry>,
    label: Element,
    tick: Element,
    /// Why it cannot be set.
    why: Element,
    /// Where what is to be read begins and ends, as far as they were not in view yet.
    unread: RefCell<Vec<Element>>,
    edges: RefCell<Vec<Element>>,
    /// Whether the tick can be set.
    open: Cell<bool>,
}

impl Bulk {
    /// A bar that stands nowhere yet; it is put ahead of `list` into `frame`.
    pub fn new(frame: &Element, list: &Element, watch: &Rc<Watch>, words: &Words) -> Self {
        let bar = Element::new("div part=bulk role=group");
        bar.set("aria-label", &words.say("bulk.label"));
        let deny = bar.add("button part=deny-all type=button", "");
        let approve = bar.add("button part=approve-selected type=button", "");
        watch.guard(deny.clone(), "", Choice::DenyAll, &deny);
        watch.guard(approve.clone(), "", Choice::ApproveSelected, &approve);
        watch.busy(&approve, true);
        let inner = Rc::new_cyclic(|this| Inner {
            this: this.clone(),
            frame: frame.clone(),
            list: list.clone(),
            bar,
            deny,
            approve,
            trouble: Element::new("div part=problem class=said"),
            watch: watch.clone(),
            words: words.clone(),
            rows: RefCell::default(),
            all: RefCell::default(),
            selected: RefCell::default(),
            hear: RefCell::default(),
            observer: RefCell::default(),
        });
        let heard = Rc::downgrade(&inner);
        let hear = Closure::<dyn Fn(JsValue)>::new(move |heard_now: JsValue| {
            if let Some(inner) = heard.upgrade() {
                inner.hear(&heard_now);
            }
        });
        inner.observer.replace(Some(Observer::new(hear.as_ref())));
        inner.hear.replace(Some(hear));
        Self { inner }
    }

    /// Offers to decide about these at once, where there are several.
    pub fn update(&self, entries: &[Rc<Entry>]) {
        self.inner.update(entries);
    }

    /// Looks anew at which cards a decision is being stored for: the bar is about the others.
    pub fn recount(&self) {
        self.inner.count();
    }

    /// Says why a click on the bar changed nothing, until another one does or what it is about changes.
    pub fn trouble(&self, says: &str, voice: &Voice) {
        progress::show(&self.inner.trouble, &self.inner.bar, voice, says);
    }

    /// Whether the focus is in the bar.
    pub fn has(&self, focused: &Element) -> bool {
        self.inner.bar.contains(focused)
    }

    /// The decisions that a click on one of the two buttons stands for, one for each call.
    pub fn decisions(&self, choice: Choice) -> Vec<Decided> {
        self.inner.trouble.remove();
        let (covered, choice) = match choice {
            Choice::DenyAll => (&self.inner.all, Choice::Deny),
            Choice::ApproveSelected => (&self.inner.selected, Choice::Approve),
            _ => return Vec::new(),
        };
        let rows = self.inner.rows.borrow();
        let covered = covered.borrow();
        let rows = rows.iter().filter(|row| covered.iter().any(|covered| *covered == row.covered()));
        rows.map(|row| Decided { request: row.entry.request().to_owned(), choice, note: row.entry.note() }).collect()
    }
}

impl Drop for Bulk {
    fn drop(&mut self) {
        self.inner.clear();
        self.inner.watch.release(&self.inner.deny);
        self.inner.watch.release(&self.inner.approve);
        if let Some(observer) = self.inner.observer.take() {
            observer.disconnect();
        }
        // What hears holds nothing of this but weakly.
        self.inner.hear.take();
    }
}

impl Inner {
    fn update(&self, entries: &[Rc<Entry>]) {
        let waiting: Vec<&Rc<Entry>> = entries.iter().filter(|entry| entry.is_one_of_several()).collect();
        if waiting.len() < 2 {
            self.clear();
            self.count();
            return;
        }
        let before = self.rows.take();
        let (kept, gone): (Vec<_>, Vec<_>) =
            before.into_iter().partition(|row| waiting.iter().any(|entry| row.is_of(entry)));
        gone.iter().for_each(|row| self.remove(row));
        let rows = waiting
            .iter()
            .map(|entry| kept.iter().find(|row| row.is_of(entry)).cloned().unwrap_or_else(|| self.add(entry)));
        let rows = rows.collect();
        self.rows.replace(rows);
        // It stands ahead of the list, or nowhere.
        if self.bar.next_sibling().is_none() {
            self.frame.insert(&self.bar, Some(&self.list));
        }
        self.count();
    }

    /// A row for a card, with its tick ahead of what is asked there.
    fn add(&self, entry: &Rc<Entry>) -> Rc<Row> {
        let label = Element::new("label part=select");
        let tick = label.add("input type=checkbox autocomplete=off aria-disabled=true", "");
        label.add("span", &self.words.say("bulk.select"));
        let unread = label.add("small", &self.words.say("bulk.unread"));
        let reads = self.this.clone();
        let of = Rc::downgrade(entry);
        let told = Rc::new(move || {
            if let (Some(inner), Some(entry)) = (reads.upgrade(), of.upgrade()) {
                inner.reread(&entry);
            }
        });
        let edges = entry.take_in(&label, told);
        if let Some(hear) = &*self.hear.borrow() {
            tick.set_onclick(hear.as_ref());
        }
        if let Some(observer) = &*self.observer.borrow() {
            edges.iter().for_each(|edge| observer.observe(edge));
        }
        Rc::new(Row {
            entry: entry.clone(),
            label,
            tick,
            why: unread,
            unread: RefCell::new(edges.clone()),
            edges: RefCell::new(edges),
            open: Cell::new(false),
        })
    }

    fn remove(&self, row: &Row) {
        row.label.remove();
        row.tick.set_onclick(&JsValue::NULL);
        row.entry.let_go();
        self.watch_edges(row, Vec::new());
    }

    /// What is to be read is another, or goes on further down than before.
    fn reread(&self, entry: &Rc<Entry>) {
        let row = self.rows.borrow().iter().find(|row| row.is_of(entry)).cloned();
        if let Some(row) = row {
            self.watch_edges(&row, Vec::new());
            self.watch_edges(&row, entry.edges());
            row.close();
        }
        self.count();
    }

    /// Watches these edges of a row in place of those of before, which go.
    fn watch_edges(&self, row: &Row, edges: Vec<Element>) {
        let Some(observer) = &*self.observer.borrow() else { return };
        edges.iter().for_each(|edge| observer.observe(edge));
        for edge in row.edges.replace(edges) {
            observer.unobserve(&edge);
            edge.remove();
        }
    }

    fn clear(&self) {
        let rows = self.rows.take();
        rows.iter().for_each(|row| self.remove(row));
        self.bar.remove();
    }

    fn hear(&self, heard: &JsValue) {
        if Array::is_array(heard) {
            self.seen(heard.unchecked_ref());
        } else {
            let click: &Heard = heard.unchecked_ref();
            let tick = click.target();
            if self.rows.borrow().iter().any(|row| row.tick == tick && !row.open.get()) {
                click.prevent_default();
            }
        }
        self.count();
    }

    fn seen(&self, all: &Array) {
        for seen in all.iter() {
            let seen: Heard = seen.unchecked_into();
            if seen.is_intersecting() {
                let edge = seen.target();
                self.rows.borrow().iter().for_each(|row| row.read(&edge));
            }
        }
    }

    /// Says how many each button is about, and starts its wait anew where that changed.
    fn count(&self) {
        let rows = self.rows.borrow();
        let open: Vec<&Rc<Row>> = rows.iter().filter(|row| !row.entry.is_busy()).collect();
        let all: Vec<Covered> = open.iter().map(|row| row.covered()).collect();
        let ticked = open.iter().filter(|row| row.open.get() && row.tick.checked() && !row.entry.is_held());
        let selected: Vec<Covered> = ticked.map(|row| row.covered()).collect();
        drop(open);
        drop(rows);
        let say = |button: &Element, key: &str, count: usize| {
            button.set_text(&self.words.fill(key, |values| values.number("count", count as u64)));
        };
        if *self.all.borrow() != all {
            self.trouble.remove();
            say(&self.deny, "bulk.deny", all.len());
            self.watch.busy(&self.deny, all.is_empty());
            // The cards beside those that are selected are others now.
            self.watch.rearm(&self.approve);
        }
        if *self.selected.borrow() != selected || self.approve.first_child().is_none() {
            say(&self.approve, "bulk.approve", selected.len());
            self.watch.busy(&self.approve, selected.is_empty());
        }
        self.all.replace(all);
        self.selected.replace(selected);
    }
}

impl Row {
    fn is_of(&self, entry: &Rc<Entry>) -> bool {
        Rc::ptr_eq(&self.entry, entry)
    }

    fn covered(&self) -> Covered {
        Covered { request: self.entry.request().to_owned(), version: self.entry.version() }
    }

    fn close(&self) {
        self.unread.replace(self.edges.borrow().clone());
        self.open.set(false);
        self.tick.set("aria-disabled", "true");
        self.tick.uncheck(false);
        self.label.insert(&self.why, None);
    }

    /// Notes that an edge was in view. Once all were, and nothing is folded, the card can be selected.
    fn read(&self, edge: &Element) {
        self.unread.borrow_mut().retain(|unread| unread != edge);
        if self.unread.borrow().is_empty() && !self.entry.is_held() && !self.open.replace(true) {
            self.tick.unset("aria-disabled");
            self.why.remove();
            self.label.unset("title");
        }
    }
}

/// Marks where what is to be read in a card begins and ends, also in texts that scroll.
pub fn edges(group: &Element, head: &Element, foot: &Element) -> Vec<Element> {
    let mark = |place: &Element, next: Option<&Element>| {
        let edge = Element::new("i class=edge aria-hidden=true");
        place.insert(&edge, next);
        edge
    };
    let scrolling = Array::from(&head.all(".block"));
    let ends = scrolling.iter().map(|block| mark(block.unchecked_ref(), None));
    ends.chain([mark(group, Some(head)), mark(group, Some(foot))]).collect()
}
