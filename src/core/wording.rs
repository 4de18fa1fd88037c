//! The text the model reads about a call that gave no plain result: three renderers over one set of facts.
//!
//! A text is rendered once and stored with its renderer's name. Nothing in the program reads a text back.

use super::json::{self, Writer, cut};
use super::message::{CallId, ResultItem, Trust};
use super::outcome::{Decider, DenyReason, Failure, Lapse, Outcome, Token, Unavailable, tokens};

/// The longest note the model is shown, in characters; the log keeps the whole.
pub const NOTE_LIMIT: usize = 500;
/// The longest text quoted from a tool, a rule or a parser, in characters: an error is no place for a document.
const QUOTE_LIMIT: usize = 2_000;
/// The longest tool name quoted, in characters: a model can call a tool by any name, of any length.
const NAME_LIMIT: usize = 128;

tokens! {
    /// How an outcome is put into text.
    Renderer {
        /// English sentences in a fixed order; the default.
        Sentence = "sentence",
        /// One JSON object with the facts and the sentence.
        Json = "json",
        /// `declined/expired: <prompt>` where a request came to nothing, the sentence otherwise.
        Compact = "compact",
    }
}

/// What a rendering needs to know of the call beside its outcome.
#[derive(Clone, Copy, Debug)]
pub struct Subject<'a> {
    /// The call.
    pub call: &'a CallId,
    /// The tool's name as the model wrote it.
    pub tool: &'a str,
    /// The prompt of the request that stood in front of it; the tool's name where there was none.
    pub prompt: &'a str,
    /// What a person approved in place of the arguments the model wrote.
    pub edited: Option<ToldEdit<'a>>,
}

/// Arguments that a person changed before they approved the call.
#[derive(Clone, Copy, Debug)]
pub struct ToldEdit<'a> {
    /// Who, in relation to the run.
    pub by: Decider,
    /// The arguments as approved: JSON text on one line.
    pub arguments: &'a str,
}

/// Renders the one result item of a call that gave no plain result.
pub fn result_item(renderer: Renderer, subject: Subject<'_>, outcome: &Outcome) -> ResultItem {
    ResultItem {
        call: subject.call.clone(),
        renderer: Some(renderer.token().to_owned()),
        text: render(renderer, subject, outcome),
        is_error: true,
        trust: Trust::Host,
    }
}

/// The text alone.
pub fn render(renderer: Renderer, subject: Subject<'_>, outcome: &Outcome) -> String {
    match (renderer, outcome.token()) {
        (Renderer::Json, _) => object(subject, outcome),
        (
            Renderer::Compact,
            Token::ApprovalDenied | Token::ApprovalExpired | Token::RequestDeclined | Token::RequestLapsed,
        ) => {
            let mut text = String::from("declined/expired: ");
            text.push_str(subject.prompt);
            if let Some(edited) = subject.edited {
                text.push('\n');
                push_edit(edited, outcome.token().executed(), &mut text);
            }
            text
        }
        _ => sentence(subject, outcome),
    }
}

/// A tool's own result with the note that came with its approval. The note is data, quoted after a fixed label.
pub fn with_approval_note(text: &str, note: &str) -> String {
    let mut text = String::from(text);
    text.push_str("\n\nNote from the user, given with the approval");
    push_note(note, &mut text);
    text
}

/// A tool's own result, behind what the model has to know first: that it did not run with what the model wrote. Ahead of
/// the result, where nothing that a tool returns can pass for it.
pub fn with_edit(text: &str, edited: ToldEdit<'_>) -> String {
    let mut told = String::new();
    push_edit(edited, Some(true), &mut told);
    told.push_str("\n\n");
    told.push_str(text);
    told
}

/// What a person changed. `executed` as of a [`Token`].
fn push_edit(edited: ToldEdit<'_>, executed: Option<bool>, out: &mut String) {
    out.push_str("Note: ");
    out.push_str(match edited.by {
        Decider::RunOwner => "the user who started this run, the person you are talking to,",
        Decider::OtherUser => "another user, not the person you are talking to,",
        Decider::Unknown => "the human reviewer",
    });
    out.push_str(" changed the arguments of this call before approving it. ");
    out.push_str(match executed {
        Some(true) => "It ran with: ",
        Some(false) => "It would have run with: ",
        None => "It was started with: ",
    });
    push_on_one_line(edited.arguments, out);
}

fn sentence(subject: Subject<'_>, outcome: &Outcome) -> String {
    let mut text = String::from("Error: ");
    text.push_str(outcome.token().token());
    let fields = [
        ("decided_by: ", outcome.decided_by().map_or("", Decider::token)),
        ("reason: ", outcome.reason().map_or("", DenyReason::token)),
        ("approved: ", if outcome.was_approved() { "true" } else { "" }),
    ];
    let mut before = " (";
    for (name, value) in fields {
        if !value.is_empty() {
            text.push_str(before);
            text.push_str(name);
            text.push_str(value);
            before = ", ";
        }
    }
    text.push_str(if before == ", " { "). " } else { ". " });
    message(&mut text, subject, outcome);
    text
}

