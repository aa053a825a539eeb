//! How the call that opens a view gets on, as its server says; and how a person takes it back.

use std::time::Duration;

use serde_json::{Value, value::RawValue};
use tokio::sync::oneshot;
use transom::violation::Quoted;

use super::{LINE, common::Common, ledger::Held, outcomes::millis, seat::Seat};
use crate::{
    audit::Record,
    envelope::{Progress, ToPage},
    fallback,
    log::LineKind,
    runs::How,
    upstream::{CallError, Outcome},
    words,
    words::Words,
};

/// A call that runs for a person.
pub(super) struct Calling {
    stop: oneshot::Sender<Quoted>,
    since: Duration,
    /// What the person was last told of how it gets on.
    told: Option<Progress>,
    /// When that was last a line of the log.
    logged: Option<Duration>,
    /// Whether they have taken it back, which is not written down yet.
    unwanted: bool,
}

impl Calling {
    pub(super) fn new(stop: oneshot::Sender<Quoted>, since: Duration) -> Self {
        Self { stop, since, told: None, logged: None, unwanted: false }
    }

    /// Ends it. Its server is told why.
    pub(super) fn stop(self, reason: &'static str) {
        let _ = self.stop.send(reason.into());
    }
}

impl Seat {
    /// The call takes a while, or its server says how it gets on.
    pub(super) fn progressing(&mut self, common: &mut Common, params: Option<&RawValue>) {
        let now = common.now();
        if params.is_some() {
            self.count(common, |counts| counts.progress += 1);
        }
        let (name, full) = (self.name(), self.stream.queued() > ROOM);
        let Some(calling) = &mut self.call else { return };
        let progress = params.map_or_else(at_first, read);
        let is_due = |logged: Duration| logged + SECOND <= now;
        if params.is_some() && calling.logged.is_none_or(is_due) {
            calling.logged = Some(now);
            common.log.write(LineKind::Call, &name, progress.text.clone());
        }
        calling.told = Some(progress);
        // A page that does not listen is told the newest when it does.
        if !full {
            self.tell_progress(common);
            self.flush(common);
        }
    }

    /// Tells the page how the call gets on, if there is anything to tell.
    pub(super) fn tell_progress(&mut self, common: &Common) {
        if let Some(told) = self.call.as_ref().and_then(|calling| calling.told.clone()) {
            self.say(common, &ToPage::Progress(told));
        }
    }

    /// The tool that opened the view answered. An answer to a call that was taken back changes nothing.
    pub(super) fn tool_answered(&mut self, common: &mut Common, outcome: Outcome) {
        let Some(calling) = self.call.take() else {
            let words = "an answer to a call that was cancelled; ignored";
            return common.log.write(LineKind::Late, &self.name(), words);
        };
        let took = common.now().saturating_sub(calling.since);
        self.count_outcome(&outcome, took);
        let took = millis(took);
        match &outcome {
            Ok(result) => common.runs.end(&self.run(), took, How::Answered, Ok(result)),
            Err(error) => common.runs.end(&self.run(), took, How::Failed, Err(why(error))),
        }
        let (text, words) = match &outcome {
            Ok(result) => {
                let text = fallback::text_of(result);
                let words = words!("answered in {} ms: {}", took, Quoted::long(&text, LINE));
                (text, words)
            }
            Err(error) => {
                let why = why(error);
                (format!("The tool failed: {why}."), words!("failed after {} ms: {}", took, why))
            }
        };
        common.log.write(LineKind::Result, &self.name(), words);
        self.text = Some(text);
        self.settle_call(common, &calling, "");
        self.called(common, outcome);
    }

    /// A person does not want the call any more. That counts when it is written down.
    pub(super) fn cancel(&mut self, common: &mut Common) {
        let Some(calling) = &mut self.call else {
            let words = "cancelled, but the call has ended; ignored";
            return common.log.write(LineKind::Late, &self.name(), words);
        };
        if !std::mem::replace(&mut calling.unwanted, true) {
            self.hold(common, Held::Cancel(self.tool.clone()));
        }
    }

    /// It is written down: the server is told, and what it still answers is dropped.
    pub(super) fn cancel_written(&mut self, common: &mut Common) {
        let Some(calling) = self.call.take() else {
            let tool = self.tool.clone();
            self.note(common, || Record::not_cancelled(&tool));
            return;
        };
        let took = millis(common.now().saturating_sub(calling.since));
        common.runs.end(&self.run(), took, How::Cancelled, Err(CANCELLED.into()));
        let words = words!("cancelled by you after {} ms; the server was told", took);
        common.log.write(LineKind::Result, &self.name(), words);
        self.text = Some(CANCELLED.to_owned());
        self.settle_call(common, &calling, CANCELLED);
        calling.stop(REASON);
        self.called(common, Err(CallError::Cancelled));
    }

