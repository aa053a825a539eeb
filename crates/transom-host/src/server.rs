//! The servers of a host: each with its connection, its tools, and the documents of its views.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, OnceLock, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{mpsc, watch};
use transom::{
    csp::Grant,
    host::{List, ToolCall, Tools},
    policy::Policy,
    wire::{Tool, UiUri, Visibility},
};

use crate::{
    documents::{
        Change, ContentHash, Document, Limits, Pin, PinError, Review, Severity, Store, Unread,
    },
    envelope::Mount,
    grants::MissingGrants,
    log::{Log, in_full},
    sandbox::{Frame, Mounted, Sandbox},
    session::Event,
    upstream::{
        self, Call, CallError, CallOptions, ListedTool, NotCalled, Options, Outcome, Request,
        Target, Upstream,
    },
};

/// All servers of a host, by the name they are configured with.
pub(crate) struct Servers {
    all: BTreeMap<String, Arc<Server>>,
    version: watch::Sender<u64>,
}

/// One server.
pub(crate) struct Server {
    name: String,
    policy: Arc<Policy>,
    grants: Vec<Grant>,
    /// Whether it is part of this process: its documents change with us, and nobody else changes them.
    built_in: bool,
    upstream: OnceLock<Upstream>,
    store: Store,
    page_origins: Vec<transom::origin::Origin>,
    state: Mutex<Condition>,
    log: Arc<Log>,
}

/// How a server is, in a word and in words.
#[derive(Clone, Debug)]
struct Condition {
    standing: Standing,
    words: String,
    findings: Vec<Remark>,
}

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is being reached, for the first time or again.
    Connecting,
    /// It is there, and its views are known.
    Ready,
    /// It is not there and will not be.
    Gone,
}

/// A server as people are shown it.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct ServerState {
    /// The name it is configured with.
    pub name: String,
    /// How it is.
    pub state: Standing,
    /// How it is, in words.
    pub words: String,
    /// The tools that a model or a person may call.
    pub tools: Vec<Value>,
    /// What people should know before they open a view.
    pub findings: Vec<Remark>,
}

/// One thing that people should know about a server's views.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Remark {
    /// `high` or `warning`.
    pub severity: &'static str,
    /// What it is.
    pub words: String,
}

/// What a view needs to be mounted.
pub(crate) struct Prepared {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Option<Tool>,
    pub(crate) mounted: Mounted,
    document: Arc<Document>,
    review: Review,
}

/// Which document it is, and of which bytes.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) uri: String,
    pub(crate) hash: ContentHash,
}

impl Servers {
    pub(crate) fn new(all: BTreeMap<String, Arc<Server>>) -> Self {
        Self { all, version: watch::Sender::new(0) }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.all.get(name).cloned()
    }

    /// Starts every connection; what becomes of it shows in the state and the log.
    pub(crate) fn connect(
        self: &Arc<Self>,
        targets: Vec<(String, Target)>,
        events: &mpsc::Sender<Event>,
    ) {
        for (name, target) in targets {
            let (servers, events) = (Arc::clone(self), events.clone());
            let Some(server) = self.get(&name) else { continue };
            tokio::spawn(async move { server.live(target, &servers, &events).await });
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
        (version, self.all.values().map(|server| server.shown()).collect())
    }

    /// Ends every connection.
    pub(crate) async fn close(&self) {
        for server in self.all.values() {
            if let Some(upstream) = server.upstream.get() {
                upstream.close().await;
            }
        }
    }

    fn changed(&self) {
        self.version.send_modify(|version| *version += 1);
    }
}

impl Server {
    pub(crate) fn new(
        name: String,
        policy: Arc<Policy>,
        grants: Vec<Grant>,
        built_in: bool,
        store: Store,
        page_origins: Vec<transom::origin::Origin>,
        log: Arc<Log>,
    ) -> Self {
        let words = "connecting…".to_owned();
        let state = Condition { standing: Standing::Connecting, words, findings: vec![] };
        let (upstream, state) = (OnceLock::new(), Mutex::new(state));
        Self { name, policy, grants, built_in, upstream, store, page_origins, state, log }
    }

    /// The rules for its views.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// The tools as they are now.
    pub(crate) fn tools(&self) -> Arc<Tools> {
        self.upstream.get().map(|upstream| Arc::clone(upstream.tools().tools())).unwrap_or_default()
    }

    /// Starts a call.
    pub(crate) fn start(&self, request: &Request, options: CallOptions) -> Result<Call, CallError> {
        let upstream = self.upstream.get().ok_or(NotCalled::NotConnected)?;
        Ok(upstream.call(request, options)?)
    }

