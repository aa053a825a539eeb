//! Reads a trace: all that can be read of it, and in words what cannot.

use std::io::{self, BufRead};

use serde::Deserialize;
use sha2::{Digest as _, Sha256};

use super::{Moment, line::VERSION};

/// A trace from a file.
#[derive(Debug, Default)]
pub struct Trace {
    /// Its moments, in their order.
    pub moments: Vec<Moment>,
    /// What is wrong with it, in sentences.
    pub troubles: Vec<String>,
}

/// What may stand on any line.
#[derive(Deserialize)]
struct Any {
    #[serde(default)]
    transom: Option<String>,
    #[serde(default)]
    version: Option<u64>,
    #[serde(default)]
    kind: Option<String>,
    #[serde(default)]
    sha256: Option<String>,
}

impl Trace {
    /// Reads it line by line. Fails only where the file cannot be read; what is no trace at all has no moments.
    pub fn read(mut from: impl BufRead) -> io::Result<Self> {
        let mut reading = Reading::default();
        let mut line = vec![];
        loop {
            line.clear();
            if io::Read::take(&mut from, LONGEST).read_until(b'\n', &mut line)? == 0 {
                return Ok(reading.end());
            }
            reading.line(&line);
        }
    }

    /// The servers that it has messages of.
    pub fn servers(&self) -> Vec<&str> {
        let mut servers: Vec<&str> = vec![];
        for moment in self.moments.iter().filter(|moment| moment.view.is_none()) {
            if !moment.server.is_empty() && !servers.contains(&moment.server.as_str()) {
                servers.push(&moment.server);
            }
        }
        servers
    }
}

#[derive(Default)]
struct Reading {
    trace: Trace,
    hash: Sha256,
    /// The version of its head, once that was read.
    head: Option<u64>,
    unreadable: u64,
    /// Whether its end was read, and was right about what stands before it.
    end: Option<bool>,
}

impl Reading {
    fn line(&mut self, line: &[u8]) {
        let text = std::str::from_utf8(line).ok().map(str::trim).filter(|text| !text.is_empty());
        let any = text.and_then(|text| serde_json::from_str::<Any>(text).ok());
        match (any, text) {
            (Some(Any { kind: Some(kind), sha256, .. }), _) if kind == "end" => {
                let ours = data_encoding::HEXLOWER.encode(&self.hash.clone().finalize());
                self.end = Some(sha256.is_some_and(|theirs| theirs == ours));
            }
            (Some(Any { transom: Some(word), version, .. }), _) if word == "trace" => {
                let version = version.unwrap_or(u64::MAX);
                self.head.get_or_insert(version);
            }
            (Some(Any { kind: Some(_), .. }), Some(text)) => match serde_json::from_str(text) {
                Ok(moment) => self.trace.moments.push(moment),
                Err(_) => self.unreadable += 1,
            },
            (_, None) if line.trim_ascii().is_empty() => {}
            _ => self.unreadable += 1,
        }
        self.hash.update(line);
    }

    fn end(self) -> Trace {
        let Self { mut trace, head, unreadable, end, .. } = self;
        let mut say = |words: String| trace.troubles.push(words);
        match head {
            None => say("the first line does not say that this is a trace of Transom".to_owned()),
            Some(version) if version > VERSION.into() => say(format!(
                "it was written by a newer version (format {version}; this one knows {VERSION}), and may say more than is understood here"
            )),
            Some(_) => {}
        }
        if unreadable > 0 {
            say(format!("{unreadable} of its lines cannot be read, and are left out"));
        }
        match end {
            _ if head.is_none() => {}
            None => say("it has no end: it was cut off".to_owned()),
            Some(false) => say("it was changed after it was recorded".to_owned()),
            Some(true) => {}
        }
        trace
    }
}

/// The longest line: twice the longest message. What is longer is read as several, none of which is one.
const LONGEST: u64 = 64 << 20;
