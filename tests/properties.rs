//! What holds for every order of inputs.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::approval::Scope;
use countersign::core::chain::{self, Privacy};
use countersign::core::event::{Body, Decision, Event};
use countersign::core::grant::Chosen;
use countersign::core::json::parse_lenient;
use countersign::core::log::{Chat, Entry, check_pairing};
use countersign::core::message::{CallId, ChatId, HistoryItem};
use countersign::core::outcome::{Failure, PersonId, Token};
use countersign::core::run::Answerer;
use proptest::prelude::*;
use sim::{Sim, answer, calls, check_kept, sealed, settings, spec};

#[derive(Clone, Debug)]
enum Step {
    Send(bool),
    Answer,
    Calls(Vec<(usize, usize)>, bool),
    Fail,
    Decide(usize, bool, usize),
    Edit(usize, usize, usize),
    Settle(usize, bool, usize),
    Grant(usize, usize, usize, bool, bool),
    Revoke(usize),
    Unread(bool),
    Tool(bool),
    Asks(usize),
    Stop,
    Tick,
    Resume,
    Reload,
}

const NAMES: [&str; 5] = ["look", "eat", "odd", "read", "nothing"];
const ARGUMENTS: [&str; 8] =
    ["{}", "{\"n\":1}", "{\"n\":2}", "{\"free\":1}", "{\"never\":1}", "{\"broken\":", "{\"careful\":1}", "{\"ask\":1}"];
