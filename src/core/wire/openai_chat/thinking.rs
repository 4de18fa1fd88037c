//! Texts that come in unusual pieces: each repeating all before it, or with reasoning between tags at the beginning.

use super::super::super::json::JoinedText;

const OPEN: &str = "<think>";
const CLOSE: &str = "</think>";

/// How a server's texts have to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Ways {
    /// Each piece repeats all before it.
    pub cumulative: bool,
    /// Reasoning stands in the text, between tags.
    pub inline_thinking: bool,
}

/// Sorts the pieces of a text into text and reasoning.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Pieces {
    ways: Ways,
    /// All that came, where pieces repeat it.
    whole: String,
    /// What may be the beginning of a tag.
    held: String,
    place: Place,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Place {
    #[default]
    Beginning,
    Reasoning,
    /// White space between the reasoning and the text.
    Gap,
    Text,
}

impl Pieces {
    pub(super) fn new(ways: Ways) -> Self {
        Self { ways, ..Self::default() }
    }

    /// Takes the next piece.
    pub(super) fn push(&mut self, piece: &str, text: &mut JoinedText, reasoning: &mut JoinedText) {
        if !self.ways.cumulative {
            return self.sort(piece, text, reasoning);
        }
        let fresh = piece.strip_prefix(self.whole.as_str()).unwrap_or(piece).to_owned();
        self.whole.push_str(&fresh);
        self.sort(&fresh, text, reasoning);
    }

    fn sort(&mut self, piece: &str, text: &mut JoinedText, reasoning: &mut JoinedText) {
        if !self.ways.inline_thinking || self.place == Place::Text {
            return text.push_str(piece);
        }
        if self.place == Place::Gap {
            let rest = piece.trim_ascii_start();
            if !rest.is_empty() {
                self.place = Place::Text;
                text.push_str(rest);
            }
            return;
        }
        self.held.push_str(piece);
        if self.place == Place::Beginning {
            let begun = self.held.trim_ascii_start();
            if let Some(rest) = begun.strip_prefix(OPEN) {
                self.held = rest.to_owned();
                self.place = Place::Reasoning;
            } else if !OPEN.starts_with(begun) {
                self.place = Place::Text;
                text.push_str(&std::mem::take(&mut self.held));
            }
        }
        if self.place == Place::Reasoning {
            let held = std::mem::take(&mut self.held);
            if let Some((thought, rest)) = held.split_once(CLOSE) {
                reasoning.push_str(thought);
                self.place = Place::Gap;
                return self.sort(rest, text, reasoning);
            }
            self.held = held;
            // What could be the beginning of the closing tag waits for the rest of it.
            let kept = (1..CLOSE.len())
                .rev()
                .find(|length| CLOSE.get(..*length).is_some_and(|start| self.held.ends_with(start)));
            let end = self.held.len() - kept.unwrap_or(0);
            let rest = self.held.split_off(end);
            reasoning.push_str(&std::mem::replace(&mut self.held, rest));
        }
    }

    /// The text has ended: what was held back is what it looks like.
    pub(super) fn finish(&mut self, text: &mut JoinedText, reasoning: &mut JoinedText) {
        let held = std::mem::take(&mut self.held);
        if self.place == Place::Reasoning { reasoning.push_str(&held) } else { text.push_str(&held) }
    }
}
