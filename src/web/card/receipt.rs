//! What stands in place of the buttons once a request is settled.

use super::words::Words;
use crate::core::card::Receipt;
use crate::web::element::Element;

/// Digits of the digest on a receipt.
const SHORT_DIGEST: usize = 12;

/// Draws it into `area`, ahead of the button that takes it out of sight.
pub fn draw(area: &Element, receipt: &Receipt, digest: &str, dismiss: &Element, words: &Words) {
    area.set_text("");
    area.set("data-mark", receipt.mark);
    area.add("strong", &words.say(receipt.decision));
    area.add("span", &words.say(receipt.outcome));
    let line = area.add("small", "");
    line.add("span", &words.say("receipt.digest"));
    line.add("code", digest.get(..SHORT_DIGEST).unwrap_or(digest)).set("title", digest);
    area.insert(dismiss, None);
}
