//! What changes from one text to another, as pieces that a person can read in a row.

/// The most steps of the comparison. What differs in more ways than that is one piece replaced by another.
const MOST_STEPS: usize = 250_000;
/// Texts of more lines than this, either of them, are compared line by line, others word by word.
const MOST_LINES: usize = 12;

/// What becomes of a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// It stays.
    Same,
    /// It goes.
    Removed,
    /// It comes.
    Added,
}

impl Change {
    /// The name in views.
    pub const fn token(self) -> &'static str {
        match self {
            Self::Same => "same",
            Self::Removed => "removed",
            Self::Added => "added",
        }
    }
}

/// A stretch of text and what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Piece {
    /// What becomes of it.
    pub change: Change,
    /// The text.
    pub text: String,
}

/// The pieces from one text to the other: those that stay or go are the one, those that stay or come the other.
pub fn difference(before: &str, after: &str) -> Vec<Piece> {
    let lines = |text: &str| text.bytes().filter(|byte| *byte == b'\n').count() > MOST_LINES;
    let parts = if lines(before) || lines(after) { by_line } else { by_word };
    let (old, new) = (parts(before), parts(after));
    let start = old.iter().zip(&new).take_while(|(old, new)| old == new).count();
    let rest = |list: &[&str]| list.len() - start;
    let end = old.iter().rev().zip(new.iter().rev()).take_while(|(old, new)| old == new).count();
    let end = end.min(rest(&old)).min(rest(&new));

    let mut pieces = Pieces(Vec::new());
    let middle = |list: &[&'_ str]| start..list.len() - end;
    let head = old.get(..start).unwrap_or_default();
    let tail = old.get(old.len() - end..).unwrap_or_default();
    pieces.extend(Change::Same, head);
    let old = old.get(middle(&old)).unwrap_or_default();
    let new = new.get(middle(&new)).unwrap_or_default();
    if (old.len() + 1) * (new.len() + 1) <= MOST_STEPS {
        compare(old, new, &mut pieces);
    } else {
        pieces.extend(Change::Removed, old);
        pieces.extend(Change::Added, new);
    }
    pieces.extend(Change::Same, tail);
    pieces.0
}

/// By the longest common subsequence, the textbook table of lengths.
fn compare(old: &[&str], new: &[&str], pieces: &mut Pieces) {
    let width = new.len() + 1;
    let mut lengths = vec![0u32; (old.len() + 1) * width];
    let at = |lengths: &[u32], row: usize, column: usize| lengths.get(row * width + column).copied().unwrap_or(0);
    for (row, one) in old.iter().enumerate().rev() {
        for (column, other) in new.iter().enumerate().rev() {
            let length = if one == other {
                at(&lengths, row + 1, column + 1) + 1
            } else {
                at(&lengths, row + 1, column).max(at(&lengths, row, column + 1))
            };
            if let Some(cell) = lengths.get_mut(row * width + column) {
                *cell = length;
            }
        }
    }
    let (mut row, mut column) = (0, 0);
    loop {
        match (old.get(row), new.get(column)) {
            (Some(one), Some(other)) if one == other => {
                pieces.push(Change::Same, one);
                (row, column) = (row + 1, column + 1);
            }
            (Some(one), other) if other.is_none() || at(&lengths, row + 1, column) >= at(&lengths, row, column + 1) => {
                pieces.push(Change::Removed, one);
                row += 1;
            }
            (_, Some(other)) => {
                pieces.push(Change::Added, other);
                column += 1;
            }
            _ => break,
        }
    }
}

/// Neighbours with the same fate are one piece; of a replaced stretch what goes stands first.
struct Pieces(Vec<Piece>);

impl Pieces {
    fn push(&mut self, change: Change, text: &str) {
        let ends = self.0.len();
        let place = match self.0.last() {
            Some(last) if last.change == change => Some(ends - 1),
            // Behind the removed piece of this stretch, and in front of the added one.
            Some(last) if change == Change::Removed && last.change == Change::Added => {
                let removed = ends
                    .checked_sub(2)
                    .filter(|place| self.0.get(*place).is_some_and(|piece| piece.change == Change::Removed));
                if removed.is_none() {
                    self.0.insert(ends - 1, Piece { change, text: text.to_owned() });
                    return;
                }
                removed
            }
            _ => None,
        };
        match place.and_then(|place| self.0.get_mut(place)) {
            Some(piece) => piece.text.push_str(text),
            None => self.0.push(Piece { change, text: text.to_owned() }),
        }
    }

    fn extend(&mut self, change: Change, texts: &[&str]) {
        for text in texts {
            self.push(change, text);
        }
    }
}

fn by_line(text: &str) -> Vec<&str> {
    text.split_inclusive('\n').collect()
}

/// Each word with the white space behind it.
fn by_word(text: &str) -> Vec<&str> {
    text.split_inclusive([' ', '\n']).collect()
}
