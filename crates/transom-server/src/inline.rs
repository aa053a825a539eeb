//! One document out of a folder: what it refers to is written into it.
//!
//! A host shows a document and nothing beside it, so a reference that nobody answers would be a blank
//! frame later. Here it is refused, with words for the author.

mod attribute;
mod css;
mod script;

use std::cell::{Cell, RefCell};
use std::collections::BTreeSet;

use data_encoding::BASE64;
use lol_html::html_content::{Attribute, ContentType, Element, TextChunk};
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};
use serde_json::Value;
use transom::csp::{Declaration, List};
use url::Url;

use self::script::Import;
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
            .append_element_content_handler(text!("script", |chunk| {
                work.borrow_mut().inline_script(chunk);
                Ok(())
            }))
            // A large image written into a tag is one token of the parser.
            .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_TOKEN))
            .with_strict(false);
        let mut rewriter =
            HtmlRewriter::new(settings, |bytes: &[u8]| sent.extend_from_slice(bytes));
        let end = format!("<{END}>");
        let written = rewriter.write(html.as_bytes()).and_then(|()| rewriter.write(end.as_bytes()));
        written.and_then(|()| rewriter.end())
    };
    let mut work = work.into_inner();
    if let Err(error) = written {
        work.refuse(format!("the document cannot be read as HTML: {error}"));
    } else if !work.ended {
        work.refuse(UNCLOSED.to_owned());
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
            _ if next.starts_with("<!") || next.starts_with("<?") => {
                next.find('>').map(|at| at + 1)
            }
            _ if is_tag(next, "<html") => tag_end(next),
            _ if is_tag(next, "<head") => {
                rest = tag_end(next).map_or("", |end| &next[end..]);
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

/// Whether a script of the document has a text in it, in code and not in a comment.
pub(crate) fn has_in_a_script(html: &str, text: &str) -> bool {
    let (found, script) = (Cell::new(false), RefCell::new(String::new()));
    let settings = Settings::new()
        .append_element_content_handler(text!("script", |chunk| {
            script.borrow_mut().push_str(chunk.as_str());
            if chunk.last_in_text_node() {
                let script = script.take();
                found.set(found.get() || script::mentions(&script, text));
            }
            Ok(())
        }))
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_TOKEN))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    let read = rewriter.write(html.as_bytes()).and_then(|()| rewriter.end());
    // What cannot be read is not for us to add to.
    read.is_err() || found.get()
}

fn is_tag(text: &str, tag: &str) -> bool {
    let (front, after) = text.split_at_checked(tag.len()).unwrap_or_default();
    front.eq_ignore_ascii_case(tag)
        && after.starts_with(|c: char| c == '>' || c == '/' || c.is_whitespace())
}

/// The length of the tag at the front of the text. A `>` between quotes does not end it.
fn tag_end(text: &str) -> Option<usize> {
    let mut quote = None;
    for (at, c) in text.char_indices() {
        match (quote, c) {
            (Some(open), c) if c == open => quote = None,
            (None, '"' | '\'') => quote = Some(c),
            (None, '>') => return Some(at + 1),
            _ => {}
        }
    }
    None
}

/// A document on its way through.
struct Work<'a> {
    files: Option<Files>,
    declared: &'a Declaration,
    /// Scripts that wait until the document is read, as `defer` says.
    deferred: Vec<String>,
    fonts: Vec<css::font::Font>,
    /// The text of the element that is being read: a style sheet or a script.
    text: String,
    inline: Inline,
    has_import_map: bool,
    /// Whether the end of the document was reached as such.
    ended: bool,
    refusals: BTreeSet<String>,
}

/// What stands between the tags of the script that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inline {
    /// Nothing that a browser would run.
    Data,
    Code,
    ImportMap,
}

