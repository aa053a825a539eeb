//! What travels between a page and the host process: what either says about one view, in order and
//! exactly once. The rules and the bytes are in `fixtures/envelope/`.
//!
//! A frame is written so that a message inside it need not be parsed to be passed on: members in a
//! fixed order, no white space, the payload last.

use std::sync::Arc;

use serde::{Deserialize, Serialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};
use transom::{
    partial::Healer,
    quoted::Quoted,
    rpc::Id,
    wire::{self, Axis, ContainerDimensions, DisplayMode, SafeAreaInsets},
};

use crate::words::Words;

mod stream;

pub use stream::{Overrun, Refused, Stream};

/// The name of a view: 1 to 64 of `A-Z a-z 0-9 _ -`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ViewId(Arc<str>);

/// One frame about a view, as it was written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Frame<'a> {
    /// The view.
    pub view: &'a str,
    /// The highest `seq` that its writer has got from us.
    pub ack: u64,
    /// What it says, if it says anything.
    pub said: Option<Said<'a>>,
}

/// What a frame says.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Said<'a> {
    /// Its place in the order.
    pub seq: u64,
    /// What kind of thing.
    pub kind: &'a str,
    /// JSON text; unread when it is a message.
    pub payload: &'a str,
}

/// The first frame of a page.
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

/// What a page says about a view, read.
#[derive(Clone, Debug, PartialEq)]
pub enum FromPage<'a> {
    /// It has a place for the view.
    Open(Open),
    /// The view says something; JSON text that nobody has read yet.
    Message(&'a str),
    /// The view said something too large to be carried: a message without what made it large, if it is known what it was.
    Dropped(Option<String>),
    /// More of the arguments that its tool will be called with.
    Arguments(Piece),
    /// A tool that the view offers shall be called.
    Call(Call),
    /// The person decided.
    Answer(Answer),
    /// The page did as it was told, or could not.
    Did(Did),
    /// The place changed.
    Resize(Container),
    /// Something about the page changed.
    Context(Facts),
    /// The mode now in force.
    Mode(DisplayMode),
    /// The view's frame is gone, or shall go.
    Close(CloseReason),
    /// From a newer page.
    Unknown,
}

/// A place for a view.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default)]
pub struct Open {
    /// The lanes that the page can carry beside the window.
    pub lanes: Vec<String>,
    /// The display modes that it offers.
    pub modes: Vec<DisplayMode>,
    /// The room that there is.
    pub container: Container,
    /// What the page says of itself.
    pub context: Facts,
    /// The tool to call, when the view is not known yet.
    pub tool: Option<Tool>,
}

/// A tool whose view is to be opened.
#[derive(Clone, Debug, Deserialize)]
pub struct Tool {
    /// The server, by its configured name.
    pub server: String,
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object.
    #[serde(default)]
    pub arguments: Option<Box<RawValue>>,
    /// Whether they are still being written: they come as [`Piece`]s, and the tool is called after the last.
    #[serde(default)]
    pub writing: bool,
}

/// The next piece of the JSON text of a tool's arguments, split off anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Piece {
    /// The piece.
    pub text: String,
    /// Whether it is the last.
    #[serde(default)]
    pub done: bool,
}

/// A call of a tool that a view offers.
#[derive(Clone, Debug, Deserialize)]
pub struct Call {
    /// What [`ToPage::Called`] names.
    pub id: String,
    /// The tool, by its name among the view's.
    pub name: String,
    /// Its arguments, a JSON object.
    #[serde(default)]
    pub arguments: Option<Box<RawValue>>,
}

/// The room on the page, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    width: Option<f64>,
    height: Option<f64>,
    max_width: Option<f64>,
    max_height: Option<f64>,
}

/// What a page says of itself and of the person before it; nothing of it has been checked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(default, rename_all = "camelCase")]
pub struct Facts {
    /// `light` or `dark`.
    pub theme: Option<String>,
    /// The person's language, as BCP 47 writes it.
    pub locale: Option<String>,
    /// The person's time zone, by its IANA name.
    pub time_zone: Option<String>,
    /// Whether there is a finger to point with.
    pub touch: Option<bool>,
    /// Whether there is something that can rest above an element.
    pub hover: Option<bool>,
    /// The edges of the view that something else may cover.
    pub insets: Option<SafeAreaInsets>,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Answer {
    /// The question.
    pub id: String,
    /// One of its choices.
    pub choice: String,
}

/// What came of a [`Deed`].
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Did {
    /// The deed.
    pub id: String,
    /// Whether it was done; a browser lets a page do some things only after a click.
    pub done: bool,
}

/// Why a page ends a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CloseReason {
    /// The person wants it closed; it may save its things first.
    User,
    /// The frame no longer exists.
    Gone,
    /// The frame was taken away because it flooded the page.
    Flood,
    /// The frame was taken away because the view wrote to the page itself, past its sandbox.
    PastSandbox,
    /// The frame was taken away because the view put something other than text on its port.
    NotText,
    /// The frame was taken away because it kept taking the keyboard from the page.
    Focus,
}

