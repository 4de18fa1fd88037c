//! The approval card as data: everything a person reads before deciding, in order, and the receipt afterwards.
//! The DOM layer only places these texts; hosts that draw their own card get the same.

mod deadline;
mod difference;
mod hint;
mod punycode;
mod row;
mod script;
mod value_change;
mod visible;

pub use self::deadline::Deadline;
pub use self::difference::{Change, Piece, difference};
pub use self::hint::Hint;
pub use self::punycode::{encode as punycode, hosts};
pub use self::row::{Row, rows};
pub use self::script::is_mixed;
pub use self::value_change::{ValueChange, value_changes};
pub use self::visible::{visible, visible_line, visible_value};
use super::approval::{Preview, Request, RequestKind, Scope, Tool};
use super::arguments::Arguments;
use super::event::{Decision, Settler};
use super::json::{Json, Writer};
use super::log::{CallState, Entry, RequestEnd, Stage};
use super::message::{TurnCall, server_of};
use super::outcome::{DenyReason, PersonId, Token};
use super::run::{Run, Status};

/// Who stands behind a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// The model, which wants to call a tool.
    Assistant,
    /// A tool that was started and asks for something.
    Tool,
    /// The page, about a call whose result it lost.
    Page,
}

impl Asker {
    /// The name in views.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Assistant => "assistant",
            Self::Tool => "tool",
            Self::Page => "page",
        }
    }
}

/// What a person is asked about.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CardView {
    /// Who asks.
    pub asker: Asker,
    /// The tool's exact name.
    pub tool: String,
    /// The server that would run it, where it is not the page itself.
    pub server: Option<String>,
    /// What the tool is called for people: the host's name of a tool of its page. One of a server's tool is the server's
    /// own word.
    pub title: Option<String>,
    /// Why it stopped.
    pub why: String,
    /// Every argument that it runs, or would run, with, in the order they were written.
    pub arguments: Vec<Row>,
    /// Where those differ from what the model wrote, since a person changed them.
    pub changes: Vec<ValueChange>,
    /// What the tool says the call would do, line by line.
    pub preview: Vec<String>,
    /// What is known of the tool's effects; nothing of a tool that is gone.
    pub hints: Vec<Hint>,
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
        out.text("asker", self.asker.token());
        out.text("tool", &self.tool);
        out.present("server", self.server.as_deref());
        out.present("title", self.title.as_deref());
        out.text("why", &self.why);
        write_rows(&self.arguments, out);
        ValueChange::write_all(&self.changes, out);
        out.strings("preview", &self.preview);
        let hints: Vec<_> = self.hints.iter().map(|hint| hint.token().to_owned()).collect();
        out.strings("hints", &hints);
        out.text("digest", &self.digest);
    }
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
    /// Until when it waits; `None` where it waits for ever, or no more.
    pub deadline: Option<Deadline>,
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
    /// When it was settled, in milliseconds since the epoch; `None` where that is not known.
    pub at: Option<u64>,
    /// What a yes covered, as such a key; `None` for anything else.
    pub scope: Option<&'static str>,
    /// Until when later calls are covered too, in milliseconds since the epoch; `None` for until that is revoked, and where
    /// none are.
    pub until: Option<u64>,
    /// The closed reason of a denial, as such a key.
    pub reason: Option<&'static str>,
    /// What the person wrote, with visible tokens.
    pub note: Option<String>,
}

/// The arguments of a call, and the lines of its preview.
pub type Contents = (Vec<Row>, Vec<String>);

/// What a card shows of a call with these arguments; `None` where they cannot be read.
pub fn contents(arguments: &str, preview: &Preview) -> Option<Contents> {
    let arguments = Arguments::new(arguments).ok()?;
    let lines = preview.lines.iter().map(|line| visible(line)).collect();
    Some((rows(arguments.value(), preview.current.as_ref()), lines))
}

/// The view of a call's card; `None` for a call whose arguments cannot be shown, which never asks.
/// `tool` is as it is now.
pub fn view(call: &TurnCall, tool: Option<&Tool>, state: &CallState) -> Option<CardView> {
    let request = state.request.as_ref()?;
    // What runs is what was approved, also where something was asked about the call since.
    let edit = state.edited().map(|(_, edit)| edit);
    let decided = state.decision.as_ref().and_then(|decision| decision.edit.as_deref());
    let shown = decided.map_or(&request.preview, |edit| &edit.preview);
    let (arguments, preview) = contents(edit.map_or(&call.arguments, |edit| &edit.arguments), shown)?;
    Some(CardView {
        asker: match request.kind {
            RequestKind::Recovery => Asker::Page,
            _ if state.is_raised => Asker::Tool,
            _ => Asker::Assistant,
        },
        tool: visible_line(&call.name),
        server: server_of(call).map(visible_line),
        title: tool.and_then(|tool| tool.title.as_deref()).map(visible_line),
        why: visible(&request.prompt),
        arguments,
        changes: edit.map(|edit| value_changes(&call.arguments, &edit.arguments)).unwrap_or_default(),
        preview,
        hints: tool.map(Hint::of).unwrap_or_default(),
        kind: request.kind.clone(),
        url: request.url.as_deref().map(visible_line),
        form: request.data.as_ref().filter(|_| request.kind.has_form()).map(Json::text),
        digest: decided.map_or(&request.digest, |edit| &edit.digest).as_str().to_owned(),
    })
}

