//! JSON text, written member by member, for data that has a fixed shape.

use super::{number, write_string};

/// Writes objects and arrays. A key is written as it is: it must need no escape.
#[derive(Clone, Debug)]
pub struct ObjectWriter(String);

impl ObjectWriter {
    /// Begins an object.
    pub fn object() -> Self {
        Self(String::from("{"))
    }

    /// Begins an array.
    pub fn array() -> Self {
        Self(String::from("["))
    }

    /// A member that is a string.
    pub fn text(&mut self, key: &str, text: &str) {
        self.key(key);
        write_string(text, &mut self.0);
    }

    /// A member that is left out where there is no text.
    pub fn optional_text(&mut self, key: &str, text: Option<&str>) {
        if let Some(text) = text {
            self.text(key, text);
        }
    }

    /// A member that is null where there is no text.
    pub fn text_or_null(&mut self, key: &str, text: Option<&str>) {
        match text {
            Some(text) => self.text(key, text),
            None => self.raw(key, "null"),
        }
    }

    /// A member that is null where there is no number.
    pub fn number_or_null(&mut self, key: &str, value: Option<u64>) {
        match value {
            Some(value) => {
                self.key(key);
                number::write(value, &mut self.0);
            }
            None => self.raw(key, "null"),
        }
    }

    /// A member that is a boolean.
    pub fn flag(&mut self, key: &str, value: bool) {
        self.raw(key, if value { "true" } else { "false" });
    }

    /// Begins a member that is an object.
    pub fn open(&mut self, key: &str) {
        self.raw(key, "{");
    }

    /// Ends an object.
    pub fn close(&mut self) {
        self.0.push('}');
    }

    /// Begins a member that is an array.
    pub fn open_array(&mut self, key: &str) {
        self.raw(key, "[");
    }

    /// Begins an element of an array, an object.
    pub fn open_element(&mut self) {
        self.comma();
        self.0.push('{');
    }

    /// Ends an array.
    pub fn close_array(&mut self) {
        self.0.push(']');
    }

    /// Ends the object that [`object`](Self::object) began.
    pub fn finish(mut self) -> String {
        self.close();
        self.0
    }

    /// Ends the array that [`array`](Self::array) began.
    pub fn finish_array(mut self) -> String {
        self.close_array();
        self.0
    }

    fn raw(&mut self, key: &str, text: &str) {
        self.key(key);
        self.0.push_str(text);
    }

    fn key(&mut self, key: &str) {
        self.comma();
        self.0.push('"');
        self.0.push_str(key);
        self.0.push_str("\":");
    }

    fn comma(&mut self) {
        if let Some(b'{' | b'[') = self.0.as_bytes().last() {
            return;
        }
        self.0.push(',');
    }
}
