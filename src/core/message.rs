//! What a chat consists of: roles, content, tool calls and result items.

use std::rc::Rc;

use super::json::Json;

/// Declares a newtype over an opaque, non-empty string.
macro_rules! id {
    ($(#[$doc:meta])* $name:ident) => {
        $(#[$doc])*
        #[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub struct $name(String);

        impl $name {
            /// Takes the string as it is.
            pub fn new(text: impl Into<String>) -> Self {
                Self(text.into())
            }

            /// The id as text.
            pub fn as_str(&self) -> &str {
                &self.0
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.0)
            }
        }
    };
}

id!(
    /// A chat: one conversation.
    ChatId
);
id!(
    /// A run: the work one user message starts.
    RunId
);
id!(
    /// A message of the chat.
    MessageId
);
id!(
    /// A tool call, named by us: run, turn and position. Providers repeat and restart their own ids.
    CallId
);
id!(
    /// A request that waits for a person.
    RequestId
);
id!(
    /// A standing permission.
    GrantId
);

impl CallId {
    /// The ids of a turn's calls: the turn's id and the place, from 1.
    pub fn of_turn(turn: &str, calls: usize) -> Vec<Self> {
        (1..=calls).map(|place| Self::new([turn, "c", &place.to_string()].concat())).collect()
    }

    /// The id of the nth turn that a chat was started from. No run's turn is named so.
    pub fn seeded_turn(number: usize) -> String {
        ["h", &number.to_string()].concat()
    }
}

/// A part of a user's message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Part {
    /// Plain text.
    Text(String),
    /// A picture.
    Image {
        /// An `https:` URL, or a `data:` URL with the picture itself in base64.
        url: String,
    },
    /// A document.
    File {
        /// What it is called.
        name: String,
        /// An `https:` URL, or a `data:` URL with the document itself in base64.
        url: String,
    },
}

impl Part {
    /// Media type and base64 text of a `data:` URL; `None` for any other URL.
    pub fn data_of(url: &str) -> Option<(&str, &str)> {
        let (media_type, data) = url.strip_prefix("data:")?.split_once(',')?;
        Some((media_type.strip_suffix(";base64")?, data))
    }
}

/// Who runs what a call is for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum CallKind {
    /// This program: a tool of the host, found by its name.
    #[default]
    Function,
    /// The provider, which asks for a person's word first. No tool of the host has to do with it, whatever its name, and
    /// nothing here runs: a plain result lets the provider go on, an error result does not.
    ProviderApproval {
        /// What the provider calls the server whose tool it is.
        server: String,
    },
}

/// A call as the model made it in one turn, not yet judged.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TurnCall {
    /// Who runs it.
    pub kind: CallKind,
    /// The id the provider gave, if any. Goes back to the same provider, names nothing here.
    pub provider_id: Option<String>,
    /// The tool's name, exactly as the model wrote it.
    pub name: String,
    /// The arguments' exact text, as collected from the stream: not checked yet.
    pub arguments: String,
}

/// The label of the provider's server that a call would run on, if it is not the page that runs it.
pub fn server_of(call: &TurnCall) -> Option<&str> {
    match &call.kind {
        CallKind::ProviderApproval { server } => Some(server),
        CallKind::Function => None,
    }
}

/// How a model's turn ended. Decided from the collected calls and truncation, never from the finish
/// reason alone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TurnEnd {
    /// The model called tools.
    ToolCalls,
    /// The model answered.
    Stop,
    /// The model refused, or a filter did.
    Refusal,
    /// The turn was cut at the token limit: none of its calls run.
    Length,
    /// The stream broke off: none of its calls run.
    Truncated,
    /// An ending this build does not know; the text counts as an answer.
    Other,
}

impl TurnEnd {
    /// The token used in events and snapshots.
    pub const fn token(self) -> &'static str {
        match self {
            Self::ToolCalls => "tool_calls",
            Self::Stop => "stop",
            Self::Refusal => "refusal",
            Self::Length => "length",
            Self::Truncated => "truncated",
            Self::Other => "other",
        }
    }

    /// Reads [`token`](Self::token) back.
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::ToolCalls, Self::Stop, Self::Refusal, Self::Length, Self::Truncated, Self::Other]
            .into_iter()
            .find(|end| end.token() == token)
    }

    /// Whether the turn was cut off, so that no call of it may run.
    pub const fn is_cut(self) -> bool {
        matches!(self, Self::Length | Self::Truncated)
    }
}

/// One model response, whole.
#[derive(Clone, Debug, PartialEq)]
pub struct Turn {
    /// How it ended.
    pub end: TurnEnd,
    /// The provider's finish reason, verbatim, for the log.
    pub finish_reason: Option<String>,
    /// The answer's text.
    pub text: String,
    /// Reasoning the provider showed.
    pub reasoning: String,
    /// A refusal's text, where the provider sends it apart.
    pub refusal: String,
    /// The calls, in order of first appearance.
    pub calls: Vec<TurnCall>,
    /// Token counts as the provider sent them, unread.
    pub usage: Option<Json>,
    /// Fields of the assistant message and of its calls that this build does not interpret
    /// (signatures, reasoning to be replayed). They go back to the same endpoint and model only.
    pub extra: TurnExtra,
}

