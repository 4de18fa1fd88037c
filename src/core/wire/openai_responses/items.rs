//! The output items of a response, collected from their events.

use super::super::super::json::{JoinedText, Json};
use super::super::super::message::{CallKind, TurnCall};
use super::super::Delta;

/// Items that the sender of the request must act on. This program offers no tools of these types.
const FOR_CLIENT: [&str; 5] =
    ["local_shell_call", "shell_call", "apply_patch_call", "computer_call", "tool_search_call"];

/// The provider asks whether it may run a tool of its own.
pub(super) const APPROVAL: &str = "mcp_approval_request";

/// The most items of a response that are taken. Each event is looked up among them.
pub(super) const MAX_ITEMS: usize = 1024;

/// The items, in the order of their indexes.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Items(Vec<Slot>);

/// What a turn is made of.
#[derive(Debug, Default)]
pub(super) struct Content {
    pub(super) words: Words,
    /// One for each item that is a call, in order.
    pub(super) calls: Vec<TurnCall>,
    /// The items as they came; none where one of them is not whole.
    pub(super) items: Vec<Json>,
}

/// What a model says in its items.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Words {
    pub(super) text: JoinedText,
    pub(super) reasoning: JoinedText,
    pub(super) refusal: JoinedText,
}

/// An item as far as it has arrived.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    /// `output_index`. The ids of items are no key: there is a server that gives another id in every event.
    index: Option<i64>,
    /// The item as the server wrote it last; its type alone before it did.
    item: Json,
    /// The item is whole.
    is_done: bool,
    /// Arguments of a call, or the input of a custom one. Not looked into before the end.
    input: JoinedText,
    /// The server said that the input is whole.
    has_input: bool,
    words: Words,
}

/// The type of an item.
pub(super) fn type_of(item: &Json) -> &str {
    text_of(item, "type")
}

/// Whether an item is a call that the model makes and this program answers.
pub(super) fn is_call(item: &Json) -> bool {
    matches!(type_of(item), "function_call" | "custom_tool_call" | APPROVAL)
}

/// Whether an item waits for a program that can act on it, which this one is not.
pub(super) fn is_for_client(item: &Json) -> bool {
    FOR_CLIENT.contains(&type_of(item)) && text_of(item, "execution") != "server"
}

fn text_of<'a>(item: &'a Json, key: &str) -> &'a str {
    item.get(key).and_then(Json::as_str).unwrap_or("")
}

/// Appends to a text, and to what is new of it for display.
fn push(text: &mut JoinedText, piece: &Json, fresh: &mut String) {
    let from = text.as_str().len();
    text.push(piece);
    fresh.push_str(text.as_str().get(from..).unwrap_or(""));
}

impl Items {
    /// Takes an event about an item; `event` is its name behind `response.`.
    pub(super) fn take(&mut self, event: &str, value: &Json, fresh: &mut Delta) {
        let item = value.get("item").filter(|item| item.as_object().is_some());
        let kind = match (event, item) {
            ("output_item.added" | "output_item.done", Some(item)) => type_of(item),
            ("output_text.delta" | "refusal.delta", _) => "message",
            ("reasoning_summary_text.delta" | "reasoning_text.delta", _) => "reasoning",
            ("function_call_arguments.delta" | "function_call_arguments.done", _) => "function_call",
            ("custom_tool_call_input.delta" | "custom_tool_call_input.done", _) => "custom_tool_call",
            _ => return,
        };
        let is_done = event == "output_item.done";
        let place = self.place(value, kind, item.map(|item| (item, is_done)));
        let Some(slot) = self.0.get_mut(place) else { return };
        let delta = value.get("delta").unwrap_or(&Json::Null);
        match (event, item) {
            ("output_item.added" | "output_item.done", Some(item)) => slot.take(item, is_done, fresh),
            ("output_text.delta", _) => push(&mut slot.words.text, delta, &mut fresh.text),
            ("refusal.delta", _) => slot.words.refusal.push(delta),
            (_, _) if kind == "reasoning" => push(&mut slot.words.reasoning, delta, &mut fresh.reasoning),
            ("function_call_arguments.done", _) => slot.end_input(value, "arguments"),
            ("custom_tool_call_input.done", _) => slot.end_input(value, "input"),
            (_, _) => slot.input.push(delta),
        }
    }

