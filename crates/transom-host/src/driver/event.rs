//! What happens to the loop, and what it has for the sockets of pages.

use std::sync::Arc;

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use transom::host;

use super::tally::ViewFacts;
use crate::{
    decisions::DecisionId,
    envelope::ViewId,
    sandbox::Report,
    server::{ListChanged, Prepared, Server},
    upstream::{CallError, Outcome},
    words::Words,
};

/// Something that happens to the loop.
pub(crate) enum Event {
    /// A page said hello with the right key.
    Connected {
        page: String,
        tab: String,
        connection: u64,
        socket: mpsc::UnboundedSender<ToSocket>,
    },
    /// A page said something, which takes up room until it is heard.
    Said { page: String, connection: u64, text: String, room: Option<OwnedSemaphorePermit> },
    /// A page's socket is gone.
    Lost { page: String, connection: u64 },
    /// Something that the opening of a view waits for. `turn` says which, where several were opened in one seat.
    Opening { view: ViewId, turn: u64, news: News },
    /// A sign of life from a call of the view that was opened in this turn.
    Progress { view: ViewId, turn: u64, call: u64, params: Box<RawValue> },
    /// A call of a view has come to its end.
    Done { view: ViewId, turn: u64, call: u64, outcome: Result<Box<RawValue>, CallError> },
    /// A call of the model has come to its end.
    ModelCalled { call: ViewId, outcome: Outcome },
    /// The files of a download are there, those that its server had too; or why one is not.
    Collected { view: ViewId, turn: u64, call: u64, files: Result<Vec<host::File>, NoFile> },
    /// Something was blocked in a view, as its browser says, or failed in it, as it says itself.
    Reported { view: ViewId, turn: u64, report: Report },
    /// The file of decisions is not what it was.
    DecisionsChanged,
    /// A person takes a decision back; told whether there was one.
    Forget { id: DecisionId, done: oneshot::Sender<bool> },
    /// A page wants to know more about one of its views.
    Describe { view: ViewId, done: oneshot::Sender<Option<Box<ViewFacts>>> },
    /// A person adds a server; told whether its name is free.
    Added { server: Arc<Server>, done: oneshot::Sender<bool> },
    /// A person removes a server; told when its views are closing.
    Removed { server: String, done: oneshot::Sender<()> },
    /// A server's list changed.
    ListChanged { server: String, list: host::List },
    /// The operator wants to know whether new views can be opened.
    Ready(oneshot::Sender<bool>),
    /// No new view shall open; told when no call is under way any more.
    Drain(oneshot::Sender<()>),
    /// Everything shall end; told when it has.
    Close(oneshot::Sender<()>),
}

impl From<ListChanged> for Event {
    fn from(ListChanged { server, list }: ListChanged) -> Self {
        Self::ListChanged { server, list }
    }
}

/// What the opening of a view waits for.
pub(crate) enum News {
    /// What it needs has been read, or not.
    Prepared(Result<Box<Prepared>, String>),
    /// Its tool call takes a while, or its server says how it gets on.
    Progress(Option<Box<RawValue>>),
    /// Its tool call has come to its end.
    Called(Outcome),
}

/// Why there is no file that a view only named.
pub(crate) struct NoFile {
    /// For the view and for the audit: an address may carry a secret, and so may what a server says in its error.
    pub(crate) told: Words,
    /// For the person.
    pub(crate) logged: Words,
}

impl NoFile {
    /// The same for all of them.
    pub(crate) fn of(words: Words) -> Self {
        Self { told: words.clone(), logged: words }
    }
}

/// Something for a page's socket.
pub(crate) enum ToSocket {
    Text(String),
    Close(u16, &'static str),
}
