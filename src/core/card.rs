//! The approval card as data: everything a person reads before deciding, in order, and the receipt afterwards.
//! The DOM layer only places these texts; hosts that draw their own card get the same.

mod visible;

pub use self::visible::{visible, visible_line};
use super::approval::{Request, RequestKind, Scope};
use super::arguments::Arguments;
use super::event::{Decision, Settler};
use super::json::{JoinedText, Json, Writer, cut, shown_number, write_number, write_string};
use super::log::{CallState, Entry, RequestEnd, Stage};
use super::message::{TurnCall, server_of};
use super::outcome::{PersonId, Token};
use super::run::Run;

/// Strings longer than this, in characters, or of more than one line get a block of their own.
const LONG: usize = 80;

/// What a person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardView {
    /// The tool's exact name.
    pub tool: String,
    /// The server that would run it, where it is not the page itself.
    pub server: Option<String>,
    /// The host's name of the tool for people.
    pub title: Option<String>,
    /// Why it stopped.
    pub why: String,
    /// Every argument, in the order the model wrote them.
    pub arguments: Vec<Row>,
    /// What the tool says the call would do, line by line.
    pub preview: Vec<String>,
    /// What is asked for.
    pub kind: RequestKind,
    /// Where the person has to go, for an authorization.
    pub url: Option<String>,
    /// What came with a request for values, as JSON text: `{"schema": …}`.
    pub form: Option<String>,
    /// What a decision covers: SHA-256, hexadecimal.
    pub digest: String,
}

impl CardView {
    /// Writes its members.
    pub fn write(&self, out: &mut Writer) {
        out.text("tool", &self.tool);
        out.present("server", self.server.as_deref());
        out.present("title", self.title.as_deref());
        out.text("why", &self.why);
        write_rows(&self.arguments, out);
        out.strings("preview", &self.preview);
        out.text("digest", &self.digest);
    }
}

/// One argument, or one leaf of a nested one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Row {
    /// Where it stands, such as `recipients[0].address`.
    pub path: String,
    /// `string`, `number`, `boolean`, `null`, `object` or `array`; the last two only where they are empty.
    pub kind: &'static str,
    /// Its value, with visible tokens in place of characters one cannot see.
    pub text: String,
    /// Whether it needs a block of its own.
    pub long: bool,
}

/// One card of the latest run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Card {
    /// The request's id.
    pub request: super::message::RequestId,
    /// What is asked.
    pub view: CardView,
    /// What may be permitted beyond this call; `None` where nothing may, or not by who looks at it.
    pub offer: Option<Offer>,
    /// What became of it; `None` while it waits.
    pub receipt: Option<Receipt>,
}

/// The standing permissions that may be given with an approval, and what they would be about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// How far each reaches.
    pub scopes: Vec<Scope>,
    /// The server that runs the tool; `None` for the page itself.
    pub server: Option<String>,
    /// The hash of the tool's definition, hexadecimal.
    pub definition: String,
}

/// What stands in place of the buttons once a request is settled.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Receipt {
    /// The decision or the lapse, as a token: `approved`, an outcome's token, or `denied` for what an old log tells.
    pub mark: &'static str,
    /// Who decided what, or that nobody did: a key of the card's messages, which `www/src/locales/en.json` lists.
    pub decision: &'static str,
    /// What came of it, as such a key.
    pub outcome: &'static str,
}

/// The view of a call's card; `None` for a call whose arguments cannot be shown, which never asks.
pub fn view(call: &TurnCall, title: Option<&str>, state: &CallState) -> Option<CardView> {
    let request = state.request.as_ref()?;
    let arguments = Arguments::new(&call.arguments).ok()?;
    Some(CardView {
        tool: visible_line(&call.name),
        server: server_of(call).map(visible_line),
        title: title.map(visible_line),
        why: visible(&request.prompt),
        arguments: rows(arguments.value()),
        preview: request.preview.iter().map(|line| visible(line)).collect(),
        kind: request.kind.clone(),
        url: request.url.as_deref().map(visible_line),
        form: request.data.as_ref().filter(|_| request.kind.has_form()).map(Json::text),
        digest: request.digest.as_str().to_owned(),
    })
}

