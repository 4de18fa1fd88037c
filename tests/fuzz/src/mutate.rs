//! Inputs: streams that servers sent, changed a little or a lot.

/// xorshift64*: small, and the same everywhere.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Self(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1)
    }

    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_F491_4F6C_DD1D)
    }

    /// A number below `end`; 0 where there is none.
    pub fn below(&mut self, end: usize) -> usize {
        if end == 0 { 0 } else { (self.next() >> 16) as usize % end }
    }

    pub fn one_in(&mut self, many: usize) -> bool {
        self.below(many) == 0
    }

    fn range(&mut self, length: usize, longest: usize) -> std::ops::Range<usize> {
        let start = self.below(length + 1);
        start..(start + self.below(longest) + 1).min(length)
    }
}

/// What streams are made of, and what readers stumble over.
const TOKENS: [&[u8]; 28] = [
    b"\n\n",
    b"\r",
    b"data: ",
    b"event: error\n",
    b"[DONE]",
    b"{",
    b"}",
    b"[",
    b"]",
    b"\"",
    b",",
    b":",
    b"null",
    b"0",
    b"-1",
    b"1e999",
    b"18446744073709551616",
    b"\"\\ud83d\"",
    b"\\ude00",
    b"\xed\xa0\xbd",
    b"\xff",
    b"\xef\xbb\xbf",
    b"{\"error\":",
    b"\"output_index\":0",
    b"\"index\":0",
    b"\"call_id\":\"\"",
    b"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[",
    b"<",
];

/// The longest input: enough for thousands of events.
const LONGEST: usize = 1 << 18;

/// One input.
pub fn input(seeds: &[Vec<u8>], random: &mut Random) -> Vec<u8> {
    let pick = |random: &mut Random| seeds.get(random.below(seeds.len())).cloned().unwrap_or_default();
    let mut bytes = pick(random);
    for _ in 0..=random.below(8) {
        match random.below(9) {
            0 if !bytes.is_empty() => {
                let at = random.below(bytes.len());
                bytes[at] ^= 1 << random.below(8);
            }
            1 => {
                let range = random.range(bytes.len(), 40);
                bytes.drain(range);
            }
            2 => {
                let at = random.below(bytes.len() + 1);
                let token = TOKENS[random.below(TOKENS.len())];
                bytes.splice(at..at, token.iter().copied());
            }
            3 => {
                let range = random.range(bytes.len(), 40);
                bytes.splice(range, TOKENS[random.below(TOKENS.len())].iter().copied());
            }
            4 => bytes.truncate(random.below(bytes.len() + 1)),
            // Events in another order, twice, or from another stream.
            5 => {
                let other = if random.one_in(2) { bytes.clone() } else { pick(random) };
                let events: Vec<&[u8]> = split(&other);
                let event = events.get(random.below(events.len())).copied().unwrap_or_default();
                let own = split(&bytes);
                let at: usize = own.iter().take(random.below(own.len() + 1)).map(|event| event.len()).sum();
                let event = event.to_vec();
                bytes.splice(at..at, event);
            }
            6 => {
                let mut events: Vec<Vec<u8>> = split(&bytes).into_iter().map(<[u8]>::to_vec).collect();
                let (one, two) = (random.below(events.len()), random.below(events.len()));
                if !events.is_empty() {
                    events.swap(one, two);
                    events.remove(random.below(events.len()));
                }
                bytes = events.concat();
            }
            // A digit, so that indexes jump.
            7 => {
                let digits: Vec<usize> = (0..bytes.len()).filter(|at| bytes[*at].is_ascii_digit()).collect();
                if let Some(at) = digits.get(random.below(digits.len())) {
                    bytes[*at] = b"0123456789"[random.below(10)];
                }
            }
            // The same piece again and again.
            _ => {
                let range = random.range(bytes.len(), 200);
                let at = range.end;
                let piece = bytes[range].repeat(random.below(200));
                bytes.splice(at..at, piece);
            }
        }
        bytes.truncate(LONGEST);
    }
    bytes
}

/// The events of a stream, with the blank lines behind them.
fn split(stream: &[u8]) -> Vec<&[u8]> {
    let mut events = Vec::new();
    let mut rest = stream;
    while let Some(at) = rest.windows(2).position(|bytes| bytes == b"\n\n") {
        let (event, after) = rest.split_at(at + 2);
        events.push(event);
        rest = after;
    }
    events.push(rest);
    events
}