/// What the host says about a view.
#[derive(Clone, Debug, PartialEq)]
pub enum ToPage {
    /// How to mount it.
    Open(Mount),
    /// Something for the view, as JSON text.
    Message(String),
    /// A question for the person; one with the same id takes its place.
    Ask(Box<Ask>),
    /// A question is moot.
    Withdraw {
        /// The question.
        id: String,
    },
    /// Something that only the page can do.
    Do(Deed),
    /// The tools that the view offers now.
    Tools(Vec<wire::Tool>),
    /// What came of a [`Call`].
    Called {
        /// The call.
        id: String,
        /// What the tool answered, or why it did not.
        text: String,
        /// Whether it went wrong.
        failed: bool,
    },
    /// Show this in place of the view: there is none, or none any more.
    Text {
        /// Why, in a sentence.
        why: Words,
        /// What the tool answered, once it has.
        text: Option<String>,
    },
    /// Something that the person should know about the view, which goes on.
    Note {
        /// In a sentence.
        text: Words,
    },
    /// The frame's size.
    Resize {
        /// In CSS pixels.
        width: Option<f64>,
        /// In CSS pixels.
        height: Option<f64>,
    },
    /// Go into this mode.
    Mode(DisplayMode),
    /// The end.
    Close {
        /// In one word.
        reason: String,
    },
}

/// How to mount a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Mount {
    /// The sandbox page.
    pub src: String,
    /// What assistive technology calls the frame.
    pub title: String,
    /// The frame's `allow` attribute.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub allow: Option<String>,
    /// Whether to draw a border; absent, the page decides.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub border: Option<bool>,
}

/// A question for the person at the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Ask {
    /// What the answer names.
    pub id: String,
    /// What kind of question.
    pub kind: &'static str,
    /// The question in words.
    pub text: Words,
    /// What can be answered.
    pub choices: Vec<&'static str>,
    /// Who asks.
    pub server: Quoted,
    /// The same for the head of the question: the server, and the tool whose view asks.
    pub who: Words,
    /// The tools it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tools: Vec<Quoted>,
    /// The address it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The beginning of what would be sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The rest of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<Fold>,
    /// What has changed, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<Words>,
    /// The files it is about, without what is in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<FileOffer>,
    /// Whether nobody waits for the answer any more: it counts for the next time alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub late: bool,
}

/// The rest of what would be sent, which is shown when somebody wants to see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Fold {
    /// How much there is.
    pub words: Words,
    /// What it is.
    pub text: String,
    /// How much there is even beyond that, and cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Words>,
}

/// Something that only the page can do, and only now: nothing is done before it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Deed {
    /// What the page's [`Did`] names.
    pub id: String,
    /// `link` or `download`.
    pub kind: &'static str,
    /// The address to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The files to save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contents: Vec<FileOffer>,
}

/// A file that the page shows or saves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FileOffer {
    /// The name to save it under.
    pub name: String,
    /// Its MIME type.
    #[serde(rename = "mimeType", skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// What is in it, as text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// What is in it, in base64.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub blob: Option<String>,
}

/// Not written as the rules say; the socket is closed with [`NOT_A_FRAME`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("not a frame of this envelope")]
pub struct NotAFrame;

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

