//! The pause as a contract, where no browser is needed: who settles a request, what becomes of its call, and when.
//!
//! `tests/e2e/requests.test.mjs` has the part of a page, and `requests-contract.test.mjs` maps each sentence to its test.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::approval::{AskSpec, RequestKind};
use countersign::core::card::cards;
use countersign::core::log::check_pairing;
use countersign::core::outcome::{Failure, PersonId, Token};
use countersign::core::run::{Answerer, Handled, Run, RunError, Settings};
use countersign::core::snapshot;
use sim::{Sim, answer, calls, settings, spec};

const KINDS: [&str; 5] = ["approval", "input", "question", "authorization", "acme/biometric"];
const DATA: &str = r#"{"name":"Grace"}"#;

fn user(id: &str) -> Answerer {
    Answerer::Person(PersonId::new(id))
}

/// A run whose one call waits in front of its tool as `q1`.
fn gated(settings: Settings) -> Sim {
    let mut sim = Sim::new(settings);
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{}")])).unwrap();
    sim
}

/// A run whose one call was started without being asked about, and waits for what its tool asks as `q2`.
fn raised(spec: AskSpec) -> Sim {
    raised_with(settings(), spec)
}

fn raised_with(settings: Settings, spec: AskSpec) -> Sim {
    let mut sim = Sim::new(settings);
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"free\":1}")])).unwrap();
    sim.asks(spec).unwrap();
    sim.trace.clear();
    sim
}

/// The token and, after it, the decider of a call's outcome; `-` for a plain result.
fn outcome(sim: &Sim, call: &str) -> String {
    let (_, state) = sim.run.chat().call(&countersign::core::message::CallId::new(call)).unwrap();
    let Some(settled) = &state.result else { return "open".to_owned() };
    let Some(facts) = &settled.facts else { return "-".to_owned() };
    match facts.decided_by {
        Some(by) => format!("{} {}", facts.token.token(), by.token()),
        None => facts.token.token().to_owned(),
    }
}

/// Replay gives the live state, and nothing a person, model or page reads of it fails.
fn check(sim: &Sim) {
    assert_eq!(&sim.replayed(), sim.run.chat());
    if sim.model.is_some() {
        check_pairing(sim.run.chat().history()).unwrap();
    }
    snapshot::requests(&sim.run);
    cards(&sim.run, None);
}

/// Who answers, with which reason, and what that makes of an approval and of what a tool asks for.
fn refusals() -> Vec<(Answerer, Option<&'static str>, &'static str, &'static str)> {
    vec![
        (user("ada"), None, "approval_denied run_owner", "request_declined run_owner"),
        (user("bob"), None, "approval_denied other_user", "request_declined other_user"),
        (Answerer::Person(None), None, "approval_denied unknown", "request_declined unknown"),
        (user("ada"), Some("declined"), "approval_denied run_owner", "request_declined run_owner"),
        (user("ada"), Some("expired"), "approval_denied run_owner", "request_declined run_owner"),
        (Answerer::Unsaid, Some("declined"), "approval_denied unknown", "request_declined unknown"),
        (Answerer::Unsaid, Some("Declined"), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, Some(" declined"), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, Some("expired"), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, Some("superseded"), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, Some("aborted"), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, Some(""), "approval_cancelled", "request_lapsed"),
        (Answerer::Unsaid, None, "approval_cancelled", "request_lapsed"),
        (Answerer::Policy, None, "blocked_by_policy", "request_lapsed"),
        (Answerer::Policy, Some("declined"), "blocked_by_policy", "request_lapsed"),
    ]
}

#[test]
fn every_reason_and_answerer_has_its_outcome_on_an_approval() {
    for (by, reason, expected, _) in refusals() {
        let mut sim = gated(settings());
        assert_eq!(sim.answer("q1", false, by.clone(), reason, None), Ok(Handled::Applied));
        assert_eq!(outcome(&sim, "r1t1c1"), expected, "{by:?} {reason:?}");
        assert!(sim.permits.is_empty(), "nothing runs");
        let text = sim.result("r1t1c1");
        assert!(text.contains("Nothing was executed."), "{text}");
        assert_eq!(text.contains("decided_by"), expected.starts_with("approval_denied"), "{text}");
        assert!(sim.model.is_some(), "the run goes on");
        check(&sim);
    }
}

