//! Gemini: requests, errors, and what a turn carries back. Streams are in `fixtures.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod conversation;

use conversation::{BARE, assistant, params, result, tool, turn, user};
use countersign::core::message::{CallId, HistoryItem, ModelError, Part, Turn, TurnEnd};
use countersign::core::wire::gemini::Gemini;
use countersign::core::wire::{Opening, RetryHints, http_error};
use expect_test::{Expect, expect};
use proptest::prelude::*;

fn model(params_text: &str) -> Gemini {
    Gemini::new("gemini-3-x", "here", params(params_text)).unwrap()
}

fn body(model: &Gemini, opening: &Opening<'_>, items: &[HistoryItem], note: Option<&str>) -> String {
    let mut body = model.head(opening);
    for (place, item) in items.iter().enumerate() {
        body.extend(model.item(item, &items[..place]));
    }
    body.extend(model.tail(items.last(), note));
    String::from_utf8(body).unwrap()
}

/// The reduced stream of these parts, with this finish reason.
fn reduce(model: &Gemini, parts: &str, reason: &str) -> Result<Turn, ModelError> {
    let mut reducer = model.reducer();
    let event = format!("{{\"candidates\":[{{\"content\":{{\"parts\":[{parts}]}},\"finishReason\":\"{reason}\"}}]}}");
    reducer.feed(format!("data: {event}\r\n\r\n").as_bytes());
    reducer.finish()
}

