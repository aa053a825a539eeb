//! A whole world on one virtual clock: a real host session and a real view, the sandbox between them
//! as two delayed queues, a server and a person as lists of things that will happen.
//!
//! After every step it checks what must never be seen on the wire. Uses the public API alone: what
//! cannot be written here cannot be written by anybody.

use std::{
    collections::{BTreeMap, BTreeSet, VecDeque},
    fmt,
    sync::Arc,
    time::Duration,
};

use serde_json::{Value, json, value::RawValue};
use transom::{
    host::{self, Opening, Ruling, ServerLimits, Session, Setup, Share, Task, Tools, Usage, Which},
    policy::Decision,
    rpc::{self, ErrorObject, Id, Message},
    view::{self, View},
    violation::Violation,
    wire::{
        AppCapabilities, DisplayMode, HostCapabilities, HostContext, Implementation, ListChanged,
        Modalities, RawObject, Sampling, Theme,
    },
};

/// The world.
pub(crate) struct World {
    /// The time.
    pub(crate) now: Duration,
    /// The host's end.
    pub(crate) session: Session,
    /// What the views of its server share; there is one.
    pub(crate) share: Share,
    /// What the share has been told that the view uses.
    used: Usage,
    /// The view's end.
    pub(crate) view: View,
    /// How the server behaves.
    pub(crate) server: Server,
    /// How the person behaves.
    pub(crate) person: Person,
    /// How long a message takes through the sandbox.
    pub(crate) delay: Duration,
    /// What the session and the view said, in words.
    pub(crate) heard: Vec<String>,
    /// Every verdict, in words.
    pub(crate) verdicts: Vec<(Which, Option<&'static str>, String)>,
    /// Everything that happened.
    pub(crate) timeline: VecDeque<Line>,
    /// What is printed with the timeline when something breaks.
    pub(crate) name: String,
    to_host: VecDeque<Parcel>,
    to_view: VecDeque<Parcel>,
    future: Vec<(Duration, Happening)>,
    watch: Watch,
    setup: view::Setup,
    accept_strings: bool,
}

/// One line of the timeline.
#[derive(Clone, Debug)]
pub(crate) struct Line {
    /// When.
    pub(crate) at: Duration,
    /// Who.
    pub(crate) from: &'static str,
    /// To whom.
    pub(crate) to: &'static str,
    /// What.
    pub(crate) what: String,
}

/// How the server behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Server {
    /// How long it takes; none means for ever.
    pub(crate) latency: Option<Duration>,
    /// How often it says something while it works.
    pub(crate) progress: u32,
}

/// How the person behaves.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Person {
    /// How long they take; none means for ever.
    pub(crate) latency: Option<Duration>,
    /// What they say.
    pub(crate) decision: Decision,
}

struct Parcel {
    due: Duration,
    text: String,
}

/// Something that will happen by itself.
enum Happening {
    Answer { call: u64, outcome: Result<String, (i64, String)> },
    Progress { call: u64, progress: u32 },
    Decision { question: u64, decision: Decision },
}

/// What the wire has shown so far, kept apart from the machines that it judges.
#[derive(Default)]
struct Watch {
    greeted: bool,
    instance: bool,
    open: bool,
    closed: bool,
    inputs: usize,
    endings: usize,
    asked_by_view: BTreeSet<String>,
    asked_by_host: BTreeSet<i64>,
    performing: BTreeMap<u64, ()>,
    /// Requests of the view without a verdict yet.
    unjudged: BTreeMap<Id, usize>,
    /// Calls of the view's tools without one.
    unjudged_app: BTreeSet<u64>,
    /// Requests of the view with a verdict and without an answer, and the call that each opened.
    owed: BTreeMap<Id, Option<u64>>,
    /// How often the session has spoken of requests.
    verdicts: usize,
    waits: usize,
}

impl World {
    /// A host with everything on offer, and a view that has just been loaded.
    pub(crate) fn new(name: &str) -> Self {
        Self::with(name, setup(), opening())
    }

