//! A host: servers, the gate, and the two routers that an application serves.

mod builder;

pub use builder::{BuildError, Builder};

use std::{fmt, io, path::Path, sync::Arc, time::Duration};

use axum::Router;
use tokio::sync::{mpsc, oneshot};
use transom::{
    host::{Limits, ServerLimits, Terms},
    origin::Origin,
    policy::Policy,
};

use crate::{
    adding::{AddError, Addition},
    audit::Audit,
    context,
    conversation::Model,
    decisions,
    driver::{AWAY, Event},
    log::Log,
    metrics::Metrics,
    operators::{self, Operators, Told},
    page::{self, Page, PageKey, PagePolicy},
    sandbox::{Naming, Sandbox},
    secret::{Key, ShortToken},
    server::{ServerState, Servers},
    timeline::{self, Recording, Trace},
};

/// A running host.
pub struct Host {
    page: Arc<Page>,
    sandbox: Sandbox,
    servers: Arc<Servers>,
    pub(crate) events: mpsc::Sender<Event>,
    log: Arc<Log>,
    metrics: Arc<Metrics>,
    audit: Option<Audit>,
}

impl Host {
    /// Begins a host whose page is at these origins and whose frames are named like this.
    pub fn builder(page_origins: Vec<Origin>, naming: Naming) -> Builder {
        Builder {
            servers: vec![],
            policy: Policy::default(),
            limits: Limits::default(),
            server_limits: ServerLimits::default(),
            most_views: VIEWS,
            away: AWAY,
            terms: Terms::default(),
            page_origins,
            naming,
            data: None,
            styles: context::page_look(),
            prefetch: true,
            first: None,
            audit: None,
            remember: decisions::DAYS,
            page_policy: PagePolicy::default(),
            standing: None,
            traces: false,
            keeper: None,
            model: Model::script(),
        }
    }

    /// Where the page is.
    pub fn page_origins(&self) -> &[Origin] {
        &self.page.origins
    }

    /// The routes of the page's origin.
    pub fn page_router(&self) -> Router {
        page::router(Arc::clone(&self.page))
    }

    /// What a page of an application's own asks for, without the page that this crate brings along: under
    /// `/api`, `/ws` and `/oauth`.
    pub fn api_router(&self) -> Router {
        page::api(Arc::clone(&self.page))
    }

    /// Puts an application's own routes of the page's origin behind the checks that the page's have: the
    /// names in `Host` and `Origin`, the policy, with what [`Builder::page_policy`] adds to it, and no word to other sites.
    /// A policy that a route sends itself does not count.
    pub fn guard(&self, routes: Router) -> Router {
        page::guarded(Arc::clone(&self.page), routes)
    }

    /// The routes of all sandbox and guest origins.
    pub fn sandbox_router(&self) -> Router {
        self.sandbox.router()
    }

    /// What operators ask: `/healthz`, `/readyz` and `/metrics`, for a listener of its own that no browser needs to reach.
    pub fn operator_router(&self, operators: Operators) -> Result<Router, ShortToken> {
        operators::router(
            Told {
                events: self.events.clone(),
                metrics: Arc::clone(&self.metrics),
                servers: Arc::clone(&self.servers),
                audit: self.audit.clone(),
            },
            operators,
        )
    }

    /// The token that the page's address carries in its fragment; good once.
    pub fn token(&self) -> String {
        let token = self.page.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        token.as_ref().map(|token| token.reveal().to_owned()).unwrap_or_default()
    }

    /// Another such token, which takes the place of one that was not used: for a browser that has no page yet, or none any more.
    pub fn fresh_token(&self) -> String {
        let fresh = Key::new();
        let token = fresh.reveal().to_owned();
        *self.page.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(fresh);
        token
    }

    /// A key for one load of an application's own page, good for so long, at most a year: the application gives it to whom it
    /// knows, by its own way of signing in. A page may be loaded, and opened in another tab, as often as it is given one.
    ///
    /// All keys of a host are one person's: each shows all its servers, decisions and views. An application with several people has
    /// a host for each.
    pub fn page_key(&self, term: Duration) -> PageKey {
        self.page.keys.give(term)
    }

    /// What happened so far.
    pub fn log(&self) -> &Log {
        &self.log
    }

    /// How the servers are, once that is newer than what was `seen`; after `patience` in any case.
    ///
    /// The number that comes along is what to have `seen` the next time.
    pub async fn servers(&self, seen: Option<u64>, patience: Duration) -> (u64, Vec<ServerState>) {
        self.servers.after(seen, patience).await
    }

