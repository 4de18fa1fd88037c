//! Cards that wait in a dialog above the page, where the host wants that. What is settled stands in the page.
//!
//! The browser's own dialog: the page behind it is inert, Tab stays inside, and Escape closes it, which decides nothing.

use std::cell::Cell;
use std::rc::Rc;

use wasm_bindgen::prelude::*;

use super::around::Around;
use super::region::Voice;
use super::words::Words;
use crate::web::element::Element;

#[wasm_bindgen]
extern "C" {
    #[wasm_bindgen(method, js_name = showModal, catch)]
    fn show_modal(this: &Element) -> Result<(), JsValue>;
    #[wasm_bindgen(method)]
    fn close(this: &Element);
    #[wasm_bindgen(method, getter)]
    fn open(this: &Element) -> Option<bool>;
    #[wasm_bindgen(method, setter)]
    fn set_onclose(this: &Element, hear: &JsValue);
}

/// The dialog of one list.
pub struct Modal {
    inner: Rc<Inner>,
    /// Called when the dialog was closed, and when it is to open again; held for that.
    _hear: [Closure<dyn Fn()>; 2],
}

struct Inner {
    frame: Element,
    /// Opens the dialog again; stands in the page.
    reopen: Element,
    voice: Rc<Voice>,
    around: Around,
    words: Words,
    waiting: Cell<usize>,
    /// What gets the focus when it opens, the button that denies the first card, and what describes that card.
    first: std::cell::RefCell<Option<(Element, String)>>,
}

impl Modal {
    /// The frame that all cards stand in: a dialog, or no more than a box where the host wants none.
    pub fn frame(root: &Element, around: &Around) -> Element {
        root.add(if around.modal() { "dialog part=dialog role=none" } else { "div" }, "")
    }

    /// Makes a dialog of `frame`; `None` where the host wants none.
    pub fn new(root: &Element, frame: &Element, voice: &Rc<Voice>, around: &Around, words: &Words) -> Option<Self> {
        if !around.modal() {
            return None;
        }
        let inner = Rc::new(Inner {
            frame: frame.clone(),
            reopen: root.add("button part=reopen type=button aria-haspopup=dialog hidden=", ""),
            voice: voice.clone(),
            around: around.clone(),
            words: words.clone(),
            waiting: Cell::new(0),
            first: std::cell::RefCell::default(),
        });
        let (closes, opens) = (inner.clone(), inner.clone());
        let closed = Closure::<dyn Fn()>::new(move || closes.closed());
        let open = Closure::<dyn Fn()>::new(move || opens.open());
        inner.frame.set_onclose(closed.as_ref());
        inner.reopen.set_onclick(open.as_ref());
        Some(Self { inner, _hear: [closed, open] })
    }

    /// Takes in how many wait, and the first of them: its button that denies and what describes it. The dialog opens when
    /// another arrives, and closes when none waits.
    pub fn update(&self, waiting: usize, first: Option<(Element, String)>, arrived: bool) {
        let inner = &self.inner;
        inner.waiting.set(waiting);
        inner.reopen.set_text(&inner.title());
        inner.first.replace(first);
        if waiting == 0 {
            inner.frame.close();
            inner.rest();
        } else if arrived {
            inner.open();
        } else {
            inner.rest();
        }
    }

    /// Whether it stands above the page now.
    pub fn is_open(&self) -> bool {
        self.inner.is_open()
    }
}

impl Drop for Modal {
    fn drop(&mut self) {
        self.inner.frame.set_onclose(&JsValue::NULL);
        self.inner.frame.close();
        self.inner.voice.speak_in(None);
        self.inner.reopen.remove();
    }
}

impl Inner {
    fn is_open(&self) -> bool {
        self.frame.open() == Some(true)
    }

    fn open(&self) {
        if self.is_open() || self.frame.show_modal().is_err() {
            return;
        }
        self.frame.set("role", "alertdialog");
        self.frame.set("aria-modal", "true");
        self.rest();
        // What stands outside of it is not read.
        self.voice.speak_in(Some(&self.frame));
        let first = self.first.borrow().clone();
        if let Some((deny, _)) = first {
            deny.focus();
        }
    }

    /// Shows the way back to it while it is closed and something waits.
    fn rest(&self) {
        let is_open = self.is_open();
        if is_open || self.waiting.get() == 0 {
            self.reopen.set("hidden", "");
        } else {
            self.reopen.unset("hidden");
        }
        if is_open {
            self.frame.set("aria-label", &self.title());
            if let Some((_, described)) = &*self.first.borrow() {
                self.frame.set("aria-describedby", described);
            }
        } else {
            // With a name it would still count as a dialog.
            self.frame.unset("aria-label");
            self.frame.unset("aria-describedby");
            self.frame.set("role", "none");
            self.frame.unset("aria-modal");
            self.voice.speak_in(None);
        }
    }

    fn title(&self) -> String {
        self.words.fill("modal.title", |values| values.number("count", self.waiting.get() as u64))
    }

    /// It was closed by the person, who goes on writing; or since nothing waits any more.
    fn closed(&self) {
        self.rest();
        if self.waiting.get() > 0 && !self.is_open() {
            let _ = self.around.leave();
        }
    }
}
