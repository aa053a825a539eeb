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

impl Document {
    pub(crate) fn new(
        source: &Source,
        declared: &Declaration,
        dev: bool,
    ) -> Result<Self, Vec<String>> {
        if matches!(source, Source::Render(_) | Source::Missing) {
            return Ok(Self::Rendered);
        }
        if dev && source.on_disk().is_some() {
            // It may be half-written just now; whoever reads it will be told.
            return Ok(Self::OnDisk);
        }
        let html = read(source, declared, dev)?;
        if html.len() > LARGE {
            // S17: there are hosts that refuse more.
            tracing::warn!(bytes = html.len(), "a view's document is larger than a megabyte");
        }
        Ok(Self::Ready(html.into()))
    }
}

/// Makes the document of a source that is no function.
pub(crate) fn read(
    source: &Source,
    declared: &Declaration,
    dev: bool,
) -> Result<String, Vec<String>> {
    let html = source.text(dev).map_err(|error| vec![error.to_string()])?;
    let html = html.ok_or_else(|| vec!["there is no document".to_owned()])?;
    if !is_document(&html) {
        let words = "the HTML does not begin with a doctype: put <!doctype html> in front";
        return Err(vec![words.to_owned()]);
    }
    compose(&html, source.files(dev), declared).map(finish)
}

/// Gives a document the script it needs to talk to its host, first in its head.
pub(crate) fn finish(html: String) -> String {
    if brings_its_own(&html) { html } else { insert(&html, &crate::runtime()) }
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

const LARGE: usize = 1 << 20;
