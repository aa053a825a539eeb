//! One connection to a server, from its first word to its last.
//!
//! ```text
//!   call ──▶ desk ──▶ link ──▶ server
//!    ▲        ▲ │ clock          │
//!    └────────┘ ▼                ▼
//!    outcome, progress ◀── receive: one reader, in the order of the wire ──▶ events
//! ```

use std::{
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use serde::{
    Deserialize, Deserializer,
    de::{SeqAccess, Visitor},
};
use serde_json::value::RawValue;
use tokio::{
    sync::{Notify, broadcast, watch},
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use transom::{
    calls::{NotServed, Patience},
    host::List,
    rpc::{DENIED, ErrorObject, Id, Malformed, Message, Notification, Response},
    wire::method,
};

use super::{
    Call, CallError, CallOptions, Era, Event, Limits, Listing, Loss, NotCalled, Options, Outcome,
    Refusal, Request, Rubbish,
    call::{Waiter, Waiting},
    changes::Changes,
    desk::{DISCOVER, Desk, Dropped, Kind, PING},
    http::{Http, Parcel},
    pipe::Outbox,
    request::{self, Stamp, Stamps},
    salvage,
};

/// One connection.
pub(super) struct Life {
    options: Arc<Options>,
    link: Link,
    desk: Mutex<Desk>,
    events: broadcast::Sender<Event>,
    epoch: Instant,
    /// How many messages came; a server that says something is alive.
    heard: AtomicU64,
    /// Wakes the clock: there is a new deadline.
    opened: Notify,
    changes: Changes,
    terms: OnceLock<Terms>,
    stamps: Stamps,
    listing: Mutex<Arc<Listing>>,
    over: watch::Sender<Option<Arc<Loss>>>,
    tasks: Mutex<JoinSet<()>>,
}

/// How messages get to the server.
#[derive(Debug)]
pub(super) enum Link {
    /// As lines.
    Pipe(Outbox),
    /// As HTTP requests.
    Http(Arc<Http>),
}

/// What was agreed in the greeting.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Terms {
    pub(super) era: Era,
    pub(super) version: String,
}

impl Life {
    /// A connection over a link. Nothing is sent yet.
    pub(super) fn new(
        options: Arc<Options>,
        link: Link,
        stamps: Stamps,
        events: broadcast::Sender<Event>,
    ) -> Arc<Self> {
        let life = Arc::new(Self {
            desk: Mutex::new(Desk::new(options.limits.calls)),
            options,
            link,
            events,
            epoch: Instant::now(),
            heard: AtomicU64::new(0),
            opened: Notify::new(),
            changes: Changes::default(),
            terms: OnceLock::new(),
            stamps,
            listing: Mutex::default(),
            over: watch::Sender::new(None),
            tasks: Mutex::new(JoinSet::new()),
        });
        life.spawn(clock(Arc::clone(&life)));
        life
    }

    /// Makes a call.
    pub(super) fn call(
        self: &Arc<Self>,
        request: &Request,
        options: CallOptions,
    ) -> Result<Call, NotCalled> {
        self.call_in(self.era(), request, options)
    }

    /// Makes a call in an era, before it is known whether the server speaks it.
    pub(super) fn call_in(
        self: &Arc<Self>,
        era: Era,
        request: &Request,
        options: CallOptions,
    ) -> Result<Call, NotCalled> {
        let waiting = self.send_call_in(era, request, options)?;
        let call = Call::new(Arc::clone(self), waiting);
        // Only there may a server want more first, and only then is the request needed again.
        Ok(match era {
            Era::Greeting => call,
            Era::Stateless => call.with_rounds(request.clone(), options),
        })
    }

    /// Sends a call and returns what waits for its answer.
    pub(super) fn send_call(
        self: &Arc<Self>,
        request: &Request,
        options: CallOptions,
    ) -> Result<Waiting, NotCalled> {
        self.send_call_in(self.era(), request, options)
    }

    fn send_call_in(
        self: &Arc<Self>,
        era: Era,
        request: &Request,
        options: CallOptions,
    ) -> Result<Waiting, NotCalled> {
        let (waiter, waiting) = Waiter::new(options.progress);
        let what = (Kind::of(request.method()), era);
        let id = self.open(waiter, what, options.patience.unwrap_or(self.options.patience))?;
        self.dispatch(id, what, request, options.progress).inspect_err(|_| {
            self.desk().cancel(id);
        })?;
        Ok(waiting(id))
    }

    fn open(
        &self,
        waiter: Waiter,
        what: (Kind, Era),
        patience: Patience,
    ) -> Result<u64, NotCalled> {
        let id = self.desk().open(self.now(), patience, what, waiter)?;
        self.opened.notify_one();
        Ok(id)
    }

    fn dispatch(
        self: &Arc<Self>,
        id: u64,
        (kind, era): (Kind, Era),
        request: &Request,
        progress: bool,
    ) -> Result<(), NotCalled> {
        let nothing = Stamp::default();
        let stamp = match era {
            Era::Stateless if request.says_views() => &self.stamps.usual,
            Era::Stateless => &self.stamps.text,
            Era::Greeting => &nothing,
        };
        let text = request.print(id, progress, stamp);
        tracing::debug!(id, method = request.method(), bytes = text.len(), "call");
        match &self.link {
            Link::Pipe(outbox) => outbox.push(text).map_err(|_| NotCalled::Busy),
            Link::Http(http) => {
                let parcel = Parcel::of_request(id, (kind, era), text, request, &self.listing());
                let exchange = self.spawn(Arc::clone(http).exchange(Arc::clone(self), parcel));
                self.desk().carried_by(id, exchange);
                Ok(())
            }
        }
    }

    /// Sends a notification or an answer, some time soon, in order.
    fn send(&self, text: String) {
        let sent = match &self.link {
            Link::Pipe(outbox) => outbox.push(text),
            Link::Http(http) => http.post_later(text),
        };
        // The server asks faster than it listens; it will have to do without.
        if sent.is_err() {
            tracing::warn!("the server does not read what it is sent");
        }
    }

    /// Sends a notification, and waits until the server has it where that can be told.
    pub(super) async fn tell(&self, text: String) -> Result<(), CallError> {
        match &self.link {
            Link::Pipe(outbox) => outbox.push(text).map_err(|_| NotCalled::Busy.into()),
            Link::Http(http) => http.tell(self, text).await,
        }
    }

    /// Takes a call back and tells the server why.
    pub(super) fn cancel(&self, id: u64, reason: &str) {
        let dropped = self.desk().cancel(id);
        if let Some(dropped) = dropped {
            self.retract(&dropped, reason);
        }
    }

    fn retract(&self, dropped: &Dropped, reason: &str) {
        // The stateless era over HTTP: the broken stream says it. And a greeting is never taken back.
        let said = dropped.era == Era::Stateless && matches!(self.link, Link::Http(_));
        if !said && dropped.kind == Kind::Plain {
            self.send(request::cancelled(dropped.id, reason));
        }
    }

    /// Takes one message, or several in an array, as servers of 2025-03-26 may send them. `answers` is
    /// the call that it can only be the answer of, if it came alone.
    pub(super) fn receive(self: &Arc<Self>, text: &str, answers: Option<u64>) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        if text.starts_with('[') {
            let mut batch = serde_json::Deserializer::from_str(text);
            if let Err(error) = batch.deserialize_seq(Batch(self)) {
                tracing::debug!(line = error.line(), column = error.column(), "a broken batch");
            }
        } else {
            self.receive_one(text, answers);
        }
    }

    fn receive_one(self: &Arc<Self>, text: &str, answers: Option<u64>) {
        match Message::parse(text, self.limits().rpc()) {
            Ok(Message::Response(response)) => self.answered(response),
            Ok(Message::Notification(notification)) => self.notified(&notification),
            Ok(Message::Request(request)) => {
                self.asked(request.id, &request.method, request.params);
            }
            Err(error) => {
                let id = match &error {
                    Malformed::BadAnswer { id, .. } => number(id),
                    _ => salvage::answered(text.as_bytes()),
                };
                self.rubbish(id.or(answers), error.into());
            }
        }
    }

    fn answered(&self, response: Response<'_>) {
        let Some(id) = number(&response.id) else { return self.stray(&response.id) };
        let outcome = match response.outcome {
            Ok(result) if self.wants_input(id, result) => {
                Err(CallError::InputRequired(result.to_owned()))
            }
            Ok(result) => Ok(result.to_owned()),
            Err(error) => Err(CallError::Refused(error.into())),
        };
        if !self.settle(id, outcome) {
            self.stray(&response.id);
        }
    }

    /// Whether a result is none yet. Looked at only where the words occur: reading a large result once
    /// more would cost as much as reading it did.
    fn wants_input(&self, id: u64, result: &RawValue) -> bool {
        self.desk().era_of(id) == Some(Era::Stateless)
            && memchr::memmem::find(result.get().as_bytes(), INPUT_REQUIRED.as_bytes()).is_some()
            && serde_json::from_str::<Unfinished>(result.get())
                .is_ok_and(|result| result.result_type.as_deref() == Some(INPUT_REQUIRED))
    }

    fn stray(&self, id: &Id) {
        tracing::debug!(%id, "answer that nobody waits for");
    }

    /// Fails the call that something unreadable was meant for, if that is known.
    pub(super) fn rubbish(&self, answers: Option<u64>, rubbish: Rubbish) {
        self.heard.fetch_add(1, Ordering::Relaxed);
        tracing::debug!(?answers, %rubbish, "unreadable");
        if let Some(id) = answers {
            self.settle(id, Err(rubbish.into()));
        }
    }

    /// Settles a call; whether there was one.
    pub(super) fn settle(&self, id: u64, outcome: Outcome) -> bool {
        self.desk().settle(id, outcome)
    }

    fn notified(&self, notification: &Notification<'_>) {
        let Notification { method, params } = notification;
        let size = params.map_or(0, |params| params.get().len());
        tracing::trace!(%method, bytes = size, "notification");
        match (&**method, params) {
            (method::TOOLS_LIST_CHANGED, _) => self.changes.note(List::Tools),
            (method::RESOURCES_LIST_CHANGED, _) => self.changes.note(List::Resources),
            (method::PROMPTS_LIST_CHANGED, _) => self.changes.note(List::Prompts),
            (method::CANCELLED, Some(params)) => self.asked_no_more(params),
            _ if size > self.limits().notification => {
                tracing::warn!(bytes = size, "a notification too large to pass on");
            }
            (method::PROGRESS, Some(params)) => self.progressed(params),
            (method::LOG, Some(params)) => self.emit(Event::Log(shared(params))),
            (method, params) => {
                self.emit(Event::Notification { method: method.into(), params: params.map(shared) })
            }
        }
    }

    fn progressed(&self, params: &RawValue) {
        let token = serde_json::from_str::<Progress>(params.get()).ok();
        let known = token.and_then(|progress| number(&progress.progress_token));
        // Late or invented: the call is settled, and what it was for is nobody's business any more.
        if !known.is_some_and(|id| self.desk().progress(self.now(), id, params)) {
            tracing::debug!("progress on a call that nobody waits for");
        }
    }

    fn asked(self: &Arc<Self>, id: Id, method: &str, params: Option<&RawValue>) {
        match &self.options.ask {
            _ if method == PING => self.send(request::answer(id, Ok(&empty()))),
            Some(ask) => {
                let answer = ask.ask(method, params);
                self.serve(id, answer);
            }
            None => self.refuse(id, &Refusal::no_such_method(method)),
        }
    }

    fn serve(self: &Arc<Self>, id: Id, answer: super::Answer) {
        let admitted = self.desk().serve(id.clone());
        match admitted {
            Ok(()) => {
                let (life, its) = (Arc::clone(self), id.clone());
                let task = self.spawn(async move { life.served(its, answer.await) });
                self.desk().served_by(&id, task);
            }
            // An answer would settle the request that holds the id.
            Err(NotServed::DuplicateId) => tracing::debug!(%id, "request with an id that is open"),
            Err(NotServed::TooMany) => {
                let message = "too many requests at a time".to_owned();
                self.refuse(id, &Refusal { code: DENIED, message, data: None });
            }
        }
    }

    fn served(&self, id: Id, outcome: Result<Box<RawValue>, Refusal>) {
        if self.desk().served(&id).is_none() {
            return;
        }
        match outcome {
            Ok(result) => self.send(request::answer(id, Ok(&result))),
            Err(refusal) => self.refuse(id, &refusal),
        }
    }

    fn refuse(&self, id: Id, refusal: &Refusal) {
        let Refusal { code, message, data } = refusal;
        let error = ErrorObject { code: *code, message: message.into(), data: data.as_deref() };
        self.send(request::answer(id, Err(error)));
    }

    fn asked_no_more(&self, params: &RawValue) {
        let Ok(cancelled) = serde_json::from_str::<Cancelled>(params.get()) else { return };
        let task = self.desk().served(&cancelled.request_id);
        task.flatten().inspect(AbortHandle::abort);
    }

    /// Ends the connection. Only the first reason counts.
    pub(super) fn end(&self, loss: Loss) {
        let loss = Arc::new(loss);
        if self.desk().lose(Arc::clone(&loss)) {
            self.over.send_replace(Some(loss));
        }
    }

    /// Waits for the connection's end.
    pub(super) async fn ended(&self) -> Arc<Loss> {
        let mut over = self.over.subscribe();
        let over = over.wait_for(Option::is_some).await.expect("we hold the sender");
        Arc::clone(over.as_ref().expect("waited for"))
    }

    /// Stops everything that was started for this connection.
    pub(super) fn stop(&self) {
        self.end(Loss::Closed);
        self.tasks().abort_all();
    }

    /// Starts something that lives no longer than the connection.
    pub(super) fn spawn(&self, task: impl Future<Output = ()> + Send + 'static) -> AbortHandle {
        let mut tasks = self.tasks();
        while tasks.try_join_next().is_some() {}
        tasks.spawn(task)
    }

    /// Tells everybody who listens; it is no matter if nobody does.
    pub(super) fn emit(&self, event: Event) {
        let _ = self.events.send(event);
    }

    /// Notes what the greeting agreed on.
    pub(super) fn agree(&self, terms: Terms) {
        let _ = self.terms.set(terms);
    }

    /// What the greeting agreed on, once it has.
    pub(super) fn terms(&self) -> Option<&Terms> {
        self.terms.get()
    }

    fn era(&self) -> Era {
        self.terms().map_or(Era::Greeting, |terms| terms.era)
    }

    pub(super) fn limits(&self) -> &Limits {
        &self.options.limits
    }

    pub(super) fn options(&self) -> &Arc<Options> {
        &self.options
    }

    pub(super) fn link(&self) -> &Link {
        &self.link
    }

    pub(super) fn changes(&self) -> &Changes {
        &self.changes
    }

    /// The server's tools.
    pub(super) fn listing(&self) -> Arc<Listing> {
        Arc::clone(&self.listing.lock().unwrap_or_else(PoisonError::into_inner))
    }

    pub(super) fn set_listing(&self, listing: Arc<Listing>) {
        *self.listing.lock().unwrap_or_else(PoisonError::into_inner) = listing;
    }

    /// Whether a call still waits for its answer.
    pub(super) fn is_open(&self, id: u64) -> bool {
        self.desk().is_open(id)
    }

    fn now(&self) -> Duration {
        self.epoch.elapsed()
    }

    fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn tasks(&self) -> MutexGuard<'_, JoinSet<()>> {
        self.tasks.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Fails what has run out of time, and finds out whether the server is still there.
    fn expire(self: &Arc<Self>) {
        let mut late = false;
        loop {
            let dropped = self.desk().expire(self.now());
            let Some(dropped) = dropped else { break };
            self.retract(&dropped, "no answer in time");
            match dropped.kind {
                Kind::Ping { heard } if heard == self.heard.load(Ordering::Relaxed) => {
                    return self.end(Loss::Hung(self.options.ping));
                }
                Kind::Ping { .. } => {}
                Kind::Greeting | Kind::Plain => late = true,
            }
        }
        if late {
            self.suspect();
        }
    }

    /// Finds out whether the server is still there, unless that is being found out already.
    pub(super) fn suspect(self: &Arc<Self>) {
        let Some(Terms { era, .. }) = self.terms() else { return };
        if self.desk().is_pinging() {
            return;
        }
        let method = if *era == Era::Stateless { DISCOVER } else { PING };
        let (waiter, _) = Waiter::new(false);
        let kind = Kind::Ping { heard: self.heard.load(Ordering::Relaxed) };
        if let Ok(id) = self.open(waiter, (kind, *era), Patience::flat(self.options.ping)) {
            let _ = self.dispatch(id, (kind, *era), &Request::new(method), false);
        }
    }
}

