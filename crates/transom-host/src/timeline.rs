//! What passes on both wires, on one clock: between views and the gate, and between the gate and servers.
//!
//! ```text
//!   view ⇄ gate ──┐                    ┌── page: /api/timeline, in batches
//!                 ├─ note ─▶ ring ─────┼── file: /api/trace
//!   gate ⇄ server ┘    (bounded)       └── file: transom run --record
//! ```
//!
//! A message is kept as it came, and nothing else is done where it passes: it is read, and its secrets are taken out, when
//! somebody asks for it. While nobody does, nothing is kept but the first words of each server, which a recording needs.

mod line;
mod moment;
mod read;
mod record;
mod redact;
mod replay;

pub(crate) use line::{Head, batch, trace, whole};
pub use moment::{Kind, Moment, Outcome, Party};
pub use read::Trace;
pub use record::Recording;
pub(crate) use redact::redacted;
pub use replay::{Exchange, Recorded, Reply, exchanges};

use std::{
    collections::VecDeque,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    time::{Duration, Instant, SystemTime, UNIX_EPOCH},
};

use tokio::sync::Notify;

use crate::{envelope::ViewId, upstream::Overhear};

/// The moments of a host that are kept.
#[derive(Debug)]
pub(crate) struct Timeline {
    /// What a page knows this run of the host by.
    run: String,
    began: u64,
    start: Instant,
    on: AtomicBool,
    ring: Mutex<Ring>,
    news: Notify,
}

#[derive(Debug, Default)]
struct Ring {
    last: u64,
    bytes: usize,
    kept: VecDeque<Arc<Kept>>,
    /// The first words of each connection to a server, which are kept while nobody looks.
    first: VecDeque<Arc<Kept>>,
    /// Until when somebody looks.
    until: Option<Instant>,
    /// Whether it is recorded, however long.
    recorded: bool,
}

/// One moment as it came.
#[derive(Clone, Debug)]
pub(crate) struct Kept {
    pub(crate) n: u64,
    /// In microseconds since the timeline began.
    pub(crate) at: u64,
    pub(crate) server: Arc<str>,
    pub(crate) view: Option<ViewId>,
    pub(crate) what: What,
}

/// What happened.
#[derive(Clone, Debug)]
pub(crate) enum What {
    /// A message passed.
    Message { from: Party, to: Party, text: Box<str> },
    /// Something that we say ourselves.
    Told(Box<Moment>),
}

impl Timeline {
    pub(crate) fn new() -> Arc<Self> {
        let began = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        Arc::new(Self {
            run: format!("{:x}", began.as_nanos()),
            began: u64::try_from(began.as_millis()).unwrap_or(u64::MAX),
            start: Instant::now(),
            on: AtomicBool::new(false),
            ring: Mutex::default(),
            news: Notify::new(),
        })
    }

    /// Whether anybody looks.
    pub(crate) fn is_on(&self) -> bool {
        self.on.load(Ordering::Relaxed)
    }

    /// Notes a message between a view and the gate, if anybody looks.
    pub(crate) fn message(
        &self,
        (server, view): (&str, &ViewId),
        (from, to): (Party, Party),
        text: &str,
    ) {
        if self.is_on() {
            let what = What::Message { from, to, text: text.into() };
            self.keep(server.into(), Some(view.clone()), what);
        }
    }

    /// Notes something else, if anybody looks.
    pub(crate) fn tell(&self, server: &str, view: &ViewId, moment: impl FnOnce() -> Moment) {
        if self.is_on() {
            self.keep(server.into(), Some(view.clone()), What::Told(Box::new(moment())));
        }
    }

    fn keep(&self, server: Arc<str>, view: Option<ViewId>, what: What) {
        let mut ring = self.ring();
        let kept = ring.number(self.at(), server, view, what);
        ring.push(kept);
        drop(ring);
        self.news.notify_waiters();
    }

    fn at(&self) -> u64 {
        u64::try_from(self.start.elapsed().as_micros()).unwrap_or(u64::MAX)
    }

    /// Keeps what happens for a while longer.
    pub(crate) fn look(self: &Arc<Self>) {
        let mut ring = self.ring();
        let first = ring.until.replace(Instant::now() + LEASE).is_none();
        self.on.store(true, Ordering::Relaxed);
        drop(ring);
        if first {
            tokio::spawn(Arc::clone(self).stop_in_time());
        }
    }

    /// Keeps what happens until the end.
    pub(crate) fn look_always(&self) {
        self.ring().recorded = true;
        self.on.store(true, Ordering::Relaxed);
    }

    /// Keeps nothing any more when nobody has looked for a while.
    async fn stop_in_time(self: Arc<Self>) {
        loop {
            let Some(until) = self.ring().until else { return };
            if let Some(rest) = until.checked_duration_since(Instant::now()) {
                tokio::time::sleep(rest).await;
                continue;
            }
            let mut ring = self.ring();
            if ring.until != Some(until) {
                continue;
            }
            ring.until = None;
            if !ring.recorded {
                self.on.store(false, Ordering::Relaxed);
                (ring.kept, ring.bytes) = (VecDeque::new(), 0);
            }
            return;
        }
    }

    /// What came after number `after`, oldest first, as much as goes together; waits a while if there is nothing yet.
    pub(crate) async fn after(&self, after: u64, patience: Duration) -> Vec<Arc<Kept>> {
        let news = self.news.notified();
        let found = self.ring().after(after, TOGETHER);
        if !found.is_empty() {
            return found;
        }
        let _ = tokio::time::timeout(patience, news).await;
        // More is on its way, as a rule: an answer for each message would cost the views their time.
        tokio::time::sleep(GATHER).await;
        self.ring().after(after, TOGETHER)
    }

