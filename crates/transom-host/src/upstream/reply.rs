//! What comes back for an HTTP request, before it is known to be a message.

use std::time::Duration;

use reqwest::{
    Response, StatusCode,
    header::{CONTENT_TYPE, LOCATION, WWW_AUTHENTICATE},
};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::time::timeout;
use transom::violation::Quoted;

use super::{Aside, CallError, HttpError, Refusal, Rubbish};

/// Lets a good answer through, and says what is wrong with another.
pub(super) async fn accepted(response: Response) -> Result<Response, CallError> {
    let status = response.status();
    let header = |name| response.headers().get(name).map(|value| Aside(quoted(value.as_bytes())));
    if status.is_success() {
        return Ok(response);
    }
    if status == StatusCode::UNAUTHORIZED {
        return Err(HttpError::Unauthorized { challenge: header(WWW_AUTHENTICATE) }.into());
    }
    if status.is_redirection()
        && let Some(location) = header(LOCATION)
    {
        return Err(HttpError::Redirect { status, location }.into());
    }
    let explained = timeout(EXPLAINING, body(response, MAX_EXPLANATION)).await;
    let body = explained.ok().and_then(Result::ok).unwrap_or_default();
    Err(refusal(&body).map_or_else(
        || {
            let words = (!body.is_empty()).then(|| Aside(quoted(&body)));
            HttpError::Status { status, words }.into()
        },
        CallError::Refused,
    ))
}

/// Whether a refusal means that the server does not know our session.
///
/// The spec says 404. Servers that follow the example of the TypeScript SDK say 400, and in words what
/// they miss.
pub(super) fn is_forgotten(status: StatusCode, error: &CallError) -> bool {
    match error {
        _ if status == StatusCode::NOT_FOUND => true,
        CallError::Refused(Refusal { message, .. }) if status == StatusCode::BAD_REQUEST => {
            message.to_ascii_lowercase().contains("session")
        }
        _ => false,
    }
}

/// The JSON-RPC error in the body of a bad status, whoever it was addressed to.
fn refusal(body: &[u8]) -> Option<Refusal> {
    #[derive(Deserialize)]
    struct Failed {
        error: FailedError,
    }
    #[derive(Deserialize)]
    struct FailedError {
        code: i64,
        #[serde(default)]
        message: String,
        data: Option<Box<RawValue>>,
    }
    let FailedError { code, message, data } = serde_json::from_slice::<Failed>(body).ok()?.error;
    Some(Refusal { code, message, data })
}

/// Reads a body, but no more than the limit.
pub(super) async fn body(mut response: Response, limit: usize) -> Result<Vec<u8>, HttpError> {
    let announced = response.content_length().unwrap_or(0);
    let too_long = || HttpError::Rubbish(Rubbish::TooLong { limit });
    if usize::try_from(announced).is_ok_and(|size| size > limit) {
        return Err(too_long());
    }
    let mut body = Vec::with_capacity(usize::try_from(announced).unwrap_or(0).min(PREPARED));
    while let Some(piece) = response.chunk().await.map_err(HttpError::of)? {
        if body.len() + piece.len() > limit {
            return Err(too_long());
        }
        body.extend_from_slice(&piece);
    }
    Ok(body)
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Media {
    Json,
    Events,
}

pub(super) fn media_type(response: &Response) -> Option<Media> {
    let value = response.headers().get(CONTENT_TYPE)?.to_str().ok()?;
    let essence = value.split(';').next().unwrap_or_default().trim();
    [("application/json", Media::Json), (EVENTS, Media::Events)]
        .into_iter()
        .find_map(|(name, media)| essence.eq_ignore_ascii_case(name).then_some(media))
}

pub(super) fn content_type(response: &Response) -> Aside {
    let value = response.headers().get(CONTENT_TYPE);
    Aside(quoted(value.map_or(b"nothing", |value| value.as_bytes())))
}

fn quoted(bytes: &[u8]) -> Quoted {
    Quoted::new(&String::from_utf8_lossy(bytes))
}

pub(super) const EVENTS: &str = "text/event-stream";
/// How much of a body that explains a bad status is read.
const MAX_EXPLANATION: usize = 64 << 10;
/// How long that may take.
const EXPLAINING: Duration = Duration::from_secs(5);
/// How much room a server can have made by announcing a large body.
const PREPARED: usize = 1 << 20;
