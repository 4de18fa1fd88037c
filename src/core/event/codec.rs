//! Events as JSON text, one object a line, and back.

use super::{Body, Decision, EndStatus, Event, Facts};
use crate::core::approval::Digest;
use crate::core::json::{self, Json};
use crate::core::message::{
    CallId, ChatId, MessageId, Part, RequestId, ResultItem, RunId, Trust, Turn, TurnCall, TurnEnd, TurnExtra,
};
use crate::core::outcome::{Decider, DenyReason, PersonId, Token, Via};

impl Event {
    /// The event as one line of JSON, without a line break.
    pub fn encode(&self) -> String {
        let kind = self.body.kind();
        let mut fields = vec![
            ("seq".to_owned(), number(self.seq)),
            text("chat", self.chat.as_str()),
            text("run", self.run.as_str()),
            ("at".to_owned(), number(self.at)),
            text("type", kind),
            ("v".to_owned(), number(Body::version(kind))),
        ];
        write_body(&self.body, &mut fields);
        Json::Object(fields).to_string()
    }

    /// Reads one line. The error is one sentence that names the field at fault.
    pub fn decode(line: &str) -> Result<Self, String> {
        let value = json::parse_lenient(line.as_bytes()).map_err(|error| error.to_string())?;
        let read = Reader(&value);
        let kind = read.text("type")?;
        let version = read.number("v")?;
        if version != Body::version(kind) {
            return Err(format!(
                "the event type {kind} is at version {version}, and this build reads version {}",
                Body::version(kind)
            ));
        }
        Ok(Self {
            seq: read.number("seq")?,
            chat: ChatId::new(read.text("chat")?),
            run: RunId::new(read.text("run")?),
            at: read.number("at")?,
            body: read_body(kind, read)?,
        })
    }
}

type Fields = Vec<(String, Json)>;

fn text(key: &str, value: &str) -> (String, Json) {
    (key.to_owned(), Json::String(value.to_owned()))
}

fn optional(key: &str, value: Option<&str>) -> (String, Json) {
    (key.to_owned(), value.map_or(Json::Null, |value| Json::String(value.to_owned())))
}

fn number(value: u64) -> Json {
    Json::Number(value.to_string())
}

fn write_body(body: &Body, fields: &mut Fields) {
    match body {
        Body::RunStarted { message, owner, parts } => {
            fields.push(text("message_id", message.as_str()));
            fields.push(optional("owner", owner.as_ref().map(PersonId::as_str)));
            let parts =
                parts.iter().map(|Part::Text(part)| Json::Object(vec![text("type", "text"), text("text", part)]));
            fields.push(("parts".to_owned(), Json::Array(parts.collect())));
        }
        Body::TurnCompleted { turn } => write_turn(turn, fields),
        Body::TurnFailed { code, message, text: partial } => {
            fields.extend([text("code", code), text("message", message), text("text", partial)]);
        }
        Body::CallAllowed { call, digest } => {
            fields.extend([text("call_id", call.as_str()), text("digest", digest.as_str())]);
        }
        Body::CallAsked { call, request, digest, prompt, expires_at } => fields.extend([
            text("call_id", call.as_str()),
            text("request_id", request.as_str()),
            text("digest", digest.as_str()),
            text("prompt", prompt),
            ("expires_at".to_owned(), expires_at.map_or(Json::Null, number)),
        ]),
        Body::CallDecided { call, decision } => fields.extend([
            text("call_id", call.as_str()),
            text("request_id", decision.request.as_str()),
            ("approved".to_owned(), Json::Bool(decision.approve)),
            text("decided_by", decision.decided_by.token()),
            optional("decider", decision.decider.as_ref().map(PersonId::as_str)),
            text("via", decision.via.token()),
            optional("reason", decision.reason.map(DenyReason::token)),
            optional("note", decision.note.as_deref()),
        ]),
        Body::CallStarted { call, attempt } => {
            fields.extend([text("call_id", call.as_str()), ("attempt".to_owned(), number(u64::from(*attempt)))]);
        }
        Body::CallSettled { name, facts, item } => {
            fields.extend([text("call_id", item.call.as_str()), text("name", name)]);
            if let Some(facts) = facts {
                fields.extend([
                    text("reason_code", facts.token.token()),
                    optional("decided_by", facts.decided_by.map(Decider::token)),
                    optional("reason", facts.reason.map(DenyReason::token)),
                    ("approved".to_owned(), Json::Bool(facts.approved)),
                ]);
            }
            fields.push(("result_item".to_owned(), write_item(item)));
        }
        Body::RunEnded { status, reason } => {
            fields.extend([text("status", status.token()), optional("reason", reason.as_deref())]);
        }
    }
}