    /// Everything that is kept.
    pub(crate) fn all(&self) -> Vec<Arc<Kept>> {
        self.ring().after(0, usize::MAX)
    }

    /// One moment, while it is kept.
    pub(crate) fn get(&self, n: u64) -> Option<Arc<Kept>> {
        self.ring().after(n.checked_sub(1)?, 1).into_iter().find(|kept| kept.n == n)
    }

    /// What a reader has to know before everything else.
    pub(crate) fn head(&self) -> Head {
        Head::new(self.run.clone(), self.began)
    }

    fn ring(&self) -> MutexGuard<'_, Ring> {
        self.ring.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Ring {
    fn number(&mut self, at: u64, server: Arc<str>, view: Option<ViewId>, what: What) -> Arc<Kept> {
        self.last += 1;
        Arc::new(Kept { n: self.last, at, server, view, what })
    }

    fn push(&mut self, kept: Arc<Kept>) {
        self.bytes += kept.size();
        self.kept.push_back(kept);
        while self.kept.len() > MOST || self.bytes > MOST_BYTES {
            let Some(old) = self.kept.pop_front() else { return };
            self.bytes -= old.size();
        }
    }

    fn after(&self, after: u64, bytes: usize) -> Vec<Arc<Kept>> {
        let newer = |kept: &VecDeque<Arc<Kept>>| kept.partition_point(|it| it.n <= after);
        let mut first = self.first.range(newer(&self.first)..).peekable();
        let mut kept = self.kept.range(newer(&self.kept)..).peekable();
        let (mut found, mut size) = (vec![], 0_usize);
        while size < bytes {
            let next = match (first.peek(), kept.peek()) {
                (Some(one), Some(other)) if one.n < other.n => first.next(),
                (Some(_), None) => first.next(),
                _ => kept.next(),
            };
            let Some(next) = next else { break };
            size = size.saturating_add(next.size().min(SHORT) + LINE);
            found.push(Arc::clone(next));
        }
        found
    }

    /// Forgets the first words of a connection that is replaced.
    fn begin(&mut self, server: &str) {
        self.first.retain(|kept| &*kept.server != server);
    }
}

impl Kept {
    fn size(&self) -> usize {
        let words = match &self.what {
            What::Message { text, .. } => text.len(),
            What::Told(_) => 0,
        };
        words + LINE
    }
}

/// Hears what is said on the connection to one server.
#[derive(Debug)]
pub(crate) struct Tap {
    timeline: Arc<Timeline>,
    server: Arc<str>,
    /// How much of its first words is still kept while nobody looks: messages, and bytes.
    rest: Mutex<Option<(usize, usize)>>,
    resting: AtomicBool,
}

impl Tap {
    /// One for a connection that begins.
    pub(crate) fn new(timeline: &Arc<Timeline>, server: &str) -> Self {
        timeline.ring().begin(server);
        let (timeline, server) = (Arc::clone(timeline), server.into());
        let rest = Mutex::new(Some((FIRST, FIRST_BYTES)));
        Self { timeline, server, rest, resting: AtomicBool::new(false) }
    }

    fn hear(&self, from: Party, to: Party, text: &str) {
        let first = !self.resting.load(Ordering::Relaxed) && self.is_first(text.len());
        if !first && !self.timeline.is_on() {
            return;
        }
        let what = What::Message { from, to, text: text.into() };
        if !first {
            return self.timeline.keep(Arc::clone(&self.server), None, what);
        }
        let mut ring = self.timeline.ring();
        let kept = ring.number(self.timeline.at(), Arc::clone(&self.server), None, what);
        ring.first.push_back(kept);
        drop(ring);
        self.timeline.news.notify_waiters();
    }

    /// Whether this is among the first words.
    fn is_first(&self, size: usize) -> bool {
        let mut rest = self.rest.lock().unwrap_or_else(PoisonError::into_inner);
        *rest = rest.and_then(|(messages, bytes)| {
            Some((messages.checked_sub(1)?, bytes.checked_sub(size)?))
        });
        self.resting.store(rest.is_none(), Ordering::Relaxed);
        rest.is_some()
    }
}

impl Overhear for Tap {
    fn sent(&self, text: &str) {
        self.hear(Party::Gate, Party::Server, text);
    }

    fn received(&self, text: &str) {
        self.hear(Party::Server, Party::Gate, text);
    }
}

/// How many moments are kept, and how large their messages may be together.
const MOST: usize = 100_000;
const MOST_BYTES: usize = 64 << 20;
/// How many of the first messages of a connection are kept in any case, and how large they may be together.
const FIRST: usize = 48;
const FIRST_BYTES: usize = 8 << 20;
/// How long after somebody asked for it what happens is kept: a page asks again sooner.
const LEASE: Duration = Duration::from_secs(60);
/// About how much is told at a time, and what one moment counts for beside its message.
const TOGETHER: usize = 1 << 20;
const LINE: usize = 160;
/// How much of a message is told before somebody wants to see all of it.
pub(crate) const SHORT: usize = 16 << 10;
/// How long is waited for what comes close behind.
const GATHER: Duration = Duration::from_millis(100);

#[cfg(test)]
mod tests;
