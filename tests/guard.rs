//! The input guard, one script a line: `time input …`, and what came of it.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::guard::{ARMING, Guard, Input, QUIET, Verdict};
use proptest::prelude::*;

/// A button at rest, in view with nothing over it, in a page with the focus: due at 500.
const SHOWN: &str = "0 rest, 0 view, 0 bare, 0 focus, ";

fn input(word: &str) -> Input {
    let click = |trusted, detail, primary| Input::Click { trusted, detail, primary };
    match word {
        "rearm" => Input::Rearm,
        "view" => Input::InView(true),
        "clipped" => Input::InView(false),
        "bare" => Input::Covered(false),
        "covered" => Input::Covered(true),
        "withheld" => Input::Withheld(true),
        "granted" => Input::Withheld(false),
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
        "triple" => click(true, 3, true),
        "aux" => click(true, 1, false),
        "script" => click(false, 0, true),
        other => panic!("no such input: {other}"),
    }
}

/// Runs a script and returns each change: `armed`, `off`, and `decides` for clicks that do.
fn run(script: &str) -> String {
    let trace = all(script).into_iter().filter(|step| !step.ends_with("refused"));
    trace.collect::<Vec<_>>().join(", ")
}

/// The same with `refused` for clicks of which that is said.
fn all(script: &str) -> Vec<String> {
    let mut guard = Guard::new(f64::NEG_INFINITY);
    let mut trace = Vec::new();
    for step in script.split(',').map(str::trim) {
        let (time, word) = step.split_once(' ').unwrap();
        let was_armed = guard.is_armed();
        let verdict = guard.handle(time.parse().unwrap(), input(word));
        if guard.is_armed() != was_armed {
            trace.push(format!("{time} {}", if was_armed { "off" } else { "armed" }));
        }
        match verdict {
            Verdict::Decide => trace.push(format!("{time} decides")),
            Verdict::Refuse => trace.push(format!("{time} refused")),
            Verdict::Ignore => {}
        }
    }
    trace
}

#[track_caller]
fn check(script: &str, expected: &str) {
    assert_eq!(run(&format!("{SHOWN}{script}")), expected, "{script}");
}

#[test]
fn a5_a_meant_click_decides() {
    check("500 tick, 700 press, 760 click", "500 armed, 760 off, 760 decides");
    check("500 tick, 700 press, 710 enter", "500 armed, 710 off, 710 decides");
    check("500 tick, 700 press, 720 held, 1900 held, 1910 enter", "500 armed, 1910 off, 1910 decides");
    check("500 tick, 600 else, 700 press, 710 click", "500 armed, 710 off, 710 decides");
    check("3000 tick, 3000 press, 3000 click", "3000 armed, 3000 off, 3000 decides");
}

#[test]
fn a5_the_click_is_trusted() {
    check("500 tick, 700 press, 700 script", "500 armed");
    check("500 tick, 9000 script", "500 armed");
    // Nor does a script keep a person from deciding.
    check("400 script, 500 tick", "500 armed");
}

#[test]
fn a5_the_click_is_no_second_one() {
    check("500 tick, 700 press, 700 double", "500 armed");
    check("500 tick, 700 press, 700 triple", "500 armed");
    // Not even where nothing was pressed.
    check("500 tick, 9000 double", "500 armed");
}

#[test]
fn a5_the_click_is_of_the_primary_button() {
    check("500 tick, 700 press, 700 aux", "500 armed");
    check("500 tick, 9000 aux", "500 armed");
}

#[test]
fn a5_the_press_is_seen_on_the_same_button() {
    check("500 tick, 600 else, 710 click", "500 armed");
    check("500 tick, 600 press, 700 else, 710 click", "500 armed");
    check("500 tick, 600 held, 710 click", "500 armed");
    check("500 tick, 600 press, 700 else, 750 held, 760 click", "500 armed");
    check("500 tick, 600 press, 700 else, 750 else, 750 held, 760 click", "500 armed");
}

#[test]
fn a5_the_press_may_be_in_a_closed_shadow_tree() {
    check("500 tick, 600 else, 600 press, 700 else, 700 held, 700 click", "500 armed, 700 off, 700 decides");
    check("500 tick, 600 else, 600 press, 700 else, 710 click", "500 armed");
}

