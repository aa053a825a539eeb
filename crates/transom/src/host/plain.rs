//! mcp-ui's own messages, which came before MCP Apps: `{type, payload, messageId}` in place of JSON-RPC, and no handshake.
//!
//! ```text
//!   view ──{type: "tool", …}──▶ read ──tools/call──▶ the table, the verdict, the question, the limits of every request
//!        ◀─ui-message-response─ said ◀──answer──────┘
//! ```
//!
//! What such a view says is translated here, as mcp-ui's adapter does inside a view, and then judged like what any other
//! view says; what it is told is written in its own form. What decides is the first message of a document: one that speaks
//! JSON-RPC does so for as long as it lives.

mod form;

use std::time::Duration;

use serde_json::value::RawValue;

use form::{PREFIX, answer, push_message, push_raw, push_text, raw, written};

use super::{
    App, Output, Session,
    members::{ENVELOPE, INTENT, LINK, NOTIFY, PROMPT, SIZE, Sifted, TOOL},
    state::Event,
};
use crate::{
    quoted::Quoted,
    rpc::{self, ErrorObject, Id, Malformed, Message, Notification, Request},
    violation::{Over, Violation},
    wire::{AppCapabilities, Axis, Implementation, Members, PROTOCOL_VERSION, method},
};

/// What is known of how the view speaks.
#[derive(Debug, Default)]
pub(super) struct Plain {
    dialect: Dialect,
    /// How many of its messages were given an id of ours.
    count: u64,
    /// Whether there is something to show that it was not told yet.
    stale: bool,
    /// What its document brought along to be shown, a JSON object.
    initial: Option<Box<RawValue>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Dialect {
    #[default]
    Undecided,
    JsonRpc,
    McpUi,
}

/// One message in mcp-ui's form.
pub(super) struct Said<'a> {
    kind: Kind<'a>,
    payload: Option<&'a RawValue>,
    /// Under which it wants its answer.
    id: Option<Id>,
}

