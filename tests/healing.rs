//! A log that merely ends early: cut after each event, it opens, and what was open gets its true outcome.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use std::collections::BTreeMap;

use countersign::core::approval::RequestKind;
use countersign::core::event::{Body, Event};
use countersign::core::log::{RequestEnd, check_pairing};
use countersign::core::message::{RequestId, TurnEnd};
use countersign::core::outcome::{Decider, DenyReason, Failure, Token};
use countersign::core::run::{RunError, Settings, Status};
use countersign::core::{card, snapshot};
use sim::{Sim, answer, calls, settings};

/// What a person or the page does with the chat that was cut off.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    Send,
    Resume,
    Stop,
}

/// Rich logs, each with the settings it was made under.
fn logs() -> Vec<(Settings, Vec<String>)> {
    let scripts: [fn(&mut Sim); 6] = [
        |sim| {
            // A batch with every decision, then calls that repeat what was declined, up to the end for that.
            sim.turn(calls(&[
                ("look", "{}"),
                ("eat", "{\"n\":1}"),
                ("eat", "{\"n\":2}"),
                ("odd", "{}"),
                ("read", "{}"),
            ]))
            .unwrap();
            sim.decide("q4", true, Some("bob")).unwrap();
            sim.decide_with("q2", false, Some("ada"), Some(DenyReason::Skip), Some("No.")).unwrap();
            sim.decide("q3", false, Some("bob")).unwrap();
            while sim.tool(Ok("fine")).is_ok() {}
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"n\":2}"), ("look", "{}")])).unwrap();
            while sim.tool(Err(Failure::Threw("no".to_owned()))).is_ok() {}
            sim.turn(calls(&[("eat", "{\"n\":1}")])).unwrap();
        },
        |sim| {
            // Denials of one turn by nobody known, and writes that need nobody.
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("eat", "{\"free\":1}"), ("odd", "{}"), ("eat", "{\"free\":2}")]))
                .unwrap();
            sim.decide("q3", false, None).unwrap();
            sim.decide("q1", false, None).unwrap();
            sim.tool(Ok("one")).unwrap();
            sim.tool(Ok("two")).unwrap();
            sim.turn(answer("Done.")).unwrap();
        },
        |sim| {
            // What no person is asked about, a turn that was cut, and a request that failed.
            sim.turn(calls(&[("nothing", "{}"), ("eat", "{\"never\":1}"), ("eat", "{\"broken\":"), ("look", "{}")]))
                .unwrap();
            sim.tool(Ok("fine")).unwrap();
            let mut cut = calls(&[("eat", "{}"), ("look", "{}")]);
            cut.end = TurnEnd::Length;
            sim.turn(cut).unwrap();
            sim.fail().unwrap();
            sim.resume().unwrap();
            sim.turn(answer("Sorry.")).unwrap();
        },
        |sim| {
            // Requests that lapse, are superseded with a sibling approved or denied, and are stopped.
            sim.turn(calls(&[("eat", "{\"n\":1}"), ("odd", "{}")])).unwrap();
            sim.decide("q1", true, Some("ada")).unwrap();
            sim.tick(5_000).unwrap();
            sim.tool(Ok("fine")).unwrap();
            sim.turn(calls(&[("eat", "{\"n\":2}"), ("odd", "{\"n\":1}"), ("odd", "{\"n\":2}")])).unwrap();
            sim.decide("q3", true, Some("ada")).unwrap();
            sim.decide("q4", false, Some("ada")).unwrap();
            sim.send(Some("ada")).unwrap();
            sim.turn(calls(&[("eat", "{\"n\":3}"), ("look", "{}")])).unwrap();
            sim.decide("q6", true, None).unwrap();
            sim.stop().unwrap();
        },
        |sim| {
            // Tools that never came back: started again, left as they are, and stopped.
            sim.turn(calls(&[("look", "{}"), ("read", "{}"), ("eat", "{}")])).unwrap();
            sim.decide("q3", true, Some("ada")).unwrap();
            sim.tool(Ok("fine")).unwrap();
            sim.reload();
            sim.resume().unwrap();
            sim.decide("lost1", true, Some("ada")).unwrap();
            sim.tool(Ok("fine")).unwrap();
            sim.reload();
            sim.resume().unwrap();
            sim.decide("lost1", false, Some("bob")).unwrap();
            sim.turn(calls(&[("look", "{}"), ("eat", "{\"free\":1}")])).unwrap();
            sim.stop().unwrap();
        },
        |sim| {
            // The limit of rounds, with calls in the answer to the closing request.
            for _ in 0..4 {
                sim.turn(calls(&[("look", "{}")])).unwrap();
                let _ = sim.tool(Ok("fine"));
            }
            sim.send(None).unwrap();
            sim.turn(answer("")).unwrap();
        },
    ];
    let settings = Settings { expire_after: Some(4_000), max_rounds: 3, ..settings() };
    let made = scripts.into_iter().map(|script| {
        let mut sim = Sim::new(settings.clone());
        sim.send(Some("ada")).unwrap();
        script(&mut sim);
        assert!(sim.run.chat().open_run().is_none(), "{:#?}", sim.trace);
        (settings.clone(), sim.lines)
    });
    made.collect()
}