    /// A host of your own making.
    pub(crate) fn with(name: &str, setup: Setup, opening: Opening) -> Self {
        let view_setup = view_setup();
        let accept_strings = setup.accept_strings;
        let mut world = Self {
            now: Duration::ZERO,
            session: Session::start(Duration::ZERO, Arc::new(setup), opening),
            share: Share::new(Duration::ZERO, ServerLimits::default()),
            used: Usage::default(),
            view: View::start(Duration::ZERO, view_setup.clone()),
            server: Server { latency: Some(ms(40)), progress: 0 },
            person: Person { latency: Some(ms(2_000)), decision: Decision::Allow },
            delay: ms(1),
            heard: vec![],
            verdicts: vec![],
            timeline: VecDeque::new(),
            name: name.to_owned(),
            to_host: VecDeque::new(),
            to_view: VecDeque::new(),
            future: vec![],
            watch: Watch::default(),
            setup: view_setup,
            accept_strings,
        };
        world.drain();
        world
    }

    /// Goes to the next thing that will happen, and lets it. Returns whether there was one.
    pub(crate) fn step(&mut self) -> bool {
        self.drain();
        let Some(next) = self.next() else { return false };
        self.now = self.now.max(next);
        self.happen();
        self.drain();
        true
    }

    /// Runs until nothing is left to happen before `until`.
    pub(crate) fn run_until(&mut self, until: Duration) {
        self.drain();
        while self.next().is_some_and(|next| next <= until) {
            self.step();
        }
        self.now = self.now.max(until);
    }

    /// Runs for a while.
    pub(crate) fn run_for(&mut self, time: Duration) {
        self.run_until(self.now + time);
    }

    /// Runs the handshake through.
    pub(crate) fn open(&mut self) {
        self.run_for(ms(50));
        assert!(self.session.is_ready() && self.view.is_ready(), "the handshake is complete");
    }

    /// A message to the host that the view never sent: a stranger's, or the view gone wild.
    pub(crate) fn inject(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.note("stranger", "host", text.clone());
        self.deliver_to_host(&text);
        self.drain();
    }

    /// A message to the view that the host never sent.
    pub(crate) fn inject_to_view(&mut self, text: impl Into<String>) {
        let text = text.into();
        self.note("stranger", "view", text.clone());
        let _ = self.view.handle(self.now, view::Input::Host(&text));
        self.drain();
    }

    /// A heading in the timeline.
    pub(crate) fn chapter(&mut self, title: &str) {
        self.note("", "", title.to_owned());
    }

    /// Delivers once more what is next in the queue to the host.
    pub(crate) fn duplicate_to_host(&mut self) {
        if let Some(parcel) = self.to_host.front() {
            let copy = Parcel { due: parcel.due, text: parcel.text.clone() };
            self.to_host.push_front(copy);
        }
    }

    /// The frame dies and comes back with a new document; what was on its way is lost.
    pub(crate) fn reload(&mut self) {
        self.note("view", "view", "reload".to_owned());
        self.to_host.clear();
        self.to_view.clear();
        self.watch.new_document();
        let _ = self.session.handle(self.now, host::Input::Reloaded);
        self.view = View::start(self.now, self.setup.clone());
        self.drain();
        self.watch.owed.clear();
    }

    /// The document starts over without anybody noticing: a component mounted twice, a script that
    /// reloads itself.
    pub(crate) fn restart_view(&mut self) {
        self.note("view", "view", "starts over".to_owned());
        self.to_view.clear();
        self.view = View::start(self.now, self.setup.clone());
        self.drain();
    }

    /// Makes something happen to a call now: an answer out of turn, twice, or for nobody.
    pub(crate) fn answer_call(&mut self, call: u64, outcome: Result<&str, (i64, &str)>) {
        let outcome = outcome.map(str::to_owned).map_err(|(code, words)| (code, words.to_owned()));
        self.future.push((self.now, Happening::Answer { call, outcome }));
    }

