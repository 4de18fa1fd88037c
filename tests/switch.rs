//! A chat that goes on with another provider: what was bound to the first stays behind, everything else is still there.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod sim;
mod wires;

use countersign::core::message::{HistoryItem, Turn};
use countersign::core::outcome::Failure;
use countersign::core::wire::Wire;
use sim::{Sim, settings};
use wires::{Item, WIRES, body, mistral, read, wire, wire_at};

/// Stands in everything of a stream that means something to its sender alone.
const BOUND: &str = "BOUND";

/// The calls of the first turn: a read that is allowed, two that ask, and one of a tool that nobody offered.
const CALLS: [(&str, &str); 4] = [("look", "{}"), ("eat", r#"{"n":3}"#), ("odd", r#"{"x":"y"}"#), ("3d view", "{}")];

/// A recorded turn of a wire as its provider sends it, with calls or, without any, a text.
fn stream(name: &str, calls: &[(&str, &str)], text: &str) -> String {
    let quoted = |text: &str| serde_json::Value::from(text).to_string();
    let mut events: Vec<String> = Vec::new();
    match name {
        "openai_chat" => {
            events.push(format!(
                r#"{{"choices":[{{"index":0,"delta":{{"content":"{text}","reasoning_content":"{BOUND} thought","reasoning_details":[{{"type":"reasoning.encrypted","data":"{BOUND}"}}]}}}}]}}"#
            ));
            for (place, (call, arguments)) in calls.iter().enumerate() {
                let arguments = quoted(arguments);
                // Like some servers, this one gives all its calls of all turns the same two ids.
                events.push(format!(
                    r#"{{"choices":[{{"index":0,"delta":{{"tool_calls":[{{"index":{place},"id":"call_{}","function":{{"name":"{call}","arguments":{arguments}}},"extra_content":{{"google":{{"thought_signature":"{BOUND}"}}}}}}]}}}}]}}"#,
                    place % 2
                ));
            }
            events.push(r#"{"choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}"#.to_owned());
            events.push("[DONE]".to_owned());
        }
        "openai_responses" => {
            let mut items = vec![
                format!(
                    r#"{{"type":"reasoning","id":"rs_{BOUND}","summary":[{{"type":"summary_text","text":"{BOUND} thought"}}],"encrypted_content":"{BOUND}"}}"#
                ),
                format!(
                    r#"{{"type":"message","id":"msg_{BOUND}","role":"assistant","status":"completed","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
                ),
            ];
            for (call, arguments) in calls {
                let arguments = quoted(arguments);
                items.push(format!(
                    r#"{{"type":"function_call","id":"fc_{BOUND}","call_id":"call_0","name":"{call}","arguments":{arguments},"status":"completed"}}"#
                ));
            }
            for (place, item) in items.iter().enumerate() {
                events.push(format!(r#"{{"type":"response.output_item.done","output_index":{place},"item":{item}}}"#));
            }
            events.push(r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#.to_owned());
        }
        "anthropic" => {
            let mut blocks = vec![
                format!(r#"{{"type":"thinking","thinking":"{BOUND} thought","signature":"{BOUND}"}}"#),
                format!(r#"{{"type":"redacted_thinking","data":"{BOUND}"}}"#),
                format!(r#"{{"type":"text","text":"{text}"}}"#),
            ];
            for (call, arguments) in calls {
                blocks.push(format!(
                    r#"{{"type":"tool_use","id":"toolu_{BOUND}","name":"{call}","input":{arguments},"caller":{{"type":"{BOUND}"}}}}"#
                ));
            }
            events.push(
                r#"{"type":"message_start","message":{"id":"msg_1","role":"assistant","content":[]}}"#.to_owned(),
            );
            for (index, block) in blocks.iter().enumerate() {
                events.push(format!(r#"{{"type":"content_block_start","index":{index},"content_block":{block}}}"#));
                events.push(format!(r#"{{"type":"content_block_stop","index":{index}}}"#));
            }
            let reason = if calls.is_empty() { "end_turn" } else { "tool_use" };
            events.push(format!(r#"{{"type":"message_delta","delta":{{"stop_reason":"{reason}"}}}}"#));
            events.push(r#"{"type":"message_stop"}"#.to_owned());
        }
        _ => {
            let mut parts = vec![
                format!(r#"{{"text":"{BOUND} thought","thought":true,"thoughtSignature":"{BOUND}"}}"#),
                format!(r#"{{"text":"{text}"}}"#),
            ];
            for (place, (call, arguments)) in calls.iter().enumerate() {
                let signature = if place == 0 { format!(r#","thoughtSignature":"{BOUND}""#) } else { String::new() };
                parts.push(format!(
                    r#"{{"functionCall":{{"id":"{BOUND}","name":"{call}","args":{arguments}}}{signature}}}"#
                ));
            }
            let parts = parts.join(",");
            events.push(format!(r#"{{"candidates":[{{"content":{{"parts":[{parts}]}},"finishReason":"STOP"}}]}}"#));
        }
    }
    events.iter().map(|event| format!("data: {event}\n\n")).collect()
}

/// What a wire reads out of such a stream.
fn turn(name: &str, calls: &[(&str, &str)], text: &str) -> Turn {
    let mut reducer = wire(name).reducer();
    reducer.feed(stream(name, calls, text).as_bytes());
    reducer.finish().unwrap()
}

/// A run with a provider, from the message to the answer: of its calls one ran, one was denied, one failed, one is of
/// nothing that is known.
fn run_with(sim: &mut Sim, name: &str) {
    let asked = sim.lines.iter().filter(|line| line.contains("\"tool.call.asked\"")).count();
    sim.send(Some("ada")).unwrap();
    sim.turn(turn(name, &CALLS, "On it.")).unwrap();
    sim.decide(&request(sim, asked), false, Some("ada")).unwrap();
    sim.decide(&request(sim, asked + 1), true, Some("ada")).unwrap();
    sim.tool(Ok("It is full.")).unwrap();
    sim.tool(Err(Failure::Threw("no power".to_owned()))).unwrap();
    sim.turn(turn(name, &[], "Half done.")).unwrap();
}

/// The id of the chat's so-and-so-manieth request.
fn request(sim: &Sim, place: usize) -> String {
    let mut asked = sim.lines.iter().filter(|line| line.contains("\"tool.call.asked\""));
    let line: serde_json::Value = serde_json::from_str(asked.nth(place).unwrap()).unwrap();
    line["request_id"].as_str().unwrap().to_owned()
}

/// The results of a run as the log keeps them.
fn stored(history: &[HistoryItem]) -> Vec<String> {
    let results = history.iter().filter_map(|item| match item {
        HistoryItem::Result(result) => Some(result.text.clone()),
        _ => None,
    });
    results.collect()
}

fn results(items: &[Item]) -> Vec<&str> {
    items.iter().filter(|item| item.is_result).map(|item| item.text.as_str()).collect()
}

/// The request that goes on with a chat.
fn next(sim: &mut Sim, wire: &Wire) -> String {
    sim.send(Some("ada")).unwrap();
    body(wire, &[], sim.run.chat().history())
}

const DENIAL: &str = "Error: approval_denied (decided_by: run_owner). The approval for tool \"eat\" was declined by the user who started this run, the person you are talking to. Nothing was executed. ";

#[test]
fn every_switch_leaves_a_valid_history_and_nothing_bound() {
    let mut denials = Vec::new();
    for from in WIRES {
        for to in WIRES {
            let mut sim = Sim::new(settings());
            run_with(&mut sim, from);
            let told = stored(sim.run.chat().history());
            // A switch to itself is one to another endpoint of the kind.
            let other = wire_at(to, "elsewhere");
            let sent = next(&mut sim, &other);
            assert!(!sent.contains(BOUND), "{from} → {to}: {sent}");
            assert!(sent.contains("On it.") && sent.contains("Half done."), "{from} → {to}: {sent}");
            let items = read(&sent);
            assert_eq!(results(&items), told, "{from} → {to}");
            assert!(items[5].text.starts_with(DENIAL), "{from} → {to}: {}", items[5].text);
            denials.push(items[5].text.clone());
            let calls: Vec<_> = items.iter().filter(|item| !item.is_result).collect();
            for (place, (call, (name, arguments))) in calls.iter().zip(CALLS).enumerate() {
                // Google's ids are optional, and older models refuse them: only its own turns have any.
                let id = if to == "gemini" { String::new() } else { format!("r1t1c{}", place + 1) };
                assert_eq!((&call.id, call.text.as_str()), (&id, arguments), "{from} → {to}");
                assert_eq!(call.name == name, place < 3, "{from} → {to}: {}", call.name);
            }
        }
    }
    assert_eq!(denials.len(), 16);
    assert!(denials.iter().all(|denial| *denial == denials[0]), "the denial has the same bytes everywhere");
}

#[test]
fn a_chat_of_two_providers_gives_each_its_own_back() {
    for first in WIRES {
        for second in WIRES.into_iter().filter(|second| *second != first) {
            let mut sim = Sim::new(settings());
            run_with(&mut sim, first);
            let count = |text: &str| text.matches(BOUND).count();
            let before = count(&body(&wire(first), &[], sim.run.chat().history()));
            assert!(before > 0, "{first}");
            run_with(&mut sim, second);
            let told = stored(sim.run.chat().history());
            assert_eq!(told[1], told[5], "the same denial, word for word");
            let sent = next(&mut sim, &wire(first));
            assert_eq!(count(&sent), before, "{first} → {second} → {first}: {sent}");
            assert_eq!(results(&read(&sent)), told, "{first} → {second} → {first}");
            let history = sim.run.chat().history();
            let sent = body(&wire(second), &[], history);
            assert!(count(&sent) > 0, "{first} → {second}: {sent}");
            assert_eq!(results(&read(&sent)), told, "{first} → {second}");
            // One that neither of them is.
            for name in WIRES {
                let sent = body(&wire_at(name, "elsewhere"), &[], history);
                assert_eq!(
                    (count(&sent), results(&read(&sent))),
                    (0, told.iter().map(String::as_str).collect()),
                    "{name}"
                );
            }
            assert_eq!(results(&read(&body(&mistral(), &[], history))), told);
        }
    }
}

#[test]
fn a_switch_while_a_call_waits_finds_it_waiting() {
    for from in WIRES {
        for to in WIRES.into_iter().filter(|to| *to != from) {
            let mut sim = Sim::new(settings());
            sim.send(Some("ada")).unwrap();
            sim.turn(turn(from, &CALLS, "On it.")).unwrap();
            // The page was closed, and another agent opens the chat.
            sim.reload();
            sim.decide(&request(&sim, 0), false, Some("ada")).unwrap();
            sim.decide(&request(&sim, 1), false, Some("ada")).unwrap();
            sim.tool(Ok("It is full.")).unwrap();
            let sent = body(&wire(to), &[], sim.run.chat().history());
            assert!(!sent.contains(BOUND), "{from} → {to}: {sent}");
            assert_eq!(results(&read(&sent)).len(), CALLS.len());
            sim.turn(turn(to, &[], "I see.")).unwrap();
            let sent = next(&mut sim, &wire(to));
            assert_eq!(results(&read(&sent)).len(), CALLS.len());
        }
    }
}
