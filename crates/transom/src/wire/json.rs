//! Reading and printing JSON the way the wire wants it.

use super::RequestId;
use serde::de::{Deserialize, DeserializeOwned, Deserializer};
use serde::ser::{Error as _, Serialize, SerializeMap, Serializer};
use serde_json::{Map, Number, Value};

/// An object on its way in. Each known key is taken once; what stays is unknown.
///
/// Anything but an object reads as an object without keys.
pub(super) struct Fields(Map<String, Value>);

impl Fields {
    pub(super) fn of(value: Value) -> Self {
        match value {
            Value::Object(map) => Self(map),
            _ => Self(Map::new()),
        }
    }

    /// The value of a key, if it is there and not null.
    pub(super) fn value(&mut self, key: &str) -> Option<Value> {
        self.0.shift_remove(key).filter(|value| !value.is_null())
    }

    /// The value of a key, if it can be read as what belongs there.
    pub(super) fn take<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        serde_json::from_value(self.value(key)?).ok()
    }

    /// Like [`Self::take`], for a type that would read anything but an object as an empty one.
    pub(super) fn object<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let value = self.value(key).filter(Value::is_object)?;
        serde_json::from_value(value).ok()
    }

    /// Like [`Self::object`], for a capability, where hand-written peers say `true` and mean `{}`.
    pub(super) fn settings<T: DeserializeOwned>(&mut self, key: &str) -> Option<T> {
        let settings = match self.value(key)? {
            Value::Bool(true) => Value::Object(Map::new()),
            other => Some(other).filter(Value::is_object)?,
        };
        serde_json::from_value(settings).ok()
    }

    /// The items of a list that can be read; the others are skipped.
    pub(super) fn list<T: DeserializeOwned>(&mut self, key: &str) -> Option<Vec<T>> {
        let Some(Value::Array(items)) = self.value(key) else { return None };
        Some(items.into_iter().filter_map(|item| serde_json::from_value(item).ok()).collect())
    }

    /// Whether a capability is claimed: any object, or anything JavaScript takes for true.
    pub(super) fn flag(&mut self, key: &str) -> bool {
        self.value(key).is_some_and(|value| is_truthy(&value))
    }

    /// What was not taken.
    pub(super) fn rest(self) -> Map<String, Value> {
        self.0
    }
}

impl<'de> Deserialize<'de> for Fields {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Value::deserialize(deserializer).map(Self::of)
    }
}

/// What JavaScript's `if` makes of a value.
pub(super) fn is_truthy(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Bool(flag) => *flag,
        Value::Number(number) => number.as_f64() != Some(0.0),
        Value::String(text) => !text.is_empty(),
        Value::Array(_) | Value::Object(_) => true,
    }
}

/// Reads a key that must not be null: with `Option` alone, null would pass for absent.
pub(super) fn present<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: Deserialize<'de>,
{
    T::deserialize(deserializer).map(Some)
}

/// Reads an optional key whose wrong value counts as absent.
pub(super) fn or_absent<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: DeserializeOwned,
{
    Ok(serde_json::from_value(Value::deserialize(deserializer)?).ok())
}

/// Prints the keys a type does not know. A known one among them would go around the closed types.
pub(super) fn unknown<S: Serializer>(
    rest: &Map<String, Value>,
    known: &[&str],
    serializer: S,
) -> Result<S::Ok, S::Error> {
    let is_printed = |(key, value): &(&String, &Value)| match key.as_str() {
        "_meta" => is_sound_meta(value),
        key => !known.contains(&key),
    };
    serializer.collect_map(rest.iter().filter(is_printed))
}

/// Whether a peer takes this for `_meta`: an object, and two of its keys are spoken for.
fn is_sound_meta(value: &Value) -> bool {
    let is_task = |task: &Value| task.get("taskId").is_some_and(Value::is_string);
    value.as_object().is_some_and(|meta| {
        meta.get("progressToken").is_none_or(|token| RequestId::deserialize(token).is_ok())
            && meta.get("io.modelcontextprotocol/related-task").is_none_or(is_task)
    })
}

/// Prints a granted capability. Peers reject `true`.
pub(super) fn flag<S: Serializer>(_: &bool, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_map(Some(0))?.end()
}

/// Whether a flag is left out of what is printed.
pub(super) fn is_off(flag: &bool) -> bool {
    !flag
}

/// Whether a number is left out: `NaN` and the infinities would be printed as null.
pub(super) fn is_unprintable(number: &Option<f64>) -> bool {
    !number.is_some_and(f64::is_finite)
}

/// Prints a number that [`is_unprintable`] let through.
pub(super) fn optional_number<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    number(&value.unwrap_or(f64::NAN), serializer)
}

/// Prints a number as JavaScript would, whole ones without a fraction.
pub(super) fn number<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    match to_number(*value) {
        Some(number) => number.serialize(serializer),
        None => Err(S::Error::custom("a number on the wire must be finite")),
    }
}

/// The JSON number for a value, none for `NaN` and the infinities.
pub(super) fn to_number(value: f64) -> Option<Number> {
    if value.fract() == 0.0 && value.abs() <= SAFE_INTEGER {
        return Some(Number::from(value as i64));
    }
    Number::from_f64(value)
}

/// Beyond this, JavaScript no longer tells neighbouring integers apart.
const SAFE_INTEGER: f64 = 9_007_199_254_740_991.0;

/// Declares a closed set of strings as an enum.
///
/// Reading an unknown string is an error here; the lenient readers above turn it into "absent".
macro_rules! closed_enum {
    ($(#[$outer:meta])* $name:ident { $($(#[$inner:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$outer])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum $name { $($(#[$inner])* #[doc = concat!("Written `", $text, "`.")] $variant,)+ }

        impl $name {
            /// Every value, in the order of the spec.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// Reads the spelling of the wire; nothing else is this type.
            pub fn parse(text: &str) -> Option<Self> {
                match text { $($text => Some(Self::$variant),)+ _ => None }
            }

            /// The spelling of the wire.
            pub fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }

        impl serde::Serialize for $name {
            fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.serialize_str(self.as_str())
            }
        }

        impl<'de> serde::Deserialize<'de> for $name {
            fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
                let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
                Self::parse(&text).ok_or_else(|| {
                    serde::de::Error::custom(concat!("not a value of ", stringify!($name)))
                })
            }
        }
    };
}
pub(super) use closed_enum;
