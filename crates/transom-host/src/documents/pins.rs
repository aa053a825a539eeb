//! What a document was when it was first shown, and what has changed since.

mod file;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;

use serde::{Deserialize, Serialize};
use transom::violation::Quoted;
use transom::wire::{ResourceCsp, ResourcePermissions, UiUri};

use super::{ContentHash, Document, Severity};

pub use file::FilePins;

/// What is remembered of a document: enough to say later what has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pin {
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// How many bytes it had.
    pub size: usize,
    /// The domains it declared, as far as they parsed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub csp: Option<ResourceCsp>,
    /// The permissions it asked for.
    #[serde(default)]
    pub permissions: ResourcePermissions,
    /// The stable origin it asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// The origins it named.
    #[serde(default)]
    pub origins: Vec<String>,
    /// What was found in it beyond notes.
    #[serde(default)]
    pub findings: Vec<String>,
}

impl Pin {
    /// Takes down what a document is.
    pub fn of(document: &Document) -> Self {
        let domain = document.meta.domain.as_deref();
        let mut origins: Vec<_> = document.scan.origins.iter().map(|o| o.origin.clone()).collect();
        origins.sort();
        origins.dedup();
        let grave = document.scan.at_least(Severity::Warning);
        Self {
            hash: document.hash,
            size: document.html.len(),
            csp: document.declaration.as_ref().map(ResourceCsp::from),
            permissions: document.meta.permissions.unwrap_or_default(),
            domain: domain.map(|domain| Quoted::new(domain).as_str().to_owned()),
            origins,
            findings: grave.map(|finding| finding.words.clone()).collect(),
        }
    }
}

/// What a review of a document says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Review {
    /// Nobody has seen it yet.
    New,
    /// It is what it was.
    Same,
    /// It is not what it was; tell the user before it runs.
    Changed(Box<Change>),
}

/// A document that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    /// What it was.
    pub before: Pin,
    /// What it is.
    pub after: Pin,
    /// In what the two differ.
    pub what: Vec<Difference>,
}

impl Change {
    /// Compares; nothing, if they are the same.
    pub fn between(before: Pin, after: Pin) -> Option<Self> {
        let what = differences(&before, &after);
        (!what.is_empty()).then_some(Self { before, after, what })
    }
}

/// One thing in which two versions of a document differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Its bytes.
    Content {
        /// How many there were.
        before: usize,
        /// How many there are.
        after: usize,
    },
    /// Its declaration appeared or disappeared as a whole.
    Declaration {
        /// Whether it has one now.
        now: bool,
    },
    /// A domain that it declares and did not before.
    DomainAdded {
        /// The list, as on the wire.
        list: &'static str,
        /// The source.
        source: String,
    },
    /// A domain that it declared and does not any more.
    DomainRemoved {
        /// The list, as on the wire.
        list: &'static str,
        /// The source.
        source: String,
    },
    /// The permissions it asks for.
    Permissions {
        /// What it asked for.
        before: ResourcePermissions,
        /// What it asks for.
        after: ResourcePermissions,
    },
    /// The stable origin it asks for.
    StableOrigin,
    /// An origin it names and did not before.
    OriginAdded(String),
    /// An origin it named and does not any more.
    OriginRemoved(String),
    /// A finding that was not there before.
    FindingAdded(String),
    /// A finding that is gone.
    FindingRemoved(String),
}

impl fmt::Display for Difference {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Content { before, after } if before == after => {
                write!(f, "its content changed; it still has {after} bytes")
            }
            Self::Content { before, after } => {
                write!(f, "its content changed, from {before} to {after} bytes")
            }
            Self::Declaration { now: true } => {
                f.write_str("it now declares which domains it needs")
            }
            Self::Declaration { now: false } => f.write_str("it no longer declares any domains"),
            Self::DomainAdded { list, source } => write!(f, "{list} now has {source}"),
            Self::DomainRemoved { list, source } => write!(f, "{list} no longer has {source}"),
            Self::Permissions { before, after } => {
                write!(f, "it asks for {}, before for {}", asked(*after), asked(*before))
            }
            Self::StableOrigin => f.write_str("it asks for another stable origin"),
            Self::OriginAdded(origin) => write!(f, "it now names {origin}"),
            Self::OriginRemoved(origin) => write!(f, "it no longer names {origin}"),
            Self::FindingAdded(words) => write!(f, "new: it {words}"),
            Self::FindingRemoved(words) => write!(f, "gone: it {words}"),
        }
    }
}

/// Where pins are kept.
///
/// Small and synchronous: a pin is looked up when a view opens and written when a user has agreed.
pub trait Pins: Send + Sync {
    /// Returns what a document was when it was pinned.
    fn get(&self, server: &str, uri: &UiUri) -> Result<Option<Pin>, PinError>;

