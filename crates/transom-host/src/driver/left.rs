//! Views that a page has left behind, because its tab was closed or its browser is gone: another page can take them over.

use std::{
    sync::{Arc, Mutex, PoisonError},
    time::Duration,
};

use serde::Serialize;
use transom::violation::Quoted;

use super::{Driver, seat::Seat};
use crate::{audit::Record, envelope::ViewId, log::LineKind, words, words::Words};

/// A view whose page is gone, as people are shown it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
pub(crate) struct LeftView {
    /// Its name on the socket.
    pub(crate) view: String,
    /// What it shows.
    #[cfg_attr(test, ts(as = "String"))]
    pub(crate) title: Words,
}

/// The views whose page is gone, as the page's routes see them.
pub(crate) type ShownLeft = Arc<Mutex<Vec<LeftView>>>;

impl Driver {
    pub(crate) fn shown_left(&self) -> ShownLeft {
        Arc::clone(&self.left)
    }

    /// Whether others can take over what is on a page: it has been gone for a while, and its tab is nowhere else.
    pub(super) fn is_left(&self, page: &str) -> bool {
        let pages = &self.common.pages;
        let Some(load) = pages.get(page).filter(|load| load.left && load.socket.is_none()) else {
            return false;
        };
        !pages.values().any(|other| other.tab == load.tab && other.socket.is_some())
    }

    /// Notes which pages have been gone for a while.
    pub(super) fn mark_left(&mut self, now: Duration) {
        for load in self.common.pages.values_mut() {
            load.left = load.left || load.next(self.away).is_some_and(|at| at <= now);
        }
        self.show_left();
    }

    /// Gives a view to the page that asks for it. The page that had it begins anew, should it come back.
    pub(super) fn take_over(&mut self, page: &str, view: &ViewId) {
        let Some(seat) = self.seats.get_mut(view) else { return };
        let before = std::mem::replace(&mut seat.page, page.to_owned());
        seat.stream.restart();
        seat.note(&self.common, Record::taken_over);
        let words = "taken over by another page, because its own is gone";
        self.common.log.write(LineKind::View, &seat.name(), words);
        if let Some(load) = self.common.pages.get_mut(&before) {
            load.taken = true;
        }
        self.show_left();
    }

    /// Shows which views can be taken over, if those are not the same as before.
    pub(super) fn show_left(&self) {
        let is_left = |seat: &&Seat| !seat.is_over() && self.is_left(&seat.page);
        let any = self.common.pages.values().any(|load| load.left);
        let seats = self.seats.values().filter(|_| any).filter(is_left);
        let mut left: Vec<LeftView> = seats.map(Seat::left_view).collect();
        left.sort_by(|one, other| {
            (one.title.as_str(), &one.view).cmp(&(other.title.as_str(), &other.view))
        });
        left.truncate(MOST);
        let mut shown = self.left.lock().unwrap_or_else(PoisonError::into_inner);
        if *shown != left {
            *shown = left;
            drop(shown);
            self.common.servers.changed();
        }
    }
}

impl Seat {
    fn left_view(&self) -> LeftView {
        let (tool, server) = (Quoted::new(&self.tool), Quoted::new(&self.server));
        LeftView { view: self.id.to_string(), title: words!("{} from {}", tool, server) }
    }
}

/// How many are shown at a time.
const MOST: usize = 100;
