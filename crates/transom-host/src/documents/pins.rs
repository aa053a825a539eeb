//! What a tool of a server showed when it was first opened, and what has changed since.
//!
//! A pin belongs to a tool of the server in one place, and not to an address: another address for the same tool is a
//! change like any other.

mod file;

use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::Mutex;

use data_encoding::HEXLOWER;
use serde::{Deserialize, Serialize};
use transom::violation::Quoted;
use transom::wire::{ResourceCsp, ResourcePermissions};

use super::{ContentHash, Document, Severity};
use crate::digest::digest;
use crate::place::PlaceId;

pub use file::FilePins;

/// What is remembered of a document: enough to say later what has changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Pin {
    /// Its address.
    pub uri: String,
    /// The addresses that were agreed to, where its content was not: a template, or the one address of a document that is
    /// another one each time.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pattern: Option<String>,
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
    /// Takes down what a document is. With a pattern, its content is not agreed to.
    pub fn of(document: &Document, pattern: Option<&str>) -> Self {
        let domain = document.meta.domain.as_deref();
        let mut origins: Vec<_> = document.scan.origins.iter().map(|o| o.origin.clone()).collect();
        origins.sort();
        origins.dedup();
        let grave = document.scan.at_least(Severity::Warning);
        Self {
            uri: document.uri.as_str().to_owned(),
            pattern: pattern.map(str::to_owned),
            hash: document.hash,
            size: document.html.len(),
            csp: document.declaration.as_ref().map(ResourceCsp::from),
            permissions: document.meta.permissions.unwrap_or_default(),
            domain: domain.map(whole),
            origins,
            findings: grave.map(|finding| finding.words.clone()).collect(),
        }
    }

    /// The addresses that it is for.
    fn addresses(&self) -> &str {
        self.pattern.as_deref().unwrap_or(&self.uri)
    }
}

/// A stranger's text, to be compared whole: as it is while it is short, or what stands for it.
fn whole(text: &str) -> String {
    match text.len() <= LONGEST_NAME {
        true => text.to_owned(),
        false => format!("sha256 {}", HEXLOWER.encode(&digest("transom: a long name", [text]))),
    }
}

/// Who shows a document: a tool of the server in a place.
#[derive(Clone, Copy, Debug)]
pub struct Shows<'a> {
    /// Where the server is.
    pub place: &'a PlaceId,
    /// The tool.
    pub tool: &'a str,
    /// The template that the document's address is one of, if it is made for each request.
    pub template: Option<&'a str>,
}

/// What a review of a document says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Review {
    /// No person has seen it yet.
    New,
    /// No person has agreed to it yet, and it is made for each request: ask whether it may run, since it cannot be told later
    /// whether it is what it was.
    Unpinned(Box<Pin>),
    /// It is what it was, as far as that was agreed to.
    Same,
    /// It is not what it was; tell the user before it runs.
    Changed(Box<Change>),
}

/// A document that is not what it was.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Change {
    /// What it was.
    pub before: Pin,
    /// What it is.
    pub after: Pin,
    /// In what the two differ.
    pub what: Vec<Difference>,
    /// The other tools that show the same: a yes is for all of them.
    pub others: Vec<String>,
}

impl Change {
    /// Compares; nothing, if they are the same.
    pub fn between(before: Pin, after: Pin) -> Option<Self> {
        let what = differences(&before, &after);
        (!what.is_empty()).then_some(Self { before, after, what, others: vec![] })
    }
}

/// One thing in which two versions of a document differ.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Difference {
    /// Its address, or the addresses that it is one of.
    Address {
        /// What it was.
        before: Quoted,
        /// What it is.
        after: Quoted,
    },
    /// It is made for each request now: it cannot be told any more whether it is what it was.
    Unpinned,
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
            Self::Address { before, after } => write!(f, "its address is {after}, before {before}"),
            Self::Unpinned => f.write_str(
                "it is made anew for each request now, so you are not asked when its content changes",
            ),
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
    /// Returns what a tool showed when that was pinned.
    fn get(&self, place: &PlaceId, tool: &str) -> Result<Option<Pin>, PinError>;

    /// Returns every tool of a place with what it showed.
    fn all(&self, place: &PlaceId) -> Result<Vec<(String, Pin)>, PinError>;

    /// Remembers what tools of a place show, instead of what they showed.
    fn set(&self, place: &PlaceId, tools: &[&str], pin: &Pin) -> Result<(), PinError>;

    /// Forgets the documents of a place; returns how many there were.
    fn forget(&self, place: &PlaceId) -> Result<usize, PinError>;

    /// What an earlier version pinned for a server of this name at this address. It can make the host ask a person, and
    /// never spares the question: any server can have any name.
    fn earlier(&self, _server: &str, _uri: &str) -> Result<Option<Pin>, PinError> {
        Ok(None)
    }
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
    /// More bytes than are read again.
    #[error(
        "the pinned documents would take up more than {most} bytes; forget those of a server that is no longer used"
    )]
    TooLarge {
        /// The limit.
        most: u64,
    },
}

