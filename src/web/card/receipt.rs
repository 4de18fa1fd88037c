//! What stands in place of the buttons once a request is settled.

use super::deadline::time;
use super::words::Words;
use crate::core::card::Receipt;
use crate::web::element::Element;

/// Digits of the digest on a receipt.
const SHORT_DIGEST: usize = 12;

/// What to say of a receipt that changed: what came of a call that was allowed, or why nothing did.
pub fn worth_saying(receipt: &Receipt) -> Option<&'static str> {
    match receipt.outcome {
        key @ ("outcome.ran" | "outcome.failed" | "outcome.unknown" | "outcome.stopped_there") => Some(key),
        "outcome.nothing" => Some(receipt.decision),
        _ if receipt.decision.starts_with("lapsed.") => Some(receipt.decision),
        _ => None,
    }
}

/// Draws it into `area`, ahead of the button that takes it out of sight.
pub fn draw(area: &Element, receipt: &Receipt, digest: &str, dismiss: &Element, words: &Words) {
    area.set_text("");
    area.set("data-mark", receipt.mark);
    area.set("data-outcome", receipt.outcome);
    area.add("strong", &words.say(receipt.decision));
    area.add("span", &words.say(receipt.outcome));
    if let Some(reason) = receipt.reason {
        area.add("div", "").add("q", &words.say(reason));
    }
    if let Some(note) = &receipt.note {
        area.add("div", "").add("q dir=auto", note);
    }
    let line = area.add("small", "");
    if let Some(scope) = receipt.scope {
        line.add("span", &words.say(scope));
        if scope != "receipt.once" {
            let until = receipt.until.map(|until| words.fill("grants.until", |values| time(values, until)));
            line.add("span part=until", &until.unwrap_or_else(|| words.say("grants.no_end")));
        }
    }
    if let Some(at) = receipt.at {
        line.add("span part=when", &words.fill("receipt.at", |values| time(values, at)));
    }
    line.add("span", &words.say("receipt.digest"));
    line.add("code", digest.get(..SHORT_DIGEST).unwrap_or(digest)).set("title", digest);
    area.insert(dismiss, None);
}
