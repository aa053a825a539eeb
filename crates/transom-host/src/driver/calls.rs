//! Calls to servers, for views and for the page: here they start, and here it is told what comes of them.

use std::{sync::Arc, time::Duration};

use serde_json::value::RawValue;
use tokio::{
    sync::{mpsc, oneshot},
    time::{Instant, sleep_until},
};
use tracing::Instrument as _;
use transom::{host::ToolCall, printed::Printed, violation::Quoted};

use super::{
    common::Common,
    event::{Event, News},
    progress::Calling,
    seat::Seat,
};
use crate::{
    envelope::ViewId,
    log::LineKind,
    runs::Of,
    server::Server,
    timeline::{Kind, Moment, Timeline},
    upstream::{CallError, CallOptions, Outcome, Request, Update},
    words,
};

/// Who called, and is told what comes of it.
#[derive(Clone, Copy)]
pub(super) enum Caller {
    /// The page, for a person: the tool whose view is opened in this turn.
    Page { turn: u64 },
    /// The view of this turn, in its call of this number. The next one in the seat counts from the same number.
    View { turn: u64, call: u64 },
    /// The model.
    Model,
}

impl Seat {
    /// Calls the tool whose view this is. That it is called is written down.
    pub(super) fn call_opening(&mut self, common: &mut Common, call: &ToolCall) {
        let words = words!("tools/call {}", Quoted::new(&call.name));
        common.log.write(LineKind::Call, &self.server, words);
        let arguments = call.arguments.as_ref().map(Printed::get);
        common.runs.begin(&self.run(), &self.server, &call.name, arguments);
        let caller = Caller::Page { turn: self.turn };
        match Request::call_tool(call) {
            Ok(request) => self.send(common, caller, request),
            Err(error) => self.not_begun(common, &error.to_string()),
        }
    }

    /// What is opened here now, for the list of runs.
    pub(super) fn run(&self) -> Of<'_> {
        Of { view: &self.id, turn: self.turn }
    }

    /// Sends a request to the view's server, and its outcome to the loop.
    pub(super) fn send(&mut self, common: &Common, caller: Caller, request: Request) {
        let Some(server) = common.servers.get(&self.server) else { return };
        let (request, span) = self.traced(common, caller, request);
        let (stop, stopped) = oneshot::channel();
        match (caller, self.live()) {
            (Caller::View { call, .. }, Some(live)) => drop(live.calls.insert(call, stop)),
            (Caller::View { .. }, None) => return,
            (Caller::Model, _) => return,
            (Caller::Page { .. }, _) => self.call = Some(Calling::new(stop, common.now())),
        }
        let told = Told {
            view: self.id.clone(),
            events: common.events.clone(),
            timeline: Arc::clone(&common.timeline),
        };
        tokio::spawn(follow(server, request, caller, told, stopped).instrument(span));
    }
}

impl Common {
    /// Ends what a server keeps for a view. Nothing waits for the outcome: the view may be gone.
    pub(super) fn release(&self, server: &str, call: &ToolCall) {
        let Some(server) = self.servers.get(server) else { return };
        let Ok(request) = Request::call_tool(call) else { return };
        tokio::spawn(async move {
            let Ok(mut pending) = server.start(&request, CallOptions::default()) else { return };
            while let Some(Update::Progress(_)) = pending.next().await {}
        });
    }
}

/// Who is told how a call gets on.
pub(super) struct Told {
    pub(super) view: ViewId,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) timeline: Arc<Timeline>,
}

impl Caller {
    /// Notes under which number its server knows the call.
    fn note_sent(self, timeline: &Timeline, server: &str, view: &ViewId, id: Option<u64>) {
        timeline.tell(server, view, || {
            let call = match self {
                Self::Page { .. } | Self::Model => None,
                Self::View { call, .. } => Some(call),
            };
            Moment { call, server_id: id, ..Moment::of(Kind::Sent) }
        });
    }

