//! Errors as pages see them: `class CountersignError extends Error { code, cause }`, made by the JavaScript side.

use std::cell::RefCell;

use js_sys::{Error, Function, Reflect};
use wasm_bindgen::JsValue;

use crate::core::run::RunError;

thread_local! {
    static FACTORY: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Remembers `(code, message, cause) => Error`, the constructor of the JavaScript side.
pub fn set_factory(factory: Function) {
    FACTORY.with(|slot| slot.replace(Some(factory)));
}

/// An error with a stable code and a sentence that says what to do.
pub fn error(code: &str, message: &str) -> JsValue {
    with_cause(code, message, &JsValue::UNDEFINED)
}

/// The same, with what caused it.
pub fn with_cause(code: &str, message: &str, cause: &JsValue) -> JsValue {
    let factory = FACTORY.with(|slot| slot.borrow().clone());
    let made = factory.and_then(|make| make.call3(&JsValue::NULL, &code.into(), &message.into(), cause).ok());
    made.unwrap_or_else(|| {
        let plain = Error::new(message);
        // A plain object takes any property; should that fail, the message still stands.
        let _ = Reflect::set(&plain, &"code".into(), &code.into());
        plain.into()
    })
}

/// What a caller of the core got wrong.
pub fn from_run(wrong: &RunError) -> JsValue {
    error(wrong.code(), &wrong.message())
}

/// A thrown error's code, if it has one.
pub fn code_of(thrown: &JsValue) -> Option<String> {
    Reflect::get(thrown, &"code".into()).ok()?.as_string()
}

/// A thrown value as one line: an error's message, or the value as text.
pub fn text_of(thrown: &JsValue) -> String {
    let message = Reflect::get(thrown, &"message".into()).ok().and_then(|message| message.as_string());
    message
        .or_else(|| thrown.as_string())
        .or_else(|| js_sys::JSON::stringify(thrown).ok().and_then(|json| json.as_string()))
        .unwrap_or_else(|| "no message".to_owned())
}
