//! Answers.

use super::json::{self, Fields};
use super::{DisplayMode, Members, RawObject, Tool};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use serde_json::value::RawValue;

/// The answer that says nothing but "done"; peers refuse any key in it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct EmptyResult {}

/// The answer to `ui/open-link`, `ui/download-file` and `ui/message`.
///
/// A refusal of ours is an error, as the spec has it; some hosts say `isError` instead.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ActionResult {
    /// Whether it was refused or failed.
    #[serde(skip_serializing_if = "json::is_off")]
    pub is_error: bool,
}

/// The answer to `ui/request-display-mode`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DisplayModeResult {
    /// The mode now in force, whatever was asked for.
    pub mode: DisplayMode,
}

/// The answer to `tools/list`, when it is the view that is asked.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListToolsResult {
    /// The tools; what is not one is skipped.
    pub tools: Vec<Tool>,
    /// Where to go on.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub next_cursor: Option<String>,
}

/// The result of a tool, untouched.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct CallToolResult<'a> {
    raw: RawObject<'a>,
    is_error: bool,
}

impl<'a> CallToolResult<'a> {
    /// Takes a result, if it is an object.
    pub fn new(raw: &'a RawValue) -> Option<Self> {
        serde_json::from_str(raw.get()).ok()
    }

    /// The result, byte for byte.
    pub fn raw(&self) -> RawObject<'a> {
        self.raw
    }

    /// Whether the tool says that it failed.
    pub fn is_error(&self) -> bool {
        self.is_error
    }
}

impl<'de> Deserialize<'de> for EmptyResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        Fields::deserialize(deserializer).map(|_| Self {})
    }
}

impl<'de> Deserialize<'de> for ActionResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self { is_error: fields.flag("isError") })
    }
}

impl<'de> Deserialize<'de> for ListToolsResult {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut fields = Fields::deserialize(deserializer)?;
        Ok(Self {
            tools: fields.list("tools").unwrap_or_default(),
            next_cursor: fields.take("nextCursor"),
        })
    }
}

impl Serialize for CallToolResult<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.raw.serialize(serializer)
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for CallToolResult<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = RawObject::deserialize(deserializer)?;
        let members: Members<'a> = serde_json::from_str(raw.get()).map_err(D::Error::custom)?;
        let is_error = members.get("isError").is_some_and(|value| value.get() == "true");
        Ok(Self { raw, is_error })
    }
}
