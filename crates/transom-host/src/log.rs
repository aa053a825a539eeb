//! What happened, for the person at the page: short lines, newest last, never a payload.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::{Serialize, Serializer};
use tokio::sync::Notify;
use transom::quoted::Quoted;

use crate::words::Words;

/// The lines that the page shows.
#[derive(Debug, Default)]
pub struct Log {
    lines: Mutex<Lines>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Lines {
    last: u64,
    kept: VecDeque<Line>,
}

/// One line.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Entry"))]
#[non_exhaustive]
pub struct Line {
    /// Its number, from 1.
    pub n: u64,
    /// The time of day, UTC.
    pub at: String,
    /// What kind of line.
    pub kind: LineKind,
    /// Who it is about.
    #[cfg_attr(test, ts(as = "String"))]
    pub who: Quoted,
    /// What happened.
    #[cfg_attr(test, ts(as = "String"))]
    pub words: Words,
}

/// What kind of line, for whoever reads or filters the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename_all = "lowercase"))]
#[non_exhaustive]
pub enum LineKind {
    /// A request of a view was allowed.
    Allowed,
    /// A person answered a question.
    Answer,
    /// A person is asked.
    Asked,
    /// The audit cannot be written.
    Audit,
    /// The policy of a view blocked something.
    Blocked,
    /// A tool is called to open its view.
    Call,
    /// A view logged something.
    Console,
    /// Something failed.
    Error,
    /// A person took a decision back.
    Forgotten,
    /// Something came when it counted for nothing any more.
    Late,
    /// A view reached a limit.
    Limit,
    /// A view says something to the conversation or the model.
    Message,
    /// Something of a view was refused.
    Refused,
    /// A decision is remembered for longer.
    Remembered,
    /// A server has answered, or a call to it has failed.
    Result,
    /// A server came, went, or asks for something.
    Server,
    /// A server wrote a line to its standard error.
    Stderr,
    /// There is no view to show, and text in its place.
    Text,
    /// A view began or ended.
    View,
    /// Something that a person should know.
    Warning,
}

impl LineKind {
    /// The word for it, as it stands in the log.
    pub fn word(self) -> &'static str {
        match self {
            Self::Allowed => "allowed",
            Self::Answer => "answer",
            Self::Asked => "asked",
            Self::Audit => "audit",
            Self::Blocked => "blocked",
            Self::Call => "call",
            Self::Console => "console",
            Self::Error => "error",
            Self::Forgotten => "forgotten",
            Self::Late => "late",
            Self::Limit => "limit",
            Self::Message => "message",
            Self::Refused => "refused",
            Self::Remembered => "remembered",
            Self::Result => "result",
            Self::Server => "server",
            Self::Stderr => "stderr",
            Self::Text => "text",
            Self::View => "view",
            Self::Warning => "warning",
        }
    }
}

impl Serialize for LineKind {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.word())
    }
}

impl Log {
    /// Writes a line.
    pub fn write(&self, kind: LineKind, who: &str, words: impl Into<Words>) {
        let (who, words) = (Quoted::long(who, WHO), words.into());
        tracing::info!(kind = kind.word(), who = who.as_str(), "{words}");
        let mut lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.last += 1;
        let line = Line { n: lines.last, at: time_of_day(), kind, who, words };
        lines.kept.push_back(line);
        if lines.kept.len() > KEPT {
            lines.kept.pop_front();
        }
        drop(lines);
        self.news.notify_waiters();
    }

    /// The lines after number `after`; waits a while if there are none yet.
    pub async fn after(&self, after: u64, patience: Duration) -> Vec<Line> {
        let news = self.news.notified();
        let lines = self.read(after);
        if !lines.is_empty() {
            return lines;
        }
        let _ = tokio::time::timeout(patience, news).await;
        self.read(after)
    }

    fn read(&self, after: u64) -> Vec<Line> {
        let lines = self.lines.lock().unwrap_or_else(PoisonError::into_inner);
        lines.kept.iter().filter(|line| line.n > after).cloned().collect()
    }
}

/// The time of day, UTC.
pub(crate) fn time_of_day() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (now.as_secs() % 86_400, now.subsec_millis());
    format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

const KEPT: usize = 2_000;
/// The longest name, in characters: a server's and a tool's.
const WHO: usize = 160;
