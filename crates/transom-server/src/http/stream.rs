//! Responses that arrive bit by bit: the view pulls them by tool calls, and nothing is read from the backend before it does.
//!
//! ```text
//! http_request ──▶ streamId ──▶ http_stream_read {offset} ──▶ bytes, nextOffset ──▶ … ──▶ done
//!                                   │ confirms all before offset           └──cancel, silence, end──▶ gone
//! ```

use std::collections::HashMap;
use std::sync::{Arc, Mutex, Weak};
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::failure::Failure;
use super::incoming::Incoming;

/// The streams that are open.
pub(crate) struct Streams {
    open: Mutex<HashMap<String, Arc<Stream>>>,
    idle: Duration,
    whole: Duration,
}

/// One response that is read bit by bit.
struct Stream {
    /// Who opened it; no other app reads it (FSE-13).
    person: String,
    begun: Instant,
    touched: Mutex<Instant>,
    reading: tokio::sync::Mutex<Reading>,
}

struct Reading {
    incoming: Incoming,
    /// Where `held` begins: everything before it was confirmed.
    start: u64,
    /// What was read from the backend and is not confirmed yet, so that an answer that was lost can be given again.
    held: BytesMut,
    end: Option<Result<(), Failure>>,
}

/// The arguments of `http_stream_read`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Read {
    pub(crate) stream_id: String,
    offset: u64,
    #[serde(default)]
    max_bytes: Option<u64>,
    #[serde(default)]
    wait_ms: Option<u64>,
}

/// The arguments of `http_stream_cancel`.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Cancel {
    pub(crate) stream_id: String,
}

impl Streams {
    pub(crate) fn new(idle: Duration, whole: Duration) -> Self {
        Self { open: Mutex::default(), idle, whole }
    }

    /// Opens a stream for a person. `first` is what was read already.
    pub(crate) fn open(
        self: &Arc<Self>,
        person: &str,
        first: Bytes,
        incoming: Incoming,
    ) -> Result<String, Failure> {
        let mut open = self.open.lock().expect("no holder panics");
        let theirs = open.values().filter(|stream| stream.person == person).count();
        if theirs >= PER_PERSON || open.len() >= IN_ALL {
            return Err(Failure::blocked("too many streams are open"));
        }
        let mut secret = [0; 16];
        getrandom::fill(&mut secret).map_err(|error| Failure::network(&error))?;
        let id = format!("{:032x}", u128::from_be_bytes(secret));
        let reading = Reading { incoming, start: 0, held: first.as_ref().into(), end: None };
        let now = Instant::now();
        let stream = Arc::new(Stream {
            person: person.to_owned(),
            begun: now,
            touched: Mutex::new(now),
            reading: tokio::sync::Mutex::new(reading),
        });
        tokio::spawn(expire(Arc::downgrade(self), id.clone(), Arc::downgrade(&stream)));
        open.insert(id.clone(), stream);
        Ok(id)
    }

    /// How long a stream lives that is not read.
    pub(crate) fn idle(&self) -> Duration {
        self.idle
    }

    /// How long a stream lives at most.
    pub(crate) fn whole(&self) -> Duration {
        self.whole
    }

    /// Reads on from an offset; waits for bytes, though not for long.
    pub(crate) async fn read(&self, person: &str, read: Read) -> Result<Value, Failure> {
        let stream = self.find(person, &read.stream_id)?;
        let most = read.max_bytes.unwrap_or(CHUNK).clamp(1, CHUNK);
        let wait = Duration::from_millis(read.wait_ms.unwrap_or(MAX_WAIT))
            .min(Duration::from_millis(MAX_WAIT));
        let mut reading = stream.reading.lock().await;
        stream.touch();
        let answer =
            reading.read(read.offset, usize::try_from(most).unwrap_or(usize::MAX), wait).await;
        stream.touch();
        answer
    }

    /// Ends a stream, and with it the backend's response. One that is gone already stays gone.
    pub(crate) fn cancel(&self, person: &str, id: &str) {
        if self.find(person, id).is_ok() {
            self.remove(id);
        }
    }

    fn find(&self, person: &str, id: &str) -> Result<Arc<Stream>, Failure> {
        let open = self.open.lock().expect("no holder panics");
        // A stream of another app looks like none at all (STR-9).
        let found = open.get(id).filter(|stream| stream.person == person);
        found
            .cloned()
            .ok_or_else(|| Failure::bad_request("there is no such stream, or it has expired"))
    }

