//! What a view is told about its surroundings.

use super::json::{self, Fields, closed_enum};
use super::{ContainerDimensions, HostStyles, StyleVariable, ToolInfo};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Map, Value};

/// What the host tells a view about its surroundings. Every part is optional.
///
/// Also the shape of a change: a patch is a context that holds only what changed.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct HostContext {
    /// The tool call that opened the view.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tool_info: Option<ToolInfo>,
    /// Light or dark.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub theme: Option<Theme>,
    /// The host's look.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub styles: Option<HostStyles>,
    /// The display mode in force.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub display_mode: Option<DisplayMode>,
    /// The modes the host can offer.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub available_display_modes: Option<Vec<DisplayMode>>,
    /// The room the view has.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub container_dimensions: Option<ContainerDimensions>,
    /// The user's language, as BCP 47 writes it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub locale: Option<String>,
    /// The user's time zone, by its IANA name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub time_zone: Option<String>,
    /// The host's name for itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub user_agent: Option<String>,
    /// The kind of machine the host runs on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub platform: Option<Platform>,
    /// What the user can point with.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub device_capabilities: Option<DeviceCapabilities>,
    /// The edges that something else may cover.
    #[serde(skip_serializing_if = "unprintable_insets")]
    pub safe_area_insets: Option<SafeAreaInsets>,
    /// Keys this version does not know. The spec's own keys are not printed from here.
    #[serde(flatten, serialize_with = "unknown_keys")]
    pub rest: Map<String, Value>,
}

closed_enum! {
    /// The colour theme.
    Theme {
        Light = "light",
        Dark = "dark",
    }
}

closed_enum! {
    /// How a view is shown.
    DisplayMode {
        Inline = "inline",
        Fullscreen = "fullscreen",
        Pip = "pip",
    }
}

closed_enum! {
    /// The kind of machine the host runs on.
    Platform {
        Web = "web",
        Desktop = "desktop",
        Mobile = "mobile",
    }
}

/// What the user can point with.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct DeviceCapabilities {
    /// A finger.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub touch: Option<bool>,
    /// Something that can rest above an element without pressing it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hover: Option<bool>,
}

/// How far in from each edge the view is surely visible, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SafeAreaInsets {
    /// From the top.
    #[serde(serialize_with = "json::number")]
    pub top: f64,
    /// From the right.
    #[serde(serialize_with = "json::number")]
    pub right: f64,
    /// From the bottom.
    #[serde(serialize_with = "json::number")]
    pub bottom: f64,
    /// From the left.
    #[serde(serialize_with = "json::number")]
    pub left: f64,
}

impl HostContext {
    /// The same without what views of a revision are known to refuse: ext-apps 0.2.0 ends its handshake at
    /// one style variable that came a release later, under the same revision.
    pub fn understood_in(mut self, revision: &str) -> Self {
        if revision == "2025-11-21"
            && let Some(styles) = &mut self.styles
        {
            styles.variables.remove(&StyleVariable::TextGhost);
        }
        self
    }

    /// What to tell a view that knows `self` so that it knows `next`: the changed top-level keys,
    /// each complete.
    ///
    /// A key that is gone from `next` cannot be expressed: views merge, and nothing on the wire
    /// means "forget". A host that wants a value gone sends another one in its place.
    pub fn diff(&self, next: &Self) -> Self {
        fn changed<T: Clone + PartialEq>(old: &Option<T>, new: &Option<T>) -> Option<T> {
            if old == new { None } else { new.clone() }
        }
        let is_new = |(key, value): &(&String, &Value)| self.rest.get(*key) != Some(*value);
        let rest = next.rest.iter().filter(is_new);
        Self {
            tool_info: changed(&self.tool_info, &next.tool_info),
            theme: changed(&self.theme, &next.theme),
            styles: changed(&self.styles, &next.styles),
            display_mode: changed(&self.display_mode, &next.display_mode),
            available_display_modes: changed(
                &self.available_display_modes,
                &next.available_display_modes,
            ),
            container_dimensions: changed(&self.container_dimensions, &next.container_dimensions),
            locale: changed(&self.locale, &next.locale),
            time_zone: changed(&self.time_zone, &next.time_zone),
            user_agent: changed(&self.user_agent, &next.user_agent),
            platform: changed(&self.platform, &next.platform),
            device_capabilities: changed(&self.device_capabilities, &next.device_capabilities),
            safe_area_insets: changed(&self.safe_area_insets, &next.safe_area_insets),
            rest: rest.map(|(key, value)| (key.clone(), value.clone())).collect(),
        }
    }

