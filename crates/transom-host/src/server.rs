//! The servers of a host: each with its connection, its tools, and the documents of its views.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use serde_json::Value;
use tokio::sync::{Notify, mpsc, oneshot, watch};
use transom::{
    csp::{Declaration, Grant, Source},
    host::{Limits as ViewLimits, List, ServerLimits, ToolCall, Tools},
    policy::{Policy, Stance},
    quoted::Quoted,
    wire::{Finding, ResourcePermissions, SandboxCapabilities, Tool, UiUri, Visibility},
};

use crate::{
    documents::{
        self, Change, ContentHash, Document, Limits, Pin, PinError, Review, Severity, Shows, Store,
        Unread,
    },
    driver::Event,
    envelope::Mount,
    form,
    grants::{MissingGrants, MissingNearby, MissingPermissions, permissions, wish, wishes},
    log::Log,
    place::Place,
    sandbox::{Frame, MountError, Mounted, Relay, Sandbox},
    upstream::{
        self, Call, CallError, CallOptions, Invitation, ListedTool, NotCalled, NotSignedIn, OAuth,
        Options, Outcome, Request, ResourceEntries, Return, Target, Update, Upstream,
    },
    words,
    words::Words,
};

/// All servers of a host, by the name they are configured with.
pub(crate) struct Servers {
    all: BTreeMap<String, Arc<Server>>,
    version: watch::Sender<u64>,
    prefetch: bool,
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
    /// How long its first words may take; as long as everybody's, unless said.
    greeting: Option<Duration>,
    /// Told when it is to be started again.
    again: Notify,
    oauth: Option<Arc<OAuth>>,
    store: Store,
    /// What its list of resources says, once somebody has needed it.
    entries: tokio::sync::Mutex<Option<Arc<ResourceEntries>>>,
    /// The same for the templates of addresses that it has.
    templates: tokio::sync::Mutex<Option<Arc<Vec<String>>>>,
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
    sign_in: Option<SignIn>,
}

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Standing {
    /// It is being reached, for the first time or again.
    Connecting,
    /// It waits for somebody to sign in.
    #[serde(rename = "sign-in")]
    SignIn,
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
    /// Where to sign in, while the server asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in: Option<SignIn>,
}

/// An invitation to sign in.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct SignIn {
    /// The address to open in a browser.
    pub url: String,
    /// Who asks for the password there.
    pub place: String,
}

/// One thing that people should know about a server's views.
#[derive(Clone, Debug, Serialize)]
#[non_exhaustive]
pub struct Remark {
    /// `danger`, `warning` or `note`.
    pub severity: &'static str,
    /// What it is.
    pub words: Words,
}

/// What a view needs to be mounted.
pub(crate) struct Prepared {
    pub(crate) server: Arc<Server>,
    pub(crate) tool: Option<Tool>,
    pub(crate) mounted: Mounted,
    document: Arc<Document>,
    /// The tool that shows it.
    shown_by: String,
    /// The template that its address is one of.
    template: Option<String>,
    review: Review,
    /// Whether nobody is asked when its content changes.
    unpinned: bool,
    /// The private addresses that its frame was given because a person agreed, each with what it is for.
    pub(crate) reaches: BTreeSet<String>,
    /// Those of them that a person gave to this view alone.
    pub(crate) once: BTreeSet<String>,
}

/// Which document it is, and of which bytes.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) uri: String,
    pub(crate) hash: ContentHash,
    /// Whether somebody is asked before other bytes run.
    pub(crate) pinned: bool,
}

impl Servers {
    pub(crate) fn new(all: BTreeMap<String, Arc<Server>>, prefetch: bool) -> Self {
        Self { all, version: watch::Sender::new(0), prefetch }
    }

