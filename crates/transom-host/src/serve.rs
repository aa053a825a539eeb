//! Serves a router to whoever connects, with an end to what a stranger may take: connections, time, bytes.

use std::{io, time::Duration};

use axum::Router;
use hyper::{Request, body::Incoming, server::conn::http1, service::Service as _};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use tokio::{
    net::{TcpListener, TcpStream},
    task::JoinSet,
};

use crate::crowd::{Crowd, Most, Visitor};

/// Serves a router until it is dropped.
///
/// What [`Host::page_router`](crate::Host::page_router) and [`Host::sandbox_router`](crate::Host::sandbox_router) are
/// served with. Beyond 256 connections that have not shown the page's key, the oldest of them is closed; a
/// request whose head takes longer than ten seconds or 64 KiB ends its connection.
pub async fn serve(listener: TcpListener, router: Router) {
    let crowd = Crowd::new(MOST);
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    connections.spawn(connection(stream, router.clone(), crowd.clone()));
                }
                // Whoever connected is gone again, or the process has no file left for it: one that ends frees one.
                Err(error) if is_theirs(&error) => {}
                Err(_) => tokio::time::sleep(PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}

async fn connection(stream: TcpStream, router: Router, crowd: Crowd) {
    // Without it a small answer waits for the peer's confirmation of the one before. A failure costs time and nothing else.
    let _ = stream.set_nodelay(true);
    let (visitor, leave) = crowd.enter();
    let router = TowerToHyperService::new(router);
    let service = hyper::service::service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(visitor.clone());
        router.call(request)
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_TIME)
        .max_buf_size(HEAD)
        .serve_connection(TokioIo::new(stream), service)
        .with_upgrades();
    tokio::select! {
        // A peer that breaks the protocol or goes away ends its own connection.
        _ = served => {}
        _ = leave => {}
    }
}

/// Lets the connection of a request stay when strangers crowd in, because it has shown the key.
pub(crate) fn let_in(extensions: &axum::http::Extensions) {
    if let Some(visitor) = extensions.get::<Visitor>() {
        visitor.is_let_in();
    }
}

fn is_theirs(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset};
    matches!(error.kind(), ConnectionAborted | ConnectionRefused | ConnectionReset)
}

const MOST: Most = Most { strangers: 256, known: 256 };
/// How long the head of a request may take, and an idle connection may wait for one.
const HEAD_TIME: Duration = Duration::from_secs(10);
/// How long the head of a request may be. Cookies are sent to every port of a host name, so it is not always short.
const HEAD: usize = 64 << 10;
const PAUSE: Duration = Duration::from_millis(100);
