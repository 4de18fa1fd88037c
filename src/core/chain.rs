//! The record one can check: stored lines sealed into a chain of hashes, and exported with as much as the reader may see.
//!
//! A stored line is the event's JSON object, its *header* members first and its *content* members after them (see
//! [`is_header`]), then `salt` and `hash`. All hashes are SHA-256 over fields of prefixed length, as
//! [`Digest::of`] hashes them, in lower-case hexadecimal; the JSON text of members is compact, in their order:
//!
//! ```text
//! hash          = H("countersign/event/1", hash of the line before or "", text of the header, content_hash)
//! content_hash  = H("countersign/content/1", text_hash, redacted_hash)
//! text_hash     = H("countersign/content-text/1", salt, text of the content)
//! redacted_hash = H("countersign/content-redacted/1", redacted_salt, text of redacted)
//! redacted_salt = H("countersign/redacted-salt/1", salt)
//! ```
//!
//! So a line can stand in three forms that have the same `hash`: whole; with `redacted`, `redacted_salt` and `text_hash` in
//! place of content and salt; and with `content_hash` alone. Nothing in a line is outside of its hash. Without the salt, which
//! is random and goes with the content, no guess at the content can be tried on the hash.
//!
//! **What this shows.** A line that was changed, put in, taken out or moved breaks the chain, unless everything after it
//! was sealed anew. Who can write the log can do that, and can drop its end: both are evident only to somebody who kept an
//! earlier [`Verified::head`] elsewhere.

use super::approval::Digest;
use super::event::is_header;
use super::json::{Json, parse_lenient};
use super::outcome::tokens;

tokens! {
    /// How much of a chat an export holds. The decision record is in each: ids, tokens, who decided what and when.
    Privacy {
        /// No content: ids, tokens, decisions, lengths.
        Metadata = "metadata",
        /// Beside that the content's shape, each text replaced by its length in characters.
        Redacted = "redacted",
        /// Everything.
        Full = "full",
    }
}

impl Privacy {
    /// Reads a token; what is not known counts as the level that shows least.
    pub fn of(token: &str) -> Self {
        Self::from_token(token).unwrap_or(Self::Metadata)
    }
}

/// What an intact record says of itself.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Verified {
    /// How many events it has.
    pub events: u64,
    /// The hash of the last one, empty where there is none. Kept elsewhere, it shows later that nothing was sealed anew or
    /// dropped.
    pub head: String,
}

/// Where a record is not what was written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// The position of the first line at fault.
    pub seq: u64,
    /// What is wrong with it, as one sentence.
    pub problem: String,
}

/// Seals one event's line to the one before it, whose hash is `previous` (empty for none). `salt` is random and used once.
/// Gives the line to store and its hash.
pub fn seal(line: &str, salt: &str, previous: &str) -> Result<(String, String), String> {
    let mut line = Line::read(line)?;
    line.measure();
    line.seals = vec![member("salt", salt)];
    let hash = line.hash(previous)?;
    line.seals.push(member("hash", &*hash));
    Ok((line.write(), hash))
}

/// The hash that a stored line carries; `None` for one that was not sealed.
pub fn hash_of(line: &str) -> Option<String> {
    Line::read(line).ok()?.sealed("hash").map(str::to_owned)
}

/// The line without its content and salt.
pub fn strip(line: &str) -> String {
    reduce(line, Privacy::Metadata)
}

/// The lines to store in place of others so that the content of every run but the open one is gone: each with its position.
pub fn clear(lines: &[String], open_run: Option<&str>) -> Vec<(usize, String)> {
    let mut cleared = Vec::new();
    for (seq, text) in lines.iter().enumerate() {
        let Ok(line) = Line::read(text) else { continue };
        let run = line.header.iter().find(|(key, _)| key == "run").and_then(|(_, run)| run.as_str());
        if (open_run.is_none() || run != open_run) && !line.is_reduced() {
            cleared.push((seq, strip(text)));
        }
    }
    cleared
}

/// The lines as JSON Lines text for somebody who may see so much. A line that is no JSON object is told by its length, or at
/// [`Privacy::Full`] given as a string: an export of a damaged log is possible, and does not verify.
pub fn export(lines: &[String], privacy: Privacy) -> String {
    let mut text = String::new();
    for line in lines {
        text.push_str(&reduce(line, privacy));
        text.push('\n');
    }
    text
}

