//! What views did, written down before it happens (D7): one append-only, hash-chained log in SQLite.
//!
//! ```text
//! session ──note──▶ queue ──▶ writer: one transaction for all that wait ──▶ audit.db
//!    ▲                                             │
//!    └────────── committed up to here ◀────────────┘   only then is an effect carried out
//! ```
//!
//! Or [`Sink`] keeps the rows, which is an application's own.
//!
//! The log shows when it was touched; it cannot keep a program that may write the file from touching it.
//! Whoever keeps the last head elsewhere can tell even a cut tail.

mod chain;
mod details;
mod read;
mod record;
mod sink;
mod store;
mod sweeper;
#[cfg(test)]
mod tests;
mod writer;

pub use chain::{Broken, Detail, Hash, Head, Row, Verifier};
pub use read::{Reader, forgot, prune, retain};
pub use sink::{Sink, SinkError};
pub use store::{AuditError, Durability, Options, VERSION};
pub use writer::Audit;

pub(crate) use details::about_of;
pub(crate) use record::{Counts, Record};
pub(crate) use writer::State;
