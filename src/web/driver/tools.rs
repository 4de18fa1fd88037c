//! Running tools, under permits only.

use std::rc::Rc;

use web_sys::AbortController;

use super::Driver;
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
        let result = match AbortController::new() {
            Ok(controller) if covered => self.call_tool(&permit, controller).await,
            _ => Err(Failure::Threw("the tool is no longer what was approved; it was not called".to_owned())),
        };
        self.tool_aborts.borrow_mut().retain(|(call, _)| call != permit.call());
        let (call, attempt) = (permit.call().clone(), permit.attempt());
        // A result that comes after a stop is not waited for: the call has its outcome.
        let _ = self.handle(Input::ToolEnded { at: platform::now(), call, attempt, result });
    }

    async fn call_tool(&self, permit: &Permit, controller: AbortController) -> Result<String, Failure> {
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
        );
        let limit = self.setup.timeouts.tool;
        match within(host, running, limit).await {
            Ok(text) => Ok(text.as_string().unwrap_or_default()),
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
