//! What a host is made from, and how it is started.

use std::{
    collections::BTreeMap,
    fmt,
    path::{Path, PathBuf},
    sync::Arc,
    time::Duration,
};

use tokio::sync::mpsc;
use transom::{
    host::{Limits, ServerLimits, Setup, Terms},
    origin::Origin,
    policy::Policy,
    wire::{HostCapabilities, HostStyles, Implementation, ListChanged, Modalities, Sampling},
};

use super::Host;
use crate::{
    adding::{Door, Doorkeeper},
    audit::Audit,
    conversation::{Model, Reception},
    decisions::Decisions,
    documents::{Bounds, FilePins, MemoryPins, PinError, Pins, Store},
    driver::{Driver, Memory, Parts},
    log::Log,
    making::{Agreement, Maker},
    metrics::Metrics,
    page::{self, First, Page, PagePolicy, Shown, SourceAmongFrames},
    runs::Runs,
    sandbox::{KeyError, Naming, PageAmongFrames, Sandbox, SandboxScript, StableKey},
    secret::{Key, ShortToken},
    server::{Server, Servers},
    timeline::Timeline,
    upstream::{Target, Tokens},
};

/// What a host is made from.
pub struct Builder {
    pub(super) servers: Vec<(String, Target, Agreement)>,
    pub(super) policy: Policy,
    pub(super) limits: Limits,
    pub(super) server_limits: ServerLimits,
    pub(super) most_views: usize,
    pub(super) away: Duration,
    pub(super) terms: Terms,
    pub(super) page_origins: Vec<Origin>,
    pub(super) naming: Naming,
    pub(super) data: Option<PathBuf>,
    pub(super) styles: HostStyles,
    pub(super) prefetch: bool,
    pub(super) first: Option<First>,
    pub(super) audit: Option<Audit>,
    pub(super) remember: u32,
    pub(super) page_policy: PagePolicy,
    pub(super) standing: Option<String>,
    pub(super) traces: bool,
    pub(super) keeper: Option<Arc<dyn Doorkeeper>>,
    pub(super) model: Model,
}

