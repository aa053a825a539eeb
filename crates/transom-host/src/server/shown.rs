//! Servers as people are shown them: how each is, its tools, and what to know before a view opens.

use std::{
    collections::BTreeSet,
    sync::{PoisonError, atomic::Ordering},
};

use serde::Serialize;
use serde_json::{Map, Value, value::RawValue};
use transom::{
    csp::{Declaration, Source},
    host::List,
    policy::Stance,
    quoted::Quoted,
    wire::Visibility,
};

use super::{Server, Servers};
use crate::{
    documents::{Document, Severity},
    form::Form,
    grants::{MissingGrants, MissingNearby, MissingPermissions},
    upstream::{ListedTool, Upstream},
    words,
    words::Words,
};

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
#[non_exhaustive]
pub enum Standing {
    /// It is being reached, for the first time or again.
    Connecting,
    /// It waits for a person to sign in.
    #[serde(rename = "sign-in")]
    SignIn,
    /// It is there, and its views are known.
    Ready,
    /// It is not there and will not be.
    Gone,
}

/// A server as people are shown it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Server", optional_fields))]
#[non_exhaustive]
pub struct ServerState {
    /// The name it is configured with.
    pub name: String,
    /// How it is.
    pub state: Standing,
    /// How it is, in words.
    pub words: String,
    /// The tools that a model or a person may call.
    pub tools: Vec<ShownTool>,
    /// The tools that only its views may call, as people may read them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub private_tools: Vec<Quoted>,
    /// What it has beside its tools: `resources` and `prompts`.
    pub lists: Vec<&'static str>,
    /// Whether it was added while the host runs.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub added: bool,
    /// How many more it has, which are not shown.
    #[serde(skip_serializing_if = "is_none")]
    #[cfg_attr(test, ts(optional, as = "Option<usize>"))]
    pub more_tools: usize,
    /// What people should know before they open a view.
    pub findings: Vec<Remark>,
    /// How many of its views are still to be looked at; what is found comes to the findings.
    #[serde(skip_serializing_if = "is_none")]
    #[cfg_attr(test, ts(optional, as = "Option<usize>"))]
    pub unseen: usize,
    /// Where to sign in, while the server asks for it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sign_in: Option<SignIn>,
    /// The last lines that it wrote to its standard error, while it is not there.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub output: Vec<Quoted>,
}

/// A tool as people are shown it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Tool"))]
#[non_exhaustive]
pub struct ShownTool {
    /// What is needed to draw a form for its arguments.
    #[serde(flatten)]
    pub form: Form,
    /// Its name as people may read it.
    #[cfg_attr(test, ts(as = "String"))]
    pub label: Quoted,
    /// Whether it opens a view.
    pub view: bool,
}

/// An invitation to sign in.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct SignIn {
    /// The address to open in a browser.
    pub url: String,
    /// Who asks for the password there.
    pub place: String,
}

/// One thing that people should know about a server's views.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[non_exhaustive]
pub struct Remark {
    /// `danger`, `warning` or `note`.
    #[cfg_attr(test, ts(type = "\"danger\" | \"warning\" | \"note\""))]
    pub severity: &'static str,
    /// What it is.
    #[cfg_attr(test, ts(as = "String"))]
    pub words: Words,
}

/// What a server says of itself, beside what people are shown of all servers.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct About {
    /// Where it is, in words that hold no secret.
    place: String,
    /// The version of MCP that is spoken with it.
    protocol: String,
    /// All that it said in its greeting.
    #[cfg_attr(test, ts(type = "unknown"))]
    said: Box<RawValue>,
    /// What it can do.
    #[cfg_attr(test, ts(type = "Record<string, unknown>"))]
    capabilities: Map<String, Value>,
    /// The last lines of its standard error.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    output: Vec<Quoted>,
}

/// How a server is, in a word and in words.
#[derive(Clone, Debug)]
pub(super) struct Condition {
    pub(super) standing: Standing,
    pub(super) words: String,
    pub(super) findings: Vec<Remark>,
    pub(super) unseen: usize,
    pub(super) sign_in: Option<SignIn>,
}