#[derive(Clone, Copy)]
enum Kind<'a> {
    Known(&'static str),
    /// One of those that begin with `ui-`, but none that we know.
    Unknown(&'a str),
}

impl Plain {
    pub(super) fn new(initial: Option<Box<RawValue>>) -> Self {
        Self { initial, ..Self::default() }
    }

    /// The next document speaks for itself.
    pub(super) fn forget(&mut self) {
        (self.dialect, self.stale) = (Dialect::Undecided, false);
    }

    /// The view speaks JSON-RPC.
    pub(super) fn is_rpc(&mut self) {
        self.dialect = Dialect::JsonRpc;
    }

    pub(super) fn is_mcp_ui(&self) -> bool {
        self.dialect == Dialect::McpUi
    }
}

impl Session {
    /// A JSON-RPC message came: whether it is in the way of a view that speaks mcp-ui's. A greeting never is: it is another
    /// document's.
    pub(super) fn heard_rpc(&mut self, message: &Message<'_>) -> Option<Violation> {
        if self.plain.dialect == Dialect::Undecided {
            self.plain.is_rpc();
        }
        let method = message.method()?;
        let astray = self.plain.is_mcp_ui() && method::canonical(method) != method::INITIALIZE;
        astray.then(|| Violation::Unexpected {
            state: "speaking mcp-ui's own messages",
            got: Quoted::new(method),
        })
    }

    /// What is no JSON-RPC, if it is a message of mcp-ui's and this view may say one.
    pub(super) fn read_plain<'a>(&self, text: &'a str) -> Option<Result<Said<'a>, Violation>> {
        let raw: &RawValue = serde_json::from_str(text).ok()?;
        let sifted = match Sifted::new(ENVELOPE, Some(raw)) {
            Ok(sifted) => sifted,
            Err(violation) => return self.plain.is_mcp_ui().then_some(Err(violation)),
        };
        let kind = Kind::of(sifted.raw("type")?)?;
        // What we do not know decides nothing: others begin their names so too.
        let decides = matches!(kind, Kind::Known(_)) && self.plain.dialect == Dialect::Undecided;
        if !decides && !self.plain.is_mcp_ui() {
            return None;
        }
        let id = match sifted.raw("messageId").map(Id::read) {
            Some(None) => return Some(Err(Malformed::BadId.into())),
            id => id.flatten(),
        };
        Some(Ok(Said { kind, payload: sifted.raw("payload"), id }))
    }

    /// Takes a message of mcp-ui's, translated; whether it was a request, whose refusal is its verdict.
    pub(super) fn hear_plain(
        &mut self,
        now: Duration,
        said: Said<'_>,
        over: Option<Over>,
    ) -> (bool, Result<(), Violation>) {
        if let Err(violation) = self.meet(now) {
            return (false, Err(violation));
        }
        let Said { kind, payload, id } = said;
        match kind {
            Kind::Known(kind @ (READY | RENDER | SIZE)) => {
                (false, self.hear_news(now, kind, payload, id.as_ref(), over))
            }
            Kind::Known(NOTIFY) => {
                self.confirm(id.as_ref(), over.is_some());
                let outcome = self.hear_news(now, NOTIFY, payload, id.as_ref(), over);
                let answer = self.name(id.as_ref());
                match &outcome {
                    Ok(()) => self.respond(&answer, Ok(super::work::empty())),
                    Err(violation) => {
                        let error = ErrorObject::new(rpc::DENIED, violation.to_string());
                        self.respond(&answer, Err(error));
                    }
                }
                (false, outcome)
            }
            kind => (true, self.hear_wish(now, kind, payload, id.as_ref(), over)),
        }
    }

    /// The first message of a view that knows no handshake: it is ready.
    fn meet(&mut self, now: Duration) -> Result<(), Violation> {
        if self.plain.is_mcp_ui() {
            return Ok(());
        }
        self.step(now, Event::Greeting)?;
        self.plain.dialect = Dialect::McpUi;
        let info = Implementation::new("mcp-ui", "");
        let capabilities = AppCapabilities::default();
        self.app = Some(Box::new(App { info, capabilities, revision: PROTOCOL_VERSION }));
        self.told_context = self.context.clone();
        self.plain.stale = true;
        self.outputs.push_back(Output::McpUi);
        self.step(now, Event::Initialized)
    }

    /// What it tells, and what it wants told, about which no person is asked.
    fn hear_news(
        &mut self,
        now: Duration,
        kind: &'static str,
        payload: Option<&RawValue>,
        id: Option<&Id>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        if let Some(over) = over {
            return Err(over.into());
        }
        let (method, params) = match kind {
            READY => {
                self.plain.stale = true;
                return Ok(());
            }
            RENDER => {
                self.plain.stale = false;
                let text = self.render_data(id);
                self.outputs.push_back(Output::Send(text));
                return Ok(());
            }
            kind => self.translate(kind, payload)?,
        };
        self.notified(now, Notification { method: method.into(), params: Some(&params) })
    }

    /// What it wants done.
    fn hear_wish(
        &mut self,
        now: Duration,
        kind: Kind<'_>,
        payload: Option<&RawValue>,
        id: Option<&Id>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        self.confirm(id, over.is_some());
        let id = self.name(id);
        let translated = match kind {
            Kind::Known(kind) => self.translate(kind, payload),
            Kind::Unknown(method) => {
                let request = Request { id, method: method.into(), params: None };
                return self.requested(now, request, over.map(Violation::from));
            }
        };
        match translated {
            Ok((method, params)) => {
                let request = Request { id, method: method.into(), params: Some(&params) };
                self.requested(now, request, over.map(Violation::from))
            }
            Err(violation) => {
                let Kind::Known(kind) = kind else { return Err(violation) };
                let request = Request { id, method: method_of(kind).into(), params: None };
                let refusal = over.map_or(violation, Violation::from);
                self.requested(now, request, Some(refusal))
            }
        }
    }

    /// The method that a kind of message stands for, and its params, written from the members that the table names.
    fn translate(
        &mut self,
        kind: &'static str,
        payload: Option<&RawValue>,
    ) -> Result<(&'static str, Box<RawValue>), Violation> {
        let missing =
            || Violation::BadParams { method: kind, reason: Quoted::new("payload is missing") };
        let mut sifted = Sifted::new(kind, Some(payload.ok_or_else(missing)?))?;
        let mut params = String::from("{");
        match kind {
            TOOL => {
                push_text(&mut params, "name", &sifted.need("toolName")?);
                push_raw(&mut params, "arguments", sifted.raw("params"));
            }
            LINK => push_text(&mut params, "url", &sifted.need("url")?),
            PROMPT => push_message(&mut params, &sifted.need("prompt")?),
            INTENT => {
                let (intent, given) = (sifted.need("intent")?, sifted.object("params")?);
                let given = given.as_ref().map_or("{}", |given| given.get());
                // In the words of mcp-ui's adapter.
                push_message(&mut params, &format!("Intent: {intent}. Parameters: {given}"));
            }
            NOTIFY => {
                push_text(&mut params, "level", "info");
                push_text(&mut params, "data", &sifted.need("message")?);
            }
            _ => {
                push_raw(&mut params, "width", sifted.raw("width"));
                push_raw(&mut params, "height", sifted.raw("height"));
            }
        }
        params.push('}');
        if let Some(dropped) = sifted.dropped() {
            let (names, more) = (dropped.names, dropped.more);
            self.outputs.push_back(Output::Dropped { method: kind, names, more });
        }
        let params = RawValue::from_string(params).expect("it is written from JSON");
        Ok((method_of(kind), params))
    }

    /// Gives a request an id of ours, which holds the view's: several messages may have the same.
    fn name(&mut self, id: Option<&Id>) -> Id {
        self.plain.count += 1;
        let id = id.map(|id| rpc::raw(id).get().to_owned()).unwrap_or_default();
        Id::from(format!("{PREFIX}{} {id}", self.plain.count).as_str())
    }

    /// Says that a message came, as mcp-ui's hosts do before anything else.
    fn confirm(&mut self, id: Option<&Id>, refused: bool) {
        if !refused {
            let text = written("ui-message-received", raw(id).as_deref(), "");
            self.outputs.push_back(Output::Send(text));
        }
    }

    /// Sends a message, in the form that the view speaks.
    pub(super) fn send(&mut self, message: &Message<'_>) {
        let text = match self.plain.is_mcp_ui() {
            true => self.write_plain(message),
            false => Some(message.print()),
        };
        self.outputs.extend(text.map(Output::Send));
    }

    /// A message of ours in mcp-ui's form, if there is one.
    fn write_plain(&mut self, message: &Message<'_>) -> Option<String> {
        let (method, params) = match message {
            Message::Response(response) => return Some(answer(response)),
            Message::Notification(Notification { method, params }) => (method, params),
            Message::Request(Request { method, params, .. }) => (method, params),
        };
        let kind = match &**method {
            method::TOOL_INPUT
            | method::TOOL_INPUT_PARTIAL
            | method::TOOL_RESULT
            | method::HOST_CONTEXT_CHANGED => {
                self.plain.stale = true;
                return None;
            }
            method::TOOL_CANCELLED => "ui-lifecycle-tool-cancelled",
            method::RESOURCE_TEARDOWN => "ui-lifecycle-teardown",
            _ => return None,
        };
        Some(written(kind, None, params.map_or("{}", RawValue::get)))
    }

    /// What there is to show, if the view does not know it yet: once, when everything else is said.
    pub(super) fn tell_render_data(&mut self) -> Option<Output> {
        let due = self.plain.is_mcp_ui() && self.is_ready();
        if !due || !std::mem::take(&mut self.plain.stale) {
            return None;
        }
        Some(Output::Send(self.render_data(None)))
    }

    /// What a view of mcp-ui's is shown: the names are those of its adapter.
    fn render_data(&self, id: Option<&Id>) -> String {
        let (arguments, result) = self.told_story();
        let context = &self.told_context;
        let most = context.container_dimensions.and_then(|container| match container.height {
            Axis::Fixed(height) | Axis::AtMost(height) => Some(height),
            Axis::Free => None,
        });
        let mut all = String::from("{");
        let initial = self.plain.initial.as_deref().map(RawValue::get).unwrap_or("{}");
        let initial: Members<'_> = serde_json::from_str(initial).unwrap_or_default();
        for (name, value) in initial.iter().filter(|(name, _)| !RENDERED.contains(name)) {
            push_raw(&mut all, name, Some(value));
        }
        push_raw(&mut all, "toolInput", arguments);
        push_raw(&mut all, "toolOutput", result);
        for (name, value) in [
            ("locale", context.locale.as_ref().map(rpc::raw)),
            ("theme", context.theme.as_ref().map(rpc::raw)),
            ("displayMode", context.display_mode.as_ref().map(rpc::raw)),
            ("maxHeight", most.as_ref().map(rpc::raw)),
        ] {
            push_raw(&mut all, name, value.as_deref());
        }
        all.push('}');
        let payload = format!(r#"{{"renderData":{all}}}"#);
        written("ui-lifecycle-iframe-render-data", raw(id).as_deref(), &payload)
    }
}

