//! The view's end of one session: drives the tests, and views written in Rust.
//!
//! Speaks first, asks for what it wants through its verbs, and tells what it heard as outputs. Unlike
//! the reference view it takes what it does not know without falling over (V-27, V-28, V-29).

use std::{collections::VecDeque, time::Duration};

use serde_json::value::RawValue;

use crate::{
    calls::{Calls, Patience, Serving},
    rpc::{self, ErrorObject, INTERNAL_ERROR, Id, Limits, Message},
    violation::{Quoted, Violation, read},
    wire::{
        AppCapabilities, CallToolParams, CancelledParams, ContentBlock, DisplayMode,
        DownloadFileParams, EmptyResult, HostContext, Implementation, InitializeParams,
        InitializeResult, ListParams, LogParams, MessageParams, Meta, OpenLinkParams,
        PROTOCOL_VERSION, ProgressParams, ProgressToken, RawObject, ReadResourceParams,
        RequestDisplayModeParams, SizeChangedParams, TeardownParams, ToolCancelledParams,
        ToolInputParams, UpdateModelContextParams, method,
    },
};

/// Something that arrives.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// A message of the host, as JSON text.
    Host(&'a str),
    /// Nothing but the time.
    Tick,
}

/// Something the view wants done, or heard.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send this text to the host.
    Send(String),
    /// The handshake is complete. What was missing in the host's answer is empty.
    Opened(Box<InitializeResult>),
    /// The tool's arguments so far; good for a preview and nothing else (V-09).
    Partial(Box<RawValue>),
    /// The tool's arguments.
    Input(Box<RawValue>),
    /// The tool's result.
    Result(Box<RawValue>),
    /// There will be no result.
    Cancelled {
        /// Why, if the host says.
        reason: Option<String>,
    },
    /// The surroundings changed; [`View::context`] has all of them (V-11).
    ContextChanged,
    /// One of the server's lists changed.
    ListChanged {
        /// The notification's method.
        method: &'static str,
    },
    /// A call gave a sign of life.
    Progress {
        /// The call.
        call: u64,
        /// How far it has come.
        progress: f64,
        /// What it says.
        message: Option<String>,
    },
    /// A call was answered.
    Answer {
        /// The call.
        call: u64,
        /// What came of it.
        outcome: Result<Box<RawValue>, CallError>,
    },
    /// The host calls one of this view's tools; answer with [`View::answer`] (V-17).
    ToolCalled {
        /// What to answer to.
        request: Id,
        /// The tool.
        name: String,
        /// Its arguments, a JSON object.
        arguments: Box<RawValue>,
    },
    /// The host wants to know this view's tools; answer with [`View::answer`] (V-17).
    ToolsListed {
        /// What to answer to.
        request: Id,
    },
    /// The host does not want an answer any more.
    Forgotten {
        /// The request that is not to be answered.
        request: Id,
    },
    /// The view is about to be taken away: save, then answer with [`View::answer`] (V-23).
    TearDown {
        /// What to answer to.
        request: Id,
        /// Why, if the host says.
        reason: Option<String>,
    },
    /// It is over; nothing comes after.
    Closed(Reason),
}

/// Why a call failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum CallError {
    /// The host answered with an error; -32601 means that it does not offer this (V-34).
    #[error("{message} ({code})")]
    Refused {
        /// The code.
        code: i64,
        /// The words.
        message: String,
    },
    /// The host said `isError` where the spec has an error (V-25).
    #[error("the host did not do it")]
    NotDone,
    /// No answer in time.
    #[error("no answer in time")]
    TimedOut,
    /// The session ended first.
    #[error("the session ended")]
    Closed,
}

/// Why a session ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reason {
    /// The host would not talk.
    Refused,
    /// Nobody answered `ui/initialize`.
    Silence,
    /// The view ended it.
    Closed,
}

/// The view's end of one session.
///
/// ```text
/// start ──▶ Asking ──answered──▶ Ready ──close──▶ Closed
///             └──refused, silence, close────────────▲
/// ```
#[derive(Debug)]
pub struct View {
    state: State,
    host: InitializeResult,
    capabilities: AppCapabilities,
    calls: Calls<Call>,
    serving: Serving<()>,
    input: Option<Box<RawValue>>,
    result: Option<Box<RawValue>>,
    outputs: VecDeque<Output>,
}

/// What a view says about itself.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Who it is.
    pub info: Implementation,
    /// What it can do.
    pub capabilities: AppCapabilities,
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum State {
    Asking { deadline: Duration },
    Ready,
    Closed,
}

/// What happens to a view, reduced to what matters for its state.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Event {
    Accepted,
    Refused,
    Close,
    Tick(Duration),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Move {
    Initialized,
    Close(Reason),
}

/// A request of ours that is not answered yet.
#[derive(Debug)]
struct Call {
    method: &'static str,
}

/// The handshake is not complete, the session is over, or the host does not offer this (V-04, V-34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotOffered {
    /// The handshake is not complete, or the session is over.
    #[error("the session is not open")]
    NotReady,
    /// The host did not say that it can do this.
    #[error("the host does not offer this")]
    Missing,
}

