//! What a view says, as it comes: counted, read, and passed on to be judged.

use std::time::Duration;

use super::{Limits, Reason, Session, Share};
use crate::{
    rpc::{self, Message},
    violation::{Holder, Limit, Over, Violation},
};

/// How much of a message there is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Extent {
    Whole,
    /// Its id and its method.
    Outline,
}

impl Session {
    /// Takes one message of the view.
    pub(super) fn receive(
        &mut self,
        now: Duration,
        text: &str,
        share: &mut Share,
        extent: Extent,
    ) -> Result<(), Violation> {
        if self.is_closed() {
            return Err(self.unexpected("a message"));
        }
        let limit = self.setup.limits.message;
        let unwrapped = self.setup.accept_strings.then(|| rpc::unwrap_string(text, limit));
        let text = unwrapped.as_ref().and_then(Option::as_deref).unwrap_or(text);
        self.room = Some(share.room());
        let over = self.meter(now, text.len(), share).err();
        let mut judged = false;
        let outcome = match Message::parse_strictly(text, limit) {
            Ok((message, twin)) => {
                judged = matches!(message, Message::Request(_));
                let astray = self.heard_rpc(&message);
                match (extent, twin) {
                    (Extent::Whole, None) if let Some(violation) = astray => {
                        self.turn_away(now, message, over.map_or(violation, Violation::from))
                    }
                    (Extent::Outline, _) => self.too_large(now, message, over),
                    (Extent::Whole, None) => self.dispatch(now, message, over),
                    (Extent::Whole, Some(why)) => {
                        let ambiguous = Violation::Ambiguous { place: "the message", why };
                        self.turn_away(now, message, over.map_or(ambiguous, Violation::from))
                    }
                }
            }
            Err(rpc::Malformed::TooLarge { .. }) if let Some(message) = glance(text, limit) => {
                judged = matches!(message, Message::Request(_));
                self.too_large(now, message, over)
            }
            Err(rpc::Malformed::Foreign) if let Some(said) = self.read_plain(text) => match said {
                Ok(said) => {
                    let (wish, outcome) = self.hear_plain(now, said, over);
                    judged = wish;
                    outcome
                }
                Err(violation) => Err(over.map_or(violation, Violation::from)),
            },
            Err(malformed) => {
                let over = over.or_else(|| (extent == Extent::Outline).then(|| self.over_size()));
                Err(self.malformed(now, malformed, over))
            }
        };
        if let Err(violation) = &outcome {
            self.strike(now, violation, text.len());
        }
        self.room = None;
        if judged { Ok(()) } else { outcome }
    }

    /// Counts a message. All meters of the view run whatever the outcome: a flood of rubbish is a flood.
    /// What the view's own limits stop does not cost its neighbours anything.
    fn meter(&mut self, now: Duration, size: usize, share: &mut Share) -> Result<(), Over> {
        let Limits { messages, bytes, .. } = self.setup.limits;
        let few = self.meters.messages.take(messages, now, 1.0);
        let small = self.meters.bytes.take(bytes, now, size as f64);
        match (few, small) {
            (false, _) => Err(self.over(Limit::Messages, messages.most())),
            (true, false) => Err(self.over(Limit::Bytes, bytes.most())),
            (true, true) => share.take(now, size),
        }
    }

    /// Refuses a message that is too large to be read, but not to be answered.
    fn too_large(
        &mut self,
        now: Duration,
        message: Message<'_>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        let over = over.unwrap_or_else(|| self.over_size());
        self.turn_away(now, message, over.into())
    }

    fn over_size(&self) -> Over {
        self.over(Limit::Size, self.setup.limits.message.bytes as u64)
    }

    /// Refuses a message of which no more is known than who it is from and what it is called.
    fn turn_away(
        &mut self,
        now: Duration,
        message: Message<'_>,
        violation: Violation,
    ) -> Result<(), Violation> {
        match message {
            Message::Request(request) => self.requested(now, request, Some(violation)),
            Message::Notification(_) => Err(violation),
            // The call that waits for it must not wait longer.
            Message::Response(response) => {
                self.settle_unusable(now, &response.id);
                Err(violation)
            }
        }
    }

    fn dispatch(
        &mut self,
        now: Duration,
        message: Message<'_>,
        over: Option<Over>,
    ) -> Result<(), Violation> {
        match message {
            // Never limited: there are no more of them than we asked for.
            Message::Response(response) => self.answered(now, response),
            Message::Request(request) => self.requested(now, request, over.map(Violation::from)),
            Message::Notification(_) if let Some(over) = over => Err(over.into()),
            Message::Notification(notification) => self.notified(now, notification),
        }
    }

    fn malformed(
        &mut self,
        now: Duration,
        malformed: rpc::Malformed,
        over: Option<Over>,
    ) -> Violation {
        // An answer that cannot be used is still an answer: the call that waits for it must not wait longer.
        if let rpc::Malformed::BadAnswer { id, .. } = &malformed {
            self.settle_unusable(now, id);
        }
        match over {
            Some(over) => over.into(),
            None => malformed.into(),
        }
    }

    /// Counts a refusal; too many of them, and the view is taken away.
    fn strike(&mut self, now: Duration, violation: &Violation, size: usize) {
        let limits = &self.setup.limits;
        let weight = match violation {
            // Other traffic on the same window is none of our business.
            Violation::Malformed(rpc::Malformed::Foreign) => return,
            // Refused bytes cost as much as small refused messages: who sends as much again as the
            // bytes' burst, beyond it, has no strike left, in however few messages.
            Violation::OverLimit(Over { limit: Limit::Bytes, of: Holder::View, .. }) => {
                (size as f64 * limits.strikes.burst / limits.bytes.burst).max(1.0)
            }
            // Its neighbours had a part in that. Who says little is not struck for what they say.
            Violation::OverLimit(Over { of: Holder::Server, .. }) => 0.1,
            _ => 1.0,
        };
        if !self.meters.strikes.take(limits.strikes, now, weight) {
            self.close(now, Reason::Flood);
        }
    }
}

/// Who a message is from and what it is called, should it be too large to be taken: a request can be
/// refused by its id. Nothing of it is kept, and a giant is not looked at.
fn glance(text: &str, limits: rpc::MessageLimits) -> Option<Message<'_>> {
    let limits = rpc::MessageLimits { bytes: GIANT, ..limits };
    Message::parse(text, limits).ok()
}

/// The longest message that is looked at, in bytes, though it will not be taken.
const GIANT: usize = 32 << 20;