    /// Makes a person say something now: late, twice, or about nothing.
    pub(crate) fn say(&mut self, question: u64, decision: Decision) {
        self.future.push((self.now, Happening::Decision { question, decision }));
    }

    /// Everything that was told to the view, by method, in order.
    pub(crate) fn told(&self) -> Vec<&str> {
        let to_view = self.timeline.iter().filter(|line| line.to == "view" && line.from == "host");
        to_view.filter_map(|line| method_of(&line.what)).collect()
    }

    /// Whether something like this was heard.
    pub(crate) fn has_heard(&self, words: &str) -> bool {
        self.heard.iter().any(|line| line.contains(words))
    }

    /// When the next thing happens.
    fn next(&self) -> Option<Duration> {
        let parcels = [self.to_host.front(), self.to_view.front()];
        let all = parcels.into_iter().flatten().map(|parcel| parcel.due);
        all.chain(self.future.iter().map(|(due, _)| *due))
            .chain(self.session.deadline())
            .chain(self.view.deadline())
            .min()
    }

    fn happen(&mut self) {
        let due = |parcel: Option<&Parcel>, now| parcel.is_some_and(|parcel| parcel.due <= now);
        if due(self.to_host.front(), self.now) {
            let parcel = self.to_host.pop_front().expect("there is one");
            self.deliver_to_host(&parcel.text);
        } else if due(self.to_view.front(), self.now) {
            let parcel = self.to_view.pop_front().expect("there is one");
            if let Err(violation) = self.view.handle(self.now, view::Input::Host(&parcel.text)) {
                self.heard.push(format!("view refused: {violation}"));
            }
        } else if let Some(index) = self.future.iter().position(|(due, _)| *due <= self.now) {
            let (_, happening) = self.future.remove(index);
            self.let_happen(happening);
        } else {
            // Refused by nobody: a tick is always welcome.
            self.session.handle(self.now, host::Input::Tick).expect("a tick is taken");
            self.view.handle(self.now, view::Input::Tick).expect("a tick is taken");
        }
    }

    fn deliver_to_host(&mut self, text: &str) {
        // What happens by itself comes first: the session may be over before it hears this.
        self.session.handle(self.now, host::Input::Tick).expect("a tick is taken");
        self.drain();
        let closed = self.session.is_closed();
        self.watch.arrives(text, closed);
        let request = if closed { None } else { self.request(text) };
        if let Some(id) = &request {
            *self.watch.unjudged.entry(id.clone()).or_default() += 1;
        }
        let before = (self.watch.verdicts, self.watch.waits);
        let outcome = self.session.hear(self.now, text, &mut self.share);
        if let Err(violation) = &outcome {
            self.note("gate", "log", format!("refused: {violation}"));
            self.heard.push(format!("refused: {violation}"));
        }
        self.drain();
        if request.is_some() {
            assert!(outcome.is_ok(), "a request is judged, not an error: {text}");
            let after = (self.watch.verdicts, self.watch.waits);
            assert!(after > before, "D7: a verdict, or a person is asked: {text}");
        }
    }

    /// The id, if the session will take it for a request.
    fn request(&self, text: &str) -> Option<Id> {
        let limits = rpc::MessageLimits::default();
        let inner = self.accept_strings.then(|| serde_json::from_str::<String>(text).ok());
        let inner = inner.flatten();
        match Message::parse(inner.as_deref().unwrap_or(text), limits) {
            Ok(Message::Request(request)) => Some(request.id),
            _ => None,
        }
    }

    /// Every request has had its one verdict and its one answer.
    pub(crate) fn assert_settled(&self) {
        let Watch { unjudged, unjudged_app, owed, .. } = &self.watch;
        assert!(unjudged.is_empty(), "D7: no verdict: {unjudged:?}");
        assert!(unjudged_app.is_empty(), "D7: no verdict: {unjudged_app:?}");
        assert!(owed.is_empty(), "no answer: {owed:?}");
    }

