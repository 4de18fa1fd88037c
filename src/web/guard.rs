//! Feeds the input guard of `core::guard` with what the browser shows of each decision button.
//!
//! Every decision path of the card goes through [`Watch::guard`]: nothing else makes a [`Decided`].

mod sight;

use std::cell::{Cell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::{Array, Object, Reflect};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;

use super::element::Element;
use crate::core::approval::Scope;
use crate::core::guard::{Guard, Input, Verdict};

/// How often a button's place and the page's focus are looked at, in milliseconds. Nothing tells a page that a layout
/// moved one of its boxes.
const LOOK: f64 = 100.0;

/// The share of a button that must be in view. Browsers report a hair less than the whole for boxes at fractional
/// positions; what is allowed for is under half a pixel of a button's height.
const IN_VIEW: f64 = 0.99;

/// How often at most a browser that can tell says whether it drew a button with nothing over it, in milliseconds: it
/// takes no shorter time.
const VISIBILITY: f64 = 100.0;

/// How long to believe the observer that a button is out of view or covered where the page itself finds it in view and
/// nothing over it, in milliseconds. Chromium 156 does not always tell when a change of the layout and a scroll together
/// brought a button into view, however long one waits.
const DOUBT: f64 = 1_000.0;

/// What is listened to on the window, and whether in the capture phase: ahead of what the page does with it. The focus
/// of elements is captured too, and is not meant.
const LISTENED: [(&str, bool); 4] =
    [("visibilitychange", true), ("pageshow", false), ("focus", false), ("blur", false)];

/// What is listened to on the window and in the cards' own tree, in the capture phase. If that tree stands in a closed
/// one, the window does not learn what is pressed in it.
const INPUT: [&str; 5] = ["pointerdown", "pointerup", "pointercancel", "keydown", "keyup"];

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(js_name = addEventListener)]
    fn listen(kind: &str, hear: &JsValue, capture: bool);
    #[wasm_bindgen(js_name = removeEventListener)]
    fn unlisten(kind: &str, hear: &JsValue, capture: bool);
    #[wasm_bindgen(js_name = setTimeout)]
    fn set_timeout(hear: &JsValue, wait: f64) -> i32;
    #[wasm_bindgen(js_name = clearTimeout)]
    fn clear_timeout(timer: i32);
    #[wasm_bindgen(js_namespace = performance)]
    fn now() -> f64;

    /// The shadow root of the cards.
    #[derive(Clone)]
    pub type Root;
    #[wasm_bindgen(method, getter = ownerDocument)]
    fn page(this: &Root) -> Page;
    #[wasm_bindgen(method, js_name = addEventListener)]
    fn listen_in(this: &Root, kind: &str, hear: &JsValue, capture: bool);
    #[wasm_bindgen(method, js_name = removeEventListener)]
    fn unlisten_in(this: &Root, kind: &str, hear: &JsValue, capture: bool);

    /// The document.
    type Page;
    #[wasm_bindgen(method, getter)]
    fn hidden(this: &Page) -> bool;
    #[wasm_bindgen(method, js_name = hasFocus)]
    fn has_focus(this: &Page) -> bool;

    type IntersectionObserver;
    #[wasm_bindgen(constructor)]
    fn new(hear: &JsValue, options: &Object) -> IntersectionObserver;
    #[wasm_bindgen(method)]
    fn observe(this: &IntersectionObserver, target: &Element);
    #[wasm_bindgen(method)]
    fn unobserve(this: &IntersectionObserver, target: &Element);
    #[wasm_bindgen(method)]
    fn disconnect(this: &IntersectionObserver);

    #[wasm_bindgen(method, js_name = getBoundingClientRect)]
    fn place(this: &Element) -> Rect;
    type Rect;
    #[wasm_bindgen(method, getter)]
    fn x(this: &Rect) -> f64;
    #[wasm_bindgen(method, getter)]
    fn y(this: &Rect) -> f64;
    #[wasm_bindgen(method, getter)]
    fn width(this: &Rect) -> f64;
    #[wasm_bindgen(method, getter)]
    fn height(this: &Rect) -> f64;

    /// An event, or what the observer saw of a target.
    type Heard;
    #[wasm_bindgen(method, getter = type)]
    fn kind(this: &Heard) -> Option<String>;
    #[wasm_bindgen(method, getter = isTrusted)]
    fn is_trusted(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter = timeStamp)]
    fn time(this: &Heard) -> f64;
    #[wasm_bindgen(method, getter)]
    fn target(this: &Heard) -> Element;
    #[wasm_bindgen(method, js_name = composedPath)]
    fn path(this: &Heard) -> Array;
    #[wasm_bindgen(method, getter)]
    fn detail(this: &Heard) -> i32;
    #[wasm_bindgen(method, getter)]
    fn button(this: &Heard) -> i32;
    #[wasm_bindgen(method, getter = isPrimary)]
    fn is_primary(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter)]
    fn repeat(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter)]
    fn key(this: &Heard) -> String;
    #[wasm_bindgen(method, getter = isIntersecting)]
    fn is_intersecting(this: &Heard) -> bool;
    #[wasm_bindgen(method, getter = intersectionRatio)]
    fn ratio(this: &Heard) -> f64;
    #[wasm_bindgen(method, getter = isVisible)]
    fn is_visible(this: &Heard) -> Option<bool>;
}

