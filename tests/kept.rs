//! The projection kept beside the log: it reads back as it was, and what does not read back is left alone.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use std::path::PathBuf;

use countersign::core::chain;
use countersign::core::event::read_history;
use countersign::core::json::parse_lenient;
use countersign::core::log::{Chat, text};
use countersign::core::message::ChatId;
use countersign::core::outcome::Failure;
use countersign::core::run::Input;
use countersign::core::snapshot;
use expect_test::expect;
use sim::{Sim, answer, calls, check_kept, sealed, settings};

const HISTORY: &str = r#"{"history":[
    {"role":"user","parts":[{"type":"text","text":"Hi"},{"type":"file","name":"a.pdf","url":"https://example.org/a.pdf"}]},
    {"role":"assistant","end":"tool_calls","finish_reason":null,"text":"","reasoning":"","refusal":"","usage":{"a":1.50},
     "calls":[{"provider_id":null,"name":"look","arguments":"{}","extra":{"sig":"x"}},
              {"provider_id":null,"name":"mcp","arguments":"{}","server":"docs","extra":{}}],
     "binding":"m","items":[{"n":1e2}],"extra":{"signature":"\n"}},
    {"role":"tool","result_item":{"call_id":"h1c1","renderer":null,"text":"12","is_error":false,"trust":"tool"}},
    {"role":"tool","result_item":{"call_id":"h1c2","renderer":null,"text":"","is_error":true,"trust":"host"}}]}"#;

/// A chat with something of everything: given messages, what came to each end, a request left out, a lost result.
fn chat() -> Sim {
    let mut sim = Sim::new(settings());
    let history = read_history(&parse_lenient(HISTORY.as_bytes()).unwrap()).unwrap();
    sim.handle(Input::Seed { at: sim.now, history }).unwrap();
    sim.send(Some("ada")).unwrap();
    sim.fail().unwrap();
    sim.resume().unwrap();
    sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}"), ("look", "{}"), ("nothing", "{}")])).unwrap();
    sim.decide_with("q2", false, Some("bob"), None, Some("no")).unwrap();
    sim.decide("q1", true, Some("ada")).unwrap();
    sim.tool(Err(Failure::Threw("no luck".to_owned()))).unwrap();
    sim.tool(Ok("seen")).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":2}")])).unwrap();
    sim.turn(answer("“Done”\u{2028}\n")).unwrap();
    sim.send(None).unwrap();
    sim.handle(Input::Trim { at: sim.now, omitted: 2 }).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":3}")])).unwrap();
    let request = sim.run.chat().pending().next().unwrap().0.id.as_str().to_owned();
    sim.decide(&request, true, Some("ada")).unwrap();
    sim.reload();
    // Started, and its result lost: somebody is asked what is to become of it.
    sim.resume().unwrap();
    sim
}

#[test]
fn what_is_kept_reads_back_wherever_it_is_kept() {
    let sim = chat();
    assert!(sim.run.chat().pending().next().is_some());
    check_kept(&sim.lines);
    let mut cleared = sealed(&sim.lines);
    check_kept(&cleared);
    for (seq, line) in chain::clear(&cleared.clone(), None) {
        cleared[seq] = line;
        check_kept(&cleared);
    }
}

#[test]
fn old_logs_are_kept_too() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs");
    let mut read = 0;
    for entry in std::fs::read_dir(folder).unwrap() {
        let log = std::fs::read_to_string(entry.unwrap().path()).unwrap();
        if let Ok((_, lines)) = text::read(&log) {
            check_kept(&lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>());
            read += 1;
        }
    }
    assert!(read > 10, "{read}");
}

