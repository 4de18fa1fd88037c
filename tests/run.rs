//! The loop's exits, one script each; the stored events are the snapshot.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::message::{MessageId, Part, RequestId, TurnEnd};
use countersign::core::outcome::{DenyReason, Failure, Via};
use countersign::core::run::{Effect, Handled, Input, RunError};
use expect_test::{Expect, expect};
use sim::{Sim, answer, calls, settings};

/// Runs a script from a first message of ada's and compares what was stored and done since.
fn check(script: impl FnOnce(&mut Sim), expected: Expect) {
    expected.assert_eq(&trace(script));
}

/// Runs a script from a first message of ada's; what was stored and done since.
fn trace(script: impl FnOnce(&mut Sim)) -> String {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.take_trace();
    script(&mut sim);
    sim.reload();
    sim.take_trace()
}

#[test]
fn an_answer_ends_the_run() {
    check(
        |sim| assert!(sim.turn(answer("Hello.")).is_ok()),
        expect![[r#"
        turn.completed stop calls=0
        run.ended done
        → done
    "#]],
    );
}

#[test]
fn a_read_runs_and_goes_back_to_the_model() {
    check(
        |sim| {
            sim.turn(calls(&[("look", "{}")])).unwrap();
            sim.tool(Ok("3")).unwrap();
            sim.turn(answer("Three.")).unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=1
            tool.call.allowed r1t1c1
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 look {}
            tool.call.completed r1t1c1
            → model
            turn.completed stop calls=0
            run.ended done
            → done
        "#]],
    );
}

#[test]
fn a_write_waits_and_runs_once_approved() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"count\":3}")])).unwrap();
            sim.decide("q1", true, Some("ada")).unwrap();
            sim.tool(Ok("eaten")).unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=1
            tool.call.asked r1t1c1 q1 "This tool changes something, so a person is asked first."
            → ask q1 r1t1c1
            → pending
            tool.call.decided r1t1c1 approve by=run_owner
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 eat {"count":3}
            tool.call.completed r1t1c1
            → model
        "#]],
    );
}

#[test]
fn a_denial_is_the_owners_anothers_or_nobodys() {
    for (by, expected) in [(Some("ada"), "run_owner"), (Some("bob"), "other_user"), (None, "unknown")] {
        let trace = trace(|sim| {
            sim.turn(calls(&[("eat", "{}")])).unwrap();
            sim.decide("q1", false, by).unwrap();
            assert!(sim.result("r1t1c1").contains(&format!("decided_by: {expected}")));
        });
        let denied = format!("tool.call.denied r1t1c1 approval_denied by={expected}\n→ model\n");
        assert!(trace.ends_with(&denied) && !trace.contains("→ run"), "{trace}");
    }
}

