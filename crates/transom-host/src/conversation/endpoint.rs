//! An endpoint that is asked over HTTP and answers with a stream of events.

use std::{fmt, time::Duration};

use reqwest::{
    Response,
    header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderValue},
    redirect::Policy,
};
use serde_json::Value;
use transom::quoted::Quoted;
use url::Url;

use super::{
    anthropic,
    model::{Delta, Finish, ModelError, ModelKind, ModelRefused, Prompt},
    openai,
};
use crate::upstream::{EventParser, is_machine, prepare_tls};

#[derive(Clone)]
pub(super) struct Endpoint {
    kind: ModelKind,
    url: Url,
    headers: HeaderMap,
    /// To be taken out of what the endpoint says.
    key: Option<String>,
    client: reqwest::Client,
}

/// Reads the events of one answer.
pub(super) trait Reader {
    /// Takes the data of one event.
    fn take(&mut self, data: &[u8], say: &mut dyn FnMut(Delta)) -> Result<(), ModelError>;
    /// How it ended, once it has.
    fn finish(&self) -> Option<Finish>;
}

impl Endpoint {
    pub(super) fn new(
        kind: ModelKind,
        base: &Url,
        key: Option<&str>,
    ) -> Result<Self, ModelRefused> {
        prepare_tls();
        // Whoever is sent elsewhere would be sent the conversation too, and the key.
        let mut builder = reqwest::Client::builder()
            .redirect(Policy::none())
            .connect_timeout(CONNECT)
            .tcp_nodelay(true);
        // A proxy on the way to our own machine is a misunderstanding.
        if is_machine(base) {
            builder = builder.no_proxy();
        }
        let client = builder.build().map_err(|_| ModelRefused::Client)?;
        let (url, headers) = (address(kind, base), headers(kind, key)?);
        Ok(Self { kind, url, headers, key: key.map(str::to_owned), client })
    }

    pub(super) fn place(&self) -> String {
        let mut url = self.url.clone();
        let _ = url.set_password(None);
        let _ = url.set_username("");
        url.set_query(None);
        url.to_string()
    }

    pub(super) async fn answer(
        &self,
        model: &str,
        prompt: &Prompt,
        say: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Finish, ModelError> {
        let body = match self.kind {
            ModelKind::Anthropic => anthropic::body(model, prompt),
            _ => openai::body(model, prompt),
        };
        let request = self.client.post(self.url.clone()).headers(self.headers.clone());
        let sent = tokio::time::timeout(PATIENCE, request.body(body).send()).await;
        let sent = sent.map_err(|_| ModelError::Slow(PATIENCE.as_secs()))?;
        let response = sent.map_err(|error| ModelError::Unreachable(self.words_of(&error)))?;
        let response = self.check(response).await?;
        match self.kind {
            ModelKind::Anthropic => self.read(response, anthropic::Events::default(), say).await,
            _ => self.read(response, openai::Chunks::default(), say).await,
        }
    }

    async fn read(
        &self,
        mut response: Response,
        mut reader: impl Reader + Send,
        say: &mut (dyn FnMut(Delta) + Send),
    ) -> Result<Finish, ModelError> {
        let mut events = EventParser::new(EVENT);
        let mut size = 0;
        let mut outcome = Ok(());
        loop {
            let piece = tokio::time::timeout(PATIENCE, response.chunk()).await;
            let piece = piece.map_err(|_| ModelError::Slow(PATIENCE.as_secs()))?;
            let Some(piece) = piece.map_err(|_| ModelError::Broken)? else { break };
            size += piece.len();
            if size > MOST {
                return Err(ModelError::TooLong(MOST));
            }
            let parsed = events.push(&piece, |data| {
                if outcome.is_ok() {
                    outcome = reader.take(data, &mut |delta| say(delta));
                }
            });
            parsed.map_err(|_| ModelError::TooLong(EVENT))?;
            if let Err(error) = outcome {
                return Err(self.plain(error));
            }
        }
        reader.finish().ok_or(ModelError::Broken)
    }

    /// A status that is none of success, in words.
    async fn check(&self, response: Response) -> Result<Response, ModelError> {
        let status = response.status();
        if status.is_redirection() {
            return Err(ModelError::Redirect(status.as_u16()));
        }
        let kind = response.headers().get(CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
        let kind = kind.unwrap_or_default().to_ascii_lowercase();
        if status.is_success() {
            return match kind.starts_with("text/event-stream") {
                true => Ok(response),
                false => Err(ModelError::Malformed("it is no event stream".to_owned())),
            };
        }
        let words = self.error_words(response).await;
        let words = match words {
            Some(words) => format!("{}: {words}", status.as_u16()),
            None => status.as_u16().to_string(),
        };
        Err(match status.as_u16() {
            401 | 403 => ModelError::Key(words),
            429 | 503 | 529 => ModelError::Busy(words),
            _ => ModelError::Refused(words),
        })
    }

    /// The beginning of what it says of an error, in quotes and without the key.
    async fn error_words(&self, mut response: Response) -> Option<String> {
        let mut body = vec![];
        let read = async {
            while let Ok(Some(piece)) = response.chunk().await {
                body.extend_from_slice(&piece[..piece.len().min(ERROR - body.len())]);
                if body.len() >= ERROR {
                    break;
                }
            }
        };
        let _ = tokio::time::timeout(CONNECT, read).await;
        let text = String::from_utf8_lossy(&body);
        let json: Value = serde_json::from_str(&text).unwrap_or_default();
        let error = &json["error"];
        let words = error["message"].as_str().or_else(|| error.as_str()).unwrap_or(&text);
        (!words.is_empty()).then(|| Quoted::long(&self.redacted(words), 300).to_string())
    }

    fn words_of(&self, error: &reqwest::Error) -> String {
        let mut words = vec![];
        let mut cause = std::error::Error::source(error);
        while let Some(error) = cause {
            words.push(error.to_string());
            cause = error.source();
        }
        let last = words.pop().unwrap_or_else(|| "no connection".to_owned());
        format!("{} ({})", self.place(), self.redacted(&last))
    }

    fn plain(&self, error: ModelError) -> ModelError {
        match error {
            ModelError::Malformed(words) => ModelError::Malformed(self.redacted(&words)),
            ModelError::Refused(words) => ModelError::Refused(self.redacted(&words)),
            ModelError::Busy(words) => ModelError::Busy(self.redacted(&words)),
            other => other,
        }
    }

    /// Without the key, and without what looks like one.
    fn redacted(&self, words: &str) -> String {
        let words = match &self.key {
            Some(key) => words.replace(key, "[key]"),
            None => words.to_owned(),
        };
        let is_of_key = |c: char| c.is_alphanumeric() || "-_*".contains(c);
        let mut plain = String::new();
        for part in words.split_inclusive(|c| !is_of_key(c)) {
            let word = part.trim_end_matches(|c| !is_of_key(c));
            let secret = word.starts_with("sk-") && word.len() > SHORT;
            plain.push_str(if secret { "[key]" } else { word });
            plain.push_str(&part[word.len()..]);
        }
        plain
    }
}

/// Neither the key nor headers that hold it.
impl fmt::Debug for Endpoint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Endpoint").field("url", &self.place()).finish_non_exhaustive()
    }
}

