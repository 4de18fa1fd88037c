//! Running tools, under permits only.

use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsValue;
use web_sys::AbortController;

use super::Driver;
use crate::core::approval::{AskSpec, RequestKind};
use crate::core::json::{Json, Writer, parse_lenient};
use crate::core::message::RequestId;
use crate::core::outcome::Failure;
use crate::core::run::{Input, Permit};
use crate::web::error::text_of;
use crate::web::fetch::{settled, within};
use crate::web::platform;

impl Driver {
    pub(super) async fn run_tool(self: &Rc<Self>, permit: Permit) {
        // The last check, on the bytes that the tool gets: the digest is computed anew.
        let covered = self.look(|run| {
            let known = run.settings().tools.iter().find(|known| known.name == permit.tool());
            known.is_some_and(|tool| permit.covers(run.chat().id(), tool))
        });
        // A stop came between the permit and here.
        if !self.run.borrow_mut().begin_tool(permit.call()) {
            return;
        }
        let ended = match AbortController::new() {
            Ok(controller) if covered => self.call_tool(&permit, controller).await,
            _ => Err(Failure::Threw("the tool is no longer what was approved; it was not called".to_owned())),
        };
        self.tool_aborts.borrow_mut().retain(|(call, _)| call != permit.call());
        let (at, call, attempt) = (platform::now(), permit.call().clone(), permit.attempt());
        // A result that comes after a stop is not waited for: the call has its outcome.
        let _ = self.handle(match ended {
            Ok(ended) => match (ended.as_string(), read_spec(&ended).zip(platform::random_id().ok())) {
                (None, Some((spec, id))) => Input::ToolAsked { at, call, attempt, request: RequestId::new(id), spec },
                (text, _) => {
                    let result = text.ok_or_else(|| Failure::Threw("what it asked for cannot be read".to_owned()));
                    Input::ToolEnded { at, call, attempt, result }
                }
            },
            Err(failure) => Input::ToolEnded { at, call, attempt, result: Err(failure) },
        });
    }

    async fn call_tool(&self, permit: &Permit, controller: AbortController) -> Result<JsValue, Failure> {
        let signal = controller.signal();
        self.tool_aborts.borrow_mut().push((permit.call().clone(), controller.clone()));
        let host = &self.setup.host;
        let running = host.run(
            permit.tool(),
            permit.arguments(),
            permit.call().as_str(),
            permit.idempotency_key(),
            &signal,
            permit.note(),
            answers(permit).as_deref(),
        );
        let limit = self.setup.timeouts.tool;
        match within(host, running, limit).await {
            Ok(ended) => Ok(ended),
            Err(thrown) if thrown.is_undefined() => {
                controller.abort();
                Err(Failure::TimedOut(limit))
            }
            Err(thrown) => {
                // The same failure may come of the page being left: then the result is lost, and the page goes first.
                let _ = settled(host.stays()).await;
                Err(Failure::Threw(text_of(&thrown)))
            }
        }
    }
}

/// What a tool asks for, as `www/src/requests.ts` wrote it.
fn read_spec(ended: &JsValue) -> Option<AskSpec> {
    let spec = parse_lenient(Array::from(ended).get(0).as_string()?.as_bytes()).ok()?;
    let text = |key: &str| spec.get(key).and_then(Json::as_str).map(str::to_owned);
    Some(AskSpec {
        kind: RequestKind::of(&text("kind")?),
        prompt: text("prompt")?,
        url: text("url"),
        data: spec.get("data").cloned(),
        expires_at: spec.get("expiresAt").map(Json::as_u64),
    })
}

/// What was answered to the tool so far, as JSON; `None` if nothing was.
fn answers(permit: &Permit) -> Option<String> {
    if permit.answers().is_empty() {
        return None;
    }
    let mut out = Writer::default();
    out.open('[');
    for answer in permit.answers() {
        out.item();
        out.open('{');
        out.text("id", answer.request.as_str());
        out.text("kind", answer.kind.token());
        out.flag("ok", answer.refused.is_none());
        if let Some(reason) = &answer.refused {
            out.optional("reason", reason.as_deref());
        }
        if let Some(data) = &answer.data {
            out.value("data", data);
        }
        out.close('}');
    }
    out.close(']');
    Some(out.finish())
}
