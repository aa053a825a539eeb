//! Views that are in the result of a tool, as mcp-ui had it before MCP Apps: an embedded resource with an address of `ui://`.
//!
//! What such a resource declares of domains and permissions does not count: no list of resources names it, and it may be
//! another one with each call. A list of addresses (`text/uri-list`) is not loaded into a frame, as mcp-ui's hosts did: a page of
//! ours lists them, and a person is asked before one is opened, as for every link of a view.

use serde::Deserialize;
use serde_json::value::RawValue;
use transom::{
    quoted::Quoted,
    wire::{MIME, Members, ResourceMeta, UiUri, is_app_mime},
};
use url::Url;

use super::{
    Document, DocumentLimits, NotADocument, Part,
    read::{Body, Head, Items, check, html, parse, present},
};

/// What the result of a tool has to show.
pub(crate) struct Embedded {
    pub(crate) document: Document,
    /// What came along for the view to show, a JSON object.
    pub(crate) render_data: Option<Box<RawValue>>,
    /// How many more there are, which are not shown.
    pub(crate) more: usize,
    /// Whether the document is ours, and has addresses to open.
    pub(crate) links: bool,
}

/// Why nothing of a result is shown in a frame.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Unshown {
    #[error("this tool has no view")]
    None,
    #[error("the view in its result cannot be shown: {0}")]
    Document(#[from] NotADocument),
    #[error(
        "the view in its result has the type {0}, which Transom does not show; that of MCP Apps is \"{MIME}\""
    )]
    Mime(Quoted),
    #[error(
        "its result is a list of {0} addresses, and none of them can be opened: only http and https can"
    )]
    NoAddress(usize),
}

impl Embedded {
    /// Takes the first view out of a tool's result. The work grows with the size of the result.
    pub(crate) fn find(
        server: &str,
        result: &RawValue,
        limits: &DocumentLimits,
    ) -> Result<Self, Unshown> {
        let blocks: Blocks<'_> = serde_json::from_str(result.get()).map_err(|_| Unshown::None)?;
        let views: Vec<EmbeddedView<'_>> =
            blocks.content.0.iter().filter_map(|raw| EmbeddedView::of(raw)).collect();
        let first = views.first().ok_or(Unshown::None)?;
        let shown = views.iter().find(|view| view.kind(limits).is_some()).unwrap_or(first);
        let Some(kind) = shown.kind(limits) else {
            return Err(Unshown::Mime(Quoted::new(&shown.mime)));
        };
        let body: Body<'_> = parse(shown.raw)?;
        let text = html(&body, limits.html)?;
        if text.trim_ascii().is_empty() {
            return Err(NotADocument::Blank.into());
        }
        // What mcp-ui 6 makes of an address is an app by its type, and nothing but the address.
        let links = kind == Kind::Addresses || is_address(text.trim());
        let html = if links { list(&text)? } else { text };
        let document = Document::of(server, &shown.uri, html, ResourceMeta::default(), vec![]);
        let render_data = render_data(&body, limits.meta)?;
        Ok(Self { document, render_data, more: views.len() - 1, links })
    }
}

/// An embedded resource that says it is a view.
struct EmbeddedView<'a> {
    uri: UiUri,
    mime: String,
    raw: &'a RawValue,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Html,
    Addresses,
}

impl<'a> EmbeddedView<'a> {
    fn of(block: &'a RawValue) -> Option<Self> {
        let block: Block<'a> = serde_json::from_str(block.get()).ok()?;
        let raw = block.resource.filter(|_| block.kind.as_deref() == Some("resource"))?;
        let head: Head = parse(raw).ok()?;
        let uri = UiUri::parse(&head.uri?)?;
        Some(Self { uri, mime: head.mime_type.unwrap_or_default(), raw })
    }

    fn kind(&self, limits: &DocumentLimits) -> Option<Kind> {
        let essence = self.mime.split(';').next().unwrap_or_default().trim();
        match essence.to_ascii_lowercase().as_str() {
            "text/uri-list" => Some(Kind::Addresses),
            "text/html" => Some(Kind::Html),
            _ => is_app_mime(&self.mime, limits.compat).then_some(Kind::Html),
        }
    }
}

/// What a resource of mcp-ui brings along for its view.
fn render_data(body: &Body<'_>, limit: usize) -> Result<Option<Box<RawValue>>, NotADocument> {
    let Some(meta) = present(body.underscored) else { return Ok(None) };
    check(Part::Metadata, meta.get().len(), limit)?;
    let Ok(mut members) = serde_json::from_str::<Members<'_>>(meta.get()) else { return Ok(None) };
    let data = members.take(RENDER_DATA).filter(|data| data.get().starts_with('{'));
    Ok(data.map(RawValue::to_owned))
}

