//! How a tool is tied to its view, and who may call it.

use super::finding::quote;
use super::json::closed_enum;
use super::{Compat, Finding, UiUri};
use serde::ser::SerializeSeq;
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

/// What a tool's `_meta` says about its view.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolMeta {
    /// The view that shows its results.
    pub resource_uri: Option<UiUri>,
    /// Who may call it.
    pub visibility: Visibilities,
}

closed_enum! {
    /// A party that may call a tool.
    Visibility {
        Model = "model",
        App = "app",
    }
}

/// Who may call a tool: any of [`Visibility`], both unless said otherwise.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Visibilities {
    model: bool,
    app: bool,
}

impl ToolMeta {
    /// Reads a tool's `_meta`, noting what is odd.
    ///
    /// A link that is not a UI resource means no view, never an error: the tool still works as text.
    pub fn read(meta: &Map<String, Value>, compat: Compat, findings: &mut Vec<Finding>) -> Self {
        let empty = Map::new();
        let ui = meta.get("ui").and_then(Value::as_object).unwrap_or(&empty);
        for key in ["csp", "permissions"] {
            if ui.contains_key(key) {
                findings.push(Finding::PolicyOnTool { key });
            }
        }
        Self {
            resource_uri: link(meta, ui, compat, findings),
            visibility: match ui.get("visibility") {
                None | Some(Value::Null) if compat.openai => Visibilities::of_openai(meta),
                None | Some(Value::Null) => Visibilities::BOTH,
                Some(value) => Visibilities::read(value, findings),
            },
        }
    }

    /// What to write into a tool's `_meta`: the link nested and flat, since there are hosts that
    /// know only one of them, and the visibility if it is not the default.
    pub fn to_meta(&self) -> Map<String, Value> {
        let mut ui = Map::new();
        let mut meta = Map::new();
        if let Some(uri) = &self.resource_uri {
            ui.insert("resourceUri".to_owned(), json!(uri));
            meta.insert(FLAT.to_owned(), json!(uri));
        }
        if self.visibility != Visibilities::BOTH {
            ui.insert("visibility".to_owned(), json!(self.visibility));
        }
        if !ui.is_empty() {
            meta.insert("ui".to_owned(), Value::Object(ui));
        }
        meta
    }
}

impl Visibilities {
    /// The model and the view.
    pub const BOTH: Self = Self { model: true, app: true };
    /// The model alone.
    pub const MODEL: Self = Self { model: true, app: false };
    /// The view alone.
    pub const APP: Self = Self { model: false, app: true };
    /// Neither views nor the model.
    pub const NONE: Self = Self { model: false, app: false };

    /// Whether this party may call the tool.
    pub fn contains(self, who: Visibility) -> bool {
        match who {
            Visibility::Model => self.model,
            Visibility::App => self.app,
        }
    }

    fn with(self, who: Visibility) -> Self {
        match who {
            Visibility::Model => Self { model: true, ..self },
            Visibility::App => Self { app: true, ..self },
        }
    }

    /// Counts membership. What cannot be read gives access to neither: its author wanted fewer
    /// than both.
    fn read(value: &Value, findings: &mut Vec<Finding>) -> Self {
        let mut unknown = |item: &Value| {
            findings.push(Finding::UnknownVisibility { got: quote(item) });
        };
        let items = match value {
            Value::Array(items) => items.as_slice(),
            Value::String(_) => std::slice::from_ref(value),
            _ => {
                unknown(value);
                &[]
            }
        };
        let mut visibilities = Self::NONE;
        for item in items {
            match item.as_str().and_then(Visibility::parse) {
                Some(who) => visibilities = visibilities.with(who),
                None => unknown(item),
            }
        }
        visibilities
    }

    fn of_openai(meta: &Map<String, Value>) -> Self {
        let private = meta.get("openai/visibility").and_then(Value::as_str) == Some("private");
        let accessible = meta.get("openai/widgetAccessible").and_then(Value::as_bool);
        Self { model: !private, app: accessible.unwrap_or(true) }
    }
}

