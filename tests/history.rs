//! A chat that starts from messages of elsewhere, and one that leaves its oldest messages out of requests.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod sim;

use countersign::core::event::read_history;
use countersign::core::json::parse_lenient;
use countersign::core::message::HistoryItem;
use countersign::core::run::{Handled, Input, RunError};
use sim::{Sim, answer, settings};

fn seeded(sim: &mut Sim, history: &str) -> Result<Handled, RunError> {
    let history = read_history(&parse_lenient(history.as_bytes()).unwrap()).unwrap();
    sim.handle(Input::Seed { at: sim.now, history })
}

const HISTORY: &str = r#"{"history":[
    {"role":"user","parts":[{"type":"text","text":"Hi"},{"type":"image","url":"https://example.org/a.png"}]},
    {"role":"assistant","end":"tool_calls","finish_reason":null,"text":"","reasoning":"","refusal":"","usage":null,
     "calls":[{"provider_id":null,"name":"look","arguments":"{}","extra":{}}],"binding":"","items":[],"extra":{}},
    {"role":"tool","result_item":{"call_id":"h1c1","renderer":null,"text":"12","is_error":false,"trust":"tool"}}]}"#;

#[test]
fn a_given_history_is_stored_replayed_and_sent() {
    let mut sim = Sim::new(settings());
    seeded(&mut sim, HISTORY).unwrap();
    assert_eq!(sim.trace, ["chat.seeded items=3"]);
    sim.reload();
    assert_eq!(sim.run.chat().entries().len(), 2);
    sim.send(Some("ada")).unwrap();
    let kinds: Vec<_> = sim.run.chat().history().iter().map(std::mem::discriminant).collect();
    assert_eq!(kinds.len(), 4);
    assert_eq!(kinds[0], kinds[3]);
    assert!(matches!(seeded(&mut sim, HISTORY), Err(RunError::Corrupt(_))), "a chat that has begun takes no history");
}

#[test]
fn a_history_with_a_call_that_has_no_result_is_refused() {
    let mut sim = Sim::new(settings());
    let cut = HISTORY.replace("h1c1", "h1c2");
    assert!(matches!(seeded(&mut sim, &cut), Err(RunError::Corrupt(_))));
    assert!(sim.lines.is_empty());
}

#[test]
fn requests_begin_at_a_users_message_however_much_is_left_out() {
    let mut sim = Sim::new(settings());
    for _ in 0..3 {
        sim.send(Some("ada")).unwrap();
        sim.turn(answer("Fine.")).unwrap();
    }
    sim.send(Some("ada")).unwrap();
    for (omitted, handled, left) in [
        (1, Handled::Already, 7),
        (3, Handled::Applied, 5),
        (2, Handled::Already, 5),
        (5, Handled::Applied, 3),
        (usize::MAX, Handled::Applied, 1),
        (usize::MAX, Handled::Already, 1),
    ] {
        assert_eq!(sim.handle(Input::Trim { at: sim.now, omitted }).unwrap(), handled, "{omitted}");
        assert!(matches!(sim.run.chat().history()[0], HistoryItem::User(_)));
        assert_eq!(sim.run.chat().history().len(), left, "{omitted}");
    }
    assert_eq!(sim.run.chat().entries().len(), 7);
    assert_eq!(&sim.replayed(), sim.run.chat());
}