const KINDS: [&str; 3] = ["approval", "input", "acme"];
const PEOPLE: [Option<&str>; 3] = [Some("ada"), Some("bob"), None];

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        2 => any::<bool>().prop_map(Step::Send),
        1 => Just(Step::Answer),
        5 => (prop::collection::vec((0..NAMES.len(), 0..ARGUMENTS.len()), 1..5), prop::bool::weighted(0.1))
            .prop_map(|(calls, cut)| Step::Calls(calls, cut)),
        1 => Just(Step::Fail),
        6 => (0..6_usize, any::<bool>(), 0..PEOPLE.len()).prop_map(|(which, yes, by)| Step::Decide(which, yes, by)),
        4 => (0..6_usize, 0..ARGUMENTS.len(), 0..PEOPLE.len()).prop_map(|(which, to, by)| Step::Edit(which, to, by)),
        4 => (0..9_usize, any::<bool>(), 0..4_usize).prop_map(|(which, ok, by)| Step::Settle(which, ok, by)),
        4 => (0..6_usize, 0..PEOPLE.len(), 0..2_usize, any::<bool>(), any::<bool>())
            .prop_map(|(which, by, scope, exactly, ends)| Step::Grant(which, by, scope, exactly, ends)),
        1 => (0..3_usize).prop_map(Step::Revoke),
        1 => prop::bool::weighted(0.3).prop_map(Step::Unread),
        5 => any::<bool>().prop_map(Step::Tool),
        3 => (0..KINDS.len()).prop_map(Step::Asks),
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
        Step::Edit(which, to, by) => sim.edit(&format!("q{which}"), PEOPLE[by], ARGUMENTS[to]),
        Step::Settle(which, ok, by) => {
            let by = match by {
                0 => Answerer::Person(PersonId::new("ada")),
                1 => Answerer::Person(None),
                2 => Answerer::Policy,
                _ => Answerer::Unsaid,
            };
            let reason = (!ok && which % 2 == 0).then_some("declined");
            sim.answer(&format!("q{which}"), ok, by, reason, ok.then_some("{}"))
        }
        Step::Grant(which, by, scope, exactly, ends) => {
            let chosen = if exactly { Chosen::Exactly } else { Chosen::Any };
            let until = ends.then_some(sim.now + 2_500);
            sim.grant(&format!("q{which}"), PEOPLE[by], Scope::ALL[scope], chosen, until)
        }
        Step::Revoke(which) => {
            let given = sim.book().and_then(|book| book.standing().nth(which).map(|grant| grant.id.clone()));
            if let Some(id) = given {
                sim.revoke(id.as_str());
            }
            return;
        }
        Step::Unread(fails) => {
            sim.grants_fail = fails;
            return;
        }
        Step::Asks(kind) => sim.asks(spec(KINDS[kind])),
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
                let is_start = |body: &Body| matches!(body, Body::CallStarted { call: id, .. } if id == call);
                if let Some(start) = events[..at].iter().rposition(|event| is_start(&event.body)) {
                    let yes = events[start..at].iter().any(|event| {
                        matches!(&event.body, Body::CallDecided { call: id, decision } if id == call && decision.approve)
                    });
                    assert!(yes, "{call} started again without a yes to what its tool asked");
                    continue;
                }
                let allowed =
                    before(at, &|body| matches!(body, Body::CallAllowed { call: id, grant: None, .. } if id == call));
                let granted = before(
                    at,
                    &|body| matches!(body, Body::CallAllowed { call: id, grant: Some(_), .. } if id == call),
                );
                let asked = before(at, &|body| matches!(body, Body::CallAsked { request } if request.call == *call));
                let yes = before(
                    at,
                    &|body| matches!(body, Body::CallDecided { call: id, decision } if id == call && decision.approve),
                );
                // A permission may be revoked before its call starts, and then a person is asked.
                assert!(granted && !allowed || allowed != asked, "{call} is allowed, or asked about, and not neither");
                assert!(allowed || granted && !asked || yes, "{call} started without leave");
            }
            Body::CallSettled { facts, item, .. } => {
                let again =
                    before(at, &|body| matches!(body, Body::CallSettled { item: one, .. } if one.call == item.call));
                assert!(!again, "{} has two results", item.call);
                // A decline that the model is told of has a person behind it, and a person's decline is told.
                let declined = before(
                    at,
                    &|body| matches!(body, Body::CallDecided { call, decision } if *call == item.call && !decision.approve && decision.by.decided_by().is_some()),
                );
                let says_so = facts
                    .as_ref()
                    .is_some_and(|facts| matches!(facts.token, Token::ApprovalDenied | Token::RequestDeclined));
                assert_eq!(declined, says_so, "{} {facts:?}", item.call);
                assert_eq!(says_so, facts.as_ref().is_some_and(|facts| facts.decided_by.is_some()));
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

/// A byte of an export, and what it becomes.
type Flip = (prop::sample::Index, u8);

/// Any log can be exported at every level and be checked; no change of a byte goes unseen; and what is left once its
/// content is cleared says the same of who decided what.
fn check_record(sim: &Sim, (place, mask): &Flip) {
    let lines = sealed(&sim.lines);
    let whole = chain::export(&lines, Privacy::Full);
    let verified = chain::verify(&whole);
    assert_eq!(verified.as_ref().map(|verified| verified.events), Ok(lines.len() as u64));
    for level in Privacy::ALL {
        let text = chain::export(&lines, *level);
        assert_eq!(chain::verify(&text), verified, "{level:?}");
        if !text.is_empty() {
            let mut changed = text.clone().into_bytes();
            let at = place.index(changed.len());
            changed[at] ^= (*mask).max(1);
            let changed = String::from_utf8_lossy(&changed);
            assert!(chain::verify(&changed) != verified || same(&changed, &text), "{level:?}, byte {at}: {changed}");
        }
    }

    let open = sim.run.chat().open_run().map(|run| run.id.as_str());
    let mut cleared = lines.clone();
    for (seq, line) in chain::clear(&lines, open) {
        cleared[seq] = line;
    }
    assert_eq!(chain::verify(&cleared.join("\n")), verified);
    assert_eq!(chain::clear(&cleared, open), []);
    check_kept(&lines);
    check_kept(&cleared);
    let chat = Chat::replay(ChatId::new("c"), cleared.iter().map(String::as_str)).unwrap();
    assert_eq!(chat.entries().len(), sim.run.chat().entries().len());
    assert_eq!(chat.open_run(), sim.run.chat().open_run());
    check_pairing(chat.history()).or_else(|error| chat.open_turn().map(|_| ()).ok_or(error)).unwrap();
    let users = chat.history().iter().filter(|item| matches!(item, HistoryItem::User(_))).count();
    assert_eq!(users, usize::from(open.is_some()), "requests carry the open run alone");
    let decided = |chat: &Chat| {
        let turns = chat.entries().iter().filter_map(|entry| match entry {
            Entry::Turn(turn) => Some(turn.calls.clone()),
            _ => None,
        });
        let facts = turns.flatten().map(|call| {
            let edited = call.edited().is_some();
            let facts = call.result.and_then(|settled| settled.facts);
            // What was said with an answer is content, and how arguments were changed, but not that they were.
            let decision =
                call.decision.map(|decision| Decision { answer_reason: None, data: None, edit: None, ..decision });
            (call.id, decision, edited, call.attempts, facts)
        });
        facts.collect::<Vec<_>>()
    };
    assert_eq!(decided(&chat), decided(sim.run.chat()));
}

/// Whether both are the same values, line by line.
fn same(one: &str, two: &str) -> bool {
    let values = |text: &str| text.trim_end().lines().map(|line| parse_lenient(line.as_bytes())).collect::<Vec<_>>();
    values(one) == values(two)
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

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn any_log_is_a_record_that_can_be_checked(steps in prop::collection::vec(step(), 1..60), flip in any::<Flip>()) {
        let mut sim = Sim::new(settings());
        for step in steps {
            take(&mut sim, step);
        }
        check_record(&sim, &flip);
    }
}
