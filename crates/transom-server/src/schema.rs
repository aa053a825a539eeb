//! Schemas as every client reads them.

use std::sync::Arc;

use rmcp::model::JsonObject;
use serde_json::Value;

/// Leaves out the names that only Rust has for the widths of numbers.
///
/// Clients that validate know a few formats and print a warning for each other one, at every list.
pub(crate) fn portable(mut schema: Arc<JsonObject>) -> Arc<JsonObject> {
    if schema.values().any(|value| has_foreign(value, 0)) {
        let object = Arc::make_mut(&mut schema);
        object.values_mut().for_each(|value| strip(value, 0));
    }
    schema
}

fn has_foreign(schema: &Value, depth: usize) -> bool {
    match schema {
        _ if depth == MAX_DEPTH => false,
        Value::Object(object) => {
            is_foreign(object) || object.values().any(|value| has_foreign(value, depth + 1))
        }
        Value::Array(list) => list.iter().any(|value| has_foreign(value, depth + 1)),
        _ => false,
    }
}

fn strip(schema: &mut Value, depth: usize) {
    match schema {
        _ if depth == MAX_DEPTH => {}
        Value::Object(object) => {
            if is_foreign(object) {
                object.remove("format");
            }
            object.values_mut().for_each(|value| strip(value, depth + 1));
        }
        Value::Array(list) => list.iter_mut().for_each(|value| strip(value, depth + 1)),
        _ => {}
    }
}

/// Whether it is a number's schema with a format that JSON Schema and OpenAPI do not have. A field that
/// is called `format` is a schema of its own, and no word.
fn is_foreign(object: &JsonObject) -> bool {
    object.get("format").and_then(Value::as_str).is_some_and(|format| FOREIGN.contains(&format))
}

/// As schemars writes them; `int32`, `int64`, `float` and `double` are known everywhere.
const FOREIGN: [&str; 10] =
    ["int8", "int16", "int128", "int", "uint8", "uint16", "uint32", "uint64", "uint128", "uint"];
/// Deeper than any type of a real program.
const MAX_DEPTH: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn made(schema: Value) -> Value {
        let Value::Object(schema) = schema else { panic!("no object") };
        Value::Object(Arc::unwrap_or_clone(portable(Arc::new(schema))))
    }

    #[test]
    fn only_formats_that_nobody_else_knows_go() {
        let schema = json!({ "type": "object", "properties": {
            "a": { "type": ["integer", "null"], "format": "uint64", "minimum": 0 },
            "b": { "type": "array", "items": { "anyOf": [{ "type": "integer", "format": "uint8" }] } },
            "c": { "type": "integer", "format": "int32" },
            "d": { "type": "string", "format": "date-time" },
            "format": { "type": "string" },
        } });
        let expected = json!({ "type": "object", "properties": {
            "a": { "type": ["integer", "null"], "minimum": 0 },
            "b": { "type": "array", "items": { "anyOf": [{ "type": "integer" }] } },
            "c": { "type": "integer", "format": "int32" },
            "d": { "type": "string", "format": "date-time" },
            "format": { "type": "string" },
        } });
        assert_eq!(made(schema), expected);
        assert_eq!(made(expected.clone()), expected);
    }
}