#[test]
fn what_was_kept_otherwise_counts_as_nothing() {
    let sim = chat();
    let id = ChatId::new("c");
    let text = snapshot::keep(&sim.run, "");
    let without = |place: usize| {
        let mut lines: Vec<_> = text.lines().collect();
        lines.remove(place);
        lines.join("\n")
    };
    let last = text.lines().count() - 1;
    assert!(Chat::from_kept(&id, &text).is_some());
    for (what, spoiled) in [
        ("nothing", String::new()),
        ("no JSON", "<html>".to_owned()),
        ("no object", "[]".to_owned()),
        ("another version", text.replace("{\"kept\":1,", "{\"kept\":2,")),
        ("another chat", text.replace("\"chat\":\"c\"", "\"chat\":\"d\"")),
        ("an entry less", without(1)),
        ("the last line less", without(last)),
        ("a line more", [&text, "\n{}"].concat()),
        ("cut", text[..text.len() - 1].to_owned()),
        ("an unknown token", text.replace("approval_denied", "approval_burnt")),
        ("a call without its state", text.replacen("\"states\":[{", "\"states\":[{},{", 1)),
        ("a field less", text.replacen("\"rounds\"", "\"turns\"", 1)),
    ] {
        assert_ne!(spoiled, text, "{what}");
        assert_eq!(Chat::from_kept(&id, &spoiled), None, "{what}");
    }
}

/// Who changes this text, or what a log comes to, raises the version: pages hold such texts, and read them as they are.
#[test]
fn the_text_is_that_of_its_version() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":1}"), ("look", "{}")])).unwrap();
    sim.decide("q1", false, Some("ada")).unwrap();
    expect![[r#"
        16594123987420468971
        {"kept":1,"chat":"c","seq":7,"last_hash":"f00","start":0,"folded":0,"lines":3,"titles":"{}"}
        []
        {"type":"user","message_id":"m0","author":"ada","parts":[{"type":"text","text":"go"}]}
        {"type":"turn","id":"r1t1","end":"tool_calls","finish_reason":"stop","text":"","reasoning":"","refusal":"","calls":[{"provider_id":"call_0","name":"eat","arguments":"{\"n\":1}","extra":{}},{"provider_id":"call_1","name":"look","arguments":"{}","extra":{}}],"usage":null,"binding":"","items":[],"extra":{},"states":[{"request":{"call_id":"r1t1c1","request_id":"q1","kind":"approval","digest":"dd07a9f9d3b9ae106e017c721adade248ef81a2231193d2d57320ce207a1d67e","aspects":"a374e53c82f7453ca374e53c82f7453ce0e57e8837e09fdf26c09f528ddb5584","prompt":"This tool changes something, so a person is asked first.","preview":[],"expires_at":null},"decision":{"request_id":"q1","approved":false,"decided_by":"run_owner","decider":"ada","via":"card","reason":null,"note":null},"digest":"dd07a9f9d3b9ae106e017c721adade248ef81a2231193d2d57320ce207a1d67e","asks":1,"attempts":0,"result":{"facts":{"reason_code":"approval_denied","decided_by":"run_owner","reason":null,"approved":false},"result_item":{"role":"tool","call_id":"r1t1c1","renderer":"sentence","text":"Error: approval_denied (decided_by: run_owner). The approval for tool \"eat\" was declined by the user who started this run, the person you are talking to. Nothing was executed. Tell them that they declined it themselves; it was not refused by the system or an operator. Do not make this call again with these arguments unless the user asks for it. Say what you could do instead.","is_error":true,"trust":"host"}}},{"digest":"784bc317e89c1767a38e5311a7d3cde90d7c5ebcf795ccb2ce4487b5903ca269","asks":0,"attempts":1}]}
        {"type":"run","id":"r1","owner":"ada","rounds":1,"repeats":0,"last_seq":6,"declined":["r1t1c1"]}
        {"type":"request","id":"q1","decision":{"request_id":"q1","approved":false,"decided_by":"run_owner","decider":"ada","via":"card","reason":null,"note":null}}
    "#]].assert_eq(&snapshot::keep(&sim.run, "f00"));
}