#[test]
fn nothing_of_a_batch_runs_before_its_last_decision() {
    check(
        |sim| {
            sim.turn(calls(&[("look", "{}"), ("eat", "{\"n\":1}"), ("eat", "{\"n\":1}"), ("look", "{}")])).unwrap();
            sim.decide("q3", true, Some("ada")).unwrap();
            assert!(sim.permits.is_empty());
            sim.decide("q2", false, Some("ada")).unwrap();
            while sim.tool(Ok("ok")).is_ok() {}
        },
        expect![[r#"
            turn.completed tool_calls calls=4
            tool.call.allowed r1t1c1
            tool.call.asked r1t1c2 q2 "This tool changes something, so a person is asked first."
            tool.call.asked r1t1c3 q3 "This tool changes something, so a person is asked first."
            tool.call.allowed r1t1c4
            → ask q2 r1t1c2
            → ask q3 r1t1c3
            → pending
            tool.call.decided r1t1c3 approve by=run_owner
            → pending
            tool.call.decided r1t1c2 deny by=run_owner
            tool.call.denied r1t1c2 approval_denied by=run_owner
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 look {}
            tool.call.completed r1t1c1
            tool.call.started r1t1c3 attempt=1
            → run r1t1c3 eat {"n":1}
            tool.call.completed r1t1c3
            tool.call.started r1t1c4 attempt=1
            → run r1t1c4 look {}
            tool.call.completed r1t1c4
            → model
        "#]],
    );
}

#[test]
fn neighbouring_reads_run_together_and_a_write_runs_alone() {
    check(
        |sim| {
            sim.turn(calls(&[
                ("look", "{}"),
                ("read", "{}"),
                ("eat", "{\"free\":1}"),
                ("eat", "{\"free\":2}"),
                ("look", "{}"),
            ]))
            .unwrap();
            while sim.tool(Ok("ok")).is_ok() {}
        },
        expect![[r#"
            turn.completed tool_calls calls=5
            tool.call.allowed r1t1c1
            tool.call.allowed r1t1c2
            tool.call.allowed r1t1c3
            tool.call.allowed r1t1c4
            tool.call.allowed r1t1c5
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 look {}
            tool.call.started r1t1c2 attempt=1
            → run r1t1c2 read {}
            tool.call.completed r1t1c1
            tool.call.completed r1t1c2
            tool.call.started r1t1c3 attempt=1
            → run r1t1c3 eat {"free":1}
            tool.call.completed r1t1c3
            tool.call.started r1t1c4 attempt=1
            → run r1t1c4 eat {"free":2}
            tool.call.completed r1t1c4
            tool.call.started r1t1c5 attempt=1
            → run r1t1c5 look {}
            tool.call.completed r1t1c5
            → model
        "#]],
    );
}

#[test]
fn a_new_message_supersedes_what_waits() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}"), ("eat", "{\"n\":3}"), ("look", "{}")]))
                .unwrap();
            sim.decide("q1", true, Some("ada")).unwrap();
            sim.decide("q2", false, Some("ada")).unwrap();
            sim.send(Some("ada")).unwrap();
            assert_eq!(sim.decide("q3", true, Some("ada")), Err(RunError::Conflict));
            assert!(sim.result("r1t1c1").contains("had been approved but was not started"));
        },
        expect![[r#"
            turn.completed tool_calls calls=4
            tool.call.asked r1t1c1 q1 "This tool changes something, so a person is asked first."
            tool.call.asked r1t1c2 q2 "This tool changes something, so a person is asked first."
            tool.call.asked r1t1c3 q3 "This tool changes something, so a person is asked first."
            tool.call.allowed r1t1c4
            → ask q1 r1t1c1
            → ask q2 r1t1c2
            → ask q3 r1t1c3
            → pending
            tool.call.decided r1t1c1 approve by=run_owner
            → pending
            tool.call.decided r1t1c2 deny by=run_owner
            tool.call.denied r1t1c2 approval_denied by=run_owner
            → pending
            tool.call.lapsed r1t1c1 approval_superseded approved
            tool.call.lapsed r1t1c3 approval_superseded
            tool.call.lapsed r1t1c4 approval_superseded
            run.ended stopped (superseded)
            run.started r2 owner=ada
            → model
        "#]],
    );
}

#[test]
fn a_stop_is_final() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}")])).unwrap();
            sim.decide("q1", true, Some("ada")).unwrap();
            sim.stop().unwrap();
            assert_eq!(sim.decide("q2", true, Some("ada")), Err(RunError::Conflict));
            sim.stop().unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=2
            tool.call.asked r1t1c1 q1 "This tool changes something, so a person is asked first."
            tool.call.asked r1t1c2 q2 "This tool changes something, so a person is asked first."
            → ask q1 r1t1c1
            → ask q2 r1t1c2
            → pending
            tool.call.decided r1t1c1 approve by=run_owner
            → pending
            tool.call.lapsed r1t1c1 approval_cancelled approved
            tool.call.lapsed r1t1c2 approval_cancelled
            run.ended stopped (stopped)
            → stopped
        "#]],
    );
}

