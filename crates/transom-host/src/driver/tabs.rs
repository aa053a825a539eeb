//! Pages and their tabs: who may speak of which view, in order and exactly once.

use std::time::Duration;

use tokio::sync::mpsc;
use transom::violation::{Holder, Limit, Over, Quoted};

use super::{Driver, event::ToSocket, seat::Seat};
use crate::{
    audit::Record,
    consent::{self, Choice},
    envelope::{
        self, Answer, CloseReason, Ending, Envelope, FromPage, Open, Said, Stream, ToPage, ViewId,
        Welcome,
    },
    log::LineKind,
    words,
};

/// One load of a page.
pub(super) struct Load {
    pub(super) tab: String,
    pub(super) connection: u64,
    pub(super) socket: Option<mpsc::UnboundedSender<ToSocket>>,
    pub(super) lost: Option<Duration>,
    /// Whether it has been away for so long that others can take its views over.
    pub(super) left: bool,
    /// Whether one did: this load has lost its place.
    pub(super) taken: bool,
}

impl Load {
    /// When something happens to it by itself.
    pub(super) fn next(&self, away: Duration) -> Option<Duration> {
        let lost = self.lost?;
        Some(if self.left { lost + away } else { lost + SETTLED.min(away) })
    }
}

impl Driver {
    /// Views belong to a tab: another tab has its own, and a page that is loaded anew in the same tab
    /// is told which ones the load before it left behind.
    pub(super) fn connect(
        &mut self,
        page: String,
        tab: String,
        connection: u64,
        socket: mpsc::UnboundedSender<ToSocket>,
    ) {
        let now = self.common.now();
        let known = self.common.pages.get(&page).filter(|known| known.tab == tab);
        let resumed = known.is_some_and(|known| !known.taken);
        // Whoever had this place has lost it, whether or not that has been noticed yet.
        for (_, before) in
            self.common.pages.iter_mut().filter(|(name, it)| **name == page || it.tab == tab)
        {
            if let Some(old) = before.socket.take() {
                let words = "another connection took over";
                let _ = old.send(ToSocket::Close(envelope::REPLACED, words));
                before.lost = Some(now);
            }
        }
        let theirs =
            |seat: &Seat| self.common.pages.get(&seat.page).is_some_and(|it| it.tab == tab);
        let left = self.seats.iter().filter(|(_, seat)| !seat.is_over() && theirs(seat));
        let views = left.map(|(view, _)| view.to_string()).collect();
        let welcome = Welcome { version: envelope::VERSION, resumed, views };
        let _ = socket.send(ToSocket::Text(welcome.print()));
        for seat in self.seats.values_mut().filter(|seat| seat.page == page) {
            // A load that lost its place begins anew with the views that no other page took.
            if !resumed {
                seat.stream.restart();
            }
            for text in seat.stream.repeat() {
                let _ = socket.send(ToSocket::Text(text));
            }
        }
        let socket = Some(socket);
        let load = Load { tab, connection, socket, lost: None, left: false, taken: false };
        self.common.pages.insert(page, load);
        self.show_left();
    }

    pub(super) fn lose(&mut self, page: &str, connection: u64) {
        let now = self.common.now();
        if let Some(known) = self.common.pages.get_mut(page)
            && known.connection == connection
        {
            known.socket = None;
            known.lost = Some(now);
            // What it has loaded ahead may be gone with it; if it comes back, its next view opens without.
            for seat in self.seats.values_mut().filter(|seat| seat.page == page) {
                seat.spare = None;
            }
            if self.closing.is_some() {
                self.close_unwatched();
            }
        }
    }

    /// No page is left to tell these views to save, and the host does not wait for one.
    pub(super) fn close_unwatched(&mut self) {
        let common = &mut self.common;
        for seat in self.seats.values_mut() {
            if !seat.is_watched(common) {
                seat.closed_by_page(common, CloseReason::Gone);
            }
        }
    }

    pub(super) fn refuse_page(&mut self, page: &str) {
        if let Some(socket) = self.common.pages.get_mut(page).and_then(|page| page.socket.take()) {
            let _ = socket.send(ToSocket::Close(envelope::NOT_AN_ENVELOPE, "not a frame"));
        }
    }

    pub(super) fn hear(&mut self, page: &str, text: &str) {
        let Ok(heard) = Envelope::parse(text) else { return self.refuse_page(page) };
        let Some(view) = ViewId::parse(heard.view) else { return self.refuse_page(page) };
        if !self.admit(page, &view, heard.said) {
            return;
        }
        let Some(seat) = self.seats.get_mut(&view) else { return };
        let Ok(new) = seat.stream.take(heard.said.map(|said| said.seq), heard.ack) else {
            return self.refuse_page(page);
        };
        let now = self.common.now();
        if new && heard.said.is_some_and(|said| said.kind == "message") {
            seat.step(now);
        }
        let slowed = seat.withhold(now) && seat.pace.take_slowed(now);
        if !std::mem::replace(&mut seat.unconfirmed, true) {
            self.unconfirmed.push(view.clone());
        }
        self.confirm_at.get_or_insert(now + CONFIRM);
        if slowed {
            seat.slowed(&mut self.common);
        }
        if let Some(said) = heard.said.filter(|_| new) {
            match said.read() {
                Ok(said) => self.obey(&view, said),
                Err(_) => return self.refuse_page(page),
            }
        }
        if let Some((seat, common)) = self.seat(&view) {
            seat.flush(common);
        }
    }