impl Default for Visibilities {
    fn default() -> Self {
        Self::BOTH
    }
}

impl Serialize for Visibilities {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut list = serializer.serialize_seq(None)?;
        for who in Visibility::ALL.iter().filter(|who| self.contains(**who)) {
            list.serialize_element(who)?;
        }
        list.end()
    }
}

/// Finds the link. Nested wins even when it is broken: falling back to the flat one would show a
/// view that its author had meant to replace.
fn link(
    meta: &Map<String, Value>,
    ui: &Map<String, Value>,
    compat: Compat,
    findings: &mut Vec<Finding>,
) -> Option<UiUri> {
    let flat = meta.get(FLAT).filter(|value| !value.is_null());
    if let Some(nested) = ui.get("resourceUri") {
        if let Some(flat) = flat.filter(|flat| *flat != nested) {
            let (nested, flat) = (quote(nested), quote(flat));
            findings.push(Finding::TwoLinks { nested, flat });
        }
        return ui_uri("ui.resourceUri", nested, findings);
    }
    if let Some(flat) = flat {
        findings.push(Finding::FlatLink);
        return ui_uri(FLAT, flat, findings);
    }
    let template = meta.get(OPENAI_TEMPLATE).filter(|_| compat.openai)?;
    ui_uri(OPENAI_TEMPLATE, template, findings)
}

fn ui_uri(key: &'static str, value: &Value, findings: &mut Vec<Finding>) -> Option<UiUri> {
    let uri = value.as_str().and_then(UiUri::parse);
    if value.as_str().is_some_and(|text| text.len() > UiUri::LONGEST) {
        findings.push(Finding::TooLong { key, most: UiUri::LONGEST, got: quote(value) });
    } else if uri.is_none() {
        findings.push(Finding::NotUiUri { key, got: quote(value) });
    }
    uri
}

/// The link as it was written before it moved under `ui`.
const FLAT: &str = "ui/resourceUri";
const OPENAI_TEMPLATE: &str = "openai/outputTemplate";

#[cfg(test)]
mod tests {
    use super::*;

    const STRICT: Compat = Compat { openai: false, draft_mime: false };
    const OPENAI: Compat = Compat { openai: true, draft_mime: false };

    fn read(meta: Value, compat: Compat) -> (ToolMeta, Vec<Finding>) {
        let Value::Object(meta) = meta else { unreachable!() };
        let mut findings = Vec::new();
        let read = ToolMeta::read(&meta, compat, &mut findings);
        (read, findings)
    }

    #[test]
    fn h_07_nested_wins() {
        #[rustfmt::skip]
        let table = [
            // nested and flat                                                   link            findings
            (json!({ "ui": { "resourceUri": "ui://a" } }),                         Some("ui://a"), 0),
            (json!({ "ui/resourceUri": "ui://b" }),                                Some("ui://b"), 1),
            (json!({ "ui": { "resourceUri": "ui://a" }, "ui/resourceUri": "ui://b" }), Some("ui://a"), 1),
            (json!({ "ui": { "resourceUri": "ui://a" }, "ui/resourceUri": "ui://a" }), Some("ui://a"), 0),
            (json!({}),                                                            None,           0),
            (json!({ "ui": null, "ui/resourceUri": "ui://b" }),                    Some("ui://b"), 1),
            (json!({ "ui": { "visibility": [] }, "ui/resourceUri": "ui://b" }),    Some("ui://b"), 1),
        ];
        for (meta, expected, count) in table {
            let (tool, findings) = read(meta.clone(), STRICT);
            assert_eq!(tool.resource_uri.as_ref().map(UiUri::as_str), expected, "{meta}");
            assert_eq!(findings.len(), count, "{meta} {findings:?}");
        }
    }

