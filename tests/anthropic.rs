//! Anthropic Messages: requests, errors, and what a turn carries back. Streams are in `fixtures.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod conversation;

use conversation::{BARE, assistant, params, result, tool, turn, user};
use countersign::core::message::{CallId, HistoryItem, ModelError, Part, Turn, TurnEnd};
use countersign::core::wire::anthropic::{Anthropic, Dialect};
use countersign::core::wire::{Opening, RetryHints, http_error};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::collections::HashSet;

fn model(params_text: &str) -> Anthropic {
    Anthropic::new("claude-x", "here", params(params_text), Dialect::default()).unwrap()
}

fn body(model: &Anthropic, opening: &Opening<'_>, items: &[HistoryItem], note: Option<&str>) -> String {
    let mut body = model.head(opening);
    for (place, item) in items.iter().enumerate() {
        body.extend(model.item(item, place.checked_sub(1).and_then(|before| items.get(before))));
    }
    body.extend(model.tail(items.last(), note));
    String::from_utf8(body).unwrap()
}

/// The reduced stream of these events.
fn reduce(model: &Anthropic, events: &[&str]) -> Result<Turn, ModelError> {
    let mut reducer = model.reducer();
    for event in events {
        reducer.feed(format!("data: {event}\n\n").as_bytes());
    }
    reducer.finish()
}

fn check_body(model: &Anthropic, opening: &Opening<'_>, items: &[HistoryItem], note: Option<&str>, expected: &Expect) {
    let body = body(model, opening, items, note);
    serde_json::from_str::<serde_json::Value>(&body).unwrap();
    // One message a line reads better.
    let body = body.replace("{\"role\"", "\n{\"role\"").replace(",\"tools\"", "\n,\"tools\"");
    expected.assert_eq(&body.replace(",\"system\"", "\n,\"system\"").replace(",\"messages\"", "\n,\"messages\""));
}

fn history() -> Vec<HistoryItem> {
    vec![
        user("Empty the jar \"now\".\n"),
        assistant(turn("On it.", &[("jar", "{\"n\": 1.0}"), ("ping", "{}")])),
        result("r1t1c1", "3 cookies eaten.", false),
        result("r1t1c2", "Error: approval_denied", true),
    ]
}

