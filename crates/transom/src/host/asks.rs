//! What the host asks of the view, and the view's answers.

use std::time::Duration;

use serde_json::value::RawValue;

use super::{
    NotReady, Output, Phase, Ruling, Session,
    app_tools::{AppAnswer, AppCall, Stage},
    questions::Waiter,
    state::Event,
};
use crate::{
    calls::Patience,
    rpc::{self, Id, Message, Request, Response},
    violation::{Denial, Quoted, Violation},
    wire::{CancelledParams, RequestId, Tool, method},
};

/// A request of ours that the view has not answered yet.
#[derive(Debug)]
pub(super) enum Asked {
    TearDown,
    Ping,
    ListTools { found: Vec<Tool>, pages: usize },
    CallTool(Box<AppCall>),
}

impl Asked {
    fn is_unsent(&self) -> bool {
        matches!(self, Self::CallTool(call) if call.stage != Stage::Sent)
    }
}

impl Session {
    /// Sends a request of ours, if the gate is open.
    pub(super) fn request(
        &mut self,
        now: Duration,
        patience: Duration,
        asked: Asked,
        method: &'static str,
        params: Option<&RawValue>,
    ) -> Result<u64, NotReady> {
        if !self.is_ready() {
            return Err(NotReady);
        }
        Ok(self.ask_view(now, patience, asked, method, params))
    }

    /// Puts a request of ours on the wire. Only ever called with the gate open.
    pub(super) fn ask_view(
        &mut self,
        now: Duration,
        patience: Duration,
        asked: Asked,
        method: &'static str,
        params: Option<&RawValue>,
    ) -> u64 {
        let call = self.asked.open(now, Patience::flat(patience), asked);
        self.send(&request(call, method, params));
        call
    }

    /// Takes in the view's answer to a request of ours.
    pub(super) fn answered(
        &mut self,
        now: Duration,
        response: Response<'_>,
    ) -> Result<(), Violation> {
        let Response { id, outcome } = response;
        let unknown = || Violation::UnknownId { id: Quoted::new(&id.to_string()) };
        let call = id.number().ok_or_else(unknown)?;
        // A call that waits for a person, or for its row, was never sent, so the view cannot answer it.
        if self.asked.get(call).is_none_or(Asked::is_unsent) {
            return Err(unknown());
        }
        match self.asked.settle(call).expect("it is there") {
            Asked::TearDown => self.step(now, Event::TornDown),
            Asked::Ping => {
                self.outputs.push_back(Output::Pong { alive: true });
                Ok(())
            }
            Asked::ListTools { found, pages } => {
                self.listed(now, found, pages, outcome);
                Ok(())
            }
            Asked::CallTool(_) => self.called(call, outcome),
        }
    }

    /// Settles a request of ours that was answered with something that cannot be used.
    pub(super) fn settle_unusable(&mut self, now: Duration, id: &Id) {
        let Some(call) = id.number() else { return };
        if self.asked.get(call).is_none_or(Asked::is_unsent) {
            return;
        }
        let asked = self.asked.settle(call).expect("it is there");
        match asked {
            // some views answer the teardown without a result. They have answered.
            Asked::TearDown => {
                let _ = self.step(now, Event::TornDown);
            }
            Asked::CallTool(_) => {
                self.outputs.push_back(Output::AppAnswer { call, outcome: AppAnswer::Unusable });
            }
            other => self.no_answer(call, other),
        }
    }

    /// The view did not answer in time.
    pub(super) fn no_answer(&mut self, call: u64, asked: Asked) {
        match asked {
            Asked::TearDown => {}
            Asked::Ping => self.outputs.push_back(Output::Pong { alive: false }),
            Asked::ListTools { .. } => self.offer(vec![]),
            Asked::CallTool(app_call) => {
                match app_call.stage {
                    Stage::Sent => self.tell_cancelled(call),
                    Stage::Allowed => {}
                    Stage::Asking => {
                        let ruling = Ruling::Refused(Denial::NoDecision.into());
                        self.outputs.push_back(app_call.judged(Some(call), ruling));
                        self.leave(Waiter::App(call));
                    }
                }
                self.outputs.push_back(Output::AppAnswer { call, outcome: AppAnswer::TimedOut });
            }
        }
    }

    fn tell_cancelled(&mut self, call: u64) {
        if !matches!(self.state.phase, Phase::Ready | Phase::Closing { .. }) {
            return;
        }
        let request_id = RequestId::Number(i64::try_from(call).unwrap_or(i64::MAX));
        let reason = Some("no answer in time".to_owned());
        let params = rpc::raw(&CancelledParams { request_id, reason });
        self.notify(method::CANCELLED, Some(&params));
    }
}

pub(super) fn request<'a>(
    call: u64,
    method: &'static str,
    params: Option<&'a RawValue>,
) -> Message<'a> {
    let id = Id::Number(i64::try_from(call).expect("a session makes fewer calls than that"));
    Message::Request(Request { id, method: method.into(), params })
}