/// What a button of a card stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Choice {
    /// Yes.
    Approve,
    /// Yes, and for later calls too.
    Allow(Allowed),
    /// No.
    Deny,
    /// End the run.
    Stop,
    /// Answer with the values of the form.
    Submit,
    /// What was to be done elsewhere is done.
    Done,
    /// Do not answer.
    Decline,
    /// Take a receipt out of sight.
    Dismiss,
    /// Give the request more time.
    Extend,
    /// No, to every approval that waits.
    DenyAll,
    /// Yes, to those that are selected.
    ApproveSelected,
}

impl Choice {
    /// Whether it lets the call run.
    const fn approves(self) -> bool {
        matches!(self, Self::Approve | Self::Allow(_))
    }

    /// Whether it is a no, which always works: of two decisions about one request the first one counts.
    const fn refuses(self) -> bool {
        matches!(self, Self::Deny | Self::Decline | Self::Stop)
    }
}

/// What a button allows beyond the call it is about: what stood beside it when it was put under guard.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowed {
    /// How far.
    pub scope: Scope,
    /// Whether with these arguments only.
    pub exactly: bool,
    /// Until when.
    pub until: Until,
}

/// How long a standing permission is to last.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Until {
    /// For one hour from the click on.
    Hour,
    /// Until the local day of the click ends.
    Today,
    /// Without an end.
    Revoked,
}

/// A person's click, which passed the input guard.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Decided {
    /// The request's id.
    pub request: String,
    /// What was chosen.
    pub choice: Choice,
    /// What the person wrote, as they wrote it; `None` if that is nothing but white space. For [`Choice::Submit`] the form's
    /// values as JSON.
    pub note: Option<String>,
}

/// A click that decided nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The request's id; empty for a button that is about several.
    pub request: String,
    /// Why, as a key of the card's messages.
    pub why: &'static str,
}

/// Watches the window and all guarded buttons of one list of cards, until it is dropped.
pub struct Watch {
    root: Root,
    page: Page,
    decide: Rc<dyn Fn(Decided)>,
    refuse: Rc<dyn Fn(Refused)>,
    /// What a button says that is covered.
    covered: Rc<str>,
    /// Hears everything: events, the observer, and the timer, which has nothing to say.
    hear: Closure<dyn Fn(Heard)>,
    observer: IntersectionObserver,
    /// Zero is none.
    timer: Cell<i32>,
    /// When anything was last pressed or released in the window, or since when it is watched: what came before is not
    /// known, so it may be a press.
    active: Cell<f64>,
    buttons: RefCell<Vec<Rc<Watched>>>,
}

struct Watched {
    button: Element,
    request: String,
    choice: Choice,
    note: Element,
    guard: RefCell<Guard>,
    armed: Cell<bool>,
    /// Whether a decision about its request is being stored.
    busy: Cell<bool>,
    /// What the observer said last; true where it does not say.
    visible: Cell<bool>,
    /// Whether it said then that the whole button is in view.
    whole: Cell<bool>,
    /// When the observer was last asked, or last said something.
    observed: Cell<f64>,
    covered: Cell<bool>,
    covered_text: Rc<str>,
    /// See [`Watch::hold`].
    held: RefCell<Vec<String>>,
}