    fn remove(&self, id: &str) {
        self.open.lock().expect("no holder panics").remove(id);
    }
}

impl Stream {
    fn touch(&self) {
        *self.touched.lock().expect("no holder panics") = Instant::now();
    }

    fn expires(&self, streams: &Streams) -> Instant {
        let touched = *self.touched.lock().expect("no holder panics");
        (touched + streams.idle).min(self.begun + streams.whole)
    }
}

/// Ends a stream that is not read, whether or not others are (STR-8).
async fn expire(streams: Weak<Streams>, id: String, stream: Weak<Stream>) {
    loop {
        let due = match (streams.upgrade(), stream.upgrade()) {
            (Some(streams), Some(stream)) => stream.expires(&streams),
            _ => return,
        };
        if due <= Instant::now() {
            if let Some(streams) = streams.upgrade() {
                streams.remove(&id);
            }
            return;
        }
        tokio::time::sleep_until(due).await;
    }
}

impl Reading {
    async fn read(&mut self, offset: u64, most: usize, wait: Duration) -> Result<Value, Failure> {
        let taken = offset.checked_sub(self.start).and_then(|taken| usize::try_from(taken).ok());
        let Some(taken) = taken.filter(|taken| *taken <= self.held.len()) else {
            return Err(Failure::bad_request("the offset is not where this stream is"));
        };
        self.held.advance(taken);
        self.start = offset;
        let until = Instant::now() + wait;
        if self.held.is_empty() && self.end.is_none() {
            self.fill(until).await;
        }
        // What is there already comes along; the read does not wait for more.
        while !self.held.is_empty() && self.held.len() < most && self.end.is_none() {
            if !self.fill(Instant::now()).await {
                break;
            }
        }
        let data = &self.held[..self.held.len().min(most)];
        let next = self.start + data.len() as u64;
        let last = data.len() == self.held.len();
        let mut answer = json!({ "offset": self.start, "data": super::body::encode(data), "nextOffset": next, "done": false });
        if let Some(end) = self.end.as_ref().filter(|_| last) {
            answer["done"] = true.into();
            if let Err(failure) = end {
                answer["error"] =
                    json!({ "code": failure.code.as_str(), "message": failure.words });
            }
        }
        Ok(answer)
    }

    /// Reads one piece from the backend; false if there is none by then.
    async fn fill(&mut self, until: Instant) -> bool {
        match tokio::time::timeout_at(until, self.incoming.next()).await {
            Err(_) => return false,
            Ok(Ok(Some(bytes))) => self.held.extend_from_slice(&bytes),
            Ok(Ok(None)) => self.end = Some(Ok(())),
            Ok(Err(failure)) => self.end = Some(Err(failure)),
        }
        true
    }
}

