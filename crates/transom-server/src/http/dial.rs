//! Opens a WebSocket to the backend: to a server somewhere else, or to a service in this process (WSK-11).

use std::pin::Pin;

use bytes::Bytes;
use http::header::{
    CONNECTION, HOST, HeaderMap, HeaderValue, SEC_WEBSOCKET_ACCEPT, SEC_WEBSOCKET_KEY,
    SEC_WEBSOCKET_PROTOCOL, SEC_WEBSOCKET_VERSION, UPGRADE,
};
use http::{Request, Response, StatusCode};
use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt, Full};
use hyper_util::rt::TokioIo;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio_tungstenite::WebSocketStream;
use tokio_tungstenite::tungstenite::handshake::client::generate_key;
use tokio_tungstenite::tungstenite::handshake::derive_accept_key;
use tokio_tungstenite::tungstenite::protocol::{Role, WebSocketConfig};
use tower::ServiceExt;
use tower::util::BoxCloneSyncService;

use super::backend::{Backend, BoxError, Coming};
use super::failure::Failure;
use super::path::Target;
use crate::render::BoxFuture;

/// Bytes both ways.
pub(super) trait Wire: AsyncRead + AsyncWrite + Send {}

impl<T: AsyncRead + AsyncWrite + Send> Wire for T {}

/// A connection, and the protocol that the backend chose.
pub(super) struct Dialled {
    pub(super) stream: WebSocketStream<Pin<Box<dyn Wire>>>,
    pub(super) protocol: Option<String>,
}

impl Backend {
    /// Asks for a connection. The headers are those of any request; what makes it a WebSocket's is added here.
    pub(super) async fn dial(
        &self,
        target: &Target,
        mut headers: HeaderMap,
        protocols: &[String],
        config: WebSocketConfig,
        reached: &mut bool,
    ) -> Result<Dialled, Failure> {
        let key = generate_key();
        let wanted = HeaderValue::from_str(&protocols.join(", "))
            .map_err(|_| Failure::bad_request("a protocol's name is none"))?;
        headers.insert(CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(SEC_WEBSOCKET_VERSION, HeaderValue::from_static("13"));
        headers.insert(SEC_WEBSOCKET_KEY, key.parse().expect("it is base64"));
        if !protocols.is_empty() {
            headers.insert(SEC_WEBSOCKET_PROTOCOL, wanted);
        }
        let (status, answered, wire) = match self {
            Self::Upstream(client) => {
                let before = std::mem::replace(reached, true);
                let request = client.get(target.url().clone()).headers(headers);
                let response = request.send().await.map_err(|error| {
                    if error.is_connect() {
                        *reached = before;
                    }
                    Failure::network(&error)
                })?;
                let (status, answered) = (response.status(), response.headers().clone());
                let upgraded = response.upgrade().await;
                (status, answered, upgraded.map(boxed).map_err(|error| Failure::network(&error)))
            }
            Self::Tower(service) => {
                *reached = true;
                headers.insert(HOST, HeaderValue::from_static("localhost"));
                let mut request = Request::new(Full::new(Bytes::new()));
                *request.headers_mut() = headers;
                *request.uri_mut() = target
                    .relative()
                    .parse()
                    .map_err(|_| Failure::bad_request("the address is none"))?;
                let response = in_process(service.clone(), request).await?;
                let (status, answered) = (response.status(), response.headers().clone());
                let upgraded = hyper::upgrade::on(response).await;
                let wire = upgraded.map(|upgraded| boxed(TokioIo::new(upgraded)));
                (status, answered, wire.map_err(|error| Failure::network(&error)))
            }
        };
        let protocol = agreed(status, &answered, &key, protocols)?;
        let stream = WebSocketStream::from_raw_socket(wire?, Role::Client, Some(config)).await;
        Ok(Dialled { stream, protocol })
    }
}

fn boxed(wire: impl Wire + 'static) -> Pin<Box<dyn Wire>> {
    Box::pin(wire)
}

/// Asks a service for an upgrade, which takes two ends of a connection: there is one in memory.
async fn in_process(
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Coming>, BoxError>,
    request: Request<Full<Bytes>>,
) -> Result<Response<hyper::body::Incoming>, Failure> {
    let (near, far) = tokio::io::duplex(BUFFER);
    let answer = hyper::service::service_fn(move |request| respond(service.clone(), request));
    tokio::spawn(async move {
        let server = hyper::server::conn::http1::Builder::new();
        let _ = server.serve_connection(TokioIo::new(far), answer).with_upgrades().await;
    });
    let (mut send, connection) = hyper::client::conn::http1::handshake(TokioIo::new(near))
        .await
        .map_err(|error| Failure::network(&error))?;
    tokio::spawn(connection.with_upgrades());
    send.send_request(request).await.map_err(|error| Failure::network(&error))
}

type Answered = Result<Response<UnsyncBoxBody<Bytes, std::io::Error>>, std::io::Error>;

/// No body comes with it; what upgrades it is among its parts.
fn respond(
    service: BoxCloneSyncService<Request<Full<Bytes>>, Response<Coming>, BoxError>,
    request: Request<hyper::body::Incoming>,
) -> BoxFuture<'static, Answered> {
    let request = Request::from_parts(request.into_parts().0, Full::new(Bytes::new()));
    Box::pin(async move {
        let response = service.oneshot(request).await.map_err(failed)?;
        Ok(response.map(|body| body.map_err(failed).boxed_unsync()))
    })
}

/// An error that says of itself for how long it lives.
fn failed(error: BoxError) -> std::io::Error {
    std::io::Error::other(error)
}

/// Whether the backend agreed, and on which protocol: one of those that were asked for (WSK-7).
fn agreed(
    status: StatusCode,
    headers: &HeaderMap,
    key: &str,
    protocols: &[String],
) -> Result<Option<String>, Failure> {
    let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
    if status != StatusCode::SWITCHING_PROTOCOLS
        || text(SEC_WEBSOCKET_ACCEPT) != Some(&derive_accept_key(key.as_bytes()))
    {
        return Err(Failure::network(&"the backend opens no WebSocket there"));
    }
    match text(SEC_WEBSOCKET_PROTOCOL) {
        Some(chosen) if protocols.iter().any(|asked| asked == chosen) => {
            Ok(Some(chosen.to_owned()))
        }
        Some(_) => Err(Failure::protocol("the backend chose a protocol that was not asked for")),
        // Browsers fail as well where one was asked for and none is named.
        None if !protocols.is_empty() => {
            Err(Failure::protocol("the backend chose none of the protocols"))
        }
        None => Ok(None),
    }
}

/// What is on its way in memory at most.
const BUFFER: usize = 64 << 10;
