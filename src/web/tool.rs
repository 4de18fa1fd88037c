//! The host's tools: how one is registered and how one is run.

use js_sys::{Function, JSON, Object, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::AbortSignal;

use super::error::text_of;
use super::value::{Options, Problem, to_json};
use crate::core::approval::Tool;
use crate::core::json::Json;
use crate::core::outcome::Failure;
use crate::core::policy::ToolEffect;
use crate::core::run::Permit;

/// A registered tool with its function.
#[derive(Clone)]
pub struct HostTool {
    /// What the model is offered and a person is asked about.
    pub tool: Tool,
    run: Option<Function>,
}

impl HostTool {
    /// Reads what `tool({...})` was given.
    pub fn read(value: JsValue, path: &str, problem: &Problem) -> Self {
        let known = ["name", "title", "description", "inputSchema", "effect", "run"];
        let options = Options::new(value, path, &known, problem);
        let name = options.text("name");
        if name.len() > 64 || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-') {
            options.wrong("name", "must be 1 to 64 of the characters a-z, A-Z, 0-9, _ and -");
        }
        let input_schema = to_json(&options.raw("inputSchema")).unwrap_or(Json::Null);
        if input_schema.get("type").and_then(Json::as_str) != Some("object") {
            options.wrong("inputSchema", "must be a JSON Schema with type \"object\"");
        }
        let run = options.optional_function("run");
        if run.is_none() {
            options.wrong("run", "must be a function");
        }
        let effects = [ToolEffect::Read, ToolEffect::Write];
        let tool = Tool {
            name,
            title: options.optional_text("title"),
            description: options.optional_text("description").unwrap_or_default(),
            input_schema,
            effect: options.one_of("effect", &effects.map(ToolEffect::token)).and_then(|at| effects.get(at).copied()),
        };
        Self { tool, run }
    }

    /// Calls the host's function under a permit that covers it. The result is the text the model reads.
    pub async fn run(&self, permit: &Permit, signal: &AbortSignal) -> Result<String, Failure> {
        let threw = |thrown: JsValue| Failure::Threw(text_of(&thrown));
        let arguments = JSON::parse(permit.arguments()).map_err(threw)?;
        let context = Object::new();
        for (key, value) in [
            ("callId", permit.call().as_str().into()),
            ("idempotencyKey", permit.idempotency_key().into()),
            ("signal", signal.clone().into()),
            ("note", permit.note().map_or(JsValue::UNDEFINED, Into::into)),
        ] {
            Reflect::set(&context, &key.into(), &value).map_err(threw)?;
        }
        let run = self.run.as_ref().ok_or_else(|| Failure::Threw("the tool has no function".to_owned()))?;
        let returned = run.call2(&JsValue::UNDEFINED, &arguments, &context).map_err(threw)?;
        let result = JsFuture::from(Promise::resolve(&returned)).await.map_err(threw)?;
        written(&result)
    }
}

/// A tool's result as text: a string as it is, nothing as `null`, anything else as JSON.
fn written(result: &JsValue) -> Result<String, Failure> {
    if let Some(text) = result.as_string() {
        return Ok(text);
    }
    if result.is_undefined() {
        return Ok("null".to_owned());
    }
    let json = JSON::stringify(result).map_err(|thrown| {
        Failure::Threw(format!("the tool ran, but its result cannot be written as JSON: {}", text_of(&thrown)))
    })?;
    json.dyn_ref::<js_sys::JsString>()
        .map(String::from)
        .ok_or_else(|| Failure::Threw("the tool ran, but returned something that JSON has no text for".to_owned()))
}
