//! OpenAI Chat Completions: requests, errors, and what a turn carries back. Streams are in `fixtures.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod conversation;

use conversation::{BARE, assistant, json, params, result, tool, turn, user};
use countersign::core::json::Json;
use countersign::core::message::{CallId, HistoryItem, ModelError, ModelErrorClass, Part, Turn, TurnEnd, TurnExtra};
use countersign::core::wire::openai_chat::{Dialect, OpenAiChat};
use countersign::core::wire::{Opening, RetryHints, http_error, wait_ms};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn model(params_text: &str) -> OpenAiChat {
    OpenAiChat::new("gpt-x", "", params(params_text), Dialect::default()).unwrap()
}

fn body(model: &OpenAiChat, opening: &Opening<'_>, items: &[HistoryItem]) -> String {
    let mut body = model.head(opening);
    for (place, item) in items.iter().enumerate() {
        body.extend(model.item(item, place.checked_sub(1).and_then(|before| items.get(before))));
    }
    body.extend(model.tail(items.last(), None));
    String::from_utf8(body).unwrap()
}

/// The reduced stream of these events.
fn reduce(model: &OpenAiChat, events: &[&str]) -> Result<Turn, ModelError> {
    let mut reducer = model.reducer();
    for event in events {
        reducer.feed(format!("data: {event}\n\n").as_bytes());
    }
    reducer.finish()
}

fn check_body(model: &OpenAiChat, opening: &Opening<'_>, items: &[HistoryItem], expected: &Expect) {
    let body = body(model, opening, items);
    serde_json::from_str::<serde_json::Value>(&body).unwrap();
    // One message a line reads better.
    expected.assert_eq(&body.replace("{\"role\"", "\n{\"role\"").replace(",\"tools\"", "\n,\"tools\""));
}

