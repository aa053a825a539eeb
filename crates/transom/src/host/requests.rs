//! What a view may ask for: reading it and judging it.

use std::{borrow::Cow, time::Duration};

use serde_json::value::RawValue;
use url::Url;

use super::{
    File, FileBody, Limits, MethodLimits, Output, Phase, Reason, Room, Ruling, Session, Share,
    Task, ToolCall, Which,
    members::{Dropped, Sifted},
    questions::Waiter,
    rate::Bucket,
    work::{Reply, Stage, Work, empty},
};
use crate::{
    policy::{Verdict, Wish},
    printed::Printed,
    rpc::{self, ErrorObject, Id, Message, Notification, Request},
    violation::{Denial, Holder, Limit, Over, Quoted, Violation},
    wire::{
        CancelledParams, CreateMessageParams, DisplayMode, DisplayModeResult, DownloadFileParams,
        InitializeParams, LogParams, MessageParams, Modalities, Modality, ProgressToken,
        RequestDisplayModeParams, SizeChangedParams, UpdateModelContextParams, method,
    },
};

/// A request, read.
enum Wanted {
    /// Answered here and now.
    Reply(Box<RawValue>),
    /// To be judged.
    Task(Task, Option<ProgressToken>),
}

/// A request as its verdict will speak of it.
pub(super) struct Seen {
    pub(super) id: Id,
    call: Option<u64>,
    method: Option<&'static str>,
    about: Quoted,
    size: usize,
}

/// How much of a message there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// Its id and its method.
    Outline,
}