#[test]
fn every_reason_and_answerer_has_its_outcome_on_what_a_tool_asks() {
    for kind in KINDS {
        for (by, reason, _, expected) in refusals() {
            let mut sim = raised(spec(kind));
            assert_eq!(sim.answer("q2", false, by.clone(), reason, None), Ok(Handled::Applied));
            assert_eq!(outcome(&sim, "r1t1c1"), expected, "{kind} {by:?} {reason:?}");
            assert!(sim.permits.is_empty(), "ok: false never reaches the tool a second time");
            let text = sim.result("r1t1c1");
            assert!(text.contains("had started and asked for something"), "{text}");
            check(&sim);
        }
    }
}

#[test]
fn the_reason_of_an_answer_is_logged_and_not_shown_to_the_model() {
    for (mut sim, id) in [(gated(settings()), "q1"), (raised(spec("input")), "q2")] {
        sim.answer(id, false, Answerer::Unsaid, Some("the moon was full"), None).unwrap();
        let decided = sim.lines.iter().find(|line| line.contains("tool.call.decided")).unwrap();
        assert!(decided.contains(r#""answer_reason":"the moon was full""#), "{decided}");
        assert!(!sim.result("r1t1c1").contains("moon"));
    }
}

#[test]
fn an_approval_by_policy_runs_and_records_no_person() {
    let mut sim = gated(settings());
    sim.answer("q1", true, Answerer::Policy, None, None).unwrap();
    assert_eq!(sim.permits.len(), 1);
    let decided = sim.lines.iter().find(|line| line.contains("tool.call.decided")).unwrap();
    assert!(decided.contains(r#""decided_by":null,"decider":null,"settler":"policy""#), "{decided}");
    sim.tool(Ok("fine")).unwrap();
    assert_eq!(sim.result("r1t1c1"), "fine");
    check(&sim);
}

#[test]
fn a_policy_is_no_second_approver() {
    let mut sim = gated(Settings { second_approver: true, ..settings() });
    for by in [Answerer::Policy, Answerer::Unsaid, Answerer::Person(None), user("ada")] {
        assert_eq!(sim.answer("q1", true, by, None, None), Err(RunError::NotAllowed));
    }
    assert_eq!(sim.answer("q1", true, user("bob"), None, None), Ok(Handled::Applied));
}

#[test]
fn a_tool_that_asks_is_called_once_more_with_the_answer() {
    for kind in KINDS {
        let mut sim = raised(spec(kind));
        assert_eq!(sim.status().token(), "pending");
        let first = sim.lines.len();
        sim.answer("q2", true, user("bob"), None, Some(DATA)).unwrap();
        assert_eq!(sim.permits.len(), 1);
        let permit = &sim.permits[0];
        assert_eq!((permit.attempt(), permit.arguments()), (2, "{\"free\":1}"));
        assert_eq!(permit.answers().len(), 1);
        assert_eq!(permit.answers()[0].kind.token(), kind);
        assert_eq!(permit.answers()[0].data.as_ref().unwrap().text(), DATA);
        assert!(sim.lines.len() > first);
        sim.tool(Ok("fine")).unwrap();
        assert_eq!(sim.result("r1t1c1"), "fine");
        assert!(sim.permits.is_empty(), "once, and not again");
        check(&sim);
    }
}

/// The same tool, which is told of a no too.
fn relaying() -> Settings {
    let mut settings = settings();
    settings.tools[2].relays = true;
    settings
}

#[test]
fn a_tool_that_relays_is_told_of_a_no_and_ends_its_call_as_it_then_says() {
    let declined = Some("declined");
    for (by, reason, heard) in [
        (user("ada"), declined, declined),
        (user("bob"), None, None),
        (Answerer::Unsaid, Some("expired"), Some("expired")),
        (Answerer::Policy, declined, declined),
    ] {
        for result in [Ok("The server says: another time."), Err(Failure::Threw("refused".to_owned()))] {
            let mut sim = raised_with(relaying(), spec("input"));
            assert_eq!(sim.answer("q2", false, by.clone(), reason, None), Ok(Handled::Applied));
            assert_eq!(sim.answer("q2", false, by.clone(), reason, None), Ok(Handled::Already));
            assert_eq!(outcome(&sim, "r1t1c1"), "open");
            assert_eq!(sim.permits[0].answers()[0].refused, Some(heard.map(str::to_owned)));
            check(&sim);
            sim.tool(result.clone()).unwrap();
            let plain = sim.result("r1t1c1");
            assert!(plain.contains(result.as_ref().map_or("refused", |text| text)), "{plain}");
            assert!(!plain.contains("declined"), "{plain}");
            assert!(sim.permits.is_empty() && sim.model.is_some(), "told once, and the run goes on");
            check(&sim);
        }
    }
}

#[test]
fn a_button_that_declines_gives_the_reason_declined_to_a_tool_that_relays() {
    let mut sim = raised_with(relaying(), spec("question"));
    assert_eq!(sim.decide("q2", false, Some("ada")), Ok(Handled::Applied));
    assert_eq!(sim.decide("q2", false, Some("ada")), Ok(Handled::Already));
    assert_eq!(sim.permits[0].answers()[0].refused, Some(Some("declined".to_owned())));
}

#[test]
fn what_lapses_or_is_lost_is_not_relayed() {
    let asked = || raised_with(relaying(), AskSpec { expires_at: Some(Some(61_000)), ..spec("input") });
    let mut late = asked();
    late.tick(60_000).unwrap();
    assert_eq!((outcome(&late, "r1t1c1").as_str(), late.permits.len()), ("request_lapsed", 0));
    let mut stopped = asked();
    stopped.stop().unwrap();
    assert_eq!((outcome(&stopped, "r1t1c1").as_str(), stopped.permits.len()), ("request_lapsed", 0));
    // The page goes away while the tool is told: the person had declined, and that is what is known.
    for stops in [true, false] {
        let mut lost = asked();
        lost.answer("q2", false, user("bob"), Some("declined"), None).unwrap();
        lost.reload();
        if stops { lost.stop() } else { lost.resume() }.unwrap();
        assert_eq!(outcome(&lost, "r1t1c1"), "request_declined other_user");
        assert!(lost.permits.is_empty(), "told once at most");
        check(&lost);
    }
    // What asked is no longer the tool that would be told.
    let mut changed = raised_with(relaying(), spec("input"));
    changed.run = Run::new(changed.run.chat().clone(), settings());
    changed.answer("q2", false, user("ada"), Some("declined"), None).unwrap();
    assert_eq!((outcome(&changed, "r1t1c1").as_str(), changed.permits.len()), ("request_declined run_owner", 0));
}

#[test]
fn every_attempt_has_the_same_idempotency_key() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"free\":1}")])).unwrap();
    let key = sim.permits[0].idempotency_key().to_owned();
    sim.asks(spec("question")).unwrap();
    sim.answer("q2", true, user("ada"), None, Some(DATA)).unwrap();
    assert_eq!(sim.permits[0].idempotency_key(), key);
}

