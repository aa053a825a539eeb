//! What is counted of a view, and what its card shows of it: cheap enough to be counted always, and put into words when asked for.

use std::{
    collections::{HashMap, VecDeque},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
use transom::host::{Limits, Output, Ruling, Usage, Which};

use super::{
    Driver,
    common::Common,
    seat::{Life, Seat},
};
use crate::{
    address::{plain, plain_violation},
    audit::about_of,
    consent,
    documents::{Change, Pin},
    envelope::ViewId,
    server::{DocumentFacts, Prepared},
    timeline::{Kind, Moment, Outcome, Party},
    words::Words,
};

/// What is counted of one view.
#[derive(Debug, Default)]
pub(super) struct Tally {
    opened: Duration,
    mounted: Option<Duration>,
    greeted: Option<Duration>,
    ready: Option<Duration>,
    from_view: Count,
    to_view: Count,
    /// In this second, and in the one before it.
    second: u64,
    now: Count,
    before: Count,
    refused: u64,
    /// The last calls: when they were answered, and how long that took.
    calls: VecDeque<(Duration, Duration)>,
}

/// Messages, and their bytes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Count {
    messages: u64,
    bytes: u64,
}

impl Count {
    fn add(&mut self, bytes: usize) {
        self.messages += 1;
        self.bytes += bytes as u64;
    }
}

impl Tally {
    pub(super) fn new(now: Duration) -> Self {
        Self { opened: now, ..Self::default() }
    }

    fn heard(&mut self, now: Duration, bytes: usize) {
        self.pass(now);
        self.from_view.add(bytes);
        self.now.add(bytes);
    }

    pub(super) fn called(&mut self, now: Duration, took: Duration) {
        self.calls.push_back((now, took));
        if self.calls.len() > CALLS {
            self.calls.pop_front();
        }
    }

    /// What was heard in the last whole second.
    fn rate(&mut self, now: Duration) -> Count {
        self.pass(now);
        self.before
    }

    fn pass(&mut self, now: Duration) {
        let second = now.as_secs();
        if second != self.second {
            let next = second == self.second + 1;
            self.before = if next { self.now } else { Count::default() };
            (self.now, self.second) = (Count::default(), second);
        }
    }
}

/// What the card of a view shows.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ViewFacts", optional_fields))]
pub(crate) struct ViewFacts {
    server: String,
    tool: String,
    /// How it is, in a word.
    life: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    document: Option<DocumentFacts>,
    /// When its document was another one in this run of the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    changed: Option<Changed>,
    /// What happened at its opening: in milliseconds since it began.
    steps: Vec<Step>,
    from_view: Count,
    to_view: Count,
    /// Messages that were refused.
    refused: u64,
    /// Its last calls: when they were answered, and how long that took, in milliseconds since it began to open.
    calls: Vec<(f64, f64)>,
    /// What it was kept from, in words.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    blocked: Vec<Words>,
    limits: Vec<Near>,
}

/// One step of a view's opening.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Step {
    name: &'static str,
    at: f64,
}

/// A limit, and how near the view is to it.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Near {
    name: &'static str,
    used: f64,
    most: f64,
}

/// In what a document differs from the one that was shown before it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Changed {
    /// In milliseconds since 1970, UTC.
    at: u64,
    /// What it was.
    sha256: String,
    /// In words.
    what: Vec<String>,
}

/// The documents that were shown in this run of the host.
#[derive(Debug, Default)]
pub(super) struct Shown(HashMap<(String, String), (Pin, Option<Changed>)>);

impl Shown {
    /// A document is shown.
    fn note(&mut self, prepared: &Prepared) {
        let key = (prepared.server.name().to_owned(), prepared.named().uri);
        if self.0.len() >= DOCUMENTS && !self.0.contains_key(&key) {
            self.0.clear();
        }
        let now = prepared.pinned();
        let entry = self.0.entry(key).or_insert_with(|| (now.clone(), None));
        let before = std::mem::replace(&mut entry.0, now.clone());
        if let Some(change) = Change::between(before, now) {
            let what = change.what.iter().map(ToString::to_string).collect();
            let at = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_millis();
            let sha256 = data_encoding::HEXLOWER.encode(change.before.hash.as_bytes());
            let at = u64::try_from(at).unwrap_or(u64::MAX);
            entry.1 = Some(Changed { at, sha256, what });
        }
    }

    fn changed(&self, prepared: &Prepared) -> Option<Changed> {
        let key = (prepared.server.name().to_owned(), prepared.named().uri);
        self.0.get(&key).and_then(|(_, changed)| changed.clone())
    }
}

impl Seat {
    /// The view said something.
    pub(super) fn note_heard(&mut self, common: &Common, text: &str) {
        self.tally.heard(common.now(), text.len());
        let who = (self.server.as_str(), &self.id);
        common.timeline.message(who, (Party::View, Party::Gate), text);
    }

    /// Something that it said was carried no further; as far as that is known, what.
    pub(super) fn note_dropped(&self, common: &Common, known: Option<&str>) {
        common.timeline.tell(&self.server, &self.id, || Moment {
            words: known.map(|known| crate::timeline::redacted(known).0.into_owned()),
            ..Moment::of(Kind::Dropped)
        });
    }

