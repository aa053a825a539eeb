//! What a view is told about its surroundings.

use super::json::{self, Fields, closed_enum};
use super::{ContainerDimensions, HostStyles, ToolInfo};
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
            tool_info: fields.take("toolInfo"),
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
            safe_area_insets: fields.take("safeAreaInsets"),
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
