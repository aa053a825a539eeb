//! What a tool says of its view and of its callers.

use serde_json::Value;

/// The address of a tool's view, nested or flat, as it was written.
pub(in crate::check) fn link(tool: &Value) -> Option<&str> {
    let meta = &tool["_meta"];
    meta["ui"]["resourceUri"].as_str().or_else(|| meta["ui/resourceUri"].as_str())
}

/// Who may call a tool, as it was written: none means that model and views may.
fn visibility(tool: &Value) -> Option<Vec<&str>> {
    let listed = tool["_meta"]["ui"]["visibility"].as_array()?;
    Some(listed.iter().filter_map(Value::as_str).collect())
}

/// Whether a tool is for views alone.
pub(in crate::check) fn is_app_only(tool: &Value) -> bool {
    visibility(tool).is_some_and(|listed| listed.contains(&"app") && !listed.contains(&"model"))
}

/// Whether the model is offered a tool.
pub(in crate::check) fn is_for_model(tool: &Value) -> bool {
    visibility(tool).is_none_or(|listed| listed.contains(&"model"))
}
