//! One model request from history to turn.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::{AbortController, AbortSignal};

use super::{Driver, Partial};
use crate::core::log::check_pairing;
use crate::core::message::{ModelError, ModelErrorClass, Turn};
use crate::core::run::Input;
use crate::core::wire::openai_chat::Reducer;
use crate::core::wire::{Opening, http_error};
use crate::web::error::text_of;
use crate::web::fetch::{Chunks, join, piece, retry_hints};
use crate::web::platform;

/// Sends the history and hands the turn, or why there is none, to the run.
pub(super) async fn call(driver: &Rc<Driver>, ticket: u64, closing: bool) {
    driver.partial.take();
    let answer = match AbortController::new() {
        Ok(controller) => {
            let signal = controller.signal();
            driver.model_abort.replace(Some(controller));
            request(driver, &signal, closing).await
        }
        Err(thrown) => Err(ModelError::new(ModelErrorClass::BadResponse, text_of(&thrown))),
    };
    let at = platform::now();
    let input = match answer {
        Ok(turn) => Input::TurnEnded { at, ticket, turn: turn.into() },
        Err(error) => Input::TurnFailed { at, ticket, error, partial: driver.partial.borrow().text.clone() },
    };
    // A late answer to an aborted request changes nothing, neither here nor in the run.
    if driver.handle(input).is_ok() {
        driver.model_abort.take();
        driver.partial.take();
    }
}

async fn request(driver: &Rc<Driver>, signal: &AbortSignal, closing: bool) -> Result<Turn, ModelError> {
    let body = body(driver, closing).map_err(|why| ModelError::new(ModelErrorClass::BadRequest, why))?;
    let response = driver.setup.endpoint.post(&driver.setup.host, &body, signal).await?;
    let chunks = Chunks::of(&response);
    if !response.ok() {
        let mut bytes = Vec::new();
        while let Ok(Some(chunk)) = chunks.next().await {
            bytes.extend(chunk);
        }
        return Err(http_error(response.status(), &bytes, retry_hints(&response)));
    }
    read(driver, &chunks, driver.setup.wire.reducer(), signal).await
}

async fn read(
    driver: &Rc<Driver>,
    chunks: &Chunks,
    mut reducer: Reducer,
    signal: &AbortSignal,
) -> Result<Turn, ModelError> {
    while !reducer.is_done() {
        // A stream that breaks off is judged by what had arrived: without an end it is a cut turn.
        let Ok(Some(bytes)) = chunks.next().await else { break };
        if signal.aborted() {
            break;
        }
        let delta = reducer.feed(&bytes);
        if !delta.text.is_empty() || !delta.reasoning.is_empty() {
            let mut partial = driver.partial.borrow_mut();
            let Partial { text, reasoning } = &mut *partial;
            text.push_str(&delta.text);
            reasoning.push_str(&delta.reasoning);
            drop(partial);
            driver.changed();
        }
    }
    reducer.finish()
}

/// The request's body. Each history item is encoded once; the encoded ones stay in a chain of Blobs outside of the
/// module's memory.
fn body(driver: &Rc<Driver>, closing: bool) -> Result<web_sys::Blob, String> {
    let wire = &driver.setup.wire;
    let run = driver.run.borrow();
    let history = run.chat().history();
    check_pairing(history).map_err(|problem| ["The history is not fit to send: ", &problem, "."].concat())?;
    let text = |thrown: JsValue| text_of(&thrown);
    let (chain, done) = driver.encoded.take().map_or((None, 0), |(chain, done)| (Some(chain), done));
    let mut pieces: Vec<JsValue> = chain.into_iter().map(Into::into).collect();
    let fresh = history.iter().enumerate().skip(done);
    pieces.extend(fresh.map(|(place, item)| piece(&wire.item(item, place == 0))));
    let chain = join(&pieces).map_err(text)?;
    driver.encoded.replace(Some((chain.clone(), history.len())));
    let opening = Opening {
        instructions: driver.setup.instructions.as_deref(),
        tools: &driver.setup.specs,
        allow_tools: !closing,
    };
    join(&[piece(&wire.head(&opening)), chain.into(), piece(wire.tail())]).map_err(text)
}
