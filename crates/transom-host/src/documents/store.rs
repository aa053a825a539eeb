//! Documents by address, read once, shared, and bounded.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard};

use bytes::Bytes;
use tokio::sync::OnceCell;
use transom::wire::UiUri;

use super::{
    Change, ContentHash, Document, MemoryPins, NotADocument, Pin, PinError, Pins, Review, Shows,
};

/// The documents a host has read, and the pins that tell which of them have changed.
///
/// Clones share everything. A document in use stays alive when it is put out of here.
#[derive(Clone)]
pub struct Store {
    shelf: Arc<Mutex<Shelf>>,
    pins: Arc<dyn Pins>,
    bounds: Bounds,
}

/// How much a [`Store`] keeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bounds {
    /// The most documents.
    pub documents: usize,
    /// The most bytes of HTML, equal documents counted once.
    pub bytes: usize,
}

impl Default for Bounds {
    fn default() -> Self {
        Self { documents: 512, bytes: 128 << 20 }
    }
}

/// Why a document could not be had.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Unread {
    /// The answer holds no document.
    #[error(transparent)]
    NotADocument(#[from] NotADocument),
    /// There was no answer; the words are the upstream's.
    #[error("the server did not answer resources/read: {0}")]
    NoAnswer(String),
}

impl Store {
    /// Makes an empty store.
    pub fn new(bounds: Bounds, pins: Arc<dyn Pins>) -> Self {
        Self { shelf: Arc::default(), pins, bounds }
    }

    /// Returns a document, reading it unless it is here or being read already.
    ///
    /// Whoever asks while it is being read waits for the same outcome, good or bad; a bad one is
    /// not remembered. If the one who reads gives up, one of those who wait reads instead.
    pub async fn get_or_read<F, R>(
        &self,
        server: &str,
        uri: &UiUri,
        read: F,
    ) -> Result<Arc<Document>, Unread>
    where
        F: FnOnce() -> R,
        R: Future<Output = Result<Document, Unread>>,
    {
        let key = Key::of(server, uri);
        let flight = match self.lock().find(&key) {
            Found::Kept(document) => return Ok(document),
            Found::Flight(flight) => flight,
        };
        let outcome = flight.get_or_init(|| async { read().await.map(Arc::new) }).await;
        self.lock().land(&key, &flight, outcome.clone(), self.bounds)
    }

    /// Returns a document if it is here.
    pub fn get(&self, server: &str, uri: &UiUri) -> Option<Arc<Document>> {
        self.lock().kept(&Key::of(server, uri))
    }

    /// Forgets a server's documents: its list has changed, or it is gone (H-06).
    ///
    /// What is being read now goes to those who wait for it and is not kept.
    pub fn invalidate(&self, server: &str) {
        self.lock().invalidate(server);
    }

    /// A store of the same documents whose pins are forgotten at the end.
    #[must_use]
    pub fn for_this_run(&self) -> Self {
        Self { pins: Arc::new(MemoryPins::default()), ..self.clone() }
    }

    /// Compares what a tool shows with what it showed when a user last agreed to it (H-49).
    pub fn review(&self, document: &Document, shows: Shows<'_>) -> Result<Review, PinError> {
        let before = self.pins.get(shows.place, shows.tool)?;
        // Whoever agreed to a document that is another one each time agreed to its address.
        let address = document.uri.as_str();
        let agreed = before.as_ref().and_then(|pin| pin.pattern.as_deref());
        let pattern = shows.template.or_else(|| agreed.filter(|agreed| *agreed == address));
        let after = Pin::of(document, pattern);
        let Some(before) = before else { return self.first_look(document, after) };
        let all = self.pins.all(shows.place)?.into_iter();
        let same = all.filter(|(tool, pin)| tool != shows.tool && *pin == before);
        // No more than a question lists: for the rest, people are asked when it is opened.
        let same = same.take(OTHERS);
        let others = same.map(|(tool, _)| tool).collect();
        let change = Change::between(before, after).map(|change| Change { others, ..change });
        Ok(change.map_or(Review::Same, |change| Review::Changed(Box::new(change))))
    }

    /// Of a tool that no person has opened, as far as we know.
    fn first_look(&self, document: &Document, after: Pin) -> Result<Review, PinError> {
        let earlier = self.pins.earlier(&document.server, document.uri.as_str())?;
        match earlier.and_then(|before| Change::between(before, after.clone())) {
            Some(change) => Ok(Review::Changed(Box::new(change))),
            None if after.pattern.is_some() => Ok(Review::Unpinned(Box::new(after))),
            None => Ok(Review::New),
        }
    }

    /// Remembers what a review found as what was agreed to: on its first use, or after a change, and then for every tool
    /// that showed the same.
    pub fn agree(
        &self,
        document: &Document,
        shows: Shows<'_>,
        review: &Review,
    ) -> Result<(), PinError> {
        let mut tools = vec![shows.tool];
        let pin = match review {
            Review::Same => return Ok(()),
            Review::New => Pin::of(document, None),
            Review::Unpinned(pin) => Pin::clone(pin),
            Review::Changed(change) => {
                tools.extend(change.others.iter().map(String::as_str));
                change.after.clone()
            }
        };
        self.pins.set(shows.place, &tools, &pin)
    }