impl View {
    /// Opens the session; the first output is `ui/initialize` (V-01, V-02).
    pub fn start(now: Duration, setup: Setup) -> Self {
        let params = InitializeParams {
            app_info: setup.info,
            app_capabilities: setup.capabilities.clone(),
            protocol_version: PROTOCOL_VERSION.to_owned(),
        };
        let mut view = Self {
            state: State::Asking { deadline: now.saturating_add(PATIENCE) },
            host: InitializeResult::default(),
            capabilities: setup.capabilities,
            calls: Calls::default(),
            serving: Serving::new(SERVED),
            input: None,
            result: None,
            outputs: VecDeque::new(),
        };
        view.ask(now, method::INITIALIZE, Some(&rpc::raw(&params)));
        view
    }

    /// Takes one input. One that is refused changes nothing; a request is told why.
    pub fn handle(&mut self, now: Duration, input: Input<'_>) -> Result<(), Violation> {
        self.tick(now);
        match input {
            Input::Tick => Ok(()),
            Input::Host(_) if self.is_closed() => Err(self.unexpected("a message")),
            Input::Host(text) => match Message::parse(text, Limits::default()) {
                Ok(Message::Request(request)) => self.requested(request),
                Ok(Message::Notification(notification)) => self.notified(now, notification),
                Ok(Message::Response(response)) => self.answered(response),
                Err(malformed) => Err(self.malformed(malformed)),
            },
        }
    }

