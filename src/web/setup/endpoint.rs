//! Reading which model an agent talks to.

use crate::core::json::Json;
#[cfg(feature = "anthropic")]
use crate::core::wire::anthropic;
#[cfg(feature = "gemini")]
use crate::core::wire::gemini;
#[cfg(feature = "responses")]
use crate::core::wire::openai_responses;
use crate::core::wire::{Wire, openai_chat};
use crate::web::fetch::Endpoint;

/// Reads what `www/src/models.ts` made of a model's options.
pub(super) fn read(model: &Json) -> Result<(Wire, Endpoint), String> {
    let text = |key: &str| model.get(key).and_then(Json::as_str).unwrap_or_default();
    let flag = |key: &str| model.get(key).and_then(Json::as_bool).unwrap_or_default();
    let params = model.get("params").and_then(Json::as_object).unwrap_or_default().to_vec();
    let (name, url) = (text("model"), text("url"));
    let binding = [url, " ", name].concat();
    let wire = match text("api") {
        #[cfg(feature = "responses")]
        "openai-responses" => {
            let dialect = openai_responses::Dialect {
                include_encrypted_reasoning: flag("encryptedReasoning"),
                server_tools: model.get("serverTools").and_then(Json::as_array).unwrap_or_default().to_vec(),
                interleave_results: flag("interleaveResults"),
            };
            Wire::OpenAiResponses(openai_responses::OpenAiResponses::new(name, &binding, params, dialect)?)
        }
        #[cfg(feature = "anthropic")]
        "anthropic" => {
            let dialect = anthropic::Dialect { prompt_caching: flag("promptCaching") };
            Wire::Anthropic(anthropic::Anthropic::new(name, &binding, params, dialect)?)
        }
        #[cfg(feature = "gemini")]
        "gemini" => Wire::Gemini(gemini::Gemini::new(name, &binding, params)?),
        "openai-chat" => {
            let dialect = openai_chat::Dialect {
                include_usage: flag("includeUsage"),
                empty_content: flag("emptyContent"),
                replay_leftovers: flag("replayReasoning"),
                fill_reasoning: flag("fillReasoning"),
                fill_signatures: flag("fillSignatures"),
                nine_character_ids: flag("shortIds"),
                answer_after_results: flag("answerAfterResults"),
                cumulative: flag("cumulative"),
                inline_thinking: flag("inlineThinking"),
            };
            Wire::OpenAiChat(openai_chat::OpenAiChat::new(name, &binding, params, dialect)?)
        }
        api => {
            let advice = "\": await init({ wires: \"all\" }), before any other init()";
            return Err(["model: this wasm module does not speak \"", api, advice].concat());
        }
    };
    Ok((wire, Endpoint { url: url.to_owned(), credentials: text("credentials").to_owned() }))
}
