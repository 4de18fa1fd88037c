//! What a page draws: the chat as plain data, serialised as it stands here.

use serde::Serialize;

use super::card::{self, CardView};
use super::event::{Decision, EndStatus};
use super::log::{CallState, Entry, Stage};
use super::message::{Part, TurnCall};
use super::run::{Run, Status};

/// One message of the chat, as pages see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(tag = "type", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub enum MessageView {
    /// A person's message.
    User {
        /// Its id.
        id: String,
        /// Its author's id; null when the host did not know.
        by: Option<String>,
        /// Its text.
        text: String,
    },
    /// A model's turn.
    Assistant {
        /// The turn's id.
        id: String,
        /// The answer.
        text: String,
        /// Reasoning the provider showed.
        reasoning: String,
        /// A refusal sent apart from the text.
        refusal: String,
        /// Its calls, in call order.
        calls: Vec<CallView>,
    },
    /// A model request that gave no turn.
    Error {
        /// Its place in the chat.
        id: String,
        /// The stable code.
        code: String,
        /// One sentence about it.
        message: String,
        /// Text that had arrived.
        text: String,
    },
}

/// One tool call, as pages see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CallView {
    id: String,
    tool: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    title: Option<String>,
    /// The exact text of the arguments, as the model wrote it.
    arguments: String,
    /// `requested`, `waiting`, `ready`, `running` or `settled`.
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    request_id: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<DecisionView>,
    /// The outcome's token; absent for a plain result.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    /// Who decided, in relation to the run; only where a person did.
    #[serde(skip_serializing_if = "Option::is_none")]
    decided_by: Option<&'static str>,
    /// Whether the tool ran; null where that is not known, absent while the call is open.
    #[serde(skip_serializing_if = "Option::is_none")]
    executed: Option<Option<bool>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    result: Option<ResultView>,
}

/// A person's decision, as pages see it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct DecisionView {
    approve: bool,
    decided_by: &'static str,
    by: Option<String>,
    via: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    reason: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    note: Option<String>,
}

/// The one result of a call, as the model reads it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
struct ResultView {
    text: String,
    is_error: bool,
}

/// A pending request.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RequestView {
    id: String,
    kind: &'static str,
    call_id: String,
    prompt: String,
    /// Milliseconds since the epoch; null for never.
    expires_at: Option<u64>,
    view: CardView,
}

/// How the latest run stands.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct RunView {
    /// See [`Status::token`].
    pub status: &'static str,
    /// A token that says more about the end: `repeated_denied_call`, `refusal`, `length`, `empty` …
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// The failed model request behind status `error`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub error: Option<ErrorView>,
    /// The text of the run's last answer.
    pub text: String,
}

/// An error, as data.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ErrorView {
    /// The stable code.
    pub code: String,
    /// One sentence about it.
    pub message: String,
}

/// The message at a place of the chat.
pub fn message(run: &Run, place: usize) -> Option<MessageView> {
    Some(match run.chat().entries().get(place)? {
        Entry::User { message, author, parts } => MessageView::User {
            id: message.as_str().to_owned(),
            by: author.as_ref().map(|author| author.as_str().to_owned()),
            text: parts.iter().map(|Part::Text(text)| text.as_str()).collect::<Vec<_>>().join("\n"),
        },
        Entry::Turn(turn) => MessageView::Assistant {
            id: turn.id.clone(),
            text: turn.turn.text.clone(),
            reasoning: turn.turn.reasoning.clone(),
            refusal: turn.turn.refusal.clone(),
            calls: turn.turn.calls.iter().zip(&turn.calls).map(|(call, state)| call_view(run, call, state)).collect(),
        },
        Entry::Failure { code, message, text } => MessageView::Error {
            id: format!("e{place}"),
            code: code.clone(),
            message: message.clone(),
            text: text.clone(),
        },
    })
}

/// The pending requests, in call order.
pub fn requests(run: &Run) -> Vec<RequestView> {
    let pending = run.chat().pending().filter_map(|(request, state)| {
        let (call, _) = run.chat().call(&state.id)?;
        Some(RequestView {
            id: request.id.as_str().to_owned(),
            kind: "approval",
            call_id: request.call.as_str().to_owned(),
            prompt: request.prompt.clone(),
            expires_at: request.expires_at,
            view: card::view(&call.name, run.title(&call.name), &call.arguments, state)?,
        })
    });
    pending.collect()
}

/// How the latest run stands.
pub fn run_view(run: &Run) -> RunView {
    let status = run.status();
    let entries = run.chat().entries();
    let error = match (status, entries.last()) {
        (Status::Error, Some(Entry::Failure { code, message, .. })) => {
            Some(ErrorView { code: code.clone(), message: message.clone() })
        }
        _ => None,
    };
    let of_run = entries.iter().rev().take_while(|entry| !matches!(entry, Entry::User { .. }));
    let text = of_run.filter_map(|entry| match entry {
        Entry::Turn(turn) => Some(turn.turn.text.clone()),
        Entry::User { .. } | Entry::Failure { .. } => None,
    });
    let text = text.into_iter().next().unwrap_or_default();
    let reason = match status {
        Status::Ended(EndStatus::Done | EndStatus::Stopped | EndStatus::Limit) => {
            run.chat().run().and_then(|run| run.end.as_ref()).and_then(|(_, reason)| reason.clone())
        }
        _ => None,
    };
    RunView { status: status.token(), reason, error, text }
}

fn call_view(run: &Run, call: &TurnCall, state: &CallState) -> CallView {
    let facts = state.result.as_ref().and_then(|settled| settled.facts.as_ref());
    CallView {
        id: state.id.as_str().to_owned(),
        tool: call.name.clone(),
        title: run.title(&call.name).map(str::to_owned),
        arguments: call.arguments.clone(),
        state: match state.stage() {
            Stage::Requested => "requested",
            Stage::Asked => "waiting",
            Stage::Ready => "ready",
            Stage::Started => "running",
            Stage::Settled => "settled",
        },
        request_id: state.request.as_ref().map(|request| request.id.as_str().to_owned()),
        decision: state.decision.as_ref().map(decision_view),
        outcome: facts.map(|facts| facts.token.token()),
        decided_by: facts.and_then(|facts| facts.decided_by).map(super::outcome::Decider::token),
        executed: state.result.as_ref().map(|_| facts.map_or(Some(true), |facts| facts.token.executed())),
        result: state
            .result
            .as_ref()
            .map(|settled| ResultView { text: settled.item.text.clone(), is_error: settled.item.is_error }),
    }
}

fn decision_view(decision: &Decision) -> DecisionView {
    DecisionView {
        approve: decision.approve,
        decided_by: decision.decided_by.token(),
        by: decision.decider.as_ref().map(|id| id.as_str().to_owned()),
        via: decision.via.token(),
        reason: decision.reason.map(super::outcome::DenyReason::token),
        note: decision.note.clone(),
    }
}
