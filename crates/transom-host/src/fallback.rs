//! What a tool answered, as text: for whoever has no view to look at (H-03).

use serde_json::{Value, value::RawValue};

/// The text of a tool's result, block after block. What is not text is named.
pub(crate) fn text_of(result: &RawValue) -> String {
    let result: Value = serde_json::from_str(result.get()).unwrap_or_default();
    let blocks = result["content"].as_array().map(Vec::as_slice).unwrap_or_default();
    let mut text = String::new();
    for block in blocks {
        if !text.is_empty() {
            text.push('\n');
        }
        text.push_str(&words(block));
        if text.len() > MAX {
            let end = (0..=MAX).rev().find(|&end| text.is_char_boundary(end)).unwrap_or(0);
            text.truncate(end);
            text.push('…');
            break;
        }
    }
    text
}

fn words(block: &Value) -> String {
    let text = block["text"].as_str().or_else(|| block["resource"]["text"].as_str());
    let uri = block["uri"].as_str().or_else(|| block["resource"]["uri"].as_str());
    match (text, uri, block["type"].as_str()) {
        (Some(text), _, _) => text.to_owned(),
        (None, Some(uri), _) => format!("[{uri}]"),
        (None, None, Some(kind)) => format!("[{kind}]"),
        (None, None, None) => "[unreadable]".to_owned(),
    }
}

/// The most bytes that are kept and shown.
const MAX: usize = 64 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    fn text(result: &Value) -> String {
        text_of(&serde_json::value::to_raw_value(result).unwrap())
    }

    #[test]
    fn h_03_text_is_kept_and_the_rest_is_named() {
        let block = |block: Value| serde_json::json!({ "content": [block] });
        let table = [
            (serde_json::json!({ "type": "text", "text": "two\nlines" }), "two\nlines"),
            (serde_json::json!({ "type": "image", "data": "AAAA" }), "[image]"),
            (serde_json::json!({ "type": "resource_link", "uri": "file:///a" }), "[file:///a]"),
            (serde_json::json!({ "type": "resource", "resource": { "text": "t" } }), "t"),
            (serde_json::json!({ "type": "resource", "resource": { "uri": "u" } }), "[u]"),
            (serde_json::json!(7), "[unreadable]"),
        ];
        for (given, expected) in table {
            assert_eq!(text(&block(given)), expected);
        }
        let two = serde_json::json!({ "content": [{ "text": "a" }, { "text": "b" }] });
        assert_eq!(text(&two), "a\nb");
        assert_eq!(text(&serde_json::json!([])), "");
    }

    #[test]
    fn a_long_answer_is_cut_between_characters() {
        let long = serde_json::json!({ "content": [{ "text": "é".repeat(MAX) }] });
        let text = text(&long);
        assert!(text.len() <= MAX + 3 && text.ends_with("é…"));
    }
}