/// A page with the addresses of a list, each with a button that asks for it as a view asks for a link.
fn list(text: &str) -> Result<String, Unshown> {
    let lines =
        text.lines().map(str::trim).filter(|line| !line.is_empty() && !line.starts_with('#'));
    let (mut items, mut shown, mut all) = (String::new(), 0, 0);
    for line in lines {
        all += 1;
        let url = Url::parse(line).ok().filter(|url| matches!(url.scheme(), "http" | "https"));
        let Some(url) = url.filter(|_| shown < ADDRESSES && line.len() <= UiUri::LONGEST) else {
            continue;
        };
        shown += 1;
        let (address, words) = (escaped(url.as_str()), Quoted::long(url.as_str(), SHOWN));
        let words = escaped(&words.to_string());
        items.push_str(&format!(
            "<li><button value=\"{address}\">Open</button> <code>{words}</code></li>\n"
        ));
    }
    if shown == 0 {
        return Err(Unshown::NoAddress(all));
    }
    let rest = match all - shown {
        0 => String::new(),
        rest => format!(
            "<p>{rest} more in the list are not shown: only the first {ADDRESSES} of http and https are.</p>"
        ),
    };
    Ok(PAGE.replace("<!--items-->", &items).replace("<!--rest-->", &rest))
}

fn is_address(text: &str) -> bool {
    let plain = text.len() <= UiUri::LONGEST && !text.contains(['<', '\n', ' ']);
    plain && Url::parse(text).is_ok_and(|url| matches!(url.scheme(), "http" | "https"))
}

fn escaped(text: &str) -> String {
    let mut html = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => html.push_str("&amp;"),
            '<' => html.push_str("&lt;"),
            '>' => html.push_str("&gt;"),
            '"' => html.push_str("&quot;"),
            '\'' => html.push_str("&#39;"),
            c => html.push(c),
        }
    }
    html
}

#[derive(Deserialize)]
struct Blocks<'a> {
    #[serde(borrow)]
    content: Items<'a>,
}

#[derive(Deserialize)]
struct Block<'a> {
    #[serde(default, rename = "type")]
    kind: Option<String>,
    #[serde(borrow, default)]
    resource: Option<&'a RawValue>,
}