/// People write the address with or without its last parts.
fn address(kind: ModelKind, base: &Url) -> Url {
    let mut url = base.clone();
    let path = base.path().trim_end_matches('/');
    let (end, version) = match kind {
        ModelKind::Anthropic => ("/messages", "/v1"),
        _ => ("/chat/completions", ""),
    };
    let path = match (path.ends_with(end), path.ends_with("/v1")) {
        (true, _) => path.to_owned(),
        (false, true) => format!("{path}{end}"),
        (false, false) => format!("{path}{version}{end}"),
    };
    url.set_path(&path);
    url
}

fn headers(kind: ModelKind, key: Option<&str>) -> Result<HeaderMap, ModelRefused> {
    let mut headers = HeaderMap::new();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    if kind == ModelKind::Anthropic {
        headers.insert("anthropic-version", HeaderValue::from_static("2023-06-01"));
    }
    let Some(key) = key else { return Ok(headers) };
    let (name, value) = match kind {
        ModelKind::Anthropic => ("x-api-key".parse().expect("a name"), key.to_owned()),
        _ => (AUTHORIZATION, format!("Bearer {key}")),
    };
    let mut value = HeaderValue::from_str(&value).map_err(|_| ModelRefused::Key)?;
    value.set_sensitive(true);
    headers.insert(name, value);
    Ok(headers)
}

const CONNECT: Duration = Duration::from_secs(10);
/// How long it may say nothing. A model thinks for a while before its first word.
const PATIENCE: Duration = Duration::from_secs(120);
/// The largest event.
const EVENT: usize = 1 << 20;
/// The most that one answer may weigh on the wire.
const MOST: usize = 16 << 20;
/// No key is as short.
const SHORT: usize = 6;
/// How much of an error is read.
const ERROR: usize = 16 << 10;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_completed_and_not_doubled() {
        let table = [
            (ModelKind::OpenAi, "https://a.test/v1", "https://a.test/v1/chat/completions"),
            (ModelKind::OpenAi, "https://a.test/v1/", "https://a.test/v1/chat/completions"),
            (ModelKind::OpenAi, "http://localhost:1/x", "http://localhost:1/x/chat/completions"),
            (
                ModelKind::OpenAi,
                "https://a.test/v1/chat/completions",
                "https://a.test/v1/chat/completions",
            ),
            (ModelKind::Anthropic, "https://a.test", "https://a.test/v1/messages"),
            (ModelKind::Anthropic, "https://a.test/v1", "https://a.test/v1/messages"),
        ];
        for (kind, base, whole) in table {
            assert_eq!(address(kind, &Url::parse(base).unwrap()).as_str(), whole);
        }
    }

    #[test]
    fn no_word_of_the_endpoint_holds_the_key() {
        let url = Url::parse("http://localhost:1/v1").unwrap();
        let endpoint = Endpoint::new(ModelKind::OpenAi, &url, Some("hush-hush")).unwrap();
        let said = endpoint.redacted("bad key hush-hush, or sk-proj-abc*1. Go");
        assert_eq!(said, "bad key [key], or [key]. Go");
        assert!(!format!("{endpoint:?}").contains("hush"));
        let url = Url::parse("http://me:hush@localhost:1/v1?key=hush").unwrap();
        let endpoint = Endpoint::new(ModelKind::OpenAi, &url, None).unwrap();
        assert!(!endpoint.place().contains("hush"));
    }
}
