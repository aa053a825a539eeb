//! Drives one machine per view. All views of all pages are in one loop, the only one that touches them;
//! whatever takes time happens outside and comes back as an event.

mod adding;
mod agreeing;
mod attached;
mod calls;
mod common;
mod counting;
mod deeds;
mod draining;
mod embedded;
mod event;
mod granting;
mod ledger;
mod left;
mod life;
mod limits;
mod linked;
mod memory;
mod model_calls;
mod offers;
mod opening;
mod outcomes;
mod pace;
mod progress;
mod questions;
mod seat;
mod tabs;
mod tally;
mod traced;
mod writing;

pub(crate) use event::{Event, ToSocket};
pub(crate) use left::{LeftView, ShownLeft};
pub(crate) use memory::{Memory, ShownDecision, ShownDecisions};
pub use tabs::AWAY;
pub(crate) use tally::ViewFacts;
#[cfg(test)]
pub(crate) use tally::{Changed, Count, Near, Step};

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{
    sync::{mpsc, oneshot, watch},
    time::Instant,
};
use transom::{
    host::{self, Setup},
    origin::Origin,
    wire::HostStyles,
};

use crate::{
    audit::{Audit, AuditError},
    conversation::{Sampler, Wanted},
    envelope::ViewId,
    log::Log,
    metrics::Metrics,
    runs::Runs,
    sandbox::Sandbox,
    server::Servers,
    timeline::Timeline,
};
use common::{Account, Common};
use draining::Draining;
use ledger::Ledger;
use model_calls::next_wanted;
use seat::Seat;
use tally::Shown;

/// The loop.
pub(crate) struct Driver {
    common: Common,
    seats: HashMap<ViewId, Seat>,
    most_views: usize,
    away: Duration,
    left: ShownLeft,
    /// Views that said something since the last confirmation, each once.
    unconfirmed: Vec<ViewId>,
    confirm_at: Option<Duration>,
    /// Whether it takes no new views any more, and who is told when no call is under way.
    draining: Draining,
    closing: Option<oneshot::Sender<()>>,
}

/// What the loop is made from.
pub(crate) struct Parts {
    pub(crate) setup: Setup,
    /// The most views at a time, of all servers.
    pub(crate) most_views: usize,
    /// How long the views of a page that is gone wait for another.
    pub(crate) away: Duration,
    pub(crate) styles: HostStyles,
    pub(crate) servers: Arc<Servers>,
    pub(crate) sandbox: Sandbox,
    pub(crate) page_origins: Vec<Origin>,
    pub(crate) log: Arc<Log>,
    pub(crate) timeline: Arc<Timeline>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) audit: Option<Audit>,
    pub(crate) memory: Memory,
    pub(crate) metrics: Arc<Metrics>,
    /// Whether servers are told which trace a call belongs to.
    pub(crate) traces: bool,
    pub(crate) runs: Arc<Runs>,
    /// Who lets the model write for a view, where there is one.
    pub(crate) sampler: Option<Arc<dyn Sampler>>,
}

