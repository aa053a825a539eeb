//! A server's tools, as it lists them.

use std::{
    collections::{BTreeMap, HashSet},
    sync::Arc,
    time::Duration,
};

use reqwest::header::HeaderName;
use serde::Deserialize;
use serde_json::{Map, Value, value::RawValue};
use tokio::time::Instant;
use transom::{
    calls::Patience,
    host::Tools,
    printed::has_reserved_name,
    rpc::METHOD_NOT_FOUND,
    wire::{Compat, Finding, ToolMeta, method},
};

use crate::digest::ContentHash;

use super::{
    CallError, CallOptions, Era, Refusal, Request, UpstreamLimits,
    header::Mirrored,
    life::{Life, Link},
    request::text,
};

/// A server's tools, all of them as the server wrote them. Replaced whole when they change.
#[derive(Debug, Default)]
pub struct Listing {
    tools: Arc<Tools>,
    by_name: BTreeMap<String, ListedTool>,
    findings: Vec<Finding>,
    dropped: usize,
    cut: Option<Cut>,
    failure: Option<String>,
}

/// One tool.
#[derive(Debug)]
pub struct ListedTool {
    /// As the server wrote it.
    pub raw: Box<RawValue>,
    /// Which view shows its results, and who may call it.
    pub meta: ToolMeta,
    mirrored: Vec<Mirrored>,
}

/// Why a list is not complete.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Cut {
    /// More pages than we turn.
    #[error("more than {0} pages")]
    Pages(usize),
    /// More tools than we take.
    #[error("more than {0} tools")]
    Tools(usize),
    /// More bytes than we keep.
    #[error("more than {0} bytes")]
    Bytes(usize),
    /// More time than we give.
    #[error("not all of it within {} s", .0.as_secs())]
    Time(Duration),
    /// The same page again.
    #[error("the pages of its list repeat")]
    Circle,
    /// A page that could not be had or read.
    #[error("a page could not be read")]
    Page,
}

impl Listing {
    /// The tools as a session wants them.
    pub fn tools(&self) -> &Arc<Tools> {
        &self.tools
    }

    /// One tool.
    pub fn get(&self, name: &str) -> Option<&ListedTool> {
        self.by_name.get(name)
    }

    /// All tools, by name.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ListedTool)> {
        self.by_name.iter().map(|(name, tool)| (&**name, tool))
    }

    /// What was odd in what the tools say of themselves.
    pub fn findings(&self) -> &[Finding] {
        &self.findings
    }

    /// How many entries were no tools and left out.
    pub fn dropped(&self) -> usize {
        self.dropped
    }

    /// Why there may be more tools than these.
    pub fn cut(&self) -> Option<Cut> {
        self.cut
    }

    /// Why there is no list, in words: the server was asked for it and did not give it.
    pub fn failure(&self) -> Option<&str> {
        self.failure.as_deref()
    }

    /// The list of a server that does not give one.
    pub(super) fn failed(error: &CallError) -> Self {
        Self { failure: Some(error.story()), ..Self::default() }
    }

    /// The headers that a call wants beside those of every request.
    pub(super) fn headers(&self, request: &Request) -> Vec<(HeaderName, String)> {
        let tool = request.name().filter(|_| request.method() == method::TOOLS_CALL);
        let mirrored = tool.and_then(|name| self.get(name)).map(|tool| &*tool.mirrored);
        let Some(mirrored @ [_, ..]) = mirrored else { return vec![] };
        let Some(arguments) = request.arguments() else { return vec![] };
        mirrored.iter().filter_map(|mark| mark.of(&arguments)).collect()
    }

    fn read(pages: &[Portion], marks: Marks, cut: Option<Cut>) -> Self {
        let entries = || pages.iter().flat_map(|page| page.tools.iter().map(|raw| &**raw));
        let mut findings = vec![];
        let mut by_name = BTreeMap::new();
        let mut good = vec![];
        for raw in entries() {
            let Some((name, tool)) = ListedTool::read(raw, marks) else { continue };
            good.push(raw);
            // A finding says so.
            if name.len() > Tools::LONGEST_NAME {
                continue;
            }
            // The first of two tools with one name, as `Tools` has it.
            by_name.entry(name).or_insert(tool);
        }
        let dropped = entries().count() - good.len();
        let digest = |text: &str| ContentHash::of(text.as_bytes()).to_string();
        let tools = Arc::new(Tools::read_with(digest, good, &mut findings));
        findings.truncate(MAX_FINDINGS);
        Self { tools, by_name, findings, dropped, cut, failure: None }
    }
}

