//! One value: JSON of a stranger, read once and printed by us, so that whoever reads it next reads the same.
//!
//! JSON leaves open what a member that stands twice means, and readers differ: some take the first, some the
//! last, some do not tell `name` from `Name` or stop a name at a NUL. What the gate judges, shows, hashes and
//! sends is therefore a [`Printed`], in which none of this can happen.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};
use serde_json::value::RawValue;

use crate::{quoted::Quoted, scan::plain_end};

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
    #[error("not JSON that we read")]
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

/// Whether a name is one by which `serde_json` speaks to itself.
///
/// An object whose first member is called so is not an object to [`serde_json::Value`]: it takes the text in that
/// member for JSON, and the object for what stands there. Every other reader sees an object.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

/// Whether a JSON text has a [reserved](is_reserved) name anywhere, however it is spelled. A text that is not JSON
/// may have one: nobody should read it.
///
/// ```
/// use transom::printed::has_reserved_name;
///
/// assert!(has_reserved_name(r#"[{"\u0024serde_json::private::RawValue":"1"}]"#));
/// assert!(!has_reserved_name(r#"{"a":"$serde_json::private::RawValue"}"#));
/// ```
pub fn has_reserved_name(text: &str) -> bool {
    // Each of its letters can be spelled with an escape that begins so, and in no other way.
    let may_have = text.contains(RESERVED) || text.contains(r"\u00");
    may_have && serde_json::from_str::<Unreserved>(text).is_err()
}

/// JSON without a reserved name.
struct Unreserved;

impl<'de> Deserialize<'de> for Unreserved {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Self)
    }
}

impl<'de> Visitor<'de> for Unreserved {
    type Value = Self;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON without a reserved name")
    }

    fn visit_unit<E>(self) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_bool<E>(self, _: bool) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_str<E>(self, _: &str) -> Result<Self, E> {
        Ok(self)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self, A::Error> {
        while items.next_element::<Self>()?.is_some() {}
        Ok(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self, A::Error> {
        while let Some(name) = members.next_key::<Cow<'_, str>>()? {
            if is_reserved(&name) {
                return Err(A::Error::custom("a reserved name"));
            }
            members.next_value::<Self>()?;
        }
        Ok(self)
    }
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

/// What a look at a text finds.
enum Trouble {
    /// It is not spelled as we print.
    Spelling,
    Ambiguous(Ambiguous),
}

impl Trouble {
    /// What we spelled is spelled as we do.
    fn at_last(self) -> Ambiguous {
        match self {
            Self::Spelling => Ambiguous::NotJson,
            Self::Ambiguous(why) => why,
        }
    }
}

/// A look at JSON: is it spelled as we print, and does every name stand once in its object?
struct Look<'a> {
    text: &'a str,
    compare: Names,
    at: usize,
    /// The names of all objects that are open, inside their quotes, outermost first.
    names: Vec<Name>,
    /// For each level that is open, where its names begin; none for a list.
    levels: Vec<Option<usize>>,
}

#[derive(Clone, Copy)]
struct Name {
    hash: u32,
    start: u32,
    end: u32,
}

impl<'a> Look<'a> {
    fn at(text: &'a str, compare: Names) -> Self {
        Self { text, compare, at: 0, names: vec![], levels: vec![] }
    }

    fn look(mut self) -> Result<(), Trouble> {
        let bytes = self.text.as_bytes();
        let mut is_name = false;
        while let Some(&byte) = bytes.get(self.at) {
            match byte {
                b'"' => {
                    let start = self.at + 1;
                    let nul = self.string(bytes)?;
                    if std::mem::take(&mut is_name) {
                        self.name(start, nul)?;
                    }
                    continue;
                }
                b'{' => {
                    self.levels.push(Some(self.names.len()));
                    is_name = true;
                }
                b'[' => {
                    self.levels.push(None);
                    is_name = false;
                }
                b'}' | b']' => {
                    if let Some(Some(first)) = self.levels.pop() {
                        self.compare(first)?;
                        self.names.truncate(first);
                    }
                    is_name = false;
                }
                b',' => is_name = matches!(self.levels.last(), Some(Some(_))),
                b' ' | b'\t' | b'\n' | b'\r' => return Err(Trouble::Spelling),
                // A colon, a number, `true`, `false` or `null`.
                _ => {}
            }
            self.at += 1;
        }
        Ok(())
    }

    /// Passes a string; returns whether it holds a NUL.
    fn string(&mut self, bytes: &[u8]) -> Result<bool, Trouble> {
        let mut nul = false;
        self.at += 1;
        loop {
            self.at = plain_end(bytes, self.at);
            match bytes.get(self.at) {
                Some(b'\\') => {
                    let rest = bytes.get(self.at + 1..).unwrap_or_default();
                    self.at += match rest {
                        [b'"' | b'\\' | b'b' | b'f' | b'n' | b'r' | b't', ..] => 2,
                        [b'u', b'0', b'0', b'0', b'0', ..] => {
                            nul = true;
                            6
                        }
                        [b'u', b'0', b'0', high, low, ..] if is_plain_control(*high, *low) => 6,
                        _ => return Err(Trouble::Spelling),
                    };
                }
                Some(_) => {
                    self.at += 1;
                    return Ok(nul);
                }
                None => return Err(Trouble::Ambiguous(Ambiguous::NotJson)),
            }
        }
    }

    fn name(&mut self, start: usize, nul: bool) -> Result<(), Trouble> {
        let end = self.at - 1;
        if nul {
            return Err(Trouble::Ambiguous(Ambiguous::Nul(self.quote(start, end))));
        }
        if is_reserved(&self.text[start..end]) {
            return Err(Trouble::Ambiguous(Ambiguous::Reserved(self.quote(start, end))));
        }
        let [start, end] = [start, end].map(|at| u32::try_from(at).expect("the text is shorter"));
        self.names.push(Name { hash: 0, start, end });
        Ok(())
    }

    /// Whether two names of an object are one.
    fn compare(&mut self, first: usize) -> Result<(), Trouble> {
        let twin = match self.compare {
            Names::Folded => self.folded_twin(first),
            Names::Exact if self.names.len() - first <= FEW => self.twin_of_few(first),
            Names::Exact => self.twin_of_many(first),
        };
        let Some(Name { start, end, .. }) = twin else { return Ok(()) };
        let name = self.quote(start as usize, end as usize);
        Err(Trouble::Ambiguous(Ambiguous::Twice(name)))
    }

    fn twin_of_few(&self, first: usize) -> Option<Name> {
        let names = &self.names[first..];
        let same = |(at, name): (usize, &Name)| {
            names[..at].iter().any(|other| self.spelled(other) == self.spelled(name))
        };
        names.iter().enumerate().find(|pair| same(*pair)).map(|(_, name)| *name)
    }

    /// By their hashes first: comparing a million texts with each other takes a while.
    fn twin_of_many(&mut self, first: usize) -> Option<Name> {
        let text = self.text.as_bytes();
        let spelled = |name: &Name| &text[name.start as usize..name.end as usize];
        for name in &mut self.names[first..] {
            name.hash = spelled(name).iter().fold(0x811c_9dc5, |hash: u32, byte| {
                (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193)
            });
        }
        let names = &mut self.names[first..];
        names.sort_unstable_by(|one, other| {
            one.hash.cmp(&other.hash).then_with(|| spelled(one).cmp(spelled(other)))
        });
        let twins = names.windows(2).find(|pair| spelled(&pair[0]) == spelled(&pair[1]));
        twins.map(|pair| pair[1])
    }

    fn folded_twin(&self, first: usize) -> Option<Name> {
        let mut names: Vec<(String, Name)> =
            self.names[first..].iter().map(|name| (fold(self.spelled(name)), *name)).collect();
        names.sort_unstable_by(|(one, _), (other, _)| one.cmp(other));
        names.windows(2).find(|pair| pair[0].0 == pair[1].0).map(|pair| pair[1].1)
    }

    fn spelled(&self, name: &Name) -> &'a str {
        &self.text[name.start as usize..name.end as usize]
    }

    fn quote(&self, start: usize, end: usize) -> Quoted {
        let spelled = &self.text[start - 1..=end];
        Quoted::new(&serde_json::from_str::<String>(spelled).unwrap_or_default())
    }
}

