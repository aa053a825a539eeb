//! How long a server may take.

use std::time::Duration;

use transom::calls::Patience;

/// How long a server may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Times {
    /// To answer a call: without a sign of life, and in all.
    pub call: Patience,
    /// To list its tools, all pages together.
    pub listing: Duration,
}

impl Default for Times {
    fn default() -> Self {
        let secs = Duration::from_secs;
        Self { call: Patience { idle: secs(60), total: secs(600) }, listing: secs(60) }
    }
}

impl Times {
    /// A patience that does not end before that of a call does: whoever waits for the call hears what became of it.
    pub(crate) fn outlasting(&self, patience: Patience) -> Patience {
        Patience {
            idle: patience.idle.max(self.call.idle.saturating_add(SLACK)),
            total: patience.total.max(self.call.total.saturating_add(SLACK)),
        }
    }
}

/// How much later whoever waits gives up.
const SLACK: Duration = Duration::from_secs(10);
