//! The element's inside: a card list bound to one chat.

use std::cell::{Cell, OnceCell, RefCell};
use std::pin::Pin;
use std::rc::Rc;

use wasm_bindgen::prelude::*;
use web_sys::ShadowRoot;

use super::agent::RawChat;
use super::card::{Allowed, Around, CardList, Choice, Decided, Edits, Progress, Until, Words};
use super::driver::{Driver, Said};
use super::error::code_of;
use super::platform;
use super::setup::person as identified;
use crate::core::card::{Card, cards};
use crate::core::event::Extension;
use crate::core::grant::{Chosen, Terms};
use crate::core::message::{CallId, GrantId, RequestId};
use crate::core::outcome::{Decider, PersonId, Via};
use crate::core::run::Input;

/// Cards of one chat, drawn into a shadow root until dropped.
#[wasm_bindgen]
pub struct RawApprovals {
    inside: Rc<Inside>,
}

#[wasm_bindgen]
impl RawApprovals {
    /// Draws the chat's cards into `root`. `by` is for whom, who decides by clicks there: undefined for the agent's user, an id,
    /// or null; `words` what is said, an object of `www/src/words.ts`; `around` what the element says of itself, of
    /// `www/src/element.ts`.
    #[wasm_bindgen(constructor)]
    pub fn new(root: &ShadowRoot, chat: &RawChat, by: JsValue, words: Words, around: Around) -> Result<Self, JsValue> {
        let driver = chat.driver();
        let edits = Rc::new(Edits::new(&driver));
        // What is no id counts as not known.
        let by = if by.is_undefined() { driver.setup().user.clone() } else { identified(by.as_string()) };
        let inside = Rc::new(Inside {
            driver,
            edits: Rc::clone(&edits),
            list: OnceCell::new(),
            by,
            drawn: RefCell::default(),
            is_over: Cell::new(false),
        });
        let weak = Rc::downgrade(&inside);
        let heard = move |decided: Decided| {
            if let Some(inside) = weak.upgrade() {
                inside.hear(decided);
            }
        };
        // Set once, here: there is none yet.
        let _ = inside.list.set(CardList::new(root, Rc::new(heard), words, around, Some(edits))?);
        inside.update();
        Ok(Self { inside })
    }

    /// Hands what is begun on the cards to whoever draws them next.
    pub fn leave(&self) {
        if let Some(list) = self.inside.list.get() {
            self.inside.driver.keep_drafts(list.drafts(self.inside.by.as_ref()));
        }
    }

    /// Draws the chat as it is now.
    pub fn update(&self) {
        self.inside.update();
    }
}

/// What is under way about a request.
type Work = Pin<Box<dyn Future<Output = Result<(), JsValue>>>>;

struct Inside {
    driver: Rc<Driver>,
    edits: Rc<Edits>,
    /// Empty only while this is being made: the list calls back.
    list: OnceCell<CardList>,
    /// Who the cards are drawn for: what is begun and decided on them is theirs.
    by: Option<PersonId>,
    /// The cards as they were when all of the chat was stored last; `None` before that.
    drawn: RefCell<Option<Vec<Card>>>,
    /// Whether the cards say that the chat was deleted.
    is_over: Cell<bool>,
}

impl Inside {
    fn update(&self) {
        let by = self.by.as_ref();
        let reaches = self.driver.look(|run| {
            let owner = run.chat().run().and_then(|run| run.owner.as_ref());
            run.settings().all_notes || Decider::of(by, owner) == Decider::RunOwner
        });
        // While something is being written the last ones stand: no receipt is shown for what may fail to be stored.
        if self.driver.is_stored() {
            self.drawn.replace(Some(self.driver.look(|run| cards(run, by))));
        }
        if !self.driver.goes_on() {
            // Whoever is at work elsewhere is no longer heard of.
            for receipt in self.drawn.borrow_mut().iter_mut().flatten().filter_map(|card| card.receipt.as_mut()) {
                if receipt.outcome == "outcome.running" {
                    receipt.outcome = "outcome.unknown";
                }
            }
        }
        let (Some(list), Some(mut shown)) = (self.list.get(), self.drawn.borrow().clone()) else { return };
        shown.retain(|card| card.receipt.is_none() || !self.driver.is_dismissed(&card.request));
        list.update(&shown, by, reaches);
        let ended = self.driver.end().filter(|(code, _)| *code == "deleted" && !self.is_over.replace(true));
        for card in shown.iter().filter(|card| card.receipt.is_none()) {
            let code = ended.as_ref().map(|(code, _)| (*code).to_owned());
            if let Some(code) = code.or_else(|| self.driver.take_refusal(&card.request)) {
                list.progress(card.request.as_str(), &Progress::Refused(code));
            }
        }
    }

