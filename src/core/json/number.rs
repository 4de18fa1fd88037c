//! What JavaScript makes of a number literal.
//!
//! The standard library could tell the value, but its tables alone would take a seventh of the size budget of the
//! shipped module. This is the textbook way: the literal as an exact fraction, of which the first 53 bits are kept and
//! rounded once. It also says what no parser says: whether anything was rounded.

/// A double is decided by its first 768 digits and whether anything follows them.
const MAX_DIGITS: usize = 800;
/// How many decimal digits one step multiplies or divides by: 10^9 fits into 32 bits.
const STEP: usize = 9;
/// No literal is so long that an exponent of this size could be made up for by its digits.
const FAR: i64 = 1_000_000_000;
/// Exponents of doubles, counted from the lowest bit of the smallest one.
const LOWEST: i64 = 1074;
const BEYOND: i64 = 2046;

/// A number literal as a double.
pub(super) struct Number {
    /// The nearest double, ties to even; infinite when the literal is beyond the largest one.
    pub(super) value: f64,
    /// Whether the literal is zero.
    pub(super) is_zero: bool,
    /// Whether the literal has no fractional part, however it is written.
    pub(super) is_integer: bool,
    /// Whether the double is exactly the literal.
    pub(super) is_exact: bool,
}

/// Reads a literal of JSON's grammar. Any other text gives some value, never a panic.
pub(super) fn read(literal: &str) -> Number {
    // The literal is 0.d₁d₂d₃… × 10^point with d₁ ≠ 0.
    let mut digits = Vec::new();
    let mut point = 0;
    let mut sign = 1.0;
    let mut has_point = false;
    let mut bytes = literal.bytes();
    for byte in &mut bytes {
        match byte {
            b'-' => sign = -1.0,
            b'.' => has_point = true,
            b'0'..=b'9' => {
                let is_leading = byte == b'0' && digits.is_empty();
                if !is_leading {
                    digits.push(byte - b'0');
                }
                point += i64::from(!has_point) - i64::from(is_leading);
            }
            _ => break,
        }
    }
    let mut exponent = 0;
    let mut is_negative = false;
    for byte in bytes {
        match byte {
            b'-' => is_negative = true,
            b'0'..=b'9' if exponent < FAR => exponent = exponent * 10 + i64::from(byte - b'0'),
            _ => {}
        }
    }
    point += if is_negative { -exponent } else { exponent };
    while let Some(0) = digits.last() {
        digits.pop();
    }

    let is_zero = digits.is_empty();
    let is_integer = is_zero || point >= digits.len() as i64;
    let (value, is_exact) = if is_zero {
        (0.0, true)
    } else if point > 310 {
        // Far outside of what a double holds: no need to write out the zeros.
        (f64::INFINITY, false)
    } else if point < -330 {
        (0.0, false)
    } else {
        nearest(digits, point)
    };
    Number { value: value * sign, is_zero, is_integer, is_exact }
}

/// The literal as a tool gets it: one that no double holds exactly is written with the fewest of its digits, the last one
/// rounded, that give the same double.
pub fn shown(literal: &str) -> String {
    let Number { value, is_exact, .. } = read(literal);
    let end = literal.bytes().position(|byte| matches!(byte, b'e' | b'E')).unwrap_or(literal.len());
    let (mantissa, exponent) = literal.split_at_checked(end).unwrap_or((literal, ""));
    // 17 digits tell all doubles apart.
    let shorter = (1..=17).flat_map(|digits| [rounded(mantissa, digits, false), rounded(mantissa, digits, true)]);
    let mut shorter = shorter.map(|mantissa| [&mantissa, exponent].concat());
    let same = if is_exact { None } else { shorter.find(|shorter| read(shorter).value == value) };
    same.unwrap_or_else(|| literal.to_owned())
}