/// Why a host could not be made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BuildError {
    /// The pins of documents cannot be used.
    #[error(transparent)]
    Pins(#[from] PinError),
    /// The key for stable names cannot be used.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// The system has no randomness to make keys of.
    #[error("the system gives no random numbers")]
    NoRandomness,
    /// The page is where frames are.
    #[error(transparent)]
    PageAmongFrames(#[from] PageAmongFrames),
    /// Two servers with one name.
    #[error("there are two servers named {0:?}; give one of them another name")]
    TwoServers(String),
    /// A source of the page's policy is where frames are.
    #[error(transparent)]
    SourceAmongFrames(#[from] SourceAmongFrames),
    /// The operator's token could be guessed.
    #[error(transparent)]
    ShortToken(#[from] ShortToken),
}

impl Builder {
    /// Adds a server under a name of its own.
    #[must_use]
    pub fn server(self, name: impl Into<String>, target: Target) -> Self {
        self.server_with(name, target, Agreement::default())
    }

    /// Adds a server with an agreement of its own.
    #[must_use]
    pub fn server_with(
        mut self,
        name: impl Into<String>,
        target: Target,
        agreement: Agreement,
    ) -> Self {
        self.servers.push((name.into(), target, agreement));
        self
    }

    /// Sets the rules for all servers that have none of their own.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policy = policy;
        self
    }

    /// Sets what a view may use up.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Sets what all views of one server may use up together.
    #[must_use]
    pub fn server_limits(mut self, limits: ServerLimits) -> Self {
        self.server_limits = limits;
        self
    }

    /// Sets how many views may be open at a time, of all servers.
    #[must_use]
    pub fn most_views(mut self, views: usize) -> Self {
        self.most_views = views;
        self
    }

    /// Sets how long the views of a page that is gone wait for it, or for another page that takes them over.
    #[must_use]
    pub fn away(mut self, away: Duration) -> Self {
        self.away = away;
        self
    }

    /// Sets how long things may take.
    #[must_use]
    pub fn terms(mut self, terms: Terms) -> Self {
        self.terms = terms;
        self
    }

    /// Keeps pins and keys in this folder; without one they last as long as the host.
    #[must_use]
    pub fn data(mut self, folder: PathBuf) -> Self {
        self.data = Some(folder);
        self
    }

    /// Writes down what views do, before it happens (D7). Without it nothing is.
    #[must_use]
    pub fn audit(mut self, audit: Audit) -> Self {
        self.audit = Some(audit);
        self
    }

    /// For how many days a decision is remembered that a person made for longer than once; with none, or
    /// without a data folder, until the host ends.
    #[must_use]
    pub fn remember(mut self, days: u32) -> Self {
        self.remember = days;
        self
    }

    /// Sets the model that conversations are with. Without one a built-in script answers, and views get no sampling.
    #[must_use]
    pub fn model(mut self, model: Model) -> Self {
        self.model = model;
        self
    }

    /// Sets the look that views are told of, for a page that is not the one this crate brings along.
    #[must_use]
    pub fn styles(mut self, styles: HostStyles) -> Self {
        self.styles = styles;
        self
    }

    /// Whether documents are read and looked at when a server connects, or only when they are opened.
    #[must_use]
    pub fn prefetch(mut self, prefetch: bool) -> Self {
        self.prefetch = prefetch;
        self
    }

    /// Lets an application's own pages do more than every page of a host may: see [`PagePolicy`].
    #[must_use]
    pub fn page_policy(mut self, policy: PagePolicy) -> Self {
        self.page_policy = policy;
        self
    }

    /// Whether servers are told in each call which trace it belongs to: W3C `traceparent`, in `_meta` and in a header over HTTP. They are not, unless
    /// said. A view never says it. The spans of `tracing` at the level `debug` hold the same.
    #[must_use]
    pub fn trace_calls(mut self, trace: bool) -> Self {
        self.traces = trace;
        self
    }

    /// A token of the operator's own, beside those of [`Host::token`]: it opens the page as often as it is given, in any browser.
    /// For a host that others reach, where no person reads what it prints.
    #[must_use]
    pub fn standing_token(mut self, token: impl Into<String>) -> Self {
        self.standing = Some(token.into());
        self
    }

    /// The tool that a fresh page opens by itself.
    #[must_use]
    pub fn open_first(mut self, server: impl Into<String>, tool: impl Into<String>) -> Self {
        self.first = Some(First { server: server.into(), tool: tool.into() });
        self
    }

    /// Lets servers be added on the page; who decides about them. Without one, none can be.
    #[must_use]
    pub fn doorkeeper(mut self, keeper: Arc<dyn Doorkeeper>) -> Self {
        self.keeper = Some(keeper);
        self
    }

    /// Starts it: the loop, and a connection to every server. Needs a tokio runtime.
    pub fn build(mut self) -> Result<Host, BuildError> {
        self.naming.check(&self.page_origins)?;
        self.page_policy.check(&self.naming)?;
        let standing = self.standing.as_deref().map(Key::chosen).transpose()?;
        let (pins, key) = self.kept()?;
        let [script, porch] = [transom_web::SANDBOX, transom_web::PORCH]
            .map(|text| SandboxScript::new(text).expect("tested where it is built"));
        let page_policy = self.page_policy.header(&frame_source(&self.naming));
        let (log, timeline) = (Arc::new(Log::default()), Timeline::new());
        let store = Store::new(Bounds::default(), pins);
        let reception = Reception::new(self.model.clone(), &log);
        let (maker, all, targets) = self.made(store, &log, &timeline, &reception)?;
        let sandbox = Sandbox::new(self.naming, key, script, porch);
        let servers = Arc::new(Servers::new(all, self.prefetch));
        let metrics = Arc::new(Metrics::new(servers.list().iter().map(|(name, _)| name)));
        let runs = Arc::new(Runs::default());
        let ((events, queue), (wanted, wants)) = (mpsc::channel(QUEUE), mpsc::unbounded_channel());
        let remembered = remembered(self.data.as_deref(), self.remember);
        let driver = Driver::new(Parts {
            setup: setup(self.limits, self.terms, self.model.is_real()),
            runs: Arc::clone(&runs),
            most_views: self.most_views,
            away: self.away,
            styles: self.styles,
            servers: Arc::clone(&servers),
            sandbox: sandbox.clone(),
            page_origins: self.page_origins.clone(),
            log: Arc::clone(&log),
            timeline: Arc::clone(&timeline),
            events: events.clone(),
            audit: self.audit.clone(),
            memory: Memory::new(remembered, events.clone(), Arc::clone(&log)),
            metrics: Arc::clone(&metrics),
            traces: self.traces,
            sampler: self.model.is_real().then(|| reception.sampler()),
        });
        let (decisions, left) = (driver.shown_decisions(), driver.shown_left());
        tokio::spawn(driver.run(queue, wants));
        servers.connect(targets, &events);
        let conversations = reception.open(&servers, wanted, self.data.as_deref(), &log);
        let (here, rows) = (Arc::clone(&servers), self.audit.clone());
        let door = Door::new(maker, here, events.clone(), rows, self.keeper);
        let shown = Shown {
            policy: page_policy,
            standing,
            decisions,
            left,
            metrics: Arc::clone(&metrics),
            timeline,
            runs,
            conversations,
            first: self.first,
        };
        let page = Page::new(self.page_origins, door, shown);
        Ok(Host { page, sandbox, servers, events, log, metrics, audit: self.audit })
    }

    /// The pins, and the key for stable names: of the data folder, or for this run.
    fn kept(&self) -> Result<(Arc<dyn Pins>, StableKey), BuildError> {
        Ok(match &self.data {
            Some(folder) => (Arc::new(FilePins::open(folder)?), StableKey::open(folder)?),
            None => {
                let key = StableKey::random().map_err(|_| BuildError::NoRandomness)?;
                (Arc::new(MemoryPins::default()), key)
            }
        })
    }

    /// What makes servers, now and later.
    fn maker(
        &self,
        store: Store,
        log: &Arc<Log>,
        timeline: &Arc<Timeline>,
        reception: &Reception,
    ) -> Maker {
        Maker {
            policy: Arc::new(self.policy.clone()),
            limits: self.limits.clone(),
            server_limits: self.server_limits,
            page_origins: self.page_origins.clone(),
            tokens: self.data.as_deref().map_or_else(Tokens::in_memory, Tokens::open),
            store,
            log: Arc::clone(log),
            timeline: Arc::clone(timeline),
            callback: page::CALLBACK,
            reception: reception.clone(),
        }
    }

    /// Makes every server that the host begins with, and what makes more of them.
    fn made(
        &mut self,
        store: Store,
        log: &Arc<Log>,
        timeline: &Arc<Timeline>,
        reception: &Reception,
    ) -> Result<Configured, BuildError> {
        let maker = self.maker(store, log, timeline, reception);
        let (mut all, mut targets) = (BTreeMap::new(), vec![]);
        for (name, target, agreement) in std::mem::take(&mut self.servers) {
            let server = maker.server(name.clone(), &target, agreement);
            if all.insert(name.clone(), Arc::new(server)).is_some() {
                return Err(BuildError::TwoServers(name));
            }
            targets.push((name, target));
        }
        Ok((maker, all, targets))
    }
}

impl fmt::Debug for Builder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.servers.iter().map(|(name, ..)| name).collect::<Vec<_>>();
        let origins = &self.page_origins;
        let mut shown = f.debug_struct("Builder");
        shown.field("servers", &names).field("page_origins", origins).finish_non_exhaustive()
    }
}

