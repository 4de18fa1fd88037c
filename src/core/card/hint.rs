//! What is known of a tool's effects, for the card.

use crate::core::approval::Tool;
use crate::core::policy::ToolEffect;

/// One thing that is known of a tool's effects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Hint {
    /// The host declared that it only reads.
    Reads,
    /// It changes something.
    Writes,
    /// Nobody vouches that it only reads.
    MayWrite,
    /// It may delete or overwrite.
    Destructive,
    /// A second run does no more than the first.
    Idempotent,
    /// Each run takes effect.
    Repeats,
    /// It deals with the world outside, and its results may hold instructions of strangers.
    OpenWorld,
}

impl Hint {
    /// The name in views.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Reads => "reads",
            Self::Writes => "writes",
            Self::MayWrite => "may_write",
            Self::Destructive => "destructive",
            Self::Idempotent => "idempotent",
            Self::Repeats => "repeats",
            Self::OpenWorld => "open_world",
        }
    }

    /// The hints of a tool, in the order a card shows them.
    ///
    /// What the host declared holds. Annotations that came with the tool are its server's own word: they raise what the
    /// host says, and never lower it. With them, what they leave out counts as the worse.
    pub fn of(tool: &Tool) -> Vec<Self> {
        let word = tool.annotations.as_ref();
        let effect = match tool.effect {
            Some(ToolEffect::Read) if word.is_none_or(|word| word.read_only == Some(true)) => Self::Reads,
            Some(ToolEffect::Write) => Self::Writes,
            _ => Self::MayWrite,
        };
        let mut hints = vec![effect];
        if effect != Self::Reads {
            if word.is_some_and(|word| word.read_only != Some(true) && word.destructive != Some(false)) {
                hints.push(Self::Destructive);
            }
            let once = tool.idempotent && word.is_none_or(|word| word.idempotent == Some(true));
            hints.push(if once { Self::Idempotent } else { Self::Repeats });
        }
        if tool.untrusted || word.is_some_and(|word| word.open_world != Some(false)) {
            hints.push(Self::OpenWorld);
        }
        hints
    }
}