    /// What to do next, oldest first.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front()
    }

    /// When [`Input::Tick`] is due, at the latest.
    pub fn deadline(&self) -> Option<Duration> {
        let own = match self.state {
            State::Asking { deadline } => Some(deadline),
            State::Ready | State::Closed => None,
        };
        own.into_iter().chain(self.calls.deadline()).min()
    }

    /// Calls a tool of the server. Progress keeps the call alive (V-33).
    pub fn call_tool(
        &mut self,
        now: Duration,
        name: &str,
        arguments: RawObject<'_>,
    ) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.server_tools.is_some())?;
        let token = i64::try_from(self.calls.next_id()).unwrap_or(i64::MAX);
        let mut params = CallToolParams::new(name);
        params.arguments = Some(arguments);
        params.meta = Some(Meta::token(token.into()));
        Ok(self.ask(now, method::TOOLS_CALL, Some(&rpc::raw(&params))))
    }

    /// Lists the tools of the server that this view may call.
    pub fn list_tools(&mut self, now: Duration) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.server_tools.is_some())?;
        Ok(self.ask(now, method::TOOLS_LIST, Some(&rpc::raw(&ListParams::default()))))
    }

    /// Reads a resource of the server.
    pub fn read_resource(&mut self, now: Duration, uri: &str) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.server_resources.is_some())?;
        let params = rpc::raw(&ReadResourceParams::new(uri));
        Ok(self.ask(now, method::RESOURCES_READ, Some(&params)))
    }

    /// Opens an address.
    pub fn open_link(&mut self, now: Duration, url: &str) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.open_links)?;
        let params = rpc::raw(&OpenLinkParams { url: url.into() });
        Ok(self.ask(now, method::OPEN_LINK, Some(&params)))
    }

    /// Saves files.
    pub fn download_file(
        &mut self,
        now: Duration,
        files: &DownloadFileParams<'_>,
    ) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.download_file)?;
        Ok(self.ask(now, method::DOWNLOAD_FILE, Some(&rpc::raw(files))))
    }

    /// Says something in the conversation, in the user's place.
    pub fn send_message(
        &mut self,
        now: Duration,
        content: Vec<ContentBlock>,
    ) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.message.is_some())?;
        Ok(self.ask(now, method::MESSAGE, Some(&rpc::raw(&MessageParams::new(content)))))
    }

    /// Replaces what the model is told about this view (V-15).
    pub fn update_model_context(
        &mut self,
        now: Duration,
        context: &UpdateModelContextParams<'_>,
    ) -> Result<u64, NotOffered> {
        self.need(self.host.host_capabilities.update_model_context.is_some())?;
        Ok(self.ask(now, method::UPDATE_MODEL_CONTEXT, Some(&rpc::raw(context))))
    }

    /// Asks the host's model; `with_tools` needs a capability of its own (V-16).
    pub fn sample(
        &mut self,
        now: Duration,
        params: RawObject<'_>,
        with_tools: bool,
    ) -> Result<u64, NotOffered> {
        let sampling = self.host.host_capabilities.sampling;
        self.need(sampling.is_some_and(|sampling| sampling.tools || !with_tools))?;
        Ok(self.ask(now, method::SAMPLING_CREATE_MESSAGE, Some(params.raw())))
    }

    /// Asks to be shown in another way, if the host has it (V-07). The answer says which mode is in
    /// force, and it may be another one (V-08).
    pub fn request_display_mode(
        &mut self,
        now: Duration,
        mode: DisplayMode,
    ) -> Result<u64, NotOffered> {
        let modes = self.context().available_display_modes.as_deref().unwrap_or_default();
        self.need(modes.contains(&mode))?;
        let params = rpc::raw(&RequestDisplayModeParams { mode });
        Ok(self.ask(now, method::REQUEST_DISPLAY_MODE, Some(&params)))
    }

    /// Reports the size of the content (V-10).
    pub fn size_changed(&mut self, size: SizeChangedParams) -> Result<(), NotOffered> {
        self.need(true)?;
        self.notify(method::SIZE_CHANGED, Some(&rpc::raw(&size)));
        Ok(())
    }

    /// Writes a log line.
    pub fn log(&mut self, line: &LogParams<'_>) -> Result<(), NotOffered> {
        self.need(self.host.host_capabilities.logging)?;
        self.notify(method::LOG, Some(&rpc::raw(line)));
        Ok(())
    }

    /// Asks to be closed (V-22).
    pub fn request_teardown(&mut self) -> Result<(), NotOffered> {
        self.need(true)?;
        self.notify(method::REQUEST_TEARDOWN, None);
        Ok(())
    }

    /// Says that this view's own tools changed, if it said that it would (V-20).
    pub fn tools_changed(&mut self) -> Result<(), NotOffered> {
        self.need(self.capabilities.tools.is_some_and(|tools| tools.list_changed))?;
        self.notify(method::TOOLS_LIST_CHANGED, None);
        Ok(())
    }

    /// Gives a call up; its answer, if one is on its way, is not reported.
    pub fn cancel(&mut self, call: u64, reason: Option<&str>) {
        if self.state == State::Ready && self.calls.settle(call).is_some() {
            self.tell_cancelled(call, reason);
        }
    }

    /// Answers a request of the host, once. A result is an object (W-6).
    pub fn answer(&mut self, request: &Id, outcome: Result<RawObject<'_>, ErrorObject<'_>>) {
        if self.serving.settle(request).is_some() {
            self.respond(request, outcome.map(RawObject::raw));
        }
    }

    /// Ends the session; every open call is told.
    pub fn close(&mut self) {
        self.step(Event::Close);
    }

    /// What the host said about itself; empty before the handshake.
    pub fn host(&self) -> &InitializeResult {
        &self.host
    }

    /// The surroundings, as last told.
    pub fn context(&self) -> &HostContext {
        &self.host.host_context
    }

    /// Whether the handshake is complete.
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// Whether it is over.
    pub fn is_closed(&self) -> bool {
        self.state == State::Closed
    }

    /// How many calls are not answered yet.
    pub fn in_flight(&self) -> usize {
        self.calls.len()
    }

    fn step(&mut self, event: Event) {
        let (state, step) = self.state.step(event);
        self.state = state;
        match step {
            Some(Move::Initialized) => {
                // V-03: before anything else. The reference sends it without params.
                self.notify(method::INITIALIZED, None);
                self.outputs.push_back(Output::Opened(Box::new(self.host.clone())));
            }
            Some(Move::Close(reason)) => self.end(reason),
            None => {}
        }
    }

    fn end(&mut self, reason: Reason) {
        for (call, pending) in self.calls.drain() {
            if pending.method != method::INITIALIZE {
                self.outputs.push_back(Output::Answer { call, outcome: Err(CallError::Closed) });
            }
        }
        self.serving.drain();
        self.outputs.push_back(Output::Closed(reason));
    }

    fn tick(&mut self, now: Duration) {
        if self.is_closed() {
            return;
        }
        self.step(Event::Tick(now));
        while let Some((call, pending)) = self.calls.expire(now) {
            if pending.method == method::INITIALIZE {
                continue;
            }
            self.tell_cancelled(call, Some("no answer in time"));
            self.outputs.push_back(Output::Answer { call, outcome: Err(CallError::TimedOut) });
        }
    }

    fn answered(&mut self, response: rpc::Response<'_>) -> Result<(), Violation> {
        let rpc::Response { id, outcome } = response;
        let unknown = || Violation::UnknownId { id: Quoted::new(&id.to_string()) };
        // V-32: only ids we gave out, each once.
        let call = id.number().ok_or_else(unknown)?;
        let pending = self.calls.settle(call).ok_or_else(unknown)?;
        if pending.method == method::INITIALIZE {
            self.greeted(outcome);
            return Ok(());
        }
        let outcome = match outcome {
            Ok(result) if pending.may_say_is_error() && says_is_error(result) => {
                Err(CallError::NotDone)
            }
            Ok(result) => Ok(result.to_owned()),
            Err(error) => {
                Err(CallError::Refused { code: error.code, message: error.message.into_owned() })
            }
        };
        self.outputs.push_back(Output::Answer { call, outcome });
        Ok(())
    }

    fn greeted(&mut self, outcome: Result<&RawValue, ErrorObject<'_>>) {
        match outcome.ok().and_then(|result| serde_json::from_str(result.get()).ok()) {
            Some(host) => {
                self.host = host;
                self.step(Event::Accepted);
            }
            None => self.step(Event::Refused),
        }
    }

    /// An answer nobody can use is still an answer: whoever waits for it must not wait longer.
    fn malformed(&mut self, malformed: rpc::Malformed) -> Violation {
        if let rpc::Malformed::BadAnswer { id, .. } = &malformed {
            let error = ErrorObject::new(INTERNAL_ERROR, malformed.to_string());
            let response = rpc::Response { id: id.clone(), outcome: Err(error) };
            let _ = self.answered(response);
        }
        malformed.into()
    }

    fn requested(&mut self, request: rpc::Request<'_>) -> Result<(), Violation> {
        let id = request.id.clone();
        let outcome = self.serve(request);
        if let Err(violation) = &outcome
            && let Some(code) = violation.code()
        {
            self.respond(&id, Err(ErrorObject::new(code, violation.to_string())));
        }
        outcome
    }

    fn serve(&mut self, request: rpc::Request<'_>) -> Result<(), Violation> {
        let rpc::Request { id, method, params } = request;
        if self.serving.get(&id).is_some() {
            return Err(Violation::DuplicateId { id: Quoted::new(&id.to_string()) });
        }
        let output = match method::canonical(&method) {
            method::PING => {
                self.respond(&id, Ok(&rpc::raw(&EmptyResult {})));
                return Ok(());
            }
            method::RESOURCE_TEARDOWN => {
                let TeardownParams { reason } = read(method::RESOURCE_TEARDOWN, params)?;
                Output::TearDown { request: id.clone(), reason }
            }
            method::TOOLS_CALL if self.capabilities.tools.is_some() => {
                let params: CallToolParams<'_> = read(method::TOOLS_CALL, params)?;
                let arguments = params.arguments.unwrap_or_default().raw().to_owned();
                Output::ToolCalled {
                    request: id.clone(),
                    name: params.name.into_owned(),
                    arguments,
                }
            }
            method::TOOLS_LIST if self.capabilities.tools.is_some() => {
                Output::ToolsListed { request: id.clone() }
            }
            other => return Err(Violation::UnknownMethod { method: Quoted::new(other) }),
        };
        self.serving.open(id, ()).map_err(|_| self.unexpected("one request too many"))?;
        self.outputs.push_back(output);
        Ok(())
    }

    fn notified(&mut self, now: Duration, message: rpc::Notification<'_>) -> Result<(), Violation> {
        let rpc::Notification { method, params } = message;
        match method::canonical(&method) {
            method::TOOL_INPUT_PARTIAL => {
                let ToolInputParams { arguments } = read(method::TOOL_INPUT_PARTIAL, params)?;
                self.outputs.push_back(Output::Partial(arguments.raw().to_owned()));
            }
            method::TOOL_INPUT => {
                let ToolInputParams { arguments } = read(method::TOOL_INPUT, params)?;
                if differs(&mut self.input, arguments.raw()) {
                    self.outputs.push_back(Output::Input(arguments.raw().to_owned()));
                }
            }
            method::TOOL_RESULT => {
                let result: RawObject<'_> = read(method::TOOL_RESULT, params)?;
                if differs(&mut self.result, result.raw()) {
                    self.outputs.push_back(Output::Result(result.raw().to_owned()));
                }
            }
            method::TOOL_CANCELLED => {
                let ToolCancelledParams { reason } = read(method::TOOL_CANCELLED, params)?;
                self.outputs.push_back(Output::Cancelled { reason });
            }
            method::HOST_CONTEXT_CHANGED => {
                let patch: HostContext = read(method::HOST_CONTEXT_CHANGED, params)?;
                self.host.host_context.merge(patch);
                self.outputs.push_back(Output::ContextChanged);
            }
            method::PROGRESS => self.progressed(now, read(method::PROGRESS, params)?),
            method::CANCELLED => {
                let CancelledParams { request_id, .. } = read(method::CANCELLED, params)?;
                let request = request_id;
                if self.serving.settle(&request).is_some() {
                    self.outputs.push_back(Output::Forgotten { request });
                }
            }
            other => {
                if let Some(method) = LISTS.iter().find(|method| **method == other) {
                    self.outputs.push_back(Output::ListChanged { method });
                }
            }
        }
        Ok(())
    }

    fn progressed(&mut self, now: Duration, params: ProgressParams) {
        let ProgressToken::Number(token) = params.progress_token else { return };
        let Ok(call) = u64::try_from(token) else { return };
        // Only a call that was sent with a token may be kept alive by one.
        if self.calls.get(call).is_some_and(|pending| pending.method == method::TOOLS_CALL) {
            self.calls.progress(now, call);
            let ProgressParams { progress, message, .. } = params;
            self.outputs.push_back(Output::Progress { call, progress, message });
        }
    }

    fn need(&self, offered: bool) -> Result<(), NotOffered> {
        match (self.state, offered) {
            (State::Ready, true) => Ok(()),
            (State::Ready, false) => Err(NotOffered::Missing),
            _ => Err(NotOffered::NotReady),
        }
    }

    fn ask(&mut self, now: Duration, method: &'static str, params: Option<&RawValue>) -> u64 {
        let patience = Patience { idle: PATIENCE, total: Duration::MAX };
        let call = self.calls.open(now, patience, Call { method });
        let id = Id::Number(i64::try_from(call).unwrap_or(i64::MAX));
        let message = Message::Request(rpc::Request { id, method: method.into(), params });
        self.outputs.push_back(Output::Send(message.print()));
        call
    }

    fn notify(&mut self, method: &'static str, params: Option<&RawValue>) {
        let message = Message::Notification(rpc::Notification { method: method.into(), params });
        self.outputs.push_back(Output::Send(message.print()));
    }

    fn respond(&mut self, id: &Id, outcome: Result<&RawValue, ErrorObject<'_>>) {
        let message = Message::Response(rpc::Response { id: id.clone(), outcome });
        self.outputs.push_back(Output::Send(message.print()));
    }

    fn tell_cancelled(&mut self, call: u64, reason: Option<&str>) {
        let request_id = Id::Number(i64::try_from(call).unwrap_or(i64::MAX));
        let params = CancelledParams { request_id, reason: reason.map(str::to_owned) };
        self.notify(method::CANCELLED, Some(&rpc::raw(&params)));
    }

    fn unexpected(&self, got: &str) -> Violation {
        let state = match self.state {
            State::Asking { .. } => "waiting for the host",
            State::Ready => "ready",
            State::Closed => "closed",
        };
        Violation::Unexpected { state, got: Quoted::new(got) }
    }
}

