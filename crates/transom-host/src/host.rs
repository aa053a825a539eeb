//! A host: servers, the gate, and the two routers that an application serves.

use std::{
    collections::BTreeMap,
    path::PathBuf,
    sync::{Arc, Mutex, atomic::AtomicU64},
    time::Duration,
};

use axum::Router;
use tokio::sync::{Semaphore, mpsc, oneshot};
use transom::{
    csp::Grant,
    host::{Limits, ServerLimits, Setup, Terms},
    origin::Origin,
    policy::Policy,
    wire::{
        HostCapabilities, HostStyles, Implementation, ListChanged, Modalities, ResourcePermissions,
    },
};

use crate::{
    audit::Audit,
    context,
    crowd::Crowd,
    decisions::{self, Decisions},
    documents::{Bounds, FilePins, MemoryPins, PinError, Pins, Store},
    driver::{Driver, Event, Memory, Parts},
    log::Log,
    page::{self, First, Page},
    place::Place,
    sandbox::{KeyError, Naming, PageAmongFrames, Sandbox, SandboxScript, StableKey},
    secret::Key,
    server::{Server, ServerState, Servers, Trust},
    upstream::{OAuth, Registration, Target, Tokens},
};

/// A running host.
pub struct Host {
    page: Arc<Page>,
    sandbox: Sandbox,
    servers: Arc<Servers>,
    pub(crate) events: mpsc::Sender<Event>,
    log: Arc<Log>,
    audit: Option<Audit>,
}

/// What a host is made from.
pub struct Builder {
    servers: Vec<(String, Target, Agreement)>,
    policy: Policy,
    limits: Limits,
    server_limits: ServerLimits,
    most_views: usize,
    terms: Terms,
    page_origins: Vec<Origin>,
    naming: Naming,
    data: Option<PathBuf>,
    styles: HostStyles,
    prefetch: bool,
    first: Option<First>,
    audit: Option<Audit>,
    remember: u32,
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
    /// anybody being asked.
    pub own: bool,
    /// How long its first words may take; one that is built first may need minutes.
    pub greeting: Option<Duration>,
}

