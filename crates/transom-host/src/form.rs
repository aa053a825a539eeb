//! What the page needs of a tool to draw a form for its arguments. The tool is a stranger's, a server's or a view's,
//! and the page has to draw all of it: so it is small, and what people read of it hides nothing.

use serde::Serialize;
use serde_json::{Map, Value};
use transom::quoted::Quoted;

use crate::words::Words;

/// What the page needs of a tool to draw a form for its arguments.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[cfg_attr(test, derive(ts_rs::TS), ts(optional_fields))]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Form {
    /// The name to call the tool by. The others are for people alone.
    pub name: String,
    /// What people are shown in place of the name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What the tool does, in the words of its author.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// A schema that is too large is left out: the arguments are typed as JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, ts(optional, type = "unknown"))]
    pub input_schema: Option<Value>,
}

impl Form {
    /// Reads a tool by its members.
    pub(crate) fn of<'a>(get: impl Fn(&str) -> Option<&'a Value>) -> Self {
        let text = |key| get(key).and_then(Value::as_str);
        let name = text("name").unwrap_or_default().to_owned();
        let title = text("title").map(|title| Words::ours(title).to_string());
        let legible = Quoted::new(&name).as_str().to_owned();
        let title = title.or_else(|| Some(legible).filter(|legible| *legible != name));
        let description = text("description").map(|words| Words::ours(words).as_str().to_owned());
        let input_schema = get("inputSchema").filter(|schema| size(schema) <= SCHEMA).cloned();
        Self { name, title, description, input_schema }
    }

    /// The size of its schema.
    pub(crate) fn schema_size(&self) -> usize {
        self.input_schema.as_ref().map_or(0, size)
    }

    /// The members of a tool.
    pub(crate) fn into_members(self) -> Map<String, Value> {
        match serde_json::to_value(self) {
            Ok(Value::Object(members)) => members,
            _ => Map::new(),
        }
    }
}

fn size(value: &Value) -> usize {
    serde_json::to_string(value).map_or(usize::MAX, |text| text.len())
}

/// The largest schema, in bytes of JSON.
pub(crate) const SCHEMA: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn what_is_shown_of_a_tool_is_small_and_hides_nothing() {
        let properties: Map<_, _> = (0..100_000).map(|n| (format!("p{n}"), json!({}))).collect();
        let tool = json!({
            "name": "pay\u{202e}", "description": "x\n".repeat(10_000), "icons": ["x"],
            "inputSchema": { "type": "object", "properties": properties },
        });
        let shown = Form::of(|key| tool.get(key)).into_members();
        assert_eq!(shown["name"], tool["name"]);
        assert_eq!(shown["title"], r"pay\u{202e}");
        assert!(shown["description"].as_str().unwrap().len() < 600);
        assert_eq!(shown.len(), 3, "{shown:?}");
        let small = json!({ "name": "a", "title": "A", "inputSchema": { "type": "object" } });
        assert_eq!(Value::Object(Form::of(|key| small.get(key)).into_members()), small);
    }
}
