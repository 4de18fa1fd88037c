//! One model request: a POST with a Blob body, its response read chunk by chunk.

use gloo_net::http::Response;
use js_sys::{Array, Date, Function, Object, Promise, Reflect, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::JsFuture;
use web_sys::{AbortSignal, Blob, ReadableStreamDefaultReader};

use super::error::text_of;
use super::platform;
use super::value::Options;
use crate::core::message::{ModelError, ModelErrorClass};
use crate::core::wire::RetryHints;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = fetch, catch)]
    fn page_fetch(url: &str, init: &JsValue) -> Result<Promise, JsValue>;

    #[wasm_bindgen(js_name = URL)]
    type Url;
    #[wasm_bindgen(constructor, js_class = "URL", catch)]
    fn new(url: &str, base: &str) -> Result<Url, JsValue>;
    #[wasm_bindgen(method, getter)]
    fn href(this: &Url) -> String;
    #[wasm_bindgen(method, getter)]
    fn hostname(this: &Url) -> String;
    #[wasm_bindgen(method, getter)]
    fn origin(this: &Url) -> String;
    #[wasm_bindgen(method, getter)]
    fn username(this: &Url) -> String;

    #[wasm_bindgen(js_namespace = document, js_name = baseURI, thread_local_v2)]
    static BASE: String;
}

/// Where model requests go.
pub struct Endpoint {
    url: String,
    headers: JsValue,
    credentials: &'static str,
    fetch: Option<Function>,
}

impl Endpoint {
    /// Reads `baseUrl`, `headers`, `credentials` and `fetch`. A key must not cross the network in the clear: the URL
    /// is https, on this machine, or of the page's own origin.
    pub fn read(options: &Options<'_>, path: &str) -> Self {
        let base = options.text("baseUrl");
        let page = BASE.with(String::clone);
        let mut url = String::new();
        match Url::new(&[base.trim_end_matches('/'), path].concat(), &page) {
            Err(_) => options.wrong("baseUrl", "must be a URL"),
            Ok(target) => {
                url = target.href();
                let local = matches!(target.hostname().as_str(), "localhost" | "127.0.0.1" | "[::1]");
                let own = Url::new(&page, &page).is_ok_and(|page| page.origin() == target.origin());
                if !url.starts_with("https:") && !(url.starts_with("http:") && (local || own)) {
                    options.wrong("baseUrl", "must be https, on this machine, or of the page's own origin");
                }
                if !target.username().is_empty() {
                    options.wrong("baseUrl", "must not hold a user name; pass keys through headers");
                }
            }
        }
        let headers = options.raw("headers");
        if !headers.is_undefined() && !headers.is_object() {
            options.wrong("headers", "must be an object, or a function that returns one");
        }
        let known = ["same-origin", "omit", "include"];
        let credentials = options.one_of("credentials", &known).unwrap_or_default();
        Self {
            url,
            headers,
            credentials: known.get(credentials).copied().unwrap_or("same-origin"),
            fetch: options.optional_function("fetch"),
        }
    }

    /// Posts a JSON body. A redirect is an error: it would carry the body, and some headers, to another origin.
    pub async fn post(&self, body: &Blob, signal: &AbortSignal) -> Result<Response, ModelError> {
        let headers = self.headers().await.map_err(|thrown| {
            ModelError::new(
                ModelErrorClass::Auth,
                format!("The headers for the model request failed: {}", text_of(&thrown)),
            )
        })?;
        let no_answer = |thrown: JsValue| {
            let message = format!(
                "No answer from {} ({}). Either the network failed, or the server does not allow this page's origin \
                 (CORS), or it redirects; check the URL and the server's allowed origins.",
                self.url,
                text_of(&thrown)
            );
            ModelError::new(ModelErrorClass::NetworkOrCors, message)
        };
        let init = Object::new();
        for (key, value) in [
            ("method", "POST".into()),
            ("headers", headers),
            ("body", body.into()),
            ("redirect", "error".into()),
            ("credentials", self.credentials.into()),
            ("signal", signal.into()),
        ] {
            Reflect::set(&init, &key.into(), &value).map_err(no_answer)?;
        }
        let sent = match &self.fetch {
            Some(fetch) => {
                fetch.call2(&JsValue::UNDEFINED, &self.url.as_str().into(), &init).map(|value| Promise::resolve(&value))
            }
            None => page_fetch(&self.url, &init),
        };
        let response = JsFuture::from(sent.map_err(no_answer)?).await.map_err(no_answer)?;
        let response: web_sys::Response = response.dyn_into().map_err(|_| {
            ModelError::new(ModelErrorClass::BadResponse, "The fetch function did not return a Response.".to_owned())
        })?;
        Ok(response.into())
    }

    /// The request's headers as a plain object: few, since each further one can fail a preflight.
    async fn headers(&self) -> Result<JsValue, JsValue> {
        let headers = Object::new();
        Reflect::set(&headers, &"content-type".into(), &"application/json".into())?;
        Reflect::set(&headers, &"accept".into(), &"text/event-stream".into())?;
        let own = match self.headers.dyn_ref::<Function>() {
            Some(make) => JsFuture::from(Promise::resolve(&make.call0(&JsValue::UNDEFINED)?)).await?,
            None => self.headers.clone(),
        };
        if own.is_object() {
            for entry in Object::entries(own.unchecked_ref()).iter() {
                let entry: Array = entry.unchecked_into();
                let name = entry.get(0).as_string().unwrap_or_default().to_ascii_lowercase();
                Reflect::set(&headers, &name.into(), &entry.get(1))?;
            }
        }
        Ok(headers.into())
    }
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

    /// The next chunk; `None` at the end. An error is the stream breaking off.
    pub async fn next(&self) -> Result<Option<Vec<u8>>, JsValue> {
        let Some(reader) = &self.reader else { return Ok(None) };
        let read = JsFuture::from(reader.read()).await?;
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
    let milliseconds = header("retry-after-ms").and_then(|text| text.trim().parse().ok());
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
