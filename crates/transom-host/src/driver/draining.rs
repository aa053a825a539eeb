//! The end, announced: no new view opens, and what is under way is finished.
//!
//! ```text
//! open ──drain──▶ no new views; calls go on ──no call is under way──▶ told ──close──▶ views save, and end
//! ```
//!
//! A question without an answer is not waited for: nothing is under way for it, and perhaps no person is there. Who answers it in time
//! gets what they allowed.

use tokio::sync::oneshot;

use super::{
    Driver,
    common::Common,
    ledger::Held,
    seat::{Life, Seat},
};
use crate::{
    envelope::{self, Ending, ToPage},
    log::LineKind,
};

/// Whether it is announced that the host ends.
#[derive(Default)]
pub(super) enum Draining {
    #[default]
    No,
    /// Who is told when no call is under way.
    Announced(Vec<oneshot::Sender<()>>),
}

impl Driver {
    /// Whether new views may open.
    pub(super) fn is_open(&self) -> bool {
        matches!(self.draining, Draining::No) && self.closing.is_none()
    }

    pub(super) fn drain(&mut self, done: oneshot::Sender<()>) {
        match &mut self.draining {
            Draining::No => {
                let words = "the host is being closed: no new view opens, and calls are finished";
                self.common.log.write(LineKind::View, "transom", words);
                self.draining = Draining::Announced(vec![done]);
            }
            Draining::Announced(told) => told.push(done),
        }
    }

    /// Tells that nothing is under way, once that is so.
    pub(super) fn drained(&mut self) {
        let Draining::Announced(told) = &mut self.draining else { return };
        let busy = |seat: &Seat| seat.call.is_some() || seat.has_calls();
        if told.is_empty() || self.seats.values().any(busy) || self.common.ledger.holds_effects() {
            return;
        }
        for done in told.drain(..) {
            let _ = done.send(());
        }
    }
}

impl Seat {
    /// The host is being closed. The tool is not called.
    pub(super) fn not_any_more(&mut self, common: &mut Common, tool: &envelope::Tool) {
        self.server.clone_from(&tool.server);
        self.tool.clone_from(&tool.name);
        let why = "This host is being closed and opens no new views. Its successor may be there in a moment.";
        common.log.write(LineKind::Refused, &self.name(), why);
        self.say(common, &ToPage::Text { why: why.into(), text: None });
        self.end(common, Ending::Text);
    }

    /// Whether something is under way for its view, at its server or on the page.
    fn has_calls(&self) -> bool {
        matches!(&self.life, Life::Live(live) if !live.calls.is_empty() || !live.begun.is_empty())
    }
}

impl Held {
    /// Whether something happens outside when it is written, and not only a question is put.
    pub(super) fn is_effect(&self) -> bool {
        !matches!(
            self,
            Self::Ask(..) | Self::First { .. } | Self::Click { .. } | Self::AskGrants(..)
        )
    }
}