    fn let_happen(&mut self, happening: Happening) {
        match happening {
            Happening::Answer { call, outcome } => {
                let raw = outcome.as_ref().ok().map(|text| raw(text));
                let outcome = match &outcome {
                    Ok(_) => Ok(raw.as_deref().expect("a result is JSON")),
                    Err((code, words)) => Err(ErrorObject::new(*code, words.as_str())),
                };
                self.note("server", "host", format!("answer to call {call}"));
                self.watch.performing.remove(&call);
                let input = host::Input::Answer { call, outcome };
                self.session.handle(self.now, input).expect("an answer is taken or ignored");
            }
            Happening::Progress { call, progress } => {
                let params =
                    raw(&json!({ "progressToken": call, "progress": progress }).to_string());
                self.note("server", "host", format!("progress {progress} on call {call}"));
                let input = host::Input::Progress { call, params: &params };
                self.session.handle(self.now, input).expect("progress is taken or ignored");
            }
            Happening::Decision { question, decision } => {
                self.note("person", "host", format!("{decision:?} to question {question}"));
                let input = host::Input::Decision { question, decision };
                self.session.handle(self.now, input).expect("a decision is taken or ignored");
            }
        }
    }

    /// Carries out what both machines want, and checks it.
    pub(crate) fn drain(&mut self) {
        while let Some(output) = self.session.poll() {
            assert!(!self.watch.closed, "nothing comes after Closed, but {output:?} did");
            self.carry_out(output);
        }
        while let Some(output) = self.view.poll() {
            self.hear(output);
        }
        assert!(self.session.in_flight() <= host::Limits::default().calls, "bounded");
        let used = self.session.usage();
        self.share.change(std::mem::replace(&mut self.used, used), used);
    }

    fn carry_out(&mut self, output: host::Output) {
        match output {
            host::Output::Send(text) => {
                self.watch.leaves(&text);
                self.note("host", "view", text.clone());
                let due = self.due(self.to_view.back());
                self.to_view.push_back(Parcel { due, text });
            }
            host::Output::Perform { call, task } => self.perform(call, &task),
            host::Output::CallAppTool { call, .. } => self.session.send_app_call(self.now, call),
            host::Output::Abort { call, reason } => {
                assert!(self.watch.performing.remove(&call).is_some(), "aborts what was performed");
                self.watch.owed.retain(|_, owed| *owed != Some(call));
                self.note("host", "server", format!("abort call {call}: {}", reason.as_str()));
                self.heard.push(format!("abort: {}", reason.as_str()));
            }
            host::Output::Ask(question) => {
                self.note(
                    "host",
                    "person",
                    format!("question {}: {:?}", question.id, question.subject),
                );
                self.heard.push(format!("ask: {:?}", question.subject));
                self.heard.extend(question.changes.iter().map(|words| format!("since: {words}")));
                if let Some(latency) = self.person.latency {
                    let decision = self.person.decision;
                    let happening = Happening::Decision { question: question.id, decision };
                    self.future.push((self.now + latency, happening));
                }
            }
            host::Output::Unawaited { question } => {
                self.note("host", "person", format!("question {question}: nobody waits"));
                self.heard.push(format!("unawaited: {question}"));
            }
            host::Output::Waits { which, method, about, question } => {
                self.watch.waits(which);
                let words = format!("{method} {about}: a person decides (question {question})");
                self.note("gate", "log", words);
            }
            host::Output::Judged { which, method, about, ruling, .. } => {
                self.watch.judged(which.clone(), &ruling);
                let words = words(&ruling);
                self.note("gate", "log", format!("{} {about}: {words}", method.unwrap_or("?")));
                if let Ruling::Refused(violation) = &ruling {
                    self.heard.push(format!("refused: {violation}"));
                }
                self.verdicts.push((which, method, words));
            }
            host::Output::Closed(reason) => {
                self.watch.closed = true;
                self.watch.owed.clear();
                self.note("host", "log", format!("closed: {reason:?}"));
                self.heard.push(format!("host closed: {reason:?}"));
            }
            other => {
                if let host::Output::Greeted { .. } = other
                    && std::mem::replace(&mut self.watch.instance, true)
                {
                    // Whatever the last instance waited for is forgotten with it.
                    self.watch.owed.clear();
                }
                let words = format!("{other:?}");
                self.note("host", "log", words.clone());
                self.heard.push(words);
            }
        }
    }

