//! One connection to a server, from its first word to its last.
//!
//! ```text
//!   call ──▶ desk ──▶ link ──▶ server
//!    ▲        ▲ │ clock          │
//!    └────────┘ ▼                ▼
//!    outcome, progress ◀── receive: one reader, in the order of the wire ──▶ events
//! ```

mod hearing;

use std::{
    fmt,
    future::Future,
    sync::{
        Arc, Mutex, MutexGuard, OnceLock, PoisonError,
        atomic::{AtomicU64, Ordering},
    },
    time::Duration,
};

use tokio::{
    sync::{Notify, broadcast, watch},
    task::{AbortHandle, JoinSet},
    time::Instant,
};
use tracing::Instrument as _;
use transom::calls::Patience;

use super::{
    Call, CallError, CallOptions, Era, Event, Listing, Loss, NotCalled, Options, Outcome, Request,
    Strays, UpstreamLimits,
    call::{Waiter, Waiting},
    changes::Changes,
    desk::{DISCOVER, Desk, Dropped, Kind, PING},
    http::{Http, Parcel},
    pipe::Outbox,
    request::{self, Stamp, Stamps},
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
    strays: Mutex<Strays>,
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
            strays: Mutex::default(),
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
        self.overhear_sent(&text);
        match &self.link {
            Link::Pipe(outbox) => outbox.push(text).map_err(|_| NotCalled::Busy),
            Link::Http(http) => {
                let parcel = Parcel::of_request(id, (kind, era), text, request, &self.listing());
                let exchange = Arc::clone(http).exchange(Arc::clone(self), parcel);
                let exchange = self.spawn(exchange.in_current_span());
                self.desk().carried_by(id, exchange);
                Ok(())
            }
        }
    }

    /// Sends a notification or an answer, some time soon, in order.
    fn send(&self, text: String) {
        self.overhear_sent(&text);
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
        self.overhear_sent(&text);
        match &self.link {
            Link::Pipe(outbox) => outbox.push(text).map_err(|_| NotCalled::Busy.into()),
            Link::Http(http) => http.tell(self, text).await,
        }
    }

    fn overhear_sent(&self, text: &str) {
        if let Some(overhear) = &self.options.overhear {
            overhear.sent(text);
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

    /// Settles a call; whether there was one.
    pub(super) fn settle(&self, id: u64, outcome: Outcome) -> bool {
        self.desk().settle(id, outcome)
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

    /// Tells all listeners; there may be none.
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

    pub(super) fn limits(&self) -> &UpstreamLimits {
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