/// The cards of the latest run, in the order they were asked, behind those that waited when its message came: what becomes of
/// a request is to be read in its place. `viewer` is who sits at this page: a receipt says "you" only to the person who
/// decided.
pub fn cards(run: &Run, viewer: Option<&PersonId>) -> Vec<Card> {
    let entries = run.chat().entries();
    let (shown, latest) = run.chat().shown();
    let mut cards = Vec::new();
    for (place, entry) in entries.iter().enumerate().skip(shown) {
        let Entry::Turn(turn) = entry else { continue };
        // A card without its arguments would be a receipt for something else.
        if run.chat().is_cleared(run.chat().folded() + place) {
            continue;
        }
        for (call, state) in turn.turn.calls.iter().zip(&turn.calls) {
            let Some(view) = view(call, run.tool(call).as_deref(), state) else { continue };
            let Some(request) = &state.request else { continue };
            let token = state.result.as_ref().and_then(|settled| settled.facts.as_ref()).map(|facts| facts.token);
            let waited =
                matches!(token, Some(Token::ApprovalSuperseded | Token::RequestLapsed | Token::OutcomeUnknown));
            let is_superseded = place < latest;
            if is_superseded && !waited {
                continue;
            }
            let is_over = run.chat().request_end(&request.id).is_some_and(RequestEnd::is_expiry);
            let receipt = receipt(run, state, viewer, is_over, is_superseded);
            let deadline = Deadline::of(request, state, run.settings().expire_after).filter(|_| receipt.is_none());
            let offer = if receipt.is_none() { offer(run, call, request, viewer) } else { None };
            cards.push(Card { request: request.id.clone(), view, offer, deadline, receipt });
        }
    }
    cards
}

/// Writes rows, as the member `arguments`.
pub fn write_rows(rows: &[Row], out: &mut Writer) {
    out.key("arguments");
    out.open('[');
    for row in rows {
        out.item();
        row.write(out);
    }
    out.close(']');
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

/// How far the permission reaches that was given with a decision, and until when, if it was kept.
fn kept(run: &Run, decision: &Decision) -> Option<(Scope, Option<u64>)> {
    let (_, id) = decision.standing.as_ref()?;
    run.grants().as_ref()?.given(id).map(|grant| (grant.scope, grant.until))
}

fn receipt(
    run: &Run,
    state: &CallState,
    viewer: Option<&PersonId>,
    is_over: bool,
    is_superseded: bool,
) -> Option<Receipt> {
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
        (Stage::Started, _) if run.status() == Status::Interrupted => "outcome.unknown",
        (Stage::Started, _) => "outcome.running",
        _ => "outcome.others",
    };
    let at = state.settled_at;
    if let Some(decision) = &state.decision {
        let kind = state.request.as_ref().map(|request| &request.kind);
        let mark = if decision.approve { "approved" } else { state.refusal().map_or("denied", Token::token) };
        let is_consent = decision.approve && !matches!(kind, Some(kind) if kind.has_form());
        let (kept, until) = kept(run, decision).unzip();
        let scope = is_consent.then_some(match kept {
            None => "receipt.once",
            Some(Scope::Chat) => "receipt.chat",
            Some(Scope::Always) => "receipt.always",
        });
        let reason = decision.reason.map(|reason| match reason {
            DenyReason::Variant => "reason.variant",
            DenyReason::Skip => "reason.skip",
        });
        let note = decision.note.as_deref().map(visible);
        let decision = decided(decision, kind, kept, viewer);
        return Some(Receipt { mark, decision, outcome, at, scope, until: until.flatten(), reason, note });
    }
    let lapsed = |mark, decision| {
        Some(Receipt { mark, decision, outcome, at, scope: None, until: None, reason: None, note: None })
    };
    if is_old {
        return lapsed("denied", "decided.old");
    }
    let token = token?;
    let decision = match token {
        Token::ApprovalExpired => "lapsed.expired",
        Token::RequestLapsed if is_over => "lapsed.unanswered_in_time",
        _ if is_superseded => "lapsed.superseded",
        Token::RequestLapsed => "lapsed.unanswered",
        _ => "lapsed.stopped",
    };
    lapsed(token.token(), decision)
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
        (Some(RequestKind::Approval), true) if decision.edit.is_some() => {
            ["decided.edited.you", "decided.edited.other", "decided.edited.unknown"]
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
