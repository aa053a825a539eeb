//! Findings while they are collected: one of each, counted, and put into order at the end.

use std::cmp::Reverse;
use std::mem::discriminant;

use transom::csp::{Declaration, Grant, List, Source};
use transom::violation::Quoted;
use url::Url;

use super::address::{self, Target};
use super::{Scan, ScanFinding, Severity, Spot, Use, UsedOrigin, What};

/// What was found so far.
pub(super) struct Report<'a> {
    declaration: Option<&'a Declaration>,
    base: Option<Url>,
    scan: Scan,
    used: Vec<(List, Source)>,
    addresses: usize,
}

impl<'a> Report<'a> {
    pub(super) fn new(declaration: Option<&'a Declaration>) -> Self {
        Self { declaration, base: None, scan: Scan::default(), used: Vec::new(), addresses: 0 }
    }

    /// Resolves an address, and takes note of the origin it leads to.
    pub(super) fn address(&mut self, text: &str, purpose: Use, at: usize, within: &'static str) {
        if !self.has_room() {
            return;
        }
        match address::resolve(text, self.base.as_ref()) {
            Target::Own => {}
            Target::Other(url) => self.uses(&url, purpose, at, within),
            Target::Script(script) => super::script::look_at_attribute(&script, at, within, self),
        }
    }

    /// Takes note of an origin, and of it not being declared.
    pub(super) fn uses(&mut self, url: &Url, purpose: Use, at: usize, within: &'static str) {
        let origin = address::origin(url);
        if self.scan.origins.iter().any(|used| used.origin == origin && used.purpose == purpose) {
            return;
        }
        self.mark(url, purpose);
        let declared = address::is_declared(url, purpose, self.declaration);
        if !declared && let Some((severity, what, words)) = undeclared(purpose, &origin) {
            self.find(severity, what, at, within, words);
        }
        if self.scan.origins.len() < MAX_ORIGINS {
            let place = Spot { line: 0, offset: at, within };
            self.scan.origins.push(UsedOrigin { origin, purpose, declared, place });
        }
    }

    /// Counts an address; tells whether it may still be looked at.
    pub(super) fn has_room(&mut self) -> bool {
        self.addresses += 1;
        self.addresses <= MAX_ADDRESSES
    }

    /// Takes the first base that leads elsewhere; later ones do not count, in a browser either.
    pub(super) fn base(&mut self, text: &str, at: usize, within: &'static str) {
        let Target::Other(url) = address::resolve(text, None) else { return };
        self.uses(&url, Use::Base, at, within);
        self.base.get_or_insert(url);
    }

    pub(super) fn find(
        &mut self,
        severity: Severity,
        what: What,
        offset: usize,
        within: &'static str,
        words: String,
    ) {
        let of_a_kind = |finding: &&ScanFinding| discriminant(&finding.what) == discriminant(&what);
        let known = |finding: &ScanFinding| finding.what == what && finding.words == words;
        if self.scan.findings.iter().any(known)
            || self.scan.findings.iter().filter(of_a_kind).count() >= MAX_OF_A_KIND
        {
            self.scan.omitted += 1;
            return;
        }
        let place = Spot { line: 0, offset, within };
        self.scan.findings.push(ScanFinding { severity, what, place, words });
    }

    pub(super) fn needs(&mut self, grant: Grant, at: usize, within: &'static str) {
        let words = match grant {
            Grant::Blob => {
                "runs a script or a worker from a blob: address; it works once \"blob:\" is granted"
            }
            Grant::Data => "runs a script from a data: address; it works once \"data:\" is granted",
            Grant::Wasm => "uses WebAssembly; it works once \"wasm\" is granted",
            // What else can be granted shows when the view runs.
            _ => return,
        };
        self.find(Severity::Note, What::NeedsGrant(grant), at, within, words.to_owned());
    }

    pub(super) fn unread(&mut self, at: usize, reason: &str) {
        let words = format!("could not be looked at to its end: {}", Quoted::new(reason));
        self.find(Severity::Warning, What::Unread, at, "document", words);
    }

    pub(super) fn finish(mut self, html: &str) -> Scan {
        self.unused();
        self.scan.omitted += self.addresses.saturating_sub(MAX_ADDRESSES);
        let mut places: Vec<&mut Spot> =
            self.scan.findings.iter_mut().map(|f| &mut f.place).collect();
        places.extend(self.scan.origins.iter_mut().map(|used| &mut used.place));
        number(places, html);
        self.scan.findings.sort_by_key(|f| (Reverse(f.severity), f.place.offset));
        self.scan
    }

    fn mark(&mut self, url: &Url, purpose: Use) {
        let Some(declaration) = self.declaration else { return };
        for list in address::lists(purpose) {
            for source in declaration.list(*list).iter().filter(|s| s.covers(url)) {
                let entry = (*list, source.clone());
                if !self.used.contains(&entry) {
                    self.used.push(entry);
                }
            }
        }
    }

    /// More than it needs is worth a question: what is declared is open to every line of it.
    fn unused(&mut self) {
        let Some(declaration) = self.declaration else { return };
        for list in List::ALL {
            for source in declaration.list(list) {
                if self.used.iter().any(|(known, used)| *known == list && used == source) {
                    continue;
                }
                let words = format!("declares {source} in {}, and does not name it", list.name());
                self.find(Severity::Note, What::UnusedDeclaration(list), 0, "declaration", words);
            }
        }
    }
}

fn undeclared(purpose: Use, origin: &str) -> Option<(Severity, What, String)> {
    use Severity::*;
    let blocked = |verb| {
        let words = format!("{verb} {origin}, which is not declared; the browser blocks it");
        Some((Warning, What::UndeclaredOrigin, words))
    };
    match purpose {
        Use::Script => blocked("loads a script from"),
        Use::Style => blocked("has styles that load from"),
        Use::Image => blocked("shows an image from"),
        Use::Font => blocked("loads a font from"),
        Use::Media => blocked("plays sound or video from"),
        Use::Connect => blocked("connects to"),
        Use::Frame => blocked("frames"),
        Use::Base => {
            let words = format!("resolves its addresses against {origin}, which is not declared");
            Some((Danger, What::BaseHref, words))
        }
        Use::Form => {
            let words = format!("has a form that posts to {origin}; the browser blocks it");
            Some((Danger, What::Form, words))
        }
        Use::Navigation => {
            let words = format!("goes to {origin} by itself; the browser blocks it");
            Some((Danger, What::Refresh, words))
        }
        Use::Hint => {
            let words =
                format!("connects to {origin} ahead of time, which no policy covers everywhere");
            Some((Warning, What::ConnectionHint, words))
        }
        // Libraries name dozens: their own homes, standards, examples. No reader could act on such a list.
        Use::Mention => None,
    }
}

/// Fills in the lines of all places in one pass.
fn number(mut places: Vec<&mut Spot>, html: &str) {
    places.sort_by_key(|place| place.offset);
    let (mut line, mut from) = (1, 0);
    for place in places {
        let to = place.offset.min(html.len());
        line += html.as_bytes()[from..to].iter().filter(|byte| **byte == b'\n').count();
        from = to;
        place.line = line;
    }
}

/// The most origins that are listed.
const MAX_ORIGINS: usize = 256;

/// The most addresses that are compared with the declaration.
const MAX_ADDRESSES: usize = 20_000;

/// The most findings of one kind that are kept; the rest are counted.
const MAX_OF_A_KIND: usize = 16;
