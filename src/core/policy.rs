//! The one decision whether a call runs, waits for a person or is refused.

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
    Ask(String),
    /// The call must not run.
    Refuse(String),
    /// The arguments break the tool's schema; no rule was asked.
    Invalid(String),
    /// The rule threw, returned a promise or returned something that is no verdict; the text says which.
    Broken(String),
}

/// What becomes of a call. The default is to ask: an undecided call never runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It runs.
    Allow,
    /// It waits for a person, for this reason.
    Ask(String),
    /// It does not run, for this reason; nobody is asked.
    Refuse(String),
    /// It cannot run: its arguments break the schema in this way.
    Invalid(String),
}

impl Default for Verdict {
    fn default() -> Self {
        Self::Ask("No rule decided about this call.".to_owned())
    }
}

/// Judges one call, first match wins:
///
/// 1. the arguments break the schema → `Invalid`;
/// 2. a rule refuses → `Refuse`, with the first such rule's reason;
/// 3. a rule asks → `Ask`, with the first such rule's reason;
/// 4. a rule could not be evaluated → `Ask`, saying so: a failure may narrow authority, never widen it;
/// 5. a rule allows → `Allow`, unless the call may change something and the run is `tainted`: a result from outside,
///    which may hold instructions of strangers, came in before it; then → `Ask`;
/// 6. the tool declares `read` → `Allow`;
/// 7. otherwise → `Ask`.
pub fn verdict(effect: Option<ToolEffect>, opinions: &[Opinion], tainted: bool) -> Verdict {
    let mut asked = None;
    let mut broken = None;
    let mut allowed = false;
    for opinion in opinions {
        match opinion {
            Opinion::Invalid(problem) => return Verdict::Invalid(problem.clone()),
            Opinion::Refuse(reason) => return Verdict::Refuse(reason.clone()),
            Opinion::Ask(reason) => asked = asked.or(Some(reason)),
            Opinion::Broken(why) => broken = broken.or(Some(why)),
            Opinion::Allow => allowed = true,
        }
    }
    match (asked, broken, allowed, effect) {
        (Some(reason), ..) => Verdict::Ask(reason.clone()),
        (None, Some(why), ..) => Verdict::Ask(format!("A rule about this call could not be evaluated: {why}.")),
        (None, None, true, None | Some(ToolEffect::Write)) if tainted => Verdict::Ask(
            "A result from outside came in before this call and may have prompted it, so a person is asked first."
                .to_owned(),
        ),
        (None, None, true, _) | (None, None, false, Some(ToolEffect::Read)) => Verdict::Allow,
        (None, None, false, Some(ToolEffect::Write)) => {
            Verdict::Ask("This tool changes something, so a person is asked first.".to_owned())
        }
        (None, None, false, None) => {
            Verdict::Ask("This tool does not declare that it only reads, so a person is asked first.".to_owned())
        }
    }
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
