//! Dev mode: files are read from disk, and running views follow them.
//!
//! Nothing but MCP is needed for it: a view's document is shown inside of another one, which asks an
//! app-only tool whether the document has changed, and is answered when it has. So it works in any host
//! that lets views call tools, over any transport, without a port and without a change of policy.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Value, json};

use crate::view::{Audience, link_meta};

/// Whether views follow their files on disk.
///
/// Only a debug build knows where its files lie; in a release build there is nothing to follow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Dev {
    on: bool,
}

impl Dev {
    /// On if `TRANSOM_DEV` is `1`, as `transom dev` sets it.
    pub fn from_env() -> Self {
        Self { on: std::env::var("TRANSOM_DEV").is_ok_and(|value| value == "1") }
    }

    /// On.
    pub fn on() -> Self {
        Self { on: true }
    }

    /// Off.
    pub fn off() -> Self {
        Self { on: false }
    }

    pub(crate) fn is_on(self) -> bool {
        self.on
    }
}

/// The page around a view's document, which swaps it when it has changed.
pub(crate) fn shell(uri: &str, html: &str, revision: &str) -> String {
    let view = json!({ "uri": uri, "tool": TOOL, "rev": revision, "html": html });
    // Nothing in it can end the script it stands in.
    let view = view.to_string().replace('<', "\\u003c");
    SHELL.replacen("__VIEW__", &view, 1)
}

/// What a document is known by.
pub(crate) fn revision(html: &str) -> String {
    let mut hasher = DefaultHasher::new();
    html.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

/// The tool by which the shell asks.
pub(crate) fn tool() -> Tool {
    let schema = json!({
        "type": "object",
        "properties": { "uri": { "type": "string" }, "rev": { "type": "string" } },
        "required": ["uri", "rev"],
    });
    let schema: JsonObject = match schema {
        Value::Object(schema) => schema,
        _ => JsonObject::new(),
    };
    let words = "Dev mode: answers when a view's document is another than the one it shows.";
    let mut tool = Tool::new(TOOL, words, Arc::new(schema));
    tool.annotations = Some(ToolAnnotations::from_raw(None, Some(true), None, None, Some(false)));
    tool.meta = Some(link_meta(None, Audience::App));
    tool
}

pub(crate) const TOOL: &str = "transom_view_dev";
/// Below the time after which hosts and proxies give a call up.
pub(crate) const WAIT: Duration = Duration::from_secs(15);
/// How often files are looked at while a view waits for a change.
pub(crate) const LOOK: Duration = Duration::from_millis(150);
const SHELL: &str = include_str!("dev/shell.html");
