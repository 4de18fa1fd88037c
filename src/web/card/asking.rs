//! What a person fills in, and the buttons, of a card that waits.

use super::strings;
use crate::core::approval::RequestKind;
use crate::core::card::CardView;
use crate::web::element::{Element, form};
use crate::web::guard::Choice;

/// The buttons of a card that waits, from the one that refuses on.
pub const fn buttons(kind: &RequestKind) -> &'static [(&'static str, &'static str, Choice)] {
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
pub fn draw(asking: &Element, label: &Element, view: &CardView) -> Element {
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

/// The label of the note field.
pub const fn label_of(note_reaches_model: bool) -> &'static str {
    if note_reaches_model { strings::NOTE } else { strings::NOTE_NOT_SHOWN }
}
