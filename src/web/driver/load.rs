//! Reading a chat from the store: by the projection that is kept beside its log, or by the whole log.

use wasm_bindgen::JsValue;

use crate::core::chain;
use crate::core::event::Event;
use crate::core::log::{Chat, Kept};
use crate::core::message::ChatId;
use crate::core::run::RunError;
use crate::core::snapshot;
use crate::web::error::from_run;
use crate::web::fetch::settled;
use crate::web::host::Host;
use crate::web::setup::Setup;
use crate::web::value::to_strings;

/// A chat as the store has it.
pub(super) struct Loaded {
    pub(super) chat: Chat,
    /// The hash of its last event, empty if that has none.
    pub(super) last_hash: String,
    /// How many of its events were not read, since the projection that is kept covers them.
    pub(super) kept: u64,
    /// The messages of those that are folded.
    pub(super) drawn: Option<String>,
}

/// The chat as the store has it: by what is kept of it, if that is to be used and fits, else by all lines.
pub(super) async fn load(setup: &Setup, id: &str, use_kept: bool) -> Result<Loaded, JsValue> {
    if use_kept && let Some(loaded) = load_kept(setup, id).await {
        return Ok(loaded);
    }
    replay(id, &lines(&setup.host, id, 0).await?)
}

/// The chat that the lines tell.
pub(super) fn replay(id: &str, lines: &[String]) -> Result<Loaded, JsValue> {
    let chat = Chat::replay(ChatId::new(id), lines.iter().map(String::as_str));
    let chat = chat.map_err(|corrupt| from_run(&RunError::Corrupt(corrupt)))?;
    let last_hash = lines.last().and_then(|line| chain::hash_of(line)).unwrap_or_default();
    Ok(Loaded { chat, last_hash, kept: 0, drawn: None })
}

/// The chat by what is kept of it and the lines behind that; `None` where nothing is kept, or where the two do not fit.
async fn load_kept(setup: &Setup, id: &str) -> Option<Loaded> {
    let text = settled(setup.host.kept(id)).await.ok()?.as_string()?;
    let Kept { mut chat, last_hash, drawn } = Chat::from_kept(&ChatId::new(id), &text)?;
    let kept = chat.next_seq();
    // With the last line that it covers, so that what was kept of another log, or before a clearing, shows.
    let lines = lines(&setup.host, id, kept.checked_sub(1)?).await.ok()?;
    let (covered, behind) = lines.split_first()?;
    let event = Event::decode(covered).ok()?;
    let is_cleared = chat.run().is_some_and(|run| run.cleared);
    if hash_of(covered) != last_hash || event.seq + 1 != kept || event.cleared != is_cleared {
        return None;
    }
    chat.extend(behind.iter().map(String::as_str)).ok()?;
    let drawn =
        Some(drawn).filter(|drawn| drawn.titles == snapshot::titles(&setup.settings)).map(|drawn| drawn.messages);
    Some(Loaded { chat, last_hash: lines.last().map(|line| hash_of(line))?, kept, drawn })
}

/// The lines of a chat's log from that place on.
pub(super) async fn lines(host: &Host, id: &str, from: u64) -> Result<Vec<String>, JsValue> {
    to_strings(settled(host.load(id, from as f64)).await?, "store.load")
}

/// The hash of a stored line, empty if it has none.
pub(super) fn hash_of(line: &str) -> String {
    chain::hash_of(line).unwrap_or_default()
}
