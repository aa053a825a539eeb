//! One view's seat: what the loop keeps of it, from its opening to its end.

use std::{
    collections::{BTreeSet, HashMap},
    sync::Arc,
    time::Duration,
};

use tokio::sync::oneshot;
use transom::{
    host::{Input, Rate, Reason, Session, Usage},
    partial::Healer,
    policy::{Claimed, Subject},
    violation::{Holder, Limit, Quoted},
};

use super::{
    Driver,
    allowance::Allowance,
    event::ToSocket,
    pace::{Pace, pace_of},
};
use crate::{
    envelope::{Answer, Ask, Deed, Mount, Open, Stream, ToPage, ViewId},
    sandbox::Mounted,
    server::{Prepared, Server},
    upstream::Outcome,
    words::Words,
};

/// One view's place.
pub(super) struct Seat {
    pub(super) stream: Stream,
    pub(super) page: String,
    pub(super) open: Open,
    pub(super) server: String,
    pub(super) tool: String,
    /// When it is looked at next; something may have put off what it was to be looked at for.
    pub(super) timer: Option<Duration>,
    /// Whether it is among those that a confirmation is for.
    pub(super) unconfirmed: bool,
    /// The arguments of its tool, while they are being written.
    pub(super) writing: Option<Healer>,
    /// What the tool answered, until a session takes it.
    pub(super) outcome: Option<Outcome>,
    /// The same as text, in case there is no view to show it.
    pub(super) text: Option<String>,
    pub(super) life: Life,
    /// What the account of its server has been told that it uses.
    pub(super) used: Usage,
    /// How often something was opened here.
    pub(super) turn: u64,
    /// Whether its opening is written down and its end is not.
    pub(super) open_row: bool,
    /// Stops the tool that opened it, while it runs.
    pub(super) call: Option<oneshot::Sender<&'static str>>,
    /// When the person was last told of a limit that it reached.
    pub(super) noted: HashMap<(Limit, Holder), Duration>,
    pub(super) pace: Pace,
}

pub(super) enum Life {
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

pub(super) struct Live {
    pub(super) session: Session,
    pub(super) server: Arc<Server>,
    /// The names that it is served under, for as long as it lives.
    pub(super) _mounted: Mounted,
    /// The private addresses that it reaches because a person agreed.
    pub(super) reaches: BTreeSet<String>,
    pub(super) mount: Mount,
    pub(super) calls: HashMap<u64, oneshot::Sender<Quoted>>,
    pub(super) asked: HashMap<String, Asked>,
    /// What the page was told to do, and the call that it is done for.
    pub(super) deeds: HashMap<String, (u64, Deed)>,
    /// Calls of its own tools, by the names that the page gave them.
    pub(super) offered: HashMap<u64, String>,
    /// How many of its refusals are written in the log, and how many of its other lines.
    pub(super) refusals: Allowance,
    pub(super) lines: Allowance,
    pub(super) mode_call: Option<u64>,
}

/// A question on the page.
pub(super) struct Asked {
    pub(super) ask: Ask,
    pub(super) about: About,
}

pub(super) enum About {
    /// What the session wants to know.
    Question(u64, Subject, Claimed),
    /// The click for something that is allowed already.
    Click(u64, Deed),
}

impl Driver {
    /// Gives a live session an input that it takes or ignores.
    pub(super) fn input(&mut self, view: &ViewId, input: Input<'_>) {
        let now = self.now();
        let Some(live) = self.live(view) else { return };
        if let Err(violation) = live.session.handle(now, input) {
            self.refused(view, &violation);
        }
        self.drive(view);
    }

    /// Carries out what the session wants.
    pub(super) fn drive(&mut self, view: &ViewId) {
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

    pub(super) fn say(&mut self, view: &ViewId, told: &ToPage) {
        let Some(seat) = self.views.get_mut(view) else { return };
        if seat.stream.say(told).is_err() && seat.is_live() {
            let now = self.now();
            if let Some(live) = self.live(view) {
                live.session.close(now, Reason::Flood);
            }
        }
    }

    pub(super) fn flush(&mut self, view: &ViewId) {
        self.count_usage(view);
        let Some(seat) = self.views.get_mut(view) else { return };
        let Some(socket) = self.pages.get(&seat.page).and_then(|page| page.socket.as_ref()) else {
            return;
        };
        while let Some(text) = seat.stream.write() {
            let _ = socket.send(ToSocket::Text(text));
        }
    }

    pub(super) fn stop_timer(&mut self, view: &ViewId) {
        let timer = self.views.get_mut(view).and_then(|seat| seat.timer.take());
        if let Some(timer) = timer {
            self.timers.remove(&(timer, view.clone()));
        }
    }

    /// Whether a page is there that shows it.
    pub(super) fn is_watched(&self, view: &ViewId) -> bool {
        let page = self.views.get(view).and_then(|seat| self.pages.get(&seat.page));
        page.is_some_and(|page| page.socket.is_some())
    }

    pub(super) fn live(&mut self, view: &ViewId) -> Option<&mut Live> {
        match &mut self.views.get_mut(view)?.life {
            Life::Live(live) => Some(live),
            _ => None,
        }
    }

    pub(super) fn name(&self, view: &ViewId) -> String {
        self.views
            .get(view)
            .map(|seat| format!("{} {}", seat.server, seat.tool))
            .unwrap_or_default()
    }
}

impl Seat {
    /// How fast its messages may come, while there is somebody to send any.
    pub(super) fn rate(&self) -> Option<Rate> {
        match &self.life {
            Life::Live(live) => Some(live.session.limits().messages),
            _ => None,
        }
    }

    /// Counts a message for its pace.
    pub(super) fn step(&mut self, now: Duration) {
        if let Some(rate) = self.rate() {
            self.pace.count(now, pace_of(rate));
        }
    }

    /// Confirms only what came at its pace; whether something is not confirmed yet.
    pub(super) fn withhold(&mut self, now: Duration) -> bool {
        let ahead = self.rate().map_or(0, |rate| self.pace.ahead(now, pace_of(rate)));
        self.stream.withhold(ahead);
        ahead > 0
    }

    pub(super) fn is_live(&self) -> bool {
        matches!(self.life, Life::Live(_))
    }

    /// Whether this answers a question that its document raised.
    pub(super) fn awaits(&self, answer: &Answer) -> bool {
        matches!(&self.life, Life::Judging(_, ask) | Life::Admitting(_, ask, _)
            if ask.id == answer.id && ask.choices.contains(&answer.choice.as_str()))
    }

    pub(super) fn is_over(&self) -> bool {
        matches!(self.life, Life::Ended)
    }
}
