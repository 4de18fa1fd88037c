//! A request and what becomes of it, as JSON members and back.

use super::Reader;
use crate::core::approval::{Aspects, Digest, Preview, Request, RequestKind, Scope};
use crate::core::event::{Decision, Edit, Extension, Settler};
use crate::core::json::{Json, Writer};
use crate::core::message::CallId;
use crate::core::outcome::{Decider, DenyReason, PersonId, Via};

/// A request's members.
pub fn write(request: &Request, line: &mut Writer) {
    line.text("call_id", request.call.as_str());
    line.text("request_id", request.id.as_str());
    line.text("kind", request.kind.token());
    line.text("digest", request.digest.as_str());
    line.text("aspects", request.aspects.as_str());
    line.text("prompt", &request.prompt);
    line.optional("url", request.url.as_deref());
    line.value("data", request.data.as_ref().unwrap_or(&Json::Null));
    write_preview(&request.preview, line);
    write_expiry(request.expires_at, line);
    if request.grantable {
        line.flag("grantable", true);
    }
}

/// A request's members, but for the digest: what must hold of it is known to who reads.
pub fn read(read: Reader<'_>, digest: Digest) -> Request {
    Request {
        id: read.request(),
        kind: RequestKind::of(read.name("kind")),
        call: read.call(),
        digest,
        aspects: Aspects::from_stored(read.text("aspects")),
        prompt: read.text("prompt").to_owned(),
        url: read.owned("url"),
        data: data(read),
        preview: preview(read),
        expires_at: expiry(read),
        // A request of before there was the field says nothing about it.
        grantable: read.has("grantable") && read.flag("grantable"),
    }
}

pub(super) fn write_extension(call: &CallId, extension: &Extension, line: &mut Writer) {
    line.text("call_id", call.as_str());
    line.text("request_id", extension.request.as_str());
    write_expiry(extension.expires_at, line);
    line.optional("decider", extension.decider.as_ref().map(PersonId::as_str));
    line.text("via", extension.via.token());
}

pub(super) fn read_extension(read: Reader<'_>) -> Extension {
    Extension {
        request: read.request(),
        expires_at: expiry(read),
        decider: read.person("decider"),
        via: read.token("via", Via::from_token, Via::Api),
    }
}

/// A decision's members.
pub fn write_decision(decision: &Decision, line: &mut Writer) {
    line.text("request_id", decision.request.as_str());
    line.flag("approved", decision.approve);
    line.optional("decided_by", decision.by.decided_by().map(Decider::token));
    line.optional("decider", decision.by.person().map(PersonId::as_str));
    line.text("settler", decision.by.token());
    line.text("via", decision.via.token());
    line.optional("reason", decision.reason.map(DenyReason::token));
    line.optional("note", decision.note.as_deref());
    line.optional("answer_reason", decision.answer_reason.as_deref());
    line.value("data", decision.data.as_ref().unwrap_or(&Json::Null));
    if let Some((scope, grant)) = &decision.standing {
        line.text("scope", scope.token());
        line.text("grant_id", grant.as_str());
    }
    // That the arguments were changed is told wherever it is told that they were approved; how, only with the content.
    line.flag("edited", decision.edit.is_some());
    match &decision.edit {
        Some(edit) => {
            line.key("edit");
            line.open('{');
            line.text("arguments", &edit.arguments);
            line.text("digest", edit.digest.as_str());
            write_preview(&edit.preview, line);
            line.close('}');
        }
        None => line.optional("edit", None),
    }
    line.flag("relayed", decision.relayed);
}

/// A decision's members.
pub fn read_decision(read: Reader<'_>) -> Decision {
    let by = match read.optional("settler") {
        Some("policy") => Settler::Policy,
        Some("host") => Settler::Host,
        settler => {
            // Before there was the field only persons settled requests.
            if settler.is_some_and(|settler| settler != "person") {
                read.reject("settler");
            }
            let decided_by = read.token("decided_by", Decider::from_token, Decider::Unknown);
            Settler::Person { decided_by, id: read.person("decider") }
        }
    };
    if by.decided_by().is_none() && !read.field("decided_by").is_null() {
        read.reject("decided_by");
    }
    Decision {
        request: read.request(),
        approve: read.flag("approved"),
        by,
        via: read.token("via", Via::from_token, Via::Api),
        reason: read.optional_token("reason", DenyReason::from_token),
        note: read.owned("note"),
        answer_reason: read.owned("answer_reason"),
        data: data(read),
        standing: read.grant().map(|grant| (read.token("scope", Scope::from_token, Scope::Chat), grant)),
        edit: edit(read),
        // Null in what version 3 wrote, which is from before tools were told.
        relayed: !read.field("relayed").is_null() && read.flag("relayed"),
    }
}

/// What was approved in place of the model's arguments; all of it empty where the content is gone.
fn edit(read: Reader<'_>) -> Option<Box<Edit>> {
    // Null in what version 2 wrote, which is from before arguments could be changed.
    let is_edited = !read.field("edited").is_null() && read.flag("edited");
    let edit = read.field("edit");
    if is_edited == edit.is_null() {
        read.reject("edit");
    }
    let edit = read.object(edit);
    is_edited.then(|| {
        Box::new(Edit {
            arguments: edit.text("arguments").to_owned(),
            digest: Digest::from_stored(edit.text("digest")),
            preview: preview(edit),
        })
    })
}

fn write_preview(preview: &Preview, line: &mut Writer) {
    line.strings("preview", &preview.lines);
    if let Some(current) = &preview.current {
        line.value("current", current);
    }
}

fn preview(read: Reader<'_>) -> Preview {
    Preview {
        lines: read.strings("preview"),
        // Only where a tool said so, and never before there was the field.
        current: read.has("current").then(|| read.field("current")).filter(|current| !current.is_null()).cloned(),
    }
}

fn write_expiry(expires_at: Option<u64>, line: &mut Writer) {
    match expires_at {
        Some(at) => line.number("expires_at", at),
        None => line.optional("expires_at", None),
    }
}

fn expiry(read: Reader<'_>) -> Option<u64> {
    (!read.field("expires_at").is_null()).then(|| read.number("expires_at"))
}

fn data(read: Reader<'_>) -> Option<Json> {
    Some(read.field("data")).filter(|data| !data.is_null()).cloned()
}
