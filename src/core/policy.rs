//! The one decision whether a call runs, waits for a person or is refused.

use super::message::GrantId;
use super::outcome::tokens;

tokens! {
    /// What a host declared a tool to do.
    ToolEffect {
        /// It changes nothing.
        Read = "read",
        /// It changes something.
        Write = "write",
    }
}

/// What one rule of the host says of one call. A rule without an opinion gives none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Opinion {
    /// The call may run without asking.
    Allow,
    /// A person must agree.
    Ask {
        /// Why.
        reason: String,
        /// Whether the person may agree for later calls too.
        grantable: bool,
    },
    /// The call must not run.
    Refuse(String),
    /// The arguments break the tool's schema; no rule was asked.
    Invalid(String),
    /// The rule threw, returned a promise or returned something that is no verdict; the text says which.
    Broken(String),
}

/// What the standing permissions say of one call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Standing {
    /// Nothing.
    Silent,
    /// It is permitted.
    Covers(GrantId),
    /// It was, until the tool changed in this.
    Changed(Vec<&'static str>),
    /// They could not be read.
    Unread,
}

/// What becomes of a call. One that nothing was said of asks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs; by this standing permission, where it would have to ask without.
    Allow(Option<GrantId>),
    /// It waits for a person.
    Ask {
        /// Why.
        reason: String,
        /// Whether the person may agree for later calls too.
        grantable: bool,
    },
    /// It does not run, for this reason; nobody is asked.
    Refuse(String),
    /// It cannot run: its arguments break the schema in this way.
    Invalid(String),
}

impl Verdict {
    fn ask(reason: &str) -> Self {
        Self::Ask { reason: reason.to_owned(), grantable: false }
    }
}

const OUTSIDE: &str =
    "A result from outside came in before this call and may have prompted it, so a person is asked first.";

/// Judges one call, first match wins:
///
/// 1. the arguments break the schema → `Invalid`;
/// 2. a rule refuses → `Refuse`, with the first such rule's reason;
/// 3. a rule asks, and leaves no room for standing permissions → `Ask`, with the first such rule's reason;
/// 4. a rule could not be evaluated → `Ask`, saying so: a failure may narrow authority, never widen it;
/// 5. a rule asks, but for standing permissions → `Ask` with the first such rule's reason, unless one covers the call (8);
/// 6. a rule allows → `Allow`, unless the call may change something and the run is `tainted`: a result from outside,
///    which may hold instructions of strangers, came in before it; then → `Ask`;
/// 7. the tool declares `read` → `Allow`;
/// 8. otherwise → `Ask`; here and in 5 a standing permission that covers the call makes it `Allow`, unless the call may
///    change something and the run is `tainted`. In such a run none can be given either: what a stranger prompted is not to
///    be agreed to for later.
pub fn verdict(effect: Option<ToolEffect>, opinions: &[Opinion], tainted: bool, standing: &Standing) -> Verdict {
    let mut asked = None;
    let mut asked_for_now = None;
    let mut broken = None;
    let mut allowed = false;
    for opinion in opinions {
        match opinion {
            Opinion::Invalid(problem) => return Verdict::Invalid(problem.clone()),
            Opinion::Refuse(reason) => return Verdict::Refuse(reason.clone()),
            Opinion::Ask { reason, grantable: false } => asked = asked.or(Some(reason)),
            Opinion::Ask { reason, grantable: true } => asked_for_now = asked_for_now.or(Some(reason)),
            Opinion::Broken(why) => broken = broken.or(Some(why)),
            Opinion::Allow => allowed = true,
        }
    }
    if let Some(reason) = asked {
        return Verdict::ask(reason);
    }
    if let Some(why) = broken {
        return Verdict::ask(&["A rule about this call could not be evaluated: ", why, "."].concat());
    }
    let in_doubt = tainted && effect != Some(ToolEffect::Read);
    let reason = match (asked_for_now, allowed, effect) {
        (None, true, _) if in_doubt => return Verdict::ask(OUTSIDE),
        (None, true, _) | (None, false, Some(ToolEffect::Read)) => return Verdict::Allow(None),
        (Some(reason), ..) => reason,
        (None, false, Some(ToolEffect::Write)) => "This tool changes something, so a person is asked first.",
        (None, false, None) => "This tool does not declare that it only reads, so a person is asked first.",
    };
    let reason = match standing {
        Standing::Covers(_) if in_doubt => return Verdict::ask(OUTSIDE),
        Standing::Covers(grant) => return Verdict::Allow(Some(grant.clone())),
        Standing::Silent => reason.to_owned(),
        Standing::Changed(what) => {
            [reason, " It was allowed for later calls too, but the tool has changed since: ", &what.join(", "), "."]
                .concat()
        }
        Standing::Unread => [reason, " Whether it was allowed for later calls too could not be read."].concat(),
    };
    Verdict::Ask { reason, grantable: !in_doubt }
}

/// Whether a tool's name matches a rule's pattern: `*` stands for any run of characters, everything else for
/// itself.
pub fn matches(pattern: &str, name: &str) -> bool {
    let (pattern, name) = (pattern.as_bytes(), name.as_bytes());
    // How far both are read, and how far they were when the last star was met: after a difference that star takes
    // one byte more.
    let (mut at, mut read) = (0, 0);
    let mut star = None;
    while read < name.len() {
        match (pattern.get(at), &mut star) {
            (Some(b'*'), _) => {
                at += 1;
                star = Some((at, read));
            }
            (wanted, _) if wanted == name.get(read) => {
                at += 1;
                read += 1;
            }
            (_, Some((after, taken))) => {
                *taken += 1;
                (at, read) = (*after, *taken);
            }
            (_, None) => return false,
        }
    }
    pattern.iter().skip(at).all(|byte| *byte == b'*')
}
