//! What a card says of the call: who would run what, why it stopped, and every argument.

use super::entry::{joined, say};
use super::words::Words;
use crate::core::card::{CardView, Row};
use crate::web::element::Element;

/// What a card is called.
pub fn title(view: &CardView) -> &str {
    view.title.as_deref().unwrap_or(&view.tool)
}

/// Draws it into `head`; `number` makes the ids within the shadow root unique.
pub fn draw(head: &Element, view: &CardView, number: &str, words: &Words) {
    head.set_text("");
    head.add("div part=title dir=auto", title(view)).set("id", &joined("title-", number, ""));
    let tool = head.add("div part=tool", "");
    tool.add("span", &words.say("head.tool"));
    tool.add("code dir=auto", &view.tool);
    if let Some(server) = &view.server {
        tool.add("span", &words.say("head.server"));
        tool.add("code part=server dir=auto", server);
    }
    let why = words.why(&view.why);
    // A host's own reason may be in another language than the card.
    let recipe = if why == view.why { "div part=why dir=auto" } else { "div part=why" };
    head.add(recipe, &why).set("id", &joined("why-", number, ""));
    if view.arguments.is_empty() {
        head.add("div part=arguments class=none", &words.say("head.no_arguments"));
    } else {
        let list = head.add("dl part=arguments", "");
        for row in &view.arguments {
            draw_row(&list, row, words);
        }
    }
    if !view.preview.is_empty() {
        let list = head.add("ul part=preview", "");
        list.set("aria-label", &words.say("head.preview"));
        for line in &view.preview {
            // Not the item itself, whose marker would change sides.
            list.add("li", "").add("bdi", &words.preview(line));
        }
    }
}

/// Everything the head shows. No text holds the separator: the core writes a visible token for it.
pub fn texts(view: &CardView) -> String {
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

fn draw_row(list: &Element, row: &Row, words: &Words) {
    let name = list.add("dt dir=auto", "");
    say(&name, &row.path, &words.say("head.empty_name"));
    let value = list.add("dd", "");
    value.set("data-kind", row.kind);
    if !row.long {
        say(&value.add("span dir=auto", ""), &row.text, &words.say("head.empty_text"));
        return;
    }
    name.set("class", "long");
    // It scrolls, and a keyboard must get there.
    let block = value.add("div dir=auto tabindex=0 role=group", &row.text);
    block.set("aria-label", &row.path);
}
