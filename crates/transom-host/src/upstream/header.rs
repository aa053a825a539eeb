//! What the stateless era repeats of a request in headers.

use std::collections::HashSet;

use data_encoding::BASE64;
use reqwest::header::HeaderName;
use serde_json::{Map, Value, value::RawValue};
use transom::wire::Members;

/// An argument that a tool wants repeated in a header.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Mirrored {
    /// The names that lead to it, outermost first.
    path: Vec<String>,
    header: HeaderName,
}

impl Mirrored {
    /// Finds the arguments that a tool's input schema marks with `x-mcp-header`.
    ///
    /// A mark that cannot be followed spoils the tool: whoever routes by it would be misled.
    pub(super) fn in_schema(schema: &Value) -> Result<Vec<Self>, BadMark> {
        let mut found = vec![];
        collect(schema, &mut vec![], &mut found)?;
        let names: HashSet<&HeaderName> = found.iter().map(|mark| &mark.header).collect();
        let marks = count(schema);
        // More marks than were found stand where no argument has a fixed place.
        if names.len() < found.len() || marks > found.len() { Err(BadMark) } else { Ok(found) }
    }

    /// The header and the value it has for these arguments, if they have one.
    ///
    /// A number is the text that goes out in the body: a reader may know more digits than we do.
    pub(super) fn of(&self, arguments: &RawValue) -> Option<(HeaderName, String)> {
        let mut value = arguments;
        for name in &self.path {
            value = serde_json::from_str::<Members<'_>>(value.get()).ok()?.get(name)?;
        }
        let value = match value.get().as_bytes().first()? {
            b'"' => serde_json::from_str(value.get()).ok()?,
            b'n' | b'[' | b'{' => return None,
            _ => value.get().to_owned(),
        };
        Some((self.header.clone(), value))
    }
}

fn collect(
    schema: &Value,
    path: &mut Vec<String>,
    found: &mut Vec<Mirrored>,
) -> Result<(), BadMark> {
    let empty = Map::new();
    let properties = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
    for (name, schema) in properties {
        path.push(name.clone());
        if let Some(mark) = schema.get(MARK) {
            let header = mark.as_str().and_then(header).filter(|_| is_primitive(schema));
            found.push(Mirrored { path: path.clone(), header: header.ok_or(BadMark)? });
        }
        if path.len() > MAX_DEPTH || found.len() > MAX_HEADERS {
            return Err(BadMark);
        }
        collect(schema, path, found)?;
        path.pop();
    }
    Ok(())
}

/// How many marks there are anywhere in a schema.
fn count(schema: &Value) -> usize {
    match schema {
        Value::Object(members) => members
            .iter()
            .map(|(name, value)| match &**name {
                MARK => 1,
                // Examples of data, not of schemas.
                "default" | "const" | "enum" | "examples" => 0,
                "properties" => {
                    value.as_object().into_iter().flat_map(Map::values).map(count).sum()
                }
                _ => count(value),
            })
            .sum(),
        Value::Array(values) => values.iter().map(count).sum(),
        _ => 0,
    }
}

fn is_primitive(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str);
    kind.is_some_and(|kind| ["string", "integer", "boolean"].contains(&kind))
}

fn header(mark: &str) -> Option<HeaderName> {
    HeaderName::from_bytes(format!("mcp-param-{mark}").as_bytes()).ok().filter(|_| !mark.is_empty())
}

/// A mark that no header can follow.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BadMark;

/// Writes a value so that a header can hold it: as it is, or in base64 where it would change its meaning
/// on the way.
pub(super) fn encode(value: &str) -> String {
    let plain = value.bytes().all(|byte| (b' '..=b'~').contains(&byte))
        && value.trim_ascii() == value
        && !(value.starts_with(OPEN) && value.ends_with(CLOSE));
    if plain {
        value.to_owned()
    } else {
        format!("{OPEN}{}{CLOSE}", BASE64.encode(value.as_bytes()))
    }
}

const MARK: &str = "x-mcp-header";
const OPEN: &str = "=?base64?";
const CLOSE: &str = "?=";
/// How deep a schema is searched, and for how much: headers are for routing, not for payloads.
const MAX_DEPTH: usize = 8;
const MAX_HEADERS: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, value::to_raw_value};

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
            "plain": {"type": "string", "default": {"x-mcp-header": "data"}},
            "x-mcp-header": {"type": "string"},
        }});
        let marks = Mirrored::in_schema(&schema).unwrap();
        let arguments =
            r#"{"region":"eu","deep":{"count":123456789012345678901234567890},"plain":"y"}"#;
        let arguments: &RawValue = serde_json::from_str(arguments).unwrap();
        let seen: Vec<String> = marks
            .iter()
            .filter_map(|mark| mark.of(arguments))
            .map(|(name, value)| format!("{name}: {value}"))
            .collect();
        let count = "mcp-param-count: 123456789012345678901234567890";
        assert_eq!(seen, ["mcp-param-region: eu", count]);
        let list = to_raw_value(&json!({"region": ["eu"]})).unwrap();
        assert!(marks.iter().all(|mark| mark.of(&list).is_none()));
    }

    #[test]
    fn a_mark_that_cannot_be_followed_spoils_the_tool() {
        let string = |mark: Value| json!({"type": "string", "x-mcp-header": mark});
        #[rustfmt::skip]
        let table = [
            json!({"properties": {"a": string(json!(""))}}),
            json!({"properties": {"a": string(json!("two words"))}}),
            json!({"properties": {"a": string(json!("a\r\nb"))}}),
            json!({"properties": {"a": string(json!(7))}}),
            json!({"properties": {"a": {"type": "number", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"type": "object", "x-mcp-header": "A"}}}),
            json!({"properties": {"a": {"x-mcp-header": "A"}}}),
            json!({"properties": {"a": string(json!("Same")), "b": string(json!("same"))}}),
            json!({"properties": {"a": {"items": string(json!("Item"))}}}),
            json!({"properties": {"a": {"anyOf": [string(json!("Any"))]}}}),
            json!({"x-mcp-header": "Root"}),
        ];
        for schema in table {
            assert_eq!(Mirrored::in_schema(&schema), Err(BadMark), "{schema}");
        }
    }
}