    /// It cannot be written down, so the call goes on.
    pub(super) fn not_cancelled(&mut self, common: &mut Common, why: &'static str) {
        if let Some(calling) = &mut self.call {
            calling.unwanted = false;
            self.say(
                common,
                &ToPage::Note { text: words!("The call was not cancelled: {}.", why) },
            );
            self.tell_progress(common);
            self.flush(common);
        }
    }

    /// Tells the page that the call has ended, if it was told that it runs.
    fn settle_call(&mut self, common: &Common, calling: &Calling, text: &'static str) {
        if calling.told.is_some() {
            self.say(common, &ToPage::Settled { text: text.into() });
        }
    }
}

/// What is told of a call whose server has said nothing.
fn at_first() -> Progress {
    Progress { text: "The tool is running.".into(), part: None }
}

/// What a server says of how a call gets on. It may be anything.
fn read(params: &RawValue) -> Progress {
    let said: Value = serde_json::from_str(params.get()).unwrap_or_default();
    let number = |key| said.get(key).and_then(Value::as_f64).filter(|number| *number >= 0.0);
    let (done, total) = (number("progress"), number("total").filter(|total| *total > 0.0));
    let part = done.zip(total).map(|(done, total)| (done / total).clamp(0.0, 1.0));
    let how_far = match (done, total) {
        (Some(done), Some(total)) => format!("{} of {}", shown(done), shown(total)),
        (Some(done), None) => format!("{} so far", shown(done)),
        (None, _) => "at work".to_owned(),
    };
    let how_far = Words::ours(&how_far);
    let text = match said.get("message").and_then(Value::as_str) {
        Some(message) => {
            words!("The tool is running: {}, {}", how_far, Quoted::long(message, MESSAGE))
        }
        None => words!("The tool is running: {}", how_far),
    };
    Progress { text, part: part.filter(|part| part.is_finite()) }
}

/// A number as people write it.
fn shown(number: f64) -> String {
    let cents = format!("{number:.2}");
    let plain = cents.trim_end_matches('0').trim_end_matches('.').to_owned();
    // A number that no person would read.
    if plain.len() > DIGITS { format!("{number:e}") } else { plain }
}

/// Why a call failed; where a setting decided that, which.
fn why(error: &CallError) -> Words {
    match error {
        CallError::Timeout => {
            words!(
                "{}; how long a call may take is in [limits.time] of transom.toml",
                Words::of(error)
            )
        }
        error => Words::of(error),
    }
}

const CANCELLED: &str =
    "You cancelled the call. Its server was told, but what it did before that is done.";
/// What the server is told.
const REASON: &str = "the person cancelled the call";
/// How much may wait for the page before it is told no more of progress, in bytes.
const ROOM: usize = 64 << 10;
/// How much of a server's message is shown, in characters.
const MESSAGE: usize = 200;
/// The longest number.
const DIGITS: usize = 15;
const SECOND: Duration = Duration::from_secs(1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whatever_a_server_says_is_one_short_line_and_at_most_all_of_it() {
        let long = format!(r#"{{"progress":1,"message":"{}\nb"}}"#, "a".repeat(1_000));
        #[rustfmt::skip]
        let table = [
            (r#"{"progress":3,"total":10}"#,                   "3 of 10",            Some(0.3)),
            (r#"{"progress":0.5,"total":1,"message":"half"}"#, r#"0.5 of 1, "half""#, Some(0.5)),
            (r#"{"progress":12}"#,                             "12 so far",          None),
            (r#"{"progress":12,"total":0}"#,                   "12 so far",          None),
            (r#"{"progress":12,"total":4}"#,                   "12 of 4",            Some(1.0)),
            (r#"{"progress":-1,"total":4}"#,                   "at work",            None),
            (r#"{"progress":1e300,"total":1e-300}"#,           "1e300 of 0",         Some(1.0)),
            (r#"{"progress":"3","total":[],"message":7}"#,     "at work",            None),
            (r#"{"message":"say \"so\"\u202e"}"#,             r#"at work, "say \"so\"\u{202e}""#, None),
            ("[]",                                             "at work",            None),
        ];
        for (params, words, part) in table {
            let params = RawValue::from_string(params.to_owned()).unwrap();
            let progress = read(&params);
            assert_eq!(progress.text, *format!("The tool is running: {words}"), "{params}");
            assert_eq!(progress.part, part, "{params}");
        }
        let progress = read(&RawValue::from_string(long).unwrap());
        assert!(progress.text.as_str().len() < 300 && progress.text.as_str().ends_with("…\""));
    }
}
