//! One hash of several things, of which none can pass for a part of another.

mod content;

use sha2::{Digest as _, Sha256};

pub use content::{ContentHash, NotAHash};

/// Hashes parts for one purpose. Each goes in with its length, so that `a`, `bc` is not `ab`, `c`; and what was hashed for
/// one purpose is of no use for another.
pub(crate) fn digest<T: AsRef<[u8]>>(
    purpose: &str,
    parts: impl IntoIterator<Item = T>,
) -> [u8; 32] {
    let mut hash = Sha256::new();
    let mut take = |part: &[u8]| {
        hash.update((part.len() as u64).to_be_bytes());
        hash.update(part);
    };
    take(purpose.as_bytes());
    parts.into_iter().for_each(|part| take(part.as_ref()));
    hash.finalize().into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_lists_of_parts_have_one_hash() {
        let lists: [&[&str]; 7] = [
            &[],
            &[""],
            &["", ""],
            &["ab"],
            &["a", "b"],
            &["a", "", "b"],
            &["\0\0\0\0\0\0\0\u{1}ab"],
        ];
        let hashes: std::collections::BTreeSet<_> =
            lists.iter().map(|parts| digest("x", parts.iter())).collect();
        assert_eq!(hashes.len(), lists.len());
        assert_ne!(digest("x", ["y"]), digest("y", ["x"]));
    }
}
