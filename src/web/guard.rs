//! Feeds the input guard of `core::guard` with what the browser shows of each decision button.
//!
//! Every decision path of the card goes through [`Watch::guard`]: nothing else calls its `decide`.

pub mod listener;

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::{Rc, Weak};

use js_sys::{Array, Function};
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{
    Document, Event, HtmlElement, IntersectionObserver, IntersectionObserverEntry, IntersectionObserverInit,
    KeyboardEvent, MouseEvent, Performance, PointerEvent, Window,
};

use crate::core::guard::{Guard, Input, Verdict};
use listener::Listener;

/// How often a button's place and the page's focus are looked at, in milliseconds. Nothing tells a page that a layout
/// moved one of its boxes.
const LOOK: f64 = 100.0;

/// The share of a button that must be in view. Browsers report a hair less than the whole for boxes at fractional
/// positions; what is allowed for is under half a pixel of a button's height.
const IN_VIEW: f64 = 0.99;

/// Watches the window and all guarded buttons of one list of cards.
pub struct Watch {
    shared: Rc<Shared>,
    _listeners: Vec<Listener>,
    _seen: Closure<dyn Fn(Array)>,
    _tick: Closure<dyn Fn()>,
}

struct Shared {
    window: Window,
    document: Document,
    performance: Performance,
    observer: OnceCell<IntersectionObserver>,
    tick: OnceCell<Function>,
    timer: Cell<Option<i32>>,
    /// When anything was last pressed or released in the window.
    active: Cell<f64>,
    buttons: RefCell<Vec<Rc<Watched>>>,
}

struct Watched {
    button: HtmlElement,
    guard: RefCell<Guard>,
    armed: Cell<bool>,
    decide: Box<dyn Fn()>,
}

/// A button under guard, until this is dropped.
#[must_use = "a button without its guard decides nothing"]
pub struct Guarded {
    shared: Weak<Shared>,
    watched: Rc<Watched>,
    _click: Listener,
}

impl Watch {
    /// Starts to watch the window.
    pub fn new() -> Result<Self, JsValue> {
        let window = web_sys::window().ok_or("The approval cards need a window: draw them in a page, not a worker.")?;
        let document = window.document().ok_or("The approval cards need a document.")?;
        let performance = window.performance().ok_or("The approval cards need performance.now().")?;
        let shared = Rc::new(Shared {
            window: window.clone(),
            document: document.clone(),
            performance,
            observer: OnceCell::new(),
            tick: OnceCell::new(),
            timer: Cell::new(None),
            active: Cell::new(f64::NEG_INFINITY),
            buttons: RefCell::new(Vec::new()),
        });

        let with = |act: fn(&Shared, Event)| {
            let shared = Rc::downgrade(&shared);
            move |event: Event| {
                if let Some(shared) = shared.upgrade() {
                    act(&shared, event);
                }
            }
        };
        let mut listeners = Vec::with_capacity(8);
        // In the capture phase on the window, ahead of what the page does with them.
        for kind in ["pointerdown", "pointerup", "pointercancel", "keydown", "keyup"] {
            listeners.push(Listener::new(&window, kind, true, with(Shared::input))?);
        }
        listeners.push(Listener::new(&window, "focus", false, with(|shared, _| shared.rearm()))?);
        listeners.push(Listener::new(&window, "blur", false, with(|shared, _| shared.look()))?);
        listeners.push(Listener::new(&document, "visibilitychange", false, with(|shared, _| shared.rearm()))?);

        let weak = Rc::downgrade(&shared);
        let seen = Closure::<dyn Fn(Array)>::new(move |entries: Array| {
            if let Some(shared) = weak.upgrade() {
                shared.seen(&entries);
            }
        });
        let options = IntersectionObserverInit::new();
        options.set_threshold_f64(IN_VIEW);
        let _ = shared.observer.set(IntersectionObserver::new_with_options(seen.as_ref().unchecked_ref(), &options)?);

        let weak = Rc::downgrade(&shared);
        let tick = Closure::<dyn Fn()>::new(move || {
            if let Some(shared) = weak.upgrade() {
                shared.timer.set(None);
                shared.look();
            }
        });
        let _ = shared.tick.set(tick.as_ref().unchecked_ref::<Function>().clone());

        Ok(Self { shared, _listeners: listeners, _seen: seen, _tick: tick })
    }

    /// Puts a button under guard; `decide` is called for clicks that count. The button carries `aria-disabled` while
    /// it is not armed.
    pub fn guard(&self, button: &HtmlElement, decide: impl Fn() + 'static) -> Result<Guarded, JsValue> {
        button.set_attribute("aria-disabled", "true")?;
        let watched = Rc::new(Watched {
            button: button.clone(),
            guard: RefCell::new(Guard::new(self.shared.active.get())),
            armed: Cell::new(false),
            decide: Box::new(decide),
        });
        let (weak, clicked) = (Rc::downgrade(&self.shared), Rc::downgrade(&watched));
        let click = Listener::new(button, "click", false, move |event| {
            if let (Some(shared), Some(watched)) = (weak.upgrade(), clicked.upgrade()) {
                shared.click(&watched, &event);
            }
        })?;
        self.shared.buttons.borrow_mut().push(watched.clone());
        if let Some(observer) = self.shared.observer.get() {
            observer.observe(button);
        }
        Ok(Guarded { shared: Rc::downgrade(&self.shared), watched, _click: click })
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if let Some(observer) = self.shared.observer.get() {
            observer.disconnect();
        }
        if let Some(timer) = self.shared.timer.take() {
            self.shared.window.clear_timeout_with_handle(timer);
        }
    }
}

