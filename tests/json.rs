//! The JSON reader and writer, held against `serde_json` as a twin.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

use countersign::core::json::{
    JoinedText, Json, JsonErrorKind, MAX_DEPTH, MAX_ITEMS, MAX_STRICT_BYTES, parse_lenient, parse_prefix, parse_strict,
    shown_number, write_string,
};
use proptest::prelude::*;

/// Whether the twin read the same. It parses doubles less exactly than the standard library, which numbers are held
/// against in a test of their own.
fn same_as_twin(ours: &Json, twin: &serde_json::Value) -> bool {
    match (ours, twin) {
        (Json::Null, serde_json::Value::Null) => true,
        (Json::Bool(ours), serde_json::Value::Bool(twin)) => ours == twin,
        (Json::Number(_), serde_json::Value::Number(twin)) => {
            let (ours, twin) = (ours.as_f64().unwrap(), twin.as_f64().unwrap());
            ours == twin || (ours - twin).abs() <= twin.abs() * 1e-15
        }
        (Json::String(ours), serde_json::Value::String(twin)) => ours == twin,
        (Json::Array(ours), serde_json::Value::Array(twin)) => {
            ours.len() == twin.len() && ours.iter().zip(twin).all(|(ours, twin)| same_as_twin(ours, twin))
        }
        (Json::Object(ours), serde_json::Value::Object(twin)) => {
            ours.len() == twin.len()
                && ours.iter().zip(twin).all(|(ours, twin)| ours.0 == *twin.0 && same_as_twin(&ours.1, twin.1))
        }
        _ => false,
    }
}

/// Members as JavaScript sees them: the last of equal keys, in the place of the first, as the twin keeps them.
fn last_wins(value: &Json) -> Json {
    match value {
        Json::Array(items) => Json::Array(items.iter().map(last_wins).collect()),
        Json::Object(members) => {
            let mut kept: Vec<(String, Json)> = Vec::new();
            for (key, value) in members {
                match kept.iter_mut().find(|(name, _)| name == key) {
                    Some(member) => member.1 = last_wins(value),
                    None => kept.push((key.clone(), last_wins(value))),
                }
            }
            Json::Object(kept)
        }
        other => other.clone(),
    }
}

fn has_wtf8(value: &Json) -> bool {
    match value {
        Json::Wtf8(_) => true,
        Json::Array(items) => items.iter().any(has_wtf8),
        Json::Object(members) => members.iter().any(|(_, value)| has_wtf8(value)),
        _ => false,
    }
}

/// Holds a lenient read against the twin. The twin also refuses lone surrogates and numbers beyond a double.
fn check_against_twin(text: &str) {
    let ours = parse_lenient(text.as_bytes());
    match serde_json::from_str::<serde_json::Value>(text) {
        Ok(twin) => {
            let ours = ours.unwrap_or_else(|error| panic!("the twin reads {text:?}, we say {error}"));
            assert!(same_as_twin(&last_wins(&ours), &twin), "{text:?}: {ours} is not {twin}");
        }
        Err(error) => {
            let reason = error.to_string();
            let known = ["surrogate", "hex escape", "out of range", "recursion limit"];
            if let Ok(value) = ours {
                assert!(known.iter().any(|known| reason.contains(known)), "{text:?} read as {value}, twin: {reason}");
            }
        }
    }
}

fn arb_json() -> impl Strategy<Value = Json> {
    let number = prop_oneof![
        any::<i64>().prop_map(|number| number.to_string()),
        "-?(0|[1-9][0-9]{0,20})(\\.[0-9]{1,20})?([eE][+-]?[0-9]{1,2})?",
    ];
    let leaf = prop_oneof![
        Just(Json::Null),
        any::<bool>().prop_map(Json::Bool),
        number.prop_map(Json::Number),
        any::<String>().prop_map(Json::String),
    ];
    leaf.prop_recursive(5, 40, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Json::Array),
            prop::collection::vec((".{0,5}", inner), 0..6).prop_map(Json::Object),
        ]
    })
}

