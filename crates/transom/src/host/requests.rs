//! What a view may ask for: reading it, judging it, and seeing it through.

use std::{borrow::Cow, time::Duration};

use serde_json::value::RawValue;
use url::Url;

use super::{Output, Phase, Reason, Ruling, Session, files::file_name, questions::Waiter};
use crate::{
    policy::{Subject, Verdict, Wish},
    rpc::{self, DENIED, ErrorObject, INTERNAL_ERROR, Id, Message, Notification, Request},
    violation::{Denial, Limit, Quoted, Violation, read},
    wire::{
        Body, CallToolParams, CancelledParams, CreateMessageParams, DisplayMode, DisplayModeResult,
        DownloadFileParams, Downloadable, InitializeParams, ListParams, LogParams, MessageParams,
        Meta, Modalities, Modality, OpenLinkParams, ProgressParams, ProgressToken, RawObject,
        ReadResourceParams, RequestDisplayModeParams, SizeChangedParams, UpdateModelContextParams,
        method,
    },
};

/// What to do for the view, already allowed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum Task {
    /// Call a tool of the view's server; answer with its result or its error, untouched.
    CallTool(ToolCall),
    /// Send any other request to the view's server; answer with its result or its error.
    Read {
        /// `resources/read` or one of the lists.
        method: &'static str,
        /// The params to send.
        params: Option<Box<RawValue>>,
    },
    /// Open an address in the person's browser, without opener and referrer (H-90).
    OpenLink {
        /// The address, parsed and printed again.
        url: String,
    },
    /// Save files (H-95).
    Download {
        /// The files.
        files: Vec<File>,
    },
    /// Put a message of the user into the conversation (H-91).
    AddMessage {
        /// A JSON array of content blocks.
        content: Box<RawValue>,
    },
    /// Replace what the model is told about this view (H-93, H-94).
    UpdateModelContext {
        /// A JSON array of content blocks; empty, with nothing structured, means "forget".
        content: Box<RawValue>,
        /// A JSON object.
        structured: Option<Box<RawValue>>,
    },
    /// Let the host's model write something (H-98); answer with its result.
    Sample {
        /// The params of `sampling/createMessage`.
        params: Box<RawValue>,
    },
    /// Show the view in another way; set the new context before answering (Q1).
    SetDisplayMode(DisplayMode),
}

/// A tool call on its way to the server, in parts: the large one is copied once and printed once.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// The tool.
    pub name: String,
    /// Its arguments, a JSON object, as the view wrote them.
    pub arguments: Option<Box<RawValue>>,
    /// `_meta`, a JSON object. A progress token in it is the call's number, and ours (H-74).
    pub meta: Option<Box<RawValue>>,
    /// Whatever else the view said, name by name.
    pub rest: Vec<(String, Box<RawValue>)>,
}

/// A file that a view wants saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// The name to save it under: one plain segment (H-96).
    pub name: String,
    /// Its MIME type, as the view says.
    pub mime_type: Option<String>,
    /// What is in it, or where to get it.
    pub body: FileBody,
}

/// What is in a file, or where to get it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileBody {
    /// Text.
    Text(String),
    /// Bytes, in base64.
    Blob(String),
    /// An address, to be fetched only with consent and never with credentials (H-97).
    Link(String),
}

/// One request of the view that is not answered yet.
#[derive(Debug)]
pub(super) struct Work {
    id: Id,
    method: &'static str,
    /// Of its params, in bytes.
    size: usize,
    token: Option<ProgressToken>,
    beats: u32,
    reply: Reply,
    stage: Stage,
}

#[derive(Debug)]
enum Stage {
    /// A person decides.
    Asking(Box<Task>),
    /// Somebody is at it.
    Running,
}

/// What a successful answer looks like.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Reply {
    /// What came back, untouched.
    Raw,
    /// `{}` and nothing else (H-92, H-99).
    Empty,
    /// The mode in force (H-81).
    Mode,
}

/// A request, read.
enum Wanted {
    /// Answered here and now.
    Reply(Box<RawValue>),
    /// To be judged.
    Task(Task, Option<ProgressToken>),
}

