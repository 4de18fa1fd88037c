//! The blocks of a turn, collected from their pieces.

use super::super::super::json::{JoinedText, Json};
use super::super::super::message::{CallKind, TurnCall};
use super::super::leftover;
use super::input;

/// The blocks in order of appearance.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Blocks {
    list: Vec<Block>,
    /// The answer's text: all text blocks.
    pub(super) text: JoinedText,
    /// The reasoning: all thoughts that can be read.
    pub(super) reasoning: JoinedText,
}

/// A block as far as it has arrived.
#[derive(Clone, Debug, PartialEq)]
struct Block {
    index: Option<i64>,
    value: Json,
    /// The input of a call. Not looked into before the end of the stream.
    input: JoinedText,
    is_closed: bool,
}

impl Block {
    /// Whether an event with that index is about this block; without an index it is about the last one.
    fn is_at(&self, index: Option<i64>) -> bool {
        index.is_none() || self.index == index
    }
}

/// What became of the blocks of a turn.
pub(super) struct Finished {
    pub(super) text: String,
    pub(super) reasoning: String,
    /// The blocks as they go back.
    pub(super) items: Vec<Json>,
    /// The calls among them, in order.
    pub(super) calls: Vec<TurnCall>,
}

/// The type of a block.
pub(super) fn kind(block: &Json) -> &str {
    block.get("type").and_then(Json::as_str).unwrap_or("")
}

impl Blocks {
    pub(super) fn is_empty(&self) -> bool {
        self.list.is_empty()
    }

    /// Whether there is a call for this program to run; servers run others themselves.
    pub(super) fn have_calls(&self) -> bool {
        self.list.iter().any(|block| kind(&block.value) == "tool_use")
    }

    /// A block begins. Some servers put all of it here.
    pub(super) fn begin(&mut self, index: Option<i64>, value: &Json) {
        if value.as_object().is_none() {
            return;
        }
        match (kind(value), value.get("text"), value.get("thinking")) {
            ("text", Some(text), _) => self.text.push(text),
            ("thinking", _, Some(thought)) => self.reasoning.push(thought),
            _ => {}
        }
        self.list.push(Block { index, value: value.clone(), input: JoinedText::of_json(), is_closed: false });
    }

    /// A piece of the last block of that index arrives.
    pub(super) fn add(&mut self, index: Option<i64>, delta: &Json) {
        if !self.list.iter().any(|block| block.is_at(index)) {
            // A piece of text without its beginning is text all the same.
            let begins = |kind: &str| Json::Object(vec![("type".to_owned(), kind.into())]);
            match kind(delta) {
                "text_delta" => self.begin(index, &begins("text")),
                "thinking_delta" => self.begin(index, &begins("thinking")),
                _ => {}
            }
        }
        let Self { list, text, reasoning } = self;
        let Some(block) = list.iter_mut().rev().find(|block| block.is_at(index)) else { return };
        let of_kind = kind(&block.value).to_owned();
        let Json::Object(fields) = &mut block.value else { return };
        for (key, value) in delta.as_object().unwrap_or(&[]) {
            match (key.as_str(), of_kind.as_str()) {
                ("type", _) => continue,
                ("partial_json", _) => {
                    block.input.push(value);
                    continue;
                }
                ("citation", _) => {
                    match fields.iter_mut().find(|(name, _)| name == "citations") {
                        Some((_, Json::Array(citations))) => citations.push(value.clone()),
                        Some((_, citations)) => *citations = Json::Array(vec![value.clone()]),
                        None => fields.push(("citations".to_owned(), Json::Array(vec![value.clone()]))),
                    }
                    continue;
                }
                ("text", "text") => text.push(value),
                ("thinking", "thinking") => reasoning.push(value),
                _ => {}
            }
            leftover::add(fields, key, value);
        }
    }

    /// The last block of that index is complete.
    pub(super) fn close(&mut self, index: Option<i64>) {
        if let Some(block) = self.list.iter_mut().rev().find(|block| block.is_at(index)) {
            block.is_closed = true;
        }
    }

    /// The response has ended. A cut turn loses what is of no use in pieces.
    pub(super) fn finish(self, is_cut: bool) -> Finished {
        let mut calls = Vec::new();
        let kept = self.list.into_iter().filter_map(|block| {
            let kind = kind(&block.value).to_owned();
            let is_call = kind == "tool_use";
            let signature = block.value.get("signature").and_then(Json::as_str);
            // Without its signature a thought is refused.
            let is_whole =
                if kind == "thinking" { signature.is_some_and(|text| !text.is_empty()) } else { block.is_closed };
            if is_cut && !is_whole && !is_call && kind != "text" {
                return None;
            }
            let text = |key: &str| block.value.get(key).and_then(Json::as_str).unwrap_or("").to_owned();
            let (id, name) = (text("id"), text("name"));
            let begun = block.value.get("input").filter(|input| !input.is_null()).map(Json::exact_text);
            let mut arguments = block.input.into_text();
            if matches!(arguments.trim_ascii(), "" | "null") {
                // Then the beginning had all of it, which is nothing for a tool without arguments.
                arguments = begun.unwrap_or_else(|| String::from("{}"));
            }
            let Json::Object(mut fields) = block.value else { return None };
            let has_input = kind.ends_with("tool_use");
            if has_input && !fields.iter().any(|(key, _)| key == "input") {
                fields.push(("input".to_owned(), Json::Null));
            }
            for (key, value) in &mut fields {
                if has_input && key == "input" {
                    *value = input(&arguments);
                } else {
                    value.make_well_formed();
                }
            }
            if is_call {
                calls.push(TurnCall {
                    kind: CallKind::Function,
                    provider_id: Some(id).filter(|id| !id.is_empty()),
                    name,
                    arguments,
                });
            }
            Some(Json::Object(fields))
        });
        let items = kept.collect();
        Finished { text: self.text.into_text(), reasoning: self.reasoning.into_text(), items, calls }
    }
}
