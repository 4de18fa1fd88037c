//! The element's inside: a card list bound to one chat.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::ShadowRoot;

use super::agent::RawChat;
use super::card::{CardList, Choice, Decided, Edits, Words};
use super::driver::{Driver, Said};
use super::error::text_of;
use super::platform;
use super::setup::person as identified;
use crate::core::card::cards;
use crate::core::message::RequestId;
use crate::core::outcome::{Decider, PersonId, Via};
use crate::core::run::Input;

/// Cards of one chat, drawn into a shadow root until dropped.
#[wasm_bindgen]
pub struct RawApprovals {
    driver: Rc<Driver>,
    list: CardList,
    by: Function,
    /// The requests whose receipts the person took out of sight here.
    dismissed: Rc<RefCell<Vec<RequestId>>>,
}

#[wasm_bindgen]
impl RawApprovals {
    /// Draws the chat's cards into `root`. `by` tells who decides: undefined for the agent's user, an id, or null; `words` what is
    /// said, an object of `www/src/words.ts`.
    #[wasm_bindgen(constructor)]
    pub fn new(root: &ShadowRoot, chat: &RawChat, by: Function, words: Words) -> Result<Self, JsValue> {
        let driver = chat.driver();
        let (decides, asks) = (Rc::clone(&driver), by.clone());
        let dismissed = Rc::<RefCell<Vec<RequestId>>>::default();
        let hides = Rc::clone(&dismissed);
        let edits = Rc::new(Edits::new(&driver));
        let edited = Rc::clone(&edits);
        let heard = move |decided: Decided| {
            if decided.choice == Choice::Dismiss {
                hides.borrow_mut().push(RequestId::new(decided.request));
                decides.changed();
            } else {
                decide(&decides, &asks, &edited, decided);
            }
        };
        let list = CardList::new(root, Rc::new(heard), words, edits)?;
        let drawn = Self { driver, list, by, dismissed };
        drawn.update()?;
        Ok(drawn)
    }

    /// Draws the chat as it is now, for who decides now.
    pub fn update(&self) -> Result<(), JsValue> {
        let by = person(&self.driver, &self.by);
        let reaches = self.driver.look(|run| {
            let owner = run.chat().run().and_then(|run| run.owner.as_ref());
            run.settings().all_notes || Decider::of(by.as_ref(), owner) == Decider::RunOwner
        });
        let mut shown = self.driver.look(|run| cards(run, by.as_ref()));
        let dismissed = self.dismissed.borrow().clone();
        shown.retain(|card| card.receipt.is_none() || !dismissed.contains(&card.request));
        self.list.update(&shown, reaches)
    }
}

/// Who sits here, as far as the host says. An answer that is no id counts as not known.
fn person(driver: &Driver, by: &Function) -> Option<PersonId> {
    let answer = by.call0(&JsValue::UNDEFINED).unwrap_or(JsValue::NULL);
    if answer.is_undefined() { driver.setup().user.clone() } else { identified(answer.as_string()) }
}

/// A click that passed the guard. What the core refuses (a late click on a settled request) changes nothing, and the
/// card shows what stands.
fn decide(driver: &Rc<Driver>, by: &Function, edits: &Rc<Edits>, decided: Decided) {
    let Decided { request, choice, note } = decided;
    if choice == Choice::Stop {
        let _ = driver.handle(Input::Stop { at: platform::now(), partial: String::new() });
        return;
    }
    let approve = matches!(choice, Choice::Approve | Choice::Submit | Choice::Done);
    let request = RequestId::new(request);
    // What is shown is what runs; where that cannot run, the button was off.
    let edit = if approve { edits.of(&request) } else { Ok(None) };
    let Ok(edit) = edit else { return };
    let said = Said { edit, ..Said::new(request.clone(), approve, person(driver, by), Via::Card) };
    let said = if choice == Choice::Submit { Said { data: note, ..said } } else { Said { note, ..said } };
    let edits = Rc::clone(edits);
    match driver.decide(said) {
        Ok(stored) => platform::spawn(Box::pin(async move {
            if let Err(thrown) = stored.await {
                edits.failed(&request, &text_of(&thrown));
            }
        })),
        Err(thrown) => edits.failed(&request, &text_of(&thrown)),
    }
}