    fn done(self, view: ViewId, outcome: Outcome) -> Event {
        match self {
            Self::Page { turn } => Event::Opening { view, turn, news: News::Called(outcome) },
            Self::View { turn, call } => Event::Done { view, turn, call, outcome },
            Self::Model => Event::ModelCalled { call: view, outcome },
        }
    }

    /// What the loop is told while it runs: what its server said last, or to a person that it takes a while.
    /// A call of the model is shown as running, and no more.
    fn progress(self, view: ViewId, params: Option<Box<RawValue>>) -> Option<Event> {
        match self {
            Self::Page { turn } => {
                Some(Event::Opening { view, turn, news: News::Progress(params) })
            }
            Self::View { turn, call } => {
                params.map(|params| Event::Progress { view, turn, call, params })
            }
            Self::Model => None,
        }
    }
}

/// Waits for the end of a call, unless it is stopped before. However fast its server says how it gets on, the loop hears of
/// it a few times a second; what it hears then is the newest.
pub(super) async fn follow(
    server: Arc<Server>,
    request: Request,
    caller: Caller,
    Told { view, events, timeline }: Told,
    mut stopped: oneshot::Receiver<Quoted>,
) {
    let options = CallOptions { progress: true, patience: None };
    let mut pending = match server.start(&request, options) {
        Ok(pending) => pending,
        Err(error) => return drop(events.send(caller.done(view, Err(error))).await),
    };
    caller.note_sent(&timeline, server.name(), &view, pending.id());
    let (mut pace, mut newest) = (Tellings::of(caller), None);
    loop {
        let update = tokio::select! {
            // An answer that is there already is not wanted either.
            biased;
            reason = &mut stopped => {
                let reason = reason.unwrap_or_else(|_| "no longer wanted".into());
                return pending.cancel(reason.as_str());
            }
            () = sleep_until(pace.due), if pace.waits || newest.is_some() => {
                pace.told();
                if let Some(event) = caller.progress(view.clone(), newest.take()) {
                    let _ = events.send(event).await;
                }
                continue;
            }
            update = pending.next() => update,
        };
        let outcome = match update {
            Some(Update::Progress(params)) => {
                newest = Some(params);
                continue;
            }
            Some(Update::Done(outcome)) => outcome,
            None => Err(CallError::Cancelled),
        };
        tracing::debug!(ok = outcome.is_ok(), "the server answered, or will not");
        // The last word on a call of a view comes before its answer, and not never.
        if let (Caller::View { .. }, Some(_)) = (caller, &newest)
            && let Some(event) = caller.progress(view.clone(), newest)
        {
            let _ = events.send(event).await;
        }
        return drop(events.send(caller.done(view, outcome)).await);
    }
}

/// When the loop is told next how a call gets on.
struct Tellings {
    due: Instant,
    /// Whether a person is told even if the server says nothing.
    waits: bool,
    /// How often more it is told at once.
    at_once: u32,
    between: Duration,
}

impl Tellings {
    fn of(caller: Caller) -> Self {
        let now = Instant::now();
        match caller {
            Caller::Page { .. } => {
                Self { due: now + SLOW, waits: true, at_once: 0, between: FOR_A_PERSON }
            }
            Caller::Model => Self { due: now, waits: false, at_once: 0, between: FOR_A_PERSON },
            Caller::View { .. } => {
                Self { due: now, waits: false, at_once: AT_ONCE, between: FOR_A_VIEW }
            }
        }
    }

    fn told(&mut self) {
        self.waits = false;
        if self.at_once > 0 {
            self.at_once -= 1;
        } else {
            self.due = Instant::now() + self.between;
        }
    }
}

/// How long a call of a person takes before they are told that it does: most are faster.
const SLOW: Duration = Duration::from_millis(400);
/// Between two words to a person on how a call gets on.
const FOR_A_PERSON: Duration = Duration::from_millis(250);
/// The same to a view, after the first few.
const FOR_A_VIEW: Duration = Duration::from_millis(50);
const AT_ONCE: u32 = 32;