    /// Calls a tool and waits for its end.
    pub(crate) async fn call_tool(&self, call: &ToolCall) -> Outcome {
        let request = Request::call_tool(call).map_err(|_| CallError::Cancelled)?;
        self.start(&request, CallOptions::default())?.outcome().await
    }

    /// Everything that the view of a tool needs, or in words why there is none.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        tool: &str,
        sandbox: &Sandbox,
    ) -> Result<Prepared, String> {
        let upstream = self.upstream.get().ok_or("the server is not connected")?;
        let listing = upstream.tools();
        let entry = listing.get(tool).ok_or_else(|| format!("there is no tool {tool:?}"))?;
        let uri = entry.meta.resource_uri.clone().ok_or("this tool has no view")?;
        let document = self.document(&uri).await.map_err(|error| error.to_string())?;
        let review = self.look_over(&document).map_err(|error| error.to_string())?;
        let frame = Frame {
            grants: self.grants.clone(),
            ..Frame::new(Arc::clone(&document), self.page_origins.clone())
        };
        let mounted = sandbox.mount(frame).await.map_err(|error| error.to_string())?;
        let tool = serde_json::from_str(entry.raw.get()).ok();
        Ok(Prepared { server: Arc::clone(self), tool, document, review, mounted })
    }

    /// Compares a document with what somebody agreed to. One that nobody has seen before is agreed to by
    /// being opened; a changed one waits for a person (H-49).
    fn look_over(&self, document: &Document) -> Result<Review, PinError> {
        if self.built_in {
            return Ok(Review::Same);
        }
        let review = self.store.review(document)?;
        if matches!(review, Review::New) {
            self.store.pin(document)?;
        }
        Ok(review)
    }

    async fn document(&self, uri: &UiUri) -> Result<Arc<Document>, Unread> {
        let read = || async {
            let upstream = self
                .upstream
                .get()
                .ok_or_else(|| Unread::NoAnswer("it is not connected".to_owned()))?;
            let result = upstream.read_resource(uri.as_str()).await;
            let result = result.map_err(|error| Unread::NoAnswer(in_full(&error)))?;
            Ok(Document::read(&self.name, uri, &result, None, &Limits::default())?)
        };
        self.store.get_or_read(&self.name, uri, read).await
    }

    /// Connects, prefetches, and tells what happens from then on.
    async fn live(
        self: Arc<Self>,
        target: Target,
        servers: &Servers,
        events: &mpsc::Sender<Event>,
    ) {
        let upstream = match Upstream::connect(target, Options::default()).await {
            Ok(upstream) => upstream,
            Err(error) => {
                let words = error.advice();
                self.log.write("error", &self.name, words.clone());
                return self.become_(servers, Standing::Gone, words);
            }
        };
        let mut news = upstream.events();
        let _ = self.upstream.set(upstream);
        self.review(servers).await;
        while let Some(event) = news.next().await {
            self.hear(event, servers, events).await;
        }
    }

    async fn hear(&self, event: upstream::Event, servers: &Servers, events: &mpsc::Sender<Event>) {
        match event {
            upstream::Event::ListChanged(list) => self.list_changed(list, servers, events).await,
            upstream::Event::Missed(_) => {
                for list in [List::Tools, List::Resources, List::Prompts] {
                    self.list_changed(list, servers, events).await;
                }
            }
            upstream::Event::Down(loss) => {
                let words = in_full(&loss);
                self.log.write("error", &self.name, words.clone());
                self.become_(servers, Standing::Connecting, format!("{words}; starting it again…"));
            }
            upstream::Event::Restarted => {
                self.log.write("server", &self.name, "is there again");
                self.review(servers).await;
            }
            upstream::Event::Gone(loss) => {
                let words = in_full(&loss);
                self.log.write("error", &self.name, words.clone());
                self.become_(servers, Standing::Gone, words);
            }
            _ => {}
        }
    }

    async fn list_changed(&self, list: List, servers: &Servers, events: &mpsc::Sender<Event>) {
        if list == List::Resources {
            self.store.invalidate(&self.name);
        }
        let _ = events.send(Event::ListChanged { server: self.name.clone(), list }).await;
        self.review(servers).await;
    }

