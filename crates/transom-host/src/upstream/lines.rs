//! Lines of bounded length.

use std::io;

use tokio::io::{AsyncRead, AsyncReadExt};

use super::salvage;

/// Reads lines, keeping no more of one than the limit.
#[derive(Debug)]
pub(super) struct Lines<R> {
    source: R,
    limit: usize,
    buffer: Vec<u8>,
    /// Where the line that comes next begins.
    start: usize,
    /// How far behind `start` there is certainly no newline.
    scanned: usize,
    skipping: Option<Skipped>,
}

/// One line.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Line<'a> {
    /// All of it, without what ends it.
    Whole(&'a [u8]),
    /// Longer than the limit. Told once, when the limit is passed, or again at its end if only then
    /// something is known.
    TooLong {
        /// The request it was meant to answer, if that can be told.
        answers: Option<u64>,
    },
}

/// A line that is read to its end and not kept.
#[derive(Debug)]
struct Skipped {
    head: Vec<u8>,
    told: bool,
}

impl<R: AsyncRead + Unpin> Lines<R> {
    pub(super) fn new(source: R, limit: usize) -> Self {
        Self { source, limit, buffer: Vec::new(), start: 0, scanned: 0, skipping: None }
    }

    /// Waits for the next line; a last one without an end counts.
    pub(super) async fn next(&mut self) -> io::Result<Option<Line<'_>>> {
        loop {
            if let Some(length) = self.find_end() {
                return Ok(Some(self.take(length)));
            }
            if let Some(answers) = self.overflow() {
                return Ok(Some(Line::TooLong { answers }));
            }
            if self.fill().await? == 0 {
                return Ok(self.last());
            }
        }
    }

    /// The length of the line at `start`, if its end is there.
    fn find_end(&mut self) -> Option<usize> {
        let unseen = &self.buffer[self.start + self.scanned..];
        let found = memchr::memchr(b'\n', unseen);
        let length = found.map(|offset| self.scanned + offset);
        self.scanned = self.buffer.len() - self.start;
        length
    }

    fn take(&mut self, length: usize) -> Line<'_> {
        let line = self.start..self.start + length;
        self.start = line.end + 1;
        self.scanned = 0;
        match self.skipping.take() {
            None if length > self.limit => {
                Line::TooLong { answers: salvage::answered(&self.buffer[line]) }
            }
            None => Line::Whole(&self.buffer[line]),
            Some(skipped) => skipped.end(&self.buffer[line]),
        }
    }

    /// Lets go of a line that has become too long; says whom it answers as soon as that is known.
    fn overflow(&mut self) -> Option<Option<u64>> {
        let pending = &self.buffer[self.start..];
        if pending.len() <= self.limit && self.skipping.is_none() {
            return None;
        }
        let news = self.skipping.is_none().then(|| {
            let head = pending[..pending.len().min(KEPT)].to_vec();
            let answers = salvage::answered(&head);
            self.skipping = Some(Skipped { head, told: answers.is_some() });
            answers
        });
        // The end of what came so far stays: the id may be there.
        let keep = pending.len().min(KEPT);
        let gone = self.buffer.len() - keep;
        self.buffer.drain(..gone);
        self.start = 0;
        self.scanned = keep;
        news.filter(Option::is_some)
    }

    async fn fill(&mut self) -> io::Result<usize> {
        if self.start == self.buffer.len() {
            self.buffer.clear();
            // One long line must not hold its memory for ever.
            self.buffer.shrink_to(KEPT_CAPACITY);
            self.start = 0;
        } else if self.start > self.buffer.len() / 2 {
            self.buffer.drain(..self.start);
            self.start = 0;
        }
        self.buffer.reserve(CHUNK);
        self.source.read_buf(&mut self.buffer).await
    }

    /// What is left when the source has ended.
    fn last(&mut self) -> Option<Line<'_>> {
        let length = self.buffer.len() - self.start;
        (length > 0 || self.skipping.is_some()).then(|| {
            let line = self.start..self.buffer.len();
            self.start = line.end;
            self.scanned = 0;
            match self.skipping.take() {
                None => Line::Whole(&self.buffer[line]),
                Some(skipped) => skipped.end(&self.buffer[line]),
            }
        })
    }
}

impl Skipped {
    fn end(mut self, tail: &[u8]) -> Line<'static> {
        if self.told {
            return Line::TooLong { answers: None };
        }
        // What was left out can only hold the result; a newline keeps the two ends apart.
        self.head.push(b'\n');
        self.head.extend_from_slice(tail);
        Line::TooLong { answers: salvage::answered(&self.head) }
    }
}

/// How much of a line that is too long is kept, at either end.
const KEPT: usize = 4 << 10;
/// How much is read at once: as much as a pipe holds.
const CHUNK: usize = 64 << 10;
/// How much memory stays with a reader between lines.
const KEPT_CAPACITY: usize = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads all lines of a text that arrives in pieces of the given size.
    async fn lines(text: &[u8], piece: usize, limit: usize) -> Vec<String> {
        let (mut here, there) = tokio::io::duplex(piece);
        let text = text.to_vec();
        tokio::spawn(async move {
            tokio::io::AsyncWriteExt::write_all(&mut here, &text).await.unwrap();
        });
        let mut lines = Lines::new(there, limit);
        let mut seen = vec![];
        while let Some(line) = lines.next().await.unwrap() {
            seen.push(match line {
                Line::Whole(line) => String::from_utf8_lossy(line).into_owned(),
                Line::TooLong { answers } => format!("{answers:?}"),
            });
        }
        seen
    }

    #[tokio::test]
    async fn lines_come_whole_however_they_arrive() {
        for piece in [1, 2, 7, 100] {
            let seen = lines(b"one\n\nthree\r\nlast", piece, 100).await;
            assert_eq!(seen, ["one", "", "three\r", "last"], "{piece}");
        }
    }

    #[tokio::test]
    async fn a_line_that_is_too_long_is_told_and_not_kept() {
        let padding = "x".repeat(50_000);
        let first = format!(r#"{{"jsonrpc":"2.0","id":7,"result":{{"a":"{padding}"}}}}"#);
        let last = format!(r#"{{"result":{{"a":"{padding}"}},"jsonrpc":"2.0","id":8}}"#);
        for piece in [100, 4096, 100_000] {
            let text = format!("{first}\nshort\n{last}\n{padding}\nend\n");
            let seen = lines(text.as_bytes(), piece, 10_000).await;
            let told: Vec<&str> =
                seen.iter().map(|line| &**line).filter(|l| *l != "None").collect();
            assert_eq!(told, ["Some(7)", "short", "Some(8)", "end"], "{piece}");
        }
    }
}
