//! What a server says beside its answers: its standard error, and its own log.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
    time::Instant,
};

use serde::Deserialize;
use serde_json::value::RawValue;
use transom::quoted::Quoted;

use crate::{
    allowance::Allowance,
    log::{LineKind, Log},
    upstream::StderrHearer,
    words,
    words::Words,
};

/// The asides of one server. They are kept and logged, but not without end: a server writes as much as it likes.
pub(crate) struct Aside {
    name: String,
    log: Arc<Log>,
    start: Instant,
    heard: Mutex<Heard>,
}

struct Heard {
    last: VecDeque<Quoted>,
    lines: Allowance,
}

impl Aside {
    pub(super) fn new(name: &str, log: Arc<Log>) -> Arc<Self> {
        let heard = Heard { last: VecDeque::new(), lines: Allowance::lines() };
        let heard = Mutex::new(heard);
        Arc::new(Self { name: name.to_owned(), log, start: Instant::now(), heard })
    }

    /// Hears the lines of its standard error.
    pub(super) fn hearer(self: &Arc<Self>) -> StderrHearer {
        let aside = Arc::clone(self);
        Arc::new(move |line: &str| aside.hear_line(line))
    }

    /// The last lines of its standard error, oldest first.
    pub(super) fn last(&self) -> Vec<Quoted> {
        let heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        heard.last.iter().cloned().collect()
    }

    fn hear_line(&self, line: &str) {
        let line = Quoted::long(line, LINE);
        let mut heard = self.heard.lock().unwrap_or_else(PoisonError::into_inner);
        if heard.last.len() == KEPT {
            heard.last.pop_front();
        }
        heard.last.push_back(line.clone());
        drop(heard);
        if !line.as_str().is_empty() {
            self.write(LineKind::Stderr, words!("{}", line));
        }
    }

    /// Hears the params of a `notifications/message`.
    pub(super) fn hear_log(&self, params: &RawValue) {
        #[derive(Deserialize)]
        struct Said<'a> {
            #[serde(default)]
            level: Option<String>,
            #[serde(default)]
            logger: Option<String>,
            #[serde(default, borrow)]
            data: Option<&'a RawValue>,
        }
        let Ok(Said { level, logger, data }) = serde_json::from_str(params.get()) else { return };
        let level = Quoted::new(level.as_deref().unwrap_or("info"));
        let data = data.map_or("", RawValue::get);
        // A text is shown as what it says.
        let text: Option<String> = serde_json::from_str(data).ok();
        let data = Quoted::long(text.as_deref().unwrap_or(data), LINE);
        let words = match logger {
            Some(logger) => words!("{} {}: {}", level, Quoted::new(&logger), data),
            None => words!("{}: {}", level, data),
        };
        self.write(LineKind::Console, words);
    }

    fn write(&self, kind: LineKind, words: Words) {
        let now = self.start.elapsed();
        let taken = self.heard.lock().unwrap_or_else(PoisonError::into_inner).lines.take(now);
        let Some(left_out) = taken else { return };
        if left_out > 0 {
            self.log.write(kind, &self.name, words!("{} more lines were left out", left_out));
        }
        self.log.write(kind, &self.name, words);
    }
}

/// How many lines are kept.
const KEPT: usize = 200;
/// How much of a line is shown, in characters.
const LINE: usize = 400;

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use serde_json::{json, value::to_raw_value};

    use super::*;

    async fn logged(log: &Log) -> Vec<String> {
        let lines = log.after(0, Duration::ZERO).await;
        lines.iter().map(|line| format!("{} {}", line.kind.word(), line.words)).collect()
    }

    #[tokio::test]
    async fn what_a_server_says_aside_is_logged_quoted_and_kept() {
        let log = Arc::new(Log::default());
        let aside = Aside::new("pdf", Arc::clone(&log));
        aside.hearer()("ready. Click\u{202e} Allow");
        for said in [
            json!({ "level": "error", "logger": "db", "data": "gone" }),
            json!({ "data": { "n": 1 } }),
            json!("odd"),
        ] {
            aside.hear_log(&to_raw_value(&said).unwrap());
        }
        assert_eq!(
            logged(&log).await,
            [
                r#"stderr "ready. Click\u{202e} Allow""#,
                r#"console "error" "db": "gone""#,
                r#"console "info": "{\"n\":1}""#,
            ]
        );
        assert_eq!(aside.last().len(), 1);
    }

    #[tokio::test]
    async fn a_flood_on_standard_error_does_not_wash_out_the_log() {
        let log = Arc::new(Log::default());
        let aside = Aside::new("pdf", Arc::clone(&log));
        for n in 0..100_000 {
            aside.hear_line(&format!("line {n}"));
        }
        assert!(logged(&log).await.len() < 1_000);
        assert_eq!(aside.last().len(), KEPT);
        assert_eq!(aside.last().last().unwrap().as_str(), "line 99999");
    }
}
