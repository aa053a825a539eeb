//! Drives one machine per view. All views of all pages are in one loop, the only one that touches them;
//! whatever takes time happens outside and comes back as an event.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use serde_json::value::RawValue;
use tokio::{
    sync::{OwnedSemaphorePermit, mpsc, oneshot, watch},
    time::Instant,
};
use transom::{
    host::{
        self, FileBody, Input, Opening, Output, Question, Rate, Reason, Ruling, Session, Setup,
        Share, Task, ToolCall, Usage,
    },
    partial::Healer,
    policy::{Claimed, Decided, Decision, Subject},
    printed::Printed,
    rpc::ErrorObject,
    violation::{Holder, Limit, Over, Quoted, Violation},
    wire::{DisplayMode, HostContext, HostStyles, RawObject},
};

mod allowance;
mod deeds;
mod ledger;
mod memory;
mod offers;
mod pace;
mod tabs;
mod writing;

use allowance::Allowance;
use ledger::{Held, Ledger};
pub(crate) use memory::{Memory, ShownDecision, ShownDecisions};
use pace::{Pace, pace_of};
use tabs::Page;

use crate::{
    audit::{Audit, AuditError, Record},
    consent::{self, Choice},
    context,
    decisions::DecisionId,
    envelope::{
        self, Answer, Ask, CloseReason, Deed, Did, Frame, FromPage, Mount, Open, Said, Stream,
        ToPage, ViewId, Welcome,
    },
    fallback, grants,
    log::Log,
    place::Place,
    sandbox::{Mounted, Sandbox},
    server::{Doubt, Prepared, Server, Servers},
    upstream::{CallError, CallOptions, Outcome, Request, Update},
    words,
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

/// The loop.
pub(crate) struct Driver {
    start: Instant,
    accounts: HashMap<String, Account>,
    most_views: usize,
    styles: HostStyles,
    servers: Arc<Servers>,
    sandbox: Sandbox,
    log: Arc<Log>,
    events: mpsc::Sender<Event>,
    pages: HashMap<String, Page>,
    views: HashMap<ViewId, Seat>,
    /// What people have decided about each server (D6): for all of its views, and for its next one.
    decided: HashMap<String, Decided>,
    memory: Memory,
    /// How many questions were asked before views were shown.
    first_questions: u64,
    timers: BTreeSet<(Duration, ViewId)>,
    /// Views that said something since the last confirmation, each once.
    unconfirmed: Vec<ViewId>,
    confirm_at: Option<Duration>,
    closing: Option<oneshot::Sender<()>>,
    ledger: Ledger,
}

/// What the loop is made from.
pub(crate) struct Parts {
    pub(crate) setup: Setup,
    /// The most views at a time, of all servers.
    pub(crate) most_views: usize,
    pub(crate) styles: HostStyles,
    pub(crate) servers: Arc<Servers>,
    pub(crate) sandbox: Sandbox,
    pub(crate) log: Arc<Log>,
    pub(crate) events: mpsc::Sender<Event>,
    pub(crate) audit: Option<Audit>,
    pub(crate) memory: Memory,
}

/// One server's views, taken together.
struct Account {
    setup: Arc<Setup>,
    share: Share,
    place: Place,
}

/// One view's place.
struct Seat {
    stream: Stream,
    page: String,
    open: Open,
    server: String,
    tool: String,
    /// When it is looked at next; something may have put off what it was to be looked at for.
    timer: Option<Duration>,
    /// Whether it is among those that a confirmation is for.
    unconfirmed: bool,
    /// The arguments of its tool, while they are being written.
    writing: Option<Healer>,
    /// What the tool answered, until a session takes it.
    outcome: Option<Outcome>,
    /// The same as text, in case there is no view to show it.
    text: Option<String>,
    life: Life,
    /// What the account of its server has been told that it uses.
    used: Usage,
    /// How often something was opened here.
    turn: u64,
    /// Whether its opening is written down and its end is not.
    open_row: bool,
    /// Stops the tool that opened it, while it runs.
    call: Option<oneshot::Sender<&'static str>>,
    /// When the person was last told of a limit that it reached.
    noted: HashMap<(Limit, Holder), Duration>,
    pace: Pace,
}

enum Life {
    /// Its document is being read.
    Opening,
    /// Its document is not the one that somebody agreed to, and waits until they do.
    Judging(Box<Prepared>, Box<Ask>),
    /// Its document declares private addresses, these, and waits until somebody says whether it gets them.
    Admitting(Box<Prepared>, Box<Ask>, BTreeSet<String>),
    /// What they are asked or decided, or which document runs, is not written down yet.
    Judged(Box<Prepared>),
    Live(Box<Live>),
    /// There is no view; what the tool answers is shown in its place.
    Text {
        why: Words,
        reason: &'static str,
    },
    Ended,
}

struct Live {
    session: Session,
    server: Arc<Server>,
    /// The names that it is served under, for as long as it lives.
    _mounted: Mounted,
    /// The private addresses that it reaches because a person agreed.
    reaches: BTreeSet<String>,
    mount: Mount,
    calls: HashMap<u64, oneshot::Sender<Quoted>>,
    asked: HashMap<String, Asked>,
    /// What the page was told to do, and the call that it is done for.
    deeds: HashMap<String, (u64, Deed)>,
    /// Calls of its own tools, by the names that the page gave them.
    offered: HashMap<u64, String>,
    /// How many of its refusals are written in the log, and how many of its other lines.
    refusals: Allowance,
    lines: Allowance,
    mode_call: Option<u64>,
}

/// A question on the page.
struct Asked {
    ask: Ask,
    about: About,
}

enum About {
    /// What the session wants to know.
    Question(u64, Subject, Claimed),
    /// The click for something that is allowed already.
    Click(u64, Deed),
}

impl Driver {
    pub(crate) fn new(parts: Parts) -> Self {
        let Parts { setup, most_views, styles, servers, sandbox, log, events, audit, memory } =
            parts;
        let account = |(name, server): (&String, &Arc<Server>)| {
            let (limits, together) = server.limits();
            let setup = Arc::new(Setup { limits: limits.clone(), ..setup.clone() });
            let share = Share::new(Duration::ZERO, *together);
            (name.clone(), Account { setup, share, place: server.place().clone() })
        };
        Self {
            ledger: Ledger::new(audit),
            start: Instant::now(),
            accounts: servers.iter().map(account).collect(),
            most_views,
            styles,
            servers,
            sandbox,
            log,
            events,
            pages: HashMap::new(),
            views: HashMap::new(),
            decided: HashMap::new(),
            memory,
            first_questions: 0,
            timers: BTreeSet::new(),
            unconfirmed: vec![],
            confirm_at: None,
            closing: None,
        }
    }

    /// Runs until it is told to close, and every view has had its time to save.
    pub(crate) async fn run(mut self, mut events: mpsc::Receiver<Event>) {
        let mut audit = self.ledger.state();
        let mut waiting = Vec::with_capacity(TOGETHER);
        self.recall();
        loop {
            tokio::select! {
                count = events.recv_many(&mut waiting, TOGETHER), if !self.ledger.is_full() => {
                    if count == 0 {
                        return;
                    }
                    waiting.drain(..).for_each(|event| self.handle(event));
                }
                (written, failed) = progress_of(&mut audit) => {
                    self.written(written, failed.as_ref());
                }
                () = sleep_until(self.start, self.next()) => self.tick(),
            }
            if self.closing.is_some() && !self.views.values().any(Seat::is_live) {
                let _ = self.closing.take().expect("checked").send(());
                return;
            }
        }
    }

    fn now(&self) -> Duration {
        self.start.elapsed()
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Connected { page, tab, connection, socket } => {
                self.connect(page, tab, connection, socket);
            }
            Event::Frame { page, connection, text, room } => {
                drop(room);
                if self.pages.get(&page).is_some_and(|known| known.connection == connection) {
                    self.hear(&page, &text);
                }
            }
            Event::Lost { page, connection } => self.lose(&page, connection),
            // What was under way for the one before is not for the one that was opened in its place.
            Event::NotBegun { view, turn, .. }
            | Event::Prepared { view, turn, .. }
            | Event::Called { view, turn, .. }
                if self.views.get(&view).is_none_or(|seat| seat.turn != turn) => {}
            Event::NotBegun { view, words, .. } => self.not_begun(&view, &words),
            Event::Prepared { view, prepared, .. } => self.prepared(&view, prepared),
            Event::Called { view, outcome, .. } => self.called(&view, outcome),
            Event::Progress { view, call, params } => {
                self.count(&view, |counts| counts.progress += 1);
                // A sign of life that has no room is none.
                if self.room_for(&view, params.get().len()).is_ok() {
                    self.input(&view, Input::Progress { call, params: &params });
                }
            }
            Event::Done { view, call, outcome } => self.done(&view, call, outcome),
            Event::DecisionsChanged => self.decision_written(),
            Event::Forget { id, done } => {
                let _ = done.send(self.forget_decision(&id));
            }
            Event::ListChanged { server, list } => self.list_changed(&server, list),
            Event::Close(done) => self.close_all(done),
        }
    }

    fn obey(&mut self, view: &ViewId, said: FromPage<'_>) {
        match said {
            FromPage::Message(text) => self.heard(view, text, Session::hear),
            FromPage::Dropped(dropped) => self.dropped(view, dropped.as_deref()),
            FromPage::Open(open) => self.open(view, open),
            FromPage::Arguments(piece) => self.write_arguments(view, &piece),
            FromPage::Call(call) => self.call_offered(view, call),
            FromPage::Answer(answer) => self.answered(view, &answer),
            FromPage::Did(did) => self.did(view, &did),
            FromPage::Resize(container) => {
                self.change_context(view, |context| {
                    context.container_dimensions = Some(container.dimensions());
                });
                if let Some(seat) = self.views.get_mut(view) {
                    seat.open.container = container;
                }
            }
            FromPage::Context(facts) => {
                self.change_context(view, |context| context::learn(context, &facts));
                // What opens later shall know it too.
                if let Some(seat) = self.views.get_mut(view) {
                    seat.open.context = facts;
                }
            }
            FromPage::Mode(mode) => self.mode_is(view, mode),
            FromPage::Close(reason) => self.closed_by_page(view, reason),
            FromPage::Unknown => {}
        }
    }

    fn open(&mut self, view: &ViewId, mut open: Open) {
        // Somebody may have taken back what a view on this page was given.
        self.recall();
        let Some(seat) = self.views.get_mut(view) else { return };
        // A page that is loaded anew does not know the tool, and need not.
        if !seat.is_over() {
            open.tool = seat.open.tool.take();
        }
        seat.open = open;
        match &seat.life {
            Life::Opening | Life::Judged(_) => {}
            Life::Judging(_, ask) | Life::Admitting(_, ask, _) => {
                let ask = Ask::clone(ask);
                self.say(view, &ToPage::Ask(Box::new(ask)));
            }
            Life::Live(live) => {
                let mount = live.mount.clone();
                self.reopened(view, mount);
            }
            Life::Text { why, .. } => {
                let why = why.clone();
                self.say(view, &ToPage::Text { why, text: None });
            }
            Life::Ended => match seat.open.tool.clone() {
                Some(tool) => self.begin(view, tool),
                None => self.say(view, &ToPage::Close { reason: "unknown".to_owned() }),
            },
        }
    }

    /// The same view on a page that was loaded anew: same origin, new document.
    fn reopened(&mut self, view: &ViewId, mount: Mount) {
        self.say(view, &ToPage::Open(mount));
        self.input(view, Input::Reloaded);
        self.stop_writing(view);
        let Some(seat) = self.views.get(view) else { return };
        let open = seat.open.clone();
        self.change_context(view, |context| {
            context.display_mode = Some(DisplayMode::Inline);
            context.available_display_modes = Some(open.modes);
            context.container_dimensions = Some(open.container.dimensions());
            context::learn(context, &open.context);
        });
    }

    /// Reads the document of a tool's view, and calls the tool at the same time if its arguments are known.
    fn begin(&mut self, view: &ViewId, tool: envelope::Tool) {
        self.leave_account(view);
        let of_server = |seat: &&Seat| !seat.is_over() && seat.server == tool.server;
        let open = self.views.values().filter(of_server).count();
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.server.clone_from(&tool.server);
        seat.tool.clone_from(&tool.name);
        (seat.life, seat.outcome, seat.text) = (Life::Opening, None, None);
        seat.writing = tool.writing.then(Healer::new);
        let Some(server) = self.servers.get(&tool.server) else {
            return self
                .not_begun(view, &format!("there is no server {}", Quoted::new(&tool.server)));
        };
        // H-10: what is for views alone is nobody else's, whatever the page shows.
        if server.tools().get(&tool.name).is_some_and(|known| !known.for_model) {
            self.note(view, || Record::not_opened(&tool.name));
            let words = format!("{} is a tool for its views alone", Quoted::new(&tool.name));
            return self.not_begun(view, &words);
        }
        let (_, together) = server.limits();
        if open >= together.views {
            let most = together.views as u64;
            return self.too_many(view, &Over { limit: Limit::Views, of: Holder::Server, most });
        }
        // What the page sends for a person is shown to the view, written down and sent as one value too.
        let arguments = match tool.arguments.as_deref().map(Printed::read).transpose() {
            Ok(arguments) => arguments,
            Err(why) => {
                return self.not_begun(view, &format!("its arguments are not clear: {why}"));
            }
        };
        if let Some(tool) = seat.open.tool.as_mut() {
            let raw = |printed: &Printed| RawValue::from_string(printed.get().to_owned()).ok();
            tool.arguments = arguments.as_ref().and_then(raw);
        }
        let what = if tool.writing { "being written:" } else { "tools/call" };
        self.log.write("call", &tool.server, words!("{} {}", what, Quoted::new(&tool.name)));
        let (events, view) = (self.events.clone(), view.clone());
        let sandbox = self.sandbox.clone();
        // In its place now: its end may be written down before anybody has called anything.
        let sent = arguments.as_ref().map_or("", Printed::get);
        let written = self.note(&view, || Record::opened(&tool.name, sent));
        let written = self.ledger.audit().cloned().zip(written);
        let (stop, stopped) = oneshot::channel();
        let Some(seat) = self.views.get_mut(&view) else { return };
        seat.turn += 1;
        let turn = seat.turn;
        (seat.open_row, seat.call) = (true, Some(stop));
        tokio::spawn(async move {
            if let Some((audit, number)) = written
                && let Err(error) = audit.until(number).await
            {
                let words = error.to_string();
                let _ = events.send(Event::NotBegun { view, turn, words }).await;
                return;
            }
            let name = tool.name.clone();
            let call = ToolCall { name: tool.name, arguments, meta: None };
            let read = async {
                let prepared = server.prepare(&name, &sandbox).await.map(Box::new);
                let view = view.clone();
                let _ = events.send(Event::Prepared { view, turn, prepared }).await;
            };
            let called = async {
                if tool.writing {
                    return;
                }
                let outcome = server.call_tool(&call, stopped).await;
                let _ = events.send(Event::Called { view: view.clone(), turn, outcome }).await;
            };
            tokio::join!(read, called);
        });
    }

    /// There is no answer of its tool to wait for: the tool is not called.
    fn not_begun(&mut self, view: &ViewId, words: &str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.writing = None;
        match &mut seat.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                self.no_view(view, words);
                self.end(view, "text");
            }
            Life::Live(live) => {
                seat.text = Some(format!("The tool was not called: {words}."));
                let _ = live.session.tool_cancelled(Some(words));
                self.log.write("result", &self.name(view), Words::ours(words));
                self.drive(view);
            }
            Life::Text { reason, .. } => {
                let reason = *reason;
                self.end(view, reason);
            }
            Life::Ended => {}
        }
    }

    /// As many views are open as may be. The tool is not called.
    fn too_many(&mut self, view: &ViewId, over: &Over) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let why = consent::limited(over, &seat.server, None);
        let tool = seat.tool.clone();
        self.note(view, || Record::limited(over, &tool));
        self.log.write("limit", &self.name(view), why.clone());
        self.say(view, &ToPage::Text { why, text: None });
        self.end(view, "limit");
    }

    /// The name of the next question that is asked before a view is shown. None is used twice: a click that is under way
    /// while a question is replaced must not answer the new one.
    fn first_question_id(&mut self) -> String {
        self.first_questions += 1;
        format!("first-{}", self.first_questions)
    }

    fn prepared(&mut self, view: &ViewId, prepared: Result<Box<Prepared>, String>) {
        let Some(seat) = self.views.get(view) else { return };
        if !matches!(seat.life, Life::Opening) {
            return;
        }
        match prepared {
            Ok(prepared) => self.look_over(view, prepared),
            Err(words) => self.no_view(view, &words),
        }
    }

    /// Lets a document run, unless a person has to agree to it first (H-49).
    fn look_over(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let id = self.first_question_id();
        let Some(seat) = self.views.get_mut(view) else { return };
        let Some(doubt) = prepared.doubt() else { return self.run_or_ask(view, prepared) };
        let ask = consent::doubted(&seat.server, &seat.tool, &doubt, id);
        let changes: Vec<&str> = ask.changes.iter().map(Words::as_str).collect();
        let words = words!("{} {}", ask.text, Words::ours(&changes.join("; ")));
        let document = prepared.named();
        seat.life = Life::Judged(prepared);
        self.log.write("asked", &self.name(view), words);
        self.hold(view, Held::First { document, wishes: None, ask: Box::new(ask) });
    }

    /// That a person is asked before a view is shown is written down: about its document, or about private addresses.
    fn put_first_question(
        &mut self,
        view: &ViewId,
        wishes: Option<BTreeSet<String>>,
        ask: Box<Ask>,
    ) {
        let Some(prepared) = self.take_judged(view) else { return };
        let Some(seat) = self.views.get_mut(view) else { return };
        let decided = self.decided.get(&seat.server);
        let is_open = |wish: &String| decided.and_then(|all| all.nearby(wish)).is_none();
        seat.life = match wishes {
            // Somebody answered the same in another view meanwhile.
            Some(wishes) if !wishes.iter().any(is_open) => return self.run_or_ask(view, prepared),
            Some(wishes) => Life::Admitting(prepared, ask.clone(), wishes),
            None => Life::Judging(prepared, ask.clone()),
        };
        self.say(view, &ToPage::Ask(ask));
        self.flush(view);
    }

    /// A person has decided about what changed in a document. It counts when it is written down.
    fn judge(&mut self, view: &ViewId, choice: Choice) {
        if let Some((prepared, _, sources)) = self.take_admitting(view) {
            let document = prepared.named();
            if let Some(seat) = self.views.get_mut(view) {
                seat.life = Life::Judged(prepared);
            }
            return self.hold(view, Held::Admit { document, sources, choice });
        }
        let Some(prepared) = self.take_judged(view) else { return };
        let document = prepared.named();
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.hold(view, Held::Review { document, choice });
    }

    /// What a person decided about a document is written down. A yes is remembered, and counts for every
    /// view that waits for the same.
    fn reviewed(&mut self, view: &ViewId, choice: Choice) {
        let Some(mut prepared) = self.take_judged(view) else { return };
        let changing = choice == Choice::AllowChanging;
        if !changing && choice != Choice::Allow {
            let words = match prepared.doubt() {
                Some(Doubt::Unpinned(_)) => "you did not agree to it",
                _ => "you did not agree to what has changed in it",
            };
            return self.no_view(view, words);
        }
        let same =
            |life: &Life| matches!(life, Life::Judging(other, _) if other.is_same(&prepared));
        let waiting = self.views.iter().filter(|(_, seat)| same(&seat.life));
        let waiting: Vec<ViewId> = waiting.map(|(view, _)| view.clone()).collect();
        if let Err(error) = prepared.agree(changing) {
            return self.no_view(view, Words::of(&error).as_str());
        }
        self.run_or_ask(view, prepared);
        // Each has a row of its own before it runs.
        for view in waiting {
            let Some(Life::Judging(_, ask)) = self.views.get(&view).map(|seat| &seat.life) else {
                continue;
            };
            let id = ask.id.clone();
            self.say(&view, &ToPage::Withdraw { id });
            self.judge(&view, choice);
            self.flush(&view);
        }
    }

    /// Runs a view, once it is written down which document that is.
    fn run_view(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let (document, reaches) = (prepared.named(), prepared.reaches.clone());
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.hold(view, Held::Run(document, reaches));
    }

    /// Which document runs is written down.
    fn run_written(&mut self, view: &ViewId) {
        let Some(mut prepared) = self.take_judged(view) else { return };
        // Meanwhile a person may have taken back what its frame was given.
        let decided = self.views.get(view).and_then(|seat| self.decided.get(&seat.server));
        let stands = |wish: &String| {
            prepared.once.contains(wish) || decided.and_then(|all| all.nearby(wish)) == Some(true)
        };
        if !prepared.reaches.iter().all(stands) {
            return self.run_or_ask(view, prepared);
        }
        if let Err(error) = prepared.pin() {
            return self.no_view(view, Words::of(&error).as_str());
        }
        if prepared.doubt().is_some() {
            return self.look_over(view, prepared);
        }
        self.begin_live(view, *prepared);
    }

    /// Runs a document, unless it declares private addresses that nobody has decided about: then a person
    /// is asked, and nothing runs meanwhile.
    fn run_or_ask(&mut self, view: &ViewId, prepared: Box<Prepared>) {
        let id = self.first_question_id();
        let Some(seat) = self.views.get(view) else { return };
        let decided = self.decided.get(&seat.server);
        let is_open = |source: &String| decided.and_then(|all| all.nearby(source)).is_none();
        let open: BTreeSet<String> = prepared.nearby().into_iter().filter(is_open).collect();
        // More than a person would read is not asked for, and not given.
        if open.is_empty() || grants::purposes(&open).len() > NEARBY {
            return self.begin_with(view, prepared, BTreeSet::new());
        }
        let (server, tool) = (Quoted::new(&seat.server), Quoted::new(&seat.tool));
        let lasts = self.keeps(&seat.server);
        let ask = consent::nearby(&server, &tool, &open, id, lasts);
        let shown = ask.preview.as_deref().unwrap_or_default().replace('\n', ", ");
        let words = words!("{} {}", ask.text, Words::ours(&shown));
        let document = prepared.named();
        if let Some(seat) = self.views.get_mut(view) {
            seat.life = Life::Judged(prepared);
        }
        self.log.write("asked", &self.name(view), words);
        self.hold(view, Held::First { document, wishes: Some(open), ask: Box::new(ask) });
    }

    /// What a person decided about private addresses is written down. The view runs in any case: without
    /// them after a no.
    fn admitted(&mut self, view: &ViewId, sources: BTreeSet<String>, choice: Choice) {
        let Some(prepared) = self.take_judged(view) else { return };
        let decision = choice.decision();
        let yes = matches!(decision, Decision::Allow | Decision::AllowAlways);
        let always = matches!(decision, Decision::AllowAlways | Decision::DenyAlways);
        if always && let Some(server) = self.views.get(view).map(|seat| seat.server.clone()) {
            let subject = Subject::Nearby(sources.clone());
            self.decided.entry(server.clone()).or_default().remember(
                &subject,
                decision,
                &Claimed::default(),
            );
            self.tell_decided(&server);
            self.keep_decision(view, subject, &Claimed::default(), choice);
        }
        // What is agreed to for longer counts for as long as that does.
        self.begin_with(view, prepared, if yes && !always { sources } else { BTreeSet::new() });
        if always {
            self.admit_waiting(view);
        }
    }

    /// Runs a document with the private addresses that somebody agreed to, now or before.
    fn begin_with(&mut self, view: &ViewId, mut prepared: Box<Prepared>, once: BTreeSet<String>) {
        let Some(seat) = self.views.get(view) else { return };
        let decided = self.decided.get(&seat.server);
        let before = |source: &String| decided.and_then(|all| all.nearby(source)) == Some(true);
        let mut all = prepared.nearby();
        all.retain(|source| once.contains(source) || before(source));
        if let Err(error) = prepared.open_to(all, &self.sandbox) {
            return self.no_view(view, Words::of(&error).as_str());
        }
        prepared.once = once;
        self.run_view(view, prepared);
    }

    /// Looks again at the views of the same server that wait for an answer about private addresses.
    fn admit_waiting(&mut self, view: &ViewId) {
        let Some(server) = self.views.get(view).map(|seat| seat.server.clone()) else { return };
        let waits = |seat: &Seat| matches!(seat.life, Life::Admitting(..)) && seat.server == server;
        let waiting = self.views.iter().filter(|(_, seat)| waits(seat));
        let waiting: Vec<ViewId> = waiting.map(|(view, _)| view.clone()).collect();
        for view in waiting {
            let Some((prepared, ask, _)) = self.take_admitting(&view) else { continue };
            self.say(&view, &ToPage::Withdraw { id: ask.id });
            self.run_or_ask(&view, prepared);
        }
    }

    fn take_admitting(
        &mut self,
        view: &ViewId,
    ) -> Option<(Box<Prepared>, Box<Ask>, BTreeSet<String>)> {
        let seat = self.views.get_mut(view)?;
        match std::mem::replace(&mut seat.life, Life::Opening) {
            Life::Admitting(prepared, ask, sources) => Some((prepared, ask, sources)),
            other => {
                seat.life = other;
                None
            }
        }
    }

    /// Tells every live view of a server what is decided about it, and pages what can be taken back.
    fn tell_decided(&mut self, server: &str) {
        let Some(decided) = self.decided.get(server) else { return };
        for seat in self.views.values_mut().filter(|seat| seat.server == server) {
            if let Life::Live(live) = &mut seat.life {
                live.session.set_decided(decided.clone());
            }
        }
        self.show_decisions();
    }

    /// What a person decided about a document cannot count.
    fn unreviewed(&mut self, view: &ViewId, words: &str) {
        if self.take_judged(view).is_some() {
            self.no_view(view, words);
        }
    }

    fn take_judged(&mut self, view: &ViewId) -> Option<Box<Prepared>> {
        let seat = self.views.get_mut(view)?;
        match std::mem::replace(&mut seat.life, Life::Opening) {
            Life::Judging(prepared, _) | Life::Judged(prepared) => Some(prepared),
            other => {
                seat.life = other;
                None
            }
        }
    }

    fn begin_live(&mut self, view: &ViewId, prepared: Prepared) {
        let now = self.now();
        let Some(seat) = self.views.get_mut(view) else { return };
        let outcome = seat.outcome.take();
        let mount = prepared.mount(&seat.tool);
        let opening = Opening {
            context: Arc::new(context::opening(&seat.open, &prepared, &self.styles)),
            tools: prepared.server.tools(),
            policy: prepared.server.policy(),
            decided: self.decided.get(&seat.server).cloned().unwrap_or_default(),
            port: seat.open.lanes.iter().any(|lane| lane == "port"),
        };
        let Some(account) = self.accounts.get(&seat.server) else { return };
        let mut setup = Arc::clone(&account.setup);
        if let Some(granted) = prepared.granted() {
            Arc::make_mut(&mut setup).capabilities.sandbox = Some(granted);
        }
        let mut session = Session::start(now, setup, opening);
        match seat.writing.as_ref().map(writing::so_far) {
            Some(so_far) => {
                let so_far = RawObject::new(&so_far).unwrap_or_default();
                session.tool_input_partial(so_far).expect("the first thing it is told");
            }
            None => {
                let arguments = seat.open.tool.as_ref().and_then(|tool| tool.arguments.as_deref());
                let arguments = arguments.and_then(RawObject::new).unwrap_or_default();
                session.tool_input(arguments).expect("the first thing it is told");
            }
        }
        let (warnings, reaches) = (prepared.warnings(), !prepared.reaches.is_empty());
        seat.life = Life::Live(Box::new(Live {
            session,
            server: prepared.server,
            _mounted: prepared.mounted,
            reaches: prepared.reaches,
            mount: mount.clone(),
            calls: HashMap::new(),
            asked: HashMap::new(),
            deeds: HashMap::new(),
            offered: HashMap::new(),
            refusals: Allowance::refusals(),
            lines: Allowance::lines(),
            mode_call: None,
        }));
        let server = seat.server.clone();
        if reaches {
            self.memory.watch(view);
        }
        for warning in warnings {
            self.log.write("warning", &server, warning);
        }
        self.say(view, &ToPage::Open(mount));
        if let Some(outcome) = outcome {
            self.called(view, outcome);
        }
        self.drive(view);
    }

    /// The tool that opened the view answered: to the view, or in words if there is none.
    fn called(&mut self, view: &ViewId, outcome: Result<Box<RawValue>, CallError>) {
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(view, size);
        let Some(seat) = self.views.get_mut(view) else { return };
        seat.call = None;
        let text = match &outcome {
            Ok(result) => fallback::text_of(result),
            Err(error) => format!("The tool failed: {}.", Words::of(error)),
        };
        let words = match &outcome {
            Ok(_) => words!("{}", Quoted::long(&text, LINE)),
            Err(error) => Words::of(error),
        };
        self.log.write("result", &format!("{} {}", seat.server, seat.tool), words);
        seat.text = Some(text);
        match &mut seat.life {
            Life::Opening | Life::Judging(..) | Life::Admitting(..) | Life::Judged(_) => {
                seat.outcome = Some(outcome);
            }
            Life::Live(live) => {
                // H-67: an error is a cancellation with its words as the reason.
                let _ = match outcome.as_deref().map(RawObject::new) {
                    Ok(Some(_)) if let Err(over) = room => {
                        live.session.tool_cancelled(Some(&over.to_string()))
                    }
                    Ok(Some(result)) => live.session.tool_result(result),
                    Ok(None) => live.session.tool_cancelled(Some("the result is not an object")),
                    Err(error) => live.session.tool_cancelled(Some(&error.outline())),
                };
                self.drive(view);
            }
            Life::Text { why, reason } => {
                let (why, reason) = (why.clone(), *reason);
                self.fall_back(view, why, reason);
            }
            Life::Ended => {}
        }
    }

    /// There is no view to show, in words that are written down.
    fn no_view(&mut self, view: &ViewId, words: &str) {
        let words = Words::ours(words);
        self.log.write("text", &self.name(view), words.clone());
        self.fall_back(view, words!("There is no view to show: {}.", words), "text");
    }

    /// Shows what the tool answered in place of a view, or will answer (H-03).
    fn fall_back(&mut self, view: &ViewId, why: Words, reason: &'static str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let text = seat.text.clone();
        let known = text.is_some();
        seat.life = Life::Text { why: why.clone(), reason };
        self.say(view, &ToPage::Text { why, text });
        if known {
            return self.end(view, reason);
        }
        self.stop_timer(view);
        self.flush(view);
    }

    fn done(&mut self, view: &ViewId, call: u64, outcome: Result<Box<RawValue>, CallError>) {
        if let Some(live) = self.live(view) {
            live.calls.remove(&call);
        }
        let size = outcome.as_ref().map_or(0, |result| result.get().len());
        let room = self.room_for(view, size);
        match &outcome {
            Ok(_) if let Err(over) = room => {
                let violation = Violation::from(over);
                let (words, data) = (violation.to_string(), violation.data());
                self.note(view, || Record::outcome(call, Err(&words)));
                let error = ErrorObject {
                    data: data.as_deref(),
                    ..ErrorObject::new(transom::rpc::DENIED, words.as_str())
                };
                self.input(view, Input::Answer { call, outcome: Err(error) });
                self.limited(view, &over, None);
            }
            Ok(result) => {
                self.note(view, || Record::outcome(call, Ok(result.get().len())));
                self.input(view, Input::Answer { call, outcome: Ok(result) });
            }
            Err(error) => {
                let error = error.to_error();
                self.note(view, || Record::outcome(call, Err(&error.message)));
                self.input(view, Input::Answer { call, outcome: Err(error) });
            }
        }
    }

    fn list_changed(&mut self, server: &str, list: host::List) {
        let views = self.views.iter().filter(|(_, seat)| seat.server == server);
        let views: Vec<ViewId> = views.map(|(view, _)| view.clone()).collect();
        for view in views {
            if let Some(live) = self.live(&view) {
                let tools = live.server.tools();
                live.session.set_tools(tools);
            }
            self.input(&view, Input::ListChanged(list));
        }
        // What was decided about a tool may not count any more.
        if list == host::List::Tools {
            self.show_decisions();
        }
    }

    /// Gives a live session an input that it takes or ignores.
    fn input(&mut self, view: &ViewId, input: Input<'_>) {
        let now = self.now();
        let Some(live) = self.live(view) else { return };
        if let Err(violation) = live.session.handle(now, input) {
            self.refused(view, &violation);
        }
        self.drive(view);
    }

    /// Whether something of this size may wait for the page, beside what waits already.
    fn room_for(&self, view: &ViewId, size: usize) -> Result<(), Over> {
        let Some(Seat { stream, life: Life::Live(live), server, .. }) = self.views.get(view) else {
            return Ok(());
        };
        let most = live.session.limits().queued;
        if stream.queued().saturating_add(size) > most {
            return Err(Over { limit: Limit::Queued, of: Holder::View, most: most as u64 });
        }
        self.accounts.get(server).map_or(Ok(()), |account| account.share.to_queue(size))
    }

    /// Tells the person that a view reached a limit; not again before a while has passed.
    fn limited(&mut self, view: &ViewId, over: &Over, method: Option<&'static str>) {
        let now = self.now();
        let Some(seat) = self.views.get_mut(view) else { return };
        let due = seat.noted.get(&(over.limit, over.of)).is_none_or(|told| *told + AGAIN <= now);
        if !due {
            return;
        }
        seat.noted.insert((over.limit, over.of), now);
        let text = consent::limited(over, &seat.server, method);
        self.log.write("limit", &self.name(view), text.clone());
        self.say(view, &ToPage::Note { text });
        self.flush(view);
    }

    /// A view is faster than it may be, and made to wait.
    fn slowed(&mut self, view: &ViewId) {
        let Some(rate) = self.views.get(view).and_then(Seat::rate) else { return };
        let most = rate.per_second.ceil() as u64;
        let over = Over { limit: Limit::Messages, of: Holder::View, most };
        self.note(view, || Record::slowed(&over));
        self.limited(view, &over, None);
    }

    /// Tells the account of its server what a view uses now.
    fn count_usage(&mut self, view: &ViewId) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let usage = match &seat.life {
            Life::Live(live) => live.session.usage(),
            _ => Usage::default(),
        };
        let usage = Usage { queued: seat.stream.queued(), ..usage };
        if usage != seat.used
            && let Some(account) = self.accounts.get_mut(&seat.server)
        {
            account.share.change(seat.used, usage);
            seat.used = usage;
        }
    }

    /// The view is not one of its server's any more.
    fn leave_account(&mut self, view: &ViewId) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let used = std::mem::take(&mut seat.used);
        if let Some(account) = self.accounts.get_mut(&seat.server) {
            account.share.change(used, Usage::default());
        }
    }

    /// Writes down what was refused and was no request; a request's refusal is its verdict.
    fn refused(&mut self, view: &ViewId, violation: &Violation) {
        self.count(view, |counts| counts.refused += 1);
        if let Violation::OverLimit(over) = violation {
            return self.limited(view, over, None);
        }
        self.log_of(view, "refused", || violation.into());
    }

    /// Gives a view's message to its session.
    fn heard(
        &mut self,
        view: &ViewId,
        text: &str,
        hear: impl FnOnce(&mut Session, Duration, &str, &mut Share) -> Result<(), Violation>,
    ) {
        let now = self.now();
        self.recall_sometimes(now);
        let Some(seat) = self.views.get_mut(view) else { return };
        let Life::Live(live) = &mut seat.life else { return };
        let Some(account) = self.accounts.get_mut(&seat.server) else { return };
        if let Err(violation) = hear(&mut live.session, now, text, &mut account.share) {
            self.refused(view, &violation);
        }
        self.drive(view);
    }

    /// Refuses what the page, or the sandbox before it, carried no further; where nobody knows what it was, that is written
    /// down.
    fn dropped(&mut self, view: &ViewId, outline: Option<&str>) {
        if self.live(view).is_none() {
            return;
        }
        if let Some(outline) = outline {
            return self.heard(view, outline, Session::hear_of);
        }
        self.count(view, |counts| counts.refused += 1);
        self.log_of(view, "refused", || {
            "a message that was too large, or that JSON cannot hold".into()
        });
    }

    /// Writes a line that a view can cause as often as it likes, unless it caused many already: it must
    /// not be able to wash everything else out of the log, nor to keep the page busy with drawing it. Its refusals are
    /// counted apart, so that it cannot hide one behind a heap of something else.
    fn log_of(&mut self, view: &ViewId, kind: &'static str, words: impl FnOnce() -> Words) {
        let now = self.now();
        let Some(live) = self.live(view) else { return };
        let lines = if kind == "refused" { &mut live.refusals } else { &mut live.lines };
        let Some(left_out) = lines.take(now) else { return };
        let name = self.name(view);
        if left_out > 0 {
            self.log.write(kind, &name, words!("{} more lines were left out", left_out));
        }
        self.log.write(kind, &name, words());
    }

    /// Carries out what the session wants.
    fn drive(&mut self, view: &ViewId) {
        while let Some(output) = self.live(view).and_then(|live| live.session.poll()) {
            self.carry_out(view, output);
        }
        let Some(seat) = self.views.get_mut(view) else { return };
        let next = match &seat.life {
            Life::Live(live) => live.session.deadline(),
            _ => None,
        };
        // Deadlines come and go with every call. One that moves away is left in its place, and found to have moved.
        if let Some(next) = next
            && seat.timer.is_none_or(|timer| next < timer)
        {
            if let Some(old) = seat.timer.replace(next) {
                self.timers.remove(&(old, view.clone()));
            }
            self.timers.insert((next, view.clone()));
        }
        self.flush(view);
    }

    fn carry_out(&mut self, view: &ViewId, output: Output) {
        self.note_output(view, &output);
        match output {
            Output::Send(text) => self.say(view, &ToPage::Message(text)),
            Output::Perform { call, task } => self.hold(view, Held::Perform { call, task }),
            Output::Abort { call, reason } => {
                let stop = self.live(view).and_then(|live| {
                    live.deeds.remove(&deed_id(call));
                    live.calls.remove(&call)
                });
                if let Some(stop) = stop {
                    let _ = stop.send(reason);
                }
                self.withdraw(view, deed_id(call));
            }
            Output::Ask(question) => self.hold(view, Held::Ask(Box::new(question), false)),
            Output::Waits { method, about, .. } => {
                self.log_of(view, "asked", || words!("{} {}: you decide", method, about));
            }
            Output::Withdraw { question } => self.withdraw(view, question_id(question)),
            Output::Unawaited { question } => self.unawaited(view, question),
            Output::Judged {
                method, ruling: Ruling::Refused(Violation::OverLimit(over)), ..
            } => self.limited(view, &over, method),
            Output::Judged { method, about, ruling, .. } => {
                if let Some(kind) = consent::ruling_kind(method, &ruling) {
                    self.log_of(view, kind, || consent::ruling(method, &about, &ruling));
                }
            }
            Output::Unheard { late, .. } => {
                let words = if late { "too late; it counts the next time" } else { "for nobody" };
                self.log_of(view, "answer", || words!("an answer {}", words));
            }
            Output::Resize(size) => {
                self.say(view, &ToPage::Resize { width: size.width, height: size.height });
            }
            Output::Greeted { info, .. } => {
                let (name, version) = (Quoted::new(&info.name), Quoted::new(&info.version));
                self.log_of(view, "view", || words!("{} {} says hello", name, version));
            }
            Output::Opened => {
                self.log_of(view, "view", || "ready".into());
                self.list_offers(view);
            }
            Output::Early { method } => {
                self.log_of(view, "warning", || words!("{} before initialized", method));
            }
            Output::Dropped { method, names, more } => {
                self.log_of(view, "warning", || left_out(method, &names, more));
            }
            Output::Log { level, logger, data } => {
                self.log_of(view, "console", || match logger {
                    Some(logger) => words!("{} {}: {}", level, logger, data),
                    None => words!("{} {}", level, data),
                });
            }
            Output::CloseWanted => {
                let now = self.now();
                if let Some(live) = self.live(view) {
                    live.session.close(now, Reason::Asked);
                }
            }
            Output::Closed(reason) => {
                let words = consent::closed(reason);
                self.log.write("view", &self.name(view), words);
                match consent::close_word(reason) {
                    "teardown" => self.end(view, "teardown"),
                    word => self.fall_back(view, words!("The view was {}.", words), word),
                }
            }
            Output::AppToolsChanged => self.list_offers(view),
            Output::AppTools(offered) => self.tell_offers(view, offered),
            Output::AppAnswer { call, outcome } => self.tell_called(view, call, outcome),
            Output::Pong { .. } => {}
            _ => {}
        }
    }

    fn put_question(&mut self, view: &ViewId, question: &Question, late: bool) {
        let Some(seat) = self.views.get(view) else { return };
        let lasts = self.keeps(&seat.server);
        let ask = consent::ask(&seat.server, &seat.tool, question, question_id(question.id), lasts);
        let ask = Ask { late, ..ask };
        let (subject, said) = (question.subject.clone(), question.said.clone());
        self.ask(view, ask, About::Question(question.id, subject, said));
    }

    fn ask(&mut self, view: &ViewId, ask: Ask, about: About) {
        self.log.write("asked", &self.name(view), ask.text.clone());
        let Some(live) = self.live(view) else { return };
        live.asked.insert(ask.id.clone(), Asked { ask: ask.clone(), about });
        self.say(view, &ToPage::Ask(Box::new(ask)));
    }

    /// Nobody needs the answer any more.
    fn withdraw(&mut self, view: &ViewId, id: String) {
        let asked = self.live(view).and_then(|live| live.asked.remove(&id));
        if asked.is_some() {
            self.say(view, &ToPage::Withdraw { id });
        }
    }

    /// The answer counts for the next time alone, and the person should know.
    fn unawaited(&mut self, view: &ViewId, question: u64) {
        self.ledger.mark_late(view, question);
        let id = question_id(question);
        let Some(asked) = self.live(view).and_then(|live| live.asked.get_mut(&id)) else { return };
        asked.ask.late = true;
        let ask = asked.ask.clone();
        self.say(view, &ToPage::Ask(Box::new(ask)));
    }

    /// Takes an answer once, while somebody asks, and only if it was among the choices.
    fn answered(&mut self, view: &ViewId, answer: &Answer) {
        let Answer { id, choice } = answer;
        let name = self.name(view);
        let judged = self.views.get(view).is_some_and(|seat| seat.awaits(answer));
        if judged {
            self.log.write("answer", &name, words!("{}", Quoted::new(choice)));
            return self.judge(view, Choice::of(choice));
        }
        let asked = self.live(view).and_then(|live| {
            let offered = live.asked.get(id)?.ask.choices.contains(&choice.as_str());
            offered.then(|| live.asked.remove(id)).flatten()
        });
        let Some(Asked { about, .. }) = asked else {
            self.note(view, || Record::decided(None, Choice::of(choice), false));
            let words = words!("{} to nothing that is asked; ignored", Quoted::new(choice));
            return self.log.write("late", &name, words);
        };
        self.log.write("answer", &name, words!("{}", Quoted::new(choice)));
        let choice = Choice::of(choice);
        let decision = choice.decision();
        match (about, decision) {
            (About::Question(question, subject, said), _) => {
                self.note(view, || Record::decided(Some(question), choice, true));
                // What somebody took back a moment ago must not come back with this.
                self.recall();
                self.input(view, Input::Decision { question, decision });
                self.share_decisions(view);
                self.keep_decision(view, subject, &said, choice);
            }
            (About::Click(call, deed), Decision::Allow | Decision::AllowAlways) => {
                self.hold(view, Held::Deed { call, deed });
            }
            (About::Click(call, _), Decision::Deny | Decision::DenyAlways) => {
                self.note(view, || Record::clicked(call, choice));
                self.settle(view, call, Err("refused by the user"));
            }
        }
    }

    /// What was decided in one view counts in every other view of the same server.
    fn share_decisions(&mut self, view: &ViewId) {
        let Some(decided) = self.live(view).map(|live| live.session.decided().clone()) else {
            return;
        };
        let server = self.views[view].server.clone();
        self.decided.insert(server.clone(), decided);
        self.tell_decided(&server);
    }

    fn change_context(&mut self, view: &ViewId, change: impl FnOnce(&mut HostContext)) {
        let Some(live) = self.live(view) else { return };
        let mut context = HostContext::clone(live.session.context());
        change(&mut context);
        let _ = live.session.set_context(Arc::new(context));
        self.drive(view);
    }

    fn closed_by_page(&mut self, view: &ViewId, reason: CloseReason) {
        let now = self.now();
        let Some(live) = self.live(view) else {
            // Nothing runs that would want to save.
            if self.views.get(view).is_some_and(|seat| !seat.is_over()) {
                self.end(view, "teardown");
            }
            return;
        };
        // The frame may be gone, and nobody left to be asked to save.
        if reason != CloseReason::User {
            let _ = live.session.handle(now, Input::Reloaded);
        }
        let reason = match reason {
            CloseReason::User => Reason::Closed,
            CloseReason::Gone => Reason::PageGone,
            CloseReason::Flood => Reason::Flood,
            CloseReason::PastSandbox => Reason::PastSandbox,
            CloseReason::NotText => Reason::NotText,
            CloseReason::Focus => Reason::Focus,
        };
        live.session.close(now, reason);
        self.drive(view);
    }

    fn end(&mut self, view: &ViewId, reason: &str) {
        let Some(seat) = self.views.get_mut(view) else { return };
        (seat.life, seat.outcome, seat.text, seat.writing) = (Life::Ended, None, None, None);
        seat.turn += 1;
        // H-134: nobody waits for it any more.
        if let Some(stop) = seat.call.take() {
            let _ = stop.send("the view was closed");
        }
        // One that was live has said so itself.
        if std::mem::take(&mut seat.open_row) {
            let why = if reason == "text" { "shown as text" } else { "closed before it was shown" };
            self.note(view, || Record::closed(why));
        }
        // What opens in this place next is another view, about which nobody has decided.
        let is_for_it = |held: &Held| {
            matches!(
                held,
                Held::First { .. } | Held::Review { .. } | Held::Run(..) | Held::Admit { .. }
            )
        };
        self.drop_held(view, is_for_it);
        self.stop_timer(view);
        self.say(view, &ToPage::Close { reason: reason.to_owned() });
        self.flush(view);
    }

    fn stop_timer(&mut self, view: &ViewId) {
        let timer = self.views.get_mut(view).and_then(|seat| seat.timer.take());
        if let Some(timer) = timer {
            self.timers.remove(&(timer, view.clone()));
        }
    }

    fn say(&mut self, view: &ViewId, told: &ToPage) {
        let Some(seat) = self.views.get_mut(view) else { return };
        if seat.stream.say(told).is_err() && seat.is_live() {
            let now = self.now();
            if let Some(live) = self.live(view) {
                live.session.close(now, Reason::Flood);
            }
        }
    }

    fn flush(&mut self, view: &ViewId) {
        self.count_usage(view);
        let Some(seat) = self.views.get_mut(view) else { return };
        let Some(socket) = self.pages.get(&seat.page).and_then(|page| page.socket.as_ref()) else {
            return;
        };
        while let Some(text) = seat.stream.write() {
            let _ = socket.send(ToSocket::Text(text));
        }
    }

    /// When something happens by itself.
    fn next(&self) -> Option<Duration> {
        let timer = self.timers.first().map(|(at, _)| *at);
        let lost = self.pages.values().filter_map(|page| page.lost).map(|lost| lost + AWAY);
        let own = [self.confirm_at, self.ledger.count_at, self.memory.look_at()];
        timer.into_iter().chain(lost).chain(own.into_iter().flatten()).min()
    }

    fn tick(&mut self) {
        let now = self.now();
        while let Some((at, view)) = self.timers.first().cloned()
            && at <= now
        {
            self.timers.remove(&(at, view.clone()));
            let Some(seat) = self.views.get_mut(&view) else { continue };
            seat.timer = None;
            match &seat.life {
                Life::Live(live) if live.session.deadline().is_some_and(|due| due > now) => {
                    self.drive(&view);
                }
                _ => self.input(&view, Input::Tick),
            }
        }
        if self.confirm_at.is_some_and(|at| at <= now) {
            self.confirm();
        }
        if self.ledger.count_at.is_some_and(|at| at <= now) {
            self.write_counts();
        }
        if self.memory.look_at().is_some_and(|at| at <= now) {
            self.recall();
            self.watch_less();
        }
        self.forget_pages(now);
    }

    fn close_all(&mut self, done: oneshot::Sender<()>) {
        let now = self.now();
        self.closing = Some(done);
        self.close_unwatched();
        let views: Vec<ViewId> = self.views.keys().cloned().collect();
        for view in views {
            if let Some(live) = self.live(&view) {
                live.session.close(now, Reason::Closed);
            } else if self.views.get(&view).is_some_and(|seat| !seat.is_over()) {
                self.end(&view, "teardown");
            }
            self.drive(&view);
        }
    }

    /// Whether a page is there that shows it.
    fn is_watched(&self, view: &ViewId) -> bool {
        let page = self.views.get(view).and_then(|seat| self.pages.get(&seat.page));
        page.is_some_and(|page| page.socket.is_some())
    }

    fn live(&mut self, view: &ViewId) -> Option<&mut Live> {
        match &mut self.views.get_mut(view)?.life {
            Life::Live(live) => Some(live),
            _ => None,
        }
    }

    fn name(&self, view: &ViewId) -> String {
        self.views
            .get(view)
            .map(|seat| format!("{} {}", seat.server, seat.tool))
            .unwrap_or_default()
    }
}