fn write_item(item: &ResultItem) -> Json {
    Json::Object(vec![
        text("role", "tool"),
        text("call_id", item.call.as_str()),
        optional("renderer", item.renderer.as_deref()),
        text("text", &item.text),
        ("is_error".to_owned(), Json::Bool(item.is_error)),
        text("trust", item.trust.token()),
    ])
}

fn write_turn(turn: &Turn, fields: &mut Fields) {
    let mut extras = turn.extra.calls.iter();
    let calls = turn.calls.iter().map(|call| {
        Json::Object(vec![
            optional("provider_id", call.provider_id.as_deref()),
            text("name", &call.name),
            text("arguments", &call.arguments),
            ("extra".to_owned(), Json::Object(extras.next().cloned().unwrap_or_default())),
        ])
    });
    fields.extend([
        text("end", turn.end.token()),
        optional("finish_reason", turn.finish_reason.as_deref()),
        text("text", &turn.text),
        text("reasoning", &turn.reasoning),
        text("refusal", &turn.refusal),
        ("calls".to_owned(), Json::Array(calls.collect())),
        ("usage".to_owned(), turn.usage.clone().unwrap_or(Json::Null)),
        ("extra".to_owned(), Json::Object(turn.extra.message.clone())),
    ]);
}

/// Reads the fields of one object; every error names the field.
#[derive(Clone, Copy)]
struct Reader<'a>(&'a Json);

impl<'a> Reader<'a> {
    fn field(self, key: &str) -> Result<&'a Json, String> {
        self.0.get(key).ok_or_else(|| wrong(key))
    }

    fn text(self, key: &str) -> Result<&'a str, String> {
        self.field(key)?.as_str().ok_or_else(|| wrong(key))
    }

    fn optional(self, key: &str) -> Result<Option<&'a str>, String> {
        match self.field(key)? {
            Json::Null => Ok(None),
            value => value.as_str().map(Some).ok_or_else(|| wrong(key)),
        }
    }

    fn number(self, key: &str) -> Result<u64, String> {
        self.field(key)?.as_u64().ok_or_else(|| wrong(key))
    }

    fn boolean(self, key: &str) -> Result<bool, String> {
        self.field(key)?.as_bool().ok_or_else(|| wrong(key))
    }

    fn array(self, key: &str) -> Result<&'a [Json], String> {
        self.field(key)?.as_array().ok_or_else(|| wrong(key))
    }

    fn object(self, key: &str) -> Result<Fields, String> {
        self.field(key)?.as_object().map(<[_]>::to_vec).ok_or_else(|| wrong(key))
    }

    fn token<T>(self, key: &str, from: fn(&str) -> Option<T>) -> Result<T, String> {
        from(self.text(key)?).ok_or_else(|| wrong(key))
    }

    fn optional_token<T>(self, key: &str, from: fn(&str) -> Option<T>) -> Result<Option<T>, String> {
        self.optional(key)?.map(|text| from(text).ok_or_else(|| wrong(key))).transpose()
    }

    fn call(self) -> Result<CallId, String> {
        match self.text("call_id")? {
            "" => Err(wrong("call_id")),
            id => Ok(CallId::new(id)),
        }
    }
}

fn wrong(key: &str) -> String {
    format!("the field {key} is missing or of the wrong kind")
}

fn person(id: Option<&str>) -> Option<PersonId> {
    id.and_then(PersonId::new)
}

