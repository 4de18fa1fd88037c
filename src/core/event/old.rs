//! A denial that was recorded before its facts were.

use crate::core::json::Writer;
use crate::core::message::{CallId, ResultItem, Trust};

/// A denial or refusal of which the log says that it was and under which code, but neither who decided nor, for some,
/// what the model read. It settles its call; nobody is made its author.
///
/// Logs are read with it and never written: only [`Event::decode`](super::Event::decode) makes one, so a denial without
/// its item cannot be appended.
///
/// ```compile_fail,E0451
/// use countersign::core::{event::OldDenial, message::CallId};
/// let call = CallId::new("r1t1c1");
/// OldDenial { call, name: String::new(), reason_code: String::new(), item: None };
/// ```
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OldDenial {
    pub(super) call: CallId,
    pub(super) name: String,
    pub(super) reason_code: String,
    pub(super) item: Option<ResultItem>,
}

impl OldDenial {
    /// The call it settles.
    pub const fn call(&self) -> &CallId {
        &self.call
    }

    /// The recorded code: any text, not one of this build's tokens.
    pub fn reason_code(&self) -> &str {
        &self.reason_code
    }

    /// What the model reads: the recorded item, or where there is none the recorded facts and nothing else.
    pub fn result_item(&self) -> ResultItem {
        self.item.clone().unwrap_or_else(|| {
            let mut text = Writer::default();
            text.open('{');
            text.text("status", "denied");
            text.text("action", &self.name);
            text.text("reason_code", &self.reason_code);
            text.close('}');
            ResultItem {
                call: self.call.clone(),
                renderer: None,
                text: text.finish(),
                is_error: true,
                trust: Trust::ExternalUntrusted,
            }
        })
    }
}
