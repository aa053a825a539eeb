//! The document of a view, ready to be sent.

use std::sync::Arc;

use transom::csp::Declaration;

use crate::inline::{compose, has_in_a_script, insert};
use crate::source::{Source, without_mark};

/// The document of a view.
#[derive(Clone, Debug)]
pub(crate) enum Document {
    /// The same for every client, made when the server was built.
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
        script: Script,
    ) -> Result<Self, Vec<String>> {
        if matches!(source, Source::Render(_) | Source::Missing) {
            return Ok(Self::Rendered);
        }
        if dev && source.on_disk().is_some() {
            // The author may have written half of it; a client that reads it is told.
            return Ok(Self::OnDisk);
        }
        let html = read(source, declared, dev, script)?;
        if html.len() > LARGE {
            // server-17: there are hosts that refuse more.
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
    script: Script,
) -> Result<String, Vec<String>> {
    let html = source.text(dev).map_err(|error| vec![error.to_string()])?;
    let html = html.ok_or_else(|| vec!["there is no document".to_owned()])?;
    if !is_document(&html) {
        let words = "the HTML does not begin with a doctype: put <!doctype html> in front";
        return Err(vec![words.to_owned()]);
    }
    compose(&html, source.files(dev), declared).map(|html| finish(html, script))
}

/// Gives a document the script it needs to talk to its host, first in its head.
pub(crate) fn finish(html: String, script: Script) -> String {
    if brings_its_own(&html) { html } else { insert(without_mark(&html), &script.element()) }
}

/// The script that a document gets.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Script {
    /// The client of a view.
    View,
    /// The same, for the views of a server that carries their requests.
    #[cfg(feature = "fetch")]
    Carry,
}

impl Script {
    fn element(self) -> String {
        match self {
            Self::View => crate::runtime(),
            #[cfg(feature = "fetch")]
            Self::Carry => format!("<script>{}</script>", transom_web::CARRY),
        }
    }
}

/// Whether a document speaks the protocol by itself, or says that it does not want our script.
fn brings_its_own(html: &str) -> bool {
    // Looked at closely only where the words stand at all: a function's document is made for each request.
    html.contains(HELLO) && has_in_a_script(html, HELLO) || wants_none(html)
}

/// Whether it says `<meta name="transom" content="off">`, in whatever case and with whatever quotes.
fn wants_none(html: &str) -> bool {
    let off = |(at, _): (usize, &str)| {
        let tag = html[at + 1..].split('>').next().unwrap_or_default().to_ascii_lowercase();
        let has = |name: &str, value: &str| {
            let mut parts = tag.split_ascii_whitespace().filter_map(|part| part.split_once('='));
            parts.any(|(key, text)| key == name && text.trim_matches(['"', '\'', '/']) == value)
        };
        tag.starts_with("meta") && has("name", "transom") && has("content", "off")
    };
    html.match_indices('<').any(off)
}

/// S-05, as validators look at it.
fn is_document(html: &str) -> bool {
    let front = &html.as_bytes()[..html.len().min(1024)];
    let front = String::from_utf8_lossy(front).to_ascii_lowercase();
    front.contains("<!doctype html") || front.contains("<html")
}

const LARGE: usize = 1 << 20;
/// The first message of a view to its host; a document that sends it needs no script of ours.
const HELLO: &str = "ui/initialize";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_document_gets_the_script_unless_it_brings_one() {
        #[rustfmt::skip]
        let table = [
            ("<!doctype html><p>hello",                                       true),
            ("<!doctype html><p>ui/initialize is how it begins",              true),
            ("<!doctype html><!-- ui/initialize -->",                         true),
            ("<!doctype html><script>// ui/initialize\n</script>",            true),
            ("<!doctype html><script>send({method:\"ui/initialize\"})</script>", false),
            ("<!doctype html><META CONTENT='off' NAME=transom />",            false),
            ("<!doctype html><meta name=\"transom\" content=\"off\">",        false),
            ("<!doctype html><meta name=\"transom\" content=\"on\">",         true),
            ("<!doctype html><meta name=\"other\" content=\"transom off\">",  true),
        ];
        for (html, expected) in table {
            let finished = finish(html.to_owned(), Script::View);
            assert_eq!(finished.len() > html.len(), expected, "{html}");
        }
        let marked = finish("\u{feff}<!doctype html><p>".to_owned(), Script::View);
        assert!(marked.starts_with("<!doctype html><script>"), "{}", &marked[..40]);
    }
}
