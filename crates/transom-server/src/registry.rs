//! The views of a server, verified.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

use rmcp::model::{MetaObject, Resource, ResourceContents, ResourceTemplate};
use serde_json::{Map, Value, json};
use transom::csp::Declaration;
use transom::csp::Reach;
use transom::wire::{MIME, UiUri};

use crate::document::{Document, Script};
use crate::refusal::{Refusal, Rule};
use crate::source::Source;
use crate::template::{Params, Template};
use crate::view::{Audience, ViewDef};

/// The views of a server: what is listed, what is read, and which tools they belong to.
///
/// Made by [`Views::build`](crate::Views::build). What is in here was verified.
#[derive(Clone, Debug)]
pub struct Registry {
    views: Vec<Arc<Entry>>,
    fixed: HashMap<String, usize>,
    tools: HashMap<String, MetaObject>,
}

/// One view.
#[derive(Debug)]
pub(crate) struct Entry {
    pub(crate) def: ViewDef,
    pub(crate) template: Option<Template>,
    pub(crate) declared: Declaration,
    pub(crate) document: Document,
    meta: Option<MetaObject>,
}

impl Registry {
    /// Verifies declarations. Everything that is wrong is told at once.
    pub(crate) fn new(defs: Vec<ViewDef>, dev: bool, script: Script) -> Result<Self, Vec<Refusal>> {
        let mut refusals = Vec::new();
        let mut registry = Self { views: Vec::new(), fixed: HashMap::new(), tools: HashMap::new() };
        let mut seen = HashSet::new();
        for def in defs {
            if !seen.insert(def.uri.clone()) {
                refusals.push(Refusal::view(
                    &def.uri,
                    Rule::Server04,
                    "is declared twice: register it once, or give the second an address of its own",
                ));
                continue;
            }
            match Entry::new(def, dev, script) {
                Ok(entry) => registry.add(entry, &mut refusals),
                Err(mut found) => refusals.append(&mut found),
            }
        }
        if refusals.is_empty() { Ok(registry) } else { Err(refusals) }
    }

    /// Returns how many views there are.
    pub fn len(&self) -> usize {
        self.views.len()
    }

    /// Tells whether there are none.
    pub fn is_empty(&self) -> bool {
        self.views.is_empty()
    }

    /// Lists the addresses, templates included.
    pub fn uris(&self) -> impl Iterator<Item = &str> {
        self.views.iter().map(|view| &*view.def.uri)
    }

    /// Whether an address is that of a view, exactly.
    pub(crate) fn has(&self, uri: &str) -> bool {
        self.fixed.contains_key(uri)
    }

    /// The view at an address, and the parameters in it.
    pub(crate) fn find(&self, uri: &str) -> Option<(&Arc<Entry>, Params)> {
        if let Some(at) = self.fixed.get(uri) {
            return Some((&self.views[*at], Vec::new()));
        }
        self.views.iter().find_map(|view| Some((view, view.template.as_ref()?.params(uri)?)))
    }

    /// What a tool's `_meta` says if a declaration names the tool.
    pub(crate) fn link(&self, tool: &str) -> Option<&MetaObject> {
        self.tools.get(tool)
    }

    pub(crate) fn linked(&self) -> impl Iterator<Item = &str> {
        self.tools.keys().map(String::as_str)
    }

    pub(crate) fn resources(&self) -> impl Iterator<Item = Resource> {
        self.views.iter().filter(|view| view.template.is_none()).map(|view| view.resource())
    }

    pub(crate) fn templates(&self) -> impl Iterator<Item = ResourceTemplate> {
        self.views
            .iter()
            .filter(|view| view.template.is_some())
            .map(|view| view.resource_template())
    }

    fn add(&mut self, entry: Entry, refusals: &mut Vec<Refusal>) {
        for (tool, audience) in &entry.def.tools {
            if entry.template.is_some() {
                refusals.push(Refusal::tool(tool, Rule::Server03, TEMPLATE_LINK));
            }
            let meta = entry.def.tool_meta(*audience);
            if self.tools.insert(tool.to_string(), meta).is_some() {
                refusals.push(Refusal::tool(
                    tool,
                    Rule::Server03,
                    "is linked twice: a tool has one view; remove one of the two `.tool(…)`",
                ));
            }
        }
        if entry.template.is_none() {
            self.fixed.insert(entry.def.uri.to_string(), self.views.len());
        }
        self.views.push(Arc::new(entry));
    }
}

