//! Standing permissions in the store: a log of their own, under a chat id that no chat may have.

use std::rc::Rc;

use wasm_bindgen::JsValue;

use super::Driver;
use super::load::lines;
use crate::core::approval::Preview;
use crate::core::grant::{self, Book, Entry, Grant, Terms};
use crate::core::log;
use crate::core::message::{CallId, ChatId, GrantId, RequestId};
use crate::core::outcome::PersonId;
use crate::core::run::Input;
use crate::web::error::{code_of, error, text_of};
use crate::web::fetch::settled;
use crate::web::host::Host;
use crate::web::platform;
use crate::web::value::from_strings;

/// The chat id under which the store keeps them. `www/src/grants.ts` has it too.
const CHAT: &str = "countersign:grants";
/// How often a write is made again after another page wrote first.
const TRIES: u32 = 8;

/// All of them, as the store has them now.
pub async fn load(host: &Host) -> Result<Book, JsValue> {
    let lines = lines(host, CHAT, 0).await?;
    Book::read(lines.iter().map(String::as_str)).map_err(|why| error("log_corrupt", &why))
}

/// Appends what `make` makes of all that there are; writes nothing where that is nothing.
async fn append(host: &Host, make: impl Fn(&Book) -> Result<Vec<Entry>, JsValue>) -> Result<(), JsValue> {
    for _ in 0..TRIES {
        let book = load(host).await?;
        let entries = make(&book)?;
        if entries.is_empty() {
            return Ok(());
        }
        let lines: Vec<String> = (book.len()..).zip(&entries).map(|(seq, entry)| entry.encode(seq)).collect();
        match settled(host.append(CHAT, book.len() as f64, &from_strings(&lines)?, "")).await {
            Ok(_) => return Ok(()),
            Err(thrown) if code_of(&thrown).as_deref() == Some("conflict") => {}
            Err(thrown) => return Err(thrown),
        }
    }
    Err(error("conflict", "Other pages kept writing to the standing permissions; nothing was changed. Try again."))
}

/// Takes back the permission of this id; nothing happens if that was done before.
pub async fn revoke(host: &Host, id: &GrantId, by: Option<&PersonId>) -> Result<(), JsValue> {
    append(host, |book| {
        if book.given(id).is_none() {
            let why = "There is no standing permission of this id; agent.grants.list() gives those that stand.";
            return Err(error("unknown_grant", why));
        }
        Ok(revocations(book, by, |grant| grant.id == *id))
    })
    .await
}

/// Takes back those that hold in this chat alone.
pub async fn revoke_in(host: &Host, chat: &ChatId, by: Option<&PersonId>) -> Result<(), JsValue> {
    let revoked = append(host, |book| Ok(revocations(book, by, |grant| grant.is_only_in(chat)))).await;
    // Of those that cannot be read none holds.
    revoked.or_else(|thrown| if code_of(&thrown).as_deref() == Some("log_corrupt") { Ok(()) } else { Err(thrown) })
}

fn revocations(book: &Book, by: Option<&PersonId>, which: impl Fn(&Grant) -> bool) -> Vec<Entry> {
    let at = platform::now();
    let standing = book.standing().filter(|grant| which(grant));
    standing.map(|grant| Entry::Revoked { id: grant.id.clone(), at, by: by.cloned() }).collect()
}

impl Driver {
    /// The standing permissions as they are now; none if they cannot be read, which the page is told.
    pub(super) async fn read_grants(&self) -> grant::Read {
        let read = load(&self.setup.host).await.inspect_err(platform::report).ok().map(Rc::new);
        self.run.borrow_mut().note_grants(read.clone());
        read
    }

    /// Takes in what was given or revoked elsewhere, for receipts.
    pub fn note_grants(&self, read: &grant::Read) {
        self.run.borrow_mut().note_grants(read.clone());
        self.changed();
    }

    /// The same when a chat is opened, if a receipt may be about one.
    pub(super) async fn read_grants_for_receipts(&self) {
        let is_given = |entry: &log::Entry| match entry {
            log::Entry::Turn(turn) => {
                turn.calls.iter().any(|call| call.decision.as_ref().is_some_and(|decision| decision.standing.is_some()))
            }
            _ => false,
        };
        if self.look(|run| run.chat().entries().iter().any(is_given)) {
            self.read_grants().await;
        }
    }

    pub(super) async fn keep_grant(&self, grant: Grant) {
        let id = grant.id.clone();
        let given = Entry::Given(grant);
        let kept = append(&self.setup.host, |_| Ok(vec![given.clone()])).await.map_err(|thrown| text_of(&thrown));
        if kept.is_ok() {
            self.read_grants().await;
        }
        self.given.borrow_mut().push((id, kept.err()));
        self.changed();
        self.wake();
    }

    /// Resolves once the permission that came with a stored decision is kept; with an error if it is not.
    pub(super) async fn is_kept(&self, terms: &Terms, epoch: u32) -> Result<(), JsValue> {
        let ended = || {
            let given = self.given.borrow();
            given.iter().find(|(id, _)| *id == terms.id).map(|(_, trouble)| trouble.clone())
        };
        let waited = self.wait(|| ended().is_some() || self.epoch.get() != epoch).await;
        let why = match (ended(), waited) {
            (Some(None), _) => return Ok(()),
            (Some(Some(why)), _) => why,
            (None, Err(thrown)) => text_of(&thrown),
            (None, Ok(())) => "the chat went on in another page".to_owned(),
        };
        Err(error(
            "grant_failed",
            &[
                "This call was approved, once; but the standing permission was not kept (",
                &why,
                "), so that the next call asks again.",
            ]
            .concat(),
        ))
    }

    /// Looks at a call's permission right before it starts.
    pub(super) async fn check_grant(self: &Rc<Self>, call: CallId) {
        let grants = self.read_grants().await;
        let previewed = self.look(|run| {
            let (made, _) = run.chat().call(&call).filter(|_| !run.still_stands(&call, &grants))?;
            self.setup.previewed.contains(&made.name).then(|| (made.name.clone(), made.arguments.clone()))
        });
        let preview = match previewed {
            Some((tool, arguments)) => self
                .preview(&tool, &arguments)
                .await
                .unwrap_or_else(|thrown| Preview { lines: vec![text_of(&thrown)], current: None }),
            None => Preview::default(),
        };
        let (at, request) = (platform::now(), platform::random_id().ok().map(RequestId::new));
        // A run that was stopped meanwhile no longer waits for this.
        let _ = self.handle(Input::GrantChecked { at, call, grants, preview, request });
    }
}