impl State {
    /// Every move a view may make.
    fn step(self, event: Event) -> (Self, Option<Move>) {
        match (self, event) {
            (Self::Asking { .. }, Event::Accepted) => (Self::Ready, Some(Move::Initialized)),
            (Self::Asking { .. }, Event::Refused) => {
                (Self::Closed, Some(Move::Close(Reason::Refused)))
            }
            (Self::Asking { deadline }, Event::Tick(now)) if deadline <= now => {
                (Self::Closed, Some(Move::Close(Reason::Silence)))
            }
            (Self::Asking { .. } | Self::Ready, Event::Close) => {
                (Self::Closed, Some(Move::Close(Reason::Closed)))
            }
            (state, _) => (state, None),
        }
    }
}

impl Call {
    /// R-33: these three may fail with `isError` in the result. A tool's `isError` is its own affair.
    fn may_say_is_error(&self) -> bool {
        [method::OPEN_LINK, method::MESSAGE, method::DOWNLOAD_FILE].contains(&self.method)
    }
}

fn says_is_error(result: &RawValue) -> bool {
    serde_json::from_str::<crate::wire::ActionResult>(result.get())
        .is_ok_and(|result| result.is_error)
}

/// V-29: the same thing again is not news.
fn differs(last: &mut Option<Box<RawValue>>, new: &RawValue) -> bool {
    let news = last.as_ref().is_none_or(|last| last.get() != new.get());
    if news {
        *last = Some(new.to_owned());
    }
    news
}