    /// Reads the documents of all views before anybody asks for them (D8), and says what was found.
    async fn review(&self, servers: &Servers) {
        let Some(upstream) = self.upstream.get() else { return };
        let tools = upstream.tools();
        let mut findings = vec![];
        let mut views = BTreeSet::new();
        for uri in tools.iter().filter_map(|(_, tool)| tool.meta.resource_uri.clone()) {
            if !views.insert(uri.as_str().to_owned()) {
                continue;
            }
            match self.document(&uri).await {
                Ok(document) => findings.extend(self.remarks(&document)),
                Err(error) => findings
                    .push(Remark { severity: "high", words: format!("{}: {error}", uri.as_str()) }),
            }
        }
        let (tools, views) = (tools.iter().count(), views.len());
        let words = format!("{}, {}", count(tools, "tool"), count(views, "view"));
        self.log.write("server", &self.name, words.clone());
        let condition = Condition { standing: Standing::Ready, words, findings };
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = condition;
        servers.changed();
    }

    /// What people should know of a document before it runs; what they can mend comes first.
    fn remarks(&self, document: &Document) -> Vec<Remark> {
        let missing = MissingGrants::of(document, &self.grants);
        let missing = missing.map(|missing| ("warning", missing.to_string()));
        let refused = document.refused.iter().map(|refused| ("high", refused.to_string()));
        let scan = document.scan.at_least(Severity::Warning);
        let scan = scan.map(|finding| ("warning", finding.to_string()));
        let all = missing.into_iter().chain(refused).chain(scan).take(8);
        all.map(|(severity, words)| Remark { severity, words }).collect()
    }

    fn become_(&self, servers: &Servers, standing: Standing, words: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.standing, state.words) = (standing, words);
        drop(state);
        servers.changed();
    }

    fn shown(&self) -> ServerState {
        let Condition { standing, words, findings } =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tools = self.upstream.get().map(Upstream::tools).unwrap_or_default();
        let tools = tools
            .iter()
            .filter(|(_, tool)| tool.meta.visibility.contains(Visibility::Model))
            .map(|(_, tool)| shown(tool))
            .collect();
        ServerState { name: self.name.clone(), state: standing, words, tools, findings }
    }
}

impl Prepared {
    /// What the page is told.
    pub(crate) fn mount(&self, tool: &str) -> Mount {
        let mounted = &self.mounted;
        Mount {
            src: mounted.sandbox_url.clone(),
            title: format!("{tool} from {}", self.server.name),
            allow: Some(mounted.allow.clone()).filter(|allow| !allow.is_empty()),
            border: self.document.meta.prefers_border,
        }
    }

    /// What the person should know before it runs (H-28, D8).
    pub(crate) fn warnings(&self) -> Vec<String> {
        let mut warnings = vec![];
        if let Some(declaration) = self.document.declaration.as_ref().filter(|all| !all.is_empty())
        {
            let csp = transom::wire::ResourceCsp::from(declaration);
            let lists = [csp.connect_domains, csp.resource_domains, csp.frame_domains];
            let domains: BTreeSet<_> = lists.into_iter().flatten().collect();
            let domains: Vec<_> = domains.into_iter().collect();
            warnings.push(format!("this view may talk to {}", domains.join(", ")));
        }
        let missing = MissingGrants::of(&self.document, &self.server.grants);
        warnings.extend(missing.map(|missing| missing.to_string()));
        warnings
    }

    /// What is not as it was when somebody last agreed to it; nothing, if it may run (H-49).
    pub(crate) fn change(&self) -> Option<&Change> {
        match &self.review {
            Review::Changed(change) => Some(change),
            Review::New | Review::Same => None,
        }
    }

    /// Which document it would run.
    pub(crate) fn named(&self) -> Named {
        Named { uri: self.document.uri.as_str().to_owned(), hash: self.document.hash }
    }

    /// Remembers that a person agreed to this document.
    pub(crate) fn agree(&mut self) -> Result<(), PinError> {
        self.server.store.pin(&self.document)?;
        self.review = Review::Same;
        Ok(())
    }

    /// Whether the two would run the same document.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let name = |prepared: &Self| {
            let document = &prepared.document;
            (document.server.clone(), document.uri.as_str().to_owned(), Pin::of(document))
        };
        name(self) == name(other)
    }
}

/// `1 view`, `2 views`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// What the page needs of a tool.
fn shown(listed: &ListedTool) -> Value {
    let tool: Value = serde_json::from_str(listed.raw.get()).unwrap_or_default();
    let mut shown = serde_json::Map::new();
    for key in ["name", "title", "description", "inputSchema"] {
        if let Some(value) = tool.get(key) {
            shown.insert(key.to_owned(), value.clone());
        }
    }
    shown.insert("view".to_owned(), listed.meta.resource_uri.is_some().into());
    shown.into()
}
