//! What a tool answered, as text: for whoever has no view to look at (H-03).

use serde_json::{Value, value::RawValue};
use transom::printed::has_reserved_name;

/// The text of a tool's result, block after block. What is not text is named.
pub(crate) fn text_of(result: &RawValue) -> String {
    if has_reserved_name(result.get()) {
        return UNREADABLE.to_owned();
    }
    let Ok(result) = serde_json::from_str::<Value>(result.get()) else {
        return UNREADABLE.to_owned();
    };
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
        (None, None, None) => UNREADABLE.to_owned(),
    }
}

const UNREADABLE: &str = "[unreadable]";
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

    #[test]
    fn a_result_that_would_be_read_otherwise_than_it_is_written_is_named_unreadable() {
        let blocks =
            r#"{"$serde_json::private::RawValue":"[{\"type\":\"text\",\"text\":\"hi\"}]"}"#;
        let raw = RawValue::from_string(format!(r#"{{"content":{blocks}}}"#)).unwrap();
        assert_eq!(text_of(&raw), "[unreadable]");
    }
}
