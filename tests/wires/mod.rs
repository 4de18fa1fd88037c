//! The four wires side by side: one chat, each of their requests, and what every server demands of it.
#![allow(dead_code)]

use countersign::core::json::{Json, parse_lenient};
use countersign::core::message::{HistoryItem, ToolSpec};
use countersign::core::wire::{Opening, Wire, anthropic, gemini, openai_chat, openai_responses};

pub const WIRES: [&str; 4] = ["openai_chat", "openai_responses", "anthropic", "gemini"];

/// The wire of that name; what it produces is bound to its name.
pub fn wire(name: &str) -> Wire {
    wire_at(name, name)
}

/// The wire of that name, at another endpoint.
pub fn wire_at(name: &str, binding: &str) -> Wire {
    match name {
        "openai_chat" => Wire::OpenAiChat(
            openai_chat::OpenAiChat::new("gpt-x", binding, Vec::new(), openai_chat::Dialect::default()).unwrap(),
        ),
        "openai_responses" => Wire::OpenAiResponses(
            openai_responses::OpenAiResponses::new("gpt-x", binding, Vec::new(), openai_responses::Dialect::default())
                .unwrap(),
        ),
        "anthropic" => Wire::Anthropic(
            anthropic::Anthropic::new("claude-x", binding, Vec::new(), anthropic::Dialect::default()).unwrap(),
        ),
        "gemini" => Wire::Gemini(gemini::Gemini::new("gemini-3-x", binding, Vec::new()).unwrap()),
        _ => panic!("no such wire: {name}"),
    }
}

/// Chat Completions as Mistral takes it.
pub fn mistral() -> Wire {
    let dialect = openai_chat::Dialect {
        nine_character_ids: true,
        answer_after_results: true,
        ..openai_chat::Dialect::default()
    };
    Wire::OpenAiChat(openai_chat::OpenAiChat::new("mistral-x", "mistral", Vec::new(), dialect).unwrap())
}

pub fn tool(name: &str) -> ToolSpec {
    let input_schema = parse_lenient(br#"{"type":"object","properties":{}}"#).unwrap();
    ToolSpec { name: name.to_owned(), description: String::new(), input_schema }
}

/// The whole body of a request.
pub fn body(wire: &Wire, tools: &[ToolSpec], history: &[HistoryItem]) -> String {
    let mut body = wire.head(&Opening { instructions: Some("Be brief."), tools, allow_tools: true });
    for (place, item) in history.iter().enumerate() {
        body.extend(wire.item(item, &history[..place]));
    }
    body.extend(wire.tail(history.last(), None));
    String::from_utf8(body).unwrap()
}

/// A call or a result as a request holds it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// Empty where the wire sends none.
    pub id: String,
    /// Empty for results on wires that name only calls.
    pub name: String,
    /// What a result says; what a call is given.
    pub text: String,
    pub is_result: bool,
}

/// Reads a request's calls and results in order. Fails on what its server would refuse: a call without its result in the
/// place for it, a result without call, an id twice, an empty text, two messages of one role where they must alternate.
pub fn read(body: &str) -> Vec<Item> {
    let request = parse_lenient(body.as_bytes()).unwrap();
    if let Some(messages) = request.get("messages").and_then(Json::as_array) {
        if request.get("max_tokens").is_some() { read_anthropic(messages) } else { read_chat(messages) }
    } else if let Some(input) = request.get("input").and_then(Json::as_array) {
        read_responses(input)
    } else {
        read_gemini(request.get("contents").and_then(Json::as_array).unwrap())
    }
}

/// The names of the tools on offer.
pub fn offered(body: &str) -> Vec<String> {
    let request = parse_lenient(body.as_bytes()).unwrap();
    let tools = request.get("tools").and_then(Json::as_array).unwrap();
    let declared = tools[0].get("functionDeclarations").and_then(Json::as_array).unwrap_or(tools);
    declared.iter().map(|tool| text(tool.get("function").unwrap_or(tool), "name")).collect()
}

fn text(value: &Json, key: &str) -> String {
    value.get(key).and_then(Json::as_str).unwrap_or_default().to_owned()
}

fn list<'a>(value: &'a Json, key: &str) -> &'a [Json] {
    value.get(key).and_then(Json::as_array).unwrap_or_default()
}

/// Checks that results answer what is open, in call order, and that nothing else comes before they do.
#[derive(Default)]
struct Pairing {
    items: Vec<Item>,
    open: Vec<String>,
}

impl Pairing {
    fn call(&mut self, id: String, name: String, arguments: String) {
        assert!(!id.is_empty() && !name.is_empty());
        assert!(self.items.iter().all(|item| item.is_result || item.id != id), "the id {id} is used twice");
        let object = parse_lenient(arguments.as_bytes()).unwrap();
        assert!(object.as_object().is_some(), "arguments are no object: {arguments}");
        self.open.push(id.clone());
        self.items.push(Item { id, name, text: arguments, is_result: false });
    }

