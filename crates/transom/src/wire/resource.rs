//! What a server declares about a UI resource.

use super::finding::Quoted;
use super::json::{self, Fields};
use super::{Compat, Finding};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::fmt;

/// The MIME type of a UI resource, exactly as it is written.
pub const MIME: &str = "text/html;profile=mcp-app";

/// Whether a MIME type is that of a UI resource: case, spaces, quotes and further parameters are
/// tolerated, the profile is not optional.
pub fn is_app_mime(mime: &str, compat: Compat) -> bool {
    let mut parts = mime.split(';').map(str::trim);
    let essence = parts.next().unwrap_or_default();
    match essence.to_ascii_lowercase().as_str() {
        "text/html" => parts.any(is_app_profile),
        "text/html+mcp" => compat.draft_mime,
        "text/html+skybridge" => compat.openai,
        _ => false,
    }
}

fn is_app_profile(parameter: &str) -> bool {
    let Some((name, value)) = parameter.split_once('=') else { return false };
    let value = value.trim();
    let quoted = value.strip_prefix('"').and_then(|value| value.strip_suffix('"'));
    name.trim().eq_ignore_ascii_case("profile")
        && quoted.unwrap_or(value).eq_ignore_ascii_case("mcp-app")
}

/// The address of a UI resource: `ui://` and something after it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct UiUri(String);

impl UiUri {
    /// Reads an address. The scheme is lower case, as the reference compares it.
    pub fn parse(text: &str) -> Option<Self> {
        let rest = text.strip_prefix("ui://")?;
        let sound = !rest.is_empty() && !rest.contains(|c: char| c.is_control() || c == ' ');
        sound.then(|| Self(text.to_owned()))
    }

    /// The address as it was given.
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for UiUri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl<'de> Deserialize<'de> for UiUri {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        Self::parse(&text).ok_or_else(|| D::Error::custom("should begin with ui://"))
    }
}

/// What a server declares about a UI resource.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceMeta {
    /// The sources it needs. Absent is stricter than empty.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csp: Option<ResourceCsp>,
    /// The device permissions it would like.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<ResourcePermissions>,
    /// The stable origin it would like, in the host's own format.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub domain: Option<String>,
    /// Whether it would like a border; absent leaves it to the host.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefers_border: Option<bool>,
}

/// The sources a UI resource needs, as its server wrote them.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourceCsp {
    /// Where it connects to.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub connect_domains: Vec<String>,
    /// Where its scripts, styles, images, fonts and media come from.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_domains: Vec<String>,
    /// What it may frame.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frame_domains: Vec<String>,
    /// What its `<base>` may name.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub base_uri_domains: Vec<String>,
}

/// The device permissions a UI resource would like.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ResourcePermissions {
    /// The camera.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub camera: bool,
    /// The microphone.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub microphone: bool,
    /// The user's position.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub geolocation: bool,
    /// Writing to the clipboard.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub clipboard_write: bool,
}

impl ResourceMeta {
    /// Finds the metadata of a resource: on the item of `resources/read`, else on the entry of
    /// `resources/list`.
    ///
    /// The first place that has any counts whole: a field missing there is absent, even if the
    /// other place has it.
    pub fn find(
        item: &Value,
        listing: Option<&Value>,
        compat: Compat,
        findings: &mut Vec<Finding>,
    ) -> Option<Self> {
        let mut places = [Some(item), listing].into_iter().flatten();
        places.find_map(|place| Self::on(place, compat, findings))
    }

    /// Reads the object under `_meta.ui`, noting what is odd.
    pub fn read(ui: &Map<String, Value>, findings: &mut Vec<Finding>) -> Self {
        Self {
            csp: object(ui, "csp", findings).map(|csp| ResourceCsp::read(csp, findings)),
            permissions: object(ui, "permissions", findings).map(ResourcePermissions::of),
            domain: expect(ui, "domain", "a string", Value::as_str, findings).map(str::to_owned),
            prefers_border: expect(ui, "prefersBorder", "a boolean", Value::as_bool, findings),
        }
    }

    fn on(place: &Value, compat: Compat, findings: &mut Vec<Finding>) -> Option<Self> {
        if let Some(ui) =
            place.get("_meta").and_then(|meta| object(meta.as_object()?, "ui", findings))
        {
            return Some(Self::read(ui, findings));
        }
        // Servers on the Python SDK have been seen to write `meta`.
        if let Some(Value::Object(ui)) = place.get("meta").and_then(|meta| meta.get("ui")) {
            findings.push(Finding::MetaWithoutUnderscore);
            return Some(Self::read(ui, findings));
        }
        let meta = place.get("_meta")?.as_object().filter(|_| compat.openai)?;
        Self::of_openai(meta, findings)
    }