/// Whether `\u00XY` is how we print a control character: in small letters, and none that has a letter of its own.
fn is_plain_control(high: u8, low: u8) -> bool {
    match (high, low) {
        (b'0', b'8' | b'9' | b'a' | b'c' | b'd') => false,
        (b'0' | b'1', b'0'..=b'9' | b'a'..=b'f') => true,
        _ => false,
    }
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

/// How many names are compared with each other one by one.
const FEW: usize = 12;
/// How the names begin by which `serde_json` speaks to itself.
const RESERVED: &str = "$serde_json::";

#[cfg(test)]
mod tests {
    use super::*;

    fn printed(text: &str) -> Result<String, Ambiguous> {
        Printed::parse(text).map(|printed| printed.get().to_owned())
    }

    #[test]
    fn there_is_one_spelling_for_each_value() {
        #[rustfmt::skip]
        let table = [
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (" { \"a\" :\n[ 1 ,\t2 ] } ", r#"{"a":[1,2]}"#),
            // Numbers keep every digit: no reader of ours rounds them first.
            (r#"[1.0,1e400,-0,123456789012345678901234567890,0.1E+2]"#, r#"[1.0,1e400,-0,123456789012345678901234567890,0.1E+2]"#),
            (r#"["\u0041\/\u00e9\u2028"]"#, "[\"A/é\u{2028}\"]"),
            (r#"["\uD83D\uDE00"]"#, "[\"😀\"]"),
            (r#"["\u0022\u005c\u000a\u001F"]"#, r#"["\"\\\n\u001f"]"#),
            (r#"["\b\f\n\r\t\"\\\u0000\u001f"]"#, r#"["\b\f\n\r\t\"\\\u0000\u001f"]"#),
            (r#"{"\u0061":{"a":1},"b":{"a":1}}"#, r#"{"a":{"a":1},"b":{"a":1}}"#),
            (r#"[{"a":1},{"a":1},"a","a"]"#, r#"[{"a":1},{"a":1},"a","a"]"#),
            (" 7 ", "7"),
            ("true", "true"),
            (r#""a b""#, r#""a b""#),
        ];
        for (text, expected) in table {
            assert_eq!(printed(text), Ok(expected.to_owned()), "{text}");
            assert_eq!(printed(expected), Ok(expected.to_owned()), "{text}, again");
        }
    }

    #[test]
    fn what_could_be_read_in_two_ways_is_refused() {
        let twice = |name: &str| Ambiguous::Twice(name.into());
        #[rustfmt::skip]
        let table = [
            (r#"{"a":1,"a":2}"#, twice("a")),
            (r#"{"a":1,"b":2,"\u0061":3}"#, twice("a")),
            (r#"{"x":[{"y":{"path":"/tmp","path":"/etc"}}]}"#, twice("path")),
            (r#"{"":1,"":2}"#, twice("")),
            (r#"{"a\nb":1,"a\u000ab":2}"#, twice("a\nb")),
            (r#"{"a\u0000b":1}"#, Ambiguous::Nul("a\0b".into())),
            (r#"{"x":{"\u0000":1}}"#, Ambiguous::Nul("\0".into())),
            (r#"["\ud800"]"#, Ambiguous::HalfCharacter),
            (r#"{"\udc00a":1}"#, Ambiguous::HalfCharacter),
            (r#"["\ud800\ud800"]"#, Ambiguous::HalfCharacter),
            (r#"{"a":1"#, Ambiguous::NotJson),
            ("", Ambiguous::NotJson),
            (r#"{"a":01}"#, Ambiguous::NotJson),
        ];
        for (text, why) in table {
            assert_eq!(printed(text), Err(why), "{text}");
        }
    }

    #[test]
    fn a_twin_is_found_among_many() {
        let crowd = |last: &str| {
            let members: Vec<_> = (0..10_000).map(|n| format!(r#""m{n}":{n}"#)).collect();
            format!(r#"{{{},"{last}":0}}"#, members.join(","))
        };
        assert!(Printed::parse(&crowd("other")).is_ok());
        assert_eq!(printed(&crowd("m77")), Err(Ambiguous::Twice("m77".into())));
    }

    #[test]
    fn names_that_differ_by_capitals_are_two_unless_they_are_the_specifications() {
        let text = r#"{"text":1,"Text":2}"#;
        assert!(Printed::parse(text).is_ok());
        let raw: &RawValue = serde_json::from_str(text).unwrap();
        assert!(matches!(Printed::read_folded(raw), Err(Ambiguous::Twice(_))));
    }

    #[test]
    fn a_name_reads_as_another_for_somebody() {
        #[rustfmt::skip]
        let table = [
            ("Name", "name", true),
            ("ARGUMENTS", "arguments", true),
            ("name\0", "name", true),
            ("NAME\0anything", "name", true),
            ("argument\u{17f}", "arguments", true),
            ("tas\u{212a}", "task", true),
            ("ur\u{131}", "uri", true),
            ("ur\u{130}", "uri", true),
            ("me\u{df}ages", "messages", true),
            ("_META", "_meta", true),
            ("names", "name", false),
            ("nam", "name", false),
            ("\0name", "name", false),
            ("", "name", false),
        ];
        for (name, known, same) in table {
            assert_eq!(reads_as(name, known), same, "{name:?} {known:?}");
        }
    }

    #[test]
    fn what_is_folded_is_counted() {
        let text = r#"{"a":1,"b":":::","c":{"d":[2]}}"#;
        assert_eq!(Folded::after(text, 6), Some(Folded { bytes: text.len() - 6, members: 3 }));
        assert_eq!(Folded::after(text, text.len()), None);
        assert_eq!(Folded::after(text, 99), None);
    }

    #[test]
    fn a_name_that_our_reader_takes_for_a_sign_to_itself_is_refused() {
        let table = [
            (r#"{"$serde_json::private::RawValue":"[1]"}"#, true),
            (r#"{"a":[{"b":1,"$serde_json::private::RawValue":"[1]"}]}"#, true),
            (r#"{"\u0024serde_json::private::RawValue":"[1]"}"#, true),
            (r#"{"$serde_json\u003a:private::Number":"1"}"#, true),
            (r#"{"a":"$serde_json::private::RawValue","\u0024schema":"\u0000"}"#, false),
            (r#"["$serde_json::private::RawValue",-1,1.5,true,null]"#, false),
        ];
        for (text, reserved) in table {
            assert_eq!(has_reserved_name(text), reserved, "{text}");
            let printed = Printed::parse(text);
            assert_eq!(matches!(printed, Err(Ambiguous::Reserved(_))), reserved, "{text}");
        }
    }
}