impl Guarded {
    /// Starts the wait anew: what the person is asked has changed.
    pub fn rearm(&self) {
        if let Some(shared) = self.shared.upgrade() {
            let _ = self.watched.feed(shared.performance.now(), Input::Rearm);
            shared.schedule();
        }
    }
}

impl Drop for Guarded {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.buttons.borrow_mut().retain(|watched| !Rc::ptr_eq(watched, &self.watched));
            if let Some(observer) = shared.observer.get() {
                observer.unobserve(&self.watched.button);
            }
        }
    }
}

impl Watched {
    /// Feeds the guard and shows on the button whether it is armed.
    fn feed(&self, now: f64, input: Input) -> Verdict {
        let mut guard = self.guard.borrow_mut();
        let verdict = guard.handle(now, input);
        let armed = guard.is_armed();
        drop(guard);
        if self.armed.replace(armed) != armed {
            let _ = if armed {
                self.button.remove_attribute("aria-disabled")
            } else {
                self.button.set_attribute("aria-disabled", "true")
            };
        }
        verdict
    }

    fn look(&self, now: f64, attended: bool) {
        let place = self.button.get_bounding_client_rect();
        let _ = self.feed(now, Input::Attended(attended));
        let _ = self.feed(now, Input::Place([place.x(), place.y(), place.width(), place.height()]));
    }
}

impl Shared {
    /// A copy, so that nothing is borrowed while the buttons are worked on.
    fn buttons(&self) -> Vec<Rc<Watched>> {
        self.buttons.borrow().clone()
    }

    fn attended(&self) -> bool {
        !self.document.hidden() && self.document.has_focus().unwrap_or(false)
    }

    fn look(&self) {
        let (now, attended) = (self.performance.now(), self.attended());
        for watched in self.buttons() {
            watched.look(now, attended);
            let _ = watched.feed(now, Input::Tick);
        }
        self.schedule();
    }

    fn rearm(&self) {
        let now = self.performance.now();
        for watched in self.buttons() {
            let _ = watched.feed(now, Input::Rearm);
        }
        self.look();
    }

    /// Sets the timer for the next look: as soon as a button is due, at the latest after [`LOOK`]. A hidden page needs
    /// none: it looks when it becomes visible.
    fn schedule(&self) {
        if let Some(timer) = self.timer.take() {
            self.window.clear_timeout_with_handle(timer);
        }
        let buttons = self.buttons();
        let Some(tick) = self.tick.get() else { return };
        if buttons.is_empty() || self.document.hidden() {
            return;
        }
        let now = self.performance.now();
        let mut wait = LOOK;
        for due in buttons.iter().filter_map(|watched| watched.guard.borrow().due()) {
            wait = wait.min(due - now);
        }
        // Rounded up: a timer that runs a fraction early would find the button not due yet.
        let wait = wait.max(0.0).ceil() as i32;
        self.timer.set(self.window.set_timeout_with_callback_and_timeout_and_arguments_0(tick, wait).ok());
    }

    fn seen(&self, entries: &Array) {
        let (now, attended) = (self.performance.now(), self.attended());
        let buttons = self.buttons();
        for entry in entries.iter() {
            let entry: IntersectionObserverEntry = entry.unchecked_into();
            let target = entry.target();
            for watched in buttons.iter().filter(|watched| *watched.button == target) {
                watched.look(now, attended);
                let whole = entry.is_intersecting() && entry.intersection_ratio() >= IN_VIEW;
                let _ = watched.feed(now, Input::InView(whole));
            }
        }
        self.schedule();
    }

    /// A pointer or key event anywhere in the window.
    fn input(&self, event: Event) {
        if !event.is_trusted() {
            return;
        }
        let time = self.time(&event);
        self.active.set(self.active.get().max(time));
        let inner = event.composed_path().get(0);
        for watched in self.buttons() {
            let here = inner == *AsRef::<JsValue>::as_ref(&watched.button);
            let input = match here {
                true if is_press(&event) => Input::Pressed,
                true => Input::Held,
                false => Input::Elsewhere,
            };
            let _ = watched.feed(time, input);
        }
    }

    fn click(&self, watched: &Watched, event: &Event) {
        watched.look(self.performance.now(), self.attended());
        let mouse: &MouseEvent = event.unchecked_ref();
        let click = Input::Click { trusted: event.is_trusted(), detail: mouse.detail(), primary: mouse.button() == 0 };
        if watched.feed(self.time(event), click) == Verdict::Decide {
            (watched.decide)();
        }
        self.schedule();
    }

    /// When the event happened, which can be long before a busy page hears of it. Same clock as `performance.now()`.
    fn time(&self, event: &Event) -> f64 {
        event.time_stamp().min(self.performance.now())
    }
}

/// Whether the event presses a button it lands on: the primary button of a pointer, Enter or Space, and no repeat.
fn is_press(event: &Event) -> bool {
    match event.type_().as_str() {
        "pointerdown" => {
            let pointer: &PointerEvent = event.unchecked_ref();
            pointer.is_primary() && pointer.button() == 0
        }
        "keydown" => {
            let key: &KeyboardEvent = event.unchecked_ref();
            !key.repeat() && matches!(key.key().as_str(), "Enter" | " ")
        }
        _ => false,
    }
}
