//! The hosts of URLs as the network knows them: `раypal.com` is `xn--ypal-43d9g.com`.

use super::visible_line;

/// The most hosts that are listed. What has more is no text that a person reads for its links.
const MOST_HOSTS: usize = 20;
/// The most characters of a part of a name.
const LONGEST_LABEL: usize = 63;

/// The hosts that are not ASCII of all `http:` and `https:` URLs in a text, in Punycode, each once; `…` stands for more
/// than fit a list.
///
/// The letters are encoded as they are written: capitals of other alphabets, which a browser would make small first,
/// give a name that exists nowhere.
pub fn hosts(text: &str) -> Vec<String> {
    let mut hosts: Vec<String> = Vec::new();
    if text.is_ascii() {
        return hosts;
    }
    for (place, _) in text.match_indices("://") {
        let (before, after) = text.split_at_checked(place).unwrap_or_default();
        let scheme = before.as_bytes();
        let ends_with = |name: &str| {
            let start = scheme.len().checked_sub(name.len());
            start.and_then(|start| scheme.get(start..)).is_some_and(|end| end.eq_ignore_ascii_case(name.as_bytes()))
        };
        if !ends_with("http") && !ends_with("https") {
            continue;
        }
        let Some(host) = host(after.get(3..).unwrap_or_default()) else { continue };
        if hosts.contains(&host) {
            continue;
        }
        if hosts.len() == MOST_HOSTS {
            hosts.push("…".to_owned());
            break;
        }
        hosts.push(host);
    }
    hosts
}

/// The host that a URL's text behind `//` begins with, if it is not ASCII. Quotes and commas of other scripts end it too:
/// text is written around URLs, and no name has them.
fn host(text: &str) -> Option<String> {
    let is_end = |character: char| {
        character <= ' '
            || matches!(character, '/' | '\\' | '?' | '#' | '"' | '<' | '>' | '`' | '{' | '}' | '|' | '^')
            || matches!(character, '‘'..='”' | '\u{3000}' | '、' | '〈'..='】' | '！' | '）' | '，')
    };
    let authority = text.split(is_end).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let host = host.split(':').next().unwrap_or_default().trim_end_matches([',', ';', ')', '\'', '!', '.']);
    if host.is_ascii() {
        return None;
    }
    let labels: Vec<_> = host.split(['.', '\u{3002}', '\u{FF0E}', '\u{FF61}']).map(label).collect();
    Some(visible_line(&labels.join(".")))
}

/// A label of a host's name.
fn label(label: &str) -> String {
    let label = label.to_ascii_lowercase();
    // What cannot be encoded, or is longer than a label may be, is no name; it is shown as it is.
    if label.is_ascii() || label.chars().count() > LONGEST_LABEL {
        return label;
    }
    encode(&label).map_or(label, |encoded| ["xn--", &encoded].concat())
}

const BASE: u32 = 36;
const T_MIN: u32 = 1;
const T_MAX: u32 = 26;
const SKEW: u32 = 38;
const DAMP: u32 = 700;

/// The encoding of RFC 3492, section 6.3; `None` where its numbers overflow.
pub fn encode(label: &str) -> Option<String> {
    let mut encoded: String = label.chars().filter(char::is_ascii).collect();
    let basic = u32::try_from(encoded.len()).ok()?;
    if basic > 0 {
        encoded.push('-');
    }
    let length = u32::try_from(label.chars().count()).ok()?;
    let (mut next, mut delta, mut bias, mut handled) = (128, 0u32, 72, basic);
    while handled < length {
        let least = label.chars().map(u32::from).filter(|code| *code >= next).min()?;
        delta = delta.checked_add((least - next).checked_mul(handled + 1)?)?;
        next = least;
        for code in label.chars().map(u32::from) {
            if code < next {
                delta = delta.checked_add(1)?;
            }
            if code == next {
                let mut left = delta;
                for step in (BASE..).step_by(BASE as usize) {
                    let threshold = step.saturating_sub(bias).clamp(T_MIN, T_MAX);
                    if left < threshold {
                        break;
                    }
                    let range = BASE - threshold;
                    encoded.push(digit(threshold + (left - threshold) % range));
                    left = (left - threshold) / range;
                }
                encoded.push(digit(left));
                bias = adapt(delta, handled + 1, handled == basic);
                delta = 0;
                handled += 1;
            }
        }
        delta = delta.checked_add(1)?;
        next += 1;
    }
    Some(encoded)
}

/// `a` to `z` for 0 to 25, then the digits.
fn digit(value: u32) -> char {
    char::from_digit((value + 10) % BASE, BASE).unwrap_or('?')
}

const fn adapt(delta: u32, points: u32, is_first: bool) -> u32 {
    let mut delta = if is_first { delta / DAMP } else { delta / 2 };
    delta += delta / points;
    let mut bias = 0;
    while delta > (BASE - T_MIN) * T_MAX / 2 {
        delta /= BASE - T_MIN;
        bias += BASE;
    }
    bias + (BASE - T_MIN + 1) * delta / (delta + SKEW)
}
