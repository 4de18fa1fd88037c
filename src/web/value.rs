//! The conversions between Rust data and JavaScript. Never for tool arguments: those cross as their exact text.

use js_sys::{Array, JSON};
use wasm_bindgen::JsValue;

use super::error::error;

/// JSON text as data for the page: plain objects, by the platform's `JSON.parse`. Snapshots cross this way: the
/// parser of the platform is faster than field by field, and needs no table of keys here.
pub fn from_text(text: &str) -> Result<JsValue, JsValue> {
    JSON::parse(text)
}

/// Strings as an array of the page.
pub fn from_strings(strings: &[String]) -> Result<JsValue, JsValue> {
    serde_wasm_bindgen::to_value(strings).map_err(JsValue::from)
}

/// An array of strings that the page gave; `whose` names who gave it, for the error.
pub fn to_strings(value: JsValue, whose: &str) -> Result<Vec<String>, JsValue> {
    let items = Array::is_array(&value).then(|| Array::from(&value).to_vec());
    let strings = items.and_then(|items| items.iter().map(JsValue::as_string).collect());
    strings.ok_or_else(|| error("invalid_options", &[whose, " must give an array of strings."].concat()))
}