#[test]
fn a_gate_in_front_of_a_tool_means_that_it_was_never_called() {
    let mut sim = gated(settings());
    assert!(!sim.lines.iter().any(|line| line.contains("tool.call.started")));
    sim.answer("q1", true, user("ada"), None, None).unwrap();
    assert_eq!((sim.permits[0].attempt(), sim.permits[0].answers().len()), (1, 0));
}

#[test]
fn a_tool_may_ask_twice_and_keeps_its_answers() {
    let mut sim = raised(spec("input"));
    sim.answer("q2", true, user("ada"), None, Some(DATA)).unwrap();
    sim.asks(spec("authorization")).unwrap();
    sim.reload();
    assert_eq!(sim.status().token(), "pending");
    sim.answer("q3", true, user("ada"), None, None).unwrap();
    let answers: Vec<_> = sim.permits[0].answers().iter().map(|answer| answer.request.to_string()).collect();
    assert_eq!((sim.permits[0].attempt(), answers), (3, vec!["q2".to_owned(), "q3".to_owned()]));
    sim.tool(Ok("fine")).unwrap();
    assert_eq!(sim.result("r1t1c1"), "fine");
    assert_eq!(sim.answer("q2", true, user("ada"), None, Some(DATA)), Ok(Handled::Already));
    check(&sim);
}

