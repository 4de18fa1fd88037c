//! How much room a note has left, once that gets short.

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
    /// Called at every input; held for that.
    _hear: Closure<dyn FnMut()>,
}

impl Counter {
    /// Counts for `note`; the number stands ahead of it.
    pub fn new(note: &Element, voice: &Rc<Voice>, words: &Words) -> Self {
        note.set("maxlength", &MOST.to_string());
        // Within the field's label, but no part of its name.
        let shown = Element::new("small part=left aria-hidden=true");
        note.before(&shown);
        let (field, voice, words) = (note.clone(), voice.clone(), words.clone());
        let mut before = MOST;
        let hear = Closure::<dyn FnMut()>::new(move || {
            let left = MOST.saturating_sub(field.value().encode_utf16().count());
            let text = if left > SHOWN {
                String::new()
            } else {
                words.fill("note.left", |values| values.number("count", left as u64))
            };
            if SAID.iter().any(|step| (left..before).contains(step)) {
                voice.say(&text);
            }
            shown.set_text(&text);
            before = left;
        });
        note.set_oninput(hear.as_ref());
        Self { note: note.clone(), _hear: hear }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.note.set_oninput(&JsValue::NULL);
    }
}
