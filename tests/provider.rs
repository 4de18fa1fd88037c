//! Calls that the model's provider runs on a server of its own, once a person has agreed.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod sim;

use countersign::core::card::cards;
use countersign::core::log::check_pairing;
use countersign::core::message::CallKind;
use countersign::core::run::Handled;
use sim::{Sim, calls, settings};

/// A run whose one call, named like a reading tool of the page, is the provider's.
fn asked() -> Sim {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    let mut turn = calls(&[("look", "{}")]);
    turn.calls[0].kind = CallKind::ProviderApproval { server: "files".to_owned() };
    turn.calls[0].provider_id = Some("mcpr_1".to_owned());
    sim.turn(turn).unwrap();
    sim
}

#[test]
fn it_asks_whatever_a_tool_of_the_page_with_its_name_declares() {
    let sim = asked();
    assert!(sim.permits.is_empty(), "the page's own tool of that name reads, and is not meant");
    let card = cards(&sim.run, None).remove(0);
    assert_eq!((card.view.tool.as_str(), card.view.server.as_deref()), ("look", Some("files")));
    assert!(card.receipt.is_none());
}

#[test]
fn approved_it_runs_nothing_here_and_the_provider_is_told() {
    let mut sim = asked();
    assert_eq!(sim.decide("q1", true, Some("ada")), Ok(Handled::Applied));
    assert!(sim.permits.is_empty());
    assert_eq!(sim.result("r1t1c1"), "approved");
    assert!(sim.model.is_some());
    check_pairing(sim.run.chat().history()).unwrap();
    sim.reload();
}

#[test]
fn denied_it_is_told_like_any_other_denial() {
    let mut sim = asked();
    sim.decide("q1", false, Some("grace")).unwrap();
    assert!(sim.result("r1t1c1").starts_with("Error: approval_denied (decided_by: other_user). "));
    sim.reload();
}
