//! The approval cards in the page: the core's view, placed as text nodes.
//!
//! Nothing here parses HTML, writes a `style` attribute or makes a `<style>` element, so that it works under a policy
//! of `style-src 'none'` and under Trusted Types.

mod arguments;
mod asking;
mod edit;
mod entry;
mod head;
mod more;
mod receipt;
mod words;

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::ShadowRoot;

use super::element::Element;
pub use super::guard::{Choice, Decided};
use super::guard::{Root, Watch};
use crate::core::approval::RequestKind;
use crate::core::card::Card;
pub use edit::Edits;
use entry::Entry;
use head::title;
pub use words::Words;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = CSSStyleSheet)]
    type Sheet;
    #[wasm_bindgen(constructor, js_class = "CSSStyleSheet", catch)]
    fn new() -> Result<Sheet, JsValue>;
    #[wasm_bindgen(method, js_name = replaceSync)]
    fn replace(this: &Sheet, rules: &str);

    /// The shadow root of the cards.
    type Styled;
    #[wasm_bindgen(method, setter = adoptedStyleSheets, catch)]
    fn set_sheets(this: &Styled, sheets: &Array) -> Result<(), JsValue>;
}

/// The cards in one shadow root. Dropping it takes them out of the page and decides nothing.
pub struct CardList {
    root: Element,
    list: Element,
    status: Element,
    entries: RefCell<Vec<Rc<Entry>>>,
    /// Numbers of cards made so far.
    made: Cell<u32>,
    /// Whether `update` has been called: what is there from the start is not news.
    updated: Cell<bool>,
    /// How many waited at the last `update`.
    waiting: Cell<usize>,
    watch: Rc<Watch>,
    words: Words,
    edits: Rc<Edits>,
}

impl CardList {
    /// An empty list. `decide` is called for every click that counts, and may drop the list.
    pub fn new(
        root: &ShadowRoot,
        decide: Rc<dyn Fn(Decided)>,
        words: Words,
        edits: Rc<Edits>,
    ) -> Result<Self, JsValue> {
        let styled: &Styled = root.unchecked_ref();
        let sheet = Sheet::new()?;
        // What the sheet cannot say itself, since a page would download it: every colour comes twice, for light and dark,
        // and a page overrides it with a --countersign-* property. In arguments spaces count, also the last ones of a
        // line: the tint shows where a text begins and ends. Of the gradients behind a long text the last two are shades at
        // the edges; the first two scroll with the text and cover a shade where it ends. `plaintext` isolates, and has a
        // text without letters, such as -5, read from left to right in any card.
        sheet.replace(include_str!("card/card.css"));
        styled.set_sheets(&Array::of1(&sheet))?;
        let watch = Watch::new(root.unchecked_ref::<Root>(), decide, &words.say("ask.covered"));
        let root: Element = root.unchecked_ref::<Element>().clone();
        let list = root.add("div class=list", "");
        let status = root.add("div class=status role=status", "");
        for part in [&list, &status] {
            part.set("lang", &words.locale());
            part.set("dir", &words.direction());
        }
        Ok(Self {
            list,
            status,
            root,
            entries: RefCell::default(),
            made: Cell::new(0),
            updated: Cell::new(false),
            waiting: Cell::new(0),
            watch,
            words,
            edits,
        })
    }

    /// Shows these cards, in this order. A card that is there already keeps its elements, the note being typed, the
    /// focus and its arming as far as nothing about it changed.
    pub fn update(&self, cards: &[Card], note_reaches_model: bool) -> Result<(), JsValue> {
        let before = self.entries.borrow().clone();
        let focused = self.root.active_element();
        let focused = focused.and_then(|element| before.iter().find(|entry| entry.group().contains(&element)));
        let was_pending = focused.is_some_and(|entry| entry.is_pending());

        let mut now = Vec::with_capacity(cards.len());
        let mut news = false;
        for card in cards {
            if let Some(entry) = before.iter().find(|entry| entry.is_for(card)) {
                entry.update(card, note_reaches_model);
                now.push(entry.clone());
            } else {
                let number = self.made.get();
                self.made.set(number + 1);
                let entry = Entry::new(number, card, note_reaches_model, &self.watch, &self.words, &self.edits);
                news |= entry.is_pending();
                now.push(Rc::new(entry));
            }
        }
        self.place(&now);
        self.entries.replace(now.clone());
        self.announce(cards, news);

        // Focusing runs the page's own handlers, so nothing is borrowed here; and it comes before anything is taken
        // out, so that the focus never falls back to the body.
        if let Some(entry) = focused
            && (was_pending || !holds(&now, entry))
            && let Some(target) = next_focus(entry, &now)
        {
            target.focus();
        }
        for entry in &before {
            if !holds(&now, entry) {
                entry.group().remove();
            }
            entry.tidy();
        }
        Ok(())
    }

    /// Puts the cards in order and moves none that stands right: a moved element loses the focus.
    fn place(&self, now: &[Rc<Entry>]) {
        let mut cursor = self.list.first_child();
        for entry in now {
            // Cards on their way out are still there.
            while let Some(node) = &cursor
                && !now.iter().any(|entry| entry.group() == node)
            {
                cursor = node.next_sibling();
            }
            match cursor {
                Some(node) if entry.group() == &node => cursor = node.next_sibling(),
                other => {
                    self.list.insert(entry.group(), other.as_ref());
                    cursor = other;
                }
            }
        }
    }

    /// Says what waits when something was added to it, and takes it back when there is less: the same sentence may be
    /// news again later.
    fn announce(&self, cards: &[Card], news: bool) {
        let waiting = cards.iter().filter(|card| card.receipt.is_none());
        let only_approvals =
            waiting.clone().all(|card| matches!(card.view.kind, RequestKind::Approval | RequestKind::Recovery));
        let titles: Vec<String> = waiting.map(|card| title(&card.view).to_owned()).collect();
        let fewer = self.waiting.replace(titles.len()) > titles.len();
        let first = !self.updated.replace(true);
        if news && !first {
            let key = if only_approvals { "waiting.approvals" } else { "waiting.requests" };
            self.status.set_text(&self.words.fill(key, |values| {
                values.number("count", titles.len() as u64);
                values.strings("titles", &titles);
            }));
        } else if fewer {
            self.status.set_text("");
        }
    }
}

impl Drop for CardList {
    fn drop(&mut self) {
        self.list.remove();
        self.status.remove();
    }
}

/// Where the focus goes from a card that was settled or taken out: to the next card that waits, never to one of its
/// buttons, else to the receipt. `None` while the card still waits.
fn next_focus<'a>(entry: &'a Rc<Entry>, now: &'a [Rc<Entry>]) -> Option<&'a Element> {
    if holds(now, entry) && entry.is_pending() {
        return None;
    }
    let after = now.iter().skip_while(|other| !Rc::ptr_eq(other, entry));
    let next = after.chain(now).find(|other| other.is_pending());
    match next {
        Some(next) => Some(next.group()),
        None if holds(now, entry) => entry.receipt(),
        // A receipt that was dismissed: to the last of the others.
        None => now.last().and_then(|last| last.receipt()),
    }
}

fn holds(entries: &[Rc<Entry>], entry: &Rc<Entry>) -> bool {
    entries.iter().any(|other| Rc::ptr_eq(other, entry))
}
