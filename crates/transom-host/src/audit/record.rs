//! What is written down, and how it is worded: in the body that something happened, in the detail to
//! what. Neither ever holds an argument, a result or a text of a view; those are named by size and hash. Nor does
//! either hold what an address carries beside its host and path.

use std::{
    borrow::Cow,
    collections::BTreeSet,
    time::{SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
use serde_json::value::RawValue;
use transom::{
    host::{File, FileBody, Ruling, Task, ToolCall, Which},
    policy::{Grantable, Subject},
    printed::Printed,
    quoted::Quoted,
    violation::Over,
};

use super::{
    chain::{Hash, Head},
    details::{Details, about_of, listed, named, short},
};
use crate::{
    address::{plain, plain_subject, plain_violation},
    consent::Choice,
    digest::digest,
    documents::Named,
    place::Place,
    server::Running,
};

/// One thing to write down.
#[derive(Clone, Debug, Default, Serialize)]
pub(crate) struct Record {
    /// Milliseconds since 1970, UTC.
    at: u64,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    server: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    view: Option<String>,
    #[serde(flatten)]
    more: More,
    #[serde(skip)]
    detail: Details,
}

/// What some kinds say beside.
#[derive(Clone, Debug, Default, Serialize)]
struct More {
    #[serde(skip_serializing_if = "Option::is_none")]
    method: Option<&'static str>,
    /// Which call of the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    call: Option<u64>,
    /// Which call of a tool that the view offers.
    #[serde(skip_serializing_if = "Option::is_none")]
    app_call: Option<u64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<u64>,
    /// The verdict, the decision, how it ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    outcome: Option<&'static str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<usize>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    counts: Option<Counts>,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    removed: Option<Removed>,
}

/// Up to where rows were removed, and the hash of the last of them.
#[derive(Clone, Debug, Serialize)]
struct Removed {
    through: u64,
    hash: String,
}

/// What came often in one second, and is not worth a row each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub(crate) struct Counts {
    pub(crate) sizes: u64,
    pub(crate) logs: u64,
    pub(crate) progress: u64,
    /// Messages that were no requests and were refused.
    pub(crate) refused: u64,
    /// Requests that were refused because of a limit, beyond the first one in that second.
    #[serde(skip_serializing_if = "is_none")]
    pub(crate) limited: u64,
}

impl Record {
    /// The program begins to write.
    pub(crate) fn start() -> Self {
        let about = Some(concat!("transom ", env!("CARGO_PKG_VERSION")).to_owned());
        Self { detail: Details { about, ..Details::default() }, ..Self::new("start") }
    }

    /// The program ends in an orderly way.
    pub(crate) fn stop() -> Self {
        Self::new("stop")
    }

    /// Everything up to here was removed, because it was old.
    pub(crate) fn pruned(Head { seq: through, hash }: Head) -> Self {
        let removed = Some(Removed { through, hash: hash.to_string() });
        let more = More { removed, ..More::default() };
        Self { more, ..Self::new("pruned") }
    }

    /// A person opens a view by calling a tool.
    pub(crate) fn opened(tool: &str, arguments: &str) -> Self {
        let more = More { size: Some(arguments.len()), ..More::default() };
        let sha256 = Some(Hash::of(arguments.as_bytes()).to_string());
        let detail = Details { about: Some(short(tool)), sha256, ..Details::default() };
        Self { more, detail, ..Self::new("open") }
    }

    /// A person adds, removes or restarts a server, of this place (D7).
    pub(crate) fn server(kind: &'static str, place: &Place) -> Self {
        let detail = Details { about: Some(short(place.words())), ..Details::default() };
        let sha256 = Some(place.id().to_string());
        Self { detail: Details { sha256, ..detail }, ..Self::new(kind) }
    }

    /// A person asks a server for something themselves.
    pub(crate) fn asked_by_person(method: &'static str, about: &str, place: &Place) -> Self {
        let more = More { method: Some(method), ..More::default() };
        let sha256 = Some(place.id().to_string());
        let about = Some(short(&about_of(Some(method), about)));
        Self { more, detail: Details { about, sha256, ..Details::default() }, ..Self::new("read") }
    }

    /// A person takes the call of that tool back.
    pub(crate) fn cancelled(tool: &str) -> Self {
        let detail = Details { about: Some(short(tool)), ..Details::default() };
        let more = More { method: Some("notifications/cancelled"), ..More::default() };
        Self { more, detail, ..Self::new("cancel") }
    }

    /// It had ended before that was written.
    pub(crate) fn not_cancelled(tool: &str) -> Self {
        let mut record = Self::cancelled(tool);
        record.more.outcome = Some("dropped");
        record
    }

    /// A person may not: the tool is for views alone (H-10).
    pub(crate) fn not_opened(tool: &str) -> Self {
        let more = More { outcome: Some("refused"), ..More::default() };
        let detail = Details { about: Some(short(tool)), ..Details::default() };
        Self { more, detail, ..Self::new("verdict") }
    }

    /// A request waits for a person.
    pub(crate) fn waits(which: &Which, method: &'static str, about: &str, question: u64) -> Self {
        let more = More { method: Some(method), question: Some(question), ..More::of(which) };
        Self { more, detail: Details::of(which, Some(method), about), ..Self::new("waits") }
    }

    /// A person is asked.
    pub(crate) fn asked(question: u64, subject: &Subject) -> Self {
        let more = More { question: Some(question), ..More::default() };
        let about = format!("{:?}", plain_subject(subject));
        let detail = Details { about: Some(short(&about)), ..Details::default() };
        Self { more, detail, ..Self::new("ask") }
    }

    /// A person is asked for the click that the browser wants, for something that is allowed.
    pub(crate) fn click(call: u64, url: Option<&str>) -> Self {
        let more = More { call: Some(call), ..More::default() };
        let about = url.map(|url| short(&plain(url)));
        let detail = Details { about, ..Details::default() };
        Self { more, detail, ..Self::new("ask") }
    }

    /// A person is shown what changed in a document.
    pub(crate) fn shown(document: &Named) -> Self {
        Self { detail: Details::of_document(document), ..Self::new("ask") }
    }

    /// A person decided whether a changed document may run.
    pub(crate) fn reviewed(document: &Named, choice: Choice) -> Self {
        let detail = Details::of_document(document);
        Self { detail, ..Self::decided(None, choice, true) }
    }

    /// A view runs: which document, whether the person is asked before another one does, which private addresses and grants
    /// it has because the person agreed, and the policy in force (H-27).
    pub(crate) fn runs(Running { document, given, policy }: &Running) -> Self {
        let outcome = Some(if document.pinned { "pinned" } else { "unpinned" });
        let more = More { outcome, ..More::default() };
        let some = |words: String| Some(words).filter(|words| !words.is_empty());
        let (reaches, granted) = (some(listed(&given.nearby)), some(named(&given.grants)));
        // Printed by us of parsed values, and bounded by how much a document may declare: it is kept whole.
        let policy = Some(policy.clone());
        let detail = Details { reaches, granted, policy, ..Details::of_document(document) };
        Self { more, detail, ..Self::new("document") }
    }

    /// A person is asked about the private addresses that a document declares.
    pub(crate) fn wants(document: &Named, sources: &BTreeSet<String>) -> Self {
        Self { detail: Details::of_reach(document, sources), ..Self::new("ask") }
    }

    /// A person decided about them.
    pub(crate) fn admitted(document: &Named, sources: &BTreeSet<String>, choice: Choice) -> Self {
        let detail = Details::of_reach(document, sources);
        Self { detail, ..Self::decided(None, choice, true) }
    }

    /// A person is asked whether the views of a server get what was blocked.
    pub(crate) fn wanted(grants: &BTreeSet<Grantable>) -> Self {
        Self { detail: Details::of_grants(grants), ..Self::new("ask") }
    }

    /// A person decided about that.
    pub(crate) fn granted(grants: &BTreeSet<Grantable>, choice: Choice) -> Self {
        let detail = Details::of_grants(grants);
        Self { detail, ..Self::decided(None, choice, true) }
    }

    /// A person clicked, or would not.
    pub(crate) fn clicked(call: u64, choice: Choice) -> Self {
        let mut record = Self::decided(None, choice, true);
        record.more.call = Some(call);
        record
    }

    /// A person decided; `heard` if a call waited for it.
    pub(crate) fn decided(question: Option<u64>, choice: Choice, heard: bool) -> Self {
        let more = More { question, outcome: Some(choice.word()), ..More::default() };
        Self { more, ..Self::new(if heard { "decision" } else { "unheard" }) }
    }

    /// A decision is remembered for later.
    pub(crate) fn remembered(subject: &Subject, yes: bool) -> Self {
        let outcome = Some(if yes { "allow" } else { "deny" });
        let more = More { outcome, ..More::default() };
        Self { more, detail: Details::of_subject(subject), ..Self::new("remember") }
    }

    /// A decision that was remembered is not any more.
    pub(crate) fn forgot(subject: &Subject) -> Self {
        Self { detail: Details::of_subject(subject), ..Self::new("forget") }
    }

    /// Of a server, and of no view.
    #[must_use]
    pub(crate) fn of_server(mut self, server: &str) -> Self {
        self.server = Some(short(server));
        self
    }

    /// A request was judged.
    pub(crate) fn judged(
        which: &Which,
        method: Option<&'static str>,
        about: &str,
        size: usize,
        ruling: &Ruling,
    ) -> Self {
        let (outcome, why) = match ruling {
            Ruling::Allowed => ("allowed", None),
            Ruling::Refused(violation) => ("refused", Some(plain_violation(violation))),
            Ruling::Withdrawn => ("withdrawn", None),
        };
        let (outcome, size) = (Some(outcome), Some(size));
        let more = More { method, outcome, size, ..More::of(which) };
        let detail = Details { why, ..Details::of(which, method, about) };
        Self { more, detail, ..Self::new("verdict") }
    }

    /// Something is about to be done for a view.
    pub(crate) fn effect(call: u64, task: &Task) -> Self {
        let (method, about, sent): (_, Cow<'_, str>, _) = match task {
            Task::CallTool(tool) => ("tools/call", tool.about(), hashed(&tool.shown())),
            Task::Read { method, uri, params } => {
                (*method, uri.as_deref().unwrap_or_default().into(), hashed(params.get()))
            }
            Task::OpenLink { url } => ("ui/open-link", url.into(), hashed(url)),
            Task::Download { files } => {
                let names = files.first().map_or("", |file| &*file.name).into();
                let bodies: Vec<&str> = files.iter().flat_map(parts).collect();
                ("ui/download-file", names, hashed_apart(&bodies))
            }
            Task::AddMessage { content } => ("ui/message", "".into(), hashed(content.get())),
            Task::UpdateModelContext { content, structured } => {
                let structured = structured.as_ref().map_or("", Printed::get);
                ("ui/update-model-context", "".into(), hashed_apart(&[content.get(), structured]))
            }
            Task::Sample { params } => ("sampling/createMessage", "".into(), hashed(params.get())),
            Task::SetDisplayMode(mode) => {
                ("ui/request-display-mode", mode.as_str().into(), (0, None))
            }
            _ => ("", "".into(), (0, None)),
        };
        let (size, sha256) = sent;
        let about = Some(short(&about_of(Some(method), &about)));
        let (method, call, size) = (Some(method), Some(call), Some(size));
        let more = More { method, call, size, ..More::default() };
        let detail = Details { about, sha256, ..Details::default() };
        Self { more, detail, ..Self::new("effect") }
    }

    /// A tool that a view offers is about to be called.
    pub(crate) fn offered(call: u64, name: &Quoted, params: &RawValue) -> Self {
        let (size, sha256) = hashed(params.get());
        let (method, size) = (Some("tools/call"), Some(size));
        let more = More { method, size, app_call: Some(call), ..More::default() };
        let detail = Details { about: Some(short(name.as_str())), sha256, ..Details::default() };
        Self { more, detail, ..Self::new("effect") }
    }

    /// Of a call of a tool that the view offers; those are counted apart.
    #[must_use]
    pub(crate) fn of_offered(mut self) -> Self {
        self.more.app_call = self.more.call.take();
        self
    }

    /// The model wants to call a tool, or is about to, with these arguments.
    pub(crate) fn by_model(tool: &str, arguments: Option<&str>) -> Self {
        let (size, sha256) = arguments.map_or((None, None), |text| {
            let (size, sha256) = hashed(text);
            (Some(size), sha256)
        });
        let more = More { method: Some("tools/call"), size, ..More::default() };
        let detail = Details { about: Some(short(tool)), sha256, ..Details::default() };
        Self { more, detail, ..Self::new(if size.is_some() { "model" } else { "ask" }) }
    }

    /// A tool is about to be called to end what a server keeps for a view that is gone.
    pub(crate) fn released(call: &ToolCall) -> Self {
        let (size, sha256) = hashed(&call.shown());
        let more = More { method: Some("tools/call"), size: Some(size), ..More::default() };
        let detail = Details { about: Some(short(&call.name)), sha256, ..Details::default() };
        Self { more, detail, ..Self::new("release") }
    }

    /// What was about to be done was not: the view or the person had withdrawn it.
    pub(crate) fn dropped(call: u64) -> Self {
        let more = More { call: Some(call), outcome: Some("dropped"), ..More::default() };
        Self { more, ..Self::new("outcome") }
    }

    /// What came of it: the size of a result, or the words of an error.
    pub(crate) fn outcome(call: u64, result: Result<usize, &str>) -> Self {
        let more = More { call: Some(call), ..More::default() };
        let (more, why) = match result {
            Ok(size) => (More { outcome: Some("done"), size: Some(size), ..more }, None),
            Err(words) => (More { outcome: Some("failed"), ..more }, Some(short(words))),
        };
        Self { more, detail: Details { why, ..Details::default() }, ..Self::new("outcome") }
    }

    /// What came often in one second.
    pub(crate) fn counted(counts: Counts) -> Self {
        let more = More { counts: Some(counts), ..More::default() };
        Self { more, ..Self::new("counts") }
    }

    /// A limit was reached by something that is no request.
    pub(crate) fn limited(over: &Over, about: &str) -> Self {
        let more = More { outcome: Some("refused"), ..More::default() };
        let about = Some(short(about)).filter(|about| !about.is_empty());
        let detail = Details { about, why: Some(over.to_string()), ..Details::default() };
        Self { more, detail, ..Self::new("limit") }
    }

    /// A view was made to wait, because it was faster than it may be.
    pub(crate) fn slowed(over: &Over) -> Self {
        let mut record = Self::limited(over, "");
        record.more.outcome = Some("slowed");
        record
    }

    /// A view goes on on another page, because its own is gone.
    pub(crate) fn taken_over() -> Self {
        Self::new("takeover")
    }

    /// A view ended.
    pub(crate) fn closed(why: &'static str) -> Self {
        let more = More { outcome: Some(why), ..More::default() };
        Self { more, ..Self::new("close") }
    }

    /// Of a view.
    #[must_use]
    pub(crate) fn of(mut self, server: &str, view: &str) -> Self {
        self.server = Some(short(server));
        self.view = Some(short(view));
        self
    }

    /// The body and the detail, as JSON texts.
    pub(crate) fn texts(&self) -> (String, String) {
        let text = "strings and numbers are JSON";
        (serde_json::to_string(self).expect(text), serde_json::to_string(&self.detail).expect(text))
    }

    fn new(kind: &'static str) -> Self {
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let at = u64::try_from(now.as_millis()).unwrap_or(u64::MAX);
        Self { at, kind, ..Self::default() }
    }
}

impl More {
    fn of(which: &Which) -> Self {
        match which {
            Which::View { call, .. } => Self { call: *call, ..Self::default() },
            Which::App { call } => Self { app_call: *call, ..Self::default() },
        }
    }
}

fn parts(file: &File) -> [&str; 2] {
    let (FileBody::Text(body) | FileBody::Blob(body) | FileBody::Link(body)) = &file.body;
    [&file.name, body]
}

/// The size of a text, and its hash, as every reader of the log can compute it.
fn hashed(text: &str) -> (usize, Option<String>) {
    (text.len(), Some(Hash::of(text.as_bytes()).to_string()))
}

/// The size of all parts together, and a hash of them that depends on where one ends and the next begins: the end of a
/// file's name must not pass for the beginning of what is in it.
fn hashed_apart(parts: &[&str]) -> (usize, Option<String>) {
    let whole = Hash(digest("transom: parts of an effect", parts));
    (parts.iter().map(|part| part.len()).sum(), Some(whole.to_string()))
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_none(count: &u64) -> bool {
    *count == 0
}