impl fmt::Debug for Life {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Life").field("terms", &self.terms).finish_non_exhaustive()
    }
}

/// The messages of a batch, received one by one: a list of them could be much larger than their text.
struct Batch<'a>(&'a Arc<Life>);

impl<'de> Visitor<'de> for Batch<'_> {
    type Value = ();

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an array of messages")
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut messages: A) -> Result<(), A::Error> {
        while let Some(message) = messages.next_element::<&RawValue>()? {
            self.0.receive_one(message.get(), None);
        }
        Ok(())
    }
}

/// Watches over the deadlines.
async fn clock(life: Arc<Life>) {
    loop {
        let deadline = life.desk().deadline();
        let woken = life.opened.notified();
        match deadline.and_then(|deadline| life.epoch.checked_add(deadline)) {
            // A far deadline is as good as none.
            Some(instant) => tokio::select! {
                () = tokio::time::sleep_until(instant) => life.expire(),
                () = woken => {}
            },
            None => woken.await,
        }
    }
}

/// The number that an id of ours is.
fn number(id: &Id) -> Option<u64> {
    match id {
        Id::Number(number) => u64::try_from(*number).ok(),
        Id::String(_) => None,
    }
}

fn shared(raw: &RawValue) -> Arc<RawValue> {
    raw.to_owned().into()
}

fn empty() -> Box<RawValue> {
    RawValue::from_string("{}".to_owned()).expect("an empty object is JSON")
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Progress {
    progress_token: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Cancelled {
    request_id: Id,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Unfinished {
    result_type: Option<String>,
}

const INPUT_REQUIRED: &str = "input_required";
