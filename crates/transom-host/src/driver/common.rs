//! What all seats have in common: the clock, the log, the ledger, the accounts of their servers, and the pages.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::{sync::mpsc, time::Instant};
use transom::{
    host::{Setup, Share},
    origin::Origin,
    policy::Decided,
    wire::HostStyles,
};

use super::{
    event::{Event, ToSocket},
    ledger::Ledger,
    memory::Memory,
    model_calls::ModelCalls,
    tabs::Load,
    tally::Shown,
};
use crate::{
    audit::Record,
    conversation::Sampler,
    envelope::ViewId,
    grants::Given,
    log::Log,
    metrics::Metrics,
    place::Place,
    runs::Runs,
    sandbox::Sandbox,
    server::{Prepared, Server, Servers},
    timeline::Timeline,
};

/// What a seat needs beside its own.
pub(super) struct Common {
    pub(super) start: Instant,
    pub(super) accounts: HashMap<String, Account>,
    /// What is offered to views, before the limits of their servers.
    pub(super) setup: Setup,
    /// What people ran.
    pub(super) runs: Arc<Runs>,
    pub(super) styles: HostStyles,
    pub(super) servers: Arc<Servers>,
    pub(super) sandbox: Sandbox,
    /// Which pages may embed views.
    pub(super) page_origins: Vec<Origin>,
    pub(super) log: Arc<Log>,
    pub(super) timeline: Arc<Timeline>,
    pub(super) events: mpsc::Sender<Event>,
    pub(super) pages: HashMap<String, Load>,
    /// What people have decided about each server (D6): for all of its views, and for its next one.
    pub(super) decided: HashMap<String, Decided>,
    pub(super) memory: Memory,
    pub(super) sampler: Option<Arc<dyn Sampler>>,
    /// What the model calls.
    pub(super) model_calls: ModelCalls,
    pub(super) ledger: Ledger,
    /// When which view is looked at next.
    pub(super) timers: BTreeSet<(Duration, ViewId)>,
    /// The documents that were shown so far.
    pub(super) shown: Shown,
    /// How many questions were asked before views were shown.
    pub(super) first_questions: u64,
    pub(super) metrics: Arc<Metrics>,
    /// Whether servers are told which trace a call belongs to.
    pub(super) traces: bool,
}

/// One server's views, taken together.
pub(super) struct Account {
    pub(super) setup: Arc<Setup>,
    pub(super) share: Share,
    pub(super) place: Place,
}

impl Account {
    /// The account of a server.
    pub(super) fn of(setup: &Setup, server: &Server) -> Self {
        let (limits, together) = server.limits();
        let mut setup = Setup { limits: limits.clone(), ..setup.clone() };
        setup.terms.call = server.times().outlasting(setup.terms.call);
        let share = Share::new(Duration::ZERO, *together);
        Self { setup: Arc::new(setup), share, place: server.place().clone() }
    }
}

impl Common {
    /// The time since the loop began.
    pub(super) fn now(&self) -> Duration {
        self.start.elapsed()
    }

    /// The name of the next question that is asked before a view is shown. None is used twice: a click that is under way
    /// while a question is replaced must not answer the new one.
    pub(super) fn first_question_id(&mut self) -> String {
        self.first_questions += 1;
        format!("first-{}", self.first_questions)
    }

    /// The socket of a page, while it has one.
    pub(super) fn socket(&self, page: &str) -> Option<&mpsc::UnboundedSender<ToSocket>> {
        self.pages.get(page)?.socket.as_ref()
    }

    /// What a person decided about a private address for the views of a server; nothing, if no question was asked.
    pub(super) fn nearby(&self, server: &str, wish: &str) -> Option<bool> {
        self.decided.get(server)?.nearby(wish)
    }

    /// What people have given a view: for longer to all views of its server, or to this one alone.
    pub(super) fn given(&self, prepared: &Prepared) -> Given {
        let server = prepared.server.name();
        let (mut nearby, once) = (prepared.nearby(), &prepared.once);
        nearby.retain(|wish| once.nearby.contains(wish) || self.nearby(server, wish) == Some(true));
        let mut grants = self.decided.get(server).map(Decided::granted).unwrap_or_default();
        grants.extend(&once.grants);
        grants.retain(|grantable| prepared.could_use(*grantable));
        Given { nearby, grants }
    }

    /// Writes something about a view down.
    pub(super) fn note(
        &self,
        server: &str,
        view: &ViewId,
        record: impl FnOnce() -> Record,
    ) -> Option<u64> {
        let audit = self.ledger.audit()?;
        Some(audit.note(record().of(server, view.as_str())))
    }
}
