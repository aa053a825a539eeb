//! What happens to the loop, and what it has for the sockets of pages.

use serde_json::value::RawValue;
use tokio::sync::{OwnedSemaphorePermit, mpsc, oneshot};
use transom::host;

use crate::{decisions::DecisionId, envelope::ViewId, server::Prepared, upstream::CallError};

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
    Frame { page: String, connection: u64, text: String, room: Option<OwnedSemaphorePermit> },
    /// A page's socket is gone.
    Lost { page: String, connection: u64 },
    /// A view's tool is not called, so that it cannot begin, or not go on.
    NotBegun { view: ViewId, turn: u64, words: String },
    /// What a view needs has been read, or not.
    Prepared { view: ViewId, turn: u64, prepared: Result<Box<Prepared>, String> },
    /// The tool call that opened a view has come to its end.
    Called { view: ViewId, turn: u64, outcome: Result<Box<RawValue>, CallError> },
    /// A sign of life from a call of a view.
    Progress { view: ViewId, call: u64, params: Box<RawValue> },
    /// A call of a view has come to its end.
    Done { view: ViewId, call: u64, outcome: Result<Box<RawValue>, CallError> },
    /// The file of decisions is not what it was.
    DecisionsChanged,
    /// A person takes a decision back; told whether there was one.
    Forget { id: DecisionId, done: oneshot::Sender<bool> },
    /// A server's list changed.
    ListChanged { server: String, list: host::List },
    /// Everything shall end; told when it has.
    Close(oneshot::Sender<()>),
}

/// Something for a page's socket.
pub(crate) enum ToSocket {
    Text(String),
    Close(u16, &'static str),
}