#[test]
fn a_request_is_head_items_and_tail() {
    let tools = [
        tool("jar", "A cookie jar.", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
        tool("ping", "", "null"),
    ];
    let history = [
        user("Empty the jar \"now\".\n"),
        assistant(turn("On it.", &[("jar", "{\"n\": 1.0}"), ("ping", "{}")])),
        result("r1t1c1", "3 cookies eaten.", false),
        result("r1t1c2", "pong", false),
        assistant(turn("Done.", &[])),
        HistoryItem::User(vec![Part::Text("And".into()), Part::Text("again".into())]),
    ];
    let opening = Opening { instructions: Some("You look after a jar."), tools: &tools, allow_tools: true };
    check_body(
        &model("{\"temperature\":0.10,\"tool_choice\":\"auto\",\"max_tokens\":1000}"),
        &opening,
        &history,
        &expect![[r#"
            {"model":"gpt-x","stream":true,"stream_options":{"include_usage":true},"temperature":0.10,"tool_choice":"auto","max_tokens":1000
            ,"tools":[{"type":"function","function":{"name":"jar","description":"A cookie jar.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}}}},{"type":"function","function":{"name":"ping"}}],"messages":[
            {"role":"system","content":"You look after a jar."},
            {"role":"user","content":"Empty the jar \"now\".\n"},
            {"role":"assistant","content":"On it.","tool_calls":[{"id":"r1t1c1","type":"function","function":{"name":"jar","arguments":"{\"n\": 1.0}"}},{"id":"r1t1c2","type":"function","function":{"name":"ping","arguments":"{}"}}]},
            {"role":"tool","tool_call_id":"r1t1c1","content":"3 cookies eaten."},
            {"role":"tool","tool_call_id":"r1t1c2","content":"pong"},
            {"role":"assistant","content":"Done."},
            {"role":"user","content":[{"type":"text","text":"And"},{"type":"text","text":"again"}]}]}"#]],
    );
}

#[test]
fn a_closing_request_keeps_the_tools_and_allows_none() {
    let tools = [tool("ping", "", "null")];
    let opening = Opening { instructions: None, tools: &tools, allow_tools: false };
    check_body(
        &model("{\"tool_choice\":\"required\",\"stream_options\":{\"include_usage\":false}}"),
        &opening,
        &[user("Hi")],
        &expect![[r#"
            {"model":"gpt-x","stream":true,"stream_options":{"include_usage":false}
            ,"tools":[{"type":"function","function":{"name":"ping"}}],"tool_choice":"none","messages":[
            {"role":"user","content":"Hi"}]}"#]],
    );
}

#[test]
fn without_tools_nothing_is_said_about_them() {
    let dialect = Dialect { include_usage: false, ..Dialect::default() };
    let fields = params("{\"tool_choice\":\"auto\",\"parallel_tool_calls\":false,\"seed\":1}");
    let model = OpenAiChat::new("gpt-x", "", fields, dialect).unwrap();
    check_body(
        &model,
        &BARE,
        &[user("Hi")],
        &expect![[r#"
            {"model":"gpt-x","stream":true,"seed":1,"messages":[
            {"role":"user","content":"Hi"}]}"#]],
    );
}

#[test]
fn own_fields_are_refused_as_params() {
    for field in ["messages", "model", "stream", "tools"] {
        let error = OpenAiChat::new("m", "", params(&format!("{{\"seed\":1,\"{field}\":null}}")), Dialect::default())
            .unwrap_err();
        assert!(error.starts_with(&format!("params must not set \"{field}\": ")), "{error}");
    }
}

/// The assistant message a turn becomes.
fn check_item(model: &OpenAiChat, turn: Turn, expected: &Expect) {
    let item = String::from_utf8(model.item(&assistant(turn), None)).unwrap();
    serde_json::from_str::<serde_json::Value>(&item).unwrap();
    expected.assert_eq(&item);
}

#[test]
fn the_history_is_one_every_server_takes() {
    let plain = model("{}");
    // Arguments that are no object, or that a server could not decode, do not go back as they are.
    for (arguments, sent) in [
        ("{\"a\": 1}", "{\"a\": 1}"),
        ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"),
        ("{\"a\":12345678901234567890}", "{\"a\":12345678901234567890}"),
        ("{\"a\":\"\\ud83d\"}", "{\"a\":\"\u{fffd}\"}"),
        ("\"{\\\"a\\\":1}\"", "{\"a\":1}"),
        ("", "{}"),
        ("{\"a\":", "{}"),
        ("{\"a\":1}{\"a\":2}", "{}"),
        ("[1]", "{}"),
        ("123", "{}"),
    ] {
        let item = plain.item(&assistant(turn("", &[("f", arguments)])), None);
        let item: serde_json::Value = serde_json::from_slice(&item).unwrap();
        assert_eq!(item["tool_calls"][0]["function"]["arguments"], sent, "{arguments}");
    }
    check_item(&plain, turn("", &[]), &expect![[r#"{"role":"assistant","content":""}"#]]);
    let refusal = Turn { refusal: "I cannot.".into(), end: TurnEnd::Refusal, ..turn("", &[]) };
    check_item(&plain, refusal, &expect![[r#"{"role":"assistant","content":"I cannot."}"#]]);
    check_item(
        &plain,
        turn("", &[("f", "{}")]),
        &expect![[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"r1t1c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#
        ]],
    );
    let dialect = Dialect { empty_content: true, ..Dialect::default() };
    check_item(
        &OpenAiChat::new("m", "", Vec::new(), dialect).unwrap(),
        turn("", &[("f", "{}")]),
        &expect![[
            r#"{"role":"assistant","content":"","tool_calls":[{"id":"r1t1c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#
        ]],
    );
}

#[test]
fn reasoning_and_signatures_go_back_as_they_came() {
    let model = model("{}");
    let turn = reduce(
        &model,
        &[
            r#"{"choices":[{"index":0,"delta":{"role":"assistant","content":"","reasoning":"Look ","reasoning_details":[{"type":"reasoning.text","text":"Look ","index":0,"format":null}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"channel":"analysis","reasoning":"first.","reasoning_details":[{"type":"reasoning.text","text":"first.","index":0,"format":"v1"}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"reasoning":null,"reasoning_details":[{"type":"reasoning.text","signature":"s+g=","index":0},{"type":"reasoning.encrypted","data":"AA","index":0}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"reasoning_details":[{"type":"reasoning.encrypted","data":"BB","index":0}],"annotations":[]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"k1","type":"function","function":{"name":"f","arguments":"{"},"extra_content":{"google":{"thought_signature":"t1"}}}]}}]}"#,
            r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"}"}}]},"finish_reason":"tool_calls"}]}"#,
            "[DONE]",
        ],
    )
    .unwrap();
    assert_eq!(turn.reasoning, "Look first.");
    check_item(
        &model,
        turn.clone(),
        &expect![[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"r1t1c1","type":"function","function":{"name":"f","arguments":"{}"},"extra_content":{"google":{"thought_signature":"t1"}}}],"reasoning":"Look first.","reasoning_details":[{"type":"reasoning.text","text":"Look first.","index":0,"format":"v1","signature":"s+g="},{"type":"reasoning.encrypted","data":"AA","index":0},{"type":"reasoning.encrypted","data":"BB","index":0}]}"#
        ]],
    );
    let google = Dialect { fill_signatures: true, ..Dialect::default() };
    let google = OpenAiChat::new("m", "", Vec::new(), google).unwrap();
    let foreign = self::turn("", &[("f", "{}"), ("g", "{}")]);
    for (turn, signatures) in [(foreign, ["skip_thought_signature_validator", ""]), (turn.clone(), ["t1", ""])] {
        let item: serde_json::Value = serde_json::from_slice(&google.item(&assistant(turn), None)).unwrap();
        for (place, signature) in signatures.into_iter().enumerate() {
            let sent = &item["tool_calls"][place]["extra_content"]["google"]["thought_signature"];
            assert_eq!(sent.as_str().unwrap_or(""), signature);
        }
    }
    let filled = Dialect { fill_reasoning: true, ..Dialect::default() };
    let demanding = OpenAiChat::new("m", "", Vec::new(), filled).unwrap();
    let mut own = turn.clone();
    for (given, sent) in [(None, "(none)"), (Some("Hm."), "Hm.")] {
        own.extra = TurnExtra::default();
        own.extra.message = given.map(|text| ("reasoning_content".to_owned(), Json::from(text))).into_iter().collect();
        let item: serde_json::Value = serde_json::from_slice(&demanding.item(&assistant(own.clone()), None)).unwrap();
        assert_eq!(item["reasoning_content"], sent);
    }
    let dialect = Dialect { replay_leftovers: false, ..Dialect::default() };
    check_item(
        &OpenAiChat::new("m", "", Vec::new(), dialect).unwrap(),
        turn,
        &expect![[
            r#"{"role":"assistant","content":null,"tool_calls":[{"id":"r1t1c1","type":"function","function":{"name":"f","arguments":"{}"}}]}"#
        ]],
    );
}

#[test]
fn reasoning_that_comes_only_as_details_is_shown() {
    let turn = reduce(
        &model("{}"),
        &[
            r#"{"choices":[{"delta":{"reasoning_details":[{"type":"reasoning.summary","summary":"A"},{"type":"reasoning.text","text":"B"}]}}]}"#,
            r#"{"choices":[{"delta":{"reasoning_content":"C","reasoning":"C"},"finish_reason":"stop"}]}"#,
        ],
    );
    assert_eq!(turn.unwrap().reasoning, "ABC");
}

#[test]
fn a_turn_that_used_up_its_tokens_is_cut() {
    let ending = |params: &str, delta: &str, spent: u64| {
        let events = [
            format!(r#"{{"choices":[{{"index":0,"delta":{delta},"finish_reason":"tool_calls"}}]}}"#),
            format!(r#"{{"choices":[],"usage":{{"completion_tokens":{spent}}}}}"#),
        ];
        reduce(&model(params), &[&events[0], &events[1], "[DONE]"]).unwrap().end
    };
    let call = r#"{"tool_calls":[{"index":0,"id":"k","function":{"name":"f","arguments":"{}"}}]}"#;
    assert_eq!(ending("{\"max_tokens\":50}", call, 50), TurnEnd::Length);
    assert_eq!(ending("{\"max_completion_tokens\":50}", call, 50), TurnEnd::Length);
    assert_eq!(ending("{\"max_tokens\":50}", call, 49), TurnEnd::ToolCalls);
    assert_eq!(ending("{}", call, 50), TurnEnd::ToolCalls);
    assert_eq!(ending("{\"max_tokens\":50}", "{\"content\":\"Done.\"}", 50), TurnEnd::Stop);
}

#[test]
fn each_chunk_gives_what_is_new_and_nothing_twice() {
    let mut reducer = model("{}").reducer();
    let mut feed = |bytes: &[u8]| {
        let delta = reducer.feed(bytes);
        (delta.text, delta.reasoning, reducer.is_done())
    };
    let event = |delta: &str| format!("data: {{\"choices\":[{{\"delta\":{delta}}}]}}\n\n").into_bytes();
    let two = [event(r#"{"content":"a"}"#), event(r#"{"content":"b","reasoning":"r"}"#)].concat();
    assert_eq!(feed(&two), ("ab".into(), "r".into(), false));
    assert_eq!(feed(b"data: {\"choices\":[{\"del"), ("".into(), "".into(), false));
    assert_eq!(feed(b"ta\":{\"content\":\"c\"}}]}\n\n"), ("c".into(), "".into(), false));
    assert_eq!(feed(&event(r#"{"content":"\ud83d"}"#)), ("".into(), "".into(), false));
    assert_eq!(feed(&event(r#"{"content":"\ude00"}"#)), ("😀".into(), "".into(), false));
    assert_eq!(feed(b"data: [DONE]\n"), ("".into(), "".into(), false));
    assert_eq!(feed(b"\n"), ("".into(), "".into(), true));
    assert_eq!(feed(&event(r#"{"content":"late"}"#)), ("".into(), "".into(), true));
    assert_eq!(reducer.text(), "abc😀");
    assert_eq!(reducer.finish().unwrap().text, "abc😀");
}

#[test]
fn a_json_answer_is_over_at_its_marker_even_on_an_open_connection() {
    let mut reducer = model("{}").reducer();
    reducer.feed(b"{\"choices\":[{\"message\":{\"content\":\"say [DONE]");
    assert!(!reducer.is_done(), "inside a text the marker ends nothing");
    reducer.feed(b" twice\"}}]}\n\ndata: [DONE]");
    assert!(reducer.is_done());
    assert_eq!(reducer.finish().unwrap().text, "say [DONE] twice");
    let mut reducer = model("{}").reducer();
    reducer.feed(b"{\"choices\":[{\"message\":{\"content\":\"ok\"}}]}\n[DONE]\n");
    assert!(reducer.is_done(), "a bare marker");
    assert_eq!(reducer.finish().unwrap().text, "ok");
}

/// What a page sees of a response without a turn: class, retry, sentence.
fn show(error: &ModelError) -> String {
    let wait = error.retry_after_ms.map(|wait| format!(" in {wait} ms")).unwrap_or_default();
    let retry = if error.retryable { format!("retry{wait}") } else { format!("final{wait}") };
    format!("{} {retry}: {}", error.class.code(), error.message)
}

#[test]
fn a_response_that_is_no_answer_says_what_it_was() {
    let long = format!("data: {}", "x".repeat(17 << 20));
    for (body, expected) in [
        ("", "model_bad_response final: The server's answer was empty."),
        ("\r\n \n", "model_bad_response final: The server's answer was empty."),
        (": ping\n\ndata: [DONE]\n\n", "model_bad_response final: The server's answer was empty."),
        (
            "no healthy upstream",
            "model_bad_response final: The server's answer is no model answer. It begins: no healthy upstream",
        ),
        (
            "<HTML><Title lang=en>Just a\n moment...</title>",
            "model_bad_response final: The server sent an HTML page titled \"Just a moment...\" instead of a model's answer. Check the base URL.",
        ),
        (
            "<?xml version=\"1.0\"?><error/>",
            "model_bad_response final: The server sent an HTML page instead of a model's answer. Check the base URL.",
        ),
        ("{\"models\":[]}", "model_bad_response final: The server sent JSON that is no chat completion."),
        (
            "{\"choices\":[",
            "model_bad_response retry: The server's JSON answer cannot be read: unexpected end of input (character 13).",
        ),
        (
            "data: {\"choices\":[}]\n\n",
            "model_bad_response final: The server sent an event that is not JSON: unexpected text (character 13).",
        ),
        (&long, "model_bad_response final: The server sent an event of more than 16 MiB, which no model answer is."),
        (
            "[{\"error\":{\"code\":503,\"message\":\"Try later.\",\"status\":\"UNAVAILABLE\"}}]",
            "model_overloaded retry: Try later.",
        ),
        (
            "{\"code\":\"The service is currently unavailable\",\"error\":\"Model is overloaded\"}",
            "model_overloaded retry: Model is overloaded",
        ),
        ("{\"object\":\"error\",\"message\":\"Bad role\",\"code\":400}", "model_bad_request final: Bad role"),
        ("{\"detail\":\"Not signed in\"}", "model_error final: Not signed in"),
        ("{\"choices\":[]}{\"error\":{\"message\":\"Gone\",\"code\":502}}", "model_overloaded retry: Gone"),
        (
            "data: {\"error\":{\"message\":\"quota exceeded\",\"type\":\"insufficient_quota\",\"code\":null}}\n\n",
            "model_quota final: quota exceeded",
        ),
        (
            "data: {\"error\":{\"message\":\"slow down\",\"code\":\"429\",\"type\":\"rate_limit_error\"}}\n\n",
            "model_rate_limit retry: slow down",
        ),
        (
            "data: {\"error\":{\"code\":400,\"metadata\":{\"raw\":\"{\\\"error\\\":{\\\"message\\\":\\\"prompt is too long\\\"}}\"}}}\n\n",
            "model_context_too_long final: prompt is too long",
        ),
        (
            "event: error\ndata: {\"error\":{\"message\":\"Bad call\",\"code\":\"tool_use_failed\",\"status_code\":400}}\n\n",
            "model_error retry: Bad call",
        ),
        ("event: error\ndata: worker died\n\n", "model_error final: worker died"),
        ("data: {\"error\":{\"odd\":1}}\n\n", "model_error final: {\"odd\":1}"),
        (
            "data: {\"choices\":[{\"delta\":{},\"finish_reason\":\"error\"}]}\n\n",
            "model_error final: The provider ended its answer with an error and did not say which.",
        ),
    ] {
        let mut reducer = model("{}").reducer();
        reducer.feed(body.as_bytes());
        let error = reducer.finish().unwrap_err();
        assert_eq!((show(&error).as_str(), error.status), (expected, None), "{}", body.get(..80).unwrap_or(body));
    }
}

#[test]
fn an_http_error_is_read_whatever_its_shape() {
    for (status, body, expected) in [
        (
            401,
            "{\"error\":{\"message\":\"Wrong key\",\"type\":\"invalid_request_error\"}}",
            "model_auth final: Wrong key",
        ),
        (403, "", "model_auth final: The server answered with status 403 and no explanation."),
        (402, "{\"error\":{\"message\":\"Insufficient Balance\"}}", "model_quota final: Insufficient Balance"),
        (
            429,
            "{\"error\":{\"message\":\"You have no credit left\",\"code\":\"insufficient_quota\"}}",
            "model_quota final: You have no credit left",
        ),
        (
            429,
            "{\"error\":{\"message\":\"Rate limit reached. Please try again in 1.25s.\"}}",
            "model_rate_limit retry in 1250 ms: Rate limit reached. Please try again in 1.25s.",
        ),
        (
            429,
            "{\"error\":{\"message\":\"Quota\",\"details\":[{\"@type\":\"x\"},{\"retryDelay\":\"48.9s\"}]}}",
            "model_rate_limit retry in 48900 ms: Quota",
        ),
        (404, "{\"error\":{\"message\":\"no such model\"}}", "model_bad_request final: no such model"),
        (
            422,
            "{\"detail\":[{\"loc\":[\"body\"],\"msg\":\"field required\"}]}",
            "model_bad_request final: field required",
        ),
        (
            400,
            "{\"message\":\"Logprobs\\n are off\",\"object\":\"error\"}",
            "model_bad_request final: Logprobs are off",
        ),
        (400, "data: {\"error\":\"no\"}\n\n", "model_bad_request final: no"),
        (
            413,
            "{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Too much\"}}",
            "model_context_too_long final: Too much",
        ),
        (
            500,
            "{\"error\":{\"code\":500,\"message\":\"the request exceeds the available context size\"}}",
            "model_context_too_long final: the request exceeds the available context size",
        ),
        (
            503,
            "<html><head><title>503 Service Temporarily Unavailable</title>",
            "model_overloaded retry: The server answered with status 503 and an HTML page titled \"503 Service Temporarily Unavailable\".",
        ),
        (529, "upstream\nbusy", "model_overloaded retry: The server answered with status 529: upstream busy"),
        (408, "{}", "model_overloaded retry: The server answered with status 408: {}"),
        (400, "{\"broken", "model_bad_request final: The server answered with status 400: {\"broken"),
    ] {
        let error = http_error(status, body.as_bytes(), RetryHints::default());
        assert_eq!(show(&error), expected, "{body}");
        assert_eq!(error.status, Some(status));
    }
    let hints = RetryHints { retry_after_ms: Some(7), should_retry: Some(false) };
    let error = http_error(429, b"{\"error\":{\"message\":\"try again in 9s\"}}", hints);
    assert_eq!(show(&error), "model_rate_limit final in 7 ms: try again in 9s");
    assert_eq!(error.detail, Some(json("{\"message\":\"try again in 9s\"}")));
    let hints = RetryHints { should_retry: Some(true), ..RetryHints::default() };
    for (status, body, retryable) in [
        (404, "{}", false),
        (429, r#"{"error":{"code":"insufficient_quota"}}"#, false),
        (401, "{}", true),
        (500, "{}", true),
    ] {
        assert_eq!(http_error(status, body.as_bytes(), hints).retryable, retryable, "{status}");
    }
    let long = http_error(400, format!("{{\"message\":\"{}\"}}", "é".repeat(2000)).as_bytes(), RetryHints::default());
    assert_eq!(long.message.chars().count(), 501);
}

#[test]
fn waits_are_read_as_servers_write_them() {
    for (text, expected) in [
        ("20", Some(20_000)),
        ("1.2s", Some(1200)),
        ("0.0001s", Some(1)),
        ("350ms", Some(350)),
        ("0.5ms", Some(1)),
        ("6m0s", Some(360_000)),
        ("1h2m3.5s", Some(3_723_500)),
        ("20 seconds. Visit us", Some(20_000)),
        (" 2 minutes", Some(120_000)),
        ("48.939935699s.", Some(48_940)),
        ("99999999999999999999", None),
        ("18446744073709551615h", Some(u64::MAX)),
        ("Sun, 06 Nov 1994 08:49:37 GMT", None),
        ("", None),
        ("soon", None),
    ] {
        assert_eq!(wait_ms(text), expected, "{text}");
    }
}

#[test]
fn classes_have_distinct_codes() {
    let classes = [
        ModelErrorClass::Auth,
        ModelErrorClass::Quota,
        ModelErrorClass::RateLimit,
        ModelErrorClass::ContextTooLong,
        ModelErrorClass::BadRequest,
        ModelErrorClass::Overloaded,
        ModelErrorClass::NetworkOrCors,
        ModelErrorClass::BadResponse,
        ModelErrorClass::Provider,
    ];
    let mut codes: Vec<&str> = classes.iter().map(|class| class.code()).collect();
    codes.sort_unstable();
    codes.dedup();
    assert_eq!(codes.len(), classes.len());
}

/// A chat as a model might leave it: any text, any arguments.
fn arb_history() -> impl Strategy<Value = Vec<HistoryItem>> {
    let call = (".{0,8}", prop_oneof![Just("{}".to_owned()), "[{}\":a1,\\\\u]{0,12}", any::<String>()]);
    prop::collection::vec((any::<String>(), prop::collection::vec(call, 0..4), any::<String>()), 1..4).prop_map(
        |turns| {
            let mut items = Vec::new();
            for (place, (text, calls, answer)) in turns.into_iter().enumerate() {
                items.push(user(&text));
                let calls: Vec<(&str, &str)> = calls.iter().map(|(name, arguments)| (&**name, &**arguments)).collect();
                let ids: Vec<String> = (0..calls.len()).map(|call| format!("r1t{place}c{call}")).collect();
                let call_ids = ids.iter().map(CallId::new).collect();
                items.push(HistoryItem::Assistant { turn: turn(&answer, &calls).into(), call_ids });
                items.extend(ids.iter().map(|id| result(id, &text, false)));
            }
            items
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_history_makes_a_valid_request(history in arb_history(), instructions in any::<String>(), nine in any::<bool>()) {
        let dialect = Dialect { nine_character_ids: nine, ..Dialect::default() };
        let model = OpenAiChat::new("m", "", Vec::new(), dialect).unwrap();
        let opening = Opening { instructions: Some(&instructions), ..BARE };
        let request: serde_json::Value = serde_json::from_str(&body(&model, &opening, &history)).unwrap();
        let messages = request["messages"].as_array().unwrap();
        prop_assert_eq!(messages.len(), history.len() + 1);
        let mut open: Vec<String> = Vec::new();
        for message in messages {
            match message["tool_call_id"].as_str() {
                Some(id) => prop_assert_eq!(open.remove(0), id),
                None => prop_assert!(open.is_empty(), "a call has no result"),
            }
            for call in message["tool_calls"].as_array().unwrap_or(&Vec::new()) {
                open.push(call["id"].as_str().unwrap().to_owned());
                let arguments = call["function"]["arguments"].as_str().unwrap();
                prop_assert!(serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|value| value.is_object()), "{}", arguments);
            }
        }
        prop_assert!(open.is_empty());
    }

    #[test]
    fn any_bytes_give_a_turn_or_an_error(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            &b"data: "[..], b"{\"choices\":[{\"index\":0,\"delta\":", b"{\"content\":\"a\"}", b"}]}", b"\n\n", b"[DONE]", b"null",
            b"{\"tool_calls\":[{\"index\":0,\"function\":{\"name\":\"f\",\"arguments\":\"{", b"\"}}]}", b"{\"error\":", b"[", b"<",
        ]).prop_map(<[u8]>::to_vec),
    ], 0..12)) {
        let mut reducer = model("{}").reducer();
        for piece in &pieces {
            reducer.feed(piece);
        }
        let whole = {
            let mut reducer = model("{}").reducer();
            reducer.feed(&pieces.concat());
            reducer.finish()
        };
        prop_assert_eq!(reducer.finish(), whole);
    }
}

fn read_with(dialect: Dialect, pieces: &[&str]) -> (String, String) {
    let model = OpenAiChat::new("m", "", Vec::new(), dialect).unwrap();
    let mut reducer = model.reducer();
    for piece in pieces {
        let delta = serde_json::json!({ "choices": [{ "index": 0, "delta": { "content": piece } }] });
        reducer.feed(format!("data: {delta}\n\n").as_bytes());
    }
    reducer.feed(b"data: [DONE]\n\n");
    let turn = reducer.finish().unwrap();
    (turn.reasoning, turn.text)
}

#[test]
fn reasoning_between_tags_is_told_from_the_answer_however_it_is_cut() {
    let whole = "\n<think>So <b> and </thin air.</think>\n\nThe answer </think> stays.";
    let expected = ("So <b> and </thin air.".to_owned(), "The answer </think> stays.".to_owned());
    let dialect = || Dialect { inline_thinking: true, ..Dialect::default() };
    for at in 0..=whole.len() {
        assert_eq!(read_with(dialect(), &[&whole[..at], &whole[at..]]), expected, "cut at {at}");
    }
    let letters: Vec<String> = whole.chars().map(String::from).collect();
    assert_eq!(read_with(dialect(), &letters.iter().map(String::as_str).collect::<Vec<_>>()), expected);
    assert_eq!(read_with(dialect(), &["<thin", "g>"]), (String::new(), "<thing>".to_owned()));
    assert_eq!(read_with(dialect(), &["<think>cut off </th"]), ("cut off </th".to_owned(), String::new()));
    assert_eq!(read_with(Dialect::default(), &[whole]), (String::new(), whole.to_owned()));
}

#[test]
fn pieces_that_repeat_what_came_before_add_what_is_new() {
    let dialect = Dialect { cumulative: true, ..Dialect::default() };
    assert_eq!(read_with(dialect, &["Ha", "Haha", "Haha", "Haha!"]).1, "Haha!");
    assert_eq!(read_with(Dialect::default(), &["Ha", "Haha"]).1, "HaHaha");
}

#[test]
fn a_message_behind_results_gets_an_answer_in_front_where_the_server_demands_one() {
    let dialect = Dialect { answer_after_results: true, ..Dialect::default() };
    let model = OpenAiChat::new("m", "", Vec::new(), dialect).unwrap();
    let items = [user("a"), assistant(turn("", &[("f", "{}")])), result("r1t1c1", "ok", false), user("b")];
    let request = json(&body(&model, &BARE, &items));
    let messages = request.get("messages").and_then(Json::as_array).unwrap();
    let roles: Vec<_> = messages.iter().map(|message| message.get("role").and_then(Json::as_str).unwrap()).collect();
    assert_eq!(roles, ["user", "assistant", "tool", "assistant", "user"]);
}
