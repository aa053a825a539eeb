//! What somebody without the page's key can take of the host: connections, time and memory, each with an end.

use std::{net::SocketAddr, time::Duration};

use axum::{
    body::Body,
    http::{Request, header},
};
use futures_util::{SinkExt as _, StreamExt as _, stream::FuturesUnordered};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::{TcpListener, TcpStream},
};
use tokio_tungstenite::{
    WebSocketStream, client_async,
    tungstenite::{Message, client::IntoClientRequest as _, protocol::CloseFrame},
};
use tower::ServiceExt as _;
use transom::origin::Origin;
use transom_host::{Host, sandbox::Naming};

type Socket = WebSocketStream<TcpStream>;

/// A host on a port of the loopback.
struct Doors {
    address: SocketAddr,
    sandbox: SocketAddr,
    host: Host,
}

impl Doors {
    async fn open() -> Self {
        let listen = async || TcpListener::bind("127.0.0.1:0").await.unwrap();
        let (page, frames) = (listen().await, listen().await);
        let (address, sandbox) = (page.local_addr().unwrap(), frames.local_addr().unwrap());
        let origin = Origin::parse(&format!("http://{address}")).unwrap();
        let naming = Naming::Localhost { port: sandbox.port() };
        let host = Host::builder(vec![origin], naming).build().unwrap();
        tokio::spawn(transom_host::serve(page, host.page_router()));
        tokio::spawn(transom_host::serve(frames, host.sandbox_router()));
        Self { address, sandbox, host }
    }

