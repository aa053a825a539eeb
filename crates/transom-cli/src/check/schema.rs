//! Whether a value fits a JSON Schema, as far as the words of the schema are known here.
//!
//! Generators of tool schemas write a small part of the language: types, members, items, limits, choices and
//! references into the same document. A word that is not known is passed over, so that nothing is called
//! wrong that may be right.

use serde_json::{Map, Value};

/// The first place where a value does not fit, in words; nothing if it fits.
pub(super) fn mismatch(schema: &Value, value: &Value) -> Option<String> {
    Checker { root: schema, steps: MAX_STEPS }.check(schema, value, "", 0).err()
}

struct Checker<'a> {
    root: &'a Value,
    steps: usize,
}

impl Checker<'_> {
    fn check(
        &mut self,
        schema: &Value,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        // A schema can be made to take for ever; beyond this nothing is said to be wrong.
        if self.steps == 0 || depth > MAX_DEPTH {
            return Ok(());
        }
        self.steps -= 1;
        let schema = match schema {
            Value::Bool(false) => return Err(format!("{} should not be there", name(path))),
            Value::Object(schema) => schema,
            _ => return Ok(()),
        };
        if let Some(target) = self.reference(schema) {
            let target = target.clone();
            self.check(&target, value, path, depth + 1)?;
        }
        kind(schema, value, path)?;
        choice(schema, value, path)?;
        limits(schema, value, path)?;
        self.members(schema, value, path, depth)?;
        self.items(schema, value, path, depth)?;
        self.combined(schema, value, path, depth)
    }

    fn reference(&self, schema: &Map<String, Value>) -> Option<&Value> {
        let pointer = schema.get("$ref")?.as_str()?.strip_prefix('#')?;
        self.root.pointer(pointer)
    }

    fn members(
        &mut self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        let Value::Object(members) = value else { return Ok(()) };
        let required = schema.get("required").and_then(Value::as_array);
        for key in required.into_iter().flatten().filter_map(Value::as_str) {
            if !members.contains_key(key) {
                return Err(format!("{} lacks {key:?}", name(path)));
            }
        }
        let empty = Map::new();
        let known = schema.get("properties").and_then(Value::as_object).unwrap_or(&empty);
        for (key, member) in members {
            let path = format!("{path}/{key}");
            match (known.get(key), schema.get("additionalProperties")) {
                (Some(schema), _) => self.check(schema, member, &path, depth + 1)?,
                // Names that match a pattern are not looked at, so it is not known which are left over.
                (None, Some(rest)) if !schema.contains_key("patternProperties") => {
                    self.check(rest, member, &path, depth + 1)?;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        let Value::Array(items) = value else { return Ok(()) };
        let first = schema.get("prefixItems").and_then(Value::as_array);
        let first = first.map(Vec::as_slice).unwrap_or_default();
        for (at, item) in items.iter().enumerate() {
            if let Some(schema) = first.get(at).or_else(|| schema.get("items")) {
                self.check(schema, item, &format!("{path}/{at}"), depth + 1)?;
            }
        }
        Ok(())
    }

    fn combined(
        &mut self,
        schema: &Map<String, Value>,
        value: &Value,
        path: &str,
        depth: usize,
    ) -> Result<(), String> {
        let list = |key: &str| schema.get(key).and_then(Value::as_array);
        for schema in list("allOf").into_iter().flatten() {
            self.check(schema, value, path, depth + 1)?;
        }
        for key in ["anyOf", "oneOf"] {
            let Some(schemas) = list(key) else { continue };
            let fitting = schemas
                .iter()
                .filter(|schema| self.check(schema, value, path, depth + 1).is_ok())
                .count();
            if fitting == 0 {
                return Err(format!("{} fits none of its {key}", name(path)));
            }
            if key == "oneOf" && fitting > 1 && self.steps > 0 {
                return Err(format!("{} fits {fitting} of its oneOf", name(path)));
            }
        }
        Ok(())
    }
}

fn kind(schema: &Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
    let kinds: Vec<&str> = match schema.get("type") {
        Some(Value::String(kind)) => vec![kind],
        Some(Value::Array(kinds)) => kinds.iter().filter_map(Value::as_str).collect(),
        _ => return Ok(()),
    };
    let fits = |kind: &&str| match *kind {
        "null" => value.is_null(),
        "boolean" => value.is_boolean(),
        "string" => value.is_string(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "number" => value.is_number(),
        "integer" => {
            value.is_i64() || value.is_u64() || value.as_f64().is_some_and(|n| n.fract() == 0.0)
        }
        _ => true,
    };
    if kinds.iter().any(fits) {
        return Ok(());
    }
    Err(format!("{} should be {}, got {}", name(path), kinds.join(" or "), kind_of(value)))
}

fn choice(schema: &Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
    let listed = schema.get("enum").and_then(Value::as_array);
    let constant = schema.get("const");
    if listed.is_some_and(|listed| !listed.contains(value)) {
        return Err(format!("{} is not one of its enum", name(path)));
    }
    if constant.is_some_and(|constant| constant != value) {
        return Err(format!("{} is not its const", name(path)));
    }
    Ok(())
}

fn limits(schema: &Map<String, Value>, value: &Value, path: &str) -> Result<(), String> {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let size = match value {
        Value::String(text) => Some((text.chars().count(), "minLength", "maxLength")),
        Value::Array(items) => Some((items.len(), "minItems", "maxItems")),
        Value::Object(members) => Some((members.len(), "minProperties", "maxProperties")),
        _ => None,
    };
    let mut bounds = vec![];
    if let Some((size, least, most)) = size {
        let size = size as f64;
        bounds.push((least, number(least).is_some_and(|bound| size < bound)));
        bounds.push((most, number(most).is_some_and(|bound| size > bound)));
    }
    if let Some(value) = value.as_f64() {
        bounds.push(("minimum", number("minimum").is_some_and(|bound| value < bound)));
        bounds.push(("maximum", number("maximum").is_some_and(|bound| value > bound)));
        let least = number("exclusiveMinimum");
        bounds.push(("exclusiveMinimum", least.is_some_and(|bound| value <= bound)));
        let most = number("exclusiveMaximum");
        bounds.push(("exclusiveMaximum", most.is_some_and(|bound| value >= bound)));
    }
    match bounds.iter().find(|(_, broken)| *broken) {
        Some((key, _)) => Err(format!("{} is beyond its {key}", name(path))),
        None => Ok(()),
    }
}

fn kind_of(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

fn name(path: &str) -> &str {
    if path.is_empty() { "it" } else { path }
}

const MAX_STEPS: usize = 100_000;
const MAX_DEPTH: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_value_fits_or_the_first_place_is_named() {
        let point = json!({
            "type": "object", "required": ["x"], "additionalProperties": false,
            "properties": { "x": { "type": "integer", "minimum": 0 }, "tags": { "type": "array", "items": { "$ref": "#/$defs/tag" } } },
            "$defs": { "tag": { "type": ["string", "null"], "maxLength": 3 } },
        });
        #[rustfmt::skip]
        let table = [
            (&point, json!({ "x": 1 }),                            None),
            (&point, json!({ "x": 1.0, "tags": ["a", null] }),     None),
            (&point, json!([]),                                    Some("it should be object, got an array")),
            (&point, json!({}),                                    Some("it lacks \"x\"")),
            (&point, json!({ "x": "1" }),                          Some("/x should be integer, got a string")),
            (&point, json!({ "x": -1 }),                           Some("/x is beyond its minimum")),
            (&point, json!({ "x": 1, "y": 2 }),                    Some("/y should not be there")),
            (&point, json!({ "x": 1, "tags": ["a", "long"] }),     Some("/tags/1 is beyond its maxLength")),
            (&json!({ "enum": [1, 2] }), json!(3),                 Some("it is not one of its enum")),
            (&json!({ "const": "a" }), json!("b"),                 Some("it is not its const")),
            (&json!({ "anyOf": [{ "type": "string" }, { "type": "null" }] }), json!(1), Some("it fits none of its anyOf")),
            (&json!({ "oneOf": [{ "type": "number" }, { "minimum": 0 }] }), json!(1), Some("it fits 2 of its oneOf")),
            (&json!({ "allOf": [{ "type": "string" }, { "minLength": 2 }] }), json!("a"), Some("it is beyond its minLength")),
            // A keyword that is not known here is not checked.
            (&json!({ "contentMediaType": "a/b", "format": "uuid" }), json!("x"), None),
            (&json!({ "patternProperties": { "^a": {} }, "additionalProperties": false }), json!({ "ab": 1 }), None),
            (&json!(true), json!(1), None),
            (&json!("?"), json!(1), None),
        ];
        for (schema, value, expected) in table {
            assert_eq!(mismatch(schema, &value).as_deref(), expected, "{schema} {value}");
        }
    }

    #[test]
    fn no_schema_takes_for_ever() {
        let circle = json!({ "$ref": "#" });
        assert_eq!(mismatch(&circle, &json!(1)), None);
        let twice = json!({ "anyOf": [{ "$ref": "#" }, { "$ref": "#" }], "allOf": [{ "$ref": "#" }, { "$ref": "#" }] });
        assert_eq!(mismatch(&twice, &json!({ "a": [1, 2, 3] })), None);
    }
}