impl Session {
    /// Takes one message of the view.
    pub(super) fn receive(&mut self, now: Duration, text: &str) -> Result<(), Violation> {
        if self.is_closed() {
            return Err(self.unexpected("a message"));
        }
        let limits = self.setup.limits;
        let unwrapped = self.setup.accept_strings.then(|| rpc::unwrap_string(text, limits.message));
        let text = unwrapped.as_ref().and_then(Option::as_deref).unwrap_or(text);
        // Both meters run whatever the outcome: a flood of rubbish is a flood.
        let few = self.meters.messages.take(limits.messages, now, 1.0);
        let small = self.meters.bytes.take(limits.bytes, now, text.len() as f64);
        let over = match (few, small) {
            (true, true) => None,
            (false, _) => Some(Limit::Messages),
            (true, false) => Some(Limit::Bytes),
        };
        let outcome = match Message::parse(text, limits.message) {
            Ok(message) => self.dispatch(now, message, over),
            Err(malformed) => Err(self.malformed(now, malformed, over)),
        };
        if let Err(violation) = &outcome {
            self.strike(now, violation);
        }
        outcome
    }

    fn dispatch(
        &mut self,
        now: Duration,
        message: Message<'_>,
        over: Option<Limit>,
    ) -> Result<(), Violation> {
        match message {
            // Never limited: there are no more of them than we asked for.
            Message::Response(response) => self.answered(now, response),
            Message::Request(_) | Message::Notification(_) if self.is_muted() => {
                Err(self.unexpected("a message"))
            }
            Message::Request(request) => self.requested(now, request, over),
            Message::Notification(_) if let Some(limit) = over => {
                Err(Violation::OverLimit { limit })
            }
            Message::Notification(notification) => self.notified(now, notification),
        }
    }

    /// A view that is taken away for its manners is not listened to any more.
    fn is_muted(&self) -> bool {
        matches!(
            self.state.phase,
            Phase::Closing { reason: Reason::Flood | Reason::ReloadLoop, .. }
        )
    }

    fn malformed(
        &mut self,
        now: Duration,
        malformed: rpc::Malformed,
        over: Option<Limit>,
    ) -> Violation {
        // An answer nobody can use is still an answer: whoever waits for it must not wait longer.
        if let rpc::Malformed::BadAnswer { id, .. } = &malformed {
            self.settle_unusable(now, id);
        }
        match over {
            Some(limit) => Violation::OverLimit { limit },
            None => malformed.into(),
        }
    }

    /// Counts a refusal; too many of them, and the view is taken away.
    fn strike(&mut self, now: Duration, violation: &Violation) {
        // Other traffic on the same window is none of our business.
        let foreign = matches!(violation, Violation::Malformed(rpc::Malformed::Foreign));
        if !foreign && !self.meters.strikes.take(self.setup.limits.strikes, now, 1.0) {
            self.close(now, Reason::Flood);
        }
    }

    fn requested(
        &mut self,
        now: Duration,
        request: Request<'_>,
        over: Option<Limit>,
    ) -> Result<(), Violation> {
        let id = request.id.clone();
        let outcome = match over {
            _ if self.serving.get(&id).is_some() => {
                Err(Violation::DuplicateId { id: Quoted::new(&id.to_string()) })
            }
            Some(limit) => Err(Violation::OverLimit { limit }),
            None => self.serve(now, request),
        };
        // The refusal may have been the last straw, and a closed session says nothing.
        if let Err(violation) = &outcome
            && let Some(code) = violation.code()
            && !self.is_closed()
        {
            self.respond(&id, Err(ErrorObject::new(code, violation.to_string())));
        }
        outcome
    }

    fn serve(&mut self, now: Duration, request: Request<'_>) -> Result<(), Violation> {
        let Request { id, method, params } = request;
        match method::canonical(&method) {
            method::INITIALIZE => {
                if params.is_some_and(|params| params.get().len() > GREETING) {
                    let reason = Quoted::new("longer than anybody's name and abilities");
                    return Err(Violation::BadParams { method: method::INITIALIZE, reason });
                }
                let params: InitializeParams = read(method::INITIALIZE, params)?;
                self.greet(now, &id, params)
            }
            method::PING => {
                self.respond(&id, Ok(empty()));
                Ok(())
            }
            method => self.consider(now, id, method, params),
        }
    }

