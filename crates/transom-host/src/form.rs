//! What the page needs of a tool to draw a form for its arguments. The tool is a stranger's, a server's or a view's,
//! and the page has to draw all of it: so it is small, and what people read of it hides nothing.

use serde_json::{Map, Value};
use transom::quoted::Quoted;

use crate::words::Words;

/// What is shown of a tool, by its members. A schema that is too large is left out: its arguments are typed as JSON.
pub(crate) fn shown<'a>(get: impl Fn(&str) -> Option<&'a Value>) -> Map<String, Value> {
    let mut shown = Map::new();
    let text = |key| get(key).and_then(Value::as_str);
    // A tool is called by its name; the others are for people alone.
    let name = text("name").unwrap_or_default();
    shown.insert("name".to_owned(), name.into());
    let title = text("title").map(|title| Words::ours(title).to_string());
    // What the page writes where people read its name.
    let label = Quoted::new(name).as_str().to_owned();
    shown.insert("label".to_owned(), label.as_str().into());
    if let Some(title) = title.or_else(|| Some(label).filter(|label| label != name)) {
        shown.insert("title".to_owned(), title.into());
    }
    if let Some(description) = text("description") {
        shown.insert("description".to_owned(), Words::ours(description).as_str().into());
    }
    if let Some(schema) = get("inputSchema").filter(|schema| size(schema) <= SCHEMA) {
        shown.insert("inputSchema".to_owned(), schema.clone());
    }
    shown
}

/// The size of a shown tool's schema.
pub(crate) fn schema_size(shown: &Map<String, Value>) -> usize {
    shown.get("inputSchema").map_or(0, size)
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
        let shown = shown(|key| tool.get(key));
        assert_eq!(shown["name"], tool["name"]);
        assert_eq!([&shown["label"], &shown["title"]], [r"pay\u{202e}"; 2]);
        assert!(shown["description"].as_str().unwrap().len() < 600);
        assert_eq!(shown.len(), 4, "{shown:?}");
        let small = json!({ "name": "a", "title": "A", "inputSchema": { "type": "object" } });
        let mut shown = super::shown(|key| small.get(key));
        assert_eq!(shown.shift_remove("label").unwrap(), "a");
        assert_eq!(Value::Object(shown), small);
    }
}
