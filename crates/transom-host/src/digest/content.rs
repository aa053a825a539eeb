//! The hash of a document.

use std::fmt;
use std::str::FromStr;

use data_encoding::HEXLOWER;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sha2::{Digest as _, Sha256};

/// The SHA-256 of a document's bytes, printed as `sha256:` and 64 digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// Hashes bytes.
    pub fn of(bytes: &[u8]) -> Self {
        Self(Sha256::digest(bytes).into())
    }

    /// Returns the hash itself.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(PREFIX)?;
        HEXLOWER.encode_display(&self.0).fmt(f)
    }
}

impl fmt::Debug for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl FromStr for ContentHash {
    type Err = NotAHash;

    fn from_str(text: &str) -> Result<Self, NotAHash> {
        let digits = text.strip_prefix(PREFIX).ok_or(NotAHash)?;
        let bytes = HEXLOWER.decode(digits.as_bytes()).map_err(|_| NotAHash)?;
        bytes.try_into().map(Self).map_err(|_| NotAHash)
    }
}

impl Serialize for ContentHash {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ContentHash {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(D::Error::custom)
    }
}

/// A text that is not a hash as we print it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("expected sha256: and 64 digits from 0 to f")]
pub struct NotAHash;

const PREFIX: &str = "sha256:";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hash_is_read_as_it_is_printed_and_not_otherwise() {
        let printed = ContentHash::of(b"").to_string();
        let empty = "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
        assert_eq!(printed, empty);
        assert_eq!(empty.parse(), Ok(ContentHash::of(b"")));
        let hostile = [
            "",
            "sha256:",
            &empty[7..],
            &empty[..70],
            &empty.to_uppercase(),
            &empty.replace('e', "é"),
            &empty.replace('e', "+"),
        ];
        for text in hostile {
            assert_eq!(text.parse::<ContentHash>(), Err(NotAHash), "{text:?}");
        }
    }
}