/// Why a host could not be made.
#[derive(Debug, thiserror::Error)]
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
            terms: Terms::default(),
            page_origins,
            naming,
            data: None,
            styles: context::page_look(),
            prefetch: true,
            first: None,
            audit: None,
            remember: decisions::DAYS,
        }
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
    /// names in `Host` and `Origin`, the policy, and no word to other sites.
    pub fn guard(&self, routes: Router) -> Router {
        page::guarded(Arc::clone(&self.page), routes)
    }

    /// The routes of all sandbox and guest origins.
    pub fn sandbox_router(&self) -> Router {
        self.sandbox.router()
    }

    /// The token that the page's address carries in its fragment; good once.
    pub fn token(&self) -> String {
        let token = self.page.token.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
        token.as_ref().map(|token| token.reveal().to_owned()).unwrap_or_default()
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

    /// Remembers that somebody agreed to what a tool of a server shows.
    #[cfg(test)]
    pub(crate) fn agree(&self, server: &str, tool: &str, document: &crate::documents::Document) {
        self.servers.get(server).expect("it is configured").agree(tool, document);
    }

    /// Whether nobody has agreed to anything that this tool shows.
    #[cfg(test)]
    pub(crate) fn is_new(
        &self,
        server: &str,
        tool: &str,
        document: &crate::documents::Document,
    ) -> bool {
        self.servers.get(server).expect("it is configured").is_new(tool, document)
    }

    /// Whether that is what somebody agreed to.
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
    pub(crate) fn events(&self) -> &mpsc::Sender<Event> {
        &self.events
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

    /// The tool that a fresh page opens by itself.
    #[must_use]
    pub fn open_first(mut self, server: impl Into<String>, tool: impl Into<String>) -> Self {
        self.first = Some(First { server: server.into(), tool: tool.into() });
        self
    }

    /// Starts it: the loop, and a connection to every server. Needs a tokio runtime.
    pub fn build(self) -> Result<Host, BuildError> {
        self.naming.check(&self.page_origins)?;
        let pins: Arc<dyn Pins> = match &self.data {
            Some(folder) => Arc::new(FilePins::open(folder)?),
            None => Arc::new(MemoryPins::default()),
        };
        let key = match &self.data {
            Some(folder) => StableKey::open(folder)?,
            None => StableKey::random().map_err(|_| BuildError::NoRandomness)?,
        };
        let script = SandboxScript::new(transom_web::SANDBOX).expect("tested where it is built");
        let frames = frame_source(&self.naming);
        let sandbox = Sandbox::new(self.naming, key, script);
        let log = Arc::new(Log::default());
        let store = Store::new(Bounds::default(), pins);
        let policy = Arc::new(self.policy);
        let tokens = self.data.as_deref().map_or_else(Tokens::in_memory, Tokens::open);
        let redirect =
            self.page_origins.first().map(|origin| format!("{origin}{}", page::CALLBACK));
        let mut all = BTreeMap::new();
        let mut targets = vec![];
        for (name, target, agreement) in self.servers {
            let own = agreement.policy.map(Arc::new);
            if let Target::Http(endpoint) = &target
                && let Some(warning) = endpoint.warning()
            {
                log.write("warning", &name, crate::words::Words::ours(&warning));
            }
            let place = Place::of(&target);
            let oauth = match (&target, &redirect) {
                (Target::Http(endpoint), Some(redirect)) => {
                    // Who listens at an address of this machine may be another program the next time.
                    let kept = place.is_kept();
                    let tokens = if kept { tokens.clone() } else { Tokens::in_memory() };
                    let redirect = redirect.clone();
                    let oauth = OAuth::new(&endpoint.url, agreement.registration, redirect, tokens);
                    Some(Arc::new(oauth))
                }
                _ => None,
            };
            let trust = Trust {
                policy: own.unwrap_or_else(|| Arc::clone(&policy)),
                grants: agreement.grants,
                permissions: agreement.permissions,
                limits: agreement.limits.unwrap_or_else(|| self.limits.clone()),
                server_limits: agreement.server_limits.unwrap_or(self.server_limits),
                place,
                own: agreement.own || matches!(target, Target::InProcess(_)),
                greeting: agreement.greeting,
            };
            let server = Server::new(
                name.clone(),
                trust,
                oauth,
                store.clone(),
                self.page_origins.clone(),
                Arc::clone(&log),
            );
            if all.insert(name.clone(), Arc::new(server)).is_some() {
                return Err(BuildError::TwoServers(name));
            }
            targets.push((name, target));
        }
        let servers = Arc::new(Servers::new(all, self.prefetch));
        let (events, queue) = mpsc::channel(QUEUE);
        let kept = self.data.as_deref().filter(|_| self.remember > 0);
        let kept = kept.map(|folder| Decisions::new(folder, self.remember));
        let driver = Driver::new(Parts {
            setup: setup(self.limits, self.terms),
            most_views: self.most_views,
            styles: self.styles,
            servers: Arc::clone(&servers),
            sandbox: sandbox.clone(),
            log: Arc::clone(&log),
            events: events.clone(),
            audit: self.audit.clone(),
            memory: Memory::new(kept, events.clone(), Arc::clone(&log)),
        });
        let decisions = driver.shown_decisions();
        tokio::spawn(driver.run(queue));
        servers.connect(targets, &events);
        let page = Arc::new(Page {
            origins: self.page_origins,
            frames,
            token: Mutex::new(Some(Key::new())),
            key: Key::new(),
            events: events.clone(),
            servers: Arc::clone(&servers),
            decisions,
            log: Arc::clone(&log),
            connections: AtomicU64::new(0),
            sockets: Crowd::new(page::SOCKETS),
            polls: Semaphore::new(page::POLLS),
            room: Arc::new(Semaphore::new(page::ROOM as usize)),
            first: self.first,
        });
        Ok(Host { page, sandbox, servers, events, log, audit: self.audit })
    }
}

/// What this host offers: everything it wires, and nothing else (H-72). Without a model there is no
/// sampling.
fn setup(limits: Limits, terms: Terms) -> Setup {
    let all = Modalities {
        text: true,
        image: true,
        audio: true,
        resource: true,
        resource_link: true,
        structured_content: true,
    };
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
            ..HostCapabilities::default()
        },
        prompts: true,
        limits,
        terms,
        ..Setup::default()
    }
}

