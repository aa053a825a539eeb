//! What a view asks for, as the tool's arguments have it.

use std::time::Duration;

use http::Method;
use rmcp::model::JsonObject;
use serde::Deserialize;
use serde_json::{Map, Value};

use super::body::BodyType;
use super::failure::Failure;
use super::route::is_never_sent;

/// The arguments of `http_request`.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Ask {
    #[serde(default)]
    method: Option<String>,
    pub(crate) url: String,
    #[serde(default)]
    pub(crate) headers: Map<String, Value>,
    #[serde(default)]
    pub(crate) body: Value,
    #[serde(default)]
    pub(crate) body_type: Option<BodyType>,
    #[serde(default)]
    pub(crate) redirect: Redirect,
    #[serde(default)]
    pub(crate) cache: CacheMode,
    #[serde(default)]
    pub(crate) credentials: Send,
    #[serde(default)]
    timeout_ms: Option<u64>,
    /// Whether the view can pull a response that does not arrive at once.
    #[serde(default)]
    pub(crate) stream: bool,
}

/// What becomes of a redirect.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Redirect {
    #[default]
    Follow,
    Error,
    Manual,
}

/// What a stored response is good for (REQ-8).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum CacheMode {
    #[default]
    Default,
    NoStore,
    Reload,
    NoCache,
    ForceCache,
    OnlyIfCached,
}

/// Whether the server adds what proves who asks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Send {
    Omit,
    #[default]
    SameOrigin,
    Include,
}

impl Ask {
    pub(crate) fn parse(arguments: JsonObject) -> Result<Self, Failure> {
        serde_json::from_value(Value::Object(arguments))
            .map_err(|_| Failure::bad_request("the arguments are not those of a request"))
    }

    /// The method, as routes have it and as it is sent.
    pub(crate) fn method(&self) -> Result<Method, Failure> {
        let method = self.method.as_deref().unwrap_or("GET").to_ascii_uppercase();
        if is_never_sent(&method) {
            return Err(Failure::blocked("no page can send this method"));
        }
        Method::from_bytes(method.as_bytes())
            .map_err(|_| Failure::bad_request("the method is none"))
    }

    /// How long it may take: what the server allows, or less if the view asks for less (DEF-4).
    pub(crate) fn patience(&self, most: Duration) -> Result<Duration, Failure> {
        match self.timeout_ms {
            None => Ok(most),
            Some(0) => Err(Failure::bad_request("timeoutMs is not positive")),
            Some(wanted) => Ok(most.min(Duration::from_millis(wanted))),
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn ask(value: Value) -> Result<Ask, Failure> {
        let Value::Object(arguments) = value else { panic!("no object") };
        Ask::parse(arguments)
    }

    #[test]
    fn what_is_no_request_is_refused() {
        let table = [
            json!({}),
            json!({ "url": 7 }),
            json!({ "url": "/", "redirect": "perhaps" }),
            json!({ "url": "/", "cache": "x" }),
            json!({ "url": "/", "credentials": true }),
            json!({ "url": "/", "timeoutMs": -1 }),
            json!({ "url": "/", "timeoutMs": "1" }),
            json!({ "url": "/", "headers": [["a", "b"]] }),
            json!({ "url": "/", "bodyType": "blob" }),
            json!({ "url": "/", "method": 1 }),
        ];
        for arguments in table {
            assert!(ask(arguments.clone()).is_err(), "{arguments}");
        }
    }

    // FSE-11.
    #[test]
    fn fse_11_methods_that_no_page_sends_are_refused() {
        for method in ["CONNECT", "trace", "Track", "GET POST", "", "G\u{cb}T", "GET\r\n"] {
            assert!(
                ask(json!({ "url": "/", "method": method })).expect("it is one").method().is_err(),
                "{method:?}"
            );
        }
        assert_eq!(
            ask(json!({ "url": "/", "method": "patch" })).expect("it is one").method(),
            Ok(Method::PATCH)
        );
        assert_eq!(ask(json!({ "url": "/" })).expect("it is one").method(), Ok(Method::GET));
    }

    // DEF-4: a view may ask for less time than the server gives, and never for more.
    #[test]
    fn def_4_a_view_cannot_ask_for_more_time() {
        let patience = |wanted: u64| {
            ask(json!({ "url": "/", "timeoutMs": wanted }))
                .expect("it is one")
                .patience(Duration::from_secs(5))
        };
        assert_eq!(patience(100), Ok(Duration::from_millis(100)));
        assert_eq!(patience(u64::MAX), Ok(Duration::from_secs(5)));
        assert!(patience(0).is_err());
    }
}
