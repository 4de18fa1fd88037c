//! One model request from history to turn.

use std::rc::Rc;

use wasm_bindgen::JsValue;
use web_sys::{AbortController, AbortSignal};

use super::{Driver, Encoded, Partial};
use crate::core::json::read_whole;
use crate::core::log::check_pairing;
use crate::core::message::{ModelError, ModelErrorClass, Turn};
use crate::core::run::{Handled, Input};
use crate::core::snapshot;
use crate::core::wire::{Opening, http_error, restore_names};
use crate::web::error::text_of;
use crate::web::fetch::{Chunks, join, late, piece, retry_hints, settled};
use crate::web::platform;

/// How often a request that failed before anything of an answer arrived is made again.
const RETRIES: u32 = 2;
/// The longest that chance makes the first retry wait, in milliseconds; each further one may wait twice as long. Any part of
/// it is as likely, so that pages whose requests failed together do not come back together.
const SPREAD: u64 = 500;
/// The longest wait before that, in milliseconds; a server that asks for more is left to the person's retry.
const LONGEST_WAIT: u64 = 20_000;

/// How often the host may shorten the history for one request.
const TRIMS: u32 = 3;

/// Sends the history and hands the turn, or why there is none, to the run.
pub(super) async fn call(driver: &Rc<Driver>, ticket: u64, closing: bool) {
    // A stop came between the effect and here.
    if !driver.look(|run| run.awaits_model(ticket)) {
        return;
    }
    driver.partial.take();
    let answer = match AbortController::new() {
        Ok(controller) => {
            driver.model_abort.replace(Some(controller.clone()));
            attempts(driver, &controller, closing).await
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

/// Makes the request, and again after a passing failure: bounded, and only while nothing of an answer has arrived.
async fn attempts(driver: &Rc<Driver>, controller: &AbortController, closing: bool) -> Result<Turn, ModelError> {
    let signal = controller.signal();
    let mut left = RETRIES;
    let mut trims = TRIMS;
    loop {
        let error = match request(driver, &signal, closing).await {
            Ok(turn) => return Ok(turn),
            Err(error) => error,
        };
        // A request that ended because the page is left has not failed. Nobody hears of it: the page goes first.
        let _ = settled(driver.setup.host.stays()).await;
        if error.class == ModelErrorClass::ContextTooLong && trims > 0 && trim(driver).await {
            trims -= 1;
            continue;
        }
        let asked = error.retry_after_ms.unwrap_or_default();
        let Partial { text, reasoning } = driver.partial();
        let begun = !text.is_empty() || !reasoning.is_empty();
        if error.class == ModelErrorClass::Timeout {
            controller.abort();
        }
        if !error.retryable || begun || left == 0 || asked > LONGEST_WAIT || signal.aborted() {
            return Err(error);
        }
        // What the server asked for is the least.
        let wait = asked + platform::by_chance(SPREAD << (RETRIES - left));
        left -= 1;
        if settled(driver.setup.host.sleep(wait as f64)).await.is_err() || signal.aborted() {
            return Err(error);
        }
    }
}

/// Asks the host how much of the history to leave out from now on. Says whether that is more than before, and stored.
async fn trim(driver: &Rc<Driver>) -> bool {
    let messages = driver.look(|run| {
        let count = run.chat().entries().len();
        (0..count).map(|place| snapshot::message(run, place)).collect::<Vec<_>>()
    });
    let messages = ["[", &messages.join(","), "]"].concat();
    let Ok(answer) = settled(driver.setup.host.trim(&messages)).await else { return false };
    let Some(omitted) = answer.as_string().and_then(|digits| read_whole(&digits)) else { return false };
    let trimmed = driver.handle(Input::Trim { at: platform::now(), omitted: omitted as usize });
    matches!(trimmed, Ok(Handled::Applied)) && driver.stored().await.is_ok()
}

async fn request(driver: &Rc<Driver>, signal: &AbortSignal, closing: bool) -> Result<Turn, ModelError> {
    let (host, timeouts) = (&driver.setup.host, driver.setup.timeouts);
    let body = body(driver, closing).map_err(|why| ModelError::new(ModelErrorClass::BadRequest, why))?;
    let response = driver.setup.endpoint.post(host, &body, signal, timeouts.first_byte).await?;
    let chunks = Chunks::of(&response);
    if !response.ok() {
        let mut bytes = Vec::new();
        while let Ok(Some(chunk)) = chunks.next(host, timeouts.idle).await {
            bytes.extend(chunk);
        }
        let mut error = http_error(response.status(), &bytes, retry_hints(&response));
        if response.status() == 404 {
            let url = &driver.setup.endpoint.url;
            let address = url.split('?').next().unwrap_or(url);
            let went = " The request went to ";
            error.message = [&error.message, went, address, "; check the model's baseUrl, and its name."].concat();
        }
        return Err(error);
    }
    let mut reducer = driver.setup.wire.reducer();
    let mut limit = timeouts.first_byte;
    while !reducer.is_done() {
        let bytes = match chunks.next(host, limit).await {
            Ok(Some(bytes)) => bytes,
            Err(thrown) if thrown.is_undefined() => return Err(late()),
            // A stream that breaks off is judged by what had arrived: without an end it is a cut turn. Unless it broke off
            // because the page is left.
            Err(_) => {
                let _ = settled(host.stays()).await;
                break;
            }
            Ok(None) => break,
        };
        if signal.aborted() {
            break;
        }
        limit = timeouts.idle;
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
    let mut turn = reducer.finish()?;
    restore_names(&mut turn, &driver.setup.specs);
    Ok(turn)
}

/// What the host tells the model at the limit of rounds.
const LIMIT_NOTE: &str = "Note from the application: the limit of model turns for this message is reached. No tool can be \
                          called any more. Answer with what is known, and say what was left undone.";

/// The request's body. Each history item is encoded once; the encoded ones stay in a chain of Blobs outside of the
/// module's memory.
fn body(driver: &Rc<Driver>, closing: bool) -> Result<web_sys::Blob, String> {
    let wire = &driver.setup.wire;
    let run = driver.run.borrow();
    let history = run.chat().history();
    check_pairing(history).map_err(|problem| ["The history is not fit to send: ", &problem, "."].concat())?;
    let text = |thrown: JsValue| text_of(&thrown);
    let start = run.chat().start();
    let kept = driver.encoded.take().filter(|kept| kept.start == start);
    let done = kept.as_ref().map_or(0, |kept| kept.items);
    let mut pieces: Vec<JsValue> = kept.into_iter().map(|kept| kept.bytes.into()).collect();
    let before = |place: usize| history.get(..place).unwrap_or_default();
    let fresh = history.iter().enumerate().skip(done);
    pieces.extend(fresh.map(|(place, item)| piece(&wire.item(item, before(place)))));
    let chain = join(&pieces).map_err(text)?;
    driver.encoded.replace(Some(Encoded { start, items: history.len(), bytes: chain.clone() }));
    let opening = Opening {
        instructions: driver.setup.instructions.as_deref(),
        tools: &driver.setup.specs,
        allow_tools: !closing,
    };
    let note = closing.then_some(LIMIT_NOTE);
    join(&[piece(&wire.head(&opening)), chain.into(), piece(&wire.tail(history.last(), note))]).map_err(text)
}
