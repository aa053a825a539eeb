//! The walk: one step after the other, to the first that is broken.

use serde::Serialize;
use serde_json::Value;
use transom::wire::{EXTENSION, MIME};
use transom_host::Standing;

use super::{
    diagnosis::{self, Diagnosis},
    evidence::Evidence,
};

/// How far it came.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    pub(super) server: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) tool: Option<String>,
    pub(super) steps: Vec<Step>,
    /// What else was noticed, which broke nothing.
    pub(super) notes: Vec<String>,
}

/// One step.
#[derive(Debug, Serialize)]
pub(super) struct Step {
    pub(super) name: &'static str,
    pub(super) state: State,
    /// What was seen.
    pub(super) words: String,
    #[serde(flatten, skip_serializing_if = "Option::is_none")]
    pub(super) diagnosis: Option<Diagnosis>,
}

/// How it went.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum State {
    Ok,
    Broken,
    NotReached,
}

impl Report {
    /// The step that broke.
    pub(super) fn broken(&self) -> Option<&Step> {
        self.steps.iter().find(|step| step.state == State::Broken)
    }
}

/// Goes through the steps; nothing is said of those behind a broken one.
pub(super) fn walk(evidence: &Evidence) -> Report {
    let mut steps: Vec<Step> = vec![];
    for (name, look) in STEPS {
        let broken = steps.iter().any(|step| step.state == State::Broken);
        let seen = if broken { None } else { Some(look(evidence)) };
        let (state, words) = match seen {
            None => (State::NotReached, String::new()),
            Some(Ok(words)) => (State::Ok, words),
            Some(Err(words)) => (State::Broken, words),
        };
        let diagnosis = (state == State::Broken).then(|| diagnosis::of(name, evidence));
        steps.push(Step { name, state, words, diagnosis });
    }
    let tool = evidence.tool.as_ref().map(|(name, _)| name.clone());
    Report { server: evidence.server.clone(), tool, steps, notes: notes(evidence) }
}

type Look = fn(&Evidence) -> Result<String, String>;

const STEPS: [(&str, Look); 14] = [
    ("connect", connect),
    ("list", list),
    ("link", link),
    ("read", read),
    ("mime", mime),
    ("policy", policy),
    ("sandbox", sandbox),
    ("document", document),
    ("initialize", initialize),
    ("initialized", initialized),
    ("input", input),
    ("result", result),
    ("paint", paint),
    ("size", size),
];

fn connect(evidence: &Evidence) -> Result<String, String> {
    let state = &evidence.state;
    if state.state != Standing::Ready {
        return Err(state.words.clone());
    }
    let mut answers = evidence.answers("initialize").chain(evidence.answers("server/discover"));
    let offers =
        |answer: &Value| !answer["result"]["capabilities"]["extensions"][EXTENSION].is_null();
    let advertised = answers.any(offers);
    Ok(if advertised {
        "and it says that it has views"
    } else {
        "it does not say that it has views, and need not"
    }
    .to_owned())
}

fn list(evidence: &Evidence) -> Result<String, String> {
    match evidence.tools.len() {
        0 => Err("the server lists no tools".to_owned()),
        count => Ok(format!("{count} tools")),
    }
}

fn link(evidence: &Evidence) -> Result<String, String> {
    match &evidence.tool {
        None => Err("no tool says which view it has (_meta.ui.resourceUri)".to_owned()),
        Some((tool, None)) => Err(format!("the tool {tool} links to no view")),
        Some((_, Some(uri))) if !uri.starts_with("ui://") => {
            Err(format!("its address is {uri}, not ui://…"))
        }
        Some((tool, Some(uri))) => Ok(format!("{tool} shows {uri}")),
    }
}