/// Checks an export of any level, or stored lines joined by line breaks.
pub fn verify(text: &str) -> Result<Verified, Broken> {
    let mut verified = Verified { events: 0, head: String::new() };
    for line in text.trim_end().lines() {
        let seq = verified.events;
        verified.head = check(line, seq, &verified.head).map_err(|problem| Broken { seq, problem })?;
        verified.events += 1;
    }
    Ok(verified)
}

/// Checks one line and gives its hash.
fn check(line: &str, seq: u64, previous: &str) -> Result<String, String> {
    let line = Line::read(line)?;
    let Some(hash) = line.sealed("hash") else {
        return Err("This event has no hash: it was not written by a version that seals events.".to_owned());
    };
    let own = line.header.iter().find(|(key, _)| key == "seq").and_then(|(_, own)| own.as_u64());
    if own != Some(seq) {
        return Err("Another event stands in this place: events were left out, added or moved.".to_owned());
    }
    if line.hash(previous)? != hash {
        let problem =
            "The hash does not fit: this event was changed, or is not the one that followed the event before.";
        return Err(problem.to_owned());
    }
    Ok(hash.to_owned())
}

/// What the chain adds to a line outside of header and content.
const SEALS: [&str; 6] = ["redacted", "redacted_salt", "text_hash", "content_hash", "salt", "hash"];

/// Content whose shape is this program's own; all other data in content may have keys that are content themselves.
const SHAPED: [&str; 5] = ["parts", "history", "calls", "result_item", "edit"];

type Member = (String, Json);

/// A stored line, its members sorted by what they are.
struct Line {
    header: Vec<Member>,
    content: Vec<Member>,
    /// The content's JSON text, written once: it may be long.
    text: String,
    seals: Vec<Member>,
}

impl Line {
    fn read(text: &str) -> Result<Self, String> {
        let mut line = Self { header: Vec::new(), content: Vec::new(), text: String::new(), seals: Vec::new() };
        let value = parse_lenient(text.as_bytes());
        let value = value.map_err(|error| ["The line is not an event: ", &error.text(), "."].concat())?;
        let Json::Object(members) = value else { return Err("The line is not an event.".to_owned()) };
        for member in members {
            let list = if is_header(&member.0) {
                &mut line.header
            } else if SEALS.contains(&member.0.as_str()) {
                if line.seals.iter().any(|(key, _)| *key == member.0) {
                    return Err(["The event has two members \"", &member.0, "\"."].concat());
                }
                &mut line.seals
            } else {
                &mut line.content
            };
            list.push(member);
        }
        line.text = object(&line.content);
        Ok(line)
    }

    fn sealed(&self, key: &str) -> Option<&str> {
        self.seals.iter().find(|(name, _)| name == key)?.1.as_str()
    }

    /// Whether content was taken out.
    fn is_reduced(&self) -> bool {
        self.seals.iter().any(|(key, _)| key == "content_hash" || key == "text_hash")
    }

    /// Notes in the header what must be known of the content once it is gone: how long it was, how many calls or
    /// messages there were, and which calls were the provider's to run, since later events count on them.
    fn measure(&mut self) {
        let mut known = Vec::new();
        for (key, value) in &self.content {
            match (key.as_str(), value) {
                ("calls", Json::Array(calls)) => {
                    known.push(member("call_count", calls.len() as u64));
                    let places = calls.iter().enumerate().filter(|(_, call)| call.get("server").is_some());
                    let places: Vec<_> = places.map(|(place, _)| Json::from(place as u64)).collect();
                    if !places.is_empty() {
                        known.push(member("provider_calls", Json::Array(places)));
                    }
                }
                ("history", Json::Array(items)) => known.push(member("history_shape", history_shape(items))),
                _ => {}
            }
        }
        self.header.extend(known);
        self.header.push(member("content_bytes", self.text.len() as u64));
    }

    fn hash(&self, previous: &str) -> Result<String, String> {
        let content = self.content_hash().ok_or("The event's content is neither whole nor left out as a whole.")?;
        let fields = [previous, &object(&self.header), content.as_str()];
        Ok(Digest::of("countersign/event/1", &fields).as_str().to_owned())
    }

