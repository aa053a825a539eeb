//! What people ran from the page: with which arguments, and what came of it, whole.
//!
//! A card shows the text of an answer and no more; here is all of it, for as long as this process runs and there is room.

use std::{
    collections::VecDeque,
    sync::{Arc, Mutex, PoisonError},
};

use serde::Serialize;
use serde_json::value::RawValue;
use transom::quoted::Quoted;

use crate::{envelope::ViewId, log::time_of_day, words::Words};

/// The runs that are kept, oldest first.
#[derive(Debug, Default)]
pub(crate) struct Runs(Mutex<Kept>);

#[derive(Debug, Default)]
struct Kept {
    last: u64,
    /// How often something changed.
    version: u64,
    runs: VecDeque<Run>,
    bytes: usize,
}

#[derive(Debug)]
struct Run {
    turn: u64,
    shown: ShownRun,
    arguments: Option<Arc<str>>,
    result: Option<Arc<str>>,
}

/// One run as people are shown it.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Run", optional_fields))]
pub(crate) struct ShownRun {
    /// Its number, from 1.
    n: u64,
    /// The view that it opened, or whose place its text took.
    view: String,
    server: String,
    /// The tool's name, to call it by.
    tool: String,
    /// The same as people may read it.
    #[cfg_attr(test, ts(as = "String"))]
    label: Quoted,
    /// The time of day, UTC.
    at: String,
    how: How,
    /// How long it took, in milliseconds, once it has ended.
    #[serde(skip_serializing_if = "Option::is_none")]
    took: Option<u64>,
    /// Why it failed, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    why: Option<Words>,
    /// How large its answer is, in bytes.
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<usize>,
    /// Whether its answer is still here.
    kept: bool,
    /// Whether its arguments are.
    again: bool,
}

/// How a run stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "lowercase")]
pub(crate) enum How {
    Running,
    Answered,
    Failed,
    Cancelled,
}

/// A text of a run, while it is kept.
type Text = Option<Arc<str>>;

/// Whose run.
pub(crate) struct Of<'a> {
    pub(crate) view: &'a ViewId,
    pub(crate) turn: u64,
}

impl Runs {
    /// A tool is called for a person.
    pub(crate) fn begin(&self, of: &Of<'_>, server: &str, tool: &str, arguments: Option<&str>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.last += 1;
        let arguments = arguments.unwrap_or("{}");
        let arguments: Option<Arc<str>> =
            (arguments.len() <= ARGUMENTS).then(|| Arc::from(arguments));
        let shown = ShownRun {
            n: kept.last,
            view: of.view.as_str().to_owned(),
            server: server.to_owned(),
            tool: tool.to_owned(),
            label: Quoted::new(tool),
            at: time_of_day(),
            how: How::Running,
            took: None,
            why: None,
            bytes: None,
            kept: false,
            again: arguments.is_some(),
        };
        kept.bytes += arguments.as_ref().map_or(0, |text| text.len());
        kept.runs.push_back(Run { turn: of.turn, shown, arguments, result: None });
        kept.make_room();
    }

    /// It has ended. What came of a run counts once.
    pub(crate) fn end(&self, of: &Of<'_>, took: u64, how: How, outcome: Result<&RawValue, Words>) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mine = |run: &&mut Run| {
            run.shown.view == of.view.as_str()
                && run.turn == of.turn
                && run.shown.how == How::Running
        };
        let Some(run) = kept.runs.iter_mut().rev().find(mine) else { return };
        (run.shown.how, run.shown.took) = (how, Some(took));
        let mut added = 0;
        match outcome {
            Ok(result) => {
                let text = result.get();
                run.shown.bytes = Some(text.len());
                if text.len() <= RESULT {
                    (run.result, added) = (Some(Arc::from(text)), text.len());
                }
                run.shown.kept = run.result.is_some();
            }
            Err(why) => run.shown.why = Some(why),
        }
        kept.bytes += added;
        kept.make_room();
    }

    /// The runs, newest first, and the number of this state of them; nothing where that is the one that was `seen`.
    pub(crate) fn shown(&self, seen: Option<u64>) -> (u64, Option<Vec<ShownRun>>) {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let all = || kept.runs.iter().rev().map(|run| run.shown.clone()).collect();
        (kept.version, (seen != Some(kept.version)).then(all))
    }

    /// The arguments and the answer of a run, as far as they are kept.
    pub(crate) fn whole(&self, n: u64) -> Option<(Text, Text)> {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let run = kept.runs.iter().find(|run| run.shown.n == n)?;
        Some((run.arguments.clone(), run.result.clone()))
    }
}

