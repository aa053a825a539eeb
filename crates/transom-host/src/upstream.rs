//! Our end of the connection to one MCP server.
//!
//! An [`Upstream`] outlives its server: a server that crashes or hangs is started again, what was in
//! flight fails with a reason, and [`Events`] tell it. What a server answers is passed on as the text it
//! wrote, so that nothing is lost that we do not know.
//!
//! ```text
//!   Upstream ── supervisor ─┬─ Life 1 ── pipe or HTTP ── server
//!      │            │       └─ Life 2 …    (started again, with back-off)
//!      │            └─ Events ──▶ every listener
//!      └─ call ──▶ Call ──▶ progress, outcome
//! ```
//!
//! ```no_run
//! use transom_host::upstream::{CallOptions, Command, Options, Request, Target, Upstream};
//!
//! # async fn example() -> Result<(), Box<dyn std::error::Error>> {
//! let target = Target::Stdio(Command::new("npx", ["-y", "some-mcp-server", "--stdio"]));
//! let upstream = Upstream::connect(target, Options::default()).await?;
//! for (name, tool) in upstream.tools().iter() {
//!     println!("{name}: {:?}", tool.meta.resource_uri);
//! }
//! let params = serde_json::value::to_raw_value(&serde_json::json!({ "name": "get-time" }))?;
//! let request = Request::with_params("tools/call", &params)?;
//! let result = upstream.call(&request, CallOptions::default())?.outcome().await?;
//! println!("{result}");
//! upstream.close().await;
//! # Ok(())
//! # }
//! ```

mod ask;
mod call;
mod changes;
mod child;
mod desk;
mod era;
mod error;
mod events;
mod greeting;
mod header;
mod http;
mod in_process;
mod life;
mod lines;
mod listing;
mod oauth;
mod pipe;
mod reply;
mod request;
mod resources;
mod rounds;
mod salvage;
mod sse;
mod strays;
mod supervisor;
mod target;
mod times;
mod trace;

use std::sync::Arc;

use tokio::{
    sync::{broadcast, watch},
    task::JoinHandle,
};

pub use ask::{Answer, Ask};
pub use call::{Call, CallOptions, Outcome, Update};
pub use era::{Era, Memo, Remembered};
pub use error::{
    Aside, CallError, ConnectError, HttpError, Loss, NetworkError, NotCalled, Refusal, Rubbish,
};
pub use events::{Event, Events};
pub use greeting::ServerIdentity;
pub(crate) use http::{is_loopback, is_machine, prepare_tls};
pub use in_process::{InProcess, answer_lines};
pub use listing::{Cut, ListedTool, Listing};
pub use oauth::{Invitation, NotSignedIn, OAuth, Registration, Return, Tokens};
pub use request::{NotParams, Request};
pub use resources::ResourceEntries;
pub(crate) use sse::Parser as EventParser;
pub use strays::Strays;
pub use target::{
    Command, Endpoint, Options, Overhear, Restart, Secret, StderrHearer, Target, UnsetVariable,
    UpstreamLimits,
};
pub use times::Times;
pub use trace::TraceParent;

use supervisor::{State, Supervisor};

/// Our end of the connection to one server. Clones share it; dropping the last one ends the server.
#[derive(Clone, Debug)]
pub struct Upstream(Arc<Handle>);

#[derive(Debug)]
struct Handle {
    state: watch::Receiver<State>,
    events: broadcast::Sender<Event>,
    closing: watch::Sender<bool>,
    supervisor: JoinHandle<()>,
}

/// How a server is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Health {
    /// It is connected.
    Up,
    /// It went away and is being started again.
    Restarting,
    /// It is gone for good.
    Gone,
}

impl Upstream {
    /// Connects to a server, finds out who it is, and lists its tools.
    pub async fn connect(target: Target, options: Options) -> Result<Self, ConnectError> {
        let (events, _) = broadcast::channel(events::WAITING);
        let (closing, close) = watch::channel(false);
        let supervisor = Supervisor::new(target, options, events.clone(), close);
        let (first, state) = supervisor.begin().await?;
        let supervisor = tokio::spawn(supervisor.run(first));
        Ok(Self(Arc::new(Handle { state, events, closing, supervisor })))
    }

    /// Makes a call. Its progress and its outcome come through what is returned.
    pub fn call(&self, request: &Request, options: CallOptions) -> Result<Call, NotCalled> {
        let life = self.0.state.borrow().life().ok_or(NotCalled::NotConnected)?;
        life.call(request, options)
    }

    /// Reads a resource and returns the whole result.
    pub async fn read_resource(&self, uri: &str) -> Outcome {
        self.call(&Request::read_resource(uri), CallOptions::default())?.outcome().await
    }

    /// Ends the connection: a child is asked to leave, then told to, then made to.
    pub async fn close(&self) {
        self.0.closing.send_replace(true);
        let mut state = self.0.state.clone();
        // The supervisor drops the sender when all is done.
        while state.changed().await.is_ok() {}
    }

    /// Who the server is, as of its last greeting.
    pub fn server(&self) -> Arc<ServerIdentity> {
        Arc::clone(&self.0.state.borrow().server)
    }

    /// The server's tools, as of now.
    pub fn tools(&self) -> Arc<Listing> {
        Arc::clone(&self.0.state.borrow().listing)
    }

    /// How the server is.
    pub fn health(&self) -> Health {
        self.0.state.borrow().health
    }

    /// What the server has written to its standard output since it was started, and that is no message.
    pub fn strays(&self) -> Strays {
        self.0.state.borrow().life().map(|life| life.strays()).unwrap_or_default()
    }

    /// What happens from now on. Every listener gets everything.
    pub fn events(&self) -> Events {
        Events::new(self.0.events.subscribe())
    }

    /// Lists the tools again, without waiting for the server to say that they changed.
    pub fn refresh(&self) {
        if let Some(life) = self.0.state.borrow().life() {
            life.changes().note_all();
        }
    }
}

impl Drop for Handle {
    fn drop(&mut self) {
        // Takes the connection with it, and with that the child and all that the child started.
        self.supervisor.abort();
    }
}
