//! The one JS ⇄ Rust conversion. Never for tool arguments: those cross as their exact text.

use std::cell::RefCell;

use js_sys::{Array, Function, JSON, Object, Reflect};
use serde::Serialize;
use serde_wasm_bindgen::Serializer;
use wasm_bindgen::{JsCast, JsValue};

use super::error::error;
use crate::core::json::{self, Json};

/// Data for the page: plain objects, absent fields left out, `None` as null.
pub fn to_js<T: Serialize>(value: &T) -> Result<JsValue, JsValue> {
    let serializer = Serializer::new().serialize_missing_as_null(true).serialize_maps_as_objects(true);
    value.serialize(&serializer).map_err(|wrong| error("internal", &wrong.to_string()))
}

/// A value of the page as JSON, by the platform's `JSON.stringify`; `None` for what JSON has no text for.
pub fn to_json(value: &JsValue) -> Option<Json> {
    let text = JSON::stringify(value).ok()?.as_string()?;
    json::parse_lenient(text.as_bytes()).ok()
}

/// The first thing that is wrong with what a page passed. Readers note it and go on with a default, so that reading
/// stays a list of fields; nothing that was read may be used before [`check`](Self::check).
#[derive(Default)]
pub struct Problem(RefCell<Option<String>>);

impl Problem {
    /// Notes what is wrong: pieces of one sentence without its full stop.
    pub fn note(&self, pieces: &[&str]) {
        let mut first = self.0.borrow_mut();
        if first.is_none() {
            *first = Some(pieces.concat());
        }
    }

    /// The error, if anything was noted.
    pub fn check(self) -> Result<(), JsValue> {
        match self.0.into_inner() {
            Some(sentence) => Err(error("invalid_options", &[&sentence, "."].concat())),
            None => Ok(()),
        }
    }
}

/// An object with options that a page passed. Every problem names the option at fault and what belongs there.
pub struct Options<'a> {
    object: JsValue,
    path: String,
    problem: &'a Problem,
}

impl<'a> Options<'a> {
    /// Takes an object; an option that is not in `known` is a problem, so that a typing error is not silently ignored.
    pub fn new(value: JsValue, path: &str, known: &[&str], problem: &'a Problem) -> Self {
        if !value.is_object() || Array::is_array(&value) || value.is_function() {
            problem.note(&[path, " must be an object"]);
            return Self { object: Object::new().into(), path: path.to_owned(), problem };
        }
        for key in Object::keys(value.unchecked_ref::<Object>()).iter() {
            let key = key.as_string().unwrap_or_default();
            if !known.contains(&key.as_str()) {
                problem.note(&[path, ".", &key, " is not an option; known are: ", &known.join(", ")]);
            }
        }
        Self { object: value, path: path.to_owned(), problem }
    }

    /// The options in an option; none if it is absent.
    pub fn nested(&self, key: &str, known: &[&str]) -> Self {
        let value = match self.raw(key) {
            absent if absent.is_undefined() => Object::new().into(),
            given => given,
        };
        Self::new(value, &[&self.path, ".", key].concat(), known, self.problem)
    }

    /// The option as it is; undefined where it is absent.
    pub fn raw(&self, key: &str) -> JsValue {
        Reflect::get(&self.object, &key.into()).unwrap_or(JsValue::UNDEFINED)
    }

    /// Notes what an option must be.
    pub fn wrong(&self, key: &str, what: &str) {
        self.problem.note(&[&self.path, ".", key, " ", what]);
    }

    /// A non-empty string.
    pub fn text(&self, key: &str) -> String {
        let text = self.raw(key).as_string().unwrap_or_default();
        if text.is_empty() {
            self.wrong(key, "must be a non-empty string");
        }
        text
    }

    /// A string, if given.
    pub fn optional_text(&self, key: &str) -> Option<String> {
        let value = self.raw(key);
        let text = value.as_string();
        if text.is_none() && !value.is_undefined() {
            self.wrong(key, "must be a string");
        }
        text
    }

    /// One of these strings, if given: its place among them.
    pub fn one_of(&self, key: &str, known: &[&str]) -> Option<usize> {
        let text = self.optional_text(key)?;
        let place = known.iter().position(|known| *known == text);
        if place.is_none() {
            self.wrong(key, &["must be one of: ", &known.join(", ")].concat());
        }
        place
    }

    /// true or false, if given.
    pub fn optional_bool(&self, key: &str) -> Option<bool> {
        let value = self.raw(key);
        if value.as_bool().is_none() && !value.is_undefined() {
            self.wrong(key, "must be true or false");
        }
        value.as_bool()
    }

    /// A whole number of at least 1, if given and not null.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn optional_count(&self, key: &str) -> Option<u64> {
        let value = self.raw(key);
        let whole = value.as_f64().filter(|number| number.fract() == 0.0 && *number >= 1.0 && *number < 9e15);
        if whole.is_none() && !value.is_undefined() && !value.is_null() {
            self.wrong(key, "must be a whole number of at least 1");
        }
        whole.map(|number| number as u64)
    }

    /// A function, if given.
    pub fn optional_function(&self, key: &str) -> Option<Function> {
        let value = self.raw(key);
        if value.is_function() {
            return Some(value.unchecked_into());
        }
        if !value.is_undefined() {
            self.wrong(key, "must be a function");
        }
        None
    }

    /// The items of an array; none if absent.
    pub fn items(&self, key: &str) -> Vec<JsValue> {
        let value = self.raw(key);
        if Array::is_array(&value) {
            return value.unchecked_ref::<Array>().to_vec();
        }
        if !value.is_undefined() {
            self.wrong(key, "must be an array");
        }
        Vec::new()
    }

    /// The fields of an object that goes into a request as it is; none if absent.
    pub fn fields(&self, key: &str) -> Vec<(String, Json)> {
        let value = self.raw(key);
        match to_json(&value) {
            Some(Json::Object(fields)) => return fields,
            _ if value.is_undefined() => {}
            _ => self.wrong(key, "must be an object that can be written as JSON"),
        }
        Vec::new()
    }
}
