//! What the element says of itself and of the page around it.

use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// `Shown` of `www/src/element.ts`.
    #[derive(Clone)]
    pub type Around;

    /// Moves the focus to the page's composer; false where there is none that takes it.
    #[wasm_bindgen(method)]
    pub fn leave(this: &Around) -> bool;

    /// Whether a card that has the focus itself takes Mod+Enter.
    #[wasm_bindgen(method, getter)]
    pub fn shortcuts(this: &Around) -> bool;

    /// Whether what waits is presented in a dialog above the page.
    #[wasm_bindgen(method, getter)]
    pub fn modal(this: &Around) -> bool;
}
