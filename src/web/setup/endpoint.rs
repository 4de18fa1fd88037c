//! Reading which model an agent talks to.

use crate::core::json::Json;
use crate::core::wire::Wire;
use crate::core::wire::anthropic::{self, Anthropic};
use crate::core::wire::gemini::Gemini;
use crate::core::wire::openai_chat::{self, OpenAiChat};
use crate::core::wire::openai_responses::{self, OpenAiResponses};
use crate::web::fetch::Endpoint;

/// Reads what `www/src/models.ts` made of a model's options.
pub(super) fn read(model: &Json) -> Result<(Wire, Endpoint), String> {
    let text = |key: &str| model.get(key).and_then(Json::as_str).unwrap_or_default();
    let flag = |key: &str| model.get(key).and_then(Json::as_bool).unwrap_or_default();
    let params = model.get("params").and_then(Json::as_object).unwrap_or_default().to_vec();
    let (name, url) = (text("model"), text("url"));
    let binding = [url, " ", name].concat();
    let wire = match text("api") {
        "openai-responses" => {
            let dialect = openai_responses::Dialect {
                include_encrypted_reasoning: flag("encryptedReasoning"),
                server_tools: model.get("serverTools").and_then(Json::as_array).unwrap_or_default().to_vec(),
                interleave_results: flag("interleaveResults"),
            };
            Wire::OpenAiResponses(OpenAiResponses::new(name, &binding, params, dialect)?)
        }
        "anthropic" => {
            let dialect = anthropic::Dialect { prompt_caching: flag("promptCaching") };
            Wire::Anthropic(Anthropic::new(name, &binding, params, dialect)?)
        }
        "gemini" => Wire::Gemini(Gemini::new(name, &binding, params)?),
        _ => {
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
            Wire::OpenAiChat(OpenAiChat::new(name, &binding, params, dialect)?)
        }
    };
    Ok((wire, Endpoint { url: url.to_owned(), credentials: text("credentials").to_owned() }))
}
