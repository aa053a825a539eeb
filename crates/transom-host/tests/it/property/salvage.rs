//! Whatever a server wrote, a broken answer is nobody's or the one's whose number it has: never another caller's.

#[path = "../../../src/upstream/salvage.rs"]
#[allow(
    dead_code,
    unreachable_pub,
    reason = "a module of the crate that is nobody's business outside of it"
)]
mod reader;

use std::{collections::BTreeMap, fmt};

use reader::answered;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;

/// Takes the input for a line, and for every beginning of it.
pub(crate) fn check(data: &[u8]) {
    for end in 0..=data.len().min(512) {
        let _ = answered(&data[..end]);
    }
    let found = answered(data);
    let Ok(Members(members)) = serde_json::from_slice(data) else { return };
    // Where the whole line can be read, it is known whom it answers.
    let own = members.get("id").and_then(Value::as_u64);
    let answers = members.contains_key("result") || members.contains_key("error");
    let asks = members.contains_key("method");
    assert!(found.is_none() || (found == own && answers && !asks), "{found:?}");
}

/// The members of an object of which each has a name of its own: which of two counts is not for us to say.
struct Members(BTreeMap<String, Value>);

impl<'de> Deserialize<'de> for Members {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Once;
        impl<'de> Visitor<'de> for Once {
            type Value = Members;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object without a name that stands twice")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Members, A::Error> {
                let mut members = BTreeMap::new();
                while let Some((name, value)) = map.next_entry()? {
                    if members.insert(name, value).is_some() {
                        return Err(serde::de::Error::custom("twice"));
                    }
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Once)
    }
}
