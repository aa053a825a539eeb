//! What `build()` refuses, and what to do about it.

use std::borrow::Cow;
use std::fmt;

/// Everything that keeps a server's views from working, told at once.
///
/// ```
/// use transom_server::{ViewDef, Views};
/// # struct Server;
/// # impl rmcp::ServerHandler for Server {}
/// let error = Views::wrap(Server).declare(ViewDef::new("https://board")).build().unwrap_err();
/// assert!(error.to_string().contains("begin it with ui://"));
/// ```
#[derive(Clone, Debug)]
pub struct BuildError {
    refusals: Vec<Refusal>,
}

/// One thing that is wrong.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    place: String,
    rule: Rule,
    words: Cow<'static, str>,
}

/// The rule that was broken. It prints as `transom check` names it: `server-03`, `document-02`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Rule {
    /// A linked address can be read.
    Server03,
    /// An address begins with `ui://`.
    Server04,
    /// A view has a document.
    Server06,
    /// The model or a view may call a tool.
    Server08,
    /// Policy belongs to the view, not to the tool.
    Server10,
    /// Origins are well formed and encrypted.
    Server11,
    /// A domain is one.
    Server12,
    /// `structuredContent` fits `outputSchema`.
    Server15,
    /// A tool that fetches for views refuses what was not meant.
    Server23,
    /// What a document loads is declared.
    Document02,
}

impl BuildError {
    pub(crate) fn new(refusals: Vec<Refusal>) -> Self {
        Self { refusals }
    }

    /// Lists what is wrong.
    pub fn refusals(&self) -> &[Refusal] {
        &self.refusals
    }
}

impl fmt::Display for BuildError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("the views cannot be served")?;
        self.refusals.iter().try_for_each(|refusal| write!(f, "\n  {refusal}"))
    }
}

impl std::error::Error for BuildError {}

impl Refusal {
    pub(crate) fn view(uri: &str, rule: Rule, words: impl Into<Cow<'static, str>>) -> Self {
        Self { place: format!("view {uri}"), rule, words: words.into() }
    }

    pub(crate) fn tool(name: &str, rule: Rule, words: impl Into<Cow<'static, str>>) -> Self {
        Self { place: format!("tool {name}"), rule, words: words.into() }
    }

    /// Returns the rule that was broken.
    pub fn rule(&self) -> Rule {
        self.rule
    }

    /// Returns what is wrong and what to do about it.
    pub fn words(&self) -> &str {
        &self.words
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Server03 => "server-03",
            Self::Server04 => "server-04",
            Self::Server06 => "server-06",
            Self::Server08 => "server-08",
            Self::Server10 => "server-10",
            Self::Server11 => "server-11",
            Self::Server12 => "server-12",
            Self::Server15 => "server-15",
            Self::Server23 => "server-23",
            Self::Document02 => "document-02",
        })
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}: {}", self.rule, self.place, self.words)
    }
}
