//! The approval card as data: every key and value of the arguments, what changes, and what is known of the tool.
#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

mod sim;

use std::fmt::Write as _;

use countersign::core::approval::{Annotations, Preview, Tool};
use countersign::core::arguments::Arguments;
use countersign::core::card::{Change, Hint, Row, cards, difference, hosts, is_mixed, punycode, rows};
use countersign::core::card::{value_changes, visible, visible_line, visible_value};
use countersign::core::json::{Writer, parse_lenient};
use countersign::core::policy::ToolEffect;
use countersign::core::run::Handled;
use expect_test::{Expect, expect};
use sim::{Sim, answer, calls, settings, spec};

fn of(arguments: &str, current: Option<&str>) -> Vec<Row> {
    let arguments = Arguments::new(arguments).unwrap();
    let current = current.map(|current| parse_lenient(current.as_bytes()).unwrap());
    rows(arguments.value(), current.as_ref())
}

/// One line a row: what it is in, its name, its kind and text, and whatever else holds of it.
fn told(rows: &[Row]) -> String {
    let mut told = String::new();
    for row in rows {
        write!(told, "{:?} {} | {} {:?}", row.group, row.name, row.kind, row.text).unwrap();
        for (says, holds) in [(" long", row.long), (" mixed", row.mixed)] {
            told.push_str(if holds { says } else { "" });
        }
        if let Some(table) = &row.table {
            write!(told, " in {table}").unwrap();
        }
        if !row.hosts.is_empty() {
            write!(told, " {:?}", row.hosts).unwrap();
        }
        for piece in &row.changes {
            write!(told, " {}{:?}", sign(piece.change), piece.text).unwrap();
        }
        told.push('\n');
    }
    told
}

fn sign(change: Change) -> char {
    match change {
        Change::Same => '=',
        Change::Removed => '-',
        Change::Added => '+',
    }
}

#[track_caller]
fn check(arguments: &str, expected: Expect) {
    expected.assert_eq(&told(&of(arguments, None)));
}

