//! What a page says about a view, read.

use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Map, Value, json, value::RawValue};
use transom::{
    partial::Healer,
    rpc::Id,
    wire::{Axis, ContainerDimensions, DisplayMode, SafeAreaInsets},
};

use super::{NotAnEnvelope, Said, read};

/// What a page says about a view, read.
#[expect(
    clippy::large_enum_variant,
    reason = "it is on the stack for a moment, and never in a list"
)]
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "Said", rename_all = "lowercase"))]
pub enum FromPage<'a> {
    /// It has a place for the view.
    Open(Open),
    /// It has a place for a view that will open, and would load ahead what that needs in any case.
    Spare {},
    /// The view says something; JSON text that has not been read yet.
    Message(#[cfg_attr(test, ts(type = "Carried"))] &'a str),
    /// The view said something too large to be carried: a message without what made it large, if it is known what it was.
    Dropped(#[cfg_attr(test, ts(type = "Json"))] Option<String>),
    /// More of the arguments that its tool will be called with.
    Arguments(Piece),
    /// A tool that the view offers shall be called.
    Call(Call),
    /// The person does not want the call of the view's tool any more.
    Cancel(#[cfg_attr(test, ts(type = "{}"))] Cancel),
    /// The person wants what was blocked to be granted; they are asked first.
    Grant(Wanted),
    /// The person decided.
    Answer(Answer),
    /// The page did as it was told, or could not.
    Did(Did),
    /// The place changed.
    Resize(Container),
    /// Something about the page changed.
    Context(Facts),
    /// The mode now in force.
    Mode(#[cfg_attr(test, ts(type = "{ mode: DisplayMode }"))] DisplayMode),
    /// The view's frame is gone, or shall go.
    Close(#[cfg_attr(test, ts(type = "{ reason: CloseReason }"))] CloseReason),
    /// From a newer page.
    #[cfg_attr(test, ts(skip))]
    Unknown,
}

/// A place for a view.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default)]
pub struct Open {
    /// The lanes that the page can carry beside the window.
    #[cfg_attr(test, ts(type = "\"port\"[]"))]
    pub lanes: Vec<String>,
    /// The display modes that it offers.
    #[cfg_attr(test, ts(type = "DisplayMode[]"))]
    pub modes: Vec<DisplayMode>,
    /// The room that there is.
    pub container: Container,
    /// What the page says of itself.
    #[cfg_attr(test, ts(as = "Option<Facts>", optional))]
    pub context: Facts,
    /// The tool to call, when the view is not known yet.
    pub tool: Option<Tool>,
    /// Whether what the page was told to load ahead is there.
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub spare: bool,
}

/// A tool whose view is to be opened.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "ToolCall", optional_fields))]
pub struct Tool {
    /// The server, by its configured name.
    pub server: String,
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, type = "Json"))]
    pub arguments: Option<Box<RawValue>>,
    /// Whether they are still being written: they come as [`Piece`]s, and the tool is called after the last.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub writing: bool,
    /// The call of the model that the view is to show. It is made elsewhere, and by nothing that the page says.
    #[serde(default)]
    #[cfg_attr(test, ts(optional))]
    #[cfg_attr(test, ts(type = "string"))]
    pub call: Option<Box<str>>,
}

/// The next piece of the JSON text of a tool's arguments, split off anywhere.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Piece {
    /// The piece.
    pub text: String,
    /// Whether it is the last.
    #[serde(default)]
    #[cfg_attr(test, ts(as = "Option<bool>", optional))]
    pub done: bool,
}

/// A call of a tool that a view offers.
#[derive(Clone, Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Call {
    /// What `ToPage::Called` names.
    pub id: String,
    /// The tool, by its name among the view's.
    pub name: String,
    /// Its arguments, a JSON object.
    #[serde(default)]
    #[cfg_attr(test, ts(optional, type = "Json"))]
    pub arguments: Option<Box<RawValue>>,
}

/// The room on the page, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct Container {
    pub(super) width: Option<f64>,
    pub(super) height: Option<f64>,
    pub(super) max_width: Option<f64>,
    pub(super) max_height: Option<f64>,
}

/// What a page says of itself and of the person before it; nothing of it has been checked.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(default, rename_all = "camelCase")]
pub struct Facts {
    /// `light` or `dark`.
    #[cfg_attr(test, ts(optional, type = "\"light\" | \"dark\""))]
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
    #[cfg_attr(
        test,
        ts(optional, type = "{ top: number; right: number; bottom: number; left: number }")
    )]
    pub insets: Option<SafeAreaInsets>,
}

/// That a person takes a call back; there is nothing more to say.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
pub struct Cancel {}

/// What a person wants to grant, of what they were told that it was blocked.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Wanted {
    /// By their names.
    pub grants: Vec<String>,
}

/// A person's answer.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Answer {
    /// The question.
    pub id: String,
    /// One of its choices.
    pub choice: String,
}

/// What came of a `Deed`.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
pub struct Did {
    /// The deed.
    pub id: String,
    /// Whether it was done; a browser lets a page do some things only after a click.
    pub done: bool,
}

/// Why a page ends a view.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
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

/// What is known of a message that was too large to be carried. A view wrote it: it may be anything, of any depth.
#[derive(Deserialize)]
pub(super) struct Dropped<'a> {
    #[serde(borrow, default)]
    pub(super) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(super) method: Option<&'a RawValue>,
    /// How it begins.
    #[serde(borrow, default)]
    pub(super) message: Option<&'a RawValue>,
}

impl<'a> Said<'a> {
    /// Reads what a page says. A message is left to whoever judges it.
    pub fn read(&self) -> Result<FromPage<'a>, NotAnEnvelope> {
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
            "spare" => read::<serde::de::IgnoredAny>(self.payload).map(|_| FromPage::Spare {})?,
            "arguments" => FromPage::Arguments(read(self.payload)?),
            "call" => FromPage::Call(read(self.payload)?),
            "cancel" => FromPage::Cancel(read(self.payload)?),
            "grant" => FromPage::Grant(read(self.payload)?),
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
pub(super) fn known(beginning: String) -> (Option<Id>, Option<String>) {
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
pub(super) fn lenient<T: DeserializeOwned>(member: Option<&RawValue>) -> Option<T> {
    serde_json::from_str(member?.get()).ok()
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

pub(super) fn text(raw: &Option<Box<RawValue>>) -> Option<&str> {
    raw.as_deref().map(RawValue::get)
}

/// How much of a message's beginning is looked at, in bytes; a page sends no more.
pub(super) const BEGINNING: usize = 4_000;