impl<'a> Kind<'a> {
    fn of(kind: &'a RawValue) -> Option<Self> {
        let kind = kind.get().strip_prefix('"')?.strip_suffix('"')?;
        match KINDS.into_iter().find(|(known, _)| *known == kind) {
            Some((known, _)) => Some(Self::Known(known)),
            None => kind.starts_with("ui-").then_some(Self::Unknown(kind)),
        }
    }
}

fn method_of(kind: &'static str) -> &'static str {
    let found = KINDS.into_iter().find(|(known, _)| *known == kind);
    found.map_or(kind, |(_, method)| method)
}

const READY: &str = "ui-lifecycle-iframe-ready";
const RENDER: &str = "ui-request-render-data";

/// What each kind of message stands for.
const KINDS: [(&str, &str); 8] = [
    (TOOL, method::TOOLS_CALL),
    (PROMPT, method::MESSAGE),
    (LINK, method::OPEN_LINK),
    (INTENT, method::MESSAGE),
    (NOTIFY, method::LOG),
    (SIZE, method::SIZE_CHANGED),
    (READY, method::INITIALIZED),
    (RENDER, RENDER),
];

/// What only the host says of what is to be shown.
const RENDERED: [&str; 7] =
    ["toolInput", "toolOutput", "widgetState", "locale", "theme", "displayMode", "maxHeight"];