/// The cards of the latest run, in the order they were asked. `viewer` is who sits at this page: a receipt says "you"
/// only to the person who decided.
pub fn cards(run: &Run, viewer: Option<&PersonId>) -> Vec<Card> {
    let entries = run.chat().entries();
    let start = entries.iter().rposition(|entry| matches!(entry, Entry::User { .. })).unwrap_or(0);
    let mut cards = Vec::new();
    for (place, entry) in entries.iter().enumerate().skip(start) {
        let Entry::Turn(turn) = entry else { continue };
        // A card without its arguments would be a receipt for something else.
        if run.chat().is_cleared(run.chat().folded() + place) {
            continue;
        }
        for (call, state) in turn.turn.calls.iter().zip(&turn.calls) {
            let Some(view) = view(call, run.title(call), state) else { continue };
            let Some(request) = &state.request else { continue };
            let is_over = run.chat().request_end(&request.id).is_some_and(RequestEnd::is_expiry);
            let receipt = receipt(run, state, viewer, is_over);
            let offer = if receipt.is_none() { offer(run, call, request, viewer) } else { None };
            cards.push(Card { request: request.id.clone(), view, offer, receipt });
        }
    }
    cards
}

/// Values by their names, as rows.
pub fn rows(value: &Json) -> Vec<Row> {
    let mut rows = Vec::new();
    leaves("", value, &mut rows);
    rows
}

/// Writes rows, as the member `arguments`.
pub fn write_rows(rows: &[Row], out: &mut Writer) {
    out.key("arguments");
    out.open('[');
    for row in rows {
        out.item();
        out.open('{');
        out.text("path", &row.path);
        out.text("kind", row.kind);
        out.text("text", &row.text);
        out.flag("long", row.long);
        out.close('}');
    }
    out.close(']');
}

/// A key as a step of a path. One that could pass for several steps, or for none, stands in brackets and quotes.
fn push_key(key: &str, path: &mut String) {
    let plain = !key.is_empty() && !key.bytes().any(|byte| matches!(byte, b'.' | b'[' | b']' | b'"'));
    if plain {
        path.push_str(if path.is_empty() { "" } else { "." });
        path.push_str(&visible_line(key));
    } else {
        path.push('[');
        write_string(&visible_line(key), path);
        path.push(']');
    }
}

fn leaves(path: &str, value: &Json, rows: &mut Vec<Row>) {
    let kind = match value {
        Json::Object(fields) if !fields.is_empty() => {
            for (key, field) in fields {
                let mut inner = String::from(path);
                push_key(key, &mut inner);
                leaves(&inner, field, rows);
            }
            return;
        }
        Json::Array(items) if !items.is_empty() => {
            for (place, item) in items.iter().enumerate() {
                let mut inner = String::from(path);
                inner.push('[');
                write_number(place as u64, &mut inner);
                inner.push(']');
                leaves(&inner, item, rows);
            }
            return;
        }
        // No arguments at all: a key, even an empty one, has given the path something by now.
        Json::Object(_) if path.is_empty() => return,
        Json::Object(_) => "object",
        Json::Array(_) => "array",
        Json::Null => "null",
        Json::Bool(_) => "boolean",
        Json::Number(_) => "number",
        Json::String(_) | Json::Wtf8(_) => "string",
    };
    let text = if kind == "string" {
        let mut text = JoinedText::new();
        text.push(value);
        visible(&text.into_text())
    } else if let Json::Number(literal) = value {
        shown_number(literal)
    } else {
        value.text()
    };
    let long = text.bytes().any(|byte| byte == b'\n') || cut(&text, LONG).len() < text.len();
    rows.push(Row { path: path.to_owned(), kind, text, long });
}

/// What this viewer may permit beyond the one call.
fn offer(run: &Run, call: &TurnCall, request: &Request, viewer: Option<&PersonId>) -> Option<Offer> {
    let scopes = run.scopes_of(request);
    let owner = run.chat().run().and_then(|run| run.owner.as_ref());
    let tool = run.settings().tools.iter().find(|tool| tool.name == call.name)?;
    let is_holder = viewer.is_some() && viewer == owner;
    (is_holder && !scopes.is_empty()).then(|| Offer {
        scopes: scopes.to_vec(),
        server: tool.server.as_deref().map(visible_line),
        definition: tool.definition_hash().as_str().to_owned(),
    })
}

