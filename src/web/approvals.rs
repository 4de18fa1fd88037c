//! The element's inside: a card list bound to one chat.

use std::cell::RefCell;
use std::rc::Rc;

use js_sys::Function;
use wasm_bindgen::prelude::*;
use web_sys::ShadowRoot;

use super::agent::RawChat;
use super::card::{Allowed, CardList, Choice, Decided, Until, Words};
use super::driver::{Driver, Said};
use super::error::code_of;
use super::platform;
use super::setup::person as identified;
use crate::core::card::cards;
use crate::core::grant::{Chosen, Terms};
use crate::core::message::{GrantId, RequestId};
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
        let heard = move |decided: Decided| {
            if decided.choice == Choice::Dismiss {
                hides.borrow_mut().push(RequestId::new(decided.request));
                decides.changed();
            } else {
                decide(&decides, &asks, decided);
            }
        };
        let list = CardList::new(root, Rc::new(heard), words)?;
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

/// What a button's permission comes to now.
fn terms(allowed: Allowed) -> Result<Terms, JsValue> {
    let until = match allowed.until {
        Until::Hour => Some(platform::now() + 3_600_000),
        Until::Today => Some(platform::end_of_day()),
        Until::Revoked => None,
    };
    let arguments = if allowed.exactly { Chosen::Exactly } else { Chosen::Any };
    Ok(Terms { id: GrantId::new(platform::random_id()?), scope: allowed.scope, arguments, until })
}

/// Who sits here, as far as the host says. An answer that is no id counts as not known.
fn person(driver: &Driver, by: &Function) -> Option<PersonId> {
    let answer = by.call0(&JsValue::UNDEFINED).unwrap_or(JsValue::NULL);
    if answer.is_undefined() { driver.setup().user.clone() } else { identified(answer.as_string()) }
}

/// A click that passed the guard. What the core refuses (a late click on a settled request) changes nothing, and the
/// card shows what stands.
fn decide(driver: &Rc<Driver>, by: &Function, decided: Decided) {
    let Decided { request, choice, note } = decided;
    if choice == Choice::Stop {
        let _ = driver.handle(Input::Stop { at: platform::now(), partial: String::new() });
        return;
    }
    let approve = matches!(choice, Choice::Approve | Choice::Allow(_) | Choice::Submit | Choice::Done);
    let said = Said::new(RequestId::new(request), approve, person(driver, by), Via::Card);
    let said = if choice == Choice::Submit { Said { data: note, ..said } } else { Said { note, ..said } };
    let said = match choice {
        Choice::Allow(allowed) => match terms(allowed) {
            Ok(terms) => Said { terms: Some(terms), ..said },
            Err(thrown) => return platform::report(&thrown),
        },
        _ => said,
    };
    if let Ok(stored) = driver.decide(said) {
        platform::spawn(Box::pin(async move {
            // The card shows what became of the call, and not that a permission was lost.
            if let Err(thrown) = stored.await
                && code_of(&thrown).as_deref() == Some("grant_failed")
            {
                platform::report(&thrown);
            }
        }));
    }
}
