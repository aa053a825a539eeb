//! Our page's listener, and the socket on which that page, and nobody else, reaches us.

use std::hash::{BuildHasher as _, RandomState};

use anyhow::{Context as _, Result};
use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use tokio::net::{TcpListener, TcpStream};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async_with_config,
    tungstenite::{
        handshake::server::{ErrorResponse, Request, Response as Upgraded},
        protocol::WebSocketConfig,
    },
};
use url::Url;

use crate::listen::{self, Both};

/// Where our page is, and where it calls.
pub(super) struct Door {
    /// The address of our page, without its order.
    pub(super) page: String,
    origin: String,
    socket: TcpListener,
    port: u16,
}

/// Serves our page and binds its socket.
pub(super) async fn open(both: Both, server: &Url) -> Result<Door> {
    let origin = origin(both.port);
    let host = format!("localhost:{}", both.port);
    let socket = TcpListener::bind("127.0.0.1:0").await.context("cannot listen on loopback")?;
    let port = socket.local_addr()?.port();
    // The frame may show the server's origin and nothing else; the page may call us and nobody else.
    let policy = format!(
        "default-src 'none'; script-src 'self'; style-src 'unsafe-inline'; frame-src {}; connect-src ws://127.0.0.1:{port}; \
         frame-ancestors 'none'; base-uri 'none'; form-action 'none'",
        server.origin().ascii_serialization()
    );
    let file = move |kind: &'static str, text: &'static str| {
        let (policy, host) = (policy.clone(), host.clone());
        get(move |headers: HeaderMap| async move { answer(&headers, &host, kind, policy, text) })
    };
    let router = Router::new()
        .route("/", file("text/html; charset=utf-8", include_str!("page.html")))
        .route("/expose.js", file("text/javascript; charset=utf-8", transom_web::EXPOSE));
    listen::serve(both, &router);
    Ok(Door { page: format!("{origin}/"), origin, socket, port })
}

fn answer(
    headers: &HeaderMap,
    host: &str,
    kind: &'static str,
    policy: String,
    text: &'static str,
) -> Response {
    if headers.get(header::HOST).is_none_or(|name| name != host) {
        return StatusCode::MISDIRECTED_REQUEST.into_response();
    }
    let headers = [
        (header::CONTENT_TYPE, kind.to_owned()),
        (header::CONTENT_SECURITY_POLICY, policy),
        (header::CACHE_CONTROL, "no-store".to_owned()),
    ];
    (headers, text).into_response()
}

impl Door {
    /// A fresh address for the socket: whoever does not know it is turned away.
    pub(super) fn invite(&self) -> String {
        let random = || RandomState::new().hash_one(0);
        format!("ws://127.0.0.1:{}/{:016x}{:016x}", self.port, random(), random())
    }

    /// Waits for our page to call at an invitation.
    pub(super) async fn admit(&self, invitation: &str) -> Result<WebSocketStream<TcpStream>> {
        let path = Url::parse(invitation)?.path().to_owned();
        loop {
            let (stream, _) = self.socket.accept().await?;
            #[expect(clippy::result_large_err, reason = "the library's own type")]
            let check = |request: &Request, upgraded: Upgraded| {
                let from = request.headers().get("origin");
                let ours = from.is_some_and(|from| from == self.origin.as_str());
                match ours && request.uri().path() == path {
                    true => Ok(upgraded),
                    false => {
                        let mut refused = ErrorResponse::new(None);
                        *refused.status_mut() = StatusCode::FORBIDDEN;
                        Err(refused)
                    }
                }
            };
            let config = WebSocketConfig::default()
                .max_message_size(Some(LARGEST))
                .max_frame_size(Some(LARGEST));
            if let Ok(socket) = accept_hdr_async_with_config(stream, check, Some(config)).await {
                return Ok(socket);
            }
        }
    }
}

/// Our page's origin, which a server's allow-list names.
pub(super) fn origin(port: u16) -> String {
    format!("http://localhost:{port}")
}

/// The largest message: what the transport lets through, with room for escapes.
const LARGEST: usize = 32 << 20;