#[test]
fn an_exact_text_keeps_halves_of_characters_for_a_strict_reader_to_refuse() {
    for text in [r#"{"a":["\ud83d",1.50,null],"b":"\ude00\n\"\\\ud83d\u0001é"}"#, r#"{"a":"😀","a":"\t"}"#] {
        let value = parse_lenient(text.as_bytes()).unwrap();
        assert_eq!(value.exact_text(), text);
        assert!(parse_strict(&value.exact_text()).is_err());
    }
    let mut halves = parse_lenient(br#"[{"a":"\ud83d\n"}]"#).unwrap();
    assert_eq!(halves.text(), "[{\"a\":\"\u{fffd}\\n\"}]");
    halves.make_well_formed();
    assert_eq!(halves, parse_lenient(halves.text().as_bytes()).unwrap());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]

    #[test]
    fn what_is_written_reads_back_the_same(value in arb_json()) {
        let text = value.to_string();
        prop_assert_eq!(&parse_lenient(text.as_bytes()).unwrap(), &value);
        check_against_twin(&text);
    }

    #[test]
    fn json_like_text_is_read_as_the_twin_reads_it(text in "[\\[\\]{}\",:0-9eE+\\-. \\\\untrfalsdb]{0,24}") {
        check_against_twin(&text);
    }

    #[test]
    fn a_damaged_document_is_read_as_the_twin_reads_it(
        value in arb_json(), at in any::<prop::sample::Index>(), damage in "[\\[\\]{}\",:0-9eE+\\-. \\\\u]{0,3}", cut in 0usize..3,
    ) {
        let mut chars: Vec<char> = value.to_string().chars().collect();
        let at = at.index(chars.len());
        let end = (at + cut).min(chars.len());
        chars.splice(at..end, damage.chars());
        check_against_twin(&chars.into_iter().collect::<String>());
    }

    #[test]
    fn escapes_are_read_as_the_twin_reads_them(units in prop::collection::vec(prop_oneof![
        any::<u16>(), 0xD7FEu16..0xE002, 0u16..0x80,
    ], 0..6)) {
        let text: String = units.iter().map(|unit| format!("\\u{unit:04x}")).collect();
        let text = format!("\"{text}\"");
        let ours = parse_lenient(text.as_bytes()).unwrap();
        match String::from_utf16(&units) {
            Ok(expected) => prop_assert_eq!(ours, Json::String(expected)),
            Err(_) => {
                prop_assert!(has_wtf8(&ours));
                let expected = String::from_utf16_lossy(&units);
                let mut literal = String::new();
                write_string(&expected, &mut literal);
                prop_assert_eq!(ours.to_string(), literal);
                prop_assert_eq!(parse_strict(&text).unwrap_err().kind, JsonErrorKind::LoneSurrogate);
            }
        }
    }

    #[test]
    fn halves_join_wherever_a_string_is_split(text in "[a😀é]{0,5}", splits in prop::collection::vec(any::<prop::sample::Index>(), 0..4)) {
        let units: Vec<u16> = text.encode_utf16().collect();
        let mut bounds: Vec<usize> = splits.iter().map(|split| split.index(units.len() + 1)).collect();
        bounds.extend([0, units.len()]);
        bounds.sort_unstable();
        let mut joined = JoinedText::new();
        for pair in bounds.windows(2) {
            let piece: String = units[pair[0]..pair[1]].iter().map(|unit| format!("\\u{unit:04x}")).collect();
            match parse_lenient(format!("\"{piece}\"").as_bytes()).unwrap() {
                Json::String(piece) => joined.push_str(&piece),
                Json::Wtf8(piece) => joined.push_wtf8(&piece),
                other => panic!("{other:?}"),
            }
        }
        prop_assert_eq!(joined.into_text(), text);
    }

    #[test]
    fn any_bytes_give_a_value_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..64)) {
        let _ = parse_lenient(&bytes);
        let _ = parse_prefix(&bytes);
        let mut text = JoinedText::new();
        text.push_wtf8(&bytes);
        text.into_text();
        if let Ok(text) = std::str::from_utf8(&bytes) {
            let _ = parse_strict(text);
        }
    }

    #[test]
    fn strict_reads_nothing_that_lenient_reads_otherwise(value in arb_json()) {
        if let Ok(strict) = parse_strict(&value.to_string()) {
            prop_assert_eq!(strict, value);
        }
    }

    #[test]
    fn a_number_has_the_value_the_standard_library_gives(literal in prop_oneof![
        "-?(0|[1-9][0-9]{0,25})(\\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?",
        any::<u64>().prop_map(|bits| {
            let number = f64::from_bits(bits);
            if number.is_finite() { format!("{number:e}") } else { "0".to_owned() }
        }),
        // Halfway between two neighbours, where rounding is decided, in full.
        (1u64 << 52..1 << 53, -60i32..900).prop_map(|(bits, power)| halfway(bits, power)),
        (0u64..1 << 53).prop_map(|bits| format!("{:.1100}", f64::from_bits(bits))),
    ]) {
        let value = Json::Number(literal.clone()).as_f64().unwrap();
        prop_assert_eq!(value.to_bits(), literal.parse::<f64>().unwrap().to_bits(), "{}", literal);
    }

    #[test]
    fn an_integer_passes_exactly_when_a_double_holds_it(number in prop_oneof![
        any::<i128>(), -(1i128 << 54)..(1 << 54), (0u32..120, 1i128..1 << 7).prop_map(|(shift, odd)| odd << shift),
    ]) {
        let exact = (number as f64) as i128 == number && (number as f64) < i128::MAX as f64;
        prop_assert_eq!(parse_strict(&number.to_string()).is_ok(), exact, "{}", number);
    }
}