impl Session {
    /// Takes one message of the view.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        text: &str,
        share: &mut Share,
        extent: Extent,
    ) -> Result<(), Violation> {
        if self.is_closed() {
            return Err(self.unexpected("a message"));
        }
        let limit = self.setup.limits.message;
        let unwrapped = self.setup.accept_strings.then(|| rpc::unwrap_string(text, limit));
        let text = unwrapped.as_ref().and_then(Option::as_deref).unwrap_or(text);
        self.room = Some(share.room());
        let over = self.meter(now, text.len(), share).err();
        let mut judged = false;
        let outcome = match Message::parse_strictly(text, limit) {
            Ok((message, twin)) => {
                judged = matches!(message, Message::Request(_));
                match (extent, twin) {
                    (Extent::Outline, _) => self.too_large(now, message, over),
                    (Extent::Whole, None) => self.dispatch(now, message, over),
                    (Extent::Whole, Some(why)) => {
                        let ambiguous = Violation::Ambiguous { place: "the message", why };
                        self.turn_away(now, message, over.map_or(ambiguous, Violation::from))
                    }
                }
            }
            Err(rpc::Malformed::TooLarge { .. }) if let Some(message) = glance(text, limit) => {
                judged = matches!(message, Message::Request(_));
                self.too_large(now, message, over)
            }
            Err(malformed) => Err(self.malformed(now, malformed, over)),
        };
        if let Err(violation) = &outcome {
            self.strike(now, violation, text.len());
        }
        self.room = None;
        if judged { Ok(()) } else { outcome }
    }

    /// Counts a message. All meters of the view run whatever the outcome: a flood of rubbish is a flood.
    /// What the view's own limits stop does not cost its neighbours anything.
    fn meter(&mut self, now: Duration, size: usize, share: &mut Share) -> Result<(), Over> {
        let Limits { messages, bytes, .. } = self.setup.limits;
        let few = self.meters.messages.take(messages, now, 1.0);
        let small = self.meters.bytes.take(bytes, now, size as f64);
        match (few, small) {
            (false, _) => Err(self.over(Limit::Messages, messages.most())),
            (true, false) => Err(self.over(Limit::Bytes, bytes.most())),
            (true, true) => share.take(now, size),
        }
    }

    /// Refuses a message that is too large to be read, but not to be answered.
    fn too_large(
        &mut self,
        now: Duration,
        message: Message<'_>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        let size = self.setup.limits.message.bytes as u64;
        let over = over.unwrap_or_else(|| self.over(Limit::Size, size));
        self.turn_away(now, message, over.into())
    }

    /// Refuses a message of which no more is known than who it is from and what it is called.
    fn turn_away(
        &mut self,
        now: Duration,
        message: Message<'_>,
        violation: Violation,
    ) -> Result<(), Violation> {
        match message {
            Message::Request(request) => self.requested(now, request, Some(violation)),
            Message::Notification(_) => Err(violation),
            // Whoever waits for it must not wait longer.
            Message::Response(response) => {
                self.settle_unusable(now, &response.id);
                Err(violation)
            }
        }
    }

    fn dispatch(
        &mut self,
        now: Duration,
        message: Message<'_>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        match message {
            // Never limited: there are no more of them than we asked for.
            Message::Response(response) => self.answered(now, response),
            Message::Request(request) => self.requested(now, request, over.map(Violation::from)),
            Message::Notification(_) if let Some(over) = over => Err(over.into()),
            Message::Notification(notification) => self.notified(now, notification),
        }
    }

    fn malformed(
        &mut self,
        now: Duration,
        malformed: rpc::Malformed,
        over: Option<Over>,
    ) -> Violation {
        // An answer nobody can use is still an answer: whoever waits for it must not wait longer.
        if let rpc::Malformed::BadAnswer { id, .. } = &malformed {
            self.settle_unusable(now, id);
        }
        match over {
            Some(over) => over.into(),
            None => malformed.into(),
        }
    }

    /// Counts a refusal; too many of them, and the view is taken away.
    fn strike(&mut self, now: Duration, violation: &Violation, size: usize) {
        let limits = &self.setup.limits;
        let weight = match violation {
            // Other traffic on the same window is none of our business.
            Violation::Malformed(rpc::Malformed::Foreign) => return,
            // Refused bytes cost as much as small refused messages: who sends as much again as the
            // bytes' burst, beyond it, has no strike left, in however few messages.
            Violation::OverLimit(Over { limit: Limit::Bytes, of: Holder::View, .. }) => {
                (size as f64 * limits.strikes.burst / limits.bytes.burst).max(1.0)
            }
            // Its neighbours had a part in that. Who says little is not struck for what they say.
            Violation::OverLimit(Over { of: Holder::Server, .. }) => 0.1,
            _ => 1.0,
        };
        if !self.meters.strikes.take(limits.strikes, now, weight) {
            self.close(now, Reason::Flood);
        }
    }

    fn requested(
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
                    let reason = Quoted::new("longer than anybody's name and abilities");
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
                let work = Work { id, method, size, token, beats: 0, reply, stage };
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
        let (id, method) = (work.id.clone(), work.method);
        seen.about = Quoted::new(task.about());
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
            Verdict::Ask(subject) => {
                self.has_room(work.size)?;
                let call = self.work.next_id();
                let waiter = Waiter::View(call);
                let about = seen.about.clone();
                let (number, mut question) =
                    self.inquire(now, subject, method, about, &task.preview(), waiter)?;
                if let (Some(Output::Ask(question)), Task::Download { files }) =
                    (&mut question, &task)
                {
                    question.files.clone_from(files);
                    let wish = self.wish(&task);
                    self.questions.showed(number, &wish);
                }
                let patience = self.decision_patience(work.token.is_some());
                self.beat_from(now, work.token.is_some());
                self.work.open(
                    now,
                    patience,
                    Work { stage: Stage::Asking(Box::new(task)), ..work },
                );
                self.keep(id.clone(), call);
                let which = Which::View { id, call: Some(call) };
                let about = seen.about.clone();
                self.outputs.push_back(Output::Waits { which, method, about, question: number });
                self.outputs.extend(question);
                Ok(())
            }
            Verdict::Deny(denial) if work.reply == Reply::Mode => {
                self.rule(seen, Ruling::Refused(denial.into()));
                self.reply_mode(&id);
                Ok(())
            }
            Verdict::Deny(denial) => Err(denial.into()),
        }
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

    fn read(&self, method: &'static str, sifted: &mut Sifted<'_>) -> Result<Wanted, Violation> {
        let task = match method {
            method::TOOLS_CALL => return self.read_tool_call(sifted),
            method::TOOLS_LIST => return Ok(Wanted::Reply(self.tools.for_app().to_owned())),
            method::RESOURCES_READ => {
                let uri = sifted.need("uri")?;
                return self.forward(method, Some(("uri", uri)), sifted);
            }
            method::RESOURCES_LIST | method::RESOURCES_TEMPLATES_LIST | method::PROMPTS_LIST => {
                let cursor = sifted.text("cursor")?.map(|cursor| ("cursor", cursor));
                return self.forward(method, cursor, sifted);
            }
            method::OPEN_LINK => self.read_link(sifted)?,
            method::DOWNLOAD_FILE => match self.read_download(sifted)? {
                files if files.is_empty() => return Ok(Wanted::Reply(empty().to_owned())),
                files => Task::Download { files },
            },
            method::MESSAGE => self.read_message(sifted)?,
            method::UPDATE_MODEL_CONTEXT => self.read_model_context(sifted)?,
            method::SAMPLING_CREATE_MESSAGE => self.read_sampling(sifted)?,
            method::REQUEST_DISPLAY_MODE => return self.read_display_mode(sifted),
            _ => return Err(Violation::UnknownMethod { method: Quoted::new(method) }),
        };
        Ok(Wanted::Task(task, None))
    }

    fn read_tool_call(&self, sifted: &mut Sifted<'_>) -> Result<Wanted, Violation> {
        let name = sifted.need("name")?.into_owned();
        let arguments = sifted.object("arguments")?;
        let (meta, token) = sifted.meta(|| self.our_token())?;
        Ok(Wanted::Task(Task::CallTool(ToolCall { name, arguments, meta }), token))
    }

    /// Any other request that goes to the server: written by us, from one text and `_meta`.
    fn forward(
        &self,
        method: &'static str,
        about: Option<(&'static str, Cow<'_, str>)>,
        sifted: &mut Sifted<'_>,
    ) -> Result<Wanted, Violation> {
        let (meta, token) = sifted.meta(|| self.our_token())?;
        let text = about.as_ref().map(|(name, text)| (*name, Printed::string(text)));
        let members = text.iter().map(|(name, text)| (*name, text));
        let params = Printed::object(members.chain(meta.iter().map(|meta| ("_meta", meta))));
        let uri = about.filter(|(name, _)| *name == "uri").map(|(_, uri)| (*uri).into());
        Ok(Wanted::Task(Task::Read { method, uri, params }, token))
    }

    /// What the server marks its progress with.
    fn our_token(&self) -> i64 {
        i64::try_from(self.work.next_id()).expect("a session makes fewer calls than that")
    }

    fn read_link(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let address = sifted.need("url")?;
        let refuse = || Denial::Address(Quoted::new(&address));
        let url = Url::parse(&address).map_err(|_| refuse())?;
        // The person is shown the address, and all of it: a name before the `@` makes it look like another one, and
        // nobody reads a page of it.
        if !url.username().is_empty() || url.password().is_some() || url.as_str().len() > ADDRESS {
            return Err(refuse().into());
        }
        Ok(Task::OpenLink { url: url.into() })
    }

    fn read_download(&self, sifted: &Sifted<'_>) -> Result<Vec<File>, Violation> {
        let params: DownloadFileParams<'_> = sifted.read()?;
        if params.contents.len() > FILES {
            return Err(self.over(Limit::Files, FILES as u64).into());
        }
        let files: Vec<File> = params.contents.into_iter().map(File::from).collect();
        let is_long =
            |file: &&File| matches!(&file.body, FileBody::Link(address) if address.len() > ADDRESS);
        if let Some(File { body: FileBody::Link(address), .. }) = files.iter().find(is_long) {
            return Err(Denial::Address(Quoted::new(address)).into());
        }
        Ok(files)
    }

    fn read_message(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: MessageParams = sifted.read()?;
        let modalities = self.setup.capabilities.message.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        Ok(Task::AddMessage { content: sifted.print_folded(&rpc::raw(&params.content))? })
    }

    fn read_model_context(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: UpdateModelContextParams<'_> = sifted.read()?;
        let modalities = self.setup.capabilities.update_model_context.unwrap_or_default();
        allow_modalities(modalities, params.content.iter().map(|block| block.modality()))?;
        if params.structured_content.is_some() && !modalities.structured_content {
            return Err(Denial::Modality("structured").into());
        }
        Ok(Task::UpdateModelContext {
            content: sifted.print_folded(&rpc::raw(&params.content))?,
            structured: sifted.object("structuredContent")?,
        })
    }

    fn read_sampling(&self, sifted: &Sifted<'_>) -> Result<Task, Violation> {
        let params: CreateMessageParams<'_> = sifted.read()?;
        let offers_tools = self.setup.capabilities.sampling.is_some_and(|sampling| sampling.tools);
        if params.has_tools() && !offers_tools {
            return Err(Denial::SamplingTools.into());
        }
        Ok(Task::Sample { params: sifted.print_all()? })
    }

    /// H-82: a mode that cannot be had is answered with the one in force.
    fn read_display_mode(&self, sifted: &Sifted<'_>) -> Result<Wanted, Violation> {
        let RequestDisplayModeParams { mode } = sifted.read()?;
        let offered = self.context.available_display_modes.as_deref().unwrap_or_default();
        if mode == self.mode() || !offered.contains(&mode) || !self.app_declares(mode) {
            return Ok(Wanted::Reply(rpc::raw(&DisplayModeResult { mode: self.mode() })));
        }
        Ok(Wanted::Task(Task::SetDisplayMode(mode), None))
    }

    fn mode(&self) -> DisplayMode {
        self.context.display_mode.unwrap_or(DisplayMode::Inline)
    }

    pub(super) fn verdict(&self, task: &Task) -> Verdict {
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

    fn notified(&mut self, now: Duration, notification: Notification<'_>) -> Result<(), Violation> {
        let Notification { method, params } = notification;
        match method::canonical(&method) {
            method::INITIALIZED => self.step(now, super::Event::Initialized),
            method::SIZE_CHANGED => {
                let size: SizeChangedParams = Sifted::new(method::SIZE_CHANGED, params)?.read()?;
                self.resized(now, size);
                Ok(())
            }
            method::REQUEST_TEARDOWN => {
                self.outputs.push_back(Output::CloseWanted);
                Ok(())
            }
            method::LOG => self.log(params),
            method::CANCELLED => self.cancelled(now, params),
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
        let params: LogParams<'_> = Sifted::new(method::LOG, params)?.read()?;
        if self.setup.capabilities.logging {
            self.outputs.push_back(Output::Log {
                level: params.level,
                logger: params.logger.map(|logger| Quoted::new(&logger)),
                data: Quoted::long(params.data.get(), LINE),
            });
        }
        Ok(())
    }

    /// H-75: the work stops, upstream too, and no answer is sent.
    fn cancelled(&mut self, now: Duration, params: Option<&RawValue>) -> Result<(), Violation> {
        let params: CancelledParams = Sifted::new(method::CANCELLED, params)?.read()?;
        let id = params.request_id;
        // Too late is normal: the answer and the cancellation crossed on the way.
        let Some(call) = self.serving.settle(&id) else { return Ok(()) };
        let work = self.work.settle(call).expect("every request served has its work");
        match &work.stage {
            Stage::Running => {
                let reason = params.reason.as_deref().unwrap_or("cancelled by the view");
                self.outputs.push_back(Output::Abort { call, reason: Quoted::new(reason) });
            }
            Stage::Asking(_) => {
                self.taken_back(call, &work);
                self.withdraw(now, Waiter::View(call));
            }
        }
        Ok(())
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

/// Who a message is from and what it is called, should it be too large to be taken: a request can be
/// refused by its id. Nothing of it is kept, and a giant is not looked at.
fn glance(text: &str, limits: rpc::Limits) -> Option<Message<'_>> {
    let limits = rpc::Limits { bytes: GIANT, ..limits };
    Message::parse(text, limits).ok()
}

/// A method under its one name. `ui/*` and everything else that is not named here is never forwarded
/// (H-70).
fn known(method: &str) -> Option<&'static str> {
    let method = method::canonical(method);
    REQUESTS.into_iter().find(|known| *known == method)
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

/// The longest address that a person is asked about, in bytes.
const ADDRESS: usize = 8 << 10;
/// The most files in one download: people are shown each of them.
const FILES: usize = 100;
/// How much of what a view logs is kept, in characters.
const LINE: usize = 300;
/// The longest greeting, in bytes: what it says is kept for as long as the view lives.
const GREETING: usize = 256 << 10;
/// The longest message that is looked at, in bytes, though it will not be taken.
const GIANT: usize = 32 << 20;
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
