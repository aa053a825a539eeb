//! What a conversation and the driver say to one another.

use std::{future::Future, pin::Pin, sync::Arc};

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use transom::printed::Printed;

use crate::envelope::{Ask, ViewId};

/// What a conversation wants of the driver. A call of the model has a name like those of views, and stands in the audit where
/// a view stands.
pub(crate) enum Wanted {
    /// The model begins to write a call.
    Begin { call: ViewId, server: String, tool: String, hear: Arc<dyn Hear> },
    /// More of its arguments.
    Piece { call: ViewId, text: String },
    /// They are written: judge it, and make it. `agreed` to what the tool said of itself is a yes for this conversation.
    End { call: ViewId, agreed: Option<String>, done: oneshot::Sender<Settled> },
    /// A person answered the question about it.
    Answer { call: ViewId, choice: String },
    /// Nobody wants it any more.
    Stop { call: ViewId, why: &'static str },
    /// A call that was made before, whose view is to be shown again. Nothing is called.
    Restore {
        call: ViewId,
        server: String,
        tool: String,
        arguments: String,
        outcome: Result<Box<RawValue>, String>,
        hear: Arc<dyn Hear>,
    },
    /// The conversation is closed, and shows no views any more.
    Forget { call: ViewId },
    /// The model calls a tool that a view offers.
    Offered {
        view: ViewId,
        call: ViewId,
        tool: String,
        arguments: Box<RawValue>,
        done: oneshot::Sender<Settled>,
    },
}

/// What came of a call.
#[derive(Clone, Debug)]
pub(crate) enum Settled {
    /// What the tool answered.
    Done(Box<RawValue>),
    /// It was called, and failed.
    Failed(String),
    /// It was not called.
    Refused(String),
    /// A person or the host took it back.
    Stopped,
}

/// Whom the driver tells. None of these waits for anything.
pub(crate) trait Hear: Send + Sync {
    /// The arguments as they are sent, printed by us.
    fn printed(&self, call: &ViewId, arguments: &Printed);
    /// A person is asked about a call; a yes for the conversation is for what the tool says of itself.
    fn ask(&self, call: &ViewId, ask: Ask, claims: String);
    /// The question is moot.
    fn withdraw(&self, call: &ViewId);
    /// It is at its server.
    fn running(&self, call: &ViewId);
    /// A view says something in the person's place, who has agreed to it.
    fn message(&self, from: &str, content: &str) -> Result<(), &'static str>;
    /// A view tells the model something for the next turn; it takes the place of what it told before.
    fn context(
        &self,
        view: &ViewId,
        from: &str,
        content: &str,
        structured: &str,
    ) -> Result<(), &'static str>;
    /// The tools that a view offers now.
    fn offers(&self, view: &ViewId, from: &str, tools: Vec<Offered>);
    /// A view is gone, with what it offered.
    fn gone(&self, view: &ViewId);
}

/// A tool that a view offers.
#[derive(Clone, Debug)]
pub(crate) struct Offered {
    pub(crate) name: String,
    pub(crate) description: String,
    pub(crate) schema: serde_json::Value,
}

/// Lets the model write something that is no part of a conversation: `sampling/createMessage`.
pub(crate) trait Sampler: Send + Sync {
    fn sample(&self, who: &str, params: &str) -> Sampling;
}

pub(crate) type Sampling = Pin<Box<dyn Future<Output = Result<Box<RawValue>, String>> + Send>>;

/// What a person answers who is not to be asked about the same tool again in this conversation.
pub(crate) const FOR_THIS: &str = "allow-conversation";