/// The calls a cut left open, by id, and what is true of each: read from the lines alone.
#[derive(Debug)]
struct Left {
    started: bool,
    /// The decision since it was asked about, or since it was started last.
    decision: Option<(bool, Decider)>,
}

fn left_open(lines: &[String]) -> BTreeMap<String, Left> {
    let mut open = BTreeMap::new();
    let mut rounds = 0;
    for line in lines {
        let event = Event::decode(line).unwrap();
        match event.body {
            Body::RunStarted { .. } => rounds = 0,
            Body::TurnCompleted { turn } => {
                rounds += 1;
                for place in 1..=turn.calls.len() {
                    let id = format!("{}t{rounds}c{place}", event.run);
                    open.insert(id, Left { started: false, decision: None });
                }
            }
            Body::CallDecided { call, decision } => {
                open.get_mut(call.as_str()).unwrap().decision =
                    Some((decision.approve, decision.by.decided_by().unwrap()));
            }
            Body::CallStarted { call, .. } => {
                open.insert(call.as_str().to_owned(), Left { started: true, decision: None });
            }
            Body::CallSettled { item, .. } => {
                open.remove(item.call.as_str()).unwrap();
            }
            _ => {}
        }
    }
    open
}

/// Lets everything come that the run waits for, until it has ended; what was lost is not started again.
fn finish(sim: &mut Sim) {
    for _ in 0..100 {
        let pending: Vec<_> = sim.run.chat().pending().map(|(request, _)| request.clone()).collect();
        match sim.status() {
            Status::Ended(_) | Status::Idle => return,
            Status::Pending => {
                for request in pending {
                    sim.decide(request.id.as_str(), request.kind == RequestKind::Approval, Some("ada")).unwrap();
                }
            }
            Status::Interrupted | Status::Error => assert!(sim.resume().is_ok()),
            Status::Running => {
                while sim.tool(Ok("fine")).is_ok() {}
                if sim.model.is_some() {
                    sim.turn(answer("The end.")).unwrap();
                }
            }
        }
    }
    panic!("the run does not end: {:#?}", sim.trace);
}

/// The token, decider and approval that each call of the log ended with; `None` for a plain result.
fn outcomes(sim: &Sim) -> BTreeMap<String, Option<(Token, Option<Decider>, bool)>> {
    let events = sim.lines.iter().map(|line| Event::decode(line).unwrap());
    let settled = events.filter_map(|event| match event.body {
        Body::CallSettled { facts, item, .. } => {
            let facts = facts.map(|facts| (facts.token, facts.decided_by, facts.approved));
            Some((item.call.as_str().to_owned(), facts))
        }
        _ => None,
    });
    settled.collect()
}

