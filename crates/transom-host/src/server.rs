//! The servers of a host: each with its connection, its tools, and the documents of its views.

mod aside;
mod connecting;
mod described;
mod prepared;
mod reviewing;
mod shown;

use aside::Aside;
#[cfg(test)]
pub(crate) use described::Claim;
pub(crate) use described::DocumentFacts;
pub(crate) use prepared::{Brought, Doubt, Prepared, Running};
#[cfg(test)]
pub(crate) use shown::About;
use shown::Condition;
pub use shown::{Remark, ServerState, ShownTool, SignIn, Standing};

use std::{
    collections::BTreeMap,
    sync::{
        Arc, Mutex, PoisonError, RwLock,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

use tokio::sync::{Notify, mpsc, watch};
use transom::{
    csp::Grant,
    host::{Limits as ViewLimits, List, ServerLimits, Tools},
    policy::Policy,
    wire::ResourcePermissions,
};

use crate::{
    documents::Store,
    log::Log,
    place::Place,
    timeline::Timeline,
    upstream::{
        Ask, Call, CallError, CallOptions, NotCalled, NotSignedIn, OAuth, Request, ResourceEntries,
        Return, Target, Times, Upstream,
    },
};

/// All servers of a host, by the name they are configured with.
pub(crate) struct Servers {
    all: RwLock<BTreeMap<String, Arc<Server>>>,
    version: watch::Sender<u64>,
    prefetch: bool,
}

/// A list of a server changed, as the loop is told.
pub(crate) struct ListChanged {
    pub(crate) server: String,
    pub(crate) list: List,
}

/// One server.
pub(crate) struct Server {
    name: String,
    policy: Arc<Policy>,
    grants: Vec<Grant>,
    /// Whether it is ours: whoever changes its documents is whoever is shown them.
    own: bool,
    permissions: ResourcePermissions,
    limits: (ViewLimits, ServerLimits),
    place: Place,
    upstream: Mutex<Option<Upstream>>,
    /// How long its first words may take; as long as any server's, unless said.
    greeting: Option<Duration>,
    times: Times,
    /// Told when it is to be started again.
    again: Notify,
    /// Told when a person has removed it.
    removed: Notify,
    /// Whether a person added it while the host runs.
    added: AtomicBool,
    /// Told when its documents may be others than those that were looked at.
    unseen: Notify,
    oauth: Option<Arc<OAuth>>,
    /// Who answers what it asks.
    ask: Option<Arc<dyn Ask>>,
    store: Store,
    /// What its list of resources says, once it was needed.
    entries: tokio::sync::Mutex<Option<Arc<ResourceEntries>>>,
    /// The same for the templates of addresses that it has.
    templates: tokio::sync::Mutex<Option<Arc<Vec<String>>>>,
    page_origins: Vec<transom::origin::Origin>,
    state: Mutex<Condition>,
    aside: Arc<Aside>,
    log: Arc<Log>,
    timeline: Arc<Timeline>,
}

impl Servers {
    pub(crate) fn new(all: BTreeMap<String, Arc<Server>>, prefetch: bool) -> Self {
        Self { all: RwLock::new(all), version: watch::Sender::new(0), prefetch }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.all.read().unwrap_or_else(PoisonError::into_inner).get(name).cloned()
    }

    /// The servers as they are now, by name.
    pub(crate) fn list(&self) -> Vec<(String, Arc<Server>)> {
        let all = self.all.read().unwrap_or_else(PoisonError::into_inner);
        all.iter().map(|(name, server)| (name.clone(), Arc::clone(server))).collect()
    }

    /// Puts in one that a person added.
    pub(crate) fn insert(&self, server: &Arc<Server>) {
        server.added.store(true, Ordering::Relaxed);
        let mut all = self.all.write().unwrap_or_else(PoisonError::into_inner);
        all.insert(server.name.clone(), Arc::clone(server));
        drop(all);
        self.changed();
    }

    /// Takes one out, and ends it.
    pub(crate) fn remove(&self, name: &str) {
        let server = self.all.write().unwrap_or_else(PoisonError::into_inner).remove(name);
        if let Some(server) = server {
            server.removed.notify_one();
        }
        self.changed();
    }

    /// Starts every connection; what becomes of it shows in the state and the log.
    pub(crate) fn connect(
        self: &Arc<Self>,
        targets: Vec<(String, Target)>,
        events: &mpsc::Sender<impl From<ListChanged> + Send + 'static>,
    ) {
        for (name, target) in targets {
            let (servers, events) = (Arc::clone(self), events.clone());
            let Some(server) = self.get(&name) else { continue };
            tokio::spawn(async move {
                tokio::select! {
                    () = Arc::clone(&server).live(target, &servers, &events) => {}
                    () = server.removed.notified() => {}
                }
                if let Some(upstream) = server.upstream() {
                    server.connect(None);
                    upstream.close().await;
                }
            });
        }
    }

    /// The servers as the page shows them, once they are newer than what it has.
    pub(crate) async fn after(
        &self,
        seen: Option<u64>,
        patience: Duration,
    ) -> (u64, Vec<ServerState>) {
        let mut version = self.version.subscribe();
        let newer = |version: &u64| seen.is_none_or(|seen| *version > seen);
        let _ = tokio::time::timeout(patience, version.wait_for(newer)).await;
        let version = *self.version.borrow();
        (version, self.list().iter().map(|(_, server)| server.shown()).collect())
    }

    /// Starts a server again, whatever it is doing; whether there is one of that name.
    pub(crate) fn restart(&self, name: &str) -> bool {
        let server = self.get(name);
        server.inspect(|server| server.again.notify_one()).is_some()
    }

    /// Ends every connection.
    pub(crate) async fn close(&self) {
        for (_, server) in self.list() {
            if let Some(upstream) = server.upstream() {
                upstream.close().await;
            }
        }
    }

    /// Takes what a browser came back with after signing in, and says to which server.
    pub(crate) async fn returned(
        &self,
        returned: &Return,
    ) -> Option<(String, Result<(), NotSignedIn>)> {
        for (name, server) in self.list() {
            let Some(oauth) = &server.oauth else { continue };
            if let Some(outcome) = oauth.complete(returned).await {
                return Some((name, outcome));
            }
        }
        None
    }

    /// Something that pages show has changed.
    pub(crate) fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

/// What is agreed with a server.
pub(crate) struct Trust {
    pub(crate) policy: Arc<Policy>,
    pub(crate) grants: Vec<Grant>,
    pub(crate) permissions: ResourcePermissions,
    pub(crate) limits: ViewLimits,
    pub(crate) server_limits: ServerLimits,
    pub(crate) place: Place,
    /// Whether it is ours.
    pub(crate) own: bool,
    /// How long its first words may take.
    pub(crate) greeting: Option<Duration>,
    /// How long everything else may take.
    pub(crate) times: Times,
    /// Who answers what it asks.
    pub(crate) ask: Option<Arc<dyn Ask>>,
}

impl Server {
    pub(crate) fn new(
        name: String,
        Trust {
            policy,
            grants,
            permissions,
            limits,
            server_limits,
            place,
            own,
            greeting,
            times,
            ask,
        }: Trust,
        oauth: Option<Arc<OAuth>>,
        store: Store,
        page_origins: Vec<transom::origin::Origin>,
        log: Arc<Log>,
        timeline: Arc<Timeline>,
    ) -> Self {
        let words = "connecting…".to_owned();
        let standing = Standing::Connecting;
        let state = Condition { standing, words, findings: vec![], unseen: 0, sign_in: None };
        let (upstream, state) = (Mutex::default(), Mutex::new(state));
        let (entries, templates) = <(tokio::sync::Mutex<_>, tokio::sync::Mutex<_>)>::default();
        // What is kept for a place that will not be the same lasts for this run.
        let store = if place.is_kept() { store } else { store.for_this_run() };
        let aside = Aside::new(&name, Arc::clone(&log));
        Self {
            name,
            policy,
            grants,
            permissions,
            limits: (limits, server_limits),
            place,
            own,
            upstream,
            greeting,
            times,
            again: Notify::new(),
            removed: Notify::new(),
            added: AtomicBool::new(false),
            unseen: Notify::new(),
            oauth,
            ask,
            store,
            entries,
            templates,
            page_origins,
            state,
            aside,
            log,
            timeline,
        }
    }

    /// The name that it is configured with.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Whether whoever writes it is whoever is shown its views.
    pub(crate) fn is_own(&self) -> bool {
        self.own
    }

    /// The rules for its views.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// What each of its views may use up, and all of them together.
    pub(crate) fn limits(&self) -> &(ViewLimits, ServerLimits) {
        &self.limits
    }

    /// How long it may take.
    pub(crate) fn times(&self) -> &Times {
        &self.times
    }

    /// Where it is.
    pub(crate) fn place(&self) -> &Place {
        &self.place
    }

    /// The tools as they are now.
    pub(crate) fn tools(&self) -> Arc<Tools> {
        self.upstream().map(|upstream| Arc::clone(upstream.tools().tools())).unwrap_or_default()
    }

    /// Starts a call.
    pub(crate) fn start(&self, request: &Request, options: CallOptions) -> Result<Call, CallError> {
        let upstream = self.upstream().ok_or(NotCalled::NotConnected)?;
        Ok(upstream.call(request, options)?)
    }

    /// The connection, while there is one.
    fn upstream(&self) -> Option<Upstream> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn connect(&self, upstream: Option<Upstream>) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = upstream;
    }
}
