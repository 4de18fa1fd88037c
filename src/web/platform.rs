//! The clock, randomness and timers of the page.

use std::pin::Pin;

use js_sys::{Date, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn fill_random(bytes: &Uint8Array) -> Result<JsValue, JsValue>;

    /// Throws `error` in a task of its own, so that the page's error handling sees it and nothing here breaks.
    #[wasm_bindgen(js_name = reportError, catch)]
    fn report_error(error: &JsValue) -> Result<(), JsValue>;
}

/// Lets work go on by itself. One shape for all, so that the machinery behind it is there once.
pub fn spawn(work: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(work);
}

/// Wall clock, in milliseconds since the epoch.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub fn now() -> u64 {
    Date::now() as u64
}

/// 128 random bits as 32 hexadecimal digits. `randomUUID` is absent on plain http, `getRandomValues` is not.
pub fn random_id() -> Result<String, JsValue> {
    let bytes = Uint8Array::new_with_length(16);
    fill_random(&bytes)?;
    let mut id = String::with_capacity(32);
    for byte in bytes.to_vec() {
        for nibble in [byte >> 4, byte & 15] {
            id.push(char::from_digit(u32::from(nibble), 16).unwrap_or('0'));
        }
    }
    Ok(id)
}

/// Hands an error that nobody here waits for to the page's own error reporting.
pub fn report(thrown: &JsValue) {
    // A platform without reportError has no place for it either.
    let _ = report_error(thrown);
}