    /// Takes over what a patch says. Shallow: a key in the patch replaces the whole old value.
    pub fn merge(&mut self, patch: Self) {
        fn replace<T>(old: &mut Option<T>, new: Option<T>) {
            if new.is_some() {
                *old = new;
            }
        }
        replace(&mut self.tool_info, patch.tool_info);
        replace(&mut self.theme, patch.theme);
        replace(&mut self.styles, patch.styles);
        replace(&mut self.display_mode, patch.display_mode);
        replace(&mut self.available_display_modes, patch.available_display_modes);
        replace(&mut self.container_dimensions, patch.container_dimensions);
        replace(&mut self.locale, patch.locale);
        replace(&mut self.time_zone, patch.time_zone);
        replace(&mut self.user_agent, patch.user_agent);
        replace(&mut self.platform, patch.platform);
        replace(&mut self.device_capabilities, patch.device_capabilities);
        replace(&mut self.safe_area_insets, patch.safe_area_insets);
        self.rest.extend(patch.rest);
    }

    /// Whether it says nothing.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl<'de> Deserialize<'de> for HostContext {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let viewport = fields.value("viewport");
        Ok(Self {
            tool_info: fields.object("toolInfo"),
            theme: fields.take("theme"),
            styles: fields.object("styles"),
            display_mode: fields.take("displayMode"),
            available_display_modes: fields.list("availableDisplayModes"),
            container_dimensions: fields
                .object("containerDimensions")
                .or_else(|| viewport.map(ContainerDimensions::of_viewport)),
            locale: fields.take("locale"),
            time_zone: fields.take("timeZone"),
            user_agent: fields.take("userAgent"),
            platform: fields.take("platform"),
            device_capabilities: fields.object("deviceCapabilities"),
            safe_area_insets: fields.object("safeAreaInsets"),
            rest: fields.rest(),
        })
    }
}

impl<'de> Deserialize<'de> for DeviceCapabilities {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { touch: fields.take("touch"), hover: fields.take("hover") })
    }
}

fn unknown_keys<S: Serializer>(
    rest: &Map<String, Value>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    json::unknown(rest, &KEYS, serializer)
}

/// All four sides must be there, so one that JSON has no number for takes the others with it.
fn unprintable_insets(insets: &Option<SafeAreaInsets>) -> bool {
    let finite = |side: f64| side.is_finite();
    !insets.is_some_and(|SafeAreaInsets { top, right, bottom, left }| {
        finite(top) && finite(right) && finite(bottom) && finite(left)
    })
}

#[rustfmt::skip]
const KEYS: [&str; 12] = [
    "toolInfo", "theme", "styles", "displayMode", "availableDisplayModes", "containerDimensions",
    "locale", "timeZone", "userAgent", "platform", "deviceCapabilities", "safeAreaInsets",
];

#[cfg(test)]
mod tests {
    use super::super::{Axis, StyleVariable};
    use super::*;
    use serde_json::{from_value, json, to_value};

    fn read(value: Value) -> HostContext {
        from_value(value).unwrap()
    }

    // V-27: one odd item must not cost the others.
    #[test]
    fn v_27_odd_items_are_ignored_and_the_rest_is_kept() {
        let context = read(json!({
            "theme": "auto",
            "platform": "fridge",
            "displayMode": "hologram",
            "availableDisplayModes": ["inline", "hologram", null, "pip"],
            "locale": 7,
            "timeZone": null,
            "userAgent": "host",
            "safeAreaInsets": { "top": 1 },
            "deviceCapabilities": { "touch": true, "hover": "perhaps" },
            "styles": { "variables": { "--nobody": "1px", "--font-sans": "serif" } },
            "toolInfo": { "tool": { "name": "no schema" } },
        }));
        assert_eq!(
            to_value(context).unwrap(),
            json!({
                "availableDisplayModes": ["inline", "pip"],
                "userAgent": "host",
                "deviceCapabilities": { "touch": true },
                "styles": { "variables": { "--font-sans": "serif" } },
            })
        );
    }