    /// The place of the item an event is about: by its index, else by its id, else the last of its type. `whole` is the
    /// item of an event that has one, and whether it ends there. Such an event begins a new item where another one of the
    /// same index stands: a server may give every item the same.
    fn place(&mut self, event: &Json, kind: &str, whole: Option<(&Json, bool)>) -> usize {
        let index = event.get("output_index").and_then(Json::as_i64);
        let id = event.get("item_id").or(whole.and_then(|(item, _)| item.get("id"))).filter(|id| !id.is_null());
        let place = match id {
            _ if index.is_some() => self.0.iter().rposition(|slot| slot.index == index),
            Some(_) => self.0.iter().rposition(|slot| slot.item.get("id") == id),
            None => self.0.iter().rposition(|slot| type_of(&slot.item) == kind),
        };
        let place = place.filter(|place| match (whole, self.0.get(*place)) {
            (Some((item, true)), Some(slot)) if !slot.is_done => type_of(item) == type_of(&slot.item),
            (Some((item, is_end)), Some(slot)) => slot.is_done == is_end && slot.is_same(item),
            _ => true,
        });
        place.unwrap_or_else(|| {
            let behind = self.0.iter().position(|slot| index.is_some() && slot.index > index);
            let place = behind.unwrap_or(self.0.len());
            let item = vec![(String::from("type"), Json::from(kind))];
            self.0.insert(place, Slot::new(index, Json::Object(item)));
            place
        })
    }

    /// Takes the items of the terminal event, for what the events before it did not bring: all, the end of an item, or
    /// items of a type of which more are there. What was collected stands.
    pub(super) fn complete(&mut self, output: &[Json]) {
        let count = |kind: &str, slots: &[Slot]| slots.iter().filter(|slot| type_of(&slot.item) == kind).count();
        let collected = self.0.clone();
        for (place, item) in output.iter().enumerate() {
            let index = i64::try_from(place).ok();
            let kind = type_of(item);
            let known = self.0.iter_mut().find(|slot| {
                let has_place = slot.index.is_none() || slot.index == index;
                slot.is_same(item) && (has_place || !text_of(item, "call_id").is_empty())
            });
            let wanted = output.iter().filter(|item| type_of(item) == kind).count();
            match known {
                Some(slot) => slot.complete(item),
                None if wanted > count(kind, &collected) => {
                    let mut slot = Slot::new(index, Json::Null);
                    slot.complete(item);
                    let behind = self.0.iter().position(|slot| slot.index > index).unwrap_or(self.0.len());
                    self.0.insert(behind, slot);
                }
                None => {}
            }
        }
    }

    pub(super) fn is_overfull(&self) -> bool {
        self.0.len() > MAX_ITEMS
    }

    pub(super) fn has_calls(&self) -> bool {
        self.0.iter().any(Slot::is_call)
    }

    /// Whether the server marked a call as cut off.
    pub(super) fn has_incomplete_call(&self) -> bool {
        self.0.iter().any(|slot| slot.is_call() && text_of(&slot.item, "status") == "incomplete")
    }

    /// Whether the end of every call has arrived.
    pub(super) fn has_whole_calls(&self) -> bool {
        self.0.iter().all(|slot| !slot.is_call() || slot.is_done || slot.has_input)
    }

    /// Whether an item waits for a program that can act on it.
    pub(super) fn has_work_for_client(&self) -> bool {
        self.0.iter().any(|slot| is_for_client(&slot.item))
    }

    /// The whole content. In a turn that was not cut, no arguments are an empty object; in a cut one they are only
    /// missing.
    pub(super) fn finish(self, is_cut: bool) -> Content {
        // Replayed is a turn whole or not at all: servers refuse reasoning without the item it led to.
        let is_whole = self.0.iter().all(|slot| slot.is_done);
        let mut content = Content::default();
        for slot in self.0 {
            if slot.is_call() {
                content.calls.push(slot.call(is_cut));
            }
            let whole = if slot.is_done { Words::of(&slot.item) } else { Words::default() };
            let all = &mut content.words;
            for (all, whole, pieces) in [
                (&mut all.text, whole.text, slot.words.text),
                (&mut all.reasoning, whole.reasoning, slot.words.reasoning),
                (&mut all.refusal, whole.refusal, slot.words.refusal),
            ] {
                all.push_str(&if whole.is_empty() { pieces } else { whole }.into_text());
            }
            if is_whole {
                content.items.push(slot.item);
            }
        }
        content
    }
}

