//! Until when a card waits, and the button that gives it more time.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::region::Voice;
use super::words::Words;
use crate::core::json::Writer;
use crate::web::element::Element;
use crate::web::platform;

/// How long before its end that is said, in milliseconds.
const SOON: u64 = 60_000;
/// The longest that a timer can be set to, in milliseconds; further off it is set again.
const LONGEST: u64 = 0x7fff_ffff;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(hear: &JsValue, wait: f64) -> i32;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: i32);
}

/// The line of one card, until it is dropped.
pub struct Deadline {
    line: Element,
    inner: Rc<Inner>,
    /// Called by the timer; held for that.
    _hear: Closure<dyn Fn()>,
}

struct Inner {
    title: String,
    voice: Rc<Voice>,
    words: Words,
    /// When the request lapses; `None` while it waits for ever.
    at: Cell<Option<u64>>,
    /// Zero is none.
    timer: Cell<i32>,
    /// What the timer calls.
    hear: RefCell<JsValue>,
}

impl Deadline {
    /// A line that says nothing yet, at the beginning of `asking`. `button` is the one that gives more time.
    pub fn new(asking: &Element, id: &str, button: &Element, title: &str, voice: &Rc<Voice>, words: &Words) -> Self {
        let area = Element::new("div part=deadline");
        asking.insert(&area, asking.first_child().as_ref());
        let line = area.add("span", "");
        line.set("id", id);
        button.set_text(&words.say("deadline.extend"));
        area.insert(button, None);
        let inner = Rc::new(Inner {
            title: title.to_owned(),
            voice: voice.clone(),
            words: words.clone(),
            at: Cell::new(None),
            timer: Cell::new(0),
            hear: RefCell::new(JsValue::UNDEFINED),
        });
        let heard = inner.clone();
        let hear = Closure::<dyn Fn()>::new(move || heard.look());
        inner.hear.replace(hear.as_ref().clone());
        Self { line, inner, _hear: hear }
    }

    /// Shows until when the request waits. The last minute is said as it begins, once for each end.
    pub fn set(&self, at: Option<u64>) {
        if self.inner.at.replace(at) == at {
            return;
        }
        let says = at.map(|at| self.inner.words.fill("deadline.until", |values| time(values, at)));
        self.line.set_text(&says.unwrap_or_default());
        self.inner.schedule();
    }
}

impl Drop for Deadline {
    fn drop(&mut self) {
        clear_timeout(self.inner.timer.get());
    }
}

impl Inner {
    /// Sets the timer for the beginning of the last minute. It only says when to look: in a hidden page it comes late.
    fn schedule(&self) {
        clear_timeout(self.timer.take());
        let Some(wait) = self.at.get().and_then(|at| at.checked_sub(SOON + platform::now())) else { return };
        self.timer.set(set_timeout(&self.hear.borrow(), wait.min(LONGEST) as f64));
    }

    fn look(&self) {
        self.timer.take();
        let Some(at) = self.at.get() else { return };
        let now = platform::now();
        if now + SOON < at {
            self.schedule();
        } else if now < at {
            self.voice.say(&self.words.fill("deadline.soon", |values| values.text("title", &self.title)));
        }
    }
}

/// Writes a time as the value `time` of a message.
pub fn time(values: &mut Writer, at: u64) {
    values.key("time");
    values.open('{');
    values.number("at", at);
    values.close('}');
}
