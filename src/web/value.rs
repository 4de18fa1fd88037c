//! The one JS ⇄ Rust conversion. Never for tool arguments: those cross as their exact text.

use js_sys::{Array, Function, JSON, Object, Reflect};
use wasm_bindgen::{JsCast, JsValue};

use super::error::error;
use crate::core::json::{self, Json};

/// JSON text as data for the page: plain objects, by the platform's `JSON.parse`.
pub fn to_js(text: &str) -> Result<JsValue, JsValue> {
    JSON::parse(text)
}

/// A value of the page as JSON, by the platform's `JSON.stringify`; `None` for what JSON has no text for.
pub fn to_json(value: &JsValue) -> Option<Json> {
    let text = JSON::stringify(value).ok()?.as_string()?;
    json::parse_lenient(text.as_bytes()).ok()
}

/// An object with options that a page passed. Every error names the option at fault and what belongs there.
pub struct Options {
    object: Object,
    path: String,
}

impl Options {
    /// Takes an object; refuses options that are not in `known`, so that a typing error is not silently ignored.
    pub fn new(value: &JsValue, path: &str, known: &[&str]) -> Result<Self, JsValue> {
        if !value.is_object() || Array::is_array(value) || value.is_function() {
            return Err(invalid(path, "must be an object"));
        }
        let object: Object = value.clone().unchecked_into();
        for key in Object::keys(&object).iter().filter_map(|key| key.as_string()) {
            if !known.contains(&key.as_str()) {
                let hint = format!("is not an option; known are: {}", known.join(", "));
                return Err(invalid(&format!("{path}.{key}"), &hint));
            }
        }
        Ok(Self { object, path: path.to_owned() })
    }

    /// The option as it is; undefined where it is absent.
    pub fn raw(&self, key: &str) -> JsValue {
        Reflect::get(&self.object, &key.into()).unwrap_or(JsValue::UNDEFINED)
    }

    fn present(&self, key: &str) -> Option<JsValue> {
        let value = self.raw(key);
        (!value.is_undefined()).then_some(value)
    }

    /// The error of an option, in one sentence.
    pub fn wrong(&self, key: &str, what: &str) -> JsValue {
        invalid(&format!("{}.{key}", self.path), what)
    }

    /// A non-empty string.
    pub fn text(&self, key: &str) -> Result<String, JsValue> {
        let text = self.raw(key).as_string().filter(|text| !text.is_empty());
        text.ok_or_else(|| self.wrong(key, "must be a non-empty string"))
    }

    /// A string, if given.
    pub fn optional_text(&self, key: &str) -> Result<Option<String>, JsValue> {
        let read = |value: JsValue| value.as_string().ok_or_else(|| self.wrong(key, "must be a string"));
        self.present(key).map(read).transpose()
    }

    /// One of a closed set of strings, if given.
    pub fn one_of<T>(&self, key: &str, from: fn(&str) -> Option<T>, what: &str) -> Result<Option<T>, JsValue> {
        let read = |value: JsValue| {
            value.as_string().as_deref().and_then(from).ok_or_else(|| self.wrong(key, &format!("must be {what}")))
        };
        self.present(key).map(read).transpose()
    }

    /// true or false, if given.
    pub fn optional_bool(&self, key: &str) -> Result<Option<bool>, JsValue> {
        let read = |value: JsValue| value.as_bool().ok_or_else(|| self.wrong(key, "must be true or false"));
        self.present(key).map(read).transpose()
    }

    /// A whole number of at least `least`, if given and not null.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    pub fn optional_whole(&self, key: &str, least: u32) -> Result<Option<u64>, JsValue> {
        let Some(value) = self.present(key).filter(|value| !value.is_null()) else { return Ok(None) };
        match value.as_f64() {
            Some(number) if number.fract() == 0.0 && number >= f64::from(least) && number < 9e15 => {
                Ok(Some(number as u64))
            }
            _ => Err(self.wrong(key, &format!("must be a whole number of at least {least}"))),
        }
    }

    /// A function.
    pub fn function(&self, key: &str) -> Result<Function, JsValue> {
        self.raw(key).dyn_into().map_err(|_| self.wrong(key, "must be a function"))
    }

    /// A function, if given.
    pub fn optional_function(&self, key: &str) -> Result<Option<Function>, JsValue> {
        self.present(key).map(|value| value.dyn_into().map_err(|_| self.wrong(key, "must be a function"))).transpose()
    }

    /// The items of an array; none if absent.
    pub fn items(&self, key: &str) -> Result<Vec<JsValue>, JsValue> {
        match self.present(key) {
            None => Ok(Vec::new()),
            Some(value) if Array::is_array(&value) => Ok(Array::from(&value).to_vec()),
            Some(_) => Err(self.wrong(key, "must be an array")),
        }
    }

    /// The fields of an object that goes into a request as it is; none if absent.
    pub fn fields(&self, key: &str) -> Result<Vec<(String, Json)>, JsValue> {
        match self.present(key).map(|value| to_json(&value)) {
            None => Ok(Vec::new()),
            Some(Some(Json::Object(fields))) => Ok(fields),
            Some(_) => Err(self.wrong(key, "must be an object that can be written as JSON")),
        }
    }
}

/// The error of a wrong option.
pub fn invalid(path: &str, what: &str) -> JsValue {
    error("invalid_options", &format!("{path} {what}."))
}
