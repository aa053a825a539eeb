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
    violation::{Holder, Limit, Over, Quoted, Violation},
    wire::{
        AppCapabilities, DisplayMode, HostCapabilities, HostContext, Implementation,
        InitializeParams, InitializeResult, LogLevel, RawObject, SizeChangedParams, TeardownParams,
        ToolCancelledParams, ToolInputParams, method, negotiate,
    },
};

mod app_tools;
mod files;
mod limits;
mod members;
mod questions;
mod rate;
mod requests;
mod share;
mod size;
mod state;
mod task;
mod throttle;
mod tools;
mod work;

pub use app_tools::{AppAnswer, AppTool, NoSuchTool};
pub use files::file_name;
pub use limits::{Limits, MethodLimits, Terms};
pub use questions::{AT_ONCE, Preview, Question};
pub use rate::Rate;
pub use requests::REQUESTS;
pub use share::{ServerLimits, Share, Usage};
pub use size::Size;
pub use state::{Reason, TooLate};
pub use task::{File, FileBody, Task, ToolCall};
pub use tools::{Digest, Tools};

use app_tools::{AppTools, Asked};
use questions::Questions;
use rate::Bucket;
use requests::{Extent, Seen};
use share::Room;
use state::{Ending, Event, Move, News, Phase, State};
use throttle::Throttle;
use work::{Stage, Work};

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
}

/// Something that arrives, and is not the view's: what a view says goes through [`Session::hear`].
#[derive(Clone, Debug)]
pub enum Input<'a> {
    /// What came of a [`Task`]; ignored when nobody waits for it any more.
    Answer {
        /// The call it answers.
        call: u64,
        /// The result, or the error that the view gets to see.
        outcome: Result<&'a RawValue, ErrorObject<'a>>,
    },
    /// A sign of life from a [`Task`], with the params of a `notifications/progress`.
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

/// A list whose changes are announced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum List {
    /// Tools.
    Tools,
    /// Resources.
    Resources,
    /// Prompts.
    Prompts,
}

/// Something the session wants done.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Output {
    /// Send this text to the view.
    Send(String),
    /// Carry out a request of the view, then answer with [`Input::Answer`].
    Perform {
        /// What to answer to.
        call: u64,
        /// What to do.
        task: Task,
    },
    /// Stop carrying it out; no answer is wanted (H-75).
    Abort {
        /// The call.
        call: u64,
        /// Why, in the view's words or ours.
        reason: Quoted,
    },
    /// Ask a person, then tell with [`Input::Decision`].
    Ask(Question),
    /// Do not ask any more: the one who wanted to know is gone.
    Withdraw {
        /// The question.
        question: u64,
    },
    /// Nobody waits for the answer any more; what a person says counts for the next time alone (D6).
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
        /// What it was about: a tool, an address, a mode, or the method nobody knows.
        about: Quoted,
        /// The size of its params, in bytes.
        size: usize,
        /// The verdict.
        ruling: Ruling,
    },
    /// A person's decision found nobody who waits for it.
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
    /// The handshake is complete.
    Opened,
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
    /// The tools that the view offers now, in answer to [`Session::list_app_tools`].
    AppTools(Vec<AppTool>),
    /// What came of [`Session::call_app_tool`].
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
        /// The number that [`Session::call_app_tool`] gave it, if it did.
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
    /// Taken back before anybody decided: cancelled, or whoever wanted it is gone.
    Withdrawn,
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
    port: bool,
    state: State,
    story: Story,
    app: Option<Box<App>>,
    serving: Serving<u64>,
    work: Calls<Work>,
    asked: Calls<Asked>,
    questions: Questions,
    app_tools: AppTools,
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
    outputs: VecDeque<Output>,
}

/// What the host knows of the tool call that opened the view.
#[derive(Debug, Default)]
struct Story {
    arguments: Option<Box<RawValue>>,
    ending: Option<Box<RawValue>>,
}

/// What the view said about itself.
#[derive(Debug)]
struct App {
    info: Implementation,
    capabilities: AppCapabilities,
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

/// The view did not declare this display mode (H-80).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the view does not support {0}")]
pub struct ModeNotDeclared(pub DisplayMode);

/// The handshake is not complete, or the session is over.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the view is not ready")]
pub struct NotReady;

impl Session {
    /// Opens a session for a view that is about to be loaded.
    pub fn start(now: Duration, setup: Arc<Setup>, opening: Opening) -> Self {
        let Opening { context, tools, policy, decided, port } = opening;
        let limits = &setup.limits;
        Self {
            told_context: Arc::clone(&context),
            context,
            tools,
            policy,
            decided,
            port,
            state: State::start(now, setup.terms.phases()),
            story: Story::default(),
            app: None,
            serving: Serving::new(limits.calls),
            work: Calls::default(),
            asked: Calls::default(),
            questions: Questions::new(now),
            app_tools: AppTools::default(),
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
    /// method, without the rest. It is refused like one that was too large when it came.
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
        self.outputs.pop_front()
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
        ];
        all.into_iter().flatten().min()
    }