#[test]
fn a_stop_while_a_tool_runs_leaves_its_outcome_unknown() {
    check(
        |sim| {
            sim.turn(calls(&[("look", "{}")])).unwrap();
            sim.stop().unwrap();
            assert_eq!(sim.tool(Ok("late")), Err(RunError::Stale));
        },
        expect![[r#"
            turn.completed tool_calls calls=1
            tool.call.allowed r1t1c1
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 look {}
            tool.call.unknown r1t1c1 outcome_unknown
            run.ended stopped (stopped)
            → stopped
        "#]],
    );
}

#[test]
fn a_stop_while_the_model_answers_ignores_the_late_turn() {
    check(
        |sim| {
            let ticket = sim.model;
            sim.stop().unwrap();
            sim.send(Some("ada")).unwrap();
            sim.model = ticket;
            assert_eq!(sim.turn(answer("late")), Err(RunError::Stale));
        },
        expect![[r#"
            run.ended stopped (stopped)
            → stopped
            run.started r2 owner=ada
            → model
        "#]],
    );
}

#[test]
fn nobody_decides_in_time() {
    let mut limited = settings();
    limited.expire_after = Some(5_000);
    let mut sim = Sim::new(limited);
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{}")])).unwrap();
    sim.tick(4_999).unwrap();
    assert_eq!(sim.status().token(), "pending");
    sim.now += 1;
    assert_eq!(sim.decide("q1", true, Some("ada")), Err(RunError::Expired), "judged by the clock, tick or no tick");
    sim.tick(0).unwrap();
    assert_eq!(sim.decide("q1", false, Some("ada")), Err(RunError::Expired));
    assert!(sim.result("r1t1c1").starts_with("Error: approval_expired. "));
    assert_eq!(sim.status().token(), "running", "the run goes on");
}

#[test]
fn what_cannot_run_is_refused_without_a_card() {
    check(
        |sim| {
            sim.turn(calls(&[
                ("nothing", "{}"),
                ("", "{}"),
                ("eat", "{\"a\":"),
                ("eat", "[]"),
                ("eat", "{\"a\":1,\"a\":2}"),
                ("eat", "{\"__proto__\":{}}"),
                ("eat", "{\"n\":9007199254740993}"),
                ("eat", "{\"never\":true,\"free\":true}"),
            ]))
            .unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=8
            tool.call.denied r1t1c1 tool_unavailable
            tool.call.denied r1t1c2 tool_unavailable
            tool.call.denied r1t1c3 arguments_invalid
            tool.call.denied r1t1c4 arguments_invalid
            tool.call.denied r1t1c5 arguments_invalid
            tool.call.denied r1t1c6 arguments_invalid
            tool.call.denied r1t1c7 arguments_invalid
            tool.call.denied r1t1c8 blocked_by_policy
            → model
        "#]],
    );
}

#[test]
fn no_call_of_a_cut_turn_runs() {
    for end in [TurnEnd::Length, TurnEnd::Truncated] {
        let trace = trace(|sim| {
            let mut turn = calls(&[("look", "{}"), ("eat", "{}")]);
            turn.end = end;
            sim.turn(turn.clone()).unwrap();
            // A second cut turn in a row ends the run: the model would go on for ever.
            sim.turn(turn).unwrap();
            assert!(sim.result("r1t2c2").starts_with("Error: turn_truncated. "));
        });
        assert!(!trace.contains("→ run") && !trace.contains("asked"), "{trace}");
        assert!(trace.ends_with("run.ended stopped (repeated_cut_turn)\n→ stopped\n"), "{trace}");
    }
}

#[test]
fn a_repeated_denied_call_is_refused_and_the_third_repeat_ends_the_run() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"a\":1,\"b\":2}")])).unwrap();
            sim.decide("q1", false, Some("ada")).unwrap();
            sim.turn(calls(&[("eat", "{\"b\":2.0, \"a\":1}"), ("look", "{}")])).unwrap();
            sim.tool(Ok("3")).unwrap();
            sim.turn(calls(&[("eat", "{\"a\":1,\"b\":2}")])).unwrap();
            sim.turn(calls(&[("eat", "{\"a\":1,\"b\":2}")])).unwrap();
            sim.send(Some("ada")).unwrap();
            sim.turn(calls(&[("eat", "{\"a\":1,\"b\":2}")])).unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=1
            tool.call.asked r1t1c1 q1 "This tool changes something, so a person is asked first."
            → ask q1 r1t1c1
            → pending
            tool.call.decided r1t1c1 deny by=run_owner
            tool.call.denied r1t1c1 approval_denied by=run_owner
            → model
            turn.completed tool_calls calls=2
            tool.call.denied r1t2c1 already_declined
            tool.call.allowed r1t2c2
            tool.call.started r1t2c2 attempt=1
            → run r1t2c2 look {}
            tool.call.completed r1t2c2
            → model
            turn.completed tool_calls calls=1
            tool.call.denied r1t3c1 already_declined
            → model
            turn.completed tool_calls calls=1
            tool.call.denied r1t4c1 already_declined
            run.ended stopped (repeated_denied_call)
            → stopped
            run.started r2 owner=ada
            → model
            turn.completed tool_calls calls=1
            tool.call.asked r2t1c1 q3 "This tool changes something, so a person is asked first."
            → ask q3 r2t1c1
            → pending
        "#]],
    );
}

