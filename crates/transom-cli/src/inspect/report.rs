//! What was found at one server.

use std::collections::BTreeMap;

use serde::Serialize;
use serde_json::{Map, Value};
use transom::{
    csp::{Csp, Grant},
    policy::{Domains, Stance},
    wire::{EXTENSION, UiUri, Visibilities, Visibility},
};
use transom_host::{
    MissingGrants, MissingNearby, MissingPermissions,
    documents::{self, Document, DocumentLimits, ScanFinding, Severity, What},
    upstream::{Listing, ResourceEntries, Upstream},
};

use crate::{
    config::ConfiguredServer,
    identity::{Identity, Protocol},
};

/// What was found at one server.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) name: String,
    pub(super) place: String,
    pub(super) server: Identity,
    pub(super) protocol: Protocol,
    pub(super) capabilities: Map<String, Value>,
    /// Whether it says that it has views; the specification does not ask for it.
    pub(super) announces_views: bool,
    pub(super) tools: Audiences,
    pub(super) views: Vec<ViewReport>,
    /// Addresses of views with parameters. No tool opens one: whoever knows the parameters reads it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) templates: Vec<String>,
    /// What is odd about the list of tools.
    pub(super) findings: Vec<Finding>,
}

/// Tools by who may call them.
#[derive(Debug, Default, Serialize)]
pub(super) struct Audiences {
    pub(super) both: Vec<String>,
    pub(super) model: Vec<String>,
    pub(super) app: Vec<String>,
    pub(super) neither: Vec<String>,
}

/// One view.
#[derive(Debug, Serialize)]
pub(super) struct ViewReport {
    pub(super) uri: String,
    /// The tools that open it.
    pub(super) tools: Vec<String>,
    #[serde(flatten)]
    pub(super) document: Option<Facts>,
    pub(super) findings: Vec<Finding>,
}

/// What is known of a document that could be read.
#[derive(Debug, Serialize)]
pub(super) struct Facts {
    pub(super) bytes: usize,
    pub(super) hash: String,
    /// Its policy unless a person gives it more, and but for `frame-ancestors`, which is known when it is
    /// mounted.
    pub(super) csp: String,
    /// The permissions it asks for, as an `allow` attribute has them. None is granted.
    pub(super) permissions: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) domain: Option<String>,
}

/// Of a view that is made for each request.
fn unpinned(template: &str) -> Finding {
    let words = format!(
        "is made for each request, as one of {}; it is not pinned: a host asks once, and not when its content changes",
        transom::violation::Quoted::new(template)
    );
    Finding { severity: Severity::Note, words, line: None }
}

/// One thing that people should know.
#[derive(Debug, PartialEq, Eq, Serialize)]
pub(super) struct Finding {
    #[serde(serialize_with = "as_word")]
    pub(super) severity: Severity,
    pub(super) words: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) line: Option<usize>,
}

impl Report {
    /// Reads the documents of all views of a server.
    pub(super) async fn of(server: &ConfiguredServer, upstream: &Upstream) -> Self {
        let (said, listing) = (upstream.server(), upstream.tools());
        let entries = upstream.resource_entries().await;
        let mut views = vec![];
        let linked = linked(&listing);
        // What the list has is one document; what it does not have may be made for each request.
        let mut templates = upstream.resource_templates().await;
        for (uri, tools) in linked {
            let mut view = ViewReport::of(server, upstream, &entries, &uri, tools).await;
            let made = |template: &&String| documents::fits(template, uri.as_str());
            let template = templates.iter().find(made).filter(|_| entries.get(&uri).is_none());
            view.findings.extend(template.map(|template| unpinned(template)));
            views.push(view);
        }
        let extensions = said.capabilities.get("extensions");
        templates.retain(|template| template.starts_with("ui://"));
        Self {
            name: server.name.clone(),
            place: server.place(),
            server: Identity::of(&said),
            protocol: Protocol::of(&said),
            announces_views: extensions.is_some_and(|all| all.get(EXTENSION).is_some()),
            capabilities: said.capabilities.clone(),
            tools: Audiences::of(&listing),
            views,
            templates,
            findings: oddities(&listing),
        }
    }

    /// The severity of the gravest finding.
    pub(super) fn gravest(&self) -> Option<Severity> {
        let views = self.views.iter().flat_map(|view| &view.findings);
        views.chain(&self.findings).map(|finding| finding.severity).max()
    }
}

impl Audiences {
    fn of(listing: &Listing) -> Self {
        let mut audiences = Self::default();
        for (name, tool) in listing.iter() {
            audiences.list(tool.meta.visibility).push(name.to_owned());
        }
        audiences
    }

