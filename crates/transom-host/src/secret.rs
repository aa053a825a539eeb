//! A secret that is compared in constant time and never shown by accident.

use std::fmt;

use data_encoding::HEXLOWER;

/// 256 random bits, in hexadecimal.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    /// A new one.
    pub(crate) fn new() -> Self {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        Self(HEXLOWER.encode(&bytes))
    }

    /// Whether the caller knows it. Takes the same time for every wrong answer of the right length.
    pub(crate) fn is(&self, given: &str) -> bool {
        let (ours, theirs) = (self.0.as_bytes(), given.as_bytes());
        let difference = ours.iter().zip(theirs).fold(0, |all, (a, b)| all | (a ^ b));
        ours.len() == theirs.len() && difference == 0
    }

    /// The secret itself.
    pub(crate) fn reveal(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Key(…)")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_is_itself_and_nothing_else() {
        let key = Key::new();
        assert!(key.is(key.reveal()));
        for other in
            ["", "x", &key.reveal()[1..], &format!("{}0", key.reveal()), Key::new().reveal()]
        {
            assert!(!key.is(other), "{other}");
        }
        assert_eq!(format!("{key:?}"), "Key(…)");
    }
}
