//! What the page wants of conversations, and what it is told.

use serde::{Deserialize, Serialize};

use super::{
    questions::{Pending, TalkAnswer},
    tree::{Chip, Node},
};

/// What the page wants done.
#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TalkWish"))]
#[serde(rename_all = "lowercase")]
pub(crate) enum Wish {
    /// A new conversation with these first words; its id is answered.
    Begin(Saying),
    /// More words at the end of the branch that is shown.
    Say(Saying),
    /// Other words in the place of these: a branch of their own.
    Edit(Edit),
    /// What a model said last, once more: a branch of its own.
    Again(Branch),
    /// Ends what is under way.
    Stop(Named),
    /// Shows another branch: the one with this node.
    Branch(Branch),
    /// Takes away what a view told the model.
    Dismiss(Dismissed),
    /// Has the view of a call ready to be shown again.
    Show(Showing),
    Answer(TalkAnswer),
    Remove(Named),
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Named {
    pub(crate) id: String,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Saying {
    /// The conversation; nothing for a new one.
    #[serde(default)]
    pub(crate) id: String,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Edit {
    pub(crate) id: String,
    pub(crate) node: u32,
    pub(crate) text: String,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Branch {
    pub(crate) id: String,
    pub(crate) node: u32,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Dismissed {
    pub(crate) id: String,
    pub(crate) view: String,
}

#[derive(Debug, Deserialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct Showing {
    pub(crate) id: String,
    pub(crate) call: String,
}

/// What is new. What is left out is as it was.
#[derive(Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TalkNews", optional_fields))]
pub(crate) struct News {
    /// The model, in the first of all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) model: Option<ShownModel>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) conversations: Option<Vec<Summary>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) asks: Option<Vec<Pending>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) open: Option<TalkState>,
    /// The conversation that is wanted is not there, in words.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) missing: Option<String>,
}

#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct ShownModel {
    pub(crate) name: String,
    pub(crate) place: String,
    /// Whether it is a model, and not the script.
    pub(crate) real: bool,
}

/// A conversation in the list.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(rename = "TalkSummary"))]
pub(crate) struct Summary {
    pub(crate) id: String,
    pub(crate) title: String,
    /// Milliseconds since 1970.
    #[cfg_attr(test, ts(type = "number"))]
    pub(crate) changed: u64,
    pub(crate) running: bool,
}

/// The conversation that is open.
#[derive(Clone, Debug, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct TalkState {
    pub(crate) id: String,
    pub(crate) title: String,
    pub(crate) head: Option<u32>,
    pub(crate) running: bool,
    /// Nodes that are new or not as they were; they take the place of those with their numbers.
    pub(crate) nodes: Vec<Node>,
    pub(crate) chips: Vec<Chip>,
}

/// Why a wish is not fulfilled, in words for the person.
#[derive(Debug, thiserror::Error)]
pub(crate) enum WishError {
    #[error("There is no such conversation.")]
    NoSuch,
    #[error("{0}")]
    Refused(String),
}

impl From<&str> for WishError {
    fn from(words: &str) -> Self {
        Self::Refused(words.to_owned())
    }
}
