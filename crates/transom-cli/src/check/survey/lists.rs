//! A server's lists, page by page.

use std::{collections::HashSet, time::Duration};

use serde::Deserialize;
use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use tokio::time::timeout;
use transom::rpc::METHOD_NOT_FOUND;
use transom_host::upstream::{CallError, CallOptions, Refusal, Request, Upstream};

/// A list, as far as it could be had.
#[derive(Clone, Debug, Default)]
pub(in crate::check) struct Listed {
    /// What is an object of it.
    pub(in crate::check) items: Vec<Value>,
    /// How many entries were none.
    pub(in crate::check) dropped: usize,
    /// Who may share it, as its first page says.
    pub(in crate::check) cache: Option<String>,
    /// Why it is not complete.
    pub(in crate::check) cut: Option<String>,
}

impl Listed {
    /// The names of its tools.
    pub(in crate::check) fn names(&self) -> impl Iterator<Item = &str> {
        self.items.iter().filter_map(|tool| tool["name"].as_str())
    }
}

/// Lists the tools, as a client that shows views or as one that does not.
pub(super) async fn tools(upstream: &Upstream, views: bool) -> Result<Listed, String> {
    let missing = !upstream.server().capabilities.contains_key("tools");
    match list(upstream, "tools/list", views).await {
        Err(CallError::Refused(Refusal { code: METHOD_NOT_FOUND, .. })) if missing => {
            Ok(Listed::default())
        }
        listed => listed.map_err(|error| format!("tools/list: {}", error.story())),
    }
}

/// Lists the resources.
pub(super) async fn resources(upstream: &Upstream) -> Result<Listed, String> {
    let listed = list(upstream, "resources/list", true).await;
    listed.map_err(|error| format!("resources/list: {}", error.story()))
}

/// Lists the addresses of views with parameters. A server that does not answer in a moment has none.
pub(super) async fn templates(upstream: &Upstream) -> Vec<Value> {
    let listed = timeout(MOMENT, list(upstream, "resources/templates/list", true)).await;
    let Ok(Ok(listed)) = listed else { return vec![] };
    let is_view =
        |item: &Value| item["uriTemplate"].as_str().is_some_and(|uri| uri.starts_with("ui://"));
    listed.items.into_iter().filter(is_view).collect()
}

/// A first page that cannot be had is an error; a later one cuts the list.
async fn list(upstream: &Upstream, method: &str, views: bool) -> Result<Listed, CallError> {
    let mut listed = Listed::default();
    let mut seen = HashSet::new();
    let mut cursor: Option<String> = None;
    let mut bytes = 0;
    for number in 0..MAX_PAGES {
        let answer = page(upstream, method, cursor.as_deref(), views).await;
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) if number == 0 => return Err(error),
            Err(error) => {
                return Ok(listed.cut(format!("a page could not be had: {}", error.story())));
            }
        };
        bytes += answer.get().len();
        let page: Portion = match serde_json::from_str(answer.get()) {
            Ok(page) => page,
            Err(_) => return Ok(listed.cut(format!("the answer to {method} is not a list"))),
        };
        if number == 0 {
            listed.cache = page.cache_scope;
        }
        let Some(items) = page.tools.or(page.resources).or(page.resource_templates) else {
            return Ok(listed.cut(format!("the answer to {method} has no list")));
        };
        for item in items {
            if item.is_object() { listed.items.push(item) } else { listed.dropped += 1 }
        }
        if listed.items.len() > MAX_ITEMS || bytes > MAX_BYTES {
            listed.items.truncate(MAX_ITEMS);
            return Ok(
                listed.cut(format!("it has more than {MAX_ITEMS} entries or {MAX_BYTES} bytes"))
            );
        }
        cursor = page.next_cursor.filter(|cursor| !cursor.is_empty());
        match &cursor {
            None => return Ok(listed),
            Some(cursor) if !seen.insert(cursor.clone()) => {
                return Ok(listed.cut("the pages of its list repeat".to_owned()));
            }
            Some(_) => {}
        }
    }
    Ok(listed.cut(format!("it has more than {MAX_PAGES} pages")))
}

impl Listed {
    fn cut(mut self, why: String) -> Self {
        self.cut = Some(why);
        self
    }
}

async fn page(
    upstream: &Upstream,
    method: &str,
    cursor: Option<&str>,
    views: bool,
) -> Result<Box<RawValue>, CallError> {
    let request = match cursor {
        Some(cursor) => {
            let params = to_raw_value(&json!({ "cursor": cursor })).expect("a string is JSON");
            Request::with_params(method, &params).expect("an object with one member")
        }
        None => Request::new(method),
    };
    let request = if views { request } else { request.without_views() };
    upstream.call(&request, CallOptions::default())?.outcome().await
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Portion {
    tools: Option<Vec<Value>>,
    resources: Option<Vec<Value>>,
    resource_templates: Option<Vec<Value>>,
    next_cursor: Option<String>,
    cache_scope: Option<String>,
}

const MOMENT: Duration = Duration::from_secs(5);
const MAX_PAGES: usize = 100;
const MAX_ITEMS: usize = 10_000;
const MAX_BYTES: usize = 32 << 20;
