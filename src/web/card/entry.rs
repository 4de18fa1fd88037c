//! One card in the page.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use super::arguments::Arguments;
use super::edit::{self, Edit, Edits};
use super::more::More;
use super::words::Words;
use super::{asking, head, receipt};
use crate::core::approval::RequestKind;
use crate::core::card::Card;
use crate::web::element::Element;
use crate::web::guard::{Choice, Watch};

/// A card's element and what it shows.
pub struct Entry {
    request: String,
    /// Makes the ids within the shadow root unique.
    number: String,
    watch: Rc<Watch>,
    words: Words,
    group: Element,
    head: Element,
    foot: Element,
    /// The note and the buttons, which stand in the foot until there is a receipt.
    asking: Element,
    label: Element,
    note: Element,
    /// Says why a call whose arguments are folded cannot be approved.
    hold: Element,
    arguments: RefCell<Option<Arguments>>,
    receipt: Element,
    dismiss: Element,
    /// What else there is to do, and the changing of the arguments; where there is any.
    more: Option<(More, Edit)>,
    is_pending: Cell<bool>,
    note_reaches_model: Cell<bool>,
    /// All texts of the head and of the receipt, to see whether they change.
    shown_head: Cell<String>,
    shown_receipt: Cell<String>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        self.watch.release(&self.note);
        self.watch.release(&self.receipt);
    }
}

impl Entry {
    /// A card that stands nowhere yet.
    pub fn new(
        number: u32,
        card: &Card,
        note_reaches_model: bool,
        watch: &Rc<Watch>,
        words: &Words,
        edits: &Edits,
    ) -> Self {
        let group = Element::new("div part=card role=group tabindex=-1");
        let head = group.add("div", "");
        let foot = group.add("div class=foot", "");
        let asking = Element::new("div class=asking");
        let label = Element::new("span");
        let note = asking::draw(&asking, &label, &card.view, words);
        let mut entry = Self {
            request: card.request.as_str().to_owned(),
            number: number.to_string(),
            watch: watch.clone(),
            words: words.clone(),
            group,
            head,
            foot,
            asking,
            label,
            note,
            hold: Element::new("div part=hold hidden="),
            arguments: RefCell::default(),
            receipt: Element::new("div part=receipt tabindex=-1"),
            dismiss: Element::new("button part=dismiss type=button"),
            more: None,
            is_pending: Cell::new(card.receipt.is_none()),
            note_reaches_model: Cell::new(note_reaches_model),
            shown_head: Cell::default(),
            shown_receipt: Cell::default(),
        };
        entry.group.set("aria-labelledby", &entry.id("title"));
        entry.group.set("aria-describedby", &entry.id("why"));
        entry.label.set_text(&words.say(asking::label_of(note_reaches_model)));
        if entry.is_pending() {
            if matches!(card.view.kind, RequestKind::Approval | RequestKind::Recovery) {
                entry.hold.set("id", &entry.id("hold"));
                entry.hold.set_text(&words.say("ask.open_first"));
                entry.asking.insert(&entry.hold, None);
            }
            let actions = entry.asking.add("div part=actions", "");
            for (part, says, choice) in asking::buttons(&card.view.kind).iter().copied() {
                let button = actions.add(&joined("button part=", part, " type=button"), &words.say(says));
                if choice == Choice::Approve {
                    entry.more = entry.offer(&button, edits);
                }
                watch.guard(button, &entry.request, choice, &entry.note);
            }
            if let Some((more, _)) = &entry.more {
                entry.asking.insert(more.area(), None);
            }
            entry.foot.insert(&entry.asking, None);
        }
        entry.update(card, note_reaches_model);
        entry
    }

    /// What can be done with the card beside the decision that `approve` makes.
    fn offer(&self, approve: &Element, edits: &Edits) -> Option<(More, Edit)> {
        let more = More::new(&self.id("more"), &self.words);
        let card = edit::Card {
            request: &self.request,
            number: &self.number,
            watch: &self.watch,
            note: &self.note,
            approve,
            words: &self.words,
        };
        let edit = Edit::new(edits, &card, &self.asking, more.inside())?;
        Some((more, edit))
    }

    /// The card's element.
    pub fn group(&self) -> &Element {
        &self.group
    }

    /// The request it asks about.
    pub fn is_for(&self, card: &Card) -> bool {
        self.request == card.request.as_str()
    }

    /// Whether it can still be decided.
    pub fn is_pending(&self) -> bool {
        self.is_pending.get()
    }

    /// The receipt's element, where there is one.
    pub fn receipt(&self) -> Option<&Element> {
        (!self.is_pending()).then_some(&self.receipt)
    }

    /// Shows the card as it is now and touches nothing that stayed the same. The note and the buttons of a card that
    /// is settled by it stand until [`Entry::tidy`]: the caller moves the focus before that.
    pub fn update(&self, card: &Card, note_reaches_model: bool) {
        let head = head::texts(&card.view);
        let shown = self.shown_head.take();
        if shown != head {
            let (watch, note, hold, reason) =
                (self.watch.clone(), self.note.clone(), self.hold.clone(), self.id("hold"));
            let folded = Box::new(move |is_folded: bool| {
                if is_folded {
                    hold.unset("hidden");
                } else {
                    hold.set("hidden", "");
                }
                watch.hold(&note, &reason, is_folded);
            });
            let arguments = head::draw(&self.head, &card.view, &self.number, &self.words, folded);
            self.arguments.replace(arguments);
            self.watch.rearm(&self.note);
        }
        self.shown_head.set(head);
        if self.note_reaches_model.replace(note_reaches_model) != note_reaches_model {
            self.label.set_text(&self.words.say(asking::label_of(note_reaches_model)));
        }
        let Some(receipt) = &card.receipt else { return };
        let texts = joined(receipt.mark, receipt.decision, receipt.outcome);
        let shown = self.shown_receipt.take();
        if shown.is_empty() {
            if self.is_pending.replace(false) {
                self.watch.release(&self.note);
                if let Some((_, edit)) = &self.more {
                    edit.hide();
                }
                // The receipt keeps the height of what it replaces, so that nothing below it moves under a pointer.
                self.foot.set_style(&joined("min-block-size:", &self.foot.height().to_string(), "px"));
            }
            self.foot.insert(&self.receipt, None);
            self.dismiss.set_text(&self.words.say("receipt.dismiss"));
            self.watch.guard(self.dismiss.clone(), &self.request, Choice::Dismiss, &self.receipt);
        }
        if shown != texts {
            receipt::draw(&self.receipt, receipt, &card.view.digest, &self.dismiss, &self.words);
        }
        self.shown_receipt.set(texts);
    }

    /// Takes the note and the buttons of a settled card out.
    pub fn tidy(&self) {
        if !self.is_pending() {
            self.asking.remove();
        }
    }

    fn id(&self, part: &str) -> String {
        joined(part, "-", &self.number)
    }
}

/// The three as one text.
pub fn joined(first: &str, second: &str, third: &str) -> String {
    let mut joined = first.to_owned();
    joined.push_str(second);
    joined.push_str(third);
    joined
}

/// Shows a text of the call; where that is empty, words that are marked as not being it.
pub fn say(element: &Element, text: &str, if_empty: &str) {
    if text.is_empty() {
        element.add("em", if_empty);
    } else {
        element.set_text(text);
    }
}
