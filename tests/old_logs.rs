//! Logs of every version, kept for ever, each with what this build makes of it.
//!
//! A file of `tests/fixtures/logs` is never changed: pages have such logs. A new version of an event brings new files.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::path::PathBuf;

use countersign::core::event::{Event, TYPES};
use countersign::core::json::{Json, parse_lenient};
use countersign::core::log::{Chat, Corrupt, check_pairing, text};
use countersign::core::message::{ChatId, HistoryItem, ResultItem};
use countersign::core::run::{Run, RunError};
use countersign::core::upcast::{upcast, upcaster};
use countersign::core::{card, snapshot};
use expect_test::expect_file;
use proptest::prelude::*;
use sim::{Sim, settings};

fn folder() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/logs")
}

/// The logs by name.
fn logs() -> Vec<(String, String)> {
    let files = std::fs::read_dir(folder()).unwrap().map(|entry| entry.unwrap().path());
    let logs = files.filter(|path| path.extension().is_some_and(|extension| extension == "jsonl"));
    let mut logs: Vec<_> = logs
        .map(|path| (path.file_stem().unwrap().to_str().unwrap().to_owned(), std::fs::read_to_string(&path).unwrap()))
        .collect();
    logs.sort();
    logs
}

fn log(name: &str) -> Vec<String> {
    let text = std::fs::read_to_string(folder().join(name).with_extension("jsonl")).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn describe_item(item: &ResultItem) -> String {
    let renderer = item.renderer.as_deref().unwrap_or("-");
    let flag = if item.is_error { "error" } else { "plain" };
    // What is worded today may be worded better tomorrow; what was stored stays.
    let text = if item.text.len() > 80 { item.text.split(". ").next().unwrap() } else { &item.text };
    format!("{} {flag} trust={} renderer={renderer}\n    {text:?}", item.call, item.trust.token())
}

/// Everything that is read off a log, and what a further message does to it.
fn verdict(log: &str) -> String {
    let mut out = String::new();
    let (chat, lines) = match text::read(log) {
        Ok(read) => read,
        Err(Corrupt { seq, problem }) => return format!("log_corrupt at {seq}: {problem}\n"),
    };
    let lines: Vec<String> = lines.into_iter().map(str::to_owned).collect();
    let run = Run::new(chat, settings());
    writeln!(out, "status: {}", run.status().token()).unwrap();
    for place in 0..run.chat().entries().len() {
        writeln!(out, "message: {}", snapshot::message(&run, place)).unwrap();
    }
    writeln!(out, "requests: {}", snapshot::requests(&run)).unwrap();
    for card in card::cards(&run, None) {
        match card.receipt {
            None => writeln!(out, "card {}: waits", card.request),
            Some(seen) => writeln!(out, "card {}: {} | {} | {}", card.request, seen.mark, seen.decision, seen.outcome),
        }
        .unwrap();
    }
    let mut sim = Sim::open(settings(), &lines);
    sim.send(Some("ada")).unwrap();
    check_pairing(sim.run.chat().history()).unwrap();
    writeln!(out, "after the next message:").unwrap();
    for item in sim.run.chat().history() {
        if let HistoryItem::Result(item) = item {
            writeln!(out, "  {}", describe_item(item)).unwrap();
        }
    }
    for line in sim.trace {
        writeln!(out, "  {line}").unwrap();
    }
    out
}

#[test]
fn every_kept_log_gives_its_verdict() {
    let logs = logs();
    assert!(logs.len() > 30);
    for (name, log) in logs {
        expect_file![folder().join(&name).with_extension("txt")].assert_eq(&verdict(&log));
    }
}

#[test]
fn every_version_of_every_type_is_read() {
    let mut kept = BTreeSet::new();
    for (_, log) in logs() {
        let Ok((_, lines)) = text::read(&log) else { continue };
        for line in lines {
            let event = parse_lenient(line.as_bytes()).unwrap();
            kept.insert((
                event.get("type").unwrap().as_str().unwrap().to_owned(),
                event.get("v").unwrap().as_u64().unwrap(),
            ));
        }
    }
    for (kind, current) in TYPES {
        for version in 1..=current {
            assert!(kept.contains(&(kind.to_owned(), version)), "no kept log holds {kind} at version {version}");
            assert_eq!(upcaster(kind, version).is_some(), version < current, "{kind} {version}");
        }
        assert!(upcaster(kind, 0).is_none());
    }
}

#[test]
fn an_upcast_makes_what_was_never_recorded_null_and_changes_nothing_else() {
    let old = r#"{"type":"tool.call.denied","v":1,"call_id":"c1","name":"send_mail","reason_code":"approval.denied"}"#;
    let new = r#"{"type":"tool.call.denied","v":2,"call_id":"c1","name":"send_mail","reason_code":"approval.denied","result_item":null,"decided_by":null,"reason":null,"approved":null}"#;
    let read = |text: &str| parse_lenient(text.as_bytes()).unwrap();
    assert_eq!(upcast("tool.call.denied", 1, 2, read(old)).text(), new);
    let refusal = old.replace('}', r#","result_item":{"text":"No.","x":[1.0]}}"#);
    let upcasted = upcast("tool.call.denied", 1, 2, read(&refusal));
    assert_eq!(upcasted.get("result_item").unwrap().text(), r#"{"text":"No.","x":[1.0]}"#);
    assert_eq!(upcast("tool.call.denied", 2, 2, read(new)).text(), new);
}

#[test]
fn what_is_written_has_its_item_and_its_version() {
    let mut denied = 0;
    for (name, log) in logs() {
        let Ok((_, lines)) = text::read(&log) else { continue };
        for line in lines {
            let event = Event::decode(line).unwrap();
            assert_eq!(Event::decode(&event.encode()).as_ref(), Ok(&event), "{name}");
        }
        let lines: Vec<String> = log.lines().map(str::to_owned).collect();
        let mut sim = Sim::open(settings(), &lines);
        sim.send(Some("ada")).unwrap();
        sim.turn(sim::calls(&[("eat", "{}"), ("eat", "{\"never\":1}"), ("nothing", "{}")])).unwrap();
        let request = sim.run.chat().pending().next().unwrap().0.id.clone();
        sim.decide(request.as_str(), false, None).unwrap();
        for line in &sim.lines[lines.len()..] {
            let event = parse_lenient(line.as_bytes()).unwrap();
            if event.get("type").and_then(Json::as_str) == Some("tool.call.denied") {
                assert_eq!(event.get("v").and_then(Json::as_u64), Some(2));
                assert!(event.get("result_item").and_then(|item| item.get("text")).is_some(), "{line}");
                denied += 1;
            }
        }
    }
    assert!(denied > 30, "only {denied}");
}

#[test]
fn a_request_in_front_of_an_old_denial_is_settled() {
    for name in ["ends-behind-an-old-denial", "old-denial-beside-a-pending-request"] {
        for approve in [true, false] {
            let lines = log(name);
            let mut sim = Sim::open(settings(), &lines);
            assert_eq!(sim.decide("q1", approve, Some("ada")), Err(RunError::Conflict), "{name}");
            assert_eq!(sim.lines, lines);
            assert!(sim.permits.is_empty());
        }
    }
}

#[test]
fn an_old_denial_goes_on_when_resumed() {
    let mut sim = Sim::open(settings(), &log("ends-behind-an-old-denial"));
    sim.resume().unwrap();
    assert!(sim.model.is_some());
    assert_eq!(sim.trace, ["→ model"], "nothing is written again");
}

#[test]
fn an_old_denial_taints_its_own_run_and_no_later_one() {
    for (goes_on, waits) in [(true, 1), (false, 0)] {
        let mut sim = Sim::open(settings(), &log("ends-behind-an-old-denial"));
        if goes_on {
            sim.resume().unwrap();
        } else {
            sim.send(Some("ada")).unwrap();
        }
        sim.turn(sim::calls(&[("eat", "{\"free\":1}")])).unwrap();
        assert_eq!(sim.run.chat().pending().count(), waits);
        assert_eq!(sim.permits.len(), 1 - waits);
    }
}

#[test]
fn a_log_is_read_with_blank_lines_and_either_line_end() {
    let lines = log("old-denial");
    let expected = Chat::replay(ChatId::new("mail-1"), lines.iter().map(String::as_str)).unwrap();
    for (separator, end) in [("\n", ""), ("\n", "\n"), ("\r\n", "\r\n"), ("\n\n \r\n", "\n\n")] {
        let text = [&lines.join(separator), end].concat();
        let (chat, read) = text::read(&text).unwrap();
        assert_eq!(chat, expected);
        assert_eq!(read, lines);
    }
    let cut = lines.join("\n");
    let (whole, last) = cut.rsplit_once('\n').unwrap();
    for length in (1..last.len()).filter(|length| last.is_char_boundary(*length)) {
        let corrupt = text::read(&cut[..=whole.len() + length]).unwrap_err();
        assert_eq!(corrupt.seq, lines.len() as u64 - 1);
        assert!(corrupt.problem.starts_with("the line is cut off: "), "{}", corrupt.problem);
    }
}

fn json() -> impl Strategy<Value = Json> {
    let leaf = prop_oneof![Just(Json::Null), any::<bool>().prop_map(Json::from), ".{0,4}".prop_map(Json::from)];
    let key = prop_oneof!["v|result_item|decided_by|type", ".{0,3}"];
    leaf.prop_recursive(3, 12, 4, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..4).prop_map(Json::Array),
            prop::collection::vec((key.clone(), inner), 0..6).prop_map(Json::Object),
        ]
    })
}

proptest! {
    #[test]
    fn upcasters_are_total(value in json(), to in 0_u64..5) {
        for (kind, _) in TYPES {
            let once = upcast(kind, 1, to, value.clone());
            prop_assert_eq!(&once, &upcast(kind, 1, to, value.clone()));
            if let (Json::Object(before), Json::Object(after)) = (&value, &once) {
                let kept = before.iter().filter(|(key, _)| key != "v");
                for member in kept {
                    prop_assert!(after.contains(member));
                }
            } else {
                prop_assert_eq!(&once, &value);
            }
        }
    }
}