impl Driver {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts {
            setup,
            most_views,
            away,
            styles,
            servers,
            sandbox,
            page_origins,
            log,
            timeline,
            events,
            audit,
            memory,
            metrics,
            traces,
            runs,
            sampler,
        } = parts;
        let accounts = servers.list();
        let accounts = accounts.into_iter().map(|(name, it)| (name, Account::of(&setup, &it)));
        let common = Common {
            ledger: Ledger::new(audit),
            start: Instant::now(),
            accounts: accounts.collect(),
            setup: setup.clone(),
            runs,
            styles,
            servers,
            sandbox,
            page_origins,
            log,
            timeline,
            events,
            pages: HashMap::new(),
            decided: HashMap::new(),
            memory,
            sampler,
            model_calls: HashMap::new(),
            first_questions: 0,
            timers: BTreeSet::new(),
            metrics,
            shown: Shown::default(),
            traces,
        };
        let (seats, unconfirmed) = (HashMap::new(), vec![]);
        let left = ShownLeft::default();
        let (draining, closing, confirm_at) = (Draining::default(), None, None);
        Self { common, seats, most_views, away, left, unconfirmed, confirm_at, draining, closing }
    }

    /// Runs until it is told to close, and every view has had its time to save.
    pub(crate) async fn run(
        mut self,
        mut events: mpsc::Receiver<Event>,
        mut wanted: mpsc::UnboundedReceiver<Wanted>,
    ) {
        let mut audit = self.common.ledger.state();
        let mut waiting = Vec::with_capacity(TOGETHER);
        self.recall();
        loop {
            tokio::select! {
                count = events.recv_many(&mut waiting, TOGETHER), if !self.common.ledger.is_full() => {
                    if count == 0 {
                        return;
                    }
                    waiting.drain(..).for_each(|event| self.handle(event));
                }
                wanted = next_wanted(&mut wanted), if !self.common.ledger.is_full() => {
                    self.want(wanted);
                }
                (written, failed) = progress_of(&mut audit) => {
                    self.written(written, failed.as_ref());
                }
                () = sleep_until(self.common.start, self.next()) => self.tick(),
            }
            self.drained();
            if self.closing.is_some() && !self.seats.values().any(Seat::is_live) {
                let _ = self.closing.take().expect("checked").send(());
                return;
            }
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Connected { page, tab, connection, socket } => {
                self.connect(page, tab, connection, socket);
            }
            Event::Said { page, connection, text, room } => {
                drop(room);
                let pages = &self.common.pages;
                if pages.get(&page).is_some_and(|known| known.connection == connection) {
                    let begun = self.common.now();
                    self.hear(&page, &text);
                    self.common.metrics.gate.observe(self.common.now().saturating_sub(begun));
                }
            }
            Event::Lost { page, connection } => self.lose(&page, connection),
            Event::Opening { view, turn, news } => self.opening(&view, turn, news),
            Event::Progress { view, turn, call, params } => {
                if let Some((seat, common)) = self.seat_in(&view, turn) {
                    seat.progressed(common, call, &params);
                }
            }
            Event::Done { view, turn, call, outcome } => {
                if let Some((seat, common)) = self.seat_in(&view, turn) {
                    seat.done(common, call, outcome);
                }
            }
            Event::ModelCalled { call, outcome } => self.model_called(&call, outcome),
            Event::Collected { view, turn, call, files } => {
                if let Some((seat, common)) = self.seat_in(&view, turn) {
                    seat.collected(common, call, files);
                }
            }
            Event::Reported { view, turn, report } => self.reported(&view, turn, &report),
            Event::DecisionsChanged => self.decision_written(),
            Event::Forget { id, done } => {
                let _ = done.send(self.forget_decision(&id));
            }
            Event::Describe { view, done } => {
                let _ = done.send(self.describe(&view));
            }
            Event::Added { server, done } => {
                let _ = done.send(self.add(&server));
            }
            Event::Removed { server, done } => {
                self.remove(&server);
                let _ = done.send(());
            }
            Event::ListChanged { server, list } => self.list_changed(&server, list),
            Event::Ready(answer) => drop(answer.send(self.is_open())),
            Event::Drain(done) => self.drain(done),
            Event::Close(done) => self.close_all(done),
        }
        self.carry_out_held();
    }

    /// A view's seat, and what it has in common with the others.
    fn seat(&mut self, view: &ViewId) -> Option<(&mut Seat, &mut Common)> {
        Some((self.seats.get_mut(view)?, &mut self.common))
    }

    /// The same, unless something else was opened in it since.
    fn seat_in(&mut self, view: &ViewId, turn: u64) -> Option<(&mut Seat, &mut Common)> {
        self.seat(view).filter(|(seat, _)| seat.turn == turn)
    }

    fn list_changed(&mut self, server: &str, list: host::List) {
        for seat in self.seats.values_mut().filter(|seat| seat.server == server) {
            seat.list_changed(&mut self.common, list);
        }
        // What was decided about a tool may not count any more.
        if list == host::List::Tools {
            self.common.show_decisions();
        }
    }

    /// When something happens by itself.
    fn next(&self) -> Option<Duration> {
        let common = &self.common;
        let timer = common.timers.first().map(|(at, _)| *at);
        let lost = common.pages.values().filter_map(|page| page.next(self.away));
        let own = [self.confirm_at, common.ledger.count_at, common.memory.look_at()];
        timer.into_iter().chain(lost).chain(own.into_iter().flatten()).min()
    }

    fn tick(&mut self) {
        let now = self.common.now();
        while let Some((at, view)) = self.common.timers.first().cloned()
            && at <= now
        {
            self.common.timers.remove(&(at, view.clone()));
            if let Some((seat, common)) = self.seat(&view) {
                seat.tick(common);
            }
        }
        if self.confirm_at.is_some_and(|at| at <= now) {
            self.confirm();
        }
        if self.common.ledger.count_at.is_some_and(|at| at <= now) {
            self.write_counts();
        }
        if self.common.memory.look_at().is_some_and(|at| at <= now) {
            self.recall();
            self.watch_less();
        }
        self.forget_pages(now);
        self.carry_out_held();
    }

    fn close_all(&mut self, done: oneshot::Sender<()>) {
        self.closing = Some(done);
        self.close_unwatched();
        for seat in self.seats.values_mut() {
            seat.close(&mut self.common);
        }
    }
}

/// How far the audit has come, when it has come further; never without one.
async fn progress_of(
    audit: &mut Option<watch::Receiver<crate::audit::State>>,
) -> (u64, Option<AuditError>) {
    if let Some(state) = audit
        && state.changed().await.is_ok()
    {
        let state = state.borrow_and_update();
        return (state.written, state.failed.clone());
    }
    // The writer has gone, and has said all that it had to say.
    *audit = None;
    std::future::pending().await
}

async fn sleep_until(start: Instant, at: Option<Duration>) {
    match at {
        Some(at) => tokio::time::sleep_until(start + at).await,
        None => std::future::pending().await,
    }
}

/// How much of a stranger's words a line of the log holds, in characters.
const LINE: usize = 400;
/// How many events are taken at a time, before anything else is looked at.
const TOGETHER: usize = 64;

#[cfg(test)]
mod tests;
