//! What people are told of how things went: what a server answered and how long that took, and views that do not get ready.

use std::time::Duration;

use serde::Deserialize;
use transom::{host::Task, violation::Quoted};

use super::{common::Common, seat::Seat};
use crate::{envelope::ToPage, log::LineKind, upstream::Outcome, words, words::Words};

impl Seat {
    /// Remembers what a server is asked for the view, and since when.
    pub(super) fn note_begun(&mut self, common: &Common, call: u64, task: &Task) {
        let now = common.now();
        let what = match task {
            Task::CallTool(tool) => words!("tools/call {}", Quoted::new(&tool.name)),
            Task::Read { method, uri: Some(uri), .. } => words!("{} {}", *method, Quoted::new(uri)),
            Task::Read { method, uri: None, .. } => (*method).into(),
            _ => return,
        };
        if let Some(live) = self.live() {
            live.begun.insert(call, (what, now));
        }
    }

    /// Writes in the log what came of it.
    pub(super) fn log_outcome(&mut self, common: &Common, call: u64, outcome: &Outcome) {
        let begun = self.live().and_then(|live| live.begun.remove(&call));
        let Some((what, since)) = begun else { return };
        let took = common.now().saturating_sub(since);
        self.count_outcome(outcome, took);
        self.tally.called(common.now(), took);
        let took = millis(took);
        self.log_of(common, LineKind::Result, || match outcome {
            Ok(result) if is_error(result.get()) => {
                words!("{}: answered with an error in {} ms", what, took)
            }
            Ok(result) => {
                words!("{}: answered in {} ms, {} bytes", what, took, result.get().len())
            }
            Err(error) => words!("{}: failed after {} ms: {}", what, took, Words::of(error)),
        });
    }

    /// A view has not got ready for a while: the person is told what is known, and it goes on waiting.
    pub(super) fn quiet(&mut self, common: &mut Common, greeted: bool) {
        let Some(live) = self.live() else { return };
        live.quiet = true;
        let hindered = !live.hindered.is_empty();
        let so_far = match greeted {
            true => "it said hello (ui/initialize), but not that it is ready (initialized)",
            false => "it has not said hello (ui/initialize)",
        };
        let why = match hindered {
            true => "What it is kept from is listed here, and may be why.",
            false => "Its script may have failed: the browser's console has its errors.",
        };
        let text = words!("This view has not started yet: {}. {}", so_far, why);
        self.log_of(common, LineKind::Warning, || words!("not ready yet: {}", so_far));
        self.say(common, &ToPage::Quiet { text });
        self.flush(common);
    }

    /// It has got ready after all.
    pub(super) fn no_longer_quiet(&mut self, common: &Common) {
        if self.live().is_some_and(|live| std::mem::take(&mut live.quiet)) {
            self.say(common, &ToPage::Note { text: "".into() });
        }
    }
}

/// In whole milliseconds.
pub(super) fn millis(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

/// Whether a tool says that it failed. A large result is not read for it: a view waits for that.
fn is_error(result: &str) -> bool {
    #[derive(Deserialize)]
    #[serde(rename_all = "camelCase")]
    struct Said {
        #[serde(default)]
        is_error: bool,
    }
    result.len() <= SMALL && serde_json::from_str(result).is_ok_and(|said: Said| said.is_error)
}

/// The largest result that is read for whether it is an error, in bytes.
const SMALL: usize = 16 << 10;