/// The decimal text of (bits + ½) × 2^power: an integer from a power of one on, else a fraction.
fn halfway(bits: u64, power: i32) -> String {
    let mut digits: Vec<u8> = (2 * bits + 1).to_string().bytes().rev().map(|digit| digit - b'0').collect();
    let mut factors = 0;
    // 2^-n is 5^n / 10^n.
    let (factor, times) = if power > 0 { (2, power - 1) } else { (5, 1 - power) };
    for _ in 0..times {
        let mut carry = 0;
        for digit in &mut digits {
            let product = *digit * factor + carry;
            *digit = product % 10;
            carry = product / 10;
        }
        if carry > 0 {
            digits.push(carry);
        }
        factors += 1;
    }
    let text: String = digits.iter().rev().map(|digit| char::from(digit + b'0')).collect();
    if power > 0 { text } else { format!("{text}e-{factors}") }
}

#[test]
fn strict_refuses_what_a_card_cannot_show_faithfully() {
    let many = |open: &str, item: &str, close: &str, count| format!("{open}{}{close}", vec![item; count].join(","));
    for (text, expected) in [
        ("", "unexpected end of input (character 1)"),
        ("{\"a\":", "unexpected end of input (character 6)"),
        ("{\"file\": \"/tmp/é", "unexpected end of input (character 17)"),
        ("{\"a\":1}{\"a\":2}", "more text after the end of the value (character 8)"),
        ("{'a':1}", "unexpected text (character 2)"),
        ("[1,]", "unexpected text (character 4)"),
        ("[01]", "unexpected text (character 3)"),
        ("\"a\nb\"", "an unescaped control character in a string (character 3)"),
        ("\"\\x\"", "a backslash sequence that JSON does not have (character 2)"),
        ("{\"a\":1,\"a\":1}", "the key \"a\" occurs twice (character 8)"),
        ("{\"a\":1,\"\\u0061\":2}", "the key \"a\" occurs twice (character 8)"),
        ("{\"x\":{\"__proto__\":{}}}", "the key \"__proto__\" is not allowed (character 7)"),
        ("{\"\\u005f_proto__\":{}}", "the key \"__proto__\" is not allowed (character 2)"),
        ("\"\\ud83d\"", "half a character (an unpaired surrogate) in a string (character 2)"),
        ("\"\\ude00\\ud83d\"", "half a character (an unpaired surrogate) in a string (character 2)"),
        ("{\"\\ud83d\":1}", "half a character (an unpaired surrogate) in a string (character 3)"),
        ("9007199254740993", "the integer 9007199254740993 cannot be held exactly (character 1)"),
        ("9007199254740993.0", "the integer 9007199254740993.0 cannot be held exactly (character 1)"),
        ("900719925474099.3e1", "the integer 900719925474099.3e1 cannot be held exactly (character 1)"),
        ("1e23", "the integer 1e23 cannot be held exactly (character 1)"),
        ("[1e400]", "the number 1e400 is too large (character 2)"),
        ("-1e309", "the number -1e309 is too large (character 1)"),
        ("1e99999999999999999999999", "the number 1e99999999999999999999999 is too large (character 1)"),
        ("1e-400", "the number 1e-400 is too small and would become zero (character 1)"),
        ("2e-324", "the number 2e-324 is too small and would become zero (character 1)"),
        (&"[".repeat(MAX_DEPTH + 1), "nested too deep (character 65)"),
        (&"[".repeat(1_000_000), "nested too deep (character 65)"),
        (&"{\"a\":".repeat(200_000), "nested too deep (character 321)"),
        (&many("[", "1", "]", MAX_ITEMS + 1), "more than 10000 keys and elements (character 20002)"),
        (&format!("\"{}\"", "a".repeat(MAX_STRICT_BYTES - 1)), "longer than 1 MiB (character 1048577)"),
    ] {
        let error = parse_strict(text).unwrap_err();
        assert_eq!(error.to_string(), expected, "{}", text.get(..40).unwrap_or(text));
    }
}

