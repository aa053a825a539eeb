//! What can be seen of a script by its words alone.
//!
//! A script that wants to hide can hide from this. The policy does not care.

use transom::csp::Grant;
use transom::script::{Mark, Script};
use url::Url;

use super::address::front;
use super::report::Report;
use super::{Severity, Use, What};

/// Looks through a script of the document, which begins at `start`.
pub(super) fn look(text: &str, start: usize, within: &'static str, report: &mut Report<'_>) {
    Reader::new(text, start, 1, within).read(report);
}

/// Looks through a script in an attribute of the element at `start`.
pub(super) fn look_at_attribute(
    text: &str,
    start: usize,
    within: &'static str,
    report: &mut Report<'_>,
) {
    // Positions in the text are not positions in the document once references are decoded.
    Reader::new(text, start, 0, within).read(report);
}

struct Reader<'a> {
    script: Script<'a>,
    start: usize,
    /// 1 where positions in the text are positions in the document, else 0.
    moving: usize,
    within: &'static str,
    /// Everything before this was already read as part of something longer.
    seen_to: usize,
    /// Where it starts a worker or imports something.
    runs: Option<usize>,
    /// Whether it makes `blob:` addresses.
    blob: bool,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, start: usize, moving: usize, within: &'static str) -> Self {
        let script = Script::new(text);
        Self { script, start, moving, within, seen_to: 0, runs: None, blob: false }
    }

    fn read(mut self, report: &mut Report<'_>) {
        for (at, mark) in self.script.marks() {
            match mark {
                Mark::Word(word) => self.word(word, at, report),
                Mark::Quote => self.literal(at, Use::Mention, report),
            }
        }
        if let Some(at) = self.runs.filter(|_| self.blob) {
            report.needs(Grant::Blob, self.place(at), self.within);
        }
    }

    fn word(&mut self, word: &str, at: usize, report: &mut Report<'_>) {
        let end = at + word.len();
        match word {
            "eval" | "Function"
                if self.script.is_global(at) && self.follows(end, "(") && !self.is_probe(end) =>
            {
                let words = "makes code out of text; the browser blocks it".to_owned();
                self.find(Severity::Warning, What::Eval, at, words, report);
            }
            "top" | "parent" => self.ancestor(word, at, report),
            "fetch" | "WebSocket" | "EventSource" | "sendBeacon" if self.follows(end, "(") => {
                self.argument(end, Use::Connect, report);
            }
            "import" | "importScripts" | "from" => {
                // `import(url)`: what the name holds is not known here, only whether the script makes such addresses.
                if word == "import" && self.follows(end, "(") && !self.is_quoted(end) {
                    self.runs.get_or_insert(at);
                }
                self.argument(end, Use::Script, report);
            }
            "Worker" | "SharedWorker" if self.follows(end, "(") => {
                self.runs.get_or_insert(at);
                self.argument(end, Use::Script, report);
            }
            "open" if self.follows(end, "(") => self.open(at, end, report),
            "createObjectURL" => self.blob = true,
            "WebAssembly" if self.script.is_global(at) => {
                report.needs(Grant::Wasm, self.place(at), self.within);
            }
            _ => {}
        }
    }

    /// `Function("return this")` and `Function("")`: bundled libraries look for the global object, or whether they
    /// may, where a browser has told them before or the error is caught.
    fn is_probe(&self, end: usize) -> bool {
        let ahead = self.script.behind(end).strip_prefix('(').unwrap_or_default();
        let texts = ["return this", ""];
        let one =
            |quote| texts.iter().any(|text| ahead.starts_with(&format!("{quote}{text}{quote})")));
        ['"', '\'', '`'].into_iter().any(one)
    }

    fn is_quoted(&self, end: usize) -> bool {
        let ahead = self.script.behind(end).strip_prefix('(').unwrap_or_default();
        ahead.trim_ascii_start().starts_with(['"', '\'', '`'])
    }

    /// `top.location = …`, `parent.location = …`, and `window.top` for any other use. Reading an address leads nowhere.
    fn ancestor(&self, word: &str, at: usize, report: &mut Report<'_>) {
        if !self.script.is_global(at) {
            return;
        }
        if self.script.behind(at + word.len()).strip_prefix(".location").is_some_and(goes) {
            let words = "navigates the page around it; the browser blocks it".to_owned();
            self.find(Severity::Danger, What::TopNavigation, at, words, report);
        } else if word == "top" && self.script.is_member(at) {
            let words = "reaches for the outermost page, which is not its host".to_owned();
            self.find(Severity::Note, What::TopNavigation, at, words, report);
        }
    }

    /// `xhr.open("GET", "https://…")`, or a window.
    fn open(&mut self, at: usize, end: usize, report: &mut Report<'_>) {
        if self.is_definition(end) {
            return;
        }
        if !self.script.is_member(at) || self.script.is_global(at) {
            let words = "opens a window; the browser blocks it, use ui/open-link".to_owned();
            return self.find(Severity::Note, What::Popup, at, words, report);
        }
        let ahead = front(&self.script.text()[end..], AHEAD);
        if let Some(comma) = ahead.find(',') {
            self.argument(end + comma, Use::Connect, report);
        }
    }

    /// `open(url) { … }`: a method of the script's own.
    fn is_definition(&self, end: usize) -> bool {
        let ahead = self.script.behind(end);
        let mut depth = 0;
        let close = ahead.find(|c| {
            depth += i32::from(c == '(') - i32::from(c == ')');
            depth == 0
        });
        close.is_some_and(|close| ahead[close + 1..].trim_ascii_start().starts_with('{'))
    }

    /// Reads the text that follows, behind spaces, a bracket or a comma.
    fn argument(&mut self, from: usize, purpose: Use, report: &mut Report<'_>) {
        let ahead = front(&self.script.text()[from..], AHEAD);
        let skipped =
            ahead.len() - ahead.trim_start_matches(['(', ',', ' ', '\n', '\t', '\r']).len();
        if ahead[skipped..].starts_with(['"', '\'', '`']) {
            self.literal(from + skipped, purpose, report);
        }
    }

    fn literal(&mut self, at: usize, purpose: Use, report: &mut Report<'_>) {
        let ahead = front(&self.script.text()[at + 1..], MAX_LITERAL);
        if at < self.seen_to || !SCHEMES.iter().any(|scheme| ahead.starts_with(scheme)) {
            return;
        }
        if ahead.starts_with("data:") {
            return self.data(at, ahead, report);
        }
        let end = ahead.find(['"', '\'', '`', ' ', '\\', '<', '\n']).unwrap_or(ahead.len());
        self.seen_to = at + 1 + end;
        if !report.has_room() {
            return;
        }
        match Url::parse(&ahead[..end]) {
            Ok(url) if url.host_str().is_some_and(|host| is_real(host, purpose)) => {
                report.uses(&url, purpose, self.place(at), self.within);
            }
            _ => {}
        }
    }

    fn data(&self, at: usize, ahead: &str, report: &mut Report<'_>) {
        if ["data:text/javascript", "data:application/javascript"]
            .iter()
            .any(|p| ahead.starts_with(p))
        {
            report.needs(Grant::Data, self.place(at), self.within);
        }
    }

    fn place(&self, at: usize) -> usize {
        self.start + at * self.moving
    }

    fn follows(&self, end: usize, expected: &str) -> bool {
        self.script.behind(end).starts_with(expected)
    }

    fn find(
        &self,
        severity: Severity,
        what: What,
        at: usize,
        words: String,
        report: &mut Report<'_>,
    ) {
        report.find(severity, what, self.place(at), self.within, words);
    }
}

/// Whether what stands behind `location` leads elsewhere: it is set, or one of its parts, or a method is called.
fn goes(behind: &str) -> bool {
    let parts = [".href", ".hash", ".search", ".pathname", ".host", ".hostname"];
    let behind = behind.trim_ascii_start();
    let part = parts.iter().filter_map(|part| behind.strip_prefix(part)).next();
    let target = part.unwrap_or(behind).trim_ascii_start();
    let set = target.starts_with('=') && !target.starts_with("==") && !target.starts_with("=>");
    set || [".assign(", ".replace(", ".reload("].iter().any(|method| behind.starts_with(method))
}

/// The names of XML's vocabularies are addresses that no browser visits; nor is `https://${…}` one.
fn is_real(host: &str, purpose: Use) -> bool {
    host.len() <= transom::origin::MAX_ADDRESS_BYTES
        && !host.contains(['$', '{', '%'])
        && (purpose != Use::Mention || (host != "www.w3.org" && host.contains('.')))
}

const SCHEMES: [&str; 5] = ["https://", "http://", "wss://", "ws://", "data:"];

/// How far ahead an argument is looked for.
const AHEAD: usize = 64;
const MAX_LITERAL: usize = 512;
