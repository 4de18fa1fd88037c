//! The input guard: which click on a decision button a person can have meant.
//!
//! One [`Guard`] watches one button. The shell feeds it what it sees, with the time of each; the guard says whether the
//! button is armed and whether a click decides. A click decides only if
//!
//! 1. it is trusted, of the primary button, and not the second of a double click;
//! 2. the button is armed: for [`ARMING`] nothing withheld it, and it stood fully in view, uncovered, unmoved, in a page
//!    that had the focus;
//! 3. a press on this same button came after arming, and nothing was pressed or released elsewhere since; or nothing
//!    at all was pressed in the window for [`QUIET`], as when assistive technology clicks.
//!
//! Rule 3 is what stops a held Enter: every repeat is a trusted click on whatever has the focus by then.
//!
//! **Architecture invariant.** Times are arguments, in milliseconds on one monotonic clock. They may arrive out of
//! order: an input event carries the time at which the hardware saw it, which can be earlier than a timer that ran
//! before it. Untrusted input events must not be fed at all, but clicks, which say themselves whether they are.

use std::mem;

/// How long a button must have been in view and at rest before it takes a click, in milliseconds.
pub const ARMING: f64 = 500.0;
/// The longest a series of early clicks can put arming off, counted from when the button came to rest.
pub const LONGEST_ARMING: f64 = 2_000.0;
/// How long nothing may have been pressed in the window before a click without a press, in milliseconds.
pub const QUIET: f64 = 1_000.0;
/// How far an edge of the button may stray without counting as moved, in CSS pixels: layout rounds.
const TREMOR: f64 = 1.0;

/// Where a button stands: left, top, width and height in the viewport, in CSS pixels.
pub type Place = [f64; 4];

/// What the shell saw.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Input {
    /// Start over: the card was shown or its content changed, the tab became visible, or the window gained the focus.
    Rearm,
    /// Whether the button is fully in view.
    InView(bool),
    /// Whether something lies over the button, or makes it look other than it is, as far as the shell can see.
    Covered(bool),
    /// Whether anything keeps it off, such as arguments that are still folded. Said again it starts over, too: what is
    /// asked may be another thing.
    Withheld(bool),
    /// Whether the document is visible and has the focus.
    Attended(bool),
    /// Where the button stands now.
    Place(Place),
    /// Time has passed. A button becomes armed only here, so that what it shows and what holds are the same.
    Tick,
    /// A pointer or a key (no repeat) went down on this button.
    Pressed,
    /// A key repeats on this button, or a pointer or a key goes up on it.
    Held,
    /// A pointer or a key went down or up anywhere else in the window. Of what happens in a closed shadow tree a window
    /// hears as of something else: [`Input::Pressed`] or [`Input::Held`] at the same time takes this back.
    Elsewhere,
    /// A click on this button.
    Click {
        /// The event's `isTrusted`.
        trusted: bool,
        /// The event's `detail`: 0 from a keyboard, 1 for a single click, 2 for a double click.
        detail: i32,
        /// Whether it is the primary button's.
        primary: bool,
    },
}

/// What becomes of an input.
#[must_use = "a click decides only if the guard says so"]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// Nothing.
    Ignore,
    /// The click is refused, and the person is to learn of it: it was meant, or may have been, and came while the button took
    /// none. Once for each press, however often a held key clicks.
    Refuse,
    /// The click is a decision. The guard has started over: another one takes another wait and another press.
    Decide,
}

/// The state of one button.
#[derive(Clone, Debug)]
pub struct Guard {
    state: State,
    in_view: bool,
    covered: bool,
    withheld: bool,
    attended: bool,
    place: Option<Place>,
    pressed: Option<f64>,
    /// When, since it was pressed, something else was for the first time.
    strayed: Option<f64>,
    /// When anything was last pressed, held or released in the window.
    active: f64,
    /// Whether the press was answered: it decided, or its refusal was said.
    answered: bool,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Off,
    Arming { since: f64, due: f64 },
    Armed { at: f64 },
}

