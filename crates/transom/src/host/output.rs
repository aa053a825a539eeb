//! What a session wants done.

use serde_json::value::RawValue;

use super::{AppAnswer, AppTool, Question, Reason, Size, Task, ToolCall};
use crate::{
    policy::Decision,
    rpc,
    violation::{Quoted, Violation},
    wire::{AppCapabilities, Implementation, LogLevel},
};

/// Something the session wants done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send this text to the view.
    Send(String),
    /// Carry out a request of the view, then answer with [`Input::Answer`](super::Input::Answer).
    Perform {
        /// What to answer to.
        call: u64,
        /// What to do.
        task: Task,
    },
    /// Call a tool that the view offers, with [`Session::send_app_call`](super::Session::send_app_call), as soon as
    /// whatever must come first is done; or give it up with
    /// [`Session::give_up_app_call`](super::Session::give_up_app_call).
    CallAppTool {
        /// The number that [`Session::call_app_tool`](super::Session::call_app_tool) gave it.
        call: u64,
        /// The tool.
        name: Quoted,
        /// The params that the view gets, to the byte.
        params: Box<RawValue>,
    },
    /// Stop carrying it out; no answer is wanted (H-75).
    Abort {
        /// The call.
        call: u64,
        /// Why, in the view's words or ours.
        reason: Quoted,
    },
    /// Call this tool of the view's server, and drop what came of it: what a handle of the view's stands for has to end
    /// (HST-3).
    Release(ToolCall),
    /// Ask a person, then tell with [`Input::Decision`](super::Input::Decision).
    Ask(Question),
    /// Do not ask any more: the one who wanted to know is gone.
    Withdraw {
        /// The question.
        question: u64,
    },
    /// The view does not wait for the answer any more; what a person says counts for the next time alone (D6).
    Unawaited {
        /// The question.
        question: u64,
    },
    /// A request waits for a person; its verdict comes later.
    Waits {
        /// The request.
        which: Which,
        /// The method.
        method: &'static str,
        /// What it is about: a tool, an address, a mode.
        about: Quoted,
        /// The question that decides it, which others may wait for too.
        question: u64,
    },
    /// A request was judged: once and for all, and before anything comes of it. Every request of the
    /// view is, whatever became of it, and so is every call of a tool that the view offers.
    Judged {
        /// The request.
        which: Which,
        /// The method; none if it is not one of those we know.
        method: Option<&'static str>,
        /// What it was about: a tool, an address, a mode, or a method that is not known.
        about: Quoted,
        /// The size of its params, in bytes.
        size: usize,
        /// The verdict.
        ruling: Ruling,
    },
    /// A person decided, and no request waits for it.
    Unheard {
        /// The question.
        question: u64,
        /// The decision.
        decision: Decision,
        /// Whether the question was still open, so that the decision counts the next time. If not, it
        /// was decided or withdrawn before, or never asked.
        late: bool,
    },
    /// Make the frame this large.
    Resize(Size),
    /// The view said who it is. Says it again for every new instance.
    Greeted {
        /// Who it says it is.
        info: Implementation,
        /// What it says it can do.
        capabilities: AppCapabilities,
    },
    /// The view speaks mcp-ui's own messages, which came before MCP Apps. It needs no handshake.
    McpUi,
    /// The handshake is complete.
    Opened,
    /// A while has passed and it is not. Said once for each instance.
    Quiet {
        /// Whether the view said `ui/initialize` at least.
        greeted: bool,
    },
    /// A request came before the handshake was complete; it was taken all the same (H-59).
    Early {
        /// The method.
        method: Quoted,
    },
    /// Members of a request were left out: they are not among those that come from a view.
    Dropped {
        /// The method.
        method: &'static str,
        /// Some of their names.
        names: Vec<Quoted>,
        /// How many more there are.
        more: usize,
    },
    /// A log line of the view.
    Log {
        /// How bad it is.
        level: LogLevel,
        /// Who in the view says so.
        logger: Option<Quoted>,
        /// What it says: the beginning of it, as JSON.
        data: Quoted,
    },
    /// The view would like to be closed (H-132).
    CloseWanted,
    /// The view says that its tools changed; list them again if you want to know (H-117).
    AppToolsChanged,
    /// The tools that the view offers now, in answer to [`Session::list_app_tools`](super::Session::list_app_tools).
    AppTools(Vec<AppTool>),
    /// What came of [`Session::call_app_tool`](super::Session::call_app_tool).
    AppAnswer {
        /// The call.
        call: u64,
        /// What came of it.
        outcome: AppAnswer,
    },
    /// The view answered a ping, or did not in time.
    Pong {
        /// Whether it did.
        alive: bool,
    },
    /// It is over; nothing comes after.
    Closed(Reason),
}

/// Which request it is. The calls of the two kinds are counted apart.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Which {
    /// A request of the view.
    View {
        /// The id that the view gave it.
        id: rpc::Id,
        /// The call that it opened, if it is more than answered on the spot.
        call: Option<u64>,
    },
    /// A call of a tool that the view offers.
    App {
        /// The number that [`Session::call_app_tool`](super::Session::call_app_tool) gave it, if it did.
        call: Option<u64>,
    },
}

/// A verdict, as it is written down.
#[derive(Clone, Debug, PartialEq)]
pub enum Ruling {
    /// Allowed.
    Allowed,
    /// Refused, and why.
    Refused(Violation),
    /// Taken back before a person decided: the request was cancelled, or the view that made it is gone.
    Withdrawn,
}
