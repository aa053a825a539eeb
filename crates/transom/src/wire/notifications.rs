//! What is told without expecting an answer.

use super::json::{self, closed_enum, or_absent};
use super::{Members, ProgressToken, RawObject, RequestId, ResourceCsp, ResourcePermissions};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_json::value::RawValue;
use std::borrow::Cow;

/// Params that say nothing, printed as `{}`.
///
/// Where params may be left out, either will do; `sandbox-proxy-ready` must have them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct EmptyParams {}

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
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub csp: Option<ResourceCsp>,
    /// The device permissions it gets.
    #[serde(default, skip_serializing_if = "Option::is_none", deserialize_with = "or_absent")]
    pub permissions: Option<ResourcePermissions>,
}

impl<'de: 'a, 'a> Deserialize<'de> for ToolInputParams<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let mut members: Members<'a> = Members::deserialize(deserializer)?;
        let arguments = members.object("arguments").map_err(D::Error::custom)?;
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

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{from_str, to_string};

    // W-7: optional means absent, on the way out; on the way in, null is as good.
    #[test]
    fn w_7_null_reads_as_absent_and_is_never_written() {
        let size: SizeChangedParams = from_str(r#"{"width":null,"height":20.5}"#).unwrap();
        assert_eq!(to_string(&size).unwrap(), r#"{"height":20.5}"#);

        let cancelled: ToolCancelledParams = from_str(r#"{"reason":null}"#).unwrap();
        assert_eq!(to_string(&cancelled).unwrap(), "{}");

        let params = r#"{"progressToken":"t","progress":1,"total":null,"message":null}"#;
        let progress: ProgressParams = from_str(params).unwrap();
        assert_eq!(to_string(&progress).unwrap(), r#"{"progressToken":"t","progress":1}"#);
    }

    #[test]
    fn numbers_that_json_lacks_are_not_printed() {
        let size = SizeChangedParams { width: Some(f64::NAN), height: Some(f64::INFINITY) };
        assert_eq!(to_string(&size).unwrap(), "{}");
        let progress = ProgressParams {
            progress_token: 1.into(),
            progress: f64::NAN,
            total: None,
            message: None,
        };
        assert!(to_string(&progress).is_err());
    }

    // V-29: no arguments are `{}`.
    #[test]
    fn v_29_tool_input_without_arguments_has_none() {
        for text in ["{}", r#"{"arguments":null}"#, r#"{"arguments":{}}"#] {
            let input: ToolInputParams<'_> = from_str(text).unwrap();
            assert_eq!(to_string(&input).unwrap(), r#"{"arguments":{}}"#);
        }
        assert!(from_str::<ToolInputParams<'_>>(r#"{"arguments":[]}"#).is_err());
    }

    #[test]
    fn arguments_keep_every_byte() {
        let text = r#"{"arguments":{"a" : 1.0, "b":1e2}}"#;
        let input: ToolInputParams<'_> = from_str(text).unwrap();
        assert_eq!(to_string(&input).unwrap(), text);
    }

    #[test]
    fn a_log_line_has_a_known_level_and_any_data() {
        let line: LogParams<'_> = from_str(r#"{"level":"info","logger":null}"#).unwrap();
        assert_eq!(to_string(&line).unwrap(), r#"{"level":"info","data":null}"#);
        assert!(from_str::<LogParams<'_>>(r#"{"level":"loud","data":1}"#).is_err());
        assert!(LogLevel::Debug < LogLevel::Emergency);
    }

    #[test]
    fn a_cancellation_names_its_request() {
        let params: CancelledParams = from_str(r#"{"requestId":0,"reason":7}"#).unwrap();
        assert_eq!(to_string(&params).unwrap(), r#"{"requestId":0}"#);
        assert!(from_str::<CancelledParams>(r#"{"requestId":null}"#).is_err());
    }

    // Absent is stricter than empty, so what is not an object must read as absent.
    #[test]
    fn an_odd_policy_reads_as_absent() {
        let text =
            r#"{"html":"<p>\u0041","csp":true,"permissions":{"camera":true},"sandbox":null}"#;
        let params: SandboxResourceReadyParams<'_> = from_str(text).unwrap();
        assert_eq!(to_string(&params).unwrap(), r#"{"html":"<p>A","permissions":{"camera":{}}}"#);
    }
}
