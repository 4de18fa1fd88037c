//! A no that the tool is told of, in the log: a build that does not know of it must not take the call for declined.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use countersign::core::chain;
use countersign::core::event::Event;
use countersign::core::json::{Json, parse_lenient};
use countersign::core::log::Chat;
use countersign::core::message::{CallId, ChatId};
use countersign::core::outcome::PersonId;
use countersign::core::run::Answerer;
use sim::{Sim, calls, check_kept, sealed, settings, spec};

/// A run whose tool asked for something, was told of the no, and ended its call itself.
fn relayed() -> Sim {
    let mut relaying = settings();
    relaying.tools[2].relays = true;
    let mut sim = Sim::new(relaying);
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", "{\"free\":1}")])).unwrap();
    sim.asks(spec("input")).unwrap();
    sim.answer("q2", false, Answerer::Person(PersonId::new("ada")), Some("declined"), None).unwrap();
    sim.tool(Ok("The server says: another time.")).unwrap();
    sim.turn(sim::answer("Another time, then.")).unwrap();
    sim
}

fn decided(sim: &Sim) -> &String {
    sim.lines.iter().find(|line| line.contains("tool.call.decided")).unwrap()
}

#[test]
fn has_a_version_of_its_own() {
    let sim = relayed();
    let event = parse_lenient(decided(&sim).as_bytes()).unwrap();
    assert_eq!(event.get("v").and_then(Json::as_u64), Some(4));
    assert_eq!(event.get("relayed").and_then(Json::as_bool), Some(true));
    // Every decision says whether: a line that does not is no line of this version.
    let line = decided(&sim).replace(",\"relayed\":true", "");
    assert!(Event::decode(&line).unwrap_err().contains("relayed"));
    let older = Event::decode(&line.replace("\"v\":4", "\"v\":3")).unwrap();
    assert!(older.encode().contains("\"relayed\":false"));
}

#[test]
fn is_still_one_once_its_content_is_cleared() {
    let sim = relayed();
    let mut lines = sealed(&sim.lines);
    let whole = lines.clone();
    for (seq, line) in chain::clear(&whole, None) {
        lines[seq] = line;
    }
    assert_ne!(lines, whole);
    let chat = Chat::replay(ChatId::new("c"), lines.iter().map(String::as_str)).unwrap();
    let (_, state) = chat.call(&CallId::new("r1t1c1")).unwrap();
    assert!(state.is_relayed());
    assert!(state.result.as_ref().unwrap().facts.is_none(), "its tool ended it");
    check_kept(&lines);
}

#[test]
fn is_told_in_every_export() {
    let sim = relayed();
    for privacy in [chain::Privacy::Metadata, chain::Privacy::Redacted, chain::Privacy::Full] {
        let exported = chain::export(&sealed(&sim.lines), privacy);
        assert!(exported.contains("\"relayed\":true"), "{exported}");
        assert!(chain::verify(&exported).is_ok());
    }
}
