//! Standing permissions: what a person allowed beyond one call, and which calls that covers.
//!
//! They are a log of their own, of two types: `grant.given` (v1) and `grant.revoked` (v1), one JSON object a line. A log that
//! cannot be read permits nothing.

use std::cell::Cell;
use std::rc::Rc;

use super::approval::{Aspects, Digest, Scope, Tool};
use super::event::Reader;
use super::json::{Json, Writer, parse_lenient};
use super::message::{ChatId, GrantId, RequestId};
use super::outcome::PersonId;
use super::policy::Standing;

/// The version this build writes of both types.
const VERSION: u64 = 1;

/// The longest arguments, in bytes, of a call for which a standing permission can be given: the log is read before calls.
pub const MOST_ARGUMENTS: usize = 16_384;

/// A standing permission. Only a known person gives one, and it covers the runs of this person alone.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Grant {
    /// Random, 128 bits.
    pub id: GrantId,
    /// Where it holds.
    pub scope: Scope,
    /// The chat in which it was given.
    pub chat: ChatId,
    /// The server of the tool, as in [`Tool`].
    pub server: Option<String>,
    /// The tool's exact name.
    pub tool: String,
    /// The tool's definition when it was given: another one is not covered.
    pub definition: Digest,
    /// The same part by part, so that a change can be named.
    pub aspects: Aspects,
    /// Which arguments.
    pub constraint: Constraint,
    /// When it ends, in milliseconds since the epoch; `None` for never.
    pub until: Option<u64>,
    /// Who gave it.
    pub by: PersonId,
    /// When, in milliseconds since the epoch.
    pub at: u64,
    /// The request that was approved with it.
    pub request: RequestId,
}

/// Which arguments a permission covers. Values are equal as parsed, whatever the order of keys.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Constraint {
    /// Any.
    Any,
    /// These and no others.
    Exactly(Json),
    /// Any that have these values at the top level.
    Having(Vec<(String, Json)>),
}

/// Which of a call's arguments a person makes a constraint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Chosen {
    /// None.
    Any,
    /// All.
    Exactly,
    /// Those of these keys.
    Keys(Vec<String>),
}

/// What a person asks for beside the approval of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Terms {
    /// A fresh random id.
    pub id: GrantId,
    /// Where it is to hold.
    pub scope: Scope,
    /// For which arguments.
    pub arguments: Chosen,
    /// Until when, in milliseconds since the epoch; `None` for no end.
    pub until: Option<u64>,
}

/// A call that may be covered.
#[derive(Clone, Copy, Debug)]
pub struct Sought<'a> {
    /// Its chat.
    pub chat: &'a ChatId,
    /// The owner of its run.
    pub owner: Option<&'a PersonId>,
    /// Its tool, as it is now.
    pub tool: &'a Tool,
    /// Its arguments, parsed.
    pub arguments: &'a Json,
    /// What the clock says.
    pub at: u64,
    /// The latest time that is known to have been.
    pub known_at: u64,
}

impl Constraint {
    /// The chosen ones of these arguments; `None` if there is no argument of a key.
    pub fn of(chosen: &Chosen, arguments: &Json) -> Option<Self> {
        Some(match chosen {
            Chosen::Any => Self::Any,
            Chosen::Exactly => Self::Exactly(arguments.clone()),
            Chosen::Keys(keys) => {
                let having = keys.iter().map(|key| Some((key.clone(), arguments.get(key)?.clone())));
                Self::Having(having.collect::<Option<Vec<_>>>().filter(|having| !having.is_empty())?)
            }
        })
    }

    fn covers(&self, arguments: &Json) -> bool {
        match self {
            Self::Any => true,
            Self::Exactly(value) => value.same_value(arguments),
            Self::Having(values) => {
                values.iter().all(|(key, value)| arguments.get(key).is_some_and(|given| given.same_value(value)))
            }
        }
    }

    fn parts(&self) -> (&'static str, &[(String, Json)]) {
        match self {
            Self::Any => ("any", &[]),
            Self::Exactly(value) => ("exact", value.as_object().unwrap_or_default()),
            Self::Having(values) => ("having", values),
        }
    }
}

impl Grant {
    /// Whether it lets this call run: only if each of these holds.
    ///
    /// 1. It is of this chat, or of all.
    /// 2. Who gave it owns the run.
    /// 3. The server and the tool's name are the same, byte for byte.
    /// 4. The arguments are within the constraint.
    /// 5. Its time is not over; and no clock was set back, from behind its beginning or, where it ends, at all: that would give
    ///    it more time.
    /// 6. The tool's definition is the one it was given for.
    pub fn covers(&self, call: Sought<'_>) -> bool {
        self.is_about(call) && self.definition == call.tool.definition_hash()
    }

