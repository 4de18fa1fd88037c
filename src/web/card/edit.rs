//! Changing the arguments of a call before approving it: fields typed by the schema of its tool, and below them what differs
//! from what the model wrote.
//!
//! What is approved is what this shows at the click. While that cannot run, or while its preview is awaited, Approve is
//! off; denying needs none of it.

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use wasm_bindgen::prelude::*;

use super::arguments::draw_piece;
use super::entry::{joined, say};
use super::shown::Shown;
use super::words::Words;
use crate::core::approval::Preview;
use crate::core::card::{Row, ValueChange, contents, value_changes, visible};
use crate::core::message::RequestId;
use crate::core::outcome::PersonId;
use crate::core::run::RunError;
use crate::web::driver::{Draft, Driver, SaidEdit};
use crate::web::element::Element;
use crate::web::error::text_of;
use crate::web::guard::Watch;
use crate::web::platform;

/// The most bytes of arguments that are changed on a card: all of them are read again with every key. A page may still
/// decide with others by its own code.
const LONGEST: usize = 100_000;

/// The most changes that are shown while they are made, at every key: what would run stands above in full.
const MOST_CHANGES: usize = 20;

#[wasm_bindgen]
extern "C" {
    type Heard;
    #[wasm_bindgen(method, getter)]
    fn target(this: &Heard) -> Element;
}

/// The cards of one list whose arguments can be changed.
pub struct Edits {
    driver: Rc<Driver>,
    open: RefCell<Vec<Weak<Editing>>>,
}

/// What is shown cannot run, or not yet.
pub struct Stuck;

/// One card's part. Dropping it forgets what was changed.
pub struct Edit(Rc<Editing>);

struct Editing {
    driver: Rc<Driver>,
    request: RequestId,
    /// The arguments as the model wrote them, and the schema of the tool.
    written: (String, String),
    watch: Rc<Watch>,
    /// What is shown of the call: with what would run while that is something else than the model wrote.
    shown: Rc<Shown>,
    words: Words,
    /// The note of the card, by which its buttons are known.
    note: Element,
    approve: Element,
    toggle: Element,
    more: Element,
    area: Element,
    reset: Element,
    difference: Element,
    /// The id of what says why Approve is off.
    says: String,
    editor: RefCell<Option<Element>>,
    state: RefCell<State>,
    /// How often something was changed: a preview that comes for an earlier one is late.
    turn: Cell<u32>,
    hear: Closure<dyn Fn(Heard)>,
}

#[derive(Clone)]
enum State {
    /// What stands there is what the model wrote.
    Unchanged,
    /// It cannot be approved.
    Stuck,
    /// It is shown, and may be approved.
    Shown(SaidEdit),
}

impl Edits {
    /// Of the requests of one chat.
    pub fn new(driver: &Rc<Driver>) -> Self {
        Self { driver: Rc::clone(driver), open: RefCell::default() }
    }

    /// What stands in place of the model's arguments on the card of a request, if anything does.
    pub fn of(&self, request: &RequestId) -> Result<Option<SaidEdit>, Stuck> {
        let Some(editing) = self.find(request) else { return Ok(None) };
        match &*editing.state.borrow() {
            State::Unchanged => Ok(None),
            State::Stuck => Err(Stuck),
            State::Shown(edit) => Ok(Some(edit.clone())),
        }
    }

    /// Looks again at what was to be approved, and came to nothing.
    pub fn failed(&self, request: &RequestId) {
        if let Some(editing) = self.find(request)
            && matches!(&*editing.state.borrow(), State::Shown(_))
        {
            editing.look();
        }
    }

    /// What this person had begun on the card of a request when it was drawn before.
    pub fn draft(&self, request: &str, by: Option<&PersonId>) -> Option<Draft> {
        self.driver.take_draft(&RequestId::new(request), by)
    }

    fn find(&self, request: &RequestId) -> Option<Rc<Editing>> {
        let mut open = self.open.borrow_mut();
        open.retain(|editing| editing.strong_count() > 0);
        open.iter().filter_map(Weak::upgrade).find(|editing| editing.request == *request)
    }
}

/// What a card lends to its editing.
pub struct Card<'a> {
    /// Its request.
    pub request: &'a str,
    /// What makes ids within the shadow root unique.
    pub number: &'a str,
    /// Its buttons are watched under this note.
    pub watch: &'a Rc<Watch>,
    /// What is shown of its call.
    pub shown: &'a Rc<Shown>,
    /// As above.
    pub note: &'a Element,
    /// The button that approves.
    pub approve: &'a Element,
    /// What is said.
    pub words: &'a Words,
}

