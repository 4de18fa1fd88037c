//! The clock, randomness and timers of the page.

use std::cell::Cell;
use std::pin::Pin;

use js_sys::{Date, Math, Uint8Array};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_namespace = crypto, js_name = getRandomValues, catch)]
    fn fill_random(bytes: &Uint8Array) -> Result<JsValue, JsValue>;

    #[wasm_bindgen(js_namespace = performance, js_name = now)]
    fn ticks() -> f64;

    /// Throws `error` in a task of its own, so that the page's error handling sees it and nothing here breaks.
    #[wasm_bindgen(js_name = reportError, catch)]
    fn report_error(error: &JsValue) -> Result<(), JsValue>;
}

/// Lets work go on by itself. One shape for all, so that the machinery behind it is there once.
pub fn spawn(work: Pin<Box<dyn Future<Output = ()>>>) {
    wasm_bindgen_futures::spawn_local(work);
}

thread_local! {
    /// What [`now`] gave last, and when that was on the clock that nobody can set.
    static LATEST: Cell<(f64, f64)> = const { Cell::new((0.0, 0.0)) };
}

/// Wall clock, in milliseconds since the epoch. It never goes back while the page lives: a clock that is set back gives
/// nobody more time to decide.
pub fn now() -> u64 {
    let ticks = ticks();
    let (latest, then) = LATEST.get();
    let now = Date::now().max(latest + (ticks - then).max(0.0));
    LATEST.set((now, ticks));
    milliseconds(now)
}

/// When the local day ends, in milliseconds since the epoch.
#[allow(clippy::cast_possible_wrap)]
pub fn end_of_day() -> u64 {
    let today = Date::new_0();
    let [year, month, day] = [today.get_full_year(), today.get_month(), today.get_date() + 1];
    milliseconds(Date::new_with_year_month_day(year, month as i32, day as i32).get_time())
}

/// A number of milliseconds that the page gave.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
pub const fn milliseconds(number: f64) -> u64 {
    number as u64
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

/// A whole number from 0 to below that limit, by the page's `Math.random`: for nothing that anybody must not guess.
pub fn by_chance(limit: u64) -> u64 {
    milliseconds(Math::random() * limit as f64)
}

/// Hands an error that nobody here waits for to the page's own error reporting.
pub fn report(thrown: &JsValue) {
    // A platform without reportError has no place for it either.
    let _ = report_error(thrown);
}