    // S-01, H-08: present but invalid means no view, and no falling back to the flat link.
    #[test]
    fn h_08_a_broken_link_means_no_view() {
        for broken in
            [json!(null), json!("https://x.test"), json!("UI://a"), json!("ui://"), json!(1)]
        {
            let meta = json!({ "ui": { "resourceUri": broken }, "ui/resourceUri": "ui://b" });
            let (tool, findings) = read(meta, STRICT);
            assert_eq!(tool.resource_uri, None);
            let last = findings.last();
            assert!(
                matches!(last, Some(Finding::NotUiUri { key: "ui.resourceUri", .. })),
                "{last:?}"
            );
        }
    }

    // H-13, S-13: by membership.
    #[test]
    fn h_13_visibility_is_counted_by_membership() {
        #[rustfmt::skip]
        let table = [
            (json!(null),                      Visibilities::BOTH,  0),
            (json!(["model", "app"]),          Visibilities::BOTH,  0),
            (json!(["model"]),                 Visibilities::MODEL, 0),
            (json!(["app"]),                   Visibilities::APP,   0),
            (json!(["app", "app"]),            Visibilities::APP,   0),
            (json!([]),                        Visibilities::NONE,  0),
            (json!(["everyone", "app", null]), Visibilities::APP,   2),
            (json!("app"),                     Visibilities::APP,   0),
            (json!({ "app": true }),           Visibilities::NONE,  1),
        ];
        for (visibility, expected, count) in table {
            let (tool, findings) = read(json!({ "ui": { "visibility": visibility } }), STRICT);
            assert_eq!(tool.visibility, expected, "{visibility}");
            assert_eq!(findings.len(), count, "{visibility}");
        }
        assert_eq!(read(json!({}), STRICT).0.visibility, Visibilities::BOTH);
    }

    #[test]
    fn membership_is_asked_one_by_one() {
        assert!(!Visibilities::APP.contains(Visibility::Model));
        assert!(!Visibilities::MODEL.contains(Visibility::App));
        assert!(Visibility::ALL.iter().all(|who| Visibilities::BOTH.contains(*who)));
        assert!(!Visibility::ALL.iter().any(|who| Visibilities::NONE.contains(*who)));
    }

    // S-12, S-14: both keys, equal; visibility without a link is fine.
    #[test]
    fn s_12_the_link_is_written_nested_and_flat() {
        let both = ToolMeta { resource_uri: UiUri::parse("ui://a"), ..ToolMeta::default() };
        assert_eq!(
            Value::Object(both.to_meta()),
            json!({ "ui/resourceUri": "ui://a", "ui": { "resourceUri": "ui://a" } })
        );
        let helper = ToolMeta { visibility: Visibilities::APP, ..ToolMeta::default() };
        assert_eq!(Value::Object(helper.to_meta()), json!({ "ui": { "visibility": ["app"] } }));
        assert!(ToolMeta::default().to_meta().is_empty());
        for meta in [both, helper] {
            assert_eq!(read(Value::Object(meta.to_meta()), STRICT), (meta, vec![]));
        }
    }

    #[test]
    fn table_4_2_tool_link() {
        let meta = json!({ "openai/outputTemplate": "ui://a", "openai/widgetAccessible": false });
        assert_eq!(read(meta.clone(), STRICT).0, ToolMeta::default());
        let (tool, _) = read(meta, OPENAI);
        assert_eq!(tool.resource_uri, UiUri::parse("ui://a"));
        assert_eq!(tool.visibility, Visibilities::MODEL);

        let private = json!({ "openai/visibility": "private" });
        assert_eq!(read(private, OPENAI).0.visibility, Visibilities::APP);
        let ours = json!({ "openai/visibility": "private", "ui": { "visibility": ["model"] } });
        assert_eq!(read(ours, OPENAI).0.visibility, Visibilities::MODEL);
    }

    // S-11: ignored where it has no effect, but said so.
    #[test]
    fn s_11_policy_on_a_tool_is_a_finding() {
        let (_, findings) = read(json!({ "ui": { "csp": {}, "permissions": {} } }), STRICT);
        let keys = ["csp", "permissions"].map(|key| Finding::PolicyOnTool { key });
        assert_eq!(findings, keys);
    }
}