    fn result(&mut self, id: String, text: String) {
        assert!(!self.open.is_empty(), "a result of {id} answers nothing");
        assert_eq!(self.open.remove(0), id, "results stand in call order");
        self.items.push(Item { id, name: String::new(), text, is_result: true });
    }

    fn other(&self, what: &str) {
        assert!(self.open.is_empty(), "{what} comes before the results of {:?}", self.open);
    }
}

fn read_chat(messages: &[Json]) -> Vec<Item> {
    let mut pairing = Pairing::default();
    for message in messages {
        let role = text(message, "role");
        if role == "tool" {
            pairing.result(text(message, "tool_call_id"), text(message, "content"));
            continue;
        }
        pairing.other(&role);
        assert!(message.get("content").is_some());
        assert!(message.get("tool_calls").is_none_or(|calls| !calls.as_array().unwrap().is_empty()));
        for call in list(message, "tool_calls") {
            assert_eq!(text(call, "type"), "function");
            let function = call.get("function").unwrap();
            pairing.call(text(call, "id"), text(function, "name"), text(function, "arguments"));
        }
    }
    pairing.other("the end");
    pairing.items
}

fn read_responses(input: &[Json]) -> Vec<Item> {
    let mut pairing = Pairing::default();
    let mut thinks = false;
    for item in input {
        let kind = text(item, "type");
        assert!(!thinks || kind != "message" || text(item, "role") == "assistant", "reasoning led to nothing");
        thinks = kind == "reasoning";
        match kind.as_str() {
            "function_call" => pairing.call(text(item, "call_id"), text(item, "name"), text(item, "arguments")),
            "function_call_output" => pairing.result(text(item, "call_id"), text(item, "output")),
            "message" if text(item, "role") == "user" => {
                pairing.other("a message");
                assert!(!list(item, "content").is_empty());
            }
            _ => {}
        }
    }
    assert!(!thinks, "reasoning led to nothing");
    pairing.other("the end");
    pairing.items
}

fn read_anthropic(messages: &[Json]) -> Vec<Item> {
    let mut pairing = Pairing::default();
    let mut before = String::new();
    for message in messages {
        let role = text(message, "role");
        assert_ne!(role, before, "roles alternate");
        assert!(!before.is_empty() || role == "user", "the first message is a user's");
        let blocks = list(message, "content");
        assert!(!blocks.is_empty());
        for block in blocks {
            match text(block, "type").as_str() {
                "tool_use" => {
                    let input = block.get("input").unwrap().text();
                    pairing.call(text(block, "id"), text(block, "name"), input);
                }
                "tool_result" => pairing.result(text(block, "tool_use_id"), text(block, "content")),
                "text" => {
                    // Results come first in the message behind the calls.
                    assert!(role == "assistant" || pairing.open.is_empty(), "a text comes before results");
                    assert!(!text(block, "text").trim().is_empty(), "a text is blank");
                }
                _ => {}
            }
        }
        if role == "user" {
            pairing.other("the end of a message");
        }
        before = role;
    }
    pairing.other("the end");
    pairing.items
}

/// Google pairs by name and order; ids are optional, but the same on both sides.
fn read_gemini(contents: &[Json]) -> Vec<Item> {
    let mut items = Vec::new();
    let mut open: Vec<(String, String)> = Vec::new();
    let mut before = String::new();
    for content in contents {
        let (role, parts) = (text(content, "role"), list(content, "parts"));
        assert!(!parts.is_empty());
        assert!(role == "user" || before == "user", "a turn of the model follows a user's content");
        let results = parts.iter().filter(|part| part.get("functionResponse").is_some()).count();
        assert_eq!(results, open.len(), "as many results as calls");
        assert!(results == 0 || results == parts.len(), "results stand alone");
        let mut calls = 0;
        for part in parts {
            if let Some(result) = part.get("functionResponse") {
                let key = (text(result, "id"), text(result, "name"));
                assert_eq!(open.remove(0), key, "results stand in call order");
                let [(kind, said)] = result.get("response").unwrap().as_object().unwrap() else { panic!("one member") };
                assert!(kind == "result" || kind == "error", "{kind}");
                let said = said.as_str().unwrap().to_owned();
                items.push(Item { id: key.0, name: key.1, text: said, is_result: true });
            } else if let Some(call) = part.get("functionCall") {
                assert!(call.get("args").unwrap().as_object().is_some());
                assert!(calls > 0 || part.get("thoughtSignature").is_some(), "the first call of a step is signed");
                calls += 1;
                let key = (text(call, "id"), text(call, "name"));
                open.push(key.clone());
                items.push(Item { id: key.0, name: key.1, text: call.get("args").unwrap().text(), is_result: false });
            }
        }
        before = role;
    }
    assert!(open.is_empty(), "calls have no results");
    items
}