impl Guard {
    /// A button that nobody has seen yet, and that counts as covered until the shell says otherwise. `active` is when
    /// anything was last pressed in the window, as far as that is known: else since when it has been watched.
    pub const fn new(active: f64) -> Self {
        Self {
            state: State::Off,
            in_view: false,
            covered: true,
            withheld: false,
            attended: false,
            place: None,
            pressed: None,
            strayed: None,
            active,
            answered: false,
        }
    }

    /// Takes what was seen at `now`.
    pub fn handle(&mut self, now: f64, input: Input) -> Verdict {
        match input {
            Input::Rearm => self.restart(now),
            Input::InView(in_view) => {
                if mem::replace(&mut self.in_view, in_view) != in_view {
                    self.restart(now);
                }
            }
            Input::Covered(covered) => {
                if mem::replace(&mut self.covered, covered) != covered {
                    self.restart(now);
                }
            }
            Input::Withheld(withheld) => {
                self.withheld = withheld;
                self.restart(now);
            }
            Input::Attended(attended) => {
                if mem::replace(&mut self.attended, attended) != attended {
                    self.restart(now);
                }
            }
            Input::Place(place) => {
                // Held against where it stood when arming began, so that creeping adds up.
                if !self.place.is_some_and(|rest| rest.iter().zip(place).all(|(a, b)| (a - b).abs() <= TREMOR)) {
                    self.place = Some(place);
                    self.restart(now);
                }
            }
            Input::Tick => {
                if let State::Arming { due, .. } = self.state
                    && now >= due
                {
                    self.state = State::Armed { at: now };
                }
            }
            Input::Pressed => {
                self.active = self.active.max(now);
                self.pressed = Some(now);
                self.strayed = None;
                self.answered = false;
            }
            Input::Held => {
                self.active = self.active.max(now);
                self.strayed = self.strayed.filter(|strayed| *strayed != now);
            }
            Input::Elsewhere => {
                self.active = self.active.max(now);
                self.strayed.get_or_insert(now);
            }
            Input::Click { trusted, detail, primary } => {
                if trusted {
                    return self.click(now, detail <= 1 && primary);
                }
            }
        }
        Verdict::Ignore
    }

    /// Whether the button takes a click.
    pub const fn is_armed(&self) -> bool {
        matches!(self.state, State::Armed { .. })
    }

    /// Whether it would stand in view, but for what covers it.
    pub const fn is_covered(&self) -> bool {
        self.in_view && self.covered
    }

    /// When a [`Input::Tick`] would arm it; `None` while it is armed or cannot be.
    pub const fn due(&self) -> Option<f64> {
        match self.state {
            State::Arming { due, .. } => Some(due),
            State::Off | State::Armed { .. } => None,
        }
    }

    fn restart(&mut self, now: f64) {
        let is_shown = self.in_view && !self.covered && self.attended && self.place.is_some();
        self.state =
            if is_shown && !self.withheld { State::Arming { since: now, due: now + ARMING } } else { State::Off };
    }

    fn click(&mut self, now: f64, single: bool) -> Verdict {
        let is_quiet = now - self.active > QUIET;
        let pressed = self.pressed.filter(|_| self.strayed.is_none());
        match &mut self.state {
            State::Armed { at }
                if single && now >= *at && (is_quiet || pressed.is_some_and(|pressed| pressed >= *at)) =>
            {
                self.answered = true;
                self.restart(now);
                return Verdict::Decide;
            }
            // Somebody who clicks too early has not read; the cap keeps a nervous hand from being locked out.
            State::Arming { since, due } => *due = due.max((now + ARMING).min(*since + LONGEST_ARMING)),
            State::Off | State::Armed { .. } => {}
        }
        let is_told = self.withheld || mem::replace(&mut self.answered, true) && !is_quiet;
        if single && !is_told && (is_quiet || pressed.is_some()) { Verdict::Refuse } else { Verdict::Ignore }
    }
}
