//! What files on disk are known by.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::Path;
use std::time::SystemTime;

/// When the files below a path were written, and how long they are: another stamp may be another document.
pub(crate) fn stamp(path: &Path) -> u64 {
    let mut hasher = DefaultHasher::new();
    hash_files(path, 0, &mut hasher);
    hasher.finish()
}

fn hash_files(path: &Path, depth: usize, hasher: &mut DefaultHasher) {
    let Ok(found) = std::fs::metadata(path) else { return };
    if !found.is_dir() {
        (path, found.modified().unwrap_or(SystemTime::UNIX_EPOCH), found.len()).hash(hasher);
        return;
    }
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut entries: Vec<_> = entries.map(|entry| entry.path()).collect();
    entries.sort();
    for entry in entries.iter().filter(|_| depth < MAX_DEPTH) {
        hash_files(entry, depth + 1, hasher);
    }
}

const MAX_DEPTH: usize = 8;
