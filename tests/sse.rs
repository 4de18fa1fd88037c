//! Server-sent events, against a second reader that sees the whole stream at once.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::sse::{Decoder, Event, EventTooLong, MAX_EVENT_BYTES};
use proptest::prelude::*;

type Owned = (String, Vec<u8>, bool);

fn decode<'a>(pieces: impl IntoIterator<Item = &'a [u8]>) -> Vec<Owned> {
    let mut events = Vec::new();
    let mut sink = |event: Event<'_>| events.push((event.name.to_owned(), event.data.to_vec(), event.is_closed));
    let mut decoder = Decoder::new();
    for piece in pieces {
        decoder.feed(piece, &mut sink).unwrap();
    }
    decoder.finish(&mut sink);
    events
}

/// The same grammar, written down as plainly as possible for text that is all there.
fn decode_whole(bytes: &[u8]) -> Vec<Owned> {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut lines: Vec<Vec<u8>> = vec![Vec::new()];
    let mut at = 0;
    while at < bytes.len() {
        match bytes[at] {
            b'\r' | b'\n' => {
                at += usize::from(bytes[at..].starts_with(b"\r\n"));
                lines.push(Vec::new());
            }
            byte => lines.last_mut().unwrap().push(byte),
        }
        at += 1;
    }
    // The last line has no end; as a blank line it closes nothing.
    let unfinished = lines.pop().unwrap();
    let mut events = Vec::new();
    let mut name = Vec::new();
    let mut data: Vec<Vec<u8>> = Vec::new();
    let mut close = |name: &mut Vec<u8>, data: &mut Vec<Vec<u8>>, is_closed| {
        let joined = data.join(&b'\n');
        if !joined.is_empty() {
            events.push((String::from_utf8(name.clone()).unwrap_or_default(), joined, is_closed));
        }
        name.clear();
        data.clear();
    };
    let field = |line: &[u8], name: &mut Vec<u8>, data: &mut Vec<Vec<u8>>| {
        let colon = line.iter().position(|byte| *byte == b':').unwrap_or(line.len());
        let mut value = &line[(colon + 1).min(line.len())..];
        if value.first() == Some(&b' ') {
            value = &value[1..];
        }
        match &line[..colon] {
            b"data" if data.is_empty() && value.starts_with(b":") => {}
            b"data" => data.push(value.to_vec()),
            b"event" => *name = value.to_vec(),
            _ => {}
        }
    };
    for line in lines {
        if line.is_empty() {
            close(&mut name, &mut data, true);
        } else {
            field(&line, &mut name, &mut data);
        }
    }
    field(&unfinished, &mut name, &mut data);
    close(&mut name, &mut data, false);
    events
}

fn arb_stream() -> impl Strategy<Value = Vec<u8>> {
    let pieces: Vec<&[u8]> = vec![
        b"data",
        b"event",
        b":",
        b": ",
        b"\n",
        b"\r",
        b"\r\n",
        b"\n\n",
        b"data: ",
        b"data:{\"a\":1}",
        b"data: : ping",
        b"event: error",
        b": comment",
        b"\xef\xbb\xbf",
        b"\xef",
        b"\xbb",
        b"\xc3\xa9",
        b"\xff",
        b"x",
        b"id: 1",
    ];
    let piece = prop::sample::select(pieces);
    prop::collection::vec(piece, 0..24).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(3000))]

    #[test]
    fn any_split_gives_the_events_of_the_whole(stream in arb_stream(), cuts in prop::collection::vec(any::<prop::sample::Index>(), 0..6)) {
        let mut bounds: Vec<usize> = cuts.iter().map(|cut| cut.index(stream.len() + 1)).collect();
        bounds.extend([0, stream.len()]);
        bounds.sort_unstable();
        let expected = decode_whole(&stream);
        prop_assert_eq!(&decode(bounds.windows(2).map(|pair| &stream[pair[0]..pair[1]])), &expected);
        prop_assert_eq!(&decode(stream.chunks(1)), &expected);
        prop_assert_eq!(&decode([&stream[..]]), &expected);
    }

    #[test]
    fn any_bytes_are_taken(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        prop_assert_eq!(decode(bytes.chunks(1)), decode_whole(&bytes));
    }
}