    fn consider(
        &mut self,
        now: Duration,
        id: Id,
        method: &str,
        params: Option<&RawValue>,
    ) -> Result<(), Violation> {
        let Some(method) = self.offered(method) else {
            return Err(Violation::UnknownMethod { method: Quoted::new(method) });
        };
        if self.work.len() >= self.setup.limits.calls {
            return Err(Violation::OverLimit { limit: Limit::Calls });
        }
        let wanted = self.read(method, params)?;
        if matches!(self.state.phase, Phase::Waiting { .. } | Phase::Greeted { .. }) {
            self.outputs.push_back(Output::Early { method: Quoted::new(method) });
        }
        match wanted {
            Wanted::Reply(result) => {
                self.respond(&id, Ok(&result));
                Ok(())
            }
            Wanted::Task(task, token) => {
                let size = params.map_or(0, |params| params.get().len());
                let (reply, stage) = (task.reply(), Stage::Running);
                self.judge(now, Work { id, method, size, token, beats: 0, reply, stage }, task)
            }
        }
    }

    fn judge(&mut self, now: Duration, work: Work, task: Task) -> Result<(), Violation> {
        let (id, method, about) = (work.id.clone(), work.method, Quoted::new(task.about()));
        let verdict = match self.verdict(&task) {
            Verdict::Ask(subject) if self.questions.spend(&subject, &task.preview()) => {
                Verdict::Allow
            }
            verdict => verdict,
        };
        match verdict {
            Verdict::Allow => {
                let call = self.work.open(now, self.setup.terms.call, work);
                self.keep(id, call);
                self.judged(Some(call), method, about, Ruling::Allowed);
                self.outputs.push_back(Output::Perform { call, task });
                Ok(())
            }
            Verdict::Ask(subject) => {
                self.has_room(work.size)?;
                let call = self.work.next_id();
                let waiter = Waiter::View(call);
                let (number, mut question) =
                    self.inquire(subject, method, &task.preview(), waiter)?;
                if let (Some(Output::Ask(question)), Task::Download { files }) =
                    (&mut question, &task)
                {
                    question.files.clone_from(files);
                }
                let patience = self.decision_patience(work.token.is_some());
                self.beat_from(now, work.token.is_some());
                self.work.open(
                    now,
                    patience,
                    Work { stage: Stage::Asking(Box::new(task)), ..work },
                );
                self.keep(id, call);
                self.judged(Some(call), method, about, Ruling::Asked { question: number });
                self.outputs.extend(question);
                Ok(())
            }
            Verdict::Deny(denial) => {
                let violation = Violation::Denied(denial);
                self.judged(None, method, about, Ruling::Refused(violation.clone()));
                if work.reply == Reply::Mode {
                    self.reply_mode(&id);
                    return Ok(());
                }
                Err(violation)
            }
        }
    }

    /// Whether one more request may be kept until a person decides. What is carried out goes out of our
    /// hands at once; what waits stays in memory for as long as people take.
    fn has_room(&mut self, size: usize) -> Result<(), Violation> {
        let asking = |(_, work): (u64, &mut Work)| if work.is_running() { 0 } else { work.size };
        let held: usize = self.work.iter_mut().map(asking).sum();
        if held + size > self.setup.limits.held {
            return Err(Violation::OverLimit { limit: Limit::Held });
        }
        Ok(())
    }

    /// D7: written down before anything comes of it.
    fn judged(&mut self, call: Option<u64>, method: &'static str, about: Quoted, ruling: Ruling) {
        self.outputs.push_back(Output::Judged { call, method, about, ruling });
    }

    /// H-81: whatever became of the wish, the answer is the mode in force.
    fn reply_mode(&mut self, id: &Id) {
        let result = rpc::raw(&DisplayModeResult { mode: self.mode() });
        self.respond(id, Ok(&result));
    }

    fn keep(&mut self, id: Id, call: u64) {
        self.serving.open(id, call).expect("the id was free and there was room");
    }

