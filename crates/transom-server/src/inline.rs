//! One document out of a folder: what it refers to is written into it.
//!
//! A host shows a document and nothing beside it, so a reference that nobody answers would be a blank
//! frame later. Here it is refused, with words for the author.

mod css;

use std::cell::RefCell;
use std::collections::BTreeSet;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use lol_html::html_content::{ContentType, Element, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};
use transom::csp::{Declaration, List};
use url::Url;

use crate::source::{Files, INDEX, SourceError, join};

/// Writes a folder's files into its document.
///
/// # Errors
///
/// Everything in it that could not work, each with what to do about it.
pub(crate) fn compose(
    html: &str,
    files: Option<Files>,
    declared: &Declaration,
) -> Result<String, Vec<String>> {
    let work = RefCell::new(Work::new(files, declared));
    let mut sent = Vec::with_capacity(html.len());
    let written = {
        let settings = Settings::new()
            .append_element_content_handler(element!("*", |element| {
                work.borrow_mut().element(element)
            }))
            .append_element_content_handler(text!("style", |chunk| {
                work.borrow_mut().style(chunk)
            }))
            // A large image written into a tag is one token of the parser.
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_TOKEN))
            .with_strict(false);
        let mut rewriter =
            HtmlRewriter::new(settings, |bytes: &[u8]| sent.extend_from_slice(bytes));
        rewriter.write(html.as_bytes()).and_then(|()| rewriter.end())
    };
    let mut work = work.into_inner();
    if let Err(error) = written {
        work.refuse(format!("the document cannot be read as HTML: {error}"));
    }
    if !work.refusals.is_empty() {
        return Err(work.refusals.into_iter().collect());
    }
    let mut sent = String::from_utf8(sent).expect("only UTF-8 went in, cut between characters");
    sent.push_str(&work.late());
    Ok(sent)
}

/// Puts markup first into the head of a document, and changes nothing else.
pub(crate) fn insert(html: &str, head: &str) -> String {
    let mut rest = html;
    // As the parser has it: before the head there are only comments, the doctype and <html>.
    loop {
        let next = rest.trim_start();
        let end = match next {
            _ if next.starts_with("<!--") => next.find("-->").map(|at| at + 3),
            _ if next.starts_with("<!") || is_tag(next, "<html") => next.find('>').map(|at| at + 1),
            _ if is_tag(next, "<head") => {
                rest = next.find('>').map_or("", |at| &next[at + 1..]);
                break;
            }
            _ => None,
        };
        match end {
            Some(end) => rest = &next[end..],
            None => break,
        }
    }
    let at = html.len() - rest.len();
    [&html[..at], head, rest].concat()
}

fn is_tag(text: &str, tag: &str) -> bool {
    let (front, after) = text.split_at_checked(tag.len()).unwrap_or_default();
    front.eq_ignore_ascii_case(tag) && after.starts_with(|c: char| c == '>' || c.is_whitespace())
}

/// A document on its way through.
struct Work<'a> {
    files: Option<Files>,
    declared: &'a Declaration,
    /// Scripts that wait until the document is read, as `defer` says.
    deferred: Vec<String>,
    fonts: Vec<css::Font>,
    style: String,
    refusals: BTreeSet<String>,
}

