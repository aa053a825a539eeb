//! The host's end of one view's life.
//!
//! A [`Session`] is a value: messages of the view go in through [`Session::hear`], answers, decisions
//! and the time through [`Session::handle`], wishes of the application through its verbs, and
//! everything it wants done comes out of [`Session::poll`], oldest first. It judges every message of
//! the view, and nothing else does.
//!
//! ```text
//!               hear                Output::Perform, Abort
//!   view ───────────────▶         ─────────────────────────▶ server, browser, model
//!        ◀─────────────── Session ◀─────────────────────────
//!            Output::Send         ◀──┐ Input::Answer, Progress
//!                                    │ Output::Ask ──▶ person ──▶ Input::Decision
//! ```

use std::{
    collections::{BTreeMap, VecDeque},
    sync::Arc,
    time::Duration,
};

use serde_json::value::RawValue;

use crate::{
    calls::{Calls, Serving},
    policy::{Decided, Decision, Policy},
    rpc::{self, ErrorObject},
    violation::{Holder, Limit, Over, Violation},
    wire::{
        AppCapabilities, HostCapabilities, HostContext, Implementation, SizeChangedParams, method,
    },
};

mod app_tools;
mod asks;
mod files;
mod for_model;
mod handles;
mod hear;
mod life;
mod limits;
mod lists;
mod members;
mod notices;
mod output;
mod plain;
mod questions;
mod rate;
mod readable;
mod requests;
mod share;
mod size;
mod state;
mod story;
mod surroundings;
mod task;
mod throttle;
mod tools;
mod wanted;
mod work;

pub use app_tools::{AppAnswer, AppTool, NoSuchTool};
pub use files::file_name;
pub use for_model::ForModel;
pub use limits::{Limits, MethodLimits, Terms};
pub use lists::List;
pub use output::{Output, Ruling, Which};
pub use questions::{AT_ONCE, Preview, Question};
pub use rate::Rate;
pub use readable::{Part, PartBody};
pub use requests::REQUESTS;
pub use share::{ServerLimits, Share, Usage};
pub use size::Size;
pub use state::{Reason, TooLate};
pub use surroundings::ModeNotDeclared;
pub use task::{File, FileBody, Task, ToolCall};
pub use tools::{Digest, Tools};

use app_tools::AppTools;
use asks::Asked;
use handles::Handles;
use hear::Extent;
use plain::Plain;
use questions::Questions;
use rate::Bucket;
use share::Room;
use state::{Event, Phase, State};
use story::Story;
use throttle::Throttle;
use work::Work;

/// What all sessions of a host have in common.
#[derive(Clone, Debug, Default)]
pub struct Setup {
    /// Who the host is.
    pub info: Implementation,
    /// What it offers. Nothing that is missing here is answered but with "no such method" (H-72).
    pub capabilities: HostCapabilities,
    /// Whether the server has prompts to list, for which there is no capability.
    pub prompts: bool,
    /// What a view may use up.
    pub limits: Limits,
    /// How long things may take.
    pub terms: Terms,
    /// Whether messages that were posted as JSON strings are taken too
    /// (docs/reference/mcp-apps.md §4.2).
    pub accept_strings: bool,
}

/// What one session starts from. Everything large is shared.
#[derive(Clone, Debug, Default)]
pub struct Opening {
    /// What the view is told about its surroundings.
    pub context: Arc<HostContext>,
    /// The tools of the server it came from.
    pub tools: Arc<Tools>,
    /// The rules for that server.
    pub policy: Arc<Policy>,
    /// What people have decided about it before.
    pub decided: Decided,
    /// Whether the page can hand the view a port of its own; if both can, the answer says so.
    pub port: bool,
    /// Whether its document came in the result of a tool, as mcp-ui has it: it may never say anything.
    pub embedded: bool,
    /// What such a document brought along to be shown, a JSON object.
    pub render_data: Option<Box<RawValue>>,
}

/// Something that arrives, and is not the view's: what a view says goes through [`Session::hear`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Input<'a> {
    /// What came of a [`Task`]; ignored when the view does not wait for it any more.
    Answer {
        /// The call it answers.
        call: u64,
        /// The result, or the error that the view gets to see.
        outcome: Result<&'a RawValue, ErrorObject<'a>>,
    },
    /// Progress of a [`Task`], with the params of a `notifications/progress`.
    Progress {
        /// The call it belongs to.
        call: u64,
        /// What the server said, with whatever token.
        params: &'a RawValue,
    },
    /// A person answered an [`Output::Ask`].
    Decision {
        /// The question.
        question: u64,
        /// The answer.
        decision: Decision,
    },
    /// The server says that one of its lists changed.
    ListChanged(List),
    /// The view's frame is given a new document. Say so when the document is handed out: after its
    /// first message it would cost the new one its handshake. A frame's `load` comes too late.
    Reloaded,
    /// Nothing but the time.
    Tick,
}