#[test]
fn the_limit_brings_one_closing_request() {
    let mut limited = settings();
    limited.max_rounds = 2;
    let mut sim = Sim::new(limited);
    sim.send(Some("ada")).unwrap();
    for _ in 0..2 {
        sim.turn(calls(&[("look", "{}")])).unwrap();
        sim.tool(Ok("3")).unwrap();
    }
    assert!(sim.closing);
    sim.turn(calls(&[("look", "{}")])).unwrap();
    assert_eq!((sim.status().token(), sim.model), ("limit", None));
    assert!(sim.result("r1t3c1").starts_with("Error: tool_unavailable. "));
}

#[test]
fn tools_that_fail_stop_none_of_their_siblings() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"free\":1}"), ("eat", "{\"free\":2}")])).unwrap();
            sim.tool(Err(Failure::Threw("no".to_owned()))).unwrap();
            sim.tool(Ok("yes")).unwrap();
        },
        expect![[r#"
            turn.completed tool_calls calls=2
            tool.call.allowed r1t1c1
            tool.call.allowed r1t1c2
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 eat {"free":1}
            tool.call.failed r1t1c1 tool_failed
            tool.call.started r1t1c2 attempt=1
            → run r1t1c2 eat {"free":2}
            tool.call.completed r1t1c2
            → model
        "#]],
    );
}