    /// Takes a click that passed the guard.
    fn hear(self: &Rc<Self>, decided: Decided) {
        let Decided { request, choice, note } = decided;
        let request = RequestId::new(request);
        match choice {
            Choice::Dismiss => {
                self.driver.dismiss(request);
            }
            Choice::Stop => {
                let _ = self.driver.handle(Input::Stop { at: platform::now(), partial: String::new() });
            }
            Choice::Extend => self.extend(request),
            Choice::Approve | Choice::Allow(_) | Choice::Deny | Choice::Submit | Choice::Done | Choice::Decline => {
                let approve = !matches!(choice, Choice::Deny | Choice::Decline);
                // What is shown is what runs; where that cannot run, the button was off.
                let Ok(edit) = (if approve { self.edits.of(&request) } else { Ok(None) }) else { return };
                let said = Said { edit, ..Said::new(request, approve, self.by.clone(), Via::Card) };
                self.decide(match choice {
                    Choice::Submit => Said { data: note, ..said },
                    Choice::Allow(allowed) => {
                        // Without randomness there is no id, and nothing is decided.
                        let Ok(terms) = terms(allowed) else { return };
                        Said { terms: Some(terms), note, ..said }
                    }
                    Choice::Deny => Said {
                        reason: self.list.get().and_then(|list| list.reason(said.request.as_str())),
                        note,
                        ..said
                    },
                    _ => Said { note, ..said },
                });
            }
            // The list makes one decision for each call of them.
            Choice::DenyAll | Choice::ApproveSelected => {}
        }
    }

    fn decide(self: &Rc<Self>, said: Said) {
        let request = said.request.clone();
        let call = self.call_of(&request);
        let decided = self.driver.decide(said);
        self.see_through(request, call, Box::pin(async { decided?.await.map(|_| ()) }));
    }

    /// Gives the request more time, from when it would lapse.
    fn extend(self: &Rc<Self>, request: RequestId) {
        let deadline =
            self.drawn.borrow().iter().flatten().find(|card| card.request == request).and_then(|card| card.deadline);
        let Some(deadline) = deadline else { return };
        let expires_at = Some(deadline.extended);
        let extension = Extension { request: request.clone(), expires_at, decider: self.by.clone(), via: Via::Card };
        let extended = Rc::clone(&self.driver).extend(extension);
        let call = self.call_of(&request);
        self.see_through(request, call, Box::pin(async { extended.await.map(|_| ()) }));
    }

    fn call_of(&self, request: &RequestId) -> Option<CallId> {
        self.driver.look(|run| run.chat().request(request).map(|asked| asked.call.clone()))
    }

    /// Waits for what was begun about a request; its card shows that it is being stored, and why nothing was changed if it
    /// was refused.
    fn see_through(self: &Rc<Self>, request: RequestId, call: Option<CallId>, work: Work) {
        self.show(&request, &Progress::Storing);
        let (driver, inside) = (Rc::clone(&self.driver), Rc::downgrade(self));
        platform::spawn(Box::pin(async move {
            let refused = work.await.err();
            if refused.is_some() {
                // Its time may have run out with the click: the card shows that first.
                let _ = driver.stored().await;
            }
            let inside = inside.upgrade();
            if let Some(inside) = &inside {
                inside.show(&request, &Progress::Stored);
            }
            let Some(thrown) = refused else { return };
            // What changed while it waited is asked about by another request.
            let standing = driver.look(|run| run.chat().call(call.as_ref()?)?.1.request.clone());
            let standing = standing.map_or_else(|| request.clone(), |standing| standing.id);
            let code = code_of(&thrown).unwrap_or_default();
            match inside {
                Some(inside) => {
                    inside.edits.failed(&request);
                    inside.show(&standing, &Progress::Refused(code));
                }
                None => driver.keep_refusal(standing, code),
            }
        }));
    }

    fn show(&self, request: &RequestId, progress: &Progress) {
        if let Some(list) = self.list.get() {
            list.progress(request.as_str(), progress);
        }
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
