//! Words whose letters come from different alphabets, such as a Latin one with a Cyrillic `а` in it.

/// Letters of the alphabets that look like one another, by their blocks. A letter in another shape, as wide as an
/// ideograph or of mathematics, counts as of an alphabet of its own.
const ALPHABETS: [(u32, u32, Alphabet); 37] = [
    (0x41, 0x5A, Alphabet::Latin),
    (0x61, 0x7A, Alphabet::Latin),
    (0xAA, 0xAA, Alphabet::Latin),
    (0xBA, 0xBA, Alphabet::Latin),
    (0xC0, 0xD6, Alphabet::Latin),
    (0xD8, 0xF6, Alphabet::Latin),
    (0xF8, 0x2AF, Alphabet::Latin),
    (0x370, 0x3FF, Alphabet::Greek),
    (0x400, 0x52F, Alphabet::Cyrillic),
    (0x531, 0x588, Alphabet::Armenian),
    (0x5D0, 0x5F2, Alphabet::Hebrew),
    (0x620, 0x64A, Alphabet::Arabic),
    (0x66E, 0x6D3, Alphabet::Arabic),
    (0x6D5, 0x6FF, Alphabet::Arabic),
    (0x750, 0x77F, Alphabet::Arabic),
    (0x8A0, 0x8C9, Alphabet::Arabic),
    (0x10A0, 0x10FF, Alphabet::Georgian),
    (0x13A0, 0x13FD, Alphabet::Cherokee),
    (0x1C80, 0x1C8A, Alphabet::Cyrillic),
    (0x1C90, 0x1CBF, Alphabet::Georgian),
    (0x1E00, 0x1EFF, Alphabet::Latin),
    (0x1F00, 0x1FFC, Alphabet::Greek),
    (0x212A, 0x212B, Alphabet::Latin),
    (0x2C00, 0x2C5F, Alphabet::Glagolitic),
    (0x2C60, 0x2C7F, Alphabet::Latin),
    (0x2C80, 0x2CF3, Alphabet::Coptic),
    (0x2DE0, 0x2DFF, Alphabet::Cyrillic),
    (0xA4D0, 0xA4FD, Alphabet::Lisu),
    (0xA640, 0xA69F, Alphabet::Cyrillic),
    (0xA722, 0xA7FF, Alphabet::Latin),
    (0xAB30, 0xAB6B, Alphabet::Latin),
    (0xAB70, 0xABBF, Alphabet::Cherokee),
    (0xFB1D, 0xFB4F, Alphabet::Hebrew),
    (0xFB50, 0xFDFB, Alphabet::Arabic),
    (0xFE70, 0xFEFC, Alphabet::Arabic),
    (0xFF21, 0xFF5A, Alphabet::Wide),
    (0x1D400, 0x1D7FF, Alphabet::Mathematical),
];

#[derive(Clone, Copy, PartialEq, Eq)]
enum Alphabet {
    Latin,
    Greek,
    Cyrillic,
    Armenian,
    Hebrew,
    Arabic,
    Georgian,
    Cherokee,
    Glagolitic,
    Coptic,
    Lisu,
    Wide,
    Mathematical,
}

/// Whether a word of the text has letters of more than one alphabet. Digits, low lines and combining marks belong to the
/// word they stand in; anything else ends it.
pub fn is_mixed(text: &str) -> bool {
    if text.is_ascii() {
        return false;
    }
    let mut word = None;
    for character in text.chars() {
        let code = u32::from(character);
        // The last one that begins at or before it.
        let before = ALPHABETS.partition_point(|(first, ..)| *first <= code).checked_sub(1);
        let found = before.and_then(|place| ALPHABETS.get(place)).filter(|(_, last, _)| code <= *last);
        match (found, character) {
            (Some((.., alphabet)), _) => {
                if word.is_some_and(|word| word != *alphabet) {
                    return true;
                }
                word = Some(*alphabet);
            }
            (None, '0'..='9' | '_' | '\u{300}'..='\u{36F}') => {}
            _ => word = None,
        }
    }
    false
}
