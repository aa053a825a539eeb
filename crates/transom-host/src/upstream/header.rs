//! What the stateless era repeats of a request in headers.

use base64::{Engine, prelude::BASE64_STANDARD};
use reqwest::header::HeaderName;
use serde_json::{Map, Value};

/// An argument that a tool wants repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mirrored {
    /// The names that lead to it, outermost first.
    path: Vec<String>,
    header: HeaderName,
}

impl Mirrored {
    /// Finds the arguments that a tool's input schema marks with `x-mcp-header`.
    pub(super) fn in_schema(schema: &Value) -> Vec<Self> {
        let mut found = vec![];
        collect(schema, &mut vec![], &mut found);
        found
    }

    /// The header and the value it has for these arguments, if they have one.
    pub(super) fn of(&self, arguments: &Value) -> Option<(HeaderName, String)> {
        let value = self.path.iter().try_fold(arguments, |value, name| value.get(name))?;
        let value = match value {
            Value::String(text) => text.clone(),
            Value::Bool(_) | Value::Number(_) => value.to_string(),
            Value::Null | Value::Array(_) | Value::Object(_) => return None,
        };
        Some((self.header.clone(), value))
    }
}

fn collect(schema: &Value, path: &mut Vec<String>, found: &mut Vec<Mirrored>) {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    if path.len() == MAX_DEPTH {
        return;
    }
    for (name, schema) in properties {
        path.push(name.clone());
        let mark = schema.get("x-mcp-header").and_then(Value::as_str);
        if let Some(header) = mark.and_then(header)
            && found.len() < MAX_HEADERS
        {
            found.push(Mirrored { path: path.clone(), header });
        }
        collect(schema, path, found);
        path.pop();
    }
}

fn header(mark: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(format!("mcp-param-{mark}").as_bytes()).ok().filter(|_| !mark.is_empty())
}

/// Writes a value so that a header can hold it: as it is, or in base64 where it would change its meaning
/// on the way.
pub(super) fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && value.trim_ascii() == value
        && !(value.starts_with(OPEN) && value.ends_with(CLOSE));
    if plain { value.to_owned() } else { format!("{OPEN}{}{CLOSE}", BASE64_STANDARD.encode(value)) }
}

const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
/// How deep a schema is searched, and for how much: headers are for routing, not for payloads.
const MAX_DEPTH: usize = 8;
const MAX_HEADERS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn values_that_a_header_would_change_are_wrapped() {
        #[rustfmt::skip]
        let table = [
            ("get-time", "get-time"),
            ("two words", "two words"),
            ("", ""),
            (" padded", "=?base64?IHBhZGRlZA==?="),
            ("Grüße", "=?base64?R3LDvMOfZQ==?="),
            ("a\r\nX: y", "=?base64?YQ0KWDogeQ==?="),
            ("=?base64?YQ==?=", "=?base64?PT9iYXNlNjQ/WVE9PT89?="),
        ];
        for (value, expected) in table {
            assert_eq!(encode(value), expected, "{value:?}");
        }
    }

    #[test]
    fn marked_arguments_are_mirrored() {
        let schema = json!({"properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "deep": {"properties": {"count": {"type": "integer", "x-mcp-header": "Count"}}},
            "bad": {"x-mcp-header": "not a token"},
            "empty": {"x-mcp-header": ""},
            "plain": {"type": "string"},
        }});
        let marks = Mirrored::in_schema(&schema);
        let arguments = json!({"region": "eu", "deep": {"count": 3}, "bad": "x", "plain": "y"});
        let seen: Vec<String> = marks
            .iter()
            .filter_map(|mark| mark.of(&arguments))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        assert_eq!(seen, ["mcp-param-region: eu", "mcp-param-count: 3"]);
        assert!(marks.iter().all(|mark| mark.of(&json!({"region": ["eu"]})).is_none()));
    }
}
