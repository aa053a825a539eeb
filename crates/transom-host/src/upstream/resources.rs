//! What a server's list of resources says about its documents.

use std::{
    collections::{BTreeMap, HashSet},
    time::Duration,
};

use serde::Deserialize;
use serde_json::{Value, value::RawValue};
use transom::{host::List, printed::has_reserved_name, wire::UiUri};

use super::{CallOptions, Request, Upstream, request::text};

/// The entries of a server's list of resources that are documents, by address.
#[derive(Clone, Debug, Default)]
pub struct ResourceEntries {
    by_uri: BTreeMap<String, Value>,
    bytes: usize,
}

impl ResourceEntries {
    /// The entry of a document, if it is in the list.
    pub fn get(&self, uri: &UiUri) -> Option<&Value> {
        self.by_uri.get(uri.as_str())
    }

    /// Keeps what is worth keeping of a page. The first of two entries with one address counts.
    fn take(&mut self, page: &[Box<RawValue>]) {
        for raw in page {
            let size = raw.get().len();
            let Ok(About { uri }) = serde_json::from_str(raw.get()) else { continue };
            if self.bytes + size > MAX_BYTES || self.by_uri.contains_key(uri.as_str()) {
                continue;
            }
            // What we read of it must be what it says to every client.
            if has_reserved_name(raw.get()) {
                continue;
            }
            if let Ok(entry) = serde_json::from_str(raw.get()) {
                self.bytes += size;
                self.by_uri.insert(uri.as_str().to_owned(), entry);
            }
        }
    }
}

impl Upstream {
    /// Asks for the list of resources, page by page, and keeps what it says about documents (H-09).
    ///
    /// A page that cannot be had ends it: a document that says everything itself needs no list.
    pub async fn resource_entries(&self) -> ResourceEntries {
        let mut entries = ResourceEntries::default();
        if !self.server().has(List::Resources) {
            return entries;
        }
        self.pages("resources/list", |page: Portion| {
            entries.take(&page.resources);
            page.next_cursor
        })
        .await;
        entries
    }

    /// Asks for the templates of addresses, page by page. A server that does not answer in a moment has none: its documents
    /// are taken for what they say they are, and asked about whenever they change.
    pub async fn resource_templates(&self) -> Vec<String> {
        let mut templates = vec![];
        if !self.server().has(List::Resources) {
            return templates;
        }
        let asked = self.pages("resources/templates/list", |page: Templates| {
            let room = MAX_TEMPLATES.saturating_sub(templates.len());
            let page_of = page.resource_templates.iter().filter_map(|raw| Template::read(raw));
            templates.extend(page_of.take(room));
            page.next_cursor
        });
        let _ = tokio::time::timeout(MOMENT, asked).await;
        templates
    }

    /// Turns the pages of a list until there is none, or one that cannot be had.
    async fn pages<P: serde::de::DeserializeOwned>(
        &self,
        method: &'static str,
        mut take: impl FnMut(P) -> Option<String>,
    ) {
        let mut cursor: Option<String> = None;
        let mut seen = HashSet::new();
        for _ in 0..MAX_PAGES {
            let mut request = Request::new(method);
            if let Some(cursor) = &cursor {
                request.push("cursor", &text(cursor));
            }
            let page = match self.call(&request, CallOptions::default()) {
                Ok(call) => call.outcome().await,
                Err(error) => Err(error.into()),
            };
            let page = match page.map(|page| serde_json::from_str::<P>(page.get())) {
                Ok(Ok(page)) => page,
                Ok(Err(error)) => {
                    tracing::warn!(method, %error, "a page could not be read");
                    break;
                }
                Err(error) => {
                    tracing::warn!(method, error = %error.story(), "it could not be listed");
                    break;
                }
            };
            cursor = take(page).filter(|cursor| !cursor.is_empty());
            match &cursor {
                Some(cursor) if seen.insert(cursor.clone()) => {}
                _ => break,
            }
        }
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Templates {
    #[serde(default)]
    resource_templates: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Template {
    uri_template: String,
}

impl Template {
    fn read(raw: &RawValue) -> Option<String> {
        let Self { uri_template } = serde_json::from_str(raw.get()).ok()?;
        (uri_template.len() <= LONGEST).then_some(uri_template)
    }
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Portion {
    #[serde(default)]
    resources: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

#[derive(Deserialize)]
struct About {
    uri: UiUri,
}

/// How many pages are turned, and how many bytes of entries are kept.
const MAX_PAGES: usize = 100;
const MAX_BYTES: usize = 4 << 20;
/// How many templates are kept, and how long one may be.
const MAX_TEMPLATES: usize = 1_000;
const LONGEST: usize = 2_000;
/// How long they may take.
const MOMENT: Duration = Duration::from_secs(5);
