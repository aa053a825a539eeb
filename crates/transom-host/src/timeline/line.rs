//! Moments as lines: what the page is told in batches, and what a trace holds, are the same.

use std::{fmt::Write as _, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest as _, Sha256};

use super::{Kept, Kind, Moment, SHORT, What, redacted};

/// The first line of a trace.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TraceHead"))]
pub(crate) struct Head {
    /// The word `trace`.
    pub(crate) transom: String,
    /// The version of the format.
    pub(crate) version: u32,
    /// What wrote it.
    pub(crate) program: String,
    /// Which run of the host it is of.
    pub(crate) run: String,
    /// When its clock began, in milliseconds since 1970, UTC.
    #[cfg_attr(test, ts(type = "number"))]
    pub(crate) began: u64,
}

impl Head {
    pub(super) fn new(run: String, began: u64) -> Self {
        let program = concat!("transom ", env!("CARGO_PKG_VERSION")).to_owned();
        Self { transom: "trace".to_owned(), version: VERSION, program, run, began }
    }

    /// As a line.
    pub(crate) fn print(&self) -> String {
        let mut line = json(self);
        line.push('\n');
        line
    }
}

/// What the page is told: the head, and a line for each moment, with the beginning of what is long.
pub(crate) fn batch(head: &Head, kept: &[Arc<Kept>]) -> String {
    let mut text = head.print();
    for kept in kept {
        push(&mut text, &moment(kept, SHORT));
    }
    text
}

/// One moment, with all of its message.
pub(crate) fn whole(kept: &Kept) -> String {
    let mut text = String::new();
    push(&mut text, &moment(kept, usize::MAX));
    text
}

/// A whole trace: the head, a line for each moment, and an end by which it is known to be whole.
pub(crate) fn trace(head: &Head, kept: &[Arc<Kept>]) -> String {
    let mut ending = Ending::default();
    let mut text = ending.lines(&head.print()).to_owned();
    for kept in kept {
        let from = text.len();
        push(&mut text, &moment(kept, usize::MAX));
        ending.lines(&text[from..]);
    }
    text.push_str(&ending.print());
    text
}

/// What the last line of a trace says of those before it.
#[derive(Clone, Default)]
pub(super) struct Ending {
    hash: Sha256,
    lines: u64,
}

impl Ending {
    /// Takes a line in, or several.
    pub(super) fn lines<'a>(&mut self, text: &'a str) -> &'a str {
        self.hash.update(text.as_bytes());
        self.lines += memchr::memchr_iter(b'\n', text.as_bytes()).count() as u64;
        text
    }

    /// As a line.
    pub(super) fn print(self) -> String {
        let Self { hash, lines } = self;
        let sha256 = data_encoding::HEXLOWER.encode(&hash.finalize());
        format!("{{\"kind\":\"end\",\"lines\":{lines},\"sha256\":\"{sha256}\"}}\n")
    }
}

/// A moment as it may be read: without secrets, and of a message no more than this.
pub(super) fn moment(kept: &Kept, most: usize) -> Moment {
    let mut moment = match &kept.what {
        What::Told(moment) => Moment::clone(moment),
        What::Message { from, to, text } => {
            let (shown, secrets) = redacted(text);
            let mut moment = Moment {
                from: Some(*from),
                to: Some(*to),
                size: Some(text.len() as u64),
                redacted: Some(secrets).filter(|count| *count > 0),
                cut: shown.len() > most,
                ..Moment::of(Kind::Message)
            };
            if moment.cut {
                let end = (0..=BEGINNING.min(most)).rev().find(|at| shown.is_char_boundary(*at));
                moment.text = Some(shown[..end.unwrap_or(0)].to_owned());
            } else {
                match on_one_line(&shown) {
                    Some(message) => moment.message = Some(message),
                    None => moment.text = Some(shown.into_owned()),
                }
            }
            moment
        }
    };
    (moment.n, moment.at) = (kept.n, kept.at);
    moment.server = kept.server.as_ref().to_owned();
    moment.view = kept.view.as_ref().map(|view| view.as_str().to_owned());
    moment
}

/// A message as it is, if it is JSON that fits on a line.
fn on_one_line(text: &str) -> Option<Box<RawValue>> {
    if memchr::memchr2(b'\n', b'\r', text.as_bytes()).is_some() {
        return None;
    }
    RawValue::from_string(text.to_owned()).ok()
}

fn push(text: &mut String, moment: &Moment) {
    let _ = writeln!(text, "{}", json(moment));
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("strings, numbers and JSON are JSON")
}

/// The version of the format. One that a reader does not know has members or kinds that it does not know.
pub(crate) const VERSION: u32 = 1;
/// How much is shown of a message that is long.
const BEGINNING: usize = 2 << 10;
