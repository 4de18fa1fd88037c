//! One card in the page.

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use js_sys::Array;
use wasm_bindgen::JsValue;

use super::counter::Counter;
use super::deadline::Deadline;
use super::edit::{self, Edit, Edits};
use super::more::More;
use super::progress::{self, Progress};
use super::region::Voice;
use super::scopes::Scopes;
use super::shown::Shown;
use super::words::Words;
use super::{asking, bulk, draft, head, reason, receipt};
use crate::core::approval::RequestKind;
use crate::core::card::Card;
use crate::core::message::RequestId;
use crate::core::outcome::{DenyReason, PersonId};
use crate::web::driver::Draft;
use crate::web::element::Element;
use crate::web::guard::{Choice, Watch};

/// A card's element and what it shows.
pub struct Entry {
    request: String,
    /// Makes the ids within the shadow root unique.
    number: String,
    watch: Rc<Watch>,
    voice: Rc<Voice>,
    words: Words,
    group: Element,
    shown: Rc<Shown>,
    foot: Element,
    /// The note and the buttons, which stand in the foot until there is a receipt.
    asking: Element,
    label: Element,
    note: Element,
    /// The closed reason of a denial, where the request takes one.
    reason: Option<Element>,
    counter: Option<Counter>,
    /// Made for the first end that the request has.
    deadline: OnceCell<Deadline>,
    receipt: Element,
    dismiss: Element,
    deny: Option<Element>,
    /// Says why a click changed nothing.
    trouble: Element,
    /// What else there is to do.
    beside: Option<Beside>,
    /// The ids of what describes it.
    described: RefCell<String>,
    /// What stood in its fields from the start.
    untouched: Array,
    is_pending: Cell<bool>,
    is_busy: Cell<bool>,
    /// Whether it is an approval, as most are.
    is_approval: bool,
    note_reaches_model: Cell<bool>,
    /// All texts of the receipt, to see whether they change.
    shown_receipt: Cell<String>,
}

