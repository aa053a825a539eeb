//! How much one app may ask for: requests, bytes, and how many at once (FSE-10).

use std::collections::HashMap;
use std::num::NonZeroU32;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use governor::clock::{Clock, DefaultClock};
use governor::{DefaultKeyedRateLimiter, Quota, RateLimiter};

/// Limits of a proxy, for each app apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Allowed {
    pub(crate) requests: NonZeroU32,
    pub(crate) bytes: NonZeroU32,
    pub(crate) at_once: usize,
}

impl Default for Allowed {
    fn default() -> Self {
        Self { requests: of(600), bytes: of(256 << 10), at_once: 32 }
    }
}

/// What each app has used.
pub(crate) struct Usage {
    requests: DefaultKeyedRateLimiter<String>,
    /// In KiB.
    bytes: DefaultKeyedRateLimiter<String>,
    routes: Vec<Option<DefaultKeyedRateLimiter<String>>>,
    at_once: usize,
    running: Arc<Mutex<HashMap<String, usize>>>,
}

/// One of an app's requests that are under way; it ends when this is dropped.
#[derive(Debug)]
pub(crate) struct Running {
    app: String,
    running: Arc<Mutex<HashMap<String, usize>>>,
}

impl Usage {
    pub(crate) fn new(allowed: Allowed, routes: impl Iterator<Item = Option<NonZeroU32>>) -> Self {
        let keyed = |rate| RateLimiter::keyed(Quota::per_minute(rate));
        Self {
            requests: keyed(allowed.requests),
            bytes: keyed(allowed.bytes),
            routes: routes.map(|rate| rate.map(keyed)).collect(),
            at_once: allowed.at_once,
            running: Arc::default(),
        }
    }

    /// Begins a request of an app on a route, or tells how long it should wait.
    pub(crate) fn begin(&self, app: &str, route: usize) -> Result<Running, Duration> {
        let app = app.to_owned();
        wait(self.requests.check_key(&app))?;
        if let Some(route) = self.routes.get(route).and_then(Option::as_ref) {
            wait(route.check_key(&app))?;
        }
        let mut running = self.running.lock().expect("no holder panics");
        // Whoever was here before and has been quiet since needs no entry.
        if running.is_empty() && self.requests.len() > MANY {
            self.forget();
        }
        let count = running.entry(app.clone()).or_default();
        if *count >= self.at_once {
            return Err(Duration::from_secs(1));
        }
        *count += 1;
        Ok(Running { app, running: Arc::clone(&self.running) })
    }

    /// Goes on to another route by a redirect, or tells how long that route wants to be left alone.
    pub(crate) fn go_on(&self, app: &str, route: usize) -> Result<(), Duration> {
        match self.routes.get(route).and_then(Option::as_ref) {
            Some(route) => wait(route.check_key(&app.to_owned())),
            None => Ok(()),
        }
    }

    /// Counts bytes, in either direction, or tells how long to wait before so many more.
    pub(crate) fn count(&self, app: &str, bytes: usize) -> Result<(), Duration> {
        let Some(kib) = u32::try_from(bytes.div_ceil(1024)).ok().and_then(NonZeroU32::new) else {
            return Ok(());
        };
        match self.bytes.check_key_n(&app.to_owned(), kib) {
            Ok(decision) => wait(decision),
            // More than a whole minute's allowance: it would never fit.
            Err(_) => Err(Duration::from_secs(60)),
        }
    }

    fn forget(&self) {
        self.requests.retain_recent();
        self.bytes.retain_recent();
        self.routes.iter().flatten().for_each(RateLimiter::retain_recent);
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        let mut running = self.running.lock().expect("no holder panics");
        let left = running.get(&self.app).map_or(0, |count| count - 1);
        if left == 0 {
            running.remove(&self.app);
        } else {
            running.insert(std::mem::take(&mut self.app), left);
        }
    }
}

fn wait<T>(
    decision: Result<T, governor::NotUntil<<DefaultClock as Clock>::Instant>>,
) -> Result<(), Duration> {
    decision.map(drop).map_err(|until| until.wait_time_from(DefaultClock::default().now()))
}

fn of(number: u32) -> NonZeroU32 {
    NonZeroU32::new(number).unwrap_or(NonZeroU32::MIN)
}

/// So many apps are remembered before those are forgotten that have been quiet.
const MANY: usize = 1_000;

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(requests: u32, at_once: usize) -> Usage {
        let allowed = Allowed { requests: of(requests), bytes: of(4), at_once };
        Usage::new(allowed, [None, Some(of(2))].into_iter())
    }

    #[test]
    fn fse_10_each_app_and_each_route_has_its_own_limit() {
        let limits = limits(5, 100);
        let go = |app, route| limits.begin(app, route).map(drop).is_ok();
        assert_eq!(
            [go("a", 1), go("a", 1), go("a", 1)],
            [true, true, false],
            "two a minute on this route"
        );
        assert_eq!(
            [go("a", 0), go("a", 0), go("a", 0)],
            [true, true, false],
            "five a minute in all"
        );
        assert!(go("b", 1), "another app has its own");
        let wait = limits.begin("a", 0).expect_err("it is used up");
        assert!(wait > Duration::ZERO && wait <= Duration::from_secs(60), "{wait:?}");
    }

    #[test]
    fn requests_at_once_are_counted_until_they_end() {
        let limits = limits(100, 2);
        let first = limits.begin("a", 0).expect("there is room");
        let _second = limits.begin("a", 0).expect("there is room");
        assert!(limits.begin("a", 0).is_err());
        assert!(limits.begin("b", 0).is_ok());
        drop(first);
        assert!(limits.begin("a", 0).is_ok());
    }

    #[test]
    fn bytes_are_counted_in_both_directions() {
        let limits = limits(100, 2);
        assert!(limits.count("a", 0).is_ok());
        assert!(limits.count("a", 3_000).is_ok());
        assert!(limits.count("a", 2_000).is_err());
        assert!(limits.count("b", 4_096).is_ok());
        assert!(limits.count("c", 1 << 30).is_err(), "it would never fit");
    }
}
