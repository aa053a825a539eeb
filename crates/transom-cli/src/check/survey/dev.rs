//! Servers in dev mode (`TRANSOM_DEV=1` with transom-server): a page of ours stands around each document, to
//! swap it when it changes. The rules are for the document.

use serde_json::{
    Value, json,
    value::{RawValue, to_raw_value},
};
use transom_host::upstream::Upstream;

use super::{calls::call, lists::Listed, tool::is_app_only};

/// Whether the tool is there that only dev mode has.
pub(super) fn is_on(tools: &Listed) -> bool {
    tools.items.iter().any(|tool| tool["name"] == TOOL && is_app_only(tool))
}

/// The same answer with the document itself, as the page around it gets it. What the server does not
/// tell stays as it was read.
pub(super) async fn inner(host: &Upstream, uri: &str, read: Box<RawValue>) -> Box<RawValue> {
    let told = call(host, TOOL, &json!({ "uri": uri, "rev": "" })).await.unwrap_or_default();
    let (Some(html), Ok(mut answer)) =
        (told["structuredContent"]["html"].as_str(), serde_json::from_str::<Value>(read.get()))
    else {
        return read;
    };
    let Some(text) = answer.pointer_mut("/contents/0/text") else { return read };
    *text = html.into();
    to_raw_value(&answer).unwrap_or(read)
}

const TOOL: &str = "transom_view_dev";