    async fn key(&self) -> String {
        let request = Request::post("/api/key")
            .header(header::HOST, self.address.to_string())
            .header(header::CONTENT_TYPE, "application/json")
            .body(Body::from(format!(r#"{{"token":"{}"}}"#, self.host.token())))
            .unwrap();
        let response = self.host.page_router().oneshot(request).await.unwrap();
        let body = axum::body::to_bytes(response.into_body(), 1 << 16).await.unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        answer["key"].as_str().unwrap().to_owned()
    }

    /// A socket that has not said hello.
    async fn socket(&self) -> Socket {
        let mut request = format!("ws://{}/ws", self.address).into_client_request().unwrap();
        let origin = format!("http://{}", self.address).parse().unwrap();
        request.headers_mut().insert("origin", origin);
        let stream = TcpStream::connect(self.address).await.unwrap();
        client_async(request, stream).await.unwrap().0
    }

    /// A socket of a page of this name, with what it is told first.
    async fn page(&self, key: &str, name: &str) -> (Socket, Option<Message>) {
        let mut socket = self.socket().await;
        let hello =
            format!(r#"{{"hello":{{"version":1,"key":"{key}","page":"{name}","tab":"{name}"}}}}"#);
        socket.send(Message::text(hello)).await.unwrap();
        let told = socket.next().await.transpose().unwrap();
        (socket, told)
    }

    fn get(&self, path: &str, more: &str) -> String {
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{more}\r\n", self.address)
    }
}

/// Says something on a connection, and returns how the answer begins.
async fn ask(stream: &mut TcpStream, text: &str) -> String {
    stream.write_all(text.as_bytes()).await.unwrap();
    let mut answer = vec![0; 4096];
    let length = stream.read(&mut answer).await.unwrap();
    String::from_utf8_lossy(&answer[..length]).into_owned()
}

/// How a connection ends that is told nothing more.
async fn rest(stream: &mut TcpStream) -> Vec<u8> {
    let mut rest = vec![];
    // A reset is an end too.
    let _ = stream.read_to_end(&mut rest).await;
    rest
}

fn code(message: Option<Message>) -> Option<u16> {
    let Some(Message::Close(Some(CloseFrame { code, .. }))) = message else { return None };
    Some(code.into())
}

#[tokio::test]
async fn sockets_without_a_key_are_few_and_do_not_keep_a_page_out() {
    const FLOOD: usize = 300;
    const WAIT: usize = 64;
    let doors = Doors::open().await;
    let key = doors.key().await;
    let (mut first, told) = doors.page(&key, "first").await;
    assert!(told.unwrap().to_text().unwrap().starts_with(r#"{"welcome""#));
    let mut flood = vec![];
    for _ in 0..FLOOD {
        flood.push(doors.socket().await);
    }
    let (_second, told) = doors.page(&key, "second").await;
    assert!(told.unwrap().to_text().unwrap().starts_with(r#"{"welcome""#));
    // All but a few were ended to make room, and not for their silence: that would be said with a code.
    let mut ended: FuturesUnordered<_> = flood
        .iter_mut()
        .map(|socket| async { code(socket.next().await.and_then(Result::ok)) })
        .collect();
    for _ in 0..FLOOD - WAIT {
        assert_eq!(ended.next().await.unwrap(), None);
    }
    // Who was there before is there still.
    first.send(Message::Ping("here".into())).await.unwrap();
    assert_eq!(first.next().await.unwrap().unwrap(), Message::Pong("here".into()));
}

#[tokio::test]
async fn a_first_frame_that_is_too_large_is_refused_before_it_is_read() {
    let doors = Doors::open().await;
    for (head, length) in [(&[0x81, 0xfe][..], 2), (&[0x81, 0xff], 8)] {
        let mut stream = doors.socket().await.into_inner();
        // 16 MiB and 64 KiB are announced, and not one byte of them is sent.
        let announced = (16_u64 << 20 | 0xffff).to_be_bytes();
        let frame = [head, &announced[8 - length..], &[1, 2, 3, 4]].concat();
        stream.write_all(&frame).await.unwrap();
        let told = rest(&mut stream).await;
        assert_eq!(told[..4], [0x88, told[1], 0x11, 0x3d], "closed with 4413");
    }
}

#[tokio::test(start_paused = true)]
async fn a_socket_without_a_hello_is_closed_after_a_short_time() {
    let doors = Doors::open().await;
    let mut socket = doors.socket().await;
    assert_eq!(code(socket.next().await.and_then(Result::ok)), Some(4408));
    // Half of a hello is none.
    let mut stream = doors.socket().await.into_inner();
    stream.write_all(&[0x81, 0xc0, 1, 2, 3, 4, 5, 6]).await.unwrap();
    let told = rest(&mut stream).await;
    assert_eq!(told[..4], [0x88, told[1], 0x11, 0x38], "closed with 4408");
}

#[tokio::test]
async fn pages_are_not_without_number_either() {
    let doors = Doors::open().await;
    let key = doors.key().await;
    let mut pages = vec![];
    for name in 0..256 {
        let (page, told) = doors.page(&key, &format!("page-{name}")).await;
        assert!(told.unwrap().is_text(), "{name}");
        pages.push(page);
    }
    assert_eq!(code(doors.page(&key, "one-more").await.1), Some(4429));
    // One that goes leaves its place to the next.
    pages.pop().unwrap().close(None).await.unwrap();
    while code(doors.page(&key, "one-more").await.1) == Some(4429) {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn silent_connections_keep_nobody_out_and_end_nobody_who_has_shown_the_key() {
    const FLOOD: usize = 400;
    const WAIT: usize = 256;
    let doors = Doors::open().await;
    let key = doors.key().await;
    let mut page = TcpStream::connect(doors.address).await.unwrap();
    let state = doors.get("/api/state?after=-1", &format!("Authorization: Bearer {key}\r\n"));
    assert!(ask(&mut page, &state).await.starts_with("HTTP/1.1 200"));
    for address in [doors.address, doors.sandbox] {
        let mut flood = vec![];
        for _ in 0..FLOOD {
            flood.push(TcpStream::connect(address).await.unwrap());
        }
        let mut newest = flood.pop().unwrap();
        let mut ended: FuturesUnordered<_> = flood.iter_mut().map(rest).collect();
        for _ in 0..FLOOD - WAIT {
            assert_eq!(ended.next().await.unwrap(), b"");
        }
        let answer = ask(&mut newest, &doors.get("/", "")).await;
        let expected = if address == doors.address { "HTTP/1.1 200" } else { "HTTP/1.1 421" };
        assert!(answer.starts_with(expected), "{answer}");
    }
    assert!(ask(&mut page, &state).await.starts_with("HTTP/1.1 200"));
}

#[tokio::test(start_paused = true)]
async fn a_request_that_is_never_finished_ends_its_connection() {
    let doors = Doors::open().await;
    for address in [doors.address, doors.sandbox] {
        for head in ["", "GET / HT", "GET / HTTP/1.1\r\nHost: x\r\nX-More: "] {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(head.as_bytes()).await.unwrap();
            let told = rest(&mut stream).await;
            assert!(!told.starts_with(b"HTTP/1.1 200"), "{head:?}");
        }
    }
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let head = format!(
        "POST /api/key HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{{",
        doors.address
    );
    assert!(ask(&mut stream, &head).await.starts_with("HTTP/1.1 408"));
}

#[tokio::test]
async fn a_request_without_a_key_is_short() {
    let doors = Doors::open().await;
    for path in ["/api/key", "/api/forget"] {
        let mut stream = TcpStream::connect(doors.address).await.unwrap();
        let head = format!(
            "POST {path} HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\nContent-Length: 5000\r\n\r\n{}",
            doors.address,
            " ".repeat(5000)
        );
        assert!(ask(&mut stream, &head).await.starts_with("HTTP/1.1 413"), "{path}");
    }
    // A head of half a megabyte, which ends its connection long before it is read.
    let mut stream = TcpStream::connect(doors.address).await.unwrap();
    let more = format!("X-More: {}\r\n", "x".repeat(500_000));
    let _ = stream.write_all(doors.get("/", &more).as_bytes()).await;
    let told = String::from_utf8_lossy(&rest(&mut stream).await).into_owned();
    assert!(told.is_empty() || told.starts_with("HTTP/1.1 431"), "{told}");
}

#[tokio::test]
async fn a_key_that_is_taken_back_ends_its_sockets_and_requests_and_no_others() {
    let doors = Doors::open().await;
    let [ended, kept] = [(); 2].map(|()| doors.host.page_key(Duration::from_secs(600)));
    // Each is good for more than one load of a page.
    let (mut first, told) = doors.page(ended.reveal(), "first").await;
    assert!(told.unwrap().to_text().unwrap().starts_with(r#"{"welcome""#));
    let (mut second, _) = doors.page(ended.reveal(), "second").await;
    let (mut other, _) = doors.page(kept.reveal(), "other").await;
    let bearer = format!("Authorization: Bearer {}\r\n", ended.reveal());
    let mut waits = TcpStream::connect(doors.address).await.unwrap();
    let now = ask(&mut waits, &doors.get("/api/state?after=-1", &bearer)).await;
    assert!(now.starts_with("HTTP/1.1 200"), "{now}");

    ended.take_back();
    for socket in [&mut first, &mut second] {
        assert_eq!(code(socket.next().await.and_then(Result::ok)), Some(4401));
    }
    let refused = ask(&mut waits, &doors.get("/api/state?after=-1", &bearer)).await;
    assert!(refused.starts_with("HTTP/1.1 401"), "{refused}");
    assert_eq!(code(doors.page(ended.reveal(), "again").await.1), Some(4401));
    other.send(Message::Ping("here".into())).await.unwrap();
    assert_eq!(other.next().await.unwrap().unwrap(), Message::Pong("here".into()));
}

#[tokio::test]
async fn a_request_that_waits_for_news_ends_with_its_key() {
    let doors = Doors::open().await;
    let [ended, kept] = [(); 2].map(|()| doors.host.page_key(Duration::from_secs(600)));
    let bearer = |key: &str| format!("Authorization: Bearer {key}\r\n");
    let connect = async || TcpStream::connect(doors.address).await.unwrap();
    let state = doors.get("/api/state?after=-1", &bearer(kept.reveal()));
    let now = ask(&mut connect().await, &state).await;
    let version = now.split(r#""version":"#).nth(1).expect("a version");
    let version: u64 = version.split([',', '}']).next().unwrap().parse().unwrap();
    let mut waiting = vec![];
    for path in [format!("/api/state?after={version}"), "/api/log?after=1000000".to_owned()] {
        let mut stream = connect().await;
        stream.write_all(doors.get(&path, &bearer(ended.reveal())).as_bytes()).await.unwrap();
        waiting.push(stream);
    }
    // Whoever has another key waits on. The answer to this one comes after the others have been heard.
    let mut others = connect().await;
    let path = format!("/api/state?after={version}");
    others.write_all(doors.get(&path, &bearer(kept.reveal())).as_bytes()).await.unwrap();
    assert!(ask(&mut connect().await, &state).await.starts_with("HTTP/1.1 200"));

    ended.take_back();
    for stream in &mut waiting {
        assert!(ask(stream, "").await.starts_with("HTTP/1.1 401"));
    }
    assert!(others.try_read(&mut [0]).is_err(), "it is told nothing yet");
}
