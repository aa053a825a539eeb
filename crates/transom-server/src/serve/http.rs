//! Streamable HTTP at one address, with its traps closed.
//!
//! A server on loopback can be reached by every page that a browser on this machine shows. So requests from pages
//! (`Origin`) and to names that are not ours (`Host`, by which a stranger's domain would be pointed at us) are refused;
//! bodies, heads and connections have limits; and an end lets running calls finish.

use std::convert::Infallible;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response, StatusCode, header};
use http_body::{Body, Frame, SizeHint};
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rmcp::ServerHandler;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::{Sleep, sleep, timeout};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{TaskTracker, task_tracker::TaskTrackerToken};

/// An address at which a server is served over streamable HTTP, at `/mcp`.
///
/// ```no_run
/// # async fn example<S: rmcp::ServerHandler + Clone>(server: S) -> std::io::Result<()> {
/// let http = transom_server::HttpServer::bind(([127, 0, 0, 1], 3001).into()).await?;
/// http.serve(server, async { tokio::signal::ctrl_c().await.unwrap_or_default() }).await;
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct HttpServer {
    listener: TcpListener,
    address: SocketAddr,
    names: Vec<String>,
}

impl HttpServer {
    /// Takes an address. Port 0 takes one that is free.
    ///
    /// # Errors
    ///
    /// It is taken, or not one of this machine.
    pub async fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = TcpListener::bind(address).await?;
        let address = listener.local_addr()?;
        Ok(Self { listener, address, names: Vec::new() })
    }

    /// Adds a name by which clients reach it, such as that of the proxy in front of it.
    pub fn name(mut self, name: impl Into<String>) -> Self {
        self.names.push(name.into());
        self
    }

    /// Returns the address that was taken.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns where a client connects.
    pub fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }

    /// Serves until something happens; then it takes no new calls, and gives those that run a few seconds to end.
    pub async fn serve<S: ServerHandler + Clone>(self, server: S, until: impl Future<Output = ()>) {
        let Self { listener, address, names } = self;
        let door = Arc::new(Door::new(server, address, names));
        let places = Arc::new(Semaphore::new(MAX_CONNECTIONS));
        let mut until = std::pin::pin!(until);
        loop {
            let stream = tokio::select! {
                () = &mut until => break,
                stream = accept(&listener, &places) => stream,
            };
            let (stream, place) = stream;
            // Without this, Nagle's algorithm holds every other answer back for 40 ms.
            let _ = stream.set_nodelay(true);
            let door = Arc::clone(&door);
            tokio::spawn(async move {
                door.attend(stream).await;
                drop(place);
            });
        }
        drop(listener);
        door.close().await;
    }
}

/// A connection, and the place that it takes.
async fn accept(
    listener: &TcpListener,
    places: &Arc<Semaphore>,
) -> (TcpStream, tokio::sync::OwnedSemaphorePermit) {
    let place = Arc::clone(places).acquire_owned().await.expect("the semaphore is never closed");
    loop {
        match listener.accept().await {
            Ok((stream, _)) => return (stream, place),
            // The process has no file left, or the peer was gone at once: both pass.
            Err(_) => sleep(Duration::from_millis(100)).await,
        }
    }
}

/// What all connections share.
struct Door<S> {
    mcp: StreamableHttpService<S, LocalSessionManager>,
    /// Calls whose answer is not sent yet.
    calls: TaskTracker,
    connections: TaskTracker,
    /// Tells connections that the request they carry is their last.
    closing: CancellationToken,
    /// Ends streams that would never end by themselves.
    end: CancellationToken,
}

impl<S: ServerHandler + Clone> Door<S> {
    fn new(server: S, address: SocketAddr, names: Vec<String>) -> Self {
        let end = CancellationToken::new();
        let own = own_names(address);
        let origins: Vec<String> = own.iter().map(|name| format!("http://{name}")).collect();
        let config = StreamableHttpServerConfig::default()
            .with_allowed_hosts(own.into_iter().chain(names))
            .with_allowed_origins(origins)
            .enforce_origin_validation()
            .with_max_request_body_bytes(MAX_BODY)
            .with_cancellation_token(end.clone());
        let sessions = Arc::new(LocalSessionManager::default());
        let mcp = StreamableHttpService::new(move || Ok(server.clone()), sessions, config);
        let [calls, connections] = [(); 2].map(|()| TaskTracker::new());
        Self { mcp, calls, connections, closing: CancellationToken::new(), end }
    }

