//! The closed reasons that may come with a denial. Choosing one decides nothing.

use super::words::Words;
use crate::core::outcome::DenyReason;
use crate::web::element::Element;

/// Adds the choice, with none chosen.
pub fn draw(asking: &Element, words: &Words) -> Element {
    let field = asking.add("label part=reason", "");
    field.add("span", &words.say("reason.label"));
    let choice = field.add("select autocomplete=off", "");
    choice.add("option", &words.say("reason.none")).set("value", "");
    for reason in DenyReason::ALL {
        let says = match reason {
            DenyReason::Variant => "reason.variant",
            DenyReason::Skip => "reason.skip",
        };
        choice.add("option", &words.say(says)).set("value", reason.token());
    }
    choice
}

/// What is chosen.
pub fn read(choice: &Element) -> Option<DenyReason> {
    DenyReason::from_token(&choice.value())
}