type Handled = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl<'a> Work<'a> {
    fn new(files: Option<Files>, declared: &'a Declaration) -> Self {
        Self {
            files,
            declared,
            deferred: Vec::new(),
            fonts: Vec::new(),
            text: String::new(),
            inline: Inline::Data,
            has_import_map: false,
            ended: false,
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
        if let Some(style) = value(element, "style") {
            let css = self.css(&style, INDEX);
            self.set(element, "style", css)?;
        }
        match tag.as_str() {
            "script" => self.script(element),
            "link" => self.link(element),
            "iframe" | "frame" => self.only_remote(element, "src", List::Frame),
            "base" => self.only_remote(element, "href", List::BaseUri),
            "use" => self.use_element(element),
            "object" | "embed"
                if ["data", "src"].iter().any(|name| element.has_attribute(name)) =>
            {
                self.refuse(format!(
                    "hosts let no <{tag}> load anything: show a picture with <img>, a page with <iframe>"
                ));
            }
            "img" | "source" | "video" | "audio" | "track" | "input" | "image" => {
                for attribute in ["src", "poster", "href", "xlink:href"] {
                    let Some(address) = value(element, attribute) else { continue };
                    let data = self.data_uri(&address, INDEX);
                    self.set(element, attribute, data)?;
                }
                if let Some(srcset) = value(element, "srcset") {
                    let set = self.srcset(&srcset);
                    self.set(element, "srcset", set)?;
                }
            }
            END => {
                self.ended = true;
                element.remove();
            }
            _ => {}
        }
        Ok(())
    }

    fn script(&mut self, element: &mut Element<'_, '_>) {
        let kind = value(element, "type").unwrap_or_default().trim().to_ascii_lowercase();
        self.inline = Inline::of(&kind);
        self.has_import_map |= self.inline == Inline::ImportMap;
        // A browser loads nothing for a script that it would not run.
        let Some(src) = value(element, "src").filter(|_| self.inline == Inline::Code) else {
            return;
        };
        self.inline = Inline::Data;
        let Some(name) = self.local(&src, INDEX, List::Resource) else { return };
        let Some(script) = self.read(&name) else { return };
        self.imports(&script, &name);
        let script = script::embeddable(&script);
        let waits = element.has_attribute("defer") || element.has_attribute("async");
        for attribute in ["src", "integrity", "crossorigin", "defer", "async"] {
            element.remove_attribute(attribute);
        }
        if waits && kind != "module" {
            self.deferred.push(format!("<script{}>{script}</script>", attributes(element)));
            element.remove();
        } else {
            element.set_inner_content(&script, ContentType::Html);
        }
    }

    fn inline_script(&mut self, chunk: &TextChunk<'_>) {
        self.text.push_str(chunk.as_str());
        if !chunk.last_in_text_node() {
            return;
        }
        let text = std::mem::take(&mut self.text);
        match self.inline {
            Inline::Code => self.imports(&text, "a script of the document"),
            Inline::ImportMap => self.import_map(&text),
            Inline::Data => {}
        }
    }

    /// Judges what a script imports: nobody would answer for a file beside the document.
    fn imports(&mut self, script: &str, name: &str) {
        for import in script::imports(script) {
            let (Import::Declared(other) | Import::Called(other)) = import;
            let declared = matches!(import, Import::Declared(_));
            let bare = !other.starts_with(['.', '/']) && !is_self_contained(other);
            if is_remote(other) {
                // Whether a call is ever made only the script knows.
                if declared {
                    self.check_remote(other, List::Resource);
                }
            } else if other.starts_with(['.', '/']) || declared && bare && !self.has_import_map {
                self.refuse(format!(
                    "{name} imports {other:?}, which a view cannot load: bundle the modules into one file"
                ));
            }
        }
    }

    fn import_map(&mut self, text: &str) {
        let map: Value = serde_json::from_str(text).unwrap_or_default();
        let scopes = map["scopes"].as_object().into_iter().flat_map(|scopes| scopes.values());
        let all = scopes.chain([&map["imports"]]).filter_map(Value::as_object);
        for address in all.flat_map(|map| map.values()).filter_map(Value::as_str) {
            if is_remote(address) {
                self.check_remote(address, List::Resource);
            } else {
                self.refuse(format!(
                    "the import map names {address:?}, which a view cannot load: bundle the modules into one file"
                ));
            }
        }
    }

    /// Browsers let no `<use>` load from a `data:` address, so there is no way to write the file in.
    fn use_element(&mut self, element: &Element<'_, '_>) {
        for attribute in ["href", "xlink:href"] {
            let Some(address) = value(element, attribute) else { continue };
            if !address.trim().starts_with('#') && !address.trim().is_empty() {
                let id = address.split_once('#').map_or("id", |(_, id)| id);
                self.refuse(format!(
                    "<use> refers to {address:?}, which browsers do not load in a view: put the \
                     <symbol> into the document and write href=\"#{id}\""
                ));
            }
        }
    }

    fn link(&mut self, element: &mut Element<'_, '_>) {
        let Some(href) = value(element, "href") else { return };
        let rel = value(element, "rel").unwrap_or_default().to_ascii_lowercase();
        let has = |word| rel.split_ascii_whitespace().any(|part| part == word);
        if !has("stylesheet") || has("alternate") {
            // Icons and hints to load early: a document without files beside it has no use for them.
            if !is_remote(&href) && self.files.is_some() {
                element.remove();
            }
            return;
        }
        let Some(name) = self.local(&href, INDEX, List::Resource) else { return };
        let Some(sheet) = self.read(&name) else { return };
        let sheet = self.css(&sheet, &name).unwrap_or(sheet);
        for attribute in ["rel", "href", "integrity", "crossorigin", "type", "as"] {
            element.remove_attribute(attribute);
        }
        let tag = format!("<style{}>{}</style>", attributes(element), closed_nowhere(&sheet));
        element.replace(&tag, ContentType::Html);
    }

    fn style(&mut self, chunk: &mut TextChunk<'_>) -> Handled {
        self.text.push_str(chunk.as_str());
        if !chunk.last_in_text_node() {
            chunk.remove();
            return Ok(());
        }
        let sheet = std::mem::take(&mut self.text);
        let sheet = self.css(&sheet, INDEX).unwrap_or(sheet);
        chunk.replace(&closed_nowhere(&sheet), ContentType::Html);
        Ok(())
    }

    /// A style sheet with what it refers to written into it.
    fn css(&mut self, sheet: &str, from: &str) -> Option<String> {
        css::inline(sheet, from, self)
    }

    fn srcset(&mut self, value: &str) -> Option<String> {
        let written = attribute::candidates(value).into_iter().map(|(address, size)| {
            let data = self.data_uri(address, INDEX);
            format!("{} {size}", data.as_deref().unwrap_or(address)).trim().to_owned()
        });
        Some(written.collect::<Vec<_>>().join(", "))
    }

    fn set(&self, element: &mut Element<'_, '_>, name: &str, value: Option<String>) -> Handled {
        if let (Some(value), Some(_)) = (value, self.files) {
            element.set_attribute(name, &attribute::encode(&value))?;
        }
        Ok(())
    }

    fn only_remote(&mut self, element: &Element<'_, '_>, attribute: &str, list: List) {
        let Some(value) = value(element, attribute) else { return };
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
        Some(format!("data:{};base64,{}", mime(&name), BASE64.encode(&bytes)))
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
            late.push_str(&css::font::script(&self.fonts));
        }
        for script in &self.deferred {
            late.push_str(script);
        }
        late
    }
}