    /// Remembers what a document is, instead of what it was.
    fn set(&self, server: &str, uri: &UiUri, pin: Pin) -> Result<(), PinError>;

    /// Forgets the documents of a server; returns how many there were.
    fn forget(&self, server: &str) -> Result<usize, PinError>;
}

/// Why pins cannot be read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PinError {
    /// The file cannot be read or written.
    #[error("{}: {error}; check that the data directory is there and writable", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// What the system says.
        error: std::io::Error,
    },
    /// The file is not what we wrote.
    #[error("{} is damaged ({reason}); restore it, or move it away to approve every view anew", path.display())]
    Damaged {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// More documents than are kept.
    #[error(
        "{MAX_PINS} documents are pinned already; forget those of a server that is no longer used"
    )]
    Full,
}

/// Pins that are forgotten at the end.
#[derive(Debug, Default)]
pub struct MemoryPins {
    board: Mutex<Board>,
}

impl Pins for MemoryPins {
    fn get(&self, server: &str, uri: &UiUri) -> Result<Option<Pin>, PinError> {
        Ok(self.lock().get(server, uri).cloned())
    }

    fn set(&self, server: &str, uri: &UiUri, pin: Pin) -> Result<(), PinError> {
        self.lock().set(server, uri, pin)
    }

    fn forget(&self, server: &str) -> Result<usize, PinError> {
        Ok(self.lock().forget(server))
    }
}

impl MemoryPins {
    fn lock(&self) -> std::sync::MutexGuard<'_, Board> {
        self.board.lock().expect("nothing panics while it holds the pins")
    }
}

/// All pins, by server and address.
#[derive(Clone, Debug, Default)]
struct Board(BTreeMap<(String, String), Pin>);

impl Board {
    fn get(&self, server: &str, uri: &UiUri) -> Option<&Pin> {
        self.0.get(&(server.to_owned(), uri.as_str().to_owned()))
    }

    fn set(&mut self, server: &str, uri: &UiUri, pin: Pin) -> Result<(), PinError> {
        let key = (server.to_owned(), uri.as_str().to_owned());
        if self.0.len() >= MAX_PINS && !self.0.contains_key(&key) {
            return Err(PinError::Full);
        }
        self.0.insert(key, pin);
        Ok(())
    }

    fn forget(&mut self, server: &str) -> usize {
        let before = self.0.len();
        self.0.retain(|(owner, _), _| owner != server);
        before - self.0.len()
    }
}

fn differences(before: &Pin, after: &Pin) -> Vec<Difference> {
    let mut what = Vec::new();
    if before.hash != after.hash {
        what.push(Difference::Content { before: before.size, after: after.size });
    }
    if before.csp.is_some() != after.csp.is_some() {
        what.push(Difference::Declaration { now: after.csp.is_some() });
    }
    domains(before, after, &mut what);
    if before.permissions != after.permissions {
        let (before, after) = (before.permissions, after.permissions);
        what.push(Difference::Permissions { before, after });
    }
    if before.domain != after.domain {
        what.push(Difference::StableOrigin);
    }
    use Difference::{FindingAdded, FindingRemoved, OriginAdded, OriginRemoved};
    compare(&before.origins, &after.origins, OriginAdded, OriginRemoved, &mut what);
    compare(&before.findings, &after.findings, FindingAdded, FindingRemoved, &mut what);
    what
}

fn domains(before: &Pin, after: &Pin, what: &mut Vec<Difference>) {
    let none = ResourceCsp::default();
    let lists = |pin: &Pin| {
        let csp = pin.csp.as_ref().unwrap_or(&none).clone();
        [
            ("connectDomains", csp.connect_domains),
            ("resourceDomains", csp.resource_domains),
            ("frameDomains", csp.frame_domains),
            ("baseUriDomains", csp.base_uri_domains),
        ]
    };
    for ((list, before), (_, after)) in lists(before).into_iter().zip(lists(after)) {
        let added = |source| Difference::DomainAdded { list, source };
        let removed = |source| Difference::DomainRemoved { list, source };
        compare(&before, &after, added, removed, what);
    }
}

fn compare(
    before: &[String],
    after: &[String],
    added: impl Fn(String) -> Difference,
    removed: impl Fn(String) -> Difference,
    what: &mut Vec<Difference>,
) {
    what.extend(after.iter().filter(|item| !before.contains(item)).cloned().map(added));
    what.extend(before.iter().filter(|item| !after.contains(item)).cloned().map(removed));
}

fn asked(permissions: ResourcePermissions) -> String {
    match permissions.to_allow() {
        nothing if nothing.is_empty() => "no permission".to_owned(),
        some => some.replace("; ", ", "),
    }
}

/// The most documents that are remembered.
const MAX_PINS: usize = 4096;
