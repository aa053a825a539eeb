//! What one side has said about a view and the other has not yet confirmed.

use std::collections::VecDeque;

use super::{ToPage, ViewId};

/// Our end of one view's frames: counts what goes out and what comes in.
#[derive(Debug)]
pub struct Stream {
    view: ViewId,
    heard: u64,
    /// How much of that the page has been told.
    told: u64,
    /// How many of the last ones it is not told of yet.
    withheld: u64,
    confirmed: u64,
    /// Everything not confirmed; only the first `flying` of it has been written.
    unconfirmed: VecDeque<String>,
    flying: usize,
    /// The size of what flies, and of everything.
    bytes: usize,
    queued: usize,
    owes: bool,
}

/// An envelope that is missing, or a confirmation of what was never sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("an envelope is missing, or one was confirmed that was never sent")]
pub struct Refused;

/// So much waits that the page must be gone or overwhelmed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("too much waits for the page")]
pub struct Overrun;

impl Stream {
    /// Nothing said, nothing heard.
    pub fn new(view: ViewId) -> Self {
        Self {
            view,
            heard: 0,
            told: 0,
            withheld: 0,
            confirmed: 0,
            unconfirmed: VecDeque::new(),
            flying: 0,
            bytes: 0,
            queued: 0,
            owes: false,
        }
    }

    /// Says one thing; [`Self::write`] tells what of it goes out now.
    pub fn say(&mut self, told: &ToPage) -> Result<(), Overrun> {
        let text = told.print();
        self.queued += text.len();
        self.unconfirmed.push_back(text);
        if self.unconfirmed.len() > MESSAGES * 64 { Err(Overrun) } else { Ok(()) }
    }

    /// Takes the counters of an envelope; returns whether what it says is new.
    pub fn take(&mut self, seq: Option<u64>, ack: u64) -> Result<bool, Refused> {
        let ahead = ack > self.confirmed + self.flying as u64;
        let gap = seq.is_some_and(|seq| seq > self.heard + 1 || seq == 0);
        if ahead || gap {
            return Err(Refused);
        }
        while self.confirmed < ack {
            let text = self.unconfirmed.pop_front().expect("what flies is kept until confirmed");
            self.bytes -= text.len();
            self.queued -= text.len();
            self.flying -= 1;
            self.confirmed += 1;
        }
        let Some(seq) = seq else { return Ok(false) };
        self.owes = true;
        let new = seq > self.heard;
        self.heard = self.heard.max(seq);
        Ok(new)
    }

    /// The next envelope that may be written, if there is one and the page has room for it.
    pub fn write(&mut self) -> Option<String> {
        let room = self.flying < MESSAGES && (self.flying == 0 || self.bytes < BYTES);
        let text = self.unconfirmed.get(self.flying).filter(|_| room)?;
        self.bytes += text.len();
        self.flying += 1;
        Some(self.envelope(self.flying - 1))
    }

    /// Does not confirm the last so many frames for now; what has been confirmed stays so.
    pub fn withhold(&mut self, last: u64) {
        self.withheld = last;
        self.owes |= self.ack() > self.told;
    }

    fn ack(&self) -> u64 {
        self.heard.saturating_sub(self.withheld).max(self.told)
    }

