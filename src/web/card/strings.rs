//! What the card says, in English. Text about a call comes with the card's data.

/// Stands before the tool's exact name.
pub const TOOL: &str = "Tool";
/// Stands before the label of the server that would run a tool.
pub const SERVER: &str = "on server";
/// Stands in place of arguments.
pub const NO_ARGUMENTS: &str = "No arguments.";
/// Stands for a string of no characters.
pub const EMPTY_TEXT: &str = "empty text";
/// Stands for an argument whose name has no characters.
pub const EMPTY_NAME: &str = "empty name";
/// Label of the note field.
pub const NOTE: &str = "Note (optional)";
/// Label of the note field where the note stays in the log.
pub const NOTE_NOT_SHOWN: &str = "Note (optional, not shown to the assistant)";
/// The button that declines.
pub const DENY: &str = "Deny";
/// The button that approves.
pub const APPROVE: &str = "Approve";
/// The button that answers with the values of a form.
pub const SEND: &str = "Send";
/// The button that does not give what a tool asks for.
pub const DECLINE: &str = "Decline";
/// The button that says that what was to be done elsewhere is done.
pub const FINISHED: &str = "Done";
/// The link to where that is done.
pub const OPEN: &str = "Open in a new tab";
/// Stands where this page has no field for what is asked.
pub const NO_FIELDS: &str = "This application answers such a request itself.";
/// The button that takes a receipt out of sight.
pub const DISMISS: &str = "Dismiss";
/// The button that leaves a call whose result was lost as done.
pub const DONE: &str = "Mark as done";
/// The button that runs it again.
pub const AGAIN: &str = "Run again";
/// The button that ends the run.
pub const STOP: &str = "Stop";
/// What the lines are that the tool says about a call.
pub const PREVIEW: &str = "What it would do";
/// Stands before the first digits of the digest that a decision covers.
pub const DIGEST: &str = "SHA-256";

/// What assistive technology announces when cards arrive.
pub fn waiting(titles: &[&str], only_approvals: bool) -> String {
    let mut said = titles.len().to_string();
    said.push_str(if only_approvals { " approval" } else { " request" });
    said.push_str(if titles.len() == 1 { " waiting: " } else { "s waiting: " });
    for (place, title) in titles.iter().enumerate() {
        if place > 0 {
            said.push_str(", ");
        }
        said.push_str(title);
    }
    said
}
