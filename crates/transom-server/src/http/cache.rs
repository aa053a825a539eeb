//! Responses that are kept for a while, for each person apart (REQ-8).

use std::collections::{HashMap, VecDeque};
use std::sync::Mutex;
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, StatusCode};
use tokio::time::Instant;

use super::ask::CacheMode;
use super::path::Target;

/// A response that is whole.
#[derive(Clone, Debug)]
pub(crate) struct Whole {
    pub(crate) status: StatusCode,
    pub(crate) headers: HeaderMap,
    pub(crate) bytes: Bytes,
    pub(crate) target: Target,
    pub(crate) redirected: bool,
}

/// Who asked, for what, and with which headers: whatever differs in one of them is another response (ATK-53).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Key {
    person: String,
    address: String,
    headers: Vec<(String, Vec<u8>)>,
}

impl Key {
    pub(crate) fn new(person: &str, target: &Target, sent: &HeaderMap) -> Self {
        let mut headers: Vec<_> = sent
            .iter()
            .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
            .collect();
        headers.sort();
        Self { person: person.to_owned(), address: target.relative().to_owned(), headers }
    }
}

/// Responses that are kept.
pub(crate) struct Cache {
    most: usize,
    kept: Mutex<Kept>,
}

#[derive(Default)]
struct Kept {
    entries: HashMap<Key, (Whole, Instant)>,
    oldest_first: VecDeque<Key>,
    bytes: usize,
}

impl Cache {
    /// Keeps at most so many bytes of bodies.
    pub(crate) fn new(most: usize) -> Self {
        Self { most, kept: Mutex::default() }
    }

    /// A response that is good for this mode.
    pub(crate) fn find(&self, key: &Key, mode: CacheMode) -> Option<Whole> {
        let kept = self.kept.lock().expect("no holder panics");
        let (whole, fresh_until) = kept.entries.get(key)?;
        let good = match mode {
            CacheMode::NoStore | CacheMode::Reload | CacheMode::NoCache => false,
            CacheMode::Default => Instant::now() < *fresh_until,
            CacheMode::ForceCache | CacheMode::OnlyIfCached => true,
        };
        good.then(|| whole.clone())
    }

    /// Keeps a response, if it says that it may be kept.
    pub(crate) fn keep(&self, key: Key, whole: &Whole) {
        let Some(lifetime) = lifetime(whole).filter(|_| whole.bytes.len() <= self.most / 4) else {
            return;
        };
        let mut kept = self.kept.lock().expect("no holder panics");
        kept.forget(&key);
        kept.bytes += whole.bytes.len() + OVERHEAD;
        kept.oldest_first.push_back(key.clone());
        kept.entries.insert(key, (whole.clone(), Instant::now() + lifetime));
        while kept.bytes > self.most {
            let Some(oldest) = kept.oldest_first.front().cloned() else { break };
            kept.forget(&oldest);
        }
    }
}

impl Kept {
    fn forget(&mut self, key: &Key) {
        if let Some((whole, _)) = self.entries.remove(key) {
            self.bytes -= whole.bytes.len() + OVERHEAD;
            self.oldest_first.retain(|kept| kept != key);
        }
    }
}

/// For how long a response may be used without asking; none if it may not be kept.
fn lifetime(whole: &Whole) -> Option<Duration> {
    if whole.status != StatusCode::OK
        || whole.headers.get("vary").is_some_and(|vary| vary.as_bytes().contains(&b'*'))
    {
        return None;
    }
    let control = whole.headers.get_all("cache-control").iter();
    let control: Vec<_> =
        control.filter_map(|value| value.to_str().ok()).map(str::to_ascii_lowercase).collect();
    let mut directives = control.iter().flat_map(|value| value.split(',')).map(str::trim);
    if directives.clone().any(|directive| directive == "no-store") {
        return None;
    }
    if directives.clone().any(|directive| directive == "no-cache") {
        return Some(Duration::ZERO);
    }
    let seconds = directives.find_map(|directive| directive.strip_prefix("max-age=")?.parse().ok());
    Some(Duration::from_secs(seconds.unwrap_or(0u64).min(MAX_AGE)))
}

/// What an entry costs beside its body.
const OVERHEAD: usize = 1024;
/// A year, which is what "for ever" is written as.
const MAX_AGE: u64 = 31_536_000;
