//! What the host says to a view.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{Call, CallError, Output, View, state::Event};
use crate::{
    rpc::{self, ErrorObject, INTERNAL_ERROR},
    violation::{Quoted, Violation, read},
    wire::{
        CallToolParams, CancelledParams, EmptyResult, HostContext, ProgressParams, ProgressToken,
        RawObject, TeardownParams, ToolCancelledParams, ToolInputParams, method,
    },
};

impl View {
    pub(super) fn answered(&mut self, response: rpc::Response<'_>) -> Result<(), Violation> {
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

    /// An answer that cannot be used is still an answer: the call that waits for it must not wait longer.
    pub(super) fn malformed(&mut self, malformed: rpc::Malformed) -> Violation {
        if let rpc::Malformed::BadAnswer { id, .. } = &malformed {
            let error = ErrorObject::new(INTERNAL_ERROR, malformed.to_string());
            let response = rpc::Response { id: id.clone(), outcome: Err(error) };
            let _ = self.answered(response);
        }
        malformed.into()
    }

    pub(super) fn requested(&mut self, request: rpc::Request<'_>) -> Result<(), Violation> {
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

    pub(super) fn notified(
        &mut self,
        now: Duration,
        message: rpc::Notification<'_>,
    ) -> Result<(), Violation> {
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
}

impl Call {
    /// these three may fail with `isError` in the result. A tool's `isError` is its own affair.
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
