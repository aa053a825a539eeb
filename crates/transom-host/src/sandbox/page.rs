//! What is served: a body and its headers, complete before the first request.

use std::fmt::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use axum::http::header::{
    CACHE_CONTROL, CONTENT_LENGTH, CONTENT_SECURITY_POLICY, CONTENT_TYPE, HeaderName,
    REFERRER_POLICY, X_CONTENT_TYPE_OPTIONS, X_DNS_PREFETCH_CONTROL,
};
use axum::http::{HeaderMap, HeaderValue};
use bytes::Bytes;
use data_encoding::BASE64;
use sha2::{Digest as _, Sha256};
use transom::csp::{Csp, Token};
use transom::origin::Origin;
use transom::permissions::SandboxTokens;

use super::frame::Names;
use super::reports::{Reports, Sink};
use crate::relay::Relay;

/// The script of a sandbox page or a porch, and its hash.
#[derive(Clone, Debug)]
pub struct SandboxScript {
    text: Arc<str>,
    token: Token,
}

impl SandboxScript {
    /// Takes a script that can stand inside a page.
    pub fn new(text: impl Into<Arc<str>>) -> Result<Self, NotInline> {
        let text = text.into();
        let lower = text.to_ascii_lowercase();
        if let Some(found) = ENDING.into_iter().find(|ending| lower.contains(ending)) {
            return Err(NotInline(found));
        }
        let hash = BASE64.encode(&Sha256::digest(text.as_bytes()));
        let token = Token::sha256(&hash).expect("base64 of a hash is a token");
        Ok(Self { text, token })
    }

    pub(super) fn token(&self) -> Token {
        self.token.clone()
    }

    /// Prints the page. Whatever is not the script is printed from parsed values and escaped.
    pub(super) fn page(&self, title: &str, attributes: Vec<(&'static str, String)>) -> String {
        let title = escape(title);
        let mut page = format!(
            "<!doctype html>\n<html lang=\"en\">\n<meta charset=\"utf-8\">\n<title>{title}</title>\n<body>\n<script"
        );
        for (name, value) in attributes {
            write!(page, " {name}=\"{}\"", escape(&value)).expect("a string takes everything");
        }
        page + ">" + &self.text + "</script>\n"
    }
}

/// A script that would not be read as it is when it stands in a page.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the script contains {0:?}, which a page reads differently; build it without")]
pub struct NotInline(&'static str);

/// What the sandbox page tells its script.
pub(super) struct Attributes<'a> {
    pub(super) host: &'a [Origin],
    pub(super) porch: Option<&'a Names>,
    pub(super) allow: String,
    pub(super) relay: Relay,
    /// What of this machine and its networks a document in raw mode may be given.
    pub(super) private: Vec<String>,
    pub(super) title: &'a str,
}

impl Attributes<'_> {
    pub(super) fn list(&self) -> Vec<(&'static str, String)> {
        let hosts: Vec<_> = self.host.iter().map(Origin::to_string).collect();
        let mut list = vec![("data-host", hosts.join(" "))];
        list.extend(self.porch.map(|names| ("data-porch", names.porch_url())));
        list.push(("data-allow", self.allow.clone()));
        list.push(("data-sandbox", SandboxTokens::ALL.to_string()));
        list.push(("data-limit", self.relay.message.to_string()));
        list.push(("data-rate", self.relay.rate.to_string()));
        list.push(("data-pace", self.relay.pace.to_string()));
        list.push(("data-bytes", self.relay.bytes.to_string()));
        if !self.private.is_empty() {
            list.push(("data-private", self.private.join(" ")));
        }
        list
    }
}

/// A page that is ready to be served.
#[derive(Debug)]
pub(super) struct ServedPage {
    headers: HeaderMap,
    body: Bytes,
    clears: AtomicBool,
    withheld: AtomicBool,
    reports: Option<Sink>,
}