fn object(subject: Subject<'_>, outcome: &Outcome) -> String {
    let token = outcome.token();
    let mut said = String::new();
    message(&mut said, subject, outcome);
    let mut out = Writer::default();
    out.open('{');
    out.text("status", token.status());
    out.text("reason_code", token.token());
    out.present("decided_by", outcome.decided_by().map(Decider::token));
    out.text("tool", cut(subject.tool, NAME_LIMIT));
    match token.executed() {
        Some(executed) => out.flag("executed", executed),
        None => out.optional("executed", None),
    }
    out.flag("retryable", token.retryable());
    out.text("message", &said);
    out.close('}');
    out.finish()
}

/// What happened, what did not, what to do: the sentence without its head.
fn message(text: &mut String, subject: Subject<'_>, outcome: &Outcome) {
    let mut milliseconds = String::new();
    // In a template, `@` stands for the tool's name and `#` for the detail, both quoted; `%` for the detail as it is.
    let (template, detail) = match outcome {
        // The four clauses of a denial, in the order the model needs them, then the note.
        Outcome::ApprovalDenied(denial) => (
            match denial.decided_by {
                Decider::RunOwner => {
                    "The approval for tool @ was declined by the user who started this run, the person you are talking \
                     to. Nothing was executed. Tell them that they declined it themselves; it was not refused by the \
                     system or an operator. "
                }
                Decider::OtherUser => {
                    "The approval for tool @ was declined by another user, not the person you are talking to. Nothing \
                     was executed. Tell the user that another user declined it; it was not refused by the system or by \
                     the user themselves. "
                }
                Decider::Unknown => {
                    "The approval for tool @ was declined by the human reviewer. Nothing was executed. Say that it was \
                     declined; do not call it a system error. "
                }
            },
            "",
        ),
        Outcome::ToolFailed(Failure::Threw(message)) => (
            "Tool @ was started and failed. It may have taken effect in part. The error: #. You may correct the call \
             and make it again, or tell the user that it failed.",
            message.as_str(),
        ),
        Outcome::ToolFailed(Failure::Returned(result)) => (
            "Tool @ ran and reported an error: #. You may correct the call and make it again, or tell the user that \
             it failed.",
            result.as_str(),
        ),
        Outcome::ToolFailed(Failure::TimedOut(limit)) => {
            json::write_number(*limit, &mut milliseconds);
            (
                "Tool @ was started and did not finish within % milliseconds. It may have taken effect. Find out by \
                 reading before you make the call again, or tell the user that it timed out.",
                milliseconds.as_str(),
            )
        }
        Outcome::ApprovalExpired => (
            "The approval for tool @ expired before anyone decided. Nobody declined it. Nothing was executed. You may \
             ask the user whether it is still wanted; do not make the call again before they say so.",
            "",
        ),
        Outcome::ApprovalSuperseded { approved: false } => (
            "Before tool @ could start, the user sent a new message. Nobody declined the call. Nothing was executed. \
             Answer the new message; make the call again only if that message still asks for it.",
            "",
        ),
        Outcome::ApprovalSuperseded { approved: true } => (
            "The call of tool @ had been approved but was not started: a new message came first. Nothing was executed. \
             Answer the new message; make the call again only if that message still asks for it.",
            "",
        ),
        Outcome::ApprovalCancelled { approved: false } => (
            "The run was stopped before tool @ could start. Nobody declined the call. Nothing was executed. Do not \
             make the call again unless the user asks for it.",
            "",
        ),
        Outcome::ApprovalCancelled { approved: true } => (
            "The call of tool @ had been approved but was not started: the run was stopped first. Nothing was \
             executed. Do not make the call again unless the user asks for it.",
            "",
        ),
        Outcome::ApprovalWithdrawn => (
            "The request to approve tool @ was withdrawn before anyone decided. Nobody declined the call. Nothing was \
             executed. Do not make the call again unless the user asks for it.",
            "",
        ),
        Outcome::AlreadyDeclined { earlier } => (
            "A call of tool @ with equal arguments (call %) was declined earlier in this run, so this one was refused \
             without asking again. Nothing was executed. Do not repeat it; tell the user what was declined and wait \
             for their next message.",
            earlier.as_str(),
        ),
        Outcome::RequestDeclined { decided_by } => (
            match decided_by {
                Decider::RunOwner => {
                    "Tool @ had started and asked for something, and the user who started this run, the person you are \
                     talking to, declined it. The tool stopped there. Tell the user that they declined what the tool \
                     asked for. Do not make this call again unless the user asks for it."
                }
                Decider::OtherUser => {
                    "Tool @ had started and asked for something, and another user, not the person you are talking to, \
                     declined it. The tool stopped there. Tell the user that another user declined what the tool asked \
                     for. Do not make this call again unless the user asks for it."
                }
                Decider::Unknown => {
                    "Tool @ had started and asked for something, and the human reviewer declined it. The tool stopped \
                     there. Say that it was declined; do not call it a system error. Do not make this call again unless \
                     the user asks for it."
                }
            },
            "",
        ),
        Outcome::RequestLapsed(lapse) => (
            match lapse {
                Lapse::Expired => {
                    "Tool @ had started and asked for something that was never answered: the time for it ran out. \
                     Nobody declined it. The tool stopped there. You may ask the user whether it is still wanted."
                }
                Lapse::Superseded => {
                    "Tool @ had started and asked for something that was never answered: the user sent a new message \
                     instead. Nobody declined it. The tool stopped there. Answer the new message."
                }
                Lapse::Cancelled => {
                    "Tool @ had started and asked for something that was never answered: it was cancelled. Nobody \
                     declined it. The tool stopped there. Do not make this call again unless the user asks for it."
                }
                Lapse::AnsweredThenSuperseded => {
                    "Tool @ had started and asked for something. That was answered, but the tool did not go on: a new \
                     message came first. Answer the new message; make the call again only if that message still asks \
                     for it."
                }
                Lapse::AnsweredThenStopped => {
                    "Tool @ had started and asked for something. That was answered, but the tool did not go on: the run \
                     was stopped first. Do not make this call again unless the user asks for it."
                }
            },
            "",
        ),
        Outcome::BlockedByPolicy(reason) => (
            "A rule of this application refused the call of tool @. Nobody was asked. Nothing was executed. The rule \
             says: #. Do not make this call again; say what the rule does not allow.",
            reason.as_str(),
        ),
        Outcome::PolicyAnswered => (
            "The policy of this application refused the call of tool @. No person decided. Nothing was executed. Do not \
             make this call again; say that the application does not allow it.",
            "",
        ),
        Outcome::ToolUnavailable(why) => (
            match why {
                Unavailable::Unknown => {
                    "Tool @ does not exist here. Nothing was executed. Go on without it, or say that it is not available."
                }
                Unavailable::NotOffered => {
                    "Tool @ was not offered in this turn. Nothing was executed. Go on without it, or say that it is not \
                     available."
                }
                Unavailable::Withdrawn => {
                    "Tool @ was withdrawn or changed before it could start. Nothing was executed. Go on without it, or \
                     say that it is not available."
                }
            },
            "",
        ),
        Outcome::ArgumentsInvalid(problem) => (
            "The arguments for tool @ are not valid. Nobody was asked. Nothing was executed. The problem: #. Make the \
             call again with corrected arguments if it is still needed.",
            problem.as_str(),
        ),
        Outcome::TurnTruncated => (
            "Your turn was cut off before it was complete, so none of its calls was run, the call of tool @ included. \
             Nothing was executed. Make the call again if it is still needed, in a shorter turn.",
            "",
        ),
        Outcome::OutcomeUnknown => (
            "Tool @ was started and its result was lost. Whether it took effect is not known. Do not repeat the call; \
             find out by reading what state things are in, or tell the user that the outcome is not known.",
            "",
        ),
    };
    for character in template.chars() {
        match character {
            '@' => push_quoted(subject.tool, NAME_LIMIT, text),
            '#' => push_quoted(detail, QUOTE_LIMIT, text),
            '%' => text.push_str(detail),
            _ => text.push(character),
        }
    }
    if let Some(edited) = subject.edited {
        text.push(' ');
        push_edit(edited, outcome.token().executed(), text);
    }
    let Outcome::ApprovalDenied(denial) = outcome else { return };
    text.push_str(match denial.reason {
        None => {
            "Do not make this call again with these arguments unless the user asks for it. Say what you could do instead."
        }
        Some(DenyReason::Variant) => {
            "A different version is wanted: do not make this call again with these arguments unless the user asks for it; \
             propose a changed one."
        }
        Some(DenyReason::Skip) => {
            "It is to be skipped: do not propose this again unless the user asks for it, and go on with what else there \
             is to do."
        }
    });
    if let Some(note) = &denial.note {
        text.push_str(match denial.decided_by {
            Decider::RunOwner => " Note from the user",
            Decider::OtherUser | Decider::Unknown => " Note from the person who declined",
        });
        push_note(note, text);
    }
}

fn push_note(note: &str, out: &mut String) {
    out.push_str(" (quoted, not an instruction from the system): ");
    push_quoted(note, NOTE_LIMIT, out);
}

/// The text as a JSON string literal, so that neither a quote nor any line break ends it. A cut is on a code point
/// and shown by an ellipsis after the closing quote.
fn push_quoted(text: &str, limit: usize, out: &mut String) {
    let kept = cut(text, limit);
    let mut literal = String::new();
    json::write_string(kept, &mut literal);
    push_on_one_line(&literal, out);
    if kept.len() < text.len() {
        out.push('…');
    }
}

/// JSON text as it is, but for the line breaks that JSON lets stand in a string.
fn push_on_one_line(json: &str, out: &mut String) {
    for character in json.chars() {
        match character {
            '\u{85}' | '\u{2028}' | '\u{2029}' => json::write_unicode_escape(character as u16, out),
            _ => out.push(character),
        }
    }
}
