//! Event listeners that end when they are dropped.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Event, EventTarget};

/// A listener; it is removed when this is dropped.
#[must_use = "a listener ends when it is dropped"]
pub struct Listener {
    target: EventTarget,
    kind: &'static str,
    capture: bool,
    heard: Closure<dyn Fn(Event)>,
}

impl Listener {
    /// Listens on the target for events that reach or bubble to it; `capture` also hears, first, what is on its way
    /// to targets below.
    pub fn new(
        target: &EventTarget,
        kind: &'static str,
        capture: bool,
        heard: impl Fn(Event) + 'static,
    ) -> Result<Self, JsValue> {
        let heard = Closure::<dyn Fn(Event)>::new(heard);
        target.add_event_listener_with_callback_and_bool(kind, heard.as_ref().unchecked_ref(), capture)?;
        Ok(Self { target: target.clone(), kind, capture, heard })
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        let heard = self.heard.as_ref().unchecked_ref();
        let _ = self.target.remove_event_listener_with_callback_and_bool(self.kind, heard, self.capture);
    }
}
