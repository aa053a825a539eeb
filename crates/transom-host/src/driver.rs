//! Drives one machine per view. All views of all pages are in one loop, the only one that touches them;
//! whatever takes time happens outside and comes back as an event.

mod agreeing;
mod allowance;
mod deeds;
mod event;
mod ledger;
mod life;
mod limits;
mod memory;
mod offers;
mod opening;
mod pace;
mod questions;
mod seat;
mod tabs;
mod writing;

pub(crate) use event::{Event, ToSocket};
pub(crate) use memory::{Memory, ShownDecision, ShownDecisions};

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
    host::{self, Input, Reason, Setup, Share},
    policy::Decided,
    wire::HostStyles,
};

use crate::{
    audit::{Audit, AuditError},
    envelope::ViewId,
    log::Log,
    place::Place,
    sandbox::Sandbox,
    server::{Server, Servers},
};
use ledger::Ledger;
use seat::{Life, Seat};
use tabs::{AWAY, Page};

/// The loop.
pub(crate) struct Driver {
    start: Instant,
    accounts: HashMap<String, Account>,
    most_views: usize,
    styles: HostStyles,
    servers: Arc<Servers>,
    sandbox: Sandbox,
    log: Arc<Log>,
    events: mpsc::Sender<Event>,
    pages: HashMap<String, Page>,
    views: HashMap<ViewId, Seat>,
    /// What people have decided about each server (D6): for all of its views, and for its next one.
    decided: HashMap<String, Decided>,
    memory: Memory,
    /// How many questions were asked before views were shown.
    first_questions: u64,
    timers: BTreeSet<(Duration, ViewId)>,
    /// Views that said something since the last confirmation, each once.
    unconfirmed: Vec<ViewId>,
    confirm_at: Option<Duration>,
    closing: Option<oneshot::Sender<()>>,
    ledger: Ledger,
}

/// What the loop is made from.
pub(crate) struct Parts {
    pub(crate) setup: Setup,
    /// The most views at a time, of all servers.
    pub(crate) most_views: usize,
    pub(crate) styles: HostStyles,
    pub(crate) servers: Arc<Servers>,
    pub(crate) sandbox: Sandbox,
    pub(crate) log: Arc<Log>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) audit: Option<Audit>,
    pub(crate) memory: Memory,
}

/// One server's views, taken together.
struct Account {
    setup: Arc<Setup>,
    share: Share,
    place: Place,
}

