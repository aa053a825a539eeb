//! What a view may use up, and who is told when it is used up.

use std::time::Duration;

use transom::{
    host::Usage,
    violation::{Holder, Limit, Over},
};

use super::{
    common::Common,
    seat::{Life, Seat},
};
use crate::{audit::Record, consent, envelope::ToPage, log::LineKind, words, words::Words};

impl Seat {
    /// Whether something of this size may wait for the page, beside what waits already.
    pub(super) fn room_for(&self, common: &Common, size: usize) -> Result<(), Over> {
        let Life::Live(live) = &self.life else { return Ok(()) };
        let most = live.session.limits().queued;
        if self.stream.queued().saturating_add(size) > most {
            return Err(Over { limit: Limit::Queued, of: Holder::View, most: most as u64 });
        }
        common.accounts.get(&self.server).map_or(Ok(()), |account| account.share.to_queue(size))
    }

    /// Tells the person that a view reached a limit; not again before a while has passed.
    pub(super) fn limited(
        &mut self,
        common: &mut Common,
        over: &Over,
        method: Option<&'static str>,
    ) {
        let now = common.now();
        let due = self.noted.get(&(over.limit, over.of)).is_none_or(|told| *told + AGAIN <= now);
        if !due {
            return;
        }
        self.noted.insert((over.limit, over.of), now);
        let text = consent::limited(over, &self.server, method);
        common.log.write(LineKind::Limit, &self.name(), text.clone());
        self.say(common, &ToPage::Note { text });
        self.flush(common);
    }

    /// A view is faster than it may be, and made to wait.
    pub(super) fn slowed(&mut self, common: &mut Common) {
        let Some(rate) = self.rate() else { return };
        let most = rate.per_second.ceil() as u64;
        let over = Over { limit: Limit::Messages, of: Holder::View, most };
        self.metrics.limited(over.limit);
        self.note(common, || Record::slowed(&over));
        self.limited(common, &over, None);
    }

    /// Tells the account of its server what a view uses now.
    pub(super) fn count_usage(&mut self, common: &mut Common) {
        let usage = match &self.life {
            Life::Live(live) => live.session.usage(),
            _ => Usage::default(),
        };
        let usage = Usage { queued: self.stream.queued(), ..usage };
        if usage != self.used
            && let Some(account) = common.accounts.get_mut(&self.server)
        {
            account.share.change(self.used, usage);
            self.used = usage;
        }
    }

    /// The view is not one of its server's any more.
    pub(super) fn leave_account(&mut self, common: &mut Common) {
        let used = std::mem::take(&mut self.used);
        if let Some(account) = common.accounts.get_mut(&self.server) {
            account.share.change(used, Usage::default());
        }
    }

    /// Writes a line that a view can cause as often as it likes, unless it caused many already: it must
    /// not be able to wash everything else out of the log, nor to keep the page busy with drawing it. Its refusals are
    /// counted apart, so that it cannot hide one behind a heap of something else.
    pub(super) fn log_of(
        &mut self,
        common: &Common,
        kind: LineKind,
        words: impl FnOnce() -> Words,
    ) {
        let now = common.now();
        let Some(live) = self.live() else { return };
        let lines = if kind == LineKind::Refused { &mut live.refusals } else { &mut live.lines };
        let Some(left_out) = lines.take(now) else { return };
        let name = self.name();
        if left_out > 0 {
            common.log.write(kind, &name, words!("{} more lines were left out", left_out));
        }
        common.log.write(kind, &name, words());
    }
}

/// How long before a person is told of the same limit again.
const AGAIN: Duration = Duration::from_secs(10);
