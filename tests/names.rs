//! How calls and tools are named on the wires: the same on both sides, told apart, and as every server takes it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod wires;

use countersign::core::message::{CallId, HistoryItem, Part, ResultItem, Trust, Turn, TurnCall, TurnEnd, TurnExtra};
use countersign::core::wire::{Wire, restore_names};
use proptest::prelude::*;
use std::collections::HashSet;
use wires::{Item, WIRES, body, mistral, offered, read, tool, wire};

/// A chat of one turn from elsewhere, with its results: of each call its id and name.
fn chat(calls: &[(String, String)]) -> Vec<HistoryItem> {
    let made = calls.iter().map(|(_, name)| TurnCall {
        name: name.clone(),
        arguments: "{}".to_owned(),
        ..TurnCall::default()
    });
    let turn = Turn {
        end: TurnEnd::ToolCalls,
        finish_reason: None,
        text: String::new(),
        reasoning: String::new(),
        refusal: String::new(),
        calls: made.collect(),
        usage: None,
        extra: TurnExtra::default(),
    };
    let call_ids: Vec<CallId> = calls.iter().map(|(id, _)| CallId::new(id)).collect();
    let results = call_ids.clone().into_iter().map(|call| {
        HistoryItem::Result(ResultItem { call, renderer: None, text: "ok".into(), is_error: false, trust: Trust::Tool })
    });
    let mut chat = vec![HistoryItem::User(vec![Part::Text("Go.".into())])];
    chat.push(HistoryItem::Assistant { turn: turn.into(), call_ids });
    chat.extend(results);
    chat
}

fn calls(wire: &Wire, made: &[(String, String)]) -> Vec<Item> {
    // The reader checks that each result has the id, and on Gemini the name, of its call.
    read(&body(wire, &[], &chat(made))).into_iter().filter(|item| !item.is_result).collect()
}

fn sent_name(wire: &Wire, name: &str) -> String {
    calls(wire, &[("r1t1c1".to_owned(), name.to_owned())]).remove(0).name
}

fn sent_id(wire: &Wire, id: &str) -> String {
    calls(wire, &[(id.to_owned(), "f".to_owned())]).remove(0).id
}

/// What the strictest server of each kind says of a name.
fn is_name(name: &str) -> bool {
    name.len() <= 64
        && name.starts_with(|char: char| char.is_ascii_alphabetic())
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-'))
}

#[test]
fn names_go_as_they_are_or_are_marked() {
    for (name, sent) in [
        ("read_file", "read_file"),
        ("a", "a"),
        (&"a".repeat(64), &"a".repeat(64)),
        // A template of the model's own leaked into the name.
        ("f<|channel|>commentary", "f"),
        ("", "tool__bwgu80sk"),
        ("<|x|>", "tool__bwgu80sk"),
        ("3d-view", ""),
        ("_private", ""),
        ("server.tool:v2/x", ""),
        ("lösche das", ""),
        (&"a".repeat(65), ""),
    ] {
        for wire in WIRES.map(wire) {
            let found = sent_name(&wire, name);
            assert!(is_name(&found), "{name}: {found}");
            if sent.is_empty() {
                assert_ne!(found, name);
            } else {
                assert_eq!(found, sent, "{name}");
            }
        }
    }
}