    /// Finds the view's place, or makes one for its first `open`, or `spare`.
    pub(super) fn admit(&mut self, page: &str, view: &ViewId, said: Option<Said<'_>>) -> bool {
        let first = |kind: &str| said.is_some_and(|said| said.kind == kind && said.seq == 1);
        let (opens, waits) = (first("open"), first("spare"));
        // Counted for a new one only: a message must not cost more for every view beside it.
        let room = !self.seats.contains_key(view)
            && self.seats.len() < PLACES
            && self.seats.values().filter(|seat| !seat.is_over()).count() < self.most_views;
        let tab = |page: &str| self.common.pages.get(page).map(|page| &page.tab);
        let same_tab = self.seats.get(view).is_some_and(|seat| tab(&seat.page) == tab(page));
        let left = self.seats.get(view).is_some_and(|seat| self.is_left(&seat.page));
        match self.seats.get_mut(view) {
            Some(seat) if seat.page == page => true,
            // A page that was loaded anew takes over what the old one showed.
            Some(seat) if opens && same_tab => {
                seat.page = page.to_owned();
                seat.stream.restart();
                true
            }
            Some(_) if opens && left => {
                self.take_over(page, view);
                true
            }
            // Its seat went to another page; what this one says of it counts for nothing.
            Some(_) => {
                self.answer_for_no_view(view, said);
                false
            }
            None if (opens || waits) && room => {
                let seat = Seat::new(view.clone(), page.to_owned());
                self.seats.insert(view.clone(), seat);
                true
            }
            None if opens => {
                self.turn_away(page, view, said);
                false
            }
            None if waits => {
                self.answer_once(page, view, &[ToPage::Close { reason: Ending::Limit }]);
                false
            }
            None => {
                self.answer_for_no_view(view, said);
                false
            }
        }
    }

    /// A person's answer about a view that is not there, or not theirs, does nothing, and that is written down.
    fn answer_for_no_view(&self, view: &ViewId, said: Option<Said<'_>>) {
        let Some(Ok(FromPage::Answer(Answer { choice, .. }))) = said.map(|said| said.read()) else {
            return;
        };
        self.common.note("", view, || Record::decided(None, Choice::of(&choice), false));
        let words = words!("{} for a view that is not there; ignored", Quoted::new(&choice));
        self.common.log.write(LineKind::Late, view.as_str(), words);
    }

    /// As many views are open as may be, or so many have been that there is no place left for another one.
    fn turn_away(&self, page: &str, view: &ViewId, said: Option<Said<'_>>) {
        let most = self.most_views as u64;
        let over = Over { limit: Limit::Views, of: Holder::Host, most };
        let why = match self.seats.len() < PLACES {
            true => consent::limited(&over, "", None),
            false => "This page has opened as many views as it can. Load it anew.".into(),
        };
        let tool = match said.map(|said| said.read()) {
            Some(Ok(FromPage::Open(Open { tool: Some(tool), .. }))) => (tool.server, tool.name),
            _ => Default::default(),
        };
        self.common.metrics.of(&tool.0).limited(over.limit);
        self.common.note(&tool.0, view, || Record::limited(&over, &tool.1));
        self.common.log.write(LineKind::Limit, &tool.0, why.clone());
        let told = [ToPage::Text { why, text: None }, ToPage::Close { reason: Ending::Limit }];
        self.answer_once(page, view, &told);
    }

    /// Answers the first words about a view of which nothing is kept: it was heard and answered, and that is all.
    fn answer_once(&self, page: &str, view: &ViewId, told: &[ToPage]) {
        let Some(socket) = self.common.socket(page) else { return };
        let mut stream = Stream::new(view.clone());
        let heard = stream.take(Some(1), 0);
        debug_assert_eq!(heard, Ok(true));
        for told in told {
            let _ = stream.say(told);
        }
        while let Some(text) = stream.write() {
            let _ = socket.send(ToSocket::Text(text));
        }
    }

    /// Confirms what nothing that was said since has confirmed.
    pub(super) fn confirm(&mut self) {
        let now = self.common.now();
        self.confirm_at = None;
        for view in std::mem::take(&mut self.unconfirmed) {
            let Some(seat) = self.seats.get_mut(&view) else { continue };
            seat.unconfirmed = seat.withhold(now);
            if seat.unconfirmed {
                self.unconfirmed.push(view);
                self.confirm_at = Some(now + CONFIRM);
            }
            let socket = self.common.socket(&seat.page);
            if let Some((socket, text)) = socket.zip(seat.stream.confirm()) {
                let _ = socket.send(ToSocket::Text(text));
            }
        }
    }

    /// A page that stays away loses its views; places that ended with it are cleared.
    pub(super) fn forget_pages(&mut self, now: Duration) {
        let away = |page: &Load| page.lost.is_some_and(|lost| lost + self.away <= now);
        let gone: Vec<String> = self
            .common
            .pages
            .iter()
            .filter(|(_, page)| away(page))
            .map(|(name, _)| name.clone())
            .collect();
        for name in gone {
            self.common.pages.remove(&name);
            let views = self.seats.iter().filter(|(_, seat)| seat.page == name);
            let views: Vec<ViewId> = views.map(|(view, _)| view.clone()).collect();
            for view in views {
                if let Some(mut seat) = self.seats.remove(&view) {
                    seat.closed_by_page(&mut self.common, CloseReason::Gone);
                    seat.leave_account(&mut self.common);
                }
            }
        }
        self.mark_left(now);
    }
}

/// How long a page may stay away before its views end, unless said otherwise.
pub const AWAY: Duration = Duration::from_secs(300);
/// How long before others can take its views over: a page that is loaded anew is gone for a moment.
const SETTLED: Duration = Duration::from_secs(2);
/// How long a confirmation waits for something to travel with.
const CONFIRM: Duration = Duration::from_millis(20);
/// The most places: one that ended keeps its counters for as long as its page is known.
const PLACES: usize = 50_000;
