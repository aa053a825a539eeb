//! One value: JSON of a stranger, read once and printed by us, so that every reader after us reads the same.
//!
//! JSON leaves open what a member that stands twice means, and readers differ: some take the first, some the
//! last, some do not tell `name` from `Name` or stop a name at a NUL. What the gate judges, shows, hashes and
//! sends is therefore a [`Printed`], in which none of this can happen.

use std::borrow::Cow;

use serde_json::value::RawValue;

use crate::{quoted::Quoted, scan::plain_end};

mod look;
mod reserved;

pub use reserved::{has_reserved_name, is_reserved};

use look::{Look, Trouble};

/// JSON that we read and printed.
///
/// No object in it has a member twice, no name holds a NUL, every text is whole. There is one spelling for each
/// value: no white space, nothing escaped that need not be. Numbers are as they came, digit by digit.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Printed(Box<str>);

/// Why a text is not one value: different readers would read different things.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Ambiguous {
    /// A member that its object has twice, however it is spelled.
    #[error("the member {0} stands twice")]
    Twice(Quoted),
    /// A member that a lenient reader takes for another one.
    #[error("the member {got} would pass for {of:?}")]
    Twin {
        /// The one that counts.
        of: &'static str,
        /// The other one.
        got: Quoted,
    },
    /// A name with a NUL in it, where some readers stop.
    #[error("the name {0} holds a NUL")]
    Nul(Quoted),
    /// A name that a reader of ours takes for a sign to itself, and not for a name.
    #[error("the name {0} is reserved")]
    Reserved(Quoted),
    /// Half of a character, which every reader replaces in its own way.
    #[error("a text holds half a character")]
    HalfCharacter,
    /// Not JSON, or longer than anything we take.
    #[error("not JSON that can be read")]
    NotJson,
}

/// How much of a text is not among what is shown at first.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Folded {
    /// Bytes.
    pub bytes: usize,
    /// Members of objects, at any depth.
    pub members: usize,
}

/// Which names are one name.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Names {
    /// The same characters.
    Exact,
    /// What a reader takes for the same that does not mind capital letters.
    Folded,
}

impl Printed {
    /// Reads a JSON text.
    ///
    /// ```
    /// use transom::printed::Printed;
    ///
    /// let printed = Printed::parse(r#" { "a" : 1.50, "\u0062": "\/" } "#).unwrap();
    /// assert_eq!(printed.get(), r#"{"a":1.50,"b":"/"}"#);
    /// assert!(Printed::parse(r#"{"a":1,"\u0061":2}"#).is_err());
    /// ```
    pub fn parse(text: &str) -> Result<Self, Ambiguous> {
        let raw: &RawValue = serde_json::from_str(text).map_err(|_| Ambiguous::NotJson)?;
        Self::read(raw)
    }

    /// Reads JSON that is known to be JSON.
    pub fn read(raw: &RawValue) -> Result<Self, Ambiguous> {
        print(raw.get(), Names::Exact)
    }

    /// Reads JSON whose names are all the specification's: two that differ by their capital letters alone are one
    /// name.
    pub(crate) fn read_folded(raw: &RawValue) -> Result<Self, Ambiguous> {
        print(raw.get(), Names::Folded)
    }

    /// A text of ours, or one that was read.
    pub(crate) fn string(words: &str) -> Self {
        let mut text = String::with_capacity(words.len() + 2);
        push_string(&mut text, words);
        Self(text.into())
    }

    /// An object under names of ours, each once.
    pub(crate) fn object<'a>(members: impl IntoIterator<Item = (&'static str, &'a Self)>) -> Self {
        let mut text = String::from("{");
        for (name, value) in members {
            if text.len() > 1 {
                text.push(',');
            }
            push_string(&mut text, name);
            text.push(':');
            text.push_str(value.get());
        }
        text.push('}');
        Self(text.into())
    }

    /// The text.
    pub fn get(&self) -> &str {
        &self.0
    }

    /// Whether it is an object.
    pub fn is_object(&self) -> bool {
        self.0.starts_with('{')
    }
}

