use std::fmt;

use super::{Source, SourceError};
use crate::violation::Quoted;
use crate::wire::ResourceCsp;

/// The domains a document declared and the gate accepted.
///
/// What is in here is what goes into the header, so turning it back into a [`ResourceCsp`] tells a
/// view the truth about what it was given (H-32).
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Declaration {
    /// Where the view may connect to.
    pub connect: Vec<Source>,
    /// Where scripts, styles, images, fonts and media may come from.
    pub resource: Vec<Source>,
    /// What may be framed.
    pub frame: Vec<Source>,
    /// What `<base href>` may name.
    pub base_uri: Vec<Source>,
}

impl Declaration {
    /// Reads what a server declared; entries that do not parse are left out and reported.
    ///
    /// A list is read up to [`MAX_ENTRIES`]; the rest of it is one refusal. An entry given twice
    /// counts once.
    pub fn read(declared: &ResourceCsp) -> (Self, Vec<Refused>) {
        let mut refused = Vec::new();
        let mut read = |list, entries| read_list(list, entries, &mut refused);
        let declaration = Self {
            connect: read(List::Connect, &declared.connect_domains),
            resource: read(List::Resource, &declared.resource_domains),
            frame: read(List::Frame, &declared.frame_domains),
            base_uri: read(List::BaseUri, &declared.base_uri_domains),
        };
        (declaration, refused)
    }

    /// Keeps only what the host agrees to: it may restrict further, never widen (H-25, H-29).
    pub fn retain(&mut self, mut keep: impl FnMut(List, &Source) -> bool) {
        self.connect.retain(|source| keep(List::Connect, source));
        self.resource.retain(|source| keep(List::Resource, source));
        self.frame.retain(|source| keep(List::Frame, source));
        self.base_uri.retain(|source| keep(List::BaseUri, source));
    }

    /// Returns one list as it was granted.
    pub fn list(&self, list: List) -> &[Source] {
        match list {
            List::Connect => &self.connect,
            List::Resource => &self.resource,
            List::Frame => &self.frame,
            List::BaseUri => &self.base_uri,
        }
    }

    /// Tells whether nothing outside the document's own origin was granted (H-28).
    pub fn is_empty(&self) -> bool {
        List::ALL.into_iter().all(|list| self.list(list).is_empty())
    }
}

impl From<&Declaration> for ResourceCsp {
    fn from(granted: &Declaration) -> Self {
        let [connect_domains, resource_domains, frame_domains, base_uri_domains] =
            List::ALL.map(|list| granted.list(list).iter().map(Source::to_string).collect());
        Self { connect_domains, resource_domains, frame_domains, base_uri_domains }
    }
}

/// Which of the four lists.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum List {
    /// `connectDomains`.
    Connect,
    /// `resourceDomains`.
    Resource,
    /// `frameDomains`.
    Frame,
    /// `baseUriDomains`.
    BaseUri,
}

impl List {
    /// All four, in the order of the wire.
    pub const ALL: [Self; 4] = [Self::Connect, Self::Resource, Self::Frame, Self::BaseUri];

    /// Returns the list's name on the wire.
    pub fn name(self) -> &'static str {
        match self {
            Self::Connect => "connectDomains",
            Self::Resource => "resourceDomains",
            Self::Frame => "frameDomains",
            Self::BaseUri => "baseUriDomains",
        }
    }
}

/// An entry that was left out of the policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refused {
    /// The list it stood in.
    pub list: List,
    /// The entry.
    pub entry: Quoted,
    /// What is wrong with it.
    pub reason: Reason,
}

impl fmt::Display for Refused {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} entry {}: {}", self.list.name(), self.entry, self.reason)
    }
}

/// What is wrong with a declared domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Reason {
    /// It is not a source expression.
    #[error(transparent)]
    Source(#[from] SourceError),
    /// It parses, but no browser would honour it.
    #[error("browsers ignore an IPv6 address in a policy")]
    Ipv6,
    /// It and all after it stand beyond the limit.
    #[error("{count} entries, limit {MAX_ENTRIES}")]
    TooMany {
        /// How many the list had.
        count: usize,
    },
}

/// The most entries a list may have.
///
/// The resource list is written five times, so the longest header is about 8 × 64 × 270 bytes:
/// a little more than half of what Chromium reads.
pub const MAX_ENTRIES: usize = 64;

fn read_list(list: List, entries: &[String], refused: &mut Vec<Refused>) -> Vec<Source> {
    let mut granted = Vec::new();
    let mut refuse =
        |entry, reason| refused.push(Refused { list, entry: Quoted::new(entry), reason });
    for entry in entries.iter().take(MAX_ENTRIES) {
        match read_entry(entry) {
            Ok(source) if granted.contains(&source) => {}
            Ok(source) => granted.push(source),
            Err(reason) => refuse(entry, reason),
        }
    }
    if let Some(entry) = entries.get(MAX_ENTRIES) {
        refuse(entry, Reason::TooMany { count: entries.len() });
    }
    granted
}

fn read_entry(entry: &str) -> Result<Source, Reason> {
    let source = Source::parse(entry)?;
    // Granting it would tell the author that it works.
    if source.is_ipv6() { Err(Reason::Ipv6) } else { Ok(source) }
}
