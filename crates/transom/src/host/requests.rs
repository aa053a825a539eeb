//! What a view may ask for: reading it and judging it.

use std::{borrow::Cow, time::Duration};

use serde_json::value::RawValue;
use url::Url;

use super::{
    File, MethodLimits, Output, Phase, Room, Ruling, Session, Task, ToolCall, Tools, Which,
    members::{Dropped, Sifted},
    questions::Waiter,
    rate::Bucket,
    wanted::Wanted,
    work::{Reply, Stage, Work, empty},
};
use crate::{
    policy::{Subject, Verdict, Wish},
    routes::HttpRequest,
    rpc::{self, ErrorObject, Id, Request},
    violation::{Denial, Limit, Over, Quoted, Violation},
    wire::{DisplayMode, DisplayModeResult, InitializeParams, method},
};

/// A request as its verdict will speak of it.
pub(super) struct Seen {
    pub(super) id: Id,
    call: Option<u64>,
    method: Option<&'static str>,
    about: Quoted,
    size: usize,
}

impl Session {
    pub(super) fn requested(
        &mut self,
        now: Duration,
        request: Request<'_>,
        refusal: Option<Violation>,
    ) -> Result<(), Violation> {
        let mut seen = Seen::new(&request);
        let outcome = match refusal {
            _ if self.serving.get(&seen.id).is_some() => {
                Err(Violation::DuplicateId { id: Quoted::new(&seen.id.to_string()) })
            }
            Some(violation) => Err(violation),
            None => self.serve(now, &mut seen, request.params),
        };
        // The refusal may have been the last straw, and a closed session says nothing.
        if let Err(violation) = &outcome
            && !self.is_closed()
        {
            self.rule(&seen, Ruling::Refused(violation.clone()));
            if let Some(code) = violation.code() {
                let data = violation.data();
                let error = ErrorObject {
                    data: data.as_deref(),
                    ..ErrorObject::new(code, violation.to_string())
                };
                self.respond(&seen.id, Err(error));
            }
        }
        outcome
    }

    fn serve(
        &mut self,
        now: Duration,
        seen: &mut Seen,
        params: Option<&RawValue>,
    ) -> Result<(), Violation> {
        let Some(method) = seen.method.filter(|method| self.offers(method)) else {
            let method = seen.method.map_or_else(|| seen.about.clone(), Quoted::new);
            return Err(Violation::UnknownMethod { method });
        };
        self.meter_method(now, method, seen.size)?;
        match method {
            method::INITIALIZE => {
                if params.is_some_and(|params| params.get().len() > GREETING) {
                    let reason = Quoted::new("longer than a name and a list of abilities");
                    return Err(Violation::BadParams { method: method::INITIALIZE, reason });
                }
                let params: InitializeParams = Sifted::new(method::INITIALIZE, params)?.read()?;
                self.greet(now, seen, params)
            }
            method::PING => {
                self.rule(seen, Ruling::Allowed);
                self.respond(&seen.id, Ok(empty()));
                Ok(())
            }
            method => self.consider(now, seen, method, params),
        }
    }

    /// Counts a request of a method that has limits of its own.
    fn meter_method(
        &mut self,
        now: Duration,
        method: &'static str,
        size: usize,
    ) -> Result<(), Over> {
        let Some(&MethodLimits { rate, size: most }) = self.setup.limits.methods.get(method) else {
            return Ok(());
        };
        if let Some(most) = most.filter(|most| size > *most) {
            return Err(self.over(Limit::Params, most as u64));
        }
        let Some(rate) = rate else { return Ok(()) };
        let bucket = self.meters.methods.entry(method).or_insert_with(|| Bucket::full(rate, now));
        if bucket.take(rate, now, 1.0) {
            return Ok(());
        }
        Err(self.over(Limit::Method, rate.most()))
    }

    fn consider(
        &mut self,
        now: Duration,
        seen: &mut Seen,
        method: &'static str,
        params: Option<&RawValue>,
    ) -> Result<(), Violation> {
        let most = self.setup.limits.calls;
        if self.work.len() >= most {
            return Err(self.over(Limit::Calls, most as u64).into());
        }
        self.room.map_or(Ok(()), Room::for_call)?;
        let mut sifted = Sifted::new(method, params)?;
        let wanted = self.read(method, &mut sifted)?;
        if let Some(Dropped { names, more }) = sifted.dropped() {
            self.outputs.push_back(Output::Dropped { method, names, more });
        }
        if matches!(self.state.phase, Phase::Waiting { .. } | Phase::Greeted { .. }) {
            self.outputs.push_back(Output::Early { method: Quoted::new(method) });
        }
        match wanted {
            Wanted::Reply(result) => {
                self.rule(seen, Ruling::Allowed);
                self.respond(&seen.id, Ok(&result));
                Ok(())
            }
            Wanted::Task(task, token) => {
                let (id, size) = (seen.id.clone(), seen.size);
                let (reply, stage) = (task.reply(), Stage::Running);
                let expected = match &task {
                    Task::CallTool(call) => self.expect(call),
                    _ => None,
                };
                let work = Work { id, method, size, token, beats: 0, reply, stage, expected };
                self.judge(now, seen, work, task)
            }
        }
    }