/// Each stream with its events as `name=data`, an unclosed one with `…` behind it.
#[test]
fn streams_of_real_servers() {
    for (stream, expected) in [
        ("data: {}\n\n", "={}"),
        ("data:{}\n\n", "={}"),
        ("data:  {}\n\n", "= {}"),
        ("\u{feff}data: 1\r\n\r\ndata: 2\r\n\r\n", "=1 =2"),
        ("data: 1\r\rdata: 2\r\r", "=1 =2"),
        ("data: {\ndata: }\n\n", "={\\n}"),
        (": comment\n\n:\n\ndata: 1\n\n", "=1"),
        ("data: : keepalive\n\ndata: 1\n\n", "=1"),
        ("data: {\"a\"\ndata: : 1}\n\n", "={\"a\"\\n: 1}"),
        ("data\n\ndata:\n\ndata: \n\n", ""),
        ("event: ping\ndata: \"\"\n\n", "ping=\"\""),
        ("event: error\ndata: 1\n\ndata: 2\n\n", "error=1 =2"),
        ("event: error\n\ndata: 2\n\n", "=2"),
        ("id: 7\nretry: 10\n\n", ""),
        ("data: 1\n\ndata: 2", "=1 =2…"),
        ("data: 1\n\ndata: 2\n", "=1 =2…"),
        ("data: 1\n\ndata: 2\r\n\r", "=1 =2"),
        ("datax: 1\n\n data: 2\n\nDATA: 3\n\n", ""),
        ("", ""),
    ] {
        let events = decode(stream.as_bytes().chunks(1));
        let shown: Vec<String> = events
            .iter()
            .map(|(name, data, is_closed)| {
                let data = String::from_utf8_lossy(data).replace('\n', "\\n");
                format!("{name}={data}{}", if *is_closed { "" } else { "…" })
            })
            .collect();
        assert_eq!(shown.join(" "), expected, "{stream:?}");
    }
}

#[test]
fn an_endless_event_is_refused_and_nothing_comes_after_it() {
    let mut events = 0;
    let mut sink = |_: Event<'_>| events += 1;
    let mut decoder = Decoder::new();
    let piece = [b"data: ".to_vec(), vec![b'x'; 1 << 20], b"\n".to_vec()].concat();
    let mut fed = 0;
    while decoder.feed(&piece, &mut sink).is_ok() {
        fed += piece.len();
        assert!(fed <= MAX_EVENT_BYTES, "the limit must be seen");
    }
    assert!(fed > MAX_EVENT_BYTES / 2);
    assert_eq!(decoder.feed(b"\n\ndata: 1\n\n", &mut sink), Err(EventTooLong));
    decoder.finish(&mut sink);
    assert_eq!(events, 0);

    let mut decoder = Decoder::new();
    let line = vec![b':'; 1 << 20];
    assert!((0..20).any(|_| decoder.feed(&line, &mut |_| {}).is_err()), "a line without an end counts as well");
}

#[test]
fn a_long_event_that_comes_byte_by_byte_takes_linear_time() {
    // Four megabytes in single bytes: a decoder that looked at the buffer again for each of them would need 8·10^12
    // steps, and this test would not end.
    let mut length = 0;
    let mut sink = |event: Event<'_>| length = event.data.len();
    let mut decoder = Decoder::new();
    decoder.feed(b"data: ", &mut sink).unwrap();
    for _ in 0..4 << 20 {
        decoder.feed(b"x", &mut sink).unwrap();
    }
    decoder.feed(b"\n\n", &mut sink).unwrap();
    assert_eq!(length, 4 << 20);
}