/// The host's end of one session. See the module's picture.
#[derive(Debug)]
pub struct Session {
    setup: Arc<Setup>,
    context: Arc<HostContext>,
    /// The context as this instance knows it.
    told_context: Arc<HostContext>,
    tools: Arc<Tools>,
    policy: Arc<Policy>,
    decided: Decided,
    /// What people decided for as long as this view lives.
    here: Decided,
    port: bool,
    embedded: bool,
    plain: Plain,
    state: State,
    story: Story,
    app: Option<Box<App>>,
    serving: Serving<u64>,
    work: Calls<Work>,
    asked: Calls<Asked>,
    questions: Questions,
    app_tools: AppTools,
    handles: Handles,
    meters: Meters,
    /// What the server's other views leave to this one, while a message is judged.
    room: Option<Room>,
    /// What the view last said of its size, axis by axis.
    reported: SizeChangedParams,
    /// What the frame was last told to be.
    size: Size,
    resize: Throttle,
    list_changed: Throttle,
    lists: [bool; 3],
    beat: Option<Duration>,
    quiet: Option<Duration>,
    outputs: VecDeque<Output>,
}

/// What the view said about itself.
#[derive(Debug)]
struct App {
    info: Implementation,
    capabilities: AppCapabilities,
    /// The revision that was agreed on.
    revision: &'static str,
}

#[derive(Debug)]
struct Meters {
    messages: Bucket,
    bytes: Bucket,
    strikes: Bucket,
    instances: Bucket,
    /// Of the methods that have a limit of their own, once they are used.
    methods: BTreeMap<&'static str, Bucket>,
}

/// The handshake is not complete, or the session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the view is not ready")]
pub struct NotReady;

impl Session {
    /// Opens a session for a view that is about to be loaded.
    pub fn start(now: Duration, setup: Arc<Setup>, opening: Opening) -> Self {
        let Opening { context, tools, policy, decided, port, embedded, render_data } = opening;
        let (limits, quiet) = (&setup.limits, setup.terms.quiet);
        Self {
            told_context: Arc::clone(&context),
            context,
            tools,
            policy,
            decided,
            here: Decided::default(),
            port,
            embedded,
            plain: Plain::new(render_data),
            state: State::start(now, setup.terms.phases(embedded)),
            story: Story::default(),
            app: None,
            serving: Serving::new(limits.calls),
            work: Calls::default(),
            asked: Calls::default(),
            questions: Questions::new(now),
            app_tools: AppTools::default(),
            handles: Handles::default(),
            meters: Meters {
                messages: Bucket::full(limits.messages, now),
                bytes: Bucket::full(limits.bytes, now),
                strikes: Bucket::full(limits.strikes, now),
                instances: Bucket::full(limits.instances, now),
                methods: BTreeMap::new(),
            },
            room: None,
            reported: SizeChangedParams::default(),
            size: Size::default(),
            resize: Throttle::default(),
            list_changed: Throttle::default(),
            lists: [false; 3],
            beat: None,
            quiet: (!embedded).then(|| now.saturating_add(quiet)),
            outputs: VecDeque::new(),
            setup,
        }
    }

    /// Takes one input. One that is refused changes nothing but the count of refusals.
    pub fn handle(&mut self, now: Duration, input: Input<'_>) -> Result<(), Violation> {
        self.tick(now);
        match input {
            Input::Answer { call, outcome } => {
                self.answer(call, outcome);
                Ok(())
            }
            Input::Progress { call, params } => {
                self.relay_progress(now, call, params);
                Ok(())
            }
            Input::Decision { question, decision } => {
                self.decide(now, question, decision);
                Ok(())
            }
            Input::ListChanged(list) => {
                self.relay_list_changed(list);
                Ok(())
            }
            Input::Reloaded => self.reload(now),
            Input::Tick => Ok(()),
        }
    }

    /// Takes one message of the view, as JSON text, within what all views of its server share. One that
    /// is refused changes nothing but the meters. A request is never an error here: its refusal is a
    /// verdict ([`Output::Judged`]), and the view is told why.
    pub fn hear(&mut self, now: Duration, text: &str, share: &mut Share) -> Result<(), Violation> {
        self.tick(now);
        self.receive(now, text, share, Extent::Whole)
    }