impl Watch {
    /// Starts to watch the window, for cards in this root. `decide` is called for clicks that count, and `refuse` for those
    /// that came too early or to a covered button; `covered` is the title of a button for as long as something covers it.
    pub fn new(root: &Root, decide: Rc<dyn Fn(Decided)>, refuse: Rc<dyn Fn(Refused)>, covered: &str) -> Rc<Self> {
        let watch = Rc::new_cyclic(|watch: &Weak<Self>| {
            let watch = watch.clone();
            let hear = Closure::<dyn Fn(Heard)>::new(move |heard| {
                if let Some(watch) = watch.upgrade() {
                    watch.hear(&heard);
                }
            });
            let options = Object::new();
            let asked =
                [("threshold", IN_VIEW.into()), ("trackVisibility", JsValue::TRUE), ("delay", VISIBILITY.into())];
            for (option, value) in asked {
                // A plain object takes any property.
                let _ = Reflect::set(&options, &option.into(), &value);
            }
            let observer = IntersectionObserver::new(hear.as_ref(), &options);
            Self {
                root: root.clone(),
                page: root.page(),
                decide,
                refuse,
                covered: covered.into(),
                hear,
                observer,
                timer: Cell::new(0),
                active: Cell::new(now()),
                buttons: RefCell::default(),
            }
        });
        for (kind, capture) in LISTENED {
            listen(kind, watch.hear.as_ref(), capture);
        }
        for kind in INPUT {
            listen(kind, watch.hear.as_ref(), true);
            root.listen_in(kind, watch.hear.as_ref(), true);
        }
        watch
    }

    /// Puts a button under guard until its note is released. The button carries `aria-disabled` while it is not armed.
    pub fn guard(&self, button: Element, request: &str, choice: Choice, note: &Element) {
        button.set("aria-disabled", "true");
        button.set_onclick(self.hear.as_ref());
        self.observer.observe(&button);
        let others = self.buttons();
        let held = others.iter().find(|other| choice.approves() && other.note == *note && other.choice.approves());
        let held = held.map(|other| other.held.borrow().clone()).unwrap_or_default();
        let watched = Rc::new(Watched {
            button,
            request: request.to_owned(),
            choice,
            note: note.clone(),
            guard: RefCell::new(Guard::new(self.active.get())),
            armed: Cell::new(false),
            busy: Cell::new(false),
            visible: Cell::new(true),
            whole: Cell::new(false),
            observed: Cell::new(now()),
            covered: Cell::new(false),
            covered_text: self.covered.clone(),
            // One that comes later is held like those that are there.
            held: RefCell::new(held),
        });
        watched.withhold();
        self.buttons.borrow_mut().push(watched);
    }

    /// Starts the wait of the buttons with this note anew: what the person is asked has changed.
    pub fn rearm(&self, note: &Element) {
        self.restart(Some(note));
        self.schedule();
    }

    /// Ends the guard of one button.
    pub fn unguard(&self, button: &Element) {
        // Observed once more it is seen anew, and not otherwise.
        self.observer.unobserve(button);
        self.buttons.borrow_mut().retain(|watched| watched.button != *button);
    }

    /// Says whether a decision of one of the buttons with this note is being stored: until it is, they take no other but a no.
    pub fn busy(&self, note: &Element, busy: bool) {
        for watched in self.buttons().iter().filter(|watched| watched.note == *note) {
            watched.busy.set(busy && !watched.choice.refuses());
            watched.withhold();
        }
        self.schedule();
    }

    /// Takes a shortcut on a card for a press and a click on its button that approves, under the same conditions.
    pub fn shortcut(&self, note: &Element, event: &JsValue) {
        let event: &Heard = event.unchecked_ref();
        let button = self.buttons().into_iter().find(|one| one.note == *note && one.choice == Choice::Approve);
        let Some(watched) = button.filter(|_| event.is_trusted() && !event.repeat()) else { return };
        let _ = watched.look(now(), self.attended());
        let _ = watched.feed(time(event), Input::Pressed);
        self.clicked(&watched, time(event), Input::Click { trusted: true, detail: 0, primary: true });
    }