impl Server {
    /// What people should know of a document before it runs: the gravest first, and who it will talk to.
    pub(super) fn remarks(&self, document: &Document) -> Vec<Remark> {
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
        // H-28: named before a person opens it.
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
    pub(super) fn domains(&self, document: &Document) -> Vec<String> {
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

    pub(super) fn become_(&self, servers: &Servers, standing: Standing, words: String) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        (state.standing, state.words) = (standing, Words::ours(&words).to_string());
        drop(state);
        servers.changed();
    }

    pub(super) fn shown(&self) -> ServerState {
        let Condition { standing: state, words, mut findings, unseen, sign_in } =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let upstream = self.upstream();
        let listed = upstream.as_ref().map(Upstream::tools).unwrap_or_default();
        let for_models = |tool: &ListedTool| tool.meta.visibility.contains(Visibility::Model);
        let (tools, private) = listed.iter().partition::<Vec<_>, _>(|(_, tool)| for_models(tool));
        let private_tools =
            private.into_iter().take(TOOLS).map(|(name, _)| Quoted::new(name)).collect();
        let lists = upstream.map(|upstream| upstream.server()).map_or_else(Vec::new, |it| {
            let named = [(List::Resources, "resources"), (List::Prompts, "prompts")];
            named.into_iter().filter(|(list, _)| it.has(*list)).map(|(_, name)| name).collect()
        });
        let tools = tools.into_iter().map(|(_, tool)| tool);
        let (tools, more_tools) = most(tools.collect());
        let (tools, remark) = shown(tools.into_iter());
        findings.extend(remark);
        let output = if state == Standing::Ready { vec![] } else { self.aside.last() };
        let name = self.name.clone();
        let added = self.added.load(Ordering::Relaxed);
        ServerState {
            name,
            state,
            words,
            tools,
            private_tools,
            lists,
            added,
            more_tools,
            findings,
            unseen,
            sign_in,
            output,
        }
    }
}

impl Server {
    /// What it says of itself, while it is connected.
    pub(crate) fn about(&self) -> Option<About> {
        let said = self.upstream()?.server();
        Some(About {
            place: self.place.words().to_owned(),
            protocol: said.protocol_version.clone(),
            said: said.raw.clone(),
            capabilities: said.capabilities.clone(),
            output: self.aside.last(),
        })
    }
}

impl Remark {
    /// The gravest first.
    pub(super) fn rank(&self) -> usize {
        ["danger", "warning", "note"].iter().position(|known| *known == self.severity).unwrap_or(3)
    }

    pub(super) fn new(severity: Severity, words: Words) -> Self {
        let severity = match severity {
            Severity::Danger => "danger",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        Self { severity, words }
    }
}

/// Whom a view may talk to, of those that it declares, and whom it may not (H-28, H-29).
pub(super) fn talks(given: Option<&Declaration>, declared: Option<&Declaration>) -> Vec<String> {
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
        [(forbidden, "your rules forbid it"), (private, "you did not agree to private addresses")]
    {
        if !withheld.is_empty() {
            words.push(format!("this view may not talk to {}: {why}", list(withheld)));
        }
    }
    words
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks so")]
fn is_none(count: &usize) -> bool {
    *count == 0
}

/// `1 view`, `2 views`.
pub(super) fn count(number: usize, noun: &str) -> String {
    format!("{number} {noun}{}", if number == 1 { "" } else { "s" })
}

/// As many tools as a page can draw, and how many more there are. Those with views come first where not all have room.
fn most(mut tools: Vec<&ListedTool>) -> (Vec<&ListedTool>, usize) {
    let more = tools.len().saturating_sub(TOOLS);
    if more > 0 {
        tools.sort_by_key(|tool| tool.meta.resource_uri.is_none());
        tools.truncate(TOOLS);
    }
    (tools, more)
}

/// What the page needs of the tools: all of them, and of their schemas as much as one page can read.
pub(super) fn shown<'a>(
    tools: impl Iterator<Item = &'a ListedTool>,
) -> (Vec<ShownTool>, Option<Remark>) {
    let mut room = SCHEMAS;
    let mut without = vec![];
    let show = |listed: &ListedTool| {
        // Only what can be read is listed.
        let tool: Value = serde_json::from_str(listed.raw.get()).unwrap_or_default();
        let mut form = Form::of(|key| tool.get(key));
        let label = Quoted::new(&form.name);
        let rest = room.checked_sub(form.schema_size());
        if rest.is_none() {
            form.input_schema = None;
        }
        if tool.get("inputSchema").is_some() && form.input_schema.is_none() {
            without.push(label.to_string());
        }
        room = rest.unwrap_or(room);
        ShownTool { form, label, view: listed.meta.resource_uri.is_some() }
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
pub(super) const UNPINNED: &str = "not pinned: you are not asked when its content changes";

/// The most tools of one server that the page is told of.
const TOOLS: usize = 500;
/// The most bytes of schemas that the page is told of one server.
pub(super) const SCHEMAS: usize = 4 << 20;

/// How many things people are told of one document before they open it.
pub(super) const REMARKS: usize = 8;
