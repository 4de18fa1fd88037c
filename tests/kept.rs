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
use countersign::core::run::{Input, Run, Settings};
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
    let mut sim = Sim::new(Settings { expire_after: Some(60_000), ..settings() });
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

/// A text whose check fits, as another version of this program may have written it.
fn checked(text: &str) -> String {
    let words = text.as_bytes().chunks(8).map(|bytes| bytes.iter().fold(0, |word, byte| word << 8 | u64::from(*byte)));
    let mix = |sum: u64, word: u64| (sum.rotate_left(5) ^ word).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    format!("{}\n{text}", words.fold(text.len() as u64, mix))
}

#[test]
fn what_was_kept_otherwise_counts_as_nothing() {
    let sim = chat();
    let id = ChatId::new("c");
    let text = snapshot::keep(&sim.run, "");
    let (_, rest) = text.split_once('\n').unwrap();
    assert_eq!(checked(rest), text);
    assert!(Chat::from_kept(&id, &text).is_some());
    for place in (0..text.len()).step_by(7) {
        let mut spoiled = text.clone().into_bytes();
        spoiled[place] ^= 1;
        let spoiled = String::from_utf8_lossy(&spoiled);
        assert_eq!(Chat::from_kept(&id, &spoiled), None, "byte {place}");
        assert_eq!(Chat::from_kept(&id, &String::from_utf8_lossy(&text.as_bytes()[..place])), None, "cut at {place}");
    }
    for (what, spoiled) in [
        ("another version", rest.replace("{\"kept\":4,", "{\"kept\":3,")),
        ("another chat", rest.replace("\"chat\":\"c\"", "\"chat\":\"d\"")),
        ("a number of lines that are not there", rest.replace("\"lines\":", "\"lines\":99")),
        ("a field less", rest.replace("\"rounds\"", "\"turns\"")),
        ("no JSON", rest.replace("\n{\"type\"", "\n{type")),
    ] {
        assert_ne!(spoiled, rest, "{what}");
        assert_eq!(Chat::from_kept(&id, &checked(&spoiled)), None, "{what}");
    }
}

#[test]
fn what_is_folded_and_cannot_be_read_is_not_passed_over() {
    let sim = chat();
    let text = snapshot::keep(&sim.run, "");
    let (_, rest) = text.split_once('\n').unwrap();
    let last = rest.trim_end().rfind('\n').unwrap();
    for (what, spoiled) in [
        ("an unknown token", rest.replace("\"reason_code\":\"approval_denied\"", "\"reason_code\":\"burnt\"")),
        ("an unknown line", rest.replacen("{\"type\":\"request\"", "{\"type\":\"wish\"", 1)),
        ("a call without its state", rest.replacen("\"states\":[{\"answers\"", "\"states\":[{},{\"answers\"", 1)),
        ("an entry less", rest.replacen("\"folded\":", "\"folded\":1", 1)),
        ("no JSON", format!("{}{{\n", &rest[..=last])),
    ] {
        assert_ne!(spoiled, rest, "{what}");
        let mut chat = Chat::from_kept(&ChatId::new("c"), &checked(&spoiled)).expect(what).chat;
        let before = chat.clone();
        assert!(chat.unfold().is_err(), "{what}");
        assert_eq!(chat, before, "{what}: nothing is sent without what came before");
        let mut run = Run::new(chat, settings());
        assert!(run.handle(Input::Stop { at: 1_000, partial: String::new() }).is_err(), "{what}");
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
        9005764487595382355
        {"kept":4,"chat":"c","seq":7,"last_hash":"f00","last_at":1000,"start":0,"folded":0,"lines":3,"titles":"{}"}
        []
        {"type":"user","message_id":"m0","author":"ada","parts":[{"type":"text","text":"go"}]}
        {"type":"turn","id":"r1t1","end":"tool_calls","finish_reason":"stop","text":"","reasoning":"","refusal":"","calls":[{"provider_id":"call_0","name":"eat","arguments":"{\"n\":1}","extra":{}},{"provider_id":"call_1","name":"look","arguments":"{}","extra":{}}],"usage":null,"binding":"","items":[],"extra":{},"states":[{"request":{"call_id":"r1t1c1","request_id":"q1","kind":"approval","digest":"dd07a9f9d3b9ae106e017c721adade248ef81a2231193d2d57320ce207a1d67e","aspects":"a374e53c82f7453ca374e53c82f7453ce0e57e8837e09fdf26c09f528ddb5584","prompt":"This tool changes something, so a person is asked first.","url":null,"data":null,"preview":[],"expires_at":null,"grantable":true},"decision":{"request_id":"q1","approved":false,"decided_by":"run_owner","decider":"ada","settler":"person","via":"card","reason":null,"note":null,"answer_reason":null,"data":null,"edited":false,"edit":null,"relayed":false},"answers":[],"earlier":[],"digest":"dd07a9f9d3b9ae106e017c721adade248ef81a2231193d2d57320ce207a1d67e","settled_at":1000,"asks":1,"attempts":0,"result":{"facts":{"reason_code":"approval_denied","decided_by":"run_owner","reason":null,"approved":false},"result_item":{"role":"tool","call_id":"r1t1c1","renderer":"sentence","text":"Error: approval_denied (decided_by: run_owner). The approval for tool \"eat\" was declined by the user who started this run, the person you are talking to. Nothing was executed. Tell them that they declined it themselves; it was not refused by the system or an operator. Do not make this call again with these arguments unless the user asks for it. Say what you could do instead.","is_error":true,"trust":"host"}}},{"answers":[],"earlier":[],"digest":"784bc317e89c1767a38e5311a7d3cde90d7c5ebcf795ccb2ce4487b5903ca269","asks":0,"attempts":1}]}
        {"type":"run","id":"r1","owner":"ada","rounds":1,"repeats":0,"last_seq":6,"declined":["r1t1c1"]}
        {"type":"request","id":"q1","decision":{"request_id":"q1","approved":false,"decided_by":"run_owner","decider":"ada","settler":"person","via":"card","reason":null,"note":null,"answer_reason":null,"data":null,"edited":false,"edit":null,"relayed":false}}
    "#]].assert_eq(&snapshot::keep(&sim.run, "f00"));
}