    /// Whether all but the last of these holds.
    fn is_about(&self, call: Sought<'_>) -> bool {
        (self.scope == Scope::Always || self.chat == *call.chat)
            && call.owner == Some(&self.by)
            && self.server == call.tool.server
            && self.tool == call.tool.name
            && self.constraint.covers(call.arguments)
            && call.at >= self.at
            && self.until.is_none_or(|until| call.at < until && call.at >= call.known_at)
    }

    /// Whether it holds in this chat and in no other.
    pub fn is_only_in(&self, chat: &ChatId) -> bool {
        self.scope == Scope::Chat && self.chat == *chat
    }

    /// Whether its time is over.
    pub fn is_over(&self, at: u64) -> bool {
        self.until.is_some_and(|until| at >= until)
    }

    /// What has changed of the tool since.
    fn changes(&self, tool: &Tool) -> Vec<&'static str> {
        let names = self.aspects.changes(&tool.aspects());
        if names.is_empty() { vec!["definition"] } else { names }
    }

    /// The values of the constraint.
    pub fn arguments(&self) -> Json {
        Json::Object(self.constraint.parts().1.to_vec())
    }

    /// What of the tool has changed since, so that nothing is covered; nothing where it is as it was.
    pub fn voided_by(&self, tool: &Tool) -> Vec<&'static str> {
        if self.definition == tool.definition_hash() { Vec::new() } else { self.changes(tool) }
    }

    /// Its members, as pages see them.
    pub fn write(&self, out: &mut Writer) {
        out.text("id", self.id.as_str());
        out.text("scope", self.scope.token());
        out.text("chat", self.chat.as_str());
        out.present("server", self.server.as_deref());
        out.text("tool", &self.tool);
        out.text("definition", self.definition.as_str());
        let (constraint, values) = self.constraint.parts();
        out.text("constraint", constraint);
        out.fields("arguments", values);
        write_until(self.until, out);
        out.text("by", self.by.as_str());
        out.number("at", self.at);
        out.text("requestId", self.request.as_str());
    }
}

fn write_until(until: Option<u64>, out: &mut Writer) {
    match until {
        Some(at) => out.number("until", at),
        None => out.optional("until", None),
    }
}

/// What the log of standing permissions tells.
#[derive(Clone, Debug, PartialEq)]
pub enum Entry {
    /// `grant.given` (v1): a person gave one.
    Given(Grant),
    /// `grant.revoked` (v1): somebody took one back, for good.
    Revoked {
        /// Which.
        id: GrantId,
        /// When, in milliseconds since the epoch.
        at: u64,
        /// Who, for the record; `None` where that is not known.
        by: Option<PersonId>,
    },
}

impl Entry {
    /// The entry as the line of that place in the log.
    pub fn encode(&self, seq: u64) -> String {
        let mut line = Writer::default();
        let (kind, at) = match self {
            Self::Given(grant) => ("grant.given", grant.at),
            Self::Revoked { at, .. } => ("grant.revoked", *at),
        };
        line.open('{');
        line.number("seq", seq);
        line.number("at", at);
        line.text("type", kind);
        line.number("v", VERSION);
        match self {
            Self::Given(grant) => {
                line.text("grant_id", grant.id.as_str());
                line.text("scope", grant.scope.token());
                line.text("chat", grant.chat.as_str());
                line.optional("server", grant.server.as_deref());
                line.text("tool", &grant.tool);
                line.text("definition", grant.definition.as_str());
                line.text("aspects", grant.aspects.as_str());
                let (constraint, values) = grant.constraint.parts();
                line.text("constraint", constraint);
                line.fields("arguments", values);
                write_until(grant.until, &mut line);
                line.text("by", grant.by.as_str());
                line.text("request_id", grant.request.as_str());
            }
            Self::Revoked { id, by, .. } => {
                line.text("grant_id", id.as_str());
                line.optional("by", by.as_ref().map(PersonId::as_str));
            }
        }
        line.close('}');
        line.finish()
    }