impl ServedPage {
    pub(super) fn new(csp: &Csp, permissions: &str, body: Bytes) -> Self {
        let mut headers = HeaderMap::with_capacity(16);
        headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/html; charset=utf-8"));
        headers.insert(CONTENT_LENGTH, HeaderValue::from(body.len()));
        headers.insert(CONTENT_SECURITY_POLICY, printed(&csp.to_string()));
        headers.insert(PERMISSIONS_POLICY, printed(permissions));
        headers.extend(common());
        let (clears, withheld) = (AtomicBool::new(false), AtomicBool::new(false));
        Self { headers, body, clears, withheld, reports: None }
    }

    /// Takes reports of what its policy blocked.
    pub(super) fn reporting(self, to: Option<Reports>) -> Self {
        Self { reports: to.map(Sink::new), ..self }
    }

    /// Where such reports go, if they are wanted.
    pub(super) fn reports(&self) -> Option<&Sink> {
        self.reports.as_ref()
    }

    /// Has the first answer clear what was stored under the same origin before.
    pub(super) fn clearing_once(self) -> Self {
        Self { clears: AtomicBool::new(true), ..self }
    }

    /// Whether the next answer clears.
    pub(super) fn clears(&self) -> bool {
        self.clears.load(Ordering::Relaxed)
    }

    /// Answers as if it were not there, until it is revealed.
    pub(super) fn withheld(self) -> Self {
        Self { withheld: AtomicBool::new(true), ..self }
    }

    /// Whether it answers as if it were not there.
    pub(super) fn is_withheld(&self) -> bool {
        self.withheld.load(Ordering::Acquire)
    }

    /// Serves it from now on.
    pub(super) fn reveal(&self) {
        self.withheld.store(false, Ordering::Release);
    }

    /// Leaves it to the browser whether a frame and the one it stands in, two origins of one site, get a
    /// process each. Agents are still each origin's own where that is the browser's default, and in a
    /// frame with a `sandbox` attribute there is no `document.domain`.
    pub(super) fn sharing_a_process(mut self) -> Self {
        self.headers.remove(ORIGIN_AGENT_CLUSTER);
        self
    }

    /// The body, which is shared and not copied.
    pub(super) fn body(&self) -> Bytes {
        self.body.clone()
    }

    /// The headers of the next answer.
    pub(super) fn headers(&self) -> HeaderMap {
        let mut headers = self.headers.clone();
        if self.clears.swap(false, Ordering::Relaxed) {
            headers.insert(CLEAR_SITE_DATA, HeaderValue::from_static("\"cookies\", \"storage\""));
        }
        headers
    }
}

/// The headers of every answer, a refusal included.
pub(super) fn common() -> [(HeaderName, HeaderValue); 7] {
    [
        (CACHE_CONTROL, "no-store"),
        (REFERRER_POLICY, "no-referrer"),
        (X_CONTENT_TYPE_OPTIONS, "nosniff"),
        // Looking a name up tells its owner something, and no policy covers it.
        (X_DNS_PREFETCH_CONTROL, "off"),
        (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
        // For whoever opens the address by itself: the window that did so stays out of reach.
        (HeaderName::from_static("cross-origin-opener-policy"), "same-origin"),
        // Each origin in an agent of its own: no document.domain, and a process where possible.
        (ORIGIN_AGENT_CLUSTER, "?1"),
    ]
    .map(|(name, value)| (name, HeaderValue::from_static(value)))
}

fn printed(text: &str) -> HeaderValue {
    HeaderValue::from_str(text).expect("policies are printed from parsed values, in ASCII")
}

fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '&' => escaped.push_str("&amp;"),
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '"' => escaped.push_str("&quot;"),
            '\'' => escaped.push_str("&#39;"),
            '\0' => {}
            other => escaped.push(other),
        }
    }
    escaped
}

/// What ends an inline script, begins a comment in it, or is not hashed as it was written.
const ENDING: [&str; 4] = ["</script", "<!--", "\r", "\0"];

const PERMISSIONS_POLICY: HeaderName = HeaderName::from_static("permissions-policy");
const ORIGIN_AGENT_CLUSTER: HeaderName = HeaderName::from_static("origin-agent-cluster");
const CLEAR_SITE_DATA: HeaderName = HeaderName::from_static("clear-site-data");
