//! What a view may use up, and who is told when it is used up.

use std::time::Duration;

use transom::{
    host::Usage,
    violation::{Holder, Limit, Over},
};

use super::{
    Driver,
    seat::{Life, Seat},
};
use crate::{
    audit::Record,
    consent,
    envelope::{ToPage, ViewId},
    words,
    words::Words,
};

impl Driver {
    /// Whether something of this size may wait for the page, beside what waits already.
    pub(super) fn room_for(&self, view: &ViewId, size: usize) -> Result<(), Over> {
        let Some(Seat { stream, life: Life::Live(live), server, .. }) = self.views.get(view) else {
            return Ok(());
        };
        let most = live.session.limits().queued;
        if stream.queued().saturating_add(size) > most {
            return Err(Over { limit: Limit::Queued, of: Holder::View, most: most as u64 });
        }
        self.accounts.get(server).map_or(Ok(()), |account| account.share.to_queue(size))
    }

    /// Tells the person that a view reached a limit; not again before a while has passed.
    pub(super) fn limited(&mut self, view: &ViewId, over: &Over, method: Option<&'static str>) {
        let now = self.now();
        let Some(seat) = self.views.get_mut(view) else { return };
        let due = seat.noted.get(&(over.limit, over.of)).is_none_or(|told| *told + AGAIN <= now);
        if !due {
            return;
        }
        seat.noted.insert((over.limit, over.of), now);
        let text = consent::limited(over, &seat.server, method);
        self.log.write("limit", &self.name(view), text.clone());
        self.say(view, &ToPage::Note { text });
        self.flush(view);
    }

    /// A view is faster than it may be, and made to wait.
    pub(super) fn slowed(&mut self, view: &ViewId) {
        let Some(rate) = self.views.get(view).and_then(Seat::rate) else { return };
        let most = rate.per_second.ceil() as u64;
        let over = Over { limit: Limit::Messages, of: Holder::View, most };
        self.note(view, || Record::slowed(&over));
        self.limited(view, &over, None);
    }

    /// Tells the account of its server what a view uses now.
    pub(super) fn count_usage(&mut self, view: &ViewId) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let usage = match &seat.life {
            Life::Live(live) => live.session.usage(),
            _ => Usage::default(),
        };
        let usage = Usage { queued: seat.stream.queued(), ..usage };
        if usage != seat.used
            && let Some(account) = self.accounts.get_mut(&seat.server)
        {
            account.share.change(seat.used, usage);
            seat.used = usage;
        }
    }

    /// The view is not one of its server's any more.
    pub(super) fn leave_account(&mut self, view: &ViewId) {
        let Some(seat) = self.views.get_mut(view) else { return };
        let used = std::mem::take(&mut seat.used);
        if let Some(account) = self.accounts.get_mut(&seat.server) {
            account.share.change(used, Usage::default());
        }
    }

    /// Writes a line that a view can cause as often as it likes, unless it caused many already: it must
    /// not be able to wash everything else out of the log, nor to keep the page busy with drawing it. Its refusals are
    /// counted apart, so that it cannot hide one behind a heap of something else.
    pub(super) fn log_of(
        &mut self,
        view: &ViewId,
        kind: &'static str,
        words: impl FnOnce() -> Words,
    ) {
        let now = self.now();
        let Some(live) = self.live(view) else { return };
        let lines = if kind == "refused" { &mut live.refusals } else { &mut live.lines };
        let Some(left_out) = lines.take(now) else { return };
        let name = self.name(view);
        if left_out > 0 {
            self.log.write(kind, &name, words!("{} more lines were left out", left_out));
        }
        self.log.write(kind, &name, words());
    }
}

/// How long before a person is told of the same limit again.
pub(super) const AGAIN: Duration = Duration::from_secs(10);
