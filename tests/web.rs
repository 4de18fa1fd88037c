//! The shell in a browser, driven through its raw exports with a page's functions around it.
#![cfg(target_arch = "wasm32")]
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::indexing_slicing)]

use countersign::core::json::{Json, parse_lenient};
use countersign::web::{Host, RawAgent};
use wasm_bindgen::prelude::*;
use wasm_bindgen_test::{wasm_bindgen_test, wasm_bindgen_test_configure};

wasm_bindgen_test_configure!(run_in_browser);

#[wasm_bindgen(inline_js = r#"
const encoder = new TextEncoder();

function sse(...deltas) {
    return deltas.map((delta) => `data: ${JSON.stringify({ choices: [{ index: 0, delta }] })}\n\n`).join("") + "data: [DONE]\n\n";
}

const call = (name, args) => sse({ tool_calls: [{ index: 0, id: "call_0", function: { name, arguments: args } }] });

/** The functions of a page whose model calls `eat` once, then answers. `failAt`: the write that is refused. */
export function page(failAt) {
    const seen = { bodies: [], runs: 0, lines: [] };
    return {
        seen,
        judge: () => [],
        run: async () => { seen.runs += 1; return "eaten"; },
        headers: async () => ({ "content-type": "application/json" }),
        sleep: async () => {},
        within: (work) => work,
        load: async (chat, from) => seen.lines.slice(from),
        lease: async () => ({ release() {} }),
        held: async () => false,
        keeps: false,
        append: async (chat, seq, lines, head) => {
            if (seq >= failAt) throw new Error("the disk is full");
            if (seen.lines.length !== seq) throw new Error("not the end");
            seen.head = JSON.parse(head);
            seen.lines.push(...lines);
        },
        fetch: async (url, init) => {
            seen.bodies.push(await init.body.text());
            const text = seen.bodies.length === 1 ? call("eat", '{"count":3}') : sse({ content: "So be " }, { content: "it." });
            // One byte a chunk: the reducer must not care.
            const bytes = encoder.encode(text);
            let at = 0;
            return new Response(new ReadableStream({
                pull(controller) {
                    if (at < bytes.length) controller.enqueue(bytes.slice(at, ++at));
                    else controller.close();
                },
            }));
        },
    };
}

/** Sends, decides, and tells what there was to see. */
export async function drive(agent, host, approve) {
    const chat = await agent.open("c");
    let draws = 0;
    const key = chat.subscribe(() => { draws += 1; });
    const told = { rejected: null };
    try {
        told.sent = await chat.send('{"parts":[{"type":"text","text":"Empty the jar."}]}', false, undefined, undefined);
        const [request] = chat.requests();
        told.view = request.view;
        told.decided = await chat.decide(request.id, approve, "ada", undefined, undefined);
        told.again = await chat.decide(request.id, approve, "ada", undefined, undefined);
        try { chat.decide(request.id, !approve, "ada", undefined, undefined); } catch (error) { told.conflict = error.code; }
        told.end = await chat.settle(chat.runId());
    } catch (error) {
        told.rejected = { code: error.code, message: error.message };
    }
    chat.unsubscribe(key);
    told.messages = Array.from({ length: chat.messageCount() }, (_, place) => chat.message(place));
    return JSON.stringify({ ...told, ...host.seen, draws });
}
"#)]
extern "C" {
    fn page(fail_at: f64) -> Host;
    async fn drive(agent: JsValue, host: &Host, approve: bool) -> JsValue;
}

const SETUP: &str = r#"{
    "user": "ada", "instructions": "Look after the jar.", "renderer": "sentence",
    "wire": {"api": "openai-chat", "url": "https://model.example/chat/completions", "credentials": "same-origin",
        "model": "m", "params": {"temperature": 0}, "includeUsage": true},
    "maxRounds": 20, "expireAfterMs": null, "allNotes": false,
    "tools": [{"name": "eat", "description": "", "inputSchema": {"type": "object"}, "effect": "write"}]
}"#;