    fn list(&mut self, visibility: Visibilities) -> &mut Vec<String> {
        match (visibility.contains(Visibility::Model), visibility.contains(Visibility::App)) {
            (true, true) => &mut self.both,
            (true, false) => &mut self.model,
            (false, true) => &mut self.app,
            (false, false) => &mut self.neither,
        }
    }
}

impl ViewReport {
    async fn of(
        server: &ConfiguredServer,
        upstream: &Upstream,
        entries: &ResourceEntries,
        uri: &UiUri,
        tools: Vec<String>,
    ) -> Self {
        let (document, findings) = match read(server, upstream, entries, uri).await {
            Ok(document) => {
                let findings = Finding::all_of(&document, server);
                let domains = server.policy().domains;
                (Some(Facts::of(&document, &server.grants.value, &domains)), findings)
            }
            Err(words) => (None, vec![Finding::new(Severity::Warning, words)]),
        };
        Self { uri: uri.as_str().to_owned(), tools, document, findings }
    }
}

impl Facts {
    fn of(document: &Document, grants: &[Grant], domains: &Domains) -> Self {
        let mut given = document.declaration.clone();
        if let Some(given) = &mut given {
            given.retain(|_, source| domains.judge(source) == Stance::Allow);
        }
        let csp = Csp::guest(given.as_ref()).grant(grants);
        Self {
            bytes: document.html.len(),
            hash: document.hash.to_string(),
            csp: csp.to_string(),
            permissions: document.meta.permissions.unwrap_or_default().to_allow(),
            domain: document.meta.domain.clone(),
        }
    }
}

impl Finding {
    fn new(severity: Severity, words: impl Into<String>) -> Self {
        Self { severity, words: words.into(), line: None }
    }

    /// Everything about a document, the gravest first.
    fn all_of(document: &Document, server: &ConfiguredServer) -> Vec<Self> {
        let grants = &server.grants.value;
        let served = |found: &&ScanFinding| matches!(found.what, What::NeedsGrant(grant) if grants.contains(&grant));
        let scan = document.scan.findings.iter().filter(|found| !served(found));
        let scan = scan.map(|found| Self {
            severity: found.severity,
            words: found.words.clone(),
            line: Some(found.place.line),
        });
        let refused = document.refused.iter();
        let refused = refused.map(|refused| Self::new(Severity::Warning, refused.to_string()));
        let missing = MissingGrants::of(document, grants);
        let missing = missing.map(|missing| Self::new(Severity::Warning, missing.to_string()));
        let unasked = MissingPermissions::of(document, server.permissions.value);
        let unasked = unasked.map(|unasked| Self::new(Severity::Warning, unasked.to_string()));
        let nearby = MissingNearby::of(document, &server.policy().domains);
        let nearby = nearby.map(|nearby| Self::new(Severity::Warning, nearby.to_string()));
        let odd = document.oddities.iter().map(|odd| Self::new(Severity::Note, odd.to_string()));
        let mut all: Vec<Self> =
            scan.chain(refused).chain(missing).chain(unasked).chain(nearby).chain(odd).collect();
        if document.scan.omitted > 0 {
            let words = format!("{} more of the same", document.scan.omitted);
            all.push(Self::new(Severity::Note, words));
        }
        all.sort_by_key(|finding| std::cmp::Reverse(finding.severity));
        all
    }
}

async fn read(
    server: &ConfiguredServer,
    upstream: &Upstream,
    entries: &ResourceEntries,
    uri: &UiUri,
) -> Result<Document, String> {
    let result = upstream.read_resource(uri.as_str()).await.map_err(|error| error.story())?;
    let listing = entries.get(uri);
    let document = Document::read(&server.name, uri, &result, listing, &DocumentLimits::default());
    document.map_err(|error| error.to_string())
}

/// The views that tools link to, each with those tools.
fn linked(listing: &Listing) -> Vec<(UiUri, Vec<String>)> {
    let mut views: BTreeMap<String, (UiUri, Vec<String>)> = BTreeMap::new();
    for (name, tool) in listing.iter() {
        if let Some(uri) = &tool.meta.resource_uri {
            let key = uri.as_str().to_owned();
            views.entry(key).or_insert_with(|| (uri.clone(), vec![])).1.push(name.to_owned());
        }
    }
    views.into_values().collect()
}

fn oddities(listing: &Listing) -> Vec<Finding> {
    let mut all = vec![];
    if let Some(cut) = listing.cut() {
        all.push(Finding::new(Severity::Warning, format!("the list of tools is cut: {cut}")));
    }
    if listing.dropped() > 0 {
        let words = format!("{} entries of the list of tools are no tools", listing.dropped());
        all.push(Finding::new(Severity::Warning, words));
    }
    let odd = listing.findings().iter();
    all.extend(odd.map(|odd| Finding::new(Severity::Note, odd.to_string())));
    all
}

fn as_word<S: serde::Serializer>(severity: &Severity, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.collect_str(severity)
}
