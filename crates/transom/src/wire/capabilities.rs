//! What each side says it can do.

use super::json::{self, Fields, is_truthy};
use super::{DisplayMode, Modality, ResourceCsp, ResourcePermissions};
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// Capabilities outside the spec, by name. Each is an object; peers reject anything else.
pub type Experimental = BTreeMap<String, Map<String, Value>>;

/// What a host offers its views.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostCapabilities {
    /// What the spec does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Experimental>,
    /// Opens links.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub open_links: bool,
    /// Saves files.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub download_file: bool,
    /// Passes tool calls on to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_tools: Option<ListChanged>,
    /// Passes resource requests on to the server.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub server_resources: Option<ListChanged>,
    /// Takes log lines.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub logging: bool,
    /// What the sandbox really grants.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sandbox: Option<SandboxCapabilities>,
    /// Tells the model what the view says, in these forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub update_model_context: Option<Modalities>,
    /// Takes messages into the conversation, in these forms.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub message: Option<Modalities>,
    /// Lets the view ask the model.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sampling: Option<Sampling>,
}

/// What a view offers its host.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct AppCapabilities {
    /// What the spec does not know.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub experimental: Option<Experimental>,
    /// Has tools of its own.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tools: Option<ListChanged>,
    /// The modes it can be shown in; none given means no restriction.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_display_modes: Option<Vec<DisplayMode>>,
}

/// A list that may announce its changes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListChanged {
    /// Whether changes are announced.
    #[serde(skip_serializing_if = "json::is_off")]
    pub list_changed: bool,
}

/// What the sandbox really grants.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct SandboxCapabilities {
    /// Device permissions.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub permissions: Option<ResourcePermissions>,
    /// Network sources.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub csp: Option<ResourceCsp>,
}

/// The forms of content that are taken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Modalities {
    /// Text.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub text: bool,
    /// Images.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub image: bool,
    /// Sound.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub audio: bool,
    /// Embedded resources.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub resource: bool,
    /// Links to resources.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub resource_link: bool,
    /// Structured content.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub structured_content: bool,
}

/// How a view may ask the model.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Sampling {
    /// Also with tools.
    #[serde(skip_serializing_if = "json::is_off", serialize_with = "json::flag")]
    pub tools: bool,
}

impl Modalities {
    /// Every form.
    pub const ALL: Self = Self {
        text: true,
        image: true,
        audio: true,
        resource: true,
        resource_link: true,
        structured_content: true,
    };

    /// Whether a form is taken.
    pub fn allows(&self, modality: Modality) -> bool {
        match modality {
            Modality::Text => self.text,
            Modality::Image => self.image,
            Modality::Audio => self.audio,
            Modality::Resource => self.resource,
            Modality::ResourceLink => self.resource_link,
        }
    }
}

impl<'de> Deserialize<'de> for HostCapabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            experimental: experimental(&mut fields),
            open_links: fields.flag("openLinks"),
            download_file: fields.flag("downloadFile"),
            server_tools: fields.settings("serverTools"),
            server_resources: fields.settings("serverResources"),
            logging: fields.flag("logging"),
            sandbox: fields.settings("sandbox"),
            update_model_context: fields.settings("updateModelContext"),
            message: fields.settings("message"),
            sampling: fields.settings("sampling"),
        })
    }
}

impl<'de> Deserialize<'de> for AppCapabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            experimental: experimental(&mut fields),
            tools: fields.settings("tools"),
            available_display_modes: fields.list("availableDisplayModes"),
        })
    }
}

impl<'de> Deserialize<'de> for ListChanged {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { list_changed: fields.flag("listChanged") })
    }
}

impl<'de> Deserialize<'de> for SandboxCapabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { permissions: fields.take("permissions"), csp: fields.take("csp") })
    }
}

impl<'de> Deserialize<'de> for Modalities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            text: fields.flag("text"),
            image: fields.flag("image"),
            audio: fields.flag("audio"),
            resource: fields.flag("resource"),
            resource_link: fields.flag("resourceLink"),
            structured_content: fields.flag("structuredContent"),
        })
    }
}

impl<'de> Deserialize<'de> for Sampling {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { tools: fields.flag("tools") })
    }
}

/// Reads the experimental capabilities; `true` stands for an empty object.
fn experimental(fields: &mut Fields) -> Option<Experimental> {
    let Some(Value::Object(map)) = fields.value("experimental") else { return None };
    let claimed = map.into_iter().filter(|(_, value)| is_truthy(value));
    let objects = claimed.map(|(name, value)| match value {
        Value::Object(settings) => (name, settings),
        _ => (name, Map::new()),
    });
    Some(objects.collect())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_value, json, to_value};

    #[test]
    fn flags_are_objects_out_and_anything_true_in() {
        for claimed in [json!({}), json!(true), json!({ "x": 1 }), json!("yes"), json!(1)] {
            let host: HostCapabilities = from_value(json!({ "openLinks": claimed })).unwrap();
            assert_eq!(to_value(host).unwrap(), json!({ "openLinks": {} }));
        }
        for denied in [json!(null), json!(false), json!(0), json!("")] {
            let host: HostCapabilities = from_value(json!({ "openLinks": denied })).unwrap();
            assert_eq!(to_value(host).unwrap(), json!({}));
        }
    }

    #[test]
    fn settings_may_be_just_true() {
        let wire = json!({ "serverTools": true, "message": true, "sampling": null });
        let host: HostCapabilities = from_value(wire).unwrap();
        assert_eq!(to_value(host).unwrap(), json!({ "serverTools": {}, "message": {} }));
    }

    #[test]
    fn experimental_capabilities_are_objects() {
        let wire = json!({ "experimental": { "a": { "x": 1 }, "b": true, "c": false, "d": null } });
        let app: AppCapabilities = from_value(wire).unwrap();
        let expected = json!({ "experimental": { "a": { "x": 1 }, "b": {} } });
        assert_eq!(to_value(app).unwrap(), expected);
    }

    #[test]
    fn unknown_modes_are_skipped() {
        let wire = json!({ "availableDisplayModes": ["pip", "hologram"], "tools": { "listChanged": true } });
        let app: AppCapabilities = from_value(wire).unwrap();
        assert_eq!(app.available_display_modes, Some(vec![DisplayMode::Pip]));
        assert_eq!(app.tools, Some(ListChanged { list_changed: true }));
    }

    // What is granted is reported in the shape in which it was declared.
    #[test]
    fn the_sandbox_reports_what_it_grants() {
        let wire = json!({ "sandbox": {
            "permissions": { "camera": {} },
            "csp": { "connectDomains": ["https://api.x.com"] },
        }});
        let host: HostCapabilities = from_value(wire.clone()).unwrap();
        assert_eq!(to_value(host).unwrap(), wire);
    }

    // Unreleased proposals are parsed and ignored.
    #[test]
    fn proposals_are_ignored() {
        let host: HostCapabilities = from_value(json!({ "appTools": {}, "logging": {} })).unwrap();
        assert_eq!(to_value(host).unwrap(), json!({ "logging": {} }));
    }

    #[test]
    fn a_modality_is_allowed_only_when_named() {
        let text = Modalities { text: true, ..Modalities::default() };
        let allowed: Vec<_> = Modality::ALL.iter().filter(|m| text.allows(**m)).collect();
        assert_eq!(allowed, [&Modality::Text]);
        let wire =
            json!({ "text": {}, "image": {}, "audio": {}, "resource": {}, "resourceLink": {} });
        let all: Modalities = from_value(wire).unwrap();
        assert!(Modality::ALL.iter().all(|modality| all.allows(*modality)));
    }
}
