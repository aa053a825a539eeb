//! What the examples have in common: how a server is reached.

use std::{env, sync::Arc};

use anyhow::{Context, bail};
use axum::{Router, serve::ListenerExt};
use rmcp::{
    ServerHandler, ServiceExt,
    transport::{
        StreamableHttpServerConfig, StreamableHttpService, stdio,
        streamable_http_server::session::local::LocalSessionManager,
    },
};
use tokio::net::TcpListener;

/// Serves over stdin and stdout, or with `--http PORT` over streamable HTTP on loopback.
///
/// Port 0 takes one that is free; the address is printed either way.
pub async fn serve<S: ServerHandler + Clone>(server: S) -> anyhow::Result<()> {
    let Some(port) = http_port()? else {
        server.serve(stdio()).await?.waiting().await?;
        return Ok(());
    };
    let listener = TcpListener::bind(("127.0.0.1", port)).await?;
    let port = listener.local_addr()?.port();
    println!("http://127.0.0.1:{port}/mcp");
    // A page of some other site must not reach a server on loopback: Host is checked by default, Origin is not.
    let own = ["127.0.0.1", "localhost"].map(|host| format!("http://{host}:{port}"));
    let config = StreamableHttpServerConfig::default().with_allowed_origins(own);
    let sessions = Arc::new(LocalSessionManager::default());
    let service = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
    let router = Router::new().nest_service("/mcp", service);
    // Without this, Nagle's algorithm holds every other answer back for 40 ms.
    let listener = listener.tap_io(|stream| drop(stream.set_nodelay(true)));
    axum::serve(listener, router).await?;
    Ok(())
}

/// The port after `--http`, if that was said.
fn http_port() -> anyhow::Result<Option<u16>> {
    let mut words = env::args().skip(1);
    match words.next().as_deref() {
        None => Ok(None),
        Some("--http") => {
            let port = words.next().context("--http takes a port")?;
            Ok(Some(port.parse().with_context(|| format!("{port:?} is no port"))?))
        }
        Some(other) => {
            bail!("unknown: {other:?}; without arguments over stdio, with --http PORT over HTTP")
        }
    }
}