#[test]
fn ids_go_as_they_are_up_to_what_a_server_takes() {
    let responses = wire("openai_responses");
    let foreign = "4f7c2f0e-6f1c-4f3a-9d53-2f1f0b6f0d6et12c3";
    for (wire, id, sent) in [
        (&responses, "r1t1c1", "r1t1c1"),
        (&responses, "h12c3", "h12c3"),
        (&mistral(), "r1t1c1", "r1t1c1zzz"),
        (&mistral(), "r10t20c30", "r10t20c30"),
    ] {
        assert_eq!(sent_id(wire, id), sent);
    }
    for id in [foreign, "functions.read:0", "call 0"] {
        assert_eq!(sent_id(&responses, id).len(), 32, "{id}");
    }
    for id in [foreign, "r100t20c30", "r1t1c1zzz", "call-0"] {
        let sent = sent_id(&mistral(), id);
        assert!(sent.len() == 9 && sent != id, "{id}: {sent}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn the_ids_of_a_chat_stay_apart_on_every_wire(ids in prop::collection::hash_set(prop_oneof![
        (1..2_000_u32, 1..30_u32, 1..12_u32).prop_map(|(run, turn, call)| format!("r{run}t{turn}c{call}")),
        (1..200_u32, 1..12_u32).prop_map(|(turn, call)| format!("h{turn}c{call}")),
        // What a log of elsewhere may hold.
        "[a-z0-9_:.-]{1,50}",
    ], 1..40)) {
        let made: Vec<_> = ids.iter().map(|id| (id.clone(), "f".to_owned())).collect();
        for (wire, least, most) in [(wire("openai_chat"), 1, 40), (wire("openai_responses"), 1, 40), (wire("anthropic"), 1, 40), (mistral(), 9, 9)] {
            let sent: HashSet<String> = calls(&wire, &made).into_iter().map(|call| call.id).collect();
            prop_assert_eq!(sent.len(), ids.len(), "two ids have become one");
            for id in sent {
                prop_assert!((least..=most).contains(&id.len()), "{}", id);
                prop_assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || most == 40 && matches!(byte, b'_' | b'-')), "{}", id);
            }
        }
    }

    #[test]
    fn the_names_of_a_chat_stay_apart_on_every_wire(names in prop::collection::hash_set(prop_oneof![
        ".{0,5}", "[a-z ._:/-]{1,4}", "[0-9a-z_-]{55,80}",
    ], 1..20)) {
        let names: Vec<String> = names.into_iter().filter(|name| !name.contains("<|")).collect();
        let made: Vec<_> = names.iter().enumerate().map(|(place, name)| (format!("r1t1c{place}"), name.clone())).collect();
        let expected: Vec<String> = calls(&wire("openai_chat"), &made).into_iter().map(|call| call.name).collect();
        prop_assert_eq!(expected.iter().collect::<HashSet<_>>().len(), names.len(), "two names have become one");
        for (sent, name) in expected.iter().zip(&names) {
            prop_assert!(is_name(sent), "{}", sent);
            // A name that fits is nobody else's.
            prop_assert_eq!(sent == name, is_name(name));
        }
        for wire in WIRES.map(wire) {
            let sent: Vec<String> = calls(&wire, &made).into_iter().map(|call| call.name).collect();
            prop_assert_eq!(&sent, &expected, "the wires agree");
        }
    }

    #[test]
    fn a_tools_name_is_read_back_as_it_was_offered(names in prop::collection::hash_set("[A-Za-z0-9_-]{1,64}", 1..5), odd in "[0-9_-][A-Za-z0-9_-]{63}") {
        let names: Vec<String> = names.into_iter().chain([odd]).collect();
        let tools: Vec<_> = names.iter().map(|name| tool(name)).collect();
        for wire in WIRES.map(wire) {
            let sent = offered(&body(&wire, &tools, &chat(&[])[..1]));
            prop_assert!(sent.iter().all(|name| is_name(name)), "{:?}", sent);
            let made = sent.iter().map(|name| TurnCall { name: name.clone(), ..TurnCall::default() });
            let HistoryItem::Assistant { turn, .. } = chat(&[]).remove(1) else { panic!("a turn") };
            let mut turn = Turn { calls: made.collect(), ..(*turn).clone() };
            restore_names(&mut turn, &tools);
            let read: Vec<_> = turn.calls.iter().map(|call| call.name.clone()).collect();
            prop_assert_eq!(&read, &names);
            // And goes back as it came.
            let made: Vec<_> = read.into_iter().enumerate().map(|(place, name)| (format!("r1t1c{place}"), name)).collect();
            let again: Vec<String> = calls(&wire, &made).into_iter().map(|call| call.name).collect();
            prop_assert_eq!(&again, &sent);
        }
    }
}
