//! The input guard, one script a line: `time input …`, and what came of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::guard::{ARMING, Guard, Input, QUIET, Verdict};
use proptest::prelude::*;

/// A button at rest, in view, in a page with the focus: due at 500.
const SHOWN: &str = "0 rest, 0 view, 0 focus, ";

fn input(word: &str) -> Input {
    let click = |trusted, detail, primary| Input::Click { trusted, detail, primary };
    match word {
        "rearm" => Input::Rearm,
        "view" => Input::InView(true),
        "clipped" => Input::InView(false),
        "focus" => Input::Attended(true),
        "blur" => Input::Attended(false),
        "rest" => Input::Place([10.0, 20.0, 100.0, 44.0]),
        "rounded" => Input::Place([10.0, 20.4, 100.0, 44.0]),
        "creep1" => Input::Place([10.0, 20.9, 100.0, 44.0]),
        "creep2" => Input::Place([10.0, 21.8, 100.0, 44.0]),
        "moved" => Input::Place([10.0, 60.0, 100.0, 44.0]),
        "grown" => Input::Place([10.0, 20.0, 100.0, 88.0]),
        "tick" => Input::Tick,
        "press" => Input::Pressed,
        "held" => Input::Held,
        "else" => Input::Elsewhere,
        "click" => click(true, 1, true),
        "enter" => click(true, 0, true),
        "double" => click(true, 2, true),
        "aux" => click(true, 1, false),
        "script" => click(false, 0, true),
        other => panic!("no such input: {other}"),
    }
}

/// Runs a script and returns each change: `armed`, `off`, and `decides` for clicks that do.
fn run(script: &str) -> String {
    let mut guard = Guard::new(f64::NEG_INFINITY);
    let mut trace = Vec::new();
    for step in script.split(',').map(str::trim) {
        let (time, word) = step.split_once(' ').unwrap();
        let was_armed = guard.is_armed();
        let verdict = guard.handle(time.parse().unwrap(), input(word));
        if guard.is_armed() != was_armed {
            trace.push(format!("{time} {}", if was_armed { "off" } else { "armed" }));
        }
        if verdict == Verdict::Decide {
            trace.push(format!("{time} decides"));
        }
    }
    trace.join(", ")
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(run(&format!("{SHOWN}{script}")), expected, "{script}");
}

#[test]
fn a_meant_click_decides() {
    check("500 tick, 700 press, 760 click", "500 armed, 760 off, 760 decides");
    check("500 tick, 700 press, 710 enter", "500 armed, 710 off, 710 decides");
    check("500 tick, 700 press, 720 held, 1900 held, 1910 enter", "500 armed, 1910 off, 1910 decides");
    check("500 tick, 600 else, 700 press, 710 click", "500 armed, 710 off, 710 decides");
    check("3000 tick, 3000 press, 3000 click", "3000 armed, 3000 off, 3000 decides");
}

#[test]
fn it_arms_after_half_a_second_at_rest() {
    check("499 tick, 499 press, 499 click", "");
    check("500 tick", "500 armed");
    check("500 tick, 600 rounded", "500 armed");
    assert_eq!(run("0 rest, 0 view, 9000 tick"), "");
    assert_eq!(run("0 rest, 0 focus, 9000 tick"), "");
    assert_eq!(run("0 view, 0 focus, 9000 tick"), "");
    assert_eq!(run("0 view, 0 focus, 100 rest, 599 tick, 600 tick"), "600 armed");
    assert_eq!(run("0 rest, 100 view, 200 focus, 699 tick, 700 tick"), "700 armed");
}