#[test]
fn a_request_is_head_items_and_tail() {
    let tools = [
        tool("jar", "A cookie jar.", "{\"type\":\"object\",\"properties\":{\"n\":{\"type\":\"integer\"}}}"),
        tool("ping", "", "null"),
        tool("open", "", "{\"properties\":{}}"),
    ];
    let mut history = history();
    history.extend([
        assistant(turn("Done.", &[])),
        HistoryItem::User(vec![Part::Text("And".into()), Part::Text(" \n".into()), Part::Text("again".into())]),
        user("Please."),
    ]);
    let opening = Opening { instructions: Some("You look after a jar."), tools: &tools, allow_tools: true };
    check_body(
        &model("{\"temperature\":0.10,\"tool_choice\":{\"type\":\"auto\"},\"max_tokens\":1000}"),
        &opening,
        &history,
        None,
        &expect![[r#"
            {"model":"claude-x","stream":true,"temperature":0.10,"tool_choice":{"type":"auto"},"max_tokens":1000
            ,"tools":[{"name":"jar","description":"A cookie jar.","input_schema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"ping","input_schema":{"type":"object"}},{"name":"open","input_schema":{"type":"object","properties":{}}}]
            ,"system":[{"type":"text","text":"You look after a jar.","cache_control":{"type":"ephemeral"}}]
            ,"messages":[
            {"role":"user","content":[{"type":"text","text":"Empty the jar \"now\".\n"}]},
            {"role":"assistant","content":[{"type":"text","text":"On it."},{"type":"tool_use","id":"r1t1c1","name":"jar","input":{"n":1.0}},{"type":"tool_use","id":"r1t1c2","name":"ping","input":{}}]},
            {"role":"user","content":[{"type":"tool_result","tool_use_id":"r1t1c1","content":"3 cookies eaten."},{"type":"tool_result","tool_use_id":"r1t1c2","content":"Error: approval_denied","is_error":true}]},
            {"role":"assistant","content":[{"type":"text","text":"Done."}]},
            {"role":"user","content":[{"type":"text","text":"And"},{"type":"text","text":"again"},{"type":"text","text":"Please.","cache_control":{"type":"ephemeral"}}]}]}"#]],
    );
}

#[test]
fn the_cache_marker_moves_and_nothing_before_it_changes() {
    let tools = [tool("ping", "", "null"), tool("pong", "", "null")];
    let opening = Opening { tools: &tools, ..BARE };
    check_body(
        &model("{}"),
        &opening,
        &history()[..3],
        None,
        &expect![[r#"
        {"model":"claude-x","stream":true,"max_tokens":4096
        ,"tools":[{"name":"ping","input_schema":{"type":"object"}},{"name":"pong","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}]
        ,"messages":[
        {"role":"user","content":[{"type":"text","text":"Empty the jar \"now\".\n"}]},
        {"role":"assistant","content":[{"type":"text","text":"On it."},{"type":"tool_use","id":"r1t1c1","name":"jar","input":{"n":1.0}},{"type":"tool_use","id":"r1t1c2","name":"ping","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"r1t1c1","content":"3 cookies eaten.","cache_control":{"type":"ephemeral"}}]}]}"#]],
    );
    let dialect = Dialect { prompt_caching: false };
    let plain = Anthropic::new("claude-x", "here", Vec::new(), dialect).unwrap();
    check_body(
        &plain,
        &opening,
        &history(),
        None,
        &expect![[r#"
        {"model":"claude-x","stream":true,"max_tokens":4096
        ,"tools":[{"name":"ping","input_schema":{"type":"object"}},{"name":"pong","input_schema":{"type":"object"}}]
        ,"messages":[
        {"role":"user","content":[{"type":"text","text":"Empty the jar \"now\".\n"}]},
        {"role":"assistant","content":[{"type":"text","text":"On it."},{"type":"tool_use","id":"r1t1c1","name":"jar","input":{"n":1.0}},{"type":"tool_use","id":"r1t1c2","name":"ping","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"r1t1c1","content":"3 cookies eaten."},{"type":"tool_result","tool_use_id":"r1t1c2","content":"Error: approval_denied","is_error":true}]}]}"#]],
    );
    // Without the markers the shorter request is how the longer one begins.
    let (short, long) = (body(&plain, &opening, &history()[..3], None), body(&plain, &opening, &history(), None));
    assert!(long.starts_with(short.strip_suffix("}]}]}").unwrap()), "{short}\n{long}");
}

#[test]
fn a_closing_request_keeps_the_tools_and_allows_none() {
    let tools = [tool("ping", "", "null")];
    let opening = Opening { instructions: None, tools: &tools, allow_tools: false };
    let model = model("{\"tool_choice\":{\"type\":\"any\"}}");
    check_body(
        &model,
        &opening,
        &history(),
        Some("The limit is reached."),
        &expect![[r#"
        {"model":"claude-x","stream":true,"max_tokens":4096
        ,"tools":[{"name":"ping","input_schema":{"type":"object"},"cache_control":{"type":"ephemeral"}}],"tool_choice":{"type":"none"}
        ,"messages":[
        {"role":"user","content":[{"type":"text","text":"Empty the jar \"now\".\n"}]},
        {"role":"assistant","content":[{"type":"text","text":"On it."},{"type":"tool_use","id":"r1t1c1","name":"jar","input":{"n":1.0}},{"type":"tool_use","id":"r1t1c2","name":"ping","input":{}}]},
        {"role":"user","content":[{"type":"tool_result","tool_use_id":"r1t1c1","content":"3 cookies eaten."},{"type":"tool_result","tool_use_id":"r1t1c2","content":"Error: approval_denied","is_error":true,"cache_control":{"type":"ephemeral"}},{"type":"text","text":"The limit is reached."}]}]}"#]],
    );
    // A note stands in a message of the user wherever it comes.
    check_body(
        &model,
        &BARE,
        &[user("Hi"), assistant(turn("Ho", &[]))],
        Some("Go on."),
        &expect![[r#"
        {"model":"claude-x","stream":true,"max_tokens":4096
        ,"messages":[
        {"role":"user","content":[{"type":"text","text":"Hi"}]},
        {"role":"assistant","content":[{"type":"text","text":"Ho"}]},
        {"role":"user","content":[{"type":"text","text":"Go on."}]}]}"#]],
    );
    check_body(
        &model,
        &BARE,
        &[],
        Some("Go on."),
        &expect![[r#"
        {"model":"claude-x","stream":true,"max_tokens":4096
        ,"messages":[
        {"role":"user","content":[{"type":"text","text":"Go on."}]}]}"#]],
    );
}

#[test]
fn an_answer_has_a_limit_that_leaves_room_behind_its_thoughts() {
    for (params, limit) in [
        ("{}", 4096),
        ("{\"max_tokens\":50}", 50),
        ("{\"thinking\":{\"type\":\"enabled\",\"budget_tokens\":8000}}", 12_096),
        ("{\"thinking\":{\"type\":\"adaptive\"}}", 4096),
    ] {
        let model = model(params);
        let body: serde_json::Value = serde_json::from_str(&body(&model, &BARE, &[user("Hi")], None)).unwrap();
        assert_eq!(body["max_tokens"], limit, "{params}");
        // A turn with calls that ends just there was cut, whatever it says.
        let call =
            r#"{"type":"content_block_start","index":0,"content_block":{"type":"tool_use","id":"k","name":"f"}}"#;
        for (spent, end) in [(limit, TurnEnd::Length), (limit - 1, TurnEnd::ToolCalls)] {
            let ending = format!(
                r#"{{"type":"message_delta","delta":{{"stop_reason":"tool_use"}},"usage":{{"output_tokens":{spent}}}}}"#
            );
            assert_eq!(reduce(&model, &[call, &ending]).unwrap().end, end, "{params}");
        }
    }
}

#[test]
fn own_fields_are_refused_as_params() {
    for field in ["messages", "model", "stream", "system", "tools"] {
        let error = Anthropic::new("m", "", params(&format!("{{\"top_k\":1,\"{field}\":null}}")), Dialect::default())
            .unwrap_err();
        assert!(error.starts_with(&format!("params must not set \"{field}\": ")), "{error}");
    }
}

#[test]
fn pictures_and_files_are_blocks() {
    let parts = vec![
        Part::Image { url: "data:image/png;base64,iVBORw==".into() },
        Part::Image { url: "https://example.com/a.png".into() },
        Part::File { name: "a.pdf".into(), url: "data:application/pdf;base64,JVBERi0=".into() },
        Part::File { name: " ".into(), url: "https://example.com/a.pdf".into() },
        Part::File { name: "a.txt".into(), url: "data:text/markdown;charset=utf-8;base64,IyBIw6k=".into() },
        Part::File { name: "a.json".into(), url: "data:application/json;base64,eyJhIjoxfQ".into() },
        Part::File { name: "odd.txt".into(), url: "data:text/plain;base64,/w==".into() },
        Part::File { name: "blank.txt".into(), url: "data:text/plain;base64,IAo=".into() },
    ];
    let body = body(&model("{}"), &BARE, &[HistoryItem::User(parts)], None).replace("{\"type\"", "\n{\"type\"");
    expect![[r##"
        {"model":"claude-x","stream":true,"max_tokens":4096,"messages":[{"role":"user","content":[
        {"type":"image","source":
        {"type":"base64","media_type":"image/png","data":"iVBORw=="}},
        {"type":"image","source":
        {"type":"url","url":"https://example.com/a.png"}},
        {"type":"document","source":
        {"type":"base64","media_type":"application/pdf","data":"JVBERi0="},"title":"a.pdf"},
        {"type":"document","source":
        {"type":"url","url":"https://example.com/a.pdf"}},
        {"type":"document","source":
        {"type":"text","media_type":"text/plain","data":"# Hé"},"title":"a.txt"},
        {"type":"document","source":
        {"type":"text","media_type":"text/plain","data":"{\"a\":1}"},"title":"a.json"},
        {"type":"document","source":
        {"type":"base64","media_type":"text/plain","data":"/w=="},"title":"odd.txt"},
        {"type":"document","source":
        {"type":"base64","media_type":"text/plain","data":"IAo="},"title":"blank.txt","cache_control":
        {"type":"ephemeral"}}]}]}"##]]
    .assert_eq(&body);
}

/// The message a turn becomes, in front of nothing.
fn item(model: &Anthropic, turn: Turn) -> serde_json::Value {
    serde_json::from_slice(&model.item(&assistant(turn), None)).unwrap()
}

#[test]
fn the_history_is_one_the_api_takes() {
    let model = model("{}");
    for (arguments, sent) in [
        ("{\"a\": 1}", "{\"a\":1}"),
        ("{\"a\":\"\\ud83d\"}", "{\"a\":\"\u{fffd}\"}"),
        ("\"{\\\"a\\\":1}\"", "{\"a\":1}"),
        ("", "{}"),
        ("{\"a\":", "{}"),
        ("{\"a\":1}{\"a\":2}", "{}"),
        ("[1]", "{}"),
        ("123", "{}"),
    ] {
        let item = item(&model, turn("", &[("f", arguments)]));
        assert_eq!(item["content"][0]["input"].to_string(), sent, "{arguments}");
    }
    // A message needs content, and it says why there is none.
    let refused = Turn { refusal: "I cannot.".into(), end: TurnEnd::Refusal, ..turn("", &[]) };
    let cut = Turn { end: TurnEnd::Length, ..turn(" \n", &[]) };
    for (turn, sent) in [(refused, "I cannot."), (cut, "(cut off)"), (turn("", &[]), "(no answer)")] {
        assert_eq!(item(&model, turn)["content"], serde_json::json!([{"type": "text", "text": sent}]));
    }
    // A result may be empty, an error not.
    for (text, is_error, sent) in [
        ("", false, "{\"type\":\"tool_result\",\"tool_use_id\":\"c\"}"),
        (" ", true, "{\"type\":\"tool_result\",\"tool_use_id\":\"c\",\"content\":\"(no text)\",\"is_error\":true}"),
    ] {
        let dialect = Dialect { prompt_caching: false };
        let plain = Anthropic::new("m", "", Vec::new(), dialect).unwrap();
        let body = body(&plain, &BARE, &[result("c", text, is_error)], None);
        assert!(body.ends_with(&format!("\"content\":[{sent}]}}]}}")), "{body}");
    }
}

#[test]
fn a_call_and_its_result_have_the_same_id() {
    for (id, kept) in [
        ("r1t1c1", true),
        ("4f7c2f0e-6f1c-4f3a-9d53-2f1f0b6f0d6et12c3", false),
        ("functions.read:0", false),
        ("functions_read:0", false),
        ("", false),
    ] {
        let call = HistoryItem::Assistant { turn: turn("", &[("f", "{}")]).into(), call_ids: vec![CallId::new(id)] };
        let body = body(&model("{}"), &BARE, &[call, result(id, "ok", false)], None);
        let body: serde_json::Value = serde_json::from_str(&body).unwrap();
        let sent = body["messages"][0]["content"][0]["id"].as_str().unwrap();
        assert_eq!(body["messages"][1]["content"][0]["tool_use_id"], sent);
        assert_eq!(sent == id, kept, "{id}: {sent}");
        assert!(sent.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'-'), "{sent}");
    }
}

#[test]
fn thoughts_go_back_where_they_came_from_and_nowhere_else() {
    let here = model("{}");
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Look first."}}"#,
        r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s+/="}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"redacted_thinking","data":"AA="}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"text","text":"I look."}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"tool_use","id":"toolu_1","name":"f","input":{},"caller":{"type":"direct"}}}"#,
        r#"{"type":"content_block_delta","index":3,"delta":{"type":"input_json_delta","partial_json":"{\"n\":1.50}"}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"tool_use"}}"#,
    ];
    let turn = reduce(&here, &events).unwrap();
    assert_eq!((turn.reasoning.as_str(), turn.extra.binding.as_str()), ("Look first.", "here"));
    assert_eq!(turn.calls[0].provider_id.as_deref(), Some("toolu_1"));
    let sent = |model: &Anthropic, turn: &Turn| {
        String::from_utf8(model.item(&assistant(turn.clone()), None)).unwrap().replace("{\"type\"", "\n{\"type\"")
    };
    expect![[r#"
        {"role":"assistant","content":[
        {"type":"thinking","thinking":"Look first.","signature":"s+/="},
        {"type":"redacted_thinking","data":"AA="},
        {"type":"text","text":"I look."},{"id":"r1t1c1","type":"tool_use","name":"f","input":{"n":1.50},"caller":
        {"type":"direct"}}]}"#]]
    .assert_eq(&sent(&here, &turn));
    let elsewhere = Anthropic::new("claude-y", "there", Vec::new(), Dialect::default()).unwrap();
    expect![[r#"
        {"role":"assistant","content":[
        {"type":"text","text":"I look."},
        {"type":"tool_use","id":"r1t1c1","name":"f","input":{"n":1.50}}]}"#]]
    .assert_eq(&sent(&elsewhere, &turn));
    // What does not fit its calls is not trusted to be whole.
    let mut torn = turn;
    torn.extra.items.pop();
    expect![[r#"
        {"role":"assistant","content":[
        {"type":"text","text":"I look."},
        {"type":"tool_use","id":"r1t1c1","name":"f","input":{"n":1.50}}]}"#]]
    .assert_eq(&sent(&here, &torn));
}

#[test]
fn blank_text_between_thoughts_keeps_them_apart() {
    let events = [
        r#"{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"a","signature":"s1"}}"#,
        r#"{"type":"content_block_start","index":1,"content_block":{"type":"text","text":"\n"}}"#,
        r#"{"type":"content_block_start","index":2,"content_block":{"type":"redacted_thinking","data":"AA="}}"#,
        r#"{"type":"content_block_start","index":3,"content_block":{"type":"text","text":"b"}}"#,
        r#"{"type":"content_block_start","index":4,"content_block":{"type":"text","text":""}}"#,
        r#"{"type":"message_delta","delta":{"stop_reason":"end_turn"}}"#,
    ];
    let turn = reduce(&model("{}"), &events).unwrap();
    let kinds: Vec<serde_json::Value> =
        item(&model("{}"), turn)["content"].as_array().unwrap().iter().map(|block| block["type"].clone()).collect();
    assert_eq!(kinds, ["thinking", "text", "redacted_thinking", "text"]);
}

#[test]
fn each_event_gives_what_is_new_and_nothing_twice() {
    let mut reducer = model("{}").reducer();
    let mut feed = |text: &str| {
        let delta = reducer.feed(text.as_bytes());
        (delta.text, delta.reasoning, reducer.is_done())
    };
    let delta = |delta: &str| format!("data: {{\"type\":\"content_block_delta\",\"index\":0,\"delta\":{delta}}}\n\n");
    let begin =
        "data: {\"type\":\"content_block_start\",\"index\":0,\"content_block\":{\"type\":\"text\",\"text\":\"a\"}}\n\n";
    assert_eq!(feed(begin), ("a".into(), "".into(), false));
    let two = [delta(r#"{"type":"text_delta","text":"b"}"#), delta(r#"{"type":"text_delta","text":"c"}"#)].concat();
    assert_eq!(feed(&two), ("bc".into(), "".into(), false));
    assert_eq!(feed("data: {\"type\":\"message_stop\"}\n"), ("".into(), "".into(), false));
    assert_eq!(feed("\n"), ("".into(), "".into(), true));
    assert_eq!(feed(begin), ("".into(), "".into(), true));
    assert_eq!(reducer.text(), "abc");
    assert_eq!(reducer.finish().unwrap().text, "abc");
}

/// What a page sees of a response without a turn: class, retry, sentence.
fn show(error: &ModelError) -> String {
    let retry = if error.retryable { "retry" } else { "final" };
    format!("{} {retry}: {}", error.class.code(), error.message)
}

#[test]
fn errors_inside_a_stream_are_classed_like_others() {
    let error = |kind: &str, message: &str| {
        format!(
            "event: error\ndata: {{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}}}}\n\n"
        )
    };
    for (body, expected) in [
        (error("overloaded_error", "Overloaded"), "model_overloaded retry: Overloaded"),
        (error("api_error", "Internal server error"), "model_overloaded retry: Internal server error"),
        (error("timeout_error", "Too late"), "model_overloaded retry: Too late"),
        (error("rate_limit_error", "Slow down"), "model_rate_limit retry: Slow down"),
        (error("billing_error", "Pay first"), "model_quota final: Pay first"),
        (error("authentication_error", "invalid x-api-key"), "model_auth final: invalid x-api-key"),
        (error("invalid_request_error", "no"), "model_bad_request final: no"),
        (
            error("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum"),
            "model_context_too_long final: prompt is too long: 9 tokens > 8 maximum",
        ),
        (
            "data: {\"type\":\"ping\"}\n\ndata: [DONE]\n\n".into(),
            "model_bad_response final: The server's answer was empty.",
        ),
        ("{\"models\":[]}".into(), "model_bad_response final: The server sent JSON that is no Anthropic message."),
        ("{\"detail\":\"Not signed in\"}".into(), "model_error final: Not signed in"),
    ] {
        let mut reducer = model("{}").reducer();
        reducer.feed(body.as_bytes());
        assert_eq!(show(&reducer.finish().unwrap_err()), expected, "{body}");
    }
}

#[test]
fn http_errors_have_their_class() {
    for (status, kind, message, expected) in [
        (529, "overloaded_error", "Overloaded", "model_overloaded retry"),
        (500, "api_error", "Internal server error", "model_overloaded retry"),
        (504, "timeout_error", "Too late", "model_overloaded retry"),
        (402, "billing_error", "Pay first", "model_quota final"),
        (413, "request_too_large", "Request exceeds the maximum size", "model_bad_request final"),
        (404, "not_found_error", "model: x", "model_bad_request final"),
        (
            400,
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 9 + 8 > 10",
            "model_context_too_long final",
        ),
        (400, "invalid_request_error", "Your credit balance is too low to access the API.", "model_quota final"),
        (
            401,
            "authentication_error",
            "CORS requests must set 'anthropic-dangerous-direct-browser-access' header",
            "model_auth final",
        ),
    ] {
        let body = format!("{{\"type\":\"error\",\"error\":{{\"type\":\"{kind}\",\"message\":\"{message}\"}}}}");
        let error = http_error(status, body.as_bytes(), RetryHints::default());
        assert_eq!(show(&error), format!("{expected}: {message}"), "{status}");
    }
}

/// Text with the kinds of white space and characters that matter here.
fn arb_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just(String::new()), Just(" \n\u{a0}".to_owned())]
}

/// A turn as it may come from a stream of this API.
fn arb_stream() -> impl Strategy<Value = Vec<String>> {
    let block = prop_oneof![
        arb_text().prop_map(|text| serde_json::json!({"type": "text", "text": text})),
        arb_text().prop_map(|text| serde_json::json!({"type": "thinking", "thinking": text, "signature": "s"})),
        Just(serde_json::json!({"type": "redacted_thinking", "data": "AA"})),
        (any::<String>(), ".{0,8}")
            .prop_map(|(id, name)| serde_json::json!({"type": "tool_use", "id": id, "name": name, "input": {}})),
    ];
    let arguments = prop_oneof![Just("{}".to_owned()), "[{}\":a1,\\\\u]{0,12}", any::<String>()];
    let end = prop::sample::select(vec!["end_turn", "tool_use", "max_tokens", "refusal", "odd", ""]);
    (prop::collection::vec((block, arguments), 0..6), end).prop_map(|(blocks, end)| {
        let mut events = Vec::new();
        for (index, (block, arguments)) in blocks.into_iter().enumerate() {
            let is_call = block["type"] == "tool_use";
            events.push(serde_json::json!({"type": "content_block_start", "index": index, "content_block": block}));
            if is_call {
                let delta = serde_json::json!({"type": "input_json_delta", "partial_json": arguments});
                events.push(serde_json::json!({"type": "content_block_delta", "index": index, "delta": delta}));
            }
            events.push(serde_json::json!({"type": "content_block_stop", "index": index}));
        }
        events.push(serde_json::json!({"type": "message_delta", "delta": {"stop_reason": end}}));
        events.iter().map(ToString::to_string).collect()
    })
}

/// A chat as models might leave it: turns of this endpoint and of others, any text, any arguments.
fn arb_history() -> impl Strategy<Value = Vec<HistoryItem>> {
    let call = (".{0,8}", prop_oneof![Just("{}".to_owned()), "[{}\":a1,\\\\u]{0,12}", any::<String>()]);
    let foreign = (arb_text(), prop::collection::vec(call, 0..4)).prop_map(|(text, calls)| {
        let calls: Vec<(&str, &str)> = calls.iter().map(|(name, arguments)| (&**name, &**arguments)).collect();
        turn(&text, &calls)
    });
    let own = arb_stream().prop_map(|events| {
        let events: Vec<&str> = events.iter().map(String::as_str).collect();
        reduce(&model("{}"), &events).unwrap()
    });
    let round = (prop::collection::vec(arb_text(), 0..3), prop_oneof![foreign, own], arb_text(), any::<bool>());
    prop::collection::vec(round, 1..4).prop_map(|rounds| {
        let mut items = vec![user("Hello")];
        for (place, (texts, turn, answer, is_error)) in rounds.into_iter().enumerate() {
            items.extend(texts.iter().map(|text| user(text)));
            let ids: Vec<String> = (0..turn.calls.len()).map(|call| format!("r1t{place}c{call}")).collect();
            let call_ids = ids.iter().map(CallId::new).collect();
            items.push(HistoryItem::Assistant { turn: turn.into(), call_ids });
            items.extend(ids.iter().map(|id| result(id, &answer, is_error)));
        }
        items
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_history_makes_a_valid_request(history in arb_history(), instructions in arb_text(), with_note in any::<bool>()) {
        let opening = Opening { instructions: Some(&instructions), ..BARE };
        let request = body(&model("{}"), &opening, &history, with_note.then_some("Note."));
        let request: serde_json::Value = serde_json::from_str(&request).unwrap();
        prop_assert!(request["max_tokens"].is_u64());
        let messages = request["messages"].as_array().unwrap();
        prop_assert_eq!(&messages[0]["role"], "user");
        let mut open: Vec<String> = Vec::new();
        let mut used = HashSet::new();
        let mut last_role = String::new();
        for message in messages {
            let role = message["role"].as_str().unwrap();
            // Turns of a model may follow each other where nobody wrote; the API joins them.
            prop_assert!(role != last_role || role == "assistant", "{}", request);
            last_role = role.to_owned();
            let blocks = message["content"].as_array().unwrap();
            prop_assert!(!blocks.is_empty());
            let kinds: Vec<&str> = blocks.iter().map(|block| block["type"].as_str().unwrap()).collect();
            let thinks = |place: usize| kinds.get(place).is_some_and(|kind| kind.ends_with("thinking"));
            prop_assert!(!thinks(kinds.len() - 1), "a message must not end with a thought");
            if role == "assistant" {
                prop_assert!(open.is_empty(), "a call has no result");
            }
            for (place, block) in blocks.iter().enumerate() {
                match kinds[place] {
                    "text" => {
                        let is_apart = place > 0 && thinks(place - 1) && thinks(place + 1);
                        prop_assert!(is_apart || !block["text"].as_str().unwrap().trim().is_empty());
                        prop_assert!(role == "assistant" || open.is_empty(), "results come first");
                    }
                    "tool_use" => {
                        let id = block["id"].as_str().unwrap().to_owned();
                        prop_assert!(!id.is_empty() && id.len() <= 64);
                        prop_assert!(id.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'));
                        prop_assert!(used.insert(id.clone()), "an id is used twice");
                        open.push(id);
                        prop_assert!(block["input"].is_object());
                        let name = block["name"].as_str().unwrap();
                        prop_assert!(!name.is_empty() && name.len() <= 64);
                        prop_assert!(name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-'));
                    }
                    "tool_result" => prop_assert_eq!(open.remove(0), block["tool_use_id"].as_str().unwrap()),
                    _ => {}
                }
            }
            if role == "user" {
                prop_assert!(open.is_empty(), "a call has no result");
            }
        }
        let markers = request.to_string().matches("\"cache_control\":{").count();
        prop_assert!(markers <= 4);
    }

    #[test]
    fn any_bytes_give_a_turn_or_an_error(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            &b"data: "[..], b"{\"type\":\"content_block_start\",\"index\":0,\"content_block\":", b"{\"type\":\"text\",\"text\":\"a\"}", b"}",
            b"\n\n", b"[DONE]", b"null", b"{\"type\":\"tool_use\",\"id\":\"k\",\"name\":\"f\",\"input\":", b"{}}",
            b"{\"type\":\"content_block_delta\",\"index\":0,\"delta\":", b"{\"type\":\"input_json_delta\",\"partial_json\":\"{\"}",
            b"{\"type\":\"message_stop\"}", b"{\"error\":", b"[", b"<",
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