impl Seat {
    /// How fast its messages may come, while there is somebody to send any.
    fn rate(&self) -> Option<Rate> {
        match &self.life {
            Life::Live(live) => Some(live.session.limits().messages),
            _ => None,
        }
    }

    /// Counts a message for its pace.
    fn step(&mut self, now: Duration) {
        if let Some(rate) = self.rate() {
            self.pace.count(now, pace_of(rate));
        }
    }

    /// Confirms only what came at its pace; whether something is not confirmed yet.
    fn withhold(&mut self, now: Duration) -> bool {
        let ahead = self.rate().map_or(0, |rate| self.pace.ahead(now, pace_of(rate)));
        self.stream.withhold(ahead);
        ahead > 0
    }

    fn is_live(&self) -> bool {
        matches!(self.life, Life::Live(_))
    }

    /// Whether this answers a question that its document raised.
    fn awaits(&self, answer: &Answer) -> bool {
        matches!(&self.life, Life::Judging(_, ask) | Life::Admitting(_, ask, _)
            if ask.id == answer.id && ask.choices.contains(&answer.choice.as_str()))
    }

    fn is_over(&self) -> bool {
        matches!(self.life, Life::Ended)
    }
}

/// What did not go on of a request, in words.
fn left_out(method: &'static str, names: &[Quoted], more: usize) -> Words {
    let names: Vec<String> = names.iter().map(Quoted::to_string).collect();
    let names = Words::ours(&names.join(", "));
    match more {
        0 => words!("{}: left out {}, which do not come from a view", method, names),
        more => words!(
            "{}: left out {} and {} more, which do not come from a view",
            method,
            names,
            more
        ),
    }
}