/// What people agree to of views in results: whatever comes from the tool, under a policy without any domain.
pub(crate) const IN_RESULTS: &str = "ui:// in this tool's results";
const RENDER_DATA: &str = "mcpui.dev/ui-initial-render-data";
/// The most addresses of a list that are shown.
const ADDRESSES: usize = 10;
/// How much of an address is shown, in characters.
const SHOWN: usize = 300;
const PAGE: &str = include_str!("links.html");

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn find(resources: Vec<Value>) -> Result<Embedded, Unshown> {
        let mut content = vec![json!({ "type": "text", "text": "beside it" })];
        content
            .extend(resources.into_iter().map(|it| json!({ "type": "resource", "resource": it })));
        let result = serde_json::value::to_raw_value(&json!({ "content": content })).unwrap();
        Embedded::find("server", &result, &DocumentLimits::default())
    }

    fn refused(resource: Value) -> String {
        find(vec![resource]).err().expect("it is refused").to_string()
    }

    #[test]
    fn a_document_in_a_result_is_read_whole_and_declares_nothing() {
        let meta = json!({ "ui": { "csp": { "connectDomains": ["https://a.example"] }, "domain": "x" }, RENDER_DATA: { "a": [1] } });
        #[rustfmt::skip]
        let table = [
            json!({ "uri": "ui://a/b", "mimeType": "text/html", "text": "<p>hi", "_meta": meta }),
            json!({ "uri": "ui://a/b", "mimeType": "Text/HTML; charset=utf-8", "text": "<p>hi", "_meta": meta }),
            json!({ "uri": "ui://a/b", "mimeType": "text/html;profile=mcp-app", "text": "<p>hi", "_meta": meta }),
            json!({ "uri": "ui://a/b", "mimeType": "text/html", "blob": "PHA+aGk=", "_meta": meta }),
        ];
        for resource in table {
            let found =
                find(vec![resource.clone()]).unwrap_or_else(|why| panic!("{resource}: {why}"));
            assert_eq!(&found.document.html[..], b"<p>hi");
            assert_eq!(found.document.uri.as_str(), "ui://a/b");
            assert!(
                found.document.declaration.is_none()
                    && found.document.meta == ResourceMeta::default()
            );
            assert_eq!(found.render_data.unwrap().get(), r#"{"a":[1]}"#);
            assert!(!found.links && found.more == 0);
        }
    }

    #[test]
    fn the_first_that_can_be_shown_is_and_the_others_are_counted() {
        let dom = json!({ "uri": "ui://a/1", "mimeType": "application/vnd.mcp-ui.remote-dom+javascript; framework=react", "text": "x" });
        let page = |at: usize| json!({ "uri": format!("ui://a/{at}"), "mimeType": "text/html", "text": format!("<p>{at}") });
        let file =
            json!({ "uri": "file:///etc/motd", "mimeType": "text/html", "text": "<p>not a view" });
        let found = find(vec![file, dom, page(2), page(3)]).ok().unwrap();
        assert_eq!((found.document.uri.as_str(), found.more), ("ui://a/2", 2));
        let many = find((0..10_000).map(page).collect()).ok().unwrap();
        assert_eq!(many.document.uri.as_str(), "ui://a/0");
    }

    #[test]
    fn what_is_no_document_is_refused_in_words() {
        #[rustfmt::skip]
        let table = [
            (json!({ "uri": "ui://a", "mimeType": "text/html" }), "neither \"text\" nor \"blob\""),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "text": " \n" }), "the document is empty"),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "text": 7 }), "cannot be read"),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "blob": "%%%" }), "not base64"),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "blob": "iVBORw0KGgo=" }), "not UTF-8"),
            (json!({ "uri": "ui://a", "mimeType": "image/png", "blob": "iVBORw0KGgo=" }), "the type \"image/png\""),
            (json!({ "uri": "ui://a", "text": "<p>hi" }), "the type \"\""),
            (json!({ "uri": "ui://a", "mimeType": "application/vnd.mcp-ui.remote-dom+javascript; framework=react", "text": "x" }), "remote-dom"),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "text": "x".repeat(50 << 20) }), "52428800 bytes"),
            (json!({ "uri": "ui://a", "mimeType": "text/html", "text": "x", "_meta": { "m": "x".repeat(1 << 20) } }), "metadata"),
            (json!({ "uri": "https://a", "mimeType": "text/html", "text": "x" }), "has no view"),
            (json!({ "uri": 7, "mimeType": "text/html", "text": "x" }), "has no view"),
            (json!("x"), "has no view"),
        ];
        for (resource, words) in table {
            let said = refused(resource.clone());
            assert!(said.contains(words), "{resource:.200}: {said}");
        }
        for result in ["{}", r#"{"content":7}"#, r#"{"content":[7,null,[]]}"#] {
            let result = RawValue::from_string(result.to_owned()).unwrap();
            let found = Embedded::find("server", &result, &DocumentLimits::default());
            assert_eq!(found.err(), Some(Unshown::None));
        }
    }

    fn addresses(list: &str) -> Result<String, Unshown> {
        let found =
            find(vec![json!({ "uri": "ui://a", "mimeType": "text/uri-list", "text": list })])?;
        assert!(found.links);
        Ok(String::from_utf8(found.document.html.to_vec()).unwrap())
    }

    #[test]
    fn a_list_of_addresses_is_a_page_of_ours_with_those_that_can_be_opened() {
        let page =
            addresses("# a comment\r\n\r\n  https://a.example/x?y=1&z=\"2'  \nhttp://b.example")
                .ok()
                .unwrap();
        assert!(page.contains("value=\"https://a.example/x?y=1&amp;z=%222%27\""), "{page}");
        assert!(page.contains("value=\"http://b.example/\""), "{page}");
        assert_eq!(page.matches("<li>").count(), 2);
        assert!(!page.contains("a comment") && !page.contains("more in the list"), "{page}");
    }

    #[test]
    fn addresses_that_are_no_pages_are_not_offered_and_many_are_counted() {
        for list in [
            "javascript:alert(1)",
            "file:///etc/passwd",
            "data:text/html,<script>alert(1)</script>",
            "# https://only.a.comment/",
            "JaVaScRiPt:alert(1)\nnot an address\nblob:https://a.example/1",
            "https://",
        ] {
            assert!(matches!(addresses(list), Err(Unshown::NoAddress(_))), "{list}");
        }
        let many = "https://a.example/\njavascript:alert(1)\n".repeat(50_000);
        let page = addresses(&many).ok().unwrap();
        assert_eq!(page.matches("<li>").count(), ADDRESSES);
        assert!(page.contains("99990 more in the list are not shown"), "{page}");
        assert!(!page.contains("javascript:"));
    }

    #[test]
    fn what_mcp_ui_6_makes_of_an_address_is_one() {
        let resource =
            json!({ "uri": "ui://a", "mimeType": MIME, "text": "https://example.com/matrix" });
        assert!(find(vec![resource]).ok().unwrap().links);
        let html = json!({ "uri": "ui://a", "mimeType": MIME, "text": "see https://example.com/" });
        assert!(!find(vec![html]).ok().unwrap().links);
    }
}