#[test]
fn strict_takes_what_javascript_holds() {
    let power = (1..1024).fold("2".to_owned(), |digits, power| if power == 1023 { digits } else { double(&digits) });
    for text in [
        "0",
        "-0",
        "0.0",
        "0e5",
        "0e-999999",
        "0e999999",
        "1.0",
        "1e2",
        "9007199254740992",
        "9007199254740994",
        "1e22",
        "-9007199254740991",
        "1.0000000000000001",
        "0.1",
        "3e-324",
        "9007199254740993.5",
        "123456789012345678901234567890e-25",
        &power,
        " {\"\\u0000\" : [ true , false , null ] }\n",
        "\"\\ud83d\\ude00\"",
        "\"}{\"",
        &format!("{}{}", "[".repeat(MAX_DEPTH), "]".repeat(MAX_DEPTH)),
        "{\"a\":{\"a\":1},\"A\":1}",
    ] {
        parse_strict(text).unwrap_or_else(|error| panic!("{text}: {error}"));
    }
}

fn double(digits: &str) -> String {
    let mut carry = 0;
    let mut out: Vec<u8> = Vec::new();
    for digit in digits.bytes().rev() {
        let sum = (digit - b'0') * 2 + carry;
        out.push(sum % 10 + b'0');
        carry = sum / 10;
    }
    if carry > 0 {
        out.push(carry + b'0');
    }
    String::from_utf8(out.into_iter().rev().collect()).unwrap()
}

#[test]
fn lenient_keeps_what_a_provider_sends() {
    let value = parse_lenient(b" {\"a\":1,\"a\":2.50,\"b\":\"\xff\\ud83d\",\"\\ud83d\":0} \n").unwrap();
    assert_eq!(value.get("a"), Some(&Json::Number("2.50".into())));
    assert_eq!(value.get("b"), Some(&Json::Wtf8(b"\xef\xbf\xbd\xed\xa0\xbd".to_vec())));
    assert_eq!(value.to_string(), "{\"a\":1,\"a\":2.50,\"b\":\"\u{fffd}\u{fffd}\",\"\u{fffd}\":0}");
    // Depth is limited here as well, only deeper.
    assert!(parse_lenient("[".repeat(100_000).as_bytes()).is_err());
}

