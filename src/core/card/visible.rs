//! Text as a person can judge it: a character that cannot be seen, or that moves others, stands as a visible token.
//! Tokens replace; nothing is stripped.

/// A text of one line, such as a name or a key: a line break in it is hidden too, or it could pass for a row of its own.
pub fn visible_line(text: &str) -> String {
    show(text, true)
}

/// A text that may have lines.
pub fn visible(text: &str) -> String {
    show(text, false)
}

/// Replaces control characters, bidirectional controls, spaces of unusual width, private-use and
/// default-ignorable characters by tokens such as `⟨U+202E⟩`.
fn show(text: &str, one_line: bool) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_hidden(character) || one_line && character == '\n' {
            shown.push_str("⟨U+");
            let code = u32::from(character);
            let digits = if code > 0xF_FFFF {
                6
            } else if code > 0xFFFF {
                5
            } else {
                4
            };
            for place in (0..digits).rev() {
                let nibble = (code >> (4 * place)) & 15;
                shown.push(char::from_digit(nibble, 16).unwrap_or('?').to_ascii_uppercase());
            }
            shown.push('⟩');
        } else {
            shown.push(character);
        }
    }
    shown
}

/// General categories Cc (but line feed), Cf, Zl, Zp, Zs (but the plain space) and Co, the property
/// Default_Ignorable_Code_Point, and the blank Braille pattern, by the ranges of Unicode 16.
const HIDDEN: [(char, char); 33] = [
    ('\0', '\t'),
    ('\u{B}', '\u{1F}'),
    ('\u{7F}', '\u{A0}'),
    ('\u{AD}', '\u{AD}'),
    ('\u{34F}', '\u{34F}'),
    ('\u{600}', '\u{605}'),
    ('\u{61C}', '\u{61C}'),
    ('\u{6DD}', '\u{6DD}'),
    ('\u{70F}', '\u{70F}'),
    ('\u{890}', '\u{891}'),
    ('\u{8E2}', '\u{8E2}'),
    ('\u{115F}', '\u{1160}'),
    ('\u{1680}', '\u{1680}'),
    ('\u{17B4}', '\u{17B5}'),
    ('\u{180B}', '\u{180F}'),
    ('\u{2000}', '\u{200F}'),
    ('\u{2028}', '\u{202F}'),
    ('\u{205F}', '\u{206F}'),
    ('\u{2800}', '\u{2800}'),
    ('\u{3000}', '\u{3000}'),
    ('\u{3164}', '\u{3164}'),
    ('\u{E000}', '\u{F8FF}'),
    ('\u{FE00}', '\u{FE0F}'),
    ('\u{FEFF}', '\u{FEFF}'),
    ('\u{FFA0}', '\u{FFA0}'),
    ('\u{FFF0}', '\u{FFFB}'),
    ('\u{110BD}', '\u{110BD}'),
    ('\u{110CD}', '\u{110CD}'),
    ('\u{13430}', '\u{1343F}'),
    ('\u{1BCA0}', '\u{1BCA3}'),
    ('\u{1D173}', '\u{1D17A}'),
    ('\u{E0000}', '\u{E0FFF}'),
    ('\u{F0000}', '\u{10FFFF}'),
];

fn is_hidden(character: char) -> bool {
    HIDDEN.iter().any(|(first, last)| (*first..=*last).contains(&character))
}