/// The decisions of a data folder, where they are kept for longer than a run.
fn remembered(data: Option<&Path>, days: u32) -> Option<Decisions> {
    data.filter(|_| days > 0).map(|folder| Decisions::new(folder, days))
}

/// What makes servers; those that there are, by their names; and how each is reached.
type Configured = (Maker, BTreeMap<String, Arc<Server>>, Vec<(String, Target)>);

/// What this host offers: everything it wires, and nothing else (H-72). Without a model there is no
/// sampling.
pub(super) fn setup(limits: Limits, terms: Terms, model: bool) -> Setup {
    let all = Modalities::ALL;
    Setup {
        info: Implementation::new("transom", env!("CARGO_PKG_VERSION")),
        capabilities: HostCapabilities {
            open_links: true,
            download_file: true,
            server_tools: Some(ListChanged { list_changed: true }),
            server_resources: Some(ListChanged { list_changed: true }),
            logging: true,
            update_model_context: Some(all),
            message: Some(all),
            sampling: model.then_some(Sampling { tools: false }),
            ..HostCapabilities::default()
        },
        prompts: true,
        limits,
        terms,
        ..Setup::default()
    }
}

/// Where the page's frames come from, as a source of its own policy.
pub(super) fn frame_source(naming: &Naming) -> String {
    match naming {
        Naming::Localhost { port } => format!("http://*.localhost:{port}"),
        Naming::Ports(loopback) => loopback.source(),
        Naming::Domain(wildcard) => wildcard.to_string(),
    }
}

/// How many events wait for the loop before their senders do.
pub(super) const QUEUE: usize = 4_096;