    fn perform(&mut self, call: u64, task: &Task) {
        let (what, result) = match task {
            Task::CallTool(tool) => {
                self.watch.forwards(&tool.params());
                let name = &tool.name;
                (format!("tools/call {name} (call {call})"), result_of(name))
            }
            Task::SetDisplayMode(mode) => {
                let mut context = HostContext::clone(self.session.context());
                context.display_mode = Some(*mode);
                self.session
                    .set_context(Arc::new(context))
                    .expect("only declared modes are asked for");
                (format!("show as {mode} (call {call})"), "{}".to_owned())
            }
            other => (format!("{other:?} (call {call})"), r#"{"content":[]}"#.to_owned()),
        };
        assert!(self.watch.performing.insert(call, ()).is_none(), "each call once");
        self.note("host", "server", what.clone());
        self.heard.push(format!("perform: {what}"));
        let Some(latency) = self.server.latency else { return };
        for progress in 1..=self.server.progress {
            let due = self.now + latency * progress / (self.server.progress + 1);
            self.future.push((due, Happening::Progress { call, progress }));
        }
        let outcome = Ok(result);
        self.future.push((self.now + latency, Happening::Answer { call, outcome }));
    }

    fn hear(&mut self, output: view::Output) {
        match output {
            view::Output::Send(text) => {
                self.note("view", "host", text.clone());
                let due = self.due(self.to_host.back());
                self.to_host.push_back(Parcel { due, text });
            }
            view::Output::TearDown { request, .. } => {
                self.heard.push("view saves its things".to_owned());
                self.view.answer(&request, Ok(RawObject::default()));
            }
            view::Output::ToolsListed { request } => {
                let tools = raw(r#"{"tools":[{"name":"paint","inputSchema":{"type":"object"}}]}"#);
                self.view.answer(&request, Ok(RawObject::new(&tools).expect("an object")));
            }
            view::Output::ToolCalled { request, name, .. } => {
                let result = raw(&result_of(&name));
                self.view.answer(&request, Ok(RawObject::new(&result).expect("an object")));
            }
            other => {
                let words = format!("view: {other:?}");
                self.heard.push(words.chars().take(200).collect());
            }
        }
    }

    /// Messages keep their order, whatever the delay.
    fn due(&self, last: Option<&Parcel>) -> Duration {
        (self.now + self.delay).max(last.map_or(Duration::ZERO, |parcel| parcel.due))
    }

    fn note(&mut self, from: &'static str, to: &'static str, what: String) {
        if self.timeline.len() == 2_000 {
            self.timeline.pop_front();
        }
        self.timeline.push_back(Line { at: self.now, from, to, what });
    }
}

impl Drop for World {
    /// A failing world shows how it came to it.
    fn drop(&mut self) {
        if std::thread::panicking() {
            let from = self.timeline.len().saturating_sub(60);
            let last: Vec<_> = self.timeline.iter().skip(from).map(Line::to_string).collect();
            eprintln!("world {:?}, the end of its trace:\n{}", self.name, last.join("\n"));
        }
    }
}

impl fmt::Display for Line {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { at, from, to, what } = self;
        if from.is_empty() {
            return write!(f, "\n{what}");
        }
        let length = if f.alternate() { usize::MAX } else { 110 };
        let short: String = what.chars().take(length).collect();
        let more = if short.len() < what.len() { "…" } else { "" };
        write!(f, "{:>9.3} s  {from:>8} → {to:<7} {short}{more}", at.as_secs_f64())
    }
}

impl Watch {
    /// A message reaches the host.
    fn arrives(&mut self, text: &str, closed: bool) {
        let Ok(mut message) = serde_json::from_str::<Value>(text) else { return };
        if let Value::String(inner) = &message {
            message = serde_json::from_str(inner).unwrap_or_default();
        }
        if closed || message["jsonrpc"] != "2.0" {
            return;
        }
        match (message["method"].as_str(), message.get("id")) {
            (Some("ui/notifications/initialized" | "notifications/initialized"), None) => {
                self.open = self.greeted;
            }
            (Some("notifications/cancelled"), None) => {
                let id = &message["params"]["requestId"];
                self.asked_by_view.remove(&id.to_string());
                self.owed.retain(|owed, _| json!(owed) != *id);
            }
            (Some(_), Some(id)) => {
                self.asked_by_view.insert(id.to_string());
            }
            _ => {}
        }
        if message["method"] == "ui/initialize" && message.get("id").is_some() {
            self.greeted = true;
        }
    }

