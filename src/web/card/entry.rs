//! One card in the page.

use std::cell::Cell;
use std::rc::Rc;

use super::strings;
use crate::core::approval::RequestKind;
use crate::core::card::{Card, CardView, Receipt, Row};
use crate::web::element::{Element, form};
use crate::web::guard::{Choice, Watch};

/// Digits of the digest on a receipt.
const SHORT_DIGEST: usize = 12;

/// A card's element and what it shows.
pub struct Entry {
    request: String,
    /// Makes the ids within the shadow root unique.
    number: String,
    watch: Rc<Watch>,
    group: Element,
    head: Element,
    foot: Element,
    /// The note and the buttons, which stand in the foot until there is a receipt.
    asking: Element,
    label: Element,
    note: Element,
    receipt: Element,
    dismiss: Element,
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
    pub fn new(number: u32, card: &Card, note_reaches_model: bool, watch: &Rc<Watch>) -> Self {
        let group = Element::new("div part=card role=group tabindex=-1");
        let head = group.add("div", "");
        let foot = group.add("div class=foot", "");
        let asking = Element::new("div class=asking");
        let label = Element::new("span");
        let note = draw_answer(&asking, &label, &card.view);
        let entry = Self {
            request: card.request.as_str().to_owned(),
            number: number.to_string(),
            watch: watch.clone(),
            group,
            head,
            foot,
            asking,
            label,
            note,
            receipt: Element::new("div part=receipt tabindex=-1"),
            dismiss: Element::new("button part=dismiss type=button"),
            is_pending: Cell::new(card.receipt.is_none()),
            note_reaches_model: Cell::new(note_reaches_model),
            shown_head: Cell::default(),
            shown_receipt: Cell::default(),
        };
        entry.group.set("aria-labelledby", &entry.id("title"));
        entry.group.set("aria-describedby", &entry.id("why"));
        entry.label.set_text(label_of(note_reaches_model));
        if entry.is_pending() {
            let actions = entry.asking.add("div part=actions", "");
            for (part, says, choice) in buttons(&card.view.kind).iter().copied() {
                let button = actions.add(&joined("button part=", part, " type=button"), says);
                watch.guard(button, &entry.request, choice, &entry.note);
            }
            entry.foot.insert(&entry.asking, None);
        }
        entry.update(card, note_reaches_model);
        entry
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
        let head = texts_of_head(&card.view);
        let shown = self.shown_head.take();
        if shown != head {
            self.draw_head(&card.view);
            self.watch.rearm(&self.note);
        }
        self.shown_head.set(head);
        if self.note_reaches_model.replace(note_reaches_model) != note_reaches_model {
            self.label.set_text(label_of(note_reaches_model));
        }
        let Some(receipt) = &card.receipt else { return };
        let texts = joined(receipt.mark, receipt.decision, receipt.outcome);
        let shown = self.shown_receipt.take();
        if shown.is_empty() {
            if self.is_pending.replace(false) {
                self.watch.release(&self.note);
                // The receipt keeps the height of what it replaces, so that nothing below it moves under a pointer.
                self.foot.set_style(&joined("min-block-size:", &self.foot.height().to_string(), "px"));
            }
            self.foot.insert(&self.receipt, None);
            self.dismiss.set_text(strings::DISMISS);
            self.watch.guard(self.dismiss.clone(), &self.request, Choice::Dismiss, &self.receipt);
        }
        if shown != texts {
            self.draw_receipt(receipt, &card.view.digest);
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

    fn draw_head(&self, view: &CardView) {
        let head = &self.head;
        head.set_text("");
        head.add("div part=title dir=auto", title(view)).set("id", &self.id("title"));
        let tool = head.add("div part=tool", "");
        tool.add("span", strings::TOOL);
        tool.add("code dir=auto", &view.tool);
        if let Some(server) = &view.server {
            tool.add("span", strings::SERVER);
            tool.add("code part=server dir=auto", server);
        }
        head.add("div part=why dir=auto", &view.why).set("id", &self.id("why"));
        if view.arguments.is_empty() {
            head.add("div part=arguments class=none", strings::NO_ARGUMENTS);
        } else {
            let list = head.add("dl part=arguments", "");
            for row in &view.arguments {
                draw_row(&list, row);
            }
        }
        if !view.preview.is_empty() {
            let list = head.add("ul part=preview", "");
            list.set("aria-label", strings::PREVIEW);
            for line in &view.preview {
                list.add("li dir=auto", line);
            }
        }
    }

    fn draw_receipt(&self, receipt: &Receipt, digest: &str) {
        let area = &self.receipt;
        area.set_text("");
        area.set("data-mark", receipt.mark);
        area.add("strong", receipt.decision);
        area.add("span", receipt.outcome);
        let line = area.add("small", "");
        line.add("span", strings::DIGEST);
        line.add("code", digest.get(..SHORT_DIGEST).unwrap_or(digest)).set("title", digest);
        area.insert(&self.dismiss, None);
    }
}

/// The buttons of a card that waits, from the one that refuses on.
const fn buttons(kind: &RequestKind) -> &'static [(&'static str, &'static str, Choice)] {
    const DECLINE: (&str, &str, Choice) = ("deny", strings::DECLINE, Choice::Decline);
    match kind {
        RequestKind::Approval => {
            &[("deny", strings::DENY, Choice::Deny), ("approve", strings::APPROVE, Choice::Approve)]
        }
        RequestKind::Recovery => &[
            ("deny", strings::DONE, Choice::Deny),
            ("approve", strings::AGAIN, Choice::Approve),
            ("stop", strings::STOP, Choice::Stop),
        ],
        RequestKind::Input | RequestKind::Question => &[DECLINE, ("approve", strings::SEND, Choice::Submit)],
        RequestKind::Authorization => &[DECLINE, ("approve", strings::FINISHED, Choice::Done)],
        RequestKind::Other(_) => &[DECLINE],
    }
}

/// What a person fills in or follows before pressing a button; a click reads the element's value where it has one.
fn draw_answer(asking: &Element, label: &Element, view: &CardView) -> Element {
    match (&view.kind, &view.form, &view.url) {
        (RequestKind::Approval | RequestKind::Recovery, ..) => {
            let field = asking.add("label part=note", "");
            field.insert(label, None);
            field.add("textarea maxlength=500 rows=2 dir=auto autocomplete=off", "")
        }
        (RequestKind::Input | RequestKind::Question, fields, _) => {
            // Without fields there is nothing to send, and the button does nothing.
            let fields = fields.as_deref().and_then(form).unwrap_or_else(|| Element::new("input type=hidden"));
            asking.insert(&fields, None);
            fields
        }
        (RequestKind::Authorization, _, Some(url)) => {
            let place = asking.add("div part=authorization", "");
            place.add("code dir=ltr", url);
            // A URL with anything to hide has visible tokens in it, which are not ASCII.
            if url.starts_with("https://") && url.is_ascii() {
                let link = place.add("a part=link target=_blank", strings::OPEN);
                link.set("rel", "noopener noreferrer");
                link.set("href", url);
            }
            place
        }
        _ => asking.add("p", strings::NO_FIELDS),
    }
}

/// What a card is called.
pub fn title(view: &CardView) -> &str {
    view.title.as_deref().unwrap_or(&view.tool)
}

/// Everything the head shows. No text holds the separator: the core writes a visible token for it.
fn texts_of_head(view: &CardView) -> String {
    let mut texts = String::new();
    let mut push = |text: &str| {
        texts.push_str(text);
        texts.push('\0');
    };
    push(title(view));
    push(&view.tool);
    push(view.server.as_deref().unwrap_or_default());
    push(&view.why);
    push(&view.digest);
    for row in &view.arguments {
        push(&row.path);
        push(row.kind);
        push(&row.text);
    }
    for line in &view.preview {
        push(line);
    }
    texts
}

fn joined(first: &str, second: &str, third: &str) -> String {
    let mut joined = first.to_owned();
    joined.push_str(second);
    joined.push_str(third);
    joined
}

fn draw_row(list: &Element, row: &Row) {
    let name = list.add("dt dir=auto", "");
    say(&name, &row.path, strings::EMPTY_NAME);
    let value = list.add("dd", "");
    value.set("data-kind", row.kind);
    if !row.long {
        say(&value.add("span dir=auto", ""), &row.text, strings::EMPTY_TEXT);
        return;
    }
    name.set("class", "long");
    // It scrolls, and a keyboard must get there.
    let block = value.add("div dir=auto tabindex=0 role=group", &row.text);
    block.set("aria-label", &row.path);
}

/// Shows a text of the call; where that is empty, words that are marked as not being it.
fn say(element: &Element, text: &str, if_empty: &str) {
    if text.is_empty() {
        element.add("em", if_empty);
    } else {
        element.set_text(text);
    }
}

fn label_of(note_reaches_model: bool) -> &'static str {
    if note_reaches_model { strings::NOTE } else { strings::NOTE_NOT_SHOWN }
}