impl Kept {
    /// Lets go of the oldest: their answers first, which are large.
    fn make_room(&mut self) {
        self.version += 1;
        while self.runs.len() > RUNS {
            let Some(run) = self.runs.pop_front() else { break };
            let size = |text: Option<Arc<str>>| text.map_or(0, |text| text.len());
            self.bytes -= size(run.arguments) + size(run.result);
        }
        for run in &mut self.runs {
            if self.bytes <= ROOM {
                break;
            }
            if let Some(result) = run.result.take() {
                self.bytes -= result.len();
                run.shown.kept = false;
            }
        }
    }
}

/// How many runs are kept, and how large all of them, one answer and the arguments of one may be, in bytes.
const RUNS: usize = 200;
const ROOM: usize = 64 << 20;
const RESULT: usize = 32 << 20;
const ARGUMENTS: usize = 256 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn of(view: &ViewId) -> Of<'_> {
        Of { view, turn: 1 }
    }

    fn raw(size: usize) -> Box<RawValue> {
        RawValue::from_string(format!("\"{}\"", "x".repeat(size))).unwrap()
    }

    #[test]
    fn a_run_ends_once_and_is_kept_whole() {
        let (runs, view) = (Runs::default(), ViewId::parse("v").unwrap());
        runs.begin(&of(&view), "s", "t", Some(r#"{"a":1e3}"#));
        runs.end(&of(&view), 5, How::Answered, Ok(&raw(3)));
        runs.end(&of(&view), 9, How::Cancelled, Err("late".into()));
        let (version, shown) = runs.shown(None);
        let [run] = &shown.unwrap()[..] else { panic!("one run") };
        assert_eq!(
            (run.how, run.took, run.bytes, run.kept),
            (How::Answered, Some(5), Some(5), true)
        );
        let (arguments, result) = runs.whole(run.n).unwrap();
        assert_eq!((&*arguments.unwrap(), &*result.unwrap()), (r#"{"a":1e3}"#, r#""xxx""#));
        assert!(runs.shown(Some(version)).1.is_none(), "nothing is new");
        assert!(runs.whole(7).is_none());
    }

    #[test]
    fn what_is_kept_has_an_end() {
        let runs = Runs::default();
        for n in 0..RUNS as u64 + 5 {
            let view = ViewId::parse(&format!("v{n}")).unwrap();
            runs.begin(
                &of(&view),
                "s",
                "t",
                Some(&"x".repeat(if n == 250 { ARGUMENTS + 1 } else { 1 })),
            );
            runs.end(&of(&view), 0, How::Answered, Ok(&raw(1 << 20)));
        }
        let (_, shown) = runs.shown(None);
        let shown = shown.unwrap();
        assert_eq!(shown.len(), RUNS);
        assert!(shown[0].kept && !shown[RUNS - 1].kept, "the newest is here, the oldest is not");
        let kept: usize = shown.iter().filter(|run| run.kept).filter_map(|run| run.bytes).sum();
        assert!(kept <= ROOM, "{kept}");
        let view = ViewId::parse("large").unwrap();
        runs.begin(&of(&view), "s", "t", Some(&"x".repeat(ARGUMENTS + 1)));
        runs.end(&of(&view), 0, How::Answered, Ok(&raw(RESULT)));
        let run = &runs.shown(None).1.unwrap()[0];
        assert!(!run.kept && !run.again && run.bytes == Some(RESULT + 2), "said, and not kept");
    }
}
