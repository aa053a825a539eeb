//! What a browser says that it blocked in a guest.
//!
//! The guest can bring any of it about, so a report is worth no more than words: what was blocked is one of a closed
//! list of kinds, an address is quoted, and the worst that a false one does is to offer a person a grant of the closed
//! list. It is bounded for each load of a page: in size, in how many are read, and in how many different ones are heard.

use std::{
    collections::BTreeSet,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use axum::{
    body::{Body, to_bytes},
    http::{HeaderMap, header::CONTENT_TYPE},
};
use serde::Deserialize;
use transom::{csp::Grant, quoted::Quoted};

/// Whoever is told what is blocked in a frame, or fails in it.
#[derive(Clone)]
pub struct Reports(Arc<dyn Fn(Report) + Send + Sync>);

/// What they are told.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Report {
    /// The browser blocked something.
    Blocked(Blocked),
    /// A script of the document failed, or said that something did; its own words.
    Error(Quoted),
}

impl Reports {
    /// Has this called for each different thing that is blocked, and for errors. It must not wait for anything.
    pub fn new(hear: impl Fn(Report) + Send + Sync + 'static) -> Self {
        Self(Arc::new(hear))
    }
}

impl fmt::Debug for Reports {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Reports")
    }
}

/// Something that the policy of a document blocked, as the browser says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Blocked {
    /// What would allow it, if a grant does.
    pub grant: Option<Grant>,
    /// What kind of thing it was.
    pub kind: BlockedKind,
    /// Where it would have come from or gone to, without what an address carries beside its path.
    pub from: Quoted,
    /// Whether that is an address, which a server can declare.
    pub is_address: bool,
}

/// What kind of thing was blocked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum BlockedKind {
    /// A script.
    Script,
    /// A worker.
    Worker,
    /// A style sheet.
    Style,
    /// An image.
    Image,
    /// A font.
    Font,
    /// Sound or video.
    Media,
    /// A request.
    Connect,
    /// A frame.
    Frame,
    /// A base address.
    Base,
    /// A form.
    Form,
    /// Something else.
    Other,
}

impl BlockedKind {
    fn of(directive: &str) -> Self {
        match directive {
            "script-src" | "script-src-elem" | "script-src-attr" => Self::Script,
            "worker-src" => Self::Worker,
            "style-src" | "style-src-elem" | "style-src-attr" => Self::Style,
            "img-src" => Self::Image,
            "font-src" => Self::Font,
            "media-src" => Self::Media,
            "connect-src" => Self::Connect,
            "frame-src" | "child-src" => Self::Frame,
            "base-uri" => Self::Base,
            "form-action" => Self::Form,
            _ => Self::Other,
        }
    }

    /// What the view was kept from, before the address.
    pub fn words(self) -> &'static str {
        match self {
            Self::Script => "load a script from",
            Self::Worker => "start a worker from",
            Self::Style => "load a style sheet from",
            Self::Image => "show an image from",
            Self::Font => "use a font from",
            Self::Media => "play sound or video from",
            Self::Connect => "connect to",
            Self::Frame => "show a frame from",
            Self::Base => "take its base address from",
            Self::Form => "send a form to",
            Self::Other => "use",
        }
    }

    /// The list of a resource's `csp` that would have to name the address.
    pub fn list(self) -> Option<&'static str> {
        match self {
            Self::Connect => Some("connectDomains"),
            Self::Frame => Some("frameDomains"),
            Self::Base => Some("baseUriDomains"),
            Self::Form | Self::Other => None,
            _ => Some("resourceDomains"),
        }
    }
}

