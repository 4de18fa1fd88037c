//! What waits for a person: the request, and the digest that binds it to one call.

use sha2::{Digest as _, Sha256};

use super::json::Json;
use super::message::{CallId, ChatId, RequestId, RunId};
use super::outcome::tokens;
use super::policy::ToolEffect;

/// SHA-256 in lower-case hexadecimal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Digest(String);

impl Digest {
    /// Hashes the fields, each prefixed by its length in bytes (64 bits, big endian), so that no two lists of
    /// fields give the same input.
    pub fn of(domain: &str, fields: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for field in std::iter::once(&domain).chain(fields) {
            hasher.update((field.len() as u64).to_be_bytes());
            hasher.update(field.as_bytes());
        }
        let mut hex = String::with_capacity(64);
        for byte in hasher.finalize() {
            for nibble in [byte >> 4, byte & 15] {
                hex.push(char::from_digit(u32::from(nibble), 16).unwrap_or('?'));
            }
        }
        Self(hex)
    }

    /// Takes a digest read from the log.
    pub fn from_stored(hex: &str) -> Self {
        Self(hex.to_owned())
    }

    /// The hexadecimal text.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// A tool as the host registered it: what the model is offered and what a person is asked about.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool {
    /// The server that runs it, by the label the host gave; `None` for a tool of the page itself.
    pub server: Option<String>,
    /// The name the model calls it by: 1 to 64 of `a-z A-Z 0-9 _ -`.
    pub name: String,
    /// A name for people.
    pub title: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// The JSON Schema of its arguments.
    pub input_schema: Json,
    /// What it declares to do; `None` counts as a write.
    pub effect: Option<ToolEffect>,
    /// Whether a second attempt does no more than the first: it may be made again after its result was lost.
    pub idempotent: bool,
    /// Whether its results come from outside and may hold instructions of strangers.
    pub untrusted: bool,
    /// What the tool's server says of it, where the tool came from one.
    pub annotations: Option<Annotations>,
    /// Whether it is told also of a no to what it asked for, and ends its call itself.
    pub relays: bool,
}

/// What a server says of its tool, as the Model Context Protocol has it. Anybody can say so: it raises the risk that is
/// shown, and lowers nothing.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Annotations {
    /// Whether it changes nothing.
    pub read_only: Option<bool>,
    /// Whether it may delete or overwrite.
    pub destructive: Option<bool>,
    /// Whether a second call with the same arguments does nothing more.
    pub idempotent: Option<bool>,
    /// Whether it deals with the world outside.
    pub open_world: Option<bool>,
}

impl Annotations {
    /// All four as a text to hash.
    fn text(self) -> String {
        let all = [self.read_only, self.destructive, self.idempotent, self.open_world];
        all.iter().map(|hint| hint.map_or('-', |hint| if hint { '1' } else { '0' })).collect()
    }
}

/// What of a tool's definition a person's consent rests on, hashed part by part, so that a change can be named.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Aspects(String);

/// What the parts are called, in their order. The last is there only where a tool has annotations.
const ASPECTS: [&str; 5] = ["title", "description", "input schema", "effect", "annotations"];
/// Hexadecimal digits kept of each part's hash.
const ASPECT_DIGITS: usize = 16;

impl Aspects {
    /// Takes what the log holds.
    pub fn from_stored(text: &str) -> Self {
        Self(text.to_owned())
    }

    /// As the log holds it.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The names of the parts that differ.
    pub fn changes(&self, now: &Self) -> Vec<&'static str> {
        let parts = [self, now].map(|text| text.0.as_bytes().chunks(ASPECT_DIGITS).collect::<Vec<_>>());
        let [before, now] = &parts;
        let differ = |place: &usize| before.get(*place) != now.get(*place);
        (0..ASPECTS.len()).filter(differ).filter_map(|place| ASPECTS.get(place).copied()).collect()
    }
}

/// What a pause asks for. A tool may ask for kinds that this build does not know: they are kept and shown as they are,
/// and the host settles them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RequestKind {
    /// Whether a call may run, or what the tool itself wants approved.
    Approval,
    /// What is to become of a call that was started and whose result was lost: whether it may run again. No tool asks it.
    Recovery,
    /// Values for the fields of a schema, which the tool needs to go on.
    Input,
    /// The same, as an answer to a question.
    Question,
    /// Consent given elsewhere, at the request's URL.
    Authorization,
    /// Anything else.
    Other(String),
}

impl RequestKind {
    /// The kind of this name.
    pub fn of(name: &str) -> Self {
        match name {
            "approval" => Self::Approval,
            "recovery" => Self::Recovery,
            "input" => Self::Input,
            "question" => Self::Question,
            "authorization" => Self::Authorization,
            _ => Self::Other(name.to_owned()),
        }
    }

