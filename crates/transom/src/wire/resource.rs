//! What a server declares about a UI resource.

use super::finding::quote;
use super::json;
use super::{Compat, Finding};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};

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
        let ui = Map::deserialize(deserializer)?;
        Ok(Self::read(&ui, &mut Vec::new()))
    }
}

impl<'de> Deserialize<'de> for ResourceCsp {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        // Absent is stricter than empty, so what is not an object must not read as an empty one.
        let csp = Map::deserialize(deserializer)?;
        Ok(Self::read(&csp, &mut Vec::new()))
    }
}

impl<'de> Deserialize<'de> for ResourcePermissions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Ok(Self::of(&Map::deserialize(deserializer)?))
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
        findings.push(Finding::Unreadable { key, expected, got: quote(value) });
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
                findings.push(Finding::BareHost { list, host: quote(item) });
                sources.push(format!("https://{source}"));
            }
            Value::String(source) => sources.push(source.clone()),
            other => findings.push(Finding::Unreadable {
                key: list,
                expected: "a list of strings",
                got: quote(other),
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{json, to_value};

    const STRICT: Compat = Compat { openai: false, draft_mime: false };
    const LAX: Compat = Compat { openai: true, draft_mime: true };

    // H-21, H-22, S-10: the first place counts whole.
    #[test]
    fn h_22_the_content_item_replaces_the_listing_whole() {
        let with = |ui: Value| json!({ "uri": "ui://a", "_meta": { "ui": ui } });
        let border = with(json!({ "prefersBorder": true }));
        let csp = with(json!({ "csp": {} }));
        let bare = json!({ "uri": "ui://a" });
        #[rustfmt::skip]
        let table = [
            (&border, Some(&csp),  Some(json!({ "prefersBorder": true }))),
            (&border, None,        Some(json!({ "prefersBorder": true }))),
            (&bare,   Some(&csp),  Some(json!({ "csp": {} }))),
            (&bare,   Some(&bare), None),
            (&bare,   None,        None),
        ];
        for (item, listing, expected) in table {
            let found = ResourceMeta::find(item, listing, STRICT, &mut Vec::new());
            assert_eq!(found.map(|meta| to_value(meta).unwrap()), expected);
        }
    }

    #[test]
    fn h_21_meta_without_underscore_is_tolerated() {
        let item = json!({ "meta": { "ui": { "prefersBorder": false } } });
        let mut findings = Vec::new();
        let found = ResourceMeta::find(&item, None, STRICT, &mut findings).unwrap();
        assert_eq!(found.prefers_border, Some(false));
        assert_eq!(findings, [Finding::MetaWithoutUnderscore]);
    }

    // Q4: absent is stricter than empty, so an unreadable declaration must not become an empty one.
    #[test]
    fn an_unreadable_csp_is_absent() {
        for csp in [json!(null), json!("https://x.test"), json!([])] {
            let item = json!({ "_meta": { "ui": { "csp": csp } } });
            let found = ResourceMeta::find(&item, None, STRICT, &mut Vec::new()).unwrap();
            assert_eq!(found.csp, None);
        }
    }

    #[test]
    fn table_4_2_csp_domain() {
        let item = json!({ "_meta": { "ui": { "csp": {
            "connectDomains": ["api.myapp.com", "localhost:3000", "*.x.com", "wss://rt.x.com"],
            "resourceDomains": ["'self'", "none", "data:", "*", "https:", "a.b:c", "a.b/c", "a;b.c"],
            "frameDomains": [7],
            "wasmUnsafeEval": true,
        }}}});
        let mut findings = Vec::new();
        let csp = ResourceMeta::find(&item, None, STRICT, &mut findings).unwrap().csp.unwrap();
        let hosts = [
            "https://api.myapp.com",
            "https://localhost:3000",
            "https://*.x.com",
            "wss://rt.x.com",
        ];
        assert_eq!(csp.connect_domains, hosts);
        // Nothing else is repaired: what these are is for the parser of sources to say.
        assert_eq!(csp.resource_domains.len(), 8);
        assert!(!csp.resource_domains.iter().any(|source| source.starts_with("https://")));
        assert!(csp.frame_domains.is_empty());
        let bare = |f: &&Finding| matches!(f, Finding::BareHost { list: "connectDomains", .. });
        assert_eq!(findings.iter().filter(bare).count(), 3);
        assert_eq!(findings.len(), 4);
    }

    // The spec's meaning, not the inverted one of an early host.
    #[test]
    fn table_4_2_prefers_border() {
        for (value, expected) in
            [(json!(true), Some(true)), (json!(false), Some(false)), (json!("yes"), None)]
        {
            let item = json!({ "_meta": { "ui": { "prefersBorder": value } } });
            let found = ResourceMeta::find(&item, None, STRICT, &mut Vec::new()).unwrap();
            assert_eq!(found.prefers_border, expected);
        }
        assert_eq!(to_value(ResourceMeta::default()).unwrap(), json!({}));
    }

    // Truthy in, `{}` out.
    #[test]
    fn permissions_are_objects_out() {
        let wire = json!({ "camera": true, "microphone": {}, "geolocation": false, "clipboardWrite": 1, "usb": {} });
        let permissions: ResourcePermissions = serde_json::from_value(wire).unwrap();
        let expected = json!({ "camera": {}, "microphone": {}, "clipboardWrite": {} });
        assert_eq!(to_value(permissions).unwrap(), expected);
    }

    #[test]
    fn openai_keys_count_only_when_asked_for() {
        let item = json!({ "_meta": {
            "openai/widgetCSP": { "connect_domains": ["https://a.test"], "resource_domains": [] },
            "openai/widgetDomain": "a.test",
            "openai/widgetPrefersBorder": true,
        }});
        assert_eq!(ResourceMeta::find(&item, None, STRICT, &mut Vec::new()), None);
        let found = ResourceMeta::find(&item, None, LAX, &mut Vec::new()).unwrap();
        assert_eq!(
            to_value(found).unwrap(),
            json!({
                "csp": { "connectDomains": ["https://a.test"] },
                "domain": "a.test",
                "prefersBorder": true,
            })
        );
    }
}