    /// The confirmation that is due, if nothing that was written has it in it already.
    pub fn confirm(&mut self) -> Option<String> {
        let due = std::mem::take(&mut self.owes);
        self.told = self.ack();
        due.then(|| format!(r#"{{"view":"{}","ack":{}}}"#, self.view, self.told))
    }

    /// The size of everything that the page has not confirmed, in bytes.
    pub fn queued(&self) -> usize {
        self.queued
    }

    /// Everything that flew when the connection broke, to be written again.
    pub fn repeat(&mut self) -> Vec<String> {
        (0..self.flying).map(|index| self.envelope(index)).collect()
    }

    /// A page that was loaded anew has heard and said nothing; what waited for the old one is moot.
    pub fn restart(&mut self) {
        *self = Self::new(self.view.clone());
    }

    fn envelope(&mut self, index: usize) -> String {
        self.owes = false;
        self.told = self.ack();
        let seq = self.confirmed + index as u64 + 1;
        let Self { view, told, unconfirmed, .. } = self;
        format!(r#"{{"view":"{view}","seq":{seq},"ack":{told},{}}}"#, unconfirmed[index])
    }
}

/// What may be under way unconfirmed, per view.
const MESSAGES: usize = 256;
const BYTES: usize = 4 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    fn stream() -> Stream {
        Stream::new(ViewId::parse("v1").unwrap())
    }

    fn say(stream: &mut Stream, text: &str) {
        stream.say(&ToPage::Message(text.to_owned())).unwrap();
    }

    #[test]
    fn what_is_withheld_is_confirmed_later_and_nothing_twice() {
        let mut stream = stream();
        for seq in 1..=5 {
            assert_eq!(stream.take(Some(seq), 0), Ok(true));
        }
        stream.withhold(3);
        assert_eq!(stream.confirm().unwrap(), r#"{"view":"v1","ack":2}"#);
        stream.withhold(4);
        assert_eq!(stream.confirm(), None, "a confirmation is not taken back");
        say(&mut stream, "{}");
        assert_eq!(stream.write().unwrap(), r#"{"view":"v1","seq":1,"ack":2,"message":{}}"#);
        assert_eq!(stream.take(Some(4), 0), Ok(false), "heard, if not confirmed");
        stream.withhold(0);
        assert_eq!(stream.confirm().unwrap(), r#"{"view":"v1","ack":5}"#);
        assert_eq!(stream.confirm(), None);
    }

    #[test]
    fn what_is_said_is_written_once_and_kept_until_confirmed() {
        let mut stream = stream();
        say(&mut stream, "{}");
        assert_eq!(stream.write().unwrap(), r#"{"view":"v1","seq":1,"ack":0,"message":{}}"#);
        assert_eq!(stream.write(), None);
        assert_eq!(stream.repeat().len(), 1);
        assert_eq!(stream.take(None, 1), Ok(false));
        assert_eq!(stream.repeat().len(), 0);
    }

    #[test]
    fn the_window_is_bounded_in_number_and_bytes() {
        let mut many = stream();
        (0..1_000).for_each(|_| say(&mut many, "{}"));
        assert_eq!(std::iter::from_fn(|| many.write()).count(), MESSAGES);
        many.take(None, 10).unwrap();
        assert_eq!(std::iter::from_fn(|| many.write()).count(), 10);
        let mut large = stream();
        let megabyte = format!(r#""{}""#, "x".repeat(1 << 20));
        (0..20).for_each(|_| say(&mut large, &megabyte));
        assert_eq!(std::iter::from_fn(|| large.write()).count(), 4);
        let mut huge = stream();
        say(&mut huge, &format!(r#""{}""#, "x".repeat(5 << 20)));
        assert!(huge.write().is_some(), "one may exceed the size when it is alone");
    }

    #[test]
    fn what_is_queued_is_counted_until_it_is_confirmed() {
        let mut stream = stream();
        let one = ToPage::Message("{}".to_owned()).print().len();
        (0..1_000).for_each(|_| say(&mut stream, "{}"));
        assert_eq!(stream.queued(), 1_000 * one);
        while stream.write().is_some() {}
        stream.take(None, 10).unwrap();
        assert_eq!(stream.queued(), 990 * one);
        stream.restart();
        assert_eq!(stream.queued(), 0);
    }

    #[test]
    fn doubles_are_dropped_and_confirmed_gaps_are_refused() {
        let mut stream = stream();
        assert_eq!(stream.take(Some(1), 0), Ok(true));
        assert_eq!(stream.confirm().unwrap(), r#"{"view":"v1","ack":1}"#);
        assert_eq!(stream.confirm(), None);
        assert_eq!(stream.take(Some(1), 0), Ok(false));
        assert!(stream.confirm().is_some(), "confirmed again");
        assert_eq!(stream.take(Some(3), 0), Err(Refused));
        assert_eq!(stream.take(Some(0), 0), Err(Refused));
        assert_eq!(stream.take(None, 1), Err(Refused), "an ack from the future");
    }

    #[test]
    fn an_endless_queue_is_given_up() {
        let mut stream = stream();
        let told = ToPage::Message("{}".to_owned());
        assert!((0..MESSAGES * 64).all(|_| stream.say(&told).is_ok()));
        assert_eq!(stream.say(&told), Err(Overrun));
    }
}