/// What one read brings, at most; it is also all that is held for a stream, beside one piece of the backend's.
pub(crate) const CHUNK: u64 = 256 << 10;
/// Below the time after which hosts and proxies give a call up.
const MAX_WAIT: u64 = 25_000;
/// STR-10.
const PER_PERSON: usize = 16;
const IN_ALL: usize = 1_024;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use http::HeaderMap;
    use http_body_util::{BodyExt, Full};

    use super::super::backend::Coming;
    use super::*;

    const NEVER: Duration = Duration::from_secs(1_000_000);

    fn incoming(body: Coming) -> Incoming {
        Incoming::new(body, &HeaderMap::new(), NEVER).expect("it is not packed")
    }

    fn full(bytes: Vec<u8>) -> Incoming {
        incoming(
            Full::new(Bytes::from(bytes))
                .map_err(|never: Infallible| match never {})
                .boxed_unsync(),
        )
    }

    fn silent() -> Incoming {
        incoming(Silent.boxed_unsync())
    }

    /// A body that never says anything.
    struct Silent;

    impl http_body::Body for Silent {
        type Data = Bytes;
        type Error = super::super::backend::BoxError;

        fn poll_frame(
            self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<http_body::Frame<Bytes>, Self::Error>>> {
            Poll::Pending
        }
    }

    fn streams() -> Arc<Streams> {
        Arc::new(Streams::new(Duration::from_secs(60), Duration::from_secs(600)))
    }

    fn read(id: &str, offset: u64) -> Read {
        Read { stream_id: id.to_owned(), offset, max_bytes: Some(4), wait_ms: Some(10) }
    }

    // STR-1, STR-11: an answer that was lost is given again, and none twice.
    #[tokio::test]
    async fn str_11_what_was_not_confirmed_is_given_again() {
        let streams = streams();
        let id = streams
            .open("ada", Bytes::from_static(b"01"), full(b"23456789".to_vec()))
            .expect("there is room");
        let go = async |offset| {
            streams.read("ada", read(&id, offset)).await.map_err(|failure| failure.words)
        };
        let first = go(0).await.expect("it is there");
        assert_eq!(
            first,
            json!({ "offset": 0, "data": "MDEyMw==", "nextOffset": 4, "done": false })
        );
        assert_eq!(go(0).await, Ok(first), "the same again");
        assert_eq!(go(4).await.expect("it is there")["data"], "NDU2Nw==");
        assert_eq!(go(6).await.expect("it is there")["data"], "Njc4OQ==");
        let end = go(10).await.expect("it is there");
        assert_eq!(end, json!({ "offset": 10, "data": "", "nextOffset": 10, "done": true }));
        assert_eq!(go(10).await, Ok(end));
    }

    // ATK-54, STR-9: offsets that are not where the stream is, and handles of another app or of none.
    #[tokio::test]
    async fn atk_54_wrong_offsets_and_handles_are_refused() {
        let streams = streams();
        let id =
            streams.open("ada", Bytes::new(), full(b"0123456789".to_vec())).expect("there is room");
        streams.read("ada", read(&id, 0)).await.expect("it is there");
        streams.read("ada", read(&id, 4)).await.expect("it is there");
        for offset in [0, 3, 11, 1_000, u64::MAX] {
            assert!(streams.read("ada", read(&id, offset)).await.is_err(), "{offset}");
        }
        assert!(streams.read("ada", read(&id, 8)).await.is_ok(), "a refused read changes nothing");
        let [other, none] =
            [streams.read("eve", read(&id, 8)).await, streams.read("ada", read("0", 8)).await];
        assert_eq!(other, none);
        streams.cancel("eve", &id);
        assert!(streams.read("ada", read(&id, 8)).await.is_ok(), "no other app ends it");
        streams.cancel("ada", &id);
        assert!(streams.read("ada", read(&id, 8)).await.is_err());
        for arguments in [
            json!({ "streamId": id }),
            json!({ "streamId": id, "offset": -1 }),
            json!({ "streamId": id, "offset": 0.5 }),
            json!({ "streamId": id, "offset": null }),
            json!({ "streamId": 7, "offset": 0 }),
        ] {
            assert!(serde_json::from_value::<Read>(arguments.clone()).is_err(), "{arguments}");
        }
    }

    // ATK-56, STR-8, STR-10: many that are not read are not opened, and do not stay.
    #[tokio::test(start_paused = true)]
    async fn atk_56_streams_are_few_and_expire() {
        let streams = streams();
        let open = |person: &str| streams.open(person, Bytes::new(), silent());
        let ids: Vec<_> = (0..10_000).filter_map(|_| open("ada").ok()).collect();
        assert_eq!(ids.len(), PER_PERSON);
        let eves = open("eve").expect("another person has their own");
        tokio::time::sleep(Duration::from_secs(40)).await;
        let still = streams.read("ada", read(&ids[0], 0)).await.expect("it is open");
        assert_eq!(
            still,
            json!({ "offset": 0, "data": "", "nextOffset": 0, "done": false }),
            "nothing has come yet"
        );
        tokio::time::sleep(Duration::from_secs(40)).await;
        assert!(
            streams.read("ada", read(&ids[1], 0)).await.is_err(),
            "it was not read for a minute"
        );
        assert!(streams.read("eve", read(&eves, 0)).await.is_err());
        assert!(streams.read("ada", read(&ids[0], 0)).await.is_ok());
        for _ in 0..20 {
            tokio::time::sleep(Duration::from_secs(30)).await;
            let _ = streams.read("ada", read(&ids[0], 0)).await;
        }
        assert!(
            streams.read("ada", read(&ids[0], 0)).await.is_err(),
            "no stream lives longer than ten minutes"
        );
        assert_eq!(streams.open.lock().expect("no holder panics").len(), 0);
    }
}
