//! The core keeps its reasons in English; the card says them in the page's language by finding them in the English list.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::fs;
use std::path::Path;

use countersign::core::policy::{Opinion, ToolEffect, Verdict, verdict};

fn english() -> serde_json::Value {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("www/src/locales/en.json");
    serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
}

#[test]
fn every_reason_of_the_core_stands_in_the_list_of_messages() {
    let broken = [Opinion::Broken("it threw".to_owned())];
    for (key, verdict) in [
        ("why.undecided", Verdict::default()),
        ("why.write", verdict(Some(ToolEffect::Write), &[], false)),
        ("why.undeclared", verdict(None, &[], false)),
        ("why.tainted", verdict(None, &[Opinion::Allow], true)),
        ("why.broken", verdict(None, &broken, false)),
    ] {
        let listed = english()[key].as_str().unwrap().replace("{problem}", "it threw");
        assert_eq!(verdict, Verdict::Ask(listed), "{key}");
    }
}

/// Reads the sources: these stand in the middle of longer work.
#[test]
fn what_is_asked_anew_and_what_was_lost_stand_there_too() {
    let source = fs::read_to_string(Path::new(env!("CARGO_MANIFEST_DIR")).join("src/core/run/ask.rs")).unwrap();
    let changed = english()["why.changed"].as_str().unwrap().replace("{why}", "").replace("{what}.", "");
    for text in [english()["why.lost"].as_str().unwrap(), &changed] {
        assert!(source.contains(&format!("\"{text}\"")), "{text}");
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
                "head.", "hint.", "fold.", "ask.", "receipt.", "decided.", "lapsed.", "outcome.", "waiting.", "change.",
            ] {
                for (start, _) in text.match_indices(&format!("\"{kind}")) {
                    let word = text[start + 1..].split('"').next().unwrap();
                    assert!(english.get(word).is_some(), "{word} of {}", path.display());
                    said += 1;
                }
            }
        }
    }
    assert!(said > 40, "{said}");
}
