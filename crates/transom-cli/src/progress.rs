//! A word now and then while something takes its time.

use std::{future::Future, time::Duration};

/// Waits for something; after a second, and then ever more rarely, `say` is told for how long already.
pub(crate) async fn patiently<T>(work: impl Future<Output = T>, say: impl Fn(Duration)) -> T {
    let mut work = std::pin::pin!(work);
    let mut marks = Marks::default();
    loop {
        tokio::select! {
            done = &mut work => return done,
            () = tokio::time::sleep(marks.next()) => say(marks.pass()),
        }
    }
}

/// The moments at which a word is due.
#[derive(Debug, Default)]
pub(crate) struct Marks {
    passed: Duration,
    count: usize,
}

impl Marks {
    /// How long it is from the last one to the next.
    pub(crate) fn next(&self) -> Duration {
        let next = MARKS.get(self.count).copied().map(Duration::from_secs);
        next.map_or(OFTEN_ENOUGH, |next| next - self.passed)
    }

    /// Passes the next one, and says how long that is after the beginning.
    pub(crate) fn pass(&mut self) -> Duration {
        self.passed += self.next();
        self.count += 1;
        self.passed
    }
}

/// Seconds after the beginning.
const MARKS: [u64; 4] = [1, 5, 15, 30];
const OFTEN_ENOUGH: Duration = Duration::from_secs(30);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_come_after_a_second_and_then_ever_more_rarely() {
        let mut marks = Marks::default();
        let passed: Vec<u64> = (0..6).map(|_| marks.pass().as_secs()).collect();
        assert_eq!(passed, [1, 5, 15, 30, 60, 90]);
    }
}
