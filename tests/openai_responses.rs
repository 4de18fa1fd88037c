//! OpenAI Responses: requests, errors, and what a turn carries back. Streams are in `fixtures.rs`.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]
#![cfg(not(target_arch = "wasm32"))]

mod conversation;

use conversation::{BARE, assistant, assistant_at, json, params, result, tool, user};
use countersign::core::event::{Body, Event};
use countersign::core::json::Json;
use countersign::core::message::{
    CallId, CallKind, ChatId, HistoryItem, ModelError, Part, RunId, Turn, TurnCall, TurnEnd,
};
use countersign::core::wire::Opening;
use countersign::core::wire::openai_responses::{Dialect, OpenAiResponses};
use expect_test::{Expect, expect};
use proptest::prelude::*;
use std::rc::Rc;

fn model_of(params_text: &str, dialect: Dialect) -> OpenAiResponses {
    OpenAiResponses::new("gpt-x", "here", params(params_text), dialect).unwrap()
}

fn model(params_text: &str) -> OpenAiResponses {
    model_of(params_text, Dialect::default())
}

/// The model thought before it called.
fn turn(text: &str, calls: &[(&str, &str)]) -> Turn {
    Turn { reasoning: "Hm.".into(), ..conversation::turn(text, calls) }
}

fn body(model: &OpenAiResponses, opening: &Opening<'_>, items: &[HistoryItem], note: Option<&str>) -> String {
    let mut body = model.head(opening);
    for (place, item) in items.iter().enumerate() {
        body.extend(model.item(item, &items[..place]));
    }
    body.extend(model.tail(items.last(), note));
    String::from_utf8(body).unwrap()
}

/// The reduced stream of these events, whose types are given without `response.`.
fn reduce(model: &OpenAiResponses, events: &[&str]) -> Result<Turn, ModelError> {
    let mut reducer = model.reducer();
    for event in events {
        reducer.feed(format!("data: {event}\n\n").as_bytes());
    }
    reducer.finish()
}

/// The turn of these whole items.
fn reduce_items(model: &OpenAiResponses, items: &[&str]) -> Turn {
    let done = |(place, item): (usize, &&str)| {
        format!(r#"{{"type":"response.output_item.done","output_index":{place},"item":{item}}}"#)
    };
    let mut events: Vec<String> = items.iter().enumerate().map(done).collect();
    events.push(r#"{"type":"response.completed","response":{"status":"completed","output":[]}}"#.into());
    reduce(model, &events.iter().map(String::as_str).collect::<Vec<_>>()).unwrap()
}

/// One item a line reads better.
fn lines(body: &str) -> String {
    serde_json::from_str::<serde_json::Value>(body).unwrap();
    body.replace("{\"type\":\"message\"", "\n{\"type\":\"message\"")
        .replace("{\"type\":\"function_call", "\n{\"type\":\"function_call")
        .replace("{\"type\":\"reasoning\"", "\n{\"type\":\"reasoning\"")
        .replace("{\"type\":\"mcp_", "\n{\"type\":\"mcp_")
        .replace(",\"tools\"", "\n,\"tools\"")
}

fn check_body(model: &OpenAiResponses, opening: &Opening<'_>, items: &[HistoryItem], expected: &Expect) {
    expected.assert_eq(&lines(&body(model, opening, items, None)));
}

/// The history alone.
fn check_input(model: &OpenAiResponses, items: &[HistoryItem], expected: &Expect) {
    let body = body(model, &BARE, items, None);
    let input = body.split_once(",\"input\":[").unwrap().1.strip_suffix("]}").unwrap();
    serde_json::from_str::<serde_json::Value>(&body).unwrap();
    expected.assert_eq(lines(&format!("[{input}]")).trim_start_matches(['[', '\n']));
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
        HistoryItem::User(vec![
            Part::Text("And".into()),
            Part::Image { url: "https://pics.example/jar.png".into() },
            Part::File { name: "list.pdf".into(), url: "data:application/pdf;base64,JVBE".into() },
            Part::File { name: "more.pdf".into(), url: "https://docs.example/more.pdf".into() },
        ]),
    ];
    let opening = Opening { instructions: Some("You look after a jar."), tools: &tools, allow_tools: true };
    check_body(
        &model("{\"temperature\":0.10,\"tool_choice\":\"auto\",\"max_output_tokens\":1000}"),
        &opening,
        &history,
        &expect![[r#"
            {"model":"gpt-x","stream":true,"store":false,"include":["reasoning.encrypted_content"],"temperature":0.10,"tool_choice":"auto","max_output_tokens":1000
            ,"tools":[{"type":"function","name":"jar","description":"A cookie jar.","parameters":{"type":"object","properties":{"n":{"type":"integer"}}},"strict":false},{"type":"function","name":"ping","parameters":{"type":"object","properties":{}},"strict":false}],"instructions":"You look after a jar.","input":[
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Empty the jar \"now\".\n"}]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"On it."}]},
            {"type":"function_call","call_id":"r1t1c1","name":"jar","arguments":"{\"n\": 1.0}"},
            {"type":"function_call","call_id":"r1t1c2","name":"ping","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t1c1","output":"3 cookies eaten."},
            {"type":"function_call_output","call_id":"r1t1c2","output":"pong"},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Done."}]},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"And"},{"type":"input_image","image_url":"https://pics.example/jar.png","detail":"auto"},{"type":"input_file","filename":"list.pdf","file_data":"data:application/pdf;base64,JVBE"},{"type":"input_file","file_url":"https://docs.example/more.pdf"}]}]}"#]],
    );
}

