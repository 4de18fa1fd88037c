//! The one place in the page where all its elements say politely what is new.
//!
//! One for all: assistive technology reads regions that change at once in any order, or only one of them. It stands in
//! the document and not in an element, so that it lasts when elements come and go, and is styled through the CSSOM, which
//! a policy of `style-src 'none'` lets pass.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;

use super::words::Words;
use crate::web::element::Element;

/// Out of sight, but not of the accessibility tree.
const HIDDEN: &str = "position:absolute;inline-size:1px;block-size:1px;margin:-1px;border:0;padding:0;overflow:hidden;\
                      clip-path:inset(50%);white-space:nowrap";

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = document, js_name = querySelector)]
    fn find(selector: &str) -> Option<Element>;
    #[wasm_bindgen(method, getter = isConnected)]
    fn is_connected(this: &Element) -> bool;
}

thread_local! {
    /// What speaks through the region.
    static VOICES: RefCell<Vec<Weak<Voice>>> = const { RefCell::new(Vec::new()) };
}

/// One list of cards, as far as it has something to say.
pub struct Voice {
    words: Words,
    /// The titles of what waits.
    waiting: RefCell<Vec<String>>,
    only_approvals: Cell<bool>,
}

impl Voice {
    /// A list that nothing waits in. The region is there from now on: one that comes with its text is not read.
    pub fn new(words: &Words) -> Rc<Self> {
        let voice =
            Rc::new(Self { words: words.clone(), waiting: RefCell::default(), only_approvals: Cell::new(true) });
        VOICES.with_borrow_mut(|voices| voices.push(Rc::downgrade(&voice)));
        region();
        voice
    }

    /// Notes what waits in this list; says whether there is less of it than before.
    pub fn note(&self, titles: Vec<String>, only_approvals: bool) -> bool {
        self.only_approvals.set(only_approvals);
        let now = titles.len();
        self.waiting.replace(titles).len() > now
    }

    /// The sentence about what waits in all lists of the page.
    pub fn waiting(&self) -> String {
        let voices: Vec<Rc<Self>> = VOICES.with_borrow(|voices| voices.iter().filter_map(Weak::upgrade).collect());
        let titles: Vec<String> = voices.iter().flat_map(|voice| voice.waiting.borrow().clone()).collect();
        let only_approvals = voices.iter().all(|voice| voice.only_approvals.get());
        self.words.fill(if only_approvals { "waiting.approvals" } else { "waiting.requests" }, |values| {
            values.number("count", titles.len() as u64);
            values.strings("titles", &titles);
        })
    }

    /// Says this in place of what was said before; nothing takes that back.
    pub fn say(&self, text: &str) {
        let Some(region) = region() else { return };
        region.set("lang", &self.words.locale());
        region.set("dir", &self.words.direction());
        region.set_text(text);
    }

    /// Takes the region into `place` for as long as nothing outside of that is read.
    pub fn speak_in(&self, place: Option<&Element>) {
        if let (Some(region), Some(place)) = (region(), place.cloned().or_else(|| find("body"))) {
            place.insert(&region, None);
        }
    }
}

impl Drop for Voice {
    fn drop(&mut self) {
        let none_left = VOICES.try_with(|voices| {
            voices.borrow_mut().retain(|voice| voice.strong_count() > 0);
            voices.borrow().is_empty()
        });
        if none_left == Ok(true)
            && let Some(region) = REGION.take()
        {
            region.remove();
        }
    }
}

thread_local! {
    static REGION: RefCell<Option<Element>> = const { RefCell::new(None) };
}

/// The region, which is made if it is not there; `None` in a document without a body.
fn region() -> Option<Element> {
    let known = REGION.with_borrow(Clone::clone).filter(Element::is_connected);
    if known.is_some() {
        return known;
    }
    // One may be left by a module that trapped.
    let region = find("[data-countersign=status]").or_else(|| {
        let region = Element::new("div role=status data-countersign=status");
        region.set_style(HIDDEN);
        find("body")?.insert(&region, None);
        Some(region)
    })?;
    REGION.replace(Some(region.clone()));
    Some(region)
}