type Handled = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl<'a> Work<'a> {
    fn new(files: Option<Files>, declared: &'a Declaration) -> Self {
        Self {
            files,
            declared,
            deferred: Vec::new(),
            fonts: Vec::new(),
            style: String::new(),
            refusals: BTreeSet::new(),
        }
    }

    fn refuse(&mut self, words: String) {
        if self.refusals.len() < MAX_REFUSALS {
            self.refusals.insert(words);
        }
    }

    fn element(&mut self, element: &mut Element<'_, '_>) -> Handled {
        let tag = element.tag_name();
        if let Some(style) = element.get_attribute("style") {
            let css = self.css(&style, INDEX);
            self.set(element, "style", css.filter(|css| *css != style))?;
        }
        match tag.as_str() {
            "script" => self.script(element)?,
            "link" => self.link(element),
            "iframe" | "frame" => self.only_remote(element, "src", List::Frame),
            "base" => self.only_remote(element, "href", List::BaseUri),
            "img" | "source" | "video" | "audio" | "track" | "input" | "image" | "embed" => {
                for attribute in ["src", "poster", "href", "xlink:href"] {
                    let Some(value) = element.get_attribute(attribute) else { continue };
                    let data = self.data_uri(&value, INDEX);
                    self.set(element, attribute, data)?;
                }
                if let Some(value) = element.get_attribute("srcset") {
                    let set = self.srcset(&value);
                    self.set(element, "srcset", set)?;
                }
            }
            _ => {}
        }
        Ok(())
    }

    fn script(&mut self, element: &mut Element<'_, '_>) -> Handled {
        let Some(src) = element.get_attribute("src") else { return Ok(()) };
        let Some(name) = self.local(&src, INDEX, List::Resource) else { return Ok(()) };
        let Some(script) = self.read(&name) else { return Ok(()) };
        let is_module = element.get_attribute("type").is_some_and(|kind| kind.trim() == "module");
        if is_module && let Some(other) = imported(&script) {
            self.refuse(format!(
                "{name} imports {other:?}, which a view cannot load: bundle the modules into one file"
            ));
        }
        let script = script.replace("</script", "<\\/script").replace("<!--", "<\\!--");
        let waits = element.has_attribute("defer") && !is_module;
        for attribute in ["src", "integrity", "crossorigin", "defer", "async"] {
            element.remove_attribute(attribute);
        }
        if waits {
            self.deferred.push(script);
            element.remove();
        } else {
            element.set_inner_content(&script, ContentType::Html);
        }
        Ok(())
    }

    fn link(&mut self, element: &mut Element<'_, '_>) {
        let Some(href) = element.get_attribute("href") else { return };
        let rel = element.get_attribute("rel").unwrap_or_default().to_ascii_lowercase();
        let has = |word| rel.split_ascii_whitespace().any(|part| part == word);
        if !has("stylesheet") {
            // Icons and hints to load early: a document without files beside it has no use for them.
            if !is_remote(&href) && self.files.is_some() {
                element.remove();
            }
            return;
        }
        let Some(name) = self.local(&href, INDEX, List::Resource) else { return };
        let Some(sheet) = self.read(&name) else { return };
        let sheet = self.css(&sheet, &name).unwrap_or(sheet);
        let media = element.get_attribute("media").map(|media| format!(" media=\"{media}\""));
        let sheet = sheet.replace("</style", "<\\/style");
        let tag = format!("<style{}>{sheet}</style>", media.unwrap_or_default());
        element.replace(&tag, ContentType::Html);
    }

    fn style(&mut self, chunk: &mut TextChunk<'_>) -> Handled {
        self.style.push_str(chunk.as_str());
        if !chunk.last_in_text_node() {
            chunk.remove();
            return Ok(());
        }
        let sheet = std::mem::take(&mut self.style);
        let sheet = self.css(&sheet, INDEX).unwrap_or(sheet);
        chunk.replace(&sheet, ContentType::Html);
        Ok(())
    }

    /// A style sheet with what it refers to written into it.
    fn css(&mut self, sheet: &str, from: &str) -> Option<String> {
        css::inline(sheet, from, self)
    }

    fn srcset(&mut self, value: &str) -> Option<String> {
        // A comma may be part of an address; one with a space behind it ends a candidate.
        let candidates = value.split(", ").map(|candidate| {
            let candidate = candidate.trim().trim_end_matches(',');
            let (address, size) =
                candidate.split_once(char::is_whitespace).unwrap_or((candidate, ""));
            let data = self.data_uri(address, INDEX);
            format!("{} {size}", data.as_deref().unwrap_or(address)).trim().to_owned()
        });
        Some(candidates.collect::<Vec<_>>().join(", "))
    }

    fn set(
        &self,
        element: &mut Element<'_, '_>,
        attribute: &str,
        value: Option<String>,
    ) -> Handled {
        if let (Some(value), Some(_)) = (value, self.files) {
            element.set_attribute(attribute, &value)?;
        }
        Ok(())
    }

    fn only_remote(&mut self, element: &Element<'_, '_>, attribute: &str, list: List) {
        let Some(value) = element.get_attribute(attribute) else { return };
        if is_remote(&value) {
            self.check_remote(&value, list);
        } else if !is_self_contained(&value) {
            self.refuse(format!(
                "<{}> refers to {value:?}, but a view is one document: there is nothing beside it",
                element.tag_name()
            ));
        }
    }

    /// The file's contents as an address of their own.
    fn data_uri(&mut self, address: &str, from: &str) -> Option<String> {
        let name = self.local(address, from, List::Resource)?;
        let bytes = match self.files?.bytes(&name) {
            Ok(bytes) => bytes,
            Err(error) => {
                self.unread(&name, &error);
                return None;
            }
        };
        Some(format!("data:{};base64,{}", mime(&name), STANDARD.encode(bytes)))
    }

    /// The file of the folder that an address means. Other addresses are judged here and left alone.
    fn local(&mut self, address: &str, from: &str, list: List) -> Option<String> {
        let address = address.trim();
        if is_remote(address) {
            self.check_remote(address, list);
            return None;
        }
        if is_self_contained(address) {
            return None;
        }
        if self.files.is_none() {
            self.refuse(format!(
                "the document refers to {address:?}, but a view is one document: declare its folder \
                 with `dir`, which writes such files into it"
            ));
            return None;
        }
        join(from, address).map_err(|error| self.refuse(error.to_string())).ok()
    }

    fn check_remote(&mut self, address: &str, list: List) {
        let absolute =
            if address.starts_with("//") { format!("https:{address}") } else { address.into() };
        let Ok(url) = Url::parse(&absolute) else {
            return self.refuse(format!("{address:?} is not an address"));
        };
        if self.declared.list(list).iter().any(|source| source.covers(&url)) {
            return;
        }
        let origin = url.origin().ascii_serialization();
        let key = match list {
            List::Connect => "connect",
            List::Resource => "resource",
            List::Frame => "frame",
            List::BaseUri => "base",
        };
        self.refuse(format!(
            "the document loads from {origin}, which it does not declare, so hosts will block it: add \
             csp({key} = \"{origin}\"), or put the file into the view's folder"
        ));
    }

    fn read(&mut self, name: &str) -> Option<String> {
        match self.files?.text(name) {
            Ok(text) => Some(text),
            Err(error) => {
                self.unread(name, &error);
                None
            }
        }
    }

    fn unread(&mut self, name: &str, error: &SourceError) {
        self.refuse(format!("the document refers to {name:?}: {error}"));
    }

    /// What stands after everything else: scripts that waited, and fonts.
    fn late(&self) -> String {
        let mut late = String::new();
        if !self.fonts.is_empty() {
            late.push_str(&css::font_script(&self.fonts));
        }
        for script in &self.deferred {
            late.push_str(&format!("<script>{script}</script>"));
        }
        late
    }
}