    /// The method under its one name, if this host offers it (H-72). `ui/*` and everything else that
    /// is not named here is never forwarded (H-70).
    fn offered(&self, method: &str) -> Option<&'static str> {
        let offers = &self.setup.capabilities;
        let (method, offered) = match method {
            method::TOOLS_CALL => (method::TOOLS_CALL, offers.server_tools.is_some()),
            method::TOOLS_LIST => (method::TOOLS_LIST, offers.server_tools.is_some()),
            method::RESOURCES_READ => (method::RESOURCES_READ, offers.server_resources.is_some()),
            method::RESOURCES_LIST => (method::RESOURCES_LIST, offers.server_resources.is_some()),
            method::RESOURCES_TEMPLATES_LIST => {
                (method::RESOURCES_TEMPLATES_LIST, offers.server_resources.is_some())
            }
            method::PROMPTS_LIST => (method::PROMPTS_LIST, self.setup.prompts),
            method::OPEN_LINK => (method::OPEN_LINK, offers.open_links),
            method::DOWNLOAD_FILE => (method::DOWNLOAD_FILE, offers.download_file),
            method::MESSAGE => (method::MESSAGE, offers.message.is_some()),
            method::UPDATE_MODEL_CONTEXT => {
                (method::UPDATE_MODEL_CONTEXT, offers.update_model_context.is_some())
            }
            method::SAMPLING_CREATE_MESSAGE => {
                (method::SAMPLING_CREATE_MESSAGE, offers.sampling.is_some())
            }
            method::REQUEST_DISPLAY_MODE => (method::REQUEST_DISPLAY_MODE, true),
            _ => return None,
        };
        offered.then_some(method)
    }

    fn read(&self, method: &'static str, params: Option<&RawValue>) -> Result<Wanted, Violation> {
        let task = match method {
            method::TOOLS_CALL => return self.read_tool_call(params),
            method::TOOLS_LIST => return Ok(Wanted::Reply(self.tools.for_app().to_owned())),
            method::RESOURCES_READ => {
                let mut params: ReadResourceParams<'_> = read(method, params)?;
                let token = params.meta.as_mut().and_then(|meta| self.remap(meta));
                return Ok(forward(method, &params, token));
            }
            method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST | method::PROMPTS_LIST => {
                let mut params: ListParams<'_> = read(method, params)?;
                let token = params.meta.as_mut().and_then(|meta| self.remap(meta));
                return Ok(forward(method, &params, token));
            }
            method::OPEN_LINK => self.read_link(params)?,
            method::DOWNLOAD_FILE => match self.read_download(params)? {
                files if files.is_empty() => return Ok(Wanted::Reply(empty().to_owned())),
                files => Task::Download { files },
            },
            method::MESSAGE => self.read_message(params)?,
            method::UPDATE_MODEL_CONTEXT => self.read_model_context(params)?,
            method::SAMPLING_CREATE_MESSAGE => self.read_sampling(params)?,
            method::REQUEST_DISPLAY_MODE => return self.read_display_mode(params),
            _ => return Err(Violation::UnknownMethod { method: Quoted::new(method) }),
        };
        Ok(Wanted::Task(task, None))
    }

    fn read_tool_call(&self, params: Option<&RawValue>) -> Result<Wanted, Violation> {
        let mut params: CallToolParams<'_> = read(method::TOOLS_CALL, params)?;
        let token = params.meta.as_mut().and_then(|meta| self.remap(meta));
        Ok(Wanted::Task(Task::CallTool(ToolCall::new(&params)), token))
    }

    /// Puts our token in the place of the view's: its own would collide with another view's (R-09).
    fn remap(&self, meta: &mut Meta<'_>) -> Option<ProgressToken> {
        let theirs = meta.progress_token.take()?;
        let ours =
            i64::try_from(self.work.next_id()).expect("a session makes fewer calls than that");
        meta.progress_token = Some(ProgressToken::Number(ours));
        Some(theirs)
    }

    fn read_link(&self, params: Option<&RawValue>) -> Result<Task, Violation> {
        let params: OpenLinkParams<'_> = read(method::OPEN_LINK, params)?;
        let refuse = || Denial::Address(Quoted::new(&params.url));
        let url = Url::parse(&params.url).map_err(|_| refuse())?;
        // The person is shown the address; a name before the `@` makes it look like another one.
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refuse().into());
        }
        Ok(Task::OpenLink { url: url.into() })
    }

    fn read_download(&self, params: Option<&RawValue>) -> Result<Vec<File>, Violation> {
        let params: DownloadFileParams<'_> = read(method::DOWNLOAD_FILE, params)?;
        Ok(params.contents.into_iter().map(File::from).collect())
    }

    fn read_message(&self, params: Option<&RawValue>) -> Result<Task, Violation> {
        let params: MessageParams = read(method::MESSAGE, params)?;
        let modalities = self.setup.capabilities.message.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        Ok(Task::AddMessage { content: rpc::raw(&params.content) })
    }

    fn read_model_context(&self, params: Option<&RawValue>) -> Result<Task, Violation> {
        let params: UpdateModelContextParams<'_> = read(method::UPDATE_MODEL_CONTEXT, params)?;
        let modalities = self.setup.capabilities.update_model_context.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        if params.structured_content.is_some() && !modalities.structured_content {
            return Err(Denial::Modality("structured").into());
        }
        Ok(Task::UpdateModelContext {
            content: rpc::raw(&params.content),
            structured: params.structured_content.map(|object| object.raw().to_owned()),
        })
    }

    fn read_sampling(&self, params: Option<&RawValue>) -> Result<Task, Violation> {
        let params: CreateMessageParams<'_> = read(method::SAMPLING_CREATE_MESSAGE, params)?;
        let offers_tools = self.setup.capabilities.sampling.is_some_and(|sampling| sampling.tools);
        if params.has_tools() && !offers_tools {
            return Err(Denial::SamplingTools.into());
        }
        Ok(Task::Sample { params: rpc::raw(&params) })
    }

    /// H-82: a mode that cannot be had is answered with the one in force.
    fn read_display_mode(&self, params: Option<&RawValue>) -> Result<Wanted, Violation> {
        let RequestDisplayModeParams { mode } = read(method::REQUEST_DISPLAY_MODE, params)?;
        let offered = self.context.available_display_modes.as_deref().unwrap_or_default();
        if mode == self.mode() || !offered.contains(&mode) || !self.app_declares(mode) {
            return Ok(Wanted::Reply(rpc::raw(&DisplayModeResult { mode: self.mode() })));
        }
        Ok(Wanted::Task(Task::SetDisplayMode(mode), None))
    }

    fn mode(&self) -> DisplayMode {
        self.context.display_mode.unwrap_or(DisplayMode::Inline)
    }

    fn verdict(&self, task: &Task) -> Verdict {
        let names: Vec<String>;
        let url: Url;
        let wish = match task {
            Task::CallTool(ToolCall { name, .. }) => match self.tools.get(name) {
                // H-12, H-15: fail closed.
                None => return Verdict::Deny(Denial::NotThisServer(Quoted::new(name))),
                Some(tool) if !tool.for_app => {
                    return Verdict::Deny(Denial::NotVisible(Quoted::new(name)));
                }
                Some(tool) => Wish::CallTool(tool),
            },
            Task::Read { .. } => Wish::Read,
            Task::OpenLink { url: address } => {
                // Printed from a parsed address; should that ever not parse again, it is not opened.
                let Ok(parsed) = Url::parse(address) else {
                    return Verdict::Deny(Denial::Address(Quoted::new(address)));
                };
                url = parsed;
                Wish::OpenLink(&url)
            }
            Task::Download { files } => {
                names = files.iter().map(File::shown).collect();
                Wish::Download(&names)
            }
            Task::AddMessage { .. } => Wish::Message,
            Task::UpdateModelContext { .. } => Wish::UpdateModelContext,
            Task::Sample { .. } => Wish::Sample,
            Task::SetDisplayMode(_) => Wish::DisplayMode,
        };
        self.policy.judge(&self.decided, wish, self.tools.iter())
    }

    /// Takes in what came of a task.
    pub(super) fn answer(&mut self, call: u64, outcome: Result<&RawValue, ErrorObject<'_>>) {
        if !self.work.get(call).is_some_and(Work::is_running) {
            return;
        }
        let work = self.work.settle(call).expect("it is there");
        self.serving.settle(&work.id);
        let outcome = match (work.reply, outcome) {
            (Reply::Mode, _) => return self.reply_mode(&work.id),
            (_, Err(error)) => Err(error),
            (Reply::Empty, Ok(_)) => Ok(empty()),
            // W-6: whatever a server says, the view gets an object or an error.
            (Reply::Raw, Ok(result)) if !result.get().starts_with('{') => {
                Err(ErrorObject::new(INTERNAL_ERROR, "the result is not an object"))
            }
            (Reply::Raw, Ok(result)) => Ok(result),
        };
        self.respond(&work.id, outcome);
    }

    /// Passes a sign of life on, under the token that the view gave (H-74).
    pub(super) fn relay_progress(&mut self, now: Duration, call: u64, params: &RawValue) {
        // H-53: to a view that is not ready, progress is only a sign of life.
        let open = matches!(self.state.phase, Phase::Ready | Phase::Closing { .. });
        let Some(work) = self.work.progress(now, call) else { return };
        let Some(token) = work.token.clone().filter(|_| open) else { return };
        let Ok(progress) = serde_json::from_str::<ProgressParams>(params.get()) else { return };
        let progress = ProgressParams { progress_token: token, ..progress };
        self.notify(method::PROGRESS, Some(&rpc::raw(&progress)));
    }

    /// Nobody answered in time.
    pub(super) fn give_up(&mut self, call: u64, work: Work) {
        if let Stage::Asking(task) = &work.stage {
            self.leave(Waiter::View(call));
            return self.refuse(call, &work, task, Denial::NoDecision);
        }
        let reason = "no answer in time".to_owned();
        self.fail(&work, &reason);
        self.outputs.push_back(Output::Abort { call, reason });
    }

    /// A person said yes to `subject`. The tools and the rules may have changed since they were asked,
    /// and it is by the present ones that a call is judged (H-15).
    pub(super) fn go_on(&mut self, now: Duration, call: u64, subject: &Subject) {
        let Some(Work { stage: Stage::Asking(task), .. }) = self.work.get(call) else { return };
        match (self.verdict(task), subject) {
            (Verdict::Deny(denial), _) => return self.turn_down(call, Some(denial)),
            // A yes to the whole list is none to a tool that would now be asked on its own.
            (Verdict::Ask(Subject::Tool(name)), Subject::Tools(_)) => {
                return self.turn_down(call, Some(Denial::Changed(Quoted::new(&name))));
            }
            _ => {}
        }
        self.work.renew(now, call, self.setup.terms.call);
        let work = self.work.get_mut(call).expect("it was there a moment ago");
        if let Stage::Asking(task) = std::mem::replace(&mut work.stage, Stage::Running) {
            let method = work.method;
            self.judged(Some(call), method, Quoted::new(task.about()), Ruling::Allowed);
            self.outputs.push_back(Output::Perform { call, task: *task });
        }
    }

    /// A person said no, or the rules do.
    pub(super) fn turn_down(&mut self, call: u64, denial: Option<Denial>) {
        let Some(work) = self.work.settle(call) else { return };
        if let Stage::Asking(task) = &work.stage {
            let denial = denial.unwrap_or_else(|| Denial::Refused(Quoted::new(task.about())));
            self.refuse(call, &work, task, denial);
        }
    }

    /// Answers a request that a person was asked about and that will not be carried out.
    fn refuse(&mut self, call: u64, work: &Work, task: &Task, denial: Denial) {
        let violation = Violation::Denied(denial);
        let words = violation.to_string();
        let about = Quoted::new(task.about());
        self.judged(Some(call), work.method, about, Ruling::Refused(violation));
        self.fail(work, &words);
    }

    fn fail(&mut self, work: &Work, words: &str) {
        self.serving.settle(&work.id);
        match work.reply {
            Reply::Mode => self.reply_mode(&work.id),
            _ => self.respond(&work.id, Err(ErrorObject::new(DENIED, words))),
        }
    }

    /// Tells every view request that waits for a person that it is not forgotten.
    pub(super) fn heartbeat(&mut self, now: Duration) {
        let mut signs = vec![];
        for (_, work) in self.work.iter_mut() {
            if let (Stage::Asking(_), Some(token)) = (&work.stage, &work.token) {
                work.beats += 1;
                signs.push(ProgressParams {
                    progress_token: token.clone(),
                    // Progress only grows, and the server's own begins where it likes: take no room.
                    progress: f64::from(work.beats) / 1e6,
                    total: None,
                    message: Some("waiting for a decision".to_owned()),
                });
            }
        }
        self.beat = (!signs.is_empty()).then(|| self.next_beat(now));
        if self.is_ready() {
            for sign in signs {
                self.notify(method::PROGRESS, Some(&rpc::raw(&sign)));
            }
        }
    }

    fn beat_from(&mut self, now: Duration, alive: bool) {
        if alive && self.beat.is_none() {
            self.beat = Some(self.next_beat(now));
        }
    }

    /// Never now: a deadline that a tick does not move would send the driver in circles.
    fn next_beat(&self, now: Duration) -> Duration {
        now.saturating_add(self.setup.terms.heartbeat.max(SHORTEST_BEAT))
    }

    fn notified(&mut self, now: Duration, notification: Notification<'_>) -> Result<(), Violation> {
        let Notification { method, params } = notification;
        match method::canonical(&method) {
            method::INITIALIZED => self.step(now, super::Event::Initialized),
            method::SIZE_CHANGED => {
                let size: SizeChangedParams = read(method::SIZE_CHANGED, params)?;
                self.resized(now, size);
                Ok(())
            }
            method::REQUEST_TEARDOWN => {
                self.outputs.push_back(Output::CloseWanted);
                Ok(())
            }
            method::LOG => self.log(params),
            method::CANCELLED => self.cancelled(params),
            method::TOOLS_LIST_CHANGED => {
                self.app_tools_changed(now);
                Ok(())
            }
            // P-07: these are between the sandbox and its host. From a view they are a spoof.
            method if method::is_sandbox(method) => Err(self.unexpected(method)),
            // W-9.
            _ => Ok(()),
        }
    }

    fn log(&mut self, params: Option<&RawValue>) -> Result<(), Violation> {
        let params: LogParams<'_> = read(method::LOG, params)?;
        if self.setup.capabilities.logging {
            self.outputs.push_back(Output::Log {
                level: params.level,
                logger: params.logger.map(|logger| Quoted::new(&logger).as_str().into()),
                data: params.data.to_owned(),
            });
        }
        Ok(())
    }

    /// H-75: the work stops, upstream too, and no answer is sent.
    fn cancelled(&mut self, params: Option<&RawValue>) -> Result<(), Violation> {
        let params: CancelledParams = read(method::CANCELLED, params)?;
        let id = params.request_id;
        // Too late is normal: the answer and the cancellation crossed on the way.
        let Some(call) = self.serving.settle(&id) else { return Ok(()) };
        let work = self.work.settle(call).expect("every request served has its work");
        match work.stage {
            Stage::Running => {
                let reason = params.reason.as_deref().unwrap_or("cancelled by the view");
                let reason = Quoted::new(reason).as_str().to_owned();
                self.outputs.push_back(Output::Abort { call, reason });
            }
            Stage::Asking(_) => self.leave(Waiter::View(call)),
        }
        Ok(())
    }

    pub(super) fn unexpected(&self, got: &str) -> Violation {
        Violation::Unexpected { state: self.state.name(), got: Quoted::new(got) }
    }
}

