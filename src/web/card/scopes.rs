//! What a person may allow beyond the one call: behind a button of its own, and each in a second step that names exactly
//! what is allowed. Nothing here decides but the last button of that step, which is under guard like every other.

use std::cell::RefCell;
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;

use super::edit;
use super::entry::joined;
use super::more::More;
use super::words::Words;
use crate::core::approval::Scope;
use crate::core::card::{Card, Offer};
use crate::web::element::Element;
use crate::web::guard::{Allowed, Choice, Until, Watch};

/// Digits of the definition's hash that are shown.
const SHORT_HASH: usize = 12;

#[wasm_bindgen]
extern "C" {
    type Click;
    #[wasm_bindgen(method, getter)]
    fn target(this: &Click) -> Element;
}

/// The part of one card. What it offers may change while the card waits: it depends on who looks at it.
pub struct Scopes {
    shown: Rc<Shown>,
    _hear: Closure<dyn Fn(Click)>,
}

struct Shown {
    /// Makes the ids within the shadow root unique.
    number: String,
    request: String,
    note: Element,
    watch: Rc<Watch>,
    words: Words,
    element: Element,
    /// The button that opens it, where it opens nothing else.
    opener: Option<Element>,
    offer: RefCell<Option<(Offer, String)>>,
    step: RefCell<Option<Step>>,
    /// The buttons of the first step.
    choices: RefCell<Vec<(Element, Scope)>>,
}

/// The second step.
#[derive(Clone)]
struct Step {
    allowed: Allowed,
    confirm: Element,
    back: Element,
    exactly: [(Element, bool); 2],
    until: [(Element, Until); 3],
}

impl Scopes {
    /// Offers nothing yet. `is_alone` says that there is nothing else behind that button.
    pub fn new(card: &edit::Card<'_>, more: &More, is_alone: bool) -> Self {
        let shown = Rc::new(Shown {
            number: card.number.to_owned(),
            request: card.request.to_owned(),
            note: card.note.clone(),
            watch: Rc::clone(card.watch),
            words: card.words.clone(),
            element: more.inside().add("div part=scopes hidden=", ""),
            opener: is_alone.then(|| more.area().clone()),
            offer: RefCell::default(),
            step: RefCell::default(),
            choices: RefCell::default(),
        });
        if let Some(opener) = &shown.opener {
            hide(opener, true);
        }
        let clicked: Weak<Shown> = Rc::downgrade(&shown);
        let hear = Closure::<dyn Fn(Click)>::new(move |click: Click| {
            if let Some(shown) = clicked.upgrade() {
                shown.click(&click.target());
            }
        });
        // Heard on the way up, so that the buttons made later need no listeners of their own.
        shown.element.set_onclick(hear.as_ref());
        Self { shown, _hear: hear }
    }

    /// Offers what the card does now.
    pub fn offer(&self, card: &Card) {
        let Self { shown, .. } = self;
        let offer = card.offer.clone().map(|offer| (offer, card.view.tool.clone()));
        if *shown.offer.borrow() == offer {
            return;
        }
        let is_none = offer.is_none();
        shown.offer.replace(offer);
        shown.draw_choices();
        for element in std::iter::once(&shown.element).chain(&shown.opener) {
            hide(element, is_none);
        }
    }
}

impl Drop for Scopes {
    fn drop(&mut self) {
        self.shown.element.set_onclick(&JsValue::NULL);
    }
}

impl Shown {
    /// A click on anything in here. It decides nothing, so that no guard is asked.
    fn click(&self, target: &Element) {
        let chosen = self.choices.borrow().iter().find(|(button, _)| button == target).map(|(_, scope)| *scope);
        if let Some(scope) = chosen {
            return self.draw_step(scope);
        }
        let Some(step) = self.step.borrow().clone() else { return };
        if *target == step.back {
            self.draw_choices();
            let choices = self.choices.borrow().clone();
            if let Some((button, _)) = choices.iter().find(|(_, scope)| *scope == step.allowed.scope) {
                button.focus();
            }
            return;
        }
        let exactly = step.exactly.iter().find(|(input, _)| input == target).map(|(_, exactly)| *exactly);
        let until = step.until.iter().find(|(input, _)| input == target).map(|(_, until)| *until);
        let Allowed { scope, .. } = step.allowed;
        self.allow(Step {
            allowed: Allowed {
                scope,
                exactly: exactly.unwrap_or(step.allowed.exactly),
                until: until.unwrap_or(step.allowed.until),
            },
            ..step
        });
    }