/// The first module that a script imports by a path.
fn imported(script: &str) -> Option<&str> {
    let mut rest = script;
    while let Some(at) = ["import", "from"].iter().filter_map(|word| rest.find(word)).min() {
        let after = &rest[at..];
        let word = if after.starts_with("import") { "import" } else { "from" };
        let alone =
            !rest[..at].ends_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '$' | '.'));
        rest = &after[word.len()..];
        let argument = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '(');
        let Some(quote) = argument.chars().next().filter(|c| matches!(c, '"' | '\'')) else {
            continue;
        };
        let path = argument[1..].split(quote).next().unwrap_or_default();
        if alone && path.starts_with(['.', '/']) {
            return Some(path);
        }
    }
    None
}

fn is_remote(address: &str) -> bool {
    let address = address.trim().to_ascii_lowercase();
    ["http:", "https:", "ws:", "wss:", "//"].iter().any(|start| address.starts_with(start))
}

/// Whether an address needs nothing beside the document.
fn is_self_contained(address: &str) -> bool {
    let address = address.trim();
    let scheme = || {
        address.split_once(':').is_some_and(|(scheme, _)| {
            scheme.len() > 1
                && scheme.bytes().all(|b| b.is_ascii_alphanumeric() || b"+-.".contains(&b))
        })
    };
    address.is_empty() || address.starts_with('#') || scheme()
}

fn mime(name: &str) -> &'static str {
    let extension = name.rsplit_once('.').map(|(_, extension)| extension.to_ascii_lowercase());
    match extension.as_deref().unwrap_or_default() {
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "mp3" => "audio/mpeg",
        "ogg" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "vtt" => "text/vtt",
        _ => "application/octet-stream",
    }
}

