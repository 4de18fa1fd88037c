//! One card in the page.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::*;
use web_sys::{Document, Element, HtmlElement, HtmlTextAreaElement};

use super::node::{child, element, text};
use super::{Decided, strings};
use crate::core::card::{Card, CardView, Receipt, Row};
use crate::web::guard::{Guarded, Watch};

/// Digits of the digest on a receipt.
const SHORT_DIGEST: usize = 12;

/// A card's element and what it shows.
pub struct Entry {
    document: Document,
    group: HtmlElement,
    head: HtmlElement,
    foot: HtmlElement,
    /// Makes the ids within the shadow root unique.
    number: String,
    shown: RefCell<Card>,
    asking: RefCell<Option<Asking>>,
    receipt: RefCell<Option<HtmlElement>>,
}

/// The note and the buttons, which go when this is dropped.
pub struct Asking {
    area: HtmlElement,
    label: HtmlElement,
    note_reaches_model: Cell<bool>,
    deny: Guarded,
    approve: Guarded,
}

impl Drop for Asking {
    fn drop(&mut self) {
        self.area.remove();
    }
}

impl Entry {
    /// A card that stands nowhere yet.
    pub fn new(
        document: &Document,
        number: u32,
        card: &Card,
        note_reaches_model: bool,
        watch: &Watch,
        decide: &Rc<dyn Fn(Decided)>,
    ) -> Result<Self, JsValue> {
        let group = element(document, "div", "card")?;
        group.set_attribute("role", "group")?;
        group.set_attribute("tabindex", "-1")?;
        let head = child(document, &group, "div", "")?;
        let foot = child(document, &group, "div", "")?;
        foot.set_class_name("foot");
        let entry = Self {
            document: document.clone(),
            group,
            head,
            foot,
            number: number.to_string(),
            shown: RefCell::new(card.clone()),
            asking: RefCell::new(None),
            receipt: RefCell::new(None),
        };
        entry.name("aria-labelledby", "title")?;
        entry.name("aria-describedby", "why")?;
        entry.draw_head(&card.view)?;
        match &card.receipt {
            None => entry.ask(card, note_reaches_model, watch, decide)?,
            Some(receipt) => entry.draw_receipt(receipt, &card.view.digest)?,
        }
        Ok(entry)
    }

    /// The card's element.
    pub fn group(&self) -> &HtmlElement {
        &self.group
    }

    /// The request it asks about.
    pub fn is_for(&self, card: &Card) -> bool {
        self.shown.borrow().request == card.request
    }

    /// Whether it shows buttons.
    pub fn is_pending(&self) -> bool {
        self.asking.borrow().is_some()
    }

    /// Whether the element is in the card.
    pub fn contains(&self, element: &Element) -> bool {
        self.group.contains(Some(element))
    }

    /// The receipt's element, once there is one.
    pub fn receipt(&self) -> Option<HtmlElement> {
        self.receipt.borrow().clone()
    }

    /// Shows the card as it is now and touches nothing that stayed the same. Once it is settled, the note and the
    /// buttons are handed out, still in place: the caller moves the focus before it drops them.
    pub fn update(&self, card: &Card, note_reaches_model: bool) -> Result<Option<Asking>, JsValue> {
        let shown = self.shown.replace(card.clone());
        if shown.view != card.view {
            self.draw_head(&card.view)?;
        }
        if let Some(asking) = &*self.asking.borrow() {
            if shown.view != card.view {
                asking.deny.rearm();
                asking.approve.rearm();
            }
            if asking.note_reaches_model.replace(note_reaches_model) != note_reaches_model {
                asking.label.set_text_content(Some(label(note_reaches_model)));
            }
        }
        let Some(receipt) = &card.receipt else { return Ok(None) };
        let leaving = self.asking.take();
        if leaving.is_some() {
            // The receipt keeps the height of what it replaces, so that nothing below it moves under a pointer.
            let mut height = self.foot.offset_height().to_string();
            height.push_str("px");
            self.foot.style().set_property("min-block-size", &height)?;
        }
        if shown.receipt.as_ref() != Some(receipt) {
            self.draw_receipt(receipt, &card.view.digest)?;
        }
        Ok(leaving)
    }

    fn name(&self, attribute: &str, part: &str) -> Result<(), JsValue> {
        self.group.set_attribute(attribute, &self.id(part))
    }

    fn id(&self, part: &str) -> String {
        let mut id = String::from(part);
        id.push('-');
        id.push_str(&self.number);
        id
    }