fn read(evidence: &Evidence) -> Result<String, String> {
    if let Some(content) = evidence.document() {
        let size = content["text"]
            .as_str()
            .map_or(0, str::len)
            .max(content["blob"].as_str().map_or(0, str::len));
        return if size > 0 {
            Ok(format!("{size} bytes"))
        } else {
            Err("its document is empty".to_owned())
        };
    }
    let refused =
        evidence.answers("resources/read").find_map(|answer| answer["error"]["message"].as_str());
    Err(match refused {
        Some(words) => format!("the server refuses resources/read: {words}"),
        None => "the answer to resources/read has no content with this address".to_owned(),
    })
}

fn mime(evidence: &Evidence) -> Result<String, String> {
    let content = evidence.document().ok_or("there is no document")?;
    match content["mimeType"].as_str() {
        Some(MIME) => Ok(MIME.to_owned()),
        Some(other) => Err(format!("it is {other}, not {MIME}")),
        None => Err(format!("it has no mimeType; it has to be {MIME}")),
    }
}

fn policy(evidence: &Evidence) -> Result<String, String> {
    match evidence.has_event("opened") {
        true => Ok("it has its policy and its frame".to_owned()),
        false => Err("the host could not mount the document".to_owned()),
    }
}

fn sandbox(evidence: &Evidence) -> Result<String, String> {
    match evidence.frame.is_some() || evidence.said("ui/initialize") {
        true => Ok("its frames are there".to_owned()),
        false => Err("the browser did not load the frames of the sandbox".to_owned()),
    }
}

fn document(evidence: &Evidence) -> Result<String, String> {
    let frame = evidence.frame.as_ref();
    match frame.and_then(|frame| frame["state"].as_str()) {
        None if evidence.said("ui/initialize") => Ok("it runs".to_owned()),
        Some("interactive" | "complete") => Ok("it is loaded".to_owned()),
        _ => Err("the document is not loaded to its end".to_owned()),
    }
}

fn initialize(evidence: &Evidence) -> Result<String, String> {
    match evidence.said("ui/initialize") {
        true => Ok("the view said hello".to_owned()),
        false => Err("the view never said ui/initialize".to_owned()),
    }
}

fn initialized(evidence: &Evidence) -> Result<String, String> {
    match evidence.has_event("ready") {
        true => Ok("the view is ready".to_owned()),
        false => {
            Err("the view was answered and never said ui/notifications/initialized".to_owned())
        }
    }
}

fn input(evidence: &Evidence) -> Result<String, String> {
    match evidence.told("ui/notifications/tool-input") {
        true => Ok("the view was told the arguments of its tool".to_owned()),
        false => Err("the view was not told the arguments of its tool".to_owned()),
    }
}

fn result(evidence: &Evidence) -> Result<String, String> {
    let failed = evidence.answers("tools/call").find(|answer| !answer["error"].is_null());
    match () {
        () if evidence.told("ui/notifications/tool-result") => {
            Ok("the view was told the result".to_owned())
        }
        () if let Some(failed) = failed => Err(format!(
            "the tool failed: {}",
            failed["error"]["message"].as_str().unwrap_or_default()
        )),
        () => Err("the tool has not answered".to_owned()),
    }
}

fn paint(evidence: &Evidence) -> Result<String, String> {
    match evidence.is_painted() {
        true => Ok("there is something to see".to_owned()),
        false => Err("the view shows nothing".to_owned()),
    }
}

/// A view need not say its size: hosts give it one.
fn size(evidence: &Evidence) -> Result<String, String> {
    Ok(match evidence.said("ui/notifications/size-changed") {
        true => "the view says how large it is",
        false => "the view says no size, and gets one from the host",
    }
    .to_owned())
}

fn notes(evidence: &Evidence) -> Vec<String> {
    let told = evidence.blocked.iter().chain(&evidence.errors);
    let mut notes: Vec<String> = told.cloned().collect();
    let refused =
        evidence.events.iter().filter(|(kind, words)| kind == "verdict" && !words.is_empty());
    notes.extend(refused.map(|(_, words)| format!("a request of the view was refused: {words}")));
    notes.dedup();
    notes.truncate(NOTES);
    notes
}

const NOTES: usize = 20;
