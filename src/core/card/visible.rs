//! Text as a person can judge it: a character that cannot be seen, or that moves others, stands as a visible token.
//! Tokens replace; nothing is stripped. What a token or a mark is made of becomes a token itself, so that no text can
//! write one.

use std::sync::OnceLock;

/// How much of the white space is shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Space {
    /// Line breaks work, and spaces are nobody's concern: sentences.
    Prose,
    /// A line break is hidden too, or it could pass for a row of its own: names.
    Line,
    /// Every line break has a mark at its end, and works: values.
    Value,
}

/// A text of one line, such as a name or a key. Spaces that are easily overlooked are marked as in [`visible_value`].
pub fn visible_line(text: &str) -> String {
    show(text, Space::Line)
}

/// A text to be read, which may have lines.
pub fn visible(text: &str) -> String {
    show(text, Space::Prose)
}

/// A text that is used as it is: the end of a line is marked `↵`; a space at the edge of a line or next to another one
/// is shown as `␣`.
pub fn visible_value(text: &str) -> String {
    show(text, Space::Value)
}

/// Replaces control characters, bidirectional controls, spaces of unusual width, private-use, unassigned and
/// default-ignorable characters by tokens such as `⟨U+202E⟩`. What joins the parts of a well-formed emoji gets a short
/// mark instead: `⟨+⟩` for a joiner, `⟨e⟩` for the emoji variation, `⟨gbsct⟩` for the tags of a flag.
fn show(text: &str, space: Space) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut rest = text.chars();
    // The last character, and the last one that was no part of an emoji's marks.
    let (mut before, mut base) = (None, None);
    while let Some(character) = rest.next() {
        let next = rest.clone().next();
        match character {
            ' ' if space != Space::Prose && (is_edge(before) || is_edge(next)) => shown.push('␣'),
            '\n' if space == Space::Value => shown.push_str("↵\n"),
            '\n' if space == Space::Prose => shown.push('\n'),
            '\u{200D}' if base.is_some_and(is_pictograph) && next.is_some_and(is_pictograph) => shown.push_str("⟨+⟩"),
            '\u{FE0F}' if is_pictograph(before.unwrap_or('\n')) || is_keycap(before, next) => shown.push_str("⟨e⟩"),
            '\u{1F3F4}' => {
                shown.push(character);
                if let Some((tags, after)) = flag_tags(&rest) {
                    shown.extend(['⟨'].into_iter().chain(tags).chain(['⟩']));
                    rest = after;
                }
            }
            _ if is_hidden(character) || character == '\n' => push_token(character, &mut shown),
            '⟨' | '⟩' | '␣' | '↵' => push_token(character, &mut shown),
            _ => shown.push(character),
        }
        before = Some(character);
        if character != '\u{FE0F}' {
            base = before;
        }
    }
    shown
}

/// Whether a space beside it is easily overlooked.
const fn is_edge(neighbour: Option<char>) -> bool {
    matches!(neighbour, None | Some(' ' | '\n'))
}

fn push_token(character: char, shown: &mut String) {
    let code = u32::from(character);
    let digits = if code > 0xF_FFFF {
        6
    } else if code > 0xFFFF {
        5
    } else {
        4
    };
    shown.push_str("⟨U+");
    for place in (0..digits).rev() {
        let nibble = (code >> (4 * place)) & 15;
        shown.push(char::from_digit(nibble, 16).unwrap_or('?').to_ascii_uppercase());
    }
    shown.push('⟩');
}

/// The tags that name a flag, as letters, and what stands behind them. More than a region's name is no flag: it would be
/// a text that only machines read.
fn flag_tags<'a>(rest: &std::str::Chars<'a>) -> Option<(Vec<char>, std::str::Chars<'a>)> {
    let mut rest = rest.clone();
    let mut tags = Vec::new();
    loop {
        match rest.next()? {
            tag @ ('\u{E0030}'..='\u{E0039}' | '\u{E0061}'..='\u{E007A}') if tags.len() < 6 => {
                tags.push(char::from_u32(u32::from(tag) - 0xE0000)?);
            }
            '\u{E007F}' if tags.len() >= 3 => return Some((tags, rest)),
            _ => return None,
        }
    }
}

/// Whether the emoji variation stands within a keycap.
const fn is_keycap(before: Option<char>, next: Option<char>) -> bool {
    matches!(before, Some('0'..='9' | '#' | '*')) && matches!(next, Some('\u{20E3}'))
}

/// Whether it can be part of an emoji. Coarse, since what joins two of them is marked in any case.
const fn is_pictograph(character: char) -> bool {
    matches!(character,
        '©' | '®' | '\u{203C}' | '\u{2049}' | '\u{2122}' | '\u{2139}' | '\u{24C2}' | '\u{3030}' | '\u{303D}' | '\u{3297}'
        | '\u{3299}' | '\u{2190}'..='\u{21FF}' | '\u{2300}'..='\u{23FF}' | '\u{25A0}'..='\u{27BF}'
        | '\u{2934}'..='\u{2935}' | '\u{2B00}'..='\u{2BFF}' | '\u{1F000}'..='\u{1FAFF}')
}

/// General categories Cc (but line feed), Cf, Zl, Zp, Zs (but the plain space), Co, Cn and Cs, the property
/// Default_Ignorable_Code_Point, and the blank Braille pattern, by Unicode 17: where hidden and other characters take
/// turns, each as the distance from the one before, in LEB128. `tests/tools/hidden.test.mjs` makes and checks it.
static HIDDEN: &[u8] = include_bytes!("hidden.bin");

fn is_hidden(character: char) -> bool {
    static TURNS: OnceLock<Vec<u32>> = OnceLock::new();
    if matches!(character, ' '..='~' | '\n') {
        return false;
    }
    let turns = TURNS.get_or_init(|| {
        let (mut turns, mut at, mut distance, mut shift) = (Vec::new(), 0, 0, 0);
        for byte in HIDDEN {
            distance |= u32::from(byte & 127) << shift;
            shift += 7;
            if *byte < 128 {
                at += distance;
                turns.push(at);
                (distance, shift) = (0, 0);
            }
        }
        turns
    });
    turns.partition_point(|turn| *turn <= u32::from(character)) % 2 == 1
}