    /// Keeps the approving buttons with this note off, whatever else holds, for as long as any reason is: the id of what says
    /// it. Each time something is said of one their wait starts anew.
    pub fn hold(&self, note: &Element, reason: &str, holds: bool) {
        for watched in self.buttons() {
            if watched.note == *note && watched.choice.approves() {
                watched.held.borrow_mut().retain(|known| known != reason);
                if holds {
                    watched.held.borrow_mut().push(reason.to_owned());
                }
                watched.withhold();
            }
        }
        self.schedule();
    }

    /// Whether anything holds the approving buttons with this note.
    pub fn is_held(&self, note: &Element) -> bool {
        self.buttons().iter().any(|watched| watched.note == *note && !watched.held.borrow().is_empty())
    }

    /// Ends the guard of the buttons with this note. Without it they decide nothing.
    pub fn release(&self, note: &Element) {
        let (gone, kept) = self.buttons.take().into_iter().partition(|watched| watched.note == *note);
        self.buttons.replace(kept);
        // An observer holds what it observes, also what is in no page any more.
        let gone: Vec<Rc<Watched>> = gone;
        gone.iter().for_each(|watched| self.observer.unobserve(&watched.button));
    }

    /// A copy, so that nothing is borrowed while the buttons are worked on.
    fn buttons(&self) -> Vec<Rc<Watched>> {
        self.buttons.borrow().clone()
    }

    fn hear(&self, heard: &Heard) {
        if heard.is_undefined() {
            self.timer.set(0);
            return self.look();
        }
        match heard.kind().as_deref() {
            None => self.seen(heard.unchecked_ref()),
            Some("click") => self.click(heard),
            Some("focus" | "visibilitychange" | "pageshow") => {
                self.restart(None);
                self.look();
            }
            Some("blur") => self.look(),
            Some(kind) => self.input(kind, heard),
        }
    }

    fn attended(&self) -> bool {
        !self.page.hidden() && self.page.has_focus()
    }

    /// Looks where all buttons stand now, and whether the page is attended to.
    pub fn look(&self) {
        let (now, attended) = (now(), self.attended());
        for watched in self.buttons() {
            if watched.look(now, attended) && now - watched.observed.get() > DOUBT {
                watched.observed.set(now);
                self.observer.unobserve(&watched.button);
                self.observer.observe(&watched.button);
            }
            let _ = watched.feed(now, Input::Tick);
        }
        self.schedule();
    }

    /// Of the buttons with this note, or of all.
    fn restart(&self, note: Option<&Element>) {
        let now = now();
        for watched in self.buttons() {
            if note.is_none_or(|note| watched.note == *note) {
                let _ = watched.feed(now, Input::Rearm);
            }
        }
    }

    /// Sets the timer for the next look: as soon as a button is due, at the latest after [`LOOK`]. A hidden page needs
    /// none: it looks when it becomes visible.
    fn schedule(&self) {
        clear_timeout(self.timer.take());
        let buttons = self.buttons.borrow();
        if buttons.is_empty() || self.page.hidden() {
            return;
        }
        let now = now();
        let mut wait = LOOK;
        for due in buttons.iter().filter_map(|watched| watched.guard.borrow().due()) {
            wait = wait.min(due - now);
        }
        // Rounded up: a timer that runs a fraction early would find the button not due yet.
        self.timer.set(set_timeout(self.hear.as_ref(), wait.max(0.0).ceil()));
    }

    fn seen(&self, entries: &Array) {
        let (now, attended) = (now(), self.attended());
        for entry in entries.iter() {
            let entry: Heard = entry.unchecked_into();
            if let Some(watched) = self.watched(&entry.target()) {
                watched.visible.set(entry.is_visible().unwrap_or(true));
                watched.observed.set(now);
                watched.whole.set(entry.is_intersecting() && entry.ratio() >= IN_VIEW);
                let _ = watched.look(now, attended);
                let _ = watched.feed(now, Input::InView(watched.whole.get()));
            }
        }
        self.schedule();
    }

    fn watched(&self, button: &Element) -> Option<Rc<Watched>> {
        self.buttons.borrow().iter().find(|watched| watched.button == *button).cloned()
    }

