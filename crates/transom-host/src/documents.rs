//! Documents: read from a server, checked, reviewed, kept, and compared with what was there before.
//!
//! ```text
//! resources/read ──read──▶ Document ──keep──▶ Store ──review──▶ New, Same, or Changed ──▶ frame
//! ```
//!
//! A document is read whole, hashed and scanned before anything of it reaches a browser. Nothing
//! here changes a byte of it: the sandbox is the wall, and the scan tells people what they will see.

mod embedded;
mod pattern;
mod pins;
mod read;
mod scan;
mod store;

use std::fmt;

use bytes::Bytes;
use serde_json::Value;
use serde_json::value::RawValue;
use transom::csp::{Declaration, Refused};
use transom::wire::{Compat, Finding, ResourceMeta, UiUri};

pub use crate::digest::{ContentHash, NotAHash};
pub(crate) use embedded::{Embedded, IN_RESULTS};
pub use pattern::fits;
pub use pins::{Change, Difference, FilePins, MemoryPins, Pin, PinError, Pins, Review, Shows};
pub use read::{NotADocument, Part};
pub use scan::{Scan, ScanFinding, Severity, Spot, Use, UsedOrigin, What};
pub use store::{Bounds, Store, Unread};

/// Which document it is, and of which bytes.
#[derive(Clone, Debug)]
pub(crate) struct Named {
    pub(crate) uri: String,
    pub(crate) hash: ContentHash,
    /// Whether a person is asked before other bytes run.
    pub(crate) pinned: bool,
}

/// A UI resource's HTML with its metadata, complete and reviewed.
///
/// Only what reads one makes one, so its hash and its scan are those of its bytes.
#[derive(Clone)]
#[non_exhaustive]
pub struct Document {
    /// The server it came from, under the name it is configured with.
    pub server: String,
    /// Its address.
    pub uri: UiUri,
    /// Its bytes, which are UTF-8.
    pub html: Bytes,
    /// The hash of its bytes.
    pub hash: ContentHash,
    /// What its server declared about it.
    pub meta: ResourceMeta,
    /// The domains it declared, parsed. Nothing declared is stricter than an empty declaration.
    pub declaration: Option<Declaration>,
    /// The declared domains that do not parse and are left out of every policy (H-31).
    pub refused: Vec<Refused>,
    /// What was odd about its metadata.
    pub oddities: Vec<Finding>,
    /// What a look at its HTML found.
    pub scan: Scan,
}

impl Document {
    /// Takes a document out of the answer to `resources/read`.
    ///
    /// `listing` is its entry in `resources/list`, where there is one (H-09): its metadata counts
    /// when the answer has none (H-21). The work grows with the size of the document and waits for
    /// nothing; a large one is worth a thread that may block.
    pub fn read(
        server: &str,
        uri: &UiUri,
        result: &RawValue,
        listing: Option<&Value>,
        limits: &DocumentLimits,
    ) -> Result<Self, NotADocument> {
        let item = read::item(uri, result, limits)?;
        let mut oddities = Vec::new();
        let meta = ResourceMeta::find(&item.meta, listing, limits.compat, &mut oddities);
        let meta = meta.unwrap_or_default();
        oddities.truncate(MAX_ODDITIES);
        Ok(Self::of(server, uri, item.html, meta, oddities))
    }

    fn of(
        server: &str,
        uri: &UiUri,
        html: String,
        meta: ResourceMeta,
        oddities: Vec<Finding>,
    ) -> Self {
        let (declaration, refused) = meta.csp.as_ref().map(Declaration::read).unzip();
        Self {
            server: server.to_owned(),
            uri: uri.clone(),
            hash: ContentHash::of(html.as_bytes()),
            scan: Scan::of(&html, declaration.as_ref()),
            html: Bytes::from(html),
            meta,
            declaration,
            refused: refused.unwrap_or_default(),
            oddities,
        }
    }
}

impl fmt::Debug for Document {
    /// Names the document; its bytes have no place in a log.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Document")
            .field("server", &self.server)
            .field("uri", &self.uri.as_str())
            .field("bytes", &self.html.len())
            .field("hash", &self.hash)
            .finish_non_exhaustive()
    }
}

/// What is taken from a server: how much, and which dialects.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DocumentLimits {
    /// The most bytes of HTML.
    pub html: usize,
    /// The most bytes of metadata.
    pub meta: usize,
    /// The dialects that are understood beside the spec's own.
    pub compat: Compat,
}

impl Default for DocumentLimits {
    fn default() -> Self {
        Self { html: 16 << 20, meta: 256 << 10, compat: Compat::default() }
    }
}

/// The most oddities that are kept: a server can write as many as fit into its metadata.
const MAX_ODDITIES: usize = 100;