impl Entry {
    fn new(def: ViewDef, dev: bool, script: Script) -> Result<Self, Vec<Refusal>> {
        let mut refusals = Vec::new();
        let mut refuse = |rule, words: Cow<'static, str>| {
            refusals.push(Refusal::view(&def.uri, rule, words));
        };
        if UiUri::parse(&def.uri).is_none() {
            let words = "is not a UI address: begin it with ui://, as in ui://weather/card";
            refuse(Rule::Server04, words.into());
        }
        let template = match Template::is_one(&def.uri).then(|| Template::parse(&def.uri)) {
            Some(Err(words)) => {
                refuse(Rule::Server04, words.into());
                None
            }
            Some(Ok(template)) => Some(template),
            None => None,
        };
        let declared = declared(&def, &mut refuse);
        if let Some(domain) = &def.meta.domain
            && !is_domain(domain)
        {
            let words = format!(
                "asks for the domain {domain:?}, which is not a host name: write it as the host's \
                 documentation says, or leave `domain` out"
            );
            refuse(Rule::Server12, words.into());
        }
        if matches!(def.source, Source::Missing) {
            let words = "has no HTML: say `file`, `dir`, `html` or `render` where it comes from";
            refuse(Rule::Server06, words.into());
        }
        let document = Document::new(&def.source, &declared, dev, script);
        let document = match document {
            Ok(document) => document,
            Err(all) => {
                for words in all {
                    refuse(Rule::Document02, words.into());
                }
                return Err(refusals);
            }
        };
        if !refusals.is_empty() {
            return Err(refusals);
        }
        let meta = meta(&def);
        Ok(Self { def, template, declared, document, meta })
    }

    /// The item of `resources/read`. The same metadata as in the list (server-09, S-10).
    pub(crate) fn contents(&self, uri: String, html: String) -> ResourceContents {
        let mut contents = ResourceContents::text(html, uri).with_mime_type(MIME);
        if let Some(meta) = &self.meta {
            contents = contents.with_meta(meta.clone());
        }
        contents
    }

    fn resource(&self) -> Resource {
        let mut resource =
            Resource::new(self.def.uri.clone(), self.def.list_name()).with_mime_type(MIME);
        resource.title.clone_from(&self.def.title);
        resource.description.clone_from(&self.def.description);
        resource.meta.clone_from(&self.meta);
        resource
    }

    fn resource_template(&self) -> ResourceTemplate {
        let mut template =
            ResourceTemplate::new(self.def.uri.clone(), self.def.list_name()).with_mime_type(MIME);
        template.title.clone_from(&self.def.title);
        template.description.clone_from(&self.def.description);
        template.meta.clone_from(&self.meta);
        template
    }
}

/// Reads the origins; server-11.
fn declared(def: &ViewDef, refuse: &mut impl FnMut(Rule, Cow<'static, str>)) -> Declaration {
    let Some(csp) = &def.meta.csp else { return Declaration::default() };
    let (declared, refused) = Declaration::read(csp);
    for entry in refused {
        let words = format!("{entry}: write an origin, as in https://api.example.com");
        refuse(Rule::Server11, words.into());
    }
    for list in transom::csp::List::ALL {
        for source in declared.list(list) {
            if matches!(source.scheme(), "http" | "ws") && source.reach() != Reach::Machine {
                let words = format!(
                    "{} names {source}, without encryption: write {}://…, or use a loopback address",
                    list.name(),
                    if source.scheme() == "ws" { "wss" } else { "https" },
                );
                refuse(Rule::Server11, words.into());
            }
        }
    }
    declared
}

fn is_domain(domain: &str) -> bool {
    !domain.is_empty()
        && domain.len() <= 253
        && domain.bytes().all(|b| b.is_ascii_alphanumeric() || b"-._".contains(&b))
}

fn meta(def: &ViewDef) -> Option<MetaObject> {
    let ui = serde_json::to_value(&def.meta).expect("metadata is strings and flags");
    let Value::Object(ui) = ui else { return None };
    (!ui.is_empty()).then(|| MetaObject(Map::from_iter([("ui".to_owned(), json!(ui))])))
}

impl Audience {
    /// Whether only a view may call the tool.
    pub(crate) fn is_app_only(meta: &MetaObject) -> bool {
        let visibility = meta.0.get("ui").and_then(|ui| ui.get("visibility")?.as_array());
        visibility.is_some_and(|list| !list.iter().any(|who| who == "model"))
    }
}

pub(crate) const TEMPLATE_LINK: &str = "is linked to a view whose address has parameters, which no host \
    can fill in: link it to a view with a fixed address";