impl Inline {
    /// By the `type` of a script, in small letters.
    fn of(kind: &str) -> Self {
        match kind {
            "importmap" => Self::ImportMap,
            "" | "module" => Self::Code,
            // The names that JavaScript has had, and no others.
            _ => match kind.strip_prefix("text/").or_else(|| kind.strip_prefix("application/")) {
                Some(name) if name.ends_with("javascript") || name.ends_with("ecmascript") => {
                    Self::Code
                }
                _ => Self::Data,
            },
        }
    }
}

/// An attribute as a browser reads it.
fn value(element: &Element<'_, '_>, name: &str) -> Option<String> {
    element.get_attribute(name).map(|raw| attribute::decode(&raw))
}

/// The attributes of an element, to be written into another tag.
fn attributes(element: &Element<'_, '_>) -> String {
    let written = |attribute: &Attribute<'_>| {
        format!(" {}=\"{}\"", attribute.name(), attribute.value().replace('"', "&quot;"))
    };
    element.attributes().iter().map(written).collect()
}

/// A style sheet with nothing in it that would end its element.
fn closed_nowhere(sheet: &str) -> String {
    let mut written = String::with_capacity(sheet.len());
    let mut rest = sheet;
    while let Some(at) = rest.find("</") {
        let (front, after) = rest.split_at(at);
        written.push_str(front);
        written.push_str(if script::starts_with(after, "</style") { "<\\/" } else { "</" });
        rest = &after[2..];
    }
    written + rest
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
        "apng" => "image/apng",
        "bmp" => "image/bmp",
        "gif" => "image/gif",
        "webp" => "image/webp",
        "avif" => "image/avif",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "mp3" => "audio/mpeg",
        "m4a" => "audio/mp4",
        "aac" => "audio/aac",
        "flac" => "audio/flac",
        "ogg" | "oga" | "opus" => "audio/ogg",
        "wav" => "audio/wav",
        "mp4" => "video/mp4",
        "webm" => "video/webm",
        "vtt" => "text/vtt",
        _ => "application/octet-stream",
    }
}

