//! What a client gets, and how a person would read it.

use std::fmt;

use rmcp::model::{CallToolResult, ContentBlock, MetaObject, ResourceContents, Tool};
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::error::Error;

/// A tool's answer. It prints as a person would get it as text.
#[derive(Clone, Debug)]
pub struct Answer {
    tool: Tool,
    view: Option<String>,
    result: CallToolResult,
}

impl Answer {
    pub(super) fn new(tool: Tool, view: Option<String>, result: CallToolResult) -> Self {
        Self { tool, view, result }
    }

    /// Returns the name of the tool that answered.
    pub fn tool(&self) -> &str {
        &self.tool.name
    }

    /// Returns the words for the model: every text of the answer.
    pub fn text(&self) -> String {
        let texts = self.result.content.iter().filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.text.as_str()),
            _ => None,
        });
        texts.collect::<Vec<_>>().join("\n")
    }

    /// Returns the data for the view; `null` if there are none.
    pub fn data(&self) -> &Value {
        self.result.structured_content.as_ref().unwrap_or(&Value::Null)
    }

    /// Returns the data for the view as a type.
    ///
    /// # Errors
    ///
    /// They are of another form.
    pub fn data_as<T: DeserializeOwned>(&self) -> Result<T, Error> {
        T::deserialize(self.data()).map_err(|error| Error::other_form(self.tool(), &error))
    }

    /// Returns what `Shown::private` added for the view under a key; `null` if there is no such thing.
    pub fn private(&self, key: &str) -> &Value {
        let meta = self.result.meta.as_ref();
        meta.and_then(|meta| meta.0.get(key)).unwrap_or(&Value::Null)
    }

    /// Tells whether the tool said that it failed.
    pub fn is_error(&self) -> bool {
        self.result.is_error == Some(true)
    }

    /// Returns the address of the view that a host opens for it.
    pub fn view(&self) -> Option<&str> {
        self.view.as_deref()
    }

    /// Returns the result as rmcp has it.
    pub fn result(&self) -> &CallToolResult {
        &self.result
    }
}

impl fmt::Display for Answer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut lines = Vec::new();
        if let Some(view) = &self.view {
            let title = self.tool.title.as_deref().unwrap_or(&self.tool.name);
            lines.push(format!("[{title}: a view, {view}]"));
        }
        if self.is_error() {
            lines.push("[it failed]".to_owned());
        }
        lines.extend(self.result.content.iter().map(words));
        f.write_str(&lines.join("\n"))
    }
}

fn words(block: &ContentBlock) -> String {
    match block {
        ContentBlock::Text(text) => text.text.clone(),
        ContentBlock::Image(image) => format!("[a picture, {}]", image.mime_type),
        ContentBlock::Audio(audio) => format!("[a sound, {}]", audio.mime_type),
        ContentBlock::Resource(embedded) => match &embedded.resource {
            ResourceContents::TextResourceContents { text, .. } => text.clone(),
            ResourceContents::BlobResourceContents { uri, .. } => format!("[a file, {uri}]"),
            _ => "[a resource]".to_owned(),
        },
        ContentBlock::ResourceLink(link) => format!("[{}, {}]", link.name, link.uri),
        _ => "[something else]".to_owned(),
    }
}

/// A view's document, as a host reads it.
#[derive(Clone, Debug)]
pub struct Document {
    uri: String,
    html: String,
    meta: Option<MetaObject>,
}

impl Document {
    pub(super) fn new(uri: &str, html: String, meta: Option<MetaObject>) -> Self {
        Self { uri: uri.to_owned(), html, meta }
    }

    /// Returns its address.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Returns the whole document.
    pub fn html(&self) -> &str {
        &self.html
    }

    /// Returns what it declares to hosts, such as `csp` or `permissions`; `null` if it does not.
    pub fn declared(&self, key: &str) -> &Value {
        let ui = self.meta.as_ref().and_then(|meta| meta.0.get("ui"));
        ui.and_then(|ui| ui.get(key)).unwrap_or(&Value::Null)
    }
}

/// What a tool told of its progress.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub struct Told {
    /// How far it is.
    pub done: f64,
    /// How far it has to go, if it knows.
    pub total: Option<f64>,
    /// Its words for a person.
    pub words: Option<String>,
}