impl Work {
    pub(super) fn is_running(&self) -> bool {
        matches!(self.stage, Stage::Running)
    }
}

impl Task {
    fn reply(&self) -> Reply {
        match self {
            Self::CallTool(_) | Self::Read { .. } | Self::Sample { .. } => Reply::Raw,
            Self::SetDisplayMode(_) => Reply::Mode,
            Self::OpenLink { .. }
            | Self::Download { .. }
            | Self::AddMessage { .. }
            | Self::UpdateModelContext { .. } => Reply::Empty,
        }
    }

    /// The one word that a log line wants.
    fn about(&self) -> &str {
        match self {
            Self::CallTool(call) => &call.name,
            Self::Read { method, .. } => method,
            Self::OpenLink { url } => url,
            Self::Download { files } => files.first().map_or("", |file| &file.name),
            Self::AddMessage { .. } => "a message",
            Self::UpdateModelContext { .. } => "context for the model",
            Self::Sample { .. } => "sampling",
            Self::SetDisplayMode(mode) => mode.as_str(),
        }
    }

    /// What would be done, for the person who decides.
    fn preview(&self) -> Cow<'_, str> {
        match self {
            Self::CallTool(call) => call.arguments.as_deref().map_or("{}", RawValue::get).into(),
            Self::Sample { params } => params.get().into(),
            Self::AddMessage { content } => content.get().into(),
            Self::UpdateModelContext { content, structured } => match structured {
                Some(structured) => format!("{} {}", content.get(), structured.get()).into(),
                None => content.get().into(),
            },
            Self::OpenLink { url } => url.into(),
            Self::Read { .. } | Self::Download { .. } | Self::SetDisplayMode(_) => "".into(),
        }
    }
}