impl<'a> Frame<'a> {
    /// Reads a frame about a view.
    pub fn parse(text: &'a str) -> Result<Self, NotAFrame> {
        let rest = text.strip_prefix(r#"{"view":""#).ok_or(NotAFrame)?;
        let (view, rest) = rest.split_once('"').ok_or(NotAFrame)?;
        if !is_name(view) {
            return Err(NotAFrame);
        }
        let (seq, rest) = match rest.strip_prefix(r#","seq":"#) {
            Some(rest) => number(rest).map(|(seq, rest)| (Some(seq), rest))?,
            None => (None, rest),
        };
        let rest = rest.strip_prefix(r#","ack":"#).ok_or(NotAFrame)?;
        let (ack, rest) = number(rest)?;
        let rest = rest.strip_suffix('}').ok_or(NotAFrame)?;
        match (seq, rest) {
            (None, "") => Ok(Self { view, ack, said: None }),
            (Some(seq), rest) => {
                let rest = rest.strip_prefix(r#",""#).ok_or(NotAFrame)?;
                let (kind, payload) = rest.split_once(r#"":"#).ok_or(NotAFrame)?;
                let word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
                if kind.is_empty() || !kind.bytes().all(word) {
                    return Err(NotAFrame);
                }
                Ok(Self { view, ack, said: Some(Said { seq, kind, payload }) })
            }
            (None, _) => Err(NotAFrame),
        }
    }
}

impl<'a> Said<'a> {
    /// Reads what a page says. A message is left to whoever judges it.
    pub fn read(&self) -> Result<FromPage<'a>, NotAFrame> {
        #[derive(Deserialize)]
        struct Mode {
            mode: DisplayMode,
        }
        #[derive(Deserialize)]
        struct Close {
            reason: CloseReason,
        }
        Ok(match self.kind {
            "message" => FromPage::Message(self.payload),
            "dropped" => FromPage::Dropped(read::<Dropped<'_>>(self.payload)?.outline()),
            "open" => FromPage::Open(read(self.payload)?),
            "arguments" => FromPage::Arguments(read(self.payload)?),
            "call" => FromPage::Call(read(self.payload)?),
            "answer" => FromPage::Answer(read(self.payload)?),
            "did" => FromPage::Did(read(self.payload)?),
            "resize" => FromPage::Resize(read(self.payload)?),
            "context" => FromPage::Context(read(self.payload)?),
            "mode" => FromPage::Mode(read::<Mode>(self.payload)?.mode),
            "close" => FromPage::Close(read::<Close>(self.payload)?.reason),
            _ => read::<serde::de::IgnoredAny>(self.payload).map(|_| FromPage::Unknown)?,
        })
    }
}

/// What is known of a message that was too large to be carried. A view wrote it: it may be anything, of any depth.
#[derive(Deserialize)]
struct Dropped<'a> {
    #[serde(borrow, default)]
    id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    method: Option<&'a RawValue>,
    /// How it begins.
    #[serde(borrow, default)]
    message: Option<&'a RawValue>,
}

impl Dropped<'_> {
    /// The message without what made it large.
    fn outline(&self) -> Option<String> {
        let (id, method) = match lenient(self.message) {
            Some(beginning) => known(beginning),
            None => (lenient::<Id>(self.id), lenient::<String>(self.method)),
        };
        let outline = match (id, method) {
            (None, None) => return None,
            (None, Some(method)) => json!({ "jsonrpc": "2.0", "method": method }),
            (Some(id), None) => json!({ "jsonrpc": "2.0", "id": id, "result": {} }),
            (Some(id), Some(method)) => json!({ "jsonrpc": "2.0", "id": id, "method": method }),
        };
        Some(outline.to_string())
    }
}

/// The id and the method of a message, as far as its beginning tells them for certain.
fn known(beginning: String) -> (Option<Id>, Option<String>) {
    let mut healer = Healer::new();
    let _ = healer.push(&beginning[..beginning.floor_char_boundary(BEGINNING)]);
    let healed = healer.healed();
    let mut members: Map<String, Value> = serde_json::from_str(&healed).unwrap_or_default();
    // The last one may go on.
    if let Some(last) = members.keys().next_back().cloned() {
        members.remove(&last);
    }
    let id = members.remove("id").and_then(|id| serde_json::from_value(id).ok());
    (id, members.remove("method").and_then(|method| serde_json::from_value(method).ok()))
}

/// A member, if it is what it should be.
fn lenient<T: DeserializeOwned>(member: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(member?.get()).ok()
}

/// How much of a message's beginning is looked at, in bytes; a page sends no more.
const BEGINNING: usize = 4_000;

impl Hello {
    /// Reads the first frame of a page.
    pub fn parse(text: &str) -> Option<Self> {
        #[derive(Deserialize)]
        struct First {
            hello: Hello,
        }
        serde_json::from_str::<First>(text).ok().map(|first| first.hello)
    }
}

impl Welcome {
    /// The frame.
    pub fn print(&self) -> String {
        format!(r#"{{"welcome":{}}}"#, json(self))
    }
}

impl ToPage {
    /// The kind and its payload, as they stand in a frame: `"kind":payload`.
    pub fn print(&self) -> String {
        match self {
            Self::Message(text) => format!(r#""message":{text}"#),
            Self::Open(mount) => format!(r#""open":{}"#, json(mount)),
            Self::Ask(ask) => format!(r#""ask":{}"#, json(ask)),
            Self::Withdraw { id } => format!(r#""withdraw":{{"id":{}}}"#, json(id)),
            Self::Do(deed) => format!(r#""do":{}"#, json(deed)),
            Self::Tools(tools) => format!(r#""tools":{{"tools":{}}}"#, json(tools)),
            Self::Called { id, text, failed } => {
                format!(r#""called":{{"id":{},"text":{},"failed":{failed}}}"#, json(id), json(text))
            }
            Self::Text { why, text: None } => format!(r#""text":{{"why":{}}}"#, json(why)),
            Self::Text { why, text: Some(text) } => {
                format!(r#""text":{{"why":{},"text":{}}}"#, json(why), json(text))
            }
            Self::Note { text } => format!(r#""note":{{"text":{}}}"#, json(text)),
            Self::Mode(mode) => format!(r#""mode":{{"mode":"{mode}"}}"#),
            Self::Close { reason } => format!(r#""close":{{"reason":{}}}"#, json(reason)),
            Self::Resize { width, height } => {
                let mut size = Map::new();
                for (name, value) in [("width", width), ("height", height)] {
                    if let Some(value) = value {
                        size.insert(name.to_owned(), whole(*value));
                    }
                }
                format!(r#""resize":{}"#, json(&size))
            }
        }
    }
}

impl Container {
    /// What the view is told about its place.
    pub fn dimensions(&self) -> ContainerDimensions {
        let size = |size: Option<f64>| size.filter(|size| (0.0..=1e6).contains(size));
        let axis = |fixed: Option<f64>, most: Option<f64>| match (size(fixed), size(most)) {
            (Some(fixed), _) => Axis::Fixed(fixed),
            (None, Some(most)) => Axis::AtMost(most),
            (None, None) => Axis::Free,
        };
        ContainerDimensions {
            width: axis(self.width, self.max_width),
            height: axis(self.height, self.max_height),
        }
    }
}

impl PartialEq for Tool {
    fn eq(&self, other: &Self) -> bool {
        let whole = |tool: &Self| (tool.server.clone(), tool.name.clone(), tool.writing);
        whole(self) == whole(other) && text(&self.arguments) == text(&other.arguments)
    }
}

impl PartialEq for Call {
    fn eq(&self, other: &Self) -> bool {
        (&self.id, &self.name) == (&other.id, &other.name)
            && text(&self.arguments) == text(&other.arguments)
    }
}

fn text(raw: &Option<Box<RawValue>>) -> Option<&str> {
    raw.as_deref().map(RawValue::get)
}

fn is_name(text: &str) -> bool {
    let plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    (1..=64).contains(&text.len()) && text.bytes().all(plain)
}

/// Up to fifteen digits: more would not survive a double.
fn number(text: &str) -> Result<(u64, &str), NotAFrame> {
    let end = text.bytes().position(|byte| !byte.is_ascii_digit()).unwrap_or(text.len());
    if !(1..=15).contains(&end) {
        return Err(NotAFrame);
    }
    let (digits, rest) = text.split_at(end);
    digits.parse().map(|number| (number, rest)).map_err(|_| NotAFrame)
}

fn read<'a, T: Deserialize<'a>>(payload: &'a str) -> Result<T, NotAFrame> {
    serde_json::from_str(payload).map_err(|_| NotAFrame)
}

fn json<T: Serialize + ?Sized>(value: &T) -> String {
    serde_json::to_string(value).expect("our own types have string keys")
}

/// A number as JavaScript writes it.
fn whole(value: f64) -> Value {
    if value.fract() == 0.0 { (value as i64).into() } else { value.into() }
}

/// The version of this envelope.
pub const VERSION: u32 = 1;
/// Closes the socket: a frame that is not written as it must be, a gap, an `ack` from the future.
pub const NOT_A_FRAME: u16 = 4400;
/// Closes the socket: no hello, or not with this key and version.
pub const NOT_YOU: u16 = 4401;
/// Closes the socket: no hello in time.
pub const TOO_LATE: u16 = 4408;
/// Closes the socket: another connection took its place.
pub const REPLACED: u16 = 4409;
/// Closes the socket: a frame too large.
pub const TOO_LARGE: u16 = 4413;
/// Closes the socket: there are too many pages.
pub const TOO_MANY: u16 = 4429;
/// The largest frame.
pub const MAX_FRAME: usize = 17 << 20;
