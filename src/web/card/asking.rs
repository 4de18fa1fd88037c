//! What a person fills in, and the buttons, of a card that waits.

use super::words::Words;
use crate::core::approval::RequestKind;
use crate::core::card::CardView;
use crate::web::element::Element;
use crate::web::guard::Choice;

/// The buttons of a card that waits, from the one that refuses on.
pub const fn buttons(kind: &RequestKind) -> &'static [(&'static str, &'static str, Choice)] {
    const DECLINE: (&str, &str, Choice) = ("deny", "ask.decline", Choice::Decline);
    match kind {
        RequestKind::Approval => &[("deny", "ask.deny", Choice::Deny), ("approve", "ask.approve", Choice::Approve)],
        RequestKind::Recovery => &[
            ("deny", "ask.done", Choice::Deny),
            ("approve", "ask.again", Choice::Approve),
            ("stop", "ask.stop", Choice::Stop),
        ],
        RequestKind::Input | RequestKind::Question => &[DECLINE, ("approve", "ask.send", Choice::Submit)],
        RequestKind::Authorization => &[DECLINE, ("approve", "ask.finished", Choice::Done)],
        RequestKind::Other(_) => &[DECLINE],
    }
}

/// What a person fills in or follows before pressing a button; a click reads the element's value where it has one.
pub fn draw(asking: &Element, label: &Element, view: &CardView, words: &Words) -> Element {
    match (&view.kind, &view.form, &view.url) {
        (RequestKind::Approval | RequestKind::Recovery, ..) => {
            let field = asking.add("label part=note", "");
            field.insert(label, None);
            field.add("textarea rows=2 dir=auto autocomplete=off", "")
        }
        (RequestKind::Input | RequestKind::Question, fields, _) => {
            // Without fields there is nothing to send, and the button does nothing.
            let fields =
                fields.as_deref().map(|fields| words.form(fields)).unwrap_or_else(|| Element::new("input type=hidden"));
            asking.insert(&fields, None);
            fields
        }
        (RequestKind::Authorization, _, Some(url)) => {
            let place = asking.add("div part=authorization", "");
            place.add("code dir=ltr", url);
            // A URL with anything to hide has visible tokens in it, which are not ASCII.
            if url.starts_with("https://") && url.is_ascii() {
                let link = place.add("a part=link target=_blank", &words.say("ask.open"));
                link.set("rel", "noopener noreferrer");
                link.set("href", url);
            }
            place
        }
        _ => asking.add("p", &words.say("ask.no_fields")),
    }
}

/// The label of the note field.
pub const fn label_of(note_reaches_model: bool) -> &'static str {
    if note_reaches_model { "ask.note" } else { "ask.note_not_shown" }
}
