//! A tool, as complete as the reference peers insist on.

use super::json::{self, Fields};
use super::{Icon, RequestId};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value, json};

/// The tool call that opened a view.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ToolInfo {
    /// The id of the call.
    #[serde(
        default,
        skip_serializing_if = "Option::is_none",
        deserialize_with = "json::or_absent"
    )]
    pub id: Option<RequestId>,
    /// The tool.
    pub tool: Tool,
}

/// A tool with a name and an input schema of type `object`; no other can be had.
///
/// Unknown members are kept. A member of the spec that the reference peers would refuse, and the
/// whole tool with it, is dropped when read.
#[derive(Clone, Debug, PartialEq)]
pub struct Tool(Map<String, Value>);

impl Tool {
    /// A tool that takes anything.
    pub fn new(name: impl Into<String>) -> Self {
        let mut members = Map::new();
        members.insert("name".to_owned(), Value::String(name.into()));
        members.insert("inputSchema".to_owned(), json!({ "type": "object" }));
        Self(members)
    }

    /// Reads a tool.
    pub fn read(members: Map<String, Value>) -> Result<Self, NotATool> {
        if !members.get("name").is_some_and(Value::is_string) {
            return Err(NotATool::Nameless);
        }
        if !members.get("inputSchema").is_some_and(is_object_schema) {
            return Err(NotATool::InputSchema);
        }
        let mended = members.into_iter().filter_map(|(key, value)| {
            let value = mend(&key, value)?;
            Some((key, value))
        });
        Ok(Self(mended.collect()))
    }

    /// Its name for programs.
    pub fn name(&self) -> &str {
        self.0.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Any of its members.
    pub fn get(&self, key: &str) -> Option<&Value> {
        self.0.get(key)
    }

    /// Its metadata, where the link to its view is.
    pub fn meta(&self) -> Option<&Map<String, Value>> {
        self.get("_meta")?.as_object()
    }

    /// What its server claims about it: `readOnlyHint`, `destructiveHint` and their like.
    pub fn hint(&self, name: &str) -> Option<bool> {
        self.get("annotations")?.get(name)?.as_bool()
    }
}

impl Serialize for Tool {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.0.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Tool {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members = Fields::deserialize(deserializer)?.rest();
        Self::read(members).map_err(D::Error::custom)
    }
}

/// Why something is not a tool.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum NotATool {
    /// No name.
    #[error("a tool has a name")]
    Nameless,
    /// No input schema, or one of another type.
    #[error("a tool has an inputSchema of type object")]
    InputSchema,
}

fn is_object_schema(schema: &Value) -> bool {
    schema.get("type").and_then(Value::as_str) == Some("object")
}

/// What may be passed on of a member; unknown ones may be anything.
fn mend(key: &str, value: Value) -> Option<Value> {
    match key {
        "title" | "description" => value.is_string().then_some(value),
        "inputSchema" => Some(mend_schema(value)),
        "outputSchema" => is_object_schema(&value).then(|| mend_schema(value)),
        "annotations" => keep(value, |name, value| match name {
            "title" => value.is_string(),
            _ => !name.ends_with("Hint") || value.is_boolean(),
        }),
        "execution" => keep(value, |name, value| {
            let support = value.as_str().unwrap_or_default();
            name != "taskSupport" || ["required", "optional", "forbidden"].contains(&support)
        }),
        "icons" => {
            let icons = Fields::of(json!({ "icons": value })).list::<Icon>("icons")?;
            serde_json::to_value(icons).ok()
        }
        "_meta" => value.is_object().then_some(value),
        _ => Some(value),
    }
}

/// Keeps the members of an object that a test lets through.
fn keep(value: Value, test: impl Fn(&str, &Value) -> bool) -> Option<Value> {
    let Value::Object(mut members) = value else { return None };
    members.retain(|name, value| test(name, value));
    Some(Value::Object(members))
}

