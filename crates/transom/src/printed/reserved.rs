//! Names by which `serde_json` speaks to itself, which are no names to it.

use std::{borrow::Cow, fmt};

use serde::{
    Deserialize, Deserializer,
    de::{Error as _, MapAccess, SeqAccess, Visitor},
};

/// Whether a name is one by which `serde_json` speaks to itself.
///
/// An object whose first member is called so is not an object to [`serde_json::Value`]: it takes the text in that
/// member for JSON, and the object for what stands there. Every other reader sees an object.
pub fn is_reserved(name: &str) -> bool {
    name.starts_with(RESERVED)
}

/// Whether a JSON text has a [reserved](is_reserved) name anywhere, however it is spelled. A text that is not JSON
/// may have one: it should not be read.
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

/// How the names begin by which `serde_json` speaks to itself.
const RESERVED: &str = "$serde_json::";
