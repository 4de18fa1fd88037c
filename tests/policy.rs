//! The one verdict function: precedence, one line a case.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::panic)]

use countersign::core::message::GrantId;
use countersign::core::policy::{Opinion, Standing, ToolEffect, Verdict, matches, verdict};

fn opinion(word: &str) -> Opinion {
    match word {
        "allow" => Opinion::Allow,
        "ask" => Opinion::Ask { reason: "asks".to_owned(), grantable: false },
        "ask-for-now" => Opinion::Ask { reason: "asks for now".to_owned(), grantable: true },
        "invalid" => Opinion::Invalid("count is required".to_owned()),
        "refuse" => Opinion::Refuse("refuses".to_owned()),
        _ => Opinion::Broken(word.to_owned()),
    }
}

fn said(opinions: &str) -> Vec<Opinion> {
    opinions.split_whitespace().map(opinion).collect()
}

const READ: Option<ToolEffect> = Some(ToolEffect::Read);
const WRITE: Option<ToolEffect> = Some(ToolEffect::Write);

#[test]
fn refuse_comes_before_ask_before_allow_before_the_default() {
    for (effect, opinions, expected) in [
        (READ, "", "allow"),
        (WRITE, "", "ask"),
        (None, "", "ask"),
        (WRITE, "allow", "allow"),
        (None, "allow", "allow"),
        (READ, "ask", "ask"),
        (READ, "allow ask", "ask"),
        (READ, "ask allow", "ask"),
        (READ, "ask allow refuse", "refuse"),
        (WRITE, "refuse allow", "refuse"),
        (READ, "threw", "ask"),
        (WRITE, "allow threw", "ask"),
        (READ, "threw refuse", "refuse"),
        (READ, "threw ask", "ask"),
        (READ, "invalid", "invalid"),
    ] {
        let found = match verdict(effect, &said(opinions), false, &Standing::Silent) {
            Verdict::Allow(grant) => {
                assert_eq!(grant, None);
                "allow"
            }
            Verdict::Ask { reason, .. } => {
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
#[rustfmt::skip]
fn a_grant_lifts_the_default_ask_and_asks_that_say_so_and_nothing_else() {
    // What it comes to without a permission; with one; and both once a result from outside came in. `once` is an ask that
    // offers no standing permission, `grantable` one that does, `granted` a call that runs by one.
    for (effect, opinions, without, with, tainted, tainted_with) in [
        (WRITE, "", "grantable", "granted", "once", "once"),
        (None, "", "grantable", "granted", "once", "once"),
        (READ, "", "allow", "allow", "allow", "allow"),
        (WRITE, "allow", "allow", "allow", "once", "once"),
        (WRITE, "ask", "once", "once", "once", "once"),
        (READ, "ask", "once", "once", "once", "once"),
        (WRITE, "ask-for-now", "grantable", "granted", "once", "once"),
        (READ, "ask-for-now", "grantable", "granted", "grantable", "granted"),
        (WRITE, "ask-for-now allow", "grantable", "granted", "once", "once"),
        (WRITE, "ask-for-now ask", "once", "once", "once", "once"),
        (WRITE, "ask ask-for-now", "once", "once", "once", "once"),
        (WRITE, "ask-for-now threw", "once", "once", "once", "once"),
        (WRITE, "threw", "once", "once", "once", "once"),
        (WRITE, "refuse", "refuse", "refuse", "refuse", "refuse"),
        (WRITE, "ask-for-now refuse", "refuse", "refuse", "refuse", "refuse"),
        (WRITE, "invalid", "invalid", "invalid", "invalid", "invalid"),
    ] {
        let grant = GrantId::new("g");
        let found = |tainted, standing: &Standing| match verdict(effect, &said(opinions), tainted, standing) {
            Verdict::Allow(None) => "allow",
            Verdict::Allow(Some(by)) => {
                assert_eq!(by, grant);
                "granted"
            }
            Verdict::Ask { grantable: true, .. } => "grantable",
            Verdict::Ask { grantable: false, .. } => "once",
            Verdict::Refuse(_) => "refuse",
            Verdict::Invalid(_) => "invalid",
        };
        let covers = Standing::Covers(grant.clone());
        let all = [(false, &Standing::Silent), (false, &covers), (true, &Standing::Silent), (true, &covers)];
        let found_all = all.map(|(tainted, standing)| found(tainted, standing));
        assert_eq!(found_all, [without, with, tainted, tainted_with], "boundary/grant: {effect:?} {opinions:?}");
        for none in [Standing::Unread, Standing::Changed(vec!["description"])] {
            assert_eq!(found(false, &none), without, "boundary/grant: {none:?} permits nothing");
        }
    }
}

#[test]
fn an_ask_says_why_a_permission_no_longer_counts() {
    let reason = |standing: &Standing, tainted| match verdict(WRITE, &[], tainted, standing) {
        Verdict::Ask { reason, .. } => reason,
        other => panic!("{other:?}"),
    };
    let default = reason(&Standing::Silent, false);
    assert_eq!(
        reason(&Standing::Changed(vec!["description", "effect"]), false),
        format!("{default} It was allowed for later calls too, but the tool has changed since: description, effect.")
    );
    assert_eq!(
        reason(&Standing::Unread, false),
        format!("{default} Whether it was allowed for later calls too could not be read.")
    );
    assert!(reason(&Standing::Covers(GrantId::new("g")), true).starts_with("A result from outside came in"));
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