    pub(crate) fn get(&self, name: &str) -> Option<Arc<Server>> {
        self.all.get(name).cloned()
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (&String, &Arc<Server>)> {
        self.all.iter()
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

    /// Starts a server again, whatever it is doing; whether there is one of that name.
    pub(crate) fn restart(&self, name: &str) -> bool {
        let server = self.get(name);
        server.inspect(|server| server.again.notify_one()).is_some()
    }

    /// Ends every connection.
    pub(crate) async fn close(&self) {
        for server in self.all.values() {
            if let Some(upstream) = server.upstream() {
                upstream.close().await;
            }
        }
    }

    /// Takes what a browser came back with after signing in, and says to which server.
    pub(crate) async fn returned(
        &self,
        returned: &Return,
    ) -> Option<(&str, Result<(), NotSignedIn>)> {
        for (name, server) in &self.all {
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
}

impl Server {
    pub(crate) fn new(
        name: String,
        Trust { policy, grants, permissions, limits, server_limits, place, own, greeting }: Trust,
        oauth: Option<Arc<OAuth>>,
        store: Store,
        page_origins: Vec<transom::origin::Origin>,
        log: Arc<Log>,
    ) -> Self {
        let words = "connecting…".to_owned();
        let standing = Standing::Connecting;
        let state = Condition { standing, words, findings: vec![], sign_in: None };
        let (upstream, state) = (Mutex::default(), Mutex::new(state));
        let (entries, templates) = <(tokio::sync::Mutex<_>, tokio::sync::Mutex<_>)>::default();
        // What is kept for a place that will not be the same lasts for this run.
        let store = if place.is_kept() { store } else { store.for_this_run() };
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
            again: Notify::new(),
            oauth,
            store,
            entries,
            templates,
            page_origins,
            state,
            log,
        }
    }

    /// The rules for its views.
    pub(crate) fn policy(&self) -> Arc<Policy> {
        Arc::clone(&self.policy)
    }

    /// What each of its views may use up, and all of them together.
    pub(crate) fn limits(&self) -> &(ViewLimits, ServerLimits) {
        &self.limits
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

    /// Calls a tool and waits for its end, or until somebody says why nobody does any more.
    pub(crate) async fn call_tool(
        &self,
        call: &ToolCall,
        stopped: oneshot::Receiver<&'static str>,
    ) -> Outcome {
        let request = Request::call_tool(call).map_err(|_| CallError::Cancelled)?;
        let mut pending = self.start(&request, CallOptions::default())?;
        let stopped = async {
            // Nobody who could stop it is left; that is no reason to.
            match stopped.await {
                Ok(why) => why,
                Err(_) => std::future::pending().await,
            }
        };
        tokio::select! {
            outcome = done(&mut pending) => outcome,
            why = stopped => {
                pending.cancel(why);
                Err(CallError::Cancelled)
            }
        }
    }

    /// Everything that the view of a tool needs, or in words why there is none.
    pub(crate) async fn prepare(
        self: &Arc<Self>,
        tool: &str,
        sandbox: &Sandbox,
    ) -> Result<Prepared, String> {
        let upstream = self.upstream().ok_or("the server is not connected")?;
        let listing = upstream.tools();
        let entry =
            listing.get(tool).ok_or_else(|| format!("there is no tool {}", Quoted::new(tool)))?;
        let uri = entry.meta.resource_uri.clone().ok_or("this tool has no view")?;
        let document = self.document(&uri).await.map_err(|error| error.to_string())?;
        let template = self.template_of(&upstream, &uri).await;
        let shows = self.shows(tool, template.as_deref());
        let pins = |error: PinError| error.to_string();
        let review = self.look_over(&document, shows).map_err(pins)?;
        let unpinned = !self.own && self.store.is_unpinned(shows).map_err(pins)?;
        let frame = self.frame(&document, &BTreeSet::new());
        let mounted = sandbox.mount(frame).await.map_err(|error| error.to_string())?;
        let (shown_by, tool) = (tool.to_owned(), serde_json::from_str(entry.raw.get()).ok());
        let server = Arc::clone(self);
        let (reaches, once) = (BTreeSet::new(), BTreeSet::new());
        Ok(Prepared {
            server,
            tool,
            document,
            shown_by,
            template,
            review,
            unpinned,
            mounted,
            reaches,
            once,
        })
    }

    /// The frame of a document: with what the rules give it of its declaration, and what of the rest a
    /// person has agreed to.
    fn frame(&self, document: &Arc<Document>, agreed: &BTreeSet<String>) -> Frame {
        let mut frame = Frame {
            grants: self.grants.clone(),
            permissions: self.permissions,
            relay: Relay::of(&self.limits().0),
            ..Frame::new(Arc::clone(document), self.place.clone(), self.page_origins.clone())
        };
        if let Some(declaration) = &mut frame.declaration {
            declaration.retain(|list, source| match self.policy.domains.judge(source) {
                Stance::Allow => true,
                Stance::Ask => agreed.contains(&wish(list, source)),
                Stance::Deny => false,
            });
        }
        frame
    }

    /// Compares what a tool shows with what somebody agreed to. What nobody has seen before is agreed to when it
    /// runs; what changed, or is made for each request, waits for a person (H-49).
    fn look_over(&self, document: &Document, shows: Shows<'_>) -> Result<Review, PinError> {
        if self.own {
            return Ok(Review::Same);
        }
        self.store.review(document, shows)
    }

    #[cfg(test)]
    pub(crate) fn agree(&self, tool: &str, document: &Document) {
        self.store.agree(document, self.shows(tool, None), &Review::New).expect("it is empty");
    }

    #[cfg(test)]
    pub(crate) fn is_new(&self, tool: &str, document: &Document) -> bool {
        self.store.review(document, self.shows(tool, None)).expect("it can be read") == Review::New
    }

    #[cfg(test)]
    pub(crate) fn is_agreed(&self, tool: &str, document: &Document) -> bool {
        self.store.review(document, self.shows(tool, None)).expect("it can be read") == Review::Same
    }

    fn shows<'a>(&'a self, tool: &'a str, template: Option<&'a str>) -> Shows<'a> {
        Shows { place: self.place.id(), tool, template }
    }

    /// The template that an address is one of. None for what the list of resources has: that is one document.
    async fn template_of(&self, upstream: &Upstream, uri: &UiUri) -> Option<String> {
        if self.entries(upstream).await.get(uri).is_some() {
            return None;
        }
        let mut known = self.templates.lock().await;
        let templates = match &*known {
            Some(templates) => Arc::clone(templates),
            None => {
                let fresh = Arc::new(upstream.resource_templates().await);
                *known = Some(Arc::clone(&fresh));
                fresh
            }
        };
        templates.iter().find(|template| documents::fits(template, uri.as_str())).cloned()
    }

    async fn document(&self, uri: &UiUri) -> Result<Arc<Document>, Unread> {
        let read = || async {
            let upstream = self
                .upstream()
                .ok_or_else(|| Unread::NoAnswer("it is not connected".to_owned()))?;
            let (result, entries) =
                tokio::join!(upstream.read_resource(uri.as_str()), self.entries(&upstream));
            let result = result.map_err(|error| Unread::NoAnswer(Words::of(&error).to_string()))?;
            let listing = entries.get(uri);
            Ok(Document::read(&self.name, uri, &result, listing, &Limits::default())?)
        };
        self.store.get_or_read(&self.name, uri, read).await
    }

    /// What its list of resources says: asked for once, and again when it has changed.
    async fn entries(&self, upstream: &Upstream) -> Arc<ResourceEntries> {
        let mut entries = self.entries.lock().await;
        if let Some(known) = &*entries {
            return Arc::clone(known);
        }
        let fresh = Arc::new(upstream.resource_entries().await);
        *entries = Some(Arc::clone(&fresh));
        fresh
    }

    /// Connects, prefetches, and tells what happens from then on; all of it again whenever somebody wants
    /// the server started again.
    async fn live(
        self: Arc<Self>,
        target: Target,
        servers: &Servers,
        events: &mpsc::Sender<Event>,
    ) {
        let mut known = false;
        loop {
            let reached = tokio::select! {
                reached = self.reach(&target, servers) => reached,
                // Dropping the attempt ends what was started for it.
                () = self.again.notified() => continue,
            };
            match reached {
                Ok(upstream) => {
                    self.serve(upstream, known, servers, events).await;
                    known = true;
                }
                Err(words) => {
                    self.log.write("error", &self.name, Words::ours(&words));
                    self.become_(servers, Standing::Gone, words);
                    self.again.notified().await;
                }
            }
            self.become_(servers, Standing::Connecting, "starting again…".to_owned());
        }
    }

    /// Listens to a server until it is to be started again, and ends it.
    async fn serve(
        &self,
        upstream: Upstream,
        known: bool,
        servers: &Servers,
        events: &mpsc::Sender<Event>,
    ) {
        let mut news = upstream.events();
        self.connect(Some(upstream.clone()));
        if known {
            self.log.write("server", &self.name, "is there again");
            // It may be another version of itself.
            self.forget_documents().await;
            for list in upstream.server().lists() {
                let _ = events.send(Event::ListChanged { server: self.name.clone(), list }).await;
            }
        }
        self.review(servers).await;
        let listen = async {
            while let Some(event) = news.next().await {
                self.hear(event, servers, events).await;
            }
            std::future::pending().await
        };
        tokio::select! {
            () = listen => {}
            () = self.sign_in_when_asked(servers) => {}
            () = self.again.notified() => {}
        }
        self.connect(None);
        self.become_(servers, Standing::Connecting, "ending…".to_owned());
        upstream.close().await;
    }

    /// The connection, while there is one.
    fn upstream(&self) -> Option<Upstream> {
        self.upstream.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn connect(&self, upstream: Option<Upstream>) {
        *self.upstream.lock().unwrap_or_else(PoisonError::into_inner) = upstream;
    }

    /// Connects, after signing in if it must be; in words why not.
    async fn reach(&self, target: &Target, servers: &Servers) -> Result<Upstream, String> {
        loop {
            let mut options = Options { oauth: self.oauth.clone(), ..Options::default() };
            options.greeting = self.greeting.unwrap_or(options.greeting);
            // Views have their share; what people open comes on top.
            options.limits.calls = self.limits.1.calls.saturating_add(OPENINGS);
            let patience = options.greeting;
            let connecting = Upstream::connect(target.clone(), options);
            let error = match self.aloud(patience, servers, connecting).await {
                Ok(upstream) => return Ok(upstream),
                Err(error) => error,
            };
            match &self.oauth {
                Some(oauth) if error.wants_oauth() => {
                    self.sign_in(oauth, servers).await.map_err(|error| error.to_string())?;
                    self.become_(servers, Standing::Connecting, "connecting…".to_owned());
                }
                _ => return Err(error.advice()),
            }
        }
    }

    /// Waits for a server, and after a while says so.
    async fn aloud<T>(
        &self,
        patience: Duration,
        servers: &Servers,
        connecting: impl Future<Output = T>,
    ) -> T {
        let mut connecting = std::pin::pin!(connecting);
        if let Ok(connected) = tokio::time::timeout(QUIET, &mut connecting).await {
            return connected;
        }
        let (so_far, in_all) = (QUIET.as_secs(), patience.as_secs());
        let words = format!("no answer after {so_far} s; waiting for up to {in_all} s…");
        self.log.write("server", &self.name, Words::ours(&words));
        self.become_(servers, Standing::Connecting, words);
        connecting.await
    }

    /// Asks the person to sign in until somebody has; an error if there is nowhere to do it.
    async fn sign_in(&self, oauth: &OAuth, servers: &Servers) -> Result<(), NotSignedIn> {
        loop {
            let invitation = oauth.invite().await?;
            self.invite(&invitation, servers);
            let outcome = invitation.outcome().await;
            self.state.lock().unwrap_or_else(PoisonError::into_inner).sign_in = None;
            servers.changed();
            match outcome {
                Ok(()) => {
                    self.log.write("server", &self.name, "somebody signed in");
                    return Ok(());
                }
                Err(error) => self.log.write("error", &self.name, Words::of(&error)),
            }
        }
    }

    fn invite(&self, invitation: &Invitation, servers: &Servers) {
        let place = invitation.place().to_owned();
        // Not the address: it is for the person, and a log may be read by others.
        let words = format!("asks you to sign in at {place}");
        self.log.write("server", &self.name, Words::ours(&words));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.sign_in = Some(SignIn { url: invitation.url.to_string(), place });
        if state.standing == Standing::Connecting {
            (state.standing, state.words) = (Standing::SignIn, words);
        }
        drop(state);
        servers.changed();
    }

    /// A server may ask again later: when a token has ended, or for more rights.
    async fn sign_in_when_asked(&self, servers: &Servers) {
        let Some(oauth) = &self.oauth else { return std::future::pending().await };
        loop {
            oauth.asked().await;
            match self.sign_in(oauth, servers).await {
                Ok(()) => self.upstream().iter().for_each(Upstream::refresh),
                Err(error) => self.log.write("error", &self.name, Words::of(&error)),
            }
            tokio::time::sleep(BETWEEN_INVITATIONS).await;
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
                let words = Words::of(&loss).to_string();
                self.log.write("error", &self.name, Words::ours(&words));
                self.become_(servers, Standing::Connecting, format!("{words}; starting it again…"));
            }
            upstream::Event::Restarted => {
                self.log.write("server", &self.name, "is there again");
                self.review(servers).await;
            }
            upstream::Event::Gone(loss) => {
                let words = Words::of(&loss).to_string();
                self.log.write("error", &self.name, Words::ours(&words));
                self.become_(servers, Standing::Gone, words);
            }
            _ => {}
        }
    }

    async fn list_changed(&self, list: List, servers: &Servers, events: &mpsc::Sender<Event>) {
        if list == List::Resources {
            self.forget_documents().await;
        }
        let _ = events.send(Event::ListChanged { server: self.name.clone(), list }).await;
        self.review(servers).await;
    }

    async fn forget_documents(&self) {
        *self.entries.lock().await = None;
        *self.templates.lock().await = None;
        self.store.invalidate(&self.name);
    }

    /// Reads the documents of all views before anybody asks for them (D8), and says what was found.
    async fn review(&self, servers: &Servers) {
        let Some(upstream) = self.upstream() else { return };
        let tools = upstream.tools();
        let long = tools.findings().iter().filter(|found| matches!(found, Finding::TooLong { .. }));
        let remark =
            |found: &Finding| Remark::new(Severity::Warning, Words::ours(&found.to_string()));
        let mut findings: Vec<_> = long.take(REMARKS).map(remark).collect();
        let mut views = BTreeSet::new();
        for (tool, listed) in tools.iter() {
            let Some(uri) = listed.meta.resource_uri.clone() else { continue };
            if !views.insert(uri.as_str().to_owned()) || !servers.prefetch {
                continue;
            }
            match self.document(&uri).await {
                Ok(document) => {
                    let template = self.template_of(&upstream, &uri).await;
                    let shows = self.shows(tool, template.as_deref());
                    // Pins that cannot be read are said where a view is opened, and keep it from running.
                    let unpinned = !self.own && self.store.is_unpinned(shows).unwrap_or(false);
                    let words = words!("{}: {}", Quoted::new(document.uri.as_str()), UNPINNED);
                    findings.extend(unpinned.then(|| Remark::new(Severity::Note, words)));
                    findings.extend(self.remarks(&document));
                }
                Err(error) => {
                    let words = words!("{}: {}", Quoted::new(uri.as_str()), Words::of(&error));
                    findings.push(Remark::new(Severity::Danger, words));
                }
            }
        }
        let (tools, views) = (tools.iter().count(), views.len());
        let words = format!("{}, {}", count(tools, "tool"), count(views, "view"));
        self.log.write("server", &self.name, Words::ours(&words));
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.standing, state.words, state.findings) = (Standing::Ready, words, findings);
        drop(state);
        servers.changed();
    }

    /// What people should know of a document before it runs: the gravest first, and who it will talk to.
    fn remarks(&self, document: &Document) -> Vec<Remark> {
        let missing = MissingGrants::of(document, &self.grants);
        let missing = missing.map(|missing| (Severity::Warning, Words::ours(&missing.to_string())));
        let unasked = MissingPermissions::of(document, self.permissions);
        let unasked = unasked.map(|words| (Severity::Warning, Words::ours(&words.to_string())));
        let nearby = MissingNearby::of(document, &self.policy.domains);
        let nearby = nearby.map(|words| (Severity::Warning, Words::ours(&words.to_string())));
        let uri = Quoted::new(document.uri.as_str());
        let of_it = |words: String| words!("{}: {}", uri, Words::ours(&words));
        let refused = document.refused.iter().map(|it| (Severity::Danger, of_it(it.to_string())));
        let scan = document.scan.at_least(Severity::Warning);
        // Its own words begin with how grave it is, which stands beside them here.
        let scan = scan.map(|finding| {
            let words = finding.to_string();
            let start = format!("{}: ", finding.severity);
            (finding.severity, of_it(words.strip_prefix(&start).unwrap_or(&words).to_owned()))
        });
        // H-28: named before anybody has opened it.
        let domains =
            self.domains(document).into_iter().map(|words| (Severity::Note, of_it(words)));
        let all = missing.into_iter().chain(unasked).chain(nearby);
        let all = all.chain(refused).chain(scan).chain(domains);
        let mut all: Vec<_> = all.collect();
        all.sort_by_key(|(severity, _)| std::cmp::Reverse(*severity));
        let more = all.len().saturating_sub(REMARKS);
        let remarks = all.into_iter().take(REMARKS);
        let mut remarks: Vec<_> =
            remarks.map(|(severity, words)| Remark::new(severity, words)).collect();
        if more > 0 {
            let words = words!("and {} more; transom inspect shows them all", more);
            remarks.push(Remark::new(Severity::Note, words));
        }
        remarks
    }

    /// Whom a document may talk to, and whom it would like to but may not.
    fn domains(&self, document: &Document) -> Vec<String> {
        let mut given = document.declaration.clone();
        let mut declared = document.declaration.clone();
        let stance = |source: &_| self.policy.domains.judge(source);
        if let (Some(given), Some(declared)) = (&mut given, &mut declared) {
            given.retain(|_, source| stance(source) == Stance::Allow);
            // What a person will be asked about is said elsewhere, with the line that grants it.
            declared.retain(|_, source| stance(source) != Stance::Ask);
        }
        talks(given.as_ref(), declared.as_ref())
    }

    fn become_(&self, servers: &Servers, standing: Standing, words: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.standing, state.words) = (standing, Words::ours(&words).to_string());
        drop(state);
        servers.changed();
    }