/// Puts a schema into the form that both generations of the reference take.
fn mend_schema(mut schema: Value) -> Value {
    let Some(members) = schema.as_object_mut() else { return schema };
    members.retain(|name, value| match name.as_str() {
        "properties" => value.is_object(),
        "required" => value.as_array().is_some_and(|names| names.iter().all(Value::is_string)),
        "$schema" => value.is_string(),
        _ => true,
    });
    if let Some(Value::Object(properties)) = members.get_mut("properties") {
        properties.values_mut().for_each(mend_property);
    }
    schema
}

/// JSON Schema has booleans for "anything" and "nothing"; the 1.x peers know objects only.
fn mend_property(schema: &mut Value) {
    match schema {
        Value::Object(_) => {}
        Value::Bool(false) => *schema = json!({ "not": {} }),
        _ => *schema = json!({}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, to_value};

    #[test]
    fn there_is_no_tool_without_name_or_schema() {
        let table = [
            (json!({ "inputSchema": { "type": "object" } }), NotATool::Nameless),
            (json!({ "name": 1, "inputSchema": { "type": "object" } }), NotATool::Nameless),
            (json!({ "name": "a" }), NotATool::InputSchema),
            (json!({ "name": "a", "inputSchema": {} }), NotATool::InputSchema),
            (json!({ "name": "a", "inputSchema": { "type": "array" } }), NotATool::InputSchema),
            (json!({ "name": "a", "inputSchema": { "type": ["object"] } }), NotATool::InputSchema),
        ];
        for (wire, expected) in table {
            let Value::Object(members) = wire else { unreachable!() };
            assert_eq!(Tool::read(members), Err(expected));
        }
    }

    #[test]
    fn what_is_sound_or_unknown_is_kept() {
        let wire = json!({
            "name": "a", "title": "A", "description": "d", "new": null,
            "inputSchema": {
                "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
                "properties": { "x": { "type": "string" } }, "required": ["x"], "$defs": {},
            },
            "outputSchema": { "type": "object" },
            "annotations": { "title": "A", "readOnlyHint": true, "new": 1 },
            "execution": { "taskSupport": "optional" },
            "icons": [{ "src": "data:," }],
            "_meta": { "ui": { "resourceUri": "ui://a" } },
        });
        let tool: Tool = from_value(wire.clone()).unwrap();
        assert_eq!(tool.hint("readOnlyHint"), Some(true));
        assert_eq!(tool.hint("destructiveHint"), None);
        assert!(tool.meta().is_some());
        assert_eq!(to_value(tool).unwrap(), wire);
    }

    #[test]
    fn what_peers_would_refuse_is_dropped_or_mended() {
        let wire = json!({
            "name": "a", "title": null, "description": 7,
            "inputSchema": {
                "type": "object", "required": "x",
                "properties": { "any": true, "none": false, "odd": 7 },
            },
            "outputSchema": { "type": "array" },
            "annotations": { "title": null, "readOnlyHint": "yes", "openWorldHint": false },
            "execution": { "taskSupport": "perhaps" },
            "icons": [{ "sizes": [] }, { "src": "data:,", "sizes": null }],
            "_meta": null,
        });
        let tool: Tool = from_value(wire).unwrap();
        assert_eq!(
            to_value(tool).unwrap(),
            json!({
                "name": "a",
                "inputSchema": {
                    "type": "object",
                    "properties": { "any": {}, "none": { "not": {} }, "odd": {} },
                },
                "annotations": { "openWorldHint": false },
                "execution": {},
                "icons": [{ "src": "data:," }],
            })
        );
    }

    #[test]
    fn an_odd_call_id_is_left_out() {
        let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
        for (id, expected) in [
            (json!(0), Some(0.into())),
            (json!("0"), Some("0".into())),
            (json!(null), None),
            (json!(1.5), None),
        ] {
            let info: ToolInfo = from_value(json!({ "id": id, "tool": tool })).unwrap();
            assert_eq!(info.id, expected);
        }
    }
}