impl ListedTool {
    fn read(raw: &RawValue, marks: Marks) -> Option<(String, Self)> {
        // What we read of it must be what whoever is sent it reads.
        if has_reserved_name(raw.get()) {
            return None;
        }
        let tool: Map<String, Value> = serde_json::from_str(raw.get()).ok()?;
        let name = tool.get("name")?.as_str()?.to_owned();
        let empty = Map::new();
        let meta = tool.get("_meta").and_then(Value::as_object).unwrap_or(&empty);
        // Noted where the session's tools are read from the same text.
        let meta = ToolMeta::read(meta, Compat::default(), &mut vec![]);
        let schema = tool.get("inputSchema").filter(|_| marks == Marks::Followed);
        let mirrored = schema.map_or(Ok(vec![]), Mirrored::in_schema).ok()?;
        Some((name, Self { raw: raw.to_owned(), meta, mirrored }))
    }
}

/// Whether arguments that tools mark are repeated in headers. Where they are not, marks mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Marks {
    Followed,
    Ignored,
}

impl Marks {
    fn on(life: &Life) -> Self {
        let stateless = life.terms().is_some_and(|terms| terms.era == Era::Stateless);
        match life.link() {
            Link::Http(_) if stateless => Self::Followed,
            Link::Http(_) | Link::Pipe(_) => Self::Ignored,
        }
    }
}

/// One page of a `tools/list`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
struct Portion {
    #[serde(default)]
    tools: Vec<Box<RawValue>>,
    next_cursor: Option<String>,
}

/// Asks a server for its tools, page by page.
///
/// A first page that cannot be had is an error. A later one is not: some tools are better than none. All pages together
/// have one time limit: a server can number them without end.
pub(super) async fn fetch(life: &Arc<Life>) -> Result<Listing, CallError> {
    let (limits, most) = (*life.limits(), life.options().listing);
    let begun = Instant::now();
    let mut pages = vec![];
    let mut seen = HashSet::new();
    let mut cursor = None;
    let cut = loop {
        let left = most.saturating_sub(begun.elapsed());
        let page = match page(life, cursor.as_deref(), left).await {
            Ok(page) => page,
            Err(error) if pages.is_empty() => return nothing(error),
            Err(CallError::Timeout) => break Some(Cut::Time(most)),
            Err(error) => {
                tracing::warn!(error = %error.story(), "a page of the tools could not be had");
                break Some(Cut::Page);
            }
        };
        cursor = page.next_cursor.clone().filter(|cursor| !cursor.is_empty());
        pages.push(page);
        if let Some(cut) = enough(&mut pages, &limits) {
            break Some(cut);
        }
        let Some(cursor) = &cursor else { break None };
        if !seen.insert(cursor.clone()) {
            break Some(Cut::Circle);
        }
        if pages.len() == limits.pages {
            break Some(Cut::Pages(limits.pages));
        }
    };
    let listing = Listing::read(&pages, Marks::on(life), cut);
    let (tools, dropped) = (listing.by_name.len(), listing.dropped);
    tracing::debug!(tools, dropped, ?cut, "tools listed");
    Ok(listing)
}