    fn of_openai(meta: &Map<String, Value>, findings: &mut Vec<Finding>) -> Option<Self> {
        let csp = object(meta, "openai/widgetCSP", findings);
        let found = Self {
            csp: csp.map(|csp| ResourceCsp::read(&camel_case(csp), findings)),
            permissions: None,
            domain: meta.get("openai/widgetDomain").and_then(Value::as_str).map(str::to_owned),
            prefers_border: meta.get("openai/widgetPrefersBorder").and_then(Value::as_bool),
        };
        (found != Self::default()).then_some(found)
    }
}

impl ResourceCsp {
    /// Reads a declaration, noting what is odd.
    pub fn read(csp: &Map<String, Value>, findings: &mut Vec<Finding>) -> Self {
        let mut list = |key| sources(csp, key, findings);
        Self {
            connect_domains: list("connectDomains"),
            resource_domains: list("resourceDomains"),
            frame_domains: list("frameDomains"),
            base_uri_domains: list("baseUriDomains"),
        }
    }
}

impl ResourcePermissions {
    fn of(permissions: &Map<String, Value>) -> Self {
        let flag = |key| permissions.get(key).is_some_and(json::is_truthy);
        Self {
            camera: flag("camera"),
            microphone: flag("microphone"),
            geolocation: flag("geolocation"),
            clipboard_write: flag("clipboardWrite"),
        }
    }
}

impl<'de> Deserialize<'de> for ResourceMeta {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let ui = Fields::deserialize(deserializer)?.rest();
        Ok(Self::read(&ui, &mut Vec::new()))
    }
}

impl<'de> Deserialize<'de> for ResourceCsp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let csp = Fields::deserialize(deserializer)?.rest();
        Ok(Self::read(&csp, &mut Vec::new()))
    }
}

impl<'de> Deserialize<'de> for ResourcePermissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Fields::deserialize(deserializer)?.rest()))
    }
}

/// The value of a key if it is of the right kind. Null is absent; anything else is a finding.
fn expect<'a, T>(
    map: &'a Map<String, Value>,
    key: &'static str,
    expected: &'static str,
    read: impl Fn(&'a Value) -> Option<T>,
    findings: &mut Vec<Finding>,
) -> Option<T> {
    let value = map.get(key).filter(|value| !value.is_null())?;
    let found = read(value);
    if found.is_none() {
        findings.push(Finding::Unreadable { key, expected, got: Quoted::new(value) });
    }
    found
}

fn object<'a>(
    map: &'a Map<String, Value>,
    key: &'static str,
    findings: &mut Vec<Finding>,
) -> Option<&'a Map<String, Value>> {
    expect(map, key, "an object", Value::as_object, findings)
}

/// The strings of a list, each with a scheme.
fn sources(
    csp: &Map<String, Value>,
    list: &'static str,
    findings: &mut Vec<Finding>,
) -> Vec<String> {
    let items = expect(csp, list, "a list of strings", Value::as_array, findings);
    let mut sources = Vec::new();
    for item in items.into_iter().flatten() {
        match item {
            Value::String(source) if is_bare_host(source) => {
                findings.push(Finding::BareHost { list, host: Quoted::new(source) });
                sources.push(format!("https://{source}"));
            }
            Value::String(source) => sources.push(source.clone()),
            other => findings.push(Finding::Unreadable {
                key: list,
                expected: "a list of strings",
                got: Quoted::new(other),
            }),
        }
    }
    sources
}

/// Whether a source is a host and perhaps a port, and nothing else.
///
/// A single word is not, unless it is `localhost`: it may be a keyword whose quotes were lost.
fn is_bare_host(source: &str) -> bool {
    let (host, port) = source.split_once(':').unwrap_or((source, "0"));
    let labels = host.strip_prefix("*.").unwrap_or(host);
    let is_label = |label: &str| {
        !label.is_empty() && label.chars().all(|c| c.is_ascii_alphanumeric() || c == '-')
    };
    let is_port = !port.is_empty() && port.chars().all(|c| c.is_ascii_digit());
    is_port && labels.split('.').all(is_label) && (host.contains('.') || host == "localhost")
}

/// OpenAI's keys are `connect_domains` where the spec's are `connectDomains`.
fn camel_case(map: &Map<String, Value>) -> Map<String, Value> {
    let rename = |(key, value): (&String, &Value)| {
        let name = match key.as_str() {
            "connect_domains" => "connectDomains",
            "resource_domains" => "resourceDomains",
            "frame_domains" => "frameDomains",
            other => other,
        };
        (name.to_owned(), value.clone())
    };
    map.iter().map(rename).collect()
}