impl Blocked {
    /// Reads a report, as browsers send it to a `report-uri`.
    pub fn read(body: &[u8]) -> Option<Self> {
        #[derive(Deserialize)]
        struct Whole {
            #[serde(rename = "csp-report")]
            report: Report,
        }
        #[derive(Deserialize)]
        #[serde(rename_all = "kebab-case")]
        struct Report {
            #[serde(default)]
            effective_directive: String,
            #[serde(default)]
            violated_directive: String,
            #[serde(default)]
            blocked_uri: String,
        }
        let Whole { report } = serde_json::from_slice(body).ok()?;
        let directive = match &*report.effective_directive {
            "" => report.violated_directive.split(' ').next().unwrap_or_default(),
            directive => directive,
        };
        if directive.is_empty() {
            return None;
        }
        // Some say `blob`, some the whole address.
        let local = ["blob", "data"];
        let local = local.into_iter().find(|scheme| {
            report
                .blocked_uri
                .strip_prefix(scheme)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with(':'))
        });
        let blocked = local.unwrap_or(&report.blocked_uri);
        let plain = blocked.split(['?', '#']).next().unwrap_or_default();
        Some(Self {
            grant: Grant::for_blocked(directive, blocked),
            kind: BlockedKind::of(directive),
            from: Quoted::new(plain),
            is_address: plain.contains("://"),
        })
    }

    /// What tells it from others that a person would read as the same.
    fn key(&self) -> (Option<Grant>, BlockedKind, String) {
        let from = match (self.grant, self.is_address) {
            (Some(_), _) => String::new(),
            // Of one site as of one page: a map has hundreds of pictures.
            (None, true) => self.from.as_str().splitn(4, '/').take(3).collect::<Vec<_>>().join("/"),
            (None, false) => self.from.as_str().to_owned(),
        };
        (self.grant, self.kind, from)
    }
}

/// The reports of one load of a frame.
#[derive(Debug)]
pub(super) struct Sink {
    to: Reports,
    heard: Mutex<Heard>,
}

#[derive(Debug, Default)]
struct Heard {
    /// How many were read.
    read: usize,
    different: BTreeSet<(Option<Grant>, BlockedKind, String)>,
    errors: usize,
}

impl Sink {
    pub(super) fn new(to: Reports) -> Self {
        Self { to, heard: Mutex::default() }
    }

    /// Takes a report, unless it is one too many.
    pub(super) async fn take(&self, body: Body) {
        if !self.may_read() {
            return;
        }
        let body = tokio::time::timeout(PATIENCE, to_bytes(body, LARGEST)).await;
        if let Ok(Ok(body)) = body
            && let Some(blocked) = Blocked::read(&body)
        {
            self.hear(blocked);
        }
    }

    fn may_read(&self) -> bool {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.read += 1;
        heard.read <= MOST_READ
    }

    fn hear(&self, blocked: Blocked) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        // What can be granted is of few kinds, and is not crowded out by what cannot.
        let others = heard.different.iter().filter(|(grant, ..)| grant.is_none()).count();
        let room = blocked.grant.is_some() || others < MOST_HEARD;
        let new = room && heard.different.insert(blocked.key());
        drop(heard);
        if new {
            self.to.0(Report::Blocked(blocked));
        }
    }

    /// Takes the words of an error, unless it is one too many.
    pub(super) fn hear_error(&self, words: Quoted) {
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.errors += 1;
        let few = heard.errors <= MOST_ERRORS;
        drop(heard);
        if few {
            self.to.0(Report::Error(words));
        }
    }
}

/// Whether the browser itself sends this. A guest can send anything to its own name, but it cannot say that it is for a
/// report; an old browser says nothing of it.
pub(super) fn is_report(headers: &HeaderMap) -> bool {
    headers.get(CONTENT_TYPE).is_some_and(|kind| kind == "application/csp-report")
        && headers.get_all("sec-fetch-dest").iter().all(|wanted| wanted == "report")
}