    fn draw_head(&self, view: &CardView) -> Result<(), JsValue> {
        let (document, head) = (&self.document, &self.head);
        head.set_text_content(None);
        let title = text(document, head, "div", "title", view.title.as_deref().unwrap_or(&view.tool))?;
        title.set_id(&self.id("title"));
        title.set_dir("auto");
        let tool = child(document, head, "div", "tool")?;
        text(document, &tool, "span", "", strings::TOOL)?;
        let name = text(document, &tool, "code", "", &view.tool)?;
        name.set_dir("auto");
        let why = text(document, head, "div", "why", &view.why)?;
        why.set_id(&self.id("why"));
        why.set_dir("auto");
        if view.arguments.is_empty() {
            text(document, head, "div", "arguments", strings::NO_ARGUMENTS)?.set_class_name("none");
            return Ok(());
        }
        let list = child(document, head, "dl", "arguments")?;
        for row in &view.arguments {
            self.draw_row(&list, row)?;
        }
        Ok(())
    }

    fn draw_row(&self, list: &HtmlElement, row: &Row) -> Result<(), JsValue> {
        let document = &self.document;
        let name = said(document, list, "dt", &row.path, strings::EMPTY_NAME)?;
        let value = child(document, list, "dd", "")?;
        value.set_attribute("data-kind", row.kind)?;
        let value = said(document, &value, if row.long { "div" } else { "span" }, &row.text, strings::EMPTY_TEXT)?;
        if row.long {
            name.set_class_name("long");
            // It scrolls, and a keyboard must get there.
            value.set_attribute("tabindex", "0")?;
            value.set_attribute("role", "group")?;
            value.set_attribute("aria-label", &row.path)?;
        }
        Ok(())
    }

    fn ask(
        &self,
        card: &Card,
        note_reaches_model: bool,
        watch: &Watch,
        decide: &Rc<dyn Fn(Decided)>,
    ) -> Result<(), JsValue> {
        let document = &self.document;
        let area = child(document, &self.foot, "div", "")?;
        area.set_class_name("asking");
        let field = child(document, &area, "label", "note")?;
        let label = text(document, &field, "span", "", label(note_reaches_model))?;
        let note: HtmlTextAreaElement = child(document, &field, "textarea", "")?.unchecked_into();
        note.set_max_length(500);
        note.set_rows(2);
        note.set_dir("auto");
        note.set_attribute("autocomplete", "off")?;

        let actions = child(document, &area, "div", "actions")?;
        let button = |part: &str, says: &str, approve: bool| {
            let button = text(document, &actions, "button", part, says)?;
            button.set_attribute("type", "button")?;
            let (request, note, decide) = (card.request.as_str().to_owned(), note.clone(), decide.clone());
            watch.guard(&button, move || {
                let note = Some(note.value()).filter(|note| !note.trim().is_empty());
                decide(Decided { request: request.clone(), approve, note });
            })
        };
        let deny = button("deny", strings::DENY, false)?;
        let approve = button("approve", strings::APPROVE, true)?;
        let note_reaches_model = Cell::new(note_reaches_model);
        self.asking.replace(Some(Asking { area, label, note_reaches_model, deny, approve }));
        Ok(())
    }

    fn draw_receipt(&self, receipt: &Receipt, digest: &str) -> Result<(), JsValue> {
        let document = &self.document;
        let standing = self.receipt();
        let area = match standing {
            Some(area) => {
                area.set_text_content(None);
                area
            }
            None => {
                let area = child(document, &self.foot, "div", "receipt")?;
                area.set_attribute("tabindex", "-1")?;
                self.receipt.replace(Some(area.clone()));
                area
            }
        };
        area.set_attribute("data-mark", receipt.mark)?;
        text(document, &area, "strong", "", receipt.decision)?;
        text(document, &area, "span", "", receipt.outcome)?;
        let line = child(document, &area, "small", "")?;
        text(document, &line, "span", "", strings::DIGEST)?;
        let code = text(document, &line, "code", "", digest.get(..SHORT_DIGEST).unwrap_or(digest))?;
        code.set_title(digest);
        Ok(())
    }
}

fn label(note_reaches_model: bool) -> &'static str {
    if note_reaches_model { strings::NOTE } else { strings::NOTE_NOT_SHOWN }
}

/// An element with a text of the call; where that is empty, with words that are marked as not being it.
fn said(
    document: &Document,
    parent: &HtmlElement,
    tag: &str,
    says: &str,
    if_empty: &str,
) -> Result<HtmlElement, JsValue> {
    let said = if says.is_empty() {
        let said = child(document, parent, tag, "")?;
        text(document, &said, "em", "", if_empty)?;
        said
    } else {
        text(document, parent, tag, "", says)?
    };
    said.set_dir("auto");
    Ok(said)
}