impl Words {
    /// The words of a whole item.
    fn of(item: &Json) -> Self {
        let mut words = Self::default();
        let parts = |key: &str| item.get(key).and_then(Json::as_array).unwrap_or(&[]);
        let push = |value: Option<&Json>, text: &mut JoinedText| text.push(value.unwrap_or(&Json::Null));
        match type_of(item) {
            "message" => {
                push(item.get("content"), &mut words.text);
                for part in parts("content") {
                    push(part.get("text"), &mut words.text);
                    push(part.get("refusal"), &mut words.refusal);
                }
            }
            "reasoning" => {
                for part in parts("summary").iter().chain(parts("content")) {
                    push(part.get("text"), &mut words.reasoning);
                }
            }
            _ => {}
        }
        words
    }
}

/// Shows what no piece has brought of the whole. A text that differs from its pieces is not shown twice; the turn has it.
fn reveal(shown: &mut JoinedText, whole: JoinedText, fresh: &mut String) {
    if let Some(more) = whole.as_str().strip_prefix(shown.as_str()) {
        fresh.push_str(more);
        *shown = whole;
    }
}

/// Appends arguments, which some servers send as an object.
fn push_input(text: &mut JoinedText, input: &Json) {
    match input {
        Json::Null => {}
        Json::String(_) | Json::Wtf8(_) => text.push(input),
        value => text.push_str(&value.text()),
    }
}

impl Slot {
    fn new(index: Option<i64>, item: Json) -> Self {
        Self { index, item, is_done: false, input: JoinedText::of_json(), has_input: false, words: Words::default() }
    }

    fn is_call(&self) -> bool {
        is_call(&self.item)
    }

    /// Whether an item may be this one again.
    fn is_same(&self, item: &Json) -> bool {
        let (one, two) = (text_of(item, "call_id"), text_of(&self.item, "call_id"));
        type_of(item) == type_of(&self.item) && (one.is_empty() || two.is_empty() || one == two)
    }

    /// Takes the item as the server writes it, at its beginning or whole.
    fn take(&mut self, item: &Json, is_done: bool, fresh: &mut Delta) {
        self.item = item.clone();
        self.is_done = is_done;
        if is_done {
            let whole = Words::of(item);
            reveal(&mut self.words.text, whole.text, &mut fresh.text);
            reveal(&mut self.words.reasoning, whole.reasoning, &mut fresh.reasoning);
        }
    }

    /// Takes the item from the terminal event, unless its own end has arrived.
    fn complete(&mut self, item: &Json) {
        if !self.is_done {
            self.item = item.clone();
            self.is_done = true;
        }
    }

    /// Takes the whole arguments or input of a call, which an event of their own repeats.
    fn end_input(&mut self, event: &Json, key: &str) {
        self.has_input = true;
        if let Some(whole) = event.get(key).filter(|whole| !whole.is_null()) {
            self.input = JoinedText::of_json();
            push_input(&mut self.input, whole);
        }
        if let (Json::Object(fields), Some(name)) = (&mut self.item, event.get("name"))
            && !fields.iter().any(|(key, _)| key == "name")
        {
            fields.push((String::from("name"), name.clone()));
        }
    }

    fn call(&self, is_cut: bool) -> TurnCall {
        let kind = type_of(&self.item);
        let key = if kind == "custom_tool_call" { "input" } else { "arguments" };
        let mut written = JoinedText::of_json();
        if self.is_done || self.input.is_empty() {
            push_input(&mut written, self.item.get(key).unwrap_or(&Json::Null));
        }
        let arguments = if written.is_empty() { self.input.clone() } else { written }.into_text();
        let is_nothing = !is_cut && key == "arguments" && matches!(arguments.trim_ascii(), "" | "null");
        // A request for approval has no other id than its own.
        let keys: &[&str] = if kind == APPROVAL { &["id"] } else { &["call_id", "id"] };
        let id = keys.iter().map(|key| text_of(&self.item, key)).find(|id| !id.is_empty());
        TurnCall {
            kind: match kind {
                APPROVAL => CallKind::ProviderApproval { server: text_of(&self.item, "server_label").to_owned() },
                _ => CallKind::Function,
            },
            provider_id: id.map(str::to_owned),
            name: text_of(&self.item, "name").to_owned(),
            arguments: if is_nothing { String::from("{}") } else { arguments },
        }
    }
}