/// How far the permission reaches that was given with a decision, if it was kept.
fn kept_scope(run: &Run, decision: &Decision) -> Option<Scope> {
    let (_, id) = decision.standing.as_ref()?;
    run.grants().as_ref()?.given(id).map(|grant| grant.scope)
}

fn receipt(run: &Run, state: &CallState, viewer: Option<&PersonId>, is_over: bool) -> Option<Receipt> {
    let is_old = state.result.as_ref().is_some_and(|settled| settled.old_code.is_some());
    let token = state.result.as_ref().and_then(|settled| settled.facts.as_ref()).map(|facts| facts.token);
    let outcome = match (state.stage(), token) {
        (Stage::Settled, None) if is_old && state.decision.is_none() => "outcome.old",
        (Stage::Settled, None) if is_old => "outcome.old_denial",
        (Stage::Settled, None) if state.is_relayed() => "outcome.told",
        (Stage::Settled, None) => "outcome.ran",
        (Stage::Settled, Some(Token::ToolFailed)) => "outcome.failed",
        (Stage::Settled | Stage::Declined, token) => match token.or(state.refusal()) {
            Some(Token::RequestDeclined | Token::RequestLapsed) => "outcome.stopped_there",
            Some(token) if token.executed() == Some(false) => "outcome.nothing",
            _ => "outcome.unknown",
        },
        (Stage::Started, _) => "outcome.running",
        _ => "outcome.others",
    };
    if let Some(decision) = &state.decision {
        let kind = state.request.as_ref().map(|request| &request.kind);
        let mark = if decision.approve { "approved" } else { state.refusal().map_or("denied", Token::token) };
        return Some(Receipt { mark, decision: decided(decision, kind, kept_scope(run, decision), viewer), outcome });
    }
    if is_old {
        let decision = "decided.old";
        return Some(Receipt { mark: "denied", decision, outcome });
    }
    let token = token?;
    let decision = match token {
        Token::ApprovalExpired => "lapsed.expired",
        Token::ApprovalSuperseded => "lapsed.superseded",
        Token::RequestLapsed if is_over => "lapsed.unanswered_in_time",
        Token::RequestLapsed => "lapsed.unanswered",
        _ => "lapsed.stopped",
    };
    Some(Receipt { mark: token.token(), decision, outcome })
}

fn decided(
    decision: &Decision,
    kind: Option<&RequestKind>,
    scope: Option<Scope>,
    viewer: Option<&PersonId>,
) -> &'static str {
    let who = match &decision.by {
        Settler::Policy if decision.approve => return "decided.policy.allowed",
        Settler::Policy => return "decided.policy.refused",
        Settler::Host => return "decided.withdrawn",
        Settler::Person { id, .. } => id,
    };
    let [you, other, unknown] = match (kind, decision.approve) {
        (Some(RequestKind::Recovery), true) => ["decided.again.you", "decided.again.other", "decided.again.other"],
        (Some(RequestKind::Recovery), false) => ["decided.done.you", "decided.done.other", "decided.done.other"],
        (_, true) if scope == Some(Scope::Chat) => ["decided.chat.you", "decided.chat.other", "decided.chat.other"],
        (_, true) if scope == Some(Scope::Always) => {
            ["decided.always.you", "decided.always.other", "decided.always.other"]
        }
        (Some(RequestKind::Approval) | None, true) => {
            ["decided.approved.you", "decided.approved.other", "decided.approved.unknown"]
        }
        (_, false) => ["decided.declined.you", "decided.declined.other", "decided.declined.unknown"],
        (_, true) => ["decided.answered.you", "decided.answered.other", "decided.answered.unknown"],
    };
    match who {
        None => unknown,
        Some(_) if who.as_ref() == viewer => you,
        Some(_) => other,
    }
}