    /// Reads the line of that place. The error is the end of a sentence.
    fn decode(line: &str, seq: u64) -> Result<Self, String> {
        let stored = parse_lenient(line.as_bytes()).map_err(|error| error.text())?;
        let wrong = Cell::new(None);
        let read = Reader { object: &stored, wrong: &wrong, cleared: false };
        let version = read.number("v");
        if wrong.get().is_none() && version != VERSION {
            return Err(["version ", &version.to_string(), " is not known to this build"].concat());
        }
        if read.number("seq") != seq {
            read.reject("seq");
        }
        let id = GrantId::new(read.name("grant_id"));
        let entry = match read.text("type") {
            "grant.given" => match read.person("by") {
                Some(by) => Self::Given(read_grant(id, by, read)),
                None => return Err("nobody gave it".to_owned()),
            },
            "grant.revoked" => Self::Revoked { id, at: read.number("at"), by: read.person("by") },
            kind => return Err(["the type ", kind, " is not known to this build"].concat()),
        };
        match wrong.get() {
            None => Ok(entry),
            Some(key) => Err(["the field ", key, " is missing or of the wrong kind"].concat()),
        }
    }
}

fn read_grant(id: GrantId, by: PersonId, read: Reader<'_>) -> Grant {
    let values = read.fields("arguments");
    Grant {
        id,
        scope: read.token("scope", Scope::from_token, Scope::Chat),
        chat: ChatId::new(read.name("chat")),
        server: read.owned("server"),
        tool: read.name("tool").to_owned(),
        definition: Digest::from_stored(read.name("definition")),
        aspects: Aspects::from_stored(read.text("aspects")),
        constraint: match read.text("constraint") {
            "any" => Constraint::Any,
            "having" => Constraint::Having(values),
            constraint => {
                if constraint != "exact" {
                    read.reject("constraint");
                }
                Constraint::Exactly(Json::Object(values))
            }
        },
        until: (!read.field("until").is_null()).then(|| read.number("until")),
        by,
        at: read.number("at"),
        request: read.request(),
    }
}

/// All standing permissions, as their log tells.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Book {
    grants: Vec<(Grant, bool)>,
    len: u64,
    last_at: u64,
}

impl Book {
    /// Reads the whole log. The error is a sentence.
    pub fn read<'a>(lines: impl IntoIterator<Item = &'a str>) -> Result<Self, String> {
        let mut book = Self::default();
        for line in lines {
            let wrong = |why: &str| {
                let line = (book.len + 1).to_string();
                ["The standing permissions cannot be read, so none of them holds: in line ", &line, " ", why, "."]
                    .concat()
            };
            match Entry::decode(line, book.len).map_err(|why| wrong(&why))? {
                Entry::Given(grant) if book.given(&grant.id).is_some() => return Err(wrong("one is given again")),
                Entry::Given(grant) => {
                    book.last_at = book.last_at.max(grant.at);
                    book.grants.push((grant, true));
                }
                Entry::Revoked { id, at, .. } => {
                    let Some((_, stands)) = book.grants.iter_mut().find(|(grant, _)| grant.id == id) else {
                        return Err(wrong("one is revoked that was not given"));
                    };
                    *stands = false;
                    book.last_at = book.last_at.max(at);
                }
            }
            book.len += 1;
        }
        Ok(book)
    }

    /// How many lines its log has.
    pub const fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was ever given.
    pub const fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// One that was given, whether or not it still stands.
    pub fn given(&self, id: &GrantId) -> Option<&Grant> {
        self.grants.iter().find(|(grant, _)| grant.id == *id).map(|(grant, _)| grant)
    }

    /// Those that stand, in the order in which they were given.
    pub fn standing(&self) -> impl Iterator<Item = &Grant> {
        self.grants.iter().filter(|(_, stands)| *stands).map(|(grant, _)| grant)
    }

    /// Whether this one stands and covers this call.
    pub fn allows(&self, id: &GrantId, call: Sought<'_>) -> bool {
        self.standing().any(|grant| grant.id == *id && grant.covers(self.sought(call)))
    }

    /// What it says of a call, as far as permissions of these scopes count.
    pub fn look_up(&self, call: Sought<'_>, scopes: &[Scope]) -> Standing {
        let call = self.sought(call);
        let mut about = self.standing().filter(|grant| scopes.contains(&grant.scope) && grant.is_about(call));
        let Some(first) = about.next() else { return Standing::Silent };
        let covering = std::iter::once(first).chain(about).find(|grant| grant.covers(call));
        covering.map_or_else(|| Standing::Changed(first.changes(call.tool)), |grant| Standing::Covers(grant.id.clone()))
    }

    fn sought<'a>(&self, call: Sought<'a>) -> Sought<'a> {
        Sought { known_at: call.known_at.max(self.last_at), ..call }
    }
}

/// A book that may be shared, or none where it could not be read.
pub type Read = Option<Rc<Book>>;

/// What a book that may not have been read says of a call.
pub fn look_up(book: &Read, call: Sought<'_>, scopes: &[Scope]) -> Standing {
    book.as_ref().map_or(Standing::Unread, |book| book.look_up(call, scopes))
}