/// The provider's own shape of a turn, as far as the fields above do not hold it. It goes back where it came from and
/// nowhere else: signatures and encrypted reasoning mean nothing to another model.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct TurnExtra {
    /// The endpoint and model the turn came from; empty where nothing is bound to them.
    pub binding: String,
    /// The turn's items whole, unmerged and in order, on wires whose turns are lists of items.
    pub items: Vec<Json>,
    /// Unknown fields of the assistant message, in order.
    pub message: Vec<(String, Json)>,
    /// Per call, in call order: unknown fields of that call.
    pub calls: Vec<Vec<(String, Json)>>,
}

/// A tool as the model is told of it.
#[derive(Clone, Debug, PartialEq)]
pub struct ToolSpec {
    /// The name the model calls it by.
    pub name: String,
    /// What it does; left out of the request when empty.
    pub description: String,
    /// JSON Schema of its arguments; `null` for a tool without arguments.
    pub input_schema: Json,
}

/// Why a model request gave no turn.
#[derive(Clone, Debug, PartialEq)]
pub struct ModelError {
    /// A stable class: see [`ModelErrorClass`].
    pub class: ModelErrorClass,
    /// What the provider said, or what was seen instead, as one sentence.
    pub message: String,
    /// The HTTP status, where there was a response.
    pub status: Option<u16>,
    /// Whether the same request may succeed later, unchanged.
    pub retryable: bool,
    /// How long the provider asked to wait, in milliseconds.
    pub retry_after_ms: Option<u64>,
    /// The provider's error object, whole, for the log.
    pub detail: Option<Json>,
}

impl ModelError {
    /// An error that no provider described. It is retryable as its class usually is.
    pub fn new(class: ModelErrorClass, message: impl Into<String>) -> Self {
        let retryable = class.is_usually_transient();
        Self { class, message: message.into(), status: None, retryable, retry_after_ms: None, detail: None }
    }
}

/// Classes of model errors; the token is the `CountersignError` code that the page sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ModelErrorClass {
    /// 401, 403: the key is missing or wrong.
    Auth,
    /// The account has no credit left; waiting does not help.
    Quota,
    /// 429: too many requests; waiting helps.
    RateLimit,
    /// The history no longer fits the model's context.
    ContextTooLong,
    /// The server refused the request as malformed.
    BadRequest,
    /// 5xx, overloaded.
    Overloaded,
    /// No answer, or no more of it, within the time the host allows.
    Timeout,
    /// No response: the network failed, or the server's CORS headers forbid this page.
    NetworkOrCors,
    /// A response that is no model answer (an HTML page, an empty body).
    BadResponse,
    /// An error inside the stream that fits no other class.
    Provider,
}

impl ModelErrorClass {
    /// The error code, stable.
    pub const fn code(self) -> &'static str {
        match self {
            Self::Auth => "model_auth",
            Self::Quota => "model_quota",
            Self::RateLimit => "model_rate_limit",
            Self::ContextTooLong => "model_context_too_long",
            Self::BadRequest => "model_bad_request",
            Self::Overloaded => "model_overloaded",
            Self::Timeout => "model_timeout",
            Self::NetworkOrCors => "model_network_or_cors",
            Self::BadResponse => "model_bad_response",
            Self::Provider => "model_error",
        }
    }

    /// Whether waiting usually helps.
    pub const fn is_usually_transient(self) -> bool {
        matches!(self, Self::RateLimit | Self::Overloaded | Self::NetworkOrCors)
    }
}

/// A settled item of the chat's history, as the wire encodes it.
#[derive(Clone, Debug, PartialEq)]
pub enum HistoryItem {
    /// A person's message.
    User(Vec<Part>),
    /// A model's turn. `call_ids` stand beside `turn.calls`, one each: our own ids.
    Assistant {
        /// The turn.
        turn: Rc<Turn>,
        /// Our ids of its calls, in call order.
        call_ids: Vec<CallId>,
    },
    /// The one result of one call.
    Result(ResultItem),
}

/// Who wrote a result's text, so that later turns know what to trust.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trust {
    /// This program: fixed wording.
    Host,
    /// A tool of the host.
    Tool,
    /// Data from outside; never instructions.
    ExternalUntrusted,
}

impl Trust {
    /// The token used in stored items.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Host => "host",
            Self::Tool => "tool",
            Self::ExternalUntrusted => "external_untrusted",
        }
    }

    /// Reads [`token`](Self::token) back.
    pub fn from_token(token: &str) -> Option<Self> {
        [Self::Host, Self::Tool, Self::ExternalUntrusted].into_iter().find(|trust| trust.token() == token)
    }
}

/// The one result of a call, rendered once and stored: the bytes the model saw are the bytes it sees ten
/// turns later.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ResultItem {
    /// The call it answers.
    pub call: CallId,
    /// Name of the renderer that wrote `text`; `None` for a tool's own result.
    pub renderer: Option<String>,
    /// What the model reads.
    pub text: String,
    /// On for every non-result, whatever the renderer.
    pub is_error: bool,
    /// Who wrote the text.
    pub trust: Trust,
}
