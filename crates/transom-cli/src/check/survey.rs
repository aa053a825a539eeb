//! What a server answers when it is asked everything that the rules want to know.
//!
//! ```text
//!   as a host ─── lists, documents, calls ──┐
//!   as a client without views ─ lists, calls ┼──▶ Survey ──▶ rules
//!   in the other era, if it has one ─ lists ─┘
//! ```
//!
//! Every answer is a stranger's: each question has a bound on its time, each list on its length.

mod calls;
mod dev;
mod lists;
mod proxy;
mod tool;

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
    time::{Duration, Instant},
};

use serde_json::{Map, Value};
use transom::{
    calls::Patience,
    violation::Quoted,
    wire::{EXTENSION, UiUri},
};
use transom_host::{
    documents::{Document, DocumentLimits},
    upstream::{self, Era, Memo, Options, Strays, Target, Upstream},
};

pub(super) use calls::{Called, Calls};
pub(super) use lists::Listed;
pub(super) use proxy::Attempt;
pub(super) use tool::{is_app_only, is_for_model, link};

use super::finding::Unchecked;

/// How to ask.
#[derive(Clone, Debug)]
pub(super) struct Plan {
    /// How long each answer may take.
    pub(super) patience: Duration,
    pub(super) calls: Calls,
}

/// Everything that is known of a server.
#[derive(Debug)]
pub(super) struct Survey {
    /// What it says of itself.
    pub(super) said: Arc<upstream::ServerIdentity>,
    /// The address, where it has one.
    pub(super) address: Option<String>,
    pub(super) capabilities: Map<String, Value>,
    pub(super) tools: Listed,
    /// Nothing where it has no resources; an error where the list could not be had.
    pub(super) resources: Option<Result<Listed, String>>,
    /// Addresses of views with parameters, as they are listed.
    pub(super) templates: Vec<Value>,
    pub(super) views: Vec<SurveyedView>,
    pub(super) calls: Vec<Called>,
    pub(super) proxy: Vec<Attempt>,
    /// As a client that shows no views sees it.
    pub(super) text: Option<TextSide>,
    /// The same connection, asked once without views and then with them again.
    pub(super) in_between: Option<(Listed, Listed)>,
    /// The same server reached another way.
    pub(super) others: Vec<Other>,
    /// Whether its author is at work on it; its documents are then judged without the page around them.
    pub(super) dev: bool,
    pub(super) unchecked: Vec<Unchecked>,
    /// What it wrote to its standard output beside messages.
    pub(super) strays: Strays,
}

/// One document.
#[derive(Debug)]
pub(super) struct SurveyedView {
    pub(super) uri: String,
    /// The tools that link to it.
    pub(super) tools: Vec<String>,
    /// Its entry in the list.
    pub(super) entry: Option<Value>,
    /// The answer to `resources/read`, or why there is none.
    pub(super) answer: Result<Value, String>,
    pub(super) took: Duration,
    pub(super) document: Option<Result<Box<Document>, String>>,
    /// An address with another hash, and why it did not answer, if it did not.
    pub(super) older: Option<(String, Option<String>)>,
}

/// What a client without views gets.
#[derive(Debug)]
pub(super) struct TextSide {
    pub(super) tools: Result<Listed, String>,
    pub(super) calls: Vec<Called>,
}

/// The same server, reached another way.
#[derive(Debug)]
pub(super) struct Other {
    /// Which way.
    pub(super) way: String,
    pub(super) tools: Listed,
    pub(super) documents: BTreeMap<String, String>,
}

impl Survey {
    /// Asks a server everything. An error means that it could not be reached.
    pub(super) async fn of(target: &Target, plan: &Plan) -> Result<Self, String> {
        let host = connect(target, plan, true, None).await?;
        let surveyed = Self::as_host(&host, target, plan).await;
        let strays = host.strays();
        host.close().await;
        let mut survey = surveyed?;
        survey.strays = strays;
        survey.as_text_client(target, plan).await;
        survey.in_the_other_era(target, plan).await;
        Ok(survey)
    }

    /// What the views of it are, by their hashes; to compare it with itself elsewhere.
    pub(super) fn as_other(&self, way: String) -> Other {
        let hash = |view: &SurveyedView| match &view.document {
            Some(Ok(document)) => Some((view.uri.clone(), document.hash.to_string())),
            _ => None,
        };
        let documents = self.views.iter().filter_map(hash).collect();
        Other { way, tools: self.tools.clone(), documents }
    }

    /// Whether it says that it has views.
    pub(super) fn advertises(&self) -> bool {
        let extensions = self.capabilities.get("extensions");
        extensions.is_some_and(|all| all.get(EXTENSION).is_some())
    }