/// Where the page's frames come from, as a source of its own policy.
fn frame_source(naming: &Naming) -> String {
    match naming {
        Naming::Localhost { port } => format!("http://*.localhost:{port}"),
        Naming::Ports(loopback) => loopback.source(),
        Naming::Domain(wildcard) => wildcard.to_string(),
    }
}

/// The most views of one host at a time, unless it is told otherwise.
const VIEWS: usize = 2_000;
/// How many events wait for the loop before their senders do.
const QUEUE: usize = 4_096;

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};
    use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
    use transom::{policy::Stance, wire::MIME};

    use super::*;
    use crate::{demo, grants::permissions, server::Standing, upstream::InProcess};

    async fn ready(host: &Host) {
        let mut seen = None;
        loop {
            let (version, states) = host.servers(seen, Duration::from_secs(60)).await;
            if states.iter().all(|server| server.state == Standing::Ready) {
                return;
            }
            seen = Some(version);
        }
    }

    /// A server with one view, whose two places for metadata say what they are given.
    fn declaring(listing: Value, item: Value) -> Target {
        let (listing, item) = (Arc::new(listing), Arc::new(item));
        Target::InProcess(InProcess::new("declaring", move || {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            let (listing, item) = (Arc::clone(&listing), Arc::clone(&item));
            tokio::spawn(async move {
                let (reader, mut writer) = tokio::io::split(theirs);
                let mut lines = BufReader::new(reader).lines();
                while let Ok(Some(line)) = lines.next_line().await {
                    let message: Value = serde_json::from_str(&line).unwrap();
                    let result = match message["method"].as_str().unwrap() {
                        "initialize" => {
                            json!({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}}})
                        }
                        "tools/list" => {
                            json!({"tools": [{"name": "show", "_meta": {"ui": {"resourceUri": "ui://a/b"}}}]})
                        }
                        // On a page of its own, after one that does not have it.
                        "resources/list" if message["params"]["cursor"].is_null() => {
                            json!({"resources": [{"uri": "file:///x"}], "nextCursor": "2"})
                        }
                        "resources/list" => {
                            json!({"resources": [{"uri": "ui://a/b", "_meta": {"ui": *listing}}]})
                        }
                        "resources/read" => {
                            json!({"contents": [{"uri": "ui://a/b", "mimeType": MIME, "text": "<p>hello", "_meta": *item}]})
                        }
                        _ if message["id"].is_null() => continue,
                        _ => json!({}),
                    };
                    let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
                    writer.write_all(format!("{answer}\n").as_bytes()).await.unwrap();
                }
            });
            ours
        }))
    }

    #[tokio::test]
    async fn h_21_h_22_the_listing_counts_where_the_document_says_nothing() {
        let listed = json!({"csp": {"connectDomains": ["https://listed.test"]}});
        let own = json!({"ui": {"csp": {"connectDomains": ["https://own.test"]}}});
        let other = json!({"ui": {"prefersBorder": true}});
        #[rustfmt::skip]
        let table = [
            (json!({}), Some("https://listed.test")),
            (own,       Some("https://own.test")),
            // Whole, not field by field.
            (other,     None),
        ];
        for (item, expected) in table {
            let row = item.to_string();
            let origin = Origin::parse("http://localhost:7420").unwrap();
            let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
                .server("declaring", declaring(listed.clone(), item))
                .build()
                .unwrap();
            ready(&host).await;
            let server = host.servers.get("declaring").unwrap();
            let csp = server.prepare("show", &host.sandbox).await.unwrap().mounted.csp.to_string();
            for source in ["https://listed.test", "https://own.test"] {
                assert_eq!(csp.contains(source), Some(source) == expected, "{row}: {csp}");
            }
        }
    }

    #[tokio::test]
    async fn a_permission_is_refused_visibly_until_it_is_granted() {
        let item = json!({"ui": {"permissions": {"camera": {}, "geolocation": {}}}});
        let granted = ResourcePermissions { camera: true, microphone: true, ..Default::default() };
        let own = Agreement { permissions: granted, ..Agreement::default() };
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
            .server("plain", declaring(json!({}), item.clone()))
            .server_with("own", declaring(json!({}), item), own)
            .build()
            .unwrap();
        ready(&host).await;
        let (_, states) = host.servers(None, Duration::ZERO).await;
        #[rustfmt::skip]
        let table = [
            ("plain", "",       "asks for camera, geolocation, which is not granted"),
            // What it has and did not ask for, it does not get.
            ("own",   "camera", "asks for geolocation, which is not granted"),
        ];
        for (name, allowed, words) in table {
            let server = host.servers.get(name).unwrap();
            let prepared = server.prepare("show", &host.sandbox).await.unwrap();
            assert_eq!(permissions(prepared.mounted.permissions).join(" "), allowed, "{name}");
            assert_eq!(prepared.mounted.allow.split(' ').next().unwrap(), allowed, "{name}");
            assert!(
                prepared.warnings().iter().any(|warning| warning.as_str().contains(words)),
                "{name}"
            );
            let state = states.iter().find(|state| state.name == name).unwrap();
            assert!(
                state.findings.iter().any(|found| found.words.as_str().contains(words)),
                "{name}"
            );
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_silent_server_is_said_to_be_silent_long_before_it_is_given_up() {
        let pipes = Arc::new(Mutex::new(vec![]));
        let silent = InProcess::new("silent", move || {
            let (ours, theirs) = tokio::io::duplex(1 << 16);
            pipes.lock().unwrap().push(theirs);
            ours
        });
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
            .server("silent", Target::InProcess(silent))
            .build()
            .unwrap();
        let (mut seen, mut told) = (None, vec![]);
        while told.last().is_none_or(|(standing, _)| *standing != Standing::Gone) {
            let (version, mut states) = host.servers(seen, Duration::from_secs(600)).await;
            let state = states.pop().unwrap();
            told.push((state.state, state.words));
            seen = Some(version);
        }
        let words = "no answer after 4 s; waiting for up to 60 s…";
        assert_eq!(told[0], (Standing::Connecting, "connecting…".to_owned()));
        assert_eq!(told[1], (Standing::Connecting, words.to_owned()));
        assert_eq!(told.len(), 3, "{told:?}");
        let log = host.log().after(0, Duration::ZERO).await;
        assert!(log.iter().any(|line| line.who.as_str() == "silent" && line.words == words));
    }

    #[tokio::test]
    async fn each_server_has_its_own_agreement() {
        let demo = || Target::InProcess(demo::server());
        let policy = Policy { downloads: Stance::Deny, ..Policy::default() };
        let grants = vec![Grant::Wasm];
        let own = Agreement { policy: Some(policy), grants, ..Agreement::default() };
        let origin = Origin::parse("http://localhost:7420").unwrap();
        let host = Host::builder(vec![origin], Naming::Localhost { port: 7421 })
            .policy(Policy { downloads: Stance::Allow, ..Policy::default() })
            .server("plain", demo())
            .server_with("own", demo(), own)
            .build()
            .unwrap();
        ready(&host).await;
        for (name, downloads, wasm) in
            [("plain", Stance::Allow, false), ("own", Stance::Deny, true)]
        {
            let server = host.servers.get(name).unwrap();
            assert_eq!(server.policy().downloads, downloads, "{name}");
            let prepared = server.prepare("show_weather", &host.sandbox).await.unwrap();
            let csp = prepared.mounted.csp.to_string();
            assert_eq!(csp.contains("'wasm-unsafe-eval'"), wasm, "{name}: {csp}");
        }
    }
}