#[test]
fn a_log_cut_after_any_event_heals_truthfully() {
    let mut cuts = 0;
    for (settings, lines) in logs() {
        for length in 0..=lines.len() {
            for way in [Way::Send, Way::Resume, Way::Stop] {
                let cut = &lines[..length];
                let mut sim = Sim::open(settings.clone(), cut);
                // Everything that reads the chat reads this one.
                card::cards(&sim.run, None);
                snapshot::requests(&sim.run);
                for place in 0..sim.run.chat().entries().len() {
                    snapshot::message(&sim.run, place);
                }
                match way {
                    Way::Send => drop(sim.send(Some("ada")).unwrap()),
                    Way::Stop => drop(sim.stop().unwrap()),
                    Way::Resume => {}
                }
                finish(&mut sim);
                let told = format!("cut after {length}, {way:?}: {:#?}", sim.trace);
                check_pairing(sim.run.chat().history()).expect(&told);
                assert_eq!(&sim.replayed(), sim.run.chat(), "{told}");
                assert_eq!(&sim.lines[..length], cut, "{told}");
                let ended = outcomes(&sim);
                for (call, left) in left_open(cut) {
                    let outcome = ended[&call];
                    let lapsed = |approved| match way {
                        Way::Send => Some((Token::ApprovalSuperseded, None, approved)),
                        Way::Stop => Some((Token::ApprovalCancelled, None, approved)),
                        Way::Resume => panic!("resuming goes on with every call"),
                    };
                    match (left.started, left.decision, way) {
                        (true, Some((true, _)), Way::Resume) => assert_eq!(outcome, None, "{call} {told}"),
                        (true, ..) => assert_eq!(outcome, Some((Token::OutcomeUnknown, None, false)), "{call} {told}"),
                        (_, Some((false, by)), _) => {
                            assert_eq!(outcome, Some((Token::ApprovalDenied, Some(by), false)), "{call} {told}");
                        }
                        (_, Some((true, _)), Way::Resume) => assert_eq!(outcome, None, "{call} {told}"),
                        (_, None, Way::Resume) => {
                            assert_ne!(outcome.map(|facts| facts.0), Some(Token::ApprovalDenied), "{call} {told}");
                        }
                        (_, decision, _) => assert_eq!(outcome, lapsed(decision.is_some()), "{call} {told}"),
                    }
                }
                cuts += 1;
            }
        }
    }
    assert!(cuts > 300, "only {cuts}");
}

/// The log of one denied call, cut between the decision and the denial.
fn cut_denial(by: Option<&str>) -> Sim {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{}"), ("odd", "{}")])).unwrap();
    sim.decide_with("q1", false, by, Some(DenyReason::Variant), Some("Smaller.")).unwrap();
    let denied = sim.lines.pop().unwrap();
    assert!(denied.contains("tool.call.denied"));
    Sim::open(settings(), &sim.lines)
}

#[test]
fn a_denial_that_was_lost_is_told_and_worded_as_it_was_decided() {
    for (by, decided_by) in [(Some("ada"), "run_owner"), (Some("bob"), "other_user"), (None, "unknown")] {
        let mut sim = cut_denial(by);
        assert_eq!(sim.status(), Status::Pending, "the other call still waits");
        let message = snapshot::message(&sim.run, 1);
        let told = format!(r#""outcome":"approval_denied","decidedBy":"{decided_by}","executed":false}}"#);
        assert!(message.contains(r#""state":"settled""#) && message.contains(&told), "{message}");
        assert_eq!(card::cards(&sim.run, None)[0].receipt.as_ref().unwrap().outcome, "outcome.nothing");
        assert_eq!(sim.decide("q1", true, by), Err(RunError::Conflict), "what was decided stands");
        assert!(matches!(sim.run.chat().request_end(&RequestId::new("q1")), Some(RequestEnd::Decided(_))));

        sim.decide("q2", true, Some("ada")).unwrap();
        let head = format!("Error: approval_denied (decided_by: {decided_by}, reason: variant). ");
        let text = sim.result("r1t1c1");
        assert!(text.starts_with(&head), "{text}");
        assert_eq!(text.contains("Smaller."), by == Some("ada"), "{text}");
        assert_eq!(sim.permits.len(), 1);
        assert_eq!(sim.permits[0].call().as_str(), "r1t1c2");
    }
}