    /// A message leaves the host.
    fn leaves(&mut self, text: &str) {
        let message: Value = serde_json::from_str(text).expect("what we send is JSON");
        let members: BTreeSet<&str> =
            message.as_object().expect("an object").keys().map(String::as_str).collect();
        let allowed = ["jsonrpc", "id", "method", "params", "result", "error"];
        assert!(members.iter().all(|member| allowed.contains(member)), "W-5: {text}");
        let Some(method) = message["method"].as_str() else { return self.answers(&message, text) };
        // Absence: "the host sends a view nothing but responses before `initialized`" (H-53).
        assert!(self.open, "H-53: sent before initialized: {text}");
        assert!(!method.starts_with("ui/notifications/sandbox-"), "P-07: {text}");
        match method {
            "ui/notifications/tool-input-partial" => assert_eq!(self.inputs, 0, "H-64: {text}"),
            "ui/notifications/tool-input" => {
                self.inputs += 1;
                assert_eq!((self.inputs, self.endings), (1, 0), "H-61, H-62: {text}");
            }
            "ui/notifications/tool-result" => {
                self.endings += 1;
                assert_eq!((self.inputs, self.endings), (1, 1), "H-62, H-68: {text}");
            }
            "ui/notifications/tool-cancelled" => {
                self.endings += 1;
                assert_eq!(self.endings, 1, "H-68: {text}");
            }
            _ => {}
        }
        if let Some(id) = message.get("id") {
            let id = id.as_i64().expect("our ids are integers");
            assert!(self.asked_by_host.insert(id), "ids are not used again: {text}");
        }
    }

    /// D7: a request that waits for a person has no verdict yet, and will have one.
    fn waits(&mut self, which: Which) {
        self.waits += 1;
        match which {
            Which::View { id, .. } => assert!(self.unjudged.contains_key(&id), "{id}"),
            Which::App { call } => assert!(self.unjudged_app.insert(call.expect("it waits"))),
        }
    }

    /// D7: every request is judged once, and before its answer.
    fn judged(&mut self, which: Which, ruling: &Ruling) {
        self.verdicts += 1;
        let (id, call) = match which {
            Which::View { id, call } => (id, call),
            Which::App { call } => {
                call.map(|call| self.unjudged_app.remove(&call));
                return;
            }
        };
        let count = self.unjudged.get_mut(&id).expect("a verdict on what was asked");
        *count -= 1;
        if *count == 0 {
            self.unjudged.remove(&id);
        }
        let unanswered = match ruling {
            Ruling::Withdrawn | Ruling::Refused(Violation::DuplicateId { .. }) => true,
            Ruling::Refused(Violation::Unexpected { got, .. }) => got.as_str() == "a message",
            _ => false,
        };
        if !unanswered {
            self.owed.insert(id, call);
        }
    }

