//! What the cards and their guard ask of elements, and no more: each binding costs bytes on both sides.
//!
//! None of these can throw with the names and the nodes that this crate gives them, so that none is declared to: what
//! comes back from a call that may fail must be looked at, and all that was made must be dropped, at every step.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// An element; also a shadow root, as far as it has the same members.
    #[derive(Clone, PartialEq)]
    pub type Element;

    #[wasm_bindgen(js_namespace = document, js_name = createElement)]
    fn create(tag: &str) -> Element;

    #[wasm_bindgen(method, js_name = setAttribute)]
    pub fn set(this: &Element, attribute: &str, value: &str);

    #[wasm_bindgen(method, js_name = removeAttribute)]
    pub fn unset(this: &Element, attribute: &str);

    #[wasm_bindgen(method, js_name = hasAttribute)]
    pub fn has(this: &Element, attribute: &str) -> bool;

    #[wasm_bindgen(method, getter = textContent)]
    pub fn text(this: &Element) -> String;

    /// Replaces all content.
    #[wasm_bindgen(method, setter = textContent)]
    pub fn set_text(this: &Element, text: &str);

    /// Through the CSSOM, which a policy of `style-src 'none'` lets pass.
    #[wasm_bindgen(method, setter)]
    pub fn set_style(this: &Element, declarations: &str);

    #[wasm_bindgen(method, setter)]
    pub fn set_oninput(this: &Element, heard: &JsValue);

    /// Of an editor: what is wrong with the whole of it.
    #[wasm_bindgen(method, setter)]
    pub fn set_problem(this: &Element, problem: &str);

    #[wasm_bindgen(method, setter)]
    pub fn set_onclick(this: &Element, heard: &JsValue);

    /// Puts `other` ahead of this one.
    #[wasm_bindgen(method)]
    pub fn before(this: &Element, other: &Element);

    /// Puts `child` at the end where `next` is `None`.
    #[wasm_bindgen(method, js_name = insertBefore)]
    pub fn insert(this: &Element, child: &Element, next: Option<&Element>);

    #[wasm_bindgen(method)]
    pub fn remove(this: &Element);

    #[wasm_bindgen(method)]
    pub fn focus(this: &Element);

    #[wasm_bindgen(method)]
    pub fn contains(this: &Element, other: &Element) -> bool;

    #[wasm_bindgen(method)]
    pub fn matches(this: &Element, selector: &str) -> bool;

    /// A NodeList.
    #[wasm_bindgen(method, js_name = querySelectorAll)]
    pub fn all(this: &Element, selector: &str) -> js_sys::Object;

    #[wasm_bindgen(method, getter = firstChild)]
    pub fn first_child(this: &Element) -> Option<Element>;

    #[wasm_bindgen(method, getter = lastChild)]
    pub fn last_child(this: &Element) -> Option<Element>;

    /// Puts `sibling` behind this.
    #[wasm_bindgen(method)]
    pub fn after(this: &Element, sibling: &Element);

    #[wasm_bindgen(method, getter = nextSibling)]
    pub fn next_sibling(this: &Element) -> Option<Element>;

    /// Of a shadow root.
    #[wasm_bindgen(method, getter = activeElement)]
    pub fn active_element(this: &Element) -> Option<Element>;

    #[wasm_bindgen(method, getter = offsetHeight)]
    pub fn height(this: &Element) -> u32;

    /// Of a field.
    #[wasm_bindgen(method, getter)]
    pub fn value(this: &Element) -> String;
}

impl Element {
    /// A new element: its tag and its attributes, as in `div part=title dir=auto`. No value has a space.
    pub fn new(recipe: &str) -> Self {
        let mut words = recipe.split(' ');
        let element = create(words.next().unwrap_or_default());
        for (attribute, value) in words.filter_map(|word| word.split_once('=')) {
            element.set(attribute, value);
        }
        element
    }

    /// A new element with a text, at the end of this one.
    pub fn add(&self, recipe: &str, text: &str) -> Self {
        let child = Self::new(recipe);
        child.set_text(text);
        self.insert(&child, None);
        child
    }
}