    /// Takes what is known of a message of the view that was too large to be brought here: a message with its id and its
    /// method, without the rest, or nothing. It is refused like one that was too large when it came.
    pub fn hear_of(
        &mut self,
        now: Duration,
        text: &str,
        share: &mut Share,
    ) -> Result<(), Violation> {
        self.tick(now);
        self.receive(now, text, share, Extent::Outline)
    }

    /// What to do next, oldest first.
    pub fn poll(&mut self) -> Option<Output> {
        self.outputs.pop_front().or_else(|| self.tell_render_data())
    }

    /// When [`Input::Tick`] is due, at the latest.
    pub fn deadline(&self) -> Option<Duration> {
        if self.is_closed() {
            return None;
        }
        let all = [
            self.state.deadline(),
            self.work.deadline(),
            self.asked.deadline(),
            self.resize.deadline(),
            self.list_changed.deadline(),
            self.beat,
            self.quiet,
        ];
        all.into_iter().flatten().min().filter(|due| *due < Duration::MAX)
    }

    /// Replaces the tools of the server; the next call is judged by the new ones (H-15).
    pub fn set_tools(&mut self, tools: Arc<Tools>) {
        self.tools = tools;
        self.recheck_app_tools();
    }

    /// Replaces the rules; the next wish is judged by the new ones.
    pub fn set_policy(&mut self, policy: Arc<Policy>) {
        self.policy = policy;
    }

    /// Asks the view whether it still lives; [`Output::Pong`] tells.
    pub fn ping(&mut self, now: Duration) -> Result<(), NotReady> {
        let patience = self.setup.terms.teardown;
        self.request(now, patience, Asked::Ping, method::PING, None).map(drop)
    }

    /// Begins to take the view away: asks it to save its things if it was ready (H-130), and ends
    /// with [`Output::Closed`] in bounded time, whatever the view does (H-131).
    pub fn close(&mut self, now: Duration, reason: Reason) {
        let _ = self.step(now, Event::Close(reason));
    }

    /// Whether the handshake is complete and the session is not closing.
    pub fn is_ready(&self) -> bool {
        matches!(self.state.phase, Phase::Ready)
    }

    /// Whether it is over.
    pub fn is_closed(&self) -> bool {
        matches!(self.state.phase, Phase::Closed)
    }

    /// The view's surroundings, as the host last set them.
    pub fn context(&self) -> &Arc<HostContext> {
        &self.context
    }

    /// What people have decided, up to now.
    pub fn decided(&self) -> &Decided {
        &self.decided
    }

    /// What the view said about itself, once it has (H-114).
    pub fn app(&self) -> Option<(&Implementation, &AppCapabilities)> {
        self.app.as_ref().map(|app| (&app.info, &app.capabilities))
    }

    /// How many requests of the view are not answered yet.
    pub fn in_flight(&self) -> usize {
        self.work.len()
    }

    /// What the view uses at the moment. What waits for the page is not known here.
    pub fn usage(&self) -> Usage {
        let questions = self.questions.open();
        // Whatever is held is held for a question.
        let held = if questions == 0 { 0 } else { self.held() };
        Usage { calls: self.work.len(), questions, held, queued: 0 }
    }

    /// The limits of the view.
    pub fn limits(&self) -> &Limits {
        &self.setup.limits
    }

    fn over(&self, limit: Limit, most: u64) -> Over {
        Over { limit, of: Holder::View, most }
    }

    /// Everything that happens by itself.
    fn tick(&mut self, now: Duration) {
        if self.is_closed() {
            return;
        }
        self.step(now, Event::Tick).expect("the table takes a tick in every phase");
        while let Some((call, work)) = self.work.expire(now) {
            self.give_up(call, work);
        }
        while let Some((call, asked)) = self.asked.expire(now) {
            self.no_answer(call, asked);
        }
        if self.resize.release(now) {
            self.outputs.push_back(Output::Resize(self.size));
        }
        if self.list_changed.release(now) {
            self.outputs.push_back(Output::AppToolsChanged);
        }
        if self.beat.is_some_and(|beat| beat <= now) {
            self.heartbeat(now);
        }
        self.tell_quiet(now);
    }

    /// Sends a notification. Only ever called with the gate open.
    fn notify(&mut self, method: &'static str, params: Option<&RawValue>) {
        let message = rpc::Notification { method: method.into(), params };
        self.send(&rpc::Message::Notification(message));
    }

    fn reply(&mut self, id: &rpc::Id, result: &RawValue) {
        self.respond(id, Ok(result));
    }

    fn respond(&mut self, id: &rpc::Id, outcome: Result<&RawValue, ErrorObject<'_>>) {
        self.send(&rpc::Message::Response(rpc::Response { id: id.clone(), outcome }));
    }
}

/// The experimental capability under which both ends offer a port of their own.
pub const PORT: &str = "transom/port";
