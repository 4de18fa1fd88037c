//! The record: its format, pinned; what each level of an export shows; what breaks it.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::chain::{Broken, Privacy, clear, export, hash_of, seal, strip, verify};
use countersign::core::event::{Event, read_history};
use countersign::core::json::parse_lenient;
use countersign::core::log::{Chat, Entry};
use countersign::core::message::{CallKind, ChatId};
use countersign::core::outcome::DenyReason;
use countersign::core::run::{Input, Run};
use countersign::core::snapshot;
use expect_test::{Expect, expect};
use sim::{Sim, answer, calls, sealed, settings};

const SALT: &str = "000102030405060708090a0b0c0d0e0f";
const LINE: &str = r#"{"seq":0,"chat":"c","run":"r1","at":1000,"type":"run.started","v":1,"message_id":"m1","owner":"ada","parts":[{"type":"text","text":"Süß \"42\"\n"}]}"#;

/// The three forms of one line. They were computed from the description at the head of `chain.rs`, not by it: logs are
/// kept for ever, so these bytes stand for ever.
#[test]
fn the_format_is_as_pinned() {
    let (sealed, hash) = seal(LINE, SALT, "").unwrap();
    let head = r#"{"seq":0,"chat":"c","run":"r1","at":1000,"type":"run.started","v":1,"message_id":"m1","owner":"ada","content_bytes":51,"#;
    let tail = r#""hash":"3c2e8e096a58e5d78eacc545762e58de4a32ee7bd67ca414cc1fdf34e2c71630"}"#;
    let whole = r#""parts":[{"type":"text","text":"Süß \"42\"\n"}],"salt":"000102030405060708090a0b0c0d0e0f","#;
    let redacted = r#""redacted":{"parts":[{"type":4,"text":9}]},"redacted_salt":"9068e6da9d1ba7604399f7849e6ea74875ac06e01177ddcb3ab83d351e669e5e","text_hash":"6e31e0411b4882b559d84b2fd2639ee4e65eb99a3fbe52f8be24f21a210f01b6","#;
    let stripped = r#""content_hash":"eb7285553f72d287a1354c5f40c48ff261b11207a4abab3706d34504c1fcccbd","#;
    assert_eq!(sealed, [head, whole, tail].concat());
    assert_eq!(hash_of(&sealed), Some(hash));
    let lines = [sealed];
    for (privacy, content) in [(Privacy::Full, whole), (Privacy::Redacted, redacted), (Privacy::Metadata, stripped)] {
        assert_eq!(export(&lines, privacy), [head, content, tail, "\n"].concat());
    }
    // What a redacted line shows less is what a stripped one shows.
    assert_eq!(strip(&[head, redacted, tail].concat()), strip(&lines[0]));
}