#[test]
fn a_prefix_ends_with_its_value() {
    assert_eq!(
        parse_prefix(b" {\"a\":1}\n\ndata: [DONE]").map(|(value, end)| (value.to_string(), end)).unwrap(),
        ("{\"a\":1}".into(), 8)
    );
    let error = parse_lenient(b"{\"a\":1} data: [DONE]").unwrap_err();
    assert_eq!((error.kind, error.at), (JsonErrorKind::Trailing, 7));
}

#[test]
fn values_are_the_same_whatever_their_order_and_spelling() {
    let read = |text: &str| parse_lenient(text.as_bytes()).unwrap();
    for (one, two, same) in [
        ("{\"a\":1,\"b\":[1.0]}", "{\"b\":[1e0],\"a\":1}", true),
        ("1", "1.0000000000000001", true),
        ("0.1", "0.10", true),
        ("0", "-0.0", true),
        ("9007199254740993", "9007199254740992", true),
        ("\"\\u0061\"", "\"a\"", true),
        ("1", "\"1\"", false),
        ("1", "1.0000000000000004", false),
        ("{\"a\":1}", "{\"a\":1,\"b\":2}", false),
        ("{\"a\":1,\"a\":1}", "{\"a\":1,\"b\":2}", false),
        ("{\"a\":null}", "{\"b\":null}", false),
        ("[1,2]", "[2,1]", false),
        ("[]", "{}", false),
    ] {
        assert_eq!(read(one).same_value(&read(two)), same, "{one} {two}");
        assert_eq!(read(two).same_value(&read(one)), same, "{two} {one}");
    }
}

#[test]
fn a_number_is_shown_as_the_value_a_tool_gets() {
    for (literal, shown) in [
        ("1.0000000000000000001", "1"),
        ("1.0000000000000001", "1"),
        ("1.0000000000000004", "1.0000000000000004"),
        ("-0.1000000000000000055511151231257827", "-0.1"),
        ("9.9999999999999999999e-5", "10e-5"),
        ("0.30000000000000004", "0.30000000000000004"),
        ("2.5e-3", "2.5e-3"),
        ("1.50", "1.50"),
        ("36893488147419103232", "36893488147419103232"),
        ("5e-324", "5e-324"),
    ] {
        assert_eq!(shown_number(literal), shown, "{literal}");
    }
}

#[test]
fn accessors_take_their_own_kind_only() {
    let value = parse_lenient(b"{\"s\":\"x\",\"n\":12,\"i\":-3,\"f\":1.5,\"b\":true,\"l\":[1],\"z\":null}").unwrap();
    let at = |key: &str| value.get(key).unwrap();
    assert_eq!((at("s").as_str(), at("n").as_str()), (Some("x"), None));
    assert_eq!((at("n").as_u64(), at("i").as_u64(), at("f").as_u64(), at("s").as_u64()), (Some(12), None, None, None));
    assert_eq!((at("i").as_i64(), at("f").as_i64()), (Some(-3), None));
    assert_eq!((at("f").as_f64(), at("s").as_f64()), (Some(1.5), None));
    assert_eq!((at("b").as_bool(), at("n").as_bool()), (Some(true), None));
    assert_eq!((at("l").as_array().map(<[Json]>::len), at("s").as_array()), (Some(1), None));
    assert_eq!((value.as_object().map(<[(String, Json)]>::len), at("l").as_object()), (Some(7), None));
    assert!(at("z").is_null() && !at("n").is_null() && value.get("none").is_none() && at("s").get("x").is_none());
}