async fn page(
    life: &Arc<Life>,
    cursor: Option<&str>,
    left: Duration,
) -> Result<Portion, CallError> {
    let mut request = Request::new(method::TOOLS_LIST);
    if let Some(cursor) = cursor {
        request.push("cursor", &text(cursor));
    }
    let options = CallOptions { progress: false, patience: Some(Patience::flat(left)) };
    let result = life.call(&request, options)?.outcome().await?;
    // `tools` may be missing or not a list; the rest of the page is worth as little then.
    Ok(serde_json::from_str(result.get()).unwrap_or(Portion { tools: vec![], next_cursor: None }))
}

/// A server without tools may say that it does not know the question.
fn nothing(error: CallError) -> Result<Listing, CallError> {
    match error {
        CallError::Refused(Refusal { code: METHOD_NOT_FOUND, .. }) => Ok(Listing::default()),
        error => Err(error),
    }
}

fn enough(pages: &mut [Portion], limits: &UpstreamLimits) -> Option<Cut> {
    let (last, before) = pages.split_last_mut()?;
    let room = limits.tools.saturating_sub(before.iter().map(|page| page.tools.len()).sum());
    let mut bytes: usize =
        before.iter().flat_map(|page| &page.tools).map(|tool| tool.get().len()).sum();
    let mut fits = |tool: &RawValue| {
        bytes += tool.get().len();
        bytes <= limits.listed
    };
    let whole = last.tools.iter().take(room).take_while(|tool| fits(tool)).count();
    let cut = if whole == room { Cut::Tools(limits.tools) } else { Cut::Bytes(limits.listed) };
    (whole < last.tools.len()).then(|| {
        last.tools.truncate(whole);
        cut
    })
}

/// How many oddities are worth telling about.
const MAX_FINDINGS: usize = 100;

#[cfg(test)]
mod tests {
    use super::*;

    fn listing(tools: &str) -> Listing {
        let page = serde_json::from_str(&format!(r#"{{"tools":{tools}}}"#)).unwrap();
        Listing::read(&[page], Marks::Followed, None)
    }

    #[test]
    fn one_odd_tool_is_dropped_not_the_list() {
        let listing = listing(
            r#"[{"name":"a","odd" : 1}, 7, null, {"title":"nameless"}, {"name":"b","inputSchema":[],"annotations":"?"}]"#,
        );
        assert_eq!(listing.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["a", "b"]);
        assert_eq!(listing.dropped(), 3);
        assert_eq!(listing.get("a").unwrap().raw.get(), r#"{"name":"a","odd" : 1}"#);
        assert_eq!(listing.tools().iter().count(), 2);
    }

    #[test]
    fn a_tool_that_would_be_read_otherwise_than_it_is_written_is_dropped() {
        let listing = listing(
            r#"[{"name":"a","annotations":{"$serde_json::private::RawValue":"{\"readOnlyHint\":true}"}},
                {"name":"b","annotations":{"\u0024serde_json::private::RawValue":"{"}}, {"name":"c"}]"#,
        );
        assert_eq!(listing.iter().map(|(name, _)| name).collect::<Vec<_>>(), ["c"]);
        assert_eq!((listing.dropped(), listing.tools().iter().count()), (2, 1));
    }

    #[test]
    fn h_07_tools_are_linked_to_views_nested_and_flat() {
        #[rustfmt::skip]
        let table = [
            (r#"{"ui":{"resourceUri":"ui://a/1"}}"#, Some("ui://a/1")),
            (r#"{"ui/resourceUri":"ui://a/2"}"#, Some("ui://a/2")),
            (r#"{"ui":{"resourceUri":"ui://a/1"},"ui/resourceUri":"ui://a/2"}"#, Some("ui://a/1")),
            // H-08: anything else is no view.
            (r#"{"ui":{"resourceUri":"https://a.test/"}}"#, None),
            ("{}", None),
        ];
        for (meta, link) in table {
            let listing = listing(&format!(r#"[{{"name":"t","_meta":{meta}}}]"#));
            let tool = listing.get("t").unwrap();
            assert_eq!(tool.meta.resource_uri.as_ref().map(|uri| uri.as_str()), link, "{meta}");
        }
    }
}
