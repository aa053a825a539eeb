//! What travels between a page and the host process: what either says about one view, in order and
//! exactly once. The rules and the bytes are in `fixtures/envelope/`.
//!
//! An envelope is written so that a message inside it need not be parsed to be passed on: members in a
//! fixed order, no white space, the payload last.

mod from_page;
mod stream;
mod to_page;

pub use from_page::{
    Answer, Call, Cancel, CloseReason, Container, Did, Facts, FromPage, Open, Piece, Tool, Wanted,
};
pub use stream::{Overrun, Refused, Stream};
pub use to_page::{
    Ask, AskPart, Deed, Ending, FileOffer, Fold, Mount, Obstacles, Progress, ToPage,
};

use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The name of a view: 1 to 64 of `A-Z a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewId(Arc<str>);

/// One envelope about a view, as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Envelope<'a> {
    /// The view.
    pub view: &'a str,
    /// The highest `seq` that its writer has got from us.
    pub ack: u64,
    /// What it says, if it says anything.
    pub said: Option<Said<'a>>,
}

/// What an envelope says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said<'a> {
    /// Its place in the order.
    pub seq: u64,
    /// What kind of thing.
    pub kind: &'a str,
    /// JSON text; unread when it is a message.
    pub payload: &'a str,
}

/// The first text of a page.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Hello {
    /// The version of this envelope.
    pub version: u32,
    /// Proves that the page may speak.
    pub key: String,
    /// Names one load of the page.
    pub page: String,
    /// Names the tab, from one load of the page to the next; views belong to it.
    pub tab: String,
}

/// The answer to it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Welcome {
    /// The version of this envelope.
    pub version: u32,
    /// Whether this load of the page is known, so that both sides go on where they were.
    pub resumed: bool,
    /// The views of this tab, which an earlier load of the page left behind.
    pub views: Vec<String>,
}

/// Not written as the rules say; the socket is closed with [`NOT_AN_ENVELOPE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not an envelope as it must be")]
pub struct NotAnEnvelope;

impl ViewId {
    /// Takes a name if it is one.
    pub fn parse(text: &str) -> Option<Self> {
        is_name(text).then(|| Self(text.into()))
    }

    /// The name.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl std::borrow::Borrow<str> for ViewId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl std::fmt::Display for ViewId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'a> Envelope<'a> {
    /// Reads an envelope about a view.
    pub fn parse(text: &'a str) -> Result<Self, NotAnEnvelope> {
        let rest = text.strip_prefix(r#"{"view":""#).ok_or(NotAnEnvelope)?;
        let (view, rest) = rest.split_once('"').ok_or(NotAnEnvelope)?;
        if !is_name(view) {
            return Err(NotAnEnvelope);
        }
        let (seq, rest) = match rest.strip_prefix(r#","seq":"#) {
            Some(rest) => number(rest).map(|(seq, rest)| (Some(seq), rest))?,
            None => (None, rest),
        };
        let rest = rest.strip_prefix(r#","ack":"#).ok_or(NotAnEnvelope)?;
        let (ack, rest) = number(rest)?;
        let rest = rest.strip_suffix('}').ok_or(NotAnEnvelope)?;
        match (seq, rest) {
            (None, "") => Ok(Self { view, ack, said: None }),
            (Some(seq), rest) => {
                let rest = rest.strip_prefix(r#",""#).ok_or(NotAnEnvelope)?;
                let (kind, payload) = rest.split_once(r#"":"#).ok_or(NotAnEnvelope)?;
                let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                if kind.is_empty() || !kind.bytes().all(word) {
                    return Err(NotAnEnvelope);
                }
                Ok(Self { view, ack, said: Some(Said { seq, kind, payload }) })
            }
            (None, _) => Err(NotAnEnvelope),
        }
    }
}

impl Hello {
    /// Reads the first text of a page.
    pub fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct First {
            hello: Hello,
        }
        serde_json::from_str::<First>(text).ok().map(|first| first.hello)
    }
}

impl Welcome {
    /// The text of it.
    pub fn print(&self) -> String {
        format!(r#"{{"welcome":{}}}"#, json(self))
    }
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// Up to fifteen digits: more would not survive a double.
fn number(text: &str) -> Result<(u64, &str), NotAnEnvelope> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    if !(1..=15).contains(&end) {
        return Err(NotAnEnvelope);
    }
    let (digits, rest) = text.split_at(end);
    digits.parse().map(|number| (number, rest)).map_err(|_| NotAnEnvelope)
}

fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, NotAnEnvelope> {
    serde_json::from_str(payload).map_err(|_| NotAnEnvelope)
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types have string keys")
}

/// The version of this envelope.
pub const VERSION: u32 = 1;
/// Closes the socket: an envelope that is not written as it must be, a gap, an `ack` from the future.
pub const NOT_AN_ENVELOPE: u16 = 4400;
/// Closes the socket: no hello, or not with this key and version.
pub const NOT_YOU: u16 = 4401;
/// Closes the socket: no hello in time.
pub const TOO_LATE: u16 = 4408;
/// Closes the socket: another connection took its place.
pub const REPLACED: u16 = 4409;
/// Closes the socket: an envelope too large.
pub const TOO_LARGE: u16 = 4413;
/// Closes the socket: there are too many pages.
pub const TOO_MANY: u16 = 4429;
/// The largest envelope.
pub const MAX_ENVELOPE: usize = 17 << 20;