#[test]
fn a_tool_that_asks_for_ever_comes_to_an_end() {
    let mut sim = raised(spec("acme"));
    for round in 2.. {
        assert!(round < 50, "it ends");
        let Some((request, _)) = sim.run.chat().pending().next() else { break };
        let id = request.id.to_string();
        sim.answer(&id, true, Answerer::Policy, None, None).unwrap();
        sim.asks(spec("acme")).unwrap();
    }
    assert_eq!(outcome(&sim, "r1t1c1"), "tool_failed");
    check(&sim);
}

#[test]
fn the_note_of_the_approval_still_reaches_a_tool_that_asked() {
    let mut sim = gated(settings());
    sim.decide_with("q1", true, Some("ada"), None, Some("The small one.")).unwrap();
    sim.asks(spec("input")).unwrap();
    sim.answer("q2", true, user("bob"), None, Some(DATA)).unwrap();
    assert_eq!(sim.permits[0].note(), Some("The small one."));
    sim.tool(Ok("fine")).unwrap();
    assert!(sim.result("r1t1c1").ends_with("\"The small one.\""));
}

#[test]
fn several_requests_are_surfaced_in_call_order_and_settled_in_any() {
    for order in [["q1", "q2", "q3"], ["q3", "q2", "q1"], ["q2", "q3", "q1"]] {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("eat", "{\"n\":1}"), ("odd", "{}"), ("eat", "{\"n\":2}")])).unwrap();
        let asked: Vec<_> = sim.run.chat().pending().map(|(request, _)| request.id.to_string()).collect();
        assert_eq!(asked, ["q1", "q2", "q3"]);
        for id in order {
            assert!(sim.permits.is_empty(), "the batch waits");
            sim.answer(id, id != "q2", user("ada"), None, None).unwrap();
        }
        assert_eq!(sim.permits.len(), 1, "a write runs alone");
        sim.tool(Ok("one")).unwrap();
        sim.tool(Ok("three")).unwrap();
        assert_eq!(
            ["r1t1c1", "r1t1c2", "r1t1c3"].map(|call| outcome(&sim, call)),
            ["-", "approval_denied run_owner", "-"]
        );
        check(&sim);
    }
}

#[test]
fn tools_that_run_together_may_all_ask() {
    for order in [["q3", "q4"], ["q4", "q3"]] {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("look", "{}"), ("read", "{}")])).unwrap();
        sim.asks(spec("question")).unwrap();
        assert_eq!(sim.status().token(), "running", "the other one is at work");
        sim.asks(spec("input")).unwrap();
        assert_eq!(sim.status().token(), "pending");
        for id in order {
            assert!(sim.permits.is_empty());
            sim.answer(id, true, user("ada"), None, Some(DATA)).unwrap();
        }
        assert_eq!(sim.permits.len(), 2);
        sim.tool(Ok("seen")).unwrap();
        sim.tool(Ok("read")).unwrap();
        check(&sim);
    }
}

