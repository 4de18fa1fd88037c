//! Makes elements whose only content is text.

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, HtmlElement, Node};

/// A new element; `part` is its name for the page's style sheets, none if empty.
pub fn element(document: &Document, tag: &str, part: &str) -> Result<HtmlElement, JsValue> {
    let element: HtmlElement = document.create_element(tag)?.unchecked_into();
    if !part.is_empty() {
        element.set_attribute("part", part)?;
    }
    Ok(element)
}

/// A new element at the end of `parent`.
pub fn child(document: &Document, parent: &Node, tag: &str, part: &str) -> Result<HtmlElement, JsValue> {
    let child = element(document, tag, part)?;
    parent.append_child(&child)?;
    Ok(child)
}

/// A new element with a text, at the end of `parent`.
pub fn text(document: &Document, parent: &Node, tag: &str, part: &str, text: &str) -> Result<HtmlElement, JsValue> {
    let child = child(document, parent, tag, part)?;
    child.set_text_content(Some(text));
    Ok(child)
}
