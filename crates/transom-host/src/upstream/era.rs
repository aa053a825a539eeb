//! Which of the two kinds of MCP a server speaks, and remembering it.

use std::{
    collections::HashMap,
    sync::{Mutex, PoisonError},
};

/// The two kinds of MCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Era {
    /// Up to 2025-11-25: the two greet each other with `initialize`.
    Greeting,
    /// From 2026-07-28: every request says all there is to know.
    Stateless,
}

/// Remembers which era a server speaks, so that it is asked once.
///
/// What it says is taken as a guess: a server that has changed is found out.
pub trait Memo: Send + Sync {
    /// What was remembered of a server.
    fn recall(&self, server: &str) -> Option<Era>;
    /// Remembers it.
    fn remember(&self, server: &str, era: Era);
}

/// Remembers as long as the process lives.
#[derive(Debug, Default)]
pub struct Remembered(Mutex<HashMap<String, Era>>);

impl Memo for Remembered {
    fn recall(&self, server: &str) -> Option<Era> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).get(server).copied()
    }

    fn remember(&self, server: &str, era: Era) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(server.to_owned(), era);
    }
}

/// The version we ask for in an `initialize`.
pub(super) const LAST_GREETING: &str = "2025-11-25";
/// The version of the stateless era.
pub(super) const STATELESS: &str = "2026-07-28";
/// The versions of the greeting era that we can talk in.
pub(super) const GREETING: [&str; 4] = [LAST_GREETING, "2025-06-18", "2025-03-26", "2024-11-05"];
