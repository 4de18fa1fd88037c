//! Whether something lies over a button or changes its look, as far as a page finds out by itself.
//!
//! The intersection observer tells more where it has `isVisible`, as in Chromium: it also sees what lets clicks through
//! and what lies over the frame that the page is in. But it tells late, and of most browsers it is not there. So at
//! every look, and at the click, the page is asked which element is hit at five points of the button, and the styles
//! are read of all that the button stands in.

use wasm_bindgen::prelude::*;

use super::Rect;
use crate::web::element::Element;

/// Shares of a button's width and height that lie inside its corners even if it is an ellipse.
const NEAR: f64 = 0.15;
const FAR: f64 = 0.85;
const POINTS: [(f64, f64); 5] = [(0.5, 0.5), (NEAR, NEAR), (FAR, NEAR), (NEAR, FAR), (FAR, FAR)];

#[wasm_bindgen]
extern "C" {
    type Style;
    #[wasm_bindgen(js_name = getComputedStyle)]
    fn style(element: &Element) -> Style;
    #[wasm_bindgen(method, getter)]
    fn opacity(this: &Style) -> String;
    #[wasm_bindgen(method, getter)]
    fn filter(this: &Style) -> String;

    /// A shadow root or the document.
    type Tree;
    #[wasm_bindgen(method, js_name = getRootNode)]
    fn tree(this: &Element) -> Tree;
    #[wasm_bindgen(method, getter)]
    fn host(this: &Tree) -> Option<Element>;
    #[wasm_bindgen(method, js_name = elementFromPoint)]
    fn hit(this: &Tree, x: f64, y: f64) -> Option<Element>;

    #[wasm_bindgen(method, getter = assignedSlot)]
    fn slot(this: &Element) -> Option<Element>;
    #[wasm_bindgen(method, getter = parentElement)]
    fn parent(this: &Element) -> Option<Element>;
}

/// Looks at the button, which stands at `place`.
pub fn is_covered(button: &Element, place: &Rect) -> bool {
    // One that is in no page has no size, and no tree that could be asked.
    place.height() == 0.0
        || !POINTS
            .iter()
            .all(|(across, down)| is_hit(button, place.x() + across * place.width(), place.y() + down * place.height()))
        || !is_plain(button)
}

/// Whether a pointer there would meet the button: what is hidden is not met, nor what lies under something that takes
/// clicks. A shadow root knows only of what is in it, and closed ones cannot be entered from outside: so each is asked,
/// from the button's own outwards.
fn is_hit(button: &Element, x: f64, y: f64) -> bool {
    let mut inner = button.clone();
    loop {
        let tree = inner.tree();
        if !tree.hit(x, y).is_some_and(|hit| inner.contains(&hit)) {
            return false;
        }
        match tree.host() {
            Some(host) => inner = host,
            None => return true,
        }
    }
}

/// Whether nothing that the button stands in, in the order in which they are drawn, lets it shine through or filters it.
fn is_plain(button: &Element) -> bool {
    let mut next = Some(button.clone());
    while let Some(element) = next {
        let style = style(&element);
        if style.opacity() != "1" || style.filter() != "none" {
            return false;
        }
        next = element.slot().or_else(|| element.parent()).or_else(|| element.tree().host());
    }
    true
}
