//! What cannot be guessed.

use data_encoding::HEXLOWER;

/// 128 random bits, in hexadecimal.
pub(crate) fn fresh() -> String {
    let mut bytes = [0_u8; 16];
    getrandom::fill(&mut bytes).expect("the system has randomness");
    HEXLOWER.encode(&bytes)
}
