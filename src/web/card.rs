//! The approval cards in the page: the core's view, placed as text nodes.
//!
//! Nothing here parses HTML, writes a `style` attribute or makes a `<style>` element, so that it works under a policy
//! of `style-src 'none'` and under Trusted Types.

mod arguments;
mod around;
mod asking;
mod bulk;
mod counter;
mod deadline;
mod draft;
mod edit;
mod entry;
mod head;
mod keys;
mod modal;
mod more;
mod progress;
mod reason;
mod receipt;
mod region;
mod scopes;
mod shown;
mod words;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::Array;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::ShadowRoot;

use super::driver::Draft;
use super::element::Element;
pub use super::guard::{Allowed, Choice, Decided, Until};
use super::guard::{Refused, Root, Watch};
use crate::core::approval::RequestKind;
use crate::core::card::Card;
use crate::core::outcome::{DenyReason, PersonId};
pub use around::Around;
use bulk::Bulk;
pub use edit::Edits;
use entry::Entry;
use head::title;
use keys::{Keys, Pressed};
use modal::Modal;
pub use progress::Progress;
use region::Voice;
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
    inner: Rc<Inner>,
    /// Held for what it hears.
    _keys: Keys,
}

struct Inner {
    root: Element,
    /// What everything stands in; a dialog where the host wants one.
    frame: Element,
    list: Element,
    bulk: Bulk,
    modal: Option<Modal>,
    around: Around,
    voice: Rc<Voice>,
    entries: RefCell<Vec<Rc<Entry>>>,
    /// Numbers of cards made so far.
    made: Cell<u32>,
    /// Whether `update` has been called: what is there from the start is not news.
    updated: Cell<bool>,
    watch: Rc<Watch>,
    words: Words,
    edits: Option<Rc<Edits>>,
}

impl CardList {
    /// An empty list. `decide` is called for every click that counts, once for each call it decides about, and may drop the
    /// list. Without `edits` no arguments can be changed.
    pub fn new(
        root: &ShadowRoot,
        decide: Rc<dyn Fn(Decided)>,
        words: Words,
        around: Around,
        edits: Option<Rc<Edits>>,
    ) -> Result<Self, JsValue> {
        let styled: &Styled = root.unchecked_ref();
        let sheet = Sheet::new()?;
        // What the sheet cannot say itself, since a page would download it: every colour comes twice, for light and dark,
        // and a page overrides it with a --countersign-* property. In arguments spaces count, also the last ones of a
        // line: the tint shows where a text begins and ends. Of the gradients behind a long text the last two are shades at
        // the edges; the first two scroll with the text and cover a shade where it ends. `plaintext` isolates, and has a
        // text without letters, such as -5, read from left to right in any card.
        sheet.replace(concat!(
            include_str!("card/tokens.css"),
            include_str!("card/card.css"),
            include_str!("card/arguments.css"),
            include_str!("card/asking.css"),
        ));
        styled.set_sheets(&Array::of1(&sheet))?;
        let watched: &Root = root.unchecked_ref();
        let root: Element = root.unchecked_ref::<Element>().clone();
        let frame = Modal::frame(&root, &around);
        frame.set("lang", &words.locale());
        frame.set("dir", &words.direction());
        // It takes the focus where nothing else is left to.
        let list = frame.add("div class=list tabindex=-1", "");
        let voice = Voice::new(&words);
        let inner = Rc::new_cyclic(|weak: &Weak<Inner>| {
            let all = weak.clone();
            let decide = Rc::new(move |decided: Decided| {
                let Some(inner) = all.upgrade() else { return };
                let several = inner.bulk.decisions(decided.choice);
                if matches!(decided.choice, Choice::DenyAll | Choice::ApproveSelected) {
                    several.into_iter().for_each(|one| decide(one));
                } else {
                    decide(decided);
                }
            });
            let all = weak.clone();
            let refuse = Rc::new(move |refused: Refused| {
                if let Some(inner) = all.upgrade() {
                    inner.refuse(&refused);
                }
            });
            let watch = Watch::new(watched, decide, refuse, &words.say("refused.covered"));
            Inner {
                bulk: Bulk::new(&frame, &list, &watch, &words),
                modal: Modal::new(&root, &frame, &voice, &around, &words),
                root,
                frame,
                list,
                around,
                voice,
                entries: RefCell::default(),
                made: Cell::new(0),
                updated: Cell::new(false),
                watch,
                words,
                edits,
            }
        });
        let heard = Rc::downgrade(&inner);
        let keys = Keys::new(&inner.frame, move |pressed, event| {
            if let Some(inner) = heard.upgrade() {
                inner.press(pressed, event);
            }
        });
        Ok(Self { inner, _keys: keys })
    }