fn check_body(model: &Gemini, opening: &Opening<'_>, items: &[HistoryItem], note: Option<&str>, expected: &Expect) {
    let body = body(model, opening, items, note);
    serde_json::from_str::<serde_json::Value>(&body).unwrap();
    // One content a line reads better.
    let body = body.replace("{\"role\"", "\n{\"role\"").replace(",\"tools\"", "\n,\"tools\"");
    expected.assert_eq(&body.replace("\"contents\"", "\n\"contents\""));
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
        tool("3d-view", "", "null"),
    ];
    let mut history = history();
    history.extend([
        user("Wait."),
        assistant(turn("Done.", &[])),
        HistoryItem::User(vec![Part::Text("And".into()), Part::Text(" \n".into()), Part::Text("again".into())]),
        user("Please."),
    ]);
    let opening = Opening { instructions: Some("You look after a jar."), tools: &tools, allow_tools: true };
    check_body(
        &model(
            "{\"generationConfig\":{\"temperature\":0.10},\"toolConfig\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}}",
        ),
        &opening,
        &history,
        None,
        &expect![[r#"
            {"generationConfig":{"temperature":0.10},"toolConfig":{"functionCallingConfig":{"mode":"ANY"}},"systemInstruction":{"parts":[{"text":"You look after a jar."}]}
            ,"tools":[{"functionDeclarations":[{"name":"jar","description":"A cookie jar.","parametersJsonSchema":{"type":"object","properties":{"n":{"type":"integer"}}}},{"name":"ping"},{"name":"tool_3d-view_vqza203h"}]}],
            "contents":[
            {"role":"user","parts":[{"text":"Empty the jar \"now\".\n"}]},
            {"role":"model","parts":[{"text":"On it."},{"functionCall":{"name":"jar","args":{"n":1.0}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"ping","args":{}}}]},
            {"role":"user","parts":[{"functionResponse":{"name":"jar","response":{"result":"3 cookies eaten."}}},{"functionResponse":{"name":"ping","response":{"error":"Error: approval_denied"}}}]},
            {"role":"user","parts":[{"text":"Wait."}]},
            {"role":"model","parts":[{"text":"Done."}]},
            {"role":"user","parts":[{"text":"And"},{"text":"again"},{"text":"Please."}]}]}"#]],
    );
}

#[test]
fn a_closing_request_keeps_the_tools_and_allows_none() {
    let tools = [tool("ping", "", "null")];
    let opening = Opening { instructions: None, tools: &tools, allow_tools: false };
    let model = model("{\"tool_config\":{\"functionCallingConfig\":{\"mode\":\"ANY\"}}}");
    check_body(
        &model,
        &opening,
        &history(),
        Some("The limit is reached."),
        &expect![[r#"
        {"tools":[{"functionDeclarations":[{"name":"ping"}]}],"toolConfig":{"functionCallingConfig":{"mode":"NONE"}},
        "contents":[
        {"role":"user","parts":[{"text":"Empty the jar \"now\".\n"}]},
        {"role":"model","parts":[{"text":"On it."},{"functionCall":{"name":"jar","args":{"n":1.0}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"ping","args":{}}}]},
        {"role":"user","parts":[{"functionResponse":{"name":"jar","response":{"result":"3 cookies eaten."}}},{"functionResponse":{"name":"ping","response":{"error":"Error: approval_denied"}}}]},
        {"role":"user","parts":[{"text":"The limit is reached."}]}]}"#]],
    );
    // A note stands in a content of the user wherever it comes.
    check_body(
        &model,
        &BARE,
        &[user("Hi")],
        Some("Go on."),
        &expect![[r#"
        {
        "contents":[
        {"role":"user","parts":[{"text":"Hi"},{"text":"Go on."}]}]}"#]],
    );
    check_body(
        &model,
        &BARE,
        &[user("Hi"), assistant(turn("Ho", &[]))],
        Some("Go on."),
        &expect![[r#"
        {
        "contents":[
        {"role":"user","parts":[{"text":"Hi"}]},
        {"role":"model","parts":[{"text":"Ho"}]},
        {"role":"user","parts":[{"text":"Go on."}]}]}"#]],
    );
    check_body(
        &model,
        &BARE,
        &[],
        Some("Go on."),
        &expect![[r#"
        {
        "contents":[
        {"role":"user","parts":[{"text":"Go on."}]}]}"#]],
    );
}

#[test]
fn own_fields_are_refused_as_params() {
    for field in ["contents", "model", "stream", "systemInstruction", "system_instruction", "tools"] {
        let error = Gemini::new("m", "", params(&format!("{{\"safetySettings\":[],\"{field}\":null}}"))).unwrap_err();
        assert!(error.starts_with(&format!("params must not set \"{field}\": ")), "{error}");
    }
}

#[test]
fn pictures_and_files_are_parts() {
    let parts = vec![
        Part::Image { url: "data:image/png;base64,iVBORw==".into() },
        Part::Image { url: "https://example.com/a.JPG?size=2.0#top".into() },
        Part::Image { url: "https://example.com/picture".into() },
        Part::File { name: "a.txt".into(), url: "data:text/plain;charset=utf-8;base64,aGk=".into() },
        Part::File { name: "a.pdf".into(), url: "https://example.com/a.pdf".into() },
    ];
    let body = body(&model("{}"), &BARE, &[HistoryItem::User(parts)], None);
    expect![[r#"
        {"contents":[{"role":"user","parts":[
        {"inlineData":{"mimeType":"image/png","data":"iVBORw=="}},
        {"fileData":{"mimeType":"image/jpeg","fileUri":"https://example.com/a.JPG?size=2.0#top"}},
        {"fileData":{"fileUri":"https://example.com/picture"}},
        {"inlineData":{"mimeType":"text/plain","data":"aGk="}},
        {"fileData":{"mimeType":"application/pdf","fileUri":"https://example.com/a.pdf"}}]}]}"#]]
    .assert_eq(&body.replace("{\"inline", "\n{\"inline").replace("{\"fileData", "\n{\"fileData"));
}

/// The parts a turn becomes.
fn parts(model: &Gemini, turn: &Turn) -> serde_json::Value {
    let body = body(model, &BARE, &[assistant(turn.clone())], None);
    serde_json::from_str::<serde_json::Value>(&body).unwrap()["contents"][0]["parts"].clone()
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
        ("[1]", "{}"),
        ("123", "{}"),
    ] {
        let parts = parts(&model, &turn("", &[("f", arguments)]));
        assert_eq!(parts[0]["functionCall"]["args"].to_string(), sent, "{arguments}");
    }
    // A content needs a part, and it says why there is none.
    let refused = Turn { refusal: "I cannot.".into(), end: TurnEnd::Refusal, ..turn("", &[]) };
    let cut = Turn { end: TurnEnd::Length, ..turn(" \n", &[]) };
    for (turn, sent) in [(refused, "I cannot."), (cut, "(cut off)"), (turn("", &[]), "(no answer)")] {
        assert_eq!(parts(&model, &turn), serde_json::json!([{"text": sent}]));
    }
}

#[test]
fn a_call_and_its_result_have_an_id_only_where_the_provider_gave_one() {
    let model = model("{}");
    let turn = reduce(
        &model,
        r#"{"functionCall":{"id":"same","name":"f","args":{}}},{"functionCall":{"id":"same","name":"g"}},{"functionCall":{"name":"h"}}"#,
        "STOP",
    );
    let turn = turn.unwrap();
    let sent = |model: &Gemini, call_ids: [&str; 3]| {
        let call_ids = call_ids.map(CallId::new);
        let mut items = vec![HistoryItem::Assistant { turn: turn.clone().into(), call_ids: call_ids.to_vec() }];
        items.extend(call_ids.iter().map(|id| result(id.as_str(), "ok", false)));
        let body: serde_json::Value = serde_json::from_str(&body(model, &BARE, &items, None)).unwrap();
        let ids = |content: usize, key: &str| -> Vec<String> {
            let parts = body["contents"][content]["parts"].as_array().unwrap();
            parts.iter().map(|part| part[key]["id"].as_str().unwrap_or("-").to_owned()).collect()
        };
        assert_eq!(ids(0, "functionCall"), ids(1, "functionResponse"));
        ids(0, "functionCall")
    };
    assert_eq!(sent(&model, ["r1t1c1", "r1t1c2", "r1t1c3"]), ["r1t1c1", "r1t1c2", "-"]);
    let hashed = sent(&model, ["a:1", "a/1", "a 1"]);
    assert!(hashed[0] != hashed[1] && hashed[0].len() == 32, "{hashed:?}");
    // Another endpoint has not seen these calls.
    let elsewhere = Gemini::new("gemini-3-x", "there", Vec::new()).unwrap();
    assert_eq!(sent(&elsewhere, ["r1t1c1", "r1t1c2", "r1t1c3"]), ["-", "-", "-"]);
}

#[test]
fn signatures_go_back_where_they_came_from_and_nowhere_else() {
    let here = model("{}");
    let came = r#"{"text":"Look first.","thought":true},{"text":"I "},{"text":"look.","thoughtSignature":"a+/="},{"functionCall":{"name":"f","args":{"n":1.50}},"thoughtSignature":"b=="},{"functionCall":{"name":"g"}},{"text":"","thoughtSignature":"c"}"#;
    let turn = reduce(&here, came, "STOP").unwrap();
    assert_eq!((turn.text.as_str(), turn.reasoning.as_str()), ("I look.", "Look first."));
    let sent = |model: &Gemini, turn: &Turn| {
        let sent = String::from_utf8(model.item(&assistant(turn.clone()), &[])).unwrap();
        sent.strip_prefix("{\"role\":\"model\",\"parts\":[").unwrap().to_owned()
    };
    assert_eq!(sent(&here, &turn), came);
    let elsewhere = |model: &str| Gemini::new(model, "there", Vec::new()).unwrap();
    expect![[r#"{"text":"I look."},{"functionCall":{"name":"f","args":{"n":1.50}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}"#]].assert_eq(&sent(&elsewhere("gemini-3-x"), &turn));
    // Older models check no signatures.
    expect![[
        r#"{"text":"I look."},{"functionCall":{"name":"f","args":{"n":1.50}}},{"functionCall":{"name":"g","args":{}}}"#
    ]]
    .assert_eq(&sent(&elsewhere("models/gemini-2.5-flash"), &turn));
    // What does not fit its calls is not trusted to be whole.
    let mut torn = turn;
    torn.extra.items.remove(4);
    expect![[r#"{"text":"I look."},{"functionCall":{"name":"f","args":{"n":1.50}},"thoughtSignature":"skip_thought_signature_validator"},{"functionCall":{"name":"g","args":{}}}"#]].assert_eq(&sent(&here, &torn));
}

#[test]
fn a_turn_that_used_up_its_tokens_is_cut() {
    let ending = |params: &str, part: &str, spent: u64| {
        let mut reducer = model(params).reducer();
        let usage = format!("{{\"candidatesTokenCount\":{spent},\"thoughtsTokenCount\":20}}");
        let candidate = format!("{{\"content\":{{\"parts\":[{part}]}},\"finishReason\":\"STOP\"}}");
        let event = format!("data: {{\"candidates\":[{candidate}],\"usageMetadata\":{usage}}}\n\n");
        reducer.feed(event.as_bytes());
        reducer.finish().unwrap().end
    };
    let call = "{\"functionCall\":{\"name\":\"f\"}}";
    assert_eq!(ending("{\"generationConfig\":{\"maxOutputTokens\":50}}", call, 30), TurnEnd::Length);
    assert_eq!(ending("{\"generation_config\":{\"max_output_tokens\":50}}", call, 30), TurnEnd::Length);
    assert_eq!(ending("{\"generationConfig\":{\"maxOutputTokens\":50}}", call, 29), TurnEnd::ToolCalls);
    assert_eq!(ending("{}", call, 30), TurnEnd::ToolCalls);
    assert_eq!(ending("{\"generationConfig\":{\"maxOutputTokens\":50}}", "{\"text\":\"Done.\"}", 30), TurnEnd::Stop);
}

#[test]
fn only_the_end_of_the_body_ends_an_answer() {
    let mut reducer = model("{}").reducer();
    let mut feed = |part: &str| {
        let candidate = format!("{{\"content\":{{\"parts\":[{part}]}},\"finishReason\":\"STOP\"}}");
        let delta = reducer.feed(format!("data: {{\"candidates\":[{candidate}]}}\r\n\r\n").as_bytes());
        (delta.text, delta.reasoning, reducer.is_done())
    };
    assert_eq!(feed("{\"text\":\"a\"},{\"text\":\"b\"}"), ("ab".into(), "".into(), false));
    assert_eq!(feed("{\"text\":\"c\",\"thought\":true}"), ("".into(), "c".into(), false));
    assert_eq!(feed("{\"text\":\"\\ud83d\"}"), ("".into(), "".into(), false));
    assert_eq!(feed("{\"text\":\"\\ude00\"}"), ("😀".into(), "".into(), false));
    assert_eq!((reducer.text(), reducer.reasoning()), ("ab😀", "c"));
    assert_eq!(reducer.finish().unwrap().text, "ab😀");
}

/// What a page sees of a response without a turn: class, retry, sentence.
fn show(error: &ModelError) -> String {
    let wait = error.retry_after_ms.map(|wait| format!(" in {wait} ms")).unwrap_or_default();
    let retry = if error.retryable { "retry" } else { "final" };
    format!("{} {retry}{wait}: {}", error.class.code(), error.message)
}

#[test]
fn a_response_without_a_turn_says_why() {
    let broken = |reason: &str| {
        format!(
            "data: {{\"candidates\":[{{\"finishReason\":\"{reason}\",\"finishMessage\":\"Bad\\n call: print(x)\"}}]}}\n\n"
        )
    };
    for (body, expected) in [
        (
            broken("MALFORMED_FUNCTION_CALL"),
            "model_error retry: The model's answer ended with MALFORMED_FUNCTION_CALL: Bad call: print(x). Nothing was run; retry to ask for it again.",
        ),
        (
            broken("TOO_MANY_TOOL_CALLS"),
            "model_error final: The model's answer ended with TOO_MANY_TOOL_CALLS: Bad call: print(x). Nothing was run; retry to ask for it again.",
        ),
        (
            "data: {\"error\":{\"code\":503,\"message\":\"Overloaded\",\"status\":\"UNAVAILABLE\"}}\n\n".into(),
            "model_overloaded retry: Overloaded",
        ),
        (
            "[{\"error\":{\"code\":429,\"message\":\"Quota\",\"details\":[{\"retryDelay\":\"3s\"}]}}]".into(),
            "model_rate_limit retry in 3000 ms: Quota",
        ),
        (
            "data: {\"choices\":[]}\n\n".into(),
            "model_bad_response final: The server's answer is no model answer. It begins: data: {\"choices\":[]}",
        ),
        ("{\"models\":[]}".into(), "model_bad_response final: The server sent JSON that is no Gemini answer."),
    ] {
        let mut reducer = model("{}").reducer();
        reducer.feed(body.as_bytes());
        assert_eq!(show(&reducer.finish().unwrap_err()), expected, "{body}");
    }
}

#[test]
fn http_errors_have_their_class() {
    for (status, token, message, expected) in [
        (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", "model_auth final"),
        (400, "INVALID_ARGUMENT", "Function call is missing a thought_signature", "model_bad_request final"),
        (
            400,
            "INVALID_ARGUMENT",
            "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            "model_context_too_long final",
        ),
        (403, "PERMISSION_DENIED", "no", "model_auth final"),
        (404, "NOT_FOUND", "models/x is not found", "model_bad_request final"),
        (429, "RESOURCE_EXHAUSTED", "Please retry in 48.9s.", "model_rate_limit retry in 48900 ms"),
        (503, "UNAVAILABLE", "The model is overloaded.", "model_overloaded retry"),
        (504, "DEADLINE_EXCEEDED", "Too late", "model_overloaded retry"),
    ] {
        let body = format!("[{{\"error\":{{\"code\":{status},\"message\":\"{message}\",\"status\":\"{token}\"}}}}]");
        let error = http_error(status, body.as_bytes(), RetryHints::default());
        assert_eq!(show(&error), format!("{expected}: {message}"), "{status}");
    }
}

/// Text with the kinds of white space and characters that matter here.
fn arb_text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), Just(String::new()), Just(" \n\u{a0}".to_owned())]
}

/// A turn as it may come from a stream of this API.
fn arb_own() -> impl Strategy<Value = Turn> {
    let name = prop_oneof![".{0,8}", "_{0,2}[0-9a-z-]{0,3}"];
    let part = prop_oneof![
        arb_text().prop_map(|text| serde_json::json!({"text": text})),
        Just(serde_json::json!({"text": "", "thoughtSignature": "s"})),
        (name, any::<bool>(), any::<bool>()).prop_map(|(name, has_id, goes_on)| {
            let mut call = serde_json::json!({"name": name, "args": {"a": 1}});
            if has_id {
                call["id"] = "same".into();
            }
            if goes_on {
                call["willContinue"] = true.into();
            }
            serde_json::json!({"functionCall": call})
        }),
        Just(serde_json::json!({"functionCall": {"partialArgs": [{"jsonPath": "$.b", "stringValue": "x"}]}})),
        Just(serde_json::json!({"functionCall": {}})),
    ];
    let end = prop::sample::select(vec!["STOP", "MAX_TOKENS", "SAFETY", "OTHER", ""]);
    (prop::collection::vec(part, 0..6), end).prop_map(|(parts, end)| {
        let parts: Vec<String> = parts.iter().map(ToString::to_string).collect();
        reduce(&model("{}"), &parts.join(","), end).unwrap()
    })
}

/// A chat as models might leave it: turns of this endpoint and of others, any text, any arguments.
fn arb_history() -> impl Strategy<Value = Vec<HistoryItem>> {
    let call = (".{0,8}", prop_oneof![Just("{}".to_owned()), "[{}\":a1,\\\\u]{0,12}", any::<String>()]);
    let foreign = (arb_text(), prop::collection::vec(call, 0..4)).prop_map(|(text, calls)| {
        let calls: Vec<(&str, &str)> = calls.iter().map(|(name, arguments)| (&**name, &**arguments)).collect();
        turn(&text, &calls)
    });
    let round = (prop::collection::vec(arb_text(), 0..3), prop_oneof![foreign, arb_own()], arb_text(), any::<bool>());
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
        let contents = request["contents"].as_array().unwrap();
        prop_assert_eq!(&contents[0]["role"], "user");
        prop_assert_eq!(contents.iter().any(|content| content.to_string().contains("Note.")), with_note);
        for (place, content) in contents.iter().enumerate() {
            let parts = content["parts"].as_array().unwrap();
            prop_assert!(!parts.is_empty());
            let next = contents.get(place + 1);
            if content["role"] == "model" {
                prop_assert!(next.is_none_or(|next| next["role"] == "user"), "turns stand beside each other");
            }
            let calls: Vec<&serde_json::Value> =
                parts.iter().map(|part| &part["functionCall"]).filter(|call| call["name"].is_string()).collect();
            let answers: Vec<&serde_json::Value> = next.map_or(Vec::new(), |next| {
                next["parts"].as_array().unwrap().iter().map(|part| &part["functionResponse"]).filter(|part| part.is_object()).collect()
            });
            prop_assert_eq!(calls.len(), answers.len(), "{}", request);
            if !answers.is_empty() {
                prop_assert_eq!(answers.len(), next.unwrap()["parts"].as_array().unwrap().len());
            }
            for (call, answer) in calls.iter().zip(answers) {
                prop_assert_eq!(&call["name"], &answer["name"]);
                prop_assert_eq!(call.get("id"), answer.get("id"));
                prop_assert!(call.get("args").is_none_or(serde_json::Value::is_object));
                let response = answer["response"].as_object().unwrap();
                prop_assert!(response.len() == 1 && (response.contains_key("result") || response.contains_key("error")));
                let name = call["name"].as_str().unwrap();
                prop_assert!(name.starts_with(|char: char| char.is_ascii_alphabetic()), "{}", name);
                prop_assert!(name.chars().all(|char| char.is_ascii_alphanumeric() || "_-".contains(char)), "{}", name);
            }
            for part in parts {
                prop_assert!(part.as_object().is_some_and(|part| !part.is_empty()));
                // What a person wrote, or what came from elsewhere, is never sent empty.
                if content["role"] == "user" && part["text"].is_string() {
                    prop_assert!(!part["text"].as_str().unwrap().trim().is_empty());
                }
            }
        }
    }

    #[test]
    fn any_bytes_give_a_turn_or_an_error(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            &b"data: "[..], b"{\"candidates\":[{\"content\":{\"parts\":[", b"{\"text\":\"a\"}", b"]}}]}", b"\r\n\r\n", b"[DONE]", b"null",
            b"{\"functionCall\":{\"name\":\"f\",\"willContinue\":true}}", b",", b"{\"functionCall\":{\"partialArgs\":[{\"jsonPath\":",
            b"\"$.a[0]\",\"stringValue\":\"x\"}]}}", b"],\"finishReason\":\"STOP\"}]}", b"{\"error\":", b"[", b"<",
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

    #[test]
    fn any_path_is_a_place_or_none(path in "[$.\\[\\]'\"a01]{0,12}") {
        let path = serde_json::Value::from(path);
        let part = format!("{{\"functionCall\":{{\"name\":\"f\",\"partialArgs\":[{{\"jsonPath\":{path},\"numberValue\":1}}]}}}}");
        let turn = reduce(&model("{}"), &part, "STOP").unwrap();
        prop_assert_eq!(turn.calls.len(), 1);
        prop_assert!(serde_json::from_str::<serde_json::Value>(&turn.calls[0].arguments).is_ok() || turn.calls[0].arguments.contains("jsonPath"));
    }
}