#[test]
fn it_starts_over_when_what_is_seen_changes() {
    check("400 rearm, 899 tick, 900 tick", "900 armed");
    check("500 tick, 600 rearm, 1099 tick, 1100 tick", "500 armed, 600 off, 1100 armed");
    check("500 tick, 600 clipped, 9000 tick", "500 armed, 600 off");
    check("500 tick, 600 clipped, 700 view, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    check("500 tick, 600 blur, 9000 tick", "500 armed, 600 off");
    check("500 tick, 600 blur, 700 focus, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    check("500 tick, 600 view, 600 focus, 600 rest", "500 armed");
    check("500 tick, 600 moved, 1099 tick, 1100 tick", "500 armed, 600 off, 1100 armed");
    check("500 tick, 600 grown", "500 armed, 600 off");
    check("300 moved, 799 tick, 800 tick", "800 armed");
    check("500 tick, 600 creep1, 700 creep2", "500 armed, 700 off");
}

#[test]
fn a_press_counts_on_this_button_and_after_arming_only() {
    check("400 press, 500 tick, 600 click", "500 armed");
    check("500 tick, 600 press, 700 moved, 700 click, 1200 tick, 1250 click", "500 armed, 700 off, 1200 armed");
    check("500 tick, 600 press, 700 else, 710 click", "500 armed");
    check("500 tick, 700 else, 720 enter", "500 armed");
    // A held Enter whose focus was moved here: repeats are no press.
    check("500 tick, 700 else, 730 held, 730 enter, 760 held, 760 enter, 1790 held, 1790 enter", "500 armed");
    check("100 else, 130 held, 130 enter, 700 held, 700 tick, 730 held, 730 enter", "700 armed");
    // The page was busy: what was pressed before the button was armed is heard after.
    check("500 tick, 450 press, 460 click", "500 armed");
    check("3000 tick, 2900 click", "3000 armed");
}

#[test]
fn one_press_decides_once() {
    check(
        "500 tick, 700 press, 710 click, 720 click, 1220 tick, 1230 click",
        "500 armed, 710 off, 710 decides, 1220 armed",
    );
}

#[test]
fn second_and_secondary_clicks_and_scripts_decide_nothing() {
    check("500 tick, 700 press, 700 double", "500 armed");
    check("500 tick, 700 press, 700 aux", "500 armed");
    check("500 tick, 700 press, 700 script", "500 armed");
    check("500 tick, 9000 script", "500 armed");
    check("400 script, 500 tick", "500 armed");
}

#[test]
fn assistive_technology_clicks_without_a_press() {
    check("500 tick, 700 click", "500 armed, 700 off, 700 decides");
    check("100 click, 500 tick, 600 tick, 700 click", "600 armed, 700 off, 700 decides");
    check("500 tick, 600 else, 1600 click", "500 armed");
    check("500 tick, 600 else, 1601 click", "500 armed, 1601 off, 1601 decides");
    check("500 tick, 600 held, 1600 click", "500 armed");
    let mut guard = Guard::new(900.0);
    for word in ["rest", "view", "focus"] {
        assert_eq!(guard.handle(1000.0, input(word)), Verdict::Ignore);
    }
    assert_eq!(guard.handle(1500.0, Input::Tick), Verdict::Ignore);
    assert_eq!(guard.handle(1900.0, input("click")), Verdict::Ignore, "pressed before the card was there");
    assert_eq!(guard.handle(1901.0, input("click")), Verdict::Decide);
}

#[test]
fn early_clicks_put_arming_off_but_not_for_ever() {
    check("300 press, 310 click, 500 tick, 809 tick, 810 tick", "810 armed");
    check("400 click, 800 click, 1200 click, 1699 tick, 1700 tick", "1700 armed");
    check("400 click, 800 click, 1200 click, 1600 click, 1999 click, 1999 tick, 2000 tick", "2000 armed");
    check("400 double, 500 tick, 899 tick, 900 tick", "900 armed");
}

/// What a random script may hold; times go forward by up to 400.
fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        1 => Just(Input::Rearm),
        1 => any::<bool>().prop_map(Input::InView),
        1 => any::<bool>().prop_map(Input::Attended),
        2 => (0..2).prop_map(|place| Input::Place([f64::from(place) * 50.0, 0.0, 100.0, 44.0])),
        6 => Just(Input::Tick),
        3 => Just(Input::Pressed),
        1 => Just(Input::Held),
        1 => Just(Input::Elsewhere),
        4 => (any::<bool>(), 0..3, any::<bool>())
            .prop_map(|(trusted, detail, primary)| Input::Click { trusted, detail, primary }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    /// Written from the rules and not from the guard: looks back over the whole script at every decision.
    #[test]
    fn no_order_of_inputs_decides_without_a_meant_click(
        steps in prop::collection::vec((0_u32..400, any_input()), 1..60)
    ) {
        let mut guard = Guard::new(f64::NEG_INFINITY);
        let mut past: Vec<(f64, Input)> = Vec::new();
        let mut now = 0.0;
        for (pause, input) in steps {
            now += f64::from(pause);
            let verdict = guard.handle(now, input);
            if verdict == Verdict::Decide {
                prop_assert!(
                    matches!(input, Input::Click { trusted: true, detail: 0 | 1, primary: true }),
                    "{input:?}"
                );
                let last = |wanted: fn(&Input) -> bool| past.iter().rev().find(|(_, input)| wanted(input)).copied();
                prop_assert!(matches!(last(|i| matches!(i, Input::InView(_))), Some((_, Input::InView(true)))));
                prop_assert!(matches!(last(|i| matches!(i, Input::Attended(_))), Some((_, Input::Attended(true)))));
                // Since this moment nothing changed that a person sees.
                let rest = changes(&past);
                prop_assert!(now - rest >= ARMING, "{rest} … {now}");
                let touch = last(|i| matches!(i, Input::Pressed | Input::Held | Input::Elsewhere));
                let press = past.iter().rposition(|(_, input)| *input == Input::Pressed);
                let meant = press.is_some_and(|press| {
                    past[press].0 >= rest + ARMING
                        && !past[press..].iter().any(|(_, input)| *input == Input::Elsewhere)
                });
                prop_assert!(meant || touch.is_none_or(|(time, _)| now - time > QUIET));
            }
            past.push((now, if verdict == Verdict::Decide { Input::Rearm } else { input }));
        }
    }
}

/// When what a person sees of the button last changed.
fn changes(past: &[(f64, Input)]) -> f64 {
    let (mut in_view, mut attended, mut place, mut last) = (false, false, None, 0.0);
    for (time, input) in past {
        let changed = match input {
            Input::Rearm => true,
            Input::InView(now) => std::mem::replace(&mut in_view, *now) != *now,
            Input::Attended(now) => std::mem::replace(&mut attended, *now) != *now,
            Input::Place(now) => place.replace(*now) != Some(*now),
            _ => false,
        };
        if changed {
            last = *time;
        }
    }
    last
}