#[test]
fn a5_the_press_is_seen_after_arming() {
    check("400 press, 500 tick, 600 click", "500 armed");
    check("500 tick, 600 press, 700 moved, 700 click, 1200 tick, 1250 click", "500 armed, 700 off, 1200 armed");
    // The page was busy: what was pressed before the button was armed is heard after.
    check("500 tick, 450 press, 460 click", "500 armed");
    check("3000 tick, 2900 click", "3000 armed");
}

#[test]
fn a5_a_repeat_is_no_press() {
    // A held Enter whose focus was moved here.
    check("500 tick, 700 else, 720 enter", "500 armed");
    check("500 tick, 700 else, 730 held, 730 enter, 760 held, 760 enter, 1790 held, 1790 enter", "500 armed");
    check("100 else, 130 held, 130 enter, 700 held, 700 tick, 730 held, 730 enter", "700 armed");
    // One that went down here, before the button was armed.
    check("100 press, 130 held, 130 enter, 630 tick, 660 held, 660 enter, 9000 held, 9000 enter", "630 armed");
}

#[test]
fn a5_one_press_decides_once() {
    check(
        "500 tick, 700 press, 710 click, 720 click, 1220 tick, 1230 click",
        "500 armed, 710 off, 710 decides, 1220 armed",
    );
}

#[test]
fn a5_it_arms_after_half_a_second() {
    check("499 tick, 499 press, 499 click", "");
    check("500 tick", "500 armed");
    check("499 rest, 499 view, 499 bare, 499 focus, 500 tick", "500 armed");
}

#[test]
fn a5_it_arms_fully_visible_and_attended_only() {
    for (missing, rest) in [
        ("rest", "0 view, 0 bare, 0 focus"),
        ("view", "0 rest, 0 bare, 0 focus"),
        ("bare", "0 rest, 0 view, 0 focus"),
        ("focus", "0 rest, 0 view, 0 bare"),
    ] {
        assert_eq!(run(&format!("{rest}, 9000 tick, 9000 press, 9000 click")), "", "{missing}");
        assert_eq!(run(&format!("{rest}, 100 {missing}, 599 tick, 600 tick")), "600 armed", "{missing}");
    }
    assert_eq!(run("0 rest, 100 view, 200 bare, 300 focus, 799 tick, 800 tick"), "800 armed");
}

#[test]
fn a5_it_arms_again_when_shown_or_what_it_asks_changed() {
    check("400 rearm, 899 tick, 900 tick", "900 armed");
    check("500 tick, 600 rearm, 1099 tick, 1100 tick", "500 armed, 600 off, 1100 armed");
    check("500 tick, 600 press, 650 rearm, 660 click, 1160 tick, 1170 click", "500 armed, 650 off, 1160 armed");
}

