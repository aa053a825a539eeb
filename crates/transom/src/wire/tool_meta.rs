//! How a tool is tied to its view, and who may call it.

use super::finding::Quoted;
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
    /// Someone who may call a tool.
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
    /// Nobody.
    pub const NONE: Self = Self { model: false, app: false };

    /// Whether someone may call the tool.
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

    /// Counts membership. What cannot be read gives access to nobody: its author wanted fewer
    /// than everybody.
    fn read(value: &Value, findings: &mut Vec<Finding>) -> Self {
        let mut unknown = |item: &Value| {
            findings.push(Finding::UnknownVisibility { got: Quoted::new(item) });
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
            let (nested, flat) = (Quoted::new(nested), Quoted::new(flat));
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
    if uri.is_none() {
        findings.push(Finding::NotUiUri { key, got: Quoted::new(value) });
    }
    uri
}

/// The link as it was written before it moved under `ui`.
const FLAT: &str = "ui/resourceUri";
const OPENAI_TEMPLATE: &str = "openai/outputTemplate";
