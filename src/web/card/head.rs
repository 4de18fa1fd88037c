//! What a card says of the call, in an order that is the same on every card: who asks, whose tool it is and which, why it
//! stopped, every argument, what is known of the tool, and what a decision covers.

use super::arguments::Arguments;
use super::edit;
use super::entry::joined;
use super::words::Words;
use crate::core::approval::RequestKind;
use crate::core::card::{Asker, CardView, Hint};
use crate::web::element::Element;

/// What a card is called. Only a tool of the page has a title that its host gave it.
pub fn title(view: &CardView) -> &str {
    view.title.as_deref().filter(|_| view.server.is_none()).unwrap_or(&view.tool)
}

/// Draws it into `head`; `number` makes the ids within the shadow root unique. `folded` is told whether anything of the
/// arguments is out of sight.
pub fn draw(
    head: &Element,
    view: &CardView,
    number: &str,
    words: &Words,
    folded: Box<dyn Fn(bool)>,
) -> Option<Arguments> {
    head.set_text("");
    let asker = head.add("div part=asker", "");
    let (before, after) = words.around(asks(view), "server");
    asker.add("span", &before);
    if let Some(server) = &view.server {
        asker.add("code part=server dir=auto", server);
        asker.add("span", &after);
    }
    head.add("div part=title dir=auto", title(view)).set("id", &joined("title-", number, ""));
    let tool = head.add("div part=tool", "");
    tool.add("span", &words.say("head.tool"));
    tool.add("code dir=auto", &view.tool);
    if let (Some(_), Some(title)) = (&view.server, &view.title) {
        let says = words.fill("head.calls_itself", |values| values.text("title", title));
        tool.add("span dir=auto", &says);
    }
    let why = words.why(&view.why);
    // A host's own reason may be in another language than the card.
    let recipe = if why == view.why { "div part=why dir=auto" } else { "div part=why" };
    head.add(recipe, &why).set("id", &joined("why-", number, ""));
    let area = head.add("div part=arguments", "");
    let arguments = if view.arguments.is_empty() {
        area.set("class", "none");
        area.set_text(&words.say("head.no_arguments"));
        folded(false);
        None
    } else {
        Some(Arguments::new(&area, &view.arguments, words, folded))
    };
    edit::draw_changes(head, &view.changes, words);
    if !view.preview.is_empty() {
        let heading = joined("preview-", number, "");
        head.add("div class=heading", &words.say("head.preview")).set("id", &heading);
        let list = head.add("ul part=preview", "");
        list.set("aria-labelledby", &heading);
        for line in &view.preview {
            // Not the item itself, whose marker would change sides.
            list.add("li", "").add("bdi", &words.preview(line));
        }
    }
    if !view.hints.is_empty() {
        let list = head.add("ul part=hints", "");
        list.set("aria-label", &words.say("head.hints"));
        list.set("id", &joined("hints-", number, ""));
        for hint in &view.hints {
            let (sign, says) = hint_of(*hint);
            let item = list.add("li", "");
            item.add("span aria-hidden=true", sign);
            item.add("span", &words.say(says));
        }
    }
    let scope = match view.kind {
        RequestKind::Approval => Some("head.once"),
        RequestKind::Recovery => Some("head.once_more"),
        _ => None,
    };
    if let Some(scope) = scope {
        head.add("div part=scope", &words.say(scope));
    }
    arguments
}

const fn asks(view: &CardView) -> &'static str {
    match view.asker {
        Asker::Assistant if view.server.is_some() => "head.asker.provider",
        Asker::Assistant => "head.asker.assistant",
        Asker::Tool => "head.asker.tool",
        Asker::Page => "head.asker.page",
    }
}

/// A sign to find it by, and the words that say it.
const fn hint_of(hint: Hint) -> (&'static str, &'static str) {
    match hint {
        Hint::Reads => ("◎", "hint.reads"),
        Hint::Writes => ("✎", "hint.writes"),
        Hint::MayWrite => ("?", "hint.may_write"),
        Hint::Destructive => ("⚠", "hint.destructive"),
        Hint::Idempotent => ("=", "hint.idempotent"),
        Hint::Repeats => ("↻", "hint.repeats"),
        Hint::OpenWorld => ("⇄", "hint.open_world"),
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
    push(view.asker.token());
    push(&view.digest);
    for row in &view.arguments {
        push(&row.path);
        push(row.kind);
        push(&row.text);
        for piece in &row.changes {
            push(piece.change.token());
            push(&piece.text);
        }
    }
    for hint in &view.hints {
        push(hint.token());
    }
    for line in &view.preview {
        push(line);
    }
    texts
}