    /// Tells the view the arguments so far, healed into a JSON object. Only the latest is kept.
    pub fn tool_input_partial(&mut self, arguments: RawObject<'_>) -> Result<(), TooLate> {
        self.learn(News::Partial, |story| story.arguments = Some(arguments.raw().to_owned()))
    }

    /// Tells the view the complete arguments, a JSON object; `{}` for a call without any (H-60).
    pub fn tool_input(&mut self, arguments: RawObject<'_>) -> Result<(), TooLate> {
        self.learn(News::Arguments, |story| story.arguments = Some(arguments.raw().to_owned()))
    }

    /// Tells the view the tool's result, untouched (H-65).
    pub fn tool_result(&mut self, result: RawObject<'_>) -> Result<(), TooLate> {
        let result = result.raw();
        self.learn(News::Ending(Ending::Result), |story| story.ending = Some(result.to_owned()))
    }

    /// Tells the view that there will be no result (H-66, H-67).
    pub fn tool_cancelled(&mut self, reason: Option<&str>) -> Result<(), TooLate> {
        let params = rpc::raw(&ToolCancelledParams { reason: reason.map(str::to_owned) });
        self.learn(News::Ending(Ending::Cancelled), |story| story.ending = Some(params))
    }

    /// Replaces the view's surroundings; the view is told which top-level keys changed (H-87).
    pub fn set_context(&mut self, context: Arc<HostContext>) -> Result<(), ModeNotDeclared> {
        if let Some(mode) = context.display_mode
            && self.context.display_mode != Some(mode)
            && !self.app_declares(mode)
        {
            return Err(ModeNotDeclared(mode));
        }
        self.context = context;
        self.tell_context();
        // The view has said what it needs and will not say it again because there is more room now.
        let new = self.followed();
        if size::matters(self.size, new) {
            self.outputs.push_back(Output::Resize(new));
            self.size = new;
        }
        // An axis that the host took over has no size of ours to return to.
        self.size.width = self.size.width.filter(|_| new.width.is_some());
        self.size.height = self.size.height.filter(|_| new.height.is_some());
        Ok(())
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

    /// Replaces what people have decided: somebody answered in another view of the same server, or took
    /// an answer back.
    pub fn set_decided(&mut self, decided: Decided) {
        self.decided = decided;
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

    /// Whether the handshake is complete and nobody has closed it.
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

    /// One step of the table, and what it wants done.
    fn step(&mut self, now: Duration, event: Event) -> Result<(), Violation> {
        let (state, moves) = self.state.step(now, event, self.setup.terms.phases())?;
        self.state = state;
        for step in moves {
            self.carry_out(now, step);
        }
        Ok(())
    }

    fn learn(&mut self, news: News, keep: impl FnOnce(&mut Story)) -> Result<(), TooLate> {
        let (state, moves) = self.state.learn(news)?;
        self.state = state;
        keep(&mut self.story);
        for step in moves {
            self.tell(step);
        }
        Ok(())
    }

    fn carry_out(&mut self, now: Duration, step: Move) {
        match step {
            Move::Forget => {
                // What nobody fetched yet was meant for the old instance. The new one must not hear
                // it before `initialized` (H-53), nor take an answer for one to its own request.
                self.outputs.retain(|output| !matches!(output, Output::Send(_)));
                self.forget(now, "the view was loaded anew");
            }
            // The caller greets: it holds the request that is answered.
            Move::Greet => {}
            Move::Open => self.open(),
            Move::Partial | Move::Input | Move::Ending => self.tell(step),
            Move::TearDown(reason) => self.tear_down(now, reason),
            Move::Close(reason) => self.end(now, reason),
        }
    }

    /// Sends what the step table says the view may know now.
    fn tell(&mut self, step: Move) {
        let arguments = self.story.arguments.as_deref();
        let (method, params) = match step {
            Move::Partial => (method::TOOL_INPUT_PARTIAL, tool_input(arguments)),
            Move::Input => (method::TOOL_INPUT, tool_input(arguments)),
            Move::Ending => {
                let ending = self.story.ending.clone().expect("an ending is known when it is told");
                let method = match self.state.known.ending {
                    Some(Ending::Cancelled) => method::TOOL_CANCELLED,
                    _ => method::TOOL_RESULT,
                };
                (method, ending)
            }
            _ => return,
        };
        self.notify(method, Some(&params));
    }

    fn open(&mut self) {
        self.outputs.push_back(Output::Opened);
        self.tell_context();
        for list in [List::Tools, List::Resources, List::Prompts] {
            if std::mem::take(&mut self.lists[list as usize]) {
                self.notify(list.method(), None);
            }
        }
    }

    /// Sends what of the context this instance does not know yet, if the gate is open.
    fn tell_context(&mut self) {
        if !self.is_ready() {
            return;
        }
        let diff = self.told_context.diff(&self.context);
        self.told_context = Arc::clone(&self.context);
        if !diff.is_empty() {
            self.notify(method::HOST_CONTEXT_CHANGED, Some(&rpc::raw(&diff)));
        }
    }

    fn tear_down(&mut self, now: Duration, reason: Reason) {
        let params = rpc::raw(&TeardownParams { reason: reason.words().map(str::to_owned) });
        // The phase has a deadline of its own; the table entry must not fire before it.
        let patience = self.setup.terms.teardown.saturating_mul(2);
        self.ask_view(now, patience, Asked::TearDown, method::RESOURCE_TEARDOWN, Some(&params));
    }

    /// Nothing of the session survives its end (H-134).
    fn end(&mut self, now: Duration, reason: Reason) {
        for question in self.questions.drain() {
            self.outputs.push_back(Output::Withdraw { question });
        }
        self.forget(now, "the view was closed");
        self.outputs.push_back(Output::Closed(reason));
    }

    /// Gives up everything that belongs to one instance of the view: it is not there to hear of it,
    /// and the next one counts its ids from zero again.
    fn forget(&mut self, now: Duration, why: &str) {
        self.serving.drain();
        for (call, work) in self.work.drain() {
            match work.stage {
                Stage::Running => {
                    self.outputs.push_back(Output::Abort { call, reason: why.into() });
                }
                Stage::Asking(_) => self.taken_back(call, &work),
            }
        }
        self.forget_app_tools();
        self.withdraw_all(now);
        self.app = None;
        self.beat = None;
        // The next document may live in a new frame, whose size is nobody's yet.
        self.reported = SizeChangedParams::default();
        self.size = Size::default();
        self.resize.clear();
        self.list_changed.clear();
    }

    fn reload(&mut self, now: Duration) -> Result<(), Violation> {
        if !self.counts_instance(now) {
            self.stop_reloads(now);
            return Err(self.too_many_instances());
        }
        self.step(now, Event::Reloaded)
    }

    /// Counts a new instance; false if it is one too many.
    fn counts_instance(&mut self, now: Duration) -> bool {
        self.meters.instances.take(self.setup.limits.instances, now, 1.0)
    }

    fn too_many_instances(&self) -> Violation {
        self.over(Limit::Instances, self.setup.limits.instances.burst as u64).into()
    }

    fn over(&self, limit: Limit, most: u64) -> Over {
        Over { limit, of: Holder::View, most }
    }

    /// Takes away a view that is loaded over and over. It is a document that never got ready, so it is
    /// removed without a word (H-53, H-133).
    fn stop_reloads(&mut self, now: Duration) {
        let _ = self.step(now, Event::Reloaded);
        self.close(now, Reason::ReloadLoop);
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
    }

    fn resized(&mut self, now: Duration, report: SizeChangedParams) {
        self.reported = SizeChangedParams {
            width: report.width.or(self.reported.width),
            height: report.height.or(self.reported.height),
        };
        let new = self.followed();
        if !size::matters(self.size, new) {
            return;
        }
        self.size = new;
        if self.resize.hit(now, self.setup.terms.resize) {
            self.outputs.push_back(Output::Resize(new));
        }
    }

    /// The size that the view has asked for, as far as there is room.
    fn followed(&self) -> Size {
        size::clamp(self.reported, self.context.container_dimensions.as_ref())
    }

    fn relay_list_changed(&mut self, list: List) {
        if !self.announces(list) || self.is_closed() {
            return;
        }
        match self.state.phase {
            Phase::Ready => self.notify(list.method(), None),
            _ => self.lists[list as usize] = true,
        }
    }

    /// H-72: only what was promised is relayed.
    fn announces(&self, list: List) -> bool {
        let offered = &self.setup.capabilities;
        match list {
            List::Tools => offered.server_tools.is_some_and(|tools| tools.list_changed),
            List::Resources => offered.server_resources.is_some_and(|list| list.list_changed),
            List::Prompts => self.setup.prompts,
        }
    }

    fn app_declares(&self, mode: DisplayMode) -> bool {
        let declared =
            self.app.as_ref().and_then(|app| app.capabilities.available_display_modes.as_ref());
        declared.is_none_or(|modes| modes.contains(&mode))
    }

    fn greet(
        &mut self,
        now: Duration,
        seen: &Seen,
        params: InitializeParams,
    ) -> Result<(), Violation> {
        // Whoever waited for a greeting was counted when it was loaded.
        let waited = matches!(self.state.phase, Phase::Waiting { .. });
        if !waited && !self.counts_instance(now) {
            let violation = self.too_many_instances();
            // Now: nothing comes after the end that follows.
            self.rule(seen, Ruling::Refused(violation.clone()));
            self.stop_reloads(now);
            return Err(violation);
        }
        self.step(now, Event::Greeting)?;
        self.rule(seen, Ruling::Allowed);
        self.told_context = Arc::clone(&self.context);
        let result = InitializeResult {
            protocol_version: negotiate(&params.protocol_version).to_owned(),
            host_info: self.setup.info.clone(),
            host_capabilities: self.capabilities_for(&params.app_capabilities),
            host_context: HostContext::clone(&self.context),
            rest: serde_json::Map::new(),
        };
        self.reply(&seen.id, &rpc::raw(&result));
        let InitializeParams { app_info: info, app_capabilities: capabilities, .. } = params;
        self.outputs
            .push_back(Output::Greeted { info: info.clone(), capabilities: capabilities.clone() });
        self.app = Some(Box::new(App { info, capabilities }));
        Ok(())
    }

    /// What the host offers, and the port if both ends can have one.
    fn capabilities_for(&self, app: &AppCapabilities) -> HostCapabilities {
        let mut offered = self.setup.capabilities.clone();
        let wanted = app.experimental.as_ref().is_some_and(|all| all.contains_key(PORT));
        if wanted && self.port {
            let experimental = offered.experimental.get_or_insert_default();
            experimental.insert(PORT.to_owned(), serde_json::Map::new());
        }
        offered
    }

    /// Sends a notification. Only ever called with the gate open.
    fn notify(&mut self, method: &'static str, params: Option<&RawValue>) {
        let message = rpc::Notification { method: method.into(), params };
        self.outputs.push_back(Output::Send(rpc::Message::Notification(message).print()));
    }

    fn reply(&mut self, id: &rpc::Id, result: &RawValue) {
        self.respond(id, Ok(result));
    }

    fn respond(&mut self, id: &rpc::Id, outcome: Result<&RawValue, ErrorObject<'_>>) {
        let message = rpc::Message::Response(rpc::Response { id: id.clone(), outcome });
        self.outputs.push_back(Output::Send(message.print()));
    }

    /// Sends a request of ours, if the gate is open.
    fn request(
        &mut self,
        now: Duration,
        patience: Duration,
        asked: Asked,
        method: &'static str,
        params: Option<&RawValue>,
    ) -> Result<u64, NotReady> {
        if !self.is_ready() {
            return Err(NotReady);
        }
        Ok(self.ask_view(now, patience, asked, method, params))
    }
}

impl List {
    fn method(self) -> &'static str {
        match self {
            Self::Tools => method::TOOLS_LIST_CHANGED,
            Self::Resources => method::RESOURCES_LIST_CHANGED,
            Self::Prompts => method::PROMPTS_LIST_CHANGED,
        }
    }
}

impl Reason {
    /// What the view is told.
    fn words(self) -> Option<&'static str> {
        match self {
            Self::Closed
            | Self::NeverInitialized
            | Self::PastSandbox
            | Self::NotText
            | Self::PageGone => None,
            Self::Asked => Some("the view asked to be closed"),
            Self::ReloadLoop => Some("the view was loaded too often"),
            Self::Flood => Some("the view broke too many rules"),
            Self::Focus => Some("the view took the keyboard"),
            Self::TakenBack => Some("what the view was given was taken back"),
            Self::ServerGone => Some("the server is gone"),
        }
    }
}

impl Terms {
    fn phases(&self) -> state::Terms {
        state::Terms { handshake: self.handshake, teardown: self.teardown }
    }
}

fn tool_input(arguments: Option<&RawValue>) -> Box<RawValue> {
    let arguments = arguments.and_then(RawObject::new).unwrap_or_default();
    rpc::raw(&ToolInputParams { arguments })
}

/// The experimental capability under which both ends offer a port of their own.
pub const PORT: &str = "transom/port";