/// The parser keeps a whole tag in memory: large enough for any image written into one by a bundler.
const MAX_TOKEN: usize = 64 << 20;
/// What a person reads at once.
const MAX_REFUSALS: usize = 20;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Asset;

    const FILES: &[Asset] = &[
        Asset::new("a.css", None, b"@font-face { font-family: 'My Font'; font-weight: 700; src: url(f.woff2) format(\"woff2\") } p { background: url( \"i/d.png\" ) }"),
        Asset::new("b.css", None, b"@import url(b.css);"),
        Asset::new("f.woff2", None, b"font"),
        Asset::new("i/d.png", None, b"dot"),
        Asset::new("m.js", None, b"import { x } from './x.js';"),
        Asset::new("n.js", None, b"const important = 'from here'; import('https://cdn.test/x.js');"),
    ];

    fn made(html: &str) -> Result<String, Vec<String>> {
        compose(html, Some(Files::Embedded(FILES)), &Declaration::default())
    }

    #[test]
    fn fonts_are_handed_over_as_bytes_since_no_host_allows_them_as_data() {
        let html = made("<link rel=stylesheet href=a.css media=print>").unwrap();
        assert!(
            html.starts_with(
                "<style media=\"print\"> p { background: url(data:image/png;base64,ZG90) }</style>"
            ),
            "{html}"
        );
        assert!(
            html.contains(r#"of [["My Font","Zm9udA==",{"weight":"700"}]])document.fonts.add"#),
            "{html}"
        );
    }

    #[test]
    fn every_kind_of_reference_is_written_into_the_document() {
        let dot = "data:image/png;base64,ZG90";
        #[rustfmt::skip]
        let table = [
            ("<img src=i/d.png>",                       format!("<img src=\"{dot}\">")),
            ("<img src='./i/d.png?v=1'>",               format!("<img src=\"{dot}\">")),
            ("<img srcset='i/d.png 1x, /i/d.png 2x'>",  format!("<img srcset=\"{dot} 1x, {dot} 2x\">")),
            ("<video poster=i/d.png></video>",          format!("<video poster=\"{dot}\"></video>")),
            ("<p style='background:url(i/d.png)'>",     format!("<p style=\"background:url({dot})\">")),
            ("<style>p{background:url(i/d.png)}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<link rel=icon href=i/d.png><link rel=preload href=m.js>", String::new()),
            ("<img src='data:,x'><a href=page.html>x</a>", "<img src='data:,x'><a href=page.html>x</a>".to_owned()),
        ];
        for (html, expected) in table {
            assert_eq!(made(html), Ok(expected), "{html}");
        }
    }

    #[test]
    fn what_cannot_work_is_refused_with_words() {
        #[rustfmt::skip]
        let table = [
            ("<script src=gone.js></script>",            "the folder has no file gone.js"),
            ("<script src=../secret.js></script>",       "outside of the view's folder"),
            ("<script type=module src=m.js></script>",   "bundle the modules into one file"),
            ("<link rel=stylesheet href=b.css>",         "in a circle, or too deep"),
            ("<iframe src=page.html></iframe>",          "a view is one document"),
            ("<img src=https://cdn.test/a.png>",         "add csp(resource = \"https://cdn.test\")"),
        ];
        for (html, expected) in table {
            let refusals = made(html).unwrap_err();
            assert!(refusals.iter().any(|words| words.contains(expected)), "{html} {refusals:?}");
        }
        assert!(made("<script type=module src=n.js></script>").is_ok(), "nothing there is a path");
    }

    proptest::proptest! {
        #[test]
        fn no_document_panics(html in "(<(style|link rel=stylesheet href=a.css|img srcset='|p style=\"|script src=m.js)>?|@import|@font-face|url\\(|[;{}()'\"/*\\\\ ué,:>-]){0,14}") {
            let _ = made(&html);
            proptest::prop_assert_eq!(insert(&html, "|").len(), html.len() + 1);
        }
    }

    #[test]
    fn the_head_begins_where_a_parser_says() {
        #[rustfmt::skip]
        let table = [
            ("<!doctype html><html lang=en><HEAD class=a><title>", "<!doctype html><html lang=en><HEAD class=a>|<title>"),
            ("<!DOCTYPE html>\n<!-- <head> -->\n<title>x",        "<!DOCTYPE html>\n<!-- <head> -->|\n<title>x"),
            ("<html><header>",                                     "<html>|<header>"),
            ("text",                                               "|text"),
            ("<!-- never closed",                                  "|<!-- never closed"),
            ("",                                                   "|"),
        ];
        for (html, expected) in table {
            assert_eq!(insert(html, "|"), expected, "{html:?}");
        }
    }
}