impl ToolCall {
    fn new(params: &CallToolParams<'_>) -> Self {
        Self {
            name: params.name.clone().into_owned(),
            arguments: params.arguments.map(|arguments| arguments.raw().to_owned()),
            meta: params.meta.as_ref().map(rpc::raw),
            rest: params
                .rest()
                .iter()
                .map(|(name, raw)| (name.to_owned(), raw.to_owned()))
                .collect(),
        }
    }

    /// The params of the `tools/call` to send, as JSON text.
    pub fn params(&self) -> String {
        let known = [("arguments", &self.arguments), ("_meta", &self.meta)];
        let known = known.into_iter().filter_map(|(name, raw)| Some((name, raw.as_ref()?)));
        let rest = self.rest.iter().map(|(name, raw)| (name.as_str(), raw));
        let members: Vec<_> = known.chain(rest).collect();
        let length: usize =
            members.iter().map(|(name, raw)| name.len() + raw.get().len() + 8).sum();
        // Sized once: growing a megabyte costs more than copying it.
        let mut text = String::with_capacity(length + self.name.len() + 32);
        text.push_str(r#"{"name":"#);
        rpc::push_string(&mut text, &self.name);
        for (name, raw) in members {
            text.push(',');
            rpc::push_string(&mut text, name);
            text.push(':');
            text.push_str(raw.get());
        }
        text.push('}');
        text
    }
}

impl File {
    /// As the person who decides sees it: what would be fetched for the view is named in full, so that
    /// a yes covers that address and no other (H-97).
    fn shown(&self) -> String {
        match &self.body {
            FileBody::Link(address) => format!("{} from {address}", self.name),
            FileBody::Text(_) | FileBody::Blob(_) => self.name.clone(),
        }
    }
}

impl From<Downloadable<'_>> for File {
    fn from(file: Downloadable<'_>) -> Self {
        match file {
            Downloadable::Embedded(resource) => Self {
                name: file_name(&resource.uri),
                mime_type: resource.mime_type,
                body: match resource.body {
                    Body::Text(text) => FileBody::Text(text.into_owned()),
                    Body::Blob(blob) => FileBody::Blob(blob.as_str().to_owned()),
                },
            },
            Downloadable::Link(link) => Self {
                name: file_name(&link.uri),
                mime_type: link.mime_type,
                body: FileBody::Link(link.uri.into_owned()),
            },
        }
    }
}

/// A request that goes to the server as it is, but for the token.
fn forward(
    method: &'static str,
    params: &impl serde::Serialize,
    token: Option<ProgressToken>,
) -> Wanted {
    Wanted::Task(Task::Read { method, params: Some(rpc::raw(params)) }, token)
}

/// `{}`.
fn empty() -> &'static RawValue {
    RawObject::default().raw()
}

fn allow_modalities(
    offered: Modalities,
    used: impl IntoIterator<Item = Modality>,
) -> Result<(), Violation> {
    match used.into_iter().find(|&modality| !offered.allows(modality)) {
        Some(modality) => Err(Denial::Modality(modality.as_str()).into()),
        None => Ok(()),
    }
}

/// The longest greeting, in bytes: what it says is kept for as long as the view lives.
const GREETING: usize = 256 << 10;
/// Signs of life more frequent than this are noise, whatever the terms say.
const SHORTEST_BEAT: Duration = Duration::from_secs(1);