/// A mantissa cut to its first digits, zeros at the beginning not counted; the last one may be raised by one.
fn rounded(mantissa: &str, digits: usize, up: bool) -> String {
    let mut text = mantissa.as_bytes().to_vec();
    let mut kept = 0;
    let mut last = 0;
    for (place, byte) in text.iter_mut().enumerate() {
        if byte.is_ascii_digit() && (kept > 0 || *byte != b'0') {
            kept += 1;
            if kept <= digits {
                last = place;
            } else {
                *byte = b'0';
            }
        }
    }
    let mut carries = up;
    for byte in text.iter_mut().take(last + 1).rev().filter(|byte| byte.is_ascii_digit()) {
        if carries {
            carries = *byte == b'9';
            *byte = if carries { b'0' } else { *byte + 1 };
        }
    }
    if carries {
        text.insert(usize::from(text.first() == Some(&b'-')), b'1');
    }
    let mut text = String::from_utf8(text).unwrap_or_default();
    if text.bytes().any(|byte| byte == b'.') {
        text.truncate(text.trim_end_matches('0').trim_end_matches('.').len());
    }
    text
}

/// The double nearest to 0.d₁d₂d₃… × 10^point, and whether it is exact.
fn nearest(mut digits: Vec<u8>, point: i64) -> (f64, bool) {
    let mut is_half = false;
    let mut is_more = digits.len() > MAX_DIGITS;
    digits.truncate(MAX_DIGITS);
    // A whole number now, to be divided by 10^places.
    let mut places = usize::try_from(digits.len() as i64 - point).unwrap_or(0);
    digits.resize(usize::try_from(point + places as i64).unwrap_or(0), 0);
    let mut whole = Vec::new();
    for digits in digits.chunks(STEP) {
        let mut scale = 1;
        let mut value = 0;
        for digit in digits {
            scale *= 10;
            value = value * 10 + u64::from(*digit);
        }
        multiply(&mut whole, scale, value);
    }
    // Multiplied by a power of two first, so that the division leaves at least 64 bits.
    let mut limbs = vec![0; 2 + places.div_ceil(8)];
    let shift = 32 * limbs.len() as i64;
    limbs.extend_from_slice(&whole);
    while places > 0 {
        let step = places.min(STEP);
        is_more |= divide(&mut limbs, 10u64.pow(step as u32));
        places -= step;
    }

    while let Some(0) = limbs.last() {
        limbs.pop();
    }
    let length = 32 * limbs.len() as i64 - limbs.last().map_or(0, |limb| i64::from(limb.leading_zeros()));
    // Below the smallest exponent a double has fewer bits, not a smaller exponent.
    let dropped = (length - 53).max(shift - LOWEST);
    let mut bits = 0;
    let mut place = 32 * limbs.len() as i64;
    for limb in limbs.iter().rev() {
        for at in (0..32).rev() {
            place -= 1;
            let bit = limb >> at & 1;
            if place >= dropped {
                bits = bits << 1 | u64::from(bit);
            } else if place == dropped - 1 {
                is_half = bit == 1;
            } else {
                is_more |= bit == 1;
            }
        }
    }
    let is_exact = !is_half && !is_more;
    if is_half && (is_more || bits & 1 == 1) {
        bits += 1;
    }
    let exponent = dropped - shift + LOWEST;
    if exponent >= BEYOND {
        return (f64::INFINITY, false);
    }
    // The highest of 53 bits adds the one that the exponent lacks.
    let value = f64::from_bits(((exponent as u64) << 52) + bits);
    (value, is_exact && value.is_finite())
}

/// Multiplies a number, its lowest limb first, and adds to it.
fn multiply(limbs: &mut Vec<u32>, factor: u64, more: u64) {
    let mut carry = more;
    for limb in limbs.iter_mut() {
        carry += u64::from(*limb) * factor;
        *limb = carry as u32;
        carry >>= 32;
    }
    if carry > 0 {
        limbs.push(carry as u32);
    }
}

/// Divides a number, its lowest limb first, and tells whether anything is left.
fn divide(limbs: &mut [u32], divisor: u64) -> bool {
    let mut rest = 0;
    for limb in limbs.iter_mut().rev() {
        rest = rest << 32 | u64::from(*limb);
        *limb = (rest / divisor) as u32;
        rest %= divisor;
    }
    rest > 0
}

/// The value of plain digits that fits into 64 bits.
pub fn whole(digits: &str) -> Option<u64> {
    let mut value = None;
    for digit in digits.bytes() {
        let digit = char::from(digit).to_digit(10)?;
        value = Some(value.unwrap_or(0u64).checked_mul(10)?.checked_add(u64::from(digit))?);
    }
    value
}

/// Writes a whole number in decimal digits.
pub fn write(value: u64, out: &mut String) {
    if value > 9 {
        write(value / 10, out);
    }
    out.push(char::from(b'0' + (value % 10) as u8));
}