    fn shown(&self) -> ServerState {
        let Condition { standing, words, mut findings, sign_in } =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let tools = self.upstream().map(|upstream| upstream.tools()).unwrap_or_default();
        let tools = tools.iter().map(|(_, tool)| tool);
        let (tools, remark) =
            shown(tools.filter(|tool| tool.meta.visibility.contains(Visibility::Model)));
        findings.extend(remark);
        ServerState { name: self.name.clone(), state: standing, words, tools, findings, sign_in }
    }
}

impl Prepared {
    /// What the page is told.
    pub(crate) fn mount(&self, tool: &str) -> Mount {
        let mounted = &self.mounted;
        Mount {
            src: mounted.sandbox_url.clone(),
            title: format!("{} from {}", Quoted::new(tool), Quoted::new(&self.server.name)),
            allow: Some(mounted.allow.clone()).filter(|allow| !allow.is_empty()),
            border: self.document.meta.prefers_border,
        }
    }

    /// What the person should know before it runs (H-28, D8).
    pub(crate) fn warnings(&self) -> Vec<Words> {
        let given = self.mounted.declaration.as_ref();
        let talks = talks(given, self.document.declaration.as_ref());
        let mut warnings: Vec<Words> = talks.iter().map(|words| Words::ours(words)).collect();
        let granted = permissions(self.mounted.permissions);
        if !granted.is_empty() {
            warnings.push(words!("this view may use {}", Words::ours(&granted.join(", "))));
        }
        let missing = MissingGrants::of(&self.document, &self.server.grants);
        warnings.extend(missing.map(|missing| Words::ours(&missing.to_string())));
        let missing = MissingPermissions::of(&self.document, self.server.permissions);
        warnings.extend(missing.map(|missing| Words::ours(&missing.to_string())));
        warnings.extend(self.unpinned.then(|| words!("this view is {}", UNPINNED)));
        warnings
    }

