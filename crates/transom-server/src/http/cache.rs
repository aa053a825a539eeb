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
    /// What stands for the headers that proved who asked; another token is another person.
    proof: [u64; 2],
    address: String,
    headers: Vec<(String, Vec<u8>)>,
}

impl Key {
    pub(crate) fn new(person: &str, proof: [u64; 2], target: &Target, sent: &HeaderMap) -> Self {
        let mut headers: Vec<_> = sent
            .iter()
            .map(|(name, value)| (name.to_string(), value.as_bytes().to_vec()))
            .collect();
        headers.sort();
        Self { person: person.to_owned(), proof, address: target.relative().to_owned(), headers }
    }

    fn size(&self) -> usize {
        let headers = self.headers.iter().map(|(name, value)| name.len() + value.len());
        self.person.len() + self.address.len() + headers.sum::<usize>()
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
    /// Keeps at most so many bytes, with all that is kept beside a body.
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
        let size = size(&key, whole);
        let Some(lifetime) = lifetime(whole).filter(|_| size <= self.most / 4) else { return };
        // What it was cut from is not kept along with it.
        let whole = Whole { bytes: Bytes::copy_from_slice(&whole.bytes), ..whole.clone() };
        let mut kept = self.kept.lock().expect("no holder panics");
        kept.forget(&key);
        kept.bytes += size;
        kept.oldest_first.push_back(key.clone());
        kept.entries.insert(key, (whole, Instant::now() + lifetime));
        while kept.bytes > self.most {
            let Some(oldest) = kept.oldest_first.front().cloned() else { break };
            kept.forget(&oldest);
        }
    }
}

impl Kept {
    fn forget(&mut self, key: &Key) {
        if let Some((whole, _)) = self.entries.remove(key) {
            self.bytes -= size(key, &whole);
            self.oldest_first.retain(|kept| kept != key);
        }
    }
}

/// What an entry takes: its body, its headers, its address, and the key that it is found by, of which there are two.
fn size(key: &Key, whole: &Whole) -> usize {
    let headers = whole.headers.iter().map(|(name, value)| name.as_str().len() + value.len());
    let address = whole.target.url().as_str().len();
    whole.bytes.len() + headers.sum::<usize>() + address + 2 * key.size() + OVERHEAD
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

/// What an entry costs beside its texts.
const OVERHEAD: usize = 1024;
/// A year, which is what "for ever" is written as.
const MAX_AGE: u64 = 31_536_000;

#[cfg(test)]
mod tests {
    use http::HeaderValue;
    use url::Url;

    use super::*;

    // ATK-53: headers and addresses are as large as a backend and a view like.
    #[test]
    fn all_that_is_kept_is_counted() {
        let base = Url::parse("http://localhost").expect("it is one");
        let cache = Cache::new(100 << 10);
        for at in 0..100 {
            let target =
                Target::parse(&base, &format!("/{at}?{}", "q".repeat(4_000))).expect("plain");
            let mut headers = HeaderMap::new();
            headers.insert("cache-control", HeaderValue::from_static("max-age=60"));
            headers.insert("x-large", HeaderValue::try_from("x".repeat(4_000)).expect("plain"));
            let key = Key::new("ada", [0; 2], &target, &headers);
            let (status, bytes) = (StatusCode::OK, Bytes::from_static(b"x"));
            cache.keep(key, &Whole { status, headers, bytes, target, redirected: false });
        }
        let kept = cache.kept.lock().expect("no holder panics");
        assert!((1..=6).contains(&kept.entries.len()), "{}", kept.entries.len());
        assert_eq!(kept.entries.len(), kept.oldest_first.len());
        let size: usize = kept.entries.iter().map(|(key, (whole, _))| size(key, whole)).sum();
        assert_eq!(size, kept.bytes);
    }
}
