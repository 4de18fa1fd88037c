//! What JavaScript makes of a number literal.
//!
//! The standard library could tell the value, but its tables alone would take a seventh of the size budget of the
//! shipped module. This is the textbook way: the literal as an exact decimal, scaled by powers of two until it has 53
//! bits, rounded once. It also says what no parser says: whether anything was rounded.

/// What a limb counts to. A limb holds nine decimal digits, the most significant limb comes first.
const BASE: u64 = 1_000_000_000;
const LIMB_DIGITS: usize = 9;
/// The most bits one step can scale by without overflow: `BASE << 29` and `BASE * 2^29` fit into 64 bits.
const STEP: u32 = 29;
/// A double is decided by its first 768 digits and whether anything follows them.
const MAX_DIGITS: usize = 800;

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
    let (negative, literal) = match literal.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, literal),
    };
    let (mantissa, exponent) = literal.split_once(['e', 'E']).unwrap_or((literal, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let digits = || whole.bytes().chain(fraction.bytes());

    let zeros = digits().take_while(|digit| *digit == b'0').count();
    let significant = whole.len() + fraction.len() - digits().rev().take_while(|digit| *digit == b'0').count();
    let sign = if negative { -1.0 } else { 1.0 };
    if zeros >= significant {
        return Number { value: 0.0 * sign, is_zero: true, is_integer: true, is_exact: true };
    }
    // The literal is 0.d₁d₂d₃… × 10^point with d₁ ≠ 0.
    let point = (whole.len() as i64 - zeros as i64).saturating_add(read_exponent(exponent));
    let count = significant - zeros;
    let is_integer = point >= count as i64;
    // Far outside of what a double holds: no need to write out the zeros.
    if !(-330..=310).contains(&point) {
        let value = if point > 0 { f64::INFINITY } else { 0.0 };
        return Number { value: value * sign, is_zero: false, is_integer, is_exact: false };
    }
    let kept = count.min(MAX_DIGITS);
    let digits = digits().skip(zeros).take(kept);
    let (value, is_exact) = Decimal::new(digits, kept, point as i32).round(count > kept);
    Number { value: value * sign, is_zero: false, is_integer, is_exact }
}

/// The value of plain digits that fits into 64 bits.
pub(super) fn whole(digits: &str) -> Option<u64> {
    digits.bytes().try_fold(0u64, |value, digit| {
        let digit = char::from(digit).to_digit(10)?;
        value.checked_mul(10)?.checked_add(u64::from(digit))
    })
}

/// Writes a whole number in decimal digits.
pub fn write(value: u64, out: &mut String) {
    if value > 9 {
        write(value / 10, out);
    }
    out.push(char::from(b'0' + (value % 10) as u8));
}

/// The exponent's value; one too long for 64 bits is as good as infinite.
fn read_exponent(text: &str) -> i64 {
    let (negative, digits) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let value = digits
        .bytes()
        .fold(0i64, |value, digit| value.saturating_mul(10).saturating_add(i64::from(digit.wrapping_sub(b'0'))));
    if negative { -value } else { value }
}

/// An exact, non-negative decimal: `limbs × 2^power`, the point after the first `whole` limbs.
struct Decimal {
    limbs: Vec<u32>,
    whole: usize,
    power: i32,
}

impl Decimal {
    /// The decimal 0.d₁d₂d₃… × 10^point, of `count` digits.
    fn new(digits: impl Iterator<Item = u8>, count: usize, point: i32) -> Self {
        let whole_digits = usize::try_from(point).unwrap_or(0);
        let whole = whole_digits.div_ceil(LIMB_DIGITS);
        // Zeros in front, so that the point falls between two limbs.
        let before = if point > 0 { whole * LIMB_DIGITS - whole_digits } else { point.unsigned_abs() as usize };
        let length = (before + count).div_ceil(LIMB_DIGITS).max(whole);
        let mut limbs = vec![0u32; length];
        let places = limbs.iter_mut().flat_map(|limb| {
            let limb = std::cell::Cell::from_mut(limb);
            [100_000_000, 10_000_000, 1_000_000, 100_000, 10_000, 1000, 100, 10, 1].map(|weight| (limb, weight))
        });
        for ((limb, weight), digit) in places.skip(before).zip(digits) {
            limb.set(limb.get() + u32::from(digit.wrapping_sub(b'0') % 10) * weight);
        }
        Self { limbs, whole, power: 0 }
    }

    /// The whole part, unless it is 10^18 or more.
    fn whole_part(&self) -> Option<u64> {
        let (small, large) = (self.whole.saturating_sub(2), self.whole);
        if self.limbs.iter().take(small).any(|limb| *limb != 0) {
            return None;
        }
        Some(self.limbs.iter().take(large).skip(small).fold(0, |value, limb| value * BASE + u64::from(*limb)))
    }

    fn multiply(&mut self, bits: u32) {
        let mut carry = 0;
        for limb in self.limbs.iter_mut().rev() {
            let product = (u64::from(*limb) << bits) + carry;
            *limb = (product % BASE) as u32;
            carry = product / BASE;
        }
        if carry > 0 {
            self.limbs.insert(0, carry as u32);
            self.whole += 1;
        }
        self.power -= bits as i32;
    }

    fn divide(&mut self, bits: u32) {
        let mask = (1 << bits) - 1;
        let mut rest = 0;
        for limb in &mut self.limbs {
            let part = rest * BASE + u64::from(*limb);
            *limb = (part >> bits) as u32;
            rest = part & mask;
        }
        while rest > 0 {
            let part = rest * BASE;
            self.limbs.push((part >> bits) as u32);
            rest = part & mask;
        }
        self.power += bits as i32;
    }

    /// The nearest double, and whether it is exact. `more` tells that non-zero digits follow.
    fn round(mut self, more: bool) -> (f64, bool) {
        let mut whole = loop {
            match self.whole_part() {
                None => self.divide(STEP),
                Some(whole) if whole >> 53 != 0 => self.divide(11 - whole.leading_zeros()),
                Some(whole) if whole >> 52 == 0 && self.power > -1074 => {
                    let wanted = whole.leading_zeros() - 11;
                    // Below the smallest exponent a double has fewer bits, not a smaller exponent.
                    self.multiply(wanted.min(STEP).min((self.power + 1074) as u32));
                }
                Some(whole) => break whole,
            }
        };
        let mut fraction = self.limbs.iter().skip(self.whole);
        let first = u64::from(fraction.next().copied().unwrap_or(0));
        let more = more || fraction.any(|limb| *limb != 0);
        let is_exact = first == 0 && !more;
        let half = BASE / 2;
        if first > half || first == half && (more || whole & 1 == 1) {
            whole += 1;
            if whole >> 53 != 0 {
                whole >>= 1;
                self.power += 1;
            }
        }
        let bits = if whole >> 52 == 0 {
            whole
        } else if self.power > 971 {
            return (f64::INFINITY, false);
        } else {
            ((self.power + 1075) as u64) << 52 | whole & ((1 << 52) - 1)
        };
        (f64::from_bits(bits), is_exact)
    }
}
