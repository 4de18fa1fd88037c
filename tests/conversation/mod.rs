//! Pieces of a conversation, as the tests of each wire put them together.
#![allow(dead_code)]

use countersign::core::json::{Json, parse_lenient};
use countersign::core::message::{
    CallId, HistoryItem, Part, ResultItem, ToolSpec, Trust, Turn, TurnCall, TurnEnd, TurnExtra,
};
use countersign::core::wire::Opening;

pub const BARE: Opening<'static> = Opening { instructions: None, tools: &[], allow_tools: true };

pub fn json(text: &str) -> Json {
    parse_lenient(text.as_bytes()).unwrap()
}

pub fn params(text: &str) -> Vec<(String, Json)> {
    json(text).as_object().unwrap().to_vec()
}

pub fn tool(name: &str, description: &str, schema: &str) -> ToolSpec {
    ToolSpec { name: name.into(), description: description.into(), input_schema: json(schema) }
}

pub fn user(text: &str) -> HistoryItem {
    HistoryItem::User(vec![Part::Text(text.into())])
}

/// A turn from another model.
pub fn turn(text: &str, calls: &[(&str, &str)]) -> Turn {
    let calls: Vec<TurnCall> = calls
        .iter()
        .map(|(name, arguments)| TurnCall {
            name: (*name).into(),
            arguments: (*arguments).into(),
            ..TurnCall::default()
        })
        .collect();
    Turn {
        end: TurnEnd::ToolCalls,
        finish_reason: None,
        text: text.into(),
        reasoning: String::new(),
        refusal: String::new(),
        extra: TurnExtra { calls: vec![Vec::new(); calls.len()], ..TurnExtra::default() },
        calls,
        usage: None,
    }
}

pub fn assistant(turn: Turn) -> HistoryItem {
    assistant_at(1, turn)
}

pub fn assistant_at(place: usize, turn: Turn) -> HistoryItem {
    let call_ids = (1..=turn.calls.len()).map(|call| CallId::new(format!("r1t{place}c{call}"))).collect();
    HistoryItem::Assistant { turn: turn.into(), call_ids }
}

pub fn result(call: &str, text: &str, is_error: bool) -> HistoryItem {
    let (call, text) = (CallId::new(call), text.into());
    HistoryItem::Result(ResultItem { call, renderer: None, text, is_error, trust: Trust::Tool })
}
