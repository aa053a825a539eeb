//! Listeners at addresses that no view declares or no person agreed to, and one at an address that the view does declare.

use std::io;

use axum::{
    Router,
    http::{HeaderName, HeaderValue, StatusCode, Uri, header},
    response::IntoResponse,
    routing::get,
};
use tokio::{
    net::{TcpListener, UdpSocket},
    sync::mpsc,
};

use super::evidence::Seen;

/// Where they listen.
#[derive(Clone, Debug)]
pub(super) struct Traps {
    /// Hears every request; its path names the attempt.
    pub(super) trap: String,
    /// Hears connections, even those without a word.
    pub(super) line: String,
    /// Hears packets.
    pub(super) stun: String,
    /// The one address that the stranger declared and was granted.
    pub(super) ally: String,
    /// One that it declared too, and hears every request as the trap does.
    pub(super) near: String,
}

impl Traps {
    /// Sets them up on free ports of loopback, for as long as the runtime lives.
    pub(super) async fn set(seen: mpsc::Sender<Seen>) -> io::Result<Self> {
        let (trap, line) = (bind().await?, bind().await?);
        let (ally, near) = (bind().await?, bind().await?);
        let stun = UdpSocket::bind("127.0.0.1:0").await?;
        let traps = Self {
            trap: address(&trap)?,
            line: address(&line)?,
            stun: stun.local_addr()?.to_string(),
            ally: address(&ally)?,
            near: address(&near)?,
        };
        let requests = seen.clone();
        let hears = move |uri: Uri| {
            let requests = requests.clone();
            async move {
                let name: String = uri.path().chars().skip(1).take(64).collect();
                let _ = requests.send(Seen::Trapped(name)).await;
                // Nothing comes back, so that a window that asked stays where it is.
                StatusCode::NO_CONTENT
            }
        };
        for listener in [trap, near] {
            let router = Router::new().fallback(hears.clone());
            tokio::spawn(async move { axum::serve(listener, router).await });
        }
        let answers =
            Router::new().fallback(get(async || (ANY_ORIGIN, "declared").into_response()));
        tokio::spawn(async move { axum::serve(ally, answers).await });
        let lines = seen.clone();
        tokio::spawn(async move {
            while line.accept().await.is_ok() {
                let _ = lines.send(Seen::Trapped("preconnect".to_owned())).await;
            }
        });
        tokio::spawn(async move {
            while stun.recv_from(&mut [0; 64]).await.is_ok() {
                let _ = seen.send(Seen::Trapped("webrtc".to_owned())).await;
            }
        });
        Ok(traps)
    }
}

async fn bind() -> io::Result<TcpListener> {
    TcpListener::bind("127.0.0.1:0").await
}

fn address(listener: &TcpListener) -> io::Result<String> {
    Ok(format!("http://{}", listener.local_addr()?))
}

const ANY_ORIGIN: [(HeaderName, HeaderValue); 1] =
    [(header::ACCESS_CONTROL_ALLOW_ORIGIN, HeaderValue::from_static("*"))];