impl Edit {
    /// Offers to change the arguments, by a button in `more`; the fields come first in `asking`. `None` where they cannot be
    /// changed.
    pub fn new(edits: &Edits, card: &Card<'_>, asking: &Element, more: &Element) -> Option<Self> {
        let request = RequestId::new(card.request);
        let written = edits.driver.editable(&request).filter(|(arguments, _)| arguments.len() <= LONGEST)?;
        let area = Element::new("div part=edit role=group hidden=");
        area.set("id", &joined("edit-", card.number, ""));
        area.set("aria-label", &card.words.say("ask.edit"));
        asking.insert(&area, asking.first_child().as_ref());
        let toggle = more.add("button part=edit-open type=button aria-expanded=false", &card.words.say("ask.edit"));
        toggle.set("aria-controls", &joined("edit-", card.number, ""));
        let editing = Rc::new_cyclic(|editing: &Weak<Editing>| {
            let editing = editing.clone();
            let hear = Closure::<dyn Fn(Heard)>::new(move |heard: Heard| {
                if let Some(editing) = editing.upgrade() {
                    editing.hear(&heard.target());
                }
            });
            Editing {
                driver: Rc::clone(&edits.driver),
                request,
                written,
                watch: Rc::clone(card.watch),
                shown: Rc::clone(card.shown),
                words: card.words.clone(),
                note: card.note.clone(),
                approve: card.approve.clone(),
                toggle,
                more: more.clone(),
                area,
                reset: Element::new("button part=reset type=button"),
                difference: Element::new("div"),
                says: joined("edit-problem-", card.number, ""),
                editor: RefCell::default(),
                state: RefCell::new(State::Unchanged),
                turn: Cell::new(0),
                hear,
            }
        });
        editing.reset.set_text(&card.words.say("ask.edit_reset"));
        for element in [&editing.toggle, &editing.reset] {
            element.set_onclick(editing.hear.as_ref());
        }
        editing.area.set_oninput(editing.hear.as_ref());
        edits.open.borrow_mut().push(Rc::downgrade(&editing));
        Some(Self(editing))
    }
}

impl Edit {
    /// Whether the arguments stand in fields.
    pub fn is_open(&self) -> bool {
        self.0.editor.borrow().is_some()
    }

    /// Puts the arguments into fields again, `fill` fills these in. Leaves the focus where it is.
    pub fn restore(&self, fill: impl FnOnce()) {
        self.0.draw();
        fill();
        self.0.look();
    }

    /// Ends it once the card is settled: that shows what was decided about, and its receipt is not to be as high as the
    /// fields were.
    pub fn close(&self) {
        // What is awaited comes too late.
        self.0.turn.set(self.0.turn.get() + 1);
        self.0.area.set("hidden", "");
        self.0.shown.edit(None);
    }
}

impl Drop for Edit {
    fn drop(&mut self) {
        for element in [&self.0.toggle, &self.0.reset] {
            element.set_onclick(&JsValue::NULL);
        }
        self.0.area.set_oninput(&JsValue::NULL);
    }
}

impl Editing {
    fn hear(self: &Rc<Self>, target: &Element) {
        if *target == self.toggle {
            if self.editor.borrow().is_some() { self.close() } else { self.open() }
        } else if *target == self.reset {
            self.open();
        } else {
            self.look();
        }
    }

    /// Shows fields with what the model wrote, whatever stood there.
    fn open(self: &Rc<Self>) {
        self.draw().focus();
        self.look();
    }

    fn draw(&self) -> Element {
        let (arguments, schema) = &self.written;
        let editor = self.words.editor(arguments, schema, &self.says);
        self.area.set_text("");
        self.area.insert(&editor, None);
        self.area.insert(&self.difference, None);
        self.area.insert(&self.reset, None);
        self.area.unset("hidden");
        self.toggle.set("aria-expanded", "true");
        self.toggle.set_text(&self.words.say("ask.edit_close"));
        self.editor.replace(Some(editor.clone()));
        editor
    }

    fn close(self: &Rc<Self>) {
        self.editor.take();
        self.area.set("hidden", "");
        self.area.set_text("");
        self.toggle.set("aria-expanded", "false");
        self.toggle.set_text(&self.words.say("ask.edit"));
        self.look();
    }

