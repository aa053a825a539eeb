//! A document on its way through the parser, element by element.

use lol_html::html_content::{Attribute, ContentType, Element, TextChunk};
use serde_json::Value;
use transom::csp::{Declaration, List};

use super::attribute;
use super::css::{
    self,
    font::{self, Font},
};
use super::references::{References, is_remote, is_self_contained};
use super::script::{self, Import};
use crate::source::{Files, INDEX};

/// A document on its way through.
pub(super) struct Work<'a> {
    pub(super) references: References<'a>,
    /// Scripts that wait until the document is read, as `defer` says.
    deferred: Vec<String>,
    fonts: Vec<Font>,
    /// The text of the element that is being read: a style sheet or a script.
    text: String,
    inline: Inline,
    has_import_map: bool,
    /// Whether the end of the document was reached as such.
    pub(super) ended: bool,
}

/// What stands between the tags of the script that is being read.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Inline {
    /// Nothing that a browser would run.
    Data,
    Code,
    ImportMap,
}

pub(super) type Handled = Result<(), Box<dyn std::error::Error + Send + Sync>>;

impl<'a> Work<'a> {
    pub(super) fn new(files: Option<Files>, declared: &'a Declaration) -> Self {
        Self {
            references: References::new(files, declared),
            deferred: Vec::new(),
            fonts: Vec::new(),
            text: String::new(),
            inline: Inline::Data,
            has_import_map: false,
            ended: false,
        }
    }

    pub(super) fn element(&mut self, element: &mut Element<'_, '_>) -> Handled {
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
                self.references.refuse(format!(
                    "hosts let no <{tag}> load anything: show a picture with <img>, a page with <iframe>"
                ));
            }
            "img" | "source" | "video" | "audio" | "track" | "input" | "image" => {
                for attribute in ["src", "poster", "href", "xlink:href"] {
                    let Some(address) = value(element, attribute) else { continue };
                    let data = self.references.data_uri(&address, INDEX);
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
        let Some(name) = self.references.local(&src, INDEX, List::Resource) else { return };
        let Some(script) = self.references.read(&name) else { return };
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

    pub(super) fn inline_script(&mut self, chunk: &TextChunk<'_>) {
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

    /// Judges what a script imports: a view cannot load a file beside its document.
    fn imports(&mut self, script: &str, name: &str) {
        for import in script::imports(script) {
            let (Import::Declared(other) | Import::Called(other)) = import;
            let declared = matches!(import, Import::Declared(_));
            let bare = !other.starts_with(['.', '/']) && !is_self_contained(other);
            if is_remote(other) {
                // Whether a call is ever made only the script knows.
                if declared {
                    self.references.check_remote(other, List::Resource);
                }
            } else if other.starts_with(['.', '/']) || declared && bare && !self.has_import_map {
                self.references.refuse(format!(
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
                self.references.check_remote(address, List::Resource);
            } else {
                self.references.refuse(format!(
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
                self.references.refuse(format!(
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
            if !is_remote(&href) && self.references.files.is_some() {
                element.remove();
            }
            return;
        }
        let Some(name) = self.references.local(&href, INDEX, List::Resource) else { return };
        let Some(sheet) = self.references.read(&name) else { return };
        let sheet = self.css(&sheet, &name).unwrap_or(sheet);
        for attribute in ["rel", "href", "integrity", "crossorigin", "type", "as"] {
            element.remove_attribute(attribute);
        }
        let tag = format!("<style{}>{}</style>", attributes(element), closed_nowhere(&sheet));
        element.replace(&tag, ContentType::Html);
    }

    pub(super) fn style(&mut self, chunk: &mut TextChunk<'_>) -> Handled {
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
        css::inline(sheet, from, &mut self.references, &mut self.fonts)
    }

    fn srcset(&mut self, value: &str) -> Option<String> {
        let written = attribute::candidates(value).into_iter().map(|(address, size)| {
            let data = self.references.data_uri(address, INDEX);
            format!("{} {size}", data.as_deref().unwrap_or(address)).trim().to_owned()
        });
        Some(written.collect::<Vec<_>>().join(", "))
    }

    fn set(&self, element: &mut Element<'_, '_>, name: &str, value: Option<String>) -> Handled {
        if let (Some(value), Some(_)) = (value, self.references.files) {
            element.set_attribute(name, &attribute::encode(&value))?;
        }
        Ok(())
    }

    fn only_remote(&mut self, element: &Element<'_, '_>, attribute: &str, list: List) {
        let Some(value) = value(element, attribute) else { return };
        if is_remote(&value) {
            self.references.check_remote(&value, list);
        } else if !is_self_contained(&value) {
            self.references.refuse(format!(
                "<{}> refers to {value:?}, but a view is one document: there is nothing beside it",
                element.tag_name()
            ));
        }
    }

    /// What stands after everything else: scripts that waited, and fonts.
    pub(super) fn late(&self) -> String {
        let mut late = String::new();
        if !self.fonts.is_empty() {
            late.push_str(&font::script(&self.fonts));
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

/// Put behind the document while it is read: if the parser does not find it, something before it is not closed.
pub(super) const END: &str = "transom-end";
