//! The one conversion of Rust data to JavaScript. Never for tool arguments: those cross as their exact text.

use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::JsValue;

use super::error::error;

/// Data for the page: plain objects, absent fields left out, `None` as null.
pub fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let serializer = Serializer::new().serialize_missing_as_null(true);
    value.serialize(&serializer).map_err(|wrong| error("internal", &wrong.to_string()))
}