/// What can be done with a card beside its decisions.
struct Beside {
    more: More,
    /// The changing of the arguments, where they can be changed.
    edit: Option<Edit>,
    scopes: Scopes,
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
        voice: &Rc<Voice>,
        words: &Words,
        edits: Option<&Edits>,
    ) -> Self {
        let group = Element::new("div part=card role=group tabindex=-1");
        let asking = Element::new("div class=asking");
        let label = Element::new("span");
        let note = asking::draw(&asking, &label, &card.view, words);
        let number = number.to_string();
        let shown = Shown::new(&group, &number, watch, &note, words);
        let foot = group.add("div class=foot", "");
        let kind = &card.view.kind;
        let has_note = matches!(kind, RequestKind::Approval | RequestKind::Recovery);
        let counter = has_note.then(|| Counter::new(&note, voice, words));
        let reason = (*kind == RequestKind::Approval).then(|| reason::draw(&asking, words));
        let mut entry = Self {
            request: card.request.as_str().to_owned(),
            number,
            watch: watch.clone(),
            voice: voice.clone(),
            words: words.clone(),
            group,
            shown,
            foot,
            asking,
            label,
            note,
            reason,
            counter,
            deadline: OnceCell::new(),
            receipt: Element::new("div part=receipt tabindex=-1"),
            dismiss: Element::new("button part=dismiss type=button"),
            deny: None,
            trouble: Element::new("div part=problem class=said"),
            is_busy: Cell::new(false),
            is_approval: *kind == RequestKind::Approval,
            beside: None,
            described: RefCell::default(),
            untouched: Array::new(),
            is_pending: Cell::new(card.receipt.is_none()),
            note_reaches_model: Cell::new(note_reaches_model),
            shown_receipt: Cell::default(),
        };
        entry.group.set("aria-labelledby", &entry.id("title"));
        entry.label.set_text(&words.say(asking::label_of(note_reaches_model)));
        if entry.is_pending() {
            if matches!(card.view.kind, RequestKind::Approval | RequestKind::Recovery) {
                entry.asking.insert(entry.shown.hold(), None);
            }
            let actions = entry.asking.add("div part=actions", "");
            for (part, says, choice) in asking::buttons(&card.view.kind).iter().copied() {
                let button = actions.add(&joined("button part=", part, " type=button"), &words.say(says));
                if choice == Choice::Approve && entry.is_approval {
                    entry.beside = Some(entry.offer(&button, edits));
                }
                watch.guard(button.clone(), &entry.request, choice, &entry.note);
                // The first one refuses.
                entry.deny.get_or_insert(button);
            }
            if let Some(Beside { more, .. }) = &entry.beside {
                entry.asking.insert(more.area(), None);
            }
            entry.foot.insert(&entry.asking, None);
        }
        // What is there from the start is not news.
        let _ = entry.update(card, note_reaches_model);
        entry.untouched = draft::read(&entry.asking);
        entry
    }

    /// What can be done with the card beside the decision that `approve` makes.
    fn offer(&self, approve: &Element, edits: Option<&Edits>) -> Beside {
        let more = More::new(&self.id("more"), &self.words);
        let card = edit::Card {
            request: &self.request,
            number: &self.number,
            watch: &self.watch,
            shown: &self.shown,
            note: &self.note,
            approve,
            words: &self.words,
        };
        let edit = edits.and_then(|edits| Edit::new(edits, &card, &self.asking, more.inside()));
        let scopes = Scopes::new(&card, &more, edit.is_none());
        Beside { more, edit, scopes }
    }

    /// What this person has begun, if that is anything and can still be sent; `focused` is what has the focus.
    pub fn draft(&self, by: Option<&PersonId>, focused: Option<&Element>) -> Option<Draft> {
        let edit = self.beside.as_ref().and_then(|beside| beside.edit.as_ref());
        let is_editing = edit.is_some_and(Edit::is_open);
        let fields = draft::read(&self.asking);
        let focused = focused.filter(|focused| self.group.contains(focused));
        let focused = focused.map(|focused| draft::place_of(&self.asking, focused));
        let is_begun = is_editing || focused.is_some() || !draft::is_same(&fields, &self.untouched);
        (self.is_pending() && is_begun).then(|| Draft {
            request: RequestId::new(&*self.request),
            by: by.cloned(),
            is_editing,
            fields,
            focused,
        })
    }

    /// Goes on from what the person had begun. Gives what had the focus.
    pub fn restore(&self, draft: &Draft) -> Option<Element> {
        let fill = || draft::write(&self.asking, &draft.fields);
        match &self.beside {
            Some(Beside { more, edit: Some(edit), .. }) if draft.is_editing => {
                more.open();
                edit.restore(fill);
            }
            // Without them the fields would be others.
            _ if draft.is_editing => {}
            _ => fill(),
        }
        if let Some(counter) = &self.counter {
            counter.recount();
        }
        let focused = |place: u32| draft::at(&self.asking, place).unwrap_or_else(|| self.group.clone());
        draft.focused.map(focused)
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

    /// The request it asks about.
    pub fn request(&self) -> &str {
        &self.request
    }

    /// How often what is to be read was drawn.
    pub fn version(&self) -> u32 {
        self.shown.version()
    }

    /// Whether it can be decided together with others.
    pub fn is_one_of_several(&self) -> bool {
        self.is_approval && self.is_pending()
    }

    /// Whether a decision about it is being stored.
    pub fn is_busy(&self) -> bool {
        self.is_busy.get()
    }

    /// Whether something keeps it from being approved as it stands, such as what is folded.
    pub fn is_held(&self) -> bool {
        self.watch.is_held(&self.note)
    }

    /// Takes `label` in ahead of what is asked, and gives marks at the edges of what is to be read. Once that is another, or
    /// there is more of it, `told` is called.
    pub fn take_in(&self, label: &Element, told: Rc<dyn Fn()>) -> Vec<Element> {
        self.shown.tells(Some(told));
        self.asking.insert(label, self.asking.first_child().as_ref());
        self.edges()
    }

    /// Marks at the edges of what is to be read, as it stands.
    pub fn edges(&self) -> Vec<Element> {
        bulk::edges(&self.group, self.shown.area(), &self.foot)
    }

    /// No longer tells of that.
    pub fn let_go(&self) {
        self.shown.tells(None);
    }

    /// What the person wrote, if it is more than white space.
    pub fn note(&self) -> Option<String> {
        Some(self.note.value()).filter(|note| !note.trim().is_empty())
    }

    /// The button that refuses, while there are buttons.
    pub fn deny(&self) -> Option<&Element> {
        self.deny.as_ref().filter(|_| self.is_pending())
    }

    /// The ids of what says what is asked, and of what describes it.
    pub fn described_by(&self) -> String {
        joined(&self.id("title"), " ", &self.described.borrow())
    }

    /// Starts the wait of its buttons anew.
    pub fn rearm(&self) {
        self.watch.rearm(&self.note);
    }

    /// Takes a shortcut for a click on the button that approves.
    pub fn shortcut(&self, event: &JsValue) {
        if self.is_approval {
            self.watch.shortcut(&self.note, event);
        }
    }

    /// The reason that goes with a denial, if one is chosen.
    pub fn reason(&self) -> Option<DenyReason> {
        reason::read(self.reason.as_ref()?)
    }

    /// The receipt's element, where there is one.
    pub fn receipt(&self) -> Option<&Element> {
        (!self.is_pending()).then_some(&self.receipt)
    }

    /// Shows the card as it is now and touches nothing that stayed the same. The note and the buttons of a card that
    /// is settled by it stand until [`Entry::tidy`]: the caller moves the focus before that. Gives what came of the call where
    /// that is new and worth saying, as a key.
    pub fn update(&self, card: &Card, note_reaches_model: bool) -> Option<&'static str> {
        if card.receipt.is_some()
            && let Some(Beside { edit: Some(edit), .. }) = &self.beside
        {
            edit.close();
        }
        if self.shown.show(&card.view) {
            self.trouble.remove();
        }
        if self.note_reaches_model.replace(note_reaches_model) != note_reaches_model {
            self.label.set_text(&self.words.say(asking::label_of(note_reaches_model)));
        }
        if let Some(beside) = &self.beside {
            beside.scopes.offer(card);
        }
        self.show_deadline(card);
        self.describe(card);
        let receipt = card.receipt.as_ref()?;
        let texts = joined(receipt.mark, receipt.decision, receipt.outcome);
        let shown = self.shown_receipt.take();
        let is_news = shown != texts;
        if shown.is_empty() {
            let height = self.group.height();
            self.group.set("class", "settled");
            if self.is_pending.replace(false) {
                self.watch.release(&self.note);
                let lost = height.saturating_sub(self.group.height());
                // The receipt keeps the height of what it replaces, so that nothing below it moves under a pointer. Not of
                // fields, which may be higher than a window.
                let fields = if card.view.form.is_some() { self.note.height() } else { 0 };
                let height = (self.foot.height() + lost).saturating_sub(fields);
                self.foot.set_style(&joined("min-block-size:", &height.to_string(), "px"));
            }
            self.foot.insert(&self.receipt, None);
            self.dismiss.set_text(&self.words.say("receipt.dismiss"));
            self.watch.guard(self.dismiss.clone(), &self.request, Choice::Dismiss, &self.receipt);
        }
        if is_news {
            self.trouble.remove();
            receipt::draw(&self.receipt, receipt, &card.view.digest, &self.dismiss, &self.words);
        }
        self.shown_receipt.set(texts);
        receipt::worth_saying(receipt).filter(|_| is_news)
    }

    /// Shows how a decision made here stands. While it is being stored the buttons take no other; what a refusal says stands
    /// until the card changes or another decision is made.
    pub fn progress(&self, progress: &Progress) {
        let storing = *progress == Progress::Storing;
        self.is_busy.set(storing);
        self.watch.busy(&self.note, storing);
        if storing {
            self.group.set("aria-busy", "true");
        } else {
            self.group.unset("aria-busy");
        }
        let says = match progress {
            Progress::Refused(code) => progress::text(code, &self.words),
            Progress::Storing | Progress::Stored => String::new(),
        };
        self.trouble(&says);
    }

    /// Says why a click changed nothing; an empty text takes that back.
    pub fn trouble(&self, says: &str) {
        progress::show(&self.trouble, &self.group, &self.voice, says);
    }

    /// Takes the note and the buttons of a settled card out.
    pub fn tidy(&self) {
        if !self.is_pending() {
            self.asking.remove();
        }
    }

    fn show_deadline(&self, card: &Card) {
        let Some(deadline) = card.deadline else {
            if let Some(shown) = self.deadline.get() {
                shown.set(None);
            }
            return;
        };
        let shown = self.deadline.get_or_init(|| {
            let button = Element::new("button part=extend type=button");
            self.watch.guard(button.clone(), &self.request, Choice::Extend, &self.note);
            let title = head::title(&card.view);
            Deadline::new(&self.asking, &self.id("deadline"), &button, title, &self.voice, &self.words)
        });
        shown.set(Some(deadline.at));
    }

    /// Describes the card by why it is asked, what is known of its effects, and until when it waits.
    fn describe(&self, card: &Card) {
        let hints = (!card.view.hints.is_empty()).then_some("hints");
        let deadline = self.deadline.get().map(|_| "deadline");
        let ids: Vec<_> = Some("why").into_iter().chain(hints).chain(deadline).map(|part| self.id(part)).collect();
        let ids = ids.join(" ");
        if *self.described.borrow() != ids {
            self.group.set("aria-describedby", &ids);
            self.described.replace(ids);
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