    async fn as_host(host: &Upstream, target: &Target, plan: &Plan) -> Result<Self, String> {
        let said = host.server();
        let tools = lists::tools(host, true).await?;
        let resources = match said.capabilities.contains_key("resources") {
            true => Some(lists::resources(host).await),
            false => None,
        };
        let templates = match &resources {
            Some(Ok(_)) => lists::templates(host).await,
            _ => vec![],
        };
        let mut survey = Self {
            said: Arc::clone(&said),
            address: match target {
                Target::Http(endpoint) => Some(endpoint.url.to_string()),
                Target::Stdio(_) | Target::InProcess(_) => None,
            },
            capabilities: said.capabilities.clone(),
            resources,
            templates,
            views: vec![],
            calls: vec![],
            proxy: vec![],
            text: None,
            in_between: None,
            others: vec![],
            dev: dev::is_on(&tools),
            tools,
            unchecked: vec![],
            strays: Strays::default(),
        };
        survey.read_views(host).await;
        survey.unchecked.extend(survey.templates.iter().take(MAX_VIEWS).map(parameters_unknown));
        survey.calls = plan.calls.make(host, &survey.tools, &mut survey.unchecked).await;
        survey.proxy =
            proxy::attempt(host, &survey.tools, &plan.calls, &mut survey.unchecked).await;
        if said.era == Era::Stateless {
            let text = lists::tools(host, false).await;
            let again = lists::tools(host, true).await;
            survey.in_between = text.ok().zip(again.ok());
        }
        Ok(survey)
    }

    async fn read_views(&mut self, host: &Upstream) {
        let mut linked: BTreeMap<String, Vec<String>> = BTreeMap::new();
        for tool in &self.tools.items {
            if let (Some(name), Some(uri)) = (tool["name"].as_str(), link(tool)) {
                linked.entry(uri.to_owned()).or_default().push(name.to_owned());
            }
        }
        let entries = match &self.resources {
            Some(Ok(listed)) => &*listed.items,
            _ => &[],
        };
        let entries: BTreeMap<&str, &Value> = entries
            .iter()
            .rev()
            .filter_map(|entry| Some((entry["uri"].as_str()?, entry)))
            .filter(|(uri, _)| uri.starts_with("ui://"))
            .collect();
        let uris: BTreeSet<&str> =
            linked.keys().map(|uri| &**uri).chain(entries.keys().copied()).collect();
        let (uris, rest) = (uris.iter().take(MAX_VIEWS), uris.len().saturating_sub(MAX_VIEWS));
        let mut views = vec![];
        for uri in uris {
            let Some(uri) = UiUri::parse(uri) else { continue };
            let tools = linked.get(uri.as_str()).cloned().unwrap_or_default();
            let entry = entries.get(uri.as_str()).copied();
            views.push(SurveyedView::read(host, uri, tools, entry, self.dev).await);
        }
        if rest > 0 {
            let why =
                format!("the server has more than {MAX_VIEWS} views; {rest} of them were not read");
            self.unchecked.push(Unchecked { rules: vec!["server-03"], why });
        }
        self.views = views;
    }

    async fn as_text_client(&mut self, target: &Target, plan: &Plan) {
        let client = match connect(target, plan, false, None).await {
            Ok(client) => client,
            Err(why) => {
                let why = format!("no second connection as a client without views: {why}");
                self.unchecked.push(Unchecked {
                    rules: vec!["server-13", "server-19", "server-20", "server-24"],
                    why,
                });
                return;
            }
        };
        let tools = lists::tools(&client, false).await;
        let mut calls = vec![];
        if let Ok(tools) = &tools {
            for called in &self.calls {
                let listed = tools.items.iter().any(|tool| tool["name"] == *called.tool);
                if listed {
                    calls.push(called.again(&client).await);
                }
            }
        }
        client.close().await;
        self.text = Some(TextSide { tools, calls });
    }

    /// A server that speaks the newer kind of MCP often speaks the older one as well.
    async fn in_the_other_era(&mut self, target: &Target, plan: &Plan) {
        if self.said.era == Era::Greeting {
            return;
        }
        let Ok(host) = connect(target, plan, true, Some(Era::Greeting)).await else { return };
        if host.server().era == Era::Greeting {
            let version = host.server().protocol_version.clone();
            match lists::tools(&host, true).await {
                Ok(tools) => {
                    let mut documents = BTreeMap::new();
                    for view in &self.views {
                        let Some(uri) = UiUri::parse(&view.uri) else { continue };
                        let entry = view.entry.as_ref();
                        let read = SurveyedView::read(&host, uri, vec![], entry, self.dev).await;
                        if let Some(Ok(document)) = read.document {
                            documents.insert(read.uri, document.hash.to_string());
                        }
                    }
                    self.others.push(Other { way: format!("MCP {version}"), tools, documents });
                }
                Err(why) => self.unchecked.push(Unchecked { rules: vec!["server-18"], why }),
            }
        }
        host.close().await;
    }
}

