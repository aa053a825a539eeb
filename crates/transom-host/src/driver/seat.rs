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
    policy::{Claimed, Grantable, Subject},
    violation::{Holder, Limit, Quoted},
};

use super::{
    common::Common, event::ToSocket, granting::Hindered, pace::Pace, progress::Calling,
    tally::Tally, traced::Traced,
};
use crate::{
    allowance::Allowance,
    conversation::Settled,
    envelope::{Answer, Ask, Deed, Ending, Mount, Open, Stream, ToPage, ViewId},
    metrics::OfServer,
    relay::confirmed,
    sandbox::Spare,
    server::Prepared,
    upstream::Outcome,
    words::Words,
};

/// One view's seat.
pub(super) struct Seat {
    pub(super) id: ViewId,
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
    /// Whether its tool links to no view: one may be in its result.
    pub(super) viewless: bool,
    /// Whether its opening is written down and its end is not.
    pub(super) open_row: bool,
    /// The call of the tool that opened it, while it runs.
    pub(super) call: Option<Calling>,
    /// When the person was last told of a limit that it reached.
    pub(super) noted: HashMap<(Limit, Holder), Duration>,
    pub(super) pace: Pace,
    pub(super) tally: Tally,
    /// The call of the model that it shows, where it shows one.
    pub(super) attached: Option<ViewId>,
    /// The names that its page loads ahead, until a view opens here.
    pub(super) spare: Option<Spare>,
    /// What is counted of its server.
    pub(super) metrics: Arc<OfServer>,
}

pub(super) enum Life {
    /// Its document is being read.
    Opening,
    /// Its document is not the one that a person agreed to, and waits until one does.
    Judging(Box<Prepared>, Box<Ask>),
    /// Its document declares private addresses, these, and waits until a person says whether it gets them.
    Admitting(Box<Prepared>, Box<Ask>, BTreeSet<String>),
    /// What they are asked or decided, or which document runs, is not written down yet.
    Judged(Box<Prepared>),
    Live(Box<Live>),
    /// There is no view; what the tool answers is shown in its place.
    Text {
        why: Words,
        reason: Ending,
    },
    Ended,
}

pub(super) struct Live {
    pub(super) session: Session,
    /// Its document, the names that it is served under for as long as it lives, and what people gave it.
    pub(super) prepared: Prepared,
    /// What it was kept from.
    pub(super) hindered: Hindered,
    /// Whether the page was told that it has not got ready.
    pub(super) quiet: bool,
    /// What is under way for it at its server, since when.
    pub(super) begun: HashMap<u64, (Words, Duration)>,
    /// Its requests that are followed, where somebody wants that.
    pub(super) traced: HashMap<u64, Traced>,
    pub(super) mount: Mount,
    /// What its card says of the form that it has, where that is a deprecated one.
    pub(super) banner: Option<Words>,
    pub(super) calls: HashMap<u64, oneshot::Sender<Quoted>>,
    pub(super) asked: HashMap<String, Asked>,
    /// What the page was told to do, and the call that it is done for.
    pub(super) deeds: HashMap<String, (u64, Deed)>,
    /// Calls of its own tools, by the names that the page gave them.
    pub(super) offered: HashMap<u64, String>,
    /// Calls of its own tools by the model, which is told what came of them.
    pub(super) by_model: HashMap<u64, (ViewId, oneshot::Sender<Settled>)>,
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
    /// What the session wants to know: what it is about, what its tools say of themselves, and what all tools do that may be
    /// allowed with it.
    Question(u64, Subject, Claimed, Claimed),
    /// The click for something that is allowed already.
    Click(u64, Deed),
    /// What its policy blocks, or its document asks for.
    Grants(BTreeSet<Grantable>),
}

impl Seat {
    /// An empty one: no view has been opened in it.
    pub(super) fn new(id: ViewId, page: String) -> Self {
        Self {
            stream: Stream::new(id.clone()),
            id,
            page,
            open: Open::default(),
            server: String::new(),
            tool: String::new(),
            timer: None,
            unconfirmed: false,
            writing: None,
            outcome: None,
            text: None,
            life: Life::Ended,
            used: Usage::default(),
            turn: 0,
            viewless: false,
            open_row: false,
            call: None,
            noted: HashMap::new(),
            pace: Pace::default(),
            tally: Tally::default(),
            attached: None,
            spare: None,
            metrics: Arc::default(),
        }
    }

    /// Gives a live session an input that it takes or ignores.
    pub(super) fn input(&mut self, common: &mut Common, input: Input<'_>) {
        let now = common.now();
        let Some(live) = self.live() else { return };
        if let Err(violation) = live.session.handle(now, input) {
            self.refused(common, &violation);
        }
        self.drive(common);
    }

    /// Carries out what the session wants.
    pub(super) fn drive(&mut self, common: &mut Common) {
        while let Some(output) = self.live().and_then(|live| live.session.poll()) {
            self.count_output(&output);
            self.trace(common, &output);
            self.carry_out(common, output);
        }
        let next = match &self.life {
            Life::Live(live) => live.session.deadline(),
            _ => None,
        };
        // Deadlines come and go with every call. One that moves away is left in its place, and found to have moved.
        if let Some(next) = next
            && self.timer.is_none_or(|timer| next < timer)
        {
            if let Some(old) = self.timer.replace(next) {
                common.timers.remove(&(old, self.id.clone()));
            }
            common.timers.insert((next, self.id.clone()));
        }
        self.flush(common);
    }

    /// Its time has come, unless that was put off meanwhile.
    pub(super) fn tick(&mut self, common: &mut Common) {
        let now = common.now();
        self.timer = None;
        match &self.life {
            Life::Live(live) if live.session.deadline().is_some_and(|due| due > now) => {
                self.drive(common);
            }
            _ => self.input(common, Input::Tick),
        }
    }

    pub(super) fn say(&mut self, common: &Common, told: &ToPage) {
        if self.stream.say(told).is_err()
            && let Some(live) = self.live()
        {
            live.session.close(common.now(), Reason::Flood);
        }
    }

    pub(super) fn flush(&mut self, common: &mut Common) {
        self.count_usage(common);
        let Some(socket) = common.socket(&self.page) else { return };
        while let Some(text) = self.stream.write() {
            let _ = socket.send(ToSocket::Text(text));
        }
    }

    pub(super) fn stop_timer(&mut self, common: &mut Common) {
        if let Some(timer) = self.timer.take() {
            common.timers.remove(&(timer, self.id.clone()));
        }
    }

    /// Whether a page is there that shows it.
    pub(super) fn is_watched(&self, common: &Common) -> bool {
        common.socket(&self.page).is_some()
    }

    pub(super) fn live(&mut self) -> Option<&mut Live> {
        match &mut self.life {
            Life::Live(live) => Some(live),
            _ => None,
        }
    }

    /// Whom lines of the log are about.
    pub(super) fn name(&self) -> String {
        format!("{} {}", self.server, self.tool)
    }

    /// How fast its messages may come, while there is a view to send any.
    pub(super) fn rate(&self) -> Option<Rate> {
        match &self.life {
            Life::Live(live) => Some(live.session.limits().messages),
            _ => None,
        }
    }

    /// Counts a message for its pace.
    pub(super) fn step(&mut self, now: Duration) {
        if let Some(rate) = self.rate() {
            self.pace.count(now, confirmed(rate));
        }
    }

    /// Confirms only what came at its pace; whether something is not confirmed yet.
    pub(super) fn withhold(&mut self, now: Duration) -> bool {
        let ahead = self.rate().map_or(0, |rate| self.pace.ahead(now, confirmed(rate)));
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