fn question_id(question: u64) -> String {
    format!("q{question}")
}

fn deed_id(call: u64) -> String {
    format!("d{call}")
}

/// How far the audit has come, when it has come further; never without one.
async fn progress_of(
    audit: &mut Option<watch::Receiver<crate::audit::State>>,
) -> (u64, Option<AuditError>) {
    if let Some(state) = audit
        && state.changed().await.is_ok()
    {
        let state = state.borrow_and_update();
        return (state.written, state.failed.clone());
    }
    // The writer has gone, and has said all that it had to say.
    *audit = None;
    std::future::pending().await
}

async fn sleep_until(start: Instant, at: Option<Duration>) {
    match at {
        Some(at) => tokio::time::sleep_until(start + at).await,
        None => std::future::pending().await,
    }
}

/// How long a page may stay away before its views end.
const AWAY: Duration = Duration::from_secs(60);
/// How long a confirmation waits for something to travel with.
const CONFIRM: Duration = Duration::from_millis(20);
/// How much of a stranger's words a line of the log holds, in characters.
const LINE: usize = 400;
/// How long before a person is told of the same limit again.
const AGAIN: Duration = Duration::from_secs(10);
/// The most places: one that ended keeps its counters for as long as its page is known.
const PLACES: usize = 50_000;
/// How many events are taken at a time, before anything else is looked at.
const TOGETHER: usize = 64;
/// The most private addresses of a document that a person is asked about.
const NEARBY: usize = 20;

#[cfg(test)]
mod tests;
