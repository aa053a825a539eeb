//! Our page's listener, and the socket on which that page, and no other program, reaches us.

use std::{collections::VecDeque, time::Duration};

use anyhow::{Context as _, Result};
use axum::{
    Router,
    http::{HeaderMap, StatusCode, header},
    response::{IntoResponse, Response},
    routing::get,
};
use futures_util::{StreamExt as _, stream::FuturesUnordered};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::oneshot,
    time::timeout,
};
use tokio_tungstenite::{
    WebSocketStream, accept_hdr_async_with_config,
    tungstenite::{
        handshake::server::{ErrorResponse, Request, Response as Upgraded},
        protocol::WebSocketConfig,
    },
};
use url::Url;

use crate::{
    listen::{self, Both},
    nonce,
};

/// Where our page is, and where it calls.
pub(super) struct Door {
    /// The address of our page, without its order.
    pub(super) page: String,
    origin: String,
    socket: TcpListener,
    port: u16,
    /// How long who calls may take to say where to.
    patience: Duration,
}

/// Serves our page and binds its socket.
pub(super) async fn open(both: Both, server: &Url) -> Result<Door> {
    let origin = origin(both.port);
    let host = format!("localhost:{}", both.port);
    let socket = TcpListener::bind("127.0.0.1:0").await.context("cannot listen on loopback")?;
    let port = socket.local_addr()?.port();
    // The frame may show the server's origin and nothing else; the page may call us and no other address.
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
    Ok(Door { page: format!("{origin}/"), origin, socket, port, patience: HANDSHAKE })
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
        format!("ws://127.0.0.1:{}/{}", self.port, nonce::fresh())
    }

    /// Waits for our page to call at an invitation. Who connects and says nothing does not keep it out: when there are too
    /// many of them, the oldest makes room.
    pub(super) async fn admit(&self, invitation: &str) -> Result<WebSocketStream<TcpStream>> {
        let path = Url::parse(invitation)?.path().to_owned();
        let mut callers = FuturesUnordered::new();
        // In the order in which they came. Dropping what is kept of one sends it away.
        let mut stays = VecDeque::with_capacity(CALLERS);
        loop {
            tokio::select! {
                accepted = self.socket.accept() => {
                    if stays.len() == CALLERS {
                        stays.pop_front();
                    }
                    let (stay, leave) = oneshot::channel();
                    stays.push_back(stay);
                    callers.push(self.receive(accepted?.0, &path, leave));
                }
                Some(upgraded) = callers.next() => {
                    if let Some(socket) = upgraded {
                        return Ok(socket);
                    }
                }
            }
        }
    }

    /// Hears one who calls, for as long as there is time and room.
    async fn receive(
        &self,
        stream: TcpStream,
        path: &str,
        leave: oneshot::Receiver<()>,
    ) -> Option<WebSocketStream<TcpStream>> {
        tokio::select! {
            upgraded = timeout(self.patience, self.upgrade(stream, path)) => upgraded.ok().flatten(),
            _ = leave => None,
        }
    }

    /// Takes up a socket, if it is our page that calls, at this path.
    async fn upgrade(&self, stream: TcpStream, path: &str) -> Option<WebSocketStream<TcpStream>> {
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
        accept_hdr_async_with_config(stream, check, Some(config)).await.ok()
    }
}

/// Our page's origin, which a server's allow-list names.
pub(super) fn origin(port: u16) -> String {
    format!("http://localhost:{port}")
}

/// The largest message: what the transport lets through, with room for escapes.
const LARGEST: usize = 32 << 20;

/// How many may be in the middle of calling at once, and how long each may take.
const CALLERS: usize = 64;
const HANDSHAKE: Duration = Duration::from_secs(5);

#[cfg(test)]
pub(super) mod tests {
    use tokio::io::AsyncReadExt as _;
    use tokio_tungstenite::{client_async, tungstenite::client::IntoClientRequest as _};

    use super::*;

    /// A door without a page behind it.
    async fn door() -> Door {
        let socket = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = socket.local_addr().unwrap().port();
        // No limit on time ends in a test.
        let patience = Duration::from_secs(3_600);
        Door { page: String::new(), origin: origin(7431), socket, port, patience }
    }

    async fn call(invitation: &str, from: &str) -> Option<WebSocketStream<TcpStream>> {
        let mut request = invitation.into_client_request().unwrap();
        request.headers_mut().insert("origin", from.parse().unwrap());
        let port = request.uri().port_u16().unwrap();
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        client_async(request, stream).await.ok().map(|(socket, _)| socket)
    }

    /// Both ends of a socket.
    pub(in crate::expose) async fn pair() -> [WebSocketStream<TcpStream>; 2] {
        let door = door().await;
        let invitation = door.invite();
        let (ours, theirs) =
            tokio::join!(door.admit(&invitation), call(&invitation, "http://localhost:7431"));
        [ours.unwrap(), theirs.unwrap()]
    }

    #[tokio::test]
    async fn who_connects_and_says_nothing_keeps_our_page_out_for_no_time() {
        let door = door().await;
        let invitation = door.invite();
        let mut silent = vec![];
        for _ in 0..2 * CALLERS {
            silent.push(TcpStream::connect(("127.0.0.1", door.port)).await.unwrap());
        }
        let admit = door.admit(&invitation);
        let calls = async {
            // Of so many the first have left.
            assert_eq!(silent[0].read(&mut [0]).await.unwrap(), 0);
            // Nor do those who are not our page.
            assert!(call(&invitation, "http://evil.test").await.is_none());
            assert!(call(&door.invite(), "http://localhost:7431").await.is_none());
            call(&invitation, "http://localhost:7431").await
        };
        let both = timeout(Duration::from_secs(60), async { tokio::join!(admit, calls) });
        let (admitted, called) = both.await.expect("whoever is silent makes room");
        assert!(admitted.is_ok() && called.is_some());
        drop(silent);
    }
}
