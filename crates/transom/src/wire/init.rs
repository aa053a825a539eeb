//! The handshake.

use super::json::{self, Fields};
use super::{AppCapabilities, HostCapabilities, HostContext, Theme};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// The revision we speak.
pub const PROTOCOL_VERSION: &str = "2026-01-26";

/// The revisions we answer with their own name; they do not differ on the wire.
pub const SUPPORTED_VERSIONS: &[&str] = &[PROTOCOL_VERSION, "2025-11-21", "2025-06-18", "0.1"];

/// The name and version of a program.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Implementation {
    /// Its name for programs.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its name for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What it is, in a sentence.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Where to read more.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub website_url: Option<String>,
    /// Its pictures.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub icons: Vec<Icon>,
    /// Keys this version does not know. The spec's own keys are not printed from here.
    #[serde(flatten, serialize_with = "beyond_implementation")]
    pub rest: Map<String, Value>,
}

/// A picture of a program or tool.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Icon {
    /// Where it is; may be a `data:` URL.
    pub src: String,
    /// Its MIME type.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub mime_type: Option<String>,
    /// Its sizes, like `48x48`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sizes: Option<Vec<String>>,
    /// The theme it is drawn for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
}

/// What a view says first.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeParams {
    /// Who it is.
    pub app_info: Implementation,
    /// What it can do.
    pub app_capabilities: AppCapabilities,
    /// The revision it speaks.
    pub protocol_version: String,
}

/// What the host answers.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct InitializeResult {
    /// The revision both will speak.
    pub protocol_version: String,
    /// Who the host is.
    pub host_info: Implementation,
    /// What it can do.
    pub host_capabilities: HostCapabilities,
    /// What surrounds the view.
    pub host_context: HostContext,
    /// Keys this version does not know. The spec's own keys are not printed from here.
    #[serde(flatten, serialize_with = "beyond_result")]
    pub rest: Map<String, Value>,
}

/// The revision to answer a view with: its own if we know it, else ours. Never a refusal.
pub fn negotiate(requested: &str) -> &'static str {
    let known = SUPPORTED_VERSIONS.iter().find(|version| **version == requested);
    known.copied().unwrap_or(PROTOCOL_VERSION)
}

impl Implementation {
    /// A program with nothing but a name and a version.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            version: version.into(),
            title: None,
            description: None,
            website_url: None,
            icons: Vec::new(),
            rest: Map::new(),
        }
    }
}

impl Default for Implementation {
    /// A program that did not say who it is.
    fn default() -> Self {
        Self::new("unknown", "0")
    }
}

impl Default for InitializeParams {
    fn default() -> Self {
        Self {
            app_info: Implementation::default(),
            app_capabilities: AppCapabilities::default(),
            protocol_version: PROTOCOL_VERSION.to_owned(),
        }
    }
}

impl Default for InitializeResult {
    fn default() -> Self {
        Self {
            protocol_version: PROTOCOL_VERSION.to_owned(),
            host_info: Implementation::default(),
            host_capabilities: HostCapabilities::default(),
            host_context: HostContext::default(),
            rest: Map::new(),
        }
    }
}

impl<'de> Deserialize<'de> for Implementation {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let unknown = Self::default();
        Ok(Self {
            name: fields.take("name").unwrap_or(unknown.name),
            version: fields.take("version").unwrap_or(unknown.version),
            title: fields.take("title"),
            description: fields.take("description"),
            website_url: fields.take("websiteUrl"),
            icons: fields.list("icons").unwrap_or_default(),
            rest: fields.rest(),
        })
    }
}

impl<'de> Deserialize<'de> for Icon {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            src: fields.take("src").ok_or_else(|| D::Error::missing_field("src"))?,
            mime_type: fields.take("mimeType"),
            sizes: fields.take("sizes"),
            theme: fields.take("theme"),
        })
    }
}

impl<'de> Deserialize<'de> for InitializeParams {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let missing = Self::default();
        // The names of plain MCP were in the sample code of the first print.
        let app_info = fields.take("appInfo").or_else(|| fields.take("clientInfo"));
        let capabilities = fields.take("appCapabilities").or_else(|| fields.take("capabilities"));
        Ok(Self {
            app_info: app_info.unwrap_or(missing.app_info),
            app_capabilities: capabilities.unwrap_or(missing.app_capabilities),
            protocol_version: fields.take("protocolVersion").unwrap_or(missing.protocol_version),
        })
    }
}

impl<'de> Deserialize<'de> for InitializeResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let missing = Self::default();
        Ok(Self {
            protocol_version: fields.take("protocolVersion").unwrap_or(missing.protocol_version),
            host_info: fields.take("hostInfo").unwrap_or(missing.host_info),
            host_capabilities: fields.take("hostCapabilities").unwrap_or_default(),
            host_context: fields.take("hostContext").unwrap_or_default(),
            rest: fields.rest(),
        })
    }
}

fn beyond_implementation<S: Serializer>(
    rest: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    const KEYS: &[&str] = &["name", "version", "title", "description", "websiteUrl", "icons"];
    json::unknown(rest, KEYS, serializer)
}

fn beyond_result<S: Serializer>(
    rest: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    const KEYS: &[&str] = &["protocolVersion", "hostInfo", "hostCapabilities", "hostContext"];
    json::unknown(rest, KEYS, serializer)
}