    /// Takes in what stands in the fields now.
    fn look(self: &Rc<Self>) {
        let turn = self.turn.get() + 1;
        self.turn.set(turn);
        self.difference.set_text("");
        let text = self.editor.borrow().as_ref().map(Element::value);
        let Some(text) = text else { return self.stand(State::Unchanged, "") };
        if text.is_empty() {
            return self.stop(&self.words.say("ask.edit_stuck"));
        }
        let candidate = match self.driver.edited(&self.request, &text) {
            Ok(None) => return self.stand(State::Unchanged, ""),
            Ok(Some(candidate)) => candidate,
            Err(wrong) => return self.stop(&self.problem(&wrong)),
        };
        let changes = value_changes(&self.written.0, &candidate.arguments);
        draw_changes(&self.difference, changes.get(..MOST_CHANGES).unwrap_or(&changes), &self.words);
        if let Some(more) = changes.len().checked_sub(MOST_CHANGES).filter(|more| *more > 0) {
            let says = self.words.fill("change.more", |values| values.number("count", more as u64));
            self.difference.add("small", &says);
        }
        if let Err(wrong) = self.driver.judge_edit(&candidate) {
            return self.stop(&self.problem(&wrong));
        }
        let arguments = candidate.arguments;
        let Some(preview) = self.driver.preview_edit(&self.request, arguments.clone()) else {
            return self.apply(arguments, None);
        };
        self.stand(State::Stuck, "");
        let this = Rc::clone(self);
        platform::spawn(Box::pin(async move {
            let shown = preview.await;
            if this.turn.get() != turn {
                return;
            }
            match shown {
                Ok(preview) => this.apply(arguments, Some(preview)),
                Err(thrown) => this.stop(&this.words.preview(&visible(&text_of(&thrown)))),
            }
        }));
    }

    /// Shows these as what would run, and lets them be approved.
    fn apply(&self, arguments: String, shown: Option<Preview>) {
        let read = contents(&arguments, &shown.clone().unwrap_or_default());
        if read.is_none() {
            return self.stop("");
        }
        self.shown.edit(read);
        self.stand(State::Shown(SaidEdit { arguments, shown }), "");
    }

    /// Says why what stands there cannot be approved; shown is what the model wrote.
    fn stop(&self, problem: &str) {
        self.shown.edit(None);
        self.stand(State::Stuck, problem);
    }

    /// Notes what may be approved, and says what is wrong.
    fn stand(&self, state: State, problem: &str) {
        if let Some(editor) = &*self.editor.borrow() {
            editor.set_problem(problem);
        }
        let says = if matches!(state, State::Unchanged) { "ask.approve" } else { "ask.approve_edited" };
        self.approve.set_text(&self.words.say(says));
        let is_stuck = matches!(state, State::Stuck);
        // A permission beyond this call would be about what the model wrote.
        if matches!(state, State::Unchanged) {
            self.shown.edit(None);
            self.more.unset("data-edited");
        } else {
            self.more.set("data-edited", "");
        }
        self.state.replace(state);
        self.watch.hold(&self.note, &self.says, is_stuck);
        self.shown.tell();
    }

    fn problem(&self, wrong: &RunError) -> String {
        let (key, name, why) = match wrong {
            RunError::EditInvalid(problem) => ("ask.edit_invalid", "problem", self.words.problem(&visible(problem))),
            RunError::EditRefused(reason) => ("ask.edit_refused", "reason", visible(reason)),
            other => return other.message().into_owned(),
        };
        self.words.fill(key, |values| values.text(name, &why))
    }
}

/// What differs from what the model wrote, value by value.
pub fn draw_changes(place: &Element, changes: &[ValueChange], words: &Words) {
    if changes.is_empty() {
        return;
    }
    let area = place.add("div part=difference", "");
    area.add("div", &words.say("change.title"));
    let list = area.add("dl", "");
    for change in changes {
        list.add("dt dir=auto", change.path());
        let value = list.add("dd", "");
        let pieces = change.now.as_ref().map(|row| row.changes.as_slice()).unwrap_or_default();
        if !pieces.is_empty() {
            let block = value.add("div class=block dir=auto tabindex=0 role=group", "");
            block.set("aria-label", change.path());
            pieces.iter().for_each(|piece| draw_piece(&block, piece.change, &piece.text, words));
            continue;
        }
        draw(&value, "del", change.was.as_ref(), ["change.was", "change.added"], words);
        draw(&value, "ins", change.now.as_ref(), ["change.now", "change.removed"], words);
    }
}

/// One side of a change, in words and marked.
fn draw(place: &Element, mark: &str, row: Option<&Row>, [says, nothing]: [&str; 2], words: &Words) {
    let side = place.add("div", "");
    let Some(row) = row else {
        side.add("em", &words.say(nothing));
        return;
    };
    side.add("small", &words.say(says));
    let value = side.add(mark, "");
    value.set("data-kind", row.kind);
    say(&value.add("span dir=auto", ""), &row.text, &words.say("head.empty_text"));
}