/// The largest report that is read, in bytes. It holds the whole policy.
const LARGEST: usize = 64 << 10;
/// How many reports are read, and how many different ones are heard, of one load of a frame.
const MOST_READ: usize = 1_000;
const MOST_HEARD: usize = 24;
/// How many errors are.
const MOST_ERRORS: usize = 50;
/// How long a report may take to arrive.
const PATIENCE: Duration = Duration::from_secs(10);

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn report(directive: &str, blocked: &str) -> Vec<u8> {
        let report =
            json!({ "effective-directive": directive, "blocked-uri": blocked, "line-number": 1 });
        json!({ "csp-report": report }).to_string().into_bytes()
    }

    #[test]
    fn a_report_names_what_would_allow_it_or_where_it_led() {
        #[rustfmt::skip]
        let table = [
            ("script-src",      "eval",                   Some(Grant::Eval),       "eval",                false),
            ("script-src",      "wasm-eval",              Some(Grant::Wasm),       "wasm-eval",           false),
            ("script-src-elem", "blob",                   Some(Grant::Blob),       "blob",                false),
            ("worker-src",      "blob:http://a.test/1-2", Some(Grant::Blob),       "blob",                false),
            ("img-src",         "blob",                   Some(Grant::BlobImages), "blob",                false),
            ("media-src",       "blob",                   Some(Grant::BlobMedia),  "blob",                false),
            ("font-src",        "blob",                   Some(Grant::BlobFonts),  "blob",                false),
            ("font-src",        "data",                   Some(Grant::DataFonts),  "data",                false),
            ("connect-src",     "blob",                   Some(Grant::BlobFetch),  "blob",                false),
            ("frame-src",       "blob",                   None,                    "blob",                false),
            // Nothing opens a domain, whatever it is called.
            ("script-src",      "https://a.test/b?key=1", None,                    "https://a.test/b",    true),
            ("script-src",      "blobs.test",             None,                    "blobs.test",          false),
            ("connect-src",     "eval",                   None,                    "eval",                false),
            ("made-up-src",     "blob",                   None,                    "blob",                false),
        ];
        for (directive, blocked, grant, from, is_address) in table {
            let read = Blocked::read(&report(directive, blocked)).unwrap();
            assert_eq!(
                (read.grant, read.from.as_str(), read.is_address),
                (grant, from, is_address)
            );
        }
        let old = json!({ "csp-report": { "violated-directive": "img-src 'self'", "blocked-uri": "blob" } });
        let read = Blocked::read(old.to_string().as_bytes()).unwrap();
        assert_eq!(read.grant, Some(Grant::BlobImages));
        for no in ["", "[]", "{}", r#"{"csp-report":[]}"#, r#"{"csp-report":{"blocked-uri":7}}"#] {
            assert_eq!(Blocked::read(no.as_bytes()), None, "{no}");
        }
    }

    #[tokio::test]
    async fn a_flood_of_reports_is_a_few_words() {
        let heard = Arc::new(Mutex::new(vec![]));
        let ears = Arc::clone(&heard);
        let sink = Sink::new(Reports::new(move |report| ears.lock().unwrap().push(report)));
        for n in 0..1_000 {
            sink.hear_error(Quoted::new(&format!("error {n}")));
        }
        assert_eq!(std::mem::take(&mut *heard.lock().unwrap()).len(), MOST_ERRORS);
        sink.take(Body::from(vec![b' '; LARGEST + 1])).await;
        for n in 0..100 {
            sink.take(Body::from(report("img-src", &format!("https://{n}.test/")))).await;
        }
        for _ in 0..5_000 {
            sink.take(Body::from(report("script-src", "eval"))).await;
        }
        // Of one site as of one page, and what can be granted is heard however much came before it.
        sink.take(Body::from(report("img-src", "https://0.test/other.png"))).await;
        let heard = heard.lock().unwrap();
        assert_eq!(heard.len(), MOST_HEARD + 1);
        let granted =
            |report: &&Report| matches!(report, Report::Blocked(it) if it.grant.is_some());
        assert_eq!(heard.iter().filter(granted).count(), 1);
    }

    #[test]
    fn a_guest_cannot_say_that_it_is_the_browser_that_reports() {
        #[rustfmt::skip]
        let table = [
            ("application/csp-report", "report",   true),
            ("application/csp-report", "empty",    false),
            ("application/csp-report", "document", false),
            ("application/json",       "report",   false),
        ];
        for (kind, wanted, is) in table {
            let mut headers = HeaderMap::new();
            headers.insert(CONTENT_TYPE, kind.parse().unwrap());
            headers.insert("sec-fetch-dest", wanted.parse().unwrap());
            assert_eq!(is_report(&headers), is, "{kind} {wanted}");
        }
    }
}
