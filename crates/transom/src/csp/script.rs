use std::fmt;

/// What may run on a page of ours.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Script {
    /// Scripts served from the page's own origin.
    Own,
    /// The one script that carries this nonce or has this hash.
    Token(Token),
}

/// A nonce or a hash, as written between the quotes of `script-src`.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Token(String);

impl Token {
    /// Takes a nonce: base64 of at least 128 bits, because a short one can be guessed.
    pub fn nonce(base64: &str) -> Result<Self, TokenError> {
        let digits = base64.trim_end_matches('=');
        if base64.len() - digits.len() > 2 || !(22..=128).contains(&digits.len()) {
            return Err(TokenError::Length);
        }
        check(digits, "+/-_")?;
        Ok(Self(format!("nonce-{base64}")))
    }

    /// Takes the SHA-256 of a script in base64, without the `sha256-`.
    pub fn sha256(base64: &str) -> Result<Self, TokenError> {
        let digits = base64.strip_suffix('=').filter(|digits| digits.len() == 43);
        check(digits.ok_or(TokenError::Length)?, "+/")?;
        Ok(Self(format!("sha256-{base64}")))
    }

    /// Reads the text between the quotes back.
    pub(super) fn parse(text: &str) -> Result<Self, TokenError> {
        match text.split_once('-') {
            Some(("nonce", base64)) => Self::nonce(base64),
            Some(("sha256", base64)) => Self::sha256(base64),
            _ => Err(TokenError::Kind),
        }
    }
}

impl fmt::Display for Token {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Why a text is neither a nonce nor a hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TokenError {
    /// Too short to be secret, or not the length of the hash.
    #[error("not the length of a nonce or a hash")]
    Length,
    /// A character outside base64.
    #[error("character {0:?} is not base64")]
    Character(char),
    /// Neither `nonce-` nor `sha256-`.
    #[error("expected nonce- or sha256-")]
    Kind,
}

fn check(digits: &str, others: &str) -> Result<(), TokenError> {
    let strange = |c: &char| !(c.is_ascii_alphanumeric() || others.contains(*c));
    digits.chars().find(strange).map_or(Ok(()), |c| Err(TokenError::Character(c)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_base64_of_the_right_length_is_a_token() {
        use TokenError::*;
        let hash = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU=";
        #[rustfmt::skip]
        let table = [
            (Token::nonce("rAnd0m-_+/rAnd0m-_+/22"),     Ok("nonce-rAnd0m-_+/rAnd0m-_+/22")),
            (Token::nonce("rAnd0mrAnd0mrAnd0mrAnd=="),   Ok("nonce-rAnd0mrAnd0mrAnd0mrAnd==")),
            (Token::nonce("rAnd0mrAnd0mrAnd0mrAnd==="),  Err(Length)),
            (Token::nonce("short"),                      Err(Length)),
            (Token::nonce(""),                           Err(Length)),
            (Token::nonce(&"a".repeat(129)),             Err(Length)),
            (Token::nonce("rAnd0m' 'unsafe-eval'; x"),   Err(Character('\''))),
            (Token::nonce("rAnd0m=rAnd0m=rAnd0m=rAnd0"), Err(Character('='))),
            (Token::sha256(hash),                        Ok(&*format!("sha256-{hash}"))),
            (Token::sha256(&hash[1..]),                  Err(Length)),
            (Token::sha256(&hash.replace('j', ";")),     Err(Character(';'))),
            (Token::parse("sha1-abc"),                   Err(Kind)),
        ];
        for (actual, expected) in table {
            assert_eq!(actual.map(|token| token.to_string()), expected.map(str::to_owned));
        }
    }
}
