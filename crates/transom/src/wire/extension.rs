//! How a client tells a server that it can show views.

use super::{Compat, MIME, is_app_mime};
use serde::Serialize;
use serde_json::{Map, Value};

/// The name of the extension.
pub const EXTENSION: &str = "io.modelcontextprotocol/ui";

/// What a client says about the views it can show.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct UiCapability {
    /// The MIME types it can show.
    pub mime_types: Vec<String>,
}

impl UiCapability {
    /// Finds it in the capabilities of an `initialize`, under `extensions` or `experimental`.
    pub fn in_capabilities(capabilities: &Map<String, Value>) -> Option<Self> {
        let mut places = ["extensions", "experimental"].into_iter();
        places.find_map(|place| Self::read(capabilities.get(place)?.get(EXTENSION)?))
    }

    /// Finds it in the `_meta` of a single request, where the stateless revision carries it.
    pub fn in_request_meta(meta: &Map<String, Value>) -> Option<Self> {
        Self::in_capabilities(meta.get(CLIENT_CAPABILITIES)?.as_object()?)
    }

    /// Whether views of our kind can be shown.
    pub fn shows_apps(&self) -> bool {
        self.mime_types.iter().any(|mime| is_app_mime(mime, Compat::default()))
    }

    fn read(value: &Value) -> Option<Self> {
        let settings = value.as_object()?;
        let mimes = settings.get("mimeTypes").and_then(Value::as_array).into_iter().flatten();
        let mime_types = mimes.filter_map(Value::as_str).map(str::to_owned).collect();
        Some(Self { mime_types })
    }
}

impl Default for UiCapability {
    fn default() -> Self {
        Self { mime_types: vec![MIME.to_owned()] }
    }
}

const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