#[test]
fn a5_it_arms_again_when_back_in_view() {
    check("500 tick, 600 clipped, 9000 tick", "500 armed, 600 off");
    check("500 tick, 600 clipped, 700 view, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    check("500 tick, 600 press, 610 clipped, 620 view, 630 click", "500 armed, 610 off");
    check("500 tick, 600 view", "500 armed");
}

#[test]
fn a5_it_arms_again_when_the_page_is_attended_again() {
    check("500 tick, 600 blur, 9000 tick", "500 armed, 600 off");
    check("500 tick, 600 blur, 700 focus, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    // The click that brought the focus to the window.
    check("500 tick, 600 blur, 700 focus, 700 press, 710 click", "500 armed, 600 off");
    check("500 tick, 600 focus", "500 armed");
}

#[test]
fn a5_it_arms_again_when_it_moved() {
    check("500 tick, 600 moved, 1099 tick, 1100 tick", "500 armed, 600 off, 1100 armed");
    check("300 moved, 799 tick, 800 tick", "800 armed");
    check("500 tick, 600 grown", "500 armed, 600 off");
    check("500 tick, 600 creep1, 700 creep2", "500 armed, 700 off");
    check("500 tick, 600 rest, 600 rounded", "500 armed");
}

#[test]
fn a5_an_early_click_extends_the_wait_but_not_for_ever() {
    check("300 press, 310 click, 500 tick, 809 tick, 810 tick", "810 armed");
    check("400 click, 800 click, 1200 click, 1699 tick, 1700 tick", "1700 armed");
    check("400 click, 800 click, 1200 click, 1600 click, 1999 click, 1999 tick, 2000 tick", "2000 armed");
    check("400 double, 500 tick, 899 tick, 900 tick", "900 armed");
    // The cap counts from when it came to rest.
    check("400 click, 800 click, 900 moved, 1300 click, 2899 tick", "2899 armed");
}

#[test]
fn a5_assistive_technology_clicks_without_a_press() {
    check("500 tick, 700 click", "500 armed, 700 off, 700 decides");
    check("500 tick, 700 enter", "500 armed, 700 off, 700 decides");
    check("100 click, 500 tick, 600 tick, 700 click", "600 armed, 700 off, 700 decides");
    check("400 click, 800 click", "");
}

#[test]
fn a5_assistive_technology_is_told_by_a_quiet_window() {
    check("500 tick, 600 else, 1600 click", "500 armed");
    check("500 tick, 600 else, 1601 click", "500 armed, 1601 off, 1601 decides");
    check("500 tick, 600 held, 1600 click", "500 armed");
    check("400 press, 500 tick, 1400 click", "500 armed");
    check("400 press, 500 tick, 1401 click", "500 armed, 1401 off, 1401 decides");
    let mut guard = Guard::new(900.0);
    for word in ["rest", "view", "bare", "focus"] {
        assert_eq!(guard.handle(1000.0, input(word)), Verdict::Ignore);
    }
    assert_eq!(guard.handle(1500.0, Input::Tick), Verdict::Ignore);
    assert_eq!(guard.handle(1900.0, input("click")), Verdict::Ignore, "pressed before the card was there");
    assert_eq!(guard.handle(1901.0, input("click")), Verdict::Decide);
}

#[test]
fn clickjacking_a_covered_button_is_not_armed() {
    check("500 tick, 600 covered, 9000 tick, 9000 press, 9000 click", "500 armed, 600 off");
    check("500 tick, 600 press, 610 covered, 620 click", "500 armed, 610 off");
    check("500 tick, 600 press, 610 covered, 620 bare, 630 click", "500 armed, 610 off");
    check("500 tick, 600 covered, 700 bare, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    check("500 tick, 600 bare", "500 armed");
}

#[test]
fn a5_what_is_withheld_is_not_armed() {
    check("0 withheld, 9000 tick, 9000 press, 9000 click", "");
    check("500 tick, 600 withheld, 9000 tick, 9000 press, 9000 click", "500 armed, 600 off");
    check("500 tick, 600 press, 610 withheld, 620 granted, 630 click", "500 armed, 610 off");
    check("500 tick, 600 withheld, 700 granted, 1199 tick, 1200 tick", "500 armed, 600 off, 1200 armed");
    // It is not the only condition.
    check("600 withheld, 650 clipped, 700 granted, 9000 tick", "");
    // What is said again is about what is asked now.
    check("500 tick, 600 granted, 1099 tick, 1100 tick", "500 armed, 600 off, 1100 armed");
    // Nor does an early click count.
    check("300 withheld, 400 press, 400 click, 500 granted, 999 tick, 1000 tick", "1000 armed");
}

/// The clicks of a shown button that decide, or of which it is said that they do not.
#[track_caller]
fn check_clicks(script: &str, expected: &str) {
    let clicks = all(&format!("{SHOWN}{script}")).into_iter();
    let clicks: Vec<_> = clicks.filter(|step| step.ends_with("decides") || step.ends_with("refused")).collect();
    assert_eq!(clicks.join(", "), expected, "{script}");
}

#[test]
fn a5_a_refused_click_is_said_once_for_each_press() {
    check_clicks("300 press, 310 click", "310 refused");
    check_clicks("300 press, 310 enter, 320 held, 320 enter, 350 held, 350 enter", "310 refused");
    check_clicks("300 press, 310 click, 400 press, 410 click", "310 refused, 410 refused");
    // A held key goes on beyond arming; another press decides.
    check_clicks(
        "300 press, 310 enter, 900 tick, 950 held, 950 enter, 990 press, 990 enter",
        "310 refused, 990 decides",
    );
    // Pressed too early, and let go after arming.
    check_clicks("450 press, 500 tick, 550 click", "550 refused");
    // What decided is not refused, however long the key is held.
    check_clicks(
        "500 tick, 600 press, 600 enter, 630 held, 630 enter, 1130 tick, 1150 held, 1150 enter",
        "600 decides",
    );
}

#[test]
fn a5_a_click_is_refused_wherever_the_button_is_not_armed() {
    check_clicks("100 covered, 200 press, 210 click", "210 refused");
    check_clicks("100 clipped, 200 press, 210 click", "210 refused");
    check_clicks("100 blur, 200 press, 210 click", "210 refused");
    // What withholds it says so itself.
    check_clicks("100 withheld, 200 press, 210 click", "");
    // Assistive technology, each time.
    check_clicks("100 click, 200 click", "100 refused, 200 refused");
}

#[test]
fn a5_nothing_is_said_of_what_nobody_meant() {
    // A script's, the second of two, another button's, and those whose press was elsewhere.
    check_clicks("300 press, 310 script", "");
    check_clicks("300 press, 310 double", "");
    check_clicks("300 press, 310 aux", "");
    check_clicks("300 else, 310 enter, 340 held, 340 enter", "");
    check_clicks("500 tick, 600 else, 610 click", "");
}

#[test]
fn clickjacking_a_button_says_when_it_is_covered() {
    let mut guard = Guard::new(0.0);
    let mut told = Vec::new();
    for word in ["rest", "focus", "view", "bare", "covered", "clipped", "view", "bare"] {
        let _ = guard.handle(0.0, input(word));
        told.push(guard.is_covered());
    }
    assert_eq!(told, [false, false, true, false, true, false, true, false]);
}

/// What a random script may hold; times go forward by up to 400.
fn any_input() -> impl Strategy<Value = Input> {
    prop_oneof![
        1 => Just(Input::Rearm),
        1 => any::<bool>().prop_map(Input::InView),
        1 => any::<bool>().prop_map(Input::Covered),
        1 => any::<bool>().prop_map(Input::Withheld),
        1 => any::<bool>().prop_map(Input::Attended),
        2 => (0..2).prop_map(|place| Input::Place([10.0 + f64::from(place) * 50.0, 20.0, 100.0, 44.0])),
        6 => Just(Input::Tick),
        3 => Just(Input::Pressed),
        2 => Just(Input::Held),
        2 => Just(Input::Elsewhere),
        4 => (any::<bool>(), 0..3, any::<bool>())
            .prop_map(|(trusted, detail, primary)| Input::Click { trusted, detail, primary }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1_000))]
    /// Written from the rules and not from the guard: looks back over the whole script at every decision.
    #[test]
    fn a5_no_order_of_inputs_decides_without_a_meant_click(
        steps in prop::collection::vec((0_u32..400, any_input()), 1..60)
    ) {
        let mut guard = Guard::new(f64::NEG_INFINITY);
        // From a button that is shown, so that many scripts come to a decision.
        let mut past: Vec<(f64, Input)> = ["rest", "view", "bare", "focus"].map(|word| (0.0, input(word))).into();
        for (time, input) in &past {
            prop_assert_eq!(guard.handle(*time, *input), Verdict::Ignore);
        }
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
                prop_assert!(matches!(last(|i| matches!(i, Input::Covered(_))), Some((_, Input::Covered(false)))));
                prop_assert!(!matches!(last(|i| matches!(i, Input::Withheld(_))), Some((_, Input::Withheld(true)))));
                prop_assert!(matches!(last(|i| matches!(i, Input::Attended(_))), Some((_, Input::Attended(true)))));
                // Since this moment nothing changed that a person sees.
                let rest = changes(&past);
                prop_assert!(now - rest >= ARMING, "{rest} … {now}");
                let touch = last(|i| matches!(i, Input::Pressed | Input::Held | Input::Elsewhere));
                let press = past.iter().rposition(|(_, input)| *input == Input::Pressed);
                let meant = press.is_some_and(|press| {
                    past[press].0 >= rest + ARMING
                        && (press..past.len()).filter(|at| past[*at].1 == Input::Elsewhere).all(|at| {
                            past[at..].iter().any(|(time, input)| *input == Input::Held && *time == past[at].0)
                        })
                });
                prop_assert!(meant || touch.is_none_or(|(time, _)| now - time > QUIET));
            }
            past.push((now, if verdict == Verdict::Decide { Input::Rearm } else { input }));
        }
    }
}

/// When what a person sees of the button last changed.
fn changes(past: &[(f64, Input)]) -> f64 {
    let (mut in_view, mut covered, mut attended, mut place, mut last) = (false, true, false, None, 0.0);
    for (time, input) in past {
        let changed = match input {
            Input::Rearm | Input::Withheld(_) => true,
            Input::InView(now) => std::mem::replace(&mut in_view, *now) != *now,
            Input::Covered(now) => std::mem::replace(&mut covered, *now) != *now,
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
