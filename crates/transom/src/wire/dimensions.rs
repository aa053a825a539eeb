//! The room a view has, axis by axis.

use super::json::{Fields, to_number};
use serde::ser::SerializeMap;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::{Number, Value};

/// The room the host gives a view.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ContainerDimensions {
    /// From left to right.
    pub width: Axis,
    /// From top to bottom.
    pub height: Axis,
}

/// Who decides about the size along one axis, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub enum Axis {
    /// The host does; the view fills it.
    Fixed(f64),
    /// The view does, up to a limit.
    AtMost(f64),
    /// The view does.
    #[default]
    Free,
}

impl ContainerDimensions {
    /// Reads the `viewport` of older drafts, where a limit beside a size meant "flexible".
    pub(super) fn of_viewport(value: Value) -> Self {
        let mut fields = Fields::of(value);
        let mut axis = |size, limit| match (fields.take(size), fields.take(limit)) {
            (_, Some(limit)) => Axis::AtMost(limit),
            (Some(size), None) => Axis::Fixed(size),
            (None, None) => Axis::Free,
        };
        Self { width: axis("width", "maxWidth"), height: axis("height", "maxHeight") }
    }
}

impl Axis {
    /// The key and number that say this. A size that JSON has no number for says nothing.
    fn entry(self, size: &'static str, limit: &'static str) -> Option<(&'static str, Number)> {
        match self {
            Self::Fixed(value) => Some((size, to_number(value)?)),
            Self::AtMost(value) => Some((limit, to_number(value)?)),
            Self::Free => None,
        }
    }
}

impl Serialize for ContainerDimensions {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = serializer.serialize_map(None)?;
        let width = self.width.entry("width", "maxWidth");
        let height = self.height.entry("height", "maxHeight");
        for (key, number) in width.into_iter().chain(height) {
            map.serialize_entry(key, &number)?;
        }
        map.end()
    }
}

impl<'de> Deserialize<'de> for ContainerDimensions {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        let mut axis = |size, limit| match (fields.take(size), fields.take(limit)) {
            (Some(size), _) => Axis::Fixed(size),
            (None, Some(limit)) => Axis::AtMost(limit),
            (None, None) => Axis::Free,
        };
        Ok(Self { width: axis("width", "maxWidth"), height: axis("height", "maxHeight") })
    }
}