async fn scenario(fail_at: f64, approve: bool) -> Json {
    let host = page(fail_at);
    let agent = RawAgent::new(SETUP, host.clone().unchecked_into()).unwrap();
    let told = drive(agent.into(), &host, approve).await;
    parse_lenient(told.as_string().unwrap().as_bytes()).unwrap()
}

fn text<'a>(value: &'a Json, path: &[&str]) -> &'a str {
    path.iter().try_fold(value, |value, key| value.get(key)).and_then(Json::as_str).unwrap_or_default()
}

#[wasm_bindgen_test]
async fn a_denied_call_does_not_run_and_the_model_is_told_who_declined() {
    let told = scenario(f64::INFINITY, false).await;
    assert_eq!(told.get("rejected"), Some(&Json::Null), "{told}");
    assert_eq!(text(&told, &["sent", "status"]), "pending");
    assert_eq!((text(&told, &["decided"]), text(&told, &["again"])), ("applied", "already"));
    assert_eq!(text(&told, &["conflict"]), "conflict");
    assert_eq!(told.get("runs").and_then(Json::as_u64), Some(0));
    assert_eq!((text(&told, &["end", "status"]), text(&told, &["end", "text"])), ("done", "So be it."));
    let bodies = told.get("bodies").and_then(Json::as_array).unwrap();
    assert_eq!(bodies.len(), 2);
    let body = parse_lenient(bodies[1].as_str().unwrap().as_bytes()).unwrap();
    let messages = body.get("messages").and_then(Json::as_array).unwrap();
    let roles: Vec<_> = messages.iter().map(|message| text(message, &["role"])).collect();
    assert_eq!(roles, ["system", "user", "assistant", "tool"]);
    let head = "Error: approval_denied (decided_by: run_owner). The approval for tool \"eat\" was declined by the user who \
                started this run, the person you are talking to. Nothing was executed. ";
    assert!(text(&messages[3], &["content"]).starts_with(head), "{body}");
}

#[wasm_bindgen_test]
async fn an_approved_call_runs_once() {
    let told = scenario(f64::INFINITY, true).await;
    assert_eq!(told.get("runs").and_then(Json::as_u64), Some(1), "{told}");
    let bodies = told.get("bodies").and_then(Json::as_array).unwrap();
    assert!(bodies[1].as_str().unwrap().contains("\"content\":\"eaten\""));
    assert!(told.get("draws").and_then(Json::as_u64).unwrap() > 0);
}

#[wasm_bindgen_test]
async fn if_a_write_fails_nothing_runs() {
    // Each write of an approved run in turn: the last event is the end of the run.
    let whole = scenario(f64::INFINITY, true).await;
    let events = whole.get("lines").and_then(Json::as_array).unwrap().len();
    for fail_at in 0..events {
        #[allow(clippy::cast_precision_loss)]
        let told = scenario(fail_at as f64, true).await;
        let lines = told.get("lines").and_then(Json::as_array).unwrap();
        let started = lines.iter().any(|line| line.as_str().unwrap().contains("tool.call.started"));
        assert_eq!(told.get("runs").and_then(Json::as_u64), Some(u64::from(started)), "write {fail_at}: {told}");
        // The page shows what is stored: no decision, result or answer that was not written.
        let shown = told.get("messages").map(Json::to_string).unwrap_or_default();
        let stored = |kind: &str| lines.iter().any(|line| line.as_str().unwrap().contains(kind));
        assert_eq!(shown.contains("\"decision\""), stored("tool.call.decided"), "write {fail_at}: {told}");
        assert_eq!(shown.contains("\"result\""), stored("tool.call.completed"), "write {fail_at}: {told}");
        if lines.len() < events - 1 {
            assert_eq!(text(&told, &["rejected", "code"]), "storage", "write {fail_at}: {told}");
        }
    }
}

#[wasm_bindgen_test]
fn settings_that_cannot_be_read_are_an_error_with_a_code() {
    let host = page(0.0);
    let params = SETUP.replace("\"temperature\": 0", "\"messages\": []");
    let error = RawAgent::new(&params, host).err().unwrap();
    let code = js_sys::Reflect::get(&error, &"code".into()).unwrap();
    assert_eq!(code.as_string().as_deref(), Some("invalid_options"));
}