    /// A pointer or key event anywhere in the window; what happens among the cards is heard twice.
    fn input(&self, kind: &str, event: &Heard) {
        if !event.is_trusted() {
            return;
        }
        let time = time(event);
        self.active.set(self.active.get().max(time));
        let inner = event.path().get(0);
        for watched in self.buttons() {
            let here = inner == *watched.button;
            let input = match here {
                true if is_press(kind, event) => Input::Pressed,
                true => Input::Held,
                false => Input::Elsewhere,
            };
            let _ = watched.feed(time, input);
        }
    }

    fn click(&self, event: &Heard) {
        let Some(watched) = self.watched(&event.target()) else { return };
        let _ = watched.look(now(), self.attended());
        let click = Input::Click { trusted: event.is_trusted(), detail: event.detail(), primary: event.button() == 0 };
        self.clicked(&watched, time(event), click);
    }

    fn clicked(&self, watched: &Watched, at: f64, click: Input) {
        let request = watched.request.clone();
        match watched.feed(at, click) {
            Verdict::Ignore => {}
            Verdict::Refuse => {
                let why = if watched.covered.get() { "refused.covered" } else { "refused.early" };
                (self.refuse)(Refused { request, why });
            }
            Verdict::Decide => {
                let reads =
                    matches!(watched.choice, Choice::Approve | Choice::Allow(_) | Choice::Deny | Choice::Submit);
                let note = reads.then(|| watched.note.value()).filter(|note| !note.trim().is_empty());
                // Else the form has said what is missing in it.
                if watched.choice != Choice::Submit || note.is_some() {
                    (self.decide)(Decided { request, choice: watched.choice, note });
                }
            }
        }
        self.schedule();
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        for (kind, capture) in LISTENED {
            unlisten(kind, self.hear.as_ref(), capture);
        }
        for kind in INPUT {
            unlisten(kind, self.hear.as_ref(), true);
            self.root.unlisten_in(kind, self.hear.as_ref(), true);
        }
        self.observer.disconnect();
        clear_timeout(self.timer.get());
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        self.button.set_onclick(&JsValue::NULL);
    }
}

impl Watched {
    /// Feeds the guard and shows on the button whether it is armed, and whether it is because of a cover that it is not.
    fn feed(&self, now: f64, input: Input) -> Verdict {
        let mut guard = self.guard.borrow_mut();
        let verdict = guard.handle(now, input);
        let (armed, covered) = (guard.is_armed(), guard.is_covered());
        drop(guard);
        if self.covered.replace(covered) != covered {
            if covered {
                self.button.set("title", &self.covered_text);
            } else {
                self.button.unset("title");
            }
        }
        if self.armed.replace(armed) != armed {
            if armed {
                self.button.unset("aria-disabled");
            } else {
                self.button.set("aria-disabled", "true");
            }
        }
        verdict
    }

    /// Tells the guard whether anything keeps the button off, and a reader what does.
    fn withhold(&self) {
        let held = self.held.borrow();
        if held.is_empty() {
            self.button.unset("aria-describedby");
        } else {
            self.button.set("aria-describedby", &held.join(" "));
        }
        let _ = self.feed(now(), Input::Withheld(!held.is_empty() || self.busy.get()));
    }

    /// Gives whether the button is seen here though the observer said that it is not.
    fn look(&self, now: f64, attended: bool) -> bool {
        let place = self.button.place();
        let covered = sight::is_covered(&self.button, &place);
        // What lets clicks through and lies over a no, such as the empty layer of a page's notices, keeps nobody from it.
        let visible = self.visible.get() || self.choice.refuses();
        let _ = self.feed(now, Input::Attended(attended));
        let _ = self.feed(now, Input::Covered(covered || !visible));
        let _ = self.feed(now, Input::Place([place.x(), place.y(), place.width(), place.height()]));
        !(covered || visible && self.whole.get())
    }
}

/// When the event happened, which can be long before a busy page hears of it. Same clock as `performance.now()`.
fn time(event: &Heard) -> f64 {
    event.time().min(now())
}

/// Whether the event presses a button it lands on: the primary button of a pointer, Enter or Space, and no repeat.
fn is_press(kind: &str, event: &Heard) -> bool {
    match kind {
        "pointerdown" => event.is_primary() && event.button() == 0,
        "keydown" => !event.repeat() && matches!(event.key().as_str(), "Enter" | " "),
        _ => false,
    }
}
