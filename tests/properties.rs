//! What holds for every order of inputs.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::event::{Body, Event};
use countersign::core::log::check_pairing;
use countersign::core::message::{CallId, HistoryItem};
use countersign::core::outcome::{Failure, Token};
use proptest::prelude::*;
use sim::{Sim, answer, calls, settings};

#[derive(Clone, Debug)]
enum Step {
    Send(bool),
    Answer,
    Calls(Vec<(usize, usize)>, bool),
    Fail,
    Decide(usize, bool, usize),
    Tool(bool),
    Stop,
    Tick,
    Resume,
    Reload,
}

const NAMES: [&str; 5] = ["look", "eat", "odd", "read", "nothing"];
const ARGUMENTS: [&str; 6] = ["{}", "{\"n\":1}", "{\"n\":2}", "{\"free\":1}", "{\"never\":1}", "{\"broken\":"];
const PEOPLE: [Option<&str>; 3] = [Some("ada"), Some("bob"), None];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(Step::Send),
        1 => Just(Step::Answer),
        5 => (prop::collection::vec((0..NAMES.len(), 0..ARGUMENTS.len()), 1..5), prop::bool::weighted(0.1))
            .prop_map(|(calls, cut)| Step::Calls(calls, cut)),
        1 => Just(Step::Fail),
        6 => (0..6_usize, any::<bool>(), 0..PEOPLE.len()).prop_map(|(which, yes, by)| Step::Decide(which, yes, by)),
        5 => any::<bool>().prop_map(Step::Tool),
        1 => Just(Step::Stop),
        1 => Just(Step::Tick),
        1 => Just(Step::Resume),
        1 => Just(Step::Reload),
    ]
}

/// Carries out one step where it is possible; the run's own errors are part of what is tested.
fn take(sim: &mut Sim, step: Step) {
    let handled = match step {
        Step::Send(known) => sim.send(known.then_some("ada")),
        Step::Answer => sim.turn(answer("Yes.")),
        Step::Calls(made, cut) => {
            let made: Vec<_> = made.iter().map(|(name, arguments)| (NAMES[*name], ARGUMENTS[*arguments])).collect();
            let mut turn = calls(&made);
            if cut {
                turn.end = countersign::core::message::TurnEnd::Length;
            }
            sim.turn(turn)
        }
        Step::Fail => sim.fail(),
        Step::Decide(which, yes, by) => sim.decide(&format!("q{which}"), yes, PEOPLE[by]),
        Step::Tool(true) => sim.tool(Ok("fine")),
        Step::Tool(false) => sim.tool(Err(Failure::Threw("no".to_owned()))),
        Step::Stop => sim.stop(),
        Step::Tick => sim.tick(1_000),
        Step::Resume => sim.resume(),
        Step::Reload => {
            sim.reload();
            return;
        }
    };
    if let Err(wrong) = handled {
        assert_ne!(wrong.code(), "log_corrupt", "{wrong}");
    }
}

/// Reads the stored log alone: who ran, and by what leave.
fn check_log(lines: &[String]) {
    let events: Vec<_> = lines.iter().map(|line| Event::decode(line).unwrap()).collect();
    let before = |at: usize, found: &dyn Fn(&Body) -> bool| events[..at].iter().any(|event| found(&event.body));
    for (at, event) in events.iter().enumerate() {
        match &event.body {
            Body::CallStarted { call, .. } => {
                let allowed = before(at, &|body| matches!(body, Body::CallAllowed { call: id, .. } if id == call));
                let asked = before(at, &|body| matches!(body, Body::CallAsked { request } if request.call == *call));
                let yes = before(
                    at,
                    &|body| matches!(body, Body::CallDecided { call: id, decision } if id == call && decision.approve),
                );
                assert!(allowed != asked, "a call is allowed or asked about, not both and not neither");
                assert!(allowed || yes, "{call} started without leave");
                assert!(
                    !before(at, &|body| matches!(body, Body::CallStarted { call: id, .. } if id == call)),
                    "{call} started twice"
                );
            }
            Body::CallSettled { facts, item, .. } => {
                let again =
                    before(at, &|body| matches!(body, Body::CallSettled { item: one, .. } if one.call == item.call));
                assert!(!again, "{} has two results", item.call);
                let denied = before(
                    at,
                    &|body| matches!(body, Body::CallDecided { call, decision } if *call == item.call && !decision.approve),
                );
                let says_denied = facts.as_ref().is_some_and(|facts| facts.token == Token::ApprovalDenied);
                assert_eq!(denied, says_denied, "a denial has a person behind it");
            }
            _ => {}
        }
    }
}

/// Once a run has ended, and whenever the model is asked, every call has exactly one result, in call order.
fn check_results(sim: &Sim) {
    let chat = sim.run.chat();
    if sim.model.is_some() || chat.open_run().is_none() {
        check_pairing(chat.history()).unwrap();
    }
    let mut results: Vec<&CallId> = Vec::new();
    for item in chat.history() {
        if let HistoryItem::Result(result) = item {
            assert!(!results.contains(&&result.call));
            results.push(&result.call);
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_order_of_inputs_breaks_the_loop(steps in prop::collection::vec(step(), 1..60), expiry in any::<bool>()) {
        let mut settings = settings();
        settings.expire_after = expiry.then_some(1_500);
        settings.max_rounds = 6;
        let mut sim = Sim::new(settings);
        for step in steps {
            take(&mut sim, step);
            prop_assert_eq!(&sim.replayed(), sim.run.chat());
            check_results(&sim);
        }
        check_log(&sim.lines);
    }
}