#[test]
fn a_failed_request_can_be_made_again_and_runs_no_tool_twice() {
    check(
        |sim| {
            sim.turn(calls(&[("look", "{}")])).unwrap();
            sim.tool(Ok("3")).unwrap();
            sim.fail().unwrap();
            sim.reload();
            assert_eq!(sim.status().token(), "error");
            sim.resume().unwrap();
            sim.turn(answer("Three.")).unwrap();
            assert_eq!(sim.resume(), Err(RunError::NothingToResume));
        },
        expect![[r#"
            turn.completed tool_calls calls=1
            tool.call.allowed r1t1c1
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 look {}
            tool.call.completed r1t1c1
            → model
            turn.failed model_overloaded
            → error
            → model
            turn.completed stop calls=0
            run.ended done
            → done
        "#]],
    );
}

#[test]
fn a_reload_leaves_cards_pending_and_started_calls_unknown() {
    check(
        |sim| {
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}")])).unwrap();
            sim.reload();
            assert_eq!(sim.status().token(), "pending");
            sim.decide("q1", true, Some("ada")).unwrap();
            sim.decide("q2", true, Some("ada")).unwrap();
            sim.reload();
            assert_eq!(sim.status().token(), "interrupted");
            sim.resume().unwrap();
            sim.decide("lost1", false, Some("ada")).unwrap();
            sim.tool(Ok("ok")).unwrap();
            assert!(sim.result("r1t1c1").starts_with("Error: outcome_unknown. "));
        },
        expect![[r#"
            turn.completed tool_calls calls=2
            tool.call.asked r1t1c1 q1 "This tool changes something, so a person is asked first."
            tool.call.asked r1t1c2 q2 "This tool changes something, so a person is asked first."
            → ask q1 r1t1c1
            → ask q2 r1t1c2
            → pending
            tool.call.decided r1t1c1 approve by=run_owner
            → pending
            tool.call.decided r1t1c2 approve by=run_owner
            tool.call.started r1t1c1 attempt=1
            → run r1t1c1 eat {"n":1}
            tool.call.asked r1t1c1 lost1 "This was started, and its result was lost when the page went away. It may have run."
            → ask lost1 r1t1c1
            → pending
            tool.call.decided r1t1c1 deny by=run_owner
            tool.call.unknown r1t1c1 outcome_unknown
            tool.call.started r1t1c2 attempt=1
            → run r1t1c2 eat {"n":2}
            tool.call.completed r1t1c2
            → model
        "#]],
    );
}

#[test]
fn the_first_decision_wins() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}")])).unwrap();
    assert_eq!(
        sim.decide_with("q1", true, Some("ada"), Some(DenyReason::Skip), None),
        Err(RunError::ReasonWithApproval)
    );
    assert_eq!(sim.decide("q1", false, Some("ada")), Ok(Handled::Applied));
    let before = sim.lines.len();
    assert_eq!(sim.decide("q1", false, Some("ada")), Ok(Handled::Already));
    assert_eq!(sim.decide("q1", true, Some("ada")), Err(RunError::Conflict));
    assert_eq!(sim.decide("q1", false, Some("bob")), Err(RunError::Conflict));
    assert_eq!(sim.decide("q9", true, Some("ada")), Err(RunError::UnknownRequest));
    assert_eq!(sim.lines.len(), before);
    // Also in a later run.
    sim.decide("q2", false, Some("ada")).unwrap();
    sim.turn(answer("")).unwrap();
    sim.send(Some("ada")).unwrap();
    assert_eq!(sim.decide("q1", false, Some("ada")), Ok(Handled::Already));
}

#[test]
fn notes_of_others_stay_in_the_log() {
    for (by, all, shown) in
        [(Some("ada"), false, true), (Some("bob"), false, false), (None, false, false), (Some("bob"), true, true)]
    {
        for approve in [false, true] {
            let mut open = settings();
            open.all_notes = all;
            let mut sim = Sim::new(open);
            sim.send(Some("ada")).unwrap();
            sim.turn(calls(&[("eat", "{}")])).unwrap();
            sim.decide_with("q1", approve, by, None, Some("Done.")).unwrap();
            if approve {
                assert_eq!(sim.permits[0].note(), Some("Done."), "the tool gets the note");
                sim.tool(Ok("eaten")).unwrap();
                assert!(sim.result("r1t1c1").starts_with("eaten"));
            } else {
                assert!(sim.result("r1t1c1").starts_with("Error: approval_denied (decided_by: "));
            }
            assert_eq!(sim.result("r1t1c1").contains("\"Done.\""), shown, "{by:?} {all}");
            assert!(sim.lines.iter().any(|line| line.contains("\"note\":\"Done.\"")));
        }
    }
}

#[test]
fn an_empty_note_is_no_note() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{}")])).unwrap();
    sim.decide_with("q1", false, Some("ada"), None, Some(" \n")).unwrap();
    assert!(sim.result("r1t1c1").ends_with("Say what you could do instead."));
}

