//! Objects that only pass through: their text is kept and never turned into a tree.

use super::RequestId;
use crate::rpc::Name;
use serde::de::{Error as _, MapAccess, Visitor};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;
use std::borrow::Cow;
use std::fmt;

/// What the requester wants its progress notifications to be marked with.
pub type ProgressToken = RequestId;

/// The text of a JSON object. Not an array, not null.
#[derive(Clone, Copy, Debug)]
pub struct RawObject<'a>(&'a RawValue);

impl<'a> RawObject<'a> {
    /// Takes a raw value if it is an object.
    pub fn new(raw: &'a RawValue) -> Option<Self> {
        raw.get().starts_with('{').then_some(Self(raw))
    }

    /// The raw value.
    pub fn raw(self) -> &'a RawValue {
        self.0
    }

    /// The text.
    pub fn get(self) -> &'a str {
        self.0.get()
    }
}

impl Default for RawObject<'_> {
    fn default() -> Self {
        Self(serde_json::from_str("{}").expect("an empty object is JSON"))
    }
}

impl PartialEq for RawObject<'_> {
    /// Compares the text, so that spelling matters.
    fn eq(&self, other: &Self) -> bool {
        self.get() == other.get()
    }
}

impl Serialize for RawObject<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for RawObject<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = <&RawValue>::deserialize(deserializer)?;
        Self::new(raw).ok_or_else(|| D::Error::custom("expected an object"))
    }
}

/// The members of an object in their order, each value raw. No name occurs twice.
#[derive(Clone, Debug, Default)]
pub struct Members<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

impl<'a> Members<'a> {
    /// The value of a member.
    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.iter().find(|(key, _)| *key == name).map(|(_, value)| value)
    }

    /// Removes a member and returns its value. Null counts as absent.
    pub fn take(&mut self, name: &str) -> Option<&'a RawValue> {
        let index = self.0.iter().position(|(key, _)| key == name)?;
        let (_, value) = self.0.remove(index);
        (value.get() != "null").then_some(value)
    }

    /// The members in their order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &'a RawValue)> {
        self.0.iter().map(|(name, value)| (&**name, *value))
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Keeps the members that a test lets through.
    pub(super) fn retain(&mut self, keep: impl Fn(&str, &RawValue) -> bool) {
        self.0.retain(|(name, value)| keep(name, value));
    }

    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    /// Removes a member and reads it.
    pub(super) fn read<T: Deserialize<'a>>(&mut self, name: &str) -> serde_json::Result<Option<T>> {
        self.take(name).map(|value| serde_json::from_str(value.get())).transpose()
    }

    /// Like [`Self::read`], for a member that must be there.
    pub(super) fn need<T: Deserialize<'a>>(&mut self, name: &'static str) -> serde_json::Result<T> {
        let value = self.read(name)?;
        value.ok_or_else(|| serde_json::Error::custom(format_args!("{name} is missing")))
    }

    /// Removes a member that is an object, without looking into it.
    pub(super) fn object(&mut self, name: &str) -> serde_json::Result<Option<RawObject<'a>>> {
        let Some(value) = self.take(name) else { return Ok(None) };
        let object = RawObject::new(value);
        let problem = || serde_json::Error::custom(format_args!("{name} should be an object"));
        object.map(Some).ok_or_else(problem)
    }

    /// Two members of one name would let the gate judge one and the server act on the other.
    fn has_twins(&self) -> bool {
        let mut names: Vec<&str> = self.0.iter().map(|(name, _)| &**name).collect();
        names.sort_unstable();
        names.windows(2).any(|pair| pair[0] == pair[1])
    }
}

impl Serialize for Members<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_map(self.iter())
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members: Members<'de> = deserializer.deserialize_map(MembersVisitor)?;
        if members.has_twins() {
            return Err(D::Error::custom("a member occurs twice"));
        }
        Ok(members)
    }
}

struct MembersVisitor;

impl<'de> Visitor<'de> for MembersVisitor {
    type Value = Members<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members<'de>, A::Error> {
        let mut members = Vec::new();
        while let Some(Name(name)) = map.next_key()? {
            if members.len() == MAX_MEMBERS {
                return Err(A::Error::custom("too many members"));
            }
            members.push((name, map.next_value()?));
        }
        Ok(Members(members))
    }
}

/// A message has a dozen; a stranger's may have a million, each of which would cost more here than
/// on the wire.
const MAX_MEMBERS: usize = 1_000;

/// The `_meta` of a request: its progress token, and what only passes through.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Meta<'a> {
    /// What progress on this request is to be marked with.
    #[serde(rename = "progressToken", skip_serializing_if = "Option::is_none")]
    pub progress_token: Option<ProgressToken>,
    #[serde(flatten)]
    rest: Members<'a>,
}

impl<'a> Meta<'a> {
    /// Nothing but a token.
    pub fn token(token: ProgressToken) -> Self {
        Self { progress_token: Some(token), rest: Members::default() }
    }

    /// Everything beside the token.
    pub fn rest(&self) -> &Members<'a> {
        &self.rest
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Meta<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut rest = Members::deserialize(deserializer)?;
        let progress_token = rest.read("progressToken").map_err(D::Error::custom)?;
        Ok(Self { progress_token, rest })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    // W-4: an object, or nothing.
    #[test]
    fn w_4_only_objects_are_raw_objects() {
        assert_eq!(from_str::<RawObject<'_>>(" { } ").unwrap().get(), "{ }");
        for text in ["[]", "null", "1", "\"{}\""] {
            assert!(from_str::<RawObject<'_>>(text).is_err(), "{text}");
        }
        assert_eq!(RawObject::default().get(), "{}");
    }

    #[test]
    fn members_keep_order_and_spelling() {
        let text = r#"{"b":1e3,"a":{"x" : [1, 2]},"\u0063":null}"#;
        let members: Members<'_> = from_str(text).unwrap();
        assert_eq!(to_string(&members).unwrap(), r#"{"b":1e3,"a":{"x" : [1, 2]},"c":null}"#);
    }

    #[test]
    fn a_name_may_not_occur_twice_under_any_spelling() {
        assert!(from_str::<Members<'_>>(r#"{"a":1,"b":2,"\u0061":3}"#).is_err());
    }

    #[test]
    fn a_crowd_is_refused() {
        let crowd = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!(r#""{n}":0"#)).collect();
            format!("{{{}}}", members.join(","))
        };
        assert!(from_str::<Members<'_>>(&crowd(MAX_MEMBERS)).is_ok());
        assert!(from_str::<Members<'_>>(&crowd(MAX_MEMBERS + 1)).is_err());
    }

    #[test]
    fn a_progress_token_is_replaced_in_place() {
        let mut meta: Meta<'_> = from_str(r#"{"progressToken":1,"acme/trace":{"a" : 1}}"#).unwrap();
        assert_eq!(meta.progress_token, Some(1.into()));
        meta.progress_token = Some("h-7".into());
        assert_eq!(to_string(&meta).unwrap(), r#"{"progressToken":"h-7","acme/trace":{"a" : 1}}"#);
    }
}
