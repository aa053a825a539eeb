//! A secret that is compared in constant time and never shown by accident.

use std::fmt;

use data_encoding::HEXLOWER;

/// 256 random bits in hexadecimal, or what an operator has chosen.
#[derive(Clone)]
pub(crate) struct Key(String);

impl Key {
    /// A new one.
    pub(crate) fn new() -> Self {
        let mut bytes = [0_u8; 32];
        getrandom::fill(&mut bytes).expect("the system has randomness");
        Self(HEXLOWER.encode(&bytes))
    }

    /// One that an operator has chosen, unless it is so short that it could be guessed, or is not one word.
    pub(crate) fn chosen(text: &str) -> Result<Self, ShortToken> {
        let sound = text.len() >= SHORTEST && text.bytes().all(|byte| byte.is_ascii_graphic());
        if sound { Ok(Self(text.to_owned())) } else { Err(ShortToken) }
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

/// A token that an operator has chosen could be guessed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error(
    "the token should be one word of at least {SHORTEST} letters and digits, as `openssl rand -hex 32` makes one"
)]
pub struct ShortToken;

/// How many characters one has that was chosen: as many as 128 random bits have in hexadecimal.
const SHORTEST: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_can_be_guessed_is_no_key() {
        let long = "a".repeat(SHORTEST);
        assert!(Key::chosen(&long).is_ok_and(|key| key.is(&long) && !key.is(&long[1..])));
        for text in [
            "",
            "password",
            &long[1..],
            &format!("{long} b"),
            &format!("{long}\n"),
            &"ä".repeat(40),
        ] {
            assert!(Key::chosen(text).is_err(), "{text:?}");
        }
    }

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
