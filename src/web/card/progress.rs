//! How a decision that was made here stands: it is being stored, or it was refused, which the card says.

use super::region::Voice;
use super::words::Words;
use crate::web::element::Element;

/// How a decision made by a click stands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Progress {
    /// It is being checked and stored.
    Storing,
    /// It is stored, and the card shows it.
    Stored,
    /// It changed nothing; the code of the error says why.
    Refused(String),
}

/// The line at the end of a card that says why a click changed nothing; nothing while it is empty. It stands below the
/// buttons, so that its coming moves none of them. The page's one region says it too: a second one would be read beside it.
pub fn show(line: &Element, group: &Element, voice: &Voice, text: &str) {
    if text.is_empty() {
        line.remove();
    } else {
        line.set_text(text);
        group.insert(line, None);
        voice.say(text);
    }
}

/// What the line says of a refusal.
pub fn text(code: &str, words: &Words) -> String {
    let key = match code {
        "changed" => "refused.changed",
        "not_allowed" => "refused.not_allowed",
        "conflict" => "refused.conflict",
        "expired" => "refused.expired",
        "invalid_answer" => "refused.values",
        "deleted" => "refused.deleted",
        "storage" => "refused.storage",
        "grant_failed" => "refused.grant_failed",
        "not_grantable" => "refused.not_grantable",
        _ => "refused.other",
    };
    words.fill(key, |values| values.text("code", code))
}
