//! The view's end of one session: drives the tests, and views written in Rust.
//!
//! Speaks first, asks for what it wants through its verbs, and tells what it heard as outputs. Unlike
//! the reference view it takes what it does not know without falling over (V-27, V-28, V-29).

use std::{collections::VecDeque, time::Duration};

use serde_json::value::RawValue;

use crate::{
    calls::{Calls, Patience, Serving},
    rpc::{self, ErrorObject, Id, Message, MessageLimits},
    violation::{Quoted, Violation},
    wire::{
        AppCapabilities, CallToolParams, CancelledParams, ContentBlock, DisplayMode,
        DownloadFileParams, HostContext, Implementation, InitializeParams, InitializeResult,
        ListParams, LogParams, MessageParams, Meta, OpenLinkParams, PROTOCOL_VERSION, RawObject,
        ReadResourceParams, RequestDisplayModeParams, SizeChangedParams, UpdateModelContextParams,
        method,
    },
};

mod hear;
mod output;
mod state;

pub use output::{CallError, Output, Reason};
use state::{Event, Move, State};

/// Something that arrives.
#[derive(Clone, Copy, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// A message of the host, as JSON text.
    Host(&'a str),
    /// Nothing but the time.
    Tick,
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

/// A request of ours that is not answered yet.
#[derive(Debug)]
struct Call {
    method: &'static str,
}

/// The handshake is not complete, the session is over, or the host does not offer this (V-04, V-34).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
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
            Input::Host(text) => match Message::parse(text, MessageLimits::default()) {
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

/// How long a call may take without progress (V-33, R-07).
const PATIENCE: Duration = Duration::from_secs(60);
/// The most requests of the host that are open at a time.
const SERVED: usize = 256;

#[cfg(test)]
mod tests;
