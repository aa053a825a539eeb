//! A response's body while it arrives: unpacked, counted, and given up when it takes too long.

use std::io::Write;
use std::time::Duration;

use bytes::{Buf, Bytes, BytesMut};
use flate2::write::MultiGzDecoder;
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt;
use tokio::time::Instant;

use super::backend::Coming;
use super::failure::Failure;

/// A response's body while it arrives.
pub(crate) struct Incoming {
    body: Coming,
    packed: Packed,
    /// Bytes that came and are not unpacked yet.
    waiting: Bytes,
    idle: Duration,
    ended: bool,
}

enum Packed {
    Not,
    Gzip(Box<MultiGzDecoder<Vec<u8>>>),
}

impl Incoming {
    pub(crate) fn new(body: Coming, headers: &HeaderMap, idle: Duration) -> Result<Self, Failure> {
        let encoding = headers.get(CONTENT_ENCODING).map_or(&b""[..], |value| value.as_bytes());
        let packed = match encoding.to_ascii_lowercase().as_slice() {
            b"" | b"identity" => Packed::Not,
            b"gzip" | b"x-gzip" => Packed::Gzip(Box::new(MultiGzDecoder::new(Vec::new()))),
            // The request asked for no other one, and bytes that the view cannot read are no answer.
            _ => {
                return Err(Failure::protocol("the backend packed its response in an unknown way"));
            }
        };
        Ok(Self { body, packed, waiting: Bytes::new(), idle, ended: false })
    }

    /// The next bytes, unpacked; none at the end. At most about a megabyte at once, whatever they were packed into (FSE-9).
    pub(crate) async fn next(&mut self) -> Result<Option<Bytes>, Failure> {
        loop {
            while self.waiting.has_remaining() {
                let unpacked = self.unpack()?;
                if !unpacked.is_empty() {
                    return Ok(Some(unpacked));
                }
            }
            if self.ended {
                return Ok(None);
            }
            let frame = tokio::time::timeout(self.idle, self.body.frame());
            match frame.await.map_err(|_| Failure::timeout())? {
                None => {
                    self.ended = true;
                    let rest = self.finish()?;
                    return Ok((!rest.is_empty()).then_some(rest));
                }
                Some(Err(error)) => return Err(Failure::network(&error)),
                Some(Ok(frame)) => self.waiting = frame.into_data().unwrap_or_default(),
            }
        }
    }

    /// For how long the backend may be silent from now on.
    pub(crate) fn silent_for(mut self, idle: Duration) -> Self {
        self.idle = idle;
        self
    }

    /// All of it, if it comes by then and is no more than `most`; otherwise what came, with the rest.
    pub(crate) async fn all_by(
        mut self,
        until: Instant,
        most: usize,
    ) -> Result<(Bytes, Option<Self>), Failure> {
        let mut all = BytesMut::new();
        while all.len() <= most {
            match tokio::time::timeout_at(until, self.next()).await {
                Ok(Ok(Some(bytes))) => all.extend_from_slice(&bytes),
                Ok(Ok(None)) => return Ok((all.freeze(), None)),
                Ok(Err(failure)) => return Err(failure),
                Err(_) => break,
            }
        }
        Ok((all.freeze(), Some(self)))
    }

    /// All of it, or a refusal as soon as it is more than `most`.
    pub(crate) async fn all(mut self, most: usize) -> Result<Bytes, Failure> {
        let mut all = Vec::new();
        while let Some(bytes) = self.next().await? {
            if all.len() + bytes.len() > most {
                return Err(Failure::too_large("the response is larger than this route takes"));
            }
            all.extend_from_slice(&bytes);
        }
        Ok(all.into())
    }

    fn unpack(&mut self) -> Result<Bytes, Failure> {
        let piece = match self.packed {
            Packed::Not => return Ok(std::mem::take(&mut self.waiting)),
            _ => self.waiting.split_to(self.waiting.len().min(PIECE)),
        };
        let unpacked = match &mut self.packed {
            Packed::Not => Ok(Vec::new()),
            Packed::Gzip(decoder) => {
                decoder.write_all(&piece).map(|()| std::mem::take(decoder.get_mut()))
            }
        };
        unpacked.map(Bytes::from).map_err(|error| Failure::network(&error))
    }

    fn finish(&mut self) -> Result<Bytes, Failure> {
        let rest = match &mut self.packed {
            Packed::Not => Ok(Vec::new()),
            Packed::Gzip(decoder) => {
                decoder.try_finish().map(|()| std::mem::take(decoder.get_mut()))
            }
        };
        rest.map(Bytes::from).map_err(|error| Failure::network(&error))
    }
}

/// What is unpacked at once: a thousand times as much, at worst.
const PIECE: usize = 1024;

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use flate2::Compression;
    use flate2::write::GzEncoder;
    use http::HeaderValue;
    use http_body_util::Full;

    use super::*;

    fn incoming(bytes: Vec<u8>, encoding: &'static str) -> Result<Incoming, Failure> {
        let body = Full::new(Bytes::from(bytes))
            .map_err(|never: Infallible| match never {})
            .boxed_unsync();
        let headers =
            [(CONTENT_ENCODING, HeaderValue::from_static(encoding))].into_iter().collect();
        Incoming::new(body, &headers, Duration::from_secs(1))
    }

    fn gzip(bytes: &[u8]) -> Vec<u8> {
        let mut gzip = GzEncoder::new(Vec::new(), Compression::best());
        gzip.write_all(bytes).expect("it is memory");
        gzip.finish().expect("it is memory")
    }

    #[tokio::test]
    async fn packed_bodies_are_unpacked() {
        let text = b"hello ".repeat(10_000);
        for (packed, encoding) in
            [(gzip(&text), "GZip"), (text.clone(), "identity"), (text.clone(), "")]
        {
            let all = incoming(packed, encoding).expect("it is known").all(text.len()).await;
            assert_eq!(all.as_deref(), Ok(&text[..]), "{encoding}");
        }
        let packed = gzip(&text);
        let half = packed[..packed.len() / 2].to_vec();
        assert!(
            incoming(half, "gzip").expect("it is known").all(text.len()).await.is_err(),
            "it ends early"
        );
        assert!(
            incoming(b"no gzip at all".to_vec(), "gzip")
                .expect("it is known")
                .all(1_000)
                .await
                .is_err()
        );
        assert!(incoming(text, "br").is_err());
    }

    // ATK-49, FSE-9: a megabyte that unpacks to a gigabyte is given up at the limit, and little of it is held at once.
    #[tokio::test]
    async fn atk_49_a_bomb_is_given_up_at_the_limit() {
        let bomb = gzip(&vec![0; 1 << 20]).repeat(1_024);
        assert!(bomb.len() < 2 << 20);
        let mut body = incoming(bomb.clone(), "gzip").expect("it is known");
        let mut total = 0;
        while total < 16 << 20 {
            let piece = body.next().await.expect("it is sound").expect("it goes on").len();
            assert!(piece <= 2 << 20, "{piece} bytes at once");
            total += piece;
        }
        let all = incoming(bomb, "gzip").expect("it is known").all(10 << 20).await;
        assert_eq!(all.map_err(|failure| failure.code), Err(super::super::failure::Code::TooLarge));
    }
}
