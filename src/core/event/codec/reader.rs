//! The fields of stored objects.

use std::cell::Cell;

use crate::core::approval::Digest;
use crate::core::event::is_header;
use crate::core::json::Json;
use crate::core::message::{CallId, GrantId, RequestId};
use crate::core::outcome::PersonId;

/// Reads the fields of one object. A field that is missing or wrong is remembered and read as empty, so that reading
/// stays a list of fields; nothing that was read may be used while one is remembered.
#[derive(Clone, Copy)]
pub struct Reader<'a> {
    /// The object.
    pub object: &'a Json,
    /// The first field at fault.
    pub wrong: &'a Cell<Option<&'static str>>,
    /// Whether the event's content is gone. All of it reads as empty.
    pub cleared: bool,
}

impl<'a> Reader<'a> {
    /// Reads another object on the same account.
    pub fn object(self, object: &'a Json) -> Self {
        Self { object, ..self }
    }

    /// Remembers the first field at fault.
    pub fn reject(self, key: &'static str) {
        if self.wrong.get().is_none() && !self.is_gone(key) {
            self.wrong.set(Some(key));
        }
    }

    /// Whether the field was content that is gone.
    fn is_gone(self, key: &str) -> bool {
        self.cleared && !is_header(key)
    }

    /// A field of any kind.
    pub fn field(self, key: &'static str) -> &'a Json {
        if self.is_gone(key) {
            return &Json::Null;
        }
        self.object.get(key).unwrap_or_else(|| {
            self.reject(key);
            &Json::Null
        })
    }

    /// A text.
    pub fn text(self, key: &'static str) -> &'a str {
        self.optional(key).unwrap_or_else(|| {
            self.reject(key);
            ""
        })
    }

    /// Whether there is such a field. Fields that say nothing are left out of what a projection is kept as.
    pub fn has(self, key: &str) -> bool {
        self.object.get(key).is_some()
    }

    /// The object in a field, if there is such a field.
    pub fn inner(self, key: &str) -> Option<Self> {
        self.object.get(key).map(|inner| self.object(inner))
    }

    /// A text that names something.
    pub fn name(self, key: &'static str) -> &'a str {
        let name = self.text(key);
        if name.is_empty() {
            self.reject(key);
        }
        name
    }

    /// A text, or null.
    pub fn optional(self, key: &'static str) -> Option<&'a str> {
        let field = self.field(key);
        let text = field.as_str();
        if text.is_none() && !field.is_null() {
            self.reject(key);
        }
        text
    }

    /// A text of its own, or null.
    pub fn owned(self, key: &'static str) -> Option<String> {
        self.optional(key).map(str::to_owned)
    }

    /// A person, or null.
    pub fn person(self, key: &'static str) -> Option<PersonId> {
        self.optional(key).and_then(PersonId::new)
    }

    /// A whole number.
    pub fn number(self, key: &'static str) -> u64 {
        self.field(key).as_u64().unwrap_or_else(|| {
            self.reject(key);
            0
        })
    }

    /// A whole number, not large.
    pub fn small(self, key: &'static str) -> u32 {
        u32::try_from(self.number(key)).unwrap_or_else(|_| {
            self.reject(key);
            0
        })
    }

    /// A boolean.
    pub fn flag(self, key: &'static str) -> bool {
        self.field(key).as_bool().unwrap_or_else(|| {
            self.reject(key);
            false
        })
    }

    /// An array.
    pub fn array(self, key: &'static str) -> &'a [Json] {
        self.field(key).as_array().unwrap_or_else(|| {
            self.reject(key);
            &[]
        })
    }

    /// An array of texts.
    pub fn strings(self, key: &'static str) -> Vec<String> {
        let items = self.array(key).iter();
        let strings: Option<Vec<_>> = items.map(|item| item.as_str().map(str::to_owned)).collect();
        strings.unwrap_or_else(|| {
            self.reject(key);
            Vec::new()
        })
    }

    /// An object.
    pub fn fields(self, key: &'static str) -> Vec<(String, Json)> {
        let fields = self.field(key).as_object().unwrap_or_else(|| {
            self.reject(key);
            &[]
        });
        fields.to_vec()
    }

    /// A token, if there is one; `known` reads it.
    pub fn optional_token<T>(self, key: &'static str, known: fn(&str) -> Option<T>) -> Option<T> {
        let token = known(self.optional(key)?);
        if token.is_none() {
            self.reject(key);
        }
        token
    }

    /// A token that must be there; `otherwise` stands in for a wrong one.
    pub fn token<T>(self, key: &'static str, known: fn(&str) -> Option<T>, otherwise: T) -> T {
        self.optional_token(key, known).unwrap_or_else(|| {
            self.reject(key);
            otherwise
        })
    }

    /// The call that the object is about.
    pub fn call(self) -> CallId {
        CallId::new(self.name("call_id"))
    }

    /// The digest of what a permit covers.
    pub fn digest(self) -> Digest {
        Digest::from_stored(self.name("digest"))
    }

    /// The standing permission that the object names, if it names one. Most events do not, and none did before there was the
    /// field.
    pub fn grant(self) -> Option<GrantId> {
        self.has("grant_id").then(|| GrantId::new(self.name("grant_id")))
    }

    /// The request that the object is about.
    pub fn request(self) -> RequestId {
        RequestId::new(self.name("request_id"))
    }
}