#[test]
fn answers_that_do_not_fit_change_nothing() {
    let mut sim = gated(settings());
    let before = sim.lines.clone();
    assert_eq!(sim.answer("q9", true, user("ada"), None, None), Err(RunError::UnknownRequest));
    assert_eq!(sim.answer("q1", true, user("ada"), Some("because"), None), Err(RunError::ReasonWithApproval));
    assert_eq!(sim.lines, before);
    sim.answer("q1", false, Answerer::Unsaid, Some("declined"), None).unwrap();
    let settled = sim.lines.clone();
    assert_eq!(sim.answer("q1", false, Answerer::Unsaid, Some("declined"), None), Ok(Handled::Already));
    for (ok, by, reason) in [
        (true, Answerer::Unsaid, None),
        (false, Answerer::Unsaid, Some("expired")),
        (false, Answerer::Policy, Some("declined")),
        (false, user("ada"), Some("declined")),
    ] {
        assert_eq!(sim.answer("q1", ok, by, reason, None), Err(RunError::Conflict));
    }
    assert_eq!(sim.lines, settled, "first one wins");
}

#[test]
fn the_same_answer_is_the_same_whatever_the_order_of_its_keys() {
    let mut sim = raised(spec("acme"));
    sim.answer("q2", true, Answerer::Policy, None, Some(r#"{"a":1,"b":2}"#)).unwrap();
    assert_eq!(sim.answer("q2", true, Answerer::Policy, None, Some(r#"{"b":2,"a":1}"#)), Ok(Handled::Already));
    assert_eq!(sim.answer("q2", true, Answerer::Policy, None, Some(r#"{"b":2}"#)), Err(RunError::Conflict));
}

#[test]
fn what_is_typed_or_stopped_lapses_and_declines_nothing() {
    for (stops, head) in [(false, "the user sent a new message instead"), (true, "it was cancelled")] {
        for kind in KINDS {
            let mut sim = raised(spec(kind));
            if stops { sim.stop() } else { sim.send(Some("ada")) }.unwrap();
            assert_eq!(outcome(&sim, "r1t1c1"), "request_lapsed");
            let text = sim.result("r1t1c1");
            assert!(text.contains(head) && text.contains("Nobody declined it."), "{text}");
            for ok in [true, false] {
                assert_eq!(sim.answer("q2", ok, user("ada"), None, None), Err(RunError::Conflict));
            }
            assert!(sim.permits.is_empty());
            check(&sim);
        }
    }
}

#[test]
fn what_was_answered_and_not_called_again_is_told_as_that() {
    for (stops, head) in [(false, "a new message came first"), (true, "the run was stopped first")] {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("look", "{}"), ("read", "{}")])).unwrap();
        sim.asks(spec("question")).unwrap();
        sim.asks(spec("input")).unwrap();
        sim.answer("q3", true, user("ada"), None, Some(DATA)).unwrap();
        if stops { sim.stop() } else { sim.send(Some("ada")) }.unwrap();
        let text = sim.result("r1t1c1");
        assert!(text.contains("That was answered, but the tool did not go on") && text.contains(head), "{text}");
        assert_eq!(outcome(&sim, "r1t1c1"), "request_lapsed");
        check(&sim);
    }
}

#[test]
fn a_request_lapses_at_its_time_and_answers_after_that_settle_nothing() {
    for (mut sim, id, expected) in [
        (gated(Settings { expire_after: Some(60_000), ..settings() }), "q1", "approval_expired"),
        (raised(AskSpec { expires_at: Some(Some(61_000)), ..spec("input") }), "q2", "request_lapsed"),
        (raised_with(Settings { expire_after: Some(60_000), ..settings() }, spec("input")), "q2", "request_lapsed"),
    ] {
        sim.tick(59_999).unwrap();
        assert_eq!(outcome(&sim, "r1t1c1"), "open");
        // In the same millisecond, before anybody noticed.
        sim.now += 1;
        assert_eq!(sim.answer(id, true, user("ada"), None, Some(DATA)), Err(RunError::Expired));
        sim.tick(0).unwrap();
        assert_eq!(outcome(&sim, "r1t1c1"), expected);
        assert!(!sim.result("r1t1c1").contains("declined by"));
        for ok in [true, false] {
            assert_eq!(sim.answer(id, ok, user("ada"), None, None), Err(RunError::Expired));
        }
        let receipt = cards(&sim.run, None)[0].receipt.clone().unwrap();
        assert!(["lapsed.expired", "lapsed.unanswered_in_time"].contains(&receipt.decision), "{receipt:?}");
        assert!(sim.permits.is_empty() && sim.model.is_some());
        check(&sim);
    }
}

#[test]
fn a_tool_says_itself_whether_what_it_asks_lapses() {
    let sim = raised_with(
        Settings { expire_after: Some(60_000), ..settings() },
        AskSpec { expires_at: Some(None), ..spec("input") },
    );
    assert_eq!(sim.run.chat().pending().next().unwrap().0.expires_at, None);
}

#[test]
fn a_page_that_slept_past_it_lapses_it_before_anything_else() {
    for stops in [false, true] {
        let mut sim = gated(Settings { expire_after: Some(60_000), ..settings() });
        sim.now += 7 * 86_400_000;
        if stops { sim.stop() } else { sim.send(Some("ada")) }.unwrap();
        assert_eq!(outcome(&sim, "r1t1c1"), "approval_expired", "it was over before the message came");
        check(&sim);
    }
}

#[test]
fn a_clock_that_jumps_gives_nobody_more_time() {
    let day = 86_400_000;
    let mut sim = Sim::new(Settings { expire_after: Some(60_000), ..settings() });
    sim.now = 10 * day;
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}")])).unwrap();
    sim.now -= day;
    sim.decide("q2", false, Some("ada")).unwrap();
    let at = |line: &String| countersign::core::event::Event::decode(line).unwrap().at;
    assert!(sim.lines.iter().map(at).is_sorted(), "no event is earlier than the one before it");
    let expires = sim.run.chat().pending().next().unwrap().0.expires_at;
    assert_eq!(expires, Some(10 * day + 60_000));
    sim.now += 2 * day;
    assert_eq!(sim.decide("q1", true, Some("ada")), Err(RunError::Expired));
    sim.tick(0).unwrap();
    sim.now -= day;
    assert_eq!(sim.decide("q1", true, Some("ada")), Err(RunError::Expired), "what lapsed stays so");
    assert_eq!(outcome(&sim, "r1t1c1"), "approval_expired");
    check(&sim);
}

#[test]
fn a_request_can_be_extended_and_not_cut_short() {
    let mut sim = gated(Settings { expire_after: Some(60_000), ..settings() });
    assert_eq!(sim.extend("q1", Some(61_000)), Ok(Handled::Already));
    for earlier in [0, 1_000, 60_999] {
        assert_eq!(sim.extend("q1", Some(earlier)), Err(RunError::NoExtension));
    }
    assert_eq!(sim.extend("q9", Some(90_000)), Err(RunError::UnknownRequest));
    assert_eq!(sim.extend("q1", Some(90_000)), Ok(Handled::Applied));
    sim.tick(60_000).unwrap();
    assert_eq!(outcome(&sim, "r1t1c1"), "open");
    assert_eq!(sim.extend("q1", None), Ok(Handled::Applied));
    assert_eq!(sim.extend("q1", Some(900_000)), Err(RunError::NoExtension), "never is later than any time");
    sim.tick(900_000).unwrap();
    sim.reload();
    assert_eq!(sim.decide("q1", true, Some("ada")), Ok(Handled::Applied));
    assert_eq!(sim.extend("q1", None), Err(RunError::Conflict));
    check(&sim);

    let mut late = gated(Settings { expire_after: Some(60_000), ..settings() });
    late.now += 60_000;
    assert_eq!(late.extend("q1", None), Err(RunError::Expired), "what is over is not brought back");
    late.tick(0).unwrap();
    assert_eq!(late.extend("q1", None), Err(RunError::Expired));
}

#[test]
fn a_tool_that_changed_or_went_while_it_waited_is_not_called_again() {
    for goes in [true, false] {
        let mut sim = raised(spec("input"));
        let mut settings = sim.run.settings().clone();
        if goes {
            settings.tools.retain(|tool| tool.name != "eat");
        } else {
            settings.tools[2].description = "Other.".to_owned();
        }
        sim.run = Run::new(sim.replayed(), settings);
        sim.answer("q2", true, user("ada"), None, Some(DATA)).unwrap();
        assert!(sim.permits.is_empty());
        assert_eq!(outcome(&sim, "r1t1c1"), "tool_failed");
        check(&sim);
    }
}

#[test]
fn a_recovery_whose_tool_changed_comes_to_its_end() {
    let mut sim = gated(settings());
    sim.decide("q1", true, Some("ada")).unwrap();
    sim.reload();
    sim.resume().unwrap();
    let mut settings = sim.run.settings().clone();
    settings.tools[2].description = "Other.".to_owned();
    sim.run = Run::new(sim.replayed(), settings);
    sim.decide("lost1", true, Some("ada")).unwrap();
    assert_eq!(outcome(&sim, "r1t1c1"), "outcome_unknown");
    check(&sim);
}

#[test]
fn a_crash_at_any_event_leaves_one_true_result() {
    let mut sim = raised(spec("input"));
    sim.answer("q2", true, user("ada"), None, Some(DATA)).unwrap();
    sim.asks(spec("acme")).unwrap();
    sim.answer("q3", false, user("bob"), None, None).unwrap();
    sim.turn(answer("Well.")).unwrap();
    for length in 1..sim.lines.len() {
        for stops in [true, false] {
            let mut cut = Sim::open(settings(), &sim.lines[..length]);
            if stops { cut.stop() } else { cut.send(Some("ada")) }.unwrap();
            check_pairing(cut.run.chat().history()).unwrap();
            let declined = sim.lines[..length].iter().any(|line| line.contains(r#""approved":false,"decided_by":"#));
            if cut.run.chat().call(&countersign::core::message::CallId::new("r1t1c1")).is_some() {
                assert_eq!(outcome(&cut, "r1t1c1") == "request_declined other_user", declined, "cut after {length}");
            }
            check(&cut);
        }
    }
}

#[test]
fn a_call_that_was_lost_beside_a_request_is_resumed_once_that_is_settled() {
    for ok in [true, false] {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("look", "{}"), ("read", "{}")])).unwrap();
        sim.asks(spec("question")).unwrap();
        sim.permits.clear();
        sim.reload();
        assert_eq!(sim.status().token(), "pending");
        sim.answer("q3", ok, user("ada"), None, ok.then_some(DATA)).unwrap();
        if ok {
            sim.tool(Ok("seen")).unwrap();
        }
        assert_eq!((sim.status().token(), sim.model), ("interrupted", None), "the other result is still missing");
        sim.resume().unwrap();
        sim.decide("lost1", false, Some("ada")).unwrap();
        assert_eq!(outcome(&sim, "r1t1c2"), "outcome_unknown");
        assert!(sim.model.is_some());
        check(&sim);
    }
}

#[test]
fn a_pending_request_is_no_failure() {
    for (sim, id) in [(gated(settings()), "q1"), (raised(spec("input")), "q2")] {
        let message = snapshot::message(&sim.run, 1);
        assert!(message.contains(&format!(r#""state":"waiting","requestId":"{id}""#)), "{message}");
        assert!(!message.contains("outcome") && !message.contains("isError"), "{message}");
        assert!(snapshot::requests(&sim.run).contains(id));
        assert_eq!(sim.status().token(), "pending");
    }
}

#[test]
fn a_failed_attempt_after_an_answer_is_a_failure() {
    let mut sim = raised(spec("input"));
    sim.answer("q2", true, user("ada"), None, Some(DATA)).unwrap();
    sim.tool(Err(Failure::Threw("no".to_owned()))).unwrap();
    assert_eq!(outcome(&sim, "r1t1c1"), Token::ToolFailed.token());
}

#[test]
fn kinds_keep_their_names() {
    for kind in KINDS.into_iter().chain(["recovery", "Approval", "approval "]) {
        assert_eq!(RequestKind::of(kind).token(), kind);
    }
    let sim = raised(spec("acme/biometric"));
    assert!(snapshot::requests(&sim.run).contains(r#""kind":"acme/biometric""#));
}