const LISTS: [&str; 3] =
    [method::TOOLS_LIST_CHANGED, method::RESOURCES_LIST_CHANGED, method::PROMPTS_LIST_CHANGED];

/// How long a call may take without a sign of life (V-33, R-07).
const PATIENCE: Duration = Duration::from_secs(60);
/// The most requests of the host that are open at a time.
const SERVED: usize = 256;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;
    use crate::wire::{ListChanged, LogLevel};

    const fn secs(seconds: u64) -> Duration {
        Duration::from_secs(seconds)
    }

    fn raw(value: &Value) -> Box<RawValue> {
        rpc::raw(value)
    }

    fn started(capabilities: AppCapabilities) -> View {
        View::start(secs(0), Setup { info: Implementation::new("v", "1"), capabilities })
    }

    /// A view whose handshake is complete, with nothing left to fetch.
    fn opened(capabilities: AppCapabilities, host: Value) -> View {
        let mut view = started(capabilities);
        let answer = json!({ "jsonrpc": "2.0", "id": 0, "result": host });
        hear(&mut view, secs(0), &answer).unwrap();
        assert!(view.is_ready());
        said(&mut view);
        view
    }

    fn with_tools() -> AppCapabilities {
        let tools = Some(ListChanged { list_changed: true });
        AppCapabilities { tools, ..AppCapabilities::default() }
    }

    /// A host with everything on offer.
    fn rich() -> Value {
        json!({
            "protocolVersion": "2026-01-26",
            "hostInfo": { "name": "h", "version": "1" },
            "hostCapabilities": {
                "openLinks": {}, "downloadFile": {}, "serverTools": {}, "serverResources": {},
                "logging": {}, "updateModelContext": {}, "message": {}, "sampling": { "tools": {} },
            },
            "hostContext": { "availableDisplayModes": ["inline", "pip"], "theme": "dark" },
        })
    }

    fn hear(view: &mut View, now: Duration, message: &Value) -> Result<(), Violation> {
        view.handle(now, Input::Host(&message.to_string()))
    }

    fn tell(view: &mut View, method: &str, params: Value) {
        let message = json!({ "jsonrpc": "2.0", "method": method, "params": params });
        hear(view, secs(0), &message).unwrap();
    }

    fn answer(view: &mut View, call: u64, result: Value) {
        hear(view, secs(0), &json!({ "jsonrpc": "2.0", "id": call, "result": result })).unwrap();
    }

    /// Everything it said since it was last asked, messages as they are and the rest in words.
    fn said(view: &mut View) -> Vec<String> {
        let words = |output| match output {
            Output::Send(text) => text,
            other => format!("{other:?}"),
        };
        std::iter::from_fn(|| view.poll()).map(words).collect()
    }

    #[test]
    fn every_move() {
        use State::{Asking, Closed, Ready};
        let asking = Asking { deadline: secs(10) };
        let closed = |reason| (Closed, Some(Move::Close(reason)));
        #[rustfmt::skip]
        let table = [
            // from    on                     to, and what it wants done
            (asking, Event::Accepted,        (Ready, Some(Move::Initialized))),
            (asking, Event::Refused,         closed(Reason::Refused)),
            (asking, Event::Close,           closed(Reason::Closed)),
            (asking, Event::Tick(secs(9)),   (asking, None)),
            (asking, Event::Tick(secs(10)),  closed(Reason::Silence)),
            (Ready,  Event::Accepted,        (Ready, None)),
            (Ready,  Event::Refused,         (Ready, None)),
            (Ready,  Event::Close,           closed(Reason::Closed)),
            (Ready,  Event::Tick(secs(99)),  (Ready, None)),
            (Closed, Event::Accepted,        (Closed, None)),
            (Closed, Event::Refused,         (Closed, None)),
            (Closed, Event::Close,           (Closed, None)),
            (Closed, Event::Tick(secs(99)),  (Closed, None)),
        ];
        for (from, on, expected) in table {
            assert_eq!(from.step(on), expected, "{from:?} on {on:?}");
        }
    }

    #[test]
    fn v_01_v_02_v_03_v_04_it_greets_and_says_nothing_else_before_the_answer() {
        let mut view = started(AppCapabilities::default());
        assert_eq!(
            said(&mut view),
            [
                r#"{"jsonrpc":"2.0","id":0,"method":"ui/initialize","params":{"appInfo":{"name":"v","version":"1"},"appCapabilities":{},"protocolVersion":"2026-01-26"}}"#
            ]
        );
        assert_eq!(view.open_link(secs(0), "x"), Err(NotOffered::NotReady));
        assert_eq!(view.size_changed(SizeChangedParams::default()), Err(NotOffered::NotReady));
        view.cancel(0, None);
        assert_eq!(said(&mut view), [""; 0]);
        answer(&mut view, 0, rich());
        let first = r#"{"jsonrpc":"2.0","method":"ui/notifications/initialized"}"#;
        assert_eq!(said(&mut view)[0], first);
    }

    #[test]
    fn a_host_that_will_not_talk_closes_the_view_at_once() {
        for answer in [
            r#"{"jsonrpc":"2.0","id":0,"error":{"code":-32601,"message":"no"}}"#,
            r#"{"jsonrpc":"2.0","id":0,"result":null}"#,
            r#"{"jsonrpc":"2.0","id":0}"#,
        ] {
            let mut view = started(AppCapabilities::default());
            let _ = view.handle(secs(1), Input::Host(answer));
            assert!(view.is_closed(), "{answer}");
            assert_eq!(said(&mut view).last().unwrap(), "Closed(Refused)", "{answer}");
            assert_eq!(view.deadline(), None);
        }
    }

    #[test]
    fn v_07_v_08_a_mode_is_asked_for_only_if_the_host_has_it() {
        let mut view = opened(AppCapabilities::default(), rich());
        let missing = Err(NotOffered::Missing);
        assert_eq!(view.request_display_mode(secs(0), DisplayMode::Fullscreen), missing);
        let call = view.request_display_mode(secs(0), DisplayMode::Pip).unwrap();
        answer(&mut view, call, json!({ "mode": "inline" }));
        assert!(said(&mut view)[1].contains(r#"Ok(RawValue({"mode":"inline"}))"#));
        tell(&mut view, method::HOST_CONTEXT_CHANGED, json!({ "availableDisplayModes": [] }));
        assert_eq!(view.request_display_mode(secs(0), DisplayMode::Pip), missing);
        let mut silent = opened(AppCapabilities::default(), json!({}));
        assert_eq!(silent.request_display_mode(secs(0), DisplayMode::Inline), missing);
    }

    #[test]
    fn v_11_a_change_of_context_is_merged_key_by_key() {
        let mut view = opened(AppCapabilities::default(), rich());
        // docs/reference/mcp-apps.md §4.2 "Context": under its older name, too.
        tell(&mut view, "ui/host-context-change", json!({ "locale": "de" }));
        assert_eq!(said(&mut view), ["ContextChanged"]);
        assert_eq!(view.context().locale.as_deref(), Some("de"));
        assert!(view.context().theme.is_some());
    }

    #[test]
    fn v_16_sampling_and_its_tools_need_a_capability_each() {
        let params = raw(&json!({ "messages": [], "maxTokens": 1 }));
        let params = RawObject::new(&params).unwrap();
        #[rustfmt::skip]
        let table = [
            (json!({}),                            false, false),
            (json!({ "sampling": {} }),            true,  false),
            (json!({ "sampling": { "tools": {} } }), true, true),
        ];
        for (capabilities, plain, with_tools) in table {
            let host = json!({ "hostCapabilities": capabilities });
            let mut view = opened(AppCapabilities::default(), host);
            assert_eq!(view.sample(secs(0), params, false).is_ok(), plain, "{capabilities}");
            assert_eq!(view.sample(secs(0), params, true).is_ok(), with_tools, "{capabilities}");
        }
    }

    #[test]
    fn v_17_tools_are_answered_if_they_were_declared() {
        let list = json!({ "jsonrpc": "2.0", "id": 5, "method": "tools/list" });
        let call = json!({ "jsonrpc": "2.0", "id": "c", "method": "tools/call", "params": { "name": "t" } });
        let mut view = opened(with_tools(), rich());
        hear(&mut view, secs(0), &list).unwrap();
        hear(&mut view, secs(0), &call).unwrap();
        let heard = said(&mut view);
        assert!(heard[0].starts_with("ToolsListed { request: Number(5)"), "{heard:?}");
        assert!(
            heard[1].starts_with(r#"ToolCalled { request: String("c"), name: "t""#),
            "{heard:?}"
        );
        let mut view = opened(AppCapabilities::default(), rich());
        for request in [list, call] {
            assert!(hear(&mut view, secs(0), &request).is_err());
            assert!(said(&mut view)[0].contains("-32601"));
        }
    }

    #[test]
    fn v_20_changes_of_its_tools_are_announced_only_if_it_said_so() {
        let quiet = AppCapabilities { tools: Some(ListChanged::default()), ..with_tools() };
        for (capabilities, announced) in
            [(AppCapabilities::default(), false), (quiet, false), (with_tools(), true)]
        {
            let mut view = opened(capabilities, rich());
            assert_eq!(view.tools_changed().is_ok(), announced);
            assert_eq!(said(&mut view).len(), usize::from(announced));
        }
    }

    #[test]
    fn v_23_a_teardown_is_answered_with_an_object_and_once() {
        // docs/reference/mcp-apps.md §4.2 "Teardown": with a reason or without.
        for params in [json!({}), json!({ "reason": "bye" }), json!({ "reason": null })] {
            let mut view = opened(AppCapabilities::default(), rich());
            let request = json!({ "jsonrpc": "2.0", "id": 0, "method": "ui/resource-teardown", "params": params });
            hear(&mut view, secs(0), &request).unwrap();
            assert!(said(&mut view)[0].starts_with("TearDown"), "{params}");
            view.answer(&Id::Number(0), Ok(RawObject::default()));
            view.answer(&Id::Number(0), Ok(RawObject::default()));
            assert_eq!(said(&mut view), [r#"{"jsonrpc":"2.0","id":0,"result":{}}"#]);
        }
    }

    #[test]
    fn v_24_a_ping_is_answered_with_nothing_at_any_time() {
        let ping = json!({ "jsonrpc": "2.0", "id": 7, "method": "ping" });
        for mut view in [started(AppCapabilities::default()), opened(with_tools(), rich())] {
            hear(&mut view, secs(0), &ping).unwrap();
            assert_eq!(said(&mut view).pop().unwrap(), r#"{"jsonrpc":"2.0","id":7,"result":{}}"#);
        }
    }

    #[test]
    fn v_25_a_denial_is_an_error_or_is_error() {
        #[rustfmt::skip]
        let table = [
            (json!({ "result": {} }),                                       "Ok(RawValue({}))"),
            (json!({ "result": { "isError": true } }),                      "Err(NotDone)"),
            (json!({ "error": { "code": -32000, "message": "denied" } }),   r#"Err(Refused { code: -32000, message: "denied" })"#),
            (json!({ "result": [] }),                                       "Err(Refused { code: -32603"),
        ];
        for (outcome, expected) in table {
            let mut view = opened(AppCapabilities::default(), rich());
            let call = view.open_link(secs(0), "https://a.test/").unwrap();
            let mut message = outcome;
            message["jsonrpc"] = json!("2.0");
            message["id"] = json!(call);
            let _ = hear(&mut view, secs(0), &message);
            let heard = said(&mut view).pop().unwrap();
            assert!(heard.contains(expected), "{message}: {heard}");
            assert_eq!(view.in_flight(), 0);
        }
        // A tool's own `isError` is its result.
        let mut view = opened(AppCapabilities::default(), rich());
        let call = view.call_tool(secs(0), "t", RawObject::default()).unwrap();
        answer(&mut view, call, json!({ "isError": true }));
        assert!(said(&mut view)[1].contains(r#"Ok(RawValue({"isError":true}))"#));
    }

    #[test]
    fn v_28_any_version_and_half_an_answer_will_do() {
        for host in
            [json!({ "protocolVersion": "1999" }), json!({}), json!({ "hostContext": null })]
        {
            let view = opened(AppCapabilities::default(), host.clone());
            let version = host["protocolVersion"].as_str().unwrap_or(PROTOCOL_VERSION);
            assert_eq!(view.host().protocol_version, version);
            assert_eq!(*view.context(), HostContext::default());
        }
    }

    #[test]
    fn v_29_the_same_again_is_not_news() {
        let mut view = opened(AppCapabilities::default(), rich());
        for _ in 0..2 {
            tell(&mut view, method::TOOL_INPUT, json!({}));
            tell(&mut view, method::TOOL_RESULT, json!({ "_meta": {} }));
        }
        assert_eq!(said(&mut view), ["Input(RawValue({}))", r#"Result(RawValue({"_meta":{}}))"#]);
        // docs/reference/mcp-apps.md §4.2 "Cancel": under its older name, too.
        tell(&mut view, "ui/tool-cancelled", json!({ "reason": null }));
        assert_eq!(said(&mut view), ["Cancelled { reason: None }"]);
    }

    #[test]
    fn v_32_ids_count_up_and_an_answer_to_no_question_is_ignored() {
        let mut view = opened(AppCapabilities::default(), rich());
        let calls = [(); 3].map(|()| view.open_link(secs(0), "x").unwrap());
        assert_eq!(calls, [1, 2, 3]);
        said(&mut view);
        for id in [json!(0), json!(4), json!(-1), json!("x"), json!("2x")] {
            let spoof = json!({ "jsonrpc": "2.0", "id": id, "result": {} });
            let violation = hear(&mut view, secs(0), &spoof).unwrap_err();
            assert!(matches!(violation, Violation::UnknownId { .. }), "{id}");
        }
        assert_eq!((said(&mut view).len(), view.in_flight()), (0, 3));
        // W-3: the reference takes a number in quotes for the number.
        hear(&mut view, secs(0), &json!({ "jsonrpc": "2.0", "id": "2", "result": {} })).unwrap();
        assert_eq!(view.in_flight(), 2);
    }

    #[test]
    fn v_33_a_minute_without_a_sign_of_life_and_the_host_is_told() {
        let mut view = opened(AppCapabilities::default(), rich());
        let tool = view.call_tool(secs(0), "t", RawObject::default()).unwrap();
        let link = view.open_link(secs(0), "x").unwrap();
        said(&mut view);
        for token in [tool, link] {
            let params = json!({ "progressToken": token, "progress": 1 });
            let progress =
                json!({ "jsonrpc": "2.0", "method": "notifications/progress", "params": params });
            hear(&mut view, secs(50), &progress).unwrap();
        }
        assert_eq!(said(&mut view).len(), 1, "only a tool call was sent with a token");
        assert_eq!(view.deadline(), Some(secs(60)));
        view.handle(secs(60), Input::Tick).unwrap();
        let given_up = |call| {
            [
                format!(
                    r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{call},"reason":"no answer in time"}}}}"#
                ),
                format!("Answer {{ call: {call}, outcome: Err(TimedOut) }}"),
            ]
        };
        assert_eq!(said(&mut view), given_up(link));
        assert_eq!(view.deadline(), Some(secs(110)));
        view.handle(secs(110), Input::Tick).unwrap();
        assert_eq!(said(&mut view), given_up(tool));
        assert_eq!(view.deadline(), None);
    }

    #[test]
    fn v_34_what_a_bare_host_does_not_offer_is_not_asked_for() {
        let mut view = opened(AppCapabilities::default(), json!({}));
        let now = secs(0);
        let data = raw(&json!("x"));
        let files = DownloadFileParams { contents: vec![] };
        let line = LogParams { level: LogLevel::Info, logger: None, data: &data };
        let missing = Err(NotOffered::Missing);
        assert_eq!(view.open_link(now, "x"), missing);
        assert_eq!(view.download_file(now, &files), missing);
        assert_eq!(view.send_message(now, vec![]), missing);
        assert_eq!(view.update_model_context(now, &UpdateModelContextParams::default()), missing);
        assert_eq!(view.call_tool(now, "t", RawObject::default()), missing);
        assert_eq!(view.list_tools(now), missing);
        assert_eq!(view.read_resource(now, "x:"), missing);
        assert_eq!(view.log(&line), Err(NotOffered::Missing));
        assert_eq!((said(&mut view).len(), view.in_flight()), (0, 0));
        // V-10, V-22: these take no capability.
        assert!(view.size_changed(SizeChangedParams::default()).is_ok());
        assert!(view.request_teardown().is_ok());
    }

    #[test]
    fn every_open_call_is_told_of_the_end() {
        let mut view = opened(AppCapabilities::default(), rich());
        let call = view.open_link(secs(0), "x").unwrap();
        said(&mut view);
        view.close();
        let told = format!("Answer {{ call: {call}, outcome: Err(Closed) }}");
        assert_eq!(said(&mut view), [told.as_str(), "Closed(Closed)"]);
        assert!(hear(&mut view, secs(0), &json!({})).is_err());
        assert_eq!(view.open_link(secs(0), "x"), Err(NotOffered::NotReady));
    }
}
