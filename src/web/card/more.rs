//! What else can be done with a card, behind a button that opens it: less often wanted than the decisions, and reached by
//! Tab after them.

use wasm_bindgen::prelude::*;

use super::words::Words;
use crate::web::element::Element;

/// The button and what it opens.
pub struct More {
    area: Element,
    toggle: Element,
    inside: Element,
    _hear: Closure<dyn Fn()>,
}

impl More {
    /// Closed, and nowhere in the page yet; `id` is unique within the shadow root.
    pub fn new(id: &str, words: &Words) -> Self {
        let area = Element::new("div class=more");
        let toggle = area.add("button part=more type=button aria-expanded=false", &words.say("ask.more"));
        let inside = area.add("div part=secondary hidden=", "");
        inside.set("id", id);
        toggle.set("aria-controls", id);
        let (button, opens) = (toggle.clone(), inside.clone());
        let hear = Closure::<dyn Fn()>::new(move || {
            show(&button, &opens, opens.has("hidden"));
        });
        toggle.set_onclick(hear.as_ref());
        Self { area, toggle, inside, _hear: hear }
    }

    /// The button with what it opens.
    pub const fn area(&self) -> &Element {
        &self.area
    }

    /// Opens it.
    pub fn open(&self) {
        show(&self.toggle, &self.inside, true);
    }

    /// What the button opens.
    pub const fn inside(&self) -> &Element {
        &self.inside
    }
}

impl Drop for More {
    fn drop(&mut self) {
        self.toggle.set_onclick(&JsValue::NULL);
    }
}

fn show(toggle: &Element, inside: &Element, is_open: bool) {
    toggle.set("aria-expanded", if is_open { "true" } else { "false" });
    if is_open {
        inside.unset("hidden");
    } else {
        inside.set("hidden", "");
    }
}