    /// A call of it goes on to its server under a number.
    pub(super) fn note_step(&mut self, common: &Common, output: &Output) {
        let now = common.now();
        let told = |moment: &dyn Fn() -> Moment| {
            common.timeline.tell(&self.server, &self.id, moment);
        };
        match output {
            Output::Send(text) => {
                self.tally.to_view.add(text.len());
                let who = (self.server.as_str(), &self.id);
                common.timeline.message(who, (Party::Gate, Party::View), text);
            }
            Output::Greeted { .. } | Output::McpUi => self.tally.greeted = Some(now),
            Output::Opened => {
                self.tally.ready = Some(now);
                told(&|| Moment::of(Kind::Ready));
            }
            Output::Closed(reason) => told(&|| Moment {
                words: Some(consent::closed(*reason).to_owned()),
                ..Moment::of(Kind::Closed)
            }),
            Output::Waits { which, method, about, .. } => told(&|| Moment {
                outcome: Some(Outcome::Asked),
                ..verdict(which, Some(method), about.as_str())
            }),
            Output::Judged { which, method, about, ruling, .. } => {
                if matches!(ruling, Ruling::Refused(_)) {
                    self.tally.refused += 1;
                }
                told(&|| {
                    let (outcome, words) = match ruling {
                        Ruling::Allowed => (Outcome::Allowed, None),
                        Ruling::Refused(why) => (Outcome::Refused, Some(plain_violation(why))),
                        Ruling::Withdrawn => (Outcome::Withdrawn, None),
                    };
                    let verdict = verdict(which, *method, about.as_str());
                    Moment { outcome: Some(outcome), words, ..verdict }
                });
            }
            _ => {}
        }
    }

    /// It begins to open.
    pub(super) fn begin_tally(&mut self, common: &Common) {
        self.tally = Tally::new(common.now());
    }

    /// Its document is there, and its frame is told to the page.
    pub(super) fn note_opened(&mut self, common: &mut Common, prepared: &Prepared) {
        self.tally.mounted = Some(common.now());
        common.shown.note(prepared);
        common.timeline.tell(&self.server, &self.id, || {
            let facts = prepared.facts();
            Moment {
                tool: Some(self.tool.clone()),
                uri: Some(plain(&facts.uri)),
                sha256: Some(facts.sha256),
                size: Some(facts.size as u64),
                policy: Some(prepared.running().policy),
                ..Moment::of(Kind::Opened)
            }
        });
    }

    /// Its browser blocked something, in words.
    pub(super) fn note_blocked(&self, common: &Common, words: &Words) {
        common.timeline.tell(&self.server, &self.id, || Moment {
            words: Some(words.as_str().to_owned()),
            ..Moment::of(Kind::Blocked)
        });
    }

    fn facts(&mut self, common: &Common) -> ViewFacts {
        let now = common.now();
        let rate = self.tally.rate(now);
        let queued = self.stream.queued();
        let tally = &self.tally;
        let since = |at: Duration| at.saturating_sub(tally.opened).as_secs_f64() * 1e3;
        let steps = [
            ("its document is there", tally.mounted),
            ("it says hello (ui/initialize)", tally.greeted),
            ("it is ready (initialized)", tally.ready),
        ];
        let steps = steps.into_iter().filter_map(|(name, at)| Some(Step { name, at: since(at?) }));
        let (life, live) = match &self.life {
            Life::Opening => ("opening", None),
            Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => ("waiting", None),
            Life::Live(live) => ("live", Some(live)),
            Life::Text { .. } => ("text", None),
            Life::Ended => ("ended", None),
        };
        let limits = live.map(|live| {
            let usage = Usage { queued, ..live.session.usage() };
            near(live.session.limits(), usage, rate)
        });
        ViewFacts {
            server: self.server.clone(),
            tool: self.tool.clone(),
            life,
            document: live.map(|live| live.prepared.facts()),
            changed: live.and_then(|live| common.shown.changed(&live.prepared)),
            steps: steps.collect(),
            from_view: tally.from_view,
            to_view: tally.to_view,
            refused: tally.refused,
            calls: tally
                .calls
                .iter()
                .map(|(at, took)| (since(*at), took.as_secs_f64() * 1e3))
                .collect(),
            blocked: live.map(|live| live.hindered.lines().to_vec()).unwrap_or_default(),
            limits: limits.unwrap_or_default(),
        }
    }
}

impl Driver {
    /// What is known of a view.
    pub(super) fn describe(&mut self, view: &ViewId) -> Option<Box<ViewFacts>> {
        let (seat, common) = self.seat(view)?;
        Some(Box::new(seat.facts(common)))
    }
}

fn verdict(which: &Which, method: Option<&'static str>, about: &str) -> Moment {
    let (id, call) = match which {
        Which::View { id, call } => (serde_json::to_string(id).ok(), *call),
        Which::App { call } => (None, *call),
    };
    let about = Some(about_of(method, about)).filter(|about| !about.is_empty());
    let method = method.map(str::to_owned);
    Moment { id, call, method, about, ..Moment::of(Kind::Verdict) }
}

fn near(limits: &Limits, usage: Usage, rate: Count) -> Vec<Near> {
    let near = |name, used, most| Near { name, used, most };
    vec![
        near("messages a second", rate.messages as f64, limits.messages.per_second),
        near("bytes a second", rate.bytes as f64, limits.bytes.per_second),
        near("requests in flight", usage.calls as f64, limits.calls as f64),
        near("open questions", usage.questions as f64, limits.questions as f64),
        near("bytes that wait for a person", usage.held as f64, limits.held as f64),
        near("bytes that wait for the page", usage.queued as f64, limits.queued as f64),
    ]
}

/// How many calls of a view are shown.
const CALLS: usize = 120;
/// How many documents are remembered.
const DOCUMENTS: usize = 1_000;