    /// `None` unless the line stands in exactly one of its forms.
    fn content_hash(&self) -> Option<Digest> {
        let mut form: Vec<&str> = self.seals.iter().map(|(key, _)| key.as_str()).filter(|key| *key != "hash").collect();
        form.sort_unstable();
        let (text_hash, redacted_salt, redacted) = match (form.as_slice(), self.content.is_empty()) {
            (["content_hash"], true) => return Some(Digest::from_stored(self.sealed("content_hash")?)),
            (["salt"], _) => {
                let salt = self.sealed("salt")?;
                (text_hash(salt, &self.text), redacted_salt(salt), Json::Object(redacted(&self.content)))
            }
            (["redacted", "redacted_salt", "text_hash"], true) => {
                let (_, redacted) = self.seals.iter().find(|(key, _)| key == "redacted")?;
                let stored = |key| self.sealed(key).map(Digest::from_stored);
                (stored("text_hash")?, stored("redacted_salt")?, redacted.clone())
            }
            _ => return None,
        };
        let redacted = Digest::of("countersign/content-redacted/1", &[redacted_salt.as_str(), &redacted.text()]);
        Some(Digest::of("countersign/content/1", &[text_hash.as_str(), redacted.as_str()]))
    }

    /// Takes out what a reader of this level may not see. A line without a hash gets none by it.
    fn reduce(&mut self, privacy: Privacy) {
        if privacy == Privacy::Full || (privacy == Privacy::Redacted && self.is_reduced()) {
            return;
        }
        let hash = self.seals.iter().find(|(key, _)| key == "hash").cloned();
        if hash.is_none() && !self.is_reduced() {
            self.measure();
        }
        let salt = self.sealed("salt");
        self.seals = if privacy == Privacy::Redacted {
            vec![
                member("redacted", Json::Object(redacted(&self.content))),
                member("redacted_salt", known(salt.map(redacted_salt))),
                member("text_hash", known(salt.map(|salt| text_hash(salt, &self.text)))),
            ]
        } else {
            vec![member("content_hash", known(self.content_hash()))]
        };
        self.seals.extend(hash);
        self.content.clear();
        self.text = object(&[]);
    }

    /// The line as it is stored.
    fn write(&self) -> String {
        let mut line = String::from("{");
        for text in [&object(&self.header), &self.text, &object(&self.seals)] {
            let members = text.strip_prefix('{').and_then(|text| text.strip_suffix('}')).unwrap_or_default();
            if line.len() > 1 && !members.is_empty() {
                line.push(',');
            }
            line.push_str(members);
        }
        line.push('}');
        line
    }
}

fn reduce(text: &str, privacy: Privacy) -> String {
    match (Line::read(text), privacy) {
        (Ok(mut line), _) => {
            line.reduce(privacy);
            line.write()
        }
        (Err(_), Privacy::Full) => Json::Object(vec![member("unreadable", text)]).text(),
        (Err(_), _) => Json::Object(vec![member("unreadable", text.len() as u64)]).text(),
    }
}

fn text_hash(salt: &str, content: &str) -> Digest {
    Digest::of("countersign/content-text/1", &[salt, content])
}

fn redacted_salt(salt: &str) -> Digest {
    Digest::of("countersign/redacted-salt/1", &[salt])
}

/// For each message of a history null, for each turn its number of calls. Results follow from those.
fn history_shape(items: &[Json]) -> Json {
    let mut shape = Vec::new();
    for item in items {
        match item.get("role").and_then(Json::as_str) {
            Some("user") => shape.push(Json::Null),
            Some("assistant") => {
                let calls = item.get("calls").and_then(Json::as_array).unwrap_or_default();
                shape.push(Json::from(calls.len() as u64));
            }
            _ => {}
        }
    }
    Json::Array(shape)
}

/// The shape of content: each text as its length in characters, data of a shape not known here as that of its JSON text.
fn redacted(members: &[Member]) -> Vec<Member> {
    members.iter().map(|(key, value)| (key.clone(), redacted_value(value, SHAPED.contains(&key.as_str())))).collect()
}

fn redacted_value(value: &Json, is_shaped: bool) -> Json {
    match value {
        Json::Null | Json::Bool(_) => value.clone(),
        Json::Array(items) if is_shaped => Json::Array(items.iter().map(|item| redacted_value(item, true)).collect()),
        Json::Object(members) if is_shaped => Json::Object(redacted(members)),
        Json::String(text) => Json::from(text.chars().count() as u64),
        _ => Json::from(value.text().chars().count() as u64),
    }
}

fn object(members: &[Member]) -> String {
    Json::object_text(members)
}

fn member(key: &str, value: impl Into<Json>) -> Member {
    (key.to_owned(), value.into())
}

fn known(digest: Option<Digest>) -> Json {
    digest.map_or(Json::Null, |digest| Json::from(digest.as_str()))
}
