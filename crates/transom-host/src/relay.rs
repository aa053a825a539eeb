//! What goes on of a view's traffic before the gate has judged it.
//!
//! ```text
//! view ──▶ sandbox ──▶ page ──▶ gate
//!          a pace      a queue   confirms at its pace, and judges
//! ```
//!
//! Everything is worked out here, from the limits of the gate, and told to the sandbox and to the page when the view opens.
//! Both let a little more through than the gate takes: the gate refuses with words.

use serde::Serialize;
use transom::host::{Limits, Rate};

/// What the sandbox and the page let through of one view.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Relay {
    /// The most bytes of a message; a larger one is dropped in the sandbox, and the gate hears of it.
    pub message: u64,
    /// The most messages a second that the sandbox passes on, for long. Ten seconds' worth may come at once.
    pub rate: u64,
    /// How many of them go on at once; the others follow at that rate. The page that hears them has one thread for all of
    /// its views.
    pub pace: u64,
    /// The most bytes a second that the sandbox passes on, for long.
    pub bytes: u64,
    /// What the page keeps to.
    pub page: PageLimits,
}

/// How much of what a page says of a view may be on its way to the gate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS))]
#[serde(rename_all = "camelCase")]
pub struct PageLimits {
    /// What has been sent and is not confirmed.
    pub flying: u64,
    /// Its bytes.
    pub flying_bytes: u64,
    /// The same with what has not been sent yet; when there is more, the page gives the view up.
    pub waiting: u64,
    /// Its bytes.
    pub waiting_bytes: u64,
}

impl Relay {
    /// For a view with these limits. What the gate takes is let through, at its rate and in its bursts.
    pub fn of(limits: &Limits) -> Self {
        let Limits { messages, bytes, .. } = limits;
        let rate = whole(messages.per_second * 5.0 / 3.0).max(whole(messages.burst / AHEAD * 2.0));
        let rate = rate.max(RATE);
        let most = whole(bytes.per_second * 2.0).max(whole(bytes.burst / AHEAD * 2.0));
        Self {
            // An object weighs up to eight times its JSON in the sandbox, which does not write it out.
            message: (limits.message.bytes as u64).saturating_mul(8).min(LONGEST),
            rate,
            pace: rate / 10,
            bytes: most.max(BYTES),
            page: PageLimits {
                flying: whole(confirmed(*messages) * DELAY).max(FLYING),
                flying_bytes: whole(bytes.per_second * DELAY).max(FLYING_BYTES),
                waiting: rate.saturating_mul(2).max(whole(messages.burst)).max(WAITING),
                waiting_bytes: whole(bytes.burst).max(WAITING_BYTES),
            },
        }
    }
}

impl Default for Relay {
    fn default() -> Self {
        Self::of(&Limits::default())
    }
}

impl Default for PageLimits {
    fn default() -> Self {
        Relay::default().page
    }
}

/// How many messages a second the gate confirms of a view with this limit: a few more than it takes, so that there is
/// something to refuse when the view goes on, and never so few that it hears of a refusal long after it asked.
pub(crate) fn confirmed(limit: Rate) -> f64 {
    (limit.per_second * FASTER).max(SLOWEST)
}

/// What a page can count: nothing is without end.
fn whole(number: f64) -> u64 {
    number.ceil().clamp(0.0, MOST) as u64
}

/// How many seconds' worth a guest may send at once before the sandbox stops it; half of it is the gate's burst.
const AHEAD: f64 = 10.0;
/// How long a confirmation takes at most, in seconds, from the page and back.
const DELAY: f64 = 0.1;

const FASTER: f64 = 1.2;
const SLOWEST: f64 = 100.0;

/// What every view may have, however little the gate takes of it: bursts are common, and refused with words.
const RATE: u64 = 500;
const BYTES: u64 = 32_000_000;
const FLYING: u64 = 64;
const FLYING_BYTES: u64 = 4 << 20;
const WAITING: u64 = 1_024;
const WAITING_BYTES: u64 = 64 << 20;
/// The longest message that a frame between page and process holds, in bytes.
const LONGEST: u64 = 16 << 20;
/// The largest integer that a browser holds exactly.
const MOST: f64 = 9_007_199_254_740_991.0;

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use transom::rpc;

    use super::*;

    #[test]
    fn the_house_lets_through_what_it_always_did() {
        let page = PageLimits {
            flying: 64,
            flying_bytes: 4 << 20,
            waiting: 1_024,
            waiting_bytes: 64 << 20,
        };
        let house = Relay { message: 16 << 20, rate: 500, pace: 50, bytes: 32_000_000, page };
        assert_eq!(Relay::default(), house);
    }

    #[test]
    fn a_view_that_may_say_more_is_not_stopped_for_it() {
        let messages = Rate { per_second: 5_000.0, burst: 10_000.0 };
        let bytes = Rate { per_second: 200e6, burst: 800e6 };
        let relay = Relay::of(&Limits { messages, bytes, ..Limits::default() });
        assert_eq!((relay.rate, relay.pace, relay.bytes), (8_334, 833, 400_000_000));
        let PageLimits { flying, flying_bytes, waiting, waiting_bytes } = relay.page;
        assert_eq!((flying, waiting), (600, 16_668));
        assert_eq!((flying_bytes, waiting_bytes), (20_000_000, 800_000_000));
    }

    #[test]
    fn a_view_that_may_say_little_is_dropped_what_is_far_too_large() {
        let message = rpc::MessageLimits { bytes: 1_000, ..rpc::MessageLimits::default() };
        assert_eq!(Relay::of(&Limits { message, ..Limits::default() }).message, 8_000);
    }

    proptest! {
        #[test]
        fn what_the_gate_takes_is_let_through(
            (per_second, burst) in (1_u32..1_000_000, 1_u32..1_000_000),
            (bytes_per_second, bytes_burst) in (1_u32..1_000_000_000, 1_u32..1_000_000_000),
            size in 1_usize..=16 << 20,
        ) {
            let rate = |per_second: u32, burst: u32| Rate {
                per_second: per_second.into(),
                burst: burst.into(),
            };
            let (messages, bytes) = (rate(per_second, burst), rate(bytes_per_second, bytes_burst));
            let message = rpc::MessageLimits { bytes: size, ..rpc::MessageLimits::default() };
            let limits = Limits { message, messages, bytes, ..Limits::default() };
            let Relay { message, rate, pace, bytes, page } = Relay::of(&limits);
            prop_assert!(message >= size as u64 && message <= LONGEST);
            prop_assert!(rate > per_second.into() && rate * 10 > burst.into() && pace > 0);
            prop_assert!(bytes > bytes_per_second.into() && bytes * 10 > bytes_burst.into());
            // All of it flies again ten times a second, and is confirmed faster than the gate takes it.
            prop_assert!(page.flying * 10 >= confirmed(limits.messages) as u64);
            prop_assert!(confirmed(limits.messages) > per_second.into());
            prop_assert!(page.flying_bytes * 10 >= bytes_per_second.into());
            prop_assert!(page.waiting > page.flying && page.waiting >= burst.into());
            prop_assert!(page.waiting_bytes >= bytes_burst.into());
        }
    }
}
