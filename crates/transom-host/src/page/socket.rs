//! A page's socket: from the request for one, over its hello, to its end.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use axum::{
    extract::{Request, State},
    http::{HeaderValue, StatusCode, header},
    response::{IntoResponse as _, Response},
};
use futures_util::{SinkExt as _, StreamExt as _};
use hyper::upgrade::OnUpgrade;
use tokio::sync::mpsc;
use tokio_tungstenite::tungstenite::{Message, Utf8Bytes, handshake::derive_accept_key};

use super::{
    Page, ROOM, greeting,
    greeting::{Greeting, Socket},
    keys::Term,
};
use crate::{
    driver::{Event, ToSocket},
    envelope::{self, Hello},
};

/// A socket needs an `Origin`: every browser sends one, and other programs have no business here.
pub(super) async fn upgrade(State(page): State<Arc<Page>>, mut request: Request) -> Response {
    let headers = request.headers();
    if !headers.contains_key(header::ORIGIN) {
        return StatusCode::FORBIDDEN.into_response();
    }
    let says = |name, word: &str| {
        let words = headers.get(name).and_then(|value: &HeaderValue| value.to_str().ok());
        words.is_some_and(|words| words.split(',').any(|it| it.trim().eq_ignore_ascii_case(word)))
    };
    let asks = says(header::CONNECTION, "upgrade")
        && says(header::UPGRADE, "websocket")
        && says(header::SEC_WEBSOCKET_VERSION, "13");
    let key = headers.get(header::SEC_WEBSOCKET_KEY).filter(|_| asks);
    let Some(accept) = key.map(|key| derive_accept_key(key.as_bytes())) else {
        return StatusCode::BAD_REQUEST.into_response();
    };
    let Some(upgrade) = request.extensions_mut().remove::<OnUpgrade>() else {
        return StatusCode::UPGRADE_REQUIRED.into_response();
    };
    tokio::spawn(receive(page, upgrade));
    let headers = [
        (header::CONNECTION, "upgrade".to_owned()),
        (header::UPGRADE, "websocket".to_owned()),
        (header::SEC_WEBSOCKET_ACCEPT, accept),
    ];
    (StatusCode::SWITCHING_PROTOCOLS, headers).into_response()
}

/// Waits for a hello, for a short time and as long as there are not too many who wait.
async fn receive(page: Arc<Page>, upgrade: OnUpgrade) {
    let (visitor, leave) = page.sockets.enter();
    let serving = async {
        let Ok(Ok(upgraded)) = tokio::time::timeout(HELLO, upgrade).await else { return };
        let mut greeting = Greeting::new(upgraded);
        let (code, why) = match tokio::time::timeout(HELLO, greeting.hello()).await {
            Err(_) => (envelope::TOO_LATE, "no hello in time"),
            Ok(Err((code, why))) => (code, why),
            Ok(Ok(hello)) => match page.admits(&hello) {
                None => (envelope::NOT_YOU, "not this key or version"),
                Some(_) if !visitor.is_let_in() => (envelope::TOO_MANY, "too many pages"),
                Some(term) => return serve(&page, greeting.welcome().await, hello, term).await,
            },
        };
        greeting.refuse(code, why).await;
    };
    tokio::select! {
        () = serving => {}
        _ = leave => {}
    }
}

async fn serve(page: &Page, mut socket: Socket, hello: Hello, mut term: Term) {
    let _present = page.metrics.pages.enter();
    let connection = page.connections.fetch_add(1, Ordering::Relaxed);
    let (sender, receiver) = mpsc::unbounded_channel();
    let (name, tab) = (hello.page, hello.tab);
    let connected = Event::Connected { page: name.clone(), tab, connection, socket: sender };
    if page.events.send(connected).await.is_ok() {
        let end = tokio::select! {
            // What waits when the key ends is not heard any more.
            biased;
            () = term.ended() => Some((envelope::NOT_YOU, "the key has ended")),
            end = carry(page, &mut socket, receiver, &name, connection) => end,
        };
        if let Some((code, why)) = end {
            greeting::close(socket, code, why).await;
        }
        let _ = page.events.send(Event::Lost { page: name, connection }).await;
    }
}

/// Carries frames both ways until either side ends. Returns what the socket is to be closed with, if it is open.
async fn carry(
    page: &Page,
    socket: &mut Socket,
    mut receiver: mpsc::UnboundedReceiver<ToSocket>,
    name: &str,
    connection: u64,
) -> Option<(u16, &'static str)> {
    let mut told = Vec::with_capacity(TOGETHER);
    loop {
        tokio::select! {
            // What waits goes out in one piece: a system call for each frame is most of what a frame costs.
            count = receiver.recv_many(&mut told, TOGETHER) => {
                if count == 0 {
                    return None;
                }
                for out in told.drain(..) {
                    match out {
                        ToSocket::Text(text) => {
                            if socket.feed(Message::Text(Utf8Bytes::from(text))).await.is_err() {
                                return None;
                            }
                        }
                        ToSocket::Close(code, words) => return Some((code, words)),
                    }
                }
                if socket.flush().await.is_err() {
                    return None;
                }
            }
            message = socket.next() => match message {
                Some(Ok(Message::Text(text))) => {
                    let text = text.as_str().to_owned();
                    // One page must not fill the memory while the gate is busy. Whoever waits here is not
                    // read from, and the browser keeps what it has to say.
                    let size = u32::try_from(text.len()).unwrap_or(u32::MAX).min(ROOM);
                    let room = Arc::clone(&page.room).acquire_many_owned(size).await.ok();
                    let frame = Event::Said { page: name.to_owned(), connection, text, room };
                    if page.events.send(frame).await.is_err() {
                        return None;
                    }
                }
                Some(Ok(Message::Binary(_))) => {
                    return Some((envelope::NOT_AN_ENVELOPE, "binary"));
                }
                Some(Ok(Message::Ping(_) | Message::Pong(_) | Message::Frame(_))) => {}
                Some(Ok(Message::Close(_)) | Err(_)) | None => return None,
            },
        }
    }
}

/// How many frames go out in one piece.
const TOGETHER: usize = 64;
/// How long a page has to say hello.
const HELLO: Duration = Duration::from_secs(5);
