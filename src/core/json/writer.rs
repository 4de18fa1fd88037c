//! JSON text, written in order, for data of a fixed shape.

use super::{Json, number, write_string};

/// Writes the members of objects and the items of arrays, with the commas between them.
#[derive(Clone, Debug, Default)]
pub struct Writer(String);

impl Writer {
    /// Begins an object or an array.
    pub fn open(&mut self, bracket: char) {
        self.0.push(bracket);
    }

    /// Ends an object or an array.
    pub fn close(&mut self, bracket: char) {
        self.0.push(bracket);
    }

    /// Begins the next item of an array.
    pub fn item(&mut self) {
        if !matches!(self.0.as_bytes().last(), Some(b'{' | b'[')) {
            self.0.push(',');
        }
    }

    /// Begins the next member of an object.
    pub fn key(&mut self, key: &str) {
        self.item();
        write_string(key, &mut self.0);
        self.0.push(':');
    }

    /// Ends an object that is a line of its own.
    pub fn end_line(&mut self) {
        self.0.push_str("}\n");
    }

    /// A member that is a string.
    pub fn text(&mut self, key: &str, value: &str) {
        self.optional(key, Some(value));
    }

    /// A member that is null where there is no text.
    pub fn optional(&mut self, key: &str, value: Option<&str>) {
        self.key(key);
        match value {
            Some(value) => write_string(value, &mut self.0),
            None => self.0.push_str("null"),
        }
    }

    /// A member that is left out where there is no text.
    pub fn present(&mut self, key: &str, value: Option<&str>) {
        if value.is_some() {
            self.optional(key, value);
        }
    }

    /// A member that is a number.
    pub fn number(&mut self, key: &str, value: u64) {
        self.key(key);
        number::write(value, &mut self.0);
    }

    /// A member that is a boolean.
    pub fn flag(&mut self, key: &str, value: bool) {
        self.key(key);
        self.0.push_str(if value { "true" } else { "false" });
    }

    /// A member of any kind.
    pub fn value(&mut self, key: &str, value: &Json) {
        self.key(key);
        value.write(&mut self.0);
    }

    /// A member that is an array of strings.
    pub fn strings(&mut self, key: &str, values: &[String]) {
        self.key(key);
        self.open('[');
        for value in values {
            self.item();
            write_string(value, &mut self.0);
        }
        self.close(']');
    }

    /// An item of an array, of any kind.
    pub fn bare(&mut self, value: &Json) {
        self.item();
        value.write(&mut self.0);
    }

    /// A member that is an object.
    pub fn fields(&mut self, key: &str, fields: &[(String, Json)]) {
        self.key(key);
        self.open('{');
        for (key, value) in fields {
            self.value(key, value);
        }
        self.close('}');
    }

    /// What was written.
    pub fn finish(self) -> String {
        self.0
    }
}