    /// Carries one connection to its end. How it ended concerns no other.
    async fn attend(self: Arc<Self>, stream: TcpStream) {
        let _counted = self.connections.token();
        let door = Arc::clone(&self);
        let service = service_fn(move |request| {
            let door = Arc::clone(&door);
            async move { Ok::<_, Infallible>(door.answer(request).await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_PATIENCE)
            .max_buf_size(MAX_HEAD)
            .serve_connection(TokioIo::new(stream), service);
        let mut connection = std::pin::pin!(connection);
        tokio::select! {
            _ = connection.as_mut() => return,
            () = self.closing.cancelled() => connection.as_mut().graceful_shutdown(),
        }
        let _ = connection.await;
    }

    async fn answer(&self, request: Request<Incoming>) -> Response<Answer> {
        if request.uri().path() != "/mcp" {
            return plain(StatusCode::NOT_FOUND, "the server is at /mcp");
        }
        if self.calls.is_closed() {
            return plain(StatusCode::SERVICE_UNAVAILABLE, "the server is ending");
        }
        // A stream that only listens ends when we do, and is not waited for.
        let call = (request.method() == Method::POST).then(|| self.calls.token());
        let request = request.map(Patient::new);
        self.mcp.handle(request).await.map(|body| Answer { body, _call: call })
    }

    async fn close(&self) {
        self.calls.close();
        self.connections.close();
        self.closing.cancel();
        let _ = timeout(GRACE, self.calls.wait()).await;
        self.end.cancel();
        let _ = timeout(LAST, self.connections.wait()).await;
    }
}

/// The names of an address: a program on this machine says localhost as well.
fn own_names(address: SocketAddr) -> Vec<String> {
    let port = address.port();
    let mut names = vec![address.to_string()];
    if address.ip().is_loopback() || address.ip().is_unspecified() {
        names.extend(["127.0.0.1", "localhost", "[::1]"].map(|host| format!("{host}:{port}")));
    }
    names
}

fn plain(status: StatusCode, words: &'static str) -> Response<Answer> {
    let body = Full::new(Bytes::from_static(words.as_bytes())).boxed();
    let mut response = Response::new(Answer { body, _call: None });
    *response.status_mut() = status;
    let text = header::HeaderValue::from_static("text/plain");
    response.headers_mut().insert(header::CONTENT_TYPE, text);
    response
}

/// A body that has to be there in time: who sends half of one must not keep a place for good.
struct Patient {
    body: Incoming,
    late: Pin<Box<Sleep>>,
}

impl Patient {
    fn new(body: Incoming) -> Self {
        Self { body, late: Box::pin(sleep(BODY_PATIENCE)) }
    }
}

impl Body for Patient {
    type Data = Bytes;
    type Error = Box<dyn std::error::Error + Send + Sync>;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        if self.late.as_mut().poll(cx).is_ready() {
            return Poll::Ready(Some(Err("the request's body took too long".into())));
        }
        Pin::new(&mut self.body).poll_frame(cx).map_err(Into::into)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

/// An answer that counts as a running call until its last byte.
struct Answer {
    body: BoxBody<Bytes, Infallible>,
    _call: Option<TaskTrackerToken>,
}

impl Body for Answer {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        Pin::new(&mut self.body).poll_frame(cx)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

const MAX_CONNECTIONS: usize = 512;
const MAX_BODY: usize = 4 << 20;
const MAX_HEAD: usize = 64 << 10;
const HEAD_PATIENCE: Duration = Duration::from_secs(15);
const BODY_PATIENCE: Duration = Duration::from_secs(60);
/// How long calls that run may go on once the server ends.
const GRACE: Duration = Duration::from_secs(5);
const LAST: Duration = Duration::from_secs(1);