    // H-88: what cannot be read cannot be written either.
    #[test]
    fn h_88_a_known_key_cannot_be_smuggled_through_rest() {
        let rest = json!({ "theme": "auto", "acme": { "theme": "auto" } });
        let Value::Object(rest) = rest else { unreachable!() };
        let context = HostContext { rest, ..HostContext::default() };
        assert_eq!(to_value(context).unwrap(), json!({ "acme": { "theme": "auto" } }));
    }

    #[test]
    fn unknown_keys_survive_in_their_order() {
        let wire = json!({ "z": 1, "theme": "dark", "a": null, "m": [] });
        let printed = serde_json::to_string(&read(wire)).unwrap();
        assert_eq!(printed, r#"{"theme":"dark","z":1,"a":null,"m":[]}"#);
    }

    #[test]
    fn table_4_2_dimensions() {
        let old = json!({ "viewport": { "width": 300, "height": 200, "maxHeight": 900 } });
        let dimensions =
            ContainerDimensions { width: Axis::Fixed(300.), height: Axis::AtMost(900.) };
        let context = read(old);
        assert_eq!(context.container_dimensions, Some(dimensions));
        assert_eq!(
            to_value(context).unwrap(),
            json!({ "containerDimensions": { "width": 300, "maxHeight": 900 } })
        );

        let both = json!({ "viewport": { "width": 1 }, "containerDimensions": { "width": 2 } });
        let fixed = ContainerDimensions { width: Axis::Fixed(2.), height: Axis::Free };
        assert_eq!(read(both).container_dimensions, Some(fixed));
    }

    // H-87: whole top-level keys, and only those that changed.
    #[test]
    fn h_87_a_diff_holds_changed_keys_whole() {
        let variables = |sans: &str| json!({ "--font-sans": sans, "--font-mono": "mono" });
        let old = read(json!({
            "theme": "dark", "locale": "de", "x": 1, "y": { "a": 1, "b": 2 },
            "styles": { "variables": variables("a") },
        }));
        let new = read(json!({
            "theme": "dark", "platform": "web", "x": 2, "y": { "b": 2, "a": 1 },
            "styles": { "variables": variables("b") },
        }));
        let diff = old.diff(&new);
        assert_eq!(
            to_value(&diff).unwrap(),
            json!({ "platform": "web", "x": 2, "styles": { "variables": variables("b") } })
        );
        assert!(old.diff(&old).is_empty());
    }

    // V-11: shallow. R-27: what is gone stays, for lack of a word for it.
    #[test]
    fn v_11_merging_a_diff_gives_the_next_context_and_what_is_gone() {
        let old = read(json!({ "theme": "dark", "locale": "de", "x": { "a": 1 } }));
        let new = read(json!({ "theme": "light", "x": { "b": 1 } }));
        let mut merged = old.clone();
        merged.merge(old.diff(&new));
        assert_eq!(merged, HostContext { locale: Some("de".to_owned()), ..new });
    }

    #[test]
    fn v_11_an_unreadable_value_changes_nothing() {
        let mut context = read(json!({ "theme": "dark" }));
        context.merge(read(json!({ "theme": "auto", "styles": null })));
        assert_eq!(context, read(json!({ "theme": "dark" })));
    }

    #[test]
    fn w_7_insets_without_a_number_are_left_out() {
        let insets = SafeAreaInsets { top: f64::INFINITY, ..SafeAreaInsets::default() };
        let context = HostContext { safe_area_insets: Some(insets), ..HostContext::default() };
        assert_eq!(to_value(context).unwrap(), json!({}));
    }

    #[test]
    fn style_names_are_the_enum() {
        let context = read(json!({ "styles": { "--font-sans": "serif" } }));
        let styles = context.styles.unwrap();
        assert_eq!(styles.variables[&StyleVariable::FontSans], "serif");
    }

    #[test]
    fn views_of_an_older_revision_are_spared_the_name_that_some_of_them_refuse() {
        let variables = StyleVariable::ALL.iter().map(|name| (*name, "red".to_owned())).collect();
        let styles = Some(HostStyles { variables, css: None });
        let context = HostContext { styles, ..HostContext::default() };
        for (revision, names) in [("2026-01-26", 76), ("2025-11-21", 75)] {
            let understood = context.clone().understood_in(revision).styles.unwrap();
            assert_eq!(understood.variables.len(), names, "{revision}");
        }
    }
}
