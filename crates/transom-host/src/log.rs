//! What happened, for the person at the page: short lines, newest last, never a payload.

use std::{
    collections::VecDeque,
    sync::{Mutex, PoisonError},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use serde::Serialize;
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
pub struct Line {
    /// Its number, from 1.
    pub n: u64,
    /// The time of day, UTC.
    pub at: String,
    /// What kind of line, in one word.
    pub kind: &'static str,
    /// Who it is about.
    #[cfg_attr(test, ts(as = "String"))]
    pub who: Quoted,
    /// What happened.
    #[cfg_attr(test, ts(as = "String"))]
    pub words: Words,
}

impl Log {
    /// Writes a line.
    pub fn write(&self, kind: &'static str, who: &str, words: impl Into<Words>) {
        let (who, words) = (Quoted::long(who, WHO), words.into());
        tracing::info!(kind, who = who.as_str(), "{words}");
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

fn time_of_day() -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    let (seconds, millis) = (now.as_secs() % 86_400, now.subsec_millis());
    format!("{:02}:{:02}:{:02}.{millis:03}", seconds / 3_600, seconds / 60 % 60, seconds % 60)
}

const KEPT: usize = 2_000;
/// The longest name of somebody, in characters: a server's and a tool's.
const WHO: usize = 160;
