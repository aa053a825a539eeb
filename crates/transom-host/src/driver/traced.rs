//! Requests as they are followed, from the message of a view over its judgement to its server's answer.
//!
//! The spans are at the level `debug`: a view can make as many requests as it likes, and whoever writes spans down must want that.

use tracing::{Span, debug, debug_span};
use transom::host::{Output, Ruling, Which};

use super::{calls::Caller, common::Common, seat::Seat};
use crate::upstream::{Request, TraceParent};

/// A request of a view that is followed.
#[derive(Clone, Debug)]
pub(super) struct Traced {
    span: Span,
    parent: Option<TraceParent>,
}

impl Traced {
    fn new(span: Span, common: &Common) -> Self {
        let parent = common.traces.then(TraceParent::new).flatten();
        if let Some(parent) = parent {
            span.record("traceparent", tracing::field::display(parent));
        }
        Self { span, parent }
    }

    fn is_wanted(&self) -> bool {
        self.parent.is_some() || !self.span.is_disabled()
    }
}

impl Seat {
    /// The span of a message of the view, while it is judged.
    pub(super) fn message_span(&self, size: usize) -> Span {
        debug_span!("message", server = %self.server, view = %self.id, size)
    }

    /// Follows a request from its judgement on, and no longer than it is wanted.
    pub(super) fn trace(&mut self, common: &Common, output: &Output) {
        match output {
            Output::Waits { which: Which::View { call: Some(call), .. }, method, .. } => {
                self.begin_trace(common, *call, method, "asked");
            }
            Output::Judged {
                which: Which::View { call: Some(call), .. }, method, ruling, ..
            } => {
                let method = method.unwrap_or_default();
                match ruling {
                    Ruling::Allowed => self.begin_trace(common, *call, method, "allowed"),
                    Ruling::Refused(_) => self.end_trace(*call, "refused"),
                    Ruling::Withdrawn => self.end_trace(*call, "withdrawn"),
                }
            }
            Output::Abort { call, .. } => self.end_trace(*call, "not wanted any more"),
            _ => {}
        }
    }

    fn begin_trace(&mut self, common: &Common, call: u64, method: &str, verdict: &str) {
        let span = debug_span!(
            "request", server = %self.server, view = %self.id, call, method,
            traceparent = tracing::field::Empty
        );
        let Some(live) = self.live() else { return };
        let followed = match live.traced.get(&call) {
            Some(followed) => followed.clone(),
            None => Traced::new(span, common),
        };
        debug!(parent: &followed.span, verdict, "judged");
        if followed.is_wanted() {
            live.traced.insert(call, followed);
        }
    }

    /// It is answered, or nobody waits for it any more.
    pub(super) fn end_trace(&mut self, call: u64, how: &'static str) {
        if let Some(followed) = self.live().and_then(|live| live.traced.remove(&call)) {
            debug!(parent: &followed.span, how, "ended");
        }
    }

    /// Says to the server which trace a request belongs to, and returns the span in which it is asked.
    pub(super) fn traced(
        &mut self,
        common: &Common,
        caller: Caller,
        request: Request,
    ) -> (Request, Span) {
        let followed = match caller {
            Caller::View { call, .. } => {
                self.live().and_then(|live| live.traced.get(&call).cloned())
            }
            // Those of the model are not sent from a seat.
            Caller::Model => None,
            // A person opens a view: there is no message of one before it.
            Caller::Page { .. } => {
                let span = debug_span!(
                    "open", server = %self.server, view = %self.id, traceparent = tracing::field::Empty
                );
                Some(Traced::new(span, common))
            }
        };
        let Some(Traced { span, parent }) = followed else { return (request, Span::none()) };
        let request = parent.into_iter().fold(request, Request::in_trace);
        let span = debug_span!(parent: &span, "call", method = request.method());
        (request, span)
    }
}
