//! The crate in a browser: what the native tests cannot see.
#![cfg(target_arch = "wasm32")]

use countersign::core::message::TurnEnd;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen_test]
fn the_core_runs_inside_a_page() {
    assert!(web_sys::window().is_some(), "there is a window around the module");
    assert_eq!(TurnEnd::from_token("truncated"), Some(TurnEnd::Truncated));
    assert_eq!(TurnEnd::from_token("Truncated"), None);
}
