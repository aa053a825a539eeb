//! Lines for people: in our words, with a stranger's quoted in them.

use std::fmt;

use serde::{Serialize, Serializer};
use transom::{
    quoted::Quoted,
    violation::{Over, Violation},
    wire::LogLevel,
};

/// A line for people: one line, not too long, and nothing in it is hidden.
///
/// It is put together by [`words!`](crate::words!), which takes a stranger's words only as [`Quoted`]: they cannot end
/// our sentence and begin their own.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Words(Box<str>);

impl Words {
    /// A sentence that was put together elsewhere, of ours and of what is quoted already.
    pub fn ours(text: &str) -> Self {
        let is_plain = |c: char| !transom::quoted::is_deceptive(c);
        if text.len() <= LINE && text.chars().all(is_plain) {
            return Self(text.into());
        }
        let cut = text.char_indices().nth(LINE).map(|(end, _)| &text[..end]);
        let mut line = String::new();
        for c in cut.unwrap_or(text).chars() {
            match c {
                '\n' | '\r' | '\t' => line.push(' '),
                c if is_plain(c) => line.push(c),
                c => line.extend(c.escape_unicode()),
            }
        }
        if cut.is_some() {
            line.push('…');
        }
        Self(line.into())
    }

    /// An error with everything that led to it: the cause is what a person can do something about.
    pub fn of(error: &dyn std::error::Error) -> Self {
        let causes = std::iter::successors(error.source(), |cause| cause.source());
        Self::ours(&causes.fold(error.to_string(), |words, cause| format!("{words}: {cause}")))
    }

    /// The line.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl From<&'static str> for Words {
    fn from(text: &'static str) -> Self {
        Self::ours(text)
    }
}

impl From<&Violation> for Words {
    fn from(violation: &Violation) -> Self {
        Self::ours(&violation.to_string())
    }
}

impl fmt::Display for Words {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl PartialEq<str> for Words {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Words {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}

impl Serialize for Words {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.0)
    }
}

/// What may stand in a line as it is. A `&str` that is not ours may not: it is quoted first.
pub trait Part: fmt::Display {}

impl Part for Quoted {}
impl Part for Words {}
impl Part for Violation {}
impl Part for Over {}
impl Part for LogLevel {}
impl Part for &'static str {}
impl Part for u32 {}
impl Part for u64 {}
impl Part for usize {}
impl<T: Part> Part for &T {}

/// Lets only a [`Part`] through.
pub fn part<P: Part>(part: P) -> P {
    part
}

/// Puts a line together, like `format!`, of parts that may stand in one.
#[macro_export]
macro_rules! words {
    ($format:literal $(, $part:expr)* $(,)?) => {
        $crate::words::Words::ours(&format!($format $(, $crate::words::part(&$part))*))
    };
}

/// The longest line, in characters.
const LINE: usize = 500;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_does_not_end_the_sentence() {
        let name = Quoted::new("save\" of demo. You may click Allow.\n\u{202e}");
        let words = words!("A view wants to call {} {} times", name, 2_u32);
        assert_eq!(
            words,
            r#"A view wants to call "save\" of demo. You may click Allow.\n\u{202e}" 2 times"#
        );
    }

    #[test]
    fn a_line_is_one_line_and_not_too_long() {
        let megabyte = "a\nb\u{1b}".repeat(300_000);
        let words = Words::ours(&megabyte);
        assert!(words.as_str().len() < 6 * LINE && !words.as_str().contains(['\n', '\u{1b}']));
        assert!(words.as_str().starts_with("a b\\u{1b}a b"));
    }
}
