//! The core keeps its reasons in English; the card says them in the page's language by finding them in the English list.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use countersign::core::policy::{Opinion, Standing, ToolEffect, Verdict, verdict};

fn english() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/src/locales/en.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_reason_of_the_core_stands_in_the_list_of_messages() {
    let none = &Standing::Silent;
    let undeclared = english()["why.undeclared"].as_str().unwrap().to_owned();
    let broken = [Opinion::Broken("it threw".to_owned())];
    for (key, verdict) in [
        ("why.write", verdict(Some(ToolEffect::Write), &[], false, none)),
        ("why.undeclared", verdict(None, &[], false, none)),
        ("why.unread", verdict(None, &[], false, &Standing::Unread)),
        ("why.voided", verdict(None, &[], false, &Standing::Changed(vec!["title", "effect"]))),
        ("why.tainted", verdict(None, &[Opinion::Allow], true, none)),
        ("why.broken", verdict(None, &broken, false, none)),
    ] {
        let listed = english()[key].as_str().unwrap().replace("{problem}", "it threw");
        let listed = listed.replace("{why}", &undeclared).replace("{what}", "title, effect");
        let Verdict::Ask { reason, .. } = verdict else { panic!("{verdict:?}") };
        assert_eq!(reason, listed, "{key}");
    }
}

/// Reads the sources: these stand in the middle of longer work.
#[test]
fn what_is_asked_anew_and_what_was_lost_stand_there_too() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/run/ask.rs")).unwrap();
    let grants = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/run/grants.rs")).unwrap();
    let changed = english()["why.changed"].as_str().unwrap().replace("{why}", "").replace("{what}.", "");
    for text in [english()["why.lost"].as_str().unwrap(), english()["why.no_longer"].as_str().unwrap(), &changed] {
        assert!((source.clone() + &grants).contains(&format!("\"{text}\"")), "{text}");
    }
}

#[test]
fn every_key_that_the_card_says_is_listed() {
    let english = english();
    let mut said = 0;
    let mut folders = vec![Path::new(env!("CARGO_MANIFEST_DIR")).join("src")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
                continue;
            }
            if path.extension().is_none_or(|ending| ending != "rs") {
                continue;
            }
            let text = fs::read_to_string(&path).unwrap();
            for kind in [
                "head.",
                "hint.",
                "fold.",
                "ask.",
                "receipt.",
                "decided.",
                "lapsed.",
                "outcome.",
                "waiting.",
                "refused.",
                "reason.",
                "note.",
                "deadline.",
                "bulk.",
                "modal.",
                "change.",
            ] {
                for (start, _) in text.match_indices(&format!("\"{kind}")) {
                    let word = text[start + 1..].split('"').next().unwrap();
                    // A whole kind, asked about.
                    if word.ends_with('.') {
                        continue;
                    }
                    assert!(english.get(word).is_some(), "{word} of {}", path.display());
                    said += 1;
                }
            }
        }
    }
    assert!(said > 40, "{said}");
}

/// What is wrong with JSON that a person typed is said to them by the same list.
#[test]
fn every_problem_of_arguments_stands_in_the_list_of_messages() {
    let english = english();
    let listed: Vec<&str> = english
        .as_object()
        .unwrap()
        .iter()
        .filter(|(key, _)| key.starts_with("form.problem.json_"))
        .map(|(_, message)| message.as_str().unwrap())
        .collect();
    let many = format!("{{\"a\":[{}1]}}", "1,".repeat(10_001));
    let long_key = format!("{{\"{}\":1}}", "k".repeat(1_001));
    let cases = [
        "{".to_owned(),
        "{x".to_owned(),
        "{} {}".to_owned(),
        "{\"a\":\"\u{1}\"}".to_owned(),
        r#"{"a":"\q"}"#.to_owned(),
        "[".repeat(100),
        format!("{{\"a\":\"{}\"}}", "x".repeat(1 << 20)),
        many,
        r#"{"a":"\ud800"}"#.to_owned(),
        r#"{"__proto__":1}"#.to_owned(),
        r#"{"a":1,"a":2}"#.to_owned(),
        r#"{"a":9007199254740993}"#.to_owned(),
        r#"{"a":1e999}"#.to_owned(),
        r#"{"a":1e-999}"#.to_owned(),
        "1".to_owned(),
        long_key,
    ];
    let mut met = Vec::new();
    for case in &cases {
        let problem = countersign::core::arguments::Arguments::new(case).unwrap_err();
        let fits = |message: &&&str| {
            let mut rest = problem.as_str();
            let ends_with = message.rsplit('}').next().unwrap();
            message.split(['{', '}']).step_by(2).all(|part| match rest.find(part) {
                Some(found) => {
                    rest = &rest[found + part.len()..];
                    true
                }
                None => false,
            }) && problem.ends_with(ends_with)
                && problem.starts_with(message.split('{').next().unwrap())
        };
        met.push(*listed.iter().find(fits).unwrap_or_else(|| panic!("{problem} is not listed")));
    }
    met.sort_unstable();
    met.dedup();
    assert_eq!(met.len(), listed.len(), "each message is one of the reader's");
}
