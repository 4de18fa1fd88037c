//! What keys do within the cards, beside what they do on buttons and fields. No single letter does anything.

use js_sys::{Object, Reflect};
use wasm_bindgen::prelude::*;

use crate::web::element::Element;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(method, js_name = scrollIntoView)]
    fn show(this: &Element, options: &Object);
    #[wasm_bindgen(method, js_name = addEventListener)]
    fn listen(this: &Element, kind: &str, hear: &JsValue);

    /// An event of a key or of the focus.
    pub type Heard;
    #[wasm_bindgen(method, getter = type)]
    fn kind(this: &Heard) -> String;
    #[wasm_bindgen(method, getter)]
    fn key(this: &Heard) -> Option<String>;
    #[wasm_bindgen(method, getter)]
    pub fn target(this: &Heard) -> Element;
    #[wasm_bindgen(method, getter = isComposing)]
    fn is_composing(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter = ctrlKey)]
    fn ctrl(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter = metaKey)]
    fn meta(this: &Heard) -> bool;
    #[wasm_bindgen(method, js_name = preventDefault)]
    pub fn prevent_default(this: &Heard);
}

/// Scrolls a field that got the focus into view: browsers do so for its caret, without regard to what sticks to the edges
/// of the page. Not for buttons: one that moves under a pointer is not the one that was pressed.
pub fn reveal(field: &Element) {
    if field.matches("textarea, select, input") {
        let options = Object::new();
        // A plain object takes any property.
        let _ = Reflect::set(&options, &"block".into(), &"nearest".into());
        field.show(&options);
    }
}

/// What was pressed, or happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pressed {
    /// Escape: the person leaves, and decides nothing.
    Escape,
    /// Enter with Ctrl or Command.
    ModEnter,
    /// Something within got the focus.
    Focused,
}

/// Listens until it is dropped.
pub struct Keys {
    /// Held for the listening.
    _hear: Closure<dyn Fn(Heard)>,
}

impl Keys {
    /// Tells `press` of what is pressed within `frame`, which goes away with this.
    pub fn new(frame: &Element, press: impl Fn(Pressed, &Heard) + 'static) -> Self {
        let hear = Closure::<dyn Fn(Heard)>::new(move |heard: Heard| {
            let pressed = match (heard.kind().as_str(), heard.key().as_deref()) {
                ("focusin", _) => Pressed::Focused,
                // Within an input method Escape takes back what is being written.
                (_, Some("Escape")) if !heard.is_composing() => Pressed::Escape,
                (_, Some("Enter")) if heard.ctrl() || heard.meta() => Pressed::ModEnter,
                _ => return,
            };
            press(pressed, &heard);
        });
        frame.listen("keydown", hear.as_ref());
        frame.listen("focusin", hear.as_ref());
        Self { _hear: hear }
    }
}