    fn answers(&mut self, message: &Value, text: &str) {
        let answered: Id = serde_json::from_value(message["id"].clone()).expect("an id");
        assert!(self.owed.remove(&answered).is_some(), "D7: judged before it is answered: {text}");
        let id = message["id"].to_string();
        assert!(self.asked_by_view.remove(&id), "answers what was asked, once: {text}");
        if message.get("result").is_some_and(|result| result.get("hostContext").is_some()) {
            // A new instance begins to listen with this answer. Whoever greets after `initialized`
            // has seen nothing yet.
            if self.open {
                (self.inputs, self.endings) = (0, 0);
            }
            self.open = false;
        }
    }

    /// A tool call goes to the server.
    fn forwards(&self, params: &str) {
        let params: Value = serde_json::from_str(params).expect("JSON");
        let token = params.get("_meta").and_then(|meta| meta.get("progressToken"));
        assert_eq!(token, None, "R-09: the view's own token is never passed on");
    }

    fn new_document(&mut self) {
        (self.greeted, self.open, self.inputs, self.endings) = (false, false, 0, 0);
        self.instance = false;
        self.asked_by_view.clear();
    }
}

/// Everything on offer.
pub(crate) fn setup() -> Setup {
    let all = Modalities::ALL;
    Setup {
        info: Implementation::new("world", "1"),
        capabilities: HostCapabilities {
            open_links: true,
            download_file: true,
            server_tools: Some(ListChanged { list_changed: true }),
            server_resources: Some(ListChanged { list_changed: true }),
            logging: true,
            update_model_context: Some(all),
            message: Some(all),
            sampling: Some(Sampling { tools: false }),
            ..HostCapabilities::default()
        },
        prompts: true,
        ..Setup::default()
    }
}

/// A server with a tool of each kind.
pub(crate) fn opening() -> Opening {
    let context = HostContext {
        theme: Some(Theme::Dark),
        display_mode: Some(DisplayMode::Inline),
        available_display_modes: Some(vec![DisplayMode::Inline, DisplayMode::Fullscreen]),
        ..HostContext::default()
    };
    Opening { context: Arc::new(context), tools: Arc::new(tools(TOOLS)), ..Opening::default() }
}

/// Reads a list of tools.
pub(crate) fn tools(text: &str) -> Tools {
    let entries: Vec<&RawValue> = serde_json::from_str(text).expect("a list");
    Tools::read(entries, &mut vec![])
}

/// A raw value from a text that is JSON.
pub(crate) fn raw(text: &str) -> Box<RawValue> {
    RawValue::from_string(text.to_owned()).expect("JSON")
}

/// A short time.
pub(crate) const fn ms(milliseconds: u64) -> Duration {
    Duration::from_millis(milliseconds)
}

fn view_setup() -> view::Setup {
    view::Setup {
        info: Implementation::new("a view", "1"),
        capabilities: AppCapabilities {
            tools: Some(ListChanged { list_changed: true }),
            available_display_modes: Some(vec![DisplayMode::Inline, DisplayMode::Fullscreen]),
            ..AppCapabilities::default()
        },
    }
}

fn result_of(name: &str) -> String {
    json!({ "content": [{ "type": "text", "text": format!("{name} is done") }] }).to_string()
}

fn method_of(text: &str) -> Option<&str> {
    let (_, rest) = text.split_once(r#""method":""#)?;
    rest.split('"').next()
}

fn words(ruling: &Ruling) -> String {
    match ruling {
        Ruling::Allowed => "allowed".to_owned(),
        Ruling::Withdrawn => "withdrawn".to_owned(),
        Ruling::Refused(violation) => format!("refused, {violation}"),
    }
}

const TOOLS: &str = r#"[
    {"name":"look","annotations":{"readOnlyHint":true}},
    {"name":"save"},
    {"name":"send"},
    {"name":"wipe","annotations":{"destructiveHint":true}},
    {"name":"refresh","annotations":{"readOnlyHint":true},"_meta":{"ui":{"visibility":["app"]}}},
    {"name":"secret","_meta":{"ui":{"visibility":["model"]}}}
]"#;
