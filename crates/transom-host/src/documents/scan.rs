//! What a document would do, told before it runs.
//!
//! A look, not a wall: what the policy forbids the browser blocks, whether it is found here or not.
//! The look is one pass over the text, with a limit on everything it counts or keeps.

mod address;
mod element;
mod report;
mod script;
mod style;

use std::cell::RefCell;
use std::fmt;
use std::ops::Range;

use lol_html::html_content::TextChunk;
use lol_html::{HtmlRewriter, MemorySettings, Settings, element, text};
use transom::csp::{Declaration, Grant, List};

use report::Report;

/// What a look at a document's HTML found.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub struct Scan {
    /// The origins it names outside its own, by what it wants of them.
    pub origins: Vec<UsedOrigin>,
    /// What a person should know, the gravest first.
    pub findings: Vec<ScanFinding>,
    /// How many findings were left out, being more of the same.
    pub omitted: usize,
}

impl Scan {
    /// Looks through a document. It is not changed, and nothing of it is run.
    pub fn of(html: &str, declaration: Option<&Declaration>) -> Self {
        let report = RefCell::new(Report::new(declaration));
        let inline = RefCell::new(Vec::new());
        let walked = walk(html, &report, &inline);
        let mut report = report.into_inner();
        for (kind, range) in inline.into_inner() {
            let Some(text) = html.get(range.clone()) else { continue };
            match kind {
                Inline::Script => script::look(text, range.start, "<script>", &mut report),
                Inline::Style => style::look(text, range.start, "<style>", &mut report),
            }
        }
        if let Err(reason) = walked {
            report.unread(html.len(), &reason);
        }
        report.finish(html)
    }

    /// Lists the findings that are at least this grave.
    pub fn at_least(&self, severity: Severity) -> impl Iterator<Item = &ScanFinding> {
        self.findings.iter().filter(move |finding| finding.severity >= severity)
    }
}

/// One thing that a person should know about a document.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct ScanFinding {
    /// How grave it is.
    pub severity: Severity,
    /// What it is.
    pub what: What,
    /// Where it stands.
    pub place: Spot,
    /// What it means, in one line.
    pub words: String,
}

impl fmt::Display for ScanFinding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({})", self.severity, self.words, self.place)
    }
}

/// How grave a finding is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Severity {
    /// Good to know.
    Note,
    /// Something will not work, or deserves a look.
    Warning,
    /// An attempt to leave the frame, to hide, or to send data where nothing was declared.
    Danger,
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Danger => "danger",
        })
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum What {
    /// It uses an origin that it did not declare.
    UndeclaredOrigin,
    /// It declared a source that nothing in it names.
    UnusedDeclaration(List),
    /// It opens connections ahead of time, which no policy covers.
    ConnectionHint,
    /// Clicks on a link are reported elsewhere.
    Ping,
    /// It makes code out of text.
    Eval,
    /// It has a form that posts somewhere.
    Form,
    /// It navigates the page around it.
    TopNavigation,
    /// It opens windows.
    Popup,
    /// It has a frame inside.
    NestedFrame,
    /// It has a frame inside that a person cannot see.
    HiddenFrame,
    /// It goes somewhere else by itself.
    Refresh,
    /// It resolves its own addresses against another origin.
    BaseHref,
    /// It needs a kind of script that an operator has to grant.
    NeedsGrant(Grant),
    /// It could not be read to its end.
    Unread,
}

/// Where something stands in a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Spot {
    /// The line, from 1.
    pub line: usize,
    /// The byte, from 0.
    pub offset: usize,
    /// The element or attribute it stands in.
    pub within: &'static str,
}

impl fmt::Display for Spot {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "line {}, {}", self.line, self.within)
    }
}

/// An origin that a document names.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct UsedOrigin {
    /// The origin, as a browser writes it.
    pub origin: String,
    /// What it is wanted for.
    pub purpose: Use,
    /// Whether the declaration covers it.
    pub declared: bool,
    /// Where it is first named.
    pub place: Spot,
}

/// What an origin is wanted for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Use {
    /// A script.
    Script,
    /// A style sheet, or something it loads.
    Style,
    /// An image.
    Image,
    /// A font.
    Font,
    /// Sound or video.
    Media,
    /// A connection.
    Connect,
    /// A frame.
    Frame,
    /// The base of other addresses.
    Base,
    /// A form's target.
    Form,
    /// The target of a navigation.
    Navigation,
    /// A connection ahead of time.
    Hint,
    /// Named in a script; what for cannot be seen.
    Mention,
}

/// A text inside the document that is not HTML.
#[derive(Clone, Copy, PartialEq)]
enum Inline {
    Script,
    Style,
}

fn walk<'a>(
    html: &str,
    report: &RefCell<Report<'a>>,
    inline: &RefCell<Vec<(Inline, Range<usize>)>>,
) -> Result<(), String> {
    let (readable, rest) = html.split_at(end_of_reading(html));
    let add = |kind, chunk: &TextChunk<'_>| {
        extend(&mut inline.borrow_mut(), kind, chunk.source_location().bytes());
        Ok(())
    };
    let settings = Settings::new()
        .append_element_content_handler(element!("*", |element| {
            element::look(element, &mut report.borrow_mut());
            Ok(())
        }))
        .append_element_content_handler(text!("script", |chunk| add(Inline::Script, chunk)))
        .append_element_content_handler(text!("style", |chunk| add(Inline::Style, chunk)))
        .with_memory_settings(MemorySettings::new().with_max_allowed_memory_usage(MAX_MEMORY))
        .with_strict(false);
    let mut rewriter = HtmlRewriter::new(settings, |_: &[u8]| {});
    rewriter.write(readable.as_bytes()).map_err(|e| e.to_string())?;
    rewriter.end().map_err(|e| e.to_string())?;
    if rest.is_empty() { Ok(()) } else { Err(format!("more than {MAX_TAGS} tags")) }
}

/// A text may come in pieces; the range that is kept is of the whole.
fn extend(inline: &mut Vec<(Inline, Range<usize>)>, kind: Inline, piece: Range<usize>) {
    match inline.last_mut() {
        Some((last, range)) if *last == kind && range.end == piece.start => range.end = piece.end,
        _ if piece.is_empty() => {}
        _ => inline.push((kind, piece)),
    }
}

/// An end tag costs a search among the open elements, so the tags are counted first.
fn end_of_reading(html: &str) -> usize {
    html.match_indices('<').nth(MAX_TAGS).map_or(html.len(), |(at, _)| at)
}

/// The most tags that are looked at; a bundle of some megabytes has a few thousand.
const MAX_TAGS: usize = 200_000;

/// The most memory for open elements and half a tag: nesting to a depth of some thousand.
const MAX_MEMORY: usize = 512 << 10;

#[cfg(test)]
mod tests;
