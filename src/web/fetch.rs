//! One model request: a POST with a Blob body, its response read chunk by chunk.

use gloo_net::http::Response;
use js_sys::{Array, Date, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Blob, ReadableStreamDefaultReader};

use super::error::text_of;
use super::host::Host;
use super::platform;
use crate::core::json::read_whole;
use crate::core::message::{ModelError, ModelErrorClass};
use crate::core::wire::RetryHints;

/// Where model requests go.
pub struct Endpoint {
    /// The whole URL.
    pub url: String,
    /// `same-origin`, `omit` or `include`.
    pub credentials: String,
}

impl Endpoint {
    /// Posts a JSON body. A redirect is an error: it would carry the body, and some headers, to another origin.
    pub async fn post(
        &self,
        host: &Host,
        body: &Blob,
        signal: &AbortSignal,
        limit: u64,
    ) -> Result<Response, ModelError> {
        let headers = within(host, host.headers(), limit).await.map_err(|thrown| {
            if thrown.is_undefined() {
                return late();
            }
            let message = ["The headers for the model request failed: ", &text_of(&thrown), "."].concat();
            ModelError::new(ModelErrorClass::Auth, message)
        })?;
        let no_answer = |thrown: JsValue| {
            if thrown.is_undefined() {
                return late();
            }
            let why = [
                "No answer from ",
                &self.url,
                " (",
                &text_of(&thrown),
                "). Either the network failed, or the server does not allow this page's origin (CORS), or it redirects; \
                 check the URL and the server's allowed origins.",
            ];
            ModelError::new(ModelErrorClass::NetworkOrCors, why.concat())
        };
        let init = Object::new();
        for (key, value) in [
            ("method", "POST".into()),
            ("headers", headers),
            ("body", body.into()),
            ("redirect", "error".into()),
            ("credentials", self.credentials.as_str().into()),
            ("signal", signal.into()),
        ] {
            Reflect::set(&init, &key.into(), &value).map_err(no_answer)?;
        }
        let response = within(host, host.fetch(&self.url, &init), limit).await.map_err(no_answer)?;
        let response: web_sys::Response = response.dyn_into().map_err(|_| {
            ModelError::new(ModelErrorClass::BadResponse, "The fetch function did not return a Response.".to_owned())
        })?;
        Ok(response.into())
    }
}

/// What a promise settles to; a call that throws counts as one that rejects.
pub async fn settled(promise: Result<Promise, JsValue>) -> Result<JsValue, JsValue> {
    JsFuture::from(promise?).await
}

/// What a promise settles to, or undefined as the error if that takes too long.
pub async fn within(host: &Host, promise: Result<Promise, JsValue>, limit: u64) -> Result<JsValue, JsValue> {
    settled(promise.and_then(|promise| host.within(&promise, limit as f64))).await
}

/// The error of a model that does not answer in time.
pub fn late() -> ModelError {
    let message = "The model did not answer in time; retry, or allow more time by the timeouts option.";
    ModelError::new(ModelErrorClass::Timeout, message)
}

/// The bytes of a response, chunk by chunk.
pub struct Chunks {
    reader: Option<ReadableStreamDefaultReader>,
}

impl Chunks {
    /// Begins to read; a response without a body has no chunks.
    pub fn of(response: &Response) -> Self {
        Self { reader: response.body().and_then(|body| body.get_reader().dyn_into().ok()) }
    }

    /// The next chunk; `None` at the end. An error is the stream breaking off, undefined if it took too long.
    pub async fn next(&self, host: &Host, limit: u64) -> Result<Option<Vec<u8>>, JsValue> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = within(host, Ok(reader.read()), limit).await?;
        if Reflect::get(&read, &"done".into())?.is_truthy() {
            return Ok(None);
        }
        let bytes: Uint8Array = Reflect::get(&read, &"value".into())?.dyn_into()?;
        Ok(Some(bytes.to_vec()))
    }
}

impl Drop for Chunks {
    /// Tells the server that nobody reads on: some keep the connection open after the last event.
    fn drop(&mut self) {
        if let Some(reader) = &self.reader {
            // What the cancelling resolves to does not matter any more; a rejection must not go unhandled.
            let cancelled = JsFuture::from(reader.cancel());
            platform::spawn(Box::pin(async move {
                let _ = cancelled.await;
            }));
        }
    }
}

/// What the response's headers say about trying again, where the server lets a page see them.
pub fn retry_hints(response: &Response) -> RetryHints {
    let header = |name: &str| response.headers().get(name);
    let milliseconds = header("retry-after-ms").and_then(|text| read_whole(text.trim()));
    RetryHints {
        retry_after_ms: milliseconds.or_else(|| header("retry-after").and_then(|text| seconds_or_date(&text))),
        should_retry: header("x-should-retry").map(|text| text.trim() == "true"),
    }
}

/// `retry-after` is a number of seconds or an HTTP date; as milliseconds from now.
#[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
fn seconds_or_date(text: &str) -> Option<u64> {
    // Not Rust's own parser, whose tables alone would take a seventh of the size budget.
    let seconds = js_sys::Number::parse_float(text);
    let wait = if seconds.is_nan() { Date::parse(text) - Date::now() } else { seconds * 1_000.0 };
    (wait.is_finite() && wait >= 0.0).then_some(wait as u64)
}

/// The request's body: `head`, the encoded history, `tail`.
pub fn join(pieces: &[JsValue]) -> Result<Blob, JsValue> {
    let parts = Array::new();
    for piece in pieces {
        parts.push(piece);
    }
    Blob::new_with_blob_sequence(&parts)
}

/// Bytes as a piece of a body.
pub fn piece(bytes: &[u8]) -> JsValue {
    Uint8Array::from(bytes).into()
}
