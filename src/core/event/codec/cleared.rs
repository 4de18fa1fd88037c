//! What is read where an event's content is gone: as many messages, calls and results as there were, all of them empty.

use std::rc::Rc;

use super::Reader;
use crate::core::json::{Json, MAX_ITEMS};
use crate::core::message::{CallId, CallKind, HistoryItem, ResultItem, Trust, Turn, TurnCall, TurnEnd, TurnExtra};

/// Messages whose content is gone: for each turn its number of calls, each of which has its result.
pub(super) fn history(read: Reader<'_>) -> Vec<HistoryItem> {
    let mut items = Vec::new();
    let mut turns = 0;
    for message in read.array("history_shape") {
        if message.is_null() {
            items.push(HistoryItem::User(Vec::new()));
            continue;
        }
        turns += 1;
        let turn = turn(TurnEnd::Other, calls(read, "history_shape", message.as_u64()));
        let call_ids = CallId::of_turn(&CallId::seeded_turn(turns), turn.calls.len());
        let results = call_ids.iter().cloned().map(item).map(HistoryItem::Result).collect::<Vec<_>>();
        items.push(HistoryItem::Assistant { turn: Rc::new(turn), call_ids });
        items.extend(results);
    }
    items
}

/// The calls of a turn whose content is gone.
pub(super) fn calls(read: Reader<'_>, key: &'static str, count: Option<u64>) -> Vec<TurnCall> {
    let count = count.and_then(|count| usize::try_from(count).ok()).filter(|count| *count <= MAX_ITEMS);
    let count = count.unwrap_or_else(|| {
        read.reject(key);
        0
    });
    let mut calls = vec![TurnCall::default(); count];
    // Most turns have none.
    for place in read.object.get("provider_calls").and_then(Json::as_array).unwrap_or_default() {
        let place = place.as_u64().and_then(|place| usize::try_from(place).ok());
        match place.and_then(|place| calls.get_mut(place)) {
            Some(call) => call.kind = CallKind::ProviderApproval { server: String::new() },
            None => read.reject("provider_calls"),
        }
    }
    calls
}

/// A turn whose texts are gone.
pub(super) fn turn(end: TurnEnd, calls: Vec<TurnCall>) -> Turn {
    let extra = TurnExtra { calls: vec![Vec::new(); calls.len()], ..TurnExtra::default() };
    let (text, reasoning, refusal) = (String::new(), String::new(), String::new());
    Turn { end, finish_reason: None, text, reasoning, refusal, calls, usage: None, extra }
}

/// A result whose text is gone. Who wrote it no longer matters: no request carries it.
pub(super) const fn item(call: CallId) -> ResultItem {
    ResultItem { call, renderer: None, text: String::new(), is_error: false, trust: Trust::ExternalUntrusted }
}