    /// Shows these cards, in this order, to this person. A card that is there already keeps its elements, the note being typed, the
    /// focus and its arming as far as nothing about it changed.
    pub fn update(&self, cards: &[Card], by: Option<&PersonId>, note_reaches_model: bool) {
        self.inner.update(cards, by, note_reaches_model);
    }

    /// What is begun on cards that wait, by this person.
    pub fn drafts(&self, by: Option<&PersonId>) -> Vec<Draft> {
        let focused = self.inner.root.active_element();
        self.inner.entries.borrow().iter().filter_map(|entry| entry.draft(by, focused.as_ref())).collect()
    }

    /// The reason that goes with a denial of this request, if the person chose one.
    pub fn reason(&self, request: &str) -> Option<DenyReason> {
        self.inner.entry(request)?.reason()
    }

    /// Shows on its card how a decision about a request stands.
    pub fn progress(&self, request: &str, progress: &Progress) {
        if let Some(entry) = self.inner.entry(request) {
            entry.progress(progress);
            self.inner.bulk.recount();
        }
    }
}

impl Inner {
    fn entry(&self, request: &str) -> Option<Rc<Entry>> {
        self.entries.borrow().iter().find(|entry| entry.request() == request).cloned()
    }

    /// Says of a click that it decided nothing.
    fn refuse(&self, refused: &Refused) {
        let says = self.words.say(refused.why);
        match self.entry(&refused.request) {
            Some(entry) => entry.trouble(&says),
            None => self.bulk.trouble(&says, &self.voice),
        }
    }

    fn update(&self, cards: &[Card], by: Option<&PersonId>, note_reaches_model: bool) {
        let before = self.entries.borrow().clone();
        let focused = self.root.active_element();
        // The list of before is there for another moment, and takes the focus along when it goes.
        let was_elsewhere =
            !self.updated.get() && focused.as_ref().is_some_and(|element| !self.frame.contains(element));
        let was_in_bar = focused.as_ref().is_some_and(|element| self.bulk.has(element));
        let focused = focused.and_then(|element| before.iter().find(|entry| entry.group().contains(&element)));
        let waits = |entries: &[Rc<Entry>]| entries.iter().filter(|entry| entry.is_pending()).count();
        let was_waiting = waits(&before);
        let was_pending = focused.is_some_and(|entry| entry.is_pending());

        let mut now = Vec::with_capacity(cards.len());
        let mut said = Vec::new();
        let mut has_declined = false;
        let mut news = false;
        let mut refocus = None;
        for card in cards {
            if let Some(entry) = before.iter().find(|entry| entry.is_for(card)) {
                if let Some(outcome) = entry.update(card, note_reaches_model) {
                    has_declined |= outcome.starts_with("decided.");
                    said.push(self.words.fill("outcome.said", |values| {
                        values.text("title", title(&card.view));
                        values.text("outcome", &self.words.say(outcome));
                    }));
                }
                now.push(entry.clone());
            } else {
                let number = self.made.get();
                self.made.set(number + 1);
                let entry = Entry::new(
                    number,
                    card,
                    note_reaches_model,
                    &self.watch,
                    &self.voice,
                    &self.words,
                    self.edits.as_deref(),
                );
                if entry.is_pending()
                    && let Some(draft) = self.edits.as_ref().and_then(|edits| edits.draft(entry.request(), by))
                {
                    refocus = entry.restore(&draft).or(refocus);
                }
                news |= entry.is_pending();
                now.push(Rc::new(entry));
            }
        }
        self.place(&now);
        self.entries.replace(now.clone());
        let waiting = waits(&now);
        // Who decides about the last one has the focus on its receipt.
        if said.len() == 1 && waiting == 0 && was_pending && has_declined {
            said.clear();
        }
        self.announce(cards, news, said);

        // Focusing runs the page's own handlers, so nothing is borrowed here; and it comes before anything is taken
        // out, so that the focus never falls back to the body.
        if let Some(modal) = &self.modal {
            let first = now.iter().find_map(|entry| Some((entry.deny()?.clone(), entry.described_by())));
            modal.update(waiting, first, news);
        }
        if was_elsewhere {
            refocus.as_ref().unwrap_or(&self.list).focus();
        }
        match focused {
            Some(entry) if !holds(&now, entry) || was_pending && !entry.is_pending() => self.go_on(Some(entry), &now),
            _ => {}
        }
        if was_in_bar && now.iter().filter(|entry| entry.is_one_of_several()).count() < 2 {
            self.go_on(None, &now);
        }
        self.bulk.update(&now);
        for entry in &before {
            if !holds(&now, entry) {
                entry.group().remove();
            }
            entry.tidy();
        }
        if news || was_waiting != waiting {
            // What stands elsewhere now must not take the click that was on its way.
            self.watch.look();
        }
    }

