//! The one conversion of Rust data to JavaScript. Never for tool arguments: those cross as their exact text.

use js_sys::JSON;
use wasm_bindgen::JsValue;

/// JSON text as data for the page: plain objects, by the platform's `JSON.parse`.
pub fn to_js(text: &str) -> Result<JsValue, JsValue> {
    JSON::parse(text)
}
