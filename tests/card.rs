//! The approval cards in a browser: what they show, what they keep, and what does not decide. Real input is tried in
//! the end-to-end tests: nothing in here can make a trusted click.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use std::cell::RefCell;
use std::rc::Rc;

use countersign::core::approval::RequestKind;
use countersign::core::card::{Asker, Card, CardView, Hint, Receipt, Row};
use countersign::core::message::RequestId;
use countersign::web::card::{Around, CardList, Decided, Words};
use js_sys::Promise;
use wasm_bindgen::JsCast;
use wasm_bindgen::prelude::wasm_bindgen;
use wasm_bindgen_futures::JsFuture;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};
use web_sys::{
    Document, Element, HtmlElement, HtmlTextAreaElement, MouseEvent, MouseEventInit, ShadowRoot, ShadowRootInit,
    ShadowRootMode,
};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(inline_js = r#"
/** The messages without what www/src/words.ts makes of them: plural forms by the English rule, lists by commas. */
export function english(text) {
    const strings = JSON.parse(text);
    return {
        locale: "en",
        direction: "ltr",
        say(key, values) {
            const given = JSON.parse(values ?? "{}");
            const phrase = strings[key][given.count === 1 ? "one" : "other"] ?? strings[key];
            const write = (value) => (value?.at > 0 ? new Date(value.at).toISOString() : String(value).replaceAll(",", ", "));
            return phrase.replaceAll(/\{(\w+)\}/g, (_, name) => write(given[name]));
        },
        sayAgain: (_, sentence) => sentence,
        form: () => document.createElement("input"),
    };
}
/** An element with no attribute, on a page without a composer. */
export const around = () => ({ leave: () => false, shortcuts: false, modal: false });
"#)]
extern "C" {
    fn english(text: &str) -> Words;
    fn around() -> Around;
}

/// A list in a page, gone at the end of the test.
struct Stage {
    host: HtmlElement,
    root: ShadowRoot,
    list: Option<CardList>,
    decided: Rc<RefCell<Vec<Decided>>>,
}

impl Drop for Stage {
    fn drop(&mut self) {
        self.list.take();
        self.host.remove();
    }
}

fn document() -> Document {
    web_sys::window().unwrap().document().unwrap()
}

impl Stage {
    fn new() -> Self {
        let host: HtmlElement = document().create_element("div").unwrap().unchecked_into();
        document().body().unwrap().prepend_with_node_1(&host).unwrap();
        let root = host.attach_shadow(&ShadowRootInit::new(ShadowRootMode::Open)).unwrap();
        let decided: Rc<RefCell<Vec<Decided>>> = Rc::default();
        let heard = decided.clone();
        let heard = Rc::new(move |decision| heard.borrow_mut().push(decision));
        let list =
            CardList::new(&root, heard, english(include_str!("../www/src/locales/en.json")), around(), None).unwrap();
        Self { host, root, list: Some(list), decided }
    }

    fn update(&self, cards: &[Card]) {
        self.list.as_ref().unwrap().update(cards, None, true);
    }

    fn all(&self, selector: &str) -> Vec<HtmlElement> {
        let found = self.root.query_selector_all(selector).unwrap();
        (0..found.length()).map(|place| found.get(place).unwrap().unchecked_into()).collect()
    }

    fn one(&self, selector: &str) -> HtmlElement {
        let mut found = self.all(selector);
        assert_eq!(found.len(), 1, "{selector}");
        found.remove(0)
    }

    fn text(&self, selector: &str) -> String {
        text(&self.one(selector))
    }

    fn note(&self, card: usize) -> HtmlTextAreaElement {
        self.all("textarea")[card].clone().unchecked_into()
    }

    fn focused(&self) -> Option<String> {
        self.root.active_element().map(|element| element.get_attribute("part").unwrap_or(element.tag_name()))
    }
}

fn text(element: &Element) -> String {
    element.text_content().unwrap()
}

fn row(path: &str, kind: &'static str, text: &str, long: bool) -> Row {
    let name = path.to_owned();
    Row { path: path.to_owned(), name, kind, text: text.to_owned(), long, ..Row::default() }
}

/// When what is settled was.
const AT: u64 = 1_700_000_000_000;

fn card(request: &str) -> Card {
    Card {
        request: RequestId::new(request),
        view: CardView {
            asker: Asker::Assistant,
            tool: "cookiejar__cookie_jar".to_owned(),
            server: None,
            title: Some("Cookie jar".to_owned()),
            why: "Cookies cannot be un-eaten.".to_owned(),
            arguments: vec![
                row("action", "string", "eat", false),
                row("count", "number", "3", false),
                row("letter", "string", "Dear jar,\n  thank you.\n", true),
            ],
            changes: Vec::new(),
            preview: vec!["Cookies: 9".to_owned()],
            hints: vec![Hint::Writes, Hint::Repeats],
            kind: RequestKind::Approval,
            url: None,
            form: None,
            digest: "0123456789abcdef".repeat(4),
        },
        offer: None,
        deadline: None,
        receipt: None,
    }
}

fn settled(mut card: Card, approve: bool) -> Card {
    card.receipt = Some(if approve {
        Receipt {
            mark: "approved",
            decision: "decided.approved.you",
            outcome: "outcome.running",
            at: Some(AT),
            scope: Some("receipt.once"),
            until: None,
            reason: None,
            note: None,
        }
    } else {
        Receipt {
            mark: "approval_denied",
            decision: "decided.declined.you",
            outcome: "outcome.nothing",
            at: Some(AT),
            scope: None,
            until: None,
            reason: Some("reason.variant"),
            note: Some("Smaller.".to_owned()),
        }
    });
    card
}

#[wasm_bindgen_test]
fn it_shows_everything_in_order() {
    let stage = Stage::new();
    stage.update(&[card("r1")]);
    let parts: Vec<_> = stage.all("[part]").iter().filter_map(|element| element.get_attribute("part")).collect();
    let order = [
        "card",
        "asker",
        "title",
        "tool",
        "why",
        "arguments",
        "preview",
        "hints",
        "scope",
        "note",
        "left",
        "reason",
        "hold",
        "actions",
        "deny",
        "approve",
        "more",
        "secondary",
        "scopes",
    ];
    assert_eq!(parts, order);
    assert_eq!(stage.text("[part=title]"), "Cookie jar");
    assert_eq!(stage.text("[part=tool] code"), "cookiejar__cookie_jar");
    assert_eq!(stage.text("[part=why]"), "Cookies cannot be un-eaten.");
    assert_eq!(stage.all("dt").iter().map(|name| text(name)).collect::<Vec<_>>(), ["action", "count", "letter"]);
    let values: Vec<_> = stage.all("dd").iter().map(|value| text(value)).collect();
    assert_eq!(values, ["eat", "3", "Dear jar,\n  thank you.\n"]);
    let block = stage.one("dd > div");
    assert_eq!(
        web_sys::window()
            .unwrap()
            .get_computed_style(&block)
            .unwrap()
            .unwrap()
            .get_property_value("white-space")
            .unwrap(),
        "break-spaces"
    );
    assert_eq!(block.tab_index(), 0, "a keyboard reaches what scrolls");
}

#[wasm_bindgen_test]
fn hostile_text_stays_text() {
    let hostile = "<img src=x onerror=alert(1)></dd><script>alert(1)</script>\u{202E}&lt;";
    let stage = Stage::new();
    let mut one = card("r1");
    one.view.tool = hostile.to_owned();
    one.view.title = None;
    one.view.why = hostile.to_owned();
    one.view.arguments = vec![
        row(hostile, "string", hostile, false),
        row("empty", "string", "", false),
        row(hostile, "string", hostile, true),
    ];
    stage.update(&[one]);
    assert!(stage.all("img, script, style, [style], [onerror]").is_empty());
    for selector in ["[part=title]", "[part=tool] code", "[part=why]"] {
        assert_eq!(stage.text(selector), hostile);
    }
    let values = stage.all("dd > *");
    assert_eq!((text(&values[0]), text(&values[2])), (hostile.to_owned(), hostile.to_owned()));
    assert_eq!(stage.all("dd em").len(), 1, "an empty text is said to be empty, in words that are marked");
    // Each text is isolated: a direction inside it moves nothing around it.
    let style = web_sys::window().unwrap().get_computed_style(&values[0]).unwrap().unwrap();
    assert_eq!(style.get_property_value("unicode-bidi").unwrap(), "plaintext");
}

#[wasm_bindgen_test]
fn a_card_without_arguments_says_so() {
    let stage = Stage::new();
    let mut one = card("r1");
    one.view.arguments.clear();
    stage.update(&[one]);
    assert_eq!(stage.text("[part=arguments]"), "No arguments.");
}

#[wasm_bindgen_test]
fn groups_are_named_and_described() {
    let stage = Stage::new();
    stage.update(&[card("r1"), card("r2")]);
    for group in stage.all("[role=group][part=card]") {
        for (attribute, part) in [("aria-labelledby", "title"), ("aria-describedby", "why hints")] {
            let ids = group.get_attribute(attribute).unwrap();
            let named = ids.split(' ').map(|id| stage.root.get_element_by_id(id).unwrap());
            let parts: Vec<_> = named.clone().map(|named| named.get_attribute("part").unwrap()).collect();
            assert_eq!(parts.join(" "), part);
            assert!(named.into_iter().all(|named| group.contains(Some(&named))));
        }
        assert_eq!(group.tab_index(), -1);
        assert!(!group.has_attribute("aria-live"));
    }
    assert!(stage.all("[role=alert], [role=alertdialog], dialog").is_empty());
}

#[wasm_bindgen_test]
fn buttons_are_alike_and_deny_comes_first() {
    let stage = Stage::new();
    stage.update(&[card("r1")]);
    let buttons = stage.all("[part=actions] button");
    assert_eq!(buttons.iter().map(|button| text(button)).collect::<Vec<_>>(), ["Deny", "Approve"]);
    let [deny, approve] = [0, 1].map(|place| buttons[place].get_bounding_client_rect());
    assert!((deny.width() - approve.width()).abs() < 0.5 && (deny.height() - approve.height()).abs() < 0.5);
    assert!(deny.height() >= 44.0, "{}", deny.height());
    for button in buttons {
        assert_eq!(button.get_attribute("aria-disabled").unwrap(), "true", "not armed yet");
        assert!(!button.has_attribute("disabled"));
        button.focus().unwrap();
        assert_eq!(stage.focused(), button.get_attribute("part"), "it can have the focus all the same");
    }
}

/// The next frame.
async fn frame() {
    let next = Promise::new(&mut |done, _| {
        web_sys::window().unwrap().request_animation_frame(&done).unwrap();
    });
    JsFuture::from(next).await.unwrap();
}

#[wasm_bindgen_test]
async fn scripts_decide_nothing_even_when_armed() {
    let stage = Stage::new();
    stage.update(&[card("r1")]);
    let buttons = stage.all("[part=actions] button");
    buttons[0].scroll_into_view();
    // The test runner's own limit ends this if it never comes true.
    while buttons.iter().any(|button| button.has_attribute("aria-disabled")) {
        frame().await;
    }
    for button in &buttons {
        for kind in ["pointerdown", "keydown", "click"] {
            let bubbles = MouseEventInit::new();
            bubbles.set_bubbles(true);
            bubbles.set_composed(true);
            let event = MouseEvent::new_with_mouse_event_init_dict(kind, &bubbles).unwrap();
            button.dispatch_event(&event).unwrap();
        }
        button.click();
    }
    assert!(stage.decided.borrow().is_empty());
    assert!(buttons.iter().all(|button| !button.has_attribute("aria-disabled")));
}

#[wasm_bindgen_test]
async fn what_is_asked_anew_must_be_read_anew() {
    let stage = Stage::new();
    stage.update(&[card("r1"), card("r2")]);
    let buttons = stage.all("[part=actions] button");
    buttons[0].scroll_into_view();
    while buttons[..2].iter().any(|button| button.has_attribute("aria-disabled")) {
        frame().await;
    }
    stage.update(&[card("r1"), card("r2")]);
    assert!(!buttons[0].has_attribute("aria-disabled"), "nothing changed");
    let mut changed = card("r1");
    changed.view.why = "All of them.".to_owned();
    stage.update(&[changed, card("r2")]);
    assert!(buttons[..2].iter().all(|button| button.has_attribute("aria-disabled")));
}

#[wasm_bindgen_test]
fn an_update_keeps_what_did_not_change() {
    let stage = Stage::new();
    stage.update(&[card("r1"), card("r2")]);
    let (cards, buttons) = (stage.all("[part=card]"), stage.all("[part=actions] button"));
    stage.note(1).set_value("only one, please");
    stage.note(1).focus().unwrap();
    stage.update(&[settled(card("r1"), true), card("r2"), card("r3")]);
    let after = stage.all("[part=card]");
    assert_eq!(after.len(), 3);
    assert!(after[0] == cards[0] && after[1] == cards[1]);
    assert_eq!(stage.note(0).value(), "only one, please");
    assert_eq!(stage.focused().unwrap(), "TEXTAREA");
    assert_eq!(stage.all("[part=actions] button")[..2], buttons[2..]);
    // A card goes, the ones around it stay where they are.
    stage.update(&[card("r2"), card("r3")]);
    assert!(stage.all("[part=card]") == after[1..]);
    assert_eq!(stage.focused().unwrap(), "TEXTAREA");
    // What is asked changes: the texts do, the note stays.
    let mut changed = card("r2");
    changed.view.arguments = vec![row("action", "string", "hide", false)];
    stage.update(&[changed, card("r3")]);
    assert_eq!(text(&stage.all("dd")[0]), "hide");
    assert_eq!(stage.note(0).value(), "only one, please");
}

#[wasm_bindgen_test]
fn the_note_says_who_reads_it() {
    let stage = Stage::new();
    let list = stage.list.as_ref().unwrap();
    list.update(&[card("r1")], None, false);
    assert_eq!(stage.text("[part=note] span"), "Note (optional, not shown to the assistant)");
    stage.note(0).set_value("kept");
    list.update(&[card("r1")], None, true);
    assert_eq!(stage.text("[part=note] span"), "Note (optional)");
    assert_eq!(stage.note(0).value(), "kept");
    assert_eq!(stage.note(0).max_length(), 500);
}

#[wasm_bindgen_test]
fn a_receipt_stands_in_place_of_the_buttons_at_the_same_height() {
    let stage = Stage::new();
    stage.update(&[card("r1"), card("r2")]);
    let before = stage.all("[part=card]")[0].get_bounding_client_rect().height();
    stage.update(&[settled(card("r1"), false), card("r2")]);
    let after = stage.all("[part=card]")[0].get_bounding_client_rect().height();
    assert!((before - after).abs() <= 1.0, "{before} {after}");
    assert_eq!(stage.text("[part=receipt] strong"), "You declined this.");
    assert_eq!(stage.text("[part=receipt] > strong + span"), "Nothing was executed.");
    let quoted: Vec<_> = stage.all("[part=receipt] q").iter().map(|quote| text(quote)).collect();
    assert_eq!(quoted, ["Suggest something else", "Smaller."]);
    assert_eq!(stage.text("[part=receipt] code"), "0123456789ab");
    assert_eq!(stage.text("[part=when]"), "2023-11-14T22:13:20.000Z");
    assert_eq!(stage.one("[part=receipt]").get_attribute("data-mark").unwrap(), "approval_denied");
    assert_eq!(stage.all("[part=actions] button").len(), 2, "only the other card has buttons");
    // The outcome follows in the same receipt.
    let receipt = stage.one("[part=receipt]");
    let mut ran = settled(card("r1"), true);
    ran.receipt.as_mut().unwrap().outcome = "outcome.ran";
    stage.update(&[ran, card("r2")]);
    assert!(stage.one("[part=receipt]") == receipt);
    assert_eq!(stage.text("[part=receipt] > span"), "It ran.");
}

#[wasm_bindgen_test]
fn the_focus_goes_from_a_settled_card_to_the_next_that_waits() {
    let stage = Stage::new();
    stage.update(&[card("r1"), card("r2"), card("r3")]);
    stage.all("[part=actions] button")[3].focus().unwrap();
    stage.update(&[card("r1"), settled(card("r2"), true), card("r3")]);
    assert!(stage.root.active_element().unwrap() == *stage.all("[part=card]")[2]);
    stage.update(&[card("r1"), settled(card("r2"), true), settled(card("r3"), true)]);
    assert!(stage.root.active_element().unwrap() == *stage.all("[part=card]")[0]);
    stage.update(&[settled(card("r1"), true), settled(card("r2"), true), settled(card("r3"), true)]);
    assert!(stage.root.active_element().unwrap() == *stage.all("[part=receipt]")[0]);
}

#[wasm_bindgen_test]
fn appearing_and_settling_elsewhere_leave_the_focus_alone() {
    let stage = Stage::new();
    let composer: HtmlElement = document().create_element("input").unwrap().unchecked_into();
    stage.host.after_with_node_1(&composer).unwrap();
    composer.focus().unwrap();
    stage.update(&[card("r1")]);
    stage.update(&[settled(card("r1"), true), card("r2")]);
    stage.update(&[card("r2")]);
    let focused = document().active_element().unwrap();
    composer.remove();
    assert!(focused == *composer);
}

#[wasm_bindgen_test]
fn what_arrives_is_announced_once() {
    let stage = Stage::new();
    let said = || text(&document().query_selector("[role=status]").unwrap().unwrap());
    stage.update(&[card("r1")]);
    assert_eq!(said(), "", "what is there from the start is not news");
    let mut other = card("r2");
    other.view.title = None;
    stage.update(&[card("r1"), other.clone()]);
    assert_eq!(said(), "2 approvals waiting: Cookie jar, cookiejar__cookie_jar");
    stage.update(&[settled(card("r1"), true), other.clone()]);
    assert_eq!(said(), "");
    stage.update(&[settled(card("r1"), true), settled(other.clone(), true), settled(card("r3"), true)]);
    assert_eq!(said(), "");
    stage.update(&[card("r4")]);
    assert_eq!(said(), "1 approval waiting: Cookie jar");
}

#[wasm_bindgen_test]
fn a_dropped_list_leaves_nothing_behind() {
    let mut stage = Stage::new();
    stage.update(&[card("r1")]);
    let deny = stage.all("[part=actions] button")[0].clone();
    stage.list.take();
    assert_eq!(stage.root.child_element_count(), 0);
    deny.click();
    assert!(stage.decided.borrow().is_empty());
}

#[wasm_bindgen_test]
fn a_lost_result_is_asked_about_in_other_words() {
    let stage = Stage::new();
    let mut lost = card("r1");
    lost.view.kind = RequestKind::Recovery;
    stage.update(&[lost]);
    let says: Vec<_> = stage.all("[part=actions] button").iter().map(|button| text(button)).collect();
    assert_eq!(says, ["Mark as done", "Run again", "Stop"]);
    assert_eq!(stage.text("[part=preview] li"), "Cookies: 9");
}