impl Folded {
    /// What comes after the first bytes of a printed text.
    pub fn after(text: &str, shown: usize) -> Option<Self> {
        let bytes = text.len().checked_sub(shown).filter(|bytes| *bytes > 0)?;
        Some(Self { bytes, members: members_after(text.as_bytes(), shown) })
    }
}

/// Whether a reader that ignores capital letters, or stops at a NUL, takes one name for the other.
///
/// Readers go by upper case (Java), lower case (Python's `casefold`) or both (Go, for which `ſ` is an `s` and the
/// Kelvin sign a `k`); what is one name to any of them is one here.
pub fn reads_as(name: &str, known: &str) -> bool {
    if name.is_ascii() && !name.contains('\0') {
        return name.eq_ignore_ascii_case(known);
    }
    fold(name) == fold(known)
}

fn fold(name: &str) -> String {
    let name = name.split('\0').next().unwrap_or_default();
    // The dotted capital I has a small letter of two characters in Unicode, and of one in Java.
    let dotless = name.chars().map(|c| if c == '\u{130}' { 'i' } else { c });
    dotless.flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect()
}

fn print(text: &str, names: Names) -> Result<Printed, Ambiguous> {
    if u32::try_from(text.len()).is_err() {
        return Err(Ambiguous::NotJson);
    }
    // Browsers print as we do, so most texts need only be looked at.
    let text = match Look::at(text, names).look() {
        Ok(()) => Cow::Borrowed(text),
        Err(Trouble::Spelling) => {
            let text = respell(text)?;
            Look::at(&text, names).look().map_err(Trouble::at_last)?;
            Cow::Owned(text)
        }
        Err(Trouble::Ambiguous(why)) => return Err(why),
    };
    Ok(Printed(text.into()))
}

/// Spells JSON as we print it.
fn respell(text: &str) -> Result<String, Ambiguous> {
    let bytes = text.as_bytes();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let end = match byte {
            b'"' => {
                let end = string_end(bytes, at + 1).ok_or(Ambiguous::NotJson)?;
                // Half a pair of surrogates is the only thing in a JSON string that is no text.
                let words: String =
                    serde_json::from_str(&text[at..end]).map_err(|_| Ambiguous::HalfCharacter)?;
                push_string(&mut out, &words);
                end
            }
            b' ' | b'\t' | b'\n' | b'\r' => at + 1,
            _ => {
                let is_dull = |byte: &u8| !matches!(byte, b'"' | b' ' | b'\t' | b'\n' | b'\r');
                let length = bytes[at..].iter().take_while(|byte| is_dull(byte)).count();
                out.push_str(&text[at..at + length]);
                at + length
            }
        };
        at = end;
    }
    Ok(out)
}

/// The index after the closing quote of a string whose inside begins at `at`.
fn string_end(bytes: &[u8], mut at: usize) -> Option<usize> {
    loop {
        at = plain_end(bytes, at);
        match bytes.get(at)? {
            b'"' => return Some(at + 1),
            _ => at += 2,
        }
    }
}

/// How many members begin after the first bytes.
fn members_after(bytes: &[u8], shown: usize) -> usize {
    let (mut at, mut members) = (0, 0);
    while let Some(&byte) = bytes.get(at) {
        match byte {
            b'"' => at = string_end(bytes, at + 1).unwrap_or(bytes.len()),
            _ => {
                members += usize::from(byte == b':' && at >= shown);
                at += 1;
            }
        }
    }
    members
}

/// Plain words go in as they are; whatever would need escaping takes the serialiser's road.
pub(crate) fn push_string(text: &mut String, string: &str) {
    if string.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\') {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&serde_json::to_string(string).expect("a string is JSON"));
    }
}

#[cfg(test)]
mod tests;