    /// What the frame was really given beside its own origin, for the view to know (H-32).
    pub(crate) fn granted(&self) -> Option<SandboxCapabilities> {
        let declaration = self.mounted.declaration.as_ref().filter(|all| !all.is_empty());
        let csp = declaration.map(Into::into);
        let permissions = Some(self.mounted.permissions);
        let permissions = permissions.filter(|given| *given != ResourcePermissions::default());
        (csp.is_some() || permissions.is_some()).then_some(SandboxCapabilities { permissions, csp })
    }

    /// What a person has to agree to before it runs; nothing, if it may (H-49).
    pub(crate) fn doubt(&self) -> Option<Doubt<'_>> {
        match &self.review {
            Review::Changed(change) => Some(Doubt::Changed(change)),
            Review::Unpinned(pin) => Some(Doubt::Unpinned(pin)),
            Review::New | Review::Same => None,
        }
    }

    /// What of this machine and its networks the document declares and for what, where the rules leave it to a person.
    pub(crate) fn nearby(&self) -> BTreeSet<String> {
        wishes(&self.document, &self.server.policy.domains)
    }

    /// Gives it what of that a person has agreed to, and nothing else of it.
    pub(crate) fn open_to(
        &mut self,
        agreed: BTreeSet<String>,
        sandbox: &Sandbox,
    ) -> Result<(), MountError> {
        if agreed != self.reaches {
            let frame = self.server.frame(&self.document, &agreed);
            sandbox.remount(&mut self.mounted, frame)?;
            self.reaches = agreed;
        }
        Ok(())
    }

    /// Which document it would run.
    pub(crate) fn named(&self) -> Named {
        let (uri, hash) = (self.document.uri.as_str().to_owned(), self.document.hash);
        Named { uri, hash, pinned: !self.unpinned }
    }

    /// Remembers that a person agreed to this document, or to whatever is at its address.
    pub(crate) fn agree(&mut self, changing: bool) -> Result<(), PinError> {
        let shows = self.server.shows(&self.shown_by, self.template.as_deref());
        let store = &self.server.store;
        match changing {
            true => store.agree_to_changes(&self.document, shows)?,
            false => store.agree(&self.document, shows, &self.review)?,
        }
        self.unpinned = store.is_unpinned(shows)?;
        self.review = Review::Same;
        Ok(())
    }

    /// Agrees to what nobody has seen before, now that it runs. Meanwhile the same tool may have shown something else
    /// that was agreed to: then this is a change, and waits for a person.
    pub(crate) fn pin(&mut self) -> Result<(), PinError> {
        if !matches!(self.review, Review::New) {
            return Ok(());
        }
        let shows = self.server.shows(&self.shown_by, self.template.as_deref());
        self.review = self.server.store.review(&self.document, shows)?;
        match self.review {
            Review::New => self.agree(false),
            _ => Ok(()),
        }
    }

    /// Whether a yes to this one is a yes to the other: of the same tool, or of one that the question named, and a person
    /// would be asked the same about the two.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        let named = match &self.review {
            Review::Changed(change) => change.others.contains(&other.shown_by),
            _ => false,
        };
        let place = |prepared: &Self| prepared.server.place.id().clone();
        let asked = |prepared: &Self| {
            let before = match &prepared.review {
                Review::Changed(change) => Some(change.before.clone()),
                _ => None,
            };
            (before, Pin::of(&prepared.document, prepared.template.as_deref()))
        };
        let tool = named || self.shown_by == other.shown_by;
        tool && place(self) == place(other) && asked(self) == asked(other)
    }
}