    /// Remembers that what a tool shows at this address may be another document each time.
    pub fn agree_to_changes(&self, document: &Document, shows: Shows<'_>) -> Result<(), PinError> {
        let pattern = shows.template.unwrap_or(document.uri.as_str());
        self.pins.set(shows.place, &[shows.tool], &Pin::of(document, Some(pattern)))
    }

    /// Whether a person agreed to what a tool shows, but not to its content.
    pub fn is_unpinned(&self, shows: Shows<'_>) -> Result<bool, PinError> {
        let pin = self.pins.get(shows.place, shows.tool)?;
        Ok(pin.map_or_else(|| shows.template.is_some(), |pin| pin.pattern.is_some()))
    }

    /// Returns how many documents, and how many bytes of HTML, are kept.
    pub fn usage(&self) -> (usize, usize) {
        let shelf = self.lock();
        (shelf.kept.len(), shelf.bytes())
    }

    fn lock(&self) -> MutexGuard<'_, Shelf> {
        self.shelf.lock().expect("nothing panics while it holds the shelf")
    }
}

impl Default for Store {
    /// An empty store whose pins are forgotten at the end.
    fn default() -> Self {
        Self::new(Bounds::default(), Arc::new(MemoryPins::default()))
    }
}

impl std::fmt::Debug for Store {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let (documents, bytes) = self.usage();
        f.debug_struct("Store").field("documents", &documents).field("bytes", &bytes).finish()
    }
}

type Outcome = Result<Arc<Document>, Unread>;
type Flight = Arc<OnceCell<Outcome>>;

#[derive(Clone, PartialEq, Eq, Hash)]
struct Key {
    server: String,
    uri: UiUri,
}

impl Key {
    fn of(server: &str, uri: &UiUri) -> Self {
        Self { server: server.to_owned(), uri: uri.clone() }
    }
}

enum Found {
    Kept(Arc<Document>),
    Flight(Flight),
}

#[derive(Default)]
struct Shelf {
    kept: HashMap<Key, Kept>,
    /// The HTML of what is kept, each content once, and how many documents have it.
    contents: HashMap<ContentHash, (Bytes, usize)>,
    flights: HashMap<Key, Flight>,
    clock: u64,
}

struct Kept {
    document: Arc<Document>,
    used: u64,
}

impl Shelf {
    fn find(&mut self, key: &Key) -> Found {
        if let Some(document) = self.kept(key) {
            return Found::Kept(document);
        }
        // A flight that no caller holds was given up by all who waited for it.
        self.flights.retain(|_, flight| Arc::strong_count(flight) > 1);
        Found::Flight(self.flights.entry(key.clone()).or_default().clone())
    }

    fn kept(&mut self, key: &Key) -> Option<Arc<Document>> {
        self.clock += 1;
        let kept = self.kept.get_mut(key)?;
        kept.used = self.clock;
        Some(kept.document.clone())
    }

    /// Takes the outcome of a flight, once, unless it was invalidated on the way.
    fn land(&mut self, key: &Key, flight: &Flight, outcome: Outcome, bounds: Bounds) -> Outcome {
        if !self.flights.get(key).is_some_and(|current| Arc::ptr_eq(current, flight)) {
            return self.kept(key).map_or(outcome, Ok);
        }
        self.flights.remove(key);
        let document = self.share(outcome?);
        self.keep(key.clone(), document.clone(), bounds);
        Ok(document)
    }

    /// Two addresses with the same content share its bytes.
    fn share(&self, document: Arc<Document>) -> Arc<Document> {
        match self.contents.get(&document.hash) {
            Some((html, _)) => Arc::new(Document { html: html.clone(), ..(*document).clone() }),
            None => document,
        }
    }

    fn keep(&mut self, key: Key, document: Arc<Document>, bounds: Bounds) {
        if document.html.len() > bounds.bytes {
            return;
        }
        self.remove(&key);
        self.contents.entry(document.hash).or_insert_with(|| (document.html.clone(), 0)).1 += 1;
        self.clock += 1;
        self.kept.insert(key, Kept { document, used: self.clock });
        while self.kept.len() > bounds.documents || self.bytes() > bounds.bytes {
            let oldest = self.kept.iter().min_by_key(|(_, kept)| kept.used);
            let Some(key) = oldest.map(|(key, _)| key.clone()) else { return };
            self.remove(&key);
        }
    }

    fn remove(&mut self, key: &Key) {
        let Some(kept) = self.kept.remove(key) else { return };
        let hash = kept.document.hash;
        let content = self.contents.get_mut(&hash).expect("what is kept has its content here");
        content.1 -= 1;
        if content.1 == 0 {
            self.contents.remove(&hash);
        }
    }

    fn invalidate(&mut self, server: &str) {
        let gone: Vec<_> = self.kept.keys().filter(|key| key.server == server).cloned().collect();
        gone.iter().for_each(|key| self.remove(key));
        self.flights.retain(|key, _| key.server != server);
    }

    fn bytes(&self) -> usize {
        self.contents.values().map(|(html, _)| html.len()).sum()
    }
}

/// The most other tools that one yes to a changed document is for.
const OTHERS: usize = 20;