    /// Shows which scopes there are.
    fn draw_choices(&self) {
        self.clear();
        let offered = self.offer.borrow().as_ref().map(|(offer, _)| offer.scopes.clone()).unwrap_or_default();
        let choices = offered.into_iter().map(|scope| {
            let key = if scope == Scope::Chat { "ask.in_chat" } else { "ask.always" };
            (self.element.add("button part=standing type=button", &self.words.say(key)), scope)
        });
        self.choices.replace(choices.collect());
    }

    fn clear(&self) {
        if let Some(step) = self.step.take() {
            self.watch.unguard(&step.confirm);
        }
        self.choices.take();
        self.element.set_text("");
    }

    /// Names what is allowed; of each choice the least stands first and is chosen.
    fn draw_step(&self, scope: Scope) {
        let Some((offer, tool)) = self.offer.borrow().clone() else { return };
        self.clear();
        let words = &self.words;
        let group = self.element.add("div part=terms role=group tabindex=-1", "");
        let heading = joined("terms-", &self.number, "");
        group.set("aria-labelledby", &heading);
        group.add("strong", &words.say("ask.terms")).set("id", &heading);
        let list = group.add("dl", "");
        let row = |name: &str| {
            list.add("dt", &words.say(name));
            list.add("dd", "")
        };
        row("ask.terms_tool").add("code dir=auto", &tool);
        match &offer.server {
            Some(server) => row("ask.terms_server").add("code dir=auto", server),
            None => row("ask.terms_server").add("span", &words.say("ask.this_page")),
        };
        let hash = &offer.definition;
        row("ask.terms_definition").add("code dir=ltr", hash.get(..SHORT_HASH).unwrap_or(hash)).set("title", hash);
        let (reach, confirm) = match scope {
            Scope::Chat => ("ask.this_chat", "ask.confirm_chat"),
            Scope::Always => ("ask.every_chat", "ask.confirm_always"),
        };
        row("ask.terms_chats").add("span", &words.say(reach));
        let arguments = self.question(&group, "ask.terms_arguments", "arguments-", ["ask.these", "ask.any"]);
        let until =
            self.question(&group, "ask.terms_until", "until-", ["ask.one_hour", "ask.today", "ask.until_revoked"]);
        let actions = group.add("div part=actions", "");
        let back = actions.add("button part=back type=button", &words.say("ask.back"));
        let confirm = actions.add("button part=allow type=button", &words.say(confirm));
        let [these, any] = arguments;
        let [hour, today, revoked] = until;
        self.guard(Step {
            allowed: Allowed { scope, exactly: true, until: Until::Hour },
            confirm,
            back,
            exactly: [(these, true), (any, false)],
            until: [(hour, Until::Hour), (today, Until::Today), (revoked, Until::Revoked)],
        });
        group.focus();
    }

    /// Radio buttons, the first of them chosen.
    fn question<const N: usize>(&self, group: &Element, legend: &str, name: &str, answers: [&str; N]) -> [Element; N] {
        let fields = group.add("fieldset", "");
        fields.add("legend", &self.words.say(legend));
        let mut is_first = true;
        answers.map(|answer| {
            let label = fields.add("label class=choice", "");
            let input = label.add("input type=radio", "");
            input.set("name", &joined(name, &self.number, ""));
            if std::mem::take(&mut is_first) {
                input.set("checked", "");
            }
            label.add("span", &self.words.say(answer));
            input
        })
    }

    /// Takes in what is chosen now. A button that would allow something else than it did waits anew.
    fn allow(&self, step: Step) {
        let is_same = self.step.borrow().as_ref().is_some_and(|before| before.allowed == step.allowed);
        if !is_same {
            self.watch.unguard(&step.confirm);
            self.guard(step);
        }
    }

    fn guard(&self, step: Step) {
        self.watch.guard(step.confirm.clone(), &self.request, Choice::Allow(step.allowed), &self.note);
        self.step.replace(Some(step));
    }
}

fn hide(element: &Element, hidden: bool) {
    if hidden {
        element.set("hidden", "");
    } else {
        element.unset("hidden");
    }
}
