//! Whether arguments fit the schema of their tool, as far as words of it go that every reader understands the same.
//!
//! A call that cannot be meant is told to the model, which can mend it, and goes to no server and before no person. The server
//! has the last word: `$ref`, `pattern` and `format` are left to it, because a stranger's schema must not cost us time or
//! memory; so what is looked at is bounded.

use serde_json::Value;

/// Says in one line what does not fit.
pub(super) fn fits(schema: &Value, value: &Value) -> Result<(), String> {
    check(schema, value, &mut Walk { steps: STEPS, path: vec![] })
}

struct Walk {
    steps: u32,
    path: Vec<String>,
}

fn check(schema: &Value, value: &Value, walk: &mut Walk) -> Result<(), String> {
    let Some(schema) = schema.as_object() else { return Ok(()) };
    if walk.steps == 0 || walk.path.len() > DEEP {
        return Ok(());
    }
    walk.steps -= 1;
    let fail = |walk: &Walk, words: String| Err(format!("{} {words}", place(&walk.path)));
    if let Some(kinds) = schema.get("type") {
        let is = |kind: &Value| kind.as_str().is_some_and(|kind| is_of(kind, value));
        let fits = kinds.as_array().map_or_else(|| is(kinds), |kinds| kinds.iter().any(is));
        if !fits {
            return fail(walk, format!("should be {}", short(kinds)));
        }
    }
    if let Some(allowed) = schema.get("enum").and_then(Value::as_array)
        && !allowed.contains(value)
    {
        return fail(walk, format!("should be one of {}", short(&schema["enum"])));
    }
    if let Some(only) = schema.get("const").filter(|only| *only != value) {
        return fail(walk, format!("should be {}", short(only)));
    }
    for word in ["anyOf", "oneOf"] {
        let Some(some) = schema.get(word).and_then(Value::as_array) else { continue };
        // A schema that is not looked into may be the one that fits.
        let any = some.iter().any(|one| check(one, value, walk).is_ok());
        if !some.is_empty() && !any {
            return fail(walk, "fits none of what its schema allows".to_owned());
        }
    }
    for all in schema.get("allOf").and_then(Value::as_array).into_iter().flatten() {
        check(all, value, walk)?;
    }
    limits(schema, value).or_else(|words| fail(walk, words))?;
    members(schema, value, walk)
}

type Object = serde_json::Map<String, Value>;

fn limits(schema: &Object, value: &Value) -> Result<(), String> {
    let bound = |word: &str| schema.get(word).and_then(Value::as_f64);
    let size = match value {
        Value::Number(number) => number.as_f64().map(|number| ("minimum", "maximum", number)),
        Value::String(text) => Some(("minLength", "maxLength", text.chars().count() as f64)),
        Value::Array(items) => Some(("minItems", "maxItems", items.len() as f64)),
        _ => None,
    };
    let Some((least, most, size)) = size else { return Ok(()) };
    if let Some(bound) = bound(least).filter(|bound| size < *bound) {
        return Err(format!("is below {least} {bound}"));
    }
    match bound(most).filter(|bound| size > *bound) {
        Some(bound) => Err(format!("is above {most} {bound}")),
        None => Ok(()),
    }
}

fn members(schema: &Object, value: &Value, walk: &mut Walk) -> Result<(), String> {
    let mut within = |name: String, schema: &Value, value: &Value| {
        walk.path.push(name);
        let outcome = check(schema, value, walk);
        if outcome.is_ok() {
            walk.path.pop();
        }
        outcome
    };
    match value {
        Value::Object(members) => {
            let known = schema.get("properties").and_then(Value::as_object);
            let wanted = schema.get("required").and_then(Value::as_array).into_iter().flatten();
            for name in wanted.filter_map(Value::as_str) {
                if !members.contains_key(name) {
                    return Err(format!("{} lacks {name:?}", place(&walk.path)));
                }
            }
            for (name, value) in members {
                match known.and_then(|known| known.get(name)) {
                    Some(schema) => within(name.clone(), schema, value)?,
                    None if schema.contains_key("patternProperties") => {}
                    None => match schema.get("additionalProperties") {
                        Some(Value::Bool(false)) => {
                            let words = format!("{} has {name:?}, which", place(&walk.path));
                            return Err(format!("{words} its schema does not have"));
                        }
                        Some(schema) => within(name.clone(), schema, value)?,
                        None => {}
                    },
                }
            }
            Ok(())
        }
        Value::Array(items) => match schema.get("items").filter(|items| items.is_object()) {
            Some(schema) if !items.is_empty() => {
                for (at, item) in items.iter().enumerate() {
                    within(at.to_string(), schema, item)?;
                }
                Ok(())
            }
            _ => Ok(()),
        },
        _ => Ok(()),
    }
}

fn is_of(kind: &str, value: &Value) -> bool {
    match kind {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        _ => true,
    }
}

fn place(path: &[String]) -> String {
    match path {
        [] => "the whole".to_owned(),
        path => format!("{:?}", path.join(".")),
    }
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(120) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}

const STEPS: u32 = 20_000;
const DEEP: usize = 64;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_and_what_does_not() {
        let schema = json!({
            "type": "object", "required": ["city"], "additionalProperties": false,
            "properties": {
                "city": { "type": "string", "minLength": 1 },
                "days": { "anyOf": [{ "type": "integer", "maximum": 9 }, { "type": "null" }] },
                "unit": { "enum": ["c", "f"] },
                "stops": { "type": "array", "items": { "type": "string" }, "maxItems": 2 },
            },
        });
        let table = [
            (json!({ "city": "Rome", "days": null, "unit": "c", "stops": ["a"] }), None),
            (json!({ "city": "Rome", "days": 3.0 }), None),
            (json!([]), Some("should be \"object\"")),
            (json!({}), Some("lacks \"city\"")),
            (json!({ "city": "" }), Some("\"city\" is below minLength 1")),
            (json!({ "city": 7 }), Some("\"city\" should be \"string\"")),
            (json!({ "city": "a", "days": 10 }), Some("\"days\" fits none")),
            (json!({ "city": "a", "unit": "k" }), Some("\"unit\" should be one of")),
            (json!({ "city": "a", "stops": ["a", 1] }), Some("\"stops.1\" should be")),
            (json!({ "city": "a", "stops": ["a", "b", "c"] }), Some("above maxItems 2")),
            (json!({ "city": "a", "x": 1 }), Some("has \"x\", which its schema does not have")),
        ];
        for (value, expected) in table {
            match (fits(&schema, &value), expected) {
                (Ok(()), None) => {}
                (Err(words), Some(expected)) => assert!(words.contains(expected), "{words}"),
                (got, _) => panic!("{value}: {got:?}"),
            }
        }
    }

    #[test]
    fn a_schema_without_end_costs_little() {
        let mut schema = json!({ "type": "string" });
        for _ in 0..8 {
            schema = json!({ "anyOf": [schema.clone(), schema.clone(), schema.clone(), schema] });
        }
        // It is not looked at to its end, and what was not looked at may fit.
        let _ = fits(&schema, &json!(1));
        assert_eq!(fits(&json!(true), &json!(1)), Ok(()));
        assert!(fits(&json!({ "type": 7, "properties": [] }), &json!({})).is_err());
    }
}
