//! How much room a note has left, once that gets short.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::region::Voice;
use super::words::Words;
use crate::web::element::Element;

/// What a note may have, in UTF-16 units as the field counts them.
const MOST: usize = 500;
/// From how many on the room is shown.
const SHOWN: usize = 100;
/// At which steps it is said, too: not at every key.
const SAID: [usize; 3] = [SHOWN, 20, 0];

/// Counts for one note until it is dropped.
pub struct Counter {
    note: Element,
    /// Shows the room, and says it or not.
    count: Rc<dyn Fn(bool)>,
    /// Called at every input; held for that.
    _hear: Closure<dyn Fn()>,
}

impl Counter {
    /// Counts for `note`; the number stands ahead of it.
    pub fn new(note: &Element, voice: &Rc<Voice>, words: &Words) -> Self {
        note.set("maxlength", &MOST.to_string());
        // Within the field's label, but no part of its name.
        let shown = Element::new("small part=left aria-hidden=true");
        note.before(&shown);
        let (field, voice, words) = (note.clone(), voice.clone(), words.clone());
        let before = Cell::new(MOST);
        let count = Rc::new(move |says: bool| {
            let left = MOST.saturating_sub(field.value().encode_utf16().count());
            let text = if left > SHOWN {
                String::new()
            } else {
                words.fill("note.left", |values| values.number("count", left as u64))
            };
            if says && SAID.iter().any(|step| (left..before.get()).contains(step)) {
                voice.say(&text);
            }
            shown.set_text(&text);
            before.set(left);
        });
        let counts = count.clone();
        let hear = Closure::<dyn Fn()>::new(move || counts(true));
        note.set_oninput(hear.as_ref());
        Self { note: note.clone(), count, _hear: hear }
    }

    /// Shows how much room there is for what was filled in not by a person's keys.
    pub fn recount(&self) {
        (self.count)(false);
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.note.set_oninput(&JsValue::NULL);
    }
}