/// Events of every type: a history, an allowed call, an approval with a note, a denial with one, a lapse, failures.
fn chat() -> Sim {
    let mut sim = Sim::new(settings());
    let history = r#"{"history":[
        {"role":"user","parts":[{"type":"text","text":"SECRET"}]},
        {"role":"assistant","end":"tool_calls","finish_reason":null,"text":"SECRET","reasoning":"","refusal":"","usage":null,
         "calls":[{"provider_id":null,"name":"look","arguments":"{\"SECRET\":1}","extra":{}}],"binding":"","items":[],"extra":{}},
        {"role":"tool","result_item":{"call_id":"h1c1","renderer":null,"text":"SECRET","is_error":false,"trust":"tool"}}]}"#;
    let history = read_history(&parse_lenient(history.as_bytes()).unwrap()).unwrap();
    sim.handle(Input::Seed { at: sim.now, history }).unwrap();
    sim.send(Some("ada")).unwrap();
    sim.handle(Input::Trim { at: sim.now, omitted: 2 }).unwrap();
    let mut turn = calls(&[("eat", r#"{"SECRET":1}"#), ("eat", r#"{"SECRET":2}"#), ("look", r#"{"SECRET":3}"#)]);
    turn.text = "SECRET".to_owned();
    turn.extra.message = vec![("signature".to_owned(), "SECRET".into())];
    turn.usage = Some(parse_lenient(br#"{"SECRET":7}"#).unwrap());
    sim.turn(turn).unwrap();
    sim.decide_with("q1", true, Some("ada"), None, Some("SECRET")).unwrap();
    sim.decide_with("q2", false, Some("bob"), Some(DenyReason::Skip), Some("SECRET")).unwrap();
    sim.tool(Ok("SECRET")).unwrap();
    sim.tool(Err(countersign::core::outcome::Failure::Threw("SECRET".to_owned()))).unwrap();
    sim.fail().unwrap();
    sim.resume().unwrap();
    sim.turn(answer("SECRET")).unwrap();
    sim
}

/// Each line of an export without what is the same in all or random.
fn brief(text: &str) -> String {
    let mut out = String::new();
    for line in text.lines() {
        let value = parse_lenient(line.as_bytes()).unwrap();
        let dull = ["seq", "chat", "at", "v", "hash", "content_hash", "redacted_salt", "text_hash"];
        let mut members = value.as_object().unwrap().to_vec();
        members.retain(|(key, _)| !dull.contains(&key.as_str()));
        out.push_str(&countersign::core::json::Json::Object(members).text());
        out.push('\n');
    }
    out
}

fn check(privacy: Privacy, expected: Expect) {
    let text = export(&sealed(&chat().lines), privacy);
    assert!(!text.contains("SECRET"), "{text}");
    expected.assert_eq(&brief(&text));
}

#[test]
fn metadata_shows_what_happened_and_nothing_of_what_was_said() {
    check(
        Privacy::Metadata,
        expect![[r#"
            {"run":"r0","type":"chat.seeded","history_shape":[null,1],"content_bytes":436}
            {"run":"r2","type":"run.started","message_id":"m1","owner":"ada","content_bytes":39}
            {"run":"r2","type":"history.trimmed","start":3,"content_bytes":2}
            {"run":"r2","type":"turn.completed","end":"tool_calls","call_count":3,"content_bytes":389}
            {"run":"r2","type":"tool.call.asked","call_id":"r2t1c1","request_id":"q1","kind":"approval","expires_at":null,"grantable":true,"content_bytes":258}
            {"run":"r2","type":"tool.call.asked","call_id":"r2t1c2","request_id":"q2","kind":"approval","expires_at":null,"grantable":true,"content_bytes":258}
            {"run":"r2","type":"tool.call.allowed","call_id":"r2t1c3","content_bytes":77}
            {"run":"r2","type":"tool.call.decided","call_id":"r2t1c1","request_id":"q1","approved":true,"decided_by":"run_owner","decider":"ada","settler":"person","via":"card","reason":null,"edited":false,"relayed":false,"content_bytes":62}
            {"run":"r2","type":"tool.call.decided","call_id":"r2t1c2","request_id":"q2","approved":false,"decided_by":"other_user","decider":"bob","settler":"person","via":"card","reason":"skip","edited":false,"relayed":false,"content_bytes":62}
            {"run":"r2","type":"tool.call.denied","call_id":"r2t1c2","name":"eat","reason_code":"approval_denied","decided_by":"other_user","reason":"skip","approved":false,"content_bytes":514}
            {"run":"r2","type":"tool.call.started","call_id":"r2t1c1","attempt":1,"content_bytes":2}
            {"run":"r2","type":"tool.call.completed","call_id":"r2t1c1","name":"eat","content_bytes":218}
            {"run":"r2","type":"tool.call.started","call_id":"r2t1c3","attempt":1,"content_bytes":2}
            {"run":"r2","type":"tool.call.failed","call_id":"r2t1c3","name":"look","reason_code":"tool_failed","decided_by":null,"reason":null,"approved":false,"content_bytes":304}
            {"run":"r2","type":"turn.failed","code":"model_overloaded","content_bytes":32}
            {"run":"r2","type":"turn.completed","end":"stop","call_count":0,"content_bytes":127}
            {"run":"r2","type":"run.ended","status":"done","reason":null,"content_bytes":2}
        "#]],
    );
}

#[test]
fn a_redacted_export_shows_how_long_each_text_was() {
    check(
        Privacy::Redacted,
        expect![[r#"
            {"run":"r0","type":"chat.seeded","history_shape":[null,1],"content_bytes":436,"redacted":{"history":[{"role":4,"parts":[{"type":4,"text":6}]},{"role":9,"end":10,"finish_reason":null,"text":6,"reasoning":0,"refusal":0,"calls":[{"provider_id":null,"name":4,"arguments":12,"extra":2}],"usage":null,"binding":0,"items":2,"extra":2},{"role":4,"result_item":{"role":4,"call_id":4,"renderer":null,"text":6,"is_error":false,"trust":4}}]}}
            {"run":"r2","type":"run.started","message_id":"m1","owner":"ada","content_bytes":39,"redacted":{"parts":[{"type":4,"text":2}]}}
            {"run":"r2","type":"history.trimmed","start":3,"content_bytes":2,"redacted":{}}
            {"run":"r2","type":"turn.completed","end":"tool_calls","call_count":3,"content_bytes":389,"redacted":{"finish_reason":4,"text":6,"reasoning":0,"refusal":0,"calls":[{"provider_id":6,"name":3,"arguments":12,"extra":2},{"provider_id":6,"name":3,"arguments":12,"extra":2},{"provider_id":6,"name":4,"arguments":12,"extra":2}],"usage":12,"binding":0,"items":2,"extra":22}}
            {"run":"r2","type":"tool.call.asked","call_id":"r2t1c1","request_id":"q1","kind":"approval","expires_at":null,"grantable":true,"content_bytes":258,"redacted":{"digest":64,"aspects":64,"prompt":56,"url":null,"data":null,"preview":2}}
            {"run":"r2","type":"tool.call.asked","call_id":"r2t1c2","request_id":"q2","kind":"approval","expires_at":null,"grantable":true,"content_bytes":258,"redacted":{"digest":64,"aspects":64,"prompt":56,"url":null,"data":null,"preview":2}}
            {"run":"r2","type":"tool.call.allowed","call_id":"r2t1c3","content_bytes":77,"redacted":{"digest":64}}
            {"run":"r2","type":"tool.call.decided","call_id":"r2t1c1","request_id":"q1","approved":true,"decided_by":"run_owner","decider":"ada","settler":"person","via":"card","reason":null,"edited":false,"relayed":false,"content_bytes":62,"redacted":{"note":6,"answer_reason":null,"data":null,"edit":null}}
            {"run":"r2","type":"tool.call.decided","call_id":"r2t1c2","request_id":"q2","approved":false,"decided_by":"other_user","decider":"bob","settler":"person","via":"card","reason":"skip","edited":false,"relayed":false,"content_bytes":62,"redacted":{"note":6,"answer_reason":null,"data":null,"edit":null}}
            {"run":"r2","type":"tool.call.denied","call_id":"r2t1c2","name":"eat","reason_code":"approval_denied","decided_by":"other_user","reason":"skip","approved":false,"content_bytes":514,"redacted":{"result_item":{"role":4,"call_id":6,"renderer":8,"text":399,"is_error":true,"trust":4}}}
            {"run":"r2","type":"tool.call.started","call_id":"r2t1c1","attempt":1,"content_bytes":2,"redacted":{}}
            {"run":"r2","type":"tool.call.completed","call_id":"r2t1c1","name":"eat","content_bytes":218,"redacted":{"result_item":{"role":4,"call_id":6,"renderer":null,"text":106,"is_error":false,"trust":4}}}
            {"run":"r2","type":"tool.call.started","call_id":"r2t1c3","attempt":1,"content_bytes":2,"redacted":{}}
            {"run":"r2","type":"tool.call.failed","call_id":"r2t1c3","name":"look","reason_code":"tool_failed","decided_by":null,"reason":null,"approved":false,"content_bytes":304,"redacted":{"result_item":{"role":4,"call_id":6,"renderer":8,"text":187,"is_error":true,"trust":4}}}
            {"run":"r2","type":"turn.failed","code":"model_overloaded","content_bytes":32,"redacted":{"message":8,"text":0}}
            {"run":"r2","type":"turn.completed","end":"stop","call_count":0,"content_bytes":127,"redacted":{"finish_reason":4,"text":6,"reasoning":0,"refusal":0,"calls":[],"usage":null,"binding":0,"items":2,"extra":2}}
            {"run":"r2","type":"run.ended","status":"done","reason":null,"content_bytes":2,"redacted":{}}
        "#]],
    );
}

#[test]
fn every_level_and_every_mixture_of_lines_verifies_alike() {
    let lines = sealed(&chat().lines);
    let verified = verify(&export(&lines, Privacy::Full)).unwrap();
    assert_eq!((verified.events, Some(verified.head.clone())), (lines.len() as u64, hash_of(lines.last().unwrap())));
    for level in Privacy::ALL {
        assert_eq!(verify(&export(&lines, *level)), Ok(verified.clone()), "{level:?}");
    }
    for nth in 1..4 {
        let some = |(seq, line): (usize, &String)| if seq % nth == 0 { strip(line) } else { line.clone() };
        let mixed: Vec<_> = lines.iter().enumerate().map(some).collect();
        for level in Privacy::ALL {
            assert_eq!(verify(&export(&mixed, *level)), Ok(verified.clone()), "every {nth}. cleared, {level:?}");
        }
    }
    assert_eq!(verify("").map(|verified| verified.events), Ok(0));
    assert_eq!(Privacy::of("everything"), Privacy::Metadata);
    assert_eq!(Privacy::of(""), Privacy::Metadata);
}

#[test]
fn what_was_changed_is_named_by_its_position() {
    let lines = sealed(&chat().lines);
    let last = lines.len() - 1;
    let place = |kind: &str| lines.iter().position(|line| line.contains(&format!("\"{kind}\""))).unwrap();
    let (decided, turn) = (place("tool.call.decided"), place("turn.completed"));
    let replaced = |at: usize, from: &str, to: &str| {
        let mut lines = lines.clone();
        let changed = lines[at].replacen(from, to, 1);
        assert_ne!(changed, lines[at], "{from}");
        lines[at] = changed;
        lines
    };
    let without = |at: usize| [&lines[..at], &lines[at + 1..]].concat();
    let swapped = |at: usize| {
        let mut lines = lines.clone();
        lines.swap(at, at + 1);
        lines
    };
    let unsealed = |at: usize, key: &str| {
        let mut lines = lines.clone();
        let mut members = parse_lenient(lines[at].as_bytes()).unwrap().as_object().unwrap().to_vec();
        members.retain(|(name, _)| name != key);
        lines[at] = countersign::core::json::Json::Object(members).text();
        lines
    };
    let stripped = |at: usize, more: &str| {
        let mut lines = lines.clone();
        lines[at] = strip(&lines[at]).replacen('{', &["{", more, ","].concat(), 1);
        lines
    };
    // Another chat that is sound in itself.
    let other = sealed(&chat().lines.iter().map(|line| line.replace("SECRET", "TERCES")).collect::<Vec<_>>());
    for (what, changed, seq) in [
        ("a decision turned round", replaced(decided, "\"approved\":true", "\"approved\":false"), decided),
        ("another decider", replaced(decided, "\"decider\":\"ada\"", "\"decider\":\"bob\""), decided),
        ("other text", replaced(turn, "SECRET", "SECRES"), turn),
        ("another time", replaced(last, "\"at\":1", "\"at\":2"), last),
        ("another salt", replaced(turn, "\"salt\":\"0", "\"salt\":\"1"), turn),
        ("another hash", replaced(turn, "\"hash\":\"", "\"hash\":\"0"), turn),
        ("the first event left out", without(0), 0),
        ("an event left out", without(decided), decided),
        ("two events swapped", swapped(turn), turn),
        ("an event twice", [&lines[..=turn], &lines[turn..]].concat(), turn + 1),
        ("another chat's event", [&lines[..turn], &other[turn..=turn], &lines[turn + 1..]].concat(), turn),
        ("no hash", unsealed(turn, "hash"), turn),
        ("no salt", unsealed(turn, "salt"), turn),
        ("no content", unsealed(turn, "text"), turn),
        ("content beside its hash", stripped(turn, "\"text\":\"forged\""), turn),
        ("a salt beside the content's hash", stripped(turn, "\"salt\":\"00\""), turn),
        ("a header member added", stripped(turn, "\"owner\":\"eve\""), turn),
        ("a hash twice", stripped(turn, "\"hash\":\"00\""), turn),
        ("no JSON", replaced(turn, "{", "["), turn),
        ("no object", [&lines[..turn], &["7".to_owned()], &lines[turn..]].concat(), turn),
        ("an empty line", [&lines[..turn], &[String::new()], &lines[turn..]].concat(), turn),
    ] {
        let Err(Broken { seq: found, problem }) = verify(&changed.join("\n")) else { panic!("{what} went unseen") };
        assert_eq!(found, seq as u64, "{what}: {problem}");
        assert!(problem.ends_with('.'), "{problem}");
    }
    // Only an earlier head, kept elsewhere, shows that the end is gone.
    let cut = verify(&lines[..last].join("\n")).unwrap();
    assert_eq!(Some(cut.head), hash_of(&lines[last - 1]));
}

#[test]
fn a_damaged_log_is_exported_and_shows_no_more_for_it() {
    let mut lines = sealed(&chat().lines);
    lines[3] = "{\"text\":\"SECRET".to_owned();
    lines[4] = lines[4].replace("\"salt\"", "\"content_hash\"");
    lines[5] = chat().lines[5].clone();
    for (privacy, shows) in [(Privacy::Metadata, false), (Privacy::Redacted, false), (Privacy::Full, true)] {
        let text = export(&lines, privacy);
        assert_eq!(text.lines().count(), lines.len());
        assert_eq!(text.contains("SECRET"), shows, "{text}");
        assert_eq!(verify(&text).unwrap_err().seq, 3);
    }
}

#[test]
fn cleared_runs_are_shown_as_such_and_left_out_of_requests() {
    let mut sim = chat();
    sim.send(Some("ada")).unwrap();
    let open = sim.run.chat().open_run().unwrap().id.clone();
    let last = sim.lines.len() - 1;
    for (source, is_sealed) in [(sealed(&sim.lines), true), (sim.lines.clone(), false)] {
        let mut lines = source.clone();
        for (seq, line) in clear(&source, Some(open.as_str())) {
            assert_ne!(seq, last, "the open run keeps its content");
            lines[seq] = line;
        }
        assert_eq!(verify(&lines.join("\n")).is_ok(), is_sealed);
        assert_eq!(clear(&lines, Some(open.as_str())), []);
        assert!(!lines.concat().contains("SECRET"));
        for line in &lines[..last] {
            assert!(Event::decode(line).unwrap().cleared);
        }

        let chat = Chat::replay(ChatId::new("c"), lines.iter().map(String::as_str)).unwrap();
        let count = chat.entries().len();
        assert_eq!(count, sim.run.chat().entries().len());
        assert_eq!(chat.history().len(), 1, "the open run's message");
        let cleared: Vec<_> = (0..count).map(|place| chat.is_cleared(place)).collect();
        assert_eq!(cleared, [vec![true; count - 1], vec![false]].concat());
        let names = chat.entries().iter().filter_map(|entry| match entry {
            Entry::Turn(turn) => Some(turn.turn.calls.iter().map(|call| call.name.as_str()).collect::<Vec<_>>()),
            _ => None,
        });
        assert_eq!(names.collect::<Vec<_>>(), [vec![""], vec!["eat", "eat", "look"], vec![]]);

        let run = Run::new(chat, settings());
        let message = snapshot::message(&run, 3);
        assert!(
            message.contains("\"decidedBy\":\"other_user\"") && message.ends_with("\"cleared\":true}"),
            "{message}"
        );
        assert!(!snapshot::message(&run, count - 1).contains("cleared"));
        assert_eq!(countersign::core::card::cards(&run, None), []);
    }
}

#[test]
fn a_header_that_does_not_fit_is_not_read_as_cleared_content() {
    let lines = sealed(&chat().lines);
    let strip_of = |kind: &str| strip(lines.iter().find(|line| line.contains(kind)).unwrap());
    for (kind, from, to) in [
        ("turn.completed", "\"call_count\":3", "\"call_count\":-1"),
        ("turn.completed", "\"call_count\":3", "\"call_count\":99999999"),
        ("turn.completed", "\"call_count\":3,", ""),
        ("chat.seeded", "\"history_shape\":[null,1]", "\"history_shape\":[null,99999999]"),
        ("chat.seeded", "\"history_shape\":[null,1]", "\"history_shape\":[null,\"1\"]"),
        ("tool.call.decided", "\"approved\":true,", ""),
        ("tool.call.decided", "\"request_id\":\"q1\",", ""),
        ("tool.call.denied", "\"decided_by\":\"other_user\"", "\"decided_by\":\"them\""),
        ("tool.call.completed", "\"call_id\":\"r2t1c1\",", ""),
    ] {
        let line = strip_of(&format!("\"{kind}\""));
        assert!(Event::decode(&line).is_ok(), "{line}");
        let changed = line.replacen(from, to, 1);
        assert_ne!(changed, line, "{from}");
        assert!(Event::decode(&changed).is_err(), "{changed}");
    }
}

/// Whether the provider ran what it was allowed to is not known here, before a clearing and after it.
#[test]
fn a_providers_call_stays_one_when_its_content_is_gone() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    let mut turn = calls(&[("look", "{}"), ("look", "{}")]);
    turn.calls[1].kind = CallKind::ProviderApproval { server: "SECRET".to_owned() };
    sim.turn(turn).unwrap();
    sim.decide("q2", true, Some("ada")).unwrap();
    sim.tool(Ok("12")).unwrap();
    sim.turn(answer("Done.")).unwrap();
    let executed = |run: &Run| snapshot::message(run, 1).matches("\"executed\":null").count();
    assert_eq!(executed(&sim.run), 1);
    let cleared: Vec<_> = clear(&sealed(&sim.lines), None).into_iter().map(|(_, line)| line).collect();
    assert!(!cleared.concat().contains("SECRET"));
    let chat = Chat::replay(ChatId::new("c"), cleared.iter().map(String::as_str)).unwrap();
    assert_eq!(executed(&Run::new(chat, settings())), 1);
}
