//! The one verdict function: precedence, one line a case.
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::policy::{Opinion, ToolEffect, Verdict, matches, verdict};

fn opinion(word: &str) -> Opinion {
    match word {
        "allow" => Opinion::Allow,
        "ask" => Opinion::Ask("asks".to_owned()),
        "invalid" => Opinion::Invalid("count is required".to_owned()),
        "refuse" => Opinion::Refuse("refuses".to_owned()),
        _ => Opinion::Broken(word.to_owned()),
    }
}

#[test]
fn refuse_comes_before_ask_before_allow_before_the_default() {
    let (read, write) = (Some(ToolEffect::Read), Some(ToolEffect::Write));
    for (effect, opinions, expected) in [
        (read, "", "allow"),
        (write, "", "ask"),
        (None, "", "ask"),
        (write, "allow", "allow"),
        (None, "allow", "allow"),
        (read, "ask", "ask"),
        (read, "allow ask", "ask"),
        (read, "ask allow", "ask"),
        (read, "ask allow refuse", "refuse"),
        (write, "refuse allow", "refuse"),
        (read, "threw", "ask"),
        (write, "allow threw", "ask"),
        (read, "threw refuse", "refuse"),
        (read, "threw ask", "ask"),
        (read, "invalid", "invalid"),
    ] {
        let said: Vec<_> = opinions.split_whitespace().map(opinion).collect();
        let found = match verdict(effect, &said, false) {
            Verdict::Allow => "allow",
            Verdict::Ask(reason) => {
                // A rule's own reason comes before the remark that another rule is broken.
                assert_eq!(reason == "asks", opinions.split_whitespace().any(|word| word == "ask"), "{opinions}");
                "ask"
            }
            Verdict::Invalid(problem) => {
                assert_eq!(problem, "count is required");
                "invalid"
            }
            Verdict::Refuse(reason) => {
                assert_eq!(reason, "refuses");
                "refuse"
            }
        };
        assert_eq!(found, expected, "{effect:?} {opinions:?}");
    }
}

#[test]
fn an_undecided_call_asks() {
    assert!(matches!(Verdict::default(), Verdict::Ask(_)));
}

#[test]
fn a_pattern_matches_names_exactly_but_for_its_stars() {
    for (pattern, name, expected) in [
        ("eat", "eat", true),
        ("eat", "eaten", false),
        ("eat", "a_eat", false),
        ("*", "", true),
        ("*", "anything", true),
        ("delete_*", "delete_page", true),
        ("delete_*", "undelete_page", false),
        ("*_page", "delete_page", true),
        ("*_page", "delete_pages", false),
        ("a*b*c", "abc", true),
        ("a*b*c", "a-b-b-c", true),
        ("a*b*c", "acb", false),
        ("aa*aa", "aaa", false),
        ("*ab*ab", "ab", false),
        ("", "", true),
        ("", "x", false),
        ("a.c", "abc", false),
        ("é*", "été", true),
    ] {
        assert_eq!(matches(pattern, name), expected, "{pattern} {name}");
    }
}