fn read_body(kind: &str, read: Reader<'_>) -> Result<Body, String> {
    Ok(match kind {
        "run.started" => Body::RunStarted {
            message: MessageId::new(read.text("message_id")?),
            owner: person(read.optional("owner")?),
            parts: read
                .array("parts")?
                .iter()
                .map(|part| match Reader(part).text("type")? {
                    "text" => Ok(Part::Text(Reader(part).text("text")?.to_owned())),
                    _ => Err(wrong("parts")),
                })
                .collect::<Result<_, String>>()?,
        },
        "turn.completed" => Body::TurnCompleted { turn: read_turn(read)? },
        "turn.failed" => Body::TurnFailed {
            code: read.text("code")?.to_owned(),
            message: read.text("message")?.to_owned(),
            text: read.text("text")?.to_owned(),
        },
        "tool.call.allowed" => {
            Body::CallAllowed { call: read.call()?, digest: Digest::from_stored(read.text("digest")?) }
        }
        "tool.call.asked" => Body::CallAsked {
            call: read.call()?,
            request: RequestId::new(read.text("request_id")?),
            digest: Digest::from_stored(read.text("digest")?),
            prompt: read.text("prompt")?.to_owned(),
            expires_at: match read.field("expires_at")? {
                Json::Null => None,
                at => Some(at.as_u64().ok_or_else(|| wrong("expires_at"))?),
            },
        },
        "tool.call.decided" => Body::CallDecided {
            call: read.call()?,
            decision: Decision {
                request: RequestId::new(read.text("request_id")?),
                approve: read.boolean("approved")?,
                decided_by: read.token("decided_by", Decider::from_token)?,
                decider: person(read.optional("decider")?),
                via: read.token("via", Via::from_token)?,
                reason: read.optional_token("reason", DenyReason::from_token)?,
                note: read.optional("note")?.map(str::to_owned),
            },
        },
        "tool.call.started" => Body::CallStarted {
            call: read.call()?,
            attempt: read.number("attempt")?.try_into().map_err(|_| wrong("attempt"))?,
        },
        "tool.call.completed" => read_settled(read, None)?,
        "tool.call.failed" | "tool.call.denied" | "tool.call.lapsed" | "tool.call.unknown" => {
            let facts = Facts {
                token: read.token("reason_code", Token::from_token)?,
                decided_by: read.optional_token("decided_by", Decider::from_token)?,
                reason: read.optional_token("reason", DenyReason::from_token)?,
                approved: read.boolean("approved")?,
            };
            let body = read_settled(read, Some(facts))?;
            if body.kind() != kind {
                return Err(wrong("reason_code"));
            }
            body
        }
        "run.ended" => Body::RunEnded {
            status: read.token("status", EndStatus::from_token)?,
            reason: read.optional("reason")?.map(str::to_owned),
        },
        _ => return Err(format!("the event type {kind} is not known to this build")),
    })
}

fn read_settled(read: Reader<'_>, facts: Option<Facts>) -> Result<Body, String> {
    let name = read.text("name")?;
    if name.is_empty() {
        return Err(wrong("name"));
    }
    let item = Reader(read.field("result_item")?);
    let item = ResultItem {
        call: item.call()?,
        renderer: item.optional("renderer")?.map(str::to_owned),
        text: item.text("text")?.to_owned(),
        is_error: item.boolean("is_error")?,
        trust: item.token("trust", Trust::from_token)?,
    };
    if item.call != read.call()? {
        return Err(wrong("result_item"));
    }
    Ok(Body::CallSettled { name: name.to_owned(), facts, item })
}

fn read_turn(read: Reader<'_>) -> Result<Turn, String> {
    let mut extra = TurnExtra { message: read.object("extra")?, calls: Vec::new() };
    let mut calls = Vec::new();
    for call in read.array("calls")? {
        let call = Reader(call);
        extra.calls.push(call.object("extra")?);
        calls.push(TurnCall {
            provider_id: call.optional("provider_id")?.map(str::to_owned),
            name: call.text("name")?.to_owned(),
            arguments: call.text("arguments")?.to_owned(),
        });
    }
    Ok(Turn {
        end: read.token("end", TurnEnd::from_token)?,
        finish_reason: read.optional("finish_reason")?.map(str::to_owned),
        text: read.text("text")?.to_owned(),
        reasoning: read.text("reasoning")?.to_owned(),
        refusal: read.text("refusal")?.to_owned(),
        calls,
        usage: match read.field("usage")? {
            Json::Null => None,
            usage => Some(usage.clone()),
        },
        extra,
    })
}