/// Why a document does not run before somebody agrees to it.
pub(crate) enum Doubt<'a> {
    /// It is not what it was.
    Changed(&'a Change),
    /// It is made for each request.
    Unpinned(&'a Pin),
}

async fn done(pending: &mut Call) -> Outcome {
    loop {
        match pending.next().await {
            Some(Update::Done(outcome)) => return outcome,
            Some(_) => {}
            None => return Err(CallError::Cancelled),
        }
    }
}

impl Remark {
    fn new(severity: Severity, words: Words) -> Self {
        let severity = match severity {
            Severity::Danger => "danger",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        Self { severity, words }
    }
}

/// Whom a view may talk to, of those that it declares, and whom it may not (H-28, H-29).
fn talks(given: Option<&Declaration>, declared: Option<&Declaration>) -> Vec<String> {
    let domains = |declaration: Option<&Declaration>| -> BTreeSet<String> {
        let Some(declaration) = declaration else { return BTreeSet::new() };
        let csp = transom::wire::ResourceCsp::from(declaration);
        [csp.connect_domains, csp.resource_domains, csp.frame_domains, csp.base_uri_domains]
            .into_iter()
            .flatten()
            .collect()
    };
    let list = |domains: Vec<&String>| {
        domains.into_iter().map(String::as_str).collect::<Vec<_>>().join(", ")
    };
    let (given, declared) = (domains(given), domains(declared));
    let mut words = vec![];
    if !given.is_empty() {
        words.push(format!("this view may talk to {}", list(given.iter().collect())));
    }
    let is_private =
        |source: &&String| Source::parse(source).is_ok_and(|source| source.reach().is_private());
    let withheld = declared.difference(&given);
    let (private, forbidden): (Vec<_>, Vec<_>) = withheld.partition(is_private);
    for (withheld, why) in
        [(forbidden, "your rules forbid it"), (private, "nobody agreed to private addresses")]
    {
        if !withheld.is_empty() {
            words.push(format!("this view may not talk to {}: {why}", list(withheld)));
        }
    }
    words
}

/// `1 view`, `2 views`.
fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// What the page needs of the tools: all of them, and of their schemas as much as one page can read.
fn shown<'a>(tools: impl Iterator<Item = &'a ListedTool>) -> (Vec<Value>, Option<Remark>) {
    let mut room = SCHEMAS;
    let mut without = vec![];
    let show = |listed: &ListedTool| {
        // Only what can be read is listed.
        let tool: Value = serde_json::from_str(listed.raw.get()).unwrap_or_default();
        let mut shown = form::shown(|key| tool.get(key));
        let rest = room.checked_sub(form::schema_size(&shown));
        if rest.is_none() {
            shown.shift_remove("inputSchema");
        }
        if tool.get("inputSchema").is_some() && !shown.contains_key("inputSchema") {
            without.push(Quoted::new(tool["name"].as_str().unwrap_or_default()).to_string());
        }
        room = rest.unwrap_or(room);
        // What the page writes where people read its name.
        let label = Quoted::new(tool["name"].as_str().unwrap_or_default());
        shown.insert("label".to_owned(), label.as_str().into());
        shown.insert("view".to_owned(), listed.meta.resource_uri.is_some().into());
        shown.into()
    };
    let shown = tools.map(show).collect();
    let words =
        format!("arguments are typed as JSON, for the schema is too large: {}", without.join(", "));
    (
        shown,
        Some(words)
            .filter(|_| !without.is_empty())
            .map(|words| Remark::new(Severity::Note, Words::ours(&words))),
    )
}

/// What is said of a document that is made for each request.
const UNPINNED: &str = "not pinned: nobody is asked when its content changes";
/// The most bytes of schemas that the page is told of one server.
const SCHEMAS: usize = 4 << 20;
/// How many things people are told of one document before they open it.
const REMARKS: usize = 8;
/// How many calls of people may be under way beside those of views.
const OPENINGS: usize = 256;
/// How long a server may stay silent before people are told.
const QUIET: Duration = Duration::from_secs(4);
/// The least time between two invitations of a server that is connected: it can ask as often as it likes.
const BETWEEN_INVITATIONS: Duration = Duration::from_secs(5);