    /// Ends a server and starts it anew, whatever it is doing; also one that could not be started. Views stay
    /// open, and are told that its lists have changed. Whether there is a server of that name.
    pub fn restart(&self, server: &str) -> bool {
        self.servers.restart(server)
    }

    /// Adds a server while the host runs.
    pub async fn add_server(&self, addition: Addition) -> Result<(), AddError> {
        self.page.door.add(addition).await
    }

    /// Ends a server and its views, and forgets it; whether there was one of that name.
    pub async fn remove_server(&self, server: &str) -> Result<bool, AddError> {
        self.page.door.remove(server).await
    }

    /// Remembers that a person agreed to what a tool of a server shows.
    #[cfg(test)]
    pub(crate) fn agree(&self, server: &str, tool: &str, document: &crate::documents::Document) {
        self.servers.get(server).expect("it is configured").agree(tool, document);
    }

    /// Whether no person has agreed to anything that this tool shows.
    #[cfg(test)]
    pub(crate) fn is_new(
        &self,
        server: &str,
        tool: &str,
        document: &crate::documents::Document,
    ) -> bool {
        self.servers.get(server).expect("it is configured").is_new(tool, document)
    }

    /// Whether that is what a person agreed to.
    #[cfg(test)]
    pub(crate) fn is_agreed(
        &self,
        server: &str,
        tool: &str,
        document: &crate::documents::Document,
    ) -> bool {
        self.servers.get(server).expect("it is configured").is_agreed(tool, document)
    }

    #[cfg(test)]
    pub(crate) fn server(&self, name: &str) -> Arc<crate::server::Server> {
        self.servers.get(name).expect("it is configured")
    }

    #[cfg(test)]
    pub(crate) fn events(&self) -> &mpsc::Sender<Event> {
        &self.events
    }

    /// Keeps what passes on both wires from now on, for [`trace`](Self::trace).
    pub fn keep_timeline(&self) {
        self.page.timeline.look_always();
    }

    /// What passed on both wires, as far as it is kept: without secrets, and no more than the timeline of a page holds.
    pub fn trace(&self) -> Trace {
        let text = timeline::trace(&self.page.timeline.head(), &self.page.timeline.all());
        Trace::read(text.as_bytes()).expect("a text can be read")
    }

    /// Writes what passes on both wires into a new file, from now on and with the first words of its servers, until what is
    /// returned is told to finish. Secrets are taken out by the rules of `docs/trace.md`.
    pub fn record(&self, path: &Path) -> io::Result<Recording> {
        Recording::begin(Arc::clone(&self.page.timeline), path)
    }

    /// The audit, if there is one.
    pub fn audit(&self) -> Option<&Audit> {
        self.audit.as_ref()
    }

    #[cfg(test)]
    pub(crate) fn decisions(&self) -> Vec<crate::driver::ShownDecision> {
        let shown = self.page.decisions.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        shown.clone()
    }

    #[cfg(test)]
    pub(crate) fn left(&self) -> Vec<crate::driver::LeftView> {
        self.page.left.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Announces the end: no new view opens, and calls that are under way are finished, for so long at most. Whether they were.
    ///
    /// `/readyz` says no from then on. Views that are open stay so, and may call, until [`Host::close`]. Questions without an answer are not waited
    /// for.
    pub async fn drain(&self, within: Duration) -> bool {
        let (done, drained) = oneshot::channel();
        if self.events.send(Event::Drain(done)).await.is_err() {
            return true;
        }
        // Where the loop is gone, nothing is under way.
        tokio::time::timeout(within, drained).await.is_ok()
    }

    /// Ends every view, after its time to save, and then every server. The audit stays open, for its
    /// owner to close.
    pub async fn close(&self) {
        let (done, ended) = oneshot::channel();
        if self.events.send(Event::Close(done)).await.is_ok() {
            let _ = ended.await;
        }
        self.servers.close().await;
    }
}

impl fmt::Debug for Host {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.servers.list().into_iter().map(|(name, _)| name).collect::<Vec<_>>();
        f.debug_struct("Host").field("servers", &names).finish_non_exhaustive()
    }
}

/// The most views of one host at a time, unless it is told otherwise.
const VIEWS: usize = 2_000;

#[cfg(test)]
mod tests;