impl Driver {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { setup, most_views, styles, servers, sandbox, log, events, audit, memory } =
            parts;
        let account = |(name, server): (&String, &Arc<Server>)| {
            let (limits, together) = server.limits();
            let setup = Arc::new(Setup { limits: limits.clone(), ..setup.clone() });
            let share = Share::new(Duration::ZERO, *together);
            (name.clone(), Account { setup, share, place: server.place().clone() })
        };
        Self {
            ledger: Ledger::new(audit),
            start: Instant::now(),
            accounts: servers.iter().map(account).collect(),
            most_views,
            styles,
            servers,
            sandbox,
            log,
            events,
            pages: HashMap::new(),
            views: HashMap::new(),
            decided: HashMap::new(),
            memory,
            first_questions: 0,
            timers: BTreeSet::new(),
            unconfirmed: vec![],
            confirm_at: None,
            closing: None,
        }
    }

    /// Runs until it is told to close, and every view has had its time to save.
    pub(crate) async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        let mut audit = self.ledger.state();
        let mut waiting = Vec::with_capacity(TOGETHER);
        self.recall();
        loop {
            tokio::select! {
                count = events.recv_many(&mut waiting, TOGETHER), if !self.ledger.is_full() => {
                    if count == 0 {
                        return;
                    }
                    waiting.drain(..).for_each(|event| self.handle(event));
                }
                (written, failed) = progress_of(&mut audit) => {
                    self.written(written, failed.as_ref());
                }
                () = sleep_until(self.start, self.next()) => self.tick(),
            }
            if self.closing.is_some() && !self.views.values().any(Seat::is_live) {
                let _ = self.closing.take().expect("checked").send(());
                return;
            }
        }
    }

    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    pub(super) fn handle(&mut self, event: Event) {
        match event {
            Event::Connected { page, tab, connection, socket } => {
                self.connect(page, tab, connection, socket);
            }
            Event::Frame { page, connection, text, room } => {
                drop(room);
                if self.pages.get(&page).is_some_and(|known| known.connection == connection) {
                    self.hear(&page, &text);
                }
            }
            Event::Lost { page, connection } => self.lose(&page, connection),
            // What was under way for the one before is not for the one that was opened in its place.
            Event::NotBegun { view, turn, .. }
            | Event::Prepared { view, turn, .. }
            | Event::Called { view, turn, .. }
                if self.views.get(&view).is_none_or(|seat| seat.turn != turn) => {}
            Event::NotBegun { view, words, .. } => self.not_begun(&view, &words),
            Event::Prepared { view, prepared, .. } => self.prepared(&view, prepared),
            Event::Called { view, outcome, .. } => self.called(&view, outcome),
            Event::Progress { view, call, params } => {
                self.count(&view, |counts| counts.progress += 1);
                // A sign of life that has no room is none.
                if self.room_for(&view, params.get().len()).is_ok() {
                    self.input(&view, Input::Progress { call, params: &params });
                }
            }
            Event::Done { view, call, outcome } => self.done(&view, call, outcome),
            Event::DecisionsChanged => self.decision_written(),
            Event::Forget { id, done } => {
                let _ = done.send(self.forget_decision(&id));
            }
            Event::ListChanged { server, list } => self.list_changed(&server, list),
            Event::Close(done) => self.close_all(done),
        }
    }

    pub(super) fn list_changed(&mut self, server: &str, list: host::List) {
        let views = self.views.iter().filter(|(_, seat)| seat.server == server);
        let views: Vec<ViewId> = views.map(|(view, _)| view.clone()).collect();
        for view in views {
            if let Some(live) = self.live(&view) {
                let tools = live.server.tools();
                live.session.set_tools(tools);
            }
            self.input(&view, Input::ListChanged(list));
        }
        // What was decided about a tool may not count any more.
        if list == host::List::Tools {
            self.show_decisions();
        }
    }

    /// When something happens by itself.
    pub(super) fn next(&self) -> Option<Duration> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let lost = self.pages.values().filter_map(|page| page.lost).map(|lost| lost + AWAY);
        let own = [self.confirm_at, self.ledger.count_at, self.memory.look_at()];
        timer.into_iter().chain(lost).chain(own.into_iter().flatten()).min()
    }

    pub(super) fn tick(&mut self) {
        let now = self.now();
        while let Some((at, view)) = self.timers.first().cloned()
            && at <= now
        {
            self.timers.remove(&(at, view.clone()));
            let Some(seat) = self.views.get_mut(&view) else { continue };
            seat.timer = None;
            match &seat.life {
                Life::Live(live) if live.session.deadline().is_some_and(|due| due > now) => {
                    self.drive(&view);
                }
                _ => self.input(&view, Input::Tick),
            }
        }
        if self.confirm_at.is_some_and(|at| at <= now) {
            self.confirm();
        }
        if self.ledger.count_at.is_some_and(|at| at <= now) {
            self.write_counts();
        }
        if self.memory.look_at().is_some_and(|at| at <= now) {
            self.recall();
            self.watch_less();
        }
        self.forget_pages(now);
    }

    pub(super) fn close_all(&mut self, done: oneshot::Sender<()>) {
        let now = self.now();
        self.closing = Some(done);
        self.close_unwatched();
        let views: Vec<ViewId> = self.views.keys().cloned().collect();
        for view in views {
            if let Some(live) = self.live(&view) {
                live.session.close(now, Reason::Closed);
            } else if self.views.get(&view).is_some_and(|seat| !seat.is_over()) {
                self.end(&view, "teardown");
            }
            self.drive(&view);
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