/// The parser keeps a whole tag in memory: large enough for any image written into one by a bundler.
const MAX_TOKEN: usize = 64 << 20;
/// Put behind the document while it is read: whoever does not see it is still inside of something.
const END: &str = "transom-end";
const UNCLOSED: &str = "the document ends inside of a comment, a tag, or a <script>, <style>, <title> or \
    <textarea> that is not closed, and a browser shows nothing of what is in there: close it";
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
        Asset::new("o.js", None, b"// import './x.js'\n/* from './y.js' */ a(\"import './z.js'\")"),
        Asset::new("p.js", None, b"\xef\xbb\xbfa('</SCRIPT>')"),
        Asset::new("c.css", None, b"\xef\xbb\xbfp { content: '</STYLE>' }"),
        Asset::new("d.css", None, b"@import 'c.css' layer(x) supports(display: grid) print; @namespace url(http://www.w3.org/1999/xhtml); b { background: url(i/\\64 .png) }"),
        Asset::new("e.css", None, b"@font-face { /* old; */ font-family: Old; src: url(o.eot); src: url('o.eot?#iefix') format('embedded-opentype'), url(\"f.woff2\") format('woff2'); font-stretch: 50% }"),
        Asset::new("i/my dot.png", None, b"dot"),
        Asset::new("i/a&b.png", None, b"dot"),
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
            ("<p style='background:image-set(\"i/d.png\" 1x, \"i/d.png\" type(\"image/png\") 2x)'>", format!("<p style=\"background:image-set(&quot;{dot}&quot; 1x, &quot;{dot}&quot; type(&quot;image/png&quot;) 2x)\">")),
            ("<style>p{background:-WebKit-Image-Set(url(i/d.png) 1x);content:\"x\"}</style>", format!("<style>p{{background:-WebKit-Image-Set(url({dot}) 1x);content:\"x\"}}</style>")),
            ("<style>p{background:u\\72l( /**/ 'i/d.png' )}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<style>p{background:url(i/my dot.png)}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<style>p{background:url(data:image/svg+xml,<svg a='b'>)}</style>", "<style>p{background:url(data:image/svg+xml,<svg a='b'>)}</style>".to_owned()),
            ("<style>p{background:url(i/d.png)}</style>", format!("<style>p{{background:url({dot})}}</style>")),
            ("<link rel=icon href=i/d.png><link rel=preload href=m.js>", String::new()),
            ("<link rel='alternate stylesheet' href=a.css>", String::new()),
            ("<IMG SRC=i/d.png>",                       format!("<IMG SRC=\"{dot}\">")),
            ("<img src='i/my%20dot.png'>",              format!("<img src=\"{dot}\">")),
            ("<img src=i/a&amp;b.png>",                 format!("<img src=\"{dot}\">")),
            ("<img srcset='i/d.png 1x,i/d.png 2x'>",    format!("<img srcset=\"{dot} 1x, {dot} 2x\">")),
            ("<p style='background:url(&quot;i/d.png&quot;)'>", format!("<p style=\"background:url({dot})\">")),
            ("<p style='color:red'>",                   "<p style='color:red'>".to_owned()),
            ("<svg><image xlink:href=i/d.png /></svg>", format!("<svg><image xlink:href=\"{dot}\" /></svg>")),
            ("<svg><use href='#a'/></svg>",             "<svg><use href='#a'/></svg>".to_owned()),
            ("<!-- <img src=gone.png> -->",             "<!-- <img src=gone.png> -->".to_owned()),
            ("<svg><![CDATA[<img src=gone.png>]]></svg>", "<svg><![CDATA[<img src=gone.png>]]></svg>".to_owned()),
            ("<script src=p.js>\r\n</script>",          "<script>a('\\x3c/SCRIPT>')</script>".to_owned()),
            ("<SCRIPT DEFER SRC=p.js DATA-X='\"'></SCRIPT>x", "x<script data-x=\"&quot;\">a('\\x3c/SCRIPT>')</script>".to_owned()),
            ("<script type=text/plain src=gone.js>import './x.js'</script>", "<script type=text/plain src=gone.js>import './x.js'</script>".to_owned()),
            ("<script>// import './x.js'\r\n</script>", "<script>// import './x.js'\r\n</script>".to_owned()),
            ("<link href=c.css rel=STYLESHEET media='a\"b'>", "<style media=\"a&quot;b\">p { content: '<\\/STYLE>' }</style>".to_owned()),
            ("<link href=d.css rel=stylesheet>",        format!("<style>@layer x{{@supports (display: grid){{@media print{{p {{ content: '<\\/STYLE>' }}}}}}}} @namespace url(http://www.w3.org/1999/xhtml); b {{ background: url({dot}) }}</style>")),
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
            ("<script type=Module>import './x.js'</script>", "bundle the modules into one file"),
            ("<script type=module>import a from 'react'</script>", "bundle the modules into one file"),
            ("<script type=module>import 'https://cdn.test/a.js'</script>", "add csp(resource = \"https://cdn.test\")"),
            ("<script type=importmap>{\"imports\":{\"a\":\"./a.js\"}}</script>", "the import map names \"./a.js\""),
            ("<svg><use xlink:href='icons.svg#cup'/></svg>", "write href=\"#cup\""),
            ("<object data=a.svg></object>",             "no <object>"),
            ("<p>hello<!-- never closed <img src=x>",    "close it"),
            ("<title>never closed<p>hello",              "close it"),
            ("<p>hello<script>never(closed)",            "close it"),
            ("<p class='never closed",                   "close it"),
            ("<img src='%2e%2e/secret.png'>",            "outside of the view's folder"),
            ("<p style='background:url(gone\\.png)'>",   "the folder has no file gone.png"),
            ("<p style='background:image-set(\"gone.png\" 1x)'>", "the folder has no file gone.png"),
        ];
        for (html, expected) in table {
            let refusals = made(html).unwrap_err();
            assert!(refusals.iter().any(|words| words.contains(expected)), "{html} {refusals:?}");
        }
        for name in ["n.js", "o.js"] {
            let html = format!("<script type=module src={name}></script>");
            assert!(made(&html).is_ok(), "nothing in {name} is a path");
        }
    }

    #[test]
    fn an_import_map_gives_names_to_declared_origins() {
        let html = "<script type=importmap>{\"imports\":{\"a\":\"https://cdn.test/a.js\"}}</script>\
                    <script type=module>import a from 'a'</script>";
        let csp = serde_json::from_str(r#"{"resourceDomains":["https://cdn.test"]}"#).unwrap();
        let (declared, _) = Declaration::read(&csp);
        assert_eq!(compose(html, None, &declared).as_deref(), Ok(html));
        assert!(compose(html, None, &Declaration::default()).is_err());
    }

    #[test]
    fn a_font_comes_in_the_format_that_browsers_read() {
        let html = made("<link rel=stylesheet href=e.css>").unwrap();
        assert!(html.contains(r#"of [["Old","Zm9udA==",{"stretch":"50%"}]])"#), "{html}");
    }

    proptest::proptest! {
        #[test]
        fn no_document_panics(html in "(<(style|link rel=stylesheet href=a.css|img srcset='|p style=\"|script src=m.js|script|use href=|!--|!\\[CDATA\\[)>?|</script>|@import|@font-face|url\\(|[;{}()'\"/*\\\\ ué,:>-]){0,14}") {
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
            ("<html data-a='>'><head data-b=\">\"><title>",         "<html data-a='>'><head data-b=\">\">|<title>"),
            ("<?xml version='1.0'?>\r\n<!doctype html>\r\n<p>",    "<?xml version='1.0'?>\r\n<!doctype html>|\r\n<p>"),
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