    /// What a late yes must have been given to: what a person was shown or, of files, whose names alone they are shown, a
    /// digest of all that is in them.
    fn wish<'t>(&self, task: &'t Task) -> Cow<'t, str> {
        match task {
            Task::Download { files } => self.tools.digest(&format!("{files:?}")).into(),
            task => task.preview(),
        }
    }

    fn judge(
        &mut self,
        now: Duration,
        seen: &mut Seen,
        work: Work,
        task: Task,
    ) -> Result<(), Violation> {
        let id = work.id.clone();
        seen.about = task.about();
        let verdict = match self.verdict(&task) {
            Verdict::Ask(subject) => {
                let wish = self.wish(&task);
                self.ask_again(now, subject, &wish)
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Allow => {
                let call = self.work.open(now, self.setup.terms.call, work);
                self.keep(id, call);
                seen.call = Some(call);
                self.rule(seen, Ruling::Allowed);
                self.outputs.push_back(Output::Perform { call, task });
                Ok(())
            }
            Verdict::Ask(subject) => self.ask_first(now, &seen.about, subject, work, task),
            Verdict::Deny(denial) if work.reply == Reply::Mode => {
                self.rule(seen, Ruling::Refused(denial.into()));
                self.reply_mode(&id);
                Ok(())
            }
            Verdict::Deny(denial) => Err(denial.into()),
        }
    }

    /// Keeps a request until a person has decided about it.
    fn ask_first(
        &mut self,
        now: Duration,
        about: &Quoted,
        subject: Subject,
        work: Work,
        task: Task,
    ) -> Result<(), Violation> {
        self.has_room(work.size)?;
        let (id, method, call) = (work.id.clone(), work.method, self.work.next_id());
        let (waiter, preview) = (Waiter::View(call), task.preview());
        let mut question = self.inquire(now, subject, method, about.clone(), &preview, waiter)?;
        let number = question.id;
        match &task {
            Task::Download { files } => {
                question.files.clone_from(files);
                let wish = self.wish(&task);
                self.questions.showed(number, &wish);
            }
            Task::CallTool(call) => question.request.clone_from(&call.request),
            _ => {}
        }
        question.parts = task.parts();
        let patience = self.decision_patience(work.token.is_some());
        self.beat_from(now, work.token.is_some());
        let stage = Stage::Asking(Box::new(task));
        self.work.open(now, patience, Work { stage, ..work });
        self.keep(id.clone(), call);
        let (which, about) = (Which::View { id, call: Some(call) }, about.clone());
        self.outputs.push_back(Output::Waits { which, method, about, question: number });
        self.outputs.push_back(Output::Ask(question));
        Ok(())
    }

    /// Whether one more request may be kept until a person decides. What is carried out goes out of our
    /// hands at once; what waits stays in memory for as long as people take.
    fn has_room(&self, size: usize) -> Result<(), Violation> {
        let most = self.setup.limits.held;
        if self.held().saturating_add(size) > most {
            return Err(self.over(Limit::Held, most as u64).into());
        }
        Ok(self.room.map_or(Ok(()), |room| room.to_hold(size))?)
    }

    /// The size of everything that waits for a person.
    pub(super) fn held(&self) -> usize {
        let asking = |work: &Work| if work.is_running() { 0 } else { work.size };
        self.work.iter().map(|(_, work)| asking(work)).sum()
    }

    /// D7: written down before anything comes of it.
    pub(super) fn rule(&mut self, seen: &Seen, ruling: Ruling) {
        let Seen { id, call, method, about, size } = seen;
        self.outputs.push_back(Output::Judged {
            which: Which::View { id: id.clone(), call: *call },
            method: *method,
            about: about.clone(),
            size: *size,
            ruling,
        });
    }

    /// H-81: whatever became of the wish, the answer is the mode in force.
    pub(super) fn reply_mode(&mut self, id: &Id) {
        let result = rpc::raw(&DisplayModeResult { mode: self.mode() });
        self.respond(id, Ok(&result));
    }

    fn keep(&mut self, id: Id, call: u64) {
        self.serving.open(id, call).expect("the id was free and there was room");
    }

    /// Whether this host offers the method (H-72).
    fn offers(&self, method: &str) -> bool {
        let offers = &self.setup.capabilities;
        match method {
            method::TOOLS_CALL | method::TOOLS_LIST => offers.server_tools.is_some(),
            method::RESOURCES_READ | method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST => {
                offers.server_resources.is_some()
            }
            method::PROMPTS_LIST => self.setup.prompts,
            method::OPEN_LINK => offers.open_links,
            method::DOWNLOAD_FILE => offers.download_file,
            method::MESSAGE => offers.message.is_some(),
            method::UPDATE_MODEL_CONTEXT => offers.update_model_context.is_some(),
            method::SAMPLING_CREATE_MESSAGE => offers.sampling.is_some(),
            method => {
                matches!(method, method::INITIALIZE | method::PING | method::REQUEST_DISPLAY_MODE)
            }
        }
    }

    pub(super) fn mode(&self) -> DisplayMode {
        self.context.display_mode.unwrap_or(DisplayMode::Inline)
    }

    /// Judges the wish to call a tool in order to show its view, which a page has before there is a session. A tool that
    /// is for views alone is not for the page, whatever the page shows (H-10).
    pub fn may_open(tools: &Tools, name: &str) -> Result<(), Denial> {
        match tools.get(name) {
            Some(tool) if !tool.for_model => Err(Denial::ForViews(Quoted::new(name))),
            _ => Ok(()),
        }
    }

    pub(super) fn verdict(&self, task: &Task) -> Verdict {
        if let Task::CallTool(call) = task
            && let Err(denial) = self.check_handle(call)
        {
            return Verdict::Deny(denial);
        }
        let names: Vec<String>;
        let url: Url;
        let wish = match task {
            Task::CallTool(ToolCall { name, arguments, request, .. }) => match self.tools.get(name)
            {
                // H-12, H-15: fail closed.
                None => return Verdict::Deny(Denial::NotThisServer(Quoted::new(name))),
                Some(tool) if !tool.for_app => {
                    return Verdict::Deny(Denial::NotVisible(Quoted::new(name)));
                }
                Some(tool) => match (&tool.routes, request) {
                    (None, _) => Wish::CallTool(tool),
                    (Some(routes), Some(request)) => Wish::Request { tool, routes, request },
                    (Some(_), None) => {
                        let why = HttpRequest::read(arguments.as_ref()).err();
                        return Verdict::Deny(Denial::NoRequest(why.unwrap_or("it was none")));
                    }
                },
            },
            Task::Read { method, uri, .. } => Wish::Read { method, uri: uri.as_deref() },
            Task::OpenLink { url: address } => {
                // Printed from a parsed address; should that ever not parse again, it is not opened.
                let Ok(parsed) = Url::parse(address) else {
                    return Verdict::Deny(Denial::Address(Quoted::new(address)));
                };
                url = parsed;
                Wish::OpenLink(&url)
            }
            Task::Download { files } => {
                if let Some(denial) = self.unreadable(files) {
                    return Verdict::Deny(denial);
                }
                names = files.iter().map(File::shown).collect();
                Wish::Download(&names)
            }
            Task::AddMessage { .. } => Wish::Message,
            Task::UpdateModelContext { .. } => Wish::UpdateModelContext,
            Task::Sample { .. } => Wish::Sample,
            Task::SetDisplayMode(_) => Wish::DisplayMode,
        };
        self.judge_wish(wish)
    }

    /// Judges a wish by the rules, by what people decided about the server, and by what they decided about this view. A no
    /// to the server's views is one to this one.
    pub(super) fn judge_wish(&self, wish: Wish<'_>) -> Verdict {
        match self.policy.judge(&self.decided, wish) {
            Verdict::Ask(subject) => match self.policy.judge(&self.here, wish) {
                Verdict::Allow => Verdict::Allow,
                _ => Verdict::Ask(subject),
            },
            verdict => verdict,
        }
    }

    /// Why a file that is only named may not be asked for: its server is, and that is a read like any other.
    fn unreadable(&self, files: &[File]) -> Option<Denial> {
        files.iter().filter_map(File::address).find_map(|address| {
            let wish = Wish::Read { method: method::RESOURCES_READ, uri: Some(address) };
            match self.judge_wish(wish) {
                Verdict::Deny(denial) => Some(denial),
                Verdict::Allow | Verdict::Ask(_) => None,
            }
        })
    }

    pub(super) fn unexpected(&self, got: &str) -> Violation {
        Violation::Unexpected { state: self.state.name(), got: Quoted::new(got) }
    }
}