    /// The name in events and snapshots.
    pub fn token(&self) -> &str {
        match self {
            Self::Approval => "approval",
            Self::Recovery => "recovery",
            Self::Input => "input",
            Self::Question => "question",
            Self::Authorization => "authorization",
            Self::Other(name) => name,
        }
    }

    /// Whether its answer is values for the fields of a schema.
    pub const fn has_form(&self) -> bool {
        matches!(self, Self::Input | Self::Question)
    }
}

/// What a tool that was started asks for instead of giving a result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AskSpec {
    /// What kind of thing.
    pub kind: RequestKind,
    /// What the person reads.
    pub prompt: String,
    /// Where the person has to go, for an authorization.
    pub url: Option<String>,
    /// What comes with it: for a form, `{"schema": …}`.
    pub data: Option<Json>,
    /// When it lapses: `None` where the tool does not say, `Some(None)` for never.
    pub expires_at: Option<Option<u64>>,
}

impl Tool {
    /// A tool that a server of the model's provider runs once it has been approved. Nothing is known of it but its name.
    pub fn of_provider(server: &str, name: &str) -> Self {
        Self {
            server: Some(server.to_owned()),
            name: name.to_owned(),
            title: None,
            description: String::new(),
            input_schema: Json::Null,
            effect: None,
            idempotent: false,
            untrusted: true,
            annotations: None,
            relays: false,
        }
    }

    /// The hashes of its parts.
    pub fn aspects(&self) -> Aspects {
        let schema = self.input_schema.text();
        let effect = self.effect.map_or("", ToolEffect::token);
        let parts = [self.title.as_deref().unwrap_or_default(), &self.description, &schema, effect];
        let annotations = self.annotations.map(Annotations::text);
        let parts = parts.into_iter().chain(annotations.as_deref());
        let hashes = parts.map(|part| Digest::of("countersign/aspect/1", &[part]).0);
        Aspects(hashes.filter_map(|hash| hash.get(..ASPECT_DIGITS).map(str::to_owned)).collect())
    }

    /// Hash of everything a person's consent to this tool rests on.
    pub fn definition_hash(&self) -> Digest {
        let schema = self.input_schema.text();
        let effect = self.effect.map_or("", ToolEffect::token);
        let annotations = self.annotations.map(Annotations::text);
        let mut fields =
            vec![&*self.name, self.title.as_deref().unwrap_or_default(), &self.description, &schema, effect];
        // Appended, so that a tool without them keeps the hash that logs hold.
        fields.extend(annotations.as_deref());
        Digest::of("countersign/tool/1", &fields)
    }
}

/// Where a call stands: the chat, the run and our id of it.
#[derive(Clone, Copy, Debug)]
pub struct Place<'a> {
    /// The chat.
    pub chat: &'a ChatId,
    /// The run.
    pub run: &'a RunId,
    /// The call.
    pub call: &'a CallId,
}

/// The digest of one call: consent to it covers exactly these bytes of arguments, this tool and this place.
pub fn call_digest(place: Place<'_>, tool: &Tool, arguments: &str) -> Digest {
    Digest::of(
        "countersign/call/1",
        &[
            place.chat.as_str(),
            place.run.as_str(),
            place.call.as_str(),
            tool.server.as_deref().unwrap_or_default(),
            &tool.name,
            tool.definition_hash().as_str(),
            arguments,
        ],
    )
}

tokens! {
    /// How far an approval reaches beyond the one call. Approving once has no scope.
    Scope {
        /// Calls of the same chat.
        Chat = "chat",
        /// Calls of every chat.
        Always = "always",
    }
}

/// What a tool says of a call before it runs.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Preview {
    /// What the call would do, line by line.
    pub lines: Vec<String>,
    /// The values that the arguments replace, in the shape of the arguments.
    pub current: Option<Json>,
}

/// A call that waits for a person, in front of its tool or because its tool asked for something.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Request {
    /// Random, 128 bits.
    pub id: RequestId,
    /// What it asks for.
    pub kind: RequestKind,
    /// The call it stands in front of.
    pub call: CallId,
    /// Why it stopped: the reason of the rule or of the default, or what the tool said.
    pub prompt: String,
    /// Where the person has to go; only in what a tool asked for.
    pub url: Option<String>,
    /// What came with it; only in what a tool asked for.
    pub data: Option<Json>,
    /// What the decision will cover.
    pub digest: Digest,
    /// The tool's definition as it was when this was asked.
    pub aspects: Aspects,
    /// What the tool said of the call; nothing where it has no preview.
    pub preview: Preview,
    /// When it lapses, in milliseconds since the epoch; `None` for never.
    pub expires_at: Option<u64>,
    /// Whether nothing but the default, or a rule that says so, made it wait: then a standing permission may be given.
    pub grantable: bool,
}

impl Request {
    /// Whether its time is over at this time.
    pub fn is_over(&self, at: u64) -> bool {
        self.expires_at.is_some_and(|end| at >= end)
    }
}
