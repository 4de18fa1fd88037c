//! What is read of a card before anything is decided, and what is drawn of it anew when that changes: with the arguments as
//! a person changed them, where somebody did, since those are what runs.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::arguments::Arguments;
use super::head;
use super::words::Words;
use crate::core::card::{CardView, Contents};
use crate::web::element::Element;
use crate::web::guard::Watch;

/// The part of one card.
pub struct Shown {
    /// Takes the focus that something in `area` would lose.
    group: Element,
    area: Element,
    /// Makes the ids within the shadow root unique.
    number: String,
    watch: Rc<Watch>,
    words: Words,
    /// The note of the card, by which its buttons are known.
    note: Element,
    /// Says why a call whose arguments are folded cannot be approved.
    hold: Element,
    arguments: RefCell<Option<Arguments>>,
    view: RefCell<Option<CardView>>,
    edited: RefCell<Option<Contents>>,
    /// All texts that stand there, to see whether they change.
    texts: RefCell<String>,
    /// How often it was drawn.
    version: Cell<u32>,
    /// What is called when something was drawn, opened or held.
    told: RefCell<Option<Rc<dyn Fn()>>>,
}

impl Shown {
    /// Nothing yet.
    pub fn new(group: &Element, number: &str, watch: &Rc<Watch>, note: &Element, words: &Words) -> Rc<Self> {
        let hold = Element::new("div part=hold hidden=");
        hold.set("id", &["hold-", number].concat());
        hold.set_text(&words.say("ask.open_first"));
        Rc::new(Self {
            group: group.clone(),
            area: group.add("div", ""),
            number: number.to_owned(),
            watch: Rc::clone(watch),
            words: words.clone(),
            note: note.clone(),
            hold,
            arguments: RefCell::default(),
            view: RefCell::default(),
            edited: RefCell::default(),
            texts: RefCell::default(),
            version: Cell::new(0),
            told: RefCell::default(),
        })
    }

    /// Where it stands.
    pub const fn area(&self) -> &Element {
        &self.area
    }

    /// What says that something has to be opened.
    pub const fn hold(&self) -> &Element {
        &self.hold
    }

    /// How often it was drawn.
    pub fn version(&self) -> u32 {
        self.version.get()
    }

    /// Has `told` called, in place of what was before, whenever what is to be read is another or may be.
    pub fn tells(&self, told: Option<Rc<dyn Fn()>>) {
        self.told.replace(told);
    }

    /// Tells that what is to be read may be another.
    pub fn tell(&self) {
        let told = self.told.borrow().clone();
        if let Some(told) = told {
            told();
        }
    }

    /// Shows the call as it is now. Says whether that is news.
    pub fn show(self: &Rc<Self>, view: &CardView) -> bool {
        self.view.replace(Some(view.clone()));
        self.draw()
    }

    /// Shows these in place of what the model wrote, or that again.
    pub fn edit(self: &Rc<Self>, edited: Option<Contents>) {
        self.edited.replace(edited);
        self.draw();
    }

    /// Touches nothing that stayed the same.
    fn draw(self: &Rc<Self>) -> bool {
        let Some(mut view) = self.view.borrow().clone() else { return false };
        if let Some(edited) = &*self.edited.borrow() {
            (view.arguments, view.preview) = edited.clone();
        }
        let texts = head::texts(&view);
        if self.texts.replace(texts.clone()) == texts {
            return false;
        }
        self.version.set(self.version.get() + 1);
        if self.area.matches(":focus-within") {
            self.group.focus();
        }
        let this = Rc::downgrade(self);
        let folded = Box::new(move |is_folded: bool| {
            let Some(this) = this.upgrade() else { return };
            if is_folded {
                this.hold.unset("hidden");
            } else {
                this.hold.set("hidden", "");
            }
            this.watch.hold(&this.note, &["hold-", &this.number].concat(), is_folded);
            this.tell();
        });
        let arguments = head::draw(&self.area, &view, &self.number, &self.words, folded);
        self.arguments.replace(arguments);
        self.watch.rearm(&self.note);
        true
    }
}
