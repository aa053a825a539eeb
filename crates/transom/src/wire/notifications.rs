//! What is told without expecting an answer.

use super::json::{self, closed_enum, or_absent};
use super::{Members, ProgressToken, RawObject, RequestId, ResourceCsp, ResourcePermissions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// The size of a view's content, in CSS pixels.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SizeChangedParams {
    /// From left to right.
    #[serde(
        default,
        skip_serializing_if = "json::is_unprintable",
        serialize_with = "json::optional_number",
        deserialize_with = "or_absent"
    )]
    pub width: Option<f64>,
    /// From top to bottom.
    #[serde(
        default,
        skip_serializing_if = "json::is_unprintable",
        serialize_with = "json::optional_number",
        deserialize_with = "or_absent"
    )]
    pub height: Option<f64>,
}

/// The arguments of the tool call that opened the view, whole or so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct ToolInputParams<'a> {
    /// The arguments. A call without any has `{}`.
    pub arguments: RawObject<'a>,
}

/// Why a tool call was cancelled.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ToolCancelledParams {
    /// In words for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub reason: Option<String>,
}

/// A log line from a view.
#[derive(Clone, Debug, Serialize)]
pub struct LogParams<'a> {
    /// How bad it is.
    pub level: LogLevel,
    /// The part of the view that speaks.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub logger: Option<Cow<'a, str>>,
    /// What it says; any JSON.
    pub data: &'a RawValue,
}

closed_enum! {
    /// How bad a log line is, from the least to the worst.
    LogLevel {
        Debug = "debug",
        Info = "info",
        Notice = "notice",
        Warning = "warning",
        Error = "error",
        Critical = "critical",
        Alert = "alert",
        Emergency = "emergency",
    }
}

/// A request that is no longer wanted.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CancelledParams {
    /// The request.
    pub request_id: RequestId,
    /// In words for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub reason: Option<String>,
}

/// How far a request has come.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ProgressParams {
    /// What the request asked its progress to be marked with.
    pub progress_token: ProgressToken,
    /// How much is done. It only grows.
    #[serde(serialize_with = "json::number")]
    pub progress: f64,
    /// How much there is.
    #[serde(
        default,
        skip_serializing_if = "json::is_unprintable",
        serialize_with = "json::optional_number",
        deserialize_with = "or_absent"
    )]
    pub total: Option<f64>,
    /// In words for people.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub message: Option<String>,
}

/// The document for a sandbox, and its limits.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SandboxResourceReadyParams<'a> {
    /// The document.
    #[serde(borrow)]
    pub html: Cow<'a, str>,
    /// The `sandbox` attribute of the inner frame.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub sandbox: Option<String>,
    /// The sources it needs. Absent is stricter than empty.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object")]
    pub csp: Option<ResourceCsp>,
    /// The device permissions it gets.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "object")]
    pub permissions: Option<ResourcePermissions>,
}

/// Reads an object; anything else is absent.
fn object<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: serde::de::DeserializeOwned,
{
    let value = serde_json::Value::deserialize(deserializer)?;
    Ok(Some(value)
        .filter(serde_json::Value::is_object)
        .and_then(|v| serde_json::from_value(v).ok()))
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolInputParams<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members: Members<'a> = Members::deserialize(deserializer)?;
        let arguments = members.read("arguments").map_err(D::Error::custom)?;
        Ok(Self { arguments: arguments.unwrap_or_default() })
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for LogParams<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members: Members<'a> = Members::deserialize(deserializer)?;
        Ok(Self {
            level: members.need("level").map_err(D::Error::custom)?,
            logger: members.read("logger").unwrap_or_default(),
            data: members.take("data").unwrap_or(RawValue::NULL),
        })
    }
}