#[test]
fn a2_every_key_and_value_stands_in_the_order_of_the_model() {
    check("{}", expect![""]);
    check(
        r#"{"to":"ada","count":3,"ratio":1.0000000000000000001,"urgent":false,"cc":null,"tags":[],"meta":{},"":1}"#,
        expect![[r#"
            "" to | string "ada"
            "" count | number "3"
            "" ratio | number "1"
            "" urgent | boolean "false"
            "" cc | null "null"
            "" tags | array "[]"
            "" meta | object "{}"
            "" [""] | number "1"
        "#]],
    );
    check(
        r#"{"b":{"y":1,"x":{"deep":[[2]]}},"a.b":{"c]":3},"tags":["one","two"]}"#,
        expect![[r#"
            "b" y | number "1"
            "b.x.deep[0]" [0] | number "2"
            "[\"a.b\"]" ["c]"] | number "3"
            "tags" [0] | string "one"
            "tags" [1] | string "two"
        "#]],
    );
}

#[test]
fn a2_a_list_of_flat_objects_is_a_table_and_any_other_is_not() {
    check(
        r#"{"rows":[{"sku":"a","n":1},{"n":2,"note":null}]}"#,
        expect![[r#"
            "rows[0]" sku | string "a" in rows
            "rows[0]" n | number "1" in rows
            "rows[1]" n | number "2" in rows
            "rows[1]" note | null "null" in rows
        "#]],
    );
    let long = "x".repeat(201);
    let wide: Vec<_> = (0..9).map(|key| format!(r#""k{key}":1"#)).collect();
    for (items, is_table) in [
        (r#"{"a":1},{"b":[]}"#.to_owned(), true),
        (r#"{"a":1}"#.to_owned(), false),
        (r#"{"a":1},2"#.to_owned(), false),
        (r#"{"a":1},{}"#.to_owned(), false),
        (r#"{"a":1},{"a":[2]}"#.to_owned(), false),
        (r#"{"a":1},{"a":{"b":2}}"#.to_owned(), false),
        (format!(r#"{{"a":1}},{{"a":"{long}"}}"#), false),
        (format!(r#"{{"a":1}},{{{}}}"#, wide.join(",")), false),
    ] {
        let rows = of(&format!(r#"{{"l":[{items}]}}"#), None);
        assert!(rows.iter().all(|row| row.table.is_some() == is_table), "{items}");
    }
}

#[test]
fn a2_what_cannot_be_seen_stands_as_a_token_and_no_text_can_write_one() {
    for (text, shown) in [
        ("a\u{0}b", "a⟨U+0000⟩b"),
        ("a\u{85}b", "a⟨U+0085⟩b"),
        ("a\u{202E}b", "a⟨U+202E⟩b"),
        ("a\u{2028}b", "a⟨U+2028⟩b"),
        ("a\u{2029}b", "a⟨U+2029⟩b"),
        ("a\u{E000}b", "a⟨U+E000⟩b"),
        ("a\u{10FFFD}b", "a⟨U+10FFFD⟩b"),
        ("a\u{378}b", "a⟨U+0378⟩b"),
        ("a\u{1FAFF}b", "a⟨U+1FAFF⟩b"),
        ("a\u{2FFE0}b", "a⟨U+2FFE0⟩b"),
        ("a\u{FFFE}b", "a⟨U+FFFE⟩b"),
        ("a\u{FDD0}b", "a⟨U+FDD0⟩b"),
        ("a\u{3164}b", "a⟨U+3164⟩b"),
        ("a\u{115F}b", "a⟨U+115F⟩b"),
        ("a\u{A0}b\u{3000}", "a⟨U+00A0⟩b⟨U+3000⟩"),
        ("a\u{2800}b", "a⟨U+2800⟩b"),
        ("a\u{AD}b", "a⟨U+00AD⟩b"),
        ("a\u{FE0F}b", "a⟨U+FE0F⟩b"),
        ("a\u{200D}b", "a⟨U+200D⟩b"),
        ("a\u{E0061}b", "a⟨U+E0061⟩b"),
        ("⟨U+202E⟩␣↵", "⟨U+27E8⟩U+202E⟨U+27E9⟩⟨U+2423⟩⟨U+21B5⟩"),
        ("naïve Ω 漢字 שלום हिन्दी", "naïve Ω 漢字 שלום हिन्दी"),
    ] {
        for show in [visible, visible_line, visible_value] {
            assert_eq!(show(text), shown, "{text:?}");
        }
    }
    // What is assigned or not is held against the platform's data in tests/tools/hidden.test.mjs.
}

#[test]
fn a2_emoji_sequences_get_soft_marks_and_what_only_looks_like_one_does_not() {
    for (text, shown) in [
        ("👩\u{200D}🚀", "👩⟨+⟩🚀"),
        ("👩🏽\u{200D}🚀", "👩🏽⟨+⟩🚀"),
        ("❤\u{FE0F}\u{200D}🔥", "❤⟨e⟩⟨+⟩🔥"),
        ("1\u{FE0F}\u{20E3}", "1⟨e⟩\u{20E3}"),
        ("1\u{FE0F}2", "1⟨U+FE0F⟩2"),
        ("👩\u{200D}a", "👩⟨U+200D⟩a"),
        ("a\u{200D}👩", "a⟨U+200D⟩👩"),
        ("👩\u{200D}", "👩⟨U+200D⟩"),
        ("👩\u{200D}\u{200D}👩", "👩⟨U+200D⟩⟨U+200D⟩👩"),
        ("❤\u{FE0F}\u{FE0F}", "❤⟨e⟩⟨U+FE0F⟩"),
        ("\u{FE0F}\u{200D}👩", "⟨U+FE0F⟩⟨U+200D⟩👩"),
        ("🏴\u{E0067}\u{E0062}\u{E0073}\u{E0063}\u{E0074}\u{E007F}", "🏴⟨gbsct⟩"),
        // A sentence in tags is one that only a model reads.
        ("🏴\u{E0072}\u{E006D}\u{E007F}", "🏴⟨U+E0072⟩⟨U+E006D⟩⟨U+E007F⟩"),
        ("🏴\u{E0067}\u{E0062}\u{E0073}", "🏴⟨U+E0067⟩⟨U+E0062⟩⟨U+E0073⟩"),
        ("x\u{E0067}\u{E0062}\u{E0073}\u{E007F}", "x⟨U+E0067⟩⟨U+E0062⟩⟨U+E0073⟩⟨U+E007F⟩"),
    ] {
        assert_eq!(visible_value(text), shown, "{text:?}");
    }
    let tags = "deleteall".bytes().map(|byte| char::from_u32(0xE0000 + u32::from(byte)).unwrap());
    let smuggled: String = "🏴".chars().chain(tags).chain(['\u{E007F}']).collect();
    assert!(visible_value(&smuggled).contains("⟨U+E0064⟩⟨U+E0065⟩"));
}

#[test]
fn a2_line_breaks_and_spaces_that_count_are_shown() {
    for (text, value, line, prose) in [
        ("a b", "a b", "a b", "a b"),
        ("a  b", "a␣␣b", "a␣␣b", "a  b"),
        (" a ", "␣a␣", "␣a␣", " a "),
        (" ", "␣", "␣", " "),
        ("a \n b\n", "a␣↵\n␣b↵\n", "a␣⟨U+000A⟩␣b⟨U+000A⟩", "a \n b\n"),
        ("a\r\nb", "a⟨U+000D⟩↵\nb", "a⟨U+000D⟩⟨U+000A⟩b", "a⟨U+000D⟩\nb"),
        ("a\tb", "a⟨U+0009⟩b", "a⟨U+0009⟩b", "a⟨U+0009⟩b"),
    ] {
        assert_eq!((visible_value(text), visible_line(text), visible(text)), (value.into(), line.into(), prose.into()));
    }
    check(
        r#"{" to":"a","to ":"b\nc"}"#,
        expect![[r#"
            "" ␣to | string "a"
            "" to␣ | string "b↵\nc" long
        "#]],
    );
}

#[test]
fn a2_letters_of_different_alphabets_in_one_word_are_flagged() {
    for (text, mixed) in [
        ("paypal", false),
        ("p\u{430}ypal", true),
        ("раураl", true),
        ("привет hello", false),
        ("привет_hello", true),
        ("user1а", true),
        ("Ωmega", true),
        ("Ω mega", false),
        ("naïve Ælfred", false),
        ("a\u{301}б", true),
        ("漢字kanji", false),
        ("ｐaypal", true),
        ("𝐩aypal", true),
        ("Ꭺpple", true),
        ("՝Հello", true),
        ("שלom", true),
        ("", false),
    ] {
        assert_eq!(is_mixed(text), mixed, "{text}");
    }
    check(
        r#"{"раypal":1,"to":"p\u0430ypal","n":"ok"}"#,
        expect![[r#"
            "" раypal | number "1" mixed
            "" to | string "pаypal" mixed
            "" n | string "ok"
        "#]],
    );
}

/// The samples of RFC 3492, section 7.1.
#[test]
fn a2_punycode_is_that_of_rfc_3492() {
    for (text, encoded) in [
        ("ليهمابتكلموشعربي؟", "egbpdaj6bu4bxfgehfvwxn"),
        ("他们为什么不说中文", "ihqwcrb4cv8a8dqg056pqjye"),
        ("他們爲什麽不說中文", "ihqwctvzc91f659drss3x8bo0yb"),
        ("Pročprostěnemluvíčesky", "Proprostnemluvesky-uyb24dma41a"),
        ("למההםפשוטלאמדבריםעברית", "4dbcagdahymbxekheh6e0a7fei0b"),
        ("यहलोगहिन्दीक्योंनहींबोलसकतेहैं", "i1baa7eci9glrd9b2ae1bj0hfcgg6iyaf8o0a1dig0cd"),
        ("なぜみんな日本語を話してくれないのか", "n8jok5ay5dzabd5bym9f0cm5685rrjetr6pdxa"),
        ("почемужеонинеговорятпорусски", "b1abfaaepdrnnbgefbadotcwatmq2g4l"),
        ("PorquénopuedensimplementehablarenEspañol", "PorqunopuedensimplementehablarenEspaol-fmd56a"),
        ("TạisaohọkhôngthểchỉnóitiếngViệt", "TisaohkhngthchnitingVit-kjcr8268qyxafd2f1b9g"),
        ("3年B組金八先生", "3B-ww4c5e180e575a65lsy2b"),
        ("安室奈美恵-with-SUPER-MONKEYS", "-with-SUPER-MONKEYS-pc58ag80a8qai00g7n9n"),
        ("Hello-Another-Way-それぞれの場所", "Hello-Another-Way--fc4qua05auwb3674vfr0b"),
        ("ひとつ屋根の下2", "2-u9tlzr9756bt3uc0v"),
        ("MajiでKoiする5秒前", "MajiKoi5-783gue6qz075azm5e"),
        ("パフィーdeルンバ", "de-jg4avhby1noc0d"),
        ("そのスピードで", "d9juau41awczczp"),
    ] {
        assert_eq!(punycode(text).unwrap(), encoded, "{text}");
    }
}

#[test]
fn a2_hosts_that_are_not_ascii_stand_beside_their_url_in_punycode() {
    for (text, expected) in [
        ("https://paypal.com/ä", &[][..]),
        ("https://p\u{430}ypal.com/", &["xn--pypal-4ve.com"]),
        ("HTTPS://user:b\u{fc}cher@B\u{fc}cher.example:8080/?x", &["xn--bcher-kva.example"]),
        ("see http://bücher.example, and http://bücher.example!", &["xn--bcher-kva.example"]),
        ("http://faß.de?a=http://ü.de", &["xn--fa-hia.de", "xn--tda.de"]),
        ("http://例え。テスト/", &["xn--r8jz45g.xn--zckzah"]),
        ("看 https://example.com，谢谢", &[]),
        ("ftp://bücher.example and bücher.example", &[]),
        ("ü://ü", &[]),
        ("https://xn--pypal-4ve.com", &[]),
    ] {
        assert_eq!(hosts(text), expected, "{text}");
    }
    let many: String = (0..30).map(|number| format!("http://ü{number}.de ")).collect();
    assert_eq!((hosts(&many).len(), hosts(&many).pop().unwrap().as_str()), (21, "…"));
    // No part of a name is so long, and to encode one takes time that grows with its square.
    let long: String = (0..64).map(|place| char::from_u32(0x4E00 + place).unwrap()).collect();
    assert_eq!(hosts(&["https://", &long, ".de"].concat()), [[&long, ".de"].concat()]);
    check(
        r#"{"link":"https://b\u00fccher.example/"}"#,
        expect![[r#"
            "" link | string "https://bücher.example/" ["xn--bcher-kva.example"]
        "#]],
    );
}

#[test]
fn a2_what_no_card_can_show_faithfully_never_gets_one() {
    for (arguments, why) in [
        (r#"{"a":"\ud800"}"#, "half"),
        (r#"{"\udc00":1}"#, "half"),
        (r#"{"a":1,"a":2}"#, "twice"),
        (r#"{"a":{"b":1,"\u0062":2}}"#, "twice"),
        (r#"{"a":9007199254740993}"#, "9007199254740993"),
        (r#"{"a":1e400}"#, "1e400"),
        (r#"{"__proto__":1}"#, "__proto__"),
    ] {
        let error = Arguments::new(arguments).unwrap_err();
        assert!(error.contains(why), "{arguments}: {error}");
    }
    // A number that is no integer is shown as the tool gets it.
    for (literal, shown) in
        [("1.0000000000000000001", "1"), ("0.1", "0.1"), ("1e2", "1e2"), ("0.10000000000000000555", "0.1")]
    {
        assert_eq!(of(&format!(r#"{{"a":{literal}}}"#), None)[0].text, shown);
    }
    // Else every one of ten thousand values would carry half a megabyte of names.
    let (longest, longer) = ("k".repeat(999), "k".repeat(1_000));
    assert!(Arguments::new(&format!(r#"{{"{longest}":{{"a":1}}}}"#)).is_ok());
    let error = Arguments::new(&format!(r#"{{"{longer}":[{{"a":1}}]}}"#)).unwrap_err();
    assert!(error.contains("1000 bytes"), "{error}");
}

#[test]
fn a2_a_difference_gives_both_texts_and_names_what_changes() {
    let differ = |before: &str, after: &str| {
        let pieces = difference(before, after);
        let rebuilt = |without| {
            pieces.iter().filter(|piece| piece.change != without).map(|piece| piece.text.as_str()).collect::<String>()
        };
        assert_eq!((rebuilt(Change::Added), rebuilt(Change::Removed)), (before.to_owned(), after.to_owned()));
        pieces.iter().map(|piece| format!("{}{}", sign(piece.change), piece.text)).collect::<Vec<_>>().join("|")
    };
    for (before, after, expected) in [
        ("", "", ""),
        ("a", "", "-a"),
        ("", "a", "+a"),
        ("one two three", "one 2 three", "=one |-two |+2 |=three"),
        ("a b c d", "a x y d", "=a |-b c |+x y |=d"),
        ("a a", "a a a", "=a |+a |=a"),
        ("x b y d", "x c y e", "=x |-b |+c |=y |-d|+e"),
    ] {
        assert_eq!(differ(before, after), expected, "{before} {after}");
    }
    // By lines where there are many.
    let [before, after] =
        ["old words\n", "new words\n"].map(|line| ["same\n".repeat(7), line.into(), "same\n".repeat(9)].concat());
    assert!(differ(&before, &after).contains("|-old words\n|+new words\n|="));
    // More than can be compared is replaced, and what both share at the ends is still told.
    let words = |word: &str| format!("start {} end", format!("{word} ").repeat(5_000));
    let pieces = difference(&words("a"), &words("b"));
    assert_eq!(pieces.iter().map(|piece| sign(piece.change)).collect::<String>(), "=-+=");
}

#[test]
fn a10_a_long_text_that_a_person_changed_tells_what_changes_in_it() {
    let line = ["The quick brown fox jumps over the lazy dog."; 3].join(" ");
    let told = |was: &str, now: &str| {
        let json = |text: &str| format!(r#"{{"a":{}}}"#, serde_json::to_string(text).unwrap());
        let changes = value_changes(&json(was), &json(now));
        let pieces = changes[0].now.as_ref().unwrap().changes.iter();
        pieces.map(|piece| format!("{}{}", sign(piece.change), piece.text)).collect::<Vec<_>>().join("|")
    };
    let (start, end) = line.rsplit_once("lazy ").unwrap();
    assert_eq!(told(&line, &format!("{start}sly {end}")), format!("={start}|-lazy |+sly |={end}"));
    assert_eq!(told("short", &line), format!("-short|+{line}"), "either may be the long one");
    assert_eq!(told("short", "other"), "", "both are read at a glance");
    assert!(value_changes(&format!(r#"{{"a":"{line}"}}"#), r#"{"a":1}"#)[0].now.as_ref().unwrap().changes.is_empty());
    // However long: what cannot be compared in time is replaced.
    let words = |word: &str| format!("{word} ").repeat(10_000);
    assert_eq!(told(&words("a"), &words("b")).chars().filter(|sign| "-+=|".contains(*sign)).collect::<String>(), "-|+");
}

/// Who asked for what and what its card says by now, of all that the page shows.
fn receipts(sim: &Sim) -> String {
    let told = cards(&sim.run, None).into_iter().map(|card| {
        let says =
            card.receipt.map_or("waits".to_owned(), |receipt| format!("{} {}", receipt.decision, receipt.outcome));
        format!("{} {says}", card.request.as_str())
    });
    told.collect::<Vec<_>>().join(", ")
}

#[test]
fn a8_what_a_new_message_ended_keeps_its_receipt_in_its_place() {
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", r#"{"n":1}"#), ("eat", r#"{"n":2}"#), ("eat", r#"{"n":3}"#), ("look", "{}")])).unwrap();
    sim.decide("q1", true, Some("ada")).unwrap();
    sim.decide("q2", false, Some("ada")).unwrap();
    sim.send(Some("ada")).unwrap();
    let ended = "q1 decided.approved.other outcome.nothing, q3 lapsed.superseded outcome.nothing";
    assert_eq!(receipts(&sim), ended, "not that of what was denied before");
    sim.reload();
    assert_eq!(receipts(&sim), ended);
    sim.resume().unwrap();
    sim.turn(calls(&[("eat", r#"{"n":4}"#)])).unwrap();
    assert_eq!(receipts(&sim), format!("{ended}, q5 waits"), "ahead of what is asked since");
    sim.decide("q5", false, Some("ada")).unwrap();
    sim.turn(answer("No.")).unwrap();
    assert!(receipts(&sim).starts_with(ended));
    // What ended on its own goes with the next message, and so does what was ended by one before.
    sim.send(Some("ada")).unwrap();
    assert_eq!(receipts(&sim), "");
}

#[test]
fn a8_what_a_tool_asked_keeps_its_receipt_only_if_a_message_ended_it() {
    for stops in [false, true] {
        let mut sim = Sim::new(settings());
        sim.send(Some("ada")).unwrap();
        sim.turn(calls(&[("look", "{}")])).unwrap();
        sim.asks(spec("input")).unwrap();
        if stops {
            sim.stop().unwrap();
            assert_eq!(receipts(&sim), "q2 lapsed.unanswered outcome.stopped_there");
        }
        sim.send(Some("ada")).unwrap();
        assert_eq!(receipts(&sim), if stops { "" } else { "q2 lapsed.superseded outcome.stopped_there" });
    }
}

#[test]
fn a2_a_row_tells_what_it_replaces_where_the_tool_said_so() {
    let rows = of(
        r#"{"title":"The new page","n":2,"same":1,"on":true,"tags":["a"],"at":{"city":"Rome"},"list":[1,2],"late":"x","void":"null"}"#,
        Some(
            r#"{"title":"The old page","n":10,"same":1.0,"on":null,"tags":["a","b"],"at":{"city":"Oslo","zip":"1"},"list":{"no":1},"gone":1,"void":null}"#,
        ),
    );
    expect![[r#"
        "" title | string "The new page" ="The " -"old " +"new " ="page"
        "" n | number "2" -"10" +"2"
        "" same | number "1"
        "" on | boolean "true" -"null" +"true"
        "tags" [0] | string "a"
        "tags" [1] | nothing "" -"b"
        "at" city | string "Rome" -"Oslo" +"Rome"
        "list" [0] | number "1"
        "list" [1] | number "2"
        "" late | string "x"
        "" void | string "null" -"null" +"null"
    "#]]
    .assert_eq(&told(&rows));
    let mut out = Writer::default();
    rows[5].write(&mut out);
    expect![[r#"{"path":"tags[1]","group":"tags","name":"[1]","kind":"nothing","text":"","long":false,"changes":[{"change":"removed","text":"b"}]}"#]]
        .assert_eq(&out.finish());
}

#[test]
fn a2_current_values_are_stored_with_the_request_and_a_change_of_them_asks_again() {
    let preview = |text: &str| Preview { lines: vec![], current: Some(parse_lenient(text.as_bytes()).unwrap()) };
    let mut sim = Sim::new(settings());
    sim.send(Some("ada")).unwrap();
    sim.turn(calls(&[("eat", r#"{"n":1}"#)])).unwrap();
    let pending = |sim: &Sim| sim.run.chat().pending().next().map(|(request, _)| request.id.as_str().to_owned());
    for (n, changed) in [(5, true), (5, false)] {
        sim.preview = Some(preview(&format!(r#"{{"n":{n}}}"#)));
        let id = pending(&sim).unwrap();
        assert_eq!(
            sim.decide(&id, true, Some("ada")),
            Ok(if changed { Handled::AskedAgain } else { Handled::Applied })
        );
        let rows = cards(&sim.run, None)[0].view.arguments.clone();
        assert_eq!(told(&rows), "\"\" n | number \"1\" -\"5\" +\"1\"\n");
    }
    sim::check_kept(&sim.lines);
}

fn hints(effect: Option<ToolEffect>, idempotent: bool, untrusted: bool, annotations: Option<Annotations>) -> String {
    let tool = Tool { effect, idempotent, untrusted, annotations, ..Tool::of_provider("s", "t") };
    Hint::of(&tool).iter().map(|hint| hint.token()).collect::<Vec<_>>().join(" ")
}

#[test]
fn a14_what_is_not_said_counts_as_the_worse_and_a_servers_word_lowers_nothing() {
    use ToolEffect::{Read, Write};
    let (yes, no) = (Some(true), Some(false));
    let word = |read_only, destructive, idempotent, open_world| {
        Some(Annotations { read_only, destructive, idempotent, open_world })
    };
    let silent = Some(Annotations::default());
    let harmless = word(yes, no, yes, no);
    for (effect, idempotent, untrusted, annotations, expected) in [
        // The host's own tools.
        (Some(Read), false, false, None, "reads"),
        (Some(Read), false, true, None, "reads open_world"),
        (Some(Write), false, false, None, "writes repeats"),
        (Some(Write), true, false, None, "writes idempotent"),
        (None, false, false, None, "may_write repeats"),
        // A server that says nothing.
        (None, false, false, silent, "may_write destructive repeats open_world"),
        (Some(Write), true, false, silent, "writes destructive repeats open_world"),
        (Some(Read), false, false, silent, "may_write destructive repeats open_world"),
        // One that says the best lowers nothing that the host said, or did not say.
        (None, false, true, harmless, "may_write repeats open_world"),
        (Some(Write), false, false, harmless, "writes repeats"),
        (Some(Read), true, false, harmless, "reads"),
        // One that says the worst raises it.
        (Some(Read), false, false, word(no, yes, no, yes), "may_write destructive repeats open_world"),
        (Some(Write), true, false, word(no, no, yes, no), "writes idempotent"),
        (Some(Write), true, false, word(no, no, no, no), "writes repeats"),
    ] {
        assert_eq!(hints(effect, idempotent, untrusted, annotations), expected, "{effect:?} {annotations:?}");
    }
    // The best word of a server leaves an undeclared tool asking.
    let verdict = countersign::core::policy::verdict(None, &[], false, &countersign::core::policy::Standing::Silent);
    assert!(matches!(verdict, countersign::core::policy::Verdict::Ask { .. }));
}

#[test]
fn a14_annotations_are_part_of_what_consent_rests_on() {
    let tool = |annotations| Tool { annotations, ..Tool::of_provider("s", "t") };
    let (none, some) = (tool(None), tool(Some(Annotations::default())));
    let other = tool(Some(Annotations { destructive: Some(false), ..Annotations::default() }));
    // The hash that logs hold of a tool without them.
    expect!["af08f3ac24d6e164c85a4eb9ae8f3b8d685ff087f341fbef630c78cfbea5ab4c"]
        .assert_eq(none.definition_hash().as_str());
    assert_eq!(none.aspects().as_str().len(), 64);
    for (before, now) in [(&none, &some), (&some, &none), (&some, &other)] {
        assert_ne!(before.definition_hash(), now.definition_hash());
        assert_eq!(before.aspects().changes(&now.aspects()), ["annotations"]);
    }
    assert!(some.aspects().changes(&some.aspects()).is_empty());
}
