//! What a page is told about a view.

use serde::Serialize;
use serde_json::{Map, Value};
use transom::{
    quoted::Quoted,
    wire::{self, DisplayMode},
};

use super::json;
use crate::{relay::PageLimits, words::Words};

/// What the host says about a view.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Told", rename_all = "lowercase", optional_fields))]
pub enum ToPage {
    /// How to mount it.
    Open(Mount),
    /// What to load ahead, for the view that will open.
    Spare {
        /// The sandbox page.
        src: String,
    },
    /// Something for the view, as JSON text.
    Message(#[cfg_attr(test, ts(type = "Carried"))] String),
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
    Tools(#[cfg_attr(test, ts(type = "{ tools: ({ name: string } & Json)[] }"))] Vec<wire::Tool>),
    /// What came of a `Call`.
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
        #[cfg_attr(test, ts(as = "String"))]
        why: Words,
        /// What the tool answered, once it has.
        text: Option<String>,
    },
    /// How the call of its tool gets on; it takes the place of what was told before.
    Progress(Progress),
    /// That call has come to its end.
    Settled {
        /// Why, in a sentence, where that is not said otherwise.
        #[cfg_attr(test, ts(as = "String"))]
        text: Words,
    },
    /// Something that the person should know about the view, which goes on.
    Note {
        /// In a sentence.
        #[cfg_attr(test, ts(as = "String"))]
        text: Words,
    },
    /// The view has not got ready for a while; what is known of it.
    Quiet {
        /// In sentences.
        #[cfg_attr(test, ts(as = "String"))]
        text: Words,
    },
    /// What form the view has, where that is a deprecated one; without words, it has none of these any more.
    Banner {
        /// In sentences.
        #[cfg_attr(test, ts(as = "String"))]
        text: Words,
    },
    /// What the view was kept from so far; it takes the place of what was told before.
    Blocked(Obstacles),
    /// The frame's size.
    Resize {
        /// In CSS pixels.
        width: Option<f64>,
        /// In CSS pixels.
        height: Option<f64>,
    },
    /// Go into this mode.
    Mode(#[cfg_attr(test, ts(type = "{ mode: DisplayMode }"))] DisplayMode),
    /// The end.
    Close {
        /// In one word.
        #[cfg_attr(test, ts(as = "String"))]
        reason: Ending,
    },
}

/// Why a view is taken from its page.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Ending {
    /// It had its time to save, or needed none.
    Teardown,
    /// Text is shown in its place.
    Text,
    /// As many views are open as may be.
    Limit,
    /// The host knows no view of this name, and the page no tool for it.
    Unknown,
    /// It never finished its handshake.
    Silent,
    /// It took the keyboard again and again.
    Focus,
    /// It could reach an address that a person took back.
    TakenBack,
    /// It broke too many rules, or sent far too many messages.
    Flood,
}

/// How to mount a view.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
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
    /// What counts for the view on the page.
    pub limits: PageLimits,
}

/// How a call gets on.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Progress {
    /// In words, with what its server says of it.
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Words,
    /// How much is done, from 0 to 1; nothing, if its server does not say how much there is.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub part: Option<f64>,
}

/// What a view was kept from.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Obstacles {
    /// Each in words.
    #[cfg_attr(test, ts(as = "Vec<String>"))]
    pub lines: Vec<Words>,
    /// What of it a person can grant, by name.
    pub grants: Vec<&'static str>,
}

/// A question for the person at the page.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Ask {
    /// What the answer names.
    pub id: String,
    /// What kind of question.
    pub kind: &'static str,
    /// The question in words.
    #[cfg_attr(test, ts(as = "String"))]
    pub text: Words,
    /// What can be answered.
    pub choices: Vec<&'static str>,
    /// Who asks.
    #[cfg_attr(test, ts(as = "String"))]
    pub server: Quoted,
    /// The same for the head of the question: the server, and the tool whose view asks.
    #[cfg_attr(test, ts(as = "String"))]
    pub who: Words,
    /// The tools it is about.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub tools: Vec<Quoted>,
    /// The address it is about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The tools that a yes to all of the server's would cover, this one among them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub all: Vec<Quoted>,
    /// What would be sent, in parts that people can read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<AskPart>>", optional))]
    pub parts: Vec<AskPart>,
    /// The beginning of what would be sent, as it is sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub preview: Option<String>,
    /// The rest of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<Fold>,
    /// What has changed, in words.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<String>>", optional))]
    pub changes: Vec<Words>,
    /// The files it is about, without what is in them.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<FileOffer>>", optional))]
    pub contents: Vec<FileOffer>,
    /// Whether the view has stopped waiting for the answer: it counts for the next time alone.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub late: bool,
}

/// A part of what would be sent, for people to read.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct AskPart {
    /// What it is called; nothing, where it is what is said.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// Its beginning. A stranger's.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Whether that is a text, and not JSON.
    #[serde(rename = "isSaid", skip_serializing_if = "std::ops::Not::not")]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub is_said: bool,
    /// The rest of it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub folded: Option<Fold>,
    /// In our words, what there is beside, or in place of a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub words: Option<Words>,
}

/// The rest of what would be sent, which is shown when the person wants to see it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Fold {
    /// How much there is.
    #[cfg_attr(test, ts(as = "String"))]
    pub words: Words,
    /// What it is.
    pub text: String,
    /// How much there is even beyond that, and cannot be shown.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(as = "Option<String>", optional))]
    pub beyond: Option<Words>,
}

/// Something that only the page can do, and only now: nothing is done before it is told.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Deed {
    /// What the page's `Did` names.
    pub id: String,
    /// `link` or `download`.
    pub kind: &'static str,
    /// The address to open.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// The files to save.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, ts(as = "Option<Vec<FileOffer>>", optional))]
    pub contents: Vec<FileOffer>,
}

/// A file that the page shows or saves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
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

impl Ending {
    fn word(self) -> &'static str {
        match self {
            Self::Teardown => "teardown",
            Self::Text => "text",
            Self::Limit => "limit",
            Self::Unknown => "unknown",
            Self::Silent => "silent",
            Self::Focus => "focus",
            Self::TakenBack => "taken-back",
            Self::Flood => "flood",
        }
    }
}

impl ToPage {
    /// The kind and its payload, as they stand in an envelope: `"kind":payload`.
    pub fn print(&self) -> String {
        match self {
            Self::Message(text) => format!(r#""message":{text}"#),
            Self::Spare { src } => format!(r#""spare":{{"src":{}}}"#, json(src)),
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
            Self::Progress(progress) => format!(r#""progress":{}"#, json(progress)),
            Self::Settled { text } => format!(r#""settled":{{"text":{}}}"#, json(text)),
            Self::Note { text } => format!(r#""note":{{"text":{}}}"#, json(text)),
            Self::Quiet { text } => format!(r#""quiet":{{"text":{}}}"#, json(text)),
            Self::Banner { text } => format!(r#""banner":{{"text":{}}}"#, json(text)),
            Self::Blocked(obstacles) => format!(r#""blocked":{}"#, json(obstacles)),
            Self::Mode(mode) => format!(r#""mode":{{"mode":"{mode}"}}"#),
            Self::Close { reason } => format!(r#""close":{{"reason":"{}"}}"#, reason.word()),
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

/// A number as JavaScript writes it.
pub(super) fn whole(value: f64) -> Value {
    if value.fract() == 0.0 { (value as i64).into() } else { value.into() }
}
