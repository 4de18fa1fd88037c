//! A chat driven by hand: the driver's part played by a test, with time and ids as plain numbers.
#![allow(dead_code)]

use countersign::core::approval::{AskSpec, Preview, RequestKind, Scope, Tool};
use countersign::core::chain;
use countersign::core::event::{Body, Event, Extension};
use countersign::core::grant::{self, Book, Chosen, Terms};
use countersign::core::json;
use countersign::core::json::parse_lenient;
use countersign::core::log::{Chat, check_pairing};
use countersign::core::message::{
    CallId, CallKind, ChatId, GrantId, MessageId, ModelError, ModelErrorClass, Part, RequestId, Turn, TurnCall,
    TurnEnd, TurnExtra,
};
use countersign::core::outcome::{Decider, DenyReason, Failure, PersonId, Via};
use countersign::core::policy::{Opinion, ToolEffect};
use countersign::core::run::{
    Answerer, Candidate, Edited, Effect, Handled, Input, Permit, Run, RunError, Settings, Status,
};
use countersign::core::wording::Renderer;
use countersign::core::{card, snapshot};

pub fn settings() -> Settings {
    let tool = |name: &str, effect| Tool {
        server: None,
        name: name.to_owned(),
        title: None,
        description: String::new(),
        input_schema: json::parse_strict(r#"{"type":"object"}"#).unwrap(),
        effect,
        idempotent: false,
        untrusted: false,
        annotations: None,
        relays: false,
    };
    Settings {
        tools: vec![
            tool("look", Some(ToolEffect::Read)),
            tool("read", Some(ToolEffect::Read)),
            tool("eat", Some(ToolEffect::Write)),
            tool("odd", None),
        ],
        renderer: Renderer::Sentence,
        max_rounds: 20,
        expire_after: None,
        all_notes: false,
        second_approver: false,
        scopes: Scope::ALL.to_vec(),
    }
}

/// What the host says of a call: with `free` in its arguments it is allowed, with `never` refused, with `misfit` they break
/// the schema; with `careful` it is
/// asked about, and with `ask` too, but for standing permissions.
pub fn rules(candidate: &Candidate) -> Vec<Opinion> {
    let mut opinions = Vec::new();
    if candidate.arguments.contains("misfit") {
        opinions.push(Opinion::Invalid("misfit is not known".to_owned()));
    }
    if candidate.arguments.contains("free") {
        opinions.push(Opinion::Allow);
    }
    for (word, grantable) in [("careful", false), ("ask", true)] {
        if candidate.arguments.contains(word) {
            opinions.push(Opinion::Ask { reason: "Careful.".to_owned(), grantable });
        }
    }
    if candidate.arguments.contains("never") {
        opinions.push(Opinion::Refuse("Never.".to_owned()));
    }
    opinions
}

const READ: Option<ToolEffect> = Some(ToolEffect::Read);

pub struct Sim {
    pub run: Run,
    pub now: u64,
    /// The stored log.
    pub lines: Vec<String>,
    /// One line for each event and effect, in order.
    pub trace: Vec<String>,
    /// The model request that waits for a turn.
    pub model: Option<u64>,
    pub closing: bool,
    /// Calls handed to tools that have not come back.
    pub permits: Vec<Permit>,
    /// What the preview says now, if a decision is to compare it.
    pub preview: Option<Preview>,
    /// What it said of other arguments when they were shown.
    pub shown: Option<Preview>,
    next_id: u32,
    /// The log of standing permissions.
    pub grants: Vec<String>,
    /// Whether it cannot be read.
    pub grants_fail: bool,
}

impl Sim {
    pub fn new(settings: Settings) -> Self {
        Self {
            run: Run::new(Chat::new(ChatId::new("c")), settings),
            now: 1_000,
            lines: Vec::new(),
            trace: Vec::new(),
            model: None,
            closing: false,
            permits: Vec::new(),
            preview: None,
            shown: None,
            next_id: 0,
            grants: Vec::new(),
            grants_fail: false,
        }
    }

    /// A page that opens what is stored, right after it was.
    pub fn open(settings: Settings, lines: &[String]) -> Self {
        let now = lines.last().map_or(1_000, |line| Event::decode(line).unwrap().at);
        let mut sim = Self { lines: lines.to_vec(), now, next_id: 1_000, ..Self::new(settings) };
        sim.run = Run::new(sim.replayed(), sim.run.settings().clone());
        sim
    }

    pub fn handle(&mut self, input: Input) -> Result<Handled, RunError> {
        let handled = self.run.handle(input)?;
        while let Some(effect) = self.run.poll() {
            self.carry_out(effect);
        }
        Ok(handled)
    }

    fn carry_out(&mut self, effect: Effect) {
        match effect {
            Effect::Persist(events) => {
                for event in events {
                    assert_eq!(event.seq, self.lines.len() as u64, "events are stored in order, without gaps");
                    self.trace.push(describe(&event));
                    let line = event.encode();
                    assert_eq!(Event::decode(&line).as_ref(), Ok(&event), "an event reads back as it was written");
                    self.lines.push(line);
                }
            }
            Effect::CallModel { ticket, closing } => {
                check_pairing(self.run.chat().history()).unwrap();
                self.trace.push(if closing { "→ model (closing)".to_owned() } else { "→ model".to_owned() });
                self.model = Some(ticket);
                self.closing = closing;
            }
            Effect::Judge(candidates) => {
                let opinions: Vec<_> = candidates.iter().map(rules).collect();
                let requests = candidates.iter().map(|_| self.fresh()).collect();
                let previews = candidates.iter().map(|_| Preview::default()).collect();
                let grants = if self.run.wants_grants(&opinions) { self.book() } else { None };
                self.run.handle(Input::Judged { at: self.now, opinions, previews, requests, grants }).unwrap();
            }
            Effect::KeepGrant(grant) => {
                self.trace.push(format!("→ keep {} {} {}", grant.id, grant.scope.token(), grant.tool));
                self.enter(grant::Entry::Given(grant));
            }
            Effect::CheckGrant(call) => {
                self.trace.push(format!("→ check {call}"));
                let (request, grants) = (Some(self.fresh()), self.book());
                self.run
                    .handle(Input::GrantChecked { at: self.now, call, grants, preview: Preview::default(), request })
                    .unwrap();
            }
            Effect::Ask(request) => self.trace.push(format!("→ ask {} {}", request.id, request.call)),
            Effect::RunTool(permit) => {
                self.trace.push(format!("→ run {} {} {}", permit.call(), permit.tool(), permit.arguments()));
                assert_eq!(permit.arguments(), self.leave(permit.call()), "a call runs with what was approved");
                assert!(self.run.begin_tool(permit.call()), "a call is handed out once");
                self.check_leave(&permit);
                self.permits.push(permit);
            }
            Effect::Done(status) => self.trace.push(format!("→ {}", status.token())),
        }
    }

    /// The arguments that the stored log gives a call leave to run with: the model's, unless a person approved others.
    fn leave(&self, call: &CallId) -> String {
        let edits = self.lines.iter().rev().filter_map(|line| match Event::decode(line).unwrap().body {
            Body::CallDecided { call: id, decision } if id == *call => decision.edit.map(|edit| edit.arguments),
            _ => None,
        });
        let written = self.run.chat().call(call).map(|(written, _)| written.arguments.clone());
        edits.chain(written).next().unwrap()
    }

    fn fresh(&mut self) -> RequestId {
        self.next_id += 1;
        RequestId::new(format!("q{}", self.next_id))
    }

    /// By whose leave a call starts: of the tool's effect, of a rule, of a person, or of a standing permission that stands
    /// right now and is for this.
    fn check_leave(&self, permit: &Permit) {
        let (call, state) = self.run.chat().call(permit.call()).unwrap();
        if state.decision.is_some() || state.attempts > 1 && state.grant.is_none() {
            return;
        }
        let reads = self.run.settings().tools.iter().any(|tool| tool.name == call.name && tool.effect == READ);
        let asks = call.arguments.contains("careful") || call.arguments.contains("ask");
        let allowed = !asks && (reads || call.arguments.contains("free"));
        let Some(id) = &state.grant else {
            assert!(allowed, "{} runs without leave", call.name);
            return;
        };
        assert!(!allowed && !call.arguments.contains("careful"), "no permission was needed, or none is enough");
        let book = self.book().expect("a book that can be read");
        let grant = book.standing().find(|grant| grant.id == *id).expect("a permission that stands");
        assert_eq!(grant.tool, call.name);
        assert_eq!(Some(&grant.by), self.run.chat().run().unwrap().owner.as_ref());
        assert!(grant.scope == Scope::Always || grant.chat == *self.run.chat().id());
        assert!(grant.until.is_none_or(|until| self.now < until));
        if let grant::Constraint::Exactly(value) = &grant.constraint {
            assert!(value.same_value(&json::parse_strict(&call.arguments).unwrap()));
        }
    }

    /// The standing permissions as they are stored.
    pub fn book(&self) -> grant::Read {
        let book = Book::read(self.grants.iter().map(String::as_str)).unwrap();
        (!self.grants_fail).then(|| book.into())
    }

    pub fn enter(&mut self, entry: grant::Entry) {
        self.grants.push(entry.encode(self.grants.len() as u64));
    }

    pub fn revoke(&mut self, id: &str) {
        self.enter(grant::Entry::Revoked { id: GrantId::new(id), at: self.now, by: None });
    }

    /// A reload: everything that was not stored is gone.
    pub fn reload(&mut self) {
        let chat = self.replayed();
        assert_eq!(&chat, self.run.chat(), "replay gives the live state");
        self.run = Run::new(chat, self.run.settings().clone());
        self.model = None;
        self.permits.clear();
    }

    pub fn replayed(&self) -> Chat {
        let id = self.lines.first().map_or(ChatId::new("c"), |line| Event::decode(line).unwrap().chat);
        Chat::replay(id, self.lines.iter().map(String::as_str)).unwrap()
    }

    pub fn send(&mut self, by: Option<&str>) -> Result<Handled, RunError> {
        let message = MessageId::new(format!("m{}", self.lines.len()));
        let author = by.and_then(PersonId::new);
        self.handle(Input::Send { at: self.now, message, author, parts: vec![Part::Text("go".to_owned())] })
    }

    pub fn turn(&mut self, turn: Turn) -> Result<Handled, RunError> {
        let ticket = self.model.take().ok_or(RunError::Stale)?;
        self.handle(Input::TurnEnded { at: self.now, ticket, turn: turn.into() })
    }

    pub fn fail(&mut self) -> Result<Handled, RunError> {
        let ticket = self.model.take().ok_or(RunError::Stale)?;
        let error = ModelError::new(ModelErrorClass::Overloaded, "No luck.");
        self.handle(Input::TurnFailed { at: self.now, ticket, error, partial: String::new() })
    }

    pub fn decide(&mut self, request: &str, approve: bool, by: Option<&str>) -> Result<Handled, RunError> {
        self.decide_with(request, approve, by, None, None)
    }

    /// Approves with a standing permission, whose id is `g` and the number of the log's lines.
    pub fn grant(
        &mut self,
        request: &str,
        by: Option<&str>,
        scope: Scope,
        arguments: Chosen,
        until: Option<u64>,
    ) -> Result<Handled, RunError> {
        let id = GrantId::new(format!("g{}", self.grants.len()));
        self.decide_on(request, true, by, None, Some(Terms { id, scope, arguments, until }))
    }

    /// Decides by the page's own code, with other arguments, on terms of a standing permission.
    pub fn decide_on(
        &mut self,
        request: &str,
        approve: bool,
        by: Option<&str>,
        arguments: Option<&str>,
        terms: Option<Terms>,
    ) -> Result<Handled, RunError> {
        let edited = arguments.map(|arguments| {
            let asked = self.run.edited(&RequestId::new(request), arguments);
            let opinions = asked.ok().flatten().as_ref().map(rules).unwrap_or_default();
            Edited { arguments: arguments.to_owned(), opinions, shown: self.shown.clone() }
        });
        let fresh = RequestId::new(format!("again{}", self.lines.len()));
        self.handle(Input::Decide {
            at: self.now,
            request: RequestId::new(request),
            approve,
            by: by.and_then(PersonId::new),
            via: Via::Api,
            reason: None,
            note: None,
            edited,
            terms,
            preview: self.preview.clone(),
            fresh,
        })
    }

    pub fn decide_with(
        &mut self,
        request: &str,
        approve: bool,
        by: Option<&str>,
        reason: Option<DenyReason>,
        note: Option<&str>,
    ) -> Result<Handled, RunError> {
        // Named by the log's length, so that the ids of first requests stay q1, q2, …
        let fresh = RequestId::new(format!("again{}", self.lines.len()));
        self.handle(Input::Decide {
            at: self.now,
            request: RequestId::new(request),
            approve,
            by: by.and_then(PersonId::new),
            via: Via::Card,
            reason,
            note: note.map(str::to_owned),
            edited: None,
            terms: None,
            preview: self.preview.clone(),
            fresh,
        })
    }

    /// Approves with other arguments, as a page does: the rules are asked about them first.
    pub fn edit(&mut self, request: &str, by: Option<&str>, arguments: &str) -> Result<Handled, RunError> {
        self.decide_on(request, true, by, Some(arguments), None)
    }

    /// Lets the tool that was started first come back.
    pub fn tool(&mut self, result: Result<&str, Failure>) -> Result<Handled, RunError> {
        if self.permits.is_empty() {
            return Err(RunError::Stale);
        }
        let permit = self.permits.remove(0);
        self.handle(Input::ToolEnded {
            at: self.now,
            call: permit.call().clone(),
            attempt: permit.attempt(),
            result: result.map(str::to_owned),
        })
    }

    /// Lets the tool that was started first ask for something instead.
    pub fn asks(&mut self, spec: AskSpec) -> Result<Handled, RunError> {
        if self.permits.is_empty() {
            return Err(RunError::Stale);
        }
        let permit = self.permits.remove(0);
        let (call, attempt, request) = (permit.call().clone(), permit.attempt(), self.fresh());
        self.handle(Input::ToolAsked { at: self.now, call, attempt, request, spec })
    }

    /// Answers by way of the host's API.
    pub fn answer(
        &mut self,
        request: &str,
        ok: bool,
        by: Answerer,
        reason: Option<&str>,
        data: Option<&str>,
    ) -> Result<Handled, RunError> {
        let fresh = RequestId::new(format!("again{}", self.lines.len()));
        self.handle(Input::Answer {
            at: self.now,
            request: RequestId::new(request),
            ok,
            by,
            via: Via::Api,
            reason: reason.map(str::to_owned),
            data: data.map(|data| json::parse_strict(data).unwrap()),
            preview: self.preview.clone(),
            fresh,
        })
    }

    pub fn extend(&mut self, request: &str, expires_at: Option<u64>) -> Result<Handled, RunError> {
        let decider = PersonId::new("ada");
        let extension = Extension { request: RequestId::new(request), expires_at, decider, via: Via::Api };
        self.handle(Input::Extend { at: self.now, extension })
    }

    pub fn stop(&mut self) -> Result<Handled, RunError> {
        self.model = None;
        self.handle(Input::Stop { at: self.now, partial: String::new() })
    }

    pub fn tick(&mut self, ms: u64) -> Result<Handled, RunError> {
        self.now += ms;
        self.handle(Input::Tick { at: self.now })
    }

    pub fn resume(&mut self) -> Result<Handled, RunError> {
        let requests = (1..=3).map(|place| RequestId::new(format!("lost{place}"))).collect();
        self.handle(Input::Resume { at: self.now, requests })
    }

    pub fn status(&self) -> Status {
        self.run.status()
    }

    /// What the model was told about a call.
    pub fn result(&self, call: &str) -> String {
        let (_, state) = self.run.chat().call(&CallId::new(call)).unwrap();
        state.result.as_ref().map(|settled| settled.item.text.clone()).unwrap_or_default()
    }

    /// The trace since the last call of this.
    pub fn take_trace(&mut self) -> String {
        let mut text = std::mem::take(&mut self.trace).join("\n");
        text.push('\n');
        text
    }
}

/// Lines sealed into a chain; the salts are numbers here.
pub fn sealed(lines: &[String]) -> Vec<String> {
    let mut head = String::new();
    let mut sealed = Vec::new();
    for (seq, line) in lines.iter().enumerate() {
        let (line, hash) = chain::seal(line, &format!("{seq:032x}"), &head).unwrap();
        head = hash;
        sealed.push(line);
    }
    sealed
}

/// Wherever in a log its projection is kept: it reads back as it was, and with the lines behind it gives the whole chat.
pub fn check_kept(lines: &[String]) {
    let id = lines.first().map_or(ChatId::new("c"), |line| Event::decode(line).unwrap().chat);
    let events: Vec<_> = lines.iter().map(|line| Event::decode(line).unwrap()).collect();
    let whole = Chat::replay(id.clone(), lines.iter().map(String::as_str)).unwrap();
    for end in 0..=events.len() {
        let mut chat = Chat::new(id.clone());
        events[..end].iter().for_each(|event| chat.apply(event).unwrap());
        let live = Run::new(chat.clone(), settings());
        let text = snapshot::keep(&live, "head");
        let kept = Chat::from_kept(&id, &text).unwrap_or_else(|| panic!("{text}"));
        assert_eq!(kept.last_hash, "head");

        // What a page draws of it, read or not.
        let folded = Run::new(kept.chat.clone(), settings());
        let count = kept.chat.folded() + kept.chat.entries().len();
        assert_eq!(count, chat.entries().len());
        let rest: Vec<_> = (kept.chat.folded()..count).map(|place| snapshot::message(&folded, place)).collect();
        let drawn = parse_lenient(kept.drawn.messages.as_bytes()).unwrap();
        let drawn = drawn.as_array().unwrap().iter().map(json::Json::text);
        let all: Vec<_> = (0..count).map(|place| snapshot::message(&live, place)).collect();
        assert_eq!(drawn.chain(rest).collect::<Vec<_>>(), all);
        assert_eq!(snapshot::requests(&folded), snapshot::requests(&live));
        let id_of = |run: &Run| run.chat().run().map(|latest| latest.id.clone());
        let view = |run: &Run| snapshot::run_view(run, id_of(run).as_ref());
        assert_eq!(view(&folded), view(&live));
        assert_eq!(snapshot::head(&folded), snapshot::head(&live));
        assert_eq!(card::cards(&folded, None), card::cards(&live, None));
        assert_eq!(kept.chat.clearable(), chat.clearable());

        // What nobody decided in time is settled without reading what is folded.
        let opened = [live, folded].map(|mut run| {
            run.handle(Input::Open { at: u64::MAX }).unwrap();
            let effects: Vec<_> = std::iter::from_fn(|| run.poll()).collect();
            assert_eq!(run.chat().foldable(), kept.chat.folded());
            run.unfold().unwrap();
            (run.chat().clone(), effects)
        });
        assert_eq!(opened[0], opened[1]);

        let mut read = kept.chat.clone();
        read.unfold().unwrap();
        assert_eq!(read, chat, "kept behind {end} events: {text}");
        let mut gone_on = kept.chat;
        events[end..].iter().for_each(|event| gone_on.apply(event).unwrap());
        gone_on.unfold().unwrap();
        assert_eq!(gone_on, whole, "kept behind {end} events, and gone on");
    }
}

pub fn answer(text: &str) -> Turn {
    Turn {
        end: TurnEnd::Stop,
        finish_reason: Some("stop".to_owned()),
        text: text.to_owned(),
        reasoning: String::new(),
        refusal: String::new(),
        calls: Vec::new(),
        usage: None,
        extra: TurnExtra::default(),
    }
}

pub fn calls(calls: &[(&str, &str)]) -> Turn {
    let made = calls.iter().enumerate().map(|(place, (name, arguments))| TurnCall {
        kind: CallKind::Function,
        // Providers repeat and restart their ids; nothing may depend on them.
        provider_id: Some(format!("call_{}", place % 2)),
        name: (*name).to_owned(),
        arguments: (*arguments).to_owned(),
    });
    let extra = TurnExtra { calls: vec![Vec::new(); calls.len()], ..TurnExtra::default() };
    Turn { end: TurnEnd::ToolCalls, calls: made.collect(), extra, ..answer("") }
}

/// What a tool asks for: one line of a form for `input` and `question`, and nothing but its prompt for other kinds.
pub fn spec(kind: &str) -> AskSpec {
    let kind = RequestKind::of(kind);
    let form = r#"{"schema":{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}}"#;
    AskSpec {
        prompt: format!("Please: {}.", kind.token()),
        url: (kind == RequestKind::Authorization).then(|| "https://auth.example/go?state=1".to_owned()),
        data: kind.has_form().then(|| json::parse_strict(form).unwrap()),
        kind,
        expires_at: None,
    }
}

fn describe(event: &Event) -> String {
    let kind = event.body.kind();
    match &event.body {
        Body::ChatSeeded { history } => format!("{kind} items={}", history.len()),
        Body::HistoryTrimmed { start } => format!("{kind} start={start}"),
        Body::RunStarted { owner, .. } => {
            format!("{kind} {} owner={}", event.run, owner.as_ref().map_or("-", PersonId::as_str))
        }
        Body::TurnCompleted { turn } => format!("{kind} {} calls={}", turn.end.token(), turn.calls.len()),
        Body::TurnFailed { code, .. } => format!("{kind} {code}"),
        Body::CallAllowed { call, grant, .. } => {
            format!("{kind} {call}{}", grant.as_ref().map(|grant| format!(" by {grant}")).unwrap_or_default())
        }
        Body::CallAsked { request } => format!("{kind} {} {} \"{}\"", request.call, request.id, request.prompt),
        Body::CallExtended { call, extension } => {
            format!("{kind} {call} {} until={:?}", extension.request, extension.expires_at)
        }
        Body::CallDecided { call, decision } => {
            let approve = if decision.approve { "approve" } else { "deny" };
            format!(
                "{kind} {call} {approve} by={}",
                decision.by.decided_by().map_or(decision.by.token(), Decider::token)
            )
        }
        Body::CallStarted { call, attempt } => format!("{kind} {call} attempt={attempt}"),
        Body::CallSettled { facts, item, .. } => match facts {
            None => format!("{kind} {}", item.call),
            Some(facts) => format!(
                "{kind} {} {}{}{}",
                item.call,
                facts.token.token(),
                facts.decided_by.map(|by| format!(" by={}", by.token())).unwrap_or_default(),
                if facts.approved { " approved" } else { "" }
            ),
        },
        Body::OldDenial(denial) => format!("{kind} {} as of old {}", denial.call(), denial.reason_code()),
        Body::RunEnded { status, reason } => {
            format!("{kind} {}{}", status.token(), reason.as_ref().map(|r| format!(" ({r})")).unwrap_or_default())
        }
    }
}