/// Pins that are forgotten at the end.
#[derive(Debug, Default)]
pub struct MemoryPins {
    board: Mutex<Board>,
}

impl Pins for MemoryPins {
    fn get(&self, place: &PlaceId, tool: &str) -> Result<Option<Pin>, PinError> {
        Ok(self.lock().get(place, tool).cloned())
    }

    fn all(&self, place: &PlaceId) -> Result<Vec<(String, Pin)>, PinError> {
        Ok(self.lock().all(place))
    }

    fn set(&self, place: &PlaceId, tools: &[&str], pin: &Pin) -> Result<(), PinError> {
        self.lock().set(place, tools, pin)
    }

    fn forget(&self, place: &PlaceId) -> Result<usize, PinError> {
        Ok(self.lock().forget(place))
    }
}

impl MemoryPins {
    fn lock(&self) -> std::sync::MutexGuard<'_, Board> {
        self.board.lock().expect("nothing panics while it holds the pins")
    }
}

/// All pins.
#[derive(Clone, Debug, Default)]
struct Board {
    /// By place and tool.
    pins: BTreeMap<(PlaceId, String), Pin>,
    /// What an earlier version pinned, by the server's name and the address.
    earlier: BTreeMap<(String, String), Pin>,
}

impl Board {
    fn get(&self, place: &PlaceId, tool: &str) -> Option<&Pin> {
        self.pins.get(&(place.clone(), tool.to_owned()))
    }

    fn all(&self, place: &PlaceId) -> Vec<(String, Pin)> {
        let own = self.pins.iter().filter(|((owner, _), _)| owner == place);
        own.map(|((_, tool), pin)| (tool.clone(), pin.clone())).collect()
    }

    fn set(&mut self, place: &PlaceId, tools: &[&str], pin: &Pin) -> Result<(), PinError> {
        let mut changed = self.pins.clone();
        changed.extend(tools.iter().map(|&tool| ((place.clone(), tool.to_owned()), pin.clone())));
        if changed.len() > MAX_PINS && changed.len() > self.pins.len() {
            return Err(PinError::Full);
        }
        self.pins = changed;
        Ok(())
    }

    fn forget(&mut self, place: &PlaceId) -> usize {
        let before = self.pins.len();
        self.pins.retain(|(owner, _), _| owner != place);
        before - self.pins.len()
    }
}

fn differences(before: &Pin, after: &Pin) -> Vec<Difference> {
    let mut what = Vec::new();
    if before.addresses() != after.addresses() {
        let (before, after) = (Quoted::new(before.addresses()), Quoted::new(after.addresses()));
        what.push(Difference::Address { before, after });
    }
    let pinned = before.pattern.is_none() && after.pattern.is_none();
    if before.pattern.is_none() && after.pattern.is_some() {
        what.push(Difference::Unpinned);
    }
    if pinned && before.hash != after.hash {
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
    // What was found in it is its content's, to which no person agreed.
    if !pinned {
        return what;
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

/// The longest name of a host, in bytes, with room for one more dot.
const LONGEST_NAME: usize = 254;
/// The most documents that are remembered.
const MAX_PINS: usize = 4096;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_compared_to_their_end() {
        for size in [79, 80, 200, 254, 255, 5_000] {
            let (one, other) = (format!("{}a", "x".repeat(size)), format!("{}b", "x".repeat(size)));
            assert_ne!(whole(&one), whole(&other), "{size}");
            assert!(whole(&one).len() < 300, "{size}");
        }
        assert_eq!(whole("app.x.com"), "app.x.com");
    }
}
