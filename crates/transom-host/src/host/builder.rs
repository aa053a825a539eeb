//! What a host is made from, and how it is started.

use std::{
    collections::BTreeMap,
    fmt,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use tokio::sync::{Semaphore, mpsc};
use transom::{
    csp::Grant,
    host::{Limits, ServerLimits, Setup, Terms},
    origin::Origin,
    policy::Policy,
    wire::{
        HostCapabilities, HostStyles, Implementation, ListChanged, Modalities, ResourcePermissions,
        Sampling,
    },
};

use super::Host;
use crate::{
    audit::Audit,
    conversation::{Model, Reception},
    crowd::Crowd,
    decisions::Decisions,
    documents::{Bounds, FilePins, MemoryPins, PinError, Pins, Store},
    driver::{Driver, Memory, Parts},
    log::{LineKind, Log},
    metrics::Metrics,
    page::{self, First, Keys, Page, PagePolicy, SourceAmongFrames},
    place::Place,
    sandbox::{KeyError, Naming, PageAmongFrames, Sandbox, SandboxScript, StableKey},
    secret::{Key, ShortToken},
    server::{Server, Servers, Trust},
    timeline::Timeline,
    upstream::{OAuth, Registration, Target, Times, Tokens},
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
    pub(super) model: Model,
}

/// What is agreed with one server alone.
#[derive(Clone, Debug, Default)]
pub struct Agreement {
    /// Its rules, in place of those for all servers.
    pub policy: Option<Policy>,
    /// The kinds of script that its documents may use beside their own; none, unless said (H-25).
    pub grants: Vec<Grant>,
    /// The permissions that its documents get when they ask for them; none, unless said.
    pub permissions: ResourcePermissions,
    /// What each of its views may use up, in place of what is said for all servers.
    pub limits: Option<Limits>,
    /// What its views may use up together, in place of what is said for all servers.
    pub server_limits: Option<ServerLimits>,
    /// How we are known where its people sign in, should it ask for that.
    pub registration: Registration,
    /// Whether whoever writes it is whoever is shown its views: then its documents may change without
    /// a question.
    pub own: bool,
    /// How long its first words may take; one that is built first may need minutes.
    pub greeting: Option<Duration>,
    /// How long its answers may take.
    pub times: Times,
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
        let (all, targets) = self.servers(&store, &log, &timeline, &reception)?;
        let kept = self.remembered();
        let sandbox = Sandbox::new(self.naming, key, script, porch);
        let servers = Arc::new(Servers::new(all, self.prefetch));
        let metrics = Arc::new(Metrics::new(servers.iter().map(|(name, _)| name)));
        let ((events, queue), (wanted, wants)) = (mpsc::channel(QUEUE), mpsc::unbounded_channel());
        let driver = Driver::new(Parts {
            setup: setup(self.limits, self.terms, self.model.is_real()),
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
            memory: Memory::new(kept, events.clone(), Arc::clone(&log)),
            metrics: Arc::clone(&metrics),
            traces: self.traces,
            sampler: self.model.is_real().then(|| reception.sampler()),
        });
        let (decisions, left) = (driver.shown_decisions(), driver.shown_left());
        tokio::spawn(driver.run(queue, wants));
        servers.connect(targets, &events);
        let page = Arc::new(Page {
            conversations: reception.open(&servers, wanted, self.data.as_deref(), &log),
            origins: self.page_origins,
            policy: page_policy,
            token: Mutex::new(Some(Key::new())),
            standing,
            keys: Arc::new(Keys::new()),
            events: events.clone(),
            servers: Arc::clone(&servers),
            decisions,
            left,
            log: Arc::clone(&log),
            metrics: Arc::clone(&metrics),
            timeline,
            connections: AtomicU64::new(0),
            sockets: Crowd::new(page::SOCKETS),
            polls: Semaphore::new(page::POLLS),
            streams: Arc::new(Semaphore::new(page::POLLS)),
            room: Arc::new(Semaphore::new(page::ROOM as usize)),
            first: self.first,
        });
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

    /// Where decisions are kept, if they are.
    fn remembered(&self) -> Option<Decisions> {
        let folder = self.data.as_deref().filter(|_| self.remember > 0);
        folder.map(|folder| Decisions::new(folder, self.remember))
    }

    /// Makes every server of its agreement, and what is said for all of them where that says nothing.
    fn servers(
        &mut self,
        store: &Store,
        log: &Arc<Log>,
        timeline: &Arc<Timeline>,
        reception: &Reception,
    ) -> Result<Configured, BuildError> {
        let policy = Arc::new(std::mem::take(&mut self.policy));
        let tokens = self.data.as_deref().map_or_else(Tokens::in_memory, Tokens::open);
        let mut all = BTreeMap::new();
        let mut targets = vec![];
        for (name, target, agreement) in std::mem::take(&mut self.servers) {
            if let Target::Http(endpoint) = &target
                && let Some(warning) = endpoint.warning()
            {
                log.write(LineKind::Warning, &name, crate::words::Words::ours(&warning));
            }
            let place = Place::of(&target);
            let oauth = self.oauth(&target, &place, agreement.registration, &tokens);
            let trust = Trust {
                policy: agreement.policy.map_or_else(|| Arc::clone(&policy), Arc::new),
                grants: agreement.grants,
                permissions: agreement.permissions,
                limits: agreement.limits.unwrap_or_else(|| self.limits.clone()),
                server_limits: agreement.server_limits.unwrap_or(self.server_limits),
                place,
                own: agreement.own || matches!(target, Target::InProcess(_)),
                greeting: agreement.greeting,
                times: agreement.times,
                ask: Some(reception.for_server(&name)),
            };
            let origins = self.page_origins.clone();
            let (log, timeline) = (Arc::clone(log), Arc::clone(timeline));
            let server =
                Server::new(name.clone(), trust, oauth, store.clone(), origins, log, timeline);
            if all.insert(name.clone(), Arc::new(server)).is_some() {
                return Err(BuildError::TwoServers(name));
            }
            targets.push((name, target));
        }
        Ok((all, targets))
    }

    /// How people sign in to a server that is reached over HTTP.
    fn oauth(
        &self,
        target: &Target,
        place: &Place,
        registration: Registration,
        tokens: &Tokens,
    ) -> Option<Arc<OAuth>> {
        let Target::Http(endpoint) = target else { return None };
        let origin = self.page_origins.first()?;
        // Who listens at an address of this machine may be another program the next time.
        let tokens = if place.is_kept() { tokens.clone() } else { Tokens::in_memory() };
        let redirect = format!("{origin}{}", page::CALLBACK);
        Some(Arc::new(OAuth::new(&endpoint.url, registration, redirect, tokens)))
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

/// The servers by their names, and how each is reached.
type Configured = (BTreeMap<String, Arc<Server>>, Vec<(String, Target)>);

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