impl SurveyedView {
    async fn read(
        host: &Upstream,
        uri: UiUri,
        tools: Vec<String>,
        entry: Option<&Value>,
        dev: bool,
    ) -> Self {
        let begun = Instant::now();
        let result = host.read_resource(uri.as_str()).await.map_err(|error| error.story());
        let took = begun.elapsed();
        let result = match result {
            Ok(result) if dev => Ok(dev::inner(host, uri.as_str(), result).await),
            result => result,
        };
        let document = result.as_ref().ok().map(|result| {
            let document =
                Document::read("checked", &uri, result, entry, &DocumentLimits::default());
            document.map(Box::new).map_err(|error| error.to_string())
        });
        let answer = result.and_then(|result| {
            serde_json::from_str(result.get()).map_err(|error| error.to_string())
        });
        let older = match older(uri.as_str()) {
            Some(older) => {
                let refused = host.read_resource(&older).await.err();
                Some((older, refused.map(|error| error.story())))
            }
            None => None,
        };
        let (uri, entry) = (uri.to_string(), entry.cloned());
        Self { uri, tools, entry, answer, took, document, older }
    }
}

async fn connect(
    target: &Target,
    plan: &Plan,
    views: bool,
    era: Option<Era>,
) -> Result<Upstream, String> {
    let mut options = Options {
        views,
        greeting: plan.patience,
        patience: Patience::flat(plan.patience),
        ..Options::default()
    };
    if let Some(era) = era {
        options.memo = Arc::new(Always(era));
    }
    options.ping = options.ping.min(plan.patience);
    // A server that ends while it is asked is not started again.
    options.restart.attempts = 0;
    Upstream::connect(target.clone(), options).await.map_err(|error| error.advice())
}

/// Says the same era of every server.
struct Always(Era);

impl Memo for Always {
    fn recall(&self, _: &str) -> Option<Era> {
        Some(self.0)
    }

    fn remember(&self, _: &str, _: Era) {}
}

/// The same address with another hash, where it has one: `…@3f9c2a`, `….3f9c2a1b.html`, `…?v=3f9c2a1b`.
fn older(uri: &str) -> Option<String> {
    let is_hash = |word: &str| {
        word.len() >= 6
            && word.bytes().all(|byte| byte.is_ascii_hexdigit())
            && word.bytes().any(|byte| byte.is_ascii_digit())
    };
    let path = uri.strip_prefix("ui://")?;
    let ends = |at: usize| {
        path[at..].find(['.', '@', '-', '?', '=', '&', '/']).map_or(path.len(), |end| at + end)
    };
    let starts = path.match_indices(['@', '.', '-', '=']).map(|(at, _)| at + 1);
    let (start, end) =
        starts.map(|at| (at, ends(at))).rfind(|(at, end)| is_hash(&path[*at..*end]))?;
    let other: String =
        path[start..end].chars().map(|c| if c == '0' { '1' } else { '0' }).collect();
    Some(format!("ui://{}{other}{}", &path[..start], &path[end..]))
}

/// The most documents that are read.
const MAX_VIEWS: usize = 100;

/// Only the server knows which parameters there are.
fn parameters_unknown(template: &Value) -> Unchecked {
    let template = Quoted::new(template["uriTemplate"].as_str().unwrap_or_default());
    let why = format!("the address {template} has parameters, so no view was read there");
    Unchecked { rules: vec!["server-03"], why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn server_22_a_hash_in_an_address_is_known_by_its_place() {
        #[rustfmt::skip]
        let table = [
            ("ui://a/board@3f9c2a",         Some("ui://a/board@000000")),
            ("ui://a/board@00ff00",         Some("ui://a/board@110011")),
            ("ui://a/app.3f9c2a1b.html",    Some("ui://a/app.00000000.html")),
            ("ui://a/app-3f9c2a1b.html",    Some("ui://a/app-00000000.html")),
            ("ui://a/app.html?v=3f9c2a1b",  Some("ui://a/app.html?v=00000000")),
            ("ui://a/app.html",             None),
            ("ui://decade/facade",          None),
            ("ui://a/my-facade.html",       None),
            ("ui://a/report/3f9c2a1b",      None),
        ];
        for (uri, expected) in table {
            assert_eq!(older(uri).as_deref(), expected, "{uri}");
        }
    }
}