    /// Moves the focus from a card that was settled or taken out, or from the bar, to the next card that waits, never to
    /// one of its buttons; else to a receipt, else out of the cards; never to nothing.
    fn go_on(&self, from: Option<&Rc<Entry>>, now: &[Rc<Entry>]) {
        let after = now.iter().skip_while(|other| from.is_some_and(|from| !Rc::ptr_eq(other, from)));
        let next = after.chain(now).find(|other| other.is_pending());
        let receipt = || from.filter(|from| holds(now, from)).or(now.last()).and_then(|entry| entry.receipt());
        match next.map(|next| next.group()).or_else(receipt) {
            Some(target) => target.focus(),
            None => self.leave(),
        }
    }

    /// Moves the focus to the page's composer, or where there is none to the list itself.
    fn leave(&self) {
        if !self.around.leave() {
            self.list.focus();
        }
    }

    fn press(&self, pressed: Pressed, event: &keys::Heard) {
        let target = event.target();
        let entry = self.entries.borrow().iter().find(|entry| *entry.group() == target).cloned();
        match (pressed, entry) {
            // The dialog closes by itself, and leaves then.
            (Pressed::Escape, _) if self.modal.as_ref().is_some_and(Modal::is_open) => {}
            (Pressed::Escape, _) if self.around.leave() => event.prevent_default(),
            // Whoever holds or repeats the keys of the card before has not read this one.
            (Pressed::Focused, Some(entry)) if self.around.shortcuts() => entry.rearm(),
            (Pressed::Focused, None) => keys::reveal(&target),
            (Pressed::ModEnter, Some(entry)) if self.around.shortcuts() => entry.shortcut(event),
            _ => {}
        }
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

    /// Says what came of calls, and what waits when something was added to it; takes that back when there is less: the same
    /// sentence may be news again later.
    fn announce(&self, cards: &[Card], news: bool, mut said: Vec<String>) {
        let waiting = cards.iter().filter(|card| card.receipt.is_none());
        let only_approvals =
            waiting.clone().all(|card| matches!(card.view.kind, RequestKind::Approval | RequestKind::Recovery));
        let titles: Vec<String> = waiting.map(|card| title(&card.view).to_owned()).collect();
        let fewer = self.voice.note(titles, only_approvals);
        let first = !self.updated.replace(true);
        if news && !first {
            said.push(self.voice.waiting());
        }
        if fewer || !said.is_empty() {
            self.voice.say(&said.join(" "));
        }
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.frame.remove();
    }
}

fn holds(entries: &[Rc<Entry>], entry: &Rc<Entry>) -> bool {
    entries.iter().any(|other| Rc::ptr_eq(other, entry))
}
