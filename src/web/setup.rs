//! What an agent was created with: read once, shared by its chats.

mod endpoint;

use super::fetch::Endpoint;
use super::host::Host;
use crate::core::approval::{Annotations, Scope, Tool};
use crate::core::json::{self, Json};
use crate::core::message::ToolSpec;
use crate::core::outcome::PersonId;
use crate::core::policy::ToolEffect;
use crate::core::run::Settings;
use crate::core::wire::Wire;
use crate::core::wording::Renderer;

/// Everything an agent was created with.
pub struct Setup {
    pub(super) user: Option<PersonId>,
    pub(super) instructions: Option<String>,
    pub(super) settings: Settings,
    pub(super) specs: Vec<ToolSpec>,
    pub(super) wire: Wire,
    pub(super) endpoint: Endpoint,
    pub(super) timeouts: Timeouts,
    /// The tools that have a preview.
    pub(super) previewed: Vec<String>,
    /// Whether the host wants to be asked who may decide.
    pub(super) asks_who_may: bool,
    /// Whether the host wants to answer requests itself.
    pub(super) waits_for: bool,
    pub(super) host: Host,
}

/// Time limits in milliseconds; 0 for none.
#[derive(Clone, Copy)]
pub struct Timeouts {
    /// Until the first byte of an answer.
    pub first_byte: u64,
    /// Between two pieces of an answer.
    pub idle: u64,
    /// For a tool.
    pub tool: u64,
}

/// Who that is; an empty id names nobody.
pub fn person(id: Option<String>) -> Option<PersonId> {
    id.as_deref().and_then(PersonId::new)
}

impl Setup {
    /// Reads the JSON that `www/src/options.ts` wrote. Its values are checked there; what is absent here counts as not
    /// given.
    pub fn read(setup: &str, host: Host) -> Result<Self, String> {
        let setup = json::parse_lenient(setup.as_bytes()).map_err(|error| error.to_string())?;
        let text = |key: &str| setup.get(key).and_then(Json::as_str).map(str::to_owned);
        let flag = |key: &str| setup.get(key).and_then(Json::as_bool).unwrap_or_default();
        let number = |key: &str| setup.get(key).and_then(Json::as_u64);
        let texts =
            |key: &str| setup.get(key).and_then(Json::as_array).unwrap_or_default().iter().filter_map(Json::as_str);
        let tools: Vec<Tool> =
            setup.get("tools").and_then(Json::as_array).unwrap_or_default().iter().map(read_tool).collect();
        let read = endpoint::read(setup.get("wire").unwrap_or(&Json::Null));
        let (wire, endpoint) = read.map_err(|wrong| ["options.", &wrong, "."].concat())?;
        let renderer = text("renderer").as_deref().and_then(Renderer::from_token);
        Ok(Self {
            user: person(text("user")),
            instructions: text("instructions"),
            specs: tools.iter().map(spec).collect(),
            settings: Settings {
                tools,
                renderer: renderer.unwrap_or(Renderer::Sentence),
                max_rounds: number("maxRounds").and_then(|rounds| rounds.try_into().ok()).unwrap_or(u32::MAX),
                expire_after: number("expireAfterMs"),
                all_notes: flag("allNotes"),
                second_approver: flag("secondApprover"),
                scopes: texts("scopes").filter_map(Scope::from_token).collect(),
            },
            previewed: texts("previewed").map(str::to_owned).collect(),
            asks_who_may: flag("asksWhoMay"),
            waits_for: flag("waitsFor"),
            wire,
            timeouts: Timeouts {
                first_byte: number("firstByteMs").unwrap_or_default(),
                idle: number("idleMs").unwrap_or_default(),
                tool: number("toolMs").unwrap_or_default(),
            },
            endpoint,
            host,
        })
    }
}

fn read_tool(tool: &Json) -> Tool {
    let flag = |key: &str| tool.get(key).and_then(Json::as_bool).unwrap_or_default();
    let text = |key: &str| tool.get(key).and_then(Json::as_str).map(str::to_owned);
    Tool {
        server: None,
        name: text("name").unwrap_or_default(),
        title: text("title"),
        description: text("description").unwrap_or_default(),
        input_schema: tool.get("inputSchema").cloned().unwrap_or(Json::Null),
        effect: text("effect").as_deref().and_then(ToolEffect::from_token),
        idempotent: flag("idempotent"),
        untrusted: flag("untrusted"),
        annotations: tool.get("annotations").map(|annotations| {
            let hint = |key: &str| annotations.get(key).and_then(Json::as_bool);
            Annotations {
                read_only: hint("readOnlyHint"),
                destructive: hint("destructiveHint"),
                idempotent: hint("idempotentHint"),
                open_world: hint("openWorldHint"),
            }
        }),
        relays: flag("relays"),
    }
}

fn spec(tool: &Tool) -> ToolSpec {
    ToolSpec { name: tool.name.clone(), description: tool.description.clone(), input_schema: tool.input_schema.clone() }
}