impl Seen {
    fn new(request: &Request<'_>) -> Self {
        let method = known(&request.method);
        let about = if method.is_some() { "" } else { &request.method };
        let size = request.params.map_or(0, |params| params.get().len());
        Self { id: request.id.clone(), call: None, method, about: Quoted::new(about), size }
    }
}

/// A method under its one name. `ui/*` and everything else that is not named here is never forwarded
/// (H-70).
fn known(method: &str) -> Option<&'static str> {
    let method = method::canonical(method);
    REQUESTS.into_iter().find(|known| *known == method)
}

/// The longest greeting, in bytes: what it says is kept for as long as the view lives.
const GREETING: usize = 256 << 10;
/// Every request that a view may make of some host; the frequent first.
pub const REQUESTS: [&str; 14] = [
    method::TOOLS_CALL,
    method::RESOURCES_READ,
    method::PING,
    method::INITIALIZE,
    method::TOOLS_LIST,
    method::RESOURCES_LIST,
    method::RESOURCES_TEMPLATES_LIST,
    method::PROMPTS_LIST,
    method::OPEN_LINK,
    method::DOWNLOAD_FILE,
    method::MESSAGE,
    method::UPDATE_MODEL_CONTEXT,
    method::SAMPLING_CREATE_MESSAGE,
    method::REQUEST_DISPLAY_MODE,
];
