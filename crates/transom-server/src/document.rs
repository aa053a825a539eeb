//! The document of a view, ready to be sent.

use std::sync::Arc;

use transom::csp::Declaration;

use crate::inline::{compose, insert};
use crate::source::Source;

/// The document of a view.
#[derive(Clone, Debug)]
pub(crate) enum Document {
    /// The same for everybody, made when the server was built.
    Ready(Arc<str>),
    /// Made of files on disk for each request: dev mode.
    OnDisk,
    /// Made by a function for each request.
    Rendered,
}

/// What is written into every document.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Head {
    /// Whether files are read from disk, and views told to reload.
    pub(crate) dev: bool,
}

impl Document {
    pub(crate) fn new(
        source: &Source,
        declared: &Declaration,
        head: Head,
    ) -> Result<Self, Vec<String>> {
        if matches!(source, Source::Render(_) | Source::Missing) {
            return Ok(Self::Rendered);
        }
        if head.dev && source.on_disk().is_some() {
            // It may be half-written just now; whoever reads it will be told.
            return Ok(Self::OnDisk);
        }
        read(source, declared, head).map(|html| Self::Ready(html.into()))
    }
}

/// Makes the document of a source that is no function.
pub(crate) fn read(
    source: &Source,
    declared: &Declaration,
    head: Head,
) -> Result<String, Vec<String>> {
    let html = source.text(head.dev).map_err(|error| vec![error.to_string()])?;
    let html = html.ok_or_else(|| vec!["there is no document".to_owned()])?;
    if !is_document(&html) {
        let words = "the HTML does not begin with a doctype: put <!doctype html> in front";
        return Err(vec![words.to_owned()]);
    }
    compose(&html, source.files(head.dev), declared).map(|html| finish(html, head))
}

/// Gives a document the scripts it needs to talk to its host.
pub(crate) fn finish(html: String, head: Head) -> String {
    let markup = head.markup(&html);
    if markup.is_empty() { html } else { insert(&html, &markup) }
}

impl Head {
    /// What goes first into the head of this document.
    fn markup(self, html: &str) -> String {
        let mut markup = String::new();
        if !brings_its_own(html) {
            markup.push_str(&crate::runtime());
        }
        if self.dev {
            markup.push_str(crate::dev::SCRIPT);
        }
        markup
    }
}

/// Whether a document speaks the protocol by itself, or says that it needs nobody to.
fn brings_its_own(html: &str) -> bool {
    html.contains("ui/initialize") || {
        let off = |at: usize| {
            let tag = html[at..].split('>').next().unwrap_or_default();
            tag.contains("\"transom\"") && tag.contains("\"off\"")
        };
        html.match_indices("<meta").any(|(at, _)| off(at))
    }
}

/// S-05, as validators look at it.
fn is_document(html: &str) -> bool {
    let front = &html.as_bytes()[..html.len().min(1024)];
    let front = String::from_utf8_lossy(front).to_ascii_lowercase();
    front.contains("<!doctype html") || front.contains("<html")
}
