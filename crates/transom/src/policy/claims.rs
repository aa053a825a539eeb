//! What a tool says of itself, and in what it differs later.

use std::{collections::BTreeMap, sync::Arc};

use serde::{Deserialize, Serialize};
use serde_json::Value;

/// What a tool says of itself, as far as a yes for longer than once depends on it.
///
/// Not its description: no question shows it, and servers write into it what is another thing every day.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct Claims {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    read_only_hint: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    destructive_hint: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    idempotent_hint: Option<bool>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    open_world_hint: Option<bool>,
    /// What stands for its `inputSchema`: a digest, or the schema itself.
    pub(crate) schema: Box<str>,
    /// What stands for the routes that it declares, and for what it says of handles.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) routes: Option<Box<str>>,
}

/// What each tool of a subject said of itself when a person was asked, by name.
pub type Claimed = BTreeMap<String, Arc<Claims>>;

impl Claims {
    /// What the hints of a tool say, and what stands for its schema.
    pub(crate) fn of(hint: impl Fn(&str) -> Option<bool>, schema: Box<str>) -> Self {
        Self {
            read_only_hint: hint("readOnlyHint"),
            destructive_hint: hint("destructiveHint"),
            idempotent_hint: hint("idempotentHint"),
            open_world_hint: hint("openWorldHint"),
            schema,
            routes: None,
        }
    }

    /// Whether the tool claims to change nothing.
    pub(crate) fn is_read_only(&self) -> bool {
        self.read_only_hint == Some(true)
    }

    /// In words, what is not as it was. The words are ours alone.
    pub fn changes(&self, now: &Self) -> Vec<String> {
        let hints = self.hints().into_iter().zip(now.hints());
        let hints = hints.filter(|((_, before), (_, after))| before != after);
        let mut words: Vec<String> =
            hints.map(|((name, before), (_, after))| changed(name, before, after)).collect();
        if self.schema != now.schema {
            words.push("what it takes as arguments has changed".to_owned());
        }
        if self.routes != now.routes {
            words.push("the HTTP requests that it declares have changed".to_owned());
        }
        words
    }

    /// The stricter of two readings of each hint, where a name stands twice.
    pub(crate) fn tighten(&mut self, other: &Self) {
        let stricter = |one: &mut Option<bool>, other: Option<bool>, strict: bool| {
            if *one != other {
                *one = Some(strict);
            }
        };
        stricter(&mut self.read_only_hint, other.read_only_hint, false);
        stricter(&mut self.destructive_hint, other.destructive_hint, true);
        stricter(&mut self.idempotent_hint, other.idempotent_hint, false);
        stricter(&mut self.open_world_hint, other.open_world_hint, true);
    }

    fn hints(&self) -> [(&'static str, Option<bool>); 4] {
        [
            ("readOnlyHint", self.read_only_hint),
            ("destructiveHint", self.destructive_hint),
            ("idempotentHint", self.idempotent_hint),
            ("openWorldHint", self.open_world_hint),
        ]
    }
}

fn changed(name: &str, before: Option<bool>, after: Option<bool>) -> String {
    match (before, after) {
        (Some(before), Some(after)) => format!("{name} was {before}, and is {after} now"),
        (None, Some(after)) => format!("{name} was not said, and is {after} now"),
        (Some(before), None) => format!("{name} was {before}, and is not said any more"),
        (None, None) => unreachable!("two that are the same are no change"),
    }
}

/// A schema as text, the same for every order of its members.
pub(crate) fn canonical(schema: Option<&Value>) -> String {
    match schema {
        Some(schema) => sorted(schema).to_string(),
        None => String::new(),
    }
}

/// As deep as the parser went, which has a limit.
fn sorted(value: &Value) -> Value {
    match value {
        Value::Array(items) => items.iter().map(sorted).collect(),
        Value::Object(members) => {
            let members: BTreeMap<&String, Value> =
                members.iter().map(|(key, value)| (key, sorted(value))).collect();
            members.into_iter().map(|(key, value)| (key.clone(), value)).collect()
        }
        other => other.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_schema_is_the_same_in_any_order_of_its_members_and_in_no_other() {
        let text = |json: &str| canonical(Some(&serde_json::from_str(json).unwrap()));
        let one = text(r#"{"type":"object","properties":{"a":{"type":"string"},"b":[1,2]}}"#);
        assert_eq!(
            one,
            text(r#"{ "properties": {"b":[1, 2],"a":{"type":"string"}}, "type":"object" }"#)
        );
        assert_ne!(
            one,
            text(r#"{"type":"object","properties":{"a":{"type":"string"},"b":[2,1]}}"#)
        );
        assert_ne!(text("{}"), canonical(None));
    }
}