#[test]
fn a_closing_request_keeps_the_tools_allows_none_and_ends_with_the_note() {
    let tools = [tool("ping", "", "null")];
    let opening = Opening { instructions: None, tools: &tools, allow_tools: false };
    let model = model("{\"tool_choice\":\"required\",\"parallel_tool_calls\":false}");
    let history = [user("Hi"), assistant(turn("", &[("ping", "{}")])), result("r1t1c1", "pong", false)];
    expect![[r#"
        {"model":"gpt-x","stream":true,"store":false,"include":["reasoning.encrypted_content"],"parallel_tool_calls":false
        ,"tools":[{"type":"function","name":"ping","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":"none","input":[
        {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},
        {"type":"function_call","call_id":"r1t1c1","name":"ping","arguments":"{}"},
        {"type":"function_call_output","call_id":"r1t1c1","output":"pong"},
        {"type":"message","role":"system","content":[{"type":"input_text","text":"The limit is reached."}]}]}"#]].assert_eq(&lines(&body(&model, &opening, &history, Some("The limit is reached."))));
    expect![[r#"
        {"model":"gpt-x","stream":true,"store":false,"include":["reasoning.encrypted_content"],"parallel_tool_calls":false
        ,"tools":[{"type":"function","name":"ping","parameters":{"type":"object","properties":{}},"strict":false}],"tool_choice":"none","input":[
        {"type":"message","role":"system","content":[{"type":"input_text","text":"The limit is reached."}]}]}"#]].assert_eq(&lines(&body(&model, &opening, &[], Some("The limit is reached."))));
}

#[test]
fn without_tools_nothing_is_said_about_them() {
    let dialect = Dialect { include_encrypted_reasoning: false, ..Dialect::default() };
    let model = model_of("{\"tool_choice\":\"auto\",\"parallel_tool_calls\":false,\"seed\":1}", dialect);
    check_body(
        &model,
        &BARE,
        &[user("Hi")],
        &expect![[r#"
        {"model":"gpt-x","stream":true,"store":false,"seed":1,"input":[
        {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]}]}"#]],
    );
}

#[test]
fn what_the_host_says_about_storing_and_including_counts() {
    let head = |params: &str| String::from_utf8(model(params).head(&BARE)).unwrap();
    for (params, expected) in [
        ("{}", r#""store":false,"include":["reasoning.encrypted_content"]"#),
        (
            "{\"store\":true,\"include\":[\"file_search_call.results\"]}",
            r#""include":["file_search_call.results","reasoning.encrypted_content"],"store":true"#,
        ),
        (
            "{\"include\":[\"reasoning.encrypted_content\"]}",
            r#""store":false,"include":["reasoning.encrypted_content"]"#,
        ),
        ("{\"include\":null}", r#""store":false,"include":["reasoning.encrypted_content"]"#),
    ] {
        let expected = format!(r#"{{"model":"gpt-x","stream":true,{expected},"input":["#);
        assert_eq!(head(params), expected, "{params}");
    }
}

#[test]
fn own_fields_are_refused_as_params() {
    for field in ["conversation", "input", "instructions", "model", "previous_response_id", "stream", "tools"] {
        let fields = params(&format!("{{\"seed\":1,\"{field}\":null}}"));
        let error = OpenAiResponses::new("m", "", fields, Dialect::default()).unwrap_err();
        assert!(error.starts_with(&format!("params must not set \"{field}\": ")), "{error}");
    }
}

#[test]
fn tools_of_the_server_stand_behind_those_of_the_host() {
    let server_tools = vec![json("{\"type\":\"mcp\",\"server_label\":\"zip\",\"server_url\":\"https://zip.example\"}")];
    let model = model_of("{\"tool_choice\":\"auto\"}", Dialect { server_tools, ..Dialect::default() });
    let tools = [tool("ping", "", "{}")];
    check_body(
        &model,
        &Opening { tools: &tools, ..BARE },
        &[],
        &expect![[r#"
        {"model":"gpt-x","stream":true,"store":false,"include":["reasoning.encrypted_content"],"tool_choice":"auto"
        ,"tools":[{"type":"function","name":"ping","parameters":{},"strict":false},{"type":"mcp","server_label":"zip","server_url":"https://zip.example"}],"input":[]}"#]],
    );
    check_body(
        &model,
        &BARE,
        &[],
        &expect![[r#"
        {"model":"gpt-x","stream":true,"store":false,"include":["reasoning.encrypted_content"],"tool_choice":"auto"
        ,"tools":[{"type":"mcp","server_label":"zip","server_url":"https://zip.example"}],"input":[]}"#]],
    );
    for kind in ["function", "custom", "local_shell"] {
        let server_tools = vec![json(&format!("{{\"type\":\"{kind}\"}}"))];
        let error = OpenAiResponses::new("m", "", Vec::new(), Dialect { server_tools, ..Dialect::default() });
        assert!(error.unwrap_err().contains("does not run on a server"), "{kind}");
    }
}

#[test]
fn the_history_is_one_every_server_takes() {
    let call = |name: &str, arguments: &str, own: bool| {
        let model = model("{}");
        let made = if own {
            let item = Json::Object(vec![
                ("type".into(), "function_call".into()),
                ("call_id".into(), "call_1".into()),
                ("name".into(), name.into()),
                ("arguments".into(), arguments.into()),
            ]);
            reduce_items(&model, &[&item.text()])
        } else {
            turn("", &[(name, arguments)])
        };
        serde_json::from_slice::<serde_json::Value>(&model.item(&assistant(made), &[])).unwrap()
    };
    for own in [true, false] {
        // Arguments that are no object, or that a server could not decode, do not go back as they are.
        for (arguments, sent) in [
            ("{\"a\": 1}", "{\"a\": 1}"),
            ("{\"a\":1,\"a\":2}", "{\"a\":1,\"a\":2}"),
            ("{\"a\":\"\\ud83d\"}", "{\"a\":\"\u{fffd}\"}"),
            ("\"{\\\"a\\\":1}\"", "{\"a\":1}"),
            ("", "{}"),
            ("{\"a\":", "{}"),
            ("{\"a\":1}{\"a\":2}", "{}"),
            ("[1]", "{}"),
        ] {
            assert_eq!(call("f", arguments, own)["arguments"], sent, "{arguments}");
        }
    }
    let model = model("{}");
    check_input(
        &model,
        &[assistant(turn("", &[]))],
        &expect![[r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}]"#]],
    );
    let refusal = Turn { refusal: "I cannot.".into(), end: TurnEnd::Refusal, ..turn("", &[]) };
    check_input(
        &model,
        &[assistant(refusal)],
        &expect![[r#"{"type":"message","role":"assistant","content":[{"type":"output_text","text":"I cannot."}]}]"#]],
    );
}

#[test]
fn a_call_and_its_result_have_the_same_id_whatever_the_provider_calls_them() {
    let model = model("{}");
    for (id, kept, length) in [
        ("r1t1c1", true, 6),
        ("4f7c2f0e-6f1c-4f3a-9d53-2f1f0b6f0d6et12c3", false, 32),
        ("functions.read:0", false, 32),
        ("", false, 32),
    ] {
        let call = HistoryItem::Assistant { turn: turn("", &[("f", "{}")]).into(), call_ids: vec![CallId::new(id)] };
        let sent: serde_json::Value = serde_json::from_slice(&model.item(&call, &[])).unwrap();
        let (before, result) = ([call], result(id, "ok", false));
        let answer = String::from_utf8(model.item(&result, &before)).unwrap();
        let answer: serde_json::Value = serde_json::from_str(answer.strip_prefix(',').unwrap()).unwrap();
        let sent = sent["call_id"].as_str().unwrap();
        assert_eq!(answer["call_id"], sent);
        assert_eq!((sent == id, sent.len()), (kept, length), "{id}: {sent}");
    }
    // Ids that a provider gives twice, in one turn and in the next one, stay apart.
    let twice = || {
        let item = r#"{"type":"function_call","id":"fc_1","call_id":"call_0","name":"f","arguments":"{}"}"#;
        reduce_items(&model, &[item, item])
    };
    assert_eq!(twice().calls[1].provider_id.as_deref(), Some("call_0"));
    let history = [
        assistant_at(1, twice()),
        result("r1t1c1", "a", false),
        result("r1t1c2", "b", false),
        assistant_at(2, twice()),
        result("r1t2c1", "c", false),
        result("r1t2c2", "d", false),
    ];
    let request: serde_json::Value = serde_json::from_str(&body(&model, &BARE, &history, None)).unwrap();
    let ids: Vec<&str> =
        request["input"].as_array().unwrap().iter().map(|item| item["call_id"].as_str().unwrap()).collect();
    assert_eq!(ids, ["r1t1c1", "r1t1c2", "r1t1c1", "r1t1c2", "r1t2c1", "r1t2c2", "r1t2c1", "r1t2c2"]);
}

const THOUGHTFUL: [&str; 5] = [
    r#"{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA=="}"#,
    r#"{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":"{\"a\":1}","status":"completed","namespace":"n"}"#,
    r#"{"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"So."}],"encrypted_content":"BB=="}"#,
    r#"{"type":"function_call","id":"fc_2","call_id":"call_2","name":"g","arguments":"{}","status":"completed"}"#,
    r#"{"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Wait.","annotations":[]}]}"#,
];

#[test]
fn a_turn_goes_back_to_its_own_model_as_it_came_and_to_another_in_plain_words() {
    let here = model("{}");
    let turn = reduce_items(&here, &THOUGHTFUL);
    assert_eq!((&*turn.text, &*turn.reasoning, turn.end), ("Wait.", "So.", TurnEnd::ToolCalls));
    let history =
        [user("Hi"), assistant(turn), result("r1t1c1", "one", false), result("r1t1c2", "two", false), user("Go on")];
    check_input(
        &here,
        &history,
        &expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},
            {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA=="},
            {"type":"function_call","id":"fc_1","status":"completed","namespace":"n","call_id":"r1t1c1","name":"f","arguments":"{\"a\":1}"},
            {"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"So."}],"encrypted_content":"BB=="},
            {"type":"function_call","id":"fc_2","status":"completed","call_id":"r1t1c2","name":"g","arguments":"{}"},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Wait.","annotations":[]}]},
            {"type":"function_call_output","call_id":"r1t1c1","output":"one"},
            {"type":"function_call_output","call_id":"r1t1c2","output":"two"},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}]"#]],
    );
    let there = OpenAiResponses::new("gpt-x", "there", Vec::new(), Dialect::default()).unwrap();
    check_input(
        &there,
        &history,
        &expect![[r#"
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Hi"}]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Wait."}]},
            {"type":"function_call","call_id":"r1t1c1","name":"f","arguments":"{\"a\":1}"},
            {"type":"function_call","call_id":"r1t1c2","name":"g","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t1c1","output":"one"},
            {"type":"function_call_output","call_id":"r1t1c2","output":"two"},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}]"#]],
    );
}

#[test]
fn results_stand_behind_their_calls_for_servers_that_pair_by_position() {
    let model = model_of("{}", Dialect { interleave_results: true, ..Dialect::default() });
    let history = [
        assistant(reduce_items(&model, &THOUGHTFUL)),
        result("r1t1c1", "one", false),
        result("r1t1c2", "two", false),
        assistant_at(2, turn("Two more.", &[("f", "{}"), ("g", "{}")])),
        result("r1t2c1", "one", false),
        result("r1t2c2", "two", false),
        user("Go on"),
    ];
    check_input(
        &model,
        &history,
        &expect![[r#"
            {"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA=="},
            {"type":"function_call","id":"fc_1","status":"completed","namespace":"n","call_id":"r1t1c1","name":"f","arguments":"{\"a\":1}"},
            {"type":"function_call_output","call_id":"r1t1c1","output":"one"},
            {"type":"reasoning","id":"rs_2","summary":[{"type":"summary_text","text":"So."}],"encrypted_content":"BB=="},
            {"type":"function_call","id":"fc_2","status":"completed","call_id":"r1t1c2","name":"g","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t1c2","output":"two"},
            {"type":"message","id":"msg_1","role":"assistant","status":"completed","phase":"commentary","content":[{"type":"output_text","text":"Wait.","annotations":[]}]},
            {"type":"message","role":"assistant","content":[{"type":"output_text","text":"Two more."}]},
            {"type":"function_call","call_id":"r1t2c1","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t2c1","output":"one"},
            {"type":"function_call","call_id":"r1t2c2","name":"g","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t2c2","output":"two"},
            {"type":"message","role":"user","content":[{"type":"input_text","text":"Go on"}]}]"#]],
    );
}

#[test]
fn reasoning_that_no_server_could_read_stays_away() {
    let reference = r#"{"type":"reasoning","id":"rs_1","summary":[]}"#;
    let message =
        r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}"#;
    let shell = r#"{"type":"shell_call","id":"sh_1","call_id":"call_9","action":{}}"#;
    // What the server did not keep cannot be named to it; what it kept can.
    let history = |model: &OpenAiResponses| [assistant(reduce_items(model, &[reference, message]))];
    let (keeps_nothing, keeps_all) = (model("{}"), model("{\"store\":true}"));
    check_input(
        &keeps_nothing,
        &history(&keeps_nothing),
        &expect![[
            r#"{"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]"#
        ]],
    );
    check_input(
        &keeps_all,
        &history(&keeps_all),
        &expect![[r#"
            {"type":"reasoning","id":"rs_1","summary":[]},
            {"type":"message","id":"msg_1","role":"assistant","content":[{"type":"output_text","text":"Hi"}]}]"#]],
    );
    // Reasoning that led to nothing, or to work that nobody answers.
    let expected = expect![[r#"
        {"type":"message","role":"assistant","content":[{"type":"output_text","text":""}]}]"#]];
    for items in [&THOUGHTFUL[..1], &[THOUGHTFUL[0], shell]] {
        check_input(&keeps_nothing, &[assistant(reduce_items(&keeps_nothing, items))], &expected);
    }
}

#[test]
fn a_turn_that_broke_off_goes_back_in_plain_words() {
    let model = model("{}");
    let turn = reduce(
        &model,
        &[
            r#"{"type":"response.output_item.done","output_index":0,"item":{"type":"reasoning","id":"rs_1","summary":[],"encrypted_content":"AA=="}}"#,
            r#"{"type":"response.output_item.added","output_index":1,"item":{"type":"function_call","id":"fc_1","call_id":"call_1","name":"f","arguments":""}}"#,
            r#"{"type":"response.function_call_arguments.delta","output_index":1,"delta":"{\"a\":"}"#,
        ],
    )
    .unwrap();
    assert_eq!(turn.end, TurnEnd::Truncated);
    check_input(
        &model,
        &[assistant(turn), result("r1t1c1", "Error: turn_truncated.", true)],
        &expect![[r#"
            {"type":"function_call","call_id":"r1t1c1","name":"f","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t1c1","output":"Error: turn_truncated."}]"#]],
    );
}

#[test]
fn a_providers_own_request_for_approval_is_a_call_with_a_word_for_an_result() {
    let here = model("{}");
    let ask = |place: usize| {
        format!(
            r#"{{"type":"mcp_approval_request","id":"mcpr_{place}","server_label":"zip","name":"shorten","arguments":"{{\"url\":\"u{place}\"}}"}}"#
        )
    };
    let turn = reduce_items(&here, &[&ask(1), &ask(2), THOUGHTFUL[3]]);
    assert_eq!(turn.end, TurnEnd::ToolCalls);
    assert_eq!(
        turn.calls[0],
        TurnCall {
            kind: CallKind::ProviderApproval { server: "zip".into() },
            provider_id: Some("mcpr_1".into()),
            name: "shorten".into(),
            arguments: "{\"url\":\"u1\"}".into(),
        }
    );
    let history = [
        assistant(turn),
        result("r1t1c1", "Approved.", false),
        result("r1t1c2", "Error: approval_denied. Declined.", true),
        result("r1t1c3", "ok", false),
    ];
    check_input(
        &here,
        &history,
        &expect![[r#"
            {"type":"mcp_approval_request","id":"mcpr_1","server_label":"zip","name":"shorten","arguments":"{\"url\":\"u1\"}"},
            {"type":"mcp_approval_request","id":"mcpr_2","server_label":"zip","name":"shorten","arguments":"{\"url\":\"u2\"}"},
            {"type":"function_call","id":"fc_2","status":"completed","call_id":"r1t1c3","name":"g","arguments":"{}"},
            {"type":"mcp_approval_response","approval_request_id":"mcpr_1","approve":true},
            {"type":"mcp_approval_response","approval_request_id":"mcpr_2","approve":false,"reason":"Error: approval_denied. Declined."},
            {"type":"function_call_output","call_id":"r1t1c3","output":"ok"}]"#]],
    );
    // Another model has no such request open.
    let there = OpenAiResponses::new("gpt-x", "there", Vec::new(), Dialect::default()).unwrap();
    check_input(
        &there,
        &history,
        &expect![[r#"
            {"type":"function_call","call_id":"r1t1c1","name":"shorten","arguments":"{\"url\":\"u1\"}"},
            {"type":"function_call","call_id":"r1t1c2","name":"shorten","arguments":"{\"url\":\"u2\"}"},
            {"type":"function_call","call_id":"r1t1c3","name":"g","arguments":"{}"},
            {"type":"function_call_output","call_id":"r1t1c1","output":"Approved."},
            {"type":"function_call_output","call_id":"r1t1c2","output":"Error: approval_denied. Declined."},
            {"type":"function_call_output","call_id":"r1t1c3","output":"ok"}]"#]],
    );
}

#[test]
fn a_request_for_approval_is_stored_as_one_and_a_call_as_before() {
    let ask = r#"{"type":"mcp_approval_request","id":"mcpr_1","server_label":"zip","name":"shorten","arguments":"{}"}"#;
    let turn = Rc::new(reduce_items(&model("{}"), &[ask, THOUGHTFUL[3]]));
    let body = Body::TurnCompleted { turn };
    let event = Event { seq: 0, chat: ChatId::new("c"), run: RunId::new("r"), at: 1, body, cleared: false };
    let line = event.encode();
    assert_eq!(line.matches("\"server\":\"zip\"").count(), 1, "{line}");
    assert_eq!(line.matches("\"server\":").count(), 1, "{line}");
    assert_eq!(Event::decode(&line).unwrap(), event);
}

#[test]
fn a_turn_that_used_up_its_tokens_is_cut() {
    let ending = |params: &str, item: &str, spent: u64| {
        let events = [
            format!(r#"{{"type":"response.output_item.done","output_index":0,"item":{item}}}"#),
            format!(
                r#"{{"type":"response.completed","response":{{"status":"completed","usage":{{"output_tokens":{spent}}}}}}}"#
            ),
        ];
        reduce(&model(params), &[&events[0], &events[1]]).unwrap().end
    };
    let call = THOUGHTFUL[3];
    assert_eq!(ending("{\"max_output_tokens\":50}", call, 50), TurnEnd::Length);
    assert_eq!(ending("{\"max_output_tokens\":50}", call, 49), TurnEnd::ToolCalls);
    assert_eq!(ending("{}", call, 50), TurnEnd::ToolCalls);
    assert_eq!(ending("{\"max_output_tokens\":50}", THOUGHTFUL[4], 50), TurnEnd::Stop);
}

#[test]
fn each_event_gives_what_is_new_and_nothing_twice() {
    let mut reducer = model("{}").reducer();
    let mut feed = |event: &str| {
        let delta = reducer.feed(format!("data: {event}\n\n").as_bytes());
        (delta.text, delta.reasoning, reducer.is_done())
    };
    let shown = |text: &str, reasoning: &str| (text.to_owned(), reasoning.to_owned(), false);
    let text = |delta: &str| {
        format!(r#"{{"type":"response.output_text.delta","output_index":1,"content_index":0,"delta":"{delta}"}}"#)
    };
    let done = |place: usize, item: &str| {
        format!(r#"{{"type":"response.output_item.done","output_index":{place},"item":{item}}}"#)
    };
    assert_eq!(feed(r#"{"type":"response.reasoning_text.delta","output_index":0,"delta":"Hm"}"#), shown("", "Hm"));
    let reasoning = r#"{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm."}]}"#;
    assert_eq!(feed(&done(0, reasoning)), shown("", "."));
    assert_eq!(feed(&text("a\\ud83d")), shown("a", ""));
    assert_eq!(feed(&text("\\ude00b")), shown("😀b", ""));
    let message =
        r#"{"type":"message","content":[{"type":"output_text","text":"a😀b"},{"type":"output_text","text":"c"}]}"#;
    assert_eq!(feed(&done(1, message)), shown("c", ""));
    assert_eq!(feed(&done(1, message)), shown("", ""));
    assert_eq!(
        feed(r#"{"type":"response.completed","response":{"status":"completed"}}"#),
        (String::new(), String::new(), true)
    );
    assert_eq!(feed(&text("late")), (String::new(), String::new(), true));
    let turn = reducer.finish().unwrap();
    assert_eq!((&*turn.text, &*turn.reasoning), ("a😀bc", "Hm."));
}

/// What a page sees of a response without a turn: class, retry, sentence.
fn show(error: &ModelError) -> String {
    let retry = if error.retryable { "retry" } else { "final" };
    format!("{} {retry}: {}", error.class.code(), error.message)
}

#[test]
fn a_response_that_is_no_answer_says_what_it_was() {
    let many = (0..1100)
        .map(|place| {
            format!("data: {{\"type\":\"response.output_item.added\",\"output_index\":{place},\"item\":{{}}}}\n\n")
        })
        .collect::<String>();
    for (body, expected) in [
        ("", "model_bad_response final: The server's answer was empty."),
        ("data: [DONE]\n\n", "model_bad_response final: The server's answer was empty."),
        (
            "data: {\"choices\":[]}\n\n",
            "model_bad_response final: The server's answer is no model answer. It begins: data: {\"choices\":[]}",
        ),
        ("{\"models\":[]}", "model_bad_response final: The server sent JSON that is no response."),
        ("{\"detail\":\"Not signed in\"}", "model_error final: Not signed in"),
        (
            "event: error\ndata: {\"type\":\"error\",\"code\":\"rate_limit_exceeded\",\"message\":\"slow down\"}\n\n",
            "model_rate_limit retry: slow down",
        ),
        (
            "data: {\"type\":\"error\",\"error\":{\"type\":\"insufficient_quota\",\"code\":\"insufficient_quota\",\"message\":\"No credit\"}}\n\n",
            "model_quota final: No credit",
        ),
        (
            "data: {\"type\":\"response.failed\",\"response\":{\"status\":\"failed\",\"error\":{\"code\":\"server_error\",\"message\":\"Oops\"}}}\n\n",
            "model_overloaded retry: Oops",
        ),
        (
            "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"invalid_prompt\",\"message\":\"Bad words\"}}}\n\n",
            "model_error final: Bad words",
        ),
        (
            "data: {\"type\":\"response.failed\",\"response\":{\"error\":{\"code\":\"context_length_exceeded\",\"message\":\"Too long\"}}}\n\n",
            "model_context_too_long final: Too long",
        ),
        (
            "data: {\"type\":\"response.failed\"}\n\n",
            "model_error final: The provider ended its answer with an error and did not say which.",
        ),
        (&many, "model_bad_response final: The server sent more than 1024 output items, which no model answer has."),
    ] {
        let mut reducer = model("{}").reducer();
        reducer.feed(body.as_bytes());
        let error = reducer.finish().unwrap_err();
        assert_eq!((show(&error).as_str(), error.status), (expected, None), "{}", body.get(..80).unwrap_or(body));
    }
}

/// A chat as a model might leave it: any text, any arguments, from here or from elsewhere.
fn arb_history() -> impl Strategy<Value = Vec<HistoryItem>> {
    let kind =
        prop::sample::select(vec!["function_call", "custom_tool_call", "mcp_approval_request", "reasoning", "message"]);
    let arguments = prop_oneof![Just("{}".to_owned()), "[{}\":a1,\\\\u]{0,12}", any::<String>()];
    let item = (kind, ".{0,8}", arguments, any::<bool>());
    let turn = (any::<String>(), prop::collection::vec(item, 0..5), any::<bool>());
    prop::collection::vec(turn, 1..4).prop_map(|turns| {
        let mut history = Vec::new();
        for (place, (text, items, is_own)) in turns.into_iter().enumerate() {
            history.push(user(&text));
            let items: Vec<String> =
                items.iter().map(|(kind, name, input, more)| arb_item(kind, name, input, *more)).collect();
            let mut turn = reduce_items(&model("{}"), &items.iter().map(String::as_str).collect::<Vec<_>>());
            if !is_own {
                turn.extra.binding = "elsewhere".into();
            }
            let item = assistant_at(place, turn);
            let HistoryItem::Assistant { call_ids, .. } = &item else { unreachable!() };
            let results: Vec<HistoryItem> =
                call_ids.iter().map(|id| result(id.as_str(), &text, place % 2 == 0)).collect();
            history.push(item);
            history.extend(results);
        }
        history
    })
}

fn arb_item(kind: &str, name: &str, input: &str, more: bool) -> String {
    let mut fields = vec![("type".to_owned(), Json::from(kind)), ("id".to_owned(), Json::from(name))];
    let mut add = |key: &str, value: Json| fields.push((key.to_owned(), value));
    match kind {
        "message" => add("content", Json::from(input)),
        "reasoning" if more => add("encrypted_content", Json::from(input)),
        "reasoning" => {}
        _ => {
            add("name", Json::from(name));
            add(if kind == "custom_tool_call" { "input" } else { "arguments" }, Json::from(input));
        }
    }
    if more {
        add("call_id", Json::from("call_0"));
    }
    Json::Object(fields).text()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(500))]

    #[test]
    fn any_history_makes_a_valid_request(history in arb_history(), interleave_results in any::<bool>()) {
        let model = model_of("{}", Dialect { interleave_results, ..Dialect::default() });
        let request: serde_json::Value = serde_json::from_str(&body(&model, &BARE, &history, None)).unwrap();
        let calls = history.iter().filter(|item| matches!(item, HistoryItem::Result(_))).count();
        let (mut open, mut seen): (Vec<String>, Vec<String>) = Default::default();
        let mut before = "";
        for item in request["input"].as_array().unwrap() {
            let kind = item["type"].as_str().unwrap();
            let (opens, closes) = match kind {
                "function_call" => (item["call_id"].as_str(), None),
                "mcp_approval_request" => (item["id"].as_str(), None),
                "function_call_output" => (None, item["call_id"].as_str()),
                "mcp_approval_response" => (None, item["approval_request_id"].as_str()),
                _ => (None, None),
            };
            if let Some(id) = opens {
                prop_assert!(open.is_empty() || !interleave_results, "a call stands behind an open one");
                open.push(id.to_owned());
                if kind == "function_call" {
                    prop_assert!(!seen.contains(&id.to_owned()), "{} twice", id);
                    seen.push(id.to_owned());
                    let arguments = item["arguments"].as_str().unwrap();
                    prop_assert!(serde_json::from_str::<serde_json::Value>(arguments).is_ok_and(|value| value.is_object()), "{}", arguments);
                }
            }
            if let Some(id) = closes {
                prop_assert_eq!(open.remove(0), id);
            }
            if kind == "message" && item["role"] == "user" {
                prop_assert!(open.is_empty(), "a call has no result");
                prop_assert!(before != "reasoning", "reasoning leads to nothing");
            }
            before = kind;
        }
        prop_assert!(open.is_empty(), "a call has no result");
        let answers = request["input"].as_array().unwrap().iter().filter(|item| {
            matches!(item["type"].as_str(), Some("function_call_output" | "mcp_approval_response"))
        });
        prop_assert_eq!(answers.count(), calls);
    }

    #[test]
    fn any_bytes_give_a_turn_or_an_error(pieces in prop::collection::vec(prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            &b"data: "[..], b"{\"type\":\"response.output_item.added\",\"output_index\":0,\"item\":", b"{\"type\":\"response.output_item.done\",\"item\":",
            b"{\"type\":\"function_call\",\"name\":\"f\"", b"{\"type\":\"message\",\"content\":\"a\"", b"}}", b"\n\n", b"[DONE]", b"null",
            b"{\"type\":\"response.function_call_arguments.delta\",\"output_index\":0,\"delta\":\"{\"}",
            b"{\"type\":\"response.completed\",\"response\":{\"output\":[", b"]}}", b"{\"error\":", b"[", b"<",
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