#[test]
fn a_log_that_does_not_follow_is_corrupt_and_says_where() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{}")])).unwrap();
    sim.decide("q1", false, Some("ada")).unwrap();
    let chat = || countersign::core::message::ChatId::new("c");
    let replay = |lines: Vec<String>| {
        countersign::core::log::Chat::replay(chat(), lines.iter().map(String::as_str)).map_err(|corrupt| corrupt.seq)
    };
    for at in 0..sim.lines.len() {
        let mut missing = sim.lines.clone();
        missing.remove(at);
        let fails_at = if at + 1 == sim.lines.len() { Ok(()) } else { Err(at as u64) };
        assert_eq!(replay(missing).map(|_| ()), fails_at, "without event {at}");
        let mut spoiled = sim.lines.clone();
        spoiled[at] = spoiled[at].replace("\"v\":", "\"v\":9");
        assert_eq!(replay(spoiled).map(|_| ()), Err(at as u64), "event {at} of a newer version");
    }
}

/// Hands the run inputs without carrying out what they ask for, as while a write is under way; then counts what is left
/// to do beside storing and telling.
fn left_after_stop(prepare: impl FnOnce(&mut Sim), input: Input) -> usize {
    let mut sim = Sim::new(settings());
    prepare(&mut sim);
    sim.run.handle(input).unwrap();
    sim.run.handle(Input::Stop { at: sim.now, partial: String::new() }).unwrap();
    std::iter::from_fn(|| sim.run.poll())
        .filter(|effect| !matches!(effect, Effect::Persist(_) | Effect::Done(_)))
        .count()
}

#[test]
fn a_stop_while_a_write_is_under_way_leaves_nothing_to_begin() {
    let parts = vec![Part::Text("go".to_owned())];
    let send = Input::Send { at: 1_000, message: MessageId::new("m"), author: None, parts };
    assert_eq!(left_after_stop(|_| {}, send), 0, "no model request begins");
    let decide = Input::Decide {
        at: 1_000,
        request: RequestId::new("q1"),
        approve: true,
        by: None,
        via: Via::Card,
        reason: None,
        note: None,
        edited: None,
        terms: None,
        preview: None,
        fresh: RequestId::new("again"),
    };
    let asked = |sim: &mut Sim| {
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("eat", "{}")])).unwrap();
    };
    assert_eq!(left_after_stop(asked, decide), 0, "no tool begins");
}

#[test]
fn arguments_that_differ_are_shown_differently() {
    let paths = |arguments: &str| {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("eat", arguments)])).unwrap();
        let cards = countersign::core::card::cards(&sim.run, None);
        cards[0].view.arguments.iter().map(|row| row.path.clone()).collect::<Vec<_>>().join(" ")
    };
    for (arguments, expected) in [
        (r#"{"a":{"b":1}}"#, "a.b"),
        (r#"{"a.b":1}"#, r#"["a.b"]"#),
        (r#"{"c":[0]}"#, "c[0]"),
        (r#"{"c[0]":0}"#, r#"["c[0]"]"#),
        (r#"{"":{}}"#, r#"[""]"#),
        (r#"{"":{"":1},"x":{}}"#, r#"[""][""] x"#),
        ("{}", ""),
    ] {
        assert_eq!(paths(arguments), expected, "{arguments}");
    }
}

#[test]
fn a_result_is_written_once() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}")])).unwrap();
    sim.decide("q1", false, Some("ada")).unwrap();
    let seq = sim.lines.len();
    let again = sim.lines[seq - 1].replace(&format!("\"seq\":{}", seq - 1), &format!("\"seq\":{seq}"));
    let lines = sim.lines.iter().map(String::as_str).chain([again.as_str()]);
    let corrupt =
        countersign::core::log::Chat::replay(countersign::core::message::ChatId::new("c"), lines).unwrap_err();
    assert_eq!((corrupt.seq, corrupt.problem.as_str()), (seq as u64, "a second result for one call"));
}
